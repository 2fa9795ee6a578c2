"""Collect the measures of every model that the pages of the report have, as their catalogues list them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.measures.agreement import refuse_unknown_invalid_answer_convention
from analysis.measures.part_names import name_part_beside_total
from analysis.measures.thresholds import is_validity_below_half
from analysis.pages.benchmarks import own_form
from analysis.pages.benchmarks.own_form import UnitForm
from analysis.reporting import catalogue
from analysis.reporting.catalogue import Measures, tables
from analysis.reporting.catalogue.columns import Column, format_value_by_column
from analysis.runs import Runs
from analysis.statistics.correlation import LEAST
from ground.errors import InputError, RoomFailed

ALL = "all"  # a table over the studies of a page
COLUMNS = ("page", "study", "measure", "headline", "lead", "model", "condition", "form", "n_forms", "compared", "value",
           "unit", "accuracy", "parameters", "validity", "validity_at_most", "silent")  # fmt: skip
# Columns of a row that its measures share.
KEPT = ("study", "model", "condition", "form", "n_forms", "validity", "validity_at_most", "silent")
SOURCES = ("page", "study", "condition", "forms", "n_measures", "n_models", "n_silent", "n_conditions", "left_out")
OF = ["page", "study"]
MEASURE = [*OF, "measure"]


@dataclass(frozen=True, slots=True)
class CollectedMeasures:
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


def collect_measures(runs: Runs, invalid: str) -> CollectedMeasures:
    """Collect the measures of all pages, without intervals, once per `Runs`.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    invalid
        As in the tables that the measures are of.

    Returns
    -------
    CollectedMeasures
        The measures, and what was left out and why.

    Raises
    ------
    InputError
        For an unknown convention.
    """
    refuse_unknown_invalid_answer_convention(invalid)  # of a single page, it would be a reason to leave it out
    return runs.compute_once(("measures of models", invalid), lambda: _collect_measures_of_all_pages(runs, invalid))


def _collect_measures_of_all_pages(runs: Runs, invalid: str) -> CollectedMeasures:
    """Collect the measures of all pages, and for every page or table without any the reason."""
    parts, sources = [], []
    for page, entry in catalogue.map_page_names_to_catalogues().items():
        page_runs = runs.select_protocols(entry.protocols)
        measuring = {name: table.measures for name, table in entry.tables.items() if table.measures}
        if page_runs is None or not measuring:
            continue
        if reason := entry.explain_no_data(page_runs, {}):
            sources.append({"page": page, "left_out": reason})
            continue
        for name, measures in measuring.items():
            try:
                frame = _build_page_table_without_intervals(page_runs, name, measures, invalid)
            except (InputError, RoomFailed) as error:
                sources.append({"page": page, "left_out": str(error)})
                continue
            if frame.empty:  # as those of accuracies without answers
                sources.append({"page": page, "left_out": f"table {name} has no rows"})
                continue
            parts += [
                part.assign(page=page) for part in _list_unit_values_of_each_measure(page_runs, name, measures, frame)
            ]
    values = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(COLUMNS))
    sizes = {name: fields.get("parameters") for name, fields in runs.info["models"].items()}
    values["parameters"] = pd.to_numeric(values["model"].map(sizes), errors="coerce").astype(float)
    values["silent"] = _mark_rows_of_silent_models(values)
    values["compared"] = _mark_rows_of_condition_with_most_models(values)
    compared_sources = [
        _build_compared_models_row(page, study, part) for (page, study), part in values.groupby(OF, sort=False)
    ]
    all_sources = pd.DataFrame([*compared_sources, *sources], columns=list(SOURCES))
    return CollectedMeasures(
        values[list(COLUMNS)], all_sources.fillna({"left_out": "", "study": "", "condition": "", "forms": ""})
    )


def _build_page_table_without_intervals(runs: Runs, table_name: str, measures: Measures, invalid: str) -> pd.DataFrame:
    """Make a table without intervals, if it does not take too long."""
    units = len(runs.execute("SELECT model FROM units").fetchall())
    if measures.most_units and units > measures.most_units:
        limit_text = f"{units:,} models and conditions; it is compared for {measures.most_units} at most"
        raise InputError(f"table {table_name} takes too long for {limit_text}")
    return tables.build_table(table_name, runs, invalid=invalid, resamples=0)


def name_measures_unambiguously(values: pd.DataFrame, reserved_names: Collection[str] = ()) -> pd.Series:
    """Name the measure of every row, so that no name means two things.

    Parameters
    ----------
    values
        Rows with page, study and measure.
    reserved_names
        Names of other things, such as benchmarks.

    Returns
    -------
    Series
        The measure, with its study where several studies, or one of `reserved_names`, have this name, and with its
        page where several pages have it for a study.
    """
    is_shared = values.groupby("measure")["study"].transform("nunique") > 1
    is_unambiguous = ~is_shared & ~values["measure"].isin(reserved_names)
    names = values["measure"].where(is_unambiguous, values["measure"] + ", " + values["study"])
    is_of_one_page = values.groupby(["study", "measure"])["page"].transform("nunique") < 2
    return names.where(is_of_one_page, names + " (" + values["page"] + ")")


def name_study_beside_all(study: str) -> str:
    """Name a study, and a table over all studies, which has an empty one.

    >>> [name_study_beside_all(study) for study in ("", "opinions", "all")]
    ['all', 'opinions', 'study all']
    """
    return name_part_beside_total(study, ALL, "study") if study else ALL


def _list_unit_values_of_each_measure(
    runs: Runs, table_name: str, measures: Measures, frame: pd.DataFrame
) -> Iterator[pd.DataFrame]:
    """Yield the values of every measure of a table, a row per unit; COLUMNS but for what all pages share.

    Left out are other forms of a model, human scores, and second readings of the same answers (choices per byte).
    """
    unit_forms = _map_units_to_prompt_forms(runs)
    rows = frame[frame[measures.row_filter].astype(bool)] if measures.row_filter else frame
    if "study" not in rows:
        rows = rows.assign(study="")
    units = list(rows[["study", "model", "condition"]].itertuples(index=False, name=None))
    joined_forms = {
        unit: own_form.find_form_of_unit_joining_conditions(runs, unit_forms, unit)
        for unit in dict.fromkeys(units)
        if measures.joins_conditions
    }
    row_forms = [joined_forms[unit] if joined_forms else unit_forms.get(unit) for unit in units]
    rows = rows[np.array([unit is not None for unit in row_forms], dtype=bool)]  # an empty list would choose no columns
    form_rows = [(unit.condition, unit.form, unit.forms) for unit in row_forms if unit]
    form_columns = pd.DataFrame(form_rows, columns=["condition", "form", "n_forms"], index=rows.index)
    keys = ["study", "model", "condition", *(kind for kind in measures.kinds if kind not in measures.averaged_kinds)]
    rows = rows.assign(**_build_validity_columns_averaged_by_keys(rows, keys, measures.validity), **form_columns)
    rows = rows.assign(silent=is_validity_below_half(rows["validity"]))
    has_values = rows[list(measures.name_by_column)].notna().to_numpy().any()
    for _, study_rows in rows.groupby("study", sort=False):
        for kind, part in _split_rows_by_measure_kind(table_name, measures, study_rows):
            for column, measure_name in measures.name_by_column.items():
                column_values = part[column].astype(float)
                if has_values and column_values.isna().all():
                    continue  # not a measure of these models: no predictor, no right answer
                accuracy_column = measures.accuracy.get(column)
                named = part[list(KEPT)].assign(study=part["study"].map(name_study_beside_all))
                yield named.assign(
                    measure=f"{measure_name} ({kind})" if kind else measure_name, value=column_values,
                    headline=column in measures.headline, lead=column == measures.lead,
                    unit=catalogue.look_up_column(table_name, column).unit,
                    accuracy=part[accuracy_column].astype(float) if accuracy_column else np.nan,
                )  # fmt: skip


def _build_validity_columns_averaged_by_keys(
    rows: pd.DataFrame, keys: list[str], validity_column: str
) -> dict[str, pd.Series]:
    """Average the validity of rows with the same keys, and its upper bound: NaN where it is exact."""
    lowest = rows[validity_column].astype(float)
    no_bound = pd.Series(np.nan, rows.index)
    at_most = rows.get(f"{validity_column}_at_most", no_bound).astype(float)
    frame = rows[keys].assign(low=lowest, high=at_most.fillna(lowest), bounded=at_most.notna())
    by_keys = frame.groupby(keys, dropna=False)
    return {
        "validity": by_keys["low"].transform("mean"),
        "validity_at_most": by_keys["high"].transform("mean").where(by_keys["bounded"].transform("any")),
    }


def _map_units_to_prompt_forms(runs: Runs) -> dict[own_form.Unit, UnitForm]:
    """Say how every unit was asked; a table that names no study is over all, and its units are those of the first."""

    def add_forms_over_all_studies() -> dict[own_form.Unit, UnitForm]:
        """Return the forms of all units, and without a study those of the first unit of a name."""
        unit_forms = own_form.find_prompt_forms_of_units(runs)
        over_all: dict[own_form.Unit, UnitForm] = {}
        for (_, model, condition), unit_form in unit_forms.items():
            over_all.setdefault(("", model, condition), unit_form)
        return over_all | unit_forms

    return runs.compute_once("ways of asking", add_forms_over_all_studies)


def _split_rows_by_measure_kind(
    table_name: str, measures: Measures, rows: pd.DataFrame
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the rows of every kind of measure with its name: the values that differ between kinds."""
    differing_kinds = [kind for kind in measures.kinds if rows[kind].nunique(dropna=False) > 1]
    if not differing_kinds:
        yield "", rows
        return
    kind_columns = [catalogue.look_up_column(table_name, kind) for kind in differing_kinds]
    for kind_values, part in rows.groupby(differing_kinds, sort=False, dropna=False):
        kind_words = [
            _format_measure_kind(kind_value, column)
            for kind_value, column in zip(kind_values, kind_columns, strict=True)
        ]
        yield ", ".join(filter(None, kind_words)), part


def _format_measure_kind(kind_value: object, column: Column) -> str:
    """Say a kind in the words of its column, without underscores: "strong agreement-seeking"."""
    return format_value_by_column(kind_value, column).replace("_", " ")


def _mark_rows_of_silent_models(values: pd.DataFrame) -> pd.Series:
    """Tell which rows are of a model that does not answer: one that a page takes for silent is so in all its study."""
    unit_keys = ["study", "model", "condition"]
    is_silent = values["silent"].astype(bool)
    is_silent_throughout = is_silent.groupby([values[name] for name in ("page", *unit_keys)]).transform("all")
    return is_silent | is_silent_throughout.groupby([values[name] for name in unit_keys]).transform("any")


def _mark_rows_of_condition_with_most_models(values: pd.DataFrame) -> pd.Series:
    """Tell which rows are of the condition that most models answer under, by page and study; the first of several."""
    valid_values = values[values["value"].notna() & ~values["silent"].astype(bool)]
    counts = valid_values.groupby([*OF, "condition"])["model"].nunique()
    chosen_conditions = {}
    for key, conditions in values.groupby(OF, sort=False)["condition"].unique().items():
        chosen_conditions[key] = max(conditions, key=lambda name: counts.get((*key, name), 0))
    return pd.Series(
        [row[2] == chosen_conditions[row[:2]] for row in values[[*OF, "condition"]].itertuples(index=False, name=None)],
        values.index, dtype=bool,
    )  # fmt: skip


def _build_compared_models_row(page: str, study: str, measure_rows: pd.DataFrame) -> dict[str, object]:
    """Say how the models of a page and study were compared, or that they are too few."""
    rows = measure_rows[measure_rows["compared"]]
    rows_by_model = rows.groupby("model", sort=False)
    models = rows_by_model[["form", "silent"]].agg({"form": "first", "silent": "all"})
    forms = models["form"].replace("", "not said").value_counts(sort=False)
    n_known = rows[rows["value"].notna() & ~rows["silent"].astype(bool)]["model"].nunique()
    return {
        "page": page, "study": study, "condition": rows["condition"].iloc[0],
        "forms": ", ".join(f"{form} {number}" for form, number in forms.items()),
        "n_measures": rows["measure"].nunique(), "n_models": n_known, "n_silent": int(models["silent"].sum()),
        "n_conditions": measure_rows["condition"].nunique(),
        "left_out": "" if n_known >= LEAST else f"fewer than {LEAST} models answer",
    }  # fmt: skip
