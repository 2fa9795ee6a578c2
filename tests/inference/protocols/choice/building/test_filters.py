"""The filters of Choi, section 4.1: each leaves out what it should, and counts it once."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from inference.protocols.choice.building import filters
from inference.stimuli import questions
from inference.stimuli.questions import Question

TEN = "Which of these four things do people pour into cups?"
CHOICES = ("sand", "tea", "wood", "stone")


def asked(text=TEN, choices=CHOICES, **fields):
    return Question("cup", text, choices, 1, **fields)


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        (asked(), None),
        (asked(choices=(*CHOICES, "milk")), None),
        (asked(f"Mary has 3.5 litres. She thinks. {TEN}"), None),
        (asked(passage="Mary has a cup."), "with a passage"),
        (asked(f"{TEN[:-1]} _ ?"), "with an underscore"),
        (asked(f"{TEN[:-1]}:"), "without a question mark at the end"),
        (asked(f"One. Two. Three. {TEN}"), "more than 3 sentences"),
        (asked(TEN.replace("four ", "")), "fewer than 10 words"),
        (asked(choices=CHOICES[:3]), "not 4 or 5 choices"),
        (asked(choices=tuple("abcdef")), "not 4 or 5 choices"),
        (asked("What is _ ?", choices=CHOICES[:3]), "with an underscore"),  # the first that holds
    ],
)
def test_a_question_is_left_out_for_the_first_reason_that_holds(question, reason):
    step = filters.build_filtering_step([question])
    assert [each.reason for each in step.left_out] == ([reason] if reason else [])
    assert step.kept_questions == (() if reason else (question,))
    assert {each.reason for each in step.left_out} <= set(step.reasons)


def test_the_fewest_words_can_be_set():
    assert filters.build_filtering_step([asked("Tea?")], fewest_words=1).kept_questions
    assert (
        "fewer than 11 words"
        in filters.build_filtering_step([asked()], fewest_words=11).describe_questions_left_and_dropped()
    )


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Why?", 1),
        ("It rains. Why?", 2),
        ("It costs $3.50 or 1.000.000. Why?", 2),
        ('He said "Go." Then what?', 2),
        ("Really?! Yes... Who?", 3),
        ("No end", 1),
        ("お茶は飲み物です。牛乳も飲み物です。どれが好きですか？", 3),
        ("「はい。」 それは本当ですか？！", 2),
        ("It is Dr. Smith. Who?", 3),  # an abbreviation ends a sentence, as in the paper's count of full stops
    ],
)
def test_sentences_end_before_white_space_or_with_a_full_width_mark(text, number):
    assert filters.count_sentences(text) == number


def slow_reason(record):
    """The filters again, from the raw line, by words instead of by expressions."""
    question = record["question"]["stem"].strip()
    choices = [" ".join(choice["text"].split()) for choice in record["question"]["choices"]]
    ends = sum(word.rstrip("\"')”’]")[-1:] in tuple(".!?") for word in question.split())
    if len(set(choices)) < len(choices):
        return "two equal choices"
    if "_" in question:
        return "with an underscore"
    if question[-1] != "?":
        return "without a question mark at the end"
    if ends > 3:
        return "more than 3 sentences"
    if len(question.split()) < 10:
        return "fewer than 10 words"
    return None if len(choices) in (4, 5) else "not 4 or 5 choices"


def test_the_published_questions_are_counted_as_a_slow_version_counts_them(shared):
    wanted: dict[str, Counter[str | None]] = {}
    given, equal = [], list[questions.EqualChoices]()
    for name, source in (("ARC-Challenge-Test", "arc"), ("dev_rand_split", "commonsense_qa")):
        path = shared / "mcq" / f"{name}.jsonl"
        given += questions.read_questions(path, equal)
        lines = path.read_text(encoding="utf-8").splitlines()
        wanted[source] = Counter(slow_reason(json.loads(line)) for line in lines)
    step = filters.build_filtering_step(given, equal)
    for source, counts in wanted.items():
        found = Counter(each.reason for each in step.left_out if each.question.source == source)
        assert found | {None: sum(each.source == source for each in step.kept_questions)} == counts
    assert [counts[None] for counts in wanted.values()] == [799, 861]
