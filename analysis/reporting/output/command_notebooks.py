"""Run `waver notebooks`: copy the notebooks into a folder of the user's, to be read and changed there."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from ground.errors import InputError
from ground.parser import parse_path
from ground.shipped import find_shipped_folder

COMMAND = "notebooks"
HELP = "copy the notebooks into a folder, to change them there"
DESCRIPTION = "Copy the notebooks that ship with Waver. A report runs its own ones, and is not changed by yours."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.epilog = "example: waver notebooks mine && jupyter lab mine"
    parser.add_argument(
        "folder",
        metavar="DIR",
        type=parse_path,
        help="folder to write to; made if it does not exist; no file is replaced",
    )


def main(options: argparse.Namespace) -> int:
    """Copy them, and print how many."""
    notebooks = copy_notebooks(options.folder)
    print(f"{options.folder}: {len(notebooks)} notebooks; open them with: jupyter lab {options.folder}")
    return 0


def copy_notebooks(folder: Path) -> list[Path]:
    """Copy all notebooks that ship with Waver.

    The folder is made if it does not exist. Returns the copies, in alphabetical order.

    Raises
    ------
    InputError
        If the folder has a file of the name of a notebook, or is a file itself: nothing is copied then.
    """
    notebooks = sorted(find_shipped_folder("notebooks").glob("*.ipynb"))
    copies = [folder / notebook.name for notebook in notebooks]
    for copy in copies:
        if copy.exists():
            raise InputError(f"{copy} is there already: name another folder, or move it away")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file, not a folder: name a folder")
    folder.mkdir(parents=True, exist_ok=True)
    for notebook, copy in zip(notebooks, copies, strict=True):
        shutil.copyfile(notebook, copy)
    return copies
