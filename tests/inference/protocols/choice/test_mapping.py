"""Every order of the choices is mapped back to the choice: proved with wrong answers and with every letter.

A mapping that sent the right choice and a wrong one to the same letter would show here: the models below want one
choice, or one letter, whatever is right, and what the run folder says of them is compared with what they wanted.
"""

from __future__ import annotations

import math
import re
from itertools import permutations
from string import ascii_uppercase

import pytest

from analysis import runs
from helpers.trivial_engine import TrivialEngine, shown
from inference.asking.execute import Task, ask_tasks_and_list_tallies
from inference.asking.models import Model
from inference.asking.one_model import Settings
from inference.engines.contract import Generation, Sampling, Score
from inference.protocols import choice
from inference.protocols.choice.wordings import build_question_items
from inference.stimuli.questions import Question

pytestmark = pytest.mark.slow

CHOICES = ("red", "green", "blue", "blue sky")
RIGHT = 1
ORDERS = tuple(permutations(range(len(CHOICES))))  # all 24
GRASS = Question("grass", "What colour is grass?", CHOICES, RIGHT, ("Which colour has grass?",), orders=ORDERS)
OTHER = Question("sky", "What is above us?", CHOICES, 3, orders=ORDERS[5:9])
WEIGHTS = dict(zip(CHOICES, (0.1, 0.2, 0.3, 0.15), strict=True))
FORMS = ("plain", "chat")


def choices_of(prompt) -> list[str]:
    """What stands at A, B, C, D of a prompt, read as a person would read it."""
    return re.findall(r"^[A-Z]\. (.*)$", shown(prompt), flags=re.MULTILINE)


class WantsChoice(TrivialEngine):
    """Reads the prompt and takes one choice wherever it stands; its probabilities belong to the choices, too."""

    def __init__(self, wanted: str, form: str) -> None:
        super().__init__(form=form)
        self._wanted = wanted

    def place(self, prompt) -> int:
        return choices_of(prompt).index(self._wanted)

    def score(self, prompts, temperatures=(1.0,)):
        return [list(map(self._scored, prompts))]

    def _scored(self, prompt) -> Score:
        weights = [WEIGHTS[text] for text in choices_of(prompt)]
        assert len(prompt.answers) == len(weights)
        weights[self.place(prompt)] += 0.2
        return Score(tuple(weights), tuple(map(math.log, weights)), sum(weights), self.place(prompt))

    def _write(self, prompt, sampling: Sampling) -> Generation:
        begun = shown(prompt).endswith("Answer:")
        text = f"{'' if begun else 'Answer:'} {ascii_uppercase[self.place(prompt)]}. whatever"
        return Generation((text,), (text,))


class WantsLetter(WantsChoice):
    """Takes one letter, whatever stands there."""

    def place(self, prompt) -> int:
        return ascii_uppercase.index(self._wanted)


@pytest.fixture(scope="module", params=FORMS)
def rows(request, tmp_path_factory):
    """Rows of all models in all ways, with their stimuli, as the analysis reads the run folder."""
    form = request.param
    folder = tmp_path_factory.mktemp("mapping") / "run"
    study = choice.build_study_of_choice_questions(build_question_items([GRASS, OTHER]), "colours")
    asked = choice.Questions(choice.read_choice_prompts(), ways=("letters", "texts", "text"), texts=(Sampling(),))
    engines = {text: WantsChoice(text, form) for text in CHOICES} | {
        letter: WantsLetter(letter, form) for letter in ascii_uppercase[: len(CHOICES)]
    }
    models = tuple(Model(name.replace(" ", "-"), name) for name in engines)
    ask_tasks_and_list_tallies(
        [Task(study, models, asked, Settings(), str(folder))], load=lambda model, seed: engines[model.source]
    )
    opened = runs.open_runs(folder)
    return opened.sql(
        """
        SELECT r.model, r.condition, r.item, r.variant, r.answer, r.probability, r.count, r.invalid,
               s.options, s.canonical, s.gold, s.attributes
        FROM responses r JOIN stimuli s USING (item, variant)
        """
    ).to_dict("records")


def canonical(row) -> str:
    """The letter of the answer in the order of the file: options and canonical stand side by side."""
    return list(row["canonical"])[list(row["options"]).index(row["answer"])]


def test_every_row_is_there(rows):
    assert len(rows) == 8 * 3 * (2 * 24 + 4)


@pytest.mark.parametrize("wanted", CHOICES)
def test_a_choice_is_the_same_in_every_order_right_or_wrong(rows, wanted):
    mine = [row for row in rows if row["model"] == wanted.replace(" ", "-")]
    letter = ascii_uppercase[CHOICES.index(wanted)]
    assert len(mine) == 3 * (2 * 24 + 4)
    assert {canonical(row) for row in mine} == {letter}
    assert {row["answer"] for row in mine} == set("ABCD")  # it did stand everywhere
    assert {canonical(row) == row["gold"] for row in mine if row["item"] == "grass"} == {wanted == CHOICES[RIGHT]}
    assert {canonical(row) == row["gold"] for row in mine if row["item"] == "sky"} == {wanted == "blue sky"}


@pytest.mark.parametrize("wanted", "ABCD")
def test_a_letter_is_the_choice_that_stood_there(rows, wanted):
    mine = [row for row in rows if row["model"] == wanted]
    assert {row["answer"] for row in mine} == {wanted}
    for row in mine:
        order = dict(row["attributes"])["order"]
        assert canonical(row) == order["ABCD".index(wanted)]
    grass = [canonical(row) == row["gold"] for row in mine if row["item"] == "grass"]
    assert (sum(grass), len(grass)) == (3 * 2 * 6, 3 * 2 * 24)  # right where the right choice stands: a quarter


@pytest.mark.parametrize("wanted", CHOICES)
def test_a_probability_belongs_to_its_choice_in_every_order(rows, wanted):
    for row in rows:
        if row["model"] == wanted.replace(" ", "-") and not row["condition"].endswith("/text"):
            found = dict(zip(row["canonical"], row["probability"], strict=True))
            for letter, text in zip("ABCD", CHOICES, strict=True):
                assert found[letter] == pytest.approx(WEIGHTS[text] + 0.2 * (text == wanted), abs=1e-12)


def test_a_text_counts_once_at_its_letter(rows):
    for row in rows:
        if row["condition"].endswith("/text"):
            assert dict(zip(row["options"], row["count"], strict=True))[row["answer"]] == 1
            assert (sum(row["count"]), row["invalid"]) == (1, 0)
