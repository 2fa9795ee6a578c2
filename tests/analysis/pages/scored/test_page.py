"""The page on scores, from a table to HTML; and whether scores changed by chance."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis import runs
from analysis.measures.chance import DETERMINED, DRAWN, SAMPLED, classify_answers_as_determined_or_sampled
from analysis.measures.chance import measure_same_vs_cross_wording_gap_per_item as measure_gaps
from analysis.reporting.words.chance import (
    CLEARED,
    iterate_chance_change_cautions,
    mark_rows_possibly_changed_by_chance,
    tabulate_units_with_chance_changes,
)
from helpers.commands import waver
from helpers.html_pages import Page
from helpers.scored_runs import draw_scores, write_scored
from helpers.shown_pages import show_page

pytestmark = pytest.mark.slow


def test_a_table_becomes_a_page_whose_checks_agree(tmp_path):
    rows = draw_scores(["org/a", "org/b"], 40, 4, measures=["F1", "ms"], seed=2)
    wide = rows.pivot_table(index=["model", "item", "variant", "text"], columns="condition", values="score")
    wide.reset_index().assign(temperature=0).to_csv(tmp_path / "t.csv", index=False)
    waver(
        "inference", "import", "table", tmp_path / "t.csv", "--out", tmp_path / "run", "--model-column", "model",
        "--item-column", "item", "--variant-column", "variant", "--text-column", "text", "--score-column", "F1",
        "--score-column", "ms", "--score-range", "F1=0-1", "--lower-is-better", "ms", "--condition-column",
        "temperature",
    )  # fmt: skip
    page = Page(show_page("scored", [tmp_path / "run"], tmp_path / "out", resamples=40))
    assert "2 models were scored by F1 and ms on 40 items (imported" in page.words
    assert page.words.count("numbers agree: the largest difference is") == 3
    assert "Lower is better: ms; only what is called best, worst or passed is turned." in page.words
    assert "Thing 0, said in way" in page.words or "Best wording" in page.words


@pytest.mark.parametrize(
    ("fields", "samples", "expected"),
    [({"temperature": 0}, False, DETERMINED), ({"temperature": None}, False, DRAWN),
     ({"temperature": 0.7}, True, SAMPLED)],
)  # fmt: skip
def test_scores_are_drawn_unless_a_temperature_of_0_is_told(tmp_path, fields, samples, expected):
    rows = draw_scores(["m"], 10, 3)
    if samples:
        rows["sample_score"] = [[score, score] for score in rows["score"]]
    opened = runs.open_runs(write_scored(tmp_path / "run", rows, {"F1": {"range": [0, 1], **fields}}))
    assert list(classify_answers_as_determined_or_sampled(opened)["answers"]) == [expected]


@pytest.mark.parametrize("wordings_matter", [True, False])
def test_samples_tell_wording_from_chance(tmp_path, wordings_matter):
    draw = np.random.default_rng(1)
    rows = draw_scores(["m"], 40, 3)
    centre = rows["score"] if wordings_matter else rows.groupby("item")["score"].transform("mean")
    samples = np.clip(centre.to_numpy()[:, None] + draw.normal(0, 0.1, (len(rows), 4)), 0, 1)
    rows = rows.assign(sample_score=list(map(list, samples)), score=samples.mean(axis=1))
    about = {"F1": {"range": [0, 1], "temperature": 0.7}}
    opened = runs.open_runs(write_scored(tmp_path / "run", rows, about))
    gaps = measure_gaps(opened, "synthetic").set_index("item")["gap"]
    for item, part in rows.assign(place=range(len(rows))).groupby("item"):
        own = samples[part["place"]]
        same = [(a - b) ** 2 for line in own for n, a in enumerate(line) for m, b in enumerate(line) if n != m]
        other = [(a - b) ** 2 for i, x in enumerate(own) for j, y in enumerate(own) if i != j for a in x for b in y]
        assert gaps[item] == pytest.approx(np.mean(other) - np.mean(same))
    by_chance = tabulate_units_with_chance_changes(opened)
    assert list(by_chance["answers"]) == [CLEARED if wordings_matter else SAMPLED]
    row = pd.DataFrame({"study": ["synthetic"], "model": ["m"], "condition": ["F1"], "label": ["m"]})
    assert mark_rows_possibly_changed_by_chance(row, by_chance).tolist() == [not wordings_matter]
    (caution,) = iterate_chance_change_cautions(row, by_chance)
    assert caution.startswith("Wordings change the answers of m. Each" if wordings_matter else "Chance and wording are")
