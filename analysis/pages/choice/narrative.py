"""Write the sentences of the page on multiple choice: what was asked, the answer on top, and what belongs where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from analysis.pages.choice.cautions import cautions
from analysis.pages.choice.columns import MEASURES
from analysis.pages.choice.figures import with_labels
from analysis.reporting import chance, verdicts
from analysis.reporting.thresholds import silent
from analysis.reporting.verdicts import Band
from analysis.reporting.words import Answer, count, do_not_answer, listing, percent, points, signed, undecided, units
from analysis.statistics.multiplicity import decidable

LITTLE = 0.05
HARDLY, YES = "hardly", "yes"
BANDS = (Band(HARDLY, 0.0, LITTLE), Band(YES, LITTLE, 1.0))
MEANT = (
    "A question is changed where it does not get one and the same choice in all wordings and orders.",
    f"“Yes” means that the 95 % interval of the share of changed questions lies above {percent(LITTLE)}.",
    "“Hardly” means that it lies below. Of several models, it is widened for their number (Holm).",
)
SIDES = ("before", "after")
TABLES = ("choice", "choice_consistency", "positions", "choice_differences", "choice_changes")


def answer(
    frames: Mapping[str, pd.DataFrame], size: tuple[int, int, int], when: str = "", beyond: str = "",
    by_chance: pd.DataFrame = chance.NOBODY, shared: bool = False,
) -> Answer:  # fmt: skip
    """Say whether models change their choice with words or order, by the rules of `verdicts` and `MEANT`.

    Parameters
    ----------
    frames
        The tables named in `TABLES`.
    size
        How many questions there are; the most wordings and orders of one.
    when
        From `words.when`.
    beyond
        What of the differences between models is more than rewording (`reporting.beyond.sentence`).
    by_chance
        Whose answers chance alone may have changed (`reporting.chance.find_chance`).
    shared
        Whether questions share their wordings (`reporting.beyond.shares_wordings`).

    Returns
    -------
    Answer
        What the page says in words.
    """
    table = with_labels(frames["choice"])
    asked, doubts = _asked(table, size, when), cautions(frames)
    speaking = whole(table[~silent(table["validity"])])
    if speaking.empty:
        verdict, why = do_not_answer(list(table["label"].unique()))
        return Answer(asked, verdict, cautions=(*why, *doubts))
    kept = frames["choice_consistency"]
    if kept.empty:
        return Answer(asked, "Each question was asked in one wording and one order: nothing is known about others.")
    judged = whole(with_labels(kept[~silent(kept["validity"])]))
    doubts = (*chance.write_cautions(judged, by_chance), *doubts)
    letters = frames["positions"]
    details = {
        "choice_map": (*MEANT, *_most(speaking)),
        "choice_xparacon": tuple(_infinite(speaking)),
        "choice_consistency": tuple(_kept(judged)),
        "choice_positions": tuple(_preferences(with_labels(letters[~silent(letters["validity"])]), orders=size[2])),
        "choice_differences": (
            *_differences(frames["choice_differences"], speaking, shared),
            *([beyond] if beyond else []),
        ),
        "choice_changes": tuple(_changes(frames["choice_changes"])),
    }
    return Answer(
        asked,
        _verdict(judged, size, by_chance),
        cautions=doubts,
        details={name: said for name, said in details.items() if said},
    )


def whole(frame: pd.DataFrame) -> pd.DataFrame:
    """Keep the rows over all questions of a study: the first of every model and condition."""
    return frame.drop_duplicates(["study", "model", "condition"])


def _asked(table: pd.DataFrame, size: tuple[int, int, int], when: str) -> str:
    models = table["model"].nunique()
    questions, wordings, orders = size
    return (
        f"{count(models, 'model')} {'was' if models == 1 else 'were'} asked {count(questions, 'question')}, each in "
        f"{count(wordings, 'wording')} with its choices in {count(orders, 'order')}{when}."
    )


def _verdict(judged: pd.DataFrame, size: tuple[int, int, int], by_chance: pd.DataFrame) -> str:
    """Count the words of the models that answer; of one, say how many questions are changed."""
    by_interval = verdicts.judge_shares(judged, "changed", BANDS)
    found = chance.withhold_word(by_interval, judged, by_chance, YES)
    if found != by_interval and not any(found):
        return chance.explain_withheld(by_chance)
    if len(judged) > 1:
        return verdicts.tally(found, units(judged))
    row = judged.iloc[0]
    _, wordings, orders = size
    several = " and ".join(what for what, number in (("wordings", wordings), ("orders", orders)) if number > 1)
    return (
        f"{found[0].capitalize() or verdicts.UNCLEAR}: {percent(row['changed'])} of the questions do not get one "
        f"choice in all {several}."
    )


def _most(speaking: pd.DataFrame) -> Iterator[str]:
    """Name the models with the highest and the lowest XParaCon; whether they differ is said with the differences."""
    known = speaking.dropna(subset=["xparacon"]).sort_values("xparacon", ascending=False, kind="stable")
    for row, which in zip((known.iloc[:1], known.iloc[-1:]), ("highest", "lowest"), strict=True):
        for _, own in row.iterrows():
            if which == "highest" or len(known) > 1:
                yield f"The {which} XParaCon is that of {own['label']}: {_number(own)}, with {_accuracy(own)}."


def _number(row: pd.Series) -> str:
    """Write XParaCon with its interval; one without an upper end as a lower bound."""
    said = f"{row['xparacon']:.2f}" if np.isfinite(row["xparacon"]) else "infinite"
    low, high = row["xparacon_lower"], row["xparacon_upper"]
    if pd.isna(low):
        return said
    return f"{said} (95 % interval {low:.2f} to {high:.2f})" if np.isfinite(high) else f"{said} (at least {low:.2f})"


def _accuracy(row: pd.Series) -> str:
    return f"{percent(row['accuracy'])} right answers"


def _infinite(speaking: pd.DataFrame) -> Iterator[str]:
    """Say of how many models no question varies, and what is known of them."""
    rows = speaking[np.isinf(speaking["xparacon"])]
    for _, row in rows.head(3).iterrows():
        yield (
            f"None of {count(int(row['n_questions']), 'question')} varies in accuracy over its wordings with "
            f"{row['label']}: XParaCon is {_number(row)}."
        )


def _kept(judged: pd.DataFrame) -> Iterator[str]:
    """Say how often a choice is kept in other words and in other orders: means over the models that answer."""
    means = judged[["same_in_wordings", "same_in_orders", "same_letter"]].mean()
    if pd.notna(means["same_in_wordings"]):
        yield (
            f"On average over {units(judged)}, {percent(means['same_in_wordings'])} of the questions shown in one "
            "order get one choice in all wordings."
        )
    if pd.notna(means["same_in_orders"]):
        yield (
            f"Of the questions in one wording, {percent(means['same_in_orders'])} get one choice in all orders on "
            f"average, and {percent(means['same_letter'])} one letter, whatever stands there."
        )
    gaps = judged[["order_minus_wording", "order_minus_wording_lower", "order_minus_wording_upper"]].dropna()
    if gaps.empty:
        return
    ends = [verdicts.wider(gap, low, high, len(judged)) for gap, low, high in gaps.itertuples(index=False, name=None)]
    sides = [verdicts.beyond(low, high, 0.0) for low, high in ends]
    yield (
        f"Another order turns a choice more often than another wording with {sides.count('more'):,} of "
        f"{units(judged)}, less often with {sides.count('less'):,}."
    )


def _preferences(letters: pd.DataFrame, orders: int) -> Iterator[str]:
    """Count the models that prefer a letter, by intervals widened for letters and models; name the largest."""
    rows = letters[(letters["right"] == "all") & (letters["letter"] != "none") & letters["preference_lower"].notna()]
    if rows.empty:
        return
    number = rows.groupby("label")["letter"].transform("nunique") * rows["label"].nunique()
    ends = [verdicts.wider(row["preference"], row["preference_lower"], row["preference_upper"], int(of))
            for (_, row), of in zip(rows.iterrows(), number, strict=True)]  # fmt: skip
    above = rows[[low > 0 for low, _ in ends]]
    units_of, many = rows.drop_duplicates(["study", "model", "condition"]), above["label"].nunique()
    yield (
        f"{many:,} of {units(units_of)} prefer{'s' * (many == 1)} a letter: its share lies above that for which it "
        "is right."
    )
    if len(above):
        row = above.loc[above["preference"].idxmax()]
        yield (
            f"The largest preference is that of {row['label']}: “{row['letter']}” is {percent(row['share'])} of its "
            f"answers, and right in {percent(row['is_right'])}."
        )
        if orders == 1:
            yield "Each choice stood at one letter only, so what it says may be preferred, not its letter."


def _of(rows: pd.DataFrame, speaking: pd.DataFrame, *sides: str) -> pd.DataFrame:
    """Keep rows over all questions whose models answer on both sides; the columns of a side are named by `sides`."""
    units_of = speaking[["study", "model", "condition", "subset", "label"]]
    for side in sides:
        names = {name: side.format(name) for name in ("model", "condition", "label")}
        rows = rows.merge(units_of.rename(columns=names), on=["study", "subset", *list(names.values())[:2]])
    return rows


def _differences(pairs: pd.DataFrame, speaking: pd.DataFrame, shared: bool) -> Iterator[str]:
    """Count for each measure the pairs of models that differ after Holm; over questions, so in these wordings."""
    here = " in these wordings" if shared else ""
    for measure, part in _of(pairs, speaking, "a_{}", "b_{}").groupby("measure", sort=False) if len(pairs) else ():
        known = part.dropna(subset=["p_holm"])
        if known.empty:
            continue
        if not decidable(known):
            yield f"{MEASURES[str(measure)].capitalize()}: {undecided(known)}"
            continue
        differ = int(verdicts.clear(known["p_holm"]).sum())
        yield f"In {_name(measure)}, {differ:,} of {count(len(known), 'pair')} of models differ{here} after Holm."


def _name(measure: object) -> str:
    return {"perfectly_correct": "perfectly correct wordings"}.get(str(measure), MEASURES[str(measure)])


def _changes(rows: pd.DataFrame) -> Iterator[str]:
    """Say what tuning and prompt change in accuracy and XParaCon over all questions: where test and interval show it.

    The test, after Holm, can be the sharper one where few questions differ; then both are said. Where one side does not
    answer, only the shares of answers that are a choice are said.
    """
    if rows.empty:
        return
    keys = ["study", "change", *(f"{name}_{side}" for side in SIDES for name in ("model", "condition"))]
    known = rows.drop_duplicates([*keys, "measure"])
    yield "Of the changes, 95 % intervals stand in brackets."
    for _, both in known.groupby(keys, sort=False):
        measures = {row["measure"]: row for row in both.to_dict("records")}
        row = measures["accuracy"]
        if silent(pd.Series([row["validity_before"], row["validity_after"]])).any():
            yield (
                f"{_step(row)}: not judged, since {percent(row['validity_before'])} of the answers before and "
                f"{percent(row['validity_after'])} after are a choice."
            )
            continue
        told = {name: measures[name] for name in ("accuracy", "xparacon") if pd.notna(measures[name]["difference"])}
        tested = [one for one in told.values() if verdicts.clear(pd.Series([one["p_holm"]])).iloc[0]]
        sure = [bool(verdicts.beyond(one["lower"], one["upper"], 0.0)) for one in tested]
        clear, doubted = ([_name(one["measure"]) for one, same in zip(tested, sure, strict=True) if same == wanted]
                          for wanted in (True, False))  # fmt: skip
        sizes = ", ".join(f"{_name(name)} {_size(one)}" for name, one in told.items())
        doubt = f" (in {listing(doubted)} the test finds one, the interval does not)" if doubted else ""
        found = f"{listing(clear)} {'differs' if len(clear) == 1 else 'differ'}" if clear else "no clear difference"
        yield f"{_step(row)}: {sizes}; {found} after Holm{doubt}."


def _size(row: Mapping[str, Any]) -> str:
    """Write a change with its interval: of accuracy in points."""
    accuracy = row["measure"] == "accuracy"
    write, unit = (points, " points") if accuracy else (lambda number: signed(number, 2), "")
    between = "" if pd.isna(row["lower"]) else f" ({write(row['lower'])} to {write(row['upper'])})"
    return f"{write(row['difference'])}{unit}{between}"


def _step(row: Mapping[str, Any]) -> str:
    """Name what was changed, and of which model under which condition."""
    before, after = (f"{row[f'model_{side}']} ({row[f'condition_{side}']})" for side in SIDES)
    if row["change"] == "tuning":
        return f"Tuning {row['model_before']} into {row['model_after']} ({row['condition_after']})"
    if row["change"] == "prompt":
        return f"From the base to the paraphrase-aware prompt with {after}"
    return f"Tuning and prompt together, {before} to {after}"
