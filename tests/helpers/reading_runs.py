"""Writes runs whose answers are read in several ways: probabilities, texts by two rules, a judge, after thinking."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from helpers.reading_errors import squash
from helpers.synthetic import CANONICAL, write_run

PLAIN = "plain/yes-no"
TEXT, JUDGED, THOUGHT = f"{PLAIN}/text", f"{PLAIN}/text/judge-org/judge", f"{PLAIN}/thought"
WAYS = (PLAIN, TEXT, JUDGED, THOUGHT)


def condition_fields(temperature=1.0, samples=8) -> dict[str, dict]:
    """Fields of the conditions, as a run has them."""
    base = {"form": "plain", "option_order": "yes-no", "prompt": None, "prompt_hash": "h"}
    text = {"answer": "text", "temperature": temperature, "samples": samples, "max_tokens": 32, "text_rule": 2}
    thought = {"answer": "thought", "thoughts": samples, "sampler": "maker", "temperature": None, "max_tokens": 64}
    return {PLAIN: base, TEXT: {**base, **text}, JUDGED: {**base, **text, "reads": TEXT, "judge": "org/judge"},
            THOUGHT: {**base, **thought}}  # fmt: skip


def reading_rows(model="m", *, items=12, wordings=8, samples=8, seed=0, misread=0.0, no_rule=0.2, spread=1.0, mass=0.95,
                 unclosed=0.05, temperature=1.0, ways=WAYS) -> pd.DataFrame:  # fmt: skip
    """Rows of all conditions; `misread`: share of texts that the lenient rule reads as the other answer, by wording."""
    rng = np.random.default_rng(seed)
    rows = []
    for item in range(items):
        centre = rng.normal(0, 1.2)
        for wording in range(wordings):
            logit = centre + rng.normal(0, spread)
            key = {"model": model, "item": f"item-{item:02d}", "variant": f"p{wording + 1}"}
            share = squash(logit)
            said = rng.random(samples) < squash(logit / temperature)
            error = misread * rng.choice([0.0, 0.5, 3.0], p=[0.5, 0.2, 0.3])
            lenient = [CANONICAL[int(not (text ^ (rng.random() < error)))] for text in said]
            strict = [None if rng.random() < no_rule else CANONICAL[int(not text)] for text in said]
            judged = [[0.93, 0.02] if text else [0.04, 0.91] for text in said]
            thoughts = [
                None if rng.random() < unclosed else [0.98 * part, 0.98 * (1 - part)]
                for part in squash(logit + rng.normal(0, 0.8, samples))
            ]
            closed = [part for part in thoughts if part]
            outputs = [
                f"I <b>{'agree' if text else 'disagree'}</b> (option {CANONICAL[int(not text)]})" for text in said
            ]
            counts = [lenient.count(label) for label in CANONICAL]
            probabilities = {PLAIN: [mass * share, mass * (1 - share)], JUDGED: np.mean(judged, axis=0).tolist(),
                             THOUGHT: np.mean(closed, axis=0).tolist() if closed else None}  # fmt: skip
            by_way = {
                PLAIN: {}, TEXT: {"sample_answer": lenient, "sample_answer_otherwise": strict, "output": outputs,
                                  "count": counts, "invalid": 0, "answer": CANONICAL[int(counts[1] > counts[0])]},
                JUDGED: {"sample_probability": judged},
                THOUGHT: {"sample_probability": thoughts, "unclosed": samples - len(closed),
                          "output": ["x"] * samples, "thought": ["hm"] * samples},
            }  # fmt: skip
            for way in ways:
                row = {**key, "condition": way, **by_way[way]}
                if probabilities.get(way):
                    row |= {"probability": probabilities[way], "mass": sum(probabilities[way])}
                    row["answer"] = CANONICAL[int(probabilities[way][0] < probabilities[way][1])]
                rows.append(row)
    return pd.DataFrame(rows)


def write_readings(path: Path, frame: pd.DataFrame | None = None, *, study="synthetic", **options) -> Path:
    """Write a run; three models that differ unless a frame is given."""
    if frame is None:
        models = {"org/small": 0, "org/middle": 1, "org/large": 2}
        frame = pd.concat([
            reading_rows(model, **{"seed": seed, "misread": 0.15, **options}) for model, seed in models.items()
        ], ignore_index=True)  # fmt: skip
    for column in ("probability", "count", "output", "sample_answer", "sample_answer_otherwise", "sample_probability",
                   "thought"):  # fmt: skip
        if column in frame:
            frame[column] = [value if isinstance(value, list) else None for value in frame[column]]
    return write_run(path, frame, study=study, conditions=condition_fields())


def write_sheet(path: Path, frame: pd.DataFrame, *, texts=3, study="synthetic") -> Path:
    """Write a sheet of people who read the first texts of every wording; they read what each text says."""
    rows = []
    for row in frame[frame["condition"] == TEXT].to_dict("records"):
        for number, text in enumerate(row["output"][:texts], start=1):
            option = CANONICAL[0] if "<b>agree" in text else CANONICAL[1]
            rows.append((study, row["model"], TEXT, row["item"], row["variant"], number, text, option))
    columns = ["study", "model", "condition", "item", "variant", "sample", "text", "option"]
    pd.DataFrame(rows, columns=columns).to_csv(path, index=False)
    return path
