"""Say which thoughts did not end: on every page, as they are neither answers nor refusals."""

from __future__ import annotations

import pandas as pd

from analysis.reporting.words import format_percent, format_quantity, labels
from analysis.reporting.words.doubts import LEFT_OUT, WRONG, Caution


def list_unclosed_thought_cautions(unclosed_counts: pd.DataFrame) -> list[str]:
    """Return the cautions about thoughts that did not end, or were closed by force; empty where all ended.

    `unclosed_counts`: from `analysis.measures.thoughts.count_unclosed_thoughts`. There is a caution for the thoughts
    without an answer, and one for those closed at a budget.
    """
    cautions: list[str] = []
    for is_forced, consequence in (
        (False, "They have no answer, and are in no mean: a larger --max-tokens may end them"),
        (True, "They were closed by force, and their answers count: a larger --budget may end them"),
    ):
        rows = unclosed_counts[unclosed_counts["budget"].astype(bool) == is_forced]
        n_unclosed, n_thoughts = int(rows["unclosed"].sum()), int(rows["thoughts"].sum())
        if not n_unclosed:
            continue
        share = rows["unclosed"] / rows["thoughts"]
        most = share.idxmax()
        name = labels.build_row_labels(unclosed_counts)[most]
        worst = f"most of {name}, {format_percent(share[most])}" if len(rows) > 1 else str(name)
        n_unanswered = 0 if is_forced else int(rows["unanswered"].sum())
        none = f" {format_quantity(n_unanswered, 'prompt')} got no answer at all." if n_unanswered else ""
        cautions.append(
            Caution(
                f"{format_percent(n_unclosed / n_thoughts)} of {format_quantity(n_thoughts, 'thought')} did not end "
                f"within their tokens ({worst}). {consequence}.{none}",
                WRONG if is_forced else LEFT_OUT,
            )
        )
    return cautions
