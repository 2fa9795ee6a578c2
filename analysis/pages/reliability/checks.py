"""Compute the tables that check what the page foresees on wordings held back: errors, and orders of models."""

from __future__ import annotations

import pandas as pd

from analysis.measures.reworded import AGREEMENT, LOGIT
from analysis.pages.reliability.tables import FLIP, refuse_threshold_beyond_shares
from analysis.reporting.catalogue.rewordings import read_reworded_studies
from analysis.runs import Runs
from analysis.statistics.reliability.backtest import compare_forecast_and_actual_errors
from analysis.statistics.reliability.calibration import (
    compare_predicted_and_kept_orders,
    iterate_calibration_rows_by_class,
)
from analysis.statistics.reliability.panel import Anew

ANEW: tuple[Anew, ...] = ("wordings", "both")


def tabulate_foreseen_and_actual_errors(runs: Runs, *, threshold: float = FLIP, seed: int = 0) -> pd.DataFrame:
    """Compare the standard errors that a tenth of the wordings foresees with those of the others.

    Of every model that answers, under its first condition in run.json: the mean of the measure that sentences are about
    (accuracy where it is known, else agreement, or a score), and the SD and the flips of agreement.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    threshold
        Share of the wordings that may be with the minority without a flip.
    seed
        Of the random draws.

    Returns
    -------
    DataFrame
        study, model, condition, measure, figure (mean, sd or flips), design; n_items: with enough wordings; n_pilot:
        wordings of each in the pilot; k: wordings that the error is of; predicted, actual
        (`reliability.backtest.compare_forecast_and_actual_errors`). Flips are not foreseen for shared wordings,
        SDs as far as `reliability.deviations` tells.

    Raises
    ------
    InputError
        For a threshold that is no share.
    """
    refuse_threshold_beyond_shares(threshold)
    rows = []
    for study in read_reworded_studies(runs):
        if study.measure == LOGIT:
            continue
        for unit in study.list_first_units_of_answering_models():
            comparisons = compare_forecast_and_actual_errors(
                study.values[unit], study.crossed, threshold, seed=seed, mean_only=study.measure != AGREEMENT
            )  # fmt: skip
            model, condition = study.units[unit]
            rows += [
                {"study": study.name, "model": model, "condition": condition, "measure": study.measure,
                 "figure": comparison.figure, "design": study.design, "n_items": comparison.items,
                 "n_pilot": comparison.pilot, "k": comparison.wordings, "predicted": comparison.predicted,
                 "actual": comparison.actual}
                for comparison in comparisons
                if study.headline or comparison.figure != "mean"
            ]  # fmt: skip
    return pd.DataFrame(rows)


def tabulate_ranking_calibration(runs: Runs, *, seed: int = 0) -> pd.DataFrame:
    """Compare how likely pairs of models are to keep their order with the share that does, on wordings held back.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    seed
        Of the random draws.

    Returns
    -------
    DataFrame
        study, measure; anew: what the other half has anew, wordings or both; low, high: a class of probabilities;
        n_models; n_cases: pairs in it; foreseen: their mean probability; kept: share that kept its order
        (`reliability.calibration`). By the measure that sentences are about.
    """
    rows = []
    for study in read_reworded_studies(runs):
        chosen_units = study.list_first_units_of_answering_models()
        if not study.headline or len(chosen_units) < 2:
            continue
        for anew in ANEW:
            cases = compare_predicted_and_kept_orders(study.values[chosen_units], study.crossed, anew, seed=seed)
            rows += [
                {"study": study.name, "measure": study.measure, "anew": anew, "low": low, "high": high,
                 "n_models": len(chosen_units), "n_cases": number, "foreseen": foreseen, "kept": kept_share}
                for low, high, number, foreseen, kept_share in iterate_calibration_rows_by_class(cases)
            ]  # fmt: skip
    return pd.DataFrame(rows)
