"""Make the pictures of a figure from the tables of some runs."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from analysis.reporting import catalogue
from analysis.reporting.catalogue import orders, selection
from analysis.reporting.drawing import plotting
from analysis.reporting.words import format_quantity

if TYPE_CHECKING:
    import pandas as pd

    from analysis.reporting.catalogue.frames import Frames
    from analysis.reporting.drawing.plotting import Drawing


MOST_PICTURES = 6  # pictures of one figure on a page


@dataclass(frozen=True, slots=True)
class Picture:
    """Describe one picture: its caption, the name of its files, and how to draw it (option: `width` in inches)."""

    name: str
    caption: str
    draw: functools.partial[Drawing]


def build_pictures(figure_name: str, frames: Frames) -> list[Picture]:
    """Make the pictures of a figure: several where its tasks or groups do not fit on one picture, but at most
    `MOST_PICTURES`.

    Parameters
    ----------
    figure_name
        A figure of the catalogue.
    frames
        The tables that it is drawn from.

    Returns
    -------
    list of Picture
        Empty where the runs have no data for the figure. Several are numbered: "agreement-1", "agreement-2".
    """
    entry = catalogue.look_up_figure(figure_name)
    page = catalogue.find_page_name_of_entry(figure_name, "figures")
    figure = entry.plot_name or figure_name
    draw = catalogue.import_page_function(page, f"plots.draw_{figure}")
    caption = catalogue.import_page_function(page, f"captions.caption_{figure}")
    looks = plotting.assign_look_to_each_model(frames.runs.models, frames.runs.models_with_response_rows)
    info = frames.runs.info
    parts = [part for part in _list_frames_of_each_picture(page, entry, frames) if not part[0].empty]
    for part in parts:
        selection.attach_answer_pair_of_studies_to_frame(part[0], info)
    stem = entry.file_name or figure_name
    left_out_note = (
        f" Left out: {format_quantity(len(parts) - MOST_PICTURES, 'more picture')}; the table has all."
        if len(parts) > MOST_PICTURES
        else ""
    )
    return [
        Picture(
            stem if len(parts) == 1 else f"{stem}-{number}",
            _add_study_to_caption(caption(*part), part[0], info)
            + orders.explain_option_orders_shown_as_mean(info["conditions"], *part)
            + left_out_note * (number == MOST_PICTURES),
            functools.partial(draw, *part, looks=looks),
        )
        for number, part in enumerate(parts[:MOST_PICTURES], start=1)
    ]


def _add_study_to_caption(caption: str, frame: pd.DataFrame, info: Mapping[str, Any]) -> str:
    """Name the study of a picture, where the runs are of several, the picture is of one, and the caption is silent."""
    studies = list(frame["study"].unique()) if "study" in frame else []
    is_needed = len(studies) == 1 < len(info["studies"]) and f"“{studies[0]}”" not in caption
    return f"{caption} Study: {studies[0]}." if is_needed else caption


def _list_frames_of_each_picture(
    page: str, entry: catalogue.Figure, frames: Frames
) -> Iterable[tuple[pd.DataFrame, ...]]:
    """Return for every picture of a figure the tuple of frames that it is drawn from."""
    if "." not in entry.frames:
        return [tuple(frames.build_table_with_joined_option_orders(table) for table in entry.frames.split())]
    picture_frames: Any = catalogue.import_page_function(page, entry.frames)(frames)
    return picture_frames
