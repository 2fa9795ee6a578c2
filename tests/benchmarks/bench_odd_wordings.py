"""False "holds" and "broken" of rules on wordings like these, where items share their wordings and some are odd.

    python tests/benchmarks/bench_odd_wordings.py                      # 4,000 studies a row, one thread: an hour
    python tests/benchmarks/bench_odd_wordings.py --studies 1000 --name "same answers" --wordings 20 40
    python tests/benchmarks/bench_odd_wordings.py --powers

A study asks some items in K wordings that all of them share. A share of all wordings is odd, and the limit is the
truth, so that *holds* and *broken* are errors; at .025 one-sided. Answers are 0 or 1, changes -1, 0 or 1.

- *same answers, single*: the limit is a mean change of .05. An answer changes by a chance of its own: large in odd
  wordings, and in others as small as the limit allows. `to and fro`: .13 of the others move either way, too.
- *same answers, items*: all answers of some items change in odd wordings, and of few items in all wordings.
- *same answers, back*: what changes in most wordings moves the other way in odd ones.
- *number*: answers are right by .97, in odd wordings never.
- *not worse*: .02 of the answers are worse, in odd wordings all; or most are worse by as much as makes the limit the
  truth, and in odd wordings all are better.

A study whose t interval holds the limit, or that shows no more than the chance that no wording was odd, is not decided:
no p of the product is below these. That is computed for thousands of studies at once, and the others are judged by the
product: `rule`, and `without`, the same without the test of single wordings.

`--powers`: how often a rule on the same answers in shared wordings is decided, of an unchanged model and one of which
all answers to some items changed, beside what the plan foresees; and of a model that answers otherwise here and there.

Exit status 1 where `rule` errs in more than .025 beyond the luck of one in ten thousand, or a power is off by more than
.05 beyond two standard errors.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias
from unittest import mock

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from analysis.check import same_answers  # noqa: E402
from analysis.check.answers import Answers  # noqa: E402
from analysis.check.judged_means import judge_answers_not_worse_by_margin  # noqa: E402
from analysis.check.limits.panels import compute_tails_of_panel  # noqa: E402
from analysis.check.outcomes import LEVEL  # noqa: E402
from analysis.check.planning.answers import AnsweredUnit, list_same_answers_aims_of_unit  # noqa: E402
from analysis.check.rules import LIKE_THESE, SAME_ANSWERS, Rule  # noqa: E402
from analysis.check.same_answers import judge_share_of_same_answers  # noqa: E402
from analysis.statistics.reliability.panel import (  # noqa: E402
    compute_p_norm_of_squared_limits,
    compute_squared_t_quantile,
    estimate_panel_mean,
)
from helpers.mean_shapes import allow_errors  # noqa: E402

SHARED = (3, 5, 8, 10, 20, 40, 100)  # wordings
ODD = (0.05, 0.1, 0.25, 0.5)
CHANGE, RIGHT, WORSE, TO_AND_FRO = 0.05, 0.97, 0.02, 0.13
HELD = 4_000_000  # answers at a time
Array: TypeAlias = np.ndarray
Decide: TypeAlias = Callable[[Array], tuple[float, float]]  # of one study: p of holds, p of broken


def draw_single_changes(draw: np.random.Generator, shape: tuple[int, int, int], odd: float) -> Array:
    """Draw changes of single answers whose mean in odd wordings and others is sqrt(`CHANGE`)."""
    length = CHANGE**0.5
    in_odd = min(1.0, length / odd)
    others = (length - odd * in_odd) / (1 - odd)
    chances = np.where(draw.random((shape[0], 1, shape[2])) < odd, in_odd, others)
    return (draw.random(shape, np.float32) < chances).astype(np.int8)


def draw_changes_to_and_fro(draw: np.random.Generator, shape: tuple[int, int, int], odd: float) -> Array:
    """Draw the same, with others that move either way."""
    changes = draw_single_changes(draw, shape, odd)
    places = draw.random(shape, np.float32)
    moved = (places < TO_AND_FRO / 2).astype(np.int8) - (places > 1 - TO_AND_FRO / 2)
    return np.where(changes == 0, moved, changes).astype(np.int8)


def draw_changed_items(draw: np.random.Generator, shape: tuple[int, int, int], odd: float) -> Array:
    """Draw items that change in odd wordings, and few that do in all."""
    is_odd, places = draw.random((shape[0], 1, shape[2])) < odd, draw.random((*shape[:2], 1))
    always = max(CHANGE - odd**2, 0.0) / (1 - odd**2)
    is_changed = (places < always) | (is_odd & (places < max(CHANGE / odd**2, float(always > 0))))
    return np.broadcast_to(is_changed, shape).astype(np.int8)


def draw_changes_back(draw: np.random.Generator, shape: tuple[int, int, int], odd: float) -> Array:
    """Draw changes of single answers that are the other way round in odd wordings."""
    back = min(1.0, (1 - odd - CHANGE**0.5) / odd)
    forth = (CHANGE**0.5 + odd * back) / (1 - odd)
    is_odd = draw.random((shape[0], 1, shape[2])) < odd
    places = draw.random(shape, np.float32)
    return np.where(is_odd, -(places < back).astype(np.int8), places < forth).astype(np.int8)


def draw_by_chance(
    draw: np.random.Generator, shape: tuple[int, int, int], odd: float, sizes: tuple[float, float]
) -> Array:
    """Draw answers that are 1, or -1 where a size is negative, by the chance of their wording: not odd, and odd."""
    size = np.where(draw.random((shape[0], 1, shape[2])) < odd, sizes[1], sizes[0])
    return np.where(draw.random(shape, np.float32) < abs(size), np.sign(size), 0.0).astype(np.int8)


def judge_same_answers(changes: Array) -> tuple[float, float]:
    before = (changes < 0).astype(float)
    # The ends of the interval take nine tenths of the time, and no part in what is decided.
    with (
        mock.patch.object(same_answers, "find_largest_refuted_claim", return_value=0.0),
        mock.patch.object(same_answers, "_find_same_share_lower_end", return_value=0.0),
    ):
        judged = judge_share_of_same_answers(before + changes, before, True, 1 - CHANGE, like_these=True)
    return judged.p_holds, judged.p_broken


def find_decidable_same_answers(changes: Array) -> Array:
    """Find the studies that may be decided: beyond the limit by t, and by the chance that no wording was odd."""
    _, n_items, n_wordings = changes.shape
    values = changes.astype(np.float32)
    of_items, squares = values.sum(axis=2), (values**2).sum(axis=2)
    pairs = of_items.astype(float) ** 2 - squares
    by_item = pairs / (n_wordings * (n_wordings - 1))
    number = by_item.mean(axis=1)
    without = pairs.sum(axis=1)[:, None] - 2 * np.einsum("sn,snk->sk", of_items, values).astype(float)
    without += 2 * (values**2).sum(axis=1)
    left = without / ((n_wordings - 1) * (n_wordings - 2) * n_items)
    parts = np.stack([by_item.var(axis=1, ddof=1) / n_items, (n_wordings - 1) * left.var(axis=1)], axis=-1)
    length, observed = CHANGE**0.5, np.sqrt(np.maximum(number, 0.0))
    least = np.where(
        observed > length, (1 + length) / (1 + observed), (1 - length) / np.maximum(1 - observed, 1e-9)
    ) ** n_wordings  # fmt: skip
    return (least < LEVEL) & is_beyond(number - CHANGE, parts, n_items, n_wordings)


def is_beyond(distances: Array, parts: Array, n_items: int, n_wordings: int) -> Array:
    """Tell which distances are longer than half a t interval."""
    free = np.array([n_items - 1.0, n_wordings - 1.0])
    squares = compute_p_norm_of_squared_limits(compute_squared_t_quantile(1 - 2 * LEVEL, free) * parts, free)
    return distances**2 >= squares * (1 - 1e-9)


def find_decidable_means(values: Array, limit: float, lowest: float) -> Array:
    """Find the studies of means from a lowest one to 1 that may be decided, by t and by chance, as above."""
    _, n_items, n_wordings = values.shape
    values = values.astype(np.float32)
    of_items, of_wordings = values.mean(axis=2, dtype=float), values.mean(axis=1, dtype=float)
    mean = of_items.mean(axis=1)
    squares = (values**2).sum(axis=(1, 2), dtype=float) / (n_items * n_wordings) + mean**2  # of the interaction
    squares -= (of_items**2).mean(axis=1) + (of_wordings**2).mean(axis=1)
    noise = squares / ((n_items - 1) * (n_wordings - 1))
    parts = np.stack([of_items.var(axis=1, ddof=1) / n_items, of_wordings.var(axis=1, ddof=1) / n_wordings], axis=-1)
    parts[:, 0 if n_items >= n_wordings else 1] -= noise
    above, below = ((mean - lowest) / (1 - lowest)).clip(1e-9), (limit - lowest) / (1 - lowest)
    least = np.where(above > below, below / above, (1 - below) / (1 - above).clip(1e-9)) ** min(n_items, n_wordings)
    return (least < LEVEL) & is_beyond(mean - limit, np.maximum(parts, 0.0), n_items, n_wordings)


def judge_number(values: Array, limit: float) -> tuple[float, float]:
    tails = compute_tails_of_panel(
        estimate_panel_mean(values.astype(float), True, is_share=True), limit, "both", is_bounded=True
    )
    return tails.p_at_most, tails.p_at_least


def judge_not_worse(changes: Array, limit: float) -> tuple[float, float]:
    before = (changes < 0).astype(float)
    judged = judge_answers_not_worse_by_margin(before + changes, before, True, limit, like_these=True)
    return judged.p_holds, judged.p_broken


def judge_without_single_wordings(changes: Array) -> tuple[float, float]:
    with mock.patch.object(same_answers, "compute_same_share_gaffke_p", return_value=0.0):
        return judge_same_answers(changes)


def list_cases(odd: float) -> Iterator[tuple[str, Callable, Callable, Decide]]:
    """Yield the name, how to draw studies, which may be decided, and how to judge one."""
    for name, draw_studies in (
        ("same answers, single", draw_single_changes), ("same answers, to and fro", draw_changes_to_and_fro),
        ("same answers, items", draw_changed_items), ("same answers, back", draw_changes_back),
    ):  # fmt: skip
        yield name, draw_studies, find_decidable_same_answers, judge_same_answers
    better = (-(odd + WORSE) / (1 - odd), 1.0) if odd < 0.4 else (-1.0, (1 - odd - WORSE) / odd)
    for name, sizes, judge in (
        ("number, odd ones never right", (RIGHT, 0.0), judge_number),
        ("not worse, odd ones all worse", (-WORSE, -1.0), judge_not_worse),
        ("not worse, odd ones all better", better, judge_not_worse),
    ):
        mean = (1 - odd) * sizes[0] + odd * sizes[1]
        limit = mean if judge is judge_number else -mean

        lowest = 0.0 if judge is judge_number else -1.0
        yield (name, partial(draw_by_chance, sizes=sizes), partial(find_decidable_means, limit=mean, lowest=lowest),
               partial(judge, limit=limit))  # fmt: skip


def count_errors(
    studies: int, shape: tuple[int, int], odd: float, draw_studies: Callable, find: Callable, decide: Decide
) -> tuple[Array, Array]:
    """Count false *holds* and *broken*: of the rule, and without the test of single wordings."""
    draw, errors, n_drawn = np.random.default_rng(shape[1]), np.zeros((2, 2), int), 0
    while n_drawn < studies:
        n = min(max(1, HELD // (shape[0] * shape[1])), studies - n_drawn)
        answers = draw_studies(draw, (n, *shape), odd)
        n_drawn += n
        for study in answers[find(answers)]:
            p = [decide(study)] * 2 if decide is not judge_same_answers else (
                decide(study), judge_without_single_wordings(study)
            )  # fmt: skip
            errors += np.nan_to_num(np.array(p), nan=1.0) < LEVEL
    return errors[0], errors[1]


def print_errors(studies: int, items: Sequence[int], wordings: Sequence[int], name_part: str) -> bool:
    """Print a row per case, share of odd wordings and number of items; tell whether any errs too often."""
    is_wrong = False
    print(f"{studies} studies a cell; with luck {allow_errors(studies, LEVEL) / studies:.4f}; in shared wordings "
          f"{', '.join(map(str, wordings))}: holds (without the test of single wordings), broken")  # fmt: skip
    for odd in ODD:
        for name, *case in list_cases(odd):
            for n_items in items:
                if name_part not in name:
                    continue
                cells = []
                for k in wordings:
                    rule, without = count_errors(studies, (n_items, k), odd, *case)
                    is_wrong |= bool((rule > allow_errors(studies, LEVEL)).any())
                    more = f" ({without[0] / studies:.4f})" if without[0] != rule[0] else ""
                    cells.append(f"{rule[0] / studies:.4f}{more} {rule[1] / studies:.4f}")
                print(f"{name:31} {odd:4} odd, {n_items:3} items: {' | '.join(cells)}", flush=True)
    return is_wrong


def print_powers(studies: int) -> bool:
    """Print how often studies are decided beside what the plan foresees; tell whether any is off."""
    is_wrong, draw = False, np.random.default_rng(0)
    rule = Rule("", "", SAME_ANSWERS, at_least=1 - CHANGE, wordings=LIKE_THESE)
    pilot = AnsweredUnit(Answers("s", True, [("m", "c")], np.zeros((1, 200, 20))), 0, False)
    for n_items, k, changed in (
        (72, 14, 0.0), (72, 15, 0.0), (100, 20, 0.0), (100, 10, 0.7), (100, 10, 0.8), (100, 12, 0.5), (100, 20, 0.2),
        (100, 20, 0.3), (300, 20, 0.2), (100, 40, 0.15), (300, 40, 0.1), (300, 40, 0.12),
    ):  # fmt: skip
        aims = list(list_same_answers_aims_of_unit(rule, pilot, changed or None, LEVEL))
        foreseen = aims[bool(changed)].compute_power(n_items, k)
        n_decided = 0
        for _ in range(studies):
            changes = np.broadcast_to(draw.random((n_items, 1)) < changed, (n_items, k)).astype(np.int8)
            p_holds, p_broken = judge_same_answers(changes)
            n_decided += (p_broken if changed else p_holds) < LEVEL
        share = n_decided / studies
        is_off = abs(share - foreseen) > 0.05 + 2 * np.sqrt(share * (1 - share) / studies)
        is_wrong |= is_off
        goal = f"broken, {changed:g} of the items changed" if changed else "holds, nothing changed"
        print(f"{goal:36} {n_items:3} items, {k:2} wordings: foreseen {foreseen:.2f}, found {share:.2f}"
              f"{'  off' if is_off else ''}", flush=True)  # fmt: skip
    for fro in (0.02, TO_AND_FRO, 0.3):
        for k in (15, 16, 18, 20, 25, 40):
            held = np.zeros(2, int)
            for _ in range(studies // 10):
                places = draw.random((100, k))
                changes = (places < fro / 2).astype(np.int8) - (places > 1 - fro / 2)
                p = judge_same_answers(changes), judge_without_single_wordings(changes)
                held += np.array(p)[:, 0] < LEVEL
            shares = held / (studies // 10)
            print(f"holds, {fro:g} of answers otherwise here and there, 100 items, {k} wordings: {shares[0]:.2f}, "
                  f"without the test of single wordings {shares[1]:.2f}", flush=True)  # fmt: skip
    return is_wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=4000)
    parser.add_argument("--items", type=int, nargs="+", default=[100])
    parser.add_argument("--wordings", type=int, nargs="+", default=list(SHARED))
    parser.add_argument("--name", default="", help="only what holds this text, such as 'same answers'")
    parser.add_argument("--powers", action="store_true", help="only powers, and what the plan foresees")
    arguments = parser.parse_args()
    if arguments.powers:
        return print_powers(arguments.studies)
    return print_errors(arguments.studies, arguments.items, arguments.wordings, arguments.name)


if __name__ == "__main__":
    sys.exit(main())
