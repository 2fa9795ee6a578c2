"""What the tests of multiple choice share: run folders of protocol `choice`, and the measures the slow way."""

from __future__ import annotations

import itertools
import json
import math
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.synthetic import write_run

LETTERS = "ABCDE"
WORDINGS = ("original", "paraphrase_1", "paraphrase_2")
LETTER, TEXTS, TEXT = "plain/base/letters", "plain/base/texts", "plain/base/text"
AWARE = "plain/aware/text"


def questions(
    items: int,
    orders: int = 8,
    *,
    choices: Sequence[int] = (4, 5),
    subsets: Sequence[str | None] = (None,),
    seed: int = 0,
) -> pd.DataFrame:
    """Stimuli: questions in three wordings, each in the same random orders of its choices."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(items):
        letters = LETTERS[: choices[i % len(choices)]]
        gold, shown = str(rng.choice(list(letters))), ["".join(rng.permutation(list(letters))) for _ in range(orders)]
        for wording in WORDINGS:
            for number, order in enumerate(shown, start=1):
                attributes = {"wording": wording, "order": order}
                attributes |= {
                    f"choice_{letter}": f"choice {letter} of {i} " + "é" * (ord(letter) - 64) for letter in letters
                }
                subset = subsets[i % len(subsets)]
                attributes |= {"subset": subset} if subset else {}
                rows.append({
                    "item": f"q{i:03d}", "variant": f"{wording.replace('_', '-')}/{number}", "pattern": wording,
                    "text": f"What is asked in question {i}, as {wording} says it?", "gold": gold,
                    "options": list(letters), "canonical": list(order), "attributes": attributes, "language": "en",
                })  # fmt: skip
    return pd.DataFrame(rows)


def answers(
    asked: pd.DataFrame, models: Sequence[str] = ("m",), *, conditions: Sequence[str] = (LETTER,), skill: float = 1.0,
    wobble: float = 1.0, mass: float = 0.9, unparsed: float = 0.0, seed: int = 0,
) -> pd.DataFrame:  # fmt: skip
    """Answers of models that know each question more or less, and less in some wordings and orders.

    Parameters
    ----------
    skill
        How far the right choice is above the others, on a logit scale; of a question, it varies by 2.
    wobble
        Standard deviation of what a wording and an order add to each choice.
    unparsed
        Share of the texts, in conditions that end in "text", that are no answer.
    """
    rng = np.random.default_rng(seed)
    parts = []
    for model in models:
        for condition in conditions:
            known = {item: rng.normal(skill, 2) for item in asked["item"].unique()}
            drift = {
                (item, wording): rng.normal(0, wobble, 5) for item in known for wording in asked["pattern"].unique()
            }
            rows = []
            for row in asked.to_dict("records"):
                logits = drift[row["item"], row["pattern"]] + rng.normal(0, wobble, 5)
                logits = np.array([
                    logits[LETTERS.index(letter)] + known[row["item"]] * (letter == row["gold"])
                    for letter in row["canonical"]
                ])  # fmt: skip
                p = np.exp(logits) / np.exp(logits).sum() * mass
                rows.append(_response(row, model, condition, p, rng.random() < unparsed))
            parts.append(pd.DataFrame(rows))
    return pd.concat(parts, ignore_index=True)


def _response(row: Mapping[str, Any], model: str, condition: str, p: np.ndarray, lost: bool) -> dict[str, Any]:
    best = row["options"][int(p.argmax())]
    said = {**row, "model": model, "condition": condition}
    if condition.endswith("/text"):
        return said | {"answer": None if lost else best, "output": ["…" if lost else f"Answer: {best}"]}
    return said | {"answer": best, "probability": p.tolist(), "logprob": np.log(p).tolist(), "mass": float(p.sum())}


def always(asked: pd.DataFrame, choose: Any, model: str = "m", condition: str = TEXT) -> pd.DataFrame:
    """A model whose answer, a letter as shown or None, is a function of the stimulus."""
    rows = (dict(zip(asked, values, strict=True)) for values in zip(*(asked[name] for name in asked), strict=True))
    return asked.assign(model=model, condition=condition, answer=[choose(row) for row in rows])


def right(row: Mapping[str, Any]) -> str:
    """The letter at which the right choice is shown."""
    return str(row["options"][row["canonical"].index(row["gold"])])


def write_choice(
    path: Path, rows: pd.DataFrame, *, building: Sequence[Mapping[str, Any]] = (), temperature: float | None = 0.0,
    reading: str = "", **options: Any,
) -> Path:  # fmt: skip
    """A run folder of protocol `choice`; its texts are those of a temperature, None: nobody knows which.

    `reading` is how its texts were read, where that is recorded.
    """
    conditions = {}
    for name in rows["condition"].dropna().unique():
        form, prompt, way = name.split("/")
        conditions[name] = {"form": form, "prompt_kind": prompt, "way": way, "format": "answer first"}
        conditions[name] |= {"temperature": temperature} if way == "text" and temperature is not None else {}
        if reading and way == "text":
            conditions[name] |= {"reply_rule": 2, "reply_reading": reading}
    write_run(path, rows, protocol="choice", canonical=list(LETTERS), conditions=conditions,
              study=options.pop("study", "quiz"), **options)  # fmt: skip
    if building:
        info = json.loads((path / "run.json").read_text(encoding="utf-8"))
        info["study"]["building"] = list(building)
        (path / "run.json").write_text(json.dumps(info), encoding="utf-8")
    return path


def meant(row: Mapping[str, Any]) -> str | None:
    """The choice that a row takes, by its letter in the file, the slow way."""
    return row["canonical"][row["options"].index(row["answer"])] if row["answer"] else None


def textbook(rows: pd.DataFrame) -> dict[str, float]:
    """The measures of one model and condition by plain loops over its answers (column `answer`), as the paper says."""
    cells: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for row in rows.to_dict("records"):
        cells.setdefault(row["item"], {}).setdefault(row["pattern"], []).append(row)
    hits = [meant(row) == row["gold"] for row in rows.to_dict("records")]
    deviations, perfect, kinds = [], [], []
    orders, words, whole, letters = [], [], [], []
    by_words: list[float] = []
    by_orders: list[float] = []
    for wordings in cells.values():
        shares = [sum(meant(row) == row["gold"] for row in group) / len(group) for group in wordings.values()]
        deviations.append(statistics.pstdev(shares))
        perfect += [share == 1 for share in shares]
        kinds.append(sum(share == 1 for share in shares))
        groups = list(wordings.values())
        orders += [_one(meant(row) for row in group) for group in groups]
        letters += [_one(row["answer"] for row in group) for group in groups]
        by_order: dict[str, list[Any]] = {}
        for group in groups:
            for row in group:
                by_order.setdefault(row["variant"].split("/")[1], []).append(meant(row))
        words += [_one(group) for group in by_order.values()]
        by_words += [_turned(group) for group in by_order.values()]
        by_orders += [_turned([meant(row) for row in group]) for group in groups]
        whole.append(_one(meant(row) for group in groups for row in group))
    mean = sum(deviations) / len(deviations)
    return {
        "n_questions": len(cells), "n": len(rows), "accuracy": sum(hits) / len(hits), "mean_sd": mean,
        "xparacon": math.inf if mean == 0 else -math.log2(mean), "perfectly_correct": sum(perfect) / len(perfect),
        "n_varying": sum(deviation > 0 for deviation in deviations),
        "no_choice": sum(meant(row) is None for row in rows.to_dict("records")),
        "chance": sum(1 / len(row["options"]) for row in rows.to_dict("records")) / len(rows),
        "n_confident": sum(kind == len(WORDINGS) for kind in kinds), "n_unconfident": kinds.count(0),
        "n_inconsistent": sum(0 < kind < len(WORDINGS) for kind in kinds),
        "same_in_orders": sum(orders) / len(orders), "same_in_wordings": sum(words) / len(words),
        "same_throughout": sum(whole) / len(whole), "same_letter": sum(letters) / len(letters),
        "turned_by_wordings": sum(by_words) / len(by_words), "turned_by_orders": sum(by_orders) / len(by_orders),
        "order_minus_wording": sum(by_orders) / len(by_orders) - sum(by_words) / len(by_words),
    }  # fmt: skip


def _turned(values: Sequence[Any]) -> float:
    pairs = list(itertools.combinations(values, 2))
    return sum(one is None or one != other for one, other in pairs) / len(pairs) if pairs else math.nan


def _one(values: Any) -> bool:
    found = set(values)
    return len(found) == 1 and None not in found
