"""Measure how often the demo models are right: `python -m inference.demo.evaluate` prints a table.

The table is by kind of exercise and wording. With `--card` it also replaces the one in models/README.md.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Sequence

from inference.demo import FAMILY, MODELS, SEED
from inference.demo.corpus import Corpus
from inference.demo.exercises import KINDS, Exercise
from inference.demo.world import Wording, World
from inference.engines import load
from inference.engines.contract import Engine
from inference.stimuli.prompts import CHAT, CLOZE, OPTION_ORDERS, PLAIN, Prompt, case_variants

EXERCISES = 400
"""Exercises per kind and wording; the standard error of an accuracy is then at most 2.5 points."""
CHANCE = {"agreement": 50, "question": 50, "pair": 33, "choice": 20, "rating": 25}
"""Per cent right of who knows nothing; for ratings, of who always gives the commonest score."""
CARD = MODELS / "README.md"
TABLE_IN_CARD = re.compile(r"(?<=<!-- accuracy -->\n).*(?=<!-- end -->)", re.DOTALL)


class Student:
    """A demo model that answers an exercise with its most probable option."""

    def __init__(self, name: str, corpus: Corpus) -> None:
        self.corpus = corpus
        self.engine: Engine = load(str(FAMILY[name].path), dtype="float32", device="cpu")
        self.form = self.engine.form("auto")

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of exercise for this model: the masked model can only say whether it agrees."""
        return ("agreement",) if self.form == CLOZE else tuple(KINDS)

    def accuracy(self, exercises: Sequence[Exercise], *, plain_prompt: bool = False) -> float:
        """Compute the share of exercises whose right option is the most probable one.

        Parameters
        ----------
        exercises
            All of one kind.
        plain_prompt
            Set statements in the plain form of the agreement protocol, which no model was trained on, instead of a
            form that the model knows.
        """
        rng = random.Random(SEED)
        prompts = [self.prompt(exercise, rng, plain_prompt) for exercise in exercises]
        right = 0
        for batch in self.engine.batches(prompts):
            for i, score in zip(batch, self.engine.score([prompts[i] for i in batch])[0], strict=True):
                likeliest = max(range(len(score.probability)), key=score.probability.__getitem__)
                right += exercises[i].options[likeliest] == exercises[i].gold
        return right / len(exercises)

    def prompt(self, exercise: Exercise, rng: random.Random, plain_prompt: bool = False) -> Prompt:
        """Write an exercise as this model reads it: in the agreement protocol's form, or in one of formats.yaml."""
        answers = tuple(case_variants((option,)) for option in exercise.options)
        if exercise.kind == "agreement" and (plain_prompt or self.form != PLAIN):
            form = PLAIN if plain_prompt else self.form
            order = rng.choice(OPTION_ORDERS)
            return self.corpus.agreement_prompt(exercise.fields["text"], form, order, self.engine.mask_token)
        if self.form == CHAT:
            return Prompt(None, ({"role": "user", "content": self.corpus.say(exercise, rng)},), answers)
        return Prompt(self.corpus.ask(exercise, rng), None, answers)


def examination(world: World, kind: str, wording: Wording, count: int = EXERCISES) -> list[Exercise]:
    """Make exercises of one kind, the same for every model."""
    rng = random.Random(f"{SEED} examination {kind} {wording}")
    return [KINDS[kind](world, rng, wording) for _ in range(count)]


def table(names: Sequence[str], count: int = EXERCISES) -> str:
    """Make a Markdown table of accuracies in per cent by model and kind: "trained / held-out" wordings."""
    corpus = Corpus(World())
    columns = [*KINDS, "agreement, plain prompt"]
    lines = ["| model | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    lines.append("| *chance* | " + " | ".join(f"*{CHANCE[column.split(',')[0]]}*" for column in columns) + " |")
    for name in names:
        student = Student(name, corpus)
        cells = [_cell(student, kind, count) if kind in student.kinds else "" for kind in KINDS]
        cells.append(_cell(student, "agreement", count, plain_prompt=True) if student.form != CLOZE else "")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(student: Student, kind: str, count: int, *, plain_prompt: bool = False) -> str:
    wordings: tuple[Wording, ...] = ("trained", "heldout")
    shares = [
        student.accuracy(examination(student.corpus.world, kind, wording, count), plain_prompt=plain_prompt)
        for wording in wordings
    ]
    return " / ".join(f"{100 * share:.0f}" for share in shares)


def main() -> None:
    """Print the table; with --card, write it into the card too."""
    parser = argparse.ArgumentParser(prog="python -m inference.demo.evaluate", description="Examine the demo models.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="models to examine (default: the whole family)")
    parser.add_argument("--card", action="store_true", help="write the table into models/README.md")
    arguments = parser.parse_args()
    found = table(arguments.names or list(FAMILY))
    print(found)
    if arguments.card:
        card = CARD.read_text(encoding="utf-8")
        CARD.write_text(TABLE_IN_CARD.sub(lambda _: f"{found}\n", card), encoding="utf-8")


if __name__ == "__main__":
    main()
