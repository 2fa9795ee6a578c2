"""Choose the rows that the figures of the page are drawn from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from analysis.pages.text_features.family import MOST_PANELS, Family, fit_mixed_model_per_unit
from analysis.reporting.catalogue.frames import Frames
from analysis.reporting.words import labels
from analysis.statistics import mixed
from analysis.statistics.mixed.design import FAMILY, INTERCEPT


def build_effects_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the effects that are drawn; nothing where no effect is left."""
    if len(slopes := join_effects_over_option_orders(frames)):
        yield (slopes,)


def join_effects_over_option_orders(frames: Frames) -> pd.DataFrame:
    """Return table `mixed` without its intercepts, with both orders of the options as one where their effects are.

    Effects are compared in SDs, as they are drawn, and by whether they are confirmed; so are the numbers of paraphrases
    and items that the caption has of every fit. Column `silent` marks the models that do not answer.
    """
    table = frames["mixed"]
    slopes = labels.add_nonanswering_unit_column(table[table["term"] != INTERCEPT], frames["mixed_diagnostics"])
    return frames.build_table_with_joined_option_orders(
        "mixed", slopes, shown_columns=["estimate_std", "n_rows", "n_items"]
    )


def build_correlations_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield table `correlations`, one part per study."""
    for _, part in frames["correlations"].groupby("study", sort=False):
        yield (part,)


def build_residuals_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the residuals of the fits that are drawn, with labels that tell all fits apart, and their number `total`.

    The fits are chosen before their rows are joined: there may be millions.
    """
    result = fit_mixed_models_of_page(frames).result
    units = list(FAMILY)
    fits = _add_nonanswering_column_to_fit_rows(frames, result.diagnostics[units])
    label_by_fit = fits.assign(label=labels.build_row_labels(fits), total=len(fits))
    places = mixed.list_indices_of_largest_residual_fits(result.fits, MOST_PANELS)
    drawn = replace(result, fits=[result.fits[place] for place in places])  # rows are made of these only
    columns = drawn.diagnostics[[*units, "n_rows"]].merge(label_by_fit, how="left", on=units)
    columns["label"] = columns["label"].astype("category")
    fit = np.repeat(np.arange(len(columns)), columns.pop("n_rows"))
    rows = drawn.residuals.drop(columns="row")
    yield (rows.assign(**{name: columns[name].array.take(fit) for name in columns.columns.difference(units)}),)


def build_intercepts_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the random intercepts of the fits."""
    yield (_add_nonanswering_column_to_fit_rows(frames, fit_mixed_models_of_page(frames).result.random_effects),)


def fit_mixed_models_of_page(frames: Frames) -> Family:
    """Return the fits that the tables are made of."""
    options = {
        name: frames.options[name] for name in ("engine", "scale", "predictors", "invalid") if name in frames.options
    }
    return fit_mixed_model_per_unit(frames.runs, **options)


def _add_nonanswering_column_to_fit_rows(frames: Frames, frame: pd.DataFrame) -> pd.DataFrame:
    """Mark in rows about fits the models that do not answer."""
    return labels.add_nonanswering_unit_column(frame, frames["mixed_diagnostics"])
