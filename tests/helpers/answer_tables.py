"""Small tables of answers in every format, as other tools write them."""

from __future__ import annotations

import csv
import json

import pyarrow as pa
import pyarrow.parquet as pq

OPTIONS = ("--options", "agree=strongly agree|agree;disagree=strongly disagree|disagree")
IDS = ("--model-column", "model", "--item-column", "item", "--variant-column", "variant", "--text-column", "text")
TEXTS = (*IDS, *OPTIONS, "--completion-column", "reply")
PROBABILITIES = (*IDS, "--probability-columns", "agree=yes,disagree=no")
COUNTS = (*IDS, "--count-columns", "agree=yes,disagree=no")
ANSWERS = [
    {"model": "m1", "item": "1", "variant": "original", "text": "Tea is hot.", "reply": "Agree."},
    {"model": "m1", "item": "1", "variant": "a", "text": "Hot is what tea is.", "reply": "I strongly disagree, sorry."},
    {"model": "m1", "item": "1", "variant": "b", "text": "Tea: hot!", "reply": "I would rather not say."},
    {"model": "m2", "item": "1", "variant": "a", "text": "Hot is what tea is.", "reply": "agree"},
]
NUMBERS = [
    {"model": "m1", "item": "1", "variant": "a", "text": "Hot is what tea is.", "yes": "0.25", "no": "0.5"},
    {"model": "m1", "item": "1", "variant": "b", "text": "Tea: hot!", "yes": "1e-3", "no": "0"},
]


def write(path, rows, delimiter=","):
    """A table in the format that the name tells."""
    if path.suffix in (".csv", ".tsv"):
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0], delimiter=delimiter)
            writer.writeheader()
            writer.writerows(rows)
    elif path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
