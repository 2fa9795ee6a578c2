"""Say which differences between models are more than what rewording does: a table of tests, and one sentence of it.

The page on reliability shows the table. Every page that compares models about questions in several wordings has the
sentence, made from the same tests of the measure that its study is about: accuracy where right answers are known, else
agreement, or the score.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import combinations
from typing import get_args

import pandas as pd

from analysis.measures.reworded import Study
from analysis.reporting.catalogue.rewordings import read_reworded_studies
from analysis.reporting.words import format_quantity, verdicts
from analysis.runs import Runs
from analysis.statistics.multiplicity import correct_families_by_holm
from analysis.statistics.reliability.panel import Anew
from analysis.statistics.reliability.replication import (
    compute_equivalence_p_of_panel_mean,
    compute_p_of_panel_mean_against_value,
    compute_panel_same_sign_probability,
    estimate_pair_difference_prior,
)

MOST_PAIRS = 2_000  # of a study; of more, each unit is compared with the first


def tabulate_pair_difference_tests(studies: Iterable[Study], margin: float | None = None) -> pd.DataFrame:
    """Test the differences between models that answer, under their first conditions, and between conditions of a model.

    Parameters
    ----------
    studies
        Studies, of which every one has its own pairs.
    margin
        A difference within it counts as none, in units of the measure; None leaves out the columns about it.

    Returns
    -------
    The columns of table `beyond_rewording`, a row per study and pair; without a margin, those of differences and tests.
    """
    rows = [row for study in studies for row in _build_difference_test_rows_of_study(study, margin)]
    frame = pd.DataFrame(rows)
    return frame.assign(p_holm=correct_families_by_holm(frame, ["study", "measure"])) if rows else frame


def tabulate_pair_difference_tests_of_study(runs: Runs, study: Study) -> pd.DataFrame:
    """Test the pairs of one study as `tabulate_pair_difference_tests`, without a margin: once for table and sentences.

    Parameters
    ----------
    runs
        Those that the study was read from.
    study
        The study, with all of its conditions.

    Returns
    -------
    As `tabulate_pair_difference_tests`.
    """
    return runs.compute_once(("pairs of", study.name, study.measure), lambda: tabulate_pair_difference_tests([study]))


def describe_differences_beyond_rewording(runs: Runs, conditions: Collection[str] = ()) -> str:
    """Say which differences hold, for the measures that the studies are about.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    conditions
        Only of models under these; of all, where none is named.

    Returns
    -------
    As `describe_significant_difference_counts`; empty where no two models are compared in several wordings.
    """
    about = [
        study.select_units_of_conditions(conditions) if conditions else study
        for study in read_reworded_studies(runs)
        if study.headline
    ]
    orders = all(study.orders for study in about)
    # A family of tests is a study and measure, so that each study is corrected for itself.
    pairs = [
        tabulate_pair_difference_tests([study]) if conditions else tabulate_pair_difference_tests_of_study(runs, study)
        for study in about
        if not study.has_single_wording
    ]
    filled = [frame for frame in pairs if len(frame)]
    return describe_significant_difference_counts(
        pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(), "orders" if orders else "wordings"
    )


def has_study_with_wordings_shared_by_items(runs: Runs) -> bool:
    """Tell whether the items of some study share their wordings: tests over items then hold for these wordings only."""
    return any(
        study.crossed and not study.has_single_wording for study in read_reworded_studies(runs) if study.headline
    )


def describe_significant_difference_counts(pairs: pd.DataFrame, wordings_noun: str = "wordings") -> str:
    """Count the differences between models that hold for these wordings, and those that hold for others, too.

    Both by tests after Holm, over all pairs of a study and measure.

    Parameters
    ----------
    pairs
        From `tabulate_pair_difference_tests`, of one measure per study.
    wordings_noun
        What they are called: orders, where these are the only wordings.

    Returns
    -------
    The sentence; empty where no pair of two models has both p values.

    >>> names = {"study": "s", "measure": "agreement", "b_model": "b", "p_items": 0.01}
    >>> describe_significant_difference_counts(pd.DataFrame([{**names, "a_model": "a", "p": 0.2, "p_holm": 0.2}]))
    'Of 1 difference in agreement between models, 1 holds for these wordings, and none for wordings like these.'
    >>> describe_significant_difference_counts(pd.DataFrame([{**names, "a_model": "a", "p": 0.01, "p_holm": 0.01}]))
    'Of 1 difference in agreement between models, 1 holds for these wordings and for wordings like these.'
    """
    if pairs.empty:
        return ""
    pairs = pairs.assign(these=correct_families_by_holm(pairs, ["study", "measure"], "p_items"))
    tested_pairs = pairs[pairs["a_model"] != pairs["b_model"]].dropna(subset=["these", "p_holm"])
    if tested_pairs.empty:
        return ""
    hold_for_these, hold_for_both = (
        verdicts.mark_clear_effects(tested_pairs["these"]),
        verdicts.mark_clear_effects(tested_pairs["these"], tested_pairs["p_holm"]),
    )
    *first_names, last_name = tested_pairs["measure"].unique()
    measures = " or ".join(filter(None, (", ".join(first_names), last_name)))
    lead = f"Of {format_quantity(len(tested_pairs), 'difference')} in {measures} between models,"
    n_these, n_both = int(hold_for_these.sum()), int(hold_for_both.sum())
    if not n_these:
        return f"{lead} none holds for these {wordings_noun}."
    for_these = f"{n_these:,} {'holds' if n_these == 1 else 'hold'} for these {wordings_noun}"
    if n_these == n_both:
        return f"{lead} {for_these} and for {wordings_noun} like these."
    return f"{lead} {for_these}, and {f'{n_both:,}' if n_both else 'none'} for {wordings_noun} like these."


def _build_difference_test_rows_of_study(study: Study, margin: float | None) -> list[dict[str, object]]:
    """Test the difference of every pair of units of a study; return a row of table `beyond_rewording` for each."""
    ranked_units, anews = study.list_first_units_of_answering_models(), get_args(Anew)
    priors_by_anew = {
        anew: estimate_pair_difference_prior(study.values[ranked_units], study.crossed, anew) if margin else None
        for anew in anews
    }
    rows = []
    for a, b in _list_unit_pairs(study):
        pair_panel = study.estimate_mean_difference(a, b)
        low, high = study.clip_difference_interval_at_bounds(pair_panel.compute_interval("items"))
        like_low, like_high = study.clip_difference_interval_at_bounds(pair_panel.compute_interval("both"))
        row: dict[str, object] = {
            "study": study.name, "measure": study.measure, "headline": study.headline,
            "a_model": study.units[a][0], "a_condition": study.units[a][1],
            "b_model": study.units[b][0], "b_condition": study.units[b][1],
            "n_items": pair_panel.n_items, "n_wordings": pair_panel.n_wordings, "difference": pair_panel.mean,
            "lower": low, "upper": high, "like_lower": like_low, "like_upper": like_high,
            "p_items": compute_p_of_panel_mean_against_value(pair_panel, "items"),
            "p": compute_p_of_panel_mean_against_value(pair_panel, "both"),
        }  # fmt: skip
        if margin:
            models = study.units[a][0] != study.units[b][0]
            row |= {
                f"same_{anew}": compute_panel_same_sign_probability(
                    pair_panel, anew, priors_by_anew[anew] if models else None
                )
                for anew in anews
            }
            row |= {"margin": margin, "p_equivalent": compute_equivalence_p_of_panel_mean(pair_panel, "both", margin)}
        rows.append(row)
    return rows


def _list_unit_pairs(study: Study) -> list[tuple[int, int]]:
    """List the pairs of units that are compared; where they are too many, each unit with the first one."""
    ranked_units, places = study.list_first_units_of_answering_models(), range(len(study.units))
    if len(ranked_units) * (len(ranked_units) - 1) // 2 > MOST_PAIRS:  # thousands of respondents have millions of pairs
        return _pair_each_unit_with_first_compared(study, ranked_units)
    same_model_pairs = [(a, b) for a, b in combinations(places, 2) if study.units[a][0] == study.units[b][0]]
    pairs = sorted({*combinations(ranked_units, 2), *same_model_pairs})
    return pairs if len(pairs) <= MOST_PAIRS else _pair_each_unit_with_first_compared(study, ranked_units)


def _pair_each_unit_with_first_compared(study: Study, ranked_units: list[int]) -> list[tuple[int, int]]:
    """List each unit with the first that it is compared with: of the ranked ones, or of its model."""
    first: dict[int, int] = {}
    first_of_model: dict[str, int] = {}
    for place, (model, _) in enumerate(study.units):
        if (own_first := first_of_model.setdefault(model, place)) < place:
            first[place] = own_first
    for place in ranked_units[1:]:
        first[place] = min(first.get(place, place), ranked_units[0])
    return sorted((a, b) for b, a in first.items())
