"""Test the mean of one unit's answers against a limit: of these wordings, or of wordings like these.

Means of answers between 0 and 1 have Gaffke's test over items (`analysis.statistics.bounded_mean`), which is the exact
binomial test where every item is 0 or 1. Where items have wordings of their own, another item comes with other
wordings, so it is the test for wordings like these, too. Where items share their wordings, these move all items at
once: then p is at least that of the interval for other items and other wordings (`Panel.compute_interval`), with one
item more or one wording more, whichever there are fewer of, that is as far out as can be (`tails`). Means without
bounds have the test by t that heeds skewness (`reliability.replication`), unless too few items differ (`Panel.few`):
how far out an item may be that was not seen, these do not tell.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from analysis.check.limits.tails import Tails, compute_tails_of_t_with_extra_item
from analysis.statistics.bounded_mean import (
    compute_bounded_mean_interval,
    compute_p_of_mean_at_least,
    compute_p_of_mean_at_most,
)
from analysis.statistics.reliability.panel import Anew, Panel
from analysis.statistics.reliability.replication import compute_p_of_panel_mean_against_value
from analysis.statistics.significance import ROUNDING

BINOMIAL, GAFFKE, T_ITEMS = "exact binomial over items", "Gaffke's test over items", "t over items"
FEW_DIFFER = "no test: few items differ"
AND_WORDINGS = " and wordings"


def compute_tails_of_panel(panel: Panel, limit: float, anew: Anew, *, is_bounded: bool) -> Tails:
    """Test the mean of a panel against a limit.

    Parameters
    ----------
    panel
        Of answers, no differences; of unbounded answers, with skewness heeded.
    limit
        In the unit of the answers.
    anew
        "items": for these wordings; "both": for wordings like these.
    is_bounded
        Whether answers lie between 0 and 1.

    Returns
    -------
    Tails
        NaN in all but `test` where the panel does not tell.
    """
    is_shared = anew == "both" and panel.crossed
    if not is_bounded:
        if panel.few:
            return Tails(np.nan, np.nan, np.nan, np.nan, FEW_DIFFER)
        return _compute_tails_from_two_sided_p(panel, limit, anew, T_ITEMS + AND_WORDINGS * is_shared)
    values = panel.means
    is_binary = bool(((values == 0) | (values == 1)).all())
    test = (BINOMIAL if is_binary else GAFFKE) + AND_WORDINGS * is_shared
    if not panel.n_items:
        return Tails(np.nan, np.nan, np.nan, np.nan, test)
    tails = Tails(
        compute_p_of_mean_at_most(values, limit), compute_p_of_mean_at_least(values, limit),
        *compute_bounded_mean_interval(values), test,
    )  # fmt: skip
    variance = sum(variance for variance, _ in panel.parts["both"])
    if not is_shared:
        return tails
    if variance <= ROUNDING**2:  # no wording moved any item: of as few wordings, another one may
        wording_means = np.full(max(int(panel.n_wordings), 1), panel.mean)
        lower, upper = compute_bounded_mean_interval(wording_means)
        return Tails(
            max(tails.p_at_most, compute_p_of_mean_at_most(wording_means, limit)),
            max(tails.p_at_least, compute_p_of_mean_at_least(wording_means, limit)),
            min(tails.lower, lower), max(tails.upper, upper), test,
        )  # fmt: skip
    if np.isnan(variance):
        return Tails(np.nan, np.nan, np.nan, np.nan, test)
    # By t alone: Wilson's interval is not what the item more is added to.
    ends = replace(panel, share=np.nan, bounded=False, few=False).compute_interval("both")
    freedom = min(free for _, free in panel.parts["both"])
    fewest = min(panel.n_items, panel.n_wordings)
    wider = compute_tails_of_t_with_extra_item(panel.mean, ends, limit, fewest, freedom)
    return Tails(
        max(tails.p_at_most, wider.p_at_most), max(tails.p_at_least, wider.p_at_least),
        min(tails.lower, wider.lower), max(tails.upper, wider.upper), test,
    )  # fmt: skip


def _compute_tails_from_two_sided_p(panel: Panel, limit: float, anew: Anew, test: str) -> Tails:
    """Halve the two-sided p of `compute_p_of_panel_mean_against_value`: its interval has both tails alike."""
    p = compute_p_of_panel_mean_against_value(panel, anew, limit) if panel.n_items > 1 else np.nan
    if np.isnan(p):
        return Tails(np.nan, np.nan, np.nan, np.nan, test)
    lower, upper = panel.compute_interval(anew)
    halves = p / 2, 1 - p / 2
    return Tails(*(halves if panel.mean > limit else halves[::-1]), lower, upper, test)
