"""Read which checks a call names: `words`, `similarity=MODEL`, `entailment=MODEL`, `judge=MODEL`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ground.errors import InputError, format_nearest_name_hint, shorten_text
from inference.asking.models import Model, find_requested_models

WORDS, SIMILARITY, ENTAILMENT, JUDGE = KINDS = ("words", "similarity", "entailment", "judge")
PEOPLE = "people"
WAYS = "words, similarity=MODEL, entailment=MODEL, judge=MODEL"


class Check(NamedTuple):
    """A check: its kind, and the model that it asks; None for words."""

    kind: str
    model: Model | None = None

    @property
    def name(self) -> str:
        """What the column `check` says."""
        return self.kind if self.model is None else f"{self.kind}:{self.model.id}"

    @property
    def option(self) -> str:
        """How a message names the option with this check; the name of the model follows."""
        return f"--check {self.kind}"


def parse_meaning_checks(texts: Sequence[str], engine: str = "auto") -> list[Check]:
    """Read the checks of a call.

    Parameters
    ----------
    texts
        As the user wrote them; MODEL may be NAME=MODEL, to choose its name.
    engine
        What asks the models of entailment and judges.

    Returns
    -------
    The checks, in the same order.

    Raises
    ------
    InputError
        A check is unknown, is named twice, or lacks its model.
    """
    checks: list[Check] = []
    for text in texts:
        check = _parse_meaning_check(text, engine)
        if check.name in [other.name for other in checks]:
            raise InputError(f"--check {shorten_text(text)}: this check is named twice; name it once")
        checks.append(check)
    return checks


def _parse_meaning_check(text: str, engine: str) -> Check:
    """Read one check."""
    kind, equals, model = text.partition("=")
    if kind not in KINDS:
        hint = format_nearest_name_hint(kind, KINDS)
        raise InputError(f"--check {shorten_text(text)}: there is no check '{shorten_text(kind, 40)}'{hint}; {WAYS}")
    if kind == WORDS:
        if equals:
            raise InputError(f"--check {shorten_text(text)}: shared words need no model; write --check words")
        return Check(WORDS)
    if not model:
        raise InputError(f"--check {shorten_text(text)}: which model? write {kind}=MODEL")
    try:
        models = find_requested_models([model], engine="auto" if kind == SIMILARITY else engine)
    except InputError as error:  # it speaks of --model, as the option is called elsewhere
        raise InputError(str(error).replace("--model", f"--check {kind}", 1)) from None
    if len(models) != 1:
        raise InputError(f"--check {shorten_text(text)}: these are {len(models)} models; name one")
    return Check(kind, models[0])
