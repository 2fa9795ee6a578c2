"""Make the tables of the page on wording: runs in, tidy frame out. `catalogue` lists them by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise

import numpy as np
import pandas as pd

from analysis.measures.agreement import CONVENTIONS
from analysis.measures.thresholds import is_validity_below_half
from analysis.pages.wording import printed
from analysis.pages.wording.cells import (
    UNIT,
    WordingItemSums,
    average_validity_over_patterns_per_row,
    compute_wording_item_sums_of_all_studies,
    create_wording_answers_view,
)
from analysis.pages.wording.measures import UnitGroup, estimate_unit_group_measures
from analysis.reporting.catalogue.published_numbers import OURS
from analysis.runs import Runs
from analysis.runs.folder import ORIGINAL
from analysis.statistics import interval
from analysis.statistics.interval import Interval
from analysis.statistics.multiplicity import correct_families_by_holm
from analysis.statistics.resampling import DRAWS

ALL = "all"  # of languages, tasks or patterns: the mean over them
# Columns of units whose values weigh alike in a mean.
TASK_LEVEL, MODEL_LEVEL = [["study", "language", "task"]], [["model"]]
# Undefined for the original question, which is not compared with itself.
COMPARED_MEASURES = ("consistency", "diff_yes", "excess_yes", "accuracy_original", "diff_acc", "overall")
DIFFERENCE_MEASURES = ("valid", "consistency", "yes", "diff_yes", "excess_yes", "accuracy", "diff_acc", "overall")


def tabulate_answer_consistency_by_wording_kind(
    runs: Runs, *, invalid: str = "dropped", resamples: int = DRAWS, seed: int = 0
) -> pd.DataFrame:
    """Compute the measures of Takayama et al., section 3.2, of every model on every kind of wording.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`; studies of other protocols are left aside.
    invalid
        A pair with an invalid answer is "dropped", or counts as "inconsistent", wrong and not "Yes".
    resamples, seed
        Draws of the bootstrap over items (0: no intervals) and its seed.

    Returns
    -------
    DataFrame
        One row per study, model, language, task, condition and pattern, the original question first. `n` counts the
        pairs behind the measures (for "original", its answers), `valid` is the share of valid answers to this pattern;
        `accuracy` is after, `accuracy_original` before rewording, on the same pairs. NaN where undefined: no valid
        pair, no gold label.
    """
    item_sums = compute_wording_item_sums_of_all_studies(runs, invalid)
    frame = _tabulate_unit_group_measures(item_sums, [{i: 1.0} for i in range(len(item_sums.units))], resamples, seed)
    frame = pd.concat([item_sums.units[UNIT], frame], axis=1)
    frame["n"] = item_sums.sums["pairs"].sum(axis=0).astype(int)
    return _blank_comparisons_of_original(frame)


def tabulate_consistency_by_invalid_convention(runs: Runs) -> pd.DataFrame:
    """Compare both ways to treat invalid answers, where a pair has one: dropped, or counted; with the bounds.

    Returns
    -------
    DataFrame
        The columns of `UNIT`; n: pairs; n_pairs: of these, with two valid answers; valid: share of the responses to the
        pattern that are a valid answer, both under "inconsistent"; X_dropped, X_inconsistent: the measure under both
        conventions; consistency_most: if every pair with an invalid answer were consistent (if none were, it is
        consistency_inconsistent); yes_most: if every invalid answer to the pattern were "Yes" (if none were, it is
        yes_inconsistent). What people read in the invalid answers, Consistency and the share of "Yes" of all pairs lie
        between these.
    """
    tables_by_convention = {
        name: tabulate_answer_consistency_by_wording_kind(runs, invalid=name, resamples=0) for name in CONVENTIONS
    }
    counted = tables_by_convention["inconsistent"]
    frame = counted[[*UNIT, "n", "valid"]].copy()
    sums = compute_wording_item_sums_of_all_studies(runs, "inconsistent").sums
    frame["n_pairs"] = sums["read"].sum(axis=0).astype(int)
    for name in ("consistency", "yes", "diff_yes", "accuracy", "overall"):
        for convention, table in tables_by_convention.items():
            frame[f"{name}_{convention}"] = table[name]
    frame["consistency_most"] = counted["consistency"] + 1 - frame["n_pairs"] / frame["n"]
    frame["yes_most"] = counted["yes"] + 1 - frame["valid"]
    return frame[frame["n_pairs"] < frame["n"]].reset_index(drop=True)


def tabulate_means_over_patterns_and_tasks(
    runs: Runs, *, invalid: str = "dropped", resamples: int = DRAWS, seed: int = 0
) -> pd.DataFrame:
    """Average over the patterns and tasks of one language, for every model and condition (Takayama et al., Figure 3).

    The paper does not say how its Overall is averaged. Here Overall is the harmonic mean within each task and pattern,
    and what is shown is the plain mean of these: every pattern weighs the same within a task, every task the same
    within a language, however many items it has. A mean over fewer cells would not compare, so it is undefined where a
    cell is (`n_undefined` counts them). `yes` and `accuracy_original` are means over the same pairs.

    Parameters
    ----------
    runs, invalid, resamples, seed
        As in `tabulate_answer_consistency_by_wording_kind`.

    Returns
    -------
    DataFrame
        model, language, condition, n_tasks, n_patterns, n_undefined, n_items, and the measures with intervals.
    """
    item_sums = compute_wording_item_sums_of_all_studies(runs, invalid)
    groups = _tabulate_unit_groups_by_keys(
        item_sums, ["model", "language", "condition"], _mark_reworded_units(item_sums), TASK_LEVEL
    )
    groups = groups.drop(columns="n_models")
    return pd.concat([groups, _tabulate_unit_group_measures(item_sums, groups.pop("target"), resamples, seed)], axis=1)


def tabulate_training_stage_means(
    runs: Runs, *, invalid: str = "dropped", resamples: int = DRAWS, seed: int = 0
) -> pd.DataFrame:
    """Average over the base models and over the instruction-tuned ones (Takayama et al., Tables 1 and 3).

    Rows of `source` "these runs" are ours, by stage, condition, language, task and pattern; where there are several
    languages or tasks, rows "all" hold their mean, as Table 3 does: every model weighs the same, in it every task of
    every language. The printed rows follow, for comparison: other models and other items. A model whose stage run.json
    does not say is in no group. A model without one valid answer (`n_undefined` counts such cells) is in the mean of
    `valid` and in no other.

    Parameters
    ----------
    runs, invalid, resamples, seed
        As in `tabulate_answer_consistency_by_wording_kind`.

    Returns
    -------
    DataFrame
        stage, condition, language, task, pattern, n_models, n_undefined, n_items, the measures with intervals, source.
    """
    item_sums = compute_wording_item_sums_of_all_studies(runs, invalid)
    has_stage = item_sums.units["stage"].notna().to_numpy()
    frame = _tabulate_stage_groups(item_sums, has_stage)
    measured = _tabulate_unit_group_measures(item_sums, frame["target"], resamples, seed)
    measurable = _tabulate_stage_groups(item_sums, has_stage & _mark_units_with_pairs(item_sums))
    keys = ["stage", "condition", "language", "task", "pattern"]
    measurable_by_key = measurable.set_index(keys)["target"].to_dict()
    changed_by_place = {
        place: measurable_by_key[key]
        for place, key in enumerate(frame[keys].itertuples(index=False, name=None))
        if frame["n_undefined"][place] and key in measurable_by_key
    }
    changed = list(changed_by_place)
    measured_again = _tabulate_unit_group_measures(item_sums, changed_by_place.values(), resamples, seed).set_axis(
        changed
    )
    columns = [name for name in measured_again if name not in ("n_items", "valid", "valid_lower", "valid_upper")]
    measured.loc[changed, columns] = measured_again[columns]
    frame = _blank_comparisons_of_original(pd.concat([frame, measured], axis=1))
    ours = frame.drop(columns=["target", "n_tasks", "n_patterns"]).assign(source=OURS)
    return pd.concat([ours, printed.read_printed_means_by_training_stage()], ignore_index=True)


def _tabulate_stage_groups(item_sums: WordingItemSums, is_chosen: np.ndarray) -> pd.DataFrame:
    """Return one row per stage, condition, language, task and pattern; of several languages or tasks, then "all"."""
    keys = ["stage", "condition", "language", "task", "pattern"]
    cell_groups = _tabulate_unit_groups_by_keys(item_sums, keys, is_chosen, MODEL_LEVEL)
    if len(item_sums.units.loc[item_sums.units["stage"].notna(), ["language", "task"]].drop_duplicates()) < 2:
        return cell_groups
    all_groups = _tabulate_unit_groups_by_keys(item_sums, ["stage", "condition", "pattern"], is_chosen, MODEL_LEVEL)
    return pd.concat([cell_groups, all_groups.assign(language=ALL, task=ALL)], ignore_index=True)


def tabulate_pattern_means(
    runs: Runs, *, invalid: str = "dropped", resamples: int = DRAWS, seed: int = 0
) -> pd.DataFrame:
    """Average by kind of wording in one language, over all conditions and tasks, and the models that answer there.

    Every model weighs the same, in it every condition of every task.

    Parameters
    ----------
    runs, invalid, resamples, seed
        As in `tabulate_answer_consistency_by_wording_kind`.

    Returns
    -------
    DataFrame
        language, pattern, n_models, n_tasks, n_undefined (cells left out: no valid pair, or less than half of the
        model's answers valid), n_items, and the measures with intervals.
    """
    item_sums = compute_wording_item_sums_of_all_studies(runs, invalid)
    frame = _tabulate_unit_groups_by_keys(
        item_sums,
        ["language", "pattern"],
        _mark_reworded_units(item_sums) & _mark_answering_units(item_sums),
        MODEL_LEVEL,
    )
    all_groups = _tabulate_unit_groups_by_keys(
        item_sums, ["language", "pattern"], _mark_reworded_units(item_sums), MODEL_LEVEL
    )
    cell_counts = all_groups.set_index(["language", "pattern"])["target"].map(len)
    cell_counts = cell_counts.reindex(pd.MultiIndex.from_frame(frame[["language", "pattern"]]))
    frame["n_undefined"] = cell_counts.to_numpy(int) - frame["target"].map(len).to_numpy(int)
    frame = frame.drop(columns="n_patterns")
    return pd.concat([frame, _tabulate_unit_group_measures(item_sums, frame.pop("target"), resamples, seed)], axis=1)


def tabulate_strongest_contradictions(runs: Runs) -> pd.DataFrame:
    """Find for every model the pair of wordings between which it contradicts itself most: an example to read.

    Of the pairs with two valid answers that are not consistent, the one with the largest shift of p(Yes); where there
    are no probabilities, the first.
    """
    create_wording_answers_view(runs)
    return runs.sql(
        f"""
        SELECT p.study, p.model, p.condition, p.item, p.pattern, so.text AS text_original,
               CASE WHEN o.yes THEN 'Yes' ELSE 'No' END AS answer_original, o.p_yes AS p_original,
               sp.text AS text_reworded, CASE WHEN p.yes THEN 'Yes' ELSE 'No' END AS answer_reworded, p.p_yes
        FROM wording_answers AS p
        JOIN (SELECT * FROM wording_answers WHERE pattern = '{ORIGINAL}') AS o USING (study, model, condition, item)
        JOIN stimuli AS sp ON sp.study = p.study AND sp.item = p.item AND sp.variant = p.variant
        JOIN stimuli AS so ON so.study = p.study AND so.item = p.item AND so.variant = o.variant
        JOIN units AS u ON u.study = p.study AND u.model = p.model AND u.condition = p.condition
        WHERE p.meant <> o.meant
        QUALIFY row_number() OVER (PARTITION BY p.model ORDER BY
            abs(p.p_yes - CASE WHEN p.inverted THEN 1 - o.p_yes ELSE o.p_yes END) DESC NULLS LAST,
            u.position, p.place) = 1
        ORDER BY u.position"""
    )


def tabulate_shot_differences(
    runs: Runs, *, invalid: str = "dropped", resamples: int = DRAWS, seed: int = 0
) -> pd.DataFrame:
    """Measure what exemplars change: measures with shots minus those without, on the same items (Table 3, in brackets).

    Conditions are paired where they differ in nothing but their shots. Rows with an empty model are means over the
    models of the stage. A model is left out where less than half of its answers are valid. `p`: by the exact
    sign test where both conditions have one answer to each of the same items, else by the bootstrap
    (`statistics.significance`); `p_holm`: after Holm over all comparisons of the measure in the table.

    Parameters
    ----------
    runs, invalid, resamples, seed
        As in `tabulate_answer_consistency_by_wording_kind`.

    Returns
    -------
    DataFrame
        study, model, stage, language, task, condition, condition_zero, pattern, n_models, measure, difference, lower,
        upper, n_items, no_interval, p, p_least, p_holm.
    """
    item_sums = compute_wording_item_sums_of_all_studies(runs, invalid)
    units = item_sums.units[_mark_answering_units(item_sums)]
    shared_keys = ["study", "language", "task", "model", "pattern", "form", "seeds", "setting"]
    pairs = units.reset_index().merge(units[units["shots"] == 0].reset_index(), on=shared_keys, suffixes=("", "_zero"))
    pairs = pairs[pairs["shots"] > 0]
    single_models = pairs.assign(
        target=[{i: 1.0} for i in pairs["index"]], base=[{i: 1.0} for i in pairs["index_zero"]], n_models=1
    )
    keys = ["stage", "study", "language", "task", "condition", "condition_zero", "pattern"]
    stage_rows = _tabulate_unit_indices_per_key_combination(
        pairs[pairs["stage"].notna()], keys, {"target": "index", "base": "index_zero"}, MODEL_LEVEL
    )
    frame = pd.concat([single_models, stage_rows.assign(model="")], ignore_index=True)
    names = ["study", "model", "stage", "language", "task", "condition", "condition_zero", "pattern", "n_models"]
    return _tabulate_differences_between_unit_groups(item_sums, frame, names, resamples, seed)


def tabulate_stage_differences_by_series(
    runs: Runs, *, invalid: str = "dropped", resamples: int = DRAWS, seed: int = 0
) -> pd.DataFrame:
    """Measure what tuning changes: instruction-tuned minus base models of a series, same shots and items (Figure 7).

    A series is what run.json says it is; where it has several models of a stage, their mean counts. A model asked in
    several forms stands for its stage in all of them; of prompt files and ways to answer, those count in which both
    stages were asked, each the same, and in it every model. Of logs, the seeds count that both stages share; all, where
    they share none. A model is left out where less than half of its answers are valid. p values as in `shots`.

    Parameters
    ----------
    runs, invalid, resamples, seed
        As in `tabulate_answer_consistency_by_wording_kind`.

    Returns
    -------
    DataFrame
        series, study, language, task, shots, pattern; the rest as in `shots`.
    """
    item_sums = compute_wording_item_sums_of_all_studies(runs, invalid)
    staged_units = item_sums.units[_mark_answering_units(item_sums)].reset_index().dropna(subset=["series", "stage"])
    keys = ["series", "study", "language", "task", "shots", "pattern"]
    staged_units["is_seed_of_both"] = (
        staged_units.groupby([*keys, "setting", "seeds"])["stage"].transform("nunique") == 2
    )
    of_setting = staged_units.groupby([*keys, "setting"])
    is_chosen = staged_units["is_seed_of_both"] | ~of_setting["is_seed_of_both"].transform("any")
    staged_units = staged_units[is_chosen & (of_setting["stage"].transform("nunique") == 2)]
    parts = {stage: _tabulate_unit_indices_per_key_combination(staged_units[staged_units["stage"] == stage], keys,
                                                               {name: "index"}, [["setting"], *MODEL_LEVEL])
             for stage, name in (("instruct", "target"), ("base", "base"))}  # fmt: skip
    frame = parts["instruct"].merge(parts["base"], on=keys, suffixes=("", "_base"))
    frame["n_models"] += frame.pop("n_models_base")
    return _tabulate_differences_between_unit_groups(item_sums, frame, [*keys, "n_models"], resamples, seed)


def _blank_comparisons_of_original(frame: pd.DataFrame) -> pd.DataFrame:
    """Blank the measures that compare the original question with itself."""
    names = [
        name for name in map(str, frame) if name.removesuffix("_lower").removesuffix("_upper") in COMPARED_MEASURES
    ]
    reworded = frame["pattern"] != ORIGINAL
    blank = {name: frame[name].where(reworded) for name in names}
    # All that may be without an interval is Overall, which is blank in the rows of the original.
    return frame.assign(**blank, no_interval=frame["no_interval"].where(reworded, ""))


def _mark_units_with_pairs(item_sums: WordingItemSums) -> np.ndarray:
    """Tell which units have a pair to measure."""
    return np.asarray(item_sums.sums["pairs"].sum(axis=0) > 0)


def _mark_answering_units(item_sums: WordingItemSums) -> np.ndarray:
    """Tell which units have a pair to measure and a model that answers (`thresholds.is_validity_below_half`)."""
    with np.errstate(invalid="ignore"):
        valid = item_sums.sums["valid"].sum(axis=0) / item_sums.sums["asked"].sum(axis=0)
    return np.asarray(
        _mark_units_with_pairs(item_sums)
        & ~is_validity_below_half(average_validity_over_patterns_per_row(item_sums.units[UNIT].assign(valid=valid)))
    )


def _mark_reworded_units(item_sums: WordingItemSums) -> np.ndarray:
    """Tell which units are of a reworded pattern."""
    return (item_sums.units["pattern"] != ORIGINAL).to_numpy()


def _tabulate_unit_groups_by_keys(
    item_sums: WordingItemSums, keys: list[str], is_chosen: np.ndarray, levels: Sequence[list[str]]
) -> pd.DataFrame:
    """Return one row per combination of keys: its weighted units (`target`), and numbers of models, tasks, patterns."""
    units = item_sums.units[is_chosen].reset_index()
    undefined = ~_mark_units_with_pairs(item_sums)[units["index"]]
    units = units.assign(undefined=undefined, task_of=units["study"] + "\n" + units["language"] + "\n" + units["task"])
    counts = {"n_tasks": ("task_of", "nunique"), "n_patterns": ("pattern", "nunique"),
              "n_undefined": ("undefined", "sum")}  # fmt: skip
    return _tabulate_unit_indices_per_key_combination(units, keys, {"target": "index"}, levels, counts)


def _tabulate_unit_indices_per_key_combination(
    units: pd.DataFrame, keys: list[str], index_column_by_new_column: dict[str, str], levels: Sequence[list[str]],
    counts: Mapping[str, tuple[str, str]] = {},
) -> pd.DataFrame:  # fmt: skip
    """Return one row per combination of keys: in each new column units with weights, then n_models and other counts.

    Every value of the first level weighs the same, in it every value of the second one, and so on; then every unit.
    """
    weights = pd.Series(1.0, units.index)
    for upper, lower in pairwise(accumulate([keys, *levels, ["index"]])):
        parts = units.groupby(lower, dropna=False).ngroup()
        weights = weights / parts.groupby([units[name] for name in upper], dropna=False).transform("nunique")
    weighted = {
        name: list(zip(units[column], weights, strict=True)) for name, column in index_column_by_new_column.items()
    }
    aggregations = {
        **{name: (name, lambda pairs: dict(list(pairs))) for name in weighted},
        "n_models": ("model", "nunique"),
        **counts,
    }
    return units.assign(**weighted).groupby(keys, sort=False, dropna=False).agg(**aggregations).reset_index()


def _tabulate_unit_group_measures(
    item_sums: WordingItemSums, unit_groups: Iterable[UnitGroup], resamples: int, seed: int
) -> pd.DataFrame:
    """Compute the measures with their intervals, one row per group of units."""
    interval_by_measure = estimate_unit_group_measures(
        item_sums, [(group,) for group in unit_groups], resamples=resamples, seed=seed
    )
    return pd.DataFrame(
        {"n_items": interval_by_measure["valid"].n_items, **interval.build_interval_columns(interval_by_measure)}
    )


def _tabulate_differences_between_unit_groups(
    item_sums: WordingItemSums, pairs: pd.DataFrame, key_columns: Sequence[str], resamples: int, seed: int
) -> pd.DataFrame:
    """Make one row per pair of groups of units and measure; leave out undefined ones."""
    unit_group_pairs = list(zip(pairs["target"], pairs["base"], strict=True))
    interval_by_measure = estimate_unit_group_measures(item_sums, unit_group_pairs, resamples=resamples, seed=seed)
    pair_rows = pairs[list(key_columns)].reset_index(drop=True)
    frame = pd.concat(
        [_build_difference_rows_of_measure(pair_rows, name, interval_by_measure[name]) for name in DIFFERENCE_MEASURES],
        ignore_index=True,
    )
    is_compared = (frame["pattern"] != ORIGINAL) | ~frame["measure"].isin(COMPARED_MEASURES)
    frame = frame[is_compared & frame["difference"].notna()].reset_index(drop=True)
    return frame.assign(p_holm=correct_families_by_holm(frame, ["measure"]))


def _build_difference_rows_of_measure(pair_rows: pd.DataFrame, measure: str, estimates: Interval) -> pd.DataFrame:
    """Build the rows of one measure: the difference of every pair of groups of units, with interval and p value."""
    return pair_rows.assign(
        measure=measure, difference=estimates.estimate, lower=estimates.lower, upper=estimates.upper,
        n_items=estimates.n_items,
        no_interval=estimates.missing, p=estimates.p, p_least=estimates.p_least,
    )  # fmt: skip
