"""Draw few-shot exemplars: pairs of different originals, with each label in turn; their originals are not asked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

from ground.errors import InputError
from inference.stimuli import nli
from inference.stimuli.nli import LABELS, Instance
from inference.stimuli.random_order import compute_sort_key_for_random_order
from inference.stimuli.templates.prompt_forms import Shot


def draw_negation_exemplars(pool: Sequence[Instance], n_exemplars: int, seed: int) -> tuple[Instance, ...]:
    """Draw exemplars; a smaller number of them gives the first ones of a larger number.

    Each is the next original in the seed's order that has a pair with the label it needs, negated or not; of several
    such pairs, the first in the seed's order.

    Parameters
    ----------
    pool
        The originals and pairs to draw from.
    n_exemplars
        How many exemplars.
    seed
        Of the draw.

    Returns
    -------
    The exemplars, each from another original; their labels take turns in the order of `LABELS`.

    Raises
    ------
    InputError
        There are too few originals with a label.
    """
    free = sorted(
        nli.group_pairs_by_original(pool).items(),
        key=lambda entry: compute_sort_key_for_random_order(seed, "exemplars", entry[0]),
    )
    drawn: list[Instance] = []
    for label in (LABELS[turn % len(LABELS)] for turn in range(n_exemplars)):
        entry = next((entry for entry in free if any(instance.label == label for instance in entry[1])), None)
        if entry is None:
            raise InputError(
                f"few-shot needs {n_exemplars} originals for its exemplars, and there is none left with the label "
                f"{label}; give more items, fewer --shots, or --exemplars FILE"
            )
        free.remove(entry)
        fitting = [instance for instance in entry[1] if instance.label == label]
        drawn.append(
            min(
                fitting,
                key=lambda instance: compute_sort_key_for_random_order(
                    seed, "exemplar", instance.premise, instance.hypothesis
                ),
            )
        )
    return tuple(drawn)


def drop_groups_containing_exemplars(
    groups: Mapping[str, Sequence[Instance]], exemplars: Sequence[Instance]
) -> dict[str, Sequence[Instance]]:
    """Leave out the originals that an exemplar was made from, also where it was read from another file.

    Parameters
    ----------
    groups
        Item -> its original and the pairs made from it.
    exemplars
        The pairs that prompts show.

    Returns
    -------
    The groups in which no pair has both sentences of an exemplar.
    """
    sentences = {(instance.premise, instance.hypothesis) for instance in exemplars}
    return {
        item: group
        for item, group in groups.items()
        if not any((instance.premise, instance.hypothesis) in sentences for instance in group)
    }


def build_exemplar_shot(exemplar: Instance) -> Shot:
    """Make the exemplar of a prompt."""
    parts = {"premise": exemplar.premise, "hypothesis": exemplar.hypothesis}
    return Shot(exemplar.text, exemplar.label, parts)


def compute_negation_exemplars_hash(exemplars: Sequence[Instance]) -> str:
    """Compute the sha256 of sentences and labels, by which a run folder recognises changed exemplars."""
    content = [[exemplar.premise, exemplar.hypothesis, exemplar.label] for exemplar in exemplars]
    return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()
