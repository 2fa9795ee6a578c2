"""Measures of rating scales beside slow versions from the Parquet files and scipy; two options are agreement."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from scipy.stats import wasserstein_distance
from statsmodels.stats.multitest import multipletests

from analysis import runs
from analysis.measures.ratings import read_ratings
from analysis.measures.reworded.ratings import has_rewordings
from analysis.reporting.catalogue import map_page_names_to_catalogues
from analysis.reporting.catalogue.rewordings import read_reworded_studies
from analysis.reporting.catalogue.tables import build_table
from ground.errors import InputError
from helpers.intervals import list_faults
from helpers.scale_runs import AGREEMENT, Respondent, draw_answers, write_scale
from helpers.synthetic import write_run

pytestmark = pytest.mark.slow
UNIT = ["model", "condition", "item"]


@pytest.fixture(scope="module", params=[False, True], ids=["own wordings", "shared wordings"])
def made(request, tmp_path_factory):
    """A run with probabilities, counts and answers, with and without the middle, items of 5 and of 4 options."""
    models = [
        Respondent("a", acquiescence=0.1, extreme=0.2, wording_sd=0.1),
        Respondent("b", order=0.05, wording_sd=0.1),
    ]
    rows = draw_answers(
        models, items=5, wordings=4, labels=("numbers", "words"), without_middle=(False, True), crossed=request.param,
        personas=("ann", "bob"), seed=1,
    )  # fmt: skip
    draw = np.random.default_rng(0)
    is_even = rows["item"].str.endswith("03")
    rows.loc[is_even, "options"] = rows.loc[is_even, "options"].map(lambda _: list(AGREEMENT[:2] + AGREEMENT[3:]))
    rows.loc[is_even, "probability"] = rows.loc[is_even, "probability"].map(lambda p: np.asarray(p)[[0, 1, -2, -1]])
    rows["mass"] = rows["probability"].map(sum)
    kind = draw.choice(["exact", "count", "answer"], len(rows), p=[0.7, 0.2, 0.1])
    rows["count"], rows["answer"], rows["invalid"] = None, None, None
    for place in np.flatnonzero(kind != "exact"):
        p = np.asarray(rows.at[place, "probability"])
        count = draw.multinomial(9, p / p.sum())
        rows.at[place, "probability"], rows.at[place, "mass"] = None, None
        if kind[place] == "count":
            rows.at[place, "count"], rows.at[place, "invalid"] = count.tolist(), 1
        else:
            options = list(rows.at[place, "options"])
            if len(count) < len(options):
                del options[2]
            rows.at[place, "answer"] = options[int(count.argmax())]
    folder = write_scale(tmp_path_factory.mktemp("scale") / "run", rows)
    return read_slowly(folder), runs.open_runs(folder)


def read_slowly(folder):
    """One row per answer from the Parquet files: shares, options and s by the formulas of the design."""
    responses = pq.read_table(folder / "responses").to_pandas()
    stimuli = pq.read_table(folder / "stimuli.parquet").to_pandas()
    rows = responses.merge(stimuli, on=["study", "item", "variant"])
    rows = rows[rows["pattern"] != "original"].reset_index(drop=True)
    lines = []
    for row in rows.to_dict("records"):
        options = list(row["options"])
        if "no-middle" in row["condition"] and len(options) % 2:
            del options[len(options) // 2]
        weights = next((row[name] for name in ("probability", "count") if row[name] is not None), None)
        if weights is None:
            weights = [float(option == row["answer"]) for option in options]
        p = [weight / sum(weights) for weight in weights]
        k = len(p)
        mean = sum(rank * share for rank, share in enumerate(p, start=1))
        about = dict(row["attributes"])
        lines.append({
            **{name: row[name] for name in (*UNIT, "variant")}, "p": p, "k": k, "s": (mean - 1) / (k - 1),
            "scale": about["scale"], "key": int(about["key"]), "setting": "plain/personas",
        })  # fmt: skip
    return pd.DataFrame(lines)


def average_slowly(rows, value):
    """The mean over conditions of an item's values, then over items: of every model."""
    items = rows.groupby(UNIT, sort=False).apply(value, include_groups=False)
    return items.groupby(["model", "item"]).mean().groupby("model").mean()


def test_the_score_on_a_scale_is_the_mean_over_items_of_its_mean_answers(made):
    rows, opened = made
    table = build_table("scales_scores", opened)
    assert len(table) == 4 and (table["n_reversed"] == 2).all()
    turned = rows.assign(t=np.where(rows["key"] < 0, 1 - rows["s"], rows["s"]))
    for row in table.itertuples():
        own = turned[(turned["model"] == row.model) & (turned["scale"] == row.scale)]
        means = own.groupby(["item", "variant"])["t"].mean().groupby("item").mean()
        assert row.score == pytest.approx(means.mean(), abs=1e-12)
        assert row.like_lower <= row.score_lower <= row.score <= row.score_upper <= row.like_upper


def test_scores_by_condition_and_by_persona(made):
    rows, opened = made
    turned = rows.assign(t=np.where(rows["key"] < 0, 1 - rows["s"], rows["s"]))
    personas = build_table("scales_personas", opened)
    for row in personas.itertuples():
        own = turned[(turned["model"] == row.model) & (turned["scale"] == row.scale)]
        own = own[own["condition"].str.contains(f"persona-{row.persona}")]
        means = own.groupby(["item", "variant"])["t"].mean().groupby("item").mean()
        assert row.score == pytest.approx(means.mean(), abs=1e-12)
    assert personas.groupby(["model", "scale"])["difference"].sum().abs().max() < 1e-12
    conditions = build_table("scales_conditions", opened)
    assert len(conditions) == 2 * 8 * 2
    row = conditions.iloc[5]
    own = turned[(turned["model"] == row["model"]) & (turned["scale"] == row["scale"])]
    own = own[own["condition"].str.replace(r"persona-\w+", "personas", regex=True) == row["condition"]]
    means = own.groupby(["item", "variant"])["t"].mean().groupby("item").mean()
    assert row["score"] == pytest.approx(means.mean(), abs=1e-12)


def test_what_wordings_do(made):
    rows, opened = made
    table = build_table("scales_spread", opened, resamples=0).set_index("model")

    def distance(part):
        k = part["k"].iloc[0]
        pairs = [wasserstein_distance(range(k), range(k), a, b) for a, b in combinations(part["p"], 2)]
        return np.mean(pairs) / (k - 1)

    def side_flips(part):
        above, below = (part["s"] > 0.5 + 1e-9).sum(), (part["s"] < 0.5 - 1e-9).sum()
        return min(above, below) / len(part)

    def mode_flips(part):
        modes = [int(np.argmax(p)) for p in part["p"] if sorted(p)[-1] > sorted(p)[-2]]
        if len(modes) < 2:
            return np.nan
        return 1 - max(modes.count(mode) for mode in modes) / len(modes)

    slow = {
        "sd": lambda part: part["s"].std(), "range": lambda part: part["s"].max() - part["s"].min(), "apart": distance,
        "side_flips": side_flips, "mode_flips": mode_flips,
        "in_middle": lambda part: ((part["s"] - 0.5).abs() <= 1e-9).mean(),
    }  # fmt: skip
    for name, value in slow.items():
        np.testing.assert_allclose(table[name], average_slowly(rows, value)[table.index], rtol=0, atol=1e-12)


def test_what_single_answers_look_like(made):
    rows, opened = made
    table = build_table("scales_spread", opened, resamples=0).set_index("model")
    whole = rows[~rows["condition"].str.contains("no-middle")]
    slow = {
        "entropy": lambda part: np.mean([-sum(x * np.log2(x) for x in p if x > 0) for p in part["p"]]),
        "ends": lambda part: np.mean([p[0] + p[-1] for p in part["p"]]),
        "middle": lambda part: np.mean([p[len(p) // 2] if len(p) % 2 else np.nan for p in part["p"]]),
    }
    for name, value in slow.items():
        items = whole.groupby(UNIT, sort=False).apply(value, include_groups=False)
        expected = items.groupby(["model", "item"]).mean().groupby("model").mean()
        np.testing.assert_allclose(table[name], expected[table.index], rtol=0, atol=1e-12)
    items = build_table("scales_items", opened)
    for row in items.iloc[[0, 3, 12]].itertuples():
        own = whole[(whole["model"] == row.model) & (whole["item"] == row.item)]
        k = own["k"].iloc[0]
        expected = np.mean(np.stack(own["p"]), axis=0)
        np.testing.assert_allclose([getattr(row, f"share_{rank + 1}") for rank in range(k)], expected, atol=1e-12)
        assert np.isnan(row.share_5) == (k == 4)


def test_order_label_and_middle_effects(made):
    rows, opened = made
    items = build_table("scales_items", opened).set_index(["model", "item"])
    styles = build_table("scales_styles", opened).set_index(["model", "style"])["difference"]
    parts = rows["condition"].str.split("/", expand=True)
    rows = rows.assign(
        labels=parts[1].str.split("-").str[0], order=parts[1].str.split("-").str[1],
        cut=rows["condition"].str.contains("no-middle"), persona=rows["condition"].str.extract(r"persona-(\w+)")[0],
    )  # fmt: skip
    all_keys = ["labels", "order", "cut", "persona"]
    for column, style, first, second in (
        ("order", "order", "up", "down"), ("labels", "labels numbers-words", "numbers", "words"),
        ("cut", "no middle", True, False),
    ):  # fmt: skip
        same = [key for key in all_keys if key != column]
        wide = rows.pivot_table(index=["model", "item", "variant", *same], columns=column, values="s")
        apart = (wide[first] - wide[second]).groupby(["model", "item"]).mean()
        name = {"order": "order_effect", "labels": "label_effect_numbers_words", "cut": "middle_effect"}[column]
        np.testing.assert_allclose(items[name], apart[items.index], rtol=0, atol=1e-12)
        for model in ("a", "b"):
            assert styles[model, style] == pytest.approx(apart[model].mean(), abs=1e-12)


def test_acquiescence_ends_and_middle(made):
    rows, opened = made
    table = build_table("scales_styles", opened).set_index(["model", "style"])
    whole = rows[~rows["condition"].str.contains("no-middle")]
    ends = whole.assign(x=[p[0] + p[-1] for p in whole["p"]]).groupby(["model", "item"])["x"].mean()
    for model, other in (("a", "b"), ("b", "a")):
        items = rows[rows["model"] == model].groupby(["scale", "key", "item", "variant"])["s"].mean()
        by_key = items.groupby(["scale", "key", "item"]).mean().groupby(["scale", "key"]).mean()
        assert table.loc[(model, "acquiescence"), "difference"] == pytest.approx(by_key.mean() - 0.5, abs=1e-12)
        difference = (ends[model] - ends[other]).mean()
        assert table.loc[(model, "ends"), "difference"] == pytest.approx(difference, abs=1e-12)


def test_answers_that_differ_in_one_thing_alone(made):
    rows, opened = made
    table = build_table("scales_moves", opened, resamples=0).set_index("change")
    parts = rows["condition"].str.split("/", expand=True)
    rows = rows.assign(
        labels=parts[1].str.split("-").str[0], order=parts[1].str.split("-").str[1],
        middle=rows["condition"].str.contains("no-middle"), persona=rows["condition"].str.extract(r"persona-(\w+)")[0],
    )  # fmt: skip
    columns = {"wording": "variant", "order": "order", "labels": "labels", "middle": "middle", "persona": "persona",
               "model": "model"}  # fmt: skip
    apart = {}
    for change, column in columns.items():
        same = [key for key in ["item", *columns.values()] if key != column]
        pairs = rows.groupby(same)["s"].apply(lambda s: np.mean([abs(a - b) for a, b in combinations(s, 2)]))
        apart[change] = pairs.groupby("item").mean().mean()
        assert table.loc[change, "apart"] == pytest.approx(apart[change], abs=1e-12)
    nuisance = table.drop("model")
    np.testing.assert_allclose(nuisance["difference"], nuisance["apart"] - apart["model"], atol=1e-12)


def test_two_options_are_agreement_to_the_last_digit(tmp_path):
    """The same probabilities as protocol agreement: the same arrays on the page on reliability, the same figures."""
    draw = np.random.default_rng(3)
    rows = pd.DataFrame([
        {"model": model, "condition": "plain/yes-no", "item": f"i{item}", "variant": variant,
         "text": f"Thing {item} is as {variant} as {item * 7}.", "agreement": draw.uniform(0.02, 0.98),
         "mass": draw.uniform(0.6, 1)}
        for model in ("a", "b") for item in range(8) for variant in ("original", "p1", "p2", "p3")
    ])  # fmt: skip
    write_run(tmp_path / "agreement", rows, canonical=("agree", "disagree"))
    asked = runs.open_runs(tmp_path / "agreement")
    probabilities = asked.sql("SELECT model, condition, item, variant, probability, mass FROM responses")
    scale = rows.drop(columns=["agreement", "mass"]).merge(probabilities, on=[*UNIT, "variant"])
    scale["probability"] = scale["probability"].map(lambda p: list(p)[::-1])
    scale["options"], scale["condition"] = [["disagree", "agree"]] * len(scale), "plain/words-up"
    opened = runs.open_runs(write_scale(tmp_path / "scale", scale))
    (ours,) = read_reworded_studies(opened)
    theirs = next(study for study in read_reworded_studies(asked) if study.measure == "agreement")
    assert np.array_equal(ours.values, theirs.values) and ours.crossed == theirs.crossed
    left = build_table("variance_components", opened).drop(columns=["study", "condition", "measure", "validity"])
    right = build_table("variance_components", asked)
    right = right[right["measure"] == "agreement"].drop(columns=["study", "condition", "measure", "validity"])
    numbers = left.select_dtypes("number").columns
    assert len(numbers) > 5
    pd.testing.assert_frame_equal(left[numbers], right[numbers].reset_index(drop=True), check_exact=True)
    spread = build_table("scales_spread", opened, resamples=0)
    stability = build_table("items", asked).groupby("model")
    np.testing.assert_allclose(spread["range"], stability["agreement_range"].mean(), atol=1e-12)
    np.testing.assert_allclose(spread["sd"], stability["agreement_sd"].mean(), atol=1e-12)
    np.testing.assert_allclose(spread["side_flips"], stability["minority_share"].mean(), atol=1e-12)
    np.testing.assert_allclose(spread["mode_flips"], spread["side_flips"], atol=1e-12)


def test_originals_count_where_an_item_has_no_other_wording(tmp_path):
    rows = draw_answers(["m"], items=4, wordings=1)
    opened = runs.open_runs(write_scale(tmp_path / "run", rows))
    (ratings,) = read_ratings(opened)
    assert ratings.scores.shape == (2, 8, 1) and not np.isnan(ratings.scores).any()
    assert not has_rewordings(opened, ["synthetic"])
    assert build_table("scales_spread", opened)["n_items"].tolist() == [0]


@pytest.mark.parametrize(
    ("change", "message"),
    [({"key": 2}, r"item 'care-00': key is '2'; it must be 1, or -1"),
     ({"scale": "other"}, "item 'care-00': its wordings differ in scale, key or options")],
)  # fmt: skip
def test_items_that_contradict_themselves_are_refused(tmp_path, change, message):
    rows = draw_answers(["m"], items=2, wordings=2)
    is_first = (rows["item"] == "care-00") & ((rows["variant"] == "original") | ("key" in change))
    for name, value in change.items():
        rows.loc[is_first, name] = value
    opened = runs.open_runs(write_scale(tmp_path / "run", rows))
    with pytest.raises(InputError, match=message):
        read_ratings(opened)


def test_the_page_on_reliability_reads_scores_after_reversing_and_the_mean_over_personas(made):
    rows, opened = made
    studies = {study.measure: study for study in read_reworded_studies(opened)}
    assert list(studies) == ["score", "score (care)", "score (order)"]
    assert [study.headline for study in studies.values()] == [True, False, False]
    study = studies["score"]
    turned = rows.assign(
        t=np.where(rows["key"] < 0, 1 - rows["s"], rows["s"]),
        condition=rows["condition"].str.replace(r"persona-\w+", "personas", regex=True),
    )
    for (model, condition), values in zip(study.units, study.values, strict=True):
        own = turned[(turned["model"] == model) & (turned["condition"] == condition)]
        expected = own.groupby(["item", "variant"])["t"].mean().unstack()
        np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12)
    assert studies["score (care)"].values.shape == (len(study.units), 5, 3)
    assert np.array_equal(studies["score (care)"].values, study.values[:, :5])


def test_what_samples_add_is_known_where_answers_were_counted(tmp_path):
    rows = draw_answers(["m"], items=3, wordings=3, orders=("up",), without_original=True)
    counts = [np.random.default_rng(place).multinomial(8, np.asarray(p) / sum(p)) for place, p in
              enumerate(rows["probability"])]  # fmt: skip
    rows = rows.assign(probability=None, mass=None, count=[list(count) for count in counts], invalid=0)
    opened = runs.open_runs(write_scale(tmp_path / "run", rows))
    study = next(study for study in read_reworded_studies(opened) if study.measure == "score")
    spread = [np.var(np.repeat(np.arange(5) / 4, count), ddof=1) for count in counts]
    np.testing.assert_allclose(study.spread.ravel(), spread, atol=1e-12)
    assert (study.samples == 8).all()


def test_examples_show_the_highest_and_the_lowest_wording(made):
    rows, opened = made
    table = build_table("scales_examples", opened, examples=2)
    assert len(table) == 4 and (table["difference"] > 0).all()
    texts = opened.sql("SELECT item, variant, text FROM stimuli").set_index(["item", "text"])["variant"]
    for row in table.itertuples():
        own = rows[(rows["model"] == row.model) & (rows["item"] == row.item)].groupby("variant")["s"].mean()
        np.testing.assert_allclose([row.highest, row.lowest], [own.max(), own.min()], atol=1e-12)
        assert own[texts[row.item, row.highest_text]] == pytest.approx(row.highest, abs=1e-12)
    with pytest.raises(InputError, match="examples = 0"):
        build_table("scales_examples", opened, examples=0)


@pytest.mark.parametrize("options", [
    {"items": 3, "wordings": 3, "labels": ("numbers", "words"), "item_sd": 0.5, "personas": ("ann", "bob")},
    {"items": 2, "wordings": 3, "item_sd": 0.6, "noise_sd": 0.3}, {"items": 8, "wordings": 4, "crossed": True},
])  # fmt: skip
def test_every_interval_holds_its_estimate_and_is_possible(options, tmp_path):
    models = [Respondent("a", acquiescence=0.3, extreme=0.9), Respondent("b", acquiescence=-0.3, wording_sd=0.2), "c"]
    opened = runs.open_runs(write_scale(tmp_path / "run", draw_answers(models, **options)))
    for name in map_page_names_to_catalogues()["scales"].tables:
        assert list_faults(name, build_table(name, opened, resamples=200)) == []


def test_differences_are_corrected_over_all_scales(tmp_path):
    rows = draw_answers(["a", "b", "c"], items=6, wordings=3, item_sd=0.05)
    table = build_table("scales_differences", runs.open_runs(write_scale(tmp_path / "run", rows)))
    assert len(table) == 6
    np.testing.assert_allclose(table["p_holm"], multipletests(table["p"], method="holm")[1], atol=1e-12)
