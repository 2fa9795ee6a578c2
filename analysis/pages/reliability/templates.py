"""Compute the tables about templates: the accuracy of each, and what studies of many prompts sum these up to."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.measures.reworded import ACCURACY, Study
from analysis.pages.reliability import accuracies
from analysis.reporting.catalogue.rewordings import read_reworded_studies
from analysis.runs import Runs
from analysis.statistics.reliability.templates import (
    correct_best_scores_for_luck,
    estimate_item_noise_variance_of_templates,
    summarize_accuracies_from_answers_with_intervals,
)
from analysis.statistics.resampling import LEVEL
from analysis.statistics.shares import estimate_share


def _list_accuracy_studies_with_crossed_wordings(runs: Runs) -> Iterator[Study]:
    """Yield the studies with a right answer whose wordings, two or more, all items share."""
    for study in read_reworded_studies(runs):
        if study.crossed and study.measure == ACCURACY and not study.has_single_wording:
            yield study


def tabulate_accuracies_by_template(runs: Runs) -> pd.DataFrame:
    """Compute the accuracy of every model with every template, where all items share them.

    Returns
    -------
    DataFrame
        study, model, condition, task (of accuracies without answers, else empty), template; n_items: with a valid
        answer; accuracy, accuracy_lower, accuracy_upper: Wilson's interval over items.
    """
    rows = []
    for study in _list_accuracy_studies_with_crossed_wordings(runs):
        for (model, condition), values in zip(study.units, study.values, strict=True):
            for template, right in zip(study.wordings, values.T, strict=True):
                valid_answers = right[~np.isnan(right)][:, None]
                share = [np.nan] * 3
                if len(valid_answers):
                    estimate = estimate_share([(valid_answers, np.ones_like(valid_answers))], LEVEL)
                    share = [float(end[0]) for end in (estimate.estimate, estimate.lower, estimate.upper)]
                names = ("accuracy", "accuracy_lower", "accuracy_upper")
                rows.append({"study": study.name, "model": model, "condition": condition, "task": "",
                             "template": template, "n_items": len(valid_answers),
                             **dict(zip(names, share, strict=True))})  # fmt: skip
    return pd.DataFrame(rows + accuracies.list_template_rows_from_accuracies(runs))


def tabulate_accuracy_summaries_over_templates(runs: Runs) -> pd.DataFrame:
    """Sum up every model's accuracies over templates (`reliability.templates.summarize_accuracies`), for these
    templates.

    Returns
    -------
    DataFrame
        study, model, condition, task, n_items, n_templates; mean, sd, lowest, highest, range, q05 ... q95, gain,
        saturation, combined, each but the sd with X_lower, X_upper; highest_corrected, combined_corrected: without the
        luck of the best template, within the intervals of highest and combined; of templates that have an answer.
    """
    rows = []
    for study in _list_accuracy_studies_with_crossed_wordings(runs):
        for (model, condition), values in zip(study.units, study.values, strict=True):
            has_answer = ~np.isnan(values)
            right = values[has_answer.any(axis=1)][:, has_answer.any(axis=0)]
            if not right.size:
                continue
            row: dict[str, object] = {"study": study.name, "model": model, "condition": condition, "task": "",
                                      "n_items": right.shape[0], "n_templates": right.shape[1]}  # fmt: skip
            ends, shares = summarize_accuracies_from_answers_with_intervals(right), np.nanmean(right, axis=0)
            rows.append(
                row
                | accuracies.flatten_estimates_to_row(ends)
                | correct_best_scores_for_luck(shares, estimate_item_noise_variance_of_templates(right), ends)
            )
    return pd.DataFrame(rows + accuracies.list_task_accuracy_summaries(runs))
