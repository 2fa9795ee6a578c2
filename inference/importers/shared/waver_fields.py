"""Read the fields by which a sample of another tool says which item and wording of a Waver table it asks.

`waver choice lm-eval` and the tasks of `waver_inspect` write them, so that `waver import` needs no keys for such logs:
lm-eval logs them in `doc`, Inspect in the `metadata` of a sample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any

from ground.errors import InputError
from inference.stimuli.reading.files import require_storable_value, shorten_value

ITEM, PATTERN, ORDER, VARIANT = "waver_item", "waver_pattern", "waver_order", "waver_variant"


def read_item_and_wording_of_sample(where: str, fields: Any) -> tuple[str, str] | None:
    """Read the item and the wording of a sample.

    Parameters
    ----------
    where
        File and place, for messages.
    fields
        The fields that the tool logged for it.

    Returns
    -------
    Item and wording; None: a sample that Waver did not write.

    Raises
    ------
    InputError
        Only one of them is there, or one is no text.
    """
    if not isinstance(fields, Mapping) or (ITEM not in fields and PATTERN not in fields):
        return None
    names = []
    for field in (ITEM, PATTERN):
        name = fields.get(field)
        if not isinstance(name, str) or not name.strip():
            raise InputError(
                f"{where}: {field} must be a name, not {shorten_value(name)}; name items and wordings by --item-key "
                "and --variant-key"
            )
        names.append(str(require_storable_value(where, name.strip())))
    return names[0], names[1]


def append_order_number_to_wording(wording: str, fields: Any) -> str:
    """Add the number of the order of its choices to the name of a wording, where the fields have one.

    In studies of scores, nothing else tells orders apart.

    >>> (append_order_number_to_wording("original", {"waver_variant": "original/2"}),
    ...  append_order_number_to_wording("original", {}))
    ('original/2', 'original')
    """
    variant = fields.get(VARIANT) if isinstance(fields, Mapping) else None
    number = variant.rpartition("/")[2] if isinstance(variant, str) else ""
    return f"{wording}/{number}" if number.isdecimal() else wording


def restore_choice_order(where: str, fields: Any, shown_choices: Sequence[str]) -> tuple[str, ...]:
    """Put choices into the order of the table.

    Parameters
    ----------
    where
        File and place, for messages.
    fields
        The fields that the tool logged for the sample.
    shown_choices
        The choices in the order in which the model saw them.

    Returns
    -------
    The choices in the order of the table; none where the fields do not say it.

    Raises
    ------
    InputError
        The order is not one of these choices.
    """
    order = fields.get(ORDER) if isinstance(fields, Mapping) else None
    if order is None or not shown_choices:
        return ()
    letters = ascii_uppercase[: len(shown_choices)]
    if not isinstance(order, str) or "".join(sorted(order)) != letters:
        raise InputError(
            f"{where}: {ORDER} must have the letters {letters} in the order in which their choices were shown, not "
            f"{shorten_value(order)}"
        )
    return tuple(shown_choices[order.index(letter)] for letter in letters)
