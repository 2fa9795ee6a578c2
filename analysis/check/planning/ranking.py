"""Plan for rules on a ranking: the order of models that the pilot finds is found again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from analysis.check.model_order import list_model_pairs_of_significant_order
from analysis.check.outcomes import LEVEL
from analysis.check.planning.aims import Aim, PilotUnit
from analysis.check.planning.powers import compute_difference_power_in_shared_wordings, compute_power_of_mean_test
from analysis.check.rules import LIKE_THESE, Rule
from analysis.measures.thresholds import is_validity_below_half
from analysis.statistics.reliability.forecast import build_mean_error_forecast
from analysis.statistics.reliability.panel import estimate_panel_mean


def list_significantly_ordered_pilot_pairs(
    units: Sequence[PilotUnit], *, like_these: bool
) -> list[tuple[PilotUnit, PilotUnit]]:
    """List the pairs of models whose order the pilot finds, by the test of a check; the better one first.

    Parameters
    ----------
    units
        By the headline of each study; of every model, the first that it has in a study counts.
    like_these
        Whether it is asked for wordings like these, not for these.

    Returns
    -------
    list of pairs
    """
    units_by_study: dict[str, dict[str, PilotUnit]] = {}
    for unit in units:
        study_name, model, _, _ = unit.study_model_condition_and_measure
        units_by_study.setdefault(study_name, {}).setdefault(model, unit)
    pairs = []
    for unit_by_model in units_by_study.values():
        places = {
            model: unit.unit
            for model, unit in unit_by_model.items()
            if not is_validity_below_half(float(unit.study.validity[unit.unit]))
        }
        study = next(iter(unit_by_model.values())).study
        pairs += [
            (unit_by_model[better], unit_by_model[worse])
            for better, worse, _ in list_model_pairs_of_significant_order(study, places, like_these=like_these)
        ]
    return pairs


def list_ranking_aims_of_model_pair(rule: Rule, pair: tuple[PilotUnit, PilotUnit]) -> Iterator[Aim]:
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
    differences = better.answers_with_worst_at_zero - worse.answers_with_worst_at_zero
    forecast = build_mean_error_forecast(differences, study.crossed, spread)
    distance = float(estimate_panel_mean(differences, study.crossed, is_share=False).mean)
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
