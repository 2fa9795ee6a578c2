"""Write the cautions of the text-features page: missing features, collinearity, problems of fits, other models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from analysis.pages.text_features.terms import name
from analysis.reporting.catalogue import column
from analysis.reporting.columns import value
from analysis.reporting.thresholds import silent
from analysis.reporting.words import count, few_items, few_models, listing
from analysis.statistics.mixed.result import ALPHA
from analysis.statistics.multiplicity import holm

COLLINEAR = 10.0  # above this variance inflation factor, an estimate must not be read on its own
SYNTAX = ("left_dependents", "right_dependents")


def _fits(number: int, fits: pd.DataFrame) -> str:
    """Write "2 of 5 models", or "2 of 9 fits" if a model has several."""
    return f"{number} of {count(len(fits), 'model') if fits['model'].is_unique else f'{len(fits)} fits'}"


def cautions(frames: Mapping[str, pd.DataFrame], effects: pd.DataFrame, fits: pd.DataFrame) -> Iterator[str]:
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
    yield from _missing(frames["features"])
    yield from _collinear(frames["vif"], frames["correlations"])
    yield from _troubled(fits)
    yield from _unconfirmed(effects)
    yield from _opinions(frames["scales"])
    yield from _conventions(frames["mixed_conventions"])
    fitted = fits[fits["n_rows"] > 0]
    low = fitted[silent(fitted["validity"])].sort_values(["validity", "label"])
    if len(low):
        yield (
            f"Validity is low in {_fits(len(low), fitted)}: less than half of the probability is on the answers. The "
            f"lowest is {value(low['validity'].iloc[0], column('mixed_diagnostics', 'validity'))} "
            f"({low['label'].iloc[0]}). The sentences leave these out."
        )
    if len(fitted):
        yield from few_items(fitted["n_items"].set_axis(fitted["label"]), so="how items differ is poorly known")
    yield from few_models(fitted["model"].nunique())


def _missing(components: pd.DataFrame) -> Iterator[str]:
    absent = components[components["missing"].notna()]
    for reason, rows in absent.groupby("missing", sort=False):
        names = [name(column_) for group in rows["columns"] for column_ in group.split(", ")]
        why = str(reason).rstrip(".")
        yield f"Left out: {listing(list(dict.fromkeys(names)), 4)}. {why[0].upper()}{why[1:]}."
    for text in components["component"].dropna():
        if "because" in text:
            yield f"Sentiment is measured by another tool than the paper's: {text.split('; ', 1)[-1].rstrip('.')}."


def _collinear(vif: pd.DataFrame, correlations: pd.DataFrame) -> Iterator[str]:
    high = vif.groupby("term")["vif"].max()
    high = high[high > COLLINEAR].sort_values(ascending=False)
    if high.empty:
        return
    names = [f"{name(term)} ({value(size, column('vif', 'vif'))})" for term, size in high.items()]
    pair = correlations[(correlations["feature_a"] == SYNTAX[0]) & (correlations["feature_b"] == SYNTAX[1])][
        "r"
    ].dropna()
    why = ""
    if set(SYNTAX) <= set(high.index) and len(pair):
        why = (
            f" Left and right dependents correlate at {value(pair.iloc[0], column('correlations', 'r'))}: per word "
            "they are 1 − roots/words in sum, so only their difference can be estimated."
        )
    named = listing(names, 4)
    yield f"Nearly collinear (variance inflation above {COLLINEAR:g}): {named}. Do not read these one by one.{why}"


def _troubled(fits: pd.DataFrame) -> Iterator[str]:
    failed = fits[fits["n_rows"] == 0]
    for reason, rows in failed.groupby("message", sort=False):
        yield f"{listing(list(rows['label']))}: {reason}."
    fitted = fits[fits["n_rows"] > 0]
    singular = fitted[fitted["singular"].astype(bool)]
    if len(singular):
        yield f"Singular fit in {_fits(len(singular), fitted)} (item variance 0): {listing(list(singular['label']))}."
    lost = fitted[~fitted["converged"].astype(bool)]
    if len(lost):
        yield f"No convergence in {_fits(len(lost), fitted)}: {listing(list(lost['label']))}."
    for reason, rows in fitted[fitted["dropped"] != ""].groupby("dropped", sort=False):
        yield f"Dropped from {_fits(len(rows), fitted)}: {reason}."
    incomplete = int(fitted["n_missing"].sum())
    if incomplete:
        total = incomplete + int(fitted["n_rows"].sum())
        yield f"{incomplete:,} of {count(total, 'response')} have a missing value and are left out."


def _unconfirmed(effects: pd.DataFrame) -> Iterator[str]:
    """Say which effects differ between items, and how many only the fit's own errors call significant."""
    tested = effects.dropna(subset=["p_slopes"])
    varying = tested[holm(tested["p_slopes"].to_numpy()) < ALPHA]
    if len(varying):
        named = [name(term) for term in varying["term"].value_counts().index]
        yield (
            f"{len(varying)} of {count(len(tested), 'effect')} differ between items (F test, Holm), most often "
            f"{listing(named, 3)}. One number per model is then an average over these items."
        )
    lost = effects[(effects["p_bonferroni"] < ALPHA) & ~effects["confirmed"]]
    if len(lost):
        of = count(int((effects["p_bonferroni"] < ALPHA).sum()), "effect")
        yield (
            f"Cluster-robust errors do not confirm {len(lost)} of the {of} that the fits' own errors call significant. "
            "They count as not significant here."
        )


def _conventions(table: pd.DataFrame) -> Iterator[str]:
    """Say what changes where invalid answers are not dropped, but count as not agreeing."""
    both = table.dropna(subset=["confirmed_dropped", "confirmed_inconsistent"])
    if both.empty:
        return
    changed = int((both["confirmed_dropped"].astype(bool) != both["confirmed_inconsistent"].astype(bool)).sum())
    models = table["model"].nunique()
    yield (
        f"{count(models, 'model')} gave invalid answers. Whether these are dropped or count as not agreeing "
        f"(-p invalid=inconsistent) decides about the significance of {changed or 'none'} of "
        f"{count(len(both), 'effect')} of {'this model' if models == 1 else 'these models'}."
    )


def _opinions(scales: pd.DataFrame) -> Iterator[str]:
    """Compare with the other scale."""
    changed = scales[
        scales["verdict"].isin(["on identity only", "on logit only", "significant on both, opposite sign"])
    ]
    if len(changed):
        of = count(len(scales), "effect")
        yield f"Agreement and its logit disagree on {len(changed)} of {of}; see the table of scales."
