"""Make what two of the demo models are tuned from: an encoder of random weights, and labelled pairs of the demo world.

    PYTHONPATH=tests python -m demo_training.encoders FOLDER

writes `encoder/`, `originals.jsonl`, `more.jsonl` and `negated.jsonl`. `waver tune nli` does the rest; the models' card
has the commands.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from transformers import BertConfig, BertForMaskedLM, BertTokenizer

from demo_training.vocabulary import MASKED_SPECIALS
from inference.demo import SEED
from inference.demo.entailments import RELATIONS, make_entailment_pairs
from inference.demo.world import World
from inference.stimuli import nli
from inference.stimuli.nli import Instance

WIDTH, LAYERS, HEADS = 64, 2, 2
ROWS = 480
"""Originals to tune on, and as many further rows."""


def write_encoder(folder: Path, world: World) -> None:
    """Write a BERT of random weights in whose first layer a word looks for the same word; all else it has to learn.

    For that, queries and keys have the same weights, and the embeddings of words are larger than those of places. Where
    both are drawn apart, such a small model spends thousands of steps on finding out that two words are the same.

    Parameters
    ----------
    folder
        Takes the checkpoint.
    world
        The words of the tokenizer are those of this world.
    """
    tokenizer = _build_word_tokenizer(world)
    torch.manual_seed(SEED)
    model = BertForMaskedLM(
        BertConfig(
            vocab_size=len(tokenizer), hidden_size=WIDTH, intermediate_size=2 * WIDTH, num_hidden_layers=LAYERS,
            num_attention_heads=HEADS, max_position_embeddings=128, initializer_range=0.1, hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0, pad_token_id=tokenizer.pad_token_id,
        )
    )  # fmt: skip
    first_layer, *later_layers = (layer.attention.self for layer in model.bert.encoder.layer)
    with torch.no_grad():
        first_layer.query.weight.mul_(1.5)
        first_layer.key.weight.copy_(first_layer.query.weight)
        for later_layer in later_layers:
            later_layer.query.weight.mul_(0.3)  # these look everywhere
        model.bert.embeddings.position_embeddings.weight.mul_(0.2)
        model.bert.embeddings.token_type_embeddings.weight.mul_(0.3)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _build_word_tokenizer(world: World) -> BertTokenizer:
    """Make a tokenizer of the words in which the world speaks of colours and places."""
    sentences = [
        frame.format(x=x, v=value)
        for relation in RELATIONS
        for wording in ("trained", "heldout")
        for form in ("affirm", "deny")
        for frame in world.relations[relation][wording][form]
        for x in world.props
        for value in world.list_attribute_values(relation)
    ]
    vocabulary = dict.fromkeys([*MASKED_SPECIALS, *re.findall(r"\w+|[^\w\s]", " ".join(sentences))])
    return BertTokenizer(vocab={word: place for place, word in enumerate(vocabulary)}, do_lower_case=True)


def write_tuning_data(folder: Path, world: World, number: int = ROWS) -> dict[str, Path]:
    """Write originals, as many others, and as many negated rows with the originals that they are made from.

    All are in the wordings that the demo models are trained on; `run negation --items demo` asks in the held-out ones.

    Parameters
    ----------
    folder
        Takes the files.
    world
        The world that the pairs are about.
    number
        Originals, further rows, and negated rows; the file of the negated ones has their originals, too.

    Returns
    -------
    "originals", "more" and "negated" -> file.
    """
    groups = list(
        nli.group_pairs_by_original(make_entailment_pairs(world, -(-number // 3), "trained", "tune")).values()
    )
    random.Random(0).shuffle(groups)  # they come sorted by relation and label
    rows_by_name = {
        "originals": [group[0] for group in groups[:number]],
        "more": [group[0] for group in groups[number : 2 * number]],
        "negated": [instance for group in groups[: number // 3] for instance in group],
    }
    return {name: _write_instances(folder / f"{name}.jsonl", rows) for name, rows in rows_by_name.items()}


def _write_instances(path: Path, rows: Sequence[Instance]) -> Path:
    """Write rows as `--data` reads them."""
    fields = ("item", "pattern", "premise", "hypothesis", "label")
    path.write_text("".join(json.dumps({name: getattr(row, name) for name in fields}) + "\n" for row in rows), "utf-8")
    return path


def main() -> int:
    """Write all of it into the folder that is named."""
    parser = argparse.ArgumentParser(
        prog="python -m demo_training.encoders", description="Make what the encoders of the demo are tuned from."
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="takes the encoder and the pairs")
    folder, world = parser.parse_args().folder, World()
    write_encoder(folder / "encoder", world)
    write_tuning_data(folder, world)
    return 0


if __name__ == "__main__":
    sys.exit(main())
