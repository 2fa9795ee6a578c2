"""What must not, and what must, change in the stability tables when a run changes."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis import runs
from analysis.pages.stability.tables import tabulate_item_agreement, tabulate_stability
from helpers.synthetic import write_run

pytestmark = pytest.mark.slow

# Quarters, so that ties and exact shares are common; and numbers between.
AGREEMENTS = st.one_of(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), st.integers(0, 1000).map(lambda n: n / 1000))
ROWS = st.tuples(AGREEMENTS, st.sampled_from([0.0, 0.2, 1.0]))
ITEMS = st.lists(st.lists(ROWS, min_size=0, max_size=7), min_size=1, max_size=4).filter(any)
SPREADS = ["range_mean", "range_sd", "sd_mean", "sd_sd", "flip_05", "flip_10", "flip_25"]
thorough = settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def frame(items, model="m") -> pd.DataFrame:
    rows = [
        (model, f"item-{i}", f"p{j}", agreement, mass)
        for i, rows in enumerate(items)
        for j, (agreement, mass) in enumerate(rows)
    ]
    return pd.DataFrame(rows, columns=["model", "item", "variant", "agreement", "mass"])


def tables(rows: pd.DataFrame, **options) -> tuple[pd.DataFrame, pd.DataFrame]:
    """`models` and `items` of a run with these rows."""
    with tempfile.TemporaryDirectory() as folder:
        run = runs.open_runs(write_run(Path(folder) / "run", rows, **options))
        return tabulate_stability(run, resamples=20), tabulate_item_agreement(run)


def same(one: pd.DataFrame, other: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(one, other, rtol=1e-9, atol=1e-9)


@thorough
@given(ITEMS, st.permutations(range(7)), st.randoms(use_true_random=False))
def test_names_and_order_of_wordings_do_not_matter(items, order, random):
    rows = frame(items)
    new = {f"p{old}": f"wording {number}" for old, number in enumerate(order)}
    renamed = rows.assign(item="the " + rows["item"], variant=rows["variant"].map(new))
    renamed["place"] = [random.random() for _ in range(len(rows))]
    # Items keep their place, because the draws of the bootstrap go by it.
    renamed = renamed.sort_values(["item", "place"], ignore_index=True).drop(columns="place")
    same(tables(rows)[0], tables(renamed)[0])


@thorough
@given(ITEMS, st.lists(st.booleans(), min_size=28, max_size=28))
def test_the_order_of_the_options_does_not_matter(items, swaps):
    rows = frame(items)
    swaps = swaps[: len(rows)]
    labels = [["no", "yes"] if swap else ["yes", "no"] for swap in swaps]
    meaning = [["disagree", "agree"] if swap else ["agree", "disagree"] for swap in swaps]
    permuted = rows.assign(options=labels, canonical=meaning)
    same(tables(rows)[0], tables(permuted)[0])


@thorough
@given(ITEMS)
def test_the_other_frame_mirrors_agreement_and_leaves_the_spread(items):
    rows = frame(items)
    rows["agreement"] = rows["agreement"].replace(0.5, 0.75)  # a tie agrees, whichever label that is
    labels = [["agree", "disagree"]] * len(rows)
    one_models, one = tables(rows.assign(options=labels, canonical=labels))
    # The same answers again, now with "disagree" as the label that is measured.
    mirrored = rows.assign(agreement=1 - rows["agreement"], options=labels, canonical=labels)
    other_models, other = tables(mirrored, canonical=["disagree", "agree"])
    same(one_models[SPREADS], other_models[SPREADS])
    assert other_models["mark"].tolist() == [{"+": "-", "-": "+", "": ""}[mark] for mark in one_models["mark"]]
    np.testing.assert_allclose(other["agreement_mean"], 1 - one["agreement_mean"], atol=1e-12)
    np.testing.assert_allclose(other["agreement_max"], 1 - one["agreement_min"], atol=1e-12)
    same(one[["agreement_sd", "agreement_range", "minority_share"]],
         other[["agreement_sd", "agreement_range", "minority_share"]])  # fmt: skip


@thorough
@given(ITEMS, ROWS)
def test_an_original_changes_no_figure_of_the_paraphrases(items, original):
    rows = frame(items)
    extra = rows.drop_duplicates("item").assign(variant="original", agreement=original[0], mass=original[1])
    one_models, one = tables(rows)
    other_models, other = tables(pd.concat([rows, extra], ignore_index=True))
    same(one_models, other_models)
    apart = ["text", "original_agreement", "original_validity"]
    same(one.drop(columns=apart), other.drop(columns=apart))
    assert (other["original_validity"] == original[1]).all()


@thorough
@given(ITEMS, ITEMS)
def test_another_model_changes_no_figure_of_this_one(items, others):
    rows = frame(items)
    beside = frame(others, model="n").merge(rows[["item", "variant"]])  # of the same stimuli
    same(tables(rows)[0], tables(pd.concat([rows, beside], ignore_index=True))[0].head(1))


@thorough
@given(ITEMS)
def test_asking_everything_twice_keeps_means_ranges_and_flips(items):
    rows = frame(items)
    twice = pd.concat([rows, rows.assign(variant="again-" + rows["variant"])], ignore_index=True)
    one, other = tables(rows)[1].set_index("item"), tables(twice)[1].set_index("item")
    several = one["n_valid"] > 1
    same(one.loc[several, ["agreement_range", "minority_share", "agreement_mean", "validity_mean"]],
         other.loc[several, ["agreement_range", "minority_share", "agreement_mean", "validity_mean"]])  # fmt: skip
    assert (other["n_variants"] == 2 * one["n_variants"]).all()
    # A single answer has no spread; the same answer twice has the spread 0.
    assert (other.loc[one["n_valid"] == 1, "agreement_range"] == 0).all()


@thorough
@given(ITEMS)
def test_the_mass_does_not_move_the_agreement(items):
    rows = frame(items)
    rows["mass"] = rows["mass"].where(rows["mass"] == 0, 0.5)
    halved = rows.assign(mass=rows["mass"] / 2)
    one, other = tables(rows)[0], tables(halved)[0]
    same(one[[*SPREADS, "mark", "n_items"]], other[[*SPREADS, "mark", "n_items"]])
    np.testing.assert_allclose(other["validity"], one["validity"] / 2)


@thorough
@given(ITEMS)
def test_figures_keep_their_bounds(items):
    models, per_item = tables(frame(items))
    assert (per_item["n_valid"] + per_item["n_invalid"] == per_item["n_variants"]).all()
    known = per_item.dropna(subset=["agreement_range"])
    assert known["minority_share"].between(0, 0.5).all()
    # The SD (n - 1) of numbers within a range r is at most r * sqrt(n / (n - 1)) / 2.
    bound = known["agreement_range"] / 2 * np.sqrt(known["n_valid"] / (known["n_valid"] - 1))
    assert (known["agreement_sd"] <= bound + 1e-12).all()
    assert (models["n_items"] + models["n_excluded_items"]).tolist() == [per_item["item"].nunique()]
    assert (models["flip_05"].isna() | (models["flip_05"] >= models["flip_10"])).all()
