"""List the tables and figures of the page `text_features`; `columns` says what its columns mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.pages.text_features.columns import COLUMNS, PATTERNS
from analysis.reporting.catalogue import Catalogue, Figure, Measures, Table, split_names
from analysis.reporting.catalogue.columns import IDENTITY
from analysis.runs import Runs

EFFECTS = (
    *IDENTITY,
    *split_names("term estimate lower_robust upper_robust se_robust p_robust p_robust_bonferroni lower upper se df "
           "statistic p p_bonferroni p_holm p_slopes confirmed dagger estimate_std estimate_std_lower "
           "estimate_std_upper n_tests n_rows n_items validity scale engine"),
)  # fmt: skip
_EFFECT_ERRORS: Mapping[str, tuple[str, str]] = {  # column -> its standard error and its dagger
    "effect_word_frequency": ("effect_word_frequency_se", "effect_word_frequency_dagger"),
    "effect_word_length": ("effect_word_length_se", "effect_word_length_dagger"),
    "effect_statement_length": ("effect_statement_length_se", "effect_statement_length_dagger"),
    "effect_right_dependents": ("effect_right_dependents_se", "effect_right_dependents_dagger"),
    "effect_left_dependents": ("effect_left_dependents_se", "effect_left_dependents_dagger"),
    "effect_dependency_length": ("effect_dependency_length_se", "effect_dependency_length_dagger"),
    "effect_sentiment_positive": ("effect_sentiment_positive_se", "effect_sentiment_positive_dagger"),
    "effect_sentiment_negative": ("effect_sentiment_negative_se", "effect_sentiment_negative_dagger"),
}
BETWEEN = {"estimate": ("lower_robust", "upper_robust")}
_DAGGER = (
    "†: not significant at 0.05 after Bonferroni over all models and predictors, by the fit's own errors or by "
    "cluster-robust ones."
)
TABLES = {
    "mixed": Table(
        "tables.tabulate_mixed_effects",
        "Effects of text features on the answer",
        "One linear mixed model per model: response ~ predictors + (1 | item) over the paraphrases, by REML, with "
        "Satterthwaite's t tests. Intervals (95 %) and robust p values allow for effects that differ between items. "
        "Standardised: in SDs of response and predictor. " + _DAGGER,
        EFFECTS,
        frozenset(split_names("estimate_std_lower estimate_std_upper lower_robust upper_robust lower upper statistic "
                        "p_robust confirmed n_tests validity engine")),
        interval=BETWEEN, measures=Measures({"estimate_std": "Effect"}, kinds=("term",), most_units=100),
    ),
    "mixed_conventions": Table(
        "tables.tabulate_effects_by_invalid_convention",
        "Invalid answers: dropped, or counted as not agreeing",
        "The effects under both conventions, for the models that gave an invalid answer. Dropped: the fit is made of "
        "the responses with a valid answer, and agreement is a share of the valid samples. Counted: an invalid answer "
        "does not agree, and neither does an invalid sample. Probabilities are of the valid answers under both.",
        (*IDENTITY,
         *split_names("term estimate_dropped estimate_inconsistent p_bonferroni_dropped p_bonferroni_inconsistent "
                      "p_robust_bonferroni_dropped p_robust_bonferroni_inconsistent confirmed_dropped "
                      "confirmed_inconsistent n_rows_dropped n_rows_inconsistent")),
        frozenset(split_names("p_bonferroni_dropped p_bonferroni_inconsistent")),
    ),
    "table3": Table(
        "printed.tabulate_effects_in_percentage_points",
        "Effects of the paper's eight predictors in percentage points",
        "The counterpart of Haller et al., Table 3: agreement in per cent ~ the eight predictors (those present) "
        "+ (1 | item). Estimate ± standard error. " + _DAGGER + " Printed rows follow ours where model and items are "
        "the same.",
        (*IDENTITY, "source", *(column for effect, errors in _EFFECT_ERRORS.items() for column in (effect, *errors)),
         "n_rows", "n_items"),
        frozenset(column for errors in _EFFECT_ERRORS.values() for column in errors), error=_EFFECT_ERRORS,
    ),
    "mixed_diagnostics": Table(
        "tables.tabulate_mixed_diagnostics",
        "Diagnostics of the mixed models",
        "Explained variance (Nakagawa & Schielzeth 2013), variance components, convergence, and what was left out.",
        (*IDENTITY, *split_names("r2_marginal r2_conditional icc sigma sd_item reml converged singular validity "
                        "validity_at_most n_rows n_missing n_items message dropped response formula engine")),
        frozenset(split_names("reml n_missing response formula engine")), frozenset({"validity_at_most"}),
    ),
    "vif": Table(
        "tables.tabulate_vif",
        "Collinearity of the predictors",
        "Variance inflation factors: by how much the other predictors inflate the variance of an estimate. Left and "
        "right dependents per word sum to 1 - roots/words, so where both are present, both are high by construction.",
        (*IDENTITY, *split_names("term vif")),
    ),
    "scales": Table(
        "tables.tabulate_effects_on_agreement_and_logit",
        "The same effects on agreement and on its logit",
        "Two fits compared; significant at 0.05 after Bonferroni over the tests of each scale, by the fit's own errors "
        "and by cluster-robust ones.",
        (*IDENTITY, *split_names("term estimate_identity estimate_logit se_identity se_logit p_bonferroni_identity "
                        "p_bonferroni_logit p_robust_bonferroni_identity p_robust_bonferroni_logit "
                        "estimate_std_identity estimate_std_logit same_sign same_significance "
                        "verdict")),
        frozenset(split_names("estimate_identity estimate_logit se_identity se_logit same_sign same_significance")),
    ),
    "correlations": Table(
        "tables.tabulate_feature_correlations",
        "Correlations between text features",
        "Pearson correlations over the paraphrases of a study, features in the order of a clustering.",
        split_names("study feature_a feature_b r p n"),
    ),
    "features": Table(
        "tables.tabulate_software_computing_features",
        "What computed the text features, and what is missing",
        "One row per group of features. A missing feature has no numbers, and no zeros either.",
        split_names("study language columns component missing looks_like n_texts"),
    ),
}  # fmt: skip
FIGURES = {
    "effects": Figure("Effects of the text features under every model", "figures.build_effects_frames"),
    "correlations": Figure("Which text features go together", "figures.build_correlations_frames"),
    "residuals": Figure("Residuals of the fits", "figures.build_residuals_frames"),
    "intercepts": Figure("Random intercepts of the items", "figures.build_intercepts_frames"),
}  # fmt: skip


def _explain_empty_text_features_page(runs: Runs, parameters: Mapping[str, Any]) -> str:
    """Say why the page has nothing to show; empty where a model can be fitted."""
    from analysis.pages.text_features.family import explain_unfittable_runs

    return explain_unfittable_runs(runs, str(parameters.get("predictors", "all")))


CATALOGUE = Catalogue(
    place=20,
    protocols=frozenset({"agreement"}),
    studies=("haller",),
    tables=TABLES,
    columns=COLUMNS,
    figures=FIGURES,
    patterns=PATTERNS,
    explain_no_data=_explain_empty_text_features_page,
    of_agreement=True,
)
