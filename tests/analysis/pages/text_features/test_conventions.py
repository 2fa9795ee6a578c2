"""Invalid answers in the mixed models: dropped from the fit, or counted as not agreeing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis import features, runs
from analysis.pages.text_features import family, narrative
from analysis.pages.text_features.family import find_units_with_invalid_answers, fit_mixed_model_per_unit
from analysis.pages.text_features.page import TABLES
from analysis.reporting.catalogue import tables
from analysis.reporting.catalogue.selection import AnswerPair
from analysis.statistics import mixed
from ground.errors import InputError
from helpers.synthetic import write_run
from helpers.text_feature_runs import answers, wordings
from helpers.text_features import hide

pytest.importorskip("statsmodels")


def sampled(rows, samples=5, seed=1):
    """Texts in place of probabilities: long wordings get fewer valid samples, so that validity has a feature, too."""
    rng = np.random.default_rng(seed)
    length = rows["text"].str.split().str.len().to_numpy()
    valid = rng.binomial(samples, np.clip(1.3 - 0.05 * length, 0.2, 1))
    agree = rng.binomial(valid, rows["agreement"].to_numpy())
    counts = [list(pair) for pair in zip(agree, valid - agree, strict=True)]
    return rows.drop(columns=["agreement", "mass"]).assign(count=counts, invalid=samples - valid)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    rows = answers(wordings(), ["org/exact", "org/texts"])
    texts = rows["model"] == "org/texts"
    both = pd.concat([rows[~texts], sampled(rows[texts].reset_index(drop=True))], ignore_index=True)
    rows = both.astype({"count": object})
    rows["probability"] = [None if np.isnan(a) else [0.9 * a, 0.9 * (1 - a)] for a in rows["agreement"]]
    rows["mass"] = rows["agreement"].notna().map({True: 0.9, False: None})
    with pytest.MonkeyPatch.context() as patch:
        hide(patch, "pysentimiento", "spacy", "vaderSentiment")
        path = write_run(tmp_path_factory.mktemp("texts") / "run", rows.drop(columns="agreement"), study="made up")
        opened = runs.open_runs(path)
        features.read_or_compute_features(opened)
        yield opened


@pytest.mark.slow
def test_the_response_is_the_share_of_all_samples_that_agree(run):
    dropped, counted = (features.join_answers_with_features(run, invalid=name) for name in ("dropped", "inconsistent"))
    texts = (dropped["model"] == "org/texts").to_numpy()
    votes = run.sql(
        'SELECT "count"[1] AS agree, "count"[2] AS disagree, invalid FROM responses JOIN stimuli USING (study, item, '
        "variant) WHERE model = 'org/texts' AND pattern <> 'original' ORDER BY position"
    )
    np.testing.assert_allclose(counted["agreement"][texts], votes["agree"] / 5)
    with np.errstate(invalid="ignore"):
        share = votes["agree"] / (votes["agree"] + votes["disagree"])
    np.testing.assert_allclose(dropped["agreement"][texts], share)
    assert dropped["agreement"][~texts].equals(counted["agreement"][~texts])


def test_only_the_model_with_invalid_answers_is_fitted_again(run):
    assert find_units_with_invalid_answers(run) == {("made up", "org/texts", "plain/yes-no")}
    one, other = fit_mixed_model_per_unit(run), fit_mixed_model_per_unit(run, invalid="inconsistent")
    fits, again = ({part.key[1]: fit for part, fit in found.result.fits} for found in (one, other))
    assert fits["org/exact"] is again["org/exact"]
    assert fits["org/texts"] is not again["org/texts"]


@pytest.mark.slow
def test_both_conventions_stand_side_by_side(run):
    table = tables.build_table("mixed_conventions", run)
    assert set(table["model"]) == {"org/texts"}
    for name in ("dropped", "inconsistent"):
        full = tables.build_table("mixed", run, invalid=name).set_index(["model", "term"]).loc["org/texts"]
        for _, row in table.iterrows():
            assert row[f"estimate_{name}"] == full.loc[row["term"], "estimate"]
            assert row[f"confirmed_{name}"] == full.loc[row["term"], "confirmed"]
    length = table.set_index("term").loc["statement_length"]
    assert length["estimate_inconsistent"] < length["estimate_dropped"]  # long wordings have fewer valid samples
    frames = {name: tables.build_table(name, run) for name in TABLES}
    cautions = " ".join(narrative.answer_page_question(frames, AnswerPair()).cautions)
    assert "1 model gave invalid answers." in cautions
    assert "(-p invalid=inconsistent)" in cautions


@pytest.mark.slow
def test_without_invalid_answers_there_is_one_fit(tmp_path):
    with pytest.MonkeyPatch.context() as patch:
        hide(patch, "pysentimiento", "spacy", "vaderSentiment")
        opened = runs.open_runs(write_run(tmp_path / "run", answers(wordings(items=4, paraphrases=20), ["m"])))
        assert tables.build_table("mixed_conventions", opened).empty
        assert fit_mixed_model_per_unit(opened, invalid="inconsistent") is fit_mixed_model_per_unit(opened)
        with pytest.raises(InputError, match="invalid = 'counted' is not known"):
            fit_mixed_model_per_unit(opened, invalid="counted")


@pytest.mark.slow
def test_a_fit_that_was_taken_over_has_rows_where_its_residuals_are_the_largest_now(tmp_path, monkeypatch):
    """Dropped, the few valid answers of one model scatter most; counted as not agreeing, most of its answers are 0."""
    hide(monkeypatch, "pysentimiento", "spacy", "vaderSentiment")
    monkeypatch.setattr(family, "MOST_PANELS", 1)
    rows = answers(wordings(items=4, paraphrases=100), ["org/even", "org/rare"])
    rng = np.random.default_rng(1)
    rare = np.where(rng.random(len(rows)) < 0.1, rng.choice([0.0, 1.0], len(rows)), np.nan)
    rows["agreement"] = np.where(rows["model"] == "org/rare", rare, rng.uniform(0.1, 0.9, len(rows)))
    run = runs.open_runs(write_run(tmp_path / "run", rows))
    with_rows = []
    for invalid in ("dropped", "inconsistent"):
        result = fit_mixed_model_per_unit(run, invalid=invalid).result
        with_rows.append(result.residuals["model"].unique().tolist())
        (place,) = mixed.list_indices_of_largest_residual_fits(result.fits, 1)
        assert len(result.residuals) == result.diagnostics["n_rows"][place]
    assert with_rows == [["org/rare"], ["org/even"]]
