"""A call that was made before has nothing left to ask, and says so without loading a model."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from inference.__main__ import main
from inference.asking.models import Model
from inference.asking.one_model import Settings
from inference.engines.contract import Engine

pytestmark = pytest.mark.slow

tiny_models = pytest.importorskip("helpers.tiny_models")

ROOT = Path(__file__).parents[3]
PROMPT = 'plain:\n  template: "{{ text }} Yes or no?"\n  answers: {agree: ["yes"], disagree: ["no"]}\n'
ITEMS = "item,variant,text\n" + "".join(f"{n % 3},w{n},Wording {n} of a thing.\n" for n in range(9))


@pytest.fixture(scope="module")
def asked(tmp_path_factory) -> Path:
    """A folder with a model, items, a prompt and the run that asked them."""
    folder = tmp_path_factory.mktemp("asked")
    tiny_models.checkpoint(folder / "model", "llama", max_position_embeddings=512)
    (folder / "items.csv").write_text(ITEMS)
    (folder / "prompt.yaml").write_text(PROMPT)
    assert main(call(folder)) == 0
    return folder


@pytest.fixture
def copy(asked: Path, tmp_path: Path, monkeypatch) -> Path:
    """The same, to change; the paths of the call are relative."""
    shutil.copytree(asked, tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    return tmp_path / "copy"


def call(folder: Path, *more: str) -> list[str]:
    out, items, model, prompt = (str(folder / name) for name in ("run", "items.csv", "model", "prompt.yaml"))
    asked = ["run", "agreement", "--items", items, "--model", model, "--prompt", prompt, "--form", "plain"]
    return [*asked, "--device", "cpu", *more, "--out", out]


def loads(given: list[str], monkeypatch) -> bool:
    """Whether the call loads its model."""
    seen = []

    def load(settings: Settings, model: Model, seed: int) -> Engine:
        seen.append(model.id)
        return loading(settings, model, seed)

    with monkeypatch.context() as patch:
        loading = Settings.load_model_engine
        patch.setattr(Settings, "load_model_engine", load)
        assert main(given) == 0
    return bool(seen)


def test_the_same_call_loads_no_model(asked: Path, monkeypatch, capsys) -> None:
    assert not loads(call(asked), monkeypatch)
    told = capsys.readouterr()
    assert "model: nothing left to ask\n" in told.err and "done; next: waver report" in told.out
    sessions = json.loads((asked / "run" / "run.json").read_text())["sessions"]
    assert all(session["finished"] for session in sessions)


def test_neither_torch_nor_transformers_is_imported(asked: Path) -> None:
    code = (
        "import sys\nfrom inference.__main__ import main\nassert main(sys.argv[1:]) == 0\n"
        "assert not {'torch', 'transformers'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, *call(asked)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "nothing left to ask" in done.stderr


@pytest.mark.parametrize("more", [["--seed", "0"], ["--limit", "2"], ["--name", "items"], ["--models", "models.yaml"]])
def test_another_call_that_asks_nothing_new_loads_no_model(copy: Path, more: list[str], monkeypatch) -> None:
    (copy / "models.yaml").write_text("model: {series: other}\n")
    assert not loads(call(Path(), *more), monkeypatch)
    series = json.loads((copy / "run" / "run.json").read_text())["models"]["model"].get("series")
    assert series == ("other" if "--models" in more else None)


@pytest.mark.parametrize("more", [["--option-order", "no-yes"], ["--answer", "text"]])
def test_a_call_with_more_to_ask_loads_it(copy: Path, more: list[str], monkeypatch) -> None:
    assert loads(call(Path(), *more), monkeypatch)


def changed_items(folder: Path) -> None:
    (folder / "items.csv").write_text(ITEMS.replace("Wording 4", "Wording four"))


def changed_prompt(folder: Path) -> None:
    (folder / "prompt.yaml").write_text(PROMPT.replace("Yes or no", "No or yes"))


def changed_model(folder: Path) -> None:
    tiny_models.checkpoint(folder / "model", "llama", seed=1, max_position_embeddings=512)


@pytest.mark.parametrize(
    ("change", "told"),
    [(changed_items, "the study has changed"), (changed_prompt, "already here with other settings"),
     (changed_model, "already here with other settings")],
)  # fmt: skip
def test_what_has_changed_is_refused_as_ever(copy: Path, change, told: str, capsys) -> None:
    assert main(call(Path())) == 0
    change(copy)
    assert main(call(Path())) == 2
    assert told in capsys.readouterr().err


def test_another_language_is_told_as_that_and_not_as_other_wordings(copy: Path, capsys) -> None:
    assert main(call(Path(), "--language", "en")) == 2
    line = capsys.readouterr().err.splitlines()[-1]
    assert "the language has changed since this run was begun: of 9 variants from none named to en, and no text" in line
    assert "a column language of the items" in line and "the study has changed" not in line


def test_a_folder_has_no_revision_also_where_nothing_is_left(copy: Path, capsys) -> None:
    assert main(call(Path(), "--revision", "main")) == 2
    assert "a local folder has no revisions" in capsys.readouterr().err


def lost_part(folder: Path) -> None:
    next((folder / "run" / "responses").iterdir()).unlink()


def lost_row(folder: Path) -> None:
    part = next((folder / "run" / "responses").iterdir())
    pq.write_table(pq.read_table(part).slice(1), part)


@pytest.mark.parametrize("harm", [lost_part, lost_row])
def test_lost_rows_are_asked_again(copy: Path, harm, monkeypatch) -> None:
    harm(copy)
    assert loads(call(Path()), monkeypatch)
    assert not loads(call(Path()), monkeypatch)


def test_of_several_models_only_those_with_something_left_are_looked_for(copy: Path, monkeypatch) -> None:
    tiny_models.checkpoint(copy / "other", "llama", seed=1, max_position_embeddings=512)
    both = call(Path(), "--model", "other")
    looked_for = []
    monkeypatch.setattr(Settings, "refuse_missing_model", lambda settings, model: looked_for.append(model.id))
    assert loads(both, monkeypatch) and looked_for == ["other"]
    assert not loads(both, monkeypatch) and looked_for == ["other"]


def test_a_run_folder_that_records_what_a_call_had_read_is_gone_on_with(copy: Path, monkeypatch) -> None:
    file = copy / "run" / "run.json"
    about = json.loads(file.read_text())
    about["sessions"][-1]["inputs"] = "0" * 64
    file.write_text(json.dumps(about))
    assert not loads(call(Path()), monkeypatch)
