"""Every protocol reads thoughts by the mean of their probabilities, and its page stands with some that did not end."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import waver
from analysis import runs
from analysis.measures.chance import DETERMINED, DRAWN, SAMPLED, classify_answers_as_determined_or_sampled
from analysis.measures.choices import read_choice_studies
from analysis.measures.reworded import ACCURACY, SCORE
from analysis.measures.reworded.study import RIGHT
from analysis.measures.scores import read_scores
from analysis.pages.choice.page import ChoicePage
from analysis.pages.negation.page import NegationPage
from analysis.pages.reliability.page import ReliabilityPage
from analysis.pages.scoring.page import ScoringPage
from analysis.pages.stability.page import StabilityPage
from analysis.pages.wording.page import WordingPage
from analysis.reporting.catalogue.rewordings import read_reworded_studies
from analysis.steps import negation as negation_steps
from analysis.steps import wording as wording_steps
from helpers import choice_runs, negation_runs, scoring_runs, wording_runs
from helpers.synthetic import write_run
from helpers.thinking_runs import think, write_thinking_run

ANSWERS = {"answer": "thought", "thoughts": 4, "sampler": "maker", "temperature": None}


def drawn(rows: pd.DataFrame, n_options: int, seed: int = 0, thoughts: int = 4):
    """Probabilities after random thoughts, one in five without an end, the first prompt's all."""
    rng = np.random.default_rng(seed)
    chances = rng.dirichlet(np.ones(n_options), (len(rows), thoughts)) * rng.uniform(0.6, 1, (len(rows), thoughts, 1))
    closed = rng.random((len(rows), thoughts)) < 0.8
    closed[0], closed[1:, 0] = False, True
    return chances, closed


def words(page) -> str:
    """The answer of a page and its cautions."""
    return re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", page.answer().text + page.cautions().text))


def likeliest(row, options):
    mean = row["probability"]
    return None if mean is None else options[int(np.argmax(mean))]


@pytest.mark.slow
def test_wording_reads_the_likeliest_option_of_the_mean(tmp_path):
    rows = wording_runs.random_rows(items=30, seed=3).drop(columns=["answer", "probability", "mass"], errors="ignore")
    chances, closed = drawn(rows, 2)
    chances[5], closed[5] = [[0.9, 0.05], [0.4, 0.5]] * 2, True  # a tie of answers, and a clear mean
    rows = think(rows, chances, closed, options=wording_runs.YES_NO, condition="chat/0-shot")
    assert rows["answer"][5] is None
    path = wording_runs.write_wording(tmp_path / "run", rows, conditions={"chat/0-shot": ANSWERS})
    page = WordingPage([str(path)], resamples=20)
    assert "thoughts did not end" in words(page)
    run = waver.open(path)
    responses = run.responses()
    (study,) = responses["study"].unique()
    steps = wording_steps.derive_answers_to_original_questions(
        responses, run.wordings(), {study: wording_runs.YES_NO[0]}
    ).set_index(["item", "variant"])
    of_page = page.runs.sql("SELECT item, variant, yes FROM wording_answers").set_index(["item", "variant"])["yes"]
    for row in rows.to_dict("records"):
        key, wanted = (row["item"], row["variant"]), likeliest(row, wording_runs.YES_NO)
        assert (steps.loc[key, "said"] or None) == wanted
        assert (None if pd.isna(of_page[key]) else bool(of_page[key])) == (wanted and wanted == wording_runs.YES_NO[0])


@pytest.mark.slow
def test_negation_reads_the_likeliest_option_of_the_mean(tmp_path):
    asked = negation_runs.stimuli(20).assign(model="m")
    chances, closed = drawn(asked, 3)
    rows = think(asked, chances, closed, options=negation_runs.LABELS, condition="chat/0-shot")
    path = negation_runs.write_negation(tmp_path / "run", rows)
    add_fields(path, "chat/0-shot")
    page = NegationPage([str(path)], resamples=20)
    assert "thoughts did not end" in words(page)
    said = page.runs.sql("SELECT item, variant, said FROM judgements").set_index(["item", "variant"])["said"]
    for row in rows.to_dict("records"):
        assert (said[row["item"], row["variant"]] or None) == likeliest(row, row["options"])
    run = waver.open(path)
    steps = negation_steps.derive_labels_of_responses(run.responses(), run.wordings()).set_index(["item", "variant"])[
        "said"
    ]
    assert [value or None for value in steps.reindex(said.index)] == [value or None for value in said]


def add_fields(path, condition, **fields):
    """Add the fields of a condition that thinks to run.json."""
    from helpers.synthetic import edit_run_json

    conditions = dict(runs.open_runs(path).folders[0].info["conditions"])
    conditions[condition] = {**conditions[condition], **ANSWERS, **fields}
    edit_run_json(path, conditions=conditions)


@pytest.mark.slow
@pytest.mark.parametrize("wordings", [3, 1])
def test_choices_have_accuracy_and_the_probability_of_the_right_answer(wordings, tmp_path):
    asked = choice_runs.questions(8, 3, choices=(4,)).assign(model="m")
    asked = asked[asked["pattern"].isin(choice_runs.WORDINGS[:wordings])].reset_index(drop=True)
    chances, closed = drawn(asked, 4)
    rows = think(asked, chances, closed, options="ABCD", condition="plain/base/thought")
    path = choice_runs.write_choice(tmp_path / "run", rows)
    add_fields(path, "plain/base/thought")
    assert "thoughts did not end" in words(ChoicePage([str(path)], resamples=20))
    opened = runs.open_runs(path)
    (choices,) = read_choice_studies(opened)
    by_measure = {study.measure: study for study in read_reworded_studies(opened)}
    assert list(by_measure) == [ACCURACY, RIGHT] and not by_measure[RIGHT].headline
    study = by_measure[RIGHT]
    cells: dict[tuple[int, int], list[tuple[float, float, int]]] = {}
    for row, c, e in zip(rows.to_dict("records"), chances, closed, strict=True):
        pattern, number = row["pattern"], int(row["variant"].split("/")[1]) - 1
        place = row["canonical"].index(row["gold"])
        if not e.any():
            continue
        right, mass = c[e][:, place], c[e].sum(axis=1)
        ratio = right.sum() / mass.sum()
        spread = np.var((right - ratio * mass) / mass.mean(), ddof=1) if e.sum() > 1 else np.nan
        column = number if wordings == 1 else choices.wordings.index(pattern)
        key = list(choices.items).index(row["item"]), column
        cells.setdefault(key, []).append((ratio, spread, int(e.sum())))
        chosen = row["canonical"][int(np.argmax(row["probability"]))]
        at = key[0], choices.wordings.index(pattern), number, 0
        assert choices.letters[choices.chosen_letter[at]] == chosen
    for key, entries in cells.items():
        ratios, spreads, numbers = map(np.array, zip(*entries, strict=True))
        assert study.values[0][key] == pytest.approx(ratios.mean(), abs=1e-12)
        assert study.spread[0][key] == pytest.approx(np.nanmean(spreads), abs=1e-12, nan_ok=True)
        assert study.samples[0][key] == pytest.approx(len(numbers) ** 2 / (1 / numbers).sum(), abs=1e-12)
    page = ReliabilityPage([str(path)])
    parts = page.frame("variance_components").set_index("measure")
    assert set(parts.index) == {ACCURACY, RIGHT}
    assert "what thoughts add counts as wordings" in parts.loc[ACCURACY, "missing"]
    page.answer()
    told = "Of accuracy, what thoughts add is not told apart: it counts as wordings, or item × wording."
    assert told in page.table("variance_components").text


@pytest.mark.slow
def test_scores_after_thoughts_have_their_number_and_variance(tmp_path):
    names = {"plain/1-5/thought": 1.0, "plain/1-5/thought-low": 0.5}
    asked = scoring_runs.stimuli({"g": list(range(0, 100, 5))}).assign(model="m")
    parts = []
    for seed, name in enumerate(names):
        chances, closed = drawn(asked, 5, seed)
        parts.append(think(asked, chances, closed, numbers=range(1, 6), condition=name))
    fields = {"form": "plain", "range": [1, 5], "samples": None, "method": "exact", **ANSWERS}
    conditions = {name: fields | ({"effort": "low"} if name.endswith("low") else {}) for name in names}
    path = scoring_runs.write_scores(tmp_path / "run", pd.concat(parts, ignore_index=True), conditions)
    opened = runs.open_runs(path)
    scores = read_scores(opened)
    assert scores["setting"].unique().tolist() == ["1-5/maker/thought", "1-5/maker/thought-low"]
    assert scores["score"].isna().sum() == 2 and (scores.loc[scores["score"].isna(), "validity"] == 0).all()
    (study,) = read_reworded_studies(opened)
    assert study.measure == SCORE and study.thought_conditions == set(names)
    chances, closed = drawn(asked, 5, 0)
    for i in range(1, len(asked)):
        c = chances[i][closed[i]]
        mass, total = c.sum(axis=1), c @ np.arange(5) / 4
        ratio = total.sum() / mass.sum()
        assert study.values[0, i, 0] == pytest.approx(ratio, abs=1e-9)
        assert study.samples[0, i, 0] == closed[i].sum()
        if closed[i].sum() > 1:
            wanted = np.var((total - ratio * mass) / mass.mean(), ddof=1)
            assert study.spread[0, i, 0] == pytest.approx(wanted, abs=1e-12)
    said = words(ScoringPage([str(path)], resamples=20))
    assert "by probabilities after thoughts at the maker’s temperature" in said and "thoughts did not end" in said
    assert "thoughts each" in words(ReliabilityPage([str(path)]))


@pytest.mark.slow
def test_one_answer_and_one_thought_are_counted_as_one(tmp_path):
    share = np.random.default_rng(1).uniform(0.1, 0.9, (6, 2, 2))
    closed = np.ones(share.shape, bool)
    closed[:, 1], closed[1:, 0, 1] = False, False
    closed[0, 1] = True
    said = words(ReliabilityPage([str(write_thinking_run(tmp_path / "run", share, closed=closed))]))
    assert "with 1 valid answer to each on average from 1 thought each." in said


@pytest.mark.slow
def test_stability_counts_a_prompt_without_an_end_as_invalid(tmp_path):
    share = np.random.default_rng(1).uniform(0.1, 0.9, (6, 5, 4))
    closed = np.ones(share.shape, bool)
    closed[0, 0] = False
    said = words(StabilityPage([str(write_thinking_run(tmp_path / "run", share, closed=closed))], resamples=20))
    assert "3 % of 120 thoughts did not end" in said and "1 of 30 responses (3 %) holds no valid answer" in said


@pytest.mark.parametrize(
    ("thoughts", "fields", "wanted"),
    [(4, {}, SAMPLED), (1, {}, DRAWN), (1, {"temperature": 0.0}, DETERMINED), (1, {"temperature": 0.6}, DRAWN)],
)
def test_thoughts_are_drawn(thoughts, fields, wanted, tmp_path):
    share = np.random.default_rng(2).uniform(0.1, 0.9, (6, 5, thoughts))
    opened = runs.open_runs(write_thinking_run(tmp_path / "run", share, fields=fields))
    assert classify_answers_as_determined_or_sampled(opened)["answers"].tolist() == [wanted]


def test_a_run_without_thoughts_names_no_samples(tmp_path):
    rows = pd.DataFrame({"item": ["x", "y"], "variant": ["p1", "p1"], "agreement": [0.3, 0.4]})
    (study, *_) = read_reworded_studies(runs.open_runs(write_run(tmp_path / "run", rows)))
    assert study.name_kind_of_unit_samples(0) == ""
