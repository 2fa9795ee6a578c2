"""Make a study of logged responses: they are kept on disk while they are read, and each stimulus once in memory."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from ground.errors import format_quantity, join_first_names
from inference.importers.shared import saving
from inference.importers.shared.logged_responses import LoggedResponse
from inference.importers.shared.logged_scores import LoggedMeasures
from inference.importers.shared.logged_stimuli import LoggedStimuli, build_response_columns_of_logged_rows
from inference.runfolder.parquet import build_responses_table

BATCH = 20_000  # responses in memory at a time


class _LoggedStudy:
    """The study of responses, which are read once, in any order, and the rows of them; a context manager.

    A response that is there twice, contradicts another one of its wording, or is of another protocol is refused.
    """

    def __init__(
        self, responses: Iterable[LoggedResponse], name: str, *, outcomes_only: bool, language: str | None, source: str
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="waver-import-")
        try:
            self._stimuli = LoggedStimuli(outcomes_only, language)
            self._write_responses(responses)
            self.study = self._stimuli.build_logged_study(name, source)
        except BaseException:
            self._folder.cleanup()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._folder.cleanup()

    @property
    def notes(self) -> list[str]:
        """Say which wordings there are, and how many are not one text."""
        wordings = list(dict.fromkeys(variant.attributes["template"] for variant in self.study.variants))
        notes = [f"wordings: {join_first_names(wordings, 8)}"]
        if differing := len(self._stimuli.differing_numbers):
            notes.append(
                f"{format_quantity(differing, 'prompt')} differ{'s' if differing == 1 else ''} between responses (chat "
                "templates or examples do); the first stands"
            )
        return notes

    def read_response_tables(self) -> Iterator[pa.Table]:
        """Go through the rows, a table at a time."""
        with pa.memory_map(str(self._responses_file)) as file, pa.ipc.open_file(file) as reader:
            for number in range(reader.num_record_batches):
                yield pa.Table.from_batches([reader.get_batch(number)])

    @property
    def _responses_file(self) -> Path:
        """Return the temporary file of the rows."""
        return Path(self._folder.name) / "responses.arrow"

    def _write_responses(self, responses: Iterable[LoggedResponse]) -> None:
        """Write the rows of all responses into a temporary file, some at a time."""
        remaining, writer = iter(responses), None
        write_options = pa.ipc.IpcWriteOptions(compression="lz4")
        try:
            while batch := list(islice(remaining, BATCH)):
                table = build_responses_table(
                    build_response_columns_of_logged_rows(
                        [self._stimuli.build_response_row_and_add_stimulus(response) for response in batch]
                    ),
                    "",
                )
                writer = writer or pa.ipc.new_file(self._responses_file, table.schema, options=write_options)
                writer.write_table(table.combine_chunks())
        finally:
            if writer is not None:
                writer.close()


def save_study_and_logged_responses(
    args: argparse.Namespace,
    files: Sequence[str],
    responses: Iterable[LoggedResponse],
    conditions: dict[str, dict[str, Any]],
    imported: Mapping[str, str],
    models: Mapping[str, Mapping[str, Any]] | None = None,
    measures: LoggedMeasures | None = None,
) -> list[str]:
    """Make the study of logged responses, and write both into the run folder of a call.

    Parameters
    ----------
    args
        Options of the importer, with those that all importers share; `right_or_wrong` and `language` may be missing.
    files
        What was read, as the call named it.
    responses
        In any order; they are read once.
    conditions
        condition name -> fields, complete once `responses` have been gone through.
    imported, models
        As in `saving.save_imported_study_and_responses`.
    measures
        Of responses with scores, filled while these are read; they complete the conditions.

    Returns
    -------
    list of str
        What was written, and what is to be known of it, for the user.

    Raises
    ------
    InputError
        A response is there twice, contradicts another one of its wording, or is of another protocol; and as for
        `saving.save_imported_study_and_responses` and `LoggedMeasures.filter_responses_and_complete_conditions`.
    """
    name = saving.name_imported_study_by_option_or_folder(args)
    source = saving.describe_source_by_first_file_and_count(files)
    outcomes_only, language = getattr(args, "right_or_wrong", False), getattr(args, "language", None)
    if measures is not None:
        responses = measures.filter_responses_and_complete_conditions(responses, conditions)
    with _LoggedStudy(responses, name, outcomes_only=outcomes_only, language=language, source=source) as log:
        lines = saving.save_imported_study_and_responses(
            args.out,
            log.study,
            log.read_response_tables,
            conditions,
            descriptions=args.models,
            imported=imported,
            command=args.call,
            models=models,
        )
        return [*lines, *log.notes, *([] if measures is None else measures.describe_score_count_and_left_out())]
