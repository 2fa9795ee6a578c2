"""Compare written answers with probabilities: does a model write its most probable option?

A prompt may be asked twice: for the exact probability of every option, and for a text that is read as an answer. The
two conditions are *twins*: they differ only in how the model answers.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from analysis.runs import Runs
from analysis.runs.conditions import find_same_prompt_condition_with_probabilities
from analysis.statistics import interval
from analysis.statistics.resampling import DRAWS, bootstrap_intervals, compute_shares_or_differences_per_draw
from analysis.statistics.shares import build_shares_by_figure

TEXT = "text"
# Share -> the sums that it is made of (`_count_text_mismatches_by_item`).
SHARES = {"token_mismatch": [("other_token", "valid")], "option_mismatch": [("other_option", "valid")],
          "text_invalid": [("invalid", "texts")], "no_token": [("no_token", "texts")]}  # fmt: skip


def tabulate_texts_against_probabilities(runs: Runs, *, resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Compare texts with the probabilities of the same prompts, for every model that was asked for both.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    resamples, seed
        Draws of the bootstrap over items (0: no intervals) and its seed.

    Returns
    -------
    DataFrame
        study, model, condition (that of the texts); token_mismatch: share of the valid texts that choose another option
        than the one that starts with the most probable first token (if no option starts with it, every text counts as a
        mismatch); option_mismatch: share of the valid texts that do not choose the most probable option; text_invalid:
        share of the texts without a valid answer; no_token: share of the texts whose prompt has a most probable first
        token that starts no option; read_agreement: share of the valid texts that agree; least_agreement,
        most_agreement: share of all texts that agree, if those without a valid answer all disagreed, or all agreed;
        n_answers, n_items; X_lower, X_upper: 95 % interval of X over items, after `analysis.statistics.shares`.

    Raises
    ------
    InputError
        For a number of draws or a seed that is out of range.
    """
    tables = []
    for study, conditions in runs.info["conditions"].items():
        for name, fields in conditions.items():
            probabilities = find_same_prompt_condition_with_probabilities(conditions, name)
            if probabilities is not None and fields["answer"] == TEXT:
                items = _count_text_mismatches_by_item(runs, study, name, probabilities)
                if len(items):
                    tables.append(
                        _tabulate_written_answer_shares(items, resamples, seed).assign(study=study, condition=name)
                    )
    if not tables:
        # The catalogue does not name the ends of intervals: a table without rows has those that are here.
        return pd.DataFrame(columns=[f"{name}_{end}" for name in SHARES for end in ("lower", "upper")])
    order = {model: place for place, model in enumerate(runs.info["models"])}
    model_rows = pd.concat(tables, ignore_index=True)
    return model_rows.sort_values("model", key=lambda names: names.map(order), kind="stable", ignore_index=True)


def _count_text_mismatches_by_item(
    runs: Runs, study: str, text_condition: str, probability_condition: str
) -> pd.DataFrame:
    """Count texts, valid texts and mismatches per model and item, over the wordings that were asked in both ways."""
    return runs.sql(
        """
        WITH pair AS (
            SELECT t.model, t.item, t."count" AS chosen, list_position(s.canonical, $agree) AS agree,
                   list_sum(t."count") AS valid, t.invalid,
                   list_position(s.options, p.answer) AS token,
                   list_position(p.probability, list_max(p.probability)) AS likeliest
            FROM responses AS t JOIN responses AS p USING (study, model, item, variant)
                 JOIN stimuli AS s USING (study, item, variant)
            WHERE study = $study AND t.condition = $texts AND p.condition = $probabilities
                  AND t."count" IS NOT NULL AND p.probability IS NOT NULL)
        SELECT model, item, sum(valid + invalid)::DOUBLE AS texts, sum(valid)::DOUBLE AS valid,
               sum(valid - coalesce(chosen[token], 0))::DOUBLE AS other_token,
               sum(valid - coalesce(chosen[likeliest], 0))::DOUBLE AS other_option,
               sum(invalid)::DOUBLE AS invalid, sum(chosen[agree])::DOUBLE AS agreeing,
               coalesce(sum(valid + invalid) FILTER (WHERE coalesce(token, 0) = 0), 0)::DOUBLE AS no_token
        FROM pair GROUP BY model, item ORDER BY model, item""",
        {
            "study": study,
            "texts": text_condition,
            "probabilities": probability_condition,
            "agree": runs.info["studies"][study]["canonical"][0],
        },
    )


def _tabulate_written_answer_shares(item_counts: pd.DataFrame, resamples: int, seed: int) -> pd.DataFrame:
    """Compute the rows of one condition: every share with its interval."""
    wide = item_counts.set_index(["item", "model"]).unstack("model")
    columns = {name: wide[name].to_numpy(float) for name in item_counts.columns if name not in ("item", "model")}
    estimates = bootstrap_intervals(
        columns,
        partial(compute_shares_or_differences_per_draw, parts_by_figure=SHARES),
        partial(build_shares_by_figure, parts_by_figure=SHARES),
        draws=resamples,
        seed=seed,
    )
    about = {"model": wide["texts"].columns, "n_answers": np.nansum(columns["texts"], axis=0).astype(int)}
    agreeing, valid, invalid = (np.nansum(columns[name], axis=0) for name in ("agreeing", "valid", "invalid"))
    with np.errstate(invalid="ignore"):
        read_agreement = agreeing / valid  # NaN where no text is valid
    bounds = {
        "read_agreement": read_agreement,
        "least_agreement": agreeing / (valid + invalid),
        "most_agreement": (agreeing + invalid) / (valid + invalid),
    }
    return pd.DataFrame(
        about | interval.build_interval_columns(estimates) | bounds | {"n_items": estimates["text_invalid"].n_items}
    )
