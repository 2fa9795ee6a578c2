"""Find the protocols: each says what is asked about items, and how.

A protocol is a folder here, a package. Its `__init__.py` has

- a docstring, whose first line is what the command line says about the protocol,
- `NAME`, which is the name of the folder,
- `KINDS`, the kinds of models that it has questions for: some of "causal", "masked" and "classifier",
- `add_arguments(parser)`, which defines its part of the command line,
- `prepare_study(options)`, which makes the study and its questions (`stimuli.study.Study`, `asking.rounds.Questions`).

What else only it needs stands in the folder, too: making its items, tuning for it, importing a format of its own. Such
a command is a file that is found by scanning: `command.py` or `command_WHAT.py`, as `ground.commands` says.

Its prompts are a YAML file in the folder, read with `PromptBook` and the protocol's own `Fields` (`stimuli.templates`).
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
from pathlib import Path
from types import ModuleType


def list_protocols() -> tuple[str, ...]:
    """List the protocols in alphabetical order: the folders here that are packages."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg))


def read_protocol_summary(name: str) -> str:
    """Read what a protocol asks: the first line of its docstring, without the full stop.

    The file is parsed, not imported: importing all protocols would make `--help` slow.
    """
    source = (Path(__path__[0]) / name / "__init__.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0].removesuffix(".")


def load_protocol(name: str) -> ModuleType:
    """Import the module of a protocol, one of `list_protocols()`."""
    return importlib.import_module(f"{__name__}.{name}")
