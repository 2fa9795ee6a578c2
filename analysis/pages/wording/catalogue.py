"""List the tables and figures of the page `wording`; `columns` says what its columns mean."""

from collections.abc import Mapping
from typing import Any

from analysis.pages.wording.columns import COLUMNS
from analysis.reporting.catalogue import Catalogue, Figure, Measures, Rewordings, Table, split_names
from analysis.reporting.catalogue.columns import IDENTITY, OVER_ITEMS
from analysis.runs import Runs

WORDING_COLUMNS = split_names("study model language task condition pattern")
MEASURES = split_names("valid consistency yes diff_yes excess_yes accuracy_original accuracy diff_acc overall")
BETWEEN = {"difference": ("lower", "upper")}
DIFFERENCE = split_names("measure difference lower upper n_items p p_least p_holm no_interval")
BARE = frozenset({"no_interval"})
TABLES = {
    "consistency": Table(
        "tables.tabulate_answer_consistency_by_wording_kind",
        "How alike, how often “Yes” and how right the answers of every model are, by kind of wording",
        f"The measures of Takayama et al., section 3.2, with {OVER_ITEMS}. Consistency inverts "
        "the antonyms; the change of “Yes” compares answers as said, its excess with what unchanged answers would "
        "give. Pairs with an invalid answer are treated as the parameter “invalid” says.",
        (*WORDING_COLUMNS, *split_names("n n_items"), *MEASURES, "intervals", "no_interval"),
        frozenset(split_names("n_items accuracy_original yes diff_acc")), BARE,
        measures=Measures(
            {"consistency": "Consistency", "overall": "Overall"}, headline=("consistency",),
            kinds=split_names("language task pattern"), validity="valid", averaged_kinds=("pattern",),
            accuracy={"consistency": "accuracy_original"},
        ),
    ),
    "conventions": Table(
        "tables.tabulate_consistency_by_invalid_convention",
        "Invalid answers: dropped, or counted as inconsistent",
        "The measures computed both ways, where a pair has an invalid answer. Whatever the invalid answers say, "
        "Consistency and the share of Yes of all pairs lie between the counted value and the one called at most.",
        (*WORDING_COLUMNS, *split_names("n n_pairs valid"),
         *split_names("consistency_dropped consistency_inconsistent consistency_most yes_dropped yes_inconsistent "
                      "yes_most diff_yes_dropped diff_yes_inconsistent accuracy_dropped accuracy_inconsistent "
                      "overall_dropped overall_inconsistent")),
        frozenset(split_names("diff_yes_dropped diff_yes_inconsistent accuracy_dropped accuracy_inconsistent")),
    ),
    "overall": Table(
        "tables.tabulate_means_over_patterns_and_tasks",
        "Every model over all patterns and tasks of a language",
        "Plain means over the patterns of each task, then over tasks (the counterpart of Takayama et al., "
        "Figure 3). Overall is first a harmonic mean within a task and pattern. Undefined where a cell has no valid "
        "answer.",
        (*split_names("model language condition n_tasks n_patterns n_undefined n_items"), *MEASURES, "intervals",
         "no_interval"),
        frozenset(split_names("n_patterns n_items yes diff_acc diff_yes accuracy")), BARE,
        measures=Measures(
            {"overall": "Overall", "consistency": "Consistency", "accuracy_original": "Accuracy before rewording"},
            headline=split_names("overall accuracy_original"), lead="overall", kinds=("language",),
            validity="valid", accuracy={"consistency": "accuracy_original"},
        ),
    ),
    "groups": Table(
        "tables.tabulate_training_stage_means",
        "Means over base models and over instruction-tuned models",
        "Means over models, the counterpart of Takayama et al., Tables 1 and 3, with the printed rows below ours: "
        "other models and other items, to be read as context. In rows “all”, every model weighs the same, in it every "
        "task. Intervals over items. The row of the original question holds its share of Yes and its accuracy.",
        (*split_names("source stage condition language task pattern n_models n_undefined n_items"), *MEASURES,
         "intervals",
         "no_interval"),
        frozenset(split_names("n_items n_undefined accuracy_original excess_yes overall")), BARE,
    ),
    "patterns": Table(
        "tables.tabulate_pattern_means",
        "What every kind of wording does, over all models",
        "Means over the models that answer in a language, of each over all conditions and tasks; intervals over items.",
        (*split_names("language pattern n_models n_tasks n_undefined n_items"), *MEASURES, "intervals", "no_interval"),
        frozenset(split_names("n_items yes diff_acc accuracy_original")), BARE,
    ),
    "turned": Table(
        "tables.tabulate_strongest_contradictions",
        "The same question, contradictory answers",
        "For every model the rewording that contradicts its answer to the original question by the largest shift of "
        "p(Yes). An antonym asks for the opposite answer.",
        (*IDENTITY, *split_names("item pattern text_original answer_original p_original text_reworded answer_reworded "
                            "p_yes")),
    ),
    "shots": Table(
        "tables.tabulate_shot_differences",
        "What exemplars change",
        "Measures with exemplars minus those without, on the same items; rows without a model are means over the "
        "models of a stage.",
        ("study", *split_names("model stage language task condition condition_zero pattern n_models"), *DIFFERENCE),
        frozenset(split_names("lower upper condition_zero p p_least")), BARE, BETWEEN,
    ),
    "stages": Table(
        "tables.tabulate_stage_differences_by_series",
        "What instruction tuning changes, by series",
        "Instruction-tuned minus base models of one series with the same shots and prompts, on the same items (see "
        "Takayama et al., Figure 7).",
        (*split_names("series study language task shots pattern n_models"), *DIFFERENCE),
        frozenset(split_names("lower upper p p_least")), BARE, BETWEEN,
    ),
    "shifts": Table(
        "shifts.tabulate_yes_probability_shifts",
        "How far p(Yes) moves, in the low-confidence band and outside",
        "Mean shift of p(Yes) after rewording, measured from an answer that did not move. The band is an original "
        "p(Yes) of 0.2 to 0.8. p(Yes) is renormalised over the two answers.",
        (*WORDING_COLUMNS, *split_names("n n_band n_outside shift shift_lower shift_upper shift_band shift_band_lower "
                          "shift_band_upper shift_outside shift_outside_lower shift_outside_upper band_difference "
                          "band_difference_lower band_difference_upper band_p p_least band_p_holm no_interval")),
        frozenset(split_names("shift_lower shift_upper shift_band_lower shift_band_upper shift_outside_lower "
                              "shift_outside_upper band_difference_lower band_difference_upper band_p p_least")), BARE,
    ),
    "curve": Table(
        "shifts.tabulate_shifts_in_probability_bins",
        "p(Yes) after rewording, by p(Yes) before",
        "Means in ten bins of the original p(Yes), with intervals over items for the shift.",
        (*WORDING_COLUMNS, *split_names("bin_low bin_high n p_original p_yes shift shift_lower shift_upper "
                                        "no_interval")),
        frozenset(split_names("shift_lower shift_upper")), BARE,
    ),
}  # fmt: skip
FIGURES = {
    "consistency": Figure("Consistency by kind of wording", "figures.build_consistency_frames"),
    "diff_yes": Figure("Do the models say “Yes” more often?", "figures.build_consistency_frames"),
    "shift_curve": Figure("p(Yes) after rewording by p(Yes) before", "figures.build_shift_curve_frames"),
    "overall_scores": Figure("The models over all kinds of wording", "overall"),
    "stage_differences": Figure("What tuning changes", "figures.build_stage_differences_frames"),
}  # fmt: skip


def _explain_empty_wording_page(runs: Runs, parameters: Mapping[str, Any]) -> str:
    """Say that no original question has a response, with which every other one is compared; empty where one has."""
    query = "FROM responses JOIN stimuli USING (study, item, variant) WHERE pattern = 'original' LIMIT 1"
    return "" if runs.execute(query).fetchone() else "no original question has a response to compare others with"


CATALOGUE = Catalogue(
    place=30,
    protocols=frozenset({"wording"}),
    studies=("takayama",),
    tables=TABLES,
    columns=COLUMNS,
    figures=FIGURES,
    explain_no_data=_explain_empty_wording_page,
    rewordings=Rewordings(
        "analysis.measures.reworded.agreements:read_agreement_studies",
        "analysis.measures.reworded.agreements:has_rewordings",
    ),
)
