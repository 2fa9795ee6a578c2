"""False "broken" and "holds" of rules on numbers, simulated: the limit is the true number, so that each is an error.

    python tests/benchmarks/bench_check_numbers.py                  # some minutes, one thread
    python tests/benchmarks/bench_check_numbers.py --studies 2000

Each is one-sided at .025, and at .025 / 20, as Holm's correction of 20 numbers has it, of all studies. A study without
a decision has no error. Of each way the larger of both errors is shown: > where the number was found above the limit,
< below.

1. Means of items of hard shapes (`tests/helpers/mean_shapes.py`). `t`: the interval of a table (draws of items, or
   Wilson's), turned into p by t alone; `column`: what `analysis.check.limits.tails` makes of the same interval;
   `measure`: Gaffke's test of the items.
2. Shares of right answers in 5 wordings of each item, which agree with each other: `column` by the effective number of
   answers; `measure` as above.
3. The same in K wordings that all items share, each of which moves all items, for wordings like these: `measure`.
4. Scores without bounds: `unbounded`, by t that heeds skewness.
5. Changes in K wordings that all items share, for wordings like these: `change`; `t`: the same without the wording more
   that is as far out as can be. All items are worse in odd wordings, and hardly any in others: in as many as make the
   limit the true number. *Better in odd ones*: the model is worse by .1 in nine wordings of ten and better by .85 in
   the tenth. *Wholly better*: worse by L, and in odd ones better by 1; with a margin of M = .02, a share of
   (L - M) / (1 + L) of odd ones makes the limit the true number. L is .1, .3, and just more than what can be found
   broken where none of K is odd. `bench_odd_wordings.py` has rules on the same answers, and more studies.

6. No errors, but power: how large a loss in K shared wordings is found broken with power .8, of 100 items of which .9
   are right before, with a margin of .02.

Kurtosis has no interval below 1,000 items (`analysis.statistics.forms`), so that it is never decided.

Exit status 1 where `column`, `measure` or `change` errs in more than its level beyond the luck of one in ten thousand.
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

from analysis.check import judged_means  # noqa: E402
from analysis.check.judged_means import JudgedMean, judge_answers_not_worse_by_margin  # noqa: E402
from analysis.check.limits.panels import compute_tails_of_panel  # noqa: E402
from analysis.check.limits.tails import SHARES, Tails, compute_tails_of_interval  # noqa: E402
from analysis.statistics.bounded_mean import (  # noqa: E402
    compute_p_of_mean_at_least,
    compute_p_of_mean_at_most,
)
from analysis.statistics.reliability.panel import estimate_panel_mean  # noqa: E402
from analysis.statistics.resampling import bootstrap_intervals, compute_mean_per_draw  # noqa: E402
from helpers.mean_shapes import SHAPES, allow_errors, draw_shape  # noqa: E402

ITEMS, LEVELS, WORDINGS, DRAWS = (30, 100, 300), (0.025, 0.025 / 20), 5, 2000
SMALL_MARGIN = 0.02
SHARED = (3, 5, 10, 20, 40)  # wordings
P: TypeAlias = tuple[float, float]
Test: TypeAlias = Callable[[], JudgedMean]


def compute_interval(estimates, ends, mean, n, bounds) -> list[P]:
    tails = [compute_tails_of_interval(estimate, (low, high), mean, n, bounds=bounds)
             for estimate, low, high in zip(estimates, *ends, strict=True)]  # fmt: skip
    return [(tail.p_at_most, tail.p_at_least) for tail in tails]


def compute_measure(values, mean) -> list[P]:
    return [(compute_p_of_mean_at_most(row, mean), compute_p_of_mean_at_least(row, mean)) for row in values.T]


def simulate_means(draw, studies: int) -> Iterator[tuple[str, int, str, list[P]]]:
    for shape in SHAPES:
        for n in ITEMS:
            values, mean = draw_shape(draw, shape, (n, studies))
            is_share = bool(((values < 0.5) & (values < 1e-9) | (values > 1 - 1e-9)).all())
            values = np.round(values) if is_share else values
            shares = (lambda columns: {"x": [[(columns["x"], np.ones_like(columns["x"]))]]}) if is_share else None
            drawn = bootstrap_intervals(
                {"x": values}, lambda columns, counts: {"x": compute_mean_per_draw(counts, columns["x"])}, shares,
                draws=DRAWS,
            )["x"]  # fmt: skip
            ends = drawn.lower, drawn.upper
            yield shape, n, "t", compute_interval(drawn.estimate, ends, mean, n, None)
            yield shape, n, "column", compute_interval(drawn.estimate, ends, mean, n, SHARES)
            yield shape, n, "measure", compute_measure(values, mean)


def simulate_clustered_shares(draw, studies: int) -> Iterator[tuple[str, int, str, list[P]]]:
    for share, alike in ((0.5, 2.0), (0.9, 2.0), (0.95, 0.5)):  # items' chances: beta, the more alike the lower
        for n in ITEMS:
            chances = draw.beta(alike * share, alike * (1 - share), (n, studies))
            right = draw.binomial(WORDINGS, chances).astype(float)
            drawn = bootstrap_intervals(
                {"x": right}, lambda columns, counts: {"x": compute_mean_per_draw(counts, columns["x"]) / WORDINGS},
                lambda columns: {"x": [[(columns["x"], np.full_like(columns["x"], WORDINGS))]]}, draws=DRAWS,
            )["x"]  # fmt: skip
            name = f"right in {share:g}, own wordings"
            yield name, n, "column", compute_interval(drawn.estimate, (drawn.lower, drawn.upper), share, n, SHARES)
            yield name, n, "measure", compute_measure(right / WORDINGS, share)


def simulate_shared_wordings(draw, studies: int) -> Iterator[tuple[str, int, str, list[P]]]:
    for share, effect in ((0.5, 0.2), (0.9, 0.08), (0.97, 0.03)):
        for k in (3, 10):
            for n in ITEMS:
                p_values = []
                for _ in range(studies):
                    chances = share + draw.uniform(-effect, effect, k)
                    answers = (draw.random((n, k)) < chances).astype(float)
                    panel = estimate_panel_mean(answers, True, is_share=True)
                    tails = compute_tails_of_panel(panel, share, "both", is_bounded=True)
                    p_values.append((tails.p_at_most, tails.p_at_least))
                yield f"right in {share:g}, {k} shared wordings", n, "measure", p_values


def simulate_unbounded(draw, studies: int) -> Iterator[tuple[str, int, str, list[P]]]:
    for name, draw_scores, mean in (
        ("normal scores", draw.standard_normal, 0.0), ("exponential scores", draw.standard_exponential, 1.0),
    ):  # fmt: skip
        for n in ITEMS:
            p_values = []
            for _ in range(studies):
                panel = estimate_panel_mean(draw_scores((n, 1)), False, is_share=False, corrects_skewness=True)
                tails = compute_tails_of_panel(panel, mean, "items", is_bounded=False)
                p_values.append((tails.p_at_most, tails.p_at_least))
            yield name, n, "unbounded", p_values


def judge_by_t_and_wording_more(test: Test) -> tuple[JudgedMean, JudgedMean]:
    """Test without the wording more that is as far out as can be, and as the product does."""
    without = Tails(0.0, 0.0, np.nan, np.nan, "")
    with mock.patch.object(judged_means, "_compute_tails_with_extreme_wording", return_value=without):
        plain = test()
    return plain, test()


def simulate_changes_in_shared_wordings(
    draw, studies: int, name_part: str = ""
) -> Iterator[tuple[str, int, str, list[P]]]:
    """Yield p values of changes; > is `holds`, < is `broken`."""

    def prepare_worse_in_odd(shape, is_odd) -> Test:
        before = (draw.random(shape) < draw.beta(9, 1, (shape[0], 1))).astype(float)
        now = np.where(draw.random(shape) < 0.05, draw.random(shape) < 0.9, before)
        return partial(
            judge_answers_not_worse_by_margin, np.where(is_odd, 0.0, now), before, True, 0.09, like_these=True
        )

    def prepare_better_in_odd(shape, is_odd) -> Test:
        before, now = draw.uniform(0.1, 0.15, shape), draw.uniform(0, 0.05, shape)
        return partial(
            judge_answers_not_worse_by_margin, np.where(is_odd, now + 0.95, now), before, True, 0.005, like_these=True
        )

    def prepare_wholly_better(loss):
        def prepare(shape, is_odd) -> Test:
            before = np.where(is_odd, 0.0, loss * draw.uniform(0.99, 1.01, shape))
            now = np.where(is_odd, 1.0, np.zeros(shape))
            return partial(judge_answers_not_worse_by_margin, now, before, True, SMALL_MARGIN, like_these=True)

        return prepare

    for k in SHARED:
        just_broken = min((1 + SMALL_MARGIN) / LEVELS[0] ** (1 / k) * 1.01 - 1, 0.99)
        for name, rate, prepare in (
            ("not worse", 0.1, prepare_worse_in_odd), ("better in odd ones", 0.1, prepare_better_in_odd),
            *(
                (f"wholly better, else -{loss:.2g}", (loss - SMALL_MARGIN) / (1 + loss), prepare_wholly_better(loss))
                for loss in (0.1, 0.3, just_broken)
            ),
        ):  # fmt: skip
            if name_part not in f"{name}, {k} shared":
                continue
            for n in ITEMS:
                tested = [judge_by_t_and_wording_more(prepare((n, k), draw.random(k) < rate)) for _ in range(studies)]
                for way, sides in zip(("t", "change"), zip(*tested, strict=True), strict=True):
                    yield f"{name}, {k} shared", n, way, [(judged.p_holds, judged.p_broken) for judged in sides]


def print_losses_that_are_found(draw, studies: int) -> None:
    """Print for each number of shared wordings the least loss that is found with power .8, to a thirtieth."""
    n_items, right = 100, 0.9

    def is_loss_found(loss: float, k: int) -> bool:
        n_broken = 0
        for _ in range(studies):
            before = (draw.random((n_items, k)) < right).astype(float)
            now = np.where(draw.random((n_items, k)) < loss / right, 0.0, before)
            judged = judge_answers_not_worse_by_margin(now, before, True, SMALL_MARGIN, like_these=True)
            n_broken += judged.p_broken < LEVELS[0]
        return n_broken >= 0.8 * studies

    for k in (5, 6, 8, 10, 20, 40):
        low, high = SMALL_MARGIN, right
        if not is_loss_found(high, k):
            print(f"found with power .8 in {k} shared wordings of {n_items} items: no loss", flush=True)
            continue
        while high - low > 0.03 * high:
            middle = (low + high) / 2
            low, high = (low, middle) if is_loss_found(middle, k) else (middle, high)
        print(f"found with power .8 in {k} shared wordings of {n_items} items: a loss of {high:.2f}", flush=True)


def count_errors(p_values: Sequence[P], level: float) -> tuple[int, str]:
    counts = (np.nan_to_num(np.array(p_values), nan=1.0) < level).sum(axis=0)
    side = int(counts.argmax())
    return int(counts[side]), "><"[side]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", type=int, choices=range(1, 7), help="only this one of those above")
    parser.add_argument("--name", default="", help="of part 5: only what holds this text, such as 'not worse, 20'")
    studies, draw, failed = (args := parser.parse_args()).studies, np.random.default_rng(args.seed), []
    print(f"{studies} studies each; errors at .025, at .025 / 20; allowed with luck: "
          f"{', '.join(f'{allow_errors(studies, level) / studies:.4f}' for level in LEVELS)}")  # fmt: skip
    parts = (simulate_means, simulate_clustered_shares, simulate_shared_wordings, simulate_unbounded,
             partial(simulate_changes_in_shared_wordings, name_part=args.name))  # fmt: skip
    for simulate in parts[args.part - 1 : args.part] if args.part else parts:
        for name, n, way, p_values in simulate(draw, studies):
            errors = [count_errors(p_values, level) for level in LEVELS]
            told = "   ".join(f"{number / studies:.4f} {side if number else ' '}" for number, side in errors)
            is_wrong = any(
                number > allow_errors(studies, level) for (number, _), level in zip(errors, LEVELS, strict=True)
            )
            if is_wrong and way in ("column", "measure", "change"):
                failed.append(name)
            print(f"{name:36}{n:4} {way:10} {told}{'   too often' if is_wrong else ''}", flush=True)
    if args.part in (None, 6):
        print_losses_that_are_found(draw, 100)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
