"""Choose the rows that the figures of the page are drawn from."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.pages.scoring.influence import LEAST, answered, points
from analysis.pages.scoring.items import chosen, headline
from analysis.pages.scoring.plots import PANELS
from analysis.pages.scoring.printed import PRINTED, printed_differences
from analysis.reporting import labels
from analysis.reporting.frames import Frames
from analysis.reporting.printed import OURS
from analysis.reporting.thresholds import silent
from analysis.runs.scores import GOLD, read


def setting_of(frames: Frames) -> str:
    """Return the range, temperature and method that the figures are about (`items.headline`)."""
    return headline(read(frames.runs), frames.options.get("setting", ""))


def score_violins(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield table `score_items`, some groups of items at a time."""
    yield from groups(_marked(frames["score_items"], frames["scores"]))


def score_temperatures(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the rows of table `scores` with the page's range and method, where several temperatures were asked."""
    span, _, method = setting_of(frames).rsplit("/", 2)
    scores = frames["scores"]
    rows = scores[(scores["range"] == span) & (scores["method"] == method) & (scores["model"] != GOLD)]
    if rows["temperature"].nunique() > 1:
        # A line goes over all temperatures: it has the mark where the model answers at none of them.
        mean = rows.groupby(["study", "group", "model", "form"], sort=False, dropna=False)["validity"].transform("max")
        yield from groups(rows.assign(silent=silent(mean)))


def score_methods(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield table `score_methods`, with a model marked that answers in both ways in none of its rows."""
    table = frames["score_methods"]
    if len(table):
        both = table[["validity_sampled", "validity_exact"]].min(axis=1)
        best = both.groupby([table["study"], table["model"]], sort=False).transform("max")
        yield (table.assign(silent=silent(best)),)


def _marked(items: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Add the column `silent`: whether the model gives numbers at least half of the time, over the groups of items."""
    known = scores[scores["model"] != GOLD].groupby(["study", "model", "condition"], sort=False)["validity"].mean()
    return labels.mark_silent(items, known.reset_index())


def influence(frames: Frames) -> Iterator[tuple[pd.DataFrame, ...]]:
    """Yield the correlation of kurtosis and tau with each omission, and its points, in the page's setting."""
    setting, table = setting_of(frames), frames["score_influence"]
    known = answered(chosen(frames["score_differences"], setting))
    yield from _influence(chosen(table[table["source"] == OURS], setting), known)


def influence_printed(frames: Frames) -> Iterator[tuple[pd.DataFrame, ...]]:
    """Yield the same for the paper's points."""
    table = frames["score_influence"]
    yield from _influence(table[table["source"] == PRINTED], printed_differences())


def _influence(table: pd.DataFrame, differences: pd.DataFrame) -> Iterator[tuple[pd.DataFrame, ...]]:
    known = table[table["omitted"] == "nothing"]
    if len(known) and known["n"].iloc[0] >= LEAST:
        yield table, points(differences)


def groups(frame: pd.DataFrame, size: int = PANELS) -> Iterator[tuple[pd.DataFrame]]:
    """Split a frame into parts of at most `size` groups of items, in their order.

    Parameters
    ----------
    frame
        Rows with study and group.
    size
        Most groups in a part.

    Yields
    ------
    tuple
        The rows of one part.
    """
    names = frame[["study", "group"]].drop_duplicates()
    for start in range(0, len(names), size):
        yield (frame.merge(names.iloc[start : start + size], on=["study", "group"]),)
