"""Compare two sides by every measure that both have: difference, intervals, tests, and what it takes to decide.

The difference is A less B, of the mean over items; each item has its mean over the wordings in which both sides have a
valid answer. *These wordings*: a t interval and a paired t test over items. Of answers that are 0 or 1 in one wording
of each item, and of flips, the test is the exact one of McNemar. Where so few items differ that there is no t test, or
no interval (`Panel.few`), p is at least that of the sign test, had all items that differ gone one way. *Wordings like
these*: the interval and test of a panel for other items and wordings; unknown where items have one wording, and for
flips in wordings that all items share.

References
----------
McNemar, Q. (1947). Note on the sampling error of the difference between correlated proportions or percentages.
Psychometrika 12, 153-157.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.compare.equivalence import compute_p_of_equivalence
from analysis.compare.pairing import PairedRuns, find_side, strip_side
from analysis.compare.power import MCNEMAR, PAIRED_T, SIGN, find_sizes
from analysis.measures.reworded import ACCURACY, AGREEMENT, Study
from analysis.reporting.catalogue.rewordings import explain_wordings_not_compared, read_reworded_studies
from analysis.statistics.multiplicity import ALPHA, correct_families_by_holm
from analysis.statistics.reliability.panel import Panel, estimate_panel_mean
from analysis.statistics.reliability.replication import compute_p_of_panel_mean_against_value
from analysis.statistics.resampling import Array
from analysis.statistics.significance import ROUNDING, mcnemar
from ground.errors import InputError, suggest_nearest

FLIPS = "flips"
FLIP = 0.05  # share of an item's wordings that may be with the minority without a flip


@dataclass(frozen=True, slots=True)
class Chosen:
    """Hold what the call asks for; empty where it leaves it open."""

    measures: Sequence[str] = ()
    models: tuple[str, str] = ("", "")
    conditions: tuple[str, str] = ("", "")
    margin: float | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """Hold the answers of two units to the same items by one measure.

    Attributes
    ----------
    studies, units
        Of A and of B: the answers, and the place of the unit in them.
    measure
        Name of the measure.
    answers
        Of A and of B: (items, wordings), NaN where either has no valid answer.
    crossed
        Whether the wordings in these places are shared by all items.
    knows_wordings
        Whether the answers tell how far other wordings would move the difference.
    """

    studies: tuple[Study, Study]
    units: tuple[int, int]
    measure: str
    answers: tuple[Array, Array]
    crossed: bool
    knows_wordings: bool


def compare_paired_runs(paired: PairedRuns, chosen: Chosen) -> pd.DataFrame:
    """Compare two sides by every measure that both have.

    Parameters
    ----------
    paired
        From `pairing.pair_runs`; what is not shared is added to its notes.
    chosen
        What the call asks for.

    Returns
    -------
    DataFrame
        A row per study, pair of models and conditions, and measure, as `analysis/compare/schema.json` explains.

    Raises
    ------
    InputError
        A model, condition or measure is not there, or nothing is left to compare.
    """
    rows = []
    measures: dict[str, None] = {}
    for runs_a, runs_b in paired.pairs:
        paired.notes.extend(explain_wordings_not_compared({runs_a.info["studies"][name]["protocol"]
                                                           for name in runs_a.info["studies"]}))  # fmt: skip
        for study_a, study_b in _match_measures(runs_a, runs_b, paired.notes):
            for unit_a, unit_b in _match_units(study_a, study_b, chosen, paired.notes):
                for pair in _list_pairs_by_measure(study_a, study_b, unit_a, unit_b):
                    measures.setdefault(pair.measure)
                    if not chosen.measures or pair.measure in chosen.measures:
                        rows.append(_compare_pair(pair, chosen.margin))
    for name in chosen.measures:
        if name not in measures:
            known = f"; known here: {', '.join(measures)}" if measures else ""
            raise InputError(f"--measure {name!r}{suggest_nearest(name, measures)}: not in both{known}")
    kept_rows = [row for row in rows if row["n_items"]]
    if not kept_rows:
        what, remedy = ("item with valid answers", "give two runs of the same items") if rows else (
            "model, condition or measure", "pair names by --model-a, --model-b, --condition-a, --condition-b"
        )  # fmt: skip
        why = f" ({'; '.join(paired.notes)})" if paired.notes else ""
        raise InputError(f"A and B have no {what} in common{why}; {remedy}")
    # A pair is about one model and condition on each side: its measures stand together.
    frame = pd.DataFrame(kept_rows)
    number = frame.groupby(["study", "a_model", "a_condition", "b_model", "b_condition"], sort=False).ngroup()
    return _judge_rows(frame.iloc[number.argsort(kind="stable")].reset_index(drop=True))


def _match_measures(runs_a: Any, runs_b: Any, notes: list[str]) -> Iterator[tuple[Study, Study]]:
    """Yield the studies of both sides by the same measure; note a measure that one side lacks."""
    studies_b = {(study.name, study.measure): study for study in read_reworded_studies(runs_b)}
    for study in read_reworded_studies(runs_a):
        other = studies_b.get((study.name, study.measure))
        if other is not None and study.lower_is_better == other.lower_is_better and study.has_range == other.has_range:
            yield study, other
        else:
            notes.append(f"study {study.name}: measure {study.measure} is not the same in A and B: not compared")


def _match_units(study_a: Study, study_b: Study, chosen: Chosen, notes: list[str]) -> Iterator[tuple[int, int]]:
    """Yield the places of units that are compared: models and conditions that the call or their names pair."""
    places = [
        {strip_side(unit): place for place, unit in enumerate(study.units) if find_side(unit[0]) == side}
        for side, study in (("A", study_a), ("B", study_b))
    ]
    where = f"study {study_a.name}, measure {study_a.measure}"
    names = [list(dict.fromkeys(model for model, _ in side)) for side in places]
    for model_a, model_b in _pair_names(names, chosen.models, "model", where, notes):
        conditions = [
            [condition for name, condition in side if name == model]
            for side, model in zip(places, (model_a, model_b), strict=True)
        ]
        for pair in _pair_names(conditions, chosen.conditions, "condition", where, notes):
            yield places[0][model_a, pair[0]], places[1][model_b, pair[1]]


def _pair_names(
    names: Sequence[Sequence[str]], wanted: tuple[str, str], noun: str, where: str, notes: list[str]
) -> list[tuple[str, str]]:
    """Pair the names of both sides: the only one of each, else equal ones; or those that the call asks for."""
    kept = []
    for side, name, side_names in zip("ab", wanted, names, strict=True):
        if name and name not in side_names:
            raise InputError(
                f"--{noun}-{side} {name!r}{suggest_nearest(name, side_names)}; known in {where}: "
                f"{', '.join(side_names) or 'none'}"
            )
        kept.append([name] if name else list(side_names))
    if len(kept[0]) == len(kept[1]) == 1:
        return [(kept[0][0], kept[1][0])]
    for place, label in enumerate("AB"):
        alone = [name for name in kept[place] if name not in kept[1 - place]]
        if alone:
            line = f"only {label} has the {noun} {', '.join(alone[:3])}{' ...' if len(alone) > 3 else ''}"
            notes += [line] if line not in notes else []
    return [(name, name) for name in kept[0] if name in kept[1]]


def _list_pairs_by_measure(study_a: Study, study_b: Study, unit_a: int, unit_b: int) -> Iterator[Pair]:
    """Yield a pair by its own measure, and the headline measure of answers of two kinds by flips, too."""
    studies, units = (study_a, study_b), (unit_a, unit_b)
    a, b = study_a.values[unit_a], study_b.values[unit_b]
    if study_a is not study_b:  # wordings of each side's own
        means = _average_wordings(a)[:, None], _average_wordings(b)[:, None]
        yield Pair(studies, units, study_a.measure, _keep_common(*means), False, not study_a.crossed)
        return
    a, b = _keep_common(a, b)
    has_several = int((~np.isnan(a)).sum(axis=1).max(initial=0)) > 1
    yield Pair(studies, units, study_a.measure, (a, b), study_a.crossed, has_several)
    if has_several and study_a.headline and study_a.measure in (AGREEMENT, ACCURACY):
        flips = _mark_flips(a)[:, None], _mark_flips(b)[:, None]
        yield Pair(studies, units, FLIPS, flips, False, not study_a.crossed)


def _keep_common(a: Array, b: Array) -> tuple[Array, Array]:
    """Keep the answers in places where both sides have one; NaN elsewhere."""
    is_common = ~np.isnan(a) & ~np.isnan(b)
    return np.where(is_common, a, np.nan), np.where(is_common, b, np.nan)


def _average_wordings(answers: Array) -> Array:
    """Average the answers (items, wordings) of every item; NaN where it has none."""
    numbers = (~np.isnan(answers)).sum(axis=1)
    return np.divide(np.nansum(answers, axis=1), numbers, out=np.full(len(answers), np.nan), where=numbers > 0)


def _mark_flips(answers: Array) -> Array:
    """Tell of every item whether more than `FLIP` of its wordings are on the other side of 0.5 than the rest."""
    numbers = (~np.isnan(answers)).sum(axis=1)
    upper = (answers >= 0.5).sum(axis=1)
    is_flip = np.minimum(upper, numbers - upper) > FLIP * numbers
    return np.where(numbers > 1, is_flip.astype(float), np.nan)


def _compare_pair(pair: Pair, margin: float | None) -> dict[str, object]:
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
    test, p = _test_difference(pair, panel)
    p_like = compute_p_of_panel_mean_against_value(panel, "both") if knows_wordings else np.nan
    like = panel.compute_interval("both") if knows_wordings else (np.nan, np.nan)
    names = [strip_side(study.units[unit]) for study, unit in zip(pair.studies, pair.units, strict=True)]
    numbers = (~np.isnan(a)).sum(axis=1)
    lower, upper = _cut_interval(pair, panel.compute_interval("items"))
    like_lower, like_upper = _cut_interval(pair, like)
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
            panel, margin, has_range=_has_range(pair), is_share=test == MCNEMAR
        ),
        "spread": np.nan if panel.few or not spread > ROUNDING else spread, "has_range": _has_range(pair),
    }  # fmt: skip


def _has_range(pair: Pair) -> bool:
    """Tell whether answers lie within 0 and 1."""
    return pair.measure == FLIPS or pair.studies[0].bounds is not None


def _cut_interval(pair: Pair, ends: tuple[float, float]) -> tuple[float, float]:
    """Cut the interval of a difference at what a difference can be."""
    if pair.measure == FLIPS:
        return float(np.clip(ends[0], -1, 1)), float(np.clip(ends[1], -1, 1))
    return pair.studies[0].cut_difference_at_bounds(ends)


def _test_difference(pair: Pair, panel: Panel) -> tuple[str, float]:
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
    return PAIRED_T, p


def _judge_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Add what depends on all rows: p values after Holm, and what it takes to decide."""
    from analysis.compare.verdicts import choose_verdict_words

    n_tests = max(int(rows["p"].notna().sum()), 1)
    for name in ("p", "p_like", "p_equivalent"):
        rows[f"{name}_holm"] = correct_families_by_holm(rows.assign(call=0), ["call"], name)
    level = 1 - ALPHA / n_tests
    sizes = [find_sizes(row, level) for row in rows.to_dict("records")]
    rows["least_difference"], rows["n_items_to_decide"] = zip(*sizes, strict=True)
    rows["verdict"], rows["holds_for"] = choose_verdict_words(rows)
    return rows.drop(columns=["spread", "has_range"])
