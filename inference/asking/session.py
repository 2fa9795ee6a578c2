"""Write the rows of one run from time to time, count them, and stop cleanly on Ctrl-C."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Any, Self

from inference.errors import RunFailed
from inference.runfolder.store import Run
from inference.stimuli.study import Variant

if TYPE_CHECKING:
    from inference.asking.rounds import Response

# Rows go to disk soon after the start (a mistake shows, a kill costs little), then less and less often.
FIRST_FLUSH, LAST_FLUSH, FLUSH_ROWS = 1.0, 15.0, 20_000  # seconds, seconds, rows
STANDARD_ERROR = 2  # its file descriptor


@dataclass(slots=True)
class Tally:
    """Rows asked and failed for one model and condition in this session."""

    model: str
    condition: str
    asked: int = 0
    failed: int = 0
    first_error: str | None = None

    def add(self, variant: Variant, response: Response) -> None:
        """Count one row."""
        self.asked += 1
        if response.error is not None:
            self.failed += 1
            self.first_error = self.first_error or f"{variant.item}/{variant.variant}: {response.error}"

    def report(self, seconds: float) -> None:
        """Print the failures; print the rest only if no progress bar has shown it."""
        name = f"{self.model} {self.condition}"
        if not self.asked:
            print(f"{name}: nothing left to ask", file=sys.stderr)
        elif not sys.stderr.isatty():
            print(f"{name}: {self.asked:,} prompts in {seconds:.1f} s", file=sys.stderr)
        if self.failed:
            print(
                f"{name}: {self.failed:,} of {self.asked:,} prompts got no response (first {self.first_error}); "
                "the same command asks them again",
                file=sys.stderr,
            )


def report_bill(model: str, bill: Mapping[str, Any]) -> None:
    """Print what asking a model has cost in this session, if it cost anything."""
    if bill:
        print(f"{model}: {bill['shown']}", file=sys.stderr)


class Writer:
    """Collect rows and append them to the run between batches, from time to time; the rest at the end of the block."""

    def __init__(self, run: Run) -> None:
        self.rows: list[dict[str, Any]] = []
        self._run = run
        self._interval = FIRST_FLUSH
        self._last = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._flush()

    def flush_if_due(self) -> None:
        """Write if the interval is over, and make the next one longer."""
        if time.monotonic() - self._last >= self._interval or len(self.rows) >= FLUSH_ROWS:
            self._flush()
            self._interval = min(2 * self._interval, LAST_FLUSH)

    def _flush(self) -> None:
        # Emptied before writing: if the write were interrupted just after the part appeared, a second flush would
        # write the rows twice.
        rows, self.rows = self.rows, []
        try:
            self._run.append(rows)
        except OSError as error:
            raise RunFailed(
                f"{self._run.path}: {len(rows):,} rows could not be written ({error}); "
                "what was saved before stays: make room, then give the same command again"
            ) from error
        self._last = time.monotonic()


class Stop:
    """Let Ctrl-C and SIGTERM (a cluster's time limit) end a run between two batches; a second one ends it at once."""

    def __init__(self) -> None:
        self.requested = False
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():  # Python delivers signals to this thread only
            self._previous = {number: signal.signal(number, self._note) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
        # Not `print`: the signal may arrive in the middle of one.
        os.write(STANDARD_ERROR, b"\nstopping after this batch (once more: at once)\n")
