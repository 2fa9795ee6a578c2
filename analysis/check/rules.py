"""What a rules file asks of a run, as dataclasses."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NUMBER, NOT_WORSE, SAME_ANSWERS, RANKING, KURTOSIS = (
    "number", "not worse", "same answers", "ranking", "kurtosis",
)  # fmt: skip
THESE, LIKE_THESE = "these", "like these"  # wordings that a rule is about
PASS, FAIL = "pass", "fail"  # what a rule that cannot be told does to the exit status
DEFAULT_MARGIN = 0.02  # of the range of a measure


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a rules file.

    Attributes
    ----------
    text : str
        As the file has it: "stability.flip_10 <= 0.20", "not worse by 0.02 in accuracy".
    name : str
        Of the file, else the text.
    kind : str
        `NUMBER`, `NOT_WORSE`, `SAME_ANSWERS`, `RANKING` or `KURTOSIS`.
    target : str
        `NUMBER`: "table.column", or a measure such as "validity"; `NOT_WORSE`, `KURTOSIS`: a measure.
    at_least, at_most : float
        The limit of `NUMBER`, one of both; `at_least` is also the share of items of `SAME_ANSWERS`. NaN: none.
    margin : float
        `NOT_WORSE`: how much worse counts as none, as a share of the range of the measure, or in its unit if it has no
        range. Without "by X" it is NaN, and stands for `DEFAULT_MARGIN`; a measure without a range needs a margin.
    wordings : str
        `THESE` or `LIKE_THESE`.
    cannot_tell : str
        `PASS` or `FAIL`.
    models, conditions : tuple of str
        Only these; empty: all.
    study : str
        Only this one; "": all.
    parameters : mapping
        Options of the table, as `waver table -p` takes them.
    """

    text: str
    name: str
    kind: str
    target: str = ""
    at_least: float = math.nan
    at_most: float = math.nan
    margin: float = math.nan
    wordings: str = THESE
    cannot_tell: str = PASS
    models: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    study: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rules:
    """All rules of a file.

    Attributes
    ----------
    path : Path
        The file.
    rules : tuple of Rule
        In the file's order.
    looks : int
        How often this check is made before the baseline is renewed: the level is spent evenly over them.
    """

    path: Path
    rules: tuple[Rule, ...]
    looks: int = 1
