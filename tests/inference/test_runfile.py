"""Run files: several studies from one file, refused in one line before a model loads, resumable part by part."""

from __future__ import annotations

import json
import os
import re
import signal
import textwrap
from collections import Counter
from pathlib import Path

import jsonschema
import pyarrow.parquet as pq
import pytest

from ground.errors import InputError
from helpers.trivial_engine import TrivialEngine
from inference.__main__ import build_parser_of_run_file_study, build_task_from_options, main
from inference.asking import session
from inference.asking.one_model import Settings
from inference.demo import ALL
from inference.protocols import list_protocols
from inference.runfile import TableParser, convert_toml_key_to_arguments, read_run_file
from inference.runfolder import status

ROOT = Path(__file__).parents[2]
PLAN = """
out = "results"

[defaults]
model = ["b", "a"]
seed = 3

[[study]]
protocol = "agreement"
name = "orders"
items = "items.csv"
option-order = ["yes-no", "no-yes"]

[[study]]
protocol = "agreement"
name = "texts"
items = "items.csv"
model = ["a", "c"]
answer = ["probability", "text"]
temperature = 0.7
samples = 2
"""


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "items.csv").write_text("item,text\na,One.\na,The first.\na,Number one.\nb,Two.\n", encoding="utf-8")
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    return tmp_path


@pytest.fixture
def loaded(monkeypatch) -> list[tuple[str, int]]:
    """Any model is answered by the engine without a model; lists what was loaded, with the seed."""
    loads: list[tuple[str, int]] = []

    def load(self, model, seed):
        loads.append((model.id, seed))
        return TrivialEngine()

    monkeypatch.setattr(Settings, "load_model_engine", load)
    monkeypatch.setattr(Settings, "refuse_missing_model", lambda self, model: None)
    return loads


def run(folder: Path, *more: str) -> int:
    return main(["run", str(folder / "plan.toml"), *more])


def rows(folder: Path) -> Counter[tuple[str, str]]:
    parts = (folder / "responses").glob("part-*.parquet")
    return Counter((r["model"], r["condition"]) for part in parts for r in pq.read_table(part).to_pylist())


def test_a_tilde_is_the_home_folder(folder, loaded, monkeypatch):
    monkeypatch.setenv("HOME", str(folder / "home"))
    plan = folder / "plan.toml"
    plan.write_text(PLAN.replace('"results"', '"~/results"'), encoding="utf-8")
    call = ["run", "agreement", "--items", str(folder / "items.csv"), "--model", "a", "--out=~/alone"]
    assert main(call) == run(folder) == 0
    assert (folder / "home/alone/run.json").exists() and (folder / "home/results/orders/run.json").exists()
    assert not (folder / "~").exists()


def about(folder: Path) -> dict:
    return json.loads((folder / "run.json").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_every_study_gets_its_folder_and_every_model_is_loaded_once(folder, loaded):
    here = Path.cwd()
    assert run(folder) == 0
    assert Path.cwd() == here
    assert loaded == [("b", 3), ("a", 3), ("c", 3)]
    assert rows(folder / "results" / "orders") == {
        (model, f"plain/{order}"): 4 for model in "ab" for order in ("yes-no", "no-yes")
    }
    assert rows(folder / "results" / "texts") == {
        (model, condition): 4 for model in "ac" for condition in ("plain/yes-no", "plain/yes-no/text-t0.7")
    }


@pytest.mark.slow
def test_a_folder_may_have_another_name_than_its_study(folder, loaded):
    plan = PLAN.replace('name = "texts"', 'name = "orders"\nfolder = "written"')
    (folder / "plan.toml").write_text(plan, encoding="utf-8")
    assert run(folder) == 0
    assert about(folder / "results" / "written")["study"]["name"] == "orders"
    assert sorted(path.name for path in (folder / "results").iterdir()) == ["orders", "written"]


@pytest.mark.slow
def test_a_folder_is_the_one_that_the_recorded_call_would_have_made(folder, loaded, monkeypatch):
    assert run(folder) == 0
    for name in ("orders", "texts"):
        recorded = about(folder / "results" / name)
        call = recorded["sessions"][0]["command"]
        monkeypatch.chdir(recorded["sessions"][0]["folder"])
        assert call[:3] == ["python", "-m", "inference"]
        assert main([*call[3:-1], f"--out=alone/{name}"]) == 0
        alone = about(folder / "alone" / name)
        for field in ("study", "models", "conditions", "seed", "expected"):
            assert alone[field] == recorded[field]
        assert rows(folder / "alone" / name) == rows(folder / "results" / name)


@pytest.mark.slow
def test_engines_that_differ_in_a_setting_are_loaded_apart(folder, loaded):
    with (folder / "plan.toml").open("a", encoding="utf-8") as plan:
        plan.write('[[study]]\nprotocol = "agreement"\nname = "half"\nitems = "items.csv"\ndtype = "float16"\n')
        plan.write('[[study]]\nprotocol = "agreement"\nname = "chat"\nitems = "items.csv"\nform = "chat"\n')
    assert run(folder) == 0
    assert [name for name, _ in loaded] == ["b", "a", "c", "b", "a"]


@pytest.mark.slow
def test_a_stopped_plan_says_what_is_left_and_goes_on(folder, loaded, monkeypatch, capsys):
    monkeypatch.setattr(session, "FIRST_FLUSH", 0.0)
    with monkeypatch.context() as patch:

        def load(self, model, seed):
            stops = model.id == "a"
            return TrivialEngine(size=2, before_batch=lambda n: os.kill(os.getpid(), signal.SIGINT) if stops else None)

        patch.setattr(Settings, "load_model_engine", load)
        patch.setattr(Settings, "refuse_missing_model", lambda self, model: None)
        assert run(folder) == 1
    assert "stopped; 2 of 4 rows of a plain/yes-no are saved" in capsys.readouterr().err.splitlines()[-1]
    assert main(["status", str(folder / "results")]) == 0
    status = capsys.readouterr().out
    assert main(["status", str(folder / "plan.toml")]) == 0
    assert capsys.readouterr().out == status
    shown = [line.split() for line in status.splitlines()]
    assert shown[1:7] == [
        ["model", "condition", "done", "left", "failed"],
        ["b", "plain/yes-no", "4", "0", "0"],
        ["b", "plain/no-yes", "4", "0", "0"],
        ["a", "plain/yes-no", "2", "2", "0"],
        ["a", "plain/no-yes", "0", "4", "0"],
        shown[6],
    ]
    assert shown[8:] == [["a", "not", "begun"], ["c", "not", "begun"], shown[10]]
    assert " ".join(shown[10]) == "in all: 10 rows done, 6 left, and 2 models not begun"
    loaded.clear()
    assert run(folder) == 0
    assert [name for name, _ in loaded] == ["a", "c"]  # b, a hub model, is known to be done
    capsys.readouterr()
    assert main(["status", str(folder / "results" / "orders")]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "in all: 16 rows done, 0 left"
    assert main(["status", str(folder / "results" / "orders"), "--json"]) == 0
    records = json.loads(capsys.readouterr().out)
    jsonschema.validate(records, json.loads((ROOT / "inference" / "runfolder" / "schema.json").read_text("utf-8")))
    (record,) = records["runs"]
    assert (record["study"], record["protocol"]) == ("orders", "agreement")
    assert record["finished"] >= record["started"]
    assert record["items"] == record["items_asked"] == 2
    first = {"model": "b", "condition": "plain/yes-no", "done": 4, "left": 0, "failed": 0, "drawn": None}
    assert record["conditions"][0] == first


@pytest.mark.slow
def test_failed_rows_are_left_to_ask(folder, monkeypatch, capsys):
    monkeypatch.setattr(
        Settings, "load_model_engine", lambda self, model, seed: TrivialEngine(fails=lambda text: "first" in text)
    )
    monkeypatch.setattr(Settings, "refuse_missing_model", lambda self, model: None)
    assert run(folder) == 1
    assert "results/orders: 4 of 16 rows have no response (first b plain/yes-no" in capsys.readouterr().err
    assert run(folder, "--allow-failed", "4") == 0
    plan = (folder / "plan.toml").read_text(encoding="utf-8")
    (folder / "plan.toml").write_text(
        plan.replace("[defaults]", '[defaults]\nallow-failed = "25%"', 1), encoding="utf-8"
    )
    assert run(folder) == 0
    assert run(folder, "--allow-failed", "3") == 1
    capsys.readouterr()
    assert main(["status", str(folder / "results" / "orders")]) == 0
    assert capsys.readouterr().out.splitlines()[2].split() == ["b", "plain/yes-no", "3", "1", "1"]


@pytest.mark.slow
def test_a_model_that_was_never_loaded_and_is_asked_no_more_is_forgotten(folder, monkeypatch, loaded, capsys):
    with monkeypatch.context() as patch:
        patch.setattr(Settings, "load_model_engine", lambda self, model, seed: (_ for _ in ()).throw(KeyboardInterrupt))
        patch.setattr(Settings, "refuse_missing_model", lambda self, model: None)
        assert run(folder) == 1
    plan = (folder / "plan.toml").read_text(encoding="utf-8").replace('["b", "a"]', '["a"]')
    (folder / "plan.toml").write_text(plan, encoding="utf-8")
    assert run(folder) == 0
    assert list(about(folder / "results" / "orders")["expected"]) == ["a"]


@pytest.mark.slow
def test_conditions_are_shown_in_the_order_in_which_they_are_asked(folder, loaded, monkeypatch):
    assert run(folder) == 0
    counts = status._count_answered_and_failed_keys
    monkeypatch.setattr(status, "_count_answered_and_failed_keys", lambda folder: dict(sorted(counts(folder).items())))
    shown = status.list_progress_of_models_and_conditions(
        folder / "results" / "orders", about(folder / "results" / "orders")
    )
    assert [(entry.model, entry.condition) for entry in shown] == [
        (model, f"plain/{order}") for model in "ba" for order in ("yes-no", "no-yes")
    ]


def test_status_of_no_name_is_refused(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["status", ""])
    assert "ROOT: is empty; give the name of a file or folder" in capsys.readouterr().err


@pytest.mark.parametrize("root", ["nowhere", ".", "plan.toml"])
def test_status_of_what_is_no_run_is_one_line(folder, root, capsys):
    assert main(["status", str(folder / root)]) == 2
    assert "no run folder, and none in it" in capsys.readouterr().err


REFUSED = [
    ("out = ", "out == ", "plan.toml: malformed TOML ("),
    ('out = "results"', "", 'plan.toml: say where the results go: out = "FOLDER"'),
    ('out = "results"', 'out = "results"\nrays = 1', "plan.toml: unknown key 'rays'; there are out, ray,"),
    ('out = "results"', 'out = "results"\nray-workers = 0', "plan.toml, ray-workers: 0 is not a positive number"),
    ('out = "results"', 'out = "results"\nray = ""', "plan.toml, ray: is empty; give the address of a cluster"),
    ('out = "results"', 'out = "results"\nray = 1', "plan.toml, ray: expected text, not 1"),
    ('out = "results"', 'out = "results"\nray-workers = 2', "--ray-workers is for asking on a cluster"),
    ("[[study]]", "[[trial]]", "plan.toml: unknown key 'trial'"),
    ('protocol = "agreement"', 'protocol = "song"', "plan.toml, [[study]] 1 (orders), protocol: is 'song'; there are "),
    ('protocol = "agreement"', "", "plan.toml, [[study]] 1 (orders), protocol: is missing; there are agreement"),
    ("seed = 3", "sed = 3", "plan.toml, [[study]] 1 (orders): agreement has no option 'sed' (the nearest is 'seed')"),
    ("seed = 3", "out = 3", "(orders): agreement has no option 'out'"),
    ("seed = 3", 'seed = "x"', "plan.toml, [[study]] 1 (orders), seed: argument --seed: x is not a whole number"),
    ("seed = 3", "seed = [1, 2]", "plan.toml, [[study]] 1 (orders), seed: expected one value, not a list"),
    ("seed = 3", "seed = true", "plan.toml, [[study]] 1 (orders), seed: expected text or numbers, not True"),
    ("seed = 3", "model = []", "plan.toml: malformed TOML"),
    ('model = ["b", "a"]', "model = []", "plan.toml, [[study]] 1 (orders), model: expected text or numbers, not []"),
    ("seed = 3", 'api-key = "x"', "plan.toml, [defaults], api-key: keys and passwords do not belong"),
    ("samples = 2", 'HF_TOKEN = "x"', "plan.toml, [[study]] 2, HF_TOKEN: keys and passwords do not belong"),
    ('["yes-no", "no-yes"]', '"no-no"', "[[study]] 1 (orders), option-order: argument --option-order: invalid choice"),
    ('items = "items.csv"', "", "[[study]] 1 (orders): the following arguments are required: --items"),
    ('items = "items.csv"', 'items = "no.csv"', "plan.toml, [[study]] 1 (orders), items: no.csv: cannot be read"),
    ('model = ["a", "c"]', 'model = ["./x"]', "plan.toml, [[study]] 2 (texts), model: --model ./x: no such folder"),
    (
        "samples = 2",
        "samples = 0",
        "plan.toml, [[study]] 2 (texts), samples: argument --samples: 0 is not a whole number",
    ),
    ("samples = 2", 'prompt = "p.yaml"', "[[study]] 2 (texts), prompt: p.yaml: cannot be read"),
    ("samples = 2", 'models = "m.yaml"', "plan.toml, [[study]] 2 (texts), models: m.yaml: cannot be read"),
    (
        'name = "texts"',
        'name = "orders"',
        "[[study]] 2 (orders): there is a study in the folder 'orders' already; give this one",
    ),
    ('name = "texts"', 'folder = "orders"', "[[study]] 2: there is a study in the folder 'orders' already"),
    ('name = "texts"', 'folder = "../up"', "plan.toml, [[study]] 2: '../up' cannot be the name of a folder"),
    ('name = "texts"', 'folder = "a:b"', "plan.toml, [[study]] 2: 'a:b' cannot be the name of a folder"),
    ('name = "texts"', 'folder = "aux.1"', "[[study]] 2, folder: Windows cannot open a file called aux.1"),
    ('name = "texts"', "folder = 5", "plan.toml, [[study]] 2, folder: expected text, not 5"),
    ('name = "texts"', 'folder = ""', "plan.toml, [[study]] 2: '' cannot be the name of a folder"),
    ('name = "texts"', 'folder = " "', "plan.toml, [[study]] 2: ' ' cannot be the name of a folder"),
    ('name = "texts"', 'folder = "a\\u0000b"', "plan.toml: there is a NUL character in 'a"),
    ("seed = 3", 'folder = "x"', "plan.toml, [defaults], folder: every study has its own"),
    ('name = "texts"', 'name = "a/b"', "plan.toml, [[study]] 2 (a/b): 'a/b' cannot be the name of a folder"),
]


@pytest.mark.parametrize(("old", "new", "message"), REFUSED, ids=[message[-60:] for _, _, message in REFUSED])
@pytest.mark.slow
def test_what_is_wrong_is_one_line_before_anything_is_loaded_or_written(folder, loaded, capsys, old, new, message):
    (folder / "plan.toml").write_text(PLAN.replace(old, new, 1), encoding="utf-8")
    assert run(folder) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert loaded == []
    assert not (folder / "results").exists()


def test_an_empty_address_of_a_cluster_is_refused_beside_a_run_file_too(folder, loaded, capsys):
    with pytest.raises(SystemExit):
        run(folder, "--ray", "")
    assert "--ray: is empty" in capsys.readouterr().err
    assert loaded == []


def test_a_prompt_file_without_the_forms_that_could_be_asked_is_found_before_a_model_loads(folder, loaded, capsys):
    template = 'plain: {template: "{{ text }}", answers: {ja: ["yes"], nein: ["no"]}}'
    (folder / "mine.yaml").write_text(template, encoding="utf-8")
    (folder / "plan.toml").write_text(PLAN.replace("samples = 2", 'prompt = "mine.yaml"'), encoding="utf-8")
    assert run(folder) == 2
    assert "mine.yaml, form plain: answers has no option 'agree'" in capsys.readouterr().err
    assert loaded == []


def test_numbers_that_a_server_cannot_tell_are_refused_before_a_model_loads(folder, loaded, capsys):
    with (folder / "plan.toml").open("a", encoding="utf-8") as plan:
        plan.write('[[study]]\nprotocol = "scoring"\nname = "s"\nitems = "demo"\nexact = true\nengine = "openai"\n')
    assert run(folder) == 2
    assert "a server does not show the probability of every number: sample them" in capsys.readouterr().err
    assert loaded == []


@pytest.mark.slow
def test_a_changed_study_is_refused_before_a_model_loads(folder, loaded, capsys):
    assert run(folder) == 0
    loaded.clear()
    (folder / "items.csv").write_text("item,text\na,One.\n", encoding="utf-8")
    assert run(folder) == 2
    assert "results/orders: the study has changed since this run was begun" in capsys.readouterr().err
    assert loaded == []


@pytest.mark.slow
def test_the_root_is_no_run_folder_itself(folder, loaded, capsys):
    assert main(["run", "agreement", "--items", str(folder / "items.csv"), "--model", "a", "--out",
                 str(folder / "results")]) == 0  # fmt: skip
    assert run(folder) == 2
    assert (
        "plan.toml, out: results is itself a run folder; move that run away, or choose another root"
        in capsys.readouterr().err
    )


def test_a_list_repeats_an_option_that_may_be_repeated():
    parser = TableParser()
    repeated, single = parser.add_argument("--where", action="append"), parser.add_argument("--one")
    assert convert_toml_key_to_arguments("x", "where", ["a=1", "-b"], repeated) == ["--where=a=1", "--where=-b"]
    assert convert_toml_key_to_arguments("x", "where", "a=1", repeated) == ["--where=a=1"]
    with pytest.raises(InputError, match="x: expected one value, not a list"):
        convert_toml_key_to_arguments("x", "one", ["a"], single)


@pytest.mark.slow
def test_the_plan_of_the_docs_asks_every_protocol_and_is_right(tmp_path, loaded):
    """Every protocol that comes has its study there; what a study names comes with Waver."""
    page = (Path(__file__).parents[2] / "docs" / "run-files.md").read_text(encoding="utf-8")
    block = re.search(r"`plan\.toml`:\n\n((?:    .*\n|\n)+)", page)
    (tmp_path / "plan.toml").write_text(textwrap.dedent(block[1]), encoding="utf-8")
    plan = read_run_file(tmp_path / "plan.toml", build_parser_of_run_file_study)
    assert sorted(study.call[0] for study in plan.studies) == list(list_protocols())
    tasks = plan.load_tasks_of_run_file(
        build_parser_of_run_file_study, build_task_from_options, ["python", "-m", "inference", "run"]
    )
    assert all(task.models and {model.id for model in task.models} <= set(ALL) for task in tasks)
    assert loaded == []
