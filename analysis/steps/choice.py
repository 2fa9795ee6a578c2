"""Compute accuracy and its robustness to rewording step by step (Choi, sections 2 and 3.3).

::

    choices = derive_choices_of_responses(run.responses(), run.wordings())
    accuracies = average_over_option_orders(choices)
    robustness = summarize_accuracies_over_questions(accuracies)

Reference
---------
Choi, M. RoParQ: paraphrase-aware alignment of large language models towards robustness to paraphrased questions.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd

from analysis.measures.part_names import name_part_beside_total, name_parts_beside_rest
from analysis.runs.folder import UNIT
from analysis.steps.rows import (
    attach_wordings,
    find_place_of_largest_score,
    pick_entry_at_place_per_row,
    stack_lists_into_array,
    stack_row_options_and_canonical_labels,
)

PER_BYTE = " per byte"  # ending of a condition whose texts' log-probabilities are divided by their length
ALL, NO_SUBSET = "all", "none"
GROUP = [*UNIT, "subset"]


def derive_choices_of_responses(
    responses: pd.DataFrame, wordings: pd.DataFrame, text_conditions: Collection[str] = ()
) -> pd.DataFrame:
    """Read which choice every response takes: the likeliest option, else the answer, else the option of most samples.

    Parameters
    ----------
    responses
        `Run.responses`: study, model, condition, item, variant, probability, logprob, answer, count.
    wordings
        `Run.wordings`: study, item, variant, pattern, gold, options, canonical, `attributes.subset`, and
        `attributes.choice_A` ... for `text_conditions`.
    text_conditions
        Conditions with the probabilities of the choices' texts; they are read once more with log-probabilities divided
        by the length in bytes, as a condition with the ending `PER_BYTE`.

    Returns
    -------
    DataFrame
        study, model, condition, item, pattern; order: number of the order of the options; subset; chosen: letter of the
        choice in the question's own order, None where two are as likely or there is none; right: 1 where it is the
        right one, else 0. Of a study with several subsets every row is there twice, also as the subset "all".
    """
    texts = sorted(name for name in wordings.columns if name.startswith("attributes.choice_"))
    columns = ["pattern", "gold", "options", "canonical", "attributes.subset", *texts]
    rows = attach_wordings(responses, wordings, columns)
    scores = stack_lists_into_array(rows["logprob"].where(rows["logprob"].notna(), rows["probability"]))
    choices = _build_choice_rows_by_score_text_or_count(rows, scores)
    is_text = rows["condition"].isin(text_conditions).to_numpy()
    if is_text.any():
        of_texts = rows[is_text]
        per_byte = _build_choice_rows_by_score_text_or_count(of_texts, _divide_log_probabilities_by_bytes(of_texts))
        choices = pd.concat([choices, per_byte.assign(condition=per_byte["condition"] + PER_BYTE)], ignore_index=True)
    return _add_rows_of_all_subsets(choices)


def _build_choice_rows_by_score_text_or_count(rows: pd.DataFrame, scores: np.ndarray) -> pd.DataFrame:
    """Take the option with the largest score of every row, or what the row answers where it has no scores."""
    options, canonical = stack_row_options_and_canonical_labels(rows)
    is_answer = (options == rows["answer"].to_numpy(object)[:, None]) & rows["answer"].notna().to_numpy()[:, None]
    answered = find_place_of_largest_score(np.where(is_answer, 1.0, np.nan))
    has_scores, has_answer = ~np.isnan(scores).all(axis=1), rows["answer"].notna().to_numpy()
    places = np.select(
        [has_scores, has_answer],
        [find_place_of_largest_score(scores), answered],
        find_place_of_largest_score(stack_lists_into_array(rows["count"])),
    )
    chosen = pick_entry_at_place_per_row(canonical, places)
    return rows[[*UNIT, "item", "pattern"]].assign(
        order=rows["variant"].str.extract(r"/([0-9]{1,4})$", expand=False).astype(int),
        subset=name_parts_beside_rest(rows["attributes.subset"], NO_SUBSET, "subset"),
        chosen=chosen,
        right=(chosen == rows["gold"].to_numpy(object)).astype(float),
    )


def _divide_log_probabilities_by_bytes(rows: pd.DataFrame) -> np.ndarray:
    """Divide the log-probability of every choice's text by its length in bytes."""
    canonical = stack_lists_into_array(rows["canonical"], object)
    lengths = np.full(canonical.shape, np.nan)
    for letter in pd.unique(canonical.ravel()):
        if letter is not None:
            of_letter = rows[f"attributes.choice_{letter}"].str.encode("utf-8").str.len().to_numpy(float)
            lengths = np.where(canonical == letter, of_letter[:, None], lengths)
    with np.errstate(divide="ignore"):
        logarithms = np.where(
            rows["logprob"].notna().to_numpy()[:, None],
            stack_lists_into_array(rows["logprob"]),
            np.log(stack_lists_into_array(rows["probability"])),
        )
    return logarithms / lengths


def _add_rows_of_all_subsets(choices: pd.DataFrame) -> pd.DataFrame:
    """Add the rows of studies with several subsets once more as the subset "all"; without subsets, all rows are it."""
    n_subsets = choices.groupby("study")["subset"].transform("nunique")
    choices = choices.assign(subset=choices["subset"].mask((n_subsets == 1) & (choices["subset"] == NO_SUBSET), ALL))
    unlike_total = choices["subset"].map(lambda name: name_part_beside_total(str(name), ALL, "subset"))
    renamed = choices.assign(subset=choices["subset"].where(n_subsets == 1, unlike_total))
    return pd.concat([choices[n_subsets > 1].assign(subset=ALL), renamed], ignore_index=True)


def average_over_option_orders(choices: pd.DataFrame) -> pd.DataFrame:
    """Average over the orders of the options: study, model, condition, subset, item, pattern, n_orders, accuracy."""
    groups = choices.groupby([*GROUP, "item", "pattern"], sort=False)["right"]
    return groups.agg(n_orders="size", accuracy="mean").reset_index()


def summarize_accuracies_over_questions(accuracies: pd.DataFrame) -> pd.DataFrame:
    """Summarise every model's accuracies over questions and their wordings (equation 1, section 3.3).

    `accuracies`: from `average_over_option_orders`.

    Returns
    -------
    DataFrame
        study, model, condition, subset; accuracy: share of right answers; perfectly_correct: share of wordings that are
        answered rightly in all orders, NaN with one order, where that is accuracy; mean_sd: mean over questions of the
        standard deviation of the wordings' accuracies (dividing by their number); xparacon: -log2 of it, infinite where
        nothing varies.
    """
    rows = accuracies.assign(
        right=accuracies["accuracy"] * accuracies["n_orders"], perfect=(accuracies["accuracy"] == 1).astype(float)
    )
    groups = rows.groupby(GROUP, sort=False)
    spreads = rows.groupby([*GROUP, "item"], sort=False)["accuracy"].agg(["std", "size"]).reset_index()
    # With a single wording there is nothing to deviate from: NaN, not 0.
    spreads["sd"] = (spreads["std"] * np.sqrt((spreads["size"] - 1) / spreads["size"])).where(spreads["size"] > 1)
    table = pd.DataFrame({
        "accuracy": groups["right"].sum() / groups["n_orders"].sum(),
        "perfectly_correct": groups["perfect"].mean().where(groups["n_orders"].max() > 1),
        "mean_sd": spreads.groupby(GROUP, sort=False)["sd"].mean(),
    })  # fmt: skip
    with np.errstate(divide="ignore"):
        return table.assign(xparacon=-np.log2(table["mean_sd"])).reset_index()


def compute_shares_of_unchanged_choices(choices: pd.DataFrame) -> pd.DataFrame:
    """Compute how often one choice is kept in other orders, in other words, and in all of both.

    Returns
    -------
    DataFrame
        study, model, condition, subset; same_in_orders: share of questions and wordings with one choice in all orders;
        same_in_wordings: of questions and orders with one in all wordings; same_throughout: of questions with one in
        all of them; changed: the rest. Where every question has one answer only, nothing is kept or changed: no row.
    """
    kept = pd.DataFrame({
        "same_in_orders": _compute_unanimous_shares_by_subset(choices, ["item", "pattern"]),
        "same_in_wordings": _compute_unanimous_shares_by_subset(choices, ["item", "order"]),
        "same_throughout": _compute_unanimous_shares_by_subset(choices, ["item"]),
    })  # fmt: skip
    kept = kept.dropna(subset=["same_throughout"])
    return kept.assign(changed=1 - kept["same_throughout"]).reset_index()


def _compute_unanimous_shares_by_subset(choices: pd.DataFrame, keys: Sequence[str]) -> pd.Series:
    """Compute the share of groups of two or more answers that are one and the same choice."""
    groups = choices.groupby([*GROUP, *keys], sort=False)["chosen"]
    sizes = groups.agg(["nunique", "count", "size"])
    is_kept = (sizes["nunique"] == 1) & (sizes["count"] == sizes["size"])
    return is_kept.astype(float).where(sizes["size"] > 1).groupby(GROUP, sort=False).mean()
