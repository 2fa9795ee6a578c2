"""Write the sentences of the page on stability: what was asked, the answer on top, and what belongs to which figure.

Every number comes from a table of the report; only counts, smallest and largest values of its rows are found here.
"""

from __future__ import annotations

import pandas as pd

from analysis.pages.stability import wordings
from analysis.pages.stability.cautions import cautions, unread
from analysis.pages.stability.columns import threshold
from analysis.pages.stability.measures import headline
from analysis.reporting import chance, labels, verdicts, words
from analysis.reporting.catalogue import column
from analysis.reporting.choice import Choice, quoted
from analysis.reporting.columns import value
from analysis.reporting.thresholds import silent
from analysis.reporting.verdicts import Band
from analysis.reporting.words import Answer, count, listing, low_to_high, no_interval, percent, units
from analysis.statistics.multiplicity import ALPHA, decidable

TABLES = ("stability", "items", "differences", "excluded", "invalid", "alike", "flip_conventions")
FEW = 0.1  # share of items below which answers hardly change
BANDS = (Band("hardly", 0.0, FEW), Band("yes", FEW, 1.0))
MEANT = (
    f"“Yes” means that the whole 95 % interval of the share of items that flip lies above {percent(FEW)}, “hardly” "
    "that it lies below. Of several models, it is widened for their number (Holm)."
)
NOTHING = f"{verdicts.UNCLEAR}: no item has two usable answers to its paraphrases."
JUDGED = ("right", "wrong")  # the answers of logs that hold no more than that
LEAD = "95 % interval "  # said once, before the first interval


def answer(
    stability: pd.DataFrame,
    items: pd.DataFrame,
    differences: pd.DataFrame,
    excluded: pd.DataFrame,
    invalid: pd.DataFrame,
    alike: pd.DataFrame,
    flip_conventions: pd.DataFrame,
    choice: Choice,
    when: str = "",
    pairs: pd.DataFrame | None = None,
    beyond: str = "",
    by_chance: pd.DataFrame = chance.NOBODY,
    shared: bool = False,
) -> Answer:
    """Say whether the answer changes with the wording, by the rules of `verdicts`.

    Parameters
    ----------
    stability, items, differences, excluded, invalid, alike, flip_conventions
        The tables of these names; the first with both orders of the options as one row where they are one.
    choice
        The two answers.
    when
        From `words.when`.
    pairs
        The differences between rows of `stability` (`one_row.pairs`); the whole table unless given.
    beyond
        What of the differences between models is more than rewording (`reporting.beyond.sentence`).
    by_chance
        Whose answers chance alone may have changed (`reporting.chance.find_chance`).
    shared
        Whether items share their wordings (`reporting.beyond.shares_wordings`).

    Returns
    -------
    Answer
        What the page says in words.
    """
    flip = headline(stability)
    named = stability.assign(label=labels.series(stability))
    known = named.dropna(subset=[flip, "range_mean"])
    answering = known[~silent(known["validity"])]
    asked = _asked(stability, items, choice, when)
    doubts = (
        *chance.write_cautions(answering, by_chance),
        *cautions(stability, items, excluded, invalid, alike, flip_conventions, choice),
    )
    if silent(named["validity"]).all():
        verdict, why = words.do_not_answer(named["label"])
        return Answer(asked, verdict, cautions=(*why, *doubts))
    if answering.empty:
        return Answer(asked, NOTHING, cautions=doubts)
    details = {
        "overview": (MEANT, *_flips(answering, flip), *_moves(answering, choice)),
        "differences": (
            *_pairs(differences, differences if pairs is None else pairs, answering, flip, shared),
            *([beyond] if beyond else []),
        ),
    }
    return Answer(asked, _verdict(answering, flip, by_chance, of=known), cautions=doubts, details=details)


def answers(texts: pd.DataFrame, choice: Choice) -> str:
    """Say whether models write what their probabilities say.

    Parameters
    ----------
    texts
        Table `answers`, with a `label` per row.
    choice
        The two answers.

    Returns
    -------
    str
        The sentences.
    """
    known = texts.dropna(subset=["token_mismatch"])
    if known.empty:
        return f"None of the {count(int(texts['n_answers'].sum()), 'text')} could be read as an answer."
    return (
        f"Of the texts that choose an option, {_least_to_most(known, 'token_mismatch')} choose another one than the "
        f"most probable first token begins. {_least_to_most(known, 'option_mismatch')} of them choose another one "
        f"than the likeliest option. {_least_to_most(texts, 'text_invalid')} of all texts choose none."
        + "".join(f" {sentence}" for sentence in unread(texts, choice))
    )


def one_answer(pairs: pd.DataFrame) -> str:
    """Say for whom the two wordings furthest apart get the same answer: rows of table `divergent` with a `label`."""
    if pairs.empty:
        return ""
    return (
        f"The two wordings of an item that are furthest apart get the same answer from {listing(list(pairs['label']))}."
    )


def _least_to_most(frame: pd.DataFrame, figure: str) -> str:
    """Write the smallest and the largest share with their rows: "2 % (a) to 31 % (b)"."""
    low, high = frame.loc[frame[figure].idxmin()], frame.loc[frame[figure].idxmax()]
    if low[figure] == high[figure]:
        return percent(low[figure])
    return f"{percent(low[figure])} ({low['label']}) to {percent(high[figure])} ({high['label']})"


def _asked(stability: pd.DataFrame, items: pd.DataFrame, choice: Choice, when: str) -> str:
    models = stability["model"].nunique()
    who = f"{count(models, 'model')} {'was' if models == 1 else 'were'} asked"
    what = f"whether {'it agrees' if models == 1 else 'they agree'} with"
    if not choice.agrees:
        what = f"to choose between {quoted(choice.first)} and {quoted(choice.second)} on"
    if (choice.first, choice.second) == JUDGED:
        who, what = count(models, "model"), f"{'was' if models == 1 else 'were'} judged right or wrong on"
    sizes = wordings.per_item(items)
    original = bool(items["original_agreement"].notna().any())
    each = f"each in {low_to_high(sizes + original)} wordings"
    asked = items[["model", "condition"]].drop_duplicates()
    under = "" if asked["model"].is_unique else f" under {count(asked['condition'].nunique(), 'condition')}"
    studies = listing([f"“{name}”" for name in stability["study"].unique()])
    return f"{who} {what} {count(len(sizes), 'item')} of {studies}, {each}{under}{when}."


def _verdict(answering: pd.DataFrame, flip: str, by_chance: pd.DataFrame, of: pd.DataFrame) -> str:
    """Say how often "yes" and "hardly" hold for the whole interval; with one model, its share of items, too."""
    judged = verdicts.judge_shares(answering, flip, BANDS)
    found = chance.withhold_word(judged, answering, by_chance, "yes")
    if found != judged and not any(found):
        return chance.explain_withheld(by_chance)
    said = verdicts.tally(found, units(answering) + ("" if len(of) == len(answering) else " that answer"))
    if len(answering) > 1:
        if answering[f"{flip}_lower"].isna().any() and not any(found):
            return f"{verdicts.UNCLEAR}: some share of items that flip has no interval."
        wide = f": each interval of the share of items that flip, widened for their number, holds {percent(FEW)}"
        return said if any(found) else f"{verdicts.UNCLEAR}{wide}."
    row = answering.iloc[0]
    sure = _bracket(_interval(row, flip, "interval "))
    return f"{said[:-1]}: the answer flips on {percent(row[flip])} of the items{sure}."


def _interval(row: pd.Series, name: str, lead: str = LEAD) -> str:
    """Write the 95 % interval of a measure, or why there is none."""
    low, high = row[f"{name}_lower"], row[f"{name}_upper"]
    if pd.isna(low):
        return no_interval(row, name)
    if threshold(name) is not None:
        return f"{lead}{percent(low).removesuffix(' %')} to {percent(high)}"
    entry = column("stability", name)
    return f"{lead}{value(low, entry)} to {value(high, entry)}"


def _bracket(text: str) -> str:
    return f" ({text})" if text else ""


def _ends(known: pd.DataFrame, measure: str) -> tuple[pd.Series, pd.Series]:
    """Return the rows with the lowest and the highest value of a measure."""
    ordered = known.sort_values([measure, "label"], kind="stable")
    return ordered.iloc[0], ordered.iloc[-1]


def _flips(known: pd.DataFrame, flip: str) -> list[str]:
    """Say what a flip is, and on how many items the answer flips with the most and the least stable model."""
    limit = f"more than {threshold(flip):g} %"
    means = f"An item flips when {limit} of its wordings do not get the answer of the majority."
    low, high = _ends(known, flip)
    if len(known) == 1:
        return [means]
    if high[flip] == 0:
        top = known[f"{flip}_upper"].max()
        sure = "" if pd.isna(top) else f" (95 % intervals reach up to {percent(top)})"
        return [means, f"No item flips with any model{sure}."]
    if low[flip] == high[flip]:
        return [means, f"With every model, the answer flips on {percent(low[flip])} of the items."]
    return [
        means,
        f"The answer flips on {percent(low[flip])} of the items with {low['label']}{_bracket(_interval(low, flip))}.",
        f"It flips on {percent(high[flip])} with {high['label']}{_bracket(_interval(high, flip))}.",
    ]


def _moves(known: pd.DataFrame, choice: Choice) -> list[str]:
    """Say how far the two wordings of an item that differ most are apart, with the two ends of the models."""
    name = "range_mean"
    rows = _ends(known, name)[: 1 if len(known) == 1 else 2]
    first, *last = (
        f"{value(row[name], column('stability', name))} apart{'' if len(known) == 1 else f' with {row.label}'}"
        f"{_bracket(_interval(row, name))}"
        for row in rows
    )
    return [
        f"The two wordings of an item that differ most are on average {first}.",
        *(f"They are {text}." for text in last),
        f"These are distances in {choice.the_measure}, which lies between 0 and 1.",
    ]


def _between(differences: pd.DataFrame, chosen: pd.DataFrame) -> pd.DataFrame:
    """Choose the differences of which both sides are among some models and conditions."""
    wanted = pd.MultiIndex.from_frame(chosen[labels.UNIT])
    sides = (["study", f"{side}_model", f"{side}_condition"] for side in "ab")
    kept = [pd.MultiIndex.from_frame(differences[names]).isin(wanted) for names in sides]
    return differences[kept[0] & kept[1]]


def _pairs(
    differences: pd.DataFrame, between: pd.DataFrame, answering: pd.DataFrame, flip: str, shared: bool
) -> list[str]:
    """Count the pairs of models that differ in flips, after Holm over all pairs of the table `differences`.

    A wording that all items share moves the flips of all at once. A test over items cannot know that, so what it finds
    is said of these wordings only.
    """
    tested, shown = (rows[(rows["measure"] == flip) & rows["p_holm"].notna()] for rows in (differences, between))
    pairs = _between(shown, answering)
    if pairs.empty:
        return []
    if not any(decidable(family) for _, family in tested.groupby("study")):
        return [words.undecided(tested)]
    different = int(verdicts.clear(pairs["p_holm"]).sum())
    here = " in these wordings" if shared else ""
    limit = ["All items share these wordings: whether flips would differ in others is not tested."] if shared else []
    if len(pairs) == 1:
        found = "clearly" if different else "by no more than chance over items explains"
        return [f"Their shares of flips{here} differ {found} (exact sign test over items at {ALPHA:g}).", *limit]
    return [
        f"Of {len(pairs):,} pairs compared, {different:,} {'differs' if different == 1 else 'differ'} in flips{here} "
        f"(exact sign test over items at {ALPHA:g}, corrected after Holm over all pairs).",
        *limit,
    ]


def left_out(excluded: pd.DataFrame, invalid: pd.DataFrame, choice: Choice) -> str:
    """Say what was excluded, and how many.

    Parameters
    ----------
    excluded, invalid
        The tables of these names.
    choice
        The two answers.

    Returns
    -------
    str
        The sentences.
    """
    items = len(excluded.drop_duplicates(["study", "item"]))
    bad, failed, total = (int(invalid[name].sum()) for name in ("n_invalid", "n_error", "n_rows"))
    return (
        f"From range, SD and flips of the models concerned: {count(items, 'item')} with fewer than two paraphrases "
        f"that have a defined {choice.measure}. Of {count(total, 'response')}, {bad:,} hold no valid answer; "
        f"{count(failed, 'prompt')} failed."
    )
