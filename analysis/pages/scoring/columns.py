"""Say what the columns of the tables of scores mean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from analysis.reporting.catalogue.columns import MASS, SHARE, Column, Pattern

COLUMNS: Mapping[str, Column] = {
    # what is judged, by whom, and how
    "scores.model": Column("model id as in run.json; gold: the human scores", header="Model"),
    "item": Column("id of the item: one text to judge", header="Item"),
    "text": Column("the text that is judged", header="Text"),
    "score_items.source": Column(
        "what the text was made from, such as the sentence that was translated; empty where the item names nothing",
        header="Source",
    ),
    "stage": Column("base, instruct or tuned, as run.json has it", header="Stage"),
    "score_printed.stage": Column("base or instruct, as printed; none for the human scores", header="Stage"),
    "series": Column("what a base model and the models tuned from it share, as run.json has it", header="Series"),
    "score_printed.series": Column("the model's series, as printed; gold: the human scores", header="Series"),
    "group": Column("group of items, such as a language pair; all: items that name none", header="Group"),
    "range": Column("range of scores that was asked for", header="Range"),
    "temperature": Column("temperature that the scores were asked at", "", "Temperature", 1),
    "method": Column(
        "sampled (mean of some samples), exact (expected score), or thought (after thoughts; how these were sampled, "
        "effort and budget follow)",
        "",
        "Method",
    ),
    "setting": Column("range, temperature and method", "", "Setting"),
    "form": Column("form of the prompt: plain or chat", "", "Form"),
    "prompt": Column("name of the file of the prompt; empty for Waver's own", "", "Prompt"),
    "samples": Column("samples per item; none where the score is exact", "samples", "Samples"),
    # sizes
    "n": Column("items with a score", "items", "n"),
    "score_differences.n": Column("items that both models scored", "items", "n"),
    "score_methods.n": Column("items with both scores", "items", "n"),
    "score_influence.n": Column("points (a group and a series) that the correlation is over", "points", "n"),
    "n_gold": Column("items with a score and a human score", "items", "With gold"),
    "unscored": Column(
        "items without a score: all samples dropped, no probability on any number, or no response to the prompt; of "
        "gold, no human score",
        "items",
        "Unscored",
    ),
    "no_response": Column(
        "of these, items whose prompt has no response: it failed, or was not reached", "items", "No response"
    ),
    "caution": Column("why kurtosis, tau, spearman or pearson is missing; empty: none is", header="Caution"),
    "validity": Column(
        "mean share of the samples that hold a number; of exact scores, mean mass on the numbers of the scale",
        MASS,
        "Validity",
        2,
    ),
    "validity_pre": Column("validity of the base model", MASS, "Validity before", 2),
    "validity_post": Column("validity of the tuned model", MASS, "Validity after", 2),
    "validity_sampled": Column("validity of the sampled scores", MASS, "Validity sampled", 2),
    "validity_exact": Column("validity of the exact scores", MASS, "Validity exact", 2),
    "kurtosis_p": Column("two-sided p value of the difference in kurtosis, not corrected", "", "p of kurtosis", 3),
    "kurtosis_p_holm": Column(
        "p of the difference in kurtosis after Holm over all pairs of the study and setting",
        "",
        "p of kurtosis (Holm)",
        3,
    ),
    "tau_p": Column("two-sided p value of the difference in tau, not corrected", "", "p of tau", 3),
    "tau_p_holm": Column(
        "p of the difference in tau after Holm over all pairs of the study and setting", "", "p of tau (Holm)", 3
    ),
    "score_methods.kurtosis_p_holm": Column(
        "p of the difference in kurtosis after Holm over all rows of the study", "", "p of kurtosis (Holm)", 3
    ),
    "score_methods.tau_p_holm": Column(
        "p of the difference in tau after Holm over all rows of the study", "", "p of tau (Holm)", 3
    ),
    "dropped": Column("samples without a number, over all items", "samples", "Dropped"),
    "clipped": Column("samples outside the range, moved to its nearer end", "samples", "Clipped"),
    # how the scale is used, and how well
    "kurtosis": Column(
        "Fisher's kurtosis of the scores over the items; none for a constant score (standard deviation below 1e-9 of "
        "the range)",
        "",
        "Kurtosis",
        2,
    ),
    "variance": Column("variance of the scores over the items (n - 1)", "squared points", "Variance", 2),
    "mode": Column("the most frequent score, counted at the nearest whole number", "", "Favourite", 0),
    "mode_share": Column(
        "share of the items that have it: of those with a score, or, where samples without a number count "
        "(invalid=inconsistent), of all with a response",
        SHARE,
        "Its share",
        2,
    ),
    "distinct": Column("different scores that occur, counted at the nearest whole number", "numbers", "Distinct"),
    "entropy": Column(
        "entropy of the scores, counted at the nearest whole number; corrected by the jackknife, since few items miss "
        "rare numbers (Zahl 1977)",
        "bits",
        "Entropy",
        2,
    ),
    "tau": Column("Kendall's tau-b between score and human score over the items", "-1 to 1", "Tau", 2),
    "spearman": Column("Spearman correlation between score and human score", "-1 to 1", "Spearman", 2),
    "pearson": Column("Pearson correlation between score and human score", "-1 to 1", "Pearson", 2),
    "kurtosis_*": Column("kurtosis of the scores on one range: kurtosis_0_9 on 0-9", "", "Kurtosis", 2),
    "tau_*": Column("tau-b of the scores on one range: tau_0_9 on 0-9", "-1 to 1", "Tau", 2),
    # both conventions
    "n_dropped": Column("items with a score, samples without a number dropped", "items", "n (dropped)"),
    "n_inconsistent": Column("items with a score, samples without a number counted", "items", "n (counted)"),
    "kurtosis_dropped": Column("kurtosis of the scores, samples without a number dropped", "", "Kurtosis (dropped)", 2),
    "kurtosis_inconsistent": Column(
        "kurtosis of the scores, samples without a number counted", "", "Kurtosis (counted)", 2
    ),
    "tau_dropped": Column(
        "tau-b with the human scores, samples without a number dropped", "-1 to 1", "Tau (dropped)", 2
    ),
    "tau_inconsistent": Column(
        "tau-b with the human scores, samples without a number counted", "-1 to 1", "Tau (counted)", 2
    ),
    "mode_share_dropped": Column(
        "share of the items that have the favourite score, samples without a number dropped",
        SHARE,
        "Favourite's share (dropped)",
        2,
    ),
    "mode_share_inconsistent": Column(
        "share of the items that have the favourite score, samples without a number counted",
        SHARE,
        "Favourite's share (counted)",
        2,
    ),
    # comparisons
    "pre_model": Column("the base model", "", "Base"),
    "post_model": Column("the model tuned from it", "", "Tuned"),
    "pre_condition": Column("condition of the base model", "", "Condition (base)"),
    "post_condition": Column("condition of the tuned model", "", "Condition (tuned)"),
    "kurtosis_gold": Column("kurtosis of all human scores of the group", "", "Kurtosis gold", 2),
    "kurtosis_pre": Column("kurtosis of the base model's scores", "", "Kurtosis pre", 2),
    "kurtosis_post": Column("kurtosis of the tuned model's scores", "", "Kurtosis post", 2),
    "tau_pre": Column("tau-b of the base model's scores", "-1 to 1", "Tau pre", 2),
    "tau_post": Column("tau-b of the tuned model's scores", "-1 to 1", "Tau post", 2),
    "score_differences.kurtosis_difference": Column(
        "kurtosis of the tuned model's scores minus that of the base model's", "", "Kurtosis diff.", 2
    ),
    "score_differences.tau_difference": Column(
        "tau-b of the tuned model's scores minus that of the base model's", "", "Tau diff.", 2
    ),
    "score_methods.kurtosis_difference": Column(
        "kurtosis of the sampled scores minus that of the exact ones", "", "Kurtosis diff.", 2
    ),
    "score_methods.tau_difference": Column(
        "tau-b of the sampled scores minus that of the exact ones", "", "Tau diff.", 2
    ),
    "sampled_condition": Column("condition of the sampled scores", "", "Condition (sampled)"),
    "exact_condition": Column("condition of the exact scores", "", "Condition (exact)"),
    "score_difference": Column("mean of the sampled minus the exact score", "points", "Mean diff.", 3),
    "score_distance": Column("mean distance between the sampled and the exact score", "points", "Mean distance", 3),
    "kurtosis_sampled": Column("kurtosis of the sampled scores", "", "Kurtosis sampled", 2),
    "kurtosis_exact": Column("kurtosis of the exact scores", "", "Kurtosis exact", 2),
    "tau_sampled": Column("tau-b of the sampled scores", "-1 to 1", "Tau sampled", 2),
    "tau_exact": Column("tau-b of the exact scores", "-1 to 1", "Tau exact", 2),
    # what single points do
    "score_influence.pearson": Column(
        "Pearson correlation between the differences in kurtosis and in tau over the points", "-1 to 1", "Pearson", 2
    ),
    "score_influence.pearson_lower": Column(
        "lower end of the 95 % interval of that correlation, points resampled", "-1 to 1", "Pearson", 2
    ),
    "score_influence.pearson_upper": Column(
        "upper end of the 95 % interval of that correlation, points resampled", "-1 to 1", "Pearson", 2
    ),
    "omitted": Column("what is left out: nothing, a point, a group or a series", "", "Left out"),
    "omitted_name": Column("which one", "", "Which"),
    "undefined": Column(
        "points that are not used: a model has a validity below one half, or a kurtosis or tau is undefined",
        "points",
        "Not used",
    ),
    "change": Column("the correlation minus that of all points", "", "Change", 2),
    # item by item
    "score": Column("the item's score", "points", "Score", 2),
    "gold": Column("the human score, moved to the range that was asked for", "points", "Human", 2),
    "gap": Column("score minus human score", "points", "Gap", 2),
    "distance": Column("distance between score and human score", "points", "Distance", 2),
}
_BY_RANGE = re.compile(r"(kurtosis|tau)_(-?\d+)_(-?\d+)")


def parse_measure_and_range_from_column(name: str) -> tuple[str, str] | None:
    """Read measure and range from a column name of table `score_ranges`; return None for other columns.

    >>> [parse_measure_and_range_from_column(name) for name in ("tau_1_100", "kurtosis_-5_5", "tau_lower")]
    [('tau', '1-100'), ('kurtosis', '-5-5'), None]
    """
    match = _BY_RANGE.fullmatch(name)
    return (match[1], f"{match[2]}-{match[3]}") if match else None


def _define_column_of_measure_on_asked_range(column_name: str) -> Column | None:
    """Build meaning and header of a column of `score_ranges` from its name; None for another."""
    measure_and_range = parse_measure_and_range_from_column(column_name)
    if measure_and_range is None:
        return None
    measure, span = measure_and_range
    base = COLUMNS[measure]
    return replace(base, meaning=f"{base.meaning}, on the range {span}", header=f"{base.header} {span}")


PATTERNS: Mapping[str, Pattern] = {
    "kurtosis_*": _define_column_of_measure_on_asked_range,
    "tau_*": _define_column_of_measure_on_asked_range,
}
