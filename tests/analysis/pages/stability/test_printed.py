"""The printed tables, and when they follow ours."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from analysis import runs
from analysis.pages.stability.printed import read_printed_stability
from analysis.reporting.catalogue import tables
from analysis.reporting.catalogue.published_numbers import FOLDER, OURS
from helpers.synthetic import write_run

PRINTED = [
    "mark",
    "validity",
    "validity_se",
    "range_mean",
    "range_sd",
    "sd_mean",
    "sd_sd",
    "flip_05",
    "flip_10",
    "flip_25",
]


@pytest.fixture(scope="module")
def statements(shared):
    """The 62 printed statements, which are not ours to keep."""
    text = (shared / "political-compass-paraphrases" / "paraphrases_gpt3.5-turbo_temp1.json").read_text(
        encoding="utf-8"
    )
    return [entry["original_statement"] for entry in json.loads(text)]


def asked(statements, models=("FacebookAI/roberta-large",), paraphrases=3):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        [
            {"model": m, "item": f"s{i}", "variant": v, "agreement": rng.random(),
             "text": text if v == "original" else f"{v} of {i}"}
            for m in models
            for i, text in enumerate(statements)
            for v in ["original", *(f"paraphrase-{j}" for j in range(paraphrases))]
        ]
    )  # fmt: skip


def compared(path, frame):
    return tables.build_table("published", runs.open_runs(write_run(path, frame)), resamples=20)


@pytest.mark.slow
def test_a_printed_model_follows_ours_on_the_printed_items(statements, tmp_path):
    frame = compared(tmp_path / "run", asked(statements, ["FacebookAI/roberta-large", "someone/else"]))
    assert set(frame["model"]) == {"FacebookAI/roberta-large"}
    assert list(frame["source"]) == [
        OURS,
        "Haller et al., Table 1, paraphrases by gpt-3.5-turbo",
        "Haller et al., Table 7, paraphrases by claude-3-5-sonnet",
    ]
    assert frame.iloc[1][["validity", "range_mean", "flip_25"]].tolist() == [1.0, 0.44, 0.29]
    ours = tables.build_table("stability", runs.open_runs(tmp_path / "run"), resamples=20)
    assert frame.iloc[0]["sd_mean"] == ours.set_index("model")["sd_mean"]["FacebookAI/roberta-large"]


def test_spelling_and_spacing_do_not_hide_a_match(statements, tmp_path):
    frame = asked([f"  {text.upper()} " for text in statements], ["ROBERTA-large"])
    assert len(compared(tmp_path / "run", frame)) == 3


def test_claudes_items_match_without_the_six_it_refused(statements, tmp_path):
    assert len(compared(tmp_path / "run", asked(statements[:56]))) == 3


@pytest.mark.parametrize("change", ["too few", "another item"])
def test_other_items_do_not_match(statements, tmp_path, change):
    texts = statements[:55] if change == "too few" else [*statements[:61], "Bread is better than cake."]
    frame = compared(tmp_path / "run", asked(texts))
    assert frame.empty
    assert {"source", "validity", "flip_10"} <= set(frame.columns)


def test_printed_numbers_are_plausible_and_complete():
    rows = read_printed_stability()
    assert len(rows) == 18 + 3
    for name in PRINTED[1:]:
        assert rows[name].between(0, 1).all(), name
    assert (rows["flip_05"] >= rows["flip_10"]).all()
    assert (rows["flip_10"] >= rows["flip_25"]).all()
    marked = rows.set_index("printed")["mark"]
    assert list(marked[marked == "-"].index) == ["DistilRoBERTa-Base"]
    assert (marked == "+").sum() == 7
    repeated = pd.read_csv(FOLDER / "haller_table7.csv")
    first = pd.read_csv(FOLDER / "haller_table1.csv").set_index("model")
    for _, row in repeated[repeated["paraphrases"] == "gpt-3.5-turbo"].iterrows():
        assert row[PRINTED[1:]].tolist() == first.loc[row["model"], PRINTED[1:]].tolist()


def test_every_printed_model_has_names_and_no_name_means_two():
    alias = pd.read_csv(FOLDER / "haller_models.csv")
    assert set(alias["model"]) == set(read_printed_stability()["printed"])
    assert alias["alias"].str.casefold().is_unique


def test_item_fingerprints_hold_no_text():
    items = pd.read_csv(FOLDER / "haller_items.csv")
    assert list(items["item"]) == list(range(62))
    assert items["fingerprint"].is_unique
    assert items["fingerprint"].str.fullmatch(r"[0-9a-f]{16}").all()
    assert items["match_proportion"].between(0.5, 1).all()


def test_printed_columns_are_those_of_our_table():
    for name in ("haller_table1.csv", "haller_table7.csv"):
        columns = pd.read_csv(FOLDER / name).columns
        assert set(PRINTED) | {"n_items"} <= set(columns)
