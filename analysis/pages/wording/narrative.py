"""Write the sentences of the page on wording, from its tables: the answer, and what weakens it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from analysis.pages.wording.cells import PATTERNS, UNIT, spoken, validity
from analysis.reporting import labels
from analysis.reporting.thresholds import silent
from analysis.reporting.words import (
    Answer,
    count,
    do_not_answer,
    few_items,
    few_models,
    listing,
    percent,
    points,
    undecided,
)
from analysis.runs.folder import ORIGINAL
from analysis.statistics.multiplicity import ALPHA, decidable

NEARLY, MOSTLY = 0.95, 0.8
HOLM = f"over items, at {ALPHA:g} after Holm"
WORDS = {"synonym": "synonyms", "antonym": "antonyms", "agreement": "agreement-seeking wording",
         "strong_agreement": "strong agreement-seeking wording"}  # fmt: skip
TABLES = ("consistency", "patterns", "conventions", "shots", "stages", "shifts")


def answer(frames: Mapping[str, pd.DataFrame]) -> Answer:
    """Say whether the models give the same answer in other words.

    Parameters
    ----------
    frames
        The tables named in `TABLES`.
    """
    whole, means = frames["consistency"], frames["patterns"].dropna(subset=["consistency"])
    asked, cautions = _asked(whole), tuple(_cautions(frames))
    table = whole[~silent(validity(whole))]
    if table.empty and len(whole):
        return Answer(asked, *do_not_answer(list(labels.series(whole).unique())), cautions)
    if means.empty:
        return Answer(asked, "These runs cannot say: there are no valid answers to compare.", (), cautions)
    several = means["language"].nunique() > 1
    sentences = [
        sentence
        for language, part in means.groupby("language", sort=False)
        for sentence in _language(str(language), part, table, several)
    ]
    sentences += [*_band(frames["shifts"], table), *_shots(frames["shots"]), *_stages(frames["stages"])]
    return Answer(asked, _verdict(means), tuple(sentences), cautions)


def _asked(table: pd.DataFrame) -> str:
    models = table["model"].nunique()
    asked = table[["language", "task"]].drop_duplicates().itertuples(index=False, name=None)
    whats = [f"“{task}”{f' in {spoken(language)}' if language else ''}" for language, task in asked]
    items = int(table[table["pattern"] == ORIGINAL].drop_duplicates(["study", "language", "task"])["n_items"].sum())
    patterns = [WORDS[pattern] for pattern in PATTERNS if (table["pattern"] == pattern).any()]
    return (
        f"{count(models, 'model')} {'was' if models == 1 else 'were'} asked {count(items, 'yes/no question')} of "
        f"{listing(whats, 4)}. Each was asked as it stands and reworded ({listing(patterns, 4)}), under "
        f"{count(table['condition'].nunique(), 'condition')}."
    )


def _verdict(means: pd.DataFrame) -> str:
    lowest = means["consistency"].min()
    if lowest >= NEARLY:
        return "Yes, nearly always."
    return "Mostly." if lowest >= MOSTLY else "Not reliably."


def _language(language: str, means: pd.DataFrame, table: pd.DataFrame, several: bool) -> Iterator[str]:
    where = f"In {spoken(language)}, the" if several and language else "The"
    order = means.sort_values("consistency", kind="stable")
    low, high = order.iloc[0], order.iloc[-1]
    yield (
        f"{where} answer stays the same for "
        f"{percent(low['consistency'], 1)}{_shares(low, 'consistency', '95 % interval ')} "
        f"of the questions under {WORDS[low['pattern']]}"
        + (
            f" and for {percent(high['consistency'], 1)}{_shares(high, 'consistency')} under {WORDS[high['pattern']]}."
            if len(order) > 1
            else "."
        )
    )
    rows = means.set_index("pattern")
    told = table[table["language"] == language]
    pulls = [f"{WORDS[name]} by {points(rows.at[name, 'diff_yes'])} points{_points(rows.loc[name], 'diff_yes')}"
             for name in ("agreement", "strong_agreement") if name in rows.index]  # fmt: skip
    if pulls:
        yield f"The share of “Yes” changes with {' and with '.join(pulls)}{_most(told, 'agreement', 'diff_yes')}."
    if "antonym" in rows.index:
        row = rows.loc["antonym"]
        yield (
            f"With antonyms, which ask for the opposite answer, {percent(1 - row['consistency'], 1)} of the answers "
            f"contradict the first. {_excess(row)}"
        )


def _excess(row: pd.Series) -> str:
    """Say whether “Yes” is more or less frequent than from consistent answers: only if the interval says so."""
    clear = row["excess_yes_lower"] > 0 or row["excess_yes_upper"] < 0
    which = ("more" if row["excess_yes"] > 0 else "less") if clear else "not clearly more or less"
    return (
        f"“Yes” is then {which} frequent than it should be: the difference is {points(row['excess_yes'])} points"
        f"{_points(row, 'excess_yes')}."
    )


def _shares(row: pd.Series, name: str, lead: str = "") -> str:
    low, high = row[f"{name}_lower"], row[f"{name}_upper"]
    return "" if pd.isna(low) else f" ({lead}{100 * low:.1f} to {percent(high, 1)})"


def _points(row: pd.Series, name: str) -> str:
    low, high = row[f"{name}_lower"], row[f"{name}_upper"]
    return "" if pd.isna(low) else f" ({points(low)} to {points(high)})"


def _most(table: pd.DataFrame, pattern: str, measure: str) -> str:
    """Name the model and task that a pattern moves most, where there are several."""
    rows = table[table["pattern"] == pattern].dropna(subset=[measure])
    if len(rows) < 2:
        return ""
    rows = rows.assign(label=labels.series(rows))
    row = rows.loc[rows[measure].abs().idxmax()]
    task = f" on “{row['task']}”" if rows["task"].nunique() > 1 else ""
    return f". {WORDS[pattern].capitalize()} moves {row['label']}{task} most, by {points(row[measure])} points"


def _band(shifts: pd.DataFrame, answering: pd.DataFrame) -> Iterator[str]:
    """Say where agreement-seeking wording moves answers more, over the models that answer."""
    tested = shifts[(shifts["pattern"] == "agreement") & shifts["band_p_holm"].notna()]
    rows = tested.merge(answering[UNIT])
    if rows.empty:
        return
    if not decidable(tested):
        yield undecided(tested)
        return
    clear = rows["band_p_holm"] < ALPHA
    larger, smaller = (int((clear & (sign * rows["band_difference"] > 0)).sum()) for sign in (1, -1))
    yield (
        f"Agreement-seeking wording shifts p(Yes) by {points(rows['shift_band'].mean())} points on average where it "
        f"was between 0.2 and 0.8, and by {points(rows['shift_outside'].mean())} elsewhere. In this band it shifts "
        f"clearly more in {larger} of {count(len(rows), 'comparison')}, clearly less in {smaller} (bootstrap {HOLM})."
    )


def _shots(shots: pd.DataFrame) -> Iterator[str]:
    rows = shots[(shots["measure"] == "consistency") & (shots["model"] != "")]
    if len(rows):
        yield f"Exemplars change Consistency by {_clear(rows)}."


def _stages(stages: pd.DataFrame) -> Iterator[str]:
    rows = stages[stages["measure"] == "consistency"]
    if len(rows):
        yield f"Tuned models differ in Consistency from base models of their series by {_clear(rows)}."


def _clear(rows: pd.DataFrame) -> str:
    clear = rows["p_holm"] < ALPHA
    up, down = (int((clear & (sign * rows["difference"] > 0)).sum()) for sign in (1, -1))
    if rows["p_holm"].notna().any() and not decidable(rows):
        return f"{points(rows['difference'].mean())} points on average. {undecided(rows).removesuffix('.')}"
    return (
        f"{points(rows['difference'].mean())} points on average. It is clearly up in {up} and clearly down in {down} "
        f"of {count(len(rows), 'comparison')} (sign test, or bootstrap, {HOLM})"
    )


def _cautions(frames: Mapping[str, pd.DataFrame]) -> Iterator[str]:
    table = frames["consistency"]
    reworded = table[table["pattern"] != ORIGINAL]
    yield from _invalid(table, frames["conventions"])
    yield from _one_sided(table[~silent(validity(table))])
    if reworded["accuracy"].isna().all() and reworded["consistency"].notna().any():
        yield "No right answers are known: accuracy and Overall are undefined."
    own = reworded[["n", "n_items"]].min(axis=1).set_axis(labels.series(reworded))
    yield from few_items(own, " in a cell", "intervals are wide, and that of Overall tends to be too narrow")
    yield from few_models(table["model"].nunique())


def _invalid(table: pd.DataFrame, conventions: pd.DataFrame) -> Iterator[str]:
    """Name the models with no or few valid answers, and what both ways to treat invalid answers give."""
    cell = ["language", "task"]
    for (language, task), part in table.groupby(cell, sort=False):
        none = part.groupby(["model", "condition"], sort=False)["n"].sum() == 0
        valid = validity(part).groupby([part["model"], part["condition"]], sort=False).first()
        empty = none & (valid == 0) if len(none) else none
        where = f"“{task}”{f' in {spoken(language)}' if language else ''}"
        if none.all():
            yield f"No valid answers to {where} from any model: nothing is measured there."
        elif empty.any():
            yield f"No valid answers to {where} from {_units(none.index[empty], part)}."
        low = silent(valid) & ~none
        if low.any():
            yield (
                f"Less than half of the answers to {where} are valid for {_units(low.index[low], part)}. The "
                f"lowest share is {percent(valid[low].min(), 1)}. What the other answers would have been is not "
                "known, so these are not compared."
            )
    known = conventions[(conventions["pattern"] != ORIGINAL) & (conventions["n_pairs"] > 0)]
    if len(known):
        lost = int((conventions["n"] - conventions["n_pairs"])[conventions["pattern"] != ORIGINAL].sum())
        yield (
            f"{count(lost, 'pair')} {'has' if lost == 1 else 'have'} an invalid answer. Where some answers are valid, "
            f"mean Consistency is {percent(known['consistency_dropped'].mean(), 1)} without these pairs. It is "
            f"{percent(known['consistency_inconsistent'].mean(), 1)} where they count as inconsistent "
            f"(-p invalid=inconsistent). It would be {percent(known['consistency_most'].mean(), 1)} if all of them "
            f"were consistent. The share of “Yes” lies between {percent(known['yes_inconsistent'].mean(), 1)} and "
            f"{percent(known['yes_most'].mean(), 1)}, whatever the invalid answers say."
        )


def _units(index: pd.MultiIndex | Sequence[tuple[str, str]], part: pd.DataFrame) -> str:
    names = part[["model", "condition"]].drop_duplicates()
    named = dict(zip(names.itertuples(index=False, name=None), labels.series(names), strict=True))
    return listing([named[unit] for unit in index])


def _one_sided(table: pd.DataFrame) -> Iterator[str]:
    """Name the models that always say the same, antonyms included: their consistency elsewhere says nothing."""
    known = table[table["n"] > 0]
    spans = known.groupby(["study", "model", "condition"], sort=False)["yes"].agg(["min", "max"]).reset_index()
    spans = spans.assign(label=labels.series(spans)) if len(spans) else spans.assign(label="")
    for word, rows in (("Yes", spans[spans["min"] > NEARLY]), ("No", spans[spans["max"] < 1 - NEARLY])):
        if len(rows):
            yield (
                f"{listing(list(rows['label']))} {'says' if len(rows) == 1 else 'say'} “{word}” to nearly everything, "
                "antonyms included: consistent under the other patterns without any understanding."
            )
