"""`waver.ask` with real models: bit for bit the rows of the command, also interrupted in a kernel and gone on with."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager
from transformers import AutoModel, AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

import waver
from ground.errors import InputError
from helpers.commands import ROOT
from helpers.commands import waver as run_command
from helpers.faulty_server import MODEL, FaultyServer

pytestmark = pytest.mark.slow

MODELS = ROOT / "inference" / "demo" / "models"
SMALL, BERT, LARGE = (MODELS / f"waver-demo-{name}" for name in ("small-tuned", "bert", "large"))
TEXTS = ["{} is good.", "{} is a good thing.", "It is good that there is {}.", "I like {}."]
ITEMS = pd.DataFrame(
    [
        {"item": item, "text": text.format(item.capitalize()), "number": number}
        for item in ("tea", "coffee", "rain", "snow")
        for number, text in enumerate(TEXTS)
    ]
)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ITEMS.to_csv("items.csv", index=False)


def rows(folder) -> pd.DataFrame:
    parts = sorted((Path(folder) / "responses").glob("part-*.parquet"))
    table = pd.concat([pq.read_table(part, partitioning=None).to_pandas() for part in parts])
    return table.sort_values(["model", "condition", "item", "variant"], ignore_index=True)


def content(folder):
    return json.loads((Path(folder) / "run.json").read_text(encoding="utf-8"))


def command(*options, models=(SMALL, BERT), out="command"):
    run_command("inference", "run", "agreement", "--items", "items.csv", "--model", *models, "--out", out, *options,
                cwd=Path.cwd())  # fmt: skip
    return rows(out)


def load(folder, kind=None):
    kind = kind or (AutoModelForMaskedLM if folder == BERT else AutoModelForCausalLM)
    return kind.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)


def test_a_data_frame_gives_the_rows_of_the_command():
    options = {
        "option_order": ["yes-no", "no-yes"],
        "answer": ["probability", "text"],
        "samples": 3,
        "temperature": 1,
        "seed": 4,
    }
    expected = command("--option-order", "yes-no", "no-yes", "--answer", "probability", "text",
                       "--samples=3", "--temperature=1", "--seed=4")  # fmt: skip
    run = waver.ask(ITEMS, [SMALL, BERT], out="python", **options)
    pd.testing.assert_frame_equal(rows("python"), expected, check_exact=True)
    assert content("python")["models"] == content("command")["models"]
    assert content("python")["study"]["hash"] == content("command")["study"]["hash"]
    pd.testing.assert_frame_equal(run.table("stability"), open_run("command").table("stability"), check_exact=True)


def open_run(folder):
    from analysis.reporting.output.exploring import Run

    return Run([folder])


@pytest.mark.parametrize("folder", [SMALL, BERT], ids=["causal", "masked"])
def test_a_loaded_model_gives_the_rows_of_its_folder(folder):
    expected = command("--answer", "probability", "text", "--samples=2", "--temperature=1", models=[folder])
    model, tokenizer = load(folder)
    model.train()
    model.base_model.eval()
    modes = [module.training for module in model.modules()]
    waver.ask("items.csv", (model, tokenizer), out="python", answer=["probability", "text"], samples=2, temperature=1)
    pd.testing.assert_frame_equal(rows("python"), expected, check_exact=True)
    assert [module.training for module in model.modules()] == modes
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())
    assert model.dtype == load(folder)[0].dtype
    named, loaded = (content(out)["models"][folder.name] for out in ("command", "python"))
    assert loaded.pop("loaded_from") == str(folder)
    assert loaded["revision"].startswith("not known, loaded in Python; weights sha256:")
    assert {**loaded, "revision": 0} == {**named, "revision": 0}


def test_loaded_models_beside_named_ones_and_gone_on_with():
    pair = load(SMALL)
    waver.ask(ITEMS, {"named": SMALL, "mine": pair, "again": load(SMALL)},
              out="run", limit=2)  # fmt: skip
    first = rows("run")
    numbers = [
        first[first.model == name].drop(columns="model").reset_index(drop=True) for name in sorted(set(first.model))
    ]
    assert len(numbers) == 3
    for other in numbers[1:]:
        pd.testing.assert_frame_equal(other, numbers[0], check_exact=True)
    waver.ask(ITEMS, {"mine": pair}, out="run")
    assert (rows("run").model == "mine").sum() == len(ITEMS)
    pair[0].get_output_embeddings().weight.data.mul_(2)
    with pytest.raises(InputError, match="'mine' is already here with other settings"):
        waver.ask(ITEMS, {"mine": pair}, out="run")


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"lora": "x"}, "lora: mine is loaded already"),
        ({"device": "cpu"}, "device: mine is loaded already"),
        ({"revision": "main"}, "revision: mine is loaded already"),
        ({"ray": "local"}, "ray: mine is loaded already"),
        ({"engine": "vllm"}, "--engine vllm: a loaded model is asked where it is"),
        (
            {"engine": "openai", "base_url": "http://localhost:1"},
            "--engine openai: a loaded model is asked where it is",
        ),
        ({"engine": "classifier"}, "no classifier"),
    ],
)
def test_what_makes_no_sense_with_a_loaded_model_is_one_line(options, line):
    with pytest.raises(InputError) as refused:
        waver.ask(ITEMS, {"mine": load(SMALL)}, out="run", **options)
    assert line in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not Path("run").exists()


def test_a_pair_that_cannot_be_asked_is_one_line():
    model, tokenizer = load(SMALL)
    unnamed = type(model)(model.config.__class__(**{**model.config.to_dict(), "_name_or_path": ""}))
    unnamed.config.name_or_path = ""
    for models, line in (
        ((tokenizer, model), "expected a pair (model, tokenizer) of transformers, not ("),
        ((model,), "several models go into a list"),
        (load(SMALL, AutoModel), "give a causal or masked language model"),
        ((unnamed, tokenizer), "the loaded model has no name"),
        ([(model, tokenizer), (model, tokenizer)], "is there twice"),
    ):
        with pytest.raises(InputError) as refused:
            waver.ask(ITEMS, models, out="run")
        assert line in str(refused.value)
        assert "\n" not in str(refused.value)
        assert not Path("run").exists()


@pytest.fixture
def kernel(tmp_path, forked_kernels):
    """A Jupyter kernel of this interpreter: runs a cell, and returns its reply and what it showed."""

    class Manager(KernelManager):
        kernel_spec = KernelSpec(
            argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"], display_name="Python 3",
            env={"PYTHONPATH": str(ROOT)}, language="python",
        )  # fmt: skip

    manager = Manager(transport="ipc", ip=str(tmp_path / "kernel"), connection_file=str(tmp_path / "kernel.json"))
    manager.start_kernel(cwd=str(tmp_path))
    client = manager.blocking_client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def show(client, code: str, when_sent=lambda: None):
    """What a cell showed: its output on each stream, and the lines of its traceback."""
    number = client.execute(code)
    when_sent()
    shown = {"stdout": "", "stderr": "", "traceback": []}
    while True:
        message = client.get_iopub_msg(timeout=240)
        if message["parent_header"].get("msg_id") != number:
            continue
        kind, part = message["msg_type"], message["content"]
        if kind == "stream":
            shown[part["name"]] += part["text"]
        elif kind == "error":
            shown["traceback"] += part["traceback"]
        elif kind == "status" and part["execution_state"] == "idle":
            return shown


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_interrupted_in_a_kernel_the_same_cell_goes_on(kernel):
    manager, client = kernel
    show(client, "import signal, waver\nbefore = signal.getsignal(signal.SIGTERM)")
    show(client, "from inference.asking import session\nsession.FIRST_FLUSH = session.LAST_FLUSH = 0")
    cell = f"run = waver.ask('demo', {str(LARGE)!r}, out='run', batch_size=8, wordings=3)"

    def interrupt_when_rows_are_there():
        end = time.monotonic() + 120
        while not list(Path("run").glob("responses/part-*.parquet")) and time.monotonic() < end:
            time.sleep(0.01)
        manager.interrupt_kernel()

    stopped = show(client, cell, interrupt_when_rows_are_there)
    (line,) = stopped["traceback"]
    assert line.startswith("RunFailed: stopped; ")
    assert line.endswith("are saved; give the same call again to go on")
    some = len(rows("run"))
    assert content("run")["sessions"][0]["finished"] is None
    handlers = "signal.getsignal(signal.SIGTERM) is before, signal.getsignal(signal.SIGINT)"
    assert "True, <built-in function default_int_handler>" in show(client, f"print(({handlers}))")["stdout"]
    done = show(client, cell)
    assert done["traceback"] == []
    assert "run: 1 model, " in done["stdout"]
    assert "nothing left" not in done["stderr"]
    run_command("inference", "run", "agreement", "--items", "demo", "--model", LARGE, "--out", "command",
                "--batch-size=8", "--wordings=3", cwd=Path.cwd())  # fmt: skip
    assert 0 < some < len(rows("command"))
    pd.testing.assert_frame_equal(rows("run"), rows("command"), check_exact=True)
    again = show(client, cell)
    about_wordings, told = again["stdout"].splitlines()
    assert about_wordings.startswith("asked so far with --wordings 3 of up to ") and "(0 of them new)" in told
    assert again["stderr"] == ""
    wrong = show(client, "waver.ask('demo', 'demo', out='run', formm='chat')")
    assert wrong["traceback"] == ["InputError: agreement has no option 'formm' (the nearest is 'form')"]
    assert (
        show(client, "import asyncio\nprint(await asyncio.sleep(0, 'the loop goes on'))")["stdout"]
        == "the loop goes on\n"
    )


def test_a_server_is_asked_from_a_kernel_whose_own_event_loop_goes_on(kernel):
    _, client = kernel
    with FaultyServer() as server:
        asked = show(client, f"import waver\nrun = waver.ask('items.csv', {MODEL!r}, out='run', engine='openai', "
                             f"base_url={server.url!r}, form='chat')")  # fmt: skip
    assert asked["traceback"] == []
    assert len(rows("run")) == len(ITEMS)
    assert show(client, "import asyncio\nprint(await asyncio.sleep(0, 'on'))")["stdout"] == "on\n"
