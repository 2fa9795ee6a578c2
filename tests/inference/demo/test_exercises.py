"""Exercises of the demo world that are asked: the labels of pairs and the scores of ratings are right."""

from __future__ import annotations

import random

import pytest

from inference.demo.exercises import (
    SCALES,
    derive_entailment_label_from_flags,
    format_score_on_scale,
    make_rating_exercise,
)
from inference.demo.world import World


@pytest.mark.parametrize(
    ("same_thing", "same_value", "premise_denied", "hypothesis_denied", "label"),
    [
        (True, True, False, False, "entailment"),  # red / red
        (True, True, False, True, "contradiction"),  # red / not red
        (True, True, True, False, "contradiction"),  # not red / red
        (True, True, True, True, "entailment"),  # not red / not red
        (True, False, False, False, "contradiction"),  # red / blue
        (True, False, False, True, "entailment"),  # red / not blue
        (True, False, True, False, "neutral"),  # not red / blue
        (True, False, True, True, "neutral"),  # not red / not blue
        (False, True, False, False, "neutral"),  # another thing
    ],
)
def test_pair_labels(
    same_thing: bool, same_value: bool, premise_denied: bool, hypothesis_denied: bool, label: str
) -> None:
    assert derive_entailment_label_from_flags(same_thing, same_value, premise_denied, hypothesis_denied) == label


def test_ratings_count_what_is_kept() -> None:
    world, rng = World(), random.Random(0)
    domains = [world.props, world.list_attribute_values("colour"), world.list_attribute_values("place")]
    for exercise in (make_rating_exercise(world, rng, "heldout") for _ in range(400)):
        numbers = SCALES[f"{exercise.fields['low']}-{exercise.fields['high']}"]
        assert exercise.options == tuple(map(str, numbers))
        if exercise.topic == "size":
            thing = exercise.fields["text"].removesuffix("?").split()[-1]
            assert exercise.score == world.things[thing]["size"]
            continue
        source, output = exercise.fields["source"].lower(), exercise.fields["output"].lower()
        kept = sum(any(word in source and word in output for word in domain) for domain in domains)
        assert exercise.score == 3 * kept


@pytest.mark.parametrize(
    ("score", "scale", "number"),
    [(0, "0-9", "0"), (9, "0-9", "9"), (0, "1-5", "1"), (9, "1-5", "5"), (6, "1-5", "4"), (0, "1-100", "1"),
     (3, "1-100", "34"), (9, "1-100", "100")],
)  # fmt: skip
def test_scores_are_shown_in_the_numbers_of_a_scale(score: int, scale: str, number: str) -> None:
    assert format_score_on_scale(score, SCALES[scale]) == number
