"""The sheets of the made annotators: the same rows, decoys among them, and as many errors as is said."""

from __future__ import annotations

import csv

from demo_training import annotators
from inference.demo import DEMO
from inference.paraphrase.decoys import read_decoys_csv
from inference.stimuli.items import DEMO_MEANING, read_items

FILES = (annotators.DECOYS, *(f"sheet-{name}.csv" for name in annotators.ERRORS))


def test_the_committed_files_are_what_the_program_makes(tmp_path):
    annotators.write_decoys_and_sheets(tmp_path)
    for name in FILES:
        assert (tmp_path / name).read_bytes() == (DEMO / name).read_bytes(), "run python -m demo_training.annotators"


def test_both_have_the_same_rows_and_err_as_often_as_is_said():
    items = read_items(DEMO_MEANING)
    rows = annotators.draw_sheet_rows(items, read_decoys_csv(DEMO / annotators.DECOYS, items))
    is_same = {(item, text): truth for item, _, text, truth in rows}
    assert len(rows) == len(items) * (annotators.PARAPHRASES + annotators.DECOYS_ON_SHEET) == len(is_same)
    planted = {variant.key[0]: variant.text for item in items for variant in item.variants if variant.attributes}
    assert len(planted) == 10
    n_planted = sum((item, text) in is_same for item, text in planted.items())
    assert n_planted >= 5 and not any(is_same.get(pair) for pair in planted.items())
    for name, error in annotators.ERRORS.items():
        with (DEMO / f"sheet-{name}.csv").open(encoding="utf-8-sig", newline="") as lines:
            sheet = {(row["item"], row["paraphrase"]): row["match"] == "yes" for row in csv.DictReader(lines)}
        assert sheet.keys() == is_same.keys()
        share = sum(vote != is_same[key] for key, vote in sheet.items()) / len(sheet)
        # 3 standard errors of a share.
        assert abs(share - error) < 3 * (error * (1 - error) / len(sheet)) ** 0.5
