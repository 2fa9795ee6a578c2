"""Write the sentences of the page on text features, from its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from analysis import features
from analysis.pages.text_features.cautions import cautions
from analysis.pages.text_features.columns import TERMS
from analysis.pages.text_features.printed import printed_effects
from analysis.pages.text_features.terms import labelled, name, ranked, title
from analysis.reporting.catalogue import column
from analysis.reporting.columns import Column, value
from analysis.reporting.labels import UNIT
from analysis.reporting.thresholds import silent
from analysis.reporting.words import Answer, count, do_not_answer, listing, low_to_high
from analysis.statistics.mixed.design import INTERCEPT
from analysis.statistics.mixed.result import ALPHA

# An effect is told per such a step of its feature: wordings differ by as much, so nothing is extrapolated.
_STEPS = {
    "characters": (1, "character"), "words": (1, "word"), "cues": (1, "cue"), "nats": (1, "nat"),
    "Zipf": (1, "step on the Zipf scale"), "per word": (0.1, "0.1 dependents per word"), "0 to 1": (0.1, "step of 0.1"),
}  # fmt: skip


def answer(frames: Mapping[str, pd.DataFrame]) -> Answer:
    """Say what in a wording moves the answer.

    Parameters
    ----------
    frames
        The tables of the page by name.
    """
    fits = labelled(frames["mixed_diagnostics"])
    every = fits[fits["n_rows"] > 0]
    fitted = every[~silent(every["validity"])]
    effects = _effects(frames["mixed"], fitted)
    top = ranked(effects)[0] if len(effects) else None
    clear = effects[effects["confirmed"]]
    warnings = tuple(cautions(frames, effects, fits))
    if fitted.empty and len(every):
        return Answer(_asked(_effects(frames["mixed"], every), every), *do_not_answer(list(every["label"])), warnings)
    if top is None:
        return Answer(_asked(effects, fitted), "No feature of the wording varies.", (), warnings)
    verdict = "Nothing that was measured, beyond chance." if clear.empty else f"Above all: {name(top)}."
    sentences = (_strongest(effects, top), _explained(fitted), _signs(effects))
    return Answer(_asked(effects, fitted), verdict, sentences, warnings)


def reading(frames: Mapping[str, pd.DataFrame]) -> list[str]:
    """Say which effects have one sign in all models, whether the paper's have it too, and how features correlate."""
    fits = frames["mixed_diagnostics"]
    effects = _effects(frames["mixed"], fits[~silent(fits["validity"])])
    pairs = [_pairs(part) for _, part in frames["correlations"].groupby("study", sort=False)]
    if effects.empty:
        return ["No feature of the wording varies.", *pairs]
    return [*_common(effects), *_compared(effects), *pairs]


def _effects(mixed: pd.DataFrame, fits: pd.DataFrame) -> pd.DataFrame:
    """Choose the effects of some fits: sentences are about the models that answer."""
    wanted = pd.MultiIndex.from_frame(mixed[UNIT]).isin(pd.MultiIndex.from_frame(fits[UNIT]))
    return labelled(mixed[wanted & (mixed["term"] != INTERCEPT) & mixed["estimate"].notna()])


def _asked(effects: pd.DataFrame, fitted: pd.DataFrame) -> str:
    models, terms = fitted["model"].nunique(), effects["term"].nunique()
    several = "" if fitted["model"].is_unique else ", one fit per model and condition"
    return (
        f"The answers of {count(models, 'model')} to {low_to_high(fitted['n_rows'])} "
        f"paraphrases of {low_to_high(fitted['n_items'])} items were explained by "
        f"{count(terms, 'feature')} of their wording. The mixed models have a random intercept per item{several}."
    )


def _up(effects: pd.DataFrame) -> pd.Series:
    """Return term -> share of its effects that are positive, in the order of `ranked`."""
    return (effects["estimate"] > 0).groupby(effects["term"]).mean().reindex(ranked(effects))


def _common(effects: pd.DataFrame) -> Iterator[str]:
    """Name the features with one sign in every fit, and those without."""
    up, fits = _up(effects), len(effects.drop_duplicates(["study", "model", "condition"]))
    clear = effects["confirmed"].groupby(effects["term"]).sum()
    everywhere = "" if fits == 1 else f" in all {fits} fits"
    for verb, terms in (("Higher", up[up == 1].index), ("Lower", up[up == 0].index)):
        if len(terms):
            named = [f"{name(term)} ({int(clear[str(term)]) or 'not'} significant)" for term in terms]
            named = [text.replace("(1 significant)", "(significant)") if fits == 1 else text for text in named]
            yield f"{verb} agreement{everywhere} with more of: {listing(named, len(named))}."
    mixed = [
        f"{name(term)} (higher in {round(share * fits)} of {fits}, {int(clear[str(term)]) or 'none'} significant)"
        for term, share in up[(up > 0) & (up < 1)].items()
    ]
    if mixed:
        yield f"No common direction: {listing(mixed, len(mixed))}."


def _compared(effects: pd.DataFrame) -> Iterator[str]:
    """Compare the sign that an effect has in most models, here and in the paper's Table 3."""
    known = printed_effects()
    theirs, ours = _majority(known), _majority(effects)
    same = [name(term) for term in ours.index if term in theirs and ours[term] == theirs[term]]
    other = [name(term) for term in ours.index if term in theirs and ours[term] == -theirs[term]]
    parts = [
        f"{where} for {listing(names, len(names))}"
        for where, names in (("the same sign", same), ("the opposite sign", other))
        if names
    ]
    if parts:
        models = known["model"].nunique()
        yield (
            f"Compared with the {models} models in Table 3 of Haller et al., the effects of most models here have "
            f"{'. They have '.join(parts)} (significant or not)."
        )


def _majority(effects: pd.DataFrame) -> pd.Series:
    """Return term -> 1 where most effects are positive, -1 where most are negative; no entry for a tie."""
    up = (effects["estimate"] > 0).groupby(effects["term"], sort=False).mean()
    return (up > 0.5).map({True: 1, False: -1})[up != 0.5]


def _directions(effects: pd.DataFrame) -> str:
    """Say in how many models an effect is positive or negative, and how many of each are significant."""
    clear, parts = effects["confirmed"], []
    of = count(len(effects), "model") if effects["model"].is_unique else f"{len(effects)} fits"
    for verb, chosen in (("raises", effects["estimate"] > 0), ("lowers", effects["estimate"] < 0)):
        if chosen.any():
            sure = int((chosen & clear).sum())
            parts.append(f"{verb} agreement in {int(chosen.sum())} of {of} ({sure or 'none'} significant)")
    return ", ".join(parts) or f"has no effect at all in {of}"


def _strongest(effects: pd.DataFrame, term: str) -> str:
    rows = effects[effects["term"] == term]
    sure = rows[rows["confirmed"]] if rows["confirmed"].any() else rows
    most = sure.iloc[int(sure["estimate_std"].abs().to_numpy().argmax())]
    entry = column("mixed", "estimate_std")
    ends = [_signed(most[end], entry) for end in ("estimate_std_lower", "estimate_std_upper")]
    significant = " significant" if len(sure) < len(rows) else ""
    fits = "" if len(rows) == 1 else f". Its largest{significant} effect, with {most['label']}"
    return (
        f"{title(term)} {_directions(rows)}{fits}: {_signed(most['estimate_std'], entry)} SD per SD of the "
        f"feature (95 % interval {ends[0]} to {ends[1]}), that is {_raw(most)}."
    )


def _signed(number: float, entry: Column) -> str:
    text = value(number, entry)
    return f"+{text}" if number > 0 and text[0].isdigit() else text


def _raw(effect: pd.Series) -> str:
    """Write an effect in the unit of the feature."""
    step, per = _STEPS[TERMS[effect["term"]].unit]
    change = step * effect["estimate"]
    if effect["scale"] == "logit":
        return f"{_signed(change, column('scales', 'estimate_logit'))} nats of its logit per {per}"
    return f"{_signed(100 * change, column('table3', 'effect_word_length'))} percentage points per {per}"


def _explained(fitted: pd.DataFrame) -> str:
    items = fitted["r2_conditional"] - fitted["r2_marginal"]
    return (
        f"All features together explain {_percents(fitted['r2_marginal'])} of the variance of the answers; the item "
        f"that is asked explains another {_percents(items)}."
    )


def _percents(shares: pd.Series) -> str:
    low, high = (
        f"{100 * share:.0f}" if share >= 0.095 else f"{100 * share:.1f}" for share in (shares.min(), shares.max())
    )
    return f"{low} %" if low == high else f"{low} to {high} %"


def _signs(effects: pd.DataFrame) -> str:
    clear = int(effects["confirmed"].sum())
    said = f"{clear} of {count(len(effects), 'effect')} are significant at 0.05 after Bonferroni"
    if effects["label"].nunique() == 1:
        return f"{said}."
    signs = (effects["estimate"] > 0).groupby(effects["term"]).nunique()
    same = int((signs == 1).sum())
    verb = "has" if same <= 1 else "have"
    return f"{said}; {same or 'none'} of {count(len(signs), 'feature')} {verb} the same sign in every fit."


def _pairs(correlations: pd.DataFrame) -> str:
    """Compare the correlations of the paper's predictors with what the paper says about its Figure 6."""
    order = {name: place for place, name in enumerate(features.PUBLISHED)}
    known = correlations[correlations["feature_a"].isin(order) & correlations["feature_b"].isin(order)].dropna(
        subset=["r"]
    )
    pairs = known[known["feature_a"].map(order) < known["feature_b"].map(order)]
    present = correlations.loc[correlations["feature_a"].isin(order), "feature_a"].nunique()
    which = (
        "the paper's eight predictors"
        if present == len(order)
        else f"the {present} of the paper's predictors that are present"
    )
    if pairs.empty:
        return "Correlations: too few of the paper's predictors are present to compare."
    weak = pairs[pairs["p"] >= ALPHA]
    strongest = pairs.loc[pairs["r"].abs().sort_values(ascending=False).index[:2]]
    said = [
        f"{name(a)} with {name(b)} ({value(r, column('correlations', 'r'))})"
        for a, b, r in zip(strongest["feature_a"], strongest["feature_b"], strongest["r"], strict=True)
    ]
    pale = [f"{name(a)} with {name(b)}" for a, b in zip(weak["feature_a"], weak["feature_b"], strict=True)]
    differs = f" Not significant: {listing(pale, 4)}." if pale else ""
    return (
        "Correlations: the paper (Figure 6) calls those between all its predictors significant at 0.05. Here, "
        f"{len(pairs) - len(weak)} of {count(len(pairs), 'pair')} of {which} are (uncorrected, n = "
        f"{low_to_high(pairs['n'])}). Strongest: {listing(said)}.{differs}"
    )
