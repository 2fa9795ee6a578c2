"""Questions in words that no demo model has read: right answers, no fact in two splits."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import product

from inference.demo.reworded import SIZES, make_reworded_questions
from inference.demo.world import World

WORLD = World()
MADE = make_reworded_questions(WORLD)
STEMS = ("which_colour", "which_kind", "biggest")


def test_every_stem_has_its_questions_in_every_split_and_all_differ():
    assert Counter((each.source, each.split) for each in MADE) == {
        (stem, split): size for stem, (split, size) in product(STEMS, SIZES.items())
    }
    assert len({each.item for each in MADE}) == len(MADE)
    assert len({(each.question, each.choices[each.answer], frozenset(each.choices)) for each in MADE}) == len(MADE)
    assert make_reworded_questions(World()) == MADE


def test_no_fact_is_in_two_splits():
    splits = defaultdict(set)
    for each in MADE:
        splits[each.question, each.choices[each.answer]].add(each.split)
    assert all(len(found) == 1 for found in splits.values()) and len(splits) >= 40


def test_every_division_puts_other_facts_into_the_test():
    def list_tested_facts(division: int) -> set[tuple[str, str]]:
        questions = make_reworded_questions(WORLD, division)
        assert Counter(question.split for question in questions) == Counter(question.split for question in MADE)
        return {(question.question, question.choices[question.answer]) for question in questions
                if question.split == "test"}  # fmt: skip

    tested = [list_tested_facts(division) for division in range(3)]
    assert len({frozenset(facts) for facts in tested}) == 3
    assert tested[0] == {(each.question, each.choices[each.answer]) for each in MADE if each.split == "test"}


def test_the_answer_is_what_the_world_says():
    for each in MADE:
        right = each.choices[each.answer]
        others = [text for text in each.choices if text != right]
        if each.source == "biggest":
            assert all(WORLD.things[right]["size"] > WORLD.things[other]["size"] for other in others)
        else:
            about = each.source.removeprefix("which_")
            value = WORLD.things[right][about]
            assert all(value in text.lower() for text in (each.question, *each.paraphrases))
            assert all(WORLD.things[other][about] != value for other in others)
