"""Say which models are not judged, and whether they do not answer or this cannot be told (rule "validity")."""

from __future__ import annotations

import math

import pandas as pd

from analysis.measures.thresholds import INVALID, UNCLEAR, VALID, is_validity_below_half, judge_validity_of_models
from analysis.reporting.words import format_percent, join_names
from analysis.reporting.words.doubts import WRONG, Caution
from analysis.reporting.words.labels import ON_OPTIONS

SETTING = ("study", "condition")  # a model may answer under one, and not under another
FROM_WORST = (INVALID, UNCLEAR, VALID)
# Where answers may be probabilities, texts and scores: why a model is not judged.
FEW_ANSWERS = "Less than half of the probability, of the texts or of the responses is surely a valid answer"
SHORT = 80  # characters of names that are written out, and not counted
BOUNDS = "Not all of the probability was shown, so what is on the options is known between bounds."


def select_most_valid_condition_rows(rows: pd.DataFrame, name_column: str = "label") -> pd.DataFrame:
    """Select of every model the row by which it is told whether it answers: that of its best condition.

    A model answers if it does so under one of its conditions and studies. Of several rows of one condition, such as one
    for each group of items, the one that says most against the model stands for it.

    Parameters
    ----------
    rows
        As in `list_unjudged_model_sentences`; with `study` and `condition`, where there are several.
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
    >>> select_most_valid_condition_rows(rows)[["condition", "validity"]].values.tolist()
    [['en', 0.3]]
    """
    keys = pd.DataFrame(
        {"kind": _classify_validity_of_rows(rows).map(FROM_WORST.index), "validity": rows["validity"].astype(float)},
        index=rows.index,
    )
    in_order = rows.iloc[keys.reset_index(drop=True).sort_values(["kind", "validity"], kind="stable").index]
    settings = [name for name in SETTING if name in rows]
    worst_of_conditions = in_order.drop_duplicates([name_column, *settings])
    return worst_of_conditions.drop_duplicates(name_column, keep="last").sort_index()


def _classify_validity_of_rows(rows: pd.DataFrame) -> pd.Series:
    """Judge the validity of every row, by its upper bound where the rows have one."""
    return judge_validity_of_models(rows["validity"], rows.get("validity_at_most"))


def phrase_verdict_without_judged_model(rows: pd.DataFrame, shortage: str = "") -> tuple[str, tuple[str, ...]]:
    """Return what a page says in place of a verdict where no model is judged: verdict and sentences.

    The verdict is about models, each by its best condition (`select_most_valid_condition_rows`).

    Parameters
    ----------
    rows
        As in `list_unjudged_model_sentences`, none of them judged; with `model` where labels name conditions, too.
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
    >>> [phrase_verdict_without_judged_model(part)[0] for part in (rows[:1], rows)]
    ['This model does not answer.', 'No model is known to answer.']
    >>> phrase_verdict_without_judged_model(rows[1:])[0]
    'Whether this model answers cannot be told: between 30 % and 90 % of the probability is on the options.'
    """
    models = select_most_valid_condition_rows(rows, "model" if "model" in rows else "label")
    is_single = len(models) == 1
    kinds = set(_classify_validity_of_rows(models)) if "validity_at_most" in rows else set()
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
    return verdict, list_unjudged_model_sentences(rows, shortage)


def list_cautions_unless_all_models_unjudged(rows: pd.DataFrame, shortage: str = "") -> tuple[str, ...]:
    """Return `list_unjudged_model_sentences` where some models are judged; else nothing: the verdict says that.

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
    >>> [len(list_cautions_unless_all_models_unjudged(part)) for part in (rows, rows[:1], rows[1:])]
    [1, 0, 0]
    """
    is_unjudged = is_validity_below_half(rows["validity"].astype(float))
    return () if is_unjudged.all() else list_unjudged_model_sentences(rows, shortage)


def list_unjudged_model_sentences(rows: pd.DataFrame, shortage: str = "") -> tuple[str, ...]:
    """Name the models that do not answer, and those of which this cannot be told, with their numbers.

    Parameters
    ----------
    rows
        A row for each label, or several (`select_most_valid_condition_rows`): label; validity; validity_at_most, as in
        `thresholds.judge_validity_of_models`. Without the latter column it is not known which validities are lower
        bounds. Some models may be judged.
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
    >>> for sentence in list_unjudged_model_sentences(rows):
    ...     print(sentence)
    Not judged: a. Less than half of the probability is on the options (or of the texts can be read as one): 10 %.
    Not judged: b (between 30 % and 90 %). Whether half of the probability is on the options cannot be told. Not all \
of the probability was shown, so what is on the options is known between bounds.
    >>> list_unjudged_model_sentences(rows.assign(validity=0.2, validity_at_most=[0.3, 0.4]))[0].rpartition(": ")[2]
    'between 20 % and 30 % with a, the lowest.'
    >>> (sentence,) = list_unjudged_model_sentences(rows[["label", "validity"]][:1])
    >>> "Less than half of the probability is surely on" in sentence
    True
    >>> list_unjudged_model_sentences(rows[:1].assign(validity=0.4999), "Less than half of the responses have a score")
    ('Not judged: a. Less than half of the responses have a score: 49.9 %.',)
    >>> (sentence,) = list_unjudged_model_sentences(rows.assign(label="a", validity_at_most=[0.2, 0.9]))
    >>> sentence.partition("read as one): ")[2]
    'between 10 % and 20 %.'
    """
    best_rows = select_most_valid_condition_rows(rows)
    is_sure, kinds = "validity_at_most" in rows, _classify_validity_of_rows(best_rows)
    invalid, unclear = (best_rows[kinds == kind] for kind in (INVALID, UNCLEAR))
    sentences = []
    if len(invalid):
        lowest = invalid["validity"].astype(float)
        highest = invalid["validity_at_most"].astype(float).fillna(lowest) if is_sure else lowest
        least = invalid.loc[
            pd.DataFrame({"lowest": lowest, "highest": highest}).sort_values(["lowest", "highest"]).index[0]
        ]
        share = _format_validity(least)
        if len(invalid) > 1:
            rank = "the lowest" if highest[least.name] <= highest.min() else "the lowest lower bound"
            share += f" with {least['label']}, {rank}"
        reason = shortage or f"Less than half of the probability is {'' if is_sure else 'surely '}{ON_OPTIONS}"
        sentences.append(
            Caution(
                f"Not judged: {_join_labels_or_count(list(invalid['label']), len(best_rows))}. {reason}: {share}.",
                WRONG,
            )
        )
    if len(unclear):
        names = [f"{row['label']} ({_format_validity(row)})" for _, row in unclear.iterrows()]
        lowest_name = names[int(unclear["validity"].astype(float).argmin())]
        who = _join_labels_or_count(names, len(best_rows), f", such as {lowest_name}")
        sentences.append(
            Caution(
                f"Not judged: {who}. Whether half of the probability is on the options cannot be told. {BOUNDS}", WRONG
            )
        )
    return tuple(sentences)


def _join_labels_or_count(names: list[str], n_rows: int, example: str = "") -> str:
    """Join up to three short names; else say how many they are, with an example: a table has all."""
    joined = join_names(names)
    return joined if len(names) < 3 or len(joined) <= SHORT else f"{len(names):,} of {n_rows:,} rows{example}"


def _format_validity(row: pd.Series) -> str:
    """Write a validity, or its two bounds where these differ in what is printed."""
    low, high = row["validity"], row.get("validity_at_most", float("nan"))
    low_text = _format_share(low)
    high_text = low_text if pd.isna(high) else _format_share(high)
    return low_text if low_text == high_text else f"between {low_text} and {high_text}"


def _format_share(share: float) -> str:
    """Write a share in per cent; one that is just below one half not as 50 %, as that is judged."""
    text = format_percent(share)
    return f"{math.floor(1000 * share) / 10:.1f} %" if text == "50 %" and is_validity_below_half(share) else text
