"""Decoys of whole studies: what holds of every one, and of the published statements."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from inference.meaning.decoys.making import make_decoys
from inference.paraphrase.decoys import KINDS, read_decoys_csv, write_decoys_csv
from inference.paraphrase.parsing import normalise_wording
from inference.stimuli import items
from inference.stimuli.study import Item, Variant


def build_item(name, original, *paraphrases, language=None):
    variants = [Variant(name, "original", "original", original, (), language=language)]
    variants += [
        Variant(name, f"p{number}", "paraphrase", text, (), language=language)
        for number, text in enumerate(paraphrases, start=1)
    ]
    return Item(name, tuple(variants))


STUDY = [
    build_item("tea", "Tea is hotter than coffee.", "Tea is not colder than coffee."),
    build_item("dogs", "All dogs in Paris like two big cats.", "In Paris, every dog likes two big cats."),
    build_item("law", "The law should protect the people."),
]


def test_every_item_gets_a_decoy_of_every_kind_in_a_set_order():
    decoys = make_decoys(STUDY)
    assert [(row.item, row.decoy) for row in decoys.rows] == [
        (item.item, kind) for item in STUDY for kind in KINDS if (item.item, kind) != ("law", "exchanged")
    ]
    assert [row.variant for row in decoys.rows[:3]] == ["decoy-negated-1", "decoy-antonym-1", "decoy-other_item-1"]
    assert decoys.missing == (
        "no decoy exchanged for 1 of 3 items (law): no comparison, number, quantity or name is in them",
    )


def test_a_decoy_is_no_wording_of_its_item_and_none_is_there_twice():
    decoys = make_decoys(STUDY, per_kind=4)
    texts = [(row.item, normalise_wording(row.text)) for row in decoys.rows]
    wordings = {(item.item, normalise_wording(variant.text)) for item in STUDY for variant in item.variants}
    assert len(set(texts)) == len(texts) and not set(texts) & wordings
    assert max(Counter((row.item, row.decoy) for row in decoys.rows).values()) == 4


def test_what_the_rules_make_of_an_item_may_be_its_wording():
    tea = build_item("tea", "Tea is hot.", "Tea is not hot.", "It is not true that Tea is hot.")
    assert "no decoy negated for 1 of 1 items (tea): what the rules make of them is a wording of the item" in (
        make_decoys([tea]).missing
    )


def test_decoys_depend_on_the_seed_and_not_on_the_order_of_items():
    one, again, other = (make_decoys(STUDY, seed=seed).rows for seed in (0, 0, 1))
    assert one == again != other
    assert set(make_decoys(STUDY[::-1]).rows) == set(one)
    of_law = {row for row in one if row.item == "law" and row.decoy != "other_item"}
    assert of_law == {row for row in make_decoys(STUDY[2:]).rows if row.decoy != "other_item"}


def test_an_item_without_an_original_or_of_another_language_is_told():
    lonely = Item("lonely", build_item("lonely", "x", "Tea is fine.").paraphrases)
    tee = build_item("tee", "Tee ist besser als Kaffee.", language="de")
    unknown = build_item("cay", "Çay güzeldir.")
    decoys = make_decoys([*STUDY, lonely, tee, unknown])
    said = "\n".join(decoys.missing)
    assert "no decoy negated for 1 of 6 items (lonely): no original" in said
    assert "no decoy antonym for 1 of 6 items (tee): there are rules for en and ja only, not for de" in said
    assert "no decoy exchanged for 1 of 6 items (cay): its language is not known; write en or ja into" in said
    assert {row.decoy for row in decoys.rows if row.item == "tee"} == {"shuffled"}


def test_the_wording_of_another_item_is_named():
    rows = [row for row in make_decoys(STUDY[:2]).rows if row.decoy == "other_item"]
    texts = {(item.item, variant.variant): variant.text for item in STUDY for variant in item.variants}
    for row in rows:
        other, variant = row.source.removeprefix("item ").split(", wording ")
        assert other != row.item and texts[other, variant] == row.text


def test_shuffled_words_are_the_same_words():
    (row,) = (row for row in make_decoys(STUDY[:1]).rows if row.decoy == "shuffled")
    assert sorted(row.text.casefold().rstrip(".").split()) == sorted(["tea", "is", "hotter", "than", "coffee"])
    assert row.text.endswith(".") and row.text[0].isupper()
    single = make_decoys([build_item("one", "Tea!", language="en")]).missing
    assert "no decoy shuffled for 1 of 1 items (one): one word only" in single


def test_the_table_is_read_as_it_was_written_and_may_be_edited(tmp_path):
    rows = make_decoys(STUDY, per_kind=2).rows
    write_decoys_csv(tmp_path / "d.csv", rows)
    assert read_decoys_csv(tmp_path / "d.csv", STUDY) == list(rows)
    (tmp_path / "own.csv").write_text("item,decoy,text\nlaw,negated,No law!\nlaw,negated,'=Law\n", encoding="utf-8")
    read = read_decoys_csv(tmp_path / "own.csv", STUDY)
    assert [(row.variant, row.text, row.source) for row in read] == [
        ("decoy-negated-1", "No law!", ""),
        ("decoy-negated-2", "=Law", ""),
    ]


@pytest.fixture(scope="module")
def published(shared):
    """62 statements with the first 30 of their 30,848 paraphrases, and all these texts as they are compared."""
    file = shared / "political-compass-paraphrases" / "paraphrases_gpt3.5-turbo_temp1.json"
    study = [replace(item, variants=item.variants[:31]) for item in items.read_and_check_items(str(file))]
    return study, {(item.item, normalise_wording(variant.text)) for item in study for variant in item.variants}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pipeline", "expected"),
    [
        (None, {"negated": 62, "antonym": 58, "other_item": 62, "exchanged": 25, "shuffled": 62}),
        ("en-ewt-spacy", {"negated": 62, "antonym": 59, "other_item": 62, "exchanged": 58, "shuffled": 62}),
    ],
)
def test_the_published_statements_all_have_decoys(shared, published, pipeline, expected):
    if pipeline:
        pytest.importorskip("spacy")
    study, texts = published
    decoys = make_decoys(study, pipeline=str(shared / pipeline) if pipeline else None)
    assert Counter(row.decoy for row in decoys.rows) == expected
    assert not {(row.item, normalise_wording(row.text)) for row in decoys.rows} & texts
    assert len({row.item for row in decoys.rows}) == 62
