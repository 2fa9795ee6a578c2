"""Combine originals with the negations of their sentences: D_p, D_h and D_ph of Yoshida et al., section 3.1.2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ground.errors import InputError
from inference.stimuli.nli import BOTH, HYPOTHESIS, POSITIONS, PREMISE, Instance, Negation
from inference.stimuli.reading import records
from inference.stimuli.reading.files import shorten_value

NegationsBySentence = Mapping[str, Mapping[str, Negation]]
"""Sentence, without white space around it, -> its negated forms -> where the negation stands."""
FIELDS = ("source", "text", "position", "target_pos")
UNLABELLED = ""
"""Label of a pair that nobody has labelled yet."""


def read_negations_by_sentence(path: Path) -> NegationsBySentence:
    """Read negations of sentences, as `waver negate` writes them.

    Raises
    ------
    InputError
        Naming the file, the row and the field that is wrong; and for a negation that is its own source.
    """
    negations_by_sentence: dict[str, dict[str, Negation]] = {}
    for place, record in records.read_records(path):
        where = f"{path}, {place}"
        for name in FIELDS[:2]:
            if not isinstance(record.get(name), str) or not record[name].strip():
                raise InputError(f"{where}: {name} must be a sentence, not {shorten_value(record.get(name))}")
        position, target = record.get("position"), record.get("target_pos")
        if position is not None and position not in POSITIONS:
            raise InputError(f"{where}: position must be {' or '.join(POSITIONS)}, not {shorten_value(position)}")
        if record["text"].strip() == record["source"].strip():
            raise InputError(f"{where}: text is the same as source, so it holds no negation")
        negations_by_sentence.setdefault(record["source"].strip(), {})[record["text"].strip()] = Negation(
            position, str(target) if target is not None else None
        )
    return negations_by_sentence


def make_negated_pairs_and_skip_reasons(
    groups: Mapping[str, Sequence[Instance]], negations_by_sentence: NegationsBySentence
) -> tuple[list[Instance], dict[str, str]]:
    """Make all pairs with a negation in one sentence or in both.

    An original enters only if both of its sentences have negations. A sentence that holds a negation already has none,
    because `waver negate` leaves it out.

    Parameters
    ----------
    groups
        Item -> its original first, and the pairs made from it (`nli.group_pairs_by_original`).
    negations_by_sentence
        The negations of every sentence (`read_negations_by_sentence`).

    Returns
    -------
    The pairs, without a label; and for every other original, by item, the reason why it was left out.
    """
    pairs: list[Instance] = []
    skipped: dict[str, str] = {}
    for item, (original, *negated_pairs) in groups.items():
        premises, hypotheses = (
            negations_by_sentence.get(side.strip(), {}) for side in (original.premise, original.hypothesis)
        )
        if negated_pairs:
            skipped[item] = "it has pairs with a negation already"
        elif premises and hypotheses:
            pairs += _make_pairs_of_original(original, premises, hypotheses)
        else:
            lacking_sides = [
                name
                for name, side_negations in (("premise", premises), ("hypothesis", hypotheses))
                if not side_negations
            ]
            skipped[item] = (
                f"no negation of the {' and of the '.join(lacking_sides)} (none can be made, or it holds one)"
            )
    return pairs, skipped


def _make_pairs_of_original(
    original: Instance, premises: Mapping[str, Negation], hypotheses: Mapping[str, Negation]
) -> list[Instance]:
    """Make the pairs of one original: each negated premise, each negated hypothesis, and every two of these."""
    item, p, h = original.item, original.premise, original.hypothesis
    return [
        *(Instance(item, PREMISE, text, h, UNLABELLED, negation, None) for text, negation in premises.items()),
        *(Instance(item, HYPOTHESIS, p, text, UNLABELLED, None, negation) for text, negation in hypotheses.items()),
        *(
            Instance(item, BOTH, premise, hypothesis, UNLABELLED, premise_negation, hypothesis_negation)
            for premise, premise_negation in premises.items()
            for hypothesis, hypothesis_negation in hypotheses.items()
        ),
    ]
