"""How far every answer is valid, beside the validity of its unit that pages show: the same numbers, laid out."""

from __future__ import annotations

import numpy as np
import pytest

from analysis import runs
from analysis.reporting.catalogue.rewordings import read_reworded_studies
from helpers.page_runs import FULL


@pytest.mark.slow
@pytest.mark.parametrize("page", ["stability", "choice", "scoring", "scored", "scales", "wording"])
def test_the_mean_over_all_that_was_asked_is_the_validity_of_the_unit(page, tmp_path):
    opened = runs.open_runs(FULL[page](tmp_path / "run")[0])
    studies = read_reworded_studies(opened)
    assert studies
    for study in studies:
        if study.validities is None:
            assert (study.validity == 1).all()
            continue
        assert study.validities.shape == study.values.shape
        # An answer that is valid was asked for.
        assert not (np.isnan(study.validities) & ~np.isnan(study.values)).any()
        for validity, of_unit in zip(study.validity, study.validities, strict=True):
            assert np.nanmean(of_unit) == pytest.approx(validity, abs=1e-9)
