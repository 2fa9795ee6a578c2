"""Recognise the layouts in which multiple-choice questions are published, and bring a record of each to one form.

The layout of every record is recognised by its own fields:

own
    `question`, `choices` (a list; or a column per choice: `A`, `B`, `C` ...), `answer`, and if wanted `item`,
    `paraphrases` (a list; or columns `paraphrase_1`, `paraphrase_2`), `subset`, `source`, `split`, `orders` and
    `passage`. In a CSV cell, a list is written as in JSON. MMLU's rows with a header (`subject`) are read so, too.
labelled
    ARC and CommonsenseQA: `answerKey`, and choices that have a `label` and a `text` each, inside `question` as their
    authors published them or beside it as on the hub.
MMLU
    CSV without a header: question, four choices, letter.
MathQA
    `Problem`, `options` ("a ) 38 , b ) 27.675 , c ) 30"), `correct` (a small letter).
Unified-MCQA
    `question`, `choices`, `label` (an index from 0), `context` (empty without a passage), `source_dataset`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from ground.errors import InputError, format_quantity
from inference.stimuli.reading import records
from inference.stimuli.reading.csv_rows import read_nonempty_csv_rows
from inference.stimuli.reading.files import read_text_file, shorten_value
from inference.stimuli.reading.records import Record

MMLU_CELLS = ("question", *"ABCD", "answer")
_PARAPHRASE = re.compile(r"paraphrase_[1-9][0-9]*")


@dataclass(frozen=True, slots=True)
class PlainQuestion:
    """What a record of any layout says, before it is checked.

    Attributes
    ----------
    answer
        The index of the right choice.
    fields
        The record itself, for what only our own layout has.
    source
        The data set, where the record or its layout says it.
    passage
        What the question is about, where it cannot be asked alone.
    """

    question: Any
    choices: tuple[str, ...]
    answer: int
    fields: Mapping[str, Any]
    source: Any = None
    passage: Any = None


def read_question_records(path: Path) -> Iterator[Record]:
    """Go through the records of a file; the cells of MMLU's CSV files get their names.

    Raises
    ------
    InputError
        As for `records.Records`.
    """
    table = records.Records(path)
    if path.suffix.lower() == ".csv" and path.is_file() and _is_mmlu_file(path):
        read_text_file(path)  # says where it is not UTF-8
        for number, cells in read_nonempty_csv_rows(path):
            if len(cells) != len(MMLU_CELLS):
                raise InputError(
                    f"{path}, row {number}: {format_quantity(len(cells), 'cell')} where MMLU has {len(MMLU_CELLS)} "
                    "(question, four choices, letter); put a text that holds , into quotes"
                )
            yield f"row {number}", {**dict(zip(MMLU_CELLS, cells, strict=True)), "source": "mmlu"}
        return
    yield from table


def _is_mmlu_file(path: Path) -> bool:
    """Tell whether a CSV file begins with a question instead of the names of columns."""
    try:
        _, first = next(read_nonempty_csv_rows(path), (0, []))
    except (InputError, OSError, UnicodeDecodeError):
        return False  # the reader of tables says what is wrong
    return len(first) == len(MMLU_CELLS) and first[-1].strip() in tuple("ABCD") and first[0].casefold() != "question"


def _convert_math_qa(where: str, record: Mapping[str, Any]) -> PlainQuestion:
    """Convert a question as MathQA has it."""
    options = record["options"]
    choices = _split_math_qa_options(options) if isinstance(options, str) else []
    if not choices:
        raise InputError(f"{where}: options must be as in 'a ) 38 , b ) 27.675 , c ) 30', not {shorten_value(options)}")
    letters = ascii_uppercase[: len(choices)].lower()
    answer = _find_index_of_answer_by_label(where, "correct", record.get("correct"), letters)
    return PlainQuestion(record["Problem"], tuple(choices), answer, record, "math_qa")


def _split_math_qa_options(options: str) -> list[str]:
    """Split MathQA's options at their letters, one after the other: a choice may hold commas and brackets.

    >>> (_split_math_qa_options("a ) rs . 1,200 , b ) 4 ( b ) , c ) none of these"),
    ...  _split_math_qa_options("['a ) 1', 'b ) 2']"))
    (['rs . 1,200', '4 ( b )', 'none of these'], ['1', '2'])
    """
    text = re.sub(r"^\[\s*['\"]|['\"]\s*\]$", "", options.strip())
    starts: list[re.Match[str]] = []
    at = 0
    for letter in ascii_uppercase.lower():
        mark = rf"^\s*{letter}\s*\)" if not starts else rf"['\"]?\s*,\s*['\"]?\s*{letter}\s*\)"
        match = re.compile(mark).search(text, at)
        if match is None:
            break
        starts.append(match)
        at = match.end()
    ends = [match.start() for match in starts[1:]] + [len(text)] * bool(starts)
    return [text[match.end() : end].strip() for match, end in zip(starts, ends, strict=True)]


def _convert_labelled_choices(where: str, record: Mapping[str, Any]) -> PlainQuestion:
    """Convert a question whose choices have labels, as in ARC and CommonsenseQA."""
    question = record.get("question")
    stem = question.get("stem") if isinstance(question, dict) else question
    choices = question.get("choices") if isinstance(question, dict) else record.get("choices")
    if isinstance(choices, dict):  # the hub's form: a list of labels and a list of texts
        labels, texts = choices.get("label"), choices.get("text")
    elif isinstance(choices, list) and all(isinstance(choice, dict) for choice in choices):
        labels, texts = ([choice.get(name) for choice in choices] for name in ("label", "text"))
    else:
        labels = texts = None
    if not isinstance(labels, list) or not isinstance(texts, list) or len(labels) != len(texts):
        raise InputError(f"{where}: choices must each have a label and a text, not {shorten_value(choices)}")
    if len(set(map(str, labels))) < len(labels):
        raise InputError(f"{where}: two choices have the same label; the labels are {shorten_value(labels)}")
    answer = _find_index_of_answer_by_label(where, "answerKey", record.get("answerKey"), list(map(str, labels)))
    concept = "question_concept" in record or (isinstance(question, dict) and "question_concept" in question)
    return PlainQuestion(
        stem, _strip_and_check_texts(where, "choices", texts), answer, record, "commonsense_qa" if concept else "arc"
    )


def _find_index_of_answer_by_label(where: str, name: str, value: Any, labels: Sequence[str]) -> int:
    """Find the index of the choice whose label is the answer."""
    key = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
    label_list = list(labels)
    if key not in label_list:
        raise InputError(
            f"{where}: {name} {shorten_value(value)} is not among the choices; give one of {', '.join(label_list)}"
        )
    return label_list.index(key)


def _convert_unified_mcqa(where: str, record: Mapping[str, Any]) -> PlainQuestion:
    """Convert a question as Unified-MCQA has it."""
    choices = parse_text_list(where, "choices", record["choices"])
    answer = _parse_choice_index(where, "label", record["label"], len(choices))
    return PlainQuestion(
        record["question"], choices, answer, record, record.get("source_dataset"), record.get("context")
    )


def _convert_question_in_waver_layout(where: str, record: Mapping[str, Any]) -> PlainQuestion:
    """Convert a question in Waver's own layout: a list of choices, or columns A, B, C ..."""
    if record.get("choices") is not None:
        choices = parse_text_list(where, "choices", record["choices"])
    else:
        filled = [letter for letter in ascii_uppercase if _is_filled_cell(record.get(letter))]
        if filled != list(ascii_uppercase[: len(filled)]) or not filled:
            raise InputError(
                f"{where}: there are no choices; give a list `choices`, or columns A, B, C ... without gap"
            )
        choices = _strip_and_check_texts(where, "choices", [record[letter] for letter in filled])
    named = record.get("source", "mmlu" if "subject" in record else None)
    answer = _find_answer_index(where, record.get("answer"), choices)
    return PlainQuestion(record.get("question"), choices, answer, record, named, record.get("passage"))


def _find_answer_index(where: str, value: Any, choices: Sequence[str]) -> int:
    """Find the right choice by its letter, by its own text, or by its index from 0.

    A capital letter is always a letter, whatever the choices say; a whole number in JSON is always an index. A number
    in a CSV cell may be an index or a text: where it would be two different choices, it is refused.
    """
    letters = ascii_uppercase[: len(choices)]
    if isinstance(value, int | float):
        return _parse_choice_index(where, "answer", value, len(choices))
    text = " ".join(value.split()) if isinstance(value, str) else ""
    if len(text) == 1 and text in letters:
        return letters.index(text)
    places = {place for place, choice in enumerate(choices) if " ".join(choice.split()) == text}
    if text.isascii() and text.isdigit() and len(text) < 10 and int(text) < len(choices):
        places.add(int(text))
    if len(places) == 1:
        return places.pop()
    letter = f"write its letter, {letters[:1]} to {letters[-1:]}"
    if places:
        raise InputError(
            f"{where}: answer {shorten_value(value)} may be an index or the text of another choice; {letter}"
        )
    raise InputError(
        f"{where}: answer {shorten_value(value)} is not among the choices; {letter}, its own text or its index from 0"
    )


def _parse_choice_index(where: str, name: str, value: Any, n_choices: int) -> int:
    """Return an index among the choices; refuse another value."""
    text = "" if isinstance(value, bool) else str(value).strip()
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1
    if not 0 <= number < n_choices:
        raise InputError(
            f"{where}: {name} {shorten_value(value)} is not among the choices; give an index from 0 to {n_choices - 1}"
        )
    return number


def parse_text_list(where: str, name: str, value: Any) -> tuple[str, ...]:
    """Read a list of texts; a CSV cell holds it as JSON.

    Parameters
    ----------
    where
        File and row, for messages.
    name
        Name of the field.
    value
        The list.

    Returns
    -------
    The texts.

    Raises
    ------
    InputError
        It is no list, or one of its entries is empty.
    """
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise InputError(
                f'{where}: {name} must be a list as in ["tea", "milk"], not {shorten_value(value)}'
            ) from None
    if not isinstance(value, list | tuple):
        raise InputError(f'{where}: {name} must be a list as in ["tea", "milk"], not {shorten_value(value)}')
    return _strip_and_check_texts(where, name, value)


def parse_paraphrases(where: str, record: Mapping[str, Any]) -> tuple[str, ...]:
    """Read the paraphrases that a record holds: a list, or columns `paraphrase_1`, `paraphrase_2` ...

    Parameters
    ----------
    where
        File and row, for messages.
    record
        Field -> value.

    Returns
    -------
    The paraphrases in the order of their numbers.

    Raises
    ------
    InputError
        As for `parse_text_list`.
    """
    if record.get("paraphrases") is not None:
        return parse_text_list(where, "paraphrases", record["paraphrases"])
    names = [name for name in record if _PARAPHRASE.fullmatch(name) and _is_filled_cell(record[name])]
    names.sort(key=lambda name: int(name.rpartition("_")[2]))
    return _strip_and_check_texts(where, "paraphrases", [record[name] for name in names])


def _is_filled_cell(value: Any) -> bool:
    """Tell whether a cell holds something; Parquet and JSON write null where CSV leaves a cell empty, pandas NaN."""
    return value is not None and value == value and bool(str(value).strip())


def _strip_and_check_texts(where: str, name: str, values: Sequence[Any]) -> tuple[str, ...]:
    """Return texts without white space around them, numbers as texts; refuse an empty one or another value."""
    for value in values:
        number = isinstance(value, int | float) and not isinstance(value, bool) and value == value
        if not number and not (isinstance(value, str) and value.strip()):
            raise InputError(
                f"{where}: {name} must be texts, and one is {shorten_value(value)}; fill it in or take it out"
            )
    return tuple(str(value).strip() for value in values)


LAYOUTS: tuple[tuple[Callable[[Mapping[str, Any]], bool], Callable[[str, Mapping[str, Any]], PlainQuestion]], ...] = (
    (lambda record: "Problem" in record and "options" in record, _convert_math_qa),
    (lambda record: "answerKey" in record or isinstance(record.get("question"), dict), _convert_labelled_choices),
    (
        lambda record: {"question", "choices", "label"} <= record.keys() and "answer" not in record,
        _convert_unified_mcqa,
    ),
    (lambda record: True, _convert_question_in_waver_layout),
)
"""Which layout a record has (the first that fits), and how it is read."""
