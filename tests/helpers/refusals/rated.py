"""Wrong run folders of protocol `scale`, and wrong options of the tables about them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from helpers.refusals import Case
from helpers.scale_runs import draw_answers, write_scale


def rated(variant: str = "original", **changes: Any) -> Callable[[Path], None]:
    """A run folder `run` whose first item has these attributes in one wording; with key in all of them."""

    def into(folder: Path) -> None:
        rows = draw_answers(["m"], items=2, wordings=2)
        is_changed = (rows["item"] == "care-00") & ((rows["variant"] == variant) | ("key" in changes))
        for name, value in changes.items():
            rows.loc[is_changed, name] = value
        write_scale(folder / "run", rows)

    return into


SCORES = "analysis table run scales_scores"
CASES = [
    Case("a stored key that is none", SCORES, ("stimuli.parquet", "'care-00'", "key", "'2'", "1, or -1"), rated(key=2)),
    Case("wordings of an item in two scales", SCORES, ("stimuli.parquet", "'care-00'", "wordings differ in scale"),
         rated(scale="other")),
    Case("examples of no item", "analysis table run scales_examples -p examples=0", ("examples = 0", "from 1 on"),
         rated()),
    Case("draws below none of rating scales", "analysis table run scales_moves -p resamples=-1", ("resamples = -1",),
         rated()),
]  # fmt: skip
