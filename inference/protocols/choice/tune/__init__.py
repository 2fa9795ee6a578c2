"""Tune a model on its own right answers, each behind a paraphrase of the question (Choi, section 3.4)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ground.errors import InputError
from inference.asking.models import Model
from inference.protocols.choice.rehearsal import rehearsal
from inference.protocols.choice.tune import answers, examples
from inference.protocols.choice.tune.answers import Answers
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
    given
        All that it answered.
    settings
        Of the training (`settings.read`).
    prompt
        The prompt file of the run; None: Waver's own.
    subset
        Only questions of it; None: all.
    """

    run: Path
    model: Model
    given: Answers
    settings: dict[str, Any]
    prompt: str | None = None
    subset: str | None = None

    def examples(self, whole: Callable[[str, int], bool]) -> Examples:
        """Choose the examples; `whole` tells of a text whether it ended before so many tokens."""
        subsets = {question.item: question.subset for question in self.given.questions}
        where = f"{self.run}, condition {self.given.condition}"
        prompts = rehearsal(where, self.given.fields, subsets, self.prompt)
        most = int(self.given.fields["max_tokens"])
        return examples.choose(
            self.given.questions, prompts, self.settings["seed"], self.subset, lambda text: whole(text, most), self.run
        )


def asked(lesson: Lesson, learner: Learner, chosen: Examples) -> dict[str, Any]:
    """Say what a tuning is: what must be the same when a stopped one goes on, and what is recorded of it.

    Raises
    ------
    InputError
        The model is not the one that answered.
    """
    if learner.revision != lesson.given.revision:
        raise InputError(
            f"{lesson.run}: was answered by another version of '{lesson.model.id}' ({lesson.given.revision}), now "
            f"{learner.revision}; ask this one with `run choice`, and learn from its own answers"
        )
    rows = [(each.item, each.variant, each.reply) for each in (*chosen.train, *chosen.validation)]
    return {
        "protocol": "choice",
        "base": lesson.model.id,
        "revision": learner.revision,
        "run": dict(lesson.given.run),
        "condition": lesson.given.condition,
        "subset": lesson.subset,
        "dtype": learner.dtype,
        "settings": lesson.settings,
        "counts": {
            "train examples": len(chosen.train),
            "validation examples": len(chosen.validation),
            "too long": learner.too_long,
            **chosen.counts,
        },
        "digest": hashlib.sha256(json.dumps(rows, ensure_ascii=False).encode()).hexdigest(),
    }


def counted(chosen: Examples, too_long: int) -> Iterator[str]:
    """Say what is learnt from, and what is not."""
    for split, made in (("train", chosen.train), ("validation", chosen.validation)):
        of = chosen.counts[split]
        yield (f"{split}: {len(made):,} examples of {of['used']:,} questions; dropped {examples.tell_dropped(of)}")
    left = ", ".join(f"{number:,} of {name}" for name, number in chosen.counts["left out"].items() if number)
    if left:
        yield f"questions left out: {left}"
    if too_long:
        yield f"examples left out: {too_long:,} that exceed the model's context window"


__all__ = ["Answers", "Examples", "Lesson", "answers", "asked", "counted", "examples"]
