"""Exchange the sides of English comparisons, and nouns by a pipeline's tags and dependencies; find names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from typing import Any

from ground.capitals import capitalise_sentence
from inference.meaning.decoys.sentences import Candidate, Sentence
from inference.meaning.decoys.spelling import lowercase_first_word_unless_name, replace_span_and_fix_article

_COMPARATIVE = r"(?:more|less|better|worse|(?!other|rather|never|ever|whether|either)\w{2,}er)"
# "(In criminal justice,) punishment should be more important than rehabilitation."
_COMPARISON = re.compile(
    r"(?P<before>^|.*?[,;:] )(?P<one>(?:(?!\b(?:that|who|which|if|because)\b)[^,;:])+?)"
    r"(?P<verb> (?:(?:should|would|can|could|may|might|must|will) )?(?:not )?(?!(?:the|an?|and|or|of) )[\w'’]+ "
    rf"(?:(?:much|far|even|usually|always|often) )?{_COMPARATIVE}\b[^,;:]*? than )"
    r"(?P<other>[^,;:.!?]+?)(?P<after>(?: as an? | when | if | because | in | for | at )[^;:]*|[,;:.!?].*|)$"
)
# "more by class than by nationality", "humanity rather than the interests of companies"
_SAME_PREPOSITION = re.compile(
    r"(?P<before>.*\b(?P<preposition>by|for|in|of|to|on|with|from|at) )(?P<one>[\w'’-]+)(?P<verb> (?:rather )?than "
    r"(?P=preposition) )(?P<other>[\w'’-]+)(?P<after>.*)$"
)
_RATHER = re.compile(
    r"(?P<before>.*? )(?P<one>(?:(?:the|an?) )?[\w'’-]+)(?P<verb>,? rather than )(?P<other>[^,;:.!?]+)(?P<after>.*)$"
)
_PRONOUNS = frozenset(
    re.findall(r"\w+", "i you he she it we they me him her us them this that there these those what who")
)
_NAME = re.compile(r"(?<=[a-z,;] )(?!I\b)[A-Z][\w'’.-]*\w(?: [A-Z][\w'’.-]*\w)*")
_SUBJECT, _OBJECT = ("nsubj",), ("obj", "dobj")
_SYMMETRIC = frozenset(
    re.findall(r"\w+", "equal equals resemble resembles match matches marry marries meet meets mean means")
)
# Nouns that say little are no other thing; those for minors are never put where others stood.
_NEVER = frozenset(
    re.findall(
        r"\w+",
        """one ones freer thing things way ways lot anything something nothing everything anyone someone everyone kind
    kinds sort sorts child children kid kids boy boys girl girls baby babies minor minors teen teens teenager teenagers
    pupil pupils student students infant infants youth""",
    )
)


def swap_sides_of_comparison(sentence: Sentence) -> Iterator[Candidate]:
    """Swap the two sides of a comparison: A is better than B -> B is better than A.

    Parameters
    ----------
    sentence
        The sentence.

    Yields
    ------
    The sentence with its sides exchanged; none where a side is a pronoun.
    """
    text = sentence.text.strip()
    for pattern in (_SAME_PREPOSITION, _COMPARISON, _RATHER):
        match = pattern.match(text)
        if not match or match["one"].lower() == match["other"].lower():
            continue
        if {match["one"].lower(), match["other"].lower()} & _PRONOUNS:
            continue
        one, other, before = match["one"], match["other"], match["before"]
        if not before:
            one, other = _move_capital_from_first_to_second_part(sentence, one, other)
        changed = f"{before}{other}{match['verb']}{one}{match['after']}"
        yield Candidate(changed, f"{match['one']} <-> {match['other']}")
        return


def list_proper_names_with_spans(sentence: Sentence) -> list[tuple[int, int, str]]:
    """List names: runs of words with the tag NNP, without a pipeline words with a capital inside the sentence.

    Parameters
    ----------
    sentence
        The sentence.

    Returns
    -------
    Start, end and name, in order.
    """
    if sentence.doc is None:
        return [(*match.span(), match[0]) for match in _NAME.finditer(sentence.text)]
    names: list[tuple[int, int, str]] = []
    previous = -2
    for token in sentence.doc:
        if (
            token.tag_.startswith("NNP")
            and token.text[:1].isupper()
            and (token.i > 0 or _is_first_word_surely_name(token))
        ):
            end = token.idx + len(token)
            start = names.pop()[0] if previous == token.i - 1 else token.idx
            names.append((start, end, sentence.text[start:end]))
            previous = token.i
    return names


def _is_first_word_surely_name(token: Any) -> bool:
    """Tell whether the first word of a sentence is a name: taggers take other words with a capital for names."""
    return (len(token.doc) > 1 and token.doc[1].text in ("'s", "’s")) or token.text.isupper()


def find_noun_spans_with_tags(sentence: Sentence) -> list[tuple[int, int, str]]:
    """List the nouns that may stand for another by the tags of a pipeline; parts of longer nouns are left out.

    Parameters
    ----------
    sentence
        The sentence.

    Returns
    -------
    Start, end and tag, in order; none without a pipeline.
    """
    return [(noun.idx, noun.idx + len(noun), noun.tag_) for noun in _find_noun_tokens_outside_compounds(sentence)]


def swap_nouns(sentence: Sentence) -> Iterator[Candidate]:
    """Swap subject and object of a verb with all that belongs to them, or two nouns with the same role at one head.

    Parameters
    ----------
    sentence
        The sentence; without a pipeline's analysis there is nothing to swap.

    Yields
    ------
    Sentences with two parts exchanged; not where it does not matter which is which, as with and.
    """
    pairs = [
        (one, other)
        for one, other in combinations(_find_noun_tokens_outside_compounds(sentence), 2)
        if one.head == other.head
    ]
    for one, other in pairs:
        if one.dep_ in _SUBJECT and other.dep_ in _OBJECT and one.head.lower_ not in _SYMMETRIC:
            spans = [sentence.doc[noun.left_edge.i : noun.right_edge.i + 1] for noun in (one, other)]
            if spans[0].end <= spans[1].start:
                yield _build_candidate_with_spans_swapped(
                    sentence, *(_find_character_span_without_punctuation(span) for span in spans)
                )
    for one, other in pairs:
        is_alike = one.tag_ == other.tag_ and one.dep_ == other.dep_ and one.lower_ != other.lower_
        if is_alike and one.dep_.startswith(("obl", "nmod", "pobj")):
            yield _build_candidate_with_spans_swapped(
                sentence, *((noun.idx, noun.idx + len(noun)) for noun in (one, other))
            )


def _find_noun_tokens_outside_compounds(sentence: Sentence) -> list[Any]:
    """Find the nouns of a sentence that are no parts of others: not the first of two together, nor with a hyphen."""
    tokens = sentence.doc if sentence.doc is not None else ()
    return [token for token in tokens if token.tag_ in ("NN", "NNS") and not _is_noun_unfit_for_exchange(token)]


def _is_noun_unfit_for_exchange(token: Any) -> bool:
    """Tell whether a noun is a part of another, or stands for nothing of its own."""
    doc = token.doc
    neighbours = [doc[place] for place in (token.i - 1, token.i + 1) if 0 <= place < len(doc)]
    is_inside = any(
        other.tag_ in ("NN", "NNS", "POS", "HYPH") or other.text in ("-", "'s", "’s") for other in neighbours
    )
    is_argument = token.dep_.startswith(("nsubj", "obj", "dobj", "obl", "pobj", "nmod"))
    is_no_noun = token.lower_.endswith("ing") or token.lower_ in _NEVER or not token.text.isalpha()
    return is_inside or is_no_noun or not is_argument


def _find_character_span_without_punctuation(span: Any) -> tuple[int, int]:
    """Return the characters of a span of words, without punctuation at its end."""
    end = span.end
    while end > span.start + 1 and span.doc[end - 1].is_punct:
        end -= 1
    return span.doc[span.start].idx, span.doc[end - 1].idx + len(span.doc[end - 1])


def _build_candidate_with_spans_swapped(sentence: Sentence, one: tuple[int, int], other: tuple[int, int]) -> Candidate:
    """Swap two parts of a text; the capital stays at the beginning of the sentence."""
    text = sentence.text
    first, second = text[slice(*one)], text[slice(*other)]
    source = f"{first} <-> {second}"
    if one[0] == 0:
        first, second = _move_capital_from_first_to_second_part(sentence, first, second)
    return Candidate(
        replace_span_and_fix_article(replace_span_and_fix_article(text, other, first), one, second), source
    )


def _move_capital_from_first_to_second_part(sentence: Sentence, first: str, second: str) -> tuple[str, str]:
    """Write the words that begin a sentence as they stand inside it, and those that will begin it with a capital."""
    word, _, rest = first.partition(" ")
    return f"{lowercase_first_word_unless_name(sentence, word)} {rest}".strip(), capitalise_sentence(second)
