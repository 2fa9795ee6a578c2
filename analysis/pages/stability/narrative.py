"""Write the sentences of the page on stability: the answer on top, and what weakens it.

Every number comes from a table of the report; only counts, smallest and largest values of its rows are found here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.pages.stability import wordings
from analysis.pages.stability.columns import threshold
from analysis.pages.stability.measures import headline
from analysis.reporting import labels, words
from analysis.reporting.catalogue import column
from analysis.reporting.columns import value
from analysis.reporting.thresholds import silent
from analysis.reporting.words import Answer, count, few_items, few_models, listing, low_to_high, no_interval, percent
from analysis.statistics.multiplicity import ALPHA, decidable

FEW_PARAPHRASES = 20
TABLES = ("stability", "items", "differences", "excluded", "invalid", "alike", "flip_conventions")
LEAD = "95 % interval "  # said once, before the first interval


def answer(
    stability: pd.DataFrame,
    items: pd.DataFrame,
    differences: pd.DataFrame,
    excluded: pd.DataFrame,
    invalid: pd.DataFrame,
    alike: pd.DataFrame,
    flip_conventions: pd.DataFrame,
    canonical: Sequence[str],
) -> Answer:
    """Say whether the answer changes with the wording.

    Parameters
    ----------
    stability, items, differences, excluded, invalid, alike, flip_conventions
        The tables of these names.
    canonical
        The labels of the two answers, "agree" first.
    """
    flip = headline(stability)
    named = stability.assign(label=labels.series(stability))
    known = named.dropna(subset=[flip, "range_mean"])
    answering = known[~silent(known["validity"])]
    asked = _asked(stability, items, canonical)
    cautions = (*_validity(stability), *wordings.uneven(items), *_bounded(invalid), *wordings.ties(items),
                *_one_sided(stability), *_excluded(excluded, items), *_invalid(invalid),
                *wordings.conventions(flip_conventions, flip), *wordings.alike(alike),
                *wordings.matched(items), *_few(stability, items))  # fmt: skip
    if silent(named["validity"]).all():
        return Answer(asked, *words.do_not_answer(named["label"]), cautions)
    if answering.empty:
        return Answer(asked, "These runs cannot say: no item has two usable answers to its paraphrases.", (), cautions)
    flips = _flips(answering, flip)
    sentences = (flips, _moves(answering, "" if LEAD in flips else LEAD), *_pairs(differences, answering, flip))
    return Answer(asked, _verdict(answering, flip), sentences, cautions)


def answers(texts: pd.DataFrame) -> str:
    """Say whether models write what their probabilities say: from table `answers`, with a `label` per row."""
    known = texts.dropna(subset=["token_mismatch"])
    if known.empty:
        return f"None of the {count(int(texts['n_answers'].sum()), 'text')} could be read as an answer."
    return (
        f"Of the texts that choose an option, {_least_to_most(known, 'token_mismatch')} choose another one than the "
        f"most probable first token begins. {_least_to_most(known, 'option_mismatch')} of them choose another one "
        f"than the likeliest option. {_least_to_most(texts, 'text_invalid')} of all texts choose none."
        + "".join(f" {sentence}" for sentence in _unread(texts))
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


def rows(stability: pd.DataFrame) -> str:
    """Say how many rows there are: models, or combinations of model and condition."""
    if stability["model"].is_unique:
        return count(len(stability), "model")
    return f"{len(stability):,} combinations of model and condition"


def _asked(stability: pd.DataFrame, items: pd.DataFrame, canonical: Sequence[str]) -> str:
    models = stability["model"].nunique()
    who = f"{count(models, 'model')} {'was' if models == 1 else 'were'} asked"
    choice = f"whether {'it agrees' if models == 1 else 'they agree'} with"
    if tuple(canonical) != ("agree", "disagree"):
        choice = f"to choose between “{canonical[0]}” and “{canonical[1]}” on"
    sizes = _wordings(items)
    original = bool(items["original_agreement"].notna().any())
    kind = "paraphrases" if original else "wordings"
    total = f" ({int(sizes.sum()):,} in all)" if len(sizes) > 1 else ""
    each = f"each in {'its original wording and ' if original else ''}{low_to_high(sizes)} {kind}{total}"
    conditions = stability["condition"].nunique()
    under = "" if stability["model"].is_unique else f", under {count(conditions, 'condition')}"
    studies = listing([f"“{name}”" for name in stability["study"].unique()])
    return f"{who} {choice} {count(len(sizes), 'item')} of {studies}, {each}{under}."


def _wordings(items: pd.DataFrame) -> pd.Series:
    """Return the number of paraphrases of every item that has some."""
    sizes = items.groupby(["study", "item"], sort=False)["n_variants"].max()
    return sizes[sizes > 0] if (sizes > 0).any() else sizes


def _verdict(known: pd.DataFrame, flip: str) -> str:
    moved = int((known[flip] > 0).sum())
    if moved == 0:
        return "Hardly."
    if moved == len(known):
        return "Yes." if moved == 1 else "Yes, all of them."
    return f"Yes, {moved} of {rows(known)}."


def _interval(row: pd.Series, name: str, lead: str = "") -> str:
    """Write the 95 % interval of a measure, or why there is none."""
    low, high = row[f"{name}_lower"], row[f"{name}_upper"]
    if pd.isna(low):
        return no_interval(row, name)
    if threshold(name) is not None:
        return f"{lead}{percent(low).removesuffix(' %')} to {percent(high)}"
    entry = column("stability", name)
    return f"{lead}{value(low, entry)} to {value(high, entry)}"


def _bracket(*parts: str) -> str:
    known = "; ".join(filter(None, parts))
    return f" ({known})" if known else ""


def _ends(known: pd.DataFrame, measure: str) -> tuple[pd.Series, pd.Series]:
    """Return the rows with the lowest and the highest value of a measure."""
    ordered = known.sort_values([measure, "label"], kind="stable")
    return ordered.iloc[0], ordered.iloc[-1]


def _flips(known: pd.DataFrame, flip: str) -> str:
    low, high = _ends(known, flip)
    limit = f"more than {threshold(flip):g} %"
    if high[flip] == 0:
        if len(known) == 1:
            sure = _bracket(_interval(high, flip, LEAD))
            return f"On no item does it give the other answer for {limit} of the wordings{sure}."
        top = known[f"{flip}_upper"].max()
        sure = "" if pd.isna(top) else f" (95 % intervals of this share reach up to {percent(top)})"
        return f"No model gives the other answer for {limit} of the wordings of any item{sure}."
    first = f"{percent(low[flip])} of the items"
    interval = _bracket(_interval(low, flip, LEAD))
    if len(known) == 1:
        return f"The answer flips, for {limit} of an item's wordings, on {first}{interval}."
    last = f"{percent(high[flip])} with {high['label']}{_bracket(_interval(high, flip, '' if interval else LEAD))}"
    return (
        f"The answer flips on {first} with {low['label']}{interval} and on {last}. An item flips when {limit} of its "
        "wordings do not get the answer of the majority."
    )


def _moves(known: pd.DataFrame, lead: str) -> str:
    name = "range_mean"
    low, high = _ends(known, name)
    moved = [value(row[name], column("stability", name)) for row in (low, high)]
    if len(known) == 1:
        by = f"{moved[0]}{_bracket(_interval(low, name, lead))}"
    else:
        first, last = _bracket(_interval(low, name, lead), low["label"]), _bracket(_interval(high, name), high["label"])
        by = f"{moved[0]}{first} to {moved[1]}{last}"
    return (
        f"The two wordings of an item that are furthest apart differ in agreement by {by} on average. Agreement lies "
        "between 0 and 1."
    )


def _between(differences: pd.DataFrame, units: pd.DataFrame) -> pd.DataFrame:
    """Choose the differences of which both sides are among some units."""
    key = ["study", "model", "condition"]
    wanted = pd.MultiIndex.from_frame(units[key])
    sides = (["study", f"{side}_model", f"{side}_condition"] for side in "ab")
    kept = [pd.MultiIndex.from_frame(differences[names]).isin(wanted) for names in sides]
    return differences[kept[0] & kept[1]]


def _pairs(differences: pd.DataFrame, answering: pd.DataFrame, flip: str) -> list[str]:
    """Count the pairs of models that differ in flips, after Holm over all pairs of the table."""
    tested = differences[(differences["measure"] == flip) & differences["p_holm"].notna()]
    pairs = _between(tested, answering)
    if pairs.empty:
        return []
    if not any(decidable(family) for _, family in tested.groupby("study")):
        return [words.undecided(tested)]
    clear = int((pairs["p_holm"] < ALPHA).sum())
    if len(pairs) == 1:
        found = "clearly" if clear else "by no more than chance over items explains"
        return [f"Their shares of flips differ {found} (exact sign test over items at {ALPHA:g})."]
    return [
        f"Of {len(pairs):,} pairs compared, {clear:,} differ in flips (exact sign test over items at {ALPHA:g}, "
        "corrected after Holm over all pairs)."
    ]


def _validity(stability: pd.DataFrame) -> list[str]:
    named = stability.assign(label=labels.series(stability))  # on an empty frame it would add rows instead
    low = named[named["low_mass"].astype(bool)]
    if low.empty:
        return []
    least = low.sort_values(["validity", "label"], kind="stable").iloc[0]
    of = f"{len(low)} of {rows(stability)}" if len(stability) > 1 else "the model"
    return [
        f"Low mass: for {of}, less than half of the probability (or of the texts read) is a valid answer. The "
        f"lowest is {value(least['validity'], column('stability', 'validity'))} ({least['label']}). Agreement computed "
        "from so little mass says little, so such models are not compared."
    ]


def _bounded(invalid: pd.DataFrame) -> list[str]:
    named = invalid.assign(label=labels.series(invalid))
    found = named[named["n_bounded"] > 0].sort_values(["mass_missing", "label"], ascending=[False, True], kind="stable")
    if found.empty:
        return []
    most = value(found["mass_missing"].iloc[0], column("invalid", "mass_missing"))
    return [
        f"Bounds: for {listing(found['label'].tolist())} a server showed the most probable tokens only. So masses are "
        "lower bounds, and agreement is computed from what was shown. "
        f"On average, up to {most} more of the probability may be on the answers."
    ]


def _one_sided(stability: pd.DataFrame) -> list[str]:
    named = stability.assign(label=labels.series(stability))
    named = named[~silent(named["validity"])]
    sentences = []
    for mark, verb in (("+", "agree"), ("-", "disagree")):
        names = sorted(named.loc[named["mark"] == mark, "label"])
        if names:
            ending = "s" if len(names) == 1 else ""
            sentences.append(
                f"{listing(names)} {verb}{ending} with every item on average: stable, but always the same answer."
            )
    return sentences


def _excluded(excluded: pd.DataFrame, items: pd.DataFrame) -> list[str]:
    if excluded.empty:
        return []
    left = len(excluded.drop_duplicates(["study", "item"]))
    total = len(items.drop_duplicates(["study", "item"]))
    reasons = excluded["reason"].value_counts()
    why = f": {', '.join(reasons.index)}" if len(reasons) <= 2 else ""
    some = (
        ""
        if len(excluded) % left == 0 and excluded.groupby(["study", "item"]).size().nunique() == 1
        else " for some models"
    )
    return [f"{left:,} of {count(max(total, left), 'item')} {'is' if left == 1 else 'are'} left out{some}{why}."]


def _invalid(invalid: pd.DataFrame) -> list[str]:
    sentences = []
    bad, total = int(invalid["n_invalid"].sum()), int(invalid["n_rows"].sum())
    if bad:
        worst = invalid.assign(label=labels.series(invalid)).sort_values("share", kind="stable").iloc[-1]
        most = f", most from {worst['label']} ({percent(worst['share'])})" if len(invalid) > 1 else ""
        sentences.append(f"{bad:,} of {count(total, 'response')} ({percent(bad / total)}) hold no valid answer{most}.")
    sentences += _unread(invalid.assign(label=labels.series(invalid)))
    failed = int(invalid["n_error"].sum())
    if failed:
        sentences.append(f"{count(failed, 'prompt')} failed and {'has' if failed == 1 else 'have'} no response.")
    return sentences


def _unread(written: pd.DataFrame) -> list[str]:
    """Say what the written answers that could not be read leave open, for the model that they leave most open."""
    open_ = (written["most_agreement"] - written["least_agreement"]).dropna()
    if not (open_ > 0).any():
        return []
    row = written.loc[open_.idxmax()]
    low, high = percent(row["least_agreement"]), percent(row["most_agreement"])
    read = "" if pd.isna(row["read_agreement"]) else f" ({percent(row['read_agreement'])} of those read)"
    return [f"Unread answers leave most open for {row['label']}: its agreement{read} lies between {low} and {high}."]


def _few(stability: pd.DataFrame, items: pd.DataFrame) -> list[str]:
    sizes = _wordings(items)
    own = stability["n_items"].set_axis(labels.series(stability))
    sentences = [*few_models(stability["model"].nunique()), *few_items(own)]
    typical = int(np.median(sizes))
    if 0 < typical < FEW_PARAPHRASES:
        sentences.append(
            f"Only {count(typical, 'wording')} per item: a single one is {percent(1 / typical)} of them, and ranges "
            "grow with the number of wordings."
        )
    return sentences


def left_out(excluded: pd.DataFrame, invalid: pd.DataFrame) -> str:
    """Say in two sentences what was excluded, and how many."""
    items = len(excluded.drop_duplicates(["study", "item"]))
    bad, failed, total = (int(invalid[name].sum()) for name in ("n_invalid", "n_error", "n_rows"))
    return (
        f"From range, SD and flips of the models concerned: {count(items, 'item')} with fewer than two paraphrases "
        f"that have a defined agreement. Of {count(total, 'response')}, {bad:,} hold no valid answer; "
        f"{count(failed, 'prompt')} failed."
    )
