"""Read the sentence of a rule: a limit on a number, or what must be as before.

::

    stability.flip_10 <= 0.20           a column of a table, in every row
    validity >= 90 %                    a measure
    not worse by 0.02 in accuracy       a change; without "by X", by 2 % of the range of the measure
    same answers as before on 95 % of items
    ranking as before
    kurtosis of score as before         the peak of a measure's numbers over items
"""

from __future__ import annotations

import math
import re
from fnmatch import fnmatchcase
from typing import Any

from analysis.check.rules import KURTOSIS, NOT_WORSE, NUMBER, RANKING, SAME_ANSWERS
from analysis.reporting.catalogue import list_tables, look_up_column, look_up_table
from analysis.reporting.catalogue import tables as catalogue_tables
from analysis.reporting.catalogue.columns import Column
from ground.errors import InputError, MalformedPage, format_nearest_name_hint, shorten_to_one_line

RANKING_SENTENCE = "ranking as before"
FORMS = (
    "stability.flip_10 <= 0.20",
    "validity >= 0.9",
    "not worse by 0.02 in accuracy",
    "same answers as before on 95 % of items",
    RANKING_SENTENCE,
    "kurtosis of score as before",
)
SHARES = ("validity", "accuracy", "agreement", "flips")  # bare measures that are shares
NUMBERS = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
RANGES = {"-1 to 1": (-1.0, 1.0), "0 to 1": (0.0, 1.0)}  # ending of a column's unit -> its range


def parse_rule_sentence_into_fields(text: str) -> dict[str, Any]:
    """Parse what a rule requires.

    Parameters
    ----------
    text
        As the file has it.

    Returns
    -------
    dict
        Those fields of a `Rule` that the sentence tells: kind, target, and limit or margin.

    Raises
    ------
    InputError
        It has none of the forms, names what is in no table, or has a limit that is no number or out of range.

    >>> parse_rule_sentence_into_fields("validity >= 90 %")
    {'kind': 'number', 'target': 'validity', 'at_least': 0.9}
    >>> parse_rule_sentence_into_fields("not worse by 0.02 in accuracy")
    {'kind': 'not worse', 'target': 'accuracy', 'margin': 0.02}
    """
    words = " ".join(text.split())
    if match := re.fullmatch(r"not worse(?: by (?P<margin>.+?))?(?: in (?P<measure>.+))?", words):
        return _build_fields_of_rule_not_worse(match["margin"], match["measure"])
    if match := re.fullmatch(r"same answers as before(?: on (?P<share>.+?) of (?:the )?items)?", words):
        return _build_fields_of_rule_same_answers(match["share"])
    if words == RANKING_SENTENCE:
        return {"kind": RANKING}
    if match := re.fullmatch(r"kurtosis(?: of (?P<measure>.+?))? as before", words):
        if not match["measure"]:
            raise InputError("says of no measure whose kurtosis must be as before; write: kurtosis of score as before")
        return {"kind": KURTOSIS, "target": match["measure"]}
    if match := re.fullmatch(r"(?P<target>[^<>=]*?) ?(?P<sign>[<>=!]+) ?(?P<limit>.*)", words):
        return _build_fields_of_rule_with_limit(match["target"], match["sign"], match["limit"])
    raise InputError(f"is no rule{format_nearest_name_hint(words, FORMS)}; the forms are: {'; '.join(FORMS)}")


def _build_fields_of_rule_not_worse(margin: str | None, measure: str | None) -> dict[str, Any]:
    """Parse "not worse by MARGIN in MEASURE"."""
    if not measure:
        raise InputError("says of no measure what must not be worse; write: not worse by 0.02 in accuracy")
    fields: dict[str, Any] = {"kind": NOT_WORSE, "target": measure}
    if margin is None:
        return fields
    if margin.endswith("%"):
        raise InputError(f"the margin {margin} may be of the number or of the range; write a difference, such as 0.02")
    fields["margin"] = _parse_number_or_percentage(margin, "margin")
    if fields["margin"] <= 0:
        raise InputError(f"the margin {margin} is not above 0; write a difference that counts as none, such as 0.02")
    if measure in SHARES and fields["margin"] >= 1:
        raise InputError(f"{measure} is a share, 0 to 1: by {margin} is no margin; write one such as 0.02")
    return fields


def _build_fields_of_rule_same_answers(share: str | None) -> dict[str, Any]:
    """Parse "same answers as before on SHARE of items"."""
    if share is None:
        raise InputError("says of no share; write: same answers as before on 95 % of items")
    number = _parse_number_or_percentage(share, "share")
    if not 0 < number <= 1:
        is_percentage = not share.endswith("%") and 1 < number <= 100
        remedy = f"write {share} %" if is_percentage else "write one such as 95 %"
        raise InputError(f"the share {share} is not above 0 and at most 100 %; {remedy}")
    return {"kind": SAME_ANSWERS, "at_least": number}


def _build_fields_of_rule_with_limit(target: str, sign: str, limit: str) -> dict[str, Any]:
    """Parse "TARGET >= LIMIT" or "TARGET <= LIMIT"."""
    if not target:
        raise InputError(f"names nothing before {sign}; write a column of a table, or a measure: {FORMS[0]}")
    if sign not in ("<=", ">="):
        raise InputError(f"{sign} is neither <= nor >=; write one of these")
    number = _parse_number_or_percentage(limit, "limit")
    ends = find_range_of_rule_number(target)
    low, high = ends or (-math.inf, math.inf)
    if not low <= number <= high:
        percent = f"; write {number:g} % or {number / 100:g}" if (low, 1) == (0, high) and 1 < number <= 100 else ""
        raise InputError(f"{target} is from {low:g} to {high:g}: {number:g} is no limit of it{percent}")
    if number == (high if sign == "<=" else low):
        raise InputError(f"{target} is from {low:g} to {high:g}: {sign} {number:g} holds whatever it is; give a limit")
    return {"kind": NUMBER, "target": target, "at_least" if sign == ">=" else "at_most": number}


def _parse_number_or_percentage(text: str, noun: str) -> float:
    """Read a number, or a percentage as a share."""
    digits = text.removesuffix("%").rstrip()
    if not NUMBERS.fullmatch(digits) or math.isinf(float(digits)):
        raise InputError(f"the {noun} {shorten_to_one_line(repr(text))} is no number; write one such as 0.2 or 20 %")
    return float(digits) / 100 if text.endswith("%") else float(digits)


def find_range_of_rule_number(target: str) -> tuple[float, float] | None:
    """Find the ends that the number of a rule has: of a column by its unit; None where nothing says.

    Parameters
    ----------
    target
        "table.column", or a measure.

    Returns
    -------
    tuple or None
        The least and the largest number.

    Raises
    ------
    InputError
        There is no such table or column, or the column is a text.
    """
    if "." not in target:
        if target in list_tables():
            raise InputError(f"{target} is a table; name a column of it, such as {_name_lead_column_of_table(target)}")
        return (0.0, 1.0) if target in SHARES else None
    unit = look_up_numeric_column_of_rule(target).unit
    if unit in ("1 at most", "up to 1"):
        return (-math.inf, 1.0)
    return next((ends for ending, ends in RANGES.items() if unit.endswith(ending)), None)


def look_up_numeric_column_of_rule(target: str) -> Column:
    """Look up what the column of a rule means.

    Parameters
    ----------
    target
        "table.column".

    Returns
    -------
    Column
        Its meaning and unit.

    Raises
    ------
    InputError
        There is no such table or column, with the nearest name, or the column is a text.
    """
    table, _, column = target.partition(".")
    patterns = [entry for entry in look_up_table(table).columns if entry != catalogue_tables.INTERVALS]
    bases = [column.removesuffix("_lower").removesuffix("_upper"), column]
    try:
        is_declared = any(fnmatchcase(name, pattern) for name in bases for pattern in patterns)
        entry = look_up_column(table, column) if is_declared else None
    except MalformedPage:  # matches a pattern, and is none of the columns that it stands for
        entry = None
    if entry is None:
        number_columns = [
            name for name in patterns if "*" not in name and is_numeric_column(look_up_column(table, name))
        ]
        like = [name for name in patterns if "*" in name]
        pattern_hint = f", or one like {', '.join(like)}" if like else ""
        raise InputError(
            f"table {table} has no column {shorten_to_one_line(repr(column))}"
            f"{format_nearest_name_hint(column, number_columns)}{pattern_hint}; `waver table --list {table}` "
            "explains all"
        )
    if not is_numeric_column(entry):
        raise InputError(
            f"{target} is a text or a yes or no, no number that has a limit; `waver table --list {table}` explains all"
        )
    return entry


def is_numeric_column(column: Column) -> bool:
    """Tell whether a column holds numbers: it is printed with decimals, or counts something."""
    return column.digits is not None or bool(column.unit)


def _name_lead_column_of_table(table: str) -> str:
    """Name the lead measure of a table, or its first column that is a number."""
    entry = look_up_table(table)
    if entry.measures and entry.measures.lead:
        return f"{table}.{entry.measures.lead}"
    numbers = [name for name in entry.columns if name != catalogue_tables.INTERVALS]
    return next(
        (f"{table}.{name}" for name in numbers if is_numeric_column(look_up_column(table, name))), f"{table}.COLUMN"
    )
