"""Check and compile one form of a prompt file: sandboxed Jinja templates, and the words that count as each option."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import jinja2

from ground.errors import InputError
from inference.stimuli.reading.files import shorten_value
from inference.stimuli.templates.sandbox import check_and_list_template_variables, compile_template

PLAIN, CHAT, CLOZE, PAIR = "plain", "chat", "cloze", "pair"
FORMS = (PLAIN, CHAT, CLOZE)
WITH_MESSAGES = (CHAT, PAIR)
ONLY = {CLOZE: "a model that fills a mask", PAIR: "a classifier"}
"""Form -> the models that are asked in no other."""
OPTION_ORDERS = ("yes-no", "no-yes")
SYSTEM = "system"
ROLES = (SYSTEM, "user", "assistant")
PERSONA = "persona"
"""Variable with the text of a persona, where a protocol takes them; empty where the model is asked as itself."""
SENTENCES = ("premise", "hypothesis")
"""The roles of the two messages of a pair, in this order: what a classifier reads, each a sequence of its own."""


@dataclass(frozen=True, slots=True)
class Shot:
    """An exemplar, shown before the question: a question, and the label of the option that answers it.

    Where templates take several texts in place of one `text`, `parts` gives the variables of the question.
    """

    question: str
    label: str
    parts: Mapping[str, str] | None = None

    @property
    def variables(self) -> Mapping[str, str]:
        """The variables that the question fills in a template."""
        return {"text": self.question} if self.parts is None else self.parts


@dataclass(frozen=True, slots=True)
class Fields:
    """What the templates of a prompt file may and must use. Every protocol defines its own.

    Attributes
    ----------
    variables
        Variables that templates may use. In cloze there is one more, `mask`, which is needed. In chat, where the
        templates do not place `shots` themselves, the question of an exemplar takes the place of the variables.
    needed
        Variables that every form must use.
    trials
        Values of all variables but `options`, `shots` and `mask`. Every template is rendered with each of these when
        it is read: that finds errors which a syntax check cannot find.
    forms
        Forms that a file may have, some of `FORMS`, and `PAIR` where two sentences can be given to a classifier.
    answers
        Whether every form has `answers`: option label -> words that count as that option.
    example_words
        The same for options of examples, where the items bring options of their own: a form needs no `answers` then.
    """

    variables: frozenset[str]
    needed: frozenset[str]
    trials: tuple[Mapping[str, Any], ...]
    forms: tuple[str, ...] = (PLAIN, CHAT)
    answers: bool = False
    example_words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


OPTION_FIELDS = Fields(
    variables=frozenset({"text", "options", "shots"}),
    needed=frozenset({"text"}),
    trials=({"text": "A statement."},),
    forms=FORMS,
    answers=True,
)
"""Prompts that ask to choose an option. `options` come in the order asked for, each with `.label` and `.answer`, its
first word; `shots` are exemplars, each with `.question` and `.answer`."""


@dataclass(frozen=True, slots=True)
class Form:
    """One checked form of a prompt file.

    Attributes
    ----------
    where
        File and form, for messages.
    source
        The form as the file has it: what is hashed.
    parts
        (role, template) pairs, role None for plain text.
    words, surface
        Option label -> its words; and these with all their case variants.
    places_shots, places_persona
        Whether the templates place exemplars, and a persona, themselves.
    """

    where: str
    form: str
    source: Mapping[str, Any]
    parts: tuple[tuple[str | None, jinja2.Template], ...]
    words: Mapping[str, tuple[str, ...]]
    surface: Mapping[str, tuple[str, ...]]
    places_shots: bool
    places_persona: bool = False

    @classmethod
    def compile(cls, where: str, form: str, content: Any, fields: Fields) -> Form:
        """Check a form and compile its templates.

        Parameters
        ----------
        where
            File and form, for messages.
        form
            Name of the form.
        content
            The form as the file has it.
        fields
            What templates may and must use.

        Returns
        -------
        The compiled form.

        Raises
        ------
        InputError
            A field or variable is missing or unknown, or a template fails with a trial text.
        """
        body = "messages" if form in WITH_MESSAGES else "template"
        may_have_answers = bool(fields.example_words) and isinstance(content, dict) and "answers" in content
        expected = [body, "answers"] if fields.answers or may_have_answers else [body]
        if not isinstance(content, dict) or set(content) != set(expected):
            raise InputError(f"{where}: expected {' and '.join(expected)}, and nothing else")
        words = _parse_answer_words_by_label(where, content["answers"]) if "answers" in expected else {}
        sources = (
            _parse_chat_or_pair_messages(where, form, content[body])
            if form in WITH_MESSAGES
            else [(None, content[body])]
        )
        if not all(isinstance(source, str) for _, source in sources):
            raise InputError(f"{where}: template must be text")
        mask = {"mask"} if form == CLOZE else set()
        whole = "\n".join(source for _, source in sources)
        used = check_and_list_template_variables(where, whole, fields.needed | mask, fields.variables | mask)
        parts = tuple((role, compile_template(where, source)) for role, source in sources)
        surface = {label: list_spellings_in_all_cases(given_words) for label, given_words in words.items()}
        compiled_form = cls(where, form, content, parts, words, surface, "shots" in used, PERSONA in used)
        compiled_form.refuse_failing_rendering_or_unshown_field(fields)
        return compiled_form

    def refuse_failing_rendering_or_unshown_field(self, fields: Fields) -> None:
        """Render every part with all trial values; what is needed must be seen in the prompt, not only be used in it.

        Raises
        ------
        InputError
            A template fails, or makes the same prompt of another text.
        """
        needed = fields.needed | ({PERSONA} if self.places_persona else set())
        for values, order, answered in product(fields.trials, OPTION_ORDERS, (False, True) if self.words else (False,)):
            before = (Shot("A question?", next(iter(self.words)), values),) if answered else ()
            options = {"options": list(self.words or fields.example_words), "mask": "[MASK]", PERSONA: "A nurse."}
            trial = {**options, **values}
            rendered = self.render(trial, order, before, fields.example_words)
            for name in sorted(needed & (values.keys() | {PERSONA})):
                other = trial[name][::-1] if isinstance(trial[name], str) else trial[name]
                changed = {**trial, name: other}
                if other != trial[name] and self.render(changed, order, before, fields.example_words) == rendered:
                    raise InputError(
                        f"{self.where}: the prompt never shows {{{{ {name} }}}}: it is the same for any {name}"
                    )

    def render(
        self,
        values: Mapping[str, Any],
        option_order: str,
        shots: Sequence[Shot] = (),
        words: Mapping[str, tuple[str, ...]] | None = None,
    ) -> list[tuple[str | None, str]]:
        """Fill in every part.

        Parameters
        ----------
        values
            Variable -> value.
        option_order
            One of `OPTION_ORDERS`.
        shots
            Exemplars, in the order in which they are shown.
        words
            Words of options, which go before those of the file; None: none.

        Returns
        -------
        Role and text of every part; the role is None for plain text.

        Raises
        ------
        InputError
            The order is unknown, a cloze has no mask token, or a template fails.
        """
        if option_order not in OPTION_ORDERS:
            raise InputError(f"option order '{option_order}' is unknown; there are {', '.join(OPTION_ORDERS)}")
        if self.form == CLOZE and values.get("mask") is None:
            raise InputError(f"{self.where}: this model has no mask token; choose --form plain or chat")
        all_words = {**self.words, **(words or {})}
        options = [{"label": label, "answer": all_words[label][0]} for label in values.get("options", ())]
        variables = {
            PERSONA: "",
            **values,
            "options": options if option_order == OPTION_ORDERS[0] else options[::-1],
            "shots": [
                {**shot.variables, "question": shot.question, "answer": self.words[shot.label][0]} for shot in shots
            ],
        }
        try:
            return [(role, template.render(variables)) for role, template in self.parts]
        except Exception as error:  # a template is the user's program: whatever it raises is an error in that file
            raise InputError(f"{self.where}: the template fails: {type(error).__name__}: {str(error)[:200]}") from error


def list_spellings_in_all_cases(words: tuple[str, ...]) -> tuple[str, ...]:
    """Write every word as given, in lower case, Capitalised and in UPPER CASE (Haller et al., Appendix D)."""
    forms = (form for word in words for form in (word, word.lower(), word[:1].upper() + word[1:].lower(), word.upper()))
    return tuple(dict.fromkeys(forms))


def _parse_answer_words_by_label(where: str, answers: Any) -> dict[str, tuple[str, ...]]:
    """Return label -> words of a form's answers; refuse a word that two options share, as it would count twice."""
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
                    f"{where}: answers.{label} holds {shorten_value(word)}, which is not a word (quote yes and no in "
                    "YAML)"
                )
            if owner.setdefault(word.lower(), label) != label:
                raise InputError(
                    f"{where}: the word '{word}' belongs to two options, {owner[word.lower()]} and {label}"
                )
    return {label: tuple(words) for label, words in answers.items()}


def _parse_chat_or_pair_messages(where: str, form: str, messages: Any) -> list[tuple[str | None, str]]:
    """Check the messages of a chat or of a pair, and return (role, template) of each."""
    if not isinstance(messages, list) or not messages:
        raise InputError(f"{where}: messages must be a list of role and content")
    roles = ROLES if form == CHAT else SENTENCES
    for number, message in enumerate(messages, start=1):
        if not isinstance(message, dict) or set(message) != {"role", "content"} or message["role"] not in list(roles):
            raise InputError(f"{where}, message {number}: expected role ({', '.join(roles)}) and content")
        if not isinstance(message["content"], str):
            raise InputError(f"{where}, message {number}: content must be text")
    role_contents = [(message["role"], message["content"]) for message in messages]
    if form == PAIR and [role for role, _ in role_contents] != list(SENTENCES):
        raise InputError(f"{where}: expected two messages, {' and then '.join(SENTENCES)}")
    return role_contents
