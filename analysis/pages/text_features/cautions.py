"""Write the cautions of the text-features page: missing features, collinearity, problems of fits, other models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from analysis.features.languages import describe_language_mismatch
from analysis.pages.text_features.terms import name_predictor
from analysis.reporting.catalogue import look_up_column
from analysis.reporting.catalogue.columns import format_value_by_column
from analysis.reporting.words import format_quantity, join_names, list_few_items_cautions, list_few_models_cautions
from analysis.reporting.words.doubts import LEFT_OUT, READING, WIDE, WRONG, Caution
from analysis.reporting.words.validity import list_cautions_unless_all_models_unjudged
from analysis.statistics.mixed.result import ALPHA
from analysis.statistics.multiplicity import holm
from ground.capitals import capitalise_sentence

COLLINEAR = 10.0  # above this variance inflation factor, an estimate must not be read on its own
SYNTAX = ("left_dependents", "right_dependents")


def _phrase_share_of_fits(n_affected: int, fits: pd.DataFrame) -> str:
    """Write "2 of 5 models", or "2 of 9 fits" if a model has several."""
    return f"{n_affected} of {format_quantity(len(fits), 'model') if fits['model'].is_unique else f'{len(fits)} fits'}"


def list_cautions(frames: Mapping[str, pd.DataFrame], effects: pd.DataFrame, fits: pd.DataFrame) -> Iterator[str]:
    """Yield what a reader must know before believing the answer.

    Parameters
    ----------
    frames
        The tables of the page by name.
    effects
        Table `mixed` without intercepts.
    fits
        Table `mixed_diagnostics` with a `label` per row.

    Yields
    ------
    str
        A caution.
    """
    yield from _describe_left_out_and_doubtful_features(frames["features"])
    yield from _describe_collinear_features(frames["vif"], frames["correlations"])
    yield from _describe_fit_problems(fits)
    yield from _describe_item_varying_and_unconfirmed_effects(effects)
    yield from _describe_logit_scale_disagreement(frames["scales"])
    yield from _describe_effects_with_invalid_as_disagreement(frames["mixed_conventions"])
    fitted = fits[fits["n_rows"] > 0]
    yield from list_cautions_unless_all_models_unjudged(fitted)
    if len(fitted):
        yield from list_few_items_cautions(
            fitted["n_items"].set_axis(fitted["label"]), consequence="how items differ is poorly known"
        )
    yield from list_few_models_cautions(fitted["model"].nunique())


def _describe_left_out_and_doubtful_features(components: pd.DataFrame) -> Iterator[str]:
    """Say which features are left out and why, whose language is in doubt, and where sentiment has another tool."""
    absent = components[components["missing"].notna()]
    for reason, rows in absent.groupby("missing", sort=False):
        names = [name_predictor(feature) for group in rows["columns"] for feature in group.split(", ")]
        reason_text = str(reason).rstrip(".")
        yield Caution(
            f"Left out: {join_names(list(dict.fromkeys(names)), 4)}. {capitalise_sentence(reason_text)}.", LEFT_OUT
        )
    named = components.dropna(subset=["looks_like"])
    for language, looks_like in named[["language", "looks_like"]].drop_duplicates().itertuples(index=False, name=None):
        sentence = describe_language_mismatch(language, looks_like)
        yield Caution(f"{capitalise_sentence(sentence)}.", WRONG)
    texts = [text.split("; ", 1)[-1].rstrip(".") for text in components["component"].dropna() if "because" in text]
    for text in dict.fromkeys(texts):  # every study has its row
        yield Caution(f"Sentiment is measured by another tool than the paper's: {text}.", READING)


def _describe_collinear_features(vif: pd.DataFrame, correlations: pd.DataFrame) -> Iterator[str]:
    """Name the features whose variance inflation is too high to read their effects one by one."""
    high = vif.groupby("term")["vif"].max()
    high = high[high > COLLINEAR].sort_values(ascending=False)
    if high.empty:
        return
    names = [
        f"{name_predictor(term)} ({format_value_by_column(size, look_up_column('vif', 'vif'))})"
        for term, size in high.items()
    ]
    is_syntax_pair = (correlations["feature_a"] == SYNTAX[0]) & (correlations["feature_b"] == SYNTAX[1])
    pair = correlations.loc[is_syntax_pair, "r"].dropna()
    syntax_text = ""
    if set(SYNTAX) <= set(high.index) and len(pair):
        syntax_text = (
            " Left and right dependents correlate at "
            f"{format_value_by_column(pair.iloc[0], look_up_column('correlations', 'r'))}: per word they are 1 − "
            "roots/words in sum, so only their difference can be estimated."
        )
    yield Caution(
        f"Nearly collinear (variance inflation above {COLLINEAR:g}): {join_names(names, 4)}. Do not read these one by "
        f"one.{syntax_text}",
        WIDE,
    )


def _describe_fit_problems(fits: pd.DataFrame) -> Iterator[str]:
    """Say which fits failed, are singular, did not converge, dropped predictors or left out responses."""
    failed = fits[fits["n_rows"] == 0]
    for reason, rows in failed.groupby("message", sort=False):
        yield Caution(f"{join_names(list(rows['label']))}: {reason}.", LEFT_OUT)
    fitted = fits[fits["n_rows"] > 0]
    singular = fitted[fitted["singular"].astype(bool)]
    if len(singular):
        yield Caution(
            f"Singular fit in {_phrase_share_of_fits(len(singular), fitted)} (item variance 0): "
            f"{join_names(list(singular['label']))}.",
            WIDE,
        )
    unconverged = fitted[~fitted["converged"].astype(bool)]
    if len(unconverged):
        yield Caution(
            f"No convergence in {_phrase_share_of_fits(len(unconverged), fitted)}: "
            f"{join_names(list(unconverged['label']))}.",
            WRONG,
        )
    for reason, rows in fitted[fitted["dropped"] != ""].groupby("dropped", sort=False):
        yield Caution(f"Dropped from {_phrase_share_of_fits(len(rows), fitted)}: {reason}.", LEFT_OUT)
    incomplete = int(fitted["n_missing"].sum())
    if incomplete:
        total = incomplete + int(fitted["n_rows"].sum())
        verbs = "has a missing value and is" if incomplete == 1 else "have a missing value and are"
        yield Caution(f"{incomplete:,} of {format_quantity(total, 'response')} {verbs} left out.", LEFT_OUT)


def _describe_item_varying_and_unconfirmed_effects(effects: pd.DataFrame) -> Iterator[str]:
    """Say how many effects differ between items, and how many significant ones cluster-robust errors do not confirm."""
    tested = effects.dropna(subset=["p_slopes"])
    varying = tested[holm(tested["p_slopes"].to_numpy()) < ALPHA]
    if len(varying):
        counts = varying["term"].value_counts()
        # Where all features differ equally often, none does so most often.
        most_often = "most often " if counts.min() < counts.max() else ""
        yield Caution(
            f"Effects differ between items in {len(varying)} of {format_quantity(len(tested), 'F test')} (Holm): "
            f"{most_often}{join_names(list(map(name_predictor, counts.index)), 3)}. "
            "One number per model is then an average over these items.",
            READING,
        )
    unconfirmed = effects[(effects["p_bonferroni"] < ALPHA) & ~effects["confirmed"]]
    if len(unconfirmed):
        significant_count = format_quantity(int((effects["p_bonferroni"] < ALPHA).sum()), "test")
        yield Caution(
            f"Cluster-robust errors do not confirm {len(unconfirmed)} of the {significant_count} that are significant "
            "by the fits' own errors. They count as not significant here.",
            WIDE,
        )


def _describe_effects_with_invalid_as_disagreement(table: pd.DataFrame) -> Iterator[str]:
    """Say what changes where invalid answers are not dropped, but count as not agreeing."""
    effects_in_both = table.dropna(subset=["confirmed_dropped", "confirmed_inconsistent"])
    if effects_in_both.empty:
        return
    of_both = effects_in_both[["confirmed_dropped", "confirmed_inconsistent"]].astype(bool)
    changed = int((of_both["confirmed_dropped"] != of_both["confirmed_inconsistent"]).sum())
    models = table["model"].nunique()
    yield Caution(
        f"{format_quantity(models, 'model')} gave invalid answers. Whether these are dropped or count as not agreeing "
        f"(-p invalid=inconsistent) decides about the significance of {changed or 'none'} of "
        f"{format_quantity(len(effects_in_both), 'effect')} of {'this model' if models == 1 else 'these models'}.",
        WRONG,
    )


def _describe_logit_scale_disagreement(scales: pd.DataFrame) -> Iterator[str]:
    """Say on how many effects agreement and its logit disagree about sign or significance."""
    changed = scales[
        scales["verdict"].isin(["on identity only", "on logit only", "significant on both, opposite sign"])
    ]
    if len(changed):
        effect_count = format_quantity(len(scales), "effect")
        yield Caution(
            f"Agreement and its logit disagree on {len(changed)} of {effect_count}; see the table of scales.", WIDE
        )
