"""Read the most probable first tokens of an answer from a server's reply."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inference.engines.openai.replies import MalformedReply

TOKEN_ID = re.compile(r"token_id:([0-9]{1,12})")
LITERAL_BYTES = re.compile(r"bytes:((?:\\x[0-9a-fA-F]{2})+)")
UNKNOWN = "\ufffd"
SENTENCEPIECE_SPACE = "\u2581"
# Servers write an impossible token as -9999, since JSON knows no infinity.
IMPOSSIBLE = -9000.0
# Probabilities may sum to this much more than 1 by rounding.
SLACK = 1e-3


@dataclass(frozen=True, slots=True)
class ShownToken:
    """One of the most probable tokens, as the server shows it.

    Attributes
    ----------
    logprob
        Natural logarithm of its probability under the full vocabulary.
    text
        Its bytes, as far as they are known.
    open
        Whether unknown bytes follow: the server shows part of a character as U+FFFD.
    id
        Its token id, where the server gives ids; `text` is empty then.
    """

    logprob: float
    text: bytes = b""
    open: bool = False
    id: int | None = None


def parse_candidates_for_first_token(
    choice: Mapping[str, Any], n_shown: int, token_ids: Sequence[int] = ()
) -> tuple[ShownToken, ...]:
    """Read the most probable tokens at the place of the first generated one.

    Parameters
    ----------
    choice
        An entry of `choices` in the reply of a chat or completions endpoint.
    n_shown
        How many were asked for. A server may add the token it sampled; more than were asked for are dropped.
    token_ids
        Token ids that were asked for instead; the reply also has the most probable token of all.

    Returns
    -------
    The tokens, the most probable one first.

    Raises
    ------
    MalformedReply
        No log-probabilities, fewer than asked for, or impossible ones.
    """
    logprobs = choice.get("logprobs")
    if not isinstance(logprobs, dict):
        raise MalformedReply("the reply has no log-probabilities")
    if logprobs.get("content"):
        tokens = _parse_token_list(logprobs["content"])
        least = n_shown
    else:
        tokens = _parse_old_completions_logprobs(logprobs.get("top_logprobs"))
        # The older format maps texts to numbers, so different tokens with the same text become one entry.
        least = n_shown // 2 + 1
    if token_ids:
        missing = set(token_ids) - {token.id for token in tokens}
        if missing:
            raise MalformedReply(f"the reply does not have {len(missing)} of {len(token_ids)} token ids asked for")
    elif len(tokens) < least:
        raise MalformedReply(f"the reply shows {len(tokens)} of {n_shown} top log-probabilities")
    tokens = sorted(tokens, key=lambda token: -token.logprob)[: None if token_ids else n_shown]
    total = sum(math.exp(token.logprob) for token in tokens)
    if total > 1 + SLACK:
        raise MalformedReply(f"the reply's probabilities sum to {total:.3f}")
    return tuple(tokens)


def _parse_token_list(content: Any) -> list[ShownToken]:
    """Read the chat format: a list of objects with token, logprob and perhaps bytes."""
    first = content[0] if isinstance(content, list) else None
    entries = first.get("top_logprobs") if isinstance(first, dict) else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise MalformedReply("the reply has no top log-probabilities")
    return [_parse_shown_token(entry.get("token"), entry.get("logprob"), entry.get("bytes")) for entry in entries]


def _parse_old_completions_logprobs(steps: Any) -> list[ShownToken]:
    """Read the older completions format: for every token a mapping from text to log-probability."""
    first = steps[0] if isinstance(steps, list) and steps else None
    if not isinstance(first, dict):
        raise MalformedReply("the reply has no top log-probabilities")
    return [_parse_shown_token(token, logprob, None) for token, logprob in first.items()]


def _parse_shown_token(token: Any, logprob: Any, byte_codes: Any) -> ShownToken:
    """Read one token: its log-probability, and its id or its bytes as far as they are known."""
    if not isinstance(token, str) or type(logprob) not in (int, float) or not logprob <= SLACK:
        raise MalformedReply("the reply has an impossible log-probability")
    value = -math.inf if logprob < IMPOSSIBLE else min(float(logprob), 0.0)
    if match := TOKEN_ID.fullmatch(token):
        return ShownToken(value, id=int(match[1]))
    text = _parse_literal_bytes(token)
    if text is None and isinstance(byte_codes, list):
        try:
            text = bytes(byte_codes)
        except (TypeError, ValueError):
            raise MalformedReply("the reply has a token with impossible bytes") from None
    if text is None:
        text = token.replace(SENTENCEPIECE_SPACE, " ").encode("utf-8", "surrogatepass")
    # Some servers take the bytes from the decoded text, where part of a character has become U+FFFD.
    known_bytes, unknown, _ = text.partition(UNKNOWN.encode())
    return ShownToken(value, known_bytes, bool(unknown))


def _parse_literal_bytes(token: str) -> bytes | None:
    """Read a token that is no whole character, as OpenAI's completions write it: `bytes:\\xe3\\x81`."""
    match = LITERAL_BYTES.fullmatch(token)
    return bytes.fromhex(match[1].replace("\\x", "")) if match else None
