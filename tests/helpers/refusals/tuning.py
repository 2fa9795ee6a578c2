"""Wrong calls and inputs of `tune`."""

from __future__ import annotations

import json

from helpers.refusals import Case
from helpers.refusals.missing import MODEL

CALL = "inference tune nli --data pairs.jsonl --out tuned --model"
LABELS = ("entailment", "contradiction", "neutral")
ROWS = [{"premise": f"It rains {day}.", "hypothesis": "It rains.", "label": LABELS[day % 3]} for day in range(12)]
PAIRS = {"pairs.jsonl": "".join(json.dumps(row) + "\n" for row in ROWS)}
FEW = {"pairs.jsonl": "".join(json.dumps(row) + "\n" for row in ROWS[:4])}
WITHOUT = {"pairs.jsonl": "".join(json.dumps({**row, "label": "neutral"}) + "\n" for row in ROWS)}
STRAY = {"pairs.jsonl": json.dumps({**ROWS[0], "label": "perhaps"})}

CASES = [
    Case("no pairs to tune on", f"{CALL} demo", ("pairs.jsonl", "no such file")),
    Case("a label that is none", f"{CALL} demo", ("pairs.jsonl", "label", "perhaps", "neutral"), STRAY),
    Case("too few rows to hold some out", f"{CALL} demo", ("pairs.jsonl", "4 rows", "10 or more"), FEW),
    Case("a label that no row has", f"{CALL} demo", ("pairs.jsonl", "no row has the label entailment"), WITHOUT),
    Case("an encoder that is not there", f"{CALL} ./nobody", ("--model ./nobody", "no such folder"), PAIRS),
    Case("a learning rate that is none", f"{CALL} demo --rates 5e-5,fast", ("--rates", "fast"), PAIRS),
    Case("a learning rate twice", f"{CALL} demo --rates 5e-5,0.00005", ("--rates", "each once"), PAIRS),
    Case("no epoch", f"{CALL} demo --epochs 0", ("--epochs", "0", "whole number"), PAIRS),
    Case("a package that is not installed", f"{CALL} demo", ("tune", "accelerate", "pip install"), PAIRS,
         without=("accelerate",)),
    Case("a classifier where none is in the demo",
         "inference run negation --items demo --model demo --engine classifier --out run",
         ("--model demo", "--engine classifier", "name a model")),
    Case("an encoder that was not tuned",
         f"inference run negation --items demo --model {MODEL} --engine classifier --out run",
         ("no classifier", "waver tune nli")),
]  # fmt: skip
