"""From labelled pairs and negations of their sentences to a sheet, and from the filled sheet to items."""

from __future__ import annotations

import csv
import doctest
import io
import json

import pytest

from ground.errors import InputError
from helpers.commands import waver
from inference.protocols.negation.pairs import making, sheet
from inference.stimuli import nli

ORIGINALS = [
    {"sentence_pair_id": "1", "sentence1": "雨が降る。", "sentence2": "道が濡れる。", "label": "entailment"},
    {"sentence_pair_id": "2", "sentence1": "雨が降る。", "sentence2": "人がいない。", "label": "neutral"},
    {"sentence_pair_id": "3", "sentence1": "雪。", "sentence2": "花。", "label": "neutral"},
]
NEGATIONS = [
    {"source": "雨が降る。", "text": "雨が降らない。", "position": "end", "target_pos": "動詞", "insertion": "ない"},
    {"source": "道が濡れる。", "text": "道が濡れない。", "position": "end", "target_pos": "動詞", "insertion": "ない"},
    {"source": "道が濡れる。", "text": "道が濡れはしない。", "position": "mid", "target_pos": "動詞"},
]


@pytest.fixture
def folder(tmp_path):
    for name, rows in (("jnli.json", ORIGINALS), ("negations.jsonl", NEGATIONS)):
        lines = (json.dumps(row, ensure_ascii=False) for row in rows)
        (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


def made(folder, *more):
    return waver("inference", "pairs", "sheet", "jnli.json", "--negations", "negations.jsonl", "--out", "sheet.csv",
                 *more, cwd=folder)  # fmt: skip


def rows(folder):
    return list(csv.DictReader(io.StringIO((folder / "sheet.csv").read_text(encoding="utf-8-sig"))))


def fill(folder, labels):
    filled = rows(folder)
    for row, given in zip(filled, labels, strict=True):
        row |= {f"annotator_{number}": label for number, label in enumerate(given, start=1)}
    text = io.StringIO()
    writer = csv.DictWriter(text, list(filled[0]))
    writer.writeheader()
    writer.writerows(filled)
    (folder / "sheet.csv").write_text(text.getvalue(), encoding="utf-8")


def test_the_examples_are_right():
    assert doctest.testmod(sheet).failed == 0


def test_all_combinations_are_made_of_originals_whose_two_sentences_have_negations(folder):
    said = made(folder).stdout
    assert "5 pairs (1 p_neg, 2 h_neg, 2 p_neg_h_neg)" in said
    assert "1 of 3 originals left out: no negation of the hypothesis (none can be made, or it holds one)" in said
    assert "1 of 3 originals left out: no negation of the premise and of the hypothesis" in said
    found = rows(folder)
    assert [row["pattern"] for row in found] == ["p_neg", "h_neg", "h_neg", "p_neg_h_neg", "p_neg_h_neg"]
    assert {row["item"] for row in found} == {"1"}
    assert found[-1]["premise"] == "雨が降らない。" and found[-1]["hypothesis"] == "道が濡れはしない。"
    assert (found[-1]["premise_position"], found[-1]["hypothesis_position"]) == ("end", "mid")
    assert "label" not in found[0] and found[0]["annotator_3"] == ""  # nobody sees the label of the original


def test_a_filled_sheet_becomes_items_with_the_labels_of_most(folder):
    made(folder)
    fill(folder, [
        ("contradiction", "contradiction", "neutral"), ("neutral", "", "Neutral"),
        ("neutral", "contradiction", "entailment"), ("", "", "neutral"), ("entailment", "entailment", "entailment"),
    ])  # fmt: skip
    done = waver("inference", "pairs", "label", "sheet.csv", "--originals", "jnli.json", "--out", "items.jsonl",
                 cwd=folder)  # fmt: skip
    assert "1 original and 3 of 5 pairs with a negation" in done.stdout
    assert "2 left out: no label of most annotators, and of two at least" in done.stdout
    found = nli.read_sentence_pairs_of_nli(folder / "items.jsonl")
    assert [(each.pattern, each.label) for each in found] == [
        ("original", "entailment"), ("p_neg", "contradiction"), ("h_neg", "neutral"), ("p_neg_h_neg", "entailment"),
    ]  # fmt: skip
    assert found[-1].hypothesis_negation == nli.Negation("mid", "動詞")
    published = json.loads((folder / "items.jsonl").read_text(encoding="utf-8").splitlines()[1])
    assert published["annotator_labels"] == {"entailment": 0, "contradiction": 2, "neutral": 1}
    # What annotators gave is counted from the sheet itself, and the items from what was written.
    (folder / "given").mkdir()
    (folder / "sheet.csv").rename(folder / "given" / "sheet.csv")
    counted = json.loads(waver("analysis", "negation", "items.jsonl", "--annotations", "given", cwd=folder).stdout)
    assert (counted["d_orig"], counted["d_neg"], counted["annotated"], counted["adjudicated"]) == (1, 3, 5, 3)


def test_a_sheet_is_never_overwritten(folder):
    made(folder)
    done = waver("inference", "pairs", "sheet", "jnli.json", "--negations", "negations.jsonl", "--out", "sheet.csv",
                 cwd=folder, check=False)  # fmt: skip
    assert (done.returncode, "may be filled in" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("label", "words"), [("perhaps", "annotator_1 is 'perhaps'"), ("含意", "write one of entailment")]
)
def test_a_label_that_is_none_is_refused(folder, label, words):
    made(folder)
    fill(folder, [(label, "", "")] * 5)
    with pytest.raises(InputError, match=f"row 2: .*{words}"):
        sheet.read_labelled_sheet(
            folder / "sheet.csv", nli.group_pairs_by_original(nli.read_sentence_pairs_of_nli(folder / "jnli.json"))
        )


def test_one_annotator_gives_no_label_of_most(folder):
    made(folder, "--annotators", "1")
    fill(folder, [("neutral",)] * 5)
    found = sheet.read_labelled_sheet(
        folder / "sheet.csv", nli.group_pairs_by_original(nli.read_sentence_pairs_of_nli(folder / "jnli.json"))
    )
    assert [row.label for row in found] == [""] * 5


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"text": "雨が降る。"}, "line 1: text is the same as source"),
        ({"position": "start"}, "line 1: position must be end or mid"),
        ({"source": None}, "line 1: source must be a sentence"),
    ],
)
def test_wrong_negations_are_refused(tmp_path, change, words):
    (tmp_path / "n.jsonl").write_text(json.dumps(NEGATIONS[0] | change), encoding="utf-8")
    with pytest.raises(InputError, match=words):
        making.read_negations_by_sentence(tmp_path / "n.jsonl")


def test_white_space_around_a_sentence_is_no_part_of_it_and_other_negations_are_counted(folder):
    rows = [ORIGINALS[0] | {"sentence1": " 雨が降る。 "}, *ORIGINALS[1:]]
    (folder / "jnli.json").write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    strange = {"source": "風が吹く。", "text": "風が吹かない。", "position": "end", "target_pos": "動詞"}
    with (folder / "negations.jsonl").open("a", encoding="utf-8") as file:
        file.write("\n" + json.dumps(strange, ensure_ascii=False))
    said = made(folder).stdout
    assert "5 pairs (1 p_neg, 2 h_neg, 2 p_neg_h_neg)" in said
    assert "1 of 3 negated sentences left out: in no original" in said


def test_a_sheet_makes_its_folder(folder):
    call = ("pairs", "sheet", "jnli.json", "--negations", "negations.jsonl", "--out", "new/sheet.csv")
    waver("inference", *call, cwd=folder)
    assert (folder / "new" / "sheet.csv").is_file()
