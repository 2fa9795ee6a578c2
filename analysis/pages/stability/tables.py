"""Measure how much answers change under paraphrasing (Haller et al., sections 4.1 and 4.2), with intervals.

Everything is computed over the paraphrases (pattern other than "original"); the original wording has its own columns.
Standard deviations have ddof = 1, undefined values are NaN. An answer agrees if its agreement is 0.5 or
more (section 4.2); exactly 0.5 is a tie, which is counted in `n_ties`, too.

Reference
---------
Haller, P., Vamvas, J. and Jäger, L. A. Yes, no, maybe? Revisiting language models' response stability under
paraphrasing for the assessment of political leaning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from analysis.measures.agreement import (
    CONVENTIONS,
    average_validity_of_paraphrases,
    build_agreement_range_and_minority_sql,
    create_agreement_tables,
)
from analysis.measures.thresholds import build_thresholds_by_flip_column, is_validity_below_half
from analysis.pages.stability import measures as model_measures
from analysis.pages.stability.added_measures import (
    ItemMeasures,
    add_reader_measures_to_item_table,
    estimate_added_measures,
)
from analysis.runs import Runs
from analysis.runs.conditions import MAY_DIFFER_BETWEEN_MODELS
from analysis.runs.folder import ORIGINAL, UNIT
from analysis.statistics import interval
from analysis.statistics.multiplicity import correct_families_by_holm
from analysis.statistics.resampling import DRAWS, bootstrap_differences, bootstrap_intervals

THRESHOLDS = (0.05, 0.10, 0.25)
MOST_PAIRS = 2000  # of a study that are all compared: 63 models under one condition have fewer


def tabulate_item_answers_over_paraphrases(
    runs: Runs, *, invalid: str = "dropped", measures: ItemMeasures | None = None
) -> pd.DataFrame:
    """Summarise the answers to every item over its paraphrases, by study, model and condition (section 4.2.2).

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    invalid
        Paraphrases without a valid answer are "dropped" from minority_share, as in the paper, or "inconsistent": they
        count, and are not with the majority. If samples were drawn, invalid ones are "dropped", or count: then as many
        samples without an answer as with the more frequent answer make the paraphrase one without a valid answer.
    measures
        As in `added_measures.add_reader_measures_to_item_table`: a column is added for each.

    Returns
    -------
    DataFrame
        study, model, condition, item;
        text: the original wording (without one, the first wording);
        n_variants: paraphrases with a response; n_valid, n_invalid: of these, with and without a defined agreement;
        with invalid="inconsistent", n_invalid contains those whose answer the invalid samples outvote, too;
        validity_mean, validity_sd: probability mass on the options (section 4.1), 0 to 1;
        agreement_mean, agreement_sd, agreement_min, agreement_max, agreement_range: of R^+, 0 to 1;
        minority_share: share of the valid paraphrases that are not with the majority (agree: 0.5 or more; disagree:
        below), 0 to 0.5; with equal halves there is no majority and the share is 0.5; with invalid="inconsistent",
        share of all paraphrases with a response, 0 to 1;
        n_ties: paraphrases with an agreement of exactly 0.5, which agree;
        original_agreement, original_validity: the same for the original wording;
        match_proportion: share of the item's paraphrases checked by hand that mean what the original means (Table 4 of
        the paper), from the attribute of this name; the original's, which is of all sources of paraphrases, else the
        mean over the paraphrases; NaN where nothing was checked.
        SD, range and minority share need two valid paraphrases and are NaN below. In the order of run.json and of the
        study.

    Raises
    ------
    InputError
        For an unknown `invalid`, and as `added_measures.add_reader_measures_to_item_table`.
    """
    create_agreement_tables(runs)
    sums = ("n_agree", "n_ties", "n_outvoted", "n_outvoted_agree", "validity_mean", "validity_sd", "agreement_mean",
            "agreement_sd", "agreement_min")  # fmt: skip
    invalid_sum = "n_variants - n_valid" + (" + coalesce(n_outvoted, 0)" if invalid == "inconsistent" else "")
    sum_columns = ", ".join(f"max({n}) FILTER (WHERE NOT original) AS {n}" for n in (*sums, "agreement_max"))
    item_table = runs.sql(
        f"""
        WITH item AS (
            SELECT study, model, condition, item, {sum_columns},
                   coalesce(max(n_rows) FILTER (WHERE NOT original), 0) AS n_variants,
                   coalesce(max(n_valid) FILTER (WHERE NOT original), 0) AS n_valid,
                   max(agreement_mean) FILTER (WHERE original) AS original_agreement,
                   max(validity_mean) FILTER (WHERE original) AS original_validity
            FROM item_patterns GROUP BY study, model, condition, item),
        checked AS (
            SELECT study, item, coalesce(
                       max(share) FILTER (WHERE pattern = '{ORIGINAL}'), avg(share)) AS match_proportion
            FROM (SELECT *, try_cast(map_extract(attributes, 'match_proportion')[1] AS DOUBLE) AS share FROM stimuli)
            GROUP BY study, item)
        SELECT study, model, condition, item, text, n_variants, n_valid, validity_mean, validity_sd,
               agreement_mean, agreement_sd, agreement_min, agreement_max,
               {build_agreement_range_and_minority_sql(invalid)},
               coalesce(n_ties, 0) AS n_ties, original_agreement, original_validity, {invalid_sum} AS n_invalid,
               match_proportion
        FROM item JOIN study_items AS s USING (study, item) JOIN checked USING (study, item)
             JOIN units AS u USING (study, model, condition)
        ORDER BY u.position, s.position"""
    )
    return add_reader_measures_to_item_table(runs, item_table, measures)


def tabulate_stability(
    runs: Runs, *, thresholds: Sequence[float] = THRESHOLDS, invalid: str = "dropped", resamples: int = DRAWS,
    seed: int = 0, measures: ItemMeasures | None = None,
) -> pd.DataFrame:  # fmt: skip
    """Summarise every model under every condition: Table 1 of the paper, with intervals.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    thresholds
        An item flips if more than this share of its own paraphrases deviates from the majority.
    invalid
        As in `tabulate_item_answers_over_paraphrases`. It changes flips only, which are then of all items with two
        paraphrases: an invalid answer has no agreement that a mean, a range or an SD could hold.
    resamples, seed
        Draws of the bootstrap over items (0: no intervals) and its seed.
    measures
        As in `tabulate_item_answers_over_paraphrases`; of each X, its mean over the items with a value, X_n of them,
        and its interval are added.

    Returns
    -------
    DataFrame
        study, model, condition;
        validity: mean mass over all paraphrases of all items (section 4.1), 0 to 1; validity_se: SD over these rows
        divided by the square root of their number (it treats rows as independent; the interval does not);
        validity_at_most: the upper bound where a server showed the most probable tokens only, so that the validity is
        the lower one, else NaN;
        agreement_mean: mean over items of an item's mean agreement, over all items with a valid answer;
        range_mean, range_sd: highest minus lowest agreement of an item, mean and SD across items (section 4.2.1; the SD
        is what the paper prints as standard error); sd_mean, sd_sd: the same of the SD of an item's agreement;
        flip_05 ...: share of items with minority_share above the threshold (flip_125 is 12.5 %);
        n_items: items in range, SD and flips, those with two valid paraphrases or more; n_variants: paraphrases with a
        response; n_excluded_items: the study's other items (see `excluded`);
        mark: "+" if the mean agreement of every item is above 0.5, "-" if it is below;
        low_mass: validity, or its lower bound, below 0.5, so agreement is renormalised from less than half of the
        probability;
        X_lower, X_upper: 95 % interval of X over items, of flips and of the validity of texts after
        `analysis.statistics.shares`, else the bootstrap's; no_interval: which X have none, and why.

    Raises
    ------
    InputError
        For no threshold or one outside 0 to 1, a number of draws or a seed that is out of range, and as
        `tabulate_item_answers_over_paraphrases`.
    """
    item_table = tabulate_item_answers_over_paraphrases(runs, invalid=invalid, measures=measures)
    tables = [
        compute_stability_rows_of_study(study, thresholds=thresholds, resamples=resamples, seed=seed, measures=measures)
        for study in model_measures.build_stability_studies(runs, item_table, list(measures or ()))
    ]
    bounds = average_validity_of_paraphrases(runs).drop(columns="validity")
    return pd.concat(tables, ignore_index=True).merge(bounds, how="left", on=list(UNIT))


def compute_stability_rows_of_study(
    study: model_measures.Study,
    *,
    thresholds: Sequence[float],
    resamples: int,
    seed: int,
    measures: ItemMeasures | None = None,
) -> pd.DataFrame:
    """Compute the rows of `tabulate_stability` for one study from its item-level columns.

    Parameters
    ----------
    study
        From `model_measures.build_study_arrays_from_item_table`.
    thresholds, resamples, seed, measures
        As in `tabulate_stability`.

    Returns
    -------
    DataFrame
        The columns of `tabulate_stability`.

    Raises
    ------
    InputError
        As `tabulate_stability`.
    """
    resample, means = partial(bootstrap_intervals, draws=resamples, seed=seed), {"agreement": study.agreement}
    estimates = model_measures.estimate_stability_measures(
        study.masses, means, study.spreads, build_thresholds_by_flip_column(thresholds), resample
    )
    added = estimate_added_measures(study.added, measures, draws=resamples, seed=seed)
    estimates |= added
    n_items = estimates["range_mean"].n_items
    columns: dict[str, Any] = interval.build_interval_columns(estimates)
    columns |= {f"{name}_n": figure.n_items for name, figure in added.items()}
    columns["n_items"] = n_items
    columns["n_variants"] = np.nansum(study.masses["rows"], axis=0).astype(int)
    columns["n_excluded_items"] = len(study.agreement) - n_items
    columns["mark"] = model_measures.list_unit_signs_common_to_all_items(study.agreement)
    columns["low_mass"] = is_validity_below_half(estimates["validity"].estimate)
    models, conditions = zip(*study.units, strict=True)
    about = {"study": study.name, "model": models, "condition": conditions}
    return pd.DataFrame({**about, **columns, "validity_se": model_measures.compute_validity_standard_error(study)})


def tabulate_flips_by_invalid_convention(runs: Runs, *, thresholds: Sequence[float] = THRESHOLDS) -> pd.DataFrame:
    """Compare both ways to treat invalid answers in flips, where they differ: dropped, or counted as inconsistent.

    Parameters
    ----------
    runs, thresholds
        As in `tabulate_stability`.

    Returns
    -------
    DataFrame
        study, model, condition; measure: flip_05 ..., as in table `stability`; n_invalid: paraphrases without a valid
        answer; flips_dropped, flips_inconsistent: the measure under both conventions.

    Raises
    ------
    InputError
        As `tabulate_stability`.
    """
    tables_by_convention = {
        name: tabulate_stability(runs, thresholds=thresholds, invalid=name, resamples=0) for name in CONVENTIONS
    }
    invalid_counts = (
        tabulate_item_answers_over_paraphrases(runs, invalid="inconsistent")
        .groupby(["study", "model", "condition"], sort=False)["n_invalid"]
        .sum()
    )
    about = tables_by_convention["dropped"][["study", "model", "condition"]]
    about = about.assign(
        n_invalid=invalid_counts.reindex(pd.MultiIndex.from_frame(about)).fillna(0).astype(int).to_numpy()
    )
    measure_tables = [
        about.assign(
            measure=name, **{f"flips_{convention}": table[name] for convention, table in tables_by_convention.items()}
        )
        for name in build_thresholds_by_flip_column(thresholds)
    ]
    frame = pd.concat(measure_tables).sort_index(kind="stable")
    is_different = frame["flips_dropped"].fillna(-1) != frame["flips_inconsistent"].fillna(-1)
    return frame[is_different].reset_index(drop=True)


def tabulate_stability_differences(
    runs: Runs, *, thresholds: Sequence[float] = THRESHOLDS, invalid: str = "dropped", resamples: int = DRAWS,
    seed: int = 0,
) -> pd.DataFrame:  # fmt: skip
    """Compute paired differences of the figures of `tabulate_stability`, a minus b, on the items that both have.

    Two units are compared if they are conditions of one model, or models under the same condition. Two models without a
    common condition (a base model asked in plain text, a tuned one in its chat template) are compared if the conditions
    differ only in form, prompt text and seed. Of more than `MOST_PAIRS` such pairs of a study, those are compared in
    which a unit meets the first unit in the order of run.json that it can be compared with: whatever the answers are,
    and so few that a p value can still be small after Holm.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    thresholds, invalid, resamples, seed
        As in `tabulate_stability`.

    Returns
    -------
    DataFrame
        study; measure: a figure of table `stability`; a_model, a_condition, b_model, b_condition; difference: a minus
        b, in the measure's unit; lower, upper: its 95 % interval, of flips and of the validity of texts after
        `analysis.statistics.shares`, else both sides resampled with the same items; no_interval: why there is none;
        n_items: items that both have (for validity: any response; for mean agreement: any valid answer; else: two valid
        paraphrases or more);
        p: two-sided p value of the difference, by the exact sign test for flips and for one text per item, else by the
        bootstrap (`statistics.significance`); p_least: the smallest p value that so few items or draws allow; p_holm: p
        corrected after Holm over the pairs of a study and measure.

    Raises
    ------
    InputError
        As `tabulate_stability`.
    """
    thresholds_by_name = build_thresholds_by_flip_column(thresholds)
    item_table, tables = tabulate_item_answers_over_paraphrases(runs, invalid=invalid), []
    for of_study, study in enumerate(model_measures.build_stability_studies(runs, item_table)):
        pairs = _select_unit_pairs_to_compare(
            list(_list_comparable_pairs(study.units, runs.info["conditions"][study.name]))
        )
        resample = partial(bootstrap_differences, pairs=pairs, draws=resamples, seed=seed)
        means = {"agreement": study.agreement}
        estimates = model_measures.estimate_stability_measures(
            study.masses, means, study.spreads, thresholds_by_name, resample
        )
        a, b = ([study.units[pair[side]] for pair in pairs] for side in (0, 1))
        for order, (measure, figure) in enumerate(estimates.items()):
            table = pd.DataFrame({"study": study.name, "measure": measure}, index=range(len(pairs)))
            table["a_model"], table["a_condition"] = [u[0] for u in a], [u[1] for u in a]
            table["b_model"], table["b_condition"] = [u[0] for u in b], [u[1] for u in b]
            table["difference"], table["lower"], table["upper"] = figure.estimate, figure.lower, figure.upper
            table["n_items"], table["no_interval"] = figure.n_items, figure.missing
            table["p"], table["p_least"] = figure.p, figure.p_least
            tables.append(table.assign(of_study=of_study, pair=range(len(pairs)), order=order))
    measure_rows = pd.concat(tables).sort_values(["of_study", "pair", "order"], ignore_index=True)
    measure_rows["p_holm"] = correct_families_by_holm(measure_rows, ["of_study", "measure"])
    return measure_rows.drop(columns=["of_study", "pair", "order"])


def tabulate_item_sds_averaged_over_models(runs: Runs) -> pd.DataFrame:
    """Find the items that are unstable across models: Figure 3 of the paper (section 4.2.3).

    The SD of an item's agreement is divided by the largest SD that the model has for any item, so that every model
    counts alike. A model asked under several conditions counts once, with the mean over them. Left out: a model whose
    answers never change (its largest SD is 0), and a condition under which a model does not answer
    (`thresholds.is_validity_below_half`): its SDs are those of the few answers that are left.

    Returns
    -------
    DataFrame
        study, item, text; family: causal or masked (run.json may name another); normalised_sd_mean: mean over the
        family's models, 0 to 1; normalised_sd_se: SD over the models divided by the square root of their number, NaN
        for one model; n_models.
    """
    units = average_validity_of_paraphrases(runs)
    judged_units = units.loc[~is_validity_below_half(units["validity"]), list(UNIT)]
    table = tabulate_item_answers_over_paraphrases(runs).merge(judged_units)
    largest = table.groupby(list(UNIT))["agreement_sd"].transform("max")
    table["normalised"] = table["agreement_sd"] / largest
    table = table[table["normalised"].notna()]  # also drops 0 / 0 of a model whose answers never change
    table = table.assign(
        family=table["model"].map({name: _name_causal_or_masked_family(m) for name, m in runs.info["models"].items()})
    )
    of_item = ["study", "item", "text", "family"]
    by_model = table.groupby([*of_item, "model"], sort=False)["normalised"].mean()
    over_models = by_model.groupby(of_item, sort=False)
    result = pd.DataFrame({"normalised_sd_mean": over_models.mean(), "normalised_sd_se": over_models.sem()})
    result["n_models"] = over_models.size()
    place = runs.sql(
        """
        SELECT study, item, i.position AS of_item, min(u.position) AS of_study
        FROM study_items AS i JOIN units AS u USING (study) GROUP BY study, item, i.position"""
    )
    result = result.reset_index().merge(place, on=["study", "item"])
    result = result.sort_values(["of_study", "of_item", "family"], ignore_index=True)
    return result.drop(columns=["of_study", "of_item"])


def _list_comparable_pairs(
    units: Sequence[tuple[str, str]], conditions: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[int, int]]:
    """Yield the pairs of units that `differences` compares, as indices into `units`."""

    def select_compared_fields(condition: str) -> dict[str, Any]:
        """Return the fields of a condition that are equal where models without a common one are compared."""
        left_out = (*MAY_DIFFER_BETWEEN_MODELS, "prompt_hash")
        return {key: value for key, value in conditions[condition].items() if key not in left_out}

    conditions_by_model: dict[str, set[str]] = {}
    for model, condition in units:
        conditions_by_model.setdefault(model, set()).add(condition)
    for (a, (a_model, a_condition)), (b, (b_model, b_condition)) in combinations(enumerate(units), 2):
        shares_model_or_condition = a_model == b_model or a_condition == b_condition
        lacks_common_condition = not conditions_by_model[a_model] & conditions_by_model[b_model]
        if shares_model_or_condition or (
            lacks_common_condition and select_compared_fields(a_condition) == select_compared_fields(b_condition)
        ):
            yield a, b


def _select_unit_pairs_to_compare(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Choose the pairs to compare (they are in order): all, or of too many, the first pair of every unit as side b."""
    if len(pairs) <= MOST_PAIRS:
        return list(pairs)
    first: dict[int, int] = {}
    for a, b in pairs:
        first.setdefault(b, a)
    return sorted((a, b) for b, a in first.items())


def _name_causal_or_masked_family(model_fields: Mapping[str, Any]) -> str:
    """Return causal or masked, as run.json says; causal for imported models that do not say."""
    return str(model_fields.get("family") or ("masked" if model_fields.get("engine") == "masked" else "causal"))
