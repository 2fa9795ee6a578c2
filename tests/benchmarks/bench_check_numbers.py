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

Kurtosis has no interval below 1,000 items (`analysis.statistics.forms`), so that it is never decided.

Exit status 1 where a `column` or `measure` errs in more than its level beyond the luck of one in ten thousand.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from analysis.check.limits.panels import compute_tails_of_panel  # noqa: E402
from analysis.check.limits.tails import SHARES, compute_tails_of_interval  # noqa: E402
from analysis.statistics.bounded_mean import (  # noqa: E402
    compute_p_of_mean_at_least,
    compute_p_of_mean_at_most,
)
from analysis.statistics.reliability.panel import estimate_panel_mean  # noqa: E402
from analysis.statistics.resampling import bootstrap_intervals, compute_drawn_mean  # noqa: E402
from helpers.mean_shapes import SHAPES, allow_errors, draw_shape  # noqa: E402

ITEMS, LEVELS, WORDINGS, DRAWS = (30, 100, 300), (0.025, 0.025 / 20), 5, 2000
P = tuple[float, float]


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
                {"x": values}, lambda columns, counts: {"x": compute_drawn_mean(counts, columns["x"])}, shares,
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
                {"x": right}, lambda columns, counts: {"x": compute_drawn_mean(counts, columns["x"]) / WORDINGS},
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


def count_errors(p_values: Sequence[P], level: float) -> tuple[int, str]:
    counts = (np.nan_to_num(np.array(p_values), nan=1.0) < level).sum(axis=0)
    side = int(counts.argmax())
    return int(counts[side]), "><"[side]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    studies, draw, failed = (args := parser.parse_args()).studies, np.random.default_rng(args.seed), []
    print(f"{studies} studies each; errors at .025, at .025 / 20; allowed with luck: "
          f"{', '.join(f'{allow_errors(studies, level) / studies:.4f}' for level in LEVELS)}")  # fmt: skip
    for simulate in (simulate_means, simulate_clustered_shares, simulate_shared_wordings, simulate_unbounded):
        for name, n, way, p_values in simulate(draw, studies):
            errors = [count_errors(p_values, level) for level in LEVELS]
            told = "   ".join(f"{number / studies:.4f} {side if number else ' '}" for number, side in errors)
            is_wrong = any(
                number > allow_errors(studies, level) for (number, _), level in zip(errors, LEVELS, strict=True)
            )
            if is_wrong and way in ("column", "measure"):
                failed.append(name)
            print(f"{name:32}{n:4} {way:10} {told}{'   too often' if is_wrong else ''}", flush=True)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
