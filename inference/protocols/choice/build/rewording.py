"""Ask models for every question in other words, and judge what they wrote (Choi, section 4.2).

Each model has a run folder of its own, which is resumed as any other. The choices are never asked back, so none can
change; what is kept must still be a question, differ from the original and from the other model's, and name no choice
that the question does not name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import pyarrow.compute as pc

from ground.errors import InputError
from inference.asking.rounds import Condition, Round
from inference.protocols.choice.build.steps import REWORDED, LeftOut, Step
from inference.engines.contract import Generation, Sampling
from inference.paraphrase import parsing
from inference.runfolder.parquet import read_parquet
from inference.stimuli.prompt_forms import CLOZE, PAIR, Fields
from inference.stimuli.prompts import Prompt, PromptBook
from inference.stimuli.questions import Question
from inference.stimuli.study import ORIGINAL, Item, Study, Variant

NAME = "choice build"
CONDITION = "rewording"  # one name for all settings: so a folder refuses other settings than its own
PROMPT = Path(__file__).parent / "prompt.yaml"
_SHOWN = {"question": "A question?", "choices": "A. one\nB. two", "answer": "B. two"}
FIELDS = Fields(frozenset(_SHOWN), frozenset(_SHOWN), (_SHOWN,))
WORDINGS = 2
NO_ANSWER, EMPTY, REFUSED, UNCHANGED = "no answer", "an empty answer", "a refusal", "unchanged"
NO_QUESTION, NAMES_CHOICE, SAME = "not a question", "names a choice that the question does not", "the same as the other"
REASONS = (NO_ANSWER, EMPTY, REFUSED, UNCHANGED, NO_QUESTION, NAMES_CHOICE, SAME)
NOT_TWO = f"not {WORDINGS} paraphrases"
IN_FILE = "the file"
_LABEL = re.compile(
    r"(?:the |my |a )?(?:new|reworded|rephrased|paraphrased|rewritten)?\s*question(?: in other words)?\s*[:：]\s*", re.I
)


def study(given: Sequence[Question], name: str, source: str) -> Study:
    """Make a study of the questions as they are, to be answered in free text."""
    items = (Item(each.item, (_variant(each),)) for each in given)
    return Study(NAME, name, tuple(items), (), source=source)


def _variant(question: Question) -> Variant:
    listed = [f"{letter}. {choice}" for letter, choice in zip(ascii_uppercase, question.choices, strict=False)]
    about = {"choices": "\n".join(listed), "answer": listed[question.answer]}
    return Variant(question.item, ORIGINAL, ORIGINAL, question.question, (), attributes=about)


def prompt_book(path: str | None = None) -> PromptBook:
    """Read a prompt file that asks for a question in other words; without one, Waver's own."""
    return PromptBook.load(path, PROMPT, FIELDS)


@dataclass(frozen=True, slots=True)
class Questions:
    """The one request about every question: its likeliest text, at temperature 0."""

    book: PromptBook
    max_tokens: int

    def rounds(self, form: str) -> list[Round]:
        """Make the round of a prompt form.

        Raises
        ------
        InputError
            For a model that writes no text, and for a form that the prompt file does not have.
        """
        if form in (CLOZE, PAIR):
            raise InputError("this model writes no text: choose another --paraphrase-model")
        way = Sampling(max_tokens=self.max_tokens)
        fields = {
            "form": form,
            "prompt": self.book.name,
            "prompt_hash": self.book.hash(form),
            "temperature": way.temperature,
            "samples": way.samples,
            "max_tokens": way.max_tokens,
        }
        return [Round((Condition(CONDITION, fields, way),), partial(self._render, form), _read)]

    def _render(self, form: str, variant: Variant, mask_token: str | None) -> Prompt:
        values = {"question": variant.text, **{name: variant.attributes[name] for name in ("choices", "answer")}}
        return self.book.render(form, values)


def _read(variant: Variant, prompt: Prompt, generation: Generation) -> dict[str, Any]:
    """Keep the answer without the model's thinking; where thinking never ended, the answer is an empty text."""
    silent = sum(answer is None for answer in generation.answers)
    return {"output": [answer or "" for answer in generation.answers], "invalid": silent}


def answers(folder: Path, model: str) -> dict[str, str]:
    """Read item -> what a model wrote from its run folder; items without a response are absent."""
    wanted = (pc.field("model") == model) & pc.field("error").is_null()
    found: dict[str, str] = {}
    for part in sorted((folder / "responses").glob("part-*.parquet")):
        for row in read_parquet(part, ["item", "output"], filters=wanted).to_pylist():
            (found[row["item"]],) = row["output"]
    return found


def reworded(given: Sequence[Question], wrote: Mapping[str, Mapping[str, str]]) -> Step:
    """Give every question the wordings that two models wrote; leave out those that either did not reword.

    Parameters
    ----------
    wrote
        Model -> item -> what it wrote (`answers`), for each of `WORDINGS` models.
    """
    kept, left = [], []
    for question in given:
        found: list[str] = []
        for model, texts in wrote.items():
            wording, reason = judged(question, texts.get(question.item), found)
            if reason is not None:
                left.append(LeftOut(question, f"{model}: {reason}", texts.get(question.item, "")))
                break
            found.append(wording)
        else:
            kept.append(replace(question, paraphrases=tuple(found)))
    reasons = tuple(f"{model}: {reason}" for model in wrote for reason in REASONS)
    return Step(REWORDED, tuple(kept), tuple(left), reasons)


def own(given: Sequence[Question]) -> Step:
    """Take the paraphrases that the questions' files hold, after the same rules; leave out questions without two."""
    kept, left = [], []
    for question in given:
        reason = None if len(question.paraphrases) == WORDINGS else NOT_TWO
        for place, wording in enumerate(question.paraphrases if reason is None else ()):
            wrong = _wrong(question, wording, question.paraphrases[:place])
            reason = reason or (wrong and f"{IN_FILE}: {wrong}")
        if reason is None:
            kept.append(question)
        else:
            left.append(LeftOut(question, reason, " / ".join(question.paraphrases)))
    reasons = (NOT_TWO, *(f"{IN_FILE}: {reason}" for reason in (UNCHANGED, NO_QUESTION, NAMES_CHOICE, SAME)))
    return Step(REWORDED, tuple(kept), tuple(left), reasons)


def judged(question: Question, text: str | None, others: Sequence[str] = ()) -> tuple[str, str | None]:
    """Find the reworded question in what a model wrote, and the reason why there is none (None: there is one).

    The first line that ends with a question mark is taken, without list marker, quotes and label ("New question:").
    """
    if text is None:
        return "", NO_ANSWER
    lines = [replace(line, text=_LABEL.sub("", line.text, count=1)) for line in parsing.lines(text)]
    if all(line.reason == parsing.EMPTY for line in lines):
        return "", EMPTY
    if lines[0].reason == parsing.REFUSAL:
        return "", REFUSED
    wording = next((line.text for line in lines if line.text.endswith(("?", "？")) and _may_be(line)), "")
    return wording, _wrong(question, wording, others)


def _may_be(line: parsing.Line) -> bool:
    """Tell whether a line may be the question; a colon or an end that is missing says nothing against one."""
    return line.reason in (None, parsing.CUT_OFF)


def _wrong(question: Question, wording: str, others: Sequence[str]) -> str | None:
    """Say what is wrong with a wording, by the rules that keep the answer."""
    if not wording.endswith(("?", "？")):
        return NO_QUESTION
    if parsing.fold(wording) == parsing.fold(question.question):
        return UNCHANGED
    if any(_names(wording, choice) and not _names(question.question, choice) for choice in question.choices):
        return NAMES_CHOICE
    return SAME if parsing.fold(wording) in map(parsing.fold, others) else None


def _names(text: str, choice: str) -> bool:
    """Tell whether a text has a choice in it, as whole words.

    >>> _names("Is it a teapot?", "tea"), _names("Is it green tea?", "Green  Tea")
    (False, True)
    """
    words = " ".join(choice.casefold().split())
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", " ".join(text.casefold().split())) is not None
