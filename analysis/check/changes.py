"""Test the rules on changes since a baseline: not worse, same answers, ranking as before.

Now is side A of what is paired, before is side B; models and conditions are paired as `waver compare` pairs them. Where
both were asked in wordings of their own, nothing can be said about these wordings: a rule on these is then about
wordings like these, and its outcomes say so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from analysis.check.answers import read_answers_by_study
from analysis.check.judged_means import JudgedMean, average_item_means, judge_answers_not_worse_by_margin
from analysis.check.kurtosis import judge_change_of_kurtosis_over_items
from analysis.check.model_order import (
    judge_first_model_not_behind,
    list_model_pairs_of_significant_order,
    reverse_lower_is_better_answers,
)
from analysis.check.outcomes import Outcome
from analysis.check.rules import KURTOSIS, LIKE_THESE, NOT_WORSE, SAME_ANSWERS, Rule
from analysis.check.same_answers import judge_share_of_same_answers
from analysis.compare.pairing import SIDES, PairedRuns, find_side_of_model, read_model_and_condition_without_side
from analysis.compare.pairs import Chosen, Pair, iterate_unit_pairs_to_compare, map_side_units_to_study_places
from analysis.measures.reworded import Study
from analysis.measures.reworded.flips import FLIPS
from analysis.measures.thresholds import is_validity_below_half
from analysis.reporting.catalogue.rewordings import read_reworded_studies
from analysis.reporting.words import format_quantity, join_names
from analysis.statistics.resampling import Array
from ground.errors import InputError, format_nearest_name_hint, shorten_to_one_line

SILENT = "no test: of one model, less than half is surely an answer now"
FRESH = "other wordings than before: for wordings like these"
SHARES = "1 less half the squared change of shares of answers"  # what is told of wordings like these: no share of items


def compute_outcomes_of_change_rule(rule: Rule, paired: PairedRuns) -> list[Outcome]:
    """Test a rule on changes.

    Parameters
    ----------
    rule
        Of any kind but `NUMBER`.
    paired
        The run and the baseline, from `analysis.compare.pairing.pair_studies_of_two_run_sets`; what is left out is
        added to its notes.

    Returns
    -------
    list of Outcome
        One per study, model and condition; of a ranking, one per pair of models whose order the baseline finds.

    Raises
    ------
    InputError
        Where nothing that the rule names is in both, or a margin is needed.
    """
    tests = {
        NOT_WORSE: _test_rule_not_worse,
        SAME_ANSWERS: _test_rule_same_answers,
        KURTOSIS: _test_rule_on_kurtosis_change,
    }
    return list(tests.get(rule.kind, _test_rule_on_ranking)(rule, paired))


def _list_compared_pairs_of_rule(rule: Rule, paired: PairedRuns) -> list[Pair]:
    """List the pairs by measure that are of the rule's study, models and conditions."""
    notes = paired.notes
    pairs: list[Pair] = paired.pairs[0][0].compute_once(
        "pairs of a check", lambda: list(iterate_unit_pairs_to_compare(paired, Chosen()))
    )
    notes[:] = dict.fromkeys(notes)
    rule_pairs = [
        pair for pair in pairs if rule.is_about_unit(pair.studies[0].name, *_get_model_and_condition_of_sides(pair)[0])
    ]
    if not rule_pairs:
        why = f" ({'; '.join(notes)})" if notes else ""
        raise InputError(
            f"rule {_quote_rule_name(rule)}: the run and the baseline have nothing in common that it is about{why}"
        )
    for pair in rule_pairs:
        now, before = _get_model_and_condition_of_sides(pair)
        if now != before:  # the only one of each side
            line = f"{now[0]} ({now[1]}) is compared with {before[0]} ({before[1]}) in the baseline"
            notes.extend([line] if line not in notes else [])
    return rule_pairs


def _get_model_and_condition_of_sides(pair: Pair) -> list[tuple[str, str]]:
    """Name the model and the condition of both sides of a pair."""
    return [
        read_model_and_condition_without_side(study.units[unit])
        for study, unit in zip(pair.studies, pair.units, strict=True)
    ]


def _quote_rule_name(rule: Rule) -> str:
    """Quote the name of a rule, for a message."""
    return shorten_to_one_line(repr(rule.name))


def _were_sides_asked_in_other_wordings(pair: Pair) -> bool:
    """Tell whether both sides were asked in wordings of their own."""
    return pair.studies[0].values is not pair.studies[1].values


def _list_pairs_compared_in_measure_of_rule(rule: Rule, paired: PairedRuns) -> list[Pair]:
    """List the pairs by the rule's measure."""
    pairs = _list_compared_pairs_of_rule(rule, paired)
    measures = dict.fromkeys(pair.measure for pair in pairs)
    if rule.target not in measures:
        raise InputError(
            f"rule {_quote_rule_name(rule)}: measure {rule.target!r}{format_nearest_name_hint(rule.target, measures)} "
            f"is not in both the run and the baseline; both have {', '.join(measures)}"
        )
    return [pair for pair in pairs if pair.measure == rule.target]


def _test_rule_on_kurtosis_change(rule: Rule, paired: PairedRuns) -> Iterator[Outcome]:
    """Yield how far the kurtosis of every model by the rule's measure is from that before."""
    for pair in _list_pairs_compared_in_measure_of_rule(rule, paired):
        (now, before), is_fresh = pair.studies, _were_sides_asked_in_other_wordings(pair)
        has_as_many = pair.knows_wordings and now.values.shape[2] == before.values.shape[2]
        tested = judge_change_of_kurtosis_over_items(*pair.answers, is_exchangeable=has_as_many or not is_fresh)
        unit = read_model_and_condition_without_side(now.units[pair.units[0]])
        yield _build_outcome_of_change_test(rule, now.name, unit, pair.measure, tested, limit=0.0, is_fresh=is_fresh)


def _test_rule_not_worse(rule: Rule, paired: PairedRuns) -> Iterator[Outcome]:
    """Yield how much better or worse every model is by the rule's measure."""
    for pair in _list_pairs_compared_in_measure_of_rule(rule, paired):
        study = pair.studies[0]
        has_range = pair.measure == FLIPS or study.bounds is not None
        margin = rule.choose_margin_of_measure(rule.target, has_range=has_range)
        is_turned = pair.measure == FLIPS or study.lower_is_better
        now, before = (
            reverse_lower_is_better_answers(side, has_range=has_range) if is_turned else side for side in pair.answers
        )
        tested = judge_answers_not_worse_by_margin(
            now, before, pair.crossed, margin,
            like_these=rule.wordings == LIKE_THESE or _were_sides_asked_in_other_wordings(pair),
            knows_wordings=pair.knows_wordings, has_range=has_range,
        )  # fmt: skip
        yield _build_outcome_of_change_test(
            rule, study.name, read_model_and_condition_without_side(study.units[pair.units[0]]), pair.measure, tested,
            limit=0.0 - margin,
            before=average_item_means(pair.answers[1]), is_fresh=_were_sides_asked_in_other_wordings(pair),
        )  # fmt: skip


def _build_outcome_of_change_test(
    rule: Rule, study: str, unit: tuple[str, str], measure: str, tested: JudgedMean, *, limit: float,
    before: float = np.nan, is_fresh: bool = False,
) -> Outcome:  # fmt: skip
    """Make the outcome of a test."""
    note = FRESH if is_fresh and rule.wordings != LIKE_THESE else ""
    return Outcome(
        rule, study, *unit, measure, tested.number, tested.lower, tested.upper, limit, tested.p_broken, tested.p_holds,
        tested.n_items, tested.n_wordings, tested.test, before, note,
    )  # fmt: skip


def _test_rule_same_answers(rule: Rule, paired: PairedRuns) -> Iterator[Outcome]:
    """Yield how far every model answers as before; for wordings like these, how far shares of answers moved."""
    pairs = _list_compared_pairs_of_rule(rule, paired)
    names: dict[tuple[str, tuple[str, str]], tuple[str, str]] = {}  # study and unit now -> unit before
    for pair in pairs:
        a, b = (study.units[unit] for study, unit in zip(pair.studies, pair.units, strict=True))
        names.setdefault((pair.studies[0].name, a), b)
    n_outcomes = 0
    for runs_now, runs_before in paired.pairs:
        answers_before = read_answers_by_study(runs_before)
        for study, now in read_answers_by_study(runs_now).items():
            if (before := answers_before.get(study)) is None:
                continue
            for place, unit in enumerate(now.units):
                other = _find_index_of_unit_in_baseline(unit, before.units, names.get((study, unit)))
                if (
                    find_side_of_model(unit[0]) != SIDES[0]
                    or other is None
                    or not rule.is_about_unit(study, *read_model_and_condition_without_side(unit))
                ):
                    continue
                tested = judge_share_of_same_answers(
                    now.codes[place], before.codes[other], now.crossed, rule.at_least,
                    like_these=rule.wordings == LIKE_THESE, same_wordings=runs_now is runs_before,
                    orders=(now.n_orders, before.n_orders),
                )  # fmt: skip
                n_outcomes += 1
                is_fresh = runs_now is not runs_before
                outcome = _build_outcome_of_change_test(
                    rule, study, read_model_and_condition_without_side(unit),
                    SHARES if is_fresh or rule.wordings == LIKE_THESE else SAME_ANSWERS,
                    tested, limit=rule.at_least, is_fresh=is_fresh,
                )  # fmt: skip
                if not is_fresh and outcome.measure == SHARES:  # what is plain to see is said, too
                    outcome = replace(
                        outcome, note=_describe_unchanged_share_of_answers(now.codes[place], before.codes[other])
                    )
                yield outcome
    if not n_outcomes:
        raise InputError(
            f"rule {_quote_rule_name(rule)}: what the run and the baseline have in common is scores without a range"
        )


def _describe_unchanged_share_of_answers(now: Array, before: Array) -> str:
    """Say which share of the answers to the same wordings is as before; a mean over items."""
    is_common = ~np.isnan(now) & ~np.isnan(before)
    share = average_item_means(np.where(is_common, now == before, np.nan))
    return f"of answers to the same wordings, {share:.3g} are as before" if share == share else ""


def _find_index_of_unit_in_baseline(
    unit: tuple[str, str], units_before: Sequence[tuple[str, str]], paired_unit: tuple[str, str] | None
) -> int | None:
    """Find the place of a unit among those before: the one that it is paired with, else the one of its names."""
    if paired_unit in units_before:
        return units_before.index(paired_unit)
    for place, other in enumerate(units_before):
        if find_side_of_model(other[0]) == SIDES[1] and read_model_and_condition_without_side(
            other
        ) == read_model_and_condition_without_side(unit):
            return place
    return None


def _test_rule_on_ranking(rule: Rule, paired: PairedRuns) -> Iterator[Outcome]:
    """Yield every pair of models whose order the baseline finds, and how far the first is ahead now."""
    n_studies = 0
    for runs_now, runs_before in paired.pairs:
        studies_before = {(study.name, study.measure): study for study in read_reworded_studies(runs_before)}
        for now in read_reworded_studies(runs_now):
            before = studies_before.get((now.name, now.measure))
            if before is None or not now.headline or rule.study not in ("", now.name):
                continue
            places = _map_common_models_to_places_now_and_before(rule, now, before)
            if len(places) < 2:
                continue
            n_studies += 1
            yield from _test_order_of_each_model_pair(rule, now, before, places, paired.notes)
    if not n_studies:
        raise InputError(
            f"rule {_quote_rule_name(rule)}: a ranking needs two models that are in both the run and the baseline, "
            "under the same condition"
        )


def _map_common_models_to_places_now_and_before(rule: Rule, now: Study, before: Study) -> dict[str, tuple[int, int]]:
    """Map the models of both sides to their places now and before, under the first condition that both have."""
    sides = [map_side_units_to_study_places(study, side) for side, study in zip(SIDES, (now, before), strict=True)]
    places: dict[str, tuple[int, int]] = {}
    for unit, place in sides[0].items():
        if unit in sides[1] and rule.is_about_unit(now.name, *unit):
            places.setdefault(unit[0], (place, sides[1][unit]))
    return places


def _test_order_of_each_model_pair(
    rule: Rule, now: Study, before: Study, places: dict[str, tuple[int, int]], notes: list[str]
) -> Iterator[Outcome]:
    """Yield the outcomes of the pairs of models of one study."""
    is_fresh = now is not before
    like_these = rule.wordings == LIKE_THESE or is_fresh
    where = f"study {now.name}, ranking by {now.measure}: "
    ranked = {
        model: place for model, (_, place) in places.items() if not is_validity_below_half(before.validity[place])
    }
    if unranked := [model for model in places if model not in ranked]:
        notes.append(
            f"{where}not ranked, as in the baseline less than half is surely an answer: {join_names(unranked)}"
        )
    pairs = list_model_pairs_of_significant_order(before, ranked, like_these=like_these)
    for better, worse, ahead in pairs:
        result = judge_first_model_not_behind(now, places[better][0], places[worse][0], like_these=like_these)
        if any(is_validity_below_half(now.validity[places[model][0]]) for model in (better, worse)):
            result = replace(result, lower=np.nan, upper=np.nan, p_broken=np.nan, p_holds=np.nan, test=SILENT)
        condition = read_model_and_condition_without_side(now.units[places[better][0]])[1]
        yield _build_outcome_of_change_test(
            rule, now.name, (f"{better} > {worse}", condition), now.measure, result, limit=0.0, before=ahead,
            is_fresh=is_fresh,
        )  # fmt: skip
    n_pairs = len(ranked) * (len(ranked) - 1) // 2
    if len(pairs) < n_pairs:
        notes.append(
            f"{where}the baseline finds the order of {len(pairs) or 'none'} of {format_quantity(n_pairs, 'pair')} of "
            f"models; {'the others are not' if pairs else 'nothing is'} tested"
        )
