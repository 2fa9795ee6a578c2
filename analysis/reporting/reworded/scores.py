"""Read scores of texts as shares of their scale, in the wordings of the prompt that asks for them.

Conditions that differ in nothing but the prompt ask for the same score in other words, of all items alike. Such prompts
are wordings that all items share, and their conditions are read as one. Range, temperature, form and method change more
than words: these stay conditions. A score on 1-5 is (score - 1) / 4, so that scores on two scales compare.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from analysis.reporting.reworded.study import SCORE, Study, array, has_several_wordings
from analysis.runs import scores

if TYPE_CHECKING:
    from analysis.runs import Runs

SHIPPED = "Waver's prompt"
_OF_PROMPT = frozenset({"prompt", "prompt_hash"})


def read(runs: Runs, names: list[str]) -> Iterator[Study]:
    """Read the scores of studies of the protocol `scoring`; what cannot be read is refused by `runs.scores`.

    Parameters
    ----------
    runs
        From `analysis.runs.open`.
    names
        Names of the studies.

    Yields
    ------
    Every study, with settings as its conditions and prompts as its wordings.
    """
    rows = scores.read(runs).merge(scores.samples(runs), how="left", on=[*scores.UNIT, "item"])
    for name in names:
        own = rows[rows["study"] == name]
        if own.empty:
            continue
        settings, prompts = in_settings(runs.info["conditions"][name])
        wordings = list(dict.fromkeys(prompts[condition] for condition in own["condition"].unique()))
        units = list(dict.fromkeys(zip(own["model"], own["condition"].map(settings), strict=True)))
        width = own["high"] - own["low"]
        laid = pd.DataFrame({
            "unit": list(map({unit: place for place, unit in enumerate(units)}.__getitem__,
                             zip(own["model"], own["condition"].map(settings), strict=True))),
            "item": pd.factorize(own["item"])[0],
            "wording": own["condition"].map(prompts).map(wordings.index),
            "validity": own["validity"].to_numpy(float),
            "score": (own["score"] - own["low"]) / width,
            "samples": own["drawn"].where(own["score"].notna()),
            "spread": own["spread"] / width**2,
        })  # fmt: skip
        shape = len(units), int(laid["item"].max()) + 1, len(wordings)
        validity = laid.groupby("unit")["validity"].mean().reindex(range(len(units))).to_numpy(float)
        sampled = laid["spread"].notna().any()
        yield Study(
            name, SCORE, True, True, units, validity, array(laid, "score", shape), wordings,
            array(laid, "samples", shape) if sampled else None, array(laid, "spread", shape) if sampled else None,
        )  # fmt: skip


def has_rewordings(runs: Runs, names: list[str]) -> bool:
    """Tell whether these studies ask in several prompts, or for several samples of a score."""
    for name in names:
        conditions = runs.info["conditions"][name].values()
        if len({fields.get("prompt") for fields in conditions}) > 1 or any(map(_has_samples, conditions)):
            return True
    return has_several_wordings(runs, names)


def _has_samples(condition: Mapping[str, Any]) -> bool:
    samples = condition.get("samples")
    return isinstance(samples, int) and samples > 1


def in_settings(conditions: Mapping[str, Mapping[str, Any]]) -> tuple[dict[str, str], dict[str, str]]:
    """Name the setting and the prompt of every condition: `mine/plain/0-9/t0.7` is `plain/0-9/t0.7` in `mine`.

    Conditions of the same setting and prompt, as of other programs, stay apart. Where each setting has one prompt, it
    is one wording.
    """
    alike: dict[frozenset[tuple[str, str]], list[str]] = {}
    for name, fields in conditions.items():
        key = frozenset((field, repr(value)) for field, value in fields.items() if field not in _OF_PROMPT)
        alike.setdefault(key, []).append(name)
    prompts = {name: str(fields.get("prompt") or SHIPPED) for name, fields in conditions.items()}
    settings = {name: name for name in conditions}
    for names in alike.values():
        if len({prompts[name] for name in names}) == len(names) > 1:
            settings |= dict.fromkeys(names, names[0].removeprefix(f"{prompts[names[0]]}/"))
    several = len(set(settings.values())) < len(settings)
    return settings, prompts if several else dict.fromkeys(conditions, SHIPPED)
