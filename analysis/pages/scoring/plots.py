"""Draw the figures on scores: how models use a scale, and how well."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from analysis.pages.scoring.items import ends
from analysis.reporting import labels, panels, plotting
from analysis.reporting.plotting import FAINT, INK, PAGE, RULE, Drawing, Look, styled

Looks = Mapping[str, Look]
GOLD = "gold"
PANELS = 4  # groups of items in one picture
LISTED = 14  # omissions that the figure of influence lists
NAMED = 12  # names that a legend has room for
LINES = 6  # models whose lines can be told apart in one panel
_GRID = 80  # points of a violin's outline
LOGARITHMIC = 20.0  # kurtosis from which on its axis is logarithmic beyond 1


@styled
def score_violins(items: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw the distribution of every model's scores and the human ones, a panel per group (Sato et al., Figures 2, 4).

    Parameters
    ----------
    items
        Table `score_items`: one setting, at most `PANELS` groups.
    width, looks
        In inches; how each model is drawn, by default `plotting.looks`.

    Returns
    -------
    Drawing
        The figure.
    """
    looks = looks or plotting.looks(items["model"])
    items = chosen(items, "score", panels.ROWS).assign(panel=lambda frame: _panel(frame))
    each, names = list(items["panel"].unique()), list(items["label"].unique())
    human = bool(items["gold"].notna().any())
    rows = [GOLD, *names] if human else names
    shown = [GOLD] * human + labels.fitted(names, panels.letters(width))
    across = min(len(each), 2 if panels.narrow(width) else 4)
    high = len(rows) * panels.pitch(len(rows), 3.6, 0.27)
    drawing, axes_of = panels.panels(width, len(each), across, high, left=panels.room(shown), bottom=0.15)
    scale = ends(items["setting"].iloc[0].split("/")[0])
    for index, (axes, panel) in enumerate(zip(axes_of, each, strict=True)):
        part = items[items["panel"] == panel]
        panels.guide(axes, len(rows))
        panels.scale(axes, *scale, 5)
        panels.title(axes, panel)
        if human:
            _violin(axes, 0, part.drop_duplicates("item")["gold"].to_numpy(float), scale, Look(FAINT, "o"), True)
        for row, name in enumerate(names, start=int(human)):
            of_model = part[part["label"] == name]
            if len(of_model):
                filled = of_model["stage"].iloc[0] != "base"
                scores = of_model["score"].to_numpy(float)
                _violin(axes, row, scores, scale, looks[of_model["model"].iloc[0]], filled)
        if index % across == 0:
            panels.row_labels(axes, shown)
        if index >= len(each) - across:
            panels.under(axes, "Score")
    return drawing


def chosen(frame: pd.DataFrame, measure: str, most: int) -> pd.DataFrame:
    """Keep the models that a figure has room for.

    Parameters
    ----------
    frame
        Rows with model and condition, or with `label`.
    measure
        The column that orders the models, by its mean.
    most
        Most models to keep.

    Returns
    -------
    DataFrame
        With column `label`: all models, or the ends of their order.
    """
    rows = frame if "label" in frame else frame.assign(label=labels.series(frame))
    order = rows.groupby("label")[measure].mean().sort_values(kind="stable", na_position="last").index
    return rows[rows["label"].isin(labels.ends(list(order), most))]


def _panel(frame: pd.DataFrame) -> pd.Series:
    """Name the panel of every row: its group, with the study where there are several."""
    several = frame["study"].nunique() > 1
    return frame["group"] + (labels.SEPARATOR + frame["study"] if several else "")


def _violin(axes: Axes, row: int, values: np.ndarray, scale: tuple[float, float], look: Look, filled: bool) -> None:
    """Draw a mirrored kernel density of fixed height, cut at the lowest and highest score; the stroke is the median."""
    values = values[~np.isnan(values)]
    if not len(values):
        panels.note(axes, (0.5, row), "no score", of=axes.get_yaxis_transform(), ha="center", color=FAINT, label="said")
        return
    least = max(scale[1] - scale[0], 1e-9) / 60  # so that a constant score is a narrow peak
    spread = values.std(ddof=1) * len(values) ** -0.2 if len(values) > 1 else 0.0  # Scott's rule
    bandwidth = max(least, spread)
    grid = np.linspace(max(values.min() - least, scale[0]), min(values.max() + least, scale[1]), _GRID)
    density = np.exp(-0.5 * ((grid[:, None] - values) / bandwidth) ** 2).sum(axis=1)
    half = 0.42 * density / density.max()
    face = look.colour if filled else "white"
    axes.fill_between(grid, row - half, row + half, facecolor=face, edgecolor=look.colour, linewidth=0.8, zorder=2)
    median = float(np.median(values))
    axes.vlines(median, row - 0.2, row + 0.2, colors="white" if filled else look.colour, linewidth=1.2, zorder=3)


@styled
def score_temperatures(scores: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw kurtosis and tau by temperature, a row of panels per group (Sato et al., Figures 3 and 5).

    Parameters
    ----------
    scores
        Rows of table `scores` for one range and method, at several temperatures; at most `PANELS` groups.
    width, looks
        In inches; how each model is drawn, by default `plotting.looks`.

    Returns
    -------
    Drawing
        The figure.
    """
    looks = looks or plotting.looks(scores["model"])
    scores = lines(scores).assign(panel=lambda frame: _panel(frame))
    groups, names, listed = list(scores["panel"].unique()), *_names(scores, width)
    drawing, each = panels.panels(
        width, 2 * len(groups), 2, min(1.6, 6.4 / len(groups) - 0.45), left=0.34, gap=0.45, bottom=0.18,
        top=0.06 + panels.LINE * panels.legend_lines(listed, width),
    )  # fmt: skip
    for number, axes in enumerate(each):
        group, measure = groups[number // 2], ("kurtosis", "tau")[number % 2]
        part = scores[scores["panel"] == group]
        step = 0.014 * np.ptp(scores["temperature"])  # beside each other, so that no interval hides another
        for place, name in enumerate(names):
            _line(axes, part[part["label"] == name], measure, looks, (place - (len(names) - 1) / 2) * step)
        axes.xaxis.set_major_locator(FixedLocator(sorted(scores["temperature"].unique())))
        axes.xaxis.set_minor_locator(NullLocator())
        panels.title(axes, f"{measure.capitalize()}, {group}")
        _scaled(axes, measure, scores["kurtosis"].max())
        limits = scores[[measure, f"{measure}_lower", f"{measure}_upper"]]  # one scale, so that groups compare
        low, high = float(np.nanmin(limits)), float(np.nanmax(limits))
        axes.set_ylim(min(0, low) - 0.06 * (high - low), high + 0.08 * (high - low) + 1e-9)
        if number >= len(each) - 2:
            panels.under(axes, "Temperature")
    _legend(drawing, scores, names, listed, looks)
    return drawing


def lines(scores: pd.DataFrame) -> pd.DataFrame:
    """Keep the lines that a panel has room for, with column `label`: all, or the ends of their order by mean tau."""
    return chosen(scores.assign(label=_without_temperature(scores)), "tau", LINES)


def _names(frame: pd.DataFrame, width: float) -> tuple[list[str], list[str]]:
    """Return the labels in the order of the models' names, and as a legend writes them (none where they are many)."""
    first = frame.drop_duplicates("label").sort_values(["model", "label"], kind="stable")
    names = list(first["label"])
    return names, labels.fitted(names, 28) if len(names) <= NAMED else []


def _without_temperature(scores: pd.DataFrame) -> pd.Series:
    """Label the lines: the model, and its prompt form where it was asked in several."""
    return labels.series(scores.assign(condition=scores["form"]))


def _line(axes: Axes, part: pd.DataFrame, measure: str, looks: Looks, by: float) -> None:
    """Draw the values of one model, moved aside `by` a little; a line joins those that have an interval."""
    known = part.dropna(subset=[measure]).sort_values("temperature")
    if known.empty:
        return
    look, tuned = looks[known["model"].iloc[0]], known["stage"].iloc[0] != "base"
    x, y = known["temperature"].to_numpy() + by, known[measure].to_numpy()
    sure = known[f"{measure}_lower"].notna().to_numpy()
    axes.vlines(x, known[f"{measure}_lower"], known[f"{measure}_upper"], colors=look.colour, linewidth=0.6, alpha=0.6)
    axes.plot(x[sure], y[sure], color=look.colour, linewidth=1.1, linestyle="-" if tuned else (0, (3, 2)))
    axes.plot(x, y, look.marker, ms=3.6, mfc=look.colour if tuned else "white", mec=look.colour, mew=1)


def _scaled(axes: Axes, measure: str, largest: float, axes_of: str = "y") -> None:
    """Scale an axis: logarithmic beyond 1 where a kurtosis is large; with a line at 0, no peak or no relation."""
    for name in axes_of:
        axis = axes.yaxis if name == "y" else axes.xaxis
        if measure == "kurtosis" and largest > LOGARITHMIC:
            getattr(axes, f"set_{name}scale")("symlog", linthresh=1)
            axis.set_major_locator(FixedLocator([-1, 0, *(10.0**power for power in range(7))]))
            axis.set_minor_locator(NullLocator())
            axis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:,.0f}".replace("-", "−")))
        (axes.axhline if name == "y" else axes.axvline)(0, color=RULE, linewidth=0.7, zorder=0)


def _legend(drawing: Drawing, frame: pd.DataFrame, names: list[str], listed: list[str], looks: Looks) -> None:
    """Draw the legend where names are `listed`; hollow means before tuning."""
    first = frame.drop_duplicates("label").set_index("label")
    if listed:
        panels.legend(drawing, listed, [looks[first.loc[name, "model"]] for name in names],
                      [first.loc[name, "stage"] == "base" for name in names])  # fmt: skip


@styled
def score_methods(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw kurtosis and tau of sampled scores against those of exact ones, a point per group, model and setting.

    Parameters
    ----------
    frame
        Table `score_methods`.
    width, looks
        In inches; how each model is drawn, by default `plotting.looks`.

    Returns
    -------
    Drawing
        The figure.
    """
    looks = looks or plotting.looks(frame["model"])
    frame = frame.assign(label=labels.series(frame))
    names, listed = _names(frame, width)
    across = 1 if panels.narrow(width) else 2
    side = (width - 0.6 - 0.6 * (across - 1)) / across
    drawing, each = panels.panels(
        width, 2, across, side, left=0.5, right=0.1, gap=0.6, below=0.42,
        top=0.06 + panels.LINE * panels.legend_lines(listed, width),
    )  # fmt: skip
    for axes, (measure, edge, factor) in zip(each, (("kurtosis", 0.4, 1.3), ("tau", 0.05, 1.0)), strict=True):
        both = frame.dropna(subset=[f"{measure}_sampled", f"{measure}_exact"])
        for name in names:
            part = both[both["label"] == name]
            if len(part):
                look, tuned = looks[part["model"].iloc[0]], part["stage"].iloc[0] != "base"
                axes.plot(part[f"{measure}_exact"], part[f"{measure}_sampled"], look.marker, ms=3.2, mec=look.colour,
                          mfc=look.colour if tuned else "white", mew=0.8, alpha=0.8, linestyle="none",
                          rasterized=len(both) > 2000)  # fmt: skip
        values = pd.concat([both[f"{measure}_exact"], both[f"{measure}_sampled"]])
        _scaled(axes, measure, values.max(), "xy")
        limits = (values.min() - edge, values.max() * factor + edge) if len(values) else (0.0, 1.0)
        axes.plot(limits, limits, color=INK, linewidth=0.7, linestyle=panels.DASHED, zorder=1)
        axes.set_xlim(*limits)
        axes.set_ylim(*limits)
        panels.title(axes, measure.capitalize())
        panels.under(axes, "Exact")
        panels.beside(axes, "Sampled", 28)
    _legend(drawing, frame, names, listed, looks)
    return drawing


@styled
def score_influence(
    influence: pd.DataFrame, points: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None
) -> Drawing:
    """Draw the points that the correlation of kurtosis and tau is made of, and the correlation without each of them.

    Parameters
    ----------
    influence
        Rows of table `score_influence` of one source and setting.
    points
        Their points (`analysis.pages.scoring.influence.points`).
    width, looks
        In inches; not used: a point is a series, not a model, so it is black, with the shape of its series.

    Returns
    -------
    Drawing
        The figure.
    """
    listed = shown_omissions(influence)
    brief = _brief(points)
    names = [] if listed.empty else _omitted(listed, brief)  # three points, or one that is undefined without any other
    series = sorted(points.dropna(subset=["kurtosis_difference", "tau_difference"])["series"].astype(str).unique())
    shown = labels.fitted(series, 24) if len(series) <= NAMED else []
    stacked = panels.narrow(width) or not names
    room, low = panels.room(names), 0.17 * len(names)
    side = width - 0.65 if panels.narrow(width) else 2.7
    head = 0.08 + panels.LINE * panels.legend_lines(shown, width)
    tall = head + max(side, low) + 0.4 + (0.5 + low if stacked and names else 0)
    drawing = Drawing(figsize=(width, tall))
    height = side if stacked else max(side, low)
    _points(
        drawing.add_axes((0.5 / width, (tall - head - height) / tall, side / width, height / tall)),
        points,
        influence,
        brief,
    )
    if names:
        left = room if stacked else 0.5 + side + room
        place = (left / width, 0.4 / tall, (width - left - 0.12) / width, (low if stacked else height) / tall)
        _omissions(drawing.add_axes(place), influence, listed, names)
    shapes = [Look(INK, plotting.MARKERS[place % len(plotting.MARKERS)]) for place in range(len(shown))]
    panels.legend(drawing, shown, shapes)
    return drawing


def shown_omissions(influence: pd.DataFrame) -> pd.DataFrame:
    """Choose the omissions that the figure lists: those that change the correlation most, largest change first."""
    known = influence[(influence["omitted"] != "nothing") & influence["pearson"].notna()]
    order = known["change"].abs().sort_values(ascending=False, kind="stable").index
    return known.loc[order[:LISTED]]


def _brief(points: pd.DataFrame) -> dict[str, str]:
    """Return series, and points by their `point`, without what all names of series begin with."""
    names = points["series"].astype(str)
    short = dict(zip(names.unique(), labels.brief(list(names.unique())), strict=True))
    ends = [point.replace(name, short[name]) for point, name in zip(points["point"], names, strict=True)]
    return short | dict(zip(points["point"], ends, strict=True))


def _omitted(listed: pd.DataFrame, brief: dict[str, str]) -> list[str]:
    kind = listed["omitted"].map({"point": "", "group": " (group)", "series": " (series)"})
    names = labels.shorten_all([brief.get(name, name) for name in listed["omitted_name"]], 24)
    return [f"{name}{ending}" for name, ending in zip(names, kind, strict=True)]


def _points(axes: Axes, points: pd.DataFrame, influence: pd.DataFrame, brief: dict[str, str]) -> None:
    known = points.dropna(subset=["kurtosis_difference", "tau_difference"])
    for number, (_, part) in enumerate(known.groupby("series", sort=True)):
        axes.plot(part["kurtosis_difference"], part["tau_difference"], linestyle="none", ms=4, color=INK,
                  marker=plotting.MARKERS[number % len(plotting.MARKERS)])  # fmt: skip
    _scaled(axes, "tau", 0, "xy")
    axes.margins(0.08, 0.14)
    single = influence[(influence["omitted"] == "point") & influence["change"].notna()]
    if len(single):
        name = single.loc[single["change"].abs().idxmax(), "omitted_name"]
        row = known[known["point"] == name].iloc[0]
        right = row["kurtosis_difference"] > known["kurtosis_difference"].median()
        panels.note(axes, (row["kurtosis_difference"], row["tau_difference"]), labels.shorten(brief[name], 28),
                    (4 if right else -4, 7), of="data", ha="right" if right else "left", label="said")  # fmt: skip
    panels.under(axes, "Kurtosis, post minus pre")
    panels.beside(axes, "Tau, post minus pre", 29)


def _omissions(axes: Axes, influence: pd.DataFrame, listed: pd.DataFrame, names: list[str]) -> None:
    """Draw the correlation without each point, group or series; the line and the band are those of all points."""
    whole = influence[influence["omitted"] == "nothing"].iloc[0]
    panels.guide(axes, len(listed))
    if not np.isnan(whole["pearson_lower"]):
        axes.axvspan(whole["pearson_lower"], whole["pearson_upper"], color=RULE, alpha=0.4, linewidth=0, zorder=0)
    panels.scale(axes, -1, 1, 4, mark=whole["pearson"])
    axes.scatter(listed["pearson"], range(len(listed)), s=17, color=INK, zorder=3)
    panels.row_labels(axes, names)
    panels.under(axes, "Pearson’s r without it")
