"""Files and templates that would take all memory or never end."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

from helpers.refusals import Case
from helpers.refusals.reading import AGREEMENT, BANK, ITEMS, PROMPT, bank, items, prompt

BOMB = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60))
MERGED = "- &a0 {k: v}\n" + "".join(f"- &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}\n" for n in range(1, 40))
TEMPLATES = {
    "long text": "{{ 'x' * 10**9 }}",
    "large number": "{{ 10**(10**8) }}",
    "lorem ipsum": "{{ lipsum(10**6) }}",
    "nested loops": "{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}",
    "centred": "{{ text|center(10**9) }}",
    "width": "{{ '%1000000000d'|format(1) }}",
    "width of a method": "{{ '{:1000000000}'.format(1) }}",
    "joined": "{{ (['x' * 99999] * 99999)|join }}",
    "replaced": "{{ ('x' * 99999)|replace('x', 'y' * 99999) }}",
    "indented": "{{ text|indent(10**9) }}",
    "macro without end": "{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}",
    "macro that doubles": "{% macro m(n) %}{% if n < 60 %}{{ m(n+1) }}{{ m(n+1) }}{% endif %}{% endmacro %}{{ m(0) }}",
    "doubled": "{% set n = namespace(x='x') %}{% for i in range(99) %}{% set n.x = n.x ~ n.x %}{% endfor %}{{ n.x }}",
    "listed": "{{ (range(99999)|list) * 99999 }}",
    "searched": "{% set t = 'x' * 4000000 %}{% for i in range(99999) %}{% if 'b' in t %}{% endif %}{% endfor %}",
    "brackets": "{{ " + "(" * 20000 + "1" + ")" * 20000 + " }}",
    "long": "{{ text }}" * 99_999,
}


def special(name: str, call: str, make: Callable[[Path], object], *words: str) -> Case:
    """Make a case of a file that is no ordinary one."""
    return Case(name, call, words, make)


def pipe(name: str) -> Callable[[Path], object]:
    """Make a pipe that nobody writes to, beside an ordinary items file."""

    def make(folder: Path) -> None:
        (folder / "items.csv").write_text(ITEMS)
        os.mkfifo(folder / name)

    return make


def sparse(name: str, size: int) -> Callable[[Path], object]:
    """Make a file of many NULs that takes no room."""

    def make(folder: Path) -> None:
        (folder / "items.csv").write_text(ITEMS)
        with (folder / name).open("wb") as file:
            file.truncate(size)

    return make


def link(name: str, target: str) -> Callable[[Path], object]:
    """Make a link."""

    def make(folder: Path) -> None:
        (folder / "items.csv").write_text(ITEMS)
        (folder / name).symlink_to(target)

    return make


def _socket(folder: Path) -> None:
    here = Path.cwd()
    os.chdir(folder)  # a socket's path has at most 100 characters
    try:
        socket.socket(socket.AF_UNIX).bind("x.csv")
    finally:
        os.chdir(here)


def _folder(folder: Path) -> None:
    (folder / "x.csv").mkdir()


CASES = [
    items("aliases of aliases", "x.yaml", BOMB, "aliases"),
    items("merged aliases of aliases", "x.yaml", MERGED, "aliases"),
    items("alias of itself", "x.yaml", "- &a [*a]\n", "holds it"),
    prompt("aliases of aliases", BOMB, "aliases"),
    bank("aliases of aliases", BOMB, "aliases"),
    *(
        prompt(f"template, {name}", PROMPT.replace("{{ text }}'", f'{{{{ text }}}}{source}"').replace("'Is", '"Is'))
        for name, source in TEMPLATES.items()
    ),
    *(
        bank(
            f"template, {name}",
            BANK.replace("'Is it bad? {{ text }}'", f'"{{{{ text }}}}{TEMPLATES[name]}"'),
            "antonym",
        )
        for name in ("long text", "width", "doubled")  # rendered as a prompt is: the slow ones stand above
    ),
    prompt(
        "template, slow in every part",
        "chat:\n  messages:\n"
        + "".join(
            '  - {role: user, content: "{{ text }}{% for a in range('
            + str(5000 + n)
            + ") %}{{ 'x' * 900 }}{% endfor %}\"}\n"
            for n in range(30)
        )
        + "  answers: {agree: ['yes'], disagree: ['no']}\n",
        "mine.yaml",
    ),
    *(
        special(f"pipe as {name}", f"{AGREEMENT}{name}", pipe(name), name, "pipe")
        for name in ("x.csv", "x.json", "x.jsonl", "x.yaml", "x.parquet")
    ),
    special("pipe as a prompt file", f"{AGREEMENT}items.csv --prompt x.yaml", pipe("x.yaml"), "x.yaml", "pipe"),
    special("pipe as a models file", f"{AGREEMENT}items.csv --models x.yaml", pipe("x.yaml"), "x.yaml", "pipe"),
    special("pipe as a plan", "inference run x.toml", pipe("x.toml"), "x.toml", "pipe"),
    special("device without end as CSV", f"{AGREEMENT}x.csv", link("x.csv", "/dev/zero"), "x.csv", "device"),
    special("device without end as YAML", f"{AGREEMENT}x.yaml", link("x.yaml", "/dev/zero"), "x.yaml", "device"),
    special(
        "device without end as JSON lines", f"{AGREEMENT}x.jsonl", link("x.jsonl", "/dev/zero"), "x.jsonl", "device"
    ),
    special(
        "device without end as a prompt", f"{AGREEMENT}items.csv --prompt /dev/zero", pipe("p"), "/dev/zero", "device"
    ),
    special(
        "device without end as models", f"{AGREEMENT}items.csv --models /dev/zero", pipe("p"), "/dev/zero", "device"
    ),
    special("link to itself", f"{AGREEMENT}x.csv", link("x.csv", "x.csv"), "x.csv"),
    special("socket as CSV", f"{AGREEMENT}x.csv", _socket, "x.csv", "socket"),
    special("folder as CSV", f"{AGREEMENT}x.csv", _folder, "x.csv", "folder"),
    special("folder as a prompt", f"{AGREEMENT}demo --prompt x.csv", _folder, "x.csv", "folder"),
    special("CSV of one endless line", f"{AGREEMENT}x.csv", sparse("x.csv", 10**10), "x.csv", "line 1"),
    special("JSON lines of one endless line", f"{AGREEMENT}x.jsonl", sparse("x.jsonl", 10**10), "x.jsonl", "line 1"),
    special("YAML of gigabytes", f"{AGREEMENT}x.yaml", sparse("x.yaml", 10**10), "x.yaml", "larger"),
    special("plan of gigabytes", "inference run x.toml", sparse("x.toml", 10**10), "x.toml", "larger"),
]
COLUMNS = ",".join(f"attributes.c{number}" for number in range(100_000))
KEYS = ",".join(f'"k{number}": 1' for number in [*range(100_000), 99_999])
CASES += [
    Case("a hundred thousand columns, and no row", f"{AGREEMENT}x.csv", ("x.csv", "no rows"),
         {"x.csv": f"item,text,{COLUMNS}\n"}),
    Case("a hundred thousand columns, the last twice", f"{AGREEMENT}x.csv", ("x.csv", "c99999", "twice"),
         {"x.csv": f"item,text,{COLUMNS},attributes.c99999\n"}),
    Case("a hundred thousand keys, the last twice", f"{AGREEMENT}x.json", ("x.json", "k99999", "twice"),
         {"x.json": f"[{{{KEYS}}}]"}),
]  # fmt: skip
