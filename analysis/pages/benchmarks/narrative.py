"""Write the sentences of the page on benchmarks, from its tables: what correlates with consistency, and doubts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from analysis.pages.benchmarks.repeated import told
from analysis.pages.benchmarks.tables import ACCURACY, GIVEN_SIZE, SIZE, label
from analysis.pages.wording.cells import spoken
from analysis.pages.wording.tables import ALL
from analysis.reporting import verdicts, words
from analysis.reporting.words import Answer, count, listing, signed
from analysis.statistics.correlation import FEW, LEAST

CONSISTENCY = "consistency"
NAMED = 5  # unmatched models that a sentence names
TABLES = ("benchmarks", "benchmark_names", "measures_by_model")
CORRECTED = "after correction for their number"


def answer(frames: Mapping[str, pd.DataFrame], when: str = "") -> Answer:
    """Say what correlates with consistency over models, by the rules of `verdicts`.

    Parameters
    ----------
    frames
        The tables named in `TABLES`.
    when
        From `words.when`.
    """
    table, cautions = frames["benchmarks"], tuple(_cautions(frames))
    asked = _asked(frames, when)
    unheard = frames["measures_by_model"].groupby("model", sort=False)["silent"].all()
    if unheard.all():
        verdict, why = words.do_not_answer(list(unheard.index))
        return Answer(asked, verdict, cautions=(*why, *cautions))
    known = table.dropna(subset=["r"])
    if known.empty:
        verdict = f"{verdicts.UNCLEAR}: no measure is known for {LEAST} models asked in the same way."
        return Answer(asked, verdict, cautions=cautions)
    known = known.assign(clear=_clear(known))
    details = {
        "size_overall": tuple(_size(known)),
        "accuracy_consistency": tuple(_accuracy(known)),
        "benchmarks": (*_largest(known), *_partial(known)),
    }
    return Answer(asked, _verdict(known[known["measure"] == CONSISTENCY]), cautions=cautions, details=details)


def _asked(frames: Mapping[str, pd.DataFrame], when: str) -> str:
    values, table = frames["measures_by_model"], frames["benchmarks"]
    external = [name for name in table["benchmark"].unique() if name not in (SIZE, ACCURACY)]
    scores = f", accuracy and {count(len(external), 'benchmark')}" if external else " and accuracy"
    models = values["model"].nunique()
    return (
        f"{count(models, 'model')} {'was' if models == 1 else 'were'} asked yes/no questions in other words{when}, and "
        f"how consistent they are was compared with size{scores}."
    )


def _clear(known: pd.DataFrame) -> pd.Series:
    """Tell which coefficients differ from 0 after Holm, and have an interval that says the same."""
    sides = [verdicts.beyond(low, high, 0) for low, high in zip(known["lower"], known["upper"], strict=True)]
    return verdicts.clear(known["p_holm"]) & (pd.Series(sides, known.index) != "")


def _verdict(known: pd.DataFrame) -> str:
    """Name what Consistency correlates with, where a coefficient is clear."""
    if known.empty:
        return f"{verdicts.UNCLEAR}: Consistency is not known for {LEAST} models asked in the same way."
    of = count(len(known), "correlation")
    found = known[known["clear"]]
    if found.empty:
        which = f"none of {of}" if len(known) > 1 else "the one correlation"
        verb = "differs from 0" if len(known) > 1 else "does not differ from 0"
        return f"These runs show nothing: {which} with Consistency {verb} {CORRECTED}."
    names = listing([_spoken(name) for name in found["benchmark"].unique()])
    plain = f"{len(found):,} of {of} with Consistency {'differs' if len(found) == 1 else 'differ'}"
    return f"{names[0].upper()}{names[1:]}: {plain} from 0 {CORRECTED}."


def _differ(rows: pd.DataFrame) -> str:
    clear = int(rows["clear"].sum())
    return f"{clear:,} differs" if clear == 1 else f"{clear:,} differ"


def _spoken(name: str) -> str:
    return "size" if name == SIZE else name


def _named(row: pd.Series) -> str:
    task = row["task"] if row["task"] != ALL else "all tasks"
    where = [task, *([spoken(row["language"])] if row["language"] else []), row["condition"]]
    measure = label(row["measure"], row["pattern"])
    return f"{measure[0].upper()}{measure[1:]} with {_spoken(row['benchmark'])} ({', '.join(where)})"


def _coefficient(row: pd.Series) -> str:
    ends = "" if pd.isna(row["lower"]) else f"95 % interval {signed(row['lower'], 2)} to {signed(row['upper'], 2)}, "
    return f"{signed(row['r'], 2)} ({ends}{row['n']} models)"


def _largest(known: pd.DataFrame) -> Iterator[str]:
    yield f"Of {count(len(known), 'coefficient')} in this table, {_differ(known)} from 0 {CORRECTED} (Holm, by method)."
    shown = known[known["method"] == "spearman"]
    if len(shown):
        row = shown.loc[shown["r"].abs().idxmax()]
        yield f"The largest rank correlation is that of {_named(row)}: {_coefficient(row)}."


def _size(known: pd.DataFrame) -> Iterator[str]:
    rows = known[(known["benchmark"] == SIZE) & (known["method"] == "spearman") & (known["measure"] == "overall")]
    whole = rows[rows["task"] == ALL]
    for _, row in whole.head(3).iterrows():
        where = f"{spoken(row['language'])}, " if row["language"] else ""
        yield f"Rank correlation of Overall and size ({where}{row['condition']}): {_coefficient(row)}."


def _accuracy(known: pd.DataFrame) -> Iterator[str]:
    rows = known[(known["benchmark"] == ACCURACY) & (known["method"] == "pearson") & (known["measure"] == CONSISTENCY)]
    if len(rows):
        mean = rows.groupby("pattern", sort=False)["r"].mean()
        yield (
            "Pearson correlation of Consistency and accuracy before rewording, mean over tasks and conditions: "
            + ", ".join(f"{signed(r, 2)} ({pattern.replace('_', ' ')})" for pattern, r in mean.items())
            + "."
        )
        yield f"Of these {count(len(rows), 'coefficient')}, {_differ(rows)} from 0 {CORRECTED}."


def _partial(known: pd.DataFrame) -> Iterator[str]:
    key = ["study", "language", "task", "condition", "measure", "pattern", "benchmark"]
    plain = known[(known["method"] == "spearman") & known["clear"]]
    given = known[known["method"] == "spearman" + GIVEN_SIZE]
    both = plain.merge(given, on=key, suffixes=("", "_given"))
    if len(both):
        kept = int(both["clear_given"].sum())
        yield f"Given size, {kept} of {len(both)} clear rank correlations with benchmarks or accuracy remain."


def _cautions(frames: Mapping[str, pd.DataFrame]) -> Iterator[str]:
    table, names = frames["benchmarks"], frames["benchmark_names"]
    refused = int(table["caution"].str.startswith("refused").sum())
    few = int(table["caution"].str.startswith("few").sum())
    if refused:
        yield f"{count(refused, 'coefficient')} refused: fewer than {LEAST} models have both values."
    if few:
        yield f"{count(few, 'coefficient')} rest on fewer than {FEW} models, where chance alone makes large ones."
    if said := told(table):
        yield said.strip()
    external = set(table["benchmark"]) - {SIZE, ACCURACY}
    if not external:
        yield "No scores of benchmarks were given: only size and accuracy were compared (-p scores=FILE)."
    lost = names[(names["side"] == "runs") & (names["matched"] == "")]
    if external and len(lost):
        near = [
            f"{row['model']} (nearest: {row['nearest']})" if row["nearest"] else row["model"]
            for _, row in lost.iterrows()
        ]
        yield f"{count(len(lost), 'model')} without scores: {listing(near, NAMED)}."
        yield "A file of aliases can match a model with its name in the scores."
    sizes = frames["measures_by_model"].groupby("model")["parameters"].first()
    if sizes.isna().any():
        yield f"Size unknown for {listing(list(sizes.index[sizes.isna()]), NAMED)}."
    unheard = frames["measures_by_model"].groupby("model")["silent"].any()
    if unheard.any():
        yield (
            f"{listing(list(unheard.index[unheard]), NAMED)}: left out where less than half of the answers are valid. "
            "Their points are marked in the figures."
        )
    yield (
        "Correlations over models tell what varies together, not what causes what. Models of one series are not "
        "independent of each other."
    )
