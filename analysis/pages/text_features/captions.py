"""Write the captions of the figures; each function takes the frames of its namesake in `plots`."""

from __future__ import annotations

import pandas as pd

from analysis.pages.text_features.plots import reach
from analysis.reporting import choice, labels
from analysis.reporting.words import count, low_to_high
from analysis.statistics.mixed.design import INTERCEPT
from analysis.statistics.mixed.result import ALPHA


def effects(mixed: pd.DataFrame) -> str:
    """Write the caption of the effects."""
    tested = mixed[mixed["term"] != INTERCEPT]
    models = len(tested.drop_duplicates(["study", "model", "condition"]))
    what = choice.of(mixed).the_measure
    what = what if (tested["scale"] == "identity").all() else f"the logit of {what}"
    arrows = ""
    if (tested[["estimate_std_lower", "estimate_std_upper"]].abs() > reach(tested)).any(axis=None):
        arrows = " Arrows: the interval is longer than the axis."
    return (
        f"Effects of {count(tested['term'].nunique(), 'text feature')} on {what} in {count(models, 'mixed model')}, "
        f"one per language model and condition. Each is over {low_to_high(tested['n_rows'])} "
        f"paraphrases of {low_to_high(tested['n_items'])} items. Unit: SDs of {what} per SD of "
        "the feature, all others held fixed, so that panels can be compared. Lines: 95 % intervals by "
        f"cluster-robust errors. Filled: confirmed, that is, significant at {ALPHA:g} after Bonferroni over "
        f"{count(int(tested['n_tests'].max()), 'test')}, by the fit's own errors and by the robust ones.{arrows} "
        f"Panels with the most confirmed effects first.{labels.explained(tested)}"
    )


def correlations(frame: pd.DataFrame) -> str:
    """Write the caption of the correlation matrix."""
    pairs = frame[frame["feature_a"] != frame["feature_b"]]
    weak = " In brackets: not significant at 0.05 (uncorrected)." if (pairs["p"] >= ALPHA).any() else ""
    undefined = " Grey: undefined, as for a feature that never varies." if pairs["r"].isna().any() else ""
    arithmetic = ""
    if {"left_dependents", "right_dependents"} <= set(frame["feature_a"]):
        arithmetic = (
            " Left and right dependents per word are 1 − roots/words in sum: their correlation is mostly arithmetic."
        )
    return (
        f"Pearson correlations between {count(frame['feature_a'].nunique(), 'text feature')} over the paraphrases of "
        f"“{frame['study'].iloc[0]}” (n = {low_to_high(frame['n'])}). Features that say the "
        f"same are next to each other (average linkage by 1 − |r|).{weak}{undefined}{arithmetic}"
    )


def residuals(frame: pd.DataFrame) -> str:
    """Write the caption of the residuals."""
    units = frame.groupby(["study", "model", "condition"], observed=True).size()
    return (
        f"Residuals of {count(len(units), 'mixed model')} against fitted values (item included), "
        f"{low_to_high(units)} paraphrases each. Darker: more of them (logarithmic). Line: mean residual in "
        "tenths of the fitted values, flat at 0 where the model is right on average. A slanted edge shows where "
        f"{choice.of(frame).the_measure} ends at 0 or 1, which a linear model does not know: compare the logit scale."
        f"{labels.explained(frame)}"
    )


def intercepts(frame: pd.DataFrame) -> str:
    """Write the caption of the random intercepts."""
    units = frame.groupby(["study", "model", "condition"], observed=True).size()
    return (
        f"Random intercepts of {low_to_high(units)} items in {count(len(units), 'mixed model')}: "
        f"how much higher {choice.of(frame).the_measure} is on an item than the features of its wordings predict. "
        "Lines: 95 % "
        "intervals (1.96 conditional standard errors). The fit assumes that they are normally distributed: a straight "
        f"middle, no steps, no isolated ends.{labels.explained(frame)}"
    )
