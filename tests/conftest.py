"""What several test modules share: one small report, made once by the real commands."""

from __future__ import annotations

import gc
import os
import re
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import settings
from hypothesis.internal.conjecture import providers

from helpers.commands import ROOT, waver
from helpers.once import make_once
from helpers.shared_duckdb import share_duckdb_of_opened_runs

os.environ["LANGUAGE"] = "C"  # else argparse looks for a translation of each of its words, in every call of a command

# Nobody pulls the plug here, and a busy disk takes a tenth of a second each time; a wrong descriptor is an error still.
os.fsync = lambda fd: os.fstat(fd) and None

# JSON Schema would build the grammars of international addresses as it is imported, for a second; no schema has any.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

# Tests on a vLLM that is really there (`make test-vllm`); elsewhere they are not collected.
collect_ignore_glob = [] if find_spec("vllm") else ["real_vllm/*"]

# A slow minute of the machine is no failure, and a clean clone is judged by the examples that were tried here.
settings.register_profile("waver", deadline=None, derandomize=True)
settings.load_profile("waver")

# Nor would it be by the same ones after an edit anywhere: Hypothesis would parse all our modules for constants to try.
providers._get_local_constants = providers.Constants

SLOW_FILE = re.compile(r"^pytestmark = \[?(\s*)pytest\.mark\.slow\b", re.M)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Search for garbage neither while all tests are imported nor later among what that makes: it stays to the end."""
    gc.disable()
    try:
        collected = yield
        if "analysis.runs.database" in sys.modules:
            share_duckdb_of_opened_runs()
        return collected
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(20_000, 20, 20)  # of 700: frames of pandas make much garbage, and no test waits for it
        gc.enable()


_modules_at_freeze = 0


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Do the same with the libraries that a test was the first to import.

    Every call that asks a model ends with a search for garbage; among all of PyTorch it takes a tenth of a second.
    """
    global _modules_at_freeze
    if len(sys.modules) > _modules_at_freeze + 100:
        gc.collect()
        gc.freeze()
        _modules_at_freeze = len(sys.modules)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files of slow tests alone where no slow test is wanted: their imports take longer than quick tests."""
    if config.option.markexpr != "not slow" or collection_path.suffix != ".py":
        return None
    return True if SLOW_FILE.search(collection_path.read_text(encoding="utf-8")) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the folder of the longest tests: at the end no process waits for another for long."""
    items.sort(key=lambda item: "/whole/" not in item.nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Let files that start R share a process (`make quick` has none of them)."""
    if config.option.dist != "loadfile":
        return None
    from helpers.scheduling import FileScheduling

    return FileScheduling(config, log)


@pytest.fixture(scope="session")
def shared() -> Path:
    """Other people's data, in ../shared; what needs it is skipped where it is missing."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"needs {folder.parent.name}/{folder.name} next to the checkout")
    return folder


@pytest.fixture(scope="session")
def demo_run(tmp_path_factory) -> Path:
    """A slice of the embedded questionnaire asked of three models of the demo family, one of them masked."""

    def ask(folder: Path) -> None:
        items = yaml.safe_load((ROOT / "inference" / "demo" / "questionnaire.yaml").read_text(encoding="utf-8"))
        for item in items:
            item["paraphrases"] = item["paraphrases"][:8]
        (folder / "items.yaml").write_text(yaml.safe_dump(items[:12], allow_unicode=True), encoding="utf-8")
        models = [f"{ROOT}/inference/demo/models/waver-demo-{name}" for name in ("bert", "small", "small-tuned")]
        waver("inference", "run", "agreement", "--items", folder / "items.yaml", "--model", *models,
              "--out", folder / "run", "--option-order", "yes-no", "no-yes")  # fmt: skip

    return make_once(tmp_path_factory, "demo", ask) / "run"


@pytest.fixture(scope="module")
def forked_kernels() -> Iterator[None]:
    """Kernels of reports that a module makes in this process start at once; other modules have whole ones."""
    from helpers.kernels import fork_kernels

    with fork_kernels():
        yield


@pytest.fixture(scope="session")
def report_folder(tmp_path_factory, demo_run) -> Path:
    """The report of `demo_run`."""
    from helpers.kernels import fork_kernels

    def write_report(folder: Path) -> None:
        out = folder / "report"
        with fork_kernels():
            waver("analysis", "report", demo_run, "--out", out, "-p", "resamples=100", "--single-file")

    return make_once(tmp_path_factory, "demo-report", write_report) / "report"


@pytest.fixture(scope="session")
def tour_folder(tmp_path_factory) -> Path:
    """A folder in which the tour was made, `explored.ipynb`, with the answers of the demo models that it asked."""
    import papermill

    from helpers.kernels import fork_kernels

    def make_tour(folder: Path) -> None:
        with fork_kernels():
            papermill.execute_notebook(
                ROOT / "notebooks" / "explore.ipynb", folder / "explored.ipynb", cwd=folder, progress_bar=False
            )

    return make_once(tmp_path_factory, "tour", make_tour)


@pytest.fixture
def opened(tmp_path):
    """Writes a run folder from a frame (see `synthetic.write_run`) and opens it."""
    from analysis import runs
    from helpers.synthetic import write_run

    def open_run(rows, **options):
        return runs.open_runs(write_run(tmp_path / f"run-{len(list(tmp_path.iterdir()))}", rows, **options))

    return open_run
