"""Ask the questions of a table with Inspect, in all their wordings and orders: `inspect eval waver_inspect/reworded`.

This package is installed under its own name, `waver_inspect`, as Inspect finds the tasks of a package by its name. It
needs the extra `inspect`. `waver import inspect` reads the logs without any key (docs/inspect.md).
"""

from __future__ import annotations

import re
from typing import Any

from inspect_ai import Task, task
from inspect_ai._util.error import PrerequisiteError  # the one error that Inspect shows as a line
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import choice
from inspect_ai.solver import multiple_choice

from ground.errors import InputError
from inference.protocols.choice.command_lm_eval import MOST_ORDERS
from inference.protocols.choice.harness_samples import list_choice_letters, read_table_as_harness_samples
from inference.stimuli.reading.files import shorten_value


@task
def reworded(items: str = "", orders: int | None = None, seed: int = 0, cot: bool = False) -> Task:
    """Ask multiple-choice questions in several wordings, each with its choices in several orders.

    Parameters
    ----------
    items
        A table of questions, as `waver run choice --items` takes it.
    orders
        Orders of the choices of every question; by default those of the table, else eight.
    seed
        Of the draw of orders.
    cot
        Whether the model thinks step by step before it answers.

    Returns
    -------
    The task, with a sample per question, wording and order.

    Raises
    ------
    PrerequisiteError
        An argument is of another kind, or the table cannot be read; in one line.
    """
    _refuse_task_arguments_of_wrong_type(items, orders, seed, cot)
    try:
        samples = read_table_as_harness_samples(items, orders, seed)
    except (InputError, OSError) as error:
        # Messages name the option of `waver run choice`.
        told = re.sub(r"--orders (?=\d)", "-T orders=", str(error)).replace("--orders", "-T orders")
        raise PrerequisiteError(f"waver: {told}") from None
    dataset = [
        Sample(
            id=sample.name,
            input=sample.question,
            choices=list(sample.choices),
            target=list_choice_letters(sample)[sample.answer],
            metadata=dict(sample.fields),
        )
        for sample in samples
    ]
    return Task(dataset=MemoryDataset(dataset, name=str(items)), solver=multiple_choice(cot=cot), scorer=choice())


def _refuse_task_arguments_of_wrong_type(items: Any, orders: Any, seed: Any, cot: Any) -> None:
    """Refuse what Inspect read after `-T` where it is of another kind: it takes every value as YAML."""
    what_is_needed = {
        "items": (items, isinstance(items, str) and bool(items.strip()), "the path of a table of questions"),
        "orders": (
            orders,
            orders is None or _is_whole_number_between(orders, 1, MOST_ORDERS),
            f"a number from 1 to {MOST_ORDERS}",
        ),
        "seed": (seed, _is_whole_number_between(seed, 0, 2**32 - 1), "a whole number from 0 on, below 2**32"),
        "cot": (cot, isinstance(cot, bool), "true or false"),
    }
    for name, (value, is_right, needed) in what_is_needed.items():
        if not is_right:
            given = f"not {shorten_value(value)}" if value != "" else "which is missing"
            raise PrerequisiteError(f"waver: -T {name} must be {needed}, {given}")


def _is_whole_number_between(value: Any, low: int, high: int) -> bool:
    """Tell whether a value is a whole number between two, both included."""
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
