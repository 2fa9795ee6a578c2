"""Make the aggregate of a record of Every Eval Ever: what was run, and the score under every condition."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from analysis.export.paths import make_portable_name

if TYPE_CHECKING:
    from array import array

    from analysis.export.eee_metrics import ScoredCondition
    from analysis.runs import Runs

VERSION = "0.3.0"
UNKNOWN = "unknown"
_LOCAL = frozenset({"causal", "masked", "classifier", "vllm"})  # engines that hold the weights themselves


def build_evaluation_id(runs: Runs, study: str, model: str) -> str:
    """Name a record by what was asked of which weights: the same run has the same name whenever it is exported.

    Parameters
    ----------
    runs
        What is exported.
    study, model
        Their names.

    Returns
    -------
    str
        `evaluation_id`, as in demo/tea_small/0123456789abcdef.
    """
    # The name itself tells a_b from a/b, which has the same place in the id and may have the same revision.
    name, revision = model if "_" in model else None, runs.info["models"][model].get("revision")
    identity_fields = {
        "study": runs.info["studies"][study]["hash"],
        "model": [name, revision] if name and revision else name or revision,
        "conditions": runs.info["conditions"][study],
    }
    digest = hashlib.sha256(json.dumps(identity_fields, sort_keys=True).encode()).hexdigest()
    return f"{study}/{model.replace('/', '_')}/{digest[:16]}"


def split_model_id(model: str) -> tuple[str, str]:
    """Split a model's id into the two folders that the data store has for it; an id without developer has `unknown`."""
    developer, slash, name = model.partition("/")
    return (
        (make_portable_name(developer), make_portable_name(name))
        if slash and name and developer
        else (UNKNOWN, make_portable_name(model))
    )


def build_eee_aggregate_of_model(
    runs: Runs, study: str, model: str, evaluation_id: str, conditions: Mapping[str, ScoredCondition],
    detailed_results: Mapping[str, Any],
    retrieved_at: str,
) -> dict[str, Any]:  # fmt: skip
    """Make the aggregate of a study and a model.

    Parameters
    ----------
    runs
        What is exported.
    study, model
        Their names.
    evaluation_id
        From `build_evaluation_id`.
    conditions
        Condition -> its metric and scores.
    detailed_results
        `detailed_evaluation_results`.
    retrieved_at
        When the record is made: seconds since 1970.

    Returns
    -------
    dict
        As schema 0.3.0 has it; a condition without scores has no result.
    """
    folder = next(folder for folder in runs.folders if folder.study == study and model in folder.info["models"])
    sessions = folder.info["sessions"]
    started = next((session["started"] for session in sessions if session.get("started")), None)
    is_own_run = runs.info["models"][model].get("engine") != "import"
    version = next((v for s in sessions if (v := (s.get("versions") or {}).get("waver"))), None)
    return {
        "schema_version": VERSION,
        "evaluation_id": evaluation_id,
        **({"evaluation_timestamp": started} if started and is_own_run else {}),
        "retrieved_timestamp": retrieved_at,
        "source_metadata": {
            "source_name": "Waver",
            "source_type": "evaluation_run",
            "source_organization_name": UNKNOWN,
            "evaluator_relationship": "other",
        },
        "eval_library": {
            "name": "waver" if is_own_run else UNKNOWN,
            "version": (version or UNKNOWN) if is_own_run else UNKNOWN,
            "additional_details": {"decision_rule": folder.info["decision_rule"], "seed": str(folder.info["seed"])},
        },
        "model_info": _build_model_info(model, runs.info["models"][model], sessions),
        "evaluation_results": [
            _build_condition_result(runs, study, evaluation_id, name, scored)
            for name, scored in conditions.items()
            if scored.scores
        ],
        "detailed_evaluation_results": dict(detailed_results),
    }


def _build_model_info(model: str, fields: Mapping[str, Any], sessions: Any) -> dict[str, Any]:
    """Build `model_info`: the model, who made it, and what ran it."""
    developer, slash, _ = model.partition("/")
    engine = fields.get("engine")
    libraries: Mapping[str, Any] = next((s["versions"] for s in reversed(sessions) if s.get("versions")), {})
    library = {"vllm": "vllm"}.get(str(engine), "transformers")
    runner = {"name": library, "version": libraries.get(library) or UNKNOWN} if engine in _LOCAL else None
    return {
        "name": model,
        "id": model,
        **({"developer": developer} if slash else {}),
        **({"inference_engine": runner} if runner else {}),
        "additional_details": {
            **_convert_fields_to_text(fields),
            # Who holds the weights of a model on a server is not known here, nor whether others can have any weights.
            "deployment_type": "self_deployed" if engine in _LOCAL else UNKNOWN,
            "model_availability": UNKNOWN,
        },
    }


def _build_condition_result(
    runs: Runs, study: str, evaluation_id: str, condition: str, scored_condition: ScoredCondition
) -> dict[str, Any]:
    """Build the result of one condition: its metric, mean score and settings."""
    about, fields = runs.info["studies"][study], runs.info["conditions"][study][condition]
    mean, spread = _compute_mean_and_sd(scored_condition.scores)
    left_out_counts = {f"responses {why}": str(number) for why, number in scored_condition.left_out.items() if number}
    return {
        "evaluation_result_id": f"{evaluation_id}#{condition}",
        "evaluation_name": f"{study}/{condition}",
        "source_data": {
            "dataset_name": study,
            "source_type": "other",
            "additional_details": {f"waver_{key}": value for key, value in _convert_fields_to_text(about).items()},
        },
        "metric_config": dict(scored_condition.metric.config),
        "score_details": {
            "score": mean,
            "details": {"responses": str(len(scored_condition.scores)), **left_out_counts},
            "uncertainty": {
                "num_samples": len(scored_condition.scores),
                **({} if spread is None else {"standard_deviation": spread}),
            },
        },
        "generation_config": {
            "generation_args": _select_generation_settings(fields),
            "additional_details": {"waver_condition": condition, "waver_fields": json.dumps(fields, sort_keys=True)},
        },
    }


def _select_generation_settings(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that the schema has a place for; imported ones may be texts, and have none."""
    settings = {}
    for name, kind, least in (("temperature", int | float, 0), ("max_tokens", int, 1)):
        value = fields.get(name)
        if isinstance(value, kind) and not isinstance(value, bool) and value >= least:
            settings[name] = value
    return settings


def _compute_mean_and_sd(scores: array[float]) -> tuple[float, float | None]:
    """Return the mean and the standard deviation (n - 1) of scores; None for that of one score."""
    mean = math.fsum(scores) / len(scores)
    if len(scores) < 2:
        return mean, None
    return mean, math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / (len(scores) - 1))


def _convert_fields_to_text(fields: Mapping[str, Any]) -> dict[str, str]:
    """Return fields as texts, which is all that `additional_details` may hold: anything but a text as JSON."""
    return {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
        for name, value in fields.items() if value is not None
    }  # fmt: skip
