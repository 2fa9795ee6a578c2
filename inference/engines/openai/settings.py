"""Read from the command line where a server is and what may be asked of it."""

from __future__ import annotations

import os
import re
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import urlsplit

from ground.errors import InputError
from ground.numerals import build_bounded_number_argument_type, build_bounded_whole_number_type

OPENAI = "https://api.openai.com/v1"
CHAT, COMPLETIONS = "chat", "completions"
APIS = (CHAT, COMPLETIONS)
# Size of a batch on a cluster: while its last requests run, the other connections of a worker are idle, so small
# batches are slow; if the worker is killed, the unfinished batch is lost, so large ones are risky.
ROUNDS_PER_BATCH, MOST_PER_BATCH = 16, 2048
# Fewer requests or tokens would keep a run waiting for days without a message; more of anything is a typing mistake.
BOUNDS = {
    "concurrency": (1, 10_000),
    "requests_per_minute": (0.1, 1e9),
    "tokens_per_minute": (1, 1e12),
    "price_in": (0, 1e9),
    "price_out": (0, 1e9),
    "top_logprobs": (1, 1e6),
    "timeout": (0.01, 86_400),
}
WHOLE_NUMBERS = ("concurrency", "top_logprobs")
# The most tokens that OpenAI's own server shows; others may show more.
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
        What the provider allows; None: no limit.
    price_in, price_out
        Per million tokens, in any currency; None: not known.
    top_logprobs
        Most probable tokens to be shown; None: 20 in chat, 5 in completions.
    timeout
        Seconds until a request counts as lost, its reply read to the end.
    key_variable
        Environment variable that holds the key. The key itself is never written anywhere.

    Raises
    ------
    InputError
        For an impossible value. A value that may be a secret in the wrong place is not shown.
    """

    base_url: str | None = None
    api: str = "auto"
    concurrency: int = 16
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    price_in: float | None = None
    price_out: float | None = None
    top_logprobs: int | None = None
    timeout: float = 120.0
    key_variable: str = "OPENAI_API_KEY"

    def __post_init__(self) -> None:
        if self.api not in ("auto", *APIS):
            raise InputError(f"--api {self.api}: choose auto, chat or completions")
        for name, (low, high) in BOUNDS.items():
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise InputError(f"--{name.replace('_', '-')} {value}: give a number from {low:g} to {high:,g}")
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", self.key_variable):
            raise InputError("--key-variable: give the name of an environment variable, not the key itself")
        if not (self.key.isascii() and self.key.isprintable()):
            raise InputError(f"${self.key_variable}: holds characters that no key has; copy the key again")
        _refuse_address_malformed_or_with_secret(self.address)

    @property
    def address(self) -> str:
        """The server's address without a slash at its end."""
        return (self.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI).rstrip("/")

    @property
    def key(self) -> str:
        """The key; empty where the variable is not set, since many servers on one's own machine need none."""
        return os.environ.get(self.key_variable, "").strip()

    @property
    def fields_of_run_json(self) -> dict[str, None]:
        """The fields of run.json that these settings decide: none."""
        return {}

    @property
    def prompts_per_batch(self) -> int:
        """Prompts of a batch on a cluster: many times `concurrency`, at most 15 seconds' worth."""
        per_quarter = int(self.requests_per_minute / 4) if self.requests_per_minute else MOST_PER_BATCH
        return max(1, min(ROUNDS_PER_BATCH * self.concurrency, MOST_PER_BATCH, per_quarter))

    def choose_n_top_tokens(self, api: str) -> int:
        """Return the number of top tokens to ask for."""
        return self.top_logprobs or SHOWN[api]


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments that say where a server is and what may be asked of it."""
    group = parser.add_argument_group("server (--engine openai)")
    for option, metavar, about in (
        ("--base-url", "URL", "address up to the version (default: $OPENAI_BASE_URL, else OpenAI's)"),
        ("--key-variable", "NAME", "environment variable that holds the key (default: OPENAI_API_KEY)"),
        ("--concurrency", "N", "requests under way at once (default: 16)"),
        ("--requests-per-minute", "N", "what the provider allows (default: no limit)"),
        ("--tokens-per-minute", "N", "what the provider allows (default: no limit)"),
        ("--price-in", "P", "per million tokens read, to show the cost"),
        ("--price-out", "P", "per million tokens written, to show the cost"),
        ("--top-logprobs", "K", "most probable tokens to be shown (default: 20 in chat, 5 in completions)"),
        ("--timeout", "SECONDS", "until a request counts as lost (default: 120)"),
    ):
        group.add_argument(option, type=_build_argument_type_of_option(option), metavar=metavar, help=about)
    group.add_argument(
        "--api", choices=("auto", *APIS), help="endpoint (default: auto, chat for chat prompts, completions for plain)"
    )


def _build_argument_type_of_option(option: str) -> Callable[[str], Any]:
    """Build what converts the words of an option: to a number within its bounds, or to text."""
    name = option.removeprefix("--").replace("-", "_")
    if name not in BOUNDS:
        return str
    if name in WHOLE_NUMBERS:
        return build_bounded_whole_number_type(*map(int, BOUNDS[name]))
    return build_bounded_number_argument_type(*BOUNDS[name])


def parse_settings(options: Namespace) -> ApiSettings | None:
    """Read the settings from the command line; None for an engine that asks no server.

    Raises
    ------
    InputError
        An impossible value, or a setting of a server where none is asked.
    """
    values = {f.name: getattr(options, f.name) for f in fields(ApiSettings) if getattr(options, f.name) is not None}
    if options.engine == "openai":
        return ApiSettings(**values)
    if values:
        raise InputError(
            f"--{next(iter(values)).replace('_', '-')} is about a server: add --engine openai, or leave it out"
        )
    return None


def _refuse_address_malformed_or_with_secret(address: str) -> None:
    """Refuse an address that is none, or that may hold a secret."""
    try:
        address.encode()
        parts = urlsplit(address)
        is_valid = (
            not any(char.isspace() or not char.isprintable() for char in address)
            and parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and parts.port != 0
        )
    except ValueError:
        is_valid = False
    if not is_valid:
        raise InputError("--base-url: expected an address such as http://127.0.0.1:8000/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InputError(
            "--base-url: an address with a user name, password or query may hold a secret, and it is recorded: "
            "put the key into an environment variable (--key-variable) and give the bare address"
        )
