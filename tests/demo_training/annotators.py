"""Make decoys of `--items demo-meaning`, and the filled sheets of two made annotators: one is careful, one is not.

`PYTHONPATH=tests python -m demo_training.annotators` rewrites decoys.csv, sheet-careful.csv and sheet-careless.csv in
inference/demo. Both annotators get the same rows, each in another order: paraphrases and decoys drawn of every
statement, and nobody tells them which is what. They say what is so, and now and then the contrary, whatever the row.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from ground.spreadsheet import write_spreadsheet_csv
from inference.demo import DEMO, SEED
from inference.meaning.decoys.making import make_decoys
from inference.paraphrase.decoys import Decoy, write_decoys_csv
from inference.stimuli.items import DEMO_MEANING, read_items
from inference.stimuli.study import Item

DECOYS = "decoys.csv"
ERRORS = {"careful": 0.01, "careless": 0.08}
"""Annotator -> probability that a row gets the wrong answer."""
PARAPHRASES = 15
"""Paraphrases of a statement on the sheets, of 20 or 21; as many as Haller et al. read."""
DECOYS_ON_SHEET = 2
"""Decoys of a statement on the sheets."""
COLUMNS = ("item", "original", "paraphrase", "match")


def draw_sheet_rows(items: Sequence[Item], decoys: Sequence[Decoy]) -> list[tuple[str, str, str, bool]]:
    """Draw what is on the sheets: item, original, sentence, and whether it means the same.

    Parameters
    ----------
    items
        Those of `--items demo-meaning`: the attribute `planted` says which paraphrases are false.
    decoys
        Their decoys.

    Returns
    -------
    The rows, statement by statement.
    """
    rows = []
    for item in items:
        assert item.original is not None
        rng = random.Random(f"{SEED} sheet {item.item}")
        drawn = [
            (paraphrase.text, "planted" not in paraphrase.attributes)
            for paraphrase in rng.sample(item.paraphrases, PARAPHRASES)
        ]
        own_decoys = [decoy.text for decoy in decoys if decoy.item == item.item]
        drawn += [(text, False) for text in rng.sample(own_decoys, DECOYS_ON_SHEET)]
        rows += [(item.item, item.original.text, text, is_same) for text, is_same in drawn]
    return rows


def write_decoys_and_sheets(folder: Path = DEMO) -> None:
    """Write the decoys and the filled sheets."""
    items = read_items(DEMO_MEANING)
    decoys = make_decoys(items, seed=SEED).rows
    write_decoys_csv(folder / DECOYS, decoys)
    rows = draw_sheet_rows(items, decoys)
    for annotator, error in ERRORS.items():
        rng = random.Random(f"{SEED} {annotator}")
        filled_rows = [
            (item, original, text, "yes" if is_same != (rng.random() < error) else "no")
            for item, original, text, is_same in rng.sample(rows, len(rows))
        ]
        write_spreadsheet_csv(folder / f"sheet-{annotator}.csv", COLUMNS, filled_rows)


if __name__ == "__main__":
    write_decoys_and_sheets()
