"""Turn a right answer into a training example: the paraphrase-aware prompt, and the reply that should follow it.

Choi, section 3.4: the prompt shows one wording of a question; the reply gives the next wording as its paraphrase, and
then what the model itself wrote in reply to the base prompt. That reply is taken as it stands: a base prompt that the
model continues (`Answer:`) gives its last line to the reply. A response that is only a letter (`reply.py`) gets
`Answer: ` before it: behind a paraphrase, no rule would find it otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ground.errors import InputError
from inference.engines.contract import Sampling
from inference.protocols.choice import NAME, Questions, read_choice_prompts
from inference.protocols.choice.arguments import AWARE, BASE, BY_SUBSET, REASONING_FIRST, TEXT
from inference.protocols.choice.reply import prefix_reply_without_answer_line
from inference.stimuli.questions import MATH
from inference.stimuli.study import Variant
from inference.stimuli.templates.prompts import Prompt

PARAPHRASE = "Paraphrase:"


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """The prompts of a condition of base texts, and the paraphrase-aware ones beside them.

    Attributes
    ----------
    base, aware
        Make the two prompts of a variant.
    """

    base: Callable[[Variant], Prompt]
    aware: Callable[[Variant], Prompt]

    def build_reply_of_paraphrase_and_answer(self, variant: Variant, paraphrase: str, response: str) -> str:
        """Write the reply to learn: the paraphrase, and the response to the base prompt.

        Parameters
        ----------
        variant
            What the prompt shows.
        paraphrase
            The question in the next wording.
        response
            What the model wrote after the base prompt of this variant.

        Returns
        -------
        Two lines or more: `Paraphrase: ...`, then the response with `Answer: ` before it where it has no such line. The
        word `Paraphrase:` is left out where the prompt itself ends with it.
        """
        opening = "" if _find_open_last_line_of_prompt(self.aware(variant)).startswith(PARAPHRASE) else PARAPHRASE
        whole = (_find_open_last_line_of_prompt(self.base(variant)) + response).strip()
        return f"{opening} {' '.join(paraphrase.split())}\n{prefix_reply_without_answer_line(whole)}"


def build_rehearsal_of_recorded_condition(
    where: str, condition_fields: Mapping[str, Any], subset_by_item: Mapping[str, str | None], prompt_path: str | None
) -> Rehearsal:
    """Find the prompts of a recorded condition.

    Parameters
    ----------
    where
        The condition, as messages name it.
    condition_fields
        Its fields in run.json.
    subset_by_item
        Item -> its subset; None where the run does not say.
    prompt_path
        The prompt file; None: Waver's own.

    Returns
    -------
    The base and the paraphrase-aware prompts, in the form and format of the condition.

    Raises
    ------
    InputError
        The condition was asked with other prompts.
    """
    book, form, order = (
        read_choice_prompts(prompt_path),
        condition_fields.get("form"),
        str(condition_fields.get("format")),
    )
    if form not in book.forms or condition_fields.get("prompt_hash") != book.compute_hash_of_prompt_form(form):
        prompt_name = condition_fields.get("prompt") or NAME
        raise InputError(f"{where} was asked with other prompts ({prompt_name}); give them with --prompt")
    reasoned = frozenset(
        item
        for item, subset in subset_by_item.items()
        if order == REASONING_FIRST or (order == BY_SUBSET and subset == MATH)
    )
    base, aware = (
        Questions(book, (kind,), (TEXT,), (Sampling(),), order, reasoned).rounds(form)[0].render
        for kind in (BASE, AWARE)
    )
    return Rehearsal(lambda variant: base(variant, None), lambda variant: aware(variant, None))


def list_base_prompt_text_conditions(conditions: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Name the conditions of generated replies to the base prompt, one text per prompt."""
    return [
        name
        for name, fields in conditions.items()
        if fields.get("way") == TEXT and fields.get("prompt_kind") == BASE and fields.get("samples") == 1
    ]


def _find_open_last_line_of_prompt(prompt: Prompt) -> str:
    """Return the last line of a prompt that the model continues, where it is left open; else nothing."""
    last = (prompt.text or "").rpartition("\n")[2]
    return last if last.rstrip().endswith(":") else ""
