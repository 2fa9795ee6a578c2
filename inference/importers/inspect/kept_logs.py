"""Keep what was read of many logs until the import is whole, so that a call that was stopped goes on where it was.

Samples are kept without what no importer reads, their events above all, which are most of a log. A log is known again
by its content. What is kept stands beside the run folder, in `RUN.reading`, and goes when the import has ended, or was
refused; what else somebody has in a folder of this name stays.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from ground.errors import InputError, format_quantity
from ground.writing import (
    list_missing_folder_and_parents,
    remove_abandoned_temporary_files,
    remove_empty_folders,
    write_atomically,
)
from inference.importers.shared.json_log import get_nested_object_or_empty

_UNREAD = frozenset(
    ("events", "events_data", "store", "timelines", "model_usage", "role_usage", "sandbox", "files", "setup")
)
_KEPT = re.compile(r"[0-9a-f]{64}\.jsonl")  # a file of ours, by the digest of its log
_ASIDE = re.compile(rf"\.(?P<kept>{_KEPT.pattern})\.\d+")  # one that a killed process left half written


class KeptLogs:
    """The folder of kept logs; a context manager that removes it, unless the user or the machine stops the command.

    Of a single log, nothing is kept.
    """

    def __init__(self, out: str, n_logs: int) -> None:
        path = Path(out)
        self.folder = path.with_name(f"{path.name}.reading") if n_logs > 1 and path.name else None

    def __enter__(self) -> KeptLogs:
        if self.folder is not None:
            self._new_folders = list_missing_folder_and_parents(self.folder)
            self.folder.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if self.folder is None:
            return
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            n_kept = sum(_KEPT.fullmatch(file.name) is not None for file in self.folder.iterdir())
            logs = format_quantity(n_kept, "log")
            print(f"{self.folder}: what was read of {logs}; the same call goes on from there", file=sys.stderr)
            return
        self._remove_cached_logs(self.folder)
        remove_empty_folders([self.folder] if kind is None else [self.folder, *self._new_folders])

    def _remove_cached_logs(self, folder: Path) -> None:
        """Remove the files of this module, and no other ones."""
        with contextlib.suppress(OSError):
            for file in folder.iterdir():
                if _KEPT.fullmatch(file.name):
                    file.unlink(missing_ok=True)
                elif aside := _ASIDE.fullmatch(file.name):
                    remove_abandoned_temporary_files(folder / aside["kept"])

    def build_cache_path_of_log(self, log: Path) -> Path | None:
        """Return where a log is kept, or is to be; None: nothing is kept, or the log cannot be read."""
        if self.folder is None:
            return None
        try:
            with log.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            return None
        return self.folder / f"{digest}.jsonl"


def write_log_into_cache(file: Path, header: Any, samples: Iterator[tuple[str, Any]]) -> None:
    """Keep a log.

    Parameters
    ----------
    file
        Where.
    header
        What the log holds; its samples and statistics are not kept from here.
    samples
        Its samples with their places.

    Raises
    ------
    InputError
        A sample is damaged; nothing is kept then.
    """

    def write_lines(aside: Path) -> None:
        with aside.open("w", encoding="utf-8") as lines:
            _write_json_line(lines, {name: value for name, value in header.items() if name not in ("samples", "stats")})
            for place, sample in samples:
                _write_json_line(lines, [place, _drop_unread_fields(sample)])

    file.parent.mkdir(exist_ok=True)  # another import may have ended since, and have removed it
    write_atomically(file, write_lines)


def _write_json_line(lines: TextIO, value: Any) -> None:
    """Write a value as a line of JSON."""
    lines.write(f"{json.dumps(value)}\n")


def _drop_unread_fields(sample: Any) -> Any:
    """Leave out of a sample what is not read: events, messages after the user's first, texts that nothing points to."""
    if not isinstance(sample, dict):
        return sample
    kept = {name: value for name, value in sample.items() if name not in _UNREAD and name != "attachments"}
    messages = kept.get("messages")
    if isinstance(messages, list):
        kept["messages"] = messages[: _count_messages_before_first_user_message(messages) + 1]
    attachments = sample.get("attachments")
    if isinstance(attachments, dict) and attachments:
        text = json.dumps(kept)
        kept["attachments"] = {name: value for name, value in attachments.items() if name in text}
    return kept


def _count_messages_before_first_user_message(messages: list[Any]) -> int:
    """Find the place of the first message of a user that says something; the number of messages where there is none."""
    for place, message in enumerate(messages):
        if isinstance(message, dict) and message.get("role") == "user" and _may_say_something(message.get("content")):
            return place
    return len(messages)


def _may_say_something(content: Any) -> bool:
    """Tell whether the content of a message, a text or a list of parts, holds more than white space and reasoning."""
    parts = content if isinstance(content, list) else [{"text": content or ""}]
    for part in map(get_nested_object_or_empty, parts):
        text = part.get("text")
        if part.get("type") != "reasoning" and (not isinstance(text, str) or text.strip()):
            return True
    return False


def read_header_of_cached_log(file: Path) -> Any | None:
    """Read the header of a kept log; None: it is not kept."""
    with contextlib.suppress(OSError, ValueError), file.open(encoding="utf-8") as lines:
        return json.loads(next(lines, ""))
    return None


def iterate_places_and_samples_of_cached_log(file: Path) -> Iterator[tuple[str, Any]]:
    """Go through the samples of a kept log, each with its place in the log.

    Raises
    ------
    InputError
        Somebody has changed the file.
    """
    with file.open(encoding="utf-8") as lines:
        next(lines, None)
        for line in lines:
            try:
                place, sample = json.loads(line)
            except (ValueError, TypeError):
                raise InputError(f"{file}: not what was written; remove the folder and begin again") from None
            yield place, sample
