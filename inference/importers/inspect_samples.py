"""Read one sample of a log of Inspect: what was asked, what was answered, and how it was scored."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

from ground.errors import InputError, cut
from inference.engines.contract import Score
from inference.engines.openai.bounds import by_text, score
from inference.engines.openai.replies import Malformed
from inference.engines.openai.returned import first_tokens
from inference.importers.inspect_log import resolved
from inference.importers.json_log import entries, fields
from inference.stimuli.files import checked, shown

_CREDIT = {"c": 1.0, "i": 0.0, "p": 0.5, "n": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
"""What the letters of Inspect's scores count: correct, incorrect, partial, no answer."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One answer to one question.

    Attributes
    ----------
    where
        File and member, for messages.
    prompt
        The first message of the user.
    choices
        The words of the choices, in the order of the data set; Inspect shows its log in this order, also where the
        model saw them shuffled.
    gold, answer
        Places of the right choice and of the one taken; None: there is none, or more than one.
    target
        The right answer, as the log has it.
    output
        What the model wrote; None where it wrote nothing.
    scorer
        Whose score counts; None: nobody's.
    credit
        The score, from 0 (wrong) to 1 (right); None: the scorer gave none.
    error
        Why there is no answer.
    begins
        Whether the first token of the output is the letter of a choice.
    first
        The probabilities of the choices' letters as the first token; None: the log does not show them.
    """

    where: str
    name: str
    epoch: int
    prompt: str
    choices: tuple[str, ...]
    gold: int | None
    answer: int | None
    target: str
    output: str | None
    scorer: str | None
    credit: float | None
    error: str | None
    begins: bool
    first: Score | None
    metadata: Mapping[str, Any]


def read(where: str, sample: Mapping[str, Any], scorer: str | None) -> Sample:
    """Read a sample.

    Parameters
    ----------
    where
        File and member, for messages.
    sample
        The sample as the log has it.
    scorer
        Whose score counts; None: the sample's only one.

    Returns
    -------
    The sample.

    Raises
    ------
    InputError
        A field is missing or of another kind, there are several scores to choose from, or one is no number.
    """
    choices = tuple(_text(where, sample, each) for each in entries(where, sample, "choices"))
    targets = [str(each) for each in _listed(sample.get("target"))]
    by, given = _score(where, sample, scorer)
    output, shows = _output(where, sample)
    begins, first = _first_token(shows, len(choices))
    return Sample(
        where=where,
        name=_name(where, sample),
        epoch=_epoch(where, sample),
        prompt=_prompt(where, sample),
        choices=choices,
        gold=_letter(targets[0], len(choices)) if len(targets) == 1 else None,
        answer=_letter(given.get("answer"), len(choices)),
        target=", ".join(targets),
        output=output,
        scorer=by,
        credit=_credit(where, given.get("value")),
        error=_error(sample.get("error")),
        begins=begins,
        first=first,
        metadata=fields(sample.get("metadata")),
    )


def _name(where: str, sample: Mapping[str, Any]) -> str:
    name = sample.get("id")
    if isinstance(name, bool) or not isinstance(name, int | str) or not str(name).strip():
        raise InputError(f"{where}: id must be text or a whole number, not {shown(name)}")
    return str(checked(where, str(name).strip()))


def _epoch(where: str, sample: Mapping[str, Any]) -> int:
    epoch = sample.get("epoch", 1)
    if isinstance(epoch, bool) or not isinstance(epoch, int):
        raise InputError(f"{where}: epoch must be a whole number, not {shown(epoch)}")
    return epoch


def _prompt(where: str, sample: Mapping[str, Any]) -> str:
    """Find the first message of the user; the input where no message was recorded."""
    given = sample.get("input")
    for message in [*entries(where, sample, "messages"), *(given if isinstance(given, list) else [])]:
        if fields(message).get("role") == "user" and (text := _text(where, sample, message.get("content"))).strip():
            return text
    text = "" if isinstance(given, list) else _text(where, sample, given)
    if not text.strip():
        raise InputError(f"{where}: it has neither a message of a user nor an input, so nothing was asked")
    return text


def _text(where: str, sample: Mapping[str, Any], content: Any) -> str:
    """Read a text, or the texts among the parts of a message; what is no text stands as [image] and the like.

    A NUL, which models write and no CSV file holds, is read as the sign of a character that cannot be shown.
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return str(checked(where, resolved(where, content, sample).replace("\0", "\ufffd")))
    if not isinstance(content, list):
        raise InputError(f"{where}: expected a text, not {shown(content)}")
    parts = [fields(part) for part in content]
    texts = [
        _text(where, sample, part["text"]) if isinstance(part.get("text"), str) else f"[{part.get('type', 'data')}]"
        for part in parts
        if part.get("type") != "reasoning"
    ]
    return "\n".join(texts)


def _output(where: str, sample: Mapping[str, Any]) -> tuple[str | None, Any]:
    """Read the text of the first answer, and the log-probabilities of its tokens."""
    answers = entries(where, fields(sample.get("output")), "choices")
    if not answers:
        return None, None
    first = fields(answers[0])
    return _text(where, sample, fields(first.get("message")).get("content")), first.get("logprobs")


def _first_token(shows: Any, choices: int) -> tuple[bool, Score | None]:
    """Tell whether the first token is the letter of a choice, and how probable each letter was in its place."""
    content = fields(shows).get("content")
    if not choices or not isinstance(content, list) or not content:
        return False, None
    first = fields(content[0])
    try:
        tokens = first_tokens({"logprobs": shows}, len(_listed(first.get("top_logprobs"))))
    except Malformed:
        return False, None
    if not tokens:
        return False, None
    letters = tuple((letter,) for letter in ascii_uppercase[:choices])
    return _letter(first.get("token"), choices) is not None, score(tokens, by_text(letters))


def _score(where: str, sample: Mapping[str, Any], scorer: str | None) -> tuple[str | None, dict[str, Any]]:
    """Find the score that counts, and whose it is."""
    scores = fields(sample.get("scores"))
    if scorer is None and len(scores) > 1:
        raise InputError(f"{where}: it has several scores ({cut(', '.join(scores))}); choose one with --scorer NAME")
    if not scores:
        return None, {}
    by = next(iter(scores)) if scorer is None else scorer
    if by not in scores:
        raise InputError(f"{where}: it has no score by {cut(by)}; there are {cut(', '.join(scores))}")
    return by, fields(scores[by])


def _credit(where: str, value: Any) -> float | None:
    """Turn the value of a score into a number from 0 to 1, as Inspect's own accuracy does; NaN is no score."""
    if value is None:
        return None
    credit = _CREDIT.get(value.casefold()) if isinstance(value, str) else None
    if credit is None and isinstance(value, int | float | str):
        try:
            credit = float(value)
        except (ValueError, OverflowError):
            credit = math.inf
    if credit is None or not (0 <= credit <= 1 or math.isnan(credit)):
        raise InputError(
            f"{where}: the score {shown(value)} is neither C, I, P or N nor a number from 0 to 1, so it does not tell "
            "right from wrong; choose another with --scorer NAME, or leave this log out"
        )
    return None if math.isnan(credit) else credit


def _letter(text: Any, choices: int) -> int | None:
    """Find the place of a letter among those of the choices; None for several letters, or none."""
    letter = text.strip() if isinstance(text, str) else ""
    place = ascii_uppercase.find(letter) if len(letter) == 1 else -1
    return place if 0 <= place < choices else None


def _error(error: Any) -> str | None:
    if error is None:
        return None
    message = str(fields(error).get("message") or "no message").strip()
    return cut(f"the sample ended with an error: {' '.join(message.replace(chr(0), ' ').split())}", 300)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
