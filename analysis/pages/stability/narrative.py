"""Write the sentences of the page on stability: what was asked, the answer on top, and what belongs to which figure.

Every number comes from a table of the report; only counts, smallest and largest values of its rows are found here.
"""

from __future__ import annotations

import pandas as pd

from analysis.measures.thresholds import is_validity_below_half
from analysis.pages.stability import wordings
from analysis.pages.stability.cautions import describe_agreement_bounds_from_unread_answers, list_cautions
from analysis.pages.stability.columns import parse_flip_threshold_percent
from analysis.pages.stability.measures import choose_headline_flip_column
from analysis.reporting import words
from analysis.reporting.catalogue import look_up_column
from analysis.reporting.catalogue.columns import format_value_by_column
from analysis.reporting.catalogue.selection import AnswerPair, quote_answer
from analysis.reporting.words import (
    Answer,
    chance,
    explain_no_interval,
    format_count_range,
    format_percent,
    format_quantity,
    join_names,
    labels,
    phrase_count_of_model_condition_pairs,
    verdicts,
)
from analysis.reporting.words.counts import phrase_models_with_verb
from analysis.reporting.words.validity import phrase_verdict_without_judged_model
from analysis.reporting.words.verdicts import Band
from analysis.statistics.multiplicity import ALPHA, has_possibly_significant_test

TABLES = ("stability", "items", "differences", "excluded", "invalid", "alike", "flip_conventions")
FEW = 0.1  # share of items below which answers hardly change
BANDS = (Band("hardly", 0.0, FEW), Band("yes", FEW, 1.0))
WORD_MEANINGS = (
    f"“Yes” means that the whole 95 % interval of the share of items that flip lies above {format_percent(FEW)}, "
    "“hardly” that it lies below. Of several models, it is widened for their number (Holm)."
)
NOTHING = f"{verdicts.UNCLEAR}: no item has two usable answers to its paraphrases."
JUDGED_ANSWERS = ("right", "wrong")  # the answers of logs that hold no more than that
LEAD = "95 % interval "  # before every interval but that of the verdict


def answer_page_question(
    stability: pd.DataFrame,
    items: pd.DataFrame,
    differences: pd.DataFrame,
    excluded: pd.DataFrame,
    invalid: pd.DataFrame,
    alike: pd.DataFrame,
    flip_conventions: pd.DataFrame,
    choice: AnswerPair,
    when: str = "",
    pairs: pd.DataFrame | None = None,
    beyond: str = "",
    by_chance: pd.DataFrame = chance.NO_CHANCE,
    shared: bool = False,
    convention: str = "dropped",
) -> Answer:
    """Say whether the answer changes with the wording, by the rules of `verdicts`.

    Parameters
    ----------
    stability, items, differences, excluded, invalid, alike, flip_conventions
        The tables of these names; the first with both orders of the options as one row where they are one.
    choice
        The two answers.
    when
        From `words.phrase_run_dates`.
    pairs
        The differences between rows of `stability` (`one_row.pool_differences_over_option_orders`); the whole table
        unless given.
    beyond
        What of the differences between models is more than rewording
        (`reporting.words.beyond.describe_differences_beyond_rewording`).
    by_chance
        Whose answers chance alone may have changed (`reporting.words.chance.tabulate_units_with_chance_changes`).
    shared
        Whether items share their wordings (`reporting.words.beyond.has_study_with_wordings_shared_by_items`).
    convention
        How invalid answers are treated in flips: "dropped", or "inconsistent", as not with the majority.

    Returns
    -------
    Answer
        What the page says in words.
    """
    flip = choose_headline_flip_column(stability)
    labelled_rows = stability.assign(label=labels.build_row_labels(stability))
    measured_rows = labelled_rows.dropna(subset=[flip, "range_mean"])
    answering = measured_rows[~is_validity_below_half(measured_rows["validity"])]
    setup_sentence = _describe_model_item_and_wording_counts(stability, items, choice, when)
    doubts = (
        *chance.iterate_chance_change_cautions(answering, by_chance),
        *list_cautions(stability, items, excluded, invalid, alike, flip_conventions, choice, convention),
    )
    if is_validity_below_half(labelled_rows["validity"]).all():
        verdict, why = phrase_verdict_without_judged_model(labelled_rows)
        return Answer(setup_sentence, verdict, cautions=(*why, *doubts))
    if answering.empty:
        return Answer(setup_sentence, NOTHING, cautions=doubts)
    details = {
        "overview": (
            WORD_MEANINGS,
            *_describe_flips_of_extreme_models(answering, flip),
            *_describe_wording_range_of_extreme_models(answering, choice, len(labelled_rows)),
        ),
        "differences": (
            *_describe_model_pairs_differing_in_flips(
                differences, differences if pairs is None else pairs, answering, flip, shared
            ),
            *([beyond] if beyond else []),
        ),
    }
    return Answer(
        setup_sentence,
        _describe_counts_of_stability_verdicts(
            answering, flip, by_chance, measured_rows=measured_rows, n_asked=len(labelled_rows)
        ),
        cautions=doubts,
        details=details,
    )


def describe_text_probability_mismatches(texts: pd.DataFrame, choice: AnswerPair) -> str:
    """Say whether models write what their probabilities say.

    Parameters
    ----------
    texts
        Table `answers`, with a `label` per row.
    choice
        The two answers.

    Returns
    -------
    str
        The sentences.
    """
    valid_texts = texts.dropna(subset=["token_mismatch"])
    if valid_texts.empty:
        return f"None of the {format_quantity(int(texts['n_answers'].sum()), 'text')} could be read as an answer."
    token_span = _format_share_span_with_labels(valid_texts, "token_mismatch")
    option_span = _format_share_span_with_labels(valid_texts, "option_mismatch")
    return (
        f"Of the texts that choose an option, {token_span} choose another one than the most probable first token "
        f"begins. {option_span} of them choose another one than the likeliest option. "
        f"{_format_share_span_with_labels(texts, 'text_invalid')} of all texts choose none."
        + "".join(f" {sentence}" for sentence in describe_agreement_bounds_from_unread_answers(texts, choice))
    )


def describe_models_unmoved_by_two_wordings(wording_pair_rows: pd.DataFrame) -> str:
    """Name the models that give the same answer to the two wordings furthest apart: rows of `divergent` with a
    `label`."""
    if wording_pair_rows.empty:
        return ""
    return (
        "The two wordings of an item that are furthest apart get the same answer from "
        f"{join_names(list(wording_pair_rows['label']))}."
    )


def _format_share_span_with_labels(frame: pd.DataFrame, column: str) -> str:
    """Write the smallest and the largest share with their rows: "2 % (a) to 31 % (b)"."""
    low, high = frame.loc[frame[column].idxmin()], frame.loc[frame[column].idxmax()]
    if low[column] == high[column]:
        return format_percent(low[column])
    return f"{format_percent(low[column])} ({low['label']}) to {format_percent(high[column])} ({high['label']})"


def _describe_model_item_and_wording_counts(
    stability: pd.DataFrame, items: pd.DataFrame, choice: AnswerPair, when: str
) -> str:
    """Say how many models were asked about which items, in how many wordings and conditions."""
    who = phrase_models_with_verb(stability)
    is_one = stability["model"].nunique() == 1
    task = f"asked whether {'it agrees' if is_one else 'they agree'} with"
    if not choice.is_agree_disagree:
        task = f"asked to choose between {quote_answer(choice.first)} and {quote_answer(choice.second)} on"
    if (choice.first, choice.second) == JUDGED_ANSWERS:
        task = "judged right or wrong on"
    sizes = wordings.count_wordings_by_item(items)
    names = list(stability["study"].unique())
    studies = f" of “{names[0]}”" if len(names) == 1 else f" ({format_quantity(len(names), 'study', 'studies')})"
    each = "each " if len(sizes) > 1 else ""
    wordings_text = f", {each}in {format_count_range(sizes, 'wording')}" if len(sizes) else ""  # none: no response
    return f"{who} {task} {format_quantity(len(sizes), 'item')}{studies}{wordings_text}{when}."


def _describe_counts_of_stability_verdicts(
    answering: pd.DataFrame, flip_column: str, by_chance: pd.DataFrame, measured_rows: pd.DataFrame, n_asked: int
) -> str:
    """Say how often "yes" and "hardly" hold for the whole interval; of one model, its share, too."""
    judged_words = verdicts.choose_verdict_words_for_model_shares(answering, flip_column, BANDS)
    flip_words = chance.blank_words_possibly_due_to_chance(judged_words, answering, by_chance, "yes")
    if flip_words != judged_words and not any(flip_words):
        return chance.explain_withheld_verdict(by_chance)
    tally_sentence = verdicts.describe_verdict_word_counts(
        flip_words,
        phrase_count_of_model_condition_pairs(answering)
        + ("" if len(measured_rows) == len(answering) else " that answer"),
    )
    if len(answering) > 1:
        if answering[f"{flip_column}_lower"].isna().any() and not any(flip_words):
            return f"{verdicts.UNCLEAR}: some share of items that flip has no interval."
        interval_text_of_all = (
            f": each interval of the share of items that flip, widened for their number, holds {format_percent(FEW)}"
        )
        return tally_sentence if any(flip_words) else f"{verdicts.UNCLEAR}{interval_text_of_all}."
    row = answering.iloc[0]
    interval_text = _bracket_unless_empty(_format_measure_interval(row, flip_column, "interval "))
    of_model = f"with {row['label']}, " if n_asked > 1 else ""
    return (
        f"{tally_sentence[:-1]}: {of_model}the answer flips on {format_percent(row[flip_column])} of the "
        f"items{interval_text}."
    )


def _format_measure_interval(row: pd.Series, measure: str, lead: str = LEAD) -> str:
    """Write the 95 % interval of a measure, or why there is none."""
    low, high = row[f"{measure}_lower"], row[f"{measure}_upper"]
    if pd.isna(low):
        return explain_no_interval(row, measure)
    if parse_flip_threshold_percent(measure) is not None:
        return f"{lead}{format_percent(low).removesuffix(' %')} to {format_percent(high)}"
    column = look_up_column("stability", measure)
    return f"{lead}{format_value_by_column(low, column)} to {format_value_by_column(high, column)}"


def _bracket_unless_empty(text: str) -> str:
    """Put a text into brackets behind a blank; an empty one stays empty."""
    return f" ({text})" if text else ""


def _find_lowest_and_highest_rows(model_rows: pd.DataFrame, measure: str) -> tuple[pd.Series, pd.Series]:
    """Return the rows with the lowest and the highest value of a measure."""
    ordered = model_rows.sort_values([measure, "label"], kind="stable")
    return ordered.iloc[0], ordered.iloc[-1]


def _describe_flips_of_extreme_models(model_rows: pd.DataFrame, flip_column: str) -> list[str]:
    """Say what a flip is, and on how many items the answer flips with the most and the least stable model."""
    limit = f"more than {parse_flip_threshold_percent(flip_column):g} %"
    means = (
        f"An item flips when {limit} of its paraphrases do not get the answer that most of them get; the original is "
        "not counted."
    )
    low, high = _find_lowest_and_highest_rows(model_rows, flip_column)
    if len(model_rows) == 1:
        return [means]
    if high[flip_column] == 0:
        top = model_rows[f"{flip_column}_upper"].max()
        interval_text = "" if pd.isna(top) else f" (95 % intervals reach up to {format_percent(top)})"
        return [means, f"No item flips with any model that answers{interval_text}."]
    if low[flip_column] == high[flip_column]:
        units = f"each of {phrase_count_of_model_condition_pairs(model_rows)} that answer"
        return [means, f"The answer flips on {format_percent(low[flip_column])} of the items with {units}."]
    return [
        means,
        f"The answer flips on {format_percent(low[flip_column])} of the items with "
        f"{low['label']}{_bracket_unless_empty(_format_measure_interval(low, flip_column))}.",
        f"It flips on {format_percent(high[flip_column])} with "
        f"{high['label']}{_bracket_unless_empty(_format_measure_interval(high, flip_column))}.",
    ]


def _describe_wording_range_of_extreme_models(model_rows: pd.DataFrame, choice: AnswerPair, n_asked: int) -> list[str]:
    """Say how far the two wordings of an item that differ most are apart, with the two ends of the models."""
    name = "range_mean"
    rows = _find_lowest_and_highest_rows(model_rows, name)[: 1 if len(model_rows) == 1 else 2]
    first, *last = (
        f"{format_value_by_column(row[name], look_up_column('stability', name))} "
        f"apart{f' with {row.label}' if n_asked > 1 else ''}"
        f"{_bracket_unless_empty(_format_measure_interval(row, name))}"
        for row in rows
    )
    return [
        f"The two wordings of an item that differ most are on average {first}.",
        *(f"They are {text}." for text in last),
        f"These are distances in {choice.measure_phrase_with_article}, which lies between 0 and 1.",
    ]


def _select_differences_among_units(differences: pd.DataFrame, chosen_rows: pd.DataFrame) -> pd.DataFrame:
    """Choose the differences of which both sides are among some models and conditions."""
    chosen_units = pd.MultiIndex.from_frame(chosen_rows[labels.UNIT])
    sides = (["study", f"{side}_model", f"{side}_condition"] for side in "ab")
    side_masks = [pd.MultiIndex.from_frame(differences[names]).isin(chosen_units) for names in sides]
    return differences[side_masks[0] & side_masks[1]]


def _describe_model_pairs_differing_in_flips(
    differences: pd.DataFrame,
    page_pairs: pd.DataFrame,
    answering: pd.DataFrame,
    flip_column: str,
    items_share_wordings: bool,
) -> list[str]:
    """Count the pairs of models that differ in flips, after Holm over all pairs of the table `differences`.

    A wording that all items share moves the flips of all at once. A test over items cannot know that, so what it finds
    is said of these wordings only.
    """
    tested_pairs, shown_pairs = (
        rows[(rows["measure"] == flip_column) & rows["p_holm"].notna()] for rows in (differences, page_pairs)
    )
    pairs = _select_differences_among_units(shown_pairs, answering)
    if pairs.empty:
        return []
    families = [family for _, family in tested_pairs.groupby("study")]
    if not has_possibly_significant_test(*families):
        return [words.explain_no_detectable_difference(*families)]
    different = int(verdicts.mark_clear_effects(pairs["p_holm"]).sum())
    wordings_text = " in these wordings" if items_share_wordings else ""
    limit = (
        ["All items share these wordings: whether flips would differ in others is not tested."]
        if items_share_wordings
        else []
    )
    if len(pairs) == 1:
        how_clearly = "clearly" if different else "by no more than chance over items explains"
        # Pairs with a model that is not judged, or with other orders of the options, are tested, too.
        is_corrected = (tested_pairs["study"] == pairs["study"].iloc[0]).sum() > 1
        correction = ", after Holm" if is_corrected else ""
        names = answering.set_index(labels.UNIT)["label"]
        sides = [names[tuple(pairs[["study", f"{side}_model", f"{side}_condition"]].iloc[0])] for side in "ab"]
        shares = "Their shares of flips" if len(answering) == 2 else f"Flips of {join_names(sides)}"
        return [
            f"{shares}{wordings_text} differ {how_clearly} (exact sign test over items at {ALPHA:g}{correction}).",
            *limit,
        ]
    return [
        f"Of {format_quantity(len(pairs), 'pair')} compared, {format_quantity(different, 'differs', 'differ')} in "
        f"flips{wordings_text} (exact sign test over items at {ALPHA:g}, corrected after Holm over all pairs).",
        *limit,
    ]


def describe_counts_of_excluded_items_and_answers(
    excluded: pd.DataFrame, invalid: pd.DataFrame, choice: AnswerPair, convention: str
) -> str:
    """Say what was excluded, and how many.

    Parameters
    ----------
    excluded, invalid
        The tables of these names.
    choice, convention
        As in `answer_page_question`.

    Returns
    -------
    str
        The sentences.
    """
    measures_text = "range, SD and flips" if convention == "dropped" else "range and SD"
    items = len(excluded.drop_duplicates(["study", "item"]))
    bad, failed, total = (int(invalid[name].sum()) for name in ("n_invalid", "n_error", "n_rows"))
    return (
        f"From {measures_text} of the models concerned: {format_quantity(items, 'item')} with fewer than two "
        f"paraphrases that have a defined {choice.measure_phrase}. Of {format_quantity(total, 'response')}, "
        f"{format_quantity(bad, 'holds', 'hold')} no valid answer; {format_quantity(failed, 'prompt')} failed."
    )
