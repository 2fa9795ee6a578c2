"""Read whole files: text, YAML, JSON, TOML. Whatever is wrong with one is one line that names the file and the line.

A file is data of strangers: it may be a pipe that never ends, a few lines of YAML that stand for gigabytes, lists
within lists by the thousand, or hold half a character. All of that is refused here, so that no other module meets it.
"""

from __future__ import annotations

import json
import re
import reprlib
import stat
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import yaml

from ground.errors import InputError, escape_control_characters, shorten_text
from ground.writing import is_reserved_by_windows

LARGEST = 200_000_000
"""Bytes of a file that is read as a whole; what is longer can be given line by line (JSON lines, CSV) or as Parquet."""
LARGEST_YAML = 20_000_000
"""Bytes of a YAML file: its reader takes half a minute for these."""
LONGEST = 10_000_000
"""Characters of a line or a cell."""
MOST_REPEATED = 100
"""How many times as many entries as it has a YAML file may stand for, with aliases (`*name`)."""
MOST_NAME_BYTES = 255
"""Bytes of a name: what a file system takes."""
MOST_DIGITS = 4_000
_INVISIBLE = {"Zs", "Zl", "Zp", "Cc", "Cf"}  # of Unicode: spaces, separators, controls, marks of format
# Letters and marks that are blank all the same: the Braille pattern without dots, fillers of Hangul, marks that choose
# among forms of a letter.
_BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
_KINDS = {stat.S_ISDIR: "a folder", stat.S_ISFIFO: "a pipe", stat.S_ISSOCK: "a socket"}

_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = 60
_short.maxlevel = 3


def shorten_value(value: Any) -> str:
    """Write a wrong value so that it fits into a one-line message, however large it is."""
    return "nothing" if value is None else _short.repr(value)


def expand_user_path(name: str) -> Path:
    """Find the path that a user names; it need not exist.

    Raises
    ------
    InputError
        No file can have this name, or it cannot be looked up.
    """
    if not name.strip():  # Path("") is the working folder
        raise InputError(f"{name!r}: a name of a file or folder is empty; give one")
    try:
        path = Path(name).expanduser()
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return path
    except OSError as error:
        raise InputError(f"{shorten_text(name)}: cannot be read ({error.strerror or error})") from None
    except (ValueError, RuntimeError) as error:  # a NUL, half a character; "~nobody"
        raise InputError(f"{shorten_text(name)}: cannot be the name of a file ({error})") from None
    return path


def refuse_pipe_or_device(path: Path) -> None:
    """Refuse what is no ordinary file: a pipe or a device may never end.

    Raises
    ------
    InputError
        It is a folder, a pipe or a device.
    OSError
        It cannot be looked up.
    """
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode):
        kind = next((kind for is_one, kind in _KINDS.items() if is_one(mode)), "a device")
        raise InputError(f"{path}: cannot be read (it is {kind}, not a file; save its content in a file)")


def read_text_file(path: Path, most_bytes: int = LARGEST) -> str:
    """Read a UTF-8 file as text, without a byte order mark.

    Parameters
    ----------
    path
        The file.
    most_bytes
        A file of more bytes is refused.

    Returns
    -------
    The text.

    Raises
    ------
    InputError
        It cannot be read, is too large or is not UTF-8; the line is named.
    """
    try:
        refuse_pipe_or_device(path)
        if path.stat().st_size > most_bytes:
            raise InputError(f"{path}: larger than {most_bytes / 1e6:.0f} MB; give it as CSV, JSON lines or Parquet")
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    except ValueError as error:
        raise InputError(f"{shorten_text(str(path))}: cannot be the name of a file ({error})") from None
    how = "save it as UTF-8" + (" (in Excel: Save As, CSV UTF-8)" if path.suffix.lower() in (".csv", ".tsv") else "")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{path}: this is UTF-16; {how}")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {line}: not UTF-8 (byte {error.start}); {how}") from None


def read_checked_lines(path: Path, file: TextIO) -> Iterator[str]:
    """Go through the lines of an open file.

    Parameters
    ----------
    path
        Its name, for messages.
    file
        The file.

    Yields
    ------
    Lines with their ends.

    Raises
    ------
    InputError
        A line has a NUL, or more than `LONGEST` characters.
    """
    for number, line in enumerate(iter(partial(file.readline, LONGEST + 1), ""), start=1):
        if len(line) > LONGEST:
            raise InputError(f"{path}, line {number}: more than {LONGEST:,} characters; break it into rows")
        if "\0" in line:
            raise InputError(f"{path}, line {number}: there is a NUL character; take it out")
        yield line


def read_yaml(path: Path) -> Any:
    """Read a YAML file as plain data; tags that would run code are refused.

    Raises
    ------
    InputError
        It cannot be read or is malformed; a key is there twice; a number is written as no other program would read it;
        aliases stand for very many entries. The line is named where known.
    """
    text = read_text_file(path, LARGEST_YAML)
    try:
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
            if node is None:
                return None
            _refuse_repeated_keys_and_huge_aliases(node)
            content = loader.construct_document(node)
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        # What is open at the end of the file is a problem of the line after it.
        line = f", line {min(mark.line + 1, len(text.splitlines()))}" if mark else ""
        problem = getattr(error, "problem", None) or str(error)
        raise InputError(f"{path}{line}: malformed YAML ({_YAML_PROBLEMS.get(problem, problem)})") from None
    except RecursionError:
        raise InputError(f"{path}: the YAML is nested too deeply") from None
    for number, entry in enumerate(content if isinstance(content, list) else (), start=1):
        require_storable_value(f"{path}, entry {number}", entry)
    return require_storable_value(str(path), content)


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises
    ------
    InputError
        It cannot be read or is malformed.
    """
    try:
        return require_storable_value(str(path), tomllib.loads(read_text_file(path)))
    except RecursionError:
        raise InputError(f"{path}: the TOML is nested too deeply") from None
    except ValueError as error:  # TOMLDecodeError, a number of thousands of digits, a date that does not exist
        raise InputError(f"{path}: malformed TOML ({error})") from None


def parse_json(path: Path, text: str, first_line: int = 1) -> Any:
    """Read JSON, which begins in a line of a file.

    Parameters
    ----------
    path
        The file, for messages.
    text
        The JSON.
    first_line
        Number of the line in which it begins.

    Returns
    -------
    What it holds.

    Raises
    ------
    InputError
        It is malformed or nested too deeply, or an object has a key twice.
    """
    try:
        content = json.loads(text, object_pairs_hook=_build_object_without_repeats)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}, line {first_line + error.lineno - 1}: malformed JSON ({error.msg})") from None
    except ValueError as error:  # a number of thousands of digits, a key that is there twice
        raise InputError(f"{path}, line {first_line}: malformed JSON ({error})") from None
    except RecursionError:
        raise InputError(f"{path}, line {first_line}: the JSON is nested too deeply") from None
    return content


def require_storable_value(where: str, value: Any) -> Any:
    r"""Give a value back, if all texts in it can be stored and all numbers written.

    Parameters
    ----------
    where
        File and place, for messages.
    value
        What JSON or YAML hold.

    Returns
    -------
    The same value.

    Raises
    ------
    InputError
        There is half a surrogate pair (`\ud83d` alone in JSON): it is no character and cannot be stored as UTF-8; a
        NUL, at which many programs end a text; or a number of thousands of digits.
    """
    stack = [value]
    while stack:
        entry = stack.pop()
        if isinstance(entry, str):
            _refuse_unstorable_text(where, entry)
        elif isinstance(entry, int) and entry.bit_length() > 3.3 * MOST_DIGITS:
            raise InputError(f"{where}: there is a number of more than {MOST_DIGITS:,} digits")
        elif isinstance(entry, dict):
            stack.extend(entry)
            stack.extend(entry.values())
        elif isinstance(entry, list | tuple | set):
            stack.extend(entry)
    return value


def is_invisible_text(text: str) -> bool:
    r"""Tell whether a text has no character that shows: it is empty, or of blanks, controls and marks without a width.

    >>> is_invisible_text(" \u200b\u00a0\n"), is_invisible_text("\u200ba")
    (True, False)
    """
    return all(unicodedata.category(character) in _INVISIBLE or _BLANK.match(character) for character in text)


def refuse_unprintable_name(where: str, name: str) -> None:
    """Refuse a name with a line break, an escape or another control, or with nothing that shows: it stands in a line.

    Parameters
    ----------
    where
        Field, for messages.
    name
        The name.

    Raises
    ------
    InputError
        There is such a character, which is named.
    """
    if is_invisible_text(name):
        raise InputError(f"{where}: there is nothing that shows in {shorten_value(name)}; give a name")
    if escape_control_characters(name) != name:
        raise InputError(f"{where}: there is a line break or control character in {shorten_value(name)}; take it out")


def require_portable_file_name(where: str, name: str) -> str:
    """Give a name back, if a file system and every reader take it.

    Parameters
    ----------
    where
        Option or field, for messages.
    name
        The name.

    Returns
    -------
    The same name.

    Raises
    ------
    InputError
        It is empty, too long, one that Windows keeps for itself, or has a character that cannot be stored or shown.
    """
    require_storable_value(where, name)
    if is_invisible_text(name):
        raise InputError(f"{where}: the name is empty; give one")
    refuse_unprintable_name(where, name)
    if len(name.encode()) > MOST_NAME_BYTES:
        raise InputError(
            f"{where}: '{shorten_text(name)}' is too long for a name; give one of at most {MOST_NAME_BYTES} bytes"
        )
    if is_reserved_by_windows(name):
        raise InputError(f"{where}: Windows cannot open a file called {shorten_text(name)}; give another name")
    return name


def is_missing_or_infinite_number_text(text: str) -> bool:
    """Tell whether a text is what programs write for a missing or infinite number: it is no id."""
    return re.fullmatch(r"[+-]?(nan|inf|infinity)", text.strip(), re.IGNORECASE) is not None


def _refuse_unstorable_text(where: str, text: str) -> None:
    """Refuse a text that no file can store: with a NUL, or with half of a surrogate pair."""
    if "\0" in text:
        raise InputError(f"{where}: there is a NUL character in {shorten_value(text)}; take it out")
    if text.isascii():
        return
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(f"{where}: broken character {text[error.start]!r} (half of a surrogate pair)") from None


def _build_object_without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a dict of the pairs of a JSON object; refuse a key that is there twice."""
    content = dict(pairs)
    if len(content) < len(pairs):
        (twice, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"the key '{shorten_text(twice)}' is there twice")
    return content


class _Loader(yaml.CSafeLoader):
    """Plain data only; what a tag or a number does not fit is an error with its line."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Construct a value; name the line where it does not fit its tag."""
        try:
            return super().construct_object(node, deep)
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError):
            kind = node.tag.rpartition(":")[2]
            raise _build_yaml_library_error_at_node(
                f"{shorten_value(node.value)} is no {kind}; put a text into quotes", node
            ) from None

    def construct_yaml_int(self, node: yaml.Node) -> int:
        """Read a whole number; in YAML `010` is 8, `1:30` is 90 and `1_0` is 10, as nobody expects."""
        if not re.fullmatch(r"[+-]?(0|[1-9][0-9]*)", node.value, re.ASCII):
            raise _build_yaml_library_error_at_node(
                f"{shorten_value(node.value)} is written in a way that is easily misread; {_ADVICE}", node
            )
        return int(node.value)

    def construct_yaml_float(self, node: yaml.Node) -> float:
        """Read a number; refuse `1_0.5` and `1:30.5`, which YAML reads as nobody expects."""
        if re.search("[_:]", node.value):
            raise _build_yaml_library_error_at_node(
                f"{shorten_value(node.value)} is written in a way that is easily misread; {_ADVICE}", node
            )
        return float(super().construct_yaml_float(node))


_YAML_PROBLEMS = {  # as the library says them: in our words
    "exceeded maximum nesting depth": "nested too deeply",
    "found invalid Unicode character escape code": (
        r"an escape is no character, but half of a surrogate pair or too large: write the character itself, "
        r"or \U0001f600, not \ud83d\ude00"
    ),
}
_ADVICE = "write a number in plain digits, or put a text into quotes"
_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)
_Loader.add_constructor("tag:yaml.org,2002:float", _Loader.construct_yaml_float)
_Loader.yaml_implicit_resolvers = {  # as in YAML 1.2: "yes", "no", "on" and "off" are texts
    first: [(tag, pattern) for tag, pattern in resolvers if first in "tTfF" or not tag.endswith(":bool")]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def _build_yaml_library_error_at_node(problem: str, node: yaml.Node) -> yaml.YAMLError:
    """Build YAML's error for a problem, with the line of the node."""
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


def _refuse_repeated_keys_and_huge_aliases(root: yaml.Node) -> None:
    """Refuse a key that a mapping has twice, and aliases that stand for very many entries or for themselves."""
    sizes: dict[int, int] = {}

    def count_entries(node: yaml.Node) -> int:
        entry_count = sizes.get(id(node))
        if entry_count == 0:  # begun, but not counted
            raise _build_yaml_library_error_at_node("an alias stands for a list or mapping that holds it", node)
        if entry_count is None:
            sizes[id(node)] = 0
            if isinstance(node, yaml.MappingNode):
                _refuse_repeated_yaml_keys(node)
                entry_count = 1 + sum(count_entries(key) + count_entries(value) for key, value in node.value)
            else:
                entry_count = 1 + (sum(map(count_entries, node.value)) if isinstance(node, yaml.SequenceNode) else 0)
            sizes[id(node)] = entry_count
        return entry_count

    if count_entries(root) > MOST_REPEATED * len(sizes):
        raise _build_yaml_library_error_at_node(
            f"its aliases stand for more than {MOST_REPEATED} times what it holds; write it out", root
        )


def _refuse_repeated_yaml_keys(node: yaml.MappingNode) -> None:
    """Refuse a key that a mapping has twice."""
    known_keys: set[tuple[str, str]] = set()
    for key, _ in node.value:
        if isinstance(key, yaml.ScalarNode):
            if (key.tag, key.value) in known_keys:
                raise _build_yaml_library_error_at_node(f"the key {shorten_value(key.value)} is there twice", key)
            known_keys.add((key.tag, key.value))
