"""Tell what accuracies alone say about wordings: of models by templates, with the number of answers behind each.

A *block* holds the accuracies of several models with every template of one task. Its items are not known: all templates
and models were asked the same ones, so that binomial errors are correlated, and it is not known how much. With a
variance p (1 - p) / n of each accuracy, every figure takes the wider case:

- *means* over templates as if the errors were the same with every template: n of the mean is n of one accuracy;
- *differences* between templates, and between models, as if the errors were independent.

In simulations with 8 models, 5 templates and 300 items, orders with other templates of the same items were kept as
often as foreseen, within .06; with other items, too, by up to .12 more often: the more, the more models find the same
items hard.

Some templates move models further apart than others do. So what is said of other templates rests on the number of
templates, however many models there are: the mean over T templates of how far each moves models apart counts T - 1
degrees of freedom. With residual SDs of templates that are lognormal (.5 on the log scale; of 24 tables of NorEval the
median is .38), intervals of coefficients cover .95 to 1.00 with 2 to 10 templates and 3 to 59 models; (M - 1) (T - 1)
degrees of freedom covered .48 to .96. With 2 or 3 templates they reach from near 0 to near 1: so few tell no more.
Where templates are equal, intervals are wider than need be; with .8 in place of .5, those of 10 templates cover .85 to
.91.

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

from analysis.statistics.reliability.components import Array, estimate_variance_components
from analysis.statistics.reliability.ranking import Ranking, build_ranking_with_simulated_stability
from analysis.statistics.reliability.replication import (
    PLACES,
    PairPrior,
    build_pair_prior_from_errors,
    compute_same_sign_probabilities,
    sum_variances_and_freedom,
)
from analysis.statistics.resampling import LEVEL

DRAWS = 4_000
ORDERS = 1_000  # draws of templates for several tasks: one of each is compared with another
EXACT = 1e9  # degrees of freedom of a variance that is known


@dataclass(frozen=True, slots=True)
class TaskAccuracies:
    """Hold the accuracies (models, templates) of one task, and the numbers of answers `n` behind them.

    No accuracy is missing; there are two templates or more.
    """

    accuracies: Array
    n: Array

    @property
    def binomial_variance_by_model(self) -> Array:
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

    @property
    def satterthwaite_freedom_of_templates(self) -> float:
        """Return the degrees of freedom with which these templates tell of others: Satterthwaite's, of all tasks."""
        return float(
            add_variances_with_freedom(
                [(np.asarray(max(error, 0.0)), number - 1.0) for error, number, _ in self.errors]
            )[1]
        )

    def compute_generalizability(self, n_templates: float, *, other_items: bool = False) -> float:
        """Compute the coefficient of generalizability of a ranking.

        Parameters
        ----------
        n_templates
            Of each task, that the ranking is by.
        other_items
            Whether other items are drawn, too. The binomial error is then an error of the ranking: all of it, as if it
            were the same with every template.

        Returns
        -------
        float
            Within 0 and 1, as a negative component of models counts as 0. NaN where nothing differs.
        """
        signal = max(self.model - self.sampling if other_items else self.model, 0.0)
        total = max(self.model, 0.0) + self.model_template / n_templates
        return signal / total if total > 0 else np.nan

    def compute_coefficient_interval(self, n_templates: float, seed: int = 0) -> tuple[float, float]:
        """Compute the generalized interval of `compute_generalizability` with the same items.

        It is about models and templates like these.

        As in `ranges`, a mean square S with f degrees of freedom is drawn as S f / X. The error of *these* templates is
        taken out of the spread of the means, with the degrees of freedom of models by templates; that of *others* is
        drawn once more around it, with `satterthwaite_freedom_of_templates`.

        Parameters
        ----------
        n_templates
            As in `compute_generalizability`.
        seed
            Of the draws.

        Returns
        -------
        tuple of float
            Lower and upper end; NaN where the interval would have no width.
        """
        if not self.spread > 0:
            return np.nan, np.nan
        rng = np.random.default_rng(seed)
        model = self.spread * self.spread_free / rng.chisquare(self.spread_free, DRAWS)
        error = np.zeros(DRAWS)
        for residual, number, free in self.errors:
            drawn = max(residual, 0.0) * free / rng.chisquare(free, DRAWS)
            model, error = model - drawn / number, error + drawn
        freedom = self.satterthwaite_freedom_of_templates
        error = error * freedom / rng.chisquare(freedom, DRAWS)
        model = np.maximum(model, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            coefficients = model / (model + error / n_templates)
        low, high = np.quantile(coefficients, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return (float(low), float(high)) if high > low else (np.nan, np.nan)


def estimate_components_of_mean_task_accuracy(task_accuracies: Sequence[TaskAccuracies]) -> Reliability:
    """Estimate the components of the mean over the blocks' tasks; the models of all are the same, two or more."""
    parts = [estimate_variance_components(block.accuracies, crossed=True) for block in task_accuracies]
    weight = 1 / len(task_accuracies) ** 2
    mean = np.mean([block.accuracies.mean(axis=1) for block in task_accuracies], axis=0)
    spread = float(mean.var(ddof=1))
    errors = tuple(
        (part.residual * weight, block.accuracies.shape[1], part.freedom)
        for part, block in zip(parts, task_accuracies, strict=True)
    )
    return Reliability(
        spread - sum(error / number for error, number, _ in errors),
        sum(part.wording for part in parts) * weight,
        sum(error for error, _, _ in errors),
        float(sum(block.binomial_variance_by_model.mean() for block in task_accuracies)) * weight,
        spread, len(mean) - 1, errors,
    )  # fmt: skip


def compute_order_agreement_of_each_model_pair(task_accuracies: Sequence[TaskAccuracies], *, seed: int = 0) -> Array:
    """Compute how often a pair of models has the same order with one template of each task as with another.

    Parameters
    ----------
    task_accuracies
        One per task, of the same models.
    seed
        Of the draws of templates, for several tasks.

    Returns
    -------
    array (models, models)
        Share of the ordered pairs of different templates; of several tasks, of `ORDERS` draws. Equal accuracies count
        half.
    """
    if len(task_accuracies) == 1:
        accuracies = task_accuracies[0].accuracies
        number = accuracies.shape[1]
        signs = np.sign(accuracies[:, None] - accuracies)
        # The sum over different templates of the product of two signs: that over all, less those with themselves. With
        # three templates and the signs 1, 1, -1: 1^2 - 3 = -2, so (1 - 2 / 6) / 2 = 1/3 of the pairs agree.
        products = signs.sum(axis=2) ** 2 - np.abs(signs).sum(axis=2)
        return np.asarray((1 + products / (number * (number - 1))) / 2)
    rng = np.random.default_rng(seed)
    total = np.zeros((len(task_accuracies[0].accuracies),) * 2)
    for _ in range(ORDERS):
        drawn = [block.accuracies[:, rng.permutation(block.accuracies.shape[1])[:2]] for block in task_accuracies]
        means = np.mean(drawn, axis=0)
        signs = np.sign(np.round(means[:, None] - means, 12))
        total += signs[..., 0] * signs[..., 1]
    return np.asarray((1 + total / ORDERS) / 2)


def estimate_probabilities_of_pairs_keeping_order(task_accuracies: Sequence[TaskAccuracies]) -> Array:
    """Compute the probability of pairs of models to keep their order with as many other templates, of the same items.

    As `replication.compute_panel_same_sign_probability`, for all pairs at once: with the errors of all models, from
    three on (`estimate_prior_of_model_accuracy_differences`), and templates that are unlike
    (`Reliability.satterthwaite_freedom_of_templates`). Of several tasks, the degrees of freedom are Satterthwaite's.

    Returns
    -------
    array (models, models)
        NaN for equal means.
    """
    mean = np.mean([block.accuracies.mean(axis=1) for block in task_accuracies], axis=0)
    n_tasks = len(task_accuracies)
    variances, freedoms = add_variances_with_freedom([
        (_compute_difference_variances(np.cov(block.accuracies)) / block.accuracies.shape[1] / n_tasks**2,
         block.accuracies.shape[1] - 1.0)
        for block in task_accuracies
    ])  # fmt: skip
    prior = estimate_prior_of_model_accuracy_differences(task_accuracies, other_items=False)
    wording_freedom = estimate_components_of_mean_task_accuracy(task_accuracies).satterthwaite_freedom_of_templates
    return compute_same_sign_probabilities(mean[:, None] - mean, variances, freedoms, prior, wording_freedom)


def estimate_prior_of_model_accuracy_differences(
    task_accuracies: Sequence[TaskAccuracies], *, other_items: bool
) -> PairPrior | None:
    """Learn from all models how far true differences are from 0 and how large errors are, as
    `replication.estimate_pair_difference_prior`.

    Parameters
    ----------
    task_accuracies
        One per task, of the same models.
    other_items
        Whether other items are drawn, too. The errors are those by templates in both cases.

    Returns
    -------
    PairPrior or None
        None for two models, or where their means do not differ.
    """
    from scipy.special import chdtri

    components_of_mean = estimate_components_of_mean_task_accuracy(task_accuracies)
    freedom = components_of_mean.spread_free
    if freedom < 2 or not components_of_mean.spread > 0:
        return None
    # As in `replication.estimate_pair_difference_prior`: places of the distribution of the spread.
    spread = components_of_mean.spread * freedom / chdtri(freedom, (np.arange(PLACES) + 0.5) / PLACES)
    error = components_of_mean.spread - components_of_mean.model + (components_of_mean.sampling if other_items else 0.0)
    variances, freedoms = add_variances_with_freedom([
        ((block.accuracies - block.accuracies.mean(axis=0)).var(axis=1, ddof=1)
         / block.accuracies.shape[1] / len(task_accuracies) ** 2, block.accuracies.shape[1] - 1.0)
        for block in task_accuracies
    ])  # fmt: skip
    true = 2 * np.maximum(spread - error, 0.0)
    return build_pair_prior_from_errors(true, variances, freedoms)


def build_accuracy_ranking_with_stability(task_accuracies: Sequence[TaskAccuracies], *, seed: int = 0) -> Ranking:
    """Rank models by their means over tasks and templates, and tell what would stand with other items and templates.

    `ranking.build_ranking_with_simulated_stability`, with the covariances over the templates of every block and the
    binomial variances.

    Parameters
    ----------
    task_accuracies
        One per task, of the same models.
    seed
        Of the draws.

    Returns
    -------
    Ranking
        `n_items` are the fewest answers behind an accuracy; `n_wordings` the templates, mean over tasks.
    """
    tasks = len(task_accuracies)
    mean = np.mean([block.accuracies.mean(axis=1) for block in task_accuracies], axis=0)
    covariances = [
        (np.atleast_2d(np.cov(block.accuracies)) / block.accuracies.shape[1] / tasks**2,
         block.accuracies.shape[1] - 1.0)
        for block in task_accuracies
    ]  # fmt: skip
    sampling = sum(block.binomial_variance_by_model for block in task_accuracies) / tasks**2
    covariances.append((np.diag(sampling), EXACT))
    templates = np.mean([block.accuracies.shape[1] for block in task_accuracies])
    prior = estimate_prior_of_model_accuracy_differences(task_accuracies, other_items=True)
    shrunk, more = np.ones(1), 0.0
    if prior is not None:
        error = prior.error + 2 * float(np.mean(sampling))
        shrunk = prior.true / (prior.true + error) if error > 0 else shrunk
        # However many models there are, they do not tell of other templates. Every task's errors get their share of the
        # degrees of freedom, which add up in the sum over tasks.
        freedom = estimate_components_of_mean_task_accuracy(task_accuracies).satterthwaite_freedom_of_templates
        more = min(prior.freedom, freedom) / tasks
    n_items = int(min(block.n.min() for block in task_accuracies))
    return build_ranking_with_simulated_stability(
        mean, covariances, shrunk, n_items, float(templates), prior_freedom=more, seed=seed
    )


def add_variances_with_freedom(variances_with_freedom: Sequence[tuple[Array, float]]) -> tuple[Array, Array]:
    """Add variances up, each with its degrees of freedom, and return those of the sum by Satterthwaite's approximation.

    Where the sum is 0, they are the fewest of a part.
    """
    variances, freedoms = zip(*variances_with_freedom, strict=True)
    return sum_variances_and_freedom(np.stack(variances, axis=-1), np.array(freedoms))


def _compute_difference_variances(covariance: Array) -> Array:
    """Return the variances of all differences from a covariance (models, models)."""
    variances = np.diag(covariance)
    return np.maximum(variances[:, None] + variances - 2 * covariance, 0.0)
