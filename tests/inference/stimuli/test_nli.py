"""Pairs of sentences in three layouts, and the minimal pairs among them."""

from __future__ import annotations

import json

import pytest

from ground.errors import InputError
from inference.stimuli import nli
from inference.stimuli.nli import Instance, Negation

PLAIN = [
    {"item": "a", "pattern": "original", "premise": "It rains.", "hypothesis": "It is wet.", "label": "entailment"},
    {"item": "a", "pattern": "p_neg", "premise": "It does not rain.", "hypothesis": "It is wet.", "label": "neutral",
     "premise_position": "mid", "premise_target": "verb"},
    {"item": "a", "pattern": "h_neg", "premise": "It rains.", "hypothesis": "It is not wet.", "label": "contradiction"},
    {"item": "a", "pattern": "p_neg_h_neg", "premise": "It does not rain.", "hypothesis": "It is not wet.",
     "label": "neutral"},
    {"item": "a", "pattern": "p_neg_h_neg", "premise": "It never rains.", "hypothesis": "It is not wet.",
     "label": "neutral"},
]  # fmt: skip


def written(tmp_path, rows, name="pairs.jsonl"):
    path = tmp_path / name
    path.write_text("\n\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    return path


def test_the_plain_layout(tmp_path):
    found = nli.read_sentence_pairs_of_nli(written(tmp_path, PLAIN))
    assert [each.pattern for each in found] == [row["pattern"] for row in PLAIN]
    assert found[1] == Instance(
        "a", "p_neg", "It does not rain.", "It is wet.", "neutral", Negation("mid", "verb"), None
    )
    assert found[0].text == "It rains.\nIt is wet."


def test_a_table_is_read_like_json_lines(tmp_path):
    names = ["item", "pattern", "premise", "hypothesis", "label"]
    lines = [",".join(names), *(",".join(row[name] for name in names) for row in PLAIN)]
    (tmp_path / "pairs.csv").write_text("\n".join(lines), encoding="utf-8")
    assert [each.label for each in nli.read_sentence_pairs_of_nli(tmp_path / "pairs.csv")] == [
        row["label"] for row in PLAIN
    ]


def test_pairs_without_items_are_originals_each(tmp_path):
    rows = [{"premise": "It rains.", "hypothesis": f"It is {what}.", "label": "neutral"} for what in ("wet", "cold")]
    found = nli.read_sentence_pairs_of_nli(written(tmp_path, rows))
    assert [(each.item, each.pattern) for each in found] == [("1", "original"), ("3", "original")]  # lines of the file


def test_the_published_layouts(tmp_path):
    group = [
        {"id": 0, "jnli_sentence_pair_id": 7, "pair_id_in_group": 0, "type": "original",
         "sentence1": {"sentence": "雨が降る。", "neg": None}, "sentence2": {"sentence": "道が濡れる。", "neg": None},
         "gold_label": "entailment", "annotator_labels": None},
        {"id": 1, "jnli_sentence_pair_id": 7, "pair_id_in_group": 1, "type": "h_neg",
         "sentence1": {"sentence": "雨が降る。", "neg": None},
         "sentence2": {"sentence": "道が濡れない。", "neg": {"neg_position": "end", "target_pos": "動詞"}},
         "gold_label": "contradiction", "annotator_labels": {"contradiction": 3}},
    ]  # fmt: skip
    original, negated = nli.read_sentence_pairs_of_nli(written(tmp_path, group))
    assert (original.item, original.premise_negation, negated.label) == ("7", None, "contradiction")
    assert negated.hypothesis_negation == Negation("end", "動詞")
    (bare,) = nli.read_sentence_pairs_of_nli(written(tmp_path, [{"sentence_pair_id": "3", "sentence1": "A.",
    "sentence2": "B.",
                                           "label": "neutral"}], "b.json"))  # fmt: skip
    assert (bare.item, bare.pattern, bare.text) == ("3", "original", "A.\nB.")


def test_a_full_stop_more_is_the_same_sentence(tmp_path):
    rows = [PLAIN[0] | {"premise": "It rains.."}, PLAIN[2]]
    assert len(nli.read_sentence_pairs_of_nli(written(tmp_path, rows))) == 2


def test_minimal_pairs_share_the_sentence_that_stays_as_it_is(tmp_path):
    (group,) = nli.group_pairs_by_original(nli.read_sentence_pairs_of_nli(written(tmp_path, PLAIN))).values()
    # The last pair has a negated premise of its own: only the (p, h') with its hypothesis is a parent.
    assert nli.find_parent_indices_of_minimal_pairs(group) == [[], [0], [0], [1, 2], [2]]


@pytest.mark.slow
def test_the_published_set_gives_the_published_numbers_of_minimal_pairs(shared):
    """Table 3 of the paper: 6,735 and 1,722 minimal pairs, of which 3,475 and 787 are important."""
    for name, originals, pairs, important in (("train", 823, 6735, 3475), ("valid", 186, 1722, 787)):
        grouped = nli.group_pairs_by_original(
            nli.read_sentence_pairs_of_nli(shared / "jnli-neg-v1.1" / f"jnli-neg-{name}-v1.1.jsonl")
        )
        found = [
            group[parent].label != group[place].label
            for group in grouped.values() for place,
            several in enumerate(nli.find_parent_indices_of_minimal_pairs(group)) for parent in several
        ]  # fmt: skip
        assert (len(grouped), len(found), sum(found)) == (originals, pairs, important)


@pytest.mark.parametrize(("text", "language"), [("雨が降る。", "ja"), ("カナ", "ja"), ("It rains.", "en")])
def test_the_language_follows_from_the_script(text, language):
    assert nli.detect_language_of_sentences([Instance("a", "original", text, "B.", "neutral")]) == language


@pytest.mark.parametrize(
    ("row", "change", "words"),
    [
        (1, {"label": "maybe"}, "line 3: label must be entailment, contradiction or neutral, not 'maybe'"),
        (1, {"label": None}, "line 3: label must be .* not nothing"),
        (1, {"premise": "  "}, "line 3: premise must be a sentence"),
        (1, {"pattern": "neg"}, "line 3: pattern must be one of original, p_neg"),
        (1, {"premise_position": "start"}, "line 3: premise_position must be end or mid"),
        (1, {"item": True}, "line 3: item must be the number or name"),
        (1, {"premise": "It rains."}, "line 3: the same two sentences are in"),
        (1, {"premise": "It rains.", "hypothesis": "It snows."}, "pattern p_neg, but the premise is that of item 'a'"),
        (1, {"hypothesis": "It is dry."}, "pattern p_neg, but the hypothesis is not that of item 'a'"),
        (0, {"item": "b"}, "item 'a' has no row of the pattern original"),
        (1, {"pattern": "original"}, "item 'a' has its original in"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_with_its_row(tmp_path, row, change, words):
    rows = [dict(each) for each in PLAIN]
    rows[row] |= change
    with pytest.raises(InputError, match=words):
        nli.read_sentence_pairs_of_nli(written(tmp_path, rows))
