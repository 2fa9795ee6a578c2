"""Count what a reader has to read: words of a sentence, numbers of a verdict, words before a page's first figure."""

from __future__ import annotations

import json
import re

from analysis.reporting.notebooks import FOLDER
from analysis.reporting.words import Answer

MOST_WORDS, MOST_NUMBERS, FIRST_SCREEN = 30, 3, 60
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z“°†\d])")
_CODE = re.compile(r"(?<!-p )\b[a-z]+(?:_[a-z]+)+\b")


def sentences(text: str) -> list[str]:
    """
    >>> sentences("As in Haller et al., Table 1. It is 0.5 (95 % interval 0.4 to 0.6). “Yes” holds.")
    ['As in Haller et al., Table 1.', 'It is 0.5 (95 % interval 0.4 to 0.6).', '“Yes” holds.']
    """
    return _END.split(" ".join(text.replace("\N{NO-BREAK SPACE}", " ").split()))


def numbers(text: str) -> list[str]:
    """
    >>> numbers("Yes with 2 of 1,200 models (interval 0.5 to 59 %).")
    ['2', '1,200', '0.5', '59']
    """
    return re.findall(r"\d+(?:[.,]\d+)*", text)


def question(page: str) -> str:
    """The heading of a page's notebook."""
    cells = json.loads((FOLDER / f"{page}.ipynb").read_text(encoding="utf-8"))["cells"]
    return "".join(cells[0]["source"]).removeprefix("# ").strip()


def too_long(*texts: str) -> list[str]:
    """The sentences that have more words than a reader should need to hold in mind."""
    return [said for text in texts for said in sentences(text) if len(said.split()) > MOST_WORDS]


def check_answer(page: str, answer: Answer) -> None:
    """The first screen is short, its verdict has few numbers, no sentence is long, and none names a column."""
    assert len(sentences(answer.asked)) == 1, answer.asked
    assert len(sentences(answer.verdict)) <= 2, answer.verdict
    assert len(numbers(answer.verdict)) <= MOST_NUMBERS, answer.verdict
    first = " ".join((question(page), answer.asked, answer.verdict, "9 cautions"))
    assert len(first.split()) <= FIRST_SCREEN, first
    said = (
        answer.asked,
        answer.verdict,
        *answer.cautions,
        *(line for lines in answer.details.values() for line in lines),
    )
    assert too_long(*said) == []
    # A caution may name a package to install.
    assert [line for line in said if _CODE.search(line) and line not in answer.cautions] == []
