"""Say what the columns of the tables on benchmarks mean."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.reporting.catalogue.columns import SHARE, Column

COLUMNS: Mapping[str, Column] = {
    # identity
    "page": Column("page of the report that the measure is of", header="Page"),
    "study": Column("name of the study; all: a mean over the studies of the page", header="Study"),
    "condition": Column(
        "name of the settings that the models were asked under; own form: each in the form of its prompts",
        header="Asked",
    ),
    # correlations
    "measure": Column("a measure of the models, as the table of its page has it", header="Measure"),
    "benchmark": Column(
        "what the measure is correlated with: a benchmark, size (parameters) or the accuracy on the same items",
        header="With",
    ),
    "headline": Column("whether the measure is one of those of its page that the verdict is about", header="Headline"),
    "lead": Column("whether it stands for its table in the figure on size", header="Lead"),
    "method": Column("pearson or spearman; given size: partial correlation", header="Method"),
    "n": Column("models that have all values", "models", "n"),
    "rows": Column(
        "rows of the file of scores that these models have; 0: neither measure is of the file", "rows", "Rows"
    ),
    "joined_by": Column(
        "how several rows of a model became one: best (row with the highest mean over its benchmarks), mean, or "
        "newest; empty: none has several", header="Rows joined",
    ),
    "r": Column("correlation over models, by the method named", "-1 to 1", "r", 2),
    "lower": Column("lower end of the 95 % interval of r (Fisher's z)", "-1 to 1", "Lower", 3),
    "upper": Column("upper end of the 95 % interval of r (Fisher's z)", "-1 to 1", "Upper", 3),
    "interval": Column("how the interval was made", header="Interval by"),
    "p_holm": Column("p after Holm over the pairs of the matrix, separately for each method", "", "p (Holm)", 3),
    "benchmarks.p_holm": Column(
        "p after Holm over all tests by the same method: of the headline measures, or of the others", "", "p (Holm)", 3
    ),
    "caution": Column("why there is no coefficient, or that it rests on few models", header="Caution"),
    "measure_a": Column(
        "one of the two that are correlated: a benchmark, size (parameters) or a headline measure", header="Measure"
    ),
    "measure_b": Column("the other of the two", header="With"),
    "score_matrix.measure_a": Column("a benchmark of the file of scores", header="Measure"),
    "score_matrix.measure_b": Column("the benchmark that it is correlated with", header="With"),
    # values and names
    "value": Column("value of the measure, in its unit", "its unit", "Value", 3),
    "unit": Column("unit of the measure", header="Unit"),
    "accuracy": Column(
        "accuracy on the same items, which the measure is compared with; empty: none is known, or it is a part of it",
        SHARE, "Accuracy", 3,
    ),
    "form": Column("form of the prompts that the model was asked in; empty: not said", header="Form"),
    "n_forms": Column("forms that the model was asked in, all else equal; only its own is here", "forms", "Forms"),
    "compared": Column("whether the condition is the one of its study that is correlated", header="Compared"),
    # how models were compared
    "forms": Column("forms of the prompts, and how many models were asked in each", header="Forms"),
    "n_models": Column("models that answer and have a value", "models", "Models"),
    "n_silent": Column("models that are not judged (validity below 0.5): in no coefficient", "models", "Silent"),
    "n_measures": Column("measures of the page", "measures", "Measures"),
    "n_conditions": Column("conditions of the study, of which one is compared", "conditions", "Conditions"),
    "left_out": Column("why no measure of it is correlated", header="Left out"),
    "validity": Column("validity of the model, as the page of the measure has it", SHARE, "Validity", 2),
    "validity_at_most": Column("upper bound of it, where only bounds are known", SHARE, "At most", 2),
    "silent": Column(
        "whether the model is not judged there (validity below 0.5): its value is in no coefficient",
        header="Not correlated",
    ),
    "parameters": Column("size of the model", "parameters", "Parameters"),
    "benchmark_names.model": Column(
        "name of the model on its side: id as in run.json, or name in the file of scores", header="Model"
    ),
    "side": Column("runs: a model that was asked; scores: one that only the file has", header="Side"),
    "matched": Column("the model's name on the other side; empty: none", header="Matched with"),
    "by": Column("what matched: an alias, the name, or the name without its organisation", header="By"),
    "nearest": Column("the most similar unmatched name on the other side", header="Nearest name"),
    "similarity": Column("similarity of the two names", "0 to 1", "Similarity", 2),
}  # fmt: skip
