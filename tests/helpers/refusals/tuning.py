"""Wrong calls and inputs of `tune`."""

from __future__ import annotations

import json
from pathlib import Path

from helpers.refusals import Case
from helpers.refusals.missing import MODEL

CALL = "inference tune nli --data pairs.jsonl --out tuned --model"
LABELS = ("entailment", "contradiction", "neutral")
ROWS = [{"premise": f"It rains {day}.", "hypothesis": "It rains.", "label": LABELS[day % 3]} for day in range(12)]
PAIRS = {"pairs.jsonl": "".join(json.dumps(row) + "\n" for row in ROWS)}
FEW = {"pairs.jsonl": "".join(json.dumps(row) + "\n" for row in ROWS[:4])}
WITHOUT = {"pairs.jsonl": "".join(json.dumps({**row, "label": "neutral"}) + "\n" for row in ROWS)}
STRAY = {"pairs.jsonl": json.dumps({**ROWS[0], "label": "perhaps"})}
NUMBER = {"pairs.jsonl": json.dumps({**ROWS[0], "label": 2})}
OTHER = {**PAIRS, "tuned/tuning.json": json.dumps({"base": "another-encoder"})}
STRANGE = {**PAIRS, "tuned/thesis.tex": "Chapter 1"}
NAMED = dict(enumerate(LABELS))


def classifier(folder: Path, names: dict[int, str] = NAMED) -> None:
    """Write pairs of sentences, and a classifier whose head has these classes."""
    (folder / "pairs.jsonl").write_text(PAIRS["pairs.jsonl"])
    (folder / "items.csv").write_text("item,text\n1,Bread is good.\n")
    from transformers import AutoModelForSequenceClassification

    from helpers import tiny_models  # takes seconds to import, which a call that only lists the cases need not wait for

    tokenizer = tiny_models.default_tokenizer("bert")
    auto, places = AutoModelForSequenceClassification, {name: place for place, name in names.items()}
    tiny_models.model("bert", tokenizer, auto=auto, id2label=names, label2id=places).save_pretrained(folder / "tiny")
    tokenizer.save_pretrained(folder / "tiny")


def unnamed(folder: Path) -> None:
    """Write the same, with classes that no one named."""
    classifier(folder, {place: f"LABEL_{place}" for place in range(3)})


CASES = [
    Case("no pairs to tune on", f"{CALL} demo", ("pairs.jsonl", "no such file")),
    Case("a label that is none", f"{CALL} demo", ("pairs.jsonl", "label", "perhaps", "neutral"), STRAY),
    Case("a label that is a number", f"{CALL} demo", ("pairs.jsonl", "label", "2", "neutral"), NUMBER),
    Case("too few rows to hold some out", f"{CALL} demo", ("pairs.jsonl", "4 rows", "10 or more"), FEW),
    Case("a label that no row has", f"{CALL} demo", ("pairs.jsonl", "no row has the label entailment"), WITHOUT),
    Case("a folder of another tuning", f"{CALL} demo",
         ("tuning.json", "base was another-encoder", "choose another --out"), OTHER),
    Case("a folder of something else", f"{CALL} demo", ("tuned", "no tuning", "another --out"), STRANGE),
    Case("a classifier to start from", f"{CALL} ./tiny",
         ("tiny", "BertForSequenceClassification", "the encoder that it was made from"), classifier),
    Case("an encoder that is not there", f"{CALL} ./nobody", ("--model ./nobody", "no such folder"), PAIRS),
    Case("a learning rate that is none", f"{CALL} demo --rates 5e-5,fast", ("--rates", "fast"), PAIRS),
    Case("a learning rate twice", f"{CALL} demo --rates 5e-5,0.00005", ("--rates", "each once"), PAIRS),
    Case("no epoch", f"{CALL} demo --epochs 0", ("--epochs", "0", "whole number"), PAIRS),
    Case("a package that is not installed", f"{CALL} demo", ("tune", "accelerate", "pip install"), PAIRS,
         without=("accelerate",)),
    Case("a classifier for a protocol that has no questions for it",
         "inference run agreement --items demo --model demo --engine classifier --out run",
         ("--model demo", "--engine classifier", "name a model")),
    Case("an encoder that was not tuned",
         f"inference run negation --items demo --model {MODEL} --engine classifier --out run",
         ("no classifier", "waver tune nli")),
    Case("a classifier whose classes have no names",
         "inference run negation --items pairs.jsonl --model tiny --out run",
         ("none of its classes", "LABEL_0", "entailment", "id2label"), unnamed),
    Case("a classifier asked for texts",
         "inference run negation --items pairs.jsonl --model tiny --answer text --out run",
         ("classifies and writes no text", "--answer probability"), classifier),
    Case("a classifier in a study of single sentences",
         "inference run agreement --items items.csv --model tiny --out run",
         ("no form 'pair'", "a classifier is asked in that form only", "give another --model"), classifier),
]  # fmt: skip
