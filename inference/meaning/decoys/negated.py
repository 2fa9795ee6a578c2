"""Negate a sentence, or take a negation out of one that holds it."""

from __future__ import annotations

import re

from inference.meaning.decoys.sentences import ENGLISH, JAPANESE_NAME, Candidate, Sentence, explain_language
from inference.meaning.decoys.shuffled import lower_first_word
from inference.negating import detect, english, japanese
from inference.negating.negation import END

QUESTION = "a question"
_SUBORDINATE = re.compile(
    r"\b(?:who|whom|whose|which|that|if|because|when|whenever|while|whether|although|though|unless|until|since|as|what|"
    r"what's|where|how)\b[^,;:]*$",
    re.IGNORECASE,
)
# Behind these words "not" stands right; "have" and "do" need to know what follows.
_AUXILIARY = re.compile(
    r"\b(?:is|are|was|were|am|can|could|should|would|will|must|may|might|shall|ought|(?:i|you|we|they)'(?:ve|re|m|d|ll)|"
    r"i'm|(?:it|he|she|that|there)'(?:s|d|ll))\b",
    re.IGNORECASE,
)
_BEGINS_WITH_AUXILIARY = re.compile(rf"(?:{_AUXILIARY.pattern}|do|does|did|has|have|had)\s", re.IGNORECASE)
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


def negate_sentence(sentence: Sentence) -> list[Candidate] | str:
    """Make sentences that deny the sentence: with a negation more, or without the one that it holds.

    English takes its negations from a pipeline's tags. Without one, not stands behind the first auxiliary or form of
    be of the main clause, or do not before a verb that looks like no other form; else "It is not true that" stands
    before the sentence. Japanese takes them from the rule table, the last word of the sentence first; a sentence that
    holds a negation is called untrue.

    Parameters
    ----------
    sentence
        The sentence.

    Returns
    -------
    The sentences, the best first; or why there is none.
    """
    if sentence.language == JAPANESE_NAME:
        return _negate_japanese(sentence)
    if sentence.language != ENGLISH:
        return explain_language(sentence.language)
    text = sentence.text.strip().replace("’", "'")
    if text.endswith("?") and _BEGINS_WITH_AUXILIARY.match(text):
        return f"{QUESTION}, which asks the same with a negation in it"
    if detect.has_english_negation(text):
        candidates = _take_negations_out(text)
    elif sentence.doc is not None:
        candidates = _negate_by_tags(sentence)
    else:
        candidates = _negate_by_rule(text)
    if not text.endswith("?"):
        first, _, rest = text.partition(" ")
        candidates.append(
            Candidate(
                f"It is not true that {lower_first_word(sentence, first)} {rest}".strip(), '"it is not true that"'
            )
        )
    return candidates or QUESTION


def _negate_japanese(sentence: Sentence) -> list[Candidate] | str:
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


def _negate_by_tags(sentence: Sentence) -> list[Candidate]:
    """Negate an English sentence by a pipeline's tags, its main verb first."""
    finite_verbs = [word for word in sentence.doc if word.tag_ in english.DO_BY_TAG or word.tag_ == "MD"]
    negations = list(english.generate_english_negations(sentence.doc))
    order = sorted(range(len(negations)), key=lambda place: not _is_main_verb(finite_verbs[place]))
    return [Candidate(negations[place].text, f"negated: {negations[place].insertion}") for place in order]


def _is_main_verb(word: object) -> bool:
    """Tell whether a verb is the root of its sentence, or belongs to it as auxiliary or copula."""
    head = getattr(word, "head")  # noqa: B009
    return head is word or (getattr(head, "head") is head and str(getattr(word, "dep_")).startswith(("aux", "cop")))  # noqa: B009


def _negate_by_rule(text: str) -> list[Candidate]:
    """Negate an English sentence without tags: behind an auxiliary, of the main clause first, or with a safe do."""
    if match := _SAFE_DO.match(text):
        return [Candidate(f"{match[1]} do not {text[match.start(2) :]}", "negated: do not")]
    places = sorted(_AUXILIARY.finditer(text), key=lambda match: bool(_SUBORDINATE.search(text[: match.start()])))
    return [
        Candidate(f"{text[: match.end()]} not{text[match.end() :]}", "negated: not")
        for match in places
        if not text[match.end() :].startswith(("'", "-"))
    ]


def _take_negations_out(text: str) -> list[Candidate]:
    """Take one negation out of an English sentence, that of the main clause first."""
    made = []
    for pattern, plain in _WITHOUT_NEGATION:
        for match in pattern.finditer(text):
            positive = match.expand(plain)
            if match[0][:1].isupper():
                positive = positive[:1].upper() + positive[1:]
            changed = text[: match.start()] + positive + text[match.end() :]
            is_subordinate = bool(_SUBORDINATE.search(text[: match.start()]))
            made.append((is_subordinate, Candidate(changed, f"{match[0].strip()} -> {positive or 'left out'}")))
    return [candidate for _, candidate in sorted(made, key=lambda entry: entry[0])]
