"""How a server is asked."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from inference.errors import InputError

OPENAI = "https://api.openai.com/v1"
CHAT, COMPLETIONS = "chat", "completions"
APIS = (CHAT, COMPLETIONS)
EFFORTS = ("minimal", "low", "medium", "high")
# The most that OpenAI's own server shows; others may show more.
SHOWN = {CHAT: 20, COMPLETIONS: 5}


@dataclass(frozen=True, slots=True)
class ApiSettings:
    """Where an OpenAI-compatible server is and what may be asked of it.

    Attributes
    ----------
    base_url
        Address up to the version, as `http://127.0.0.1:8000/v1`. None: $OPENAI_BASE_URL, else OpenAI's own.
    api
        "chat", "completions", or "auto": chat for prompts in chat form, completions for plain ones.
    concurrency
        Requests under way at once.
    requests_per_minute, tokens_per_minute
        What the provider allows; None: no limit of ours.
    price_in, price_out
        Per million tokens, in any currency; None: not known.
    top_logprobs
        Most probable tokens to be shown; None: 20 in chat, 5 in completions.
    timeout
        Seconds until a request counts as lost, its reply read to the end.
    key_variable
        Environment variable that holds the key. The key itself is never written anywhere.
    effort
        How much a reasoning model is asked to think, passed through as `reasoning_effort`.

    Raises
    ------
    InputError
        For a value that cannot be. What may be a secret put in the wrong place is not repeated.
    """

    base_url: str | None = None
    api: str = "auto"
    concurrency: int = 32
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    price_in: float | None = None
    price_out: float | None = None
    top_logprobs: int | None = None
    timeout: float = 120.0
    key_variable: str = "OPENAI_API_KEY"
    effort: str | None = None

    def __post_init__(self) -> None:
        if self.api not in ("auto", *APIS):
            raise InputError(f"--api {self.api}: choose auto, chat or completions")
        for name in ("concurrency", "requests_per_minute", "tokens_per_minute", "top_logprobs", "timeout"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise InputError(f"--{name.replace('_', '-')} {value}: give a number above 0")
        for name in ("price_in", "price_out"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise InputError(f"--{name.replace('_', '-')} {value}: give a price, 0 or more")
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", self.key_variable):
            raise InputError("--key-variable: give the name of an environment variable, not the key itself")
        if self.effort is not None and self.effort not in EFFORTS:
            raise InputError(f"--effort {self.effort}: choose {', '.join(EFFORTS)}")
        _check_address(self.address)

    @property
    def address(self) -> str:
        """The server's address without a slash at its end."""
        return (self.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI).rstrip("/")

    @property
    def key(self) -> str:
        """The key, empty where the variable is not set: many a server on this machine wants none."""
        return os.environ.get(self.key_variable, "").strip()

    def shown(self, api: str) -> int:
        """Number of top tokens asked for."""
        return self.top_logprobs or SHOWN[api]


def _check_address(address: str) -> None:
    try:
        parts = urlsplit(address)
        known = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        known = False
    if not known:
        raise InputError("--base-url: expected an address such as http://127.0.0.1:8000/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InputError(
            "--base-url: an address with a user name, password or query may hold a secret, and it is recorded: "
            "put the key into an environment variable (--key-variable) and give the bare address"
        )
