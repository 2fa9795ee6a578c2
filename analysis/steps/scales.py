"""Compute scores on scales, what wordings do to them, and order effects step by step.

::

    answers = derive_option_shares_and_mean_answers(run.responses(), run.wordings(), run.conditions())
    scores = compute_scale_scores(answers)
    spreads = average_wording_spreads_over_items(answers, scipy.stats.wasserstein_distance)
    effects = compute_order_effects(answers, statsmodels.stats.weightstats.DescrStatsW)
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.measures.ratings_rows import name_settings_without_personas
from analysis.runs.conditions import drop_middle_option_if_not_shown
from analysis.steps.rows import attach_wordings, stack_lists_into_array

ROW = ["study", "model", "condition"]
Describe = Callable[[npt.NDArray[np.float64]], Any]


def derive_option_shares_and_mean_answers(
    responses: pd.DataFrame, wordings: pd.DataFrame, conditions: pd.DataFrame
) -> pd.DataFrame:
    """Read the shares of the options and the mean answer of every response.

    Parameters
    ----------
    responses
        `Run.responses`: study, model, condition, item, variant, probability, count, answer.
    wordings
        `Run.wordings`: study, item, variant, pattern, options; attributes.scale, attributes.key where items have them.
    conditions
        `Run.conditions`: study, condition, and the fields of the conditions.

    Returns
    -------
    DataFrame
        study, model, asked (the condition), condition (its setting: what conditions have in common that differ in how
        the options are shown, or in the persona), option_order, item, variant, scale, key; shares (list); s: mean
        answer from 0 to 1, NaN without an answer; turned: 1 - s where the key is -1, else s. Originals are left out
        where all items have other wordings.
    """
    about = wordings.rename(columns={"attributes.scale": "scale", "attributes.key": "key"})
    about = about.reindex(columns=["study", "item", "variant", "pattern", "options", "scale", "key"])
    has_others = about["pattern"].ne("original").groupby([about["study"], about["item"]]).any()
    without = has_others.groupby(level="study").all()
    rows = attach_wordings(responses, about, ["pattern", "options", "scale", "key"])
    rows = rows[(rows["pattern"] != "original") | ~rows["study"].map(without)]
    fields = conditions.reindex(columns=[*conditions.columns, "option_order", "without_middle"])
    fields = fields.loc[:, ~fields.columns.duplicated()]
    without_middle = set(
        fields.loc[fields["without_middle"].eq(True), ["study", "condition"]].itertuples(index=False, name=None)
    )
    shares = [
        _read_option_shares(row, (row["study"], row["condition"]) in without_middle)
        for row in rows[["study", "condition", "probability", "count", "answer", "options"]].to_dict("records")
    ]
    orders = fields[["study", "condition", "option_order"]]
    settings = pd.concat(
        [_tabulate_setting_names_of_conditions(study, part) for study, part in fields.groupby("study", sort=False)]
    )
    keys = rows["key"].fillna("1").astype(str).astype(float).astype(int)
    rows = rows.drop(columns=[name for name in ("option_order",) if name in rows])
    rows = rows.assign(shares=shares, s=[_compute_mean_answer(values) for values in shares], key=keys)
    rows = rows.astype({"scale": object})  # without scales, a column of NaN is one of numbers
    rows = rows.merge(orders, on=["study", "condition"], how="left").rename(columns={"condition": "asked"})
    rows = rows.merge(settings, on=["study", "asked"], how="left")
    rows = rows.assign(turned=np.where(rows["key"] < 0, 1 - rows["s"], rows["s"]))
    names = ["study", "model", "asked", "condition", "option_order", "item", "variant", "scale", "key"]
    return rows[[*names, "shares", "s", "turned"]].reset_index(drop=True)


def _read_option_shares(row: dict[str, Any], without_middle: bool) -> list[float] | None:
    """Return the shares of the options of one response: of probabilities, counts, or the option that was named."""
    for column in ("probability", "count"):
        if isinstance(row[column], list | np.ndarray) and sum(row[column]) > 0:
            return [float(value / sum(row[column])) for value in row[column]]
    if isinstance(row["probability"], list | np.ndarray) or not isinstance(row["answer"], str):
        return None
    options = drop_middle_option_if_not_shown(row["options"], len(row["options"]) - without_middle)
    return [float(option == row["answer"]) for option in options]


def _compute_mean_answer(shares: list[float] | None) -> float:
    """Return the mean rank, 0 for the lowest option and 1 for the highest."""
    if shares is None:
        return np.nan
    return sum(rank * share for rank, share in enumerate(shares)) / (len(shares) - 1)


def _tabulate_setting_names_of_conditions(study: str, conditions: pd.DataFrame) -> pd.DataFrame:
    """Return study, asked (the condition) and condition (its setting)."""
    records = conditions.set_index("condition").drop(columns="study").to_dict("index")
    fields = {
        str(name): {key: value for key, value in record.items() if isinstance(value, list) or not pd.isna(value)}
        for name, record in records.items()
    }
    settings = name_settings_without_personas(fields)
    return pd.DataFrame({"study": study, "asked": list(settings), "condition": list(settings.values())})


def compute_scale_scores(answers: pd.DataFrame) -> pd.DataFrame:
    """Compute the score of every model on every scale: the mean over items of the mean over wordings, after reversing.

    `answers`: from `derive_option_shares_and_mean_answers`.

    Returns
    -------
    DataFrame
        study, model, condition, scale, n_conditions, score.
    """
    rows = answers[answers["scale"].notna()]
    by_wording = rows.groupby([*ROW, "scale", "item", "variant"], sort=False)["turned"].mean()
    items = by_wording.groupby([*ROW, "scale", "item"], sort=False).mean().dropna()
    scores = items.groupby([*ROW, "scale"], sort=False).mean().rename("score").reset_index()
    sizes = _count_conditions_per_setting(answers).rename("n_conditions")
    return scores.merge(sizes.reset_index(), on=ROW)


def keep_settings_with_all_conditions(spread: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Keep the rows whose setting was read with all its conditions, of which table `scales_spread` has the number."""
    keys = [*ROW, "n_conditions"]
    whole = spread[keys].astype({**dict.fromkeys(ROW, object), "n_conditions": int})
    return rows.astype({"n_conditions": int}).merge(whole, on=keys).drop(columns="n_conditions")


def average_wording_spreads_over_items(answers: pd.DataFrame, distance: Callable[..., float]) -> pd.DataFrame:
    """Compute what the wordings of an item do to its answer, means over conditions and then over items.

    Parameters
    ----------
    answers
        From `derive_option_shares_and_mean_answers`.
    distance
        `wasserstein_distance` of scipy: it gets ranks and shares of two wordings.

    Returns
    -------
    DataFrame
        study, model, condition, n_conditions, sd, apart.
    """
    lines = []
    for key, part in answers[answers["s"].notna()].groupby([*ROW, "asked", "item"], sort=False):
        if len(part) < 2:
            continue
        shares = stack_lists_into_array(part["shares"])
        places = np.linspace(0, 1, shares.shape[1])
        pairs = [distance(places, places, shares[a], shares[b]) for a, b in combinations(range(len(shares)), 2)]
        lines.append((*key, part["s"].std(), np.mean(pairs)))
    frame = pd.DataFrame(lines, columns=[*ROW, "asked", "item", "sd", "apart"])
    items = frame.groupby([*ROW, "item"], sort=False)[["sd", "apart"]].mean()
    return items.groupby(ROW, sort=False).mean().join(_count_conditions_per_setting(answers)).reset_index()


def compute_order_effects(answers: pd.DataFrame, describe: Describe) -> pd.DataFrame:
    """Compute how much higher answers are with the options shown rising than falling, all else equal.

    Parameters
    ----------
    answers
        From `derive_option_shares_and_mean_answers`; conditions are paired by their name without "-up" and "-down".
    describe
        `DescrStatsW` of statsmodels: it gets the mean difference of every item.

    Returns
    -------
    DataFrame
        study, model, condition, n_conditions, style ("order"), difference, lower, upper: interval for these wordings.
    """
    rows = answers[answers["option_order"].isin(["up", "down"])]
    pair = rows["asked"].str.replace(r"-(?:up|down)(?=/|$)", "", regex=True)
    keys = [*ROW, "pair", "item", "variant"]
    wide = rows.assign(pair=pair).pivot_table(index=keys, columns="option_order", values="s", sort=False)
    lines = []
    if {"up", "down"} <= set(wide.columns):
        order_differences = (wide["up"] - wide["down"]).dropna()
        by_wording = order_differences.groupby([*ROW, "item", "variant"], sort=False).mean()
        items = by_wording.groupby([*ROW, "item"], sort=False).mean()
        for key, values in items.groupby(ROW, sort=False):
            ends = describe(values.to_numpy()).tconfint_mean() if np.ptp(values) > 0 else (np.nan, np.nan)
            lines.append((*key, _count_conditions_per_setting(answers)[key], "order", values.mean(), *ends))
    return pd.DataFrame(lines, columns=[*ROW, "n_conditions", "style", "difference", "lower", "upper"])


def _count_conditions_per_setting(answers: pd.DataFrame) -> pd.Series:
    """Count the conditions of every setting."""
    return answers.groupby(ROW, sort=False)["asked"].nunique().rename("n_conditions")
