"""Compute how right a model is and how far its choices hold, from arrays of choices.

Arrays are (questions, wordings, orders, units) unless said otherwise, see `analysis.measures.choices.Choices`. What
every function returns is a number per question, or per question and wording, and unit: their means over questions are
the measures. NaN where a unit was not asked.

References
----------
Choi, M. RoParQ: paraphrase-aware alignment of large language models towards robustness to paraphrased questions.
Section 2, equation 1 (perfectly correct), and section 3.3 (accuracy, XParaCon).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from analysis.measures.choices import NO_CHOICE, NOT_ASKED, Codes
from analysis.statistics.resampling import Array


def compute_accuracies_over_orders_by_wording(chosen_letters: Codes, gold_letters: Codes) -> Array:
    """Compute the share of orders in which a wording of a question is answered rightly.

    Parameters
    ----------
    chosen_letters
        As `chosen_letter` of `Choices`.
    gold_letters
        As `gold` of `Choices`.

    Returns
    -------
    array (questions, wordings, units)
        An answer that is no choice is wrong; NaN where nothing was asked.
    """
    right = chosen_letters == gold_letters[:, None, None, None]
    return _average_over_asked_orders(right, chosen_letters != NOT_ASKED)


def _average_over_asked_orders(is_true: npt.NDArray[np.bool_], is_asked: npt.NDArray[np.bool_]) -> Array:
    """Average over the orders that were asked; NaN where none was."""
    n = is_asked.sum(axis=2)
    return np.divide((is_true & is_asked).sum(axis=2), n, out=np.full(n.shape, np.nan), where=n > 0)


def compute_accuracy_sds_over_wordings(accuracy: Array) -> Array:
    """Compute the standard deviation of the wordings' accuracies, dividing by their number as the paper does.

    From (questions, wordings, units) to (questions, units).
    """
    centred = accuracy - accuracy.mean(axis=1, keepdims=True)
    # Equal accuracies differ by rounding from their mean; a question that does not vary must count as such.
    is_constant = accuracy.max(axis=1) == accuracy.min(axis=1)
    return np.where(is_constant, 0.0, np.sqrt((centred**2).mean(axis=1)))


def compute_largest_possible_sd(n_wordings: int) -> float:
    """Return the largest standard deviation that so many shares can have: half of them are 0, the others 1.

    >>> round(compute_largest_possible_sd(3), 4), compute_largest_possible_sd(2), compute_largest_possible_sd(1)
    (0.4714, 0.5, 0.0)
    """
    half = n_wordings // 2
    return (half * (n_wordings - half)) ** 0.5 / n_wordings


def compute_xparacon(mean_sd: npt.ArrayLike) -> Array:
    """Turn mean standard deviations over questions into XParaCon, -log2 of them: infinite where nothing varies.

    >>> compute_xparacon([0.25, 0.0]).tolist()
    [2.0, inf]
    """
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log2(np.asarray(mean_sd, float)))


def mark_perfect_wordings(accuracy: Array) -> Array:
    """Tell whether a wording is perfectly correct, 1 or 0: answered rightly in all orders (equation 1)."""
    return np.where(np.isnan(accuracy), np.nan, accuracy == 1)


def mark_same_choice_over_orders(choice_codes: Codes) -> Array:
    """Tell whether one choice is taken in all orders of a wording: (questions, wordings, units), 1 or 0.

    An answer that is no choice is not the same as any; one answer alone is not compared.
    """
    return _mark_same_choice_along_axes(choice_codes, (2,))


def mark_same_choice_over_wordings(choice_codes: Codes) -> Array:
    """Tell whether one choice is taken in all wordings shown in one order: (questions, orders, units), 1 or 0."""
    return _mark_same_choice_along_axes(choice_codes, (1,))


def mark_same_choice_throughout(choice_codes: Codes) -> Array:
    """Tell whether one choice is taken in all wordings and orders: (questions, units), 1 or 0."""
    return _mark_same_choice_along_axes(choice_codes, (1, 2))


def _mark_same_choice_along_axes(choice_codes: Codes, axes: tuple[int, ...]) -> Array:
    """Tell whether one choice is taken along some axes: 1 or 0; NaN where fewer than two answers are compared."""
    is_asked = choice_codes != NOT_ASKED
    low = np.where(is_asked, choice_codes, np.iinfo(np.int8).max).min(axis=axes)
    high = choice_codes.max(axis=axes)
    return np.where(is_asked.sum(axis=axes) > 1, (low == high) & (low != NO_CHOICE), np.nan)


def compute_share_of_differing_order_pairs(choice_codes: Codes) -> Array:
    """Compute how often two answers to a question in one wording and two orders take different choices.

    Returns
    -------
    array (questions, wordings, units)
        Share of the pairs of orders; two answers that are no choice are different, too. NaN with fewer than two.
    """
    return _compute_differing_pair_shares(choice_codes, 2)


def compute_share_of_differing_wording_pairs(choice_codes: Codes) -> Array:
    """Compute how often two answers to a question in one order and two wordings take different choices."""
    return _compute_differing_pair_shares(choice_codes, 1)


def _compute_differing_pair_shares(choice_codes: Codes, axis: int) -> Array:
    """Compute the share of pairs of answers along an axis that are not one and the same choice."""
    n = (choice_codes != NOT_ASKED).sum(axis=axis)
    same_pairs = np.zeros(n.shape)
    for code in range(int(choice_codes.max()) + 1):
        number = (choice_codes == code).sum(axis=axis)
        same_pairs += number * (number - 1)
    pairs = n * (n - 1)
    return np.divide(pairs - same_pairs, pairs, out=np.full(n.shape, np.nan), where=pairs > 0)


def count_answers_at_position_and_all_answers(
    chosen_places: Codes, right_places: Codes, place: int, right_place: int | None
) -> tuple[Array, Array]:
    """Count the answers that chose the option at one place, and all answers.

    Parameters
    ----------
    chosen_places
        Places that were chosen.
    right_places
        Place of the right option: (questions, wordings, orders).
    place
        The place; `NO_CHOICE` counts answers that are no choice.
    right_place
        Count only where the right option stands at this place; None: everywhere.

    Returns
    -------
    tuple
        Twice (questions, units).
    """
    is_counted = chosen_places != NOT_ASKED
    if right_place is not None:
        is_counted = is_counted & (right_places == right_place)[..., None]
    n_at_place = ((chosen_places == place) & is_counted).sum(axis=(1, 2)).astype(float)
    return n_at_place, is_counted.sum(axis=(1, 2)).astype(float)
