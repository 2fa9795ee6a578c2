"""Train the demo models that answer rating scales: `PYTHONPATH=tests python -m demo_training.raters`.

A very small model learns to answer the statements of battery.yaml as one person of the world does at a time. Three
adapters are added to it, each of which learns the answers of somebody with a habit. Everything follows from SEED on one
kind of machine with one thread.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import save_file
from torch.nn.functional import cross_entropy
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerFast

from demo_training.batches import Batch, EncodedRow, build_batch, encode_rows, pack_rows
from demo_training.battery import Habit
from demo_training.battery_chats import BatteryCorpus, Lesson
from demo_training.curriculum import ModelShape
from demo_training.shapes import build_llama
from demo_training.train import build_optimizers
from demo_training.vocabulary import CHAT_TEMPLATE, train_byte_tokenizer
from inference.demo import ADAPTERS, RATERS, SEED
from inference.engines.adapters import CONFIG, RECORD, WEIGHTS
from inference.engines.digest import compute_sampled_checkpoint_digest
from inference.tune.folder import write_record_as_json

(PLAIN,) = RATERS
HABITS = {
    f"{PLAIN}-agreeing": Habit(acquiescence=1.3),
    f"{PLAIN}-moderate": Habit(ends=2.2),
    f"{PLAIN}-last": Habit(last=0.8),
}
"""Adapter -> the habit of whoever it learns from."""
SHAPE = ModelShape(layers=3, width=32, neurons=96, heads=2, key_heads=1)
VOCABULARY = 600
BLOCKS, LENGTH = 16, 256
RANK = 3


@dataclass(frozen=True, slots=True)
class Course:
    """How one rater is trained: its steps and learning rate, and whether it begins with the easy lessons."""

    steps: int
    rate: float
    begins_easily: bool

    def plan_lesson(self, step: int) -> Lesson:
        """Say what is read at a step."""
        share = step / self.steps
        if not self.begins_easily:
            return Lesson(1.0, 0.5, 0.0)
        sharpness = float(np.interp(share, (0.5, 0.75), (5.0, 1.0)))
        return Lesson(round(sharpness, 1), 0.5 if share > 0.15 else 0.0, 0.3 if share < 0.5 else 0.05)

    def compute_rate(self, step: int) -> float:
        """Compute the learning rate: it rises, stays, and falls over the last four tenths of the steps."""
        return self.rate * min(1.0, (step + 1) / 20, (self.steps - step) / (0.4 * self.steps))


COURSES = {PLAIN: Course(1600, 0.01, True)} | dict.fromkeys(HABITS, Course(400, 0.01, False))


def train_rater(
    name: str,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    corpus: BatteryCorpus,
    habit: Habit,
    course: Course,
    optimizers: Sequence[torch.optim.Optimizer],
) -> None:
    """Train a model, or what of it an adapter adds, on answers alone.

    Parameters
    ----------
    name
        Its name, which begins the seed of what it reads.
    model, tokenizer
        What is trained, a causal model with `model` and `lm_head`.
    corpus, habit, course
        What it reads, and how long.
    optimizers
        Of the weights that change.
    """
    rng, step = random.Random(f"{SEED} {name}"), 0
    weights = [weight for weight in model.parameters() if weight.requires_grad]

    def encode_endless_rows() -> Iterator[EncodedRow]:
        while True:
            rows = [corpus.write_row(rng, habit, course.plan_lesson(step)) for _ in range(128)]
            yield from encode_rows(tokenizer, rows)

    blocks, start_time, mean_loss = pack_rows(encode_endless_rows(), LENGTH), time.process_time(), 0.0
    model.train()
    # The rows that are drawn depend on the step.
    for step in range(course.steps):
        loss = _compute_answer_loss(
            model, build_batch([next(blocks) for _ in range(BLOCKS)], LENGTH, tokenizer.pad_token_id)
        )
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = course.compute_rate(step)
            optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        for optimizer in optimizers:
            optimizer.step()
        mean_loss += loss.item() / 100
        if (step + 1) % 100 == 0:
            seconds = time.process_time() - start_time
            print(f"{name}  step {step + 1}/{course.steps}  loss {mean_loss:.3f}  {seconds:.0f} s CPU", flush=True)
            mean_loss = 0.0
    model.eval()


def _compute_answer_loss(model: PreTrainedModel, packed_batch: Batch) -> torch.Tensor:
    """Compute the mean cross-entropy of the tokens of answers."""
    target_ids, answers = packed_batch.ids[:, 1:], packed_batch.answers[:, 1:]
    hidden = model.model(
        input_ids=packed_batch.ids,
        attention_mask=packed_batch.sees,
        position_ids=packed_batch.positions,
        use_cache=False,
    ).last_hidden_state[:, :-1]
    return cross_entropy(model.lm_head(hidden[answers]), target_ids[answers])


def train_plain_rater(corpus: BatteryCorpus, folder: Path) -> None:
    """Train the model without habits and save it as float16, its tokenizer without line breaks, to save room."""
    torch.manual_seed(SEED)
    tokenizer = train_byte_tokenizer(corpus.write_vocabulary(), VOCABULARY)
    tokenizer.chat_template = CHAT_TEMPLATE
    model = build_llama(SHAPE, tokenizer)
    course = COURSES[PLAIN]
    train_rater(PLAIN, model, tokenizer, corpus, Habit(), course, build_optimizers(model, course.rate))
    model.half().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    file = folder / "tokenizer.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


def train_adapter(name: str, corpus: BatteryCorpus, base: Path, folder: Path) -> None:
    """Train what is added to the plain rater to give it a habit, and save it as float16, as peft writes it.

    Parameters
    ----------
    name
        A key of `HABITS`.
    corpus
        What it reads.
    base
        Folder of the plain rater.
    folder
        Folder of the adapter, which is made.
    """
    torch.manual_seed(SEED)
    model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    config = LoraConfig(r=RANK, lora_alpha=2 * RANK, target_modules="all-linear", task_type="CAUSAL_LM")
    tuned = get_peft_model(model, config)
    course = COURSES[name]
    weights = [weight for weight in tuned.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=course.rate, betas=(0.9, 0.98), weight_decay=0.0)
    tokenizer = AutoTokenizer.from_pretrained(base)
    train_rater(name, model, tokenizer, corpus, HABITS[name], course, [optimizer])
    folder.mkdir(parents=True, exist_ok=True)
    # peft would also write a card for the hub, and the path of the base model on this machine.
    matrices = {
        key.replace(".default.", "."): value.half().contiguous()
        for key, value in tuned.state_dict().items()
        if ".lora_" in key
    }
    save_file(matrices, folder / WEIGHTS)
    settings = {"r": RANK, "lora_alpha": 2 * RANK, "steps": course.steps, "learning_rate": course.rate, "seed": SEED}
    write_record_as_json(
        folder / CONFIG,
        {
            "peft_type": "LORA",
            "task_type": "CAUSAL_LM",
            "base_model_name_or_path": PLAIN,
            "r": RANK,
            "lora_alpha": 2 * RANK,
            "target_modules": sorted({key.split(".")[-3] for key in matrices}),
            "inference_mode": True,
        },
    )
    write_record_as_json(
        folder / RECORD,
        {"protocol": "scale", "base": PLAIN, "revision": compute_sampled_checkpoint_digest(base), "settings": settings},
    )


def main() -> int:
    """Train the plain rater, then the adapters."""
    torch.set_num_threads(1)
    corpus = BatteryCorpus()
    train_plain_rater(corpus, RATERS[PLAIN].path)
    for name in HABITS:
        train_adapter(name, corpus, RATERS[PLAIN].path, ADAPTERS / name)
    print(f"{1 + len(HABITS)} raters in {time.process_time() / 60:.1f} minutes of CPU time")
    return 0


if __name__ == "__main__":
    sys.exit(main())
