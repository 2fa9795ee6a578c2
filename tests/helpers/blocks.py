"""The indented blocks of the pages: which are commands, in which language, and what a mark says that they need."""

from __future__ import annotations

import ast
import re
import shlex
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "results" / "demo"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
"""What becomes a page of the site, apart from lists without commands."""
NEEDS = ("a GPU", "a server", "a network", "the hub", "files of yours")
"""What a command may need beyond a checkout and its demo. "files of yours" are tables, logs and model folders."""

RUNS = {
    "runs/pilot": "agreement", "runs/released": "choice", "runs/wording": "wording", "runs/choice": "choice",
    "runs/battery": "scale", "runs/scores": "scored", "runs/thinking": "thinking", "runs/first": "agreement",
}  # fmt: skip
"""What the reader is supposed to have asked -> the study of the demo that stands for it."""

BLOCK = re.compile(r"(?<=\n\n)(?: {4,}\S.*\n|\n(?= {4}))+")
MARK = re.compile(r"# needs (.+?)(?=[;:]|$)", re.MULTILINE)
PROGRAMS = {
    "chromium", "cp", "docker", "eval", "export", "for", "git", "inspect", "jupyter", "lm_eval", "make", "papermill",
    "pip", "python", "python3", "source", "waver",
}  # fmt: skip


@dataclass(frozen=True)
class Block:
    """A block of a page."""

    page: str
    line: int
    text: str

    @property
    def language(self) -> str:
        """Say "shell", "python", or "" for what is no command: tables, settings, what a command printed."""
        words = next((line.split() for line in self.text.splitlines() if not line.startswith("#")), [""])
        if words[0].rpartition("/")[2] in PROGRAMS:
            return "shell"
        try:
            nodes = list(ast.walk(ast.parse(self.text)))
        except SyntaxError:
            return ""
        return "python" if any(isinstance(node, ast.Import | ast.ImportFrom | ast.Call) for node in nodes) else ""

    @property
    def needs(self) -> list[str]:
        """List what its marks say, `# needs the hub and a GPU`: each holds for the whole block."""
        return sorted({need for mark in MARK.findall(self.text) for need in mark.strip().split(" and ")})

    def list_commands(self) -> list[list[str]]:
        """List the words of every command of a shell block, without comments."""
        lines = re.sub(r"\\\n\s*", "", self.text).splitlines()
        return [words for line in lines if (words := shlex.split(line, comments=True))]


def list_blocks(path: Path) -> Iterator[Block]:
    """List the indented blocks of a page."""
    text = path.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield Block(path.relative_to(ROOT).as_posix(), line, textwrap.dedent(match[0]).rstrip("\n"))


def list_command_blocks() -> list[Block]:
    """List the blocks of all pages that are commands."""
    return [block for path in PAGES for block in list_blocks(path) if block.language]
