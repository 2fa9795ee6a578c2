"""Tell about which questions a judge is right in some wordings only (Choi, sections 2 and 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from analysis.measures.choices import Choices
from analysis.pages.choice.measures import compute_accuracies_over_orders_by_wording, mark_perfect_wordings
from analysis.statistics.resampling import Array
from ground.errors import InputError, format_nearest_name_hint, shorten_to_one_line

INCONSISTENT = "inconsistent confidence"
CONFIDENT, UNCONFIDENT = "consistently confident", "consistently unconfident"
CLASSES = (CONFIDENT, INCONSISTENT, UNCONFIDENT)
"""Perfectly correct, which is right in every order of the options: in all wordings, in some, in none."""


@dataclass(frozen=True)
class JudgeAnswers:
    """Hold what one judge got right, in arrays of questions and wordings.

    Attributes
    ----------
    model, condition
        The judge.
    items, subsets
        Of the questions.
    wordings
        Patterns, the original first.
    accuracy
        Share of the orders in which a wording is answered rightly.
    """

    model: str
    condition: str
    items: Sequence[str]
    subsets: npt.NDArray[np.object_]
    wordings: tuple[str, ...]
    accuracy: Array

    @property
    def perfect_wording_mask(self) -> npt.NDArray[np.bool_]:
        """Return for every question and wording whether it is answered rightly in all orders (equation 1)."""
        return mark_perfect_wordings(self.accuracy) == 1

    @property
    def question_classes(self) -> list[str]:
        """Return the class of every question."""
        right = self.perfect_wording_mask.sum(axis=1)
        return [CONFIDENT if n == len(self.wordings) else INCONSISTENT if n else UNCONFIDENT for n in right]


def select_judge_answers(study: Choices, model: str = "", condition: str = "") -> JudgeAnswers:
    """Take one judge of a study.

    Parameters
    ----------
    study
        A study.
    model, condition
        Which of them; empty where there is only one.

    Returns
    -------
    JudgeAnswers
        What this judge got right.

    Raises
    ------
    InputError
        There are several judges, or none of that name; there is only one wording; a question lacks a wording, or was
        not asked.
    """
    judges = [unit for unit in study.units if (model or unit[0]) == unit[0] and (condition or unit[1]) == unit[1]]
    judges_text = shorten_to_one_line(
        "; ".join(f"{judge_model} under {judge_condition}" for judge_model, judge_condition in study.units), 400
    )
    if not judges:
        models, conditions = ({unit[place] for unit in study.units} for place in (0, 1))
        if model and model not in models:
            missing = f"model {model!r}{format_nearest_name_hint(model, models)}"
        elif condition not in conditions:
            missing = f"condition {condition!r}{format_nearest_name_hint(condition, conditions)}"
        else:
            missing = f"model {model!r} under {condition!r}"
        raise InputError(f"study {study.study!r} has no {missing}; it has {judges_text}")
    if len(judges) > 1:
        raise InputError(
            f"study {study.study!r} has several judges, so name one by --model and --condition: {judges_text}"
        )
    if len(study.wordings) < 2:
        raise InputError(
            f"study {study.study!r} has one wording ({study.wordings[0]!r}) of its questions, so none can be right in "
            "some wordings only; ask in several"
        )
    unit = study.units.index(judges[0])
    accuracy = compute_accuracies_over_orders_by_wording(study.chosen_letter[..., [unit]], study.gold)[..., 0]
    for item, wording in np.argwhere(np.isnan(accuracy))[:1]:
        raise InputError(
            f"study {study.study!r}: question {study.items[item]!r} has no answer in wording "
            f"{study.wordings[wording]!r}, in no order; repeat the command that wrote the answers, or ask in all "
            "wordings, then select"
        )
    return JudgeAnswers(*judges[0], list(map(str, study.items)), study.subsets, study.wordings, accuracy)


def build_question_selection_records(judge: JudgeAnswers) -> list[dict[str, Any]]:
    """Make the lines of the list that `choice build` reads: every question, selected or not."""
    return [
        {
            "item": item,
            "perfectly_correct": dict(zip(judge.wordings, map(bool, flags), strict=True)),
            "class": name,
            "judge": judge.model,
            "condition": judge.condition,
        }
        for item, flags, name in zip(judge.items, judge.perfect_wording_mask, judge.question_classes, strict=True)
    ]


def summarize_question_classes_and_accuracy(judge: JudgeAnswers) -> dict[str, Any]:
    """Count the classes, and the judge's accuracy by wording (Choi, Table 8), over all questions and per subset."""
    subsets = [str(name) for name in dict.fromkeys(judge.subsets)]
    parts = {name: judge.subsets == name for name in subsets}
    return {
        "judge": judge.model,
        "condition": judge.condition,
        **_count_classes_and_average_judge_accuracy(judge, np.full(len(judge.items), True)),
        "subsets": {name: _count_classes_and_average_judge_accuracy(judge, rows) for name, rows in parts.items()},
    }


def _count_classes_and_average_judge_accuracy(
    judge: JudgeAnswers, question_mask: npt.NDArray[np.bool_]
) -> dict[str, Any]:
    """Count the classes of some questions, and average the judge's accuracy by wording over them."""
    class_names = [name for name, is_selected in zip(judge.question_classes, question_mask, strict=True) if is_selected]
    means = {
        "accuracy": judge.accuracy[question_mask].mean(axis=0),
        "perfectly_correct": judge.perfect_wording_mask[question_mask].mean(axis=0),
    }
    return {
        "n_questions": len(class_names),
        **{name: class_names.count(name) for name in CLASSES},
        **{measure: dict(zip(judge.wordings, map(float, mean), strict=True)) for measure, mean in means.items()},
    }
