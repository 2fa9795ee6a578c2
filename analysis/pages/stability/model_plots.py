"""Draw the figures with one row or cell per model."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from analysis.pages.stability.columns import threshold
from analysis.pages.stability.measures import headline
from analysis.reporting import choice, labels, plotting
from analysis.reporting.plotting import FAINT, INK, PAGE, Drawing, Look, styled
from analysis.reporting.thresholds import silent
from analysis.statistics.multiplicity import ALPHA

Looks = Mapping[str, Look]
FOREST = 12  # pairs of models that a list shows better than a matrix
PRINTED = 10  # models whose matrix has room for numbers


@styled
def overview(stability: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw validity, range, standard deviation and flips of every model: dots with 95 % intervals.

    Parameters
    ----------
    stability
        Table `stability`: one row per model x condition.
    """
    frame = stability.assign(silent=silent(stability["validity"]))
    frame = frame.assign(label=labels.series(frame) + stability["mark"].map(" ({})".format).replace(" ()", ""))
    frame = frame.sort_values(["silent", "range_mean", "label"], na_position="last")
    flip = headline(frame)
    measures = {
        "validity": "Validity\nmass on answers",
        "range_mean": choice.of(stability).named("Range\nof agreement"),
        "sd_mean": choice.of(stability).named("SD\nof agreement"),
        flip: f"Flips > {threshold(flip):g} %\nshare of items",
    }
    stacked = width < PAGE * 0.75
    rows, columns = (len(measures), 1) if stacked else (1, len(measures))
    figure = Drawing(figsize=(width, rows * (0.66 + 0.2 * len(frame))), layout="constrained")
    for i, (measure, title) in enumerate(measures.items()):
        axes = figure.add_subplot(rows, columns, i + 1)
        _dots(axes, frame, measure, looks or plotting.looks(frame["model"]))
        length = 22 if stacked else 40
        plotting.row_labels(axes, labels.shorten_all(list(frame["label"]), length), shown=stacked or i == 0)
        axes.set_title(title, pad=4, fontsize=7)
        axes.set_xlim(*_limits(frame, measure))
        axes.xaxis.set_major_locator(MaxNLocator(nbins=3 if measure == "sd_mean" else 2))
    return figure


def _dots(axes: Axes, frame: pd.DataFrame, measure: str, looks: Looks) -> None:
    """Draw one row per model; a hollow dot where the model does not answer."""
    plotting.guide(axes, len(frame))
    for row, (_, values) in enumerate(frame.iterrows()):
        look = looks[values["model"]]
        if pd.isna(values[measure]):
            axes.text(0.02, row, "undefined", va="center", color=FAINT, transform=axes.get_yaxis_transform())
            continue
        low, high = values[f"{measure}_lower"], values[f"{measure}_upper"]
        axes.hlines(row, low, high, colors=look.colour, linewidth=1.4, capstyle="butt")
        fill = "white" if values["silent"] else look.colour
        axes.plot(values[measure], row, look.marker, ms=4.5, mfc=fill, mec=look.colour, mew=1.1, clip_on=False)


def _limits(frame: pd.DataFrame, measure: str) -> tuple[float, float]:
    """Return the limits of an axis: 0 to 1 for shares, so that figures compare; from 0 to the largest value for SDs."""
    if measure != "sd_mean":
        return 0.0, 1.0
    top = float(np.nanmax([frame[measure].max(), frame[f"{measure}_upper"].max(), 0.1]))
    return 0.0, 0.1 * np.ceil(top * 10.5)


@styled
def differences(
    frame: pd.DataFrame, *, measure: str | None = None, width: float = PAGE, looks: Looks | None = None
) -> Drawing:
    """Draw paired differences between models on the same items: few pairs as a list, many as a matrix.

    Parameters
    ----------
    frame
        Table `differences`: one row per measure and pair, `difference` = a minus b with its 95 % interval.
    measure
        The measure to show; the first of the frame unless given.
    looks
        Not used: a pair has no colour.
    """
    measure = measure or str(frame["measure"].iloc[0])
    pairs = frame[frame["measure"] == measure].dropna(subset=["difference"])
    pairs = pairs.assign(**labels.of_pairs(pairs), clear=pairs["p_holm"] < ALPHA)
    return _forest(pairs, width) if len(pairs) <= FOREST else _matrix(pairs, width)


def _forest(pairs: pd.DataFrame, width: float) -> Drawing:
    """Draw a row per pair, the largest negative difference on top; filled where it is significant after Holm."""
    pairs = pairs.sort_values("difference", kind="stable").reset_index(drop=True)
    figure = Drawing(figsize=(width, 0.6 + 0.24 * max(1, len(pairs))), layout="constrained")
    axes = figure.add_subplot()
    plotting.guide(axes, len(pairs))
    axes.axvline(0, color=INK, linewidth=0.7, linestyle=(0, (4, 3)), zorder=1)
    axes.hlines(pairs.index, pairs["lower"], pairs["upper"], colors=INK, linewidth=1.2)
    fill = [INK if clear else "white" for clear in pairs["clear"]]
    axes.scatter(pairs["difference"], pairs.index, s=20, c=fill, edgecolors=INK, linewidths=1, zorder=3)
    names = list(pd.concat([pairs["a"], pairs["b"]]).unique())
    short = dict(zip(names, labels.shorten_all(names, 26 if width == PAGE else 13), strict=True))
    plotting.row_labels(axes, [f"{short[a]} − {short[b]}" for a, b in zip(pairs["a"], pairs["b"], strict=True)])
    edge = 1.08 * max(0.02, pairs[["lower", "upper", "difference"]].abs().to_numpy().max(initial=0))
    axes.set_xlim(-edge, edge)
    return figure


def _matrix(pairs: pd.DataFrame, width: float) -> Drawing:
    """Draw row minus column; bold or dotted where it is significant after Holm, empty where nothing was compared."""
    swapped = pairs.assign(a=pairs["b"], b=pairs["a"], difference=-pairs["difference"])
    both = pd.concat([pairs, swapped])
    order = [str(name) for name in both.groupby("a")["difference"].mean().sort_values(kind="stable").index]
    table = both.pivot_table(index="a", columns="b", values="difference").reindex(index=order, columns=order)
    clear = both[both["clear"]].pivot_table(index="a", columns="b", values="difference", aggfunc="count")
    marked = clear.reindex(index=order, columns=order).notna().to_numpy()
    names = [plotting.safe(name) for name in labels.shorten_all(order, 26 if width == PAGE else 14)]
    height = 0.9 + 0.06 * max(map(len, names)) + (0.27 if width == PAGE else 0.15) * len(order)
    figure = Drawing(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    values = table.to_numpy(float)
    edge = max(0.02, float(np.nanmax(np.abs(values))))
    image = axes.imshow(values, cmap="PuOr", vmin=-edge, vmax=edge, aspect="auto", interpolation="nearest")
    axes.set_facecolor("#eef0f2")
    if len(order) <= PRINTED and width == PAGE:
        _print_cells(axes, values, marked, edge)
    else:
        rows, columns = np.nonzero(marked)
        axes.plot(columns, rows, "o", ms=2.2, color=INK, linestyle="none")
    axes.set_xticks(range(len(order)), names, rotation=90)
    axes.set_yticks(range(len(order)), names)
    axes.tick_params(length=0)
    plotting.colour_bar(figure, axes, image, "Row minus column")
    return figure


def _print_cells(axes: Axes, values: np.ndarray, marked: np.ndarray, edge: float) -> None:
    """Write the differences into the cells; bold where they are significant after Holm."""
    for (row, column), difference in np.ndenumerate(values):
        if not np.isnan(difference):
            axes.text(
                column, row, f"{round(difference, 2) + 0.0:+.2f}".replace("-", "−"),
                ha="center", va="center", fontsize=6.5, fontweight="bold" if marked[row, column] else "normal",
                color="white" if abs(difference) > 0.6 * edge else INK,
            )  # fmt: skip
