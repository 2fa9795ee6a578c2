"""Put a negation into English sentences: "not" behind an auxiliary or the copula, else "do not"."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ground.errors import InputError
from inference.negating.negation import InsertedNegation, classify_negation_as_mid_or_end
from inference.stimuli.reading.files import read_yaml

VERBS = Path(__file__).parent / "verbs-en.yaml"
AUXILIARY, COPULA, VERB = "auxiliary", "copula", "verb"
DO_BY_TAG = {"VBZ": "does", "VBP": "do", "VBD": "did"}
"""Tag of a finite verb -> the form of do that takes its place."""
VOWELS = "aeiou"


def load_spacy_pipeline(source: str) -> Any:
    """Load a spaCy pipeline, by the name of its package or from a folder.

    Raises
    ------
    InputError
        There is no such pipeline, or it has no tagger or parser.
    """
    import spacy

    try:
        loaded = spacy.load(source, exclude=["ner"])
    except (OSError, ValueError, ImportError) as error:
        raise InputError(
            f"--pipeline {source}: no spaCy pipeline can be loaded ({str(error).splitlines()[0]}); name a package "
            "that is installed (python -m spacy download en_core_web_sm) or its folder"
        ) from None
    lacking = next((part for part in ("tagger", "parser") if part not in loaded.pipe_names), None)
    if lacking or loaded.lang != "en":
        trouble = f"it has no {lacking}" if lacking else f"it is for the language '{loaded.lang}'"
        raise InputError(f"--pipeline {source}: {trouble}; name an English pipeline with tagger and parser")
    return loaded


def generate_english_negations(doc: Any) -> Iterator[InsertedNegation]:
    """Make every sentence that has one negation more than this one, in the order of its finite verbs.

    Parameters
    ----------
    doc
        A sentence without a negation, as a pipeline with tagger and parser analysed it.
    """
    for word in doc:
        if word.tag_ not in DO_BY_TAG and word.tag_ != "MD":
            continue
        kind = _classify_how_verb_takes_negation(word)
        end, sentence = word.idx + len(word), doc.text
        place = end if kind == VERB else _find_place_of_not(word)
        before, negation, after = f"{sentence[:place]} ", "not", sentence[place:]
        if kind == VERB:
            negation = f"{DO_BY_TAG[word.tag_]} not"
            before, after = sentence[: word.idx], f" {_find_base_form(word)}{after}"
        elif word.lower_ == "can" and place == end:
            before, negation = sentence[: word.idx], f"{word.text}not"
        yield InsertedNegation(f"{before}{negation}{after}", classify_negation_as_mid_or_end(after), kind, negation)


def _classify_how_verb_takes_negation(word: Any) -> str:
    """Say how a finite verb takes a negation: as an auxiliary, as the copula, or with do."""
    if word.dep_.startswith("aux") or word.tag_ == "MD":
        return AUXILIARY
    written = word.lower_.replace("’", "'")
    if written in _read_verb_forms()["be"]:
        return COPULA
    return AUXILIARY if written.startswith("'") else VERB  # 've and 'd are auxiliaries, whatever the parser says


def _find_place_of_not(word: Any) -> int:
    """Find where "not" stands with an auxiliary or copula: behind it, in a question behind its subject."""
    head = word.head if word.dep_.startswith(("aux", "cop")) else word
    subjects = [other for other in head.children if other.dep_.startswith(("nsubj", "expl"))]
    is_question = word.sent[-1].text == "?" and subjects and subjects[0].i > word.i
    last = subjects[0].right_edge if is_question else word
    return int(last.idx + len(last))


def _find_base_form(word: Any) -> str:
    """Return the dictionary form of a finite verb: as the pipeline has it, else from the table and the spelling."""
    if word.lemma_:
        return str(word.lemma_)
    text, verbs = str(word.lower_), _read_verb_forms()
    if word.tag_ == "VBP":
        return text
    if word.tag_ == "VBZ":
        return str(verbs["third"].get(text) or _find_base_form_of_third_person(text))
    return _find_base_form_of_past(text, verbs["past"])


def _find_base_form_of_third_person(text: str) -> str:
    """Return the dictionary form of a third person: watches -> watch, cries -> cry, runs -> run."""
    if text.endswith("ies") and len(text) > 4:
        return f"{text[:-3]}y"
    if text.endswith(("ches", "shes", "sses", "xes", "zzes", "oes")):
        return text[:-2]
    return text.removesuffix("s")


def _find_base_form_of_past(text: str, irregular: dict[str, str]) -> str:
    """Return the dictionary form of a past form: tried -> try, stopped -> stop, hoped -> hope, wrote -> write."""
    for prefix in ("", "over", "under", "with", "re", "out", "up", "fore", "mis", "for"):
        if text.startswith(prefix) and text.removeprefix(prefix) in irregular:
            return prefix + irregular[text.removeprefix(prefix)]
    if text.endswith("ied"):
        return f"{text[:-3]}y"
    stem = text.removesuffix("ed")
    if stem == text:
        return text
    if stem.endswith("e"):  # agreed
        return f"{stem}e"
    doubled = len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in VOWELS
    one_vowel = (
        len(stem) > 1 and stem[-1] not in f"{VOWELS}wxy" and stem[-2] in VOWELS and _count_vowel_groups(stem) == 1
    )
    if one_vowel and (len(stem) < 3 or stem[-3] not in VOWELS):
        return f"{stem}e"  # hoped: of hop it would be hopped
    candidates = [stem, f"{stem}e", *([stem[:-1]] if doubled else [])]
    return max(candidates, key=_compute_word_frequency)


def _count_vowel_groups(text: str) -> int:
    """Count the groups of vowels."""
    return sum(letter in VOWELS and (place == 0 or text[place - 1] not in VOWELS) for place, letter in enumerate(text))


def _compute_word_frequency(word: str) -> float:
    """Return how frequent an English word is, on the Zipf scale of wordfreq."""
    import wordfreq

    return float(wordfreq.zipf_frequency(word, "en"))


@functools.cache
def _read_verb_forms() -> Any:
    """Read the table of irregular verb forms."""
    return read_yaml(VERBS)
