"""A run through engine `vllm` from the command line: killed, gone on with, and equal to one through `causal`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from inference.runfolder.parquet import KEY

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent
MODEL = str(ROOT / "inference" / "demo" / "models" / "waver-demo-large")
ORDERS = ("yes-no", "no-yes")


def command(engine: str, out: Path, *more: str) -> list[str]:
    asked = ["run", "agreement", "--items", "demo", "--model", MODEL, "--option-order", *ORDERS]
    return [sys.executable, "-m", "inference", *asked, "--engine", engine, "--out", str(out), *more]


def rows_in(out: Path) -> int:
    return sum(pq.read_metadata(part).num_rows for part in (out / "responses").glob("part-*.parquet"))


def table_of(out: Path) -> pa.Table:
    files = sorted((out / "responses").glob("part-*.parquet"))
    table = pa.concat_tables([pq.read_table(file, partitioning=None) for file in files])
    return table.sort_by([(name, "ascending") for name in KEY]).combine_chunks()


def test_killed_and_gone_on_with_it_equals_causal_row_for_row(tmp_path: Path) -> None:
    # One process group per run, so that nothing of a killed one stays behind.
    out, batches = tmp_path / "vllm", ("--batch-size", "16")
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(command("vllm", out, *batches), cwd=ROOT, stderr=log, start_new_session=True)
        while process.poll() is None and rows_in(out) == 0:
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL, (tmp_path / "log").read_text()[-3000:]
    saved = rows_in(out)
    done = subprocess.run(command("vllm", out, *batches), cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    subprocess.run(command("causal", tmp_path / "causal"), cwd=ROOT, check=True, capture_output=True)
    found, expected = table_of(out).to_pylist(), table_of(tmp_path / "causal").to_pylist()
    assert 0 < saved < len(expected)
    assert [[row[name] for name in KEY] for row in found] == [[row[name] for name in KEY] for row in expected]
    for ours, reference in zip(found, expected, strict=True):
        assert ours["error"] is None
        # The worst of these 4,420 prompts was 1.5e-5 apart on a CPU build; nearly all are within 4e-6.
        assert ours["probability"] == pytest.approx(reference["probability"], abs=3e-5)
        assert ours["answer"] == reference["answer"]
