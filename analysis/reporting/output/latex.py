"""Set a table in LaTeX so that it fits: over one column or the page, in parts where it is too wide or too long.

::

    print(render_latex(cells, "stability", catalogue.look_up_table("stability"), width="column"))
"""

from __future__ import annotations

import itertools
import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from analysis.reporting.catalogue.columns import IDENTITY
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
CHARACTER = {"footnotesize": 4.4, "scriptsize": 4.1}  # points of an average character of running text
SPACE = 6.0  # points between two columns
# Widths of the characters of Computer Modern, in thousandths of its size (cmr10.tfm; Knuth 1986, Computer Modern
# Typefaces), rounded up to the widest of a group. Those of Times, which many styles take, are hardly any wider.
_CHARACTERS_BY_WIDTH = {
    278: "',.:;[]il’‘`·", 306: "!fj", 334: "-| \u00a0", 362: "I", 395: "()rst′", 445: "cez",
    500: "0123456789\"$*/ago~^–“”", 528: "?Jkqvxy\\{}", 556: "Sbdhnpu", 625: "LZ", 681: "EFP", 723: "BCTw", 736: "R",
    750: "AHNUVXY", 785: "&+=@_DGKOQ", 834: "#%m<>−±≤≥", 917: "M", 1030: "W∞—", 1400: "…",
}  # fmt: skip
_WIDTH_BY_CHARACTER = {
    character: width for width, characters in _CHARACTERS_BY_WIDTH.items() for character in characters
}
_WIDEST = 1030  # for characters that are not listed, such as those of other scripts
_PAIR_SET_APART = re.compile("[bop](?=[cdeoq])")
_PAIR_SPACE = 28  # thousandths of the size between the two
# Points that a character of width 1000 has at a size, and those that each has besides: small print is drawn wider.
_FONTS = {"footnotesize": (8.5, 0.0), "scriptsize": (7.75, 0.12), "tiny": (6.2, 0.305)}
_BOLD = 1.2
# Points of a line of a table, of one of the caption with the width of its characters, and of rules and spaces.
LINE = {"footnotesize": 9.5, "scriptsize": 8.0}
CAPTION_LINE, CAPTION_CHARACTER, RULES, INTERVAL_SPACE = 12.0, 5.0, 24.0, 2.0
LAST_LATIN = "\u017f"
WORDS = 0.24  # of the width, for a column of running text
NARROW_WORDS = 0.4


@dataclass(frozen=True, slots=True)
class _Layout:
    """How a table is set: the width, the size of print, and which columns and rows each of its parts has."""

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
    def has_column_alone(self) -> bool:
        """Tell whether a part repeats the names of all rows for the sake of one column."""
        repeated = set.intersection(*map(set, self.column_parts))
        return len(self.column_parts) > 1 and bool(repeated) and min(map(len, self.column_parts)) == len(repeated) + 1


def render_latex(table: Grid, name: str, entry: Table, width: Width = "page") -> str:
    """Write a grid as LaTeX with booktabs rules.

    A table is a `table*` over the page, or a `table` in the column or the text. One that is too wide at 7 pt, or longer
    than a page, is set in parts; each part repeats the columns of names. In the text of a one-column document, one that
    is longer than a page is a `longtable`; two columns can hold none. One that takes more than two floats in a column,
    or repeats the names for one column alone, is set over both columns.

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
    layout = _split_table_into_parts(table, entry, width)
    if width == "column" and (layout.n_parts > MOST_FLOATS or layout.has_column_alone):
        layout = min(layout, _split_table_into_parts(table, entry, "page"), key=lambda choice: choice.n_parts)
    is_long = width == "text" and len(layout.row_parts) > 1
    lines = [f"% Needs \\usepackage{{{'booktabs, longtable' if is_long else 'booktabs'}}} in the preamble.\n"]
    if not all(map(_is_settable_by_pdflatex, (cell.text for row in table.rows for cell in row))):
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
        caption = f"{entry.title}{part}." + (f" {entry.caption}" if number == 1 else "")
        head = f"\\caption{{{_escape_latex(caption)}}}{label}"
        if is_long:
            lines.append(_render_longtable(table, columns, layout, head, f"{entry.title}{part} (continued)."))
        else:
            lines.append(_render_float(table, columns, rows, layout, head))
            if number % WAITING == 0:
                lines.append("\\clearpage\n")
    return "".join(lines)


def _split_table_into_parts(table: Grid, entry: Table, width: Width) -> _Layout:
    """Lay out a table at a width: in as few parts as fit."""
    room = POINTS[width]
    text_share = NARROW_WORDS if width == "column" else WORDS
    size, column_parts = _fit_columns_into_parts(table, room, text_share)
    caption_lines = math.ceil(CAPTION_CHARACTER * len(f"{entry.title} {entry.caption}") / room) + 1
    height = HEIGHT - CAPTION_LINE * caption_lines - RULES - 2 * LINE[size]
    row_heights = [
        max(_estimate_row_height(table, row, columns, room * text_share, size) for columns in column_parts)
        for row in table.rows
    ]
    return _Layout(width, text_share, size, column_parts, list(_split_rows_into_parts(row_heights, height)))


def _estimate_row_height(
    table: Grid, row: Sequence[Cell], columns: Sequence[int], words_width: float, size: str
) -> float:
    """Estimate the points that a row takes, from its longest running text and its intervals."""
    texts = [row[i].text for i in columns if table.wordy[i]]
    n_lines = max((math.ceil(1.1 * CHARACTER[size] * len(text) / words_width) for text in texts), default=1)
    has_interval = any(row[i].interval for i in columns)
    return max(n_lines, 1) * LINE[size] + (LINE[size] + INTERVAL_SPACE if has_interval else 0.0)


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


def _fit_columns_into_parts(table: Grid, room: float, text_share: float) -> tuple[str, list[list[int]]]:
    """Return the size of print, and the columns of each part: one part where all columns fit in 8 or in 7 pt.

    >>> from analysis.reporting.catalogue.columns import Column
    >>> from analysis.reporting.catalogue.grid import Cell, Grid
    >>> cells = Grid(("a", "b", "c"), (Column("", header="x" * 30),) * 3, (), (True,) * 3, (False,) * 3)
    >>> _fit_columns_into_parts(cells, 455, 0.24), _fit_columns_into_parts(cells, 219, 0.24)
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
    """Yield the columns of each part; the names at the start of a row are repeated, with which each row stands once.

    They are not where they take more than half of the room and a further column would not fit beside them. Where one
    column would be left for the last part, it takes another of the part before.
    """
    names: list[int] = []
    # Those that `--columns` puts behind numbers name the row, too.
    leading = itertools.takewhile(lambda i: not (table.numeric[i] or table.wordy[i]), range(len(column_widths)))
    for i in dict.fromkeys((*leading, *(i for i, name in enumerate(table.names) if name in IDENTITY))):
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


def estimate_text_width(text: str, size: str, is_bold: bool = False) -> float:
    """Estimate the points that a line of text takes in Computer Modern: as many as LaTeX measures, or slightly more.

    Parameters
    ----------
    text
        The text, before it is escaped.
    size
        "footnotesize", "scriptsize" or "tiny", in a document of 10 pt.
    is_bold
        Whether it is set in bold type.

    Returns
    -------
    float
        The width in points.

    Examples
    --------
    >>> estimate_text_width("0.25", "footnotesize")  # three digits of 4.25 pt and a point of 2.36 pt
    15.113
    """
    characters = " ".join(text.split())
    width = sum(_look_up_character_width(character) for character in characters)
    width += _PAIR_SPACE * len(_PAIR_SET_APART.findall(characters))
    per_thousand, more = _FONTS[size]
    return round((per_thousand * width / 1000 + more * len(characters)) * (_BOLD if is_bold else 1.0), 6)


def _look_up_character_width(character: str) -> int:
    """Return the width of a character in thousandths of the size; a letter with an accent is as wide as without."""
    return _WIDTH_BY_CHARACTER.get(character) or _WIDTH_BY_CHARACTER.get(
        unicodedata.normalize("NFD", character)[0], _WIDEST
    )


def _render_float(table: Grid, columns: Sequence[int], rows: range, layout: _Layout, head: str) -> str:
    """Write one part of a grid as a `table` or `table*`."""
    environment = "table*" if layout.width == "page" else "table"
    body = "\n".join(_render_row(table, table.rows[i], columns) for i in rows)
    kinds, header = _build_column_layout(table, columns, layout.text_share), _render_header(table, columns)
    return (
        f"\\begin{{{environment}}}[tp]\n\\centering\\{layout.size}\\setlength{{\\tabcolsep}}{{3pt}}\n{head}\n"
        f"\\begin{{tabular}}{{{kinds}}}\n\\toprule\n{header} \\\\\n\\midrule\n"
        f"{body}\n\\bottomrule\n\\end{{tabular}}\n\\end{{{environment}}}\n"
    )


def _render_longtable(table: Grid, columns: Sequence[int], layout: _Layout, head: str, continued_caption: str) -> str:
    """Write one part of a grid as a `longtable`, which goes on over pages."""
    kinds = _build_column_layout(table, columns, layout.text_share)
    body = "\n".join(_render_row(table, row, columns) for row in table.rows)
    header = f"\\toprule\n{_render_header(table, columns)} \\\\\n\\midrule\n"
    return (
        f"{{\\{layout.size}\\setlength{{\\tabcolsep}}{{3pt}}\\setlength{{\\LTcapwidth}}{{\\linewidth}}\n"
        f"\\begin{{longtable}}{{{kinds}}}\n{head} \\\\\n{header}\\endfirsthead\n"
        f"\\caption[]{{{_escape_latex(continued_caption)}}} \\\\\n{header}\\endhead\n"
        f"\\bottomrule\n\\endfoot\n{body}\n\\end{{longtable}}}}\n"
    )


def _build_column_layout(table: Grid, columns: Sequence[int], text_share: float) -> str:
    """Write the argument of `tabular`: r for numbers, p for running text, l for others."""
    kinds = ("r" if table.numeric[i] else f"p{{{text_share}\\linewidth}}" if table.wordy[i] else "l" for i in columns)
    return f"@{{}}{''.join(kinds)}@{{}}"


def _render_header(table: Grid, columns: Sequence[int]) -> str:
    """Write the headers of the columns as one LaTeX row, long ones in two lines."""
    return " & ".join(_stack_header_lines(_split_header(table, i)) for i in columns)


def _split_header(table: Grid, i: int) -> list[str]:
    """Split a header of several words above numbers into two lines: there the header is what makes a column wide."""
    header = table.columns[i].header
    return [part for part in header.partition(" ")[::2] if part] if table.numeric[i] and header else [header]


def _stack_header_lines(lines: Sequence[str]) -> str:
    """Write the lines of a header as LaTeX, one above the other where there are several."""
    stacked = r"\\".join(map(_escape_latex, lines))
    return f"\\shortstack[r]{{{stacked}}}" if len(lines) > 1 else stacked


def _render_row(table: Grid, row: Sequence[Cell], columns: Sequence[int]) -> str:
    """Write the values of a row, and under them their intervals in small print."""
    # `\\` would break a line of ragged text in the last column.
    end = r"\tabularnewline" if table.wordy[columns[-1]] else r"\\"
    line = f"{' & '.join(_render_value(row[i], table.wordy[i]) for i in columns)} {end}"
    if not any(row[i].interval for i in columns):
        return line
    below = " & ".join(f"{{\\tiny {_escape_latex(row[i].interval)}}}" if row[i].interval else "" for i in columns)
    return f"{line}\n{below} \\\\[2pt]"


def _render_value(cell: Cell, wordy: bool) -> str:
    """Write a cell's text as LaTeX: running text ragged right where `wordy`, else bold where it is the best."""
    if wordy:
        return f"\\raggedright {_escape_latex(cell.text)}"
    return f"\\textbf{{{_escape_latex(cell.text)}}}" if cell.best else _escape_latex(cell.text)


_TEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': "''", "[": "{[}", "]": "{]}", "*": "{*}", "−": "$-$", "±": r"$\pm$", "∞": r"$\infty$",
    "≤": r"$\leq$", "≥": r"$\geq$", "…": r"\ldots{}", "–": "--", "—": "---", "“": "``", "”": "''",
    "‘": "`", "’": "'", "′": r"$'$", "\u00a0": "~",
}  # fmt: skip

_ESCAPES = str.maketrans(_TEX)


def _is_settable_by_pdflatex(text: str) -> bool:
    """Tell whether pdfLaTeX can set a text as it comes: Latin letters, and what is replaced."""
    return all(character in _TEX or character <= LAST_LATIN for character in text)


def _escape_latex(text: str) -> str:
    """Escape the characters that LaTeX reads as commands; runs of white space become one space."""
    return " ".join(text.split()).translate(_ESCAPES)
