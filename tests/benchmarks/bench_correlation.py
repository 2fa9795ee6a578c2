"""How long the correlations of a whole leaderboard take.

    python tests/benchmarks/bench_correlation.py ../shared/data/open-llm-leaderboard/huggingface_v2.csv

4,576 models, 7 columns, both methods: reading 0.1 s, all pairs 0.4 s (2 cores, 2026).
"""

from __future__ import annotations

import sys
import time

from analysis.pages.benchmarks import leaderboards
from analysis.statistics import correlation

if __name__ == "__main__":
    started = time.perf_counter()
    scores = leaderboards.read_benchmark_scores(sys.argv[1])
    read = time.perf_counter()
    table = correlation.correlate_all_column_pairs(scores.frame)
    done = time.perf_counter()
    print(
        f"{len(scores.frame):,} models, {len(table)} coefficients: read {read - started:.2f} s, all {done - read:.2f} s"
    )
