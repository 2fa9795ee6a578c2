"""Name what differs between several logs: the wordings, or the conditions, that they stand for."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeVar

from inference.importers.shared.saving import IMPORT_CONDITION
from inference.stimuli.reading.files import shorten_value

Key = TypeVar("Key", bound=Hashable)
_LONGEST = 40  # characters of a value that is a name itself


def list_differing_settings(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """List the settings that do not have the same value in all logs.

    >>> list_differing_settings([{"task_args.style": "plain", "task_args.n": 3},
    ...                          {"task_args.style": "formal", "task_args.n": 3}])
    ['task_args.style']
    """
    setting_names = dict.fromkeys(name for log_settings in settings for name in log_settings)
    return [
        name
        for name in setting_names
        if len({_dump_setting_value(log_settings.get(name)) for log_settings in settings}) > 1
    ]


def list_settings_differing_within_groups(
    groups: Sequence[Hashable], settings: Sequence[Mapping[str, Any]]
) -> list[str]:
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

    >>> list_settings_differing_within_groups(["m", "m", "n"], [{"a": 1, "b": 2}, {"a": 3, "b": 2}, {"a": 1, "b": 5}])
    ['a']
    """
    groups_of_settings = _group_settings_by_key(groups, settings).values()
    return list(dict.fromkeys(name for group in groups_of_settings for name in list_differing_settings(group)))


def _group_settings_by_key(
    keys: Sequence[Key], settings: Sequence[Mapping[str, Any]]
) -> dict[Key, list[Mapping[str, Any]]]:
    """Group the settings of logs by a key that every log has."""
    settings_by_key: dict[Key, list[Mapping[str, Any]]] = {}
    for key, log_settings in zip(keys, settings, strict=True):
        settings_by_key.setdefault(key, []).append(log_settings)
    return settings_by_key


def collect_shared_settings_by_condition(
    conditions: Sequence[Key], settings: Sequence[Mapping[str, Any]]
) -> dict[Key, dict[str, Any]]:
    """Collect the settings that have the same value in all logs of a condition, as its fields.

    Parameters
    ----------
    conditions
        Of every log: its condition, by name or another key.
    settings
        Of every log: name -> value.

    Returns
    -------
    Condition -> name -> value; values that are no number or text are written out, and cut.

    >>> collect_shared_settings_by_condition(["a", "a"], [{"top_p": 0.5, "stop": ["x"], "seed": 1},
    ...                                                   {"top_p": 0.5, "stop": ["x"], "seed": 2}])
    {'a': {'top_p': 0.5, 'stop': "['x']"}}
    """
    fields_by_condition: dict[Key, dict[str, Any]] = {}
    for condition, condition_settings in _group_settings_by_key(conditions, settings).items():
        differing_names = list_differing_settings(condition_settings)
        fields_by_condition[condition] = {
            name: value if isinstance(value, int | float | str) else shorten_value(value)
            for name, value in condition_settings[0].items()
            if name not in differing_names
        }
    return fields_by_condition


def name_conditions_by_settings(groups: Sequence[Hashable], settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Name the condition of every log by the settings that differ between logs of one group.

    Parameters
    ----------
    groups, settings
        As of `list_settings_differing_within_groups`.

    Returns
    -------
    A name for every log; `IMPORT_CONDITION` where nothing differs.
    """
    return name_logs_by_settings(settings, list_settings_differing_within_groups(groups, settings), IMPORT_CONDITION)


def name_logs_by_settings(
    settings: Sequence[Mapping[str, Any]], setting_names: Sequence[str], name_if_equal: str
) -> list[str]:
    """Name every log by its values of some settings; where one is long or empty, or two look alike, they are numbered.

    Parameters
    ----------
    settings
        Of every log: name -> value; a name that it lacks has the value None.
    setting_names
        Names of the settings that make the name.
    name_if_equal
        The name of all, where no setting is chosen.

    Returns
    -------
    A name for every log.

    >>> name_logs_by_settings([{"task_args.style": "plain"}, {"task_args.style": "formal"}], ["task_args.style"], "p1")
    ['plain', 'formal']
    >>> name_logs_by_settings([{"task_args.cot": True}, {}], ["task_args.cot"], "p1")
    ['cot=true', 'cot=none']
    >>> name_logs_by_settings([{"prompt": "Say:\\n"}, {"prompt": "Say: "}], ["prompt"], "p1")
    ['prompt-1', 'prompt-2']
    """
    parts = [
        _name_values_of_one_setting(
            name, [log_settings.get(name) for log_settings in settings], is_only_setting=len(setting_names) == 1
        )
        for name in setting_names
    ]
    return [", ".join(part[number] for part in parts) or name_if_equal for number in range(len(settings))]


def _name_values_of_one_setting(name: str, values: Sequence[Any], *, is_only_setting: bool) -> list[str]:
    """Name the values of one setting."""
    short = name.rpartition(".")[2]
    dumps = [_dump_setting_value(value) for value in values]
    value_texts = [
        " ".join(value.split()) if isinstance(value, str) else "none" if value is None else dump
        for value, dump in zip(values, dumps, strict=True)
    ]
    if any(len(text) > _LONGEST or not text for text in value_texts) or len(set(value_texts)) < len(set(dumps)):
        numbers = {dump: number for number, dump in enumerate(dict.fromkeys(dumps), start=1)}
        return [f"{short}-{numbers[dump]}" for dump in dumps]
    if is_only_setting and all(isinstance(value, str) for value in values):
        return value_texts
    return [f"{short}={text}" for text in value_texts]


def _dump_setting_value(value: Any) -> str:
    """Write a value as JSON, so that equal values are equal texts."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
