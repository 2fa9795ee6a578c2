"""Train the demo models: `python -m inference.demo.train [NAME ...]`.

Base models learn to continue the world's text; tuned ones start from them and learn to answer in chat, the loss on the
answer alone; the masked model learns to fill in words. All text is drawn afresh for every step from the world, in
trained wordings. Everything follows from SEED on one kind of machine with one thread.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch.nn.functional import cross_entropy
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    BertConfig,
    BertForMaskedLM,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from inference.demo import FAMILY, SEED
from inference.demo.corpus import Corpus, Reading
from inference.demo.vocabulary import CHAT_TEMPLATE, causal_tokenizer, masked_tokenizer
from inference.demo.world import World
from inference.errors import InputError

CONTEXT = {"causal": 1024, "masked": 512}
"""Positions a model may use. What it reads in training is far shorter."""
BLOCK = 96
"""Tokens in a row that a base model reads at once, several texts one after the other."""
BATCH = 20
LEARNT_SHARE = 0.15
"""Share of the other tokens of a base model's text that it learns from."""
ANSWER_WEIGHT = 10.0
"""How much more an answer counts than any other token of a base model's text: only answers need knowledge."""
ROWS = 64
"""Chats, or texts of the masked model, per step."""
WARM_UP, LAST = 0.05, 0.05
"""Share of the steps over which the learning rate rises, and what is left of it at the end."""
TWIST_FROM, TWIST_TO = 0.4, 0.65
"""Share of the steps before the first negation is met, and until all are."""
MASKED_SHARE = 0.15
REPORT_EVERY = 100


@dataclass(frozen=True, slots=True)
class Size:
    """The shape of a model and its number of training steps: as a base model, then as a tuned one."""

    width: int
    layers: int
    heads: int
    rate: float
    base_steps: int
    tuned_steps: int = 0


SIZES = {
    "small": Size(64, 2, 4, 4e-3, 4000, 1200),
    "medium": Size(96, 3, 4, 4e-3, 4000, 2000),
    "large": Size(128, 4, 4, 3e-3, 3600, 800),
    "bert": Size(96, 3, 4, 2e-3, 3000),
}

Loss = Callable[[], torch.Tensor]


def base(name: str, corpus: Corpus) -> None:
    """Train a base model from random weights and save it."""
    size = SIZES[name.rsplit("-", 1)[1]]
    tokenizer = causal_tokenizer(corpus, SEED)
    torch.manual_seed(SEED)
    model = LlamaForCausalLM(_llama(size, tokenizer))
    blocks = _blocks(corpus, tokenizer, random.Random(f"{SEED} {name}"))

    def loss() -> torch.Tensor:
        ids, answers = next(blocks)
        # The head costs a small model as much as its layers: only answers and a share of other tokens are learnt.
        learnt = answers[:, 1:] | (torch.rand(BATCH, BLOCK - 1) < LEARNT_SHARE)
        hidden = model.model(input_ids=ids[:, :-1]).last_hidden_state
        each = cross_entropy(model.lm_head(hidden[learnt]), ids[:, 1:][learnt], reduction="none")
        weights = 1 + (ANSWER_WEIGHT - 1) * answers[:, 1:][learnt]
        return (each * weights).sum() / weights.sum()

    _learn(name, model, loss, size.base_steps, size.rate, corpus.world)
    _save(name, model, tokenizer)


def tuned(name: str, corpus: Corpus) -> None:
    """Train the base model of the same size further, on answers in chat, and save it."""
    size = SIZES[name.split("-")[2]]
    start = FAMILY[FAMILY[name].series].path
    tokenizer = AutoTokenizer.from_pretrained(start)
    tokenizer.chat_template = CHAT_TEMPLATE
    torch.manual_seed(SEED)
    model = AutoModelForCausalLM.from_pretrained(start, dtype=torch.float32)
    rng = random.Random(f"{SEED} {name}")
    chats = corpus.sample(corpus.tuned, rng)

    def loss() -> torch.Tensor:
        batch = [next(chats) for _ in range(ROWS)]
        texts = [chat_text(tokenizer, said) + answer + tokenizer.eos_token for said, answer in batch]
        rows = tokenizer(texts, add_special_tokens=False, padding=True, padding_side="left", return_tensors="pt")
        positions = (rows.attention_mask.cumsum(1) - 1).clamp(min=0)
        # Every row ends in its answer, one token, and the end of the turn: only these two are learnt.
        logits = model(**rows, position_ids=positions, logits_to_keep=3).logits[:, :-1]
        return cross_entropy(logits.transpose(1, 2), rows.input_ids[:, -2:])

    _learn(name, model, loss, size.tuned_steps, size.rate / 2)
    _save(name, model, tokenizer)


def masked(name: str, corpus: Corpus) -> None:
    """Train the masked model from random weights and save it."""
    size = SIZES["bert"]
    tokenizer = masked_tokenizer(corpus, SEED)
    torch.manual_seed(SEED)
    model = BertForMaskedLM(_bert(size, tokenizer))
    rng = random.Random(f"{SEED} {name}")
    readings = corpus.sample(corpus.masked, rng)

    def loss() -> torch.Tensor:
        rows = [mask_some(tokenizer, next(readings), rng) for _ in range(ROWS)]
        shown = tokenizer.pad({"input_ids": [ids for ids, _ in rows]}, return_tensors="pt")
        labels = torch.full_like(shown["input_ids"], -100)
        for row, (_, wanted) in enumerate(rows):
            for position, token in wanted.items():
                labels[row, position] = token
        hidden = model.bert(**shown).last_hidden_state
        return cross_entropy(model.cls(hidden[labels != -100]), labels[labels != -100])

    _learn(name, model, loss, size.base_steps, size.rate, corpus.world)
    _save(name, model, tokenizer)


def chat_text(tokenizer: PreTrainedTokenizerBase, said: str) -> str:
    """Render one user turn by the chat template, up to where the assistant answers."""
    messages = [{"role": "user", "content": said}]
    return str(tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))


def mask_some(
    tokenizer: PreTrainedTokenizerBase, reading: Reading, rng: random.Random
) -> tuple[list[int], dict[int, int]]:
    """Mask the answer of a text in most cases, else some of its words.

    Returns
    -------
    (list of int, dict)
        Token ids with masks; and for every masked position the id that stood there.
    """
    before = tokenizer(reading.before, add_special_tokens=False)["input_ids"]
    answer = tokenizer(reading.answer, add_special_tokens=False)["input_ids"]
    after = tokenizer(reading.after, add_special_tokens=False)["input_ids"]
    ids = [tokenizer.cls_token_id, *before, *answer, *after, tokenizer.sep_token_id]
    if answer and rng.random() < 0.8:
        positions = [1 + len(before)]
    else:
        positions = [i for i in range(1, len(ids) - 1) if rng.random() < MASKED_SHARE] or [1]
    wanted = {position: ids[position] for position in positions}
    return [tokenizer.mask_token_id if i in wanted else token for i, token in enumerate(ids)], wanted


def _blocks(
    corpus: Corpus, tokenizer: PreTrainedTokenizerBase, rng: random.Random
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Cut texts that follow each other without gaps into batches of token ids, and mark where answers stand.

    Both arrays are (BATCH, BLOCK).
    """
    ids: list[int] = []
    answers: list[bool] = []
    wanted = BATCH * BLOCK
    while True:
        while len(ids) < wanted:
            reading = corpus.base(rng)
            text = tokenizer(reading.text)["input_ids"]
            answer_length = len(tokenizer(reading.answer, add_special_tokens=False)["input_ids"])
            ids += [*text, tokenizer.eos_token_id]
            answers += [False] * (len(text) - answer_length) + [True] * answer_length + [False]
        yield torch.tensor(ids[:wanted]).view(BATCH, BLOCK), torch.tensor(answers[:wanted]).view(BATCH, BLOCK)
        del ids[:wanted], answers[:wanted]


def _learn(name: str, model: PreTrainedModel, loss: Loss, steps: int, rate: float, world: World | None = None) -> None:
    """Train with AdamW, a linear warm-up and a cosine decay; print the mean loss. A world's twist rises meanwhile."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, betas=(0.9, 0.98), weight_decay=0.01)
    warm_up = max(1, round(WARM_UP * steps))

    def factor(step: int) -> float:
        fallen = (step - warm_up) / max(1, steps - warm_up)
        return (step + 1) / warm_up if step < warm_up else LAST + (1 - LAST) * (1 + math.cos(math.pi * fallen)) / 2

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
    model.train()
    began, seen = time.perf_counter(), 0.0
    for step in range(1, steps + 1):
        if world is not None:
            world.twist = min(1.0, max(0.0, (step / steps - TWIST_FROM) / (TWIST_TO - TWIST_FROM)))
        value = loss()
        optimizer.zero_grad(set_to_none=True)
        value.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        seen += value.item()
        if step % REPORT_EVERY == 0:
            spent = time.perf_counter() - began
            print(f"{name}  step {step}/{steps}  loss {seen / REPORT_EVERY:.3f}  {spent / 60:.1f} min", flush=True)
            seen = 0.0


def _save(name: str, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    """Save the weights as float16 safetensors, with the tokenizer: half the space, and exact enough."""
    path = FAMILY[name].path
    model.eval().half().save_pretrained(path)
    tokenizer.save_pretrained(path)
    print(f"{name}  {model.num_parameters():,} parameters  -> {path.name}", flush=True)


def _llama(size: Size, tokenizer: PreTrainedTokenizerBase) -> LlamaConfig:
    return LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=size.width,
        intermediate_size=size.width * 8 // 3 // 8 * 8,
        num_hidden_layers=size.layers,
        num_attention_heads=size.heads,
        max_position_embeddings=CONTEXT["causal"],
        tie_word_embeddings=True,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )


def _bert(size: Size, tokenizer: PreTrainedTokenizerBase) -> BertConfig:
    return BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=size.width,
        intermediate_size=4 * size.width,
        num_hidden_layers=size.layers,
        num_attention_heads=size.heads,
        max_position_embeddings=CONTEXT["masked"],
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        pad_token_id=tokenizer.pad_token_id,
    )


def main(arguments: list[str] | None = None) -> int:
    """Train the named models, or the whole family, in the order base before tuned."""
    parser = argparse.ArgumentParser(prog="python -m inference.demo.train", description="Train the demo models.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="models to train (default: the whole family)")
    names = parser.parse_args(arguments).names or list(FAMILY)
    unknown = [name for name in names if name not in FAMILY]
    if unknown:
        print(InputError(f"no demo model is called {unknown[0]}; there are {', '.join(FAMILY)}"), file=sys.stderr)
        return 2
    torch.set_num_threads(1)
    corpus = Corpus(World())
    began = time.perf_counter()
    for name in (name for name in FAMILY if name in names):
        recipe = masked if name == "waver-demo-bert" else base if FAMILY[name].stage == "base" else tuned
        recipe(name, corpus)
    print(f"{len(names)} models in {(time.perf_counter() - began) / 60:.1f} minutes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
