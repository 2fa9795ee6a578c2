"""Score the demo models on three benchmarks of their world: `PYTHONPATH=tests python -m demo_training.benchmarks`.

It writes `benchmarks.csv`, in the format that `waver report -p scores=FILE` reads. The exercises are those behind the
card's table, in held-out wordings.
"""

from __future__ import annotations

import argparse
import csv

from demo_training.corpus import Corpus
from demo_training.evaluate import EXERCISES, Student, draw_examination
from demo_training.taught_world import TaughtWorld
from inference.demo import DEMO, FAMILY

FILE = DEMO / "benchmarks.csv"
BENCHMARKS = {"facts": "question", "reading": "pair", "choices": "choice of 5"}
"""Benchmark -> column of the card: yes/no questions, what follows from a sentence, multiple choice."""
HEADER = ("model", "parameters", *BENCHMARKS)


def score_benchmarks(name: str, world: TaughtWorld, count: int = EXERCISES) -> dict[str, str]:
    """Ask one model every benchmark.

    Parameters
    ----------
    name
        A model of `FAMILY`.
    world
        The world that the exercises are about.
    count
        Exercises per benchmark.

    Returns
    -------
    The columns of `HEADER`: the model, its number of weights, and the per cent of exercises that are right.
    """
    student = Student(name, Corpus(world))
    share_by_benchmark = {
        benchmark: student.compute_accuracy(draw_examination(world, kind, "heldout", count))
        for benchmark, kind in BENCHMARKS.items()
    }
    scores = {benchmark: f"{100 * share:.1f}" for benchmark, share in share_by_benchmark.items()}
    return {"model": name, "parameters": str(FAMILY[name].parameters), **scores}


def main() -> None:
    """Score every model that answers all kinds of exercise."""
    argparse.ArgumentParser(
        prog="python -m demo_training.benchmarks", description="Score the demo models and write benchmarks.csv."
    ).parse_args()
    world = TaughtWorld()
    rows = [score_benchmarks(name, world) for name, about in FAMILY.items() if about.family == "causal"]
    with FILE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, HEADER, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
