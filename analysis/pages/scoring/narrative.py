"""Write the sentences of the page on scores: what was asked, the answer on top, and what belongs to which figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from analysis.measures.scores import GOLD, METHODS
from analysis.measures.thresholds import is_validity_below_half
from analysis.pages.scoring.by_setting import (
    HOLM,
    count_differences_of_sign_and_clear_ones,
    describe_all_settings_in_tables,
    describe_kurtosis_by_temperature,
    describe_range_of_most_extreme_kurtosis,
    describe_sampled_versus_exact_scores,
)
from analysis.pages.scoring.cautions import FEW_NUMBERS, list_cautions
from analysis.pages.scoring.influence import NOTHING
from analysis.pages.scoring.items import (
    label_rows_with_model_and_prompt,
    parse_range_ends,
    phrase_temperature,
    select_setting_rows,
)
from analysis.pages.scoring.undefined import EQUAL
from analysis.reporting import words
from analysis.reporting.catalogue import look_up_column
from analysis.reporting.catalogue.columns import format_value_by_column
from analysis.reporting.catalogue.published_numbers import OURS
from analysis.reporting.words import (
    Answer,
    explain_no_interval,
    format_count_range,
    format_percent,
    format_quantity,
    join_names,
    phrase_count_of_model_condition_pairs,
    verdicts,
)
from analysis.reporting.words.validity import phrase_verdict_without_judged_model
from analysis.reporting.words.verdicts import Band
from analysis.statistics.multiplicity import has_possibly_significant_test

Frames = Mapping[str, pd.DataFrame]
HABIT = 0.5  # share of a group's items from which on one score counts as given to everything
BANDS = (Band("no", 0.0, HABIT), Band("yes", HABIT, 1.0))
PEOPLE = "no more than people"
WORD_MEANINGS = (
    f"“Yes” means that one score is given to at least {format_percent(HABIT)} of the items of some group. The whole "
    "95 % interval of this share says so, widened for the number of groups and models.",
    f"“No” means that in every group, the whole interval lies below {format_percent(HABIT)}, widened for the number of "
    "models.",
    f"“{PEOPLE.capitalize()}” means the same, but the share of people's own most frequent score is not clearly "
    "smaller, by the interval of the difference (Newcombe).",
)


HABIT_MEANING = (
    f"With “yes”, one score goes to {format_percent(HABIT)} or more of the items of some group, so that it hardly "
    "tells these apart."
)


def answer_page_question(frames: Frames, setting: str, when: str = "", beyond: str = "") -> Answer:
    """Say whether the judge gives everything the same score, by the rules of `verdicts` and `WORD_MEANINGS`.

    Parameters
    ----------
    frames
        The tables of the page by name.
    setting
        Range, temperature and method, such as "0-9/0.7/sampled".
    when
        From `words.phrase_run_dates`.
    beyond
        What of the differences between models is more than rewording
        (`reporting.words.beyond.describe_differences_beyond_rewording`).

    Returns
    -------
    Answer
        What the page says in words.
    """
    scores = label_rows_with_model_and_prompt(frames["scores"])
    models = scores[scores["model"] != GOLD]
    setting_rows = select_setting_rows(models, setting)
    answering_rows = setting_rows[~is_validity_below_half(setting_rows["validity"])]
    setup_sentence = _describe_scoring_setup(models, frames["score_items"], setting, when)
    doubts = list_cautions(models, setting_rows, frames, setting)
    if answering_rows.empty and len(setting_rows):
        verdict, why = phrase_verdict_without_judged_model(setting_rows, FEW_NUMBERS)
        return Answer(setup_sentence, verdict, cautions=(*why, *doubts))
    judged_rows = answering_rows[answering_rows["mode_share"].notna()]
    habit_words = set(choose_repetition_verdict_word_per_model(judged_rows, scores)) if len(judged_rows) else set()
    differences = select_setting_rows(frames["score_differences"], setting)
    printed = frames["score_influence"]
    details = {
        "score_violins": (
            *WORD_MEANINGS[: 3 if PEOPLE in habit_words else 2],
            *_describe_most_repeated_score(answering_rows, scores),
            *_describe_models_of_extreme_tau(answering_rows),
            *describe_all_settings_in_tables(models),
            *([beyond] if beyond else []),
        ),
        "score_differences": tuple(_describe_tuning_effects(differences)),
        "score_influence": tuple(
            _describe_correlation_and_influence(_select_correlation_rows_of_these_runs(frames, setting))
        ),
        "score_influence_printed": tuple(_describe_correlation_and_influence(printed[printed["source"] != OURS])),
        "score_ranges": tuple(describe_range_of_most_extreme_kurtosis(frames["score_ranges"], frames["scores"])),
        "score_temperatures": tuple(describe_kurtosis_by_temperature(frames["scores"])),
        "score_methods": tuple(describe_sampled_versus_exact_scores(frames["score_methods"])),
    }
    verdict = (
        _describe_counts_of_scoring_verdicts(judged_rows, scores, n_asked=setting_rows["label"].nunique())
        if len(judged_rows)
        else f"{verdicts.UNCLEAR}: no item has a score."
    )
    return Answer(
        setup_sentence,
        verdict,
        cautions=tuple(doubts),
        details={name: sentences for name, sentences in details.items() if sentences},
        explanation=HABIT_MEANING if "yes" in habit_words else "",
    )


def _select_correlation_rows_of_these_runs(frames: Frames, setting: str) -> pd.DataFrame:
    """Return the correlation of these runs in one setting, whole and with each omission."""
    table = select_setting_rows(frames["score_influence"], setting)
    return table[table["source"] == OURS]


def _format_score_table_value(value: float, column: str) -> str:
    """Write a value with the digits of its column in table `scores`; nothing where it is undefined."""
    return format_value_by_column(value, look_up_column("scores", column))


def _format_score_interval_or_reason(row: pd.Series, column: str) -> str:
    """Write the interval in brackets, or why there is none."""
    low, high = row[f"{column}_lower"], row[f"{column}_upper"]
    if np.isnan(low):
        why = explain_no_interval(row, column)
        return f" ({why})" if why else ""
    return f" (95 % interval {_format_score_table_value(low, column)} to {_format_score_table_value(high, column)})"


def _describe_scoring_setup(models: pd.DataFrame, items: pd.DataFrame, setting: str, dates_text: str) -> str:
    """Say how many models scored how many items, on which range, how and when."""
    names = items.groupby("study", sort=False)["group"].nunique()
    inside = f" in {format_quantity(int(names.sum()), 'group')}" if names.sum() > 1 else ""
    total = len(items.dropna(subset=["score"]).drop_duplicates(["study", "item"]))
    span, temperature, method = setting.rsplit("/", 2)
    low, high = parse_range_ends(span)
    sizes = select_setting_rows(models, setting)["samples"].dropna()
    how = f"{format_count_range(sizes, 'sample')} each" if method == "sampled" and len(sizes) else "by probabilities"
    how += " after thoughts" if method not in METHODS else ""
    return (
        f"{format_quantity(models['model'].nunique(), 'model')} scored {format_quantity(total, 'item')} of "
        f"{join_names([f'“{name}”' for name in names.index], 2)}{inside} from {low} to {high}, {how} at "
        f"{phrase_temperature(temperature)}{dates_text}."
    )


def _describe_counts_of_scoring_verdicts(judged_rows: pd.DataFrame, scores: pd.DataFrame, n_asked: int) -> str:
    """Count the verdict words of the models; of a single one, say its share, and its name where others were asked."""
    habit_words = choose_repetition_verdict_word_per_model(judged_rows, scores)
    if not habit_words.any():
        wide = "with each model, an interval of the share of its most frequent score"
        if judged_rows["mode_share_lower"].isna().all():
            return f"{verdicts.UNCLEAR}: no interval was computed."
        corrected = ", widened for their number," if len(judged_rows) > 1 else ""
        return f"{verdicts.UNCLEAR}: {wide}{corrected} holds {format_percent(HABIT)}."
    tally_sentence = verdicts.describe_verdict_word_counts(
        list(habit_words), phrase_count_of_model_condition_pairs(judged_rows.drop_duplicates("label"))
    )
    if len(habit_words) > 1:
        return tally_sentence
    deciding = judged_rows[(_choose_verdict_words_of_score_rows(judged_rows, scores) == habit_words.iloc[0]).to_numpy()]
    row = deciding.loc[deciding["mode_share"].idxmax()]
    low, high = format_percent(row["mode_share_lower"]).removesuffix(" %"), format_percent(row["mode_share_upper"])
    where = f" of group “{row['group']}”" if judged_rows["group"].nunique() > 1 else ""
    share = format_percent(row["mode_share"])
    with_model = f"with {row['label']}, " if n_asked > 1 else ""
    return (
        f"{tally_sentence[:-1]}: {with_model}the most frequent score goes to {share} of the items{where} "
        f"(interval {low} to {high})."
    )


def choose_repetition_verdict_word_per_model(judged_rows: pd.DataFrame, scores: pd.DataFrame) -> pd.Series:
    """Give each model its word of `WORD_MEANINGS`, from the intervals of its most frequent score's share in each group.

    Parameters
    ----------
    judged_rows
        Rows of table `scores` of models that answer, with a `label`.
    scores
        The same table with the rows of the human scores.

    Returns
    -------
    Series
        label -> "yes", "no", "no more than people", or empty where an interval is too wide to tell.
    """
    model_labels = judged_rows["label"].unique()

    def choose_verdict_words_of_models(interval_count: int) -> list[str]:
        """Give each model its word, by intervals widened for a number of models."""
        return list(
            _choose_verdict_words_of_score_rows(judged_rows, scores, interval_count)
            .groupby(judged_rows["label"], sort=False)
            .agg(_combine_group_verdicts_of_model)
        )

    return pd.Series(
        verdicts.choose_words_by_stepwise_wider_intervals(choose_verdict_words_of_models, len(model_labels)),
        model_labels,
    )


def _choose_verdict_words_of_score_rows(
    judged_rows: pd.DataFrame, scores: pd.DataFrame, n_models: int = 1
) -> pd.Series:
    """Give each row its own word, by intervals that are widened for so many models.

    One group is enough for "yes", so for that word they are widened for the number of groups, too.
    """
    group_key, share_columns = ["study", "group", "range"], ["mode_share", "mode_share_lower", "mode_share_upper"]
    people = scores[scores["model"] == GOLD].drop_duplicates(group_key).set_index(group_key)[share_columns]
    human_shares = people.reindex(pd.MultiIndex.from_frame(judged_rows[group_key])).to_numpy(float)
    groups, row_words = judged_rows.groupby("label")["label"].transform("size"), []
    for model_share, human_share, interval_count in zip(
        judged_rows[share_columns].to_numpy(float), human_shares, n_models * groups, strict=True
    ):
        model_interval = verdicts.widen_share_interval_for_multiplicity(
            model_share[0], model_share[1], model_share[2], n_models
        )
        wide, people_wide = (
            verdicts.widen_share_interval_for_multiplicity(part[0], part[1], part[2], interval_count)
            for part in (model_share, human_share)
        )
        row_word = verdicts.choose_word_for_interval(*model_interval, BANDS[:1]) or verdicts.choose_word_for_interval(
            *wide, BANDS[1:]
        )
        is_above_people = verdicts.is_share_clearly_above_other_share(
            model_share[0], wide[0], human_share[0], people_wide[1]
        )
        row_words.append(
            PEOPLE if row_word == "yes" and not np.isnan(human_share[0]) and not is_above_people else row_word
        )
    return pd.Series(row_words, judged_rows.index)


def _combine_group_verdicts_of_model(group_verdicts: pd.Series) -> str:
    """Join one model's verdicts on its groups of items: "yes" wherever it holds, "no" where it holds in all."""
    if "yes" in set(group_verdicts):
        return "yes"
    return "" if "" in set(group_verdicts) else PEOPLE if PEOPLE in set(group_verdicts) else "no"


def _describe_most_repeated_score(answering_rows: pd.DataFrame, scores: pd.DataFrame) -> Iterator[str]:
    """Name the model and score with the largest share of items, and the most frequent human score with its share."""
    rows_with_mode = answering_rows.dropna(subset=["mode_share"])
    if rows_with_mode.empty:
        return
    row = rows_with_mode.loc[rows_with_mode["mode_share"].idxmax()]
    low, high = row["mode_share_lower"], row["mode_share_upper"]
    interval_text = (
        "" if np.isnan(low) else f" (95 % interval {format_percent(low).removesuffix(' %')} to {format_percent(high)})"
    )
    group_text = f" of group “{row['group']}”" if answering_rows["group"].nunique() > 1 else ""
    yield (
        f"The largest share of one score: {row['label']} gives {row['mode']:g} to {format_percent(row['mode_share'])} "
        f"of the items{group_text}{interval_text}."
    )
    gold = scores[(scores["model"] == GOLD) & (scores["study"] == row["study"]) & (scores["group"] == row["group"])]
    gold = gold[gold["range"] == row["range"]]
    if len(gold):
        yield f"Of the human scores there, {format_percent(gold['mode_share'].iloc[0])} are {gold['mode'].iloc[0]:g}."


def _describe_models_of_extreme_tau(answering_rows: pd.DataFrame) -> Iterator[str]:
    """Name the models with the lowest and the highest tau, with intervals."""
    rows_with_tau = answering_rows.dropna(subset=["tau"])
    if rows_with_tau.empty:
        return
    low, high = rows_with_tau.loc[rows_with_tau["tau"].idxmin()], rows_with_tau.loc[rows_with_tau["tau"].idxmax()]
    tau = "Tau, the rank agreement with the human scores, is"
    rows = [(f"{tau} lowest with", low), ("It is highest with", high)]
    for begin, row in rows if len(rows_with_tau) > 1 else [(f"{tau} that of", low)]:
        group_text = f" on group “{row['group']}”" if answering_rows["group"].nunique() > 1 else ""
        yield (
            f"{begin} {row['label']}{group_text}: {_format_score_table_value(row['tau'], 'tau')}"
            f"{_format_score_interval_or_reason(row, 'tau')}."
        )


def _describe_tuning_effects(differences: pd.DataFrame) -> Iterator[str]:
    """Say how kurtosis and tau change by tuning, in the pairs of which both models answer."""
    pairs = differences[
        ~(is_validity_below_half(differences["validity_pre"]) | is_validity_below_half(differences["validity_post"]))
    ]
    if pairs.empty:
        return
    yield "A pair is a base model and the model tuned from it, on one group of items."
    for name, measure_name in (("kurtosis", "Kurtosis, the peakedness of the scores,"), ("tau", "Tau")):
        defined_pairs = pairs.dropna(subset=[f"{name}_difference"])
        families = [family for _, family in differences[differences[f"{name}_p"].notna()].groupby("study")]
        if defined_pairs.empty:
            continue
        (up, more), (down, less) = (
            count_differences_of_sign_and_clear_ones(defined_pairs, name, sign) for sign in (1, -1)
        )
        if families and not has_possibly_significant_test(*families):
            yield f"{name.capitalize()}: {words.explain_no_detectable_difference(*families)}"
        elif n_tested := int(defined_pairs[f"{name}_p_holm"].notna().sum()):
            with_test = " with a test" if n_tested < len(defined_pairs) else ""
            yield (
                f"{measure_name} rises clearly in {more or 'none'} of {format_quantity(n_tested, 'pair')}{with_test} "
                f"and falls clearly in {less or 'none'} ({HOLM})."
            )
        yield (
            f"Without a test, {name} is higher after tuning in {up} of {format_quantity(len(defined_pairs), 'pair')}, "
            f"lower in {down}."
        )
    flat = int(pairs["caution"].str.contains(f"post: {EQUAL}", regex=False).sum())
    if flat:
        yield (
            f"In {flat} of {format_quantity(len(pairs), 'pair')}, the tuned model gives every item the same score, so "
            "kurtosis and tau are undefined. This is the strongest possible bias, and the numbers do not contain it."
        )


def _describe_correlation_and_influence(table: pd.DataFrame) -> Iterator[str]:
    """Write each study's correlation of the differences, and its value without the point that changes it most."""
    for study, part in table.groupby("study", sort=False):
        whole = part[part["omitted"] == NOTHING].iloc[0]
        if np.isnan(whole["pearson"]):
            continue
        study_text = f" of “{study}”" if table["study"].nunique() > 1 else ""
        yield (
            f"Over {format_quantity(int(whole['n']), 'point')}{study_text}, each a group and a series, the changes of "
            f"kurtosis and of tau correlate at {_format_score_table_value(whole['pearson'], 'pearson')}"
            f"{_format_score_interval_or_reason(whole, 'pearson')}."
        )
        if whole["pearson_lower"] <= 0 <= whole["pearson_upper"]:
            yield "The interval holds 0, so they may be unrelated."
        single = part[(part["omitted"] == "point") & part["pearson"].notna()]
        if len(single):
            most = single.loc[single["change"].abs().idxmax()]
            low, high = (
                _format_score_table_value(edge, "pearson")
                for edge in (single["pearson"].min(), single["pearson"].max())
            )
            yield (
                f"Without {most['omitted_name']}, the correlation is "
                f"{_format_score_table_value(most['pearson'], 'pearson')}."
            )
            yield f"With any one point left out, it lies between {low} and {high}."
