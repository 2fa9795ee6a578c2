"""Write the sentences of the page from its tables: whether the result stands on wordings of the same meaning."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import pandas as pd

from analysis.measures.thresholds import is_validity_below_half
from analysis.pages.meaning.cautions import (
    format_interval_in_brackets,
    format_two_decimals,
    list_cautions,
    phrase_study_where_several,
)
from analysis.reporting.words import (
    Answer,
    chance,
    format_percent,
    format_percentage_points,
    format_quantity,
    join_names,
    labels,
    phrase_count_of_model_condition_pairs,
    verdicts,
)
from analysis.reporting.words.counts import iterate_count_of_unnamed_rows
from analysis.reporting.words.meaning import (
    HARDLY,
    NO_CHECK,
    NOTHING,
    PART,
    RULES,
    STAND,
    choose_meaning_support_words,
    describe_support_by_same_meaning,
    do_all_answered_wordings_mean_the_same,
    join_flip_shares_with_same_meaning,
)
from analysis.reporting.words.validity import phrase_verdict_without_judged_model
from ground.capitals import capitalise_sentence
from ground.meaning.separation import ALLOWED
from ground.meaning.verdicts import ANOTHER, LEAST_AUC, LEAST_SHARE, PEOPLE, SAME, UNCLEAR

Frames = Mapping[str, pd.DataFrame]
TABLES = (
    "meaning_checks", "meaning_decoys", "meaning_annotators", "meanings", "meaning_flips", "meaning_corrected",
    "meaning_effect",
)  # fmt: skip
SUBJECT = "The result"
RESULT_MEANING = (
    "The result is how often a model answers another wording otherwise than the original; it stands where wordings of "
    "the same meaning change nearly as many answers."
)
UNCHECKED = "No wording of these runs was checked for its meaning; “waver meaning RUN” does that."
CHECK_RULES = (
    f"A check is used where the whole 95 % interval of its AUC lies above {LEAST_AUC:g}, and at least "
    f"{format_percent(LEAST_SHARE)} of the wordings that passed reach its threshold. From the threshold on, at most "
    f"{format_percent(ALLOWED)} of the decoys pass."
)
CORRECTED = "Corrected for the errors of the check, the share of changed answers"
BY_PEOPLE = "The share of changed answers to wordings that people would call the same"
NAMED_CHECKS = 4  # checks and models that sentences name: they say how many more the tables have
CHECK_NAME = 40  # characters


def answer_page_question(frames: Frames, when: str = "", by_chance: pd.DataFrame = chance.NO_CHANCE) -> Answer:
    """Say whether the result stands on wordings of the same meaning, by the rules of `words.meaning`.

    Parameters
    ----------
    frames
        The tables named in `TABLES`.
    when
        From `words.phrase_run_dates`.
    by_chance
        Whose answers chance alone may have changed (`words.chance.tabulate_units_with_chance_changes`).

    Returns
    -------
    Answer
        What the page says in words.
    """
    flips, meanings = frames["meaning_flips"], frames["meanings"]
    if meanings.empty:
        return Answer(UNCHECKED, NO_CHECK)
    setup = _describe_answering_models_and_meaning_judges(frames, when)
    units = flips.reindex(columns=labels.UNIT).drop_duplicates()
    units = units.assign(
        label=labels.build_row_labels(units)
    )  # of some rows alone, a label may lack study or condition
    labelled_tables = {
        name: frames[name].merge(units) for name in ("meaning_flips", "meaning_corrected") if len(frames[name])
    }
    frames = {**frames, **labelled_tables}
    flips = frames["meaning_flips"]
    answering = flips[~is_validity_below_half(flips["validity"])] if len(flips) else flips
    judged_units = answering.reindex(columns=labels.UNIT).drop_duplicates()
    corrected, effects = (
        frames[name].merge(judged_units) if len(frames[name]) else frames[name]
        for name in ("meaning_corrected", "meaning_effect")
    )
    cautions = (*chance.iterate_chance_change_cautions(answering, by_chance), *list_cautions(frames))
    details = {
        "meaning_roc": (CHECK_RULES, *_describe_quality_of_checks(frames["meaning_checks"])),
        "meanings": tuple(_describe_verdict_counts(meanings)),
        "meaning_annotators": tuple(_describe_agreement_of_people(frames["meaning_annotators"])),
        "meaning_effect": tuple(_describe_how_many_models_shift_by_meaning(effects)),
    }
    details = {name: sentences for name, sentences in details.items() if sentences}  # those that something is said of
    if meanings["meaning"].isna().all():
        return Answer(setup, NO_CHECK, cautions=cautions, details=details)
    if answering.empty and len(flips):
        verdict, why = phrase_verdict_without_judged_model(flips)
        return Answer(setup, verdict, cautions=(*why, *cautions), details=details)
    rows = join_flip_shares_with_same_meaning(answering, corrected) if len(answering) else answering
    if rows.empty:
        return Answer(setup, NOTHING, cautions=cautions, details=details)
    rows = rows.merge(units)
    support_words = choose_meaning_support_words(rows, by_chance)
    details["meaning_flips_by_model"] = (
        RULES[0],
        *_describe_models_of_each_support_word(support_words, rows),
        *_describe_extreme_all_vs_same_meaning_gaps(rows),
        *_describe_corrected_flip_shares(corrected, frames["meaning_checks"]),
    )  # fmt: skip
    sentences = [describe_support_by_same_meaning(support_words, rows, SUBJECT)]
    sentences += [_describe_mean_flip_shares(rows)] if len(set(support_words)) == 1 else []
    return Answer(setup, " ".join(sentences), cautions=cautions, details=details, explanation=RESULT_MEANING)


def _describe_answering_models_and_meaning_judges(frames: Frames, when: str) -> str:
    """Say which models answered how many wordings, and who compared what these mean."""
    flips, meanings = frames["meaning_flips"], frames["meanings"]
    models = flips["model"].nunique() if len(flips) else 0
    items = meanings[["study", "item"]].drop_duplicates()
    who = [format_quantity(number, noun, plural) for number, noun, plural in (
        (count_people_who_judged_meaning(frames["meaning_annotators"]), "person", "people"),
        (frames["meaning_checks"]["check"].nunique(), "check", "checks"),
    ) if number]  # fmt: skip
    return (
        f"{format_quantity(models, 'model')} answered {format_quantity(len(meanings), 'wording')} of "
        f"{format_quantity(len(items), 'item')}{when}; {join_names(who)} compared their meanings."
    )


def count_people_who_judged_meaning(annotators: pd.DataFrame) -> int:
    """Count the people who judged wordings: the row of all of them is none."""
    return annotators.loc[annotators["annotator"] != "all", "annotator"].nunique() if len(annotators) else 0


def _describe_mean_flip_shares(rows: pd.DataFrame) -> str:
    """Say how many answers change, of wordings of the same meaning and of all."""
    same, all_wordings = (format_percent(rows[name].mean()) for name in ("same_flip", "flip"))
    start = f"{'On average, ' * (len(rows) > 1)}{same}"
    if do_all_answered_wordings_mean_the_same(rows):
        return f"{start} of the answers change."
    return f"{start} change, of all wordings {all_wordings}."


def _describe_models_of_each_support_word(support_words: list[str], rows: pd.DataFrame) -> Iterator[str]:
    """Say which word is that of which model, where they differ."""
    if len(set(support_words)) == 1:
        return
    for word in (STAND, PART, HARDLY, ""):
        of_word = [name for name, row_word in zip(rows["label"], support_words, strict=True) if row_word == word]
        if of_word:
            yield f"{f'“{capitalise_sentence(word)}”' if word else 'Unclear'}: {join_names(of_word, NAMED_CHECKS)}."


def _describe_extreme_all_vs_same_meaning_gaps(rows: pd.DataFrame) -> Iterator[str]:
    """Say how far both shares are apart, for the models where the difference is lowest and highest."""
    rows = rows.dropna(subset=["flip_difference_lower", "flip_difference_upper"])
    if rows.empty:
        return
    ends = dict.fromkeys((rows["flip_difference"].idxmin(), rows["flip_difference"].idxmax()))
    for row in (rows.loc[place] for place in ends):
        yield (
            f"With {row['label']}, {format_percent(row['same_flip'])} of the answers to wordings of the same meaning "
            f"differ from that to the original: {format_percentage_points(row['flip_difference'])} points against all "
            f"wordings (95 % interval {format_percentage_points(row['flip_difference_lower'])} to "
            f"{format_percentage_points(row['flip_difference_upper'])})."
        )


def _describe_corrected_flip_shares(corrected: pd.DataFrame, checks: pd.DataFrame) -> Iterator[str]:
    """Say what the share would be if the check made no errors, or why that is not shown."""
    if corrected.empty:
        return
    with_check = set(checks.loc[checks["used"].astype(bool), "study"])
    is_shown = corrected["not_shown"].fillna("") == ""
    subject_before = ""
    for row in corrected[is_shown].head(NAMED_CHECKS).to_dict("records"):
        subject = CORRECTED if row["study"] in with_check else BY_PEOPLE
        share = f"{format_percent(row['corrected'])} ({format_percent(row['lower'])} to {format_percent(row['upper'])})"
        is_new = subject != subject_before  # what the shares are of is said once
        yield f"{subject} is {share} with {row['label']}." if is_new else f"With {row['label']}, it is {share}."
        subject_before = subject
    yield from iterate_count_of_unnamed_rows(int(is_shown.sum()), NAMED_CHECKS, "corrected share")
    for reason, rows in corrected[~is_shown].groupby("not_shown", sort=False):
        with_models = f" with {join_names(list(rows['label']))}" if len(rows) < len(corrected) else ""
        yield f"No corrected share is shown{with_models}: {reason}."


def quote_check_name(check: str) -> str:
    """Write the name of a check in quotation marks, the middle of a long one cut out."""
    return f"“{labels.shorten_middle(check, CHECK_NAME)}”"


def _describe_quality_of_checks(checks: pd.DataFrame) -> Iterator[str]:
    """Say how well every check parts decoys from wordings that passed, the best one first."""
    order = checks.sort_values(["used", "auc"], ascending=False, kind="stable")
    for row in order.head(NAMED_CHECKS).to_dict("records"):
        name = quote_check_name(row["check"]) + phrase_study_where_several(checks, row["study"])
        if pd.isna(row["auc"]):
            yield f"{name} is not used: {row['why_not']}."
            continue
        auc = f"{row['auc']:.2f}{format_interval_in_brackets(row, 'auc')}"
        if row["used"]:
            passed = "wordings that people call the same" if row["passed_by"] == PEOPLE else "wordings"
            yield (
                f"{name} parts them: AUC {auc}. From {row['threshold']:.3g} on, {format_percent(row['passed_share'])} "
                f"of the {passed} pass, and {format_percent(row['decoy_share'])} of the "
                f"decoys{_format_interval_of_passing_decoys(row)}."
            )
        else:
            yield f"{name} is not used: {row['why_not']}. Its AUC is {auc}."
    noun = "check" if order["study"].nunique() == 1 else "such row"  # two studies may have one check
    yield from iterate_count_of_unnamed_rows(len(order), NAMED_CHECKS, noun)


def _format_interval_of_passing_decoys(row: Mapping[Hashable, Any]) -> str:
    """Write the interval of the share of decoys that pass: the threshold was made from these very decoys."""
    ends = [row["decoy_share_lower"], row["decoy_share_upper"]]
    return "" if pd.isna(ends).any() else f"; of other decoys, {format_percent(ends[0])} to {format_percent(ends[1])}"


def _describe_verdict_counts(meanings: pd.DataFrame) -> Iterator[str]:
    """Count the verdicts."""
    if meanings["meaning"].isna().all():
        return
    counts = meanings["meaning"].value_counts()
    same, another, unclear = (int(counts.get(verdict, 0)) for verdict in (SAME, ANOTHER, UNCLEAR))
    left = int(meanings["meaning"].isna().sum())
    yield (
        f"Of {format_quantity(len(meanings), 'wording')}, {same:,} mean{'s' * (same == 1)} the same as the original, "
        f"{another:,} mean{'s' * (another == 1)} something else, {unclear:,} {'is' if unclear == 1 else 'are'} unclear"
        + (f"; {left:,} {'has' if left == 1 else 'have'} no verdict." if left else ".")
    )


def _describe_agreement_of_people(annotators: pd.DataFrame) -> Iterator[str]:
    """Say how far people agree, and how many decoys each of them passed."""
    if annotators.empty:
        return
    together = annotators[annotators["annotator"] == "all"].dropna(subset=["alpha"])
    for row in together.to_dict("records"):
        kappa = f", Fleiss' kappa {format_two_decimals(row['kappa'])}" if pd.notna(row["kappa"]) else ""
        yield (
            f"Krippendorff's alpha of the people{phrase_study_where_several(annotators, row['study'])} "
            f"is {format_two_decimals(row['alpha'])}{format_interval_in_brackets(row, 'alpha')}{kappa}, on "
            f"{format_quantity(int(row['n_wordings']), 'wording')}."
        )
    single = annotators[(annotators["annotator"] != "all") & annotators["decoy_error_share"].notna()]
    for row in single.head(NAMED_CHECKS).to_dict("records"):
        yield (
            f"“{labels.shorten_middle(row['annotator'], 20)}” called {format_percent(row['decoy_error_share'])} of "
            f"{format_quantity(int(row['n_decoys']), 'decoy')} the "
            f"same{phrase_study_where_several(annotators, row['study'])}."
        )
    nouns = ("person", "people") if single["study"].nunique() == 1 else ("such row",)
    yield from iterate_count_of_unnamed_rows(len(single), NAMED_CHECKS, *nouns)


def _describe_how_many_models_shift_by_meaning(effects: pd.DataFrame) -> Iterator[str]:
    """Count the models whose answers are further from the original where the meaning score is lower."""
    tested = effects.dropna(subset=["p_holm"]) if len(effects) else effects
    if tested.empty:
        return
    clear = verdicts.mark_clear_effects(tested["p_holm"], tested["p_robust_holm"])
    further, nearer = (int((clear & (sign * tested["estimate"] < 0)).sum()) for sign in (1, -1))
    sentence = (
        f"The lower the meaning score, the further the answer is from that to the original: in {further or 'none'} of "
        f"{phrase_count_of_model_condition_pairs(tested)}, by two errors of the mixed model after Holm"
    )
    yield f"{sentence}; in {nearer:,}, the nearer." if nearer else f"{sentence}."
