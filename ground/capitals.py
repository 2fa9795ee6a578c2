"""Make the first letter of a sentence, or of a word, a capital or small."""

from __future__ import annotations


def capitalise_sentence(sentence: str) -> str:
    """Make the first letter of a sentence a capital; leave the rest as it is."""
    return sentence[:1].upper() + sentence[1:]


def uncapitalise_sentence(sentence: str) -> str:
    """Make the first letter of a sentence small, as it is after "that"."""
    return sentence[:1].lower() + sentence[1:]
