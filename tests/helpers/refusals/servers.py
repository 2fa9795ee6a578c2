"""Servers that cannot be asked, and settings of servers that nobody can mean."""

from __future__ import annotations

from helpers.refusals import Case

ITEMS = {"items.csv": "item,text\n1,Bread is good.\n2,Lamps are warm.\n"}
PREVIEW = "inference preview agreement --items items.csv --model m --engine openai"
RUN = "inference run agreement --items items.csv --model m --out run --engine openai"
NOWHERE = "http://127.0.0.1:9/v1"
SETTINGS = {
    "--concurrency": ("0", "1000000000"),
    "--requests-per-minute": ("1e-300", "inf"),
    "--tokens-per-minute": ("1e-300", "inf"),
    "--price-in": ("-1", "inf", "nan"),
    "--price-out": ("inf",),
    "--top-logprobs": ("0", "1000000000"),
    "--timeout": ("inf", "nan"),
}
CASES = [
    Case(f"{option} {value}", f"{RUN} --base-url {NOWHERE} {option}={value}", (option, value), ITEMS)
    for option, values in SETTINGS.items()
    for value in values
]
CASES += [
    Case(name, (*RUN.split(), f"--base-url={address}"), ("--base-url",), ITEMS)
    for name, address in (
        ("no address", ""),
        ("an address without a scheme", "127.0.0.1:9/v1"),
        ("an address of a file", "file:///etc/passwd"),
        ("an address without a host", "http:///v1"),
        ("an address with port 0", "http://127.0.0.1:0/v1"),
        ("an address with port 99999", "http://127.0.0.1:99999/v1"),
        ("an address with a blank", "http://127.0.0.1:9/v 1"),
        ("an address with a line break", "http://127.0.0.1:9/v1\nHost: other"),
        ("an address with half a character", "http://127.0.0.1:9/\udc80"),
        ("an address of half a bracket", "http://[::1/v1"),
        ("an address with a password", "http://me:secret@127.0.0.1:9/v1"),
    )
]
CASES += [
    Case("a key as the name of a variable", f"{RUN} --base-url {NOWHERE} --key-variable sk-1", ("--key-variable",),
         ITEMS),
    Case("a dtype of a server", f"{PREVIEW} --base-url {NOWHERE} --dtype float32", ("--dtype",), ITEMS),
    Case("a server's setting without a server",
         "inference run agreement --items items.csv --model m --out run --timeout 3", ("--timeout", "--engine openai"),
         ITEMS),
]  # fmt: skip
