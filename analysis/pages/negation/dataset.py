"""Read pairs of sentences with their labels, and count them and their minimal pairs: no model and no run is needed.

Three layouts are read, each told by its fields: JNLI-Neg (`jnli_sentence_pair_id`, `type`, `sentence1`, `sentence2`,
`gold_label`), JNLI (`sentence_pair_id`, `sentence1`, `sentence2`, `label`; all are originals), and a plain one
(`item`, `pattern`, `premise`, `hypothesis`, `label`; `premise_position`, `hypothesis_position`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.pages.negation.judgements import BOTH, HYPOTHESIS, IMPORTANT, PATTERNS, PREMISE, UNIMPORTANT
from analysis.pages.negation.rows import Row, read_dataset_rows_with_file_location
from analysis.runs.folder import ORIGINAL
from ground.errors import InputError, shorten_to_one_line

LABELS = ("entailment", "contradiction", "neutral")
POSITIONS = ("end", "mid")


@dataclass(frozen=True)
class Instance:
    """A premise and a hypothesis with their label; where their negations stand, None where there is none or unknown."""

    where: str
    item: str
    pattern: str
    premise: str
    hypothesis: str
    label: str
    premise_position: str | None = None
    hypothesis_position: str | None = None


@dataclass(frozen=True)
class Pair:
    """A minimal pair: whether its one negation changes the label, and where it stands (None: unknown)."""

    kind: str
    position: str | None


def read_instance_groups(file: Path) -> list[list[Instance]]:
    """Read a file as groups of an original, which comes first, and the instances made from it.

    Raises
    ------
    InputError
        Naming the file, the row and the field that is wrong; for a file without rows, an item without an original or
        with two, the same two sentences twice in an item, and sentences that do not fit the pattern of their row.
    """
    groups_by_item: dict[str, list[Instance]] = defaultdict(list)
    for row in read_dataset_rows_with_file_location(file):
        instance = _parse_sentence_pair(row)
        groups_by_item[instance.item].append(instance)
    for item, group in groups_by_item.items():
        group.sort(key=lambda instance: instance.pattern != ORIGINAL)
        originals = sum(instance.pattern == ORIGINAL for instance in group)
        if originals != 1:
            raise InputError(
                f"{group[-1].where}: item {shorten_to_one_line(item)!r} has {originals or 'no'} rows of the pattern "
                f"{ORIGINAL}; it "
                "needs one"
            )
        _refuse_duplicates_and_wrong_patterns(group)
    if not groups_by_item:
        raise InputError(f"{file}: there are no pairs of sentences in it")
    return list(groups_by_item.values())


def find_minimal_pairs_of_group(group: Sequence[Instance]) -> Iterator[Pair]:
    """Find the minimal pairs of a group: the two sides differ by one negation and by nothing else.

    (p', h) and (p', h') share the same p', and (p, h') and (p', h') the same h'. The formulas of Yoshida et al.,
    section 3.2, do not say so, but their Table 3 needs it.
    """
    for before in group:
        for after in group:
            position = _find_position_of_added_negation(before, after)
            if position is not None:
                kind = UNIMPORTANT if before.label == after.label else IMPORTANT
                yield Pair(kind, position or None)


def count_originals_and_minimal_pairs(instance_groups: Sequence[Sequence[Instance]]) -> dict[str, int | float | None]:
    """Count originals, negated instances and minimal pairs over groups, with both majority baselines in per cent.

    Groups of several files are different ones, whatever their items are called: training and validation sets both count
    from 0.

    Returns
    -------
    dict
        d_orig, d_neg; m_important, m_unimportant, and both by the position of the negation (m_important_end ...; None
        where any position is not known); majority_orig, majority_neg (None where there is nothing to count).
    """
    instances = [instance for group in instance_groups for instance in group]
    pairs = [pair for group in instance_groups for pair in find_minimal_pairs_of_group(group)]
    counts: dict[str, int | float | None] = {
        "d_orig": sum(instance.pattern == ORIGINAL for instance in instances),
        "d_neg": sum(instance.pattern != ORIGINAL for instance in instances),
    }
    for kind in (IMPORTANT, UNIMPORTANT):
        counts[f"m_{kind}"] = sum(pair.kind == kind for pair in pairs)
    for kind in (IMPORTANT, UNIMPORTANT):
        places = Counter(pair.position for pair in pairs if pair.kind == kind)
        for end in POSITIONS:
            counts[f"m_{kind}_{end}"] = None if places[None] else places[end]
    original_labels = [instance.label for instance in instances if instance.pattern == ORIGINAL]
    negated_labels = [instance.label for instance in instances if instance.pattern != ORIGINAL]
    return counts | {
        "majority_orig": _compute_majority_share(original_labels),
        "majority_neg": _compute_majority_share(negated_labels),
    }


def _refuse_duplicates_and_wrong_patterns(group: Sequence[Instance]) -> None:
    """Refuse what would be counted as a minimal pair and is none: a row that is there twice, or of a wrong pattern."""
    original, instances_by_text = group[0], dict[tuple[str, str], Instance]()
    for instance in group:
        first = instances_by_text.setdefault((instance.premise, instance.hypothesis), instance)
        if first is not instance:
            raise InputError(f"{instance.where}: the same two sentences are in {first.where}; take one out")
        for name, patterns in (("premise", (PREMISE, BOTH)), ("hypothesis", (HYPOTHESIS, BOTH))):
            is_changed = _strip_punctuation(getattr(instance, name)) != _strip_punctuation(getattr(original, name))
            if is_changed != (instance.pattern in patterns):
                relation = "is not that" if is_changed else "is that"
                raise InputError(
                    f"{instance.where}: pattern {instance.pattern}, but the {name} {relation} of the original in "
                    f"{original.where}"
                )


def _strip_punctuation(sentence: str) -> str:
    """Leave out punctuation: JNLI-Neg has a sentence with one full stop where the original has two."""
    return "".join(filter(str.isalnum, sentence))


def _compute_majority_share(labels: Sequence[str]) -> float | None:
    """Return the share of the most frequent label in per cent; None without labels."""
    return 100 * max(Counter(labels).values()) / len(labels) if labels else None


def _find_position_of_added_negation(before: Instance, after: Instance) -> str | None:
    """Return where the one negation stands that only `after` has: "" where unknown; None: they are no minimal pair."""
    step = before.pattern, after.pattern
    if step == (ORIGINAL, PREMISE) or (step == (HYPOTHESIS, BOTH) and before.hypothesis == after.hypothesis):
        return after.premise_position or ""
    if step == (ORIGINAL, HYPOTHESIS) or (step == (PREMISE, BOTH) and before.premise == after.premise):
        return after.hypothesis_position or ""
    return None


def _parse_sentence_pair(row: Row) -> Instance:
    """Parse a row of any of the three layouts."""
    where, fields = row
    if isinstance(fields.get("sentence1"), dict):
        sides = [fields["sentence1"], fields.get("sentence2")]
        if not isinstance(sides[1], dict):
            raise InputError(f"{where}: sentence2 is not an object with sentence and neg")
        positions = [_parse_negation_position(f"{where}, {name}", (side.get("neg") or {})) for name, side in
                     zip(("sentence1", "sentence2"), sides, strict=True)]  # fmt: skip
        return Instance(
            where, _read_pair_id_as_text(where, fields, "jnli_sentence_pair_id"),
            _parse_text_among_choices(where, fields, "type", PATTERNS),
            _require_sentence_text(where, sides[0], "sentence"), _require_sentence_text(where, sides[1], "sentence"),
            _parse_text_among_choices(where, fields, "gold_label", LABELS), *positions,
        )  # fmt: skip
    if "sentence1" in fields:
        return Instance(
            where, _read_pair_id_as_text(where, fields, "sentence_pair_id"), ORIGINAL,
            _require_sentence_text(where, fields, "sentence1"), _require_sentence_text(where, fields, "sentence2"),
            _parse_text_among_choices(where, fields, "label", LABELS),
        )  # fmt: skip
    pattern = _parse_text_among_choices(where, fields, "pattern", PATTERNS) if fields.get("pattern") else ORIGINAL
    return Instance(
        where, _read_pair_id_as_text(where, fields, "item") if "item" in fields else where, pattern,
        _require_sentence_text(where, fields, "premise"), _require_sentence_text(where, fields, "hypothesis"),
        _parse_text_among_choices(where, fields, "label", LABELS),
        _parse_negation_position(where, fields, "premise_position"),
        _parse_negation_position(where, fields, "hypothesis_position"),
    )  # fmt: skip


def _parse_negation_position(where: str, fields: Any, field: str = "neg_position") -> str | None:
    """Parse where a negation stands in its sentence, one of `POSITIONS`; None where the field is missing or empty."""
    if not isinstance(fields, dict):
        raise InputError(f"{where}: neg is not an object with {field}")
    return _parse_text_among_choices(where, fields, field, POSITIONS) if fields.get(field) else None


def _parse_text_among_choices(where: str, fields: Mapping[str, Any], field: str, choices: Sequence[str]) -> str:
    """Return the text of a field that must be one of some choices."""
    value = _require_field(where, fields, field)
    if not isinstance(value, str) or value not in choices:
        raise InputError(
            f"{where}: {field} is {shorten_to_one_line(repr(value))}; it must be one of {', '.join(choices)}"
        )
    return value


def _require_sentence_text(where: str, fields: Mapping[str, Any], field: str) -> str:
    """Return the text of a field that must be a sentence."""
    value = _require_field(where, fields, field)
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{where}: {field} is {shorten_to_one_line(repr(value))}, not a sentence")
    return value


def _read_pair_id_as_text(where: str, fields: Mapping[str, Any], field: str) -> str:
    """Return the number or name of a pair as text."""
    value = _require_field(where, fields, field)
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise InputError(f"{where}: {field} is {shorten_to_one_line(repr(value))}, not the number or name of a pair")
    return str(value).strip()


def _require_field(where: str, fields: Mapping[str, Any], field: str) -> Any:
    """Return a field of the row; refuse a row without it."""
    if field not in fields:
        raise InputError(
            f"{where}: there is no {field}; the fields are {shorten_to_one_line(', '.join(fields), 200) or 'none'}"
        )
    return fields[field]
