"""Make the tables of the page on negation: runs in, tidy frame out. `catalogue` lists them by name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd

from analysis.pages.negation import judgements, printed
from analysis.pages.negation.judgements import KINDS, TARGETS, UNIMPORTANT, Counts
from analysis.reporting.catalogue.published_numbers import OURS
from analysis.runs import Runs
from analysis.runs.folder import UNIT
from analysis.statistics import interval
from analysis.statistics.resampling import DRAWS, Array, bootstrap_intervals, compute_shares_or_differences_per_draw
from analysis.statistics.shares import build_shares_by_figure

WITHOUT, WITH = "original", "negated"
ACCURACIES = {"acc": (("before", "pairs"),), "acc_negated": (("after", "pairs"),),
              "acc_change": (("after", "pairs"), ("before", "pairs"))}  # fmt: skip
MeasureShares = Mapping[str, tuple[tuple[str, str], ...]]


def tabulate_minimal_pair_accuracy(runs: Runs, *, resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Measure accuracy on both sides of minimal pairs: Acc, Acc' and AccChg of Yoshida et al., section 4.2.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    resamples, seed
        Draws of the bootstrap over items (0: no intervals) and its seed. Shares have intervals without draws (Wilson,
        Newcombe): only where these cannot be computed does the number of draws matter.

    Returns
    -------
    DataFrame
        One row per model, condition and kind of pairs; see `waver table --list minimal_pairs`.
    """
    pair_counts = judgements.count_minimal_pair_judgements(runs)
    valid, pairs = (np.nansum(pair_counts.sums[name], axis=0) for name in ("valid", "pairs"))
    return (
        _measure_minimal_pair_accuracies(pair_counts, resamples, seed)
        .drop(columns="value")
        .assign(validity=valid / (2 * pairs))
    )


def tabulate_accuracy_by_position_and_word_class(runs: Runs, *, resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Measure the same by the position of the negation, and by the part of speech that it follows.

    Parameters
    ----------
    runs, resamples, seed
        As in `tabulate_minimal_pair_accuracy`.

    Returns
    -------
    DataFrame
        As `minimal_pairs`, without validity; by: position or part of speech, and its value.
    """
    parts = []
    for by, name in (("position", "position"), ("target", "part of speech")):
        frame = _measure_minimal_pair_accuracies(judgements.count_minimal_pair_judgements(runs, by), resamples, seed)
        parts.append(frame.assign(by=name, value=frame["value"].replace(TARGETS)))
    return pd.concat(parts, ignore_index=True)


def tabulate_negation_accuracy(runs: Runs, *, resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Measure the accuracy on pairs of sentences without and with a negation: D_orig and D_neg of the paper.

    Parameters
    ----------
    runs, resamples, seed
        As in `tabulate_minimal_pair_accuracy`.

    Returns
    -------
    DataFrame
        One row per model, condition and kind of sentences (original, negated). valid, accuracy: shares; majority: share
        of majority_label, the most frequent right label: the accuracy of always saying it.
    """
    instance_counts = judgements.count_pairs_and_labels_by_negation(runs)
    labels = judgements.list_entailment_labels(runs)
    parts = []
    for name in (WITHOUT, WITH):
        sums = _blank_items_lacking_named_counts(instance_counts, name)
        shares_by_measure = {"valid": ((f"{name}_valid", name),), "accuracy": ((f"{name}_right", name),)}
        golds = np.stack([np.nansum(sums[f"{name}_gold_{label}"], axis=0) for label in labels])
        n = np.nansum(sums[name], axis=0)
        with np.errstate(invalid="ignore"):
            majority = golds.max(axis=0) / n
        majority_labels = np.array(labels, object)[golds.argmax(axis=0)]
        frame = _build_frame_of_shares_and_differences(
            instance_counts.rows, sums, shares_by_measure, name, resamples, seed
        )
        frame = frame.drop(columns=["valid_lower", "valid_upper"])
        parts.append(frame.assign(sentences=name, majority_label=majority_labels, majority=majority)[n > 0])
    return _sort_by_unit(pd.concat(parts))


def tabulate_label_shares_by_negation(runs: Runs, *, resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Count how often each label is said with and without a negation.

    Parameters
    ----------
    runs, resamples, seed
        As in `tabulate_minimal_pair_accuracy`.

    Returns
    -------
    DataFrame
        One row per model, condition and label. said_X: share of X (original, negated) where it is said; right_X: where
        it is right; said_change, with its interval: negated minus original; n_X.
    """
    instance_counts, parts = judgements.count_pairs_and_labels_by_negation(runs), []
    sums = _blank_items_lacking_named_counts(instance_counts, WITHOUT, WITH)
    for label in judgements.list_entailment_labels(runs):
        shares_by_measure: MeasureShares = {
            "said_original": ((f"{WITHOUT}_said_{label}", WITHOUT),),
            "said_negated": ((f"{WITH}_said_{label}", WITH),),
            "said_change": ((f"{WITH}_said_{label}", WITH), (f"{WITHOUT}_said_{label}", WITHOUT)),
            "right_original": ((f"{WITHOUT}_gold_{label}", WITHOUT),),
            "right_negated": ((f"{WITH}_gold_{label}", WITH),),
        }
        frame = _build_frame_of_shares_and_differences(
            instance_counts.rows, sums, shares_by_measure, WITH, resamples, seed
        ).drop(columns="n")
        ends = [f"{name}_{end}" for name in shares_by_measure if name != "said_change" for end in ("lower", "upper")]
        frame = frame.drop(columns=ends).rename(columns={"said_change_lower": "lower", "said_change_upper": "upper"})
        counts = {f"n_{name}": np.nansum(sums[name], axis=0).astype(int) for name in (WITHOUT, WITH)}
        parts.append(frame.assign(label=label, **counts))
    return _sort_by_unit(pd.concat(parts))


def tabulate_negation_data_counts(runs: Runs) -> pd.DataFrame:
    """Count originals, pairs made from them and minimal pairs, as Tables 3 and 4 of Yoshida et al. do.

    The counts by position are missing where the position of any such negation is not known.
    """
    judgements.create_judgement_views(runs)
    count_expressions = ", ".join(_build_pair_count_sql_expressions())
    rows = runs.sql(
        f"""
        SELECT study, d_orig, d_neg, coalesce(m_important, 0) AS m_important, coalesce(m_unimportant, 0)
               AS m_unimportant, m_important_end, m_important_mid, m_unimportant_end,
               m_unimportant_mid
        FROM (SELECT study, count(*) FILTER (WHERE pattern = 'original') AS d_orig,
                     count(*) FILTER (WHERE pattern <> 'original') AS d_neg, min(position) AS place
              FROM asked_pairs GROUP BY study)
        LEFT JOIN (SELECT study, {count_expressions} FROM pairs GROUP BY study) USING (study)
        ORDER BY study"""
    )
    counts = rows.drop(columns="study").astype("float64")  # a count that is not known is NaN
    return pd.concat(
        [counts.assign(study=rows["study"], source=OURS), printed.read_printed_negation_data_counts()],
        ignore_index=True,
    )


def _build_pair_count_sql_expressions() -> list[str]:
    """List the SQL expressions that count minimal pairs by kind, and by kind and position."""
    parts = []
    for kind in KINDS:
        parts.append(f"count(*) FILTER (WHERE pairs = '{kind}') AS m_{kind}")
        unknown = f"count(*) FILTER (WHERE pairs = '{kind}' AND position IS NULL)"
        parts += [
            f"CASE WHEN {unknown} = 0 THEN count(*) FILTER (WHERE pairs = '{kind}' AND position = '{end}') END "
            f"AS m_{kind}_{end}"
            for end in ("end", "mid")
        ]
    return parts


def tabulate_negation_beside_printed(runs: Runs) -> pd.DataFrame:
    """Put the accuracies of these runs beside Tables 2, 7 and 8 of Yoshida et al.: other models, as context.

    The models of one tuning, which differ in the seed, are one row: their mean, as the paper has it.
    """
    pairs, single = tabulate_minimal_pair_accuracy(runs, resamples=0), tabulate_negation_accuracy(runs, resamples=0)
    ours = single.drop_duplicates(list(UNIT))[list(UNIT)].assign(source=OURS)
    for name in (WITHOUT, WITH):
        part = single[single["sentences"] == name]
        ours = ours.merge(part[[*UNIT, "accuracy"]].rename(columns={"accuracy": f"accuracy_{name}"}), "left")
    for kind in KINDS:
        part = pairs[pairs["pairs"] == kind]
        names = {name: f"{name}_{kind}" for name in ACCURACIES}
        ours = ours.merge(part[[*UNIT, *names]].rename(columns=names), "left")
    return pd.concat(
        [_average_tuned_models_over_seeds(runs, ours), printed.read_printed_negation_accuracy()], ignore_index=True
    )


def _average_tuned_models_over_seeds(runs: Runs, rows: pd.DataFrame) -> pd.DataFrame:
    """Average the rows of models that `waver tune` made from the same encoder, rows and grid, in the same condition.

    A number that one of them lacks has no mean.
    """
    tuned = {name: fields["tuning"] for name, fields in runs.info["models"].items() if fields.get("tuning")}
    tunings = [tuned.get(model) for model in rows["model"]]
    if not any(tunings):
        return rows
    group = [tuning["set"] if tuning else model for tuning, model in zip(tunings, rows["model"], strict=True)]
    grouped = rows.assign(
        group=group,
        model=[tuning["name"] if tuning else model for tuning, model in zip(tunings, rows["model"], strict=True)],
        setting=[f"tuned on {' + '.join(tuning['files'])}" if tuning else None for tuning in tunings],
        seeds=[float(tuning["seed"]) if tuning else np.nan for tuning in tunings],
    )
    accuracy_columns = [name for name in rows if name.startswith("acc")]
    first_values = dict.fromkeys(("source", "model", "setting"), "first")
    means = {name: partial(pd.Series.mean, skipna=False) for name in accuracy_columns}
    keys = ["study", "condition", "group"]
    averaged = grouped.groupby(keys, sort=False, as_index=False).agg({**first_values, "seeds": "nunique", **means})
    return averaged.assign(seeds=averaged["seeds"].where(averaged["seeds"] > 0)).drop(columns="group")


def tabulate_worst_pair_of_each_model_and_kind(runs: Runs) -> pd.DataFrame:
    """Find for every model and kind of pairs the one where the negation costs most of the right label's probability.

    Only pairs whose one side was judged rightly without the negation, and whose other side wrongly with it. Where a
    model gives no probabilities, it is the first such pair. Of several conditions of a model, the pair is from the one
    with the largest loss.
    """
    judgements.create_judgement_views(runs)
    return runs.sql(
        f"""
        SELECT a.study, a.model, a.condition, p.pairs, a.item, p.parent, p.variant,
               map_extract(sb.attributes, 'premise')[1] AS premise_before,
               map_extract(sb.attributes, 'hypothesis')[1] AS hypothesis_before,
               b.gold AS label_before, b.said AS said_before, b.p_gold AS p_before,
               map_extract(sa.attributes, 'premise')[1] AS premise_after,
               map_extract(sa.attributes, 'hypothesis')[1] AS hypothesis_after,
               a.gold AS label_after, a.said AS said_after, a.p_gold AS p_after
        FROM pairs AS p
        JOIN judgements AS a ON a.study = p.study AND a.item = p.item AND a.variant = p.variant
        JOIN judgements AS b ON b.study = p.study AND b.item = p.item AND b.variant = p.parent
                             AND b.model = a.model AND b.condition = a.condition
        JOIN asked_pairs AS sa ON sa.study = p.study AND sa.item = p.item AND sa.variant = p.variant
        JOIN asked_pairs AS sb ON sb.study = p.study AND sb.item = p.item AND sb.variant = p.parent
        JOIN units AS u ON u.study = a.study AND u.model = a.model AND u.condition = a.condition
        WHERE b.is_right AND NOT a.is_right
        QUALIFY row_number() OVER (PARTITION BY a.model, p.pairs
            ORDER BY b.p_gold - a.p_gold DESC NULLS LAST, u.position, p.place, p.parent) = 1
        ORDER BY min(u.position) OVER (PARTITION BY a.model), p.pairs = '{UNIMPORTANT}'"""
    )


def _measure_minimal_pair_accuracies(pair_counts: Counts, resamples: int, seed: int) -> pd.DataFrame:
    """Make one row per unit and kind of pairs: accuracy without the negation, with it, and the difference."""
    frame = _build_frame_of_shares_and_differences(
        pair_counts.rows, pair_counts.sums, ACCURACIES, "pairs", resamples, seed
    )
    return frame.rename(columns={"kind": "pairs", "acc_change_lower": "lower", "acc_change_upper": "upper"})


def _blank_items_lacking_named_counts(instance_counts: Counts, *names: str) -> dict[str, Array]:
    """Set to NaN, in every row, the originals of which it lacks any count named: they say nothing about the row."""
    empty = np.any([~(instance_counts.sums[name] > 0) for name in names], axis=0)
    return {name: np.where(empty, np.nan, values) for name, values in instance_counts.sums.items()}


def _build_frame_of_shares_and_differences(
    rows: pd.DataFrame,
    sums: Mapping[str, Array],
    shares_by_measure: MeasureShares,
    size_name: str,
    resamples: int,
    seed: int,
) -> pd.DataFrame:
    """Compute figures with intervals over originals: each a share of counts, or the first share minus the second.

    `shares_by_measure`: name -> the counts that its shares are made of; `size_name`: the count that is column `n`.
    """
    columns = {part: sums[part] for shares in shares_by_measure.values() for pair in shares for part in pair}
    intervals = bootstrap_intervals(
        columns,
        partial(compute_shares_or_differences_per_draw, parts_by_figure=shares_by_measure),
        partial(build_shares_by_figure, parts_by_figure=shares_by_measure),
        draws=resamples,
        seed=seed,
    )
    n = {"n": np.nansum(sums[size_name], axis=0).astype(int), "n_items": next(iter(intervals.values())).n_items}
    return rows.assign(**n, **interval.build_interval_columns(intervals))


def _sort_by_unit(frame: pd.DataFrame) -> pd.DataFrame:
    """Sort the rows of one unit together, units in the order of run.json; the index of a row is that of its unit."""
    return frame.sort_index(kind="stable").reset_index(drop=True)
