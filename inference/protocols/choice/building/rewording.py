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

import pyarrow.compute as pc

from ground.errors import InputError
from inference.asking.mentions import CHARACTER
from inference.asking.rounds import Condition, Round, build_columns_of_texts_without_parsing
from inference.engines.contract import Sampling
from inference.paraphrase import parsing
from inference.protocols.choice.building.steps import REWORDED, LeftOut, Step
from inference.runfolder.parquet import read_parquet
from inference.stimuli.questions import Question
from inference.stimuli.study import ORIGINAL, Item, Study, Variant
from inference.stimuli.templates.prompt_forms import CLOZE, PAIR, Fields
from inference.stimuli.templates.prompts import Prompt, PromptBook

NAME = "choice build"
CONDITION = "rewording"  # one name for all settings: so a folder refuses other settings than its own
PROMPT = Path(__file__).parent / "prompt.yaml"
_EXAMPLE_VALUES = {"question": "A question?", "choices": "A. one\nB. two", "answer": "B. two"}
FIELDS = Fields(frozenset(_EXAMPLE_VALUES), frozenset(_EXAMPLE_VALUES), (_EXAMPLE_VALUES,))
WORDINGS = 2
NO_ANSWER, EMPTY, REFUSED, UNCHANGED = "no answer", "an empty answer", "a refusal", "unchanged"
NO_QUESTION, NAMES_CHOICE, SAME = "not a question", "names a choice that the question does not", "the same as the other"
REASONS = (NO_ANSWER, EMPTY, REFUSED, UNCHANGED, NO_QUESTION, NAMES_CHOICE, SAME)
NOT_TWO = f"not {WORDINGS} paraphrases"
IN_FILE = "the file"
_LABEL = re.compile(
    r"(?:the |my |a )?(?:new|reworded|rephrased|paraphrased|rewritten)?\s*question(?: in other words)?\s*[:：]\s*", re.I
)


def build_rewording_study(questions: Sequence[Question], name: str, source: str) -> Study:
    """Make a study of the questions as they are, to be answered in free text.

    Parameters
    ----------
    questions
        The questions: an item each, with one variant.
    name
        The name of the study.
    source
        Where the questions came from, as the user gave it.

    Returns
    -------
    The study, without options.
    """
    items = (Item(question.item, (_build_original_variant(question),)) for question in questions)
    return Study(NAME, name, tuple(items), (), source=source)


def _build_original_variant(question: Question) -> Variant:
    """Make the variant of a question as it is, with its choices and the right answer as attributes."""
    listed = [f"{letter}. {choice}" for letter, choice in zip(ascii_uppercase, question.choices, strict=False)]
    about = {"choices": "\n".join(listed), "answer": listed[question.answer]}
    return Variant(question.item, ORIGINAL, ORIGINAL, question.question, (), attributes=about)


def read_rewording_prompts(path: str | None = None) -> PromptBook:
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
            **self.book.build_prompt_name_and_hash_fields_of_form(form),
            "temperature": way.temperature,
            "samples": way.samples,
            "max_tokens": way.max_tokens,
        }
        return [
            Round(
                (Condition(CONDITION, fields, way),),
                partial(self._render_prompt, form),
                build_columns_of_texts_without_parsing,
            )
        ]

    def _render_prompt(self, form: str, variant: Variant, mask_token: str | None) -> Prompt:
        """Render the prompt that asks for a question in other words."""
        values = {"question": variant.text, **{name: variant.attributes[name] for name in ("choices", "answer")}}
        return self.book.render(form, values)


def read_rewordings(folder: Path, model: str) -> dict[str, str]:
    """Read what a model wrote about every question from its run folder.

    Parameters
    ----------
    folder
        The run folder.
    model
        The id of the model.

    Returns
    -------
    Item -> text; items without a response are absent.
    """
    row_filter = (pc.field("model") == model) & pc.field("error").is_null()
    text_by_item: dict[str, str] = {}
    for part in sorted((folder / "responses").glob("part-*.parquet")):
        for row in read_parquet(part, ["item", "output"], filters=row_filter).to_pylist():
            (text_by_item[row["item"]],) = row["output"]
    return text_by_item


def build_step_of_two_model_rewordings(
    questions: Sequence[Question], texts_by_model: Mapping[str, Mapping[str, str]]
) -> Step:
    """Give every question the wordings that two models wrote; leave it out if one of them did not reword it.

    Parameters
    ----------
    questions
        The questions that were asked.
    texts_by_model
        Model -> item -> what it wrote (`read_rewordings`), for each of `WORDINGS` models.

    Returns
    -------
    The step "after paraphrasing"; every reason names the model first.
    """
    kept_questions, left_out = [], []
    for question in questions:
        wordings: list[str] = []
        for model, texts in texts_by_model.items():
            wording, reason = extract_and_judge_rewording(question, texts.get(question.item), wordings)
            if reason is not None:
                left_out.append(LeftOut(question, f"{model}: {reason}", texts.get(question.item, "")))
                break
            wordings.append(wording)
        else:
            kept_questions.append(replace(question, paraphrases=tuple(wordings)))
    reasons = tuple(f"{model}: {reason}" for model in texts_by_model for reason in REASONS)
    return Step(REWORDED, tuple(kept_questions), tuple(left_out), reasons)


def build_step_of_paraphrases_in_file(questions: Sequence[Question]) -> Step:
    """Take the paraphrases that the questions' files hold, after the same rules; leave out questions without two."""
    kept_questions, left_out = [], []
    for question in questions:
        reason = None if len(question.paraphrases) == WORDINGS else NOT_TWO
        for place, wording in enumerate(question.paraphrases if reason is None else ()):
            fault = _find_wording_fault(question, wording, question.paraphrases[:place])
            reason = reason or (fault and f"{IN_FILE}: {fault}")
        if reason is None:
            kept_questions.append(question)
        else:
            left_out.append(LeftOut(question, reason, " / ".join(question.paraphrases)))
    reasons = (NOT_TWO, *(f"{IN_FILE}: {reason}" for reason in (UNCHANGED, NO_QUESTION, NAMES_CHOICE, SAME)))
    return Step(REWORDED, tuple(kept_questions), tuple(left_out), reasons)


def extract_and_judge_rewording(
    question: Question, text: str | None, other_wordings: Sequence[str] = ()
) -> tuple[str, str | None]:
    """Find the reworded question in what a model wrote, and say what is wrong with it.

    The first line that ends with a question mark is taken, without list marker, quotes and label ("New question:").

    Parameters
    ----------
    question
        The question as it was asked.
    text
        What the model wrote; None where it did not answer.
    other_wordings
        Wordings of the question that this one must differ from.

    Returns
    -------
    The wording, "" where there is none, and the reason not to keep it, one of `REASONS`; None: it is kept.
    """
    if text is None:
        return "", NO_ANSWER
    lines = [
        replace(line, text=_LABEL.sub("", line.text, count=1)) for line in parsing.split_answer_into_judged_lines(text)
    ]
    if all(line.reason == parsing.EMPTY for line in lines):
        return "", EMPTY
    if lines[0].reason == parsing.REFUSAL:
        return "", REFUSED
    wording = next((line.text for line in lines if line.text.endswith(("?", "？")) and line.reason is None), "")
    return wording, _find_wording_fault(question, wording, other_wordings)


def _find_wording_fault(question: Question, wording: str, other_wordings: Sequence[str]) -> str | None:
    """Say what is wrong with a wording; None where it is a question, differs, and names no further choice."""
    if not wording.endswith(("?", "？")) or not parsing.normalise_wording(wording):
        return NO_QUESTION
    if parsing.normalise_wording(wording) == parsing.normalise_wording(question.question):
        return UNCHANGED
    if any(
        _mentions_choice(wording, choice) and not _mentions_choice(question.question, choice)
        for choice in question.choices
    ):
        return NAMES_CHOICE
    return SAME if parsing.normalise_wording(wording) in map(parsing.normalise_wording, other_wordings) else None


def _mentions_choice(text: str, choice: str) -> bool:
    """Tell whether a text has a choice in it, as whole words; in scripts without spaces, anywhere.

    >>> _mentions_choice("Is it a teapot?", "tea"), _mentions_choice("Is it green tea?", "Green  Tea")
    (False, True)
    >>> _mentions_choice("お茶ですか？", "茶")
    True
    """
    words, folded = (" ".join(part.casefold().split()) for part in (choice, text))
    if words not in folded:
        return False
    return re.search(rf"(?<!{CHARACTER}){re.escape(words)}(?!{CHARACTER})", folded) is not None
