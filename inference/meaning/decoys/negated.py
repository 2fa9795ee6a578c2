"""Negate a sentence, or take a negation out of one that holds it."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from ground.capitals import capitalise_sentence
from inference.meaning.decoys.sentences import (
    ENGLISH,
    JAPANESE_NAME,
    Candidate,
    Sentence,
    explain_language_without_rules,
)
from inference.meaning.decoys.spelling import lowercase_first_word_unless_name
from inference.negating import detect, english, japanese
from inference.negating.negation import END

QUESTION = "a question"
_SUBORDINATOR = re.compile(
    r"\b(?:who|whom|whose|which|that|if|because|when|whenever|while|whether|although|though|unless|until|since|as|what|"
    r"where|how)\b",
    re.IGNORECASE,
)
# Behind these words "not" stands right; "have" and "do" need to know what follows.
_AUXILIARY = re.compile(
    r"\b(?:is|are|was|were|am|can|could|should|would|will|must|may|might|shall|ought|(?:i|you|we|they)'(?:ve|re|m|d|ll)|"
    r"i'm|(?:it|he|she|that|there)'(?:s|d|ll)|"
    r"(?:has|have|had)(?= (?:been|gone|done|become|made|taken|given|seen|known|shown|led|come|\w+[^e]ed)\b))\b",
    re.IGNORECASE,
)
_FINITE = re.compile(rf"(?:{_AUXILIARY.pattern}|\b(?:do|does|did|has|have|had)\b|\w+n't\b|\bcannot\b)", re.IGNORECASE)
_LAST_WORD = re.compile(r"\S+\s*$")
_NOUN = re.compile(r"(?:ness|tion|ment|ity|ism)$")
# Verbs whose base form no other form looks like, behind a subject that takes it: "not" needs "do".
_SAFE_DO = re.compile(
    r"^((?:I|We|You|They)(?: (?:often|usually|always|really|sometimes))?) (like|love|enjoy|prefer|think|believe|feel|"
    r"want|need|agree|trust|support|see|know|try|tend|worry|get|make|take|find|keep|expect|hope|care|seek|"
    r"have (?=an? |to |no ))\b",
    re.IGNORECASE,
)
_WITHOUT_NEGATION = [
    (re.compile(pattern, re.IGNORECASE), plain)
    for pattern, plain in [
        (r"\bcan(?:not|'t)\b", "can"),
        (r"\bwon't\b", "will"),
        (r"\bshan't\b", "shall"),
        (r"\b(is|are|was|were|do|does|did|has|have|had|could|should|would|must|might)n't\b", r"\1"),
        (r"\bnot (?!only\b)", ""),
        (r"\bnever\b", "always"),
        (r"\b(?:no one|nobody)\b", "everyone"),
        (r"\bnothing\b", "everything"),
        (r"\bnone of\b", "all of"),
        (r"\bwithout\b", "with"),
        (r"\bthere are no\b", "there are"),
        (r"^no\b", "every"),
        (r"\bneither (.+?) nor\b", r"both \1 and"),
    ]
]


def list_negated_sentences_or_reason(sentence: Sentence) -> list[Candidate] | str:
    """Make sentences that deny the sentence: with a negation more, or without the one that it holds.

    In English, a negation of the main clause is left out. Else "not" stands behind an auxiliary or a form of be, that
    of the main clause first, or "do not" before a verb that looks like no other form. With a pipeline, its tags find
    further verbs. The last way is "It is not true that" before the sentence. Japanese takes its negations from the rule
    table, the end of the sentence first; a sentence that holds a negation is called untrue only.

    Parameters
    ----------
    sentence
        The sentence.

    Returns
    -------
    The sentences, the best first; or why there is none.
    """
    if sentence.language == JAPANESE_NAME:
        return _list_japanese_negations_or_reason(sentence)
    if sentence.language != ENGLISH:
        return explain_language_without_rules(sentence.language)
    text = sentence.text.strip().replace("’", "'")
    if text.endswith("?") and _FINITE.match(text):
        return f"{QUESTION}, which asks the same with a negation in it"
    changes = _list_removals_of_one_negation(text)
    if not any(change.is_in_main_clause for change in changes):  # else there would be two in one clause
        changes += _negate_by_rule(text)
        changes += _negate_by_tags(sentence) if sentence.doc is not None else []
    if not detect.has_english_negation(text):
        changes = _list_denials_of_some_and_sometimes(text) + changes
    candidates = [change.candidate for change in sorted(changes, key=lambda change: not change.is_in_main_clause)]
    if not text.endswith("?"):
        first, _, rest = text.partition(" ")
        untrue = f"It is not true that {lowercase_first_word_unless_name(sentence, first)} {rest}".strip()
        candidates.append(Candidate(untrue, "it is not true that"))
    return candidates or QUESTION


class _Change(NamedTuple):
    """A sentence that denies another, and whether the negation stands in its main clause, as far as rules see."""

    is_in_main_clause: bool
    candidate: Candidate


def _does_main_clause_follow_text(text_before: str) -> bool:
    """Tell whether a finite verb behind this text is that of the main clause: no who, that, if ... waits for one."""
    clause = re.split("[,;:]", text_before)[-1]
    return not any(not _FINITE.search(clause[match.end() :]) for match in _SUBORDINATOR.finditer(clause))


def _list_denials_of_some_and_sometimes(text: str) -> list[_Change]:
    """Deny what is said of some: sometimes -> never, and at the beginning some -> no; a "not" would leave it true."""
    changes = []
    for pattern, denial in ((r"\bsometimes\b", "never"), (r"^Some\b(?! of)", "No")):
        for match in re.finditer(pattern, text):
            changed = text[: match.start()] + denial + text[match.end() :]
            changes.append(_Change(True, Candidate(changed, f"{match[0]} -> {denial}")))
    return changes


def _list_japanese_negations_or_reason(sentence: Sentence) -> list[Candidate] | str:
    """Negate a Japanese sentence, the last of its words first."""
    text = sentence.text.strip()
    candidates = []
    if not detect.has_japanese_negation(sentence.text, sentence.words):
        negations = list(japanese.generate_japanese_negations(sentence.text, sentence.words))[::-1]
        negations.sort(key=lambda negation: negation.position != END)
        candidates = [Candidate(negation.text, f"negated: {negation.insertion}") for negation in negations]
    body = text.rstrip("。．.！!")
    if text.endswith(("?", "？")) or body.endswith("か"):
        return candidates or QUESTION
    polite = body.endswith(("です", "ます", "ません", "でした", "ました"))
    end = "というのは正しくありません。" if polite else "というのは正しくない。"
    return [*candidates, Candidate(body + end, "「というのは正しくない」")]


def _negate_by_tags(sentence: Sentence) -> list[_Change]:
    """Negate an English sentence by a pipeline's tags, its root first; not where a noun is taken for a verb."""
    finite_verbs = [word for word in sentence.doc if word.tag_ in english.DO_BY_TAG or word.tag_ == "MD"]
    negations = zip(finite_verbs, english.generate_english_negations(sentence.doc), strict=True)
    ordered = sorted(negations, key=lambda pair: not _is_root_verb(pair[0]))
    return [
        _Change(
            _does_main_clause_follow_text(sentence.text[: verb.idx].replace("’", "'")),
            Candidate(negation.text, f"negated: {negation.insertion}"),
        )
        for verb, negation in ordered
        if not _NOUN.search(verb.text) and not re.search(r"\bnot (?:not|no|never)\b", negation.text)
    ]


def _is_root_verb(verb: Any) -> bool:
    """Tell whether a verb is the root of its sentence, or belongs to it as auxiliary or copula."""
    return verb.head == verb or (verb.head.head == verb.head and verb.dep_.startswith(("aux", "cop")))


def _negate_by_rule(text: str) -> list[_Change]:
    """Negate an English sentence without tags: behind an auxiliary, or with do before a verb that is surely one."""
    if match := _SAFE_DO.match(text):
        return [_Change(True, Candidate(f"{match[1]} do not {text[match.start(2) :]}", "negated: do not"))]
    return [
        _Change(
            _does_main_clause_follow_text(text[: match.start()]),
            Candidate(f"{text[: match.end()]} not{text[match.end() :]}", "negated: not"),
        )
        for match in _AUXILIARY.finditer(text)
        if not re.match(r"['-]| (?:not|no|never)\b", text[match.end() :])
    ]


def _list_removals_of_one_negation(text: str) -> list[_Change]:
    """Take one negation out of an English sentence."""
    changes = []
    for pattern, plain in _WITHOUT_NEGATION:
        for match in pattern.finditer(text):
            positive = match.expand(plain)
            if match[0][:1].isupper():
                positive = capitalise_sentence(positive)
            changed = text[: match.start()] + positive + text[match.end() :]
            source = f"{match[0].strip()} -> {positive}" if positive else f"{match[0].strip()} left out"
            verb_place = _LAST_WORD.search(text[: match.start()])  # of is not, the place of is
            before = text[: verb_place.start()] if verb_place and match[0][:3].lower() in ("not", "nev") else ""
            changes.append(
                _Change(_does_main_clause_follow_text(before or text[: match.start()]), Candidate(changed, source))
            )
    return changes
