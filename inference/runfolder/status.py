"""Show what is done and left in a run folder, or in every one directly below a root; may be used during a run."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ground import run_json
from ground.errors import InputError, format_quantity
from inference.runfolder.parquet import KEY, read_parquet, refuse_damaged_or_foreign_columns
from inference.stimuli.reading.files import read_toml


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of one study, model and condition.

    Attributes
    ----------
    condition
        None for a model that was never loaded, whose conditions are not known yet.
    expected
        Rows that it will have; None where that was not recorded (imported responses).
    done, failed
        Keys with a response, and keys with only an error, which are asked again.
    """

    study: str
    model: str
    condition: str | None
    expected: int | None
    done: int = 0
    failed: int = 0

    @property
    def rows_left(self) -> int | None:
        """Rows still to be asked; None where that is not known."""
        return None if self.expected is None else self.expected - self.done


@dataclass(frozen=True, slots=True)
class Status:
    """What is done and left in one run folder: its `run.json`, and the progress of its models and conditions."""

    folder: Path
    run_json_content: Mapping[str, Any]
    progress: list[Progress]


def read_statuses_of_runs(root: str | Path) -> list[Status]:
    """Read what is done and left in a run folder, or in all that are directly in a folder.

    Parameters
    ----------
    root
        The folder, or a run file, which names it.

    Returns
    -------
    An entry per run folder, by name.

    Raises
    ------
    InputError
        If there is no run folder, or the run file, `run.json` or a part is damaged.
    """
    path = Path(root)
    if path.suffix == ".toml" and not path.is_dir():
        path = Path(os.path.normpath(path.parent / require_out_of_run_file(path, read_toml(path))))
    statuses = []
    for folder in find_run_folders(path):
        run_json_content = run_json.read_run_json(folder)
        statuses.append(
            Status(folder, run_json_content, list_progress_of_models_and_conditions(folder, run_json_content))
        )
    return statuses


def describe_statuses_of_runs(statuses: Sequence[Status]) -> Iterator[str]:
    """Write lines that say what is done and left.

    Parameters
    ----------
    statuses
        From `read_statuses_of_runs`.

    Yields
    ------
    Lines of a table per run folder, then one about all.
    """
    for status in statuses:
        draws_of_models = [draws.values() for draws in status.run_json_content.get("drawn", {}).values()]
        drawn = describe_number_of_drawn_wordings(list(chain(*draws_of_models)))
        n_items, n_asked = _count_items_and_asked_ones(status.folder)
        yield (
            f"{status.folder}: {_describe_study_and_last_session(status.run_json_content)}"
            f"{f'; {n_asked:,} of {n_items:,} items asked' if n_asked < n_items else ''}"
            f"{f'; {drawn}' if drawn else ''}"
        )
        yield from _format_progress_as_table_lines(status.progress)
    begun = [progress for status in statuses for progress in status.progress if progress.condition is not None]
    rows_left_in_all = sum(progress.rows_left or 0 for progress in begun)
    unloaded = sum(len(status.progress) for status in statuses) - len(begun)
    imported = sum(progress.done for progress in begun if progress.expected is None)
    yield (
        f"in all: {format_quantity(sum(progress.done for progress in begun), 'row')} done, {rows_left_in_all:,} left"
        + (f", and {format_quantity(unloaded, 'model')} not begun" if unloaded else "")
        + (f" ({format_quantity(imported, 'was', 'were')} imported: nothing is asked)" if imported else "")
    )


def list_status_records(statuses: Sequence[Status]) -> list[dict[str, Any]]:
    """List what is done and left, for other programs.

    Parameters
    ----------
    statuses
        From `read_statuses_of_runs`.

    Returns
    -------
    A mapping per run folder: folder, study, protocol, items, items_asked, started, finished (of the last session; null:
    still running, or stopped), and conditions: per model and condition done, left and failed rows, and the wordings
    that were drawn. `condition` is null for a model that was not begun, `left` is null for such a model, and where rows
    were imported; `drawn` is null where all wordings are asked.
    """
    records = []
    for status in statuses:
        last_session = (status.run_json_content["sessions"] or [{}])[-1]
        n_items, n_asked = _count_items_and_asked_ones(status.folder)
        draws_by_model = status.run_json_content.get("drawn", {})
        records.append(
            {
                "folder": str(status.folder),
                "study": status.run_json_content["study"]["name"],
                "protocol": status.run_json_content["study"]["protocol"],
                "items": n_items,
                "items_asked": n_asked,
                "started": last_session.get("started"),
                "finished": last_session.get("finished"),
                "conditions": [
                    {
                        "model": progress.model,
                        "condition": progress.condition,
                        "done": progress.done,
                        "left": progress.rows_left,
                        "failed": progress.failed,
                        "drawn": draws_by_model.get(progress.model, {}).get(progress.condition),
                    }
                    for progress in status.progress
                ],
            }
        )
    return records


def find_run_folders(root: Path) -> list[Path]:
    """List the folder itself if it is a run folder, else the run folders directly in it, by name.

    Raises
    ------
    InputError
        There is none.
    """
    folders = [root] if (root / "run.json").is_file() else sorted(path.parent for path in root.glob("*/run.json"))
    if not folders:
        raise InputError(
            f"{root}: no run folder, and none in it (there is no run.json); give that of a run, or begin one"
        )
    return folders


def require_out_of_run_file(file: Path, content: Mapping[str, Any]) -> str:
    """Return the root of the run folders that a run file names, relative to the file.

    Parameters
    ----------
    file
        The run file, for the message.
    content
        What it holds.

    Raises
    ------
    InputError
        It names none.
    """
    out = content.get("out")
    if not isinstance(out, str) or not out.strip():
        raise InputError(f'{file}: say where the results go: out = "FOLDER"')
    return os.path.expanduser(out)


def list_progress_of_models_and_conditions(folder: Path, run_json_content: Mapping[str, Any]) -> list[Progress]:
    """Count the rows of every model and condition of one run folder, in the order of `run.json`.

    Parameters
    ----------
    folder
        The run folder.
    run_json_content
        Its `run.json`.

    Returns
    -------
    An entry per model and condition.
    """
    rows = _count_answered_and_failed_keys(folder)
    expected: dict[tuple[str, str | None], int | None] = {}
    for model, conditions in run_json_content.get("expected", {}).items():
        if not conditions and not any(asked_model == model for asked_model, _ in rows):
            expected[model, None] = None
        expected |= {(model, condition): number for condition, number in conditions.items()}
    expected = expected | {name: None for name in sorted(rows) if name not in expected}
    models = {
        model: place
        for place, model in enumerate([*run_json_content.get("expected", {}), *run_json_content["models"]][::-1])
    }
    names = sorted(expected, key=lambda name: -models.get(name[0], 0))
    study = run_json_content["study"]["name"]
    return [Progress(study, *name, expected[name], *rows.get(name, (0, 0))) for name in names]


def _count_answered_and_failed_keys(folder: Path) -> dict[tuple[str, str | None], tuple[int, int]]:
    """Count (keys with a response, keys with errors only) by model and condition."""
    paths = _list_response_parts(folder)
    for path in paths:
        refuse_damaged_or_foreign_columns(path, "responses")
    tables = [read_parquet(path, [*KEY, "error"]) for path in paths]
    if not tables:
        return {}
    table = pa.concat_tables(tables)
    answered = pc.is_null(table["error"]).cast(pa.int64())
    keys = table.select(KEY).append_column("done", answered).group_by(KEY).aggregate([("done", "max")])
    counts = keys.group_by(KEY[:2]).aggregate([("done_max", "sum"), ("done_max", "count")])
    return {
        (row["model"], row["condition"]): (row["done_max_sum"], row["done_max_count"] - row["done_max_sum"])
        for row in counts.to_pylist()
    }


def _list_response_parts(folder: Path) -> list[Path]:
    """List the response parts of a run folder that are there now."""
    # A running call may remove a part after it was listed (`drop_error_rows_asked_again`).
    return [path for path in sorted((folder / "responses").glob("part-*.parquet")) if os.path.lexists(path)]


def _describe_study_and_last_session(run_json_content: Mapping[str, Any]) -> str:
    """Describe the study of a run and its last session, for a line of the status."""
    study, last = run_json_content["study"], (run_json_content["sessions"] or [{}])[-1]
    ended = "finished" if last.get("finished") else "stopped or still running"
    return f"study {study['name']} ({study['protocol']}), last session begun {last.get('started', 'never')}, {ended}"


def _count_items_and_asked_ones(folder: Path) -> tuple[int, int]:
    """Count the items of a run folder, and those that have a row; the others have none yet, as after `--limit`."""
    items = set(read_parquet(folder / "stimuli.parquet", ["item"])["item"].to_pylist())
    asked_items = set[str]().union(
        *(set(read_parquet(path, ["item"])["item"].to_pylist()) for path in _list_response_parts(folder))
    )
    return len(items), len(items & asked_items)


def describe_number_of_drawn_wordings(draws: Sequence[Mapping[str, int]]) -> str:
    """Say how many wordings were drawn of an item, or of every pattern of it, where not all are asked.

    Parameters
    ----------
    draws
        As `run.json` has them below `drawn`: of models and conditions that are not asked with all.

    Returns
    -------
    The number of `--wordings`, several with "or", and how many there are at most, of an item or "per pattern"; "" for
    no draws.
    """
    if not draws:
        return ""
    drawn = " or ".join(f"{number:,}" for number in sorted({draw["wordings"] for draw in draws}))
    unit = " per pattern" if all(draw.get("per_pattern") for draw in draws) else ""
    return f"--wordings {drawn} of up to {max(draw['most'] for draw in draws):,}{unit}"


def _format_progress_as_table_lines(rows_of_progress: list[Progress]) -> Iterator[str]:
    """Write the progress of every model and condition as lines of a table."""
    rows = [("model", "condition", "done", "left", "failed")]
    for progress in rows_of_progress:
        rows_left = "-" if progress.rows_left is None else f"{progress.rows_left:,}"
        numbers = (f"{progress.done:,}", rows_left, f"{progress.failed:,}")
        rows.append(
            (progress.model, progress.condition or "not begun", *(numbers if progress.condition else ("",) * 3))
        )
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
        cells += [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
        yield f"  {'  '.join(cells)}".rstrip()
