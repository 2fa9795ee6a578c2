"""Compare models with each other, prompts with each other, and tuned models with those they were tuned from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from analysis.measures.choices import PER_BYTE, Choices, find_text_reading_rule, read_choice_studies
from analysis.pages.choice import measures, over_questions
from analysis.pages.choice.over_questions import MEASURES, PERFECT, XPARACON
from analysis.runs import Runs
from analysis.runs.conditions import MAY_DIFFER_BETWEEN_MODELS
from analysis.statistics.interval import ONE_ITEM
from analysis.statistics.multiplicity import correct_families_by_holm
from analysis.statistics.resampling import DRAWS

BASE, AWARE = "base", "aware"  # kinds of the prompt
TUNING, PROMPT, BOTH = "tuning", "prompt", "tuning and prompt"
MOST_PAIRS = 500  # of a study and subset; of more, each model is compared with the first
NOT_ASKING = ("prompt_hash", "reads", "reply_rule")  # of one form, as names are; versions say nothing of asking
FAMILY = ("study", "subset", "measure")


def tabulate_choice_differences(runs: Runs, *, resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Compare models that were asked in the same way, on the questions that both were asked.

    Of two models, conditions of the same form (and seed, of logs that say it) are compared; where they were asked in
    different forms, as base and tuned models are, conditions that differ in the form only.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    resamples, seed
        Draws of the test (`significance.compute_paired_permutation_p_and_least_p`; 0: no p values and no intervals)
        and its seed.

    Returns
    -------
    DataFrame
        One row per pair, measure and subset: the figures `a` and `b`, their `difference` with its interval, and its p
        value, also after Holm over all pairs of a study, subset and measure. That of XParaCon tests the mean standard
        deviations, which is the same.
    """
    rows = [
        row
        for study in read_choice_studies(runs)
        for row in _compare_unit_pairs_by_subset(
            study, _list_compared_unit_pairs(study, runs.info["conditions"][study.study]), resamples, seed
        )
    ]
    return _tabulate_rows_with_corrected_p_values(rows)


def _list_compared_unit_pairs(study: Choices, conditions: Mapping[str, Mapping[str, Any]]) -> list[tuple[int, int]]:
    """List the pairs of models that are compared; of too many, each model with the first."""
    no_values = dict.fromkeys(MAY_DIFFER_BETWEEN_MODELS)
    asking_ways = [
        (_select_asking_fields(conditions, name) | no_values, name.endswith(PER_BYTE)) for _, name in study.units
    ]
    fields_by_unit = [conditions[name.removesuffix(PER_BYTE)] for _, name in study.units]
    forms = [tuple(fields.get(field) for field in MAY_DIFFER_BETWEEN_MODELS) for fields in fields_by_unit]
    forms_by_model = {model: {form for (other_model, _),
                              form in zip(study.units, forms, strict=True) if other_model == model}
          for model, _ in study.units}  # fmt: skip
    pairs = []
    for a, b in combinations(range(len(study.units)), 2):
        first_model, other_model = study.units[a][0], study.units[b][0]
        if (
            first_model != other_model
            and asking_ways[a] == asking_ways[b]
            and (forms[a] == forms[b] or not forms_by_model[first_model] & forms_by_model[other_model])
        ):
            pairs.append((a, b))
    if len(pairs) <= MOST_PAIRS:
        return pairs
    first_partner: dict[int, int] = {}
    for a, b in pairs:
        first_partner.setdefault(b, a)
    return sorted((a, b) for b, a in first_partner.items())


def tabulate_effects_of_tuning_and_prompt(runs: Runs, *, resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Compare what is alike but for the tuning, the prompt, or both: `b` before, `a` after.

    - tuning: a model with an adapter, and the model that the adapter was made for, under one prompt;
    - prompt: one model under the paraphrase-aware prompt and under the base prompt;
    - tuning and prompt: the model with the adapter under the paraphrase-aware prompt, and the other one under the base
      prompt. This is what Choi's Table 5 compares.

    Parameters
    ----------
    runs, resamples, seed
        As in `tabulate_choice_differences`.

    Returns
    -------
    DataFrame
        As of `tabulate_choice_differences`, with `change`; a is called `after` and b `before`, also in the names of
        columns (`model_after`, `condition_after`, `validity_after`).
    """
    rows = []
    for study in read_choice_studies(runs):
        changed_pairs = list(
            _iterate_changed_unit_pairs(study, runs.info["models"], runs.info["conditions"][study.study])
        )
        kinds, pairs = [kind for kind, _ in changed_pairs], [pair for _, pair in changed_pairs]
        for row in _compare_unit_pairs_by_subset(study, pairs, resamples, seed):
            rows.append({**row, "change": kinds[row["pair"]]})
    names = {f"{side}_{name}": f"{name}_{when}" for side, when in (("a", "after"), ("b", "before"))
             for name in ("model", "condition", "validity")}  # fmt: skip
    return _tabulate_rows_with_corrected_p_values(rows).rename(columns={**names, "a": "after", "b": "before"})


def _tabulate_rows_with_corrected_p_values(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Add p values after Holm, over all rows of a study, subset and measure."""
    frame = pd.DataFrame(rows).drop(columns="pair", errors="ignore")
    return frame.assign(p_holm=correct_families_by_holm(frame, FAMILY)) if rows else frame


def _iterate_changed_unit_pairs(
    study: Choices, models: Mapping[str, Any], conditions: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield what was changed, and the units after and before it."""
    place = {unit: number for number, unit in enumerate(study.units)}
    for after, (model, condition) in enumerate(study.units):
        base = str((models[model].get("adapter") or {}).get("base"))
        if (base, condition) in place:
            yield TUNING, (after, place[base, condition])
        for other in _list_base_prompt_counterpart_conditions(condition, conditions):
            if (model, other) in place:
                yield PROMPT, (after, place[model, other])
            if (base, other) in place:
                yield BOTH, (after, place[base, other])


def _list_base_prompt_counterpart_conditions(
    condition: str, conditions: Mapping[str, Mapping[str, Any]]
) -> Iterator[str]:
    """Yield the conditions with the base prompt that ask and read in the same way as one with the aware prompt."""
    name_in_run = condition.removesuffix(PER_BYTE)
    if conditions[name_in_run].get("prompt_kind") != AWARE:
        return
    base_fields = _select_asking_fields(conditions, condition) | {"prompt_kind": BASE}
    ending = condition.removeprefix(name_in_run)
    yield from (name + ending for name in conditions if _select_asking_fields(conditions, name) == base_fields)


def _select_asking_fields(conditions: Mapping[str, Mapping[str, Any]], condition_name: str) -> dict[str, Any]:
    """Return the fields of a condition that say how was asked, and how texts are read."""
    fields = conditions[condition_name.removesuffix(PER_BYTE)]
    asking_fields = {key: value for key, value in fields.items() if key not in NOT_ASKING and value is not None}
    return asking_fields | {"reply_reading": find_text_reading_rule(fields)}


def _compare_unit_pairs_by_subset(
    study: Choices, unit_pairs: Sequence[tuple[int, int]], resamples: int, seed: int
) -> Iterator[dict[str, Any]]:
    """Yield a row for every subset, pair and measure; `pair` is the number of the pair."""
    for subset, part in study.split_by_subset().items() if unit_pairs else ():
        figures, wordings = over_questions.compute_headline_numerators_and_denominators(part), len(part.wordings)
        intervals = over_questions.estimate_share_differences(figures, unit_pairs, resamples, seed)
        ends = (
            over_questions.compute_xparacon_difference_ends(figures, unit_pairs, wordings)
            if resamples
            else np.full((2, len(unit_pairs)), np.nan)
        )
        for number, unit_pair in enumerate(unit_pairs):
            if not intervals[over_questions.ACCURACY].n_items[number]:
                continue
            sides = {f"{side}_{name}": value for side, unit in zip("ab", unit_pair, strict=True)
                     for name, value in zip(("model", "condition"), part.units[unit], strict=True)}  # fmt: skip
            validities = {f"{side}_validity": part.validity[unit] for side, unit in zip("ab", unit_pair, strict=True)}
            common = {"pair": number, **validities, "study": part.study, "subset": subset, **sides,
                      "n_questions": int(intervals[over_questions.ACCURACY].n_items[number])}  # fmt: skip
            for measure in MEASURES:
                if measure == PERFECT and np.isnan(figures[measure][0]).all():
                    continue  # with one order it is accuracy
                figure = intervals[measure]
                a, b = _compute_two_units_common_question_shares(figures[measure], unit_pair)
                row = {"measure": measure, "a": a, "b": b, "difference": figure.estimate[number],
                       "lower": figure.lower[number], "upper": figure.upper[number],
                       "p": figure.p[number], "p_least": figure.p_least[number],
                       "no_interval": figure.missing[number]}  # fmt: skip
                if measure == XPARACON:
                    row |= _build_xparacon_difference(
                        a, b, measures.compute_largest_possible_sd(wordings), ends[0][number], ends[1][number]
                    )
                    row["no_interval"] = ONE_ITEM if resamples and common["n_questions"] < 2 else ""
                yield common | row


def _compute_two_units_common_question_shares(
    terms: over_questions.ShareTerms, unit_pair: tuple[int, int]
) -> tuple[float, float]:
    """Return the shares of both units over the questions that both have."""
    part, whole = (values[:, unit_pair] for values in terms)
    has_both = ~np.isnan(part + whole).any(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        a, b = part[has_both].sum(axis=0) / whole[has_both].sum(axis=0)
    return float(a), float(b)


def _build_xparacon_difference(
    share_a: float, share_b: float, largest_sd: float, lower: float, upper: float
) -> dict[str, Any]:
    """Turn shares of the largest standard deviation into XParaCon; where nothing varies, there is no difference."""
    value_a, value_b = (float(measures.compute_xparacon(share * largest_sd)) for share in (share_a, share_b))
    difference = value_a - value_b if np.isfinite([value_a, value_b]).all() else np.nan
    return {"a": value_a, "b": value_b, "difference": difference, "lower": lower, "upper": upper}
