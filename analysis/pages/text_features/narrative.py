"""Write the sentences of the page on text features: what was asked, the answer on top, what belongs to which figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from analysis import features
from analysis.pages.text_features.cautions import cautions
from analysis.pages.text_features.columns import TERMS
from analysis.pages.text_features.printed import printed_effects
from analysis.pages.text_features.terms import labelled, name, title
from analysis.reporting.catalogue import column
from analysis.reporting.choice import Choice
from analysis.reporting.columns import Column, value
from analysis.reporting.labels import UNIT
from analysis.reporting.thresholds import silent
from analysis.reporting.words import Answer, count, do_not_answer, listing, low_to_high
from analysis.statistics.mixed.design import INTERCEPT
from analysis.statistics.mixed.result import ALPHA
from analysis.statistics.multiplicity import holm

# An effect is told per such a step of its feature: wordings differ by as much, so nothing is extrapolated.
_STEPS = {
    "characters": (1, "character"), "words": (1, "word"), "cues": (1, "cue"), "nats": (1, "nat"),
    "Zipf": (1, "step on the Zipf scale"), "per word": (0.1, "0.1 dependents per word"), "0 to 1": (0.1, "step of 0.1"),
}  # fmt: skip
MEANT = (
    f"An effect is confirmed where two p values are below {ALPHA:g} after Bonferroni's correction: that of the fit, "
    "and one that allows for effects that differ between items."
)
NOTHING = "No feature of the wording varies."


def answer(
    frames: Mapping[str, pd.DataFrame], choice: Choice, when: str = "", drawn: pd.DataFrame | None = None
) -> Answer:
    """Say which feature of a wording goes with another answer, by the rules of `verdicts`: only confirmed ones do.

    Parameters
    ----------
    frames
        The tables of the page by name.
    choice
        The two answers.
    when
        From `words.when`.
    drawn
        The effects as the figure shows them (`figures.one_row`), which the sentences count; table `mixed` unless given.

    Returns
    -------
    Answer
        What the page says in words.
    """
    fits = labelled(frames["mixed_diagnostics"])
    every = fits[fits["n_rows"] > 0]
    fitted = every[~silent(every["validity"])]
    effects = _effects(frames["mixed"], fitted)
    doubts = tuple(cautions(frames, effects, fits))
    if fitted.empty and len(every):
        verdict, why = do_not_answer(list(every["label"]))
        return Answer(_asked(_effects(frames["mixed"], every), every, when), verdict, cautions=(*why, *doubts))
    if drawn is not None:
        effects = labelled(drawn[~drawn["silent"] & drawn["estimate"].notna()])
    pairs = tuple(said for _, part in frames["correlations"].groupby("study", sort=False) for said in _pairs(part))
    if effects.empty:
        return Answer(_asked(effects, fitted, when), NOTHING, cautions=doubts, details={"correlations": pairs})
    details = {
        "effects": (MEANT, *_strongest(effects)),
        "mixed": (*_directions(effects, choice), *_compared(effects)),
        "mixed_diagnostics": tuple(_explained(fitted)),
        "correlations": pairs,
    }
    return Answer(_asked(effects, fitted, when), _verdict(effects, choice), cautions=doubts, details=details)


def _effects(mixed: pd.DataFrame, fits: pd.DataFrame) -> pd.DataFrame:
    """Choose the effects of some fits: sentences are about the models that answer."""
    wanted = pd.MultiIndex.from_frame(mixed[UNIT]).isin(pd.MultiIndex.from_frame(fits[UNIT]))
    return labelled(mixed[wanted & (mixed["term"] != INTERCEPT) & mixed["estimate"].notna()])


def _asked(effects: pd.DataFrame, fitted: pd.DataFrame, when: str) -> str:
    models, terms = fitted["model"].nunique(), effects["term"].nunique()
    what = count(terms, "feature") if terms else "the features"
    return (
        f"The answers of {count(models, 'model')} to {low_to_high(fitted['n_rows'])} paraphrases of "
        f"{low_to_high(fitted['n_items'])} items were compared with {what} of their wording{when}."
    )


def _fits(effects: pd.DataFrame) -> str:
    """Count the fits that some effects are of: models, or models under a condition."""
    fits = effects.drop_duplicates(UNIT)
    return count(len(fits), "model") if fits["model"].is_unique else f"{len(fits)} models and conditions"


def confirmed(effects: pd.DataFrame) -> pd.Series:
    """Return term -> number of its confirmed effects, the most first; a term without any has no entry.

    Of terms with equally many, the one with the largest confirmed effect comes first.
    """
    sure = effects[effects["confirmed"].astype(bool)]
    found = sure.assign(size=sure["estimate_std"].abs()).groupby("term")["size"].agg(["size", "max"])
    return found.sort_values(["size", "max"], ascending=False, kind="stable")["size"]


def _verdict(effects: pd.DataFrame, choice: Choice) -> str:
    """Name the feature with the most confirmed effects, and the direction of these; none, where none is confirmed."""
    found = confirmed(effects)
    if found.empty:
        tested = count(effects["term"].nunique(), "feature")
        return f"These runs cannot tell: no effect of the {tested} on the answers of {_fits(effects)} is confirmed."
    rows = effects[effects["term"] == found.index[0]]
    up = rows.loc[rows["confirmed"].astype(bool), "estimate"] > 0
    which = "a higher" if up.all() else "a lower" if not up.any() else "a higher or lower"
    which = f"{which} {choice.measure}" if not choice.agrees else f"{which.removeprefix('a ')} agreement"
    begin = f"{title(str(found.index[0]))}{' most often' if len(found) > 1 else ''}"
    where = f"with {int(found.iloc[0])} of {_fits(rows)}" if len(rows) > 1 else "with this model"
    return f"{begin}: higher values go with {which} {where}."


def _directions(effects: pd.DataFrame, choice: Choice) -> Iterator[str]:
    """Say of each feature with a confirmed effect in which direction it goes."""
    found = confirmed(effects)
    total = int(effects["confirmed"].sum())
    yield f"{total or 'None'} of {count(len(effects), 'effect')} {'is' if total <= 1 else 'are'} confirmed."
    for term in found.index:
        rows = effects[(effects["term"] == term) & effects["confirmed"].astype(bool)]
        up, down = int((rows["estimate"] > 0).sum()), int((rows["estimate"] < 0).sum())
        parts = [
            f"{side} {choice.measure} with {number}" for side, number in (("higher", up), ("lower", down)) if number
        ]
        fits = _fits(effects[effects["term"] == term])
        yield f"More of {name(term)} goes with {' and with '.join(parts)} of {fits} (confirmed effects)."


def _compared(effects: pd.DataFrame) -> Iterator[str]:
    """Compare the sign of most confirmed effects, here and in the paper's Table 3; nothing where none is confirmed."""
    known = printed_effects()
    theirs = _majority(known[known["p_bonferroni"] < ALPHA])
    ours = _majority(effects[effects["confirmed"].astype(bool)])
    for what, sign in (("the same sign", 1), ("the opposite sign", -1)):
        named = [name(term) for term in ours.index if term in theirs and ours[term] == sign * theirs[term]]
        if named:
            yield (
                f"Most confirmed effects have {what} as most significant ones in Table 3 of Haller et al. for "
                f"{listing(named, 4)}."
            )


def _majority(effects: pd.DataFrame) -> pd.Series:
    """Return term -> 1 where most effects are positive, -1 where most are negative; no entry for a tie."""
    up = (effects["estimate"] > 0).groupby(effects["term"], sort=False).mean()
    return (up > 0.5).map({True: 1, False: -1})[up != 0.5]


def _strongest(effects: pd.DataFrame) -> Iterator[str]:
    """Write the largest confirmed effect, with its interval and in the unit of its feature."""
    sure = effects[effects["confirmed"].astype(bool)]
    if sure.empty:
        return
    most = sure.iloc[int(sure["estimate_std"].abs().to_numpy().argmax())]
    entry = column("mixed", "estimate_std")
    ends = [_signed(most[end], entry) for end in ("estimate_std_lower", "estimate_std_upper")]
    yield (
        f"The largest confirmed effect is that of {name(most['term'])} with {most['label']}: "
        f"{_signed(most['estimate_std'], entry)} SD per SD of the feature (95 % interval {ends[0]} to {ends[1]})."
    )
    yield f"That is {_raw(most)}."


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


def _explained(fitted: pd.DataFrame) -> Iterator[str]:
    items = fitted["r2_conditional"] - fitted["r2_marginal"]
    yield f"All features together explain {_percents(fitted['r2_marginal'])} of the variance of the answers."
    yield f"The item that is asked explains another {_percents(items)}."


def _percents(shares: pd.Series) -> str:
    low, high = (
        f"{100 * share:.0f}" if share >= 0.095 else f"{100 * share:.1f}" for share in (shares.min(), shares.max())
    )
    return f"{low} %" if low == high else f"{low} to {high} %"


def _pairs(correlations: pd.DataFrame) -> Iterator[str]:
    """Compare the correlations of the paper's predictors with what the paper says about its Figure 6."""
    order = {name: place for place, name in enumerate(features.PUBLISHED)}
    known = correlations[correlations["feature_a"].isin(order) & correlations["feature_b"].isin(order)].dropna(
        subset=["r"]
    )
    pairs = known[known["feature_a"].map(order) < known["feature_b"].map(order)]
    present = correlations.loc[correlations["feature_a"].isin(order), "feature_a"].nunique()
    if pairs.empty:
        yield "Too few of the paper's features are present to compare their correlations."
        return
    which = "the paper's eight features" if present == len(order) else f"{present} of the paper's eight features"
    weak = pairs[holm(pairs["p"].to_numpy(float)) >= ALPHA]
    yield (
        f"{len(pairs) - len(weak)} of {count(len(pairs), 'correlation')} between {which} are significant at "
        f"{ALPHA:g} after Holm (n = {low_to_high(pairs['n'])})."
    )
    yield "The test takes all wordings for independent; those of one item are alike, so it calls too many significant."
    yield "Haller et al. (Figure 6) call all of theirs significant, without a correction."
    strongest = pairs.loc[pairs["r"].abs().sort_values(ascending=False).index[:2]]
    said = [
        f"{name(a)} with {name(b)} ({value(r, column('correlations', 'r'))})"
        for a, b, r in zip(strongest["feature_a"], strongest["feature_b"], strongest["r"], strict=True)
    ]
    yield f"The strongest: {listing(said)}."
    pale = [f"{name(a)} with {name(b)}" for a, b in zip(weak["feature_a"], weak["feature_b"], strict=True)]
    if pale:
        yield f"Not significant: {listing(pale, 3)}."
