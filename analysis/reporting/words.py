"""Write counts, shares, lists and cautions in words, the same way on every page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.errors import short
from analysis.reporting.thresholds import FEW_ITEMS, FEW_MODELS

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Answer:
    """What the first screen says: what was asked, the answer with its numbers, and what weakens it."""

    asked: str
    verdict: str
    sentences: tuple[str, ...]
    cautions: tuple[str, ...]


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Write a number with its noun.

    >>> count(1, "item"), count(1200, "item"), count(2, "reply", "replies")
    ('1 item', '1,200 items', '2 replies')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def low_to_high(counts: pd.Series) -> str:
    """Write the least and the greatest of some counts: "10", or "453 to 500"."""
    low, high = int(counts.min()), int(counts.max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def listing(names: Sequence[str], most: int = 3) -> str:
    """Write the first names, and how many more there are: "a, b and 4 others"; no name, no word."""
    if not names:
        return ""
    if len(names) <= most:
        return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return f"{', '.join(names[:most])} and {count(len(names) - most, 'other')}"


def percent(share: float, decimals: int = 0) -> str:
    """Write a share in per cent; where rounding would show a 0 or 100 that it is not, with one more decimal or a bound.

    >>> percent(0.0), percent(0.0016), percent(0.584), percent(0.999), percent(1.0), percent(0.8349, 1)
    ('0 %', '0.2 %', '58 %', '99.9 %', '100 %', '83.5 %')
    >>> percent(0.0004), percent(0.9996)
    ('<0.1 %', '>99.9 %')
    """
    for places in (decimals, decimals + 1):
        text = f"{100 * share:.{places}f}"
        if not (float(text) == 0 and share > 0) and not (float(text) == 100 and share < 1):
            return f"{text} %"
    least = 10**-places
    return f"<{least:.{places}f} %" if share < 0.5 else f">{100 - least:.{places}f} %"


def signed(number: float, decimals: int) -> str:
    """Write a number with its sign and a true minus; without a sign where it rounds to zero.

    >>> signed(15.43, 1), signed(-2.0, 1), signed(0.0, 1)
    ('+15.4', '−2.0', '0.0')
    """
    text = f"{number:+.{decimals}f}".replace("-", "−")
    return text[1:] if float(text[1:]) == 0 else text


def points(difference: float) -> str:
    """Write a difference of shares in percentage points, with its sign: 0.154 is "+15.4"."""
    return signed(100 * difference, 1)


def unanswered(frame: pd.DataFrame) -> list[str]:
    """Return the caution about prompts without a response (`analysis.runs.unanswered`); empty where all have one."""
    if frame.empty:
        return []
    failed, missing, asked = (int(frame[name].sum()) for name in ("failed", "missing", "asked"))
    reasons = frame.loc[frame["failed"] > 0, "reason"]
    first = f" The first error: “{short(reasons.iloc[0], 120)}”." if len(reasons) else ""
    return [
        f"No response to {failed + missing:,} of {count(asked, 'prompt')}: {failed:,} failed, {missing:,} are missing. "
        f"This is so for {listing(unanswered_by_unit(frame))}.{first}"
    ]


def unanswered_by_unit(frame: pd.DataFrame) -> list[str]:
    """Write for each model and condition how many prompts failed, and how many are missing."""
    return [
        f"{row['model']} ({row['condition']}; {row['failed']:,} failed and {row['missing']:,} missing of "
        f"{row['asked']:,})"
        for row in frame.to_dict("records")
    ]


def few_models(number: int) -> list[str]:
    """Return the caution about a small number of models; empty where there are enough.

    >>> few_models(1), few_models(FEW_MODELS)
    (['Only 1 model: these results say nothing about models in general.'], [])
    """
    caution = f"Only {count(number, 'model')}: these results say nothing about models in general."
    return [caution] if number < FEW_MODELS else []


def few_items(number: int, where: str = "", so: str = "intervals from so few tend to be too narrow") -> list[str]:
    """Return the caution about a small number of items, and what follows from it; empty where there are enough.

    >>> few_items(5, " in a group"), few_items(FEW_ITEMS)
    (['Only 5 items in a group: intervals from so few tend to be too narrow.'], [])
    """
    return [f"Only {count(number, 'item')}{where}: {so}."] if number < FEW_ITEMS else []
