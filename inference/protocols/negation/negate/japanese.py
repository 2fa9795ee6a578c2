"""Put a negation into Japanese sentences, wherever the rule table has a place for one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inference.protocols.negation.negate.negation import InsertedNegation, find_negation_position
from inference.protocols.negation.negate.rules import read_rule_table
from inference.protocols.negation.negate.words import Word


def generate_japanese_negations(sentence: str, words: Sequence[Word]) -> Iterator[InsertedNegation]:
    """Make every sentence that has one negation more than this one (Yoshida et al., section 3.1.1, step 1.1).

    Parameters
    ----------
    sentence, words
        A sentence without a negation, and its analysis (`words.analyse_japanese_words`).

    Yields
    ------
    Negation
        In the order of the words that take the negation; none where no rule fits any word.
    """
    rules = read_rule_table()
    for place, word in enumerate(words):
        target = rules.find_negation_target(word)
        if target is None:
            continue
        place, kind = _find_last_auxiliary(words, place, target.kind)
        rule, forms = rules.find_rule(kind, words, place), rules.list_template_forms(words[place])
        if rule is None or rule.writes is None or forms is None:
            continue
        before, negation, behind = rule.writes
        text = sentence[: words[place].start] + before.format(**forms) + negation
        after = behind + sentence[words[place + len(rule.tail)].end :]
        yield InsertedNegation(text + after, find_negation_position(after), target.target_pos, negation)


def _find_last_auxiliary(words: Sequence[Word], place: int, kind: str) -> tuple[int, str]:
    """Go on from a verb to the last of its auxiliaries, which takes the negation: 置か-れ, 行き-たかっ."""
    if kind == "verb":
        while place + 1 < len(words) and (auxiliary_kind := read_rule_table().find_auxiliary_kind(words[place + 1])):
            place, kind = place + 1, auxiliary_kind
    return place, kind
