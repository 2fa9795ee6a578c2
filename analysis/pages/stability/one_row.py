"""Show both orders of the options as one in what compares models: the differences, and the pairs of wordings."""

from __future__ import annotations

import pandas as pd

from analysis.reporting.catalogue import orders
from analysis.reporting.catalogue.frames import Frames
from analysis.reporting.words import labels
from analysis.reporting.words.labels import UNIT
from analysis.statistics.multiplicity import ALPHA

SIDES = ("a_", "b_")


def find_significantly_differing_condition_pairs(frames: Frames) -> set[tuple[str, str, frozenset[str]]]:
    """Return the pairs of conditions of one model that table `differences` shows to differ, after Holm.

    A difference that is smaller than one of the last digit of its measure cannot be seen, and keeps no rows apart.
    """
    pairs = frames["differences"]
    pairs = pairs[(pairs["p_holm"] < ALPHA) & (pairs["a_model"] == pairs["b_model"])]
    smallest_visible = {
        measure: orders.compute_last_digit_unit_of_column("stability", measure) for measure in pairs["measure"].unique()
    }
    pairs = pairs[pairs["difference"].abs() >= pairs["measure"].map(smallest_visible)]
    return {(row["study"], row["a_model"], frozenset({row["a_condition"], row["b_condition"]}))
            for row in pairs.to_dict("records")}  # fmt: skip


def pool_differences_over_option_orders(frames: Frames) -> pd.DataFrame:
    """Return table `differences` with the rows of table `stability`, where orders are one, as its sides.

    A pair that stands for several has their mean difference, the interval from the lowest to the highest end, and the
    largest p value, if each has one: it differs where each of them does. Two orders of one row are no pair.
    """
    table, rows = frames["differences"], frames.build_table_with_joined_option_orders("stability")
    conditions = frames.runs.info["conditions"]
    if len(rows) == len(frames["stability"]):
        return table
    for side in SIDES:
        table = orders.rename_conditions_like_joined_table(table, rows, conditions, side)
    unit_columns = table["study"], table["a_model"], table["a_condition"], table["b_model"], table["b_condition"]
    place = {unit: number for number, unit in enumerate(rows[UNIT].itertuples(index=False, name=None))}
    first, second = (
        pd.Series([place[unit] for unit in zip(unit_columns[0], model, condition, strict=True)], table.index)
        for model, condition in (unit_columns[1:3], unit_columns[3:5])
    )
    table = _swap_sides_of_pairs(table, first > second)[first != second]
    names = ["study", "measure", *(f"{side}{name}" for side in SIDES for name in UNIT[1:])]
    rules = {"difference": "mean", "lower": "min", "upper": "max", "n_items": "min", "no_interval": "first",
             "p": "max", "p_least": "max", "p_holm": "max"}  # fmt: skip
    groups = table.groupby(names, sort=False, as_index=False)
    joined_pairs, all_tested = groups.agg(rules), groups["p_holm"].count()["p_holm"] == groups.size()["size"]
    return joined_pairs.assign(p_holm=joined_pairs["p_holm"].where(all_tested))[list(frames["differences"])]


def _swap_sides_of_pairs(table: pd.DataFrame, is_swapped: pd.Series) -> pd.DataFrame:
    """Exchange the sides of some pairs: b minus a."""
    swapped = table.assign(
        a_model=table["b_model"], a_condition=table["b_condition"], b_model=table["a_model"],
        b_condition=table["a_condition"], difference=-table["difference"], lower=-table["upper"],
        upper=-table["lower"],
    )  # fmt: skip
    return table.where(~is_swapped, swapped)


def select_divergent_wordings_of_judged_models(frames: Frames) -> pd.DataFrame:
    """Return the rows of table `divergent` about models that are judged, as examples of what wordings do.

    Of two orders that are one row in table `stability`, it is only the one with more to show: one with two different
    answers, and of such the one with the larger range. What a model says with little of its probability is no example
    (`thresholds.is_validity_below_half`).
    """
    table = labels.add_nonanswering_unit_column(frames["divergent"], frames["stability"])
    table = table[~table["silent"]].drop(columns="silent")
    wording_pairs = orders.rename_conditions_like_joined_table(
        table, frames.build_table_with_joined_option_orders("stability"), frames.runs.info["conditions"]
    )
    has_two_answers = (wording_pairs["low_agreement"] >= 0.5) != (wording_pairs["high_agreement"] >= 0.5)
    best = wording_pairs.assign(turned=has_two_answers).sort_values(["turned", "range"], ascending=False, kind="stable")
    return wording_pairs.loc[sorted(best.drop_duplicates(UNIT).index)]
