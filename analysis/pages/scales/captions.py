"""Write the captions of the figures; each function takes the frames of its namesake in `plots`."""

from __future__ import annotations

import pandas as pd

from analysis.reporting.words import format_count_range, format_quantity, labels


def caption_scales_scores(frame: pd.DataFrame) -> str:
    """Say what dots and lines are."""
    return (
        f"Mean answer of {format_quantity(frame['model'].nunique(), 'model')} on "
        f"{format_quantity(frame['scale'].nunique(), 'scale')} of {format_count_range(frame['n_items'], 'item')}, from "
        f"0, the lowest option, to 1, the highest, after reversing. "
        + labels.describe_interval_lines(frame, ("score_lower", "score_upper"))
        + labels.describe_shown_rows(frame["label"].nunique(), int(frame["total"].max()), "rows", "highest and lowest")
        + _describe_left_out_panels(frame, "scale")
        + labels.explain_mark_of_unjudged_models(frame)
    )


def caption_scales_styles(frame: pd.DataFrame) -> str:
    """Say what dots, lines and panels are."""
    return (
        f"Response styles of {format_quantity(frame['model'].nunique(), 'model')}, over "
        f"{format_count_range(frame['n_items'], 'item')}. Agrees: mean answer before reversing, less 0.5. Ends and "
        "middle: share of these options, less that of the other models. Others: answer shown in one way, less the "
        "other. "
        + labels.describe_interval_lines(frame, ("lower", "upper"))
        + labels.describe_shown_rows(frame["label"].nunique(), int(frame["total"].max()), "rows", "first and last")
        + _describe_left_out_panels(frame, "style")
        + labels.explain_mark_of_unjudged_models(frame)
    )


def _describe_left_out_panels(frame: pd.DataFrame, noun: str) -> str:
    """Say how many panels are left out."""
    return labels.describe_shown_rows(frame[noun].nunique(), int(frame["panels"].max()), f"{noun}s", "first")


def caption_scales_moves(frame: pd.DataFrame) -> str:
    """Say what dots and lines are."""
    squares = " Square: two models, asked in the same way." if (frame["change"] == "model").any() else ""
    return (
        f"How far two answers to an item are apart that differ in one thing alone, on average over "
        f"{format_count_range(frame['n_items'], 'item')}, as a share of the scale. Lines: 95 % intervals over items."
        f"{squares}"
    )


def caption_scales_items(frame: pd.DataFrame) -> str:
    """Say what the bars are."""
    scale, total = str(frame["scale"].iloc[0]), int(frame["total_models"].max())
    n_items, n_rows = frame["item"].nunique(), frame["label"].nunique()
    of_scale = f" of scale {labels.shorten_middle(scale, 30)}" if scale else ""
    is_single = n_rows == frame["model"].nunique()
    rows = format_quantity(n_rows, "model" if is_single else "combination")
    return (
        f"Mean shares of the options of {format_quantity(n_items, 'item')}{of_scale}, by {rows}"
        f"{f' of {total}' if n_rows < total else ''}, over {format_count_range(frame['n_wordings'], 'wording')}, "
        "before reversing. Lower options stand left of 0, higher ones right; the middle option on both sides. (R): "
        "reversed items."
        + labels.describe_shown_rows(n_items, int(frame["total_items"].max()), "items", "highest and lowest")
        + labels.explain_mark_of_unjudged_models(frame)
    )
