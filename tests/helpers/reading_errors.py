"""Simulates a study whose answers are read in several ways, one of which misreads some texts; knows the truth, too."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from analysis.statistics.readings import moments

PROBABILITY, LENIENT, JUDGE, THOUGHT = "probability", "lenient", "judge j", "thought"
READINGS = (PROBABILITY, LENIENT, JUDGE, THOUGHT)
SOURCES = {PROBABILITY: PROBABILITY, LENIENT: "text", JUDGE: "text", THOUGHT: THOUGHT}


@dataclass(frozen=True)
class Simulated:
    """A study: its readings, what they read, values (R, items, wordings), noise (R, R, items, wordings).

    `truth` is the true share of the lenient reading's wording variance that is due to the reading. `texts` holds what
    every text says, `read` what the lenient rule reads: 1 or 0 (items, wordings, texts).
    """

    readings: tuple[str, ...]
    sources: list[str]
    values: np.ndarray
    noise: np.ndarray
    truth: float
    texts: np.ndarray
    read: np.ndarray
    temperature: float = 1.0


def squash(logit):
    return 1 / (1 + np.exp(-logit))


def draw_errors(rng, shape, error, uneven):
    """Share of texts that are misread, by wording: the same everywhere, or 0 to three times as many."""
    return error * rng.choice([0.0, 0.5, 3.0], shape, p=[0.5, 0.2, 0.3]) if uneven else np.full(shape, error)


def simulate_study(
    rng, *, items=40, wordings=10, texts=10, error=0.0, uneven=False, temperature=1.0, readings=READINGS, spread=1.0,
    judge_error=0.03,
) -> Simulated:  # fmt: skip
    """Draw a study. Without `error`, nothing is due to reading: texts, judge and thoughts follow the probability."""
    logit = rng.normal(0, 1.2, (items, 1)) + rng.normal(0, spread, (items, wordings))
    misread = draw_errors(rng, logit.shape, error, uneven)
    said = rng.random((items, wordings, texts)) < squash(logit / temperature)[..., None]
    read = said ^ (rng.random(said.shape) < misread[..., None])
    judged = np.where(said ^ (rng.random(said.shape) < judge_error), 0.9, 0.1)
    thoughts = squash(logit[..., None] + rng.normal(0, 0.8, said.shape))
    samples = {LENIENT: read.astype(float), JUDGE: judged, THOUGHT: thoughts}
    shares, influences = {PROBABILITY: squash(logit)}, {}
    for name, drawn in samples.items():
        flat = drawn.reshape(-1, texts)
        share, influences[name] = moments.average_samples_and_compute_influences(flat, np.ones_like(flat))
        shares[name] = share.reshape(logit.shape)
    noise = np.zeros((len(readings), len(readings), items, wordings))
    for a, first in enumerate(readings):
        for b, second in enumerate(readings):
            if first in influences and second in influences and SOURCES[first] == SOURCES[second]:
                covariance = moments.compute_noise_covariance(influences[first], influences[second])
                noise[a, b] = covariance.reshape(logit.shape)
    return Simulated(
        tuple(readings), [SOURCES[name] for name in readings], np.stack([shares[name] for name in readings]), noise,
        compute_true_share(error, uneven, temperature, spread), said.astype(float), read.astype(float),
        temperature,
    )  # fmt: skip


def build_group(study: Simulated, model="m", setting="plain"):
    """Make the group of readings that a run with this study would have."""
    import pandas as pd

    from analysis.measures.readings import ReadingGroup, ReadingKind

    n_readings, items, wordings = study.values.shape
    kinds = [
        ReadingKind(
            name,
            name,
            "probability" if name == PROBABILITY else "sample_answer",
            source,
            study.temperature if source == "text" else 1.0,
        )
        for name, source in zip(study.readings, study.sources, strict=True)
    ]
    samples = {place: (study.texts, study.texts) for place, source in enumerate(study.sources) if source == "text"}
    return ReadingGroup(
        "s", model, setting, "agreement", kinds, [f"i{place}" for place in range(items)], pd.DataFrame(), study.values,
        np.ones_like(study.values), study.noise, np.full((items, wordings), np.nan), samples,
        np.full(n_readings, np.nan), np.zeros(n_readings), np.zeros(n_readings),
    )  # fmt: skip


@functools.cache
def compute_true_share(error, uneven, temperature=1.0, spread=1.0, size=4000) -> float:
    """Compute from very many items which share of the wording variance of the misread texts is due to misreading."""
    rng = np.random.default_rng(12345)
    logit = rng.normal(0, 1.2, (size, 1)) + rng.normal(0, spread, (size, 60))
    true = squash(logit / temperature)
    misread = draw_errors(rng, logit.shape, error, uneven)
    mean = true + misread * (1 - 2 * true)
    a, b = (part - part.mean(axis=1, keepdims=True) for part in (mean, true))
    return float(1 - (a * b).sum() ** 2 / ((a * a).sum() * (b * b).sum()))
