"""`python -m inference`: quick help, exit statuses, and one line for whatever is wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.commands import waver
from helpers.trivial_engine import TrivialEngine, loader
from inference.__main__ import main
from inference.asking.one_model import Settings

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
HEAVY = {"torch", "transformers", "pandas", "duckdb", "datasets", "pyarrow", "numpy", "matplotlib", "scipy"}


def call(
    *arguments: str, cwd: Path = ROOT, python: tuple[str, ...] = ("-m", "inference")
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *python, *arguments], cwd=cwd, capture_output=True, text=True, timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


@pytest.fixture
def items(tmp_path) -> str:
    (tmp_path / "items.csv").write_text("item,text\na,One.\na,The first.\na,Number one.\nb,Two.\n", encoding="utf-8")
    return str(tmp_path / "items.csv")


@pytest.fixture
def trivial(monkeypatch):
    """Any model name is answered by the engine without a model."""
    monkeypatch.setattr(Settings, "load_model_engine", lambda self, model, seed: TrivialEngine())
    monkeypatch.setattr(Settings, "refuse_missing_model", lambda self, model: None)


HELP = [
    (),
    ("run",),
    ("run", "PLAN.toml"),
    ("status",),
    ("preview",),
    ("import",),
    ("import", "haller"),
    ("import", "table"),
]


@pytest.mark.parametrize("command", HELP, ids=" ".join)
def test_help_answers_at_once(command):
    def seconds() -> float:
        before = os.times()
        answer = call(*command, "--help")
        after = os.times()
        assert answer.returncode == 0, answer.stderr
        assert "usage: python -m inference" in answer.stdout
        assert answer.stderr == ""
        return after.children_user + after.children_system - before.children_user - before.children_system

    # CPU time, and one of three: what else the machine does is not the command's fault.
    assert any(seconds() < 0.5 for _ in range(3))


@pytest.mark.parametrize("command", HELP, ids=" ".join)
def test_help_imports_nothing_heavy(command):
    code = (
        "import sys; from inference.__main__ import main\n"
        "try: main(sys.argv[1:] + ['--help'])\n"
        "except SystemExit: print('LOADED', *sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    answer = call(*command, python=("-c", code))
    loaded = set(answer.stdout.partition("LOADED")[2].split())
    assert loaded
    assert loaded & HEAVY == set()


def test_help_says_what_a_run_needs():
    assert "agreement" in call("run", "--help").stdout
    text = call("run", "agreement", "--help").stdout
    for option in ("--items", "--model", "--out", "--form", "--option-order", "--prompt", "--engine", "--dtype",
                   "--device", "--revision", "--seed", "--batch-size", "--models", "--name", "agreement"):  # fmt: skip
        assert option in text


CALLS = [
    ((), "the following arguments are required: COMMAND"),
    (("walk",), "invalid choice: 'walk'"),
    (("rum",), "invalid choice: 'rum' (the nearest is 'run')"),
    (("run", "agreement", "x", "--items", "x", "--model", "m", "--out", "r", "y"), "run agreement: unrecognized"),
    (("status", "--rot", "x"), "status: unknown option --rot"),
    (("run",), "the following arguments are required: PROTOCOL"),
    (("run", "agreement", "--items", "x", "--out", "r"), "required: --model"),
    (("run", "nonsense", "--items", "x", "--model", "m", "--out", "r"), "invalid choice: 'nonsense'"),
    (("run", "agreement", "--items", "x", "--model", "m", "--out", "r", "--form", "sung"), "invalid choice: 'sung'"),
    (
        ("run", "agreement", "--items", "x", "--model", "m", "--out", "r", "--batch-size", "0"),
        "0 is not a whole number from 1",
    ),
    (
        ("run", "agreement", "--items", "x", "--model", "m", "--out", "r", "--batch-size", "x"),
        "x is not a whole number from 1",
    ),
    (
        ("run", "agreement", "--items", "x", "--model", "m", "--out", "r", "--sed", "1"),
        "unknown option --sed (the nearest is '--seed')",
    ),
    (("run", "agreement", "--items", "missing.csv", "--model", "gpt2", "--out", "r"), "missing.csv: cannot be read"),
    (("run", "agreement", "--items", "{items}", "--model", "./missing", "--out", "r"), "./missing: no such folder"),
    (("run", "agreement", "--items", "{items}", "--model", "m", "--prompt", "p.yaml", "--out", "r"), "p.yaml"),
    (("run", "agreement", "--items", "{items}", "--model", "m", "--models", "f.yaml", "--out", "r"), "f.yaml"),
    (("preview", "agreement", "--items", "missing.csv", "--model", "gpt2"), "missing.csv: cannot be read"),
    (("preview", "agreement", "--items", "x.csv", "--model", "gpt2", "--out", "r"), "unknown option --out"),
    (("import",), "the following arguments are required: KIND"),
    (("import", "poems"), "invalid choice: 'poems'"),
]


@pytest.mark.parametrize(("arguments", "message"), CALLS, ids=[message for _, message in CALLS])
def test_a_wrong_call_is_one_line_and_status_2(arguments, message, items, tmp_path):
    answer = waver("inference", *(argument.format(items=items) for argument in arguments), cwd=tmp_path, check=False)
    assert answer.returncode == 2
    assert len(answer.stderr.splitlines()) == 1
    assert answer.stderr.startswith("python -m inference")
    assert message in answer.stderr
    assert answer.stdout == ""
    assert not (tmp_path / "r").exists()


def run(items: str, out: Path, *more: str, model: str = "gpt2") -> int:
    return main(["run", "agreement", "--items", items, "--model", model, "--out", str(out), *more])


def about(out: Path) -> dict:
    return json.loads((out / "run.json").read_text(encoding="utf-8"))


def test_a_run_from_the_command_line(items, tmp_path, trivial, capsys):
    assert run(items, tmp_path / "run", "--option-order", "yes-no", "no-yes", "--seed", "5", "--model", "b", "c") == 0
    recorded = about(tmp_path / "run")
    assert list(recorded["models"]) == ["gpt2", "b", "c"]
    assert list(recorded["conditions"]) == ["plain/yes-no", "plain/no-yes"]
    assert (recorded["study"]["name"], recorded["study"]["source"], recorded["seed"]) == ("items", items, 5)
    command = recorded["sessions"][0]["command"]
    assert command[:6] == ["python", "-m", "inference", "run", "agreement", "--items"]
    assert (
        "1 of 2 items has fewer than two paraphrases: asked, but left out of stability statistics: b"
        in capsys.readouterr().err
    )


def test_models_are_described_and_the_study_named(items, tmp_path, trivial):
    (tmp_path / "models.yaml").write_text("gpt2: {series: s, stage: base}", encoding="utf-8")
    assert run(items, tmp_path / "run", "--models", str(tmp_path / "models.yaml"), "--name", "mine") == 0
    assert about(tmp_path / "run")["models"]["gpt2"]["stage"] == "base"
    assert about(tmp_path / "run")["study"]["name"] == "mine"


def test_settings_reach_the_engine(items, tmp_path, monkeypatch):
    from inference import engines

    seen = {}

    def load(source, **settings):
        seen.update(settings, source=source)
        return TrivialEngine()

    monkeypatch.setattr(engines, "load_engine", load)
    monkeypatch.setattr("inference.asking.one_model.is_hub_reachable_else_require_cached_model", lambda *_: True)
    (tmp_path / "models.yaml").write_text("gpt2: {revision: v2}", encoding="utf-8")
    more = [
        "--engine",
        "masked",
        "--dtype",
        "float16",
        "--device",
        "cuda:1",
        "--revision",
        "v1",
        "--seed",
        "3",
        "--batch-size",
        "7",
    ]
    assert run(items, tmp_path / "run", *more) == 0
    assert seen == {
        "source": "gpt2", "engine": "masked", "dtype": "float16", "device": "cuda:1", "revision": "v1", "seed": 3,
        "batch_size": 7, "api": None, "vllm": None, "adapter": None,
    }  # fmt: skip
    assert run(items, tmp_path / "run2", "--models", str(tmp_path / "models.yaml")) == 0
    assert (seen["revision"], seen["seed"], seen["dtype"], seen["batch_size"]) == ("v2", 0, "auto", None)


def test_a_refused_change_is_one_line_and_status_2(items, tmp_path, trivial, capsys):
    assert run(items, tmp_path / "run") == 0
    capsys.readouterr()
    Path(items).write_text("item,text\na,Other.\n", encoding="utf-8")
    assert run(items, tmp_path / "run") == 2
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("python -m inference: ")]
    assert "the study has changed since this run was begun" in line


def test_a_failed_run_is_one_line_and_status_1(items, tmp_path, monkeypatch, capsys):
    failing = loader(fails=lambda text: True)
    monkeypatch.setattr(Settings, "load_model_engine", lambda self, model, seed: failing(model, seed))
    monkeypatch.setattr(Settings, "refuse_missing_model", lambda self, model: None)
    assert run(items, tmp_path / "run") == 1
    assert " rows have no response (first gpt2 plain/yes-no, " in capsys.readouterr().err.splitlines()[-1]


def test_ctrl_c_is_one_line_and_status_1(items, tmp_path, monkeypatch, capsys):
    def interrupt(self, model, seed):
        raise KeyboardInterrupt

    monkeypatch.setattr(Settings, "load_model_engine", interrupt)
    monkeypatch.setattr(Settings, "refuse_missing_model", lambda self, model: None)
    assert run(items, tmp_path / "run") == 1
    assert "stopped before gpt2; give the same command again to go on" in capsys.readouterr().err.splitlines()[-1]


def test_a_bug_keeps_its_traceback(items, tmp_path, monkeypatch):
    monkeypatch.setattr(Settings, "load_model_engine", lambda self, model, seed: 1 / 0)
    monkeypatch.setattr(Settings, "refuse_missing_model", lambda self, model: None)
    with pytest.raises(ZeroDivisionError):
        run(items, tmp_path / "run")


def test_preview_writes_nothing(items, tmp_path, trivial, capsys):
    before = sorted(tmp_path.rglob("*"))
    assert main(["preview", "agreement", "--items", items, "--model", "gpt2", "--option-order", "no-yes"]) == 0
    shown = capsys.readouterr().out
    assert "condition plain/no-yes" in shown
    assert "Statement: One." in shown
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("secret", [["--api-key", "hunter2"], ["--api-key=hunter2"], ["--hf-token", "hunter2"]])
def test_secrets_are_not_recorded(secret):
    from ground.parser import hide_values_of_secret_options

    shown = hide_values_of_secret_options(["run", *secret, "--seed", "1"])
    assert "hunter2" not in " ".join(shown)
    assert shown[-2:] == ["--seed", "1"]
    call = ["import", "lm-eval", "log", "--item-key", "doc.qid", "--variant-key=doc.form"]
    assert hide_values_of_secret_options(call) == call  # names of fields: the call can be repeated
