"""Write the captions of the figures; each function takes the frames of its namesake in `plots`."""

from __future__ import annotations

import pandas as pd

from analysis.pages.text_features.plots import PANELS, ROWS, chosen, listed, reach
from analysis.reporting import choice, labels
from analysis.reporting.words import count, low_to_high, units
from analysis.statistics.mixed.design import INTERCEPT
from analysis.statistics.mixed.result import ALPHA


def effects(mixed: pd.DataFrame) -> str:
    """Write the caption of the effects."""
    tested = mixed[mixed["term"] != INTERCEPT]
    fits = tested.drop_duplicates(["study", "model", "condition"])
    models = len(fits)
    what = choice.of(mixed).the_measure
    what = what if (tested["scale"] == "identity").all() else f"the logit of {what}"
    drawn = chosen(mixed)
    if not listed(drawn):
        marks = f"Dot: confirmed, that is, significant at {ALPHA:g}"
        lines, arrows, order = "", "", "Features with the most confirmed effects come first."
    else:
        marks = f"Filled: confirmed, that is, significant at {ALPHA:g}"
        lines, arrows = " Lines: 95 % intervals by cluster-robust errors.", ""
        order = "Panels with the most confirmed effects first."
    if listed(drawn) and (drawn[["estimate_std_lower", "estimate_std_upper"]].abs() > reach(drawn)).any(axis=None):
        arrows = " Arrows: the interval is longer than the axis."
    return (
        f"Effects of {count(tested['term'].nunique(), 'text feature')} on {what} with {units(fits)}: a mixed model for "
        f"each language model and condition. Each is over {low_to_high(tested['n_rows'])} "
        f"paraphrases of {low_to_high(tested['n_items'])} items. Unit: SDs of {what} per SD of the feature, all "
        f"others held fixed, so that features can be compared.{lines} {marks} after Bonferroni over "
        f"{count(int(tested['n_tests'].max()), 'test')}, by the fit's own errors and by the robust ones.{arrows} "
        f"{order}{labels.shown(ROWS, models, 'models', 'with the largest effects')}{labels.explained(tested)}"
    )


def correlations(frame: pd.DataFrame) -> str:
    """Write the caption of the correlation matrix."""
    pairs = frame[frame["feature_a"] != frame["feature_b"]]
    weak = f" Bold or dotted: p below {ALPHA:g} (uncorrected)."
    undefined = " Hatched: undefined, as for a feature that never varies." if pairs["r"].isna().any() else ""
    arithmetic = ""
    if {"left_dependents", "right_dependents"} <= set(frame["feature_a"]):
        arithmetic = (
            " Left and right dependents per word are 1 − roots/words in sum: their correlation is mostly arithmetic."
        )
    return (
        f"Pearson correlations between {count(frame['feature_a'].nunique(), 'text feature')} over the paraphrases of "
        f"“{frame['study'].iloc[0]}” (n = {low_to_high(frame['n'])}). Features that say the "
        "same are next to each other (average linkage by 1 − |r|). Each name stands at the end of its row and on top "
        f"of its column.{weak}{undefined}{arithmetic}"
    )


def _left_out(units: pd.Series, what: str) -> str:
    return labels.shown(PANELS, len(units), "models", f"with the largest {what}", rest="")


def residuals(frame: pd.DataFrame) -> str:
    """Write the caption of the residuals."""
    units = frame.groupby(["study", "model", "condition"], observed=True).size()
    return (
        f"Residuals of {count(len(units), 'mixed model')} against fitted values (item included), "
        f"{low_to_high(units)} paraphrases each. Darker: more of them (logarithmic). Line: mean residual in tenths of "
        "the fitted values (20 rows or more, with 1.96 standard errors), flat at 0 where the model is right on "
        f"average. A slanted edge shows where {choice.of(frame).the_measure} ends at 0 or 1, which a linear model does "
        f"not know: compare the logit scale.{_left_out(units, 'residuals')}{labels.explained(frame)}"
    )


def intercepts(frame: pd.DataFrame) -> str:
    """Write the caption of the random intercepts."""
    units = frame.groupby(["study", "model", "condition"], observed=True).size()
    return (
        f"Random intercepts of {low_to_high(units)} items in {count(len(units), 'mixed model')}: "
        f"how much higher {choice.of(frame).the_measure} is on an item than the features of its wordings predict. "
        "Lines: 95 % "
        "intervals (1.96 conditional standard errors). The fit assumes that they are normally distributed: a straight "
        f"middle, no steps, no isolated ends.{_left_out(units, 'intercepts')}{labels.explained(frame)}"
    )
