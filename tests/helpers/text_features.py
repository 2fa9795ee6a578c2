"""What the tests of text features share: runs, a spaCy pipeline that has learned nothing, packages that seem absent."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from analysis.features import store
from helpers.synthetic import write_run

OPTIONAL = ("spacy", "wordfreq", "fugashi", "vaderSentiment", "pysentimiento")
TEXTS = ["Dogs bark.", "No dog barks.", "Dogs are good and happy.", "Dogs are horrible.", "Dogs bark."]


def hide(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Make these distributions look as if they were not installed, and all others as they are."""

    def version(name: str) -> str:
        if name in names:
            raise importlib.metadata.PackageNotFoundError(name)
        return importlib.metadata.distribution(name).version

    monkeypatch.setattr("ground.version.metadata.version", version)


def make_pipeline(path: Path, seed: int = 1, language: str = "en") -> Path:
    """Write a pipeline with an untrained parser; the seed decides which nonsense it finds."""
    import spacy

    spacy.util.fix_random_seed(seed)
    nlp = spacy.blank(language)
    parser = nlp.add_pipe("parser")
    for label in ("nsubj", "obj"):
        parser.add_label(label)
    nlp.initialize()
    nlp.to_disk(path)
    return path


def write(path: Path, texts: Sequence[str] = TEXTS, language: str | Sequence[str] | None = None) -> Path:
    """A run with these wordings of two items, the first wording of each its original."""
    rows = pd.DataFrame({"text": list(texts), "item": [f"i{k % 2}" for k in range(len(texts))]})
    rows["variant"] = ["original" if k < 2 else f"p{k}" for k in range(len(texts))]
    return write_run(path, rows.assign(agreement=0.5, language=language))


def kept(path: Path) -> pd.DataFrame:
    """The rows of the features that a folder holds."""
    return pq.ParquetFile(path / store.FEATURES_FILE).read().to_pandas()
