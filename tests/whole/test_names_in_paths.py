"""Nothing that stands in data becomes a part of a path: neither names in a run folder, nor languages, nor metadata."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from analysis import features
from analysis.features import store
from analysis.pages.stability.page import StabilityPage
from ground.errors import InputError
from helpers import text_features
from helpers.synthetic import paraphrases, write_run

pytestmark = pytest.mark.slow

NAMES = ("../../outside", "/tmp/outside", "x" * 300, "a:b", "con.", "Name", "name", "日本")
FIELDS = ("model", "condition", "item", "variant", "pattern", "language", "study")


def listing(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def written(folder: Path, **names: str) -> list[str]:
    """The files that a page and the features leave of a run in which these fields are called so."""
    study = names.pop("study", "s")
    rows = paraphrases({"i": [0.4, 0.6], "j": [0.3, 0.9]}, original=0.4)
    for field, name in names.items():
        rows[field] = np.where(rows["item"] == "i", name, rows[field]) if field == "item" else name
    if "variant" in names:
        rows["variant"] += rows.groupby("item").cumcount().astype(str)
    run = write_run(folder / "inside" / "run", rows, study=study)
    page = StabilityPage([str(run)], folder / "inside" / "report", resamples=0)
    page.table("stability")
    page.figure("overview")
    features.compute_features(run)
    return listing(folder)


def test_the_names_in_a_run_reach_no_file_name(tmp_path):
    plain = written(tmp_path / "plain")
    assert any(name.endswith("overview.svg") for name in plain)
    for first in range(len(NAMES) - len(FIELDS) + 1):  # every field has a name of its own; in the end, all were there
        names = dict(zip(FIELDS, NAMES[first:], strict=False))
        assert written(tmp_path / f"from-{first}", **names) == plain, names
    assert written(tmp_path / "all", **dict.fromkeys(FIELDS, NAMES[0])) == plain
    assert not (tmp_path.parent / "outside").exists()


def test_a_language_is_no_part_of_a_file_name(tmp_path):
    """Neither what a stimulus says, nor what `--language` says, nor what the stored features say."""
    names = ["../../outside", "/tmp/outside", "x" * 300, "a\0b", "EN", "en", "con.", "日本"]
    stems = {name: store.Chunks(tmp_path, name, ("word_length",), {"name": "x"}) for name in names}
    for chunks in stems.values():
        chunks.append_chunk(["One."], {"word_length": [3.0]})
    written = sorted((tmp_path / store.PARTS_FOLDER).iterdir())
    assert len({path.name.casefold() for path in written}) == len(names)
    assert sorted(path for path in tmp_path.rglob("*.parquet")) == written
    assert all(chunks.read_values_by_text() == {"One.": (3.0,)} for chunks in stems.values())


def test_damaged_metadata_of_features_is_one_line(tmp_path):
    run = text_features.write(tmp_path / "run")
    features.compute_features(run)
    table = pq.read_table(run / store.FEATURES_FILE)
    for content in ("{", "[]", '{"format": 1}', '{"format": 1, "components": [{"x": 1}]}', json.dumps({"format": 9})):
        pq.write_table(table.replace_schema_metadata({b"waver": content}), run / store.FEATURES_FILE)
        with pytest.raises(InputError, match=r"features\.parquet: (its metadata is damaged|not a features file)"):
            features.compute_features(run)
