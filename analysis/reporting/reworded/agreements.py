"""Read agreement, its logit and accuracy of studies whose answers have one of two meanings.

Of the protocol `agreement`, wordings are the paraphrases without the original, else all, with the canonical meaning of
each answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analysis.reporting.reworded.study import ACCURACY, AGREEMENT, LOGIT, Study, array, has_several_wordings
from analysis.runs import agreement
from analysis.runs.folder import ORIGINAL
from analysis.runs.templates import reordered, shared_templates
from analysis.statistics.reliability.sampling import of_shares

if TYPE_CHECKING:
    from analysis.runs import Runs


def read(runs: Runs, names: list[str]) -> Iterator[Study]:
    """Read studies by agreement, by its logit where there are probabilities, by accuracy where right answers are known.

    Parameters
    ----------
    runs
        From `analysis.runs.open`.
    names
        Names of the studies.

    Yields
    ------
    A study per measure.
    """
    agreement.prepare(runs, names)
    codes = _codes(runs, names, {*shared_templates(runs), *reordered(runs)})
    for name in names:
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
                values = array(rows, measure, shape)
                samples = spread = None
                if measure == AGREEMENT and rows["samples"].notna().any():
                    samples = array(rows, "samples", shape)
                    spread = of_shares(values, samples)
                yield Study(name, measure, headline, crossed, units, validity, values, wordings, samples, spread)


def has_rewordings(runs: Runs, names: list[str]) -> bool:
    """Tell whether an item of these studies has two wordings other than its original."""
    return has_several_wordings(runs, names)


def _codes(runs: Runs, names: list[str], by_text: set[str]) -> pd.DataFrame:
    """Number the items and the wordings of every study: those of one template alike, else from 0 on in each item."""
    frame = runs.sql(
        f"""
        SELECT study, item, variant, position, gold, map_extract(attributes, 'template')[1] AS template
        FROM stimuli WHERE study IN (SELECT unnest(?)) AND (pattern <> '{ORIGINAL}' OR study NOT IN (SELECT unnest(?)))
        ORDER BY position""",
        [names, [name for name in names if runs.info["studies"][name]["protocol"] == agreement.PROTOCOL]],
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
