"""Choose the rows that the figures of the page are drawn from."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.measures.thresholds import is_validity_below_half
from analysis.reporting.catalogue.frames import Frames
from analysis.reporting.words import labels
from analysis.runs.folder import UNIT


def compute_valid_shares(accuracy: pd.DataFrame) -> pd.DataFrame:
    """Return the share of valid answers of every unit over all its pairs of sentences: `valid`, and the unit's `name`.

    Names tell all units of the page apart: of some rows alone, a label would lack the study or condition.
    """
    weighted = accuracy.assign(given=accuracy["valid"] * accuracy["n"])
    units = weighted.groupby(list(UNIT), sort=False)[["given", "n"]].sum()
    valid = (units["given"] / units["n"]).rename("valid").reset_index()
    return valid.assign(name=labels.build_row_labels(valid))


def build_minimal_pairs_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield table `minimal_pairs` by study, with the column `silent`."""
    valid = compute_valid_shares(frames["negation_accuracy"])
    marked_pairs = frames["minimal_pairs"].merge(
        valid.assign(silent=is_validity_below_half(valid["valid"])), on=list(UNIT)
    )
    for _, part in marked_pairs.groupby("study", sort=False):
        yield (part,)
