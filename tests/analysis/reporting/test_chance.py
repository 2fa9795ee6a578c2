"""Answers of chance are not called answers to wordings: coin flips get "yes" on no page."""

from __future__ import annotations

import doctest
import re
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

import waver
from analysis import runs
from analysis.measures.chance import DRAWN, SAMPLED, measure_same_vs_cross_wording_gap_per_item
from analysis.reporting import catalogue
from analysis.reporting.output import notebooks
from analysis.reporting.words import chance
from helpers.coin_flips import FLIPS, flip_agreement, list_answers
from helpers.commands import waver as call_waver
from helpers.text_features import hide

pytestmark = pytest.mark.slow

# What a first sentence may not say of coin flips: that wordings, or models, make a difference.
CLAIMS = re.compile(r"\byes\b|not reliably|has a reliability|goes? with", re.IGNORECASE)
OF_WORDINGS = {"stability": "agreement", "wording": "wording", "choice": "choice"}


def test_the_examples_are_right():
    assert doctest.testmod(chance).failed == 0


def make_answers(folder, protocol, names=None):
    """Yield the pages that a run of a protocol has, or those of some names, each with its answer."""
    run = waver.open(folder)
    opened = run.open_runs_of_protocols()
    for name, page in catalogue.map_page_names_to_catalogues().items():
        if names and name not in names:
            continue
        if (page.protocols and protocol not in page.protocols) or page.explain_no_data(opened, {}):
            continue
        with pytest.MonkeyPatch.context() as patch:
            hide(patch, "pysentimiento", "spacy", "vaderSentiment")
            module = import_module(f"analysis.pages.{name}.page")
            made = next(value for kind, value in vars(module).items() if kind.endswith("Page") and kind != "Page")
            drawn = "resamples" in notebooks.read_notebook_parameters(notebooks.FOLDER / f"{name}.ipynb")
            shown = made(run, **({"resamples": 50} if drawn else {}))
            shown.answer()
            yield name, shown._answer


@pytest.mark.parametrize("protocol", FLIPS)
def test_coin_flips_get_yes_on_no_page(protocol, tmp_path):
    """Ten models: among so many, one claims something by chance unless their number counts."""
    folder = FLIPS[protocol](tmp_path / "run", 10, 20)
    pages = dict(make_answers(folder, protocol))
    assert {name for name, of in OF_WORDINGS.items() if of == protocol} <= set(pages) and len(pages) > 1
    for name, said in pages.items():
        assert not CLAIMS.search(said.verdict), f"{name}: {said.verdict}"
        if name in OF_WORDINGS:
            assert said.verdict == chance.ONCE
            assert said.cautions[0].startswith("Chance and wording are not told apart for ")


def test_coin_flips_that_were_imported_as_a_table_get_no_yes(tmp_path):
    table = tmp_path / "answers.csv"
    pd.DataFrame(list_answers(["a", "b"], 62)).to_csv(table, index=False)
    columns = [f"--{name}-column={name}" for name in ("model", "item", "variant", "text")]
    asked = [*columns, "--completion-column=reply", "--options", "agree=agree;disagree=disagree"]
    call_waver("inference", "import", "table", table, *asked, "--out", tmp_path / "run")
    assert dict(make_answers(tmp_path / "run", "agreement", ["stability"]))["stability"].verdict == chance.ONCE


@pytest.mark.parametrize(("effect", "verdict"), [(0.0, chance.ALIKE), (0.45, "Yes, with each of 2 models.")])
def test_samples_part_wording_from_chance_where_those_of_one_wording_agree_more(effect, verdict, tmp_path):
    folder = flip_agreement(
        tmp_path / "run", 2, 62, samples=4, fields={"temperature": 1.0, "samples": 4}, effect=effect
    )
    said = dict(make_answers(folder, "agreement", ["stability"]))["stability"]
    assert said.verdict == verdict
    assert any("Samples of one wording are not shown" in line for line in said.cautions) == (effect == 0)


@pytest.mark.parametrize("temperature", [0.0, "0"])
def test_answers_of_temperature_0_are_determined(temperature, tmp_path):
    """So that a page judges them: test_only_models_whose_answers_were_drawn_lose_the_word."""
    frames = runs.open_runs(flip_agreement(tmp_path / "run", 2, 6, fields={"temperature": temperature}))
    assert chance.tabulate_units_with_chance_changes(frames).empty


def test_only_models_whose_answers_were_drawn_lose_the_word(tmp_path):
    frames = runs.open_runs(flip_agreement(tmp_path / "run", 3, 20))
    by_chance = chance.tabulate_units_with_chance_changes(frames)
    rows = by_chance[["study", "model", "condition"]].assign(label=by_chance["model"] + " · synthetic")
    assert (by_chance["answers"] == DRAWN).all() and len(rows) == 3
    assert chance.blank_words_possibly_due_to_chance(["yes", "yes", "hardly"], rows, by_chance[1:], "yes") == [
        "yes",
        "",
        "hardly",
    ]
    assert next(chance.iterate_chance_change_cautions(rows, by_chance[:1])).startswith(
        "Chance and wording are not told apart for coin-1 · synthetic. There is one answer per wording"
    )
    assert list(chance.iterate_chance_change_cautions(rows, chance.NO_CHANCE)) == []


def test_sample_agreement_is_that_of_all_pairs(tmp_path):
    """Two samples of one wording, or of two: counted pair by pair."""
    folder = flip_agreement(tmp_path / "run", 2, 6, samples=3, fields={"temperature": 1.0}, effect=0.3)
    opened = runs.open_runs(folder)
    found = measure_same_vs_cross_wording_gap_per_item(opened, "synthetic").set_index(["model", "item"])["gap"]
    counts = opened.sql('SELECT model, item, variant, "count" AS counted FROM responses ORDER BY ALL')
    for unit, rows in counts.groupby(["model", "item"]):
        said = [(row.variant, label) for row in rows.itertuples() for label, n in enumerate(row.counted)
                for _ in range(n)]  # fmt: skip
        pairs = {True: [], False: []}
        for place, (wording, label) in enumerate(said):
            for other, another in said[:place]:
                pairs[wording == other].append(label == another)
        assert found[unit] == pytest.approx(np.mean(pairs[True]) - np.mean(pairs[False]), abs=1e-12)
    tested = chance.tabulate_units_with_chance_changes(opened)
    for model, gaps in found.groupby(level="model"):
        p = ttest_1samp(gaps, 0, alternative="greater").pvalue
        assert chance.compute_p_value_of_positive_mean(gaps.to_numpy()) == pytest.approx(p, rel=1e-9)
        assert (model in set(tested.loc[tested["answers"] == SAMPLED, "model"])) == (p >= 0.05) or p > 0.025  # Holm
    assert set(tested["answers"]) <= {SAMPLED, chance.CLEARED}


@pytest.mark.parametrize("samples", [2, 5])
def test_coin_flips_are_told_from_wordings_in_one_of_twenty_studies_at_most(samples):
    """62 items in 5 wordings: the test of `tabulate_units_with_chance_changes` on gaps, by the formula of the SQL."""
    rng, studies, wrong = np.random.default_rng(7), 1_000, 0
    for _ in range(studies):
        agree = rng.binomial(samples, rng.beta(1, 1, (62, 1)), (62, 5))
        alike = agree * (agree - 1) + (samples - agree) * (samples - agree - 1)
        n, total, pairs = 5 * samples, agree.sum(axis=1), 5 * samples * (samples - 1)
        every = total * (total - 1) + (n - total) * (n - total - 1)
        gaps = alike.sum(axis=1) / pairs - (every - alike.sum(axis=1)) / (n * (n - 1) - pairs)
        wrong += chance.compute_p_value_of_positive_mean(gaps) < 0.05
    assert wrong <= 0.05 * studies + 2 * np.sqrt(studies * 0.05 * 0.95)
