"""Combine originals with the negations of their sentences: D_p, D_h and D_ph of Yoshida et al., section 3.1.2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ground.errors import InputError
from inference.stimuli import records
from inference.stimuli.files import shown
from inference.stimuli.nli import BOTH, HYPOTHESIS, POSITIONS, PREMISE, Instance, Negation

Negations = Mapping[str, Mapping[str, Negation]]
"""Sentence, without white space around it, -> its negated forms -> where the negation stands."""
FIELDS = ("source", "text", "position", "target_pos")
UNLABELLED = ""
"""Label of a pair that nobody has labelled yet."""


def negations(path: Path) -> Negations:
    """Read negations of sentences, as `waver negate` writes them.

    Raises
    ------
    InputError
        Naming the file, the row and the field that is wrong; and for a negation that is its own source.
    """
    found: dict[str, dict[str, Negation]] = {}
    for place, record in records.read(path):
        where = f"{path}, {place}"
        for name in FIELDS[:2]:
            if not isinstance(record.get(name), str) or not record[name].strip():
                raise InputError(f"{where}: {name} must be a sentence, not {shown(record.get(name))}")
        position, target = record.get("position"), record.get("target_pos")
        if position is not None and position not in POSITIONS:
            raise InputError(f"{where}: position must be {' or '.join(POSITIONS)}, not {shown(position)}")
        if record["text"].strip() == record["source"].strip():
            raise InputError(f"{where}: text is the same as source, so it holds no negation")
        found.setdefault(record["source"].strip(), {})[record["text"].strip()] = Negation(
            position, str(target) if target is not None else None
        )
    return found


def negated(groups: Mapping[str, Sequence[Instance]], known: Negations) -> tuple[list[Instance], dict[str, str]]:
    """Make all pairs with a negation in one sentence or in both.

    An original enters only if both of its sentences have negations. One that holds a negation already has none, because
    `waver negate` leaves it out.

    Returns
    -------
    tuple
        The pairs, without a label; and for every other original the reason why it was left out.
    """
    made: list[Instance] = []
    skipped: dict[str, str] = {}
    for item, (original, *others) in groups.items():
        premises, hypotheses = (known.get(side.strip(), {}) for side in (original.premise, original.hypothesis))
        if others:
            skipped[item] = "it has pairs with a negation already"
        elif premises and hypotheses:
            made += _combined(original, premises, hypotheses)
        else:
            lacking = [name for name, there in (("premise", premises), ("hypothesis", hypotheses)) if not there]
            skipped[item] = f"no negation of the {' and of the '.join(lacking)} (none can be made, or it holds one)"
    return made, skipped


def _combined(
    original: Instance, premises: Mapping[str, Negation], hypotheses: Mapping[str, Negation]
) -> list[Instance]:
    item, p, h = original.item, original.premise, original.hypothesis
    return [
        *(Instance(item, PREMISE, text, h, UNLABELLED, there, None) for text, there in premises.items()),
        *(Instance(item, HYPOTHESIS, p, text, UNLABELLED, None, there) for text, there in hypotheses.items()),
        *(
            Instance(item, BOTH, premise, hypothesis, UNLABELLED, one, other)
            for premise, one in premises.items()
            for hypothesis, other in hypotheses.items()
        ),
    ]
