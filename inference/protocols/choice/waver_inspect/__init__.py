"""Ask the questions of a table with Inspect, in all their wordings and orders: `inspect eval waver_inspect/reworded`.

This package is installed under its own name, `waver_inspect`, as Inspect finds the tasks of a package by its name. It
needs the extra `inspect`. `waver import inspect` reads the logs without any key (docs/inspect.md).
"""

from __future__ import annotations

from inspect_ai import Task, task
from inspect_ai._util.error import PrerequisiteError  # the one error that Inspect shows as a line
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import choice
from inspect_ai.solver import multiple_choice

from ground.errors import InputError
from inference.protocols.choice.harness_samples import list_harness_samples, name_choice_letters


@task
def reworded(items: str, orders: int | None = None, seed: int = 0, cot: bool = False) -> Task:
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
    """
    try:
        samples = list_harness_samples(items, orders, seed)
    except (InputError, OSError) as error:
        raise PrerequisiteError(f"waver: {error}") from None
    dataset = [
        Sample(
            id=sample.name,
            input=sample.question,
            choices=list(sample.choices),
            target=name_choice_letters(sample)[sample.answer],
            metadata=dict(sample.fields),
        )
        for sample in samples
    ]
    return Task(dataset=MemoryDataset(dataset, name=str(items)), solver=multiple_choice(cot=cot), scorer=choice())
