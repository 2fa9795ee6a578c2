"""How often `waver check` is wrong, and whether it finds what `waver plan --check` foresaw.

Simulated are models that are asked about the same items in fresh wordings each time: at temperature 0, where an answer
is one of two, and with answers that are shares of 10 samples. *Alarms*: nothing changed, and the limits of numbers are
the true ones, the worst place that they may have; a check is wrong where any rule is broken. Of 50 checks against one
baseline, `looks = 50` pays for all. *Power*: something changed, and the power that the planning foresees from a pilot
of the same model is held against the share of checks that find it.

    .venv/bin/python tests/benchmarks/bench_check_alarms.py --studies 2000 --years 200     # 15 minutes

Exit status 1 where alarms are more than .05 and two standard errors, or a power is off by more than .05 and two.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from analysis.check.numbers import test_mean_number, test_share_number  # noqa: E402
from analysis.check.outcomes import BROKEN, HOLDS, LEVEL, Outcome, decide_outcomes  # noqa: E402
from analysis.check.panel_tests import test_panel_not_worse  # noqa: E402
from analysis.check.planning.aims import PilotUnit  # noqa: E402
from analysis.check.planning.answers import list_same_answer_aims  # noqa: E402
from analysis.check.planning.changes import list_change_aims  # noqa: E402
from analysis.check.planning.numbers import list_number_aims  # noqa: E402
from analysis.check.rules import LIKE_THESE, NOT_WORSE, NUMBER, SAME_ANSWERS, Rule  # noqa: E402
from analysis.compare.measures import FLIPS, _mark_flips  # noqa: E402
from analysis.measures.reworded import ACCURACY, AGREEMENT, Study  # noqa: E402

SIZES = (30, 100, 300)
WORDINGS, SAMPLES, LOOKS = 5, 10, 50
KINDS = ("temperature 0", "sampled")
PILOT = 1000  # items: the pilot is not what is tried here


@dataclass(frozen=True, slots=True)
class Model:
    """A model's chances of every item: of a right answer, and the levels of its scores."""

    right: np.ndarray
    score: np.ndarray
    option: np.ndarray  # (items, options)


def draw_model(draw: np.random.Generator, items: int) -> Model:
    """Draw items: most are easy, some are hard, and a score is low for many."""
    return Model(draw.beta(1.5, 0.5, items), draw.beta(0.8, 2, items), draw.dirichlet([1.2, 0.5, 0.3, 0.3], items))


def ask(draw: np.random.Generator, model: Model, kind: str) -> dict[str, np.ndarray]:
    """Answer every item in fresh wordings: agreement, accuracy, scores with many zeros, options."""
    shape = (len(model.right), WORDINGS)
    if kind == KINDS[0]:
        agreement = (draw.random(shape) < model.right[:, None]).astype(float)
    else:
        chances = draw.beta(2 * model.right[:, None] + 0.01, 2 * (1 - model.right[:, None]) + 0.01, shape)
        agreement = draw.binomial(SAMPLES, chances) / SAMPLES
    score = np.clip(model.score[:, None] + draw.normal(0, 0.1, shape), 0, 1)
    score = np.where(draw.random(shape) < 0.3, 0.0, score)
    options = (draw.random(shape)[..., None] > np.cumsum(model.option, axis=1)[:, None, :-1]).sum(axis=-1)
    return {AGREEMENT: agreement, ACCURACY: (agreement >= 0.5).astype(float), "score": score, "option": options}
