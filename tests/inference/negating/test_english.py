"""English negations, on analyses written by hand: what a pipeline gets wrong is not the rules' fault."""

from __future__ import annotations

import pytest

spacy = pytest.importorskip("spacy")
from inference.negating import english  # noqa: E402
from inference.protocols.negation.negate import sentences  # noqa: E402

# word/tag/dependency/head, the head counted from 1
ANALYSED = {
    "The cat likes dogs.": ("DT det 2, NN nsubj 3, VBZ ROOT 3, NNS obj 3, . punct 3", ["The cat does not like dogs."]),
    "Cats like dogs!": ("NNS nsubj 2, VBP ROOT 2, NNS obj 2, . punct 2", ["Cats do not like dogs!"]),
    "She wrote it and slept.": (
        "PRP nsubj 2, VBD ROOT 2, PRP obj 2, CC cc 5, VBD conj 2, . punct 2",
        ["She did not write it and slept.", "She wrote it and did not sleep."],
    ),
    "She was reading.": ("PRP nsubj 3, VBD aux 3, VBG ROOT 3, . punct 3", ["She was not reading."]),
    "She has left.": ("PRP nsubj 3, VBZ aux 3, VBN ROOT 3, . punct 3", ["She has not left."]),
    "She has tea.": ("PRP nsubj 2, VBZ ROOT 2, NN obj 2, . punct 2", ["She does not have tea."]),
    "She does it.": ("PRP nsubj 2, VBZ ROOT 2, PRP obj 2, . punct 2", ["She does not do it."]),
    "It was built.": ("PRP nsubj:pass 3, VBD aux:pass 3, VBN ROOT 3, . punct 3", ["It was not built."]),
    "They 've tea.": ("PRP nsubj 2, VBP ROOT 2, NN obj 2, . punct 2", ["They 've not tea."]),
    "She can swim.": ("PRP nsubj 3, MD aux 3, VB ROOT 3, . punct 3", ["She cannot swim."]),
    "She will swim.": ("PRP nsubj 3, MD aux 3, VB ROOT 3, . punct 3", ["She will not swim."]),
    "He is a doctor.": ("PRP nsubj 4, VBZ cop 4, DT det 4, NN ROOT 4, . punct 4", ["He is not a doctor."]),
    "There are birds.": ("EX expl 2, VBP ROOT 2, NNS nsubj 2, . punct 2", ["There are not birds."]),
    "Are there birds?": ("VBP ROOT 1, EX expl 1, NNS nsubj 1, . punct 1", ["Are there not birds?"]),
    "Is the cat ill?": ("VBZ cop 4, DT det 3, NN nsubj 4, JJ ROOT 4, . punct 4", ["Is the cat not ill?"]),
    "Can she swim?": ("MD aux 3, PRP nsubj 3, VB ROOT 3, . punct 3", ["Can she not swim?"]),
    "Who wrote it?": ("WP nsubj 2, VBD ROOT 2, PRP obj 2, . punct 2", ["Who did not write it?"]),
    "The old house": ("DT det 3, JJ amod 3, NN ROOT 3", []),
}


VOCAB = spacy.blank("en").vocab


def doc(sentence, analysis):
    """A sentence with tags and dependencies, as a pipeline without dictionary forms gives them."""
    words = [*sentence[:-1].split(), sentence[-1]] if sentence[-1] in ".?!" else sentence.split()
    tags, dependencies, heads = zip(*(part.split() for part in analysis.split(", ")), strict=True)
    spaces = [number < len(words) - 2 or (sentence[-1] not in ".?!" and number < len(words) - 1)
              for number in range(len(words))]  # fmt: skip
    return spacy.tokens.Doc(
        VOCAB, words=words, spaces=spaces, tags=tags, deps=dependencies,
        heads=[int(head) - 1 for head in heads],
    )  # fmt: skip


@pytest.mark.parametrize("sentence", ANALYSED)
def test_not_stands_behind_the_auxiliary_or_copula_else_do_comes(sentence):
    analysis, expected = ANALYSED[sentence]
    given = doc(sentence, analysis)
    assert given.text == sentence
    assert [negation.text for negation in english.generate_english_negations(given)] == expected


def test_what_is_recorded():
    found = {}
    for sentence in ("The cat likes dogs.", "She can swim.", "He is a doctor.", "She was reading."):
        (negation,) = english.generate_english_negations(doc(sentence, ANALYSED[sentence][0]))
        found[sentence[:3]] = (negation.position, negation.target_pos, negation.insertion)
    assert found == {
        "The": ("mid", "verb", "does not"),
        "She": ("mid", "auxiliary", "not"),
        "He ": ("mid", "copula", "not"),
    }
    (last,) = english.generate_english_negations(doc("I am.", "PRP nsubj 2, VBP ROOT 2, . punct 2"))
    assert (last.text, last.position) == ("I am not.", "end")


def test_the_dictionary_form_of_the_pipeline_comes_first():
    given = doc("She wrote it.", "PRP nsubj 2, VBD ROOT 2, PRP obj 2, . punct 2")
    given[1].lemma_ = "scribble"
    assert [negation.text for negation in english.generate_english_negations(given)] == ["She did not scribble it."]


PAST = {
    "hoped": "hope", "stopped": "stop", "used": "use", "cared": "care", "tried": "try", "agreed": "agree",
    "called": "call", "added": "add", "created": "create", "visited": "visit", "required": "require", "played": "play",
    "opened": "open", "decided": "decide", "planned": "plan", "watched": "watch", "went": "go", "overcame": "overcome",
    "understood": "understand", "put": "put", "died": "die", "needed": "need",
}  # fmt: skip
THIRD = {"runs": "run", "watches": "watch", "cries": "cry", "goes": "go", "dies": "die", "uses": "use", "has": "have"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tag", "form", "expected"), [("VBD", *pair) for pair in PAST.items()] + [("VBZ", *pair) for pair in THIRD.items()]
)
def test_without_dictionary_forms_the_spelling_tells_them(tag, form, expected):
    pytest.importorskip("wordfreq")
    given = doc(f"They {form} it.", f"PRP nsubj 2, {tag} ROOT 2, PRP obj 2, . punct 2")
    (negation,) = english.generate_english_negations(given)
    assert negation.text == f"They {'did' if tag == 'VBD' else 'does'} not {expected} it."


@pytest.mark.slow
def test_a_real_pipeline_and_the_reasons_for_what_is_skipped(shared):
    given = ["The man who lives here likes tea.", "She doesn't swim.", "", "A red house", "x" * 2001]
    found = list(sentences.iterate_negations_or_reasons(given, "en", str(shared / "en-ewt-spacy")))
    assert [negation.text for negation in found[0]] == [
        "The man who does not live here likes tea.",
        "The man who lives here does not like tea.",
    ]
    assert found[1:] == [sentences.NEGATED, sentences.EMPTY, sentences.NO_FINITE, sentences.LONG]
