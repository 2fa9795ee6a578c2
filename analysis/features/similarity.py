"""How close a wording is to the original wording of its item: normalised edit similarity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


class Pattern:
    """A text made ready to be compared with many others.

    Distances are computed with Myers's bit-parallel algorithm in Hyyrö's form: one column of the edit matrix is held as
    the bits of two integers, so a comparison takes one step per character of the other text (G. Myers, 1999, J. ACM
    46(3); H. Hyyrö, 2003, Nordic J. of Computing 10).
    """

    def __init__(self, text: str) -> None:
        self.length = len(text)
        self._positions: dict[str, int] = {}
        for position, character in enumerate(text):
            self._positions[character] = self._positions.get(character, 0) | 1 << position

    def distance(self, text: str) -> int:
        """Levenshtein distance: insertions, deletions and substitutions of characters.

        >>> Pattern("kitten").distance("sitting")
        3
        """
        if not self.length:
            return len(text)
        positions, full, last = self._positions, (1 << self.length) - 1, 1 << (self.length - 1)
        up, down, score = full, 0, self.length  # where the column rises, where it falls, its last cell
        for character in text:
            match = positions.get(character, 0)
            zero = (((match & up) + up) ^ up) | match | down  # cells equal to their upper left neighbour
            right_up = down | ~(zero | up)
            right_down = up & zero
            if right_up & last:
                score += 1
            elif right_down & last:
                score -= 1
            right_up = right_up << 1 | 1
            up = (right_down << 1 | ~(zero | right_up)) & full
            down = right_up & zero & full
        return score

    def similarity(self, text: str) -> float:
        """1 - distance / length of the longer text: 1 for equal texts, 0 where no character is kept.

        >>> Pattern("abcd").similarity("abed")
        0.75
        """
        longer = max(self.length, len(text))
        return 1 - self.distance(text) / longer if longer else 1.0


def similarities(pairs: Iterable[tuple[str | None, str]]) -> Iterator[float]:
    """Edit similarity of (original, wording) pairs; NaN where there is no original.

    White space counts as one space, at the ends not at all. Pairs with the same original should follow each other.
    """
    original, pattern = None, None
    for first, text in pairs:
        if first is None:
            yield float("nan")
            continue
        if pattern is None or first != original:
            original, pattern = first, Pattern(" ".join(first.split()))
        yield pattern.similarity(" ".join(text.split()))
