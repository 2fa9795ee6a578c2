"""Compare two sides by every measure that both have: difference, intervals, tests, and what it takes to decide.

The difference is A less B, of the mean over items; each item has its mean over the wordings in which both sides have a
valid answer. *These wordings*: a t interval and a paired t test over items. Of answers that are 0 or 1 in one wording
of each item, and of flips, the test is the exact one of McNemar. Where so few items differ that there is no t test, or
no interval (`Panel.few`), p is at least that of the sign test, had all items that differ gone one way: where that is
the larger one, the row names it. *Wordings like these*: the interval and test of a panel for other items and wordings;
unknown where items have one wording, and for flips in wordings that all items share.

References
----------
McNemar, Q. (1947). Note on the sampling error of the difference between correlated proportions or percentages.
Psychometrika 12, 153-157.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.compare.equivalence import compute_p_of_equivalence
from analysis.compare.pairing import PairedRuns
from analysis.compare.pairs import Chosen, Pair, iterate_unit_pairs_to_compare
from analysis.compare.power import MCNEMAR, PAIRED_T, SIGN, SIGN_BOUND, find_least_difference_and_needed_items
from analysis.measures.reworded.flips import FLIPS
from analysis.statistics.multiplicity import ALPHA, correct_families_by_holm
from analysis.statistics.reliability.panel import Panel, estimate_panel_mean
from analysis.statistics.reliability.replication import compute_p_of_panel_mean_against_value
from analysis.statistics.significance import ROUNDING, mcnemar
from ground.errors import InputError, format_nearest_name_hint


def compare_paired_runs(paired: PairedRuns, chosen: Chosen) -> pd.DataFrame:
    """Compare two sides by every measure that both have.

    Parameters
    ----------
    paired
        From `pairing.pair_studies_of_two_run_sets`; what is not shared is added to its notes.
    chosen
        What the call asks for.

    Returns
    -------
    DataFrame
        A row per study, pair of models and conditions, and measure, as `analysis/compare/schema.json` explains.

    Raises
    ------
    InputError
        A model, condition or measure is not there, nothing is left to compare, or scores are too large to be squared.
    """
    return compare_unit_pairs(list(iterate_unit_pairs_to_compare(paired, chosen)), chosen, paired.notes)


def compare_unit_pairs(pairs: Sequence[Pair], chosen: Chosen, notes: Sequence[str] = ()) -> pd.DataFrame:
    """Compare two sides as `compare_paired_runs` does.

    Parameters
    ----------
    pairs
        From `pairs.iterate_unit_pairs_to_compare`.
    chosen
        What the call asks for.
    notes
        What is left out, for messages.

    Returns
    -------
    DataFrame
        As `compare_paired_runs`.

    Raises
    ------
    InputError
        A measure is not there, nothing is left to compare, or scores are too large to be squared.
    """
    measures = dict.fromkeys(pair.measure for pair in pairs)
    rows = [_compare_unit_pair(pair, chosen.margin) for pair in pairs
            if not chosen.measures or pair.measure in chosen.measures]  # fmt: skip
    for name in chosen.measures:
        if name not in measures:
            known = f"; known here: {', '.join(measures)}" if measures else ""
            raise InputError(f"--measure {name!r}{format_nearest_name_hint(name, measures)}: not in both{known}")
    kept_rows = [row for row in rows if row["n_items"]]
    if not kept_rows:
        what, remedy = ("item with valid answers", "give two runs of the same items") if rows else (
            "model, condition or measure", "pair names by --model-a, --model-b, --condition-a, --condition-b"
        )  # fmt: skip
        why = f" ({'; '.join(notes)})" if notes else ""
        raise InputError(f"A and B have no {what} in common{why}; {remedy}")
    # A pair is about one model and condition on each side: its measures stand together.
    frame = pd.DataFrame(kept_rows)
    number = frame.groupby(["study", "a_model", "a_condition", "b_model", "b_condition"], sort=False).ngroup()
    return _add_holm_p_verdicts_and_needed_items(frame.iloc[number.argsort(kind="stable")].reset_index(drop=True))


def _compare_unit_pair(pair: Pair, margin: float | None) -> dict[str, object]:
    """Compare two units by one measure; return a row without what depends on the other rows."""
    a, b = pair.answers
    study_a, study_b = pair.studies
    with np.errstate(over="ignore", invalid="ignore"):
        panel = estimate_panel_mean(a - b, pair.crossed, is_share=False)
        means = [estimate_panel_mean(answers, pair.crossed, is_share=False).mean for answers in (a, b)]
        spread = float(np.sqrt(panel.item_mean_variance)) if panel.n_items > 1 else 0.0
    if panel.n_items and not np.isfinite([*means, panel.mean, spread]).all():
        raise InputError(
            f"study {study_a.name}, measure {pair.measure}: scores are too large to be squared; give them in another "
            "unit, or name the other measures after --measure"
        )
    knows_wordings = pair.knows_wordings and panel.n_items > 1
    test, p = _choose_difference_test_and_compute_p(pair, panel)
    p_like = compute_p_of_panel_mean_against_value(panel, "both") if knows_wordings else np.nan
    like = panel.compute_interval("both") if knows_wordings else (np.nan, np.nan)
    names = pair.unit_names
    numbers = (~np.isnan(a)).sum(axis=1)
    lower, upper = _clip_interval_to_possible_range(pair, panel.compute_interval("items"))
    like_lower, like_upper = _clip_interval_to_possible_range(pair, like)
    return {
        "study": study_a.name, "measure": pair.measure, "headline": study_a.headline and pair.measure != FLIPS,
        "lower_is_better": study_a.lower_is_better or pair.measure == FLIPS,
        "a_model": names[0][0], "a_condition": names[0][1], "b_model": names[1][0], "b_condition": names[1][1],
        "a_validity": float(study_a.validity[pair.units[0]]), "b_validity": float(study_b.validity[pair.units[1]]),
        "n_items": panel.n_items, "n_wordings": float(np.mean(numbers[numbers > 0])) if numbers.any() else np.nan,
        "n_items_differing": int((np.abs(panel.means) > ROUNDING).sum()),
        "a": means[0], "b": means[1], "difference": panel.mean, "lower": lower, "upper": upper,
        "like_lower": like_lower, "like_upper": like_upper, "test": test, "p": p,
        "p_like": p_like if np.isnan(p_like) or np.isnan(p) else max(p_like, p),
        "margin": np.nan if margin is None else margin,
        "p_equivalent": np.nan if margin is None else compute_p_of_equivalence(
            panel, margin, has_range=do_answers_lie_within_0_and_1(pair), is_share=test == MCNEMAR
        ),
        "spread": np.nan if panel.few or not spread > ROUNDING else spread,
        "has_range": do_answers_lie_within_0_and_1(pair),
    }  # fmt: skip


def do_answers_lie_within_0_and_1(pair: Pair) -> bool:
    """Tell whether answers lie within 0 and 1."""
    return pair.measure == FLIPS or pair.studies[0].bounds is not None


def _clip_interval_to_possible_range(pair: Pair, ends: tuple[float, float]) -> tuple[float, float]:
    """Cut the interval of a difference at what a difference can be."""
    if pair.measure == FLIPS:
        return float(np.clip(ends[0], -1, 1)), float(np.clip(ends[1], -1, 1))
    return pair.studies[0].clip_difference_interval_at_bounds(ends)


def _choose_difference_test_and_compute_p(pair: Pair, panel: Panel) -> tuple[str, float]:
    """Test the difference for these wordings: name of the test, and p."""
    a, b = (answers[~np.isnan(answers)] for answers in pair.answers)
    if panel.n_items < 2:
        return PAIRED_T, np.nan
    has_single = len(a) == panel.n_items
    if has_single and pair.studies[0].bounds and bool((((a == 0) | (a == 1)) & ((b == 0) | (b == 1))).all()):
        return MCNEMAR, float(mcnemar(a[:, None], b[:, None])[0][0])
    p = compute_p_of_panel_mean_against_value(panel, "items")
    if np.isnan(p):  # all items differ by the same
        differing = np.sign(np.where(np.abs(panel.means) > ROUNDING, panel.means, 0.0))
        ups, downs = (differing > 0).astype(float), (differing < 0).astype(float)
        return SIGN, float(mcnemar(ups[:, None], downs[:, None])[0][0])
    # Where items are few that differ, p may be a bound (`compute_p_of_panel_mean_against_value`), not that of t.
    return SIGN_BOUND if panel.few and p > _compute_p_of_paired_t_test(panel) else PAIRED_T, p


def _compute_p_of_paired_t_test(panel: Panel) -> float:
    """Compute p of the paired t test alone."""
    from scipy.special import stdtr

    ((variance, freedom),) = panel.parts["items"]
    with np.errstate(invalid="ignore"):  # NaN where no item differs
        return float(2 * stdtr(freedom, -abs(panel.mean) / np.sqrt(variance)))


def _add_holm_p_verdicts_and_needed_items(rows: pd.DataFrame) -> pd.DataFrame:
    """Add what depends on all rows: p values after Holm, and what it takes to decide."""
    from analysis.compare.verdicts import choose_verdicts_and_scopes_of_rows

    n_tests = max(int(rows["p"].notna().sum()), 1)
    for name in ("p", "p_like", "p_equivalent"):
        rows[f"{name}_holm"] = correct_families_by_holm(rows.assign(call=0), ["call"], name)
    level = 1 - ALPHA / n_tests
    sizes = [find_least_difference_and_needed_items(row, level) for row in rows.to_dict("records")]
    rows["least_difference"], rows["n_items_to_decide"] = zip(*sizes, strict=True)
    rows["verdict"], rows["holds_for"] = choose_verdicts_and_scopes_of_rows(rows)
    return rows.drop(columns=["spread", "has_range"])
