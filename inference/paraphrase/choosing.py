"""Choose paraphrases from generated lines: each wording once, never the original, as many as are wanted."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from inference.paraphrase.parsing import CHATTER, CUT_OFF, EMPTY, REFUSAL, fold, lines
from inference.stimuli.study import Variant

ORIGINAL, DUPLICATE, MEANING, SURPLUS = "original", "duplicate", "meaning", "surplus"
REASONS = (EMPTY, CHATTER, REFUSAL, CUT_OFF, ORIGINAL, DUPLICATE, MEANING, SURPLUS)
"""Why a line is no paraphrase, in the order in which reasons are checked. Surplus: good, but not in the sample."""

Similarity = Callable[[str, Sequence[str]], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Wording:
    """One generated line: its call (from 1), and why it was dropped (None: it is kept)."""

    text: str
    call: int
    reason: str | None = None
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """The lines of one item's calls, each kept or dropped.

    Attributes
    ----------
    original
        The wording that was paraphrased.
    calls
        Calls that got an answer.
    wordings
        Every line of every answer, in order.
    """

    original: Variant
    calls: int
    wordings: tuple[Wording, ...]

    @property
    def kept(self) -> tuple[Wording, ...]:
        """The lines that become paraphrases."""
        return tuple(wording for wording in self.wordings if wording.reason is None)

    @property
    def refused(self) -> int:
        """The number of calls whose answer has a refusal and nothing that could be a paraphrase."""
        reasons: dict[int, set[str | None]] = {}
        for wording in self.wordings:
            reasons.setdefault(wording.call, set()).add(wording.reason)
        return sum(REFUSAL in found and found <= {REFUSAL, CHATTER, EMPTY} for found in reasons.values())

    @property
    def dropped(self) -> Mapping[str, int]:
        """The number of dropped lines for every reason, 0 included."""
        count = Counter(wording.reason for wording in self.wordings)
        return {reason: count[reason] for reason in REASONS}


def choose(
    original: Variant,
    answers: Mapping[int, str],
    *,
    keep: int,
    seed: int,
    similarity: Similarity | None = None,
    threshold: float | None = None,
) -> Choice:
    """Choose the paraphrases of one item (Haller et al., appendix F: drop empty ones, deduplicate, sample).

    Parameters
    ----------
    original
        What was paraphrased.
    answers
        Call (from 1) -> what was generated. Which of several equal wordings stays depends on this order.
    keep, seed
        How many paraphrases are sampled of those that are left; the draw depends on `seed` and the item's id only.
        They stay in the order in which they were generated.
    similarity
        Function of the original and the distinct wordings that tells how close each is in meaning (-1 to 1).
    threshold
        A wording of a lower similarity is dropped; None drops none.

    Returns
    -------
    Every generated line, kept or with the reason why it is dropped.
    """
    found = [Wording(line.text, call, line.reason) for call, text in answers.items() for line in lines(text)]
    found = _distinct(found, original.text)
    if similarity is not None:
        found = _alike(found, original.text, similarity, threshold)
    return Choice(original, len(answers), tuple(_sample(found, keep, f"{seed} {original.item}")))


def _distinct(found: Sequence[Wording], original: str) -> list[Wording]:
    seen = {fold(original): ORIGINAL}
    judged = []
    for wording in found:
        if wording.reason is None:
            folded = fold(wording.text)
            wording = replace(wording, reason=seen.get(folded))
            seen.setdefault(folded, DUPLICATE)
        judged.append(wording)
    return judged


def _alike(found: Sequence[Wording], original: str, similarity: Similarity, threshold: float | None) -> list[Wording]:
    measured = iter(similarity(original, [wording.text for wording in found if wording.reason is None]))
    judged = []
    for wording in found:
        if wording.reason is None:
            value = next(measured)
            reason = MEANING if threshold is not None and value < threshold else None
            wording = replace(wording, similarity=value, reason=reason)
        judged.append(wording)
    return judged


def _sample(found: Sequence[Wording], keep: int, seed: str) -> list[Wording]:
    places = [place for place, wording in enumerate(found) if wording.reason is None]
    chosen = set(random.Random(seed).sample(places, min(keep, len(places))))
    surplus = set(places) - chosen
    return [replace(wording, reason=SURPLUS) if place in surplus else wording for place, wording in enumerate(found)]
