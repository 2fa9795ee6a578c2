"""Choose the rows that the figures of the page are drawn from."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.measures.thresholds import is_validity_below_half
from analysis.reporting.catalogue.frames import Frames
from analysis.reporting.words import labels, verdicts
from analysis.runs.folder import UNIT


def compute_valid_shares(accuracy: pd.DataFrame) -> pd.DataFrame:
    """Return the share of valid answers of every unit over all its pairs of sentences: `valid`, and the unit's `name`.

    Names tell all units of the page apart: of some rows alone, a label would lack the study or condition.
    """
    weighted = accuracy.assign(given=accuracy["valid"] * accuracy["n"])
    units = weighted.groupby(list(UNIT), sort=False)[["given", "n"]].sum()
    valid = (units["given"] / units["n"]).rename("valid").reset_index()
    return valid.assign(name=labels.build_row_labels(valid))


def find_units_clearly_above_majority_baseline(accuracy: pd.DataFrame) -> pd.DataFrame:
    """Return the units that label the originals rightly more often than the majority baseline.

    By their intervals, widened for the number of units after Holm: of many that guess, some are above it by chance.
    """
    rows = accuracy[(accuracy["sentences"] == "original") & accuracy["accuracy_lower"].notna()]
    names = ["accuracy", "accuracy_lower", "accuracy_upper", "majority"]

    def list_units_clearly_above_majority_baseline(n_comparisons: int) -> list[str]:
        """Mark the units whose interval, widened for a number of units, lies above the majority baseline."""
        widen = verdicts.widen_share_interval_for_multiplicity
        return ["able" if widen(share, low, high, n_comparisons)[0] > majority else ""
                for share, low, high, majority in rows[names].itertuples(index=False, name=None)]  # fmt: skip

    is_able = [
        word != ""
        for word in verdicts.choose_words_by_stepwise_wider_intervals(
            list_units_clearly_above_majority_baseline, len(rows)
        )
    ]
    return rows.loc[is_able, list(UNIT)].reset_index(drop=True)


def build_minimal_pairs_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield table `minimal_pairs` by study, with the columns `silent` and `able`: above the majority baseline."""
    accuracy = frames["negation_accuracy"]
    valid = compute_valid_shares(accuracy)
    able_units = find_units_clearly_above_majority_baseline(accuracy).assign(able=True)
    valid = valid.assign(silent=is_validity_below_half(valid["valid"])).merge(able_units, "left", on=list(UNIT))
    marked_pairs = frames["minimal_pairs"].merge(valid.assign(able=valid["able"].notna()), on=list(UNIT))
    for _, part in marked_pairs.groupby("study", sort=False):
        yield (part,)
