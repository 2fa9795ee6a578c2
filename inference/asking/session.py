"""Write the rows of one run from time to time, count them, show how far it is, and stop cleanly on Ctrl-C."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Self

from ground.errors import RunFailed
from inference.engines.contract import PAST_WINDOW
from inference.runfolder.store import Run
from inference.stimuli.study import Variant

if TYPE_CHECKING:
    from inference.asking.rounds import Response

# Rows go to disk soon (a mistake shows, a kill costs little). Many small parts would be slow to read, so the newest
# part is written again with the rows that have come since, until it is long enough: parts hold the rows of more and
# more seconds.
SAVED_EVERY, PAID_EVERY = 2.0, 0.2  # seconds; replies of a server may have been paid for
FIRST_FLUSH, LAST_FLUSH, FLUSH_ROWS = 1.0, 15.0, 20_000  # seconds, seconds, rows of a part
STANDARD_ERROR = 2  # its file descriptor


def is_in_notebook() -> bool:
    """Tell whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


def can_show_bars() -> bool:
    """Tell whether a bar can be drawn: in a notebook or a terminal, but not in a file."""
    return is_in_notebook() or sys.stderr.isatty()


def import_bar_class() -> Any:
    """Import tqdm's bar for this place without its warning: a notebook without ipywidgets gets a bar of characters.

    Transformers imports it, too: whoever comes first prevents the warning.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from tqdm.auto import tqdm
    return tqdm


def open_bar(total: int, asked_before: int, title: str) -> Any:
    """Open a progress bar, which closes itself at the end of a `with` block.

    Parameters
    ----------
    total
        Number of prompts.
    asked_before
        How many of them need not be asked any more.
    title
        What is asked.

    Returns
    -------
    The bar, tqdm's for the place where it is drawn. In a notebook it goes when it is full, because there is one for
    every model and condition.
    """
    return import_bar_class()(
        total=total,
        initial=asked_before,
        desc=title,
        unit="prompt",
        disable=not can_show_bars(),
        leave=not is_in_notebook(),
    )


def print_nothing_left(name: str) -> None:
    """Say that a model or condition is done already; not in a notebook, where one line in the end counts all rows."""
    if not is_in_notebook():
        print(f"{name}: nothing left to ask", file=sys.stderr)


@dataclass(slots=True)
class Tally:
    """Rows asked and failed for one model and condition in this session; `rows`: those that there will be in all.

    `too_long`: those of the failed that do not fit into the model's context window, whenever they are asked.
    """

    model: str
    condition: str
    rows: int = 0
    asked_count: int = 0
    failed: int = 0
    too_long: int = 0
    first_error: str | None = None

    def add(self, variant: Variant, response: Response) -> None:
        """Count one row.

        Parameters
        ----------
        variant
            What was asked; named with the first error.
        response
            What came back.
        """
        self.asked_count += 1
        if response.error is not None:
            self.failed += 1
            self.too_long += PAST_WINDOW in response.error
            self.first_error = self.first_error or f"{variant.item}/{variant.variant}: {response.error}"

    def print_counts(self, seconds: float) -> None:
        """Print the failures; print the rest only if no progress bar has shown it."""
        name = f"{self.model} {self.condition}"
        if not self.asked_count:
            print_nothing_left(name)
        elif not can_show_bars():
            print(f"{name}: {self.asked_count:,} prompts in {seconds:.1f} s", file=sys.stderr)
        if self.failed:
            again = "; the same command asks them again" if self.failed > self.too_long else ""
            print(
                f"{name}: {self.failed:,} of {self.asked_count:,} prompts got no response (first "
                f"{self.first_error}){again}",
                file=sys.stderr,
            )


def print_bill(model: str, bill: Mapping[str, Any]) -> None:
    """Print what asking a model has cost in this session, if it cost anything.

    Parameters
    ----------
    model
        Its id.
    bill
        As `Engine.close` returns it; its field `shown` is printed.
    """
    if bill:
        print(f"{model}: {bill['shown']}", file=sys.stderr)


class Writer:
    """Collect rows and write them into the run, from time to time; the rest at the end of the block.

    Attributes
    ----------
    rows
        Those of the newest part, the first `_saved` of which are on disk already.
    """

    def __init__(self, run: Run, stop: Stop, every: float = SAVED_EVERY) -> None:
        self.rows: list[dict[str, Any]] = []
        self._run, self._stop, self._every = run, stop, every
        self._part: Path | None = None
        self._saved = 0
        self._interval = FIRST_FLUSH
        self._begun = self._last = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._save_rows()

    def save_if_due(self) -> None:
        """Write the new rows if it is time; begin another part if the newest is long enough, the next one longer."""
        now = time.monotonic()
        full = now - self._begun >= self._interval or len(self.rows) >= FLUSH_ROWS
        if full or now - self._last >= self._every:
            self._save_rows()
        if full:
            self.rows, self._part, self._saved = [], None, 0
            self._interval = min(2 * self._interval, LAST_FLUSH)
            self._begun = self._last

    def _save_rows(self) -> None:
        """Write the newest part again with the rows that have come since."""
        with self._stop.hold_signals():
            try:
                if len(self.rows) > self._saved:
                    self._part = self._run.responses.append(self.rows, self._part)
            except OSError as error:
                lost, self.rows = len(self.rows) - self._saved, self.rows[: self._saved]
                raise RunFailed(
                    f"{self._run.path}: {lost:,} rows could not be written ({error}); "
                    "what was saved before stays: make room, then give the same command again"
                ) from error
            self._saved = len(self.rows)
        self._last = time.monotonic()


class Stop:
    """Let Ctrl-C and SIGTERM (a cluster's time limit) end a run between two batches; a second one ends it at once."""

    def __init__(self) -> None:
        self.requested = False
        self._waits = True  # for the end of a batch
        self._held = self._again = False
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():  # Python delivers signals to this thread only
            self._previous = {
                number: signal.signal(number, self._note_signal) for number in (signal.SIGINT, signal.SIGTERM)
            }
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    @contextmanager
    def end_at_first_signal(self, next_step: str) -> Iterator[None]:
        """Let the first signal end the block: nothing is lost while a model loads or a server is tried.

        Raises
        ------
        RunFailed
            Stopped `next_step` what the block prepares.
        """
        self._waits = False
        try:
            yield
        except KeyboardInterrupt:
            raise RunFailed(f"stopped before {next_step}; give the same command again to go on") from None
        finally:
            self._waits = True

    @contextmanager
    def hold_signals(self) -> Iterator[None]:
        """Let a second signal wait for the end of the block, which writes rows."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
        if self._again:
            raise KeyboardInterrupt

    def _note_signal(self, number: int, frame: FrameType | None) -> None:
        """Note a first signal, and raise KeyboardInterrupt for a second one or where nothing can be lost."""
        if self._held:
            self._again = self.requested
        elif self.requested or not self._waits:
            self.requested = True
            raise KeyboardInterrupt
        if not self.requested:
            self.requested = True
            # Not `print`: the signal may arrive in the middle of one.
            os.write(STANDARD_ERROR, b"\nstopping: what is under way is finished and saved (once more: at once)\n")
