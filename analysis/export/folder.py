"""Write the folder of an export: whole or not at all, with the list of what belongs to it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ground.errors import InputError, shorten_to_one_line
from ground.writing import write_folder_atomically

MARK = "export.json"
"""Says that a folder is an export, of which runs, and which files belong to it."""


def write_export_folder(out: Path, fill: Callable[[Path], Mapping[str, Any]]) -> dict[str, Any]:
    """Write the folder of an export; an earlier export there is replaced.

    Parameters
    ----------
    out
        The folder.
    fill
        Writes the files into the folder that it is given, and returns what `export.json` says about them.

    Returns
    -------
    dict
        The content of `export.json`.

    Raises
    ------
    InputError
        For a file of that name, and a folder that holds anything that is not of an earlier export.
    """
    place = out.resolve()
    refuse_unreplaceable_export_folder(out)
    noted: dict[str, Any] = {}

    def fill_folder_and_write_export_json(aside: Path) -> None:
        noted.update(fill(aside))
        noted["files"] = sorted(_list_files_below(aside))
        text = json.dumps(noted, indent=1, ensure_ascii=False) + "\n"
        (aside / MARK).write_text(text, encoding="utf-8")

    write_folder_atomically(place, fill_folder_and_write_export_json)
    return noted


def refuse_unreplaceable_export_folder(out: Path) -> None:
    """Refuse a folder that an export must not replace; errors as in `write_export_folder`."""
    for folder in (out, *out.parents):
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{folder} is a file; --out needs a folder")
    if not out.is_dir() or not any(out.iterdir()):
        return
    if not (out / MARK).is_file():
        raise InputError(f"{out}: holds other files and no export; give --out a new or empty folder")
    try:
        listed_files = json.loads((out / MARK).read_text(encoding="utf-8"))["files"]
        own_files = {MARK, *listed_files}
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"{out}: {MARK} is not one that an export wrote; give --out a new folder") from error
    other_files = sorted(_list_files_below(out) - own_files)
    if other_files:
        raise InputError(
            f"{out}: {shorten_to_one_line(other_files[0])} is not of the export that is there; move it, or give --out "
            "a new folder"
        )


def _list_files_below(folder: Path) -> set[str]:
    """List the files in a folder and below, as export.json has them; links are not followed."""
    return {
        Path(above, name).relative_to(folder).as_posix() for above, _, names in os.walk(folder) for name in names
    }  # fmt: skip
