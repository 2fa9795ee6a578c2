"""Compute accuracy on minimal pairs with and without a negation step by step (Yoshida et al., section 4.2).

::

    judgements = derive_labels_of_responses(run.responses(), run.wordings())
    pairs = pair_judgements_with_parents(judgements, run.wordings())
    accuracies = average_minimal_pairs_by_model(pairs)

Reference
---------
Yoshida, A. et al. A Japanese dataset of natural language inference to evaluate the understanding of negation.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.runs.folder import ORIGINAL, UNIT
from analysis.steps.rows import attach_wordings, find_answer_or_modal_sample_answer

SIDES = ("important", "unimportant")  # of a pair: whether the negation changes the right label


def derive_labels_of_responses(responses: pd.DataFrame, wordings: pd.DataFrame) -> pd.DataFrame:
    """Read which label every response gives to a premise and a hypothesis.

    Parameters
    ----------
    responses
        `Run.responses`: study, model, condition, item, variant, answer, count; of thoughts also probability and
        thought_tokens.
    wordings
        `Run.wordings`: study, item, variant, pattern, gold, options.

    Returns
    -------
    DataFrame
        study, model, condition, item, variant; sentences: "original", or "negated" where either sentence is; gold: the
        right label; said: the label given, None without a valid answer; valid, right: 1 or 0, an answer that is not
        valid being wrong.
    """
    rows = attach_wordings(responses, wordings, ["pattern", "gold", "options"])
    said, gold = find_answer_or_modal_sample_answer(rows), rows["gold"].to_numpy(object)
    return rows[[*UNIT, "item", "variant"]].assign(
        sentences=np.where(rows["pattern"] == ORIGINAL, ORIGINAL, "negated"),
        gold=gold,
        said=said,
        valid=(~pd.isna(said)).astype(float),
        right=(said == gold).astype(float),
    )


def pair_judgements_with_parents(judgements: pd.DataFrame, wordings: pd.DataFrame) -> pd.DataFrame:
    """Pair every judgement with that of the same sentences with one negation less (section 2.1).

    Parameters
    ----------
    judgements
        From `derive_labels_of_responses`.
    wordings
        `Run.wordings`: study, item, variant, parents.

    Returns
    -------
    DataFrame
        The columns of `judgements`, and those of the parent with the ending _before; pairs: "important" where the two
        have different right labels, else "unimportant".
    """
    parents = wordings[["study", "item", "variant", "parents"]].explode("parents").dropna(subset="parents")
    parents = parents.rename(columns={"parents": "variant_before"})
    after = judgements.merge(parents, on=["study", "item", "variant"])
    before = judgements.drop(columns="sentences").rename(columns={"variant": "variant_before"})
    pairs = after.merge(before, on=[*UNIT, "item", "variant_before"], how="left", suffixes=("", "_before"))
    pairs = pairs.dropna(subset="right_before")  # a pair counts where both sides have a response
    return pairs.assign(pairs=np.where(pairs["gold"] != pairs["gold_before"], *SIDES))


def average_minimal_pairs_by_model(pairs: pd.DataFrame) -> pd.DataFrame:
    """Average both sides of the minimal pairs of every model (section 4.2).

    Returns
    -------
    DataFrame
        study, model, condition, pairs; n: pairs; acc (Acc): share judged rightly without the negation; acc_negated
        (Acc'): with it; acc_change (AccChg): the second minus the first; validity: share of valid answers.
    """
    groups = pairs.groupby([*UNIT, "pairs"], sort=False)
    table = groups.agg(
        n=("right", "size"), acc=("right_before", "mean"), acc_negated=("right", "mean"), after=("valid", "mean"),
        before=("valid_before", "mean"),
    ).reset_index()  # fmt: skip
    validity = (table.pop("after") + table.pop("before")) / 2
    return table.assign(acc_change=table["acc_negated"] - table["acc"], validity=validity)


def count_right_labels(judgements: pd.DataFrame) -> pd.DataFrame:
    """Count the right labels of every model on sentences with and without a negation.

    Returns
    -------
    DataFrame
        study, model, condition, sentences; n: answers; n_right: right ones; valid, accuracy: shares.
    """
    groups = judgements.groupby([*UNIT, "sentences"], sort=False)
    return groups.agg(
        n=("right", "size"), n_right=("right", "sum"), valid=("valid", "mean"), accuracy=("right", "mean")
    ).reset_index()  # fmt: skip
