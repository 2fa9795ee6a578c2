"""Scales of the response, and both scales side by side."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis.statistics import mixed
from ground.errors import InputError
from reference.mixed_data import responses


def test_logit_comes_from_log_probabilities():
    agreement, log_odds = np.array([0.5, 1.0, 0.0, np.nan]), np.array([0.0, 400.0, -90.0, np.nan])
    made = mixed.compute_response_on_scale(agreement, log_odds, scale="logit")
    np.testing.assert_array_equal(made.values, log_odds)
    assert made.note == "logit of agreement, from log-probabilities; nothing clipped"
    np.testing.assert_array_equal(mixed.compute_response_on_scale(agreement, log_odds).values, agreement)


def test_logit_of_shares_is_clipped_and_says_so():
    made = mixed.compute_response_on_scale(
        [0.25, 1.0, 0.0, np.nan, 0.9], [np.nan, np.inf, np.nan, np.nan, 2.0], scale="logit"
    )
    edge = np.log((1 - 1e-6) / 1e-6)
    np.testing.assert_allclose(made.values, [np.log(1 / 3), edge, -edge, np.nan, 2.0])
    assert "3 of 5 rows without finite log-probabilities, 2 of them clipped to [1e-06, 1 - 1e-06]" in made.note


def test_responses_that_make_no_sense():
    with pytest.raises(InputError, match="outside 0 to 1 in 1 of 2 rows"):
        mixed.compute_response_on_scale([0.5, 1.2])
    with pytest.raises(InputError, match="no scale 'probit'; there are identity and logit"):
        mixed.compute_response_on_scale([0.5], scale="probit")


def test_scales_side_by_side():
    members = [responses(seed, np.full(8, 10)).assign(model=f"m{seed}") for seed in (3, 1, 2)]
    family, formula = pd.concat(members, ignore_index=True), "y ~ x1 + x2 + (1 | item)"
    flipped = family.assign(logit=np.where(family["model"] == "m1", -family["y"], family["y"] * 4))
    compared = mixed.compare_fits_on_two_scales(
        mixed.fit_mixed_models(family, formula), mixed.fit_mixed_models(flipped, "logit ~ x1 + x2 + (1 | item)")
    )
    assert len(compared) == 6
    assert (compared["same_sign"] == (compared["model"] != "m1")).all()
    assert compared["same_significance"].all()
    both = (compared["p_bonferroni_identity"] < 0.05) & (compared["p_bonferroni_logit"] < 0.05)
    assert both.any()
    assert not both.all()
    words = np.where(compared["same_sign"], "significant on both, same sign", "significant on both, opposite sign")
    assert list(compared["agreement"]) == list(np.where(both, words, "significant on neither"))
