"""The measures of wording against hand-worked examples and plain loops, and what they must and must not depend on."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from analysis import runs
from analysis.measures.agreement import CONVENTIONS
from analysis.pages.wording import cells
from analysis.pages.wording.measures import MEASURES, compute_harmonic_mean
from analysis.pages.wording.tables import tabulate_answer_consistency_by_wording_kind
from analysis.steps.wording import derive_answers_to_original_questions
from ground.errors import InputError
from helpers.textbook import wilson as textbook_wilson
from helpers.wording_runs import PATTERNS, random_rows, said, textbook, write_wording
from waver import open as open_run

pytestmark = pytest.mark.slow

COMPARED = ["n", *MEASURES]


def opened(rows: pd.DataFrame, **options) -> runs.Runs:
    with tempfile.TemporaryDirectory() as folder:
        run = runs.open_runs(write_wording(Path(folder) / "run", rows, **options))
        cells.compute_wording_item_sums_of_all_studies(run)  # what is counted is kept; the folder may go
        cells.compute_wording_item_sums_of_all_studies(run, "inconsistent")
        return run


def row(rows: pd.DataFrame, pattern: str, **options) -> pd.Series:
    table = tabulate_answer_consistency_by_wording_kind(opened(rows), resamples=options.pop("resamples", 0), **options)
    return table[table["pattern"] == pattern].iloc[0]


def test_a_hand_worked_example():
    """Five questions. Dropped: the fifth, whose answer to the antonym is invalid. Of the other four, the antonym is
    answered consistently in three (y-n, y-n, n-y); "Yes" is said once, before it was twice, as it would be unmoved."""
    found = row(said({"original": "yynny", "antonym": "nnyn-"}, ["yes", "no", "no", "no", "yes"]), "antonym")
    assert found[["n", "n_items", "valid", "consistency"]].tolist() == [4, 5, 0.8, 0.75]
    assert found[["yes", "diff_yes", "excess_yes"]].tolist() == [0.25, -0.25, -0.25]
    # right before: y=y, y≠n, n=n, n=n; after, put back: y, y, n, y
    assert found[["accuracy_original", "accuracy", "diff_acc"]].tolist() == [0.75, 0.5, -0.25]
    assert found["overall"] == pytest.approx(3 / (1 / 0.75 + 1 / 0.5 + 1 / 0.75), rel=1e-12)


def test_a_task_called_like_its_study_is_not_one_with_the_items_of_no_task(tmp_path):
    rows = pd.concat([
        said({"original": "yy", "synonym": "yy"}, task="wording"),
        said({"original": "yyy", "synonym": "nyn"}, start=2, task="other").assign(attributes=None),
    ])  # fmt: skip
    run = open_run(write_wording(tmp_path / "run", rows))
    table = run.table("consistency", resamples=0).query("pattern == 'synonym'")
    assert table.set_index("task")["n_items"].to_dict() == {"task wording": 2, "wording": 3}
    answers = derive_answers_to_original_questions(run.responses(), run.wordings(), {"wording": "yes"})
    assert answers.groupby("task")["item"].nunique().to_dict() == {"task wording": 2, "wording": 3}


def test_the_same_example_with_invalid_answers_counted():
    found = row(
        said({"original": "yynny", "antonym": "nnyn-"}, ["yes", "no", "no", "no", "yes"]), "antonym",
        invalid="inconsistent",
    )  # fmt: skip
    assert found[["n", "valid", "consistency", "yes", "diff_yes"]].tolist() == [5, 0.8, 0.6, 0.2, pytest.approx(-0.4)]
    assert found[["accuracy_original", "accuracy"]].tolist() == [0.8, 0.4]


def test_diff_yes_of_a_consistent_model_is_the_papers_equation_and_excess_is_free_of_the_inversion():
    found = row(said({"original": "ynnnnnnnnn", "antonym": "nyyyyyyyyy"}), "antonym")
    assert found[["consistency", "diff_yes", "excess_yes"]].tolist() == [1.0, pytest.approx(0.8), 0.0]


@pytest.mark.parametrize("invalid", CONVENTIONS)
def test_every_measure_equals_plain_loops_on_random_answers(invalid):
    """40 random models of 1 to 12 items each, invalid answers and missing gold labels among them; 1e-12."""
    rng = np.random.default_rng(7)
    parts = []
    for number in range(40):
        items = int(rng.integers(1, 13))
        odds = rng.dirichlet([2, 2, 0.6])
        letters = {name: rng.choice(list("yn-"), items, p=odds) for name in ("original", *PATTERNS)}
        gold = [[None, "yes", "no"][k] for k in rng.integers(number % 2, 3, items)]
        parts.append(said(letters, gold, model=f"m{number:02d}", start=20 * number))
    rows = pd.concat(parts, ignore_index=True)
    table = tabulate_answer_consistency_by_wording_kind(opened(rows), invalid=invalid, resamples=0).set_index(
        ["model", "pattern"]
    )
    for model, part in rows.groupby("model"):
        for pattern in PATTERNS:
            expected = textbook(part, pattern, invalid)
            found = table.loc[(model, pattern)]
            for name in COMPARED:
                assert found[name] == pytest.approx(expected[name], abs=1e-12, nan_ok=True), (model, pattern, name)


def test_all_templates_count_every_pair_and_resample_items():
    """Two templates per pattern: six pairs of three items, weighed alike."""
    rows = said({"original": "yyn", "synonym": "ynn"})
    more = said({"synonym": "yyy"}).assign(variant="synonym-02")
    found = row(pd.concat([rows, more]), "synonym", resamples=50)
    assert found[["n", "n_items", "consistency"]].tolist() == [6, 3, pytest.approx(4 / 6)]
    assert found["consistency_lower"] <= found["consistency"] <= found["consistency_upper"]


def join_models(made):
    """Rows of many models, each asked about questions of its own, in one run."""
    return pd.concat([
        said(letters, gold, model=f"{name}{number:02d}", start=20 * place)
        for place, (name, number, letters, gold) in enumerate(made)
    ], ignore_index=True)  # fmt: skip


def test_swapping_yes_and_no_everywhere_swaps_the_sign_of_diff_yes_alone():
    """20 random models of 1 to 9 questions, and each with all its answers and labels swapped."""
    rng, made = np.random.default_rng(8), []
    swap = {"y": "n", "n": "y", "-": "-"}
    for number in range(20):
        before, after = (list(rng.choice(list("yyynnn-"), number % 9 + 1)) for _ in range(2))
        gold = list(rng.choice(["yes", "no"], len(before)))
        for name, turn in (("a", lambda letter: letter), ("b", swap.get)):
            first, then = [turn(letter) for letter in before], [turn(letter) for letter in after]
            labels = gold if name == "a" else [{"yes": "no", "no": "yes"}[label] for label in gold]
            made.append((name, number, {"original": first, "agreement": then, "antonym": then}, labels))
    table = tabulate_answer_consistency_by_wording_kind(opened(join_models(made)), resamples=0)
    for pattern in ("agreement", "antonym"):
        own = table[table["pattern"] == pattern]
        a, b = (own[own["model"].str[0] == name].reset_index(drop=True) for name in "ab")
        assert len(a) == len(b) == 20
        same = ["n", "valid", "consistency", "accuracy_original", "accuracy", "diff_acc", "overall"]
        np.testing.assert_allclose(a[same].astype(float), b[same].astype(float), rtol=0, atol=1e-12)
        for name in ("diff_yes", "excess_yes"):
            np.testing.assert_allclose(a[name], -b[name], rtol=0, atol=1e-12)


def test_all_consistent_and_all_flipped():
    """18 random models of 1 to 9 questions."""
    rng, made = np.random.default_rng(9), []
    swap = {"y": "n", "n": "y"}
    for number in range(18):
        letters = list(rng.choice(list("yn"), number % 9 + 1))
        flipped = [swap[letter] for letter in letters]
        answers = {"original": letters, "synonym": letters, "antonym": flipped, "agreement": flipped}
        made.append(("m", number, answers, ["yes"] * len(letters)))
    tables = tabulate_answer_consistency_by_wording_kind(opened(join_models(made)), resamples=20).set_index("pattern")
    for (_, _, answers, _), (_, table) in zip(made, tables.groupby("model"), strict=True):
        letters = answers["original"]
        assert table.loc[["synonym", "antonym", "agreement"], "consistency"].tolist() == [1, 1, 0]
        assert table.loc[["synonym", "antonym"], "excess_yes"].tolist() == [0, 0]
        assert table.loc[["synonym", "antonym"], "diff_acc"].tolist() == [0, 0]
        assert table.loc["agreement", "overall"] == 0
        assert (
            table.loc["synonym", "accuracy"] == table.loc["original", "accuracy"] == letters.count("y") / len(letters)
        )


@pytest.mark.parametrize("invalid", CONVENTIONS)
def test_all_invalid_is_undefined_or_nothing(invalid):
    found = row(said({"original": "---", "synonym": "---"}, ["yes"] * 3), "synonym", invalid=invalid, resamples=20)
    assert found["valid"] == 0
    if invalid == "dropped":
        assert found["n"] == 0
        assert found[["consistency", "diff_yes", "accuracy", "overall", "consistency_lower"]].isna().all()
    else:
        assert found[["n", "consistency", "diff_yes", "accuracy", "overall"]].tolist() == [3, 0, 0, 0, 0]


def test_one_item_has_wide_intervals():
    found = row(said({"original": "y", "synonym": "y"}, ["yes"]), "synonym", resamples=50)
    assert found[["n", "consistency", "overall"]].tolist() == [1, 1, 1]
    wilson = binomtest(1, 1).proportion_ci(0.95, method="wilson")
    assert found[["consistency_lower", "consistency_upper"]].tolist() == pytest.approx([wilson.low, 1])
    assert found[["overall_lower", "overall_upper"]].tolist() == pytest.approx([wilson.low, 1])
    assert found["no_interval"] == ""


def test_unanimous_answers_are_no_certainty():
    """Eleven questions, all consistent, all "No" before and after: [1, 1] of Consistency and [0, 0] of DiffYes were."""
    found = row(said({"original": "n" * 11, "synonym": "n" * 11}, ["no"] * 11), "synonym", resamples=50)
    assert found[["consistency", "diff_yes", "overall"]].tolist() == [1, 0, 1]
    wilson = binomtest(11, 11).proportion_ci(0.95, method="wilson")
    assert found[["consistency_lower", "consistency_upper"]].tolist() == pytest.approx([wilson.low, 1])
    spread = 1 - wilson.low  # both shares are 0 of 11; without any variation their correlation counts as 0
    assert found[["diff_yes_lower", "diff_yes_upper"]].tolist() == pytest.approx([-spread, spread])
    assert found[["overall_lower", "overall_upper"]].tolist() == pytest.approx(
        [wilson.low, 1]
    )  # as if it were one share
    assert found["no_interval"] == ""


def test_the_original_has_its_share_of_yes_and_accuracy_and_nothing_to_compare():
    found = row(said({"original": "yyn-", "synonym": "yyyy"}, ["yes", "no", "no", "no"]), "original")
    assert found[["n", "valid", "yes", "accuracy"]].tolist() == [3, 0.75, pytest.approx(2 / 3), pytest.approx(2 / 3)]
    assert found[["consistency", "diff_yes", "overall"]].isna().all()


def test_harmonic_mean_is_zero_where_a_part_is_and_undefined_where_one_is():
    parts = [np.array([0.5, 0.0, np.nan, 1.0]), np.array([1.0, 1.0, 0.0, 1.0])]
    np.testing.assert_allclose(compute_harmonic_mean(*parts), [2 / 3, 0, np.nan, 1])


def test_intervals_of_shares_are_those_of_scipy_and_that_of_overall_follows_its_influences():
    """Wilson over the valid pairs: 1e-12. Overall: n follows from slopes over the items' weights, taken numerically."""
    rng = np.random.default_rng(1)
    letters = {name: rng.choice(list("yn-"), 30, p=[0.5, 0.4, 0.1]) for name in ("original", "agreement")}
    gold = rng.choice(["yes", "no"], 30)
    found = row(said(letters, list(gold)), "agreement", resamples=400)
    used = (letters["original"] != "-") & (letters["agreement"] != "-")
    same = used & (letters["original"] == letters["agreement"])
    wilson = binomtest(int(same.sum()), int(used.sum())).proportion_ci(0.95, method="wilson")
    ends = found[["consistency_lower", "consistency_upper"]].to_numpy(float)
    np.testing.assert_allclose(ends, [wilson.low, wilson.high], atol=1e-12)
    before, after = (letters[name] == gold.astype("U1") for name in ("original", "agreement"))
    parts = np.array([hits[used] for hits in (before, after, same)], float)
    ends = found[["overall_lower", "overall_upper"]].to_numpy(float)
    more = np.column_stack([parts, np.ones(3), np.zeros(3)])  # an item that is all "yes", and one that is all "no"
    weights = 1 + 1e-6 * np.eye(more.shape[1])
    value = float(compute_harmonic_mean(*more.mean(axis=1, keepdims=True))[0])
    slopes = (compute_harmonic_mean(*(more @ weights.T / weights.sum(axis=1))) - value) / 1e-6
    n = value * (1 - value) / (slopes**2).sum() - 2
    np.testing.assert_allclose(
        ends, textbook_wilson(float(compute_harmonic_mean(*parts.mean(axis=1, keepdims=True))[0]), n), rtol=1e-4
    )


def test_sampled_answers_say_what_most_samples_say():
    rows = said({"original": "---", "synonym": "---"})
    rows["count"] = [[3, 1], [1, 3], [2, 2]] * 2
    rows.loc[rows["variant"] == "synonym", "count"] = pd.Series([[4, 0], [3, 1], [4, 0]], index=[3, 4, 5])
    found = row(rows, "synonym")
    assert found[["n", "valid", "consistency"]].tolist() == [2, 1, 0.5]


def test_languages_tasks_conditions_and_models_stay_apart(tmp_path):
    rows = random_rows(["a", "b"], items=5, conditions=["chat/0-shot", "plain/4-shot"],
                       cells=[("en", "morality"), ("ja", "sentiment")])  # fmt: skip
    table = tabulate_answer_consistency_by_wording_kind(
        runs.open_runs(write_wording(tmp_path / "run", rows)), resamples=0
    )
    assert len(table) == 2 * 2 * 2 * 5
    assert list(table["pattern"].iloc[:5]) == ["original", *PATTERNS]
    for (model, language, condition), part in rows.groupby(["model", "language", "condition"]):
        ours = table[(table["model"] == model) & (table["language"] == language) & (table["condition"] == condition)]
        assert ours.set_index("pattern").loc["antonym", "consistency"] == pytest.approx(
            textbook(part, "antonym")["consistency"], abs=1e-12
        )


def test_several_folders_are_one_table_and_other_protocols_are_left_aside(tmp_path):
    from helpers.synthetic import random_frame, write_run

    one = write_wording(tmp_path / "one", random_rows(items=4), study="one")
    two = write_wording(tmp_path / "two", random_rows(items=4, cells=[("ja", "morality")]), study="two")
    other = write_run(tmp_path / "three", random_frame(items=2), study="opinions")
    table = tabulate_answer_consistency_by_wording_kind(runs.open_runs(one, other, two), resamples=0)
    assert list(table["study"].unique()) == ["one", "two"]
    with pytest.raises(InputError, match="no run of the protocol 'wording'"):
        tabulate_answer_consistency_by_wording_kind(runs.open_runs(other))


def test_a_study_without_tasks_is_its_own_task(tmp_path):
    rows = said({"original": "yn", "synonym": "yn"}).drop(columns="attributes")
    table = tabulate_answer_consistency_by_wording_kind(
        runs.open_runs(write_wording(tmp_path / "run", rows, study="mine")), resamples=0
    )
    assert set(table["task"]) == {"mine"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pattern": "rhyme"}, "unknown pattern rhyme"),
        ({"pattern": "original"}, "2 original questions"),
        ({"answer": "perhaps"}, "answer 'perhaps' is none of the options"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_one_line(tmp_path, change, message):
    rows = said({"original": "yn", "synonym": "yn"})
    rows.loc[rows["variant"] == "synonym", list(change)] = list(change.values())
    with pytest.raises(InputError, match=message) as error:
        tabulate_answer_consistency_by_wording_kind(runs.open_runs(write_wording(tmp_path / "run", rows)))
    assert "\n" not in str(error.value)


def test_labels_may_have_apostrophes(tmp_path):
    rows, names = random_rows(items=4), {"yes": "d'accord", "no": "pas d'accord"}
    renamed = rows.assign(answer=rows["answer"].map(names), gold=rows["gold"].map(names))
    made = [write_wording(tmp_path / "run", rows),
            write_wording(tmp_path / "renamed", renamed, canonical=tuple(names.values()))]  # fmt: skip
    pd.testing.assert_frame_equal(
        *(tabulate_answer_consistency_by_wording_kind(runs.open_runs(path), resamples=0) for path in made)
    )


def test_a_part_without_originals_is_not_called_a_fault_of_the_file(tmp_path):
    run = open_run(write_wording(tmp_path / "run", said({"original": "yn", "synonym": "yn"})))
    with pytest.raises(InputError, match="has 0 original questions in this part; it needs one"):
        run.where("pattern <> 'original'").table("consistency")


def test_an_unknown_convention_is_refused(tmp_path):
    run = runs.open_runs(write_wording(tmp_path / "run", said({"original": "y", "synonym": "y"})))
    with pytest.raises(InputError, match="dropped or inconsistent"):
        tabulate_answer_consistency_by_wording_kind(run, invalid="ignored")


def test_a_condition_that_was_asked_of_a_share_of_the_wordings_is_left_out(tmp_path):
    """`waver run --text-share`: it is in no table of units, and ended every table of the page in a KeyError."""
    rows = said({"original": "yynn", "synonym": "yyyn"})
    texts = rows[rows["item"] < "i002"].assign(condition="chat/0-shot/text")
    prompt = {"prompt": None, "prompt_hash": "h"}
    conditions = {"chat/0-shot": prompt, "chat/0-shot/text": {**prompt, "answer": "text", "share": 0.5}}
    path = write_wording(tmp_path / "run", pd.concat([rows, texts], ignore_index=True), conditions=conditions)
    table = tabulate_answer_consistency_by_wording_kind(runs.open_runs(path), resamples=0)
    assert set(table["condition"]) == {"chat/0-shot"}
