"""The folder of an export: whole or not at all, replaced only where it is an export, opened by other programs."""

from __future__ import annotations

import json

import pandas as pd
import pytest
import yaml

from analysis.export import folder
from ground.errors import InputError
from helpers.commands import waver
from helpers.synthetic import write_run

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    rows = pd.DataFrame(
        {"item": ["a", "a"], "variant": ["original", "p1"], "agreement": [0.25, 0.75], "model": "m`<b>"}
    )
    rows["text"] = ["Tea, or `coffee`?", "Tea?\r\n=1+1"]
    return write_run(tmp_path_factory.mktemp("run") / "run", rows, models={"m`<b>": {"revision": "r\n1"}})


def export(run, out, kind="parquet"):
    return waver("analysis", "export", run, "--as", kind, "--out", out).stdout


def test_export_json_names_the_command_the_hashes_and_the_files(run, tmp_path):
    said = export(run, tmp_path / "out")
    noted = json.loads((tmp_path / "out" / "export.json").read_text(encoding="utf-8"))
    info = json.loads((run / "run.json").read_text(encoding="utf-8"))
    assert noted["studies"] == {info["study"]["name"]: info["study"]["hash"]}
    assert noted["models"]["m`<b>"] == "r\n1"
    assert noted["command"].endswith(f"export {run} --as parquet --out {tmp_path / 'out'}")
    assert set(noted["files"]) | {"export.json"} == {path.name for path in (tmp_path / "out").iterdir()}
    assert f"{tmp_path / 'out' / 'responses.parquet'}: 2 rows" in said


def test_an_export_replaces_an_earlier_one_of_any_kind(run, tmp_path):
    export(run, tmp_path / "out", "eee")
    export(run, tmp_path / "out", "csv")
    assert not (tmp_path / "out" / "data").exists()
    assert (tmp_path / "out" / "responses.csv").is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_empty_folder_is_filled_and_others_are_refused(run, tmp_path):
    (tmp_path / "out").mkdir()
    export(run, tmp_path / "out")
    (tmp_path / "out" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"notes\.txt is not of the export"):
        folder.refuse_unreplaceable_export_folder(tmp_path / "out")
    (tmp_path / "out" / "export.json").write_text("{}")
    with pytest.raises(InputError, match="is not one that an export wrote"):
        folder.refuse_unreplaceable_export_folder(tmp_path / "out")
    with pytest.raises(InputError, match="holds other files and no export"):
        folder.refuse_unreplaceable_export_folder(run)


def test_an_export_that_fails_leaves_the_earlier_one(tmp_path):
    def fill(aside, text="old"):
        (aside / "table").write_text(text)
        if text == "new":
            raise OSError(28, "No space left on device", "somewhere")
        return {}

    folder.write_export_folder(tmp_path / "out", fill)
    with pytest.raises(OSError, match="out"):
        folder.write_export_folder(tmp_path / "out", lambda aside: fill(aside, "new"))
    assert (tmp_path / "out" / "table").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_card_quotes_names_and_cites(run, tmp_path):
    export(run, tmp_path / "out", "hf")
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "`m'<b>: revision r 1" in card
    assert "@misc{waver2026," in card and "@misc{haller2024," in card
    front = yaml.safe_load(card.split("---\n")[1])
    assert front["configs"][0] == {"config_name": "responses", "data_files": "responses.parquet", "default": True}


def test_datasets_opens_every_table(run, tmp_path, monkeypatch):
    datasets = pytest.importorskip("datasets", reason="needs the extra `datasets`")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_OFFLINE", True)
    export(run, tmp_path / "out", "hf")
    place, cache = str(tmp_path / "out"), str(tmp_path / "cache")
    opened = datasets.load_dataset(place, cache_dir=cache)
    assert opened["train"].num_rows == 2 and opened["train"][0]["item"] == "a"
    names = datasets.get_dataset_config_names(place)
    noted = json.loads((tmp_path / "out" / "export.json").read_text(encoding="utf-8"))["rows"]
    assert [f"{name}.parquet" for name in names] == list(noted)
    for name in names:
        read = datasets.load_dataset(place, name, split="train", cache_dir=cache)
        assert read.num_rows == noted[f"{name}.parquet"]
        assert read.to_pandas().equals(pd.read_parquet(tmp_path / "out" / f"{name}.parquet"))


def test_mlcroissant_finds_no_error_and_reads_every_table(run, tmp_path):
    croissant = pytest.importorskip("mlcroissant", reason="needs the extra `croissant`")
    export(run, tmp_path / "out", "croissant")
    opened = croissant.Dataset(tmp_path / "out" / "croissant.json")
    assert not opened.metadata.ctx.issues.errors
    assert all("license" in warning for warning in opened.metadata.ctx.issues.warnings)  # which nobody has told us
    noted = json.loads((tmp_path / "out" / "export.json").read_text(encoding="utf-8"))["rows"]
    assert [f"{each.name}.parquet" for each in opened.metadata.record_sets] == list(noted)
    for name, rows in noted.items():
        table = name.removesuffix(".parquet")
        read, wanted = list(opened.records(table)), pd.read_parquet(tmp_path / "out" / name)
        assert len(read) == rows
        for row, (_, wanted_row) in zip(read, wanted.iterrows(), strict=True):
            for column, value in wanted_row.items():
                mine = row[f"{table}/{column}"]
                mine = mine.decode() if isinstance(mine, bytes) else mine
                assert mine == value or (pd.isna(mine) and pd.isna(value)), column
