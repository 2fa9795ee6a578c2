"""Say what the columns of the tables on text features mean, and what the predictors are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from analysis.reporting.catalogue.columns import SHARE, Column, Pattern

PER_WORD = "per word"
# The predictors of the mixed models: the text features and the wording's own log-probability.
TERMS: Mapping[str, Column] = {
    "word_length": Column(
        "mean number of characters per word, punctuation stripped (Haller et al.: average word length)",
        "characters", "Word length", 2,
    ),
    "word_frequency": Column(
        "mean Zipf frequency of the words (wordfreq in the language of the text: log10 of occurrences per billion, "
        "0 for an unknown word), punctuation stripped: at the ends of words, in en and de inside them, too "
        "(Haller et al.: average lexical frequency)",
        "Zipf", "Word frequency", 2,
    ),
    "statement_length": Column(
        "number of words: white-space words with their punctuation; in Japanese UniDic short units that are not "
        "punctuation (Haller et al.: statement length)",
        "words", "Statement length", 1,
    ),
    "left_dependents": Column(
        "mean number of dependents that precede their head (Haller et al.: number of left dependencies)",
        PER_WORD, "Left dependents", 3,
    ),
    "right_dependents": Column(
        "mean number of dependents that follow their head (Haller et al.: number of right dependencies)",
        PER_WORD, "Right dependents", 3,
    ),
    "dependency_length": Column(
        "mean distance of a word to its head, a root counting as 0; divided by left_dependents + right_dependents it "
        "is the mean over dependents alone (Haller et al.: dependency length)",
        "words", "Dependency length", 2,
    ),
    "sentiment_positive": Column(
        "positive sentiment: probability (pysentimiento) or share of the wording (VADER) (Haller et al.: sentiment+)",
        "0 to 1", "Sentiment +", 3,
    ),
    "sentiment_negative": Column(
        "negative sentiment: probability (pysentimiento) or share of the wording (VADER) (Haller et al.: sentiment-)",
        "0 to 1", "Sentiment −", 3,
    ),
    "negation_cues": Column(
        "number of negation cues: words that negate, those that negate together counted once; in de, en, es, fr, it, "
        "ja, nl and zh (not in Haller et al.)",
        "cues", "Negations", 2,
    ),
    "edit_similarity": Column(
        "1 - Levenshtein distance to the item's original / length of the longer of the two, in characters "
        "(not in Haller et al.)",
        "0 to 1", "Similarity to original", 3,
    ),
    "text_logprob": Column("log-probability of the wording itself under the model", "nats", "Log-probability", 1),
}  # fmt: skip


def phrase_predictor_names(names: str) -> str:
    """Write the predictors of a cell by their headers; attributes and the intercept keep their names.

    >>> phrase_predictor_names("word_length, negation_cues"), phrase_predictor_names("attributes.tone")
    ('Word length, Negations', 'attributes.tone')
    """
    return ", ".join(TERMS[name].header if name in TERMS else name for name in names.split(", "))


COLUMNS: Mapping[str, Column] = {
    # effects
    "term": Column(
        "the predictor: a text feature, an attribute of the wordings (attributes.X; of a category attributes.X[level "
        "vs reference]), or (Intercept)", "", "Predictor", phrase_name=phrase_predictor_names,
    ),
    "estimate": Column(
        "change in agreement (0 to 1), or in its logit, per unit of the predictor", "response per unit", "Estimate", 4
    ),
    "lower_robust": Column(
        "lower end of the 95 % interval by the cluster-robust error: valid where the effect differs between items",
        "its unit", "Lower", 3,
    ),
    "upper_robust": Column("upper end of the same interval", "its unit", "Upper", 3),
    "se_robust": Column(
        "cluster-robust standard error of the estimate: every item left out once (MacKinnon et al. 2023); empty where "
        "the estimate rests on one item alone", "its unit", "Robust SE", 4,
    ),
    "p_robust": Column("p by the cluster-robust error, t with items - 1 degrees of freedom", "", "p (robust)", 3),
    "p_robust_bonferroni": Column(
        "p by the cluster-robust error after Bonferroni over the n_tests tests of the table", "",
        "p (robust, Bonferroni)", 3,
    ),
    "p_slopes": Column(
        "p of the F test that the effect is the same in all items; if small, only robust errors hold (uncorrected)",
        "", "p (same slope)", 3,
    ),
    "confirmed": Column("whether p_bonferroni and p_robust_bonferroni are both below 0.05", "", "Confirmed"),
    "lower": Column(
        "lower end of the fit's own 95 % interval of the estimate; too narrow where effects differ by item",
        "its unit", "Lower (fit)", 3,
    ),
    "upper": Column("upper end of the same interval", "its unit", "Upper (fit)", 3),
    "se": Column("the fit's own standard error of the estimate, in its unit", "", "SE", 4),
    "df": Column("degrees of freedom of the fit's own t test (Satterthwaite)", "", "df", 0),
    "statistic": Column("t statistic: estimate / se", "", "t", 2),
    "p_bonferroni": Column("p after Bonferroni over the n_tests tests of the table", "", "p (Bonferroni)", 3),
    "p_holm": Column("p after Holm over the n_tests tests of the table", "", "p (Holm)", 3),
    "dagger": Column("† not confirmed: p_bonferroni or p_robust_bonferroni is 0.05 or more", "", "†"),
    "estimate_std": Column(
        "change in the response, in its SDs, per SD of the predictor", "SD per SD", "Standardised", 3
    ),
    "estimate_std_lower": Column("lower end of its 95 % interval by the cluster-robust error", "SD per SD", "Lower", 3),
    "estimate_std_upper": Column("upper end of its 95 % interval by the cluster-robust error", "SD per SD", "Upper", 3),
    "n_tests": Column("tests that the corrections go over: all models and predictors, no intercepts", "tests", "Tests"),
    "n_rows": Column("responses to paraphrases that the fit is made of", "responses", "Responses"),
    "scale": Column("scale of the response: identity (agreement itself) or logit", "", "Scale"),
    "engine": Column("what fitted the model: profile (built in) or pymer4 (R's lme4)", "", "Engine"),
    # diagnostics
    "formula": Column("the model, in lme4's notation", "", "Formula"),
    "response": Column("the response of the model, and what it was made from", "", "Response"),
    "converged": Column("whether the fit reached an optimum", "", "Converged"),
    "singular": Column(
        "whether the item variance is estimated as 0, so that the random intercept has no effect", "", "Singular"
    ),
    "message": Column("what the engine said, or why there is no fit", "", "Message"),
    "reml": Column("REML criterion at the optimum: -2 restricted log-likelihood", "", "REML", 1),
    "sigma": Column("SD of the residuals", "response", "Residual SD", 3),
    "sd_item": Column("SD of the random intercepts of items", "response", "Item SD", 3),
    "icc": Column("share of the items in the variance that the predictors leave", SHARE, "ICC", 2),
    "r2_marginal": Column("share of the variance that the predictors explain", SHARE, "R² predictors", 3),
    "r2_conditional": Column("share that predictors and items explain together", SHARE, "R² with items", 2),
    "n_missing": Column("responses left out because a value is missing", "responses", "Left out"),
    "dropped": Column("predictors left out of this fit, and why", "", "Dropped"),
    "vif": Column("variance inflation factor: 1 for a predictor that no other can predict", "", "VIF", 1),
    # both scales
    "estimate_identity": Column("the estimate for agreement, 0 to 1", "agreement per unit", "Agreement", 4),
    "estimate_logit": Column("the estimate for the logit of agreement", "nats per unit", "Logit", 3),
    "se_identity": Column("its standard error, agreement", "agreement per unit", "SE (agreement)", 4),
    "se_logit": Column("its standard error, logit", "nats per unit", "SE (logit)", 3),
    "p_bonferroni_identity": Column("p after Bonferroni, agreement", "", "p (agreement)", 3),
    "p_bonferroni_logit": Column("p after Bonferroni, logit", "", "p (logit)", 3),
    "p_robust_bonferroni_identity": Column(
        "p by the cluster-robust error after Bonferroni, agreement", "", "Robust p (agreement)", 3
    ),
    "p_robust_bonferroni_logit": Column(
        "p by the cluster-robust error after Bonferroni, logit", "", "Robust p (logit)", 3
    ),
    "estimate_std_identity": Column("standardised estimate, agreement", "SD per SD", "Std. (agreement)", 3),
    "estimate_std_logit": Column("standardised estimate, logit", "SD per SD", "Std. (logit)", 3),
    "same_sign": Column("whether the sign is the same on both scales", "", "Same sign"),
    "same_significance": Column(
        "whether both or neither are significant at 0.05 after Bonferroni, by either error", "", "Same significance"
    ),
    # both conventions
    "estimate_dropped": Column("the estimate, invalid answers dropped", "response per unit", "Estimate (dropped)", 4),
    "estimate_inconsistent": Column(
        "the estimate, invalid answers counted", "response per unit", "Estimate (counted)", 4
    ),
    "p_bonferroni_dropped": Column(
        "p by the fit's own error after Bonferroni, invalid answers dropped", "", "p (dropped)", 3
    ),
    "p_bonferroni_inconsistent": Column(
        "p by the fit's own error after Bonferroni, invalid answers counted", "", "p (counted)", 3
    ),
    "p_robust_bonferroni_dropped": Column(
        "p by the cluster-robust error after Bonferroni, invalid answers dropped", "", "Robust p (dropped)", 3
    ),
    "p_robust_bonferroni_inconsistent": Column(
        "p by the cluster-robust error after Bonferroni, invalid answers counted", "", "Robust p (counted)", 3
    ),
    "confirmed_dropped": Column(
        "whether both p values are below 0.05, invalid answers dropped", header="Confirmed (dropped)"
    ),
    "confirmed_inconsistent": Column(
        "whether both p values are below 0.05, invalid answers counted", header="Confirmed (counted)"
    ),
    "n_rows_dropped": Column(
        "responses that the fit is made of, invalid answers dropped", "responses", "Responses (dropped)"
    ),
    "n_rows_inconsistent": Column(
        "responses that the fit is made of, invalid answers counted", "responses", "Responses (counted)"
    ),
    "verdict": Column("the two scales compared, in words", "", "In words"),
    # the features themselves
    "feature_a": Column("a text feature", "", "Feature", phrase_name=phrase_predictor_names),
    "feature_b": Column("the feature that it is correlated with", "", "With", phrase_name=phrase_predictor_names),
    "r": Column("Pearson correlation over the paraphrases that have both features", "-1 to 1", "r", 2),
    "n": Column("paraphrases that have both features", "paraphrases", "n"),
    "columns": Column("the features", "", "Features", phrase_name=phrase_predictor_names),
    "component": Column("what computed them, with its version; empty where they are missing", "", "Computed by"),
    "missing": Column("why the features are missing, and how to get them", "", "Missing because"),
    "looks_like": Column(
        "language that the wordings look like by their commonest words, where they name another one", "", "Looks like"
    ),
    "n_texts": Column("distinct wordings", "wordings", "Wordings"),
}  # fmt: skip


def _define_percentage_point_effect_column(name: str) -> Column | None:
    """Explain the effect of a feature in percentage points, its standard error (_se) or its dagger (_dagger)."""
    term = name.removeprefix("effect_").removesuffix("_se").removesuffix("_dagger")
    if term not in TERMS:
        return None
    feature = TERMS[term]
    if name.endswith("_dagger"):
        return replace(COLUMNS["dagger"], meaning=f"{COLUMNS['dagger'].meaning}: {feature.header.lower()}")
    error = "standard error of the " if name.endswith("_se") else ""
    meaning = f"{error}change in agreement per unit ({feature.unit}) of: {feature.meaning}"
    return Column(meaning, "percentage points", f"{feature.header}{' SE' if error else ''}", 2)


PATTERNS: Mapping[str, Pattern] = {"effect_*": _define_percentage_point_effect_column}
