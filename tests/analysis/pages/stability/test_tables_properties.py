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
from analysis.pages.stability.tables import tabulate_item_answers_over_paraphrases, tabulate_stability
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
        return tabulate_stability(run, resamples=20), tabulate_item_answers_over_paraphrases(run)


def same(one: pd.DataFrame, other: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(one, other, rtol=1e-9, atol=1e-9)


def of_model(made: tuple[pd.DataFrame, pd.DataFrame], model: str) -> list[pd.DataFrame]:
    """The rows of a model in both tables."""
    return [table[table["model"] == model].reset_index(drop=True) for table in made]


@thorough
@given(ITEMS, st.permutations(range(7)), st.randoms(use_true_random=False),
       st.lists(st.booleans(), min_size=28, max_size=28), ROWS, ITEMS)  # fmt: skip
def test_what_changes_no_figure_and_what_mirrors_it(items, order, random, swaps, original, others):
    """All of it on one example after the other: a run takes a fifth of a second."""
    rows = frame(items)
    alone = tables(rows)
    keep_bounds(*alone)
    same(alone[0], tables(rename_wordings(rows, order, random))[0])
    same(alone[0], tables(swap_options(rows, swaps[: len(rows)]))[0])
    leave_paraphrases_alone(alone, rows, original)
    count_twice_what_is_asked_twice(alone[1], rows)
    # Further models answer the same wordings; each is a change of the answers of the first.
    tied = rows.assign(model="tied", agreement=rows["agreement"].replace(0.5, 0.75))  # a tie agrees, whatever is named
    half = rows.assign(model="half", mass=rows["mass"].where(rows["mass"] == 0, 0.5))
    quarter = half.assign(model="quarter", mass=half["mass"] / 2)
    another = frame(others, model="n").merge(rows[["item", "variant"]])  # of the same stimuli
    labels = [["agree", "disagree"]] * len(rows)
    together = pd.concat([rows, tied, half, quarter, another], ignore_index=True)
    beside = tables(together.assign(options=labels[:1] * len(together), canonical=labels[:1] * len(together)))
    for table, beside_others in zip(alone, of_model(beside, "m"), strict=True):
        same(table, beside_others)
    compare_masses(of_model(beside, "half")[0], of_model(beside, "quarter")[0])
    # The same answers again, now with "disagree" as the label that is measured.
    mirrored = tied.assign(agreement=1 - tied["agreement"], options=labels, canonical=labels)
    compare_frames(of_model(beside, "tied"), tables(mirrored, canonical=["disagree", "agree"]))


def rename_wordings(rows: pd.DataFrame, order: list[int], random) -> pd.DataFrame:
    """Other names and another order of items' wordings; items keep their place, because draws of the bootstrap do."""
    new = {f"p{old}": f"wording {number}" for old, number in enumerate(order)}
    renamed = rows.assign(item="the " + rows["item"], variant=rows["variant"].map(new))
    renamed["place"] = [random.random() for _ in range(len(rows))]
    return renamed.sort_values(["item", "place"], ignore_index=True).drop(columns="place")


def swap_options(rows: pd.DataFrame, swaps: list[bool]) -> pd.DataFrame:
    """Show the options of some rows the other way round."""
    labels = [["no", "yes"] if swap else ["yes", "no"] for swap in swaps]
    meaning = [["disagree", "agree"] if swap else ["agree", "disagree"] for swap in swaps]
    return rows.assign(options=labels, canonical=meaning)


def leave_paraphrases_alone(alone: tuple[pd.DataFrame, pd.DataFrame], rows: pd.DataFrame, original) -> None:
    """An original changes no figure of the paraphrases."""
    extra = rows.drop_duplicates("item").assign(variant="original", agreement=original[0], mass=original[1])
    models, per_item = tables(pd.concat([rows, extra], ignore_index=True))
    same(alone[0], models)
    apart = ["text", "original_agreement", "original_validity"]
    same(alone[1].drop(columns=apart), per_item.drop(columns=apart))
    assert (per_item["original_validity"] == original[1]).all()


def count_twice_what_is_asked_twice(alone: pd.DataFrame, rows: pd.DataFrame) -> None:
    """Asking everything twice keeps means, ranges and flips."""
    twice = pd.concat([rows, rows.assign(variant="again-" + rows["variant"])], ignore_index=True)
    one, other = alone.set_index("item"), tables(twice)[1].set_index("item")
    several = one["n_valid"] > 1
    same(one.loc[several, ["agreement_range", "minority_share", "agreement_mean", "validity_mean"]],
         other.loc[several, ["agreement_range", "minority_share", "agreement_mean", "validity_mean"]])  # fmt: skip
    assert (other["n_variants"] == 2 * one["n_variants"]).all()
    # A single answer has no spread; the same answer twice has the spread 0.
    assert (other.loc[one["n_valid"] == 1, "agreement_range"] == 0).all()


def compare_masses(one: pd.DataFrame, halved: pd.DataFrame) -> None:
    """The mass does not move the agreement."""
    same(one[[*SPREADS, "mark", "n_items"]], halved[[*SPREADS, "mark", "n_items"]])
    np.testing.assert_allclose(halved["validity"], one["validity"] / 2)


def compare_frames(tied: list[pd.DataFrame], mirrored: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    """The other frame mirrors agreement and leaves the spread."""
    (one_models, one), (other_models, other) = tied, mirrored
    same(one_models[SPREADS], other_models[SPREADS])
    assert other_models["mark"].tolist() == [{"+": "-", "-": "+", "": ""}[mark] for mark in one_models["mark"]]
    np.testing.assert_allclose(other["agreement_mean"], 1 - one["agreement_mean"], atol=1e-12)
    np.testing.assert_allclose(other["agreement_max"], 1 - one["agreement_min"], atol=1e-12)
    same(one[["agreement_sd", "agreement_range", "minority_share"]],
         other[["agreement_sd", "agreement_range", "minority_share"]])  # fmt: skip


def keep_bounds(models: pd.DataFrame, per_item: pd.DataFrame) -> None:
    """Figures keep their bounds."""
    assert (per_item["n_valid"] + per_item["n_invalid"] == per_item["n_variants"]).all()
    known = per_item.dropna(subset=["agreement_range"])
    assert known["minority_share"].between(0, 0.5).all()
    # The SD (n - 1) of numbers within a range r is at most r * sqrt(n / (n - 1)) / 2.
    bound = known["agreement_range"] / 2 * np.sqrt(known["n_valid"] / (known["n_valid"] - 1))
    assert (known["agreement_sd"] <= bound + 1e-12).all()
    assert (models["n_items"] + models["n_excluded_items"]).tolist() == [per_item["item"].nunique()]
    assert (models["flip_05"].isna() | (models["flip_05"] >= models["flip_10"])).all()
