"""Say what weakens the answer of the page on benchmarks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from analysis.pages.benchmarks.repeated import told
from analysis.reporting.words import count, listing
from analysis.statistics.correlation import FEW, LEAST

ALL = "all"  # of studies: a table over the studies of a page
NAMED = 5  # models that a sentence names


def compared(frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the values of the conditions that are compared, of models that answer or not."""
    values = frames["measures_by_model"]
    return values[values["compared"].astype(bool)]


def external(frames: Mapping[str, pd.DataFrame]) -> list[str]:
    """List the benchmarks that a model has."""
    return [name for name in frames["benchmarks"]["benchmark"].unique() if name not in ("parameters", "accuracy")]


def cautions(frames: Mapping[str, pd.DataFrame]) -> Iterator[str]:
    """Yield the doubts, the gravest first."""
    table, values = frames["benchmarks"], compared(frames)
    refused = int(table["caution"].astype(str).str.startswith("refused").sum())
    few = int(table["caution"].astype(str).str.startswith("few").sum())
    if refused:
        yield f"{count(refused, 'coefficient')} refused: fewer than {LEAST} models have both values."
    if few:
        yield f"{count(few, 'coefficient')} rest on fewer than {FEW} models, where chance alone makes large ones."
    yield from _sources(frames["measure_sources"])
    yield from _forms(values)
    if len(table) and (said := told(table)):
        yield said.strip()
    yield from _scores(frames)
    sizes = values.groupby("model")["parameters"].first()
    if sizes.isna().any():
        yield f"run.json has no size of {listing(list(sizes.index[sizes.isna()]), NAMED)}."
        if external(frames):
            yield "Where the file of scores has the size of a model, that counts."
    unheard = values.groupby("model")["silent"].any()
    if unheard.any():
        yield (
            f"{listing(list(unheard.index[unheard]), NAMED)}: left out where less than half of the answers are valid. "
            "Their points are marked in the figures."
        )
    yield (
        "Correlations over models tell what varies together, not what causes what. Models of one series are not "
        "independent of each other."
    )


def _sources(sources: pd.DataFrame) -> Iterator[str]:
    """Name the conditions that are not compared, and the measures that are left out."""
    used = sources[(sources["left_out"] == "") & (sources["study"] != ALL)]
    several = used[used["n_conditions"] > 1].drop_duplicates("study")
    if len(several):
        named = [f"{row.condition} of {row.study}" for row in several.itertuples()]
        yield f"Of several conditions of a study, one is compared: {listing(named, NAMED)}."
    for row in sources[sources["left_out"] != ""].itertuples():
        reason = str(row.left_out)
        yield f"No measure of {row.page}{f' ({row.study})' if row.study else ''}. {reason[0].upper()}{reason[1:]}."


def _forms(values: pd.DataFrame) -> Iterator[str]:
    """Say that models asked in different forms are compared, and which form counts where one was asked in several."""
    models = values[values["form"] != ""].groupby("model", sort=False)["form"].first()
    counts = models.value_counts(sort=False)
    if len(counts) > 1:
        named = listing([f"{number} in {form}" for form, number in counts.items()], 4)
        yield (
            f"Models are compared in their own forms ({named}). Form goes with how they were trained, so a correlation "
            "may rest on that."
        )
    both = values[values["n_forms"] > 1]
    if len(both):
        named = both.groupby("model", sort=False)["form"].first()
        chosen = listing([f"{model} in {form}" for model, form in named.items()], 4)
        asked = f"{count(len(named), 'model')} {'was' if len(named) == 1 else 'were'} asked in several forms"
        yield f"{asked}; compared: {chosen}."


def _scores(frames: Mapping[str, pd.DataFrame]) -> Iterator[str]:
    """Say which models have no scores, or that none were given."""
    names = frames["benchmark_names"]
    ours = names[names["side"] == "runs"]
    lost = ours[ours["matched"] == ""]
    if len(lost) == len(ours) and not (names["side"] == "scores").any():
        yield "No scores of benchmarks were given (-p scores=FILE)."
    elif len(lost):
        near = [f"{row.model} (nearest: {row.nearest})" if row.nearest else row.model for row in lost.itertuples()]
        if len(lost) == len(ours):
            yield f"No model of these runs is among the {(names['side'] == 'scores').sum():,} of the scores."
        yield (
            f"{count(len(lost), 'model')} without scores: {listing(near, NAMED)}. A file (-p aliases=FILE) can match a "
            "model with its name there."
        )
