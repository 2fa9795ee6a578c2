"""Train the demo models: `python -m inference.demo.train [NAME ...]`.

The largest base model learns to continue the world's text; the smaller ones start from some of its layers and learn on;
tuned ones start from base ones and learn to answer in chat; the masked model starts from the largest one and learns to
fill in words. All text is drawn afresh from the world, in trained wordings, as curriculum.yaml says. A training that
was stopped goes on from its last checkpoint and ends with the same weights. Everything follows from SEED on one kind of
machine with one thread; to use two cores, start two calls with different names.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from ground.errors import InputError
from inference.demo import FAMILY, SEED
from inference.demo.batches import Encoded, batch, causal_loss, encode, hide, masked_loss, pack
from inference.demo.corpus import TURNS, Corpus
from inference.demo.curriculum import LARGEST, PLANS, Plan, stage_at
from inference.demo.exercises import PAIR_LABELS, YES_NO
from inference.demo.shapes import cut, llama, modern_bert, see_both_ways
from inference.demo.vocabulary import CHAT_TEMPLATE, causal_tokenizer, masked_tokenizer, same_tokens
from inference.demo.world import Manner, World

CHECKPOINTS = Path("build/demo-training")
LESSON = 50
"""Steps whose texts are drawn together; a checkpoint is at the end of a lesson."""
CHECKPOINT_EVERY = 10
"""Lessons from one checkpoint to the next."""
COMPILE_FROM = 2000
"""Steps from which it pays to compile the layers, which takes a minute and makes them a third faster."""

Watch = Callable[[int, PreTrainedModel, PreTrainedTokenizerBase, float], None]


def train(name: str, corpus: Corpus, plan: Plan, checkpoints: Path, watch: Watch | None = None) -> None:
    """Train one model from where it was, save it, and remove its checkpoint.

    Parameters
    ----------
    name
        One of `FAMILY`. A tuned model starts from the base model of its series, smaller and masked ones from the
        largest; these must be there.
    corpus
        Draws what it reads.
    plan
        How it is trained.
    checkpoints
        Folder for what an interrupted training needs in order to go on.
    watch
        Called after every lesson with the step, the model, its tokenizer and the mean loss of the lesson.
    """
    model, tokenizer = _begin(name, corpus, plan)
    optimizers = _optimizers(model, plan.rate)
    kept = checkpoints / f"{name}.pt"
    done = _resume(kept, model, optimizers)
    began = time.perf_counter()
    model.train()
    if FAMILY[name].family == "causal" and plan.steps >= COMPILE_FROM:
        model.base_model.compile(dynamic=False)
    for lesson in range(done, plan.steps // LESSON):
        torch.manual_seed(SEED + lesson)
        seen = 0.0
        for number, loss in enumerate(_losses(name, model, tokenizer, corpus, plan, lesson)):
            for optimizer in optimizers:
                for group in optimizer.param_groups:
                    group["lr"] = group["peak"] * plan.pace_at((lesson * LESSON + number) / plan.steps)
                optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            for optimizer in optimizers:
                optimizer.step()
            seen += loss.item() / LESSON
        step = (lesson + 1) * LESSON
        print(
            f"{name}  step {step}/{plan.steps}  loss {seen:.3f}  {(time.perf_counter() - began) / 60:.1f} min",
            flush=True,
        )
        if watch:
            watch(step, model, tokenizer, seen)
        if (lesson + 1) % CHECKPOINT_EVERY == 0:
            _keep(kept, lesson + 1, model, optimizers)
    _save(name, model, tokenizer)
    kept.unlink(missing_ok=True)


def _begin(name: str, corpus: Corpus, plan: Plan) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Make a model with random weights and its tokenizer, or load what the training starts from."""
    torch.manual_seed(SEED)
    corpus.world.manner = Manner()
    if FAMILY[name].family == "masked":
        tokenizer = masked_tokenizer(corpus, SEED)
        model = modern_bert(plan.shape, tokenizer)
        large = FAMILY[LARGEST].path
        same = same_tokens(tokenizer, AutoTokenizer.from_pretrained(large), corpus)
        see_both_ways(AutoModelForCausalLM.from_pretrained(large, dtype=torch.float32), model, same)
        return model, tokenizer
    if FAMILY[name].stage == "base" and not plan.kept:
        tokenizer = causal_tokenizer(corpus, SEED)
        return llama(plan.shape, tokenizer), tokenizer
    start = FAMILY[LARGEST if plan.kept else FAMILY[name].series].path
    tokenizer = AutoTokenizer.from_pretrained(start)
    model = AutoModelForCausalLM.from_pretrained(start, dtype=torch.float32)
    if plan.kept:
        return cut(model, plan.kept, plan.shape.neurons), tokenizer
    tokenizer.chat_template = CHAT_TEMPLATE
    _greet(model, tokenizer)
    return model, tokenizer


def _greet(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    """Let the turn of the assistant begin as a colon, and its answers as the same words after a space.

    These tokens of chats would be new to base models, which have read answers after a colon and a space. They know
    letters without a space from lists of choices.
    """
    vocabulary, weight = tokenizer.get_vocab(), model.get_input_embeddings().weight
    with torch.no_grad():
        weight[vocabulary[TURNS[2]]] = weight[vocabulary[":"]]
        for word in (*YES_NO, *PAIR_LABELS):
            weight[vocabulary[word]] = weight[vocabulary[f"\u0120{word}"]]


def _losses(
    name: str, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, corpus: Corpus, plan: Plan, lesson: int
) -> Iterator[torch.Tensor]:
    """Draw the texts of a lesson and compute the loss of each of its steps."""
    rng = random.Random(f"{SEED} {name} {lesson}")
    stage, twist = stage_at(plan.stages, lesson * LESSON / plan.steps)
    corpus.world.manner = plan.upbringing.manner(twist)
    causal = FAMILY[name].family == "causal"
    draw = (corpus.base if FAMILY[name].stage == "base" else corpus.tuned) if causal else corpus.masked

    def rows_without_end() -> Iterator[Encoded]:
        while True:
            rows = encode(tokenizer, [draw(rng, stage, plan.upbringing) for _ in range(256)])
            yield from rows if causal else (hide(row, rng) for row in rows)

    blocks = pack(rows_without_end(), plan.length)
    for _ in range(LESSON):
        drawn = [next(blocks) for _ in range(plan.blocks)]
        read = batch(drawn, plan.length, tokenizer.pad_token_id, causal=causal)
        yield causal_loss(model, read) if causal else masked_loss(model, read, tokenizer.mask_token_id)


def _optimizers(model: PreTrainedModel, rate: float) -> list[torch.optim.Optimizer]:
    """Make Muon for the matrices between the layers, and AdamW for embeddings, norms and biases."""
    hidden = [p for n, p in model.named_parameters() if p.ndim == 2 and ".layer" in n]
    chosen = set(map(id, hidden))
    others = [p for p in model.parameters() if id(p) not in chosen]
    optimizers: list[torch.optim.Optimizer] = [
        torch.optim.Muon(hidden, lr=rate, weight_decay=0.01, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(others, lr=rate, betas=(0.9, 0.98), weight_decay=0.0),
    ]
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["peak"] = rate
    return optimizers


def _keep(path: Path, lesson: int, model: PreTrainedModel, optimizers: list[torch.optim.Optimizer]) -> None:
    """Write a checkpoint, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".new")
    states = [optimizer.state_dict() for optimizer in optimizers]
    torch.save({"lesson": lesson, "model": model.state_dict(), "optimizers": states}, fresh)
    fresh.replace(path)


def _resume(path: Path, model: PreTrainedModel, optimizers: list[torch.optim.Optimizer]) -> int:
    """Load a checkpoint if there is one; return the number of lessons that are done."""
    if not path.is_file():
        return 0
    kept = torch.load(path, weights_only=True)
    model.load_state_dict(kept["model"])
    for optimizer, state in zip(optimizers, kept["optimizers"], strict=True):
        optimizer.load_state_dict(state)
    return int(kept["lesson"])


def _save(name: str, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    """Save the weights as float16 safetensors, with the tokenizer: half the space, and exact enough."""
    path = FAMILY[name].path
    model.eval().half().save_pretrained(path)
    tokenizer.save_pretrained(path)
    print(f"{name}  {model.num_parameters():,} parameters  -> {path.name}", flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Train the named models, or the whole family, each after the one that it starts from."""
    parser = argparse.ArgumentParser(prog="python -m inference.demo.train", description="Train the demo models.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="models to train (default: the whole family)")
    parser.add_argument(
        "--checkpoints", type=Path, default=CHECKPOINTS, metavar="FOLDER", help=f"(default: {CHECKPOINTS})"
    )
    given = parser.parse_args(arguments)
    names = given.names or list(FAMILY)
    unknown = [name for name in names if name not in FAMILY]
    if unknown:
        print(InputError(f"no demo model is called {unknown[0]}; there are {', '.join(FAMILY)}"), file=sys.stderr)
        return 2
    torch.set_num_threads(1)
    corpus = Corpus(World())
    began = time.perf_counter()
    for name in sorted(names, key=list(PLANS).index):
        train(name, corpus, PLANS[name], given.checkpoints)
    print(f"{len(names)} models in {(time.perf_counter() - began) / 60:.1f} minutes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
