"""The tables of the text-features report, on runs whose answers depend on known features."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis import features, runs
from analysis.pages.text_features import family
from analysis.pages.text_features.catalogue import TABLES
from analysis.pages.text_features.family import explain_unfittable_runs, fit_mixed_model_per_unit
from analysis.pages.text_features.page import TextFeaturesPage
from analysis.pages.text_features.printed import SOURCE, read_printed_effects, read_printed_effects_per_model
from analysis.reporting.catalogue import tables
from analysis.reporting.catalogue.published_numbers import OURS
from ground.errors import InputError
from helpers.synthetic import write_run
from helpers.text_feature_runs import answers, make_run, wordings
from helpers.text_features import hide

pytestmark = pytest.mark.slow

pytest.importorskip("statsmodels")

KEY = ["study", "model", "condition", "term"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        hide(patch, "pysentimiento", "spacy", "vaderSentiment")
        opened = runs.open_runs(make_run(tmp_path_factory.mktemp("wordings") / "run"))
        features.read_or_compute_features(opened)
        yield opened


@pytest.fixture(scope="module")
def frames(run):
    return {name: tables.build_table(name, run) for name in TABLES}


def opened(path, frame):
    return runs.open_runs(write_run(path, frame))


def test_known_effects_are_found_and_the_rest_carries_a_dagger(frames):
    table = frames["mixed"].set_index(["model", "term"])
    for model in ("org/one", "org/two"):
        assert table.loc[(model, "statement_length"), "estimate"] > 0
        assert table.loc[(model, "negation_cues"), "estimate"] < 0
        assert table.loc[(model, "negation_cues"), "dagger"] == ""
        assert table.loc[(model, "edit_similarity"), "dagger"] == "†"
    tested = frames["mixed"][frames["mixed"]["term"] != "(Intercept)"]
    assert (tested["n_tests"] == len(tested)).all()
    np.testing.assert_allclose(tested["p_bonferroni"], np.minimum(1, tested["p"] * len(tested)))
    unsure = tested[["p_bonferroni", "p_robust_bonferroni"]].max(axis=1) >= 0.05
    assert ((tested["dagger"] == "†") == unsure).all()
    assert (frames["mixed"].loc[frames["mixed"]["term"] == "(Intercept)", "dagger"] == "").all()
    assert (tested["n_rows"] == 180).all()
    assert (tested["n_items"] == 6).all()


def test_standardised_intervals_are_the_raw_ones_on_another_scale(frames):
    tested = frames["mixed"][frames["mixed"]["term"] != "(Intercept)"]
    factor = tested["estimate_std"] / tested["estimate"]
    np.testing.assert_allclose(tested["estimate_std_lower"], tested["lower_robust"] * factor)
    assert (tested["estimate_std_lower"] < tested["estimate_std"]).all()
    assert (tested["estimate_std"] < tested["estimate_std_upper"]).all()


def test_missing_components_leave_predictors_out_and_say_why(run, frames):
    absent = {"left_dependents", "right_dependents", "dependency_length", "sentiment_positive", "sentiment_negative"}
    assert not absent & set(frames["mixed"]["term"])
    found = fit_mixed_model_per_unit(run)
    assert absent | {"text_logprob"} <= set(found.dropped)
    assert "spaCy is not installed: pip install spacy" in found.dropped["left_dependents"]
    assert found.dropped["text_logprob"] == "the responses do not record it"
    missing = frames["features"].set_index("columns")["missing"]
    assert "pip install" in missing["left_dependents, right_dependents, dependency_length"]


def test_predictors_can_be_named_and_those_must_be_there(run):
    table = tables.build_table("mixed", run, predictors="negation_cues, statement_length")
    assert list(table["term"].unique()) == ["(Intercept)", "negation_cues", "statement_length"]
    with pytest.raises(InputError, match=r"predictor 'left_dependents' has no values: spaCy is not installed"):
        tables.build_table("mixed", run, predictors="left_dependents")
    with pytest.raises(InputError, match=r"no predictor 'colour'; there are all, published, word_length"):
        tables.build_table("mixed", run, predictors="colour")
    with pytest.raises(InputError, match="no engine 'lmer'; there are auto, profile, pymer4"):
        tables.build_table("mixed", run, engine="lmer")
    with pytest.raises(InputError, match="no scale 'probit'; there are identity and logit"):
        tables.build_table("mixed", run, scale="probit")


def test_variance_inflation_is_that_of_the_fits_there_are(run, monkeypatch):
    fit_mixed_model_per_unit(run, engine="profile")
    monkeypatch.setattr(family, "_fit_mixed_models_of_all_units", None)
    assert len(tables.build_table("vif", run, engine="profile"))


def test_scales_hold_both_fits(run, frames):
    logit = tables.build_table("mixed", run, scale="logit").set_index(KEY)
    scales = frames["scales"].set_index(KEY)
    np.testing.assert_array_equal(scales["estimate_logit"], logit.loc[scales.index, "estimate"])
    np.testing.assert_array_equal(
        scales["estimate_identity"], frames["mixed"].set_index(KEY).loc[scales.index, "estimate"]
    )
    assert set(logit["scale"]) == {"logit"}
    diagnosis = tables.build_table("mixed_diagnostics", run, scale="logit")
    assert diagnosis["response"].str.contains("nothing clipped").all()
    assert diagnosis["formula"].str.startswith("logit ~").all()


def test_table_3_is_in_percentage_points_of_the_papers_predictors_alone(run, frames):
    alone = tables.build_table("mixed", run, predictors="published").set_index(["model", "term"])
    assert not {"negation_cues", "edit_similarity"} & set(alone.index.get_level_values("term"))
    for _, row in frames["table3"].iterrows():
        for term in ("word_length", "statement_length"):
            ours = alone.loc[(row["model"], term)]
            assert row[f"effect_{term}"] == 100 * ours["estimate"]
            assert row[f"effect_{term}_se"] == 100 * ours["se"]
            assert row[f"effect_{term}_dagger"] == ours["dagger"]
        assert np.isnan(row["effect_left_dependents"])
        assert row["effect_left_dependents_dagger"] == ""
    shown = tables.render_table_in_text_format("table3", frames["table3"], "markdown")
    first = frames["table3"].iloc[0]
    assert f"{first['effect_statement_length']:.2f}{first['effect_statement_length_dagger']} ± " in shown


def test_printed_effects_stand_next_to_a_matching_model(tmp_path, monkeypatch):
    hide(monkeypatch, "pysentimiento", "spacy", "vaderSentiment")
    run = runs.open_runs(make_run(tmp_path / "run", ["gpt-4o", "someone/else"]))
    monkeypatch.setattr("analysis.pages.stability.printed._list_studies_with_printed_items", lambda _: ["made up"])
    table = tables.build_table("table3", run)
    assert list(table["source"]) == [OURS, SOURCE, OURS]
    row = table.iloc[1]
    assert row["model"] == "gpt-4o"
    assert (row["effect_right_dependents"], row["effect_right_dependents_se"]) == (36.01, 10.85)
    assert row["effect_word_frequency_dagger"] == "†"
    assert row["effect_word_length_dagger"] == ""


def test_printed_table_is_complete():
    assert len(read_printed_effects_per_model()) == 18
    assert read_printed_effects().groupby("model")["term"].nunique().eq(8).all()
    assert set(read_printed_effects()["term"]) == set(features.PUBLISHED)


def test_a_p_value_too_small_for_a_float_is_not_zero(frames):
    table = frames["correlations"]
    diagonal = table[(table["feature_a"] == table["feature_b"]) & table["r"].notna()]
    assert diagonal["p"].tolist() == [2.2250738585072014e-308] * len(diagonal)
    assert (frames["correlations"]["p"].dropna() > 0).all()
    shown = tables.render_table_in_text_format("correlations", frames["correlations"], "markdown")
    assert "&lt;0.001" in shown
    assert " 0.000 " not in shown


def test_a_model_that_always_answers_the_same_is_left_out_and_named(tmp_path, monkeypatch):
    hide(monkeypatch, "pysentimiento", "spacy", "vaderSentiment")
    frame = answers(wordings(), ["varies", "never"])
    frame.loc[frame["model"] == "never", "agreement"] = 1.0
    run = opened(tmp_path / "run", frame)
    assert set(tables.build_table("mixed", run)["model"]) == {"varies"}
    diagnosis = tables.build_table("mixed_diagnostics", run).set_index("model")
    assert diagnosis.loc["never", "message"].startswith("not fitted: response 'agreement' (")
    assert "is 1.0 in all 180 rows" in diagnosis.loc["never", "message"]
    assert diagnosis.loc["varies", "message"] == ""
    assert diagnosis["validity"].tolist() == pytest.approx([0.9, 0.9])


@pytest.mark.parametrize("reason", ["constant", "one item"])
def test_runs_that_no_model_can_be_fitted_to_are_refused_in_one_line(tmp_path, monkeypatch, reason):
    hide(monkeypatch, "pysentimiento", "spacy", "vaderSentiment")
    frame = answers(wordings(items=1 if reason == "one item" else 3), ["m"])
    if reason == "constant":
        frame["agreement"] = 0.25
    run = opened(tmp_path / "run", frame)
    assert explain_unfittable_runs(run) == {
        "constant": "all valid answers are the same", "one item": "a mixed model needs 2 items; there is 1",
    }[reason]  # fmt: skip
    said = {"constant": "is 0.25 in all 90 rows", "one item": "only one item"}[reason]
    with pytest.raises(InputError, match=said):
        tables.build_table("mixed", run)


def test_missing_answers_are_counted_not_filled(tmp_path, monkeypatch):
    hide(monkeypatch, "pysentimiento", "spacy", "vaderSentiment")
    frame = answers(wordings(), ["m"])
    frame.loc[frame.index[5:15], "agreement"] = np.nan
    diagnosis = tables.build_table("mixed_diagnostics", opened(tmp_path / "run", frame)).iloc[0]
    assert (diagnosis["n_rows"], diagnosis["n_missing"]) == (170, 10)


def test_the_wordings_own_probability_is_a_predictor_where_it_is_recorded(tmp_path, monkeypatch):
    hide(monkeypatch, "pysentimiento", "spacy", "vaderSentiment")
    frame = answers(wordings(), ["knows", "does not"])
    frame["text_logprob"] = np.where(
        frame["model"] == "knows", -np.random.default_rng(0).gamma(20, 2, len(frame)), np.nan
    )
    run = opened(tmp_path / "run", frame)
    table = tables.build_table("mixed", run)
    assert list(table.loc[table["term"] == "text_logprob", "model"]) == ["knows"]
    dropped = tables.build_table("mixed_diagnostics", run).set_index("model")["dropped"]
    assert dropped.to_dict() == {"knows": "", "does not": "text_logprob: no value in any row"}


@pytest.mark.parametrize(
    ("change", "wanted"),
    [({}, ""),
     ({"paraphrases": 1}, "11 features of 6 items need at least 18 valid answers to paraphrases; there are 6"),
     ({"items": 1}, "a mixed model needs 2 items; there is 1")],
)  # fmt: skip
def test_what_a_run_lacks_is_named_with_its_number_and_nothing_else(tmp_path, change, wanted):
    why = explain_unfittable_runs(runs.open_runs(make_run(tmp_path / "run", ["m"], **change)))
    assert why == wanted


def test_texts_that_cannot_be_cut_into_words_are_not_answerable(tmp_path):
    frame = answers(wordings(), ["m"])
    assert not explain_unfittable_runs(opened(tmp_path / "ja", frame.assign(language="ja")))
    assert not explain_unfittable_runs(opened(tmp_path / "zh", frame.assign(language="zh")))  # negation cues
    assert (
        explain_unfittable_runs(opened(tmp_path / "th", frame.assign(language="th")))
        == "words cannot be counted in this language (th)"
    )


def test_fits_are_made_once_and_forgotten_with_their_runs(run):
    assert fit_mixed_model_per_unit(run) is fit_mixed_model_per_unit(run)
    again = runs.open_runs(run.folders[0].path)
    assert fit_mixed_model_per_unit(again) is not fit_mixed_model_per_unit(run)
    pd.testing.assert_frame_equal(
        fit_mixed_model_per_unit(again).result.table, fit_mixed_model_per_unit(run).result.table
    )


def test_wordings_that_do_not_differ_give_a_page_without_effects(tmp_path, monkeypatch):
    hide(monkeypatch, "pysentimiento", "spacy", "vaderSentiment")
    frame = answers(wordings(), ["a", "b"]).assign(text="All say the same.")
    both = pd.concat([frame.assign(condition=name) for name in ("plain/yes-no", "plain/no-yes")])
    page = TextFeaturesPage([str(write_run(tmp_path / "run", both))])
    assert "No feature of the wording varies." in page.answer().text
    assert "Dropped from 4 of 4 fits: word_length: constant" in page.cautions().text
    assert "no data for it" in page.figure("effects").text
    shown = [page.table(name) for name in TABLES]
    shown += [page.figure(name) for name in ("correlations", "residuals", "intercepts")]
    shown += [page.method(), page.provenance()]
    assert all(part.text for part in shown)


@pytest.mark.parametrize("gap", ["one original", "few log-probabilities", "both"])
def test_a_measure_that_leaves_no_fit_for_missing_values_is_left_out(tmp_path, monkeypatch, gap):
    hide(monkeypatch, "pysentimiento", "spacy", "vaderSentiment")
    frame, sparse = answers(wordings(), ["m"]), []
    if gap != "one original":
        is_first = (frame["item"] < "item-2") & (frame["variant"] < "paraphrase-003")
        frame["text_logprob"] = np.random.default_rng(0).normal(-20, 3, len(frame))
        frame.loc[~is_first, "text_logprob"] = np.nan
        sparse.append("text_logprob")
    if gap != "few log-probabilities":
        frame = frame[(frame["variant"] != "original") | (frame["item"] == "item-0")]
        sparse.append("edit_similarity")
    folder = write_run(tmp_path / "run", frame)
    page = TextFeaturesPage([str(folder)])
    page.answer()
    for name in sparse:
        assert f"{name}: too few answers have a value of it for any fit" in page.cautions().text
    assert set(page.frame("mixed")["n_rows"]) == {180} and not set(sparse) & set(page.frame("mixed")["term"])
    if gap == "few log-probabilities":  # one that is asked for by name has to be there
        with pytest.raises(InputError, match="cannot carry 7 coefficients"):
            tables.build_table("mixed", runs.open_runs(folder), predictors="all,text_logprob")
