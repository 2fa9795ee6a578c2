"""Write the sentences of the page on scores, from its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from analysis.pages.scoring.influence import NOTHING
from analysis.pages.scoring.items import GOLD, chosen, ends
from analysis.pages.scoring.undefined import EQUAL
from analysis.reporting import labels, words
from analysis.reporting.catalogue import column
from analysis.reporting.columns import value
from analysis.reporting.printed import OURS
from analysis.reporting.thresholds import silent
from analysis.reporting.words import Answer, count, few_items, few_models, listing, low_to_high, no_interval, percent
from analysis.statistics.multiplicity import ALPHA, decidable

Frames = Mapping[str, pd.DataFrame]
HABIT = 0.5  # share of a group's items from which on one score counts as given to everything
OFTEN = 0.1  # share of dropped or clipped samples from which on the page mentions it
FEW_POINTS = 10
HOLM = f"at {ALPHA:g} after Holm"
RESTS = 0.1  # change of a correlation by one point from which on it rests on that point


def answer(frames: Frames, setting: str) -> Answer:
    """Say whether the judge gives everything the same score.

    Parameters
    ----------
    frames
        The tables of the page by name.
    setting
        Range, temperature and method, such as "0-9/0.7/sampled".
    """
    scores = _labelled(frames["scores"])
    models = scores[scores["model"] != GOLD]
    whole = chosen(models, setting)
    here = whole[~silent(whole["validity"])]
    asked, cautions = _asked(models, frames["score_items"], setting), tuple(_cautions(models, whole, frames, setting))
    if here.empty and len(whole):
        return Answer(asked, *words.do_not_answer(list(whole["label"].unique())), cautions)
    sentences = (
        *_habit(here, scores), *_tuning(chosen(frames["score_differences"], setting)), *_accuracy(here),
        *_rests(_ours(frames, setting)),
    )  # fmt: skip
    return Answer(asked, _verdict(here), sentences, cautions)


def reading(frames: Frames) -> list[str]:
    """Say what changes by range, by temperature and by method, and what the printed correlation rests on."""
    printed = frames["score_influence"]
    printed = printed[printed["source"] != OURS]
    return [
        *_by_range(frames["score_ranges"]), *_by_temperature(frames["scores"]), *_by_method(frames["score_methods"]),
        *_rests(printed, "In the paper's Table 1, over"),
    ]  # fmt: skip


def _labelled(scores: pd.DataFrame) -> pd.DataFrame:
    """Add the column `label`: the model, with its prompt form where it was asked in several."""
    return scores.assign(label=labels.series(scores.assign(condition=scores["form"])))


def _ours(frames: Frames, setting: str) -> pd.DataFrame:
    """Return the correlation of these runs in one setting, whole and with each omission."""
    table = chosen(frames["score_influence"], setting)
    return table[table["source"] == OURS]


def number(raw: float, name: str) -> str:
    """Write a value with the digits of its column in table `scores`."""
    return value(raw, column("scores", name))


def _interval(row: pd.Series, name: str) -> str:
    low, high = row[f"{name}_lower"], row[f"{name}_upper"]
    if np.isnan(low):
        return no_interval(row, name)
    return f"95 % interval {number(low, name)} to {number(high, name)}"


def _asked(models: pd.DataFrame, items: pd.DataFrame, setting: str) -> str:
    stages = models.drop_duplicates("model")["stage"].value_counts(sort=False)
    kinds = f" ({', '.join(f'{n} {stage}' for stage, n in stages.items())})" if len(stages) > 1 else ""
    names = items.groupby("study", sort=False)["group"].nunique()
    inside = f" in {count(int(names.sum()), 'group')}" if names.sum() > 1 else ""
    total = len(items.dropna(subset=["score"]).drop_duplicates(["study", "item"]))
    spans, warmth = list(models["range"].unique()), models["temperature"].nunique()
    sizes = models["samples"].dropna()
    how = [f"with {low_to_high(sizes)} samples per item"] if len(sizes) else []
    how += ["exactly, from the probability of every number"] * bool((models["method"] == "exact").any())
    span, temperature, method = setting.rsplit("/", 2)
    several = len(models.drop_duplicates(["range", "temperature", "method"])) > 1
    here = f" Unless said otherwise: {span} at temperature {temperature}, {method}." if several else ""
    return (
        f"{count(models['model'].nunique(), 'model')}{kinds} scored {count(total, 'item')} of "
        f"{listing([f'“{name}”' for name in names.index])}{inside}. This was done on the range{'s' * (len(spans) > 1)} "
        f"{listing(spans, len(spans))}, at {count(warmth, 'temperature')}, {' and '.join(how)}.{here}"
    )


def _verdict(here: pd.DataFrame) -> str:
    most = here.groupby("label", sort=False)["mode_share"].max()
    strong = most[most >= HABIT]
    if most.notna().sum() == 0:
        return "These runs cannot say: no item has a score."
    if strong.empty:
        return "No: no model gives one score to half of the items of any group."
    where = "all items" if here["group"].nunique() == 1 else "the items of some group"
    each = "at least half of all items" if here["group"].nunique() == 1 else f"at least half of {where}"
    verb = "gives" if len(strong) == 1 else "give"
    return f"Yes: {len(strong)} of {count(len(most), 'model')} {verb} one score to {each}."


def _habit(here: pd.DataFrame, scores: pd.DataFrame) -> Iterator[str]:
    known = here.dropna(subset=["mode_share"])
    if known.empty:
        return
    row = known.loc[known["mode_share"].idxmax()]
    low, high = row["mode_share_lower"], row["mode_share_upper"]
    sure = "" if np.isnan(low) else f" (95 % interval {percent(low).removesuffix(' %')} to {percent(high)})"
    gold = scores[(scores["model"] == GOLD) & (scores["study"] == row["study"]) & (scores["group"] == row["group"])]
    gold = gold[gold["range"] == row["range"]]
    human = ""
    if len(gold):
        human = f"; of the human scores there {percent(gold['mode_share'].iloc[0])} are {gold['mode'].iloc[0]:g}"
    yield (
        f"The strongest habit: {row['label']} gives the score {row['mode']:g} to {percent(row['mode_share'])} of the "
        f"items{_of(row, here)}{sure}{human}."
    )


def _of(row: pd.Series, frame: pd.DataFrame) -> str:
    return f" of {row['group']}" if frame["group"].nunique() > 1 else ""


def _tuning(tested: pd.DataFrame) -> Iterator[str]:
    """Say how kurtosis and tau change by tuning, in the pairs of which both models answer."""
    pairs = tested[~(silent(tested["validity_pre"]) | silent(tested["validity_post"]))]
    kurtosis, tau = pairs.dropna(subset=["kurtosis_difference"]), pairs.dropna(subset=["tau_difference"])
    if pairs.empty:
        return
    flat = int(pairs["caution"].str.contains(f"post: {EQUAL}", regex=False).sum())
    if len(kurtosis):
        up, sure = _signs(kurtosis, "kurtosis", 1)
        widest = kurtosis.loc[kurtosis["kurtosis_difference"].idxmax()]
        change = f"{number(widest['kurtosis_pre'], 'kurtosis')} to {number(widest['kurtosis_post'], 'kurtosis')}"
        most = f" The largest rise is that of {widest['group']}/{widest['series']}, from {change}." if up else ""
        yield (
            f"After tuning, the scores are more peaked (higher kurtosis) in {up} of {count(len(kurtosis), 'pair')} of "
            f"group and series ({sure or 'none'} significantly, {HOLM}).{most}"
        )
    if flat:
        yield (
            f"In {flat} of {count(len(pairs), 'pair')} the tuned model gives every item the same score, so "
            "kurtosis and tau are undefined. This is the strongest possible bias, and the numbers do not contain it."
        )
    if len(tau):
        parts = []
        for verb, sign in (("rises", 1), ("falls", -1)):
            number_of, sure = _signs(tau, "tau", sign)
            if number_of:
                parts.append(f"{verb} in {number_of} ({sure or 'none'} significantly)")
        yield f"Of {count(len(tau), 'pair')}, tau {' and '.join(parts) or 'moves in none'}."
    for name in ("kurtosis", "tau"):
        family = tested[tested[f"{name}_p"].notna()]
        if len(family) and not decidable(family):
            yield f"{name.capitalize()}: {words.undecided(family)}"


def _signs(pairs: pd.DataFrame, name: str, sign: int) -> tuple[int, int]:
    """Count the differences in a measure with a sign, and those of them that are significant after Holm."""
    with_sign = sign * pairs[f"{name}_difference"] > 0
    return int(with_sign.sum()), int((with_sign & (pairs[f"{name}_p_holm"] < ALPHA)).sum())


def _accuracy(here: pd.DataFrame) -> Iterator[str]:
    known = here.dropna(subset=["tau"])
    if known.empty:
        return
    low, high = known.loc[known["tau"].idxmin()], known.loc[known["tau"].idxmax()]
    parts = []
    for row in (low, high) if len(known) > 1 else (low,):
        who = [row["label"], row["group"]] if here["group"].nunique() > 1 else [row["label"]]
        inside = "; ".join(filter(None, (", ".join(who), _interval(row, "tau"))))
        parts.append(f"{number(row['tau'], 'tau')} ({inside})")
    yield f"Rank agreement with the human scores, tau: {' to '.join(parts)}."


def _rests(table: pd.DataFrame, begin: str = "Over") -> Iterator[str]:
    """Write the correlation of the differences, and its value without the point that changes it most."""
    for _, part in table.groupby(["source", "study"], sort=False):
        whole = part[part["omitted"] == NOTHING].iloc[0]
        if np.isnan(whole["pearson"]):
            continue
        sure = _interval(whole, "pearson")
        said = (
            f"{begin} {count(int(whole['n']), 'point')} of group and series, the differences in kurtosis and in tau "
            f"correlate at {number(whole['pearson'], 'pearson')}{f' ({sure}, points resampled)' if sure else ''}"
        )
        single = part[(part["omitted"] == "point") & part["pearson"].notna()]
        if single.empty:
            yield f"{said}."
            continue
        most = single.loc[single["change"].abs().idxmax()]
        low, high = (number(edge, "pearson") for edge in (single["pearson"].min(), single["pearson"].max()))
        verb = "It rests on one point" if abs(most["change"]) >= RESTS else "No single point makes it"
        yield (
            f"{said}. {verb}: without {most['omitted_name']} it is {number(most['pearson'], 'pearson')}. With any one "
            f"point left out, it lies between {low} and {high}."
        )


def _by_range(ranges: pd.DataFrame) -> Iterator[str]:
    names = [name for name in ranges if name.startswith("kurtosis_")]
    known = ranges[ranges[names].notna().all(axis=1)] if len(names) > 1 else ranges.iloc[:0]
    if known.empty:
        return
    peaked = known[names].abs().idxmax(axis=1).value_counts()
    name = str(peaked.index[0]).removeprefix("kurtosis_").replace("_", "-")
    yield (
        f"Range: the kurtosis is furthest from 0 on {name} in {peaked.iloc[0]} of "
        f"{count(len(known), 'combination')} of group, model, temperature and method that have one on every range."
    )


def _by_temperature(scores: pd.DataFrame) -> Iterator[str]:
    models = scores[(scores["model"] != GOLD) & ~silent(scores["validity"])]
    unit = ["study", "group", "model", "form", "range", "method"]
    parts = []
    for kind, part in models.groupby(np.where(models["stage"] == "base", "base", "tuned"), sort=True):
        ordered = part.dropna(subset=["kurtosis"]).sort_values("temperature").groupby(unit, sort=False, dropna=False)
        curves = ordered["kurtosis"].agg(["first", "last", "size"])
        curves = curves[curves["size"] > 1]
        if len(curves):
            lower = int((curves["last"] < curves["first"]).sum())
            parts.append(f"{lower} of {count(len(curves), 'case')} of {kind} models")
    if parts:
        yield (
            "Temperature: from the lowest to the highest one that has a kurtosis, the kurtosis falls in "
            f"{' and in '.join(parts)}. A case is one model on one group and range by one method."
        )


def _by_method(methods: pd.DataFrame) -> Iterator[str]:
    known = methods[~(silent(methods["validity_sampled"]) | silent(methods["validity_exact"]))]
    known = known.dropna(subset=["tau_difference"])
    if known.empty:
        return
    lower, sure = _signs(known, "tau", -1)
    width = methods["range"].map(lambda span: ends(span)[1] - ends(span)[0])
    distance = percent((methods["score_distance"] / width).mean())
    yield (
        f"Sampling: the mean of {low_to_high(methods['samples'])} samples lies "
        f"{distance} of the range away from the exact score on average. Its tau is lower than the exact one in "
        f"{lower} of {count(len(known), 'comparison')} ({sure or 'none'} significantly, {HOLM})."
    )


def _cautions(models: pd.DataFrame, here: pd.DataFrame, frames: Frames, setting: str) -> Iterator[str]:
    flat = int((models["caution"] == EQUAL).sum())
    if flat:
        yield (
            f"All scores are equal in {flat:,} of {count(len(models), 'combination')} of group, model and condition: "
            "kurtosis and tau are undefined there, and left out of every count and correlation."
        )
    low = models[silent(models["validity"])]
    if len(low):
        row = low.loc[low["validity"].idxmin()]
        yield (
            f"Low validity: in {len(low):,} of {count(len(models), 'combination')} less than half of the samples (or "
            f"of the probability) is a number. The lowest is {number(row['validity'], 'validity')} ({row['label']}, "
            f"{row['range']} at temperature {row['temperature']:g}). These are not compared."
        )
    sampled = models[models["method"] == "sampled"]
    total = ((sampled["n"] + sampled["unscored"] - sampled["no_response"]) * sampled["samples"]).sum()
    for name, what in (("dropped", "hold no number and were dropped"), ("clipped", "were moved into the range")):
        amount = sampled[name].sum()
        if total and amount / total >= OFTEN:
            yield f"{amount:,} of {total:,.0f} samples ({percent(amount / total)}) {what}."
    wordy = int((models["unscored"] - models["no_response"]).sum())
    if wordy:
        yield f"Missing: {count(wordy, 'score')}, because no sample held a number."
    yield from _gold(here)
    points = _ours(frames, setting)
    if len(points) and points["n"].max() < FEW_POINTS:
        yield f"Only {count(int(points['n'].max()), 'point')} in the correlation of kurtosis and tau: it says little."
    if len(frames["score_differences"]) == 0:
        yield "No series has both a base and a tuned model: these runs cannot say what tuning does."
    if len(here):
        own = here["n_gold"].where(here["n_gold"] > 0, here["n"])  # the fewest that a figure of the row is made of
        yield from few_items(own.set_axis(here["label"]), " in a group")
    yield from few_models(models["model"].nunique())


def _gold(here: pd.DataFrame) -> Iterator[str]:
    without = int((here["n"] - here["n_gold"]).max())
    if here["n_gold"].max() == 0:
        yield "No item has a human score, so there is no tau."
    elif without:
        yield f"Up to {count(without, 'item')} of a group have no human score and are left out of tau."
