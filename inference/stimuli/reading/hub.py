"""Read items from a Hugging Face data set: by its id, or from a local folder."""

from __future__ import annotations

import logging
from typing import Any

from ground.errors import InputError
from ground.extras import convert_import_errors_to_install_advice
from inference.stimuli.reading.files import expand_user_path, require_storable_value
from inference.stimuli.reading.records import Record


def read_hugging_face_dataset(source: str) -> list[Record]:
    """Read the rows of one split of a data set, each with its place.

    Parameters
    ----------
    source
        `ID` or `FOLDER`, and after it `#SPLIT` if the data set has several splits.

    Raises
    ------
    InputError
        If there is no such data set, it cannot be reached or read, or a split must be chosen.
    """
    name, _, split = source.partition("#")
    if not name.strip():
        raise InputError(f"{source}: there is no name before the '#'; write ID#SPLIT or FOLDER#SPLIT")
    data = _load_dataset(name)
    if isinstance(data, dict):  # DatasetDict
        if not split and len(data) > 1:
            raise InputError(f"{name}: choose one of the splits {', '.join(data)}, as {name}#{next(iter(data))}")
        split = split or next(iter(data))
        if split not in data:
            raise InputError(f"{name}: there is no split '{split}', only {', '.join(data)}")
        data = data[split]
    elif split:
        raise InputError(f"{name}: has no splits; leave out '#{split}'")
    if not len(data):
        raise InputError(f"{source}: there are no rows in it")
    try:
        return [
            (f"row {number}", require_storable_value(f"row {number}", dict(row)))
            for number, row in enumerate(data, start=1)
        ]
    except (ValueError, OverflowError) as error:
        raise InputError(f"{source}: a value is out of range ({error})") from None


def _load_dataset(name: str) -> Any:
    """Load a Hugging Face data set from a folder or the hub, with all its splits."""
    folder = expand_user_path(name)
    if not folder.is_dir() and (name.startswith((".", "/", "~")) or name.count("/") > 1):
        raise InputError(f"{name}: no such file or folder")
    if (folder / "run.json").is_file():
        raise InputError(f"{name}: this is a run folder; name the items that were asked in it, or a data set")
    with convert_import_errors_to_install_advice(f"{name}: reading a data set"):
        import datasets
    # The libraries announce every retry in a line, and tables that differ in many; the error below is enough.
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    logging.getLogger("datasets").setLevel(logging.CRITICAL)
    try:
        if (folder / "state.json").is_file() or (folder / "dataset_dict.json").is_file():
            return datasets.load_from_disk(str(folder))
        return datasets.load_dataset(str(folder) if folder.is_dir() else name)
    except Exception as error:  # the library raises dozens of kinds for "not there", "not reachable", "not readable"
        reason = (str(error).strip().splitlines() or [""])[0][:200]
        where = "a readable data set" if folder.is_dir() else "a file, a folder or a data set that can be reached"
        raise InputError(f"{name}: not {where} ({type(error).__name__}: {reason})") from error
