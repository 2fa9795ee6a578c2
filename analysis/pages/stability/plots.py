"""Draw the figures with one position per item; those with one row per model are in `model_plots`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch

from analysis.pages.stability.model_plots import differences, overview
from analysis.reporting import choice, labels, plotting
from analysis.reporting.plotting import COLUMN, INK, PAGE, RULE, Drawing, Look, styled

__all__ = ["agreement", "differences", "item_stability", "overview", "validity"]

Looks = Mapping[str, Look]
_OF_ITEM = ["agreement_min", "agreement_mean", "agreement_max", "original_agreement"]
LISTED = 64  # items that one page has room to name


@styled
def agreement(
    distribution: pd.DataFrame,
    items: pd.DataFrame,
    outliers: pd.DataFrame | None = None,
    *,
    width: float = PAGE,
    looks: Looks | None = None,
) -> Drawing:
    """Draw box plots of agreement over the paraphrases of every item, a panel per model (Haller et al., Figures 2, 5).

    Parameters
    ----------
    distribution
        Table `distribution`: quartiles and whisker ends per model x condition x item.
    items
        Table `items`: `original_agreement` is drawn as a diamond over its paraphrases; for a model of which only
        answers are known, `agreement_mean` replaces the boxes by bars.
    outliers
        One row per response outside the whiskers: study, model, condition, item, agreement.
    """
    frame = distribution.dropna(subset=["median"])
    if "label" not in frame:
        frame = frame.assign(label=labels.series(distribution))
    looks = looks or plotting.looks(frame["model"])
    names = sorted(frame["label"].unique())
    figure = Drawing(figsize=(width, 0.3 + 1.5 * max(1, len(names))), layout="constrained")
    for i, name in enumerate(names):
        axes = figure.add_subplot(max(1, len(names)), 1, i + 1)
        panel = frame[frame["label"] == name].merge(items[[*_key(frame, items), *_OF_ITEM]], on=_key(frame, items))
        look = looks[panel["model"].iloc[0]]
        if only_answers(panel):
            panel = panel.sort_values(["agreement_mean", "item"]).reset_index(drop=True)
            _shares(axes, panel, look)
        else:
            panel = panel.sort_values(["median", "q25", "item"]).reset_index(drop=True)
            _boxes(axes, panel, look, width)
            _outliers(axes, panel, outliers, look)
        _originals(axes, panel)
        axes.set_title(plotting.safe(labels.shorten(name, 60)), fontweight="bold", pad=3)
        axes.set_ylabel(choice.of(distribution).named("Agreement"))
        _item_axis(axes, panel["item"], width - 0.7)
    return figure


def _key(frame: pd.DataFrame, other: pd.DataFrame) -> list[str]:
    return [name for name in ("study", "model", "condition", "item") if name in frame and name in other]


def only_answers(items: pd.DataFrame) -> bool:
    """Return whether every agreement is 0 or 1 (one answer per wording): quartiles would then hide the shares."""
    ends = items[["agreement_min", "agreement_max"]].stack()
    return bool(ends.isin([0, 1]).all())


def _frame(axes: Axes, count: int) -> np.ndarray:
    """Set up the axes of one panel with the line where an answer flips; return the positions of its items."""
    axes.axhline(0.5, color=INK, linewidth=0.7, linestyle=(0, (4, 3)), zorder=1)
    axes.set_xlim(-0.8, count - 0.2)
    axes.set_ylim(-0.03, 1.03)
    axes.set_yticks([0, 0.5, 1])
    return np.arange(count, dtype=float)


def _boxes(axes: Axes, panel: pd.DataFrame, look: Look, width: float) -> None:
    x = _frame(axes, len(panel))
    thin = min(0.8, 30 * width / max(1, len(panel)) / 2)
    low, q25, median, q75, high = (
        panel[name].to_numpy(float) for name in ("whisker_low", "q25", "median", "q75", "whisker_high")
    )
    parts = [(plotting.whiskers(x, low, q25), "none"), (plotting.whiskers(x, q75, high), "none")]
    for path, face in [*parts, (plotting.bars(x, q25, q75, 0.7), look.colour)]:
        axes.add_patch(PathPatch(path, facecolor=face, edgecolor=look.colour, linewidth=thin, zorder=2))
    # White across a box, in the model's colour where the box is too flat to be seen.
    for flat, colour in ((q75 - q25 > 0.04, "white"), (q75 - q25 <= 0.04, look.colour)):
        line = plotting.ticks(x[flat], median[flat], 0.7)
        axes.add_patch(PathPatch(line, edgecolor=colour, facecolor="none", linewidth=1.2, zorder=3))


def _shares(axes: Axes, panel: pd.DataFrame, look: Look) -> None:
    """Draw the share of agreeing wordings as a bar."""
    x = _frame(axes, len(panel))
    bars = plotting.bars(x, np.zeros(len(panel)), panel["agreement_mean"].to_numpy(float), 0.7)
    axes.add_patch(PathPatch(bars, facecolor=look.colour, edgecolor=look.colour, linewidth=0.4, zorder=2))


def _outliers(axes: Axes, panel: pd.DataFrame, outliers: pd.DataFrame | None, look: Look) -> None:
    if outliers is not None:
        key = _key(panel, outliers)
        dots = outliers.merge(panel[key].assign(x=range(len(panel))), on=key)
        axes.scatter(dots["x"], dots["agreement"], s=1.2, color=look.colour, alpha=0.5, linewidths=0, rasterized=True)


def _originals(axes: Axes, panel: pd.DataFrame) -> None:
    original = panel["original_agreement"].dropna()
    dense = len(panel) > 150
    axes.scatter(
        original.index, original,
        s=2 if dense else np.clip(900 / max(1, len(panel)), 3, 14), marker="." if dense else "D",
        facecolor=INK if dense else "white", edgecolor=INK, linewidths=0 if dense else 0.7,
        zorder=4, clip_on=False, rasterized=dense,
    )  # fmt: skip


def _item_axis(axes: Axes, names: pd.Series, inches: float) -> None:
    """Write item ids under the boxes where there is room for them, else the number of items."""
    step = plotting.every(len(names), inches, 6.0)
    if step > 4:
        axes.set_xticks([])
        axes.set_xlabel(f"{len(names)} items, sorted by their median")
        return
    axes.set_xticks(
        range(0, len(names), step),
        [plotting.safe(labels.shorten(str(name), 14)) for name in names[::step]],
        rotation=90, fontsize=5.8,
    )  # fmt: skip
    axes.tick_params(axis="x", length=2 if step == 1 else 3, pad=1)
    if step > 1:
        axes.set_xticks(range(len(names)), minor=True)
        axes.tick_params(axis="x", which="minor", length=1.2, width=0.4)


@styled
def item_stability(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw the normalised SD of every item, mean and standard error over models (Haller et al., Figure 3).

    Parameters
    ----------
    frame
        Table `item_stability`: one row per item and family (causal, masked).
    looks
        Not used: the marks stand for families, not models, so they are black and white.
    """
    said, frame = choice.of(frame), frame.dropna(subset=["normalised_sd_mean"])
    ranked = least_stable(frame).head(LISTED)
    length = 62 if width > COLUMN * 1.5 else 26
    names = [labels.opening(text, length) for text in ranked["text"].astype(str)]
    if len(set(names)) < len(names) or not all(map(plotting.drawable, names)):
        names = [plotting.safe(item) for item in labels.shorten_all(list(ranked["item"].astype(str)), length)]
    figure = Drawing(figsize=(width, 0.75 + 0.135 * max(6, len(ranked))), layout="constrained")
    axes = figure.add_subplot()
    plotting.guide(axes, len(ranked))
    plotting.row_labels(axes, names)
    axes.tick_params(axis="y", labelsize=6.5)
    families = sorted(frame["family"].unique())
    for i, family in enumerate(families):
        values = ranked.reset_index(names="row")[["row", "study", "item"]].merge(frame[frame["family"] == family])
        row = values["row"] + (i - (len(families) - 1) / 2) * 0.3
        axes.errorbar(
            values["normalised_sd_mean"], row, xerr=values["normalised_sd_se"].fillna(0),
            fmt="os"[i % 2], ms=3.2, color=INK, mfc=(INK, "white")[i % 2], mew=0.8, elinewidth=0.7,
            label=f"{family} models",
        )  # fmt: skip
    axes.set_xlim(left=0)
    axes.set_xlabel(said.named("Normalised SD of agreement\n(1 = a model's least stable item)"), loc="right")
    if len(families) > 1:
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, frameon=False, borderaxespad=0, handletextpad=0)
    return figure


def least_stable(item_stability: pd.DataFrame) -> pd.DataFrame:
    """Sort items by their normalised SD over all models, least stable first: study, item, text, mean."""
    weight = item_stability["n_models"]
    frame = item_stability.assign(total=item_stability["normalised_sd_mean"] * weight, weight=weight)
    grouped = frame.groupby(["study", "item"], sort=True).agg(
        text=("text", "first"), total=("total", "sum"), weight=("weight", "sum")
    )
    grouped["mean"] = grouped["total"] / grouped["weight"]
    return grouped.sort_values("mean", ascending=False, kind="stable").reset_index()[["study", "item", "text", "mean"]]


@styled
def validity(items: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw the mean validity of every model on every item as a heat map (Haller et al., section 4.1 and Appendix H).

    Parameters
    ----------
    items
        Table `items`, for `validity_mean`.
    looks
        Not used: the rows are named, the colours mean mass.
    """
    frame = items.assign(label=labels.series(items), column=items["item"].astype(str))
    if frame["study"].nunique() > 1:
        frame["column"] = frame["study"].astype(str) + labels.SEPARATOR + frame["column"]
    table = frame.pivot(index="label", columns="column", values="validity_mean").dropna(axis=1, how="all")
    rows, columns = (table.mean(axis=axis).sort_values(kind="stable").index for axis in (1, 0))
    table = table.loc[rows, columns]
    figure = Drawing(figsize=(width, 1.1 + 0.2 * max(2, len(table))), layout="constrained")
    axes = figure.add_subplot()
    axes.set_facecolor(RULE)
    image = axes.imshow(table, aspect="auto", cmap="viridis", vmin=0, vmax=1, interpolation="nearest")
    length = 34 if width > COLUMN * 1.5 else 16
    axes.set_yticks(range(len(table)), [plotting.safe(name) for name in labels.shorten_all(list(table.index), length)])
    axes.tick_params(length=0)
    _item_axis(axes, pd.Series(table.columns), width - 0.7 - min(length, table.index.str.len().max()) * 0.06)
    axes.set_xlabel(f"{table.shape[1]} items, sorted by their mean validity")
    plotting.colour_bar(figure, axes, image, "Validity (mass on the answers)")
    return figure
