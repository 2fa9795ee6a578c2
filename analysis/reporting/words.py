"""Puts counts, shares and lists into words, the same way on every page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

FEW_MODELS, FEW_ITEMS = 3, 30  # below them a page says that they are few


@dataclass(frozen=True, slots=True)
class Answer:
    """The first screen: what was asked, the answer in numbers, and the unpleasant things."""

    asked: str
    verdict: str
    sentences: tuple[str, ...]
    cautions: tuple[str, ...]


def count(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun.

    >>> count(1, "item"), count(1200, "item"), count(2, "reply", "replies")
    ('1 item', '1,200 items', '2 replies')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def low_to_high(counts: pd.Series) -> str:
    """The least and the greatest of some counts: "10", or "453 to 500"."""
    low, high = int(counts.min()), int(counts.max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def listing(names: Sequence[str], most: int = 3) -> str:
    """Some names and how many more: "a, b and 4 others"."""
    if len(names) <= most:
        return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return f"{', '.join(names[:most])} and {count(len(names) - most, 'other')}"


def percent(share: float, decimals: int = 0) -> str:
    """A share in per cent, with one more decimal where it would else be shown as 0 or 100 without being so.

    >>> percent(0.0), percent(0.0016), percent(0.584), percent(0.999), percent(1.0), percent(0.8349, 1)
    ('0 %', '0.2 %', '58 %', '99.9 %', '100 %', '83.5 %')
    """
    text = f"{100 * share:.{decimals}f}"
    hidden = (float(text) == 0 and share > 0) or (float(text) == 100 and share < 1)
    return f"{100 * share:.{decimals + 1}f} %" if hidden else f"{text} %"


def signed(number: float, decimals: int) -> str:
    """A number with its sign, a true minus; no sign where it is shown as zero.

    >>> signed(15.43, 1), signed(-2.0, 1), signed(0.0, 1)
    ('+15.4', '−2.0', '0.0')
    """
    text = f"{number:+.{decimals}f}".replace("-", "−")
    return text[1:] if float(text[1:]) == 0 else text


def points(difference: float) -> str:
    """A difference of shares in percentage points, signed: 0.154 is "+15.4"."""
    return signed(100 * difference, 1)
