"""The page on rating scales, from a run to HTML, and what other commands make of such runs."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.formula.api as smf

import waver as notebook
from analysis import runs
from analysis.features.score_frames import join_ratings_with_features
from analysis.pages.scales.figures import build_scales_items_frames
from analysis.pages.scales.plots import choose_option_colours, draw_scales_items
from analysis.reporting.catalogue.frames import Frames
from analysis.reporting.drawing.plotting import COLUMN, HIGHEST, PAGE
from ground.errors import InputError
from helpers.commands import waver
from helpers.html_pages import Page
from helpers.scale_runs import Respondent, draw_answers, write_scale
from helpers.shown_pages import show_page

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    models = [
        Respondent("org/agreeing", acquiescence=0.15), Respondent("org/mild"), Respondent("org/extreme", extreme=0.4),
        Respondent("org/last", order=0.1),
    ]  # fmt: skip
    rows = draw_answers(models, items=12, wordings=4, item_sd=0.06)
    return write_scale(tmp_path_factory.mktemp("scale") / "run", rows)


def test_the_page_names_the_planted_styles_and_its_checks_agree(run, tmp_path):
    page = Page(show_page("scales", [run], tmp_path / "out", resamples=40))
    assert "4 models were asked 24 items of 2 scales" in page.words
    assert (
        "Whatever is asked, org/agreeing leans to agreeing, org/extreme picks the ends and org/last is drawn "
        "to the last option" in page.words
    )
    assert page.words.count("numbers agree: the largest difference is") == 3
    assert "(R): reversed items" in page.words


def test_a_battery_without_scales_has_a_page(tmp_path):
    rows = draw_answers(["m", "n"], items=2, wordings=2).assign(scale=None, key=None)
    run = write_scale(tmp_path / "run", rows)
    assert "2 models were asked 4 items." in Page(show_page("scales", [run], tmp_path / "out", resamples=20)).words


def test_a_pilot_of_ratings_plans_a_study(run):
    planned = waver("analysis", "plan", run, "--se", "0.05")
    assert "a standard error of 0.05 in score; pilot: 24 items, 3 wordings" in planned.stderr


def test_answers_of_forty_items_and_twenty_models_are_legible(tmp_path):
    """Every picture fits on a page at both widths, and all models and items are in one."""
    models = [f"org/model-{number:02d}" for number in range(20)]
    rows = draw_answers(models, scales=("care",), items=40, wordings=1, orders=("up",))
    opened = runs.open_runs(write_scale(tmp_path / "run", rows))
    pictures = [frame for (frame,) in build_scales_items_frames(Frames(opened, {}))]
    assert sum(frame["label"].nunique() for frame in pictures) == 20
    assert {frame["item"].nunique() for frame in pictures} == {40}
    for width in (PAGE, COLUMN):
        drawing = draw_scales_items(pictures[0], width=width)
        assert drawing.get_size_inches()[1] <= HIGHEST


def test_an_item_called_as_a_model_stands_in_its_own_row(tmp_path):
    rows = draw_answers(["care-00", "care-02"], scales=("care",), items=4, wordings=1, orders=("up",))
    opened = runs.open_runs(write_scale(tmp_path / "run", rows))
    ((picture,),) = build_scales_items_frames(Frames(opened, {}))
    assert sorted(picture["item_row"].unique()) == [0, 1, 2, 3]
    assert sorted(picture["panel"].unique()) == [0, 1]


@pytest.mark.parametrize("n_options", [2, 4, 5, 7, 11])
def test_options_have_colours_of_their_own(n_options):
    colours = choose_option_colours(n_options)
    assert len(set(colours)) == len(colours) == n_options


def test_mixed_models_explain_the_score_by_features_and_attributes(tmp_path):
    rows = draw_answers([Respondent("m", wording_sd=0.1), "n"], items=6, wordings=5)
    folder = write_scale(tmp_path / "run", rows)
    joined = join_ratings_with_features(runs.open_runs(folder), attributes=["attributes.key"])
    keys = ["model", "condition", "item", "variant"]
    planted = joined.astype(dict.fromkeys(keys, object)).merge(rows[[*keys, "s", "key"]], on=keys)
    assert len(planted) == len(joined) == 2 * 2 * 12 * 4
    np.testing.assert_allclose(planted["score"], planted["s"], atol=1e-12)
    assert (planted["attributes.key"].astype(int) == planted["key"]).all()
    table = notebook.open(folder).mixed("score ~ edit_similarity + attributes.key + (1 | item)", by=["model"])
    fit = table[table["model"] == "m"].set_index("term")["estimate"]
    part = planted[planted["model"] == "m"].rename(columns={"attributes.key": "of_key"})
    expected = smf.mixedlm("score ~ edit_similarity + of_key", part, groups=part["item"]).fit(reml=True)
    assert fit["edit_similarity"] == pytest.approx(expected.params["edit_similarity"], rel=1e-4)
    with pytest.raises(InputError, match="no column 'agreement'"):
        notebook.open(folder).mixed("agreement ~ edit_similarity + (1 | item)")
