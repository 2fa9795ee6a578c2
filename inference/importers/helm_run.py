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

from ground.errors import InputError, cut
from inference.importers import json_log
from inference.importers.json_log import entries, fields, filled
from inference.stimuli.files import checked, shown
from inference.stimuli.numbers import number

SPEC, STATE, STATS, TOTALS = "run_spec.json", "scenario_state.json", "per_instance_stats.json", "stats.json"
PREDICTED = "predicted_index"
ORIGINAL = "original"
JOINT, SEPARATE = "multiple_choice_joint", "multiple_choice_separate"
_GENERATION = frozenset({"temperature", "max_tokens", "stop_sequences", "random"})
_MODEL = frozenset({"model", "model_deployment"})
# How many were asked and what else is told of an answer: none of it changes what a model is asked.
_AMOUNTS = frozenset(
    {"max_eval_instances", "num_outputs", "num_train_trials", "num_trials", "eval_splits", "reeval_parameters"}
)
Key: TypeAlias = tuple[str, str, int]  # instance, perturbation, trial


@dataclass(frozen=True, slots=True)
class Request:
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
    key: Key
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

    def requests(self) -> Iterator[Request]:
        """Go through the requests; of those for each choice of one question, the first stands for all."""
        path = self.path / STATE
        seen: set[Key] = set()
        states = entries(str(path), _whole(path), "request_states")
        for place, state in enumerate(states, start=1):
            request = _request(f"{path}, request {place}", fields(state), self.method)
            if request.key not in seen:
                seen.add(request.key)
                yield request
            elif not self.method.startswith(SEPARATE):
                raise InputError(f"{request.where}: a second request about instance '{request.key[0]}'; leave one out")
        if not seen:
            raise InputError(f"{path}: there are no requests in it (skip_instances?), so there is nothing to import")

    def scores(self, certain: Collection[str]) -> dict[Key, dict[str, float]]:
        """Read the scores of all requests: metric -> value; each of the metrics in `certain` has one value."""
        path = self.path / STATS
        found: dict[Key, dict[str, float]] = defaultdict(dict)
        listed = _whole(path)
        for place, entry in enumerate(listed if isinstance(listed, list) else (), start=1):
            where = f"{path}, entry {place}"
            its = found[_key(where, fields(entry), fields(entry).get("instance_id"))]
            for stat in map(fields, entries(where, entry, "stats")):
                name, value = fields(stat.get("name")).get("name"), _mean(stat)
                if not isinstance(name, str) or not math.isfinite(value):
                    continue
                if its.setdefault(name, value) != value and name in certain:
                    raise InputError(f"{where}: a second value of {cut(name)} for this instance; leave one out")
        return found

    def stated(self, metric: str) -> dict[str, float]:
        """Read what the run says of instances that were not perturbed: split -> mean over instances and trials."""
        path = self.path / TOTALS
        if not path.exists():
            return {}
        listed = _whole(path)
        stats = [fields(stat) for stat in listed] if isinstance(listed, list) else []
        of = [(fields(stat.get("name")), _mean(stat)) for stat in stats]
        return {
            str(name.get("split")): mean
            for name, mean in of
            if name.get("name") == metric and "perturbation" not in name and math.isfinite(mean)
        }


def read(path: Path) -> HelmRun:
    """Read the facts of a run from its folder.

    Raises
    ------
    InputError
        A file is missing or damaged, or says no model.
    """
    for name in (SPEC, STATE, STATS):
        if not (path / name).is_file():
            raise InputError(f"{path}: no whole folder of a HELM run: there is no {name}")
    spec = fields(_whole(path / SPEC))
    adapter, scenario = fields(spec.get("adapter_spec")), fields(spec.get("scenario_spec"))
    model, method = adapter.get("model") or adapter.get("model_deployment"), adapter.get("method")
    for field, value in (("name", spec.get("name")), ("adapter_spec.model", model), ("adapter_spec.method", method)):
        if not isinstance(value, str) or not value.strip():
            raise InputError(f"{path / SPEC}: {field} must be a name, not {shown(value)}")
    given = ",".join(f"{name}={value}" for name, value in sorted(fields(scenario.get("args")).items()))
    head = spec["name"].partition(":")[0]
    arguments = {name: value for name, value in filled(adapter).items() if name not in _GENERATION | _MODEL | _AMOUNTS}
    settings = {name: value for name, value in filled(adapter).items() if name in _GENERATION}
    checked(str(path / SPEC), [model, head, given, arguments, settings])
    return HelmRun(path, f"{head}:{given}" if given else head, str(model), str(method), arguments, settings)


def _whole(path: Path) -> Any:
    return json_log.read(path, "import the run in parts")


def _key(where: str, entry: Mapping[str, Any], instance: Any) -> Key:
    trial = entry.get("train_trial_index", 0)
    if not isinstance(instance, str) or not instance.strip() or isinstance(trial, bool) or not isinstance(trial, int):
        raise InputError(f"{where}: expected the id of an instance and train_trial_index, a number")
    perturbation = filled(fields(entry.get("perturbation")))
    return instance, json.dumps(perturbation, sort_keys=True) if perturbation else "", trial


def _mean(stat: Mapping[str, Any]) -> float:
    """Read the mean of a score; NaN where it is no number."""
    return math.nan if isinstance(stat.get("mean"), str) else number(stat.get("mean"))


def _request(where: str, state: Mapping[str, Any], method: str) -> Request:
    instance = fields(state.get("instance"))
    key = _key(where, {**state, "perturbation": instance.get("perturbation")}, instance.get("id"))
    question, prompt = fields(instance.get("input")).get("text"), fields(state.get("request")).get("prompt")
    if not isinstance(question, str) or not question.strip():
        raise InputError(f"{where}: the text of the instance is empty, so nothing was asked")
    references = [fields(reference) for reference in entries(where, instance, "references")]
    words = [str(fields(reference.get("output")).get("text")) for reference in references]
    right = {place for place, each in enumerate(references) if "correct" in entries(where, each, "tags")}
    choices, labels = _choices(state, words, method)
    if choices != tuple(words):  # another order than that of the references
        right = {place for place, text in enumerate(choices) if text in {words[each] for each in right}}
    result = fields(state.get("result"))
    output = _output(where, result)
    letter = None if output is None else output.strip()
    return Request(
        where=where,
        key=key,
        question=str(checked(where, question)),
        prompt=str(checked(where, prompt)) if isinstance(prompt, str) else question,
        split=str(instance.get("split", "none")),
        choices=tuple(checked(where, choices)),
        gold=min(right) if choices and len(right) == 1 else None,
        answer=labels.index(letter) if letter in labels else None,
        output=output,
        error=None if output is not None else f"no completion ({cut(str(result.get('error', 'none was recorded')))})",
    )


def _choices(state: Mapping[str, Any], words: list[str], method: str) -> tuple[tuple[str, ...], list[str]]:
    """Find the choices as the prompt shows them, and their letters there."""
    if method.startswith(SEPARATE):
        return tuple(words), []
    if method != JOINT:
        return (), []
    mapping = fields(state.get("output_mapping"))
    return tuple(map(str, mapping.values())), list(mapping)


def _output(where: str, result: Mapping[str, Any]) -> str | None:
    """Find the text that HELM scores: of several completions the likeliest."""
    completions = [fields(each) for each in entries(where, result, "completions")]
    if not completions or result.get("success") is False:
        return None
    for each in completions:
        if not isinstance(each.get("text"), str) or not isinstance(each.get("logprob", 0), int | float):
            raise InputError(f"{where}: a completion needs a text, and a number as logprob")
    likeliest = max(completions, key=lambda each: each.get("logprob", 0))
    return str(checked(where, likeliest["text"]))
