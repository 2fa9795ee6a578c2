"""List the tables and figures of the page `scored`; `columns` says what its columns mean."""

from analysis.pages.scored.columns import COLUMNS
from analysis.reporting.catalogue import Catalogue, Figure, Measures, Rewordings, Table, split_names
from analysis.reporting.catalogue.columns import ONE_INTERVAL, OWN_WORDINGS

_LIKE = "for wordings like these: other items and other wordings drawn anew"
_PASSED = split_names("passed_all passed_some passed_none")
TABLES = {
    "scored_means": Table(
        "tables.tabulate_scored_means",
        "Mean score of every model",
        "Mean over items of each item's mean over its wordings, in the unit of the measure, with two 95 % intervals. "
        "For these wordings: items drawn anew, by t, or Wilson's where all scores are the lowest or the highest. And "
        f"{_LIKE}. {OWN_WORDINGS}",
        split_names("study model condition measure headline range direction design validity n_items n_wordings n mean "
              "mean_lower mean_upper like_lower like_upper error"),
        frozenset(split_names("headline validity n mean_lower mean_upper error")), frozenset({"range"}),
        repeats={"like_lower": "mean_lower", "like_upper": "mean_upper"},
        caption_without_repeats="Mean over items of each item's mean over its wordings, in the unit of the measure, "
        f"with {ONE_INTERVAL} Items are drawn anew, by t, or Wilson's where all scores are the lowest or the highest.",
        measures=Measures({"mean": "Mean score"}, kinds=("measure",), row_filter="headline"),
    ),
    "scored_spread": Table(
        "tables.tabulate_score_spread_over_wordings",
        "What the wordings of an item do to its score",
        "SD and range of the scores of an item over its wordings, means over items that have two or more. And the "
        "shares of these items whose score passes the threshold in all, in some, or in none of their wordings. 95 % "
        "intervals over items (shares: Wilson; else: bootstrap).",
        (*split_names("study model condition measure headline validity n_items wordings_least wordings_most sd range "
                      "threshold"), *_PASSED, *split_names("intervals no_interval")),
        frozenset(split_names("headline validity")), frozenset({"no_interval"}),
        measures=Measures(
            {"passed_some": "Passes in some wordings", "sd": "SD over wordings"}, headline=("passed_some",),
            lead="passed_some", kinds=("measure",), row_filter="headline",
        ),
    ),
    "scored_wordings": Table(
        "wordings.tabulate_mean_scores_by_wording",
        "Mean score in every wording that all items share",
        "Mean over items in one wording, with its 95 % interval over items (by t, or Wilson's where all scores are the "
        "lowest or the highest), the best wording first. The best of many wordings is too good by luck.",
        split_names("study model condition measure wording n_items mean mean_lower mean_upper"),
        frozenset({"mean_lower", "mean_upper"}),
    ),
    "scored_examples": Table(
        "wordings.tabulate_best_and_worst_wording_examples",
        "The items whose wordings are furthest apart",
        "Of every model, the items with the largest difference between their best and their worst wording.",
        split_names("study model condition measure item difference best best_text worst worst_text"),
    ),
    "scored_differences": Table(
        "tables.tabulate_scored_differences",
        "Differences between models",
        "Difference a minus b on the items and wordings that both have, in the unit of the measure. Two 95 % "
        f"intervals: for these wordings, and {_LIKE}. {OWN_WORDINGS} "
        "The p values are those of t tests with the same standard "
        "errors. Holm's correction is over the pairs of a study and measure.",
        split_names("study measure headline a_model a_condition b_model b_condition n_items n_wordings difference "
              "lower upper like_lower like_upper p_items p_items_holm p p_holm"),
        frozenset(split_names("headline lower upper p_items p")), interval={"difference": ("lower", "upper")},
        repeats={"like_lower": "lower", "like_upper": "upper"},
        caption_without_repeats="Difference a minus b on the items and wordings that both have, in the unit of the "
        f"measure, with {ONE_INTERVAL} The p values are those of t tests with the same standard errors. Holm's "
        "correction is over the pairs of a study and measure.",
    ),
}  # fmt: skip
FIGURES = {
    "scored_means": Figure(
        "Mean score of every model, with 95 % intervals", "figures.build_scored_means_frames",
        empty_note="No model has a score.",
    ),
    "scored_passes": Figure(
        "How many items pass in some, all or none of their wordings", "figures.build_scored_passes_frames",
        empty_note="No item has a score in two wordings.",
    ),
    "scored_passes_otherwise": Figure(
        "The same by the other measures", "figures.build_scored_passes_other_measure_frames", plot_name="scored_passes",
        file_name="scored_passes-otherwise", empty_note="There is one measure only.",
    ),
}  # fmt: skip
CATALOGUE = Catalogue(
    place=52,
    protocols=frozenset({"scored"}),
    tables=TABLES,
    columns=COLUMNS,
    figures=FIGURES,
    rewordings=Rewordings(
        "analysis.measures.reworded.scored:read_scored_studies", "analysis.measures.reworded.scored:has_rewordings"
    ),
)
