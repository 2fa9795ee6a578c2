"""Measure how much one point changes the correlation of differences in kurtosis and tau (Sato et al., 4.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from analysis.pages.scoring.contrasts import SETTING, differences
from analysis.pages.scoring.printed import printed_differences
from analysis.reporting.printed import OURS
from analysis.reporting.thresholds import silent
from analysis.statistics import interval, weighted
from analysis.statistics.resampling import DRAWS, Array, Columns, bootstrap

if TYPE_CHECKING:
    from analysis.runs import Runs

NOTHING = "nothing"
LEAST = 3  # points; two always lie on a line
_FAMILY = ["source", "study", *SETTING]


def influence(
    runs: Runs, *, biased: bool = True, invalid: str = "dropped", resamples: int = DRAWS, seed: int = 0
) -> pd.DataFrame:
    """Correlate the differences in kurtosis and in tau (Pearson) with all points, and without single ones.

    A point is a group and a series under one setting. The correlation is given for all points, and without each point,
    each group and each series; the same follows for the paper's Table 1.

    Parameters
    ----------
    biased, invalid
        As in `tables.scores`.
    resamples, seed
        Draws of the bootstrap over points (0: no intervals) and its seed.

    Returns
    -------
    DataFrame
        source (these runs, or the printed table), study, range, temperature, method; omitted: nothing, point, group or
        series, and omitted_name; n: points left; undefined: points without both differences, left out everywhere (a
        constant score has no kurtosis; a model may not answer); pearson, pearson_lower, pearson_upper: correlation, NaN
        below three points, and its 95 % percentile interval with points resampled; no_interval: why it has none;
        change: pearson minus pearson of all points.
    """
    sources = (answered(differences(runs, biased=biased, invalid=invalid, resamples=0)), printed_differences())
    parts = [
        left_out(part, resamples=resamples, seed=seed).assign(**dict(zip(_FAMILY, family, strict=True)))
        for source in sources
        if len(source)
        for family, part in points(source).groupby(_FAMILY, sort=False)
    ]
    return pd.concat(parts, ignore_index=True)


def answered(frame: pd.DataFrame) -> pd.DataFrame:
    """Blank the differences of pairs with a model that does not answer (`thresholds.silent`): they are no points."""
    if frame.empty:
        return frame
    known = ~(silent(frame["validity_pre"]) | silent(frame["validity_post"]))
    return frame.assign(**{name: frame[name].where(known) for name in ("kurtosis_difference", "tau_difference")})


def points(frame: pd.DataFrame) -> pd.DataFrame:
    """Name the points of the correlation: add `source` and `point`, such as "En-De/gemma", to rows of `differences`.

    If a base model has several tuned ones, the name has the tuned model's id in place of the series.
    """
    frame = frame if "source" in frame else frame.assign(source=OURS)
    several = frame.duplicated([*_FAMILY, "group", "series"], keep=False)
    name = frame["series"].where(~several, frame["post_model"])
    # The columns become strings first, because without rows they may have any type.
    return frame.assign(point=frame["group"].astype(str) + "/" + name.astype(str))


def left_out(part: pd.DataFrame, *, resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Correlate some points (see `points`): all of them, and without each point, each group and each series.

    Parameters
    ----------
    part
        Points of one source and setting.
    resamples, seed
        Draws of the bootstrap over points (0: no intervals) and its seed.

    Returns
    -------
    DataFrame
        The columns of `influence` from omitted on.
    """
    known = part.dropna(subset=["kurtosis_difference", "tau_difference"])
    cases: list[tuple[str, str, Any]] = [(NOTHING, "", np.ones(len(known), bool))]
    for omitted in ("point", "group", "series"):
        names = known[omitted].unique()
        if len(names) > 1:
            cases += [(omitted, str(name), (known[omitted] != name).to_numpy()) for name in names]
    kept = np.column_stack([case[2] for case in cases])
    measures = {name: known[f"{name}_difference"].to_numpy(float)[:, None] for name in ("kurtosis", "tau")}
    columns = {name: np.where(kept, values, np.nan) for name, values in measures.items()}
    found = bootstrap(columns, _pearson, draws=resamples, seed=seed)["pearson"]
    enough = found.n_items >= LEAST
    table = pd.DataFrame({"omitted": [case[0] for case in cases], "omitted_name": [case[1] for case in cases]})
    table = table.assign(n=found.n_items, undefined=len(part) - len(known))
    for name, values in interval.columns({"pearson": found}).items():
        table[name] = np.where(enough, values, "" if name == "no_interval" else np.nan)
    return table.assign(change=table["pearson"] - table["pearson"].iloc[0])


def _pearson(columns: Columns, counts: Array) -> dict[str, Array]:
    return {"pearson": weighted.pearson(counts, columns["kurtosis"], columns["tau"])}
