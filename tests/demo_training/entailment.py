"""Train and examine the demo model that says whether one wording of the questionnaire follows from another.

    PYTHONPATH=tests python -m demo_training.entailment [--card]

trains waver-demo-entailment in some three minutes of one core; with --card, examines the one that is there and writes
the table into the models' card. It never reads the planted sentences (planted.yaml), nor the last frame of any
statement. Everything follows from SEED on one kind of machine with one thread.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
import time
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from transformers import BertConfig, BertForSequenceClassification, BertTokenizer, PreTrainedTokenizerBase

from demo_training.entailment_pairs import (
    CONTRADICTION,
    DENIED,
    ENTAILMENT,
    KINDS,
    NEUTRAL,
    OPPOSITE,
    WORDING,
    Pair,
    PairWriter,
)
from demo_training.evaluate import render_table_row, replace_tables_in_card
from demo_training.planted import read_planted_paraphrases
from demo_training.taught_world import TaughtWorld
from demo_training.templates import fold_sentence
from demo_training.train import build_optimizers
from demo_training.vocabulary import MASKED_SPECIALS
from inference.demo import ENTAILERS, SEED
from inference.demo.exercises import PAIR_LABELS

((NAME, ABOUT),) = ENTAILERS.items()
WIDTH, LAYERS, HEADS, POSITIONS = 64, 3, 2, 64
STEPS, PAIRS, RATE = 2400, 64, 4e-3
HINT_LAYER = 2
"""Behind this layer, the mark that ends a sentence is to tell which statement it is about and what it is to it."""
EXAMINED = 12
"""Wordings of a statement that are examined, of each kind of frame."""
OTHER = "other statement"


def build_tokenizer(words: Iterable[str]) -> BertTokenizer:
    """Make a lower-casing tokenizer of whole words."""
    return BertTokenizer(
        vocab={word: place for place, word in enumerate(dict.fromkeys([*MASKED_SPECIALS, *words]))}, do_lower_case=True
    )


def build_encoder(tokenizer: PreTrainedTokenizerBase) -> BertForSequenceClassification:
    """Make a BERT in whose first layer one head looks for the same word and the other at the word before.

    All else is random and has to be learnt. From weights that are random throughout, such a small model spends
    thousands of steps on finding out that two words are the same, and that their order counts.

    Parameters
    ----------
    tokenizer
        Says how many words it knows.

    Returns
    -------
    The model.
    """
    torch.manual_seed(SEED)
    model = BertForSequenceClassification(
        BertConfig(
            vocab_size=len(tokenizer), hidden_size=WIDTH, intermediate_size=2 * WIDTH, num_hidden_layers=LAYERS,
            num_attention_heads=HEADS, max_position_embeddings=POSITIONS, initializer_range=0.1,
            hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, pad_token_id=tokenizer.pad_token_id,
            id2label=dict(enumerate(PAIR_LABELS)), label2id={label: place for place, label in enumerate(PAIR_LABELS)},
        )
    )  # fmt: skip
    first_layer, *later_layers = (layer.attention.self for layer in model.bert.encoder.layer)
    half, quarter = WIDTH // 2, WIDTH // 4
    turns = 1.5 * torch.exp(-torch.arange(quarter) / (quarter - 1) * math.log(30.0))  # radians from word to word
    angles = torch.arange(POSITIONS)[:, None] * turns
    cosines, sines = torch.diag(torch.cos(turns)), torch.diag(torch.sin(turns))
    with torch.no_grad():
        # The second half of the width says where a word stands, by sines and cosines.
        embeddings = model.bert.embeddings
        embeddings.word_embeddings.weight[:, half:] *= 0.3
        embeddings.position_embeddings.weight.copy_(
            torch.cat([torch.zeros(POSITIONS, half), 0.15 * torch.sin(angles), 0.15 * torch.cos(angles)], dim=1)
        )
        query, key = first_layer.query.weight, first_layer.key.weight
        query[:half].mul_(1.5)
        key[:half].copy_(query[:half])
        query[half:], key[half:] = 0, 0
        # What is looked for is where the word stands, turned back by one place.
        turned_back = torch.cat([torch.cat([cosines, -sines], dim=1), torch.cat([sines, cosines], dim=1)])
        query[half:, half:] = 1.4 * turned_back
        key[half:, half:] = 1.4 * torch.eye(half)
        for later_layer in later_layers:
            later_layer.query.weight.mul_(0.3)  # these look everywhere
    return model


class Hints(nn.Module):
    """Reads, while the model learns, what it makes of each sentence of a pair: the statement, and what it is to it."""

    def __init__(self, items: Sequence[str]) -> None:
        super().__init__()
        self._places = [{name: place for place, name in enumerate(names)} for names in (items, KINDS)]
        self.readers = nn.ModuleList([nn.Linear(WIDTH, len(places)) for places in self._places])

    def compute_loss(self, ends: torch.Tensor, pairs: Sequence[Pair]) -> torch.Tensor:
        """Compute how wrong both are: `ends` are the states of the marks behind the sentences, pair by pair."""
        sentences = [sentence for pair in pairs for sentence in (pair.premise, pair.hypothesis)]
        names = [[sentence.item for sentence in sentences], [sentence.kind for sentence in sentences]]
        losses = [
            cross_entropy(read(ends), torch.tensor([places[name] for name in of_sentences]))
            for read, places, of_sentences in zip(self.readers, self._places, names, strict=True)
        ]
        return torch.stack(losses).sum()


def train_encoder(
    model: BertForSequenceClassification, tokenizer: PreTrainedTokenizerBase, writer: PairWriter, steps: int = STEPS
) -> None:
    """Train a model on pairs that are drawn afresh for every step.

    Parameters
    ----------
    model, tokenizer
        What is trained.
    writer
        Draws the pairs.
    steps
        How long; the learning rate rises, stays, and falls over the last four tenths.
    """
    rng, hints = random.Random(f"{SEED} entailment"), Hints(list(writer.statements))
    learner = nn.ModuleDict({"model": model, "hints": hints})
    optimizers = build_optimizers(learner, RATE)
    start_time, mean_loss = time.process_time(), 0.0
    model.train()
    for step in range(steps):
        pairs = [writer.draw_pair(rng) for _ in range(PAIRS)]
        coded = _encode_pairs(tokenizer, [(pair.premise.text, pair.hypothesis.text) for pair in pairs])
        output = model(**coded, output_hidden_states=True)
        ends = output.hidden_states[HINT_LAYER][coded["input_ids"] == tokenizer.sep_token_id]
        labels = torch.tensor([model.config.label2id[pair.label] for pair in pairs])
        loss = cross_entropy(output.logits, labels)
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = group["peak"] * min(1.0, (step + 1) / 50, (steps - step) / (0.4 * steps))
            optimizer.zero_grad(set_to_none=True)
        (loss + hints.compute_loss(ends, pairs)).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer in optimizers:
            optimizer.step()
        mean_loss += loss.item() / 100
        if (step + 1) % 100 == 0:
            print(f"step {step + 1:,}  loss {mean_loss:.3f}  {time.process_time() - start_time:.0f} s", flush=True)
            mean_loss = 0.0


def save_encoder(model: BertForSequenceClassification, tokenizer: PreTrainedTokenizerBase, folder: Path) -> None:
    """Save a model as float16, its tokenizer without line breaks, to save room."""
    model.eval().half().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    file = folder / "tokenizer.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


def examine_encoder(writer: PairWriter) -> str:
    """Examine the model and write the table of the card: how often it is right about a statement and another sentence.

    Parameters
    ----------
    writer
        Knows the frames, and changes sentences.

    Returns
    -------
    The table: a row for frames that are read and one for those that are held out, a column for each kind of sentence.
    """
    model = BertForSequenceClassification.from_pretrained(ABOUT.path, dtype=torch.float32).eval()
    tokenizer = BertTokenizer.from_pretrained(ABOUT.path)
    names = [*KINDS[:-1], OTHER]
    lines = [render_table_row("frames", names), render_table_row("---", ["---"] * len(names))]
    for frames in ("read", "held out"):
        rng = random.Random(f"{SEED} examine {frames}")
        shares = []
        for name, pairs in _draw_examined_pairs(writer, frames == "held out", names, rng).items():
            label = ENTAILMENT if name == WORDING else CONTRADICTION if name in (OPPOSITE, DENIED) else NEUTRAL
            shares.append(label_pairs(model, tokenizer, pairs).count(label) / len(pairs))
        lines.append(render_table_row(frames, [f"{100 * share:.0f}" for share in shares]))
    return "\n".join(lines)


def _draw_examined_pairs(
    writer: PairWriter, is_heldout: bool, names: Sequence[str], rng: random.Random
) -> dict[str, list[tuple[str, str]]]:
    """Draw wordings of every statement and change them: name of a column -> pairs of the statement and a sentence."""
    texts_by_item = (
        writer.heldout
        if is_heldout
        else {item: list(chain.from_iterable(parts)) for item, parts in writer.frames.items()}
    )
    pairs: dict[str, list[tuple[str, str]]] = {name: [] for name in names}
    for item, texts in texts_by_item.items():
        others = [other for other in texts_by_item if other != item]
        for text in rng.sample(texts, min(EXAMINED, len(texts))):
            seconds = {name: writer.change_sentence(name, item, text, rng) for name in KINDS[1:-1]}
            seconds |= {WORDING: text, OTHER: rng.choice(texts_by_item[rng.choice(others)])}
            for name in names:
                if seconds[name]:
                    pairs[name].append((writer.statements[item], seconds[name]))
    return pairs


@torch.inference_mode()
def label_pairs(
    model: BertForSequenceClassification, tokenizer: PreTrainedTokenizerBase, pairs: Sequence[tuple[str, str]]
) -> list[str]:
    """Say the most probable label of every pair."""
    labels = [""] * len(pairs)
    places = sorted(range(len(pairs)), key=lambda place: len(" ".join(pairs[place])))  # of one length: no padding
    for start in range(0, len(pairs), PAIRS):
        batch = places[start : start + PAIRS]
        logits = model(**_encode_pairs(tokenizer, [pairs[place] for place in batch])).logits
        for place, label in zip(batch, logits.argmax(1).tolist(), strict=True):
            labels[place] = model.config.id2label[label]
    return labels


def _encode_pairs(tokenizer: PreTrainedTokenizerBase, pairs: Sequence[tuple[str, str]]) -> dict[str, torch.Tensor]:
    premises, hypotheses = zip(*pairs, strict=True)
    return dict(tokenizer(list(premises), list(hypotheses), padding=True, return_tensors="pt"))


def main() -> int:
    """Train the model, or examine it."""
    parser = argparse.ArgumentParser(
        prog="python -m demo_training.entailment", description="Train or examine waver-demo-entailment."
    )
    parser.add_argument("--card", action="store_true", help="examine it and write the table into models/README.md")
    options = parser.parse_args()
    torch.set_num_threads(1)
    writer = PairWriter(TaughtWorld(), map(fold_sentence, read_planted_paraphrases().values()))
    if not options.card:
        tokenizer = build_tokenizer(writer.list_words())
        model = build_encoder(tokenizer)
        train_encoder(model, tokenizer, writer)
        save_encoder(model, tokenizer, ABOUT.path)
    table = examine_encoder(writer)
    print(table)
    if options.card:
        replace_tables_in_card({"entailment": table})
    return 0


if __name__ == "__main__":
    sys.exit(main())
