"""Write the rows of one run from time to time, count them, show how far it is, and stop cleanly on Ctrl-C."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Self

from ground import progress
from ground.errors import RunFailed, format_quantity
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
LOW_MASS = 0.5  # below it, the model would rather say something else than any of the options


class CallProgress:
    """Show how far a call is: a bar per model, with what is left of the whole call behind it.

    In a notebook a bar goes when it is full. Without a terminal there is none (`ground.progress`).

    Parameters
    ----------
    rows
        For every model, in the order in which they are asked: run folder of a study -> its rows, and how many of them
        are there already, as far as this is known before the model is loaded.
    """

    def __init__(self, rows: Sequence[Mapping[Path, tuple[int, int]]]) -> None:
        self._rows = [dict(rows_by_study) for rows_by_study in rows]
        self._bar: Any = None
        self._place, self._title = 0, ""
        self._begun, self._asked_count = 0.0, 0

    @contextmanager
    def show_bar_of_model(self, place: int, title: str) -> Iterator[None]:
        """Keep the bar of one of the models for the block; it is drawn as soon as the model is asked."""
        self._place, self._title = place, title
        try:
            yield
        finally:
            if self._bar is not None:
                self._bar.close()
            self._bar = None
            self._rows[place].clear()

    def add_study_to_progress_bar(self, study: Path, n_rows: int, n_saved: int) -> None:
        """Note how many rows a study of this model has, now that it is known, and draw the bar."""
        if not progress.can_show_progress_bars():
            return
        rows_by_study = self._rows[self._place]
        rows_by_study[study] = n_rows, n_saved
        total, saved = (sum(counts) for counts in zip(*rows_by_study.values(), strict=True))
        if self._bar is None:
            self._begun = self._begun or time.monotonic()
            self._bar = progress.import_progress_bar_class()(
                total=total,
                initial=saved,
                desc=self._title,
                unit="prompt",
                disable=False,
                leave=not progress.is_in_notebook(),
            )
        self._bar.total = max(total, self._bar.n)

    def advance_progress_bar_by_rows(self, n_rows: int) -> None:
        """Count rows that have come."""
        if self._bar is None:
            return
        self._asked_count += n_rows
        left_in_others = sum(total - saved for rows in self._rows[self._place + 1 :] for total, saved in rows.values())
        if len(self._rows) > 1:
            left = self._bar.total - self._bar.n - n_rows + left_in_others
            seconds = (time.monotonic() - self._begun) * left / max(self._asked_count, 1)
            self._bar.set_postfix_str(f"whole run: {left:,} left, {self._bar.format_interval(seconds)}", refresh=False)
        self._bar.update(n_rows)


def print_that_nothing_is_left_to_ask(name: str) -> None:
    """Say that a model or condition is done already; not in a notebook, where one line in the end counts all rows."""
    if not progress.is_in_notebook():
        progress.print_progress(f"{name}: nothing left to ask")


@dataclass(slots=True)
class Tally:
    """Rows asked and failed for one model and condition in this session; `rows`: those that there will be in all.

    `too_long`: those of the failed that do not fit into the model's context window, whenever they are asked.
    `left_out`: rows for which paths of tokens were not followed, `largest_left_out`: what they may have at most
    (`Score.left_out`). `low_mass`: responses that have less than `LOW_MASS` on the options, also by the upper bound
    where there is one; `largest_low_mass`: what these have at most. `study`: the name of the study.
    """

    model: str
    condition: str
    rows: int = 0
    asked_count: int = 0
    failed: int = 0
    too_long: int = 0
    first_error: str | None = None
    left_out: int = 0
    largest_left_out: float = 0.0
    low_mass: int = 0
    largest_low_mass: float = 0.0
    study: str = ""

    def add(self, variant: Variant, response: Response, row: Mapping[str, Any]) -> None:
        """Count one row.

        Parameters
        ----------
        variant
            What was asked; named with the first error.
        response
            What came back.
        row
            The row that was made of it; of its columns, `mass` and `mass_upper` are read where it has them.
        """
        self.asked_count += 1
        if share := getattr(response, "left_out", 0.0):
            self.left_out += 1
            self.largest_left_out = max(self.largest_left_out, share)
        if response.error is not None:
            self.failed += 1
            self.too_long += PAST_WINDOW in response.error
            self.first_error = self.first_error or f"{variant.item}/{variant.variant}: {response.error}"

        mass = row.get("mass") if row.get("mass_upper") is None else row["mass_upper"]
        if mass is not None and mass < LOW_MASS:
            self.low_mass += 1
            self.largest_low_mass = max(self.largest_low_mass, mass)

    def format_model_and_condition(self) -> str:
        """Name model and condition, as lines about them begin."""
        return f"{self.model} {self.condition}"


def copy_fields_with_pruned_paths_as_shortcut(
    info: Mapping[str, Any], recorded_fields: Mapping[str, Any], tallies: Iterable[Tally]
) -> dict[str, Any]:
    """Add to `shortcuts` of a model for how many responses paths were not followed, and what these may have at most.

    Parameters
    ----------
    info
        Fields of the model in run.json.
    recorded_fields
        Those recorded by earlier sessions, whose responses count, too.
    tallies
        Of this session.

    Returns
    -------
    The fields; the same as `info` where all paths of all responses were followed.

    Examples
    --------
    >>> first = copy_fields_with_pruned_paths_as_shortcut({"shortcuts": ["head"]}, {},
    ...                                        [Tally("m", "c", left_out=3, largest_left_out=1e-12)])
    >>> first["shortcuts"]
    ['head', {'name': 'paths left out', 'responses': 3, 'largest_share': 1e-12}]
    >>> tally = Tally("m", "c", left_out=2, largest_left_out=4e-10)
    >>> again = copy_fields_with_pruned_paths_as_shortcut({}, first, [tally])
    >>> again["shortcuts"]
    [{'name': 'paths left out', 'responses': 5, 'largest_share': 4e-10}]
    """
    earlier = next((entry for entry in recorded_fields.get("shortcuts", ()) if isinstance(entry, dict)), {})
    responses, largest = earlier.get("responses", 0), earlier.get("largest_share", 0.0)
    for tally in tallies:
        responses, largest = responses + tally.left_out, max(largest, tally.largest_left_out)
    if not responses:
        return dict(info)
    entry = {"name": "paths left out", "responses": responses, "largest_share": largest}
    return {**info, "shortcuts": [*info.get("shortcuts", ()), entry]}


def print_prompt_and_failure_counts(name: str, tallies: Sequence[Tally], seconds: float) -> None:
    """Print in a line how many prompts were asked, unless a bar has shown it; and the failures in another.

    Parameters
    ----------
    name
        What the tallies are about: a model, and its study where there are several.
    tallies
        Of its conditions.
    seconds
        How long it took.
    """
    asked_count, failed, too_long = (
        sum(getattr(tally, count) for tally in tallies) for count in ("asked_count", "failed", "too_long")
    )
    if not asked_count:
        print_that_nothing_is_left_to_ask(name)
    elif progress.is_verbose() or not progress.can_show_progress_bars():
        progress.print_progress(f"{name}: {format_quantity(asked_count, 'prompt')} in {seconds:.1f} s")
    if failed:
        failing = [tally for tally in tallies if tally.failed]
        if len(failing) == 1:
            name, asked_count = failing[0].format_model_and_condition(), failing[0].asked_count
        again = "; the same command asks them again" if failed > too_long else ""
        progress.print_warning(
            f"{name}: {failed:,} of {format_quantity(asked_count, 'prompt')} got no response "
            f"(first {failing[0].first_error}){again}"
        )


def print_bill(model: str, bill: Mapping[str, Any]) -> None:
    """Print what asking a model has cost in this session, if it cost anything.

    Parameters
    ----------
    model
        Its id.
    bill
        As `Engine.close` returns it; its field `shown` is printed, where it has one.
    """
    if bill and (shown := bill.get("shown")):  # engines of other packages may have none
        progress.print_progress(f"{model}: {shown}")


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
        self._rewrite_newest_part_with_new_rows()

    def save_rows_if_due(self) -> None:
        """Write the new rows if it is time; begin another part if the newest is long enough, the next one longer."""
        now = time.monotonic()
        full = now - self._begun >= self._interval or len(self.rows) >= FLUSH_ROWS
        if full or now - self._last >= self._every:
            self._rewrite_newest_part_with_new_rows()
        if full:
            self.rows, self._part, self._saved = [], None, 0
            self._interval = min(2 * self._interval, LAST_FLUSH)
            self._begun = self._last

    def _rewrite_newest_part_with_new_rows(self) -> None:
        """Write the newest part again with the rows that have come since."""
        with self._stop.hold_second_signal_in_block():
            try:
                if len(self.rows) > self._saved:
                    self._part = self._run.responses.append_rows_as_part(self.rows, self._part)
            except OSError as error:
                lost, self.rows = len(self.rows) - self._saved, self.rows[: self._saved]
                raise RunFailed(
                    f"{self._run.path}: {format_quantity(lost, 'row')} could not be written ({error}); "
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
                number: signal.signal(number, self._handle_stop_signal) for number in (signal.SIGINT, signal.SIGTERM)
            }
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    @contextmanager
    def end_block_at_first_signal(self, next_step: str) -> Iterator[None]:
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
    def hold_second_signal_in_block(self) -> Iterator[None]:
        """Let a second signal wait for the end of the block, which writes rows."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
        if self._again:
            raise KeyboardInterrupt

    def _handle_stop_signal(self, number: int, frame: FrameType | None) -> None:
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
