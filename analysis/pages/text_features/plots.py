"""Draw the figures on text features: effects under every model, correlations, residuals, random intercepts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap
from matplotlib.ticker import MaxNLocator

from analysis.pages.text_features.columns import TERMS
from analysis.pages.text_features.terms import ranked, title
from analysis.reporting import labels, plotting
from analysis.reporting.plotting import FAINT, INK, PAGE, RULE, Drawing, Look, styled
from analysis.statistics.mixed.design import INTERCEPT
from analysis.statistics.mixed.result import ALPHA

Looks = Mapping[str, Look]
BINS = (44, 30)
DENSE = 400  # rows from which on a cloud is drawn as a density


def reach(mixed: pd.DataFrame) -> float:
    """Return half the width of the axis of effects: every estimate fits on it, and 19 of 20 intervals do."""
    ends = mixed[["estimate_std_lower", "estimate_std_upper"]].abs().max(axis=1).dropna()
    largest = float(mixed["estimate_std"].abs().max())
    return 1.08 * max(0.01, largest, float(ends.quantile(0.95)) if len(ends) else 0.0)


@styled
def effects(mixed: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw standardised effects with 95 % intervals: a panel per predictor, a row per model.

    Parameters
    ----------
    mixed
        Table `mixed`, of at most `ROWS` models (see `pages`).
    """
    frame = mixed[mixed["term"] != INTERCEPT].dropna(subset=["estimate_std"])
    if "label" not in frame:
        frame = frame.assign(label=labels.series(frame))
    names, terms = sorted(frame["label"].unique()), ranked(frame)
    rows = -(-len(terms) // (5 if width > PAGE * 0.75 else 2))
    columns = max(1, -(-len(terms) // max(1, rows)))
    figure = Drawing(figsize=(width, rows * (0.5 + 0.17 * max(2, len(names)))), layout="constrained")
    edge = reach(frame)
    shown = labels.shorten_all(labels.brief(names), 26 if width > PAGE * 0.75 else 16)
    for i, term in enumerate(terms):
        axes = figure.add_subplot(rows, columns, i + 1)
        plotting.guide(axes, len(names))
        plotting.row_labels(axes, shown, shown=i % columns == 0)
        axes.axvline(0, color=INK, linewidth=0.7, linestyle=(0, (4, 3)), zorder=1)
        axes.set_xlim(-edge, edge)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=2, symmetric=True))
        axes.set_title(title(term), fontsize=7, pad=3)
        _forest(axes, frame[frame["term"] == term], names, edge, looks or plotting.looks(frame["model"]))
    figure.supxlabel("SDs of the response per SD of the feature", fontsize=7, x=0.99, ha="right")
    return figure


def _forest(axes: Axes, frame: pd.DataFrame, names: list[str], edge: float, looks: Looks) -> None:
    """Draw one row per model; filled where significant, arrows where an interval is longer than the axis."""
    for _, effect in frame.iterrows():
        row, look = names.index(effect["label"]), looks[effect["model"]]
        low, high = effect["estimate_std_lower"], effect["estimate_std_upper"]
        axes.hlines(row, max(low, -edge), min(high, edge), colors=look.colour, linewidth=1.2)
        for beyond, place, marker in ((low < -edge, -edge, "<"), (high > edge, edge, ">")):
            if beyond:
                axes.plot(place, row, marker, ms=3.5, color=look.colour, clip_on=False)
        clear = effect["confirmed"]
        axes.plot(
            effect["estimate_std"],
            row,
            look.marker,
            ms=4,
            mec=look.colour,
            mfc=look.colour if clear else "white",
            mew=1,
        )


@styled
def correlations(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw correlations between the features as a clustered matrix with its values (Haller et al., Figure 6).

    Parameters
    ----------
    frame
        Table `correlations` of one study, in the order of its clustering.
    looks
        Not used: the colours mean correlations.
    """
    order = list(dict.fromkeys(frame["feature_a"]))
    table = frame.pivot(index="feature_a", columns="feature_b", values="r").reindex(index=order, columns=order)
    wide = width > PAGE * 0.75
    names = [TERMS[name].header for name in order]
    figure = Drawing(
        figsize=(width, (1.5 if wide else 1.4) + (0.34 if wide else 0.19) * len(order)), layout="constrained"
    )
    axes = figure.add_subplot()
    axes.set_facecolor(RULE)
    values = table.to_numpy(float).copy()
    np.fill_diagonal(values, np.nan)
    image = axes.imshow(values, cmap="PuOr", vmin=-1, vmax=1, aspect="auto", interpolation="nearest")
    place = {name: i for i, name in enumerate(order)}
    counted = frame["n"].nunique() > 1
    for a, b, r, p, n in frame[["feature_a", "feature_b", "r", "p", "n"]].to_numpy():
        if a != b and not np.isnan(r):
            text = coefficient(r, p, wide)
            axes.text(
                place[b], place[a], f"{text}\nn {n:,}" if counted and wide else text,
                ha="center", va="center", fontsize=6.5 if wide else 4.8, color="white" if abs(r) > 0.6 else INK,
            )  # fmt: skip
    axes.set_xticks(range(len(order)), names, rotation=90)
    axes.set_yticks(range(len(order)), names)
    axes.tick_params(length=0, labelsize=7 if wide else 6)
    bar = figure.colorbar(image, ax=axes, location="top", shrink=0.5, aspect=30, anchor=(0, 0), pad=0.02)
    bar.set_label("Pearson correlation", loc="left")
    bar.outline.set_visible(False)
    return figure


def coefficient(r: float, p: float, wide: bool = True) -> str:
    """Write a correlation for a cell, in brackets where it is not significant.

    >>> coefficient(-0.123, 0.001), coefficient(0.001, 0.9), coefficient(-0.123, 0.001, wide=False)
    ('−0.12', '(0.00)', '−.12')
    """
    text = f"{round(r, 2) + 0.0:.2f}".replace("-", "−")
    text = text if wide else text.replace("0.", ".", 1)
    return text if p < ALPHA else f"({text})"


@styled
def residuals(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw residuals against fitted values, a panel per model: their density, and the mean residual along the axis.

    Parameters
    ----------
    frame
        study, model, condition, fitted, residual: one row per response; at most `PANELS` models.
    """
    frame, names = _labelled(frame)
    looks = looks or plotting.looks(frame["model"])
    figure, panels = _grid(len(names), width)
    shown = dict(zip(names, labels.shorten_all(labels.brief(names), 22), strict=True))
    for axes, name in zip(panels, names, strict=True):
        panel = frame[frame["label"] == name]
        edge = 1.05 * max(1e-9, float(panel["residual"].abs().max()))
        x_low, x_high = float(panel["fitted"].min()) - 1e-9, float(panel["fitted"].max()) + 1e-9
        look = looks[panel["model"].iloc[0]]
        extent = [[x_low, x_high], [-edge, edge]]
        if len(panel) >= DENSE:
            counts, *_ = np.histogram2d(panel["fitted"], panel["residual"], bins=BINS, range=extent)
            axes.imshow(
                np.where(counts > 0, np.log1p(counts), np.nan).T, origin="lower", aspect="auto", vmin=0,
                extent=(x_low, x_high, -edge, edge), interpolation="nearest", cmap=_tints(look.colour),
            )  # fmt: skip
        else:
            axes.scatter(panel["fitted"], panel["residual"], s=3, color=look.colour, linewidths=0, rasterized=True)
        axes.axhline(0, color=INK, linewidth=0.7, linestyle=(0, (4, 3)))
        _trend(axes, panel)
        axes.set_xlim(x_low, x_high)
        axes.set_ylim(-edge, edge)
        axes.set_title(plotting.safe(shown[name]), fontsize=6.5, pad=3)
    figure.supxlabel("Fitted", fontsize=7)
    figure.supylabel("Residual", fontsize=7)
    return figure


def _trend(axes: Axes, panel: pd.DataFrame) -> None:
    """Draw the mean residual over tenths of the fitted values: flat at 0 where the model is right on average."""
    tenths = pd.qcut(panel["fitted"], min(10, max(2, len(panel) // 20)), duplicates="drop")
    means = panel.groupby(tenths, observed=True)[["fitted", "residual"]].mean()
    axes.plot(means["fitted"], means["residual"], color=INK, linewidth=1.2, marker="o", ms=2)


@styled
def intercepts(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw the random intercepts of the items with 95 % intervals, sorted, a panel per model.

    Parameters
    ----------
    frame
        study, model, condition, level, estimate, se: one row per item; at most `PANELS` models.
    """
    frame, names = _labelled(frame)
    looks = looks or plotting.looks(frame["model"])
    figure, panels = _grid(len(names), width)
    shown = dict(zip(names, labels.shorten_all(labels.brief(names), 22), strict=True))
    for axes, name in zip(panels, names, strict=True):
        panel = frame[frame["label"] == name].sort_values("estimate", kind="stable")
        look = looks[panel["model"].iloc[0]]
        x, centre, error = np.arange(len(panel)), panel["estimate"].to_numpy(), 1.96 * panel["se"].to_numpy()
        axes.axhline(0, color=INK, linewidth=0.7, linestyle=(0, (4, 3)), zorder=1)
        axes.vlines(x, centre - error, centre + error, colors=look.colour, linewidth=0.6, alpha=0.7)
        axes.scatter(x, centre, s=3, color=look.colour, linewidths=0, zorder=3)
        edge = 1.05 * max(1e-9, float((np.abs(centre) + error).max()))
        axes.set_ylim(-edge, edge)
        axes.set_xticks([])
        axes.set_title(plotting.safe(shown[name]), fontsize=6.5, pad=3)
    figure.supxlabel("Items, sorted", fontsize=7)
    figure.supylabel("Random intercept", fontsize=7)
    return figure


def _labelled(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    frame = frame if "label" in frame else frame.assign(label=labels.series(frame))
    return frame, sorted(frame["label"].unique())


def _grid(count: int, width: float) -> tuple[Drawing, list[Axes]]:
    """Make a figure with small panels, each on its own scale: else a model that hardly moves would show nothing."""
    columns = min(count, 4 if width > PAGE * 0.75 else 2)
    rows = -(-count // columns)
    figure = Drawing(figsize=(width, 0.35 + 1.45 * rows), layout="constrained")
    panels = [figure.add_subplot(rows, columns, i + 1) for i in range(count)]
    for axes in panels:
        axes.tick_params(labelsize=5.5)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=3))
        axes.yaxis.set_major_locator(MaxNLocator(nbins=4))
        axes.spines[["left", "bottom"]].set_color(FAINT)
    return figure, panels


def _tints(colour: str) -> Colormap:
    """Return a colour map from nearly white to the model's colour."""
    return LinearSegmentedColormap.from_list("tints", ["#f3f4f6", colour])
