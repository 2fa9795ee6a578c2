"""Compare a model's verdicts on negations with those of people: precision, recall and F1 of the filter."""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from dataclasses import dataclass
from pathlib import Path

from ground.errors import InputError, shorten_text
from inference.stimuli.reading.records import Records

COLUMNS = ("source", "text", "acceptable")
VERDICTS = {"yes": True, "no": False}
Pair = tuple[str, str]
"""A sentence and a negation of it."""


@dataclass(frozen=True, slots=True)
class FilterScores:
    """How well a filter finds what people call unacceptable: that is the positive class (appendix A.2).

    Attributes
    ----------
    n
        Negations that people judged.
    unacceptable
        How many of these they call unacceptable.
    left_out
        How many of the n the filter leaves out.
    rightly_left_out
        How many of the n both do.
    """

    n: int
    unacceptable: int
    left_out: int
    rightly_left_out: int

    def __str__(self) -> str:
        measures = {"precision": self.precision, "recall": self.recall, "F1": self.f1}
        measure_words = ", ".join(f"{name} {value:.3f}" for name, value in measures.items() if not math.isnan(value))
        undefined = [name for name, value in measures.items() if math.isnan(value)]
        return (
            f"{self.n:,} judgements of people, {self.unacceptable:,} of them unacceptable; the model leaves out "
            f"{self.left_out:,} of the same, {self.rightly_left_out:,} rightly: {measure_words or 'nothing to measure'}"
            + (f" (undefined: {', '.join(undefined)})" if undefined else "")
        )

    @property
    def precision(self) -> float:
        """Share of what the filter leaves out that people call unacceptable; NaN where it leaves out nothing."""
        return self.rightly_left_out / self.left_out if self.left_out else math.nan

    @property
    def recall(self) -> float:
        """Share of what people call unacceptable that the filter leaves out; NaN where they call nothing so."""
        return self.rightly_left_out / self.unacceptable if self.unacceptable else math.nan

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, 2TP / (2TP + FP + FN); NaN where neither calls anything so."""
        total = self.left_out + self.unacceptable
        return 2 * self.rightly_left_out / total if total else math.nan


def read_people_verdicts(path: Path, known_pairs: Set[Pair]) -> dict[Pair, bool]:
    """Read what people judged: a table with source, text and acceptable (yes or no).

    Parameters
    ----------
    path
        The table.
    known_pairs
        The negations that can be judged.

    Returns
    -------
    (sentence, negation) -> whether people call it acceptable.

    Raises
    ------
    InputError
        A column is missing, a verdict is neither yes nor no, a negation was not made or is judged twice.
    """
    verdict_by_pair: dict[Pair, bool] = {}
    for place, record in Records(path, COLUMNS):
        pair = (record["source"] or "").strip(), (record["text"] or "").strip()
        verdict = VERDICTS.get((record["acceptable"] or "").strip().lower())
        if verdict is None:
            raise InputError(
                f"{path}, {place}: acceptable is '{shorten_text(record['acceptable'] or '', 20)}'; write yes or no"
            )
        if pair not in known_pairs:
            raise InputError(
                f"{path}, {place}: '{shorten_text(pair[1])}' is no negation of this file; judge rows of its --out"
            )
        if pair in verdict_by_pair:
            raise InputError(f"{path}, {place}: '{shorten_text(pair[1])}' is judged twice; keep one row")
        verdict_by_pair[pair] = verdict
    return verdict_by_pair


def score_filter_against_people(accepted: Set[Pair], verdict_by_pair: Mapping[Pair, bool]) -> FilterScores:
    """Compare a filter with people.

    Parameters
    ----------
    accepted
        The negations that the filter keeps.
    verdict_by_pair
        What people judged, each one acceptable or not.

    Returns
    -------
    The counts of which precision, recall and F1 are made, over the negations that people judged.
    """
    return FilterScores(
        n=len(verdict_by_pair),
        unacceptable=sum(not acceptable for acceptable in verdict_by_pair.values()),
        left_out=sum(pair not in accepted for pair in verdict_by_pair),
        rightly_left_out=sum(not acceptable and pair not in accepted for pair, acceptable in verdict_by_pair.items()),
    )
