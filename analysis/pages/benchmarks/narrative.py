"""Write the sentences of the page on benchmarks, from its tables: what correlates with the measures, and doubts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from analysis.pages.benchmarks.cautions import ALL, cautions, compared, external
from analysis.reporting import verdicts, words
from analysis.reporting.words import Answer, count, listing, signed
from analysis.statistics.correlation import LEAST

SIZE, ACCURACY, GIVEN_SIZE = "parameters", "accuracy", " given size"  # as in the tables
TABLES = ("benchmarks", "benchmark_matrix", "benchmark_names", "measures_by_model", "measure_sources")
CORRECTED = "after correction within each method"
OVER_ALL = "after correction over all methods"


def answer(frames: Mapping[str, pd.DataFrame], when: str = "") -> Answer:
    """Say what the measures of the models correlate with, by the rules of `verdicts`.

    Parameters
    ----------
    frames
        The tables named in `TABLES`.
    when
        From `words.when`.

    Returns
    -------
    Answer
        What the page says in words.
    """
    table, doubts = frames["benchmarks"], tuple(cautions(frames))
    asked = _asked(frames, when)
    unheard = compared(frames).groupby("model", sort=False)["silent"].all()
    if len(unheard) and unheard.all():
        verdict, why = words.do_not_answer(list(unheard.index))
        return Answer(asked, verdict, cautions=(*why, *doubts))
    known = table.dropna(subset=["r"]) if len(table) else table.assign(clear=False)
    if known.empty:
        return Answer(asked, _unknown(frames), cautions=doubts, details=_together(frames))
    known = known.assign(clear=_clear(known))
    details = {
        "size_measures": tuple(_size(known)),
        "accuracy_measures": tuple(_accuracy(known)),
        "benchmarks": (*_largest(known), *_partial(known)),
    }
    verdict = _verdict(mark_clear(known[known["headline"].astype(bool)]))
    return Answer(asked, verdict, cautions=doubts, details=details | _together(frames))


def _asked(frames: Mapping[str, pd.DataFrame], when: str) -> str:
    values = compared(frames)
    sources = frames["measure_sources"]
    models, studies = values["model"].nunique(), sources[~sources["study"].isin(["", ALL])]
    number = int(sources.loc[sources["left_out"] == "", "n_measures"].sum())
    known = set(frames["benchmarks"]["benchmark"])
    others = [_spoken(name) for name in (SIZE, ACCURACY) if name in known]
    others += [count(len(external(frames)), "benchmark")] if external(frames) else []
    return (
        f"{count(models, 'model')} {'was' if models == 1 else 'were'} asked in "
        f"{count(studies['study'].nunique(), 'study', 'studies')}{when}; {count(number, 'measure')} of their answers "
        f"{'was' if number == 1 else 'were'} compared with {listing(others) or 'each other'}."
    )


def mark_clear(known: pd.DataFrame) -> pd.DataFrame:
    """Mark the coefficients that may be named in a verdict: clear ones, corrected for the number of methods, too.

    `p_holm` is corrected within each method; a verdict that counts over four methods has four chances to be wrong.
    """
    return known.assign(clear=_clear(known.assign(p_holm=known["p_holm"] * known["method"].nunique())))


def _clear(known: pd.DataFrame) -> pd.Series:
    """Tell which coefficients differ from 0 after Holm, and have an interval that says the same."""
    sides = [verdicts.beyond(low, high, 0) for low, high in zip(known["lower"], known["upper"], strict=True)]
    return verdicts.clear(known["p_holm"]) & (pd.Series(sides, known.index) != "")


def _unknown(frames: Mapping[str, pd.DataFrame]) -> str:
    """Say why no coefficient is known: too few models that answer, or nothing to compare their measures with."""
    numbers = frames["measure_sources"]["n_models"].dropna()
    if numbers.empty:
        return f"{verdicts.UNCLEAR}: no page has a measure of these models."
    most = int(numbers.max())
    if most < LEAST:
        asked = f"{count(most, 'model')} asked in the same way answered"
        return f"{verdicts.UNCLEAR}: at most {asked}, and a correlation needs {LEAST}."
    names = frames["benchmark_names"]
    scored = "no benchmark is known of" if (names["side"] == "scores").any() else "no scores were given for"
    return f"{verdicts.UNCLEAR}: neither size nor accuracy is known of {LEAST} models, and {scored} them."


def _verdict(known: pd.DataFrame) -> str:
    """Name what the headline measures correlate with, where a coefficient is clear."""
    if known.empty:
        return f"{verdicts.UNCLEAR}: no headline measure is known of {LEAST} models asked in the same way."
    of = count(len(known), "correlation")
    found = known[known["clear"]]
    if found.empty:
        which = f"none of {of}" if len(known) > 1 else "the one correlation"
        verb = "differs from 0" if len(known) > 1 else "does not differ from 0"
        return f"These runs show nothing: {which} of headline measures {verb} {OVER_ALL}."
    largest = found.loc[found["r"].abs().idxmax()]
    others = len(found.drop_duplicates(["page", "study", "measure", "benchmark"])) > 1
    named = f"{largest['measure']} with {_spoken(largest['benchmark'])}{' and others' if others else ''}"
    verb = "differs" if len(found) == 1 else "differ"
    plain = f"{len(found):,} of {of} of headline measures {verb} from 0 {OVER_ALL}"
    return f"{named}: {plain}."


def _differ(rows: pd.DataFrame) -> str:
    clear = int(rows["clear"].sum())
    return f"{clear:,} differs" if clear == 1 else f"{clear:,} differ"


def _spoken(name: str) -> str:
    return {SIZE: "size", ACCURACY: ACCURACY}.get(name, f"“{name}”")


def _coefficient(row: pd.Series) -> str:
    ends = "" if pd.isna(row["lower"]) else f"95 % interval {signed(row['lower'], 2)} to {signed(row['upper'], 2)}, "
    return f"{signed(row['r'], 2)} ({ends}{row['n']} models)"


def _largest(known: pd.DataFrame) -> Iterator[str]:
    yield f"Of {count(len(known), 'coefficient')} in this table, {_differ(known)} from 0 {CORRECTED} (Holm)."
    shown = known[known["method"] == "spearman"]
    if len(shown):
        row = shown.loc[shown["r"].abs().idxmax()]
        named = f"{row['measure']} with {_spoken(row['benchmark'])} ({row['study']}, {row['condition']})"
        yield f"The largest rank correlation is that of {named}: {_coefficient(row)}."


def _size(known: pd.DataFrame) -> Iterator[str]:
    rows = known[(known["benchmark"] == SIZE) & (known["method"] == "spearman") & known["headline"].astype(bool)]
    for _, row in rows.sort_values("r", key=abs, ascending=False, kind="stable").head(3).iterrows():
        yield f"Rank correlation of {row['measure']} and size ({row['study']}): {_coefficient(row)}."
    if len(rows):
        yield f"Of {count(len(rows), 'such coefficient')}, {_differ(rows)} from 0 {CORRECTED}."


def _accuracy(known: pd.DataFrame) -> Iterator[str]:
    rows = known[(known["benchmark"] == ACCURACY) & (known["method"] == "pearson") & known["headline"].astype(bool)]
    for _, row in rows.head(4).iterrows():
        yield f"Pearson correlation of {row['measure']} with the accuracy on the same items: {_coefficient(row)}."
    if len(rows):
        yield f"Of {count(len(rows), 'such coefficient')}, {_differ(rows)} from 0 {CORRECTED}."


def _partial(known: pd.DataFrame) -> Iterator[str]:
    key = ["page", "study", "measure", "benchmark"]
    plain = known[(known["method"] == "spearman") & known["clear"]]
    given = known[known["method"] == "spearman" + GIVEN_SIZE]
    both = plain.merge(given, on=key, suffixes=("", "_given"))
    if len(both):
        kept = int(both["clear_given"].sum())
        yield f"Given size, {kept} of {len(both)} clear rank correlations with benchmarks or accuracy remain."


def _together(frames: Mapping[str, pd.DataFrame]) -> dict[str, tuple[str, ...]]:
    """Say how many pairs of headline measures, size and benchmarks go together, for the figure of all of them."""
    table = frames["benchmark_matrix"]
    known = table[table["method"] == "spearman"].dropna(subset=["r"]) if len(table) else table
    if known.empty:
        return {}
    perfect = verdicts.clear(known["p_holm"]) & (known["r"].abs() == 1)  # which has no interval
    known = known.assign(clear=_clear(known) | perfect)
    said = f"Of {count(len(known), 'rank correlation')} between these measures, {_differ(known)} from 0 {CORRECTED}."
    found = known[known["clear"]]
    if found.empty:
        return {"coefficients": (said,)}
    row = found.loc[found["r"].abs().idxmax()]
    names = " and ".join("size" if row[name] == SIZE else row[name] for name in ("measure_a", "measure_b"))
    return {"coefficients": (said, f"The largest is that of {names}: {_coefficient(row)}.")}
