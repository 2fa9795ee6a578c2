"""Read tables of any format into records: dicts of fields, each with its place in the file for error messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from ground.errors import InputError, format_nearest_name_hint, format_quantity, shorten_text
from ground.numerals import LARGEST_EXACT
from inference.stimuli.reading.csv_rows import read_nonempty_csv_rows
from inference.stimuli.reading.files import (
    parse_json,
    read_checked_lines,
    read_text_file,
    read_yaml,
    refuse_pipe_or_device,
    require_storable_value,
    shorten_value,
)
from inference.stimuli.reading.in_memory import find_table_in_memory
from inference.stimuli.reading.line_ends import unify_line_ends_of_all_texts
from inference.stimuli.reading.workbooks import UNREAD, WORKBOOKS, read_workbook_rows, split_file_and_sheet_name

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 10_000  # rows of a Parquet file turned into records at a time
Record = tuple[str, dict[str, Any]]


def read_records(path: Path, columns: Sequence[str] | None = None) -> list[Record]:
    """Read all records of a table into memory: as `Records`, with the same errors.

    Parameters
    ----------
    path
        The file.
    columns
        As for `Records`.

    Returns
    -------
    list of (place, fields)
        The place is "row 3", "line 3" or "entry 3".
    """
    return list(Records(path, columns))


class Records:
    """The records of a file, read anew on each iteration: a CSV or Parquet table of millions of rows takes no memory.

    Parameters
    ----------
    path
        A .csv, .tsv, .json, .jsonl, .yaml or .parquet file in UTF-8, or a workbook, FILE.xlsx or FILE.xlsx#SHEET
        (`workbooks`); or the name of a table in memory (`in_memory`). In CSV the header tells the delimiter, and UTF-16
        is read, too. Rows without any entry are left out, as spreadsheets write them below a table.
    columns
        None: every record has the fields that are filled in it, as the format has them; all need a name.
        Names of columns: every record has these and no others, as text; numbers too (1, 1.0 and "1" are all "1"). An
        empty CSV cell is then "" and a null None, because an empty answer is not a missing one.
    quotes_in_tabs
        Whether quotation marks enclose cells also where tabs separate them; otherwise they are text there.

    Raises
    ------
    InputError
        For another kind of file; and on iteration for one that cannot be read, is not UTF-8, is malformed, has no rows
        or does not have a column. The message names the file and where possible the row.
    """

    def __init__(self, path: Path, columns: Sequence[str] | None = None, *, quotes_in_tabs: bool = True) -> None:
        self._table = find_table_in_memory(path)
        if find_file_suffix(path) in UNREAD:
            raise InputError(f"{path}: a workbook of this kind is not read; save it as .xlsx or its sheet as CSV UTF-8")
        if self._table is None and find_file_suffix(path) not in READERS:
            raise InputError(f"{path}: unknown kind of file; give one of {', '.join(READERS)}")
        self.path = path
        reader = _read_table_in_memory if self._table is not None else READERS[find_file_suffix(path)]
        self._quotes = {"quotes_in_tabs": quotes_in_tabs} if reader is _read_csv else {}
        self._read = partial(reader, path, columns, **self._quotes)

    def __iter__(self) -> Iterator[Record]:
        empty = True
        with self._convert_read_errors():
            for place, fields in self._read():
                empty = False
                yield place, unify_line_ends_of_all_texts(fields)
        if empty:
            self._raise_error_of_no_rows()

    def list_column_names(self) -> list[str]:
        """List the names of the columns; those of a CSV file or a workbook also where all cells are empty.

        Raises
        ------
        InputError
            As on iteration.
        """
        if self._table is not None and self._table.rows:
            return list(self._table.columns)
        rows = {_read_csv: read_nonempty_csv_rows, _read_workbook: read_workbook_rows}.get(self._read.func)
        if rows:
            with self._convert_read_errors():
                headers = (_require_valid_header(self.path, *first, None) for first in rows(self.path, **self._quotes))
                return [name for name in next(headers, []) if name] or self._raise_error_of_no_rows()
        return list(dict.fromkeys(field for _, record in self for field in record))

    def _raise_error_of_no_rows(self) -> NoReturn:
        """Raise the error that the file has no rows."""
        raise InputError(f"{self.path}: there are no rows in it")

    @contextmanager
    def _convert_read_errors(self) -> Iterator[None]:
        """Turn what goes wrong while the block reads the file into an InputError of one line."""
        try:
            in_folder = self.path.is_dir() and self.path.suffix.lower() == ".parquet"  # a data set of several files
            if self._table is None and not in_folder:
                refuse_pipe_or_device(split_file_and_sheet_name(self.path)[0])
            yield
        except FileNotFoundError as error:
            file = split_file_and_sheet_name(self.path)[0]
            neighbour_names = (other.name for other in file.parent.glob("*.*")) if file.parent.is_dir() else ()
            hint = format_nearest_name_hint(file.name, neighbour_names)
            raise InputError(f"{self.path}: cannot be read ({error.strerror}){hint}") from None
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read ({error.strerror or error})") from None
        except UnicodeDecodeError as error:
            if error.encoding.startswith("utf-16"):
                raise InputError(f"{self.path}: damaged UTF-16 ({error.reason}); save it again") from None
            read_text_file(self.path)  # says where
            raise


def find_file_suffix(path: Path) -> str:
    """Return the suffix of a file in small letters; of FILE.xlsx#SHEET, that of the file.

    >>> find_file_suffix(Path("a/Items.CSV")), find_file_suffix(Path("items.xlsx#Sheet 2"))
    ('.csv', '.xlsx')
    """
    return split_file_and_sheet_name(path)[0].suffix.lower()


def refuse_missing_or_repeated_columns(path: str | Path, header: Iterable[str], columns: Iterable[str | None]) -> None:
    """Refuse a table in which a wanted column is missing or comes twice; a wanted None is ignored.

    Parameters
    ----------
    path
        The file, for messages.
    header
        Names of its columns.
    columns
        Those that are needed; None stands for one that is not.

    Raises
    ------
    InputError
        Names the column and those that there are.
    """
    names = list(header)
    for column in columns:
        if column is not None and names.count(column) != 1:
            trouble = "is there twice" if column in names else f"is not there{format_nearest_name_hint(column, names)}"
            column_list = shorten_text(", ".join(names), 500) or "none"
            raise InputError(f"{path}: column '{column}' {trouble}; the columns are {column_list}")


def refuse_column_of_two_roles(column_by_option: Mapping[str, str | None]) -> None:
    """Refuse a column that is named for two roles.

    Parameters
    ----------
    column_by_option
        Option -> the column that it names; None where it is not given.

    Raises
    ------
    InputError
        Naming the column and both options.
    """
    option_by_column: dict[str, str] = {}
    for option, column in column_by_option.items():
        if column is not None and option_by_column.setdefault(column, option) != option:
            raise InputError(
                f"{option} {column}: this column is named by {option_by_column[column]}, too; name another"
            )


def _read_csv(path: Path, columns: Sequence[str] | None, quotes_in_tabs: bool = True) -> Iterator[Record]:
    yield from _convert_rows_to_records(path, read_nonempty_csv_rows(path, quotes_in_tabs), columns)


def _read_workbook(path: Path, columns: Sequence[str] | None) -> Iterator[Record]:
    yield from _convert_rows_to_records(path, read_workbook_rows(path), columns)


def _convert_rows_to_records(
    path: Path, rows: Iterable[tuple[int, list[str]]], columns: Sequence[str] | None
) -> Iterator[Record]:
    """Turn rows into records; the header is row 1 unless empty rows stand above it."""
    header: list[str] = []
    first: list[str] = []
    width = 0
    for number, row in rows:
        if not header:
            header, first, width = _require_valid_header(path, number, row, columns), row, len(row)
            continue
        if row == first and width > 1:  # tables were put below one another
            raise InputError(f"{path}, row {number}: this is the header again; take the row out")
        if not len(header) <= len(row) <= width:
            advice = "put a text that holds , or ; into quotes" if len(row) > width else "write its empty cells, too"
            raise InputError(
                f"{path}, row {number}: {format_quantity(len(row), 'cell')} where the header has {width}; {advice}"
            )
        unnamed = next((place for place in range(len(header), len(row)) if row[place].strip()), None)
        if unnamed is not None:
            raise InputError(
                f"{path}, row {number}: {shorten_value(row[unnamed])} stands in column {unnamed + 1}, which has no "
                "name; name it in the header, which is the first row"
            )
        cells = dict(zip(header, row, strict=False))
        if columns is None:
            yield f"row {number}", {name: cell for name, cell in cells.items() if name and cell != ""}
        else:
            yield f"row {number}", {column: cells[column] for column in columns}


def _require_valid_header(path: Path, number: int, row: Sequence[str], columns: Sequence[str] | None) -> list[str]:
    """Check the names in the header: the chosen columns are there once, or without a choice all are named once.

    Without a choice, the names at the end that are empty are left out: a spreadsheet may write columns without cells.
    """
    names = [name.strip() for name in row]
    if columns is not None:
        refuse_missing_or_repeated_columns(path, names, columns)
        return names
    while not names[-1]:
        names.pop()
    # pandas writes row numbers into a first column without a name: it is left out.
    named = names[1:] if len(names) > 1 and not names[0] else names
    times = Counter(named)
    wrong = next((name for name in named if not name or times[name] > 1), None)
    if wrong is not None:
        trouble = f"column '{wrong}' is there twice" if wrong else "a column has no name"
        raise InputError(f"{path}, row {number}: {trouble}")
    return names


def _read_json(path: Path, columns: Sequence[str] | None) -> Iterator[Record]:
    """Read one JSON list, or one object per line; the content decides, not the file's name."""
    with path.open(encoding="utf-8-sig", newline="\n") as file:
        first = next((start for start in iter(lambda: file.read(BATCH_ROWS), "") if start.strip()), "")
        if not first.lstrip().startswith("["):
            file.seek(0)
            lines = (
                _require_storable_record(
                    path, f"line {number}", parse_json(path, line.removesuffix("\n"), first_line=number)
                )
                for number, line in enumerate(read_checked_lines(path, file), start=1)
                if line.strip()
            )
            yield from _select_fields_of_records_as_texts(path, lines, columns)
            return
    yield from _number_json_entries(path, parse_json(path, read_text_file(path)), columns)


def _read_table_in_memory(path: Path, columns: Sequence[str] | None) -> Iterator[Record]:
    table = find_table_in_memory(path)
    assert table is not None
    yield from _select_fields_of_records_as_texts(
        path, (_require_storable_record(path, place, row) for place, row in table.rows), columns
    )


def _read_yaml(path: Path, columns: Sequence[str] | None) -> Iterator[Record]:
    yield from _number_json_entries(path, read_yaml(path), columns)


def _read_parquet(path: Path, columns: Sequence[str] | None) -> Iterator[Record]:
    """Go through the rows of a Parquet file, or of a folder of them, batch by batch."""
    import pyarrow as pa
    import pyarrow.dataset
    import pyarrow.parquet as pq

    try:
        column_names = None if columns is None else list(dict.fromkeys(columns))
        if path.is_dir():  # a data set, which would refuse a column that is there twice, wanted or not
            table = pyarrow.dataset.dataset(path, format="parquet", partitioning=None)
            names, read_batches = table.schema.names, table.to_batches
        else:
            file = pq.ParquetFile(path)
            names, read_batches = file.schema_arrow.names, file.iter_batches
        refuse_missing_or_repeated_columns(path, names, names if column_names is None else column_names)
        number = 0
        for batch in read_batches(columns=column_names, batch_size=BATCH_ROWS):
            for row in _convert_batch_to_rows(path, batch, number):
                number += 1
                place = f"row {number}"
                require_storable_value(f"{path}, {place}", row)
                yield (
                    place,
                    row if column_names is None else _convert_record_cells_to_texts(path, place, row, column_names),
                )
    except (pa.ArrowException, ValueError) as error:
        raise InputError(f"{path}: not a readable Parquet file ({(str(error).splitlines() or [''])[0]})") from None


def _convert_batch_to_rows(path: Path, batch: pa.RecordBatch, n_rows_before: int) -> list[dict[str, Any]]:
    """Turn a batch into rows; a cell that Python cannot hold (a date of the year 300,000) is named by its row."""
    try:
        return batch.to_pylist()
    except (ValueError, OverflowError):
        for number in range(batch.num_rows):
            try:
                batch.slice(number, 1).to_pylist()
            except UnicodeDecodeError:
                raise InputError(f"{path}, row {n_rows_before + number + 1}: a text is not UTF-8") from None
            except (ValueError, OverflowError) as error:
                raise InputError(
                    f"{path}, row {n_rows_before + number + 1}: a value is out of range ({error})"
                ) from None
        raise


def _number_json_entries(path: Path, content: Any, columns: Sequence[str] | None) -> Iterator[Record]:
    """Check that a file holds a list of objects, and number them."""
    if not isinstance(content, list):
        raise InputError(f"{path}: expected a list of items at the top level")
    entries = (
        _require_storable_record(path, f"entry {number}", entry) for number, entry in enumerate(content, start=1)
    )
    yield from _select_fields_of_records_as_texts(path, entries, columns)


def _require_storable_record(path: Path, place: str, entry: Any) -> Record:
    """Return an entry with its place; refuse one that is no object, or holds what cannot be stored."""
    if not isinstance(entry, dict) or not all(isinstance(field, str) for field in entry):
        raise InputError(f"{path}, {place}: expected fields with names, such as item and text")
    return place, require_storable_value(f"{path}, {place}", entry)


def _select_fields_of_records_as_texts(
    path: Path, source_records: Iterable[Record], columns: Sequence[str] | None
) -> Iterator[Record]:
    """Keep the chosen fields of objects, each in some row: the first rows are held until all were seen."""
    if columns is None:
        yield from source_records
        return
    first_rows: list[Record] = []
    seen_fields: dict[str, None] = {}
    rows = iter(source_records)
    for row in rows:
        first_rows.append(row)
        seen_fields |= dict.fromkeys(row[1])
        if seen_fields.keys() >= set(columns):
            break
    if first_rows:
        refuse_missing_or_repeated_columns(path, seen_fields, columns)
    for place, record in chain(first_rows, rows):
        yield place, _convert_record_cells_to_texts(path, place, record, columns)


def _convert_record_cells_to_texts(
    path: Path, place: str, record: dict[str, Any], columns: Sequence[str]
) -> dict[str, str | None]:
    """Return the chosen cells of a record as texts, by column."""
    return {column: _convert_record_cell_to_text(path, place, column, record.get(column)) for column in columns}


def _convert_record_cell_to_text(path: Path, place: str, column: str, value: Any) -> str | None:
    """Return a cell as text, a whole number without its point; None where it is missing."""
    if value is None or value != value:  # pandas writes what is missing as NaN
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        if abs(value) > LARGEST_EXACT:
            raise InputError(f"{path}, {place}: column '{column}' holds {value:g}, which is not exact; give it as text")
        return str(int(value))  # tables with gaps turn whole numbers into floats
    if isinstance(value, int | float):
        return str(value)
    raise InputError(f"{path}, {place}: column '{column}' holds {type(value).__name__}, not text or a number")


READERS: dict[str, Callable[..., Iterator[Record]]] = {
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".json": _read_json,
    ".jsonl": _read_json,
    ".yaml": _read_yaml,
    ".yml": _read_yaml,
    ".parquet": _read_parquet,
    **dict.fromkeys(sorted(WORKBOOKS), _read_workbook),
}
