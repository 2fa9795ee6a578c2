"""Makes run folders of protocol `scoring` without asking a model: judges of known bias and accuracy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.synthetic import write_run

ENDS = ("lowest", "highest")


@dataclass(frozen=True)
class Judge:
    """`insight`: how far its scores follow the human ones, 0 to 1; `habit`: how strongly it prefers one number."""

    series: str
    stage: str
    insight: float
    habit: float


FAMILY = {
    "org/small": Judge("small", "base", 0.3, 0.0),
    "org/small-tuned": Judge("small", "tuned", 0.5, 4.0),
    "org/large": Judge("large", "base", 0.5, 0.0),
    "org/large-tuned": Judge("large", "tuned", 0.8, 1.5),
}


def name_of(span: Sequence[int], temperature: float, method: str) -> str:
    """The condition's name as `inference` gives it."""
    return f"plain/{span[0]}-{span[1]}/t{temperature:g}" + ("/exact" if method == "exact" else "")


def condition(span: Sequence[int], temperature: float, method: str, samples: int = 10) -> dict[str, Any]:
    """The fields of a condition in run.json."""
    exact = method == "exact"
    return {"form": "plain", "range": list(span), "temperature": temperature, "samples": None if exact else samples,
            "method": method, "prompt": None}  # fmt: skip


def stimuli(groups: Mapping[str, Sequence[float]], gold_range: str = "0-100") -> pd.DataFrame:
    """item, variant, text, gold_score, attributes: one row per human score of every group (NaN: none)."""
    rows = [
        {"item": f"{group}-{i:04d}", "variant": "original", "text": f"output {i} of {group}", "gold_score": score,
         "attributes": [("group", group), ("gold_range", gold_range), ("source", f"source {i}")]}
        for group, scores in groups.items() for i, score in enumerate(scores)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def write_scores(path: Path, rows: pd.DataFrame, conditions: Mapping[str, Mapping[str, Any]], **options: Any) -> Path:
    """A scoring run with these responses: columns of `stimuli` and model, condition, score ..."""
    return write_run(path, rows, protocol="scoring", canonical=ENDS, conditions=conditions, **options)


def one_judge(path: Path, scores: Sequence[float], gold: Sequence[float], span: Sequence[int] = (0, 9)) -> Path:
    """One model `m` that gave each item one sample; NaN: it was no number."""
    name = name_of(span, 0.7, "sampled")
    rows = stimuli({"g": gold}).assign(model="m", condition=name, score=np.asarray(scores, float))
    rows["output"] = [["I cannot say" if np.isnan(score) else f"{score:g}"] for score in rows["score"]]
    rows["invalid"], rows["clipped"] = rows["score"].isna().astype(int), 0
    return write_scores(path, rows, {name: condition(span, 0.7, "sampled", 1)})


def make_run(
    path: Path,
    groups: Mapping[str, int],
    *,
    family: Mapping[str, Judge] = FAMILY,
    ranges: Sequence[tuple[int, int]] = ((0, 9), (1, 5)),
    temperatures: Sequence[float] = (0.7, 1.3),
    methods: Sequence[str] = ("sampled", "exact"),
    samples: int = 10,
    seed: int = 0,
    study: str = "made up",
) -> Path:
    """Every judge of a family rates every item in every setting; `groups` maps names to numbers of items."""
    rng = np.random.default_rng(seed)
    items = stimuli({group: rng.beta(3, 1.5, size) * 100 for group, size in groups.items()})
    parts, conditions = [], {}
    for model, judge in family.items():
        opinion = judge.insight * items["gold_score"] / 100 + (1 - judge.insight) * rng.uniform(0, 1, len(items))
        for span in ranges:
            for temperature in temperatures:
                chances = _chances(opinion.to_numpy(), judge, span, temperature)
                for method in methods:
                    name = name_of(span, temperature, method)
                    conditions[name] = condition(span, temperature, method, samples)
                    answers = _exact(chances, span) if method == "exact" else _sampled(chances, span, samples, rng)
                    parts.append(pd.concat([items, answers], axis=1).assign(model=model, condition=name))
    models = {name: {"series": judge.series, "stage": judge.stage} for name, judge in family.items()}
    return write_scores(path, pd.concat(parts, ignore_index=True), conditions, study=study, models=models)


def _chances(opinion: np.ndarray, judge: Judge, span: Sequence[int], temperature: float) -> np.ndarray:
    """(items, numbers): probabilities that sum to 0.9."""
    numbers = np.linspace(0, 1, span[1] - span[0] + 1)
    logit = -8 * np.abs(numbers - opinion[:, None]) + judge.habit * (np.abs(numbers - 0.75) < 0.6 / len(numbers)) * 2
    weights = np.exp(logit / temperature)
    return 0.9 * weights / weights.sum(axis=1, keepdims=True)


def _exact(chances: np.ndarray, span: Sequence[int]) -> pd.DataFrame:
    numbers = np.arange(span[0], span[1] + 1)
    mass = chances.sum(axis=1)
    return pd.DataFrame(
        {"probability": list(chances), "logprob": list(np.log(chances)), "mass": mass,
         "score": chances @ numbers / mass, "answer": numbers[chances.argmax(axis=1)].astype(str)}
    )  # fmt: skip


def _sampled(chances: np.ndarray, span: Sequence[int], samples: int, rng: np.random.Generator) -> pd.DataFrame:
    """Samples with a tenth of chatter, and a fifth of those that give the highest number beyond the range."""
    low, high = span
    sums = chances.cumsum(axis=1)
    drawn = (rng.uniform(0, 1, (len(chances), samples, 1)) > sums[:, None]).sum(axis=2)
    spoken = drawn < high - low + 1
    beyond = (drawn == high - low) & (rng.uniform(0, 1, drawn.shape) < 0.2)
    texts = np.where(spoken, np.where(beyond, str(high + 1), (drawn + low).astype(str)), "Sure!")
    with np.errstate(invalid="ignore"):
        score = np.where(spoken, drawn + low, 0).sum(axis=1) / np.where(spoken.any(axis=1), spoken.sum(axis=1), np.nan)
    return pd.DataFrame(
        {"output": [list(row) for row in texts], "invalid": (~spoken).sum(axis=1), "clipped": beyond.sum(axis=1),
         "score": score}
    )  # fmt: skip
