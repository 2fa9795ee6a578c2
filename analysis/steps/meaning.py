"""Judge checks of meaning and compare what wordings do to answers, step by step.

::

    scores = read_meaning_scores(runs)
    rates = rate_checks_on_wordings_and_decoys(scores)
    answers = tabulate_answers_beside_original(runs)
    flips = summarize_flips_by_meaning_of_wordings(answers, read_verdicts_on_wordings(runs))

Every number is computed in the plainest way: AUC by ranks, a range by the number of draws in which an answer is the
highest. `analysis.measures.meaning_flips` computes all models and conditions at once.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import comb

from analysis.runs.folder import UNIT

_PEOPLE = "people:"
_CELL = [*UNIT, "item", "wording"]
_ITEM = [*UNIT, "item"]
_EVERY, _SAME = "all", "same"
_RATES = ["study", "check", "n_passed", "n_decoys", "auc", "passed_share", "decoy_share"]


def rate_checks_on_wordings_and_decoys(scores: pd.DataFrame, allowed: float = 0.05) -> pd.DataFrame:
    """Rate how well every check parts decoys from wordings that passed.

    Parameters
    ----------
    scores
        Rows of meaning.parquet (`measures.meaning.read_meaning_scores`).
    allowed
        Share of the decoys that may reach the threshold.

    Returns
    -------
    DataFrame
        study, check; n_passed, n_decoys: with a score; auc: share of the pairs of a wording that passed and a decoy in
        which the wording has the higher score, ties counting half; passed_share, decoy_share: at or above the lowest
        threshold that no more decoys reach than are allowed.
    """
    votes = count_votes(scores)
    rows = []
    checks = scores[~scores["check"].str.startswith(_PEOPLE)].dropna(subset=["score"])
    for (study, check), part in checks.groupby(["study", "check"], sort=False):
        decoys = part.loc[part["decoy"].notna(), "score"]
        wordings = part[part["decoy"].isna()].drop_duplicates(["item", "text"])
        of_study = votes[votes["study"] == study]
        if len(of_study):
            wordings = wordings.merge(of_study[of_study["votes_yes"] > of_study["votes_no"]], on=["item", "text"])
        passed = wordings["score"]
        ranks = pd.concat([passed, decoys], ignore_index=True).rank()
        n_beaten = ranks[: len(passed)].sum() - len(passed) * (len(passed) + 1) / 2
        falling = np.sort(decoys.to_numpy(float))[::-1]
        n_allowed = int(np.floor(allowed * len(decoys) + 1e-9))
        stopped = falling[n_allowed] if n_allowed < len(falling) else -np.inf
        rows.append({
            "study": study, "check": check, "n_passed": len(passed), "n_decoys": len(decoys),
            "auc": n_beaten / (len(passed) * len(decoys)) if len(passed) and len(decoys) else np.nan,
            "passed_share": (passed > stopped).mean() if len(decoys) else np.nan,
            "decoy_share": (decoys > stopped).mean(),
        })  # fmt: skip
    return pd.DataFrame(rows, columns=_RATES)


def count_votes(scores: pd.DataFrame) -> pd.DataFrame:
    """Count what people said of every wording: study, item, text, votes_yes, votes_no; no row where nobody read it."""
    votes = scores[scores["check"].str.startswith(_PEOPLE) & scores["decoy"].isna()].dropna(subset=["score"])
    votes = votes.drop_duplicates(["study", "item", "text", "check"])
    groups = votes.assign(no=1 - votes["score"]).groupby(["study", "item", "text"], sort=False)
    return groups.agg(votes_yes=("score", "sum"), votes_no=("no", "sum")).reset_index()


def summarize_flips_by_meaning_of_wordings(answers: pd.DataFrame, meanings: pd.DataFrame) -> pd.DataFrame:
    """Summarise what all wordings do to the answers of every model, and what those do that mean the same.

    Parameters
    ----------
    answers
        A row per answer beside that to the original (`measures.beside_original.tabulate_answers_beside_original`).
    meanings
        A row per wording with its verdict (`measures.meaning.read_verdicts_on_wordings`).

    Returns
    -------
    DataFrame
        study, model, condition, wordings ("all" or "same"), n_items, n_wordings, k, n_items_k, flip, sd,
        range_k, as table `meaning_flips` has them: also of models without an answer that counts.
    """
    names = dict.fromkeys([*_CELL, "variant"], "object")
    rows = answers.astype(names).merge(meanings[["study", "item", "variant", "meaning"]], how="left")
    judged = meanings.loc[meanings["meaning"].notna(), "study"].unique()
    rows = rows[rows["study"].isin(meanings["study"].unique())]
    rows = rows.assign(same=(rows["meaning"] == _SAME) | ~rows["study"].isin(judged))
    cells = rows.groupby(_CELL, sort=False).agg(
        flip=("flip", "mean"), value=("value", "mean"), same=("same", "max")
    ).reset_index()  # fmt: skip
    sizes = cells[cells["same"]].groupby(_ITEM, sort=False)["value"].count()
    comparable = sizes[sizes > 1]
    k_by_study = comparable.groupby("study").quantile(0.1, interpolation="lower").astype(int).to_dict()
    cells = cells.assign(k=cells["study"].map(k_by_study).fillna(2).astype(int))
    cells = cells.merge(sizes.rename("size").reset_index(), on=_ITEM, how="left")
    cells = cells[cells["size"] > 0]
    has_same_flip = cells["flip"].where(cells["same"]).groupby([cells[name] for name in _ITEM]).transform("count") > 0
    cells["flip"] = cells["flip"].where(has_same_flip)
    units = rows[list(UNIT)].drop_duplicates()
    units = units.assign(k=units["study"].map(k_by_study).fillna(2).astype(int))
    parts = [
        (_EVERY, units, cells),
        (_SAME, units[units["study"].isin(judged)], cells[cells["same"] & cells["study"].isin(judged)]),
    ]
    return pd.concat(
        [_average_flips_sds_and_ranges_by_model(part, of_part).assign(wordings=name) for name, of_part, part in parts],
        ignore_index=True,
    )


def _average_flips_sds_and_ranges_by_model(cells: pd.DataFrame, units: pd.DataFrame) -> pd.DataFrame:
    """Average flips, variances and ranges over the items of every model; one without items has a row without them."""
    groups = cells.groupby(_ITEM, sort=False)
    items = groups.agg(flip=("flip", "mean"), variance=("value", "var"), n=("value", "count"), k=("k", "first"))
    has_k = (groups["size"].first() >= items["k"]).to_numpy(bool)
    items["range_k"] = [
        compute_mean_range_of_k_draws(part["value"].dropna().to_numpy(), part["k"].iloc[0]) for _, part in groups
    ]
    items.loc[~has_k, ["variance", "range_k"]] = np.nan
    averages = items.assign(has_k=has_k).groupby(list(UNIT), sort=False).agg(
        n_items=("n", "size"), n_wordings=("n", "sum"), n_items_k=("has_k", "sum"),
        flip=("flip", "mean"), sd=("variance", "mean"), range_k=("range_k", "mean"),
    ).reset_index()  # fmt: skip
    averages = units.merge(averages.astype(dict.fromkeys(UNIT, "object")), how="left", on=list(UNIT))
    counts = dict.fromkeys(("n_items", "n_wordings", "n_items_k"), 0)
    return averages.fillna(counts).astype(dict.fromkeys(counts, int)).assign(sd=np.sqrt(averages["sd"].astype(float)))


def compute_mean_range_of_k_draws(values: np.ndarray, k: int) -> float:
    """Compute the mean range of k values over all ways to draw k of them.

    Of n sorted values, the j-th is the highest in C(j - 1, k - 1) of the C(n, k) draws, and the lowest in C(n - j,
    k - 1).

    Parameters
    ----------
    values
        Two or more.
    k
        How many are drawn.

    Returns
    -------
    float
        NaN where there are fewer than k.

    >>> round(compute_mean_range_of_k_draws(np.array([0.0, 0.5, 1.0]), 2), 6)
    0.666667
    """
    if len(values) < k:
        return np.nan
    ordered, place = np.sort(values), np.arange(1, len(values) + 1)
    as_highest, as_lowest = comb(place - 1, k - 1), comb(len(values) - place, k - 1)
    return float(ordered @ (as_highest - as_lowest) / comb(len(values), k))
