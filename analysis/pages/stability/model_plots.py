"""Draw the figures with one row or cell per model."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from analysis.pages.stability.columns import threshold
from analysis.pages.stability.measures import headline
from analysis.reporting import labels, matrices, panels, plotting
from analysis.reporting.plotting import INK, PAGE, Drawing, Look, styled
from analysis.reporting.thresholds import silent
from analysis.statistics.multiplicity import ALPHA

Looks = Mapping[str, Look]
FOREST = 12  # pairs of models that a list shows better than a triangle
SIDE = 20  # models that a triangle has room to name at both widths


@styled
def overview(stability: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw validity, range, standard deviation and flips of every model: dots with 95 % intervals.

    Parameters
    ----------
    stability
        Table `stability`: one row per model x condition.
    width, looks
        In inches; how each model is drawn, by default `plotting.looks`.

    Returns
    -------
    Drawing
        The figure.
    """
    frame = stability.assign(silent=silent(stability["validity"]))
    frame = frame.assign(label=labels.series(frame) + stability["mark"].map(" ({})".format).replace(" ()", ""))
    frame = frame.sort_values(["silent", "range_mean", "label"], na_position="last")
    frame = frame.iloc[labels.ends(range(len(frame)), panels.ROWS)].assign(row=range(min(len(frame), panels.ROWS)))
    flip = headline(frame)
    measures = {"validity": "Validity", "range_mean": "Range", "sd_mean": "SD", flip: f"Flips > {threshold(flip):g} %"}
    stacked = panels.narrow(width)
    names = labels.fitted(list(frame["label"]), panels.letters(width))
    across = 2 if stacked else 4
    high = len(frame) * panels.pitch(len(frame), 3.6)
    drawing, each = panels.panels(width, 4, across, high, left=panels.room(names))
    for i, (axes, (measure, title)) in enumerate(zip(each, measures.items(), strict=True)):
        panels.guide(axes, len(frame))
        panels.dots(axes, frame, measure, looks or plotting.looks(frame["model"]), hollow=frame["silent"])
        panels.title(axes, title)
        top = float(frame[[measure, f"{measure}_upper"]].max().max())
        panels.scale(axes, 0, 1 if measure == "validity" or pd.isna(top) else max(0.1, top), 2 if stacked else 3)
        if i % across == 0:
            panels.row_labels(axes, names)
    return drawing


@styled
def differences(
    frame: pd.DataFrame, *, measure: str | None = None, width: float = PAGE, looks: Looks | None = None
) -> Drawing:
    """Draw paired differences between models on the same items: as a triangle, or as a list (see `listed`).

    Parameters
    ----------
    frame
        Table `differences`: one row per measure and pair, `difference` = a minus b with its 95 % interval.
    measure
        The measure to show; the first of the frame unless given.
    width, looks
        In inches; not used: a pair has no colour.

    Returns
    -------
    Drawing
        The figure.
    """
    measure = measure or str(frame["measure"].iloc[0])
    pairs = frame[frame["measure"] == measure].dropna(subset=["difference"])
    pairs = pairs.assign(**labels.of_pairs(pairs), clear=pairs["p_holm"] < ALPHA)
    return _triangle(pairs, width) if (chosen := listed(pairs)) is None else _forest(chosen, width)


def listed(pairs: pd.DataFrame) -> pd.DataFrame | None:
    """Choose the pairs that a list shows: all of few, the largest where models do not fit a triangle; else None.

    Parameters
    ----------
    pairs
        Columns a and b (labels of both sides), difference.
    """
    if len(pairs) <= FOREST:
        return pairs
    if len(pd.concat([pairs["a"], pairs["b"]]).unique()) <= SIDE:
        return None
    return pairs.loc[pairs["difference"].abs().sort_values(ascending=False, kind="stable").index[: panels.ROWS]]


def _forest(pairs: pd.DataFrame, width: float) -> Drawing:
    """Draw a row per pair, the largest negative difference on top; filled where it is significant after Holm."""
    pairs = pairs.sort_values("difference", kind="stable").reset_index(drop=True)
    pairs = pairs.assign(row=pairs.index, model="", difference_lower=pairs["lower"], difference_upper=pairs["upper"])
    names = list(pd.concat([pairs["a"], pairs["b"]]).unique())
    short = dict(zip(names, labels.fitted(names, 13 if panels.narrow(width) else 26), strict=True))
    rows = [f"{short[a]} − {short[b]}" for a, b in zip(pairs["a"], pairs["b"], strict=True)]
    drawing, (axes,) = panels.panels(width, 1, 1, 0.19 * max(1, len(pairs)), left=panels.room(rows), title=0.05)
    panels.guide(axes, len(pairs))
    panels.row_labels(axes, rows)
    panels.dots(axes, pairs, "difference", {"": Look(INK, "o")}, hollow=~pairs["clear"])
    edge = panels.symmetric(pairs[["lower", "upper", "difference"]])
    panels.scale(axes, -edge, edge, 4, mark=0.0)
    return drawing


def _triangle(pairs: pd.DataFrame, width: float) -> Drawing:
    """Draw row minus column, the models sorted by their mean difference; marked where significant after Holm."""
    swapped = pairs.assign(a=pairs["b"], b=pairs["a"], difference=-pairs["difference"])
    both = pd.concat([pairs, swapped])
    order = list(both.groupby("a")["difference"].mean().sort_values(kind="stable").index)
    values, clear = (
        both.pivot_table(index="a", columns="b", values=name, aggfunc="max").reindex(index=order, columns=order)
        for name in ("difference", "clear")
    )
    return matrices.triangle(
        values.to_numpy(float), order, width,
        edge=panels.symmetric(values), name="Row minus column", marked=clear.fillna(0).to_numpy(float) > 0,
    )  # fmt: skip
