"""Say what the columns of the tables on changes over time mean."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.reporting.catalogue.columns import Column

CHANGED, NOT_FOUND, CANNOT_TELL = "changed", "no change found", "cannot tell"  # what column `found` says
UNIT = "unit of the measure"
SIDES = "mean over items of the looks"
LAST = "; where none was found, of"
THESE, LIKE = "end of the 95 % interval for these wordings", "end of the 95 % interval for wordings like these"
AT_ONCE = "; of a change, they hold at once for all looks that it could begin with"
PAID = "corrected for all looks that are planned"
SERIES = ["study", "model", "condition", "measure"]
COLUMNS: Mapping[str, Column] = {
    # what a row is about
    "measure": Column(
        "what is measured; a score within bounds is a share of its range; flips: items of which more than 5 % of the "
        "wordings (of agreement: paraphrases) are answered in the other way than the rest; validity: mass on the "
        "options, or share of texts that can be read as one, of all that was asked",
        header="Measure",
    ),
    "headline": Column("whether the sentences are about this measure", header="Headline"),
    "look": Column("number of the time at which the items were asked", header="Look"),
    "time": Column(
        "when: the day that the run was started; where days do not tell the looks apart, with minute or second, else "
        "the name of the run folder",
        header="Time",
    ),
    "folder": Column("the run folder", header="Folder"),
    "wordings": Column("whether the wordings of the looks are the same each time, or fresh", header="Wordings are"),
    "changed_settings": Column(
        "settings of the model or the condition that run.json records otherwise than at the look before",
        header="Changed settings",
    ),
    # sizes
    "n_items": Column("items that all looks have, with an answer", "items", "Items"),
    "drift_looks.n_items": Column("items that all looks have", "items", "Items"),
    "n_left_out": Column("items of the last look that another look has not, or otherwise", "items", "Left out"),
    "n_wordings": Column("wordings of an item with an answer, the mean over items", "wordings", "Wordings", 1),
    "n_looks": Column("looks", "looks", "Looks"),
    "n_untested": Column("looks beyond those that the level is spent on; they are not tested", "looks", "Untested"),
    "validity_least": Column("the lowest validity of all looks", "share, 0 to 1", "Least validity", 2),
    "validity_least_at_most": Column(
        "upper bound of the lowest validity, where only bounds are known", "share, 0 to 1", "At most", 2
    ),
    "lower_is_better": Column("whether lower is better", header="Lower is better"),
    # numbers
    "value": Column("mean over items of each item's mean over its wordings", UNIT, "Mean", 3),
    "value_lower": Column(f"lower {THESE}", UNIT, "Lower", 3),
    "value_upper": Column(f"upper {THESE}", UNIT, "Upper", 3),
    "like_lower": Column(f"lower {LIKE}; none where they do not tell", UNIT, "Like: lower", 3),
    "like_upper": Column(f"upper {LIKE}; none where they do not tell", UNIT, "Like: upper", 3),
    "p_so_far": Column(f"p value of a change up to this look, {PAID}", "", "p so far", 3),
    # changes
    "found": Column(
        "changed: p after Holm is below .05; no change found: it is not, which is no proof that there is none; cannot "
        "tell: there is no test, or it could not find a change with so few items or shared wordings",
        header="Found",
    ),
    "p": Column(f"p value of a change at any look, {PAID}", "", "p", 3),
    "p_holm": Column("the same after Holm over all rows", "", "p (Holm)", 3),
    "alarm_time": Column("the look that found the change first", header="Found at"),
    "changed_time": Column("the look that the strongest change begins with", header="Since"),
    "likely_first": Column("the first look that the change may begin with: in 95 % of changes", header="Since: first"),
    "likely_last": Column("the last look that the change may begin with: in 95 % of changes", header="Since: last"),
    "before": Column(f"{SIDES} before the change{LAST} all looks but the last", UNIT, "Before", 3),
    "after": Column(f"{SIDES} from the change on{LAST} the last look", UNIT, "After", 3),
    "difference": Column("after minus before", UNIT, "After − before", 3),
    "lower": Column(f"lower {THESE}{AT_ONCE}", UNIT, "Lower", 3),
    "upper": Column(f"upper {THESE}{AT_ONCE}", UNIT, "Upper", 3),
    "drift_changes.like_lower": Column(f"lower {LIKE}{AT_ONCE}; none where they do not tell", UNIT, "Like: lower", 3),
    "drift_changes.like_upper": Column(f"upper {LIKE}{AT_ONCE}; none where they do not tell", UNIT, "Like: upper", 3),
    # items
    "drift_items.before": Column("mean of the item over its looks before the change", UNIT, "Before", 3),
    "drift_items.after": Column("mean of the item over its looks from the change on", UNIT, "After", 3),
    "text": Column("the item's own wording, or its first one", header="Text"),
    "before_text": Column("a rewording of the last look before the change", header="Asked before"),
    "after_text": Column("a rewording of the first look from the change on", header="Asked after"),
}
