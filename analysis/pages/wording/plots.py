"""Draw the figures on the wording of yes/no questions: which answers stay the same, and how p(Yes) moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from analysis.pages.wording.cells import PATTERNS
from analysis.pages.wording.shifts import BAND
from analysis.reporting import labels, plotting
from analysis.reporting.plotting import FAINT, INK, PAGE, RULE, Drawing, Look, styled
from analysis.reporting.thresholds import silent

Looks = Mapping[str, Look]
HALF, TWO_THIRDS = 0.5, 0.66


@styled
def consistency(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw Consistency with 95 % intervals: a panel per pattern, a row per model and condition.

    Parameters
    ----------
    frame
        Rows of table `consistency` of one language and task; a model without valid answers has a row that says so.
    """
    return _panels(frame, "consistency", (0.0, 1.0), width, looks, marks=(HALF,))


@styled
def diff_yes(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw DiffYes, and hollow Excess Yes where it differs (Takayama et al., Figure 6).

    Parameters
    ----------
    frame
        Rows of table `consistency` of one language and task.
    """
    return _panels(frame, "diff_yes", _symmetric(frame, "diff_yes"), width, looks, marks=(0.0,), hollow="excess_yes")


@styled
def stage_differences(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw Consistency of the tuned minus that of the base models of a series (Takayama et al., Figure 7).

    Parameters
    ----------
    frame
        Rows of table `stages` of one language and task, measure `consistency`.
    """
    rows = frame[frame["pattern"].isin(list(PATTERNS))]
    several = rows["shots"].nunique() > 1
    label = rows["series"] + (labels.SEPARATOR + rows["shots"].astype(str) + "-shot" if several else "")
    renamed = rows.assign(model=rows["series"], label=label).rename(
        columns={"lower": "difference_lower", "upper": "difference_upper"}
    )
    limits = _symmetric(renamed, "difference")
    return _panels(renamed, "difference", limits, width, plotting.looks(renamed["model"]), marks=(0.0,))


def _symmetric(frame: pd.DataFrame, measure: str) -> tuple[float, float]:
    ends = frame[[measure, f"{measure}_lower", f"{measure}_upper"]].abs().to_numpy()
    edge = 1.08 * max(0.05, float(np.nanmax(ends)) if np.isfinite(ends).any() else 0.0)
    return -edge, edge


def _panels(
    frame: pd.DataFrame, measure: str, limits: tuple[float, float], width: float, looks: Looks | None,
    marks: Sequence[float] = (), hollow: str = "",
) -> Drawing:  # fmt: skip
    """Draw dots with intervals: a panel per pattern that occurs, a row per label; `hollow` is a second measure."""
    rows = frame[frame["pattern"].isin(list(PATTERNS))]
    if "label" not in rows:
        rows = rows.assign(label=labels.series(rows))
    names = list(dict.fromkeys(rows["label"]))
    patterns = [pattern for pattern in PATTERNS if (rows["pattern"] == pattern).any()]
    stacked = width < PAGE * 0.75
    across = min(2 if stacked else len(patterns), len(patterns))
    down = -(-len(patterns) // across)
    figure = Drawing(figsize=(width, 0.15 + down * (0.45 + 0.17 * max(2, len(names)))), layout="constrained")
    shown = labels.shorten_all(labels.brief(names), 16 if stacked else 28)
    looks = looks or plotting.looks(rows["model"])
    for i, pattern in enumerate(patterns):
        axes = figure.add_subplot(down, across, i + 1)
        plotting.guide(axes, len(names))
        plotting.row_labels(axes, shown, shown=i % across == 0)
        axes.set_title(PATTERNS[pattern], fontsize=7, pad=3)
        axes.set_xlim(*limits)
        if limits[0] < 0:
            axes.xaxis.set_major_locator(MaxNLocator(nbins=2 if stacked else 3, symmetric=True))
        else:
            axes.set_xticks([0, 0.5, 1])
        for mark in marks:
            axes.axvline(mark, color=INK, linewidth=0.7, linestyle=(0, (4, 3)), zorder=1)
        for _, values in rows[rows["pattern"] == pattern].iterrows():
            _dot(axes, names.index(values["label"]), values, measure, looks[values["model"]], hollow)
    return figure


def _dot(axes: Axes, row: int, values: pd.Series, measure: str, look: Look, hollow: str) -> None:
    if pd.isna(values[measure]):
        axes.text(
            0.03, row, "no valid answers", va="center", color=FAINT, fontsize=5.5,
            transform=axes.get_yaxis_transform(), bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
        )  # fmt: skip
        return
    axes.hlines(row, values[f"{measure}_lower"], values[f"{measure}_upper"], colors=look.colour, linewidth=1.3)
    axes.plot(values[measure], row, look.marker, ms=4, color=look.colour, clip_on=False)
    if hollow and abs(values[hollow] - values[measure]) > 1e-9:
        axes.plot(values[hollow], row, look.marker, ms=4, mfc="white", mec=look.colour, mew=1, clip_on=False)


@styled
def overall_scores(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw Overall, the mean over patterns and tasks, by language; best of the first language on top (Figure 3).

    Models that do not answer (`thresholds.silent`) stand below the others.

    Parameters
    ----------
    frame
        Table `overall`.
    """
    rows = frame.assign(silent=silent(frame["valid"]))
    rows = rows.assign(label=labels.series(rows))
    languages = list(dict.fromkeys(rows["language"]))
    first = rows[rows["language"] == languages[0]].sort_values(
        ["silent", "overall"], ascending=[True, False], na_position="last"
    )
    names = list(dict.fromkeys([*first["label"], *rows["label"]]))
    figure = Drawing(figsize=(width, 0.55 + 0.2 * max(2, len(names))), layout="constrained")
    looks = looks or plotting.looks(rows["model"])
    for i, language in enumerate(languages):
        axes = figure.add_subplot(1, len(languages), i + 1)
        plotting.guide(axes, len(names))
        plotting.row_labels(
            axes, labels.shorten_all(labels.brief(names), 16 if width < PAGE * TWO_THIRDS else 34), shown=i == 0
        )
        axes.set_title(f"Overall, {language}" if language else "Overall", fontsize=7, pad=3)
        axes.set(xlim=(0, 1), xticks=[0, 0.5, 1])
        for _, values in rows[rows["language"] == language].iterrows():
            _dot(axes, names.index(values["label"]), values, "overall", looks[values["model"]], "")
    return figure


@styled
def shift_curve(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw p(Yes) after rewording by p(Yes) before, in bins: a panel per pattern, a line per model (Figure 2).

    Parameters
    ----------
    frame
        Rows of table `curve` of one language, task and condition.
    """
    rows = frame.assign(label=labels.series(frame))
    names = list(dict.fromkeys(rows["label"]))
    patterns = [pattern for pattern in PATTERNS if (rows["pattern"] == pattern).any()]
    stacked = width < PAGE * 0.75
    across = min(2 if stacked else 4, len(patterns))
    down = -(-len(patterns) // across)
    legend = -(-len(names) // (1 if stacked else 3))
    size = width / across
    figure = Drawing(figsize=(width, down * (size + 0.1) + 0.3 + 0.16 * legend), layout="constrained")
    looks = looks or plotting.looks(rows["model"])
    shown = dict(zip(names, labels.shorten_all(labels.brief(names), 34), strict=True))
    for i, pattern in enumerate(patterns):
        axes = figure.add_subplot(down, across, i + 1)
        axes.axvspan(*BAND, color=RULE, alpha=0.45, linewidth=0, zorder=0)
        inverted = pattern == "antonym"
        axes.plot([0, 1], [1, 0] if inverted else [0, 1], color=INK, linewidth=0.7, linestyle=(0, (4, 3)), zorder=1)
        for name in names:
            part = rows[(rows["label"] == name) & (rows["pattern"] == pattern)]
            look = looks[rows.loc[rows["label"] == name, "model"].iloc[0]]
            axes.plot(
                part["p_original"], part["p_yes"], color=look.colour, marker=look.marker, ms=2.4, linewidth=1,
                label=plotting.safe(shown[name]), clip_on=False,
            )  # fmt: skip
        axes.set(xlim=(0, 1), ylim=(0, 1), xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
        axes.set_aspect("equal")
        axes.set_title(PATTERNS[pattern], fontsize=7, pad=3)
        axes.tick_params(labelleft=i % across == 0)
    figure.supxlabel("p(Yes) before", fontsize=7)
    figure.supylabel("p(Yes) after", fontsize=7)
    handles, texts = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, texts, loc="outside upper left", ncols=1 if stacked else 3, frameon=False, fontsize=6.5)
    return figure
