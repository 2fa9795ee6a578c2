"""Set a table in LaTeX so that it fits: over one column or the page, in parts where it is too wide or too long.

::

    print(render_grid_as_latex(cells, "stability", catalogue.look_up_table("stability"), width="column"))
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from analysis.reporting.catalogue.columns import IDENTITY
from analysis.reporting.output.latex.texts import (
    escape_latex,
    estimate_text_width,
    is_settable_by_pdflatex,
    split_word_into_pieces,
    wrap_into_lines,
)
from ground.errors import InputError

if TYPE_CHECKING:
    from analysis.reporting.catalogue import Table
    from analysis.reporting.catalogue.grid import Cell, Grid

Width = Literal["column", "text", "page"]
# Points (72.27 to the inch): column and page of an ACL paper, 3.03 in and 6.3 in; the text of `article`, 4.8 in.
POINTS = {"column": 219, "text": 345, "page": 455}
HEIGHT = 530.0  # points that a float may take: the text of `article` has 550
MOST_FLOATS = 2  # of a table in one column: one that takes more is set over both columns
WAITING = 12  # floats in a row that LaTeX has room for until it sets them: 18, and the document has its own
SIZES = ("footnotesize", "scriptsize")  # 8 pt and 7 pt in a document of 10 pt
SPACE = 6.0  # points between two columns
# Points of a line of a table, of one of the caption with the width of its characters, and of rules and spaces.
LINE = {"footnotesize": 9.5, "scriptsize": 8.0}
CAPTION_LINE, CAPTION_CHARACTER, RULES, INTERVAL_SPACE = 12.0, 5.0, 24.0, 2.0
CUT = "Texts too long for the page end in …; the table as CSV has them whole."
WORDS = 0.24  # of the width, for a column of running text
NARROW_WORDS = 0.4


@dataclass(frozen=True, slots=True)
class _Layout:
    """How a table is set: the width, the size of print, and which columns and rows each of its parts has.

    `table` has texts that fit a part, `caption` says where one is cut for that.
    """

    table: Grid
    caption: str
    width: Width
    text_share: float
    size: str
    column_parts: list[list[int]]
    row_parts: list[range]

    @property
    def n_parts(self) -> int:
        """Count the parts."""
        return len(self.column_parts) * len(self.row_parts)

    @property
    def has_part_with_single_column(self) -> bool:
        """Tell whether a part repeats the names of all rows for the sake of one column."""
        repeated = set.intersection(*map(set, self.column_parts))
        return len(self.column_parts) > 1 and bool(repeated) and min(map(len, self.column_parts)) == len(repeated) + 1

    @property
    def has_row_identifiers_in_every_part(self) -> bool:
        """Tell whether every part has the columns that tell the rows apart."""
        keys = set(list_key_columns(self.table))
        return len(self.column_parts) == 1 or all(keys <= set(part) for part in self.column_parts)


def render_grid_as_latex(table: Grid, name: str, entry: Table, width: Width = "page") -> str:
    """Write a grid as LaTeX with booktabs rules.

    A table is a `table*` over the page, or a `table` in the column or the text. One that is too wide at 7 pt, or longer
    than a page, is set in parts; each part repeats the columns that tell rows apart. In the text of a one-column
    document, one that is longer than a page is a `longtable`; two columns can hold none. One that takes more than two
    floats in a column, has no room there to tell its rows apart in each part, or repeats the names for one column, is
    set over both columns if its parts are fewer there, or tell their rows apart only there. A text that is longer than
    a page is cut. A table without rows is a sentence that says so.

    Parameters
    ----------
    table
        The grid.
    name
        Name of the table, for its label.
    entry
        Its title and caption.
    width
        "page", "column" or "text".

    Returns
    -------
    The LaTeX.

    Raises
    ------
    InputError
        For another width.
    """
    if width not in POINTS:
        raise InputError(f"unknown width {width!r}; the widths are: {', '.join(POINTS)}")
    if not table.rows:
        return f"The table ``{escape_latex(entry.title)}'' has no rows.\\par % No float: there is nothing to set.\n"
    layout = _choose_table_layout(table, entry, width)
    if width == "column" and (
        layout.n_parts > MOST_FLOATS
        or layout.has_part_with_single_column
        or not layout.has_row_identifiers_in_every_part
    ):
        layouts = (layout, _choose_table_layout(table, entry, "page"))
        layout = min(layouts, key=lambda choice: (not choice.has_row_identifiers_in_every_part, choice.n_parts))
    table = layout.table
    is_long = width == "text" and len(layout.row_parts) > 1
    lines = [f"% Needs \\usepackage{{{'booktabs, longtable' if is_long else 'booktabs'}}} in the preamble.\n"]
    texts = (entry.title, layout.caption, *(column.header for column in table.columns))
    if not all(map(is_settable_by_pdflatex, (*texts, *(cell.text for row in table.rows for cell in row)))):
        lines.append(
            "% Has characters that pdfLaTeX does not know: use LuaLaTeX or XeLaTeX with a font that has them.\n"
        )
    if layout.width != width:
        lines.append("% Too wide for one column: set over both.\n")
    row_parts = [range(len(table.rows))] if is_long else layout.row_parts
    parts = [(columns, rows) for columns in layout.column_parts for rows in row_parts]
    for number, (columns, rows) in enumerate(parts, start=1):
        part = f" (part {number} of {len(parts)})" if len(parts) > 1 else ""
        label = f"\\label{{tab:waver-{name.replace('_', '-')}{f'-{number}' if number > 1 else ''}}}"
        caption = f"{entry.title}{part}." + (f" {layout.caption}" if number == 1 else "")
        head = f"\\caption{{{escape_latex(caption)}}}{label}"
        if is_long:
            lines.append(_render_longtable(table, columns, layout, head, f"{entry.title}{part} (continued)."))
        else:
            lines.append(_render_latex_float(table, columns, rows, layout, head))
            if number % WAITING == 0:
                lines.append("\\clearpage\n")
    return "".join(lines)


def _choose_table_layout(table: Grid, entry: Table, width: Width) -> _Layout:
    """Lay out a table at a width: in as few parts as fit."""
    room = POINTS[width]
    text_share = NARROW_WORDS if width == "column" else WORDS
    size, column_parts = _choose_print_size_and_column_parts(table, room, text_share)
    words_width = room * text_share
    caption = entry.caption
    height = _compute_table_height_left_for_rows(f"{entry.title} {caption}", room, size)
    cut_table = cut_long_texts(table, words_width, size, height)
    if cut_table != table:
        caption = f"{caption} {CUT}"
        height = _compute_table_height_left_for_rows(f"{entry.title} {caption}", room, size)
        cut_table = cut_long_texts(table, words_width, size, height)
    row_heights = [
        max(_estimate_row_height(cut_table, row, columns, words_width, size) for columns in column_parts)
        for row in cut_table.rows
    ]
    row_parts = list(_split_rows_into_parts(row_heights, height))
    return _Layout(cut_table, caption, width, text_share, size, column_parts, row_parts)


def _compute_table_height_left_for_rows(caption: str, room: float, size: str) -> float:
    """Compute the points that a float has for its rows below caption, rules and header."""
    caption_lines = math.ceil(CAPTION_CHARACTER * len(caption) / room) + 1
    return HEIGHT - CAPTION_LINE * caption_lines - RULES - 2 * LINE[size]


def _estimate_row_height(
    table: Grid, row: Sequence[Cell], columns: Sequence[int], words_width: float, size: str
) -> float:
    """Estimate the points that a row takes, from its longest running text and its intervals."""
    texts = [row[i].text for i in columns if table.wordy[i]]
    n_lines = max((len(wrap_into_lines(text, words_width, size)) for text in texts), default=1)
    return max(n_lines, 1) * LINE[size] + _estimate_interval_height([row[i] for i in columns], size)


def _estimate_interval_height(cells: Sequence[Cell], size: str) -> float:
    """Estimate the points that the intervals below a row take; 0 where it has none."""
    return LINE[size] + INTERVAL_SPACE if any(cell.interval for cell in cells) else 0.0


def cut_long_texts(table: Grid, words_width: float, size: str, height: float) -> Grid:
    """Cut the running texts that make a row higher than a float: LaTeX breaks no row over two pages.

    Parameters
    ----------
    table
        The grid.
    words_width
        Points of a column of running text.
    size
        "footnotesize" or "scriptsize".
    height
        Points that a float has for its rows.

    Returns
    -------
    Grid
        The same; a text of more lines than there is room for ends in "…".
    """
    rows = []
    for row in table.rows:
        most_lines = int((height - _estimate_interval_height(row, size)) / LINE[size])
        rows.append(
            tuple(
                replace(cell, text=_cut_text_to_lines(cell.text, words_width, size, most_lines)) if wordy else cell
                for cell, wordy in zip(row, table.wordy, strict=True)
            )
        )
    return replace(table, rows=tuple(rows))


def _cut_text_to_lines(text: str, words_width: float, size: str, most_lines: int) -> str:
    """Return a text, or its beginning and "…" where it takes more lines; the last line is left for the mark."""
    lines = wrap_into_lines(text, words_width, size)
    return text if len(lines) <= most_lines else "".join(lines[: most_lines - 1]).rstrip(" ,;:.") + "…"


def _split_rows_into_parts(row_heights: Sequence[float], height: float) -> Iterator[range]:
    """Yield the rows of each part, as many as fit; at least one, even of no row.

    >>> list(_split_rows_into_parts([2, 2, 2, 9, 1], 5))
    [range(0, 2), range(2, 3), range(3, 4), range(4, 5)]
    """
    start, used = 0, 0.0
    for i, row_height in enumerate(row_heights):
        if i > start and used + row_height > height:
            yield range(start, i)
            start, used = i, 0.0
        used += row_height
    yield range(start, len(row_heights))


def _choose_print_size_and_column_parts(table: Grid, room: float, text_share: float) -> tuple[str, list[list[int]]]:
    """Return the size of print, and the columns of each part: one part where all columns fit in 8 or in 7 pt.

    >>> from analysis.reporting.catalogue.columns import Column
    >>> from analysis.reporting.catalogue.grid import Cell, Grid
    >>> cells = Grid(("a", "b", "c"), (Column("", header="x" * 30),) * 3, (), (True,) * 3, (False,) * 3)
    >>> _choose_print_size_and_column_parts(cells, 455, 0.24), _choose_print_size_and_column_parts(cells, 219, 0.24)
    (('footnotesize', [[0, 1, 2]]), ('scriptsize', [[0], [1], [2]]))
    """
    sizes = {
        size: [_estimate_column_width(table, i, room, text_share, size) for i in range(len(table.columns))]
        for size in SIZES
    }
    room_with_space = room + SPACE  # there is none before the first column and none behind the last
    for size in SIZES:
        if sum(sizes[size]) <= room_with_space:
            return size, [list(range(len(table.columns)))]
    return SIZES[-1], list(_split_columns_into_parts(table, sizes[SIZES[-1]], room_with_space))


def _split_columns_into_parts(table: Grid, column_widths: Sequence[float], room: float) -> Iterator[list[int]]:
    """Yield the columns of each part; those that tell the rows apart are repeated (`list_key_columns`).

    They are not where they take more than half of the room and a further column would not fit beside them. Where one
    column would be left for the last part, it takes another of the part before.
    """
    names: list[int] = []
    for i in list_key_columns(table):
        together = sum(column_widths[k] for k in (*names, i))
        others = (width for k, width in enumerate(column_widths) if k not in (*names, i))
        if together > room / 2 and together + max(others, default=0) > room:
            break
        names.append(i)
    parts: list[list[int]] = [[]]
    for i in range(len(column_widths)):
        if i in names:
            continue
        if parts[-1] and sum(column_widths[k] for k in (*names, *parts[-1], i)) > room:
            parts.append([])
        parts[-1].append(i)
    if names and len(parts) > 1 and len(parts[-1]) == 1 and len(parts[-2]) > 2:
        moved = parts[-2][-1]
        if sum(column_widths[k] for k in (*names, moved, *parts[-1])) <= room:
            parts[-1].insert(0, parts[-2].pop())
    yield from (sorted((*names, *part)) for part in parts)


def list_key_columns(table: Grid) -> list[int]:
    """List the columns that tell the rows apart.

    These are the short texts at the start of a row, study, model and condition, and of the other columns, texts first,
    each that tells rows apart which those before it do not. A number with an interval is a result, and none of them.

    >>> from analysis.reporting.catalogue.columns import Column
    >>> from analysis.reporting.catalogue.grid import Cell, Grid
    >>> rows = tuple((Cell("m"), Cell(subset), Cell("0.5")) for subset in ("algebra", "logic"))
    >>> list_key_columns(Grid(("model", "subset", "mean"), (Column(""),) * 3, rows, (False, False, True), (True,) * 3))
    [0, 1]
    """
    places = range(len(table.names))
    # Study, model and condition that `--columns` puts behind numbers name the row, too.
    leading = itertools.takewhile(lambda i: not (table.numeric[i] or table.wordy[i]), places)
    keys = list(dict.fromkeys((*leading, *(i for i in places if table.names[i] in IDENTITY))))
    others = [i for i in places if i not in keys and not any(row[i].interval for row in table.rows)]
    n_distinct = _count_distinct_rows(table, keys)
    for i in sorted(others, key=lambda i: table.numeric[i]):
        if n_distinct == len(table.rows):
            break
        n_with_column = _count_distinct_rows(table, [*keys, i])
        if n_with_column > n_distinct:
            keys.append(i)
            n_distinct = n_with_column
    return keys


def _count_distinct_rows(table: Grid, columns: Sequence[int]) -> int:
    """Count the rows that differ in the texts of some columns."""
    return len({tuple(row[i].text for i in columns) for row in table.rows})


def _estimate_column_width(table: Grid, i: int, room: float, text_share: float, size: str) -> float:
    """Estimate the points that a column takes, from its widest header line, value and interval."""
    if table.wordy[i]:
        return text_share * room + SPACE
    cells = {row[i] for row in table.rows}
    widths = (
        *(estimate_text_width(line, size) for line in _split_header(table, i)),
        *(estimate_text_width(cell.text, size, cell.best) for cell in cells),
        *(estimate_text_width(cell.interval, "tiny") for cell in cells),
    )
    return max(widths) + SPACE


def _render_latex_float(table: Grid, columns: Sequence[int], rows: range, layout: _Layout, head: str) -> str:
    """Write one part of a grid as a `table` or `table*`."""
    environment = "table*" if layout.width == "page" else "table"
    body = "\n".join(_render_row(table, table.rows[i], columns, layout) for i in rows)
    kinds, header = (
        _build_column_layout(table, columns, layout.text_share),
        _render_row_of_column_headers(table, columns),
    )
    return (
        f"\\begin{{{environment}}}[tp]\n\\centering\\{layout.size}\\setlength{{\\tabcolsep}}{{3pt}}\n{head}\n"
        f"\\begin{{tabular}}{{{kinds}}}\n\\toprule\n{header} \\\\\n\\midrule\n"
        f"{body}\n\\bottomrule\n\\end{{tabular}}\n\\end{{{environment}}}\n"
    )


def _render_longtable(table: Grid, columns: Sequence[int], layout: _Layout, head: str, continued_caption: str) -> str:
    """Write one part of a grid as a `longtable`, which goes on over pages."""
    kinds = _build_column_layout(table, columns, layout.text_share)
    body = "\n".join(_render_row(table, row, columns, layout) for row in table.rows)
    header = f"\\toprule\n{_render_row_of_column_headers(table, columns)} \\\\\n\\midrule\n"
    return (
        f"{{\\{layout.size}\\setlength{{\\tabcolsep}}{{3pt}}\\setlength{{\\LTcapwidth}}{{\\linewidth}}\n"
        f"\\begin{{longtable}}{{{kinds}}}\n{head} \\\\\n{header}\\endfirsthead\n"
        f"\\caption[]{{{escape_latex(continued_caption)}}} \\\\\n{header}\\endhead\n"
        f"\\bottomrule\n\\endfoot\n{body}\n\\end{{longtable}}}}\n"
    )


def _build_column_layout(table: Grid, columns: Sequence[int], text_share: float) -> str:
    """Write the argument of `tabular`: r for numbers, p for running text, l for others."""
    kinds = ("r" if table.numeric[i] else f"p{{{text_share}\\linewidth}}" if table.wordy[i] else "l" for i in columns)
    return f"@{{}}{''.join(kinds)}@{{}}"


def _render_row_of_column_headers(table: Grid, columns: Sequence[int]) -> str:
    """Write the headers of the columns as one LaTeX row, long ones in two lines."""
    return " & ".join(_stack_header_lines(_split_header(table, i)) for i in columns)


def _split_header(table: Grid, i: int) -> list[str]:
    """Split a header of several words above numbers into two lines: there the header is what makes a column wide."""
    header = table.columns[i].header
    return [part for part in header.partition(" ")[::2] if part] if table.numeric[i] and header else [header]


def _stack_header_lines(lines: Sequence[str]) -> str:
    """Write the lines of a header as LaTeX, one above the other where there are several."""
    stacked = r"\\".join(map(escape_latex, lines))
    return f"\\shortstack[r]{{{stacked}}}" if len(lines) > 1 else stacked


def _render_row(table: Grid, row: Sequence[Cell], columns: Sequence[int], layout: _Layout) -> str:
    """Write the values of a row, and under them their intervals in small print."""
    # `\\` would break a line of ragged text in the last column.
    end = r"\tabularnewline" if table.wordy[columns[-1]] else r"\\"
    words_width = POINTS[layout.width] * layout.text_share
    values = (
        _render_cell_of_running_text(row[i].text, words_width, layout.size) if table.wordy[i] else _render_value(row[i])
        for i in columns
    )
    line = f"{' & '.join(values)} {end}"
    if not any(row[i].interval for i in columns):
        return line
    below = " & ".join(f"{{\\tiny {escape_latex(row[i].interval)}}}" if row[i].interval else "" for i in columns)
    return f"{line}\n{below} \\\\[2pt]"


def _render_value(cell: Cell) -> str:
    """Write a cell's text as LaTeX, bold where it is the best."""
    return f"\\textbf{{{escape_latex(cell.text)}}}" if cell.best else escape_latex(cell.text)


def _render_cell_of_running_text(text: str, words_width: float, size: str) -> str:
    """Write running text as LaTeX, ragged right; words that are wider than the column have places to break."""
    words = (
        r"\allowbreak{}".join(map(escape_latex, split_word_into_pieces(word, words_width, size)))
        for word in text.split()
    )
    return rf"\raggedright {' '.join(words)}"
