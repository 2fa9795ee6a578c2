"""Read rows of lm-eval samples as scores: every metric of a row that is a number is a measure of its own.

Of a choice, too, its metrics are what counts here, not the option that was taken. A metric is a number in all rows of a
file that have it, or in none. Lists are none: `bleu` has the texts that it compares at the end, SCORE has the question,
the answer and the right answer. They are left out, and named.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ground.errors import InputError
from inference.importers.lm_eval.judgements import BYPASSED, list_row_metrics, parse_right_or_wrong
from inference.importers.lm_eval.requests import Request, list_generated_texts, parse_requests_of_row, parse_row_options
from inference.importers.lm_eval.rows import LmEvalRows
from inference.importers.lm_eval.wordings import WordedFile
from inference.importers.shared.json_log import get_nested_object_or_empty
from inference.importers.shared.logged_responses import LoggedResponse
from inference.importers.shared.logged_scores import (
    SHARE,
    ComparedMean,
    LoggedMeasures,
    describe_values_without_number,
    parse_logged_number,
)
from inference.importers.shared.scored import HIGHER, LOWER
from inference.importers.shared.waver_fields import append_order_number_to_wording
from inference.stimuli.reading.files import shorten_value

_NO_METRICS = frozenset(
    ("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "doc_hash", "prompt_hash",
     "target_hash")
)  # fmt: skip
_SHARES = frozenset(("acc", "acc_norm", "acc_norm_bytes", "acc_bytes", "acc_mutual_info", "exact_match"))
"""Metrics of lm-eval's own that are 0 to 1 by what they count: right answers."""


class LmEvalScores(LmEvalRows):
    """The scores of one file, to be gone through once.

    Parameters
    ----------
    worded_file
        The file with its wording and condition.
    item_key, conditions
        As of `LmEvalRows`; the fields of a condition have its measure, not yet its range.
    measures
        Of all files; filled here.

    Attributes
    ----------
    left_out
        Metric that is no number -> how many values it has.
    """

    def __init__(
        self,
        worded_file: WordedFile,
        item_key: str | None,
        conditions: dict[str, dict[str, Any]],
        measures: LoggedMeasures,
    ) -> None:
        super().__init__(worded_file, item_key, False, conditions)
        self._measures = measures
        self._first_by_metric: dict[str, tuple[str, Any]] = {}  # its first value, and where it is
        self._scores: dict[tuple[str, str], list[float]] = {}  # metric, filter -> all scores
        self._ranges: dict[tuple[str, tuple[float, float] | None], None] = {}  # metric and range, each once
        self.left_out: Counter[str] = Counter()

    def __iter__(self) -> Iterator[LoggedResponse]:
        yield from super().__iter__()
        turned = _find_metrics_whose_mean_is_better_if_lower(self.worded_file.file.config)
        for metric, ends in self._ranges:  # only of a file that is read to its end: another one may be left out
            self._measures.note_range_of_measure(metric, ends, LOWER if metric in turned else HIGHER)

    def _parse_responses_of_row(self, where: str, number: int, row: Mapping[str, Any]) -> list[LoggedResponse]:
        """Make a response for every metric of a row that is a number."""
        filter_name = str(row.get("filter") or "none")
        self._refuse_repeated_document(where, number, row, filter_name)
        row_requests = parse_requests_of_row(where, row)
        metrics = list_row_metrics(where, row) if row.get("metrics") else [m for m in row if m not in _NO_METRICS]
        if not metrics:
            raise InputError(f"{where}: names no metric, so that it has no score; take the row out")
        if len(set(metrics)) < len(metrics):
            raise InputError(f"{where}: field 'metrics' names two scores of one name; rename one of them")
        suite = (
            None if self._is_multiple_choice(row_requests) else self._parse_row_of_score_robustness_suite(row, metrics)
        )
        item, wording = suite[:2] if suite else (self._name_row_item(where, row), self._name_row_wording(where, row))
        wording = append_order_number_to_wording(wording, row.get("doc"))
        text, output = self._find_asked_text_of_scored_row(where, row, row_requests), None
        if isinstance(row_requests[0][1], dict):
            output = list_generated_texts(row) or None
        responses = []
        for metric in metrics:
            if not self._is_numeric_metric_else_count_left_out(where, row, metric):
                continue
            score = parse_logged_number(where, metric, row.get(metric))
            if score is not None:
                is_share = metric in _SHARES or isinstance(row.get(metric), bool)
                self._ranges[metric, SHARE if is_share else None] = None
                self._scores.setdefault((metric, filter_name), []).append(score)
            responses.append(
                LoggedResponse(
                    where, self.worded_file.file.model,
                    self._name_and_record_condition(
                        where, filter_name, {"measure": metric}, "scores would both be called"
                    ),
                    item, wording, text, output=output, attributes=self._attributes,
                    scores=() if score is None else (score,),
                    error=f"the row has no {metric}" if score is None else None,
                )
            )  # fmt: skip
        return responses

    def _is_numeric_metric_else_count_left_out(self, where: str, row: Mapping[str, Any], metric: str) -> bool:
        """Tell whether a metric has numbers; refuse one that has something else, too."""
        value = row.get(metric)
        if metric == BYPASSED:
            parse_right_or_wrong(where, row, metric)  # which says that nothing was judged
        if value is None:
            return True
        is_number = isinstance(value, int | float)
        first_where, first = self._first_by_metric.setdefault(metric, (where, value if is_number else str(value)))
        if is_number != isinstance(first, int | float):
            raise InputError(
                f"{where}: {metric} is {shorten_value(value)}, but {shorten_value(first)} in {first_where}; a metric "
                "is a number in all rows, or in none: correct the row"
            )
        if not is_number:
            self.left_out[metric] += 1
        return is_number

    def _find_asked_text_of_scored_row(
        self, where: str, row: Mapping[str, Any], row_requests: Sequence[Request]
    ) -> str:
        """Find what was asked; of a text that is only weighed, the text itself."""
        if self._is_multiple_choice(row_requests):
            try:
                return parse_row_options(where, row, row_requests, self.worded_file.file).text
            except InputError:
                pass  # options that are not plain do not matter here
        context, end = row_requests[0]
        return context if context.strip() or not isinstance(end, str) else end

    def list_computed_and_stated_means(self) -> list[ComparedMean]:
        """List the means of the scores, by metric and filter, that the results file states, too."""
        stated, file_name = self.worded_file.file.means, self.worded_file.file.path.name
        keys = {f"{metric},{filter_name}": scores for (metric, filter_name), scores in self._scores.items()}
        return [
            ComparedMean(file_name, key, math.fsum(scores) / len(scores), stated[key])
            for key, scores in keys.items()
            if key in stated
        ]


def _find_metrics_whose_mean_is_better_if_lower(config: Mapping[str, Any]) -> set[str]:
    """Find the metrics of a task that states so; what it states of other aggregations does not hold of single scores.

    A perplexity is better if lower, but what is logged of a sample is a log-likelihood.
    """
    entries = config.get("metric_list")
    return {
        str(entry.get("metric"))
        for entry in map(get_nested_object_or_empty, entries if isinstance(entries, list) else ())
        if entry.get("aggregation") == "mean" and entry.get("higher_is_better") is False
    }


def describe_left_out_metrics(file_readers: Sequence[LmEvalScores]) -> list[str]:
    """Say which metrics were left out since they are no numbers, and how many values they have.

    Parameters
    ----------
    file_readers
        Of all files, read to their end.

    Returns
    -------
    Lines for the user.
    """
    left_out: Counter[str] = Counter()
    for file_reader in file_readers:
        left_out.update(file_reader.left_out)
    return [f"left out: {metric}, {describe_values_without_number(number)}" for metric, number in left_out.items()]
