"""Estimate which share of answers to wordings of the same meaning changes, by what people said of a part of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from analysis.measures.meaning_flips import read_answers_of_checked_studies
from analysis.measures.thresholds import KEPT
from analysis.runs import Runs
from analysis.statistics.corrected_share import estimate_flip_share_corrected_for_meaning

_FIGURES = (
    "n_items", "n_sheet", "uncorrected", "uncorrected_lower", "uncorrected_upper", "corrected", "lower", "upper",
    "change", "change_lower", "change_upper", "excess", "excess_lower", "excess_upper", "sensitivity", "specificity",
)  # fmt: skip


def correct_flip_shares_for_check_errors(runs: Runs) -> pd.DataFrame:
    """Correct the share of flips of every model for the errors of the check.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.

    Returns
    -------
    DataFrame
        study, model, condition, n_wordings, and what `statistics.corrected_share.CorrectedShare` says, `reason` as
        not_shown; the excess is that over `thresholds.KEPT` of the uncorrected share. Of choices, an answer to every
        order of the options counts. No rows of a study that nobody read.
    """
    rows: list[dict[str, Any]] = []
    for answers in read_answers_of_checked_studies(runs):
        best, judged = answers.meaning.verdict_deciding_check_quality, answers.judged
        if not answers.meaning.votes:
            continue
        yes, no = judged["votes_yes"].to_numpy(float), judged["votes_no"].to_numpy(float)
        same = np.where(yes == no, np.nan, (yes > no).astype(float))
        score = judged["meaning_score"].to_numpy(float)
        passes = np.where(np.isnan(score), np.nan, score >= best.threshold) if best else np.full(len(score), np.nan)
        truth = np.where(np.isnan(yes), np.nan, same)
        decoy_error = answers.meaning.compute_share_of_decoys_accepted_by_people()
        for (model, condition), flips in zip(answers.beside.units, answers.beside.flips, strict=True):
            share = estimate_flip_share_corrected_for_meaning(flips, passes, truth, judged["item"], decoy_error, KEPT)
            rows.append({
                "study": answers.beside.study, "model": model, "condition": condition,
                **{name: getattr(share, name) for name in _FIGURES},
                "n_wordings": int((~np.isnan(flips)).sum()), "not_shown": share.reason,
            })  # fmt: skip
    return pd.DataFrame(rows)
