"""Count what was asked of a server, in requests, tokens and money."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from inference.engines.contract import format_token_count
from inference.engines.openai.replies import MalformedReply

# Used while a server has not counted any tokens, or if it never does: a rule of thumb for English.
CHARACTERS_PER_TOKEN = 4.0
MOST_TOKENS = 10**9  # of one request: a server that counts more does not count


@dataclass(slots=True)
class Usage:
    """Counts over the replies that arrived; the client does not know what a lost reply cost.

    Attributes
    ----------
    replies
        Replies that could be read.
    trials
        Replies to requests that are no prompt of the study: they try the server or count tokens.
    repeated, last_problem
        Requests beyond the first for the same prompt, and what went wrong before the last of them.
    tokens_in, tokens_out
        As the server counts them.
    characters, tokens_of_them
        Of the study's prompts, without the probe's; estimates are made from these.
    uncounted
        Replies without token counts.
    """

    replies: int = 0
    trials: int = 0
    repeated: int = 0
    last_problem: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    characters: int = 0
    tokens_of_them: int = 0
    uncounted: int = 0

    def count_reply_and_return_tokens(self, reply: Mapping[str, Any], n_characters: int) -> int | None:
        """Count a reply to a prompt.

        Parameters
        ----------
        reply
            As the server sent it.
        n_characters
            Length of the prompt; 0: it was no prompt of the study.

        Returns
        -------
        Its tokens, read and written; None if the reply does not say.
        """
        self.replies += 1
        self.trials += not n_characters
        reported = reply.get("usage")
        counts = [
            reported.get(name) if isinstance(reported, dict) else None
            for name in ("prompt_tokens", "completion_tokens")
        ]
        tokens_in, tokens_out = (
            count if type(count) is int and 0 <= count <= MOST_TOKENS else None for count in counts
        )
        if tokens_in is None:
            self.uncounted += 1
            return None
        self.tokens_in += tokens_in
        self.tokens_out += tokens_out or 0
        if n_characters:
            self.characters += n_characters
            self.tokens_of_them += tokens_in
        return tokens_in + (tokens_out or 0)

    def estimate_prompt_tokens(self, n_characters: int) -> float:
        """Estimate the tokens of a prompt: its characters at the rate that the server counted so far."""
        if not self.tokens_of_them:
            return n_characters / CHARACTERS_PER_TOKEN
        return n_characters * self.tokens_of_them / self.characters

    @property
    def estimation_rule(self) -> str:
        """How `estimate_prompt_tokens` estimates, for people."""
        if not self.tokens_of_them:
            return f"{CHARACTERS_PER_TOKEN:.0f} characters taken for a token: the server has not counted any"
        rate = self.characters / self.tokens_of_them
        return f"{rate:.2f} characters per token, as the server counted so far"

    def note_repeated_request(self, problem: str) -> None:
        """Count a request that is sent once more.

        Parameters
        ----------
        problem
            Why: what went wrong with the request before it.
        """
        self.repeated += 1
        self.last_problem = problem

    def build_usage_record(self, price_in: float | None, price_out: float | None) -> dict[str, Any]:
        """Return what `run.json` records.

        Parameters
        ----------
        price_in, price_out
            As in `compute_cost`.

        Returns
        -------
        The counts by their names, and `cost`.
        """
        counts = {name: getattr(self, name) for name in ("replies", "repeated", "tokens_in", "tokens_out", "uncounted")}
        return {**counts, "cost": compute_cost(self.tokens_in, self.tokens_out, price_in, price_out)}

    def describe_usage(self, price_in: float | None, price_out: float | None) -> str:
        """Write one line for people.

        Parameters
        ----------
        price_in, price_out
            As in `compute_cost`.

        Returns
        -------
        Replies, tokens and cost, and why requests were sent again.

        Examples
        --------
        >>> usage = Usage(replies=29, trials=2, tokens_in=900, tokens_out=29)
        >>> usage.describe_usage(None, 1.0)
        '29 replies (2 of them only try the server or count tokens), 900 tokens in, 29 out, cost 0.0000'
        >>> usage.note_repeated_request("HTTP 503: too busy")
        >>> usage.describe_usage(1.0, 1.0).partition("cost ")[2]
        '0.0009; 1 request was sent again after a failure (HTTP 503: too busy)'
        """
        trials = f" ({self.trials:,} of them only try the server or count tokens)" if self.trials else ""
        text = f"{self.replies:,} {'reply' if self.replies == 1 else 'replies'}{trials}, "
        text += f"{format_token_count(self.tokens_in)} in, {self.tokens_out:,} out"
        if self.uncounted:
            text += f", {self.uncounted:,} {'reply' if self.uncounted == 1 else 'replies'} without token counts"
        money = compute_cost(self.tokens_in, self.tokens_out, price_in, price_out)
        text += f", cost {money:,.4f}" if money is not None else ", cost unknown (--price-in, --price-out)"
        return text + self._describe_repeated_requests()

    def _describe_repeated_requests(self) -> str:
        """Say how many requests were sent again, and why; empty where none was."""
        if not self.repeated:
            return ""
        if self.repeated == 1:
            return f"; 1 request was sent again after a failure ({self.last_problem})"
        return f"; {self.repeated:,} requests were sent again after failures (the last: {self.last_problem})"


def require_number_of_prompt_tokens(reply: Mapping[str, Any]) -> int:
    """Read from a reply how many tokens the prompt had.

    Raises
    ------
    MalformedReply
        It does not say.
    """
    reported = reply.get("usage")
    count = reported.get("prompt_tokens") if isinstance(reported, dict) else None
    if type(count) is not int or not 0 < count <= MOST_TOKENS:
        raise MalformedReply("the reply does not count the tokens of its prompt")
    return count


def compute_cost(tokens_in: float, tokens_out: float, price_in: float | None, price_out: float | None) -> float | None:
    """Compute the cost of tokens.

    Parameters
    ----------
    tokens_in, tokens_out
        Tokens read and written.
    price_in, price_out
        Per million tokens, in any currency; None: not known, counts as 0 beside a known one.

    Returns
    -------
    The cost in that currency; None where neither price is known.
    """
    if price_in is None and price_out is None:
        return None
    return (tokens_in * (price_in or 0.0) + tokens_out * (price_out or 0.0)) / 1e6
