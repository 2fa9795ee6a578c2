"""Find sentences on a page that are longer than a reader can hold in mind, or name a column."""

from __future__ import annotations

import re

MOST_WORDS = 30
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z“°†\d])")
_CODE = re.compile(r"(?<!-p )\b[a-z]+(?:_[a-z]+)+\b")


def sentences(text: str) -> list[str]:
    """
    >>> sentences("As in Haller et al., Table 1. It is 0.5 (95 % interval 0.4 to 0.6). “Yes” holds.")
    ['As in Haller et al., Table 1.', 'It is 0.5 (95 % interval 0.4 to 0.6).', '“Yes” holds.']
    """
    return _END.split(" ".join(text.replace("\N{NO-BREAK SPACE}", " ").split()))


def too_long(*texts: str) -> list[str]:
    return [said for text in texts for said in sentences(text) if len(said.split()) > MOST_WORDS]


def code_names(*texts: str) -> list[str]:
    """
    >>> code_names("minority_share is low", "say -p score_rows=best")
    ['minority_share']
    """
    return [name for text in texts for name in _CODE.findall(text)]
