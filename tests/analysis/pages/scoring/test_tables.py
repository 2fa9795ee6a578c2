"""Tables of scores from run folders: what is counted, what is undefined, what is compared and what is refused."""

from __future__ import annotations

import csv
import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from scipy import stats

from analysis import runs
from analysis.measures.scores import read_scores
from analysis.pages.scoring.catalogue import TABLES
from analysis.pages.scoring.contrasts import tabulate_sampled_versus_exact_scores, tabulate_score_changes_by_tuning
from analysis.pages.scoring.influence import (
    add_names_of_correlation_points,
    correlate_points_leaving_each_out,
    tabulate_correlations_leaving_points_out,
)
from analysis.pages.scoring.items import choose_headline_setting
from analysis.pages.scoring.printed import read_printed_score_differences, read_printed_scores
from analysis.pages.scoring.tables import tabulate_score_bias_and_accuracy, tabulate_scores_of_every_item
from analysis.reporting.catalogue import tables
from ground.errors import InputError
from helpers import textbook
from helpers.scoring_runs import FAMILY, Judge, condition, make_run, name_of, one_judge, stimuli, write_scores
from helpers.synthetic import edit_run_json

pytestmark = pytest.mark.slow

GROUPS = {"En-De": 30, "Et-En": 25}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("scores") / "run", GROUPS)


@pytest.fixture(scope="module")
def run(folder):
    return runs.open_runs(folder)


@pytest.fixture(scope="module")
def frames(run):
    return {name: tables.build_table(name, run, resamples=40) for name in TABLES}


def judged(tmp_path, given, gold, span=(0, 9), **options):
    """The row of one judge in table `scores`, and that of the human scores."""
    table = tabulate_score_bias_and_accuracy(
        runs.open_runs(one_judge(tmp_path / "one", given, gold, span)), resamples=50, **options
    )
    return table[table["model"] == "m"].iloc[0], table[table["model"] == "gold"]


def of_models(table):
    return table[table["model"] != "gold"].set_index(["group", "model", "condition"]).sort_index()


@pytest.mark.filterwarnings("ignore:An input array is constant", "ignore:Precision loss")
def test_every_figure_is_the_one_of_the_rows(folder, frames):
    """Against the Parquet files, read without the package: scipy for kurtosis and correlations."""
    rows = pq.read_table(folder / "responses").to_pandas()
    texts = pq.read_table(folder / "stimuli.parquet").to_pandas().set_index("item")
    rows["gold"] = rows["item"].map(texts["gold_score"])
    rows["group"] = rows["item"].str[:5]
    table = of_models(frames["scores"])
    for key, part in rows.groupby(["group", "model", "condition"]):
        row, known = table.loc[key], part.dropna(subset=["score"])
        assert row["n"] == row["n_gold"] == len(known)
        assert row["unscored"] == len(part) - len(known)
        assert row["kurtosis"] == pytest.approx(stats.kurtosis(known["score"]), nan_ok=True)
        assert row["variance"] == pytest.approx(known["score"].var())
        assert row["tau"] == pytest.approx(stats.kendalltau(known["score"], known["gold"]).statistic, nan_ok=True)
        assert row["spearman"] == pytest.approx(stats.spearmanr(known["score"], known["gold"]).statistic, nan_ok=True)
        assert row["dropped"] == part["invalid"].sum()
        assert row["clipped"] == part["clipped"].sum()
        wanted = part["mass"] if "exact" in key[2] else 1 - part["invalid"] / 10
        assert row["validity"] == pytest.approx(wanted.mean())


def test_scores_are_recomputable_from_the_samples(folder):
    """The support's own runs follow the rule of the schema: numbers kept, clipped into range, averaged."""
    rows = pq.read_table(folder / "responses").to_pandas()
    for row in rows[rows["condition"] == "plain/0-9/t0.7"].itertuples():
        numbers = [float(text) for text in row.output if text.isdigit()]
        assert len(row.output) - len(numbers) == row.invalid
        if numbers:
            assert np.clip(numbers, 0, 9).mean() == pytest.approx(row.score)


def test_the_interval_is_that_of_the_items_written_out(tmp_path):
    rng = np.random.default_rng(5)
    gold = rng.integers(0, 101, 15)
    given = np.clip(np.round(gold / 12 + rng.normal(0, 2, 15)), 0, 9)
    row, _ = judged(tmp_path, given, gold)
    draws = np.random.default_rng(0).integers(0, 15, (50, 15))
    with np.errstate(invalid="ignore"):
        agreed = [stats.kendalltau(given[taken], gold[taken]).statistic for taken in draws]
    assert (row["tau_lower"], row["tau_upper"]) == pytest.approx(textbook.percentiles(agreed, 15))
    assert row["no_interval"] == "kurtosis, variance, entropy: too few items"


def test_a_constant_score_has_no_kurtosis_and_no_tau_but_a_count(tmp_path):
    row, _ = judged(tmp_path, [8] * 12, range(0, 60, 5))
    assert np.isnan([row["kurtosis"], row["tau"], row["spearman"], row["pearson"]]).all()
    assert (row["n"], row["mode"], row["mode_share"], row["distinct"], row["entropy"]) == (12, 8, 1, 1, 0)
    assert row["variance"] == 0


def test_one_item_and_no_number_at_all(tmp_path):
    row, gold = judged(tmp_path, [7.5], [60])
    assert np.isnan([row["kurtosis"], row["variance"], row["tau"], row["kurtosis_lower"]]).all()
    assert (row["n"], row["mode"], row["distinct"]) == (1, 8, 1)
    assert gold["n"].tolist() == [1]
    (tmp_path / "none").mkdir()
    row, _ = judged(tmp_path / "none", [np.nan, np.nan], [60, 70])
    assert (row["n"], row["unscored"], row["dropped"], row["validity"], row["distinct"]) == (0, 2, 2, 0, 0)
    assert np.isnan([row["kurtosis"], row["mode"], row["mode_share"], row["tau"]]).all()


def test_a_missing_human_score_leaves_the_item_out_of_tau_alone(tmp_path):
    row, gold = judged(tmp_path, [1, 2, 3, 9], [10, 20, np.nan, 40])
    assert (row["n"], row["n_gold"], row["tau"]) == (4, 3, 1)
    assert (gold["n"].iloc[0], gold["unscored"].iloc[0]) == (3, 1)
    (tmp_path / "none").mkdir()
    row, gold = judged(tmp_path / "none", [1, 2, 3], [np.nan] * 3)
    assert gold.empty and row["n_gold"] == 0 and np.isnan(row["tau"])
    assert row["kurtosis"] == pytest.approx(-1.5)


def test_a_group_called_all_is_not_one_with_the_items_of_no_group(tmp_path):
    name = name_of((0, 9), 0.7, "sampled")
    rows = stimuli({"all": [10.0, 20.0], "g": [30.0, 40.0, 50.0]}).assign(
        model="m", condition=name, score=[1.0, 2.0, 3.0, 4.0, 6.0], output=[["1"]] * 5, invalid=0, clipped=0
    )
    rows.loc[2:, "attributes"] = pd.Series([[("gold_range", "0-100")]] * 3, index=[2, 3, 4])
    run = runs.open_runs(write_scores(tmp_path / "run", rows, {name: condition((0, 9), 0.7, "sampled", 1)}))
    frame = tables.build_table("scores", run).query("model == 'm'")
    assert frame.set_index("group")["n"].to_dict() == {"group all": 2, "all": 3}


def test_kurtosis_can_be_corrected_for_sample_size(tmp_path):
    given = [1, 2, 2, 5, 9]
    row, _ = judged(tmp_path, given, range(5), biased=False)
    assert row["kurtosis"] == pytest.approx(stats.kurtosis(given, bias=False))
    assert tables.convert_options_to_types_of_defaults(
        "table scores", {"biased": "false"}, tables.list_table_options("scores")
    ) == {"biased": False}
    with pytest.raises(InputError, match="neither true nor false"):
        tables.convert_options_to_types_of_defaults(
            "table scores", {"biased": "maybe"}, tables.list_table_options("scores")
        )


def test_kurtosis_is_corrected_by_group(run, frames):
    """One parameter changes the estimator of every group: each has its own number of items."""
    key = ["group", "model", "condition"]
    scores = read_scores(run, "dropped").groupby(key)["score"].agg(
        corrected=lambda values: stats.kurtosis(values.dropna(), bias=False),
        plain=lambda values: stats.kurtosis(values.dropna()),
    )  # fmt: skip
    for name, table in (
        ("corrected", tables.build_table("scores", run, biased=False, resamples=0)),
        ("plain", frames["scores"]),
    ):
        merged = scores.reset_index().merge(table[table["model"] != "gold"], on=key, validate="one_to_one")
        assert merged["group"].nunique() == len(GROUPS)
        assert len(merged) == len(scores)
        np.testing.assert_allclose(merged[name], merged["kurtosis"], atol=1e-9)
    assert (scores["corrected"] != scores["plain"]).all()


def test_human_scores_are_moved_to_the_range_that_was_asked(frames, folder):
    gold = frames["scores"][frames["scores"]["model"] == "gold"].set_index(["group", "range"])
    texts = pq.read_table(folder / "stimuli.parquet").to_pandas()
    for group in GROUPS:
        raw = texts.loc[texts["item"].str.startswith(group), "gold_score"]
        for span, low, high in (("0-9", 0, 9), ("1-5", 1, 5)):
            moved = low + raw / 100 * (high - low)
            row = gold.loc[(group, span)]
            assert row["kurtosis"] == pytest.approx(stats.kurtosis(raw))
            assert row["variance"] == pytest.approx(moved.var())
            assert row["distinct"] == np.floor(moved + 0.5).nunique()
    assert gold["condition"].isna().all() and gold["tau"].isna().all()


def test_differences_are_post_minus_pre_of_one_series(frames):
    table, found = frames["score_differences"], of_models(frames["scores"])
    # 2 groups x 2 series x 2 ranges x 2 temperatures x 2 methods
    assert len(table) == 2 * 2 * 2 * 2 * 2
    assert set(zip(table["pre_model"], table["post_model"], strict=True)) == {
        ("org/small", "org/small-tuned"), ("org/large", "org/large-tuned")
    }  # fmt: skip
    full = table[table["n"] == table["group"].map(GROUPS)]
    for row in full.itertuples():
        pre, post = (found.loc[(row.group, m, c)] for m, c in ((row.pre_model, row.pre_condition),
                                                               (row.post_model, row.post_condition)))  # fmt: skip
        for name in ("kurtosis", "tau"):
            sides = [getattr(row, f"{name}_{side}") for side in ("pre", "post", "difference")]
            assert sides[:2] == pytest.approx([pre[name], post[name]], nan_ok=True)
            assert sides[2] == pytest.approx(post[name] - pre[name], nan_ok=True)


def test_base_and_tuned_models_are_compared_across_prompt_forms_only_where_they_share_none(tmp_path):
    plain, chat = condition((0, 9), 0.7, "sampled"), {**condition((0, 9), 0.7, "sampled"), "form": "chat"}
    items = stimuli({"g": [10, 50, 90]}).assign(score=[1.0, 5, 9], invalid=0, clipped=0, output=[["1"]] * 3)
    asked = {"base": ["p"], "chatty": ["c"], "both": ["p", "c"]}
    rows = [items.assign(model=model, condition=name) for model, names in asked.items() for name in names]
    models = {model: {"series": "s", "stage": "base" if model == "base" else "tuned"} for model in asked}
    path = write_scores(tmp_path / "run", pd.concat(rows), {"p": plain, "c": chat}, models=models)
    table = tabulate_score_changes_by_tuning(runs.open_runs(path), resamples=0)
    assert list(zip(table["post_model"], table["pre_condition"], table["post_condition"], strict=True)) == [
        ("chatty", "p", "c"), ("both", "p", "p")
    ]  # fmt: skip
    assert list(add_names_of_correlation_points(table)["point"]) == ["g/chatty", "g/both"]


def test_a_series_with_several_base_models_is_compared_by_size(tmp_path):
    family = {f"{size}{stage}": Judge("s", stage, 0.5, 0) for size in "ab" for stage in ("base", "tuned")}
    path = make_run(tmp_path / "run", {"g": 5}, family=family, ranges=[(0, 9)], temperatures=[1], methods=["exact"])
    info = json.loads((path / "run.json").read_text())["models"]
    sized = {name: {**fields, "parameters": ord(name[0])} for name, fields in info.items()}
    edit_run_json(path, models=sized)
    table = tabulate_score_changes_by_tuning(runs.open_runs(path), resamples=0)
    assert set(zip(table["pre_model"], table["post_model"], strict=True)) == {
        ("abase", "atuned"), ("bbase", "btuned")
    }  # fmt: skip


def test_without_a_tuned_model_there_are_no_differences_but_the_printed_correlation(tmp_path):
    run = runs.open_runs(one_judge(tmp_path / "run", [1, 2, 3], [1, 2, 3]))
    assert tabulate_score_changes_by_tuning(run).empty
    assert tabulate_sampled_versus_exact_scores(run).empty
    assert set(tabulate_correlations_leaving_points_out(run, resamples=0)["source"]) == {"Sato et al., Table 1"}


def test_the_printed_correlation_rests_on_one_point():
    """-0.68 in section 4.1; without En-De/gemma -0.45."""
    table = correlate_points_leaving_each_out(
        add_names_of_correlation_points(read_printed_score_differences()), resamples=200
    ).set_index(["omitted", "omitted_name"])
    whole = table.loc[("nothing", "")]
    assert whole["pearson"] == pytest.approx(-0.681, abs=5e-4)
    assert whole["n"] == 21
    assert whole["pearson_lower"] < -0.681 < whole["pearson_upper"]
    assert table.loc[("point", "En-De/gemma"), "pearson"] == pytest.approx(-0.451, abs=5e-4)
    single = table.loc["point", "pearson"]
    assert len(single) == 21
    assert (single.min(), single.max()) == pytest.approx((-0.718, -0.451), abs=5e-4)
    assert table["change"].abs().idxmax() == ("series", "gemma")
    assert list(table.loc["group", "n"]) == [18] * 7 and list(table.loc["series", "n"]) == [14] * 3


def test_influence_is_the_correlation_of_the_rows_left(frames):
    table, differences = frames["score_influence"], add_names_of_correlation_points(frames["score_differences"])
    for row in table[table["source"] == "these runs"].itertuples():
        part = differences[(differences["range"] == row.range) & (differences["temperature"] == row.temperature)
                           & (differences["method"] == row.method)]  # fmt: skip
        known = part.dropna(subset=["kurtosis_difference", "tau_difference"])
        assert row.undefined == len(part) - len(known)
        kept = known if row.omitted == "nothing" else known[known[row.omitted] != row.omitted_name]
        assert row.n == len(kept)
        wanted = np.nan
        if len(kept) > 2:
            wanted = stats.pearsonr(kept["kurtosis_difference"], kept["tau_difference"]).statistic
        assert row.pearson == pytest.approx(wanted, nan_ok=True)


def test_ranges_are_the_same_figures_side_by_side(frames):
    wide, long = frames["score_ranges"], frames["scores"]
    assert [name for name in wide if name.startswith(("kurtosis", "tau"))] == [
        "kurtosis_0_9", "kurtosis_1_5", "tau_0_9", "tau_1_5"
    ]  # fmt: skip
    assert len(wide) == len(GROUPS) * len(FAMILY) * 2 * 2
    keys = ["group", "model", "temperature", "method"]
    one = long[long["range"] == "1-5"].merge(wide, on=keys, suffixes=("", "_wide"))
    np.testing.assert_array_equal(one["tau"], one["tau_1_5"])
    np.testing.assert_array_equal(one["kurtosis"], one["kurtosis_1_5"])


def test_a_range_may_begin_below_0(tmp_path):
    made = runs.open_runs(make_run(tmp_path / "run", {"En-De": 12}, ranges=((-5, 5), (0, 9)), temperatures=(0.7,)))
    wide, long = tables.build_table("score_ranges", made), tables.build_table("scores", made, resamples=0)
    assert list(wide.columns[-4:]) == ["kurtosis_-5_5", "kurtosis_0_9", "tau_-5_5", "tau_0_9"]
    one = long[long["range"] == "-5-5"].merge(wide, on=["group", "model", "temperature", "method"])
    np.testing.assert_array_equal(one["kurtosis"], one["kurtosis_-5_5"])


def test_two_prompts_are_not_mixed_in_what_compares_ranges_methods_and_stages(tmp_path):
    """Asked again with a prompt of one's own (docs/scoring.md), a run has each setting in two prompts."""
    path = make_run(tmp_path / "one", {"g": 12}, temperatures=(0.7,))
    info = json.loads((path / "run.json").read_text())
    responses = pq.read_table(path / "responses").to_pandas().drop(columns="study")
    rows = responses.merge(pq.read_table(path / "stimuli.parquet").to_pandas()[["item", "gold_score"]], on="item")
    both = pd.concat([rows, rows.assign(condition="mine/" + rows["condition"])]).assign(
        attributes=[[("gold_range", "0-100")]] * (2 * len(rows))
    )
    conditions = info["conditions"] | {
        f"mine/{name}": {**fields, "prompt": "mine"} for name, fields in info["conditions"].items()
    }
    made = runs.open_runs(write_scores(tmp_path / "both", both, conditions, models=info["models"]))
    wide, long = (tables.build_table(name, made, resamples=0) for name in ("score_ranges", "scores"))
    assert len(wide) == len(FAMILY) * 2 * 2
    one = long[long["range"] == "1-5"].merge(wide, on=["model", "method", "prompt"])
    np.testing.assert_array_equal(one["tau"], one["tau_1_5"])
    methods = tabulate_sampled_versus_exact_scores(made, resamples=0)
    assert (methods["sampled_condition"] + "/exact" == methods["exact_condition"]).all()
    changes = tabulate_score_changes_by_tuning(made, resamples=0)
    assert (changes["pre_condition"] == changes["post_condition"]).all()
    assert len(methods) == len(FAMILY) * 2 * 2 and len(changes) == 2 * 2 * 2 * 2
    names = add_names_of_correlation_points(changes)
    assert not names.duplicated(["range", "method", "point"]).any()


def test_sampled_scores_are_compared_with_exact_ones(frames, run):
    table = frames["score_methods"]
    assert len(table) == len(GROUPS) * len(FAMILY) * 2 * 2
    rows = read_scores(run)
    first = table.iloc[0]
    both = rows[(rows["model"] == first["model"]) & (rows["group"] == first["group"])]
    wide = both.pivot(index="item", columns="condition", values="score")
    gap = (wide[first["sampled_condition"]] - wide[first["exact_condition"]]).dropna()
    assert first["score_difference"] == pytest.approx(gap.mean())
    assert first["score_distance"] == pytest.approx(gap.abs().mean())
    assert first["tau_difference"] == pytest.approx(first["tau_sampled"] - first["tau_exact"])
    assert first["samples"] == 10


def test_items_are_those_of_one_setting(run):
    table = tabulate_scores_of_every_item(run)
    assert set(table["setting"]) == {"0-9/0.7/sampled"}
    assert len(table) == sum(GROUPS.values()) * len(FAMILY)
    np.testing.assert_allclose(table["gap"], table["score"] - table["gold"])
    assert set(tabulate_scores_of_every_item(run, setting="1-5/1.3/exact")["setting"]) == {"1-5/1.3/exact"}
    with pytest.raises(InputError, match=r"no condition has the setting '0-7'; there are 0-9/0.7/sampled, 0-9/0.7/exa"):
        tabulate_scores_of_every_item(run, setting="0-7")


def test_best_of_a_row_is_bold(frames):
    frame = pd.DataFrame({"study": "s", "group": "g", "series": "x", "kurtosis_pre": [-0.3, 2.0, np.nan, 1.0],
                          "kurtosis_post": [0.2, -3.0, 4.0, -1.0], "tau_pre": 0.1, "tau_post": 0.2})  # fmt: skip
    frame = frame.reindex(columns=TABLES["score_differences"].columns)
    lines = tables.render_table_in_text_format("score_differences", frame, "markdown").splitlines()[2:]
    bold = [[cell.strip(" *") for cell in line.split("|") if "**" in cell] for line in lines]
    assert bold == [["0.20", "0.20"], ["2.00", "0.20"], ["0.20"], ["1.00", "−1.00", "0.20"]]
    assert r"\textbf{0.20}" in tables.render_table_in_text_format("score_differences", frame, "latex")


def test_printed_tables_disagree_once(shared):
    paper = (shared.parent / "papers" / "sato_numeric_bias.ja.txt").read_text(encoding="utf-8")
    table = read_printed_scores()
    first, second = (table[table["source"].str.endswith(f"Table {n}") & table["stage"].notna()] for n in (1, 2))
    assert (len(first), len(second)) == (42, 18)
    both = first.merge(second, on=["group", "series", "stage", "range"], suffixes=("", "_2"))
    differ = both[(both["tau"] != both["tau_2"]) | (both["kurtosis"] != both["kurtosis_2"])]
    assert differ[["series", "stage", "tau", "tau_2"]].to_numpy().tolist() == [["llama", "instruct", 0.26, 0.21]]
    numbers = {f"{value:.2f}" for value in pd.concat([table["kurtosis"], table["tau"]]).dropna()}
    assert all(number in paper for number in numbers)


def test_human_scores_of_mlqe_pe_have_the_printed_kurtosis(shared, tmp_path):
    gold = {}
    for pair in ("ende", "eten", "roen", "sien"):
        with (shared / "mlqe-pe-test20" / f"test20.{pair}.df.short.tsv").open(encoding="utf-8", newline="") as file:
            gold[pair] = [float(row["mean"]) for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    rows = stimuli(gold).assign(model="m", condition=(name := name_of((0, 9), 0.7, "sampled")), score=5.0)
    rows["output"], rows["invalid"], rows["clipped"] = [["5"]] * len(rows), 0, 0
    path = write_scores(tmp_path / "run", rows, {name: condition((0, 9), 0.7, "sampled", 1)})
    table = tabulate_score_bias_and_accuracy(runs.open_runs(path), resamples=0)
    human = table[table["model"] == "gold"].set_index("group")
    assert human["kurtosis"].to_dict() == pytest.approx(
        {"ende": 1.48, "eten": -1.24, "roen": -0.16, "sien": -0.72}, abs=0.005
    )
    assert (human["n"] == 1000).all() and (table["n_gold"] == 1000).all()


def test_a_run_from_before_the_column_score_is_read(tmp_path):
    path = one_judge(tmp_path / "run", [1, 2, 3], [1, 2, 3])
    part = path / "responses" / "part-000001.parquet"
    old = pq.read_table(part)
    pq.write_table(old.drop_columns("score"), part)
    assert runs.open_runs(path).sql("SELECT score FROM responses")["score"].isna().all()
    # A folder that was resumed has both kinds of parts.
    pq.write_table(old.slice(0, 1), path / "responses" / "part-000002.parquet")
    pq.write_table(old.slice(1).drop_columns("score"), part)
    found = runs.open_runs(path).sql("SELECT score FROM responses ORDER BY item")["score"].tolist()
    assert found == pytest.approx([1, np.nan, np.nan], nan_ok=True)


def sampled(**fields):
    return {**condition((0, 9), 0.7, "sampled"), **fields}


@pytest.mark.parametrize(
    ("fields", "said"),
    [({"range": [9, 0]}, r"condition 'c': range is \[9, 0\]; scores need two whole numbers, the lower one first"),
     ({"range": [5, 5]}, "lower one first"), ({"range": None}, "range is None"), ({"range": [0, 9.5]}, "two whole"),
     ({"temperature": "warm"}, "temperature is 'warm'; scores need a number"),
     ({"method": None}, "method is None; it must be sampled or exact")],
)  # fmt: skip
def test_a_condition_that_cannot_be_is_refused(tmp_path, fields, said):
    rows = stimuli({"g": [10, 20]}).assign(condition="c", score=1.0)
    path = write_scores(tmp_path / "run", rows, {"c": sampled(**fields)})
    with pytest.raises(InputError, match=said):
        tabulate_score_bias_and_accuracy(runs.open_runs(path))


@pytest.mark.parametrize(
    ("columns", "method", "said"),
    [({"score": 9.5}, "sampled", "model 'm', condition 'c', item 'g-0000'.*outside the range"),
     ({"score": -0.1}, "sampled", "outside the range"),
     ({"gold_score": 120.0}, "sampled", "item 'g-0000': human score 120 with attribute gold_range '0-100'"),
     ({"attributes": None}, "sampled", "human score 10 with attribute gold_range None; it needs a range"),
     ({"attributes": [("gold_range", "100-0")]}, "sampled", "gold_range '100-0'"),
     ({"probability": [0.5, 0.5]}, "exact", "has not as many entries as there are options"),
     ({"probability": None}, "exact", "needs one probability for every number"),
     ({"probability": [0.1] * 10, "score": 4.0}, "exact", "is not the expectation of its probabilities"),
     ({"probability": [0.0] * 10}, "exact", "is not the expectation of its probabilities"),
     ({"model": "gold"}, "sampled", "a model is called 'gold'")],
)  # fmt: skip
def test_a_row_that_contradicts_the_contract_is_refused(tmp_path, columns, method, said):
    rows = stimuli({"g": [10, 20]}).assign(model="m", condition="c", score=1.0)
    rows = rows.assign(**{name: [value] * len(rows) for name, value in columns.items()})
    path = write_scores(tmp_path / "run", rows, {"c": sampled(method=method)})
    with pytest.raises(InputError, match=said) as refused:
        tabulate_score_bias_and_accuracy(runs.open_runs(path))
    assert "\n" not in str(refused.value)


def test_an_item_that_is_unknown_or_answered_twice_is_refused(tmp_path):
    path = one_judge(tmp_path / "run", [1, 2], [1, 2])
    part = path / "responses" / "part-000001.parquet"
    table = pq.read_table(part)
    pq.write_table(table, path / "responses" / "part-000002.parquet")
    with pytest.raises(InputError, match="item 'g-0000' has two answers"):
        tabulate_score_bias_and_accuracy(runs.open_runs(path))
    (path / "responses" / "part-000002.parquet").unlink()
    pq.write_table(pq.read_table(path / "stimuli.parquet").slice(1), path / "stimuli.parquet")
    with pytest.raises(InputError, match="not in stimuli"):
        tabulate_score_bias_and_accuracy(runs.open_runs(path))


def test_runs_of_another_protocol_are_refused(opened):
    run = opened(pd.DataFrame({"item": ["a"], "variant": ["p1"], "agreement": [0.2]}))
    with pytest.raises(InputError, match="no study of protocol 'scoring'"):
        tabulate_score_bias_and_accuracy(run)


def test_a_study_of_another_protocol_is_left_out(folder, opened, frames):
    other = opened(pd.DataFrame({"item": ["a"], "variant": ["p1"], "agreement": [0.2]}))
    both = runs.open_runs(folder, other.folders[0].path)
    assert len(tabulate_scores_of_every_item(both)) == len(frames["score_items"])


def test_the_setting_of_the_headline(run):
    rows = read_scores(run)
    assert choose_headline_setting(rows) == "0-9/0.7/sampled"
    assert choose_headline_setting(rows[rows["temperature"] == 1.3]) == "0-9/1.3/sampled"
    assert choose_headline_setting(rows[rows["method"] == "exact"]) == "0-9/0.7/exact"
    assert name_of((0, 9), 0.7, "exact") == "plain/0-9/t0.7/exact"
