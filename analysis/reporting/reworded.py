"""Read the answers of every study as arrays (units, items, wordings), and whether items share their wordings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.reporting.thresholds import LOW_MASS
from analysis.runs import agreement
from analysis.runs.folder import ORIGINAL
from analysis.runs.templates import reordered, shared_templates
from analysis.statistics.reliability.components import Across, across
from analysis.statistics.resampling import Array

if TYPE_CHECKING:
    from analysis.runs import Runs

AGREEMENT, LOGIT, ACCURACY = "agreement", "logit", "accuracy"
CROSSED, NESTED = "shared by all items", "own wordings of each item"


@dataclass(frozen=True, slots=True)
class Study:
    """Hold the answers of one study by one measure.

    Attributes
    ----------
    name, measure
        Name of the study; `AGREEMENT`; its `LOGIT`, which 0 and 1 have none of; or `ACCURACY`: 1 where the likelier
        option is the right one, else 0.
    headline
        Whether sentences are about this measure of the study: accuracy where a right answer is known.
    crossed
        Whether all items share the wordings.
    units
        (model, condition) of every unit, in the order of run.json.
    validity
        Of every unit, over all wordings.
    values
        (units, items, wordings), NaN where there is no valid answer.
    wordings
        Names of the wordings where items share them; else empty.
    samples
        Laid out as `values`: texts that an agreement is the share of, NaN where it is none; None where all are none.
    """

    name: str
    measure: str
    headline: bool
    crossed: bool
    units: list[tuple[str, str]]
    validity: Array
    values: Array
    wordings: list[str]
    samples: Array | None

    @property
    def design(self) -> str:
        """Say whether items share the wordings."""
        return CROSSED if self.crossed else NESTED

    def chosen(self) -> list[int]:
        """List the units that are ranked: of every model that answers its first condition in run.json."""
        first: dict[str, int] = {}
        for place, (model, _) in enumerate(self.units):
            first.setdefault(model, place)
        return [place for place in first.values() if not self.validity[place] < LOW_MASS]


def across_models(study: Study) -> Across | None:
    """Estimate the components over the models that are ranked; None for fewer than two."""
    chosen = study.chosen()
    return across(study.values[chosen], study.crossed) if len(chosen) > 1 else None


def studies(runs: Runs) -> list[Study]:
    """Read all studies, once per `Runs`: each by agreement, by its logit where probabilities are known, and by accuracy
    where right answers are.

    Wordings are those whose answers are compared with each other: of the protocol `agreement` the paraphrases without
    the original, else all, with the canonical meaning of each answer. Wordings that name their template in the
    attribute `template`, and those that are templates or orders of the same words by their texts, are shared; one that
    an item has twice counts by its mean.
    """
    return runs.kept("reliability studies", lambda: list(_studies(runs)))


def _studies(runs: Runs) -> Iterator[Study]:
    agreement.prepare(runs)
    codes = _codes(runs, {*shared_templates(runs), *reordered(runs)})
    for name, about in runs.info["studies"].items():
        if about["protocol"] == "accuracies":  # has no answers
            continue
        units = runs.execute("SELECT model, condition FROM units WHERE study = ? ORDER BY position", [name]).fetchall()
        own = codes[codes["study"] == name]
        if own.empty or not units:
            continue
        rows = _rows(runs, name, own)
        crossed = bool(own["crossed"].iloc[0])
        shape = len(units), int(own["item_code"].max()) + 1, int(own["wording_code"].max()) + 1
        wordings = list(own.sort_values("wording_code")["wording"].unique()) if crossed else []
        validity = np.full(len(units), np.nan)
        means = rows.groupby("unit")["validity"].mean()
        validity[means.index] = means
        right = own["gold"].notna().any()
        for measure in (AGREEMENT, LOGIT, ACCURACY):
            if measure == AGREEMENT or rows[measure].notna().any():
                headline = measure == (ACCURACY if right else AGREEMENT)
                values = _array(rows, measure, shape)
                sampled = measure == AGREEMENT and rows["samples"].notna().any()
                samples = _array(rows, "samples", shape) if sampled else None
                yield Study(name, measure, headline, crossed, units, validity, values, wordings, samples)


def _codes(runs: Runs, by_text: set[str]) -> pd.DataFrame:
    """Number the items and the wordings of every study: those of one template alike, else from 0 on in each item."""
    frame = runs.sql(
        f"""
        SELECT study, item, variant, position, gold, map_extract(attributes, 'template')[1] AS template
        FROM stimuli WHERE pattern <> '{ORIGINAL}' OR study NOT IN (SELECT unnest(?)) ORDER BY position""",
        [[name for name, fields in runs.info["studies"].items() if fields["protocol"] == "agreement"]],
    )
    parts = []
    for study, part in frame.groupby("study", sort=False):
        named = part["template"].notna().all() and part["template"].nunique() * 2 <= len(part)
        crossed = named or study in by_text
        wording = part["template"] if named else part["variant"]
        place = pd.factorize(wording)[0] if crossed else part.groupby("item", sort=False).cumcount()
        parts.append(
            part.assign(
                crossed=crossed,
                wording=wording,
                wording_code=place,
                item_code=pd.factorize(part["item"])[0],
                row=np.arange(len(part)),
            )
        )
    return pd.concat(parts) if parts else frame.assign(crossed=False)


def _rows(runs: Runs, study: str, codes: pd.DataFrame) -> pd.DataFrame:
    """Return the answers of a study: unit, item_code, wording_code, validity and the measures."""
    label = str(runs.info["studies"][study]["canonical"][0])
    runs.con.register("reliability_codes", codes[["item", "variant", "row"]])
    try:
        rows = runs.sql(
            """
            SELECT u.position AS unit, c.row, a.agreement, a.validity, a.samples
            FROM (SELECT * FROM answers WHERE study = $study) AS a
            JOIN reliability_codes AS c USING (item, variant)
            JOIN (SELECT * FROM units WHERE study = $study) AS u USING (model, condition)""",
            {"study": study},
        )
    finally:
        runs.con.unregister("reliability_codes")
    place = rows["row"].to_numpy()
    first = codes["gold"].eq(label).where(codes["gold"].notna()).to_numpy(float)[place]
    share = rows["agreement"].to_numpy(float)
    right = np.where(np.isnan(share) | np.isnan(first), np.nan, (share >= 0.5) == (first == 1))
    listed = runs.execute("SELECT position FROM units WHERE study = ? ORDER BY position", [study]).fetchall()
    units = rows["unit"].map({position: number for number, (position,) in enumerate(listed)})
    inside = np.where((share > 0) & (share < 1), share, np.nan)
    return pd.DataFrame({
        "unit": units, "item": codes["item_code"].to_numpy()[place], "wording": codes["wording_code"].to_numpy()[place],
        "validity": rows["validity"], "samples": rows["samples"],
        AGREEMENT: share, LOGIT: np.log(inside / (1 - inside)), ACCURACY: right,
    })  # fmt: skip


def _array(rows: pd.DataFrame, name: str, shape: tuple[int, int, int]) -> Array:
    """Lay answers out by unit, item and wording: the mean of those that share a place."""
    known = rows[name].notna().to_numpy()
    part = rows[known]
    place: npt.NDArray[np.int64] = np.ravel_multi_index((part["unit"], part["item"], part["wording"]), shape)
    size = int(np.prod(shape))
    sums = np.bincount(place, part[name].to_numpy(float), size)
    with np.errstate(invalid="ignore"):
        return np.asarray(sums / np.bincount(place, minlength=size)).reshape(shape)
