"""Write the sentences of the page on wording: what was asked, the answer on top, and what belongs to which figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from analysis.measures.thresholds import is_validity_below_half
from analysis.pages.wording.cautions import list_cautions, list_wording_kinds_without_valid_pair
from analysis.pages.wording.cells import UNIT, average_validity_over_patterns_per_row, get_name_of_language
from analysis.pages.wording.columns import WORDS
from analysis.reporting.catalogue.selection import MIXED, AnswerPair, quote_answer
from analysis.reporting.words import (
    Answer,
    chance,
    explain_no_detectable_difference,
    format_percent,
    format_percentage_points,
    format_quantity,
    join_names,
    labels,
    verdicts,
)
from analysis.reporting.words.validity import phrase_verdict_without_judged_model
from analysis.reporting.words.verdicts import Band
from analysis.runs.folder import ORIGINAL
from analysis.statistics.multiplicity import ALPHA, has_possibly_significant_test
from ground.capitals import capitalise_sentence

YES_NO = AnswerPair("yes", "no")
SPOKEN_ANSWERS = (("yes", "no"), ("はい", "いいえ"))  # the answers of the protocol's languages
NEARLY, MOSTLY = 0.95, 0.8
YES, MOST, NO = "yes, nearly always", "mostly", "not reliably"
BANDS = (Band(YES, NEARLY, 1.0), Band(MOST, MOSTLY, 1.0), Band(NO, 0.0, MOSTLY))
WORD_MEANINGS = (
    f"“{YES.capitalize()}” means that Consistency is at least {format_percent(NEARLY)} under every kind of wording, "
    "by its whole 95 % intervals. This is the mean over the models that answer, their conditions, tasks and "
    "studies.",
    f"“Mostly” means the same for {format_percent(MOSTLY)}.",
    f"“{NO.capitalize()}” means that the whole interval lies below {format_percent(MOSTLY)} under some kind of "
    "wording, when it is widened for the number of kinds (Bonferroni).",
)
HOLM = f"at {ALPHA:g} after Holm"
NAMED_TASKS = 2  # more are counted, so that the first screen stays short
TABLES = ("consistency", "patterns", "conventions", "shots", "stages", "shifts")


def answer_page_question(
    frames: Mapping[str, pd.DataFrame], when: str = "", choice: AnswerPair = YES_NO, beyond: str = "",
    by_chance: pd.DataFrame = chance.NO_CHANCE,
) -> Answer:  # fmt: skip
    """Say whether the models give the same answer in other words, by the rules of `verdicts` and `WORD_MEANINGS`.

    Parameters
    ----------
    frames
        The tables named in `TABLES`.
    when
        From `words.phrase_run_dates`.
    choice
        The two answers; the page calls the first “Yes”.
    beyond
        What of the differences between models is more than rewording
        (`reporting.words.beyond.describe_differences_beyond_rewording`).
    by_chance
        Whose answers chance alone may have changed (`reporting.words.chance.tabulate_units_with_chance_changes`).

    Returns
    -------
    Answer
        What the page says in words.
    """
    all_rows = frames["consistency"]
    if all_rows.empty:
        return Answer(
            "No original question has a response.", f"{verdicts.UNCLEAR}: there is none to compare other answers with."
        )
    all_rows = all_rows.assign(label=labels.build_row_labels(all_rows))
    means = frames["patterns"].dropna(subset=["consistency"])
    setup_sentence, doubts = _describe_asked_models_questions_and_tasks(all_rows, when), list_cautions(frames)
    table = all_rows[~is_validity_below_half(average_validity_over_patterns_per_row(all_rows))]
    if table.empty:
        rows = all_rows.assign(validity=average_validity_over_patterns_per_row(all_rows), validity_at_most=float("nan"))
        verdict, why = phrase_verdict_without_judged_model(rows, "Less than half of the answers are valid")
        return Answer(setup_sentence, verdict, cautions=(*why, *doubts))
    if means.empty:
        return Answer(setup_sentence, f"{verdicts.UNCLEAR}: there are no valid answers to compare.", cautions=doubts)
    doubts = (*chance.iterate_chance_change_cautions(table, by_chance), *doubts)
    several = means["language"].nunique() > 1
    languages = list(means.groupby("language", sort=False))
    details = {
        "consistency": (
            *WORD_MEANINGS,
            *_describe_what_yes_and_no_mean(choice),
            *(text for name, part in languages for text in _describe_unchanged_answers(str(name), part, several)),
            *([beyond] if beyond else []),
        ),
        "diff_yes": tuple(
            text
            for name, part in languages
            for text in _describe_yes_changes(str(name), part, table, several, _count_tested_yes_changes(means))
        ),
        "shifts": tuple(_describe_acquiescence_by_answer_certainty(frames["shifts"], table)),
        "shots": tuple(
            _describe_mean_consistency_change("Consistency with exemplars minus without is", frames["shots"])
        ),
        "stages": tuple(
            _describe_mean_consistency_change(
                "Consistency of the tuned models minus that of the base models of their series is", frames["stages"]
            )
        ),
    }
    names = table["label"].unique()
    by_model = f" by {names[0]}" if len(names) == 1 < all_rows["label"].nunique() else ""
    return Answer(
        setup_sentence,
        _describe_verdict_with_weakest_pattern(means, table, by_chance, by_model),
        cautions=doubts,
        details={name: text for name, text in details.items() if text},
    )


def _describe_what_yes_and_no_mean(choice: AnswerPair) -> Iterator[str]:
    """Say what “Yes” and “No” stand for, where the answers have other names."""
    if (choice.first.lower(), choice.second.lower()) not in (*SPOKEN_ANSWERS, MIXED):
        yield f"“Yes” stands for {quote_answer(choice.first)} here, and “No” for {quote_answer(choice.second)}."


def _describe_asked_models_questions_and_tasks(consistency_rows: pd.DataFrame, dates_text: str) -> str:
    """Say how many models were asked how many questions of which tasks, and when."""
    models = consistency_rows["model"].nunique()
    language_tasks = consistency_rows[["language", "task"]].drop_duplicates().itertuples(index=False, name=None)
    task_names = [
        f"“{task}”{f' ({get_name_of_language(language)})' if language else ''}" for language, task in language_tasks
    ]
    items = int(
        consistency_rows[consistency_rows["pattern"] == ORIGINAL]
        .drop_duplicates(["study", "language", "task"])["n_items"]
        .sum()
    )
    tasks = join_names(task_names) if len(task_names) <= NAMED_TASKS else format_quantity(len(task_names), "task")
    return (
        f"{format_quantity(models, 'model')} {'was' if models == 1 else 'were'} asked "
        f"{format_quantity(items, 'yes/no question')} of {tasks}, also reworded{dates_text}."
    )


def choose_one_verdict_word_for_all_patterns(means: pd.DataFrame) -> str:
    """Return the word of `WORD_MEANINGS` that all rows of table `patterns` allow; empty where none is."""
    pattern_words = set(_choose_verdict_word_per_pattern(means))
    if NO in pattern_words:
        return NO
    return "" if "" in pattern_words else MOST if MOST in pattern_words else YES


def _choose_verdict_word_per_pattern(means: pd.DataFrame) -> list[str]:
    """Give each kind of wording its own word; one kind is enough for `NO`, so its interval is widened for that."""
    ends = (means[name] for name in ("consistency", "consistency_lower", "consistency_upper"))
    return [
        verdicts.choose_word_for_interval(low, high, BANDS[:2])
        or verdicts.choose_word_for_interval(
            *verdicts.widen_share_interval_for_multiplicity(share, low, high, len(means)), BANDS[2:]
        )
        for share, low, high in zip(*ends, strict=True)
    ]


def _describe_verdict_with_weakest_pattern(
    means: pd.DataFrame, consistency_rows: pd.DataFrame, by_chance: pd.DataFrame = chance.NO_CHANCE, by_model: str = ""
) -> str:
    """Say the word, with the kind of wording that the fewest answers survive, of those that the word rests on; and
    whose answers these are, where one of several models is judged.

    Beside this mean stand the lowest and the highest model, if they are apart, or else its interval. A mean that holds
    answers which chance alone may have changed is not called low.
    """
    verdict_word = choose_one_verdict_word_for_all_patterns(means)
    if verdict_word in (YES, MOST) and (kinds := list_wording_kinds_without_valid_pair(consistency_rows)):
        return f"{verdicts.UNCLEAR}: with {join_names(kinds)}, there are no valid answers to compare."
    if verdict_word == NO and chance.mark_rows_possibly_changed_by_chance(consistency_rows, by_chance).any():
        return chance.explain_withheld_verdict(by_chance)
    deciding = means[[pattern_word == verdict_word for pattern_word in _choose_verdict_word_per_pattern(means)]]
    row = deciding.loc[deciding["consistency"].idxmin()]
    several = means["language"].nunique() > 1 and row["language"]
    language_text = f" in {get_name_of_language(row['language'])}" if several else ""
    begin = verdict_word.capitalize() or verdicts.UNCLEAR
    mean = (
        f"{begin}: with {WORDS[row['pattern']]}{language_text}, {format_percent(row['consistency'])} of "
        f"answers{by_model} mean the same"
    )
    single = consistency_rows[
        (consistency_rows["pattern"] == row["pattern"]) & (consistency_rows["language"] == row["language"])
    ]
    ends = verdicts.find_lowest_and_highest_distinct_share(
        *(single[name] for name in ("consistency", "consistency_lower", "consistency_upper"))
    )
    if ends is None:
        return f"{mean} as before{_format_consistency_interval(row, 0, 'interval ')}."
    low, high = map(format_percent, ends)
    return f"{mean} on average ({low.removesuffix(' %')} to {high} by {_choose_noun_for_row_units(single)})."


def _choose_noun_for_row_units(rows: pd.DataFrame) -> str:
    """Name what each row is about: "model", or what it was asked in, too; the study where nothing else differs."""
    several = [key for key in ("condition", "task") if rows.groupby("model")[key].nunique().max() > 1]
    if rows.duplicated(["model", "condition", "task"]).any():
        several.append("study")
    return "model and setting" if len(several) > 1 else join_names(["model", *several])


def _describe_unchanged_answers(language: str, means: pd.DataFrame, has_several_languages: bool) -> Iterator[str]:
    """Say how many answers stay the same, with the kinds of wording that change the most and the fewest of them."""
    begin = f"In {get_name_of_language(language)}, w" if has_several_languages and language else "W"
    order = means.sort_values("consistency", kind="stable")
    for row in (order.iloc[0], order.iloc[-1])[: len(order)]:
        yield (
            f"{begin}ith {WORDS[row['pattern']]}, {format_percent(row['consistency'], 1)} of the answers mean the "
            f"same as before{_format_consistency_interval(row, 1, '95 % interval ')}."
        )


def _count_tested_yes_changes(means: pd.DataFrame) -> int:
    """Count the changes of which the sentences of the page say whether they are clear."""
    return int(means["pattern"].isin(["agreement", "strong_agreement", "antonym"]).sum())


def _describe_yes_changes(
    language: str, means: pd.DataFrame, consistency_rows: pd.DataFrame, has_several_languages: bool, n_comparisons: int
) -> Iterator[str]:
    """Say whether “Yes” gets more frequent: where the interval, widened for a number of comparisons, leaves out 0."""
    begin = f"In {get_name_of_language(language)}, " if has_several_languages and language else ""
    rows = means.set_index("pattern")
    for name in ("agreement", "strong_agreement"):
        if name in rows.index:
            row = rows.loc[name]
            verb = _choose_text_by_change_sign(
                row, "diff_yes", n_comparisons, "rises", "falls", "does not clearly change"
            )
            yield capitalise_sentence(
                f"{begin}with {WORDS[name]}, the share of “Yes” {verb}: {format_percentage_points(row['diff_yes'])} "
                f"points{_format_yes_change_interval(row, 'diff_yes', n_comparisons)}."
            )
    yield from _describe_largest_yes_change(consistency_rows[consistency_rows["language"] == language], begin)
    if "antonym" in rows.index:
        row = rows.loc["antonym"]
        frequency_text = _choose_text_by_change_sign(
            row, "excess_yes", n_comparisons, "more", "less", "not clearly more or less"
        )
        yield capitalise_sentence(
            f"{begin}with antonyms, which ask for the opposite, {format_percent(1 - row['consistency'], 1)} of the "
            "answers do not mean the same as the first."
        )
        yield (
            f"“Yes” is then {frequency_text} frequent than unchanged answers would make it: "
            f"{format_percentage_points(row['excess_yes'])} "
            f"points{_format_yes_change_interval(row, 'excess_yes', n_comparisons)}."
        )


def _choose_text_by_change_sign(
    row: pd.Series, measure: str, n_comparisons: int, text_if_more: str, text_if_less: str, text_if_unclear: str
) -> str:
    """Choose the text by the side of 0 on which the widened interval of a change lies."""
    side = verdicts.compare_interval_with_value(*_widen_yes_change_interval(row, measure, n_comparisons), 0.0)
    return {"more": text_if_more, "less": text_if_less}.get(side, text_if_unclear)


def _widen_yes_change_interval(row: pd.Series, measure: str, n_comparisons: int) -> tuple[float, float]:
    """Return the interval of a change of “Yes”, widened for a number of comparisons (Bonferroni), within −1 and 1."""
    low, high = verdicts.widen_difference_interval_for_multiplicity(
        row[measure], row[f"{measure}_lower"], row[f"{measure}_upper"], n_comparisons
    )
    return (low, high) if pd.isna(low) else (max(-1.0, low), min(1.0, high))


def _format_consistency_interval(row: pd.Series, decimals: int, lead_text: str) -> str:
    """Write the interval of the consistency in brackets, after a lead; empty where there is none."""
    low, high = row["consistency_lower"], row["consistency_upper"]
    if pd.isna(low):
        return ""
    return f" ({lead_text}{format_percent(low, decimals).removesuffix(' %')} to {format_percent(high, decimals)})"


def _format_yes_change_interval(row: pd.Series, measure: str, n_comparisons: int) -> str:
    """Write the interval of a change, and for how many comparisons it is widened."""
    low, high = _widen_yes_change_interval(row, measure, n_comparisons)
    interval_name = "interval" if n_comparisons == 1 else f"interval for {n_comparisons:,} comparisons"
    return (
        ""
        if pd.isna(low)
        else f" ({interval_name} {format_percentage_points(low)} to {format_percentage_points(high)})"
    )


def _describe_largest_yes_change(consistency_rows: pd.DataFrame, begin: str) -> Iterator[str]:
    """Name the model and task that agreement-seeking wording moves most in a language, where there are several.

    The largest of many is too large by chance, so its interval is widened for their number.
    """
    rows = consistency_rows[consistency_rows["pattern"] == "agreement"].dropna(subset=["diff_yes"])
    if len(rows) < 2:
        return
    row = rows.loc[rows["diff_yes"].abs().idxmax()]
    task = f" on “{row['task']}”" if rows["task"].nunique() > 1 else ""
    yield capitalise_sentence(
        f"{begin}the largest change with agreement-seeking wording is that of {row['label']}{task}: "
        f"{format_percentage_points(row['diff_yes'])} points{_format_yes_change_interval(row, 'diff_yes', len(rows))}."
    )


def _describe_acquiescence_by_answer_certainty(shifts: pd.DataFrame, answering_rows: pd.DataFrame) -> Iterator[str]:
    """Say where agreement-seeking wording moves answers more, over the models that answer."""
    tested = shifts[(shifts["pattern"] == "agreement") & shifts["band_p_holm"].notna()]
    rows = tested.merge(answering_rows[UNIT])
    if rows.empty:
        return
    if not has_possibly_significant_test(tested):
        yield explain_no_detectable_difference(tested)
        return
    clear = verdicts.mark_clear_effects(rows["band_p_holm"])
    larger, smaller = (int((clear & (sign * rows["band_difference"] > 0)).sum()) for sign in (1, -1))
    yield (
        f"Where p(Yes) was between 0.2 and 0.8, agreement-seeking wording shifts it by "
        f"{format_percentage_points(rows['shift_band'].mean())} points on average over "
        f"{format_quantity(len(rows), 'comparison')} with a test, and elsewhere by "
        f"{format_percentage_points(rows['shift_outside'].mean())}."
    )
    yield (
        f"The shift between 0.2 and 0.8 is clearly larger in {larger or 'none'} of these, clearly smaller in "
        f"{smaller or 'none'} (bootstrap over items, {HOLM})."
    )


def _describe_mean_consistency_change(begin: str, comparisons: pd.DataFrame) -> Iterator[str]:
    """Say how Consistency changes: on average, and in how many comparisons (none of means) clearly, after Holm."""
    family = comparisons[comparisons["measure"] == "consistency"]
    rows = family[family["model"] != ""] if "model" in family else family
    if rows.empty:
        return
    yield f"{begin} {format_percentage_points(rows['difference'].mean())} points on average."
    tested, tested_rows = (part.dropna(subset=["p_holm"]) for part in (family, rows))
    if tested_rows.empty:
        return
    if not has_possibly_significant_test(tested):
        yield explain_no_detectable_difference(tested)
        return
    clear = verdicts.mark_clear_effects(tested_rows["p_holm"])
    up, down = (int((clear & (sign * tested_rows["difference"] > 0)).sum()) for sign in (1, -1))
    with_test = " with a test" if len(tested_rows) < len(rows) else ""
    yield (
        f"It is clearly higher in {up or 'none'} and clearly lower in {down or 'none'} of "
        f"{format_quantity(len(tested_rows), 'comparison')}{with_test} (sign test, or bootstrap, over items, {HOLM})."
    )
