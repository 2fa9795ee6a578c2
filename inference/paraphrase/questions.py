"""Ask a model for paraphrases: the study of originals, the prompts, and the one round of calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ground.errors import InputError
from inference.asking.rounds import Condition, Round, build_columns_of_texts_without_parsing
from inference.engines.contract import Sampling
from inference.paraphrase.itemsfile import copy_attributes_except_match
from inference.stimuli.study import Item, Study, Variant
from inference.stimuli.templates.prompt_forms import CLOZE, Fields
from inference.stimuli.templates.prompts import Prompt, PromptBook

NAME = "paraphrase"
CONDITION = "calls"  # one name for all settings: so a folder refuses other settings than its own
PROMPTS = Path(__file__).parent / "prompt.yaml"
FIELDS = Fields(frozenset({"text", "number"}), frozenset({"text"}), ({"text": "A statement.", "number": 20},))
TEMPERATURE = 1.0
"""Haller et al., appendix F: the probabilities as the model has them, neither sharper nor flatter."""


def build_study_of_originals_to_paraphrase(paraphrased_items: Sequence[Item], name: str, source: str) -> Study:
    """Make a study of the items' originals, which are asked about in free text.

    Parameters
    ----------
    paraphrased_items
        The items.
    name
        Name of the study.
    source
        Where the items are from, for the study and for messages.

    Returns
    -------
    A study without options, with one variant per item.

    Raises
    ------
    InputError
        An item has no original.
    """
    for item in paraphrased_items:
        if item.original is None:
            raise InputError(f"{source}, item '{item.item}': there is no original to paraphrase; set a pattern")
    originals = [
        replace(item.original, attributes=copy_attributes_except_match(item.original))
        for item in paraphrased_items
        if item.original
    ]
    return Study(NAME, name, tuple(Item(original.item, (original,)) for original in originals), (), source=source)


def read_paraphrase_prompts(path: str | Path | None = None) -> PromptBook:
    """Read a prompt file that asks for paraphrases; without one, Waver's own."""
    return PromptBook.load(path, PROMPTS, FIELDS)


@dataclass(frozen=True, slots=True)
class Calls:
    """The questions of a run: `calls` calls for `per_call` paraphrases each (Haller et al., appendix F: 30 x 20)."""

    book: PromptBook
    calls: int
    per_call: int
    max_tokens: int

    def rounds(self, form: str) -> list[Round]:
        """Make one round with one condition: a row of the run holds all calls of an item.

        Raises
        ------
        InputError
            For a model that fills a mask, and for a form that the prompt file does not have.
        """
        if form == CLOZE:
            raise InputError("this model fills gaps and writes no text: choose another --model to make paraphrases")
        way = Sampling(self.calls, TEMPERATURE, self.max_tokens)
        condition = Condition(CONDITION, self._build_condition_fields(form, way), way)

        def render_prompt(variant: Variant, mask_token: str | None) -> Prompt:
            return self.book.render(form, {"text": variant.text, "number": self.per_call})

        return [Round((condition,), render_prompt, build_columns_of_texts_without_parsing)]

    def _build_condition_fields(self, form: str, sampling: Sampling) -> Mapping[str, Any]:
        """Build the recorded fields of the condition: form, prompt and settings of the sampling."""
        return {
            "form": form,
            **self.book.build_prompt_name_and_hash_fields_of_form(form),
            "per_call": self.per_call,
            "temperature": sampling.temperature,
            "samples": sampling.samples,
            "max_tokens": sampling.max_tokens,
        }
