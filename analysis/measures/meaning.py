"""Read whether wordings mean the same as the original of their item: scores of checks, votes of people, verdicts.

Checks are judged, and verdicts made, by the rules of `ground.meaning.verdicts`, on all wordings of a study: also where
a part of it is looked at, so that a verdict does not depend on the part. Answers of the models under study have no
say in them. Variants of an item with the same text, such as the orders of the options, are one wording here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from analysis.measures.meaning_file import (
    COLUMNS,
    MEANINGS_TABLE,
    PEOPLE,
    MeaningFile,
    list_meaning_folders,
    read_meaning_file,
)
from analysis.runs.folder import ORIGINAL
from analysis.statistics.resampling import Array
from ground.errors import InputError
from ground.meaning import verdicts
from ground.meaning.verdicts import CheckQuality

if TYPE_CHECKING:
    import duckdb

    from analysis.runs import Runs

WORDING = ["study", "item", "variant"]


@dataclass(frozen=True)
class StudyMeaning:
    """Hold what checks and people say of the wordings of one study.

    Attributes
    ----------
    study
        Its name.
    file
        The file that says it.
    wordings, decoys
        A row per wording, and per decoy: item, text; of decoys, variant, decoy (the kind) and source, too.
    scores, decoy_scores
        Check -> its scores (wordings,) and (decoys,); NaN where there is none. Without people.
    votes, decoy_votes
        Person -> votes (wordings,) and (decoys,): 1 yes, 0 no, NaN none.
    is_passed
        Which wordings passed (`verdicts.mark_wordings_that_checks_should_pass`).
    qualities
        How well every check parts decoys from them.
    meanings, meaning_scores
        Verdict (or None), and score of the best check, of every wording.
    """

    study: str
    file: MeaningFile
    wordings: pd.DataFrame
    decoys: pd.DataFrame
    scores: dict[str, Array]
    decoy_scores: dict[str, Array]
    votes: dict[str, Array]
    decoy_votes: dict[str, Array]
    is_passed: npt.NDArray[np.bool_]
    qualities: list[CheckQuality]
    meanings: Any
    meaning_scores: Array

    @property
    def verdict_deciding_check_quality(self) -> CheckQuality | None:
        """Return the check that verdicts are made by; None where none is used."""
        return next((quality for quality in self.qualities if quality.best), None)

    def count_votes(self) -> tuple[Array, Array]:
        """Count the votes of every wording: yes, and no."""
        return _count_yes_and_no_votes(self.votes, len(self.wordings))

    def compute_share_of_decoys_accepted_by_people(self) -> float:
        """Compute the share of decoys that most people called the same, of those with a majority; NaN without one."""
        yes, no = _count_yes_and_no_votes(self.decoy_votes, len(self.decoys))
        has_majority = yes != no
        return float((yes > no)[has_majority].mean()) if has_majority.any() else float("nan")


def has_meaning_scores(runs: Runs) -> bool:
    """Tell whether the wordings of some study were checked; a damaged file is an InputError."""
    return bool(list_meaning_folders(runs)) and bool(read_meaning_checks_of_studies(runs))


def read_meaning_checks_of_studies(runs: Runs) -> list[StudyMeaning]:
    """Read what is said of the wordings of every study that has a meaning.parquet, once per `Runs`.

    Raises
    ------
    InputError
        As `meaning_file.read_meaning_file`; and for two folders of a study whose files differ.
    """
    return runs.compute_once("study meanings", lambda: list(_read_checked_studies(runs)))


def _read_checked_studies(runs: Runs) -> Iterator[StudyMeaning]:
    """Yield every study that has a file, in the order of run.json."""
    files: dict[str, MeaningFile] = {}
    for folder in list_meaning_folders(runs):
        file = read_meaning_file(runs, folder)
        first = files.setdefault(folder.study, file)
        if first is not file and not _sort_rows_reproducibly(first.scores).equals(_sort_rows_reproducibly(file.scores)):
            raise InputError(
                f"{first.path} and {file.path} say different things of study {folder.study!r}; delete the older one, "
                "or put the newer one in its place"
            )
    for study in runs.info["studies"]:
        if study in files and len(files[study].scores):
            yield assess_checks_and_wordings_of_study(study, files[study])


def _sort_rows_reproducibly(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the rows in an order that does not depend on the file."""
    return scores.sort_values([*WORDING, "check"], ignore_index=True)


def assess_checks_and_wordings_of_study(study: str, file: MeaningFile) -> StudyMeaning:
    """Judge the checks of a study, and its wordings.

    Parameters
    ----------
    study
        Its name.
    file
        What checks and people say.

    Returns
    -------
    StudyMeaning
    """
    is_decoy = file.scores["decoy"].notna()
    wordings, by_check = _split_rows_into_texts_and_scores_by_check(file.scores[~is_decoy], ["item", "text"])
    decoys, decoys_by_check = _split_rows_into_texts_and_scores_by_check(file.scores[is_decoy], ["item", "variant"])
    votes, scores = _split_people_from_other_checks(by_check)
    decoy_votes, decoy_scores = _split_people_from_other_checks(decoys_by_check)
    for check in decoy_scores.keys() - scores.keys():
        scores[check] = np.full(len(wordings), np.nan)
    yes, no = _count_yes_and_no_votes(votes, len(wordings))
    is_passed, passed_by = verdicts.mark_wordings_that_checks_should_pass(yes, no)
    qualities = verdicts.assess_quality_of_checks(
        scores, decoy_scores, is_passed, passed_by, wordings["item"].to_numpy(), decoys["item"].to_numpy()
    )
    meanings, meaning_scores = verdicts.decide_verdict_and_best_score_per_wording(scores, qualities, yes, no)
    return StudyMeaning(
        study, file, wordings, decoys, scores, decoy_scores, votes, decoy_votes, is_passed, qualities, meanings,
        meaning_scores,
    )  # fmt: skip


def _split_rows_into_texts_and_scores_by_check(
    rows: pd.DataFrame, key: list[str]
) -> tuple[pd.DataFrame, dict[str, Array]]:
    """Return the texts of rows, in order, and the scores of every check, the first of a key; NaN where it has none."""
    place = rows.groupby(key, sort=False).ngroup().to_numpy()
    texts = rows[["item", "variant", "text", "decoy", "source"]].iloc[np.unique(place, return_index=True)[1]]
    by_check = {}
    checks, names = pd.factorize(rows["check"])
    values = rows["score"].to_numpy(float)
    for number, check in enumerate(names):
        is_used = np.flatnonzero((checks == number) & ~np.isnan(values))[::-1]  # the first one is written last
        by_check[str(check)] = np.full(len(texts), np.nan)
        by_check[str(check)][place[is_used]] = values[is_used]
    return texts.reset_index(drop=True), by_check


def _split_people_from_other_checks(by_check: dict[str, Array]) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return the votes of people by their names, and the scores of the other checks."""
    prefix = f"{PEOPLE}:"
    votes = {name.removeprefix(prefix): values for name, values in by_check.items() if name.startswith(prefix)}
    return votes, {name: values for name, values in by_check.items() if not name.startswith(prefix)}


def _count_yes_and_no_votes(votes: dict[str, Array], n_texts: int) -> tuple[Array, Array]:
    """Count the votes of every text: yes, and no."""
    yes = sum(((values == 1).astype(float) for values in votes.values()), np.zeros(n_texts))
    no = sum(((values == 0).astype(float) for values in votes.values()), np.zeros(n_texts))
    return yes, no


def read_meaning_scores(runs: Runs) -> pd.DataFrame:
    """Read the rows of every meaning.parquet, a file per study.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.

    Returns
    -------
    DataFrame
        The columns of table `meaning` of results/schema.json; all rows, also of a part of the runs; none where no run
        has such a file.

    Raises
    ------
    InputError
        As `read_meaning_checks_of_studies`.
    """
    parts = (
        [meaning.file.scores for meaning in read_meaning_checks_of_studies(runs)] if list_meaning_folders(runs) else []
    )
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(COLUMNS))


def read_verdicts_on_wordings(runs: Runs) -> pd.DataFrame:
    """Read the verdict on every wording of some runs that was checked or read by people.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.

    Returns
    -------
    DataFrame
        study, item, variant, text; votes_yes, votes_no: people, NaN where nobody has a sheet; meaning: a verdict or
        None; meaning_score: of the best check, NaN without one; passed_by: "people" or the best check, None without a
        verdict; and a column per check with its score. By study and place in it.

    Raises
    ------
    InputError
        As `read_meaning_checks_of_studies`.
    """
    meanings = read_meaning_checks_of_studies(runs) if list_meaning_folders(runs) else []
    if not meanings:
        return pd.DataFrame(
            columns=[*WORDING, "text", "votes_yes", "votes_no", "meaning", "meaning_score", "passed_by"]
        )
    stimuli = runs.sql(f"SELECT study, item, variant, text, position FROM stimuli WHERE pattern <> '{ORIGINAL}'")
    parts = []
    for meaning in meanings:
        wordings = stimuli[stimuli["study"] == meaning.study].sort_values("position").drop(columns="position")
        parts.append(wordings.merge(_list_wordings_with_verdicts(meaning), on=["item", "text"]))
    return pd.concat(parts, ignore_index=True)


def _list_wordings_with_verdicts(meaning: StudyMeaning) -> pd.DataFrame:
    """List the wordings of a study by item and text, with their verdicts."""
    yes, no = meaning.count_votes()
    is_judged = np.array([verdict is not None for verdict in meaning.meanings], bool)
    best = meaning.verdict_deciding_check_quality.check if meaning.verdict_deciding_check_quality else ""
    return meaning.wordings[["item", "text"]].assign(
        votes_yes=yes if meaning.votes else np.nan,
        votes_no=no if meaning.votes else np.nan,
        meaning=meaning.meanings,
        meaning_score=meaning.meaning_scores,
        passed_by=[PEOPLE if n_votes else best if has_verdict else None
                   for n_votes, has_verdict in zip(yes + no, is_judged, strict=True)],
        **meaning.scores,
    )  # fmt: skip


def create_wording_meanings_table(con: duckdb.DuckDBPyConnection, runs: Runs) -> bool:
    """Create the table `wording_meanings`: study, item, variant, meaning, meaning_score of every stimulus.

    What has the text of its item's original, but for blanks around it, means the same, wherever a wording of the study
    has a verdict.

    Parameters
    ----------
    con
        The connection that gets the table.
    runs
        The runs that it is of; their stimuli are read.

    Returns
    -------
    bool
        Whether there is such a table: some wordings were checked.
    """
    studies = read_meaning_checks_of_studies(runs) if list_meaning_folders(runs) else []
    if not studies:
        return False
    judged = [study.study for study in studies if any(verdict is not None for verdict in study.meanings)]
    stimuli = runs.sql(f"SELECT study, item, variant, text, pattern = '{ORIGINAL}' AS original FROM stimuli")
    rows = stimuli.merge(
        read_verdicts_on_wordings(runs)[[*WORDING, "meaning", "meaning_score"]], on=WORDING, how="left"
    )
    texts = rows["text"].str.strip()
    key = pd.MultiIndex.from_arrays([rows["study"], rows["item"], texts])
    is_original = key.isin(key[rows["original"].to_numpy(bool)]) & rows["study"].isin(judged).to_numpy()
    rows["meaning"] = rows["meaning"].where(~is_original, verdicts.SAME)
    schema = pa.schema([*((name, pa.string()) for name in (*WORDING, "meaning")), ("meaning_score", pa.float64())])
    con.register("meaning_rows", pa.Table.from_pandas(rows[schema.names], schema, preserve_index=False))
    con.execute(f"CREATE OR REPLACE TABLE {MEANINGS_TABLE} AS SELECT * FROM meaning_rows")
    con.unregister("meaning_rows")
    return True
