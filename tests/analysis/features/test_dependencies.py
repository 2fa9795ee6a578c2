"""Dependents and dependency length, on heads written by hand and against spaCy's own counts."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.features import dependencies
from analysis.features.component import Component, MissingComponent
from ground.errors import InputError
from helpers.text_features import make_pipeline

pytestmark = pytest.mark.slow

spacy = pytest.importorskip("spacy", reason="needs spaCy")
VOCABULARY = spacy.blank("en").vocab


def doc(text: str, heads: list[int]):
    """A parsed text: the position of every word's head, its own for a root."""
    return spacy.tokens.Doc(VOCABULARY, words=text.split(), heads=heads, deps=["dep"] * len(heads))


@pytest.mark.parametrize(
    ("text", "heads", "left", "right", "length"),
    [
        # The -> cat -> sleeps: two words before their heads, one step each; the root counts as 0
        ("The cat sleeps", [1, 2, 2], 2 / 3, 0, 2 / 3),
        # Cats -> chase <- mice
        ("Cats chase mice", [1, 1, 1], 1 / 3, 1 / 3, 2 / 3),
        # We saw the tall man with dogs.: We>saw, the>man, tall>man, man>saw, with>dogs., dogs.>man
        ("We saw the tall man with dogs.", [1, 1, 4, 4, 1, 6, 4], 4 / 7, 2 / 7, (1 + 0 + 2 + 1 + 3 + 1 + 2) / 7),
        # two sentences, two roots: left + right = 1 - 2/4
        ("Go home. Sleep well.", [0, 0, 2, 2], 0, 2 / 4, 2 / 4),
        ("Yes.", [0], 0, 0, 0),
    ],
)
def test_heads_written_by_hand(text, heads, left, right, length):
    assert dependencies.compute_left_right_dependents_and_length(doc(text, heads)) == pytest.approx(
        (left, right, length)
    )


def test_a_text_without_words_has_no_mean():
    assert all(math.isnan(value) for value in dependencies.compute_left_right_dependents_and_length(doc("", [])))


@st.composite
def trees(draw):
    """Heads of a random forest: every word but a root hangs on an earlier one of a random order."""
    size = draw(st.integers(1, 12))
    order = draw(st.permutations(range(size)))
    heads = list(range(size))
    for place, word in enumerate(order):
        if place and draw(st.integers(0, 5)):
            heads[word] = order[draw(st.integers(0, place - 1))]
    return heads


@settings(deadline=None)
@given(trees())
def test_against_the_counts_of_spacy_and_the_identity_of_left_and_right(heads):
    parsed = doc(" ".join("w" * len(heads)), heads)
    left, right, length = dependencies.compute_left_right_dependents_and_length(parsed)
    n = len(heads)
    roots = sum(head == word for word, head in enumerate(heads))
    assert left == pytest.approx(sum(head > word for word, head in enumerate(heads)) / n)
    assert left + right == pytest.approx(1 - roots / n)
    assert length == pytest.approx(sum(abs(token.i - token.head.i) for token in parsed) / n)
    # spaCy keeps dependents of a head only while sentences do not overlap
    if all(token.head.i in range(token.sent.start, token.sent.end) for token in parsed):
        assert left == pytest.approx(sum(token.n_lefts for token in parsed) / n)
        assert right == pytest.approx(sum(token.n_rights for token in parsed) / n)


def test_tokens_are_white_space_words_whatever_the_tokenizer_of_the_pipeline(small_pipeline):
    measure = dependencies.build_dependency_component(
        "en", [dependencies.find_pipeline_by_name_or_path(str(small_pipeline))]
    ).load()
    values = measure(["don't stop-over, e.g. now!", "one"])
    assert list(values) == list(dependencies.COLUMNS)
    assert values["left_dependents"][0] * 4 == pytest.approx(round(values["left_dependents"][0] * 4))
    assert [values[name][1] for name in values] == [0, 0, 0]


@pytest.mark.parametrize(
    ("language", "expected"),
    [("pl", "no spaCy pipeline is installed for 'pl'"), ("de", "no spaCy pipeline is installed for 'de'")],
)
def test_other_languages_need_a_pipeline_of_their_own(language, expected, small_pipeline):
    missing = dependencies.build_dependency_component(
        language, [dependencies.find_pipeline_by_name_or_path(str(small_pipeline))]
    )
    assert isinstance(missing, MissingComponent)
    assert expected in missing.reason


@pytest.mark.parametrize("language", ["ja", "zh"])
def test_texts_without_spaces_are_not_parsed_as_one_word(language, tmp_path):
    pipeline = dependencies.find_pipeline_by_name_or_path(str(make_pipeline(tmp_path / "any", language="xx")))
    assert dependencies.build_dependency_component(language, [pipeline]) == MissingComponent(
        dependencies.COLUMNS, f"texts are parsed in words between spaces, and {language!r} writes none", True
    )


@pytest.mark.parametrize("language", ["fr", "it"])
def test_elided_words_are_cut_as_the_tokenizer_of_a_pipeline_does(language):
    text = {
        "fr": "L'homme n'est aujourd'hui qu'un loup et l’eau monte jusqu'ici",
        "it": "L'acqua dell'uomo è un'altra volta fredda e c’è aria",
    }[language]
    own_words = [token.text for token in spacy.blank(language)(text)]
    assert dependencies.split_words_for_parser(text, language) == own_words
    assert dependencies.split_words_for_parser(text, "en") == text.split()


def install(folder, name, monkeypatch):
    """Install a pipeline as `spacy download` does: a package with an entry point."""
    make_pipeline(folder / name, language=name[:2])
    (folder / name / "__init__.py").write_text("import spacy\ndef load(**given):\n    return spacy.load(__path__[0])\n")
    about = folder / f"{name}-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (about / "entry_points.txt").write_text(f"[spacy_models]\n{name} = {name}\n")
    monkeypatch.syspath_prepend(folder)


def test_an_installed_pipeline_is_used_unnamed_and_of_several_the_default(tmp_path, monkeypatch):
    assert dependencies.build_dependency_component("en") == MissingComponent(
        dependencies.COLUMNS, "no spaCy pipeline is installed for 'en': python -m spacy download en_core_web_sm"
    )
    install(tmp_path, "en_mine", monkeypatch)
    found = dependencies.build_dependency_component("en")
    assert (found.identity["source"], found.named) == ("en_mine", False)
    assert list(found.load()(["It is so."])) == list(dependencies.COLUMNS)
    install(tmp_path, "en_other", monkeypatch)
    several = dependencies.build_dependency_component("en")
    assert several == MissingComponent(
        dependencies.COLUMNS, "en_mine, en_other are installed: choose with --spacy NAME"
    )
    install(tmp_path, "en_core_web_sm", monkeypatch)
    assert dependencies.build_dependency_component("en").identity["source"] == "en_core_web_sm"
    assert dependencies.build_dependency_component("de").reason.startswith("no spaCy pipeline is installed for 'de'")


def test_texts_are_told_the_pipeline_of_their_language_and_none_where_there_is_none(monkeypatch):
    def advise(language):
        return dependencies.build_dependency_component(language).reason.partition(": ")[2]

    assert advise("de") == "python -m spacy download de_core_news_sm"
    assert advise("af") == "spaCy itself offers none; --spacy takes NAME or PATH of one"
    monkeypatch.setattr(dependencies, "find_installed_version", lambda package: None)
    assert advise("fr") == "pip install spacy; python -m spacy download fr_core_news_sm"


def test_the_pipeline_used_before_goes_on_being_used(small_pipeline):
    known = dependencies.find_pipeline_by_name_or_path(str(small_pipeline)).identity
    again = dependencies.build_dependency_component("en", old_identity=known)
    assert isinstance(again, Component)
    assert again.identity == known
    gone = dependencies.build_dependency_component("en", old_identity={**known, "source": "no/such/pipeline"})
    assert isinstance(gone, MissingComponent)


def test_the_hash_is_of_the_files(small_pipeline, tmp_path):
    before = dependencies.find_pipeline_by_name_or_path(str(small_pipeline)).identity["hash"]
    copy = tmp_path / "copy"
    spacy.util.load_model(small_pipeline).to_disk(copy)
    meta = json.loads((copy / "meta.json").read_text())
    (copy / "meta.json").write_text((small_pipeline / "meta.json").read_text())
    assert dependencies.find_pipeline_by_name_or_path(str(copy)).identity["hash"] == before
    (copy / "meta.json").write_text(json.dumps({**meta, "version": "9"}))
    assert dependencies.find_pipeline_by_name_or_path(str(copy)).identity["hash"] != before


@pytest.mark.parametrize("source", ["no_such_pipeline", "no/such/folder", "json", "", "two words", "en_core.web"])
def test_an_unknown_pipeline_is_refused_in_one_line(source):
    with pytest.raises(InputError) as error:
        dependencies.find_pipeline_by_name_or_path(source)
    assert f"spaCy pipeline {source!r}" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_pipeline_without_a_parser_is_refused(tmp_path):
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(InputError, match="has no parser"):
        dependencies.build_dependency_component(
            "en", [dependencies.find_pipeline_by_name_or_path(str(tmp_path / "blank"))]
        ).load()


def test_a_damaged_pipeline_is_refused(small_pipeline, tmp_path):
    damaged = tmp_path / "damaged"
    spacy.util.load_model(small_pipeline).to_disk(damaged)
    (damaged / "config.cfg").write_text("[nlp]\n")
    with pytest.raises(InputError, match="cannot be loaded"):
        dependencies.build_dependency_component("en", [dependencies.find_pipeline_by_name_or_path(str(damaged))]).load()


@pytest.fixture(scope="module")
def small_pipeline(tmp_path_factory):
    """An English pipeline whose parser has learned nothing."""
    return make_pipeline(tmp_path_factory.mktemp("spacy") / "pipeline")
