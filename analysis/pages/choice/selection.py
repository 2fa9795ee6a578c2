"""Tell about which questions a judge is right in some wordings only (Choi, sections 2 and 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from analysis.pages.choice.measures import accuracies, perfect
from analysis.runs.choices import Choices
from analysis.statistics.resampling import Array
from ground.errors import InputError, nearest, short

INCONSISTENT = "inconsistent confidence"
CONFIDENT, UNCONFIDENT = "consistently confident", "consistently unconfident"
CLASSES = (CONFIDENT, INCONSISTENT, UNCONFIDENT)
"""Perfectly correct, which is right in every order of the options: in all wordings, in some, in none."""


@dataclass(frozen=True)
class Judged:
    """Hold what one judge got right, in arrays of questions and wordings.

    Attributes
    ----------
    model, condition
        The judge.
    items, subsets
        Of the questions.
    wordings
        Patterns, the original first.
    accuracy
        Share of the orders in which a wording is answered rightly.
    """

    model: str
    condition: str
    items: Sequence[str]
    subsets: npt.NDArray[np.object_]
    wordings: tuple[str, ...]
    accuracy: Array

    @property
    def perfect(self) -> npt.NDArray[np.bool_]:
        """Return whether a wording is answered rightly in all orders (equation 1)."""
        return perfect(self.accuracy) == 1

    @property
    def classes(self) -> list[str]:
        """Return the class of every question."""
        right = self.perfect.sum(axis=1)
        return [CONFIDENT if n == len(self.wordings) else INCONSISTENT if n else UNCONFIDENT for n in right]


def judged(found: Choices, model: str = "", condition: str = "") -> Judged:
    """Take one judge of a study.

    Parameters
    ----------
    found
        A study.
    model, condition
        Which of them; empty where there is only one.

    Returns
    -------
    Judged
        What this judge got right.

    Raises
    ------
    InputError
        There are several judges, or none of that name; there is only one wording; a question lacks a wording, or was
        not asked.
    """
    known = [unit for unit in found.units if (model or unit[0]) == unit[0] and (condition or unit[1]) == unit[1]]
    listed = short("; ".join(f"{one} under {other}" for one, other in found.units), 400)
    if not known:
        name, there = (model, 0) if model and model not in {unit[0] for unit in found.units} else (condition, 1)
        raise InputError(
            f"study {found.study!r} has no {name!r}{nearest(name, {unit[there] for unit in found.units})}; it has "
            f"{listed}"
        )
    if len(known) > 1:
        raise InputError(f"study {found.study!r} has several judges, so name one by --model and --condition: {listed}")
    if len(found.wordings) < 2:
        raise InputError(
            f"study {found.study!r} has one wording ({found.wordings[0]!r}) of its questions, so none can be right in "
            "some wordings only; ask in several"
        )
    unit = found.units.index(known[0])
    accuracy = accuracies(found.chosen[..., [unit]], found.gold)[..., 0]
    for item, wording in np.argwhere(np.isnan(accuracy))[:1]:
        raise InputError(
            f"study {found.study!r}: question {found.items[item]!r} has no answer in wording "
            f"{found.wordings[wording]!r}, in no order; run it again, or ask in all wordings, then select"
        )
    return Judged(*known[0], list(map(str, found.items)), found.subsets, found.wordings, accuracy)


def records(found: Judged) -> list[dict[str, Any]]:
    """Make the lines of the list that `choice build` reads: every question, selected or not."""
    return [
        {
            "item": item,
            "perfectly_correct": dict(zip(found.wordings, map(bool, flags), strict=True)),
            "class": name,
            "judge": found.model,
            "condition": found.condition,
        }
        for item, flags, name in zip(found.items, found.perfect, found.classes, strict=True)
    ]


def summary(found: Judged) -> dict[str, Any]:
    """Count the classes, and the judge's accuracy by wording (Choi, Table 8), over all questions and per subset."""
    subsets = [str(name) for name in dict.fromkeys(found.subsets)]
    parts = {name: found.subsets == name for name in subsets}
    return {
        "judge": found.model,
        "condition": found.condition,
        **_counted(found, np.full(len(found.items), True)),
        "subsets": {name: _counted(found, rows) for name, rows in parts.items()},
    }


def _counted(found: Judged, rows: npt.NDArray[np.bool_]) -> dict[str, Any]:
    named = [name for name, wanted in zip(found.classes, rows, strict=True) if wanted]
    means = {"accuracy": found.accuracy[rows].mean(axis=0), "perfectly_correct": found.perfect[rows].mean(axis=0)}
    return {
        "n_questions": len(named),
        **{name: named.count(name) for name in CLASSES},
        **{measure: dict(zip(found.wordings, map(float, mean), strict=True)) for measure, mean in means.items()},
    }
