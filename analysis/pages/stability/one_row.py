"""Show both orders of the options as one in what compares models: the differences, and the pairs of wordings."""

from __future__ import annotations

import pandas as pd

from analysis.reporting import orders
from analysis.reporting.frames import Frames
from analysis.reporting.labels import UNIT
from analysis.statistics.multiplicity import ALPHA

SIDES = ("a_", "b_")


def differing(frames: Frames) -> set[tuple[str, str, frozenset[str]]]:
    """Return the pairs of conditions of one model that table `differences` shows to differ, after Holm.

    A difference that is smaller than one of the last digit of its measure cannot be seen, and keeps no rows apart.
    """
    pairs = frames["differences"]
    pairs = pairs[(pairs["p_holm"] < ALPHA) & (pairs["a_model"] == pairs["b_model"])]
    least = {measure: orders.digit("stability", measure) for measure in pairs["measure"].unique()}
    pairs = pairs[pairs["difference"].abs() >= pairs["measure"].map(least)]
    return {(row["study"], row["a_model"], frozenset({row["a_condition"], row["b_condition"]}))
            for row in pairs.to_dict("records")}  # fmt: skip


def pairs(frames: Frames) -> pd.DataFrame:
    """Return table `differences` with the rows of table `stability`, where orders are one, as its sides.

    A pair that stands for several has their mean difference, the interval from the lowest to the highest end, and the
    largest p value, if each has one: it differs where each of them does. Two orders of one row are no pair.
    """
    table, rows = frames["differences"], frames.joined("stability")
    conditions = frames.runs.info["conditions"]
    if len(rows) == len(frames["stability"]):
        return table
    for side in SIDES:
        table = orders.renamed(table, rows, conditions, side)
    own = table["study"], table["a_model"], table["a_condition"], table["b_model"], table["b_condition"]
    place = {unit: number for number, unit in enumerate(rows[UNIT].itertuples(index=False, name=None))}
    first, second = (
        pd.Series([place[unit] for unit in zip(own[0], model, condition, strict=True)], table.index)
        for model, condition in (own[1:3], own[3:5])
    )
    table = _turned(table, first > second)[first != second]
    names = ["study", "measure", *(f"{side}{name}" for side in SIDES for name in UNIT[1:])]
    rules = {"difference": "mean", "lower": "min", "upper": "max", "n_items": "min", "no_interval": "first",
             "p": "max", "p_least": "max", "p_holm": "max"}  # fmt: skip
    groups = table.groupby(names, sort=False, as_index=False)
    found, tested = groups.agg(rules), groups["p_holm"].count()["p_holm"] == groups.size()["size"]
    return found.assign(p_holm=found["p_holm"].where(tested))[list(frames["differences"])]


def _turned(table: pd.DataFrame, where: pd.Series) -> pd.DataFrame:
    """Exchange the sides of some pairs: b minus a."""
    turned = table.assign(
        a_model=table["b_model"], a_condition=table["b_condition"], b_model=table["a_model"],
        b_condition=table["a_condition"], difference=-table["difference"], lower=-table["upper"],
        upper=-table["lower"],
    )  # fmt: skip
    return table.where(~where, turned)


def divergent(frames: Frames) -> pd.DataFrame:
    """Return table `divergent`, of two orders that are one row in table `stability` only the one with more to show.

    That is one with two different answers, and of such the one with the larger range.
    """
    table = frames["divergent"]
    found = orders.renamed(table, frames.joined("stability"), frames.runs.info["conditions"])
    turned = (found["low_agreement"] >= 0.5) != (found["high_agreement"] >= 0.5)
    best = found.assign(turned=turned).sort_values(["turned", "range"], ascending=False, kind="stable")
    return found.loc[sorted(best.drop_duplicates(UNIT).index)]
