"""Read one sample of a log of Inspect: what was asked, what was answered, and how it was scored."""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from string import ascii_uppercase
from typing import Any, TypeVar

from ground.errors import InputError, shorten_text
from inference.engines.contract import Score
from inference.engines.openai.bounds import build_option_forms_in_bytes, compute_score_from_shown_first_tokens
from inference.engines.openai.replies import MalformedReply
from inference.engines.openai.returned import parse_candidates_for_first_token
from inference.importers.inspect.log import resolve_attachment
from inference.importers.shared.json_log import get_nested_object_or_empty, parse_list_field
from inference.runfolder.parquet import replace_nul_characters
from inference.stimuli.reading.files import require_storable_value, shorten_value

WordingKey = TypeVar("WordingKey", bound=tuple[Any, ...])
_CREDIT_BY_TEXT = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
"""What the letters and words of Inspect's scores count: C is correct, I incorrect, P partial, N no answer."""


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
        What the model wrote; None where the log has no output.
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
    scores
        Measure -> value, where all scores count (`scores`).
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
    scores: Mapping[str, Any] = field(default_factory=dict)


def parse_inspect_sample(where: str, sample: Mapping[str, Any], scorer: str | None) -> Sample:
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
        A field is missing or of another kind, there are several scores to choose from, or the scorer's score does not
        tell right from wrong, or is not there.
    """
    choices = tuple(_parse_message_text(where, sample, entry) for entry in parse_list_field(where, sample, "choices"))
    targets = [str(entry) for entry in _wrap_in_list(sample.get("target"))]
    scorer_name, score_fields = _find_scorer_and_its_score(where, sample, scorer)
    output, shows = _parse_output_and_logprobs(where, sample)
    begins, first = _read_whether_letter_and_letter_scores(shows, len(choices))
    return Sample(
        where=where,
        name=_read_sample_id_as_text(where, sample),
        epoch=_parse_epoch(where, sample),
        prompt=_find_first_user_message_or_input(where, sample),
        choices=choices,
        gold=_find_choice_index_of_letter(targets[0], len(choices)) if len(targets) == 1 else None,
        answer=_find_choice_index_of_letter(score_fields.get("answer"), len(choices)),
        target=", ".join(targets),
        output=output,
        scorer=scorer_name,
        credit=_convert_score_to_unit_range(where, score_fields.get("value")),
        error=_format_sample_error(sample.get("error")),
        begins=begins,
        first=first,
        metadata=get_nested_object_or_empty(sample, "metadata"),
    )


def group_epochs_by_wording(
    samples: Iterable[Sample], build_key_of_wording_and_text: Callable[[Sample], WordingKey]
) -> dict[WordingKey, list[Sample]]:
    """Group the samples of a log by wording, the epochs of each in the order of their numbers.

    Parameters
    ----------
    samples
        The samples.
    build_key_of_wording_and_text
        Makes what tells the wordings apart; the item comes first.

    Returns
    -------
    Key -> epochs.

    Raises
    ------
    InputError
        An epoch is there twice.
    """
    epochs_by_key: dict[WordingKey, list[Sample]] = {}
    for sample in samples:
        key = build_key_of_wording_and_text(sample)
        epochs = epochs_by_key.setdefault(key, [])
        if any(before.epoch == sample.epoch for before in epochs):
            raise InputError(
                f"{sample.where}: epoch {sample.epoch} of item '{shorten_text(key[0])}' is in this log already, in the "
                "same wording; tell wordings apart by --variant-key"
            )
        insort(epochs, sample, key=attrgetter("epoch"))
    return epochs_by_key


def _read_sample_id_as_text(where: str, sample: Mapping[str, Any]) -> str:
    """Return the id of a sample as text."""
    name = sample.get("id")
    if isinstance(name, bool) or not isinstance(name, int | str) or not str(name).strip():
        raise InputError(f"{where}: id must be text or a whole number, not {shorten_value(name)}")
    return str(require_storable_value(where, str(name).strip()))


def _parse_epoch(where: str, sample: Mapping[str, Any]) -> int:
    """Return the number of a sample's epoch, 1 where it has none; refuse what is no whole number."""
    epoch = sample.get("epoch", 1)
    if isinstance(epoch, bool) or not isinstance(epoch, int):
        raise InputError(f"{where}: epoch must be a whole number, not {shorten_value(epoch)}")
    return epoch


def _find_first_user_message_or_input(where: str, sample: Mapping[str, Any]) -> str:
    """Find the first message of the user; the input where no message was recorded."""
    sample_input = sample.get("input")
    for message in [
        *parse_list_field(where, sample, "messages"),
        *(sample_input if isinstance(sample_input, list) else []),
    ]:
        if (
            get_nested_object_or_empty(message).get("role") == "user"
            and (text := _parse_message_text(where, sample, message.get("content"))).strip()
        ):
            return text
    text = "" if isinstance(sample_input, list) else _parse_message_text(where, sample, sample_input)
    if not text.strip():
        raise InputError(f"{where}: it has neither a message of a user nor an input, so nothing was asked")
    return text


def _parse_message_text(where: str, sample: Mapping[str, Any], content: Any) -> str:
    """Read a text, or the texts among the parts of a message; what is no text stands as [image] and the like."""
    if content is None:
        return ""
    if isinstance(content, str):
        return str(require_storable_value(where, replace_nul_characters(resolve_attachment(where, content, sample))))
    if not isinstance(content, list):
        raise InputError(f"{where}: choices, input and content of messages must be text, not {shorten_value(content)}")
    parts = [get_nested_object_or_empty(part) for part in content]
    texts = [
        _parse_message_text(where, sample, part["text"])
        if isinstance(part.get("text"), str)
        else f"[{part.get('type', 'data')}]"
        for part in parts
        if part.get("type") != "reasoning"
    ]
    return "\n".join(texts)


def _parse_output_and_logprobs(where: str, sample: Mapping[str, Any]) -> tuple[str | None, Any]:
    """Read the text of the first answer, and the log-probabilities of its tokens."""
    answers = parse_list_field(where, get_nested_object_or_empty(sample, "output"), "choices")
    if not answers:
        return None, None
    first = get_nested_object_or_empty(answers[0])
    text = _parse_message_text(where, sample, get_nested_object_or_empty(first, "message").get("content"))
    return text, first.get("logprobs")


def _read_whether_letter_and_letter_scores(logprobs: Any, n_choices: int) -> tuple[bool, Score | None]:
    """Tell whether the first token is the letter of a choice, and how probable each letter was in its place."""
    content = get_nested_object_or_empty(logprobs).get("content")
    if not n_choices or not isinstance(content, list) or not content:
        return False, None
    first = get_nested_object_or_empty(content[0])
    try:
        tokens = parse_candidates_for_first_token({"logprobs": logprobs}, len(_wrap_in_list(first.get("top_logprobs"))))
    except MalformedReply:
        return False, None
    if not tokens:
        return False, None
    letters = tuple((letter,) for letter in ascii_uppercase[:n_choices])
    return _find_choice_index_of_letter(
        first.get("token"), n_choices
    ) is not None, compute_score_from_shown_first_tokens(tokens, build_option_forms_in_bytes(letters))


def _find_scorer_and_its_score(
    where: str, sample: Mapping[str, Any], scorer: str | None
) -> tuple[str | None, dict[str, Any]]:
    """Find the score that counts, and whose it is."""
    scores = get_nested_object_or_empty(sample, "scores")
    if scorer is None and len(scores) > 1:
        raise InputError(
            f"{where}: it has several scores ({shorten_text(', '.join(scores))}); choose one with --scorer NAME"
        )
    if not scores:
        return None, {}
    scorer_name = next(iter(scores)) if scorer is None else scorer
    if scorer_name not in scores:
        raise InputError(
            f"{where}: it has no score by {shorten_text(scorer_name)}; there are {shorten_text(', '.join(scores))}"
        )
    return scorer_name, get_nested_object_or_empty(scores[scorer_name])


def _convert_score_to_unit_range(where: str, value: Any) -> float | None:
    """Turn the value of a score into a number from 0 to 1, as Inspect's own accuracy does; NaN is no score."""
    if value is None:
        return None
    credit = find_credit_of_text(value) if isinstance(value, str) else None
    if credit is None and isinstance(value, int | float | str):
        try:
            credit = float(value)
        except (ValueError, OverflowError):
            credit = math.inf
    if credit is None or not (0 <= credit <= 1 or math.isnan(credit)):
        raise InputError(
            f"{where}: the score {shorten_value(value)} is neither C, I, P or N nor a number from 0 to 1, so it does "
            "not tell right from wrong; choose another with --scorer NAME, or import numbers by --scores"
        )
    return None if math.isnan(credit) else credit


def find_credit_of_text(text: str) -> float | None:
    """Find what a text counts as a score, from 0 to 1; None where it is none of Inspect's. Only large letters count.

    >>> find_credit_of_text("C"), find_credit_of_text("c"), find_credit_of_text("Yes")
    (1.0, None, 1.0)
    """
    return _CREDIT_BY_TEXT.get(text, _CREDIT_BY_TEXT.get(text.lower()))


def _find_choice_index_of_letter(text: Any, n_choices: int) -> int | None:
    """Find the place of a letter among those of the choices; None for several letters, or none."""
    letter = text.strip() if isinstance(text, str) else ""
    place = ascii_uppercase.find(letter) if len(letter) == 1 else -1
    return place if 0 <= place < n_choices else None


def _format_sample_error(error: Any) -> str | None:
    """Say why a sample ended; None where it has no error."""
    if error is None:
        return None
    message = str(get_nested_object_or_empty(error).get("message") or "no message").strip()
    return shorten_text(f"the sample ended with an error: {' '.join(message.replace(chr(0), ' ').split())}", 300)


def _wrap_in_list(value: Any) -> list[Any]:
    """Return a list as it is, another value in a list, and None as an empty list."""
    return value if isinstance(value, list) else [] if value is None else [value]
