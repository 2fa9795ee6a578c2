"""Write the sentences of the page from its tables: whether answers changed over time, and what weakens that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from analysis.compare.pairs import VALIDITY
from analysis.measures.thresholds import is_validity_below_half
from analysis.pages.drift.columns import CANNOT_TELL, CHANGED, NOT_FOUND, SERIES
from analysis.pages.drift.wordings import MIXED, SAME
from analysis.reporting.catalogue import look_up_column
from analysis.reporting.catalogue.columns import format_value_by_column
from analysis.reporting.words import (
    Answer,
    format_count_range,
    format_quantity,
    join_names,
    labels,
    list_few_items_cautions,
    phrase_count_of_model_condition_pairs,
    verdicts,
)
from analysis.reporting.words.doubts import LEFT_OUT, READING, WIDE, WRONG, Caution
from analysis.reporting.words.validity import (
    FEW_ANSWERS,
    list_cautions_unless_all_models_unjudged,
    phrase_verdict_without_judged_model,
)
from ground.capitals import uncapitalise_sentence

Frames = Mapping[str, pd.DataFrame]
TABLES = ("drift_changes", "drift_measures", "drift_looks")
LESS_VALID = 0.05  # that validity is lower at one look than at another, from which on a caution says so
MOST_SENTENCES = 4
WORD_MEANINGS = (
    "“Changed” means that the test over all looks finds a change: p is below .05, corrected for all planned looks and "
    "after Holm over all models and measures.",
    "“No change found” is no proof that there is none.",
)


def answer_page_question(frames: Frames, when: str = "") -> Answer:
    """Say whether the answers changed, by the rule of `WORD_MEANINGS`.

    Parameters
    ----------
    frames
        The tables named in `TABLES`.
    when
        From `words.phrase_run_dates`, of all looks.

    Returns
    -------
    Answer
        What the page says in words.
    """
    changes = frames["drift_changes"]
    if changes.empty:
        return Answer("No model was asked at two times.", f"{verdicts.UNCLEAR}.")
    changes = changes.assign(
        label=labels.build_row_labels(changes), silent=is_validity_below_half(changes["validity_least"])
    )
    headline = changes[changes["headline"].astype(bool)]
    asked = frames["drift_looks"].merge(headline[labels.UNIT].drop_duplicates())  # `n_items` of changes were answered
    setup = (
        f"{phrase_count_of_model_condition_pairs(headline)} {'was' if len(headline) == 1 else 'were'} asked about "
        f"{format_count_range(asked['n_items'], 'item')} at {format_count_range(headline['n_looks'], 'time')}, "
        f"called looks{when}."
    )
    cautions = tuple(_list_cautions(changes, headline, frames["drift_looks"]))
    if headline["silent"].all():
        verdict, why = phrase_verdict_without_judged_model(_rename_least_validity_to_validity(headline), FEW_ANSWERS)
        return Answer(setup, f"At some look, {uncapitalise_sentence(verdict)}", cautions=(*why, *cautions))
    spoken = changes[~changes["silent"] | (changes["measure"] == VALIDITY)]  # a fall of validity may be the silence
    sentences = tuple(_describe_clearest_changes(spoken, frames["drift_measures"]))
    details = {"drift_series": sentences, "drift_changes": WORD_MEANINGS}
    return Answer(
        setup, _describe_counts_of_drift_verdicts(headline, frames["drift_measures"]), cautions=cautions,
        details={name: sentences for name, sentences in details.items() if sentences},
    )  # fmt: skip


def _rename_least_validity_to_validity(changes: pd.DataFrame) -> pd.DataFrame:
    """Call the lowest validity of all looks and its upper bound as the rule on validity does."""
    return changes.assign(validity=changes["validity_least"], validity_at_most=changes["validity_least_at_most"])


def _describe_counts_of_drift_verdicts(headline: pd.DataFrame, measures: pd.DataFrame) -> str:
    """Count the models by what was found; of a single one that changed, say by how much and since when."""
    words = [
        "" if silent or word == CANNOT_TELL else word
        for silent, word in zip(headline["silent"], headline["found"], strict=True)
    ]
    if len(headline) > 1 or words != [CHANGED]:
        return verdicts.describe_verdict_word_counts(words, phrase_count_of_model_condition_pairs(headline))
    row = headline.iloc[0]
    where = "at" if row["likely_first"] == row["likely_last"] else "around"
    return (
        f"Changed: {labels.shorten_middle(row['measure'], 24)} went from {_format_mean(row['before'])} to "
        f"{_format_mean(row['after'])}, {where} look {_find_number_of_first_changed_time(row, measures)}."
    )


def _find_number_of_first_changed_time(change: Mapping[str, Any] | pd.Series, measures: pd.DataFrame) -> int:
    """Find the number of the look that a change begins with, as the figure counts them."""
    is_look = (measures[["time", *SERIES]] == [change["changed_time"], *(change[name] for name in SERIES)]).all(axis=1)
    return int(measures.loc[is_look, "look"].iloc[0])


def _format_mean(mean: float) -> str:
    """Write a mean with the digits of its column."""
    return format_value_by_column(mean, look_up_column("drift_changes", "before"))


def _describe_clearest_changes(rows: pd.DataFrame, measures: pd.DataFrame) -> Iterator[str]:
    """Say of the clearest changes how large they are, and since when; nothing where none was found."""
    changed_rows = rows[rows["found"] == CHANGED].sort_values("p_holm", kind="stable")
    names = _shorten_labels(rows)
    for row in changed_rows.head(MOST_SENTENCES).to_dict("records"):
        since = f"since look {_find_number_of_first_changed_time(row, measures)} ({row['changed_time']})"
        if row["likely_first"] != row["likely_last"]:
            since += f", or another look from {row['likely_first']} to {row['likely_last']}"
        yield (
            f"{names[row['label']]}: {labels.shorten_middle(row['measure'], 24)} is "
            f"{_format_difference_with_interval(row)}, {since}."
        )
    if len(changed_rows) > MOST_SENTENCES:
        yield f"The table has {format_quantity(len(changed_rows) - MOST_SENTENCES, 'more change', 'more changes')}."


def _shorten_labels(rows: pd.DataFrame) -> dict[str, str]:
    """Return label -> what sentences call it: short, but different labels stay different."""
    names = list(rows["label"].unique())
    return dict(zip(names, labels.shorten_but_keep_distinct(names, 30), strict=True))


def _format_difference_with_interval(row: Mapping[str, object]) -> str:
    """Write a difference with its direction, and its interval for wordings like these, else for these."""
    column = look_up_column("drift_changes", "difference")
    difference = float(str(row["difference"]))
    like = row["like_lower"] == row["like_lower"]
    ends = ("like_lower", "like_upper") if like else ("lower", "upper")
    size = f"{format_value_by_column(abs(difference), column)} {'higher' if difference > 0 else 'lower'}"
    if row[ends[0]] != row[ends[0]]:
        return size
    low, high = (format_value_by_column(row[end], column) for end in ends)
    return f"{size} (difference {low} to {high}, for {'wordings like these' if like else 'these wordings'})"


def describe_differing_validity(looks: pd.DataFrame) -> Iterator[str]:
    """Say of which models the validity of two looks surely differs, by more than `LESS_VALID`.

    Parameters
    ----------
    looks
        Table `drift_looks` with `label`. Of bounds, the highest lower one is held against the lowest upper one.

    Yields
    ------
    str
        A sentence per model and condition.

    >>> looks = pd.DataFrame({"label": "m", "validity": [0.2, 0.6], "validity_at_most": [0.3, float("nan")]})
    >>> [sentence.partition(":")[0] for sentence in describe_differing_validity(looks)]
    ['The validity of m lies between at most 0.30 at one look and at least 0.60 at another']
    >>> list(describe_differing_validity(looks.assign(validity_at_most=[0.9, 0.9])))
    []
    """
    names = _shorten_labels(looks)
    is_bounded = looks["validity_at_most"].notna()
    bounds = looks.assign(upper=looks["validity_at_most"].fillna(looks["validity"]), bounded=is_bounded)
    by_label = bounds.groupby("label", sort=False).agg(
        least=("upper", "min"), most=("validity", "max"), bounded=("bounded", "any")
    )
    for label, row in by_label[by_label["most"] - by_label["least"] > LESS_VALID].iterrows():
        low, high = f"{row['least']:.2f}", f"{row['most']:.2f}"
        ends = f"at most {low} at one look and at least {high} at another" if row["bounded"] else f"{low} and {high}"
        yield Caution(
            f"The validity of {names[str(label)]} lies between {ends}: only valid answers count, "
            "and at some looks they may be of easier items.",
            WRONG,
        )


def _list_cautions(changes: pd.DataFrame, headline: pd.DataFrame, looks: pd.DataFrame) -> Iterator[str]:
    """Yield what weakens the answer."""
    untested = int(changes["n_untested"].max())
    if untested:
        yield Caution(
            f"The last {format_quantity(untested, 'look')} of some model {'is' if untested == 1 else 'are'} not "
            "tested: the level is spent on the looks before (-p looks=N). Begin anew with a later first look.",
            LEFT_OUT,
        )
    looks = looks.assign(label=labels.build_row_labels(looks))
    short_names = _shorten_labels(looks)
    looks_by_change = looks[looks["changed_settings"] != ""].groupby(["look", "time", "changed_settings"], sort=False)
    for (look, time, settings), part in list(looks_by_change)[:MOST_SENTENCES]:
        models_text = join_names([short_names[label] for label in part["label"]])
        yield Caution(
            f"{models_text}: other settings since look {look} ({time}): {labels.shorten_middle(settings, 60)}. A "
            "change there may come from these.",
            WRONG,
        )
    if looks_by_change.ngroups > MOST_SENTENCES:
        yield Caution("The table of looks has more changes of settings.", WRONG)
    by_label = headline.drop_duplicates("label").set_index("label")
    for wordings, sentence in (
        (MIXED, "Some looks have the same wordings, others fresh ones: there is no test. "
         "Ask in the same ones each time, or in fresh ones: {}."),
        (SAME, "The wordings are the same each time: a change is one of answers to these: {}."),
    ):  # fmt: skip
        names = list(by_label.index[by_label["wordings"] == wordings])
        if names:
            yield Caution(sentence.format(join_names(names)), LEFT_OUT if wordings == MIXED else READING)
    yield from list_cautions_unless_all_models_unjudged(_rename_least_validity_to_validity(headline), FEW_ANSWERS)
    yield from describe_differing_validity(looks)
    left_out = looks[looks["n_left_out"] > 0].drop_duplicates("label").set_index("label")["n_left_out"]
    if len(left_out):
        of_models = "" if len(left_out) == looks["label"].nunique() else f" of {join_names(list(left_out.index))}"
        yield Caution(
            f"{format_count_range(left_out, 'item')} of the last look{of_models} "
            f"{'is' if left_out.max() == 1 else 'are'} left out: other looks do not have them, or with another text or "
            "right answer.",
            LEFT_OUT,
        )
    untestable = by_label[(by_label["found"] == CANNOT_TELL) & by_label["p_holm"].notna()]
    if len(untestable):
        yield Caution(
            "Even a change of all answers could not be found with so few items or shared wordings: "
            f"{join_names(list(untestable.index))}. Ask more, or plan fewer looks from the start (-p looks=N).",
            WIDE,
        )
    yield from list_few_items_cautions(
        by_label["n_items"].drop(untestable.index), consequence="only large changes are found"
    )
    if (headline["found"] == NOT_FOUND).any():
        yield Caution(WORD_MEANINGS[1], READING)
