"""Turn the responses that other tools logged into a study and its response rows: what all importers of logs share.

An importer reads its files and yields a `Logged` for every response. They become a study of one of two protocols:

- `choice`, where the log shows the options of a question. Variants are `WORDING/ORDER`. Letters in the question's own
  order are canonical: that in which its first response shows the choices. Other orders of the same words are numbered.
- `agreement` with the labels `right` and `wrong`, where only the outcome is known, or wanted. The right answer is
  always `right`, so that agreement is how right a model is. A probability of `right` is the share of the right option
  among all options, as where a tool makes a model choose one of them.

A wording has one name for all items (`5-shot`), which is its `template`. Responses are kept on disk while they are
read; only the stimuli are in memory, once each.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Self

import pyarrow as pa

from inference.importers.logged_stimuli import Stimuli, columns
from inference.runfolder.parquet import responses_table

BATCH = 20_000  # responses in memory at a time


@dataclass(frozen=True, slots=True)
class Logged:
    """One response as a log has it.

    Attributes
    ----------
    where
        File and row, for messages.
    wording
        Name of the wording, for all items the same: `0-shot`, `p1`.
    text
        What was asked.
    choices
        The words of the choices, in the order shown; their labels are A, B ... Empty: only the outcome is known.
    gold
        Place of the right choice.
    logprob
        Of each choice as shown, a lower bound: of one way to write it. Not given where there is another measure.
    one_distribution
        Whether these are probabilities of continuations of one text, so that they add up to 1 at most.
    answer
        Place of the choice that was taken; without choices 0 (right) or 1 (wrong); None: no valid answer.
    count, invalid
        Of several samples: how often each choice, or right and wrong, was the answer; how many had no valid answer.
    output
        Raw texts.
    error
        Why there is no response.
    attributes
        Of the stimulus: `subset` and others.
    """

    where: str
    model: str
    condition: str
    item: str
    wording: str
    text: str
    choices: tuple[str, ...] = ()
    gold: int | None = None
    logprob: tuple[float, ...] | None = None
    one_distribution: bool = True
    answer: int | None = None
    count: tuple[int, ...] | None = None
    invalid: int | None = None
    output: tuple[str, ...] | None = None
    error: str | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)


class Log:
    """The study of logged responses, and the rows of them; use it as a context manager.

    Parameters
    ----------
    responses
        In any order; they are read once.
    outcomes
        Whether only the outcome, right or wrong, is wanted of questions with choices, too.
    language
        Of the texts.

    Attributes
    ----------
    study
        The study.

    Raises
    ------
    InputError
        A response is there twice, contradicts another one of its wording, or is of the other protocol.
    """

    def __init__(
        self, responses: Iterable[Logged], name: str, *, outcomes: bool, language: str | None, source: str
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="waver-import-")
        try:
            self._stimuli = Stimuli(outcomes, language)
            self._read(responses)
            self.study = self._stimuli.study(name, source)
        except BaseException:
            self._folder.cleanup()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._folder.cleanup()

    @property
    def differing(self) -> int:
        """Count the wordings whose text differs between responses; the first one stands."""
        return len(self._stimuli.differing)

    def tables(self) -> Iterator[pa.Table]:
        """Go through the rows, a table at a time."""
        with pa.memory_map(str(self._file)) as file, pa.ipc.open_file(file) as kept:
            for number in range(kept.num_record_batches):
                yield pa.Table.from_batches([kept.get_batch(number)])

    @property
    def _file(self) -> Path:
        return Path(self._folder.name) / "responses.arrow"

    def _read(self, responses: Iterable[Logged]) -> None:
        left, writer = iter(responses), None
        packed = pa.ipc.IpcWriteOptions(compression="lz4")
        try:
            while some := list(islice(left, BATCH)):
                table = responses_table(columns([self._stimuli.row(one) for one in some]), "")
                writer = writer or pa.ipc.new_file(self._file, table.schema, options=packed)
                writer.write_table(table.combine_chunks())
        finally:
            if writer is not None:
                writer.close()
