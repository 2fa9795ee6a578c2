"""Tune a model on its own right answers, each behind a paraphrase of the question (Choi, section 3.4)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ground.errors import InputError, format_quantity
from inference.asking.models import Model
from inference.protocols.choice.rehearsal import build_rehearsal_of_recorded_condition
from inference.protocols.choice.tune import answers, examples
from inference.protocols.choice.tune.answers import ModelAnswers
from inference.protocols.choice.tune.examples import Examples

if TYPE_CHECKING:
    from inference.protocols.choice.tune.training import Learner


@dataclass(frozen=True)
class Lesson:
    """What is to be learnt: the answers of a run, and which of them.

    Attributes
    ----------
    run
        The run folder.
    model
        Who answered, and is to learn.
    model_answers
        All that it answered.
    settings
        Of the training (`settings.read_tuning_settings`).
    prompt
        The prompt file of the run; None: Waver's own.
    subset
        Only questions of it; None: all.
    """

    run: Path
    model: Model
    model_answers: ModelAnswers
    settings: dict[str, Any]
    prompt: str | None = None
    subset: str | None = None

    def draw_examples_of_lesson(self, is_whole_text: Callable[[str, int], bool]) -> Examples:
        """Choose the examples; `is_whole_text` tells whether a text ended before a number of tokens."""
        subsets = {question.item: question.subset for question in self.model_answers.questions}
        where = f"{self.run}, condition {self.model_answers.condition}"
        rehearsal = build_rehearsal_of_recorded_condition(where, self.model_answers.fields, subsets, self.prompt)
        most = int(self.model_answers.fields["max_tokens"])
        return examples.draw_train_validation_examples(
            self.model_answers.questions,
            rehearsal,
            self.settings["seed"],
            self.subset,
            lambda text: is_whole_text(text, most),
            self.run,
        )


def build_choice_tuning_record(lesson: Lesson, learner: Learner, drawn_examples: Examples) -> dict[str, Any]:
    """Say what a tuning is: what must be the same when a stopped one goes on, and what is recorded of it.

    Parameters
    ----------
    lesson
        The answers to learn from, and the settings.
    learner
        The loaded model; its examples are encoded, so that those that are too long are counted.
    drawn_examples
        The examples of both splits.

    Returns
    -------
    The record, as JSON can hold it: model, run, condition, settings, counts, and a digest of the examples.

    Raises
    ------
    InputError
        The model is not the one that answered.
    """
    if learner.revision != lesson.model_answers.revision:
        raise InputError(
            f"{lesson.run}: was answered by another version of '{lesson.model.id}' ({lesson.model_answers.revision}), "
            f"now {learner.revision}; ask this one with `run choice`, and learn from its own answers"
        )
    rows = [
        (example.item, example.variant, example.reply)
        for example in (*drawn_examples.train, *drawn_examples.validation)
    ]
    return {
        "protocol": "choice",
        "base": lesson.model.id,
        "revision": learner.revision,
        "run": dict(lesson.model_answers.run),
        "condition": lesson.model_answers.condition,
        "subset": lesson.subset,
        "dtype": learner.dtype,
        "settings": lesson.settings,
        "counts": {
            "train examples": len(drawn_examples.train),
            "validation examples": len(drawn_examples.validation),
            "too long": learner.too_long,
            **drawn_examples.counts,
        },
        "digest": hashlib.sha256(json.dumps(rows, ensure_ascii=False).encode()).hexdigest(),
    }


def iterate_lines_on_used_and_left_out_examples(drawn_examples: Examples, n_too_long: int) -> Iterator[str]:
    """Say what is learnt from, and what is not.

    Parameters
    ----------
    drawn_examples
        The examples of both splits, with their counts.
    n_too_long
        Examples that exceed the model's context window.

    Yields
    ------
    A line per split, then one for questions and one for examples that were left out, where there are some.
    """
    for split, split_examples in (("train", drawn_examples.train), ("validation", drawn_examples.validation)):
        split_counts = drawn_examples.counts[split]
        yield (
            f"{split}: {format_quantity(len(split_examples), 'example')} of "
            f"{format_quantity(split_counts['used'], 'question')}; dropped "
            f"{examples.describe_reasons_for_dropped_questions(split_counts)}"
        )
    left_out_words = ", ".join(
        f"{number:,} of {name}" for name, number in drawn_examples.counts["left out"].items() if number
    )
    if left_out_words:
        yield f"questions left out: {left_out_words}"
    if n_too_long:
        yield f"examples left out: {n_too_long:,} that exceed the model's context window"


__all__ = [
    "Examples",
    "Lesson",
    "ModelAnswers",
    "answers",
    "build_choice_tuning_record",
    "examples",
    "iterate_lines_on_used_and_left_out_examples",
]
