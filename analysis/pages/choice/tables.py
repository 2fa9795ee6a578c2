"""Make the tables about single models: runs in, tidy frame out. `catalogue` lists them by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from analysis.measures.choices import ALL, NO_CHOICE, NOT_ASKED, Choices, read_choice_studies
from analysis.pages.choice import measures, over_questions, printed
from analysis.reporting.catalogue.published_numbers import OURS
from analysis.runs import Runs
from analysis.statistics import interval
from analysis.statistics.resampling import DRAWS

NO_LETTER = "none"


def tabulate_choice_accuracy(runs: Runs, *, resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Measure how right every model is, and how far that holds when the question is reworded (Choi, section 3.3).

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    resamples, seed
        Draws of the bootstrap over items (0: no intervals) and its seed. Shares have intervals without draws (Wilson,
        Newcombe): only where these cannot be computed does the number of draws matter.

    Returns
    -------
    DataFrame
        One row per model, condition and subset of the questions; see `waver table --list choice`.
    """

    def measure_accuracy_and_xparacon(choices: Choices) -> dict[str, Any]:
        """Compute the columns over units for the questions of a subset."""
        terms_by_measure = over_questions.compute_headline_numerators_and_denominators(choices)
        answers = choices.chosen_letter != NOT_ASKED
        sizes = np.where(choices.asked_mask, choices.size, 1)
        with np.errstate(invalid="ignore"):
            return {
                **over_questions.build_headline_estimate_and_interval_columns(
                    over_questions.estimate_share_intervals(terms_by_measure, resamples, seed), len(choices.wordings)
                ),
                "n": answers.sum(axis=(0, 1, 2)),
                "validity": choices.validity,
                "validity_at_most": choices.validity_at_most,
                "no_choice": (choices.chosen_letter == NO_CHOICE).sum(axis=(0, 1, 2)),
                **_build_text_reading_columns(choices),
                "chance": (answers / sizes[..., None]).sum(axis=(0, 1, 2)) / answers.sum(axis=(0, 1, 2)),
                "n_varying": (terms_by_measure[over_questions.XPARACON][0] > 0).sum(axis=0),
            }

    return _tabulate_unit_measures_by_subset(runs, measure_accuracy_and_xparacon)


def _build_text_reading_columns(choices: Choices) -> dict[str, Any]:
    """Build columns on how each unit's texts were read, their number, and how many others read otherwise."""
    answers, readings = choices.chosen_letter != NOT_ASKED, np.array(choices.readings, object)
    counts = {"n_texts": choices.texts, "read_otherwise": choices.otherwise}
    return {"reading": readings} | {
        name: np.where(readings != "", np.where(answers, array, 0).sum(axis=(0, 1, 2)), np.nan)
        for name, array in counts.items()
    }


def tabulate_choice_accuracy_by_wording(runs: Runs, *, resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Measure accuracy and the share of perfectly correct questions by wording, beside Choi's Table 8.

    Parameters
    ----------
    runs, resamples, seed
        As in `tabulate_choice_accuracy`.

    Returns
    -------
    DataFrame
        One row per model, condition, subset and wording; then the printed rows, by `source`.
    """

    def measure_accuracy_by_wording(choices: Choices) -> list[dict[str, Any]]:
        """Compute the columns over units for each wording."""
        accuracy = measures.compute_accuracies_over_orders_by_wording(choices.chosen_letter, choices.gold)
        orders, rows = choices.asked_mask.sum(axis=2), []
        perfect = over_questions.mark_perfect_wordings_over_several_orders(accuracy, orders)
        for number, name in enumerate(choices.wordings):
            wording_accuracy, weight = accuracy[:, number], orders[:, number, None]
            intervals = over_questions.estimate_share_intervals(
                {"accuracy": (wording_accuracy * weight, wording_accuracy * 0 + weight),
                 "perfectly_correct": (perfect[:, number], perfect[:, number] * 0 + 1)}, resamples, seed
            )  # fmt: skip
            rows.append({"wording": name, **_build_estimate_and_interval_columns(intervals), "source": OURS})
        return rows

    return pd.concat(
        [_tabulate_unit_measures_by_subset(runs, measure_accuracy_by_wording), printed.read_printed_choice_wordings()],
        ignore_index=True,
    )


def tabulate_shares_of_question_classes(runs: Runs, *, resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Count the questions of which all wordings, some or none are perfectly correct (Choi, section 2).

    With three wordings, some are one or two: the questions that `waver choice build` keeps.

    Parameters
    ----------
    runs, resamples, seed
        As in `tabulate_choice_accuracy`.

    Returns
    -------
    DataFrame
        One row per model, condition and subset. confident, inconsistent, unconfident: shares of questions of which all,
        some or no wordings are; n_X: their numbers.
    """

    def measure_shares_of_question_classes(choices: Choices) -> dict[str, Any]:
        """Compute share and number of questions of each class, over units."""
        perfect = measures.mark_perfect_wordings(
            measures.compute_accuracies_over_orders_by_wording(choices.chosen_letter, choices.gold)
        )
        n_perfect, unknown = perfect.sum(axis=1), np.isnan(perfect).any(axis=1)
        n_wordings = len(choices.wordings)
        kinds = {
            "confident": n_perfect == n_wordings,
            "inconsistent": (n_perfect > 0) & (n_perfect < n_wordings),
            "unconfident": n_perfect == 0,
        }
        shares = {name: np.where(unknown, np.nan, kind) for name, kind in kinds.items()}
        intervals = over_questions.estimate_share_intervals(
            {name: (share, share * 0 + 1) for name, share in shares.items()}, resamples, seed
        )
        return _build_estimate_and_interval_columns(intervals) | {
            f"n_{name}": np.nansum(share, axis=0).astype(int) for name, share in shares.items()
        }

    return _tabulate_unit_measures_by_subset(runs, measure_shares_of_question_classes)


def tabulate_choice_consistency(runs: Runs, *, resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Measure how often a model takes the same choice in other orders, in other words, and in all of both.

    Parameters
    ----------
    runs, resamples, seed
        As in `tabulate_choice_accuracy`.

    Returns
    -------
    DataFrame
        One row per model, condition and subset. `same_in_orders`: share of questions and wordings with one choice in
        all orders; `same_in_wordings`: of questions and orders with one in all wordings; `same_throughout`: of
        questions with one in all of them; `changed`: the rest; `same_letter`: of questions and wordings with one letter
        in all orders. `turned_by_wordings` and `turned_by_orders`: share of pairs of answers with different choices,
        where only the wording, or only the order, differs; `order_minus_wording`: their difference.
    """

    def compute_kept_and_turned_choice_shares(choices: Choices) -> dict[str, Any]:
        """Compute the shares of kept and of turned choices, over units."""
        is_same_throughout = measures.mark_same_choice_throughout(choices.chosen_letter)
        terms_by_measure = {
            "same_in_orders": over_questions.sum_and_count_over_middle_axis(
                measures.mark_same_choice_over_orders(choices.chosen_letter)
            ),
            "same_in_wordings": over_questions.sum_and_count_over_middle_axis(
                measures.mark_same_choice_over_wordings(choices.chosen_letter)
            ),
            "same_throughout": (is_same_throughout, is_same_throughout * 0 + 1),
            "changed": (1 - is_same_throughout, is_same_throughout * 0 + 1),
            "same_letter": over_questions.sum_and_count_over_middle_axis(
                measures.mark_same_choice_over_orders(choices.chosen_place)
            ),
        }
        kept_columns = _build_estimate_and_interval_columns(
            over_questions.estimate_share_intervals(terms_by_measure, resamples, seed)
        )
        turned = {
            "turned_by_wordings": over_questions.sum_and_count_over_middle_axis(
                measures.compute_share_of_differing_wording_pairs(choices.chosen_letter)
            ),
            "turned_by_orders": over_questions.sum_and_count_over_middle_axis(
                measures.compute_share_of_differing_order_pairs(choices.chosen_letter)
            ),
        }
        gap = {"order_minus_wording": ("turned_by_orders", "turned_by_wordings")}
        turned_columns = _build_estimate_and_interval_columns(
            over_questions.estimate_share_intervals(turned, resamples, seed, gap)
        )
        return {**kept_columns, **turned_columns, "n_questions": kept_columns["n_questions"],
                "validity": choices.validity,
                "no_interval": _join_missing_interval_reasons_per_unit(kept_columns["no_interval"],
                                                                   turned_columns["no_interval"])}  # fmt: skip

    return _tabulate_unit_measures_by_subset(runs, compute_kept_and_turned_choice_shares)


def tabulate_chosen_letters(runs: Runs, *, resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Measure how often each letter is chosen, whatever stands there: by the letter of the right choice, and in all.

    Parameters
    ----------
    runs, resamples, seed
        As in `tabulate_choice_accuracy`.

    Returns
    -------
    DataFrame
        One row per model, condition, right letter ("all": whichever is right) and letter chosen (`NO_LETTER`: the
        answer is none), over all questions of a study. `is_right`: share of the answers for which the letter is right.
        `preference`: over all answers, share minus is_right. Both vary with the questions and with the orders drawn for
        them, so that either of them alone tells little: a model that guesses has no preference.
    """

    def measure_letter_shares(choices: Choices) -> list[dict[str, Any]]:
        """Compute the share of every letter, for each letter of the right choice and over all, over units."""
        letters, rows = choices.letters[: int(choices.size.max())], []
        for of, right in ((None, ALL), *enumerate(letters)):
            for number, letter in (*enumerate(letters), (NO_CHOICE, NO_LETTER)):
                counts = measures.count_answers_at_position_and_all_answers(
                    choices.chosen_place, choices.right, number, of
                )
                is_asked = (choices.chosen_place != NOT_ASKED).any(axis=(1, 2))
                share, whole = (np.where(is_asked, side, np.nan) for side in counts)
                terms_by_measure, gap = {"share": (share, whole)}, {}
                if of is None:
                    right_at_letter = (choices.chosen_place != NOT_ASKED) & (choices.right == number)[..., None]
                    terms_by_measure["is_right"] = np.where(is_asked, right_at_letter.sum(axis=(1, 2)), np.nan), whole
                    gap = {"preference": ("share", "is_right")}
                intervals = over_questions.estimate_share_intervals(terms_by_measure, resamples, seed, gap)
                is_right = intervals.pop("is_right").estimate if of is None else float(of == number)
                rows.append({"right": right, "letter": letter, "n": counts[1].sum(axis=0).astype(int),
                             "validity": choices.validity, **_build_estimate_and_interval_columns(intervals),
                             "is_right": is_right})  # fmt: skip
        return rows

    return _tabulate_unit_measures_by_subset(runs, measure_letter_shares, whole_studies_only=True).drop(
        columns="subset"
    )


def _join_missing_interval_reasons_per_unit(reasons_a: np.ndarray, reasons_b: np.ndarray) -> list[str]:
    """Join what two parts of a row say about missing intervals."""
    return ["; ".join(filter(None, pair)) for pair in zip(reasons_a, reasons_b, strict=True)]


def _build_estimate_and_interval_columns(intervals: dict[str, interval.Interval]) -> dict[str, Any]:
    """Return estimates and interval ends as columns, with n_questions."""
    return {"n_questions": next(iter(intervals.values())).n_items, **interval.build_interval_columns(intervals)}


def _tabulate_unit_measures_by_subset(
    runs: Runs,
    compute_columns: Callable[[Choices], dict[str, Any] | list[dict[str, Any]]],
    whole_studies_only: bool = False,
) -> pd.DataFrame:
    """Make rows for every study, subset and unit: of a function that gives columns over units, or several such.

    The rows of a unit stand together, all questions before the subsets.
    """
    tables = []
    for study in read_choice_studies(runs):
        models, conditions = zip(*study.units, strict=True)
        blocks = []
        for subset, choices in ({ALL: study} if whole_studies_only else study.split_by_subset()).items():
            part_columns = compute_columns(choices)
            keys = {"study": study.study, "model": models, "condition": conditions, "subset": subset}
            blocks += [
                keys | columns for columns in (part_columns if isinstance(part_columns, list) else [part_columns])
            ]
        tables.append(_stack_columns_of_units(blocks, len(study.units)))
    table = pd.concat(tables, ignore_index=True)
    return table[table["n_questions"] > 0].reset_index(drop=True)


def _stack_columns_of_units(blocks: Sequence[Mapping[str, Any]], n_units: int) -> pd.DataFrame:
    """Make one frame of blocks of columns, each a value or one value per unit; the rows of a unit stand together.

    A frame of every block, joined, takes ten times as long.
    """
    stacked: dict[str, list[Any]] = {name: [] for block in blocks for name in block}
    for block in blocks:
        for name, values in stacked.items():
            value = block.get(name, np.nan)
            values += [value] * n_units if isinstance(value, str | float) else list(value)
    return pd.DataFrame(stacked, index=np.tile(np.arange(n_units), len(blocks))).sort_index(kind="stable")
