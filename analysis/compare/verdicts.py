"""Say what a comparison found: a verdict by a rule for each row, and lines for the terminal.

Rules, in this order; p values are after Holm over all rows of the call.

1. "cannot tell": there is no p value, as of one item.
2. "A is higher", "B is higher": p of the difference is below .05. It holds for wordings like these where p for such
   wordings is below .05, too; else for these wordings.
3. "equivalent within M": a margin M is given, and the p value of two one-sided tests is below .05. It holds for these
   wordings.
4. "no difference found": all else. That is no proof that there is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from analysis.compare.pairs import VALIDITY
from analysis.compare.power import MCNEMAR
from analysis.reporting.words import format_percent, format_quantity, format_significant_digits
from analysis.statistics.multiplicity import ALPHA

CANNOT_TELL, NO_DIFFERENCE = "cannot tell", "no difference found"
HIGHER_A, HIGHER_B = "A is higher", "B is higher"
EQUIVALENT = "equivalent within "
THESE, LIKE_THESE = "these wordings", "wordings like these"


def choose_verdicts_and_scopes_of_rows(rows: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Choose the verdict of every row by the rules above.

    `rows`: with columns difference, p_holm, p_like_holm, margin and p_equivalent_holm. Returns the verdicts; and what
    they hold for, empty where nothing was found.

    >>> row = {"difference": 0.1, "p_holm": 0.01, "p_like_holm": 0.2, "margin": 0.2, "p_equivalent_holm": 0.01}
    >>> choose_verdicts_and_scopes_of_rows(pd.DataFrame([row, row | {"p_holm": 0.2}]))
    (['A is higher', 'equivalent within 0.2'], ['these wordings', 'these wordings'])
    """
    verdicts, reach = [], []
    for row in rows.to_dict("records"):
        verdict, holds_for = NO_DIFFERENCE, ""
        if np.isnan(row["p_holm"]):
            verdict = CANNOT_TELL
        elif row["p_holm"] < ALPHA and row["difference"] != 0:
            verdict = HIGHER_A if row["difference"] > 0 else HIGHER_B
            holds_for = LIKE_THESE if row["p_like_holm"] < ALPHA else THESE
        elif row["p_equivalent_holm"] < ALPHA:
            verdict, holds_for = f"{EQUIVALENT}{row['margin']:g}", THESE
        verdicts.append(verdict)
        reach.append(holds_for)
    return verdicts, reach


def iterate_lines_about_compared_rows(rows: pd.DataFrame) -> Iterator[str]:
    """Write a line per row: the numbers, the interval and the verdict; below it, what would decide an open one.

    `rows`: from `measures.compare_unit_pairs`.
    """
    shown_names = None
    for row in rows.to_dict("records"):
        names = (row["study"], row["a_model"], row["a_condition"], row["b_model"], row["b_condition"])
        if names != shown_names:
            yield (
                f"{row['study']}: A is {row['a_model']} ({row['a_condition']}), B is {row['b_model']} "
                f"({row['b_condition']})"
            )
            shown_names = names
        yield f"  {_describe_measure_difference_and_verdict(row)}"
        if row["measure"] != VALIDITY and (row["a_validity"] < 1 or row["b_validity"] < 1):
            a, b = (format_percent(row[f"{side}_validity"], 1) for side in "ab")
            yield f"    validity: A {a}, B {b}; only answers valid in both"
        if row["verdict"] == NO_DIFFERENCE:
            yield from (f"    {line}" for line in _iterate_lines_about_power_and_needed_items(row))


def _describe_measure_difference_and_verdict(row: Mapping[str, Any]) -> str:
    """Write the measure, both means, the difference with its interval, p, and the verdict."""
    interval = _format_interval(row["lower"], row["upper"])
    like_interval = _format_interval(row["like_lower"], row["like_upper"])
    if np.isnan(row["like_lower"]):
        like = ""
    elif like_interval == interval:
        like = ", the same for wordings like these"
    else:
        like = f", wordings like these {like_interval}"
    wordings = "" if row["n_wordings"] == 1 else f" in {format_significant_digits(row['n_wordings'], 3)} wordings"
    sized = f"{format_quantity(int(row['n_items']), 'item')}{wordings}"
    better = ", lower is better" if row["lower_is_better"] else ""
    holds = f" (for {row['holds_for']})" if row["holds_for"] else ""
    a, b = (format_significant_digits(row[side], 4) for side in "ab")
    if row["n_items_differing"] == 0:
        return f"{row['measure']}: {a} in both, the same in all of {sized}: {row['verdict']}{holds}"
    return (
        f"{row['measure']}: A {a}, B {b}; "
        f"A less B {format_significant_digits(row['difference'], 3, '+')} {interval}{like}; "
        f"{_format_p(row['p_holm'])} after Holm ({row['test']}, {sized}{better}): {row['verdict']}{holds}"
    )


def _iterate_lines_about_power_and_needed_items(row: Mapping[str, Any]) -> Iterator[str]:
    """Say what this comparison could have found, and how many items would decide its difference."""
    if row["least_difference"] == row["least_difference"]:
        least = format_significant_digits(row["least_difference"], 2)
        yield f"so many items find a true difference of {least} with power .8"
    elif row["test"] == MCNEMAR:
        yield "so few items find no difference with power .8, however large it is"
    if row["n_items_to_decide"] == row["n_items_to_decide"]:
        more = max(int(row["n_items_to_decide"] - row["n_items"]), 0)
        yield (
            f"if the difference is as large as here, {int(row['n_items_to_decide']):,} items would find it with power "
            f".8 ({more:,} more)"
        )


def _format_interval(lower: float, upper: float) -> str:
    """Write an interval; say where there is none."""
    low, high = (format_significant_digits(end, 3, "+") for end in (lower, upper))
    return "[no interval]" if np.isnan(lower) else f"[{low}, {high}]"


def _format_p(p: float) -> str:
    """Write a p value with two digits."""
    return "p unknown" if np.isnan(p) else "p < .0001" if p < 0.0001 else f"p = {p:.2g}"
