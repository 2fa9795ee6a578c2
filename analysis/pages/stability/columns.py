"""Say what the columns of the tables on stability mean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from analysis.reporting.catalogue.columns import AGREEMENT, MASS, SHARE, SHARED, Column, Pattern


def look_up_measure_header(measure: str) -> str:
    """Return what tables print for a figure that is compared: the header of its column."""
    entry = (
        _build_flip_column_definition(measure)
        or COLUMNS.get(f"stability.{measure}")
        or COLUMNS.get(measure)
        or SHARED.get(measure)
    )
    return entry.header if entry else measure


COLUMNS: Mapping[str, Column] = {
    # identity
    "variant": Column("id of the wording: one presentation of the item", header="Wording"),
    "text": Column("the item's original wording (its first wording where it has no original)", header="Text"),
    "family": Column("kind of model: causal (answers with the next token) or masked (fills a gap)", header="Family"),
    "paraphrase_source": Column("who made the paraphrases that the row is about", header="Paraphrases by"),
    "reason": Column("why the item is left out of the stability statistics", header="Reason"),
    # sizes
    "n_variants": Column("paraphrases with a response", "paraphrases", "Paraphrases"),
    "n_excluded_items": Column(
        "items left out of range, SD and flips: fewer than two paraphrases with a defined agreement",
        "items",
        "Left out",
    ),
    "alike.text": Column("their text, without these blanks", "", "Text"),
    "alike.n_variants": Column("wordings with this text", "wordings", "Wordings"),
    "flips_dropped": Column("items that flip, of all with two valid paraphrases", SHARE, "Invalid dropped", 2),
    "flips_inconsistent": Column(
        "items that flip, of all with two paraphrases, invalid answers being with no majority",
        SHARE,
        "Invalid inconsistent",
        2,
    ),
    "match_proportion": Column(
        "share of the item's paraphrases checked by hand that mean what the original means", SHARE, "Same meaning", 2
    ),
    "n_models": Column("models that the mean is taken over", "models", "Models"),
    "n_rows": Column("responses, originals and paraphrases together", "responses", "Responses"),
    "n_valid": Column("paraphrases with a defined agreement", "paraphrases", "Valid"),
    "n_invalid": Column(
        "responses without a defined agreement: no valid answer, or no mass on any option", "responses", "Invalid"
    ),
    "items.n_invalid": Column("paraphrases with a response, but no defined agreement", "paraphrases", "Invalid"),
    "n_error": Column("prompts without a response because asking failed; not counted elsewhere", "responses", "Failed"),
    "n_bounded": Column(
        "responses whose probabilities and mass are lower bounds: the server showed the most probable tokens only",
        "responses",
        "Bounded",
    ),
    "mass_missing": Column("mean mass that such responses may have beyond what was shown", MASS, "Mass hidden", 3),
    "n_ties": Column("paraphrases with an agreement of exactly 0.5, which count as agreeing", "paraphrases", "Ties"),
    "n_written": Column("responses that are texts or given answers, not probabilities", "responses", "Written"),
    "read_agreement": Column(
        "mean agreement over the written answers that could be read", AGREEMENT, "Agreement of those read", 2
    ),
    "least_agreement": Column(
        "share of all written answers that agree, if those that could not be read all disagreed", SHARE, "At least", 2
    ),
    "most_agreement": Column(
        "share of all written answers that agree, if those that could not be read all agreed", SHARE, "At most", 2
    ),
    "n": Column("paraphrases of the item with a defined agreement", "paraphrases", "n"),
    # validity
    "validity_se": Column("standard error of the validity: SD over rows / square root of their number", MASS, "SE", 3),
    "validity_mean": Column("mean validity over the item's paraphrases", MASS, "Validity", 2),
    "validity_sd": Column("SD of the validity over the item's paraphrases (n - 1)", MASS, "Validity SD", 3),
    "original_validity": Column("validity of the original wording", MASS, "Validity of original", 2),
    "low_mass": Column(
        "true where the validity, or its lower bound, is below 0.5: the agreement is computed from little mass",
        "",
        "Low mass",
    ),
    "share": Column("invalid responses as a share of all responses", SHARE, "Share invalid", 3),
    "examples": Column(
        "the most frequent outputs that could not be read as an answer; none where no text was generated",
        "",
        "Examples",
    ),
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
        "texts for prompts whose most probable first token begins no option", SHARE, "First token no option", 3
    ),
    "n_answers": Column("texts that were generated and compared", "texts", "Texts"),
    # stability
    "range_mean": Column("mean over items of the highest minus the lowest agreement", AGREEMENT, "Range", 2),
    "range_sd": Column(
        "SD across items of the range (n - 1); without interval or test, as a few items decide it",
        AGREEMENT,
        "Range SD",
        2,
    ),
    "sd_mean": Column("mean over items of the SD of agreement over paraphrases (n - 1)", AGREEMENT, "SD", 3),
    "sd_sd": Column(
        "SD across items of that SD (n - 1); without interval or test, as a few items decide it",
        AGREEMENT,
        "SD of SDs",
        3,
    ),
    "flip_*": Column(
        "share of items with more than this part of their paraphrases not on the side of most of them; the original is "
        "not counted. flip_05 is more than 5 %, flip_125 more than 12.5 %",
        "share of items, 0 to 1",
        "Flips",
        2,
    ),
    "mark": Column("+ the model agrees with every item on average, - it disagrees with every item", "", "±"),
    "agreement": Column("R^+ = p(agree) / (p(agree) + p(disagree)) of one response", AGREEMENT, "Agreement", 2),
    "agreement_mean": Column("mean agreement over the item's paraphrases", AGREEMENT, "Agreement", 2),
    "stability.agreement_mean": Column("mean over items of their mean agreement", AGREEMENT, "Agreement", 2),
    "published.agreement_mean": Column("mean over items of their mean agreement", AGREEMENT, "Agreement", 2),
    "sources.agreement_mean": Column("mean over items of their mean agreement", AGREEMENT, "Agreement", 2),
    "agreement_sd": Column("SD of agreement over the item's paraphrases (n - 1)", AGREEMENT, "SD", 3),
    "agreement_min": Column("lowest agreement among the item's paraphrases", AGREEMENT, "Lowest", 2),
    "agreement_max": Column("highest agreement among the item's paraphrases", AGREEMENT, "Highest", 2),
    "agreement_range": Column("highest minus lowest agreement among the item's paraphrases", AGREEMENT, "Range", 2),
    "minority_share": Column(
        "share of the item's valid paraphrases (with invalid=inconsistent, of all) that are not with the majority",
        SHARE,
        "Deviating",
        2,
    ),
    "original_agreement": Column("agreement with the original wording", AGREEMENT, "Original", 2),
    "normalised_sd_mean": Column(
        "mean over models of the item's SD divided by the model's largest SD", "0 to 1", "Normalised SD", 2
    ),
    "normalised_sd_se": Column("standard error of that mean over models", "0 to 1", "SE", 3),
    # pairs of wordings
    "low_text": Column("the item's paraphrase with the lowest agreement", "", "Lowest wording"),
    "low_agreement": Column("agreement with that paraphrase", AGREEMENT, "Agreement", 2),
    "high_text": Column("the item's paraphrase with the highest agreement", "", "Highest wording"),
    "high_agreement": Column("agreement with that paraphrase", AGREEMENT, "Agreement", 2),
    "range": Column("highest minus lowest agreement", "", "Range", 2),
    # distribution
    "q25": Column("first quartile of agreement over the item's paraphrases", AGREEMENT, "Q25", 2),
    "median": Column("median agreement over the item's paraphrases", AGREEMENT, "Median", 2),
    "q75": Column("third quartile of agreement over the item's paraphrases", AGREEMENT, "Q75", 2),
    "whisker_low": Column("lowest agreement within 1.5 interquartile ranges of the box", AGREEMENT, "Whisker low", 2),
    "whisker_high": Column(
        "highest agreement within 1.5 interquartile ranges of the box", AGREEMENT, "Whisker high", 2
    ),
    "outside": Column("how far agreement lies from the nearer whisker", AGREEMENT, "Outside by", 2),
    # comparisons
    "measure": Column(
        "the figure that is compared: a column of table stability", "", "Measure", phrase_name=look_up_measure_header
    ),
    "a_model": Column("the model compared", "", "Model a"),
    "a_condition": Column("its condition", "", "Condition a"),
    "b_model": Column("the model it is compared with", "", "Model b"),
    "b_condition": Column("its condition", "", "Condition b"),
    "a_source": Column("the paraphrases compared, by who made them", "", "Paraphrases a"),
    "b_source": Column("the paraphrases that they are compared with", "", "Paraphrases b"),
    "difference": Column("a minus b on the same items", "unit of the measure", "a − b", 2),
    "p_holm": Column("p after Holm over all compared pairs of the study with the same measure", "", "p (Holm)", 3),
    "item_r": Column(
        "Pearson correlation across items of the values from the two sources", "-1 to 1", "r over items", 2
    ),
}
_FLIP = re.compile(r"flip_(\d{2})(\d*)")


def parse_flip_threshold_percent(column_name: str) -> float | None:
    """Read the threshold of a flip column in per cent; return None for other columns.

    >>> (parse_flip_threshold_percent("flip_05"), parse_flip_threshold_percent("flip_025"),
    ...  parse_flip_threshold_percent("validity"))
    (5.0, 2.5, None)
    """
    match = _FLIP.fullmatch(column_name)
    return float(f"{match[1]}.{match[2] or 0}") if match else None


def _build_flip_column_definition(column_name: str) -> Column | None:
    """Build the definition (meaning, header) of a flip column from its name; None for another name."""
    percent = parse_flip_threshold_percent(column_name)
    if percent is None:
        return None
    meaning = (
        f"share of items with more than {percent:g} % of their paraphrases not on the side of most of them; the "
        "original is not counted"
    )
    return replace(COLUMNS["flip_*"], meaning=meaning, header=f"Flips > {percent:g} %")


PATTERNS: Mapping[str, Pattern] = {"flip_*": _build_flip_column_definition}
