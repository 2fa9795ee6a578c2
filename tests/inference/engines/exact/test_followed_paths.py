"""Paths that cannot matter are not followed: options against a slow sum over all paths, in double precision."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from inference.engines.exact.followed_paths import ALL_NEGLIGIBLE, Beginning, FollowedPaths, Logs
from inference.engines.exact.option_tree import TreeTable, build_option_tree

Path = tuple[int, ...]
NextToken = Callable[[int, Path], Logs]
VOCABULARY = 6
ROUNDING = 1e-13


def draw_model(seed: int, sharpness: float) -> NextToken:
    """Next-token log-probabilities that depend on the row and the path."""

    def next_token(row: int, path: Path) -> Logs:
        scores = sharpness * np.random.default_rng([seed, row, len(path), *path]).standard_normal(VOCABULARY)
        return scores - np.logaddexp.reduce(scores)

    return next_token


def follow(model: NextToken, sequences: Sequence[Sequence[Path]], rows: int = 3) -> tuple[Logs, Logs, list]:
    """Log-probabilities [rows, options], what was left out [rows], and what was read in each step."""
    tree = build_option_tree(sequences)
    steps: list[list[tuple[int, Path]]] = []

    def read(beginnings: Sequence[Beginning]) -> Logs:
        steps.append([(row, node.path) for _, row, node, _ in beginnings])
        return np.concatenate([model(row, node.path)[list(node.children)] for _, row, node, _ in beginnings])

    following = FollowedPaths([TreeTable(tree)] * rows, [len(sequences)] * rows, 1)
    first = np.concatenate([model(row, ())[list(tree.children)] for row in range(rows)])
    found = following.compute_option_logprobs(first, read)
    return found.logprobs.reshape(rows, -1), found.left_out, steps


def sum_all_paths(model: NextToken, sequences: Sequence[Sequence[Path]], row: int) -> list[float]:
    """The textbook: every path of every option, as far as no other answer goes on where it ends."""
    every = {path for paths in sequences for path in paths}
    totals = []
    for option, paths in enumerate(sequences):
        total = 0.0
        for path in paths:
            begun_by_own = any(path[:end] in paths for end in range(1, len(path)))
            longer = {other[len(path)] for other in every if len(other) > len(path) and other[: len(path)] == path}
            foreign = any(
                other[: len(path)] == path for n, more in enumerate(sequences) if n != option for other in more
            )
            if begun_by_own:
                pytest.skip("a longer form of the same option: held by the shorter")
            reached = math.fsum(model(row, path[:at])[token] for at, token in enumerate(path))
            stays = 1 - math.fsum(np.exp(model(row, path))[list(longer)]) if foreign else 1.0
            total += math.exp(reached) * stays
        totals.append(total)
    return totals


def assert_within_bounds(model: NextToken, sequences: Sequence[Sequence[Path]], rows: int = 3) -> list:
    """No option, and so no mass, share or odds, lacks more than is said, and that is at most 1e-8 of it."""
    logprobs, left_out, steps = follow(model, sequences, rows)
    for row in range(rows):
        expected = np.array(sum_all_paths(model, sequences, row))
        found = np.exp(logprobs[row])
        lacking = (expected - found) / expected
        assert (np.abs(lacking) <= left_out[row] + ROUNDING).all()
        assert left_out[row] <= ALL_NEGLIGIBLE
        assert abs(found.sum() - expected.sum()) <= ALL_NEGLIGIBLE * expected.sum()
        assert (np.abs(found / found.sum() - expected / expected.sum()) <= ALL_NEGLIGIBLE).all()
        assert found.argmax() == expected.argmax()
    return steps


def draw_sequences(seed: int) -> list[list[Path]]:
    """Options of one to four spellings of one to four tokens; some begin others."""
    draw = np.random.default_rng(seed)
    paths = list(dict.fromkeys(tuple(draw.integers(0, VOCABULARY, draw.integers(1, 5)).tolist()) for _ in range(9)))
    options: list[list[Path]] = [[], [], []]
    for place, path in enumerate(paths):
        options[place % 3].append(path)
    return [[p for p in option if not any(p[:end] in option for end in range(1, len(p)))] for option in options]


@pytest.mark.parametrize("sharpness", [0.1, 3.0, 12.0, 40.0])
def test_any_options_are_those_of_all_paths(sharpness: float) -> None:
    shares = []
    for seed in range(25):
        sequences = draw_sequences(seed)
        steps = assert_within_bounds(draw_model(seed, sharpness), sequences)
        n_beginnings = len(TreeTable(build_option_tree(sequences)).nodes) - 1
        shares.append(sum(map(len, steps)) / (3 * n_beginnings))
    # Where all tokens are nearly equally probable, every path matters; where few are probable, most do not.
    assert all(share == 1 for share in shares) if sharpness < 1 else True
    assert np.mean(shares) < 0.9 if sharpness > 10 else True


def give_probabilities(table: dict[Path, dict[int, float]]) -> NextToken:
    """A model of one row: the probabilities of some tokens behind some paths."""

    def next_token(row: int, path: Path) -> Logs:
        with np.errstate(divide="ignore"):
            return np.log([table[path].get(token, 0.0) for token in range(200)])

    return next_token


def test_many_small_paths_are_followed_where_together_they_matter() -> None:
    """A hundred spellings, each below 1e-9 of their option; together they are 9e-8 of it."""
    small = range(1, 101)
    table = {(): {0: 0.5} | dict.fromkeys(small, 4.5e-10)} | {(token,): {150: 0.999} for token in small}
    sequences = [[(0,), *((token, 150) for token in small)], [(151,)]]
    logprobs, left_out, steps = follow(give_probabilities(table), sequences, rows=1)
    expected = 0.5 + 100 * 4.5e-10 * 0.999
    assert abs(math.exp(logprobs[0, 0]) - expected) <= 1e-8 * expected
    assert left_out[0] <= ALL_NEGLIGIBLE
    assert len(steps[0]) == 100  # equal ones: all or none


def test_a_few_small_paths_are_left_out_and_said() -> None:
    table = {(): {0: 0.5, 1: 4e-10, 2: 3e-10, 3: 0.1}, (3,): {4: 0.5}}
    logprobs, left_out, steps = follow(
        give_probabilities(table), [[(0,), (1, 5), (2, 5)], [(3, 4)]], rows=1
    )  # fmt: skip
    assert steps == [[(0, (3,))]]
    assert np.exp(logprobs).tolist() == [pytest.approx([0.5, 0.05])]
    assert left_out[0] == pytest.approx(7e-10 / 0.5)


def test_the_only_spelling_of_an_option_is_followed_however_improbable() -> None:
    """Its logarithm and its odds are read, too, and a row of a tiny mass is as exact as any."""
    table = {(): {0: 1e-7, 1: 1e-14, 2: 1e-25}, (1,): {3: 0.5}, (2,): {4: 1e-3}}
    logprobs, left_out, steps = follow(give_probabilities(table), [[(0,)], [(1, 3)], [(2, 4)]], rows=1)
    assert np.exp(logprobs[0]).tolist() == pytest.approx([1e-7, 5e-15, 1e-28], rel=1e-12)
    assert left_out.tolist() == [0]
    assert sorted(steps[0]) == [(0, (1,)), (0, (2,))]


def test_a_path_is_given_up_as_soon_as_it_cannot_matter() -> None:
    table = {(): {0: 0.4, 1: 0.1}, (1,): {2: 1e-9}, (1, 2): {3: 1.0}, (1, 2, 3): {4: 1.0}}
    _, left_out, steps = follow(give_probabilities(table), [[(0,), (1, 2, 3, 4)], [(9,)]], rows=1)
    assert steps == [[(0, (1,))]]
    assert left_out[0] == pytest.approx(1e-10 / 0.4)


def test_parents_come_first_and_a_row_that_needs_no_step_is_gone_for_good() -> None:
    sequences = [list(itertools.product(range(2), range(2), range(2))), [(3, 1, 1), (4,)], [(3, 2)]]
    for seed in range(20):
        _, _, steps = follow(draw_model(seed, 20.0), sequences, rows=4)
        read = set()
        for number, step in enumerate(steps):
            assert all(len(path) == 1 or (row, path[:-1]) in read for row, path in step)
            read |= set(step)
            if number:
                assert {row for row, _ in step} <= {row for row, _ in steps[number - 1]}


def test_a_share_that_only_one_of_two_options_can_neglect_is_followed() -> None:
    """The path (1,) is nothing to option 0 and all there is of option 1."""
    table = {(): {0: 0.9, 1: 1e-15}, (1,): {2: 0.4, 3: 0.3}}
    logprobs, left_out, _ = follow(give_probabilities(table), [[(0,), (1, 2)], [(1, 3)]], rows=1)
    assert math.exp(logprobs[0, 1]) == pytest.approx(3e-16)
    assert left_out.tolist() == [0]
