"""Compute agreement and its stability under paraphrasing step by step (Haller et al., sections 4.1 and 4.2).

::

    answers = compute_agreement(run.responses(), run.wordings(), {"demo": "agree"})
    items = summarize_agreement_of_each_item(answers)
    flips = compute_share_of_flipping_items_per_threshold(items, [0.05, 0.10, 0.25])

Reference
---------
Haller, P., Vamvas, J. and Jäger, L. A. Yes, no, maybe? Revisiting language models' response stability under
paraphrasing for the assessment of political leaning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.measures.agreement import refuse_unknown_invalid_answer_convention
from analysis.measures.thresholds import build_thresholds_by_flip_column
from analysis.runs.folder import ORIGINAL, UNIT
from analysis.steps.rows import attach_wordings, stack_lists_into_array, stack_row_options_and_canonical_labels

ITEM = (*UNIT, "item")


def compute_agreement(responses: pd.DataFrame, wordings: pd.DataFrame, agree_labels: Mapping[str, str]) -> pd.DataFrame:
    """Compute agreement and validity of every answer.

    Agreement is R+ = p(agree) / (p(agree) + p(disagree)) (section 4.2), validity p(agree) + p(disagree) (section 4.1).
    Of sampled answers, both are shares of the samples; of one answer, they are 0 or 1.

    Parameters
    ----------
    responses
        `Run.responses`: study, model, condition, item, variant, probability, mass, count, invalid, answer.
    wordings
        `Run.wordings`: study, item, variant, pattern, options, canonical.
    agree_labels
        Study -> the canonical label that means agreement.

    Returns
    -------
    DataFrame
        study, model, condition, item, variant; original: whether this is the original wording; agreement, validity: 0
        to 1, agreement NaN where there is no valid answer; outvoted: whether at least as many samples hold no answer as
        give the more frequent option.
    """
    rows = attach_wordings(responses, wordings, ["pattern", "options", "canonical"])
    options, canonical = stack_row_options_and_canonical_labels(rows)
    place = (canonical[:, 0] != rows["study"].map(agree_labels).to_numpy(object)).astype(int)
    agree_option = options[np.arange(len(rows)), place]
    probabilities, counts = stack_lists_into_array(rows["probability"]), stack_lists_into_array(rows["count"])
    invalid = rows["invalid"].astype(float).fillna(0).to_numpy()
    is_answered = rows["answer"].notna().to_numpy()
    given = np.where(is_answered, (rows["answer"].to_numpy(object) == agree_option).astype(float), np.nan)
    has_probability, has_counts = ~np.isnan(probabilities[:, 0]), ~np.isnan(counts[:, 0])
    kinds = [has_probability, has_counts]
    mass = rows["mass"].astype(float).fillna(pd.Series(probabilities.sum(axis=1), rows.index)).to_numpy()
    n_counted = counts.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        validity = np.select(kinds, [mass, n_counted / (n_counted + invalid)], is_answered.astype(float))
    shares = [_divide_by_sum_of_pair(probabilities, place), _divide_by_sum_of_pair(counts, place)]
    is_outvoted = ~has_probability & has_counts & (n_counted > 0) & (invalid >= np.fmax(*counts.T))
    return rows[[*ITEM, "variant"]].assign(
        original=(rows["pattern"] == ORIGINAL).to_numpy(),
        agreement=np.select(kinds, shares, given),
        validity=validity,
        outvoted=is_outvoted,
    )


def _divide_by_sum_of_pair(pairs: npt.NDArray[np.float64], place: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Divide the number at a place of every pair by the sum of both; NaN where that is 0."""
    total = pairs.sum(axis=1)
    return np.divide(pairs[np.arange(len(pairs)), place], total, out=np.full(len(pairs), np.nan), where=total > 0)


def summarize_agreement_of_each_item(answers: pd.DataFrame, invalid: str = "dropped") -> pd.DataFrame:
    """Summarise the answers to the paraphrases of every item, without the original wording (section 4.2.1).

    Parameters
    ----------
    answers
        From `compute_agreement`.
    invalid
        Invalid answers are "dropped" from the minority share, or "inconsistent": they count, with no majority.

    Returns
    -------
    DataFrame
        study, model, condition, item; n_variants: answers; n_valid: those with an agreement; agreement_mean;
        agreement_range: highest minus lowest agreement; agreement_sd (n - 1); minority_share: share of the answers that
        are not with the majority (agree: 0.5 or more). Range, SD and minority share are NaN below two answers. An item
        of which only the original has an answer has a row, too.
    """
    refuse_unknown_invalid_answer_convention(invalid)
    paraphrases = answers[~answers["original"]]
    has_side = paraphrases["agreement"].notna() & ~((invalid == "inconsistent") & paraphrases["outvoted"])
    agrees = has_side & (paraphrases["agreement"] >= 0.5)
    groups = paraphrases.assign(has_side=has_side, agrees=agrees).groupby(list(ITEM), sort=False)
    items = groups.agg(
        n_variants=("agreement", "size"), n_valid=("agreement", "count"), agreement_mean=("agreement", "mean"),
        agreement_sd=("agreement", "std"), lowest=("agreement", "min"), highest=("agreement", "max"),
        n_sides=("has_side", "sum"), n_agree=("agrees", "sum"),
    ).reset_index()  # fmt: skip
    n_counted = items["n_valid"] if invalid == "dropped" else items["n_variants"]
    majority = np.maximum(items["n_agree"], items["n_sides"] - items["n_agree"])
    items["agreement_range"] = (items["highest"] - items["lowest"]).where(items["n_valid"] > 1)
    items["minority_share"] = ((n_counted - majority) / n_counted).where(n_counted > 1)
    items = answers[list(ITEM)].drop_duplicates().merge(items, how="left", on=list(ITEM))
    items = items.fillna({"n_variants": 0, "n_valid": 0}).astype({"n_variants": int, "n_valid": int})
    return items.drop(columns=["lowest", "highest", "n_sides", "n_agree"])


def average_range_and_sd(items: pd.DataFrame) -> pd.DataFrame:
    """Average range and SD over the items of every model (section 4.2.1, Table 1).

    Returns
    -------
    DataFrame
        study, model, condition; agreement_mean; range_mean, range_sd, sd_mean, sd_sd: mean and SD (n - 1) over items.
    """
    groups = items.groupby(list(UNIT), sort=False)
    return groups.agg(
        agreement_mean=("agreement_mean", "mean"), range_mean=("agreement_range", "mean"),
        range_sd=("agreement_range", "std"), sd_mean=("agreement_sd", "mean"), sd_sd=("agreement_sd", "std"),
    ).reset_index()  # fmt: skip


def compute_share_of_flipping_items_per_threshold(items: pd.DataFrame, thresholds: Sequence[float]) -> pd.DataFrame:
    """Compute the share of items that flip: whose minority share is above a threshold (section 4.2.1).

    Parameters
    ----------
    items
        From `summarize_agreement_of_each_item`.
    thresholds
        Shares of an item's answers, such as 0.1.

    Returns
    -------
    DataFrame
        study, model, condition; flip_10 ...: share of the items with a minority share, 0 to 1; NaN without any.
    """
    minority_share = items["minority_share"]
    flips = {
        name: (minority_share > threshold).astype(float).where(minority_share.notna())
        for name, threshold in build_thresholds_by_flip_column(thresholds).items()
    }
    return items[list(UNIT)].assign(**flips).groupby(list(UNIT), sort=False).mean().reset_index()


def average_validity_over_paraphrases(answers: pd.DataFrame) -> pd.DataFrame:
    """Average the validity of every model over all its answers to paraphrases (section 4.1): study, model, condition,
    validity, which is NaN where only originals have an answer."""
    of_paraphrases = answers.assign(validity=answers["validity"].where(~answers["original"]))
    return of_paraphrases.groupby(list(UNIT), sort=False)["validity"].mean().reset_index()
