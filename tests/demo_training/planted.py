"""Make `--items demo-meaning`: the statements of the questionnaire with 20 paraphrases each, and ten false ones.

`PYTHONPATH=tests python -m demo_training.planted` rewrites inference/demo/meaning.csv from the questionnaire's grammar
and planted.yaml.
"""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path

from demo_training.questionnaire import draw_paraphrases, read_grammar
from ground.writing import write_atomically
from inference.demo import MEANING, SEED
from inference.stimuli.reading.files import read_yaml
from inference.stimuli.study import ORIGINAL, PARAPHRASE

PLANTED = Path(__file__).with_name("planted.yaml")
PARAPHRASES = 20
"""True paraphrases of every statement, as many as Haller et al. asked about."""
COLUMNS = ("item", "variant", "pattern", "language", "text", "attributes.planted")


def read_planted_paraphrases() -> dict[str, str]:
    """Read the false paraphrases: item -> sentence."""
    return {entry["item"]: entry["text"] for entry in read_yaml(PLANTED)}


def list_rows() -> list[tuple[str, ...]]:
    """List the rows of the table; a false paraphrase stands anywhere among the true ones of its item."""
    planted_texts, rows = read_planted_paraphrases(), []
    for entry in read_grammar():
        item, texts = entry["item"], draw_paraphrases(entry, PARAPHRASES)
        if item in planted_texts:
            texts.insert(random.Random(f"{SEED} planted {item}").randrange(len(texts) + 1), planted_texts[item])
        rows.append((item, ORIGINAL, ORIGINAL, "en", entry["statement"], ""))
        rows += [
            (item, f"{PARAPHRASE}-{number:03d}", PARAPHRASE, "en", text, "yes" * (text == planted_texts.get(item)))
            for number, text in enumerate(texts, start=1)
        ]
    return rows


def write_meaning_items(file: Path = MEANING) -> None:
    """Write the table."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(list_rows())
    write_atomically(file, lambda aside: aside.write_text(text.getvalue(), encoding="utf-8"))


if __name__ == "__main__":
    write_meaning_items()
