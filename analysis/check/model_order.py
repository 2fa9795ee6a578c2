"""Find which of two models answers better, for rules on a ranking: of a run, its baseline, or a pilot."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from analysis.check.judged_means import JudgedMean, judge_answers_not_worse_by_margin
from analysis.measures.reworded import Study
from analysis.statistics.multiplicity import ALPHA, holm
from analysis.statistics.resampling import Array


def reverse_lower_is_better_answers(answers: Array, *, has_range: bool) -> Array:
    """Turn answers of which lower ones are better; those within 0 and 1 stay within."""
    return 1 - answers if has_range else -answers


def judge_first_model_not_behind(study: Study, first: int, second: int, *, like_these: bool) -> JudgedMean:
    """Test whether one unit of a study is not behind another one.

    Parameters
    ----------
    study
        By one measure.
    first, second
        The places of the units.
    like_these
        Whether it is asked for wordings like these, not for these.

    Returns
    -------
    JudgedMean
        Of the first less the second, turned so that + is better; the limit is 0.
    """
    has_range = study.bounds is not None
    a, b = (
        reverse_lower_is_better_answers(study.values[place], has_range=has_range)
        if study.lower_is_better
        else study.values[place]
        for place in (first, second)
    )
    is_common = ~np.isnan(a) & ~np.isnan(b)
    has_several = int(is_common.sum(axis=1).max(initial=0)) > 1
    return judge_answers_not_worse_by_margin(
        a, b, study.crossed, 0.0, like_these=like_these, knows_wordings=has_several or not study.crossed,
        has_range=has_range,
    )  # fmt: skip


def list_model_pairs_of_significant_order(
    study: Study, places: Mapping[str, int], *, like_these: bool
) -> list[tuple[str, str, float]]:
    """List the pairs of models whose order a study finds, after Holm.

    Parameters
    ----------
    study
        By one measure.
    places
        Name of a model -> the place of its unit.
    like_these
        Whether it is asked for wordings like these, not for these.

    Returns
    -------
    list of tuple
        The better model, the other one, and how far the first is ahead.
    """
    pairs = list(combinations(places, 2))
    tests = [judge_first_model_not_behind(study, places[a], places[b], like_these=like_these) for a, b in pairs]
    p = np.array([2 * min(tested.p_broken, tested.p_holds, 0.5) for tested in tests])
    corrected = np.full(len(p), np.nan)
    corrected[~np.isnan(p)] = holm(p[~np.isnan(p)])
    return [
        (*(pair if tested.number > 0 else pair[::-1]), abs(tested.number))
        for pair, tested, p_holm in zip(pairs, tests, corrected, strict=True)
        if p_holm < ALPHA
    ]
