"""Say what the columns of the tables on benchmarks mean."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.reporting.columns import SHARE, Column

COLUMNS: Mapping[str, Column] = {
    # identity
    "study": Column("name of the study; all: mean over the tasks of all studies", header="Study"),
    # correlations
    "measure": Column("accuracy (on the original questions), consistency or overall", header="Measure"),
    "benchmark": Column(
        "what the measure is correlated with: a benchmark, size (parameters) or accuracy", header="With"
    ),
    "method": Column("pearson or spearman; given size: partial correlation", header="Method"),
    "n": Column("models that have all values", "models", "n"),
    "rows": Column(
        "rows of the file of scores that these models have; 0: neither measure is of the file", "rows", "Rows"
    ),
    "joined_by": Column(
        "how several rows of a model became one: best (row with the highest mean over its benchmarks), mean, or "
        "newest; empty: none has several",
        header="Rows joined",
    ),
    "r": Column("correlation over models, by the method named", "-1 to 1", "r", 2),
    "lower": Column("lower end of the 95 % interval of r (Fisher's z)", "-1 to 1", "Lower", 3),
    "upper": Column("upper end of the 95 % interval of r (Fisher's z)", "-1 to 1", "Upper", 3),
    "interval": Column("how the interval was made", header="Interval by"),
    "p_holm": Column("p after Holm over the pairs of the matrix, separately for each method", "", "p (Holm)", 3),
    "benchmarks.p_holm": Column("p after Holm over all tests of the table that use the same method", "", "p (Holm)", 3),
    "caution": Column("why there is no coefficient, or that it rests on few models", header="Caution"),
    "measure_a": Column(
        "one of the two that are correlated: a benchmark, size (parameters), accuracy, or Consistency on a kind of "
        "wording",
        header="Measure",
    ),
    "measure_b": Column("the other of the two", header="With"),
    "score_matrix.measure_a": Column("a benchmark of the file of scores", header="Measure"),
    "score_matrix.measure_b": Column("the benchmark that it is correlated with", header="With"),
    # values and names
    "value": Column("value of the measure", SHARE, "Value", 3),
    "silent": Column(
        "whether less than half of the model's answers are valid there: its value is in no coefficient",
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
}
