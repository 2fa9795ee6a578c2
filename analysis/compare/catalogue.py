"""Say what the tables of the page `compare` hold; the page belongs to no report, so no catalogue of pages has them."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.reporting.catalogue import Table, split_names
from analysis.reporting.catalogue.columns import SHARED, Column

UNIT = "unit of the measure; share of its range where it has one"
PAIR = ("study", "a_model", "a_condition", "b_model", "b_condition")
DIFFERENCES = Table(
    "measures.compare_paired_runs",
    "Differences by every measure",
    "A less B, with 95 % intervals over items, and those for wordings like these where they are others; p after Holm "
    "over all rows. Finds: the true difference that so many items find with power .8. Would decide: items that find a "
    "difference as large as here, with that power. Both take the level that Holm asks of the smallest p.",
    (*PAIR, *split_names("measure n_items n_wordings n_items_differing a b difference like_lower like_upper test "
                         "p_holm p_like_holm p_equivalent_holm verdict holds_for least_difference n_items_to_decide")),
    optional=frozenset(split_names("p_equivalent_holm")), interval={"difference": ("lower", "upper")},
    repeats={"like_lower": "lower", "like_upper": "upper"},
)  # fmt: skip
ITEMS = Table(
    "items.tabulate_differing_items",
    "The items that differ most",
    "Of every two models, by the measure that their study is about: each item has its mean over the wordings in which "
    "both have a valid answer.",
    (*PAIR, *split_names("measure item text n_wordings a b difference")),
)
COLUMNS: Mapping[str, Column] = {
    "study": SHARED["study"],
    "item": SHARED["item"],
    "a_model": Column("model of A", header="Model of A"),
    "b_model": Column("model of B", header="Model of B"),
    "a_condition": Column("its condition", header="Condition of A"),
    "b_condition": Column("its condition", header="Condition of B"),
    "measure": Column("what is compared", header="Measure"),
    "text": Column("text of the item: of its original, else of its first wording", header="Text"),
    "n_items": Column("items with a valid answer of both", "items", "Items"),
    "n_wordings": Column("mean number of compared wordings of an item", "wordings", "Wordings", 1),
    "n_items_differing": Column("items in which A and B differ", "items", "Differ"),
    "a": Column("mean of A", UNIT, "A", 3),
    "b": Column("mean of B", UNIT, "B", 3),
    "difference": Column("A less B", UNIT, "A − B", 3),
    "like_lower": Column("lower end of the 95 % interval for wordings like these", UNIT, "Like: lower", 3),
    "like_upper": Column("upper end of the 95 % interval for wordings like these", UNIT, "Like: upper", 3),
    "test": Column("what the p value for these wordings is of", header="Test"),
    "p_holm": Column("p value for these wordings after Holm", "", "p, these", 4),
    "p_like_holm": Column("p value for wordings like these after Holm", "", "p, like these", 4),
    "p_equivalent_holm": Column("p value that the difference is within the margin, after Holm", "", "p, alike", 4),
    "verdict": Column("what is said, by the rules below Method", header="Verdict"),
    "holds_for": Column("for which wordings", header="Holds for"),
    "least_difference": Column("true difference that so many items find with power .8", UNIT, "Finds", 3),
    "n_items_to_decide": Column("items that find the difference with power .8, if it is as large as here", "items",
                                "Would decide", 0),
}  # fmt: skip
