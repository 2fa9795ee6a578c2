"""Make decoys of `--items demo-meaning`, and the filled sheets of two made annotators: one is careful, one is not.

`PYTHONPATH=tests python -m demo_training.annotators` rewrites decoys.csv, sheet-careful.csv and sheet-careless.csv in
inference/demo. Both annotators get the same rows, each in another order: paraphrases and decoys drawn of every
statement, and nobody tells them which is what. They say what is so, and now and then the contrary, whatever the row.
"""

from __future__ import annotations

import csv
import random
import tempfile
from pathlib import Path

from ground.spreadsheet import write_spreadsheet_csv
from inference.demo import DEMO, SEED
from inference.meaning.decoys.making import make_decoys
from inference.paraphrase.decoys import write_decoys_csv
from inference.paraphrase.sheet import write_match_sheets
from inference.stimuli.items import DEMO_MEANING, read_and_check_items

DECOYS = "decoys.csv"
ERRORS = {"careful": 0.01, "careless": 0.08}
"""Annotator -> probability that a row gets the wrong answer."""
PARAPHRASES = 15
"""Paraphrases of a statement on the sheets, of 20 or 21; as many as Haller et al. read."""
DECOYS_ON_SHEET = 2
"""Decoys of a statement on the sheets."""


def write_decoys_and_sheets(folder: Path = DEMO) -> None:
    """Write the decoys, and the sheets as `paraphrase sheet` makes them, filled in.

    Parameters
    ----------
    folder
        Takes the files.
    """
    items = read_and_check_items(DEMO_MEANING)
    decoys = make_decoys(items, seed=SEED).rows
    write_decoys_csv(folder / DECOYS, decoys)
    true_wordings = {
        (item.item, paraphrase.text)
        for item in items
        for paraphrase in item.paraphrases
        if "planted" not in paraphrase.attributes
    }
    with tempfile.TemporaryDirectory() as empty:
        sheets = write_match_sheets(
            Path(empty) / "sheet.csv", items, PARAPHRASES, SEED, decoys=decoys, n_decoys_each=DECOYS_ON_SHEET,
            annotators=tuple(ERRORS),
        )  # fmt: skip
        for path, (annotator, error) in zip(sheets.paths, ERRORS.items(), strict=True):
            with path.open(encoding="utf-8-sig", newline="") as lines:
                rows = list(csv.DictReader(lines))
            rng = random.Random(f"{SEED} {annotator}")
            for row in rows:
                is_same = (row["item"], row["paraphrase"]) in true_wordings
                row["match"] = "yes" if is_same != (rng.random() < error) else "no"
            write_spreadsheet_csv(folder / path.name, list(rows[0]), [list(row.values()) for row in rows])


if __name__ == "__main__":
    write_decoys_and_sheets()
