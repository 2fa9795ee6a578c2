"""Train the demo models: `PYTHONPATH=tests python -m demo_training.train [NAME ...]`.

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
from functools import partial
from pathlib import Path

import torch
from tokenizers import AddedToken
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from demo_training.batches import (
    EncodedRow,
    build_batch,
    compute_causal_loss,
    compute_masked_loss,
    encode_rows,
    mark_hidden_tokens,
    pack_rows,
)
from demo_training.corpus import TURNS, Corpus
from demo_training.curriculum import LARGEST_MODEL, PLANS, Stage, TrainingPlan, Upbringing, find_stage
from demo_training.exercises import YES_NO
from demo_training.shapes import build_llama, build_modern_bert, copy_causal_weights, cut_model
from demo_training.steps import Row
from demo_training.taught_world import Manner, TaughtWorld
from demo_training.thoughts import BREAK, CLOSE, OPEN, SAMPLER, THINKING_TEMPLATE, write_thinking_text
from demo_training.vocabulary import CHAT_TEMPLATE, build_masked_tokenizer, match_tokens, train_causal_tokenizer
from ground.errors import InputError
from inference.demo import FAMILY, SEED, THINKERS
from inference.demo.exercises import PAIR_LABELS

CHECKPOINTS = Path("build/demo-training")
TRAINED = FAMILY | THINKERS
"""All that are made here."""
LESSON = 50
"""Steps whose texts are drawn together; a checkpoint is at the end of a lesson."""
CHECKPOINT_EVERY = 10
"""Lessons from one checkpoint to the next."""
COMPILE_FROM = 2000
"""Steps from which it pays to compile the layers, which takes a minute and makes them a third faster."""

Watch = Callable[[int, PreTrainedModel, PreTrainedTokenizerBase, float], None]


def train_model(name: str, corpus: Corpus, plan: TrainingPlan, checkpoints: Path, watch: Watch | None = None) -> None:
    """Train one model from where it was, save it, and remove its checkpoint.

    Parameters
    ----------
    name
        One of `TRAINED`. A tuned model starts from the base model of its series, smaller and masked ones from the
        largest, one that thinks from the `start` of its plan; these must be there.
    corpus
        Draws what it reads.
    plan
        How it is trained.
    checkpoints
        Folder for what an interrupted training needs in order to go on.
    watch
        Called after every lesson with the step, the model, its tokenizer and the mean loss of the lesson.
    """
    model, tokenizer = _start_model(name, corpus, plan)
    optimizers = build_optimizers(model, plan.rate)
    checkpoint = checkpoints / f"{name}.pt"
    n_lessons_done = _resume_training(checkpoint, model, optimizers)
    start_time = time.perf_counter()
    model.train()
    if TRAINED[name].family == "causal" and plan.steps >= COMPILE_FROM:
        model.base_model.compile(dynamic=False)
    for lesson in range(n_lessons_done, plan.steps // LESSON):
        torch.manual_seed(SEED + lesson)
        mean_loss = 0.0
        for number, loss in enumerate(_compute_lesson_losses(name, model, tokenizer, corpus, plan, lesson)):
            for optimizer in optimizers:
                for group in optimizer.param_groups:
                    group["lr"] = group["peak"] * plan.compute_pace((lesson * LESSON + number) / plan.steps)
                optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            for optimizer in optimizers:
                optimizer.step()
            mean_loss += loss.item() / LESSON
        step = (lesson + 1) * LESSON
        print(
            f"{name}  step {step}/{plan.steps}  loss {mean_loss:.3f}  {(time.perf_counter() - start_time) / 60:.1f} "
            "min",
            flush=True,
        )
        if watch:
            watch(step, model, tokenizer, mean_loss)
        if (lesson + 1) % CHECKPOINT_EVERY == 0:
            _write_checkpoint(checkpoint, lesson + 1, model, optimizers)
    _save_model(name, model, tokenizer)
    checkpoint.unlink(missing_ok=True)


def _start_model(name: str, corpus: Corpus, plan: TrainingPlan) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Make a model with random weights and its tokenizer, or load what the training starts from."""
    torch.manual_seed(SEED)
    corpus.world.manner = Manner()
    if TRAINED[name].family == "masked":
        tokenizer = build_masked_tokenizer(corpus, SEED)
        model = build_modern_bert(plan.shape, tokenizer)
        large = TRAINED[LARGEST_MODEL].path
        causal_id_by_masked = match_tokens(tokenizer, AutoTokenizer.from_pretrained(large), corpus)
        copy_causal_weights(
            AutoModelForCausalLM.from_pretrained(large, dtype=torch.float32), model, causal_id_by_masked
        )
        return model, tokenizer
    if TRAINED[name].stage == "base" and not plan.kept_layers:
        tokenizer = train_causal_tokenizer(corpus, SEED)
        return build_llama(plan.shape, tokenizer), tokenizer
    start = TRAINED[plan.start or (LARGEST_MODEL if plan.kept_layers else TRAINED[name].series)].path
    tokenizer = AutoTokenizer.from_pretrained(start)
    model = AutoModelForCausalLM.from_pretrained(start, dtype=torch.float32)
    if plan.kept_layers:
        return cut_model(model, plan.kept_layers, plan.shape.neurons), tokenizer
    if name in THINKERS:
        _add_thinking(model, tokenizer)
        return model, tokenizer
    tokenizer.chat_template = CHAT_TEMPLATE
    _copy_answer_weights(model, tokenizer)
    return model, tokenizer


def _copy_answer_weights(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    """Let the turn of the assistant begin as a colon, and its answers as the same words after a space.

    These tokens of chats would be new to base models, which have read answers after a colon and a space. They know
    letters without a space from lists of choices.
    """
    vocabulary, weight = tokenizer.get_vocab(), model.get_input_embeddings().weight
    with torch.no_grad():
        weight[vocabulary[TURNS[2]]] = weight[vocabulary[":"]]
        for word in (*YES_NO, *PAIR_LABELS):
            weight[vocabulary[word]] = weight[vocabulary[f"\u0120{word}"]]


def _add_thinking(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    """Give a tuned model the marks around thoughts, a template that knows them, and the sampler of its maker.

    The line breaks after a thought begin as the turn of the assistant, after which it has answered so far.
    """
    tokenizer.chat_template = THINKING_TEMPLATE
    tokenizer.add_tokens([AddedToken(mark, normalized=False) for mark in (OPEN, CLOSE, BREAK)])
    model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    vocabulary, weight = tokenizer.get_vocab(), model.get_input_embeddings().weight
    with torch.no_grad():
        weight[vocabulary[BREAK]] = weight[vocabulary[TURNS[2]]]
    model.generation_config.update(**SAMPLER)


def _compute_lesson_losses(
    name: str,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    corpus: Corpus,
    plan: TrainingPlan,
    lesson: int,
) -> Iterator[torch.Tensor]:
    """Draw the texts of a lesson and compute the loss of each of its steps."""
    rng = random.Random(f"{SEED} {name} {lesson}")
    stage, twist = find_stage(plan.stages, lesson * LESSON / plan.steps)
    corpus.world.manner = plan.upbringing.build_manner(twist)
    causal = TRAINED[name].family == "causal"
    draw_row = _choose_texts(name, corpus)

    def encode_endless_rows() -> Iterator[EncodedRow]:
        while True:
            rows = encode_rows(tokenizer, [draw_row(rng, stage, plan.upbringing) for _ in range(256)])
            yield from rows if causal else (mark_hidden_tokens(row, rng) for row in rows)

    blocks = pack_rows(encode_endless_rows(), plan.length)
    for _ in range(LESSON):
        drawn = [next(blocks) for _ in range(plan.blocks)]
        packed_batch = build_batch(drawn, plan.length, tokenizer.pad_token_id, causal=causal)
        yield (
            compute_causal_loss(model, packed_batch)
            if causal
            else compute_masked_loss(model, packed_batch, tokenizer.mask_token_id)
        )


def _choose_texts(name: str, corpus: Corpus) -> Callable[[random.Random, Stage, Upbringing], Row]:
    """Choose what a model reads."""
    if name in THINKERS:
        return partial(write_thinking_text, corpus)
    if TRAINED[name].family == "masked":
        return corpus.write_masked_text
    return corpus.write_base_text if TRAINED[name].stage == "base" else corpus.write_tuned_text


def build_optimizers(model: PreTrainedModel, rate: float) -> list[torch.optim.Optimizer]:
    """Make Muon for the matrices between the layers, and AdamW for embeddings, norms and biases.

    Parameters
    ----------
    model
        What is trained.
    rate
        The highest learning rate, kept as `peak` in every group.

    Returns
    -------
    The optimizers.
    """
    hidden = [p for n, p in model.named_parameters() if p.ndim == 2 and ".layer" in n]
    hidden_ids = set(map(id, hidden))
    other_parameters = [p for p in model.parameters() if id(p) not in hidden_ids]
    optimizers: list[torch.optim.Optimizer] = [
        torch.optim.Muon(hidden, lr=rate, weight_decay=0.01, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(other_parameters, lr=rate, betas=(0.9, 0.98), weight_decay=0.0),
    ]
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["peak"] = rate
    return optimizers


def _write_checkpoint(path: Path, lesson: int, model: PreTrainedModel, optimizers: list[torch.optim.Optimizer]) -> None:
    """Write a checkpoint, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".new")
    states = [optimizer.state_dict() for optimizer in optimizers]
    torch.save({"lesson": lesson, "model": model.state_dict(), "optimizers": states}, fresh)
    fresh.replace(path)


def _resume_training(path: Path, model: PreTrainedModel, optimizers: list[torch.optim.Optimizer]) -> int:
    """Load a checkpoint if there is one; return the number of lessons that are done."""
    if not path.is_file():
        return 0
    checkpoint = torch.load(path, weights_only=True)
    model.load_state_dict(checkpoint["model"])
    for optimizer, state in zip(optimizers, checkpoint["optimizers"], strict=True):
        optimizer.load_state_dict(state)
    return int(checkpoint["lesson"])


def _save_model(name: str, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    """Save the weights as float16 safetensors, with the tokenizer: half the space, and exact enough."""
    path = TRAINED[name].path
    model.eval().half().save_pretrained(path)
    tokenizer.save_pretrained(path)
    print(f"{name}  {model.num_parameters():,} parameters  -> {path.name}", flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Train the named models, or the whole family, each after the one that it starts from."""
    parser = argparse.ArgumentParser(prog="python -m demo_training.train", description="Train the demo models.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="models to train (default: the whole family)")
    parser.add_argument(
        "--checkpoints", type=Path, default=CHECKPOINTS, metavar="FOLDER", help=f"(default: {CHECKPOINTS})"
    )
    options = parser.parse_args(arguments)
    names = options.names or list(TRAINED)
    unknown = [name for name in names if name not in TRAINED]
    if unknown:
        print(InputError(f"no demo model is called {unknown[0]}; there are {', '.join(TRAINED)}"), file=sys.stderr)
        return 2
    torch.set_num_threads(1)
    corpus = Corpus(TaughtWorld())
    start_time = time.perf_counter()
    for name in sorted(names, key=list(PLANS).index):
        train_model(name, corpus, PLANS[name], options.checkpoints)
    print(f"{len(names)} models in {(time.perf_counter() - start_time) / 60:.1f} minutes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
