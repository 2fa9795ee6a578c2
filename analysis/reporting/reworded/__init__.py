"""Read the answers of every study as arrays (units, items, wordings), and whether items share their wordings.

Wordings are those whose answers are compared with each other:

- of the protocol `agreement` the paraphrases without the original, of `wording` all (`agreements`);
- of `choice` all wordings of a question, or where there is one, the orders of its options (`choices`);
- of `scoring` the prompts that ask for a score in the same setting (`scores`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from analysis.reporting.reworded import agreements, choices, scores
from analysis.reporting.reworded.study import (
    ACCURACY,
    AGREEMENT,
    CROSSED,
    LOGIT,
    NESTED,
    SCORE,
    Study,
    across_models,
)

if TYPE_CHECKING:
    from analysis.runs import Runs

__all__ = ["ACCURACY", "AGREEMENT", "CROSSED", "LOGIT", "NESTED", "PROTOCOLS", "SCORE", "Study", "across_models",
           "studies"]  # fmt: skip

_READERS: Mapping[str, Callable[[Runs, list[str]], Iterator[Study]]] = {
    "agreement": agreements.read,
    "wording": agreements.read,
    "choice": choices.read,
    "scoring": scores.read,
}
PROTOCOLS = frozenset(_READERS)


def studies(runs: Runs) -> list[Study]:
    """Read all studies, once per `Runs`: each by agreement and by its logit, by accuracy, or by score.

    Wordings that name their template in the attribute `template`, and those that are templates or orders of the same
    words by their texts, are shared; one that an item has twice counts by its mean.
    """
    return runs.kept("reliability studies", lambda: list(_studies(runs)))


def _studies(runs: Runs) -> Iterator[Study]:
    protocols = {name: str(fields["protocol"]) for name, fields in runs.info["studies"].items()}
    for reader in dict.fromkeys(_READERS.values()):
        names = [name for name, protocol in protocols.items() if _READERS.get(protocol) is reader]
        if names:
            yield from reader(runs, names)
