"""A formula of one's own on scores of any kind: each measure in its unit, as statsmodels fits it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import waver as notebook
from analysis.features.score_frames import join_scores_with_features
from ground.errors import InputError
from helpers.scale_runs import Respondent, draw_answers, write_scale
from helpers.scored_runs import draw_scores, write_scored
from helpers.synthetic import paraphrases, write_run
from helpers.text_features import hide

smf = pytest.importorskip("statsmodels.formula.api")
MEASURES = ("F1", "likert", "ms")
FORMULA = "score ~ statement_length + polite + (1 | item)"
NEW = ["study", "measure", "model", "condition", "term", "estimate", "se", "n_rows", "n_missing"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Two models by three measures, of which the longer and the polite wordings are worse; some have no score."""
    rows = draw_scores(["a", "b"], items=20, wordings=6, measures=MEASURES)
    place = rows["variant"].str[1:].astype(int)
    rows["text"] = [f"{'very ' * (n % 4)}much of {item}" for n, item in zip(place, rows["item"], strict=True)]
    rows["attributes"] = [[("polite", "yes" if n % 3 else "no")] for n in place]
    rows.loc[(rows["model"] == "b") & (rows["condition"] == "F1") & (rows.index % 10 == 0), "score"] = np.nan
    with pytest.MonkeyPatch.context() as patch:
        hide(patch, "pysentimiento", "spacy", "vaderSentiment")
        yield notebook.open(write_scored(tmp_path_factory.mktemp("scored") / "run", rows))


@pytest.fixture(scope="module")
def frame(run):
    """The rows that are fitted, for other packages."""
    rows = join_scores_with_features(run.open_runs_of_protocols({"scored"}), attributes=["attributes.polite"])
    return rows.rename(columns={"attributes.polite": "polite"})


@pytest.mark.slow
def test_every_measure_is_fitted_in_its_unit_as_statsmodels_does(run, frame):
    table = run.mixed(FORMULA)
    assert list(table[["measure", "model"]].drop_duplicates().itertuples(index=False, name=None)) == [
        (measure, model) for model in "ab" for measure in MEASURES
    ]
    for (model, measure), rows in table.groupby(["model", "measure"], observed=True):
        data = frame[(frame["model"] == model) & (frame["measure"] == measure)].dropna(subset="score")
        assert list(rows["term"]) == ["(Intercept)", "statement_length", "attributes.polite[yes vs no]"]
        fit = smf.mixedlm("score ~ statement_length + polite", data, groups=data["item"]).fit(
            reml=True, method="bfgs", gtol=1e-10
        )
        np.testing.assert_allclose(rows["estimate"], fit.fe_params.iloc[[0, 2, 1]], rtol=1e-6, atol=1e-9)
        # Errors by the textbook, (X' V^-1 X)^-1 at its variances: its own come from a Hessian of all parameters.
        x, items = np.asarray(fit.model.exog), data["item"].cat.codes.to_numpy()
        variance = fit.scale * np.eye(len(x)) + float(fit.cov_re.iloc[0, 0]) * (items[:, None] == items)
        covariance = np.linalg.inv(x.T @ np.linalg.solve(variance, x))
        np.testing.assert_allclose(rows["se"], np.sqrt(np.diag(covariance))[[0, 2, 1]], rtol=1e-6)


@pytest.mark.slow
def test_scores_are_those_of_the_folder_and_missing_ones_are_counted(run, frame):
    scores = run.responses().dropna(subset="score")
    mine = frame.dropna(subset="score")
    assert mine["score"].sum() == pytest.approx(scores["score"].astype(float).sum(), rel=1e-12)
    assert len(mine) == len(scores) and len(frame) == 2 * 3 * 120
    table = run.mixed(FORMULA).drop_duplicates(["model", "measure"]).set_index(["model", "measure"])
    assert (table["n_rows"] + table["n_missing"] == 120).all()
    assert table["n_missing"].to_dict() == {key: 12 * (key == ("b", "F1")) for key in table.index}


@pytest.mark.slow
def test_measures_are_apart_unless_the_formula_uses_them_or_where_keeps_one(run):
    by_model = run.mixed(FORMULA, by="model")
    pd.testing.assert_frame_equal(by_model[["measure", "estimate"]], run.mixed(FORMULA)[["measure", "estimate"]])
    pd.testing.assert_frame_equal(run.mixed(FORMULA, by=["measure", "model"]), by_model)
    one = run.where("measure = 'likert'").mixed(FORMULA, by="model")
    likert = by_model[by_model["measure"] == "likert"].reset_index(drop=True)
    pd.testing.assert_frame_equal(one[NEW[:3] + NEW[4:]].astype({"measure": str}),
                                  likert[NEW[:3] + NEW[4:]].astype({"measure": str}), rtol=1e-9)  # fmt: skip
    bounded = run.where("measure <> 'ms'").mixed("score ~ measure + statement_length + (1 | item)", by="model")
    assert list(bounded["term"]) == ["(Intercept)", "measurelikert", "statement_length"] * 2
    assert "measure" not in bounded


@pytest.mark.slow
def test_settings_of_one_measure_are_one_group_where_by_does_not_part_them(tmp_path):
    rows = draw_scores(["a"], items=8, wordings=4)
    settings = pd.concat([rows.assign(condition=f"{shots} shots/F1") for shots in ("no", "five")])
    run = notebook.open(write_scored(tmp_path / "run", settings))
    formula = "score ~ word_length + (1 | item)"
    assert list(run.mixed(formula, by="model")["n_rows"].unique()) == [64]
    assert list(run.mixed(formula)["n_rows"].unique()) == [32]


@pytest.mark.parametrize(
    ("formula", "by", "line"),
    [
        ("F1 ~ polite + (1 | item)", "model", r"no column 'F1' \(a measure: its numbers are score; .*measure = 'F1'"),
        ("agreement ~ polite + (1 | item)", "model", "no column 'agreement' .*; there are score, word_length"),
        ("rank ~ polite + (1 | item)", "model", "no column 'rank'"),
        ("measure ~ polite + (1 | item)", "model", "response 'measure' is no number; explain score or a feature"),
        ("score ~ measure + polite + (1 | item)", "measure", "by: 'measure' stands in the formula, too"),
        ("score ~ polite + (1 | item)", "mesure", r"by: no column 'mesure' \(the nearest is 'measure'\)"),
    ],
)
def test_bad_input_is_one_line(run, formula, by, line):
    with pytest.raises(InputError, match=line) as error:
        run.mixed(formula, by=by)
    assert "\n" not in str(error.value)


@pytest.mark.slow
def test_scores_without_any_value_are_one_line(tmp_path):
    rows = draw_scores(["a"], items=4, wordings=3)
    run = notebook.open(write_scored(tmp_path / "run", rows.assign(score=np.where(rows.index == 0, 0.5, np.nan))))
    with pytest.raises(InputError, match=r"response 'score' .* is 0.5 in the only row") as error:
        run.mixed("score ~ statement_length + (1 | item)")
    assert "\n" not in str(error.value)


@pytest.mark.slow
def test_the_response_says_which_of_several_protocols_is_meant(tmp_path):
    scored = write_scored(tmp_path / "scored", draw_scores(["a"], items=8, wordings=4), study="F1")
    agreeing = write_run(tmp_path / "agreeing", paraphrases({"x": [0.1, 0.5, 0.4, 0.2], "y": [0.9, 0.6, 0.8, 0.5]}))
    both = notebook.open(scored, agreeing)
    formula = "score ~ word_length + (1 | item)"
    pd.testing.assert_frame_equal(both.mixed(formula), notebook.open(scored).mixed(formula))
    answers = draw_answers([Respondent("a", wording_sd=0.1)], items=4, wordings=3, orders=("up",))
    rated = notebook.open(scored, write_scale(tmp_path / "rated", answers))
    with pytest.raises(InputError, match="'score' is in runs of protocol scale and scored; keep one of them") as error:
        rated.mixed(formula)
    assert "\n" not in str(error.value)
    kept = rated.where("study = 'F1'")
    pd.testing.assert_frame_equal(kept.mixed(formula), notebook.open(scored).mixed(formula))
