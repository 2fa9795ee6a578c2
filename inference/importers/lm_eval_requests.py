"""Read what a row of lm-eval samples was asked: its requests, the options they stand for, and what came back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any

from ground.errors import InputError
from inference.importers.lm_eval_files import File
from inference.stimuli.files import shown

SLACK = 1e-6  # a log-likelihood of float16 numbers may be this much above 0
_LETTERS = (ascii_uppercase, ascii_lowercase, digits[1:], digits)
_LISTS = ("choices", "options", "endings", "answers", "choice", "answer_choices")

Request = tuple[str, Any]


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one row.

    Attributes
    ----------
    text
        What stands before the options.
    words
        What each option says; where the model continues with a letter, the choice that the letter stands for.
    said
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
    said: tuple[str, ...]
    plain: tuple[str, ...]
    one_context: bool
    mutual: bool

    def lengths(self, of_bytes: bool) -> list[int]:
        """Measure what the model continues with, in characters or bytes."""
        return [len(each.encode()) if of_bytes else len(each) for each in self.said]


def requests(where: str, row: Mapping[str, Any]) -> list[Request]:
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
    given = row.get("arguments")
    if isinstance(given, dict):
        try:
            ordered = (
                given.values() if _in_order(tuple(given)) else [given[name] for name in sorted(given, key=_number)]
            )
            pairs = [(each["arg_0"], each.get("arg_1")) for each in ordered]
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InputError(f"{where}: arguments holds something else than gen_args_N with arg_0 and arg_1") from None
    elif isinstance(given, list) and all(isinstance(each, list) and each for each in given):
        pairs = [(each[0], each[1] if len(each) > 1 else None) for each in given]
    else:
        raise InputError(
            f"{where}: field 'arguments' is missing or no list of requests; these are no samples of lm-eval"
        )
    # A chat is logged as its JSON text, in a list of its own.
    found = [(one[0] if type(one) is list and len(one) == 1 else one, other) for one, other in pairs]
    if not found or {type(context) for context, _ in found} != {str}:
        raise InputError(f"{where}: field 'arguments' holds no text that was asked")
    return found


@lru_cache
def _in_order(names: tuple[str, ...]) -> bool:
    """Tell whether requests stand in the order of their numbers, as they mostly do."""
    return names == tuple(f"gen_args_{number}" for number in range(len(names)))


def _number(name: str) -> int:
    return int(name.removeprefix("gen_args_"))


def options(where: str, row: Mapping[str, Any], asked: Sequence[Request], file: File) -> Options:
    """Tell what the options of a row are.

    Parameters
    ----------
    where
        File and line, for messages.
    row
        The row.
    asked
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
    half = len(asked) // 2
    ends = tuple([end for _, end in asked])
    mutual = "acc_mutual_info" in (row.get("metrics") or row) and ends[:half] == ends[half:]
    mutual = mutual and all(context == "" for context, _ in asked[half:])
    if mutual:
        asked, ends = asked[:half], ends[:half]
    if len(ends) < 2 or {type(end) for end in ends} != {str}:
        raise InputError(f"{where}: {len(ends)} requests, of which not all continue with an option")
    first = asked[0][0]
    if any(context != first for context, _ in asked):
        if len(set(ends)) > 1:
            raise InputError(f"{where}: texts and options both differ between requests; what is chosen is not plain")
        return _in_text([context for context, _ in asked], ends[0], mutual)
    delimiter = file.config.get("target_delimiter", " ")
    said, plain, lettered = _said(ends, delimiter if isinstance(delimiter, str) else "")
    words = (_listed(row.get("doc"), plain) or plain) if lettered else plain
    # A task may have no text before its options, as for the likelier one of two sentences.
    return Options(first if first.strip() else " / ".join(words), words, said, plain, True, mutual)


@lru_cache(maxsize=1000)
def _said(ends: tuple[str, ...], delimiter: str) -> tuple[tuple[str, ...], tuple[str, ...], bool]:
    """Take the delimiter off, then all blanks; and tell whether letters are left."""
    if delimiter and all(end.startswith(delimiter) for end in ends):
        ends = tuple(end[len(delimiter) :] for end in ends)
    plain = tuple(end.strip() for end in ends)
    return ends, plain, any(plain == tuple(letters[: len(plain)]) for letters in _LETTERS)


def _in_text(contexts: Sequence[str], end: str, mutual: bool) -> Options:
    """Read options that stand in the text: the words in which the contexts differ, with what follows them.

    "... because the trophy" and "... because the suitcase" are "trophy" and "suitcase" after "... because the _".
    """
    same = (len(set(letters)) == 1 for letters in zip(*contexts, strict=False))
    shared = contexts[0][: sum(takewhile(bool, same))]
    shared = shared[: len(shared) - len(shared.split(" ")[-1])]  # whole words
    words = tuple(context[len(shared) :].strip() for context in contexts)
    return Options(f"{shared}_{end}", words, words, words, False, mutual)


def _listed(doc: Any, letters: tuple[str, ...]) -> tuple[str, ...] | None:
    """Find in the document what letters stand for."""
    for name in _LISTS if isinstance(doc, dict) else ():
        given = doc.get(name)
        given = given.get("text") if isinstance(given, dict) else given
        if isinstance(given, list) and len(given) == len(letters) and {type(each) for each in given} == {str}:
            return tuple([each.strip() or letter for each, letter in zip(given, letters, strict=True)])
    return None


def loglikelihoods(where: str, row: Mapping[str, Any]) -> list[float]:
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
    given = row.get("filtered_resps", row.get("resps"))
    if not isinstance(given, list):
        raise InputError(f"{where}: field 'filtered_resps' is missing")
    try:
        found = [float(number) for number, _ in given]
        if max(found) <= 0 and not math.isnan(sum(found)):
            return found
    except (TypeError, ValueError, OverflowError):
        pass
    return [_loglikelihood(where, each) for each in given]  # another shape, or something is wrong


def _loglikelihood(where: str, given: Any) -> float:
    while isinstance(given, list) and given and (len(given) == 1 or isinstance(given[0], list)):
        given = given[0]
    value = given[0] if isinstance(given, list) and given else given
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not number <= SLACK:  # NaN, too
        raise InputError(f"{where}: {shown(value)} is no log-likelihood: a number of at most 0 is needed")
    return min(number, 0.0)


def generated(row: Mapping[str, Any]) -> tuple[str, ...]:
    """List the texts that were generated; lmms-eval writes one without a list around it."""
    left, texts = [row.get("resps")], []
    while left:
        one = left.pop(0)
        if isinstance(one, list):
            left = [*one, *left]
        elif isinstance(one, str):
            texts.append(one)
    return tuple(texts)
