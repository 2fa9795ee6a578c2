"""Measures of a reader's own: a column of the items, bootstrapped over items like the others, named in provenance."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from analysis import runs
from analysis.pages.stability.page import StabilityPage
from analysis.reporting.catalogue import look_up_column, tables
from analysis.reporting.output.provenance import list_provenance_entries
from ground.errors import InputError
from helpers.synthetic import paraphrases, random_frame, write_run


def compute_sd(frame):
    """Standard deviation of agreement.

    Further lines are not shown.
    """
    return frame["agreement"].std()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    frame = random_frame(["a", "b"], items=6, paraphrases=5, seed=2).assign(mass=0.9)
    return write_run(tmp_path_factory.mktemp("added") / "run", frame)


@pytest.fixture(scope="module")
def run(folder):
    return runs.open_runs(folder)


@pytest.mark.slow
def test_a_measure_is_a_column_of_the_items_and_changes_no_other(run):
    items = tables.build_table("items", run, measures={"spread": compute_sd})
    np.testing.assert_allclose(items["spread"], items["agreement_sd"], rtol=1e-12)
    pd.testing.assert_frame_equal(items.drop(columns="spread"), tables.build_table("items", run))
    assert look_up_column("items", "spread").meaning == "Standard deviation of agreement."


def test_its_mean_over_items_is_bootstrapped_like_the_others(run):
    table = tables.build_table("stability", run, resamples=400, seed=3, measures={"spread": compute_sd})
    for end in ("", "_lower", "_upper"):
        np.testing.assert_allclose(table[f"spread{end}"], table[f"sd_mean{end}"], rtol=1e-9)
    assert list(table["spread_n"]) == [6, 6]
    pd.testing.assert_frame_equal(
        table[[name for name in table if not name.startswith("spread")]],
        tables.build_table("stability", run, resamples=400, seed=3),
    )
    assert look_up_column("stability", "spread").meaning == "mean over items of: Standard deviation of agreement."
    assert "(over items) of: mean over items of" in look_up_column("stability", "spread_lower").meaning
    assert "spread_n" in tables.list_shown_columns("stability", table)
    assert tables.render_table_in_text_format("stability", table, "markdown", ["spread"]).count("[") == 2


@pytest.mark.slow
def test_the_mean_of_a_measure_that_is_0_or_1_has_the_interval_of_a_share(run):
    def flip(frame):
        share = (frame["agreement"] >= 0.5).mean()
        return min(share, 1 - share) > 0.1

    table = tables.build_table("stability", run, resamples=400, measures={"flip": flip, "never": lambda frame: 0})
    for end in ("", "_lower", "_upper"):
        np.testing.assert_allclose(table[f"flip{end}"], table[f"flip_10{end}"], rtol=1e-12)
    assert (table["never_lower"] == 0).all() and (table["never_upper"] > 0.3).all()


def test_a_function_gets_the_answers_to_the_paraphrases_of_one_item(run):
    seen = []

    def look(frame):
        seen.append(frame)
        frame["agreement"] = 0.0  # changes a copy
        return len(frame)

    items = tables.build_table("items", run, measures={"size": look})
    assert (items["size"] == 5).all()
    assert len(seen) == 12
    assert list(seen[0]) == ["variant", "text", "agreement", "validity"]
    assert list(seen[0]["variant"]) == [f"paraphrase-{number:03d}" for number in range(1, 6)]
    assert look_up_column("items", "size").meaning == "own measure"
    assert (tables.build_table("items", run, measures={"spread": compute_sd})["spread"] > 0).all()


def test_items_without_a_value_are_left_out_and_counted(tmp_path):
    frame = paraphrases({"x": [0.2, 0.4], "y": [0.5, 0.9], "z": [0.3, math.nan]})
    opened = runs.open_runs(write_run(tmp_path / "run", frame.fillna({"agreement": 0.5})))
    first = {"x": 1.0, "y": 3.0}
    measure = {"own": lambda rows: first.get(rows["text"].iloc[0].split(":")[0], math.nan)}
    assert tables.build_table("items", opened, measures=measure)["own"].fillna(-1).tolist() == [1, 3, -1]
    row = tables.build_table("stability", opened, resamples=50, measures=measure).iloc[0]
    assert (row["own"], row["own_n"], row["n_items"]) == (2, 2, 3)


@pytest.mark.parametrize(
    ("function", "line"),
    [
        (lambda frame: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda frame: frame["colour"], "KeyError: 'colour'"),
        (lambda frame: None, "it returned None, which is no number; NaN stands for none"),
        (lambda frame: "two\nlines", r"it returned 'two\\nlines', which is no number"),
        (lambda frame: np.inf, "it returned inf, which is no number"),
        (lambda frame: 10**400, "it returned 10*…, which is no number"),
    ],
)
def test_a_function_that_fails_is_one_line_with_measure_model_and_item(run, function, line):
    with pytest.raises(InputError, match=line) as error:
        tables.build_table("items", run, measures={"gini": function})
    assert str(error.value).startswith("measure 'gini', model 'a' (plain/yes-no), item 'item-01': ")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("measures", "line"),
    [
        ("gini", "measures are functions by name, given from Python"),
        ({"gini": 3}, "measures are functions by name"),
        *(({name: compute_sd}, "cannot be a column") for name in ("text", "flip_10", "a b", "x_lower", "x_n", "", 3)),
    ],
)
def test_what_is_no_measure_is_refused(run, measures, line):
    with pytest.raises(InputError, match=line):
        tables.build_table("stability", run, measures=measures)


def test_provenance_names_measures_and_where_they_are_defined(run):
    cell: dict = {}
    exec(compile("def gini(frame): return 0", "/tmp/ipykernel_1/2.py", "exec"), cell)
    options = {"seed": 1, "measures": {"spread": compute_sd, "gini": cell["gini"], "top": max}}
    entries = dict(list_provenance_entries(run, [], options))
    place = f"{__file__} line {compute_sd.__code__.co_firstlineno}"
    assert entries["Parameters"] == [
        f"seed = 1, measures = spread (compute_sd, {place}); gini (gini, defined in the notebook); top (builtins.max)"
    ]


@pytest.mark.slow
def test_a_page_shows_it_and_writes_what_it_means(folder, tmp_path):
    page = StabilityPage([str(folder)], tmp_path, resamples=50, measures={"spread": compute_sd})
    page.answer()
    assert "spread" in page.table("stability").text
    assert "spread" in page.table("items").text
    assert "compute_sd, " in page.provenance().text
    dictionary = pd.read_csv(tmp_path / "tables" / "dictionary.csv").set_index(["table", "column"])["meaning"]
    assert dictionary["items", "spread"] == "Standard deviation of agreement."
    items = tmp_path / "tables" / "items.csv"
    items.write_text(items.read_text(encoding="utf-8").replace("spread", "elsewhere"), encoding="utf-8")
    page.table("item_stability")  # another notebook writes the dictionary of all tables that are there
    dictionary = pd.read_csv(tmp_path / "tables" / "dictionary.csv").set_index(["table", "column"])["meaning"]
    assert dictionary["items", "elsewhere"] == "own measure"
