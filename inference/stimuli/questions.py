"""Read multiple-choice questions, and draw the orders in which their choices are shown.

Files may be in our own layout or in that of ARC, CommonsenseQA, MMLU, MathQA or Unified-MCQA
(`inference.stimuli.question_layouts`). Choi, section 2: a question is asked in three wordings, each with its choices in
eight orders.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase
from typing import Any
from unicodedata import normalize

from ground.errors import InputError
from inference.stimuli import question_layouts, random_order
from inference.stimuli.reading.files import parse_json, shorten_value

MOST = len(ascii_uppercase)
"""The most choices of a question: each needs a capital letter of its own."""
SPLITS = ("train", "validation", "test")
GENERAL, MATH = "general knowledge", "math reasoning"
SUBSETS = {
    "arc": GENERAL,
    "arceasy": GENERAL,
    "arcchallenge": GENERAL,
    "commonsenseqa": GENERAL,
    "mmlu": GENERAL,
    "mathqa": MATH,
}
"""Name of a source, small letters only -> its subset (Choi, section 4.3)."""


@dataclass(frozen=True, slots=True)
class Question:
    """A multiple-choice question with its paraphrases.

    Attributes
    ----------
    answer
        The index of the right choice in `choices`, which stand as in the file.
    subset
        "general knowledge" or "math reasoning"; or what the file says; None where nobody says.
    split
        One of `SPLITS`, or None.
    orders
        Orders of the choices: `orders[k][p]` is the index of the choice that order k shows at place p.
    passage
        A text that the question is about; None in a closed-book question.
    """

    item: str
    question: str
    choices: tuple[str, ...]
    answer: int
    paraphrases: tuple[str, ...] = ()
    subset: str | None = None
    source: str | None = None
    split: str | None = None
    orders: tuple[tuple[int, ...], ...] = ()
    passage: str | None = None

    @property
    def letter_of_right_choice(self) -> str:
        """The letter of the right choice, in the order of the file."""
        return ascii_uppercase[self.answer]


class EqualChoices(InputError):
    """Two choices of a question are equal, so that an answer could be either. Published data sets have some."""

    def __init__(self, message: str, question: Question) -> None:
        super().__init__(message)
        self.question = question


def read_questions(path: str | Path, equal_choice_errors: list[EqualChoices] | None = None) -> list[Question]:
    """Read the questions of a file.

    Parameters
    ----------
    path
        A .csv, .tsv, .json, .jsonl, .yaml or .parquet file, or a workbook. Where a row has no id, its item is the name
        of the file and the number of the row: "abstract_algebra_test-3".
    equal_choice_errors
        A list: what is wrong with questions that have two equal choices is put there, and the others are read (24 of
        CommonsenseQA's 1,221 for validation have). None: the first of them is an error, like anything else.

    Returns
    -------
    The questions.

    Raises
    ------
    InputError
        Naming the file, the row and the field: no question, an answer that is not among the choices, two equal
        choices (`EqualChoices`), fewer than 2 choices or more than `MOST`, orders that are none, an item named
        twice.
    """
    path = Path(path)
    place_by_item: dict[str, str] = {}
    questions = []
    for place, record in question_layouts.read_question_records(path):
        where = f"{path}, {place}"
        try:
            question = _build_question(where, f"{path.stem}-{place.split()[-1]}", record)
        except EqualChoices as error:
            if equal_choice_errors is None:
                raise
            equal_choice_errors.append(error)
            continue
        first = place_by_item.setdefault(question.item, place)
        if first != place:
            raise InputError(
                f"{where}: item {shorten_value(question.item)} is there twice, first in {first}; name each once"
            )
        questions.append(question)
    return questions


def draw_choice_orders(item: str, n_choices: int, n_orders: int, seed: int) -> tuple[tuple[int, ...], ...]:
    """Draw different random orders of the choices of a question.

    They depend on the item, the number of choices and the seed, on nothing else; a larger count begins with the orders
    of a smaller one.

    Parameters
    ----------
    item
        Name of the question.
    n_choices
        Number of its choices.
    n_orders
        Number of orders.
    seed
        Another seed gives other orders.

    Returns
    -------
    Per order the places of the choices as they are shown: (2, 0, 1) shows the third choice first.

    Raises
    ------
    InputError
        So many orders do not exist: three choices have six.
    """
    if n_orders > math.factorial(n_choices):
        raise InputError(
            f"item '{item}': {n_choices} choices have {math.factorial(n_choices)} orders, not {n_orders}; ask for "
            "fewer orders"
        )
    return tuple(order for _, order in zip(range(n_orders), _draw_distinct_orders(item, n_choices, seed), strict=False))


def _draw_distinct_orders(item: str, n_choices: int, seed: int) -> Iterator[tuple[int, ...]]:
    """Shuffle again and again; an order that was drawn before is passed over."""
    drawn_orders: set[tuple[int, ...]] = set()
    number = 0
    while len(drawn_orders) < math.factorial(n_choices):
        number += 1
        keys = [
            random_order.compute_sort_key_for_random_order(
                seed, "choices", item, str(n_choices), str(number), str(choice)
            )
            for choice in range(n_choices)
        ]
        order = tuple(sorted(range(n_choices), key=keys.__getitem__))
        if order not in drawn_orders:
            drawn_orders.add(order)
            yield order


def find_skill_subset_by_dataset_name(dataset_name: str | None) -> str | None:
    """Tell the subset of a data set by its name; None where it is another.

    >>> (find_skill_subset_by_dataset_name("MathQA"), find_skill_subset_by_dataset_name("arc_challenge"),
    ...  find_skill_subset_by_dataset_name("my questions"))
    ('math reasoning', 'general knowledge', None)
    """
    return SUBSETS.get("".join(filter(str.isalnum, (dataset_name or "").casefold())))


def _build_question(where: str, default_id: str, record: Mapping[str, Any]) -> Question:
    """Make and check the question of a record of any layout."""
    plain = next(read for fits, read in question_layouts.LAYOUTS if fits(record))(where, record)
    if not isinstance(plain.question, str) or not plain.question.strip():
        raise InputError(f"{where}: there is no question ({shorten_value(plain.question)}); fill it in")
    if not 2 <= len(plain.choices) <= MOST:
        raise InputError(
            f"{where}: a question needs 2 to {MOST} choices (each has a capital letter), and this has "
            f"{len(plain.choices)}"
        )
    source = _parse_optional_text_field(where, "source", plain.source)
    question = Question(
        _parse_question_id(where, record, default_id),
        plain.question.strip(),
        plain.choices,
        plain.answer,
        question_layouts.parse_paraphrases(where, record),
        _parse_optional_text_field(where, "subset", record.get("subset")) or find_skill_subset_by_dataset_name(source),
        source,
        _parse_split(where, record.get("split")),
        _parse_choice_orders(where, record.get("orders"), len(plain.choices)),
        _parse_optional_text_field(where, "passage", plain.passage),
    )
    _refuse_equal_choices(where, question)
    return question


def _refuse_equal_choices(where: str, question: Question) -> None:
    """Refuse two choices that are equal, white space aside."""
    place_by_choice: dict[str, int] = {}
    for place, choice in enumerate(question.choices):
        first = place_by_choice.setdefault(normalize("NFC", " ".join(choice.split())), place)
        if first != place:
            raise EqualChoices(
                f"{where}: choices {ascii_uppercase[first]} and {ascii_uppercase[place]} are equal "
                f"({shorten_value(choice)}); an answer could be either: change one or take the question out (`waver "
                "choice build` does)",
                question,
            )


def _parse_question_id(where: str, record: Mapping[str, Any], default_id: str) -> str:
    """Return the id of a question; without one, the default."""
    value = record.get("item", record.get("id"))
    if value is None:
        return default_id
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise InputError(f"{where}: item must be the number or name of a question, not {shorten_value(value)}")
    return str(value).strip()


def _parse_optional_text_field(where: str, name: str, value: Any) -> str | None:
    """Return a stripped text, None where it is empty or missing; refuse what is no text."""
    if value is not None and not isinstance(value, str):
        raise InputError(f"{where}: {name} must be text, not {shorten_value(value)}")
    return (value or "").strip() or None


def _parse_split(where: str, value: Any) -> str | None:
    """Return the name of a split, None where there is none; refuse an unknown one."""
    if value not in (None, "", *SPLITS):
        raise InputError(f"{where}: split must be {', '.join(SPLITS[:-1])} or {SPLITS[-1]}, not {shorten_value(value)}")
    return value or None


def _parse_choice_orders(where: str, value: Any, n_choices: int) -> tuple[tuple[int, ...], ...]:
    """Read the orders: lists of indices, all choices in each, no order twice."""
    if isinstance(value, str) and value.strip():
        value = parse_json(Path(where), value)
    orders = value or []
    shapely = isinstance(orders, list) and all(isinstance(order, list) for order in orders)
    if not shapely or any(
        any(type(place) is not int for place in order) or sorted(order) != list(range(n_choices)) for order in orders
    ):
        raise InputError(
            f"{where}: orders must be lists such as {list(range(n_choices))}, each with all choices, not "
            f"{shorten_value(value)}"
        )
    if len(set(map(tuple, orders))) < len(orders):
        raise InputError(f"{where}: an order of the choices is there twice; take one out")
    return tuple(map(tuple, orders))
