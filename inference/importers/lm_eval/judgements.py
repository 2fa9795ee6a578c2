"""Tell what the metrics of lm-eval's rows judge: which of them say right or wrong, so that they read an answer.

A task may judge one text by several metrics: `exact_match` and `acc`, or `prompt_level_strict_acc` and
`prompt_level_loose_acc`. Each that is 0 or 1 in all rows of the task is a reading of the same answers. Metrics with
other values (`f1`, `bleu`) are none: half of a right answer is not right.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ground.errors import InputError
from inference.importers.lm_eval.wordings import WordedFile
from inference.stimuli.reading.files import shorten_value

ACC, NORM, BYTES, MUTUAL = "acc", "acc_norm", "acc_bytes", "acc_mutual_info"
READINGS = {ACC: "likelihood", NORM: "per character", BYTES: "per byte", MUTUAL: "mutual information"}
BYPASSED = "bypass"
BYPASS = 999  # what lm-eval writes where nothing was judged (--predict_only)
PREFERRED = ("exact_match", ACC)  # metrics that count where only one can


def list_row_metrics(where: str, row: Mapping[str, Any]) -> list[str]:
    """List the metrics of a row; older logs do not name them.

    Parameters
    ----------
    where
        File and line, for messages.
    row
        The row.

    Returns
    -------
    Their names.

    Raises
    ------
    InputError
        They are no list of names.
    """
    metrics = row.get("metrics") or [name for name in dict.fromkeys((*READINGS, *PREFERRED)) if name in row]
    if not isinstance(metrics, list) or not all(isinstance(name, str) for name in metrics):
        raise InputError(f"{where}: field 'metrics' is no list of names")
    return metrics


def find_zero_one_metrics_by_task(worded_files: Sequence[WordedFile]) -> dict[str, tuple[str, ...]]:
    """Find the metrics of texts that are 0 or 1 in all rows of a task.

    Files of multiple choice, and those whose first row has one metric, are not read any further.

    Parameters
    ----------
    worded_files
        All files.

    Returns
    -------
    Task without what names its wording (`WordedFile.base`) -> its metrics; no entry where rows have one metric.
    """
    metrics_by_task: dict[str, list[str]] = {}
    for worded_file in worded_files:
        if worded_file.file.config.get("output_type") == "multiple_choice":
            continue
        for row in _iterate_leading_rows_of_several_metrics(worded_file):
            metrics = [name for name in row["metrics"] if _is_zero_or_one(row.get(name))]
            before = metrics_by_task.setdefault(worded_file.base, metrics)
            metrics_by_task[worded_file.base] = [name for name in before if name in metrics]
    return {task: tuple(metrics) for task, metrics in metrics_by_task.items()}


def _iterate_leading_rows_of_several_metrics(worded_file: WordedFile) -> Iterator[dict[str, Any]]:
    """Go through the rows of a file as far as they can be read; end at a row with one metric, or a damaged one."""
    with worded_file.file.path.open("rb") as file:
        for line in file:
            if line.isspace():
                continue
            try:
                row = json.loads(line)
                metrics = row["metrics"]
                if len(metrics) < 2 or not all(isinstance(name, str) for name in metrics):
                    return
            except (ValueError, RecursionError, TypeError, KeyError):
                return  # the error is raised when the responses are read
            yield row


def _is_zero_or_one(value: Any) -> bool:
    """Tell whether a value of a metric is 0 or 1."""
    return isinstance(value, bool | int | float) and value in (0, 1)


def parse_right_or_wrong(where: str, row: Mapping[str, Any], metric: str) -> bool:
    """Read a metric that says right or wrong.

    Parameters
    ----------
    where
        File and line, for messages.
    row
        The row.
    metric
        Name of the metric; empty: the row has none.

    Returns
    -------
    Whether it says right.

    Raises
    ------
    InputError
        It says neither, or nothing was judged.
    """
    value = row.get(metric)
    if value == BYPASS or metric == BYPASSED:
        raise InputError(f"{where}: its metric is bypass: lm-eval was told not to judge (--predict_only)")
    if _is_zero_or_one(value):
        return bool(value)
    if not metric:
        raise InputError(f"{where}: names no metric, so that it does not say whether the answer is right")
    raise InputError(
        f"{where}: {metric} is {shorten_value(value)}; right (1) or wrong (0) is needed; --scores imports numbers"
    )
