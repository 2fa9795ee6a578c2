"""Read what a row of lm-eval samples was asked: its requests, the options they stand for, and what came back."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, takewhile
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any

from ground.errors import InputError, format_quantity
from inference.asking.mentions import KATAKANA, SPACELESS_SCRIPTS
from inference.importers.lm_eval.files import SampleFile
from inference.stimuli.reading.files import shorten_value

SLACK = 1e-6  # a log-likelihood of float16 numbers may be this much above 0
_LETTERS = (ascii_uppercase, ascii_lowercase, digits[1:], digits)
# A blank, or a character of a script without blanks (also of full width), in which nothing shows where a word begins.
_NO_LETTER_OF_WORD = re.compile(rf"[\s{SPACELESS_SCRIPTS}\uff01-\uff9f]")
# The start of a Japanese word at the end of a text: of "…は東", of "…のトロ".
_BEGUN_JAPANESE_WORD = re.compile(rf"(?<=[\u3041-\u3096「])[\u3005\u3400-\u9fff]+\Z|(?<![{KATAKANA}])[{KATAKANA}]+\Z")
_LISTS = ("choices", "options", "endings", "answers", "choice", "answer_choices")

Request = tuple[str, Any]


@dataclass(frozen=True, slots=True)
class RowOptions:
    """The options of one row.

    Attributes
    ----------
    text
        What stands before the options.
    words
        What each option says; where the model continues with a letter, the choice that the letter stands for.
    continuations
        What the model continues with, without the delimiter: its length divides a log-likelihood.
    plain
        The same without blanks around it.
    one_context
        Whether all options continue one text. Else they stand in the text, and one end follows them (winogrande).
    mutual
        Whether as many requests ask for the options without the text.
    """

    text: str
    words: tuple[str, ...]
    continuations: tuple[str, ...]
    plain: tuple[str, ...]
    one_context: bool
    mutual: bool


def parse_requests_of_row(where: str, row: Mapping[str, Any]) -> list[Request]:
    """List the requests of a row; older logs have a list of lists.

    Parameters
    ----------
    where
        File and line, for messages.
    row
        The row.

    Returns
    -------
    Per request its context, and its continuation or settings.

    Raises
    ------
    InputError
        There are no requests, or one has no text.
    """
    arguments = row.get("arguments")
    if isinstance(arguments, dict):
        try:
            names = list(arguments)
            if not _are_requests_in_order(tuple(names)):
                names.sort(key=lambda name: int(name.removeprefix("gen_args_")))
            pairs = [(arguments[name]["arg_0"], arguments[name].get("arg_1")) for name in names]
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InputError(f"{where}: arguments holds something else than gen_args_N with arg_0 and arg_1") from None
    elif isinstance(arguments, list) and all(isinstance(entry, list) and entry for entry in arguments):
        pairs = [(entry[0], entry[1] if len(entry) > 1 else None) for entry in arguments]
    else:
        raise InputError(
            f"{where}: field 'arguments' is missing or no list of requests; these are no samples of lm-eval"
        )
    # A chat is logged as its JSON text, in a list of its own.
    texts_and_ends = [
        (raw_text[0] if type(raw_text) is list and len(raw_text) == 1 else raw_text, end) for raw_text, end in pairs
    ]
    if not texts_and_ends or {type(context) for context, _ in texts_and_ends} != {str}:
        raise InputError(f"{where}: field 'arguments' holds no text that was asked")
    return texts_and_ends


@lru_cache
def _are_requests_in_order(names: tuple[str, ...]) -> bool:
    """Tell whether requests stand in the order of their numbers, as they mostly do."""
    return names == tuple(f"gen_args_{number}" for number in range(len(names)))


def parse_row_options(
    where: str, row: Mapping[str, Any], row_requests: Sequence[Request], file: SampleFile
) -> RowOptions:
    """Tell what the options of a row are.

    Parameters
    ----------
    where
        File and line, for messages.
    row
        The row.
    row_requests
        Its requests.
    file
        The file, which knows the delimiter before an option.

    Returns
    -------
    The options.

    Raises
    ------
    InputError
        Requests have other continuations than options, or texts and options both differ.
    """
    half = len(row_requests) // 2
    ends = tuple([end for _, end in row_requests])
    mutual = "acc_mutual_info" in (row.get("metrics") or row) and ends[:half] == ends[half:]
    mutual = mutual and all(context == "" for context, _ in row_requests[half:])
    if mutual:
        row_requests, ends = row_requests[:half], ends[:half]
    if len(ends) < 2:
        raise InputError(f"{where}: {format_quantity(len(ends), 'request')}; two or more are needed, one per option")
    no_texts = [end for end in ends if not isinstance(end, str)]
    if no_texts:
        raise InputError(
            f"{where}: a request continues with {shorten_value(no_texts[0])}; the text of an option is needed"
        )
    first = row_requests[0][0]
    if any(context != first for context, _ in row_requests):
        if len(set(ends)) > 1:
            raise InputError(f"{where}: texts and options both differ between requests; what is chosen is not plain")
        return _parse_options_from_differing_contexts(
            [context for context, _ in row_requests], ends[0], mutual, row.get("doc")
        )
    delimiter = file.config.get("target_delimiter", " ")
    continuations, plain, lettered = _strip_continuations_and_detect_letters(
        ends, delimiter if isinstance(delimiter, str) else ""
    )
    words = (_find_choices_in_document(row.get("doc"), plain) or plain) if lettered else plain
    # A task may have no text before its options, as for the likelier one of two sentences.
    return RowOptions(first if first.strip() else " / ".join(words), words, continuations, plain, True, mutual)


@lru_cache(maxsize=1000)
def _strip_continuations_and_detect_letters(
    ends: tuple[str, ...], delimiter: str
) -> tuple[tuple[str, ...], tuple[str, ...], bool]:
    """Take the delimiter off, then all blanks; and tell whether letters are left."""
    if delimiter and all(end.startswith(delimiter) for end in ends):
        ends = tuple(end[len(delimiter) :] for end in ends)
    plain = tuple(end.strip() for end in ends)
    return ends, plain, any(plain == tuple(letters[: len(plain)]) for letters in _LETTERS)


def _parse_options_from_differing_contexts(
    contexts: Sequence[str], shared_continuation: str, has_requests_without_text: bool, doc: Any = None
) -> RowOptions:
    """Read options that stand in the text: the words in which the contexts differ, with what follows them.

    "... because the trophy" and "... because the suitcase" are "trophy" and "suitcase" after "... because the _". In
    scripts without blanks, options that begin alike (东京, 东北) begin where the document's or a Japanese word does.
    """
    same = (len(set(letters)) == 1 for letters in zip(*contexts, strict=False))
    shared = contexts[0][: sum(takewhile(bool, same))]
    shared = shared[: len(shared) - len(_NO_LETTER_OF_WORD.split(shared)[-1])]  # whole words
    texts = {text for text in doc.values() if isinstance(text, str)} if isinstance(doc, dict) else set()
    starts = {len(contexts[0]) - len(text) for text in texts if contexts[0].endswith(text)}
    starts = {start for start in starts if start <= len(shared) and all(c[start:] in texts for c in contexts)}
    shared = shared[: max(starts)] if starts else _BEGUN_JAPANESE_WORD.sub("", shared)
    if shared in contexts:  # where one option begins another
        shared = shared[:-1]
    words = tuple(context[len(shared) :].strip() for context in contexts)
    return RowOptions(f"{shared}_{shared_continuation}", words, words, words, False, has_requests_without_text)


def _find_choices_in_document(doc: Any, letters: tuple[str, ...]) -> tuple[str, ...] | None:
    """Find in the document what letters stand for."""
    for name in _LISTS if isinstance(doc, dict) else ():
        choices = doc.get(name)
        choices = choices.get("text") if isinstance(choices, dict) else choices
        if isinstance(choices, list) and len(choices) == len(letters) and {type(choice) for choice in choices} == {str}:
            return tuple([choice.strip() or letter for choice, letter in zip(choices, letters, strict=True)])
    return None


def has_exclusive_continuations(continuations: Sequence[str]) -> bool:
    """Tell whether no option begins another one: else a text may be both, and probabilities add up to more than 1.

    Parameters
    ----------
    continuations
        What the model continues with.

    >>> has_exclusive_continuations(["4", "5"]), has_exclusive_continuations(["42", "5", "4"])
    (True, False)
    """
    in_order = sorted(continuations)  # what begins with a text follows it at once
    return not any(after.startswith(before) for before, after in pairwise(in_order))


def parse_loglikelihoods(where: str, row: Mapping[str, Any]) -> list[float]:
    """Read the log-likelihood of every request; lm-eval writes them as texts, older versions as numbers.

    Parameters
    ----------
    where
        File and line, for messages.
    row
        The row.

    Returns
    -------
    Log-likelihoods in nats, at most 0, in the order of the requests.

    Raises
    ------
    InputError
        There are none, or one is no number or above `SLACK`.
    """
    responses = row.get("filtered_resps", row.get("resps"))
    if not isinstance(responses, list):
        raise InputError(f"{where}: field 'filtered_resps' is missing")
    try:
        values = [float(number) for number, _ in responses]
        if max(values) <= 0 and not math.isnan(sum(values)):
            return values
    except (TypeError, ValueError, OverflowError):
        pass
    return [_parse_loglikelihood(where, response) for response in responses]  # another shape, or something is wrong


def _parse_loglikelihood(where: str, response: Any) -> float:
    """Read one log-likelihood, however deep in lists; refuse one above 0."""
    while isinstance(response, list) and response and (len(response) == 1 or isinstance(response[0], list)):
        response = response[0]
    value = response[0] if isinstance(response, list) and response else response
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not number <= SLACK:  # NaN, too
        raise InputError(f"{where}: {shorten_value(value)} is no log-likelihood: a number of at most 0 is needed")
    return min(number, 0.0)


def list_generated_texts(row: Mapping[str, Any]) -> tuple[str, ...]:
    """List the texts that were generated; lmms-eval writes one without a list around it."""
    pending, texts = [row.get("resps")], []
    while pending:
        entry = pending.pop(0)
        if isinstance(entry, list):
            pending = [*entry, *pending]
        elif isinstance(entry, str):
            texts.append(entry)
    return tuple(texts)
