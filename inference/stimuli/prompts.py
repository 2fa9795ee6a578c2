"""From a variant to the question that a model reads: sandboxed Jinja templates in a YAML file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import jinja2
import jinja2.meta
import jinja2.sandbox
import yaml

from inference.errors import InputError
from inference.stimuli.study import Variant

PLAIN, CHAT, CLOZE = "plain", "chat", "cloze"
FORMS = (PLAIN, CHAT, CLOZE)
OPTION_ORDERS = ("yes-no", "no-yes")
ROLES = ("system", "user", "assistant")
DEFAULT = Path(__file__).parents[1] / "protocols" / "agreement" / "prompts.yaml"


@dataclass(frozen=True, slots=True)
class Prompt:
    """One rendered question for an engine: `text` (plain, cloze) or `messages` (chat).

    Attributes
    ----------
    answers
        Per option, in the order of `stimuli.options`: its surface words with all their case variants.
    numbers
        The numbers of a scale, where one of these is asked for instead of an option: engines that cannot score them
        exactly refuse such a prompt.
    """

    text: str | None
    messages: tuple[dict[str, str], ...] | None
    answers: tuple[tuple[str, ...], ...]
    numbers: range | None = None


@dataclass(frozen=True, slots=True)
class Shot:
    """An exemplar shown before the question: a question, and the label of the option that is its answer."""

    question: str
    label: str


@dataclass(frozen=True, slots=True)
class _Form:
    """One compiled form: (role, template) pairs, role None for plain text; surface words per option label."""

    source: Mapping[str, Any]
    parts: tuple[tuple[str | None, jinja2.Template], ...]
    words: Mapping[str, tuple[str, ...]]
    surface: Mapping[str, tuple[str, ...]]
    places_shots: bool


class PromptBook:
    """The prompts of a YAML file, one per form.

    A file has any of the forms `plain`, `chat` and `cloze`. A form has `template` (text) or, in chat, `messages`
    (list of `role`, `content`), and `answers` (option label -> words that count as that option). Templates see
    `text`, `options` (in the order asked for, each with `.label` and `.answer`, its first word), `shots` (exemplars,
    if any, each with `.question` and `.answer`) and, in cloze, `mask`. In chat, exemplars that the templates do not
    place become turns before the last message.
    """

    def __init__(self, name: str | None, forms: Mapping[str, _Form], where: str) -> None:
        self.name = name
        self._forms = forms
        self._where = where

    @classmethod
    def load(cls, path: str | Path | None = None, ours: Path = DEFAULT) -> PromptBook:
        """Read a prompt file; without one, Waver's own (by default that of the `agreement` protocol).

        Raises
        ------
        InputError
            Naming the file, the form and the field that is wrong.
        """
        source = Path(path) if path is not None else ours
        content = read_forms(source)
        forms = {form: _compile(source, form, fields) for form, fields in content.items()}
        return cls(source.stem if path is not None else None, forms, str(source))

    @property
    def forms(self) -> tuple[str, ...]:
        """The forms that this file has, in the order plain, chat, cloze."""
        return tuple(form for form in FORMS if form in self._forms)

    def hash(self, form: str) -> str:
        """sha256 over the template and the answer words of one form: what a changed prompt is recognised by."""
        return hashlib.sha256(json.dumps(self._form(form).source, sort_keys=True).encode()).hexdigest()

    def condition(self, form: str, setting: str) -> str:
        """Name of the condition: `plain/yes-no`, and with a file of one's own `FILE/plain/yes-no`."""
        return "/".join(part for part in (self.name, form, setting) if part)

    def render(
        self,
        form: str,
        variant: Variant,
        option_order: str,
        mask_token: str | None = None,
        shots: Sequence[Shot] = (),
    ) -> Prompt:
        """Render one variant.

        Parameters
        ----------
        form
            One of `forms`.
        option_order
            `yes-no` shows the options in the order of the study, `no-yes` in the opposite one. The order of
            `Prompt.answers` does not depend on it.
        mask_token
            The engine's mask token; needed for cloze.
        shots
            Exemplars, in the order in which they are shown.

        Raises
        ------
        InputError
            For a form or an option label that the file does not have, exemplars that have no place in the template, and
            for a template that fails.
        """
        compiled = self._form(form)
        labels = [option.label for option in variant.options]
        missing = [label for label in labels if label not in compiled.words]
        if missing:
            raise InputError(f"{self._where}, form {form}: answers lacks the option '{missing[0]}'; add its words")
        if shots and form != CHAT and not compiled.places_shots:
            raise InputError(
                f"{self._where}, form {form}: the template never uses {{{{ shots }}}}; ask without exemplars"
            )
        render = partial(_render, self._where, form, compiled, labels, option_order, mask_token)
        rendered = render(variant.text, shots)
        if form == CHAT and not compiled.places_shots:
            turns = (
                turn for s in shots for turn in (render(s.question)[-1], ("assistant", compiled.words[s.label][0]))
            )
            rendered[-1:-1] = turns
        answers = tuple(compiled.surface[label] for label in labels)
        if form == CHAT:
            return Prompt(None, tuple({"role": role or "", "content": content} for role, content in rendered), answers)
        return Prompt(rendered[0][1], None, answers)

    def _form(self, form: str) -> _Form:
        if form not in self._forms:
            raise InputError(
                f"{self._where}: there is no form '{form}', only {', '.join(self.forms)}; add it or choose --form"
            )
        return self._forms[form]


def case_variants(words: tuple[str, ...]) -> tuple[str, ...]:
    """Every word as given, in lower case, Capitalised and in UPPER CASE, each once (Haller et al., Appendix D)."""
    forms = (form for word in words for form in (word, word.lower(), word[:1].upper() + word[1:].lower(), word.upper()))
    return tuple(dict.fromkeys(forms))


def read_forms(path: Path) -> dict[str, Any]:
    """A prompt file as it stands: form -> fields, the forms known to be plain, chat or cloze; else an InputError."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{path}: the prompt file cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 at byte {error.start}; save the prompt file as UTF-8") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        raise InputError(f"{path}{line}: not valid YAML ({getattr(error, 'problem', None) or 'syntax'})") from None
    if not isinstance(content, dict) or not content or any(form not in FORMS for form in content):
        raise InputError(f"{path}: expected the forms {', '.join(FORMS)} (any of them) at the top level")
    return content


def _compile(path: Path, form: str, fields: Any) -> _Form:
    """Check one form and compile its templates; a trial rendering finds what the syntax check cannot."""
    where = f"{path}, form {form}"
    body = "messages" if form == CHAT else "template"
    if not isinstance(fields, dict) or set(fields) != {body, "answers"}:
        raise InputError(f"{where}: expected exactly the fields {body} and answers")
    words = _words(where, fields["answers"])
    parts = read_messages(where, fields[body]) if form == CHAT else [(None, fields[body])]
    if not all(isinstance(source, str) for _, source in parts):
        raise InputError(f"{where}: template must be text")
    used = _variables(where, form, "\n".join(source for _, source in parts))
    compiled = tuple((role, sandbox().from_string(source)) for role, source in parts)
    surface = {label: case_variants(forms) for label, forms in words.items()}
    result = _Form(fields, compiled, words, surface, "shots" in used)
    for order in OPTION_ORDERS:
        for shots in ((), (Shot("A question?", next(iter(words))),)):
            _render(str(path), form, result, list(words), order, "[MASK]", "A statement.", shots)
    return result


def _words(where: str, answers: Any) -> dict[str, tuple[str, ...]]:
    """Option label -> words; a word that two options share would count twice, so it is refused."""
    if not isinstance(answers, dict) or len(answers) < 2:
        raise InputError(f"{where}: answers needs at least two options, each with a list of words")
    owner: dict[str, str] = {}
    for label, words in answers.items():
        if not isinstance(label, str) or not isinstance(words, list) or not words:
            raise InputError(
                f"{where}: answers.{label} must be a list of words (text; quote yes, no, on and off in YAML)"
            )
        for word in words:
            if not isinstance(word, str) or not word.strip():
                raise InputError(
                    f"{where}: answers.{label} holds {word!r}, which is not a word (quote yes and no in YAML)"
                )
            if owner.setdefault(word.lower(), label) != label:
                raise InputError(
                    f"{where}: the word '{word}' belongs to two options, {owner[word.lower()]} and {label}"
                )
    return {label: tuple(words) for label, words in answers.items()}


def read_messages(where: str, messages: Any) -> list[tuple[str | None, str]]:
    """(role, template) of every message of a chat form; what is not a list of them is an InputError."""
    if not isinstance(messages, list) or not messages:
        raise InputError(f"{where}: messages must be a list of role and content")
    for number, message in enumerate(messages, start=1):
        if not isinstance(message, dict) or set(message) != {"role", "content"} or message["role"] not in ROLES:
            raise InputError(f"{where}, message {number}: expected role ({', '.join(ROLES)}) and content")
        if not isinstance(message["content"], str):
            raise InputError(f"{where}, message {number}: content must be text")
    return [(message["role"], message["content"]) for message in messages]


def sandbox() -> jinja2.Environment:
    """Templates come from strangers: sandboxed; a trailing newline is part of a published prompt: kept."""
    return jinja2.sandbox.ImmutableSandboxedEnvironment(
        undefined=jinja2.StrictUndefined, autoescape=False, keep_trailing_newline=True
    )


def _variables(where: str, form: str, source: str) -> set[str]:
    """The variables that the templates of a form use, checked."""
    needed = {"text", "mask"} if form == CLOZE else {"text"}
    return check_variables(where, source, needed, needed | {"options", "shots"})


def check_variables(where: str, source: str, needed: Set[str], known: Set[str]) -> set[str]:
    """The variables that a template uses.

    Raises
    ------
    InputError
        For bad syntax, a variable that is not `known`, and one that is `needed` but not used.
    """
    try:
        used = jinja2.meta.find_undeclared_variables(sandbox().parse(source))
    except jinja2.TemplateSyntaxError as error:
        raise InputError(f"{where}: template syntax, line {error.lineno}: {error.message}") from None
    if used - known:
        raise InputError(f"{where}: unknown variable '{min(used - known)}'; there are {', '.join(sorted(known))}")
    if needed - used:
        raise InputError(f"{where}: the template never uses {{{{ {min(needed - used)} }}}}")
    return used


def _render(
    where: str,
    form: str,
    compiled: _Form,
    labels: list[str],
    option_order: str,
    mask_token: str | None,
    text: str,
    shots: Sequence[Shot] = (),
) -> list[tuple[str | None, str]]:
    if option_order not in OPTION_ORDERS:
        raise InputError(f"option order '{option_order}' is unknown; there are {', '.join(OPTION_ORDERS)}")
    options = [{"label": label, "answer": compiled.words[label][0]} for label in labels]
    variables: dict[str, Any] = {
        "text": text,
        "options": options if option_order == "yes-no" else options[::-1],
        "shots": [{"question": shot.question, "answer": compiled.words[shot.label][0]} for shot in shots],
    }
    if form == CLOZE:
        if mask_token is None:
            raise InputError(f"{where}, form {form}: this model has no mask token; choose --form plain or chat")
        variables["mask"] = mask_token
    try:
        return [(role, template.render(variables)) for role, template in compiled.parts]
    except Exception as error:  # a template is the user's program: whatever it raises is an error in that file
        raise InputError(f"{where}, form {form}: the template fails: {type(error).__name__}: {error}") from error
