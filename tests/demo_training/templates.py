"""Make sentences from templates: `{a|b}` is a choice, choices nest, and every sentence begins with a capital."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping

from ground.capitals import capitalise_sentence, uncapitalise_sentence
from ground.errors import InputError

_INNERMOST = re.compile(r"\{([^{}]*)\}")


def expand_template(template: str) -> list[str]:
    """Make every distinct sentence of a template, in the order in which its choices are written.

    Parameters
    ----------
    template
        For example ``"{tea|a cup of tea} is {nice|good}."``, which stands for four sentences.

    Returns
    -------
    The sentences, each with a capital.

    Raises
    ------
    InputError
        If the braces do not pair up.
    """
    choice = _INNERMOST.search(template)
    if choice is None:
        if "{" in template or "}" in template:
            raise InputError(f"unpaired brace in the template {template!r}: close every choice")
        return [capitalise_sentence(template)]
    before, after = template[: choice.start()], template[choice.end() :]
    sentences = [sentence for word in choice[1].split("|") for sentence in expand_template(before + word + after)]
    return list(dict.fromkeys(sentences))


def draw_sentence(template: str, rng: random.Random) -> str:
    """Make one sentence of a template, each choice made at random.

    Parameters
    ----------
    template
        As in `expand_template`.
    rng
        Makes the choices.

    Returns
    -------
    The sentence, with a capital.
    """
    while (choice := _INNERMOST.search(template)) is not None:
        template = template[: choice.start()] + rng.choice(choice[1].split("|")) + template[choice.end() :]
    return capitalise_sentence(template)


def fold_sentence(sentence: str) -> str:
    """Remove case, punctuation and spacing from a sentence; sentences with equal results are the same wording."""
    return " ".join(re.findall(r"[a-z0-9']+", sentence.lower()))


def replace_words(sentence: str, words: Mapping[str, str]) -> str:
    """Replace whole words and phrases at once, the longest first, keeping a capital at the start.

    Parameters
    ----------
    sentence
        The sentence.
    words
        Word or phrase -> what replaces it, with a small first letter.

    Returns
    -------
    The new sentence.

    Examples
    --------
    >>> replace_words("Dogs are better than cats.", build_exchanges([("dogs", "cats")]))
    'Cats are better than dogs.'
    """
    longest_first = sorted(words, key=len, reverse=True)
    pattern = re.compile(r"\b(" + "|".join(map(re.escape, longest_first)) + r")\b")
    return capitalise_sentence(pattern.sub(lambda match: words[match[1]], uncapitalise_sentence(sentence)))


def build_exchanges(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Make a word list for `replace_words` that exchanges the two words of every pair."""
    return {word: other for a, b in pairs for word, other in ((a, b), (b, a))}
