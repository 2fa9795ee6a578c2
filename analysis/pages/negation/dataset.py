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
from analysis.pages.negation.rows import Row, read
from analysis.runs.folder import ORIGINAL
from ground.errors import InputError, short

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


def groups(file: Path) -> list[list[Instance]]:
    """Read a file as groups of an original, which comes first, and the instances made from it.

    Raises
    ------
    InputError
        Naming the file, the row and the field that is wrong; for a file without rows, an item without an original or
        with two, the same two sentences twice in an item, and sentences that do not fit the pattern of their row.
    """
    found: dict[str, list[Instance]] = defaultdict(list)
    for row in read(file):
        instance = _instance(row)
        found[instance.item].append(instance)
    for item, group in found.items():
        group.sort(key=lambda instance: instance.pattern != ORIGINAL)
        originals = sum(instance.pattern == ORIGINAL for instance in group)
        if originals != 1:
            raise InputError(
                f"{group[-1].where}: item {short(item)!r} has {originals or 'no'} rows of the pattern {ORIGINAL}; it "
                "needs one"
            )
        _check(group)
    if not found:
        raise InputError(f"{file}: there are no pairs of sentences in it")
    return list(found.values())


def minimal_pairs(group: Sequence[Instance]) -> Iterator[Pair]:
    """Find the minimal pairs of a group: the two sides differ by one negation and by nothing else.

    (p', h) and (p', h') share the same p', and (p, h') and (p', h') the same h'. The formulas of Yoshida et al.,
    section 3.2, do not say so, but their Table 3 needs it.
    """
    for before in group:
        for after in group:
            position = _added(before, after)
            if position is not None:
                kind = UNIMPORTANT if before.label == after.label else IMPORTANT
                yield Pair(kind, position or None)


def statistics(known: Sequence[Sequence[Instance]]) -> dict[str, int | float | None]:
    """Count originals, negated instances and minimal pairs over groups, with both majority baselines in per cent.

    Groups of several files are different ones, whatever their items are called: training and validation sets both count
    from 0.

    Returns
    -------
    dict
        d_orig, d_neg; m_important, m_unimportant, and both by the position of the negation (m_important_end ...; None
        where any position is not known); majority_orig, majority_neg (None where there is nothing to count).
    """
    instances = [instance for group in known for instance in group]
    pairs = [pair for group in known for pair in minimal_pairs(group)]
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
    originals = [instance.label for instance in instances if instance.pattern == ORIGINAL]
    negated = [instance.label for instance in instances if instance.pattern != ORIGINAL]
    return counts | {"majority_orig": _majority(originals), "majority_neg": _majority(negated)}


def _check(group: Sequence[Instance]) -> None:
    """Refuse what would be counted as a minimal pair and is none: a row that is there twice, or of a wrong pattern."""
    original, seen = group[0], dict[tuple[str, str], Instance]()
    for instance in group:
        first = seen.setdefault((instance.premise, instance.hypothesis), instance)
        if first is not instance:
            raise InputError(f"{instance.where}: the same two sentences are in {first.where}; take one out")
        for name, patterns in (("premise", (PREMISE, BOTH)), ("hypothesis", (HYPOTHESIS, BOTH))):
            is_changed = _letters(getattr(instance, name)) != _letters(getattr(original, name))
            if is_changed != (instance.pattern in patterns):
                same = "is not that" if is_changed else "is that"
                raise InputError(
                    f"{instance.where}: pattern {instance.pattern}, but the {name} {same} of the original in "
                    f"{original.where}"
                )


def _letters(sentence: str) -> str:
    """Leave out punctuation: JNLI-Neg has a sentence with one full stop where the original has two."""
    return "".join(filter(str.isalnum, sentence))


def _majority(labels: Sequence[str]) -> float | None:
    return 100 * max(Counter(labels).values()) / len(labels) if labels else None


def _added(before: Instance, after: Instance) -> str | None:
    """Return where the one negation stands that only `after` has: "" where unknown; None: they are no minimal pair."""
    step = before.pattern, after.pattern
    if step == (ORIGINAL, PREMISE) or (step == (HYPOTHESIS, BOTH) and before.hypothesis == after.hypothesis):
        return after.premise_position or ""
    if step == (ORIGINAL, HYPOTHESIS) or (step == (PREMISE, BOTH) and before.premise == after.premise):
        return after.hypothesis_position or ""
    return None


def _instance(row: Row) -> Instance:
    where, given = row
    if isinstance(given.get("sentence1"), dict):
        sides = [given["sentence1"], given.get("sentence2")]
        if not isinstance(sides[1], dict):
            raise InputError(f"{where}: sentence2 is not an object with sentence and neg")
        positions = [_position(f"{where}, {name}", (side.get("neg") or {})) for name, side in
                     zip(("sentence1", "sentence2"), sides, strict=True)]  # fmt: skip
        return Instance(
            where, _name(where, given, "jnli_sentence_pair_id"), _one_of(where, given, "type", PATTERNS),
            _text(where, sides[0], "sentence"), _text(where, sides[1], "sentence"),
            _one_of(where, given, "gold_label", LABELS), *positions,
        )  # fmt: skip
    if "sentence1" in given:
        return Instance(
            where, _name(where, given, "sentence_pair_id"), ORIGINAL, _text(where, given, "sentence1"),
            _text(where, given, "sentence2"), _one_of(where, given, "label", LABELS),
        )  # fmt: skip
    pattern = _one_of(where, given, "pattern", PATTERNS) if given.get("pattern") else ORIGINAL
    return Instance(
        where, _name(where, given, "item") if "item" in given else where, pattern, _text(where, given, "premise"),
        _text(where, given, "hypothesis"), _one_of(where, given, "label", LABELS),
        _position(where, given, "premise_position"), _position(where, given, "hypothesis_position"),
    )  # fmt: skip


def _position(where: str, given: Any, name: str = "neg_position") -> str | None:
    if not isinstance(given, dict):
        raise InputError(f"{where}: neg is not an object with {name}")
    return _one_of(where, given, name, POSITIONS) if given.get(name) else None


def _one_of(where: str, given: Mapping[str, Any], name: str, known: Sequence[str]) -> str:
    value = _there(where, given, name)
    if not isinstance(value, str) or value not in known:
        raise InputError(f"{where}: {name} is {short(repr(value))}; it must be one of {', '.join(known)}")
    return value


def _text(where: str, given: Mapping[str, Any], name: str) -> str:
    value = _there(where, given, name)
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{where}: {name} is {short(repr(value))}, not a sentence")
    return value


def _name(where: str, given: Mapping[str, Any], name: str) -> str:
    value = _there(where, given, name)
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise InputError(f"{where}: {name} is {short(repr(value))}, not the number or name of a pair")
    return str(value).strip()


def _there(where: str, given: Mapping[str, Any], name: str) -> Any:
    if name not in given:
        raise InputError(f"{where}: there is no {name}; the fields are {short(', '.join(given), 200) or 'none'}")
    return given[name]
