"""Write the sentences of the page on reliability: whether the wordings were enough, and what would stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd

from analysis.measures.chance import DRAWN
from analysis.measures.choices import drop_repeated_per_byte_rows
from analysis.measures.reworded import THOUGHTS
from analysis.measures.thresholds import is_validity_below_half
from analysis.pages.reliability.accuracy_sentences import format_coefficient
from analysis.pages.reliability.columns import ITEMS, UNTOLD
from analysis.pages.reliability.comparisons import FEW
from analysis.reporting.words import (
    Answer,
    beyond,
    chance,
    format_count_range,
    format_quantity,
    join_names,
    labels,
    list_few_items_cautions,
    list_few_models_cautions,
    verdicts,
)
from analysis.reporting.words.doubts import LEFT_OUT, READING, WIDE, Caution
from analysis.reporting.words.validity import (
    FEW_ANSWERS,
    list_cautions_unless_all_models_unjudged,
    list_unjudged_model_sentences,
    phrase_verdict_without_judged_model,
)
from analysis.reporting.words.verdicts import Band
from analysis.statistics.resampling import LEVEL
from ground.capitals import capitalise_sentence

WIDER = 1.1
NORMAL = NormalDist().inv_cdf((1 + LEVEL) / 2)  # half an interval, in standard errors, with wordings without end
ORDERS = ("orders", "own orders")  # designs that begin so
ENOUGH, TOO_FEW = "enough", "too few"
LEFT_BANDS = (Band(ENOUGH, 1 / WIDER, np.inf), Band(TOO_FEW, -np.inf, 1 / WIDER))  # of the inverse of a widening
WORD_MEANINGS = (
    "“Enough” means that the standard error for wordings like these is at most a tenth larger than with wordings "
    "without end.",
    "“Too few” means that it is larger than that. Each word needs the whole 95 % interval of this ratio, widened for "
    "the number of models (Holm). A reliability is stated where its whole interval lies above 0.",
)
PLAIN_MEANINGS = {
    ENOUGH: "“Enough” means that more wordings, however many, would make a model's mean at most a tenth more exact: "
    "its line below is nearly flat from its mark on.",
    TOO_FEW: "“Too few” means that enough further wordings would make a model's mean more than a tenth more exact: its "
    "line below still falls from its mark on.",
}
ONLY_LATER = (
    "No model is known to answer under its first condition, which this page is about. Under another one, at least one "
    "does."
)
TABLES = ("wording_precision", "variance_components", "beyond_rewording", "ranking_reliability", "spreads_at_k")


def answer_page_question(
    frames: Mapping[str, pd.DataFrame], when: str = "", drawn_wordings_texts: Sequence[str] = (),
    by_chance: pd.DataFrame = chance.NO_CHANCE,
) -> Answer:  # fmt: skip
    """Say for how many models the wordings were enough, and how reliable the ranking is.

    Parameters
    ----------
    frames
        The tables named in `TABLES`.
    when
        From `words.phrase_run_dates`.
    drawn_wordings_texts
        From `words.list_wording_subsample_notes`.
    by_chance
        Whose answers chance alone may have changed (`reporting.words.chance.tabulate_units_with_chance_changes`).

    Returns
    -------
    Answer
        What the page says in words.
    """
    precision = frames["wording_precision"]
    condition_rows = drop_repeated_per_byte_rows(precision[precision["headline"].astype(bool)])
    condition_rows = condition_rows.assign(label=labels.build_row_labels(condition_rows))
    headline_rows = condition_rows.drop_duplicates(["study", "model"])
    headline_rows = headline_rows.assign(name=labels.build_row_labels(headline_rows.drop(columns="condition")))
    has_several_studies = headline_rows["study"].nunique() > 1
    parts = frames["variance_components"].merge(headline_rows[[*labels.UNIT, "measure"]], on=[*labels.UNIT, "measure"])
    asked_sentence = _describe_numbers_of_models_and_wordings(headline_rows, parts.dropna(subset=["n_samples"]), when)
    answering = headline_rows[~is_validity_below_half(headline_rows["validity"]) & headline_rows["mean"].notna()]
    if answering.empty:
        if (~is_validity_below_half(condition_rows["validity"]) & condition_rows["mean"].notna()).any():
            return Answer(
                asked_sentence, ONLY_LATER, cautions=list_unjudged_model_sentences(condition_rows, FEW_ANSWERS)
            )
        verdict, why = phrase_verdict_without_judged_model(condition_rows, FEW_ANSWERS)
        return Answer(asked_sentence, verdict, cautions=why)
    ranking = frames["ranking_reliability"]
    component_rows = frames["variance_components"]
    # Accuracy, where it is the headline, has no component of thoughts: these rows are then of another measure.
    is_told = component_rows["headline"].astype(bool) | (component_rows["sampled"] == THOUGHTS)
    answering_parts = component_rows[is_told].merge(answering[labels.UNIT])
    details = {
        "wordings_needed": (*WORD_MEANINGS, *_describe_largest_widening(answering)),
        "wording_ranking": tuple(_describe_ranking_reliability(ranking, has_several_studies)),
        "variance_components": (
            *_describe_item_reliability_of_samples(answering_parts),
            *_describe_counted_answers_worth_a_thought(answering_parts),
            *_describe_answers_of_unknown_thought_effect(answering_parts),
        ),
        "beyond_rewording": tuple(_describe_counts_of_differences_that_hold(frames["beyond_rewording"])),
        "spreads_at_k": tuple(_describe_unequal_wording_counts_of_items(frames["spreads_at_k"])),
    }
    once = by_chance[by_chance["answers"] == DRAWN]  # what several samples differ by is a component of its own
    cautions = (
        *_list_reliability_cautions(headline_rows, answering),
        *(Caution(f"Asked in {text}.", READING) for text in drawn_wordings_texts),
        *chance.iterate_chance_change_cautions(answering[answering["n_wordings"] > 1], once),
    )  # fmt: skip
    commonest = find_commonest_verdict_word_and_count(answering)
    ranking_sentence = "".join(_describe_least_reliable_ranking(ranking, has_several_studies))
    has_numbers = any(map(str.isdigit, ranking_sentence))
    word_sentence = _describe_whether_wordings_suffice(answering, len(headline_rows), not has_numbers)
    return Answer(
        asked_sentence, " ".join(filter(None, (word_sentence, ranking_sentence))),
        cautions=cautions,
        details={name: text for name, text in details.items() if text},
        explanation=PLAIN_MEANINGS[commonest[0]] if commonest else "",
    )  # fmt: skip


def _describe_numbers_of_models_and_wordings(headline_rows: pd.DataFrame, sampled_rows: pd.DataFrame, when: str) -> str:
    """Say how many models were asked about how many items, in one or several wordings, samples and thoughts."""
    models = headline_rows["model"].nunique()
    items = headline_rows.groupby("study")["n_items"].max().sum()
    valid_rows = headline_rows[(headline_rows["n_items"] > 0) & ~is_validity_below_half(headline_rows["validity"])]
    sizes = (valid_rows["n"] / valid_rows["n_items"]).round()
    several = valid_rows["n_wordings"] > 1
    answers = f", with {format_count_range(sizes, 'valid answer')} to each on average" if several.any() else ""
    if len(sampled_rows):
        counts = [
            format_count_range(part["n_samples"].round(), str(sampled).removesuffix("s"))
            for sampled, part in sampled_rows.groupby("sampled", sort=False)
        ]
        answers += f"{' from' if answers else ', with'} {' or '.join(counts)} each"
    ways = [way for way, some in (("one", ~several), ("several", several)) if some.any()] or ["several"]
    wordings = f"{' or '.join(ways)} {'wording' if ways == ['one'] else 'wordings'}"
    if len(valid_rows) and several.all() and valid_rows["design"].str.startswith(ORDERS).all():
        wordings = "several orders of their options"
    # Only items with a valid answer are counted: where no answer is valid, there is no number of them.
    items_text = format_quantity(int(items), "item") if items else "items"
    return (
        f"{format_quantity(models, 'model')} {'was' if models == 1 else 'were'} asked about {items_text} in "
        f"{wordings}{when}{answers}."
    )


def _describe_whether_wordings_suffice(answering_rows: pd.DataFrame, n_asked: int, with_total: bool) -> str:
    """Say for how many models the wordings were enough, by the verdict that most models have; those with one wording
    have none. A verdict has three numbers at most: that of all models is said where the ranking has none. The only
    model with a word is named where others were asked."""
    answering_rows = answering_rows[answering_rows["n_wordings"] > 1]
    if answering_rows.empty:
        return f"{verdicts.UNCLEAR} whether the wording was enough: there is one of each item."
    commonest = find_commonest_verdict_word_and_count(answering_rows)
    if commonest is None:
        return f"{verdicts.UNCLEAR} whether the wordings were enough."
    word, number = commonest
    units_text = _format_unit_count(answering_rows)
    if len(answering_rows) == 1:
        with_model = f" with {answering_rows['name'].iloc[0]}" if n_asked > 1 else ""
        return f"{word.capitalize()}{with_model}."
    if number == len(answering_rows):
        return f"{word.capitalize()} with each of {units_text}."
    units_text = units_text if with_total else f"these {units_text.split(' ', 1)[1]}"
    return f"{word.capitalize()} with {number:,} of {units_text}."


def find_commonest_verdict_word_and_count(precision_rows: pd.DataFrame) -> tuple[str, int] | None:
    """Find the word that most models with several wordings have, and their number; None where no one has any.

    Of "enough" and "too few" with as many models, the page says the second, which is the warning.
    """
    several = precision_rows[precision_rows["n_wordings"] > 1]
    words = choose_verdict_words_by_widening(several) if len(several) else []
    return next(iter(Counter(sorted(filter(None, words), reverse=True)).most_common(1)), None)


def choose_verdict_words_by_widening(precision_rows: pd.DataFrame) -> list[str]:
    """Return the word of every row by the interval of its widening; empty where it allows none.

    The interval is widened for the number of rows, after Holm. That is done with the inverse, the share of the standard
    error that wordings without end would leave: it lies between 0 and 1.
    """
    low, high = 1 / precision_rows["widening_upper"], 1 / precision_rows["widening_lower"]
    left = pd.DataFrame({"left": 1 / precision_rows["widening"], "lower": low, "upper": high})
    return verdicts.choose_words_for_differences(left, "left", LEFT_BANDS)


def _format_unit_count(rows: pd.DataFrame) -> str:
    """Count the models, or where several studies asked them, models in studies."""
    if rows["study"].nunique() == 1:
        return format_quantity(len(rows), "model")
    return format_quantity(len(rows), "pair") + " of model and study"


def _describe_least_reliable_ranking(rankings: pd.DataFrame, has_several_studies: bool) -> Iterator[str]:
    """State the reliability of the ranking, of several the one whose interval begins lowest, or that none is shown."""
    known_rankings = _select_rows_of_headline_measure(rankings).dropna(subset=["relative"])
    if known_rankings.empty:
        return
    row = known_rankings.loc[known_rankings["relative_lower"].fillna(-np.inf).idxmin()]
    which = "The" if len(known_rankings) == 1 else "The least reliable"
    in_study = f" in “{row['study']}”" if has_several_studies else ""
    which = f"{which} ranking of the models,{in_study} by {row['measure']},"
    if not is_ranking_shown_reliable(row):
        yield f"{which} is not shown to be reliable."
        return
    low, high = row["relative_lower"], row["relative_upper"]
    yield f"{which} has a reliability of {low:.2f} to {high:.2f}{_phrase_limit_to_this_wording(row)}."


def is_ranking_shown_reliable(ranking_row: Mapping[str, Any]) -> bool:
    """Tell whether a ranking is shown to have any reliability: its whole interval lies above 0.

    >>> is_ranking_shown_reliable({"relative_lower": 0.1}), is_ranking_shown_reliable({"relative_lower": 0.0})
    (True, False)
    """
    return bool(ranking_row["relative_lower"] > 0)


def _phrase_limit_to_this_wording(row: Mapping[str, Any]) -> str:
    """Write " in this wording" of a ranking for the one wording that items share; else nothing."""
    return " in this wording" if row["anew"] == ITEMS else ""


def _describe_item_reliability_of_samples(component_rows: pd.DataFrame) -> Iterator[str]:
    """Say how far sampled answers tell items apart, from as many samples or thoughts as there were and from one."""
    for (study, measure, sampled), part in component_rows.dropna(subset=["icc", "icc_sample", "item_lower"]).groupby(
        ["study", "measure", "sampled"], sort=False
    ):
        reliable_parts = part[part["item_lower"] > 0]
        if len(reliable_parts):
            numbers = format_count_range(reliable_parts["n_samples"].round(), str(sampled).removesuffix("s"))
            yield (
                f"{capitalise_sentence(str(measure))} from {numbers} of one wording tells "
                f"items of {study} apart with a reliability of {_format_value_range(reliable_parts['icc'])} "
                f"by {format_quantity(len(reliable_parts), 'model')}; "
                f"from one, {_format_value_range(reliable_parts['icc_sample'])}."
            )
        if len(reliable_parts) < len(part):
            yield (
                f"With {len(part) - len(reliable_parts):,} of {format_quantity(len(part), 'model')}, items of {study} "
                f"are not shown to differ by more than {sampled} explain."
            )


def _describe_counted_answers_worth_a_thought(component_rows: pd.DataFrame) -> Iterator[str]:
    """Say how many counted answers one thought with exact probabilities is worth, and where it settles the answer.

    The interval of a model holds for this model alone, so of several models each is told as seen alone.
    """
    thought_rows = component_rows[component_rows["sampled"] == THOUGHTS].dropna(subset=["worth"])
    for study, part in thought_rows.groupby("study", sort=False):
        number, of_study = len(part), f" in {study}" if thought_rows["study"].nunique() > 1 else ""
        row = part.iloc[0]
        has_interval = number == 1 and row["worth_lower"] == row["worth_lower"]
        ends = f" (95 % interval {row['worth_lower']:.2f} to {row['worth_upper']:.2f})" if has_interval else ""
        by = f" with {format_quantity(number, 'model')}" if number > 1 else ""
        yield (
            f"One thought with exact probabilities is worth {_format_value_range(part['worth'])} answers counted"
            f"{ends}{by}{of_study}."
        )
        n_settled = int((part["worth_upper"] <= WIDER).sum())
        if n_settled:
            of_all = f"{n_settled:,} of {format_quantity(number, 'model')}{of_study}"
            who = f"With {of_all}, each seen alone, a" if number > 1 else "A"
            yield f"{who} thought settles the answer: exact probabilities after it add at most a tenth."


def _describe_answers_of_unknown_thought_effect(component_rows: pd.DataFrame) -> Iterator[str]:
    """Say of which answers it is not known how far thoughts move them: it counts as an effect of wordings."""
    rows = component_rows[component_rows["missing"].str.contains(UNTOLD, regex=False)]
    if len(rows):
        is_elsewhere = rows["measure"].isin(component_rows.drop(index=rows.index)["measure"])
        measures = join_names(
            list(dict.fromkeys(rows["measure"].where(~is_elsewhere, rows["measure"] + " in " + rows["study"])))
        )
        yield f"Of {measures}, what thoughts add is not told apart: it counts as wordings, or item × wording."


def _format_value_range(values: pd.Series) -> str:
    """Write the smallest and the largest value with two digits; one where they are alike."""
    low, high = f"{values.min():.2f}", f"{values.max():.2f}"
    return low if low == high else f"{low} to {high}"


def _select_rows_of_headline_measure(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows about the measure that sentences are about."""
    return frame[frame["headline"].astype(bool)] if len(frame) else frame


def _describe_largest_widening(answering_rows: pd.DataFrame) -> Iterator[str]:
    """Name the model whose standard error the wordings widen most, and by how much."""
    widened_rows = answering_rows.dropna(subset=["widening", "widening_lower"])
    if widened_rows.empty:
        return
    row = widened_rows.loc[widened_rows["widening"].idxmax()]
    ends = f" (95 % interval {row['widening_lower']:.2f} to {row['widening_upper']:.2f})"
    yield (
        f"The wordings add {'most ' if len(widened_rows) > 1 else ''}to the standard error of {row['name']}: it is "
        f"{row['widening']:.2f} times{ends} what it would be with wordings without end."
    )
    sides = row["mean"] - row["like_lower"], row["like_upper"] - row["mean"]
    # An end that was cut at 0 or 1 would make the interval look as if wordings told more: then, the longer side counts.
    is_cut = row["like_lower"] == 0 or row["like_upper"] == 1
    wide = (2 * max(sides) if is_cut else sum(sides)) / (2 * NORMAL * row["error_least"])
    # Few or skewed items widen the interval for these wordings, too; that is not due to the wordings.
    by_wordings = sum(sides) > WIDER * (row["mean_upper"] - row["mean_lower"])
    if wide > WIDER * row["widening"] and by_wordings:
        yield (
            f"Its interval for wordings like these is {wide:.1f} times as wide as with wordings without end: few "
            "shared ones hardly tell their own error."
        )


def _describe_ranking_reliability(rankings: pd.DataFrame, has_several_studies: bool) -> Iterator[str]:
    """Say for each study how reliable the ranking is, and what it would be with few wordings.

    Where models were asked in several studies, each sentence names its study, and begins a paragraph on the page.
    """
    rows = _select_rows_of_headline_measure(rankings).dropna(subset=["relative"])
    for row in rows.to_dict("records"):
        of_study, by, ranking = "", "By", "Ranking"
        if has_several_studies:
            of_study, by, ranking = f"Study “{row['study']}”: ", "by", "ranking"
        if not is_ranking_shown_reliable(row):
            yield (
                f"{of_study}{by} {row['measure']}, the ranking of {row['n_models']} models is not shown to be reliable"
                f"{_phrase_reliability_upper_bound(row)}."
            )
            continue
        yield (
            f"{of_study}{ranking} these {row['n_models']} models by {row['measure']} is reliable to "
            f"{format_coefficient(row['relative'])}{_format_reliability_interval(row)}"
            f"{_phrase_limit_to_this_wording(row)}{_phrase_reliability_with_few_wordings(row)}."
        )
        if row["tau"] == row["tau"]:
            yield f"With the ranking of another study of this size, it is expected to have a tau of {row['tau']:.2f}."


def _phrase_reliability_with_few_wordings(row: Mapping[str, float]) -> str:
    """Say how reliable the ranking would be with few wordings of each item; empty where it has as few."""
    few = row["relative_few"]
    return (
        f"; with {FEW} wordings it would be {format_coefficient(few)}"
        if few == few and row["n_wordings"] != FEW
        else ""
    )


def _format_reliability_interval(row: Mapping[str, float]) -> str:
    """Write the 95 % interval of a ranking's reliability in parentheses."""
    return f" (95 % interval {row['relative_lower']:.2f} to {row['relative_upper']:.2f})"


def _phrase_reliability_upper_bound(row: Mapping[str, float]) -> str:
    """Say up to where the interval of a reliability reaches that is not shown."""
    low, high = row["relative_lower"], row["relative_upper"]
    if low != low:
        return ": there is no interval of its reliability"
    return f": its reliability may be anything up to {high:.2f}" if high > 0 else ""


def _describe_counts_of_differences_that_hold(pairs: pd.DataFrame) -> Iterator[str]:
    """Count the differences that hold (`beyond`), and say of how many pairs another study would find the sign."""
    headline_pairs = _select_rows_of_headline_measure(pairs)
    beyond_sentence = beyond.describe_significant_difference_counts(headline_pairs)
    if not beyond_sentence:
        return
    yield beyond_sentence
    signs = headline_pairs.loc[headline_pairs["a_model"] != headline_pairs["b_model"], "same_both"].dropna()
    if len(signs):
        expected = f"is expected to find the same sign in {signs.sum():.1f} of {len(signs)}"
        if len(signs) == 1:
            expected = f"would find the same sign with a probability of {signs.iloc[0]:.2f}"
        yield f"Another study with other items and wordings {expected}."


def _describe_unequal_wording_counts_of_items(spreads: pd.DataFrame) -> Iterator[str]:
    """Say in which studies items have different numbers of valid wordings, and at which number the table compares."""
    answered = spreads[spreads["wordings_most"] > 0] if len(spreads) else spreads  # a model without answers has 0
    for study, part in answered.groupby("study", sort=False) if len(answered) else ():
        low, high = int(part["wordings_least"].min()), int(part["wordings_most"].max())
        if low < high:
            yield (
                f"Items of {study} have {low:,} to {high:,} valid wordings, so that their ranges do not compare: the "
                f"table has them at {int(part['k'].iloc[0])}."
            )


def _list_reliability_cautions(headline_rows: pd.DataFrame, answering_rows: pd.DataFrame) -> Iterator[str]:
    """Yield what weakens the answer: silent models, few models, items or wordings."""
    yield from list_cautions_unless_all_models_unjudged(headline_rows, FEW_ANSWERS)
    yield from list_few_models_cautions(answering_rows["model"].nunique())
    sizes = answering_rows.set_index("name")["n_items"]
    yield from list_few_items_cautions(
        sizes, consequence="intervals are wide, and those of variances rest on their distribution"
    )
    single = answering_rows["n_wordings"] == 1
    if single.any() and not single.all():
        yield Caution(
            "Asked in one wording, so that nothing is said about others: "
            f"{join_names(list(answering_rows.loc[single, 'study'].unique()))}.",
            LEFT_OUT,
        )
    shared = answering_rows[answering_rows["design"].str.contains("shared")]
    is_few = shared["n_shared"].round().between(2, 4)
    few = shared.loc[is_few, "n_shared"].round()
    if len(few):
        few_studies = list(shared.loc[is_few, "study"].unique())
        in_studies = f" in {join_names(few_studies)}" if len(few_studies) < answering_rows["study"].nunique() else ""
        yield Caution(
            f"Only {format_count_range(few)} shared wordings{in_studies}: what is said about wordings like these rests "
            f"on {format_count_range(few - 1)} {'degree' if few.max() == 2 else 'degrees'} of freedom. Where there are "
            "no others, as of two orders, the intervals for these wordings are the right ones.",
            WIDE,
        )
