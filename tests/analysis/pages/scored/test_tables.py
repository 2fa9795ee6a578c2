"""The tables on scores: each number beside pandas, statsmodels, or the accuracy of another page."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy import stats
from statsmodels.stats.anova import anova_lm
from statsmodels.stats.weightstats import DescrStatsW

from analysis import runs
from analysis.measures.reworded.scored import list_scored_per_study_and_measure
from analysis.reporting.catalogue.tables import build_table
from ground.errors import InputError
from helpers import textbook
from helpers.scored_runs import SHAPES, draw_scores, write_scored
from helpers.synthetic import random_frame, write_run
from helpers.textbook import wilson

pytestmark = pytest.mark.slow

MODELS = ["org/a", "org/b", "org/c"]


@pytest.fixture(scope="module", params=[False, True], ids=["own wordings", "shared wordings"])
def made(request, tmp_path_factory):
    rows = draw_scores(MODELS, 24, 5, measures=list(SHAPES), crossed=request.param, seed=1)
    return rows, runs.open_runs(write_scored(tmp_path_factory.mktemp("scored") / "run", rows)), request.param


def select(table, **values):
    return table[np.logical_and.reduce([table[name] == value for name, value in values.items()])].iloc[0]


def mean_and_interval(items, measure):
    """The mean in statsmodels, and the interval the slow way, in the unit of the measure."""
    low, high = SHAPES[measure]["range"] or (0, 1)
    ends = textbook.mean_score(list((items - low) / (high - low)), SHAPES[measure]["range"] is not None)
    return [DescrStatsW(items).mean, *(low + (high - low) * np.array(ends))]


def test_means_are_those_of_statsmodels_with_an_interval_for_their_shape(made):
    rows, opened, _ = made
    table = build_table("scored_means", opened)
    assert len(table) == len(MODELS) * len(SHAPES)
    for (model, measure), part in rows.groupby(["model", "condition"]):
        row, items = select(table, model=model, measure=measure), part.groupby("item")["score"].mean()
        ours = row[["mean", "mean_lower", "mean_upper"]].astype(float)
        np.testing.assert_allclose(ours, mean_and_interval(items, measure), rtol=1e-9)
        assert (row["n"], row["n_items"], row["validity"]) == (120, 24, 1)
        assert row["like_lower"] <= row["mean_lower"] and row["mean_upper"] <= row["like_upper"]
    assert list(table.loc[table["headline"], "measure"].unique()) == ["judged"]
    assert table.set_index("measure")["range"].to_dict() == {
        "judged": "0-1", "likert": "1-5", "F1": "0-1", "tests": "0-10", "ms": ""
    }  # fmt: skip
    assert (table["direction"] == np.where(table["measure"] == "ms", "lower", "higher")).all()


def test_paired_differences_are_those_of_statsmodels(made):
    rows, opened, crossed = made
    table = build_table("scored_differences", opened)
    assert len(table) == 3 * len(SHAPES)
    for measure, part in rows.groupby("condition"):
        wide = part.pivot_table(index=["item", "variant"], columns="model", values="score")
        p_values = []
        for row in table[table["measure"] == measure].itertuples():
            apart = (wide[row.a_model] - wide[row.b_model]).groupby("item").mean()
            test = DescrStatsW(apart)
            expected = [test.mean, *test.tconfint_mean(), test.ttest_mean()[1]]
            if measure == "ms":  # heavy-tailed, without bounds
                less, more, values = row.lower - 1e-9, row.upper + 1e-9, list(apart)
                assert less <= expected[1] and expected[2] <= more and expected[3] <= row.p_items + 1e-9
                expected[1:] = [*textbook.mean_score(values, False), textbook.mean_difference(values)]
            np.testing.assert_allclose([row.difference, row.lower, row.upper, row.p_items], expected, atol=1e-9)
            assert np.isclose(row.p, row.p_items) != crossed  # shared wordings are a part of the error
            p_values.append(row.p)
        in_order = np.sort(p_values) * [3, 2, 1]
        assert np.allclose(
            np.sort(table.loc[table["measure"] == measure, "p_holm"]), np.minimum(np.maximum.accumulate(in_order), 1)
        )


def test_the_error_of_shared_wordings_follows_from_the_mean_squares_of_statsmodels(made):
    """The standard error of a mean with items and wordings drawn anew, by Brennan (2001), chapter 4."""
    rows, opened, crossed = made
    table = build_table("scored_means", opened)
    for (model, measure), part in rows.groupby(["model", "condition"]):
        error = select(table, model=model, measure=measure)["error"]
        if not crossed:
            assert error == pytest.approx(part.groupby("item")["score"].mean().sem(), rel=1e-9)
            continue
        squares = anova_lm(smf.ols("score ~ C(item) + C(variant)", part).fit())["mean_sq"]
        of_items, of_wordings, rest = squares[["C(item)", "C(variant)", "Residual"]]
        # (of_items + of_wordings - rest) / 120: the interaction is counted once
        if of_items >= rest and of_wordings >= rest:
            assert error == pytest.approx(np.sqrt((of_items + of_wordings - rest) / 120), rel=1e-6)


def components_of(part):
    """Components of models x items x wordings within items, by the mean squares of statsmodels."""
    squares = anova_lm(smf.ols("score ~ C(model) * C(item) + C(item):C(variant)", part).fit())["mean_sq"]
    n_wordings, n_items = part["variant"].nunique(), part["item"].nunique()
    names = {"model": "C(model)", "model_item": "C(model):C(item)", "rest": "Residual"}
    model, model_item, rest = (squares[name] for name in names.values())
    return {
        "models": (model - model_item) / n_wordings / n_items,
        "model_item": (model_item - rest) / n_wordings,
        "residual": rest,
        "relative": (model - model_item) / model,
    }


def test_generalizability_is_that_of_the_mean_squares_of_statsmodels(tmp_path):
    rows = draw_scores(MODELS, 12, 4, measures=["F1", "likert"], seed=3)
    rows["pair"] = rows["item"] + rows["variant"]
    table = build_table("ranking_reliability", runs.open_runs(write_scored(tmp_path / "run", rows)))
    for measure, width in (("F1", 1), ("likert", 4)):
        row, expected = select(table, measure=measure), components_of(rows[rows["condition"] == measure])
        if min(expected.values()) > 0:
            assert row["relative"] == pytest.approx(expected.pop("relative"), abs=1e-6)
            for name, value in expected.items():
                assert row[name] == pytest.approx(value / width**2, abs=1e-6)


def test_variance_components_follow_from_the_mean_squares_of_statsmodels(tmp_path):
    """Of items crossed with wordings; `test_reml.py` has lme4, which gives the same numbers where all are above 0."""
    rows = draw_scores(["m"], 40, 5, crossed=True, seed=4)
    row = select(build_table("variance_components", runs.open_runs(write_scored(tmp_path / "run", rows))), model="m")
    squares = anova_lm(smf.ols("score ~ C(item) + C(variant)", rows).fit())["mean_sq"]
    of_items, of_wordings, rest = squares[["C(item)", "C(variant)", "Residual"]]
    assert of_items > rest and of_wordings > rest
    assert row["item"] == pytest.approx((of_items - rest) / 5, abs=1e-6)
    assert row["wording"] == pytest.approx((of_wordings - rest) / 40, abs=1e-6)
    assert row["interaction"] == pytest.approx(rest, abs=1e-6)


def test_spreads_and_passes(made):
    rows, opened, _ = made
    table = build_table("scored_spread", opened, resamples=200)
    for (model, measure), part in rows.groupby(["model", "condition"]):
        row, items = select(table, model=model, measure=measure), part.groupby("item")["score"]
        assert row["sd"] == pytest.approx(items.std().mean()) and row["sd_lower"] < row["sd"] < row["sd_upper"]
        assert row["range"] == pytest.approx((items.max() - items.min()).mean())
        middle = {"judged": 0.5, "likert": 3, "F1": 0.5, "tests": 5}.get(measure)
        middle = rows.loc[rows["condition"] == "ms", "score"].median() if middle is None else middle
        assert row["threshold"] == pytest.approx(middle)
        passes = (part["score"] <= middle if measure == "ms" else part["score"] >= middle).groupby(part["item"]).mean()
        some = ((passes > 0) & (passes < 1)).mean()
        assert (row["passed_all"], row["passed_some"], row["passed_none"]) == pytest.approx(
            ((passes == 1).mean(), some, (passes == 0).mean())
        )
        np.testing.assert_allclose([row["passed_some_lower"], row["passed_some_upper"]], wilson(some, 24), atol=1e-9)


def test_another_threshold_and_one_that_is_none(made):
    _, opened, _ = made
    table = build_table("scored_spread", opened, resamples=0, passing=0.75)
    assert select(table, measure="likert")["threshold"] == 4
    with pytest.raises(InputError, match=r"passing = 1\.5"):
        build_table("scored_spread", opened, passing=1.5)


@pytest.mark.parametrize(
    ("scores", "direction", "threshold", "passed"),
    [
        ([[0, 0], [0, 1], [0, 1], [1, 1], [0, 0]], "higher", 1, (0.2, 0.4, 0.4)),  # the median is 0, which all pass
        ([[0, 0], [0, 0.2], [0, 0.9], [0, 0.4], [0, 0]], "higher", 0.2, (0, 0.6, 0.4)),
        ([[1, 1], [0, 1], [0, 1], [1, 1], [0, 0]], "higher", 1, (0.4, 0.4, 0.2)),
        ([[9, 9], [1, 9], [9, 2], [9, 9], [9, 9]], "lower", 2, (0, 0.4, 0.6)),
        ([[3, 3], [3, 3]], "higher", 3, (1, 0, 0)),  # nothing to part
    ],
)
def test_a_threshold_without_a_range_parts_scores_of_which_most_are_the_worst(
    tmp_path, scores, direction, threshold, passed
):
    rows = pd.DataFrame(
        [("m", "ms", f"i{item}", f"v{item}-{place}", score)
         for item, pair in enumerate(scores) for place, score in enumerate(pair)],
        columns=["model", "condition", "item", "variant", "score"],
    )  # fmt: skip
    folder = write_scored(tmp_path / "run", rows, {"ms": {"range": None, "direction": direction}})
    row = build_table("scored_spread", runs.open_runs(folder), resamples=0).iloc[0]
    assert row["threshold"] == threshold
    assert (row["passed_all"], row["passed_some"], row["passed_none"]) == pytest.approx(passed)


@pytest.mark.parametrize("direction", ["higher", "lower"])
def test_a_score_that_misses_the_threshold_by_rounding_passes(tmp_path, direction):
    # .55 of 0 to 100 is 55.00000000000001, and the mean of samples .6, .7 and .2 is 0.49999999999999994.
    worse = {"higher": -0.1, "lower": 0.1}[direction]
    for passing, width, score in [(0.55, 100, 55.0), (0.57, 100, 57.0), (0.5, 1, np.mean([0.6, 0.7, 0.2]))]:
        rows = pd.DataFrame({"item": ["a", "a", "b", "b"], "variant": ["p1", "p2"] * 2, "condition": "m"})
        rows = rows.assign(model="org/a", score=[score, score, score, score + worse])
        fields = {"m": {"measure": "m", "range": [0, width], "direction": direction}}
        opened = runs.open_runs(write_scored(tmp_path / f"{passing}", rows, fields))
        row = build_table("scored_spread", opened, resamples=0, passing=passing).iloc[0]
        assert (row["passed_all"], row["passed_some"]) == (0.5, 0.5), passing


def test_wordings_that_items_share_have_means_and_other_ones_have_none(made):
    rows, opened, crossed = made
    table = build_table("scored_wordings", opened)
    if not crossed:
        assert table.empty
        return
    assert len(table) == 5 * len(MODELS) * len(SHAPES)
    for (model, measure), part in table.groupby(["model", "measure"], sort=False):
        own = rows[(rows["model"] == model) & (rows["condition"] == measure)].groupby("variant")["score"]
        np.testing.assert_allclose(part["mean"], own.mean()[part["wording"]])
        assert (np.diff(part["mean"]) >= 0).all() if measure == "ms" else (np.diff(part["mean"]) <= 0).all()
        first = own.get_group(part["wording"].iloc[0])
        if first.nunique() > 2:
            ours = part[["mean", "mean_lower", "mean_upper"]].iloc[0].astype(float)
            np.testing.assert_allclose(ours, mean_and_interval(first, measure))


def test_examples_show_the_best_and_the_worst_wording(made):
    rows, opened, _ = made
    table = build_table("scored_examples", opened, examples=2)
    texts = rows.drop_duplicates(["item", "variant"]).set_index(["item", "text"])["variant"]
    for row in table.itertuples():
        own = rows[(rows["model"] == row.model) & (rows["condition"] == row.measure)]
        scores = own[own["item"] == row.item].set_index("variant")["score"]
        assert row.difference == pytest.approx(np.ptp(scores)) and row.difference > 0
        ends = (scores.min(), scores.max()) if row.measure == "ms" else (scores.max(), scores.min())
        assert (row.best, row.worst) == ends
        assert scores[texts[row.item, row.best_text]] == row.best
        assert scores[texts[row.item, row.worst_text]] == row.worst
    ranges = rows.groupby(["model", "condition", "item"])["score"].agg(np.ptp)
    assert select(table, model="org/a", measure="likert")["difference"] == ranges["org/a", "likert"].max()


def test_lower_scores_rank_first_where_they_are_better(made):
    rows, opened, _ = made
    table = build_table("wording_ranking", opened)
    means = rows[rows["condition"] == "ms"].groupby("model")["score"].mean()
    assert list(table.loc[table["measure"] == "ms", "model"]) == list(means.sort_values().index)
    np.testing.assert_allclose(table.loc[table["measure"] == "ms", "mean"], means.sort_values())
    assert list(table.loc[table["measure"] == "F1", "model"]) == MODELS[::-1]


@pytest.mark.parametrize("crossed", [False, True])
def test_two_options_as_scores_give_the_accuracy_of_other_pages_to_the_last_digit(tmp_path, crossed):
    asked = random_frame(["a", "b", "c"], items=15, paraphrases=6, seed=5).assign(mass=1.0)
    asked = asked[asked["variant"] != "original"].reset_index(drop=True)
    right_answer = np.random.default_rng(5).choice(["agree", "disagree"], 15)
    asked["gold"] = right_answer[pd.factorize(asked["item"])[0]]
    if crossed:
        asked["attributes"] = [[("template", variant)] for variant in asked["variant"]]
    scored = asked.drop(columns=["agreement", "mass", "gold"]).assign(
        score=((asked["agreement"] >= 0.5) == (asked["gold"] == "agree")).astype(float), condition="F1"
    )
    ours, theirs = runs.open_runs(write_scored(tmp_path / "scored", scored)), runs.open_runs(
        write_run(tmp_path / "agreement", asked)
    )  # fmt: skip
    for name in ("wording_precision", "variance_components", "beyond_rewording", "wording_ranking",
                 "ranking_reliability"):  # fmt: skip
        expected, table = build_table(name, theirs), build_table(name, ours)
        expected = expected[expected["measure"] == "accuracy"].reset_index(drop=True)
        numbers = expected.select_dtypes("number").columns.difference(["validity"])
        assert len(table) == len(expected) and len(numbers) > 5
        pd.testing.assert_frame_equal(table[numbers], expected[numbers], check_exact=True, check_dtype=False)
    means = build_table("scored_means", ours)
    names = ["mean", "mean_lower", "mean_upper", "like_lower", "like_upper", "error"]
    accuracies = build_table("wording_precision", theirs)
    accuracies = accuracies[accuracies["measure"] == "accuracy"]
    assert means[names].to_numpy().tolist() == accuracies[names].to_numpy().tolist()
    if crossed:
        by_wording = build_table("scored_wordings", ours).sort_values(["model", "wording"])
        by_template = build_table("templates", theirs).sort_values(["model", "template"])
        assert by_wording["mean"].tolist() == by_template["accuracy"].tolist()
        assert by_wording["mean_lower"].tolist() == pytest.approx(by_template["accuracy_lower"].tolist(), abs=1e-12)


def test_samples_are_a_component_of_their_own(tmp_path):
    rows = draw_scores(["m"], 20, 3, measures=["likert"], seed=2)
    draws = np.random.default_rng(2).integers(1, 6, (len(rows), 4)).astype(float)
    rows = rows.assign(sample_score=list(map(list, draws)), score=draws.mean(axis=1))
    opened = runs.open_runs(write_scored(tmp_path / "run", rows))
    (scored,) = list_scored_per_study_and_measure(opened)
    np.testing.assert_allclose(scored.study.spread.ravel(), draws.var(axis=1, ddof=1) / 16)
    row = select(build_table("variance_components", opened), model="m")
    assert row["n_samples"] == 4 and row["sample"] == pytest.approx(draws.var(axis=1, ddof=1).mean() / 16)


@pytest.mark.parametrize("crossed", [False, True])
def test_no_interval_passes_the_range(tmp_path, crossed):
    measures, models = ["likert", "F1", "ms"], ["m", "n"]
    rows = draw_scores(models, 5, 3, measures=measures, crossed=crossed, seed=3)
    ends = {"m": {"likert": 5.0, "F1": 1.0, "ms": 9.0}, "n": {"likert": 1.0, "F1": 0.0, "ms": 1.0}}
    rows["score"] = [ends[model][measure] for model, measure in zip(rows["model"], rows["condition"], strict=True)]
    other = (rows["item"] == "item-0000") & (rows["variant"] == "w0")
    rows.loc[other, "score"] = rows["condition"].map({"likert": 3.0, "F1": 0.4, "ms": 700.0})
    opened = runs.open_runs(write_scored(tmp_path / "run", rows))
    means = build_table("scored_means", opened)
    for (model, measure), part in rows.groupby(["model", "condition"]):
        row = select(means, model=model, measure=measure)
        low, high = SHAPES[measure]["range"] or (-np.inf, np.inf)
        items = part.groupby("item")["score"].mean()
        plain = DescrStatsW(items).tconfint_mean()
        ours = row[["mean", "mean_lower", "mean_upper", "like_lower", "like_upper"]].astype(float)
        if measure == "ms":
            assert ours.isna().tolist() == [
                False,
                True,
                True,
                True,
                True,
            ]  # one item differs: nothing bounds the others
            continue
        assert not low <= plain[0] <= plain[1] <= high  # by t it would pass it
        np.testing.assert_allclose(ours.iloc[:3], mean_and_interval(items, measure), rtol=1e-9)
        assert low <= row["like_lower"] <= row["mean"] <= row["like_upper"] <= high
    # Of models, all five items differ, four of them as much.
    differences = build_table("scored_differences", opened)
    assert (
        differences[["lower", "upper", "like_lower"]].isna().all(axis=None)
        and (differences["p_items"] == 2 / 2**5).all()
    )
    studies = {scored.study.measure: scored.study for scored in list_scored_per_study_and_measure(opened)}
    assert studies["likert"].clip_difference_interval_at_bounds((-1.2, 0.3)) == (-1, 0.3)
    assert studies["ms"].clip_difference_interval_at_bounds((-1.2, 0.3)) == (-1.2, 0.3)
    for table, columns in (
        ("scored_wordings", ("mean_lower", "mean_upper")), ("wording_precision", ("like_lower", "like_upper")),
    ):  # fmt: skip
        frame = build_table(table, opened)
        for measure, part in frame[frame["measure"] != "ms"].groupby("measure"):
            low, high = (0, 1) if table == "wording_precision" else SHAPES[measure]["range"]
            inside = part[list(columns)].stack().dropna().between(low - 1e-12, high + 1e-12)
            assert inside.all()
            assert len(inside) or (table == "scored_wordings" and not crossed)


def test_missing_scores_are_no_scores_of_0(tmp_path):
    rows = draw_scores(["m", "n"], 20, 3, seed=2)
    lost = (rows["model"] == "n") & (rows["item"] < "item-0012")
    rows["error"] = np.where(lost, "no score in column F1", None)
    rows.loc[lost, "score"] = np.nan
    opened = runs.open_runs(write_scored(tmp_path / "run", rows))
    row = select(build_table("scored_means", opened), model="n")
    left = rows[(rows["model"] == "n") & ~lost]
    assert row["mean"] == pytest.approx(left.groupby("item")["score"].mean().mean())
    assert (row["n_items"], row["validity"]) == (8, pytest.approx(0.4))
    pair = build_table("scored_differences", opened)
    assert pair.empty  # less than half of its responses have a score: it is not compared


def test_a_score_per_item_says_nothing_of_wordings(tmp_path):
    opened = runs.open_runs(write_scored(tmp_path / "run", draw_scores(["m", "n"], 20, 1)))
    table = build_table("scored_spread", opened, resamples=20)
    assert (table["n_items"] == 0).all() and table["passed_some"].isna().all()
    row = build_table("scored_differences", opened).iloc[0]
    assert row["p_items"] == pytest.approx(stats.ttest_rel(*(
        part["score"].to_numpy() for _, part in draw_scores(["m", "n"], 20, 1).groupby("model"))).pvalue)  # fmt: skip
