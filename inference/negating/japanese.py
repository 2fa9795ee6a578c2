"""Put a negation into Japanese sentences, wherever the rule table has a place for one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inference.negating.negation import InsertedNegation, classify_negation_as_mid_or_end
from inference.negating.rules import read_rule_table
from inference.negating.words import Word


def generate_japanese_negations(sentence: str, words: Sequence[Word]) -> Iterator[InsertedNegation]:
    """Make every sentence that has one negation more than this one (Yoshida et al., section 3.1.1, step 1.1).

    Parameters
    ----------
    sentence, words
        A sentence without a negation, and its analysis (`words.segment_japanese_sentence_into_words`).

    Yields
    ------
    InsertedNegation
        In the order of the words that take the negation; none where no rule fits any word.
    """
    rules = read_rule_table()
    for place, word in enumerate(words):
        target = rules.classify_word_for_negation(word)
        if target is None:
            continue
        place, kind = _find_negatable_place_and_kind(words, place, target.kind)
        rule, forms = (
            rules.find_first_rule_fitting_word(kind, words, place),
            rules.inflect_word_for_templates(words[place]),
        )
        if rule is None or rule.writes is None or forms is None:
            continue
        before, negation, behind = rule.writes
        text = sentence[: words[place].start] + before.format(**forms) + negation
        after = behind + sentence[words[place + len(rule.tail)].end :]
        yield InsertedNegation(text + after, classify_negation_as_mid_or_end(after), target.target_pos, negation)


def _find_negatable_place_and_kind(words: Sequence[Word], word_index: int, word_kind: str) -> tuple[int, str]:
    """Go on from a verb to the last of its auxiliaries, which takes the negation: 置か-れ, 行き-たかっ."""
    if word_kind == "verb":
        while word_index + 1 < len(words) and (
            auxiliary_kind := read_rule_table().find_auxiliary_kind(words[word_index + 1])
        ):
            word_index, word_kind = word_index + 1, auxiliary_kind
    return word_index, word_kind
