"""Find where a model's thinking ends in what it wrote: the one rule of all engines, which needs no tokenizer itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from typing import NamedTuple

# Asks for the text of some of the tokens again and again, and returns what it looked for.
Search = Generator[Sequence[int], str, int | None]


class ThinkingMarks(NamedTuple):
    """What stands around the thinking of a family of models.

    Attributes
    ----------
    begin, end
        The marks before and after a thought.
    opener
        What follows the end before the answer begins; empty where nothing does.
    closing
        What closes a thought by force, up to where the answer begins.
    """

    begin: str
    end: str
    opener: str = ""
    closing: str = ""

    def does_prompt_open_thought(self, prompt_text: str) -> bool:
        """Tell whether a rendered prompt ends with the opening mark."""
        return prompt_text.rstrip().endswith(self.begin)

    def does_prompt_close_thought(self, prompt_text: str) -> bool:
        """Tell whether a rendered prompt closes the thinking before the model writes anything."""
        text = prompt_text.rstrip()
        return text.endswith(self.end) or bool(self.opener and text.endswith(self.opener))


# The chat template or the vocabulary of a model shows which of these it writes.
THINKING = (
    ThinkingMarks("<think>", "</think>", closing="\n</think>\n\n"),  # Qwen, DeepSeek and most others
    ThinkingMarks(
        "<|channel|>analysis<|message|>",
        "<|channel|>final<|message|>",
        closing="<|end|><|start|>assistant<|channel|>final<|message|>",
    ),  # gpt-oss
    ThinkingMarks("[THINK]", "[/THINK]", closing="[/THINK]"),  # Magistral
    ThinkingMarks(
        "<|START_THINKING|>",
        "<|END_THINKING|>",
        opener="<|START_RESPONSE|>",
        closing="<|END_THINKING|><|START_RESPONSE|>",
    ),  # Command A
    ThinkingMarks("<seed:think>", "</seed:think>", closing="</seed:think>"),
    ThinkingMarks("<thinking>", "</thinking>", closing="\n</thinking>\n\n"),
)


def search_thinking_length(
    prompt_text: str, ids: Sequence[int], marks: ThinkingMarks, end_id: int | None = None
) -> Search:
    """Count how many of the tokens that a model wrote after a rendered prompt are thinking.

    Parameters
    ----------
    prompt_text
        The rendered prompt; it may open the thinking itself.
    ids
        The tokens that the model wrote.
    marks
        Those of its family.
    end_id
        The token that writes the closing mark, where one does: fewer texts are asked for then. None: not known.

    Yields
    ------
    Tokens whose text, special tokens included, is to be sent.

    Returns
    -------
    The number of tokens up to the end of thinking, with the line breaks after it; 0 where there is no thinking; None
    where it does not end.
    """
    written = yield ids
    closings = count_closing_marks_until_thought_ends(
        written, marks, is_open=marks.does_prompt_open_thought(prompt_text)
    )
    if not closings:
        return closings
    length = yield from _search_shortest_prefix_with_closings(ids, marks, closings, written, end_id)
    for more in range(length + 1, len(ids) + 1):
        behind = yield ids[length:more]
        if marks.opener and behind.strip() == marks.opener:
            return more
        if not (behind.isspace() or (marks.opener and marks.opener.startswith(behind.strip()))):
            break
        if behind.isspace() and behind.endswith("\n"):
            length = more
    return length


def _search_shortest_prefix_with_closings(
    ids: Sequence[int], marks: ThinkingMarks, closings: int, written: str, end_id: int | None
) -> Generator[Sequence[int], str, int]:
    """Find the shortest beginning of the tokens that has so many closing marks.

    Example: if 6 tokens write "<think> a b </think> \\n yes", a word each, the mark is in the first 4 tokens, not in
    the first 3: length 4. The line break then makes it 5 (`search_thinking_length`).
    """
    if end_id is not None and ids.count(end_id) == written.count(marks.end):
        return [place for place, token in enumerate(ids) if token == end_id][closings - 1] + 1
    shortest, longest = 0, len(ids)
    while shortest < longest:
        middle = (shortest + longest) // 2
        if (yield ids[:middle]).count(marks.end) >= closings:
            longest = middle
        else:
            shortest = middle + 1
    return shortest


def run_answer_search_with_decoder(search: Search, decode: Callable[[Sequence[int]], str]) -> int | None:
    """Give a search the texts that it asks for until it knows its answer.

    Parameters
    ----------
    search
        As `search_thinking_length` starts it.
    decode
        Writes tokens as text, special tokens included.

    Returns
    -------
    What the search found.
    """
    try:
        wanted = next(search)
        while True:
            wanted = search.send(decode(wanted))
    except StopIteration as end:
        result: int | None = end.value
        return result


def locate_answer_after_thinking_in_text(prompt_text: str, written: str, marks: ThinkingMarks) -> int | None:
    """Find where the answer begins in a text whose tokens are not known: `search_thinking_length`, in characters.

    Parameters
    ----------
    prompt_text, marks
        As in `search_thinking_length`.
    written
        What the model wrote.

    Returns
    -------
    The number of characters before the answer; 0 where there is no thinking; None where it does not end.

    Examples
    --------
    >>> locate_answer_after_thinking_in_text("<think>", "hm</think>\\n\\nyes", THINKING[0])
    12
    """
    return run_answer_search_with_decoder(
        search_thinking_length(prompt_text, list(map(ord, written)), marks),
        lambda characters: "".join(map(chr, characters)),
    )


def count_closing_marks_until_thought_ends(written: str, marks: ThinkingMarks, *, is_open: bool) -> int | None:
    """Count the closing marks up to the one that ends the thinking.

    It ends at the first mark that closes as many thoughts as were opened, unless another thought follows at once. Where
    no mark does, as when a thought only speaks of the opening mark, it ends at the last closing mark.

    Parameters
    ----------
    written
        What a model wrote, marks included.
    marks
        Those of its family.
    is_open
        Whether its prompt has opened a thought.

    Returns
    -------
    The number; 0 where there is no thinking; None where it does not end.

    Examples
    --------
    >>> marks = THINKING[0]
    >>> count_closing_marks_until_thought_ends("<think>a</think>\\n<think>b</think>yes", marks, is_open=False)
    2
    >>> count_closing_marks_until_thought_ends("so <think> is a mark</think>yes", marks, is_open=True)
    1
    >>> count_closing_marks_until_thought_ends("a, b, c", marks, is_open=True) is None
    True
    """
    depth, closings, was_whole = int(is_open), 0, False
    for mark in re.finditer(f"{re.escape(marks.begin)}|{re.escape(marks.end)}", written):
        if mark[0] == marks.begin:
            depth += 1
            continue
        depth, closings = depth - 1, closings + 1
        if depth <= 0:
            if not written[mark.end() :].lstrip().startswith(marks.begin):
                return closings
            depth, was_whole = 0, True
    if depth and (was_whole or not closings):
        return None
    return closings


def find_missing_closing_of_thought(thought: str, marks: ThinkingMarks, *, is_closed: bool) -> str:
    """Find what closes a thought by force, or what is missing where it was closed by the last token allowed.

    Such a thought is not answered yet: the line breaks before the answer, or its opener, may be missing, and without
    them no option is likely.

    Parameters
    ----------
    thought
        What a model wrote up to the end of its tokens.
    marks
        Those of its family.
    is_closed
        Whether it wrote the closing mark.

    Returns
    -------
    The text that belongs between the thought and the answer; empty where the model wrote something of its own there.

    Examples
    --------
    >>> marks = THINKING[0]
    >>> (find_missing_closing_of_thought("hm", marks, is_closed=False),
    ...  find_missing_closing_of_thought("hm</think>", marks, is_closed=True))
    ('\\n</think>\\n\\n', '\\n\\n')
    """
    if not is_closed:
        return marks.closing
    behind, written = (text.rpartition(marks.end)[2] for text in (marks.closing, thought))
    return behind.removeprefix(written) if behind.startswith(written) else ""
