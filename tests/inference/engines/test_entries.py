"""An engine is one folder and one entry: a toy that is entered is asked from the command line, with nothing else."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from ground.errors import InputError
from helpers.toy_engine import ENTRY
from inference import engines
from inference.__main__ import main

FOLDER = engines.__path__[0]


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setitem(engines.ENGINES, "toy", ENTRY)


@pytest.fixture
def items(tmp_path):
    file = tmp_path / "items.csv"
    file.write_text("item,text\n1,Dogs are friendly.\n2,Cats are clever.\n", encoding="utf-8")
    return file


def ask(items, out, *more) -> int:
    demo = f"{FOLDER}/../demo/models/waver-demo-small"
    return main(["run", "agreement", "--items", str(items), "--model", f"m={demo}", "--out", str(out), *more])


def recorded_model(out) -> dict:
    return json.loads((out / "run.json").read_text(encoding="utf-8"))["models"]["m"]


@pytest.mark.slow
def test_a_toy_engine_is_asked_with_its_own_options(toy, items, tmp_path, capsys):
    out = tmp_path / "run"
    assert ask(items, out, "--engine", "toy", "--toy-mood", "merry", "--seed", "3") == 0
    model = recorded_model(out)
    assert (model["engine"], model["revision"], model["quantization"]) == ("toy", "3", "merry")
    capsys.readouterr()
    assert ask(items, out, "--engine", "toy", "--toy-mood", "sad", "--seed", "3") == 2
    assert "quantization" in capsys.readouterr().err  # what its settings decide stays as it was


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--toy-mood", "merry"), "--toy-mood is for --engine toy"),
        (("--engine", "toy", "--quantization", "fp8"), "--quantization is for --engine vllm"),
        (("--engine", "toy", "--device", "cpu"), "--device cpu: with --engine toy there is no such choice"),
        (("--engine", "toy", "--lora", "here"), "--engine toy takes no adapter; use causal or vllm"),
    ],
)  # fmt: skip
def test_what_a_toy_engine_does_not_take_is_refused(more, message, toy, items, tmp_path, capsys):
    assert ask(items, tmp_path / "run", *more) == 2
    assert message in capsys.readouterr().err


def test_help_and_messages_list_an_entered_engine(toy, items, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(engines.ENGINES, "toy", replace(ENTRY, takes=(*ENTRY.takes, "adapter")))
    monkeypatch.setenv("COLUMNS", "120")
    with pytest.raises(SystemExit):
        main(["run", "agreement", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "--toy-mood MOOD" in shown and "engines causal and vllm and toy" in shown
    assert ask(items, tmp_path / "run", "--engine", "masked", "--lora", "here") == 2
    assert "use causal or vllm or toy" in capsys.readouterr().err


def test_settings_of_another_engine_are_refused(toy):
    with pytest.raises(InputError, match="settings of toy with --engine causal: say --engine toy, or leave them out"):
        engines.load_engine("m", engine="causal", toy=object())
    with pytest.raises(TypeError, match="magic"):
        engines.load_engine("m", magic=1)


@pytest.mark.parametrize("name", ["vllm", "openai"])
def test_an_engine_is_named_in_its_folder_and_its_entry_only(name):
    inference = Path(FOLDER).parent
    naming = [
        file.relative_to(inference).as_posix()
        for file in inference.rglob("*.py")
        if re.search(rf'"{name}"', file.read_text(encoding="utf-8")) and file.parent != Path(FOLDER) / name
    ]
    assert set(naming) <= {"engines/__init__.py", "runfolder/store.py"}  # a version of a package is recorded
