"""Rows of conditions that left out the middle option: lists of K - 1 values, for odd K only."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis import runs
from analysis.export.tables import define_export_tables
from analysis.reporting.tidy.tables import open_tidy_connection, read_tidy_table
from analysis.runs.model_prompts import describe_response
from ground.errors import InputError
from inference.protocols.scale.items import build_scale_study
from inference.runfolder.store import Run
from inference.stimuli.study import ORIGINAL, Item, Variant

FIELDS = {"form": "plain", "labels": "numbers", "option_order": "up"}
WITH, WITHOUT = "plain/numbers-up", "plain/numbers-up/no-middle"
SHARES = {4: [0.1, 0.2, 0.3, 0.4], 5: [0.1, 0.2, 0.3, 0.2, 0.1]}


def write_run(folder: Path, lengths: dict[tuple[str, str], int]) -> Path:
    """Write a run of an item with five options and of one with four; (condition, item) -> number of values."""
    items = [
        Item(name, (Variant(name, ORIGINAL, ORIGINAL, f"Text {name}.", (), attributes={"options": options}),))
        for name, options in (("odd", "a;b;c;d;e"), ("even", "a;b;c;d"))
    ]
    with Run.create_or_open(folder, build_scale_study(items, "s")) as run:
        run.add_model("m", {"engine": "causal", "revision": None})
        run.add_condition(WITH, FIELDS)
        run.add_condition(WITHOUT, {**FIELDS, "without_middle": True})
        rows = [
            {"model": "m", "condition": condition, "item": item, "variant": ORIGINAL, "probability": SHARES[length],
             "mass": sum(SHARES[length])}
            for (condition, item), length in lengths.items()
        ]  # fmt: skip
        run.responses.append_rows_as_part(rows)
        run.finish()
    return folder


RIGHT = {(WITH, "odd"): 5, (WITH, "even"): 4, (WITHOUT, "odd"): 4, (WITHOUT, "even"): 4}


@pytest.mark.slow
def test_values_belong_to_the_options_shown(tmp_path):
    opened = runs.open_runs(write_run(tmp_path / "run", RIGHT))
    rows = opened.sql(define_export_tables(opened)["response_options"].query)
    found = {key: list(group["canonical"]) for key, group in rows.groupby(["condition", "item"])}
    four, five = ["1", "2", "3", "4"], ["1", "2", "3", "4", "5"]
    assert found == {(WITH, "odd"): five, (WITH, "even"): four, (WITHOUT, "even"): four,
                     (WITHOUT, "odd"): ["1", "2", "4", "5"]}  # fmt: skip
    responses = read_tidy_table(open_tidy_connection(opened), "responses").set_index(["condition", "item"])
    names = [f"probability.{label}" for label in five]
    assert responses.loc[(WITHOUT, "odd"), names].dropna().to_dict() == dict(
        zip(["probability.1", "probability.2", "probability.4", "probability.5"], SHARES[4], strict=True)
    )
    assert responses.loc[(WITH, "odd"), names].tolist() == SHARES[5]
    row = {"probability": [0.25, 0.5], "answer": "always", "options": ["never", "sometimes", "always"]}
    assert describe_response(row) == "never 0.25, always 0.5; answer: always"


@pytest.mark.parametrize(("key", "length"), [((WITH, "odd"), 4), ((WITHOUT, "odd"), 5), ((WITHOUT, "even"), 5)])
def test_other_lengths_are_damage(tmp_path, key, length):
    with pytest.raises(InputError, match=r"probability .* has not as many entries as there are options"):
        runs.open_runs(write_run(tmp_path / "run", {**RIGHT, key: length})).sql("SELECT * FROM responses")
