"""Say what the columns of the tables on wording mean."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.reporting.catalogue.columns import POINTS, SHARE, Column

P_YES = "p(Yes), 0 to 1"
WORDS = {"synonym": "synonyms", "antonym": "antonyms", "agreement": "agreement-seeking wording",
         "strong_agreement": "strong agreement-seeking wording"}  # fmt: skip


def name_wording_pattern(pattern: str) -> str:
    """Return what tables print for a kind of wording."""
    return WORDS.get(pattern, pattern).removesuffix(" wording")


def name_wording_measure(name: str) -> str:
    """Return what tables print for a measure: the header of its column."""
    return COLUMNS[name].header if name in COLUMNS else name


COLUMNS: Mapping[str, Column] = {
    # identity
    "task": Column("what was asked about the texts; all: mean over tasks", header="Task"),
    "shots.model": Column("model id as in run.json; empty: mean over the models of the stage", header="Model"),
    "groups.language": Column("language of the wordings (ISO 639 code); all: mean over languages", header="Language"),
    "groups.condition": Column(
        "name of the settings the models were asked under; of printed rows, the number of exemplars", header="Condition"
    ),
    "stage": Column("stage of the models: base or instruct (tuned models among them)", header="Stage"),
    "groups.stage": Column(
        "stage of the models: base or instruct (tuned models among them); of printed rows, also the one model with a "
        "column of its own",
        header="Stage",
    ),
    "series": Column("the series of the models, as run.json has it", header="Series"),
    "shots": Column("exemplars shown before the question", "exemplars", "Shots"),
    "shots.condition": Column("name of the settings with exemplars", header="Condition"),
    "condition_zero": Column("the same settings without exemplars", header="Compared with"),
    "text_original": Column("the original question", header="Original"),
    "answer_original": Column("the answer to it", header="Answer"),
    "text_reworded": Column("the reworded question", header="Reworded"),
    "answer_reworded": Column("the answer to it, as said", header="Answer"),
    "pattern": Column(
        "kind of wording; original: the question before rewording; all: mean over the kinds",
        header="Wording",
        phrase_name=name_wording_pattern,
    ),
    "measure": Column(
        "the measure that is compared: a column of table consistency",
        header="Measure",
        phrase_name=name_wording_measure,
    ),
    "shots.difference": Column(
        "the measure with exemplars minus without, on the same items", "unit of the measure", "Difference", 2
    ),
    "stages.difference": Column(
        "the measure of the instruction-tuned models minus that of the base models, on the same items",
        "unit of the measure",
        "Difference",
        2,
    ),
    # sizes
    "n": Column(
        "pairs of an original and a reworded question that are compared (of the original question, its answers); the "
        "share of valid answers is over all responses",
        "pairs",
        "n",
    ),
    "conventions.n": Column("pairs with a response to both questions, valid or not", "pairs", "n"),
    "shifts.n": Column("pairs of two valid answers that both have a p(Yes)", "pairs", "n"),
    "curve.n": Column("pairs in the bin, of two valid answers that both have a p(Yes)", "pairs", "n"),
    "n_models": Column("models that the mean is taken over", "models", "Models"),
    "groups.n_models": Column(
        "models of the stage; those without a single valid answer count in the mean of Valid only", "models", "Models"
    ),
    "stages.n_models": Column("base and instruction-tuned models of the series, together", "models", "Models"),
    "n_tasks": Column("tasks that the mean is taken over", "tasks", "Tasks"),
    "n_patterns": Column("patterns that the mean is taken over", "patterns", "Patterns"),
    "n_undefined": Column(
        "cells of the row without a single valid pair of answers; a cell is a model, condition, task and pattern",
        "cells",
        "Undefined",
    ),
    "patterns.n_undefined": Column(
        "cells left out of the row: no valid pair of answers, or less than half of the model's answers valid",
        "cells",
        "Left out",
    ),
    "n_pairs": Column(
        "pairs of which both answers are valid; of samples, the answer is more frequent than none",
        "pairs",
        "Valid pairs",
    ),
    # measures
    "valid": Column("share of responses to this pattern that are a valid answer", SHARE, "Valid", 2),
    "consistency": Column(
        "share of pairs with the same answer before and after rewording, antonyms inverted", SHARE, "Consistency", 3
    ),
    "yes": Column('share of "Yes", as said, to this pattern, over the pairs that are compared', SHARE, "Yes", 3),
    "diff_yes": Column('share of "Yes", as said, after rewording minus before', POINTS, "Change of “Yes”", 3),
    "excess_yes": Column(
        'share of "Yes" minus the share that unchanged answers would give in this wording; equal to DiffYes except for '
        "antonyms, where it does not contain the inversion",
        POINTS,
        "Excess Yes",
        3,
    ),
    "accuracy_original": Column("share of right answers before rewording, same pairs", SHARE, "Accuracy before", 3),
    "accuracy": Column(
        "share of right answers to this pattern, over the compared pairs whose right answer is known",
        SHARE,
        "Accuracy",
        3,
    ),
    "diff_acc": Column("accuracy after rewording minus before", POINTS, "Change of accuracy", 3),
    "overall": Column(
        "harmonic mean of both accuracies and Consistency, within a task and pattern; over several of them, the plain "
        "mean of these",
        SHARE,
        "Overall",
        3,
    ),
    # both conventions
    "consistency_dropped": Column(
        "Consistency, pairs with an invalid answer dropped", SHARE, "Consistency (dropped)", 3
    ),
    "consistency_inconsistent": Column(
        "Consistency, pairs with an invalid answer counted as inconsistent", SHARE, "Consistency (counted)", 3
    ),
    "yes_dropped": Column(
        'share of "Yes", as said, to this pattern, pairs with an invalid answer dropped', SHARE, "Yes (dropped)", 3
    ),
    "yes_inconsistent": Column(
        'share of "Yes", as said, to this pattern, pairs with an invalid answer counted as inconsistent',
        SHARE,
        "Yes (counted)",
        3,
    ),
    "diff_yes_dropped": Column(
        "change of “Yes”, pairs with an invalid answer dropped", POINTS, "Change of “Yes” (dropped)", 3
    ),
    "diff_yes_inconsistent": Column(
        "change of “Yes”, pairs with an invalid answer counted as inconsistent", POINTS, "Change of “Yes” (counted)", 3
    ),
    "accuracy_dropped": Column(
        "accuracy of this pattern, pairs with an invalid answer dropped", SHARE, "Accuracy (dropped)", 3
    ),
    "accuracy_inconsistent": Column(
        "accuracy of this pattern, pairs with an invalid answer counted as inconsistent", SHARE, "Accuracy (counted)", 3
    ),
    "overall_dropped": Column("Overall, pairs with an invalid answer dropped", SHARE, "Overall (dropped)", 3),
    "overall_inconsistent": Column(
        "Overall, pairs with an invalid answer counted as inconsistent", SHARE, "Overall (counted)", 3
    ),
    "consistency_most": Column(
        "Consistency over all pairs if every pair with an invalid answer were consistent",
        SHARE,
        "Consistency at most",
        3,
    ),
    "yes_most": Column(
        'share of "Yes" over all pairs if every invalid answer to this pattern were "Yes"', SHARE, "Yes at most", 3
    ),
    "conventions.valid": Column(
        "share of responses to this pattern that are a valid answer; of samples, the answer is more frequent than none",
        SHARE,
        "Valid",
        2,
    ),
    # probabilities
    "bin_low": Column("lower edge of the bin of p(Yes) to the original question", P_YES, "From", 1),
    "bin_high": Column("upper edge of the bin", P_YES, "To", 1),
    "p_original": Column("mean p(Yes) to the original question", P_YES, "Before", 3),
    "p_yes": Column("mean p(Yes) to the reworded question, as shown", P_YES, "After", 3),
    "turned.p_original": Column("p(Yes) to the original question", P_YES, "Before", 3),
    "turned.p_yes": Column("p(Yes) to the reworded question, as shown", P_YES, "After", 3),
    "shift": Column(
        "mean of p(Yes) after rewording minus that of an unmoved answer (the original's; 1 minus it for antonyms)",
        POINTS,
        "Shift",
        3,
    ),
    "n_band": Column("pairs with an original p(Yes) between 0.2 and 0.8", "pairs", "In band"),
    "n_outside": Column("pairs with an original p(Yes) outside", "pairs", "Outside"),
    "shift_band": Column("shift where the original p(Yes) is between 0.2 and 0.8", POINTS, "Shift in band", 3),
    "shift_outside": Column("shift where it is outside", POINTS, "Shift outside", 3),
    "p_holm": Column("p after Holm over all comparisons of the measure in the table", "", "p (Holm)", 3),
    "band_p": Column("two-sided p value of this difference, not corrected", "", "p", 3),
    "band_p_holm": Column("p of this difference after Holm over all rows of the pattern", "", "p (Holm)", 3),
    "band_difference": Column("shift in the band minus shift outside", POINTS, "Difference", 3),
}
