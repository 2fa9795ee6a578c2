"""The data dictionary: what every column of every table means, in which unit, and how it is printed."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its meaning and unit in words, and for print a short header and a number of decimals.

    `digits` None marks a column that is not a fractional number: a name, a text, a count.
    """

    meaning: str
    unit: str = ""
    header: str = ""
    digits: int | None = None

    @property
    def scale(self) -> str:
        """The unit as a header has room for it: the scale of a figure, nothing for a count whose header names it."""
        return "0–1" if self.unit.endswith("0 to 1") else "" if self.digits is None else self.unit


SHARE = "share, 0 to 1"
AGREEMENT = "agreement, 0 to 1"
MASS = "probability, 0 to 1"
COLUMNS: dict[str, Column] = {
    # identity
    "study": Column("name of the study: a protocol applied to a set of items", header="Study"),
    "model": Column("model id as in run.json", header="Model"),
    "condition": Column("name of the settings the model was asked under", header="Condition"),
    "item": Column("id of the item: an intended meaning, in several wordings", header="Item"),
    "variant": Column("id of the wording: one presentation of the item", header="Wording"),
    "text": Column("the item's original wording (its first wording where it has no original)", header="Text"),
    "family": Column("kind of model: causal (answers with the next token) or masked (fills a gap)", header="Family"),
    "source": Column("where the row's numbers come from: these runs, or the printed table named", header="Source"),
    "paraphrase_source": Column("who made the paraphrases that the row is about", header="Paraphrases by"),
    "reason": Column("why the item is left out of the stability statistics", header="Reason"),
    # sizes
    "n_items": Column("items that the figures are computed over", "items", "Items"),
    "n_variants": Column("paraphrases with a response", "paraphrases", "Paraphrases"),
    "n_excluded_items": Column(
        "items left out of range, SD and flips: fewer than two paraphrases with a defined agreement",
        "items",
        "Left out",
    ),
    "n_models": Column("models that the mean is taken over", "models", "Models"),
    "n_rows": Column("responses, originals and paraphrases together", "responses", "Responses"),
    "n_valid": Column("paraphrases with a defined agreement", "paraphrases", "Valid"),
    "n_invalid": Column("responses without a valid answer", "responses", "Invalid"),
    "n_error": Column("prompts without a response because asking failed; not counted elsewhere", "responses", "Failed"),
    "n_bounded": Column(
        "responses whose probabilities and mass are lower bounds: the server showed the most probable tokens only",
        "responses",
        "Bounded",
    ),
    "mass_missing": Column("mean mass that such responses may have beyond what was shown", MASS, "Mass hidden", 3),
    "n_ties": Column("paraphrases with an agreement of exactly 0.5, on neither side", "paraphrases", "Ties"),
    "n": Column(
        "what the row summarises: responses, items, pairs of questions, or (of a correlation) what is correlated",
        "",
        "n",
    ),
    # validity
    "validity": Column(
        "mean mass on the answers over all paraphrases (share of valid answers where texts were read)",
        MASS,
        "Validity",
        2,
    ),
    "validity_se": Column("standard error of the validity: SD over rows / square root of their number", MASS, "SE", 3),
    "validity_mean": Column("mean validity over the item's paraphrases", MASS, "Validity", 2),
    "validity_sd": Column("SD of the validity over the item's paraphrases (n - 1)", MASS, "Validity SD", 3),
    "original_validity": Column("validity of the original wording", MASS, "Validity of original", 2),
    "low_mass": Column(
        "true where the validity is below 0.5: the agreement is renormalised from little", "", "Low mass"
    ),
    "share": Column("invalid responses as a share of all responses", SHARE, "Share invalid", 3),
    "examples": Column("up to three outputs that could not be read as an answer", "", "Examples"),
    # texts
    "token_mismatch": Column(
        "valid texts that choose another option than the most probable first token (one that begins no option differs "
        "from every answer)",
        SHARE,
        "Not the first token's",
        3,
    ),
    "option_mismatch": Column(
        "valid texts that choose another option than the likeliest one", SHARE, "Not the likeliest", 3
    ),
    "text_invalid": Column("texts that choose no option", SHARE, "No answer", 3),
    "no_token": Column(
        "texts behind prompts whose most probable first token begins no option", SHARE, "First token no option", 3
    ),
    "n_answers": Column("texts that were generated and compared", "texts", "Texts"),
    # stability
    "range_mean": Column("mean over items of the highest minus the lowest agreement", AGREEMENT, "Range", 2),
    "range_sd": Column("SD across items of the range (n - 1)", AGREEMENT, "Range SD", 2),
    "sd_mean": Column("mean over items of the SD of agreement over paraphrases (n - 1)", AGREEMENT, "SD", 3),
    "sd_sd": Column("SD across items of that SD (n - 1)", AGREEMENT, "SD of SDs", 3),
    "mark": Column("+ the model agrees with every item in the mean, - it disagrees with every item", "", "±"),
    "agreement": Column("R^+ = p(agree) / (p(agree) + p(disagree)) of one response", AGREEMENT, "Agreement", 2),
    "agreement_mean": Column("mean agreement over the item's paraphrases", AGREEMENT, "Agreement", 2),
    "agreement_sd": Column("SD of agreement over the item's paraphrases (n - 1)", AGREEMENT, "SD", 3),
    "agreement_min": Column("lowest agreement among the item's paraphrases", AGREEMENT, "Lowest", 2),
    "agreement_max": Column("highest agreement among the item's paraphrases", AGREEMENT, "Highest", 2),
    "agreement_range": Column("highest minus lowest agreement among the item's paraphrases", AGREEMENT, "Range", 2),
    "minority_share": Column("share of the item's paraphrases on the smaller side of 0.5", SHARE, "Deviating", 2),
    "original_agreement": Column("agreement with the original wording", AGREEMENT, "Original", 2),
    "normalised_sd_mean": Column(
        "mean over models of the item's SD divided by the model's largest SD", "0 to 1", "Normalised SD", 2
    ),
    "normalised_sd_se": Column("standard error of that mean over models", "0 to 1", "SE", 3),
    # wordings
    "low_text": Column("the item's wording with the lowest agreement", "", "Lowest wording"),
    "low_agreement": Column("its agreement", AGREEMENT, "Agreement", 2),
    "high_text": Column("the item's wording with the highest agreement", "", "Highest wording"),
    "high_agreement": Column("its agreement", AGREEMENT, "Agreement", 2),
    "range": Column("highest minus lowest agreement; of scores, the range that was asked for", "", "Range", 2),
    # distribution
    "q25": Column("first quartile of agreement over the item's paraphrases", AGREEMENT, "Q25", 2),
    "median": Column("median agreement over the item's paraphrases", AGREEMENT, "Median", 2),
    "q75": Column("third quartile of agreement over the item's paraphrases", AGREEMENT, "Q75", 2),
    "whisker_low": Column("lowest agreement within 1.5 interquartile ranges of the box", AGREEMENT, "Whisker low", 2),
    "whisker_high": Column(
        "highest agreement within 1.5 interquartile ranges of the box", AGREEMENT, "Whisker high", 2
    ),
    # comparisons
    "measure": Column("the figure that is compared or correlated: a column of the table of measures", "", "Measure"),
    "a_source": Column("the paraphrases compared, by who made them", "", "Paraphrases a"),
    "b_source": Column("the paraphrases that they are compared with", "", "Paraphrases b"),
    "item_r": Column(
        "Pearson correlation across items of the values from the two sources", "-1 to 1", "r over items", 2
    ),
    "a_model": Column("the model compared", "", "Model a"),
    "a_condition": Column("its condition", "", "Condition a"),
    "b_model": Column("the model it is compared with", "", "Model b"),
    "b_condition": Column("its condition", "", "Condition b"),
    "difference": Column("a minus b on the same items", "unit of the measure", "a − b", 2),
    "lower": Column("lower end of the 95 % interval of the row's difference or estimate", "its unit", "Lower", 3),
    "upper": Column("upper end of the 95 % interval of the row's difference or estimate", "its unit", "Upper", 3),
    # effects of the wording
    "term": Column("the predictor: a text feature, or (Intercept)", "", "Predictor"),
    "estimate": Column(
        "change in agreement (0 to 1), or in its logit, per unit of the predictor", "response per unit", "Estimate", 4
    ),
    "se": Column("standard error of the estimate, in its unit", "", "SE", 4),
    "df": Column("degrees of freedom of the t test (Satterthwaite; cluster-robust: items - 1)", "", "df", 0),
    "statistic": Column("t statistic: estimate / se", "", "t", 2),
    "p": Column("two-sided p value, not corrected for the number of tests", "", "p", 3),
    "p_bonferroni": Column("p after Bonferroni over the n_tests tests of the table", "", "p (Bonferroni)", 3),
    "p_holm": Column("p after Holm over the n_tests tests of the table", "", "p (Holm)", 3),
    "dagger": Column("† not significant at 0.05 after Bonferroni", "", "†"),
    "estimate_std": Column(
        "change in the response, in its SDs, per SD of the predictor", "SD per SD", "Standardised", 3
    ),
    "estimate_std_lower": Column("lower end of its 95 % interval", "SD per SD", "Lower", 3),
    "estimate_std_upper": Column("upper end of its 95 % interval", "SD per SD", "Upper", 3),
    "n_tests": Column("tests that the corrections go over: all models and predictors, no intercepts", "tests", "Tests"),
    "scale": Column("scale of the response: identity (agreement itself) or logit", "", "Scale"),
    "engine": Column(
        "what fitted the model: profile (built in), pymer4 (R's lme4) or cluster-robust OLS", "", "Engine"
    ),
    "formula": Column("the model, in lme4's notation", "", "Formula"),
    "response": Column("the response of the model, and how it came about", "", "Response"),
    "converged": Column("whether the fit reached an optimum", "", "Converged"),
    "singular": Column(
        "whether the item variance is estimated as 0: the random intercept does nothing", "", "Singular"
    ),
    "message": Column("what the engine said, or why there is no fit", "", "Message"),
    "reml": Column("REML criterion at the optimum: -2 restricted log-likelihood", "", "REML", 1),
    "sigma": Column("SD of the residuals", "response", "Residual SD", 3),
    "sd_item": Column("SD of the random intercepts of items", "response", "Item SD", 3),
    "icc": Column("share of the items in the variance that the predictors leave", SHARE, "ICC", 2),
    "r2_marginal": Column("share of the variance that the predictors explain", SHARE, "R² predictors", 3),
    "r2_conditional": Column("share that predictors and items explain together", SHARE, "R² with items", 2),
    "n_missing": Column("responses left out because a value is missing", "responses", "Left out"),
    "dropped": Column("predictors left out of this fit, and why; of scores, samples without a number", "", "Dropped"),
    "vif": Column("variance inflation factor: 1 for a predictor that no other can predict", "", "VIF", 1),
    "estimate_identity": Column("the estimate for agreement, 0 to 1", "agreement per unit", "Agreement", 4),
    "estimate_logit": Column("the estimate for the logit of agreement", "nats per unit", "Logit", 3),
    "se_identity": Column("its standard error, agreement", "agreement per unit", "SE (agreement)", 4),
    "se_logit": Column("its standard error, logit", "nats per unit", "SE (logit)", 3),
    "p_bonferroni_identity": Column("p after Bonferroni, agreement", "", "p (agreement)", 3),
    "p_bonferroni_logit": Column("p after Bonferroni, logit", "", "p (logit)", 3),
    "estimate_std_identity": Column("standardised estimate, agreement", "SD per SD", "Std. (agreement)", 3),
    "estimate_std_logit": Column("standardised estimate, logit", "SD per SD", "Std. (logit)", 3),
    "same_sign": Column("whether the sign is the same on both scales", "", "Same sign"),
    "same_significance": Column(
        "whether both or neither are significant at 0.05 after Bonferroni", "", "Same significance"
    ),
    "verdict": Column("the two scales compared, in words", "", "In words"),
    "feature_a": Column("a text feature", "", "Feature"),
    "feature_b": Column("the feature that it is correlated with", "", "With"),
    "r": Column(
        "correlation over what has both (paraphrases, models); Pearson unless a method is named", "-1 to 1", "r", 2
    ),
    "language": Column("language of the wordings (ISO 639 code); all: mean over languages", "", "Language"),
    "columns": Column("the features", "", "Features"),
    "component": Column("what computed them, with its version; empty where they are missing", "", "Computed by"),
    "missing": Column("why the features are missing, and how to get them", "", "Missing because"),
    "n_texts": Column("distinct wordings", "wordings", "Wordings"),
}
_FLIP = re.compile(r"flip_(\d{2})(\d*)")


def threshold(name: str) -> float | None:
    """The threshold of a flip column in per cent, None for another column.

    >>> threshold("flip_05"), threshold("flip_025"), threshold("validity")
    (5.0, 2.5, None)
    """
    match = _FLIP.fullmatch(name)
    return float(f"{match[1]}.{match[2] or 0}") if match else None


def column(name: str) -> Column:
    """The entry of a column, those of flip thresholds and interval ends made from their base.

    Raises
    ------
    KeyError
        For a column that the dictionary does not know; a test keeps this from happening.
    """
    if name in COLUMNS:
        return COLUMNS[name]
    from analysis.consistency.columns import COLUMNS as WORDING

    if name in WORDING:
        return WORDING[name]
    percent = threshold(name)
    if percent is not None:
        meaning = f"share of items with more than {percent:g} % of their paraphrases off the majority's side"
        return Column(meaning, "share of items, 0 to 1", f"Flips > {percent:g} %", 2)
    if name.startswith("effect_"):
        return _effect(name.removeprefix("effect_"))
    if found := _of_scores(name):
        return found
    for ending, side in (("_lower", "lower"), ("_upper", "upper")):
        if name.endswith(ending):
            base = column(name.removesuffix(ending))
            return replace(base, meaning=f"{side} end of the 95 % interval (items resampled) of: {base.meaning}")
    raise KeyError(name)


def _of_scores(name: str) -> Column | None:
    """The entry of a column of the tables of scores."""
    from analysis.scoring.columns import COLUMNS as SCORES
    from analysis.scoring.columns import by_range

    if ranged := by_range(name):
        base = SCORES[ranged[0]]
        return replace(base, meaning=f"{base.meaning}, on the range {ranged[1]}", header=f"{base.header} {ranged[1]}")
    return SCORES.get(name)


def _effect(name: str) -> Column:
    """Of the effect of a text feature in percentage points, its standard error (_se) or its dagger (_dagger)."""
    from analysis.features.columns import COLUMNS as FEATURES

    term = name.removesuffix("_se").removesuffix("_dagger")
    feature = FEATURES[term]
    if name.endswith("_dagger"):
        return replace(COLUMNS["dagger"], meaning=f"{COLUMNS['dagger'].meaning}: {feature.header.lower()}")
    error = "standard error of the " if name.endswith("_se") else ""
    meaning = f"{error}change in agreement per unit ({feature.unit}) of: {feature.meaning}"
    return Column(meaning, "percentage points", f"{feature.header}{' SE' if error else ''}", 2)


def value(raw: Any, entry: Column) -> str:
    """One value with the digits of its column: nothing where undefined, and never 0.00 for a number that is not 0.

    >>> [value(raw, Column("", digits=2)) for raw in (0.123, 0.001, 0.0, -0.5, float("nan"))]
    ['0.12', '<0.01', '0.00', '−0.50', '']
    """
    if isinstance(raw, list | tuple):
        return "; ".join(f"“{' '.join(str(part).split())}”" for part in raw)
    if raw is None or raw != raw:  # NaN is the value that differs from itself
        return ""
    if isinstance(raw, str):
        return raw
    if str(raw) in ("True", "False"):
        return "yes" if raw else "no"
    if entry.digits is None:
        return f"{int(raw):,}" if float(raw).is_integer() else str(raw)
    rounded = f"{raw:.{entry.digits}f}"
    if float(rounded) != 0:
        return rounded.replace("-", "−")
    return f"<{10.0**-entry.digits:.{entry.digits}f}" if raw > 0 else rounded.replace("-", "")
