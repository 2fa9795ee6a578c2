"""The rule table of Japanese negation (`rules-ja.yaml`): read it, and tell which rule fits a word of a sentence."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inference.negating.words import Word
from inference.stimuli.reading.files import read_yaml

TABLE = Path(__file__).parent / "rules-ja.yaml"
ANY_FORM, END = "~", "END"
WRITES = re.compile(r"(.*)\[(.+)\](.*)")
WordTest = Callable[[Word | None], bool]


@dataclass(frozen=True, slots=True)
class NegatableWordKind:
    """How a part of speech takes a negation: the kind that rules speak of, and the published name of the part."""

    kind: str
    target_pos: str


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of the table.

    Attributes
    ----------
    kinds, bases
        The rule is about words of these kinds, or with these dictionary forms.
    forms
        Beginnings of inflected forms; none: any.
    after, tail, before
        Tests of the word before it, of the words behind it that are written anew, and of the one behind these.
    writes
        Templates of what is written: what stands before the negation, the negation, and what stands behind it. None
        where the rule makes no negation.
    example
        A sentence and what the rule makes of it; None where it makes nothing.
    """

    kinds: frozenset[str]
    bases: frozenset[str]
    forms: tuple[str, ...]
    after: WordTest | None
    tail: tuple[WordTest, ...]
    before: WordTest | None
    writes: tuple[str, str, str] | None
    example: tuple[str, str] | None

    def does_rule_fit_place(self, kind: str, words: Sequence[Word], place: int) -> bool:
        """Tell whether the rule is about the word at a place, with the words around it.

        Parameters
        ----------
        kind
            The kind of the word (`NegatableWordKind.kind`).
        words
            The words of the sentence.
        place
            The index of the word.

        Returns
        -------
        Whether the word and all words that the rule tests are as it wants them.
        """
        word = words[place]
        if kind not in self.kinds and word.base not in self.bases:
            return False
        if self.forms and not word.form.startswith(self.forms):
            return False
        if self.after and not self.after(words[place - 1] if place else None):
            return False
        behind = place + 1 + len(self.tail)
        tail = words[place + 1 : behind]
        if behind > len(words) or not all(test(later) for test, later in zip(self.tail, tail, strict=True)):
            return False
        return self.before is None or self.before(words[behind] if behind < len(words) else None)


@dataclass(frozen=True, slots=True)
class RuleTable:
    """The whole table: parts of speech, inflections and rules, as `rules-ja.yaml` explains them."""

    targets: Mapping[str, NegatableWordKind]
    inflections: Mapping[str, Sequence[Sequence[str]]]
    irregular: Mapping[str, Sequence[str]]
    auxiliaries: Mapping[str, str]
    rules: tuple[Rule, ...]

    def classify_word_for_negation(self, word: Word) -> NegatableWordKind | None:
        """Return the kind of a word that can take a negation, and its part of speech; None for another word."""
        return next((target for part, target in self.targets.items() if word.pos.startswith(part)), None)

    def find_auxiliary_kind(self, word: Word) -> str | None:
        """Return the kind of an auxiliary that inflects and so takes the negation; None for another word."""
        if not word.pos.startswith("助動詞") or not self._find_inflection_endings_of_word(word):
            return None
        return self.auxiliaries.get(word.inflection, self.auxiliaries["others"])

    def find_first_rule_fitting_word(self, kind: str, words: Sequence[Word], place: int) -> Rule | None:
        """Find the first rule that fits the word at a place.

        Parameters
        ----------
        kind
            The kind of the word (`NegatableWordKind.kind`).
        words
            The words of the sentence.
        place
            The index of the word.

        Returns
        -------
        The rule; None where none fits, or the first that fits makes no negation.
        """
        fitting_rule = next((rule for rule in self.rules if rule.does_rule_fit_place(kind, words, place)), None)
        return fitting_rule if fitting_rule and fitting_rule.writes else None

    def inflect_word_for_templates(self, word: Word) -> dict[str, str] | None:
        """Map template names to a word as written and its stems before ない and ず; None for an unknown inflection."""
        for ending, before_nai, *before_zu in self._find_inflection_endings_of_word(word):
            if word.base.endswith(ending):
                stem = word.base.removesuffix(ending)
                literary = before_zu[0] if before_zu else before_nai
                return {"word": word.written, "before_nai": stem + before_nai, "before_zu": stem + literary}
        return {"word": word.written} if word.inflection == "*" else None

    def _find_inflection_endings_of_word(self, word: Word) -> Sequence[Sequence[str]]:
        """Return the endings by which a word inflects; none where the table does not know it."""
        if word.base in self.irregular:
            return [self.irregular[word.base]]
        return next((endings for kind, endings in self.inflections.items() if word.inflection.startswith(kind)), ())


@functools.cache
def read_rule_table() -> RuleTable:
    """Read the table."""
    content = read_yaml(TABLE)
    return RuleTable(
        targets={part: NegatableWordKind(**entry) for part, entry in content["targets"].items()},
        inflections=content["inflections"],
        irregular={word: entry["inflects"] for entry in content["irregular"] for word in entry["words"]},
        auxiliaries=content["auxiliaries"],
        rules=tuple(map(_build_negation_rule, content["rules"])),
    )


def _build_negation_rule(entry: Mapping[str, Any]) -> Rule:
    """Make a rule of an entry of the data file."""
    subjects = entry["of"].split("|")
    return Rule(
        kinds=frozenset(name for name in subjects if not name.startswith(ANY_FORM)),
        bases=frozenset(name[1:] for name in subjects if name.startswith(ANY_FORM)),
        forms=tuple(entry["form"].split("|")) if "form" in entry else (),
        after=_build_word_test_from_alternatives(entry["after"]) if "after" in entry else None,
        tail=tuple(map(_build_word_test_from_alternatives, entry.get("tail", "").split())),
        before=_build_word_test_from_alternatives(entry["before"]) if "before" in entry else None,
        writes=WRITES.fullmatch(entry["writes"]).groups() if "writes" in entry else None,  # type: ignore[union-attr,arg-type]
        example=tuple(entry["example"].split(" => ")) if "example" in entry else None,
    )


def _build_word_test_from_alternatives(alternatives: str) -> WordTest:
    """Make a test of one word from alternatives such as `て|で`, `た/連体形`, `~いる`, `<名詞>` and `END`."""
    form_by_spelling: dict[str, str] = {}
    bases, parts, at_end = set(), [], False
    for term in alternatives.split("|"):
        if term == END:
            at_end = True
        elif term.startswith(ANY_FORM):
            bases.add(term[1:])
        elif match := re.fullmatch("<(.+)>", term):
            parts.append(match[1])
        else:
            written, _, form = term.partition("/")
            form_by_spelling[written] = form
    starts = tuple(parts)

    def match_word_with_pattern(word: Word | None) -> bool:
        if word is None:
            return at_end
        form = form_by_spelling.get(word.written)
        return (form is not None and word.form.startswith(form)) or word.base in bases or word.pos.startswith(starts)

    return match_word_with_pattern
