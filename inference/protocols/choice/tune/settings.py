"""Read the settings of `waver tune choice`: Tables 6 and 7 of Choi (settings.toml), and what a user's file changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from pathlib import Path
from typing import Any

from ground.errors import InputError, nearest
from inference.engines.adapters import MOST_RANK
from inference.stimuli.files import read_toml, shown

DEFAULTS = Path(__file__).with_name("settings.toml")
DEFAULT_MODULES, ALL_LINEAR = "default", "all-linear"
SCHEDULES = ("linear", "cosine", "constant", "constant_with_warmup")
Check = tuple[str, Callable[[Any], bool]]


def _whole(low: int, high: int) -> Check:
    return f"a whole number from {low:,} to {high:,}", lambda value: type(value) is int and low <= value <= high


def _number(high: float, *, zero: bool) -> Check:
    def fits(value: Any) -> bool:
        return type(value) in (int, float) and isfinite(value) and 0 <= value <= high and (zero or value > 0)

    return f"a number {'from' if zero else 'above'} 0, at most {high:g}", fits


def _names(value: Any) -> bool:
    if isinstance(value, str):
        return value in (DEFAULT_MODULES, ALL_LINEAR)
    return isinstance(value, list) and bool(value) and all(isinstance(each, str) and each.strip() for each in value)


CHECKS: Mapping[str, Mapping[str, Check]] = {
    "training": {
        "seed": _whole(0, 2**32 - 1),
        "learning_rate": _number(1, zero=False),
        "lr_scheduler_type": (f"one of {', '.join(SCHEDULES)}", lambda value: value in SCHEDULES),
        "per_device_train_batch_size": _whole(1, 10_000),
        "per_device_eval_batch_size": _whole(1, 10_000),
        "gradient_accumulation_steps": _whole(1, 10_000),
        "warmup_ratio": _number(0.99, zero=True),
        "weight_decay": _number(1, zero=True),
        "max_grad_norm": _number(1_000, zero=False),
        "logging_steps": _whole(1, 10**9),
        "eval_steps": _whole(1, 10**9),
        "num_train_epochs": _whole(1, 10_000),
    },
    "lora": {
        "r": _whole(1, MOST_RANK),
        "lora_alpha": _number(10_000, zero=False),
        "lora_dropout": _number(0.99, zero=True),
        "target_modules": (f'"{DEFAULT_MODULES}", "{ALL_LINEAR}" or a list of names of layers', _names),
    },
    "loading": {"four_bit": ("true or false", lambda value: isinstance(value, bool))},
}
"""Table of the file -> key -> what its value must be."""


def read(path: Path | None = None) -> dict[str, Any]:
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
    settings = _keys(DEFAULTS) | (_keys(path) if path else {})
    logging, evaluation = settings["logging_steps"], settings["eval_steps"]
    if evaluation % logging:
        raise InputError(
            f"{path}: eval_steps {evaluation} is no multiple of logging_steps {logging}; make it one, so that a "
            "stopped training goes on with the same history"
        )
    return settings


def _keys(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for table, keys in read_toml(path).items():
        if table not in CHECKS:
            raise InputError(f"{path}: unknown table or key {shown(table)}; there are [{'], ['.join(CHECKS)}]")
        if not isinstance(keys, dict):
            raise InputError(f"{path}: {table} must be a table, [{table}], not {shown(keys)}")
        for key, value in keys.items():
            if key not in CHECKS[table]:
                known = [*CHECKS[table]]
                hint = f"{nearest(key, known)}; there are {', '.join(known)}"
                raise InputError(f"{path}, [{table}]: unknown key {shown(key)}{hint}")
            kind, fits = CHECKS[table][key]
            if not fits(value):
                raise InputError(f"{path}, [{table}], {key}: must be {kind}, not {shown(value)}")
            found[key] = value
    return found
