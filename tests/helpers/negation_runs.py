"""What the tests of negation share: run folders of protocol `negation`, and the measures the slow way."""

from __future__ import annotations

import itertools
import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from analysis import runs
from analysis.reporting.catalogue import tables
from helpers.synthetic import write_run

LABELS = ("entailment", "contradiction", "neutral")
CONDITION = "plain/0-shot"
# Variant -> its pattern, its parents, where its premise's and its hypothesis's negation stands.
GROUP: Mapping[str, tuple[str, tuple[str, ...], str, str]] = {
    "original": ("original", (), "", ""),
    "p_neg-1": ("p_neg", ("original",), "end", ""),
    "p_neg-2": ("p_neg", ("original",), "mid", ""),
    "h_neg-1": ("h_neg", ("original",), "", "end"),
    "p_neg_h_neg-1": ("p_neg_h_neg", ("p_neg-1", "h_neg-1"), "end", "end"),
    "p_neg_h_neg-2": ("p_neg_h_neg", ("p_neg-2", "h_neg-1"), "mid", "end"),
}
TARGETS = {"end": "動詞", "mid": "形容詞"}


def stimuli(items: int, seed: int = 0, variants: Sequence[str] = tuple(GROUP), places: bool = True) -> pd.DataFrame:
    """Originals with random right labels, each with these variants; odd items lack the last one."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(items):
        for variant in variants[: len(variants) - i % 2 if len(variants) > 2 else None]:
            pattern, parents, premise, hypothesis = GROUP[variant]
            there = {"premise": premise, "hypothesis": hypothesis}
            attributes = {"premise": f"premise {i} {variant}", "hypothesis": f"hypothesis {i} {variant}"}
            if places:
                attributes |= {f"{side}_position": place for side, place in there.items() if place}
                attributes |= {f"{side}_target": TARGETS[place] for side, place in there.items() if place}
            rows.append({
                "item": f"i{i:03d}", "variant": variant, "pattern": pattern, "parents": list(parents) or None,
                "text": f"premise {i} {variant}\nhypothesis {i} {variant}", "gold": rng.choice(LABELS),
                "options": list(LABELS), "canonical": list(LABELS), "attributes": attributes, "language": "ja",
            })  # fmt: skip
    return pd.DataFrame(rows)


def answers(
    asked: pd.DataFrame, models: Sequence[str] = ("m",), *, conditions: Sequence[str] = (CONDITION,),
    skill: float = 0.7, loss: float = 0.3, invalid: float = 0.05, seed: int = 0,
) -> pd.DataFrame:  # fmt: skip
    """Answers of models that are right with probability `skill`, and less often by `loss` where a sentence is negated.

    Every original has a luck of its own, so that its answers go together.
    """
    rng = np.random.default_rng(seed)
    parts = []
    for model in models:
        for condition in conditions:
            luck = dict(zip(asked["item"].unique(), rng.normal(0, 0.25, asked["item"].nunique()), strict=True))
            chance = skill - loss * (asked["pattern"] != "original") + asked["item"].map(luck)
            right = rng.random(len(asked)) < chance
            wrong = [rng.choice([label for label in LABELS if label != gold]) for gold in asked["gold"]]
            said = np.where(right, asked["gold"], wrong).astype(object)
            probability = rng.dirichlet([1, 1, 1], len(asked)) * 0.2
            probability[np.arange(len(asked)), [LABELS.index(label) for label in said]] += 0.7
            said[rng.random(len(asked)) < invalid] = None
            parts.append(asked.assign(model=model, condition=condition, answer=said, mass=0.9,
                                      probability=[list(map(float, row)) for row in probability]))  # fmt: skip
    return pd.concat(parts, ignore_index=True)


def write_negation(path: Path, rows: pd.DataFrame, **options: Any) -> Path:
    """A run folder of protocol `negation`."""
    names = rows["condition"].unique()
    conditions = {name: {"form": name.split("/")[0], "shots": int(name.split("/")[1].split("-")[0])} for name in names}
    return write_run(
        path, rows, protocol="negation", canonical=options.pop("canonical", LABELS), conditions=conditions,
        study=options.pop("study", "neg"), **options,
    )  # fmt: skip


def pairs(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """The minimal pairs of one model and condition, by plain loops."""
    known = {(row["item"], row["variant"]): row for row in rows.to_dict("records")}
    found = []
    for row in known.values():
        for parent in row["parents"] or ():
            before = known[row["item"], parent]
            side = "premise" if row["pattern"] == "p_neg" or before["pattern"] == "h_neg" else "hypothesis"
            found.append({
                "item": row["item"], "important": row["gold"] != before["gold"],
                "position": row["attributes"].get(f"{side}_position"),
                "target": row["attributes"].get(f"{side}_target"),
                "before": before["answer"] == before["gold"], "after": row["answer"] == row["gold"],
            })  # fmt: skip
    return found


def textbook(rows: pd.DataFrame, **wanted: Any) -> dict[str, float]:
    """Acc, Acc' and AccChg of one model and condition over the pairs with these properties, as the paper says."""
    chosen = [pair for pair in pairs(rows) if all(pair[name] == value for name, value in wanted.items())]
    n = len(chosen)
    acc = sum(pair["before"] for pair in chosen) / n if n else math.nan
    negated = sum(pair["after"] for pair in chosen) / n if n else math.nan
    return {"n": n, "n_items": len({pair["item"] for pair in chosen}), "acc": acc, "acc_negated": negated,
            "acc_change": negated - acc}  # fmt: skip


# Types of both sides of a minimal pair of JNLI-Neg -> the sentences that they must have in common.
ONE_MORE = {("original", "p_neg"): (), ("original", "h_neg"): (),
            ("p_neg", "p_neg_h_neg"): ("sentence1",), ("h_neg", "p_neg_h_neg"): ("sentence2",)}  # fmt: skip


def said_in(run: Path) -> dict[str, dict[tuple[str, str, str], str | None]]:
    """Read the labels said in a run: model and condition -> number of the original and both sentences -> label."""
    asked = {(row["item"], row["variant"]): row for row in pq.read_table(run / "stimuli.parquet").to_pylist()}
    said: dict[str, dict[tuple[str, str, str], str | None]] = defaultdict(dict)
    for part in sorted((run / "responses").glob("*.parquet")):
        for row in pq.read_table(part, partitioning=None).to_pylist():
            premise, hypothesis = asked[row["item"], row["variant"]]["text"].split("\n")
            said[f"{row['model']} {row['condition']}"][row["item"], premise, hypothesis] = row["answer"]
    return said


def published(file: Path, said: Mapping[tuple[str, str, str], str | None]) -> dict[str, dict[str, float]]:
    """Measure answers to a file of JNLI-Neg by plain loops over its rows.

    Returns
    -------
    dict
        `original` and `negated` (n, accuracy); `important` and `unimportant`, and each of them with `end` and `mid`
        (n, acc, acc_negated, acc_change).
    """
    groups: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in map(json.loads, filter(str.strip, file.read_text(encoding="utf-8").split("\n"))):
        key = str(row["jnli_sentence_pair_id"]), row["sentence1"]["sentence"], row["sentence2"]["sentence"]
        groups[row["jnli_sentence_pair_id"]].append(row | {"right": said[key] == row["gold_label"]})
    found: dict[str, list[tuple[bool, ...]]] = defaultdict(list)
    for rows in groups.values():
        for row in rows:
            found["original" if row["type"] == "original" else "negated"].append((row["right"],))
        for before, after in itertools.product(rows, rows):
            common = ONE_MORE.get((before["type"], after["type"]))
            if common is None or any(before[side]["sentence"] != after[side]["sentence"] for side in common):
                continue
            side = "sentence1" if after["type"] == "p_neg" or before["type"] == "h_neg" else "sentence2"
            kind = "important" if before["gold_label"] != after["gold_label"] else "unimportant"
            for name in (kind, f"{kind} {after[side]['neg']['neg_position']}"):
                found[name].append((before["right"], after["right"]))
    measured = {}
    for name, pairs in found.items():
        shares = [sum(side) / len(pairs) for side in zip(*pairs, strict=True)]
        names = ("accuracy",) if len(shares) == 1 else ("acc", "acc_negated")
        measured[name] = {"n": len(pairs), **dict(zip(names, shares, strict=True))}
        if len(shares) == 2:
            measured[name]["acc_change"] = shares[1] - shares[0]
    return measured


def differences(run: Path, file: Path) -> list[str]:
    """List where the tables of the page differ by more than rounding from `published`, for every model of a run."""
    opened, faults = runs.open_runs(run), []
    shown = {
        name: tables.build_table(name, opened) for name in ("negation_accuracy", "minimal_pairs", "negation_places")
    }
    named = {
        "negation_accuracy": lambda row: row["sentences"],
        "minimal_pairs": lambda row: row["pairs"],
        "negation_places": lambda row: f"{row['pairs']} {row['value']}",
    }
    for unit, said in said_in(run).items():
        slow = published(file, said)
        compared = set()
        for table, frame in shown.items():
            for row in frame.to_dict("records"):
                if f"{row['model']} {row['condition']}" == unit and row.get("by") in (None, "position"):
                    part = named[table](row)
                    compared.add(part)
                    faults += [
                        f"{unit}, {part}: {name} is {row[name]}, by plain loops {value}"
                        for name, value in slow[part].items()
                        if not math.isclose(row[name], value, abs_tol=1e-12)
                    ]
        faults += [f"{unit}, {part}: not in a table" for part in sorted(slow.keys() - compared)]
    return faults
