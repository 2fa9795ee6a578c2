"""List the tables and figures of the page `reliability`; `columns` says what its columns mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.pages.reliability.columns import COLUMNS
from analysis.reporting.catalogue import Catalogue, Figure, Measures, Table, split_names
from analysis.reporting.catalogue.columns import ONE_INTERVAL, OWN_WORDINGS
from analysis.runs import Runs

ACCURACIES = frozenset({"accuracies"})  # protocols whose runs have no answers, only accuracies
_LIKE = "for wordings like these: with other items and other wordings drawn anew"
_ENDS = frozenset(split_names("widening_lower widening_upper"))
TABLES = {
    "wording_precision": Table(
        "tables.tabulate_precision_of_means",
        "Means with their intervals, and what more wordings would add",
        "Mean of every model with two 95 % intervals. For these wordings: items drawn anew, by t, or Wilson's for "
        f"shares of right answers. And {_LIKE}. {OWN_WORDINGS} "
        "Widening: standard error of the mean, divided by what it would be with wordings without end.",
        split_names("study model condition measure headline design validity validity_at_most n_items n_wordings "
              "n_shared n mean mean_lower mean_upper like_lower like_upper error error_least widening widening_lower "
              "widening_upper missing"),
        frozenset(split_names("headline n validity validity_at_most mean_lower mean_upper error_least")) | _ENDS,
        frozenset(split_names("n_shared missing")),
        repeats={"like_lower": "mean_lower", "like_upper": "mean_upper"},
        caption_without_repeats=f"Mean of every model with {ONE_INTERVAL} Items are drawn anew, by t, or Wilson's for "
        "shares of right answers. Widening: standard error of the mean, divided by what it would be with wordings "
        "without end.",
        measures=Measures(
            {"error": "Standard error", "widening": "Widening by wordings"}, kinds=("measure",), row_filter="headline",
        ),
    ),
    "variance_components": Table(
        "tables.tabulate_variance_components",
        "What the variance of the answers is made of",
        "Components of items, wordings, their interaction and samples (thoughts, of models that think) with 95 % "
        "intervals, which allow for one more item that is as unstable as can be. Worth: how many counted answers one "
        "thought with exact probabilities is worth. Where each item has its own wordings, these include the "
        "interaction. An estimate below 0 is shown as 0.",
        split_names("study model condition measure headline design validity n_items n_wordings sampled n_samples item "
              "item_lower item_upper wording wording_lower wording_upper interaction interaction_lower "
              "interaction_upper sample sample_lower sample_upper worth worth_lower worth_upper icc "
              "icc_mean icc_sample alpha missing"),
        frozenset(split_names("headline validity item_lower item_upper wording_lower wording_upper interaction_lower "
                        "interaction_upper sample_lower sample_upper worth_lower worth_upper")),
        frozenset(split_names("sampled n_samples sample worth icc_sample missing")),
        measures=Measures(
            {"icc": "ICC of a wording"}, headline=("icc",), lead="icc", kinds=("measure",), row_filter="headline",
        ),
    ),
    "spreads_at_k": Table(
        "tables.tabulate_spreads_at_k_wordings",
        "Range, SD and flips at the same number of wordings",
        "The range grows with the number of wordings. Here it is that of k wordings of each item, drawn without "
        "replacement: the exact mean over all draws, with 95 % intervals over items (flips: Wilson; else: bootstrap).",
        split_names("study model condition k n_items n_fewer wordings_least wordings_most range_all range_k sd_k "
              "flip_all flip_k intervals no_interval"),
        frozenset({"n_fewer"}), frozenset({"no_interval"}),
    ),
    "beyond_rewording": Table(
        "comparisons.tabulate_differences_beyond_rewording",
        "Differences between models, and whether rewording explains them",
        "Difference a minus b on the items and wordings that both have. Two 95 % intervals: for these wordings, and "
        f"{_LIKE}. {OWN_WORDINGS} The p value is the latter's. Same sign: "
        "probability that another study of this size finds it.",
        split_names("study measure headline a_model a_condition b_model b_condition n_items n_wordings difference "
              "lower upper like_lower like_upper p_items p p_holm same_wordings same_items same_both margin "
              "p_equivalent"),
        frozenset(split_names("headline lower upper p margin")), interval={"difference": ("lower", "upper")},
        repeats={"like_lower": "lower", "like_upper": "upper"},
        caption_without_repeats="Difference a minus b on the items and wordings that both have, with "
        f"{ONE_INTERVAL} The p value is that for wordings like these. Same sign: probability that another study of "
        "this size finds it.",
    ),
    "wording_ranking": Table(
        "comparisons.tabulate_model_ranking",
        "The ranking of the models, and whether it would stand",
        "Models by their means over common items and wordings, the highest first, or the lowest where lower is better. "
        "Behind them: the ranks that hold in 95 % of other studies of this size, and the probability to be first in "
        "one. Where all items share one wording, others have it, too.",
        split_names("study measure headline task model condition n_items n_wordings anew mean rank rank_lower "
              "rank_upper first"),
        frozenset({"headline", "rank_lower", "rank_upper"}), frozenset({"task"}),
    ),
    "ranking_reliability": Table(
        "comparisons.tabulate_ranking_reliability",
        "How reliable the ranking is",
        "Variance components over models, items and wordings, and the coefficients of generalizability made of them, "
        "with generalized 95 % intervals for models, items and wordings like these. A component below 0, which is "
        "due to chance, is shown as it is. Tau: expected correlation of the ranking with that of another study of this "
        "size.",
        split_names("study measure headline design n_models n_items n_wordings n_shared anew models item wording "
              "item_wording model_item model_wording residual relative relative_lower relative_upper relative_few "
              "absolute tau"),
        frozenset({"headline", "relative_lower", "relative_upper"}), frozenset({"n_shared"}),
    ),
    "templates": Table(
        "templates.tabulate_accuracies_by_template",
        "Accuracy with every template",
        "Share of right answers with each template that all items share, with Wilson's 95 % interval over items.",
        split_names("study model condition task template n_items accuracy accuracy_lower accuracy_upper"),
        frozenset(split_names("accuracy_lower accuracy_upper")), frozenset({"task"}),
    ),
    "template_scores": Table(
        "templates.tabulate_accuracy_summaries_over_templates",
        "Accuracy over templates, summed up",
        "Quantiles over templates (Polo et al. 2024); highest and mean accuracy, saturation and combined score "
        "(MaxP, AvgP, Sat and CPS of Mizrahi et al. 2024). The best of many templates is too high by luck: corrected "
        "values are without it. 95 % intervals over items, for these templates; the SD, which few templates hardly "
        "show, has none.",
        split_names("study model condition task n_items n_templates mean sd lowest highest highest_corrected range "
              "q05 q25 q50 q75 q95 gain saturation combined combined_corrected intervals"),
        frozenset(split_names("range q25 q75 combined_corrected")), frozenset({"task"}),
    ),
    "template_reliability": Table(
        "accuracies.tabulate_ranking_reliability_of_templates",
        "How reliably one template ranks the models, or four",
        "From accuracies without answers: components over models and templates, and coefficients of generalizability "
        "of a ranking by one template of each task and by four. Generalized 95 % intervals are for models and "
        "templates like these; few templates say little of others. Tau: expected correlation of the "
        "ranking with that of another study of this size, with other items and templates.",
        split_names("study condition task n_models n_tasks n_tasks_asked tasks n_templates n_templates_least "
              "n_templates_most n_items models template model_template model_template_least sampling one "
              "one_lower one_upper four four_lower four_upper one_items four_items kept_one tau"),
        frozenset(split_names("n_tasks n_tasks_asked tasks n_templates_least n_templates_most one_lower one_upper "
                        "four_lower four_upper one_items four_items")),
    ),
    "template_pairs": Table(
        "accuracies.tabulate_same_order_probabilities",
        "Which pairs of models keep their order",
        "From accuracies without answers: each pair of models, the better one first, by the mean over tasks. How "
        "likely it keeps its order with as many other templates of the same items, and with other items, too.",
        split_names("study condition task n_templates a_model b_model difference kept_one same_wordings same_both"),
    ),
    "planned_errors": Table(
        "checks.tabulate_foreseen_and_actual_errors",
        "Standard errors as a pilot foresees them, and as they are",
        "A pilot of a tenth of each item's wordings foresees standard errors with k others, as “waver plan” does. They "
        "are those of the mean, of the SD over wordings and of the share of flips. Actual: computed from k "
        "wordings that the pilot does not have. Of shared wordings, by the items that have all of them.",
        split_names("study model condition measure figure design n_items n_pilot k predicted actual"),
    ),
    "ranking_calibration": Table(
        "checks.tabulate_ranking_calibration",
        "Whether pairs of models keep their order as foreseen",
        "One half of the wordings foresees how likely each pair of models keeps its order in the other half, with the "
        "same items or with other ones. Pairs by this probability, and the share of them that kept it.",
        split_names("study measure anew low high n_models n_cases foreseen kept"),
    ),
}  # fmt: skip
FIGURES = {
    "wordings_needed": Figure(
        "Standard error by the number of wordings", "figures.build_wordings_needed_frames",
        empty_note="No model has two wordings of two items, so that nothing can be said about more wordings.",
    ),
    "wording_ranking": Figure(
        "The ranks that would hold in other studies", "figures.build_wording_ranking_frames",
        empty_note="Fewer than two models answer: there is nothing to rank.",
    ),
    "template_accuracies": Figure(
        "Accuracy with every template", "figures.build_template_accuracies_frames",
        empty_note="No templates with right answers: each item has its own wordings, or no right answer is known.",
    ),
    "template_reliability": Figure(
        "How reliably one template ranks the models, or four", "figures.build_template_reliability_frames",
        empty_note="No accuracies without answers: the table on the ranking has its reliability.",
    ),
    "template_ranges": Figure(
        "How far the templates of a task are apart", "figures.build_template_ranges_frames",
        empty_note="No accuracies without answers: the figure on templates has them.",
    ),
    "planned_errors": Figure(
        "Standard errors as a pilot foresees them, and as they are", "figures.build_planned_errors_frames",
        empty_note="No model has five wordings of two items: too few for a pilot and others.",
    ),
    "ranking_calibration": Figure(
        "Whether pairs of models keep their order as foreseen", "figures.build_ranking_calibration_frames",
        empty_note="Fewer than two models, or than four wordings or items, have nothing to hold back.",
    ),
}  # fmt: skip


def _explain_empty_reliability_page(runs: Runs, options: Mapping[str, Any]) -> str:
    """Say why the page has nothing to show; empty where it has something."""
    from analysis.measures.reworded.study import has_item_in_several_wordings
    from analysis.reporting.catalogue.rewordings import has_rewordings

    accuracies = runs.list_studies_of_protocols(*ACCURACIES)
    if has_rewordings(runs) or has_item_in_several_wordings(runs, accuracies):
        return ""
    return "no item has two wordings other than its original, and no score two samples"


CATALOGUE = Catalogue(
    place=55,
    protocols=ACCURACIES,
    tables=TABLES,
    columns=COLUMNS,
    figures=FIGURES,
    explain_no_data=_explain_empty_reliability_page,
    why_not_compared="accuracies by template hold no answers to single items",
    compares_wordings=True,
    unanswered_protocols=ACCURACIES,
)
