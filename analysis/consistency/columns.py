"""The data dictionary of the tables on wording and on benchmarks; `analysis.dictionary` reads it."""

from __future__ import annotations

from analysis.dictionary import SHARE, Column

POINTS = "difference of shares, -1 to 1"
P_YES = "p(Yes), 0 to 1"
MODELS = "models"
COLUMNS: dict[str, Column] = {
    # identity
    "task": Column("what was asked about the texts; all: mean over tasks", header="Task"),
    "pattern": Column(
        "kind of wording; original: the question before rewording; all: mean over patterns", header="Pattern"
    ),
    "stage": Column("base, instruct (tuned models among them), or the model with a column of its own", header="Stage"),
    "series": Column("the series of the models, as run.json has it", header="Series"),
    "shots": Column("exemplars shown before the question", "exemplars", "Shots"),
    "condition_zero": Column("the same settings without exemplars", header="Compared with"),
    "text_original": Column("the original question", header="Original"),
    "answer_original": Column("the answer to it", header="Answer"),
    "text_reworded": Column("the reworded question", header="Reworded"),
    "answer_reworded": Column("the answer to it, as said", header="Answer"),
    # sizes
    "n_tasks": Column("tasks that the mean is taken over", "tasks", "Tasks"),
    "n_patterns": Column("patterns that the mean is taken over", "patterns", "Patterns"),
    "n_undefined": Column("cells of the mean without one valid pair of answers", "cells", "Undefined"),
    "n_pairs": Column("pairs of which both answers are valid", "pairs", "Valid pairs"),
    # measures
    "valid": Column("share of responses to this pattern that are a valid answer", SHARE, "Valid", 2),
    "consistency": Column(
        "share of pairs with the same answer before and after rewording, antonyms inverted", SHARE, "Consistency", 3
    ),
    "yes": Column('share of "Yes", as said, to this pattern', SHARE, "Yes", 3),
    "diff_yes": Column('share of "Yes", as said, after rewording minus before', POINTS, "DiffYes", 3),
    "excess_yes": Column(
        'share of "Yes" minus what the same answers as before would have been in this wording: DiffYes, but for '
        "antonyms, where it is free of the inversion",
        POINTS,
        "Excess Yes",
        3,
    ),
    "accuracy_original": Column("share of right answers before rewording, same pairs", SHARE, "Accuracy before", 3),
    "accuracy": Column("share of right answers to this pattern", SHARE, "Accuracy", 3),
    "diff_acc": Column("accuracy after rewording minus before", POINTS, "DiffAcc", 3),
    "overall": Column("harmonic mean of both accuracies and Consistency", SHARE, "Overall", 3),
    # both conventions
    **{
        f"{name}_{convention}": Column(f"{meaning}, pairs with an invalid answer {words}", unit, header, 3)
        for name, meaning, unit, header in (
            ("consistency", "Consistency", SHARE, "Consistency"),
            ("diff_yes", "DiffYes", POINTS, "DiffYes"),
            ("accuracy", "accuracy of this pattern", SHARE, "Accuracy"),
            ("overall", "Overall", SHARE, "Overall"),
        )
        for convention, words, header in (
            ("dropped", "dropped", f"{header} (dropped)"),
            ("inconsistent", "counted as inconsistent", f"{header} (counted)"),
        )
    },
    # probabilities
    "bin_low": Column("lower edge of the bin of p(Yes) to the original question", P_YES, "From", 1),
    "bin_high": Column("upper edge of the bin", P_YES, "To", 1),
    "p_original": Column("mean p(Yes) to the original question", P_YES, "Before", 3),
    "p_yes": Column("mean p(Yes) to the reworded question, as shown", P_YES, "After", 3),
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
    "band_difference": Column("shift in the band minus shift outside", POINTS, "Difference", 3),
    # correlations
    "benchmark": Column(
        "what the measure is correlated with: a benchmark, size (parameters) or accuracy", header="With"
    ),
    "method": Column("pearson or spearman; given size: partial", header="Method"),
    "interval": Column("how the interval was made", header="Interval by"),
    "caution": Column("why there is no coefficient, or that it rests on few models", header="Caution"),
    "measure_a": Column("one of the two", header="Measure"),
    "measure_b": Column("the other", header="With"),
    "value": Column("the measure, all models' beside each other in the correlations", SHARE, "Value", 3),
    "parameters": Column("size of the model", "parameters", "Parameters"),
    "side": Column("runs: a model that was asked; scores: one that only the file has", header="Side"),
    "matched": Column("the model's name on the other side; empty: none", header="Matched with"),
    "by": Column("what matched: an alias, the name, or the name without its organisation", header="By"),
    "nearest": Column("the most similar unmatched name on the other side", header="Nearest name"),
    "similarity": Column("similarity of the two names", "0 to 1", "Similarity", 2),
}
