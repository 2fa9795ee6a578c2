"""What the rules make of single sentences, by hand: English without a pipeline, and Japanese."""

from __future__ import annotations

import pytest

from inference.meaning.decoys import antonyms, negated
from inference.meaning.decoys.exchanged import Exchange
from inference.meaning.decoys.sentences import build_sentences_of_item_originals
from inference.stimuli.study import Item, Variant


def analyse(text):
    original = Variant("x", "original", "original", text, ())
    other = Variant("x", "p1", "paraphrase", "The tea, in which you see things written small.", ())
    return build_sentences_of_item_originals([Item("x", (original, other))], None)[0]


def exchange(text):
    sentence = analyse(text)
    return Exchange([sentence], 0).list_exchanged_sentences_or_reason(sentence)


@pytest.mark.parametrize(
    ("text", "denial"),
    [
        ("Tea is good.", "Tea is not good."),
        ("I'd always help.", "I'd not always help."),
        ("People who are rich should pay.", "People who are rich should not pay."),
        ("If it rains, we should stay.", "If it rains, we should not stay."),
        ("It is clear that tea is good.", "It is not clear that tea is good."),
        ("I like tea.", "I do not like tea."),
        ("They have a dog.", "They do not have a dog."),
        ("They have been there.", "They have not been there."),
        ("Sex has gone too far.", "Sex has not gone too far."),
        ("The dog barks.", "It is not true that the dog barks."),
        ("Some people are odd.", "No people are odd."),
        ("War is sometimes just.", "War is never just."),
        ("You cannot win.", "You can win."),
        ("You shouldn’t win.", "You should win."),
        ("It is not good.", "It is good."),
        ("No one is odd.", "Everyone is odd."),
        ("No dog is odd.", "Every dog is odd."),
        ("When it is not cold, you should go.", "When it is not cold, you should not go."),
        ("Art that doesn't sell shouldn't be art.", "Art that doesn't sell should be art."),
        ("It goes to people who are not rich.", "It goes to people who are rich."),
    ],
)
def test_english_is_denied_in_its_main_clause(text, denial):
    assert negated.list_negated_sentences_or_reason(analyse(text))[0].text == denial


def test_a_question_that_asks_the_same_is_left_out():
    assert "asks the same" in negated.list_negated_sentences_or_reason(analyse("Is tea good?"))
    assert negated.list_negated_sentences_or_reason(analyse("Who is good?"))[0].text == "Who is not good?"
    assert negated.list_negated_sentences_or_reason(analyse("Who likes tea?")) == "a question"


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("Tea is an easy drink.", "Tea is a difficult drink."),
        ("Tea is a useful drink.", "Tea is a useless drink."),
        ("It is an illegal act.", "It is a legal act."),
        ("It is a legal act.", "It is an illegal act."),
        ("Hotter tea is there.", "Colder tea is there."),
        ("The gain increased.", "The gain decreased."),
        ("It is forbidden.", "It is permitted."),
        ("She forgot it.", "She remembered it."),
        ("That requires trade.", "That rules out trade."),
        ("Tea is more popular.", "Tea is less popular."),
        ("They go with tea.", "They go without tea."),
    ],
)
def test_an_english_word_is_replaced_by_its_antonym_in_the_same_form(text, changed):
    assert changed in [candidate.text for candidate in antonyms.list_antonym_sentences_or_reason(analyse(text), 0)]


@pytest.mark.parametrize(
    "text", ["They have the right to go.", "Is this right or wrong?", "It is an old-fashioned tea."]
)
def test_words_of_several_senses_and_pairs_that_are_joined_stay(text):
    assert antonyms.list_antonym_sentences_or_reason(analyse(text), 0) == antonyms.NO_WORD


def test_words_that_are_seldom_good_english_come_last():
    candidates = antonyms.list_antonym_sentences_or_reason(analyse("Tea with milk is good with many sweets."), 0)
    assert candidates[0].source == "good -> bad" and len(candidates) == 4


def test_a_table_of_antonyms_has_a_hundred_pairs_or_more_and_of_ones_own_takes_its_place(tmp_path):
    english, tagged = antonyms.read_antonym_table_and_ambiguous_words("en")
    assert (
        len(english) > 400
        and len(antonyms.read_antonym_table_and_ambiguous_words("ja")[0]) > 180
        and tagged <= english.keys()
    )
    (tmp_path / "a.yaml").write_text("verbs: [[sip, gulp]]\nverb forms: {sip: [sips, sipped, sipped, sipping]}\n")
    own = str(tmp_path / "a.yaml")
    assert [
        change.text for change in antonyms.list_antonym_sentences_or_reason(analyse("You sipped hot tea."), 0, own)
    ] == ["You gulped hot tea."]


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("Tea is better than coffee.", "Coffee is better than tea."),
        ("In law, peace should be more important than order.", "In law, order should be more important than peace."),
        ("It is divided more by class than by nation.", "It is divided more by nation than by class."),
        ("Serve people rather than the rich.", "Serve the rich rather than people."),
        ("The baker and the cook are wiser than the poet.", "The poet are wiser than the baker and the cook."),
        ("All tea is good.", "Some tea is good."),
        ("Most people like tea.", "Few people like tea."),
        ("The most useful tea is always there.", "The most useful tea is sometimes there."),
        ("You like Paris and Rome.", "You like Rome and Paris."),
        ("You see two dogs.", None),
        ("You see 30 dogs.", None),
        ("In 1950 this was good.", None),
    ],
)
def test_a_part_of_an_english_sentence_is_exchanged(text, changed):
    candidates = [candidate.text for candidate in exchange(text)]
    assert changed in candidates if changed else candidates and text not in candidates


@pytest.mark.parametrize("text", ["This is not good at all.", "It is better than that.", "A one-party state is good."])
def test_what_is_no_quantity_and_no_comparison_stays(text):
    assert isinstance(exchange(text), str)


@pytest.mark.parametrize(
    ("written", "others"),
    [
        ("30", ["15", "60", "90"]),
        ("1,000", ["500", "2,000", "3,000"]),
        ("1950", ["1910", "1930", "1970"]),
        ("2.5", ["1.2", "5.0", "7.5"]),
        ("0", ["7"]),
    ],
)
def test_another_number_is_far_from_the_first(written, others):
    from inference.meaning.decoys.exchanged import _list_distant_numbers

    assert _list_distant_numbers(written, None) == others
    assert _list_distant_numbers("80", 100) == ["40"]


JAPANESE = [
    (
        "紅茶はコーヒーよりおいしい。",
        "紅茶はコーヒーよりおいしくない。",
        "紅茶はコーヒーよりまずい。",
        "コーヒーは紅茶よりおいしい。",
    ),
    (
        "子供は三つの約束を守ります。",
        "子供は三つの約束を守りません。",
        "子供は三つの約束を破ります。",
        "子供は五つの約束を守ります。",
    ),
    ("東京は大阪より大きい。", "東京は大阪より大きくない。", "東京は大阪より小さい。", "大阪は東京より大きい。"),
    ("企業は環境を保護すべきだ。", None, "企業は環境を破壊すべきだ。", "環境は企業を保護すべきだ。"),
    ("戦争は許されない。", "戦争は許されないというのは正しくない。", "平和は許されない。", None),
    (
        "すべての国は常に正しい。",
        "すべての国は常に正しくない。",
        "すべての国はまれに正しい。",
        "一部の国は常に正しい。",
    ),
    ("夏の朝は涼しかった。", "夏の朝は涼しくなかった。", "夏の朝は暖かかった。", None),
]


@pytest.mark.parametrize(("text", "denial", "antonym", "exchanged"), JAPANESE)
def test_japanese_has_its_own_rules(text, denial, antonym, exchanged):
    pytest.importorskip("fugashi")
    sentence = analyse(text)
    assert sentence.language == "ja"
    assert denial is None or negated.list_negated_sentences_or_reason(sentence)[0].text == denial
    assert antonym in [candidate.text for candidate in antonyms.list_antonym_sentences_or_reason(sentence, 0)]
    made = Exchange([sentence], 0).list_exchanged_sentences_or_reason(sentence)
    assert made[0].text == exchanged if exchanged else isinstance(made, str)


@pytest.mark.slow
def test_tags_tell_what_belongs_together():
    spacy = pytest.importorskip("spacy")
    from spacy.tokens import Doc

    from inference.meaning.decoys import exchanged_english
    from inference.meaning.decoys.sentences import Sentence

    words = ["Rich", "companies", "exploit", "poor", "countries", "with", "tea", "."]
    doc = Doc(
        spacy.blank("en").vocab,
        words,
        spaces=[True] * 6 + [False, False],
        tags=["JJ", "NNS", "VBP", "JJ", "NNS", "IN", "NN", "."],
        heads=[1, 2, 2, 4, 2, 6, 2, 2],
        deps=["amod", "nsubj", "ROOT", "amod", "obj", "case", "obl", "punct"],
    )
    item = Item("x", (Variant("x", "original", "original", doc.text, ()),))
    sentence = Sentence(item, doc.text, "en", doc, ())
    swapped = [candidate.text for candidate in exchanged_english.swap_nouns(sentence)]
    assert swapped == ["Poor countries exploit rich companies with tea."]
