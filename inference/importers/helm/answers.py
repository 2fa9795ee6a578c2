"""Turn the requests of several HELM runs into logged responses: perturbations are wordings of their instance."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ground.errors import InputError, format_quantity, shorten_text
from inference.importers.helm.run import JOINT, ORIGINAL, PREDICTED, SEPARATE, STATS, HelmRequest, HelmRun, RequestKey
from inference.importers.shared import log_differences, saving
from inference.importers.shared.logged_responses import LoggedResponse


class HelmAnswers:
    """The responses of several runs.

    Parameters
    ----------
    runs
        The runs.
    metric
        What tells right from wrong.
    variant_key
        The setting of the prompt that tells wordings apart; None: those that differ between the runs of one model.
    outcomes_only
        Whether of multiple choice, too, only the outcome counts.

    Attributes
    ----------
    conditions
        condition name -> fields, as far as responses have been gone through.
    run_lines
        A line on every run, likewise.

    Raises
    ------
    InputError
        No run has the setting.
    """

    def __init__(self, runs: Sequence[HelmRun], metric: str, *, variant_key: str | None, outcomes_only: bool) -> None:
        self.conditions: dict[str, dict[str, Any]] = {}
        self.run_lines: list[str] = []
        self.runs, self.metric, self._outcomes = runs, metric, outcomes_only
        self._has_several_tasks = len({run.task for run in runs}) > 1
        groups = [(run.task, run.model) for run in runs]
        settings, arguments = [run.settings for run in runs], [run.arguments for run in runs]
        variant_settings = (
            log_differences.list_settings_differing_within_groups(groups, arguments)
            if variant_key is None
            else [variant_key]
        )
        if variant_key is not None and not any(variant_key in run_arguments for run_arguments in arguments):
            setting_names = ", ".join(dict.fromkeys(name for run_arguments in arguments for name in run_arguments))
            raise InputError(
                f"--variant-key {shorten_text(variant_key)}: no run has this setting; there are "
                f"{shorten_text(setting_names, 300)}"
            )
        self._prompts = log_differences.name_logs_by_settings(arguments, variant_settings, "")
        self._names = log_differences.name_conditions_by_settings(groups, settings)
        self._fields = log_differences.collect_shared_settings_by_condition(
            self._names, [{"method": run.method, **run.settings} for run in runs]
        )
        self._perturbations: dict[str, list[str]] = defaultdict(list)  # name -> descriptions that have it

    def read_helm_responses(self) -> Iterator[LoggedResponse]:
        """Go through the responses of all runs.

        Raises
        ------
        InputError
            A request is damaged, has no score from 0 to 1, or one that contradicts the choice taken.
        """
        for number, run in enumerate(self.runs):
            letters = not self._outcomes and (run.method == JOINT or run.method.startswith(SEPARATE))
            scores = run.read_scores_by_request_and_metric((self.metric, PREDICTED))
            rights: dict[str, list[bool]] = defaultdict(list)  # of instances as they are: split -> right?
            wordings: dict[str, set[str]] = defaultdict(set)
            partial = 0
            for request in run.read_helm_requests():
                credit = self._require_credit_of_request(request, scores)
                response = self._build_helm_response(
                    number, request, credit, scores.get(request.key, {}), with_letters=letters
                )
                wordings[response.item].add(response.wording)
                partial += not letters and 0 < credit < 1
                if not request.key[1] and request.error is None:
                    rights[request.split].append(response.answer == (response.gold if letters else 0))
                yield response
            means = run.read_stated_means_by_metric_and_split()
            stated = {split: mean for (metric, split), mean in means.items() if metric == self.metric}
            self.run_lines.append(
                _describe_helm_run_and_accuracy_agreement(run, rights, stated, wordings, partial, with_letters=letters)
            )

    def _require_credit_of_request(
        self, request: HelmRequest, scores: Mapping[RequestKey, Mapping[str, float]]
    ) -> float:
        """Find the score of a request, from 0 (wrong) to 1 (right); 0 where it failed."""
        request_scores = scores.get(request.key, {})
        credit = request_scores.get(self.metric)
        if request.error is not None:
            return 0.0
        if credit is None or not 0 <= credit <= 1:
            metric_names = ", ".join(name for name, value in request_scores.items() if value in (0, 1))
            choice = f", or choose with --metric NAME: {shorten_text(metric_names, 300)}" if metric_names else ""
            value = "has no" if credit is None else f"has {credit:g} as"
            raise InputError(
                f"{request.where}: instance '{request.key[0]}' {value} {shorten_text(self.metric)} in {STATS}, so "
                f"nothing tells right from wrong; import numbers by --scores{choice}"
            )
        return credit

    def _build_helm_response(
        self,
        run_number: int,
        request: HelmRequest,
        credit: float,
        request_scores: Mapping[str, float],
        *,
        with_letters: bool,
    ) -> LoggedResponse:
        """Make the response of a request: the choice taken, or only whether it is right."""
        run = self.runs[run_number]
        answer: int | None = int(credit != 1)
        if with_letters:
            answer = (
                request.answer if run.method == JOINT else _read_predicted_choice_from_scores(request, request_scores)
            )
            _refuse_contradicting_score(request, credit, answer)
        condition, fields = self.name_and_build_condition_of_request(run_number, request.key[2])
        self.conditions.setdefault(condition, {**fields, "metric": self.metric})
        return LoggedResponse(
            **self.build_shared_fields_of_request(run_number, request),
            condition=condition,
            choices=request.choices if with_letters else (),
            gold=request.gold if with_letters else None,
            answer=answer,
            error=request.error,
        )

    def build_shared_fields_of_request(self, run_number: int, request: HelmRequest) -> dict[str, Any]:
        """Make what responses to a request share, whatever is read of them: all but their condition.

        Parameters
        ----------
        run_number
            Number of the run.
        request
            A request of it.

        Returns
        -------
        Fields of a `LoggedResponse`.
        """
        run = self.runs[run_number]
        return {
            "where": request.where,
            "model": run.model,
            "item": f"{run.task}:{request.key[0]}" if self._has_several_tasks else request.key[0],
            "wording": self._name_helm_wording(run_number, request.key[1]),
            "text": request.prompt if any(self._prompts) else request.question,
            "output": None if request.output is None or run.method.startswith(SEPARATE) else (request.output,),
            "attributes": {"split": request.split, **({"subset": run.task} if self._has_several_tasks else {})},
        }

    def name_and_build_condition_of_request(self, run_number: int, trial: int) -> tuple[str, dict[str, Any]]:
        """Name how a request was asked; each trial has other examples in the prompt.

        Parameters
        ----------
        run_number
            Number of the run.
        trial
            Of the request, from 0 on.

        Returns
        -------
        The name, and the fields of a condition.
        """
        setting = self._names[run_number]
        fields = {"form": saving.IMPORT_FORM, **self._fields[setting]}
        return (f"{setting}/trial {trial + 1}", {**fields, "trial": trial + 1}) if trial else (setting, fields)

    def _name_helm_wording(self, run_number: int, perturbation: str) -> str:
        """Name a wording by its perturbation and by what differs between the prompts; others of a name are numbered."""
        name = ORIGINAL
        if perturbation:
            name = str(json.loads(perturbation).get("name", "perturbed"))
            descriptions = self._perturbations[name]
            if perturbation not in descriptions:
                descriptions.append(perturbation)
            place = descriptions.index(perturbation) + 1
            name += f"-{place}" if place > 1 else ""
        prompt = self._prompts[run_number]
        return f"{prompt}, {name}" if prompt and perturbation else prompt or name


def _read_predicted_choice_from_scores(request: HelmRequest, request_scores: Mapping[str, float]) -> int | None:
    """Find the choice that HELM took, where it asked about each one apart."""
    if request.error is not None:
        return None
    place = request_scores.get(PREDICTED)
    if place is None or not 0 <= place < len(request.choices) or place % 1:
        raise InputError(
            f"{request.where}: per_instance_stats.json has no {PREDICTED} among its {len(request.choices)} choices; "
            "import it with --right-or-wrong"
        )
    return int(place)


def _refuse_contradicting_score(request: HelmRequest, credit: float, answer: int | None) -> None:
    """Refuse a choice that the score does not agree with; a fraction tells that several choices were likeliest."""
    if request.error is None and request.gold is not None and credit in (0, 1) and (answer == request.gold) != credit:
        raise InputError(
            f"{request.where}: the score is {credit:g}, but the choice that was taken says otherwise; with "
            "--right-or-wrong the scores count"
        )


def _describe_helm_run_and_accuracy_agreement(
    run: HelmRun,
    rights_by_split: Mapping[str, Sequence[bool]],
    stated_accuracies: Mapping[str, float],
    wordings: Mapping[str, set[str]],
    n_partial: int,
    *,
    with_letters: bool,
) -> str:
    """Say in one line what a run held, and whether its accuracy is that of the rows."""
    parts = [format_quantity(len(wordings), "instance")]
    for split, right in rights_by_split.items():
        accuracy = sum(right) / len(right)
        part = f"accuracy {accuracy:.3f} of {len(right):,} in {split}"
        if split in stated_accuracies:
            part += (
                ", as the run states"
                if abs(accuracy - stated_accuracies[split]) < 1e-6
                else f" (it states {stated_accuracies[split]:.3f})"
            )
        parts.append(part)
    if n_partial:
        parts.append(f"{format_quantity(n_partial, 'partial score')} taken as wrong (--scores keeps them)")
    every = set().union(*wordings.values())
    gaps = sum(its != every for its in wordings.values())
    if gaps:
        advice = "; the page on choices needs them all, --right-or-wrong does not" if with_letters else ""
        parts.append(f"{gaps:,} without some of the {len(every)} wordings{advice}")
    return f"{run.path}: {', '.join(parts)}"
