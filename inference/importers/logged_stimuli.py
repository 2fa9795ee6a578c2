"""Make the stimuli of logged responses, each of its first response, and a row of every response."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

from ground.errors import InputError
from inference.importers.json_log import refuse_halves
from inference.stimuli.line_ends import unify_line_ends
from inference.stimuli.study import PARAPHRASE, Item, Option, Study, Variant

if TYPE_CHECKING:
    from inference.importers.logged import Logged

RIGHT, WRONG = "right", "wrong"
CHOICE, AGREEMENT = "choice", "agreement"
_OUTCOMES = (Option(RIGHT, RIGHT), Option(WRONG, WRONG))
_RULES = {
    CHOICE: "the choice with the highest log-likelihood, where the condition names no other reading, or the one that "
    "the tool read from a text; null: no valid answer",
    AGREEMENT: "right where the choice is the right one, or where the tool counts the text as right; else wrong",
}
_COLUMNS = (
    "model", "condition", "item", "variant", "probability", "logprob", "count", "invalid", "mass", "mass_upper",
    "answer", "output", "error",
)  # fmt: skip


@dataclass(slots=True)
class _Stimulus:
    """A wording of an item in one order: what later responses to it must agree with."""

    number: int
    variant: str
    text: str
    gold: int | None


class Stimuli:
    """Make a stimulus of the first response to it, and a row of every response."""

    def __init__(self, outcomes: bool, language: str | None) -> None:
        self.differing: set[int] = set()
        self._outcomes, self._language = outcomes, language
        self._protocol: str | None = AGREEMENT if outcomes else None
        self._known: dict[tuple[str, str], dict[tuple[str, ...], _Stimulus]] = {}  # by item and wording, and choices
        self._count = 0
        self._own: dict[str, tuple[str, ...]] = {}  # item -> its choices in its own order
        self._items: dict[str, list[Variant]] = {}
        self._seen: dict[tuple[str, str], bytearray] = {}  # model, condition -> which stimuli it has responses to

    def study(self, name: str, source: str) -> Study:
        """Make the study, its items in the order of their first responses.

        Parameters
        ----------
        name
            Name of the study.
        source
            Where the responses are from.

        Returns
        -------
        The study.

        Raises
        ------
        InputError
            There are no responses.
        """
        if self._protocol is None:
            raise InputError(f"{source}: there are no responses")
        most = max(map(len, self._own.values()), default=0)
        labels = (RIGHT, WRONG) if self._protocol == AGREEMENT else tuple(ascii_uppercase[:most])
        items = tuple(Item(item, tuple(variants)) for item, variants in self._items.items())
        return Study(self._protocol, name, items, labels, _RULES[self._protocol], source, paraphrased=False)

    def row(self, one: Logged) -> tuple[Any, ...]:
        """Make the row of a response, in the order of `_COLUMNS`; its stimulus, where it is new, is added."""
        if "\r" in one.text or any("\r" in choice for choice in one.choices):
            one = replace(one, text=unify_line_ends(one.text), choices=unify_line_ends(one.choices))
        orders = self._known.setdefault((one.item, one.wording), {})
        stimulus = orders.get(one.choices)
        if stimulus is None:
            stimulus = self._add(one, orders)
        else:
            self._compare(one, stimulus)
        self._refuse_second(one, stimulus.number)
        key = one.model, one.condition, one.item, stimulus.variant
        if one.error is not None:
            return *key, *(None,) * (len(_COLUMNS) - 5), one.error
        measured = _outcome(one) if self._protocol == AGREEMENT else _choice(one)
        return *key, *measured, one.output, None

    def _add(self, one: Logged, orders: dict[tuple[str, ...], _Stimulus]) -> _Stimulus:
        if not one.text.strip():
            raise InputError(f"{one.where}: the text that was asked is empty; leave the response out")
        refuse_halves(one.where, [one.item, one.wording, one.text, one.choices, dict(one.attributes)])
        protocol = CHOICE if one.choices and not self._outcomes else AGREEMENT
        self._protocol = self._protocol or protocol
        if protocol != self._protocol:
            raise InputError(
                f"{one.where}: some responses choose among options and others are texts; import them into two run "
                "folders, or all as right or wrong with --right-or-wrong"
            )
        first = next(iter(orders), one.choices)
        if sorted(first) != sorted(one.choices):
            raise InputError(
                f"{one.where}: the options of item '{one.item}', wording '{one.wording}' are not those of an earlier "
                "row; are these logs of one version of the task?"
            )
        make = self._outcome if protocol == AGREEMENT else self._question
        made = make(one, len(orders) + 1)
        self._items.setdefault(one.item, []).append(made)
        found = orders[one.choices] = _Stimulus(self._count, made.variant, one.text, one.gold)
        self._count += 1
        return found

    def _outcome(self, one: Logged, order: int) -> Variant:
        name = one.wording if order == 1 else f"{one.wording}/{order}"
        return Variant(
            one.item, name, PARAPHRASE, one.text, _OUTCOMES, language=self._language, gold=RIGHT,
            attributes={**one.attributes, "template": name},
        )  # fmt: skip

    def _question(self, one: Logged, order: int) -> Variant:
        if not 1 < len(one.choices) <= len(ascii_uppercase):
            raise InputError(f"{one.where}: {len(one.choices)} options; a question needs 2 to {len(ascii_uppercase)}")
        if one.gold is None:
            raise InputError(f"{one.where}: no single right option is named; import it with --right-or-wrong")
        own = self._own.setdefault(one.item, one.choices)
        if len(own) != len(one.choices):
            raise InputError(f"{one.where}: {len(one.choices)} options; item '{one.item}' had {len(own)} before")
        shown = ascii_uppercase[: len(one.choices)]
        resorted = len(set(own)) == len(own) and set(own) == set(one.choices)
        canonical = "".join(ascii_uppercase[own.index(words)] for words in one.choices) if resorted else shown
        lines = [" ".join(words.split()) for words in one.choices]
        attributes = {
            **one.attributes,
            "wording": one.wording,
            "template": one.wording,
            "order": canonical,
            "choices": "\n".join(f"{letter}. {line}" for letter, line in zip(shown, lines, strict=True)),
            **{f"choice_{letter}": line for letter, line in zip(canonical, lines, strict=True)},
        }
        return Variant(
            one.item, f"{one.wording}/{order}", one.wording, one.text, tuple(map(Option, shown, canonical)),
            language=self._language, gold=canonical[one.gold], attributes=attributes,
        )  # fmt: skip

    def _compare(self, one: Logged, known: _Stimulus) -> None:
        if one.gold != known.gold:
            raise InputError(
                f"{one.where}: the right option of item '{one.item}', wording '{one.wording}' is not that of an "
                "earlier row; are these logs of one version of the task?"
            )
        if one.text != known.text:
            self.differing.add(known.number)

    def _refuse_second(self, one: Logged, number: int) -> None:
        seen = self._seen.setdefault((one.model, one.condition), bytearray())
        if number >= len(seen):
            seen.extend(bytes(number + 1 - len(seen)))
        if seen[number]:
            raise InputError(
                f"{one.where}: model '{one.model}' has a response to item '{one.item}', wording '{one.wording}' under "
                f"'{one.condition}' already; leave one of the two out, or say what tells them apart (--variant-key)"
            )
        seen[number] = 1


def _choice(one: Logged) -> tuple[Any, ...]:
    """Make probability, logprob, count, invalid, mass, mass_upper and answer of a choice among options."""
    if one.score is not None:
        found = one.score
        letter = None if found.answer is None else ascii_uppercase[found.answer]
        return found.probability, found.logprob or None, None, None, found.mass, found.mass_upper, letter
    probability = mass = upper = None
    if one.logprob is not None and one.one_distribution:
        probability = [math.exp(value) for value in one.logprob]
        mass, upper = min(math.fsum(probability), 1.0), 1.0
    answer = None if one.answer is None else ascii_uppercase[one.answer]
    return probability, one.logprob, one.count, one.invalid, mass, upper, answer


def _outcome(one: Logged) -> tuple[Any, ...]:
    """Make the same of right and wrong."""
    right = 0 if not one.choices else one.gold
    count = one.count and (one.count[right or 0], sum(one.count) - one.count[right or 0])
    answer = None if one.answer is None else RIGHT if one.answer == right else WRONG
    return None, None, count, one.invalid, None, None, answer


def columns(rows: Sequence[tuple[Any, ...]]) -> dict[str, Sequence[Any]]:
    """Turn rows of `Stimuli.row` into columns of the responses, without `study`."""
    return dict(zip(_COLUMNS, zip(*rows, strict=True), strict=True))
