"""`agreement` (Haller et al., 2024): does a model agree with a statement, however the statement is worded?"""

from __future__ import annotations

from dataclasses import replace

from inference.errors import InputError
from inference.study import Item, Option, Study

NAME = "agreement"
CANONICAL = ("agree", "disagree")
OPTIONS = tuple(Option(label, label) for label in CANONICAL)
DECISION_RULE = "agree where p(agree) / (p(agree) + p(disagree)) > 0.5, disagree where < 0.5; exactly 0.5 is a tie"


def study(items: tuple[Item, ...], name: str, source: str = "") -> Study:
    """A study that asks every variant of every item whether the model agrees.

    Raises
    ------
    InputError
        Where `gold` is neither `agree` nor `disagree`.
    """
    for item in items:
        for variant in item.variants:
            if variant.gold is not None and variant.gold not in CANONICAL:
                raise InputError(
                    f"{source or name}, item '{item.item}', variant '{variant.variant}': "
                    f"gold must be {' or '.join(CANONICAL)}, not '{variant.gold}'"
                )
    asked = tuple(Item(item.item, tuple(replace(v, options=OPTIONS) for v in item.variants)) for item in items)
    return Study(NAME, name, asked, CANONICAL, DECISION_RULE, source)
