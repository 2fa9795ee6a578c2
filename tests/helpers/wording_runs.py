"""What the tests of wording and benchmarks share: run folders of protocol `wording`, and the measures the slow way."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.synthetic import write_run

PATTERNS = ("synonym", "antonym", "agreement", "strong_agreement")
YES_NO = ("yes", "no")
NAN = math.nan


def said(
    answers: Mapping[str, Sequence[str | None]],
    gold: Sequence[str | None] | None = None,
    *,
    model: str = "m",
    condition: str = "chat/0-shot",
    language: str = "en",
    task: str = "morality",
    start: int = 0,
) -> pd.DataFrame:
    """Rows for `write_wording`: what a model said to every item, per pattern (one letter each, y, n, or - for invalid).

    >>> said({"original": "yn", "antonym": "ny"}).shape[0]
    4
    """
    letters = {"y": "yes", "n": "no", "-": None}
    rows = [
        {"item": f"i{start + i:03d}", "variant": pattern, "pattern": pattern, "answer": letters[str(letter)],
         "gold": gold[i] if gold else None, "model": model, "condition": condition, "language": language,
         "attributes": {"task": task, "template": f"{pattern}-1"}}
        for pattern, given in answers.items() for i, letter in enumerate(given)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def write_wording(path: Path, rows: pd.DataFrame, **options: Any) -> Path:
    """A run folder of protocol `wording`: antonyms have the canonical labels the other way round."""
    yes_no = options.pop("canonical", YES_NO)
    canonical = [list(yes_no[::-1] if pattern == "antonym" else yes_no) for pattern in rows["pattern"]]
    names = rows["condition"].unique()
    shots = {name: {"form": name.split("/")[0], "shots": int(name.split("/")[1].split("-")[0])} for name in names}
    given = options.pop("conditions", {})
    conditions = {name: {**shots[name], "option_order": "yes-no", **given.get(name, {})} for name in names}
    full = rows.assign(options=[list(yes_no)] * len(rows), canonical=canonical)
    return write_run(
        path, full, protocol="wording", canonical=yes_no, conditions=conditions, study=options.pop("study", "wording"),
        **options,
    )  # fmt: skip


def write_family(path: Path) -> Path:
    """A run of ten models with long names, base and tuned, two numbers of shots; the first never answers validly."""
    names = [f"organisation/a-rather-long-model-name-{i}b{ending}" for i in range(5) for ending in ("", "-it")]
    models = {
        name: {"series": name.removesuffix("-it"), "stage": "tuned" if name.endswith("-it") else "base",
               "parameters": 10 ** (5 + k % 5)}
        for k, name in enumerate(names)
    }  # fmt: skip
    rows = random_rows(names, items=10, conditions=["chat/0-shot", "chat/4-shot"])
    rows.loc[rows["model"] == names[0], "answer"] = None
    return write_wording(path, rows, models=models)


def random_rows(
    models: Sequence[str] = ("m",),
    *,
    items: int = 12,
    conditions: Sequence[str] = ("chat/0-shot",),
    cells: Sequence[tuple[str, str]] = (("en", "morality"),),
    invalid: float = 0.1,
    probabilities: bool = True,
    skill: Sequence[float] | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Plausible answers: a model is right more often the higher its skill, and more drawn to "yes" by agreement."""
    rng = np.random.default_rng(seed)
    pull = {"original": 0.0, "synonym": 0.0, "antonym": 0.3, "agreement": 0.8, "strong_agreement": 0.4}
    parts = []
    for language, task in cells:
        gold = rng.choice(YES_NO, items)
        for number, model in enumerate(models):
            ability = skill[number] if skill is not None else rng.uniform(0.3, 2)
            for condition in conditions:
                belief = ability * np.where(gold == "yes", 1, -1) + rng.normal(0, 1, items)
                for pattern, extra in pull.items():
                    logit = (-belief if pattern == "antonym" else belief) + extra + rng.normal(0, 0.7, items)
                    p_yes, mass = 1 / (1 + np.exp(-logit)), rng.uniform(0.6, 0.99, items)
                    answer = np.where(p_yes > 0.5, "yes", "no").astype(object)
                    answer[rng.random(items) < invalid] = None
                    part = pd.DataFrame({
                        "item": [f"{language}-{task}-{i:03d}" for i in range(items)], "variant": pattern,
                        "pattern": pattern, "text": [f"{pattern} question {i} of {task}" for i in range(items)],
                        "answer": answer, "gold": gold, "model": model, "condition": condition, "language": language,
                        "attributes": [{"task": task, "template": f"{pattern}-1"}] * items,
                    })  # fmt: skip
                    if probabilities:
                        part["probability"] = [[p * m, (1 - p) * m] for p, m in zip(p_yes, mass, strict=True)]
                        part["mass"] = mass
                    parts.append(part)
    return pd.concat(parts, ignore_index=True)


def textbook(rows: pd.DataFrame, pattern: str, invalid: str = "dropped") -> dict[str, float]:
    """The measures of one model on one pattern by plain loops over its pairs, as the paper words them."""
    original = {row["item"]: row for _, row in rows[rows["pattern"] == "original"].iterrows()}
    para = [row for _, row in rows[rows["pattern"] == pattern].iterrows()]
    valid = sum(row["answer"] in YES_NO for row in para) / len(para)
    pairs = [(original[row["item"]], row) for row in para]
    if invalid == "dropped":
        pairs = [(o, p) for o, p in pairs if o["answer"] in YES_NO and p["answer"] in YES_NO]

    def invert(answer):
        return {"yes": "no", "no": "yes"}.get(answer)

    def f(answer):
        return invert(answer) if pattern == "antonym" else answer

    n = len(pairs)
    labelled = [(o, p) for o, p in pairs if o["gold"] in YES_NO]
    if not n:
        return {"n": 0, "valid": valid} | dict.fromkeys(
            ("consistency", "yes", "diff_yes", "excess_yes", "accuracy_original", "accuracy", "diff_acc", "overall"),
            NAN,
        )
    agree = sum(o["answer"] in YES_NO and o["answer"] == f(p["answer"]) for o, p in pairs) / n
    yes, before = sum(p["answer"] == "yes" for _, p in pairs) / n, sum(o["answer"] == "yes" for o, _ in pairs) / n
    expected = sum(f(o["answer"]) == "yes" for o, _ in pairs) / n
    m = len(labelled)
    right_before = sum(o["answer"] == o["gold"] for o, _ in labelled) / m if m else NAN
    right = sum(p["answer"] in YES_NO and f(p["answer"]) == p["gold"] for _, p in labelled) / m if m else NAN
    parts = (right_before, right, agree)
    overall = NAN if any(map(math.isnan, parts)) else 0.0 if 0 in parts else 3 / sum(1 / part for part in parts)
    return {
        "n": n, "valid": valid, "consistency": agree, "yes": yes, "diff_yes": yes - before,
        "excess_yes": yes - expected,
        "accuracy_original": right_before, "accuracy": right, "diff_acc": right - right_before, "overall": overall,
    }  # fmt: skip
