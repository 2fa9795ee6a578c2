"""Compare a run with Tables 1 and 7 of Haller et al., for the same items and models (results/published)."""

from __future__ import annotations

import hashlib
import unicodedata
from typing import TYPE_CHECKING

import pandas as pd

from analysis.pages.stability import tables
from analysis.reporting.printed import FOLDER, OURS, with_printed
from analysis.runs.folder import ORIGINAL
from analysis.statistics.resampling import DRAWS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.runs import Runs

LEAST_ITEMS = 56  # Claude wrote no paraphrases of six of the 62 statements


def fingerprint(text: str) -> str:
    """Compute a hash of a statement that ignores case, spacing and Unicode form."""
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return hashlib.sha256(plain.encode()).hexdigest()[:16]


def compare(
    runs: Runs, *, thresholds: Sequence[float] = tables.THRESHOLDS, resamples: int = DRAWS, seed: int = 0
) -> pd.DataFrame:
    """Put the printed figures of the same models on the same items after those of the runs.

    A study matches if the original wording of each of its items was printed, and at most six of the printed items are
    missing. A model matches if its id is listed in `haller_models.csv`.

    Parameters
    ----------
    runs
        From `analysis.runs.open`.
    thresholds, resamples, seed
        As in `tables.models`.

    Returns
    -------
    DataFrame
        The columns of table `stability` with `source` ("these runs", or the printed table and its paraphrases) after
        the model; for every match our row, then the printed ones. No rows if nothing matches.
    """
    ours = tables.models(runs, thresholds=thresholds, resamples=resamples, seed=seed).assign(source=OURS)
    found = matched(runs, ours)
    if found.empty:
        return found.drop(columns="printed")
    return with_printed(found, found, printed())


def matched(runs: Runs, frame: pd.DataFrame) -> pd.DataFrame:
    """Select the rows of a frame whose study and model were printed.

    Parameters
    ----------
    runs
        From `analysis.runs.open`.
    frame
        Rows with study and model.

    Returns
    -------
    DataFrame
        These rows, with `printed`: the model's printed name.
    """
    alias = pd.read_csv(FOLDER / "haller_models.csv")
    known = dict(zip(alias["alias"].str.casefold(), alias["model"], strict=True))
    named = frame.assign(printed=frame["model"].str.casefold().map(known))
    return named[named["study"].isin(_studies(runs)) & named["printed"].notna()]


def printed() -> pd.DataFrame:
    """Read the printed rows: `printed` (the model's printed name), `source`, and figures with our column names."""
    files = [FOLDER / f"haller_table{number}.csv" for number in (1, 7)]
    rows = pd.concat([pd.read_csv(file, dtype={"mark": str}) for file in files])
    # Table 7 repeats three rows of Table 1 for comparison.
    rows = rows[(rows["table"] == 1) | (rows["paraphrases"] != "gpt-3.5-turbo")]
    source = _named(rows) + ", paraphrases by " + rows["paraphrases"]
    rows = rows.rename(columns={"model": "printed"}).assign(source=source, mark=rows["mark"].fillna(""))
    return rows.drop(columns=["table", "paraphrases", "family"])


def printed_sources() -> pd.DataFrame:
    """Read Table 7 alone, with `paraphrase_source`: every model with both sources of paraphrases."""
    rows = pd.read_csv(FOLDER / "haller_table7.csv", dtype={"mark": str})
    rows = rows.assign(source=_named(rows), mark=rows["mark"].fillna(""))
    rows = rows.rename(columns={"model": "printed", "paraphrases": "paraphrase_source"})
    return rows.drop(columns=["table", "family"])


def _named(rows: pd.DataFrame) -> pd.Series:
    return "Haller et al., Table " + rows["table"].astype(str)


def _studies(runs: Runs) -> list[str]:
    """List the studies whose items are the printed ones."""
    known = set(pd.read_csv(FOLDER / "haller_items.csv")["fingerprint"])
    items = runs.sql(
        f"SELECT study, item, min(text) FILTER (WHERE pattern = '{ORIGINAL}') AS text FROM stimuli GROUP BY study, item"
    )
    items["known"] = items["text"].map(lambda text: isinstance(text, str) and fingerprint(text) in known)
    matched = items.groupby("study")["known"].agg(["all", "sum"])
    return list(matched.index[matched["all"] & (matched["sum"] >= LEAST_ITEMS)])
