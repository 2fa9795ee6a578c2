"""Find the option that a generated text is, to the letter: the strict rule beside the lenient one of `text_answers`.

The whole text, without white space around it and with or without one full stop at its end, equals a wording of an
option; case and variants of characters (NFKC) are ignored. Everything else is no answer, also where a person would read
one: "**Agree**", "I agree", "Agree!".
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence

_FULL_STOPS = (".", "。")


def find_option_equal_to_text(text: str, wordings_by_label: Mapping[str, Sequence[str]]) -> str | None:
    """Find the label that a text equals.

    Parameters
    ----------
    text
        A model's free-text answer.
    wordings_by_label
        label -> the wordings that mean it.

    Returns
    -------
    The label; None if the text is no wording of any.

    Examples
    --------
    >>> labels = {"agree": ["agree"], "disagree": ["disagree"]}
    >>> find_option_equal_to_text(" Agree.\\n", labels), find_option_equal_to_text("I agree", labels)
    ('agree', None)
    """
    written = {_fold_case_spaces_and_unicode_forms(text), _fold_case_spaces_and_unicode_forms(_drop_full_stop(text))}
    return next(
        (
            label
            for label, wordings in wordings_by_label.items()
            if written & {_fold_case_spaces_and_unicode_forms(w) for w in wordings}
        ),
        None,
    )


def _drop_full_stop(text: str) -> str:
    """Return a text without white space around it and without one full stop at its end."""
    stripped = text.strip()
    return stripped[:-1] if stripped.endswith(_FULL_STOPS) else stripped


def _fold_case_spaces_and_unicode_forms(text: str) -> str:
    """Remove case, surrounding white space and variants of characters from a text."""
    return unicodedata.normalize("NFKC", text).casefold().strip()
