"""Compute consistency between a question and its rewordings step by step (Takayama et al., section 3.2).

::

    answers = derive_answers_to_original_questions(run.responses(), run.wordings(), {"facts": "yes"})
    pairs = pair_answers_with_originals(answers)
    consistency = average_answer_pairs_by_pattern(pairs)

Reference
---------
Takayama, J. et al. Evaluating the effect of question wording variations on answer consistency in large language models.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from analysis.measures.agreement import refuse_unknown_invalid_answer_convention
from analysis.measures.part_names import name_tasks_of_study
from analysis.runs.folder import ORIGINAL, UNIT
from analysis.steps.rows import (
    attach_wordings,
    find_answer_or_modal_sample_answer,
    find_place_of_largest_score,
    pick_entry_at_place_per_row,
    stack_lists_into_array,
    stack_row_options_and_canonical_labels,
)

GROUP = ["study", "model", "language", "task", "condition", "pattern"]  # what a measure is computed for
_OF_ORIGINAL = ["said", "yes", "meant"]


def derive_answers_to_original_questions(
    responses: pd.DataFrame, wordings: pd.DataFrame, yes_labels: Mapping[str, str]
) -> pd.DataFrame:
    """Read what every response says, and what that amounts to as an answer to the original question.

    Parameters
    ----------
    responses
        `Run.responses`: study, model, condition, item, variant, answer, count, invalid, probability; of thoughts also
        thought_tokens.
    wordings
        `Run.wordings`: study, item, variant, pattern, language, gold, options, canonical, `attributes.task`.
    yes_labels
        Study -> the label that means yes.

    Returns
    -------
    DataFrame
        study, model, condition, item, variant, pattern; language, task (the study's name where none is given); said:
        the answer, None without a valid one; yes: 1 where that is "Yes", 0 for another valid answer, else NaN; meant:
        the answer to the original question that it amounts to ("No" to an antonym is "Yes"); inverted: whether "Yes"
        here means what "No" means there; gold: the right answer to the original question; outvoted: whether at least as
        many samples hold no answer as give the more frequent one.
    """
    columns = ["pattern", "language", "gold", "options", "canonical", "attributes.task"]
    rows = attach_wordings(responses, wordings, columns)
    options, canonical = stack_row_options_and_canonical_labels(rows)
    said, yes = find_answer_or_modal_sample_answer(rows), rows["study"].map(yes_labels).to_numpy(object)
    counts, invalid = stack_lists_into_array(rows["count"]), rows["invalid"].astype(float).fillna(0).to_numpy()
    is_sampled = ~np.isnan(counts[:, 0]) & rows["probability"].isna().to_numpy()
    return rows[[*UNIT, "item", "variant", "pattern"]].assign(
        language=rows["language"].fillna(""),
        task=_name_task_of_every_row(rows),
        said=said,
        yes=np.where(pd.isna(said), np.nan, (said == yes).astype(float)),
        meant=pick_entry_at_place_per_row(canonical, _find_index_of_label_per_row(options, said)),
        inverted=pick_entry_at_place_per_row(canonical, _find_index_of_label_per_row(options, yes)) != yes,
        gold=rows["gold"].to_numpy(object),
        outvoted=is_sampled & (invalid >= np.fmax(counts[:, 0], counts[:, 1])),
    )


def _name_task_of_every_row(rows: pd.DataFrame) -> pd.Series:
    """Return the task of every row; without one, the study's name."""
    by_study = rows["attributes.task"].groupby(rows["study"], sort=False)
    names = [name_tasks_of_study(tasks, str(study)) for study, tasks in by_study]
    return pd.concat(names) if names else rows["study"]


def _find_index_of_label_per_row(options: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Find the place of a label among the options of every row; -1 where it is none of them."""
    is_label = (options == labels[:, None]) & ~pd.isna(labels)[:, None]
    return find_place_of_largest_score(np.where(is_label, 1.0, np.nan))


def pair_answers_with_originals(answers: pd.DataFrame, invalid: str = "dropped") -> pd.DataFrame:
    """Pair the answer to every wording with the answer to the original question of its item.

    Parameters
    ----------
    answers
        From `derive_answers_to_original_questions`.
    invalid
        A pair with an invalid answer is "dropped", or counts as "inconsistent", wrong and not "Yes".

    Returns
    -------
    DataFrame
        The columns of `answers`, and said_original, yes_original, meant_original; valid: 1 where the wording has a
        valid answer; and for every pair that counts, else NaN: consistent: 1 where both answers mean the same;
        expected: 1 where a consistent answer would be "Yes"; right, right_original: 1 for the right answer, NaN where
        none is known.
    """
    refuse_unknown_invalid_answer_convention(invalid)
    if invalid == "inconsistent":
        answers = answers.assign(**{name: answers[name].mask(answers["outvoted"]) for name in _OF_ORIGINAL})
    keys = [*UNIT, "item"]
    originals = answers.loc[answers["pattern"] == ORIGINAL, [*keys, *_OF_ORIGINAL]]
    pairs = answers.merge(originals, on=keys, suffixes=("", "_original"), validate="many_to_one")
    is_read = pairs["meant"].notna() & pairs["meant_original"].notna()
    counts = is_read | (invalid == "inconsistent")
    has_gold = counts & pairs["gold"].notna()
    expected = (pairs["yes_original"] == 1) != pairs["inverted"]

    def convert_condition_to_zero_or_one(is_true: pd.Series, is_counted: pd.Series = counts) -> pd.Series:
        """Turn a condition into 1 or 0; NaN for a pair that does not count."""
        return is_true.astype(float).where(is_counted)

    return pairs.assign(
        valid=pairs["meant"].notna().astype(float),
        consistent=convert_condition_to_zero_or_one((pairs["meant"] == pairs["meant_original"]) & is_read),
        yes=convert_condition_to_zero_or_one(pairs["yes"] == 1),
        yes_original=convert_condition_to_zero_or_one(pairs["yes_original"] == 1),
        expected=convert_condition_to_zero_or_one(expected & pairs["yes_original"].notna()),
        right=convert_condition_to_zero_or_one(pairs["meant"] == pairs["gold"], has_gold),
        right_original=convert_condition_to_zero_or_one(pairs["meant_original"] == pairs["gold"], has_gold),
    )


def average_answer_pairs_by_pattern(pairs: pd.DataFrame) -> pd.DataFrame:
    """Average the pairs of every model and kind of wording (section 3.2).

    `pairs`: from `pair_answers_with_originals`.

    Returns
    -------
    DataFrame
        study, model, language, task, condition, pattern; valid: share of valid answers; consistency: share of the pairs
        whose answers mean the same; yes: share of "Yes"; diff_yes: minus that of the original questions; excess_yes:
        minus that of consistent answers; accuracy, accuracy_original: share of right answers; diff_acc: their
        difference; overall: harmonic mean of accuracy_original, accuracy and consistency. The original question is not
        compared with itself.
    """
    means = pairs.groupby(GROUP, sort=False)[
        ["valid", "consistent", "yes", "yes_original", "expected", "right", "right_original"]
    ].mean().reset_index()  # fmt: skip
    compared = pd.DataFrame({"consistency": means["consistent"], "accuracy_original": means["right_original"]}).assign(
        diff_yes=means["yes"] - means["yes_original"],
        excess_yes=means["yes"] - means["expected"],
        diff_acc=means["right"] - means["right_original"],
        overall=3 / (1 / means[["right_original", "right", "consistent"]]).sum(axis=1, skipna=False),
    )
    table = means[[*GROUP, "valid", "yes"]].assign(accuracy=means["right"])
    return pd.concat([table, compared.where(table["pattern"] != ORIGINAL)], axis=1)
