"""A column that one older file of a run lacks still holds what the other files say."""

from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq

from analysis import runs
from analysis.measures.thoughts import has_probabilities_after_single_thoughts
from analysis.pages.reliability.tables import tabulate_variance_components
from helpers.thinking_runs import write_thinking_run

COLUMN = "sample_probability"


def write_folder(path):
    """A run of one model that thinks, in two files."""
    share = np.random.default_rng(2).uniform(0.2, 0.8, (6, 4, 3))
    run = write_thinking_run(path, share)
    (part,) = (run / "responses").glob("*.parquet")
    table = pq.read_table(part)
    pq.write_table(table.slice(0, 12), part)
    pq.write_table(table.slice(12), part.with_name("part-000002.parquet"))
    return run


def drop_column(run, names):
    """Take the column out of some files, as if these were older than it."""
    for name in names:
        file = run / "responses" / name
        pq.write_table(pq.read_table(file).drop_columns([COLUMN]), file)


def test_a_column_that_one_file_lacks_is_there_in_the_others(tmp_path):
    run = write_folder(tmp_path / "run")
    drop_column(run, ["part-000001.parquet"])
    opened = runs.open_runs(run)
    assert COLUMN in {name for name, _ in opened.folders[0].absent}
    assert has_probabilities_after_single_thoughts(opened, "synthetic")
    # The twelve wordings with thoughts in their file tell how far thoughts differ.
    row = tabulate_variance_components(opened).set_index("measure").loc["agreement"]
    assert row["sampled"] == "thoughts" and row["sample"] > 0


def test_a_column_that_all_files_lack_is_not_there(tmp_path):
    run = write_folder(tmp_path / "run")
    drop_column(run, ["part-000001.parquet", "part-000002.parquet"])
    opened = runs.open_runs(run)
    assert not has_probabilities_after_single_thoughts(opened, "synthetic")
    assert COLUMN in opened.folders[0].empty and COLUMN not in opened.folders[0].complete
