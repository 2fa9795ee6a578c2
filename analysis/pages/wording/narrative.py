"""Write the sentences of the page on wording: what was asked, the answer on top, and what belongs to which figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from analysis.pages.wording.cautions import cautions
from analysis.pages.wording.cells import UNIT, spoken, validity
from analysis.pages.wording.columns import WORDS
from analysis.reporting import chance, labels, verdicts
from analysis.reporting.choice import MIXED, Choice, quoted
from analysis.reporting.thresholds import silent
from analysis.reporting.verdicts import Band
from analysis.reporting.words import Answer, count, do_not_answer, listing, percent, points, undecided
from analysis.runs.folder import ORIGINAL
from analysis.statistics.multiplicity import ALPHA, decidable

YES_NO = Choice("yes", "no")
SPOKEN = (("yes", "no"), ("はい", "いいえ"))  # the answers of the protocol's languages
NEARLY, MOSTLY = 0.95, 0.8
YES, MOST, NO = "yes, nearly always", "mostly", "not reliably"
BANDS = (Band(YES, NEARLY, 1.0), Band(MOST, MOSTLY, 1.0), Band(NO, 0.0, MOSTLY))
MEANT = (
    f"“{YES.capitalize()}” means that Consistency is at least {percent(NEARLY)} under every kind of wording, by its "
    "whole 95 % intervals. This is the mean over the models that answer, their conditions and tasks.",
    f"“Mostly” means the same for {percent(MOSTLY)}.",
    f"“{NO.capitalize()}” means that the whole interval lies below {percent(MOSTLY)} under some kind of wording, when "
    "it is widened for the number of kinds (Bonferroni).",
)
HOLM = f"at {ALPHA:g} after Holm"
NAMED_TASKS = 2  # more are counted, so that the first screen stays short
TABLES = ("consistency", "patterns", "conventions", "shots", "stages", "shifts")


def answer(
    frames: Mapping[str, pd.DataFrame], when: str = "", choice: Choice = YES_NO, beyond: str = "",
    by_chance: pd.DataFrame = chance.NOBODY,
) -> Answer:  # fmt: skip
    """Say whether the models give the same answer in other words, by the rules of `verdicts` and `MEANT`.

    Parameters
    ----------
    frames
        The tables named in `TABLES`.
    when
        From `words.when`.
    choice
        The two answers; the page calls the first “Yes”.
    beyond
        What of the differences between models is more than rewording (`reporting.beyond.sentence`).
    by_chance
        Whose answers chance alone may have changed (`reporting.chance.find_chance`).

    Returns
    -------
    Answer
        What the page says in words.
    """
    whole, means = frames["consistency"], frames["patterns"].dropna(subset=["consistency"])
    asked, doubts = _asked(whole, when), cautions(frames)
    table = whole[~silent(validity(whole))]
    if table.empty and len(whole):
        verdict, why = do_not_answer(list(labels.series(whole).unique()))
        return Answer(asked, verdict, cautions=(*why, *doubts))
    if means.empty:
        return Answer(asked, f"{verdicts.UNCLEAR}: there are no valid answers to compare.", cautions=doubts)
    doubts = (*chance.write_cautions(table, by_chance), *doubts)
    several = means["language"].nunique() > 1
    languages = list(means.groupby("language", sort=False))
    details = {
        "consistency": (
            *MEANT,
            *_stands_for(choice),
            *(said for name, part in languages for said in _same(str(name), part, several)),
            *([beyond] if beyond else []),
        ),
        "diff_yes": tuple(
            said for name, part in languages for said in _yes(str(name), part, table, several, _changes(means))
        ),
        "shifts": tuple(_band(frames["shifts"], table)),
        "shots": tuple(_shots(frames["shots"])),
        "stages": tuple(_stages(frames["stages"])),
    }
    return Answer(
        asked,
        _verdict(means, table, by_chance),
        cautions=doubts,
        details={name: said for name, said in details.items() if said},
    )


def _stands_for(choice: Choice) -> Iterator[str]:
    """Say what “Yes” and “No” stand for, where the answers have other names."""
    if (choice.first.lower(), choice.second.lower()) not in (*SPOKEN, MIXED):
        yield f"“Yes” stands for {quoted(choice.first)} here, and “No” for {quoted(choice.second)}."


def _asked(table: pd.DataFrame, when: str) -> str:
    models = table["model"].nunique()
    asked = table[["language", "task"]].drop_duplicates().itertuples(index=False, name=None)
    whats = [f"“{task}”{f' ({spoken(language)})' if language else ''}" for language, task in asked]
    items = int(table[table["pattern"] == ORIGINAL].drop_duplicates(["study", "language", "task"])["n_items"].sum())
    tasks = listing(whats) if len(whats) <= NAMED_TASKS else count(len(whats), "task")
    return (
        f"{count(models, 'model')} {'was' if models == 1 else 'were'} asked {count(items, 'yes/no question')} of "
        f"{tasks}, also reworded{when}."
    )


def word(means: pd.DataFrame) -> str:
    """Return the word of `MEANT` that the intervals of all kinds of wording allow; empty where none does.

    Parameters
    ----------
    means
        Table `patterns`, where Consistency is defined.
    """
    found = set(_words(means))
    if NO in found:
        return NO
    return "" if "" in found else MOST if MOST in found else YES


def _words(means: pd.DataFrame) -> list[str]:
    """Give each kind of wording its own word; one kind is enough for `NO`, so its interval is widened for that."""
    ends = (means[name] for name in ("consistency", "consistency_lower", "consistency_upper"))
    return [
        verdicts.word(low, high, BANDS[:2]) or verdicts.word(*verdicts.widened(share, low, high, len(means)), BANDS[2:])
        for share, low, high in zip(*ends, strict=True)
    ]


def _verdict(means: pd.DataFrame, table: pd.DataFrame, by_chance: pd.DataFrame = chance.NOBODY) -> str:
    """Say the word, with the kind of wording that the fewest answers survive, of those that the word rests on.

    Beside this mean stand the lowest and the highest model, if they are apart, or else its interval. A mean that holds
    answers which chance alone may have changed is not called low.
    """
    said = word(means)
    if said == NO and chance.mark_chance(table, by_chance).any():
        return chance.explain_withheld(by_chance)
    deciding = means[[own == said for own in _words(means)]]
    row = deciding.loc[deciding["consistency"].idxmin()]
    several = means["language"].nunique() > 1 and row["language"]
    where = f" in {spoken(row['language'])}" if several else ""
    begin = said.capitalize() or verdicts.UNCLEAR
    mean = f"{begin}: with {WORDS[row['pattern']]}{where}, {percent(row['consistency'])} of answers mean the same"
    single = table[(table["pattern"] == row["pattern"]) & (table["language"] == row["language"])]
    ends = verdicts.spread(*(single[name] for name in ("consistency", "consistency_lower", "consistency_upper")))
    if ends is None:
        return f"{mean} as before{_shares(row, 'consistency', 0, 'interval ')}."
    low, high = map(percent, ends)
    return f"{mean} on average ({low.removesuffix(' %')} to {high} by {_unit(single)})."


def _unit(rows: pd.DataFrame) -> str:
    """Name what each row is about: "model", or what it was asked in, too."""
    several = [key for key in ("condition", "task") if rows.groupby("model")[key].nunique().max() > 1]
    return "model and setting" if len(several) == 2 else listing(["model", *several])


def _same(language: str, means: pd.DataFrame, several: bool) -> Iterator[str]:
    """Say how many answers stay the same, with the kinds of wording that change the most and the fewest of them."""
    where = f"In {spoken(language)}, w" if several and language else "W"
    order = means.sort_values("consistency", kind="stable")
    for row in (order.iloc[0], order.iloc[-1])[: len(order)]:
        yield (
            f"{where}ith {WORDS[row['pattern']]}, {percent(row['consistency'], 1)} of the answers mean the same as "
            f"before{_shares(row, 'consistency', 1, '95 % interval ')}."
        )


def _changes(means: pd.DataFrame) -> int:
    """Count the changes of which the sentences of the page say whether they are clear."""
    return int(means["pattern"].isin(["agreement", "strong_agreement", "antonym"]).sum())


def _yes(language: str, means: pd.DataFrame, table: pd.DataFrame, several: bool, number: int) -> Iterator[str]:
    """Say whether “Yes” gets more frequent: where the interval, widened for a number of comparisons, leaves out 0."""
    where = f"In {spoken(language)}, w" if several and language else "W"
    rows = means.set_index("pattern")
    for name in ("agreement", "strong_agreement"):
        if name in rows.index:
            row = rows.loc[name]
            verb = _verb(row, "diff_yes", number, "rises", "falls", "does not clearly change")
            yield (
                f"{where}ith {WORDS[name]}, the share of “Yes” {verb}: {points(row['diff_yes'])} points"
                f"{_points(row, 'diff_yes', number)}."
            )
    yield from _most(table[table["language"] == language])
    if "antonym" in rows.index:
        row = rows.loc["antonym"]
        which = _verb(row, "excess_yes", number, "more", "less", "not clearly more or less")
        yield (
            f"{where}ith antonyms, which ask for the opposite, {percent(1 - row['consistency'], 1)} of the answers "
            "contradict the first."
        )
        yield (
            f"“Yes” is then {which} frequent than unchanged answers would make it: {points(row['excess_yes'])} points"
            f"{_points(row, 'excess_yes', number)}."
        )


def _verb(row: pd.Series, measure: str, number: int, more: str, less: str, unclear: str) -> str:
    side = verdicts.beyond(*_wider(row, measure, number), 0.0)
    return {"more": more, "less": less}.get(side, unclear)


def _wider(row: pd.Series, name: str, number: int) -> tuple[float, float]:
    return verdicts.wider(row[name], row[f"{name}_lower"], row[f"{name}_upper"], number)


def _shares(row: pd.Series, name: str, decimals: int, lead: str) -> str:
    low, high = row[f"{name}_lower"], row[f"{name}_upper"]
    if pd.isna(low):
        return ""
    return f" ({lead}{percent(low, decimals).removesuffix(' %')} to {percent(high, decimals)})"


def _points(row: pd.Series, name: str, number: int) -> str:
    """Write the interval of a change, and for how many comparisons it is widened."""
    low, high = _wider(row, name, number)
    what = "interval" if number == 1 else f"interval for {number:,} comparisons"
    return "" if pd.isna(low) else f" ({what} {points(low)} to {points(high)})"


def _most(table: pd.DataFrame) -> Iterator[str]:
    """Name the model and task that agreement-seeking wording moves most, where there are several.

    The largest of many is too large by chance, so its interval is widened for their number.
    """
    rows = table[table["pattern"] == "agreement"].dropna(subset=["diff_yes"])
    if len(rows) < 2:
        return
    rows = rows.assign(label=labels.series(rows))
    row = rows.loc[rows["diff_yes"].abs().idxmax()]
    task = f" on “{row['task']}”" if rows["task"].nunique() > 1 else ""
    yield (
        f"The largest change with agreement-seeking wording is that of {row['label']}{task}: "
        f"{points(row['diff_yes'])} points{_points(row, 'diff_yes', len(rows))}."
    )


def _band(shifts: pd.DataFrame, answering: pd.DataFrame) -> Iterator[str]:
    """Say where agreement-seeking wording moves answers more, over the models that answer."""
    tested = shifts[(shifts["pattern"] == "agreement") & shifts["band_p_holm"].notna()]
    rows = tested.merge(answering[UNIT])
    if rows.empty:
        return
    if not decidable(tested):
        yield undecided(tested)
        return
    clear = verdicts.clear(rows["band_p_holm"])
    larger, smaller = (int((clear & (sign * rows["band_difference"] > 0)).sum()) for sign in (1, -1))
    yield (
        f"Where p(Yes) was between 0.2 and 0.8, agreement-seeking wording shifts it by "
        f"{points(rows['shift_band'].mean())} points on average, and elsewhere by "
        f"{points(rows['shift_outside'].mean())}."
    )
    yield (
        f"The shift between 0.2 and 0.8 is clearly larger in {larger or 'none'} of {count(len(rows), 'comparison')}, "
        f"clearly smaller in {smaller or 'none'} (bootstrap over items, {HOLM})."
    )


def _shots(shots: pd.DataFrame) -> Iterator[str]:
    rows = shots[(shots["measure"] == "consistency") & (shots["model"] != "")]
    if len(rows):
        yield f"Exemplars change Consistency by {points(rows['difference'].mean())} points on average."
        yield _clear(rows)


def _stages(stages: pd.DataFrame) -> Iterator[str]:
    rows = stages[stages["measure"] == "consistency"]
    if len(rows):
        yield (
            "Consistency of the tuned models minus that of the base models of their series is "
            f"{points(rows['difference'].mean())} points on average."
        )
        yield _clear(rows)


def _clear(rows: pd.DataFrame) -> str:
    if rows["p_holm"].notna().any() and not decidable(rows):
        return undecided(rows)
    clear = verdicts.clear(rows["p_holm"])
    up, down = (int((clear & (sign * rows["difference"] > 0)).sum()) for sign in (1, -1))
    return (
        f"It is clearly higher in {up or 'none'} and clearly lower in {down or 'none'} of "
        f"{count(len(rows), 'comparison')} (sign test, or bootstrap, over items, {HOLM})."
    )
