"""False alarms and changes noticed on one stream of fresh wordings: of Waver, and of a G-test per question.

The stream is real: waver-demo-large is asked the 34 statements of its questionnaire in 65 wordings each. Every week,
each statement is asked ten times, and for a year of 50 weeks nothing changes. In other years, another model stands
under the same name from a week on: waver-demo-medium.

The G-test is that of driftline (0.1, MIT), by its documentation: answers to each question are counted, and each is
tested against the baseline's (likelihood ratio, chi-squared); Benjamini-Hochberg over questions at .05; and no change of
a distribution below .15 (total variation) is one. driftline itself is in no registry that this was written with, so
`find_drifted_questions` is the rule alone, without its store, its server's names of models, and its control chart, which
raises no alarm. A question has one prompt there, which may not change; so there are two ways to use it with wordings:

- *one wording*: a week's wording of a question, ten times, as behind a gateway that rewords, or a template with a date;
- *ten wordings*: each once, counted together.

    .venv/bin/python tests/benchmarks/bench_driftline.py
    .venv/bin/python tests/benchmarks/bench_driftline.py --years 400
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.special import xlogy
from scipy.stats import chi2, false_discovery_control

sys.path.insert(0, str(Path(__file__).parents[2]))

from analysis.reporting.catalogue.rewordings import read_reworded_studies
from analysis.runs import open_runs
from inference.__main__ import main as ask

MODELS = Path(__file__).parents[2] / "inference" / "demo" / "models"
BEFORE, AFTER = "waver-demo-large", "waver-demo-medium"
ASKED, WEEKS, CHANGED = 10, 50, 20  # answers to a question each week; weeks; the week with another model
RATE, LEAST = 0.05, 0.15  # driftline's default rate of false discoveries, and least total variation
Array = npt.NDArray[np.float64]


def ask_models(folder: Path) -> dict[str, Array]:
    """Ask both models; the probability of agreement of each (items, wordings)."""
    names = [str(MODELS / name) for name in (BEFORE, AFTER)]
    if ask(["run", "agreement", "--items", "demo", "--model", *names, "--dtype", "float32", "--out", str(folder)]):
        sys.exit("the demo models were not asked")
    study = next(study for study in read_reworded_studies(open_runs(folder)) if study.measure == "agreement")
    return {model: values for (model, _), values in zip(study.units, study.values, strict=True)}


def draw_week(draw: np.random.Generator, probabilities: Array, *, one_wording: bool, sampled: bool) -> Array:
    """Ask every statement in fresh wordings: answers of 0 or 1 (items, ASKED)."""
    order = draw.random(probabilities.shape)
    order[np.isnan(probabilities)] = 2.0  # an answer that cannot be read is not asked for again
    places = np.argsort(order, axis=1)[:, : 1 if one_wording else ASKED]
    drawn = np.repeat(np.take_along_axis(probabilities, places, axis=1), ASKED if one_wording else 1, axis=1)
    return (draw.random(drawn.shape) < drawn if sampled else drawn >= 0.5).astype(float)


def find_drifted_questions(before: Array, now: Array) -> npt.NDArray[np.bool_]:
    """Tell which questions drifted by driftline's rule, from answers of 0 or 1 (items, answers)."""
    counts = np.stack(
        [np.stack([(answers == kind).sum(axis=1) for kind in (0, 1)], axis=1) for answers in (before, now)]
    )
    shares = counts / counts.sum(axis=2, keepdims=True)
    expected = counts.sum(axis=0) * (counts.sum(axis=2) / counts.sum(axis=(0, 2)))[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        g = 2 * np.where(counts > 0, xlogy(counts, counts / expected), 0.0).sum(axis=(0, 2))
    is_tested = (counts.sum(axis=0) > 0).all(axis=1)  # both answers were given, before or now
    drifted = np.zeros(len(before), bool)
    if is_tested.any():
        drifted[is_tested] = false_discovery_control(chi2.sf(g[is_tested], 1)) <= RATE
    return drifted & (np.abs(shares[0] - shares[1]).sum(axis=1) / 2 >= LEAST)


def simulate_year(draw: np.random.Generator, models: dict[str, Array], changed: int, *, one_wording: bool, sampled: bool
                  ) -> list[Array]:  # fmt: skip
    """Ask every week, the first one for the baseline; from week `changed` on, the other model answers."""
    return [
        draw_week(draw, models[AFTER if week >= changed else BEFORE], one_wording=one_wording, sampled=sampled)
        for week in range(WEEKS + 1)
    ]


def find_first(alarms: Iterator[bool]) -> int:
    """Return the place of the first alarm; WEEKS + 1 without one."""
    return next((week for week, is_alarm in enumerate(alarms, start=1) if is_alarm), WEEKS + 1)
