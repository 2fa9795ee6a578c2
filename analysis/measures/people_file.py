"""Read what people answered to the items of a study: a table of shares or counts, or a row per respondent.

Options are named by their labels, or by their ranks from 1, the lowest, on. Where a label is itself a whole number, as
in 0 to 10, numbers are labels and never ranks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from analysis.runs.reading import Row, read_csv_file
from analysis.statistics.ratings.people import People, build_people_from_ranks
from ground.errors import InputError, format_nearest_name_hint, shorten_to_one_line
from ground.spreadsheet import unescape_formula

ITEM, OPTION, SHARE, COUNT, N, RESPONDENT = "item", "option", "share", "count", "n", "respondent"
FORMS = "give the columns item, option and share (or count), or a row per respondent with a column per item"
ROUNDING = 0.005  # of a share that is given to two digits
_WHOLE = re.compile(r"-?\d{1,18}(\.0+)?")  # spreadsheets and pandas write 3 as 3.0 beside empty cells


@dataclass(frozen=True, slots=True)
class Item:
    """Hold an item as people answer it: its name, and the labels of its options in rising order."""

    name: str
    options: tuple[str, ...]

    def find_place_of_option_or_none(self, text: str) -> int | None:
        """Return the place of an option from 0 on, of its label or rank; None: there is no such option."""
        if text in self.options:
            return self.options.index(text)
        if not _WHOLE.fullmatch(text):
            return None
        number = str(int(text.partition(".")[0]))
        if any(_WHOLE.fullmatch(label) for label in self.options):
            return self.options.index(number) if number in self.options else None
        return int(number) - 1 if 1 <= int(number) <= len(self.options) else None

    def describe_unknown_option(self, text: str) -> str:
        """Say that a text names no option, and which there are."""
        listed = shorten_to_one_line(", ".join(self.options), 200)
        return (
            f"option {shorten_to_one_line(repr(text))} is none of {listed}"
            f"{format_nearest_name_hint(text, self.options)}"
        )


def read_answers_of_people_by_study(file_name: str, items_by_study: Mapping[str, Sequence[Item]]) -> dict[str, People]:
    """Read a file of people's answers.

    Parameters
    ----------
    file_name
        A CSV file: the columns item, option, share or count, and n, how many people answered the item (of counts, it
        is their sum); an option without a row has none. Or a row per respondent: a column per item, an empty cell
        where there is no answer; other columns, such as age, are left out.
    items_by_study
        Name of a study -> its items in order.

    Returns
    -------
    dict
        Of every study that has an item of the file: people, with NaN for items that the file lacks.

    Raises
    ------
    InputError
        One line with the file, the line and the column or item: for a file that cannot be read, items and options that
        no study has, numbers that are none, shares that do not sum to 1, an option or a respondent given twice.
    """
    file = Path(file_name)
    rows = [
        (line, {name: unescape_formula(cell) for name, cell in cells.items()}) for line, cells in read_csv_file(file)
    ]
    if not rows:
        raise InputError(f"{file}: no row in it; {FORMS}")
    header = list(rows[0][1])
    names = {item.name for items in items_by_study.values() for item in items}
    if ITEM in header and OPTION in header:
        _refuse_malformed_people_table(file, rows, names)
        read_study = _read_people_from_shares_or_counts
    elif names.intersection(header):
        _refuse_duplicate_respondents(file, rows)
        read_study = _read_people_from_respondent_rows
    else:
        raise InputError(f"{file}: none of its columns is an item of these runs; {FORMS}")
    rows_items = {cells[ITEM] for _, cells in rows} if read_study is _read_people_from_shares_or_counts else set(header)
    return {
        study: read_study(file, rows, items)
        for study, items in items_by_study.items()
        if any(item.name in rows_items for item in items)
    }


def _refuse_malformed_people_table(file: Path, rows: Sequence[Row], names: set[str]) -> None:
    """Refuse a table with both shares and counts, or neither, and items that no study has."""
    header = rows[0][1]
    if (SHARE in header) == (COUNT in header):
        problem = "has both; keep one of them" if SHARE in header else "has neither; add one of them"
        raise InputError(f"{file}: needs a column share or a column count, and {problem}")
    for line, cells in rows:
        if cells[ITEM] not in names:
            nearest = format_nearest_name_hint(cells[ITEM], names)
            raise InputError(
                f"{file}: line {line}: item {shorten_to_one_line(repr(cells[ITEM]))} is no item of these "
                f"runs{nearest}; leave its rows out or correct the name"
            )


def _refuse_duplicate_respondents(file: Path, rows: Sequence[Row]) -> None:
    """Refuse a respondent who has two rows."""
    line_by_respondent: dict[str, int] = {}
    for line, cells in rows:
        respondent = cells.get(RESPONDENT, "")
        if respondent and respondent in line_by_respondent:
            raise InputError(
                f"{file}: line {line}: respondent {shorten_to_one_line(repr(respondent))} has a row in line "
                f"{line_by_respondent[respondent]}, too; keep one"
            )
        line_by_respondent[respondent] = line


def _read_people_from_respondent_rows(file: Path, rows: Sequence[Row], items: Sequence[Item]) -> People:
    """Read a row per respondent: every different cell of a column is looked up once."""
    ranks = np.full((len(rows), len(items)), np.nan)
    for place, item in enumerate(items):
        if item.name not in rows[0][1]:
            continue
        cells = [row[item.name] for _, row in rows]
        place_by_text: dict[str, float] = {"": float("nan")}
        for text in set(cells) - {""}:
            option_place = item.find_place_of_option_or_none(text)
            if option_place is None:
                line = rows[cells.index(text)][0]
                raise InputError(
                    f"{file}: line {line}: column {shorten_to_one_line(repr(item.name))}: "
                    f"{item.describe_unknown_option(text)}; leave the cell empty where there is no answer"
                )
            place_by_text[text] = option_place
        ranks[:, place] = [place_by_text[text] for text in cells]
    if np.isnan(ranks).all():
        raise InputError(
            f"{file}: every cell of its items is empty; give an option, or a rank, where there is an answer"
        )
    return build_people_from_ranks(tuple(item.name for item in items), ranks, _count_options_of_items(items))


def _read_people_from_shares_or_counts(file: Path, rows: Sequence[Row], items: Sequence[Item]) -> People:
    """Read a table of shares or counts."""
    n_options = _count_options_of_items(items)
    shares, n = np.zeros((len(items), int(n_options.max()))), np.zeros(len(items))
    place_by_name = {item.name: place for place, item in enumerate(items)}
    line_by_option: dict[tuple[int, int], int] = {}
    lines_by_item: dict[int, list[Row]] = {}
    column = SHARE if SHARE in rows[0][1] else COUNT
    for line, cells in rows:
        place = place_by_name.get(cells[ITEM])
        if place is None:  # an item of another study
            continue
        option_place = items[place].find_place_of_option_or_none(cells[OPTION])
        if option_place is None:
            raise InputError(
                f"{file}: line {line}: item {shorten_to_one_line(repr(cells[ITEM]))}: "
                f"{items[place].describe_unknown_option(cells[OPTION])}; leave out people without an answer"
            )
        if (first := line_by_option.setdefault((place, option_place), line)) != line:
            raise InputError(
                f"{file}: line {line}: option {shorten_to_one_line(repr(cells[OPTION]))} of item "
                f"{shorten_to_one_line(repr(cells[ITEM]))} is in line {first}, too; keep one"
            )
        shares[place, option_place] = _parse_share_or_count(file, line, column, cells[column])
        lines_by_item.setdefault(place, []).append((line, cells))
    for place, item_rows in lines_by_item.items():
        n[place] = _check_sum_and_find_number_of_people(
            file, items[place].name, item_rows, column, float(shares[place].sum())
        )
    total = shares.sum(axis=1, keepdims=True)
    shares = np.divide(shares, total, out=np.full_like(shares, np.nan), where=total > 0)
    return People(tuple(item.name for item in items), shares, n_options, n)


def _parse_share_or_count(file: Path, line: int, column: str, text: str) -> float:
    """Read a share from 0 to 1, or a count: a whole number from 0 on."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if column == COUNT and not (value >= 0 and value.is_integer()):
        raise InputError(
            f"{file}: line {line}: count {shorten_to_one_line(repr(text))} is no whole number from 0 on; of weighted "
            "people, give share and n"
        )
    if not 0 <= value < math.inf:
        raise InputError(f"{file}: line {line}: share {shorten_to_one_line(repr(text))} is no number from 0 to 1")
    return value


def _check_sum_and_find_number_of_people(
    file: Path, item: str, rows: Sequence[Row], column: str, total: float
) -> float:
    """Check the sum of an item's shares or counts; return the number of people, NaN where it is not known."""
    where = f"{file}: item {shorten_to_one_line(repr(item))} (line {rows[0][0]})"
    if column == SHARE and abs(total - 1) > ROUNDING * len(rows):
        percent = "; divide percentages by 100" if abs(total - 100) <= 100 * ROUNDING * len(rows) else ""
        raise InputError(f"{where}: its shares sum to {total:.4g}, not 1{percent}")
    if total == 0:
        raise InputError(f"{where}: its counts sum to 0; leave out items that nobody answered")
    texts = {cells.get(N, "") for _, cells in rows}
    if texts == {""}:
        return total if column == COUNT else math.nan
    if len(texts) > 1:
        listed = " and ".join(sorted(map(repr, texts))[:2])
        raise InputError(f"{where}: n is {shorten_to_one_line(listed)}; it must be the same for all options of an item")
    text = texts.pop()
    if not _WHOLE.fullmatch(text) or float(text) < 1:
        raise InputError(f"{where}: n {shorten_to_one_line(repr(text))} is no whole number from 1 on")
    if column == COUNT and float(text) != total:
        raise InputError(
            f"{where}: its counts sum to {total:.0f}, but n is {text}; leave out the column n, or people without an "
            "answer"
        )
    return float(text)


def _count_options_of_items(items: Sequence[Item]) -> npt.NDArray[np.int64]:
    """Return K of every item."""
    return np.array([len(item.options) for item in items])
