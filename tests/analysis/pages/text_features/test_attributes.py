"""Attributes of wordings as predictors of the page on text features."""

from __future__ import annotations

import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import waver
from analysis import features, runs
from analysis.__main__ import main
from analysis.pages.text_features.catalogue import CATALOGUE
from analysis.pages.text_features.page import TextFeaturesPage
from analysis.pages.text_features.terms import name_predictor, phrase_predictor_as_title, phrase_predictor_count
from analysis.reporting.catalogue import tables
from ground.errors import InputError
from helpers.attribute_runs import make_attribute_run
from helpers.text_features import hide
from inference.demo import MODELS

smf = pytest.importorskip("statsmodels.formula.api")
TERM = "attributes.hedged[yes vs no]"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        hide(patch, "pysentimiento", "spacy", "vaderSentiment")
        path = make_attribute_run(tmp_path_factory.mktemp("attributes") / "run")
        features.compute_features(path)
    return path


@pytest.fixture(scope="module")
def run(folder):
    return runs.open_runs(folder)


@pytest.mark.slow
def test_effects_are_those_of_statsmodels(run):
    table = tables.build_table("mixed", run, predictors="statement_length,hedged,attributes.grade")
    frame = features.join_answers_with_features(run, attributes=["attributes.hedged", "attributes.grade"])
    frame = frame.rename(columns=lambda name: name.removeprefix("attributes.")).dropna(subset=["agreement", "grade"])
    for model, rows in table.groupby("model"):
        data = frame[frame["model"] == model]
        fit = smf.mixedlm("agreement ~ statement_length + hedged + grade", data, groups=data["item"]).fit(reml=True)
        expected = fit.fe_params[["Intercept", "statement_length", "hedged[T.yes]", "grade"]]
        assert list(rows["term"]) == ["(Intercept)", "statement_length", TERM, "attributes.grade"]
        np.testing.assert_allclose(rows["estimate"], expected, atol=1e-4)
        np.testing.assert_allclose(rows["se"], fit.bse_fe[expected.index], atol=1e-4)
        assert (rows["n_rows"] == len(data)).all()


@pytest.mark.slow
def test_rows_without_a_value_are_counted(run):
    table = tables.build_table("mixed_diagnostics", run, predictors="grade")
    assert (table["n_missing"] > 30).all()
    assert (table["n_rows"] + table["n_missing"] == 180).all()


@pytest.mark.slow
def test_attributes_stand_beside_all_features(run):
    plain = tables.build_table("mixed", run)
    table = tables.build_table("mixed", run, predictors="all,attributes.tone")
    terms = [f"attributes.tone[{level} vs <b>formal $x$</b>]" for level in ("plain", "rude")]
    assert list(dict.fromkeys(table["term"])) == [*dict.fromkeys(plain["term"]), *terms]
    with_grade = tables.build_table("mixed", run, predictors="published,attributes.grade")
    assert "attributes.grade" in set(with_grade["term"])


@pytest.mark.slow
def test_the_table_says_which_named_predictors_no_fit_has(folder, capsysbinary):
    call = ["table", str(folder), "mixed", "-p"]
    assert main([*call, "predictors=statement_length,same"]) == 0
    shown = capsysbinary.readouterr()
    assert shown.err == b"left out of 2 of 2 fits: attributes.same: constant\n"
    assert b"attributes.same" not in shown.out
    assert main([*call, "predictors=statement_length,hedged"]) == 0
    assert capsysbinary.readouterr().err == b""


@pytest.mark.slow
def test_whether_there_is_data_depends_on_the_predictors(tmp_path):
    """Three items of three paraphrases: enough for two predictors, not for all."""
    run = runs.open_runs(make_attribute_run(tmp_path / "run", items=3, paraphrases=3))
    explain = CATALOGUE.explain_no_data
    assert "valid answers to paraphrases; there are 9" in explain(run, {})
    assert "valid answers to paraphrases; there are 9" in explain(run, {"predictors": "all,hedged"})
    assert "valid answers to paraphrases; there are 9" in explain(run, {"predictors": "published"})
    assert explain(run, {"predictors": "statement_length,hedged"}) == ""
    assert explain(run, {"predictors": "statement_length,hedged,word_length,tone"}) == ""
    assert explain(run, {"predictors": "statement_length,hedged,word_length,tone,negation_cues"})
    with pytest.raises(InputError, match="no predictor 'hedge'"):
        explain(run, {"predictors": "hedge"})


@pytest.mark.slow
def test_a_parameter_of_a_page_that_is_left_out_is_not_called_unknown(tmp_path, capsys):
    folder = make_attribute_run(tmp_path / "run", items=3, paraphrases=3)
    call = ["report", str(folder), "--out", str(tmp_path / "out"), "-p"]
    assert main([*call, "predictors=all,hedged"]) == 2
    error = capsys.readouterr().err
    why = "12 features of 3 items need at least 16 valid answers to paraphrases; there are 9"
    assert f"parameter 'predictors': its page text_features is left out: {why}" in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_the_small_run_of_the_docs_is_fitted_or_refused_in_one_line(tmp_path):
    text = (Path(__file__).parents[4] / "docs" / "notebooks.md").read_text(encoding="utf-8")
    block = text[text.index("    item,text,hedged\n") :].partition("\n\n")[0]
    (tmp_path / "hedged.csv").write_text(textwrap.dedent(block), encoding="utf-8")
    model = MODELS / "waver-demo-small"
    run = waver.ask(tmp_path / "hedged.csv", model, protocol="agreement", out=tmp_path / "run")
    table = run.table("mixed", predictors="statement_length,hedged")
    assert "attributes.hedged" in set(table["term"])
    assert np.isfinite(table[["estimate", "df", "p", "lower", "upper"]]).all(axis=None)
    few = run.where("item IN ('tea', 'pets') AND (hedged = '1' OR text LIKE '%s')")
    with pytest.raises(InputError, match=r"\d rows cannot carry \d coefficients|\d rows and \d coefficients"):
        few.table("mixed", predictors="all,hedged")


def test_an_unknown_name_gets_the_nearest_one(run):
    with pytest.raises(InputError, match=r"no predictor 'hedge' \(the nearest is 'attributes.hedged'\); there are all"):
        tables.build_table("mixed", run, predictors="hedge")


def test_terms_are_named_in_words():
    assert phrase_predictor_as_title(TERM) == "hedged: yes vs no"
    assert phrase_predictor_as_title("attributes.CEFR") == name_predictor("attributes.CEFR") == "CEFR"
    assert phrase_predictor_count(["word_length", TERM, "attributes.tone[a vs b]", "attributes.tone[c vs b]"]) == (
        "1 text feature and 2 attributes"
    )
    assert phrase_predictor_count(pd.Series(["word_length"])) == "1 text feature"


@pytest.mark.slow
def test_the_page_says_what_an_attribute_is_and_escapes_it(folder, tmp_path):
    page = TextFeaturesPage([str(folder)], tmp_path, predictors="attributes.hedged,attributes.tone")
    answer = page.answer().text
    assert "2 attributes of their wording" in answer
    assert "hedged: yes vs no" in answer
    figure = page.figure("effects").text
    assert "<b>formal" not in page.table("mixed").text + figure
    assert "per wording (yes vs no)" in figure
    foot = page.provenance().text
    assert "attributes.hedged: a category: yes compared with no; 186 of 186 wordings have a value" in foot
    assert TERM in (tmp_path / "tables" / "mixed.csv").read_text(encoding="utf-8")
