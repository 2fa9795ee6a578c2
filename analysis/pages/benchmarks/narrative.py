"""Write the sentences of the page on benchmarks, from its tables: what correlates with consistency, and doubts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from analysis.pages.benchmarks.repeated import told
from analysis.pages.benchmarks.tables import ACCURACY, GIVEN_SIZE, SIZE, label
from analysis.pages.wording.cells import spoken
from analysis.pages.wording.tables import ALL
from analysis.reporting.words import Answer, count, listing, signed
from analysis.statistics.correlation import FEW, LEAST

ALPHA = 0.05
NAMED = 5  # unmatched models that a sentence names
TABLES = ("benchmarks", "benchmark_names", "measures_by_model")


def answer(frames: Mapping[str, pd.DataFrame]) -> Answer:
    """Say what correlates with consistency over models.

    Parameters
    ----------
    frames
        The tables named in `TABLES`.
    """
    table, cautions = frames["benchmarks"], tuple(_cautions(frames))
    asked = _asked(frames)
    known = table.dropna(subset=["r"])
    if known.empty:
        return Answer(
            asked, f"These runs cannot say: no measure is known for {LEAST} models asked in the same way.", (), cautions
        )
    clear = known[known["p_holm"] < ALPHA]
    sentences = [*_clear(known, clear), *_size(known), *_accuracy(known), *_partial(known)]
    verdict = "Something does." if len(clear) else "Nothing that stands out from chance."
    return Answer(asked, verdict, tuple(sentences), cautions)


def _asked(frames: Mapping[str, pd.DataFrame]) -> str:
    values, table = frames["measures_by_model"], frames["benchmarks"]
    external = [name for name in table["benchmark"].unique() if name not in (SIZE, ACCURACY)]
    what = (
        f"size, with accuracy and with {count(len(external), 'benchmark')} of the file of scores"
        if external
        else "size and with accuracy (no scores were given: -p scores=FILE)"
    )
    return (
        f"Accuracy, Consistency and Overall of {count(values['model'].nunique(), 'model')} were correlated with "
        f"{what}. Each language, task and condition was taken separately."
    )


def _named(row: pd.Series) -> str:
    task = row["task"] if row["task"] != ALL else "all tasks"
    where = [task, *([spoken(row["language"])] if row["language"] else []),
             row["condition"]]  # fmt: skip
    return f"{label(row['measure'], row['pattern'])} with {row['benchmark']} ({', '.join(where)})"


def _coefficient(row: pd.Series) -> str:
    ends = "" if pd.isna(row["lower"]) else f", 95 % interval {signed(row['lower'], 2)} to {signed(row['upper'], 2)}"
    return f"{signed(row['r'], 2)}{ends}, n = {row['n']}"


def _clear(known: pd.DataFrame, clear: pd.DataFrame) -> Iterator[str]:
    yield (
        f"Of {count(len(known), 'coefficient')}, {len(clear)} differ from 0 at {ALPHA:g}, corrected after Holm over "
        "all tests of their method."
    )
    shown = known[known["method"] == "spearman"]
    if len(shown):
        row = shown.loc[shown["r"].abs().idxmax()]
        yield f"The largest rank correlation is that of {_named(row)}: {_coefficient(row)}."


def _size(known: pd.DataFrame) -> Iterator[str]:
    rows = known[(known["benchmark"] == SIZE) & (known["method"] == "spearman") & (known["measure"] == "overall")]
    whole = rows[rows["task"] == ALL]
    for _, row in whole.head(3).iterrows():
        where = f" in {spoken(row['language'])}" if row["language"] else ""
        yield f"Overall{where} ({row['condition']}) correlates with size at {_coefficient(row)} (Spearman)."


def _accuracy(known: pd.DataFrame) -> Iterator[str]:
    rows = known[
        (known["benchmark"] == ACCURACY) & (known["method"] == "pearson") & (known["measure"] == "consistency")
    ]
    if len(rows):
        mean = rows.groupby("pattern", sort=False)["r"].mean()
        yield (
            "Consistency correlates with accuracy before rewording at "
            + ", ".join(f"{signed(r, 2)} ({pattern.replace('_', ' ')})" for pattern, r in mean.items())
            + " (Pearson; mean over tasks and conditions)."
        )


def _partial(known: pd.DataFrame) -> Iterator[str]:
    key = ["study", "language", "task", "condition", "measure", "pattern", "benchmark"]
    plain = known[(known["method"] == "spearman") & (known["p_holm"] < ALPHA)]
    given = known[known["method"] == "spearman" + GIVEN_SIZE]
    both = plain.merge(given, on=key, suffixes=("", "_given"))
    if len(both):
        kept = int((both["p_holm_given"] < ALPHA).sum())
        yield f"Given size, {kept} of {len(both)} significant rank correlations with benchmarks or accuracy remain."


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
    lost = names[(names["side"] == "runs") & (names["matched"] == "")]
    if external and len(lost):
        near = [
            f"{row['model']} (nearest: {row['nearest']})" if row["nearest"] else row["model"]
            for _, row in lost.iterrows()
        ]
        yield f"{count(len(lost), 'model')} without scores: {listing(near, NAMED)}. An alias table can match them."
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
