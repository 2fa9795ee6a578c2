"""What several test modules share: one small report, made once by the real commands."""

from __future__ import annotations

import gc
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from hypothesis import settings

from helpers.commands import ROOT, waver

# Tests on a vLLM that is really there (`make test-vllm`); elsewhere they are not collected.
collect_ignore_glob = [] if find_spec("vllm") else ["real_vllm/*"]

# A slow minute of the machine is no failure, and a clean clone is judged by the examples that were tried here.
settings.register_profile("waver", deadline=None, derandomize=True)
settings.load_profile("waver")


def pytest_collection_finish() -> None:
    """Leave out of every later search for garbage what the imports of all tests have made: it stays to the end."""
    gc.collect()
    gc.freeze()


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
    folder = tmp_path_factory.mktemp("demo")
    items = yaml.safe_load((ROOT / "inference" / "demo" / "questionnaire.yaml").read_text(encoding="utf-8"))
    for item in items:
        item["paraphrases"] = item["paraphrases"][:8]
    (folder / "items.yaml").write_text(yaml.safe_dump(items[:12], allow_unicode=True), encoding="utf-8")
    models = [f"{ROOT}/inference/demo/models/waver-demo-{name}" for name in ("bert", "small", "small-tuned")]
    waver("inference", "run", "agreement", "--items", folder / "items.yaml", "--model", *models,
          "--out", folder / "run", "--option-order", "yes-no", "no-yes")  # fmt: skip
    return folder / "run"


@pytest.fixture(scope="session")
def report_folder(demo_run) -> Path:
    """The report of `demo_run`."""
    waver("analysis", "report", demo_run, "--out", demo_run.parent / "report", "-p", "resamples=100", "--single-file")
    return demo_run.parent / "report"


@pytest.fixture
def opened(tmp_path):
    """Writes a run folder from a frame (see `synthetic.write_run`) and opens it."""
    from analysis import runs
    from helpers.synthetic import write_run

    def open_run(rows, **options):
        return runs.open_runs(write_run(tmp_path / f"run-{len(list(tmp_path.iterdir()))}", rows, **options))

    return open_run
