"""Choose what to train on: an example per wording of every question, if each wording was answered rightly once.

Choi, section 3.4. The prompt is the paraphrase-aware one with a wording of the question; the reply gives the next
wording as the paraphrase (original, paraphrase 1, paraphrase 2, and round to the original), then the model's own
response to the base prompt. The paper does not print to which wording it responded. Here it is the wording that the
prompt shows, in the same order of the choices: so the reply is what the model says to this very prompt, but for the
paraphrase before it, and reasons in the words of a response fit the question that they answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ground.errors import InputError, format_quantity
from inference.protocols.choice.rehearsal import Rehearsal
from inference.protocols.choice.tune.answers import AnsweredQuestion, RunAnswer
from inference.stimuli.questions import SPLITS
from inference.stimuli.random_order import compute_sort_key_for_random_order
from inference.stimuli.templates.prompts import Prompt

TRAIN, VALIDATION, TEST = SPLITS
ADVICE = "; look at the texts of the run: a larger --max-tokens, another --form or `--reading letter` may help"


@dataclass(frozen=True, slots=True)
class Example:
    """A prompt and the reply to learn; item and variant tell what it was made of."""

    item: str
    variant: str
    prompt: Prompt
    reply: str


@dataclass(frozen=True, slots=True)
class Examples:
    """The examples of both splits, and how many questions they come from.

    Attributes
    ----------
    counts
        Split -> questions; "used" of them; "dropped": a wording was wrong whenever its choice could be read; "unread":
        of a wording no choice could be read; "cut": one was right only in texts that were cut; "alone": without a
        paraphrase. Under "left out": test split, another subset, no split.
    """

    train: Sequence[Example]
    validation: Sequence[Example]
    counts: dict[str, dict[str, int]] = field(default_factory=dict)


def draw_train_validation_examples(
    questions: Sequence[AnsweredQuestion],
    rehearsal: Rehearsal,
    seed: int,
    subset: str | None,
    is_whole_text: Callable[[str], bool],
    where: Path,
) -> Examples:
    """Draw the examples of the splits train and validation; no question of the test split is ever among them.

    Parameters
    ----------
    questions
        The questions of the run, with the model's answers.
    rehearsal
        Writes prompts and replies.
    seed
        Of the draw among the orders that were right.
    subset
        Only questions of it; None: all.
    is_whole_text
        Tells whether a text ended by itself: one that was cut is no example.
    where
        The run folder, as messages name it.

    Returns
    -------
    The examples, and the counts of questions that were used, dropped and left out.

    Raises
    ------
    InputError
        There is no such subset, or nothing is left to train on or to validate with.
    """
    subsets = sorted({question.subset for question in questions if question.subset})
    if subset is not None and subset not in subsets:
        raise InputError(f"--subset {subset}: {where} has {', '.join(subsets) or 'no subsets'}")
    examples_by_split: dict[str, list[Example]] = {TRAIN: [], VALIDATION: []}
    counts = {split: Counter(questions=0, used=0, dropped=0, unread=0, cut=0, alone=0) for split in examples_by_split}
    left_out_counts: Counter[str] = Counter({"test split": 0, "other subset": 0, "no split": 0})
    for question in questions:
        if question.split == TEST:
            left_out_counts["test split"] += 1
        elif question.split not in examples_by_split:
            left_out_counts["no split"] += 1
        elif subset is not None and question.subset != subset:
            left_out_counts["other subset"] += 1
        else:
            examples, fate = _build_question_examples_and_outcome(question, rehearsal, seed, is_whole_text)
            examples_by_split[question.split] += examples
            counts[question.split].update({"questions": 1, fate: 1})
    for split, examples in examples_by_split.items():
        if not examples:
            raise InputError(
                f"{where}: nothing to learn from in the split {split}: "
                f"{_explain_absence_of_examples(counts[split], left_out_counts)}"
            )
    return Examples(
        examples_by_split[TRAIN],
        examples_by_split[VALIDATION],
        {**{split: dict(split_counts) for split, split_counts in counts.items()}, "left out": dict(left_out_counts)},
    )


def _build_question_examples_and_outcome(
    question: AnsweredQuestion, rehearsal: Rehearsal, seed: int, is_whole_text: Callable[[str], bool]
) -> tuple[list[Example], str]:
    """Make an example per wording, or none: return them, and whether the question is used, or why not."""
    wordings = list(question.answers)
    if len(wordings) < 2:
        return [], "alone"
    chosen = [_draw_correct_answer_of_wording(question.answers[wording], seed, is_whole_text) for wording in wordings]
    if any(answer is None for answer in chosen):
        never_right = [
            answers for answers in question.answers.values() if not any(answer.is_right for answer in answers)
        ]
        if not never_right:
            return [], "cut"
        unread = any(not any(answer.is_readable for answer in answers) for answers in never_right)
        return [], "unread" if unread else "dropped"
    texts = [question.answers[wording][0].variant.text for wording in wordings]
    next_texts = [*texts[1:], texts[0]]
    return [
        Example(
            answer.variant.item,
            answer.variant.variant,
            rehearsal.aware(answer.variant),
            rehearsal.build_reply_of_paraphrase_and_answer(answer.variant, paraphrase, answer.text),
        )
        for answer, paraphrase in zip(chosen, next_texts, strict=True)
        if answer is not None
    ], "used"


def _draw_correct_answer_of_wording(
    answers: Sequence[RunAnswer], seed: int, is_whole_text: Callable[[str], bool]
) -> RunAnswer | None:
    """Draw one of the orders in which the model was right; None where there is none."""
    right_answers = [answer for answer in answers if answer.is_right and is_whole_text(answer.text)]
    return min(
        right_answers,
        key=lambda answer: compute_sort_key_for_random_order(seed, "tune choice", *answer.variant.key),
        default=None,
    )


def _explain_absence_of_examples(counts: Counter[str], left_out_counts: Counter[str]) -> str:
    """Say why no example is left: no question in this split, or none that can be learnt from."""
    if not counts["questions"]:
        left_out_words = ", ".join(f"{number:,} of {name}" for name, number in left_out_counts.items() if number)
        return (
            f"it has no question (left out: {left_out_words or 'none'}); `choice build` draws splits, `run choice` "
            "asks them"
        )
    return (
        f"{format_quantity(counts['questions'], 'question')}, {describe_reasons_for_dropped_questions(counts)}"
        f"{ADVICE if counts['unread'] else ''}"
    )


def describe_reasons_for_dropped_questions(counts: Mapping[str, int]) -> str:
    """Say why questions of a split are not learnt from: answered wrongly, without a readable choice, or else."""
    return (
        f"{counts['dropped']:,} with a wording that was always answered wrongly, {counts['unread']:,} with one of "
        f"which no choice could be read, {counts['cut']:,} with one right only in texts cut at --max-tokens, "
        f"{counts['alone']:,} without a paraphrase"
    )
