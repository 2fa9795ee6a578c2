"""Compare the figures of paraphrases from different sources (Haller et al., appendix G and Table 7).

The attribute `source` says who made a paraphrase; one that several sources made ("a|b") counts for each of them. Only
studies with two or more sources are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from analysis.measures.agreement import SUMS_SQL, build_agreement_range_and_minority_sql, create_agreement_tables
from analysis.measures.thresholds import build_thresholds_by_flip_column
from analysis.pages.stability import measures, printed, tables
from analysis.reporting.catalogue.published_numbers import OURS, insert_published_rows
from analysis.runs import Runs
from analysis.runs.folder import ORIGINAL
from analysis.statistics import weighted
from analysis.statistics.interval import build_interval_columns
from analysis.statistics.multiplicity import correct_families_by_holm
from analysis.statistics.resampling import DRAWS, Array, Columns, bootstrap_differences, bootstrap_intervals

SEPARATOR = "|"
LEAST_ITEMS = 3  # two points always lie on a line


def tabulate_stability_by_paraphrase_source(
    runs: Runs, *, thresholds: Sequence[float] = tables.THRESHOLDS, invalid: str = "dropped", resamples: int = DRAWS,
    seed: int = 0,
) -> pd.DataFrame:  # fmt: skip
    """Summarise every model by source of paraphrases: Table 7 of the paper, with intervals.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    thresholds, invalid, resamples, seed
        As in `tables.tabulate_stability`.

    Returns
    -------
    DataFrame
        The columns of `tables.tabulate_stability`, with `source` (these runs, or the printed table) and
        `paraphrase_source` after the condition. Every source is summarised over all its items; the study's other items
        are counted in n_excluded_items. Printed rows follow if these models and items were printed
        (`printed.tabulate_stability_with_printed_rows`).

    Raises
    ------
    InputError
        As `tables.tabulate_stability`.
    """
    options: dict[str, Any] = {"thresholds": thresholds, "resamples": resamples, "seed": seed}
    parts = []
    for names, study_by_source in _iterate_studies_split_by_paraphrase_source(runs, invalid):
        # Sorted below: unit by unit, with its sources one after the other.
        table = pd.concat(
            [tables.compute_stability_rows_of_study(study_by_source[name], **options) for name in names],
            keys=range(len(names)),
        )
        table["source"] = OURS
        table["paraphrase_source"] = [names[place] for place in table.index.get_level_values(0)]
        parts.append(table.swaplevel().sort_index())
    if not parts:
        return tables.tabulate_stability(runs, **{**options, "resamples": 0}).head(0)
    ours = pd.concat(parts, ignore_index=True)
    return insert_published_rows(
        ours, printed.select_rows_of_printed_models(runs, ours), printed.read_printed_paraphrase_source_rows()
    )


def tabulate_source_pair_comparisons(
    runs: Runs, *, thresholds: Sequence[float] = tables.THRESHOLDS, invalid: str = "dropped", resamples: int = DRAWS,
    seed: int = 0,
) -> pd.DataFrame:  # fmt: skip
    """Measure how well two sources of paraphrases agree about a model, on the items that both have.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    thresholds, invalid, resamples, seed
        As in `tables.tabulate_stability`.

    Returns
    -------
    DataFrame
        study, model, condition; measure: a figure of `tables.tabulate_stability` that has a value for every item
        (validity, agreement_mean, range_mean, sd_mean, flips); a_source, b_source; difference: a minus b, in the
        measure's unit; lower, upper, no_interval, p, p_least, p_holm: as in `tables.tabulate_stability_differences`;
        item_r: Pearson correlation across items of the two sources' values (of a flip: of being flipped or not), with
        its interval item_r_lower, item_r_upper; NaN below three items and if a source has the same value for every
        item; n_items: items that both sources have.

    Raises
    ------
    InputError
        As `tables.tabulate_stability`.
    """
    thresholds_by_name = build_thresholds_by_flip_column(thresholds)
    parts = []
    for order, (names, study_by_source) in enumerate(_iterate_studies_split_by_paraphrase_source(runs, invalid)):
        pairs = list(combinations(range(len(names)), 2))
        units = next(iter(study_by_source.values())).units
        # The columns stand source by source: of 3 units, unit 1 of source 2 is column 2 * 3 + 1 = 7.
        targets = [(a * len(units) + unit, b * len(units) + unit) for unit in range(len(units)) for a, b in pairs]
        masses = _stack_unit_columns_of_sources([study.masses for study in study_by_source.values()])
        spreads = _stack_unit_columns_of_sources([study.spreads for study in study_by_source.values()])
        means = _stack_unit_columns_of_sources([{"agreement": study.agreement} for study in study_by_source.values()])
        options: dict[str, Any] = {"draws": resamples, "seed": seed}
        estimates = measures.estimate_stability_measures(
            masses, means, spreads, thresholds_by_name, partial(bootstrap_differences, pairs=targets, **options)
        )
        by_item = _compute_item_values_by_measure(masses, means, spreads, thresholds_by_name)
        for place, (measure, values) in enumerate(by_item.items()):
            a, b = ([target[side] for target in targets] for side in (0, 1))
            r = bootstrap_intervals(
                {"a": values[:, a], "b": values[:, b]}, _correlate_two_sources_in_each_draw, **options
            )["r"]
            table = pd.DataFrame([units[target[0] % len(units)] for target in targets], columns=["model", "condition"])
            table["study"], table["measure"] = next(iter(study_by_source.values())).name, measure
            table["a_source"] = [names[target[0] // len(units)] for target in targets]
            table["b_source"] = [names[target[1] // len(units)] for target in targets]
            figure = estimates[measure]
            table["difference"], table["lower"], table["upper"] = figure.estimate, figure.lower, figure.upper
            table["p"], table["p_least"] = figure.p, figure.p_least
            table["item_r"], table["item_r_lower"], table["item_r_upper"] = r.estimate, r.lower, r.upper
            table["n_items"] = figure.n_items
            table["no_interval"] = build_interval_columns({"difference": figure, "item_r": r})["no_interval"]
            parts.append(table.assign(of_study=order, target=range(len(targets)), place=place))
    if not parts:
        return pd.DataFrame()
    measure_rows = pd.concat(parts).sort_values(["of_study", "target", "place"], ignore_index=True)
    measure_rows["p_holm"] = correct_families_by_holm(measure_rows, ["of_study", "measure"])
    return measure_rows.drop(columns=["of_study", "target", "place"])


def _iterate_studies_split_by_paraphrase_source(
    runs: Runs, invalid: str
) -> Iterator[tuple[list[str], dict[str, measures.Study]]]:
    """Build, for every study with several sources of paraphrases, their names in order and the item columns of each."""
    create_agreement_tables(runs)
    runs.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE sourced AS
        WITH named AS (
            SELECT study, item, variant, position,
                   unnest(string_split(map_extract(attributes, 'source')[1], '{SEPARATOR}')) AS source
            FROM stimuli WHERE pattern <> '{ORIGINAL}')
        SELECT study, item, variant, trim(source) AS source, min(position) AS position
        FROM named WHERE trim(source) <> '' GROUP BY ALL"""
    )
    source_rows = runs.execute(
        "SELECT study, source FROM sourced GROUP BY ALL ORDER BY study, min(position)"
    ).fetchall()
    sources = {
        study: [name for source_study, name in source_rows if source_study == study] for study in runs.info["studies"]
    }
    sources_by_study = {study: names for study, names in sources.items() if len(names) > 1}
    if not sources_by_study:
        return
    table = runs.sql(
        f"""
        SELECT *, n_rows AS n_variants, {build_agreement_range_and_minority_sql(invalid)}
        FROM (SELECT study, source, model, condition, item, {SUMS_SQL}
              FROM answers JOIN sourced USING (study, item, variant)
              WHERE list_contains(?, study) GROUP BY study, source, model, condition, item)""",
        [list(sources_by_study)],
    )
    for study, names in sources_by_study.items():
        study_by_source = {
            name: measures.build_study_arrays_from_item_table(runs, study, table[table["source"] == name])
            for name in names
        }
        yield names, study_by_source


def _stack_unit_columns_of_sources(columns: Sequence[Columns]) -> Columns:
    """Join columns (items, units) of several sources: unit u of source s gets the number s * n_units + u."""
    return {name: np.hstack([source_columns[name] for source_columns in columns]) for name in columns[0]}


def _compute_item_values_by_measure(
    masses: Columns, means: Columns, spreads: Columns, thresholds_by_name: Mapping[str, float]
) -> dict[str, Array]:
    """Return, per measure, the item-level values whose mean it is; NaN for items without a value."""
    minority = spreads["minority"]
    flips = {
        name: np.where(np.isnan(minority), np.nan, minority > threshold)
        for name, threshold in thresholds_by_name.items()
    }
    return {
        "validity": masses["total"] / masses["rows"],
        "agreement_mean": means["agreement"],
        "range_mean": spreads["range"],
        "sd_mean": spreads["sd"],
        **flips,
    }


def _correlate_two_sources_in_each_draw(columns: Columns, draw_counts: Array) -> dict[str, Array]:
    """Correlate the two sources' item-level values; NaN if there are fewer than LEAST_ITEMS or one does not vary."""
    a, b = columns["a"], columns["b"]
    r = weighted.compute_pearson_correlation_per_draw(draw_counts, a, b)
    return {"r": r if len(a) >= LEAST_ITEMS else np.full_like(r, np.nan)}
