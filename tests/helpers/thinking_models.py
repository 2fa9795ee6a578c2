"""A small model that thinks about the prompts of every protocol, trained in seconds: it writes a line and the answer.

Its thoughts end with the answer that it then gives, and its heads are wide enough for vLLM on a CPU.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from helpers import tiny_models
from inference.__main__ import build_argument_parser_for_python_calls
from inference.asking.limit import limit_questions_to_first_items
from inference.engines.tokens import Tokens
from inference.stimuli.templates.prompts import Prompt

TEMPLATE = (
    tiny_models.CHAT_TEMPLATE.replace("{{ bos_token }}", "{{ bos_token }}{{ reasoning_effort|default('') }}")
    + "{% if add_generation_prompt %}{{ '<think>\n' }}"
    "{% if enable_thinking is defined and not enable_thinking %}{{ '\n</think>\n\n' }}{% endif %}{% endif %}"
)
SAMPLER = {"temperature": 0.9, "top_p": 0.97, "top_k": 50, "min_p": 0.001}
# Protocol -> what its answers are, one of which the model chooses by chance.
WORDS = {
    "agreement": ("yes", "no"),
    "wording": ("yes", "no"),
    "negation": ("entailment", "contradiction", "neutral"),
    "choice": ("A", "B", "C", "D"),
    "scoring": tuple("0123456789"),
}
MUSINGS = ("", "warm lamp", "a small room, even a cold one, on Sundays", ", ".join(["and on"] * 9))
LONGEST = 30
"""Tokens that hold most thoughts, but not those that go on and on."""


def build_thinking_tokenizer(template: str = TEMPLATE) -> Any:
    """A tokenizer with the tags of a thinking model as tokens."""
    tokenizer = tiny_models.byte_tokenizer(chat=True, template=template)
    tokenizer.add_tokens(["<think>", "</think>"])
    return tokenizer


def build_prompts_by_key(
    protocol: str, items: int | None = None, more: Sequence[str] = ()
) -> dict[tuple[str, str], Prompt]:
    """Item and variant -> prompt of the demo, as `run PROTOCOL --answer thought --limit ITEMS MORE` asks them."""
    call = ["--items", "demo", "--model", "demo", "--form", "chat", "--answer", "thought", "--out", "unused", *more]
    options = build_argument_parser_for_python_calls(protocol).parse_args(call)
    study, questions = options.protocol.prepare_study(options)
    (round_,) = limit_questions_to_first_items(study, questions, items).rounds("chat")
    variants = filter(round_.chosen, study.variants)
    return {(variant.item, variant.variant): round_.render(variant, None) for variant in variants}


def build_prompts(protocol: str, number: int) -> list[Prompt]:
    """The first prompts of the demo."""
    return list(build_prompts_by_key(protocol, 2).values())[:number]


def build_texts(protocol: str) -> Iterator[str]:
    """What the model learns to write behind the opening tag."""
    for word in WORDS[protocol]:
        for musing in MUSINGS:
            yield f"{musing} so {word}</think>\n\n{word}"


def write_thinker(folder: Path, steps: int = 80) -> str:
    """Train a model and write its checkpoint, with a sampler of its maker."""
    tokenizer = build_thinking_tokenizer()
    tokens = Tokens("thinker", tokenizer)
    model = tiny_models.model(
        "llama", tokenizer, initializer_range=0.05, hidden_size=64, num_attention_heads=2, num_key_value_heads=2,
        num_hidden_layers=2, intermediate_size=128, max_position_embeddings=1024,
    ).train()  # fmt: skip
    lessons = [
        (asked, [*tokens.bare([text])[0], tokenizer.eos_token_id])
        for protocol in WORDS
        for asked in tokens.bare([tokens.render(prompt) for prompt in build_prompts(protocol, 2)])
        for text in build_texts(protocol)
    ]
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    generator = torch.Generator().manual_seed(0)
    for _ in range(steps):
        batch = [lessons[place] for place in torch.randint(len(lessons), (8,), generator=generator)]
        ids, labels = (
            torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=fill)
            for rows, fill in (
                ([[*prompt, *text] for prompt, text in batch], 0),
                ([[*[-100] * len(prompt), *text] for prompt, text in batch], -100),
            )
        )
        loss = model(input_ids=ids, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval().generation_config.update(do_sample=True, **SAMPLER)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)
