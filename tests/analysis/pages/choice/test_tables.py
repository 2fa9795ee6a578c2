"""The tables on multiple choice, compared with plain loops over the answers."""

from __future__ import annotations

import functools
import itertools
import json
import math

import numpy as np
import pandas as pd
import pytest

from analysis import runs
from analysis.measures.choices import PER_BYTE, read_choice_studies
from analysis.pages.choice import printed
from analysis.reporting.catalogue import tables
from analysis.reporting.catalogue.published_numbers import OURS
from analysis.statistics.interval import ONE_ITEM
from ground.errors import InputError
from helpers.choice_runs import (
    AWARE,
    LETTER,
    TEXT,
    TEXTS,
    WORDINGS,
    always,
    answers,
    meant,
    questions,
    right,
    textbook,
    write_choice,
)  # fmt: skip
from helpers.synthetic import edit_run_json

pytestmark = pytest.mark.slow

ASKED = questions(30, subsets=("general knowledge", "math reasoning", None))
WAYS = [LETTER, TEXTS, TEXT, AWARE]
TABLES = ("choice", "choice_classes", "choice_consistency")


@pytest.fixture(scope="module")
def rows():
    return answers(ASKED, ["a", "b"], conditions=WAYS, unparsed=0.1)


@pytest.fixture(scope="module")
def run(rows, tmp_path_factory):
    adapter = {"name": "b", "base": "a", "revision": "r", "settings": {}}
    folder = tmp_path_factory.mktemp("choice") / "run"
    return runs.open_runs(write_choice(folder, rows, models={"b": {"stage": "tuned", "adapter": adapter}}))


def per_byte(row):
    """The option with the highest log-probability for each byte of its text."""
    texts = [row["attributes"][f"choice_{letter}"] for letter in row["canonical"]]
    scores = [score / len(text.encode()) for score, text in zip(row["logprob"], texts, strict=True)]
    return row["options"][scores.index(max(scores))]


def unit(rows, row):
    """The answers behind a row of a table."""
    name = row["condition"]
    part = rows[(rows["model"] == row["model"]) & (rows["condition"] == name.removesuffix(PER_BYTE))]
    if row.get("subset", "all") != "all":
        subset = part["attributes"].map(lambda given: given.get("subset", "none"))
        part = part[subset == row["subset"]]
    return part.assign(answer=[per_byte(own) for own in part.to_dict("records")]) if name.endswith(PER_BYTE) else part


@pytest.fixture(scope="module")
def unit_of(rows):
    """The answers of a model under a condition, of a subset or all, taken out once: many rows of tables are of them."""
    return functools.cache(
        lambda model, condition, subset: unit(rows, {"model": model, "condition": condition, "subset": subset})
    )


@pytest.fixture(scope="module")
def textbook_of(unit_of):
    """The measures of such answers by plain loops, worked out once."""
    return functools.cache(lambda *key: textbook(unit_of(*key)))


def key_of(row):
    return row["model"], row["condition"], row.get("subset", "all")


def same(row, expected):
    compared = [name for name in expected if name in row]
    assert compared
    for name in compared:
        assert row[name] == pytest.approx(expected[name], abs=1e-12), (name, row["condition"], row["subset"])


@pytest.mark.parametrize("table", TABLES)
def test_measures_are_those_of_the_paper_by_plain_loops(textbook_of, run, table):
    frame = tables.build_table(table, run, resamples=20)
    assert len(frame) == 2 * 5 * 4  # models, readings, subsets and all
    for row in frame.to_dict("records"):
        same(row, textbook_of(*key_of(row)))


def test_shares_of_the_classes_and_what_is_changed_are_the_rest(run):
    classes = tables.build_table("choice_classes", run, resamples=0)
    shares = classes[["confident", "inconsistent", "unconfident"]]
    assert shares.sum(axis=1).tolist() == pytest.approx([1] * len(classes), abs=1e-12)
    assert (shares["confident"] * classes["n_questions"]).tolist() == pytest.approx(classes["n_confident"].tolist())
    kept = tables.build_table("choice_consistency", run, resamples=0)
    assert (kept["changed"] + kept["same_throughout"]).tolist() == pytest.approx([1] * len(kept), abs=1e-12)


def test_the_reading_per_byte_differs_from_that_of_whole_texts(run):
    frame = tables.build_table("choice", run, resamples=0)
    whole, divided = (frame[frame["condition"] == name].reset_index() for name in (TEXTS, TEXTS + PER_BYTE))
    assert len(whole) == len(divided) > 0
    assert (whole["accuracy"] != divided["accuracy"]).any()
    assert list(frame["condition"].unique()) == [LETTER, TEXTS, TEXTS + PER_BYTE, TEXT, AWARE]


def test_probabilities_without_logarithms_are_read_per_byte_by_their_logarithms(tmp_path):
    """Runs have none where probabilities are bounds; one that is 0 is the least likely choice."""
    rows = answers(ASKED, conditions=[TEXTS])
    bare = rows.assign(
        logprob=None, probability=[[p if p > min(row) else 0.0 for p in row] for row in rows["probability"]]
    )
    bare["mass"] = bare["probability"].map(sum)
    found = [tables.build_table("choice", runs.open_runs(write_choice(tmp_path / name, given)), resamples=0)
             for name, given in (("with", rows), ("without", bare))]  # fmt: skip
    divided = [frame.set_index("condition").loc[TEXTS + PER_BYTE, ["accuracy", "xparacon", "no_choice"]]
               for frame in found]  # fmt: skip
    assert (divided[0].to_numpy() == divided[1].to_numpy()).all()


def test_each_wording_by_itself(unit_of, run):
    frame = tables.build_table("choice_wordings", run, resamples=20)
    ours = frame[frame["source"] == OURS]
    assert len(ours) == 2 * 5 * 4 * 3
    for row in ours.to_dict("records"):
        part = unit_of(*key_of(row))
        expected = textbook(part[part["pattern"] == row["wording"]])
        same(row, {name: expected[name] for name in ("n_questions", "accuracy", "perfectly_correct")})
    assert len(frame) == len(ours) + 6


def test_shares_of_letters(unit_of, run):
    frame = tables.build_table("positions", run, resamples=20)
    answers_of = functools.cache(lambda model, condition: unit_of(model, condition, "all").to_dict("records"))
    for row in frame.to_dict("records"):
        said = answers_of(row["model"], row["condition"])
        if row["right"] != "all":
            said = [own for own in said if right(own) == row["right"]]
        wanted = None if row["letter"] == "none" else row["letter"]
        share = sum(own["answer"] == wanted for own in said) / len(said)
        assert (row["n"], row["share"]) == (len(said), pytest.approx(share, abs=1e-12))
        if row["right"] == "all":
            assert row["is_right"] == pytest.approx(sum(right(own) == row["letter"] for own in said) / len(said))
            assert row["preference"] == pytest.approx(share - row["is_right"], abs=1e-12)
            assert row["preference_lower"] < row["preference"] < row["preference_upper"]
        else:
            assert np.isnan([row["preference"], row["preference_lower"], row["preference_upper"]]).all()
    whole = frame[frame["right"] == "all"].groupby(["model", "condition"])["share"].sum()
    assert whole.tolist() == pytest.approx([1] * 10)


def test_a_letter_is_mapped_to_the_choice_that_it_stands_for_also_where_it_is_wrong(tmp_path):
    """The letter that is chosen is always that of one wrong choice, wherever it stands: the same choice throughout."""
    wrong = {item: next(letter for letter in "ABCD" if letter != gold)
             for item, gold in zip(ASKED["item"], ASKED["gold"], strict=True)}  # fmt: skip
    rows = always(ASKED, lambda row: row["options"][row["canonical"].index(wrong[row["item"]])])
    run = runs.open_runs(write_choice(tmp_path / "run", rows))
    found = tables.build_table("choice_consistency", run, resamples=0).iloc[0]
    assert (found["same_throughout"], found["same_letter"]) == (1, 0)
    whole = tables.build_table("choice", run, resamples=0).iloc[0]
    assert (whole["accuracy"], whole["xparacon"], whole["n_varying"]) == (0, math.inf, 0)
    (study,) = read_choice_studies(run)
    taken = {(item, study.letters[code]) for item, codes in zip(study.items, study.chosen_letter, strict=True)
             for code in codes.ravel()}  # fmt: skip
    assert taken == set(wrong.items())


def test_a_model_that_says_one_letter_keeps_it_and_changes_its_choice(tmp_path):
    run = runs.open_runs(write_choice(tmp_path / "run", always(ASKED, lambda row: "A")))
    found = tables.build_table("choice_consistency", run, resamples=0).iloc[0]
    assert (found["same_letter"], found["same_in_wordings"]) == (1, 1)
    assert found["same_in_orders"] == found["same_throughout"] < 0.1
    letters = tables.build_table("positions", run, resamples=0)
    assert letters.loc[letters["letter"] == "A", "share"].eq(1).all()


def test_where_nothing_varies_xparacon_is_infinite_and_has_a_lower_end(tmp_path):
    run = runs.open_runs(write_choice(tmp_path / "run", always(ASKED, right)))
    row = tables.build_table("choice", run, resamples=20).iloc[0]
    assert (row["accuracy"], row["perfectly_correct"], row["xparacon"]) == (1, 1, math.inf)
    assert row["xparacon_upper"] == math.inf
    # Wilson's upper end for 0 of 30, as a share of the largest SD, sqrt(2) / 3.
    z2 = 1.959963984540054**2
    assert row["xparacon_lower"] == pytest.approx(-math.log2(z2 / (30 + z2) * math.sqrt(2) / 3), abs=1e-9)
    assert row["no_interval"] == ""


def test_texts_that_are_no_choice_are_wrong_and_counted(tmp_path):
    rows = always(ASKED, lambda row: None if row["variant"] == "original/1" else right(row))
    row = tables.build_table("choice", runs.open_runs(write_choice(tmp_path / "run", rows)), resamples=0).iloc[0]
    assert (row["no_choice"], row["accuracy"]) == (30, pytest.approx(23 / 24))
    assert row["validity"] == pytest.approx(23 / 24)
    assert row["mean_sd"] == pytest.approx(np.std([7 / 8, 1, 1]), abs=1e-12)


def test_the_reading_is_told_and_what_the_other_one_reads_otherwise_is_counted(tmp_path):
    """Two samples per answer; of every fifth answer, one is read otherwise: 144 texts of 720 answers."""
    rows = always(ASKED, right).assign(output=[["x", "y"]] * len(ASKED))
    rows["read_otherwise"] = [int(number % 5 == 0) for number in range(len(rows))]
    letters = always(ASKED, right, condition=LETTER)
    run = write_choice(tmp_path / "run", pd.concat([rows, letters]), reading="letter")
    table = (
        tables.build_table("choice", runs.open_runs(run), resamples=0).query("subset == 'all'").set_index("condition")
    )
    assert tuple(table.loc[TEXT, ["reading", "n_texts", "read_otherwise"]]) == ("letter", 1440, 144)
    assert table.loc[LETTER, "reading"] == "" and table.loc[LETTER, ["n_texts", "read_otherwise"]].isna().all()


def test_texts_that_nobody_counted_have_no_number(tmp_path):
    run = write_choice(tmp_path / "run", always(ASKED, right), reading="strict")
    row = tables.build_table("choice", runs.open_runs(run), resamples=0).iloc[0]
    assert row["reading"] == "strict" and math.isnan(row["read_otherwise"])


def test_two_options_that_are_equally_likely_are_no_choice(tmp_path):
    asked = questions(4, choices=(4,))
    rows = asked.assign(model="m", condition=LETTER, answer="A", mass=0.8)
    rows["probability"] = [[0.3, 0.3, 0.1, 0.1]] * len(rows)
    row = tables.build_table("choice", runs.open_runs(write_choice(tmp_path / "run", rows)), resamples=0).iloc[0]
    assert (row["no_choice"], row["accuracy"], row["validity"]) == (len(rows), 0, pytest.approx(0.8))


def test_of_samples_the_option_that_most_have_is_the_choice(tmp_path):
    rows = questions(3, choices=(4,)).assign(model="m", condition="plain/base/text", answer=None, invalid=1)
    rows["count"] = [[2 if letter == right(row) else 1 for letter in row["options"]] for row in rows.to_dict("records")]
    row = tables.build_table("choice", runs.open_runs(write_choice(tmp_path / "run", rows)), resamples=0).iloc[0]
    assert (row["accuracy"], row["validity"]) == (1, pytest.approx(5 / 6))


def test_differences_and_changes_are_those_of_the_measures(textbook_of, run):
    frames = {name: tables.build_table(f"choice_{name}", run, resamples=50) for name in ("differences", "changes")}
    assert set(frames["differences"]["a_condition"]) == {LETTER, TEXTS, TEXTS + PER_BYTE, TEXT, AWARE}
    kinds = frames["changes"].groupby("change").size() / 12  # subsets and measures
    assert kinds.to_dict() == {"tuning": 5, "prompt": 2, "tuning and prompt": 1}
    named = {"differences": ("a_{}", "b_{}", "a", "b"), "changes": ("{}_after", "{}_before", "after", "before")}
    for name, (one, other, first, second) in named.items():
        for row in frames[name].to_dict("records"):
            sides = [
                textbook_of(row[side.format("model")], row[side.format("condition")], row["subset"])[row["measure"]]
                for side in (one, other)
            ]
            assert [row[first], row[second]] == pytest.approx(sides, abs=1e-12)
            assert row["difference"] == pytest.approx(sides[0] - sides[1], abs=1e-12)
            assert row["lower"] < row["difference"] < row["upper"] and row["p"] <= row["p_holm"]
    both = frames["changes"][frames["changes"]["change"] == "tuning and prompt"].iloc[0]
    assert [both[f"{key}_{side}"] for side in ("before", "after") for key in ("model", "condition")] == [
        "a", TEXT, "b", AWARE,
    ]  # fmt: skip


def test_where_one_xparacon_is_infinite_there_is_no_difference_but_a_test(tmp_path):
    rows = pd.concat([always(ASKED, right, "sure"), answers(ASKED, ["other"], conditions=[TEXT])])
    frame = tables.build_table(
        "choice_differences", runs.open_runs(write_choice(tmp_path / "run", rows)), resamples=200
    )
    row = frame[frame["measure"] == "xparacon"].iloc[0]
    assert (row["a"], math.isfinite(row["b"])) == (math.inf, True)
    assert np.isnan([row["difference"], row["lower"], row["upper"]]).all()
    assert row["p"] < 0.05


def test_a_difference_over_one_question_says_why_it_has_no_interval(tmp_path):
    """In the words of other tables."""
    rows = answers(ASKED[ASKED["item"] == ASKED["item"].iloc[0]], ["a", "b"], conditions=[TEXT])
    frame = tables.build_table("choice_differences", runs.open_runs(write_choice(tmp_path / "run", rows)), resamples=50)
    row = frame[frame["measure"] == "xparacon"].iloc[0]
    assert math.isnan(row["lower"]) and row["no_interval"] == ONE_ITEM


def test_answers_to_two_prompt_files_are_not_compared(tmp_path):
    own = {AWARE: "mine/aware/text", TEXT: "mine/base/text"}
    path = write_choice(tmp_path / "run", answers(questions(5, 2), ["a", "b"], conditions=[*own, *own.values()]))
    conditions = json.loads((path / "run.json").read_text())["conditions"]
    edit_run_json(path, conditions={name: {**fields, "form": "plain"} for name, fields in conditions.items()})
    run = runs.open_runs(path)
    pairs = tables.build_table("choice_differences", run, resamples=0)
    assert (pairs["a_condition"] == pairs["b_condition"]).all() and pairs["a_condition"].nunique() == 4
    prompts = tables.build_table("choice_changes", run, resamples=0)
    assert set(zip(prompts["condition_after"], prompts["condition_before"], strict=True)) == {
        (AWARE, TEXT), (own[AWARE], own[TEXT])
    }  # fmt: skip


@pytest.mark.parametrize("way", [{"answer": "thought"}, {"budget": 128}, {"shots": "5"}])
def test_answers_that_were_asked_for_otherwise_are_not_compared(tmp_path, way):
    """Exact probabilities of one model were compared with those after thoughts of another, as asked in the same way."""
    other = {AWARE: "other/aware/text", TEXT: "other/base/text"}
    path = write_choice(tmp_path / "run", answers(questions(5, 2), ["a", "b"], conditions=[*other, *other.values()]))
    conditions = json.loads((path / "run.json").read_text())["conditions"]
    edit_run_json(path, conditions={
        name: {**fields, "form": "plain", "prompt": None, **(way if "other" in name else {})}
        for name, fields in conditions.items()
    })  # fmt: skip
    run = runs.open_runs(path)
    pairs = tables.build_table("choice_differences", run, resamples=0)
    assert (pairs["a_condition"] == pairs["b_condition"]).all() and pairs["a_condition"].nunique() == 4
    prompts = tables.build_table("choice_changes", run, resamples=0)
    assert set(zip(prompts["condition_after"], prompts["condition_before"], strict=True)) == {
        (AWARE, TEXT), (other[AWARE], other[TEXT])
    }  # fmt: skip


def test_a_prompt_is_compared_with_the_base_prompt_of_the_same_reading(tmp_path):
    """Texts under the aware prompt, read per byte, were compared with whole ones under the base prompt."""
    rows = answers(questions(5, 2), ["a"], conditions=[TEXTS, "plain/aware/texts"])
    run = runs.open_runs(write_choice(tmp_path / "run", rows))
    prompts = tables.build_table("choice_changes", run, resamples=0)
    assert set(zip(prompts["condition_after"], prompts["condition_before"], strict=True)) == {
        ("plain/aware/texts", TEXTS), ("plain/aware/texts" + PER_BYTE, TEXTS + PER_BYTE)
    }  # fmt: skip


def test_a_subset_called_all_is_not_taken_for_all_questions(tmp_path):
    """Its questions stood in the rows of all questions, and the page's verdict was about them."""
    rows = answers(questions(9, 2, subsets=("all", "some", "subset all")), ["a", "b"])
    path = write_choice(tmp_path / "run", rows)
    table = tables.build_table("choice", runs.open_runs(path), resamples=0)
    assert table["model"].tolist() == ["a"] * 4 + ["b"] * 4  # the rows of a model stand together
    counts = table.groupby("subset")["n_questions"].first()
    assert counts.to_dict() == {"all": 9, "some": 3, "subset all": 3, "subset subset all": 3}


@pytest.mark.parametrize(("seeds_of_b", "n_pairs"), [((3,), 2), ((2, 3), 1)])
def test_models_of_other_seeds_are_compared_where_they_share_none(tmp_path, seeds_of_b, n_pairs):
    """Logs of model a with seeds 1 and 2 were compared with no log of b, as if a seed were a way of asking."""
    seeds = {"a": (1, 2), "b": seeds_of_b}
    rows = pd.concat([
        answers(questions(5, 2), [model], conditions=[f"seed={seed}/base/text" for seed in seeds[model]])
        for model in seeds
    ])  # fmt: skip
    path = write_choice(tmp_path / "run", rows)
    conditions = json.loads((path / "run.json").read_text())["conditions"]
    edit_run_json(path, conditions={
        name: {**fields, "form": "import", "prompt": None, "seed": int(name[5])} for name, fields in conditions.items()
    })  # fmt: skip
    pairs = tables.build_table("choice_differences", runs.open_runs(path), resamples=0)
    assert len(pairs[pairs["measure"] == "accuracy"]) == n_pairs
    assert n_pairs == 2 or (pairs["a_condition"] == pairs["b_condition"]).all()


def test_models_are_compared_on_the_questions_that_both_were_asked(tmp_path):
    rows = answers(ASKED, ["a", "b"], conditions=[LETTER])
    some = rows[(rows["model"] == "a") | (rows["item"] < "q020")]
    run = runs.open_runs(write_choice(tmp_path / "run", some))
    assert tables.build_table("choice", run, resamples=0).query("subset == 'all'")["n_questions"].tolist() == [30, 20]
    row = tables.build_table("choice_differences", run, resamples=0).iloc[0]
    part = rows[(rows["model"] == "a") & (rows["item"] < "q020")]
    assert (row["n_questions"], row["a"]) == (20, pytest.approx(textbook(part)["accuracy"]))


def test_two_examples_are_right_before_and_wrong_after(rows, run):
    frame = tables.build_table("choice_examples", run)
    known = {(row["model"], row["condition"], row["item"], row["variant"]): row for row in rows.to_dict("records")}
    assert sorted(frame["change"]) == sorted(["other words", "another order"] * 2)
    for row in frame.to_dict("records"):
        sides = [
            known[row["model"], row["condition"], row["item"], row[f"variant_{side}"]] for side in ("before", "after")
        ]
        texts = [own["attributes"][f"choice_{meant(own)}"] for own in sides]
        assert texts == [row["said_before"], row["said_after"]]
        assert row["said_before"] == row["right"] != row["said_after"]
        same_wording, same_order = (sides[0][key] == sides[1][key] for key in ("pattern", "canonical"))
        assert (same_wording, same_order) == ((True, False) if row["change"] == "another order" else (False, True))


def test_the_number_of_an_order_may_begin_with_a_zero(tmp_path):
    asked = questions(6, 2)
    rows = answers(asked.assign(variant=asked["variant"].str.replace("/", "/0")))
    frame = tables.build_table("choice_examples", runs.open_runs(write_choice(tmp_path / "run", rows)))
    assert len(frame) == 2 and frame["variant_before"].str.contains("/0").all()


def test_printed_tables_are_read_and_agree_with_one_another():
    performance = printed.read_printed_accuracy_and_xparacon()
    assert (len(performance), (performance["tuned"] == "yes").sum()) == (26, 6)
    second, fourth = (pd.read_csv(printed.FOLDER / f"choi_table{number}.csv") for number in (2, 4))
    kept = second[second["step"] == "after data selection"].set_index("of")["count"]
    assert (
        kept[["MMLU", "ARC", "CommonsenseQA"]].sum() == fourth.loc[fourth["of"] == "general knowledge", "count"].sum()
    )
    assert kept["MathQA"] == fourth.loc[fourth["of"] == "math reasoning", "count"].sum()
    third, fifth = (pd.read_csv(printed.FOLDER / f"choi_table{number}.csv") for number in (3, 5))
    plain = fifth[fifth["tuned"] == "no"].merge(third, on=["model", "subset"], suffixes=("", "_third"))
    assert len(plain) == 6
    assert (plain["xparacon"] == plain["xparacon_third"]).all() and (plain["accuracy"] == plain["accuracy_third"]).all()


def test_numbers_of_the_building_stand_above_the_printed_ones(tmp_path):
    rows = always(questions(2, 2), right)
    steps = [{"step": "read", "source": "arc", "count": 9, "reason": None},
             {"step": "left out", "source": "arc", "count": 7, "reason": "has a passage"}]  # fmt: skip
    frame = tables.build_table("choice_building", runs.open_runs(write_choice(tmp_path / "run", rows, building=steps)))
    assert frame.loc[frame["source"] == OURS, ["of", "count"]].to_numpy().tolist() == [["arc", 9], ["arc", 7]]
    assert len(frame) == 2 + 12 + 6


def refused(tmp_path, rows):
    with pytest.raises(InputError) as error:
        tables.build_table(
            "choice", runs.open_runs(write_choice(tmp_path / f"run-{len(list(tmp_path.iterdir()))}", rows))
        )
    return str(error.value)


def test_a_missing_response_is_named_and_not_averaged_over(tmp_path):
    rows = answers(ASKED, ["a", "b"])
    lost = (rows["model"] == "b") & (rows["item"] == "q003") & (rows["variant"] == "paraphrase-1/5")
    said = refused(tmp_path, rows[~lost])
    for word in ("'q003'", "'paraphrase_1'", "order 5", "model 'b'", "(1 lack one)"):
        assert word in said
    failed = rows.assign(error=np.where(lost, "the server hung up", None))
    assert "it failed: the server hung up" in refused(tmp_path, failed)


def test_a_question_without_a_wording_or_an_order_is_named(tmp_path):
    rows = answers(ASKED)
    said = refused(tmp_path, rows[~((rows["item"] == "q004") & (rows["pattern"] == WORDINGS[2]))])
    assert "question 'q004' lacks any order of wording 'paraphrase_2'" in said
    said = refused(tmp_path, rows[~((rows["item"] == "q004") & (rows["variant"] == "original/8"))])
    assert "question 'q004' lacks order 8 of wording 'original', which others with" in said
    longest = rows["options"].map(len) == rows["options"].map(len).max()
    said = refused(tmp_path, rows[~(longest & (rows["pattern"] == WORDINGS[2]))])
    assert "lacks any order of wording 'paraphrase_2', which others have" in said  # none with as many choices


@pytest.mark.parametrize(
    ("change", "words"),
    [({"variant": "original"}, "has no order: its name must end in the order's number"),
     ({"gold": "F"}, "gold 'F' is none of the canonical options"),
     ({"answer": "Z"}, "answer 'Z' is none of the options")],
)  # fmt: skip
def test_stimuli_and_answers_that_fit_nothing_are_refused(tmp_path, change, words):
    rows = always(questions(2, 2), right)
    rows.loc[0, list(change)] = list(change.values())
    said = refused(tmp_path, rows)
    assert words in said and "item 'q000'" in said


def test_choices_without_texts_cannot_be_divided_by_their_length(tmp_path):
    rows = answers(questions(2, 2), conditions=[TEXTS])
    rows["attributes"] = [{"order": given["order"]} for given in rows["attributes"]]
    assert "a choice has no text (attributes choice_A ...)" in refused(tmp_path, rows)


def test_questions_with_fewer_choices_may_have_fewer_orders(tmp_path):
    few = questions(4, 6, choices=(3,))
    more = questions(4, 8, choices=(4,)).assign(item=lambda frame: "z" + frame["item"])
    rows = pd.concat([always(few, right), always(more, right)])
    row = tables.build_table("choice", runs.open_runs(write_choice(tmp_path / "run", rows)), resamples=0).iloc[0]
    assert (row["n_questions"], row["n"], row["accuracy"]) == (8, 4 * 3 * 14, 1)


def test_accuracy_weighs_answers_alike_where_questions_have_different_numbers_of_orders(tmp_path):
    few, more = questions(4, 6, choices=(3,)), questions(4, 8, choices=(4,)).assign(item=lambda f: "z" + f["item"])
    rows = pd.concat([always(few, right), always(more, lambda row: "A")])
    row = tables.build_table("choice", runs.open_runs(write_choice(tmp_path / "run", rows)), resamples=0).iloc[0]
    expected = textbook(rows)
    assert row["accuracy"] == pytest.approx(expected["accuracy"], abs=1e-12)
    assert row["mean_sd"] == pytest.approx(expected["mean_sd"], abs=1e-12)
    assert row["chance"] == pytest.approx(expected["chance"], abs=1e-12)


def test_two_studies_do_not_mix(tmp_path):
    one, two = (write_choice(tmp_path / name, answers(questions(n, 3, seed=n), seed=n), study=name)
                for name, n in (("one", 5), ("two", 9)))  # fmt: skip
    both = tables.build_table("choice", runs.open_runs(one, two), resamples=0)
    alone = pd.concat([tables.build_table("choice", runs.open_runs(folder), resamples=0) for folder in (one, two)])
    pd.testing.assert_frame_equal(both, alone.reset_index(drop=True))
    assert len(set(itertools.chain(both["study"]))) == 2
