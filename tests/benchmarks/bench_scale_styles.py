"""Do planted response styles come out, do their intervals cover, and is none claimed where there is none?

    .venv/bin/python tests/benchmarks/bench_scale_styles.py --studies 2000

Simulated studies: answers with acquiescence .1, order effect .05, extreme responding .15 and wordings with an SD of
.08; and studies of three models without any. Printed are, by number of items, with own and with shared wordings: bias
as a share of what was planted, coverage of the 95 % intervals for wordings like these, and the share of studies that
claim a style.
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from analysis.measures.ratings_styles import ACQUIESCENCE, ENDS, ORDER, iterate_model_response_styles  # noqa: E402
from analysis.measures.reworded.ratings import build_study_of_unit_groups  # noqa: E402
from analysis.statistics.multiplicity import correct_families_by_holm  # noqa: E402
from helpers.scale_runs import Respondent, draw_ratings, spread_over_options  # noqa: E402

PLANTED = Respondent("planted", acquiescence=0.1, order=0.05, extreme=0.15, wording_sd=0.08, order_sd=0.02)
NEUTRAL = [Respondent(name, wording_sd=0.08, order_sd=0.02, item_sd=0.05) for name in ("a", "b", "c")]
SCORE = "score"


def simulate_planted(seed: int, *, items: int, scales: int, crossed: bool) -> pd.DataFrame:
    """Simulate a study with planted styles; return a row per style: estimate, planted, lower, upper."""
    draw = np.random.default_rng((seed, items, crossed))
    ratings = draw_ratings([PLANTED, *NEUTRAL[:2]], draw, items=items, scales=scales, crossed=crossed)
    planted = {ACQUIESCENCE: 0.1, ORDER: 0.05, ENDS: compute_planted_ends()}
    lines = [
        (style.style, style.value - style.against, planted[style.style], *style.like_ends)
        for style in iterate_model_response_styles(ratings) if style.unit[0] == PLANTED.name and style.style in planted
    ]  # fmt: skip
    study = build_study_of_unit_groups(ratings, dict(ratings.list_unit_places_by_model_and_setting()))
    panel = study.estimate_mean_and_components(0)
    lines.append((SCORE, panel.mean, 0.5, *panel.compute_interval("both")))
    return pd.DataFrame(lines, columns=["style", "estimate", "planted", "lower", "upper"])


@functools.cache
def compute_planted_ends() -> float:
    """Compute by how much the share at the ends of the planted model is above that of the others, in the population."""
    draw = np.random.default_rng(0)
    size = 400_000
    items = draw.normal(0, 0.1, size)
    order = np.where(np.arange(size) % 2 == 0, 0.5, -0.5) * (0.05 + draw.normal(0, 0.02, size))
    planted = 0.6 + items + draw.normal(0, 0.08, size) + order + draw.normal(0, 0.02, size)
    others = 0.5 + items + draw.normal(0, 0.05, size) + draw.normal(0, 0.08, size) + draw.normal(0, 0.022, size)
    ends = [spread_over_options(np.clip(s, 0.001, 0.999), 5, extreme)[:, [0, 4]].sum(axis=1).mean()
            for s, extreme in ((planted, 0.15), (others, 0.0))]  # fmt: skip
    return float(ends[0] - ends[1])


def simulate_neutral(seed: int, *, items: int, scales: int, crossed: bool) -> bool:
    """Simulate a study without a style; return whether one is claimed."""
    draw = np.random.default_rng((seed, items, crossed))
    ratings = draw_ratings(NEUTRAL, draw, items=items, scales=scales, crossed=crossed, labels=("numbers", "words"))
    frame = pd.DataFrame({"study": "s", "p": [style.p for style in iterate_model_response_styles(ratings)]})
    return bool((correct_families_by_holm(frame, ["study"]) < 0.05).any())


def summarize(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return bias, as a share of what was planted, its standard error, and coverage, by style; NaN without interval."""
    rows = pd.concat(parts)
    is_covered = rows["lower"].le(rows["planted"]) & rows["upper"].ge(rows["planted"])
    rows["covered"] = is_covered.astype(float).where(rows["lower"].notna())
    groups = rows.groupby("style", sort=False)
    planted = groups["planted"].first()
    return pd.DataFrame({
        "bias": groups["estimate"].mean() / planted - 1,
        "bias_error": groups["estimate"].sem() / planted.abs(),
        "coverage": groups["covered"].mean(),
    })  # fmt: skip


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=500)
    args = parser.parse_args()
    for crossed in (False, True):
        for items, scales in ((10, 1), (24, 2), (60, 3)):
            design = {"items": items, "scales": scales, "crossed": crossed}
            table = summarize([simulate_planted(seed, **design) for seed in range(args.studies)])
            claimed = np.mean([simulate_neutral(seed, **design) for seed in range(args.studies)])
            about = "shared" if crossed else "of each item"
            print(f"\n{items} items, wordings {about}; claimed without one: {claimed:.3f}")
            print(table.round(3).to_string())


if __name__ == "__main__":
    main()
