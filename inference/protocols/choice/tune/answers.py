"""Read what a model answered in a run folder of the protocol `choice`: its texts after the base prompt."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from ground import run_json
from ground.errors import InputError, format_nearest_name_hint, format_quantity
from inference.asking.models import Model
from inference.protocols.choice import NAME
from inference.protocols.choice.rehearsal import list_base_prompt_text_conditions
from inference.runfolder.parquet import read_parquet, refuse_damaged_or_foreign_columns
from inference.runfolder.stored_study import read_stored_study
from inference.stimuli.study import ORIGINAL, Variant


@dataclass(frozen=True, slots=True)
class RunAnswer:
    """What a model wrote about a question in one wording, its choices in one order.

    Attributes
    ----------
    is_right, is_readable
        Whether its choice is right; whether a choice could be read at all.
    """

    variant: Variant
    text: str
    is_right: bool
    is_readable: bool = True


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A question of a run: its answers by wording, original first.

    Attributes
    ----------
    split, subset
        As the run has them; None where it does not say.
    """

    item: str
    split: str | None
    subset: str | None
    answers: Mapping[str, Sequence[RunAnswer]]


@dataclass(frozen=True, slots=True)
class ModelAnswers:
    """All that one model answered under one condition of a run.

    Attributes
    ----------
    run
        What tells the run: name and hash of its study.
    condition, fields
        Name of the condition, and its settings.
    revision
        Commit or digest of the model that answered.
    """

    run: Mapping[str, str]
    condition: str
    fields: Mapping[str, Any]
    revision: str | None
    questions: Sequence[AnsweredQuestion]


def read_answers_by_wording_and_order(folder: Path, model: Model, condition: str | None = None) -> ModelAnswers:
    """Read the answers of a model.

    Parameters
    ----------
    folder
        The run folder.
    model
        Who answered: by its id.
    condition
        Its name; None: the only one of texts after the base prompt.

    Returns
    -------
    The answers by question, wording and order of the choices; original first.

    Raises
    ------
    InputError
        It is no run of this protocol, the model or the condition is not there, the model is an adapter or thinks, rows
        are missing, or a file is damaged.
    """
    info = run_json.read_run_json(folder)
    study = info["study"]
    if study["protocol"] != NAME:
        raise InputError(f"{folder}: this is a run of the protocol {study['protocol']}; give one of `run {NAME}`")
    models = info["models"]
    if model.id not in models:
        raise InputError(
            f"{folder}: model '{model.id}' was not asked there{format_nearest_name_hint(model.id, models)}; ask it "
            f"with `run {NAME}`"
        )
    if models[model.id].get("thinks") or models[model.id].get("adapter"):
        reason = "thinks before it answers" if models[model.id].get("thinks") else "is an adapter"
        raise InputError(f"{folder}: model '{model.id}' {reason}; tuning it is not supported, give another --model")
    name = _choose_text_condition(folder, info["conditions"], condition)
    response_by_key: dict[tuple[str, str], tuple[str | None, str]] = {}
    for part in sorted((folder / "responses").glob("part-*.parquet")):
        refuse_damaged_or_foreign_columns(part, "responses")
        response_by_key |= _read_answer_and_text_by_key_of_part(part, model.id, name)
    questions: dict[str, dict[str, list[RunAnswer]]] = defaultdict(lambda: defaultdict(list))
    attributes: dict[str, Mapping[str, str]] = {}
    missing = 0
    for variant in read_stored_study(folder).variants:
        if "choices" not in variant.attributes:  # no prompt can be written without it
            raise InputError(f"{folder}: {'/'.join(variant.key)} lacks the attribute choices; ask the questions again")
        attributes.setdefault(variant.item, variant.attributes)
        if variant.key not in response_by_key:
            missing += 1
            continue
        answer, text = response_by_key[variant.key]
        canonical_by_label = {option.label: option.canonical for option in variant.options}
        is_right = answer is not None and canonical_by_label.get(answer) == variant.gold
        questions[variant.item][variant.pattern].append(RunAnswer(variant, text, is_right, answer is not None))
    if missing:
        raise InputError(
            f"{folder}: no response to {format_quantity(missing, 'row')} of '{model.id}' under {name}; give the "
            f"call of `run {NAME}` again"
        )
    return ModelAnswers(
        {"name": study["name"], "hash": study["hash"]},
        name,
        info["conditions"][name],
        models[model.id].get("revision"),
        [
            _gather_answers_of_question_by_wording_and_order(item, attributes[item], answers)
            for item, answers in questions.items()
        ],
    )


def _choose_text_condition(
    folder: Path, conditions: Mapping[str, Mapping[str, Any]], condition_name: str | None
) -> str:
    """Choose the condition of texts to learn from: the one named, else the only one."""
    text_conditions = list_base_prompt_text_conditions(conditions)
    if condition_name is not None and condition_name not in text_conditions:
        raise InputError(
            f"--condition {condition_name}: {folder} has "
            f"{', '.join(text_conditions) or 'no texts after the base prompt'}"
        )
    if not text_conditions:
        raise InputError(
            f"{folder}: it holds no texts after the base prompt; ask with `run {NAME} --answer text --prompt-kind base`"
        )
    if condition_name is None and len(text_conditions) > 1:
        raise InputError(
            f"{folder}: it has several conditions of texts; choose one by --condition: {', '.join(text_conditions)}"
        )
    return condition_name or text_conditions[0]


def _read_answer_and_text_by_key_of_part(
    part_path: Path, model: str, condition: str
) -> dict[tuple[str, str], tuple[str | None, str]]:
    """Read the rows of a part that have a response: (item, variant) -> answer, text."""
    chosen = (pc.field("model") == model) & (pc.field("condition") == condition) & pc.field("error").is_null()
    rows = read_parquet(part_path, ["item", "variant", "answer", "output"], filters=chosen).to_pylist()
    for row in rows:
        if not row["output"] or len(row["output"]) != 1 or row["output"][0] is None:
            raise InputError(f"{part_path}: {row['item']}/{row['variant']} has no text; ask it again with `run {NAME}`")
    return {(row["item"], row["variant"]): (row["answer"], row["output"][0]) for row in rows}


def _gather_answers_of_question_by_wording_and_order(
    item: str, attributes: Mapping[str, str], answers: Mapping[str, Sequence[RunAnswer]]
) -> AnsweredQuestion:
    """Put the wordings in order: the original, then the paraphrases by their numbers."""
    order = sorted(answers, key=lambda pattern: (pattern != ORIGINAL, len(pattern), pattern))
    return AnsweredQuestion(
        item, attributes.get("split"), attributes.get("subset"), {wording: answers[wording] for wording in order}
    )
