"""Choose paraphrases from generated lines: each wording once, never the original, as many as are wanted."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from inference.paraphrase.parsing import (
    CHATTER,
    CUT_OFF,
    EMPTY,
    REFUSAL,
    normalise_wording,
    split_answer_into_judged_lines,
)
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
class ParaphraseChoice:
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
    def kept_wordings(self) -> tuple[Wording, ...]:
        """The lines that become paraphrases."""
        return tuple(wording for wording in self.wordings if wording.reason is None)

    @property
    def n_refused_calls(self) -> int:
        """The number of calls whose answer has a refusal and nothing that could be a paraphrase."""
        reasons: dict[int, set[str | None]] = {}
        for wording in self.wordings:
            reasons.setdefault(wording.call, set()).add(wording.reason)
        return sum(
            REFUSAL in call_reasons and call_reasons <= {REFUSAL, CHATTER, EMPTY} for call_reasons in reasons.values()
        )

    @property
    def n_dropped_by_reason(self) -> Mapping[str, int]:
        """The number of dropped lines for every reason, 0 included."""
        count = Counter(wording.reason for wording in self.wordings)
        return {reason: count[reason] for reason in REASONS}


def choose_paraphrases(
    original: Variant,
    answers: Mapping[int, str],
    *,
    n_kept: int,
    seed: int,
    measure_similarities: Similarity | None = None,
    threshold: float | None = None,
) -> ParaphraseChoice:
    """Choose the paraphrases of one item (Haller et al., appendix F: drop empty ones, deduplicate, sample).

    Parameters
    ----------
    original
        What was paraphrased.
    answers
        Call (from 1) -> what was generated. Which of several equal wordings stays depends on this order.
    n_kept, seed
        How many paraphrases are sampled of those that are left; the draw depends on `seed` and the item's id only.
        They stay in the order in which they were generated.
    measure_similarities
        Function of the original and the distinct wordings that tells how close each is in meaning (-1 to 1).
    threshold
        A wording of a lower similarity is dropped; None drops none.

    Returns
    -------
    Every generated line, kept or with the reason why it is dropped.
    """
    wordings = [
        Wording(line.text, call, line.reason)
        for call, text in answers.items()
        for line in split_answer_into_judged_lines(text)
    ]
    wordings = _copy_wordings_marking_duplicates(wordings, original.text)
    if measure_similarities is not None:
        wordings = _copy_wordings_marking_low_similarity(wordings, original.text, measure_similarities, threshold)
    return ParaphraseChoice(
        original, len(answers), tuple(_draw_kept_and_mark_surplus_wordings(wordings, n_kept, f"{seed} {original.item}"))
    )


def _copy_wordings_marking_duplicates(wordings: Sequence[Wording], original: str) -> list[Wording]:
    """Mark wordings that equal the original or an earlier wording."""
    reason_by_text = {normalise_wording(original): ORIGINAL}
    marked_wordings = []
    for wording in wordings:
        if wording.reason is None:
            folded = normalise_wording(wording.text)
            wording = replace(wording, reason=reason_by_text.get(folded))
            reason_by_text.setdefault(folded, DUPLICATE)
        marked_wordings.append(wording)
    return marked_wordings


def _copy_wordings_marking_low_similarity(
    wordings: Sequence[Wording], original: str, measure_similarities: Similarity, threshold: float | None
) -> list[Wording]:
    """Note how similar each wording is to the original; mark those below the threshold."""
    similarities = iter(
        measure_similarities(original, [wording.text for wording in wordings if wording.reason is None])
    )
    marked_wordings = []
    for wording in wordings:
        if wording.reason is None:
            value = next(similarities)
            reason = MEANING if threshold is not None and value < threshold else None
            wording = replace(wording, similarity=value, reason=reason)
        marked_wordings.append(wording)
    return marked_wordings


def _draw_kept_and_mark_surplus_wordings(wordings: Sequence[Wording], n_kept: int, seed_text: str) -> list[Wording]:
    """Draw the wordings to keep, and mark the others as surplus."""
    places = [place for place, wording in enumerate(wordings) if wording.reason is None]
    sampled_places = set(random.Random(seed_text).sample(places, min(n_kept, len(places))))
    surplus = set(places) - sampled_places
    return [replace(wording, reason=SURPLUS) if place in surplus else wording for place, wording in enumerate(wordings)]
