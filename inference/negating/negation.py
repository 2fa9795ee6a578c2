"""What every language makes of a sentence: a sentence with one negation."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

END, MID = "end", "mid"


@dataclass(frozen=True, slots=True)
class InsertedNegation:
    """A sentence with one negation more than its source.

    Attributes
    ----------
    text
        The sentence.
    position
        "end": the negation stands right before the punctuation at the end; else "mid" (Yoshida et al., appendix C).
    target_pos
        Part of speech of the word that is negated.
    insertion
        The negation as it stands in the text.
    """

    text: str
    position: str
    target_pos: str
    insertion: str


def classify_negation_as_mid_or_end(text_after_negation: str) -> str:
    """Say where a negation stands, given what follows it: at the end, if that is punctuation only."""
    return MID if any(unicodedata.category(character)[0] not in "PSZ" for character in text_after_negation) else END
