"""What is asked: identity, order and the checks that hold for every study."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ground.errors import InputError
from helpers.trivial_engine import small_study
from inference.protocols import agreement, list_protocols, load_protocol
from inference.stimuli.study import Item, Option, Study, Variant

OPTIONS = (Option("agree", "agree"), Option("disagree", "disagree"))


def variant(item: str = "1", name: str = "original", **fields) -> Variant:
    return Variant(item, name, **{"pattern": name, "text": f"{item} {name}", "options": OPTIONS} | fields)


def study(*items: Item, **fields) -> Study:
    return Study(**{"protocol": "agreement", "name": "s", "items": items, "canonical": ("agree", "disagree")} | fields)


def test_agreement_asks_agree_or_disagree_of_every_variant():
    asked = agreement.build_agreement_study(
        (Item("1", (variant(options=()), variant(name="p", options=()))),), "s", "file.csv"
    )
    assert {v.options for v in asked.variants} == {OPTIONS}
    assert (asked.protocol, asked.canonical, asked.source) == ("agreement", ("agree", "disagree"), "file.csv")
    assert "tie" in asked.decision_rule


def test_agreement_refuses_gold_outside_its_frame():
    with pytest.raises(InputError, match=r"item '1'.*gold must be agree or disagree, not 'yes'"):
        agreement.build_agreement_study((Item("1", (variant(gold="yes"),)),), "s")


def test_protocols_are_registered_under_their_own_name():
    assert all(name == load_protocol(name).NAME for name in list_protocols())


def test_original_and_paraphrases():
    item = Item("1", (variant(), variant(name="p1", pattern="paraphrase")))
    assert item.original is item.variants[0]
    assert item.paraphrases == item.variants[1:]
    assert Item("1", item.paraphrases).original is None


def test_items_with_fewer_than_two_paraphrases_have_no_stability():
    alone, one, two = (small_study(1, n).items[0] for n in (0, 1, 2))
    items = [
        replace(i, item=k, variants=tuple(replace(v, item=k) for v in i.variants))
        for i, k in ((alone, "a"), (one, "b"), (two, "c"))
    ]
    assert study(*items).items_with_too_few_paraphrases == ("a", "b")


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ((), "no items"),
        ((Item("1", ()),), "item '1': there are no variants"),
        ((Item("1", (variant(),)), Item("1", (variant(),))), "item '1' appears twice"),
        ((Item("1", (variant(), variant())),), "variant 'original' appears twice"),
        ((Item("1", (variant("2"),)),), "belongs to item '2'"),
        ((Item("1", (variant(text=" \n"),)),), "text is empty"),
        ((Item("1", (variant(options=()),)),), "options need a meaning"),
        ((Item("1", (variant(options=(Option("yes", "yes"),)),)),), "options need a meaning"),
    ],
)
def test_a_study_refuses(items, message):
    with pytest.raises(InputError, match=message):
        study(*items)


@pytest.mark.parametrize(
    "change",
    [
        {"text": "other"},
        {"pattern": "paraphrase"},
        {"language": "en"},
        {"gold": "agree"},
        {"gold_score": 0.5},
        {"parents": ("original",)},
        {"attributes": {"a": "b"}},
        {"options": OPTIONS[::-1]},
        {"variant": "other"},
    ],
)
def test_the_hash_changes_with_every_stimulus_field(change):
    assert study(Item("1", (variant(),))).hash != study(Item("1", (replace(variant(), **change),))).hash


def test_the_hash_is_of_what_is_asked_not_of_where_it_came_from():
    first = study(Item("1", (variant(attributes={"a": "1", "b": "2"}),)), name="one", source="here")
    again = study(Item("1", (variant(attributes={"b": "2", "a": "1"}),)), name="two", source="there")
    assert first.hash == again.hash
    assert first.hash != replace(first, protocol="wording").hash
    assert small_study(2).hash != small_study(3).hash
