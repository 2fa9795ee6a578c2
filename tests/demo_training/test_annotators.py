"""The sheets of the made annotators: the same rows, decoys among them, and as many errors as is said."""

from __future__ import annotations

import csv

from demo_training import annotators
from inference.demo import DEMO
from inference.paraphrase.decoys import read_decoys_csv
from inference.stimuli.items import DEMO_MEANING, read_and_check_items

FILES = (annotators.DECOYS, *(f"sheet-{name}.csv" for name in annotators.ERRORS))


def test_the_committed_files_are_what_the_program_makes(tmp_path):
    annotators.write_decoys_and_sheets(tmp_path)
    for name in FILES:
        assert (tmp_path / name).read_bytes() == (DEMO / name).read_bytes(), "run python -m demo_training.annotators"


def test_both_have_the_same_rows_and_err_as_often_as_is_said():
    items = read_and_check_items(DEMO_MEANING)
    paraphrases = {
        (each.item, each.text): "planted" not in each.attributes for item in items for each in item.paraphrases
    }
    decoys = {(each.item, each.text): False for each in read_decoys_csv(DEMO / annotators.DECOYS, items)}
    truth = paraphrases | decoys
    sheets = []
    for name, error in annotators.ERRORS.items():
        with (DEMO / f"sheet-{name}.csv").open(encoding="utf-8-sig", newline="") as lines:
            sheet = {(row["item"], row["paraphrase"]): row["match"] == "yes" for row in csv.DictReader(lines)}
        share = sum(vote != truth[key] for key, vote in sheet.items()) / len(sheet)
        # 3 standard errors of a share.
        assert abs(share - error) < 3 * (error * (1 - error) / len(sheet)) ** 0.5
        sheets.append(sheet)
    assert sheets[0].keys() == sheets[1].keys() and list(sheets[0]) != list(sheets[1])
    assert sum(key in paraphrases for key in sheets[0]) == annotators.PARAPHRASES * len(items)
    assert sum(key in decoys for key in sheets[0]) == annotators.DECOYS_ON_SHEET * len(items)
    # Most of the planted ones are on the sheets; only the check can find the others.
    n_planted = sum(not paraphrases.get(key, True) for key in sheets[0])
    assert 5 <= n_planted < 10
