"""Choose the rows that the figures of the page are drawn from."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.measures.choices import ALL
from analysis.measures.thresholds import is_validity_below_half
from analysis.reporting.catalogue.frames import Frames
from analysis.reporting.words import labels

MOST = 16  # models and conditions that have room for a name beside their point
ARROWS = ["after", "before"]


def build_choice_map_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
    """Yield table `choice` by study, with labels, and which labels an arrow joins: a tuned model and its base."""
    changes = frames["choice_changes"]
    for study, part in _split_and_label_studies(frames["choice"].dropna(subset=["xparacon"])):
        rows = select_units_for_choice_map(part)
        names = rows.drop_duplicates(["model", "condition"]).set_index(["model", "condition"])["label"]
        tunings = changes[(changes["study"] == study) & (changes["change"] == "tuning")]
        sides = [tunings[[f"model_{side}", f"condition_{side}"]].itertuples(index=False, name=None) for side in ARROWS]
        pairs = dict.fromkeys(zip(*sides, strict=True))
        label_pairs = [tuple(names[unit] for unit in pair) for pair in pairs if set(pair) <= set(names.index)]
        yield rows, pd.DataFrame(label_pairs, columns=ARROWS)


def build_choice_xparacon_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield table `choice` by study, with labels."""
    for _, part in _split_and_label_studies(frames["choice"].dropna(subset=["xparacon"])):
        yield (part,)


def build_choice_positions_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the rows of table `positions` over all answers by study, with labels."""
    table = frames["positions"]
    for _, part in _split_and_label_studies(table[table["right"] == ALL]):
        yield (part,)


def build_training_losses_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield table `choice_history`, where there is any."""
    if len(frames["choice_history"]):
        yield (frames["choice_history"],)


def select_units_for_choice_map(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep what there is room for: all conditions of all models; else of each the one with most valid answers.

    Of more models than that, the least and the most accurate. `total`: how many models and conditions there are.
    """
    rows = rows.assign(total=rows["label"].nunique())
    if rows["label"].nunique() > MOST:
        best = rows.sort_values("validity", ascending=False, kind="stable").drop_duplicates("model")
        rows = rows[rows["label"].isin(best["label"])]
    order = rows.groupby("label", sort=False)["accuracy"].mean().sort_values(kind="stable").index
    return rows[rows["label"].isin(labels.keep_ends_of_long_sequence(list(order), MOST))]


def _split_and_label_studies(table: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the rows of each study, with the columns `silent` and `label`."""
    for study, part in table.groupby("study", sort=False):
        yield str(study), add_model_and_condition_labels(part.assign(silent=is_validity_below_half(part["validity"])))


def add_model_and_condition_labels(rows: pd.DataFrame) -> pd.DataFrame:
    """Add the column `label`: the model, and where it was asked under several conditions what they differ in."""
    return rows.assign(
        label=labels.build_row_labels(rows.assign(condition=drop_shared_parts_of_condition_names(rows["condition"])))
    )


def drop_shared_parts_of_condition_names(conditions: pd.Series) -> pd.Series:
    """Leave out of the names of conditions, such as plain/base/text, what is the same in all of them.

    >>> (drop_shared_parts_of_condition_names(pd.Series(["plain/base/text", "plain/aware/text"])).tolist(),
    ...  drop_shared_parts_of_condition_names(pd.Series(["a/b"])).tolist())
    (['base', 'aware'], ['a/b'])
    """
    parts = {name: name.split("/") for name in conditions.unique()}
    if len(parts) == 1 or len({len(part) for part in parts.values()}) > 1:
        return conditions
    varying_places = [place for place, values in enumerate(zip(*parts.values(), strict=True)) if len(set(values)) > 1]
    return conditions.map({name: "/".join(part[place] for place in varying_places) for name, part in parts.items()})
