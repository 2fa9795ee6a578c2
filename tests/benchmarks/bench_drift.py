"""Repeated looks: which test, how often it alarms without a change, and which changes it finds.

First three tests on the z values of looks: windows, the last look alone, and e-values that mix over change points and
normal sizes of a change. Then the test of `analysis.statistics.drift` on years of 50 looks of an unchanged model, in
fresh wordings each time, and on years in which it changes.

    .venv/bin/python tests/benchmarks/bench_drift.py --years 2000    # 20 minutes

SciPy reckons the distribution of the test of ranks anew at every call, which is most of the time. Here it is kept, and
held against SciPy's at the start.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numpy as np
from scipy import stats
from scipy.special import ndtri, stdtr

sys.path.insert(0, str(Path(__file__).parents[2]))

from analysis.statistics.drift import (
    LOOKS,
    _list_window_starts,
    count_windows_of_planned_looks,
    detect_change_over_looks,
)

ALPHA = 0.05
NUMBERS = np.arange(2, LOOKS + 1)  # of the looks that have a z
WEIGHTS = 1 / np.sqrt(NUMBERS * (NUMBERS - 1))
WITHIN = (1, 2, 4, 8)  # looks after a change
CASES = [  # items, wordings, what the answers are
    (30, 1, "right"), (300, 1, "right"), (62, 5, "right"), (30, 5, "share"), (300, 3, "share"), (62, 1, "sampled"),
    (62, 3, "skewed"), (62, 1, "flip"), (30, 4, "templates"), (100, 1, "templates"),
    (62, 1, "odd templates"), (62, 5, "odd templates"),
]  # fmt: skip


def draw_z_values(draw: np.random.Generator, years: int, change: float, after: int) -> np.ndarray:
    """Draw the z values of each look against all before: (years, looks with a z); the mean moves after some looks."""
    looks = draw.normal(size=(years, LOOKS))
    looks[:, after:] += change
    before = (np.cumsum(looks, axis=1)[:, :-1]) / (NUMBERS - 1)
    return (looks[:, 1:] - before) * np.sqrt((NUMBERS - 1) / NUMBERS)


def add_up(z: np.ndarray, first: int, last: int) -> np.ndarray:
    """Add up the z values of a window of looks, which are numbered from 0 on."""
    part = slice(max(first - 1, 0), last)
    return z[:, part] @ WEIGHTS[part] / np.sqrt((WEIGHTS[part] ** 2).sum())


def alarm_by_windows(z: np.ndarray, lengths: str) -> np.ndarray:
    """Return the first look with an alarm in every year; `LOOKS` where there is none."""
    n_tests = count_windows_of_planned_looks() if lengths == "all" else LOOKS - 1
    limit = -ndtri(ALPHA / n_tests / 2)
    alarm = np.full(len(z), LOOKS)
    for last in reversed(range(1, LOOKS)):
        starts = _list_window_starts(last) if lengths == "all" else [last]
        alarm[np.max([np.abs(add_up(z, first, last)) for first in starts], axis=0) > limit] = last
    return alarm


def alarm_by_e_values(z: np.ndarray, ratio: float = 8.0) -> np.ndarray:
    """Return the first look at which an e-value is 1 / ALPHA: a mixture over all change points that are equally likely,
    and over normal changes with so many times the variance of a look."""
    alarm = np.full(len(z), LOOKS)
    for last in reversed(range(1, LOOKS)):
        evidence = np.full(len(z), float(LOOKS - 1 - last))
        for first in range(1, last + 1):
            spread = ratio * first * (last + 1 - first) / (last + 1)
            evidence += np.exp(add_up(z, first, last) ** 2 / 2 * spread / (1 + spread)) / np.sqrt(1 + spread)
        alarm[evidence / (LOOKS - 1) >= 1 / ALPHA] = last
    return alarm


def compare_tests(years: int) -> None:
    """Print false alarms and power of three tests on the same z values."""
    tests: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "windows": lambda z: alarm_by_windows(z, "all"), "last look": lambda z: alarm_by_windows(z, "last"),
        "e-values": alarm_by_e_values,
    }  # fmt: skip
    for name, test in tests.items():
        false = (test(draw_z_values(np.random.default_rng(0), years, 0.0, 0)) < LOOKS).mean()
        print(f"{name}: false alarms in {false:.3f} of {years} years")
        for after in (4, 12, 30):
            for change in (2.0, 3.0, 4.0):
                alarm = test(draw_z_values(np.random.default_rng(after), years, change, after))
                power = [((alarm >= after) & (alarm < after + within)).mean() for within in WITHIN]
                print(f"  {change:g} standard errors after {after} looks, within {WITHIN}: {np.round(power, 2)}")


def draw_looks(
    draw: np.random.Generator, items: int, wordings: int, kind: str, change: float = 0.0, after: int = LOOKS,
    looks: int = LOOKS,
) -> Iterator[np.ndarray]:  # fmt: skip
    """Yield the answers of a model at every look, in fresh wordings; the logit, or the score, of all items moves."""
    places, spread = draw.normal(1.0, 1.5, (items, 1)), draw.gamma(2.0, 0.4, (items, 1))
    for look in range(looks):
        shape = (items, wordings)
        moved = places - change * (look >= after) + spread * draw.normal(size=shape)
        if kind == "templates":
            moved = moved + draw.normal(0, 0.5, (1, wordings))
        elif kind == "odd templates":  # to one in ten, all items are answered otherwise
            is_odd = draw.random((1, wordings)) < 0.1
            moved = moved + np.where(is_odd, draw.normal(-2.0, 0.5, is_odd.shape), draw.normal(0, 0.2, is_odd.shape))
        share = 1 / (1 + np.exp(-moved))
        if kind == "right":  # at temperature 0: what is likelier
            yield (share > 0.5).astype(float)
        elif kind == "sampled":
            yield draw.binomial(10, share) / 10
        elif kind == "flip":
            yield (draw.random(shape) < share / 3).astype(float)
        elif kind == "skewed":
            yield places - change * (look >= after) + draw.exponential(1.0, shape) ** 2
        else:
            yield share


def is_shared(kind: str) -> bool:
    """Tell whether all items share the wordings of a look."""
    return kind.endswith("templates")


def count_false_alarms(years: int, cases: Sequence[tuple[int, int, str]]) -> None:
    """Print how many years without a change have an alarm; also by the weakest of 1, 10 and 25 looks."""
    for items, wordings, kind in cases:
        draw = np.random.default_rng((items, wordings))
        p = np.array([
            detect_change_over_looks(list(draw_looks(draw, items, wordings, kind)), is_shared(kind)).p
            for _ in range(years)
        ])  # fmt: skip
        shares = [float((p[:, look] < ALPHA).mean()) for look in (1, 9, 24, LOOKS - 1)]
        print(f"{items} x {wordings} {kind}: alarms within 2, 10, 25, 50 looks {np.round(shares, 4)}", flush=True)


def measure_power(years: int) -> None:
    """Print how many changes are found, and whether the looks that are said to begin it hold the true one."""
    for items, wordings, kind, change in (
        (300, 5, "right", 0.4), (62, 5, "right", 0.8), (62, 12, "share", 0.4), (30, 4, "templates", 1.0),
        (30, 1, "templates", 1.0),
    ):  # fmt: skip
        draw = np.random.default_rng(items)
        found = []
        for _ in range(years):
            looks = list(draw_looks(draw, items, wordings, kind, change, after=10, looks=20))
            drift = detect_change_over_looks(looks, is_shared(kind))
            size = float(np.mean(looks[-1]) - np.mean(looks[0]))
            held = drift.likely_first <= 10 <= drift.likely_last
            found.append([size, held, *(drift.p[9 + within] < ALPHA for within in WITHIN)])
        size, held, *power = np.mean(found, axis=0)
        print(f"{items} x {wordings} {kind}, change {size:+.3f} after 10 looks, found within {WITHIN}: "
              f"{np.round(power, 2)}; its look is among the likely ones in {held:.2f}", flush=True)  # fmt: skip


@cache
def tabulate_rank_test(n: int, m: int) -> np.ndarray:
    """Tabulate p of "greater" for every number of pairs of which the first is greater: the exact test of ranks."""
    counts = np.zeros(n * m + n + 1)
    counts[0] = 1
    for i in range(1, n + 1):  # of the Gaussian binomial coefficient: times (1 - q^(m + i)), through (1 - q^i)
        counts[m + i :] -= counts[: len(counts) - m - i].copy()
        for place in range(i, len(counts)):
            counts[place] += counts[place - i]
    counts = counts[: n * m + 1]
    return np.append(np.cumsum(counts[::-1])[::-1] / counts.sum(), 0.0)


def compare_ranks(first: np.ndarray, second: np.ndarray, *, alternative: str, method: str) -> SimpleNamespace:
    """Do what `scipy.stats.mannwhitneyu` does with numbers none of which are alike."""
    assert (alternative, method) == ("greater", "exact")
    n_greater = int((first[:, None] > second).sum())
    return SimpleNamespace(pvalue=tabulate_rank_test(len(first), len(second))[n_greater])


def compare_means(first: np.ndarray, second: np.ndarray, *, alternative: str, method: str) -> SimpleNamespace:
    """Test by t with a common variance, of which one number may be all there is on a side: what would not do."""
    assert (alternative, method) == ("greater", "exact")
    freedom = len(first) + len(second) - 2
    squares = sum(((side - side.mean()) ** 2).sum() for side in (first, second))
    error = np.sqrt(squares / freedom * (1 / len(first) + 1 / len(second)))
    return SimpleNamespace(pvalue=stdtr(freedom, -(first.mean() - second.mean()) / error))


def check_rank_test() -> None:
    """Hold the table against SciPy's."""
    draw = np.random.default_rng(0)
    for n, m in ((1, 1), (1, 49), (4, 4), (4, 100), (5, 245)):
        first, second = draw.normal(0.5, 1, n), draw.normal(size=m)
        expected = stats.mannwhitneyu(first, second, alternative="greater", method="exact").pvalue
        p = compare_ranks(first, second, alternative="greater", method="exact").pvalue
        assert abs(p - expected) < 1e-12, (n, m, p, expected)


def main() -> None:
    """Print all comparisons."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--years", type=int, default=2000)
    parser.add_argument("--rows", type=int, nargs="+", choices=range(len(CASES)), help="only these of false alarms")
    parser.add_argument("--t", action="store_true", help="templates by t in place of the test of ranks")
    arguments = parser.parse_args()
    years, rows = arguments.years, arguments.rows
    check_rank_test()
    with mock.patch.object(stats, "mannwhitneyu", compare_means if arguments.t else compare_ranks):
        if rows is None:
            compare_tests(10 * years)
        count_false_alarms(years, CASES if rows is None else [CASES[row] for row in rows])
        if rows is None:
            measure_power(max(years // 10, 20))


if __name__ == "__main__":
    main()
