"""Join the thoughts after one prompt, and find the marks around them in what a server shows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from inference.engines.contract import Score, Thoughts
from inference.engines.thinking_marks import THINKING, ThinkingMarks


class Draft(NamedTuple):
    """A thought, what stands behind it, its tokens, whether it ended by itself, and its score where it has one."""

    thought: str
    answer: str
    n_tokens: int
    closed: bool
    score: Score | None


def join_thoughts_of_prompt(drafts: Sequence[Draft]) -> Thoughts:
    """Join the thoughts after one prompt, at least one."""
    thoughts, answers, tokens, closed, scores = zip(*drafts, strict=True)
    return Thoughts(thoughts, answers, tokens, closed, scores)


def detect_thinking_mark_family_of_text(text: str) -> ThinkingMarks | None:
    """Find the family whose marks stand in a text; None where there are none."""
    return next((marks for marks in THINKING if marks.begin in text or marks.end in text), None)


def count_token_pieces_of_mark(mark: str) -> int:
    """Count the parts of a mark for each of which a model of its family has a token.

    >>> count_token_pieces_of_mark("</think>"), count_token_pieces_of_mark("<|channel|>final<|message|>")
    (1, 3)
    """
    return len(list(filter(None, re.split(r"(<\|.+?\|>)", mark))))
