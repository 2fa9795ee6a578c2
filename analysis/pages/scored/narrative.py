"""Write the sentences of the page from its tables: whether the score depends on the wording, and what weakens that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from analysis.measures.thresholds import is_validity_below_half
from analysis.pages.scored.columns import format_threshold
from analysis.reporting.catalogue import look_up_column
from analysis.reporting.catalogue.columns import format_value_by_column
from analysis.reporting.words import (
    Answer,
    chance,
    format_count_range,
    format_percent,
    format_quantity,
    join_names,
    labels,
    list_few_items_cautions,
    phrase_count_of_model_condition_pairs,
    verdicts,
)
from analysis.reporting.words.counts import phrase_models_with_verb
from analysis.reporting.words.doubts import LEFT_OUT, READING, WRONG, Caution
from analysis.reporting.words.validity import phrase_verdict_without_judged_model
from analysis.reporting.words.verdicts import Band

Frames = Mapping[str, pd.DataFrame]
TABLES = ("scored_means", "scored_spread", "scored_wordings")
FEW = 0.1  # share of items below which scores hardly depend on the wording
BANDS = (Band("hardly", 0.0, FEW), Band("yes", FEW, 1.0))
FEW_SCORES = "Less than half of the responses have a score"
WORD_MEANINGS = (
    f"“Yes” means that more than {format_percent(FEW)} of the items pass the threshold in some wordings only: the "
    "whole 95 % interval of this share lies above. “Hardly” means that it lies below.",
    "Of several models, it is widened for their number (Holm).",
)


def answer_page_question(
    frames: Frames, when: str = "", beyond: str = "", by_chance: pd.DataFrame = chance.NO_CHANCE
) -> Answer:
    """Say whether the score depends on the wording, by the rules of `verdicts` and `WORD_MEANINGS`.

    Parameters
    ----------
    frames
        The tables named in `TABLES`.
    when
        From `words.phrase_run_dates`.
    beyond
        What of the differences between models is more than rewording.
    by_chance
        Whose scores chance alone may have changed (`words.chance.tabulate_units_with_chance_changes`).

    Returns
    -------
    Answer
        What the page says in words.
    """
    means = _select_rows_of_headline_measure(frames["scored_means"])
    spread = _select_rows_of_headline_measure(frames["scored_spread"])
    setup = _describe_scored_models_and_items(frames["scored_means"], means, when)
    changeable = spread[(spread["n_items"] > 0) & ~is_validity_below_half(spread["validity"])]
    cautions = (
        *chance.iterate_chance_change_cautions(changeable, by_chance), *_list_cautions(frames, means, spread)
    )  # fmt: skip
    if is_validity_below_half(means["validity"]).all():
        verdict, why = phrase_verdict_without_judged_model(means.assign(validity_at_most=float("nan")), FEW_SCORES)
        return Answer(setup, verdict, cautions=(*why, *cautions))
    judged = spread[~is_validity_below_half(spread["validity"]) & spread["passed_some"].notna()]
    details = {
        "scored_means": (*WORD_MEANINGS, *_describe_extreme_means(means)),
        "scored_passes": tuple(_describe_extreme_spreads_over_wordings(judged)),
        "scored_differences": (beyond,) if beyond else (),
        "scored_wordings": tuple(_describe_largest_shared_wording_gap(frames["scored_wordings"], means)),
    }
    return Answer(
        setup, _describe_model_counts_by_verdict_word(judged, len(means), by_chance), cautions=cautions,
        details={name: sentences for name, sentences in details.items() if sentences},
        explanation=_explain_when_score_passes(judged, means),
    )  # fmt: skip


def _select_rows_of_headline_measure(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows by the measure that sentences are about, with a `label` each."""
    rows = table[table["headline"].astype(bool)]
    return rows.assign(label=labels.build_row_labels(rows))


def _describe_scored_models_and_items(all_means: pd.DataFrame, means: pd.DataFrame, when: str) -> str:
    """Say how many models got which scores on how many items; a measure of other models or items is not named."""
    units_by_measure = {
        name: set(rows[["study", "model", "n_items"]].itertuples(index=False, name=None))
        for name, rows in all_means.groupby("measure", sort=False)
    }
    headline_units = [units_by_measure[name] for name in means["measure"].unique()]
    measures = [name for name, units in units_by_measure.items() if units in headline_units]
    n_items = int(means.groupby("study")["n_items"].max().sum())
    scores = join_names([labels.shorten_middle(name, 24) for name in measures], 2)
    return f"{phrase_models_with_verb(means)} scored by {scores} on {format_quantity(n_items, 'item')}{when}."


def _explain_when_score_passes(judged: pd.DataFrame, means: pd.DataFrame) -> str:
    """Say when a score passes; of several thresholds or directions, that the figures say it."""
    if judged.empty:
        return ""
    directions = means[["study", "measure", "direction"]].drop_duplicates()
    rules = judged[["study", "measure", "threshold"]].merge(directions).drop(columns="study").drop_duplicates()
    if len(rules) > 1:
        return "The threshold, from which on a score passes, stands below each figure."
    rule = rules.iloc[0]
    side = "less" if rule["direction"] == "lower" else "more"
    measure = labels.shorten_middle(rule["measure"], 24)
    return f"A score passes the threshold where {measure} is {format_threshold(rule['threshold'])} or {side}."


def _describe_model_counts_by_verdict_word(judged: pd.DataFrame, n_asked: int, by_chance: pd.DataFrame) -> str:
    """Count the models by their words; where all have the same, say the shares behind it."""
    if judged.empty:
        return f"{verdicts.UNCLEAR}: no item has a score in two wordings."
    judged_words = verdicts.choose_verdict_words_for_model_shares(judged, "passed_some", BANDS)
    passed_words = chance.blank_words_possibly_due_to_chance(judged_words, judged, by_chance, "yes")
    if passed_words != judged_words and not any(passed_words):
        return chance.explain_withheld_verdict(by_chance)
    if not any(passed_words):
        return (
            f"{verdicts.UNCLEAR}: no interval of the share of items that pass in some wordings only lies on one side "
            f"of {format_percent(FEW)}."
        )
    tally = verdicts.describe_verdict_word_counts(passed_words, phrase_count_of_model_condition_pairs(judged))
    if len(set(passed_words)) > 1:
        return tally
    shares = " to ".join(
        dict.fromkeys((format_percent(judged["passed_some"].min()), format_percent(judged["passed_some"].max())))
    )
    with_model = f" with {judged['label'].iloc[0]}" if len(judged) == 1 < n_asked else ""
    return f"{tally} Of the items{with_model}, {shares} pass the threshold in some wordings only."


def _describe_extreme_means(means: pd.DataFrame) -> Iterator[str]:
    """Name the highest and the lowest mean, where two models that answer differ."""
    answering = means[~is_validity_below_half(means["validity"]) & means["mean"].notna()]
    for _, part in answering.groupby(["study", "measure"], sort=False):
        low, high = part.loc[part["mean"].idxmin()], part.loc[part["mean"].idxmax()]
        lowest, highest = (_format_table_cell(row, "scored_means", "mean") for row in (low, high))
        if lowest != highest:
            yield (
                f"The mean {labels.shorten_middle(low['measure'], 24)} goes from {lowest} ({low['label']}) to "
                f"{highest} ({high['label']}); the table of differences says which hold."
            )


def _format_table_cell(row: pd.Series, table: str, column: str) -> str:
    """Write a number with the digits of its column."""
    return format_value_by_column(row[column], look_up_column(table, column))


def _describe_extreme_spreads_over_wordings(judged: pd.DataFrame) -> Iterator[str]:
    """Say how far wordings of an item are apart, for the models with the least and the largest SD."""
    for (study, _), part in judged.groupby(["study", "measure"], sort=False):
        low, high = part.loc[part["sd"].idxmin()], part.loc[part["sd"].idxmax()]
        measure = labels.shorten_middle(low["measure"], 24)
        lowest, highest = (_format_table_cell(row, "scored_spread", "sd") for row in (low, high))
        if lowest == highest:
            study_text = f" of “{study}”" if judged["study"].nunique() > 1 else ""
            yield f"The {measure} of an item{study_text} has an SD of {lowest} over its wordings, on average."
        else:
            yield (
                f"The SD of the {measure} of an item over its wordings is between {lowest} ({low['label']}) and "
                f"{highest} ({high['label']}), on average."
            )


def _describe_largest_shared_wording_gap(table: pd.DataFrame, means: pd.DataFrame) -> Iterator[str]:
    """Say how far the best and the worst shared wording are apart, for the model where it is most."""
    if table.empty:
        return
    judged = means[~is_validity_below_half(means["validity"])]
    rows = table.merge(judged[[*labels.UNIT, "measure", "label"]], on=[*labels.UNIT, "measure"]).dropna(subset="mean")
    for _, part in rows.groupby(["study", "measure"], sort=False):
        ranges = part.groupby("label", sort=False)["mean"].agg(lambda column: column.max() - column.min())
        if ranges.max() == 0:
            continue
        own = part[part["label"] == ranges.idxmax()]
        best, worst = own.iloc[0], own.iloc[-1]
        yield (
            f"Most between wordings that all items share: {labels.shorten_middle(str(best['wording']), 30)} has a mean "
            f"of {_format_table_cell(best, 'scored_wordings', 'mean')}"
            f", {labels.shorten_middle(str(worst['wording']), 30)} "
            f"of {_format_table_cell(worst, 'scored_wordings', 'mean')} ({best['label']})."
        )


def _list_cautions(frames: Frames, means: pd.DataFrame, spread: pd.DataFrame) -> Iterator[str]:
    """Yield what weakens the answer."""
    silent = means[is_validity_below_half(means["validity"])]
    if len(silent) and len(silent) < len(means):
        yield Caution(f"{FEW_SCORES}: {join_names(list(silent['label']))}. Nothing is said of them.", WRONG)
    yield from list_few_items_cautions(
        means.set_index("label")["n_items"], consequence="intervals may be too narrow where scores are skewed"
    )
    bare = means[means["mean"].notna() & means["mean_lower"].isna() & (means["n_items"] > 1)]
    if len(bare):
        yield Caution(
            "No interval of the mean where fewer than six items differ from the others: "
            f"{join_names(list(bare['label']))}.",
            LEFT_OUT,
        )
    single = spread[(spread["n_items"] == 0) & (spread["wordings_most"] > 0)]
    if len(single):
        yield Caution(
            "One wording of each item only: nothing is said of other wordings for "
            f"{join_names(list(single['label']))}.",
            LEFT_OUT,
        )
    several = spread[spread["n_items"] > 0]
    if len(several) and several["wordings_most"].max() > several["wordings_least"].min():
        sizes = format_count_range(several[["wordings_least", "wordings_most"]].stack())
        yield Caution(f"Items have {sizes} wordings; with more of them, more items pass in some wordings only.", WRONG)
    for measure in means.loc[means["range"] == "", "measure"].unique():
        yield Caution(
            f"{labels.shorten_middle(measure, 24)} has no bounds: its threshold is a quantile of all scores, and says "
            "nothing of what is good.",
            READING,
        )
    others = frames["scored_means"]["measure"].unique()
    if len(others) > means["measure"].nunique():
        names = [labels.shorten_middle(name, 24) for name in means["measure"].unique()]
        which = "first measure" if len(names) == 1 else "first measures of their studies"
        all_measures = "both" if len(others) == 2 else f"all {len(others)}"
        yield Caution(
            f"The sentences are about {join_names(names)}, the {which}; figures and tables have {all_measures}.",
            LEFT_OUT,
        )
