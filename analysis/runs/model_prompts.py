"""Read what models were asked: the prompts of single wordings, and what each model answered to them.

A prompt is never guessed. It comes from `asked` in run.json, which gives every prompt of a condition to the letter
(inference compared each of them), or it is not there and the reason is told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from analysis.runs.conditions import drop_middle_option_if_not_shown
from analysis.runs.folder import UNIT
from ground.errors import format_quantity
from ground.impossible_rows import read_scale_ends

if TYPE_CHECKING:
    import pandas as pd

    from analysis.runs import Runs

UNKNOWN = "the run does not hold its prompts: it was imported, or made by an earlier version of Waver"
Message: TypeAlias = tuple[str | None, str]  # role and text; role None: the prompt is one text
MOST_NUMBERS = 3  # numbers of a scale that are written out
RESPONSE_KEY = [*UNIT, "item", "variant"]


@dataclass(frozen=True, slots=True)
class Prompt:
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


def find_prompts_entry_of_condition(runs: Runs, study: str, model: str, condition: str) -> Mapping[str, Any] | None:
    """Find what run.json says of the prompts of a model under a condition.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    study, model, condition
        Their names.

    Returns
    -------
    mapping or None
        The entry of `asked`; None where there is none.
    """
    entries = runs.info["asked"].get(study, {}).get(condition, ())
    return next((asked_entry for asked_entry in entries if model in asked_entry["models"]), None)


def recover_prompt_of_wording(asked_entry: Mapping[str, Any] | None, wording: Mapping[str, Any]) -> Prompt:
    """Return the prompt of a wording.

    Parameters
    ----------
    asked_entry
        From `find_prompts_entry_of_condition`.
    wording
        A row of the stimuli: item, variant, text, attributes.

    Returns
    -------
    Prompt
        The messages, or why they are not known.
    """
    if asked_entry is None:
        return Prompt(why=UNKNOWN)
    if asked_entry["wordings"] is not None:
        filled = _fill_wording_into_messages(asked_entry["wordings"], wording)
        return Prompt(filled) if filled else Prompt(why="the run's stimuli lack something that its prompts show")
    is_recorded = (asked_entry["item"], asked_entry["variant"]) == (wording["item"], wording["variant"])
    if is_recorded and asked_entry["characters"] == len(asked_entry["prompt"]):
        return Prompt(((None, asked_entry["prompt"]),))
    why = asked_entry.get("inexact", "no reason is recorded")
    return Prompt(why=f"it is recorded for item {asked_entry['item']}, variant {asked_entry['variant']}, only ({why})")


def _fill_wording_into_messages(
    message_forms: Sequence[Mapping[str, Any]], wording: Mapping[str, Any]
) -> tuple[Message, ...]:
    """Put a wording in its places; return nothing where it lacks an attribute that has a place."""
    attributes = dict(wording["attributes"] or {})
    values = {"text": wording["text"], **{f"attributes.{name}": value for name, value in attributes.items()}}
    parts = [
        (
            message["role"],
            [part if isinstance(part, str) else values.get(part["column"]) for part in message["content"]],
        )
        for message in message_forms
    ]
    if any(part is None for _, content in parts for part in content):
        return ()
    return tuple((role, "".join(map(str, content))) for role, content in parts)


def list_wordings_of_item(runs: Runs, study: str, item: str) -> list[dict[str, Any]]:
    """List the wordings of an item in their order.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    study, item
        Their names.

    Returns
    -------
    list of dict
        Rows of the stimuli: item, variant, pattern, text, options, attributes.
    """
    rows: list[dict[str, Any]] = runs.execute(
        "SELECT item, variant, pattern, text, options, attributes FROM stimuli WHERE study = ? AND item = ? "
        "ORDER BY position",
        [study, item],
    ).df().to_dict("records")  # fmt: skip
    return rows


def read_answers_to_wordings(runs: Runs, wording_keys: pd.DataFrame) -> pd.DataFrame:
    """Find all responses to some wordings.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    wording_keys
        Columns study, item, variant.

    Returns
    -------
    DataFrame
        study, model, condition, item, variant, said (what came back, by `describe_response`), output (texts, or
        None), thought, thought_tokens (lists, or None); in the order of conditions and models in run.json, and of the
        wordings in the study.
    """
    runs.con.register("asked_keys", wording_keys[["study", "item", "variant"]])
    columns = (
        'probability, "count", invalid, mass, mass_upper, score, answer, output, thought, thought_tokens, unclosed'
    )
    null_columns = ", ".join(f"NULL AS {name}" for name in columns.split(", "))
    try:
        frame = runs.sql(
            f"""
            SELECT r.*, s.options
            FROM (SELECT {", ".join(RESPONSE_KEY)}, {columns}, NULL AS error FROM responses
                  UNION ALL SELECT {", ".join(RESPONSE_KEY)}, {null_columns}, error FROM errors) AS r
            JOIN asked_keys USING (study, item, variant) JOIN stimuli AS s USING (study, item, variant)
            ORDER BY s.study, s.position"""
        )
    finally:
        runs.con.unregister("asked_keys")
    places = {name: place for place, name in enumerate(runs.info["models"])}
    fields_by_condition = {
        (study, name): fields
        for study, study_conditions in runs.info["conditions"].items()
        for name, fields in study_conditions.items()
    }
    conditions = {key: place for place, key in enumerate(fields_by_condition)}
    order = frame.assign(
        model_place=frame["model"].map(places),
        condition_place=[conditions[key] for key in zip(frame["study"], frame["condition"], strict=True)],
    )
    frame = frame.loc[order.sort_values(["condition_place", "model_place"], kind="stable").index]
    scales = {key: read_scale_ends(fields) for key, fields in fields_by_condition.items()}
    rows = frame.astype(object).where(frame.notna(), None) if len(frame) else frame
    return frame[RESPONSE_KEY].assign(
        said=[describe_response(row, scales[row["study"], row["condition"]]) for row in rows.to_dict("records")],
        **{
            name: [None if texts is None else list(texts) for texts in rows[name]] for name in ("output", "thought")
        },
        thought_tokens=[None if tokens is None else list(map(int, tokens)) for tokens in rows["thought_tokens"]],
    ).reset_index(drop=True)  # fmt: skip


def describe_response(row: Mapping[str, Any], scale: tuple[float, float] | None = None) -> str:
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

    >>> describe_response({"probability": [0.25, 0.5], "mass": 0.75, "answer": "no", "options": ["yes", "no"]})
    'yes 0.25, no 0.5, together 0.75; answer: no'
    >>> describe_response({"thought_tokens": [9, 8], "unclosed": 2})
    '2 thoughts, 2 of them without an end; most thoughts say: none'
    """
    if row.get("error") is not None:
        return f"no response: {row['error']}"
    parts = [
        _describe_number_of_averaged_thoughts(row),
        _format_probability_of_every_option(row, scale),
        _describe_sampled_text_counts_by_option(row),
    ]
    if row.get("score") is not None:
        parts.append(f"score {row['score']:{'.3g' if abs(row['score']) < 999.5 else ',.0f'}}")
    if row.get("score") is None or (row.get("answer") is not None and row.get("thought_tokens") is None):
        about = "answer" if row.get("thought_tokens") is None else "most thoughts say"
        parts.append(f"{about}: {row.get('answer') or 'none'}")
    return "; ".join(filter(None, parts))


def _describe_number_of_averaged_thoughts(row: Mapping[str, Any]) -> str:
    """Write how many thoughts the probabilities are the mean of, and how many did not end; empty without thoughts."""
    tokens, unclosed = row.get("thought_tokens"), int(row.get("unclosed") or 0)
    if tokens is None:
        return ""
    return f"{len(tokens)} thought{'s' * (len(tokens) != 1)}" + f", {unclosed} of them without an end" * (unclosed > 0)


def _format_probability_of_every_option(row: Mapping[str, Any], scale: tuple[float, float] | None) -> str:
    """Write the probability of every option, and their sum; empty where there are none."""
    values = row.get("probability")
    if values is None or not len(values):
        return ""
    names = (
        list(range(int(scale[0]), int(scale[1]) + 1))
        if scale
        else drop_middle_option_if_not_shown(row["options"], len(values))
    )
    if len(names) != len(values):  # not what run.json says was asked: no guess which is which
        return f"{len(values)} probabilities"
    pairs = list(zip(names, values, strict=True))
    if scale:
        pairs = sorted(pairs, key=lambda pair: -pair[1])[:MOST_NUMBERS]
    pair_texts = ", ".join(f"{name} {_format_probability(value)}" for name, value in pairs)
    left_out = f" (of {len(values)} numbers, the likeliest)" if len(pairs) < len(values) else ""
    if row.get("mass") is None:
        return f"{pair_texts}{left_out}"
    upper = "" if row.get("mass_upper") is None else f" to {_format_probability(row['mass_upper'])}"
    return f"{pair_texts}{left_out}, together {_format_probability(row['mass'])}{upper}"


def _format_probability(share: float) -> str:
    """Write a probability with three digits; one that only rounds to 1 is not written as 1, and a small one not as 0.

    >>> _format_probability(0.9999), _format_probability(0.0323), _format_probability(0.00004), _format_probability(0)
    ('>0.999', '0.0323', '<0.001', '0')
    """
    return ">0.999" if 0.9995 <= share < 1 else "<0.001" if 0 < share < 0.001 else f"{share:.3g}"


def _describe_sampled_text_counts_by_option(row: Mapping[str, Any]) -> str:
    """Write how many sampled texts gave each option; empty where no texts were read."""
    texts, invalid = row.get("output"), int(row.get("invalid") or 0)
    counts = row.get("count")
    options = [] if counts is None else drop_middle_option_if_not_shown(row["options"], len(counts))
    if counts is not None and len(counts) == len(options):
        count_text = ", ".join(f"{name} {int(number)}" for name, number in zip(options, counts, strict=True))
        return f"of {format_quantity(int(sum(counts)) + invalid, 'text')}: {count_text}, none of them {invalid}"
    if texts is None or not invalid:
        return ""
    return f"of {format_quantity(len(texts), 'text')}, {invalid} without an answer"
