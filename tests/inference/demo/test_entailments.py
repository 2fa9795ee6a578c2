"""Pairs of the demo world: a denial is the affirmed sentence with a "not", and the labels are those of the world."""

from __future__ import annotations

import re
from collections import Counter

from inference.demo.entailments import ORIGINALS_PER_LABEL, RELATIONS, make_entailment_pairs
from inference.demo.exercises import PAIR_LABELS
from inference.demo.world import World
from inference.negating.negation import classify_negation_as_mid_or_end
from inference.stimuli import nli

MADE = make_entailment_pairs(World())
GROUPS = nli.group_pairs_by_original(MADE)


def words(sentence):
    return Counter(re.findall(r"[a-z]+", sentence.lower()))


def test_originals_of_every_label_are_equally_many_and_no_pair_comes_twice():
    labels = Counter(group[0].label for group in GROUPS.values())
    assert labels == dict.fromkeys(PAIR_LABELS, ORIGINALS_PER_LABEL * len(RELATIONS))
    assert len({each.text for each in MADE}) == len(MADE) == 4 * len(GROUPS)
    assert make_entailment_pairs(World()) == MADE


def test_a_denial_is_the_same_sentence_with_a_negation():
    for original, premise, hypothesis, _ in GROUPS.values():
        for plain, denied in ((original.premise, premise.premise), (original.hypothesis, hypothesis.hypothesis)):
            more, less = words(denied) - words(plain), words(plain) - words(denied)
            assert "not" in more and set(more) <= {"not", "do", "does", "have"} and set(less) <= {"has"}


def test_labels_follow_from_the_world():
    """Of one thing and one attribute, a thing has one value: what a denial says follows from that alone."""
    expected = {
        "entailment": ["entailment", "contradiction", "contradiction", "entailment"],
        "contradiction": ["contradiction", "neutral", "entailment", "neutral"],
        "neutral": ["neutral"] * 4,
    }
    for group in GROUPS.values():
        assert [each.label for each in group] == expected[group[0].label]


def test_where_a_negation_stands_follows_from_its_sentence():
    for each in MADE:
        for sentence, noted in ((each.premise, each.premise_negation), (each.hypothesis, each.hypothesis_negation)):
            if " not " in sentence:
                target = "verb" if re.search(r"\bdo(es)? not\b", sentence) else "copula"
                assert noted == nli.Negation(classify_negation_as_mid_or_end(sentence.partition(" not ")[2]), target)
            else:
                assert noted is None
