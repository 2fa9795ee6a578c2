"""List the tables and figures of the page `scoring`; `columns` says what its columns mean."""

from analysis.pages.scoring.columns import COLUMNS, PATTERNS
from analysis.reporting.catalogue import Catalogue, Figure, Measures, Rewordings, Table, split_names
from analysis.reporting.catalogue.columns import OVER_ITEMS

_SCORES = split_names("kurtosis variance mode mode_share distinct entropy tau spearman pearson")
_ENDS = split_names("kurtosis_difference_lower kurtosis_difference_upper tau_difference_lower tau_difference_upper")
_BARE = frozenset({"no_interval"})
_TEST_COLUMNS = split_names("kurtosis_p tau_p p_least kurtosis_p_holm tau_p_holm")
_BOLD = " Bold: in each row the smallest absolute kurtosis of the models and the largest tau."
FEW = "Fewer than three pairs of a base and a tuned model have both differences."
TABLES = {
    "scores": Table(
        "tables.tabulate_score_bias_and_accuracy",
        "How every model uses the scale, and how well",
        f"Shape of the scores over the items and their correlation with the human score, with {OVER_ITEMS}. "
        "Kurtosis is 0 for a normal distribution and large where one score is given to nearly everything. "
        "The rows called gold are the human scores on the same range.",
        (*split_names("study group model series stage condition form prompt range temperature method n n_gold unscored "
                "no_response"), *_SCORES,
         *split_names("samples validity validity_at_most dropped clipped caution intervals no_interval")),
        frozenset(split_names("series stage form prompt samples n_gold variance entropy spearman pearson")),
        frozenset({"validity_at_most", "unscored", "no_response", "caution", "no_interval"}),
        measures=Measures(
            {"kurtosis": "Kurtosis", "tau": "Tau", "mode_share": "Favourite's share", "entropy": "Entropy"},
            headline=split_names("kurtosis tau"), lead="kurtosis", kinds=("group",),
        ),
    ),
    "score_differences": Table(
        "contrasts.tabulate_score_changes_by_tuning",
        "Before and after tuning, by group and model series",
        "Kurtosis and tau-b of a base model (pre) and of the model tuned from it (post) on the same items (Sato "
        "et al., Table 1). Post minus pre with 95 % bootstrap intervals over items." + _BOLD,
        split_names("study group series pre_model post_model pre_condition post_condition range temperature method n "
               "kurtosis_gold kurtosis_pre kurtosis_post tau_pre tau_post kurtosis_difference tau_difference") + _ENDS
        + (*_TEST_COLUMNS, "validity_pre", "validity_post", "caution", "no_interval"),
        frozenset({*split_names("pre_model post_model pre_condition post_condition validity_pre validity_post"), *_ENDS,
                   *_TEST_COLUMNS[:3]}), frozenset({"caution", "no_interval"}),
        best=(("kurtosis_pre kurtosis_post", "smallest absolute"), ("tau_pre tau_post", "largest")),
    ),
    "score_ranges": Table(
        "tables.tabulate_kurtosis_and_tau_by_range",
        "Kurtosis and tau by the range that was asked for",
        "Every model's kurtosis and tau-b by range (Sato et al., Table 2)." + _BOLD,
        split_names("study group model series stage form prompt temperature method kurtosis_* tau_*"),
        frozenset(split_names("series stage form")),
        best=(("kurtosis_*", "smallest absolute"), ("tau_*", "largest")),
    ),
    "score_influence": Table(
        "influence.tabulate_correlations_leaving_points_out",
        "What single points do to the correlation between kurtosis and tau",
        "Pearson correlation between the differences, post minus pre, in kurtosis and in tau over groups and series. "
        "Of all points, and with each point, each group and each series left out. Intervals by resampling points. The "
        "paper's correlation, computed from its Table 1, is in the table, too.",
        split_names("source study range temperature method omitted omitted_name n undefined pearson pearson_lower "
               "pearson_upper change no_interval"),
        frozenset(split_names("pearson_lower pearson_upper")), _BARE,
    ),
    "score_methods": Table(
        "contrasts.tabulate_sampled_versus_exact_scores",
        "Sampled scores compared with exact ones",
        "The mean of a few samples approximates the expected score: their distance per item, and what it does to "
        "kurtosis and tau-b. Sampled minus exact with 95 % bootstrap intervals over items.",
        split_names("study group model series stage range temperature sampled_condition exact_condition n samples "
               "score_difference score_distance kurtosis_sampled kurtosis_exact tau_sampled tau_exact "
               "kurtosis_difference tau_difference") + _ENDS
        + (*_TEST_COLUMNS, "validity_sampled", "validity_exact", "caution", "no_interval"),
        frozenset({*split_names("series stage sampled_condition exact_condition validity_sampled "
                                "validity_exact"), *_ENDS,
                   *_TEST_COLUMNS}), frozenset({"caution", "no_interval"}),
    ),
    "score_conventions": Table(
        "tables.tabulate_scores_by_invalid_convention",
        "Samples without a number: dropped, or counted",
        "Dropped: a score is the mean of the samples that hold a number. Counted: an item of whose samples at least "
        "half hold no number has no score, and does not have the favourite score. Exact scores draw no samples, so "
        "both are the same.",
        split_names("study group model condition range temperature dropped n_dropped n_inconsistent kurtosis_dropped "
               "kurtosis_inconsistent tau_dropped tau_inconsistent mode_share_dropped mode_share_inconsistent"),
    ),
    "score_items": Table(
        "tables.tabulate_scores_of_every_item",
        "Every item's score and its human score",
        "In one setting; the human score is moved to the range that was asked for.",
        split_names("study model stage condition setting group item source text score gold gap distance"),
        frozenset({"setting", "stage", "distance"}),
    ),
    "score_printed": Table(
        "printed.read_printed_scores",
        "What the paper printed",
        "Kurtosis and tau of Sato et al., Tables 1 and 2. Tau of llama after alignment on En-De is .26 in the first "
        "and .21 in the second.",
        split_names("source group series stage range temperature method kurtosis tau"),
        frozenset({"temperature", "method"}),
    ),
}  # fmt: skip
FIGURES = {
    "score_violins": Figure("Scores of every model on every group of items", "figures.build_score_violins_frames"),
    "score_influence": Figure(
        "Kurtosis and tau: what one point does to their correlation", "figures.build_score_influence_frames",
        empty_note=FEW
    ),
    "score_influence_printed": Figure(
        "The same correlation in the paper", "figures.build_score_influence_printed_frames",
        plot_name="score_influence", file_name="score_influence-printed", empty_note=FEW,
    ),
    "score_temperatures": Figure("Kurtosis and tau by temperature", "figures.build_score_temperatures_frames"),
    "score_methods": Figure("Sampled scores and exact ones", "figures.build_score_methods_frames"),
}  # fmt: skip
CATALOGUE = Catalogue(
    place=50,
    protocols=frozenset({"scoring"}),
    studies=("sato",),
    tables=TABLES,
    columns=COLUMNS,
    figures=FIGURES,
    patterns=PATTERNS,
    rewordings=Rewordings(
        "analysis.measures.reworded.scores:read_score_studies", "analysis.measures.reworded.scores:has_rewordings"
    ),
)
