"""Tell which settings of a model and condition are not the same on two sides: a difference may come from these."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from analysis.reporting.words.shots import list_example_counts_in_wording_names, name_example_numbers
from analysis.runs import Runs
from ground.errors import shorten_to_one_line

_OF_MODEL = ("revision", "engine", "dtype", "quantization")


def map_differing_settings_to_values(
    a: Runs, b: Runs, units: Sequence[tuple[str, str]], study: str
) -> dict[str, tuple[Any, Any]]:
    """List what run.json records otherwise on the other side: of the model and of the condition.

    Parameters
    ----------
    a, b
        Both sides.
    units
        Model and condition of each side, as its `info` calls them.
    study
        Name of the study, on both sides.

    Returns
    -------
    dict
        Name of a setting -> what it is on each side; None where it is not recorded.
    """
    models = [side.info["models"][model] for side, (model, _) in zip((a, b), units, strict=True)]
    conditions = [
        side.info["conditions"][study].get(condition, {})  # a reading of a condition, such as "per byte", has no own
        for side, (_, condition) in zip((a, b), units, strict=True)
    ]
    names = dict.fromkeys([*conditions[0], *conditions[1]])
    return {**_map_differing_fields_to_values(models, _OF_MODEL), **_map_differing_fields_to_values(conditions, names)}


def _map_differing_fields_to_values(
    sides: Sequence[Mapping[str, Any]], names: Sequence[str] | Mapping[str, Any]
) -> dict[str, tuple[Any, Any]]:
    """List the fields that differ."""
    return {
        name: (sides[0].get(name), sides[1].get(name)) for name in names if sides[0].get(name) != sides[1].get(name)
    }


def describe_differing_settings(settings: Mapping[str, tuple[Any, Any]], side_names: Sequence[str]) -> str:
    """Write settings that differ, with their values.

    Parameters
    ----------
    settings
        From `map_differing_settings_to_values`.
    side_names
        What the sides are called.

    Returns
    -------
    The text, cut where a value is long.

    >>> describe_differing_settings({"temperature": (0.7, None)}, ("the run", "the baseline"))
    'temperature is 0.7 in the run and not recorded in the baseline'
    """
    return ", ".join(
        f"{name} is "
        + " and ".join(
            f"{_format_setting_value(value)} in {side}" for value, side in zip(values, side_names, strict=True)
        )
        for name, values in settings.items()
    )


def _format_setting_value(value: object) -> str:
    """Show the value of a setting in a note."""
    return "not recorded" if value is None else shorten_to_one_line(str(value), 30)


def explain_differing_numbers_of_examples(
    wordings_a: Collection[object], wordings_b: Collection[object], side_names: Sequence[str]
) -> str:
    """Say that two sides differ in their numbers of examples, and what makes them comparable.

    The importer of lm-eval names wordings by the number of examples, and only wordings of one name are paired: so the
    number has to be a condition.

    Parameters
    ----------
    wordings_a, wordings_b
        Names of the wordings that the items of each side share.
    side_names
        What the sides are called.

    Returns
    -------
    str
        Empty where the wordings are not named by numbers of examples, or both sides share one.

    >>> explain_differing_numbers_of_examples(["0-shot"], ["5-shot"], ("A", "B")).partition(";")[0]
    'A was asked after 0 examples, B after 5'
    >>> explain_differing_numbers_of_examples(["0-shot", "5-shot"], ["5-shot"], ("A", "B"))
    ''
    >>> explain_differing_numbers_of_examples(["p1"], ["5-shot"], ("A", "B"))
    ''
    """
    numbers = list_example_counts_in_wording_names({*wordings_a, *wordings_b})
    if set(wordings_a) & set(wordings_b) or not numbers:
        return ""
    a, b = (
        name_example_numbers([number for number in numbers if f"{number}-shot" in wordings])
        for wordings in (wordings_a, wordings_b)
    )
    return (
        f"{side_names[0]} was asked after {a} examples, {side_names[1]} after {b}; as conditions of one run they can "
        "be compared: `waver import lm-eval LOGS_A LOGS_B --variant-key task --out RUN`, then `waver compare RUN RUN "
        "--condition-a NAME --condition-b NAME`"
    )
