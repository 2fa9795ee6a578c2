"""Scores that an importer reads row by row become a study of their wordings, by any protocol."""

from __future__ import annotations

from argparse import Namespace

import pandas as pd
import pytest

from analysis.runs import open_runs
from ground.errors import InputError
from inference.importers.shared.score_rows import save_score_rows
from inference.importers.shared.scored import PROTOCOL, ScoreMeasure

STARS = ScoreMeasure("stars", (1, 5))


def save(folder, *rows: tuple[str, str, str, object], measure: ScoreMeasure = STARS):
    """Save rows of model, item, text and score."""
    file = folder / "stars.csv"
    file.write_text("any\n", encoding="utf-8")
    options = Namespace(out=str(folder / "run"), name=None, language="en", models=None, call=["waver", "import"])
    numbered = [
        (f"row {number}", {"model": model, "item": item, "text": text, measure.name: score})
        for number, (model, item, text, score) in enumerate(rows, start=2)
    ]
    save_score_rows(options, str(file), numbered, measure, PROTOCOL)
    return open_runs(str(folder / "run"))


def test_texts_of_an_item_are_its_wordings_and_scores_stay_as_they_are(tmp_path, capsys):
    runs = save(tmp_path, ("a", "tea", "Tea?", "2.5"), ("a", "tea", "Is it tea?", 4), ("a", "milk", "Tea?", ""),
                ("b", "tea", "Is it tea?", "5"))  # fmt: skip
    rows = runs.sql("SELECT model, item, variant, condition, score FROM responses ORDER BY ALL")
    assert rows.values.tolist() == [
        ["a", "tea", "p1", "stars", 2.5], ["a", "tea", "p2", "stars", 4.0], ["b", "tea", "p2", "stars", 5.0],
    ]  # fmt: skip
    (fields,) = runs.info["conditions"].values()
    assert fields["stars"] == {"form": "import", "measure": "stars", "range": [1, 5], "direction": "higher"}
    study, of_a, *_ = capsys.readouterr().out.splitlines()
    assert study == "run: 2 items, 3 variants"
    assert of_a == "a stars: 3 of 3 variants, 1 without a response, 2 scores, mean 3.250"


def test_the_page_on_scores_takes_them(tmp_path):
    """A hand-made example: means over items of 3 and 4 (a: 2 and 4, then 4), of 5 (b)."""
    from analysis.pages.scored.tables import tabulate_scored_means

    runs = save(tmp_path, ("a", "x", "X?", 2), ("a", "x", "X!", 4), ("a", "y", "Y?", 4), ("b", "x", "X?", 5))
    means = tabulate_scored_means(runs).set_index("model")["mean"]
    pd.testing.assert_series_equal(means, pd.Series({"a": 3.5, "b": 5.0}, name="mean"), check_names=False, atol=1e-12)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (("a", "x", "X!", 6), "row 3: stars is 6, outside 1-5; correct the row"),
        (("a", "x", "X!", "many"), "row 3: stars is 'many', where a number is needed"),
        (("a", "x", "X!", True), "row 3: stars is True, where a number is needed"),
        (("a", "x", "X!", "1e999"), "row 3: stars is '1e999', where a number is needed"),
        (("a", "x", "X?", 3), "row 3: the same model, item and text as in row 2; leave one of the two out"),
        (("", "x", "X!", 3), "row 3: model is '', where a text is needed"),
        (("a", "x", None, 3), "row 3: text is nothing, where a text is needed"),
    ],
)
def test_a_wrong_row_is_named(tmp_path, row, words):
    with pytest.raises(InputError, match=r"stars\.csv") as error:
        save(tmp_path, ("a", "x", "X?", 2), row)
    assert words in str(error.value)
    assert not (tmp_path / "run").exists()


def test_a_measure_without_a_range_takes_any_number(tmp_path):
    runs = save(tmp_path, ("a", "x", "X?", "-1e6"), ("a", "x", "X!", 3), measure=ScoreMeasure("ms", None, "lower"))
    assert runs.sql("SELECT sum(score) AS total FROM responses")["total"].tolist() == [3 - 1e6]
