"""Compute the tables about accuracies without answers: how they rank models, and which pairs keep their order.

A *group* is one ranking: the models of a study under one condition, in one task or by the mean over tasks (`ALL`).
Ranked are the models that have half of a task's templates or more, by the templates that all of these have; by the mean
over tasks, the models that are ranked in every task that half of the condition's models or more are ranked in. The
mean is over these tasks only: a group names them, and says how many tasks there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from analysis.measures.part_names import name_part_beside_total
from analysis.pages.reliability.columns import ALL, BOTH
from analysis.runs import Runs
from analysis.statistics.reliability import aggregated
from analysis.statistics.reliability.aggregated import TaskAccuracies
from analysis.statistics.reliability.ranking import Ranking
from analysis.statistics.reliability.templates import (
    correct_best_scores_for_luck,
    estimate_item_noise_variance_from_accuracies,
    summarize_template_accuracies_with_intervals,
)
from analysis.statistics.resampling import LEVEL
from analysis.statistics.shares import wilson
from ground.errors import InputError, format_nearest_name_hint

PROTOCOL = "accuracies"
ACCURACY = "accuracy"
FEW, SEVERAL = 1, 4  # templates that coefficients are given for


@dataclass(frozen=True, slots=True)
class RankingGroup:
    """Hold what one ranking is made from.

    Attributes
    ----------
    task
        `ALL` for a mean over tasks.
    tasks
        Those that the ranking is the mean over, a block each.
    n_tasks_asked
        Tasks that there are under this condition.
    """

    study: str
    condition: str
    task: str
    models: tuple[str, ...]
    blocks: tuple[TaskAccuracies, ...]
    tasks: tuple[str, ...]
    n_tasks_asked: int

    @property
    def key_column_values(self) -> dict[str, Any]:
        """Return the columns that name a row about it."""
        return {"study": self.study, "condition": self.condition, "task": self.task}

    @property
    def group_size_columns(self) -> dict[str, Any]:
        """Return how many models, tasks and templates of each there are, and the least number of answers."""
        templates = [block.accuracies.shape[1] for block in self.blocks]
        return {
            "n_models": len(self.models), "n_tasks": len(self.blocks), "n_tasks_asked": self.n_tasks_asked,
            "tasks": ", ".join(self.tasks), "n_templates": self.mean_n_shared_templates_per_task,
            "n_templates_least": min(templates), "n_templates_most": max(templates),
            "n_items": int(min(block.n.min() for block in self.blocks)),
        }  # fmt: skip

    @property
    def mean_n_shared_templates_per_task(self) -> float:
        """Return the number of templates of a task that all its models have, the mean over tasks."""
        return float(np.mean([block.accuracies.shape[1] for block in self.blocks]))


def list_studies_with_only_accuracies(runs: Runs) -> list[str]:
    """List the names of the studies that consist of accuracies, without single answers."""
    return runs.list_studies_of_protocols(PROTOCOL)


def has_only_accuracies(runs: Runs) -> bool:
    """Tell whether these runs have no answers at all."""
    return len(list_studies_with_only_accuracies(runs)) == len(runs.info["studies"])


def read_accuracy_rows(runs: Runs) -> pd.DataFrame:
    """Read all accuracies in the order of the studies: study, model, condition, task, template, accuracy, n."""
    return runs.compute_once("accuracies", lambda: _query_accuracy_rows(runs))


def _query_accuracy_rows(runs: Runs) -> pd.DataFrame:
    """Query all accuracies by study, refusing other scores; a task called as the mean over tasks is renamed."""
    accuracy_rows = runs.sql(
        """
        SELECT r.study, r.model, r.condition, r.item AS task, r.variant AS template, r.score AS accuracy, r.n
        FROM responses AS r
        JOIN stimuli AS s USING (study, item, variant)
        JOIN units AS u USING (study, model, condition)
        WHERE r.study IN (SELECT unnest(?)) ORDER BY u.position, s.position""",
        [list_studies_with_only_accuracies(runs)],
    )
    wrong_rows = accuracy_rows[~(accuracy_rows["accuracy"].between(0, 1) & (accuracy_rows["n"] >= 1))]
    if len(wrong_rows):
        row = wrong_rows.iloc[0]
        raise InputError(
            f"study {row['study']}: model {row['model']!r}, task {row['task']!r}, template {row['template']!r}: score "
            f"{row['accuracy']} of n {row['n']} is no accuracy; import it again"
        )
    task_names = accuracy_rows["task"].map(lambda name: name_part_beside_total(name, ALL, "task"), na_action="ignore")
    return accuracy_rows.assign(task=task_names)


def list_ranking_groups(runs: Runs) -> list[RankingGroup]:
    """List the rankings of all studies, each condition with its mean over tasks first, where it has several tasks."""
    return runs.compute_once("accuracy groups", lambda: list(_build_ranking_groups(read_accuracy_rows(runs))))


def _build_ranking_groups(accuracy_rows: pd.DataFrame) -> Iterator[RankingGroup]:
    """Yield the rankings of every study and condition: by the mean over tasks first, then of every task."""
    for (study, condition), part in accuracy_rows.groupby(["study", "condition"], sort=False):
        study_condition, models = (str(study), str(condition)), part["model"].unique()
        tables_by_task = {
            str(task): _pivot_task_accuracies_and_counts_by_template(rows_of_task)
            for task, rows_of_task in part.groupby("task", sort=False)
        }
        ranked_tables = {task: tables for task, tables in tables_by_task.items() if min(tables[0].shape) > 1}
        shared_tables = {task: tables for task, tables in ranked_tables.items() if len(tables[0]) * 2 >= len(models)}
        if len(shared_tables) > 1:
            common_models = [
                model for model in models if all(model in wide.index for wide, _ in shared_tables.values())
            ]
            if len(common_models) > 1:
                common_tables = {
                    task: (wide.loc[common_models], n.loc[common_models]) for task, (wide, n) in shared_tables.items()
                }
                yield _build_ranking_group(study_condition, ALL, common_tables, len(tables_by_task))
        for task, tables in ranked_tables.items():
            yield _build_ranking_group(study_condition, task, {task: tables}, len(tables_by_task))


def _pivot_task_accuracies_and_counts_by_template(task_rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Lay one task out as models by templates: accuracies, and numbers of answers."""
    wide, n = (task_rows.pivot(index="model", columns="template", values=name) for name in (ACCURACY, "n"))
    wide = wide[wide.notna().sum(axis=1) * 2 >= wide.shape[1]].dropna(axis=1)
    wide = wide.loc[[model for model in task_rows["model"].unique() if model in wide.index]]
    return wide, n.loc[wide.index, wide.columns]


def _build_ranking_group(
    study_condition: tuple[str, str],
    task: str,
    accuracies_and_counts_by_task: Mapping[str, tuple[pd.DataFrame, pd.DataFrame]],
    n_tasks_asked: int,
) -> RankingGroup:
    """Build the group of one ranking from the accuracies and the numbers of answers of its tasks."""
    ranked_models = tuple(next(iter(accuracies_and_counts_by_task.values()))[0].index)
    blocks = tuple(
        TaskAccuracies(wide.to_numpy(float), n.to_numpy(float)) for wide, n in accuracies_and_counts_by_task.values()
    )
    return RankingGroup(
        *study_condition, task, ranked_models, blocks, tuple(accuracies_and_counts_by_task), n_tasks_asked
    )


def compute_ranking_of_group(runs: Runs, group: RankingGroup, seed: int) -> Ranking:
    """Rank the models of a group; once per group.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    group
        From `list_ranking_groups`.
    seed
        Of the random draws.

    Returns
    -------
    Ranking
        Of the models of the group.
    """
    key = ("accuracy ranking", *group.key_column_values.values(), seed)
    return runs.compute_once(key, lambda: aggregated.build_accuracy_ranking_with_stability(group.blocks, seed=seed))


def list_rank_rows_from_accuracies(runs: Runs, seed: int) -> list[dict[str, Any]]:
    """Make the rows of `wording_ranking` about accuracies.

    Parameters
    ----------
    runs, seed
        As in `compute_ranking_of_group`.

    Returns
    -------
    list
        One row per model of a group, by rank.
    """
    return [
        {
            "study": group.study, "measure": ACCURACY, "headline": True, "task": group.task,
            "model": group.models[place], "condition": group.condition, "n_items": group_ranking.n_items,
            "n_wordings": group_ranking.n_wordings, "anew": BOTH, "mean": group_ranking.mean[place],
            "rank": group_ranking.rank[place],
            "rank_lower": group_ranking.lower[place], "rank_upper": group_ranking.upper[place],
            "first": group_ranking.first[place],
        }
        for group in list_ranking_groups(runs)
        for group_ranking in [compute_ranking_of_group(runs, group, seed)]
        for place in np.argsort(group_ranking.rank, kind="stable")
    ]  # fmt: skip


def tabulate_ranking_reliability_of_templates(runs: Runs, *, seed: int = 0) -> pd.DataFrame:
    """Compute how reliably one template, or four, rank the models, with the components that it rests on.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    seed
        Of the random draws.

    Returns
    -------
    DataFrame
        study, condition, task (`ALL`: the mean over tasks; a task of that name is "task all"); n_models, n_tasks,
        n_tasks_asked and tasks (`RankingGroup`), n_templates, n_templates_least, n_templates_most, n_items; models,
        template, model_template, sampling, model_template_least: components (`aggregated.Reliability`); one, one_lower,
        one_upper, four, four_lower, four_upper: coefficients of generalizability with the same items; one_items,
        four_items: with other items; kept_one: mean share of pairs with the same order under another template; tau:
        expected Kendall tau with another study of this size.
    """
    table_rows = []
    for group in list_ranking_groups(runs):
        group_reliability = aggregated.estimate_components_of_mean_task_accuracy(group.blocks)
        model_pairs = np.triu_indices(len(group.models), 1)
        (one_low, one_high), (four_low, four_high) = (
            group_reliability.compute_coefficient_interval(k, seed) for k in (FEW, SEVERAL)
        )
        table_rows.append({
            **group.key_column_values, **group.group_size_columns, "model": group_reliability.model,
            "template": group_reliability.template,
            "model_template": group_reliability.model_template, "sampling": group_reliability.sampling,
            "model_template_least": group_reliability.model_template - group_reliability.sampling,
            "one": group_reliability.compute_generalizability(FEW), "one_lower": one_low, "one_upper": one_high,
            "four": group_reliability.compute_generalizability(SEVERAL), "four_lower": four_low,
            "four_upper": four_high,
            "one_items": group_reliability.compute_generalizability(FEW, other_items=True),
            "four_items": group_reliability.compute_generalizability(SEVERAL, other_items=True),
            "kept_one": float(
                aggregated.compute_order_agreement_of_each_model_pair(group.blocks, seed=seed)[model_pairs].mean()
            ),
            "tau": compute_ranking_of_group(runs, group, seed).tau,
        })  # fmt: skip
    return pd.DataFrame(table_rows).rename(columns={"model": "models"})


def tabulate_same_order_probabilities(runs: Runs, *, task: str = "", seed: int = 0) -> pd.DataFrame:
    """Compute for every pair of models how likely it keeps its order under other templates, and with other items.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    task
        Of this task; empty: by the mean over tasks, or where there is none, of every task.
    seed
        Of the random draws.

    Returns
    -------
    DataFrame
        study, condition, task, n_templates; a_model, b_model: a has the higher mean; difference: a minus b; kept_one:
        share of the pairs of templates that order them alike
        (`aggregated.compute_order_agreement_of_each_model_pair`); same_wordings: probability that as many other
        templates of the same items find the same sign; same_both: with other items, too.

    Raises
    ------
    InputError
        For a task that is not there.
    """
    all_groups = list_ranking_groups(runs)
    task_names = list(dict.fromkeys(group.task for group in all_groups))
    if task and all_groups and task not in task_names:
        raise InputError(f"task = {task!r}: no models are ranked by it{format_nearest_name_hint(task, task_names)}; "
                         f"there are {', '.join(task_names[:20])}")  # fmt: skip
    averaged_conditions = {(group.study, group.condition) for group in all_groups if group.task == ALL}
    default_groups = [
        group for group in all_groups if group.task == ALL or (group.study, group.condition) not in averaged_conditions
    ]
    table_rows = []
    for group in [group for group in all_groups if group.task == task] if task else default_groups:
        group_ranking = compute_ranking_of_group(runs, group, seed)
        kept_one = aggregated.compute_order_agreement_of_each_model_pair(group.blocks, seed=seed)
        kept_others = aggregated.estimate_probabilities_of_pairs_keeping_order(group.blocks)
        for a, b in combinations(np.argsort(group_ranking.rank, kind="stable"), 2):
            table_rows.append({
                **group.key_column_values, "n_templates": group.mean_n_shared_templates_per_task,
                "a_model": group.models[a], "b_model": group.models[b],
                "difference": group_ranking.mean[a] - group_ranking.mean[b], "kept_one": kept_one[a, b],
                "same_wordings": kept_others[a, b],
                "same_both": group_ranking.same_order_probability[a, b],
            })  # fmt: skip
    return pd.DataFrame(table_rows)


def list_template_rows_from_accuracies(runs: Runs) -> list[dict[str, Any]]:
    """Return the rows of `templates` about accuracies, with Wilson's intervals."""
    accuracy_rows = read_accuracy_rows(runs)
    lower, upper = wilson(accuracy_rows["accuracy"].to_numpy(float), accuracy_rows["n"].to_numpy(float), LEVEL)
    table_rows = accuracy_rows.rename(columns={"n": "n_items"}).assign(accuracy_lower=lower, accuracy_upper=upper)
    return [{str(name): value for name, value in row.items()} for row in table_rows.to_dict("records")]


def flatten_estimates_to_row(estimates_with_ends: Mapping[str, tuple[float, float, float]]) -> dict[str, float]:
    """Name estimates and the ends of their intervals as columns; the SD, which never has an interval, has none."""
    row: dict[str, float] = {}
    for name, (value, low, high) in estimates_with_ends.items():
        row |= {name: value} if name == "sd" else {name: value, f"{name}_lower": low, f"{name}_upper": high}
    return row


def list_task_accuracy_summaries(runs: Runs) -> list[dict[str, Any]]:
    """Return the rows of `template_scores` about accuracies: of every model, condition and task."""
    table_rows = []
    for names, part in read_accuracy_rows(runs).groupby(["study", "model", "condition", "task"], sort=False):
        row_keys: Mapping[str, Any] = dict(zip(("study", "model", "condition", "task"), names, strict=True))
        shares, n = part["accuracy"].to_numpy(float), part["n"].to_numpy(float)
        ends = summarize_template_accuracies_with_intervals(shares, n)
        row = {**row_keys, "n_items": int(part["n"].min()), "n_templates": len(part)}
        table_rows.append(
            row
            | flatten_estimates_to_row(ends)
            | correct_best_scores_for_luck(shares, estimate_item_noise_variance_from_accuracies(shares, n), ends)
        )
    return table_rows
