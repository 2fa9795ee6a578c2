"""Bounds of the numbers of a scale, where the server shows some tokens without a text."""

from __future__ import annotations

import asyncio

import pytest

from inference.engines.contract import Score
from inference.engines.openai.thoughts.number_bounds import NextToken, Path, ask_and_bound_number_probabilities


def bound_numbers(numbers: range, shown: dict[Path, list[NextToken]]) -> tuple[Score, list[Path]]:
    asked = []

    async def ask_next(path: Path) -> list[NextToken]:
        asked.append(path)
        return shown[path]

    return asyncio.run(ask_and_bound_number_probabilities(numbers, ask_next)), asked


def test_an_empty_token_ends_a_number():
    ended = [NextToken("", "", 0.99), NextToken("1", "1", 0.01)]
    shown = {(): [NextToken("7", "7", 0.99), NextToken("8", "8", 0.01)], ("7",): ended, ("8",): ended}
    score, asked = bound_numbers(range(10), shown)
    assert asked == [(), ("7",), ("8",)]
    assert score.probability[7:9] == pytest.approx((0.9801, 0.0099), abs=1e-15)
    assert score.answer == 7


@pytest.mark.parametrize("path", [(), (" ",)])
def test_an_empty_token_before_a_number_counts_for_the_upper_bound_only(path):
    shown = {("5",): [NextToken(".", ".", 1.0)], path: [NextToken("5", "5", 0.6), NextToken("", "", 0.4)]}
    shown |= {(*path, "5"): shown["5",]} | ({(): [NextToken(" ", " ", 1.0)]} if path else {})
    score, _ = bound_numbers(range(10), shown)
    assert score.probability[5] == pytest.approx(0.6)
    assert score.mass_upper == pytest.approx(1.0)
