"""`scoring` (Sato et al.): which number does a model give a text, or a text made from another, on a scale?"""

from __future__ import annotations

import hashlib
import json
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import jinja2
import jinja2.meta

from inference.asking.rounds import Condition, Exact, Round
from inference.engines import Generation, Sampling, Score
from inference.errors import InputError
from inference.protocols.scoring import items as ratings
from inference.stimuli import items
from inference.stimuli.numbers import first_number, read_range
from inference.stimuli.prompts import CHAT, CLOZE, Prompt, read_forms, read_messages, sandbox
from inference.stimuli.study import Study, Variant

NAME = "scoring"
FAMILIES = ("causal",)
DEFAULT = Path(__file__).with_name("prompts.yaml")
RANGE, TEMPERATURE, SAMPLES = "0-9", 0.7, 10
MAX_TOKENS = 5
"""Sato et al., section 4: longer answers than this are no numbers."""
LARGEST = 1001
"""Numbers of a scale whose probabilities are all asked for."""
DECISION_RULE = (
    "sampled: the mean of the first numbers of the texts, those outside the scale moved to its nearer end, texts "
    "without a number dropped; exact: the expected number, given that one of the scale is answered"
)
VARIABLES = ("low", "high", "output", "source", "source_language", "target_language")


class Book:
    """The prompts of a YAML file: any of the forms `plain` and `chat`, with templates that see `VARIABLES`."""

    def __init__(self, path: str | None = None) -> None:
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
        """sha256 over the templates of one form.

        Raises
        ------
        InputError
            This file does not have the form.
        """
        if form not in self._source:
            raise InputError(f"{self.path}: there is no form '{form}', only {', '.join(self._parts)}; add it")
        return hashlib.sha256(json.dumps(self._source[form], sort_keys=True).encode()).hexdigest()

    def render(self, form: str, numbers: range, variant: Variant, _mask_token: str | None = None) -> Prompt:
        """The prompt that asks for a score of a text on a scale."""
        fields: dict[str, Any] = {name: variant.attributes.get(name) for name in VARIABLES}
        fields |= {"low": numbers[0], "high": numbers[-1], "output": variant.text}
        rendered = self._rendered(form, self._parts[form], fields)
        asked = numbers if len(numbers) <= LARGEST else None
        if form == CHAT:
            return Prompt(None, tuple({"role": role or "", "content": text} for role, text in rendered), (), asked)
        return Prompt(rendered[0][1], None, (), asked)

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
        if used - set(VARIABLES):
            unknown = min(used - set(VARIABLES))
            raise InputError(f"{where}: unknown variable '{unknown}'; there are {', '.join(VARIABLES)}")
        missing = next((name for name in ("low", "high", "output") if name not in used), None)
        if missing is not None:
            raise InputError(f"{where}: the template never uses {{{{ {missing} }}}}")
        parts = [(role, jinja.from_string(source)) for role, source in sources]
        trial = dict.fromkeys(VARIABLES, "text") | {"low": 0, "high": 9}
        for absent in ((), VARIABLES[4:], VARIABLES[3:]):  # finds what the syntax check cannot
            self._rendered(form, parts, trial | dict.fromkeys(absent))
        return parts

    def _rendered(
        self, form: str, parts: Sequence[tuple[str | None, jinja2.Template]], fields: dict[str, Any]
    ) -> list[tuple[str | None, str]]:
        try:
            return [(role, template.render(fields)) for role, template in parts]
        except Exception as error:  # a template is the user's program: whatever it raises is an error in that file
            reason = f"{type(error).__name__}: {error}"
            raise InputError(f"{self.path}, form {form}: the template fails: {reason}") from error


@dataclass(frozen=True, slots=True)
class Questions:
    """A round for every scale, in which every temperature is a condition, sampled and exact.

    Parameters
    ----------
    book
        The prompts.
    ranges, temperatures
        Scales to ask for, and temperatures.
    samples
        Texts per prompt at temperatures above 0, where the likeliest is the only one; 0: none.
    exact
        Whether the probability of every number of the scales is asked for.
    """

    book: Book
    ranges: tuple[range, ...] = (read_range(RANGE),)
    temperatures: tuple[float, ...] = (TEMPERATURE,)
    samples: int = SAMPLES
    exact: bool = False

    def rounds(self, form: str) -> list[Round]:
        """Rounds of every scale.

        Raises
        ------
        InputError
            For a mask: it has no room for a number.
        """
        if form == CLOZE:
            raise InputError("a model that fills a mask has no room for a number: leave it out, or ask it another way")
        return [self._round(form, numbers) for numbers in self.ranges]

    def _round(self, form: str, numbers: range) -> Round:
        conditions = []
        if self.samples:
            ways = (Sampling(self.samples if t else 1, t, MAX_TOKENS) for t in self.temperatures)
            conditions += [self._condition(form, numbers, way) for way in ways]
        if self.exact:
            conditions += [self._condition(form, numbers, Exact(t)) for t in self.temperatures]
        return Round(tuple(conditions), partial(self.book.render, form, numbers), partial(read, numbers))

    def _condition(self, form: str, numbers: range, way: Exact | Sampling) -> Condition:
        sampled = isinstance(way, Sampling)
        name = f"{form}/{numbers[0]}-{numbers[-1]}/t{way.temperature:g}" + ("" if sampled else "/exact")
        fields = {
            "form": form,
            "range": [numbers[0], numbers[-1]],
            "temperature": way.temperature,
            "samples": way.samples if isinstance(way, Sampling) else None,
            "method": "sampled" if sampled else "exact",
            "max_tokens": way.max_tokens if isinstance(way, Sampling) else None,
            "prompt": self.book.name,
            "prompt_hash": self.book.hash(form),
        }
        return Condition(f"{self.book.name}/{name}" if self.book.name else name, fields, way)


def read(numbers: range, variant: Variant, prompt: Prompt, response: Score | Generation) -> dict[str, Any]:
    """Columns of a response row, as results/schema.json has them for scores."""
    if isinstance(response, Generation):
        return _read_texts(numbers, response)
    mass = sum(response.probability)
    return {
        "probability": response.probability,
        "logprob": response.logprob,
        "mass": response.mass,
        "answer": None if response.answer is None else str(numbers[response.answer]),
        "score": sum(n * p for n, p in zip(numbers, response.probability, strict=True)) / mass if mass else None,
    }


def _read_texts(numbers: range, generation: Generation) -> dict[str, Any]:
    stated = [None if text is None else first_number(text) for text in generation.answers]
    valid = [number for number in stated if number is not None]
    kept = [min(max(number, numbers[0]), numbers[-1]) for number in valid]
    return {
        "output": list(generation.texts),
        "invalid": len(stated) - len(valid),
        "clipped": sum(number != moved for number, moved in zip(valid, kept, strict=True)),
        "score": fmean(kept) if kept else None,
    }


def add_arguments(parser: ArgumentParser) -> None:
    """Arguments of `run scoring`."""
    parser.add_argument(
        "--items",
        required=True,
        metavar="FILE",
        help="a .csv, .tsv, .json, .jsonl, .yaml or .parquet table with one text to score per row (quotation marks are "
        "text where tabs part the cells), or `demo` for retellings in the world of the demo models",
    )
    table = parser.add_argument_group("the table")
    table.add_argument("--output-column", metavar="NAME", help="the texts to score, such as translations")
    table.add_argument("--source-column", metavar="NAME", help="the texts that they were made from")
    table.add_argument("--gold-column", metavar="NAME", help="human scores")
    table.add_argument("--gold-range", metavar="LOW-HIGH", help="scale of the human scores (default: 0-100)")
    table.add_argument("--group", metavar="GROUP", help="group of all these items, such as a language pair")
    table.add_argument("--group-column", metavar="NAME", help="groups of the items")
    table.add_argument("--source-language", metavar="LANGUAGE", help="as it is to be called in the prompt: English")
    table.add_argument("--target-language", metavar="LANGUAGE")
    asked = parser.add_argument_group("scores")
    asked.add_argument(
        "--range",
        nargs="+",
        action="extend",
        metavar="LOW-HIGH",
        help=f"scales to ask for, each a condition (default: {RANGE}; below zero as --range=-5-5)",
    )
    asked.add_argument(
        "--temperature",
        nargs="+",
        action="extend",
        type=float,
        metavar="T",
        help=f"each a condition (default: {TEMPERATURE:g})",
    )
    asked.add_argument(
        "--samples", type=int, default=SAMPLES, metavar="N", help=f"texts per prompt (default: {SAMPLES}; 0: none)"
    )
    asked.add_argument(
        "--exact", action="store_true", help="the exact probability of every number, too, at each temperature"
    )
    asked.add_argument(
        "--prompt", metavar="FILE", help="prompts of your own (YAML, like inference/protocols/scoring.yaml)"
    )


def prepare(options: Namespace) -> tuple[Study, Questions]:
    """The study and its questions, from the command line; all that can be checked before a model is loaded."""
    questions = _questions(options)
    if options.items == ratings.DEMO:
        given, name = ratings.demo(), options.name or f"{NAME}-demo"
    else:
        given = ratings.load(options.items, ratings.columns_of(options))
        name = options.name or items.default_name(options.items)
    study = Study(NAME, name, given, ratings.CANONICAL, DECISION_RULE, options.items, paraphrased=False)
    return study, questions


def _questions(options: Namespace) -> Questions:
    ranges = tuple(dict.fromkeys(map(read_range, options.range or [RANGE])))
    temperatures = tuple(dict.fromkeys(options.temperature or [TEMPERATURE]))
    if options.samples < 0 or not (options.samples or options.exact):
        raise InputError(f"--samples {options.samples}: give 1 or more, or 0 together with --exact")
    for temperature in temperatures:
        Sampling(1, temperature, MAX_TOKENS)  # refuses what is no temperature, before a model is loaded
    if options.exact:
        large = next((numbers for numbers in ranges if len(numbers) > LARGEST), None)
        if large is not None:
            raise InputError(f"--range {large[0]}-{large[-1]}: --exact takes scales of up to {LARGEST:,} numbers")
        if min(temperatures) <= 0:
            raise InputError(f"--temperature {min(temperatures):g}: with --exact, give temperatures above 0")
    return Questions(Book(options.prompt), ranges, temperatures, options.samples, options.exact)
