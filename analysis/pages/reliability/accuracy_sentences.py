"""Say in sentences what accuracies without answers tell about templates and rankings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from analysis.pages.reliability.columns import ALL
from analysis.reporting.words import (
    Answer,
    format_count_range,
    format_percent,
    format_quantity,
    join_names,
    list_few_models_cautions,
    verdicts,
)
from analysis.reporting.words.doubts import LEFT_OUT, WIDE, Caution
from ground.capitals import capitalise_sentence
from ground.errors import format_part_with_verb

TABLES = ("template_reliability", "template_scores", "wording_ranking", "template_pairs")
LIKELY = 0.95
CONDITIONS = 3  # that sentences are written about
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def answer_page_question_from_accuracies(frames: Mapping[str, pd.DataFrame], when: str = "") -> Answer:
    """Say how many pairs of models keep their order with another template, and how reliably one ranks them.

    Parameters
    ----------
    frames
        The tables named in `TABLES`.
    when
        From `words.phrase_run_dates`.

    Returns
    -------
    Answer
        What the page says in words.
    """
    scores, rankings = frames["template_scores"], frames["template_reliability"]
    models, tasks = scores["model"].nunique(), scores.groupby("study")["task"].nunique().sum()
    conditions = scores["condition"].nunique()
    under = f" under {conditions} conditions" if conditions > 1 else ""
    asked_sentence = (
        f"{format_quantity(models, 'model')} {'has' if models == 1 else 'have'} accuracies in "
        f"{format_quantity(int(tasks), 'task')} with {format_count_range(scores['n_templates'], 'template')} of "
        f"each{under}{when}."
    )
    return Answer(
        asked_sentence,
        " ".join(_describe_rank_stability_over_templates(rankings)),
        cautions=tuple(_list_accuracy_cautions(scores, rankings, frames["wording_ranking"])),
        details=_group_accuracy_sentences_by_catalogue_entry(frames),
    )


def add_cautions_and_details_on_accuracies(page_answer: Answer, frames: Mapping[str, pd.DataFrame]) -> Answer:
    """Add what accuracies tell to the answer about other runs.

    Parameters
    ----------
    page_answer
        The answer about other runs.
    frames
        The tables named in `TABLES`.

    Returns
    -------
    Answer
        With the cautions and details about accuracies: a sentence names their studies, in every caution and before
        details.
    """
    scores, rankings = frames["template_scores"], frames["template_reliability"]
    scores = scores[scores["task"] != ""]
    accuracies_text = f"the accuracies of {join_names([f'“{study}”' for study in scores['study'].unique()], 2)}"
    cautions = (
        Caution(f"The answer leaves out {accuracies_text}.", LEFT_OUT),
        *(
            Caution(f"{caution} That is about {accuracies_text}.", caution.doubt)
            for caution in _list_accuracy_cautions(scores, rankings, frames["wording_ranking"])
        ),
    )
    details = {
        name: (*page_answer.details.get(name, ()), f"What follows is about {accuracies_text}.", *sentences)
        for name, sentences in _group_accuracy_sentences_by_catalogue_entry(frames).items()
    }
    return replace(page_answer, cautions=(*page_answer.cautions, *cautions), details={**page_answer.details, **details})


def _group_accuracy_sentences_by_catalogue_entry(frames: Mapping[str, pd.DataFrame]) -> dict[str, tuple[str, ...]]:
    """Return the sentences about accuracies by the figure or table that they belong to."""
    rankings, scores, places = (frames[name] for name in ("template_reliability", "template_scores", "wording_ranking"))
    details = {
        "template_reliability": (
            *_describe_ranking_reliability_of_templates(rankings),
            *_describe_number_of_told_rankings(rankings),
        ),
        "template_ranges": tuple(_describe_template_ranges(scores[scores["task"] != ""])) if len(scores) else (),
        "wording_ranking": tuple(_describe_first_ranked_models(places[places["task"] != ""], rankings))
        if len(places)
        else (),
        "template_pairs": tuple(_describe_number_of_sure_model_orders(frames["template_pairs"])),
    }
    return {name: sentences for name, sentences in details.items() if sentences}


def _describe_rank_stability_over_templates(rankings: pd.DataFrame) -> Iterator[str]:
    """Yield how many pairs of models keep their order with another template, and how reliably one ranks them."""
    if rankings.empty:
        yield "Two models and two templates that both have would be needed to tell whether their order would stand."
        return
    main_rankings = _select_rankings_by_mean_else_by_task(rankings)
    if main_rankings["one"].isna().all():  # no pair has an order that it could keep
        yield f"{verdicts.UNCLEAR} whether the order of the models would stand: their accuracies are equal."
        return
    of_each = " of each task" if (main_rankings["task"] == ALL).all() else ""
    grouping = "condition" if len(main_rankings) == main_rankings["condition"].nunique() else "ranking"
    or_more, under = (" or more", f", in every {grouping}") if len(main_rankings) > 1 else ("", "")
    yield (
        f"From one template{of_each} to another, {format_percent(main_rankings['kept_one'].min())}{or_more} of pairs "
        f"of models kept their order{', by the mean over tasks' if of_each else ''}{under}."
    )
    with_interval = main_rankings.dropna(subset=["one_lower", "one_upper"])
    if len(with_interval) < len(main_rankings):
        yield "How reliably one template ranks them is not shown: models differ too little."
        return
    every = f"intervals of every {grouping}" if len(main_rankings) > 1 else "interval"
    yield (
        f"One of {_format_template_count_range(main_rankings, spelled_out=True)} templates ranks them with a "
        f"reliability of {format_coefficient(with_interval['one_lower'].min())} to "
        f"{format_coefficient(with_interval['one_upper'].max())} ({every})."
    )


def _format_template_count_range(rows: pd.DataFrame, *, spelled_out: bool = False) -> str:
    """Write how many templates the tasks have: "5 to 7", or, as far as there are words, "five to seven"."""
    ends = int(rows["n_templates_least"].min()), int(rows["n_templates_most"].max())
    texts = [WORDS[number] if spelled_out and number < len(WORDS) else f"{number:,}" for number in ends]
    return " to ".join(dict.fromkeys(texts))


def _select_rankings_by_mean_else_by_task(rankings: pd.DataFrame) -> pd.DataFrame:
    """Return the rankings that sentences are about: by the mean over tasks, or where there is none, of every task."""
    has_mean = rankings.groupby(["study", "condition"])["task"].transform(lambda tasks: (tasks == ALL).any())
    return rankings[(rankings["task"] == ALL) | ~has_mean]


def _describe_number_of_told_rankings(rankings: pd.DataFrame) -> Iterator[str]:
    """Say of how many rankings no sentence is written, once for all sentences of the page."""
    total = len(_select_rankings_by_mean_else_by_task(rankings)) if len(rankings) else 0
    if total > CONDITIONS:
        yield f"Sentences here and below are about the first {CONDITIONS} of {total} rankings; the tables have all."


def _describe_ranking_reliability_of_templates(rankings: pd.DataFrame) -> Iterator[str]:
    """Say how reliably one template, and four, rank the models, and in which task one does so least."""
    for row in _select_rankings_by_mean_else_by_task(rankings).to_dict("records")[:CONDITIONS] if len(rankings) else ():
        is_mean = row["task"] == ALL
        over = f"the mean over {_format_averaged_task_count(row)}" if is_mean else row["task"]
        if np.isnan(row["one"]):
            continue
        where = _format_condition_prefix(rankings, row)
        templates = _format_template_count_range(pd.DataFrame([row]))
        yield (
            f"{f'{where}one' if where else 'One'} of {templates} templates ranks "
            f"{row['n_models']} models by {over} {_phrase_reliability_with_interval(row, 'one')}."
        )
        yield f"Four such templates rank them {_phrase_reliability_with_interval(row, 'four')}."
        yield f"From one template to another, {format_percent(row['kept_one'])} of pairs of models kept their order."
        task_rankings = rankings[(rankings["study"] == row["study"]) & (rankings["condition"] == row["condition"])
                        & (rankings["task"] != ALL)].dropna(subset=["one"])  # fmt: skip
        if is_mean and len(task_rankings):
            low = task_rankings.loc[task_rankings["one"].idxmin()]
            yield (
                f"By single tasks, the estimate is lowest in {low['task']}: one of {low['n_templates']:.0f} templates "
                f"ranks models {_phrase_reliability_with_interval(low, 'one')}."
            )


def _format_averaged_task_count(row: Mapping[str, Any]) -> str:
    """Say over how many tasks a mean is: "8 tasks", or "6 of 8 tasks"."""
    of_all = f"{row['n_tasks']} of " if row["n_tasks"] < row["n_tasks_asked"] else ""
    return f"{of_all}{format_quantity(int(row['n_tasks_asked']), 'task')}"


def _phrase_reliability_with_interval(row: Mapping[str, Any] | pd.Series, coefficient_name: str) -> str:
    """Say a coefficient with its interval; nothing is said of one without."""
    low, high = row[f"{coefficient_name}_lower"], row[f"{coefficient_name}_upper"]
    if pd.isna(low) or pd.isna(high):
        return "with a reliability that is not shown, as models differ too little"
    return (
        f"with a reliability of {format_coefficient(row[coefficient_name])} "
        f"(interval {format_coefficient(low)} to {format_coefficient(high)})"
    )


def _format_condition_prefix(
    rankings: pd.DataFrame, row: Mapping[str, object] | pd.Series, *, with_task: bool = False
) -> str:
    """Write "Condition X: ", with study and, on demand, task, where there are several; else nothing."""
    names = {"study": f"study “{row['study']}”", "condition": f"condition {row['condition']}"}
    if with_task:
        names["task"] = "mean over tasks" if row["task"] == ALL else f"task {row['task']}"
    prefix = ", ".join(name for column, name in names.items() if rankings[column].nunique() > 1)
    return f"{capitalise_sentence(prefix)}: " if prefix else ""


def format_coefficient(value: float) -> str:
    """Write a coefficient with two digits; one that rounding would make perfect, with a bound."""
    return f"{value:.2f}".replace("-", "−") if value < 0.995 or value >= 1 else "more than 0.99"


def _describe_template_ranges(scores: pd.DataFrame) -> Iterator[str]:
    """Say how far templates are apart in each study and condition: over all tasks, and where they are most."""
    repeated_scores = scores[scores["n_templates"] > 1]
    for _, part in list(repeated_scores.groupby(["study", "condition"], sort=False))[:CONDITIONS]:
        where = _format_condition_prefix(repeated_scores, part.iloc[0])
        means = part.groupby("task", sort=False)["range"].mean()
        most = f", most in {means.idxmax()} by {means.max():.3f}" if means.max() > means.min() else ""
        yield capitalise_sentence(
            f"{where}the best and the worst template of a task differ by {part['range'].mean():.3f} on "
            f"average{most}; SD over templates {part['sd'].mean():.3f}."
        )
        row = part.loc[part["range"].idxmax()]
        yield f"They differ most for {row['model']} in {row['task']}: {row['lowest']:.3f} to {row['highest']:.3f}."


def _describe_first_ranked_models(rank_rows: pd.DataFrame, rankings: pd.DataFrame) -> Iterator[str]:
    """Say who is first, and whether it would be in another study."""
    main_rankings = _select_rankings_by_mean_else_by_task(rankings) if len(rankings) else rankings
    for row in main_rankings.to_dict("records")[:CONDITIONS]:
        keys = ["study", "condition", "task"]
        part = rank_rows[(rank_rows[keys] == pd.Series(row)[keys]).all(axis=1)]
        leaders = part[part["rank"] == part["rank"].min()]
        first = leaders.iloc[0]
        yield _format_condition_prefix(main_rankings, row, with_task=True) + (
            f"{join_names(list(leaders['model']))} share the first rank."
            if len(leaders) > 1
            else f"{first['model']} is first, and expected to stay so in some {format_percent(first['first'])} of "
            f"studies with other items and templates. In 95 % of them, its rank is {first['rank_lower']:.0f} to "
            f"{first['rank_upper']:.0f}."
        )
        if row["tau"] == row["tau"]:  # none where all means are equal
            tau = format_coefficient(row["tau"])
            yield f"The ranking's tau with that of another study is expected to be about {tau}."


def _describe_number_of_sure_model_orders(model_pairs: pd.DataFrame) -> Iterator[str]:
    """Count the pairs of each ranking that keep their order almost surely."""
    keys = ["study", "condition", "task"]
    for _, part in list(model_pairs.groupby(keys, sort=False))[:CONDITIONS] if len(model_pairs) else ():
        where = _format_condition_prefix(model_pairs, part.iloc[0], with_task=True)
        n_sure, n_sure_both = ((part[name] >= LIKELY).sum() for name in ("same_wordings", "same_both"))
        number = f"{part['n_templates'].iloc[0]:.1f}".removesuffix(".0")
        per_task = " per task" if part["task"].iloc[0] == ALL else ""
        pairs_keep = format_part_with_verb(n_sure, len(part), "pair", "keeps its", "keep their")
        yield (
            f"{where}{pairs_keep} order under {number} other templates{per_task} with a probability of 95 % or more. "
            f"With other items, too, {format_quantity(n_sure_both, 'does', 'do')} so."
        )


def _list_accuracy_cautions(scores: pd.DataFrame, rankings: pd.DataFrame, rank_rows: pd.DataFrame) -> Iterator[Caution]:
    """Yield what weakens an answer from accuracies: no single items, models left out, few templates or models."""
    yield Caution(
        "These are accuracies without answers: flips, spreads over the wordings of an item, and components of items "
        "need the answers to single items.",
        LEFT_OUT,
    )
    if rankings.empty:
        return
    main_rankings = _select_rankings_by_mean_else_by_task(rankings)
    is_partial_mean = (main_rankings["task"] == ALL) & (main_rankings["n_tasks"] < main_rankings["n_tasks_asked"])
    for row in main_rankings[is_partial_mean].to_dict("records")[:CONDITIONS]:
        where = _format_condition_prefix(rankings, row)
        yield Caution(
            f"{f'{where}means' if where else 'Means'} over tasks are over {row['n_tasks']} of {row['n_tasks_asked']} "
            "tasks, in which half of the models or more are ranked.",
            LEFT_OUT,
        )
    left = _count_models_missing_in_a_ranking(scores, main_rankings, rank_rows)
    if left:
        yield Caution(
            f"{format_quantity(left, 'model')} {'is' if left == 1 else 'are'} not ranked everywhere: ranked are models "
            "with half of a task's templates or more, by the templates that all of these have.",
            LEFT_OUT,
        )
    few = rankings.loc[rankings["task"] != ALL, "n_templates"]
    if len(few) and few.min() < 5:
        yield Caution(
            f"Some tasks have only {int(few.min())} templates: so few say little of others, however many models.", WIDE
        )
    yield from list_few_models_cautions(int(main_rankings["n_models"].min()))
    is_uncertain = rankings["model_template_least"] < 0
    if is_uncertain.any():
        tasks = join_names(list(rankings.loc[is_uncertain, "task"].replace(ALL, "the mean over tasks").unique()))
        several = len(rankings[["study", "condition"]].drop_duplicates()) > 1
        where = f"{is_uncertain.sum():,} of {len(rankings):,} rankings, by {tasks}" if several else tasks
        yield Caution(
            f"Binomial error alone may explain how templates move models differently in {where}: too few answers are "
            "behind each accuracy.",
            WIDE,
        )


def _count_models_missing_in_a_ranking(scores: pd.DataFrame, rankings: pd.DataFrame, rank_rows: pd.DataFrame) -> int:
    """Count the models with accuracies in the task and condition of a ranking, or any task of a mean, but no rank."""
    keys = ["study", "condition", "task"]
    asked = pd.concat([scores, scores.assign(task=ALL)])[[*keys, "model"]].drop_duplicates().merge(rankings[keys])
    rows = asked.merge(rank_rows[[*keys, "model"]], how="left", indicator=True)
    return int(rows.loc[rows["_merge"] == "left_only", "model"].nunique())
