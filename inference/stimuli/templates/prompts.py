"""Turn a variant into the question that a model reads: sandboxed Jinja templates from a YAML file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ground.errors import InputError
from inference.stimuli.personas import Persona
from inference.stimuli.reading.files import expand_user_path, read_yaml
from inference.stimuli.study import Variant
from inference.stimuli.templates.prompt_forms import (
    CHAT,
    FORMS,
    ONLY,
    OPTION_ORDERS,
    PAIR,
    PERSONA,
    SYSTEM,
    WITH_MESSAGES,
    Fields,
    Form,
    Shot,
)


@dataclass(frozen=True, slots=True)
class Prompt:
    """One rendered question for an engine: `text` (plain, cloze) or `messages` (chat, pair).

    Attributes
    ----------
    answers
        Per option, in the order of the variant's options: its surface words with all their case variants.
    numbers
        The numbers of a scale, where one of these is asked for instead of an option: engines that cannot score them
        exactly refuse such a prompt.
    begins_with_persona
        Whether the first message is a system message with nothing but a persona.
    """

    text: str | None
    messages: tuple[dict[str, str], ...] | None
    answers: tuple[tuple[str, ...], ...]
    numbers: range | None = None
    begins_with_persona: bool = False

    def list_alternative_message_lists(self) -> list[tuple[dict[str, str], ...]]:
        """List the messages of a chat in the ways that they may be given to a model.

        Returns
        -------
        The messages; with a persona as the system message, also those in which it begins the first message of the
        user, for chat templates without a place for a system message.
        """
        messages = self.messages or ()
        if not self.begins_with_persona:
            return [messages]
        persona, first, *others = messages
        joined = {**first, "content": f"{persona['content']}\n\n{first['content']}"}
        return [messages, (joined, *others)]


def build_template_values_of_options(variant: Variant, mask_token: str | None = None) -> dict[str, Any]:
    """Make the values of `OPTION_FIELDS` for one variant.

    Parameters
    ----------
    variant
        The variant.
    mask_token
        The engine's, for cloze; None: it has none.

    Returns
    -------
    Variable -> value.
    """
    return {"text": variant.text, "options": [option.label for option in variant.options], "mask": mask_token}


class PromptBook:
    """The prompts of a YAML file, one per form.

    A form has `template` (text) or, in chat and pair, `messages` (list of `role`, `content`), and where
    `Fields.answers` says so, `answers` (option label -> words). Every protocol passes its own `Fields`.
    """

    def __init__(
        self,
        name: str | None,
        forms: Mapping[str, Form],
        where: str,
        possible: Sequence[str],
        persona: Persona | None = None,
    ) -> None:
        self.name = name
        self.persona = persona
        self._forms = forms
        self._where = where
        self._possible = possible

    @classmethod
    def load(cls, path: str | Path | None, ours: Path, fields: Fields) -> PromptBook:
        """Read and check a prompt file.

        Parameters
        ----------
        path
            A file of the user's. None: the protocol's own file, `ours`.
        ours
            The file that comes with Waver.
        fields
            What templates may and must use.

        Returns
        -------
        The prompts.

        Raises
        ------
        InputError
            Naming the file, the form and the field that is wrong.
        """
        source = expand_user_path(str(path)) if path is not None else ours
        content = read_yaml(source)
        if not isinstance(content, dict) or not content or any(form not in fields.forms for form in content):
            raise InputError(f"{source}: expected the forms {', '.join(fields.forms)} (any of them) at the top level")
        forms = {
            form: Form.compile(f"{source}, form {form}", form, form_content, fields)
            for form, form_content in content.items()
        }
        return cls(source.stem if path is not None else None, forms, str(source), fields.forms)

    def copy_with_persona(self, persona: Persona) -> PromptBook:
        """Copy the prompts, so that all of them are asked as a persona, and all conditions are named by it."""
        return PromptBook(self.name, self._forms, self._where, self._possible, persona)

    @property
    def forms(self) -> tuple[str, ...]:
        """The forms that this file has, in the order plain, chat, cloze, pair."""
        return tuple(form for form in (*FORMS, PAIR) if form in self._forms)

    def compute_hash_of_prompt_form(self, form: str) -> str:
        """Compute the fingerprint of one form, by which a run folder recognises a changed prompt.

        Returns
        -------
        str
            sha256 over the templates and, where there are any, the answer words, as the file has them.

        Raises
        ------
        InputError
            For a form that the file does not have.
        """
        return hashlib.sha256(json.dumps(self._get_form_or_refuse(form).source, sort_keys=True).encode()).hexdigest()

    def build_prompt_name_and_hash_fields_of_form(self, form: str) -> dict[str, Any]:
        """Give the fields `prompt` and `prompt_hash` of a condition that is asked in one form."""
        return {"prompt": self.name, "prompt_hash": self.compute_hash_of_prompt_form(form)}

    def get_form_content(self, form: str) -> Mapping[str, Any]:
        """Give one form as the file has it: what `compute_hash_of_prompt_form` makes the fingerprint of."""
        return self._get_form_or_refuse(form).source

    def name_condition(self, form: str, setting: str) -> str:
        """Name a condition.

        Parameters
        ----------
        form
            Name of the form.
        setting
            What else tells the condition; empty for nothing.

        Returns
        -------
        `plain/yes-no`, or with a prompt file of the user's `FILE/plain/yes-no`; with a persona
        `plain/yes-no/persona-NAME`.
        """
        persona = None if self.persona is None else f"persona-{self.persona.name}"
        return "/".join(part for part in (self.name, form, setting, persona) if part)

    def get_answer_words_of_form(self, form: str) -> Mapping[str, tuple[str, ...]]:
        """Give the words that count as each option in one form, as the file has them."""
        return self._get_form_or_refuse(form).words

    def render(
        self,
        form: str,
        values: Mapping[str, Any],
        *,
        option_order: str = OPTION_ORDERS[0],
        shots: Sequence[Shot] = (),
        words: Mapping[str, tuple[str, ...]] | None = None,
        numbers: range | None = None,
    ) -> Prompt:
        """Fill in the templates of one form.

        Parameters
        ----------
        form
            One of `forms`.
        values
            Variable -> value, for all of `Fields.variables` but `shots`. `options` are labels in the order of the
            study, `mask` is the engine's mask token (`build_template_values_of_options` makes both).
        option_order
            `yes-no` shows the options in the order of the study, `no-yes` in the opposite one. The order of
            `Prompt.answers` does not depend on it.
        shots
            Exemplars, in the order in which they are shown. In chat, those that the templates do not place become
            turns before the last message.
        words
            Option label -> what counts as that option, to the letter, and goes before the words of the file; None: all
            options have their words there.
        numbers
            As in `Prompt`.

        Returns
        -------
        The prompt.

        Raises
        ------
        InputError
            For a form or an option label that the file does not have, exemplars that have no place in the template, and
            for a template that fails.
        """
        compiled = self._get_form_or_refuse(form)
        labels = values.get("options", ())
        surface = {**compiled.surface, **(words or {})}
        missing = [label for label in labels if label not in surface]
        if missing:
            raise InputError(f"{compiled.where}: answers has no option '{missing[0]}'; add it with its words")
        if shots and form != CHAT and not compiled.places_shots:
            raise InputError(f"{compiled.where}: the template never uses {{{{ shots }}}}; ask without exemplars")
        if self.persona is not None:
            values = {**values, PERSONA: self.persona.text}
        rendered = compiled.render(values, option_order, shots, words)
        answers = tuple(surface[label] for label in labels)
        begins_with_persona = False
        if self.persona is not None and not compiled.places_persona:
            rendered, begins_with_persona = _put_persona_first_or_into_system(rendered, self.persona.text, form)
        if form not in WITH_MESSAGES:
            return Prompt(rendered[0][1], None, answers, numbers)
        if form == CHAT and not compiled.places_shots:
            for shot in shots:
                question = compiled.render({**values, **shot.variables}, option_order)[-1]
                rendered[-1:-1] = [question, ("assistant", compiled.words[shot.label][0])]
        messages = tuple({"role": role or "", "content": content} for role, content in rendered)
        return Prompt(None, messages, answers, numbers, begins_with_persona)

    def _get_form_or_refuse(self, form: str) -> Form:
        """Return a form; refuse one that the file does not have."""
        if form not in self._forms:
            needed = f" {ONLY[form]} is asked in that form only:" if form in ONLY else ""
            ways = ["add it to the file"] * (form in self._possible)
            ways.append("give another --model" if form in ONLY else "choose --form")
            raise InputError(
                f"{self._where}: there is no form '{form}', only {', '.join(self.forms)};{needed} {' or '.join(ways)}"
            )
        return self._forms[form]


def _put_persona_first_or_into_system(
    rendered: Sequence[tuple[str | None, str]], persona_text: str, form: str
) -> tuple[list[tuple[str | None, str]], bool]:
    """Put a persona where the templates have no place for it: into the system message of a chat, else before all.

    The second value says whether that made a message of its own.
    """
    role, text = rendered[0]
    if form == CHAT and role != SYSTEM:
        return [(SYSTEM, persona_text), *rendered], True
    return [(role, f"{persona_text}\n\n{text}"), *rendered[1:]], False
