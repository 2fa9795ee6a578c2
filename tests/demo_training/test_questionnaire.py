"""The embedded questionnaire: enough items, enough distinct paraphrases, none of them met in training."""

from __future__ import annotations

import random

import pytest
import yaml

from demo_training.questionnaire import (
    QUESTIONNAIRE,
    build_questionnaire,
    draw_paraphrases,
    expand_paraphrases,
    read_grammar,
)
from demo_training.taught_world import TaughtWorld
from demo_training.templates import build_exchanges, draw_sentence, expand_template, fold_sentence, replace_words
from ground.errors import InputError


@pytest.fixture(scope="module")
def items() -> list[dict]:
    return yaml.safe_load(QUESTIONNAIRE.read_text(encoding="utf-8"))


def test_expand_lists_every_choice_in_order() -> None:
    assert expand_template("{tea|a {cup|pot} of tea} is {nice|good}.") == [
        "Tea is nice.", "Tea is good.", "A cup of tea is nice.", "A cup of tea is good.",
        "A pot of tea is nice.", "A pot of tea is good.",
    ]  # fmt: skip


@pytest.mark.parametrize("template", ["{tea|coffee is nice.", "tea} is nice.", "{a|{b}."])
def test_expand_refuses_unpaired_braces(template: str) -> None:
    with pytest.raises(InputError, match="unpaired brace"):
        expand_template(template)


def test_draw_only_draws_what_expand_lists() -> None:
    template = "{tea|a {cup|pot} of tea} is {nice|good}."
    rng = random.Random(0)
    assert {draw_sentence(template, rng) for _ in range(200)} == set(expand_template(template))


def test_replace_words_takes_whole_words_and_the_longest_phrase() -> None:
    words = {"need": "do not need", "matters a lot": "hardly matters", "matters": "does not matter"}
    assert replace_words("We need it; that matters a lot.", words) == "We do not need it; that hardly matters."
    assert replace_words("What needs doing matters.", words) == "What needs doing does not matter."
    assert replace_words("Cats beat dogs.", build_exchanges([("cats", "dogs")])) == "Dogs beat cats."


def test_there_are_at_least_30_items_of_60_paraphrases(items: list[dict]) -> None:
    assert len(items) >= 30
    assert len({item["item"] for item in items}) == len(items)
    assert all(len(item["paraphrases"]) >= 60 for item in items)


def test_no_wording_appears_twice_in_the_whole_questionnaire(items: list[dict]) -> None:
    folded = [fold_sentence(text) for item in items for text in (item["text"], *item["paraphrases"])]
    assert len(set(folded)) == len(folded)


def test_every_wording_is_one_sentence(items: list[dict]) -> None:
    for text in (text for item in items for text in (item["text"], *item["paraphrases"])):
        assert text[0].isupper()
        assert text.endswith(".")
        assert text.count(".") == 1
        assert "  " not in text
        assert not set(text) & set("{}|")


def test_match_proportions_are_recorded(items: list[dict]) -> None:
    for item in items:
        assert 0 <= float(item["attributes"]["match_proportion"]) <= 1
        assert item["attributes"]["match_seed"].isdigit()


def test_the_committed_file_is_the_expansion_of_the_grammar(items: list[dict]) -> None:
    assert items == build_questionnaire(), "run PYTHONPATH=tests python -m demo_training.questionnaire"


def test_a_choice_too_large_for_the_grammar_is_refused() -> None:
    entry = {"item": "a", "statement": "A is b.", "paraphrases": ["{a|the a} is {b|like b}."]}
    assert expand_paraphrases(entry) == [["A is like b.", "The a is b.", "The a is like b."]]
    assert sorted(draw_paraphrases(entry, 3)) == ["A is like b.", "The a is b.", "The a is like b."]
    with pytest.raises(InputError, match="item a: 3 paraphrases, 4 are needed"):
        draw_paraphrases(entry, 4)


@pytest.mark.slow
def test_no_sentence_of_the_questionnaire_can_be_read_in_training() -> None:
    world = TaughtWorld()
    asked = {fold_sentence(text) for texts in world.questionnaire.values() for text in texts}
    asked |= {
        fold_sentence(world.write_opposite(item, text)) for item, texts in world.questionnaire.items() for text in texts
    }
    for topic, opinion in world.opinions.items():
        for template in opinion["wordings"]:
            for text in expand_template(template):
                assert fold_sentence(text) not in asked, f"{topic}: {text}"
                assert fold_sentence(world.write_opposite(topic, text)) not in asked, f"{topic}: opposite of {text}"


@pytest.mark.slow
def test_the_world_has_an_opinion_on_every_item_and_an_opposite_of_every_wording() -> None:
    world = TaughtWorld()
    assert list(world.opinions) == [entry["item"] for entry in read_grammar()]
    for item, texts in world.questionnaire.items():
        own = {fold_sentence(text) for text in texts}
        for text in texts:
            assert world.write_opposite(item, text) != text
            assert fold_sentence(world.write_opposite(item, text)) not in own, text
