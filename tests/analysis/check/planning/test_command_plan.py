"""The command `waver plan` prints designs for means, SDs and flips, and for sampled texts."""

from __future__ import annotations

import csv
import io

import numpy as np
import pandas as pd
import pytest

from analysis.__main__ import main
from analysis.statistics.reliability.deviations import compute_sd_pseudo_values, forecast_error_of_mean_wording_sd
from analysis.statistics.reliability.flips import build_flip_share_error_forecast
from analysis.statistics.reliability.forecast import build_mean_error_forecast, predict_standard_error
from analysis.statistics.reliability.sampling import compute_variance_of_binary_samples, estimate_sampling_variance
from helpers.scored_runs import draw_scores, write_scored
from helpers.synthetic import random_frame, write_run

TEXTS = 8


@pytest.fixture(scope="module")
def pilot(tmp_path_factory):
    """Two models, 20 items in 6 paraphrases."""
    frame = random_frame(["a", "b"], items=20, paraphrases=6, seed=1).assign(mass=0.9)
    frame["text"] = frame["item"] + " " + frame["variant"] + " " + frame.index.astype(str)
    return str(write_run(tmp_path_factory.mktemp("pilot") / "run", frame)), frame


def planned(capsys, *call: str) -> tuple[pd.DataFrame, str]:
    """Run the command; its table, and what it tells beside."""
    assert main(["plan", *call]) == 0
    printed = capsys.readouterr()
    return pd.DataFrame(list(csv.DictReader(io.StringIO(printed.out)))), printed.err


def answers(frame: pd.DataFrame, model: str, column: str = "agreement") -> np.ndarray:
    own = frame[(frame["model"] == model) & (frame["variant"] != "original")]
    return own.pivot(index="item", columns="variant", values=column).to_numpy(float)


@pytest.mark.slow
def test_models_of_which_the_pilot_tells_too_little_are_counted(capsys, pilot, tmp_path):
    """A plan for one model of two said nothing of the other, but took the size of the pilot from it: "1 items"."""
    frame = pilot[1]
    few = frame[(frame["model"] == "a") | (frame["item"] == frame["item"].iloc[0])]
    run = str(write_run(tmp_path / "run", few))
    left_out = "1 model (of 2: the pilot tells too little of the others)"
    assert (
        f"pilot: 20 items, 6 wordings (own wordings of each item), {left_out}"
        in planned(capsys, run, "--se", "0.05")[1]
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("measure", "foresee"),
    [
        ("agreement", lambda values: build_mean_error_forecast(values, False)),
        ("sd", lambda values: forecast_error_of_mean_wording_sd(values, False)),
        ("flips", lambda values: build_flip_share_error_forecast(values, 0.2)),
    ],
)
def test_the_error_is_the_larger_one_of_both_models(pilot, capsys, measure, foresee):
    path, frame = pilot
    threshold = ["--threshold", "0.2"] if measure == "flips" else []
    table, told = planned(capsys, path, "--se", "0.05", "--measure", measure, *threshold)
    assert "pilot: 20 items, 6 wordings (own wordings of each item), 2 models" in told
    assert ("leave the error of the first design between" in told) == (measure == "flips")
    found = table.iloc[len(table) // 2]
    size = int(found["items"]), int(found["wordings"])
    expected = max(predict_standard_error(foresee(answers(frame, model)), *size) for model in "ab")
    assert float(found["standard_error"]) == pytest.approx(expected, rel=1e-5) and expected <= 0.05
    assert set(table["samples"]) == {""}
    assert (table["prompts"].astype(int) == table["items"].astype(int) * table["wordings"].astype(int)).all()


def test_more_items_than_are_tried_are_out_of_reach(pilot, capsys):
    """A plan of an error of 1e-9 had 1.9e17 items."""
    assert main(["plan", pilot[0], "--se", "1e-9"]) == 2
    assert "a standard error of 1e-09 is out of reach, even with 10,000,000 items" in capsys.readouterr().err
    designs, _ = planned(capsys, pilot[0], "--se", "0.0005")
    assert designs["items"].astype(int).max() <= 10_000_000


def test_a_difference_is_paired(pilot, capsys):
    path, frame = pilot
    table, told = planned(capsys, path, "--difference", "0.1", "--measure", "sd")
    assert "1 pair of models" in told
    found = table.iloc[0]
    both = compute_sd_pseudo_values(answers(frame, "a")) - compute_sd_pseudo_values(answers(frame, "b"))
    expected = predict_standard_error(
        build_mean_error_forecast(both, False), int(found["items"]), int(found["wordings"])
    )
    assert float(found["standard_error"]) == pytest.approx(expected, rel=1e-5)


def test_sampled_texts_are_a_part_of_the_design(tmp_path, capsys):
    frame = random_frame(["a"], items=20, paraphrases=6, seed=2)
    agree = np.random.default_rng(2).binomial(TEXTS, frame["agreement"])
    frame["count"] = [[int(yes), TEXTS - int(yes)] for yes in agree]
    frame["invalid"], frame["agreement"], share = 0, np.nan, agree / TEXTS
    frame = frame.drop(columns=["agreement", "mass"])
    frame["text"] = frame["item"] + " " + frame["variant"] + " " + frame.index.astype(str)
    path = str(write_run(tmp_path / "run", frame))
    table, _ = planned(capsys, path, "--se", "0.05")
    values = answers(frame.assign(share=share), "a", "share")
    number = np.full(values.shape, float(TEXTS))
    forecast = build_mean_error_forecast(
        values, False, estimate_sampling_variance(compute_variance_of_binary_samples(values, number), number)
    )
    assert set(table["samples"]) >= {"1", "10"}
    for row in table.astype(float).to_dict("records"):
        size = row["items"], row["wordings"], row["samples"]
        assert row["standard_error"] == pytest.approx(predict_standard_error(forecast, *size), rel=1e-5)
        assert row["prompts"] == np.prod(size)


def test_a_pilot_without_other_wordings_is_one_line(tmp_path, capsys):
    run = str(write_run(tmp_path / "run", pd.DataFrame({"item": ["a", "b"], "variant": "original", "agreement": 0.5})))
    assert main(["plan", run, "--se", "0.1"]) == 2
    assert "no item was answered in several wordings; plan from a run that has some" in capsys.readouterr().err


def test_a_condition_of_one_measure_of_several_is_planned_for_that_one(tmp_path, capsys):
    """With two measures of scores, each in a condition of its own, every `--condition` was refused."""
    frame = draw_scores(["a"], items=8, wordings=3, measures=("F1", "judged"))
    run = str(write_scored(tmp_path / "run", frame))
    for call in (("--condition", "judged"), ("--condition", "judged", "--measure", "judged")):
        designs, _ = planned(capsys, run, "--se", "0.1", *call)
        assert len(designs)
    assert main(["plan", run, "--se", "0.1", "--condition", "other"]) == 2
    assert "--condition 'other'; known here: F1, judged" in capsys.readouterr().err


def test_a_plan_says_that_a_difference_of_scores_is_a_share_of_their_range(tmp_path, capsys):
    run = write_scored(tmp_path / "run", draw_scores(["a", "b"], items=20, wordings=4, measures=("F1", "likert")))
    _, beside = planned(capsys, str(run), "--difference", "0.1", "--measure", "likert")
    assert "a difference of 0.1 in likert as a share of its range 1-5; pilot: " in beside
    _, beside = planned(capsys, str(run), "--difference", "0.1", "--measure", "F1")
    assert "a difference of 0.1 in F1; pilot: " in beside
