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
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from analysis.statistics.reliability import aggregated
from analysis.statistics.reliability.aggregated import Block
from analysis.statistics.reliability.ranking import Ranking
from analysis.statistics.reliability.templates import correct_luck, intervals_of_accuracies, noise_of_shares
from ground.errors import InputError, nearest

if TYPE_CHECKING:
    from analysis.runs import Runs

PROTOCOL = "accuracies"
ALL = "all"  # the mean over tasks
ACCURACY = "accuracy"
FEW, SEVERAL = 1, 4  # templates that coefficients are given for


@dataclass(frozen=True, slots=True)
class Group:
    """Hold what one ranking is made from.

    Attributes
    ----------
    task
        `ALL` for a mean over tasks.
    left_out
        Models that lack templates or tasks.
    tasks
        Those that the ranking is the mean over, a block each.
    n_tasks_asked
        Tasks that there are under this condition.
    """

    study: str
    condition: str
    task: str
    models: tuple[str, ...]
    blocks: tuple[Block, ...]
    left_out: tuple[str, ...]
    tasks: tuple[str, ...]
    n_tasks_asked: int

    @property
    def about(self) -> dict[str, Any]:
        """Return the columns that name a row about it."""
        return {"study": self.study, "condition": self.condition, "task": self.task}

    @property
    def sizes(self) -> dict[str, Any]:
        """Return how many models, tasks and templates of each there are, and the least number of answers."""
        templates = [block.accuracies.shape[1] for block in self.blocks]
        return {
            "n_models": len(self.models), "n_tasks": len(self.blocks), "n_tasks_asked": self.n_tasks_asked,
            "tasks": ", ".join(self.tasks), "n_templates": self.n_templates, "n_templates_least": min(templates),
            "n_templates_most": max(templates), "n_items": int(min(block.n.min() for block in self.blocks)),
        }  # fmt: skip

    @property
    def n_templates(self) -> float:
        """Return the number of templates of a task that all its models have, the mean over tasks."""
        return float(np.mean([block.accuracies.shape[1] for block in self.blocks]))


def studies(runs: Runs) -> list[str]:
    """Name the studies that are accuracies without answers."""
    return [name for name, fields in runs.info["studies"].items() if fields["protocol"] == PROTOCOL]


def only(runs: Runs) -> bool:
    """Tell whether these runs have no answers at all."""
    return len(studies(runs)) == len(runs.info["studies"])


def rows(runs: Runs) -> pd.DataFrame:
    """Read all accuracies in the order of the studies: study, model, condition, task, template, accuracy, n."""
    return runs.kept("accuracies", lambda: _rows(runs))


def _rows(runs: Runs) -> pd.DataFrame:
    found = runs.sql(
        """
        SELECT r.study, r.model, r.condition, r.item AS task, r.variant AS template, r.score AS accuracy, r.n
        FROM responses AS r
        JOIN stimuli AS s USING (study, item, variant)
        JOIN units AS u USING (study, model, condition)
        WHERE r.study IN (SELECT unnest(?)) ORDER BY u.position, s.position""",
        [studies(runs)],
    )
    wrong = found[~(found["accuracy"].between(0, 1) & (found["n"] >= 1))]
    if len(wrong):
        row = wrong.iloc[0]
        raise InputError(
            f"study {row['study']}: model {row['model']!r}, task {row['task']!r}, template {row['template']!r}: score "
            f"{row['accuracy']} of n {row['n']} is no accuracy; import it again"
        )
    return found


def groups(runs: Runs) -> list[Group]:
    """List the rankings of all studies, each condition with its mean over tasks first, where it has several tasks."""
    return runs.kept("accuracy groups", lambda: list(_groups(rows(runs))))


def _groups(found: pd.DataFrame) -> Iterator[Group]:
    for (study, condition), part in found.groupby(["study", "condition"], sort=False):
        about, models = (str(study), str(condition)), part["model"].unique()
        laid_out = {str(task): _ranked(rows_of_task) for task, rows_of_task in part.groupby("task", sort=False)}
        ranked = {task: tables for task, tables in laid_out.items() if min(tables[0].shape) > 1}
        shared = {task: tables for task, tables in ranked.items() if len(tables[0]) * 2 >= len(models)}
        if len(shared) > 1:
            in_all = [model for model in models if all(model in wide.index for wide, _ in shared.values())]
            if len(in_all) > 1:
                same = {task: (wide.loc[in_all], n.loc[in_all]) for task, (wide, n) in shared.items()}
                yield _group(about, ALL, same, models, len(laid_out))
        for task, tables in ranked.items():
            asked = part.loc[part["task"] == task, "model"].unique()
            yield _group(about, task, {task: tables}, asked, len(laid_out))


def _ranked(part: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Lay one task out as models by templates: accuracies, and numbers of answers."""
    wide, n = (part.pivot(index="model", columns="template", values=name) for name in (ACCURACY, "n"))
    wide = wide[wide.notna().sum(axis=1) * 2 >= wide.shape[1]].dropna(axis=1)
    wide = wide.loc[[model for model in part["model"].unique() if model in wide.index]]
    return wide, n.loc[wide.index, wide.columns]


def _group(
    about: tuple[str, str],
    task: str,
    tables: Mapping[str, tuple[pd.DataFrame, pd.DataFrame]],
    models: Any,
    n_asked: int,
) -> Group:
    ranked = tuple(next(iter(tables.values()))[0].index)
    blocks = tuple(Block(wide.to_numpy(float), n.to_numpy(float)) for wide, n in tables.values())
    left = tuple(model for model in models if model not in ranked)
    return Group(*about, task, ranked, blocks, left, tuple(tables), n_asked)


def ranking(runs: Runs, group: Group, seed: int) -> Ranking:
    """Rank the models of a group; once per group.

    Parameters
    ----------
    runs
        From `analysis.runs.open`.
    group
        From `groups`.
    seed
        Of the random draws.

    Returns
    -------
    Ranking
        Of the models of the group.
    """
    key = ("accuracy ranking", *group.about.values(), seed)
    return runs.kept(key, lambda: aggregated.ranking(group.blocks, seed=seed))


def ranks(runs: Runs, seed: int, anew: str) -> list[dict[str, Any]]:
    """Make the rows of `wording_ranking` about accuracies.

    Parameters
    ----------
    runs, seed
        As in `ranking`.
    anew
        What another study has anew.

    Returns
    -------
    list
        One row per model of a group, by rank.
    """
    return [
        {
            "study": group.study, "measure": ACCURACY, "headline": True, "task": group.task,
            "model": group.models[place], "condition": group.condition, "n_items": found.n_items,
            "n_wordings": found.n_wordings, "anew": anew, "mean": found.mean[place], "rank": found.rank[place],
            "rank_lower": found.lower[place], "rank_upper": found.upper[place], "first": found.first[place],
        }
        for group in groups(runs)
        for found in [ranking(runs, group, seed)]
        for place in np.argsort(found.rank, kind="stable")
    ]  # fmt: skip


def reliability(runs: Runs, *, seed: int = 0) -> pd.DataFrame:
    """Compute how reliably one template, or four, rank the models, with the components that it rests on.

    Parameters
    ----------
    runs
        From `analysis.runs.open`.
    seed
        Of the random draws.

    Returns
    -------
    DataFrame
        study, condition, task (`ALL`: the mean over tasks); n_models, n_tasks, n_tasks_asked and tasks (`Group`),
        n_templates, n_templates_least, n_templates_most, n_items; model, template, model_template, sampling,
        model_template_least: components (`aggregated.Reliability`); one, one_lower, one_upper, four, four_lower,
        four_upper: coefficients of generalizability with the same items; one_items, four_items: with other items;
        kept_one: mean share of pairs with the same order under another template; tau: expected Kendall tau with another
        study of this size.
    """
    made = []
    for group in groups(runs):
        found = aggregated.reliability(group.blocks)
        pairs = np.triu_indices(len(group.models), 1)
        (one_low, one_high), (four_low, four_high) = (found.interval(k, seed) for k in (FEW, SEVERAL))
        made.append({
            **group.about, **group.sizes, "model": found.model, "template": found.template,
            "model_template": found.model_template, "sampling": found.sampling,
            "model_template_least": found.model_template - found.sampling,
            "one": found.coefficient(FEW), "one_lower": one_low, "one_upper": one_high,
            "four": found.coefficient(SEVERAL), "four_lower": four_low, "four_upper": four_high,
            "one_items": found.coefficient(FEW, items=True), "four_items": found.coefficient(SEVERAL, items=True),
            "kept_one": float(aggregated.kept_by_one(group.blocks, seed=seed)[pairs].mean()),
            "tau": ranking(runs, group, seed).tau,
        })  # fmt: skip
    return pd.DataFrame(made).rename(columns={"model": "models"})


def pairs(runs: Runs, *, task: str = "", seed: int = 0) -> pd.DataFrame:
    """Compute for every pair of models how likely it keeps its order under other templates, and with other items.

    Parameters
    ----------
    task
        Of this task; empty: by the mean over tasks, or of the only task.

    Returns
    -------
    DataFrame
        study, condition, task, n_templates; a_model, b_model: a has the higher mean; difference: a minus b; kept_one:
        share of the pairs of templates that order them alike (`aggregated.kept_by_one`); same_wordings: probability
        that as many other templates of the same items find the same sign; same_both: with other items, too.

    Raises
    ------
    InputError
        For a task that is not there.
    """
    found = groups(runs)
    known = list(dict.fromkeys(group.task for group in found))
    if task and found and task not in known:
        raise InputError(f"task = {task!r}: no models are ranked by it{nearest(task, known)}; there are "
                         f"{', '.join(known[:20])}")  # fmt: skip
    several = {(group.study, group.condition) for group in found if group.task == ALL}
    default = [group for group in found if group.task == ALL or (group.study, group.condition) not in several]
    made = []
    for group in [group for group in found if group.task == task] if task else default:
        ranked = ranking(runs, group, seed)
        one, others = aggregated.kept_by_one(group.blocks, seed=seed), aggregated.kept_by_others(group.blocks)
        for a, b in combinations(np.argsort(ranked.rank, kind="stable"), 2):
            made.append({
                **group.about, "n_templates": group.n_templates, "a_model": group.models[a], "b_model": group.models[b],
                "difference": ranked.mean[a] - ranked.mean[b], "kept_one": one[a, b], "same_wordings": others[a, b],
                "same_both": ranked.kept[a, b],
            })  # fmt: skip
    return pd.DataFrame(made)


def templates(runs: Runs) -> list[dict[str, Any]]:
    """Return the rows of `templates` about accuracies, with Wilson's intervals."""
    from analysis.statistics.resampling import LEVEL
    from analysis.statistics.shares import wilson

    found = rows(runs)
    lower, upper = wilson(found["accuracy"].to_numpy(float), found["n"].to_numpy(float), LEVEL)
    named = found.rename(columns={"n": "n_items"}).assign(accuracy_lower=lower, accuracy_upper=upper)
    return [{str(name): value for name, value in row.items()} for row in named.to_dict("records")]


def name_ends(ends: Mapping[str, tuple[float, float, float]]) -> dict[str, float]:
    """Name estimates and the ends of their intervals as columns; the SD, which never has an interval, has none."""
    row: dict[str, float] = {}
    for name, (value, low, high) in ends.items():
        row |= {name: value} if name == "sd" else {name: value, f"{name}_lower": low, f"{name}_upper": high}
    return row


def scores(runs: Runs) -> list[dict[str, Any]]:
    """Return the rows of `template_scores` about accuracies: of every model, condition and task."""
    made = []
    for names, part in rows(runs).groupby(["study", "model", "condition", "task"], sort=False):
        about: Mapping[str, Any] = dict(zip(("study", "model", "condition", "task"), names, strict=True))
        shares, n = part["accuracy"].to_numpy(float), part["n"].to_numpy(float)
        ends = intervals_of_accuracies(shares, n)
        row = {**about, "n_items": int(part["n"].min()), "n_templates": len(part)}
        made.append(row | name_ends(ends) | correct_luck(shares, noise_of_shares(shares, n), ends))
    return made
