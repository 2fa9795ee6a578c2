"""Wrong calls and inputs of `tune`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from helpers.refusals import Case
from helpers.refusals.missing import MODEL
from helpers.refusals.models import tiny

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


CHOICE = "inference tune choice --run run --model ./tiny --out tuned"


def answered(
    change: Callable[[Path], object] = lambda folder: None,
    spoil: Callable[[dict[str, Any]], object] = lambda info: None,
    **settings: Any,
) -> Callable[[Path], None]:
    """Write a tiny model and a run that it has answered; then change files, and fields of run.json."""

    def write(folder: Path) -> None:
        from helpers import choice_texts
        from inference.engines.digest import compute_sampled_checkpoint_digest

        shutil.copytree(tiny(), folder / "tiny")
        info = {"revision": compute_sampled_checkpoint_digest(folder / "tiny")}
        choice_texts.write_run(folder / "run", info=info, **settings)
        recorded = json.loads((folder / "run" / "run.json").read_text())
        spoil(recorded)
        (folder / "run" / "run.json").write_text(json.dumps(recorded))
        change(folder)

    return write


def set_up(text: str) -> Callable[[Path], object]:
    """Write a file of settings."""
    return lambda folder: (folder / "s.toml").write_text(text)


def cut(pattern: str) -> Callable[[Path], object]:
    """Cut a file of the run in two."""

    def change(folder: Path) -> None:
        (file,) = (folder / "run").glob(pattern)
        whole = file.read_bytes()
        file.write_bytes(whole[: len(whole) // 2])

    return change


def of_split(split: str | None) -> list[Any]:
    """Questions that are all of one split."""
    from helpers import choice_texts

    return choice_texts.questions(6, lambda number: split)


def wrong(_variant: Any, letter: str) -> tuple[str, str]:
    """Choose another letter."""
    other = "B" if letter == "A" else "A"
    return other, f" {other}"


def unread(_variant: Any, letter: str) -> tuple[None, str]:
    """Say nothing that counts."""
    return None, f" perhaps {letter}"


def without_rows(folder: Path) -> None:
    """Remove all responses."""
    shutil.rmtree(folder / "run" / "responses")


def two_conditions(recorded: dict[str, Any]) -> None:
    """Record another condition of texts."""
    (fields,) = recorded["conditions"].values()
    recorded["conditions"]["plain/base/text-2"] = fields


def other_prompt(recorded: dict[str, Any]) -> None:
    """Say that other prompts were asked."""
    (fields,) = recorded["conditions"].values()
    fields |= {"prompt": "mine", "prompt_hash": "0"}


SET = f"{CHOICE} --config s.toml"
CASES = [
    Case("no run to tune on", "inference tune choice --run nowhere --model ./tiny --out tuned", ("nowhere",),
         answered()),
    Case("a run of another protocol to tune on", CHOICE, ("run", "protocol agreement", "run choice"),
         answered(spoil=lambda info: info["study"].update(protocol="agreement"))),
    Case("a run that another model answered", CHOICE, ("run", "model 'tiny' was not asked", "nearest is 'tony'"),
         answered(model="tony")),
    Case("a run that another version answered", CHOICE, ("run", "another version of 'tiny'", "sha256:0"),
         answered(spoil=lambda info: info["models"]["tiny"].update(revision="sha256:0"))),
    Case("a run of a model that thinks", CHOICE, ("'tiny'", "thinks before it answers"),
         answered(spoil=lambda info: info["models"]["tiny"].update(thinks=True))),
    Case("a run without texts", CHOICE, ("run", "no texts after the base prompt", "--answer text"),
         answered(spoil=lambda info: [each.update(way="letters") for each in info["conditions"].values()])),
    Case("a run of the paraphrase-aware prompt only", CHOICE, ("run", "no texts after the base prompt"),
         answered(kind="aware")),
    Case("a run with two kinds of texts", CHOICE, ("run", "several", "--condition", "plain/base/text-2"),
         answered(spoil=two_conditions)),
    Case("a condition that the run has not", f"{CHOICE} --condition chat", ("--condition chat", "plain/base/text"),
         answered()),
    Case("a run with its own prompts", CHOICE, ("plain/base/text", "other prompts (mine)", "--prompt"),
         answered(spoil=other_prompt)),
    Case("a run that is not finished", CHOICE, ("288 rows", "no response", "run choice"), answered(without_rows)),
    Case("a run whose stimuli are cut in two", CHOICE, ("stimuli.parquet", "damaged"), answered(cut("stimuli.*"))),
    Case("a run whose responses are cut in two", CHOICE, ("part-", "damaged"), answered(cut("responses/part-*"))),
    Case("a run whose run.json is cut in two", CHOICE, ("run.json", "not valid JSON"), answered(cut("run.json"))),
    Case("a run in which nothing was right", CHOICE,
         ("run", "nothing to learn from in the split train", "8 questions",
          "8 with a wording that was always answered wrongly"),
         answered(said=wrong)),
    Case("a run in which nothing could be read", CHOICE,
         ("run", "nothing to learn from in the split train", "8 with one of which no choice could be read", "--form"),
         answered(said=unread)),
    Case("a run of the test split only", CHOICE, ("nothing to learn from in the split train", "no question"),
         lambda folder: answered(asked=of_split("test"))(folder)),
    Case("a run without a validation split", CHOICE, ("nothing to learn from in the split validation",),
         lambda folder: answered(asked=of_split("train"))(folder)),
    Case("a subset that the run has not", f"{CHOICE} --subset maths", ("--subset maths", "math reasoning"), answered()),
    Case("settings that are not there", SET, ("s.toml", "cannot be read"), answered()),
    Case("settings cut in two", SET, ("s.toml", "malformed TOML"), answered(set_up("[training]\nseed ="))),
    Case("an unknown key of settings", SET, ("s.toml", "[training]", "'learning_rates'", "nearest is 'learning_rate'"),
         answered(set_up("[training]\nlearning_rates = 0.1"))),
    Case("a key of settings in the wrong table", SET, ("s.toml", "[lora]", "'seed'"),
         answered(set_up("[lora]\nseed = 1"))),
    Case("an unknown table of settings", SET, ("s.toml", "'peft'", "[lora]"), answered(set_up("[peft]\nr = 1"))),
    Case("a key of settings without a table", SET, ("s.toml", "'r'", "[lora]"), answered(set_up("r = 1"))),
    Case("a learning rate of 0", SET, ("s.toml", "learning_rate", "above 0"),
         answered(set_up("[training]\nlearning_rate = 0"))),
    Case("a learning rate that is nan", SET, ("s.toml", "learning_rate", "nan"),
         answered(set_up("[training]\nlearning_rate = nan"))),
    Case("a seed that is true", SET, ("s.toml", "seed", "whole number"), answered(set_up("[training]\nseed = true"))),
    Case("an adapter in no layer", SET, ("s.toml", "target_modules", "list of names"),
         answered(set_up("[lora]\ntarget_modules = []"))),
    Case("an adapter in layers that the model has not", SET, ("tiny", "target_modules", "wings"),
         answered(set_up('[lora]\ntarget_modules = ["wings"]'))),
    Case("evaluation between two notes of the loss", SET, ("s.toml", "eval_steps 150", "multiple of logging_steps 100"),
         answered(set_up("[training]\neval_steps = 150"))),
    Case("4 bits without a GPU", f"{SET} --device cpu", ("four_bit", "CUDA"),
         answered(set_up("[loading]\nfour_bit = true"))),
    Case("two models to tune", "inference tune choice --run run --model demo --out tuned", ("--model demo", "name one"),
         answered()),
    Case("a folder of another tuning of choices", CHOICE, ("tuning.json", "base was another", "choose another --out"),
         answered(lambda folder: ((folder / "tuned").mkdir(), (folder / "tuned" / "tuning.json").write_text(
             json.dumps({"base": "another"}))))),
    Case("trl that is not installed", CHOICE, ("tune", "package trl", "tuning]"), answered(), without=("trl",)),
    Case("peft that is not installed", CHOICE, ("tune", "package peft", "tuning]"), answered(), without=("peft",)),
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
