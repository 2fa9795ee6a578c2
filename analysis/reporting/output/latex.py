"""Set a table in LaTeX so that it fits: over one column or the page, in parts where it is too wide or too long.

::

    print(render_latex(cells, "stability", catalogue.look_up_table("stability"), width="column"))
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from ground.errors import InputError

if TYPE_CHECKING:
    from analysis.reporting.catalogue import Table
    from analysis.reporting.catalogue.grid import Cell, Grid

Width = Literal["column", "text", "page"]
# Points (72.27 to the inch): column and page of an ACL paper, 3.03 in and 6.3 in; the text of `article`, 4.8 in.
POINTS = {"column": 219, "text": 345, "page": 455}
ROWS, WORDY_ROWS = 45, 24  # that a page takes: rows with running text are several lines high
SIZES = ("footnotesize", "scriptsize")  # 8 pt and 7 pt in a document of 10 pt
# Points of an average character of Computer Modern, of one of an interval (\tiny), and of the space of a column.
CHARACTER = {"footnotesize": 4.4, "scriptsize": 4.1}
SMALL_CHARACTER, SPACE = 3.6, 6.0
LAST_LATIN = "\u017f"
WORDS = 0.24  # of the width, for a column of running text
NARROW_WORDS = 0.4


def render_latex(table: Grid, name: str, entry: Table, width: Width = "page") -> str:
    """Write a grid as LaTeX with booktabs rules.

    A table that is too long for a page is a `longtable`, over the text of a one-column document. Another one is a
    `table*` over the page, or a `table` in the column or the text. One that is too wide at 7 pt is set in parts; each
    part repeats the columns of names.

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
    long = len(table.rows) > (WORDY_ROWS if any(table.wordy) else ROWS)
    room = POINTS["text" if long else width]
    text_share = NARROW_WORDS if width == "column" and not long else WORDS
    size, parts = _fit_columns_into_parts(table, room, text_share)
    packages = "booktabs, longtable" if long else "booktabs"
    lines = [f"% Needs \\usepackage{{{packages}}} in the preamble.\n"]
    if not all(map(_is_settable_by_pdflatex, (cell.text for row in table.rows for cell in row))):
        lines.append(
            "% Has characters that pdfLaTeX does not know: use LuaLaTeX or XeLaTeX with a font that has them.\n"
        )
    if long:
        lines.append("% In a two-column document, put it between \\onecolumn and \\twocolumn.\n")
    for number, columns in enumerate(parts, start=1):
        part = f" (part {number} of {len(parts)})" if len(parts) > 1 else ""
        label = f"\\label{{tab:waver-{name.replace('_', '-')}{f'-{number}' if number > 1 else ''}}}"
        caption = f"{entry.title}{part}." + (f" {entry.caption}" if number == 1 else "")
        head = f"\\caption{{{_escape_latex(caption)}}}{label}"
        if long:
            lines.append(_render_longtable(table, columns, text_share, size, head, f"{entry.title}{part} (continued)."))
        else:
            lines.append(
                _render_float(table, columns, text_share, size, head, "table*" if width == "page" else "table")
            )
    return "".join(lines)


def _fit_columns_into_parts(table: Grid, room: float, text_share: float) -> tuple[str, list[list[int]]]:
    """Return the size of print, and the columns of each part: one part where all columns fit in 8 or in 7 pt.

    >>> from analysis.reporting.catalogue.columns import Column
    >>> from analysis.reporting.catalogue.grid import Cell, Grid
    >>> cells = Grid(("a", "b", "c"), (Column("", header="x" * 30),) * 3, (), (True,) * 3, (False,) * 3)
    >>> _fit_columns_into_parts(cells, 455, 0.24), _fit_columns_into_parts(cells, 219, 0.24)
    (('footnotesize', [[0, 1, 2]]), ('scriptsize', [[0], [1], [2]]))
    """
    sizes = {
        size: [_estimate_column_width(table, i, room, text_share, CHARACTER[size]) for i in range(len(table.columns))]
        for size in SIZES
    }
    for size in SIZES:
        if sum(sizes[size]) <= room:
            return size, [list(range(len(table.columns)))]
    return SIZES[-1], list(_split_columns_into_parts(table, sizes[SIZES[-1]], room))


def _split_columns_into_parts(table: Grid, column_widths: Sequence[float], room: float) -> Iterator[list[int]]:
    """Yield the columns of each part; the names at the start of a row are repeated, with which each row stands once.

    They are not where they take more than half of the room and a further column would not fit beside them.
    """
    names: list[int] = []
    for i, (number, wordy) in enumerate(zip(table.numeric, table.wordy, strict=True)):
        together = sum(column_widths[k] for k in (*names, i))
        if number or wordy or (together > room / 2 and together + max(column_widths[i + 1 :], default=0) > room):
            break
        names.append(i)
    part = list(names)
    for i in range(len(names), len(column_widths)):
        if len(part) > len(names) and sum(column_widths[k] for k in (*part, i)) > room:
            yield part
            part = list(names)
        part.append(i)
    yield part


def _estimate_column_width(table: Grid, i: int, room: float, text_share: float, character_width: float) -> float:
    """Estimate the points that a column takes, from its longest header line, value and interval."""
    if table.wordy[i]:
        return text_share * room + SPACE
    header = max(map(len, _split_header(table, i)))
    value = max((len(row[i].text) for row in table.rows), default=0)
    interval = max((len(row[i].interval) for row in table.rows), default=0)
    return max(character_width * max(header, value), SMALL_CHARACTER * interval) + SPACE


def _render_float(
    table: Grid, columns: Sequence[int], text_share: float, size: str, head: str, environment: str
) -> str:
    """Write one part of a grid as a `table` or `table*`."""
    body = "\n".join(_render_row(table, row, columns) for row in table.rows)
    layout, header = _build_column_layout(table, columns, text_share), _render_header(table, columns)
    return (
        f"\\begin{{{environment}}}[tp]\n\\centering\\{size}\\setlength{{\\tabcolsep}}{{3pt}}\n{head}\n"
        f"\\begin{{tabular}}{{{layout}}}\n\\toprule\n{header} \\\\\n\\midrule\n"
        f"{body}\n\\bottomrule\n\\end{{tabular}}\n\\end{{{environment}}}\n"
    )


def _render_longtable(
    table: Grid, columns: Sequence[int], text_share: float, size: str, head: str, continued_caption: str
) -> str:
    """Write one part of a grid as a `longtable`, which goes on over pages."""
    layout, body = (
        _build_column_layout(table, columns, text_share),
        "\n".join(_render_row(table, row, columns) for row in table.rows),
    )
    header = f"\\toprule\n{_render_header(table, columns)} \\\\\n\\midrule\n"
    return (
        f"{{\\{size}\\setlength{{\\tabcolsep}}{{3pt}}\\setlength{{\\LTcapwidth}}{{\\linewidth}}\n"
        f"\\begin{{longtable}}{{{layout}}}\n{head} \\\\\n{header}\\endfirsthead\n"
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
    line = " & ".join(_render_value(row[i], table.wordy[i]) for i in columns) + r" \\"
    if not any(row[i].interval for i in columns):
        return line
    below = " & ".join(f"{{\\tiny {_escape_latex(row[i].interval)}}}" if row[i].interval else "" for i in columns)
    return f"{line}\n{below} \\\\[2pt]"


def _render_value(cell: Cell, wordy: bool) -> str:
    """Write a cell's text as LaTeX: running text ragged right where `wordy`, else bold where it is the best."""
    if wordy:
        return f"{{\\raggedright {_escape_latex(cell.text)}\\par}}"
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
