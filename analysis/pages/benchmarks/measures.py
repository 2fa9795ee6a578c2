"""Collect the measures of every model that the pages of the report have, as their catalogues list them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analysis import runs as opening
from analysis.pages.benchmarks import own_form
from analysis.pages.benchmarks.own_form import Own
from analysis.reporting import catalogue, tables
from analysis.reporting.catalogue import Measures
from analysis.reporting.columns import Column, value
from analysis.reporting.thresholds import silent
from analysis.statistics.correlation import LEAST
from ground.errors import InputError

if TYPE_CHECKING:
    from analysis.runs import Runs

ALL = "all"  # of studies: a table over the studies of a page
COLUMNS = ("page", "study", "measure", "headline", "lead", "model", "condition", "form", "n_forms", "compared", "value",
           "unit", "accuracy", "parameters", "silent")  # fmt: skip
SOURCES = ("page", "study", "condition", "forms", "n_measures", "n_models", "n_silent", "n_conditions", "left_out")
OF = ["page", "study"]


@dataclass(frozen=True, slots=True)
class Collected:
    """Hold what was collected.

    Attributes
    ----------
    values
        `COLUMNS`: a row per model, condition and measure. compared: whether it is of the condition that most models of
        this page and study were asked under, the first of several; only these are correlated.
    sources
        `SOURCES`: a row per page and study, and one for every table that could not be made, with the reason.
    """

    values: pd.DataFrame
    sources: pd.DataFrame


def collected(runs: Runs, invalid: str) -> Collected:
    """Collect the measures of all pages, without intervals, once per `Runs`.

    Parameters
    ----------
    runs
        From `analysis.runs.open`.
    invalid
        As in the tables that the measures are of.

    Returns
    -------
    Collected
        The measures, and what was left out and why.
    """
    return runs.kept(("measures of models", invalid), lambda: _collected(runs, invalid))


def _collected(runs: Runs, invalid: str) -> Collected:
    parts, sources = [], []
    for page, entry in catalogue.pages().items():
        own = _only(runs, entry.protocols)
        measuring = {name: table.measures for name, table in entry.tables.items() if table.measures}
        if own is None or not measuring:
            continue
        if unwanted := entry.unwanted(own, {}):
            sources.append({"page": page, "left_out": unwanted})
            continue
        for name, measures in measuring.items():
            try:
                frame = _made(own, name, measures, invalid)
            except InputError as error:
                sources.append({"page": page, "left_out": str(error)})
                continue
            if frame.empty:  # as those of accuracies without answers
                sources.append({"page": page, "left_out": f"table {name} has no rows"})
                continue
            parts += [part.assign(page=page) for part in _measured(own, name, measures, frame)]
    values = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(COLUMNS))
    sizes = {name: fields.get("parameters") for name, fields in runs.info["models"].items()}
    values["parameters"] = pd.to_numeric(values["model"].map(sizes), errors="coerce").astype(float)
    values["silent"] = _silent(values)
    values["compared"] = _compared(values)
    described = [_described(page, study, part) for (page, study), part in values.groupby(OF, sort=False)]
    listed = pd.DataFrame([*described, *sources], columns=list(SOURCES))
    return Collected(values[list(COLUMNS)], listed.fillna({"left_out": "", "study": "", "condition": "", "forms": ""}))


def _made(runs: Runs, name: str, measures: Measures, invalid: str) -> pd.DataFrame:
    """Make a table without intervals, if it does not take too long."""
    units = len(runs.execute("SELECT model FROM units").fetchall())
    if measures.most and units > measures.most:
        least = f"{units:,} models and conditions; it is compared for {measures.most} at most"
        raise InputError(f"table {name} takes too long for {least}")
    return tables.build(name, runs, invalid=invalid, resamples=0)


def named(values: pd.DataFrame, taken: Collection[str] = ()) -> pd.Series:
    """Name the measure of every row, so that no name means two things.

    Parameters
    ----------
    values
        Rows with study and measure.
    taken
        Names of other things, such as benchmarks.

    Returns
    -------
    Series
        The measure, with its study where several studies, or one of `taken`, have this name.
    """
    several = values.groupby("measure")["study"].transform("nunique") > 1
    alone = ~several & ~values["measure"].isin(taken)
    return values["measure"].where(alone, values["measure"] + ", " + values["study"])


def _only(runs: Runs, protocols: frozenset[str]) -> Runs | None:
    """Open those of the run folders that are of some protocols; None where none is."""
    own = [folder.path for folder in runs.folders if folder.info["study"]["protocol"] in protocols]
    if len(own) == len(runs.folders):
        return runs
    return runs.kept(("runs of", protocols), lambda: opening.open(*own)) if own else None


def _measured(runs: Runs, name: str, measures: Measures, frame: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Yield the values of every measure of a table, a row per unit; COLUMNS but for what all pages share.

    Left out are other forms of a model, human scores, and second readings of the same answers (choices per byte).
    """
    known = _asked(runs)
    rows = frame[frame[measures.only].astype(bool)] if measures.only else frame
    if "study" not in rows:
        rows = rows.assign(study=ALL)
    own = [known.get(unit) for unit in rows[["study", "model", "condition"]].itertuples(index=False, name=None)]
    rows = rows[np.array([unit is not None for unit in own], dtype=bool)]  # an empty list would choose no columns
    ways = [(unit.condition, unit.form, unit.forms) for unit in own if unit]
    asked = pd.DataFrame(ways, columns=["condition", "form", "n_forms"], index=rows.index)
    over = ["study", "model", "condition", *(kind for kind in measures.kinds if kind not in measures.averaged)]
    valid = rows.groupby(over, dropna=False)[measures.validity].transform("mean")
    rows = rows.assign(silent=silent(valid.astype(float)), **asked)
    some = rows[list(measures.named)].notna().to_numpy().any()
    for _, study in rows.groupby("study", sort=False):
        for kind, part in _kinds(name, measures, study):
            for column, called in measures.named.items():
                number = part[column].astype(float)
                if some and number.isna().all():
                    continue  # not a measure of these models: no predictor, no right answer
                beside = measures.accuracy.get(column)
                yield part[["study", "model", "condition", "form", "n_forms", "silent"]].assign(
                    measure=f"{called} ({kind})" if kind else called, value=number,
                    headline=column in measures.headline, lead=column == measures.lead,
                    unit=catalogue.column(name, column).unit, accuracy=part[beside].astype(float) if beside else np.nan,
                )  # fmt: skip


def _asked(runs: Runs) -> dict[own_form.Unit, Own]:
    """Say how every unit was asked; a table that names no study is over all, and its units are those of the first."""

    def found() -> dict[own_form.Unit, Own]:
        own = own_form.compared(runs)
        over_all: dict[own_form.Unit, Own] = {}
        for (_, model, condition), asked in own.items():
            over_all.setdefault((ALL, model, condition), asked)
        return over_all | own

    return runs.kept("ways of asking", found)


def _kinds(name: str, measures: Measures, rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the rows of every kind of measure with its name: the values that differ between kinds."""
    apart = [kind for kind in measures.kinds if rows[kind].nunique(dropna=False) > 1]
    if not apart:
        yield "", rows
        return
    entries = [catalogue.column(name, kind) for kind in apart]
    for found, part in rows.groupby(apart, sort=False, dropna=False):
        said = [_said(one, entry) for one, entry in zip(found, entries, strict=True)]
        yield ", ".join(filter(None, said)), part


def _said(one: object, entry: Column) -> str:
    """Say a kind in the words of its column, without underscores: "strong agreement-seeking"."""
    return value(one, entry).replace("_", " ")


def _silent(values: pd.DataFrame) -> pd.Series:
    """Tell which rows are of a model that does not answer: one that a page takes for silent is so in all its study."""
    asked = ["study", "model", "condition"]
    own = values["silent"].astype(bool)
    whole = own.groupby([values[name] for name in ("page", *asked)]).transform("all")
    return own | whole.groupby([values[name] for name in asked]).transform("any")


def _compared(values: pd.DataFrame) -> pd.Series:
    """Tell which rows are of the condition that most models answer under, by page and study; the first of several."""
    known = values[values["value"].notna() & ~values["silent"].astype(bool)]
    counts = known.groupby([*OF, "condition"])["model"].nunique()
    chosen = {}
    for key, conditions in values.groupby(OF, sort=False)["condition"].unique().items():
        chosen[key] = max(conditions, key=lambda name: counts.get((*key, name), 0))
    return pd.Series(
        [row[2] == chosen[row[:2]] for row in values[[*OF, "condition"]].itertuples(index=False, name=None)],
        values.index, dtype=bool,
    )  # fmt: skip


def _described(page: str, study: str, part: pd.DataFrame) -> dict[str, object]:
    """Say how the models of a page and study were compared, or that they are too few."""
    rows = part[part["compared"]]
    of_models = rows.groupby("model", sort=False)
    models = of_models[["form", "silent"]].agg({"form": "first", "silent": "all"})
    forms = models["form"].replace("", "not said").value_counts(sort=False)
    n_known = rows[rows["value"].notna() & ~rows["silent"].astype(bool)]["model"].nunique()
    return {
        "page": page, "study": study, "condition": rows["condition"].iloc[0],
        "forms": ", ".join(f"{form} {number}" for form, number in forms.items()),
        "n_measures": rows["measure"].nunique(), "n_models": n_known, "n_silent": int(models["silent"].sum()),
        "n_conditions": part["condition"].nunique(),
        "left_out": "" if n_known >= LEAST else f"fewer than {LEAST} models answer",
    }  # fmt: skip
