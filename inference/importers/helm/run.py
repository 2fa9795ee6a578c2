"""Read the folder of one HELM run: what was asked, what was answered, and how HELM scored it.

``run_spec.json`` says how a model was asked, ``scenario_state.json`` holds the requests, ``per_instance_stats.json``
the scores. An instance that HELM perturbed keeps its id, so a perturbation is a wording of it.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from ground.errors import InputError, shorten_text
from inference.importers.shared import json_log
from inference.importers.shared.json_log import (
    drop_empty_values,
    get_nested_object_or_empty,
    parse_json_number_or_nan,
    parse_list_field,
)
from inference.runfolder.parquet import replace_nul_characters
from inference.stimuli.reading.files import require_storable_value, shorten_value

SPEC, STATE, STATS, TOTALS = "run_spec.json", "scenario_state.json", "per_instance_stats.json", "stats.json"
PREDICTED = "predicted_index"
EXACT_MATCH = "exact_match"  # the metric that counts where the call names none
ORIGINAL = "original"
JOINT, SEPARATE = "multiple_choice_joint", "multiple_choice_separate"
_GENERATION = frozenset({"temperature", "max_tokens", "stop_sequences", "random"})
_MODEL = frozenset({"model", "model_deployment"})
# How many instances, outputs and trials there are, and what is judged again: none of it changes what a model is asked.
_AMOUNTS = frozenset(
    {"max_eval_instances", "num_outputs", "num_train_trials", "num_trials", "eval_splits", "reeval_parameters"}
)

RequestKey: TypeAlias = tuple[str, str, int]  # instance, perturbation, trial


@dataclass(frozen=True, slots=True)
class HelmRequest:
    """One request about an instance.

    Attributes
    ----------
    key
        Instance, perturbation (as HELM describes it, in JSON; empty for the instance itself) and number of the trial,
        of which each has other examples in the prompt.
    question, prompt
        The input of the instance, and the whole prompt.
    choices
        The words of the choices, in the order shown; empty where there is no list of them.
    gold
        Place of the right choice; None where there are none or several.
    answer
        Place of the choice that the text gives; None: it gives none.
    """

    where: str
    key: RequestKey
    question: str
    prompt: str
    split: str
    choices: tuple[str, ...]
    gold: int | None
    answer: int | None
    output: str | None
    error: str | None


@dataclass(frozen=True, slots=True)
class HelmRun:
    """The facts of a run.

    Attributes
    ----------
    task
        The scenario with what it was given, `mmlu:subject=philosophy`.
    method
        How HELM turns an instance into requests.
    arguments, settings
        Of the prompt (instructions, number of examples ...), and of the generation (temperature ...).
    """

    path: Path
    task: str
    model: str
    method: str
    arguments: Mapping[str, Any]
    settings: Mapping[str, Any]

    def read_helm_requests(self) -> Iterator[HelmRequest]:
        """Go through the requests; of those for each choice of one question, the first stands for all.

        Raises
        ------
        InputError
            A request is damaged or there twice, or there is none.
        """
        path = self.path / STATE
        read_keys: set[RequestKey] = set()
        states = parse_list_field(str(path), _read_helm_json_file(path), "request_states")
        for place, state in enumerate(states, start=1):
            request = _parse_helm_request(f"{path}, request {place}", get_nested_object_or_empty(state), self.method)
            if request.key not in read_keys:
                read_keys.add(request.key)
                yield request
            elif not self.method.startswith(SEPARATE):
                raise InputError(f"{request.where}: a second request about instance '{request.key[0]}'; leave one out")
        if not read_keys:
            raise InputError(f"{path}: there are no requests in it (skip_instances?), so there is nothing to import")

    def iterate_metric_stats_of_requests(self) -> Iterator[tuple[str, RequestKey, Any, dict[str, Any]]]:
        """Go through the scores of all requests.

        Yields
        ------
        File and entry, for messages; the request; the name of the metric; and the score, as HELM writes it.

        Raises
        ------
        InputError
            An entry is damaged.
        """
        path = self.path / STATS
        entries = _read_helm_json_file(path)
        for place, entry in enumerate(entries if isinstance(entries, list) else (), start=1):
            where, fields = f"{path}, entry {place}", get_nested_object_or_empty(entry)
            key = _parse_request_key(where, fields, fields.get("instance_id"))
            for stat in map(get_nested_object_or_empty, parse_list_field(where, fields, "stats")):
                yield where, key, get_nested_object_or_empty(stat, "name").get("name"), stat

    def read_scores_by_request_and_metric(
        self, single_valued_metrics: Collection[str]
    ) -> dict[RequestKey, dict[str, float]]:
        """Read the scores of all requests: request -> metric -> value.

        Parameters
        ----------
        single_valued_metrics
            Metrics that must have one value per request; of the others, the first one counts.

        Returns
        -------
        Request -> metric -> value; without those that are no finite numbers.

        Raises
        ------
        InputError
            An entry is damaged, or has a second value of one of these metrics.
        """
        scores_by_request: dict[RequestKey, dict[str, float]] = defaultdict(dict)
        for where, key, name, stat in self.iterate_metric_stats_of_requests():
            value = parse_json_number_or_nan(stat.get("mean"))
            if not isinstance(name, str) or not math.isfinite(value):
                continue
            if scores_by_request[key].setdefault(name, value) != value and name in single_valued_metrics:
                raise InputError(f"{where}: a second value of {shorten_text(name)} for this instance; leave one out")
        return scores_by_request

    def read_stated_means_by_metric_and_split(self) -> dict[tuple[str, str], float]:
        """Read what the run says of all instances of a split as they are: metric and split -> mean."""
        path = self.path / TOTALS
        if not path.exists():
            return {}
        entries = _read_helm_json_file(path)
        stats = [get_nested_object_or_empty(stat) for stat in (entries if isinstance(entries, list) else ())]
        named_means = [
            (get_nested_object_or_empty(stat, "name"), parse_json_number_or_nan(stat.get("mean"))) for stat in stats
        ]
        return {
            (str(name.get("name")), str(name.get("split"))): mean
            for name, mean in named_means
            if name.keys().isdisjoint(("perturbation", "sub_split")) and math.isfinite(mean)
        }


def read_facts_of_helm_run(path: Path) -> HelmRun:
    """Read the facts of a run from its folder.

    Raises
    ------
    InputError
        A file is missing or damaged, or says no model.
    """
    for name in (SPEC, STATE, STATS):
        if not (path / name).is_file():
            raise InputError(f"{path}: no whole folder of a HELM run: there is no {name}")
    spec = get_nested_object_or_empty(_read_helm_json_file(path / SPEC))
    adapter = get_nested_object_or_empty(spec, "adapter_spec")
    model, method = adapter.get("model") or adapter.get("model_deployment"), adapter.get("method")
    for field, value in (("name", spec.get("name")), ("adapter_spec.model", model), ("adapter_spec.method", method)):
        if not isinstance(value, str) or not value.strip():
            raise InputError(f"{path / SPEC}: {field} must be a name, not {shorten_value(value)}")
    scenario_arguments = ",".join(
        f"{name}={value}" for name, value in sorted(get_nested_object_or_empty(spec, "scenario_spec", "args").items())
    )
    head = spec["name"].partition(":")[0]
    arguments = {
        name: value for name, value in drop_empty_values(adapter).items() if name not in _GENERATION | _MODEL | _AMOUNTS
    }
    settings = {name: value for name, value in drop_empty_values(adapter).items() if name in _GENERATION}
    require_storable_value(str(path / SPEC), [model, head, scenario_arguments, arguments, settings])
    return HelmRun(
        path,
        f"{head}:{scenario_arguments}" if scenario_arguments else head,
        str(model),
        str(method),
        arguments,
        settings,
    )


def _read_helm_json_file(path: Path) -> Any:
    """Read a JSON file of a run's folder."""
    return json_log.read_json_log(path, "import the run in parts")


def _parse_request_key(where: str, entry: Mapping[str, Any], instance: Any) -> RequestKey:
    """Parse what identifies a request: the id of the instance, its perturbation, and the number of the trial."""
    trial = entry.get("train_trial_index", 0)
    if not isinstance(instance, str) or not instance.strip() or isinstance(trial, bool) or not isinstance(trial, int):
        raise InputError(f"{where}: expected the id of an instance and train_trial_index, a number")
    perturbation = drop_empty_values(get_nested_object_or_empty(entry, "perturbation"))
    return instance, json.dumps(perturbation, sort_keys=True) if perturbation else "", trial


def _parse_helm_request(where: str, state: Mapping[str, Any], method: str) -> HelmRequest:
    """Parse a request with its choices, the right one, the answer and the text that was written."""
    instance = get_nested_object_or_empty(state, "instance")
    key = _parse_request_key(where, {**state, "perturbation": instance.get("perturbation")}, instance.get("id"))
    question = get_nested_object_or_empty(instance, "input").get("text")
    prompt = get_nested_object_or_empty(state, "request").get("prompt")
    if not isinstance(question, str) or not question.strip():
        raise InputError(f"{where}: the text of the instance is empty, so nothing was asked")
    references = [*map(get_nested_object_or_empty, parse_list_field(where, instance, "references"))]
    words = [str(get_nested_object_or_empty(reference, "output").get("text")) for reference in references]
    right = {
        place for place, candidate in enumerate(references) if "correct" in parse_list_field(where, candidate, "tags")
    }
    choices, labels = _find_shown_choices(state, words, method)
    if choices != tuple(words):  # another order than that of the references
        right = {place for place, text in enumerate(choices) if text in {words[candidate] for candidate in right}}
    result = get_nested_object_or_empty(state, "result")
    output = _find_scored_text(where, result)
    letter = None if output is None else output.strip()
    return HelmRequest(
        where=where,
        key=key,
        question=str(require_storable_value(where, question)),
        prompt=str(require_storable_value(where, prompt)) if isinstance(prompt, str) else question,
        split=str(instance.get("split", "none")),
        choices=tuple(require_storable_value(where, choices)),
        gold=min(right) if choices and len(right) == 1 else None,
        answer=labels.index(letter) if letter in labels else None,
        output=output,
        error=None
        if output is not None
        else f"no completion ({shorten_text(str(result.get('error', 'none was recorded')))})",
    )


def _find_shown_choices(state: Mapping[str, Any], words: list[str], method: str) -> tuple[tuple[str, ...], list[str]]:
    """Find the choices as the prompt shows them, and their letters there."""
    if method.startswith(SEPARATE):
        return tuple(words), []
    if method != JOINT:
        return (), []
    mapping = get_nested_object_or_empty(state, "output_mapping")
    return tuple(map(str, mapping.values())), list(mapping)


def _find_scored_text(where: str, result: Mapping[str, Any]) -> str | None:
    """Find the text that HELM scores: of several completions the likeliest."""
    completions = [*map(get_nested_object_or_empty, parse_list_field(where, result, "completions"))]
    if not completions or result.get("success") is False:
        return None
    for completion in completions:
        if not isinstance(completion.get("text"), str) or not isinstance(completion.get("logprob", 0), int | float):
            raise InputError(f"{where}: a completion needs a text, and a number as logprob")
    likeliest = max(completions, key=lambda completion: completion.get("logprob", 0))
    return str(require_storable_value(where, replace_nul_characters(likeliest["text"])))
