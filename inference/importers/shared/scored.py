"""Write studies of scores: protocol `scored`, in which every response has a number by one measure or several.

Every measure is a condition of its own, named "SETTING/MEASURE": its fields are those of the setting, and `measure`,
`range` and `direction` (results/schema.json). Conditions that differ in the measure alone score the same responses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ground.errors import InputError, format_nearest_name_hint, shorten_to_one_line
from inference.importers.shared.saving import IMPORT_CONDITION

if TYPE_CHECKING:
    import pyarrow as pa

PROTOCOL = "scored"
ENDS = ("lowest", "highest")  # labels of the options of every variant, as of protocol scoring
HIGHER, LOWER = "higher", "lower"
DECISION_RULE = "none: a response has a score by the measure of its condition"
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_RANGE = re.compile(rf"({_NUMBER})-({_NUMBER})", re.ASCII)


@dataclass(frozen=True, slots=True)
class ScoreMeasure:
    """Hold what is known of a measure.

    Attributes
    ----------
    name
        Its name, as `F1`.
    range
        Lowest and highest score; None: scores have no bounds.
    direction
        Which scores are better, `HIGHER` or `LOWER`.
    """

    name: str
    range: tuple[float, float] | None = None
    direction: str = HIGHER

    @property
    def fields(self) -> dict[str, Any]:
        """Return the fields of its conditions that are about it; whole ends of a range are written as such."""
        ends = self.range and [int(end) if float(end).is_integer() else end for end in self.range]
        return {"measure": self.name, "range": ends, "direction": self.direction}

    def name_condition(self, setting: str) -> str:
        """Name the condition of this measure in a setting; the measure alone where the setting has no name.

        >>> ScoreMeasure("F1").name_condition("few shots"), ScoreMeasure("F1").name_condition("import")
        ('few shots/F1', 'F1')
        """
        return self.name if setting == IMPORT_CONDITION else f"{setting}/{self.name}"

    def find_index_of_score_outside_range(self, scores: np.ndarray) -> int | None:
        """Return the place of the first score outside the range; None where all are within, or there is no range."""
        if self.range is None:
            return None
        is_outside = (scores < self.range[0]) | (scores > self.range[1])
        return int(np.argmax(is_outside)) if is_outside.any() else None


def name_and_record_measure_condition(
    conditions: dict[str, dict[str, Any]],
    measure: str,
    setting: str,
    fields: Mapping[str, Any],
    where: Path,
    advice: str = "",
) -> str:
    """Name the condition of a measure in a setting, and record it; refuse one name for two measures.

    Parameters
    ----------
    conditions
        condition name -> fields with `measure`; filled here.
    measure
        Name of the measure.
    setting, fields
        Name and fields of the setting.
    where, advice
        The file, and what to do, for the message.

    Returns
    -------
    The name of the condition.

    Raises
    ------
    InputError
        Two measures would have one name.
    """
    condition = ScoreMeasure(measure).name_condition(setting)
    if conditions.setdefault(condition, {**fields, "measure": measure})["measure"] != measure:
        raise InputError(f"{where}: two scores would both be called '{condition}'{advice}")
    return condition


def parse_score_measures_of_call(
    names: Sequence[str], range_texts: Sequence[str], lower_is_better: Sequence[str], where: str
) -> list[ScoreMeasure]:
    """Put together what a call says about measures.

    Parameters
    ----------
    names
        Of the measures.
    range_texts
        "0-1", for all measures that no other one names; or "F1=0-1".
    lower_is_better
        Names of measures of which lower scores are better.
    where
        The command, for messages.

    Returns
    -------
    The measures, in the order of their names.

    Raises
    ------
    InputError
        For a name that comes twice or is not there, or a range that is none.
    """
    for place, name in enumerate(names):
        if name in names[:place]:
            raise InputError(f"{where}: two scores are called '{name}'; give each measure once, or rename one")
    range_by_name: dict[str, tuple[float, float]] = {}
    for text in range_texts:
        name, equals, ends = text.rpartition("=")
        if equals and name not in names:
            raise _build_error_of_unknown_measure(f"{where}, --score-range {text}", name, names)
        if name in range_by_name:
            about = f"measure '{name}'" if name else "all measures"
            raise InputError(f"{where}, --score-range {text}: there is another range for {about}; give one")
        range_by_name[name] = parse_score_range(ends, f"{where}, --score-range {text}")
    for name in lower_is_better:
        if name not in names:
            raise _build_error_of_unknown_measure(f"{where}, --lower-is-better {name}", name, names)
    return [
        ScoreMeasure(
            name,
            range_by_name.get(name, range_by_name.get("")),
            LOWER if name in lower_is_better else HIGHER,
        )
        for name in names
    ]


def _build_error_of_unknown_measure(where: str, name: str, names: Sequence[str]) -> InputError:
    """Say that no measure has a name."""
    return InputError(
        f"{where}: there is no score called {shorten_to_one_line(repr(name))}{format_nearest_name_hint(name, names)}; "
        f"the scores are {', '.join(names)}"
    )


def parse_score_range(text: str, where: str) -> tuple[float, float]:
    """Read "LOWEST-HIGHEST".

    Parameters
    ----------
    text
        Two numbers with a hyphen between them.
    where
        What it is, for messages.

    Returns
    -------
    The two numbers.

    Raises
    ------
    InputError
        For anything else, and where the lower number is not the first.

    >>> parse_score_range("-1-1", ""), parse_score_range("0-.5", ""), parse_score_range("-10--5", "")
    ((-1.0, 1.0), (0.0, 0.5), (-10.0, -5.0))
    """
    match = _RANGE.fullmatch(text.strip())
    low, high = (float(match[1]), float(match[2])) if match else (0.0, 0.0)
    if match is None or not low < high or not np.isfinite(high - low):
        raise InputError(f"{where}: give two numbers with a hyphen between them, the lower one first, such as 0-1")
    return low, high


def build_score_columns(scores: np.ndarray, of: np.ndarray, n_responses: int, error: str) -> dict[str, pa.Array]:
    """Make the columns of responses from their scores: of several samples, the score is their mean.

    Parameters
    ----------
    scores
        A number per sample, ordered by response; NaN where there is none.
    of
        The response of each sample, from 0 on.
    n_responses
        Number of responses.
    error
        What is said of a response without a score.

    Returns
    -------
    Name -> column: `score`, `sample_score` (null for a response with one sample) and `error`.
    """
    import pyarrow as pa

    is_known = ~np.isnan(scores)
    known_scores, known_of = scores[is_known], of[is_known]
    n_samples = np.bincount(known_of, minlength=n_responses)
    sums = np.bincount(known_of, known_scores, n_responses)
    means = np.divide(sums, n_samples, out=np.full(n_responses, np.nan), where=n_samples > 0)
    columns = {
        "score": pa.array(means, pa.float64(), mask=n_samples == 0),
        "error": pa.DictionaryArray.from_arrays(
            pa.array(np.zeros(n_responses, np.int8), mask=n_samples > 0), pa.array([error])
        ).cast(pa.string()),
    }
    if n_samples.max(initial=0) > 1:
        offsets = np.concatenate([[0], np.cumsum(n_samples)]).astype(np.int32)
        columns["sample_score"] = pa.ListArray.from_arrays(
            pa.array(offsets), pa.array(known_scores, pa.float64()), mask=pa.array(n_samples < 2)
        )
    return columns


def refuse_conditions_of_one_name(condition_fields: Sequence[tuple[str, Mapping[str, Any]]], where: str) -> None:
    """Refuse two settings and measures whose conditions would have one name.

    Parameters
    ----------
    condition_fields
        Name and fields of every condition.
    where
        The command, for messages.

    Raises
    ------
    InputError
        Names the condition.
    """
    names = [name for name, _ in condition_fields]
    repeated = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if repeated is not None:
        raise InputError(f"{where}: two scores would both be called '{repeated}'; rename a condition or a measure")
