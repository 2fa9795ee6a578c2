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

from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ground.errors import InputError, format_quantity
from ground.progress import print_progress
from inference.arguments import choose_given_or_recorded_seed
from inference.asking.answer_ways import AnswerWays, add_answer_arguments, parse_answer_ways
from inference.asking.rounds import Round
from inference.protocols.negation import arguments, exemplars
from inference.stimuli import nli
from inference.stimuli.entailment import OPTIONS, read_entailment_prompts
from inference.stimuli.items import name_study_after_source
from inference.stimuli.languages import ENGLISH, get_main_language, warn_of_texts_in_other_language
from inference.stimuli.nli import LABELS, PATTERNS, Instance
from inference.stimuli.reading.files import expand_user_path
from inference.stimuli.study import ORIGINAL, Item, Study, Variant
from inference.stimuli.templates.prompt_forms import SENTENCES
from inference.stimuli.templates.prompts import Prompt, PromptBook

NAME = "negation"
KINDS = ("causal", "masked", "classifier")
DEMO = "demo"
DECISION_RULE = (
    "the option that the likeliest next token begins, that the likeliest class is, or that the generated text names; "
    "null: no valid answer"
)


def build_negation_study(
    groups: Mapping[str, Sequence[Instance]], name: str, language: str | None = None, source: str = ""
) -> Study:
    """Make a study that asks about every original and every pair made from it.

    Parameters
    ----------
    groups
        Item -> its original and the pairs made from it (`nli.group_pairs_by_original`).
    name
        The name of the study.
    language
        The language of the sentences, recorded with every variant; None where it is not known.
    source
        Where the pairs came from, as the user gave it.

    Returns
    -------
    The study: an item per group, a variant per pair.
    """
    study_items = tuple(Item(item, tuple(_build_pair_variants(group, language))) for item, group in groups.items())
    return Study(NAME, name, study_items, LABELS, DECISION_RULE, source, paraphrased=False)


def _build_pair_variants(group: Sequence[Instance], language: str | None) -> list[Variant]:
    """Make a variant of every pair of an original, each with the names of its parents."""
    number = Counter[str]()
    names = []
    for instance in group:
        number[instance.pattern] += 1
        numbered_name = f"{instance.pattern}-{number[instance.pattern]}"
        names.append(ORIGINAL if instance.pattern == ORIGINAL else numbered_name)
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
            attributes=_build_sentence_and_negation_attributes(instance),
        )
        for instance, name, places in zip(group, names, nli.find_parent_indices_of_minimal_pairs(group), strict=True)
    ]


def _build_sentence_and_negation_attributes(instance: Instance) -> dict[str, str]:
    """Collect the sentences of a pair, and where its negations stand."""
    attributes: dict[str, str | None] = {"premise": instance.premise, "hypothesis": instance.hypothesis}
    for name, negation in (
        ("premise", instance.premise_negation),
        ("hypothesis", instance.hypothesis_negation),
    ):
        if negation is not None:
            attributes |= {f"{name}_position": negation.position, f"{name}_target": negation.target}
    return {name: value for name, value in attributes.items() if value is not None}


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
        Option probabilities, generated texts, probabilities after thoughts, or several of these.
    is_own_language
        Whether the sentences are in the language of the prompts.
    """

    book: PromptBook
    language: str
    shots: tuple[int, ...] = (0,)
    exemplars: tuple[Instance, ...] = ()
    answers: AnswerWays = field(default_factory=AnswerWays)
    is_own_language: bool = True

    def rounds(self, form: str) -> list[Round]:
        """Make the rounds of every number of exemplars.

        Raises
        ------
        InputError
            The prompts do not have this form.
        """
        foreign = "" if self.is_own_language else f"/{self.language}"
        return [
            round_
            for number in self.shots
            for round_ in self.answers.rounds(
                self.book.name_condition(form, f"{number}-shot{foreign}"),
                self._build_condition_fields(form, self.exemplars[:number]),
                partial(self._render_prompt, form, self.exemplars[:number]),
            )
        ]

    def _build_condition_fields(self, form: str, shown_exemplars: tuple[Instance, ...]) -> dict[str, Any]:
        """Make the fields of a condition, with the exemplars shown and their hash."""
        return {
            "form": form,
            "shots": len(shown_exemplars),
            "language": self.language,
            **self.book.build_prompt_name_and_hash_fields_of_form(form),
            "exemplars": [
                {
                    "pattern": exemplar.pattern,
                    "premise": exemplar.premise,
                    "hypothesis": exemplar.hypothesis,
                    "answer": exemplar.label,
                }
                for exemplar in shown_exemplars
            ],
            "exemplars_hash": exemplars.compute_negation_exemplars_hash(shown_exemplars) if shown_exemplars else None,
        }

    def _render_prompt(
        self, form: str, shown_exemplars: tuple[Instance, ...], variant: Variant, mask_token: str | None
    ) -> Prompt:
        """Render the prompt of a sentence pair, after the exemplars that it shows."""
        values: dict[str, Any] = {name: variant.attributes[name] for name in SENTENCES}
        values |= {"options": [option.label for option in variant.options], "mask": mask_token}
        return self.book.render(form, values, shots=list(map(exemplars.build_exemplar_shot, shown_exemplars)))


def add_arguments(parser: ArgumentParser) -> None:
    """Define the arguments of `run negation`."""
    arguments.add_negation_arguments(parser)
    add_answer_arguments(parser)


def prepare_study(options: Namespace) -> tuple[Study, Questions]:
    """Read the study and its questions from the command line; count the pairs on standard error.

    Raises
    ------
    InputError
        A file cannot be read, options do not go together, or all originals are exemplars.
    """
    instances = _read_sentence_pairs(options.items)
    spoken = nli.detect_language_of_sentences(instances)
    language = options.language or spoken
    book = read_entailment_prompts(language, options.prompt)
    if options.prompt is None or get_main_language(language) == spoken:
        language = get_main_language(language)  # en-US is asked as en is
    if get_main_language(language) not in (ENGLISH, "ja"):
        spoken = language  # no script tells it, and the prompts are the user's own
    if options.exemplars and not any(options.shots):
        raise InputError("--exemplars is for few-shot conditions: add --shots 3 or --shots 0,3")
    pool = nli.read_sentence_pairs_of_nli(expand_user_path(options.exemplars)) if options.exemplars else instances
    shown_exemplars = exemplars.draw_negation_exemplars(
        pool, max(options.shots), choose_given_or_recorded_seed(options)
    )
    asked_groups = exemplars.drop_groups_containing_exemplars(nli.group_pairs_by_original(instances), shown_exemplars)
    if not asked_groups:
        raise InputError(f"{options.items}: all of its originals are exemplars; give more, or --exemplars FILE")
    default = f"{NAME}-{DEMO}" if options.items == DEMO else name_study_after_source(options.items)
    name = default if options.name is None else options.name
    print_progress(_describe_pair_counts(options.items, instances, asked_groups, language))
    texts_by_item = {item: [instance.text for instance in group] for item, group in asked_groups.items()}
    warn_of_texts_in_other_language(
        options.items, texts_by_item, spoken if options.language or spoken != ENGLISH else None
    )
    questions = Questions(
        book, language, options.shots, shown_exemplars, parse_answer_ways(options), language == spoken
    )
    return build_negation_study(asked_groups, name, spoken, options.items), questions


def _read_sentence_pairs(source: str) -> list[Instance]:
    """Read the pairs of a file, or make those of the demo."""
    if source != DEMO:
        return nli.read_sentence_pairs_of_nli(expand_user_path(source))
    from inference.demo.entailments import make_entailment_pairs
    from inference.demo.world import World

    return make_entailment_pairs(World())


def _describe_pair_counts(
    source: str, instances: Sequence[Instance], asked_groups: Mapping[str, Sequence[Instance]], language: str
) -> str:
    """Say what is asked: pairs by pattern, how many make minimal pairs, and the language of the prompts."""
    asked_instances = [instance for group in asked_groups.values() for instance in group]
    counts = Counter(instance.pattern for instance in asked_instances)
    patterns = ", ".join(f"{counts[pattern]:,} {pattern}" for pattern in PATTERNS if counts[pattern])
    alone = sum(len(group) == 1 for group in asked_groups.values())
    pairs = sum(
        len(places) for group in asked_groups.values() for places in nli.find_parent_indices_of_minimal_pairs(group)
    )
    aside = (
        f"; {format_quantity(len(instances) - len(asked_instances), 'is', 'are')} of the originals of exemplars"
        if len(asked_instances) < len(instances)
        else ""
    )
    lonely = f"; {format_quantity(alone, 'original has', 'originals have')} no negation" if alone else ""
    minimal_pairs = format_quantity(pairs, "minimal pair")
    return f"{source}: {patterns}{lonely}{aside}; {minimal_pairs}; asked in {language} (--language)"
