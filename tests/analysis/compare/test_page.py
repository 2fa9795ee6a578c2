"""The page about a comparison: its sentences by their rules, its figure and tables, and the file that holds it."""

from __future__ import annotations

import re
import shlex

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_rel
from statsmodels.stats.contingency_tables import mcnemar

import waver
from analysis.compare.items import average_answers_per_item
from analysis.compare.narrative import answer_whether_sides_differ
from analysis.compare.page import ComparePage
from analysis.compare.page_file import NOTEBOOK
from analysis.reporting.output import notebooks
from analysis.reporting.words.doubts import READING, WRONG, Caution
from analysis.steps.compare import ROW, recompute_mcnemar_tests, recompute_paired_t_tests
from ground.errors import InputError
from helpers.commands import ROOT
from helpers.scored_runs import draw_scores, write_scored
from helpers.synthetic import random_frame, write_run

NUMBER = re.compile(r"(?<![\w/.“-])[−+]?\d[\d,.]*(?![\w-]*[a-z])")
EQUIVALENT = {"verdict": "equivalent within 0.2", "holds_for": "these wordings"}
HIGHER = {"verdict": "A is higher", "holds_for": "these wordings"}


def row(**fields: object) -> dict[str, object]:
    """A row of a comparison, of which nothing is found."""
    return {
        "study": "s", "measure": "accuracy", "headline": True, "lower_is_better": False, "a_model": "old",
        "a_condition": "c", "b_model": "new", "b_condition": "c", "a_validity": 1.0, "b_validity": 1.0, "n_items": 200,
        "n_items_differing": 20, "a": 0.71, "b": 0.73, "difference": -0.02, "lower": -0.04, "upper": 0.01,
        "like_lower": -0.05, "like_upper": 0.02, "verdict": "no difference found", "holds_for": "",
        "least_difference": 0.06, **fields,
    }  # fmt: skip


def write_sides(folder, items: int = 20, **fields: object) -> list[str]:
    frame = draw_scores(["m", "n"], items=items, wordings=3, measures=("F1", "ms"))
    return [str(write_scored(folder / name, frame[frame["model"] == name].assign(**fields))) for name in "mn"]


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        ([row()], "No difference in accuracy is found, which is no proof that there is none."),
        (
            [row(**HIGHER), row(measure="flips", headline=False)],
            "A is higher in accuracy, 0.71 against 0.73; that holds for these wordings. No other difference is found.",
        ),
        (
            [row(verdict="B is higher", holds_for="wordings like these", lower_is_better=True, measure="ms"),
             row(measure="F1", headline=False, **HIGHER)],
            "B is higher in ms, 0.71 against 0.73, and lower is better; that holds for wordings like these. They "
            "differ in F1, too.",
        ),
        ([row(), row(measure="F1", headline=False, **HIGHER)],
         "No difference in accuracy is found, which is no proof that there is none. They do differ in F1."),
        ([row(measure="agreement", **HIGHER), row(measure="logit", headline=False, **HIGHER),
          row(measure="validity", headline=False, **HIGHER)],
         "A is higher in agreement, 0.71 against 0.73; that holds for these wordings. They differ in agreement on a "
         "scale without ends (logit) and how much is a valid answer (validity), too."),
        ([row(verdict="equivalent within 0.1", holds_for="these wordings")],
         "A and B are equivalent within 0.1 in accuracy, for these wordings."),
        ([row(verdict="cannot tell", n_items=1)], "A single item cannot tell A and B apart in accuracy."),
        ([row(**HIGHER), row(a_condition="d"), row(a_condition="e")],
         "In accuracy, A is higher in 1 of 3 pairs, B in none."),
        ([row(), row(a_condition="d")],
         "No difference in accuracy is found in any pair, which is no proof that there is none."),
        ([row(**EQUIVALENT), row(a_condition="d", **EQUIVALENT), row(a_condition="e")],
         "In accuracy, A and B are equivalent within 0.2 in 2 of 3 pairs, for these wordings."),
        ([row(lower_is_better=True, **HIGHER), row(a_condition="d", lower_is_better=True)],
         "In accuracy, where lower is better, A is higher in 1 of 2 pairs, B in none."),
        ([row(verdict="cannot tell", n_items=1), row(a_condition="d", verdict="cannot tell", n_items=1)],
         "A single item cannot tell A and B apart in accuracy, in any pair."),
    ],
)  # fmt: skip
def test_the_verdict_follows_its_rules(rows, verdict):
    said = answer_whether_sides_differ(pd.DataFrame(rows), [])
    assert said.verdict == verdict
    assert len(NUMBER.findall(said.verdict)) <= 3
    first = f"{notebooks.read_notebook_question(NOTEBOOK)} {said.setup} {said.verdict}"
    assert len(first.split()) <= 60
    texts = [said.setup, said.verdict, *said.cautions]
    assert not [part for text in texts for part in re.split(r"(?<=[.;])\s", text) if len(part.split()) > 30]


@pytest.mark.parametrize(
    ("fields", "caution"),
    [
        (HIGHER, "The difference in accuracy is found for these wordings only: with others like them, it may be none."),
        ({"like_lower": np.nan},
         "These answers do not tell how far other wordings would move the difference in accuracy."),
        ({"lower": np.nan, "n_items_differing": 3}, "Too few items differ in accuracy for an interval."),
        ({"a_validity": 0.99996}, "Validity is below 1: at the lowest >99.99 % in A and 100.0 % in B. "
         "Measures other than validity compare only answers that are valid on both sides."),
        ({"a_validity": 0.9}, "Validity is below 1: at the lowest 90.0 % in A and 100.0 % in B. Measures other than "
         "validity compare only answers that are valid on both sides."),
        ({}, "A true difference below 0.06 is easily missed with 200 items: power is below .8."),
    ],
)  # fmt: skip
def test_what_weakens_the_answer_is_said_where_it_does(fields, caution):
    holds = {"verdict": "A is higher", "holds_for": "wordings like these"}
    assert caution in answer_whether_sides_differ(pd.DataFrame([row(**fields)]), []).cautions
    assert answer_whether_sides_differ(pd.DataFrame([row(**holds)]), ["only A has the study t"]).cautions == (
        "Only A has the study t.",
    )


def test_what_is_left_out_is_no_reason_to_fold_that_the_difference_may_be_none():
    notes = [f"only A has the study {name}" for name in "tuv"]
    cautions = answer_whether_sides_differ(pd.DataFrame([row(**HIGHER)]), notes).cautions
    assert cautions[0].startswith("The difference in accuracy is found for these wordings only")
    assert cautions[1:] == tuple(f"Only A has the study {name}." for name in "tuv")


def test_the_gravest_caution_is_first():
    notes = [
        "only A has the study t",
        Caution("share few rewordings", READING),
        Caution("m (c) in s: revision is 1 in A and 2 in B", WRONG),
    ]
    said = answer_whether_sides_differ(pd.DataFrame([row(a_validity=0.9, **HIGHER)]), notes).cautions
    assert [caution.split()[0] for caution in said] == ["M", "Validity", "The", "Only", "Share"]


@pytest.mark.slow
def test_the_page_shows_all_of_its_parts(tmp_path):
    a, b = write_sides(tmp_path)
    page = ComparePage(a, b, margin=0.1, names=("before & after", ""))
    shown = {
        name: getattr(page, name)().text
        for name in ("answer", "cautions", "figure", "items", "differences", "method", "provenance")
    }
    assert "A is m, B is n; 20 items that both answered." in shown["answer"]
    # A measure with a range and one without have no axis in common.
    assert shown["figure"].count("<figure>") == 2
    assert "before &amp; after" in shown["provenance"] and "B: Run" in shown["provenance"]
    assert "Equivalent within 0.1" in shown["method"] and "waver compare A B --format csv" in shown["differences"]
    assert "waver compare" not in shown["items"] and "page.average_each_side_per_item()" in shown["items"]


@pytest.mark.slow
@pytest.mark.parametrize(("of_a", "of_b", "varies"), [("05", "05", True), ("05", "01", False)])
def test_numbers_of_examples_are_told_of_what_is_compared(tmp_path, of_a, of_b, varies):
    sides = []
    for side, numbers in (("a", of_a), ("b", of_b)):
        rows = [{"model": "m", "item": item, "variant": f"{n}-shot", "text": f"{item} after {n}: so?", "agreement": 0.4,
                 "pattern": "paraphrase", "attributes": [("template", f"{n}-shot")]}
                for item in "xyz" for n in numbers]  # fmt: skip
        sides.append(str(write_run(tmp_path / side, pd.DataFrame(rows))))
    page = ComparePage(*sides)
    page.answer()
    assert ("number of examples" in page._answer.varied) == varies


@pytest.mark.parametrize(("settings", "words"), [
    ({"margin": -0.1}, "margin = -0.1: give a number from 0 on"),
    ({"margin": float("nan")}, "option margin: nan is not a number that can be used"),
    ({"examples": None}, "option examples: None is not a whole number"),
    ({"models": ["m"]}, "models = ['m']: give two texts, of A and of B"),
    ({"names": "A"}, "names = 'A': give two texts"), ({"measures": None}, "measures = None: give a list of names"),
])  # fmt: skip
def test_an_odd_setting_of_the_notebook_is_refused_in_a_line(tmp_path, settings, words):
    """A margin below 0 was taken in silence, and one name in place of two ended in a traceback."""
    with pytest.raises(InputError) as raised:
        ComparePage(str(tmp_path), str(tmp_path), **settings)
    assert words in str(raised.value)


@pytest.mark.slow
def test_a_number_written_as_a_text_is_taken_as_the_number(tmp_path):
    """It passed the check of settings, and ended in a traceback where it was used."""
    for side in "ab":
        write_run(tmp_path / side, random_frame(["m"], items=6, paraphrases=4))
    page = ComparePage(str(tmp_path / "a"), str(tmp_path / "b"), margin="0.1", examples="3")
    assert (page._chosen.margin, page.examples) == (0.1, 3)


@pytest.mark.slow
def test_the_items_that_differ_most_stand_first_with_their_texts(tmp_path):
    texts = [f"<b>Text</b> {number}" for number in range(8)]
    for side, shift in (("a", 0.0), ("b", 0.1)):
        scores = np.full(8, 0.5) + shift * np.array([0, 3, -1, 4, 0, -2, 0, 1])
        rows = pd.DataFrame({"model": "m", "condition": "judged", "item": [f"i{n}" for n in range(8)],
                             "variant": "original", "text": texts, "score": scores})  # fmt: skip
        write_scored(tmp_path / side, rows)
    page = ComparePage(str(tmp_path / "a"), str(tmp_path / "b"), examples=3)
    html = page.items().text
    # Escaped: what an item says is no markup.
    assert [int(number) for number in re.findall(r"&lt;b&gt;Text&lt;/b&gt; (\d)", html)] == [3, 1, 5]
    assert "<b>Text" not in html


@pytest.mark.slow
def test_the_means_of_items_are_those_of_the_answers_of_both_sides(tmp_path):
    frames = [random_frame(["m"], items=6, paraphrases=4, seed=seed) for seed in (1, 2)]
    paths = [str(write_run(tmp_path / name, frame)) for name, frame in zip("ab", frames, strict=True)]
    items = average_answers_per_item(ComparePage(*paths).pairs)
    means = [frame[frame["variant"] != "original"].groupby("item")["agreement"].mean() for frame in frames]
    of_agreement = items[items["measure"] == "agreement"].set_index("item")
    for side, expected in zip("ab", means, strict=True):
        assert of_agreement[side].to_dict() == pytest.approx(expected.to_dict(), rel=1e-12)


@pytest.mark.slow
def test_scipy_and_statsmodels_agree_on_the_page(tmp_path):
    frames = [random_frame(["m"], items=30, paraphrases=4, seed=seed) for seed in (1, 2)]
    page = ComparePage(*(str(write_run(tmp_path / name, frame)) for name, frame in zip("ab", frames, strict=True)))
    items = page.average_each_side_per_item()
    for theirs, number in (
        (recompute_paired_t_tests(items, page.rows, ttest_rel), 3),
        (recompute_mcnemar_tests(items, page.rows, mcnemar), 1),
    ):
        assert len(theirs) == number
        html = page.check_against_package(theirs, on=ROW).text
        assert f"All {2 * number} numbers agree" in html


@pytest.mark.slow
def test_the_page_is_one_file_that_fetches_nothing(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_sides(tmp_path, text='<script>alert("item")</script>')
    before = sorted(tmp_path.iterdir())
    assert waver.main(["compare", "m", "n", "--measure", "F1", "--page", "page.html"]) == 0
    assert capsys.readouterr().err == ""
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert sorted(tmp_path.iterdir()) == sorted([*before, tmp_path / "page.html"])
    assert "<h1>Do the two sides differ?</h1>" in html and "index.html" not in html
    assert "waver compare m n --measure F1 --page page.html" in html
    assert "<script>alert" not in html and not re.findall(r'(?:src|href)="https?://(?!doi|github|aclanthology)', html)
    assert "numbers agree" in html and "counts as none" in html


@pytest.mark.slow
def test_the_command_at_the_foot_makes_the_page_again_where_sides_are_named(tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr("analysis.compare.page_file.write_page", lambda *parts: written.append(parts))
    monkeypatch.chdir(tmp_path)
    write_sides(tmp_path)
    call = ["compare", "m", "n", "--name-a", "the old", "--margin", "0.0123456789", "--page", "page.html"]
    assert waver.main(call) == 0
    ((_, parameters, title, command),) = written
    assert sorted(shlex.split(command)) == sorted(["waver", *call])
    assert (parameters["names"], title) == (["the old", "n"], "the old and n")


def test_the_notebook_begins_with_what_make_report_makes():
    parameters = notebooks.read_notebook_parameters(NOTEBOOK)
    assert set(parameters) == {"a", "b", "models", "conditions", "measures", "margin", "names", "examples"}
    assert all(entry["help"] and entry["inferred_type_name"] != "None" for entry in parameters.values())
    demo = ROOT / "notebooks" / parameters["a"]["default"].strip('"')
    assert demo.resolve() == ROOT / "results" / "demo" / "choice"
