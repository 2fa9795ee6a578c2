"""The same answers under two names are never different: with own wordings, and with shared ones."""

from __future__ import annotations

import pandas as pd
import pytest

from analysis import runs
from analysis.reporting.tables import build
from helpers.synthetic import random_frame, write_run


@pytest.mark.parametrize("shared", [False, True])
def test_one_model_under_two_names_is_never_different(tmp_path, shared):
    one = random_frame(["first"], items=12, paraphrases=6)
    one["text"] = one["item"] + " in other words " + one["variant"] + one["item"]
    if shared:
        one["attributes"] = [{"template": name} for name in one["variant"].str.rsplit("_").str[-1]]
    both = pd.concat([one, one.assign(model="second")], ignore_index=True)
    found = build("beyond_rewording", runs.open(write_run(tmp_path / "run", both)), margin=0.05)
    assert set(found["measure"]) >= {"agreement"} and len(found) >= 1
    assert found["difference"].abs().max() == 0
    assert (found[["p", "p_items"]].fillna(1) == 1).all(axis=None)
    assert found[["same_wordings", "same_items", "same_both"]].isna().all(axis=None)  # there is no sign
    assert (found["p_equivalent"].fillna(0) < 0.05).all()
