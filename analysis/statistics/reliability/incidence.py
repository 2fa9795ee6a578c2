"""Say which item has which wordings, as far as the variances of means depend on it.

Items that share wordings need not have all of them: of 19 templates, each may have 5. A mean of an item is then over 5
wordings, while the mean over items is over all 19, and items differ also by which wordings they have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Incidence:
    """Hold how many wordings items have, and share.

    Attributes
    ----------
    n_items
        Items with an answer.
    n_wordings
        Wordings of each item: harmonic mean. An item's mean holds the interaction divided by it.
    n_shared
        Crossed: how many different wordings the mean over items counts like, 1 / (sum of their squared shares of it).
        The mean holds the component of wordings divided by it. Complete, it is `n_wordings`. NaN where nested.
    unshared_variance
        Crossed: what a component of wordings of 1 adds to the variance of the items' means, since items have different
        ones. Complete, or nested: 0.
    """

    n_items: int
    n_wordings: float
    n_shared: float
    unshared_variance: float

    def predict_effective_n_wordings(self, n_wordings_per_item: float) -> float:
        """Predict how many different wordings the mean counts like, with so many of each item."""
        return self.n_shared * n_wordings_per_item / self.n_wordings


NOTHING = Incidence(0, np.nan, np.nan, np.nan)


def measure_which_items_have_which_wordings(has_answer: npt.NDArray[np.bool_], crossed: bool) -> Incidence:
    """Measure which items have which wordings.

    Two items share the second of three wordings. Of their mean, it makes one half and the others a quarter each:

    >>> answered = np.array([[True, True, False], [False, True, True]])
    >>> incidence = measure_which_items_have_which_wordings(answered, crossed=True)
    >>> incidence.n_wordings, round(incidence.n_shared, 2), incidence.unshared_variance
    (2.0, 2.67, 0.25)
    >>> measure_which_items_have_which_wordings(answered[:, :2] | True, crossed=True)
    Incidence(n_items=2, n_wordings=2.0, n_shared=2.0, unshared_variance=0.0)

    Parameters
    ----------
    has_answer
        True where there is an answer: (items, wordings). Every item has one.
    crossed
        Whether all items share the wordings.

    Returns
    -------
    Incidence
    """
    n_items, per_item = len(has_answer), has_answer.sum(axis=1)
    n_wordings = round(float(n_items / (1 / per_item).sum()), 9)  # 5 of each are 5
    if not crossed:
        return Incidence(n_items, n_wordings, np.nan, 0.0)
    weights = has_answer / per_item[:, None]  # what an answer weighs in its item's mean
    squared_shares = float((weights.mean(axis=0) ** 2).sum())
    between = float((weights**2).sum()) / n_items - squared_shares
    return Incidence(
        n_items, n_wordings, round(1 / squared_shares, 9), max(between, 0.0) * n_items / max(1, n_items - 1)
    )
