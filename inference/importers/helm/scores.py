"""Turn the requests of several HELM runs into scores: every metric that HELM has of an instance is a measure.

A score is the mean of a metric's values, their sum by their count; a metric that counts none has no score.
Perturbations are wordings, as of answers.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from ground.errors import InputError, format_quantity, shorten_text
from inference.importers.helm.answers import HelmAnswers
from inference.importers.helm.run import STATE, STATS, HelmRun, RequestKey
from inference.importers.shared.logged_responses import LoggedResponse
from inference.importers.shared.logged_scores import (
    LoggedMeasures,
    describe_number_of_stated_means,
    is_stated_mean,
    parse_logged_number,
)
from inference.importers.shared.scored import name_and_record_measure_condition
from inference.stimuli.reading.files import require_storable_value, shorten_value

RequestScores: TypeAlias = dict[RequestKey, dict[str, float | None]]


class HelmScores:
    """The scores of several runs.

    Parameters
    ----------
    answers
        Names what the runs hold; its metric comes first. Its conditions and lines are filled here.
    measures
        Of all runs; filled here.
    must_have_metric
        Whether some run must have the metric that comes first: the call names it.
    """

    def __init__(self, answers: HelmAnswers, measures: LoggedMeasures, *, must_have_metric: bool) -> None:
        self._answers, self._measures, self._must_have_metric = answers, measures, must_have_metric

    def read_helm_responses(self) -> Iterator[LoggedResponse]:
        """Go through the scores of all runs: of every request one per metric.

        Raises
        ------
        InputError
            A request or a score is damaged, an instance has two scores by one metric, or no run has the metric that
            the call names.
        """
        metrics: dict[str, None] = {}
        for number, run in enumerate(self._answers.runs):
            scores_by_request = _read_request_scores(run)
            names = dict.fromkeys(name for scores in scores_by_request.values() for name in scores)
            metrics |= names
            first = [self._answers.metric] if self._answers.metric in names else []
            names = dict.fromkeys([*first, *names])
            scores_by_split: dict[tuple[str, str], list[float]] = defaultdict(list)  # of instances as they are
            instances: dict[str, None] = {}
            for request in run.read_helm_requests():
                instances[request.key[0]] = None
                scores = scores_by_request.pop(request.key, {})
                shared = self._answers.build_shared_fields_of_request(number, request)
                setting, fields = self._answers.name_and_build_condition_of_request(number, request.key[2])
                for name in names:
                    score = scores.get(name)
                    if score is not None and not request.key[1]:
                        scores_by_split[name, request.split].append(score)
                    self._measures.note_range_of_measure(name, None)
                    yield LoggedResponse(
                        **shared,
                        condition=name_and_record_measure_condition(
                            self._answers.conditions,
                            name,
                            setting,
                            fields,
                            run.path,
                            "; import the runs into two folders",
                        ),
                        scores=() if score is None else (score,),
                        error=(request.error or f"{STATS} has no {name} of it") if score is None else None,
                    )
            n_left_by_request = [
                sum(score is not None for score in scores.values()) for scores in scores_by_request.values()
            ]
            if any(n_left_by_request):
                self._measures.notes.append(
                    f"left out: {format_quantity(sum(n_left_by_request), 'score')} of {run.path / STATS} about "
                    f"{format_quantity(sum(map(bool, n_left_by_request)), 'request')} that {STATE} does not have"
                )
            self._answers.run_lines.append(
                _summarize_instances_and_mean_agreement(
                    run, len(instances), scores_by_split, run.read_stated_means_by_metric_and_split()
                )
            )
        if metrics and self._must_have_metric and self._answers.metric not in metrics:
            raise InputError(
                f"--metric {shorten_text(self._answers.metric)}: no run has this metric; there are "
                f"{shorten_text(', '.join(metrics), 300)}"
            )


def _read_request_scores(run: HelmRun) -> RequestScores:
    """Read the scores of all requests: metric -> score, None where it counts nothing."""
    scores_by_request: RequestScores = defaultdict(dict)
    for where, key, name, stat in run.iterate_metric_stats_of_requests():
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"{where}: a score is called {shorten_value(name)}; its name must be a text")
        score = _parse_metric_mean(where, str(require_storable_value(where, name)), stat)
        scores = scores_by_request[key]
        if scores.setdefault(name, score) != score:
            raise InputError(f"{where}: two scores by {shorten_text(name)}, {scores[name]} and {score}; leave one out")
    return scores_by_request


def _parse_metric_mean(where: str, name: str, stat: Mapping[str, Any]) -> float | None:
    """Read the mean of a metric's values: of their sum and count, else as it is stated."""
    numbers = [parse_logged_number(where, f"{field} of {name}", stat.get(field)) for field in ("count", "sum", "mean")]
    count, total, mean = numbers
    if count is None or total is None:
        return mean
    return total / count if count > 0 else None


def _summarize_instances_and_mean_agreement(
    run: HelmRun,
    n_instances: int,
    scores_by_split: Mapping[tuple[str, str], list[float]],
    stated_means: Mapping[tuple[str, str], float],
) -> str:
    """Say in one line what a run held, and how many means of instances as they are it states, too."""
    compared = [
        (name, split, math.fsum(scores) / len(scores), stated_means[name, split])
        for (name, split), scores in scores_by_split.items()
        if (name, split) in stated_means
    ]
    differing = [
        f"{name} in {split} is {mean:.6g} (the run states {stated:.6g})"
        for name, split, mean, stated in compared
        if not is_stated_mean(mean, stated)
    ]
    parts = [format_quantity(n_instances, "instance")]
    if compared:
        parts.append(describe_number_of_stated_means(len(compared) - len(differing), len(compared), "run states"))
    return f"{run.path}: {'; '.join([*parts, *differing[:5]])}{' ...' if len(differing) > 5 else ''}"
