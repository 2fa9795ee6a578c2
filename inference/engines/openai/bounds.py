"""Compute option probabilities from the most probable first tokens: exact where these are enough, bounds otherwise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ground.errors import InputError
from inference.engines.contract import Score
from inference.engines.exact.answer_words import Answers, Options, TokenIds, list_forms_with_and_without_space
from inference.engines.openai.returned import ShownToken

# If the hidden probability is below this, the numbers count as exact: it is rounding.
NEGLIGIBLE = 1e-6


@dataclass(frozen=True, slots=True)
class Match:
    """The options that a token may be the start of.

    Attributes
    ----------
    whole
        The option that it is certainly a whole answer of.
    perhaps
        Options that it may begin, if `whole` is None: the following tokens would decide.
    """

    whole: int | None = None
    perhaps: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Forms:
    """The surface forms of every option, each as a sequence: of bytes, or of token ids where the server gives ids.

    Attributes
    ----------
    sequences
        Per option its distinct forms.
    firsts
        The token ids that begin a form; they tell whether the server has shown every token that counts. None: forms are
        bytes, and any token that is not shown may count.
    """

    sequences: tuple[tuple[bytes | TokenIds, ...], ...]
    firsts: frozenset[int] | None = None

    def match_token_to_options(self, token: ShownToken) -> Match:
        """Find the options that a shown token may be the start of.

        If a form begins a longer form of the same option ("yes", "yes please"), the token counts for that option
        either way. If it begins a form of another option ("1", "10"), it stays open which of them is meant.
        """
        start: bytes | TokenIds = token.text if token.id is None else (token.id,)
        size = len(start)
        whole: set[int] = set()
        longer: set[int] = set()
        for option, forms in enumerate(self.sequences):
            for form in forms:
                if form[:size] != start:
                    continue
                if token.open:  # more bytes of a character beyond ASCII follow
                    if len(form) > size and form[size] >= 0x80:
                        longer.add(option)
                elif len(form) == size:
                    whole.add(option)
                else:
                    longer.add(option)
        if len(whole) == 1 and longer <= whole:
            return Match(whole=whole.pop())
        return Match(perhaps=frozenset(whole | longer))


@lru_cache(maxsize=1024)
def build_option_forms_in_bytes(answers: Answers) -> Forms:
    """Make forms of bytes, directly after the prompt and after a space.

    Raises
    ------
    InputError
        Two options have the same form.
    """
    owner: dict[bytes, int] = {}
    for option, words in enumerate(answers):
        if not words:
            raise InputError(f"option {option + 1} has no answers: give its words")
        for form in (form for word in words for form in list_forms_with_and_without_space(word)):
            if owner.setdefault(form.encode(), option) != option:
                raise InputError(
                    f"'{form}' is an answer of options {owner[form.encode()] + 1} and {option + 1}: "
                    "choose other answer words"
                )
    return Forms(
        tuple(tuple(form for form, index in owner.items() if index == option) for option in range(len(answers)))
    )


def build_option_forms_in_token_ids(options: Options) -> Forms:
    """Make forms of token ids."""
    return Forms(options.sequences, frozenset(options.options_by_first_token))


def compute_score_from_shown_first_tokens(tokens: Sequence[ShownToken], forms: Forms) -> Score:
    """Compute option probabilities from the most probable first tokens.

    `probability` and `mass` count the tokens that are certainly a whole answer of one option. Where others may count
    too (tokens that only begin an answer, and tokens that are not shown) these are lower bounds, and `mass_upper` adds
    all that may be missing. `logprob` is given for exact numbers only.

    Parameters
    ----------
    tokens
        Those shown, the most probable one first.
    forms
        The surface forms of the options.

    Returns
    -------
    The score; its `answer` is the option of the most probable token, None if that belongs to none or to several.

    Examples
    --------
    The server shows two tokens, "yes" with 0.75 and "Maybe" with 0.2. The hidden 0.05 may be "no":

    >>> shown = [ShownToken(math.log(0.75), b"yes"), ShownToken(math.log(0.2), b"Maybe")]
    >>> found = compute_score_from_shown_first_tokens(shown, build_option_forms_in_bytes((("yes",), ("no",))))
    >>> [round(p, 3) for p in found.probability], round(found.mass, 3), round(found.mass_upper, 3), found.answer
    ([0.75, 0.0], 0.75, 0.8, 0)
    """
    probability = [0.0] * len(forms.sequences)
    unclear = total = 0.0
    for token in tokens:
        value = math.exp(token.logprob)
        total += value
        match = forms.match_token_to_options(token)
        if match.whole is not None:
            probability[match.whole] += value
        elif match.perhaps:
            unclear += value
    mass = min(1.0, sum(probability))
    missing = unclear + _bound_hidden_probability(tokens, forms, total)
    answer = _find_only_option_of_token(forms.match_token_to_options(tokens[0]))
    if missing > NEGLIGIBLE:
        return Score(tuple(probability), (), mass, answer, mass_upper=min(1.0, mass + missing))
    logprob = tuple(math.log(value) if value else -math.inf for value in probability)
    return Score(tuple(probability), logprob, mass, answer)


def _bound_hidden_probability(tokens: Sequence[ShownToken], forms: Forms, shown_probability: float) -> float:
    """Compute the largest probability that the options' tokens can have among those that are not shown."""
    remainder = max(0.0, 1.0 - shown_probability)
    if forms.firsts is None:
        return remainder
    # Each of them is less probable than any that is shown.
    hidden = len(forms.firsts - {token.id for token in tokens})
    return min(remainder, hidden * math.exp(tokens[-1].logprob))


def _find_only_option_of_token(match: Match) -> int | None:
    """Return the only option that a token may belong to; None where there is none, or several."""
    if match.whole is not None:
        return match.whole
    return next(iter(match.perhaps)) if len(match.perhaps) == 1 else None
