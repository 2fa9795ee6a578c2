"""Refuse records of a protocol that is not there, or whose pages cannot read what the records hold."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import inference
from ground.errors import InputError, format_nearest_name_hint
from ground.impossible_rows import read_scale_ends
from ground.outside_rooms import map_names_to_outside_rooms
from inference.importers.eee.fields import OWN_PREFIX
from inference.importers.shared.logged_stimuli import RIGHT, WRONG
from inference.importers.shared.scored import PROTOCOL as SCORED
from inference.importers.tables.command_accuracies import PROTOCOL as ACCURACIES
from inference.stimuli.reading.files import shorten_value
from inference.stimuli.study import ORIGINAL, PARAPHRASE

if TYPE_CHECKING:
    from inference.importers.eee.records import Aggregate
    from inference.stimuli.study import Variant

_NEGATED = {ORIGINAL, "p_neg", "h_neg", "p_neg_h_neg"}


def refuse_unsuitable_protocol(aggregates: Sequence[Aggregate], variants: Sequence[Variant]) -> None:
    """Refuse a protocol that is not there, or that needs something which the records do not have.

    Parameters
    ----------
    aggregates
        The records of one study.
    variants
        Its wordings.

    Raises
    ------
    InputError
        Names the file and the field. A protocol of another package need only be installed.
    """
    first = aggregates[0]
    protocol = first.study["protocol"]
    where = f"{first.path}: source_data.additional_details.{OWN_PREFIX}protocol"
    folder = str(Path(inference.__file__).with_name("protocols"))
    names = {module.name for module in pkgutil.iter_modules([folder]) if module.ispkg} | {SCORED, ACCURACIES}
    names |= map_names_to_outside_rooms("protocol", names).keys()
    if protocol not in names:
        raise InputError(
            f"{where} {shorten_value(protocol)} is no protocol here{format_nearest_name_hint(protocol, names)}; "
            f"there are: {', '.join(sorted(names))}"
        )
    needed = _describe_what_protocol_lacks(protocol, aggregates, variants)
    if needed:
        raise InputError(
            f"{where} is {shorten_value(protocol)}, which needs {needed}; name the protocol that was asked"
        )


def _describe_what_protocol_lacks(protocol: str, aggregates: Sequence[Aggregate], variants: Sequence[Variant]) -> str:
    """Say what a protocol needs that the records do not have; "" where they have all."""
    canonical = aggregates[0].study["canonical"]
    conditions = [fields for aggregate in aggregates for fields in aggregate.conditions.values()]
    has_range = all(read_scale_ends(fields) for fields in conditions)
    has_options = not any(read_scale_ends(fields) for fields in conditions)
    patterns = {variant.pattern for variant in variants}
    needs = {
        "agreement": (len(canonical) == 2 and has_options, "two options and no range of scores"),
        "wording": (len(canonical) == 2 and has_options and PARAPHRASE not in patterns,
                    "two options, no range of scores and no pattern 'paraphrase'"),
        "choice": (all(re.search("/0*[1-9][0-9]*$", variant.variant) for variant in variants),
                   "variants that end in the number of an order, as original/1"),
        "negation": (patterns <= _NEGATED and all(variant.gold for variant in variants),
                     f"the patterns {', '.join(sorted(_NEGATED))} and a gold for every wording"),
        "scale": (canonical == [str(rank) for rank in range(1, len(canonical) + 1)], "canonical options 1, 2, 3 ..."),
        "scoring": (has_range, "a range in every condition"),
        SCORED: (all(fields.get("measure") for fields in conditions), "a measure in every condition"),
        ACCURACIES: (canonical == [RIGHT, WRONG], f"the canonical options {RIGHT} and {WRONG}"),
    }  # fmt: skip
    is_suitable, needed = needs.get(protocol, (True, ""))
    return "" if is_suitable else needed
