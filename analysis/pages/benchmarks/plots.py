"""Draw the figures on what correlates with consistency over models: size, accuracy, benchmarks."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullLocator

from analysis.pages.wording.cells import PATTERNS
from analysis.reporting import labels, matrices, panels, plotting
from analysis.reporting.plotting import PAGE, RULE, Drawing, Look, styled
from analysis.statistics.multiplicity import ALPHA

Looks = Mapping[str, Look]
NAMED = 12  # models that a legend has room for
SIDE = 20  # measures that a triangle has room to name at both widths


@styled
def size_overall(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw Overall (mean over patterns and tasks) against size, a panel per language (Takayama et al., Figure 4).

    Parameters
    ----------
    frame
        Rows of table `measures_by_model` of measure `overall` and task "all".
    """
    rows = frame.dropna(subset=["parameters", "value"])
    languages = list(dict.fromkeys(rows["language"]))
    looks = looks or plotting.looks(rows["model"])
    low, high = rows["parameters"].min(), rows["parameters"].max()
    drawing, each = _square(len(languages), width, rows, looks, "Parameters", "Overall")
    for axes, language in zip(each, languages, strict=True):
        axes.set_xscale("log")
        axes.set_xticks(_sizes(low / 2, high * 2, 4), minor=False)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlim(low / 2, high * 2)
        panels.scale(axes, 0, 1, axis="y")
        panels.title(axes, f"Overall, {language}" if language else "Overall")
        _points(axes, rows[rows["language"] == language], "parameters", "value", looks)
    return drawing


@styled
def accuracy_consistency(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw Consistency against accuracy on the original questions, a panel per pattern (Takayama et al., Figure 5).

    Parameters
    ----------
    frame
        Table `measures_by_model`; a point per model, condition, language and task.
    """
    key = ["model", "study", "language", "task", "condition"]
    accuracy = frame[frame["measure"] == "accuracy"][[*key, "value"]]
    rows = frame[frame["measure"] == "consistency"].merge(accuracy, on=key, suffixes=("", "_accuracy")).dropna(
        subset=["value", "value_accuracy"]
    )  # fmt: skip
    patterns = [pattern for pattern in PATTERNS if (rows["pattern"] == pattern).any()]
    looks = looks or plotting.looks(rows["model"])
    drawing, each = _square(len(patterns), width, rows, looks, "Accuracy before", "Consistency")
    for axes, pattern in zip(each, patterns, strict=True):
        axes.plot([0, 1], [0, 1], color=RULE, linewidth=0.7, zorder=0)
        _points(axes, rows[rows["pattern"] == pattern], "value_accuracy", "value", looks)
        panels.scale(axes, 0, 1)
        panels.scale(axes, 0, 1, axis="y")
        panels.title(axes, PATTERNS[pattern])
    return drawing


@styled
def coefficients(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw a matrix of correlations in its own order, without clustering (Takayama et al., Figure 8).

    Parameters
    ----------
    frame
        measure_a, measure_b, r, in the order of the matrix; every pair once or twice, the diagonal or not.
    looks
        Not used: the colours mean correlations.
    """
    values, order = square(frame)
    clear = np.zeros_like(values)
    if "p_holm" in frame:
        clear, _ = square(frame.assign(r=(frame["p_holm"] < ALPHA).astype(float)))
    kept = listed(values)
    return matrices.triangle(
        values[np.ix_(kept, kept)], [str(order[place]).replace("_", " ") for place in kept], width, edge=1,
        name="Correlation", marked=clear[np.ix_(kept, kept)] > 0,
    )  # fmt: skip


def listed(values: np.ndarray) -> list[int]:
    """Return the rows of the matrix that are drawn: all, or those with the largest mean absolute coefficient."""
    others = np.where(np.eye(len(values), dtype=bool), np.nan, np.abs(values))
    known = (~np.isnan(others)).sum(axis=0)
    means = np.nansum(others, axis=0) / np.maximum(known, 1)
    return sorted(np.argsort(-means, kind="stable")[:SIDE].tolist())


def square(frame: pd.DataFrame) -> tuple[np.ndarray, list[str]]:
    """Return the symmetric matrix of a long frame (1 on the diagonal where a row has a number), and its order."""
    order = list(dict.fromkeys([*frame["measure_a"], *frame["measure_b"]]))
    place = {name: i for i, name in enumerate(order)}
    values = np.full((len(order), len(order)), np.nan)
    for a, b, r in frame[["measure_a", "measure_b", "r"]].itertuples(index=False, name=None):
        values[place[a], place[b]] = values[place[b], place[a]] = r
    known = ~np.isnan(values).all(axis=0)
    values[known, known] = 1.0
    return values, order


def short(number: float) -> str:
    """Write a number of parameters with K, M or B.

    >>> short(193_600), short(7e9), short(1.5e6), short(900)
    ('194K', '7B', '1.5M', '900')
    """
    for unit, name in ((1e9, "B"), (1e6, "M"), (1e3, "K")):
        if number >= unit:
            return f"{number / unit:.3g}{name}"
    return f"{number:.3g}"


def _sizes(low: float, high: float, most: int) -> list[float]:
    """Return at most `most` round numbers (1, 2 or 5 times a power of ten) between two sizes."""
    powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    found = [float(f"{digit}e{power}") for power in powers for digit in (1, 2, 5) if low <= digit * 10.0**power <= high]
    return found[:: -(-len(found) // most)]


def _square(
    count: int, width: float, rows: pd.DataFrame, looks: Looks, across_name: str, up_name: str
) -> tuple[Drawing, list[Axes]]:
    """Make panels as high as wide, or wider where they are few; with a legend where it has room for the models."""
    names = sorted(rows["model"].unique())
    shown = labels.fitted(names, 28) if len(names) <= NAMED else []
    across = max(1, min(2 if panels.narrow(width) else 4, count))
    side = min((width - 0.56 - 0.14 * (across - 1)) / across, 2.4)
    top = 0.06 + panels.LINE * panels.legend_lines(shown, width)
    drawing, each = panels.panels(width, count, across, side, left=0.46, right=0.1, bottom=0.2, top=top)
    for i, axes in enumerate(each):
        if i % across:
            axes.tick_params(labelleft=False)
        else:
            panels.beside(axes, up_name)
        if i >= count - across:
            panels.under(axes, across_name)
    panels.legend(drawing, shown, [looks[name] for name in names[: len(shown)]])
    return drawing, each


def _points(axes: Axes, rows: pd.DataFrame, x: str, y: str, looks: Looks) -> None:
    """Draw a mark per row, hollow where the model does not answer."""
    for (model, hollow), part in rows.groupby(["model", "silent"], sort=False):
        look = looks[str(model)]
        face, edge, line = ("white", look.colour, 1.0) if hollow else (look.colour, "white", 0.4)
        axes.plot(part[x], part[y], look.marker, ms=4, mfc=face, mec=edge, mew=line, zorder=3)
