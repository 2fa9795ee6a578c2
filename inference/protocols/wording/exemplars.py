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
from inference.protocols.wording.comparisons import plain
from inference.protocols.wording.templates import MANIPULATED, NO, YES, Bank
from inference.protocols.wording.texts import Columns, Text, gather, in_order
from inference.stimuli import files, records
from inference.stimuli.prompt_forms import Shot
from inference.stimuli.random_order import place


@dataclass(frozen=True, slots=True)
class Exemplar:
    """A text with its gold answer, asked about in one of the manipulated patterns."""

    pattern: str
    text: Text
    shot: Shot


def draw(texts: Iterable[Text], bank: Bank, seed: int) -> tuple[Exemplar, ...]:
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
    shown_yes = min(combinations(MANIPULATED, 2), key=lambda pair: place(seed, "exemplars", *pair))
    free = in_order(texts, seed)
    drawn = []
    for pattern in MANIPULATED:
        template = bank.templates[pattern][0]
        gold = template.shown(YES if pattern in shown_yes else NO)
        last = next((text for text in reversed(free) if text.gold == gold), None)
        if last is None:
            raise InputError(
                f"few-shot needs four items for its exemplars, and there is none left with gold {gold}; "
                "give more items, or --exemplars FILE"
            )
        free.remove(last)
        drawn.append(_exemplar(pattern, last, bank, seed))
    return tuple(drawn)


def read(path: Path, bank: Bank, seed: int) -> tuple[Exemplar, ...]:
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
    found = []
    for row, record in records.read(path):
        pattern = plain(record.get("pattern"))
        if pattern not in MANIPULATED:
            raise InputError(
                f"{path}, {row}: pattern must be one of {', '.join(MANIPULATED)}, not {files.shown(pattern)}"
            )
        (text,) = gather(str(path), [(row, record)], Columns("text", "gold")).texts
        found.append(_exemplar(pattern, text, bank, seed))
    there = [exemplar.pattern for exemplar in found]
    if sorted(there) != sorted(MANIPULATED):
        raise InputError(f"{path}: needs one exemplar each of {', '.join(MANIPULATED)}; there are {', '.join(there)}")
    shown = [exemplar.shot.label for exemplar in found]
    if shown.count(YES) != shown.count(NO):
        raise InputError(
            f"{path}: {shown.count(YES)} of the answers shown are Yes and {shown.count(NO)} No; two each are needed "
            "(an antonym shows the opposite of its gold)"
        )
    return tuple(found)


def _exemplar(pattern: str, text: Text, bank: Bank, seed: int) -> Exemplar:
    template = bank.draw(pattern, text.item, seed)
    assert text.gold is not None
    return Exemplar(pattern, text, Shot(template.ask(text.text), template.shown(text.gold)))


def digest(exemplars: Iterable[Exemplar]) -> str:
    """Compute the sha256 of questions and answers, by which a run folder recognises changed exemplars."""
    shown = [[exemplar.shot.question, exemplar.shot.label] for exemplar in exemplars]
    return hashlib.sha256(json.dumps(shown, ensure_ascii=False).encode()).hexdigest()
