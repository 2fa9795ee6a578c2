"""How far every answer is valid, beside the validity of its unit that pages show: the same numbers, laid out."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis import runs
from analysis.measures.ratings import Ratings
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


def hide_probability(folder, hidden=0.2):
    """Make every other response with a mass, of the first unit that has one, one of which a server hid a part."""
    units = []
    for file in sorted((folder / "responses").glob("*.parquet")):
        table = pq.read_table(file)
        frame = table.to_pandas()
        has_mass = frame["mass"].notna() & frame["probability"].notna() & (frame["mass"] < 0.99)
        units = units or list(frame.loc[has_mass, ["model", "condition"]].itertuples(index=False, name=None))[:1]
        is_first = has_mass & (frame["model"] == units[0][0]) & (frame["condition"] == units[0][1])
        chosen = is_first & (is_first.cumsum() % 2 == 1)
        frame["mass_upper"] = (frame["mass"] + hidden).clip(upper=1).where(chosen)
        frame["logprob"] = frame["logprob"].where(~chosen, None)
        pq.write_table(pa.Table.from_pandas(frame, table.schema, preserve_index=False), file)
    return units[0]


@pytest.mark.slow
@pytest.mark.parametrize("page", ["stability", "choice", "scoring", "scales"])
def test_a_unit_with_hidden_probability_has_two_bounds_and_no_validity_of_single_answers(page, tmp_path):
    """Those known exactly are the sure ones: a rule on validity must not be tested by them alone."""
    folder = FULL[page](tmp_path / "run")[0]
    before = read_reworded_studies(runs.open_runs(folder))[0]
    model, _ = hide_probability(folder)
    study = next(study for study in read_reworded_studies(runs.open_runs(folder)) if study.name == before.name)
    np.testing.assert_allclose(study.validity, before.validity)
    is_bounded = ~np.isnan(study.validity_at_most)
    assert [study.units[place][0] for place in np.flatnonzero(is_bounded)] == [model]
    hidden = (study.validity_at_most - study.validity)[is_bounded]
    assert 0.01 < hidden < 0.11  # at most 0.2 of every other response
    assert np.isnan(study.validities[is_bounded]).all()
    np.testing.assert_array_equal(study.validities[~is_bounded], before.validities[~is_bounded])


def test_a_unit_of_which_every_prompt_failed_does_not_hide_that_the_others_do_not_answer():
    units = pd.DataFrame({"validity": [0.1, np.nan, 0.3], "validity_at_most": [0.2, np.nan, np.nan]})
    group = SimpleNamespace(units=units)
    assert Ratings.average_validity_over_units(group, np.array([0, 1, 2])) == pytest.approx(0.2)
    assert Ratings.average_validity_upper_bound_over_units(group, np.array([0, 1, 2])) == pytest.approx(0.25)
    assert np.isnan(Ratings.average_validity_over_units(group, np.array([1])))
