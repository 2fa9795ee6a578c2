"""Means over patterns, tasks and models, differences between conditions and stages, and shifts of p(Yes)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from analysis import runs
from analysis.pages.wording import shifts, tables
from analysis.pages.wording.cells import WordingItemSums, compute_wording_item_sums_of_all_studies
from analysis.pages.wording.measures import estimate_unit_group_measures
from helpers.wording_runs import PATTERNS, random_rows, said, textbook, write_wording

pytestmark = pytest.mark.slow

MODELS = {
    "s": {"stage": "base", "series": "S", "parameters": 1000},
    "s-it": {"stage": "instruct", "series": "S", "parameters": 1000},
    "l": {"stage": "base", "series": "L", "parameters": 9000},
    "l-it": {"stage": "tuned", "series": "L", "parameters": 9000},
    "other": {},
}
CELLS = [("en", "morality"), ("en", "sentiment"), ("ja", "morality")]


@pytest.fixture(scope="module")
def rows():
    return random_rows(list(MODELS), items=15, conditions=["chat/0-shot", "chat/4-shot"], cells=CELLS, seed=4)


@pytest.fixture(scope="module")
def run(rows, tmp_path_factory):
    return runs.open_runs(write_wording(tmp_path_factory.mktemp("means") / "run", rows, models=MODELS))


def cell(rows, pattern, **where):
    part = rows
    for name, value in where.items():
        values = part["attributes"].map(lambda a: a["task"]) if name == "task" else part[name]
        part = part[values == value]
    return textbook(part, pattern)


def test_overall_is_the_mean_over_tasks_of_the_mean_over_patterns(rows, run):
    table = tables.tabulate_means_over_patterns_and_tasks(run, resamples=30).set_index(
        ["model", "language", "condition"]
    )
    for language, tasks in (("en", ["morality", "sentiment"]), ("ja", ["morality"])):
        found = table.loc[("s", language, "chat/0-shot")]
        where = {"model": "s", "language": language, "condition": "chat/0-shot"}
        parts = [[cell(rows, pattern, task=task, **where) for pattern in PATTERNS] for task in tasks]
        for name in ("overall", "consistency", "accuracy", "diff_yes"):
            expected = np.mean([np.mean([p[name] for p in task]) for task in parts])
            assert found[name] == pytest.approx(expected, abs=1e-12)
        assert found[["n_tasks", "n_patterns", "n_undefined"]].tolist() == [len(tasks), 4, 0]
        assert found["overall_lower"] < found["overall"] < found["overall_upper"]


def test_a_task_weighs_the_same_however_many_items_it_has(tmp_path):
    big = said({"original": "y" * 30, "synonym": "y" * 30}, ["yes"] * 30)
    small = said({"original": "yy", "synonym": "nn"}, ["yes"] * 2, task="sentiment", start=50)
    table = tables.tabulate_means_over_patterns_and_tasks(
        runs.open_runs(write_wording(tmp_path / "run", pd.concat([big, small]))), resamples=0
    )
    assert table["consistency"].tolist() == [0.5]
    assert table["overall"].tolist() == [0.5]


def test_models_weigh_alike_however_many_tasks_they_have_and_tasks_however_many_patterns(tmp_path):
    """One model in two tasks, with 3 and 1 of 4 consistent, the other in the second only, with none."""
    first = said({"original": "yyyy", "synonym": "yyyn", "agreement": "yyyn"}, model="s")
    second, other = (
        said({"original": "yyyy", "synonym": synonyms}, task="sentiment", model=model, start=50)
        for model, synonyms in (("s", "ynnn"), ("l", "nnnn"))
    )
    run = runs.open_runs(write_wording(tmp_path / "run", pd.concat([first, second, other]), models=MODELS))
    groups = tables.tabulate_training_stage_means(run, resamples=0).query("task == 'all' and pattern == 'synonym'")
    assert groups["consistency"].iloc[0] == ((3 / 4 + 1 / 4) / 2 + 0) / 2
    patterns = tables.tabulate_pattern_means(run, resamples=0).set_index("pattern")
    assert patterns.loc["synonym", "consistency"] == ((3 / 4 + 1 / 4) / 2 + 0) / 2
    overall = tables.tabulate_means_over_patterns_and_tasks(run, resamples=0).set_index("model")
    assert overall.loc["s", "consistency"] == ((3 / 4 + 3 / 4) / 2 + 1 / 4) / 2


def test_overall_is_undefined_where_a_cell_has_no_valid_answer(tmp_path):
    rows = said({"original": "yn", "synonym": "yn", "antonym": "--"}, ["yes", "no"])
    table = tables.tabulate_means_over_patterns_and_tasks(
        runs.open_runs(write_wording(tmp_path / "run", rows)), resamples=0
    )
    assert table["n_undefined"].tolist() == [1]
    assert table["overall"].isna().all()
    assert table["valid"].tolist() == [0.5]


def test_groups_are_plain_means_over_models_with_the_printed_rows_below(rows, run):
    table = tables.tabulate_training_stage_means(run, resamples=0)
    ours = table[table["source"] == "these runs"].set_index(["stage", "condition", "language", "task", "pattern"])
    where = {"language": "en", "task": "sentiment", "condition": "chat/4-shot"}
    for stage, names in (("base", ["s", "l"]), ("instruct", ["s-it", "l-it"])):
        found = ours.loc[(stage, "chat/4-shot", "en", "sentiment", "antonym")]
        expected = np.mean([cell(rows, "antonym", model=name, **where)["consistency"] for name in names])
        assert found["consistency"] == pytest.approx(expected, abs=1e-12)
        assert found["n_models"] == 2
        whole = ours.loc[(stage, "chat/4-shot", "all", "all", "antonym"), "diff_yes"]
        each = [cell(rows, "antonym", model=n, language=lang, task=t, condition="chat/4-shot")["diff_yes"]
                for n in names for lang, t in CELLS]  # fmt: skip
        assert whole == pytest.approx(np.mean(each), abs=1e-12)
    printed = table[table["source"] != "these runs"]
    assert set(printed["source"]) == {"Takayama et al., Table 1", "Takayama et al., Table 3"}
    assert len(printed) == 4 * 2 * 5 + 3 * 5
    row = printed[(printed["language"] == "en") & (printed["task"] == "morality") & (printed["stage"] == "instruct")]
    assert row.set_index("pattern").loc["antonym", ["consistency", "diff_yes", "diff_acc"]].tolist() == pytest.approx(
        [0.644, -0.054, 0.017]
    )


def test_a_silent_model_counts_in_validity_and_in_no_other_mean(tmp_path):
    loud = said({"original": "yn", "synonym": "yy"}, model="s")
    silent = said({"original": "--", "synonym": "--"}, model="l")
    run = runs.open_runs(write_wording(tmp_path / "run", pd.concat([loud, silent]), models=MODELS))
    found = (
        tables.tabulate_training_stage_means(run, resamples=0)
        .query("source == 'these runs' and pattern == 'synonym'")
        .iloc[0]
    )
    assert found[["n_models", "n_undefined", "valid", "consistency"]].tolist() == [2, 1, 0.5, 0.5]


def test_few_shot_gains_are_paired_and_averaged_by_stage(rows, run):
    table = tables.tabulate_shot_differences(run, resamples=30).query(
        "measure == 'consistency' and pattern == 'agreement'"
    )
    table = table[(table["language"] == "en") & (table["task"] == "morality")].set_index("model")
    where = {"language": "en", "task": "morality"}
    gains = {
        name: cell(rows, "agreement", model=name, condition="chat/4-shot", **where)["consistency"]
        - cell(rows, "agreement", model=name, condition="chat/0-shot", **where)["consistency"]
        for name in MODELS
    }
    assert {name: table.loc[name, "difference"] for name in MODELS} == pytest.approx(gains, abs=1e-12)
    means = table.loc[[""]].set_index("stage")
    assert means.loc["base", "difference"] == pytest.approx((gains["s"] + gains["l"]) / 2, abs=1e-12)
    assert means.loc["instruct", "n_models"] == 2
    assert (table["lower"] <= table["difference"]).all()


def test_exemplars_are_compared_within_one_prompt_file(tmp_path):
    rows = random_rows(items=8, conditions=["chat/0-shot", "chat/4-shot", "mine/0-shot", "mine/4-shot"])
    own = {name: {"form": "chat", "prompt": "mine"} for name in ("mine/0-shot", "mine/4-shot")}
    shipped = {name: {"prompt": None} for name in ("chat/0-shot", "chat/4-shot")}
    run = runs.open_runs(write_wording(tmp_path / "run", rows, conditions=own | shipped))
    table = tables.tabulate_shot_differences(run, resamples=0)
    assert set(zip(table["condition"], table["condition_zero"], strict=True)) == {
        ("chat/4-shot", "chat/0-shot"), ("mine/4-shot", "mine/0-shot")
    }  # fmt: skip


def test_p_values_of_comparisons_are_exact_where_answers_are_and_corrected_after_holm(tmp_path):
    """Reference: statsmodels' exact McNemar on the consistent answers, and its multipletests (holm)."""
    rows = random_rows(["a", "b"], items=25, conditions=["chat/0-shot", "chat/4-shot"], invalid=0.0, seed=2)
    run = runs.open_runs(write_wording(tmp_path / "run", rows))
    table = tables.tabulate_shot_differences(run, resamples=50).query("measure == 'consistency'")
    said_by = rows.set_index(["model", "condition", "pattern", "item"])["answer"].sort_index()
    for row in table.itertuples():
        consistent = {}
        for shots in (row.condition, row.condition_zero):
            before, after = said_by[row.model, shots, "original"], said_by[row.model, shots, row.pattern]
            consistent[shots] = (before == after) != (row.pattern == "antonym")
        first, second = consistent[row.condition], consistent[row.condition_zero]
        expected = mcnemar([[0, (first & ~second).sum()], [(~first & second).sum(), 0]], exact=True).pvalue
        assert row.p == pytest.approx(expected, abs=1e-12)
    assert len(table) == 8 and (table["p_least"] == 2.0**-24).all()
    assert table["p_holm"].tolist() == pytest.approx(list(multipletests(table["p"], method="holm")[1]), abs=1e-12)


def test_p_values_of_the_band_agree_with_its_intervals_and_are_corrected_by_pattern(rows, run):
    table = shifts.tabulate_yes_probability_shifts(run, resamples=199)
    low, high = table["band_difference_lower"], table["band_difference_upper"]
    clear = table["band_p"] < 0.05
    assert clear.any() and not clear.all()
    assert ((low > 0) | (high < 0))[clear].all()
    for _, part in table.dropna(subset=["band_p"]).groupby("pattern"):
        assert len(part) > 1
        assert part["band_p_holm"].tolist() == pytest.approx(list(multipletests(part["band_p"], method="holm")[1]))


def test_stages_differ_by_series(rows, run):
    table = tables.tabulate_stage_differences_by_series(run, resamples=30).query(
        "measure == 'consistency' and pattern == 'antonym'"
    )
    table = table[(table["language"] == "ja") & (table["shots"] == 0)].set_index("series")
    assert list(table.index) == ["S", "L"]
    where = {"language": "ja", "task": "morality", "condition": "chat/0-shot"}
    for series, names in (("S", ("s-it", "s")), ("L", ("l-it", "l"))):
        tuned, base = (cell(rows, "antonym", model=name, **where)["consistency"] for name in names)
        assert table.loc[series, "difference"] == pytest.approx(tuned - base, abs=1e-12)


def test_stages_compare_the_forms_that_each_was_asked_in(tmp_path):
    base = said({"original": "yyyy", "synonym": "yynn"}, model="s", condition="plain/0-shot")
    tuned = said({"original": "yyyy", "synonym": "yyyn"}, model="s-it", condition="chat/0-shot")
    run = runs.open_runs(write_wording(tmp_path / "run", pd.concat([base, tuned]), models=MODELS))
    table = tables.tabulate_stage_differences_by_series(run, resamples=0).query("measure == 'consistency'")
    assert table["difference"].tolist() == [0.25]
    assert tables.tabulate_shot_differences(run, resamples=0).empty


def test_stages_are_compared_in_the_prompts_that_both_were_asked_in(tmp_path):
    """Asked with a prompt file of one's own, too, the tuned model had the mean of both; the base model had one."""
    base = said({"original": "yyyy", "synonym": "yynn"}, model="s", condition="plain/0-shot")
    tuned = said({"original": "yyyy", "synonym": "yyyn"}, model="s-it", condition="chat/0-shot")
    mine = said({"original": "yyyy", "synonym": "nnnn"}, model="s-it", condition="chat/0-shot/mine")
    prompts = {"chat/0-shot/mine": {"prompt": "mine"}}
    path = write_wording(tmp_path / "run", pd.concat([base, tuned, mine]), conditions=prompts, models=MODELS)
    table = tables.tabulate_stage_differences_by_series(runs.open_runs(path), resamples=0)
    assert table.query("measure == 'consistency'")["difference"].tolist() == [0.25]


def test_stages_weigh_every_prompt_alike_and_in_it_every_model(tmp_path):
    """A base model asked with two prompt files weighed twice as much as one asked with one of them."""
    answers = {  # to four synonyms, of questions answered "yyyy"; consistency in quarters
        ("s", "plain/0-shot"): "nnnn", ("s2", "plain/0-shot"): "yynn", ("s2", "plain/0-shot/mine"): "yyyy",
        ("s-it", "chat/0-shot"): "yyyn", ("s-it", "chat/0-shot/mine"): "ynnn",
    }  # fmt: skip
    rows = pd.concat(
        said({"original": "yyyy", "synonym": synonyms}, model=model, condition=condition)
        for (model, condition), synonyms in answers.items()
    )
    prompts = {condition: {"prompt": "mine"} for _, condition in answers if condition.endswith("mine")}
    models = MODELS | {"s2": MODELS["s"]}
    path = write_wording(tmp_path / "run", rows, conditions=prompts, models=models)
    table = tables.tabulate_stage_differences_by_series(runs.open_runs(path), resamples=0)
    row = table.query("measure == 'consistency'").iloc[0]
    assert row["difference"] == pytest.approx(((0.75 - (0 + 0.5) / 2) + (0.25 - 1)) / 2)  # per prompt, then their mean
    assert row["n_models"] == 3


@pytest.mark.parametrize(("seed", "difference"), [(3, 0.75 - (0.5 + 0) / 2), (1, 0.75 - 0.5)])
def test_stages_are_compared_in_the_seeds_that_both_share_and_in_all_where_they_share_none(tmp_path, seed, difference):
    """Logs of a base model with the seeds 1 and 2: with another one, the tuned model was compared with none."""
    base, again = (
        said({"original": "yyyy", "synonym": synonyms}, model="s", condition=condition)
        for condition, synonyms in (("plain/0-shot/1", "yynn"), ("plain/0-shot/2", "nnnn"))
    )
    tuned = said({"original": "yyyy", "synonym": "yyyn"}, model="s-it", condition="chat/0-shot/1")
    seeds = {"plain/0-shot/1": 1, "plain/0-shot/2": 2, "chat/0-shot/1": seed}
    conditions = {name: {"seed": value, "prompt": "standard"} for name, value in seeds.items()}
    path = write_wording(tmp_path / "run", pd.concat([base, again, tuned]), conditions=conditions, models=MODELS)
    table = tables.tabulate_stage_differences_by_series(runs.open_runs(path), resamples=0)
    assert table.query("measure == 'consistency'")["difference"].tolist() == [difference]


def test_a_weight_of_two_is_a_model_that_stands_there_twice(run):
    """Every measure's difference, interval and p value, to 1e-12: models 2 : 1 : 1 against 3 : 1."""
    sums = compute_wording_item_sums_of_all_studies(run)
    cell_units = sums.units.query("pattern == 'synonym' and language == 'ja' and condition == 'chat/0-shot'")
    a, b, c, d, _ = map(int, cell_units.index)
    n = len(sums.units)  # rows n and 2n further on hold the same unit again
    thrice = {name: np.hstack([values] * 3) for name, values in sums.sums.items()}
    copies = WordingItemSums(pd.concat([sums.units] * 3, ignore_index=True), thrice, np.hstack([sums.has] * 3))
    weighted = [({a: 0.5, b: 0.25, c: 0.25}, {a: 3, d: 1})]
    plain = [(dict.fromkeys([a, n + a, b, c], 1.0), dict.fromkeys([a, n + a, 2 * n + a, d], 1.0))]
    differences, expected = (
        estimate_unit_group_measures(item_sums, pairs, resamples=200, seed=1)
        for item_sums, pairs in ((sums, weighted), (copies, plain))
    )
    for name, interval in differences.items():
        for field in ("estimate", "lower", "upper", "n_items", "p"):
            value, textbook_value = getattr(interval, field), getattr(expected[name], field)
            assert value == pytest.approx(textbook_value, abs=1e-12, nan_ok=True), (name, field)
        assert np.isfinite(interval.lower).all()


def test_conventions_stand_side_by_side_where_they_differ(tmp_path):
    rows = said({"original": "yyn", "synonym": "y-n", "agreement": "yyn"})
    table = tables.tabulate_consistency_by_invalid_convention(runs.open_runs(write_wording(tmp_path / "run", rows)))
    assert table[["pattern", "n", "n_pairs"]].values.tolist() == [["synonym", 3, 2]]
    assert table[["consistency_dropped", "consistency_inconsistent"]].iloc[0].tolist() == [1, pytest.approx(2 / 3)]


def test_shifts_are_measured_from_the_unmoved_answer(tmp_path):
    """An antonym answered with exactly 1 - p has not moved; agreement moved by 0.1 inside the band and 0.3 outside."""
    p = [0.5, 0.7, 0.1, 0.95]
    moved = {"original": p, "antonym": [1 - x for x in p], "agreement": [0.6, 0.8, 0.4, 0.65]}
    rows = said(dict.fromkeys(moved, "yyny"))
    rows["probability"] = [[x * 0.9, (1 - x) * 0.9] for values in moved.values() for x in values]
    table = shifts.tabulate_yes_probability_shifts(
        runs.open_runs(write_wording(tmp_path / "run", rows)), resamples=50
    ).set_index("pattern")
    assert table.loc["antonym", "shift"] == pytest.approx(0, abs=1e-12)
    found = table.loc["agreement"]
    assert found[["n", "n_band", "n_outside"]].tolist() == [4, 2, 2]
    assert found[["shift_band", "shift_outside"]].tolist() == pytest.approx([0.1, 0.0], abs=1e-12)
    assert found["band_difference"] == pytest.approx(0.1, abs=1e-12)


def test_the_curve_bins_by_the_original_probability(rows, tmp_path):
    table = shifts.tabulate_shifts_in_probability_bins(
        runs.open_runs(write_wording(tmp_path / "run", rows)), resamples=40
    )
    part = rows[(rows["model"] == "s") & (rows["language"] == "ja") & (rows["condition"] == "chat/0-shot")]
    share = {name: {r["item"]: (r["probability"][0] / sum(r["probability"]), r["answer"]) for _, r in found.iterrows()}
             for name, found in part.groupby("pattern")}  # fmt: skip
    pairs = [(before, share["antonym"][item][0]) for item, (before, said) in share["original"].items()
             if said and share["antonym"][item][1]]  # fmt: skip
    ours = table[(table["model"] == "s") & (table["language"] == "ja") & (table["condition"] == "chat/0-shot")]
    ours = ours[ours["pattern"] == "antonym"]
    assert ours["n"].sum() == len(pairs)
    for _, row in ours.iterrows():
        inside = [pair for pair in pairs if row["bin_low"] <= pair[0] < row["bin_high"]]
        assert row["n"] == len(inside)
        assert row["p_original"] == pytest.approx(np.mean([before for before, _ in inside]), abs=1e-12)
        assert row["shift"] == pytest.approx(np.mean([after - (1 - before) for before, after in inside]), abs=1e-12)


def test_without_probabilities_there_are_no_shifts(tmp_path):
    run = runs.open_runs(write_wording(tmp_path / "run", said({"original": "yn", "synonym": "yn"})))
    assert shifts.tabulate_yes_probability_shifts(run, resamples=10).empty
    assert shifts.tabulate_shifts_in_probability_bins(run, resamples=10).empty


def test_the_example_is_the_largest_contradiction(tmp_path):
    rows = said({"original": "yyn", "antonym": "yny"})
    rows["probability"] = [[x, 1 - x] for x in (0.9, 0.8, 0.3, 0.7, 0.1, 0.6)]
    table = tables.tabulate_strongest_contradictions(runs.open_runs(write_wording(tmp_path / "run", rows)))
    assert table[["item", "pattern", "answer_original", "answer_reworded"]].values.tolist() == [
        ["i000", "antonym", "Yes", "Yes"]
    ]


def test_the_conventions_hold_the_bounds_that_the_invalid_answers_allow(tmp_path):
    """Every way to fill in the three invalid answers gives a Consistency and a share of "Yes" between the bounds."""
    given = {"original": "yyn-n", "synonym": "yn-y-"}
    rows = said(given)
    table = tables.tabulate_consistency_by_invalid_convention(
        runs.open_runs(write_wording(tmp_path / "run", rows))
    ).set_index("pattern")
    found = table.loc["synonym"]
    filled = [(a, b, c) for a in "yn" for b in "yn" for c in "yn"]
    pairs = [(list(f"yyn{a}n"), list(f"yn{b}y{c}")) for a, b, c in filled]
    same = [sum(x == y for x, y in zip(one, other, strict=True)) / 5 for one, other in pairs]
    yes = [other.count("y") / 5 for _, other in pairs]
    assert found[["n", "n_pairs"]].tolist() == [5, 2]
    assert (found["consistency_inconsistent"], found["consistency_most"]) == pytest.approx((min(same), max(same)))
    assert (found["yes_inconsistent"], found["yes_most"]) == pytest.approx((min(yes), max(yes)))


def test_invalid_samples_beside_valid_ones_count(tmp_path):
    """One of five samples says yes, four hold no answer: the answer was "Yes" under both conventions."""
    rows = said({"original": "yy", "synonym": "yy"}).assign(answer=None)
    rows["count"], rows["invalid"] = [[5, 0], [5, 0], [4, 0], [1, 0]], [0, 0, 1, 4]
    run = runs.open_runs(write_wording(tmp_path / "run", rows))
    dropped, counted = (
        tables.tabulate_answer_consistency_by_wording_kind(run, invalid=name, resamples=0)
        .set_index("pattern")
        .loc["synonym"]
        for name in ("dropped", "inconsistent")
    )
    assert dropped[["n", "valid", "consistency", "yes"]].tolist() == [2, 1, 1, 1]
    assert counted[["n", "valid", "consistency", "yes"]].tolist() == [2, 0.5, 0.5, 0.5]
    both = tables.tabulate_consistency_by_invalid_convention(run).set_index("pattern").loc["synonym"]
    assert both[["n", "n_pairs", "consistency_dropped", "consistency_most"]].tolist() == [2, 1, 1, 1]
