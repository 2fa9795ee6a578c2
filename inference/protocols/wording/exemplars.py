"""Choose few-shot exemplars: four questions, one per manipulated pattern; two answers are Yes and two No.

They are the same for every question (Takayama et al., section 5.3), and no question is about one of their texts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from ground.errors import InputError
from inference.protocols.wording.comparisons import convert_cell_to_stripped_text
from inference.protocols.wording.templates import MANIPULATED, NO, YES, Bank
from inference.protocols.wording.texts import Columns, Text, build_pool_from_records, sort_texts_by_seed
from inference.stimuli.random_order import compute_sort_key_for_random_order
from inference.stimuli.reading import files, records
from inference.stimuli.templates.prompt_forms import Shot


@dataclass(frozen=True, slots=True)
class Exemplar:
    """A text with its gold answer, asked about in one of the manipulated patterns."""

    pattern: str
    text: Text
    shot: Shot


def draw_wording_exemplars(texts: Iterable[Text], bank: Bank, seed: int) -> tuple[Exemplar, ...]:
    """Draw exemplars from the pool: for each pattern, the last text in the seed's order with the gold it needs.

    Parameters
    ----------
    texts
        The texts to choose from.
    bank
        The templates.
    seed
        Decides which texts, patterns with the answer Yes and templates are drawn.

    Returns
    -------
    An exemplar per manipulated pattern; two answers are Yes and two No.

    Raises
    ------
    InputError
        There are too few texts of a gold answer.
    """
    shown_yes = min(
        combinations(MANIPULATED, 2), key=lambda pair: compute_sort_key_for_random_order(seed, "exemplars", *pair)
    )
    free = sort_texts_by_seed(texts, seed)
    drawn = []
    for pattern in MANIPULATED:
        template = bank.templates[pattern][0]
        gold = template.swap_answer_if_antonym(YES if pattern in shown_yes else NO)
        last = next((text for text in reversed(free) if text.gold == gold), None)
        if last is None:
            raise InputError(
                f"few-shot needs four items for its exemplars, and there is none left with gold {gold}; "
                "give more items, or --exemplars FILE"
            )
        free.remove(last)
        drawn.append(_build_exemplar(pattern, last, bank, seed))
    return tuple(drawn)


def read_exemplars(path: Path, bank: Bank, seed: int) -> tuple[Exemplar, ...]:
    """Read exemplars from a file with the fields `pattern`, `text` and `gold` (the answer to the original question).

    Parameters
    ----------
    path
        The file.
    bank
        The templates.
    seed
        Decides which template of its pattern an exemplar gets.

    Returns
    -------
    The exemplars in the order of the file.

    Raises
    ------
    InputError
        Naming the file and row, unless there is one exemplar per manipulated pattern and the answers shown balance.
    """
    exemplars = []
    for row, record in records.read_records(path):
        pattern = convert_cell_to_stripped_text(record.get("pattern"))
        if pattern not in MANIPULATED:
            raise InputError(
                f"{path}, {row}: pattern must be one of {', '.join(MANIPULATED)}, not {files.shorten_value(pattern)}"
            )
        (text,) = build_pool_from_records(str(path), [(row, record)], Columns("text", "gold")).texts
        exemplars.append(_build_exemplar(pattern, text, bank, seed))
    patterns = [exemplar.pattern for exemplar in exemplars]
    if sorted(patterns) != sorted(MANIPULATED):
        raise InputError(
            f"{path}: needs one exemplar each of {', '.join(MANIPULATED)}; there are {', '.join(patterns)}"
        )
    answers = [exemplar.shot.label for exemplar in exemplars]
    if answers.count(YES) != answers.count(NO):
        raise InputError(
            f"{path}: of the answers shown, {answers.count(YES)} say Yes and {answers.count(NO)} No; two each are "
            "needed (an antonym shows the opposite of its gold)"
        )
    return tuple(exemplars)


def _build_exemplar(pattern: str, text: Text, bank: Bank, seed: int) -> Exemplar:
    """Make an exemplar: a text asked about in a drawn template of the pattern, with its answer."""
    template = bank.draw_template(pattern, text.item, seed)
    assert text.gold is not None
    return Exemplar(
        pattern, text, Shot(template.render_question(text.text), template.swap_answer_if_antonym(text.gold))
    )


def compute_wording_exemplars_hash(exemplars: Iterable[Exemplar]) -> str:
    """Compute the sha256 of questions and answers, by which a run folder recognises changed exemplars."""
    questions_and_answers = [[exemplar.shot.question, exemplar.shot.label] for exemplar in exemplars]
    return hashlib.sha256(json.dumps(questions_and_answers, ensure_ascii=False).encode()).hexdigest()
