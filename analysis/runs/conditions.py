"""Find conditions that ask the same prompts in different ways: for the probability of every option, or for a text.

Two such conditions are called *twins*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

# Fields of a condition that say how the model answers; all other fields say what it is asked.
ANSWER_FIELDS = frozenset({
    "answer", "temperature", "samples", "max_tokens", "effort", "share", "text_rule", "label_rule",
    "thoughts", "sampler", "top_p", "top_k", "min_p", "budget",
})  # fmt: skip
# Models are compared where these fields are equal; those that share no such values, whatever they are. The last one is
# HELM's seed.
MAY_DIFFER_BETWEEN_MODELS = ("form", "seed", "random")
Conditions = Mapping[str, Mapping[str, Any]]


def list_conditions_that_omitted_middle_option(conditions: Conditions) -> list[str]:
    """List the conditions that left out the middle option of every item with an odd number of options."""
    return [name for name, fields in conditions.items() if fields.get("without_middle") is True]


def build_options_without_middle_sql(options_sql: str) -> str:
    """Write the SQL of a list without its middle entry; the list itself where its length is even."""
    return (
        f"CASE WHEN len({options_sql}) % 2 = 0 THEN {options_sql} ELSE list_concat("
        f"{options_sql}[:len({options_sql}) // 2], {options_sql}[len({options_sql}) // 2 + 2:]) END"
    )


def drop_middle_option_if_not_shown(options: Sequence[str], n_values: int) -> list[str]:
    """List the options that the values of a row are about.

    Parameters
    ----------
    options
        All options of the wording, or what they mean.
    n_values
        Number of values of the row. One less than an odd number of options: the middle was not shown, as the rules of
        `damaged_rows` make sure.

    Returns
    -------
    The options.

    Examples
    --------
    >>> drop_middle_option_if_not_shown(["never", "sometimes", "always"], 2)
    ['never', 'always']
    """
    middle = len(options) // 2
    left_out = len(options) % 2 == 1 and n_values == len(options) - 1
    return [*options[:middle], *options[middle + 1 :]] if left_out else list(options)


def find_same_prompt_condition_with_probabilities(conditions: Conditions, name: str) -> str | None:
    """Find the condition that asks the same prompts for option probabilities.

    Parameters
    ----------
    conditions
        Name -> fields, as run.json has them.
    name
        One of them.

    Returns
    -------
    str or None
        None where there is none, and for a condition that asks for probabilities itself.
    """
    if "answer" not in conditions[name]:
        return None
    prompt_fields = _select_fields_of_what_is_asked(conditions[name])
    twins = (
        other
        for other, fields in conditions.items()
        if "answer" not in fields and _select_fields_of_what_is_asked(fields) == prompt_fields
    )
    return next(twins, None)


def find_units_that_subsample_another_condition(
    conditions: Conditions, model_conditions: Set[tuple[str, str]]
) -> set[tuple[str, str]]:
    """List the models and conditions that asked only a sample of the wordings which their twin asked in full.

    They exist to be compared with the twin row by row. They are left out of tables of ranges and standard deviations:
    with fewer wordings per item, both are smaller, so the model would look more stable than it is.

    Parameters
    ----------
    conditions
        As in `find_same_prompt_condition_with_probabilities`.
    model_conditions
        The (model, condition) pairs that were asked.

    Returns
    -------
    set
        Those of `model_conditions` that are subsamples.
    """
    twin_by_condition = {
        name: find_same_prompt_condition_with_probabilities(conditions, name)
        for name, fields in conditions.items()
        if is_number_between_zero_and_one(fields.get("share"))
    }
    return {
        (model, name) for model, name in model_conditions if (model, twin_by_condition.get(name)) in model_conditions
    }


def is_number_between_zero_and_one(share: Any) -> bool:
    """Tell whether a share is of some wordings only; an imported condition may have text of that name."""
    return isinstance(share, int | float) and 0 < share < 1


def _select_fields_of_what_is_asked(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that say what a condition asks, not how the model answers."""
    return {key: value for key, value in fields.items() if key not in ANSWER_FIELDS}
