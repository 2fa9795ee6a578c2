"""A call that was made before has nothing left to ask, and says so without reading items or loading a model."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from inference.__main__ import main
from inference.asking import execute as executing
from inference.asking import repeated

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


def looks(given: list[str], monkeypatch) -> bool:
    """Whether the call looks for itself what is left."""
    seen = []
    with monkeypatch.context() as patch:
        patch.setattr(executing, "execute", lambda tasks, **_: seen.append(tasks))
        assert main(given) == 0
    return bool(seen)


def test_the_same_call_says_so_at_once(asked: Path, monkeypatch, capsys) -> None:
    before = (asked / "run" / "run.json").read_bytes()
    assert not looks(call(asked), monkeypatch)
    told = capsys.readouterr()
    assert told.err == "model: nothing left to ask\n" and "done; next: waver report" in told.out
    assert (asked / "run" / "run.json").read_bytes() == before


def test_neither_torch_nor_transformers_is_imported(asked: Path) -> None:
    code = (
        "import sys\nfrom inference.__main__ import main\nassert main(sys.argv[1:]) == 0\n"
        "assert not {'torch', 'transformers'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, *call(asked)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "nothing left to ask" in done.stderr


@pytest.mark.parametrize("more", [["--seed", "0"], ["--limit", "2"], ["--option-order", "no-yes"], ["--name", "items"]])
def test_another_call_looks_for_itself(asked: Path, more: list[str], monkeypatch) -> None:
    assert looks(call(asked, *more), monkeypatch)


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
def test_what_has_changed_is_refused_as_ever(asked: Path, copy: Path, change, told: str, capsys) -> None:
    here = [word.replace(f"{asked}/", "") for word in call(asked)]
    assert main(here) == 0
    change(copy)
    assert main(here) == 2
    assert told in capsys.readouterr().err


def lost_part(folder: Path) -> None:
    next((folder / "run" / "responses").iterdir()).unlink()


def lost_row(folder: Path) -> None:
    part = next((folder / "run" / "responses").iterdir())
    pq.write_table(pq.read_table(part).slice(1), part)


def stopped(folder: Path) -> None:
    file = folder / "run" / "run.json"
    about = json.loads(file.read_text())
    for session in about["sessions"]:
        session["finished"] = None
    file.write_text(json.dumps(about))


def no_stimuli(folder: Path) -> None:
    (folder / "run" / "stimuli.parquet").unlink()


@pytest.mark.parametrize("harm", [lost_part, lost_row, stopped, no_stimuli])
def test_a_run_that_lacks_something_is_looked_at(asked: Path, copy: Path, harm, monkeypatch) -> None:
    here = [word.replace(f"{asked}/", "") for word in call(asked)]
    assert main(here) == 0
    assert not looks(here, monkeypatch)
    harm(copy)
    assert looks(here, monkeypatch)


@pytest.mark.parametrize(
    ("words", "read"),
    [(["--templates", "bank.yaml:facts"], "bank.yaml"), (["--prompt", "~/prompt.yaml"], "prompt.yaml"),
     (["--prompt=~/prompt.yaml"], "prompt.yaml"), ([], "items.building.csv"), (["--models", "m.yaml"], "m.yaml")],
)  # fmt: skip
def test_all_that_a_call_reads_is_in_its_fingerprint(words: list[str], read: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "items.csv").write_text(ITEMS)
    options = Namespace(items="items.csv", engine="auto", lora=[], out="run", program=["waver"], call=["waver", *words])
    found = []
    for content in ("one", "two"):
        (tmp_path / read).write_text(content)
        found.append(repeated.fingerprint(options, []))
    assert None not in found and found[0] != found[1]


def test_after_another_call_it_looks_for_itself(asked: Path, copy: Path, monkeypatch) -> None:
    here = [word.replace(f"{asked}/", "") for word in call(asked)]
    described = [*here, "--models", "models.yaml"]
    (copy / "models.yaml").write_text("model: {series: other}\n")
    assert main(here) == 0 and main(described) == 0
    assert looks(here, monkeypatch)
    assert not looks(described, monkeypatch)


def test_other_code_or_prompts_of_ours_look_for_themselves(asked: Path, tmp_path: Path, monkeypatch) -> None:
    shutil.copytree(repeated.PACKAGE / "protocols", tmp_path / "ours" / "protocols")
    monkeypatch.setattr(repeated, "PACKAGE", tmp_path / "ours")
    assert looks(call(asked), monkeypatch)
