"""The sentence about differences that are more than rewording, on every page that compares models."""

from __future__ import annotations

import doctest
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.multitest import multipletests

from analysis import runs
from analysis.measures.reworded import Study
from analysis.pages.choice.page import ChoicePage
from analysis.pages.scoring.page import ScoringPage
from analysis.pages.stability.page import StabilityPage
from analysis.pages.wording.page import WordingPage
from analysis.reporting.words import beyond, verdicts
from helpers import choice_runs, wording_runs
from helpers.prompted_runs import prompted
from helpers.synthetic import random_frame, write_run

pytestmark = pytest.mark.slow


def study(values, crossed=True):
    units = [(f"m{number}", "plain") for number in range(len(values))]
    return Study("s", "accuracy", True, crossed, units, np.ones(len(values)), values, [], None)


def drawn(rng, apart, models=2, items=300, wordings=5):
    """Models with the same item effects; each wording moves each model on its own, all items alike."""
    values = rng.normal(0, 0.3, (1, items, 1)) + rng.normal(0, 0.07, (models, 1, wordings))
    return values + rng.normal(0, 0.2, (models, items, wordings)) + apart * np.arange(models)[:, None, None]


def seen(html):
    return " ".join(re.sub("<[^>]*>", " ", html.text).replace("\N{NO-BREAK SPACE}", " ").split())


def test_the_examples_are_right():
    assert doctest.testmod(beyond).failed == 0


def test_both_counts_are_those_of_tests_after_holm():
    pairs = beyond.tabulate_pair_difference_tests([study(drawn(np.random.default_rng(0), 0.05, models=5, wordings=8))])
    holm = {name: multipletests(pairs[name], method="holm")[0] for name in ("p_items", "p")}
    these, both = int(holm["p_items"].sum()), int((holm["p_items"] & holm["p"]).sum())
    assert 0 < both < these <= 10
    assert beyond.describe_significant_difference_counts(pairs) == (
        f"Of 10 differences in accuracy between models, {these} hold for these wordings, and {both} for wordings like "
        "these."
    )


def test_a_difference_of_wordings_only_is_hardly_ever_more_than_rewording():
    """Nothing but other templates moves the models: a test over items calls most a difference."""
    rng = np.random.default_rng(1)
    studies = [replace(study(drawn(rng, 0.0, items=100)), name=str(number)) for number in range(200)]
    pairs = beyond.tabulate_pair_difference_tests(studies)  # one of each study: there is nothing to correct
    these = pairs["p_items"] < 0.05
    like = these & (pairs["p"] < 0.05)
    assert these.sum() > 100 and like.sum() <= 18  # 5 % of 200, and two and a half standard errors more


def test_nothing_is_said_where_nothing_is_compared():
    values = drawn(np.random.default_rng(2), 0.1)
    assert (
        beyond.describe_significant_difference_counts(beyond.tabulate_pair_difference_tests([study(values[:1])])) == ""
    )
    assert beyond.describe_significant_difference_counts(pd.DataFrame()) == ""
    same = beyond.tabulate_pair_difference_tests([study(np.stack([values[0], values[0]]))])
    assert beyond.describe_significant_difference_counts(same).endswith("none holds for these wordings.")


@pytest.mark.parametrize("name", ["stability", "wording", "choice", "scoring"])
def test_the_pages_that_compare_models_say_it_with_its_rule(name, tmp_path):
    if name == "stability":
        path = write_run(tmp_path / "run", random_frame(["a", "b", "c"], items=10).assign(mass=0.9))
        page, figure = StabilityPage([str(path)], resamples=20), "differences"
    elif name == "choice":
        rows = choice_runs.answers(choice_runs.questions(12, 2), ["a", "b", "c"])
        path = choice_runs.write_choice(tmp_path / "run", rows)
        page, figure = ChoicePage([str(path)], resamples=20), "choice_differences"
    elif name == "scoring":
        path, _ = prompted(tmp_path / "run")
        page, figure = ScoringPage([str(path)], resamples=20), "score_violins"
    else:
        rows = wording_runs.random_rows(["a", "b", "c"], items=12, invalid=0, seed=1)
        path = wording_runs.write_wording(tmp_path / "run", rows)
        page, figure = WordingPage([str(path)], resamples=20), "consistency"
    sentence = beyond.describe_differences_beyond_rewording(runs.open_runs(path))
    assert sentence.startswith("Of 3 differences in ") and len(sentence.split()) <= 30
    first = seen(page.answer())
    assert sentence not in first
    assert sentence in page.pop_answer_sentences_as_html(figure)
    assert verdicts.RULES["beyond"].split(".")[0] in seen(page.method())


def test_scores_by_one_prompt_have_no_sentence(tmp_path):
    path, _ = prompted(tmp_path / "run", prompts=[None])
    page = ScoringPage([str(path)], resamples=20)
    page.answer()
    assert "wordings like these" not in page.pop_answer_sentences_as_html("score_violins")
    assert verdicts.RULES["beyond"].split(".")[0] not in seen(page.method())


def test_the_sentence_of_scores_is_about_the_setting_of_the_page(tmp_path):
    """Two prompts at 0-10, and a scale with one prompt, on which nothing can be said."""
    path, _ = prompted(tmp_path / "run", models=["a", "b"], prompts=[None, "mine"])
    opened = runs.open_runs(path)
    assert beyond.describe_differences_beyond_rewording(opened, {"plain/0-10/t0.7"}).startswith(
        "Of 1 difference in score"
    )
    assert beyond.describe_differences_beyond_rewording(opened, {"plain/1-5/t0.7"}) == ""


def test_where_only_orders_vary_the_sentence_is_about_orders(tmp_path):
    asked = choice_runs.questions(40, 6)
    rows = choice_runs.answers(asked[asked["pattern"] == "original"], ["a", "b"], seed=3)
    sentence = beyond.describe_differences_beyond_rewording(
        runs.open_runs(choice_runs.write_choice(tmp_path / "run", rows))
    )
    assert "orders" in sentence and "wordings" not in sentence
