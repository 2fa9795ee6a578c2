"""Read the settings of `waver tune choice`: Tables 6 and 7 of Choi (settings.toml), and what a user's file changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from pathlib import Path
from typing import Any

from ground.errors import InputError, format_nearest_name_hint
from inference.engines.adapters import MOST_RANK
from inference.stimuli.reading.files import read_toml, shorten_value

DEFAULTS = Path(__file__).with_name("settings.toml")
DEFAULT_MODULES, ALL_LINEAR = "default", "all-linear"
SCHEDULES = ("linear", "cosine", "constant", "constant_with_warmup")
Check = tuple[str, Callable[[Any], bool]]


def _build_words_and_test_of_whole_number(low: int, high: int) -> Check:
    """Make the check of a whole number: what it must be in words, and the test."""
    return f"a whole number from {low:,} to {high:,}", lambda value: type(value) is int and low <= value <= high


def _build_words_and_test_of_bounded_number(high: float, *, allows_zero: bool) -> Check:
    """Make the check of a number up to a bound: what it must be in words, and the test."""

    def fits_range(value: Any) -> bool:
        return type(value) in (int, float) and isfinite(value) and 0 <= value <= high and (allows_zero or value > 0)

    return f"a number {'from' if allows_zero else 'above'} 0, at most {high:g}", fits_range


def _is_valid_target_modules_value(value: Any) -> bool:
    """Tell whether a value says which layers to adapt: a known word, or a list of names."""
    if isinstance(value, str):
        return value in (DEFAULT_MODULES, ALL_LINEAR)
    return isinstance(value, list) and bool(value) and all(isinstance(name, str) and name.strip() for name in value)


CHECKS: Mapping[str, Mapping[str, Check]] = {
    "training": {
        "seed": _build_words_and_test_of_whole_number(0, 2**32 - 1),
        "learning_rate": _build_words_and_test_of_bounded_number(1, allows_zero=False),
        "lr_scheduler_type": (f"one of {', '.join(SCHEDULES)}", lambda value: value in SCHEDULES),
        "per_device_train_batch_size": _build_words_and_test_of_whole_number(1, 10_000),
        "per_device_eval_batch_size": _build_words_and_test_of_whole_number(1, 10_000),
        "gradient_accumulation_steps": _build_words_and_test_of_whole_number(1, 10_000),
        "warmup_ratio": _build_words_and_test_of_bounded_number(0.99, allows_zero=True),
        "weight_decay": _build_words_and_test_of_bounded_number(1, allows_zero=True),
        "max_grad_norm": _build_words_and_test_of_bounded_number(1_000, allows_zero=False),
        "logging_steps": _build_words_and_test_of_whole_number(1, 10**9),
        "eval_steps": _build_words_and_test_of_whole_number(1, 10**9),
        "num_train_epochs": _build_words_and_test_of_whole_number(1, 10_000),
    },
    "lora": {
        "r": _build_words_and_test_of_whole_number(1, MOST_RANK),
        "lora_alpha": _build_words_and_test_of_bounded_number(10_000, allows_zero=False),
        "lora_dropout": _build_words_and_test_of_bounded_number(0.99, allows_zero=True),
        "target_modules": (
            f'"{DEFAULT_MODULES}", "{ALL_LINEAR}" or a list of names of layers',
            _is_valid_target_modules_value,
        ),
    },
    "loading": {"four_bit": ("true or false", lambda value: isinstance(value, bool))},
}
"""Table of the file -> key -> what its value must be."""


def read_tuning_settings(path: Path | None = None) -> dict[str, Any]:
    """Read the settings, all keys in one mapping.

    Parameters
    ----------
    path
        A TOML file with the keys to change; None: none.

    Raises
    ------
    InputError
        The file cannot be read, has an unknown table or key, or a wrong value.
    """
    settings = _read_settings_file_with_checks(DEFAULTS) | (_read_settings_file_with_checks(path) if path else {})
    logging, evaluation = settings["logging_steps"], settings["eval_steps"]
    if evaluation % logging:
        raise InputError(
            f"{path}: eval_steps {evaluation} is no multiple of logging_steps {logging}; make it one, so that a "
            "stopped training goes on with the same history"
        )
    return settings


def _read_settings_file_with_checks(path: Path) -> dict[str, Any]:
    """Read a file of settings, check every key, and put all keys into one mapping."""
    settings: dict[str, Any] = {}
    for table, keys in read_toml(path).items():
        if table not in CHECKS:
            raise InputError(f"{path}: unknown table or key {shorten_value(table)}; there are [{'], ['.join(CHECKS)}]")
        if not isinstance(keys, dict):
            raise InputError(f"{path}: {table} must be a table, [{table}], not {shorten_value(keys)}")
        for key, value in keys.items():
            if key not in CHECKS[table]:
                known_keys = [*CHECKS[table]]
                hint = f"{format_nearest_name_hint(key, known_keys)}; there are {', '.join(known_keys)}"
                raise InputError(f"{path}, [{table}]: unknown key {shorten_value(key)}{hint}")
            kind, fits = CHECKS[table][key]
            if not fits(value):
                raise InputError(f"{path}, [{table}], {key}: must be {kind}, not {shorten_value(value)}")
            settings[key] = value
    return settings
