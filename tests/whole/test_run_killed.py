"""A run killed at any moment and started again ends with exactly the rows of an undisturbed one."""

from __future__ import annotations

import json
import os
import random
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from helpers import apart
from helpers.trivial_engine import loader, small_study
from inference.asking import session
from inference.asking.execute import Task, ask_tasks_and_list_tallies
from inference.asking.models import Model
from inference.asking.one_model import Settings
from inference.protocols.agreement import Questions, read_agreement_prompts
from inference.runfolder.parquet import KEY

pytestmark = pytest.mark.slow

KILLS = 16  # `make test-kills` kills whole commands, and as often as one likes


def run(folder: Path) -> None:
    """Ask two models, in a process of its own.

    Every batch is written at once, so that most kills fall into a write. While a file `failing` is there, every fifth
    prompt gets an error row: those rows are asked again and the error rows compacted away, which is killed as well.
    """
    session.FIRST_FLUSH = session.LAST_FLUSH = 0.0
    failing = (folder / "failing").exists()
    task = Task(
        small_study(items=15, paraphrases=9), [Model("a", "a"), Model("b", "b")],
        Questions(read_agreement_prompts(), ("yes-no", "no-yes")),
        Settings(), str(folder / "run"),
    )  # fmt: skip
    # Other prompts fail each time.
    fails = random.Random(os.getpid()).random()
    ask_tasks_and_list_tallies(
        [task],
        load=loader(
            seconds=0.001, size=10, fails=lambda text: failing and random.Random(f"{fails}{text}").random() < 0.2
        ),
    )


def start(folder: Path):
    process = apart.forked(run, folder)
    process.start()
    return process


def finish(folder: Path) -> pa.Table:
    """Let a run come to its end; its rows in a fixed order."""
    (folder / "failing").unlink(missing_ok=True)
    process = start(folder)
    process.join(120)
    assert process.exitcode == 0
    files = sorted((folder / "run" / "responses").iterdir())
    assert all(file.suffix == ".parquet" for file in files)
    table = pa.concat_tables([pq.read_table(file, partitioning=None) for file in files])
    return table.sort_by([(name, "ascending") for name in KEY]).combine_chunks()


def parts(folder: Path) -> int:
    return max((int(part.name.split("-")[1]) for part in folder.glob("run/responses/part-*.parquet")), default=0)


def kill(folder: Path, chance: random.Random) -> bool:
    """Start the run and kill it at a random moment: in one case of four while it starts, else after some batches.

    Batches, not seconds, because on a busy machine a run of a second may not have begun to ask.
    """
    process = start(folder)
    if chance.random() < 0.25:
        time.sleep(chance.uniform(0, 0.5))
    else:
        enough = parts(folder) + chance.randint(1, 8)
        while process.is_alive() and parts(folder) < enough:
            time.sleep(0.002)
        time.sleep(chance.uniform(0, 0.005))
    process.kill()
    process.join()
    return process.exitcode == -9


def test_killed_at_random_moments(tmp_path):
    chance = random.Random(20)
    (tmp_path / "undisturbed").mkdir()
    expected = finish(tmp_path / "undisturbed")
    assert expected.num_rows == 2 * 2 * 150
    kills = folders = 0
    while kills < KILLS:
        folder = tmp_path / str(folders)
        folder.mkdir()
        folders += 1
        for _ in range(KILLS // 2):  # several kills of one run, and several runs
            (folder / "failing").touch()
            kills += kill(folder, chance)
        assert finish(folder).equals(expected)
        about, original = (
            json.loads((f / "run" / "run.json").read_text(encoding="utf-8")) for f in (folder, tmp_path / "undisturbed")
        )
        assert all(about[part] == original[part] for part in ("study", "models", "conditions", "seed"))
        assert about["sessions"][-1]["finished"] is not None
