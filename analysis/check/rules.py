"""What a rules file asks of a run, as dataclasses."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ground.errors import InputError, shorten_to_one_line

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

    def is_about_unit(self, study: str, model: str, condition: str) -> bool:
        """Tell whether the rule is about a model and condition of a study."""
        return (
            self.study in ("", study)
            and (not self.models or model in self.models)
            and (not self.conditions or condition in self.conditions)
        )

    def choose_margin_of_measure(self, measure: str, *, has_range: bool) -> float:
        """Choose the margin of a rule "not worse", in the unit in which answers by the measure are compared.

        Parameters
        ----------
        measure
            Its name.
        has_range
            Whether answers are shares of a range.

        Returns
        -------
        float
            `DEFAULT_MARGIN` where the rule has none.

        Raises
        ------
        InputError
            The measure has no range and the rule no margin, or the margin is all of the range: nothing can be worse.
        """
        rule = f"rule {shorten_to_one_line(repr(self.name))}"
        if has_range and self.margin >= 1:
            raise InputError(
                f"{rule}: {measure} counts as a share of its range, 0 to 1: by {self.margin:g} is no margin; "
                "write one such as 0.02"
            )
        if math.isnan(self.margin) and not has_range:
            raise InputError(
                f"{rule}: measure {measure} has no range, so say how much worse counts: not worse by 0.5 in {measure}"
            )
        return DEFAULT_MARGIN if math.isnan(self.margin) else self.margin


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
