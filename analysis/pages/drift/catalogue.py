"""List the tables and figures of the page `drift`; `columns` says what its columns mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.pages.drift.columns import COLUMNS
from analysis.reporting.catalogue import Catalogue, Figure, Table, split_names
from analysis.reporting.catalogue.columns import ONE_INTERVAL
from analysis.runs import Runs

TABLES = {
    "drift_changes": Table(
        "changes.tabulate_change_verdict_of_each_series",
        "What changed, since when, and by how much",
        "Each look is tested against all before it, alone and with those of a window before it. The level is spent on "
        "all planned looks, and Holm's correction is over all rows. Difference: with its 95 % interval for wordings "
        "like these, which holds at once for all looks that a change could begin with; where none was found, of the "
        "last look.",
        split_names("study model condition measure headline lower_is_better validity_least validity_least_at_most "
              "n_looks n_untested n_items "
              "wordings found before after difference lower upper like_lower like_upper changed_time likely_first "
              "likely_last alarm_time p p_holm"),
        frozenset(split_names("headline lower_is_better validity_least validity_least_at_most n_untested p lower upper "
                              "like_lower like_upper")),
        frozenset(split_names("validity_least_at_most alarm_time changed_time likely_first likely_last")),
        interval={"difference": ("like_lower", "like_upper")},
    ),
    "drift_measures": Table(
        "tables.tabulate_measures_at_each_look",
        "Every measure at every time",
        "Mean over the items that all looks have, with two 95 % intervals. For these wordings: items drawn anew. For "
        "wordings like these: other items and other wordings drawn anew.",
        split_names("study model condition measure headline look time n_items n_wordings value value_lower value_upper "
              "like_lower like_upper p_so_far"),
        frozenset(split_names("headline value_lower value_upper")),
        repeats={"like_lower": "value_lower", "like_upper": "value_upper"},
        caption_without_repeats=f"Mean over the items that all looks have, with {ONE_INTERVAL}",
    ),
    "drift_items": Table(
        "changes.tabulate_most_changed_items",
        "The items that changed most",
        "Of every measure in which a change was found, the items whose means before and after it differ most. The "
        "largest differences of many are too large by chance.",
        split_names("study model condition measure item before after difference text before_text after_text"),
        optional=frozenset(split_names("before_text after_text")),
        interval={"difference": None},
    ),
    "drift_looks": Table(
        "tables.tabulate_looks_of_models_and_conditions",
        "The times at which the items were asked",
        "Every time of every model and condition, with its run folder, and what was set otherwise than before.",
        split_names("study model condition look time folder wordings n_items n_left_out n_wordings validity "
              "validity_at_most changed_settings"),
        optional=frozenset({"validity_at_most", "changed_settings"}),
    ),
}  # fmt: skip
FIGURES = {
    "drift_series": Figure(
        "Every model over time, with 95 % intervals", "figures.build_drift_series_frames",
        empty_note="No model has answers at two times.",
    ),
    "drift_series_otherwise": Figure(
        "The same by the other measures", "figures.build_drift_other_measure_frames", plot_name="drift_series",
        file_name="drift_series-otherwise", empty_note="There is one measure only.",
    ),
}  # fmt: skip


def _explain_empty_drift_page(runs: Runs, options: Mapping[str, Any]) -> str:
    """Say that no model was asked at two times; empty where one was."""
    from analysis.pages.drift.series import has_model_asked_twice

    return "" if has_model_asked_twice(runs) else "no model and condition was asked at two times"


CATALOGUE = Catalogue(
    place=53,
    protocols=frozenset(),
    tables=TABLES,
    columns=COLUMNS,
    figures=FIGURES,
    explain_no_data=_explain_empty_drift_page,
    compares_wordings=True,
    over_time=True,
)
