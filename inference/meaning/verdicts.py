"""Judge the checks of a table by the rules of `ground.meaning`, and say what follows for every wording."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ground.errors import format_quantity
from ground.meaning.verdicts import (
    ANOTHER,
    MEANINGS,
    PEOPLE,
    CheckQuality,
    assess_quality_of_checks,
    decide_verdict_and_best_score_per_wording,
    mark_wordings_that_checks_should_pass,
)
from inference.meaning.table import MeaningTable
from inference.meaning.wordings import Wording
from inference.stimuli.study import Item, Variant

ATTRIBUTE = "meaning"


@dataclass(frozen=True, slots=True)
class Verdicts:
    """How good the checks are, and what every wording means beside its original; None: there is no verdict."""

    qualities: list[CheckQuality]
    meaning_by_key: dict[tuple[str, str], str | None]

    def build_record_of_thresholds(self) -> dict[str, Any]:
        """Make what the record of `meaning.parquet` says of thresholds, by check."""
        return {
            quality.check: {
                "used": quality.used,
                "why_not": quality.why_not or None,
                "best": quality.best,
                "passed_by": quality.passed_by,
                **{
                    name: number if math.isfinite(number := getattr(quality, name)) else None
                    for name in ("auc", "auc_lower", "auc_upper", "threshold", "lower_threshold")
                },
            }
            for quality in self.qualities
        }


def assess_checks_and_decide_verdicts(
    table: MeaningTable, wordings: Sequence[Wording], decoys: Sequence[Wording]
) -> Verdicts:
    """Judge the checks and decide on every wording.

    Parameters
    ----------
    table
        What checks and people say.
    wordings, decoys
        What they speak of.

    Returns
    -------
    The verdicts.
    """
    people = [name for name in table.checks_in_order_of_kind if name.startswith(f"{PEOPLE}:")]
    checks = [name for name in table.checks_in_order_of_kind if name not in people]
    votes = np.array([table.list_scores_of_wordings(name, wordings) for name in people]).reshape(
        len(people), len(wordings)
    )
    yes, no = (votes == 1).sum(axis=0), (votes == 0).sum(axis=0)
    passed, passed_by = mark_wordings_that_checks_should_pass(yes, no)
    scores = {name: table.list_scores_of_wordings(name, wordings) for name in checks}
    qualities = assess_quality_of_checks(
        scores,
        {name: table.list_scores_of_wordings(name, decoys) for name in checks},
        passed,
        passed_by,
        [wording.item for wording in wordings],
        [decoy.item for decoy in decoys],
    )
    meanings, _ = decide_verdict_and_best_score_per_wording(scores, qualities, yes, no)
    return Verdicts(qualities, {wording.key: word for wording, word in zip(wordings, meanings, strict=True)})


def describe_verdict_counts(verdicts: Verdicts) -> str:
    """Write a line that counts the verdicts, and says whose they are."""
    counts = Counter(verdicts.meaning_by_key.values())
    words = ", ".join(f"{counts[word]:,} {word}" for word in MEANINGS)
    best = next((quality.check for quality in verdicts.qualities if quality.best), None)
    by = f"by {best} where no people say" if best else "by people only, as no check is used"
    number = len(verdicts.meaning_by_key)
    total = format_quantity(number, "wording")
    if counts[None] == number:
        return f"{total}: no verdict, as no check is used and no people say what they mean"
    without = f", {counts[None]:,} without a verdict" if counts[None] else ""
    return f"{total}: {words}{without}; {by}"


def describe_quality_of_check(quality: CheckQuality) -> str:
    """Say of a check how it parts decoys from wordings that passed, and whether it is used."""
    numbers = (
        f"{format_quantity(quality.n_passed, 'wording')} ({quality.passed_by}) against "
        f"{format_quantity(quality.n_decoys, 'decoy')}"
    )
    interval = (
        ""
        if math.isnan(quality.auc_lower)
        else f" ({_format_share_without_leading_zero(quality.auc_lower)}"
        f"-{_format_share_without_leading_zero(quality.auc_upper)})"
    )
    auc = "no AUC" if math.isnan(quality.auc) else f"AUC {_format_share_without_leading_zero(quality.auc)}{interval}"
    if not quality.used:
        return f"{quality.check}: {auc}, {numbers}; not used: {quality.why_not}"
    best = ", the best" if quality.best else ""
    return (
        f"{quality.check}: {auc}, {numbers}; used{best}: the same from {quality.threshold:.3g} on, which "
        f"{quality.passed_share:.0%} of the wordings and {quality.decoy_share:.0%} of the decoys reach"
    )


def describe_file_and_omitted_wordings(n_left_out: int) -> str:
    """Say what file of items was written.

    Parameters
    ----------
    n_left_out
        Wordings that were left out of them, as they mean something else.

    Returns
    -------
    One line.
    """
    without = f" without {format_quantity(n_left_out, 'wording')} of another meaning," if n_left_out else ""
    return f"the items,{without} with the attribute meaning"


def _format_share_without_leading_zero(number: float) -> str:
    """Write a number from 0 to 1 with two decimals and no zero before the point.

    >>> [_format_share_without_leading_zero(number) for number in (0.954, 0.995, 1.0)]
    ['.95', '.99', '1.00']
    """
    return f"{number:.2f}".removeprefix("0")


def add_meaning_attributes_or_drop_another(
    items: Iterable[Item], verdicts: Verdicts, *, drop_another: bool
) -> tuple[Item, ...]:
    """Give wordings their verdict as the attribute `meaning`.

    Parameters
    ----------
    items
        The items.
    verdicts
        What their wordings mean.
    drop_another
        Whether wordings of another meaning are left out.

    Returns
    -------
    The items; a wording without a verdict has no such attribute.
    """
    kept_by_item = {
        item.item: [
            variant
            for variant in item.variants
            if not (drop_another and verdicts.meaning_by_key.get(variant.key) == ANOTHER)
        ]
        for item in items
    }
    return tuple(
        Item(name, tuple(_set_meaning_attribute(variant, verdicts) for variant in variants))
        for name, variants in kept_by_item.items()
        if variants
    )


def _set_meaning_attribute(variant: Variant, verdicts: Verdicts) -> Variant:
    """Set the attribute of a wording, or take it away where there is no verdict."""
    attributes = {name: value for name, value in variant.attributes.items() if name != ATTRIBUTE}
    meaning = verdicts.meaning_by_key.get(variant.key)
    return replace(variant, attributes=attributes if meaning is None else {**attributes, ATTRIBUTE: meaning})
