"""Say which models are not judged, and whether they do not answer or this cannot be told (rule "validity")."""

from __future__ import annotations

import pandas as pd

from analysis.measures.thresholds import INVALID, UNCLEAR, VALID, has_mostly_invalid_answers, judge_validity
from analysis.reporting.words import format_percent, join_names
from analysis.reporting.words.labels import ON_OPTIONS

SETTING = ("study", "condition")  # a model may answer under one, and not under another
FROM_WORST = (INVALID, UNCLEAR, VALID)
BOUNDS = "Not all of the probability was shown, so what is on the options is known between bounds."


def select_best_condition_rows(rows: pd.DataFrame, name_column: str = "label") -> pd.DataFrame:
    """Select of every model the row by which it is told whether it answers: that of its best condition.

    A model answers if it does so under one of its conditions and studies. Of several rows of one condition, such as one
    for each group of items, the one that says most against the model stands for it.

    Parameters
    ----------
    rows
        As in `describe_unjudged_models`; with `study` and `condition`, where there are several.
    name_column
        Column with the names of which each gets one row.

    Returns
    -------
    DataFrame
        One of the rows for each name, in their order.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"label": "a", "condition": ["de", "en", "en"], "validity": [0.1, 0.4, 0.3],
    ...                      "validity_at_most": [0.2, 0.9, 0.8]})
    >>> select_best_condition_rows(rows)[["condition", "validity"]].values.tolist()
    [['en', 0.3]]
    """
    keys = pd.DataFrame(
        {"kind": _judge_rows(rows).map(FROM_WORST.index), "validity": rows["validity"].astype(float)}, index=rows.index
    )
    in_order = rows.iloc[keys.reset_index(drop=True).sort_values(["kind", "validity"], kind="stable").index]
    settings = [name for name in SETTING if name in rows]
    worst_of_conditions = in_order.drop_duplicates([name_column, *settings])
    return worst_of_conditions.drop_duplicates(name_column, keep="last").sort_index()


def _judge_rows(rows: pd.DataFrame) -> pd.Series:
    """Judge the validity of every row, by its upper bound where the rows have one."""
    return judge_validity(rows["validity"], rows.get("validity_at_most"))


def describe_models_without_answers(rows: pd.DataFrame) -> tuple[str, tuple[str, ...]]:
    """Return what a page says in place of a verdict where no model is judged: verdict and sentences.

    The verdict is about models, each by its best condition (`select_best_condition_rows`).

    Parameters
    ----------
    rows
        As in `describe_unjudged_models`, none of them judged; with `model` where labels name conditions, too.

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
    models = select_best_condition_rows(rows, "model" if "model" in rows else "label")
    is_single = len(models) == 1
    kinds = set(_judge_rows(models)) if "validity_at_most" in rows else set()
    if kinds == {INVALID}:
        verdict = "This model does not answer." if is_single else "These models do not answer."
    elif kinds == {UNCLEAR} and len(rows) == 1:
        verdict = (
            f"Whether this model answers cannot be told: {_format_validity(rows.iloc[0])} of the probability is on the "
            "options."
        )
    elif kinds == {UNCLEAR}:
        verdict = f"Whether {'this model answers' if is_single else 'these models answer'} cannot be told."
    else:
        verdict = "This model is not known to answer." if is_single else "No model is known to answer."
    return verdict, describe_unjudged_models(rows)


def list_unjudged_cautions(rows: pd.DataFrame) -> tuple[str, ...]:
    """Return `describe_unjudged_models` where some models are judged; where none is, the verdict says it, and nothing.

    >>> import pandas as pd
    >>> rows = pd.DataFrame({"label": ["a", "b"], "validity": [0.1, 0.8], "validity_at_most": [float("nan")] * 2})
    >>> len(list_unjudged_cautions(rows)), len(list_unjudged_cautions(rows[:1])), len(list_unjudged_cautions(rows[1:]))
    (1, 0, 0)
    """
    is_unjudged = has_mostly_invalid_answers(rows["validity"].astype(float))
    return () if is_unjudged.all() else describe_unjudged_models(rows)


def describe_unjudged_models(rows: pd.DataFrame) -> tuple[str, ...]:
    """Name the models that do not answer, and those of which this cannot be told, with their numbers.

    Parameters
    ----------
    rows
        A row for each label, or several (`select_best_condition_rows`): label; validity; validity_at_most, as in
        `thresholds.judge_validity`. Without the latter column it is not known which validities are lower bounds. Some
        models may be judged.

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
    >>> "Less than half of the probability is surely on" in describe_unjudged_models(rows[["label", "validity"]][:1])[0]
    True
    """
    best_rows = select_best_condition_rows(rows)
    is_sure, kinds = "validity_at_most" in rows, _judge_rows(best_rows)
    invalid, unclear = (best_rows[kinds == kind] for kind in (INVALID, UNCLEAR))
    sentences = []
    if len(invalid):
        highest = invalid["validity"].astype(float)
        if is_sure:
            highest = invalid["validity_at_most"].astype(float).fillna(highest)
        lowest_first = invalid.assign(highest=highest).sort_values(["validity", "highest"], kind="stable")
        least = lowest_first.iloc[0]
        share = _format_validity(least)
        what = "the lowest" if least["highest"] <= highest.min() else "the lowest lower bound"
        lowest = share if len(invalid) == 1 else f"{share} with {least['label']}, {what}"
        sentences.append(
            f"Not judged: {join_names(list(invalid['label']))}. Less than half of the probability is "
            f"{'' if is_sure else 'surely '}{ON_OPTIONS}: {lowest}."
        )
    if len(unclear):
        names = [f"{row['label']} ({_format_validity(row)})" for _, row in unclear.iterrows()]
        sentences.append(
            f"Not judged: {join_names(names)}. Whether half of the probability is on the options cannot be told. "
            f"{BOUNDS}"
        )
    return tuple(sentences)


def _format_validity(row: pd.Series) -> str:
    """Write a validity, or its two bounds where these differ in what is printed."""
    low, high = row["validity"], row.get("validity_at_most", float("nan"))
    low_text = format_percent(low)
    high_text = low_text if pd.isna(high) else format_percent(high)
    return low_text if low_text == high_text else f"between {low_text} and {high_text}"
