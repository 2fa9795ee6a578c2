"""Write the sentences of the page on scores: what was asked, the answer on top, and what belongs to which figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from analysis.pages.scoring.by_setting import HOLM, by_method, by_range, by_temperature, others, signs
from analysis.pages.scoring.cautions import cautions
from analysis.pages.scoring.influence import NOTHING
from analysis.pages.scoring.items import chosen, ends
from analysis.pages.scoring.undefined import EQUAL
from analysis.reporting import labels, verdicts, words
from analysis.reporting.catalogue import column
from analysis.reporting.columns import value
from analysis.reporting.printed import OURS
from analysis.reporting.thresholds import silent
from analysis.reporting.verdicts import Band
from analysis.reporting.words import Answer, count, listing, low_to_high, no_interval, percent
from analysis.runs.scores import GOLD
from analysis.statistics.multiplicity import decidable

Frames = Mapping[str, pd.DataFrame]
HABIT = 0.5  # share of a group's items from which on one score counts as given to everything
BANDS = (Band("no", 0.0, HABIT), Band("yes", HABIT, 1.0))
PEOPLE = "no more than people"
MEANT = (
    f"“Yes” means that one score is given to at least {percent(HABIT)} of the items of some group. The whole 95 % "
    "interval of this share says so, widened for the number of groups and models.",
    f"“No” means that in every group, the whole interval lies below {percent(HABIT)}, widened for the number of "
    "models.",
    f"“{PEOPLE.capitalize()}” means the same, but the share of people's own most frequent score is not clearly "
    "smaller, by the interval of the difference (Newcombe).",
)


def answer(frames: Frames, setting: str, when: str = "", beyond: str = "") -> Answer:
    """Say whether the judge gives everything the same score, by the rules of `verdicts` and `MEANT`.

    Parameters
    ----------
    frames
        The tables of the page by name.
    setting
        Range, temperature and method, such as "0-9/0.7/sampled".
    when
        From `words.when`.
    beyond
        What of the differences between models is more than rewording (`reporting.beyond.sentence`).

    Returns
    -------
    Answer
        What the page says in words.
    """
    scores = _labelled(frames["scores"])
    models = scores[scores["model"] != GOLD]
    whole = chosen(models, setting)
    here = whole[~silent(whole["validity"])]
    asked, doubts = _asked(models, frames["score_items"], setting, when), cautions(models, whole, frames, setting)
    if here.empty and len(whole):
        verdict, why = words.do_not_answer(list(whole["label"].unique()))
        return Answer(asked, verdict, cautions=(*why, *doubts))
    known = here[here["mode_share"].notna()]
    words_said = set(said(known, scores)) if len(known) else set()
    differences = chosen(frames["score_differences"], setting)
    printed = frames["score_influence"]
    details = {
        "score_violins": (
            *MEANT[: 3 if PEOPLE in words_said else 2],
            *_habit(here, scores),
            *_accuracy(here),
            *others(models),
            *([beyond] if beyond else []),
        ),
        "score_differences": tuple(_tuning(differences)),
        "score_influence": tuple(_rests(_ours(frames, setting))),
        "score_influence_printed": tuple(_rests(printed[printed["source"] != OURS])),
        "score_ranges": tuple(by_range(frames["score_ranges"])),
        "score_temperatures": tuple(by_temperature(frames["scores"])),
        "score_methods": tuple(by_method(frames["score_methods"])),
    }
    verdict = _verdict(known, scores) if len(known) else f"{verdicts.UNCLEAR}: no item has a score."
    return Answer(
        asked, verdict, cautions=tuple(doubts), details={name: said for name, said in details.items() if said}
    )


def _labelled(scores: pd.DataFrame) -> pd.DataFrame:
    """Add the column `label`: the model, with its prompt form where it was asked in several."""
    return scores.assign(label=labels.series(scores.assign(condition=scores["form"])))


def _ours(frames: Frames, setting: str) -> pd.DataFrame:
    """Return the correlation of these runs in one setting, whole and with each omission."""
    table = chosen(frames["score_influence"], setting)
    return table[table["source"] == OURS]


def number(raw: float, name: str) -> str:
    """Write a value with the digits of its column in table `scores`.

    Parameters
    ----------
    raw
        The value; NaN where it is undefined.
    name
        The column.

    Returns
    -------
    str
        As a reader sees it.
    """
    return value(raw, column("scores", name))


def _interval(row: pd.Series, name: str) -> str:
    """Write the interval in brackets, or why there is none."""
    low, high = row[f"{name}_lower"], row[f"{name}_upper"]
    if np.isnan(low):
        why = no_interval(row, name)
        return f" ({why})" if why else ""
    return f" (95 % interval {number(low, name)} to {number(high, name)})"


def _asked(models: pd.DataFrame, items: pd.DataFrame, setting: str, when: str) -> str:
    names = items.groupby("study", sort=False)["group"].nunique()
    inside = f" in {count(int(names.sum()), 'group')}" if names.sum() > 1 else ""
    total = len(items.dropna(subset=["score"]).drop_duplicates(["study", "item"]))
    span, temperature, method = setting.rsplit("/", 2)
    low, high = ends(span)
    sizes = chosen(models, setting)["samples"].dropna()
    how = f"{low_to_high(sizes)} samples each" if method == "sampled" and len(sizes) else "by probabilities"
    return (
        f"{count(models['model'].nunique(), 'model')} scored {count(total, 'item')} of "
        f"{listing([f'“{name}”' for name in names.index], 2)}{inside} from {low} to {high}, {how} at temperature "
        f"{temperature}{when}."
    )


def _verdict(known: pd.DataFrame, scores: pd.DataFrame) -> str:
    """Count what `said` says of each model; name the score of a model that is alone."""
    found = said(known, scores)
    who = count(len(found), "model")
    if len(found) > known["model"].nunique():
        who = count(len(found), "combination") + " of model and prompt"
    if not found.any():
        wide = "with each model, an interval of the share of its most frequent score"
        if known["mode_share_lower"].isna().all():
            return f"{verdicts.UNCLEAR}: no interval was computed."
        corrected = ", widened for their number," if len(known) > 1 else ""
        return f"{verdicts.UNCLEAR}: {wide}{corrected} holds {percent(HABIT)}."
    told = verdicts.tally(list(found), who)
    if len(found) > 1:
        return told
    deciding = known[(_words(known, scores) == found.iloc[0]).to_numpy()]
    row = deciding.loc[deciding["mode_share"].idxmax()]
    low, high = percent(row["mode_share_lower"]).removesuffix(" %"), percent(row["mode_share_upper"])
    where = f" of {row['group']}" if known["group"].nunique() > 1 else ""
    share = percent(row["mode_share"])
    return f"{told[:-1]}: the most frequent score goes to {share} of the items{where} (interval {low} to {high})."


def said(known: pd.DataFrame, scores: pd.DataFrame) -> pd.Series:
    """Give each model its word of `MEANT`, from the intervals of its most frequent score's share in each group.

    Parameters
    ----------
    known
        Rows of table `scores` of models that answer, with a `label`.
    scores
        The same table with the rows of the human scores.

    Returns
    -------
    Series
        label -> "yes", "no", "no more than people", or empty where an interval is too wide to tell.
    """
    labels_ = known["label"].unique()

    def judge(number_: int) -> list[str]:
        return list(_words(known, scores, number_).groupby(known["label"], sort=False).agg(_whole))

    return pd.Series(verdicts.judge_stepwise(judge, len(labels_)), labels_)


def _words(known: pd.DataFrame, scores: pd.DataFrame, models: int = 1) -> pd.Series:
    """Give each row its own word, by intervals that are widened for so many models.

    One group is enough for "yes", so for that word they are widened for the number of groups, too.
    """
    where, ends = ["study", "group", "range"], ["mode_share", "mode_share_lower", "mode_share_upper"]
    people = scores[scores["model"] == GOLD].drop_duplicates(where).set_index(where)[ends]
    theirs = people.reindex(pd.MultiIndex.from_frame(known[where])).to_numpy(float)
    groups, found = known.groupby("label")["label"].transform("size"), []
    for own, human, number_ in zip(known[ends].to_numpy(float), theirs, models * groups, strict=True):
        of_model = verdicts.widened(own[0], own[1], own[2], models)
        wide, people_wide = (verdicts.widened(part[0], part[1], part[2], number_) for part in (own, human))
        one = verdicts.word(*of_model, BANDS[:1]) or verdicts.word(*wide, BANDS[1:])
        more = verdicts.above(own[0], wide[0], human[0], people_wide[1])
        found.append(PEOPLE if one == "yes" and not np.isnan(human[0]) and not more else one)
    return pd.Series(found, known.index)


def _whole(found: pd.Series) -> str:
    """Join the words of one model's groups: "yes" wherever it holds, "no" where it holds in all."""
    if "yes" in set(found):
        return "yes"
    return "" if "" in set(found) else PEOPLE if PEOPLE in set(found) else "no"


def _habit(here: pd.DataFrame, scores: pd.DataFrame) -> Iterator[str]:
    known = here.dropna(subset=["mode_share"])
    if known.empty:
        return
    row = known.loc[known["mode_share"].idxmax()]
    low, high = row["mode_share_lower"], row["mode_share_upper"]
    sure = "" if np.isnan(low) else f" (95 % interval {percent(low).removesuffix(' %')} to {percent(high)})"
    of = f" of {row['group']}" if here["group"].nunique() > 1 else ""
    yield (
        f"The largest share of one score: {row['label']} gives {row['mode']:g} to {percent(row['mode_share'])} of the "
        f"items{of}{sure}."
    )
    gold = scores[(scores["model"] == GOLD) & (scores["study"] == row["study"]) & (scores["group"] == row["group"])]
    gold = gold[gold["range"] == row["range"]]
    if len(gold):
        yield f"Of the human scores there, {percent(gold['mode_share'].iloc[0])} are {gold['mode'].iloc[0]:g}."


def _accuracy(here: pd.DataFrame) -> Iterator[str]:
    known = here.dropna(subset=["tau"])
    if known.empty:
        return
    low, high = known.loc[known["tau"].idxmin()], known.loc[known["tau"].idxmax()]
    tau = "Tau, the rank agreement with the human scores, is"
    rows = [(f"{tau} lowest with", low), ("It is highest with", high)]
    for begin, row in rows if len(known) > 1 else [(f"{tau} that of", low)]:
        on = f" on {row['group']}" if here["group"].nunique() > 1 else ""
        yield f"{begin} {row['label']}{on}: {number(row['tau'], 'tau')}{_interval(row, 'tau')}."


def _tuning(tested: pd.DataFrame) -> Iterator[str]:
    """Say how kurtosis and tau change by tuning, in the pairs of which both models answer."""
    pairs = tested[~(silent(tested["validity_pre"]) | silent(tested["validity_post"]))]
    if pairs.empty:
        return
    yield "A pair is a base model and the model tuned from it, on one group of items."
    for name, what in (("kurtosis", "Kurtosis, the peakedness of the scores,"), ("tau", "Tau")):
        known = pairs.dropna(subset=[f"{name}_difference"])
        family = tested[tested[f"{name}_p"].notna()]
        if known.empty:
            continue
        (up, more), (down, less) = (signs(known, name, sign) for sign in (1, -1))
        if len(family) and not decidable(family):
            yield f"{name.capitalize()}: {words.undecided(family)}"
        else:
            yield (
                f"{what} rises clearly in {more or 'none'} of {count(len(known), 'pair')} and falls clearly in "
                f"{less or 'none'} ({HOLM})."
            )
        yield f"Without a test, {name} is higher after tuning in {up} of {count(len(known), 'pair')}, lower in {down}."
    flat = int(pairs["caution"].str.contains(f"post: {EQUAL}", regex=False).sum())
    if flat:
        yield (
            f"In {flat} of {count(len(pairs), 'pair')}, the tuned model gives every item the same score, so kurtosis "
            "and tau are undefined. This is the strongest possible bias, and the numbers do not contain it."
        )


def _rests(table: pd.DataFrame) -> Iterator[str]:
    """Write the correlation of the differences, and its value without the point that changes it most."""
    for _, part in table.groupby(["source", "study"], sort=False):
        whole = part[part["omitted"] == NOTHING].iloc[0]
        if np.isnan(whole["pearson"]):
            continue
        yield (
            f"Over {count(int(whole['n']), 'point')}, each a group and a series, the changes of kurtosis and of tau "
            f"correlate at {number(whole['pearson'], 'pearson')}{_interval(whole, 'pearson')}."
        )
        if whole["pearson_lower"] <= 0 <= whole["pearson_upper"]:
            yield "The interval holds 0, so they may be unrelated."
        single = part[(part["omitted"] == "point") & part["pearson"].notna()]
        if len(single):
            most = single.loc[single["change"].abs().idxmax()]
            low, high = (number(edge, "pearson") for edge in (single["pearson"].min(), single["pearson"].max()))
            yield f"Without {most['omitted_name']}, the correlation is {number(most['pearson'], 'pearson')}."
            yield f"With any one point left out, it lies between {low} and {high}."
