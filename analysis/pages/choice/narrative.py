"""Write the sentences of the page on multiple choice: what was asked, the answer on top, and what belongs where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from analysis.measures.choices import drop_repeated_per_byte_rows
from analysis.measures.thresholds import is_validity_below_half
from analysis.pages.choice.cautions import list_cautions
from analysis.pages.choice.columns import MEASURES
from analysis.pages.choice.comparisons import FAMILY
from analysis.pages.choice.figures import add_model_and_condition_labels
from analysis.reporting.words import (
    Answer,
    chance,
    explain_no_detectable_difference,
    format_count_range,
    format_percent,
    format_percentage_points,
    format_quantity,
    format_signed_number,
    join_names,
    phrase_count_of_model_condition_pairs,
    shots,
    verdicts,
)
from analysis.reporting.words.counts import iterate_count_of_unnamed_rows, phrase_models_with_verb
from analysis.reporting.words.labels import UNIT
from analysis.reporting.words.validity import phrase_verdict_without_judged_model
from analysis.reporting.words.verdicts import Band
from analysis.statistics.multiplicity import has_possibly_significant_test
from ground.capitals import capitalise_sentence, uncapitalise_sentence

LITTLE = 0.05
HARDLY, YES = "hardly", "yes"
BANDS = (Band(HARDLY, 0.0, LITTLE), Band(YES, LITTLE, 1.0))
WORD_MEANINGS = (
    "A question is changed where it does not get one and the same choice in all wordings and orders.",
    f"“Yes” means that the 95 % interval of the share of changed questions lies above {format_percent(LITTLE)}.",
    "“Hardly” means that it lies below. Of several models, it is widened for their number (Holm).",
)
XPARACON_MEANING = (
    "XParaCon says how alike the wordings of a question are answered, right or wrong: one point more halves how far "
    "their accuracies lie apart."
)
NAMED = 3  # models without a varying question that sentences name
SIDES = ("before", "after")
TABLES = ("choice", "choice_consistency", "positions", "choice_differences", "choice_changes")


def answer_page_question(
    frames: Mapping[str, pd.DataFrame], size: tuple[int, pd.Series, pd.Series], when: str = "", beyond: str = "",
    by_chance: pd.DataFrame = chance.NO_CHANCE, shared: bool = False, varying_examples: Sequence[str] = (),
) -> Answer:  # fmt: skip
    """Say whether models change their choice with words or order, by the rules of `verdicts` and `WORD_MEANINGS`.

    Parameters
    ----------
    frames
        The tables named in `TABLES`.
    size
        How many questions there are; in how many wordings, and in how many orders, each was asked.
    when
        From `words.phrase_run_dates`.
    beyond
        What of the differences between models is more than rewording
        (`reporting.words.beyond.describe_differences_beyond_rewording`).
    by_chance
        Whose answers chance alone may have changed (`reporting.words.chance.tabulate_units_with_chance_changes`).
    shared
        Whether questions share their wordings (`reporting.words.beyond.has_study_with_wordings_shared_by_items`).
    varying_examples
        Studies whose wordings are numbers of examples
        (`reporting.words.shots.find_studies_whose_wordings_are_example_counts`).

    Returns
    -------
    Answer
        What the page says in words.
    """
    if frames["choice"].empty:
        return Answer("No question has a response.", f"{verdicts.UNCLEAR}: there is no choice to compare.")
    table = drop_repeated_per_byte_rows(add_model_and_condition_labels(frames["choice"]))
    asked_sentence = _describe_numbers_of_models_and_questions(table, size, when)
    doubts = list_cautions(table, frames["choice_changes"])
    n_asked = len(table[UNIT].drop_duplicates())
    answering = select_rows_over_all_questions(table[~is_validity_below_half(table["validity"])])
    if answering.empty:
        verdict, why = phrase_verdict_without_judged_model(table)
        return Answer(asked_sentence, verdict, cautions=(*why, *doubts))
    consistency = drop_repeated_per_byte_rows(frames["choice_consistency"])
    if consistency.empty or is_validity_below_half(consistency["validity"]).all():
        asked = "Each question was asked" if consistency.empty else "Where a model answers, each question was asked"
        verdict = f"{asked} in one wording and one order: nothing is known about others."
        right_text = _describe_share_of_right_answers(answering, n_asked)
        return Answer(asked_sentence, f"{verdict} {right_text}", cautions=doubts)
    unit_labels = table[[*UNIT, "label"]].drop_duplicates()  # of some rows alone, a label may lack study or condition
    judged, letters = (
        frame[~is_validity_below_half(frame["validity"])].merge(unit_labels)
        for frame in (consistency, frames["positions"])  # of the units of `table`
    )
    judged = select_rows_over_all_questions(judged)
    doubts = (*chance.iterate_chance_change_cautions(judged, by_chance), *doubts)
    details = {
        "choice_map": (*WORD_MEANINGS, *_describe_xparacon_extremes(answering)),
        "choice_xparacon": tuple(_describe_unvarying_models(answering)),
        "choice_consistency": tuple(_describe_how_often_choices_are_kept(judged)),
        "choice_positions": tuple(_describe_how_many_models_prefer_letters(letters, orders=size[2].max())),
        "choice_differences": (
            *_describe_holm_significant_pair_counts(frames["choice_differences"], answering, shared),
            *([beyond] if beyond else []),
        ),
        "choice_changes": tuple(
            _describe_tuning_and_prompt_effects(drop_repeated_per_byte_rows(frames["choice_changes"]))
        ),
    }
    return Answer(
        asked_sentence,
        _describe_counts_of_choice_verdicts(judged, n_asked, size, by_chance, varying_examples),
        cautions=doubts,
        details={name: sentences for name, sentences in details.items() if sentences},
        explanation=XPARACON_MEANING if answering["xparacon"].notna().any() else "",
    )


def select_rows_over_all_questions(frame: pd.DataFrame) -> pd.DataFrame:
    """Keep the rows over all questions of a study: the first of every model and condition."""
    return frame.drop_duplicates(["study", "model", "condition"])


def _describe_numbers_of_models_and_questions(
    table: pd.DataFrame, size: tuple[int, pd.Series, pd.Series], when: str
) -> str:
    """Say how many models were asked how many questions, in how many wordings and orders."""
    questions, wordings, orders = size
    return (
        f"{phrase_models_with_verb(table)} asked {format_quantity(questions, 'question')}, "
        f"{'each ' if questions > 1 else ''}in {format_count_range(wordings, 'wording')} with its choices in "
        f"{format_count_range(orders, 'order')}{when}."
    )


def _describe_counts_of_choice_verdicts(
    judged: pd.DataFrame, n_asked: int, size: tuple[int, pd.Series, pd.Series], by_chance: pd.DataFrame,
    varying_examples: Sequence[str],
) -> str:  # fmt: skip
    """Count the words of the models that answer; of one, say how many questions are changed."""
    by_interval = verdicts.choose_verdict_words_for_model_shares(judged, "changed", BANDS)
    verdict_words = chance.blank_words_possibly_due_to_chance(by_interval, judged, by_chance, YES)
    if verdict_words != by_interval and not any(verdict_words):
        return chance.explain_withheld_verdict(by_chance)
    wordings, orders = (counts.max() for counts in size[1:])
    if len(judged) > 1:
        counts_sentence = verdicts.describe_verdict_word_counts(
            verdict_words, phrase_count_of_model_condition_pairs(judged)
        )
        if wordings == 1:
            return counts_sentence
        examples_sentence = shots.phrase_verdict_note_on_example_counts(
            varying_examples, list(judged["study"]), "order" if orders > 1 else ""
        )
        return " ".join(filter(None, (counts_sentence, examples_sentence)))
    row = judged.iloc[0]
    word = verdict_words[0].capitalize() or verdicts.UNCLEAR
    of_model = f"with {row['label']}, " if n_asked > 1 else ""
    share_text = f"{of_model}{format_percent(row['changed'])} of the questions do not get one choice"
    if wordings > 1 and row["study"] in varying_examples:
        order_text = " and in all orders" if orders > 1 else ""
        return f"{word}, with other numbers of examples: {share_text} with all of them{order_text}."
    several = " and ".join(noun for noun, number in (("wordings", wordings), ("orders", orders)) if number > 1)
    return f"{word}: {share_text} in all {several}."


def _describe_share_of_right_answers(answering: pd.DataFrame, n_asked: int) -> str:
    """Say how many answers are right: of one model with its interval; of several, least to most."""
    if len(answering) > 1:
        low, high = (format_percent(share) for share in (answering["accuracy"].min(), answering["accuracy"].max()))
        if low == high:
            return f"{low} of each model’s answers are right."
        return f"Between {low.removesuffix(' %')} and {high} of a model’s answers are right."
    row = answering.iloc[0]
    share, low, high = (format_percent(row[name]) for name in ("accuracy", "accuracy_lower", "accuracy_upper"))
    interval_text = "" if pd.isna(row["accuracy_lower"]) else f" (interval {low.removesuffix(' %')} to {high})"
    of_model = f" of {row['label']}" if n_asked > 1 else ""
    return f"{share} of the answers{of_model} are right{interval_text}."


def _describe_xparacon_extremes(answering: pd.DataFrame) -> Iterator[str]:
    """Name the models with the highest and the lowest XParaCon; whether they differ is said with the differences."""
    ranked = answering.dropna(subset=["xparacon"]).sort_values("xparacon", ascending=False, kind="stable")
    if len(ranked) > 1 and ranked["xparacon"].nunique() == 1:  # none is the highest
        return
    for which, place in (("highest", 0), ("lowest", -1))[: len(ranked)]:
        row = ranked.iloc[place]
        yield (
            f"The {which} XParaCon is that of {row['label']}: {_format_xparacon_with_interval(row)}, with "
            f"{format_percent(row['accuracy'])} right answers."
        )


def _format_xparacon_with_interval(row: pd.Series) -> str:
    """Write XParaCon with its interval; one without an upper end as a lower bound."""
    text = f"{row['xparacon']:.2f}" if np.isfinite(row["xparacon"]) else "infinite"
    low, high = row["xparacon_lower"], row["xparacon_upper"]
    if pd.isna(low):
        return text
    return f"{text} (95 % interval {low:.2f} to {high:.2f})" if np.isfinite(high) else f"{text} (at least {low:.2f})"


def _describe_unvarying_models(answering: pd.DataFrame) -> Iterator[str]:
    """Say of how many models no question varies, and what is known of them."""
    rows = answering[np.isinf(answering["xparacon"])]
    for _, row in rows.head(NAMED).iterrows():
        yield (
            f"None of {format_quantity(int(row['n_questions']), 'question')} varies in accuracy over its wordings with "
            f"{row['label']}: XParaCon is {_format_xparacon_with_interval(row)}."
        )
    yield from iterate_count_of_unnamed_rows(len(rows), NAMED, "such row")


def _describe_how_often_choices_are_kept(judged: pd.DataFrame) -> Iterator[str]:
    """Say how often a choice is kept in other words and in other orders: means over the models that answer."""
    means = judged[["same_in_wordings", "same_in_orders", "same_letter"]].mean()
    if pd.notna(means["same_in_wordings"]):
        asked_in_wordings = judged[judged["same_in_wordings"].notna()]
        yield (
            f"On average over {phrase_count_of_model_condition_pairs(asked_in_wordings)}, "
            f"{format_percent(means['same_in_wordings'])} of "
            "the questions shown in one order get one choice in all wordings."
        )
    if pd.notna(means["same_in_orders"]):
        yield (
            f"Of the questions in one wording, {format_percent(means['same_in_orders'])} get one choice in all orders "
            f"on average, and {format_percent(means['same_letter'])} one letter, whatever stands there."
        )
    gaps = judged[["order_minus_wording", "order_minus_wording_lower", "order_minus_wording_upper"]].dropna()
    if gaps.empty:
        return
    ends = [
        verdicts.widen_difference_interval_for_multiplicity(gap, low, high, len(judged))
        for gap, low, high in gaps.itertuples(index=False, name=None)
    ]
    sides = [verdicts.compare_interval_with_value(low, high, 0.0) for low, high in ends]
    yield (
        f"Another order turns a choice more often than another wording with {sides.count('more'):,} of "
        f"{phrase_count_of_model_condition_pairs(judged.loc[gaps.index])}, less often with {sides.count('less'):,}."
    )


def _describe_how_many_models_prefer_letters(letters: pd.DataFrame, orders: int) -> Iterator[str]:
    """Count the models that prefer a letter, by intervals widened for letters and models; name the largest."""
    rows = letters[(letters["right"] == "all") & (letters["letter"] != "none") & letters["preference_lower"].notna()]
    if rows.empty:
        return
    number = rows.groupby("label")["letter"].transform("nunique") * rows["label"].nunique()
    ends = [
        verdicts.widen_difference_interval_for_multiplicity(
            row["preference"], row["preference_lower"], row["preference_upper"], int(of)
        )
        for (_, row), of in zip(rows.iterrows(), number, strict=True)
    ]
    above = rows[[low > 0 for low, _ in ends]]
    units_of, many = rows.drop_duplicates(["study", "model", "condition"]), above["label"].nunique()
    yield (
        f"{many:,} of {phrase_count_of_model_condition_pairs(units_of)} prefer{'s' * (many == 1)} a letter: "
        f"its share lies "
        "above that for which it is right."
    )
    if len(above):
        row = above.loc[above["preference"].idxmax()]
        yield (
            f"The largest preference is that of {row['label']}: “{row['letter']}” is {format_percent(row['share'])} "
            f"of its answers, and right in {format_percent(row['is_right'])}."
        )
        if orders == 1:
            yield "Each choice stood at one letter only, so what it says may be preferred, not its letter."


def _select_pairs_of_answering_models(rows: pd.DataFrame, answering: pd.DataFrame, *side_patterns: str) -> pd.DataFrame:
    """Keep rows over all questions whose models answer on both sides (columns by `side_patterns`)."""
    units_of = answering[["study", "model", "condition", "subset", "label"]]
    for side_pattern in side_patterns:
        names = {name: side_pattern.format(name) for name in ("model", "condition", "label")}
        rows = rows.merge(units_of.rename(columns=names), on=["study", "subset", *list(names.values())[:2]])
    return rows


def _describe_holm_significant_pair_counts(
    pairs: pd.DataFrame, answering: pd.DataFrame, questions_share_wordings: bool
) -> Iterator[str]:
    """Count for each measure the pairs of models that differ after Holm; over questions, so in these wordings.

    Holm's correction is over all pairs of a study, also those with a model that does not answer.
    """
    scope_text = " in these wordings" if questions_share_wordings else ""
    for measure, part in (
        _select_pairs_of_answering_models(pairs, answering, "a_{}", "b_{}").groupby("measure", sort=False)
        if len(pairs)
        else ()
    ):
        tested = part.dropna(subset=["p_holm"])
        if tested.empty:
            continue
        all_tested = pairs[pairs["p_holm"].notna()].merge(tested[list(FAMILY)].drop_duplicates())
        families = [family for _, family in all_tested.groupby("study")]
        if not has_possibly_significant_test(*families):
            name = MEASURES[str(measure)]
            yield f"{capitalise_sentence(name)}: {explain_no_detectable_difference(*families)}"
            continue
        differ = int(verdicts.mark_clear_effects(tested["p_holm"]).sum())
        yield (
            f"In {_name_choice_measure(measure)}, {differ:,} of {format_quantity(len(tested), 'pair')} of models "
            f"{'differs' if differ == 1 else 'differ'}{scope_text} after Holm."
        )


def _name_choice_measure(measure: object) -> str:
    """Return the name of a measure as sentences use it."""
    return {"perfectly_correct": "perfectly correct wordings"}.get(str(measure), MEASURES[str(measure)])


def _describe_tuning_and_prompt_effects(rows: pd.DataFrame) -> Iterator[str]:
    """Say what tuning and prompt change in accuracy and XParaCon over all questions: where test and interval show it.

    The test, after Holm, can be the sharper one where few questions differ; then both are said. Where one side does not
    answer, only their validities are said.
    """
    if rows.empty:
        return
    keys = ["study", "change", *(f"{name}_{side}" for side in SIDES for name in ("model", "condition"))]
    change_rows = rows.drop_duplicates([*keys, "measure"])
    yield "Of the changes, 95 % intervals stand in brackets."
    for _, measure_rows in change_rows.groupby(keys, sort=False):
        measures = {row["measure"]: row for row in measure_rows.to_dict("records")}
        row = measures["accuracy"]
        name = _name_tuning_or_prompt_change(row)
        if rows["study"].nunique() > 1:
            name = f"In “{row['study']}”, {uncapitalise_sentence(name)}"
        if is_validity_below_half(pd.Series([row["validity_before"], row["validity_after"]])).any():
            yield (
                f"{name}: not judged, since the validity is "
                f"{format_percent(row['validity_before'])} before and {format_percent(row['validity_after'])} after."
            )
            continue
        known_changes = {
            measure: measures[measure]
            for measure in ("accuracy", "xparacon")
            if pd.notna(measures[measure]["difference"])
        }
        tested_changes = [
            change
            for change in known_changes.values()
            if verdicts.mark_clear_effects(pd.Series([change["p_holm"]])).iloc[0]
        ]
        interval_agrees = [
            bool(verdicts.compare_interval_with_value(change["lower"], change["upper"], 0.0))
            for change in tested_changes
        ]
        clear, doubtful = ([_name_choice_measure(change["measure"]) for change,
                            agrees in zip(tested_changes, interval_agrees, strict=True) if agrees == is_clear]
                          for is_clear in (True, False))  # fmt: skip
        sizes = ", ".join(
            f"{_name_choice_measure(measure)} {_format_change_with_interval(change)}"
            for measure, change in known_changes.items()
        )
        doubt = f" (in {join_names(doubtful)} the test finds one, the interval does not)" if doubtful else ""
        result_text = (
            f"{join_names(clear)} {'differs' if len(clear) == 1 else 'differ'}" if clear else "no clear difference"
        )
        yield f"{name}: {sizes}; {result_text} after Holm{doubt}."


def _format_change_with_interval(row: Mapping[str, Any]) -> str:
    """Write a change with its interval: of accuracy in points."""
    accuracy = row["measure"] == "accuracy"
    write, unit = (
        (format_percentage_points, " points") if accuracy else (lambda number: format_signed_number(number, 2), "")
    )
    between = "" if pd.isna(row["lower"]) else f" ({write(row['lower'])} to {write(row['upper'])})"
    return f"{write(row['difference'])}{unit}{between}"


def _name_tuning_or_prompt_change(row: Mapping[str, Any]) -> str:
    """Name what was changed, and of which model under which condition."""
    before, after = (f"{row[f'model_{side}']} ({row[f'condition_{side}']})" for side in SIDES)
    if row["change"] == "tuning":
        return f"Tuning {row['model_before']} into {row['model_after']} ({row['condition_after']})"
    if row["change"] == "prompt":
        return f"From the base to the paraphrase-aware prompt with {after}"
    return f"Tuning and prompt together, {before} to {after}"
