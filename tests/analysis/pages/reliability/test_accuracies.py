"""The page on reliability from accuracies without answers: tables beside slow sums, sentences, and what is left out."""

from __future__ import annotations

import re
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis import runs
from analysis.pages.reliability import accuracies, accuracy_sentences, comparisons, narrative, plots, tables, templates
from analysis.pages.reliability.page import ReliabilityPage
from analysis.reporting.output.exploring import Run
from analysis.statistics.shares import wilson
from ground.errors import InputError
from helpers.accuracy_runs import random_accuracies, write_accuracies
from helpers.sentences import too_long
from helpers.shown_pages import captions_only
from helpers.synthetic import random_frame, write_run

pytestmark = pytest.mark.slow

NOREVAL = Path(__file__).parents[5] / "shared" / "data" / "noreval" / "accuracy_by_template.csv"
OPTIONS = {"k": 0, "threshold": 0.05, "margin": 0.05, "resamples": 50, "seed": 0}


def imported(folder, frame):
    return write_accuracies(folder / "acc", frame)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    frame = random_accuracies()
    folder = imported(tmp_path_factory.mktemp("acc"), frame)
    return folder, runs.open_runs(folder), frame.assign(shots="shots " + frame["shots"].astype(str))


@pytest.fixture(scope="module")
def page(made):
    """The page that has answered, on whose figures only captions stand."""
    with captions_only():
        shown = ReliabilityPage([str(made[0])], **OPTIONS)
        shown.answer()
        yield shown


def mean_squares(x):
    """Sums of squares of models, of templates, and of the rest, divided by their degrees of freedom; term by term."""
    grand, rows, columns = sum(x.flat) / x.size, x.mean(axis=1), x.mean(axis=0)
    model = sum(len(columns) * (row - grand) ** 2 for row in rows) / (len(rows) - 1)
    rest = sum((x[i, j] - rows[i] - columns[j] + grand) ** 2 for i in range(len(rows)) for j in range(len(columns)))
    return model, rest / (len(rows) - 1) / (len(columns) - 1)


def kept(x):
    """Share of the pairs of models with the same order with one template as with another, one by one."""
    found = []
    for a, b in combinations(range(len(x)), 2):
        for one, other in permutations(range(x.shape[1]), 2):
            product = (x[a, one] - x[b, one]) * (x[a, other] - x[b, other])
            found.append(0.5 if product == 0 else float(product > 0))
    return np.mean(found)


def check(row, x):
    """Compare a row about one task with its accuracies, models by templates."""
    model, rest = mean_squares(x)
    signal = (model - rest) / x.shape[1]
    assert row["one"] == pytest.approx(signal / (signal + rest), abs=1e-9)
    assert row["four"] == pytest.approx(signal / (signal + rest / 4), abs=1e-9)
    assert row["kept_one"] == pytest.approx(kept(x), abs=1e-9)
    assert row["model_template"] - row["model_template_least"] == pytest.approx(row["sampling"], abs=1e-12)


def test_every_task_and_condition_is_a_ranking(made):
    _, opened, frame = made
    found = accuracies.tabulate_ranking_reliability_of_templates(opened)
    assert [tuple(row) for row in found[["condition", "task", "n_models", "n_tasks", "n_templates"]].to_numpy()] == [
        (shots, *rest)
        for shots in ("shots 0", "shots 5")
        for rest in (("all", 6, 2, 3.5), ("reading", 6, 1, 4), ("quiz", 6, 1, 3))
    ]
    for row in found.to_dict("records"):
        own = frame[frame["shots"] == row["condition"]]
        wide = own.pivot(index="model", columns=["task", "template"], values="accuracy")
        if row["task"] != "all":
            check(row, wide[row["task"]].to_numpy())
            continue
        rests = [mean_squares(wide[task].to_numpy())[1] for task in ("reading", "quiz")]
        means = (wide["reading"].mean(axis=1) + wide["quiz"].mean(axis=1)) / 2
        signal = means.var() - rests[0] / 4 / 4 - rests[1] / 4 / 3
        assert row["one"] == pytest.approx(signal / (signal + sum(rests) / 4), abs=1e-9)


def test_templates_have_wilsons_interval_and_scores_the_spread(made):
    _, opened, frame = made
    found = templates.tabulate_accuracies_by_template(opened)
    assert len(found) == len(frame)
    row = found.iloc[5]
    own = frame[
        (frame["model"] == row["model"]) & (frame["shots"] == row["condition"]) & (frame["task"] == row["task"])
    ]
    value = own.loc[own["template"] == row["template"], "accuracy"].item()
    assert row["accuracy"] == value
    assert (row["accuracy_lower"], row["accuracy_upper"]) == pytest.approx(
        tuple(map(float, wilson(np.asarray(value), np.asarray(80), 0.95))), abs=1e-12
    )
    scores = templates.tabulate_accuracy_summaries_over_templates(opened)
    names = ["model", "condition", "task"]
    row = scores[(scores[names] == row[names]).all(axis=1)].iloc[0]
    values = own["accuracy"].to_numpy()
    low, high, mean = min(values), max(values), sum(values) / len(values)
    sd = (sum((v - mean) ** 2 for v in values) / (len(values) - 1)) ** 0.5
    assert row[["mean", "sd", "lowest", "highest", "range"]].tolist() == pytest.approx(
        [mean, sd, low, high, high - low]
    )
    assert row[["gain", "saturation", "combined"]].tolist() == pytest.approx(
        [high - mean, 1 - (high - mean), (1 - (high - mean)) * high]
    )
    assert row["range_lower"] <= row["range"] <= row["range_upper"]
    assert (row["n_items"], row["n_templates"]) == (80, len(values))


def test_ranks_are_those_of_the_means_and_pairs_are_by_the_mean_over_tasks(made):
    _, opened, frame = made
    ranks = comparisons.tabulate_model_ranking(opened)
    over = frame[frame["shots"] == "shots 0"].groupby(["model", "task"])["accuracy"].mean().groupby("model").mean()
    own = ranks[(ranks["condition"] == "shots 0") & (ranks["task"] == "all")]
    assert own["model"].tolist() == over.sort_values(ascending=False).index.tolist()
    assert (own["rank_lower"] <= own["rank"]).all()
    assert own["first"].sum() == pytest.approx(1, abs=1e-9)
    pairs = accuracies.tabulate_same_order_probabilities(opened)
    assert set(pairs["task"]) == {"all"}
    assert len(pairs) == 2 * 15
    assert (pairs["difference"] >= 0).all()
    quiz = accuracies.tabulate_same_order_probabilities(opened, task="quiz")
    assert set(quiz["task"]) == {"quiz"}
    with pytest.raises(InputError, match=r"task = 'quizz'.*nearest is 'quiz'"):
        accuracies.tabulate_same_order_probabilities(opened, task="quizz")


def test_tables_about_answers_are_empty_and_the_page_says_why(made, page):
    _, opened, _ = made
    assert tables.tabulate_precision_of_means(opened).empty
    assert comparisons.tabulate_differences_beyond_rewording(opened).empty
    for name in ("spreads_at_k", "variance_components", "wording_precision", "planned_errors"):
        assert "not from accuracies, as it needs the answers to single items" in page.table(name).text
    for name in ("template_reliability", "template_ranges", "wording_ranking"):
        assert "<figure" in page.figure("wordings_needed", instead=name).text
    assert "Four templates" in page.table("ranking_reliability", instead="template_reliability").text
    assert "not from accuracies" in page.figure("planned_errors").text


def test_a_figure_about_answers_is_refused_from_accuracies_in_one_line(made):
    with pytest.raises(InputError, match="figure planned_errors: "):
        Run([str(made[0])]).figure("planned_errors")


def sentences(page):
    if page._answer is None:
        page.answer()
    said = page._answer
    return said, [text for texts in said.details.values() for text in texts]


def test_the_answer_tells_the_share_of_pairs_and_the_reliability(made, page):
    _, opened, _ = made
    said, details = sentences(page)
    assert said.setup.startswith("6 models have accuracies in 2 tasks with 3 to 4 templates of each under 2 conditions")
    main_rows = accuracies.tabulate_ranking_reliability_of_templates(opened)
    least = main_rows[main_rows["task"] == "all"]
    assert f"{100 * least['kept_one'].min():.0f} % or more of pairs of models kept their order" in said.verdict
    ends = f"{least['one_lower'].min():.2f} to {least['one_upper'].max():.2f}"
    assert f"One of three to four templates ranks them with a reliability of {ends} (intervals" in said.verdict
    for row in least.to_dict("records"):
        told = f"with a reliability of {row['one']:.2f} (interval {row['one_lower']:.2f} to {row['one_upper']:.2f})."
        start = f"Condition {row['condition']}: one of 3 to 4 templates ranks 6 models by the mean over 2"
        assert any(text.startswith(start) and text.endswith(told) for text in details)
    assert sum("keep their order under 3.5 other templates per task with a probability of 95 % or more"
               in text for text in details) == len(least)  # fmt: skip
    assert sum("is first, and expected to stay so in some" in text for text in details) == len(least)
    assert all(len(text.split(". ")[0].split()) <= 30 for text in (*said.cautions, *details))
    assert not any("No response" in text for text in said.cautions)


def test_one_task_and_one_condition_need_no_more_words(tmp_path):
    frame = random_accuracies()
    one = frame[(frame["task"] == "quiz") & (frame["shots"] == 0)].drop(columns="shots")
    said, details = sentences(ReliabilityPage([str(imported(tmp_path, one))], **OPTIONS))
    assert "under" not in said.setup
    assert "mean over tasks" not in said.verdict
    assert any(text.startswith("One of 3 templates ranks 6 models by quiz with a reliability of") for text in details)
    assert "Some tasks have only 3 templates: so few say little of others, however many models." in said.cautions


def test_models_that_share_the_first_rank_are_named_together_with_tau(tmp_path):
    frame = random_accuracies()
    one = frame[(frame["task"] == "quiz") & (frame["shots"] == 0)].drop(columns="shots")
    one.loc[one["model"].isin(["m0", "m1"]), "accuracy"] = [0.9, 0.925, 0.95] * 2
    _, details = sentences(ReliabilityPage([str(imported(tmp_path, one))], **OPTIONS))
    assert "m0 and m1 share the first rank." in details
    assert sum(text.startswith("The ranking's tau with that of another study is expected") for text in details) == 1


def test_models_with_few_templates_are_left_out_and_common_templates_are_taken(tmp_path):
    frame = random_accuracies()
    frame = frame[frame["shots"] == 0].drop(columns="shots")
    lone = (frame["model"] == "m0") & (frame["template"] != "p0")  # one of four, and one of three
    half = (frame["model"] == "m1") & (frame["task"] == "reading") & frame["template"].isin(["p2", "p3"])
    opened = runs.open_runs(imported(tmp_path, frame[~lone & ~half]))
    found = accuracies.tabulate_ranking_reliability_of_templates(opened).set_index("task")
    assert found["n_models"].tolist() == [5, 5, 5]
    assert found.loc["reading", "n_templates"] == 2
    said, _ = sentences(ReliabilityPage([str(tmp_path / "acc")], **OPTIONS))
    assert any(text.startswith("1 model is not ranked everywhere: ") for text in said.cautions)
    wide = frame[(frame["task"] == "reading") & (frame["model"] != "m0")].pivot(
        index="model", columns="template", values="accuracy"
    )
    check(found.loc["reading"], wide[["p0", "p1"]].to_numpy())


@pytest.fixture(scope="module")
def page_of_equals(tmp_path_factory):
    folder = imported(tmp_path_factory.mktemp("equal"), random_accuracies().assign(accuracy=0.5))
    return ReliabilityPage([str(folder)], **OPTIONS)


def test_no_sentence_states_an_estimate_as_a_bound_or_a_reliability_without_its_interval(
    page, page_of_equals, tmp_path
):
    """Also of models that do not differ, and of a mean over tasks that some models lack."""
    noise = random_accuracies(models=3)
    noise["accuracy"] = np.random.default_rng(3).binomial(80, 0.5, len(noise)) / 80
    for shown in (page, page_of_equals, ReliabilityPage([str(imported(tmp_path, noise))], **OPTIONS)):
        said, details = sentences(shown)
        for text in (said.verdict, *details):
            assert "at least" not in text
            for number in re.finditer(r"with a reliability (?:of|that) (\S+)", text):
                part = text[number.start() :]
                assert re.match(r".*\(interval \d|.* to \d\.\d\d \(interval|.*is not shown", part), text


def test_of_equal_accuracies_no_share_of_pairs_is_said_to_keep_its_order(page_of_equals):
    said, details = sentences(page_of_equals)
    assert said.verdict == (
        "These runs cannot tell whether the order of the models would stand: their accuracies are equal."
    )
    assert not any("kept their order" in text for text in details)


def test_equal_templates_have_an_axis(page_of_equals, recwarn):
    frame = templates.tabulate_accuracy_summaries_over_templates(page_of_equals.runs)
    (axes, _) = plots.draw_template_ranges(frame).axes
    assert axes.get_xlim()[0] < 0 < axes.get_xlim()[1] and not recwarn.list
    _, details = sentences(page_of_equals)
    assert not any("tau" in text or "most in" in text for text in details)


def test_a_task_that_is_called_as_the_mean_over_tasks_keeps_its_own_numbers(tmp_path):
    frame = random_accuracies().query("shots == 0").drop(columns="shots")
    named = [
        runs.open_runs(imported(tmp_path / name, frame.replace({"task": {"quiz": name}}))) for name in ("b", "all")
    ]
    plain, renamed = (comparisons.tabulate_model_ranking(opened) for opened in named)
    assert renamed["task"].unique().tolist() == ["all", "reading", "task all"]
    pd.testing.assert_frame_equal(plain.replace({"task": {"b": "task all"}}), renamed)


def test_a_mean_over_tasks_says_over_which(tmp_path):
    """Three tasks; two of six models have the third: by the rule of half, the mean is over the other two."""
    frame = random_accuracies()
    frame = frame[frame["shots"] == 0].drop(columns="shots")
    third = frame[(frame["task"] == "quiz") & frame["model"].isin(["m0", "m1"])].assign(task="third")
    folder = imported(tmp_path, pd.concat([frame, third]))
    row = accuracies.tabulate_ranking_reliability_of_templates(runs.open_runs(folder)).iloc[0]
    assert (row["task"], row["n_tasks"], row["n_tasks_asked"], row["tasks"]) == ("all", 2, 3, "reading, quiz")
    assert (row["n_templates"], row["n_templates_least"], row["n_templates_most"]) == (3.5, 3, 4)
    said, details = sentences(ReliabilityPage([str(folder)], **OPTIONS))
    assert any("ranks 6 models by the mean over 2 of 3 tasks with a reliability of" in text for text in details)
    assert "Means over tasks are over 2 of 3 tasks, in which half of the models or more are ranked." in said.cautions
    assert set(accuracies.tabulate_same_order_probabilities(runs.open_runs(folder))["n_templates"]) == {3.5}


def test_models_of_other_studies_and_conditions_are_not_left_out_of_a_ranking(tmp_path):
    """Two studies of other models, all ranked; and two conditions that leave out one model each."""
    frame = random_accuracies().query("shots == 0").drop(columns="shots")
    others = frame.assign(model=frame["model"].str.replace("m", "n"))
    folders = [str(write_accuracies(tmp_path / name, rows)) for name, rows in (("ours", frame), ("theirs", others))]
    said, details = sentences(ReliabilityPage(folders, **OPTIONS))
    assert not any("not ranked everywhere" in text for text in said.cautions)
    for study in ("ours", "theirs"):
        assert any(text.startswith(f"Study “{study}”: one of 3 to 4 templates ranks 6 models") for text in details)
    both = random_accuracies()
    is_lone = both["model"].eq("m0") & both["shots"].eq(0) | both["model"].eq("m1") & both["shots"].ne(0)
    thinned = imported(tmp_path / "thinned", both[~is_lone | both["template"].eq("p0")])
    said, _ = sentences(ReliabilityPage([str(thinned)], **OPTIONS))
    assert any(text.startswith("2 models are not ranked everywhere: ") for text in said.cautions)


def test_ranges_and_sure_orders_are_said_of_each_study(tmp_path):
    """Two studies were one: of 3 and 4 templates the page said 3.5."""
    frame = random_accuracies().query("shots == 0 and task == 'reading'").drop(columns="shots")
    fewer = frame[frame["template"] != "p0"].assign(accuracy=lambda rows: rows["accuracy"] / 2)
    folders = [str(write_accuracies(tmp_path / name, rows)) for name, rows in (("ours", frame), ("theirs", fewer))]
    _, details = sentences(ReliabilityPage(folders, **OPTIONS))
    for name, rows, number in (("ours", frame, 4), ("theirs", fewer, 3)):
        ends = rows.groupby("model")["accuracy"].agg(["min", "max"])
        mean = (ends["max"] - ends["min"]).mean()
        start = f"Study “{name}”: the best and the worst template of a task differ by {mean:.3f} on average; SD"
        assert sum(text.startswith(start) for text in details) == 1
        sure = [text for text in details if f"of 15 pairs keep their order under {number} other templates" in text]
        assert len(sure) == 1 and sure[0].startswith(f"Study “{name}”: ")


def test_rankings_that_binomial_error_explains_are_counted_over_studies_and_conditions():
    rows = pd.DataFrame({
        "study": ["s", "s", "t"], "condition": "c", "task": ["quiz", "reading", "quiz"], "n_tasks": 1,
        "n_tasks_asked": 1, "n_templates": 9, "n_models": 99, "model_template_least": [-0.1, 0.1, 0.1],
    })  # fmt: skip
    scores = rows.assign(model="m")
    for rankings, told in ((rows, "in 1 of 3 rankings, by quiz:"), (rows[:2], "differently in quiz:")):
        said = list(accuracy_sentences._list_accuracy_cautions(scores, rankings, scores))
        assert len(said) == 2 and told in said[1]


def test_of_tasks_without_a_common_mean_sentences_name_the_task(tmp_path):
    frame = random_accuracies().query("shots == 0").drop(columns="shots")
    apart = frame.assign(model=frame["model"].mask(frame["task"] == "quiz", "q-" + frame["model"]))
    page = ReliabilityPage([str(imported(tmp_path, apart))], **OPTIONS)
    _, details = sentences(page)
    assert page.pop_answer_sentences_as_html("wording_ranking").count('<p class="said">Task ') == 2
    for end in (" is first, and expected", " pairs keep their order under "):
        assert [text.partition(":")[0] for text in details if end in text] == ["Task reading", "Task quiz"]
    assert not any(len(text.split(". ")[0].split()) > 30 for text in details)


def test_sentences_that_name_study_condition_and_task_are_not_too_long(tmp_path):
    both, quiz = random_accuracies(), random_accuracies(seed=3).query("task == 'quiz'")
    folders = [str(write_accuracies(tmp_path / name, rows)) for name, rows in (("ours", both), ("theirs", quiz))]
    _, details = sentences(ReliabilityPage(folders, **OPTIONS))
    assert sum(text.startswith("Study “ours”, condition shots 0, mean over tasks: ") for text in details) == 2
    assert not too_long(*details)


def test_one_model_is_not_ranked(tmp_path):
    frame = random_accuracies(models=1)
    said, _ = sentences(ReliabilityPage([str(imported(tmp_path, frame))], **OPTIONS))
    assert said.verdict.startswith("Two models and two templates that both have would be needed")


def test_answers_and_accuracies_stand_on_one_page(tmp_path):
    own = write_run(tmp_path / "own", random_frame(["a", "b"], items=8, paraphrases=4).assign(mass=0.9))
    page = ReliabilityPage([str(own), str(imported(tmp_path, random_accuracies()))], **OPTIONS)
    said, _ = sentences(page)
    of_own = ReliabilityPage([str(own)], **OPTIONS)
    alone = narrative.answer_page_question({name: of_own.frame(name) for name in narrative.TABLES})
    assert said.verdict == alone.verdict
    assert "The answer leaves out the accuracies of “acc”." in said.cautions
    (of_accuracies,) = (text for text in said.cautions if text.startswith("These are accuracies without answers"))
    assert of_accuracies.endswith(" That is about the accuracies of “acc”.")
    for name in ("template_reliability", "template_pairs"):
        assert said.details[name][0] == "What follows is about the accuracies of “acc”."
    assert said.details["wording_ranking"].index("What follows is about the accuracies of “acc”.") > 0
    with captions_only():
        assert page.figure("wordings_needed", instead="template_reliability").text.count("<figure ") == 2
        assert (
            page.figure("wording_ranking", instead="wording_ranking").text.count("<figure ") == 2
        )  # one of each study
    assert set(page.frame("wording_ranking")["task"]) == {"", "all", "reading", "quiz"}


@pytest.mark.skipif(not NOREVAL.is_file(), reason="shared data are not there")
def test_noreval(tmp_path):
    """12 of 60 models, 8 tasks with 5 to 7 templates, asked without examples: the figures that sentences quote."""
    frame = pd.read_csv(NOREVAL, dtype={"template": str, "shots": str})
    frame = frame[(frame["shots"] == "0") & frame["model"].isin(sorted(frame["model"].unique())[::5])]
    opened, frame = runs.open_runs(imported(tmp_path, frame)), frame.assign(shots="shots 0")
    found = accuracies.tabulate_ranking_reliability_of_templates(opened)
    assert len(found) == 9
    for row in found[found["task"] != "all"].to_dict("records"):
        own = frame[(frame["task"] == row["task"]) & (frame["shots"] == row["condition"])]
        wide = own.pivot(index="model", columns="template", values="accuracy").dropna(axis=1)
        check(row, wide.to_numpy())
    assert (found["one_upper"] - found["one_lower"]).min() > 0
    for name in ("one", "four"):
        assert (found[f"{name}_lower"] >= 0).all() and (found[f"{name}_upper"] <= 1).all()
        assert found[name].between(found[f"{name}_lower"], found[f"{name}_upper"]).all()
    scores = templates.tabulate_accuracy_summaries_over_templates(opened)
    for name in ("mean", "lowest", "highest", "range", "q05", "q50", "q95", "gain", "saturation", "combined"):
        low, high = scores[f"{name}_lower"], scores[f"{name}_upper"]
        assert (low >= 0).all() and (high <= 1).all() and scores[name].between(low - 1e-12, high + 1e-12).all(), name
    assert (scores["highest_corrected"] <= scores["highest"]).all()
    ranks = comparisons.tabulate_model_ranking(opened)
    assert ranks["rank"].between(ranks["rank_lower"], ranks["rank_upper"]).mean() > 0.95  # those of other studies
    pairs = accuracies.tabulate_same_order_probabilities(opened)
    for name in ("kept_one", "same_wordings", "same_both", "difference"):
        assert pairs[name].between(0, 1).all(), name
    ends = frame.groupby(["model", "shots", "task"])["accuracy"].agg(["min", "max"])
    for shots, part in scores.groupby("condition"):
        own = ends.xs(shots, level="shots")
        assert part["range"].mean() == pytest.approx(float((own["max"] - own["min"]).mean()), abs=1e-12)


def test_of_many_rankings_it_is_said_which_ones_have_sentences():
    rows = pd.DataFrame({"study": "s", "condition": list("abcd"), "task": "quiz"})
    assert list(accuracy_sentences._describe_number_of_told_rankings(rows)) == [
        "Sentences here and below are about the first 3 of 4 rankings; the tables have all."
    ]
    assert list(accuracy_sentences._describe_number_of_told_rankings(rows[:3])) == []
