"""Compute the tables of some runs, each table once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from analysis.reporting import tables

if TYPE_CHECKING:
    import pandas as pd

    from analysis.runs import Runs


class Frames:
    """Return the tables of some runs by name: computed at the first request, then kept.

    Parameters
    ----------
    runs
        From `analysis.runs.open`.
    options
        Options of the tables, such as `resamples` or `thresholds`; each table takes those that it has.
    computed
        Called with the name and the frame of every table when it has been computed.
    """

    def __init__(
        self,
        runs: Runs,
        options: Mapping[str, Any],
        computed: Callable[[str, pd.DataFrame], None] = lambda name, frame: None,
    ) -> None:
        self.runs = runs
        self.options = options
        self._computed = computed
        self._frames: dict[str, pd.DataFrame] = {}

    def __getitem__(self, name: str) -> pd.DataFrame:
        if name not in self._frames:
            self._frames[name] = tables.build(name, self.runs, **self.options)
            self._computed(name, self._frames[name])
        return self._frames[name]
