"""Draw answers of models to items in wordings from populations whose variance components are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.special import expit, ndtri

Array = np.ndarray
POINTS = 1_500  # places of a normal distribution that stand for it
FACTORS = ("model", "item", "wording", "model_item", "model_wording", "item_wording", "residual")
SCALES: Mapping[str, Callable[[Array], Array]] = {
    "as drawn": lambda latent: latent,
    "rounded": lambda latent: np.round(latent * 2) / 2,  # a handful of different answers: most are ties
    "cut at 0 and 1": lambda latent: np.clip(0.7 + latent / 2, 0, 1),  # about a third of the answers are 0 or 1
    "logistic": lambda latent: expit(1 + 3 * latent),
    "right or wrong": lambda latent: (latent > -0.7).astype(float),
}


@dataclass(frozen=True)
class Population:
    """Hold what answers are made of: normal effects with these SDs, whose sum is then put on a scale.

    Wordings that belong to their item have no effects of their own apart from `item_wording` and `residual`.
    """

    sds: Mapping[str, float]
    crossed: bool = True
    scale: Callable[[Array], Array] = field(default=SCALES["as drawn"])

    def draw(self, rng: np.random.Generator, models: int, items: int, wordings: int) -> Array:
        """Draw a study: answers (models, items, wordings)."""
        sizes = {"model": models, "item": items, "wording": wordings}
        latent = np.zeros((models, items, wordings))
        for name, sd in self.sds.items():
            own = sizes if name == "residual" else name.split("_")
            shape = [size if factor in own else 1 for factor, size in sizes.items()]
            latent = latent + rng.normal(0, sd, shape)
        return self.scale(latent)

    def components(self) -> dict[str, float]:
        """Compute the true components of the answers, on their scale.

        A component is the variance that its factors explain together, less what fewer of them explain (Hoeffding). What
        is explained depends on the effects only by the variance of their sum.
        """
        squared = {name: self.sds.get(name, 0.0) ** 2 for name in FACTORS}
        found: dict[str, float] = {}
        for name in FACTORS:
            below = [other for other in FACTORS if name == "residual" or set(other.split("_")) <= set(name.split("_"))]
            explained = self._explained(sum(squared[other] for other in below), sum(squared.values()))
            found[name] = explained - sum(found[other] for other in below if other != name)
        return found

    def _explained(self, part: float, total: float) -> float:
        """Return the variance of the mean answer given effects whose sum has a variance."""
        normal = ndtri((np.arange(POINTS) + 0.5) / POINTS)
        known, rest = np.sqrt(part) * normal[:, None], np.sqrt(max(total - part, 0.0)) * normal
        return float(self.scale(known + rest).mean(axis=1).var())


def thinned(rng: np.random.Generator, values: Array) -> Array:
    """Take away about a third of the answers (models, items, wordings): of every model the same, of items uneven ones.

    Two answers of every item are left.
    """
    kept = rng.random(values.shape[1:]) < rng.uniform(0.4, 1, (values.shape[1], 1))
    order = np.argsort(rng.random(kept.shape), axis=1)
    np.put_along_axis(kept, order[:, :2], True, axis=1)
    return np.where(kept, values, np.nan)
