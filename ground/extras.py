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

DISTRIBUTION = "waver-lm"  # what pip calls Waver
EXTRA_BY_MODULE: dict[str, str | tuple[str, ...]] = {
    "accelerate": "tuning",
    "bs4": "notebooks",
    "datasets": "datasets",
    "fugashi": ("japanese", "features"),
    "inspect_ai": "inspect",
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
"""Module -> the extra (pyproject.toml) that installs it; where several do, first the one that most commands need."""


@contextmanager
def convert_import_errors_to_install_advice(purpose: str, preferred_extra: str = "") -> Iterator[None]:
    """Refuse in one line, which begins with `purpose`, if the block imports a module of an extra that is not installed.

    Parameters
    ----------
    purpose
        What needs the module.
    preferred_extra
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
        if module not in EXTRA_BY_MODULE:
            raise
        extra = choose_extra_for_module(module, preferred_extra)
        raise InputError(f"{purpose} needs the package {module}: {build_install_command(extra)}") from None


def choose_extra_for_module(module: str, preferred_extra: str = "") -> str:
    """Choose an extra that installs a module.

    Parameters
    ----------
    module
        A module of `EXTRA_BY_MODULE`.
    preferred_extra
        The extra to choose if it is one of several that install the module.

    Returns
    -------
    The name of the extra: the preferred one, else the first that installs the module.

    Examples
    --------
    >>> (choose_extra_for_module("fugashi"),
    ...  choose_extra_for_module("fugashi", "features"),
    ...  choose_extra_for_module("openai", "features"))
    ('japanese', 'features', 'api')
    """
    extras = EXTRA_BY_MODULE[module]
    if isinstance(extras, str):
        return extras
    return preferred_extra if preferred_extra in extras else extras[0]


def refuse_missing_packages(purpose: str, *modules: str) -> None:
    """Refuse as `convert_import_errors_to_install_advice` does, before anything is done.

    The modules are looked up, not imported.

    Parameters
    ----------
    purpose
        What needs the modules: the line begins with that.
    *modules
        Modules of `EXTRA_BY_MODULE`.

    Raises
    ------
    InputError
        With the command that installs the extra of the first module that is not installed.
    """
    with convert_import_errors_to_install_advice(purpose):
        for module in modules:
            if find_spec(module) is None:
                raise ModuleNotFoundError(name=module)


def build_install_command(*extras: str) -> str:
    """Return the command that installs extras of this very copy: of its checkout, else of what pip installed.

    >>> build_install_command("models")  # doctest: +SKIP
    "pip install -e 'FOLDER[models]'"
    """
    checkout, names = Path(__file__).resolve().parents[1], f"[{','.join(extras)}]"
    if (checkout / "pyproject.toml").is_file():
        return f"pip install -e {_quote_shell_word(f'{checkout}{names}')}"
    # Pip notes what it installed if that was no name on an index (PEP 610).
    pip_note = json.loads(_read_pip_direct_url_text() or "{}")
    address = pip_note.get("url", "")
    place = Path(url2pathname(urlsplit(address).path))
    if "vcs_info" in pip_note:
        source = f"{DISTRIBUTION}{names} @ {pip_note['vcs_info']['vcs']}+{address}"
    elif address.startswith("file:") and place.exists():
        source = f"{place}{names}"
    else:
        source = f"{DISTRIBUTION}{names}"
    return f"pip install {_quote_shell_word(source)}"


def _read_pip_direct_url_text() -> str | None:
    """Read what pip noted of where it installed this package from; None where it is not installed."""
    try:
        return metadata.distribution(DISTRIBUTION).read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return None


def _quote_shell_word(word: str) -> str:
    """Quote a word for the shell: cmd.exe knows double quotes only."""
    return f'"{word}"' if os.name == "nt" else shlex.quote(word)
