"""Write the captions of the figures; each function takes the frames of its namesake in `plots`."""

from __future__ import annotations

import pandas as pd

from analysis.pages.scored.columns import format_threshold
from analysis.reporting.words import explain_missing_interval_lines, format_count_range, format_quantity, labels

FEW_ANSWERS = "less than half of the responses have a score"  # of models that are not judged


def caption_scored_means(frame: pd.DataFrame) -> str:
    """Say what dots and lines are; from rows of table `scored_means` by one measure, with `silent` and `total`."""
    first = frame.iloc[0]
    bounds = f", from {first['range'].replace('-', ' to ', 1)}" if first["range"].count("-") == 1 else ""
    is_bare = frame["mean"].notna() & frame["mean_lower"].isna()
    better = " Lower is better." if first["direction"] == "lower" else ""
    return (
        f"Mean {first['measure']}{bounds}, of {format_quantity(frame['model'].nunique(), 'model')} over "
        f"{format_count_range(frame['n_items'], 'item')} and {format_quantity(int(frame['n'].max()), 'score')} at most."
        f"{better} {labels.describe_interval_lines(frame, ('mean_lower', 'mean_upper'))}"
        + (" No line: one item, or fewer than six that differ from the others." if is_bare.any() else "")
        + labels.describe_shown_rows(len(frame), int(first["total"]), "rows", "best and worst")
        + labels.explain_mark_of_unjudged_models(frame, FEW_ANSWERS)
    )


def caption_scored_passes(frame: pd.DataFrame) -> str:
    """Say what bars are; from rows of table `scored_spread` by one measure, with `silent`, `total` and `at_most`."""
    first = frame.iloc[0]
    return (
        f"Shares of the items that pass, with {first['measure']} of {format_threshold(first['threshold'])} or "
        f"{'less' if first['at_most'] else 'more'}, in some, in all, or in none of their wordings. "
        f"Over {format_count_range(frame['n_items'], 'item')} with two wordings or more. Lines: 95 % intervals of the "
        "share that passes in some, over items (Wilson)."
        + explain_missing_interval_lines(frame, "passed_some")
        + labels.describe_shown_rows(len(frame), int(first["total"]), "rows", "most and least changed")
        + labels.explain_mark_of_unjudged_models(frame, FEW_ANSWERS)
    )
