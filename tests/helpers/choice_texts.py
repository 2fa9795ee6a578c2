"""Run folders of the protocol `choice` with texts that a model might have written, made by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from inference.asking.rounds import Condition
from inference.engines.contract import Sampling
from inference.protocols import choice
from inference.runfolder.store import Run
from inference.stimuli.questions import GENERAL, MATH, Question

THINGS = ("lamp", "boat", "ladder", "lemon", "horse", "stone", "train", "bee", "house", "cup", "tree", "dog")
COLOURS = ("red", "blue", "green", "black", "white")
REVISION = "sha256:0"


def questions(count: int = 12, split: Callable[[int], str | None] | None = None) -> list[Question]:
    """Questions in three wordings: two of three to train on, one of six to validate with, one of six to test."""
    return [
        Question(
            item=f"q{number}",
            question=f"What colour is the {THINGS[number % 12]} {number}?",
            paraphrases=(f"Which colour has the {THINGS[number % 12]} {number}?", f"The colour of {number} is which?"),
            choices=COLOURS[: 4 + number % 2],
            answer=number % 4,
            subset=MATH if number % 6 == 1 else GENERAL,
            split=(split or (lambda number: (*["train"] * 4, "validation", "test")[number % 6]))(number),
        )
        for number in range(count)
    ]  # fmt: skip


def write_run(
    folder: Path,
    model: str = "tiny",
    info: dict[str, Any] | None = None,
    *,
    asked: list[Question] | None = None,
    said: Callable[[Any, str], tuple[str | None, str]] | None = None,
    form: str = "plain",
    kind: str = "base",
    orders: int = 8,
    **sampling: Any,
) -> Path:
    """Write a run in which a model has answered everything.

    Parameters
    ----------
    info
        What run.json says of the model, its revision above all.
    said
        From a variant and the letter of the right choice as shown, the answer (a letter, or None) and the text. Without
        it every answer is right.
    """
    made = choice.build_question_items(asked or questions(), orders, 0)
    study = choice.build_study_of_choice_questions(made, "questions", "questions.jsonl")
    ask = choice.Questions(
        choice.read_choice_prompts(), (kind,), ("text",), (Sampling(**{"max_tokens": 12, **sampling}),)
    )
    (condition,) = ask.rounds(form)[0].conditions
    with Run.create_or_open(folder, study) as run:
        run.add_model(model, {"engine": "causal", "revision": REVISION, **(info or {})})
        run.add_condition(condition.name, condition.fields)
        run.responses.append_rows_as_part(
            [_row(model, condition, variant, said or _right) for variant in study.variants]
        )
        run.finish()
    return folder


def _row(model: str, condition: Condition, variant: Any, said: Callable[[Any, str], tuple[str | None, str]]) -> Any:
    right = next(option.label for option in variant.options if option.canonical == variant.gold)
    answer, text = said(variant, right)
    row = {"model": model, "condition": condition.name, "item": variant.item, "variant": variant.variant}
    return {**row, "answer": answer, "output": [text], "count": [0] * len(variant.options), "invalid": 0}


def _right(_variant: Any, letter: str) -> tuple[str, str]:
    return letter, f" {letter}"
