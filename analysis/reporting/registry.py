"""The registry of the report's tables, page by page: for each its function, its words and its columns."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.pages.scoring.catalogue import SCORING
from analysis.pages.wording.catalogue import BENCHMARKS, WORDING
from analysis.reporting.registry_entry import Table
from analysis.reporting.registry_entry import names as _names

UNIT = ("study", "model", "condition")
EFFECTS = (
    *UNIT,
    *_names("term estimate lower upper se df statistic p p_bonferroni p_holm dagger estimate_std estimate_std_lower "
            "estimate_std_upper n_tests n_rows n_items scale engine"),
)  # fmt: skip
_PUBLISHED = _names(
    "word_frequency word_length statement_length right_dependents left_dependents dependency_length sentiment_positive "
    "sentiment_negative"
)
_DAGGER = "†: not significant at 0.05 after Bonferroni over all models and predictors."
FIGURES = _names("validity validity_se range_mean range_sd sd_mean sd_sd flip_*")
STABILITY: Mapping[str, Table] = {
    "stability": Table(
        "pages.stability.tables.models",
        "How far each model's answers move between wordings of one item",
        "Validity and stability of every model over the paraphrases of each item, with 95 % bootstrap intervals over "
        "items. Flips: share of items with more than that part of their paraphrases off the majority's side. Mark: + "
        "the model agrees with every item in the mean, - it disagrees.",
        (*UNIT, *FIGURES, *_names("n_items n_variants n_excluded_items mark low_mass intervals")),
        frozenset({"validity_se", "n_excluded_items", "low_mass"}),
    ),
    "items": Table(
        "pages.stability.tables.items",
        "Every item under every model",
        "Validity and agreement over the paraphrases of one item, and the model's answer to its original wording.",
        (*UNIT, *_names("item text n_variants n_valid validity_mean validity_sd agreement_mean agreement_sd "
                        "agreement_min agreement_max agreement_range minority_share n_ties original_agreement "
                        "original_validity n_invalid")),
        frozenset(_names("n_valid validity_sd agreement_min agreement_max n_ties original_validity n_invalid")),
    ),
    "differences": Table(
        "pages.stability.tables.differences",
        "Paired differences between models, and between conditions of one model, on the same items",
        "Difference a minus b of model-level figures on the items both have, with 95 % bootstrap intervals over items.",
        _names("study measure a_model a_condition b_model b_condition difference lower upper n_items"),
        frozenset({"lower", "upper"}),
    ),
    "item_stability": Table(
        "pages.stability.tables.item_stability",
        "Items that are unstable across models",
        "SD of agreement over an item's paraphrases, divided by the model's largest such SD; mean and standard error "
        "over models, causal and masked models apart.",
        _names("study item text family normalised_sd_mean normalised_sd_se n_models"),
    ),
    "divergent": Table(
        "pages.stability.tables.divergent",
        "The pair of wordings of one item that a model answers most differently",
        "For every model the item whose answer moves most: its paraphrases with the lowest and the highest agreement.",
        (*UNIT, *_names("item low_text low_agreement high_text high_agreement range")),
    ),
    "distribution": Table(
        "pages.stability.tables.distribution",
        "Quartiles of agreement for every model and item",
        "Quartiles and whisker ends (1.5 interquartile ranges, clipped to the data) of agreement over paraphrases.",
        (*UNIT, *_names("item q25 median q75 whisker_low whisker_high n")),
    ),
    "outliers": Table(
        "pages.stability.tables.outliers",
        "Responses outside the whiskers",
        "Agreement of every response further than 1.5 interquartile ranges from the box of its item.",
        (*UNIT, *_names("item variant agreement")),
    ),
    "invalid": Table(
        "pages.stability.tables.invalid",
        "Answers that could not be used",
        "Responses without a valid answer, prompts that failed, responses known within bounds only, and examples of "
        "outputs.",
        (*UNIT, *_names("n_rows n_invalid n_error share n_bounded mass_missing examples")),
    ),
    "answers": Table(
        "pages.stability.written_answers.answers",
        "Texts beside the probabilities of the same prompts",
        "What a model writes, read as an answer, against the option that owns its most probable first token and its "
        "likeliest option: share of the valid texts that choose another, with 95 % bootstrap intervals over items.",
        (*UNIT, *_names("token_mismatch option_mismatch text_invalid no_token n_answers n_items intervals")),
    ),
    "excluded": Table(
        "pages.stability.tables.excluded",
        "Items left out of the stability statistics",
        "Items with fewer than two paraphrases that have a defined agreement.",
        (*UNIT, *_names("item text n_variants n_valid reason")),
    ),
    "published": Table(
        "pages.stability.printed.compare",
        "These runs beside a printed table, where items and models match",
        "Model-level figures of these runs, and the printed figures of the same models on the same items. A printed "
        "spread is the standard deviation across items; a printed standard error of 0.000 was printed as 0.",
        (*UNIT, "source", *FIGURES, *_names("n_items n_variants n_excluded_items mark low_mass intervals")),
        frozenset({"n_variants", "n_excluded_items", "low_mass"}),
    ),
    "sources": Table(
        "pages.stability.sources.models",
        "Each model's validity and stability, by the source of the paraphrases",
        "The counterpart of Haller et al., Table 7: the figures of table stability over the paraphrases of one source "
        "at a time, with 95 % bootstrap intervals over items; printed rows where model and items are the same.",
        (*UNIT, "source", "paraphrase_source", *FIGURES,
         *_names("n_items n_variants n_excluded_items mark low_mass intervals")),
        frozenset({"n_variants", "n_excluded_items", "low_mass"}),
    ),
    "source_agreement": Table(
        "pages.stability.sources.agreement",
        "How far two sources of paraphrases agree about a model",
        "Difference a minus b on the items that both sources have, and Pearson correlation across these items; 95 % "
        "bootstrap intervals over items.",
        (*UNIT, *_names("measure a_source b_source difference lower upper item_r item_r_lower item_r_upper n_items")),
        frozenset(_names("lower upper item_r_lower item_r_upper")),
    ),
}  # fmt: skip
TEXT_FEATURES: Mapping[str, Table] = {
    "mixed": Table(
        "pages.text_features.tables.mixed",
        "Effects of text features on the answer",
        "One linear mixed model per model: response ~ predictors + (1 | item) over the paraphrases, by REML, with "
        "Satterthwaite's t tests and 95 % intervals. Standardised: in SDs of response and predictor. " + _DAGGER,
        EFFECTS,
        frozenset(_names("estimate_std_lower estimate_std_upper lower upper statistic n_tests engine")),
    ),
    "table3": Table(
        "pages.text_features.printed.table3",
        "Effects of the paper's eight predictors in percentage points",
        "The counterpart of Haller et al., Table 3: agreement in per cent ~ the eight predictors (those present) "
        "+ (1 | item); estimate ± standard error. " + _DAGGER + " Printed rows stand beside ours where model and items "
        "are the same.",
        (*UNIT, "source", *(f"effect_{term}{part}" for term in _PUBLISHED for part in ("", "_se", "_dagger")),
         "n_rows", "n_items"),
        frozenset(f"effect_{term}{part}" for term in _PUBLISHED for part in ("_se", "_dagger")),
    ),
    "mixed_diagnostics": Table(
        "pages.text_features.tables.mixed_diagnostics",
        "Diagnostics of the mixed models",
        "Explained variance (Nakagawa & Schielzeth 2013), variance components, convergence, and what was left out.",
        (*UNIT, *_names("r2_marginal r2_conditional icc sigma sd_item reml converged singular validity n_rows "
                        "n_missing n_items message dropped response formula engine")),
        frozenset(_names("reml n_missing response formula engine")),
    ),
    "vif": Table(
        "pages.text_features.tables.vif",
        "Collinearity of the predictors",
        "Variance inflation factors: by how much the other predictors inflate the variance of an estimate. Left and "
        "right dependents per word are 1 - roots/words in sum, so where both are there, both are high by construction.",
        (*UNIT, *_names("term vif")),
    ),
    "scales": Table(
        "pages.text_features.tables.scales",
        "The same effects on agreement and on its logit",
        "Two fits side by side; significance at 0.05 after Bonferroni over the tests of each scale.",
        (*UNIT, *_names("term estimate_identity estimate_logit se_identity se_logit p_bonferroni_identity "
                        "p_bonferroni_logit estimate_std_identity estimate_std_logit same_sign same_significance "
                        "verdict")),
        frozenset(_names("estimate_identity estimate_logit se_identity se_logit same_sign same_significance")),
    ),
    "robust": Table(
        "pages.text_features.tables.robust",
        "A third opinion: least squares with cluster-robust standard errors",
        "Ordinary least squares without random effects; standard errors allow for any dependence within an item (CR1, "
        "t with items - 1 degrees of freedom). Too confident below some 40 items. " + _DAGGER,
        EFFECTS,
        frozenset(_names("estimate_std_lower estimate_std_upper lower upper statistic n_tests engine n_rows n_items "
                         "scale")),
    ),
    "correlations": Table(
        "pages.text_features.tables.correlations",
        "Correlations between text features",
        "Pearson correlations over the paraphrases of a study, features in the order of a clustering.",
        _names("study feature_a feature_b r p n"),
    ),
    "features": Table(
        "pages.text_features.tables.components",
        "What computed the text features, and what is missing",
        "One row per group of features. What is missing has no numbers here, rather than zeros.",
        _names("study language columns component missing n_texts"),
    ),
}  # fmt: skip
# A table belongs to one page, which says what its columns mean.
PAGES: Mapping[str, Mapping[str, Table]] = {
    "stability": STABILITY,
    "text_features": TEXT_FEATURES,
    "scoring": SCORING,
    "wording": WORDING,
    "benchmarks": BENCHMARKS,
}
TABLES: Mapping[str, Table] = {name: entry for tables in PAGES.values() for name, entry in tables.items()}
PAGE_OF: Mapping[str, str] = {name: page for page, tables in PAGES.items() for name in tables}
