"""Speed of what the 8 orders of a question share, and of the words of its choices: `bench_choice.py [--rounds N]`.

One thread, CPU time, random weights. The questions have the lengths of ARC's longer ones in words of our own: 25-40
words, 4 or 5 choices of 1-9 words. Each is asked in 8 orders of its choices, and every prompt begins alike.

- without: the same engine, which joins no prompts: only the start that all prompts share is computed once, and a batch
  holds prompts of similar length, whatever their question.
- shared: as it is; prompts that begin alike are one row, down to the choice in which their orders part.

Both are timed in turn, so that a slow minute of the machine falls on both; the ratio is the median over the rounds.
Both render and tokenise their prompts, cut them into batches and score the letters. The last columns are the largest
difference of any probability and of its logarithm. Ends with status 1 where the ratio is below 1.6, the former above
1e-6 or the latter above 1e-4.

Then the same for the words of the choices, which are several tokens and differ from question to question:

- without: every beginning of an answer is a pass over the whole batch, also over the prompts that do not have it.
- shared: as it is; the beginnings of a prompt's answers are one row behind it.

Here the ratio must be 8 at least. The last lines ask every question for the same five answers of several tokens, as
studies of agreement do; there it must not be below 1.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import torch
from bench_engines import Shape, build, seconds

from helpers import tiny_models
from inference.engines.contract import Score
from inference.engines.exact.targets import WholeVocabulary, score_batch
from inference.engines.local.batching import ALONE
from inference.engines.local.engine import LocalEngine
from inference.engines.rows import Row
from inference.stimuli.templates.prompts import Prompt

WORDS = (
    "agree", "believe", "below", "bread", "cold", "day", "disagree", "even", "friendlier", "it", "lamp", "leave",
    "makes", "on", "oppose", "others", "people", "refuse", "reject", "room", "should", "small", "some", "support",
    "tastes", "that", "the", "time", "trains", "warm", "with",
)  # fmt: skip
START = "Read the question and the choices below. Reply with the letter of the one choice that is right.\n"
ORDERS, LETTERS = 8, "ABCDE"
SAME = ("refuse", "some refuse", "some agree", "agree", "people agree")
LEAST, FARTHEST, OF_LOG = {"letters": 1.6, "words": 8.0, "same": 1.0}, 1e-6, 1e-4
SHAPES = (Shape("llama", 256, 4, 8_192, 32, 0), Shape("llama", 640, 14, 32_000, 4, 0))


def asked(number: int, answers: str = "letters") -> list[Prompt]:
    """Every question in 8 orders, one after the other; its answers are "letters", its own "words" or the "same"."""
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
            options = {"letters": tuple(letters), "words": tuple(shown), "same": SAME}[answers]
            prompts.append(Prompt(text, None, tuple((option,) for option in options)))
    return prompts


def ask(engine: LocalEngine, prompts: list[Prompt]) -> torch.Tensor:
    """Log-probabilities of all answers, prompt after prompt."""
    found: dict[int, tuple[float, ...]] = {}
    for batch in engine.cut_into_batches(prompts):
        scores = engine.score([prompts[place] for place in batch])[0]
        found.update(zip(batch, (score.logprob for score in scores), strict=True))
    return torch.tensor([logprob for place in range(len(prompts)) for logprob in found[place]], dtype=torch.float64)


def a_path_a_pass(engine: LocalEngine, rows: Sequence[Row], temperatures: Sequence[float]) -> list[list[Score]]:
    """Score options with a pass over all rows for every beginning of any answer."""
    targets = [engine._find_or_tokenize_target_of_row(row) for row in rows]
    longest = max(len(row.ids) for row in rows) + max(target.longest_answer_length for target in targets)
    following = engine._prepare_prompts_for_continuations(rows, longest, will_continue=True)
    return score_batch(targets, WholeVocabulary(following.compute_next_logprobs), temperatures)


def compare(shape: Shape, rounds: int, answers: str) -> tuple[str, bool]:
    """One line of the table, and whether it is as it must be."""
    tokenizer = tiny_models.byte_tokenizer(vocab_size=1_000)
    tokenizer.add_tokens([f" {letter}" for letter in LETTERS])  # a token each, as in every large vocabulary
    shared, without = (build(shape, tokenizer, initializer_range=0.1) for _ in range(2))
    if answers == "letters":
        without._choose_prompt_packing_limits = lambda longest: ALONE  # type: ignore[method-assign]
    else:
        without._score_options = partial(a_path_a_pass, without)  # type: ignore[attr-defined]
    prompts = asked(shape.prompts, answers)
    one, two = ask(shared, prompts), ask(without, prompts)
    farthest, logarithm = (float((a - b).abs().max()) for a, b in ((one.exp(), two.exp()), (one, two)))
    times = [[1e3 * seconds(lambda each=each: ask(each, prompts)) / len(prompts) for each in (shared, without)]  # type: ignore[misc]
             for _ in range(rounds)]  # fmt: skip
    own, other = (statistics.median(column) for column in zip(*times, strict=True))
    ratio = statistics.median(b / a for a, b in times)
    parameters = sum(parameter.numel() for parameter in shared.model.parameters()) / 1e6
    tokens = statistics.mean(shared.count_prompt_tokens(prompts))
    line = f"{answers:8} {parameters:5.1f}M {len(prompts):8} {tokens:7.0f} {other:12.2f} {own:7.2f} {ratio:8.2f}x"
    equal = farthest <= FARTHEST and logarithm <= OF_LOG
    return f"{line} {farthest:11.1e} {logarithm:10.1e}", ratio >= LEAST[answers] and equal


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    print("answers    size  prompts  tokens  ms: without  shared  speed-up  difference  of its log")
    good = True
    for answers in LEAST:
        for shape in SHAPES if answers == "letters" else SHAPES[:1]:
            few = replace(shape, prompts=shape.prompts if answers == "letters" else 3)
            line, as_it_must = compare(few, rounds, answers)
            good &= as_it_must
            print(line, flush=True)
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
