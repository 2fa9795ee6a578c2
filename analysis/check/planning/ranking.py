"""Plan for rules on a ranking: the order of models that the pilot finds is found again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from analysis.check.outcomes import LEVEL
from analysis.check.planning.aims import Aim, PilotUnit
from analysis.check.planning.powers import compute_difference_power_in_shared_wordings, compute_power_of_mean_test
from analysis.check.rules import LIKE_THESE, Rule
from analysis.statistics.multiplicity import ALPHA, holm
from analysis.statistics.reliability.forecast import build_mean_error_forecast
from analysis.statistics.reliability.panel import Anew, estimate_panel_mean
from analysis.statistics.reliability.replication import compute_p_of_panel_mean_against_value


def list_model_pairs_ordered_by_pilot(units: Sequence[PilotUnit], anew: Anew) -> list[tuple[PilotUnit, PilotUnit]]:
    """List the pairs of models whose order the pilot finds, after Holm; the better one first.

    Parameters
    ----------
    units
        By the headline of each study.
    anew
        "items" for these wordings, "both" for wordings like these.

    Returns
    -------
    list of pairs
    """
    ranked = [unit for unit in units if unit.unit in unit.study.list_units_to_rank()]
    pairs = [(a, b) for a, b in combinations(ranked, 2) if a.study is b.study]
    panels = [
        estimate_panel_mean(
            a.answers_with_worst_at_zero - b.answers_with_worst_at_zero, a.study.crossed, is_share=False
        )
        for a, b in pairs
    ]
    p = np.nan_to_num([compute_p_of_panel_mean_against_value(panel, anew) for panel in panels], nan=1.0)
    return [
        (a, b) if panel.mean > 0 else (b, a)
        for (a, b), panel, corrected in zip(pairs, panels, holm(p), strict=True)
        if corrected < ALPHA
    ]


def list_ranking_aims(rule: Rule, pair: tuple[PilotUnit, PilotUnit]) -> Iterator[Aim]:
    """List the aim of one pair of models that the pilot ranks: to be found again.

    Parameters
    ----------
    rule
        The rule.
    pair
        The better model first.

    Yields
    ------
    Aim
    """
    better, worse = pair
    study, like_these = better.study, rule.wordings == LIKE_THESE
    spreads = [unit.study.estimate_unit_sampling_spread(unit.unit) for unit in pair]
    spread = spreads[0].combine_for_difference(spreads[1]) if spreads[0] and spreads[1] else None
    forecast = build_mean_error_forecast(
        better.answers_with_worst_at_zero - worse.answers_with_worst_at_zero, study.crossed, spread
    )
    distance = float(
        estimate_panel_mean(
            better.answers_with_worst_at_zero - worse.answers_with_worst_at_zero, study.crossed, is_share=False
        ).mean
    )
    crossed = study.crossed and like_these
    kept_forecast = forecast if crossed else replace(forecast, shared=0.0)

    def compute_power_to_find_order(items: int, wordings: int) -> float:
        if crossed and study.bounds is not None:
            return compute_difference_power_in_shared_wordings(forecast, distance, 0.0, items, wordings, LEVEL)
        return compute_power_of_mean_test(kept_forecast, distance, items, wordings, LEVEL, crossed=crossed)

    models = f"{better.study_model_condition_and_measure[1]} > {worse.study_model_condition_and_measure[1]}"
    yield Aim(rule, "holds, if models are as far apart as in the pilot", study.name, models,
              better.study_model_condition_and_measure[2], better.measure, better.plannable_wording_counts,
              compute_power_to_find_order)  # fmt: skip
