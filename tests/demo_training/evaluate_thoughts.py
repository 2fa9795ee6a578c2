"""Measure what thinking does: `PYTHONPATH=tests python -m demo_training.evaluate_thoughts` prints a table.

The model that thinks answers exercises after thoughts that are sampled as its maker says. With `--card` the table also
replaces the one in models/README.md.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from demo_training.corpus import Corpus
from demo_training.evaluate import WORDINGS, draw_examination, render_table_row, replace_tables_in_card
from demo_training.exercises import KINDS
from demo_training.taught_world import TaughtWorld
from demo_training.thoughts import CLOSE, EFFORTS
from inference.demo import SEED, THINKERS
from inference.demo.exercises import Exercise

EXERCISES, MOST_TOKENS = 200, 64
"""Exercises per kind and wording, and tokens after which a thought counts as one without end."""
OPINIONS, THOUGHTS = 60, 20
"""Statements of the questionnaire that are thought about again and again, and how often each."""
BATCH = 500


@dataclass(frozen=True, slots=True)
class Attempt:
    """A thought and what came of it: `tokens` up to its end (None: it has none) and the `answer` as it is written."""

    tokens: int | None
    answer: str


class Thinker:
    """The demo model that thinks, sampled as its generation_config.json says."""

    def __init__(self, name: str, corpus: Corpus) -> None:
        self.corpus = corpus
        self.tokenizer = AutoTokenizer.from_pretrained(THINKERS[name].path)
        self.model = AutoModelForCausalLM.from_pretrained(THINKERS[name].path, dtype=torch.float32).eval()

    def think(self, exercises: Sequence[Exercise], effort: str, thoughts: int = 1) -> list[list[Attempt]]:
        """Think about exercises, and answer them.

        Parameters
        ----------
        exercises
            What is asked, in the words of the tuned models.
        effort
            A key of `EFFORTS`.
        thoughts
            Thoughts per exercise.

        Returns
        -------
        Per exercise its attempts.
        """
        torch.manual_seed(SEED)
        rng = random.Random(SEED)
        prompts = [self.write_prompt(self.corpus.write_message(exercise, rng), effort) for exercise in exercises]
        repeated = [prompt for prompt in prompts for _ in range(thoughts)]
        texts: list[list[int]] = []
        for start in range(0, len(repeated), BATCH):
            inputs = self.tokenizer(
                repeated[start : start + BATCH], add_special_tokens=False, padding=True, return_tensors="pt"
            )
            written = self.model.generate(**inputs, max_new_tokens=MOST_TOKENS)
            texts += written[:, inputs["input_ids"].shape[1] :].tolist()
        attempts = [self._read_attempt(ids, effort) for ids in texts]
        return [attempts[start : start + thoughts] for start in range(0, len(attempts), thoughts)]

    def write_prompt(self, message: str, effort: str) -> str:
        """Write a message of a user out with the chat template.

        Parameters
        ----------
        message
            What is asked.
        effort
            A key of `EFFORTS`.

        Returns
        -------
        The prompt, up to where the assistant goes on.
        """
        text: str = self.tokenizer.apply_chat_template(
            [{"role": "user", "content": message}],
            tokenize=False,
            add_generation_prompt=True,
            reasoning_effort=effort,
            enable_thinking=effort != "none",
        )
        return text

    def _read_attempt(self, ids: list[int], effort: str) -> Attempt:
        """Read the answer behind the end of the thought, up to where the text ends."""
        close = self.tokenizer.convert_tokens_to_ids(CLOSE)
        length = 0 if effort == "none" else ids.index(close) + 1 if close in ids else None
        answer = "" if length is None else self.tokenizer.decode(ids[length:], skip_special_tokens=True).strip()
        return Attempt(length, answer)


def draw_opinions(world: TaughtWorld, count: int) -> list[Exercise]:
    """Draw statements of the questionnaire, and opposites of some.

    Parameters
    ----------
    world
        The world that they are about.
    count
        Number of statements.

    Returns
    -------
    The exercises.
    """
    drawn = draw_examination(world, "agreement", "heldout", 4 * count)
    return [exercise for exercise in drawn if exercise.topic not in world.relations][:count]


def render_thought_table(name: str, count: int, opinions: int = OPINIONS) -> str:
    """Make a Markdown table of what a model answers after thoughts, by effort.

    Columns: per cent right of all attempts, by kind, "trained / held-out" wordings; mean tokens of a thought that ends;
    per cent of thoughts without end; per cent of the questionnaire's statements to which `THOUGHTS` thoughts give both
    answers.

    Parameters
    ----------
    name
        A model of `THINKERS`.
    count
        Exercises per kind and wording.
    opinions
        Statements of the questionnaire.

    Returns
    -------
    The table.
    """
    world = TaughtWorld()
    thinker = Thinker(name, Corpus(world))
    columns = [*KINDS, "tokens of a thought", "without end", f"{THOUGHTS} thoughts disagree"]
    lines = [render_table_row("effort", columns), "|---" * (len(columns) + 1) + "|"]
    for effort in EFFORTS:
        cells, all_attempts = [], []
        for kind in KINDS:
            shares = []
            for wording in WORDINGS:
                exercises = draw_examination(world, kind, wording, count)
                attempts = [attempt for (attempt,) in thinker.think(exercises, effort)]
                all_attempts += attempts
                right = sum(a.answer == e.gold for a, e in zip(attempts, exercises, strict=True))
                shares.append(f"{100 * right / count:.0f}")
            cells.append(" / ".join(shares))
        lengths = [attempt.tokens for attempt in all_attempts if attempt.tokens is not None]
        unclosed_share = 1 - len(lengths) / len(all_attempts)
        repeated = thinker.think(draw_opinions(world, opinions), effort, THOUGHTS)
        disagreeing = sum(len({a.answer for a in attempts if a.tokens is not None}) > 1 for attempts in repeated)
        cells += [
            f"{sum(lengths) / len(lengths):.0f}",
            f"{100 * unclosed_share:.1f}",
            f"{100 * disagreeing / opinions:.0f}",
        ]
        lines.append(render_table_row(effort, cells))
    return "\n".join(lines)


def main() -> None:
    """Print the table; with --card, write it into the card too."""
    parser = argparse.ArgumentParser(
        prog="python -m demo_training.evaluate_thoughts", description="Examine the demo model that thinks."
    )
    parser.add_argument("--card", action="store_true", help="write the table into models/README.md")
    arguments = parser.parse_args()
    (name,) = THINKERS
    table = render_thought_table(name, EXERCISES)
    print(table)
    if arguments.card:
        replace_tables_in_card({"thoughts": table})


if __name__ == "__main__":
    main()
