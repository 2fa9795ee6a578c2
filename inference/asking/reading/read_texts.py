"""Keep how every text of a response was read, by the rule that counts and by the other one, strict beside lenient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from inference.asking.reading.strict_answers import find_option_equal_to_text


def build_lenient_and_strict_answer_columns(
    texts: Sequence[str | None], wordings_by_label: Mapping[str, Sequence[str]], lenient_answers: Sequence[str | None]
) -> dict[str, Any]:
    """Make the columns that say which option every text was read as.

    Parameters
    ----------
    texts
        The texts, without thinking; None: the thinking never ended.
    wordings_by_label
        label -> the wordings that mean it.
    lenient_answers
        Per text the label that `text_answers` reads; None: none.

    Returns
    -------
    `sample_answer`, by that rule, and `sample_answer_otherwise`, by the strict one.
    """
    strict_answers = [None if text is None else find_option_equal_to_text(text, wordings_by_label) for text in texts]
    return {"sample_answer": list(lenient_answers), "sample_answer_otherwise": strict_answers}
