"""Tune a small encoder on entailment in the demo world, without and with negated rows: before and after.

    python tests/benchmarks/bench_tune.py [--rows 480] [--rates 3e-3,2e-3] [--epochs 8,16] [--seeds 5] [--keep FOLDER]

The encoder is made here: a BERT of 0.1 million random weights, laid out so that it soon finds equal words (`make`).
`waver tune nli` then tunes it three times: hardly (a rate of 1e-9: its head is random; this is before), on originals,
and on originals and negated rows, equally many rows in all. Rows to tune on are in the wordings that the demo models
are trained on, questions in the held-out ones (`run negation --items demo`): no sentence is in both. Each accuracy is
the mean over the seeds, with its interval over originals. With --keep, a stopped call goes on.

Exit status 1 unless tuning teaches labels, Acc on important pairs falls without negated rows, and Acc' is higher with
them; each beyond both intervals.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import torch
from transformers import BertConfig, BertForMaskedLM, BertTokenizer

from analysis import runs
from analysis.pages.negation import judgements
from analysis.pages.negation.judgements import Counts
from analysis.statistics.resampling import Array, Columns, bootstrap, ratio
from inference.__main__ import main as waver
from inference.demo import SEED
from inference.demo.entailments import RELATIONS, entailments
from inference.demo.vocabulary import MASKED_SPECIALS
from inference.demo.world import World
from inference.stimuli import nli
from inference.stimuli.nli import Instance

WIDTH, LAYERS, HEADS = 64, 2, 2
INSTANCES = {"originals": ("original_right", "original"), "negated": ("negated_right", "negated")}
PAIRS = {"Acc": ("before", "pairs"), "Acc'": ("after", "pairs")}
Figure = tuple[float, float, float]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=480, help="originals, and as many further rows")
    parser.add_argument("--rates", default="3e-3,2e-3")
    parser.add_argument("--epochs", default="8,16")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        return compare(options.keep or Path(folder), options)


def compare(folder: Path, options: argparse.Namespace) -> int:
    """Tune, ask, and print accuracies with intervals; return the exit status."""
    world = World()
    encoder = folder / "small-encoder"
    if not encoder.exists():
        make(encoder, world)
    files = data(folder, world, options.rows)
    grid = ["--rates", options.rates, "--epochs", options.epochs]
    hardly = ["--rates", "1e-9", "--epochs", "1"]
    found = {}
    for name, rows, tried in (
        ("before", ["originals"], hardly),
        ("without", ["originals", "more"], grid),
        ("with", ["originals", "negated"], grid),
    ):
        began = time.process_time()
        call = ["tune", "nli", "--model", str(encoder), "--data", *(str(files[row]) for row in rows), *tried]
        if waver([*call, "--seeds", str(options.seeds), "--device", "cpu", "--out", str(folder / name)]):
            return 1
        print(f"{name}: {(time.process_time() - began) / 60:.1f} min of a core", flush=True)
        models = [str(folder / name / f"{name}-{seed}") for seed in range(options.seeds)]
        run = folder / f"run-{name}"
        if waver(["run", "negation", "--items", "demo", "--model", *models, "--out", str(run)]):
            return 1
        found[name] = accuracies(run)
    for name, figures in found.items():
        print(
            f"{name:<8}", *(f"{what} {mean:.3f} [{low:.3f}, {high:.3f}]" for what, (mean, low, high) in figures.items())
        )
    shown = {
        "tuning teaches labels": (found["without"]["originals"], found["before"]["originals"]),
        "Acc falls without negated rows": (found["without"]["important Acc"], found["without"]["important Acc'"]),
        "Acc' is higher with them": (found["with"]["important Acc'"], found["without"]["important Acc'"]),
    }
    for what, (above, below) in shown.items():
        print(f"{what}: {'yes' if above[1] > below[2] else 'NOT SHOWN'}")
    return int(not all(above[1] > below[2] for above, below in shown.values()))


def make(folder: Path, world: World) -> None:
    """Write a BERT of random weights in whose first layer a word looks for the same word; all else it has to learn.

    That needs the queries to be the keys, and words that tell more than their places do. Where both are drawn apart,
    such a small model spends thousands of steps on finding out that two words are the same.
    """
    tokenizer = words(world)
    torch.manual_seed(SEED)
    model = BertForMaskedLM(
        BertConfig(
            vocab_size=len(tokenizer), hidden_size=WIDTH, intermediate_size=2 * WIDTH, num_hidden_layers=LAYERS,
            num_attention_heads=HEADS, max_position_embeddings=128, initializer_range=0.1, hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0, pad_token_id=tokenizer.pad_token_id,
        )
    )  # fmt: skip
    first, *others = (layer.attention.self for layer in model.bert.encoder.layer)
    with torch.no_grad():
        first.query.weight.mul_(1.5)
        first.key.weight.copy_(first.query.weight)
        for other in others:
            other.query.weight.mul_(0.3)  # these look everywhere
        model.bert.embeddings.position_embeddings.weight.mul_(0.2)
        model.bert.embeddings.token_type_embeddings.weight.mul_(0.3)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    print(f"encoder: {model.num_parameters():,} weights")


def words(world: World) -> BertTokenizer:
    """Make a tokenizer of the words in which the world speaks of colours and places."""
    sentences = [
        frame.format(x=x, v=value)
        for relation in RELATIONS
        for wording in ("trained", "heldout")
        for form in ("affirm", "deny")
        for frame in world.relations[relation][wording][form]
        for x in world.props
        for value in world.values(relation)
    ]
    known = dict.fromkeys([*MASKED_SPECIALS, *re.findall(r"\w+|[^\w\s]", " ".join(sentences))])
    return BertTokenizer(vocab={word: place for place, word in enumerate(known)}, do_lower_case=True)


def data(folder: Path, world: World, number: int) -> dict[str, Path]:
    """Write originals, as many others, and as many negated rows with the originals that they are made from."""
    groups = list(nli.groups(entailments(world, -(-number // 3), "trained", "tune")).values())
    random.Random(0).shuffle(groups)  # they come sorted by relation and label
    written = {
        "originals": [group[0] for group in groups[:number]],
        "more": [group[0] for group in groups[number : 2 * number]],
        "negated": [each for group in groups[: number // 3] for each in group],
    }
    return {name: write(folder / f"{name}.jsonl", rows) for name, rows in written.items()}


def write(path: Path, rows: Sequence[Instance]) -> Path:
    """Write rows as `--data` reads them."""
    fields = ("item", "pattern", "premise", "hypothesis", "label")
    path.write_text("".join(json.dumps({name: getattr(row, name) for name in fields}) + "\n" for row in rows))
    return path


def accuracies(run: Path) -> dict[str, Figure]:
    """Measure what the models of a run get right in the mean: value, lower and upper end."""
    opened = runs.open(run)
    instances, pairs = judgements.of_instances(opened), judgements.of_pairs(opened)
    found = {name: share(instances, list(range(len(instances.rows))), part) for name, part in INSTANCES.items()}
    for kind in ("important", "unimportant"):
        rows = [place for place, each in enumerate(pairs.rows["kind"]) if each == kind]
        found |= {f"{kind} {name}": share(pairs, rows, part) for name, part in PAIRS.items()}
    return found


def share(counts: Counts, rows: Sequence[int], part: tuple[str, str]) -> Figure:
    """Divide two counts, summed over some rows (a model each), with an interval over originals."""
    columns = {name: counts.sums[name][:, rows].sum(axis=1, keepdims=True) for name in part}
    right, number = part

    def statistic(columns: Columns, drawn: Array) -> dict[str, Array]:
        return {"share": ratio(drawn, columns[right], columns[number])}

    shares = lambda columns: {"share": [[(columns[right], columns[number])]]}  # noqa: E731
    figure = bootstrap(columns, statistic, shares)["share"]
    return float(figure.estimate[0]), float(figure.lower[0]), float(figure.upper[0])


if __name__ == "__main__":
    sys.exit(main())
