"""The tables that check what the page foresees, their figures and captions."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from analysis import runs
from analysis.pages.reliability import captions, checks, figures, plots
from analysis.reporting.catalogue.tables import build_table
from analysis.reporting.drawing.plotting import COLUMN, PAGE
from analysis.statistics.reliability.backtest import compare_forecast_and_actual_errors
from ground.errors import InputError
from helpers import wording_runs
from helpers.synthetic import paraphrases, random_frame, write_run

NAMES = ("planned_errors", "ranking_calibration", "wording_precision")


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """Four models, twelve items with 30 paraphrases of their own."""
    frame = random_frame(["a", "b", "c", "d"], items=12, paraphrases=30).assign(mass=0.9)
    frame["text"] = [hashlib.md5(name.encode()).hexdigest() for name in frame["item"] + frame["variant"]]
    opened = runs.open_runs(write_run(tmp_path_factory.mktemp("own") / "run", frame))
    return opened, frame[frame["variant"] != "original"]


@pytest.mark.slow
def test_errors_are_foreseen_and_compared_for_every_model(own):
    opened, frame = own
    table = checks.tabulate_foreseen_and_actual_errors(opened, threshold=0.2, seed=3)
    assert set(table["figure"]) == {"mean", "sd", "flips"} and set(table["model"]) == {"a", "b", "c", "d"}
    assert set(table["n_pilot"]) == {3} and table["k"].max() == 27 and set(table["n_items"]) == {12}
    values = frame[frame["model"] == "b"].pivot(index="item", columns="variant", values="agreement")
    order = frame[frame["model"] == "b"]
    values = values.loc[order["item"].unique(), order["variant"].unique()].to_numpy(float)
    expected = compare_forecast_and_actual_errors(values, False, 0.2, seed=3)
    ours = table[table["model"] == "b"]
    assert ours["actual"].tolist() == pytest.approx([each.actual for each in expected], nan_ok=True)
    assert ours["predicted"].tolist() == pytest.approx([each.predicted for each in expected], nan_ok=True)
    with pytest.raises(InputError, match="is not a share"):
        checks.tabulate_foreseen_and_actual_errors(opened, threshold=1.0)


@pytest.mark.slow
def test_figures_are_drawn_at_both_widths_with_their_captions(own):
    frames = {name: build_table(name, own[0], resamples=0) for name in NAMES}
    (errors,), (classes,) = (
        next(figures.build_planned_errors_frames(frames)),
        next(figures.build_ranking_calibration_frames(frames)),
    )
    assert captions.caption_planned_errors(errors).startswith("Standard errors of 4 models by the number of wordings")
    assert "from 3 wordings" in captions.caption_planned_errors(errors)
    assert captions.caption_ranking_calibration(classes).startswith("Pairs of 4 models by agreement.")
    for width in (PAGE, COLUMN):
        drawing = plots.draw_planned_errors(errors, width=width)
        panels = [axes for axes in drawing.axes if len(axes.lines) == 8]  # a line and marks for each model
        assert len(panels) == 3
        marks = panels[0].lines[1].get_ydata()
        assert list(marks) == errors[(errors["model"] == "a") & (errors["figure"] == "mean")]["actual"].tolist()
        drawing = plots.draw_ranking_calibration(classes, width=width)
        assert len([axes for axes in drawing.axes if axes.collections]) == classes["anew"].nunique() == 2


@pytest.mark.slow
def test_shared_templates_are_held_back_too(tmp_path):
    rows = wording_runs.random_rows(["m", "n"], items=30, invalid=0, seed=2)
    opened = runs.open_runs(wording_runs.write_wording(tmp_path / "run", rows))
    table = checks.tabulate_foreseen_and_actual_errors(opened)
    assert set(zip(table["measure"], table["figure"], strict=True)) == {("accuracy", "mean"), ("agreement", "sd")}
    few = table[(table["figure"] == "sd") & (table["n_pilot"] < 5)]
    assert len(few) and few["predicted"].isna().all()  # too few shared wordings tell nothing
    found = checks.tabulate_ranking_calibration(opened)
    assert set(found["measure"]) == {"accuracy"} and set(found["n_models"]) == {2}
    assert found["foreseen"].between(found["low"], found["high"]).all() and found["kept"].between(0, 1).all()


@pytest.mark.parametrize(
    "agreements",
    [{"x": [0.4]}, {"x": [0.4, 0.6]}, {"x": [0.4], "y": [0.5]}, {"x": [0.4] * 9, "y": [0.4] * 9}],
)
def test_what_cannot_be_told_has_no_row_or_no_number(tmp_path, agreements):
    """One wording of each item, one item, one model, constant answers: no error is 0 that is not known."""
    opened = runs.open_runs(write_run(tmp_path / "run", paraphrases(agreements)))
    frames = {name: build_table(name, opened, resamples=0) for name in NAMES}
    assert frames["ranking_calibration"].empty
    found = frames["planned_errors"]
    if len(found):
        flips = found[found["figure"] == "flips"]
        assert flips[["predicted", "actual"]].isna().all(axis=None)
        assert np.allclose(found.loc[found["figure"] == "mean", ["predicted", "actual"]], 0)
        assert found.loc[found["figure"] == "sd", "predicted"].isna().all()
