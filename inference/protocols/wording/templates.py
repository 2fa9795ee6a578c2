"""Read template banks: many wordings of one yes/no question about a text.

A bank file is YAML, a list of entries with `task`, `language` and `patterns`; a pattern has a list of Jinja templates
with the placeholder `{{ text }}`. `original` has one template, each of the four manipulations (Takayama et al.,
section 3.1) one or more, as a rule four or five. Whatever else an entry says is a note.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

from ground.errors import InputError
from inference.stimuli.languages import explain_invalid_language_code, get_main_language
from inference.stimuli.random_order import compute_sort_key_for_random_order
from inference.stimuli.reading.files import expand_user_path, read_yaml, shorten_value
from inference.stimuli.study import ORIGINAL, Option
from inference.stimuli.templates.sandbox import check_and_list_template_variables, compile_template

ANTONYM = "antonym"
MANIPULATED = ("synonym", ANTONYM, "agreement", "strong_agreement")
PATTERNS = (ORIGINAL, *MANIPULATED)
YES, NO = "yes", "no"
OPPOSITE = {YES: NO, NO: YES}
OURS = Path(__file__).parent / "banks"


@dataclass(frozen=True, slots=True)
class Template:
    """One way to ask: `name` is the pattern and a number; `where` is file, task and pattern, for messages."""

    name: str
    pattern: str
    source: str
    where: str
    compiled: jinja2.Template

    @property
    def options(self) -> tuple[Option, ...]:
        """Yes and No as shown, and what they mean for the original question: after an antonym, the opposite."""
        return tuple(Option(label, self.swap_answer_if_antonym(label)) for label in (YES, NO))

    def swap_answer_if_antonym(self, answer: str) -> str:
        """Translate an answer to the original question into one to this question, or back: both ways are the same."""
        return OPPOSITE[answer] if self.pattern == ANTONYM else answer

    def render_question(self, text: str) -> str:
        """Write the question about a text.

        Raises
        ------
        InputError
            The template fails.
        """
        try:
            return self.compiled.render(text=text).strip()
        except Exception as error:  # a template is the user's program: whatever it raises is an error in that file
            raise InputError(f"{self.where}: the template fails: {type(error).__name__}: {str(error)[:200]}") from error


@dataclass(frozen=True, slots=True)
class Bank:
    """All templates of one task in one language, by pattern."""

    name: str
    task: str
    language: str
    templates: Mapping[str, tuple[Template, ...]]

    @property
    def original(self) -> Template:
        """The template of the original question."""
        return self.templates[ORIGINAL][0]

    def draw_template(self, pattern: str, item: str, seed: int) -> Template:
        """Draw the template of a pattern for an item.

        Each template has its own place for each item, and the first one is taken. So a draw depends neither on other
        items nor on the order of the templates, and a new template moves only the items that it is drawn for.

        Parameters
        ----------
        pattern
            A pattern of the bank.
        item
            Name of the item.
        seed
            Another seed gives other draws.

        Returns
        -------
        The template.
        """
        return min(
            self.templates[pattern],
            key=lambda template: compute_sort_key_for_random_order(seed, "template", item, template.source),
        )


def list_template_banks() -> tuple[str, ...]:
    """List the banks that come with Waver."""
    return tuple(sorted(path.stem for path in OURS.glob("*.yaml")))


def read_template_bank(source: str, language: str) -> Bank:
    """Read the bank of a task in a language; the whole file is checked.

    Parameters
    ----------
    source
        `BANK` or `BANK:TASK`; the bank is a name of `list_template_banks()` or a file. With one task, none needs to
        be named.
    language
        A language of the file; with a region that the file lacks, such as "en-US", the templates are those in "en".

    Returns
    -------
    The templates of the task in this language.

    Raises
    ------
    InputError
        One line with file, task and pattern.
    """
    path, task = _find_bank_file_and_task(source)
    entries = _read_and_check_bank_entries(path)
    tasks = list(dict.fromkeys(entry["task"] for entry in entries))
    if task is None and len(tasks) > 1:
        raise InputError(f"{path}: has the tasks {', '.join(tasks)}; choose one as --templates {source}:{tasks[0]}")
    chosen_task = tasks[0] if task is None else task
    banks = {(entry["task"], entry["language"]): _build_template_bank(path, entry) for entry in entries}
    if chosen_task not in tasks:
        raise InputError(f"{path}: there is no task '{chosen_task}', only {', '.join(tasks)}")
    bank = banks.get((chosen_task, language)) or banks.get((chosen_task, get_main_language(language)))
    if bank is None:
        languages = ", ".join(bank_language for name, bank_language in banks if name == chosen_task)
        raise InputError(
            f"{path}, task {chosen_task}: there are no templates in '{language}', only in {languages}; give a bank of "
            "your own with --templates FILE"
        )
    return bank


def _find_bank_file_and_task(source: str) -> tuple[Path, str | None]:
    """Find the file of a bank, and the task after the last colon."""
    bank, _, task = source.rpartition(":")
    for name, chosen in ((source, None), (bank, task)):
        if not name:
            continue
        if name in list_template_banks():
            return OURS / f"{name}.yaml", chosen
        if expand_user_path(name).is_file():
            return expand_user_path(name), chosen
    raise InputError(
        f"--templates {source}: no such file, and no bank of Waver's own ({', '.join(list_template_banks())})"
    )


def _read_and_check_bank_entries(path: Path) -> list[dict[str, Any]]:
    """Check the entries of a bank file: codes of languages, and no task twice in one language."""
    content = read_yaml(path)
    if not isinstance(content, list) or not content:
        raise InputError(f"{path}: expected a list of entries with task, language and patterns")
    task_languages = set()
    for number, entry in enumerate(content, start=1):
        if not isinstance(entry, dict) or not {"task", "language", "patterns"} <= set(entry):
            raise InputError(f"{path}, entry {number}: expected task, language and patterns")
        task, language = entry["task"], entry["language"]
        if not isinstance(task, str) or not task.strip():
            raise InputError(f"{path}, entry {number}: task must be text, not {shorten_value(task)}")
        if not isinstance(language, str):
            raise InputError(f"{path}, task {task}: language must be a code such as en, not {shorten_value(language)}")
        if trouble := explain_invalid_language_code(language):
            raise InputError(f"{path}, task {task}, language: {trouble}")
        if (task, language) in task_languages:
            raise InputError(f"{path}, entry {number}: task {task} is already there in '{language}'")
        task_languages.add((task, language))
    return content


def _build_template_bank(path: Path, entry: Mapping[str, Any]) -> Bank:
    """Make the bank of an entry: every pattern has templates, and none comes twice."""
    where = f"{path}, task {entry['task']}, language {entry['language']}"
    patterns = entry["patterns"]
    if not isinstance(patterns, dict):
        raise InputError(f"{where}: patterns must name {', '.join(PATTERNS)}, each with a list of templates")
    unknown = [str(pattern) for pattern in patterns if pattern not in PATTERNS]
    if unknown:
        raise InputError(f"{where}: unknown pattern '{unknown[0]}'; there are {', '.join(PATTERNS)}")
    owner: dict[str, str] = {}
    templates = {}
    for pattern in PATTERNS:
        if pattern not in patterns:
            raise InputError(f"{where}: the pattern {pattern} is missing")
        pattern_where = f"{where}, pattern {pattern}"
        sources = patterns[pattern]
        if not isinstance(sources, list) or not sources:
            raise InputError(f"{pattern_where}: expected a list of templates")
        if pattern == ORIGINAL and len(sources) != 1:
            raise InputError(f"{pattern_where}: there is one original question, not {len(sources)}")
        templates[pattern] = tuple(
            _compile_template(pattern_where, pattern, number, text) for number, text in enumerate(sources, 1)
        )
        for template in templates[pattern]:
            if owner.setdefault(template.source.strip(), template.name) != template.name:
                raise InputError(f"{pattern_where}: {template.name} is the same as {owner[template.source.strip()]}")
    return Bank(path.stem, entry["task"], entry["language"], templates)


def _compile_template(where: str, pattern: str, number: int, source: Any) -> Template:
    """Check and compile one template; a trial rendering finds what a syntax check cannot."""
    template_where = f"{where}, template {number}"
    if not isinstance(source, str):
        raise InputError(f"{template_where}: must be text, not {shorten_value(source)}")
    check_and_list_template_variables(template_where, source, {"text"}, {"text"})
    template = Template(
        f"{pattern}-{number:02d}", pattern, source, template_where, compile_template(template_where, source)
    )
    if template.render_question("A text.") == template.render_question("Another"):
        raise InputError(f"{template_where}: the question never shows {{{{ text }}}}: it is the same for any text")
    return template
