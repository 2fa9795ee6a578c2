"""Measure how often the demo models are right: `PYTHONPATH=tests python -m demo_training.evaluate` prints two tables.

The first has accuracies by kind of exercise and wording, the second what the models make of scales and letters. With
`--card` the tables also replace those in models/README.md.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
from scipy.stats import kendalltau

from demo_training.corpus import Corpus
from demo_training.exercises import KINDS, LETTERS, make_choice_exercise, make_pair_exercise
from demo_training.taught_world import TaughtWorld
from inference.demo import FAMILY, MODELS, SEED
from inference.demo.exercises import SCALES, Exercise, make_rating_exercise
from inference.demo.world import Wording
from inference.engines import load_engine
from inference.engines.contract import Engine
from inference.stimuli.templates.prompt_forms import CHAT, CLOZE, OPTION_ORDERS, PLAIN, list_spellings_in_all_cases
from inference.stimuli.templates.prompts import Prompt

EXERCISES = 400
"""Exercises per kind and wording; the standard error of an accuracy is then at most 2.5 points."""
WORDINGS: tuple[Wording, ...] = ("trained", "heldout")
CARD = MODELS / "README.md"
TABLE_IN_CARD = "(?<=<!-- {0} -->\n).*?(?=<!-- end of {0} -->)"

Draw = Callable[[TaughtWorld, random.Random, Wording], Exercise]


def _build_pair_draw(premise_denied: bool, hypothesis_denied: bool) -> Draw:
    """Make a draw of pairs whose two sentences are negated or not, as said."""

    def draw_pair(world: TaughtWorld, rng: random.Random, wording: Wording) -> Exercise:
        while True:
            exercise = make_pair_exercise(world, rng, wording)
            denied = tuple(" not " in exercise.fields[part] for part in ("premise", "hypothesis"))
            if denied == (premise_denied, hypothesis_denied):
                return exercise

    return draw_pair


ACCURACIES: dict[str, tuple[Draw, int]] = {
    "agreement": (KINDS["agreement"], 50),
    "question": (KINDS["question"], 50),
    "pair": (KINDS["pair"], 33),
    "pair, no negation": (_build_pair_draw(False, False), 33),
    "pair, negated hypothesis": (_build_pair_draw(False, True), 33),
    "pair, negated premise": (_build_pair_draw(True, False), 33),
    **{f"choice of {count}": (partial(make_choice_exercise, count=count), round(100 / count)) for count in (3, 4, 5)},
}
"""Column of the first table -> what draws its exercises, and how many per cent are right by guessing."""


class Student:
    """A demo model that answers an exercise with its most probable option."""

    def __init__(self, name: str, corpus: Corpus) -> None:
        self.corpus = corpus
        self.engine: Engine = load_engine(str(FAMILY[name].path), dtype="float32", device="cpu")
        self.form = self.engine.choose_prompt_form("auto")

    def answer_exercises(self, exercises: Sequence[Exercise], *, plain_prompt: bool = False) -> list[str]:
        """Find the most probable option of each exercise.

        Parameters
        ----------
        exercises
            All of one kind.
        plain_prompt
            Set statements in the plain form of the agreement protocol, which no model was trained on, instead of a
            form that the model knows.

        Returns
        -------
        The options, in the order of the exercises.
        """
        rng = random.Random(SEED)
        prompts = [self.write_exercise_prompt(exercise, rng, plain_prompt) for exercise in exercises]
        answer_by_place: dict[int, str] = {}
        for batch in self.engine.cut_into_batches(prompts):
            for i, score in zip(batch, self.engine.score([prompts[i] for i in batch])[0], strict=True):
                answer_by_place[i] = exercises[i].options[int(np.argmax(score.probability))]
        return [answer_by_place[i] for i in range(len(exercises))]

    def compute_accuracy(self, exercises: Sequence[Exercise], *, plain_prompt: bool = False) -> float:
        """Compute the share of exercises whose right option is the most probable one.

        Parameters
        ----------
        exercises, plain_prompt
            As in `answers`.

        Returns
        -------
        Share, 0 to 1.
        """
        answers = self.answer_exercises(exercises, plain_prompt=plain_prompt)
        return sum(a == e.gold for a, e in zip(answers, exercises, strict=True)) / len(exercises)

    def write_exercise_prompt(self, exercise: Exercise, rng: random.Random, plain_prompt: bool = False) -> Prompt:
        """Write an exercise as this model reads it: in the agreement protocol's form, or in one of formats.yaml.

        Parameters
        ----------
        exercise
            What is asked.
        rng
            Draws the format or the order of the options.
        plain_prompt
            As in `answers`.

        Returns
        -------
        The prompt.
        """
        answers = tuple(list_spellings_in_all_cases((option,)) for option in exercise.options)
        if exercise.kind == "agreement" and (plain_prompt or self.form != PLAIN):
            form = PLAIN if plain_prompt else self.form
            order = rng.choice(OPTION_ORDERS)
            return self.corpus.render_agreement_prompt(exercise.fields["text"], form, order, self.engine.mask_token)
        if exercise.numbers is not None:
            answers = ()
        if self.form == CLOZE:
            template = rng.choice(self.corpus.formats[exercise.kind]["masked"])
            words = tuple(list_spellings_in_all_cases(self.corpus.mask_words[option]) for option in exercise.options)
            return Prompt(template.format(**exercise.fields, answer=self.engine.mask_token), None, words)
        if self.form == CHAT:
            messages = ({"role": "user", "content": self.corpus.write_message(exercise, rng)},)
            return Prompt(None, messages, answers, exercise.numbers)
        return Prompt(self.corpus.write_base_prompt(exercise, rng), None, answers, exercise.numbers)


def draw_examination(world: TaughtWorld, kind: str, wording: Wording, count: int = EXERCISES) -> list[Exercise]:
    """Make exercises, the same for every model.

    Parameters
    ----------
    world
        The world that they are about.
    kind
        A key of `KINDS`, or a column of the first table (`ACCURACIES`).
    wording
        Trained or held-out wordings.
    count
        Number of exercises.

    Returns
    -------
    The exercises.
    """
    draw = KINDS[kind] if kind in KINDS else ACCURACIES[kind][0]
    return _draw_examined(draw, world, f"{kind} {wording}", wording, count)


def render_accuracy_table(names: Sequence[str], count: int) -> str:
    """Make a Markdown table of accuracies in per cent by model and kind: "trained / held-out" wordings.

    Parameters
    ----------
    names
        Models of `FAMILY`, a row each.
    count
        Exercises per kind and wording.

    Returns
    -------
    The table; a cell is empty where the masked model cannot be asked.
    """
    corpus = Corpus(TaughtWorld())
    plain_column = "agreement, plain prompt"
    lines = [render_table_row("model", [*ACCURACIES, plain_column]), "|---" * (len(ACCURACIES) + 2) + "|"]
    chances = [chance for _, chance in ACCURACIES.values()]
    lines.append(render_table_row("*chance*", [f"*{chance}*" for chance in [*chances, chances[0]]]))
    for name in names:
        student = Student(name, corpus)
        # The masked model has words for some kinds of answer only.
        asked_kinds = [kind for kind in ACCURACIES if student.form != CLOZE or kind.startswith(("agreement", "pair"))]
        cells = [_format_accuracies(student, kind, count) if kind in asked_kinds else "" for kind in ACCURACIES]
        cells.append(
            _format_accuracies(student, "agreement", count, plain_prompt=True) if student.form != CLOZE else ""
        )
        lines.append(render_table_row(name, cells))
    return "\n".join(lines)


def render_habit_table(names: Sequence[str], count: int) -> str:
    """Make a Markdown table of what the models do with scales and letters, in held-out wordings.

    Columns: Kendall's tau-b between ratings and right scores on each scale; the share of the most frequent rating on
    0-9 and how many different ratings are given; and the share of questions with five choices answered A, in per cent.

    Parameters
    ----------
    names
        Models of `FAMILY`; masked ones get no row.
    count
        Exercises per scale, and questions.

    Returns
    -------
    The table.
    """
    corpus = Corpus(TaughtWorld())
    taus = [f"tau, {scale}" for scale in SCALES]
    columns = [*taus, "commonest rating, 0-9", "different ratings, 0-9", "answered A of 5"]
    lines = [render_table_row("model", columns), "|---" * (len(columns) + 1) + "|"]
    for name in names:
        student = Student(name, corpus)
        if student.form == CLOZE:
            continue
        cells = []
        for scale in SCALES:
            exercises = _draw_examined(
                partial(make_rating_exercise, scale=scale), corpus.world, f"rating {scale}", "heldout", count
            )
            answers = student.answer_exercises(exercises)
            tau = kendalltau([int(number) for number in answers], [e.score for e in exercises]).statistic
            cells.append(f"{tau:.2f}")
            if scale == "0-9":
                counts = Counter(answers)
                commonest_cells = [f"{100 * max(counts.values()) / count:.0f}", str(len(counts))]
        letter_exercises = _draw_examined(
            partial(make_choice_exercise, count=len(LETTERS)), corpus.world, "letters", "heldout", count
        )
        first_letter_share = sum(answer == LETTERS[0] for answer in student.answer_exercises(letter_exercises)) / count
        lines.append(render_table_row(name, [*cells, *commonest_cells, f"{100 * first_letter_share:.0f}"]))
    return "\n".join(lines)


def _draw_examined(draw: Draw, world: TaughtWorld, draw_name: str, wording: Wording, count: int) -> list[Exercise]:
    rng = random.Random(f"{SEED} examination {draw_name}")
    return [draw(world, rng, wording) for _ in range(count)]


def _format_accuracies(student: Student, kind: str, count: int, *, plain_prompt: bool = False) -> str:
    shares = [
        student.compute_accuracy(
            draw_examination(student.corpus.world, kind, wording, count), plain_prompt=plain_prompt
        )
        for wording in WORDINGS
    ]
    return " / ".join(f"{100 * share:.0f}" for share in shares)


def render_table_row(name: str, cells: Sequence[str]) -> str:
    """Write a line of a Markdown table: a name, and what stands behind it."""
    return f"| {name} | " + " | ".join(cells) + " |"


def replace_tables_in_card(tables: Mapping[str, str]) -> None:
    """Write tables into models/README.md, each between the comments that have its title."""
    card = CARD.read_text(encoding="utf-8")
    for title, table in tables.items():
        where = re.compile(TABLE_IN_CARD.format(title), re.DOTALL)
        card = where.sub(lambda _, table=table: f"{table}\n", card)  # type: ignore[misc]
    CARD.write_text(card, encoding="utf-8")


def main() -> None:
    """Print the tables; with --card, write them into the card too."""
    parser = argparse.ArgumentParser(prog="python -m demo_training.evaluate", description="Examine the demo models.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="models to examine (default: the whole family)")
    parser.add_argument("--card", action="store_true", help="write the tables into models/README.md")
    arguments = parser.parse_args()
    names = arguments.names or list(FAMILY)
    tables = {"accuracy": render_accuracy_table(names, EXERCISES), "habits": render_habit_table(names, EXERCISES)}
    print("\n\n".join(tables.values()))
    if arguments.card:
        replace_tables_in_card(tables)


if __name__ == "__main__":
    main()
