"""Put a negation into Japanese sentences, wherever the rule table has a place for one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inference.protocols.negation.negate.negation import Negation, position
from inference.protocols.negation.negate.rules import table
from inference.protocols.negation.negate.words import Word


def negations(sentence: str, words: Sequence[Word]) -> Iterator[Negation]:
    """Make every sentence that has one negation more than this one (Yoshida et al., section 3.1.1, step 1.1).

    Parameters
    ----------
    sentence, words
        A sentence without a negation, and its analysis (`words.analysed`).

    Yields
    ------
    Negation
        In the order of the words that take the negation; none where no rule fits any word.
    """
    rules = table()
    for place, word in enumerate(words):
        target = rules.target(word)
        if target is None:
            continue
        place, kind = _stem(words, place, target.kind)
        rule, forms = rules.rule(kind, words, place), rules.forms(words[place])
        if rule is None or rule.writes is None or forms is None:
            continue
        before, negation, behind = rule.writes
        text = sentence[: words[place].start] + before.format(**forms) + negation
        after = behind + sentence[words[place + len(rule.tail)].end :]
        yield Negation(text + after, position(after), target.target_pos, negation)


def _stem(words: Sequence[Word], place: int, kind: str) -> tuple[int, str]:
    """Go on from a verb to the last of its auxiliaries, which takes the negation: 置か-れ, 行き-たかっ."""
    if kind == "verb":
        while place + 1 < len(words) and (other := table().auxiliary(words[place + 1])):
            place, kind = place + 1, other
    return place, kind
