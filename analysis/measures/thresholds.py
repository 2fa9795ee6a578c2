"""Define the thresholds of warnings that several pages share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ground.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

FEW_MODELS, FEW_ITEMS = 3, 30  # below them a page says that they are few
KEPT = 0.8  # part of the changes that wordings of the same meaning must keep, for a result to stand on them
LOW_MASS = 0.5  # below this mass, an answer is not even what the model would say most of the time
VALID, INVALID, UNCLEAR = "valid", "invalid", "unclear"  # what `judge_validity_of_models` says


def is_validity_below_half(validity: pd.Series | npt.NDArray[np.float64] | float) -> Any:
    """Tell which models are not judged: by what is known, less than half of their probability or texts is an answer.

    The rule of every page: such a model is not ranked, is named in no verdict, counts in no sentence that compares
    models, and carries `labels.SILENT` in figures. Its range, flips and SD are small because few answers are left.
    It does not follow that the answers are invalid: `judge_validity_of_models` says where that cannot be told.

    Parameters
    ----------
    validity
        Mean mass on the options, or share of the texts that were read as one; where a server showed the most probable
        tokens only, the lower bound of it. NaN: nothing is known against the model.

    Returns
    -------
    Truth values of the same kind
    """
    return validity < LOW_MASS


def judge_validity_of_models(validity: pd.Series, validity_at_most: pd.Series | None = None) -> pd.Series:
    """Tell which models answer, which do not, and of which this cannot be told.

    Parameters
    ----------
    validity
        As in `is_validity_below_half`.
    validity_at_most
        Upper bound of it, where `validity` is a lower one; NaN where `validity` is exact. None: all are exact.

    Returns
    -------
    Series of str
        `INVALID` where even the upper bound is below one half; `UNCLEAR` where one half lies between the bounds; else
        `VALID`, also where nothing is known.

    Examples
    --------
    >>> import pandas as pd
    >>> lower, upper = pd.Series([0.3, 0.3, 0.3, 0.6]), pd.Series([0.4, 0.9, float("nan"), 0.9])
    >>> judge_validity_of_models(lower, upper).tolist()
    ['invalid', 'unclear', 'invalid', 'valid']
    """
    lowest = validity.astype(float)
    highest = lowest if validity_at_most is None else validity_at_most.astype(float).fillna(lowest)
    is_low, is_invalid = is_validity_below_half(lowest), is_validity_below_half(highest)
    return is_low.map({True: UNCLEAR, False: VALID}).mask(is_invalid, INVALID)


def build_thresholds_by_flip_column(thresholds: Sequence[float]) -> dict[str, float]:
    """Name the flip columns, smallest threshold first: two digits of per cent, then decimals (0.05 -> flip_05, 0.125 ->
    flip_125)."""
    thresholds_by_name = {}
    for threshold in sorted(thresholds):
        if not 0 <= threshold < 1:
            raise InputError(f"threshold {threshold} is not a share of paraphrases: 0 <= threshold < 1, as in 0.05")
        whole, _, decimals = f"{100 * threshold:.6f}".rstrip("0").partition(".")
        thresholds_by_name[f"flip_{whole:0>2}{decimals}"] = threshold
    if not thresholds_by_name:
        raise InputError("thresholds are empty: give shares of paraphrases, as in 0.05, 0.1 and 0.25")
    return thresholds_by_name


def refuse_too_few_examples(examples: int, least: int = 1, things: str = "items") -> None:
    """Refuse a number of examples that a table cannot show.

    Parameters
    ----------
    examples
        The number that was asked for.
    least
        The smallest that there may be.
    things
        What the examples are.

    Raises
    ------
    InputError
        For fewer examples than that.
    """
    if examples < least:
        raise InputError(f"examples = {examples}: give a number of {things} from {least} on")
