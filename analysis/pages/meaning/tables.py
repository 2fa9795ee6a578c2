"""Make the tables about checks, decoys, people and wordings: runs in, tidy frame out. `catalogue` names them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from analysis.measures.meaning import StudyMeaning, read_meaning_checks_of_studies, read_verdicts_on_wordings
from analysis.measures.meaning_file import list_meaning_folders
from analysis.measures.part_names import name_part_beside_total
from analysis.runs import Runs
from analysis.statistics.annotators import compute_fleiss_kappa_and_krippendorff_alpha, compute_share_of_yes_votes
from analysis.statistics.resampling import DRAWS, Array
from ground.meaning.separation import compute_auc

EVERYBODY = "all"  # in place of the name of a person
_PROVENANCE = {"engine": "engine", "check_model": "model", "revision": "revision", "prompt_hash": "prompt_hash"}


def _list_checked_studies(runs: Runs) -> list[StudyMeaning]:
    """List the studies whose wordings were checked."""
    return read_meaning_checks_of_studies(runs) if list_meaning_folders(runs) else []


def tabulate_quality_of_meaning_checks(runs: Runs) -> pd.DataFrame:
    """Tabulate how well every check parts decoys from wordings that passed, on all wordings of a study.

    Returns
    -------
    DataFrame
        study, and what `ground.meaning.verdicts.CheckQuality` says; passed_share, decoy_share with X_lower, X_upper
        over items (Wilson); engine, check_model, revision, prompt_hash as meaning.parquet says, None where it does not.
    """
    rows = []
    for study in _list_checked_studies(runs):
        items, decoy_items = study.wordings["item"].to_numpy(), study.decoys["item"].to_numpy()
        for quality in study.qualities:
            of_passed = study.scores[quality.check][study.is_passed]
            of_decoys = study.decoy_scores.get(quality.check, np.full(len(decoy_items), np.nan))
            facts = study.file.metadata.get("checks", {}).get(quality.check) or {}
            rows.append({
                "study": study.study,
                **{name: getattr(quality, name) for name in (
                    "check", "used", "best", "why_not", "passed_by", "n_passed", "n_decoys", "auc", "auc_lower",
                    "auc_upper", "threshold", "lower_threshold",
                )},
                **_estimate_share_reaching_threshold(
                    "passed_share", of_passed, items[study.is_passed], quality.threshold
                ),
                **_estimate_share_reaching_threshold("decoy_share", of_decoys, decoy_items, quality.threshold),
                **{column: facts.get(field) for column, field in _PROVENANCE.items()},
            })  # fmt: skip
    return pd.DataFrame(rows)


def _estimate_share_reaching_threshold(name: str, scores: Array, items: Any, threshold: float) -> dict[str, float]:
    """Estimate the share of scores that reach a threshold, with Wilson's interval over items."""
    has_score = ~np.isnan(scores)
    if np.isnan(threshold) or not has_score.any():
        return dict.fromkeys((name, f"{name}_lower", f"{name}_upper"), np.nan)
    share = compute_share_of_yes_votes(np.where(has_score, scores >= threshold, np.nan), items)
    return {name: share.value, f"{name}_lower": share.lower, f"{name}_upper": share.upper}


def tabulate_check_performance_by_decoy_kind(runs: Runs) -> pd.DataFrame:
    """Tabulate how well every check sees through each kind of decoy.

    Returns
    -------
    DataFrame
        study, check, decoy, n_decoys; auc: of wordings that passed and decoys of this kind, decoy_share: of these that
        reach the check's threshold, each with X_lower, X_upper over items.
    """
    rows = []
    for study in _list_checked_studies(runs):
        items = study.wordings["item"].to_numpy()[study.is_passed]
        for quality in study.qualities:
            for kind in dict.fromkeys(study.decoys["decoy"]):
                is_kind = (study.decoys["decoy"] == kind).to_numpy()
                scores = study.decoy_scores.get(quality.check, np.full(len(is_kind), np.nan))[is_kind]
                decoy_items = study.decoys["item"].to_numpy()[is_kind]
                auc = compute_auc(study.scores[quality.check][study.is_passed], scores, items, decoy_items)
                rows.append({
                    "study": study.study, "check": quality.check, "decoy": kind, "n_decoys": auc.n_decoys,
                    "auc": auc.auc, "auc_lower": auc.lower, "auc_upper": auc.upper,
                    **_estimate_share_reaching_threshold("decoy_share", scores, decoy_items, quality.threshold),
                })  # fmt: skip
    return pd.DataFrame(rows)


def tabulate_votes_of_annotators(runs: Runs, *, resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Tabulate what people said, and how far they agree.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    resamples, seed
        Draws of the bootstrap over items, and its seed.

    Returns
    -------
    DataFrame
        study; annotator: a person ("person all", if called so), or `EVERYBODY` in the last row of a study; n_wordings,
        n_decoys: read; yes_share, decoy_error_share: called the same, with X_lower, X_upper over items (Wilson); of
        everybody kappa, alpha, with X_lower, X_upper over items (bootstrap); no_interval: why one is missing.
    """
    rows: list[dict[str, Any]] = []
    for study in _list_checked_studies(runs):
        rows += _list_vote_rows_of_annotators(study, resamples, seed)
    return pd.DataFrame(rows)


def _list_vote_rows_of_annotators(study: StudyMeaning, resamples: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of every person, and of everybody."""
    if not study.votes and not study.decoy_votes:
        return
    items, decoy_items = study.wordings["item"].to_numpy(), study.decoys["item"].to_numpy()
    names = list(dict.fromkeys([*study.votes, *study.decoy_votes]))
    votes, decoy_votes = (
        np.stack([of_texts.get(name, np.full(n, np.nan)) for name in names], axis=1)
        for of_texts, n in ((study.votes, len(items)), (study.decoy_votes, len(decoy_items)))
    )
    no_agreement = {f"{name}{ending}": np.nan for name in ("kappa", "alpha") for ending in ("", "_lower", "_upper")}
    for place, name in enumerate(names):
        shares = _estimate_shares_voted_same_meaning(votes[:, [place]], items, decoy_votes[:, [place]], decoy_items)
        person = name_part_beside_total(name, EVERYBODY, "person")
        yield {"study": study.study, "annotator": person, **shares, **no_agreement, "no_interval": ""}
    kappa, alpha = compute_fleiss_kappa_and_krippendorff_alpha(votes, items, draws=resamples, seed=seed)
    agreement = {
        "kappa": kappa.value, "kappa_lower": kappa.lower, "kappa_upper": kappa.upper,
        "alpha": alpha.value, "alpha_lower": alpha.lower, "alpha_upper": alpha.upper,
    }  # fmt: skip
    shares = _estimate_shares_voted_same_meaning(votes, items, decoy_votes, decoy_items)
    reasons = [f"{name}: {part.missing}" for name, part in (("kappa", kappa), ("alpha", alpha)) if part.missing]
    yield {"study": study.study, "annotator": EVERYBODY, **shares, **agreement, "no_interval": "; ".join(reasons)}


def _estimate_shares_voted_same_meaning(
    votes: Array, items: Any, decoy_votes: Array, decoy_items: Any
) -> dict[str, Any]:
    """Estimate which share of wordings, and of decoys, some people call the same; each vote counts."""
    columns: dict[str, Any] = {}
    for share_name, number_name, part, of_items in (
        ("yes_share", "n_wordings", votes, items), ("decoy_error_share", "n_decoys", decoy_votes, decoy_items)
    ):  # fmt: skip
        share = compute_share_of_yes_votes(part.ravel(), np.repeat(of_items, part.shape[1]))
        columns[number_name] = int((~np.isnan(part)).any(axis=1).sum())
        columns |= {share_name: share.value, f"{share_name}_lower": share.lower, f"{share_name}_upper": share.upper}
    return columns


def tabulate_verdicts_on_wordings(runs: Runs) -> pd.DataFrame:
    """Tabulate every wording with its verdict, votes and scores (`measures.meaning.read_verdicts_on_wordings`)."""
    return read_verdicts_on_wordings(runs)
