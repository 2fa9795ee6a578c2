"""Read scores of items for numeric bias and agreement with human scores (Sato et al., section 3.3).

::

    scores = read_item_and_human_scores(run.responses(), run.wordings(), run.conditions())
    bias = compute_by_group(scores, GROUP, "kurtosis", scipy.stats.kurtosis, ["score"], bias=True)
    accordance = compute_by_group(scores, GROUP, "tau", scipy.stats.kendalltau, ["score", "gold"])

Reference
---------
Sato, A. et al. The influence of alignment on numeric bias in large language models (in Japanese).
"""

from __future__ import annotations

import pandas as pd

from analysis.measures.agreement import refuse_unknown_invalid_answer_convention
from analysis.measures.part_names import name_parts_beside_rest
from analysis.measures.scores import UNGROUPED
from analysis.runs.folder import UNIT
from analysis.statistics.rounding import remove_rounding_noise
from analysis.steps.rows import attach_wordings

GROUP = ["study", "group", "model", "condition"]  # what a measure is computed for
LEAST_CORRECTED = 4  # items that the kurtosis corrected for sample size needs
_ENDS = r"(-?\d+(?:\.\d+)?)\s*[-,]\s*(-?\d+(?:\.\d+)?)"  # of a range: "0-100", or "[0, 9]"
_ABOUT_ITEM = ["gold_score", "attributes.gold_range", "attributes.group"]


def read_item_and_human_scores(
    responses: pd.DataFrame, wordings: pd.DataFrame, conditions: pd.DataFrame, invalid: str = "dropped"
) -> pd.DataFrame:
    """Read every item's score and its human score, on the range that was asked for.

    A score is the mean of the sampled numbers, or the expected number of exact probabilities. A human score on a range
    a to b becomes low + (score - a) / (b - a) (high - low) (footnote 3).

    Parameters
    ----------
    responses
        `Run.responses`: study, model, condition, item, variant, score, invalid, output.
    wordings
        `Run.wordings`: study, item, variant, gold_score, `attributes.gold_range`, `attributes.group`.
    conditions
        `Run.conditions`: study, condition, range, method.
    invalid
        Samples without a number are "dropped", or "inconsistent": an item half of whose samples hold none has no score.

    Returns
    -------
    DataFrame
        study, group ("all" where items name none), model, condition, item; low, high: the range asked for; score, gold:
        NaN where there is none. Scores that differ by rounding only are equal.
    """
    refuse_unknown_invalid_answer_convention(invalid)
    of_condition = conditions.reindex(columns=["study", "condition", "range", "method"])
    rows = attach_wordings(responses, wordings, _ABOUT_ITEM).merge(of_condition, on=["study", "condition"], how="left")
    (low, high), (least, most) = (
        _split_ranges_into_ends(rows["range"]),
        _split_ranges_into_ends(rows["attributes.gold_range"]),
    )
    score = rows["score"].astype(float)
    if invalid == "inconsistent":
        n_samples = rows["output"].map(len, na_action="ignore").astype("Float64").astype(float)
        score = score.mask((rows["method"] == "sampled") & (rows["invalid"].astype(float) >= n_samples / 2))
    scores = rows[[*UNIT, "item"]].assign(
        group=name_parts_beside_rest(rows["attributes.group"], UNGROUPED, "group"),
        low=low,
        high=high,
        score=score,
        gold=low + (rows["gold_score"].astype(float) - least) / (most - least) * (high - low),
    )
    for _, part in scores.dropna(subset="score").groupby(GROUP, sort=False):
        width = float(part["high"].iloc[0] - part["low"].iloc[0])
        scores.loc[part.index, "score"] = remove_rounding_noise(part["score"].to_numpy(), width)
    return scores


def _split_ranges_into_ends(ranges: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Split ranges into their lower and upper ends; NaN where there is none."""
    ends = ranges.astype("string").str.extract(_ENDS).astype(float)
    return ends[0], ends[1]


def list_groups_large_enough_for_kurtosis(scores: pd.DataFrame, least: int = LEAST_CORRECTED) -> pd.DataFrame:
    """List the groups whose scored items are enough for a kurtosis corrected for sample size.

    Parameters
    ----------
    scores
        From `read_item_and_human_scores`.
    least
        Fewest items with a score.

    Returns
    -------
    DataFrame
        study, group, model, condition.
    """
    n_scored = scores.groupby(GROUP, sort=False)["score"].count()
    return n_scored[n_scored >= least].reset_index()[GROUP]
