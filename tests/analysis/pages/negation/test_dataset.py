"""Statistics of a data set and of its annotations: the printed numbers, and odd input."""

from __future__ import annotations

import json

import pytest

from analysis.pages.negation.annotations import (
    compute_annotator_agreement_over_files,
    compute_fleiss_kappa_and_note,
    find_majority_label,
)
from analysis.pages.negation.dataset import count_originals_and_minimal_pairs, read_instance_groups
from ground.errors import InputError
from helpers.commands import waver

TABLE3 = {"d_orig": 823 + 186, "d_neg": 4671 + 1177, "m_important": 3475 + 787, "m_unimportant": 3260 + 935}
TABLE4 = {"m_important_end": 2177 + 485, "m_important_mid": 1298 + 302, "m_unimportant_end": 1494 + 424,
          "m_unimportant_mid": 1766 + 511}  # fmt: skip
VALID = {"d_orig": 186, "d_neg": 1177, "m_important": 787, "m_unimportant": 935, "m_important_end": 485,
         "m_important_mid": 302, "m_unimportant_end": 424, "m_unimportant_mid": 511, "annotated": 1205,
         "adjudicated": 1177}  # fmt: skip
ROW = {"item": "a", "premise": "A.", "hypothesis": "B.", "label": "neutral"}


@pytest.mark.slow
def test_the_published_set_gives_tables_3_and_4_and_kappa(shared):
    folder = shared / "jnli-neg-v1.1"
    files = [str(folder / f"jnli-neg-{name}-v1.1.jsonl") for name in ("train", "valid")]
    found = json.loads(waver("analysis", "negation", *files, "--annotations", str(folder / "annotations")).stdout)
    assert {name: found[name] for name in (*TABLE3, *TABLE4)} == TABLE3 | TABLE4
    assert round(found["kappa"], 3) == 0.458
    assert (found["annotated"], found["adjudicated"]) == (4803 + 1205, 4671 + 1177)
    call = ("analysis", "negation", files[1], "--annotations", str(folder / "annotations" / "valid"))
    valid = json.loads(waver(*call).stdout)
    assert {name: valid[name] for name in VALID} == VALID
    assert (round(valid["majority_orig"], 2), round(valid["majority_neg"], 2)) == (55.91, 47.66)


def test_the_majority_baseline_of_jnli(shared):
    counts = count_originals_and_minimal_pairs(read_instance_groups(shared / "jnli-v1.1" / "valid-v1.1.json"))
    assert (counts["d_orig"], round(counts["majority_orig"], 2)) == (2434, 55.34)
    assert counts["majority_neg"] is None


def test_kappa_is_that_of_the_formula():
    """Fleiss (1971), written out: agreement of each pair, and agreement by chance from the shares of the labels."""
    given = [("entailment",) * 3, ("neutral", "neutral", "entailment"), ("contradiction", "neutral", "entailment")]
    n = 3
    by_pair = [(sum(row.count(label) ** 2 for label in set(row)) - n) / (n * (n - 1)) for row in given]
    labels = [label for row in given for label in row]
    chance = sum((labels.count(label) / len(labels)) ** 2 for label in set(labels))
    kappa, why = compute_fleiss_kappa_and_note(given, 3)
    assert kappa == pytest.approx((sum(by_pair) / len(given) - chance) / (1 - chance), abs=1e-12)
    assert why == ""


@pytest.mark.parametrize(
    ("given", "label"),
    [(["neutral"] * 3, "neutral"), (["neutral", "neutral", "entailment"], "neutral"), (["neutral", "entailment"], None),
     (["neutral", "entailment", "contradiction"], None), (["neutral"], None), ([], None),
     (["neutral"] * 2 + ["entailment", "contradiction"], None)],
)  # fmt: skip
def test_a_label_needs_most_annotators_and_two_at_least(given, label):
    assert find_majority_label(given) == label


@pytest.mark.parametrize(
    ("given", "annotators", "why"),
    [([["neutral"]], 1, "kappa needs 2 annotators or more, here is one"),
     ([["neutral"] * 2], 2, "all labels are the same"), ([["neutral"]], 3, "no pair has labels of all 3"),
     ([], 0, "here are none")],
)  # fmt: skip
def test_kappa_that_is_undefined_says_why(given, annotators, why):
    kappa, said = compute_fleiss_kappa_and_note(given, annotators)
    assert kappa is None and why in said


def test_what_lacks_a_label_is_counted_and_told(tmp_path):
    lines = ["item,annotator_1,annotator_2", "a,neutral,neutral", "b,neutral,", "c,,", "d,entailment,neutral"]
    (tmp_path / "sheet.csv").write_text("\n".join(lines), encoding="utf-8")
    found = compute_annotator_agreement_over_files(tmp_path)
    assert (found.n_annotated, found.n_adjudicated) == (3, 1)
    assert found.why == "kappa is over 2 pairs; 2 lack a label of an annotator"


def test_numbers_of_two_files_are_not_one_item(tmp_path):
    rows = [ROW | {"pattern": "original"}, ROW | {"pattern": "p_neg", "premise": "Not A.", "label": "contradiction"}]
    for name in "ab":
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    counts = count_originals_and_minimal_pairs(
        [*read_instance_groups(tmp_path / "a.jsonl"), *read_instance_groups(tmp_path / "b.jsonl")]
    )
    assert (counts["d_orig"], counts["m_important"]) == (2, 2)
    assert counts["m_important_end"] is None  # nobody noted where the negation is


def test_odd_sentences_are_sentences(tmp_path):
    """Kanji only, full-width digits, a quotation inside, 300 characters, no Japanese; and an original left alone."""
    odd = ["東京都庁舎前広場", "１２３４", '「はい」と"言う"。', "長" * 300, "No Japanese."]
    rows = [ROW | {"item": number, "premise": text} for number, text in enumerate(odd)]
    (tmp_path / "odd.jsonl").write_text("\n\n".join(map(json.dumps, rows)), encoding="utf-8")
    done = waver("analysis", "negation", str(tmp_path / "odd.jsonl"))
    counts = json.loads(done.stdout)
    assert (counts["d_orig"], counts["d_neg"], counts["m_important"], counts["kappa"]) == (5, 0, 0, None)
    assert "5 of 5 originals have no negation" in done.stderr


@pytest.mark.parametrize(
    ("change", "words"),
    [({"label": "-"}, "line 1: label is '-'; it must be one of"), ({"label": None}, "line 1: label is None"),
     ({"premise": ""}, "line 1: premise is '', not a sentence"), ({"pattern": "x"}, "line 1: pattern is 'x'"),
     ({"pattern": "p_neg"}, "item 'a' has no rows of the pattern original"), ({"item": []}, r"line 1: item is \[\]")],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_row(tmp_path, change, words):
    (tmp_path / "one.jsonl").write_text(json.dumps(ROW | change), encoding="utf-8")
    with pytest.raises(InputError, match=words):
        read_instance_groups(tmp_path / "one.jsonl")


def test_annotations_need_labels(tmp_path):
    (tmp_path / "one.jsonl").write_text(json.dumps({"labels": {"x": "maybe"}}), encoding="utf-8")
    with pytest.raises(InputError, match="line 1: x is 'maybe'"):
        compute_annotator_agreement_over_files(tmp_path)
    (tmp_path / "one.jsonl").write_text(json.dumps({"id": 1}), encoding="utf-8")
    with pytest.raises(InputError, match="line 1: there are no labels"):
        compute_annotator_agreement_over_files(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        compute_annotator_agreement_over_files(tmp_path / "nowhere")
