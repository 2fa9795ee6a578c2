"""Read a file of rules: TOML with a `[[rule]]` for each, and defaults for all of them above."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from analysis.check.grammar import parse_rule_sentence_into_fields
from analysis.check.rules import FAIL, LIKE_THESE, NUMBER, PASS, THESE, Rule, Rules
from analysis.reporting.catalogue.tables import convert_options_to_types_of_defaults, list_table_options
from analysis.runs.reading import read_text
from ground.errors import InputError, format_nearest_name_hint, shorten_to_one_line

MOST_LOOKS = 100_000
DEFAULTS = {"wordings": (THESE, LIKE_THESE), "cannot_tell": (PASS, FAIL)}  # key -> its values, the default first
FILE_KEYS = ("rule", "looks", *DEFAULTS)
RULE_KEYS = ("require", "name", *DEFAULTS, "models", "conditions", "study", "parameters")


def read_rules_file(path: Path) -> Rules:
    """Read a file of rules.

    Parameters
    ----------
    path
        A TOML file.

    Returns
    -------
    Rules
        Its rules, in its order.

    Raises
    ------
    InputError
        The file cannot be read or is malformed; it has a key, table or column that does not exist (the message names
        the nearest), two rules of one name, or a limit that is no number, or none that the number can have.
    """
    content = _read_toml(path)
    _refuse_unknown_keys(str(path), content, FILE_KEYS)
    defaults = {key: _read_allowed_word(str(path), content, key, values[0]) for key, values in DEFAULTS.items()}
    looks = content.get("looks", 1)
    if not isinstance(looks, int) or isinstance(looks, bool) or not 1 <= looks <= MOST_LOOKS:
        raise InputError(
            f"{path}: looks = {_format_value_for_message(looks)} is no whole number from 1 to {MOST_LOOKS:,}: how "
            "often is this check made before the baseline is renewed?"
        )
    entries = content.get("rule", [])
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        raise InputError(f'{path}: has no rule; write [[rule]], and below it require = "stability.flip_10 <= 0.20"')
    rules = tuple(
        _read_rule(f"{path}, rule {number}", entry, defaults) for number, entry in enumerate(entries, start=1)
    )
    names: dict[str, int] = {}
    for number, rule in enumerate(rules, start=1):
        if names.setdefault(rule.name, number) != number:
            raise InputError(
                f"{path}, rule {number}: rule {names[rule.name]} has the name {shorten_to_one_line(repr(rule.name))}, "
                "too; give each a `name` of its own"
            )
    return Rules(path, rules, looks)


def _read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file; what cannot be read ends in one line."""
    try:
        return tomllib.loads(read_text(path))
    except RecursionError:
        raise InputError(f"{path}: the TOML is nested too deeply") from None
    except ValueError as error:  # TOMLDecodeError, a number of thousands of digits, a date that does not exist
        raise InputError(f"{path}: malformed TOML ({error})") from None


def _read_rule(where: str, entry: Mapping[str, Any], defaults: Mapping[str, str]) -> Rule:
    """Read one rule; messages begin with where it stands."""
    _refuse_unknown_keys(where, entry, RULE_KEYS)
    text = _read_text_of_rule(where, entry, "require")
    if not text:
        raise InputError(f'{where}: does not say what it requires; write require = "stability.flip_10 <= 0.20"')
    try:
        fields = parse_rule_sentence_into_fields(text)
    except InputError as error:
        raise InputError(f"{where}, {shorten_to_one_line(repr(text))}: {error}") from None
    return Rule(
        text=text,
        name=_read_text_of_rule(where, entry, "name") or text,
        **fields,
        wordings=_read_allowed_word(where, entry, "wordings", defaults["wordings"]),
        cannot_tell=_read_allowed_word(where, entry, "cannot_tell", defaults["cannot_tell"]),
        models=_read_list_of_names(where, entry, "models"),
        conditions=_read_list_of_names(where, entry, "conditions"),
        study=_read_text_of_rule(where, entry, "study"),
        parameters=_read_table_options_of_rule(where, entry, fields),
    )


def _refuse_unknown_keys(where: str, entry: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    """Refuse a key that there is not, with the nearest."""
    for key in entry:
        if key not in keys:
            raise InputError(
                f"{where}: unknown key {shorten_to_one_line(repr(key))}{format_nearest_name_hint(key, keys)}; the keys "
                f"are {', '.join(keys)}"
            )


def _read_text_of_rule(where: str, entry: Mapping[str, Any], key: str) -> str:
    """Read a text; empty where there is none."""
    text = entry.get(key, "")
    if not isinstance(text, str) or (key in entry and not text.strip()):
        raise InputError(f"{where}: {key} = {_format_value_for_message(text)} is no text; write it in quotation marks")
    return text.strip()


def _read_allowed_word(where: str, entry: Mapping[str, Any], key: str, default: str) -> str:
    """Read one of the words that a key may have."""
    word, words = entry.get(key, default), DEFAULTS[key]
    if word not in words:
        quoted = " or ".join(f'"{word}"' for word in words)
        raise InputError(
            f"{where}: {key} = {_format_value_for_message(word)}{format_nearest_name_hint(str(word), words)}; write "
            f"{quoted}"
        )
    return str(word)


def _read_list_of_names(where: str, entry: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Read a list of names; empty where there is none."""
    if key not in entry:
        return ()
    names = entry[key]
    if not isinstance(names, list) or not names or not all(isinstance(name, str) and name for name in names):
        raise InputError(
            f'{where}: {key} = {_format_value_for_message(names)} is no list of names; write {key} = ["gpt2"]'
        )
    return tuple(names)


def _read_table_options_of_rule(where: str, entry: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Read the options of the table that a rule is about."""
    parameters = entry.get("parameters", {})
    if not isinstance(parameters, dict):
        raise InputError(
            f"{where}: parameters = {_format_value_for_message(parameters)} are none; write parameters = {{ "
            f"resamples = 2000 }}"
        )
    if not parameters:
        return {}
    table, dot, _ = fields.get("target", "").partition(".")
    if fields["kind"] != NUMBER or not dot:
        raise InputError(f"{where}: parameters are options of a table, and this rule is about none; take them out")
    try:
        return convert_options_to_types_of_defaults(f"table {table}", parameters, list_table_options(table))
    except InputError as error:
        raise InputError(f"{where}, parameters: {error}") from None


def _format_value_for_message(value: object) -> str:
    """Show a value of the file in a message."""
    return shorten_to_one_line(repr(value))
