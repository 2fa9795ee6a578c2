"""Multiple-choice questions of the demo world: different, rightly answered, in trained and held-out wordings, split."""

from __future__ import annotations

import re
from collections import Counter
from itertools import product

from ground.capitals import capitalise_sentence
from inference.demo.choices import NUMBERS_OF_CHOICES, QUESTIONS_PER_STEM, STEMS, make_choice_questions
from inference.demo.world import World

WORLD = World()
MADE = make_choice_questions(WORLD)


def test_there_are_three_hundred_different_questions_with_four_or_five_choices():
    assert len(MADE) == len({each.item for each in MADE}) == QUESTIONS_PER_STEM * len(STEMS) >= 300
    assert len({(each.question, frozenset(each.choices)) for each in MADE}) == len(MADE)
    assert Counter(len(each.choices) for each in MADE) == dict.fromkeys(NUMBERS_OF_CHOICES, 150)
    assert all(len(set(each.choices)) == len(each.choices) for each in MADE)


def test_the_answer_is_what_the_world_says():
    """Looked up here in another way than the questions are made: by the words of the question."""
    for each in MADE:
        right, words = each.choices[each.answer], set(each.question.rstrip("?").split())
        thing = next((name for name in WORLD.things if name in words), None)
        others = [text for text in each.choices if text != right]
        if each.source in ("colour_of", "place_of"):
            assert WORLD.things[thing][each.source.removesuffix("_of")] == right
        elif each.source == "biggest":
            assert all(WORLD.things[right]["size"] > WORLD.things[other]["size"] for other in others)
        else:
            about = each.source.removeprefix("which_")
            value = WORLD.things[right][about]
            assert value in each.question and all(WORLD.things[other][about] != value for other in others)


def test_two_wordings_were_trained_and_the_third_is_held_out():
    for each in MADE:
        trained, heldout = (WORLD.choices[wording][each.source] for wording in ("trained", "heldout"))
        frames = [re.escape(capitalise_sentence(frame)) for frame in (*trained[:2], heldout[0])]
        patterns = [re.sub(r"\\{[xv]\\}", "(.+)", frame) for frame in frames]
        found = [re.fullmatch(*both) for both in zip(patterns, (each.question, *each.paraphrases), strict=True)]
        assert all(found) and len({one.groups() for one in found}) == 1  # the same thing or value in all three
        assert not any(re.fullmatch(patterns[2], text) for text in (each.question, each.paraphrases[0]))


def test_splits_are_about_seventy_fifteen_fifteen_and_drawn():
    assert Counter(each.split for each in MADE) == {"train": 210, "validation": 47, "test": 43}  # in groups (`splits`)
    assert {(each.split, each.source) for each in MADE} == set(product(("train", "validation", "test"), STEMS))
    assert make_choice_questions(WORLD) == MADE
    assert 0.15 < sum(each.answer == 0 for each in MADE) / len(MADE) < 0.30  # the right one stands anywhere
