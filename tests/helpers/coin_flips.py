"""Runs of models that answer at random, once per wording: whatever differs between wordings is chance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers import choice_runs, negation_runs
from helpers.scoring_runs import condition, name_of, stimuli, write_scores
from helpers.synthetic import CANONICAL, write_run
from helpers.wording_runs import PATTERNS, write_wording

WORDINGS = 5
TEMPLATES = tuple(f"template-{number}" for number in range(1, WORDINGS + 1))


def name_models(number: int) -> list[str]:
    return [f"coin-{place}" for place in range(1, number + 1)]


def say_in_words(item: int, place: int) -> str:
    """A text that shares its words with the same place of few other items: no template."""
    drawn = np.random.default_rng([item, place]).integers(0, 40, 6)
    return " ".join(["Trade", *(f"w{'aeiou'[word % 5]}{'bdfgklmn'[word // 5]}" for word in drawn), "pays."])


def flip_agreement(
    path: Path, models: int, items: int, *, samples: int = 1, fields: Mapping[str, Any] | None = None,
    shared: bool = False, effect: float = 0.0, seed: int = 0,
) -> Path:  # fmt: skip
    """Write a run of statements in five paraphrases, or templates that all items share.

    Parameters
    ----------
    samples
        Texts per wording; with one, the answer alone is recorded, as an import does.
    fields
        Of the condition; by default the temperature is not known.
    effect
        How far from a half every wording moves the probability to agree, up or down.
    """
    rng, rows = np.random.default_rng(seed), []
    for model in name_models(models):
        for item in range(items):
            for place in range(WORDINGS):
                share = 0.5 + effect * rng.choice([-1, 1])
                agree = int(rng.binomial(samples, share))
                said = {"answer": CANONICAL[0] if 2 * agree > samples else CANONICAL[1]}
                if samples > 1:
                    said |= {"count": [agree, samples - agree], "invalid": 0}
                named = {"attributes": {"template": TEMPLATES[place]}} if shared else {}
                rows.append({"model": model, "item": f"i{item:03d}", "variant": f"p{place + 1}",
                             "text": say_in_words(item, place), **said, **named})  # fmt: skip
    frame = pd.DataFrame(rows).assign(condition="import")
    return write_run(path, frame, conditions={"import": {"form": "import", **(fields or {})}})


def flip_wording(path: Path, models: int, items: int, seed: int = 0) -> Path:
    """Write yes/no questions, the original and four kinds of rewording."""
    rng, rows = np.random.default_rng(seed), []
    for model in name_models(models):
        for item in range(items):
            for pattern in ("original", *PATTERNS):
                rows.append({
                    "item": f"i{item:03d}", "variant": pattern, "pattern": pattern, "answer": rng.choice(["yes", "no"]),
                    "gold": ("yes", "no")[item % 2], "model": model, "condition": "chat/0-shot", "language": "en",
                    "attributes": {"task": "facts"},
                })  # fmt: skip
    return write_wording(path, pd.DataFrame(rows))


def flip_choice(path: Path, models: int, items: int, seed: int = 0) -> Path:
    """Write questions of four choices in three wordings and two orders."""
    rng, asked = np.random.default_rng(seed), choice_runs.questions(items, 2, choices=(4,))
    rows = [choice_runs.always(asked, lambda row: str(rng.choice(list("ABCD"))), model)
            for model in name_models(models)]  # fmt: skip
    return choice_runs.write_choice(path, pd.concat(rows), temperature=0.7)


def flip_negation(path: Path, models: int, items: int, seed: int = 0) -> Path:
    """Write pairs of sentences with and without negations; each of the labels is as likely."""
    rng, asked = np.random.default_rng(seed), negation_runs.stimuli(items)
    rows = [
        asked.assign(
            model=model, condition=negation_runs.CONDITION, answer=rng.choice(negation_runs.LABELS, len(asked))
        )
        for model in name_models(models)
    ]
    return negation_runs.write_negation(path, pd.concat(rows, ignore_index=True))


def flip_scoring(path: Path, models: int, items: int, seed: int = 0) -> Path:
    """Write one number from 0 to 9 for every text and each of five prompts."""
    rng, parts, conditions = np.random.default_rng(seed), [], {}
    asked = stimuli({"g": np.linspace(0, 100, items)})
    for place in range(WORDINGS):
        prompt = f"prompt-{place}" if place else None
        name = "/".join(filter(None, (prompt, name_of((0, 9), 0.7, "sampled"))))
        conditions[name] = condition((0, 9), 0.7, "sampled", 1) | {"prompt": prompt, "prompt_hash": f"h{place}"}
        for model in name_models(models):
            numbers = rng.integers(0, 10, items)
            parts.append(asked.assign(model=model, condition=name, score=numbers.astype(float), invalid=0, clipped=0,
                                      output=[[str(number)] for number in numbers]))  # fmt: skip
    return write_scores(path, pd.concat(parts, ignore_index=True), conditions)


FLIPS: dict[str, Callable[[Path, int, int], Path]] = {
    "agreement": flip_agreement,
    "wording": flip_wording,
    "choice": flip_choice,
    "negation": flip_negation,
    "scoring": flip_scoring,
}


def list_answers(models: Sequence[str], items: int, seed: int = 0) -> list[dict[str, str]]:
    """The rows of a table of answers, as another tool would write it."""
    rng = np.random.default_rng(seed)
    return [
        {"model": model, "item": f"i{item:03d}", "variant": f"p{place}", "text": say_in_words(item, place),
         "reply": str(rng.choice(["agree", "disagree"]))}
        for model in models for item in range(items) for place in range(WORDINGS)
    ]  # fmt: skip
