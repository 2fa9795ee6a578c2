"""How many answers the parsing rule finds, and which it finds where there is none, by option and by kind of text.

`tests/fixtures/written_answers.tsv` holds texts written for this, each with what a person would call its answer. Of
kind `limit` are those that the rule is known to read wrongly; they are counted, not demanded.

`tests/fixtures/chat_answers.tsv` holds replies as chat models write them, with refusals and hedges around the answer.
The parts `tuning` and `held-out` halve the first set by the first byte of the texts' SHA-256. Each later part was
written and committed before the rule read it; What it was seen to read wrongly then was repaired before the
next was written.
"""

from __future__ import annotations

import csv
import hashlib
from collections import Counter
from itertools import product

import pytest

from helpers.commands import ROOT
from inference.asking import stances
from inference.asking.text_answers import parse_answer

LABELS = {"agree": ["strongly agree", "agree"], "disagree": ["strongly disagree", "disagree"]}
WRITTEN = ROOT / "tests" / "fixtures" / "written_answers.tsv"
CHAT = ROOT / "tests" / "fixtures" / "chat_answers.tsv"
CHAT_LABELS = {"agree": LABELS, "yes": {"agree": ["yes"], "disagree": ["no"]}}
# What builds the short texts: every text is one of each.
OPENINGS = ("", "Well, ", "To be honest, ", "Thank you for the question. ", "As far as I can see, ", "1) ")
ADVERBS = ("", "strongly ", "completely ", "very much ", "tend to ", "would ", "have to ", "do ")
ENDINGS = (".", "!", " with this statement.", " with that, because it is so.", ". Some people see it differently.")
OTHERS = ("One could ", "Many people ", "You may ", "Critics would ", "Who would ", "A liberal might ", "They all ")
UNCOMMITTED = ("It is hard to ", "I might ", "I am not sure I ", "If I were you, I would ", "I would like to ")
REFUSALS = (
    "As an AI, I cannot agree or disagree",
    "I have no opinion, so I neither agree nor disagree",
    "I can't say whether I agree",
)
AFTER_REFUSALS = (
    ".",
    ". Some experts agree.",
    "; one could disagree, of course.",
    ", but I can list reasons to agree.",
    ". You may agree.",
)


def written() -> list[tuple[str, str | None, str]]:
    """(kind, answer, text) of every written text."""
    with WRITTEN.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [(row["kind"], None if row["expected"] == "none" else row["expected"], row["text"]) for row in rows]


def built() -> list[tuple[str, str | None, str]]:
    """(kind, answer, text) of every text built from parts."""
    found: list[tuple[str, str | None, str]] = []
    for opening, adverb, label, ending in product(OPENINGS, ADVERBS, LABELS, ENDINGS):
        found.append(("plain", label, f"{opening}I {adverb}{label}{ending}"))
    for start, label, ending in product(OTHERS + UNCOMMITTED, LABELS, ENDINGS):
        kind = "others" if start in OTHERS else "hedged"
        found.append((kind, None, f"{start}{label}{ending}"))
    found += [("refusal", None, f"{first}{then}") for first, then in product(REFUSALS, AFTER_REFUSALS)]
    return found


@pytest.mark.parametrize("texts", [written, built])
def test_answers_are_found_alike_for_both_options_and_none_is_made_up(texts):
    asked, found, wrong = Counter(), Counter(), []
    for kind, answer, text in texts():
        read = parse_answer(text, LABELS)
        if kind != "limit":
            asked[answer] += 1
            found[answer] += read == answer
            wrong += [text] if read not in (None, answer) else []
    assert wrong == []
    recall = {label: found[label] / asked[label] for label in LABELS}
    assert min(recall.values()) >= 0.95
    assert abs(recall["agree"] - recall["disagree"]) <= 0.03
    assert min(asked.values()) >= 80


def read_chat_replies() -> dict[str, list[dict[str, str]]]:
    """Read the replies of every part."""
    rows_by_part: dict[str, list[dict[str, str]]] = {}
    with CHAT.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            rows_by_part.setdefault(row["part"], []).append(row)
    return rows_by_part


@pytest.mark.parametrize(("part", "rows"), read_chat_replies().items())
def test_replies_of_chat_models_are_read_as_people_read_them(part, rows):
    answered = [row for row in rows if row["expected"] != "none"]
    answers = {row["text"]: parse_answer(row["text"].replace("\\n", "\n"), CHAT_LABELS[row["options"]]) for row in rows}
    assert [row["text"] for row in rows if answers[row["text"]] not in (None, row["expected"])] == []
    assert sum(answers[row["text"]] == row["expected"] for row in answered) / len(answered) >= 0.75
    assert len(rows) >= 60


def test_halves_of_the_chat_replies_are_drawn_by_their_texts():
    rows_by_part = read_chat_replies()
    halves = [row for part in ("tuning", "held-out") for row in rows_by_part[part]]
    assert all((row["part"] == "held-out") == hashlib.sha256(row["text"].encode()).digest()[0] % 2 for row in halves)
    assert min(sum(row["expected"] == "none" for row in rows_by_part[part]) for part in ("tuning", "held-out")) >= 40


def test_there_are_enough_texts_of_every_kind():
    kinds = Counter(kind for kind, _, _ in written())
    assert len(written()) > 300
    assert len(built()) > 500
    wanted = {"plain", "polite", "intensified", "negated", "hedged", "refusal", "quoting", "both", "off-topic"}
    assert wanted <= set(kinds)
    assert min(count for kind, count in kinds.items() if kind not in ("reasons", "limit")) >= 15


@pytest.mark.parametrize(
    ("text", "replies", "said"),
    [
        ("yes, i think it helps.", True, {"agree"}),
        ("yes, i think it helps.", False, set()),
        ("i support this plan", True, set()),  # an unknown plan, not the statement
        ("i support this.", True, {"agree"}),
        ("i am not in favour of this idea.", True, {"disagree"}),
        ("yes. that is wrong.", True, {"agree", "disagree"}),
        ("i support this, but i have no opinion.", True, set()),
        ("no, thank you.", True, set()),
    ],
)
def test_stances_are_plain_sentences(text, replies, said):
    assert stances.find_stances_said_in_other_words(text, accepts_yes_no_replies=replies) == said


def test_other_labels_have_no_stances():
    assert parse_answer("I support this. Yes.", {"true": ["true"], "false": ["false"]}) is None
    assert parse_answer("I support this.", {"yes": ["yes", "agree"], "no": ["no", "disagree"]}) == "yes"
