"""Read what models were asked: the prompts of single wordings, and what each model answered to them.

A prompt is never guessed. It comes from `asked` in run.json, which gives every prompt of a condition to the letter
(inference compared each of them), or it is not there and the reason is told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from analysis.runs.folder import UNIT

if TYPE_CHECKING:
    import pandas as pd

    from analysis.runs import Runs

UNKNOWN = "the run does not hold its prompts: it was imported, or made by an earlier version of Waver"
Message: TypeAlias = tuple[str | None, str]  # role and text; role None: the prompt is one text
LIKELIEST = 3  # numbers of a scale that are written out
KEY = [*UNIT, "item", "variant"]


@dataclass(frozen=True, slots=True)
class Asked:
    """The prompt of one wording under one condition.

    Attributes
    ----------
    messages
        The prompt; empty where it is not known.
    why
        Why it is not known.
    """

    messages: tuple[Message, ...] = ()
    why: str = ""

    @property
    def text(self) -> str:
        """Return the prompt as one text: every message begins with its role."""
        return "\n\n".join(content if role is None else f"[{role}]\n{content}" for role, content in self.messages)


def entry(runs: Runs, study: str, model: str, condition: str) -> Mapping[str, Any] | None:
    """Find what run.json says of the prompts of a model under a condition.

    Parameters
    ----------
    runs
        From `analysis.runs.open`.
    study, model, condition
        Their names.

    Returns
    -------
    mapping or None
        The entry of `asked`; None where there is none.
    """
    entries = runs.info["asked"].get(study, {}).get(condition, ())
    return next((each for each in entries if model in each["models"]), None)


def prompt(found: Mapping[str, Any] | None, wording: Mapping[str, Any]) -> Asked:
    """Return the prompt of a wording.

    Parameters
    ----------
    found
        From `entry`.
    wording
        A row of the stimuli: item, variant, text, attributes.

    Returns
    -------
    Asked
        The messages, or why they are not known.
    """
    if found is None:
        return Asked(why=UNKNOWN)
    if found["wordings"] is not None:
        filled = _filled(found["wordings"], wording)
        return Asked(filled) if filled else Asked(why="the run's stimuli lack something that its prompts show")
    recorded = (found["item"], found["variant"]) == (wording["item"], wording["variant"])
    if recorded and found["characters"] == len(found["prompt"]):
        return Asked(((None, found["prompt"]),))
    why = found.get("inexact", "no reason is recorded")
    return Asked(why=f"it is recorded for item {found['item']}, variant {found['variant']}, only ({why})")


def _filled(form: Sequence[Mapping[str, Any]], wording: Mapping[str, Any]) -> tuple[Message, ...]:
    """Put a wording in its places; return nothing where it lacks an attribute that has a place."""
    attributes = dict(wording["attributes"] or {})
    values = {"text": wording["text"], **{f"attributes.{name}": value for name, value in attributes.items()}}
    parts = [(each["role"], [_part(part, values) for part in each["content"]]) for each in form]
    if any(part is None for _, content in parts for part in content):
        return ()
    return tuple((role, "".join(map(str, content))) for role, content in parts)


def _part(part: str | Mapping[str, str], values: Mapping[str, str]) -> str | None:
    return part if isinstance(part, str) else values.get(part["column"])


def wordings(runs: Runs, study: str, item: str) -> list[dict[str, Any]]:
    """List the wordings of an item in their order.

    Parameters
    ----------
    runs
        From `analysis.runs.open`.
    study, item
        Their names.

    Returns
    -------
    list of dict
        Rows of the stimuli: item, variant, pattern, text, options, attributes.
    """
    found: list[dict[str, Any]] = runs.execute(
        "SELECT item, variant, pattern, text, options, attributes FROM stimuli WHERE study = ? AND item = ? "
        "ORDER BY position",
        [study, item],
    ).df().to_dict("records")  # fmt: skip
    return found


def answers(runs: Runs, keys: pd.DataFrame) -> pd.DataFrame:
    """Find all responses to some wordings.

    Parameters
    ----------
    runs
        From `analysis.runs.open`.
    keys
        Columns study, item, variant.

    Returns
    -------
    DataFrame
        study, model, condition, item, variant, said (what came back, in words: see the function), output (texts, or
        None); in the order of conditions and models in run.json, and of the wordings in the study.
    """
    runs.con.register("asked_keys", keys[["study", "item", "variant"]])
    columns = 'probability, "count", invalid, mass, mass_upper, score, answer, output'
    nothing = ", ".join(f"NULL AS {name}" for name in columns.split(", "))
    try:
        frame = runs.sql(
            f"""
            SELECT r.*, s.options
            FROM (SELECT {", ".join(KEY)}, {columns}, NULL AS error FROM responses
                  UNION ALL SELECT {", ".join(KEY)}, {nothing}, error FROM errors) AS r
            JOIN asked_keys USING (study, item, variant) JOIN stimuli AS s USING (study, item, variant)
            ORDER BY s.study, s.position"""
        )
    finally:
        runs.con.unregister("asked_keys")
    places = {name: place for place, name in enumerate(runs.info["models"])}
    conditions = {name: place for known in runs.info["conditions"].values() for place, name in enumerate(known)}
    order = frame.assign(model_place=frame["model"].map(places), condition_place=frame["condition"].map(conditions))
    frame = frame.loc[order.sort_values(["condition_place", "model_place"], kind="stable").index]
    scales = {name: fields.get("range") for known in runs.info["conditions"].values() for name, fields in known.items()}
    rows = frame.astype(object).where(frame.notna(), None) if len(frame) else frame
    return frame[KEY].assign(
        said=[said(row, scales[row["condition"]]) for row in rows.to_dict("records")],
        output=[None if output is None else list(output) for output in rows["output"]],
    ).reset_index(drop=True)  # fmt: skip


def said(row: Mapping[str, Any], scale: Sequence[int] | None = None) -> str:
    """Write in one line what a model answered to one wording: all numbers that the run holds about it.

    Parameters
    ----------
    row
        A response with the `options` of its stimulus, or an `error`; what is absent is None.
    scale
        The two ends, where the numbers of a scale were asked for.

    Returns
    -------
    str

    >>> said({"probability": [0.25, 0.5], "mass": 0.75, "answer": "no", "options": ["yes", "no"]})
    'yes 0.25, no 0.5, together 0.75; answer: no'
    """
    if row.get("error") is not None:
        return f"no response: {row['error']}"
    parts = [_probabilities(row, scale), _counted(row)]
    if row.get("score") is not None:
        parts.append(f"score {row['score']:.3g}")
    if row.get("answer") is not None or row.get("score") is None:
        parts.append(f"answer: {row.get('answer') or 'none'}")
    return "; ".join(filter(None, parts))


def _probabilities(row: Mapping[str, Any], scale: Sequence[int] | None) -> str:
    values = row.get("probability")
    if values is None or not len(values):
        return ""
    names = list(range(int(scale[0]), int(scale[1]) + 1)) if scale else list(row["options"])
    if len(names) != len(values):  # not what run.json says was asked: no guess which is which
        return f"{len(values)} probabilities"
    pairs = list(zip(names, values, strict=True))
    if scale:
        pairs = sorted(pairs, key=lambda pair: -pair[1])[:LIKELIEST]
    shown = ", ".join(f"{name} {_number(value)}" for name, value in pairs)
    more = f" (of {len(values)} numbers, the likeliest)" if len(pairs) < len(values) else ""
    if row.get("mass") is None:
        return f"{shown}{more}"
    upper = "" if row.get("mass_upper") is None else f" to {_number(row['mass_upper'])}"
    return f"{shown}{more}, together {_number(row['mass'])}{upper}"


def _number(share: float) -> str:
    """Write a probability with three digits; one that only rounds to 1 is not written as 1."""
    return ">0.999" if 0.9995 <= share < 1 else f"{share:.3g}"


def _counted(row: Mapping[str, Any]) -> str:
    texts, invalid = row.get("output"), int(row.get("invalid") or 0)
    counts = row.get("count")
    if counts is not None and len(counts) == len(row["options"]):
        said = ", ".join(f"{name} {int(number)}" for name, number in zip(row["options"], counts, strict=True))
        return f"of {int(sum(counts)) + invalid} texts: {said}, none of them {invalid}"
    return f"of {len(texts)} texts, {invalid} without an answer" if texts is not None and invalid else ""
