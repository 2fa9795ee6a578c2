"""Draw the figures with one row per item; those with one row per model are in `model_plots`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from analysis.pages.stability.model_plots import differences, overview
from analysis.reporting import choice, labels, matrices, panels, plotting
from analysis.reporting.plotting import DIVERGING, INK, PAGE, SEQUENTIAL, Drawing, Look, styled

__all__ = ["agreement", "differences", "item_stability", "overview", "validity"]

Looks = Mapping[str, Look]
LISTED, COLUMNS = 60, 20  # items and models that a figure has room to name at both widths
MIDDLE = 0.5  # where an answer flips
_KEY = ["study", "model", "condition", "item"]


@styled
def agreement(
    distribution: pd.DataFrame, items: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None
) -> Drawing:
    """Draw the median agreement of every model with every item (compare Haller et al., Figures 2 and 5).

    Parameters
    ----------
    distribution
        Table `distribution`: quartiles per model x condition x item.
    items
        Table `items`, for the texts.
    width, looks
        In inches; not used: the columns are named, the colours mean agreement.

    Returns
    -------
    Drawing
        The figure.
    """
    name = choice.of(distribution).named("Median agreement") + " (white: 0.5)"
    cells = agreement_cells(distribution, items)
    table, names = _table(cells, "value"), _item_names(items, cells, width)
    marked = _table(cells, "split").fillna(0).to_numpy(float) > 0
    return matrices.heat_map(
        table, width, cmap=DIVERGING, low=0, high=1, name=name, marked=marked,
        rows=names.loc[table.index], columns=labels.fitted([str(name) for name in table.columns], 26),
    )  # fmt: skip


def agreement_cells(distribution: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Choose the cells of the map: all, or the items nearest to 0.5 and the models with the largest mean range.

    Parameters
    ----------
    distribution, items
        As in `agreement`.

    Returns
    -------
    DataFrame
        row, label, value (median agreement; mean agreement where a wording has one answer, because the quartiles would
        hide the shares), split (whether the quartiles lie on both sides of 0.5), answers; sorted by the median of the
        items over models, lowest first.
    """
    known = ["agreement_min", "agreement_max", "agreement_mean", "agreement_range"]
    frame = distribution.dropna(subset=["median"]).merge(items[[*_KEY, *known]], on=_KEY)
    units = frame.groupby(_KEY[:3])
    ends = units["agreement_min"].transform(lambda v: v.isin([0, 1]).all()) & units["agreement_max"].transform(
        lambda v: v.isin([0, 1]).all()
    )
    frame = frame.assign(
        label=labels.series(frame), row=_row(frame), answers=ends,
        value=frame["median"].where(~ends, frame["agreement_mean"]),
        split=(frame["q25"] < MIDDLE) & (frame["q75"] > MIDDLE),
    )  # fmt: skip
    ranges = frame.groupby("label")["agreement_range"].mean().sort_values(ascending=False, kind="stable")
    frame = frame[frame["label"].isin(ranges.index[:COLUMNS])]
    medians = frame.groupby("row")["value"].median()
    nearest = (medians - MIDDLE).abs().sort_values(kind="stable").index[:LISTED]
    return _ordered(frame, medians.loc[nearest])


def _row(frame: pd.DataFrame) -> pd.Series:
    """Name the item of every row, with the study where there are several."""
    several = frame["study"].nunique() > 1
    return (frame["study"].astype(str) + labels.SEPARATOR if several else "") + frame["item"].astype(str)


def _ordered(frame: pd.DataFrame, scores: pd.Series) -> pd.DataFrame:
    """Keep the rows that have a score, sorted by it, lowest first."""
    order = {row: place for place, row in enumerate(scores.sort_values(kind="stable").index)}
    kept = frame[frame["row"].isin(list(order))]
    return kept.assign(place=kept["row"].map(order)).sort_values(["place", "label"]).drop(columns="place")


def _table(cells: pd.DataFrame, value: str) -> pd.DataFrame:
    """Return items x models, the items in the order of the cells, the models in that of their names."""
    return cells.pivot(index="row", columns="label", values=value).reindex(cells["row"].unique())


def _item_names(items: pd.DataFrame, cells: pd.DataFrame, width: float) -> pd.Series:
    """Name the rows by the beginning of their text, or by their item where texts begin alike or cannot be drawn."""
    texts = items.assign(row=_row(items)).drop_duplicates("row").set_index("row")["text"].astype(str)
    rows = list(cells["row"].unique())
    length = panels.letters(width, cells["label"].nunique())
    return pd.Series(_names(list(texts.loc[rows]), rows, length), index=rows)


def _names(texts: Sequence[str], items: Sequence[str], length: int) -> list[str]:
    names = labels.openings(texts, length)
    if len(set(names)) == len(names) and all(map(plotting.drawable, names)):
        return names
    return labels.shorten_all(items, length)


@styled
def validity(items: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw the mean validity of every model on every item as a heat map (Haller et al., section 4.1 and Appendix H).

    Parameters
    ----------
    items
        Table `items`, for `validity_mean`.
    width, looks
        In inches; not used: the columns are named, the colours mean mass.

    Returns
    -------
    Drawing
        The figure.
    """
    cells = validity_cells(items)
    table, names = _table(cells, "validity_mean"), _item_names(items, cells, width)
    return matrices.heat_map(
        table, width, cmap=SEQUENTIAL, low=0, high=1, name="Validity", rows=names.loc[table.index],
        columns=labels.fitted([str(name) for name in table.columns], 26),
    )  # fmt: skip


def validity_cells(items: pd.DataFrame) -> pd.DataFrame:
    """Choose the cells of the map: all, or the items and models of the lowest mean validity; sorted by it."""
    frame = items.dropna(subset=["validity_mean"])
    frame = frame.assign(label=labels.series(frame), row=_row(frame))
    models = frame.groupby("label")["validity_mean"].mean().sort_values(kind="stable").index[:COLUMNS]
    frame = frame[frame["label"].isin(models)]
    return _ordered(frame, frame.groupby("row")["validity_mean"].mean().sort_values(kind="stable").iloc[:LISTED])


@styled
def item_stability(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw the normalised SD of every item, mean and standard error over models (Haller et al., Figure 3).

    Parameters
    ----------
    frame
        Table `item_stability`: one row per item and family (causal, masked).
    width, looks
        In inches; not used: the marks stand for families, not models, so they are black and white.

    Returns
    -------
    Drawing
        The figure.
    """
    said, frame = choice.of(frame), frame.dropna(subset=["normalised_sd_mean"])
    ranked = least_stable(frame).head(LISTED)
    names = _names(list(ranked["text"].astype(str)), list(_row(ranked)), 26 if panels.narrow(width) else 62)
    families = sorted(frame["family"].unique())
    black = {family: Look(INK, "os"[i % 2]) for i, family in enumerate(families)}
    hollow = [i % 2 == 1 for i in range(len(families))]
    drawing, (axes,) = panels.panels(
        width, 1, 1, len(ranked) * panels.pitch(len(ranked), 8), left=panels.room(names), below=0.34,
        title=0.05, top=0.17 * (len(families) > 1),
    )  # fmt: skip
    panels.guide(axes, len(ranked))
    panels.row_labels(axes, names)
    places = ranked.reset_index(names="row")[["row", "study", "item"]].merge(frame, on=["study", "item"])
    error = places["normalised_sd_se"].fillna(0)
    places = places.assign(
        model=places["family"], normalised_sd_mean_lower=places["normalised_sd_mean"] - error,
        normalised_sd_mean_upper=places["normalised_sd_mean"] + error,
        row=places["row"] + (places["family"].map(families.index) - (len(families) - 1) / 2) * 0.3,
    )  # fmt: skip
    second = places["family"].map(dict(zip(families, hollow, strict=True)))
    panels.dots(axes, places, "normalised_sd_mean", black, hollow=second)
    panels.scale(axes, 0, max(0.1, float(places["normalised_sd_mean_upper"].max())), 4)
    panels.under(axes, said.named("Normalised SD of agreement"))
    if len(families) > 1:
        panels.legend(drawing, [f"{family} models" for family in families], [black[f] for f in families], hollow)
    return drawing


def least_stable(item_stability: pd.DataFrame) -> pd.DataFrame:
    """Sort items by their normalised SD over all models, least stable first: study, item, text, mean."""
    weight = item_stability["n_models"]
    frame = item_stability.assign(total=item_stability["normalised_sd_mean"] * weight, weight=weight)
    grouped = frame.groupby(["study", "item"], sort=True).agg(
        text=("text", "first"), total=("total", "sum"), weight=("weight", "sum")
    )
    grouped["mean"] = grouped["total"] / grouped["weight"]
    return grouped.sort_values("mean", ascending=False, kind="stable").reset_index()[["study", "item", "text", "mean"]]
