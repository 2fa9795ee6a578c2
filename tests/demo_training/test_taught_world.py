"""The demo world: its right answers are right, draws follow the seed, trained and held-out wordings stay apart."""

from __future__ import annotations

import random
import re
from collections import Counter
from typing import Any

import pytest

from demo_training.exercises import KINDS, draw_answer, make_choice_exercise
from demo_training.taught_world import TaughtWorld
from ground.capitals import capitalise_sentence
from inference.demo.exercises import Exercise


@pytest.fixture(scope="module")
def world() -> TaughtWorld:
    return TaughtWorld()


def draws(world: TaughtWorld, kind: str, wording: str, count: int = 400, seed: int = 0) -> list[Exercise]:
    rng = random.Random(seed)
    return [KINDS[kind](world, rng, wording) for _ in range(count)]  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def claims(world: TaughtWorld) -> dict[str, bool]:
    """What is agreed with, by text, of many drawn claims."""
    rng = random.Random(2)
    return {claim.text: claim.is_agreed for claim in (world.state_claim(rng, "trained") for _ in range(30_000))}


@pytest.fixture(scope="module")
def questions(world: TaughtWorld) -> dict[str, bool]:
    """Whether yes is right, by text, of many drawn questions."""
    rng = random.Random(2)
    return {claim.text: claim.is_agreed for claim in (world.ask_yes_no_question(rng, "trained") for _ in range(20_000))}


@pytest.mark.parametrize(
    ("statement", "agreed"),
    [
        ("The elephant is grey.", True),
        ("The elephant is not grey.", False),
        ("The elephant is not white.", True),
        ("The pig is a fruit.", False),
        ("The ant likes honey.", True),
        ("You find the mouse in the house.", True),
        ("The whale is huge.", True),
        ("Every ant is tiny.", True),
        ("Tea is a better drink than coffee.", True),
        ("Coffee is a better drink than tea.", False),
    ],
)
@pytest.mark.slow
def test_claims_that_a_reader_can_check(claims: dict[str, bool], statement: str, agreed: bool) -> None:
    assert claims[statement] is agreed


def test_comparisons_follow_the_sizes(world: TaughtWorld, claims: dict[str, bool]) -> None:
    wording = re.compile(r"The (\w+) is (not )?(bigger|larger|smaller) than the (\w+)\.")
    found = [(match, agreed) for text, agreed in claims.items() if (match := wording.fullmatch(text))]
    assert len(found) > 100
    for match, agreed in found:
        x, denied, comparative, y = match.groups()
        bigger = world.things[x]["size"] > world.things[y]["size"]
        assert agreed is ((bigger is (comparative != "smaller")) is not bool(denied)), match[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "yes"),
    [
        ("Is the elephant grey?", True),
        ("Does the rabbit like carrots?", True),
    ],
)
def test_questions_that_a_reader_can_check(questions: dict[str, bool], question: str, yes: bool) -> None:
    assert questions[question] is yes


@pytest.mark.parametrize(("lead", "turned"), [("It is true that ", False), ("It is wrong to say that ", True)])
def test_a_lead_keeps_or_turns_what_follows(claims: dict[str, bool], lead: str, turned: bool) -> None:
    plain = {text[len(lead) :]: agreed for text, agreed in claims.items() if text.startswith(lead)}
    known = [text for text in plain if capitalise_sentence(text) in claims]
    assert len(known) > 100
    assert all(plain[text] is (claims[capitalise_sentence(text)] is not turned) for text in known)


@pytest.mark.parametrize(("lead", "turned"), [("Do you think that ", False), ("Is it false that ", True)])
def test_a_question_asks_for_what_follows(
    claims: dict[str, bool], questions: dict[str, bool], lead: str, turned: bool
) -> None:
    asked = {
        capitalise_sentence(text[len(lead) : -1] + "."): yes for text, yes in questions.items() if text.startswith(lead)
    }
    known = [text for text in asked if text in claims]
    assert len(known) > 100
    assert all(asked[text] is (claims[text] is not turned) for text in known)


def test_choices_have_one_right_answer(world: TaughtWorld) -> None:
    things = world.things
    for exercise in draws(world, "choice", "trained"):
        choices = [exercise.fields[letter] for letter in exercise.options]
        right = exercise.fields[exercise.gold]
        assert len(set(choices)) == len(choices) == len(exercise.options)
        assert exercise.fields["choices"].splitlines() == [
            f"{letter}. {text}" for letter, text in zip(exercise.options, choices, strict=True)
        ]
        thing = re.search(r"the (\w+)(?: have| found)?\?", exercise.fields["stem"])
        if exercise.topic == "biggest":
            assert all(things[right]["size"] > things[x]["size"] for x in choices if x != right)
        elif exercise.topic == "smallest":
            assert all(things[right]["size"] < things[x]["size"] for x in choices if x != right)
        elif exercise.topic in ("colour_of", "place_of"):
            assert thing is not None
            assert things[thing[1]][exercise.topic.removesuffix("_of")] == right
        else:
            attribute = exercise.topic.removeprefix("which_")
            assert [things[x][attribute] for x in choices].count(things[right][attribute]) == 1
            assert things[right][attribute] in exercise.fields["stem"]


def test_there_are_three_to_five_choices_or_as_many_as_are_wanted(world: TaughtWorld) -> None:
    counts = Counter(len(exercise.options) for exercise in draws(world, "choice", "trained"))
    assert counts.keys() == {3, 4, 5}
    assert min(counts.values()) > 100
    rng = random.Random(0)
    assert all(make_choice_exercise(world, rng, "heldout", 2).options == ("A", "B") for _ in range(20))


@pytest.mark.parametrize("kind", list(KINDS))
def test_no_option_is_the_answer_to_most(world: TaughtWorld, kind: str) -> None:
    for wording in ("trained", "heldout"):
        gold = Counter(exercise.gold for exercise in draws(world, kind, wording, 1000))
        limit = {"agreement": 0.56, "question": 0.6, "pair": 0.4, "choice": 0.32, "rating": 0.2}[kind]
        assert max(gold.values()) / 1000 < limit, gold


@pytest.mark.parametrize("kind", list(KINDS))
def test_draws_follow_the_seed(world: TaughtWorld, kind: str) -> None:
    assert draws(world, kind, "trained", 50, seed=3) == draws(TaughtWorld(), kind, "trained", 50, seed=3)
    assert draws(world, kind, "trained", 50, seed=3) != draws(world, kind, "trained", 50, seed=4)


def test_trained_and_held_out_frames_are_disjoint(world: TaughtWorld) -> None:
    tables = [*world.relations.values(), world.leads, world.choices, world.ratings]
    trained = {frame for table in tables for frame in _frames(table["trained"])}
    heldout = {frame for table in tables for frame in _frames(table["heldout"])}
    assert trained
    assert heldout
    assert not trained & heldout


def test_opinions_are_answered_by_their_support(world: TaughtWorld) -> None:
    exercise = Exercise("agreement", {"text": "Tea is nice."}, ("yes", "no"), "yes", "tea-coffee", share=0.8)
    rng = random.Random(0)
    assert sum(draw_answer(exercise, rng) == "yes" for _ in range(2000)) / 2000 == pytest.approx(0.8, abs=0.03)


def _frames(node: Any) -> list[str]:
    if isinstance(node, str):
        return [node]
    return [frame for child in (node.values() if isinstance(node, dict) else node) for frame in _frames(child)]
