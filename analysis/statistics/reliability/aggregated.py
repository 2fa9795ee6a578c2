"""Tell what accuracies alone say about wordings: of models by templates, with the number of answers behind each.

A *block* holds the accuracies of several models with every template of one task. Its items are not known: all templates
and models were asked the same ones, so that binomial errors go together, nobody knows how far. With a variance
p (1 - p) / n of each accuracy, every figure takes the wider case:

- *means* over templates as if the errors were the same with every template: n of the mean is n of one accuracy;
- *differences* between templates, and between models, as if the errors were independent.

In simulations with 8 models, 5 templates and 300 items, orders with other templates of the same items were kept as
often as foreseen, within .06; with other items, too, by up to .12 more often: the more, the more models find the same
items hard.

Models are the objects, templates the conditions of measurement. The analysis of variance gives the components of
models, templates, and of models by templates with all else that is left. Of the latter, the binomial error is at most
p (1 - p) / n: without it, models by templates is at least the rest. Several blocks stand for the mean over their tasks:
the same tasks, each with other templates of its own.

References
----------
Brennan, R. L. (2001). Generalizability Theory, section 2.2 (p x i design), and 4.1 (E rho^2).
McGraw, K. O. and Wong, S. P. (1996). Forming inferences about some intraclass correlation coefficients. Psychological
Methods 1, 30-46 (ICC(C,1) and ICC(C,k) are the coefficients here).
Satterthwaite, F. E. (1946). An approximate distribution of estimates of variance components. Biometrics Bulletin 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.statistics.reliability.components import Array, components
from analysis.statistics.reliability.ranking import Ranking, stand
from analysis.statistics.reliability.templates import QUANTILES, summary
from analysis.statistics.resampling import LEVEL
from analysis.statistics.shares import wilson

DRAWS = 4_000
ORDERS = 1_000  # draws of templates for several tasks: one of each is compared with another
EXACT = 1e9  # degrees of freedom of a variance that is known


@dataclass(frozen=True, slots=True)
class Block:
    """Hold the accuracies (models, templates) of one task, and the numbers of answers `n` behind them.

    No accuracy is missing; there are two templates or more.
    """

    accuracies: Array
    n: Array

    @property
    def sampling(self) -> Array:
        """Return the binomial variance of the mean of every model: (models,), as if of one template."""
        return np.asarray((self.accuracies * (1 - self.accuracies) / self.n).mean(axis=1))


@dataclass(frozen=True, slots=True)
class Reliability:
    """Hold the components of the mean over tasks, with one template of each, and what they make of a ranking.

    Attributes
    ----------
    model, template, model_template
        Components; the last has all else that is left, a part of the binomial error, too. Negative where the estimate
        is.
    sampling
        Binomial variance, mean over models.
    spread
        Variance of the models' means over all templates.
    spread_free, errors
        Degrees of freedom of the spread, which are the models less one; of every block, model_template of the mean, the
        number of templates, and its degrees of freedom.
    """

    model: float
    template: float
    model_template: float
    sampling: float
    spread: float
    spread_free: int
    errors: tuple[tuple[float, int, float], ...]

    def coefficient(self, templates: float, *, items: bool = False) -> float:
        """Compute the coefficient of generalizability of a ranking by so many templates of each task.

        Parameters
        ----------
        items
            Whether other items are drawn, too. The binomial error is then an error of the ranking: all of it, as if it
            were the same with every template.
        """
        signal = self.model - self.sampling if items else self.model
        total = self.model + self.model_template / templates
        return signal / total if total > 0 else np.nan

    def interval(self, templates: float, seed: int = 0, level: float = LEVEL) -> tuple[float, float]:
        """Compute the generalized interval of `coefficient` with the same items, for models and templates like these.

        As in `ranges`: a mean square S with f degrees of freedom is drawn as S f / X. Of one task it is the interval of
        the F distribution.
        """
        if not self.spread > 0:
            return np.nan, np.nan
        rng = np.random.default_rng(seed)
        spread = self.spread * self.spread_free / rng.chisquare(self.spread_free, DRAWS)
        model, residual = spread, np.zeros(DRAWS)
        for error, number, free in self.errors:
            drawn = max(error, 0.0) * free / rng.chisquare(free, DRAWS)
            model, residual = model - drawn / number, residual + drawn
        with np.errstate(divide="ignore", invalid="ignore"):
            found = model / (model + residual / templates)
        low, high = np.quantile(found, [(1 - level) / 2, (1 + level) / 2])
        return float(low), float(high)


def reliability(blocks: Sequence[Block]) -> Reliability:
    """Estimate the components of the mean over the blocks' tasks; the models of all are the same, two or more."""
    parts = [components(block.accuracies, crossed=True) for block in blocks]
    weight = 1 / len(blocks) ** 2
    mean = np.mean([block.accuracies.mean(axis=1) for block in blocks], axis=0)
    spread = float(mean.var(ddof=1))
    errors = tuple(
        (part.residual * weight, block.accuracies.shape[1], part.freedom)
        for part, block in zip(parts, blocks, strict=True)
    )
    return Reliability(
        spread - sum(error / number for error, number, _ in errors),
        sum(part.wording for part in parts) * weight,
        sum(error for error, _, _ in errors),
        float(sum(block.sampling.mean() for block in blocks)) * weight,
        spread, len(mean) - 1, errors,
    )  # fmt: skip


def kept_by_one(blocks: Sequence[Block], *, seed: int = 0) -> Array:
    """Compute how often a pair of models has the same order with one template of each task as with another.

    Returns
    -------
    array (models, models)
        Share of the ordered pairs of different templates; of several tasks, of `ORDERS` draws. Equal accuracies count
        half.
    """
    if len(blocks) == 1:
        accuracies = blocks[0].accuracies
        number = accuracies.shape[1]
        signs = np.sign(accuracies[:, None] - accuracies)
        # The sum over different templates of the product of two signs: that over all, less those with themselves.
        products = signs.sum(axis=2) ** 2 - np.abs(signs).sum(axis=2)
        return np.asarray((1 + products / (number * (number - 1))) / 2)
    rng = np.random.default_rng(seed)
    total = np.zeros((len(blocks[0].accuracies),) * 2)
    for _ in range(ORDERS):
        drawn = [block.accuracies[:, rng.permutation(block.accuracies.shape[1])[:2]] for block in blocks]
        means = np.mean(drawn, axis=0)
        signs = np.sign(np.round(means[:, None] - means, 12))
        total += signs[..., 0] * signs[..., 1]
    return np.asarray((1 + total / ORDERS) / 2)


def kept_by_others(blocks: Sequence[Block]) -> Array:
    """Compute the probability of pairs of models to keep their order with as many other templates, of the same items.

    As `replication.same_sign`, for all pairs at once: r is the coefficient of generalizability of all templates, 1 for
    two models. Of several tasks, the degrees of freedom are Satterthwaite's.

    Returns
    -------
    array (models, models)
        NaN for equal means.
    """
    from scipy.special import stdtr

    number = len(blocks[0].accuracies)
    mean = np.mean([block.accuracies.mean(axis=1) for block in blocks], axis=0)
    apart, variance, squares = mean[:, None] - mean, np.zeros((number, number)), np.zeros((number, number))
    for block in blocks:
        templates = block.accuracies.shape[1]
        own = _of_pairs(np.cov(block.accuracies)) / templates / len(blocks) ** 2
        variance, squares = variance + own, squares + own**2 / (templates - 1)
    true = _true(reliability(blocks), number, items=False)
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.abs(apart) * true / np.sqrt((1 + true) * variance)
        found = stdtr(np.where(squares > 0, variance**2 / squares, 1.0), distance)
    return np.where(np.isclose(apart, 0, atol=1e-12), np.nan, np.where(variance > 0, found, 1.0))


def ranking(blocks: Sequence[Block], *, seed: int = 0, level: float = LEVEL) -> Ranking:
    """Rank models by their means over tasks and templates, and tell what would stand with other items and templates.

    `ranking.stand`, with the covariances over the templates of every block and the binomial variances.
    """
    tasks = len(blocks)
    mean = np.mean([block.accuracies.mean(axis=1) for block in blocks], axis=0)
    moved = [
        (np.atleast_2d(np.cov(block.accuracies)) / block.accuracies.shape[1] / tasks**2,
         block.accuracies.shape[1] - 1.0)
        for block in blocks
    ]  # fmt: skip
    moved.append((np.diag(sum(block.sampling for block in blocks) / tasks**2), EXACT))
    templates = np.mean([block.accuracies.shape[1] for block in blocks])
    true = _true(reliability(blocks), len(mean), items=True)
    items = int(min(block.n.min() for block in blocks))
    return stand(mean, moved, true, items, float(templates), seed=seed, level=level)


def _true(found: Reliability, models: int, *, items: bool) -> float:
    """Return the share of the variance of the models' means that is true; 1 where two models do not tell it."""
    if models < 3 or not found.spread > 0:
        return 1.0
    return max(found.model - (found.sampling if items else 0.0), 0.0) / found.spread


def _of_pairs(covariance: Array) -> Array:
    own = np.diag(covariance)
    return np.maximum(own[:, None] + own - 2 * covariance, 0.0)


def intervals(accuracies: Array, n: Array, level: float = LEVEL) -> dict[str, tuple[float, float, float]]:
    """Compute `templates.summary` of one model's accuracies (templates,), with intervals for these templates.

    As `templates.intervals`, of the wider case (see above): Wilson's with n of one template for the mean, Newcombe's
    for independent shares for range, gain and saturation, and for the combined score the sum of both errors.

    Returns
    -------
    dict
        Figure -> estimate, lower, upper end; NaN for the ends of the SD.
    """
    number = len(accuracies)
    found = {name: (float(value), np.nan, np.nan) for name, value in summary(accuracies).items()}
    lower, upper = wilson(accuracies, n, level)
    low, high = wilson(accuracies, n, 1 - (1 - level) / number)  # all of them hold at once
    mean = found["mean"][0]
    ends = {
        "mean": _score(mean, n.min(), level),
        "lowest": (lower.min(), high.min()),
        "highest": (low.max(), upper.max()),
        "combined": _combined(accuracies, n, level),
    }
    for name, q in QUANTILES.items():
        below, above = (low if q > 0.5 else lower), (high if q < 0.5 else upper)
        ends[name] = float(np.quantile(below, q)), float(np.quantile(above, q))
    if number > 1:
        pairs = 1 - (1 - level) / number / (number - 1)
        surely, plain = wilson(accuracies, n, pairs), (lower, upper)
        ends["range"] = _apart(accuracies, surely, plain, accuracies[:, None], surely, plain)
        of_mean, mean_surely = _score(mean, n.min(), level), _score(mean, n.min(), 1 - (1 - level) / number)
        ends["gain"] = _apart(accuracies, (low, high), plain, np.array([[mean]]), mean_surely, of_mean)
        ends["saturation"] = 1 - ends["gain"][1], 1 - ends["gain"][0]
    return found | {name: (found[name][0], float(low), float(high)) for name, (low, high) in ends.items()}


def _score(share: float, n: float, level: float) -> tuple[float, float]:
    lower, upper = wilson(np.asarray(share), np.asarray(n), level)
    return float(lower), float(upper)


Ends = tuple[Array | float, Array | float]


def _apart(a: Array, a_surely: Ends, a_plain: Ends, b: Array, b_surely: Ends, b_plain: Ends) -> tuple[float, float]:
    """Return the ends of the largest difference a - b: Newcombe's, the lower one of all at once."""
    low = a - b - np.hypot(a - a_surely[0], np.transpose(b_surely[1] - b.T))
    high = a - b + np.hypot(a_plain[1] - a, np.transpose(b.T - b_plain[0]))
    return max(0.0, float(low.max())), min(1.0, float(high.max()))


def _combined(accuracies: Array, n: Array, level: float) -> tuple[float, float]:
    """Return the ends of (1 - highest + mean) highest, by the chain rule: errors of highest and mean are added."""
    highest, mean = float(accuracies.max()), float(accuracies.mean())
    score = (1 - highest + mean) * highest
    errors = np.sqrt(accuracies * (1 - accuracies) / n)
    error = abs(1 - 2 * highest + mean) * errors[accuracies.argmax()] + highest * errors.mean()
    return _score(score, score * (1 - score) / error**2 if error > 0 else n.min(), level)
