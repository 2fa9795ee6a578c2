"""Read the files of Inspect's logs: the header, and the samples one after the other.

A ``.eval`` log is a zip archive with ``header.json`` and ``samples/ID_epoch_N.json``; one that was not finished has no
header yet, but ``_journal/start.json``. A ``.json`` log is one object that also has the samples.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ground.errors import InputError, shorten_text
from inference.importers.inspect.zip_members import Archive
from inference.importers.shared import json_log
from inference.importers.shared.json_log import get_nested_object_or_empty, parse_list_field
from inference.stimuli.reading.files import parse_json


def read_inspect_header(path: Path) -> Any:
    """Read the header of a log; that of a .json log has its samples, too.

    Raises
    ------
    InputError
        It cannot be read, is too large or damaged.
    """
    if _has_eval_suffix(path):
        return _read_zipped_header(path, Archive(path))
    return json_log.read_json_log(path, "write it as .eval (`inspect log convert --to eval`)")


def iterate_places_and_samples_of_inspect_log(path: Path) -> Iterator[tuple[str, Any]]:
    """Go through the samples of a log, each with its place, in the order of the data set where the log says it.

    Raises
    ------
    InputError
        One cannot be read, is too large or damaged.
    """
    if _has_eval_suffix(path):
        yield from _iterate_members_and_samples_of_zip(path)
        return
    for place, sample in enumerate(parse_list_field(str(path), read_inspect_header(path), "samples"), start=1):
        yield f"sample {place}", sample


def _has_eval_suffix(path: Path) -> bool:
    """Tell by its suffix whether a log is a zip archive."""
    return path.suffix.lower() == ".eval"


def _read_zipped_header(path: Path, archive: Archive) -> Any:
    """Read the header of an .eval log; of one that was not finished, its journal's start."""
    for name in ("header.json", "_journal/start.json"):
        if name in archive.names:
            return parse_json(Path(f"{path}, {name}"), _read_member_text(path, name, archive))
    raise InputError(f"{path}: no log of Inspect: neither header.json nor _journal/start.json is in it")


def _iterate_members_and_samples_of_zip(path: Path) -> Iterator[tuple[str, Any]]:
    """Go through the samples of an .eval log, each with the name of its member."""
    archive = Archive(path)
    names = [name for name in archive.names if name.startswith("samples/") and name.endswith(".json")]
    sample_ids = get_nested_object_or_empty(_read_zipped_header(path, archive), "eval", "dataset").get("sample_ids")
    # Members are written as answers come in, so two logs of one data set have them in other orders.
    places = {str(name): place for place, name in enumerate(sample_ids if isinstance(sample_ids, list) else ())}
    for name in sorted(names, key=lambda name: places.get(_find_sample_id(name), len(places))):
        yield name, parse_json(Path(f"{path}, {name}"), _read_member_text(path, name, archive))


def _find_sample_id(name: str) -> str:
    """Find the id of a sample in the name of its member.

    >>> _find_sample_id("samples/tea_2_epoch_1.json")
    'tea_2'
    """
    return name.removeprefix("samples/").rpartition("_epoch_")[0]


def _read_member_text(path: Path, name: str, archive: Archive) -> str:
    """Read a member of an archive as text; refuse one that is not UTF-8."""
    try:
        return archive.read_member(name).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}, {shorten_text(name)}: not UTF-8 (byte {error.start}); copy the file again") from None
