"""Turn the samples of several logs of Inspect into scores: of every scorer, and of every key of its scores, a measure.

Values count as Inspect's own `value_to_float` has them: C is 1, P 0.5, I and N 0, yes and true 1, no and false 0;
numbers, and texts that are numbers, stay as they are. NaN is no score. Other texts, and lists, are no numbers: a
measure that has nothing else is left out, and one that has numbers, too, is refused. Epochs are samples of one
response.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ground.errors import InputError, format_quantity, shorten_text
from inference.importers.inspect.log import Evaluation
from inference.importers.inspect.names import InspectNames
from inference.importers.inspect.samples import (
    Sample,
    find_credit_of_text,
    group_epochs_by_wording,
    parse_inspect_sample,
)
from inference.importers.shared import saving
from inference.importers.shared.json_log import get_nested_object_or_empty
from inference.importers.shared.log_folders import LineAboutLog, refuse_if_all_logs_are_left_out
from inference.importers.shared.logged_responses import LoggedResponse
from inference.importers.shared.logged_scores import (
    SHARE,
    LoggedMeasures,
    describe_values_without_number,
    is_stated_mean,
    parse_logged_number,
)
from inference.importers.shared.scored import name_and_record_measure_condition
from inference.importers.shared.waver_fields import append_order_number_to_wording
from inference.stimuli.numbers import parse_number_or_nan
from inference.stimuli.reading.files import require_storable_value, shorten_value


@dataclass(slots=True)
class _MeasureValues:
    """What a measure has in a log: numbers, other values and the first of these, and how many scores are no NaN."""

    n_numbers: int = 0
    n_others: int = 0
    first_other: tuple[str, Any] = ("", None)
    n_scores: int = 0
    means: list[float] = field(default_factory=list)  # of responses, as far as they have been gone through


class InspectScores:
    """The scores of several logs.

    Parameters
    ----------
    evaluations
        The logs.
    names
        What their items, wordings and conditions are called.
    measures
        Of all logs; filled here.
    scorer
        Whose scores are wanted; None: all.

    Attributes
    ----------
    conditions
        condition name -> fields with `measure`, as far as responses have been gone through.
    log_lines
        A line on every log, likewise.
    left_out
        What is wrong with logs that were left out, likewise.
    """

    def __init__(
        self, evaluations: Sequence[Evaluation], names: InspectNames, measures: LoggedMeasures, *, scorer: str | None
    ) -> None:
        self.conditions: dict[str, dict[str, Any]] = {}
        self.log_lines: list[LineAboutLog] = []
        self.left_out: list[InputError] = []
        self._evaluations, self._names, self._measures, self._scorer = evaluations, names, measures, scorer
        self._n_by_other_scorer: Counter[str] = Counter()

    def iterate_responses_of_all_logs(self) -> Iterator[LoggedResponse]:
        """Go through the scores of all logs: of every response one per measure.

        A log with a damaged sample, or with a measure that has numbers and other values, is left out, if others are
        there.

        Raises
        ------
        InputError
            A sample contradicts another one, or no log can be imported.
        """
        for log_number, evaluation in enumerate(self._evaluations):
            n_by_other_scorer: Counter[str] = Counter()
            try:
                samples = [
                    self._parse_scored_sample(where, fields, n_by_other_scorer)
                    for where, fields in evaluation.iterate_places_and_raw_samples()
                ]
                values = _count_values_per_measure_refusing_mixed(samples)
            except InputError as error:
                self.left_out.append(error)
                continue
            self._n_by_other_scorer += n_by_other_scorer
            epochs_by_key = group_epochs_by_wording(samples, partial(self._build_wording_key, log_number))
            for name, measure_values in values.items():
                if measure_values.n_others:
                    self._measures.notes.append(_describe_measure_without_numbers(evaluation, name, measure_values))
            values = {name: measure_values for name, measure_values in values.items() if not measure_values.n_others}
            for key, epochs in epochs_by_key.items():
                for name, measure_values in values.items():
                    yield self._build_score_response(log_number, key, epochs, name, measure_values)
            self.log_lines.append(_describe_log_and_agreement_of_means(evaluation, samples, values))
        refuse_if_all_logs_are_left_out(self.left_out, len(self._evaluations))
        self._measures.notes += [
            f"left out by --scorer: {name}, which scored {format_quantity(number, 'sample')}"
            for name, number in self._n_by_other_scorer.items()
        ]

    def _parse_scored_sample(self, where: str, fields: Mapping[str, Any], n_by_other_scorer: Counter[str]) -> Sample:
        """Read a sample with all its scores; those of scorers that are not wanted are counted."""
        sample = parse_inspect_sample(where, {**fields, "scores": None}, None)
        scores = self._collect_raw_values_by_measure(where, fields.get("scores"), n_by_other_scorer)
        return replace(sample, scores=scores)

    def _build_wording_key(self, log_number: int, sample: Sample) -> tuple[str, str]:
        """Make what tells wordings apart: item, and wording with the number of the order of the choices."""
        item = self._names.name_sample_item(log_number, sample)
        wording = self._names.name_sample_wording(log_number, item, sample)
        return item, append_order_number_to_wording(wording, sample.metadata)

    def _collect_raw_values_by_measure(
        self, where: str, scores: Any, n_by_other_scorer: Counter[str]
    ) -> dict[str, Any]:
        """Collect the scores of a sample: measure -> value; of an object, every key is a measure."""
        value_by_measure: dict[str, Any] = {}
        for scorer, score in get_nested_object_or_empty(scores).items():
            if self._scorer not in (None, scorer):
                n_by_other_scorer[scorer] += 1
                continue
            value = get_nested_object_or_empty(score).get("value")
            inner = {f"{scorer}/{key}": part for key, part in value.items()} if isinstance(value, dict) else None
            for name, part in ({scorer: value} if inner is None else inner).items():
                if name in value_by_measure:
                    raise InputError(f"{where}: two scores are called {shorten_value(name)}; choose by --scorer NAME")
                value_by_measure[str(require_storable_value(where, name))] = part
        return value_by_measure

    def _build_score_response(
        self,
        log_number: int,
        key: tuple[str, str],
        epochs: Sequence[Sample],
        name: str,
        measure_values: _MeasureValues,
    ) -> LoggedResponse:
        """Make the response of all epochs of one wording by one measure."""
        scores, scored = [], []
        for sample in epochs:
            value = sample.scores.get(name)
            if (score := _parse_measure_number(sample.where, name, value)) is not None:
                scores.append(score)
                scored.append(sample)
                self._measures.note_range_of_measure(name, None if _is_plain_number_or_numeric_text(value) else SHARE)
        measure_values.n_scores += len(scores)
        if scores:
            measure_values.means.append(math.fsum(scores) / len(scores))
        ended = next((sample.error for sample in epochs if sample.error), f"the log has no score by {name} for it")
        setting, task = self._names.conditions[log_number], self._names.tasks[log_number]
        condition = name_and_record_measure_condition(
            self.conditions, name, setting, {"form": saving.IMPORT_FORM, **self._names.fields[setting]},
            self._evaluations[log_number].path, "; import one of them by --scorer NAME",
        )  # fmt: skip
        return LoggedResponse(
            where=epochs[0].where,
            model=self._evaluations[log_number].model,
            condition=condition,
            item=key[0],
            wording=key[1],
            text=epochs[0].prompt,
            scores=tuple(scores),
            output=_collect_outputs_of_samples(scored or epochs),
            error=None if scores else ended,
            attributes={} if task is None else {"subset": task},
        )


def _collect_outputs_of_samples(samples: Sequence[Sample]) -> tuple[str, ...] | None:
    """Collect a text per sample, empty where it has none, so that each stands beside its score; None without any."""
    outputs = tuple(sample.output or "" for sample in samples)
    return outputs if any(sample.output is not None for sample in samples) else None


def _count_values_per_measure_refusing_mixed(samples: Sequence[Sample]) -> dict[str, _MeasureValues]:
    """Count the numbers and the other values of every measure; refuse a measure that has both."""
    values: dict[str, _MeasureValues] = {}
    for sample in samples:
        for name, value in sample.scores.items():
            counts = values.setdefault(name, _MeasureValues())
            if value is None:
                continue
            if _counts_as_number_in_inspect(value):
                counts.n_numbers += 1
            else:
                counts.first_other = counts.first_other if counts.n_others else (sample.where, value)
                counts.n_others += 1
    for name, counts in values.items():
        if counts.n_numbers and counts.n_others:
            where, value = counts.first_other
            raise InputError(
                f"{where}: the score {shorten_value(value)} of {shorten_text(name)} is neither a number nor C, P, I or "
                "N, as others of this scorer are; correct it, or choose another with --scorer NAME"
            )
    return values


def _is_plain_number_or_numeric_text(value: Any) -> bool:
    """Tell whether a value is a number whose bounds are not known, or a text that is one."""
    if isinstance(value, str):
        return find_credit_of_text(value) is None and not math.isnan(parse_number_or_nan(value))
    return isinstance(value, int | float) and not isinstance(value, bool)


def _counts_as_number_in_inspect(value: Any) -> bool:
    """Tell whether Inspect counts a value as a number; NaN stands for no score there."""
    return (
        isinstance(value, bool)
        or _is_plain_number_or_numeric_text(value)
        or (isinstance(value, str) and find_credit_of_text(value) is not None)
    )


def _parse_measure_number(where: str, name: str, value: Any) -> float | None:
    """Turn a value into a number; None for no score."""
    if isinstance(value, str):
        credit = find_credit_of_text(value)
        value = parse_number_or_nan(value) if credit is None else credit
    return parse_logged_number(where, name, value)


def _describe_measure_without_numbers(evaluation: Evaluation, name: str, values: _MeasureValues) -> str:
    """Say that a measure was left out, and how many values it has."""
    return (
        f"left out: {name} of {evaluation.path}, {describe_values_without_number(values.n_others)}, such as "
        f"{shorten_value(values.first_other[1])}"
    )


def _describe_log_and_agreement_of_means(
    evaluation: Evaluation, samples: Sequence[Sample], values: Mapping[str, _MeasureValues]
) -> LineAboutLog:
    """Say in one line what a log held, and whether its means are those of the rows."""
    n_flaws = 0
    parts = [format_quantity(len(samples), "sample")]
    for name, measure_values in values.items():
        if not measure_values.means:
            continue
        mean, stated = math.fsum(measure_values.means) / len(measure_values.means), evaluation.means.get(name)
        part = f"{name}: {format_quantity(measure_values.n_scores, 'score')}, mean {mean:.6g}"
        if stated is not None:
            is_agreeing = is_stated_mean(mean, stated)
            part += ", as the log states" if is_agreeing else f" (the log states {stated:.6g})"
            n_flaws += not is_agreeing
        parts.append(part)
    if n_errors := sum(sample.error is not None for sample in samples):
        parts.append(f"{n_errors:,} ended with an error")
    flaws = evaluation.list_flaws()
    return LineAboutLog(f"{evaluation.path}: {'; '.join([*parts, *flaws])}", n_flaws + bool(n_errors) + len(flaws))
