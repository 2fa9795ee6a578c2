"""Make the tables about single models: runs in, tidy frame out. `catalogue` lists them by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from analysis.pages.choice import measures, over_questions, printed
from analysis.reporting.printed import OURS
from analysis.runs.choices import ALL, NONE, NOT_ASKED, Choices, studies
from analysis.statistics import interval
from analysis.statistics.resampling import DRAWS

if TYPE_CHECKING:
    from analysis.runs import Runs

NO_LETTER = "none"


def choice(runs: Runs, *, resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Measure how right every model is, and how far that holds when the question is reworded (Choi, section 3.3).

    Parameters
    ----------
    runs
        From `analysis.runs.open`.
    resamples, seed
        Draws of the bootstrap over items (0: no intervals) and its seed.

    Returns
    -------
    DataFrame
        One row per model, condition and subset of the questions; see `waver table --list choice`.
    """

    def made(part: Choices) -> dict[str, Any]:
        figures = over_questions.headline(part)
        answers = part.chosen != NOT_ASKED
        sizes = np.where(part.asked, part.size, 1)
        with np.errstate(invalid="ignore"):
            return {
                **over_questions.columns(over_questions.measured(figures, resamples, seed), len(part.wordings)),
                "n": answers.sum(axis=(0, 1, 2)),
                "validity": part.validity,
                "least_validity": part.least,
                "no_choice": (part.chosen == NONE).sum(axis=(0, 1, 2)),
                "reading": part.readings,
                **_readings(part),
                "chance": (answers / sizes[..., None]).sum(axis=(0, 1, 2)) / answers.sum(axis=(0, 1, 2)),
                "n_varying": (figures[over_questions.XPARACON][0] > 0).sum(axis=0),
            }

    return _of_parts(runs, made)


def _readings(part: Choices) -> dict[str, Any]:
    """Say of every unit how its texts were read, how many there are, and how many another reading reads otherwise."""
    answers, readings = part.chosen != NOT_ASKED, np.array(part.readings, object)
    counts = {"n_texts": part.texts, "read_otherwise": part.otherwise}
    return {"reading": readings} | {
        name: np.where(readings != "", np.where(answers, array, 0).sum(axis=(0, 1, 2)), np.nan)
        for name, array in counts.items()
    }


def wordings(runs: Runs, *, resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Measure accuracy and the share of perfectly correct questions by wording, beside Choi's Table 8.

    Parameters
    ----------
    runs, resamples, seed
        As in `choice`.

    Returns
    -------
    DataFrame
        One row per model, condition, subset and wording; then the printed rows, by `source`.
    """

    def made(part: Choices) -> list[dict[str, Any]]:
        accuracy = measures.accuracies(part.chosen, part.gold)
        perfect, rows = measures.perfect(accuracy), []
        orders = part.asked.sum(axis=2)
        for number, name in enumerate(part.wordings):
            own, weight = accuracy[:, number], orders[:, number, None]
            found = over_questions.measured(
                {"accuracy": (own * weight, own * 0 + weight),
                 "perfectly_correct": (perfect[:, number], perfect[:, number] * 0 + 1)}, resamples, seed
            )  # fmt: skip
            rows.append({"wording": name, **_columns(found), "source": OURS})
        return rows

    return pd.concat([_of_parts(runs, made), printed.wordings()], ignore_index=True)


def classes(runs: Runs, *, resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Count the questions of which all wordings, some or none are perfectly correct (Choi, section 2).

    With three wordings, some are one or two: the questions that `waver select` keeps.

    Parameters
    ----------
    runs, resamples, seed
        As in `choice`.

    Returns
    -------
    DataFrame
        One row per model, condition and subset. confident, inconsistent, unconfident: shares of questions of which all,
        some or no wordings are; n_X: their numbers.
    """

    def made(part: Choices) -> dict[str, Any]:
        perfect = measures.perfect(measures.accuracies(part.chosen, part.gold))
        number, unknown = perfect.sum(axis=1), np.isnan(perfect).any(axis=1)
        most = len(part.wordings)
        kinds = {
            "confident": number == most,
            "inconsistent": (number > 0) & (number < most),
            "unconfident": number == 0,
        }
        shares = {name: np.where(unknown, np.nan, kind) for name, kind in kinds.items()}
        found = over_questions.measured({name: (one, one * 0 + 1) for name, one in shares.items()}, resamples, seed)
        return _columns(found) | {f"n_{name}": np.nansum(one, axis=0).astype(int) for name, one in shares.items()}

    return _of_parts(runs, made)


def consistency(runs: Runs, *, resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Measure how often a model takes the same choice in other orders, in other words, and in all of both.

    Parameters
    ----------
    runs, resamples, seed
        As in `choice`.

    Returns
    -------
    DataFrame
        One row per model, condition and subset. `same_in_orders`: share of questions and wordings with one choice in
        all orders; `same_in_wordings`: of questions and orders with one in all wordings; `same_throughout`: of
        questions with one in all of them; `changed`: the rest; `same_letter`: of questions and wordings with one letter
        in all orders. `turned_by_wordings` and `turned_by_orders`: share of pairs of answers with different choices,
        where only the wording, or only the order, differs; `order_minus_wording`: their difference.
    """

    def made(part: Choices) -> dict[str, Any]:
        whole = measures.same_throughout(part.chosen)
        figures = {
            "same_in_orders": over_questions.over(measures.same_over_orders(part.chosen)),
            "same_in_wordings": over_questions.over(measures.same_over_wordings(part.chosen)),
            "same_throughout": (whole, whole * 0 + 1),
            "changed": (1 - whole, whole * 0 + 1),
            "same_letter": over_questions.over(measures.same_over_orders(part.shown)),
        }
        kept = _columns(over_questions.measured(figures, resamples, seed))
        turned = {
            "turned_by_wordings": over_questions.over(measures.turned_by_wordings(part.chosen)),
            "turned_by_orders": over_questions.over(measures.turned_by_orders(part.chosen)),
        }
        gap = {"order_minus_wording": ("turned_by_orders", "turned_by_wordings")}
        moved = _columns(over_questions.measured(turned, resamples, seed, gap))
        return {**kept, **moved, "n_questions": kept["n_questions"], "validity": part.validity,
                "no_interval": _both(kept["no_interval"], moved["no_interval"])}  # fmt: skip

    return _of_parts(runs, made)


def positions(runs: Runs, *, resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Measure how often each letter is chosen, whatever stands there: by the letter of the right choice, and in all.

    Parameters
    ----------
    runs, resamples, seed
        As in `choice`.

    Returns
    -------
    DataFrame
        One row per model, condition, right letter ("all": whichever is right) and letter chosen (`NO_LETTER`: the
        answer is none), over all questions of a study. `is_right`: share of the answers for which the letter is right.
        `preference`: over all answers, share minus is_right. Both vary with the questions and with the orders drawn for
        them, so that either of them alone tells little: a model that guesses has no preference.
    """

    def made(part: Choices) -> list[dict[str, Any]]:
        letters, rows = part.letters[: int(part.size.max())], []
        for of, right in ((None, ALL), *enumerate(letters)):
            for number, letter in (*enumerate(letters), (NONE, NO_LETTER)):
                both = measures.taken(part.shown, part.right, number, of)
                asked = (part.shown != NOT_ASKED).any(axis=(1, 2))
                share, whole = (np.where(asked, side, np.nan) for side in both)
                figures, gap = {"share": (share, whole)}, {}
                if of is None:
                    there = (part.shown != NOT_ASKED) & (part.right == number)[..., None]
                    figures["is_right"] = np.where(asked, there.sum(axis=(1, 2)), np.nan), whole
                    gap = {"preference": ("share", "is_right")}
                found = over_questions.measured(figures, resamples, seed, gap)
                is_right = found.pop("is_right").estimate if of is None else float(of == number)
                rows.append({"right": right, "letter": letter, "n": both[1].sum(axis=0).astype(int),
                             "validity": part.validity, **_columns(found), "is_right": is_right})  # fmt: skip
        return rows

    return _of_parts(runs, made, whole=True).drop(columns="subset")


def _both(one: np.ndarray, other: np.ndarray) -> list[str]:
    """Join what two parts of a row say about missing intervals."""
    return ["; ".join(filter(None, pair)) for pair in zip(one, other, strict=True)]


def _columns(found: dict[str, interval.Interval]) -> dict[str, Any]:
    return {"n_questions": next(iter(found.values())).n_items, **interval.columns(found)}


def _of_parts(
    runs: Runs, make: Callable[[Choices], dict[str, Any] | list[dict[str, Any]]], whole: bool = False
) -> pd.DataFrame:
    """Make rows for every study, subset and unit: of a function that gives columns over units, or several such.

    The rows of a unit stand together, all questions before the subsets.
    """
    tables = []
    for study in studies(runs):
        models, conditions = zip(*study.units, strict=True)
        frames = []
        for subset, part in ({ALL: study} if whole else study.parts()).items():
            made = make(part)
            named = {"study": study.study, "model": models, "condition": conditions, "subset": subset}
            frames += [pd.DataFrame(named | columns) for columns in (made if isinstance(made, list) else [made])]
        tables.append(pd.concat(frames).sort_index(kind="stable"))  # the index is the number of the unit
    found = pd.concat(tables, ignore_index=True)
    return found[found["n_questions"] > 0].reset_index(drop=True)
