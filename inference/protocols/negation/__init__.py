"""Ask whether a premise entails a hypothesis, with and without a negation in either (Yoshida et al.).

What a run folder of this protocol holds, in addition to what `results/schema.json` says of every run:

conditions
    Names like `plain/0-shot`; `plain/0-shot/en` where the prompt is not in the language of the sentences. Fields:
    `form`; `shots`; `language` of the prompt; `prompt`, `prompt_hash`; `exemplars`, `exemplars_hash`.
stimuli
    An item is an original pair with all pairs made from it by negation. Patterns: `original`; `p_neg`, `h_neg` and
    `p_neg_h_neg` say which sentence is negated. `parents` are the variants of the item that have one negation less and
    are the same otherwise: with each of them, a variant makes a minimal pair. `text` is premise and hypothesis, each on
    its line; `gold` is the label of the pair. Attributes: `premise`, `hypothesis`; where they are known,
    `premise_position` and `hypothesis_position` (end or mid), `premise_target` and `hypothesis_target` (the part of
    speech that is negated).
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from ground.errors import InputError
from inference.arguments import draw_seed
from inference.asking.answer_ways import AnswerWays, add_answer_arguments, answer_ways
from inference.asking.rounds import Round
from inference.protocols.negation import arguments, exemplars
from inference.stimuli import nli
from inference.stimuli.files import located
from inference.stimuli.items import default_name
from inference.stimuli.nli import LABELS, PATTERNS, Instance
from inference.stimuli.prompt_forms import FORMS, PAIR, SENTENCES, Fields
from inference.stimuli.prompts import Prompt, PromptBook
from inference.stimuli.study import ORIGINAL, Item, Option, Study, Variant

NAME = "negation"
KINDS = ("causal", "masked", "classifier")
DEMO = "demo"
OPTIONS = tuple(Option(label, label) for label in LABELS)
DECISION_RULE = (
    "the option that the likeliest next token begins, that the likeliest class is, or that the generated text names; "
    "null: no valid answer"
)
FIELDS = Fields(
    known=frozenset({*SENTENCES, "options", "shots"}),
    needed=frozenset(SENTENCES),
    trials=({"premise": "A premise.", "hypothesis": "Its hypothesis."},),
    forms=(*FORMS, PAIR),
    answers=True,
)


def prompt_book(language: str, path: str | Path | None = None) -> PromptBook:
    """Read a prompt file that asks for one of the three labels; without one, Waver's own in a language."""
    return PromptBook.load(path, Path(__file__).parent / f"prompts-{language}.yaml", FIELDS)


def study(groups: Mapping[str, Sequence[Instance]], name: str, language: str | None = None, source: str = "") -> Study:
    """Make a study that asks about every original and every pair made from it (`nli.groups`)."""
    asked = tuple(Item(item, tuple(_variants(group, language))) for item, group in groups.items())
    return Study(NAME, name, asked, LABELS, DECISION_RULE, source, paraphrased=False)


def _variants(group: Sequence[Instance], language: str | None) -> list[Variant]:
    number = Counter[str]()
    names = []
    for instance in group:
        number[instance.pattern] += 1
        own = f"{instance.pattern}-{number[instance.pattern]}"
        names.append(ORIGINAL if instance.pattern == ORIGINAL else own)
    return [
        Variant(
            item=instance.item,
            variant=name,
            pattern=instance.pattern,
            text=instance.text,
            options=OPTIONS,
            parents=tuple(names[place] for place in places),
            language=language,
            gold=instance.label,
            attributes=_attributes(instance),
        )
        for instance, name, places in zip(group, names, nli.parents(group), strict=True)
    ]


def _attributes(instance: Instance) -> dict[str, str]:
    found: dict[str, str | None] = {"premise": instance.premise, "hypothesis": instance.hypothesis}
    for name, negation in (
        ("premise", instance.premise_negation),
        ("hypothesis", instance.hypothesis_negation),
    ):
        if negation is not None:
            found |= {f"{name}_position": negation.position, f"{name}_target": negation.target}
    return {name: value for name, value in found.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Questions:
    """The questions of a study: every number of exemplars is a condition, and so is every way to answer.

    Parameters
    ----------
    book
        The prompts.
    language
        The language of the prompts.
    shots
        Numbers of exemplars shown, such as (0, 3).
    exemplars
        In the order in which they are shown.
    answers
        Option probabilities, generated texts, or both.
    own
        Whether the sentences are in the language of the prompts.
    """

    book: PromptBook
    language: str
    shots: tuple[int, ...] = (0,)
    exemplars: tuple[Instance, ...] = ()
    answers: AnswerWays = field(default_factory=AnswerWays)
    own: bool = True

    def rounds(self, form: str) -> list[Round]:
        """Make the rounds of every number of exemplars."""
        foreign = "" if self.own else f"/{self.language}"
        return [
            each
            for number in self.shots
            for each in self.answers.rounds(
                self.book.condition(form, f"{number}-shot{foreign}"),
                self._fields(form, self.exemplars[:number]),
                partial(self._render, form, self.exemplars[:number]),
            )
        ]

    def _fields(self, form: str, shown: tuple[Instance, ...]) -> dict[str, Any]:
        return {
            "form": form,
            "shots": len(shown),
            "language": self.language,
            "prompt": self.book.name,
            "prompt_hash": self.book.hash(form),
            "exemplars": [
                {"pattern": each.pattern, "premise": each.premise, "hypothesis": each.hypothesis, "answer": each.label}
                for each in shown
            ],
            "exemplars_hash": exemplars.digest(shown) if shown else None,
        }

    def _render(self, form: str, shown: tuple[Instance, ...], variant: Variant, mask_token: str | None) -> Prompt:
        values: dict[str, Any] = {name: variant.attributes[name] for name in SENTENCES}
        values |= {"options": [option.label for option in variant.options], "mask": mask_token}
        return self.book.render(form, values, shots=list(map(exemplars.shot, shown)))


def add_arguments(parser: ArgumentParser) -> None:
    """Define the arguments of `run negation`."""
    arguments.add(parser)
    add_answer_arguments(parser)


def prepare(options: Namespace) -> tuple[Study, Questions]:
    """Read the study and its questions from the command line; count the pairs on standard error."""
    given = _given(options.items)
    spoken = nli.language(given)
    language = options.language or spoken
    book = prompt_book(language, options.prompt)
    if options.exemplars and not any(options.shots):
        raise InputError("--exemplars is for few-shot conditions: add --shots 3 or --shots 0,3")
    pool = nli.read(located(options.exemplars)) if options.exemplars else given
    shown = exemplars.draw(pool, max(options.shots), draw_seed(options))
    asked = exemplars.without(nli.groups(given), shown)
    if not asked:
        raise InputError(f"{options.items}: all of its originals are exemplars; give more, or --exemplars FILE")
    default = f"{NAME}-{DEMO}" if options.items == DEMO else default_name(options.items)
    name = default if options.name is None else options.name
    print(_counted(options.items, given, asked, language), file=sys.stderr)
    questions = Questions(book, language, options.shots, shown, answer_ways(options), language == spoken)
    return study(asked, name, spoken, options.items), questions


def _given(items: str) -> list[Instance]:
    if items != DEMO:
        return nli.read(located(items))
    from inference.demo.entailments import entailments
    from inference.demo.world import World

    return entailments(World())


def _counted(items: str, given: Sequence[Instance], asked: Mapping[str, Sequence[Instance]], language: str) -> str:
    """Say what is asked: pairs by pattern, how many make minimal pairs, and the language of the prompts."""
    left = [instance for group in asked.values() for instance in group]
    counts = Counter(instance.pattern for instance in left)
    patterns = ", ".join(f"{counts[pattern]:,} {pattern}" for pattern in PATTERNS if counts[pattern])
    alone = sum(len(group) == 1 for group in asked.values())
    pairs = sum(len(places) for group in asked.values() for places in nli.parents(group))
    aside = f"; {len(given) - len(left):,} are of the originals of exemplars" if len(left) < len(given) else ""
    lonely = f"; {alone:,} originals have no negation" if alone else ""
    return f"{items}: {patterns}{lonely}{aside}; {pairs:,} minimal pairs; asked in {language} (--language)"
