"""Say what the columns of the tables on scores mean."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.reporting.catalogue.columns import Column

UNIT = "unit of the measure"
FEW = "; none where some items are alike and fewer than six differ from these"
THESE, LIKE = "end of the 95 % interval for these wordings", "end of the 95 % interval for wordings like these"
OPEN = ", if scores have no bounds"
COUNTED = "share of items, 0 to 1"
PASSES = "at least the threshold, or at most where lower scores are better"


def format_threshold(score: float) -> str:
    """Write a threshold with three digits, and with all that stand before the decimal point.

    >>> [format_threshold(score) for score in (0.5, 12.345, 1500.0, 999.7, -15.5)]
    ['0.5', '12.3', '1,500', '1,000', '−15.5']
    """
    return (f"{score:,.0f}" if abs(score) >= 100 else f"{score:.3g}").replace("-", "−")


COLUMNS: Mapping[str, Column] = {
    # what a row is about
    "measure": Column("what the scores measure, as the condition names it", header="Measure"),
    "headline": Column("whether the sentences are about this measure: the first one of its study", header="Headline"),
    "scored_means.range": Column("lowest and highest score; empty: scores have no bounds", header="Bounds"),
    "direction": Column("which scores are better: higher or lower", header="Better"),
    "design": Column(
        "whether all items share the wordings (templates), as found from the texts or the attribute `template`, or "
        "each item has its own",
        header="Design",
    ),
    "validity": Column("share of the responses that have a score", "share, 0 to 1", "Validity", 2),
    "wording": Column("the wording that items share", header="Wording"),
    # sizes
    "n_items": Column("items with a score", "items", "Items"),
    "scored_spread.n_items": Column("items with a score in two wordings or more", "items", "Items"),
    "scored_differences.n_items": Column("items that both have", "items", "Items"),
    "n_wordings": Column("wordings of each item, as their harmonic mean", "wordings", "Wordings", 1),
    "wordings_least": Column("fewest scored wordings of such an item", "wordings", "Fewest"),
    "wordings_most": Column("most scored wordings of an item", "wordings", "Most"),
    "n": Column("scores", "scores", "n"),
    # means
    "mean": Column("mean over items of each item's mean score", UNIT, "Mean", 3),
    "mean_lower": Column(f"lower {THESE}{FEW}{OPEN}", UNIT, "Lower", 3),
    "mean_upper": Column(f"upper {THESE}{FEW}{OPEN}", UNIT, "Upper", 3),
    "like_lower": Column(f"lower {LIKE}{FEW}{OPEN}", UNIT, "Like: lower", 3),
    "like_upper": Column(f"upper {LIKE}{FEW}{OPEN}", UNIT, "Like: upper", 3),
    "error": Column("standard error of the mean, for wordings like these", UNIT, "Error", 3),
    "scored_wordings.mean": Column("mean score over items in this wording", UNIT, "Mean", 3),
    # spread
    "sd": Column("mean over items of the SD (n - 1) of an item's scores over its wordings", UNIT, "SD", 3),
    "range": Column("mean over items of the highest less the lowest score of an item's wordings", UNIT, "Range", 3),
    "threshold": Column("the score that an answer passes with", UNIT, "Threshold", 3),
    "passed_all": Column(f"items whose score passes in all wordings: {PASSES}", COUNTED, "Pass in all", 2),
    "passed_some": Column(f"items whose score passes in some wordings only: {PASSES}", COUNTED, "In some", 2),
    "passed_none": Column(f"items whose score passes in no wording: {PASSES}", COUNTED, "In none", 2),
    # examples
    "best": Column("score of the item in its best wording", UNIT, "Best", 3),
    "worst": Column("score of the item in its worst wording", UNIT, "Worst", 3),
    "best_text": Column("that wording", header="Best wording"),
    "worst_text": Column("that wording", header="Worst wording"),
    # differences
    "a_model": Column("model a", header="Model a"),
    "b_model": Column("model b", header="Model b"),
    "a_condition": Column("condition of a", header="Condition a"),
    "b_condition": Column("condition of b", header="Condition b"),
    "difference": Column("mean of a minus mean of b", UNIT, "a − b", 3),
    "scored_differences.lower": Column(f"lower {THESE}{FEW}", UNIT, "Lower", 3),
    "scored_differences.upper": Column(f"upper {THESE}{FEW}", UNIT, "Upper", 3),
    "scored_differences.like_lower": Column(f"lower {LIKE}{FEW}", UNIT, "Like: lower", 3),
    "scored_differences.like_upper": Column(f"upper {LIKE}{FEW}", UNIT, "Like: upper", 3),
    "scored_examples.difference": Column("how far the best and the worst wording are apart", UNIT, "Apart", 3),
    "p_items": Column("p value for these wordings: other items", "", "p, these", 3),
    "p_items_holm": Column("p value for these wordings after Holm", "", "p, these (Holm)", 3),
    "p": Column("p value for wordings like these: other items and other wordings", "", "p, like these", 3),
    "p_holm": Column("p value for wordings like these after Holm", "", "p, like these (Holm)", 3),
}
