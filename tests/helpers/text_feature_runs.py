"""What the tests of the text-features report share: runs whose answers depend on known features."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from helpers.synthetic import write_run

SUBJECTS = ("the state", "every town", "a good school", "our oldest company", "the free press", "a terrible law")
VERBS = ("should help", "pays for", "ought to protect", "must never forget", "does not need", "relies upon")
OBJECTS = ("people", "the poor and the old", "trade", "its many wonderful neighbours", "art that nobody likes", "work")
TAILS = ("", "today", "in the long run", "even where it costs more than anyone had thought", "as things are")

# Nothing is fetched in a test: where pysentimiento is installed it would try to.
SENTIMENT = "vader" if importlib.util.find_spec("vaderSentiment") else "auto"


def wordings(items: int = 6, paraphrases: int = 30, seed: int = 0) -> pd.DataFrame:
    """item, variant, text: an original and distinct paraphrases of every item."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(items):
        for j in range(paraphrases + 1):
            text = " ".join(rng.choice(part) for part in (SUBJECTS, VERBS, OBJECTS, TAILS)).strip()
            rows.append((f"item-{i}", f"paraphrase-{j:03d}" if j else "original", f"{text.capitalize()}."))
    return pd.DataFrame(rows, columns=["item", "variant", "text"])


def answers(texts: pd.DataFrame, models: Sequence[str] = ("org/one", "org/two"), seed: int = 0) -> pd.DataFrame:
    """Agreement that rises with the length of a wording and falls with its negations, by the same for every model."""
    rng = np.random.default_rng(seed)
    length = texts["text"].str.split().str.len()
    negated = texts["text"].str.contains(r"\b(?:never|not|nobody)\b").astype(float)
    item = texts["item"].map({name: rng.normal(0, 0.8) for name in texts["item"].unique()})
    parts = []
    for model in models:
        logit = item + 0.12 * (length - 8) - 0.8 * negated + rng.normal(0, 0.5, len(texts))
        parts.append(texts.assign(model=model, agreement=1 / (1 + np.exp(-logit)), mass=0.9))
    return pd.concat(parts, ignore_index=True)


def make_run(path: Path, models: Sequence[str] = ("org/one", "org/two"), **sizes: int) -> Path:
    """A run folder of `answers`."""
    return write_run(path, answers(wordings(**sizes), models), study="made up")
