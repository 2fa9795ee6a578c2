"""Write the captions of the figures; each function takes the frames of its namesake in `plots`."""

from __future__ import annotations

import pandas as pd

from analysis.pages.text_features.plots import (
    MOST_PANELS,
    MOST_ROWS,
    compute_effect_axis_limit,
    has_room_for_dots,
    select_drawn_effects,
)
from analysis.pages.text_features.terms import phrase_predictor_count
from analysis.reporting.catalogue import selection as choice
from analysis.reporting.words import format_count_range, format_quantity, labels
from analysis.reporting.words.counts import phrase_models_in_conditions
from analysis.statistics.mixed.design import INTERCEPT
from analysis.statistics.mixed.result import ALPHA


def caption_effects(mixed: pd.DataFrame) -> str:
    """Write the caption of the effects."""
    tested = mixed[mixed["term"] != INTERCEPT]
    fits = tested.drop_duplicates(["study", "model", "condition"])
    response_name = choice.read_answer_pair_attached_to_frame(mixed).measure_phrase_with_article
    response_name = response_name if (tested["scale"] == "identity").all() else f"the logit of {response_name}"
    drawn_effects = select_drawn_effects(mixed)
    mark, lines, arrows, order = "Dot", "", "", "Features with the most confirmed effects come first."
    if has_room_for_dots(drawn_effects):
        mark, lines = "Filled", " Lines: 95 % intervals by cluster-robust errors."
        order = "Panels with the most confirmed effects first."
        ends = drawn_effects[["estimate_std_lower", "estimate_std_upper"]].abs()
        if (ends > compute_effect_axis_limit(drawn_effects)).any(axis=None):
            arrows = " Arrows: the interval is longer than the axis."
    selection = labels.describe_shown_rows(MOST_ROWS, len(fits), "fits", "with the largest effects")
    return (
        f"Effects of {phrase_predictor_count(tested['term'])} on {response_name} with "
        f"{phrase_models_in_conditions(fits)}. Each is fitted by a mixed model over "
        f"{format_count_range(tested['n_rows'], 'paraphrase')} of {format_count_range(tested['n_items'], 'item')}. "
        f"Unit: SDs of {response_name} per SD of the feature, all others held fixed, so that features can be "
        f"compared.{lines} {mark}: confirmed, that is, significant at {ALPHA:g} after Bonferroni over "
        f"{format_quantity(int(tested['n_tests'].max()), 'test')}, by the fit's own errors and by the robust "
        f"ones.{arrows} {order}{selection}{labels.explain_mark_of_unjudged_models(tested)}"
    )


def caption_correlations(frame: pd.DataFrame) -> str:
    """Write the caption of the correlation matrix."""
    pairs = frame[frame["feature_a"] != frame["feature_b"]]
    weak_text = f" Bold or dotted: p below {ALPHA:g} (uncorrected)."
    undefined = " Hatched: undefined, as for a feature that never varies." if pairs["r"].isna().any() else ""
    arithmetic = ""
    if {"left_dependents", "right_dependents"} <= set(frame["feature_a"]):
        arithmetic = (
            " Left and right dependents per word are 1 − roots/words in sum: their correlation is mostly arithmetic."
        )
    return (
        f"Pearson correlations between {format_quantity(frame['feature_a'].nunique(), 'text feature')} over the "
        f"paraphrases of “{frame['study'].iloc[0]}” (n = {format_count_range(frame['n'])}). Features that say the "
        "same are next to each other (average linkage by 1 − |r|). Each name stands at the end of its row "
        f"and on top of its column; a numbered legend has long ones.{weak_text}{undefined}{arithmetic}"
    )


def _describe_drawn_fit_selection(n_fits: int, measure_name: str) -> str:
    """Say which fits are drawn where there are more than a figure has room for; else nothing."""
    return labels.describe_shown_rows(MOST_PANELS, n_fits, "fits", f"with the largest {measure_name}", ending="")


def caption_residuals(frame: pd.DataFrame) -> str:
    """Write the caption of the residuals; `total` is the number of all fits, also of those that are not drawn."""
    units = frame.groupby(["study", "model", "condition"], observed=True).size()
    return (
        f"Residuals of {format_quantity(len(units), 'mixed model')} against fitted values (item included), "
        f"{format_count_range(units, 'paraphrase')} each. Darker: more of them (logarithmic). Line: mean residual in "
        "tenths of the fitted values (20 rows or more, with 1.96 standard errors), flat at 0 where the model is right "
        "on average. A slanted edge shows where "
        f"{choice.read_answer_pair_attached_to_frame(frame).measure_phrase_with_article} "
        "ends at 0 or 1, which a linear model does not know: compare the logit "
        f"scale.{_describe_drawn_fit_selection(int(frame['total'].iloc[0]), 'residuals')}"
        f"{labels.explain_mark_of_unjudged_models(frame)}"
    )


def caption_intercepts(frame: pd.DataFrame) -> str:
    """Write the caption of the random intercepts."""
    units = frame.groupby(["study", "model", "condition"], observed=True).size()
    return (
        f"Random intercepts of {format_count_range(units, 'item')} in {format_quantity(len(units), 'mixed model')}: "
        f"how much higher {choice.read_answer_pair_attached_to_frame(frame).measure_phrase_with_article} "
        "is on an item than the features of its wordings predict. Lines: 95 % "
        "intervals (1.96 conditional standard errors). The fit assumes that they are normally distributed: a straight "
        f"middle, no steps, no isolated ends.{_describe_drawn_fit_selection(len(units), 'intercepts')}"
        f"{labels.explain_mark_of_unjudged_models(frame)}"
    )
