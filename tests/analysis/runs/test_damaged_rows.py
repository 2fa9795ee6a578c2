"""Damaged values are found whichever program wrote the part, with or without the statistics that shorten the search."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis import runs
from ground.errors import InputError
from helpers.damaged_rows import RESPONSES, Damage, damage
from helpers.page_runs import FULL
from helpers.synthetic import write_run

pytestmark = pytest.mark.slow


def write_by_duckdb(file: Path) -> None:
    copy = file.with_suffix(".copy")
    duckdb.sql(f"COPY (FROM read_parquet('{file}')) TO '{copy}' (FORMAT parquet)")
    copy.replace(file)


def write_without_statistics(file: Path) -> None:
    pq.write_table(pq.read_table(file, partitioning=None), file, write_statistics=False)


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    return Path(FULL["stability"](tmp_path_factory.mktemp("whole") / "run")[0])


ONE_PER_COLUMN = list({chosen.column: chosen for chosen in RESPONSES}.values())


# What pyarrow wrote with statistics: the cases "a value: ..." of `helpers/refusals/damage.py`. What DuckDB notes of a
# column does not depend on what is wrong in it.
@pytest.mark.parametrize(
    ("write", "damages", "fewest"), [(write_by_duckdb, ONE_PER_COLUMN, 8), (write_without_statistics, RESPONSES, 16)]
)
def test_values_are_found_whoever_wrote_them(
    write: Callable[[Path], None], damages: list[Damage], fewest: int, whole: Path, tmp_path
):
    missed, n_refused = [], 0
    for chosen in damages:
        folder = tmp_path / "run"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(whole, folder)
        if not damage(folder, chosen, random.Random(1)):
            continue
        for part in folder.glob("responses/*.parquet"):
            write(part)
        try:
            runs.open_runs(folder)
        except InputError as error:
            n_refused += chosen.column in str(error)
        else:
            missed.append(chosen.name)
    assert not missed and n_refused >= fewest


def test_large_files_are_checked_on_all_cores_and_read_by_one_thread_afterwards(whole: Path, tmp_path, monkeypatch):
    monkeypatch.setattr("analysis.runs.damaged_rows.LARGE", 0)
    query = "SELECT current_setting('threads')"
    assert runs.open_runs(whole).execute(query).fetchall() == [(1,)]
    folder = shutil.copytree(whole, tmp_path / "run")
    assert damage(folder, RESPONSES[0], random.Random(1))
    with pytest.raises(InputError, match=RESPONSES[0].column):
        runs.open_runs(folder)


def write_texts(folder: Path, second: str) -> Path:
    """Write two texts, the second of them read as `second`; its wording has the options in another order."""
    rows = [
        {"item": "tea", "variant": "original", "output": ["Yes."], "sample_answer": ["agree"], "answer": "agree"},
        {"item": "tea", "variant": "p1", "output": ["No."], "sample_answer": [second], "answer": "disagree"},
    ]
    frame = pd.DataFrame(rows).assign(count=[[1, 0], [1, 0]])
    frame["options"] = [["agree", "disagree"], ["disagree", "agree"]]
    return write_run(folder, frame)


def test_texts_are_compared_with_the_options_of_their_own_wording(tmp_path):
    opened = runs.open_runs(write_texts(tmp_path / "whole", "disagree"))
    assert opened.sql("SELECT sample_answer FROM responses ORDER BY variant")["sample_answer"].str[0].tolist() == [
        "agree", "disagree",
    ]  # fmt: skip
    with pytest.raises(InputError, match=r"variant 'p1'.*sample_answer .*none of the options"):
        runs.open_runs(write_texts(tmp_path / "damaged", "perhaps"))


def test_an_empty_list_among_nulls_is_found(whole: Path, tmp_path):
    folder = shutil.copytree(whole, tmp_path / "run")
    (part,) = folder.glob("responses/*.parquet")
    table = pq.read_table(part, partitioning=None)
    place = table.column_names.index("count")
    counts = [None, [], *[None] * (len(table) - 2)]
    field = table.schema.field("count").with_nullable(True)
    pq.write_table(table.set_column(place, field, pa.array(counts, field.type)), part)
    with pytest.raises(InputError, match="count"):
        runs.open_runs(folder)
