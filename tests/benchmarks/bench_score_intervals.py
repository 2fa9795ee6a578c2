"""Coverage of 95 % intervals of mean scores of hard shapes, simulated: methods that were compared, and ours.

    python tests/benchmarks/bench_score_intervals.py              # about four minutes, one thread
    python tests/benchmarks/bench_score_intervals.py --runs 300   # coarser

A score is the quantile, in its shape, of a normal sum of item (variance 1), wording (.0225) and interaction (.25); each
item has 5 wordings, own ones (nested) or those of all items (crossed). In brackets: mean width, in SDs of a score.

1. Methods, from item means of nested wordings: `t`, cut at the range; `logit`: t of the mean's logit; `Johnson` (1978);
   `Hall` (1992); `BCa` and `boot-t` with 1,000 draws; `quasi`: Wilson's with the variance P (1 - P) times a factor that
   is estimated, and t; `Wilson`: `shares.estimate_share`. An interval that is missing does not cover.
2. Ours (`analysis.statistics.reliability.panel`): over those `shown`.
3. Paired differences of two models that share .7 of the item's variance, where the second is .5 SD better; `null`: how
   often p < .05 for wordings like these where they are equal, of all studies.

Exit status 1 where an interval of ours covers less than .90, beyond the error of the simulation, or the mean over the
grid is not within .93 to .97, or that of the null tests of the six shapes not within .04 to .06.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy import special, stats

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT)]

from analysis.measures.reworded.study import Study  # noqa: E402
from analysis.statistics.shares import compute_wilson_score_interval, estimate_share  # noqa: E402

ITEMS, WORDINGS, DRAWS, PLACES = (10, 30, 100, 1000), 5, 1000, 100_000
ITEM, WORDING, INTERACTION = np.sqrt(np.array([1, 0.0225, 0.25]) / 1.2725)
LIKE, BETTER = 0.7, 0.5  # what two models share of the items' variance, and how much better the second one is
HELD = 0.95
MORE = "95 % zeros"  # beyond the six shapes: 10 items are mostly all alike


def many_zeros(share):
    return lambda u: special.betaincinv(2, 2, np.clip((u - share) / (1 - share), 0, 1))


# Quantiles, and whether scores have a range, which is then 0 to 1.
SHAPES = {
    "80 % zeros": (many_zeros(0.8), True),
    MORE: (many_zeros(0.95), True),
    "0, .5, 1": (lambda u: np.where(u < 0.05, 0, np.where(u < 0.15, 0.5, 1.0)), True),
    "near 1": (lambda u: u ** (1 / 20), True),
    "heavy tail": (lambda u: np.exp(special.ndtri(u)), False),
    "counts": (lambda u: stats.nbinom.ppf(u, 1, 1 / 3), False),
    "near normal": (lambda u: np.clip(0.5 + 0.1 * special.ndtri(u), 0, 1), True),
}
LEVELS = special.ndtri((np.arange(PLACES) + 0.5) / PLACES)
EFFECTS = np.linspace(-1.5, 1.5, 301)  # of a wording, for which the mean over items is tabulated


class Shape:
    def __init__(self, name):
        quantile, self.has_range = SHAPES[name]
        self.table = quantile((np.arange(PLACES) + 0.5) / PLACES).astype(float)
        self.sd = self.table.std()
        rest = np.sqrt(1 - WORDING**2) * LEVELS[:: PLACES // 5000]
        self.given = np.array([self.score(rest + effect).mean() for effect in EFFECTS])

    def score(self, latent):
        return self.table[np.minimum((special.ndtr(latent) * PLACES).astype(int), PLACES - 1)]

    def mean_of_these(self, effects):
        """The mean over all items in these shared wordings."""
        return np.interp(effects, EFFECTS, self.given).mean(axis=-1)


def draw_scores(rng, shape, items, runs, crossed, models=1):
    """Scores (runs, models, items, wordings); their true means in these wordings (runs, models), and in all."""
    like = LIKE if models > 1 else 0.0
    common, own = (rng.normal(size=(runs, size, items, 1)) for size in (1, models))
    effects = WORDING * rng.normal(size=(runs, models, 1 if crossed else items, WORDINGS))
    latent = ITEM * (np.sqrt(like) * common + np.sqrt(1 - like) * own) + effects
    latent = latent + INTERACTION * rng.normal(size=(runs, models, items, WORDINGS))
    return latent, effects


def compute_candidates(means, has_range):
    """Ends (runs,) of the intervals of every method, from item means (runs, items)."""
    runs, n = means.shape
    m, t = means.mean(axis=1), stats.t.ppf((1 + HELD) / 2, n - 1)
    error = means.std(axis=1, ddof=1) / np.sqrt(n)
    centred = means - m[:, None]
    with np.errstate(all="ignore"):
        third = (centred**3).mean(axis=1)
        a = np.nan_to_num(third / means.var(axis=1) ** 1.5) / np.sqrt(n)
        shift = np.nan_to_num(third / (6 * error**2 * n**2))
        ends = {"t": (m - t * error, m + t * error), "Johnson": (m + shift - t * error, m + shift + t * error)}
        turned = [3 * (y - a / 6) / (np.cbrt(1 + a * (y - a / 6)) ** 2 + np.cbrt(1 + a * (y - a / 6)) + 1)
                  for y in (t, -t)]  # fmt: skip
        ends["Hall"] = m - turned[0] * error, m - turned[1] * error
        # The same draws for all studies: means and errors of each by a product of matrices.
        counts = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), DRAWS) / n
        drawn = counts @ centred.T
        ratios = drawn / np.sqrt((counts @ centred.T**2 - drawn**2) / (n - 1))
        low, high = np.quantile(np.where(error > 0, np.nan_to_num(ratios), np.nan), [0.025, 0.975], axis=0)
        ends["boot-t"] = m - high * error, m - low * error
        bias = special.ndtri(((drawn < 0).mean(axis=0) + (drawn <= 0).mean(axis=0)) / 2)
        tails = [bias + (bias + z) / (1 - a / 6 * (bias + z)) for z in (-1.96, 1.96)]
        drawn.sort(axis=0)
        places = [np.clip(special.ndtr(tail) * DRAWS, 0, DRAWS - 1) for tail in tails]
        ends["BCa"] = tuple(m + drawn[np.nan_to_num(place).astype(int), np.arange(runs)] for place in places)
        if has_range:
            ends = {name: (np.clip(low, 0, 1), np.clip(high, 0, 1)) for name, (low, high) in ends.items()}
            half = t * error / (m * (1 - m))
            ends["logit"] = special.expit(special.logit(m) - half), special.expit(special.logit(m) + half)
            n_like = np.where(error > 0, m * (1 - m) / error**2, n)
            ends["quasi"] = compute_wilson_score_interval(m, n_like, t)
            share = estimate_share([(means.T, np.ones_like(means.T))], HELD)
            ends["Wilson"] = share.lower, share.upper
    return ends


NAMES = ("t", "logit", "Johnson", "Hall", "BCa", "boot-t", "quasi", "Wilson")


def describe(lower, upper, truth, sd=1.0):
    with np.errstate(invalid="ignore"):
        held = (lower - 1e-9 <= truth) & (truth <= upper + 1e-9)
    return held.mean(), np.nanmean(upper - lower) / sd if np.isfinite(upper - lower).any() else np.nan


def compare_candidates(runs):
    print(f"{'1. methods':>12} {'items':>6} " + " ".join(f"{name:>12}" for name in NAMES))
    for name in SHAPES:
        shape = Shape(name)
        for items in ITEMS:
            rng = np.random.default_rng([items, *name.encode()])
            studies = runs if items < 1000 else max(100, runs // 5)
            latent, _ = draw_scores(rng, shape, items, studies, False)
            ends = compute_candidates(shape.score(latent)[:, 0].mean(axis=2), shape.has_range)
            cells = ["{:.3f} ({:.2f})".format(*describe(*ends[method], shape.table.mean(), shape.sd))
                     if method in ends else "-" for method in NAMES]  # fmt: skip
            print(f"{name:>12} {items:>6} " + " ".join(f"{cell:>12}" for cell in cells), flush=True)


def iterate_cells(runs) -> Iterator[tuple]:
    for name in SHAPES:
        shape = Shape(name)
        for items in ITEMS:
            for crossed in (False, True):
                yield name, shape, items, crossed, runs if items < 1000 else max(100, runs // 2)


def build_study(shape, scores, crossed):
    units = [(f"m{place}", "c") for place in range(len(scores))]
    return Study("s", "F1", True, crossed, units, np.ones(len(scores)), scores, [], has_range=shape.has_range)


class Tally:
    """Coverage of ours by cell, of the studies that have an interval."""

    def __init__(self):
        self.shares, self.low = [], []

    def add(self, cell, held):
        self.shares.append(np.mean(held) if len(held) else np.nan)
        if self.shares[-1] < 0.90 - 2 * np.sqrt(0.09 / max(len(held), 1)):
            self.low.append(cell)
        return self.shares[-1]

    def conclude(self):
        mean, least = np.nanmean(self.shares), np.nanmin(self.shares)
        print(f"coverage {mean:.3f} in the mean, {least:.3f} at least; too low: {self.low or 'none'}")
        return not self.low and 0.93 <= mean <= 0.97


def holds(ends, truth):
    return ends[0] - 1e-9 <= truth <= ends[1] + 1e-9


def cover_means(runs):
    print(f"\n{'2. ours':>12} {'items':>6} {'nested':>14} {'shown':>6} {'these':>14} {'like these':>14} {'shown':>6}")
    tally, line = Tally(), ""
    for name, shape, items, crossed, studies in iterate_cells(runs):
        rng = np.random.default_rng([items, crossed, *name.encode()])
        kept = {"items": [], "both": []}
        for _ in range(studies):
            latent, effects = draw_scores(rng, shape, items, 1, crossed)
            panel = build_study(shape, shape.score(latent)[0], crossed).estimate_mean_and_components(0)
            these = shape.mean_of_these(effects[0, 0, 0]) if crossed else shape.table.mean()
            for anew, truth in (("items", these), ("both", shape.table.mean())):
                ends = panel.compute_interval(anew)
                if ends[0] == ends[0]:
                    kept[anew].append((holds(ends, truth), (ends[1] - ends[0]) / shape.sd))
        for anew in ("items", "both") if crossed else ("items",):
            held, widths = zip(*kept[anew], strict=True)
            line += f" {f'{tally.add((name, items, crossed, anew), held):.3f} ({np.mean(widths):.2f})':>14}"
        line += f" {len(held) / studies:>6.2f}"
        if crossed:
            print(f"{name:>12} {items:>6}{line}", flush=True)
            line = ""
    return tally.conclude()


def cover_differences(runs):
    print(f"\n{'3. apart':>12} {'items':>6} {'nested':>8} {'shown':>6} {'null':>6} {'these':>8} {'like these':>10} "
          f"{'shown':>6} {'null':>6}")  # fmt: skip
    tally, rates, line = Tally(), [], ""
    for name, shape, items, crossed, studies in iterate_cells(runs):
        rng = np.random.default_rng([items, crossed, 3, *name.encode()])
        apart = shape.table.mean() - shape.score(LEVELS + BETTER).mean()
        rejected, kept = 0, {"items": [], "both": []}
        for better, mean in ((0.0, 0.0), (BETTER, apart)):
            for _ in range(studies):
                latent, effects = draw_scores(rng, shape, items, 1, crossed, models=2)
                latent[:, 1] += better
                study = build_study(shape, shape.score(latent)[0], crossed)
                panel, truths = study.estimate_mean_difference(0, 1), {"items": mean, "both": mean}
                if crossed:
                    truths["items"] = np.subtract(*(shape.mean_of_these(effects[0, model, 0] + better * model)
                                                    for model in (0, 1)))  # fmt: skip
                for anew, truth in truths.items():
                    ends = study.clip_difference_interval_at_bounds(panel.compute_interval(anew))
                    if ends[0] != ends[0]:
                        continue
                    if better:
                        kept[anew].append(holds(ends, truth))
                    elif anew == "both":
                        rejected += not holds(ends, 0.0)
        for anew, width in (("items", 8), ("both", 10)) if crossed else (("items", 8),):
            line += f" {tally.add((name, items, crossed, anew), kept[anew]):>{width}.3f}"
        line += f" {len(kept['items']) / studies:>6.2f} {rejected / studies:>6.3f}"
        rates += [rejected / studies] if name != MORE else []
        if crossed:
            print(f"{name:>12} {items:>6}{line}", flush=True)
            line = ""
    print(f"null tests without {MORE}: {np.mean(rates):.3f} in the mean, {min(rates):.3f} to {max(rates):.3f}")
    return tally.conclude() and 0.04 <= np.mean(rates) <= 0.06


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000, help="simulated studies per cell; fewer of 1,000 items")
    given = parser.parse_args()
    compare_candidates(given.runs)
    good = [cover_means(given.runs), cover_differences(given.runs)]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
