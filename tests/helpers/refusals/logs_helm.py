"""Damaged and contradictory folders of HELM runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from helpers.eval_logs import COLOURS, helm, perturbed, request, scored
from helpers.refusals import Case


def runs(*words: str) -> tuple[str, ...]:
    """The call that imports HELM runs into the folder `run`."""
    return ("inference", "import", "helm", *words, "--out", "run")


def run_of(*requests: Mapping[str, Any], **settings: Any) -> Callable[[Path], None]:
    """Write the folder `helm` of a run."""

    def into(folder: Path) -> None:
        helm(folder / "helm", requests, **settings)

    return into


def without(file: str) -> Callable[[Path], None]:
    """Write the folder of a run that lacks a file."""

    def into(folder: Path) -> None:
        (helm(folder / "helm", [request()]) / file).unlink()

    return into


def holding(file: str, content: Any) -> Callable[[Path], None]:
    """Write the folder of a run with another content of a file."""

    def into(folder: Path) -> None:
        text = content if isinstance(content, str) else json.dumps(content)
        (helm(folder / "helm", [request()]) / file).write_text(text, encoding="utf-8")

    return into


def two_runs(folder: Path) -> None:
    """Write two runs of one model that say the same."""
    for name in ("one", "two"):
        helm(folder / "suite" / name, [request()])


APART = {**request(), "output_mapping": None, "reference_index": 0}
CASES = [
    # the folder
    Case("no folder", runs("helm"), ("helm", "no folder")),
    Case("a folder without a run", runs("helm"), ("helm", "no scenario_state.json"), {"helm/readme.txt": "Hello."}),
    *(
        Case(f"no {name}", runs("helm"), ("helm", f"there is no {name}"), without(name))
        for name in ("run_spec.json", "scenario_state.json", "per_instance_stats.json")
    ),
    Case("one run under two names", runs("helm", "./helm"), ("helm", "given twice"), run_of(request())),
    Case(
        "a state that was cut off",
        runs("helm"),
        ("scenario_state.json", "malformed JSON"),
        holding("scenario_state.json", '{"request_states": ['),
    ),
    Case("a run without a model", runs("helm"), ("run_spec.json", "adapter_spec.model"), run_of(request(), model=None)),
    Case(
        "a temperature that is infinite",
        runs("helm"),
        ("helm", "temperature is inf", "cannot be recorded"),
        run_of(request(), temperature=float("inf")),
    ),
    Case(
        "a model whose name would steer a terminal",
        runs("helm"),
        ("helm", "model '\\x1b[31m'", "control character"),
        run_of(request(), model="\x1b[31m"),
    ),
    Case(
        "half a character in a split",
        runs("helm"),
        ("scenario_state.json, request 1", "surrogate"),
        run_of({**request(), "instance": {**request()["instance"], "split": "\ud800"}}),
    ),
    Case("a run without requests", runs("helm"), ("scenario_state.json", "no requests"), run_of()),
    # its requests and scores
    Case(
        "tags that are no list",
        runs("helm"),
        ("request 1", "tags must be a list"),
        run_of({**request(), "instance": {**request()["instance"], "references": [{"tags": 1}]}}, stats=[]),
    ),
    Case(
        "a score of 400 digits",
        runs("helm"),
        ("request 1", "no exact_match"),
        run_of(request(), stats=[scored(request(), exact_match=10**400)]),
    ),
    Case(
        "an instance without an id",
        runs("helm"),
        ("request 1", "id of an instance"),
        run_of({**request(), "instance": {}}, stats=[]),
    ),
    Case(
        "an instance without a text",
        runs("helm"),
        ("request 1", "nothing was asked"),
        run_of({**request(), "instance": {"id": "id1"}}, stats=[]),
    ),
    Case(
        "a trial as text",
        runs("helm"),
        ("request 1", "train_trial_index"),
        run_of(request(train_trial_index="0"), stats=[]),
    ),
    Case(
        "a completion without a text",
        runs("helm"),
        ("request 1", "a completion needs a text"),
        run_of(request(result={"completions": [{"logprob": 0}]}), stats=[]),
    ),
    Case(
        "two requests about one instance",
        runs("helm"),
        ("request 2", "second request", "id1"),
        run_of(request(), request()),
    ),
    Case(
        "no score of an instance",
        runs("helm"),
        ("request 1", "id1", "no exact_match", "--scores"),
        run_of(request(), stats=[]),
    ),
    Case("a metric that is not there", runs("helm", "--metric", "f1"), ("no f1", "exact_match"), run_of(request())),
    Case(
        "a metric beyond 1",
        runs("helm", "--metric", "tokens"),
        ("has 333 as tokens", "exact_match"),
        run_of(request(), stats=[scored(request(), tokens=333)]),
    ),
    Case(
        "a score as text",
        runs("helm"),
        ("no exact_match",),
        run_of(request(), stats=[scored(request(), exact_match="0")]),
    ),
    Case(
        "two scores of an instance",
        runs("helm"),
        ("entry 2", "second value of exact_match"),
        run_of(request(), stats=[scored(request()), scored(request(), exact_match=1.0)]),
    ),
    Case(
        "a letter that the metric contradicts",
        runs("helm"),
        ("request 1", "the score is 1", "--right-or-wrong"),
        run_of(request(), stats=[scored(request(), exact_match=1.0)]),
    ),
    Case(
        "no likeliest choice",
        runs("helm"),
        ("request 1", "no predicted_index among its 3 choices"),
        run_of(APART, method="multiple_choice_separate_original"),
    ),
    Case("two runs that say the same", runs("suite"), ("two", "already"), two_runs),
    Case(
        "a setting that is not there",
        runs("helm", "--variant-key", "shots"),
        ("--variant-key shots", "method"),
        run_of(request()),
    ),
    Case(
        "a perturbation that takes a choice away",
        runs("helm"),
        ("request 2", "2 options", "had 3 before"),
        run_of(
            request(), request(perturbation=perturbed("typos"), output_mapping=dict(zip("AB", COLOURS, strict=False)))
        ),
    ),
]
