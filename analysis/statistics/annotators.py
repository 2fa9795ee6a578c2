"""Measure how far people agree on which wordings mean the same, and how often one of them errs.

Votes are 1 (yes, it means the same), 0 (no) or missing. Of a wording with r votes, y of them yes,

- Fleiss' kappa takes wordings that all annotators read. Two of its votes agree with the probability 1 - 2 y (r - y) /
  (r (r - 1)); kappa is the mean of these, as far as it is beyond what two votes drawn from all would give;
- Krippendorff's alpha (nominal) takes all wordings with two votes or more. With n votes on these, n_1 of them yes,
  alpha = 1 - (n - 1) sum[y (r - y) / (r - 1)] / (n_1 (n - n_1)). Of votes that are 0 or 1 it is the alpha of intervals,
  too (`analysis.statistics.reliability.generalizability`).

Both are made of sums over wordings, so that their intervals are those of `analysis.statistics.resampling`, over items
with all their wordings. Neither is defined where all votes are alike: there is no way to tell agreement from chance.

An annotator errs by calling a decoy the same: a share, with Wilson's interval over items
(`analysis.statistics.shares`).

References
----------
Fleiss, J. L. (1971). Measuring nominal scale agreement among many raters. Psychological Bulletin 76, 378-382.
Krippendorff, K. (2019). Content Analysis, 4th edition, chapter 12. Zapf, A., Castell, S., Morawietz, L. and Karch, A.
(2016). Measuring inter-rater reliability for nominal data: which coefficients and confidence intervals are appropriate?
BMC Medical Research Methodology 16, 93 (bootstrap of both).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.statistics.resampling import DRAWS, LEVEL, Columns, bootstrap_intervals, divide_one_drawn_sum_by_another
from analysis.statistics.shares import Array, estimate_share

ONE_ANNOTATOR = "one annotator only"
NONE_SHARED = "no wording was read by two annotators"
NONE_COMPLETE = "no wording was read by all annotators"
ALIKE = "all votes are alike"


@dataclass(frozen=True, slots=True)
class AgreementCoefficient:
    """Hold a coefficient of agreement.

    Attributes
    ----------
    value, lower, upper
        With its 95 % interval over items; NaN where it is undefined, or has no interval.
    n_wordings
        Wordings that it is computed from.
    missing
        Why there is no value, or no interval; else empty.
    """

    value: float
    lower: float
    upper: float
    n_wordings: int
    missing: str


@dataclass(frozen=True, slots=True)
class VoteShare:
    """Hold a share of an annotator's votes with its 95 % interval (Wilson), and how many votes; NaN of 0 votes."""

    value: float
    lower: float
    upper: float
    n: int


def compute_fleiss_kappa_and_krippendorff_alpha(
    votes: Array, items: npt.ArrayLike, *, draws: int = DRAWS, seed: int = 0
) -> tuple[AgreementCoefficient, AgreementCoefficient]:
    """Compute Fleiss' kappa and Krippendorff's alpha, with intervals over items.

    Parameters
    ----------
    votes
        (wordings, annotators): 1 yes, 0 no, NaN none. Decoys are best left out: that all people refuse a scrambled
        sentence says little of how far they agree on paraphrases.
    items
        The item of every wording (wordings,).
    draws, seed
        As in `resampling.bootstrap_intervals`.

    Returns
    -------
    tuple of two AgreementCoefficient
        Fleiss' kappa, Krippendorff's alpha.

    Raises
    ------
    InputError
        As `resampling.bootstrap_intervals`.
    """
    votes = np.asarray(votes, float)
    n_votes, n_yes = (~np.isnan(votes)).sum(axis=1), np.nansum(votes, axis=1)
    n_annotators = votes.shape[1]
    item = np.unique(np.asarray(items), return_inverse=True)[1]
    coefficients = []
    for statistic, is_used, empty in (
        (_compute_fleiss_kappa_in_each_draw, n_votes == n_annotators, NONE_COMPLETE),
        (_compute_krippendorff_in_each_draw, n_votes > 1, NONE_SHARED)
    ):  # fmt: skip
        yes, number = n_yes[is_used], n_votes[is_used]
        if n_annotators < 2 or not len(yes) or yes.sum() in (0, number.sum()):
            why = ONE_ANNOTATOR if n_annotators < 2 else ALIKE if len(yes) else empty
            coefficients.append(AgreementCoefficient(np.nan, np.nan, np.nan, len(yes), why))
            continue
        columns = {
            name: _sum_by_item(item[is_used], part)
            for name, part in {
                "wordings": np.ones(len(yes)), "votes": number, "yes": yes,
                "agreement": 1 - 2 * yes * (number - yes) / (number * (number - 1)),
                "disagreement": yes * (number - yes) / (number - 1),
            }.items()
        }  # fmt: skip
        interval = bootstrap_intervals(columns, statistic, draws=draws, seed=seed)["value"]
        coefficients.append(
            AgreementCoefficient(
                float(interval.estimate[0]), float(interval.lower[0]), float(interval.upper[0]), len(yes),
                str(interval.missing[0]),
            )
        )  # fmt: skip
    return coefficients[0], coefficients[1]


def _sum_by_item(item: npt.NDArray[np.intp], values: Array) -> Array:
    """Sum over the wordings of every item that has some: (items, 1)."""
    codes = np.unique(item, return_inverse=True)[1]
    return np.asarray(np.bincount(codes, values)[:, None], float)


def _compute_fleiss_kappa_in_each_draw(columns: Columns, counts: Array) -> dict[str, Array]:
    """Compute Fleiss' kappa in every draw."""
    wordings, votes, yes, agreement = (counts @ columns[name] for name in ("wordings", "votes", "yes", "agreement"))
    share = divide_one_drawn_sum_by_another(yes, votes)
    by_chance = share**2 + (1 - share) ** 2
    return {
        "value": divide_one_drawn_sum_by_another(
            divide_one_drawn_sum_by_another(agreement, wordings) - by_chance, 1 - by_chance
        )
    }


def _compute_krippendorff_in_each_draw(columns: Columns, counts: Array) -> dict[str, Array]:
    """Compute Krippendorff's alpha in every draw."""
    votes, yes, disagreement = (counts @ columns[name] for name in ("votes", "yes", "disagreement"))
    return {"value": 1 - divide_one_drawn_sum_by_another((votes - 1) * disagreement, yes * (votes - yes))}


def compute_share_of_yes_votes(votes: Array, items: npt.ArrayLike) -> VoteShare:
    """Compute the share of an annotator's votes that are yes: of decoys, the error.

    Parameters
    ----------
    votes, items
        One annotator's votes (wordings,), and the item of every wording.

    Returns
    -------
    VoteShare
    """
    votes = np.asarray(votes, float)
    has_vote = ~np.isnan(votes)
    if not has_vote.any():
        return VoteShare(np.nan, np.nan, np.nan, 0)
    item = np.asarray(items)[has_vote]
    estimate = estimate_share(
        [(_sum_by_item(item, votes[has_vote]), _sum_by_item(item, np.ones(has_vote.sum())))], LEVEL
    )
    value, lower, upper = (float(part[0]) for part in (estimate.estimate, estimate.lower, estimate.upper))
    return VoteShare(value, lower, upper, int(has_vote.sum()))
