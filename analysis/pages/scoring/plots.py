"""Draw the figures on scores: how models use a scale, and how well."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from analysis.pages.scoring.items import ends
from analysis.reporting import labels, plotting
from analysis.reporting.plotting import FAINT, INK, PAGE, RULE, Drawing, Look, styled

Looks = Mapping[str, Look]
GOLD = "gold"
PANELS = 4  # groups of items in one picture
LISTED = 14  # omissions that the figure of influence lists
_TITLE = 14  # characters that the title of one of four panels has room for
_GRID = 160  # points of a violin's outline
_LOGARITHMIC = 20.0  # kurtosis from which on its axis is logarithmic beyond 1


@styled
def score_violins(items: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw the distribution of every model's scores and the human ones, a panel per group (Sato et al., Figures 2, 4).

    Parameters
    ----------
    items
        Table `score_items`: one setting, at most `PANELS` groups.
    """
    looks = looks or plotting.looks(items["model"])
    items = items.assign(label=labels.series(items), panel=_panel(items))
    panels, names = list(items["panel"].unique()), list(items["label"].unique())
    human = bool(items["gold"].notna().any())
    rows = [GOLD, *names] if human else names
    titles = labels.shorten_all(panels, _TITLE)
    most = PANELS if max(map(len, titles)) <= _TITLE else 2
    columns = min(len(panels), most if width > PAGE * 0.75 else 1)
    lines = -(-len(panels) // columns)
    figure = Drawing(figsize=(width, 0.35 + lines * (0.45 + 0.27 * len(rows))), layout="constrained")
    scale = ends(items["setting"].iloc[0].split("/")[0])
    shown = [GOLD] * human + labels.shorten_all(names, 26)
    for index, panel in enumerate(panels):
        axes = figure.add_subplot(lines, columns, index + 1)
        part = items[items["panel"] == panel]
        if human:
            _violin(axes, 0, part.drop_duplicates("item")["gold"].to_numpy(float), scale, Look(FAINT, "o"), True)
        for row, name in enumerate(names, start=int(human)):
            of_model = part[part["label"] == name]
            if len(of_model):
                filled = of_model["stage"].iloc[0] != "base"
                scores = of_model["score"].to_numpy(float)
                _violin(axes, row, scores, scale, looks[of_model["model"].iloc[0]], filled)
        axes.set_ylim(len(rows) - 0.45, -0.55)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        plotting.row_labels(axes, shown, shown=index % columns == 0)
        axes.set_xlim(*_padded(scale))
        axes.xaxis.set_major_locator(MaxNLocator(nbins=4, integer=True))
        axes.set_title(plotting.safe(titles[index]), fontweight="bold", pad=3)
    figure.supxlabel("Score", fontsize=8)
    return figure


def _panel(frame: pd.DataFrame) -> pd.Series:
    """Name the panel of every row: its group, with the study where there are several."""
    several = frame["study"].nunique() > 1
    return frame["group"] + (labels.SEPARATOR + frame["study"] if several else "")


def _padded(limits: tuple[float, float]) -> tuple[float, float]:
    edge = 0.03 * max(limits[1] - limits[0], 1e-9)
    return limits[0] - edge, limits[1] + edge


def _violin(axes: Axes, row: int, values: np.ndarray, scale: tuple[float, float], look: Look, filled: bool) -> None:
    """Draw a mirrored kernel density of fixed height, cut at the lowest and highest score; the stroke is the median."""
    values = values[~np.isnan(values)]
    axes.hlines(row, *scale, colors=RULE, linewidth=0.5, zorder=0)
    if not len(values):
        axes.text(0.5, row, "no score", ha="center", va="center", color=FAINT, transform=axes.get_yaxis_transform())
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
    """
    looks = looks or plotting.looks(scores["model"])
    scores = scores.assign(label=_without_temperature(scores), panel=_panel(scores))
    panels, names = list(scores["panel"].unique()), list(scores["label"].unique())
    per_line = max(1, int(width // 2.3))
    figure = Drawing(figsize=(width, 0.4 + 1.6 * len(panels) + 0.17 * -(-len(names) // per_line)), layout="constrained")
    titles = labels.shorten_all(panels, int(6 * width))
    first: dict[str, Axes] = {}  # one scale per measure, so that groups compare
    for line, panel in enumerate(panels):
        part = scores[scores["panel"] == panel]
        for column, measure in enumerate(("kurtosis", "tau")):
            axes = figure.add_subplot(len(panels), 2, 2 * line + column + 1, sharey=first.get(measure))
            first.setdefault(measure, axes)
            for name in names:
                _line(axes, part[part["label"] == name].sort_values("temperature"), measure, looks)
            axes.xaxis.set_major_locator(FixedLocator(sorted(scores["temperature"].unique())))
            axes.xaxis.set_minor_locator(NullLocator())
            axes.set_title(f"{plotting.safe(titles[line]) if column == 0 else ''}\n{measure.capitalize()}", pad=3)
            _scaled(axes, measure, scores["kurtosis"].max())
            if line == len(panels) - 1:
                axes.set_xlabel("Temperature")
    _legend(figure, scores, names, looks, per_line)
    return figure


def _without_temperature(scores: pd.DataFrame) -> pd.Series:
    """Label the lines: the model, and its prompt form where it was asked in several."""
    return labels.series(scores.assign(condition=scores["form"]))


def _line(axes: Axes, part: pd.DataFrame, measure: str, looks: Looks) -> None:
    known = part.dropna(subset=[measure])
    if known.empty:
        return
    look, tuned = looks[known["model"].iloc[0]], known["stage"].iloc[0] != "base"
    x, y = known["temperature"].to_numpy(), known[measure].to_numpy()
    axes.vlines(x, known[f"{measure}_lower"], known[f"{measure}_upper"], colors=look.colour, linewidth=0.6, alpha=0.6)
    axes.plot(x, y, color=look.colour, linewidth=1.1, linestyle="-" if tuned else (0, (3, 2)))
    axes.plot(x, y, look.marker, ms=3.6, mfc=look.colour if tuned else "white", mec=look.colour, mew=1)


def _scaled(axes: Axes, measure: str, largest: float, axes_of: str = "y") -> None:
    """Scale an axis: logarithmic beyond 1 where a kurtosis is large; with a line at 0, no peak or no relation."""
    for name in axes_of:
        axis = axes.yaxis if name == "y" else axes.xaxis
        if measure == "kurtosis" and largest > _LOGARITHMIC:
            getattr(axes, f"set_{name}scale")("symlog", linthresh=1)
            axis.set_major_locator(FixedLocator([-1, 0, *(10.0**power for power in range(7))]))
            axis.set_minor_locator(NullLocator())
            axis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:,.0f}".replace("-", "−")))
        (axes.axhline if name == "y" else axes.axvline)(0, color=RULE, linewidth=0.7, zorder=0)


def _legend(
    figure: Drawing, frame: pd.DataFrame, names: list[str], looks: Looks, per_line: int, lines: bool = True
) -> None:
    """Draw the legend; hollow and dashed means before tuning."""
    first = frame.drop_duplicates("label").set_index("label")
    handles = []
    for name in names:
        look, tuned = looks[first.loc[name, "model"]], first.loc[name, "stage"] != "base"
        handle = Line2D([], [], color=look.colour, linewidth=1.1, marker=look.marker, ms=3.6, linestyle="none")
        handle.set_markerfacecolor(look.colour if tuned else "white")
        if lines:
            handle.set_linestyle("-" if tuned else (0, (3, 2)))
        handles.append(handle)
    shown = [plotting.safe(name) for name in labels.shorten_all(names, 28)]
    figure.legend(handles, shown, loc="outside lower center", ncols=min(per_line, len(names)), frameon=False)


@styled
def score_methods(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw kurtosis and tau of sampled scores against those of exact ones, a point per group, model and setting.

    Parameters
    ----------
    frame
        Table `score_methods`.
    """
    looks = looks or plotting.looks(frame["model"])
    frame = frame.assign(label=labels.series(frame))
    names = list(frame["label"].unique())
    per_line = max(1, int(width // 2.3))
    stacked = width < PAGE * 0.75
    size = 1.6 * width if stacked else width / 2
    figure = Drawing(figsize=(width, size + 0.3 + 0.17 * -(-len(names) // per_line)), layout="constrained")
    for column, (measure, edge, factor) in enumerate((("kurtosis", 0.4, 1.3), ("tau", 0.05, 1.0))):
        axes = figure.add_subplot(2 if stacked else 1, 1 if stacked else 2, column + 1)
        both = frame.dropna(subset=[f"{measure}_sampled", f"{measure}_exact"])
        for name in names:
            part = both[both["label"] == name]
            if len(part):
                look, tuned = looks[part["model"].iloc[0]], part["stage"].iloc[0] != "base"
                axes.plot(part[f"{measure}_exact"], part[f"{measure}_sampled"], look.marker, ms=3.2, mec=look.colour,
                          mfc=look.colour if tuned else "white", mew=0.8, alpha=0.8, linestyle="none")  # fmt: skip
        values = pd.concat([both[f"{measure}_exact"], both[f"{measure}_sampled"]])
        _scaled(axes, measure, values.max(), "xy")
        limits = (values.min() - edge, values.max() * factor + edge) if len(values) else (0.0, 1.0)
        axes.plot(limits, limits, color=INK, linewidth=0.7, linestyle=(0, (4, 3)), zorder=1)
        axes.set_xlim(*limits)
        axes.set_ylim(*limits)
        axes.set_title(measure.capitalize(), pad=3)
        axes.set_xlabel("Exact")
        axes.set_ylabel("Sampled")
    _legend(figure, frame, names, looks, per_line, lines=False)
    return figure


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
    looks
        Not used: a point is a series, which has a colour of its own.
    """
    stacked = width < PAGE * 0.75
    listed = shown_omissions(influence)
    if listed.empty:  # three points, or one that is undefined without any other
        figure = Drawing(figsize=(min(width, 0.6 * PAGE), 2.6), layout="constrained")
        _points(figure.add_subplot(), points, influence)
        return figure
    low = 0.5 + 0.17 * len(listed)
    figure = Drawing(figsize=(width, 2.6 + low if stacked else max(2.7, low)), layout="constrained")
    ratios = {"height_ratios": [2.6, low]} if stacked else {"width_ratios": [1.05, 1]}
    grid = figure.add_gridspec(2 if stacked else 1, 1 if stacked else 2, **ratios)
    _points(figure.add_subplot(grid[0]), points, influence)
    _omissions(figure.add_subplot(grid[1]), influence, listed)
    return figure


def shown_omissions(influence: pd.DataFrame) -> pd.DataFrame:
    """Choose the omissions that the figure lists: those that change the correlation most, largest change first."""
    known = influence[(influence["omitted"] != "nothing") & influence["pearson"].notna()]
    order = known["change"].abs().sort_values(ascending=False, kind="stable").index
    return known.loc[order[:LISTED]]


def _points(axes: Axes, points: pd.DataFrame, influence: pd.DataFrame) -> None:
    known = points.dropna(subset=["kurtosis_difference", "tau_difference"])
    series = plotting.looks(known["series"])
    for name, part in known.groupby("series", sort=True):
        look = series[str(name)]
        axes.plot(part["kurtosis_difference"], part["tau_difference"], look.marker, ms=4, color=look.colour,
                  linestyle="none", label=plotting.safe(labels.shorten(str(name), 24)))  # fmt: skip
    _scaled(axes, "tau", 0, "xy")
    axes.margins(0.08, 0.14)
    single = influence[(influence["omitted"] == "point") & influence["change"].notna()]
    if len(single):
        name = single.loc[single["change"].abs().idxmax(), "omitted_name"]
        row = known[known["point"] == name].iloc[0]
        right = row["kurtosis_difference"] > known["kurtosis_difference"].median()
        axes.annotate(plotting.safe(labels.shorten(name, 28)), (row["kurtosis_difference"], row["tau_difference"]),
                      xytext=(-6 if right else 6, 6), textcoords="offset points", ha="right" if right else "left",
                      fontsize=6.5)  # fmt: skip
    axes.set_xlabel("Kurtosis, post minus pre")
    axes.set_ylabel("Tau, post minus pre")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False, handletextpad=0.2, columnspacing=0.8)


def _omissions(axes: Axes, influence: pd.DataFrame, listed: pd.DataFrame) -> None:
    """Draw the correlation without each point, group or series; the line and the band are those of all points."""
    whole = influence[influence["omitted"] == "nothing"].iloc[0]
    plotting.guide(axes, len(listed))
    if not np.isnan(whole["pearson_lower"]):
        axes.axvspan(whole["pearson_lower"], whole["pearson_upper"], color=RULE, alpha=0.4, linewidth=0, zorder=0)
    axes.axvline(whole["pearson"], color=INK, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    axes.plot(listed["pearson"], range(len(listed)), "o", ms=4, color=INK, clip_on=False)
    kind = listed["omitted"].map({"point": "", "group": " (group)", "series": " (series)"})
    names = labels.shorten_all(list(listed["omitted_name"]), 20)
    plotting.row_labels(axes, [f"{name}{ending}" for name, ending in zip(names, kind, strict=True)])
    axes.set_xlim(-1, 1)
    axes.set_xlabel("Pearson’s r without it")
