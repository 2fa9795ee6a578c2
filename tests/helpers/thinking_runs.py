"""Makes run folders whose conditions think: exact probabilities after every thought, without asking a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from helpers.synthetic import write_run

THOUGHT = "plain/yes-no/thought"
FIELDS: dict[str, Any] = {
    "form": "plain", "option_order": "yes-no", "answer": "thought", "thoughts": 8, "sampler": "maker",
    "temperature": None, "max_tokens": 256,
}  # fmt: skip


def columns_of_thoughts(
    chances: npt.NDArray[np.float64], closed: Sequence[bool], options: Sequence[str], numbers: Sequence[int] = ()
) -> dict[str, Any]:
    """The columns of one response, from the probabilities (thoughts, options) after its thoughts.

    `numbers` are those of a scale, which are the options then.
    """
    names = [*map(str, numbers)] or list(options)
    known = [row for row, ended in zip(chances.tolist(), closed, strict=True) if ended]
    answers = [names[int(np.argmax(row))] if ended else None for row, ended in zip(chances, closed, strict=True)]
    given = [answer for answer in answers if answer is not None]
    most = sorted({given.count(name) for name in names}, reverse=True)
    leaders = [name for name in names if given and given.count(name) == most[0]]
    mean = np.mean(known, axis=0).tolist() if known else None
    score = float(np.dot(mean, numbers) / sum(mean)) if mean and numbers else None
    return {
        "sample_probability": [
            row if ended else None for row, ended in zip(chances.tolist(), closed, strict=True)
        ],
        "probability": mean, "logprob": None if mean is None else np.log(mean).tolist(),
        "mass": sum(mean) if mean else None, "score": score,
        "sample_answer": answers, "unclosed": len(closed) - len(known),
        "answer": (names[int(np.argmax(mean))] if mean else None) if numbers
        else leaders[0] if len(leaders) == 1 else None,
        "thought": [f"thought {place} <b>&" for place in range(len(closed))],
        "thought_tokens": [20 + place for place in range(len(closed))],
        "output": [f" {answer}" if answer else "" for answer in answers],
    }  # fmt: skip


def think(
    rows: pd.DataFrame, chances: npt.NDArray[np.float64], closed: npt.NDArray[np.bool_] | None = None, *,
    options: Sequence[str] = ("agree", "disagree"), numbers: Sequence[int] = (), condition: str = THOUGHT,
) -> pd.DataFrame:  # fmt: skip
    """Add what a model said after its thoughts: chances (rows, thoughts, options), closed (rows, thoughts)."""
    ended = np.ones(chances.shape[:2], bool) if closed is None else closed
    cells = [columns_of_thoughts(c, e.tolist(), options, numbers) for c, e in zip(chances, ended, strict=True)]
    return rows.assign(condition=condition, **{name: [cell[name] for cell in cells] for name in cells[0]})


def write_thinking_run(
    path: Path, share: npt.NDArray[np.float64], mass: npt.NDArray[np.float64] | None = None,
    closed: npt.NDArray[np.bool_] | None = None, *, fields: Mapping[str, Any] | None = None, crossed: bool = True,
    model: str = "m",
) -> Path:  # fmt: skip
    """A run of protocol agreement: `share` (items, wordings, thoughts) is that of agreement of both options' mass."""
    n_items, n_wordings, n_thoughts = share.shape
    whole = np.ones_like(share) if mass is None else mass
    chances = np.stack([share * whole, (1 - share) * whole], axis=-1).reshape(-1, n_thoughts, 2)
    rows = pd.DataFrame(
        [{"item": f"i{i:03d}", "variant": f"p{w}", "model": model, 
          "text": f"{i} of {w}" if crossed else f"{i * i + 7 * w} {chr(97 + i % 26)}{w * i}",
          "attributes": [("template", f"t{w}")] if crossed else None}
         for i in range(n_items) for w in range(n_wordings)]
    )  # fmt: skip
    ended = None if closed is None else closed.reshape(-1, n_thoughts)
    return write_run(
        path, think(rows, chances, ended), conditions={THOUGHT: FIELDS | {"thoughts": n_thoughts} | (fields or {})}
    )
