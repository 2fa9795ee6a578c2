"""What one call that asks models needs beside asking: writing by time, counting, stopping in good order."""

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
    """What came of one model under one condition in this session."""

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
        """Failures always; the rest where no progress bar showed it."""
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
    """What asking a model has cost in this session, where it cost anything."""
    if bill:
        print(f"{model}: {bill['shown']}", file=sys.stderr)


class Writer:
    """Gathers rows and appends them to the run at batch boundaries, by time; the rest when the block is left."""

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
        """Write if the interval is over, and lengthen it."""
        if time.monotonic() - self._last >= self._interval or len(self.rows) >= FLUSH_ROWS:
            self._flush()
            self._interval = min(2 * self._interval, LAST_FLUSH)

    def _flush(self) -> None:
        # Emptied first: were the write cut short just after the part appeared, a second flush would write it twice.
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
    """Lets Ctrl-C and SIGTERM (a cluster's time limit) end a run between two batches; a second one ends it at once."""

    def __init__(self) -> None:
        self.requested = False
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():  # elsewhere Python takes no signals
            self._previous = {number: signal.signal(number, self._note) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
        # Not print: the signal may have come in the middle of one.
        os.write(STANDARD_ERROR, b"\nstopping after the batch in hand (once more: at once)\n")
