"""Read premises and hypotheses with their labels, and find the pairs of them that differ by one negation.

Three layouts are read, each recognised by its fields; a file has one object per line, or is a table.

- JNLI-Neg: `jnli_sentence_pair_id`, `type`, `sentence1` and `sentence2` (each with `sentence` and `neg`), `gold_label`.
- JNLI: `sentence_pair_id`, `sentence1`, `sentence2`, `label`; every row is an original.
- plain: `premise`, `hypothesis`, `label`; `item` says which rows belong to one original, `pattern` which sentence is
  negated. `premise_position` (end or mid), `premise_target` (a part of speech) and the same for the hypothesis say
  where the negation is. Without `item`, every row is an original.

Yoshida et al., section 3.2: an original (p, h) and the negated p' and h' make (p', h), (p, h') and (p', h').
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ground.errors import InputError
from inference.stimuli.reading import records
from inference.stimuli.reading.files import shorten_value
from inference.stimuli.study import ORIGINAL

LABELS = ("entailment", "contradiction", "neutral")
PREMISE, HYPOTHESIS, BOTH = "p_neg", "h_neg", "p_neg_h_neg"
PATTERNS = (ORIGINAL, PREMISE, HYPOTHESIS, BOTH)
POSITIONS = ("end", "mid")
_JAPANESE = re.compile("[\u3041-\u30ff\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Negation:
    """Where a negation stands: at the end of its sentence or in the middle, and after which part of speech."""

    position: str | None = None
    target: str | None = None


@dataclass(frozen=True, slots=True)
class Instance:
    """A premise, a hypothesis and the label of the pair.

    Attributes
    ----------
    item
        The original that it was made from.
    pattern
        One of `PATTERNS`: which of the two sentences is negated.
    premise_negation, hypothesis_negation
        Where the negation is; None in a sentence without one.
    where
        File and row, for messages.
    """

    item: str
    pattern: str
    premise: str
    hypothesis: str
    label: str
    premise_negation: Negation | None = None
    hypothesis_negation: Negation | None = None
    where: str = field(default="", compare=False)

    @property
    def text(self) -> str:
        """Both sentences, each on its line."""
        return f"{self.premise}\n{self.hypothesis}"


def read_sentence_pairs_of_nli(path: Path) -> list[Instance]:
    """Read a file of one of the three layouts.

    Raises
    ------
    InputError
        Naming the file, the row and the field: a sentence that is empty, a label that is none of `LABELS`, an unknown
        pattern; and for rows that do not fit together (`group_pairs_by_original`).
    """
    instances = [
        _parse_nli_pair(f"{path}, {place}", place.split()[-1], record) for place, record in records.Records(path)
    ]
    group_pairs_by_original(instances)
    return instances


def group_pairs_by_original(instances: Iterable[Instance]) -> dict[str, list[Instance]]:
    """Group instances by their original, which comes first.

    Raises
    ------
    InputError
        For an item without an original or with two, a row that is there twice, and a row whose sentences do not fit its
        pattern: in `p_neg`, the hypothesis is that of the original and the premise is not.
    """
    grouped: dict[str, list[Instance]] = defaultdict(list)
    for instance in instances:
        grouped[instance.item].append(instance)
    for item, group in grouped.items():
        group.sort(key=lambda instance: instance.pattern != ORIGINAL)
        _refuse_malformed_group_of_pairs(item, group)
    return dict(grouped)


def find_parent_indices_of_minimal_pairs(group: Sequence[Instance]) -> list[list[int]]:
    """Find for every instance of a group those that become it by one more negation: the minimal pairs.

    (p', h) and (p, h') come from the original; (p', h') comes from the (p', h) with the same p' and from the (p, h')
    with the same h'. The formulas of Yoshida et al., section 3.2, do not say "the same"; their Table 3 needs it.

    Returns
    -------
    list of list of int
        Per instance, in order, the places of its parents in the group.
    """
    return [
        [place for place, other in enumerate(group) if _does_second_pair_add_one_negation(other, instance)]
        for instance in group
    ]


def detect_language_of_sentences(instances: Iterable[Instance]) -> str:
    """Tell the language of the sentences by their script: "ja" where any has kana or Chinese characters, else "en"."""
    return "ja" if any(has_japanese_letters(instance.text) for instance in instances) else "en"


def has_japanese_letters(text: str) -> bool:
    """Tell whether a text has kana or Chinese characters."""
    return _JAPANESE.search(text) is not None


def _does_second_pair_add_one_negation(before: Instance, after: Instance) -> bool:
    """Tell whether the second pair is the first with one more sentence negated."""
    if before.pattern == ORIGINAL:
        return after.pattern in (PREMISE, HYPOTHESIS)
    if after.pattern != BOTH:
        return False
    if before.pattern == PREMISE:
        return before.premise == after.premise
    return before.pattern == HYPOTHESIS and before.hypothesis == after.hypothesis


def _refuse_malformed_group_of_pairs(item: str, group: Sequence[Instance]) -> None:
    """Refuse a group without exactly one original, with a pair twice, or with a sentence that its pattern forbids."""
    original, *negated = group
    if original.pattern != ORIGINAL:
        raise InputError(f"{original.where}: item '{item}' has no row of the pattern {ORIGINAL}; add it")
    instance_by_sentences: dict[tuple[str, str], Instance] = {}
    for instance in group:
        first = instance_by_sentences.setdefault((instance.premise, instance.hypothesis), instance)
        if first is not instance:
            raise InputError(f"{instance.where}: the same two sentences are in {first.where}; take one out")
    for instance in negated:
        if instance.pattern == ORIGINAL:
            raise InputError(f"{instance.where}: item '{item}' has its original in {original.where}; it needs one")
        changed = (
            _drop_punctuation(instance.premise) != _drop_punctuation(original.premise),
            _drop_punctuation(instance.hypothesis) != _drop_punctuation(original.hypothesis),
        )
        negated_sides = instance.pattern in (PREMISE, BOTH), instance.pattern in (HYPOTHESIS, BOTH)
        for name, is_changed, is_wanted in zip(("premise", "hypothesis"), changed, negated_sides, strict=True):
            if is_changed != is_wanted:
                same = "is that" if is_wanted else "is not that"
                raise InputError(
                    f"{instance.where}: pattern {instance.pattern}, but the {name} {same} of item '{item}' in "
                    f"{original.where}"
                )


def _drop_punctuation(sentence: str) -> str:
    """Leave out punctuation and white space: JNLI-Neg has a sentence with one full stop where the original has two."""
    return "".join(filter(str.isalnum, sentence))


def _parse_nli_pair(where: str, number: str, record: Mapping[str, Any]) -> Instance:
    """Parse a pair of any layout: JNLI-Neg, JNLI, or plain columns."""
    if isinstance(record.get("sentence1"), dict):
        return _parse_jnli_neg_pair(where, record)
    if "sentence1" in record:
        return Instance(
            _parse_pair_name(where, record, "sentence_pair_id"), ORIGINAL,
            _require_sentence(where, record, "sentence1"), _require_sentence(where, record, "sentence2"),
            _parse_entailment_label(where, record, "label"), where=where,
        )  # fmt: skip
    pattern = _require_known_negation_pattern(where, "pattern", record.get("pattern") or ORIGINAL)
    return Instance(
        _parse_pair_name(where, record, "item") if "item" in record else number, pattern,
        _require_sentence(where, record, "premise"), _require_sentence(where, record, "hypothesis"),
        _parse_entailment_label(where, record, "label"),
        _parse_negation_place(where, pattern in (PREMISE, BOTH), record, "premise_position", "premise_target"),
        _parse_negation_place(where, pattern in (HYPOTHESIS, BOTH), record, "hypothesis_position", "hypothesis_target"),
        where,
    )  # fmt: skip


def _parse_jnli_neg_pair(where: str, record: Mapping[str, Any]) -> Instance:
    """Parse a pair as JNLI-Neg has it."""
    pattern = _require_known_negation_pattern(where, "type", record.get("type"))
    sides = []
    for name, patterns in (("sentence1", (PREMISE, BOTH)), ("sentence2", (HYPOTHESIS, BOTH))):
        side, inside = record.get(name), f"{where}, {name}"
        if not isinstance(side, dict):
            raise InputError(f"{inside}: expected sentence and neg, not {shorten_value(side)}")
        neg = side.get("neg") or {}
        if not isinstance(neg, dict):
            raise InputError(f"{inside}, neg: expected neg_position and target_pos, not {shorten_value(neg)}")
        negation = _parse_negation_place(inside, pattern in patterns, neg, "neg_position", "target_pos")
        sides.append((_require_sentence(inside, side, "sentence"), negation))
    (premise, premise_negation), (hypothesis, hypothesis_negation) = sides
    return Instance(
        _parse_pair_name(where, record, "jnli_sentence_pair_id"), pattern, premise, hypothesis,
        _parse_entailment_label(where, record, "gold_label"), premise_negation, hypothesis_negation, where,
    )  # fmt: skip


def _parse_negation_place(
    where: str, is_negated: bool, record: Mapping[str, Any], position_field: str, target_field: str
) -> Negation | None:
    """Parse where a negation stands; None in a sentence without one."""
    if not is_negated:
        return None
    place, part = record.get(position_field) or None, record.get(target_field) or None
    if place is not None and place not in POSITIONS:
        raise InputError(f"{where}: {position_field} must be {' or '.join(POSITIONS)}, not {shorten_value(place)}")
    if part is not None and not isinstance(part, str):
        raise InputError(f"{where}: {target_field} must be text, not {shorten_value(part)}")
    return Negation(place, part)


def _require_known_negation_pattern(where: str, name: str, value: Any) -> str:
    if not isinstance(value, str) or value not in PATTERNS:
        raise InputError(f"{where}: {name} must be one of {', '.join(PATTERNS)}, not {shorten_value(value)}")
    return value


def _parse_entailment_label(where: str, record: Mapping[str, Any], name: str) -> str:
    value = record.get(name)
    if not isinstance(value, str) or value not in LABELS:
        raise InputError(
            f"{where}: {name} must be {', '.join(LABELS[:-1])} or {LABELS[-1]}, not {shorten_value(value)}"
        )
    return value


def _require_sentence(where: str, record: Mapping[str, Any], name: str) -> str:
    value = record.get(name)
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{where}: {name} must be a sentence, not {shorten_value(value)}")
    return value


def _parse_pair_name(where: str, record: Mapping[str, Any], name: str) -> str:
    """Return the number or name of a pair as text; refuse an empty one."""
    value = record.get(name)
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise InputError(f"{where}: {name} must be the number or name of a pair, not {shorten_value(value)}")
    return str(value).strip()
