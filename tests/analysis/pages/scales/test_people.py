"""Models beside people, from run folders: the tables the slow way, planted people, and 2,800 real ones."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import wasserstein_distance

from analysis.measures.ratings_people import ALL_ITEMS, ALL_PERSONAS, _count_samples_per_item
from analysis.pages.scales.people import (
    tabulate_answer_shares_of_people,
    tabulate_consistency_of_scales,
    tabulate_distances_from_people_by_item,
    tabulate_distances_from_people_by_scale,
)
from analysis.runs import open_runs
from analysis.statistics.ratings.comparison import LARGER, NO_LARGER
from helpers.scale_people import draw_people
from helpers.scale_runs import AGREEMENT, Respondent, draw_answers, write_scale

BFI = Path(__file__).parents[5] / "shared" / "data" / "bfi"
ACCURACY = ("Very inaccurate", "Moderately inaccurate", "Slightly inaccurate", "Slightly accurate",
            "Moderately accurate", "Very accurate")  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("people")
    rows = draw_answers(
        ["like people", Respondent("agrees", acquiescence=0.15)], items=15, wordings=4, orders=("up",), item_sd=0.15
    )
    write_scale(folder / "run", rows)
    draw_people(rows, 400).to_csv(folder / "people.csv", index=False)
    return folder


@pytest.mark.slow
def test_tables_the_slow_way(folder):
    """Every figure from the Parquet files by loops; to 1e-12."""
    runs, file = open_runs(folder / "run"), str(folder / "people.csv")
    responses = pd.read_parquet(folder / "run" / "responses")
    people = pd.read_csv(folder / "people.csv")
    scales = tabulate_answer_shares_of_people(runs, people=file).set_index("item")
    table = tabulate_distances_from_people_by_scale(runs, people=file)
    by_item = tabulate_distances_from_people_by_item(runs, people=file)
    ranks = np.arange(5)
    for model in responses["model"].unique():
        expected = {}
        for item in people.columns[1:]:
            of_item = responses.query("model == @model and item == @item and variant != 'original'")
            p = np.mean([np.divide(answer, sum(answer)) for answer in of_item["probability"]], axis=0)
            q = np.array([(people[item] == rank + 1).mean() for rank in ranks])
            np.testing.assert_allclose(scales.loc[item, [f"share_{rank + 1}" for rank in ranks]].astype(float), q)
            expected[item] = {
                "w1": wasserstein_distance(ranks, ranks, p, q) / 4, "tv": np.abs(p - q).sum() / 2,
                "s_model": ranks @ p / 4, "s_people": ranks @ q / 4,
            }  # fmt: skip
        slow = pd.DataFrame(expected).T
        fast = by_item[by_item["model"] == model].set_index("item").loc[slow.index]
        np.testing.assert_allclose(fast[slow.columns], slow, atol=1e-12)
        np.testing.assert_allclose(fast["difference"], slow["s_model"] - slow["s_people"], atol=1e-12)
        for scale in (ALL_ITEMS, "care", "order"):
            row = table[(table["model"] == model) & (table["scale"] == scale)].iloc[0]
            part = slow[[scale in (ALL_ITEMS, item.split("-")[0]) for item in slow.index]]
            key = np.array([1 if int(item.split("-")[1]) % 2 == 0 else -1 for item in part.index])
            assert (row["n_items"], row["n_people"]) == (len(part), 400)
            assert row["w1"] == pytest.approx(part["w1"].mean(), abs=1e-12)
            assert row["tv"] == pytest.approx(part["tv"].mean(), abs=1e-12)
            assert row["alignment"] == pytest.approx(1 - part["w1"].mean(), abs=1e-12)
            assert row["correlation"] == pytest.approx(part["s_model"].corr(part["s_people"]), abs=1e-12)
            if scale == ALL_ITEMS:
                assert np.isnan([row["bias"], row["bias_lower"], row["bias_people_upper"]]).all()
            else:
                bias = (key * (part["s_model"] - part["s_people"])).mean()
                assert row["bias"] == pytest.approx(bias, abs=1e-12)
                assert row["bias_lower"] < bias < row["bias_upper"]
                assert row["bias_people_lower"] < bias < row["bias_people_upper"]


@pytest.mark.slow
def test_the_model_that_people_were_made_of_is_no_further_than_people(folder):
    table = tabulate_distances_from_people_by_scale(open_runs(folder / "run"), people=str(folder / "people.csv"))
    verdicts = table[table["scale"] == ALL_ITEMS].set_index("model")["beside_people"]
    assert verdicts.to_dict() == {"like people": NO_LARGER, "agrees": LARGER}
    near = table[(table["model"] == "like people") & (table["scale"] == ALL_ITEMS)].iloc[0]
    assert abs(near["w1_net"]) < 0.005 and near["w1_people_lower"] == 0
    assert near["correlation"] > 0.95 and near["correlation_between"] > 0.95


@pytest.mark.slow
def test_people_as_shares_give_the_same_figures(folder):
    runs, file = open_runs(folder / "run"), str(folder / "people.csv")
    shares = tabulate_answer_shares_of_people(runs, people=file)
    rows = shares.melt(["item", "n_people"], [f"share_{rank}" for rank in range(1, 6)], "option", "share")
    rows["option"] = rows["option"].str[-1].astype(int).map(lambda rank: AGREEMENT[rank - 1])
    rows.rename(columns={"n_people": "n"}).to_csv(folder / "shares.csv", index=False)
    one_by_one, as_shares = (
        tabulate_distances_from_people_by_scale(runs, people=file),
        tabulate_distances_from_people_by_scale(runs, people=str(folder / "shares.csv")),
    )
    for column in ("w1", "tv", "alignment", "correlation", "bias", "w1_lower", "w1_upper", "n_people"):
        np.testing.assert_allclose(as_shares[column], one_by_one[column], atol=1e-12, err_msg=column)
    for column in ("w1_between", "w1_net", "excess", "w1_people_upper"):  # drawn: items apart, or people
        np.testing.assert_allclose(as_shares[column], one_by_one[column], atol=0.004, err_msg=column)
    assert set(tabulate_consistency_of_scales(runs, people=str(folder / "shares.csv"))["respondents"]) == {"models"}


@pytest.mark.slow
def test_a_scale_called_all_items_has_a_row_beside_that_of_all_items(tmp_path):
    rows = draw_answers(["m"], items=6, wordings=2, orders=("up",))
    write_scale(tmp_path / "run", rows.assign(scale=rows["scale"].replace("order", ALL_ITEMS)))
    draw_people(rows, 100).to_csv(tmp_path / "people.csv", index=False)
    table = tabulate_distances_from_people_by_scale(open_runs(tmp_path / "run"), people=str(tmp_path / "people.csv"))
    sizes = table.set_index("scale")["n_items"]
    assert sizes.to_dict() == {ALL_ITEMS: 12, "care": 6, "scale all items": 6}
    assert table.set_index("scale")["bias"].isna().to_dict() == dict.fromkeys(sizes.index, False) | {ALL_ITEMS: True}


@pytest.mark.slow
def test_a_persona_called_as_all_of_them_together_keeps_its_own_name(tmp_path):
    """Two rows had one name, and both counted as the mixture."""
    rows = draw_answers(["m"], items=4, wordings=2, orders=("up",), personas=["ann", ALL_PERSONAS])
    write_scale(tmp_path / "run", rows)
    draw_people(rows, 100).to_csv(tmp_path / "people.csv", index=False)
    table = tabulate_distances_from_people_by_scale(open_runs(tmp_path / "run"), people=str(tmp_path / "people.csv"))
    personas = table[table["scale"] == ALL_ITEMS]["persona"]
    assert personas.tolist() == [ALL_PERSONAS, "ann", f"persona {ALL_PERSONAS}"]


@pytest.mark.slow
def test_personas_have_rows_of_their_own_and_one_as_all_of_them(tmp_path):
    rows = draw_answers(["m"], items=6, wordings=3, personas=[f"p{number:02d}" for number in range(12)], seed=2)
    write_scale(tmp_path / "run", rows)
    draw_people(rows, 100).to_csv(tmp_path / "people.csv", index=False)
    runs, file = open_runs(tmp_path / "run"), str(tmp_path / "people.csv")
    by_item = tabulate_distances_from_people_by_item(runs, people=file).set_index(["persona", "item"])
    mixture = by_item.drop(ALL_PERSONAS, level=0)["s_model"].groupby("item").mean()
    np.testing.assert_allclose(by_item.loc[ALL_PERSONAS]["s_model"][mixture.index], mixture, atol=1e-12)
    table = tabulate_distances_from_people_by_scale(runs, people=file)
    assert len(table) == 13 * 3
    respondents = tabulate_consistency_of_scales(runs, people=file).set_index(["respondents", "scale"])
    assert respondents.loc[("personas", "care"), "n_respondents"] == 12
    assert (
        respondents.loc[("personas", "care"), "alpha"] > 0.5 and respondents.loc[("personas", "care"), "model"] == "m"
    )
    assert respondents.loc[("models", "care"), "why_not"] == "fewer than 10 respondents (1)"
    assert respondents.loc[("people", "care"), "n_respondents"] == 100


@pytest.mark.slow
def test_models_as_respondents_the_slow_way(tmp_path):
    models = [Respondent(f"m{number:02d}", traits={"care": 0.02 * number}) for number in range(12)]
    write_scale(tmp_path / "run", draw_answers(models, items=5, wordings=3, noise_sd=0.05))
    table = tabulate_consistency_of_scales(open_runs(tmp_path / "run")).set_index("scale")
    responses = pd.read_parquet(tmp_path / "run" / "responses")
    responses = responses[(responses["variant"] != "original") & responses["item"].str.startswith("care")]
    responses["s"] = [np.arange(5) @ np.divide(p, sum(p)) / 4 for p in responses["probability"]]
    s = responses.groupby(["model", "item"])["s"].mean().unstack()
    s.iloc[:, 1::2] = 1 - s.iloc[:, 1::2]
    c = s.cov().to_numpy()
    assert table.loc["care", "alpha"] == pytest.approx(5 / 4 * (1 - np.trace(c) / c.sum()), abs=1e-12)
    assert table.loc["care", "alpha_lower"] < table.loc["care", "alpha"] < table.loc["care", "alpha_upper"]


@pytest.mark.slow
def test_without_a_file_there_are_no_people(folder):
    runs = open_runs(folder / "run")
    assert (
        tabulate_distances_from_people_by_scale(runs).empty
        and tabulate_distances_from_people_by_item(runs).empty
        and tabulate_answer_shares_of_people(runs).empty
    )
    assert set(tabulate_consistency_of_scales(runs)["respondents"]) == {"models"}


@pytest.mark.slow
@pytest.mark.skipif(not BFI.is_dir(), reason="no ../shared/data/bfi")
def test_2800_people_on_25_items(tmp_path):
    """As --people and as respondents: alpha as printed, and half of the people as a model beside the others."""
    items = pd.read_csv(BFI / "items.csv")
    answers = pd.read_csv(BFI / "responses.csv")
    is_model = np.random.default_rng(0).permutation(len(answers)) < len(answers) // 2
    rows = pd.concat([
        items.assign(model=model, condition="plain/numbers-up", variant="original", mass=1.0,
                     options=[list(ACCURACY)] * 25, probability=probability)
        for model, probability in {
            "other people": [
                list(answers[is_model][item].value_counts(normalize=True).reindex(range(1, 7), fill_value=0))
                for item in items["item"]
            ],
            "guesses": [[1 / 6] * 6] * 25,
        }.items()
    ])  # fmt: skip
    write_scale(tmp_path / "run", rows)
    runs = open_runs(tmp_path / "run")
    respondents = tabulate_consistency_of_scales(runs, people=str(BFI / "responses.csv"))
    people = respondents[respondents["respondents"] == "people"]
    assert people["alpha"].round(3).tolist() == [0.703, 0.727, 0.762, 0.814, 0.600]
    assert set(people["n_respondents"]) == {2800}
    answers[~is_model].to_csv(tmp_path / "half.csv", index=False)
    table = (
        tabulate_distances_from_people_by_scale(runs, people=str(tmp_path / "half.csv"))
        .query("scale == @ALL_ITEMS")
        .set_index("model")
    )
    assert table.loc["guesses", "beside_people"] == LARGER and table.loc["other people", "beside_people"] != LARGER
    # Two halves of 1,400: as far apart as the ceiling says, within a fifth.
    assert table.loc["other people", "w1"] == pytest.approx(table.loc["other people", "w1_between"], rel=0.2)
    assert table.loc["other people", "correlation"] > 0.995 and table.loc["other people", "correlation_between"] > 0.995


def test_samples_of_answers_that_are_not_compared_do_not_count():
    """Two units of one item with 10 samples for each of 2 wordings; the second had other options than people."""
    ratings = SimpleNamespace(items=["i"], samples=np.full((2, 1, 2), 10.0))
    places = np.arange(2)
    assert _count_samples_per_item(ratings, places, np.array([[True], [False]])) == [20]
    assert _count_samples_per_item(ratings, places, np.array([[True], [True]])) == [40]
    assert _count_samples_per_item(ratings, places, np.array([[False], [False]])) == [np.inf]
