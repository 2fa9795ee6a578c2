"""Decide which checks may be used, and for every wording whether it means the same as its original.

The rules, for all commands and pages:

- A check is *used* if the 95 % interval of its AUC, decoys against wordings that passed, lies above `LEAST_AUC` as a
  whole, and if its threshold lets at least `LEAST_SHARE` of the wordings that passed pass. Wordings that passed are
  those that most people call the same; without a sheet, all wordings.
- The threshold is the smallest number that at most 5 % of the decoys reach.
- The *best* check is the used one with the highest AUC; of equal ones, the first in `ORDER`.
- People are heard first: most say yes, it is `SAME`; most say no, `ANOTHER`; as many yes as no, `UNCLEAR`. A wording
  that nobody read is judged by the best check: `SAME` from its threshold on; `ANOTHER` below the lower threshold, the
  5 % quantile of wordings that passed (never above the threshold); `UNCLEAR` between. Without a used check, or without
  a score, there is no verdict.

The answers of the models under study are never looked at.

Reference
---------
Hosmer, D. W., Lemeshow, S. and Sturdivant, R. X. (2013). Applied Logistic Regression, 3rd edition, section 5.2.4: an
AUC from .7 on parts acceptably.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ground.meaning.separation import ALLOWED, Array, Items, compute_auc, find_threshold_passing_few_decoys

SAME, UNCLEAR, ANOTHER = "same", "unclear", "another"
MEANINGS = (SAME, UNCLEAR, ANOTHER)
LEAST_AUC = 0.7
LEAST_SHARE = 0.1  # of the wordings that passed, at or above the threshold
LOST = 0.05  # of the wordings that passed, below the lower threshold
ORDER = ("entailment", "judge", "similarity", "words")
PEOPLE, ALL = "people", "all wordings"
"""Who passed wordings."""


@dataclass(frozen=True, slots=True)
class CheckQuality:
    """Hold how well a check parts decoys from wordings that passed, and whether it is used.

    Attributes
    ----------
    check
        `words`, `similarity:MODEL`, ...
    used, why_not
        Whether it is used; and why not, else empty.
    passed_by
        `PEOPLE` or `ALL`.
    n_passed, n_decoys
        Numbers of scores.
    auc
        As in `separation.AucEstimate`.
    auc_lower, auc_upper
        `lower` and `upper` of `separation.AucEstimate`.
    threshold, lower_threshold
        From the first on a wording means the same, below the second another thing; NaN without decoys or wordings.
    passed_share, decoy_share
        Shares of wordings that passed, and of decoys, from the threshold on.
    best
        Whether it is the best of the used ones.
    """

    check: str
    used: bool
    why_not: str
    passed_by: str
    n_passed: int
    n_decoys: int
    auc: float
    auc_lower: float
    auc_upper: float
    threshold: float
    lower_threshold: float
    passed_share: float
    decoy_share: float
    best: bool = False


def mark_wordings_that_checks_should_pass(
    votes_yes: npt.ArrayLike, votes_no: npt.ArrayLike
) -> tuple[npt.NDArray[np.bool_], str]:
    """Select the wordings that checks are to let pass.

    Parameters
    ----------
    votes_yes, votes_no
        How many people said of every wording that it means the same, or does not.

    Returns
    -------
    tuple
        Whether the wording passed (wordings,), and by whom: those that most people call the same (`PEOPLE`), or all,
        where nobody read any (`ALL`).
    """
    yes, no = np.asarray(votes_yes, float), np.asarray(votes_no, float)
    return (yes > no, PEOPLE) if (yes + no).any() else (np.ones(len(yes), bool), ALL)


def assess_quality_of_checks(
    scores: Mapping[str, npt.ArrayLike],
    decoys: Mapping[str, npt.ArrayLike],
    passed: npt.ArrayLike,
    passed_by: str,
    items: Items | None = None,
    decoy_items: Items | None = None,
) -> list[CheckQuality]:
    """Judge checks by the rules of the module's docstring.

    Parameters
    ----------
    scores, decoys
        By check, the scores of wordings (wordings,), and of decoys (decoys,); NaN where there is none.
    passed, passed_by
        From `mark_wordings_that_checks_should_pass`.
    items, decoy_items
        The item of every wording and decoy: those of one item are not independent (`separation`).

    Returns
    -------
    list of CheckQuality
        One per check, in the order of `scores`.
    """
    is_passed = np.asarray(passed, bool)
    high_items = None if items is None else np.asarray(items)[is_passed]
    qualities = [
        _assess_quality_of_check(
            check, np.asarray(values, float)[is_passed], np.asarray(decoys.get(check, []), float), passed_by,
            high_items, decoy_items if check in decoys else [],
        )
        for check, values in scores.items()
    ]  # fmt: skip
    used = [quality for quality in qualities if quality.used]
    best = max(used, key=lambda quality: (quality.auc, -_get_rank_of_check_kind(quality.check)), default=None)
    return [replace(quality, best=quality is best) for quality in qualities]


def _assess_quality_of_check(
    check: str, high: Array, low: Array, passed_by: str, high_items: Items | None, low_items: Items | None
) -> CheckQuality:
    """Judge one check; whether it is the best is not known yet."""
    estimate = compute_auc(high, low, high_items, low_items)
    threshold = find_threshold_passing_few_decoys(low, ALLOWED)
    high, low = high[~np.isnan(high)], low[~np.isnan(low)]
    lower_threshold = min(threshold, float(np.quantile(high, LOST))) if len(high) else np.nan
    has_threshold = len(low) > 0
    passed_share, decoy_share = (
        float((part >= threshold).mean()) if len(part) and has_threshold else np.nan for part in (high, low)
    )
    why_not = ""
    if not len(low):
        why_not = "there are no decoys with a score"
    elif not len(high):
        why_not = "no wording that passed has a score"
    elif np.isnan(estimate.lower):
        why_not = "wordings and decoys are too few for an interval of its AUC"
    elif not estimate.lower > LEAST_AUC:
        why_not = f"its AUC is not surely above {LEAST_AUC}"
    elif passed_share < LEAST_SHARE:
        why_not = f"fewer than {100 * LEAST_SHARE:g} % of the wordings that passed reach its threshold"
    return CheckQuality(
        check, not why_not, why_not, passed_by, estimate.n_passed, estimate.n_decoys, estimate.auc, estimate.lower,
        estimate.upper, threshold, lower_threshold, passed_share, decoy_share,
    )  # fmt: skip


def _get_rank_of_check_kind(check: str) -> int:
    """Return the place of a check's kind in `ORDER`; other kinds come last."""
    kind = check.partition(":")[0]
    return ORDER.index(kind) if kind in ORDER else len(ORDER)


def decide_verdict_and_best_score_per_wording(
    scores: Mapping[str, npt.ArrayLike],
    qualities: Sequence[CheckQuality],
    votes_yes: npt.ArrayLike,
    votes_no: npt.ArrayLike,
) -> tuple[npt.NDArray[np.object_], Array]:
    """Decide for every wording by the rules of the module's docstring.

    Parameters
    ----------
    scores
        By check, the scores of wordings (wordings,).
    qualities
        Of `assess_quality_of_checks`.
    votes_yes, votes_no
        As in `mark_wordings_that_checks_should_pass`.

    Returns
    -------
    tuple of two arrays (wordings,)
        `SAME`, `UNCLEAR`, `ANOTHER`, or None where there is no verdict; and the score of the best check, whatever
        people say: NaN where there is none.
    """
    yes, no = np.asarray(votes_yes, float), np.asarray(votes_no, float)
    meanings = np.full(len(yes), None, object)
    score = np.full(len(yes), np.nan)
    best = next((quality for quality in qualities if quality.best), None)
    if best is not None:
        score = np.asarray(scores[best.check], float)
        meanings[~np.isnan(score)] = UNCLEAR
        meanings[score >= best.threshold] = SAME
        meanings[score < best.lower_threshold] = ANOTHER
    meanings[(yes == no) & (yes > 0)] = UNCLEAR
    meanings[yes > no] = SAME
    meanings[yes < no] = ANOTHER
    return meanings, score
