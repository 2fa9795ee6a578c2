"""Say what a column means, in which unit, and how it is printed; holds what is the same on several pages."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

_ROUNDING = 1e-12  # a number as little below 0 is one that is 0


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its meaning and unit in words; for print, a short header and a number of decimals.

    `digits` None marks a column without decimals: a name, a text, a count. `phrase_name` turns a name into the words
    that are printed for it; the CSV file has the name.
    """

    meaning: str
    unit: str = ""
    header: str = ""
    digits: int | None = None
    phrase_name: Callable[[str], str] | None = None

    @property
    def header_unit(self) -> str:
        """Return the unit as it stands under a header: "0–1" for a share, nothing where it tells no more.

        That is so of a count and a name, of the unit that a measure in another column has, and of "wordings" under
        "Wordings". The dictionary of columns has every unit.
        """
        is_evident = (
            self.digits is None or self.unit.startswith("unit of the measure") or self.unit == self.header.lower()
        )
        return "0–1" if self.unit.endswith("0 to 1") else "" if is_evident else self.unit


# How the intervals of tables and figures are made, for captions; see `analysis.statistics.shares`.
OVER_ITEMS = "95 % intervals over items (shares: Wilson; differences of shares: Newcombe; else: bootstrap)"
# Of the two intervals of tables: then one is shown, where that is so in all rows (`Table.repeats`), or the second is
# not known (`Table.caption_without_repeats`).
OWN_WORDINGS = "Where every item has wordings of its own, both are the same: other items bring other wordings."
ONE_INTERVAL = (
    "its 95 % interval for these wordings, if there is one. Where every item has several wordings of its own, it "
    "is that for wordings like these, too: other items bring other wordings."
)
IDENTITY = ("study", "model", "condition")  # say which model a row is about; printed before the other columns
SHARE = "share, 0 to 1"
POINTS = "difference of shares, -1 to 1"
AGREEMENT = "agreement, 0 to 1"
MASS = "probability, 0 to 1"
# Columns with the same meaning on several pages. A page's own entry comes before these.
SHARED: Mapping[str, Column] = {
    "study": Column("name of the study: a protocol applied to a set of items", header="Study"),
    "model": Column("model id as in run.json", header="Model"),
    "condition": Column("name of the settings the model was asked under", header="Condition"),
    "item": Column("id of the item: an intended meaning, in several wordings", header="Item"),
    "language": Column("language of the wordings (ISO 639 code)", header="Language"),
    "source": Column("where the row's numbers come from: these runs, or the printed table named", header="Source"),
    "n_items": Column("items that the figures are computed over", "items", "Items"),
    "validity": Column(
        "mean mass on the options over all paraphrases (where texts were read, the share that can be read as one)",
        MASS,
        "Validity",
        2,
    ),
    "validity_at_most": Column(
        "upper bound of the validity, where not all of the probability was shown: then `validity` is the lower one; "
        "empty where it is exact",
        MASS,
        "Validity at most",
        2,
    ),
    "lower": Column("lower end of the 95 % interval of the difference, over items", "its unit", "Lower", 3),
    "upper": Column("upper end of the 95 % interval of the difference, over items", "its unit", "Upper", 3),
    "no_interval": Column(
        "figures of the row that have no 95 % interval, by their columns, and why; the difference where none is named",
        header="No interval",
    ),
    "p": Column(
        "two-sided p value, not corrected for the number of tests; of differences over items: by the exact sign test "
        "where both sides are shares with one answer to each of the same items, else by the bootstrap",
        "",
        "p",
        3,
    ),
    "p_least": Column("the smallest p value that so few items or bootstrap samples allow", "", "Least p", 4),
}
# (table, column) -> what a column means that a reader added from Python, such as a measure of one's own.
ADDED: dict[tuple[str, str], Column] = {}
Pattern: TypeAlias = Callable[[str], Column | None]


def format_value_by_column(raw: Any, column: Column) -> str:
    """Print one value with the digits of its column.

    Parameters
    ----------
    raw
        A number, truth value, text or list of texts; None or NaN is undefined.
    column
        What the column means.

    Returns
    -------
    The text: nothing if undefined, "<0.01" and ">−0.01" instead of a false 0.00 of a number above and below 0.

    >>> numbers = 0.123, 0.001, 0.0, -0.001, -0.5, float("nan"), float("inf")
    >>> [format_value_by_column(raw, Column("", digits=2)) for raw in numbers]
    ['0.12', '<0.01', '0.00', '>−0.01', '−0.50', '', '∞']
    """
    if isinstance(raw, list | tuple):
        return "; ".join(f"“{' '.join(str(part).split())}”" for part in raw)
    if raw is None or raw != raw:  # NaN is the value that differs from itself
        return ""
    if isinstance(raw, str):
        return column.phrase_name(raw) if column.phrase_name else raw
    if str(raw) in ("True", "False"):
        return "yes" if raw else "no"
    if math.isinf(raw):
        return "∞" if raw > 0 else "−∞"
    if column.digits is None:
        return f"{int(raw):,}" if float(raw).is_integer() else str(raw)
    rounded = f"{raw:.{column.digits}f}"
    if float(rounded) != 0:
        return rounded.replace("-", "−")
    least = f"{10.0**-column.digits:.{column.digits}f}"
    return f"<{least}" if raw > 0 else f">−{least}" if raw < -_ROUNDING else rounded.replace("-", "")
