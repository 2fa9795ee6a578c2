"""A formula of one's own on the rows of some runs: as the page's fits, and as statsmodels and R's lme4."""

from __future__ import annotations

import shutil

import numpy as np
import pandas as pd
import pytest

from analysis import features, runs
from analysis.features.mixed_effects import fit_mixed_model_by_group
from analysis.measures.beside_original import tabulate_answers_beside_original
from analysis.reporting.catalogue import tables
from analysis.statistics.mixed import lme4
from ground.errors import InputError
from helpers import scale_runs
from helpers.attribute_runs import make_attribute_run
from helpers.meaning_runs import write_meaning_run
from helpers.synthetic import paraphrases, write_run
from helpers.text_features import hide

smf = pytest.importorskip("statsmodels.formula.api")
BY = ("model", "condition")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        hide(patch, "pysentimiento", "spacy", "vaderSentiment")
        opened = runs.open_runs(make_attribute_run(tmp_path_factory.mktemp("mixed") / "run", items=6, paraphrases=20))
        features.read_or_compute_features(opened)
        yield opened


@pytest.mark.slow
@pytest.mark.parametrize(("response", "scale"), [("agreement", "identity"), ("logit", "logit")])
def test_fits_are_those_of_the_page(run, response, scale):
    table = fit_mixed_model_by_group(run, f"{response} ~ statement_length + hedged + (1 | item)", BY)
    page = tables.build_table("mixed", run, predictors="statement_length,attributes.hedged", scale=scale)
    shared = [name for name in table if name in page]
    assert set(page) - set(shared) == {"validity", "scale", "dagger", "estimate_std_lower", "estimate_std_upper"}
    pd.testing.assert_frame_equal(table[shared], page[shared], check_exact=True)
    assert (table["warnings"] == "").all()


def test_estimates_are_those_of_statsmodels(run):
    table = fit_mixed_model_by_group(run, "agreement ~ hedged * statement_length + (1 | item)", BY)
    frame = features.join_answers_with_features(run, attributes=["attributes.hedged"])
    frame = frame.rename(columns={"attributes.hedged": "hedged"})
    for model, rows in table.groupby("model"):
        data = frame[frame["model"] == model]
        model_of_statsmodels = smf.mixedlm("agreement ~ hedged * statement_length", data, groups=data["item"])
        fit = model_of_statsmodels.fit(reml=True, method="powell")
        np.testing.assert_allclose(rows["estimate"], fit.fe_params, atol=1e-4)
        np.testing.assert_allclose(rows["se"], fit.bse_fe, atol=1e-4)


@pytest.mark.slow
def test_groups_are_of_one_study_and_of_what_by_names(run):
    table = fit_mixed_model_by_group(run, "agreement ~ statement_length + model + (1 | item)", [])
    assert list(table["term"]) == ["(Intercept)", "statement_length", "modelorg/two"]
    assert (table["n_rows"] == 240).all()
    by_tone = fit_mixed_model_by_group(run, "agreement ~ statement_length + (1 | item)", ["model", "tone"])
    assert by_tone.groupby(["model", "attributes.tone"], observed=True).ngroups == 6
    assert (by_tone["n_tests"] == 6).all()


@pytest.mark.slow
def test_rows_without_a_value_are_counted_and_what_is_left_out_is_said(run):
    table = fit_mixed_model_by_group(run, "agreement ~ grade + statement_length + (1 | item)", BY)
    assert (table["n_rows"] + table["n_missing"] == 120).all()
    assert (table["n_missing"] > 5).all()
    within = fit_mixed_model_by_group(run, "agreement ~ item + statement_length + (1 | variant)", ["model", "hedged"])
    assert len(within) == 4 * 7


@pytest.mark.parametrize(
    ("formula", "options", "line"),
    [
        ("agreement ~ negation + (1 | item)", {}, r"no column 'negation' \(the nearest is 'negation_cues'\)"),
        ("agreemnt ~ hedged + (1 | item)", {}, r"no column 'agreemnt' \(the nearest is 'agreement'\)"),
        ("agreement ~ hedge + (1 | item)", {}, r"the nearest is 'attributes.hedged'"),
        ("item ~ hedged + (1 | item)", {}, "the response 'item' is no number"),
        ("tone ~ statement_length + (1 | item)", {}, "response 'attributes.tone' is not a number"),
        ("agreement ~ hedged", {}, "names no random effect"),
        ("agreement ~ note + (1 | item)", {}, "neither a number"),
        ("agreement ~ hedged + (1 | item)", {"engine": "lmer"}, "no engine 'lmer'; there are auto, profile, pymer4"),
        ("agreement ~ hedged + (hedged | item)", {"engine": "profile"}, "engine 'pymer4' fits the rest"),
        ("agreement ~ hedged + (1 | item)", {"by": ["modle"]}, r"by: no column 'modle' \(the nearest is 'model'\)"),
        ("agreement ~ model + (1 | item)", {"by": ["model"]}, "by: 'model' stands in the formula, too"),
    ],
)
def test_bad_input_is_one_line(run, formula, options, line):
    with pytest.raises(InputError, match=line) as error:
        fit_mixed_model_by_group(run, formula, **{"by": BY, **options})
    assert "\n" not in str(error.value)


@pytest.mark.slow
def test_a_group_that_cannot_be_fitted_is_a_row_that_says_why(tmp_path):
    values = {"x": [0.1, 0.5, 0.4, 0.2], "y": [0.9, 0.6, 0.8, 0.5]}
    constant = {item: [0.5] * 4 for item in values}
    frame = pd.concat([paraphrases(values, model="a"), paraphrases(constant, model="b")])
    frame["text"] = [f"{'very ' * (at % 4)}true of {item}" for at, item in enumerate(frame["item"])]
    table = fit_mixed_model_by_group(
        runs.open_runs(write_run(tmp_path / "run", frame)), "agreement ~ statement_length + (1 | item)", BY
    )
    assert table.set_index("model").loc["b", "warnings"].startswith("not fitted: response 'agreement'")
    assert list(table["term"].fillna("")) == ["(Intercept)", "statement_length", ""]


@pytest.mark.slow
def test_rows_without_the_attribute_that_separates_fits_are_counted(tmp_path):
    frame = pd.concat(paraphrases({"x": draw, "y": draw[::-1]}, model="a") for draw in [list(np.linspace(0.1, 0.9, 9))])
    frame["text"] = [f"{'very ' * (at % 4)}true of {item}" for at, item in enumerate(frame["item"])]
    frame["attributes"] = [[("tone", "calm")] if at % 3 else None for at in range(len(frame))]
    table = fit_mixed_model_by_group(
        runs.open_runs(write_run(tmp_path / "run", frame)), "agreement ~ statement_length + (1 | item)", ["tone"]
    )
    assert set(table["n_rows"].dropna()) == {12}
    (unfitted,) = table[table["term"].isna()].to_dict("records")
    assert unfitted["warnings"] == "not fitted: attributes.tone: missing in 6 rows"


def test_runs_of_another_protocol_are_refused(tmp_path):
    folder = write_run(tmp_path / "run", paraphrases({"x": [0.1, 0.2]}), protocol="wording")
    with pytest.raises(InputError, match="is of protocol wording; mixed models are fitted to runs of protocol agree"):
        fit_mixed_model_by_group(runs.open_runs(folder), "agreement ~ statement_length + (1 | item)", BY)


@pytest.mark.slow
def test_random_slopes_without_r_are_one_line(run, monkeypatch):
    lme4.start_r.cache_clear()
    hide(monkeypatch, "pymer4")
    monkeypatch.setitem(__import__("sys").modules, "pymer4.tidystats", None)
    with pytest.raises(InputError, match="engine 'pymer4' needs R with lme4 and lmerTest") as error:
        fit_mixed_model_by_group(run, "agreement ~ statement_length + (statement_length | item)", BY)
    assert "\n" not in str(error.value)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("R") is None, reason="needs R")
def test_random_slopes_are_fitted_by_r(run):
    pytest.importorskip("pymer4")
    lme4.start_r.cache_clear()
    table = fit_mixed_model_by_group(run, "agreement ~ statement_length + (statement_length | item)", BY)
    assert set(table["engine"]) == {"pymer4"}
    assert list(table["term"]) == ["(Intercept)", "statement_length"] * 2
    intercepts = fit_mixed_model_by_group(run, "agreement ~ statement_length + (1 | item)", BY, "pymer4")
    ours = fit_mixed_model_by_group(run, "agreement ~ statement_length + (1 | item)", BY)
    np.testing.assert_allclose(intercepts["estimate"], ours["estimate"], atol=1e-6)


@pytest.mark.parametrize("by", [None, 5])
def test_what_is_no_list_of_columns_is_one_line(run, by):
    with pytest.raises(InputError, match=r"^by: expected names of columns, not"):
        fit_mixed_model_by_group(run, "agreement ~ statement_length + (1 | item)", by)


@pytest.mark.slow
def test_distance_from_the_original_by_the_meaning_of_the_wording(tmp_path):
    """Against the page's own fits, and the plain merge of both frames."""
    with pytest.MonkeyPatch.context() as patch:
        hide(patch, "pysentimiento", "spacy", "vaderSentiment")
        opened = runs.open_runs(write_meaning_run(tmp_path / "run", ["a", "b"], items=10, paraphrases=12))
        table = fit_mixed_model_by_group(opened, "distance ~ meaning_score + (1 | item)", BY)
        slopes = table[table["term"] == "meaning_score"].set_index("model")
        page = tables.build_table("meaning_effect", opened).set_index("model")
        for name in ("estimate", "lower", "upper", "p", "p_robust", "estimate_std", "n_rows"):
            assert slopes[name].to_numpy() == pytest.approx(page[name].to_numpy(), rel=1e-9)
        answers = fit_mixed_model_by_group(opened, "agreement ~ meaning_score + (1 | item)", BY)
        assert (answers["n_rows"] == 10 * 12).all() and (answers["n_missing"] == 0).all()
        weak = write_meaning_run(tmp_path / "weak", items=4, paraphrases=4, checks={"shifts": {"words": 0.0}})
        with pytest.raises(InputError, match="no check parts decoys from wordings"):
            fit_mixed_model_by_group(runs.open_runs(weak), "distance ~ meaning_score + (1 | item)", BY)


@pytest.mark.slow
def test_distances_of_rating_scales(tmp_path):
    with pytest.MonkeyPatch.context() as patch:
        hide(patch, "pysentimiento", "spacy", "vaderSentiment")
        opened = runs.open_runs(scale_runs.write_full(tmp_path / "run"))
        table = fit_mixed_model_by_group(opened, "distance ~ word_length + (1 | item)", ["model"])
        distances = tabulate_answers_beside_original(opened)
        of_model = distances.groupby("model", observed=True)["distance"].count()
        assert table.drop_duplicates("model").set_index("model")["n_rows"].to_dict() == of_model.to_dict()
        with pytest.raises(InputError, match=r"meaning_score says .* no wording was checked; waver meaning RUN"):
            fit_mixed_model_by_group(opened, "distance ~ meaning_score + (1 | item)", ["model"])
