"""`waver.ask`: the rows of the command, from items in memory and from loaded models; what is wrong is one line."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import waver
from ground.errors import InputError, RunFailed
from helpers.commands import ROOT
from helpers.commands import waver as run_command
from helpers.trivial_engine import TrivialEngine
from inference.asking import session
from inference.asking.one_model import Settings
from inference.loaded_models import restore_models_after_asking, suspend_event_loop
from inference.stimuli.reading.in_memory import build_table_from_python_rows

ITEMS = pd.DataFrame(
    {
        "item": [1, 1, 1, 2, 2],
        "text": ["One is good.", "One is a good thing.", "Good is what one is.", "Two, I say.", "Two."],
        "gold": ["agree", "agree", "agree", None, "disagree"],
        "length": [3, np.nan, 5, 2, 1],
        "kind": pd.Categorical(["a", "b", "a", "b", "a"]),
    }
)
MODELS = ROOT / "inference" / "demo" / "models"
NESTED: dict = {"item": 1, "text": "One."}
NESTED["self"] = NESTED


def ask(items, out, models="some", protocol="agreement", **options):
    return waver.ask(items, models, protocol, out, **options)


def rows(folder):
    parts = sorted((Path(folder) / "responses").glob("part-*.parquet"))
    table = pd.concat([pq.read_table(part, partitioning=None).to_pandas() for part in parts])
    return table.sort_values(["model", "condition", "item", "variant"], ignore_index=True)


def content(folder):
    return json.loads((Path(folder) / "run.json").read_text(encoding="utf-8"))


@pytest.fixture
def trivial(monkeypatch):
    """Any model is answered by the engine without a model; returns the keywords that make it."""
    settings: dict = {}
    monkeypatch.setattr(Settings, "load_model_engine", lambda self, model, seed: TrivialEngine(**settings))
    monkeypatch.setattr(Settings, "refuse_missing_model", lambda self, model: None)
    return settings


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


class TestItemsInMemory:
    @pytest.mark.slow
    @pytest.mark.parametrize("kind", ["frame", "objects", "dicts", "csv", "json"])
    def test_are_asked_as_those_of_a_file_are(self, trivial, kind):
        whole = ITEMS.convert_dtypes()  # as a person writes the file: 3, not 3.0
        whole.to_csv("items.csv", index=False)
        cells = whole.astype(object).where(whole.notna(), None)
        Path("items.json").write_text(cells.to_json(orient="records"), encoding="utf-8")
        run_command("inference", "run", "agreement", "--items", "items.csv", "--model", "some", "--out", "command",
                    "--option-order", "yes-no", "no-yes", "--wordings=2", cwd=Path.cwd())  # fmt: skip
        given = {"frame": ITEMS, "objects": cells.convert_dtypes(), "dicts": ITEMS.to_dict("records"),
                 "csv": "items.csv", "json": Path("items.json")}[kind]  # fmt: skip
        run = ask(given, Path("python"), option_order=["yes-no", "no-yes"], wordings=2)
        pd.testing.assert_frame_equal(rows("python"), rows("command"), check_exact=True)
        assert "; 1 model." in repr(run)
        mine, theirs = content("python"), content("command")
        if kind != "dicts":  # these have 3.0, as pandas gives it, and are read as JSON
            assert mine["study"]["hash"] == theirs["study"]["hash"]
        assert mine["study"]["name"] == "items"
        for part in ("models", "conditions", "seed", "expected", "asked"):
            assert mine[part] == theirs[part]

    @pytest.mark.parametrize(
        ("protocol", "table", "options"),
        [
            ("wording", {"item": ["1", "2"], "text": ["Tea is hot.", "Ice is hot."], "gold": ["yes", "no"]},
             {"text_column": "text", "gold_column": "gold", "yes_if": "=yes", "no_if": "=no", "item_column": "item",
              "language": "en", "templates": "facts"}),
            ("scoring", {"id": ["a", "b"], "output": ["Fine.", "Bad."], "score": [3.5, 1.0]},
             {"output_column": "output", "gold_column": "score", "item_column": "id", "gold_range": "0-5"}),
            ("choice", {"id": ["a", "b"], "question": ["1 + 1?", "2 + 2?"], "choices": [["1", "2"], ["4", "5"]],
                        "answer": ["2", "4"]}, {"orders": 2}),
            ("negation", {"item": ["1", "1"], "pattern": ["original", "h_neg"], "premise": ["It is tea.", "It is tea."],
                          "hypothesis": ["It is a drink.", "It is not a drink."],
                          "label": ["entailment", "contradiction"]}, {"answer": "text"}),
        ],
    )  # fmt: skip
    def test_every_protocol_takes_them(self, trivial, protocol, table, options):
        frame = pd.DataFrame(table)
        frame.to_json("items.jsonl", orient="records", lines=True)
        for given, out in ((frame, "frame"), ("items.jsonl", "file")):
            ask(given, out, protocol=protocol, **options)
        assert content("frame")["study"]["hash"] == content("file")["study"]["hash"]
        assert content("frame")["study"]["name"] == content("file")["study"]["name"]
        pd.testing.assert_frame_equal(rows("frame"), rows("file"), check_exact=True)

    def test_whole_numbers_that_a_gap_turned_into_floats_are_ids(self, trivial):
        with_gap = pd.concat([ITEMS, pd.DataFrame({"item": [np.nan]})], ignore_index=True)
        assert with_gap["item"].dtype == float
        ask(with_gap, "gap")
        ask(ITEMS, "whole")
        assert content("gap")["study"]["hash"] == content("whole")["study"]["hash"]

    def test_whole_numbers_that_a_gap_turned_into_floats_are_attributes_as_in_a_csv_file(self, trivial):
        table = "item,text,attributes.age,attributes.length\n1,One.,30,1.5\n2,Two.,,2\n3,Three.,41,\n"
        Path("items.csv").write_text(table)
        frame = pd.read_csv("items.csv")
        assert frame["attributes.age"].dtype == float
        ask("items.csv", "file")
        ask(frame.assign(**{"attributes.length": ["1.5", "2", None]}), "frame")
        assert content("frame")["study"]["hash"] == content("file")["study"]["hash"]
        large_numbers = pd.DataFrame({"item": [2.0**60, np.nan], "size": [1.0, 2.0], "mixed": [1.5, np.nan]})
        (_, row), *_ = build_table_from_python_rows("items", large_numbers).rows
        assert [str(value) for value in row.values()] == [str(2.0**60), "1.0", "1.5"]

    def test_a_tilde_in_out_is_the_home_folder(self, trivial, monkeypatch):
        monkeypatch.setenv("HOME", str(Path.cwd() / "home"))
        waver.ask([{"item": "a", "text": "One."}], "some", out="~/run")
        assert Path("home/run/run.json").exists() and not Path("~").exists()

    def test_the_name_and_the_call_are_recorded(self, trivial):
        ask(ITEMS, "named", models=["some", "x=other"], name="opinions", limit=1, dtype="float32")
        assert content("named")["study"]["name"] == "opinions"
        (call,) = content("named")["sessions"][0]["command"]
        assert call == (
            'waver.ask(items, ["some", "x=other"], protocol="agreement", out="named", name="opinions", limit=1, '
            'dtype="float32")  # items: a DataFrame of 5 rows (item, text, gold, length, kind)'
        )

    def test_a_call_without_objects_is_recorded_so_that_a_shell_repeats_it(self, trivial):
        ITEMS.to_csv("items.csv", index=False)
        ask("items.csv", "runs/a", form="chat")
        program, dash, code = content("runs/a")["sessions"][0]["command"]
        assert (program, dash) == ("python", "-c")
        before = rows("runs/a")
        exec(code, {})
        assert len(content("runs/a")["sessions"]) == 2
        pd.testing.assert_frame_equal(rows("runs/a"), before, check_exact=True)


def test_a_hundred_thousand_columns_are_checked_at_once():
    start = time.monotonic()
    build_table_from_python_rows("items", [dict.fromkeys(map(str, range(100_000)), 1)])
    assert time.monotonic() - start < 20


class TestRefused:
    """One line, before anything is written."""

    @pytest.mark.parametrize(
        ("change", "line"),
        [
            ({"items": ITEMS.drop(columns="text")}, "items: there is no column 'text'"),
            ({"items": ITEMS.rename(columns={"text": "statement"})}, "say --text-column statement"),
            ({"items": ITEMS.assign(text=[1, 2, 3, 4, 5])}, "items, row 1: the text must be text, not 1"),
            ({"items": ITEMS.assign(text=None)}, "items, row 1: the text is empty"),
            ({"items": ITEMS.assign(item=[1, np.nan, 1, 2, 2])}, "items, row 2: every item needs an id"),
            ({"items": ITEMS.assign(variant="one")}, "items, row 2: variant 'one' of item '1' is already in row 1"),
            ({"items": pd.concat([ITEMS, ITEMS])}, "items, row 6: the same text as row 1"),
            ({"items": ITEMS.set_axis(range(5), axis=1)}, "items: column 0 has no name"),
            ({"items": ITEMS.set_axis(["item", "text", "text", "a", "b"], axis=1)}, "column 'text' is there twice"),
            ({"items": ITEMS[:0]}, "items: there are no rows in it"),
            ({"items": []}, "items: there are no rows in it"),
            ({"items": ["Tea is good."]}, "items, entry 1: expected a dict of fields"),
            ({"items": [{"item": 1, "text": "A\0b."}]}, "NUL character"),
            ({"items": 5}, "a list of dicts, or the path of a file, not int"),
            ({"items": {"item": [1]}}, "a list of dicts, or the path of a file, not dict"),
            ({"items": "itemz.csv"}, "cannot be read (No such file or directory) (the nearest is 'items.csv'"),
            ({"protocol": "agrement"}, "choice, negation, scale, scoring, wording (the nearest is 'agreement'"),
            ({"protocol": None}, "protocol nothing: there are agreement"),
            ({"wordigns": 5}, "agreement has no option 'wordigns' (the nearest is 'wordings')"),
            ({"model": "gpt2"}, "agreement has no option 'model' (the nearest is 'models_file')"),
            ({"wordings": 0}, "--wordings"),
            ({"wordings": "many"}, "--wordings"),
            ({"wordings": True}, "wordings: expected text or numbers, not True"),
            ({"limit": [1, 2]}, "limit: expected one value, not a list"),
            ({"form": "chatt"}, "(the nearest is 'chat')"),
            ({"ray_workers": 2}, "--ray-workers is for asking on a cluster"),
            ({"items": [NESTED]}, "items: an entry is nested too deep, or holds itself"),
            ({"models": []}, "models: the list is empty"),
            ({"models": {}}, "models: the dict is empty"),
            ({"out": ""}, "out: '' cannot be the name of a run folder"),
            ({"out": "a\0b"}, "cannot be the name of a run folder"),
            ({"models": 5}, "models: expected the name of a model, a pair (model, tokenizer)"),
            pytest.param(
                {"models": ("a", "b")}, "models: expected a pair (model, tokenizer) of transformers, not (str, str)",
                marks=pytest.mark.slow,  # it imports that library
            ),
            ({"models": "./demoo"}, "no such folder (the nearest is 'demo')"),
            ({"models": ["a", "a"]}, "'a' is given twice"),
            ({"out": "other"}, "other"),
            ({"out": "occupied"}, "occupied"),
            ({"out": 5}, "out: expected the path of a run folder, not 5"),
            ({"out": None}, "out: expected the path of a run folder, not nothing"),
            ({"name": "a\ud800"}, "half of a surrogate pair"),
        ],
    )  # fmt: skip
    def test_in_one_line(self, trivial, change, line):
        ITEMS.to_csv("items.csv", index=False)
        Path("other").mkdir()
        Path("other/mine.txt").write_text("mine", encoding="utf-8")
        ask(ITEMS[:3], "occupied")
        before = sorted(map(str, Path().rglob("*")))
        with pytest.raises(InputError) as refused:
            waver.ask(**({"items": ITEMS, "models": "some", "out": "new"} | change))
        assert line in str(refused.value)
        assert "\n" not in str(refused.value)
        assert len(str(refused.value)) < 600
        assert sorted(map(str, Path().rglob("*"))) == before
        assert refused.value._render_traceback_() == [f"InputError: {refused.value}"]


class TestInterrupted:
    @pytest.fixture(autouse=True)
    def written_at_once(self, monkeypatch):
        monkeypatch.setattr(session, "FIRST_FLUSH", 0.0)
        monkeypatch.setattr(session, "LAST_FLUSH", 0.0)

    def test_it_stops_in_one_line_and_the_same_call_goes_on(self, trivial):
        ask(ITEMS, "undisturbed")
        handler = signal.getsignal(signal.SIGINT)
        trivial |= {"before_batch": lambda batch: os.kill(os.getpid(), signal.SIGINT) if batch == 0 else None}
        with pytest.raises(RunFailed, match=r"^stopped; \d of 5 rows .* are saved; give the same call again to go on$"):
            ask(ITEMS, "run")
        assert signal.getsignal(signal.SIGINT) == handler
        assert 0 < len(rows("run")) < 5
        trivial.clear()
        ask(ITEMS, "run")
        pd.testing.assert_frame_equal(rows("run"), rows("undisturbed"), check_exact=True)

    def test_while_items_are_read(self, trivial, monkeypatch):
        monkeypatch.setattr(
            "inference.from_python.build_task_from_options", lambda _: signal.raise_signal(signal.SIGINT)
        )
        with pytest.raises(RunFailed, match=r"^stopped; saved rows stay, and the same call goes on from there$"):
            ask(ITEMS, "run")

    def test_from_another_thread_no_handler_is_set(self, trivial):
        results = []
        thread = threading.Thread(target=lambda: results.append(ask(ITEMS, "run")))
        thread.start()
        thread.join(60)
        assert len(results) == 1
        assert len(rows("run")) == 5


def test_a_failed_prompt_is_said_in_the_words_of_a_call(trivial):
    trivial |= {"fails": lambda text: "Two." in text}
    with pytest.raises(RunFailed) as failed:
        ask(ITEMS, "run")
    assert "command" not in str(failed.value) and "or say with allow_failed how many" in str(failed.value)
    assert len(rows("run")) == 5


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES])
def test_what_the_system_refused_is_said_in_the_words_of_a_call(number, monkeypatch):
    def refuse(_):
        raise OSError(number, "", "run/run.json")

    monkeypatch.setattr("inference.from_python.build_task_from_options", refuse)
    with pytest.raises(RunFailed, match=r"^run/run.json: .+ call( again)?$"):
        ask(ITEMS, "run")


def test_an_event_loop_that_runs_is_put_aside_and_back():
    async def run_cell():
        with suspend_event_loop():
            assert asyncio.run(asyncio.sleep(0, "inside")) == "inside"
        assert await asyncio.sleep(0, "after") == "after"
        return asyncio.get_running_loop()

    loop = asyncio.new_event_loop()
    assert loop.run_until_complete(run_cell()) is loop
    loop.close()


def test_settings_of_pytorch_are_given_back():
    import torch

    threads, state = torch.get_num_threads(), torch.get_rng_state()
    with restore_models_after_asking([]):
        torch.set_num_threads(threads + 1)
        torch.manual_seed(5)
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.get_rng_state(), state)


def test_random_numbers_of_the_gpu_are_given_back(monkeypatch):
    import torch

    states = [torch.tensor([3])]
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_rng_state_all", lambda: list(states))
    monkeypatch.setattr(torch.cuda, "set_rng_state_all", lambda given: states.__setitem__(slice(None), given))
    with restore_models_after_asking([]):
        states[0] = torch.tensor([0])
    assert states == [torch.tensor([3])]


def test_importing_waver_imports_neither_wing_nor_pandas():
    code = "import sys, waver\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert {"pandas", "numpy", "inference", "analysis", "torch"}.isdisjoint(done.stdout.split())
