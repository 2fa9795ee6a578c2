"""Building a study whole: what each step asks, keeps, counts and resumes."""

from __future__ import annotations

import csv
import json
import random
from dataclasses import replace

import pytest

from ground.errors import InputError, RunFailed
from helpers.choice_models import BEGINNINGS, JUDGE, loader, plan, reword, rewording, right
from helpers.commands import ROOT, waver
from inference.protocols.choice.building import selecting
from inference.protocols.choice.building.building import (
    build_study_in_steps,
    read_questions_and_equal_choices_of_files,
    write_questions,
)
from inference.stimuli import questions

pytestmark = pytest.mark.slow

THINGS = ("tea", "milk", "sugar", "lemon", "honey", "mint")
ENDS = {f"when they want to have some {thing} in it?": thing for thing in THINGS}
SUBSETS = ("math reasoning", "general knowledge")
OTHERS = ("sand", "stone", "wood")
FULL = [
    {
        "item": thing,
        "question": f"What of all these things do people put into their cup {end}",
        "choices": [thing, *OTHERS],
        "answer": thing,
        "source": "MathQA" if thing in ("tea", "milk") else "arc",
    }
    for end, thing in ENDS.items()
]
SHORT = {"item": "short", "question": "What is tea?", "choices": ["a", "b", "c", "d"], "answer": "A", "source": "arc"}
SAME = FULL[0] | {"item": "same", "choices": ["sand", "sand", "tea", "stone"]}


def written(tmp_path, *rows, name="given.jsonl"):
    path = tmp_path / name
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def table(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return [tuple(row.values()) for row in csv.DictReader(file)]


def judging(known):
    """The judge knows the right answers of the wordings that `known(thing, beginning)` accepts."""

    def accepts(question):
        thing = next(thing for end, thing in ENDS.items() if question.endswith(end))
        beginning = next((name for name, text in BEGINNINGS.items() if question.startswith(text)), "original")
        return known(thing, beginning)

    return right(ENDS, accepts)


def test_without_a_judge_all_reworded_questions_stay(tmp_path):
    path, asked = written(tmp_path, *FULL, SHORT, SAME), {}
    built = build_study_in_steps(plan(tmp_path, path, orders=5, seed=3), loader(rewording(), asked))
    assert built.done
    study = questions.read_questions(tmp_path / "study.jsonl")
    assert [each.item for each in study] == list(THINGS)
    for each, row in zip(study, FULL, strict=True):
        body = row["question"][0].lower() + row["question"][1:]
        assert each.question == row["question"]
        assert each.paraphrases == tuple(beginning + body for beginning in BEGINNINGS.values())
        assert each.orders == questions.draw_choice_orders(each.item, 4, 5, seed=3)
        assert each.letter_of_right_choice == "A"
        assert each.subset == ("math reasoning" if each.source == "MathQA" else "general knowledge")
        assert each.split in questions.SPLITS
    assert sorted(asked["polite"]) == sorted(asked["wordy"]) == sorted(row["question"] for row in FULL)


def test_the_table_counts_every_step_per_source(tmp_path):
    sorry = "I'm sorry, but I can't help with that."
    says = rewording(wordy=lambda question, prompt: sorry if "mint" in question else reword("wordy")(question, prompt))
    build_study_in_steps(plan(tmp_path, written(tmp_path, *FULL, SHORT, SAME)), loader(says))
    rows = table(tmp_path / "study.building.csv")
    assert rows[0] == ("initially sourced", "MathQA", "3", "")
    filled = [row for row in rows if row[2] != "0" and row[0] not in questions.SPLITS]
    assert filled == [
        ("initially sourced", "MathQA", "3", ""), ("initially sourced", "arc", "5", ""),
        ("after filters", "MathQA", "2", ""), ("after filters", "MathQA", "1", "two equal choices"),
        ("after filters", "arc", "4", ""), ("after filters", "arc", "1", "fewer than 10 words"),
        ("after paraphrasing", "MathQA", "2", ""), ("after paraphrasing", "arc", "3", ""),
        ("after paraphrasing", "arc", "1", "wordy: a refusal"),
    ]  # fmt: skip
    splits = [row for row in rows if row[0] in questions.SPLITS]
    assert [row[:2] for row in splits] == [(split, subset) for split in questions.SPLITS for subset in SUBSETS]
    assert sum(int(row[2]) for row in splits) == 5
    left = table(tmp_path / "study.left-out.csv")
    assert [(row[0], row[2], row[3]) for row in left] == [
        ("same", "after filters", "two equal choices"), ("short", "after filters", "fewer than 10 words"),
        ("mint", "after paraphrasing", "wordy: a refusal"),
    ]  # fmt: skip
    assert left[2][4] == sorry


def test_a_judge_selects_through_the_list_of_the_other_wing(tmp_path):
    """tea and milk: right in two wordings and one; sugar in all; lemon in none; the others in all."""
    known = {"tea": {"original", "wordy"}, "milk": {"polite"}, "lemon": set()}
    says = rewording(judge=judging(lambda thing, beginning: beginning in known.get(thing, {beginning})))
    asked: dict[str, list[str]] = {}
    wanted = plan(tmp_path, written(tmp_path, *FULL), judge=JUDGE)
    assert not build_study_in_steps(wanted, loader(says, asked)).done
    assert not (tmp_path / "study.jsonl").exists()
    assert {name: len(texts) for name, texts in asked.items()} == {"polite": 6, "wordy": 6, "judge": 6 * 3 * 8}

    chosen = tmp_path / "study.selected.jsonl"
    said = json.loads(waver("analysis", "select", tmp_path / "study.judge", "--out", chosen).stdout)
    assert [said[name] for name in selecting.CLASSES] == [3, 2, 1]
    built = build_study_in_steps(wanted, loader({}))  # nothing is asked again: this loader knows no model
    assert built.done
    assert [each.item for each in questions.read_questions(tmp_path / "study.jsonl")] == ["tea", "milk"]
    rows = [row for row in table(tmp_path / "study.building.csv") if row[0] == "after selection" and row[2] != "0"]
    assert rows == [
        ("after selection", "MathQA", "2", ""), ("after selection", "arc", "3", "consistently confident"),
        ("after selection", "arc", "1", "consistently unconfident"),
    ]  # fmt: skip
    study = (tmp_path / "study.jsonl").read_bytes()
    build_study_in_steps(replace(wanted, judge=None, selected=chosen), loader({}))  # a list of one's own needs no judge
    assert (tmp_path / "study.jsonl").read_bytes() == study


def test_a_killed_build_asks_only_for_what_is_missing(tmp_path):
    path, asked = written(tmp_path, *FULL), {}

    def stop(number):
        if number == 1:
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"):
        build_study_in_steps(plan(tmp_path, path), loader(rewording(), asked, before_batch=stop))
    assert len(asked["polite"]) == 2  # one batch
    assert not (tmp_path / "study.jsonl").exists()
    assert build_study_in_steps(plan(tmp_path, path), loader(rewording(), asked)).done
    assert sorted(asked["polite"]) == sorted(asked["wordy"]) == sorted(row["question"] for row in FULL)
    once = (tmp_path / "study.jsonl").read_bytes()
    (tmp_path / "whole").mkdir()
    build_study_in_steps(plan(tmp_path / "whole", path), loader(rewording()))
    assert (tmp_path / "whole" / "study.jsonl").read_bytes() == once
    assert build_study_in_steps(plan(tmp_path, path), loader({})).done  # nothing is left to ask
    assert (tmp_path / "study.jsonl").read_bytes() == once


def test_rows_without_a_response_are_asked_again(tmp_path):
    path = written(tmp_path, *FULL)
    fails = rewording(wordy=lambda question, prompt: None if "mint" in question else reword("wordy")(question, prompt))
    with pytest.raises(RunFailed, match="1 of 6 rows has no response"):
        build_study_in_steps(plan(tmp_path, path), loader(fails))
    assert len(build_study_in_steps(plan(tmp_path, path), loader(rewording())).steps[-1].kept_questions) == 6


def test_where_no_model_rewords_the_numbers_stay_and_the_call_fails(tmp_path):
    says = rewording(polite=lambda question, prompt: question)
    with pytest.raises(RunFailed, match="6 polite: unchanged"):
        build_study_in_steps(plan(tmp_path, written(tmp_path, *FULL)), loader(says))
    assert len(table(tmp_path / "study.left-out.csv")) == 6
    assert not (tmp_path / "study.jsonl").exists()


def test_other_questions_in_a_begun_folder_are_refused(tmp_path):
    build_study_in_steps(plan(tmp_path, written(tmp_path, *FULL)), loader(rewording()))
    with pytest.raises(InputError, match=r"study\.paraphrase-1"):
        build_study_in_steps(plan(tmp_path, written(tmp_path, *FULL[:4])), loader(rewording()))


def test_two_models_that_say_the_same_leave_nothing(tmp_path):
    says = rewording(wordy=reword("polite"))
    with pytest.raises(RunFailed, match="6 wordy: the same as the other"):
        build_study_in_steps(plan(tmp_path, written(tmp_path, *FULL)), loader(says))


def test_the_written_study_is_read_back(tmp_path):
    path = written(tmp_path, *FULL)
    given = questions.read_questions(path)
    write_questions(tmp_path / "again.jsonl", given)
    assert questions.read_questions(tmp_path / "again.jsonl") == given


def test_files_that_hold_paraphrases_need_no_model(tmp_path, capfd):
    rows = [row | {"paraphrases": [f"Tell me: {row['question']}", f"Say, please: {row['question']}"]} for row in FULL]
    path = written(tmp_path, *rows)
    done = waver("inference", "choice", "build", path, "--out", tmp_path / "s.jsonl", "--seed", "5", "--orders", "2")
    assert done.stdout.splitlines()[:3] == [
        "initially sourced: 6 questions",
        "after filters: 6 questions",
        "after paraphrasing: 6 questions",
    ]
    assert done.stdout.splitlines()[-3:-1] == [
        "  math reasoning: 1 train, 0 validation, 1 test", "  general knowledge: 3 train, 1 validation, 0 test",
    ]  # fmt: skip
    (first, *_) = questions.read_questions(tmp_path / "s.jsonl")
    assert first.orders == questions.draw_choice_orders("tea", 4, 2, seed=5)
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "given.jsonl", "s.building.csv", "s.jsonl", "s.left-out.csv",
    ]  # fmt: skip


@pytest.mark.parametrize("other", ["given.jsonl", "./given.jsonl", "copy.jsonl"])
def test_a_question_of_two_files_is_refused(tmp_path, monkeypatch, other):
    monkeypatch.chdir(tmp_path)
    for name in ("given.jsonl", "copy.jsonl"):
        written(tmp_path, *FULL[:2], SAME, name=name)
    with pytest.raises(InputError, match=r"is in given\.jsonl, too; name each question once"):
        read_questions_and_equal_choices_of_files(["given.jsonl", other])


def test_the_published_questions_go_all_the_way(shared, tmp_path):
    """Some of ARC-Challenge and CommonsenseQA; a judge without weights knows two thirds of the wordings."""

    def known(wording):
        return sum(map(ord, wording)) % 3 > 0

    given = {}
    for name in ("ARC-Challenge-Test.jsonl", "dev_rand_split.jsonl"):
        lines = (shared / "mcq" / name).read_text(encoding="utf-8").splitlines()
        (tmp_path / name).write_text("\n".join(random.Random(name).sample(lines, 20)), encoding="utf-8")
        given |= {each.question: each for each in questions.read_questions(tmp_path / name, [])}
    ends = {text[1:]: each.choices[each.answer] for text, each in given.items()}
    judge = right(ends, known)
    wanted = plan(tmp_path, *(tmp_path / name for name in ("ARC-Challenge-Test.jsonl", "dev_rand_split.jsonl")),
                  judge=JUDGE)  # fmt: skip
    steps = build_study_in_steps(wanted, loader(rewording(judge=judge))).steps
    assert len(steps[0].kept_questions) == 40
    assert 0 < len(steps[2].kept_questions) <= len(steps[1].kept_questions) < 40
    waver("analysis", "select", tmp_path / "study.judge", "--out", tmp_path / "study.selected.jsonl")
    built = build_study_in_steps(wanted, loader({}))
    study = questions.read_questions(tmp_path / "study.jsonl")
    assert 0 < len(study) == len(built.steps[-1].kept_questions)
    asked = questions.read_questions(tmp_path / "study.candidates.jsonl")
    some = [each.item for each in asked if 0 < sum(map(known, (each.question, *each.paraphrases))) < 3]
    assert [each.item for each in study] == some
    assert {each.split for each in study} == set(questions.SPLITS)


def test_a_demo_model_judges_questions_of_the_demo_world(tmp_path):
    from inference.demo.choices import make_choice_questions
    from inference.demo.world import World

    write_questions(tmp_path / "world.jsonl", make_choice_questions(World())[:16])
    model = ROOT / "inference" / "demo" / "models" / "waver-demo-large-tuned"
    call = ("inference", "choice", "build", "world.jsonl", "--out", "s.jsonl", "--min-words", "1",
            "--judge-model", model, "--judge-max-tokens", "4", "--form", "plain", "--orders", "4")  # fmt: skip
    said = waver(*call, cwd=tmp_path).stdout.splitlines()
    assert said[-1].startswith("s.judge: the judge has answered; next: waver select s.judge --out s.selected.jsonl")
    waver("analysis", "select", "s.judge", "--out", "s.selected.jsonl", cwd=tmp_path)
    said = waver(*call, cwd=tmp_path).stdout.splitlines()
    lines = (tmp_path / "s.selected.jsonl").read_text(encoding="utf-8").splitlines()
    chosen = [row["item"] for row in map(json.loads, lines) if 0 < sum(row["perfectly_correct"].values()) < 3]
    assert 0 < len(chosen) < 16
    assert [each.item for each in questions.read_questions(tmp_path / "s.jsonl")] == chosen


def test_demo_models_reword_nothing(tmp_path):
    models = ROOT / "inference" / "demo" / "models"
    written(tmp_path, *FULL)
    done = waver(
        "inference", "choice", "build", "given.jsonl", "--out", "s.jsonl", "--max-tokens", "16", "--paraphrase-model",
        models / "waver-demo-mini-tuned", "--paraphrase-model", models / "waver-demo-small-tuned",
        cwd=tmp_path, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "waver-demo-mini-tuned: not a question" in done.stderr
    assert {path.name for path in tmp_path.glob("s.paraphrase-*")} == {"s.paraphrase-1", "s.paraphrase-2"}
