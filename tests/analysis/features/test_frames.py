"""Features joined to stimuli and responses, their correlations, and what computed them."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pandas as pd
import pytest

from analysis import features, runs
from analysis.features.answer_rows import sort_answer_chunks_into_arrays
from analysis.measures.agreement import create_agreement_tables
from helpers.synthetic import random_frame, write_run
from helpers.text_features import hide

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _offline(monkeypatch):
    """Models that would have to be fetched are not asked for."""
    hide(monkeypatch, "pysentimiento", "spacy")


def test_load_has_a_row_per_stimulus_with_the_features_of_its_text(tmp_path):
    rows = pd.DataFrame(
        [
            ("a", "original", "All dogs bark."),
            ("a", "p1", "No dog is silent."),
            ("b", "original", "No dog is silent."),  # the same text, but an original: another similarity
            ("c", "p1", "Cats purr."),  # no original
        ],
        columns=["item", "variant", "text"],
    )
    path = write_run(tmp_path / "run", rows.assign(agreement=0.5, language=["en", "en", "en", "pl"]))
    frame = features.read_or_compute_features(runs.open_runs(path))
    assert frame[["item", "variant"]].to_numpy().tolist() == rows[["item", "variant"]].to_numpy().tolist()
    assert frame["negation_cues"].tolist() == pytest.approx([0, 1, 1, math.nan], nan_ok=True)
    assert frame["statement_length"].tolist() == [3, 4, 4, 2]
    assert frame["edit_similarity"].isna().tolist() == [False, False, False, True]
    assert frame["edit_similarity"].tolist()[0] == frame["edit_similarity"].tolist()[2] == 1
    assert 0 < frame["edit_similarity"].tolist()[1] < 1
    assert all(frame[name].dtype == "float64" for name in features.FEATURES)


def test_frame_has_a_row_per_answer_in_order(tmp_path):
    rows = random_frame(["m2", "m1"], items=3, paraphrases=4, conditions=["plain/yes-no", "plain/no-yes"])
    rows["text"] = rows["item"] + " says " + rows["variant"]
    rows["text_logprob"] = -np.arange(len(rows), dtype=float)
    shuffled = rows.sample(frac=1, random_state=0)
    run = runs.open_runs(write_run(tmp_path / "run", shuffled, parts=3))
    frame = features.join_answers_with_features(run)
    keys = ["model", "condition", "item", "variant"]
    assert len(frame) == (rows["variant"] != "original").sum()
    assert not frame.duplicated(keys).any()
    assert all(isinstance(frame[key].dtype, pd.CategoricalDtype) for key in ["study", *keys])
    both = frame.astype(dict.fromkeys(keys, "object")).merge(rows, on=keys, suffixes=("", "_given"))
    assert len(both) == len(frame)
    assert both["agreement"].to_numpy() == pytest.approx(both["agreement_given"].to_numpy())
    assert both["text_logprob"].tolist() == both["text_logprob_given"].tolist()
    odds = both["agreement_given"] / (1 - both["agreement_given"])
    assert both["logit"].to_numpy() == pytest.approx(np.log(odds).to_numpy())
    assert (both["statement_length"] == 3).all()
    assert (
        frame.groupby("model", observed=True, sort=False).size().index.tolist()
        == run.sql("SELECT DISTINCT model, min(position) AS p FROM units GROUP BY model ORDER BY p")["model"].tolist()
    )
    everything = features.join_answers_with_features(run, original=True)
    assert len(everything) == len(rows)
    assert set(everything["variant"]) - set(frame["variant"]) == {"original"}


def test_units_one_by_one_have_the_rows_of_all_together(tmp_path):
    rows = random_frame(["m2", "m1"], items=2, paraphrases=3, conditions=["plain/yes-no", "plain/no-yes"])
    run = runs.open_runs(write_run(tmp_path / "run", rows.sample(frac=1, random_state=0), parts=2))
    whole = features.join_answers_with_features(run)
    units = list(features.read_answers_with_wording_features(run).iterate_units())
    assert [unit for unit, _ in units] == run.execute(
        "SELECT * EXCLUDE position FROM units ORDER BY position"
    ).fetchall()
    pd.testing.assert_frame_equal(pd.concat([frame for _, frame in units]), whole)
    last = features.join_answers_with_features(run, units=whole.tail(1).astype(str))
    pd.testing.assert_frame_equal(last, units[-1][1].reset_index(drop=True))


def test_answers_in_any_order_are_sorted_into_arrays_that_are_made_once():
    """A copy of all rows would be as large as what is kept: of millions of rows there is no room for one."""
    n_units, n_wordings, n_chunk = 40, 2_000, 4_000
    order = np.random.default_rng(0).permutation(n_units * n_wordings)

    def iterate_chunks():
        for start in range(0, len(order), n_chunk):
            number = order[start : start + n_chunk]
            columns = {"unit": number // n_wordings, "place": number % n_wordings}
            yield pd.DataFrame(columns | {"agreement": number / 2, "logit": number + 0.5, "text_logprob": np.nan})

    n_answers = np.full(n_units, n_wordings)
    tracemalloc.start()
    try:
        starts, place, measures = sort_answer_chunks_into_arrays(iterate_chunks(), n_answers)
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    number = np.arange(n_units * n_wordings)
    assert starts.tolist() == list(range(0, n_units * n_wordings + 1, n_wordings))
    assert (place == number % n_wordings).all() and list(measures) == ["agreement", "logit"]
    assert (measures["agreement"] == number / 2).all() and (measures["logit"] == number + 0.5).all()
    assert 20 * len(order) < kept and peak < 1.5 * kept


def test_agreement_is_the_one_of_the_stability_tables(tmp_path):
    run = runs.open_runs(write_run(tmp_path / "run", random_frame(items=3)))
    create_agreement_tables(run)
    answers = run.sql("SELECT item, variant, agreement FROM answers WHERE NOT original ORDER BY item, variant")
    frame = (
        features.join_answers_with_features(run)
        .astype({"item": "object", "variant": "object"})
        .sort_values(["item", "variant"])
    )
    assert frame["agreement"].tolist() == answers["agreement"].tolist()


def test_the_logit_is_that_of_the_first_canonical_option_in_any_place(tmp_path):
    rows = pd.DataFrame({"item": "a", "variant": ["p1", "p2", "p3", "p4"], "agreement": [0.9, 0.9, 0.0, math.nan]})
    rows["options"] = [["yes", "no"], ["no", "yes"], ["yes", "no"], ["yes", "no"]]
    rows["canonical"] = [["agree", "disagree"], ["disagree", "agree"], ["agree", "disagree"], ["agree", "disagree"]]
    frame = features.join_answers_with_features(runs.open_runs(write_run(tmp_path / "run", rows)))
    assert frame["logit"].tolist() == pytest.approx([math.log(9), math.log(9), -math.inf, math.nan], nan_ok=True)
    assert frame["agreement"].tolist() == pytest.approx([0.9, 0.9, 0, math.nan], nan_ok=True)


def test_studies_keep_their_own_features_and_text_logprob_may_be_absent(tmp_path):
    rows = pd.DataFrame({"item": "a", "variant": ["p1", "p2"], "agreement": [0.2, 0.4]})
    folders = [
        write_run(tmp_path / study, rows.assign(text=texts), study=study)
        for study, texts in {"two": ["one word more", "word"], "one": ["word", "two words"]}.items()
    ]
    run = runs.open_runs(*folders)
    frame = features.join_answers_with_features(run)
    assert frame.groupby("study", observed=True)["statement_length"].agg(list).to_dict() == {
        "one": [1, 2],
        "two": [3, 1],
    }
    assert frame["text_logprob"].isna().all()
    components = features.tabulate_components_of_study_features(run)
    assert components["study"].unique().tolist() == ["one", "two"]
    assert (components["component"].isna() == components["missing"].notna()).all()
    assert set(", ".join(components["columns"]).split(", ")) == set(features.FEATURES) - {"edit_similarity"}


def test_frames_hold_the_named_features(tmp_path):
    run = runs.open_runs(write_run(tmp_path / "run", random_frame()))
    for frame in (features.read_or_compute_features(run), features.join_answers_with_features(run)):
        assert tuple(frame.columns[-len(features.FEATURES) :]) == features.FEATURES
    assert set(features.PUBLISHED) < set(features.FEATURES)
    assert len(features.PUBLISHED) == 8


def test_correlation_against_numpy_with_pairwise_n():
    rng = np.random.default_rng(0)
    x = rng.normal(size=50)
    frame = pd.DataFrame(
        {"x": x, "y": x + rng.normal(size=50), "z": rng.normal(size=50), "constant": 1.0, "none": math.nan}
    )
    frame.loc[:9, "y"] = math.nan
    table = features.correlate_pairs_of_features(frame, ["z", "x", "y", "constant", "none", "absent"]).set_index(
        ["feature_a", "feature_b"]
    )
    assert len(table) == 16  # four features with values
    assert table.loc[("x", "y"), "r"] == pytest.approx(np.corrcoef(frame["x"][10:], frame["y"][10:])[0, 1])
    assert table.loc[("x", "y"), "n"] == 40
    assert table.loc[("x", "z"), "n"] == 50
    assert table.loc[("y", "x")].tolist() == table.loc[("x", "y")].tolist()
    assert table.loc[("x", "x"), "r"] == pytest.approx(1)
    assert table.loc[("x", "constant"), ["r", "p"]].isna().all()
    # t = r sqrt((n - 2) / (1 - r^2)) on n - 2 degrees of freedom
    from scipy.stats import t

    r = table.loc[("x", "y"), "r"]
    assert table.loc[("x", "y"), "p"] == pytest.approx(2 * t.sf(r * math.sqrt(38 / (1 - r**2)), 38))


def test_correlated_features_are_neighbours_with_either_sign():
    rng = np.random.default_rng(1)
    one, two = rng.normal(size=(2, 200))
    frame = pd.DataFrame({"a": one, "b": two, "c": -one + 0.01 * two, "d": two + 0.01 * one})
    order = features.correlate_pairs_of_features(frame, ["a", "b", "c", "d"])["feature_a"].unique().tolist()
    assert {frozenset(order[:2]), frozenset(order[2:])} == {frozenset("ac"), frozenset("bd")}


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_too_few_rows_have_no_correlation(rows):
    frame = pd.DataFrame({"word_length": [1.0, 2.0][:rows], "statement_length": [3.0, 1.0][:rows]})
    assert features.correlate_pairs_of_features(frame)["r"].isna().all()


def test_correlations_are_over_paraphrases(tmp_path):
    rows = random_frame(items=5, paraphrases=6)
    rows["text"] = [f"{'very ' * (k % 7)}long{'er' * (k % 3)}" for k in range(len(rows))]
    table = features.correlate_feature_pairs_in_each_study(runs.open_runs(write_run(tmp_path / "run", rows)))
    assert table.loc[
        (table["feature_a"] == "word_length") & (table["feature_b"] == "statement_length"), "n"
    ].tolist() == [30]
