"""Make the pictures of a figure from the tables of some runs."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from analysis.reporting import catalogue, choice, orders, plotting
from analysis.reporting.words import count

if TYPE_CHECKING:
    import pandas as pd

    from analysis.reporting.frames import Frames
    from analysis.reporting.plotting import Drawing


MOST = 6  # pictures of one figure on a page


@dataclass(frozen=True, slots=True)
class Picture:
    """Describe one picture: its caption, the name of its files, and how to draw it (option: `width` in inches)."""

    name: str
    caption: str
    draw: functools.partial[Drawing]


def pictures(name: str, frames: Frames) -> list[Picture]:
    """Make the pictures of a figure: several where its tasks or groups do not fit on one picture, but at most `MOST`.

    Parameters
    ----------
    name
        A figure of the catalogue.
    frames
        The tables that it is drawn from.

    Returns
    -------
    list of Picture
        Empty where the runs have no data for the figure. Several are numbered: "agreement-1", "agreement-2".
    """
    entry = catalogue.figure(name)
    page = catalogue.page_of(name, "figures")
    function = entry.draw or name
    draw, caption = (catalogue.function(page, f"{module}.{function}") for module in ("plots", "captions"))
    looks, info = plotting.looks(frames.runs.models), frames.runs.info
    parts = [part for part in _parts(page, entry, frames) if not choice.mark(part[0], info).empty]
    stem = entry.file or name
    left = f" Left out: {count(len(parts) - MOST, 'more picture')}; the table has all." if len(parts) > MOST else ""
    return [
        Picture(
            stem if len(parts) == 1 else f"{stem}-{number}",
            caption(*part) + _study(part[0], info) + orders.caption(*part) + left,
            functools.partial(draw, *part, looks=looks),
        )
        for number, part in enumerate(parts[:MOST], start=1)
    ]


def _study(frame: pd.DataFrame, info: Mapping[str, Any]) -> str:
    """Name the study of a picture, where the runs are of several and the picture is of one."""
    studies = list(frame["study"].unique()) if "study" in frame else []
    return f" Study: {studies[0]}." if len(studies) == 1 < len(info["studies"]) else ""


def _parts(page: str, entry: catalogue.Figure, frames: Frames) -> Iterable[tuple[pd.DataFrame, ...]]:
    if "." not in entry.data:
        return [tuple(frames.joined(table) for table in entry.data.split())]
    found: Any = catalogue.function(page, entry.data)(frames)
    return found
