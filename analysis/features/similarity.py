"""Measure how similar a wording is to the original wording of its item: normalised edit similarity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


class EditPattern:
    """Prepare a text for comparisons with many others.

    Distances are computed with Myers's bit-parallel algorithm in Hyyrö's form: one column of the edit matrix is held as
    the bits of two integers, so a comparison takes one step per character of the other text (G. Myers, 1999, J. ACM
    46(3); H. Hyyrö, 2003, Nordic J. of Computing 10). Bit i stands for character i of this text: in "kitten", the
    positions of "t" are the bits 2 and 3, the number 12.
    """

    def __init__(self, text: str) -> None:
        self.length = len(text)
        self._positions: dict[str, int] = {}
        for position, character in enumerate(text):
            self._positions[character] = self._positions.get(character, 0) | 1 << position

    def compute_edit_distance(self, text: str) -> int:
        """Compute the Levenshtein distance: insertions, deletions and substitutions of characters.

        >>> EditPattern("kitten").compute_edit_distance("sitting")
        3
        """
        if not self.length:
            return len(text)
        positions, full, last = self._positions, (1 << self.length) - 1, 1 << (self.length - 1)
        # Where the column rises, where it falls, its last cell; bit i is row i of the column.
        up, down, score = full, 0, self.length
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

    def compute_edit_similarity(self, text: str) -> float:
        """Compute 1 - distance / length of the longer text: 1 for equal texts, 0 if no character is kept.

        >>> EditPattern("abcd").compute_edit_similarity("abed")
        0.75
        """
        longer = max(self.length, len(text))
        return 1 - self.compute_edit_distance(text) / longer if longer else 1.0


def iterate_edit_similarities(pairs: Iterable[tuple[str | None, str]]) -> Iterator[float]:
    """Compute the edit similarity of (original, wording) pairs; NaN without an original.

    White space of any length counts as one space; at the ends it is ignored. Pairs with the same original should come
    one after the other.
    """
    original, pattern = None, None
    for first, text in pairs:
        if first is None:
            yield float("nan")
            continue
        if pattern is None or first != original:
            original, pattern = first, EditPattern(" ".join(first.split()))
        yield pattern.compute_edit_similarity(" ".join(text.split()))
