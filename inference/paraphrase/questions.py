"""How a model is asked for paraphrases: the study of originals, the prompts, and the one round of calls."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jinja2
import jinja2.meta

from inference.asking.rounds import Condition, Round
from inference.engines import Generation, Sampling
from inference.errors import InputError
from inference.paraphrase.itemsfile import without_match
from inference.stimuli.prompts import CHAT, CLOZE, Prompt, read_forms, read_messages, sandbox
from inference.stimuli.study import Item, Study, Variant

NAME = "paraphrase"
CONDITION = "calls"  # one name whatever the settings: in one folder, others are refused
DEFAULT = Path(__file__).parent / "prompt.yaml"
TEMPERATURE = 1.0
"""Haller et al., appendix F; what a model's probabilities mean before anybody sharpens them."""


def study(given: Sequence[Item], name: str, source: str) -> Study:
    """The originals of items, which are asked about in free text.

    Raises
    ------
    InputError
        An item has no original.
    """
    for item in given:
        if item.original is None:
            raise InputError(f"{source}, item '{item.item}': there is no original to paraphrase; set a pattern")
    asked = [replace(item.original, attributes=without_match(item.original)) for item in given if item.original]
    return Study(NAME, name, tuple(Item(original.item, (original,)) for original in asked), (), source=source)


class Book:
    """The prompts of a YAML file: any of the forms `chat` and `plain`, with templates that see `text` and `number`."""

    def __init__(self, path: str | Path | None = None) -> None:
        """Read a prompt file; without one, Waver's own.

        Raises
        ------
        InputError
            Naming the file, the form and the field that is wrong.
        """
        self.path = Path(path) if path is not None else DEFAULT
        self.name = self.path.stem if path is not None else None
        self._source = read_forms(self.path)
        self._parts = {form: self._compile(form, fields) for form, fields in self._source.items()}

    def hash(self, form: str) -> str:
        """sha256 over the templates of one form."""
        return hashlib.sha256(json.dumps(self._source[form], sort_keys=True).encode()).hexdigest()

    def check(self, form: str) -> None:
        """Refuse a form that this file does not have."""
        if form == CLOZE:
            raise InputError("this model fills gaps and writes no text: choose another --model to make paraphrases")
        if form not in self._parts:
            raise InputError(f"{self.path}: there is no form '{form}', only {', '.join(self._parts)}; add it")

    def render(self, form: str, text: str, number: int) -> Prompt:
        """The prompt that asks for `number` paraphrases of a text."""
        rendered = self._rendered(form, self._parts[form], text, number)
        if form == CHAT:
            return Prompt(None, tuple({"role": role or "", "content": content} for role, content in rendered), ())
        return Prompt(rendered[0][1], None, ())

    def _compile(self, form: str, fields: Any) -> list[tuple[str | None, jinja2.Template]]:
        where = f"{self.path}, form {form}"
        body = "messages" if form == CHAT else "template"
        if form == CLOZE or not isinstance(fields, dict) or set(fields) != {body}:
            raise InputError(f"{where}: expected the forms chat, with messages, and plain, with template")
        sources = read_messages(where, fields[body]) if form == CHAT else [(None, fields[body])]
        if not all(isinstance(source, str) for _, source in sources):
            raise InputError(f"{where}: template must be text")
        jinja = sandbox()
        try:
            used = jinja2.meta.find_undeclared_variables(jinja.parse("\n".join(source for _, source in sources)))
        except jinja2.TemplateSyntaxError as error:
            raise InputError(f"{where}: template syntax, line {error.lineno}: {error.message}") from None
        if used - {"text", "number"}:
            raise InputError(f"{where}: unknown variable '{min(used - {'text', 'number'})}'; there are text, number")
        if "text" not in used:
            raise InputError(f"{where}: the template never uses {{{{ text }}}}")
        parts = [(role, jinja.from_string(source)) for role, source in sources]
        self._rendered(form, parts, "A statement.", 20)  # finds what the syntax check cannot
        return parts

    def _rendered(
        self, form: str, parts: Sequence[tuple[str | None, jinja2.Template]], text: str, number: int
    ) -> list[tuple[str | None, str]]:
        try:
            return [(role, template.render(text=text, number=number)) for role, template in parts]
        except Exception as error:  # a template is the user's program: whatever it raises is an error in that file
            reason = f"{type(error).__name__}: {error}"
            raise InputError(f"{self.path}, form {form}: the template fails: {reason}") from error


@dataclass(frozen=True, slots=True)
class Calls:
    """`calls` calls for `per_call` paraphrases each (Haller et al., appendix F: 30 x 20), as questions of a run."""

    book: Book
    calls: int
    per_call: int
    max_tokens: int

    def rounds(self, form: str) -> list[Round]:
        """One round with one condition: a row of the run holds all calls of an item."""
        self.book.check(form)
        way = Sampling(self.calls, TEMPERATURE, self.max_tokens)
        condition = Condition(CONDITION, self._fields(form, way), way)

        def render(variant: Variant, mask_token: str | None) -> Prompt:
            return self.book.render(form, variant.text, self.per_call)

        return [Round((condition,), render, _read)]

    def _fields(self, form: str, way: Sampling) -> Mapping[str, Any]:
        return {
            "form": form,
            "prompt": self.book.name,
            "prompt_hash": self.book.hash(form),
            "per_call": self.per_call,
            "temperature": way.temperature,
            "samples": way.samples,
            "max_tokens": way.max_tokens,
        }


def _read(variant: Variant, prompt: Prompt, generation: Generation) -> dict[str, Any]:
    """The answers as they are, without a model's thinking; one that never came to an answer is an empty text."""
    silent = sum(answer is None for answer in generation.answers)
    return {"output": [answer or "" for answer in generation.answers], "invalid": silent}
