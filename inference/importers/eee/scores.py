"""Read the scores of records of Every Eval Ever, whoever wrote them: every evaluation of a record is a measure.

An item is a sample of a data set, by its id, and its distinct texts are its wordings. A measure's range and direction
are what its `metric_config` says. Settings of the generation that differ between the records of a model are
conditions.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ground.errors import InputError
from inference.importers.eee import fields, records
from inference.importers.shared import log_differences, saving
from inference.importers.shared.json_log import get_nested_object_or_empty, parse_json_number_or_nan
from inference.importers.shared.logged_responses import LoggedResponse
from inference.importers.shared.logged_scores import (
    ComparedMean,
    LoggedMeasures,
    describe_agreement_of_means,
    parse_logged_number,
)
from inference.importers.shared.scored import HIGHER, LOWER, ScoreMeasure, name_and_record_measure_condition
from inference.stimuli.numbers import parse_number_or_nan
from inference.stimuli.reading.files import shorten_value


@dataclass(frozen=True, slots=True)
class ScoredEvaluation:
    """One evaluation of an aggregate, as far as its scores need it.

    Attributes
    ----------
    dataset
        Name of its data set.
    mean
        The score that the record states of all samples; NaN where it states none.
    settings
        How answers were generated.
    """

    measure: ScoreMeasure
    dataset: str
    mean: float
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ScoredAggregate(records.RecordFiles):
    """One aggregate with its evaluations by their names."""

    evaluations: Mapping[str, ScoredEvaluation]

    def merge_settings_and_list_differing_values(self) -> dict[str, Any]:
        """Merge the settings of all evaluations; one that differs between them has the list of its values."""
        values_by_name: dict[str, list[Any]] = {}
        for name, value in (pair for one in self.evaluations.values() for pair in one.settings.items()):
            values = values_by_name.setdefault(name, [])
            values += [] if value in values else [value]
        return {name: values[0] if len(values) == 1 else values for name, values in values_by_name.items()}


def read_scored_aggregate_and_verify_checksum(path: Path) -> ScoredAggregate:
    """Read an aggregate, and compare its responses with the checksum that it states.

    Raises
    ------
    InputError
        It is malformed or of another version, has two evaluations of one name, or its responses are missing or changed.
    """
    document, results = records.read_aggregate_document_and_results(path)
    evaluations: dict[str, ScoredEvaluation] = {}
    for place, result in enumerate(results, start=1):
        where = f"{path}, evaluation_results {place}"
        name = fields.require_record_field(where, result, "evaluation_name", str)
        if not name.strip():
            raise InputError(f"{where}: evaluation_name is empty; name the evaluation")
        if name in evaluations:
            raise InputError(f"{where}: two scores are called {shorten_value(name)}; rename one evaluation")
        settings = get_nested_object_or_empty(result, "generation_config", "generation_args")
        evaluations[name] = ScoredEvaluation(
            _parse_evaluation_measure(where, name, get_nested_object_or_empty(result, "metric_config")),
            str(get_nested_object_or_empty(result, "source_data").get("dataset_name") or name),
            parse_number_or_nan(get_nested_object_or_empty(result, "score_details").get("score")),
            {key: value for key, value in settings.items() if value is not None},
        )
    samples = path.with_name(f"{path.stem}{records.SAMPLES}")
    fields.refuse_samples_of_other_digest(
        path, samples, get_nested_object_or_empty(document, "detailed_evaluation_results")
    )
    identity = fields.require_record_field(path, document, "evaluation_id", str)
    model = fields.require_record_field(path, document, "model_info.id", str)
    return ScoredAggregate(path, samples, identity, model, evaluations)


def _parse_evaluation_measure(where: str, name: str, config: Mapping[str, Any]) -> ScoreMeasure:
    """Read range and direction of a measure; without two numbers it has no range."""
    low, high = (parse_json_number_or_nan(config.get(field)) for field in ("min_score", "max_score"))
    is_bounded = math.isfinite(low) and math.isfinite(high)
    if is_bounded and not low < high:
        raise InputError(f"{where}: min_score {low:g} is not below max_score {high:g}; correct them")
    is_turned = config.get("lower_is_better", False)
    if is_turned is not None and not isinstance(is_turned, bool):
        raise InputError(f"{where}: lower_is_better must be true or false, not {shorten_value(is_turned)}")
    return ScoreMeasure(name, (low, high) if is_bounded else None, LOWER if is_turned else HIGHER)


class EeeScores:
    """The scores of several records.

    Parameters
    ----------
    aggregates
        The records.
    measures
        Of all records; filled here.

    Attributes
    ----------
    conditions
        condition name -> fields with `measure`, as far as responses have been gone through.
    """

    def __init__(self, aggregates: Sequence[ScoredAggregate], measures: LoggedMeasures) -> None:
        self.conditions: dict[str, dict[str, Any]] = {}
        self._aggregates, self._measures = aggregates, measures
        settings = [one.merge_settings_and_list_differing_values() for one in aggregates]
        self._settings = log_differences.name_conditions_by_settings([one.model for one in aggregates], settings)
        evaluations = [
            (setting, name, evaluation)
            for setting, one in zip(self._settings, aggregates, strict=True)
            for name, evaluation in one.evaluations.items()
        ]
        self._fields = log_differences.collect_shared_settings_by_condition(
            [(setting, name) for setting, name, _ in evaluations], [one.settings for _, _, one in evaluations]
        )
        self._has_several_datasets = len({one.dataset for _, _, one in evaluations}) > 1
        self._texts: dict[str, dict[str, str]] = {}  # item -> text -> name of the wording
        self._scores: dict[tuple[int, str], list[float]] = defaultdict(list)  # aggregate, measure

    def read_eee_scores(self) -> Iterator[LoggedResponse]:
        """Go through the scores of all records.

        Raises
        ------
        InputError
            A line is malformed or belongs to another record, a sample has two scores by one evaluation, or a score is
            no number; with file and line.
        """
        for number, aggregate in enumerate(self._aggregates):
            first_by_sample: dict[tuple[str, str], int] = {}
            for name, evaluation in aggregate.evaluations.items():
                self._measures.note_range_of_measure(name, evaluation.measure.range, evaluation.measure.direction)
            for line_number, (where, record) in enumerate(records.read_sample_records(aggregate), start=1):
                name = fields.require_record_field(where, record, "evaluation_name", str)
                sample = fields.require_record_field(where, record, "sample_id", str)
                first = first_by_sample.setdefault((name, sample), line_number)
                if first != line_number:
                    raise InputError(
                        f"{where}: a second score by {shorten_value(name)} of sample {shorten_value(sample)}, as in "
                        f"line {first}; leave one out"
                    )
                yield self._build_score_response(where, number, name, sample, record)

    def _build_score_response(
        self, where: str, number: int, name: str, sample: str, record: Mapping[str, Any]
    ) -> LoggedResponse:
        """Make the response of a row."""
        aggregate = self._aggregates[number]
        if name not in aggregate.evaluations:
            raise InputError(f"{where}: evaluation_name {shorten_value(name)} is not in {aggregate.path.name}")
        score = parse_logged_number(
            where, "evaluation.score", get_nested_object_or_empty(record, "evaluation").get("score")
        )
        if score is not None:
            self._scores[number, name].append(score)
        text = fields.require_record_field(where, record, "input.raw", str)
        dataset = aggregate.evaluations[name].dataset
        item = f"{dataset}:{sample}" if self._has_several_datasets else sample
        wordings = self._texts.setdefault(item, {})
        setting = self._settings[number]
        fields_of_condition = {"form": saving.IMPORT_FORM, **self._fields[setting, name]}
        raw = get_nested_object_or_empty(record, "output").get("raw")
        output = [raw] if isinstance(raw, str) else raw if isinstance(raw, list) else []
        return LoggedResponse(
            where=where,
            model=aggregate.model,
            condition=name_and_record_measure_condition(
                self.conditions, name, setting, fields_of_condition, aggregate.path
            ),
            item=item,
            wording=wordings.setdefault(text, f"p{len(wordings) + 1}"),
            text=text,
            scores=() if score is None else (score,),
            output=tuple(fields.require_list_of_texts(where, "output.raw", output)) or None,
            error="the record has no score of it" if score is None else None,
            attributes={"subset": dataset} if self._has_several_datasets else {},
        )

    def describe_agreement_with_stated_means(self) -> list[str]:
        """Say how many means are those that the records state, and which are not; once all is read."""
        means = []
        for (number, name), scores in self._scores.items():
            aggregate = self._aggregates[number]
            stated = aggregate.evaluations[name].mean
            if math.isfinite(stated):
                means.append(ComparedMean(aggregate.path.name, name, math.fsum(scores) / len(scores), stated))
        return describe_agreement_of_means(means, "record")
