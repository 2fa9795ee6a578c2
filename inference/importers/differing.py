"""Name what differs between several logs: the wordings, or the conditions, that they stand for."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

_LONGEST = 40  # characters of a value that is a name itself


def keys(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """List the settings that do not have the same value in all logs.

    >>> keys([{"task_args.style": "plain", "task_args.n": 3}, {"task_args.style": "formal", "task_args.n": 3}])
    ['task_args.style']
    """
    known = dict.fromkeys(name for each in settings for name in each)
    return [name for name in known if len({_written(each.get(name)) for each in settings}) > 1]


def within(groups: Sequence[Hashable], settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """List the settings that differ between logs of one group; what comes with the group tells no wordings apart.

    Parameters
    ----------
    groups
        Of every log: its task and model, say. Another model may get other marks around the same prompt.
    settings
        Of every log: name -> value.

    Returns
    -------
    Names of settings, in the order in which they appear.

    >>> within(["m", "m", "n"], [{"a": 1, "b": 2}, {"a": 3, "b": 2}, {"a": 1, "b": 5}])
    ['a']
    """
    found: dict[str, None] = {}
    for group in dict.fromkeys(groups):
        own = [its for its, of in zip(settings, groups, strict=True) if of == group]
        found |= dict.fromkeys(keys(own))
    return list(found)


def shared(settings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the settings that have the same value in all logs."""
    differ = set(keys(settings))
    return {name: value for name, value in settings[0].items() if name not in differ}


def names(settings: Sequence[Mapping[str, Any]], chosen: Sequence[str], same: str) -> list[str]:
    """Name every log by its values of some settings; a value that is long is numbered as it appears.

    Parameters
    ----------
    settings
        Of every log: name -> value; a name that it lacks has the value None.
    chosen
        Names of the settings that make the name.
    same
        The name of all, where no setting is chosen.

    Returns
    -------
    A name for every log.

    >>> names([{"task_args.style": "plain"}, {"task_args.style": "formal"}], ["task_args.style"], "p1")
    ['plain', 'formal']
    >>> names([{"task_args.cot": True}, {}], ["task_args.cot"], "p1")
    ['cot=true', 'cot=none']
    """
    parts = [_values(name, [each.get(name) for each in settings], alone=len(chosen) == 1) for name in chosen]
    return [", ".join(part[number] for part in parts) or same for number in range(len(settings))]


def _values(name: str, values: Sequence[Any], *, alone: bool) -> list[str]:
    """Name the values of one setting."""
    short = name.rpartition(".")[2]
    written = [" ".join(value.split()) if isinstance(value, str) else _written(value) for value in values]
    if any(len(each) > _LONGEST or not each for each in written):
        numbers = {value: number for number, value in enumerate(dict.fromkeys(written), start=1)}
        return [f"{short}-{numbers[each]}" for each in written]
    if alone and all(isinstance(value, str) for value in values):
        return written
    return [f"{short}={'none' if value is None else each}" for value, each in zip(values, written, strict=True)]


def _written(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
