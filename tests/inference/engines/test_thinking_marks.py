"""The rule for the end of thinking, on characters as tokens: every family, and marks in every order."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from inference.engines.thinking_marks import (
    THINKING,
    ThinkingMarks,
    run_answer_search_with_decoder,
    search_thinking_length,
)

# What stands around "|" is the thought with its line breaks, and the answer; without one it does not end.
WRITTEN = (
    "hm</think>\n\n|yes",
    "Answer: A, or not</think>\n|B",
    "</think>\n\n|yes",
    "one <think>in another</think> one</think>\n|no",
    "first</think>\n<think>second</think>\n\n|no",
    "the mark <think> opens</think>|yes",
    "hm</think>| yes </think> no",
    "hm, hm",
    "first</think>\n<think>second",
)


@pytest.mark.parametrize("by_id", [False, True])
@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("marks", THINKING, ids=lambda marks: marks.end)
def test_where_the_answer_begins(marks: ThinkingMarks, written: str, by_id: bool) -> None:
    thought, bar, answer = written.replace("</think>", "\1").replace("<think>", "\0").partition("|")
    if marks.opener and bar:
        thought = thought.rstrip("\n") + marks.opener

    def decode(ids: Sequence[int]) -> str:
        return "".join(map(chr, ids)).replace("\0", marks.begin).replace("\1", marks.end)

    search = search_thinking_length(
        f"so\n{marks.begin}\n", list(map(ord, thought + answer)), marks, 1 if by_id else None
    )
    assert run_answer_search_with_decoder(search, decode) == (len(thought) if bar else None)
