"""Compare a run with Tables 1 and 7 of Haller et al., for the same items and models (results/published)."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Sequence

import pandas as pd

from analysis.pages.stability import tables
from analysis.reporting.catalogue.published_numbers import FOLDER, OURS, insert_published_rows
from analysis.runs import Runs
from analysis.runs.folder import ORIGINAL
from analysis.statistics.resampling import DRAWS

LEAST_ITEMS = 56  # Claude wrote no paraphrases of six of the 62 statements


def hash_statement(text: str) -> str:
    """Compute a hash of a statement that ignores case, spacing and Unicode form."""
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return hashlib.sha256(plain.encode()).hexdigest()[:16]


def tabulate_stability_with_printed_rows(
    runs: Runs, *, thresholds: Sequence[float] = tables.THRESHOLDS, resamples: int = DRAWS, seed: int = 0
) -> pd.DataFrame:
    """Put the printed figures of the same models on the same items after those of the runs.

    A study matches if the original wording of each of its items was printed, and at most six of the printed items are
    missing. A model matches if its id is listed in `haller_models.csv`.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    thresholds, resamples, seed
        As in `tables.tabulate_stability`.

    Returns
    -------
    DataFrame
        The columns of table `stability` but validity_at_most, with `source` ("these runs", or the printed table and its
        paraphrases); for every match our row, then the printed ones. No rows if nothing matches.
    """
    table = tables.tabulate_stability(runs, thresholds=thresholds, resamples=resamples, seed=seed)
    ours = table.drop(columns="validity_at_most").assign(source=OURS)  # no printed table has bounds
    matched_rows = select_rows_of_printed_models(runs, ours)
    if matched_rows.empty:
        return matched_rows.drop(columns="printed")
    return insert_published_rows(matched_rows, matched_rows, read_printed_stability())


def select_rows_of_printed_models(runs: Runs, frame: pd.DataFrame) -> pd.DataFrame:
    """Select the rows of a frame whose study and model were printed.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    frame
        Rows with study and model.

    Returns
    -------
    DataFrame
        These rows, with `printed`: the model's printed name.
    """
    alias = pd.read_csv(FOLDER / "haller_models.csv")
    printed_names = dict(zip(alias["alias"].str.casefold(), alias["model"], strict=True))
    named_rows = frame.assign(printed=frame["model"].str.casefold().map(printed_names))
    return named_rows[named_rows["study"].isin(_list_studies_with_printed_items(runs)) & named_rows["printed"].notna()]


def read_printed_stability() -> pd.DataFrame:
    """Read the printed rows: `printed` (the model's printed name), `source`, and figures with our column names."""
    files = [FOLDER / f"haller_table{number}.csv" for number in (1, 7)]
    rows = pd.concat([pd.read_csv(file, dtype={"mark": str}) for file in files])
    # Table 7 repeats three rows of Table 1 for comparison.
    rows = rows[(rows["table"] == 1) | (rows["paraphrases"] != "gpt-3.5-turbo")]
    source = _name_printed_table_of_rows(rows) + ", paraphrases by " + rows["paraphrases"]
    rows = rows.rename(columns={"model": "printed"}).assign(source=source, mark=rows["mark"].fillna(""))
    return rows.drop(columns=["table", "paraphrases", "family"])


def read_printed_paraphrase_source_rows() -> pd.DataFrame:
    """Read Table 7 alone, with `paraphrase_source`: every model with both sources of paraphrases."""
    rows = pd.read_csv(FOLDER / "haller_table7.csv", dtype={"mark": str})
    rows = rows.assign(source=_name_printed_table_of_rows(rows), mark=rows["mark"].fillna(""))
    rows = rows.rename(columns={"model": "printed", "paraphrases": "paraphrase_source"})
    return rows.drop(columns=["table", "family"])


def _name_printed_table_of_rows(rows: pd.DataFrame) -> pd.Series:
    """Name the printed table of every row, such as "Haller et al., Table 7"."""
    return "Haller et al., Table " + rows["table"].astype(str)


def _list_studies_with_printed_items(runs: Runs) -> list[str]:
    """List the studies whose items are the printed ones."""
    fingerprints = set(pd.read_csv(FOLDER / "haller_items.csv")["fingerprint"])
    items = runs.sql(
        f"SELECT study, item, min(text) FILTER (WHERE pattern = '{ORIGINAL}') AS text FROM stimuli GROUP BY study, item"
    )
    items["known"] = items["text"].map(lambda text: isinstance(text, str) and hash_statement(text) in fingerprints)
    matches_by_study = items.groupby("study")["known"].agg(["all", "sum"])
    return list(matches_by_study.index[matches_by_study["all"] & (matches_by_study["sum"] >= LEAST_ITEMS)])
