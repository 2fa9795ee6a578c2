"""Compute the tables about templates: the accuracy of each, and what studies of many prompts sum these up to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analysis.pages.reliability import accuracies
from analysis.reporting.reworded import ACCURACY, Study
from analysis.reporting.rewordings import studies
from analysis.statistics.reliability.templates import correct_luck, intervals, noise_of_answers
from analysis.statistics.resampling import LEVEL
from analysis.statistics.shares import estimated

if TYPE_CHECKING:
    from analysis.runs import Runs


def _shared(runs: Runs) -> Iterator[Study]:
    """Yield the studies with a right answer whose wordings, two or more, all items share."""
    for study in studies(runs):
        if study.crossed and study.measure == ACCURACY and not study.single:
            yield study


def templates(runs: Runs) -> pd.DataFrame:
    """Compute the accuracy of every model with every template, where all items share them.

    Returns
    -------
    DataFrame
        study, model, condition, task (of accuracies without answers, else empty), template; n_items: with a valid
        answer; accuracy, accuracy_lower, accuracy_upper: Wilson's interval over items.
    """
    rows = []
    for study in _shared(runs):
        for (model, condition), values in zip(study.units, study.values, strict=True):
            for template, right in zip(study.wordings, values.T, strict=True):
                known = right[~np.isnan(right)][:, None]
                share = [np.nan] * 3
                if len(known):
                    found = estimated([(known, np.ones_like(known))], LEVEL)
                    share = [float(end[0]) for end in (found.estimate, found.lower, found.upper)]
                names = ("accuracy", "accuracy_lower", "accuracy_upper")
                rows.append({"study": study.name, "model": model, "condition": condition, "task": "",
                             "template": template, "n_items": len(known),
                             **dict(zip(names, share, strict=True))})  # fmt: skip
    return pd.DataFrame(rows + accuracies.templates(runs))


def scores(runs: Runs) -> pd.DataFrame:
    """Sum up every model's accuracies over templates (`reliability.templates.summary`), for these templates.

    Returns
    -------
    DataFrame
        study, model, condition, task, n_items, n_templates; mean, sd, lowest, highest, range, q05 ... q95, gain,
        saturation, combined, each but the sd with X_lower, X_upper; highest_corrected, combined_corrected: without the
        luck of the best template, within the intervals of highest and combined; of templates that have an answer.
    """
    rows = []
    for study in _shared(runs):
        for (model, condition), values in zip(study.units, study.values, strict=True):
            known = ~np.isnan(values)
            right = values[known.any(axis=1)][:, known.any(axis=0)]
            if not right.size:
                continue
            row: dict[str, object] = {"study": study.name, "model": model, "condition": condition, "task": "",
                                      "n_items": right.shape[0], "n_templates": right.shape[1]}  # fmt: skip
            ends, shares = intervals(right), np.nanmean(right, axis=0)
            rows.append(row | accuracies.name_ends(ends) | correct_luck(shares, noise_of_answers(right), ends))
    return pd.DataFrame(rows + accuracies.scores(runs))
