"""Say which models are not judged, and whether they do not answer or this cannot be told (rule "validity")."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from analysis.measures.thresholds import INVALID, UNCLEAR, has_mostly_invalid_answers, judge_validity
from analysis.reporting.words import format_percent, join_names
from analysis.reporting.words.labels import ON_OPTIONS

if TYPE_CHECKING:
    import pandas as pd

BOUNDS = "Not all of the probability was shown, so what is on the options is known between bounds."


def describe_models_without_answers(rows: pd.DataFrame, shortage: str = "") -> tuple[str, tuple[str, ...]]:
    """Return what a page says in place of a verdict where no model is judged: verdict and sentences.

    Parameters
    ----------
    rows
        As in `describe_unjudged_models`, none of them judged.
    shortage
        As there.

    Returns
    -------
    tuple
        The verdict, and why.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"label": ["a", "b"], "validity": [0.1, 0.3], "validity_at_most": [float("nan"), 0.9]})
    >>> [describe_models_without_answers(part)[0] for part in (rows[:1], rows)]
    ['This model does not answer.', 'No model is known to answer.']
    >>> describe_models_without_answers(rows[1:])[0]
    'Whether this model answers cannot be told: between 30 % and 90 % of the probability is on the options.'
    """
    is_single = rows["label"].nunique() == 1
    kinds = set(judge_validity(rows["validity"], rows["validity_at_most"])) if "validity_at_most" in rows else set()
    if kinds == {INVALID}:
        verdict = "This model does not answer." if is_single else "These models do not answer."
    elif kinds == {UNCLEAR} and len(rows) == 1:
        verdict = (
            f"Whether this model answers cannot be told: {_format_bounds(rows.iloc[0])} of the probability is on the "
            "options."
        )
    elif kinds == {UNCLEAR}:
        verdict = f"Whether {'this model answers' if is_single else 'these models answer'} cannot be told."
    else:
        verdict = "This model is not known to answer." if is_single else "No model is known to answer."
    return verdict, describe_unjudged_models(rows, shortage)


def list_unjudged_cautions(rows: pd.DataFrame, shortage: str = "") -> tuple[str, ...]:
    """Return `describe_unjudged_models` where some models are judged; where none is, the verdict says it, and nothing.

    Parameters
    ----------
    rows, shortage
        As there.

    Returns
    -------
    tuple of str
        The cautions.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"label": ["a", "b"], "validity": [0.1, 0.8], "validity_at_most": [float("nan")] * 2})
    >>> len(list_unjudged_cautions(rows)), len(list_unjudged_cautions(rows[:1])), len(list_unjudged_cautions(rows[1:]))
    (1, 0, 0)
    """
    is_unjudged = has_mostly_invalid_answers(rows["validity"].astype(float))
    return () if is_unjudged.all() else describe_unjudged_models(rows, shortage)


def describe_unjudged_models(rows: pd.DataFrame, shortage: str = "") -> tuple[str, ...]:
    """Name the models that do not answer, and those of which this cannot be told, with their numbers.

    Parameters
    ----------
    rows
        A row for each model, or several: label; validity; validity_at_most, as in `thresholds.judge_validity`. Without
        the latter column it is not known which validities are lower bounds. Some models may be judged.
    shortage
        What is true of models below one half, where their validity is another share than that of the probability or of
        the texts read: such as "Less than half of the answers are valid".

    Returns
    -------
    tuple of str
        A caution for each kind of models; none where all are judged.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"label": ["a", "b"], "validity": [0.1, 0.3], "validity_at_most": [float("nan"), 0.9]})
    >>> for sentence in describe_unjudged_models(rows):
    ...     print(sentence)
    Not judged: a. Less than half of the probability is on the options (or of the texts can be read as one): 10 %.
    Not judged: b (between 30 % and 90 %). Whether half of the probability is on the options cannot be told. Not all \
of the probability was shown, so what is on the options is known between bounds.
    >>> describe_unjudged_models(rows.assign(validity=0.2, validity_at_most=[0.3, 0.4]))[0].rpartition(": ")[2]
    'between 20 % and 30 % with a, the lowest.'
    >>> "Less than half of the probability is surely on" in describe_unjudged_models(rows[["label", "validity"]][:1])[0]
    True
    >>> describe_unjudged_models(rows[:1].assign(validity=0.4999), "Less than half of the responses have a score")
    ('Not judged: a. Less than half of the responses have a score: 49.9 %.',)
    >>> describe_unjudged_models(rows.assign(label="a", validity_at_most=[0.2, 0.9]))[0].partition("read as one): ")[2]
    'between 10 % and 20 %.'
    """
    # Of several rows of a model, such as one for each group of items, the one that says most against it stands for it.
    is_sure = "validity_at_most" in rows
    numbers = rows[["validity", "validity_at_most"] if is_sure else ["validity"]].astype(float)
    in_order = rows.assign(**numbers).sort_values("validity", kind="stable")
    kinds = judge_validity(in_order["validity"], in_order["validity_at_most"] if is_sure else None)
    invalid, unclear = (in_order[kinds == kind].drop_duplicates("label") for kind in (INVALID, UNCLEAR))
    sentences = []
    if len(invalid):
        least = invalid.iloc[0]
        is_bounded = is_sure and least["validity"] < least["validity_at_most"]
        share = _format_bounds(least) if is_bounded else _format_share(least["validity"])
        lowest = share if len(invalid) == 1 else f"{share} with {least['label']}, the lowest"
        reason = shortage or f"Less than half of the probability is {'' if is_sure else 'surely '}{ON_OPTIONS}"
        sentences.append(f"Not judged: {join_names(list(invalid.sort_index()['label']))}. {reason}: {lowest}.")
    unclear = unclear[~unclear["label"].isin(invalid["label"])]
    if len(unclear):
        names = [f"{row['label']} ({_format_bounds(row)})" for _, row in unclear.sort_index().iterrows()]
        sentences.append(
            f"Not judged: {join_names(names)}. Whether half of the probability is on the options cannot be told. "
            f"{BOUNDS}"
        )
    return tuple(sentences)


def _format_bounds(row: pd.Series) -> str:
    """Write the two bounds of a validity."""
    return f"between {_format_share(row['validity'])} and {_format_share(row['validity_at_most'])}"


def _format_share(share: float) -> str:
    """Write a share in per cent; one that is just below one half not as 50 %, as that is judged."""
    text = format_percent(share)
    return f"{math.floor(1000 * share) / 10:.1f} %" if text == "50 %" and has_mostly_invalid_answers(share) else text
