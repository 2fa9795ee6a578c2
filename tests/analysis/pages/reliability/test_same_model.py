"""The same answers under two names are never different: made up and asked, with own wordings and with shared ones."""

from __future__ import annotations

import pandas as pd
import pytest

from analysis import runs
from analysis.measures.reworded import CROSSED, NESTED
from analysis.measures.reworded.study import ONE
from analysis.reporting.catalogue.rewordings import read_reworded_studies
from analysis.reporting.catalogue.tables import build_table
from analysis.reporting.words import beyond
from helpers.synthetic import random_frame, write_run
from inference.__main__ import main
from inference.demo import ALL

pytestmark = pytest.mark.slow

OF_AGREEMENT = {"agreement", "logit"}


def made_up(folder, paraphrases, shared):
    """Answers of one model to 12 items, written under two names."""
    one = random_frame(["first"], items=12, paraphrases=paraphrases).assign(mass=0.9)
    one["text"] = one["item"] + " in other words " + one["variant"] + one["item"]
    if shared:
        one["attributes"] = [{"template": name} for name in one["variant"].str.rsplit("_").str[-1]]
    return runs.open_runs(write_run(folder / "run", pd.concat([one, one.assign(model="second")], ignore_index=True)))


def asked(folder, protocol, *more):
    """Ask a demo model under two names about six items that come with Waver."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    model = ALL["waver-demo-mini-tuned"].path
    call = ["run", protocol, "--items", "demo", "--limit", "6", "--model", f"first={model}", f"second={model}"]
    assert main([*call, *more, "--device", "cpu", "--out", str(folder / "run")]) == 0
    return runs.open_runs(folder / "run")


def never_different(opened, design, measures):
    """Check every measure: no difference, no p value below 1, no sign to keep, and certainly equivalent."""
    assert {study.measure: study.design for study in read_reworded_studies(opened)} == dict.fromkeys(measures, design)
    found = build_table("beyond_rewording", opened, margin=0.05).set_index("measure")
    assert set(found.index) == set(measures) and len(found) == len(measures)
    assert (found["difference"] == 0).all() and (found["n_items"] > 1).all()
    assert (found["p_items"] == 1).all()
    assert found[["same_wordings", "same_items", "same_both"]].isna().all(axis=None)
    assert (found[["p", "p_holm"]] == 1).all(axis=None) and (found["p_equivalent"] == 0).all()
    headline = "accuracy" if "accuracy" in measures else "agreement"
    said = f"Of 1 difference in {headline} between models, none holds for these wordings."
    assert beyond.describe_differences_beyond_rewording(opened) == said


@pytest.mark.parametrize(("shared", "design"), [(False, NESTED), (True, CROSSED)])
def test_made_up_answers_are_equivalent(tmp_path, shared, design):
    never_different(made_up(tmp_path, 6, shared), design, OF_AGREEMENT)


def test_in_one_shared_wording_nothing_is_said_of_others(tmp_path):
    """The page has no such table; other pages that compare models are silent about wordings."""
    opened = made_up(tmp_path, 1, True)
    found = beyond.tabulate_pair_difference_tests(read_reworded_studies(opened), margin=0.05)
    assert {study.design for study in read_reworded_studies(opened)} == {ONE} and set(found["measure"]) == OF_AGREEMENT
    assert (found["difference"] == 0).all() and (found["p_items"] == 1).all()
    assert (
        found[["p", "p_holm", "p_equivalent"]].isna().all(axis=None)
        and beyond.describe_differences_beyond_rewording(opened) == ""
    )


def test_a_model_that_was_asked_twice_about_paraphrases_is_equivalent(tmp_path):
    never_different(asked(tmp_path, "agreement"), NESTED, OF_AGREEMENT)


def test_a_model_that_was_asked_twice_by_templates_is_equivalent(tmp_path):
    never_different(asked(tmp_path, "wording", "--all-templates"), CROSSED, {*OF_AGREEMENT, "accuracy"})


def test_another_model_is_not_equivalent(tmp_path):
    """What is asserted above can fail: answers of two models."""
    both = random_frame(["first", "second"], items=12, paraphrases=6).assign(mass=0.9)
    found = build_table("beyond_rewording", runs.open_runs(write_run(tmp_path / "run", both)), margin=0.001)
    assert (found["difference"] != 0).all() and (found["p"] < 1).all() and (found["p_equivalent"] > 0.05).all()
