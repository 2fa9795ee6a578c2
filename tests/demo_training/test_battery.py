"""What people of the demo world answer: shares by hand and by simulation, the battery's shape, and the made people."""

from __future__ import annotations

import csv
from collections import Counter
from math import exp, pi, sqrt

import numpy as np
import pytest

from demo_training.battery import RESPONDENTS, Battery, Habit, write_people
from demo_training.templates import fold_sentence
from inference.demo import BATTERY, PEOPLE, PERSONAS
from inference.protocols.scale.shown import DOWN

BOOK = Battery()


def test_the_battery_has_three_balanced_scales_of_four_statements_in_eight_wordings_none_of_them_twice() -> None:
    keys = Counter((statement.scale, statement.key) for statement in BOOK.statements)
    assert set(keys.values()) == {2} and len(keys) == 6
    assert {len(statement.wordings) for statement in BOOK.statements} == {8}
    assert {len(statement.options) for statement in BOOK.statements} == {5}
    folded = [fold_sentence(text) for statement in BOOK.statements for text in statement.wordings]
    assert len(set(folded)) == len(folded)


def test_shares_are_an_ordered_logit_averaged_over_people() -> None:
    """Against sums on a fine grid of people, the slow way, to 1e-6."""
    statement = BOOK.statements[0]
    at, spread, cuts = 1.9 + 0.5 - 1.6, 1.2, [-6, -1, 1, 6]  # agreement, acquiescence, the cook; ends twice as far out
    step = 0.001
    below = [0.0] * 4
    for number in range(-8000, 8001):
        z = number * step
        weight = step * exp(-z * z / 2) / sqrt(2 * pi)
        for place, cut in enumerate(cuts):
            below[place] += weight / (1 + exp(at + spread * z - cut))
    by_hand = np.diff([0.0, *below, 1.0])
    shares = BOOK.compute_shares(statement, "cook", habit=Habit(acquiescence=0.5, ends=2.0))
    assert shares == pytest.approx(by_hand, abs=1e-6)
    assert sum(shares) == pytest.approx(1, abs=1e-12)


def test_habits_move_answers_as_they_say() -> None:
    middle = np.arange(5)
    for statement in BOOK.statements:
        mean = np.dot(BOOK.compute_shares(statement), middle)
        assert np.dot(BOOK.compute_shares(statement, habit=Habit(acquiescence=1.0)), middle) > mean + 0.2
        last = Habit(last=1.0)
        up, down = (np.dot(BOOK.compute_shares(statement, "", o, last), middle) for o in ("up", DOWN))
        assert down < mean - 0.2 and up > mean + 0.2
        moderate = BOOK.compute_shares(statement, habit=Habit(ends=2.2))
        assert moderate[0] + moderate[-1] < 0.1


def test_the_sharper_the_commoner_is_the_commonest_answer() -> None:
    for statement in BOOK.statements:
        shares = BOOK.compute_shares(statement, sharpness=5.0)
        assert max(shares) > max(BOOK.compute_shares(statement))


def test_people_answer_with_these_shares_and_in_accord_with_themselves() -> None:
    ranks = BOOK.draw_respondents(40_000, "test")
    for place, statement in enumerate(BOOK.statements):
        shares = np.bincount(ranks[:, place], minlength=6)[1:] / len(ranks)
        # 5 standard errors of a share of one half.
        assert shares == pytest.approx(BOOK.compute_shares(statement), abs=5 * 0.5 / sqrt(len(ranks)))
    turned = np.array([statement.key for statement in BOOK.statements]) * ranks
    correlations = np.corrcoef(turned.T)
    same = np.equal.outer(*[[statement.scale for statement in BOOK.statements]] * 2)
    assert correlations[same].min() > 0.15
    assert np.abs(correlations[~same]).max() < 0.03


def test_the_shipped_people_are_these(tmp_path) -> None:
    write_people(tmp_path / "people.csv")
    assert (tmp_path / "people.csv").read_bytes() == PEOPLE.read_bytes()
    with PEOPLE.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == RESPONDENTS
    assert list(rows[0])[1:] == [statement.name for statement in BOOK.statements]


def test_personas_are_the_ones_that_attitudes_know() -> None:
    for persona in BOOK.personas:
        assert any(
            BOOK.compute_shares(statement, persona) != BOOK.compute_shares(statement) for statement in BOOK.statements
        )
    assert BATTERY.is_file() and PERSONAS.is_file()
