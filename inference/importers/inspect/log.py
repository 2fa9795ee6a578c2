"""Read the log of one evaluation by Inspect: its facts, and its samples one after the other.

Long texts may stand apart, in ``attachments`` of the sample. Nothing in a log is executed; its class names are not
looked at.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ground.errors import InputError, format_quantity, shorten_text
from inference.importers.inspect.kept_logs import (
    KeptLogs,
    iterate_places_and_samples_of_cached_log,
    read_header_of_cached_log,
    write_log_into_cache,
)
from inference.importers.inspect.log_files import iterate_places_and_samples_of_inspect_log, read_inspect_header
from inference.importers.shared.json_log import drop_empty_values, get_nested_object_or_empty, parse_json_number_or_nan
from inference.importers.shared.log_folders import (
    describe_left_out_logs,
    iterate_logs_with_progress_bar,
    refuse_if_all_logs_are_left_out,
)
from inference.stimuli.reading.files import require_storable_value, shorten_value

VERSIONS = 2, 3
"""Of logs. The third was written for some weeks of 2026: its events share their messages, and events are not read."""
SUCCESS = "success"
GENERATION_SETTINGS = frozenset(
    ("temperature", "top_p", "top_k", "max_tokens", "seed", "stop_seqs", "frequency_penalty", "presence_penalty",
     "logit_bias", "num_choices", "best_of", "system_message", "reasoning_effort", "reasoning_tokens",
     "reasoning_summary", "effort", "verbosity")
)  # fmt: skip
"""Settings that change what a model answers; others (retries, time-outs, connections) do not."""
_REFERENCES = ("attachment://", "tc://")  # the second is how older versions wrote it


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The facts of a log: what was asked, which model, how, and what came out.

    Attributes
    ----------
    path
        The file.
    status
        success, or started, cancelled, error: not all samples are there then.
    task, model
        Their names, as the log has them.
    arguments
        Of the task and the solver, and the settings of the plan's steps: flat, `task_args.NAME`, `solver_args.NAME`
        and `STEP.NAME`.
    settings
        How answers were generated: temperature and the like.
    accuracy
        Scorer -> the accuracy that the log itself states.
    means
        Scorer, and "SCORER/KEY" where it gives several scores -> the mean or accuracy that the log itself states.
    invalidated
        Whether somebody has marked the log as one not to be used.
    kept
        Where its samples are kept for a call that is stopped (`kept_logs`); None: they are read from the log itself.
    """

    path: Path
    status: str
    task: str
    model: str
    arguments: Mapping[str, Any]
    settings: Mapping[str, Any]
    accuracy: Mapping[str, float]
    means: Mapping[str, float]
    invalidated: bool = False
    kept: Path | None = None

    @property
    def has_ended(self) -> bool:
        """Whether the evaluation came to its end."""
        return self.status == SUCCESS

    def iterate_places_and_raw_samples(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Go through the samples, each with its place in the file for messages.

        Raises
        ------
        InputError
            The log holds none, or one is damaged.
        """
        empty = True
        # Another import into the same folder that ends before this one takes what is kept away.
        kept = self.kept if self.kept is not None and self.kept.is_file() else None
        for place, sample in (
            iterate_places_and_samples_of_inspect_log(self.path)
            if kept is None
            else iterate_places_and_samples_of_cached_log(kept)
        ):
            where = f"{self.path}, {place}"
            if not isinstance(sample, dict):
                raise InputError(f"{where}: expected the fields of a sample, not {shorten_value(sample)}")
            empty = False
            yield where, sample
        if empty:
            raise InputError(
                f"{self.path}: the log holds no samples (status {self.status}), so there is nothing to import"
            )

    def list_flaws(self) -> list[str]:
        """List why the log is not to be trusted: it is not finished, or marked as invalid."""
        unfinished = [] if self.has_ended else [f"not finished (status {self.status})"]
        return [*unfinished, *(["marked as not to be used"] if self.invalidated else [])]

    def refuse_unscored_log(self) -> None:
        """Refuse a log of which no sample has a score; it is read as far as to its first one.

        Raises
        ------
        InputError
            There is no sample, none with a score, or one before it is damaged.
        """
        n_samples = n_errors = 0
        for _, sample in self.iterate_places_and_raw_samples():
            if any(
                get_nested_object_or_empty(score).get("value") is not None
                for score in get_nested_object_or_empty(sample, "scores").values()
            ):
                return
            n_samples += 1
            n_errors += sample.get("error") is not None
        raise build_error_of_unscored_log(self.path, n_samples, n_errors)


def build_error_of_unscored_log(path: Path, n_samples: int, n_errors: int) -> InputError:
    """Make the error of a log that nobody scored.

    Parameters
    ----------
    path
        The log.
    n_samples
        Samples in it.
    n_errors
        Those that ended with an error.

    Returns
    -------
    The error, which is not raised.
    """
    ended = f" ({n_errors:,} ended with an error)" if n_errors else ""
    return InputError(
        f"{path}: no score in {format_quantity(n_samples, 'sample')}{ended}, so nothing tells right from wrong; "
        "leave the log out, or score it first (`inspect score`)"
    )


def read_usable_and_describe_other_logs(
    paths: Sequence[Path], in_folders: Collection[Path], kept_logs: KeptLogs
) -> tuple[list[Evaluation], list[str]]:
    """Read the facts of the logs that can be imported.

    Parameters
    ----------
    paths
        The logs.
    in_folders
        Those that the call does not name itself: they are left out where they are not finished.
    kept_logs
        Where samples are kept while other logs are read.

    Returns
    -------
    list of Evaluation
        Of the logs with a score.
    list of str
        Lines on the others: no log of Inspect, damaged, empty, not finished, or without a score.

    Raises
    ------
    InputError
        There is no log that can be imported.
    """
    evaluations: list[Evaluation] = []
    errors: list[InputError] = []
    for path in iterate_logs_with_progress_bar(paths):
        try:
            evaluation = read_evaluation_and_cache_inspect_log(path, kept_logs.build_cache_path_of_log(path))
            if path in in_folders and not evaluation.has_ended:
                raise InputError(
                    f"{path}: not finished (status {evaluation.status}); to import what it has, name the file itself"
                )
            evaluation.refuse_unscored_log()
        except InputError as error:
            errors.append(error)
        else:
            evaluations.append(evaluation)
    refuse_if_all_logs_are_left_out(errors, len(paths))
    return evaluations, describe_left_out_logs(errors)


def read_evaluation_and_cache_inspect_log(path: Path, kept: Path | None = None) -> Evaluation:
    """Read the facts of a log.

    Parameters
    ----------
    path
        The log.
    kept
        Where its samples are kept; they are written there where they are not yet. None: they are not kept.

    Returns
    -------
    The facts.

    Raises
    ------
    InputError
        It is no log of Inspect, is damaged, or has a version that is not read.
    """
    if path.suffix.lower() not in (".eval", ".json"):
        raise InputError(f"{path}: no log of Inspect; give .eval or .json files, or a folder of them")
    kept_header = None if kept is None else read_header_of_cached_log(kept)
    header = kept_header or read_inspect_header(path)
    if not isinstance(header, dict) or not isinstance(header.get("eval"), dict):
        raise InputError(f"{path}: no log of Inspect: there is no field `eval`")
    if header.get("version") not in VERSIONS:
        raise InputError(
            f"{path}: a log of version {shorten_value(header.get('version'))}; versions "
            f"{' and '.join(map(str, VERSIONS))} are read (`inspect log convert` writes the second)"
        )
    about, plan = header["eval"], get_nested_object_or_empty(header, "plan")
    for field in ("task", "model"):
        if not isinstance(about.get(field), str) or not about[field].strip():
            raise InputError(f"{path}: eval.{field} must be a name, not {shorten_value(about.get(field))}")
    arguments = _collect_task_and_solver_arguments(about, plan)
    generate_config = get_nested_object_or_empty(about, "model_generate_config")
    generate_config = generate_config | get_nested_object_or_empty(plan, "config")
    # A solver may set them, too: `multiple_choice.max_tokens`.
    generate_config |= {
        name.rpartition(".")[2]: value for name, value in arguments.items() if not name.startswith("task_args.")
    }
    settings = {
        name: value for name, value in drop_empty_values(generate_config).items() if name in GENERATION_SETTINGS
    }
    arguments = {name: value for name, value in arguments.items() if name.rpartition(".")[2] not in GENERATION_SETTINGS}
    require_storable_value(str(path), [about["task"], about["model"], arguments, settings])
    if kept is not None and kept_header is None:
        write_log_into_cache(kept, header, iterate_places_and_samples_of_inspect_log(path))
    return Evaluation(
        path=path,
        status=str(header.get("status", "started")),
        task=about["task"].strip(),
        model=about["model"].strip(),
        arguments=arguments,
        settings=settings,
        accuracy=_parse_metric_value_by_scorer(header.get("results"), "accuracy"),
        means={
            **_parse_metric_value_by_scorer(header.get("results"), "accuracy", with_keys=True),
            **_parse_metric_value_by_scorer(header.get("results"), "mean", with_keys=True),
        },
        invalidated=header.get("invalidated") is True,
        kept=kept,
    )


def resolve_attachment(where: str, text: str, sample: Mapping[str, Any]) -> str:
    """Return a text, or the one that it points to among the sample's attachments.

    Parameters
    ----------
    where
        File and member, for messages.
    text
        A text, or what begins as a reference to one.
    sample
        The sample.

    Returns
    -------
    The text.

    Raises
    ------
    InputError
        There is no such attachment.
    """
    for reference in _REFERENCES:
        if text.startswith(reference):
            attached = get_nested_object_or_empty(sample, "attachments").get(text.removeprefix(reference))
            if not isinstance(attached, str):
                raise InputError(
                    f"{where}: it has no attachment {shorten_text(text)}, where a text should stand; the log is not "
                    "whole"
                )
            return attached
    return text


def _collect_task_and_solver_arguments(about: Mapping[str, Any], plan: Mapping[str, Any]) -> dict[str, Any]:
    """Collect what a task and its solvers were given."""
    arguments = {
        f"{group}.{name}": value
        for group in ("task_args", "solver_args")
        for name, value in get_nested_object_or_empty(about, group).items()
    }
    for step in plan["steps"] if isinstance(plan.get("steps"), list) else ():
        solver = str(get_nested_object_or_empty(step).get("solver")).rpartition("/")[2]
        arguments |= {f"{solver}.{name}": value for name, value in get_nested_object_or_empty(step, "params").items()}
    return drop_empty_values(arguments)


def _parse_metric_value_by_scorer(results: Any, metric: str, *, with_keys: bool = False) -> dict[str, float]:
    """Read a metric of every scorer that states it, over all samples; `with_keys`: also by the name SCORER/KEY."""
    scores = get_nested_object_or_empty(results).get("scores")
    value_by_name: dict[str, float] = {}
    value_by_key: dict[str, float] = {}
    listed_scores = [*map(get_nested_object_or_empty, scores if isinstance(scores, list) else ())]
    # Of epochs, every reducer has an entry of the same name; ours is the mean, which is taken over the others.
    for score in sorted(listed_scores, key=lambda score: score.get("reducer") in (None, "mean")):
        value = parse_json_number_or_nan(get_nested_object_or_empty(score, "metrics", metric).get("value"))
        if math.isfinite(value):
            value_by_name[str(score.get("name"))] = value
            value_by_key[f"{score.get('scorer')}/{score.get('name')}"] = value
    return {**value_by_key, **value_by_name} if with_keys else value_by_name
