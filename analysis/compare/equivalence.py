"""Test whether two sides are alike: their difference is within a margin, for these wordings.

By two one-sided t tests, but two kinds of items need more. Where fewer than six items differ from the others, there is
no t test. But if the true difference is M or more and answers lie within 0 and 1, a share of M of all items differs, or
more: so of n items, k or fewer differ with at most the probability that a binomial count of n and M is k or less. Where
answers are 0 or 1, t tests call shares alike that are M apart in up to .09 of studies, as few items that differ have a
skewed number; so p is at least that of the score test of paired shares, which does in .05.

References
----------
Schuirmann, D. J. (1987). A comparison of the two one-sided tests procedure and the power approach. Journal of
Pharmacokinetics and Biopharmaceutics 15, 657-680.
Tango, T. (1998). Equivalence test and confidence interval for the difference in proportions for the paired-sample
design. Statistics in Medicine 17, 891-908.
"""

from __future__ import annotations

import numpy as np

from analysis.statistics.reliability.panel import Panel
from analysis.statistics.reliability.replication import compute_equivalence_p_of_panel_mean
from analysis.statistics.significance import ROUNDING


def compute_p_of_equivalence(panel: Panel, margin: float, *, has_range: bool, is_share: bool) -> float:
    """Test that a difference is within a margin.

    Parameters
    ----------
    panel
        Of the difference.
    margin
        Above 0.
    has_range
        Whether the answers of both sides lie within 0 and 1.
    is_share
        Whether they are all 0 or 1, one of each item.

    Returns
    -------
    float
        NaN where the items do not tell.
    """
    from scipy.special import bdtr

    if panel.n_items < 2:
        return np.nan
    n_differing = int((np.abs(panel.means) > ROUNDING).sum())
    if panel.few or not n_differing:
        return float(bdtr(n_differing, panel.n_items, min(margin, 1.0))) if has_range else np.nan
    p = compute_equivalence_p_of_panel_mean(panel, "items", margin)
    if not is_share or np.isnan(p) or margin >= 1:
        return p
    ups, downs = int((panel.means > 0.5).sum()), int((panel.means < -0.5).sum())
    fewer, more = sorted((ups, downs))  # the larger p of both sides
    return max(p, compute_score_p_of_shares_worse_by_margin(fewer, more, panel.n_items, margin))


def compute_score_p_of_shares_worse_by_margin(ups: int, downs: int, n_items: int, margin: float) -> float:
    """Test by the score of paired shares that the first is not lower by a margin, 0 to 1.

    Parameters
    ----------
    ups, downs
        Items in which only the first, and only the second, is 1.
    n_items
        All items.
    margin
        Below 1.

    Returns
    -------
    float
        p of "it is lower by the margin or more"; 1 less it is that of "it is lower by the margin or less".
    """
    from scipy.special import ndtr

    # The most likely share of `ups` where the true difference is the margin: a root of a quadratic equation.
    slope = -downs - ups + (2 * n_items - downs + ups) * margin
    constant = -ups * margin * (1 - margin)
    share = (np.sqrt(slope**2 - 8 * n_items * constant) - slope) / (4 * n_items)
    spread = np.sqrt(n_items * (2 * share + margin * (1 - margin)))
    return float(ndtr((downs - ups - n_items * margin) / spread))
