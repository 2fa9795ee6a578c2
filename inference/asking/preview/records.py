"""Write a preview as JSON, as `inference/asking/preview/schema.json` explains it."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from contextlib import closing
from typing import Any

from ground.errors import InputError
from inference.asking.preview import Example, ModelPreview, RoundPreview
from inference.stimuli.study import Study

ENGINE_FIELDS = ("engine", "revision", "parameters", "dtype", "device", "base_url")


def render_preview_json_and_list_errors(
    study: Study, previews_by_model: Mapping[str, Generator[ModelPreview, None, None]]
) -> tuple[str, list[str]]:
    """Write a preview as JSON: of the models that could be previewed, and which others could not, and why.

    Parameters
    ----------
    study
        What is to be asked.
    previews_by_model
        Model -> what `load_models_and_yield_previews` says of it alone.

    Returns
    -------
    tuple
        The text, and a line per model that failed.
    """
    models, failed = [], {}
    for model, model_previews in previews_by_model.items():
        try:
            with closing(model_previews):  # the engine of one that fails makes room for the next
                models += [_build_model_record(model_preview) for model_preview in model_previews]
        except InputError as error:
            failed[model] = str(error)
    content = {
        "format": 1,
        "study": study.name,
        "protocol": study.protocol,
        "n_items": len(study.items),
        "n_variants": len(list(study.variants)),
        "models": models,
        "failed": [{"model": model, "error": error} for model, error in failed.items()],
        "n_prompts": sum(model["n_prompts"] for model in models),
        "seconds": sum(model["seconds"] for model in models),
    }
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n", list(failed.values())


def _build_model_record(model_preview: ModelPreview) -> dict[str, Any]:
    """Build the record of a model; its rounds are timed meanwhile."""
    rounds = [_build_round_record(round_preview) for round_preview in model_preview.rounds]
    return {
        "model": model_preview.model,
        **{field: model_preview.info.get(field) for field in ENGINE_FIELDS},
        "rounds": rounds,
        "n_prompts": sum(round_["n_prompts"] for round_ in rounds),
        "seconds": sum(round_["seconds"] for round_ in rounds),
    }


def _build_round_record(round_preview: RoundPreview) -> dict[str, Any]:
    """Build the record of a round."""
    example = round_preview.example
    return {
        "conditions": list(round_preview.conditions),
        "n_prompts": round_preview.n_prompts,
        "n_tokens": round_preview.n_tokens,
        "seconds": round_preview.seconds,
        "is_at_most": round_preview.is_at_most,
        "bill": round_preview.bill,
        "example": None if example is None else _build_example_record(example),
    }


def _build_example_record(example: Example) -> dict[str, Any]:
    """Build the record of the first prompt of a round: its text, and how its options are spelled and answered."""
    explanation, score = example.explanation, example.explanation.score
    labels = list(map(str, explanation.numbers)) if explanation.numbers is not None else list(example.labels)
    options = [
        {
            "option": label,
            "probability": score.probability[place] if score.probability else None,
            "counted": [{"form": form, "tokens": list(ids)} for form, ids in explanation.options[place]],
            "not_counted": [
                {"form": form, "reason": reason} for option, form, reason in explanation.dropped if option == place
            ],
        }
        for place, label in enumerate(labels)
    ]
    return {
        "item": example.variant.item,
        "variant": example.variant.variant,
        "text": explanation.text,
        "n_tokens": explanation.n_tokens,
        "options": options,
        "mass": score.mass,
        "mass_upper": score.mass_upper,
        "answer": None if score.answer is None else labels[score.answer],
        "error": score.error,
    }
