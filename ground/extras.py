"""Say in one line which extra of Waver holds a package that is not installed, and the command that installs it."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from ground.errors import InputError

NAME = "waver-lm"  # of the distribution
EXTRAS: dict[str, str | tuple[str, ...]] = {
    "accelerate": "tuning",
    "bs4": "notebooks",
    "datasets": "datasets",
    "fugashi": ("japanese", "features"),
    "ipykernel": "notebooks",
    "jupyter_client": "notebooks",
    "mlcroissant": "croissant",
    "nbclient": "notebooks",
    "nbconvert": "notebooks",
    "nbformat": "notebooks",
    "openai": "api",
    "openpyxl": "excel",
    "papermill": "notebooks",
    "peft": "tuning",
    "pymer4": "statistics",
    "ray": "ray",
    "rpy2": "statistics",
    "safetensors": "models",
    "sentence_transformers": "meaning",
    "spacy": "features",
    "tokenizers": "models",
    "torch": "models",
    "transformers": "models",
    "trl": "tuning",
    "unidic_lite": ("japanese", "features"),
    "vaderSentiment": "features",
    "vllm": "vllm",
    "wordfreq": "features",
    "zstandard": "logs",
}
"""Module -> the extra (pyproject.toml) that installs it; of several, the one that most commands need it from first."""


@contextmanager
def needed(what: str, preferred: str = "") -> Iterator[None]:
    """Refuse, in one line that begins with `what`, where a module that the block imports is an extra's and not there.

    Parameters
    ----------
    what
        What needs the module.
    preferred
        The extra to name where several install the module.

    Raises
    ------
    InputError
        With the command that installs the extra.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        module = str(error.name).partition(".")[0]
        if module not in EXTRAS:
            raise
        extra = choose_extra(module, preferred)
        raise InputError(f"{what} needs the package {module}: {install(extra)}") from None


def choose_extra(module: str, preferred: str = "") -> str:
    """Choose an extra that installs a module of `EXTRAS`: the preferred one, if that does.

    >>> choose_extra("fugashi"), choose_extra("fugashi", "features"), choose_extra("openai", "features")
    ('japanese', 'features', 'api')
    """
    extras = EXTRAS[module]
    if isinstance(extras, str):
        return extras
    return preferred if preferred in extras else extras[0]


def require(what: str, *modules: str) -> None:
    """Refuse as `needed` does, before anything is done: the modules are looked up, not imported."""
    with needed(what):
        for module in modules:
            if find_spec(module) is None:
                raise ModuleNotFoundError(name=module)


def install(*extras: str) -> str:
    """Return the command that installs extras of this very copy: of its checkout, else of what pip installed.

    >>> install("models")  # doctest: +SKIP
    "pip install -e 'FOLDER[models]'"
    """
    checkout, names = Path(__file__).resolve().parents[1], f"[{','.join(extras)}]"
    if (checkout / "pyproject.toml").is_file():
        return f"pip install -e {_quoted(f'{checkout}{names}')}"
    # Pip notes what it installed if that was no name on an index (PEP 610).
    noted = json.loads(_noted() or "{}")
    address = noted.get("url", "")
    place = Path(url2pathname(urlsplit(address).path))
    if "vcs_info" in noted:
        source = f"{NAME}{names} @ {noted['vcs_info']['vcs']}+{address}"
    elif address.startswith("file:") and place.exists():
        source = f"{place}{names}"
    else:
        source = f"{NAME}{names}"
    return f"pip install {_quoted(source)}"


def _noted() -> str | None:
    try:
        return metadata.distribution(NAME).read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return None


def _quoted(word: str) -> str:
    """Quote a word for the shell: cmd.exe knows double quotes only."""
    return f'"{word}"' if os.name == "nt" else shlex.quote(word)
