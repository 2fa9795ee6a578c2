"""Speed of what the 8 orders of a question share: `python tests/benchmarks/bench_choice.py [--rounds N]`.

One thread, CPU time, random weights. The questions have the lengths of ARC's longer ones in words of our own: 25-40
words, 4 or 5 choices of 1-9 words. Each is asked in 8 orders of its choices, and every prompt begins alike.

- without: the same engine, which joins no prompts: only the start that all prompts share is computed once, and a batch
  holds prompts of similar length, whatever their question.
- shared: as it is; prompts that begin alike are one row, down to the choice in which their orders part.

Both are timed in turn, so that a slow minute of the machine falls on both; the ratio is the median over the rounds.
Both render and tokenise their prompts, cut them into batches and score the letters. The last columns are the largest
difference of any probability and of its logarithm. Ends with status 1 where the ratio is below 1.6 or the former above
1e-6.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys

import torch
from bench_engines import Shape, build, seconds

from helpers import tiny_models
from inference.engines.local.batching import ALONE
from inference.engines.local.engine import LocalEngine
from inference.stimuli.prompts import Prompt

WORDS = (
    "agree", "believe", "below", "bread", "cold", "day", "disagree", "even", "friendlier", "it", "lamp", "leave",
    "makes", "on", "oppose", "others", "people", "refuse", "reject", "room", "should", "small", "some", "support",
    "tastes", "that", "the", "time", "trains", "warm", "with",
)  # fmt: skip
START = "Read the question and the choices below. Reply with the letter of the one choice that is right.\n"
ORDERS, LETTERS = 8, "ABCDE"
LEAST, FARTHEST = 1.6, 1e-6
SHAPES = (Shape("llama", 256, 4, 8_192, 32, 0), Shape("llama", 640, 14, 32_000, 4, 0))


def asked(number: int) -> list[Prompt]:
    """Every question in 8 orders, one after the other."""
    draw = random.Random(1)
    prompts = []
    for _ in range(number):
        question = " ".join(draw.choices(WORDS, k=draw.randint(25, 40)))
        choices = [" ".join(draw.choices(WORDS, k=draw.randint(1, 9))) for _ in range(draw.choice((4, 4, 4, 5)))]
        letters = LETTERS[: len(choices)]
        for _ in range(ORDERS):
            shown = draw.sample(choices, len(choices))
            listed = "\n".join(f"{letter}. {choice}" for letter, choice in zip(letters, shown, strict=True))
            text = f"{START}Question: {question}?\n{listed}\nAnswer:"
            prompts.append(Prompt(text, None, tuple((letter,) for letter in letters)))
    return prompts


def ask(engine: LocalEngine, prompts: list[Prompt]) -> torch.Tensor:
    """Probabilities of all letters, prompt after prompt."""
    found: dict[int, tuple[float, ...]] = {}
    for batch in engine.batches(prompts):
        scores = engine.score([prompts[place] for place in batch])[0]
        found.update(zip(batch, (score.probability for score in scores), strict=True))
    return torch.tensor([probability for place in range(len(prompts)) for probability in found[place]]).double()


def compare(shape: Shape, rounds: int) -> tuple[str, bool]:
    """One line of the table, and whether it is as it must be."""
    tokenizer = tiny_models.byte_tokenizer(vocab_size=1_000)
    tokenizer.add_tokens([f" {letter}" for letter in LETTERS])  # a token each, as in every large vocabulary
    shared, without = (build(shape, tokenizer, initializer_range=0.1) for _ in range(2))
    without._joining = lambda longest: ALONE  # type: ignore[method-assign]
    prompts = asked(shape.prompts)
    one, two = ask(shared, prompts), ask(without, prompts)
    farthest, logarithm = (float((a - b).abs().max()) for a, b in ((one, two), (one.log(), two.log())))
    times = [[1e3 * seconds(lambda each=each: ask(each, prompts)) / len(prompts) for each in (shared, without)]  # type: ignore[misc]
             for _ in range(rounds)]  # fmt: skip
    own, other = (statistics.median(column) for column in zip(*times, strict=True))
    ratio = statistics.median(b / a for a, b in times)
    parameters = sum(parameter.numel() for parameter in shared.model.parameters()) / 1e6
    tokens = statistics.mean(shared.lengths(prompts))
    line = f"{parameters:6.1f}M {len(prompts):8} {tokens:7.0f} {other:12.2f} {own:7.2f} {ratio:8.2f}x"
    return f"{line} {farthest:11.1e} {logarithm:10.1e}", ratio >= LEAST and farthest <= FARTHEST


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    print("  size   prompts  tokens  ms: without  shared  speed-up  difference  of its log")
    good = True
    for shape in SHAPES:
        line, as_it_must = compare(shape, rounds)
        good &= as_it_must
        print(line, flush=True)
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
