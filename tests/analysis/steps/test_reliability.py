"""Intraclass correlations step by step, on the numbers that Shrout and Fleiss (1979, Tables 2 to 4) print.

Shrout, P. E. and Fleiss, J. L. (1979). Intraclass correlations: uses in assessing rater reliability. Psychological
Bulletin 86, 420-428.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis.measures.reworded import Study
from analysis.statistics.reliability.generalizability import compute_intraclass_correlations as compute_of_panel
from analysis.statistics.reliability.panel import estimate_panel_mean
from analysis.steps.reliability import (
    ROW,
    compute_intraclass_correlations,
    compute_mean_squares,
    list_answers_of_first_balanced_unit_per_study,
    recompute_intraclass_correlations,
    select_variance_components_of_answers,
)

RATINGS = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float)


def build_study(values: np.ndarray, crossed: bool, headline: bool = True) -> Study:
    """A study with these answers (units, items, wordings)."""
    units = [(f"m{unit}", "c") for unit in range(len(values))]
    return Study("s", "score", headline, crossed, units, np.ones(len(values)), values, [])


def list_answers(values: np.ndarray, crossed: bool, **fields) -> pd.DataFrame:
    """The answers of such a study as rows."""
    return list_answers_of_first_balanced_unit_per_study([build_study(values, crossed, **fields)])


@pytest.mark.parametrize(("crossed", "icc", "icc_mean"), [(False, 0.17, 0.44), (True, 0.29, 0.62)])
def test_the_formulas_give_the_printed_coefficients_and_those_of_the_tables_and_of_pingouin(crossed, icc, icc_mean):
    answers = list_answers(RATINGS[None], crossed)
    squares = compute_mean_squares(answers)
    assert squares["between"].item() == pytest.approx(11.24, abs=0.005)
    assert squares["rest"].item() == pytest.approx(1.02 if crossed else 6.26, abs=0.005)
    assert squares["wordings"].fillna(0).item() == pytest.approx(32.49 if crossed else 0, abs=0.005)
    ours = compute_intraclass_correlations(squares)[["icc", "icc_mean"]].iloc[0]
    assert ours.tolist() == pytest.approx([icc, icc_mean], abs=0.005)
    of_panel = compute_of_panel(estimate_panel_mean(RATINGS, crossed))
    assert ours.to_dict() == pytest.approx({name: of_panel[name] for name in ours.index})
    pingouin = pytest.importorskip("pingouin")
    theirs = recompute_intraclass_correlations(answers, pingouin.intraclass_corr)
    assert theirs[["icc", "icc_mean"]].iloc[0].tolist() == pytest.approx(ours.tolist())


def test_the_first_unit_with_all_answers_is_taken():
    holes = RATINGS.copy()
    holes[2, 1] = np.nan
    assert list_answers(np.stack([holes, RATINGS]), True)["model"].unique().tolist() == ["m1"]
    alike = list_answers(np.stack([np.ones_like(RATINGS), holes]), True)
    assert alike.empty
    assert list_answers(RATINGS[None], True, headline=False).empty
    assert list_answers(RATINGS[None, :, :1], True).empty


def test_items_without_answers_and_empty_places_do_not_make_answers_incomplete():
    padded = np.full((1, 8, 6), np.nan)
    padded[0, 1:7, [0, 2, 3, 5]] = RATINGS.T
    padded[0, 1, :4] = [np.nan, *RATINGS[0, :3]]  # an item's own wordings may stand in other places
    for crossed in (False, True):
        answers = list_answers(padded, crossed)
        assert answers.empty == crossed
    assert list_answers(padded, False).groupby("item")["wording"].max().tolist() == [3] * 6


def test_the_rows_of_the_table_are_those_of_the_answers():
    answers = list_answers(RATINGS[None], False)
    table = pd.DataFrame(
        {
            "study": "s",
            "model": ["m0", "m1"],
            "condition": "c",
            "measure": "score",
            "icc": 0.5,
            "icc_mean": 0.6,
            "alpha": 1.0,
        }
    )
    assert select_variance_components_of_answers(table, answers)["model"].tolist() == ["m0"]
    assert select_variance_components_of_answers(pd.DataFrame(), answers).columns.tolist() == [*ROW, "icc", "icc_mean"]


def test_nothing_gives_empty_frames():
    answers = list_answers_of_first_balanced_unit_per_study([])
    squares = compute_mean_squares(answers)
    assert compute_intraclass_correlations(squares).empty
    assert select_variance_components_of_answers(pd.DataFrame(), answers).empty
