"""Keep in run.json what a model was asked: one prompt as the model got it, and all others in a form to fill in.

The form is made of the prompt itself: a variant whose text and attributes are marks is rendered, and the marks show
where they come out. Then every variant is filled in and compared with its prompt. So what `results/schema.json` calls
`wordings` gives every prompt to the letter, or is not kept.

To fill in a form takes a tenth of the time of rendering a template. So a round that is compared is rendered once, and
asked with its form.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ground.errors import InputError
from inference.asking.rounds import ClusterEngine, Prompts, Questions, Round, get_thinking_effort
from inference.engines.contract import Engine
from inference.runfolder.store import Run
from inference.stimuli.study import Variant
from inference.stimuli.templates.prompts import Prompt, PromptBook

LONGEST = 50_000  # characters of a prompt, or of a form of a prompt file, that run.json keeps
TEXT, ATTRIBUTE = "text", "attributes."  # columns of the stimuli, as a place in a prompt names them
_MARK = re.compile("\ue000([0-9]+)\ue001")  # characters that no alphabet has
Message = dict[str, Any]  # role (null where the prompt is one text) and content: texts, and columns that come between


def record_prompts_and_build_rounds(
    run: Run, model: str, form: str, questions: Questions, rounds: Sequence[Round], engine: Engine | ClusterEngine
) -> list[Round]:
    """Record the prompts of one model that run.json does not have yet.

    Parameters
    ----------
    run, model
        The run folder, and the id of the model in it.
    form
        The prompt form that the model is asked in.
    questions, rounds
        Where the prompts are from, and the rounds that this call asks.
    engine
        Writes the prompt out as the model gets it.

    Returns
    -------
    The same rounds, of which those that were compared with a form are rendered by it.

    Raises
    ------
    InputError
        If a prompt cannot be made: for the model, or for one of the variants.
    """
    entry_by_condition = {}
    rounds_to_ask = list(rounds)
    for place, round_ in enumerate(rounds):
        new = [
            condition
            for condition in round_.conditions
            if not any(model in entry["models"] for entry in run.prompt_entries_by_condition.get(condition.name, ()))
        ]
        first = next(filter(round_.chosen, run.study.variants), None) if new else None
        if first is None:
            continue
        recorded_entries = [
            entry
            for condition in round_.conditions
            for entry in run.prompt_entries_by_condition.get(condition.name, ())
        ]
        wordings, rounds_to_ask[place] = _build_form_entry_and_round_rendering_it(
            round_, list(run.study.variants), engine.mask_token, recorded_entries
        )
        prompt = round_.render(first, engine.mask_token)
        for condition in new:
            text = engine.render(prompt, get_thinking_effort(condition.way))
            entry_by_condition[condition.name] = {
                "item": first.item,
                "variant": first.variant,
                "prompt": text[:LONGEST],
                "characters": len(text),
                **wordings,
            }
    run.add_prompts(model, build_form_entry_under_hash(questions.book, form), entry_by_condition)
    return rounds_to_ask


def build_form_entry_under_hash(book: PromptBook, form: str) -> dict[str, Any]:
    """Return one form of a prompt file under its hash.

    Parameters
    ----------
    book
        The prompt file.
    form
        One of its forms.

    Returns
    -------
    Hash -> form; empty where it is longer than run.json keeps (`LONGEST`).
    """
    content = book.get_form_content(form)
    return (
        {book.compute_hash_of_prompt_form(form): content}
        if len(json.dumps(content, ensure_ascii=False)) <= LONGEST
        else {}
    )


def _build_form_entry_and_round_rendering_it(
    round_: Round, variants: Sequence[Variant], mask_token: str | None, recorded_entries: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, Any], Round]:
    """Return the form of the prompts of variants, or why there is none, and the round, rendered by it if it fits."""
    form = _build_prompt_form_with_blanks(round_, variants[0], mask_token)
    if form is None or sum(len(part) for message in form for part in message["content"]) > LONGEST:
        return {"wordings": None, "inexact": "the prompt is too long, or its template refuses unknown texts"}, round_
    if any(entry["wordings"] == form for entry in recorded_entries):  # all were compared, for another model
        variants = list(filter(round_.chosen, variants))
    # Else all variants, also those that another call will ask about: what is recorded holds for the condition.
    differs = {"wordings": None, "inexact": "the template changes the wording, or does not treat all wordings alike"}
    filled: FilledForm | None = None
    is_alike = True
    try:
        for variant, prompt in zip(variants, Prompts(variants, round_.render, mask_token), strict=True):
            if fill_prompt_form_with_variant(form, variant) != list_prompt_messages(prompt):
                return differs, round_
            filled = filled or FilledForm(form, prompt)
            is_alike = is_alike and filled.is_like_prompt_except_texts(prompt)
    except InputError:  # it is reported when that variant is asked
        return differs, round_
    return {"wordings": form}, replace(round_, render=filled.render) if filled and is_alike else round_


@dataclass(frozen=True, slots=True)
class FilledForm:
    """Makes prompts that differ in nothing but columns of the stimuli.

    Attributes
    ----------
    form
        Messages as `wordings` of run.json has them.
    example
        One of the prompts.
    """

    form: Sequence[Message]
    example: Prompt

    def is_like_prompt_except_texts(self, prompt: Prompt) -> bool:
        """Tell whether a prompt is like the example but for its texts."""
        example = self.example
        return (prompt.answers, prompt.numbers, prompt.begins_with_persona) == (
            example.answers, example.numbers, example.begins_with_persona
        )  # fmt: skip

    def render(self, variant: Variant, _mask_token: str | None) -> Prompt:
        """Fill in the form.

        Parameters
        ----------
        variant
            One whose prompt was compared with the form.

        Returns
        -------
        The prompt.
        """
        example, filled = self.example, fill_prompt_form_with_variant(self.form, variant) or []
        text = filled[0][1] if example.messages is None else None
        messages = (
            None
            if example.messages is None
            else tuple({"role": role or "", "content": content} for role, content in filled)
        )
        return Prompt(text, messages, example.answers, example.numbers, example.begins_with_persona)


def _build_prompt_form_with_blanks(round_: Round, variant: Variant, mask_token: str | None) -> list[Message] | None:
    """Render a variant made of marks, and cut the prompt at the marks; None where the template refuses them."""
    columns = [TEXT, *(f"{ATTRIBUTE}{name}" for name in variant.attributes)]
    marks = [f"\ue000{number}\ue001" for number in range(len(columns))]
    marked = replace(variant, text=marks[0], attributes=dict(zip(variant.attributes, marks[1:], strict=True)))
    try:
        rendered = list_prompt_messages(round_.render(marked, mask_token))
    except InputError:
        return None
    # Texts, and at odd places the numbers of columns: "Say: <mark 0>!" becomes ["Say: ", "0", "!"].
    role_pieces = [(role, _MARK.split(content)) for role, content in rendered]
    if any(int(number) >= len(columns) for _, pieces in role_pieces for number in pieces[1::2]):
        return None
    return [
        {
            "role": role,
            "content": [
                {"column": columns[int(piece)]} if place % 2 else piece
                for place, piece in enumerate(pieces)
                if place % 2 or piece
            ],
        }
        for role, pieces in role_pieces
    ]


def list_prompt_messages(prompt: Prompt) -> list[tuple[str | None, str]]:
    """Return a prompt as (role, text), with one role None for a prompt without messages."""
    if prompt.messages is None:
        return [(None, prompt.text or "")]
    return [(message["role"], message["content"]) for message in prompt.messages]


def fill_prompt_form_with_variant(form: Sequence[Message], variant: Variant) -> list[tuple[str | None, str]] | None:
    """Fill the columns of a variant into a form.

    Parameters
    ----------
    form
        Messages as `wordings` of run.json has them: texts, and columns of the stimuli between them.
    variant
        Whose text and attributes are filled in.

    Returns
    -------
    (role, text) of each message, as `list_prompt_messages` gives them of a prompt; None where the variant lacks a
    column.
    """
    try:
        return [
            (
                message["role"],
                "".join(
                    [
                        p if isinstance(p, str) else _get_field_of_variant(variant, p["column"])
                        for p in message["content"]
                    ]
                ),
            )
            for message in form
        ]
    except KeyError:
        return None


def _get_field_of_variant(variant: Variant, column: str) -> str:
    """Return the text or an attribute of a variant, by the name of the column."""
    return variant.text if column == TEXT else variant.attributes[column.removeprefix(ATTRIBUTE)]
