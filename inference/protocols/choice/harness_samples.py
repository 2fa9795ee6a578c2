"""Make the samples by which other tools ask a table of questions: every wording with every order of the choices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from string import ascii_uppercase

from ground.errors import InputError
from inference.importers.shared.waver_fields import ITEM, ORDER, PATTERN, VARIANT
from inference.protocols.choice.wordings import build_question_items, refuse_unequal_wording_or_order_counts
from inference.stimuli import questions
from inference.stimuli.reading.files import expand_user_path
from inference.stimuli.study import Variant


@dataclass(frozen=True, slots=True)
class HarnessSample:
    """One question in one wording, with its choices in one order.

    Attributes
    ----------
    name
        Item, wording and number of the order: `tea.paraphrase-1.2`.
    choices
        As they are shown.
    answer
        Place of the right one among them.
    fields
        What the tool is to log, so that `waver import` knows the item, the wording and the order again.
    """

    name: str
    question: str
    choices: tuple[str, ...]
    answer: int
    fields: Mapping[str, str]


def read_table_as_harness_samples(items: str, n_orders: int | None, seed: int) -> list[HarnessSample]:
    """List the samples of a table; its wordings and orders are those of `waver run choice`.

    Parameters
    ----------
    items
        A table of multiple-choice questions.
    n_orders
        Orders of the choices of every question; None: those of the table, else eight.
    seed
        Of the draw of orders.

    Returns
    -------
    The samples, in the order of the table.

    Raises
    ------
    InputError
        The table cannot be read, or nothing varies between the samples of its questions.
    """
    table_questions = questions.read_questions(expand_user_path(items))
    refuse_unequal_wording_or_order_counts(table_questions, n_orders)
    study_items = build_question_items(table_questions, n_orders, seed)
    if all(len(item.variants) == 1 for item in study_items):
        raise InputError(
            f"{items}: every question has one wording and one order of its choices, so nothing varies; add "
            "`paraphrase_1`, or ask for more orders"
        )
    return [_build_harness_sample(variant) for item in study_items for variant in item.variants]


def _build_harness_sample(variant: Variant) -> HarnessSample:
    """Make the sample of a variant."""
    canonical = [option.canonical for option in variant.options]
    return HarnessSample(
        name=f"{variant.item}.{variant.variant.replace('/', '.')}",
        question=variant.text,
        choices=tuple(variant.attributes[f"choice_{letter}"] for letter in canonical),
        answer=canonical.index(str(variant.gold)),
        fields={
            ITEM: variant.item,
            PATTERN: variant.pattern,
            ORDER: "".join(canonical),
            VARIANT: variant.variant,
        },
    )


def list_choice_letters(sample: HarnessSample) -> list[str]:
    """Name the letters before the choices of a sample."""
    return list(ascii_uppercase[: len(sample.choices)])
