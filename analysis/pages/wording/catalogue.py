"""The tables on wording and on benchmarks; `analysis.reporting.registry` has them among its own."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.reporting.registry_entry import Table
from analysis.reporting.registry_entry import names as _names

UNIT = ("study", "model", "condition")
WORDED = _names("study model language task condition pattern")
MEASURES = _names("valid consistency yes diff_yes excess_yes accuracy_original accuracy diff_acc overall")
DIFFERENCE = _names("measure difference lower upper n_items")
CORRELATED = _names("measure_a measure_b method n r lower upper p p_holm caution")
WORDING: Mapping[str, Table] = {
    "consistency": Table(
        "pages.wording.tables.consistency",
        "Consistency, DiffYes, DiffAcc and Overall of every model on every kind of wording",
        "The measures of Takayama et al., section 3.2, with 95 % bootstrap intervals over items. Consistency inverts "
        "the "
        "antonyms; DiffYes compares answers as said, Excess Yes with what unchanged answers would be. Pairs with an "
        "invalid answer are treated as the parameter `invalid` says.",
        (*WORDED, *_names("n n_items"), *MEASURES, "intervals"),
        frozenset(_names("n_items accuracy_original yes diff_acc")),
    ),
    "conventions": Table(
        "pages.wording.tables.conventions",
        "What becomes of invalid answers: dropped, or counted as inconsistent",
        "The same measures both ways, where a pair has an invalid answer.",
        (*WORDED, *_names("n n_pairs valid"),
         *(f"{name}_{way}" for name in _names("consistency diff_yes accuracy overall")
           for way in _names("dropped inconsistent"))),
        frozenset(_names("diff_yes_dropped diff_yes_inconsistent accuracy_dropped accuracy_inconsistent")),
    ),
    "overall": Table(
        "pages.wording.tables.overall",
        "Every model over all patterns and tasks of a language",
        "Plain means over the four patterns of each task, then over tasks (the counterpart of Takayama et al., "
        "Figure 3): "
        "Overall is the harmonic mean within a task and pattern first. Undefined where a cell has no valid answer.",
        (*_names("model language condition n_tasks n_patterns n_undefined n_items"), *MEASURES, "intervals"),
        frozenset(_names("n_patterns n_items yes diff_acc diff_yes accuracy")),
    ),
    "groups": Table(
        "pages.wording.tables.groups",
        "Base and instruction-tuned models, each in the mean",
        "Means over models, the counterpart of Takayama et al., Tables 1 and 3, with the printed rows below ours: "
        "other "
        "models and other items, to be read as context. Intervals over items. The row of the original question holds "
        "its "
        "share of Yes and its accuracy.",
        (*_names("source stage condition language task pattern n_models n_undefined n_items"), *MEASURES, "intervals"),
        frozenset(_names("n_items n_undefined accuracy_original excess_yes overall")),
    ),
    "patterns": Table(
        "pages.wording.tables.patterns",
        "What every kind of wording does, over all models",
        "Means over all models, conditions and tasks of a language that have valid answers, intervals over items.",
        (*_names("language pattern n_models n_tasks n_undefined n_items"), *MEASURES, "intervals"),
        frozenset(_names("n_items yes diff_acc accuracy_original")),
    ),
    "turned": Table(
        "pages.wording.tables.turned",
        "The same question, two answers",
        "For every model the rewording that contradicts its answer to the original question by the largest shift of "
        "p(Yes). An antonym asks for the opposite answer.",
        (*UNIT, *_names("item pattern text_original answer_original p_original text_reworded answer_reworded p_yes")),
    ),
    "shots": Table(
        "pages.wording.tables.shots",
        "What exemplars change",
        "Measures with exemplars minus those without, on the same items; means over the models of a stage have no "
        "model.",
        ("study", *_names("model stage language task condition condition_zero pattern n_models"), *DIFFERENCE),
        frozenset(_names("lower upper condition_zero")),
    ),
    "stages": Table(
        "pages.wording.tables.stages",
        "What instruction tuning changes, by series",
        "Instruction-tuned minus base models of one series with the same shots, on the same items (the counterpart of "
        "Takayama et al., Figure 7).",
        (*_names("series study language task shots pattern n_models"), *DIFFERENCE),
        frozenset({"lower", "upper"}),
    ),
    "shifts": Table(
        "pages.wording.shifts.shifts",
        "How far p(Yes) moves, in the low-confidence band and outside",
        "Mean shift of p(Yes) after rewording from that of an unmoved answer; the band is an original p(Yes) of 0.2 to "
        "0.8. p(Yes) is renormalised over the two answers.",
        (*WORDED, *_names("n n_band n_outside shift shift_lower shift_upper shift_band shift_band_lower "
                          "shift_band_upper shift_outside shift_outside_lower shift_outside_upper band_difference "
                          "band_difference_lower band_difference_upper")),
        frozenset(f"{name}_{end}" for name in ("shift", "shift_band", "shift_outside", "band_difference")
                  for end in ("lower", "upper")),
    ),
    "curve": Table(
        "pages.wording.shifts.curve",
        "p(Yes) after rewording, by p(Yes) before",
        "Means in ten bins of the original p(Yes), with intervals over items for the shift.",
        (*WORDED, *_names("bin_low bin_high n p_original p_yes shift shift_lower shift_upper")),
        frozenset(_names("shift_lower shift_upper")),
    ),
}  # fmt: skip
BENCHMARKS: Mapping[str, Table] = {
    "benchmarks": Table(
        "pages.benchmarks.tables.benchmarks",
        "What goes with consistency over models: size, accuracy and external benchmarks",
        "Correlations over models with 95 % intervals (Fisher's z) and p values, Holm over all tests of a method. Size "
        "is log10(parameters) for Pearson; given size: partial. None from fewer than 4 models, a mark below 10.",
        (*_names("measure pattern benchmark study language task condition method n r lower upper interval p p_holm"),
         "caution"),
        frozenset(_names("lower upper interval study")),
    ),
    "benchmark_matrix": Table(
        "pages.benchmarks.tables.benchmark_matrix",
        "All correlations between benchmarks, accuracy and Consistency",
        "The counterpart of Takayama et al., Figure 8, every pair once; Holm over the pairs of a matrix.",
        (*_names("study language task condition"), *CORRELATED),
        frozenset(_names("lower upper")),
    ),
    "score_matrix": Table(
        "pages.benchmarks.tables.score_matrix",
        "Correlations between the benchmarks of the file, over all its models",
        "Whether or not they were asked here; every pair once.",
        CORRELATED,
        frozenset(_names("lower upper")),
    ),
    "benchmark_names": Table(
        "pages.benchmarks.tables.benchmark_names",
        "Which model is which of the scores",
        "Matched by alias or by name, never by similarity; for the unmatched of either side, the nearest name.",
        _names("side model matched by nearest similarity"),
    ),
    "measures_by_model": Table(
        "pages.benchmarks.tables.measures_by_model",
        "The values behind the correlations",
        "One row per model, measure and pattern; Overall over all patterns and tasks has the task “all”.",
        _names("model study language task condition measure pattern value parameters"),
    ),
}  # fmt: skip
