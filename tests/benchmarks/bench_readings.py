"""Simulate errors of reading: is what is due to them recovered, and is an artefact seldom named where there is none?

    .venv/bin/python tests/benchmarks/bench_readings.py --studies 500 --draws 1000

The first table has the true and the estimated share of the wording variance of texts read with errors: by other
readings (probability, thoughts, a judge of the same texts), and by people who read some of the texts. The second has
the share of studies of three models in which the page names an artefact: without errors, at several temperatures,
numbers of items and sizes of the wording effect; and with errors.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]

from analysis.pages.readings.narrative import describe_readings_with_artefacts  # noqa: E402
from analysis.pages.readings.tables import build_table_of_readings_in_groups  # noqa: E402
from analysis.statistics.readings import moments, people, sharing  # noqa: E402
from helpers import reading_errors  # noqa: E402

ERRORS = [(0.0, False), (0.05, False), (0.15, False), (0.05, True), (0.15, True)]
SETTINGS = [
    {}, {"items": 12}, {"items": 12, "texts": 4, "wordings": 5}, {"temperature": 0.7}, {"temperature": 0.5},
    {"temperature": 0.3}, {"temperature": 0.2}, {"spread": 0.3}, {"items": 100}, {"error": 0.05}, {"error": 0.15},
    {"error": 0.05, "uneven": True},
    {"error": 0.15, "uneven": True},
]  # fmt: skip


def recover_shares(studies: int, seed: int) -> pd.DataFrame:
    """Estimate the share that is due to reading in many studies, by readings and by people who read 4 or all texts."""
    rows = []
    for error, uneven in ERRORS:
        rng = np.random.default_rng(seed)
        estimates: dict[str, list[float]] = {"readings": [], "4 of 10 texts": [], "all texts": []}
        for _ in range(studies):
            study = reading_errors.simulate_study(rng, error=error, uneven=uneven)
            item_moments = moments.compute_moment_sums_by_item(study.values, study.noise)
            place = study.readings.index(reading_errors.LENIENT)
            figure = sharing.estimate_own_variance_share_of_one_reading(
                item_moments, place, study.sources, draws=0
            ).figure
            estimates["readings"].append(float(figure.estimate[0]) if figure else np.nan)
            for name, number in (("4 of 10 texts", 4), ("all texts", study.texts.shape[2])):
                has_people = rng.random(study.texts.shape).argsort(axis=2) < number
                corrected = people.correct_reading_by_people(
                    study.read, np.ones_like(study.read), study.texts, has_people, draws=0
                )
                estimates[name].append(float(corrected.figures["own"].estimate[0]))
        rows += [
            {"error": error, "uneven": uneven, "by": name, "true": study.truth, "mean": np.nanmean(values),
             "sd": np.nanstd(values)}
            for name, values in estimates.items()
        ]  # fmt: skip
    return pd.DataFrame(rows)


def count_claims(studies: int, draws: int, seed: int, setting: dict) -> float:
    """Return the share of studies of three models whose page names an artefact."""
    rng = np.random.default_rng(seed)
    claims = 0
    for number in range(studies):
        groups = [reading_errors.build_group(reading_errors.simulate_study(rng, **setting), model) for model in "abc"]
        claims += "artefact of" in describe_readings_with_artefacts(
            build_table_of_readings_in_groups(groups, pd.DataFrame(), draws, number)
        )
    return claims / studies


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    started = time.monotonic()
    print(recover_shares(options.studies, options.seed).round(3).to_string(index=False), flush=True)
    for setting in SETTINGS:
        print(f"{count_claims(options.studies, options.draws, options.seed, setting):.3f}  {setting}", flush=True)
    print(f"{time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
