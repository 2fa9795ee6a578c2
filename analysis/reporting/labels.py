"""What a row of a table is called in a figure, a sentence or a printed table."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import pandas as pd

SEPARATOR = " · "


def series(frame: pd.DataFrame) -> pd.Series:
    """A short, unambiguous name for the model x condition (x study) that each row of a frame is about.

    The name is the model's id, without its organisation where that leaves the models apart. The condition is added
    where the model was asked under several, the study where the frame holds several: a label never says what every
    other label says too.

    Parameters
    ----------
    frame
        Has columns `model` and, where they apply, `condition` and `study`.

    Returns
    -------
    Series
        One string per row, aligned with `frame`.
    """
    names = pd.Series(frame["model"].astype(str).unique())
    short = names.str.rsplit("/", n=1).str[-1]
    label = frame["model"].astype(str).map(dict(zip(names, short if short.is_unique else names, strict=True)))
    if "condition" in frame:
        several = frame.groupby("model")["condition"].transform("nunique") > 1
        label = label.where(~several, label + SEPARATOR + frame["condition"].astype(str))
    if "study" in frame and frame["study"].nunique() > 1:
        label = label + SEPARATOR + frame["study"].astype(str)
    return label


def of_pairs(frame: pd.DataFrame) -> dict[str, pd.Series]:
    """Labels `a` and `b` for the pairs of table `differences`: the same name for the same model on either side."""
    names = ["study", "model", "condition"]
    sides = {side: frame[["study", f"{side}_model", f"{side}_condition"]].set_axis(names, axis=1) for side in "ab"}
    units = pd.concat(sides.values()).drop_duplicates()
    labelled = units.assign(label=series(units))
    return {side: part.merge(labelled, how="left")["label"].set_axis(frame.index) for side, part in sides.items()}


def split(frame: pd.DataFrame, size: int) -> Iterator[pd.DataFrame]:
    """Split a frame into parts of at most `size` models x conditions, in the order of their labels."""
    label = series(frame)
    names = sorted(label.unique())
    for start in range(0, len(names), size):
        yield frame[label.isin(names[start : start + size])].assign(label=label)


def shorten(text: str, length: int) -> str:
    """Cut the middle out of a text that is longer than `length`, since ids differ at their ends."""
    if len(text) <= length:
        return text
    head = (length - 1) // 2
    return f"{text[:head]}…{text[len(text) - (length - 1 - head) :]}"


def shorten_all(texts: Sequence[str], length: int) -> list[str]:
    """`shorten` for names that stand side by side: as long as it takes to keep different names different."""
    longest = max(map(len, texts), default=0)
    while length < longest and len({shorten(text, length) for text in texts}) < len(set(texts)):
        length += 4
    return [shorten(text, length) for text in texts]


def opening(text: str, length: int) -> str:
    """The first words of a text, with an ellipsis where more follow."""
    text = " ".join(text.split())
    if len(text) <= length:
        return text
    cut = text[: length - 1]
    word = cut.rsplit(" ", 1)[0]
    return (word if len(word) > length // 2 else cut).rstrip(" ,;:.") + "…"


def brief(names: list[str]) -> list[str]:
    """The names without the words that all their models begin with: panels are small.

    >>> brief(["demo-small · chat", "demo-large · chat"]), brief(["one"]), brief(["gpt-4", "gpt-4o"])
    (['small · chat', 'large · chat'], ['one'], ['4', '4o'])
    """
    models = {name.split(SEPARATOR)[0] for name in names}
    shared = os.path.commonprefix(sorted(models)) if len(models) > 1 else ""  # noqa: RUF071 - characters are meant
    cut = max(shared.rfind(mark) for mark in "-_/ ") + 1
    return [name[cut:] for name in names]
