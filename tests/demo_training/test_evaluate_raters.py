"""The raters have the habits that the card states: real models, asked as `make report` asks them."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("torch")

from demo_training.battery import READ_WORDINGS, Battery
from demo_training.battery_chats import LABELS
from demo_training.evaluate import TABLE_IN_CARD
from demo_training.evaluate_raters import (
    RATERS_AND_HABITS,
    ask_raters,
    compute_acquiescence,
    compute_ends,
    compute_order_effect,
    compute_scale_scores,
    render_habit_table,
    render_persona_table,
)
from demo_training.raters import HABITS, PLAIN
from inference.demo import MODELS, PEOPLE

pytestmark = pytest.mark.slow

AGREEING, MODERATE, LAST = HABITS
AS_PERSONAS = (PLAIN,)


@pytest.fixture(scope="module")
def answers(tmp_path_factory) -> pd.DataFrame:
    """Personas are those of the plain rater: the command asks all, for most of the time."""
    return ask_raters(tmp_path_factory.mktemp("raters"), AS_PERSONAS)


@pytest.fixture(scope="module")
def unprompted(answers) -> pd.DataFrame:
    """The answers without a persona."""
    return answers[answers["persona"] == ""]


def test_all_are_asked_everything_and_answer_with_an_option(answers) -> None:
    personas = {name: len(Battery().personas) * (name in AS_PERSONAS) for name in RATERS_AND_HABITS}
    assert answers["model"].value_counts().to_dict() == {
        name: 12 * 8 * len(LABELS) * 2 * (1 + count) for name, count in personas.items()
    }
    assert answers["mass"].quantile(0.01) > 0.9
    assert answers["mass"].mean() > 0.98


@pytest.mark.parametrize("labels", LABELS)
def test_each_habit_is_in_the_answers_of_its_model_and_all_answer_as_they_were_taught(unprompted, labels) -> None:
    """To .06, by numbers and by words alike."""
    of_model = dict(list(unprompted[unprompted["labels"] == labels].groupby("model")))
    for name, answers_of_one in of_model.items():
        for measure in (compute_acquiescence, compute_order_effect, compute_ends):
            taught = measure(answers_of_one, "taught_")
            assert measure(answers_of_one) == pytest.approx(taught, abs=0.06), (name, measure.__name__)
    plain = of_model.pop(PLAIN)
    assert abs(compute_order_effect(plain)) < 0.03
    assert compute_acquiescence(of_model[AGREEING]) > compute_acquiescence(plain) + 0.1
    assert compute_order_effect(of_model[LAST]) > 0.1
    assert compute_ends(of_model[MODERATE]) < 0.05 < compute_ends(plain) - 0.1


def test_each_persona_raises_the_scale_that_it_was_taught_to_raise_and_lowers_another(answers) -> None:
    for model in AS_PERSONAS:
        scores = {
            persona: compute_scale_scores(group)["mean"]
            for persona, group in answers[answers["model"] == model].groupby("persona")
        }
        for persona, high, low in (
            ("farmer", "animals", "travel"),
            ("sailor", "travel", "company"),
            ("cook", "company", "animals"),
        ):
            change = scores[persona] - scores[""]
            assert change.idxmax() == high and change.idxmin() == low
            assert change[high] > 0.08 and change[low] < -0.04
            assert abs(change.drop([high, low]).item()) < 0.05


def test_wordings_that_were_not_read_move_answers_more_than_those_that_were(unprompted) -> None:
    is_read = unprompted["wording"] < READ_WORDINGS
    deviations = [
        unprompted[mask].groupby(["model", "item", "labels", "option_order"])["mean"].std().groupby("model").mean()
        for mask in (is_read, ~is_read)
    ]
    assert (deviations[0] < 0.03).all()
    assert (deviations[1] > 2 * deviations[0]).all()


def test_the_one_without_a_habit_is_nearest_to_people(unprompted) -> None:
    ranks = pd.read_csv(PEOPLE).drop(columns="respondent")
    people = ((ranks - 1) / 4).mean()
    read = unprompted[unprompted["wording"] < READ_WORDINGS]
    means = read.groupby(["model", "option_order", "item"])["mean"].mean().unstack()
    distances = (means - people).abs().mean(axis=1).groupby("model").mean()
    assert distances.idxmin() == PLAIN
    assert distances[PLAIN] < 0.05 < min(distances[AGREEING], distances[LAST])
    assert np.corrcoef(means.loc[PLAIN].mean(), people[means.columns])[0, 1] > 0.9


def test_the_card_has_these_numbers(answers) -> None:
    card = (MODELS / "README.md").read_text(encoding="utf-8")
    for title, table in (("raters", render_habit_table(answers)), ("personas", render_persona_table(answers))):
        (written,) = re.findall(TABLE_IN_CARD.format(title), card, re.DOTALL)
        # Another machine may round another way: a hundredth at most.
        for line, stated_line in zip(table.splitlines(), written.strip().splitlines(), strict=True):
            name, numbers = read_table_row(line)
            stated_name, stated = read_table_row(stated_line)
            assert name == stated_name
            if name in set(HABITS).difference(AS_PERSONAS):  # the last number is of personas, too
                assert stated.pop() < numbers.pop() + 0.0101
            assert stated == pytest.approx(numbers, abs=0.0101)


def read_table_row(line: str) -> tuple[str, list[float]]:
    """The first cell of a row, and the numbers of the others."""
    name, _, cells = line.removeprefix("| ").partition(" |")
    return name, [float(number) for number in re.findall(r"-?\d+\.\d+", cells)]
