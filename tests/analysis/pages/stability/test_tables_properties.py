"""What must not, and what must, change in the stability tables when a run changes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis import runs
from analysis.pages.stability.tables import tabulate_item_answers_over_paraphrases, tabulate_stability
from helpers.synthetic import write_run

pytestmark = pytest.mark.slow

EXAMPLES = 24
MODELS = [f"m{number:02d}" for number in range(EXAMPLES)]
SPREADS = ["range_mean", "range_sd", "sd_mean", "sd_sd", "flip_05", "flip_10", "flip_25"]


def draw(rng, model) -> pd.DataFrame:
    """A model asked up to 4 items in up to 7 wordings. Quarters, so that ties and exact shares are common."""
    numbers = rng.integers(0, 8, rng.integers(1, 5))
    numbers[0] += not numbers.any()
    rows = pd.DataFrame(
        [(model, f"{model}-{i}", f"p{j}") for i, number in enumerate(numbers) for j in range(number)],
        columns=["model", "item", "variant"],
    )
    exact, between = rng.integers(0, 5, len(rows)) / 4, rng.integers(0, 1001, len(rows)) / 1000
    return rows.assign(
        agreement=np.where(rng.random(len(rows)) < 0.5, exact, between), mass=rng.choice([0.0, 0.2, 1.0], len(rows))
    )


@pytest.fixture
def tables(tmp_path):
    """`stability` and `items` of a run with these rows."""

    def of(rows: pd.DataFrame, **options) -> tuple[pd.DataFrame, pd.DataFrame]:
        run = runs.open_runs(write_run(tmp_path / f"run-{len(list(tmp_path.iterdir()))}", rows, **options))
        return tabulate_stability(run, resamples=20), tabulate_item_answers_over_paraphrases(run)

    return of


def same(one: pd.DataFrame, other: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(one, other, rtol=1e-9, atol=1e-9)


def of_models(made: tuple[pd.DataFrame, pd.DataFrame], ending: str) -> list[pd.DataFrame]:
    """The rows of the models with this ending in both tables, by their names without it."""
    names = [f"{name}{ending}" for name in MODELS]
    return [
        table[table["model"].isin(names)].assign(model=lambda part: part["model"].str[:3]).reset_index(drop=True)
        for table in made
    ]


def test_what_changes_no_figure_and_what_mirrors_it(tables):
    """All examples in one run, each a model with items of its own: six runs, not six for each."""
    rng = np.random.default_rng(1)
    rows = pd.concat([draw(rng, model) for model in MODELS], ignore_index=True)
    alone = tables(rows)
    keep_bounds(*alone)
    same(alone[0], tables(rename_wordings(swap_options(rows, rng.random(len(rows)) < 0.5), rng))[0])
    leave_paraphrases_alone(alone, rows, rng, tables)
    count_twice_what_is_asked_twice(alone[1], rows, tables)
    # Further models answer the same wordings; each is a change of the answers of the first.
    name = rows["model"]
    # A tie agrees, whatever is named.
    tied = rows.assign(model=name + " tied", agreement=rows["agreement"].replace(0.5, 0.75))
    half = rows.assign(model=name + " half", mass=rows["mass"].where(rows["mass"] == 0, 0.5))
    quarter = half.assign(model=name + " quarter", mass=half["mass"] / 2)
    another = rows.assign(model=name + " other", agreement=rng.random(len(rows)))[rng.random(len(rows)) < 0.5]
    labels = [["agree", "disagree"]] * len(rows)
    together = pd.concat([rows, tied, half, quarter, another], ignore_index=True)
    beside = tables(together.assign(options=labels[:1] * len(together), canonical=labels[:1] * len(together)))
    for table, beside_others in zip(alone, of_models(beside, ""), strict=True):
        same(table, beside_others)
    compare_masses(of_models(beside, " half")[0], of_models(beside, " quarter")[0])
    # The same answers again, now with "disagree" as the label that is measured.
    mirrored = tied.assign(model=name, agreement=1 - tied["agreement"], options=labels, canonical=labels)
    compare_frames(of_models(beside, " tied"), tables(mirrored, canonical=["disagree", "agree"]))


def rename_wordings(rows: pd.DataFrame, rng) -> pd.DataFrame:
    """Other names and another order of items' wordings; items keep their place, because draws of the bootstrap do."""
    new = {(model, f"p{old}"): f"wording {number}" for model in MODELS for number, old in enumerate(rng.permutation(7))}
    variants = [new[key] for key in zip(rows["model"], rows["variant"], strict=True)]
    renamed = rows.assign(item="the " + rows["item"], variant=variants, place=rng.random(len(rows)))
    return renamed.sort_values(["item", "place"], ignore_index=True).drop(columns="place")


def swap_options(rows: pd.DataFrame, swaps) -> pd.DataFrame:
    """Show the options of some rows the other way round."""
    labels = [["no", "yes"] if swap else ["yes", "no"] for swap in swaps]
    meaning = [["disagree", "agree"] if swap else ["agree", "disagree"] for swap in swaps]
    return rows.assign(options=labels, canonical=meaning)


def leave_paraphrases_alone(alone: tuple[pd.DataFrame, pd.DataFrame], rows: pd.DataFrame, rng, tables) -> None:
    """An original changes no figure of the paraphrases."""
    extra = rows.drop_duplicates("item").assign(variant="original")
    extra = extra.assign(agreement=rng.random(len(extra)), mass=rng.choice([0.0, 0.2, 1.0], len(extra)))
    models, per_item = tables(pd.concat([rows, extra], ignore_index=True))
    same(alone[0], models)
    apart = ["text", "original_agreement", "original_validity"]
    same(alone[1].drop(columns=apart), per_item.drop(columns=apart))
    assert per_item.set_index("item")["original_validity"].to_dict() == extra.set_index("item")["mass"].to_dict()


def count_twice_what_is_asked_twice(alone: pd.DataFrame, rows: pd.DataFrame, tables) -> None:
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
    assert set(models["n_items"] + models["n_excluded_items"]) == {per_item["item"].nunique()}  # of the study
    assert (models["flip_05"].isna() | (models["flip_05"] >= models["flip_10"])).all()
