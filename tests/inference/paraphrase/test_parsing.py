"""Reading paraphrases out of what models write; the answers are made up after the styles that models have."""

from __future__ import annotations

import json

import pytest

from inference.paraphrase.parsing import (
    CHATTER,
    CUT_OFF,
    EMPTY,
    REFUSAL,
    normalise_wording,
    split_answer_into_judged_lines,
)


def kept(output: str) -> list[str]:
    return [line.text for line in split_answer_into_judged_lines(output) if line.reason is None]


def reasons(output: str) -> list[str | None]:
    return [line.reason for line in split_answer_into_judged_lines(output)]


@pytest.mark.parametrize(
    "marker",
    [
        "1.",
        "1)",
        "(1)",
        "[1]",
        "1:",
        "1 -",
        "1 –",
        "#1",
        "**1.**",
        "- 1.",
        "１．",
        "1、",
        "①",
        "Version 1:",
        "**Version 1:**",
        "Paraphrase #1 -",
        "paraphrase no. 1:",
        "Option 1)",
        "言い換え1：",
        "a)",
        "(b)",
        "1.)",
        "1\t",
    ],
)
def test_a_number_in_any_style_is_taken_off(marker):
    other = marker.replace("1", "2").replace("１", "２").replace("①", "②")
    assert kept(f"{marker} Tea is good.\n{other} Tea is fine.") == ["Tea is good.", "Tea is fine."]


@pytest.mark.parametrize("bullet", ["- ", "* ", "• ", "•", "– ", "・", "> ", "●"])
def test_a_bullet_is_taken_off(bullet):
    assert kept(f"{bullet}Tea is good.\n\n{bullet}Tea is fine.") == ["Tea is good.", "Tea is fine."]


@pytest.mark.parametrize(
    "text",
    [
        "3.5 million people drink tea.",
        "10:30 is tea time.",
        "3-year-olds drink tea.",
        "2024: a year of tea.",
        "50% drink tea.",
        "Tea (1) is good.",
        "'Tea' is a 'word'.",
        '"Tea" and "coffee"',
        "-5 degrees is cold.",
        "I can't help but drink tea.",
        "I cannot be moral without tea.",
        "I won't support my country if it is wrong.",
        "I'm sorry for people without tea.",
        "Of course tea is good.",
        "Sure, tea is good.",
        "Here and there people drink tea.",
        "**Tea** is **good**.",
        "A. Tea",
        "はい茶は良い。",
    ],
)
def test_a_sentence_that_only_looks_like_a_marker_or_a_phrase_stays_whole(text):
    assert kept(f"{text}\nTea is fine.") == [text, "Tea is fine."]


@pytest.mark.parametrize(
    "wrapped",
    [
        '"{}"',
        "“{}”",
        "‘{}’",
        "'{}'",
        "«{}»",
        "„{}“",
        "「{}」",
        "『{}』",
        "**{}**",
        "*{}*",
        "_{}_",
        "`{}`",
        '**"{}"**',
        '"{}",',
    ],
)
def test_quotes_and_emphasis_around_a_whole_line_are_taken_off(wrapped):
    assert kept(f"1. {wrapped.format('Tea is good.')}\n2. {wrapped.format('Tea is fine.')}") == [
        "Tea is good.",
        "Tea is fine.",
    ]


def test_emphasis_that_begins_before_the_number_ends_with_it():
    assert kept("**1. Tea is good.**\n**2. Tea is fine.**") == ["Tea is good.", "Tea is fine."]


def test_a_style_named_before_the_sentence_is_taken_off():
    assert kept("1. **Formal:** Tea is good.\n2. **Very casual**: Tea rocks.") == ["Tea is good.", "Tea rocks."]


def test_what_is_not_in_the_list_is_chatter():
    found = split_answer_into_judged_lines(
        "Sure! Ways to say it\n\n1. Tea is good.\n2. Tea is fine.\n\nMore like this tomorrow."
    )
    assert [line.reason for line in found] == [CHATTER, None, None, CHATTER]


def test_headings_between_lists_are_chatter():
    assert kept("1. Formal:\n   - Tea is good.\n   - Tea is fine.\n2. Casual:\n   - Tea rocks.") == [
        "Tea is good.", "Tea is fine.", "Tea rocks.",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "phrase",
    [
        "Here are 20 paraphrases of the statement:",
        "Sure! Here you go.",
        "Certainly, here are some rewordings",
        "Of course!",
        "I hope these help!",
        "Let me know if you need more.",
        "Feel free to ask for more.",
        "Note: these versions keep the meaning.",
        "以下は言い換えの例です。",
        "はい、承知しました。",
        "Statement: Tea is good.",
        "Below are twenty versions",
    ],
)
def test_chatter_around_a_list_without_markers(phrase):
    assert reasons(f"{phrase}\nTea is good.\nTea is fine.") == [CHATTER, None, None]


@pytest.mark.parametrize(
    "refusal",
    [
        "I'm sorry, but I can't help with that.",
        "I’m sorry, but I can’t assist with that request.",
        "I apologize, but no.",
        "I cannot provide paraphrases of this statement.",
        "I can't create content that promotes hate.",
        "I won't rephrase that.",
        "As an AI language model, I have no opinions.",
        "I'm not comfortable paraphrasing this.",
        "I must decline to reword it.",
        "Unfortunately, I am unable to help you with this.",
        "I don't feel comfortable providing versions of that statement.",
        "申し訳ありませんが、できません。",
        "その内容の言い換えは提供できません。",
    ],
)
def test_a_refusal_is_one_with_all_that_explains_it(refusal):
    assert reasons(f"{refusal}\nIt would not be kind.\nBeing kind is good.") == [REFUSAL] * 3
    assert reasons(f"1. Tea is good.\n2. {refusal}\n3. Tea is fine.") == [None, REFUSAL, None]


def test_a_list_after_an_apology_is_still_a_list():
    assert kept("I'm sorry, I misread that.\n1. Tea is good.\n2. Tea is fine.") == ["Tea is good.", "Tea is fine."]


@pytest.mark.parametrize("output", ["", "\n \n\t\n", "```\n```", "<think>\n1. Tea is\n2. Tea"])
def test_an_answer_without_a_line_is_empty(output):
    assert reasons(output) == [EMPTY]


def test_a_line_of_punctuation_is_empty():
    assert reasons("...\n***\nTea is good.") == [EMPTY, EMPTY, None]


def test_thinking_is_not_part_of_the_answer():
    assert kept("<think>\n1. Tea is it.\n</think>\n\n1. Tea is good.\n2. Tea is fine.") == [
        "Tea is good.",
        "Tea is fine.",
    ]


def test_a_last_line_that_was_cut_off():
    assert reasons("1. Tea is good.\n2. Tea is fine.\n3. Tea is wond") == [None, None, CUT_OFF]
    assert reasons("1. Tea is good\n2. Tea is fine\n3. Tea is nice") == [None, None, None]


def test_a_list_in_json():
    texts = ["Tea is good.", "Tea, it is fine.", "Tea is nice."]
    assert kept(f"```json\n{json.dumps(texts, indent=2)}\n```") == texts


def test_a_japanese_list():
    output = "以下は言い換えです。\n１．お茶は良い。\n２．「お茶がよい。」\n３．お茶は３．５倍よい。"
    assert kept(output) == ["お茶は良い。", "お茶がよい。", "お茶は３．５倍よい。"]


def test_markup_stays_text():
    assert kept("1. <b>Tea</b> & <script>alert(1)</script>.\n2. {{ 7 * 7 }} teas.") == [
        "<b>Tea</b> & <script>alert(1)</script>.", "{{ 7 * 7 }} teas.",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Tea is good.", "tea  IS good"),
        ("Don’t — stop!", "don't stop"),
        ("Ｔｅａ　１", "tea 1"),
        ("STRASSE", "straße"),
        ("お茶は、良い。", "お茶は 良い"),
        ("é", "e\u0301"),
        ("tea\u200b", "tea"),
    ],
)
def test_case_space_and_punctuation_do_not_make_another_wording(one, other):
    assert normalise_wording(one) == normalise_wording(other)


@pytest.mark.parametrize(("one", "other"), [("5 €", "5 $"), ("tea", "teas"), ("a < b", "a > b"), ("か", "が")])
def test_letters_and_symbols_do(one, other):
    assert normalise_wording(one) != normalise_wording(other)


def test_published_paraphrases_come_through_a_numbered_list_unchanged(shared):
    """Whole sentences of others, which need no reading: what is asked back must be what was put in."""
    file = shared / "political-compass-paraphrases" / "paraphrases_claude-3-5-sonnet-20240620_temp1.json"
    entries = json.loads(file.read_text(encoding="utf-8"))
    texts = [text for entry in entries for text in entry["alternative_statements"][:40]]
    assert len(texts) > 2000
    lists = ["\n".join(f"{n}. {text}" for n, text in enumerate(texts[at : at + 20], start=1))
             for at in range(0, len(texts), 20)]  # fmt: skip
    read = [text for output in lists for text in kept(output)]
    lost = [text for text, back in zip(texts, read, strict=True) if text != back]
    assert lost == []
