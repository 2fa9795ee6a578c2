"""Draw the figures on what correlates with consistency over models: size, accuracy, benchmarks."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from analysis.pages.wording.cells import PATTERNS
from analysis.reporting import labels, plotting
from analysis.reporting.plotting import INK, PAGE, RULE, Drawing, Look, styled

Looks = Mapping[str, Look]
NAMED = 12  # models that a legend has room for


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
    figure, panels = _square(len(languages), width, rows["model"].nunique())
    looks = looks or plotting.looks(rows["model"])
    for axes, language in zip(panels, languages, strict=True):
        _points(axes, rows[rows["language"] == language], "parameters", "value", looks)
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(numticks=4))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
        axes.xaxis.set_minor_formatter(NullFormatter())
        low, high = rows["parameters"].min(), rows["parameters"].max()
        axes.set_xlim(low / 2, high * 2)
        axes.set_ylim(0, 1)
        axes.set_title(f"Overall, {language}" if language else "Overall", fontsize=7, pad=3)
    figure.supxlabel("Parameters", fontsize=7)
    figure.supylabel("Overall", fontsize=7)
    _legend(figure, rows, looks, width)
    return figure


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
    figure, panels = _square(len(patterns), width, rows["model"].nunique())
    looks = looks or plotting.looks(rows["model"])
    for axes, pattern in zip(panels, patterns, strict=True):
        axes.plot([0, 1], [0, 1], color=RULE, linewidth=0.7, zorder=0)
        _points(axes, rows[rows["pattern"] == pattern], "value_accuracy", "value", looks)
        axes.set(xlim=(0, 1), ylim=(0, 1), xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
        axes.set_title(PATTERNS[pattern], fontsize=7, pad=3)
    figure.supxlabel("Accuracy before rewording", fontsize=7)
    figure.supylabel("Consistency", fontsize=7)
    _legend(figure, rows, looks, width)
    return figure


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
    wide = width > PAGE * 0.75
    names = [
        plotting.safe(name)
        for name in labels.shorten_all([str(n).replace("_", " ") for n in order], 34 if wide else 16)
    ]
    height = 0.8 + 0.05 * max(map(len, names)) + (0.32 if wide else 0.19) * len(order)
    figure = Drawing(figsize=(width, min(height, 9.6)), layout="constrained")
    axes = figure.add_subplot()
    axes.set_facecolor(RULE)
    image = axes.imshow(values, cmap="PuOr", vmin=-1, vmax=1, aspect="auto", interpolation="nearest")
    room = len(order) <= (14 if wide else 12)
    for (row, column), r in np.ndenumerate(values):
        if room and not np.isnan(r):
            axes.text(
                column, row, printed(r, wide), ha="center", va="center", fontsize=6.5 if wide else 4.4,
                color="white" if abs(r) > 0.5 else INK,
            )  # fmt: skip
    size = 7 if wide else 5.5
    size = size if len(order) <= 30 else 3.5
    axes.set_xticks(range(len(order)), names, rotation=90)
    axes.set_yticks(range(len(order)), names)
    axes.tick_params(length=0, labelsize=size)
    plotting.colour_bar(figure, axes, image, "Correlation")
    return figure


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


def printed(r: float, wide: bool = True) -> str:
    """Write a coefficient with two decimals for a cell.

    >>> printed(-0.004), printed(0.914), printed(-0.13, wide=False)
    ('−0.00', '0.91', '−.13')
    """
    text = f"{r:.2f}".replace("-", "−")
    return text if wide else text.replace("0.", ".", 1)


def short(number: float) -> str:
    """Write a number of parameters with K, M or B.

    >>> short(193_600), short(7e9), short(1.5e6), short(900)
    ('194K', '7B', '1.5M', '900')
    """
    for unit, name in ((1e9, "B"), (1e6, "M"), (1e3, "K")):
        if number >= unit:
            return f"{number / unit:.3g}{name}"
    return f"{number:.3g}"


def _square(count: int, width: float, models: int) -> tuple[Drawing, list[Axes]]:
    """Make panels about as high as wide, with room for a legend above."""
    stacked = width < PAGE * 0.75
    across = max(1, min(2 if stacked else 4, count))
    down = -(-count // across)
    side = min(width / across, 2.0)
    legend = 0 if models > NAMED else -(-models // (2 if stacked else 4))
    figure = Drawing(figsize=(width, 0.35 + down * side + 0.16 * legend), layout="constrained")
    panels = [figure.add_subplot(down, across, i + 1) for i in range(count)]
    for i, axes in enumerate(panels):
        axes.yaxis.set_major_locator(MaxNLocator(nbins=4))
        axes.tick_params(labelleft=i % across == 0)
    return figure, panels


def _points(axes: Axes, rows: pd.DataFrame, x: str, y: str, looks: Looks) -> None:
    """Draw a mark per row, hollow where the model does not answer."""
    for (model, hollow), part in rows.groupby(["model", "silent"], sort=False):
        look = looks[str(model)]
        face, edge, line = ("white", look.colour, 1.0) if hollow else (look.colour, "white", 0.4)
        axes.plot(part[x], part[y], look.marker, ms=4, mfc=face, mec=edge, mew=line, clip_on=False, zorder=3)


def _legend(figure: Drawing, rows: pd.DataFrame, looks: Looks, width: float) -> None:
    names = sorted(rows["model"].unique())
    if not names or len(names) > NAMED:
        return
    shown = labels.shorten_all(labels.brief(names), 20)
    handles = [
        figure.axes[0].plot([], [], looks[name].marker, color=looks[name].colour, ms=4)[0] for name in names
    ]  # fmt: skip
    columns = 2 if width < PAGE * 0.75 else 4
    texts = [plotting.safe(name) for name in shown]
    figure.legend(handles, texts, loc="outside upper left", ncols=columns, frameon=False, fontsize=6.5)
