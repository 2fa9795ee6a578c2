"""Read whether wordings mean the same as the original of their item: scores of checks, votes of people, verdicts.

Checks are judged, and verdicts made, by the rules of `ground.meaning.verdicts`, on all wordings of a study: also where
a part of it is looked at, so that a verdict does not depend on the part. Answers of the models under study have no
say in them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from analysis.measures.meaning_file import COLUMNS, PEOPLE, MeaningFile, list_meaning_folders, read_meaning_file
from analysis.statistics.resampling import Array
from ground.errors import InputError
from ground.meaning import verdicts
from ground.meaning.verdicts import CheckQuality

if TYPE_CHECKING:
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
        A row per wording, and per decoy: item, variant, text; of decoys, decoy (the kind).
    scores, decoy_scores
        Check -> its scores (wordings,) and (decoys,); NaN where there is none. Without people.
    votes, decoy_votes
        Person -> votes (wordings,) and (decoys,): 1 yes, 0 no, NaN none.
    is_passed
        Which wordings passed (`verdicts.select_passed`).
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
    is_passed: Array
    qualities: list[CheckQuality]
    meanings: Any
    meaning_scores: Array

    @property
    def best(self) -> CheckQuality | None:
        """Return the check that verdicts are made by; None where none is used."""
        return next((quality for quality in self.qualities if quality.best), None)

    def count_votes(self) -> tuple[Array, Array]:
        """Count the votes of every wording: yes, and no."""
        return _count_votes(self.votes, len(self.wordings))


def has_meaning_scores(runs: Runs) -> bool:
    """Tell whether the wordings of some study were checked; a damaged file is an InputError."""
    return bool(list_meaning_folders(runs)) and bool(read_study_meanings(runs))


def read_study_meanings(runs: Runs) -> list[StudyMeaning]:
    """Read what is said of the wordings of every study that has a meaning.parquet, once per `Runs`.

    Raises
    ------
    InputError
        As `meaning_file.read_meaning_file`; and for two folders of a study whose files differ.
    """
    return runs.compute_once("study meanings", lambda: list(_read_studies(runs)))


def _read_studies(runs: Runs) -> Iterator[StudyMeaning]:
    """Yield every study that has a file, in the order of run.json."""
    files: dict[str, MeaningFile] = {}
    for folder in list_meaning_folders(runs):
        file = read_meaning_file(runs, folder)
        first = files.setdefault(folder.study, file)
        if first is not file and not _sort_rows(first.scores).equals(_sort_rows(file.scores)):
            raise InputError(
                f"{first.path} and {file.path} say different things of study {folder.study!r}; delete the older one, "
                "or put the newer one in its place"
            )
    for study in runs.info["studies"]:
        if study in files and len(files[study].scores):
            yield judge_study(study, files[study])


def _sort_rows(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the rows in an order that does not depend on the file."""
    return scores.sort_values([*WORDING, "check"], ignore_index=True)


def judge_study(study: str, file: MeaningFile) -> StudyMeaning:
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
    wordings, by_check = _spread_scores(file.scores[~is_decoy])
    decoys, decoys_by_check = _spread_scores(file.scores[is_decoy])
    votes, scores = _split_people(by_check)
    decoy_votes, decoy_scores = _split_people(decoys_by_check)
    for check in decoy_scores.keys() - scores.keys():
        scores[check] = np.full(len(wordings), np.nan)
    yes, no = _count_votes(votes, len(wordings))
    is_passed, passed_by = verdicts.select_passed(yes, no)
    qualities = verdicts.judge_checks(
        scores, decoy_scores, is_passed, passed_by, wordings["item"].to_numpy(), decoys["item"].to_numpy()
    )
    meanings, meaning_scores = verdicts.decide_meanings(scores, qualities, yes, no)
    return StudyMeaning(
        study, file, wordings, decoys, scores, decoy_scores, votes, decoy_votes, is_passed, qualities, meanings,
        meaning_scores,
    )  # fmt: skip


def _spread_scores(rows: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, Array]]:
    """Return the texts that rows are about, in their order, and the scores of every check: NaN where it has none."""
    place, _ = pd.factorize(pd.MultiIndex.from_frame(rows[["item", "variant"]]))
    texts = rows[["item", "variant", "text", "decoy", "source"]].iloc[np.unique(place, return_index=True)[1]]
    by_check = {}
    checks, names = pd.factorize(rows["check"])
    values = rows["score"].to_numpy(float)
    for number, check in enumerate(names):
        by_check[str(check)] = np.full(len(texts), np.nan)
        by_check[str(check)][place[checks == number]] = values[checks == number]
    return texts.reset_index(drop=True), by_check


def _split_people(by_check: dict[str, Array]) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return the votes of people by their names, and the scores of the other checks."""
    prefix = f"{PEOPLE}:"
    votes = {name.removeprefix(prefix): values for name, values in by_check.items() if name.startswith(prefix)}
    return votes, {name: values for name, values in by_check.items() if not name.startswith(prefix)}


def _count_votes(votes: dict[str, Array], n_texts: int) -> tuple[Array, Array]:
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
        As `read_study_meanings`.
    """
    parts = [meaning.file.scores for meaning in read_study_meanings(runs)] if list_meaning_folders(runs) else []
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(COLUMNS))


def read_meanings(runs: Runs) -> pd.DataFrame:
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
        As `read_study_meanings`.
    """
    meanings = read_study_meanings(runs) if list_meaning_folders(runs) else []
    if not meanings:
        return pd.DataFrame(
            columns=[*WORDING, "text", "votes_yes", "votes_no", "meaning", "meaning_score", "passed_by"]
        )
    frame = pd.concat([_list_wordings(meaning) for meaning in meanings], ignore_index=True)
    stimuli = runs.sql("SELECT study, item, variant, position FROM stimuli")
    frame = frame.merge(stimuli, on=WORDING)  # of a part, the wordings that are in it
    order = {study: place for place, study in enumerate(runs.info["studies"])}
    frame = frame.assign(place=frame["study"].map(order)).sort_values(["place", "position"], ignore_index=True)
    return frame.drop(columns=["place", "position"])


def _list_wordings(meaning: StudyMeaning) -> pd.DataFrame:
    """List the wordings of a study with their verdicts."""
    yes, no = meaning.count_votes()
    is_judged = np.array([verdict is not None for verdict in meaning.meanings], bool)
    best = meaning.best.check if meaning.best else None
    return meaning.wordings[["item", "variant", "text"]].assign(
        study=meaning.study,
        votes_yes=yes if meaning.votes else np.nan,
        votes_no=no if meaning.votes else np.nan,
        meaning=meaning.meanings,
        meaning_score=meaning.meaning_scores,
        passed_by=np.where(yes + no > 0, PEOPLE, np.where(is_judged, best, None)),
        **meaning.scores,
    )[[*WORDING, "text", "votes_yes", "votes_no", "meaning", "meaning_score", "passed_by", *meaning.scores]]
