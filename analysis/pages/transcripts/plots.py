"""Draw the figures of the page; each function takes the frames of its namesake in `captions`."""

from __future__ import annotations

import pandas as pd

from analysis.pages.transcripts.narrative import AXES
from analysis.reporting.drawing import marks, plotting
from analysis.reporting.drawing.plotting import FAINT, INK, PAGE, Drawing, Looks, run_in_report_style
from analysis.reporting.words import labels

DENSE = 2_000  # dots from which on they are drawn as pixels
LONGEST_ID = 28  # characters of an item's id


@run_in_report_style
def draw_transcript_items(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw a dot per item in their order, the examples dark and named.

    Parameters
    ----------
    frame
        Table `transcript_items` of one study, items with a value.
    width, looks
        In inches; not used: the dots are means over models.

    Returns
    -------
    Drawing
        The figure.
    """
    figure = Drawing(figsize=(width, 2.4), layout="constrained")
    axes = figure.add_subplot()
    places = range(1, len(frame) + 1)
    axes.plot(places, frame["transcript_value"], "o", color=FAINT, markersize=3, rasterized=len(frame) > DENSE)
    titles = "item " + frame["item"].astype(str)
    marks.set_hover_titles_of_marks(axes, places, frame["transcript_value"], titles, frame["transcript_value"])
    for place, row in zip(places, frame.to_dict("records"), strict=True):
        if row["shown"]:
            axes.plot(place, row["transcript_value"], "o", color=INK, markersize=5)
            last = place == len(frame) > 1  # all others are above and to its left, so its name goes below
            axes.annotate(
                plotting.replace_missing_glyphs(labels.shorten_middle(str(row["item"]), LONGEST_ID)),
                (place, row["transcript_value"]),
                xytext=(4, -5) if last else (5, 4), textcoords="offset points", fontsize=8,
                ha="right" if last else "left", va="top" if last else "bottom",
            )  # fmt: skip
    axes.set_ylim(-0.16, 1.14)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    edge = 0.02 * len(frame)
    axes.set_xlim(1 - edge - 0.5, len(frame) + edge + 0.5)
    axes.set_ylabel(AXES[frame["measure"].iloc[0]])
    axes.set_xlabel("Items, in their order")
    return figure
