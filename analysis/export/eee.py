"""Write runs as records of Every Eval Ever, schema 0.3.0: an aggregate per study and model, its responses beside it.

The schema has places for a prompt, an answer and a score. What else a run holds (item, variant, pattern, options,
probabilities, counts ...) stands in `metadata`, whose values are texts: lists and numbers as JSON. `waver import eee`
reads it back.

Not carried: responses with an error, which have no score; responses to a scale without a number; where a study has
right answers, responses to wordings without one; what was not asked.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.export import eee_aggregate
from analysis.export.eee_aggregate import VERSION
from analysis.export.eee_metrics import Metric, ScoredCondition, choose_metric_of_condition, list_likeliest_labels
from analysis.export.paths import make_portable_name
from analysis.runs import Runs
from ground.errors import InputError

BATCH = 2_000
WORDING = ("pattern", "position", "language", "gold", "gold_score", "parents", "options", "canonical", "attributes")
ANSWER = ("probability", "logprob", "count", "invalid", "clipped", "mass", "mass_upper", "score", "answer",
          "sample_score", "text_logprob", "thought", "thought_tokens", "unclosed", "sample_probability",
          "sample_answer", "sample_answer_otherwise", "n", "read_otherwise")  # fmt: skip


@dataclass(frozen=True, slots=True)
class EeeRecord:
    """One pair of files: the aggregate's path in the folder, and how many responses it has and lacks."""

    file: str
    rows: int
    left_out: Counter[str]


def write_eee_records_of_models(runs: Runs, folder: Path) -> list[EeeRecord]:
    """Write all records into a folder, in the places that the project's data store has for them.

    Parameters
    ----------
    runs
        What is exported.
    folder
        The folder of the export.

    Returns
    -------
    list of EeeRecord
        One per study and model, also where no response of it can be carried.

    Raises
    ------
    InputError
        No response can be carried.
    """
    units = runs.execute("SELECT DISTINCT study, model FROM (FROM responses SELECT study, model UNION ALL "
                         "FROM errors SELECT study, model) ORDER BY ALL").fetchall()  # fmt: skip
    records = [_write_eee_samples_and_aggregate_of_model(runs, folder, study, model) for study, model in units]
    if not any(record.rows for record in records):
        left_out = sum((record.left_out for record in records), Counter())
        raise InputError(f"nothing that a record of EEE can carry: {describe_left_out_responses(left_out)}")
    return records


def describe_left_out_responses(left_out_counts: Mapping[str, int]) -> str:
    """Write in words what was left out."""
    return ", ".join(f"{number:,} {why}" for why, number in left_out_counts.items())


def _write_eee_samples_and_aggregate_of_model(runs: Runs, folder: Path, study: str, model: str) -> EeeRecord:
    """Write the rows of a model, then the aggregate, which states their number and checksum; nothing without rows."""
    evaluation_id = eee_aggregate.build_evaluation_id(runs, study, model)
    place = Path("data", make_portable_name(study), *eee_aggregate.split_model_id(model))
    name = uuid.UUID(bytes=hashlib.sha256(evaluation_id.encode()).digest()[:16], version=4)
    samples = place / f"{name}_samples.jsonl"
    (folder / place).mkdir(parents=True, exist_ok=True)
    digest, conditions = hashlib.sha256(), _build_scored_conditions_of_model(runs, study, model)
    with (folder / samples).open("wb") as file:
        for row in _read_responses_with_wordings(runs, study, model):
            scored_condition = conditions[row["condition"]]
            score = scored_condition.metric.score_response_or_give_reason(row)
            if isinstance(score, str):
                scored_condition.left_out[score] += 1
                continue
            scored_condition.scores.append(score)
            record = _build_response_record(row, study, model, evaluation_id, scored_condition.metric, score)
            line = f"{json.dumps(record)}\n".encode()
            digest.update(line)
            file.write(line)
    rows = sum(len(condition.scores) for condition in conditions.values())
    left_out = sum((condition.left_out for condition in conditions.values()), Counter())
    if not rows:
        (folder / samples).unlink()
        return EeeRecord("", 0, left_out)
    detail = {"format": "jsonl", "file_path": samples.as_posix(), "hash_algorithm": "sha256",
              "checksum": digest.hexdigest(), "total_rows": rows}  # fmt: skip
    aggregate_record = eee_aggregate.build_eee_aggregate_of_model(
        runs, study, model, evaluation_id, conditions, detail, retrieved_at=str(int(time.time()))
    )
    text = json.dumps(aggregate_record, indent=1, allow_nan=False) + "\n"
    (folder / place / f"{name}.json").write_text(text, encoding="utf-8")
    return EeeRecord((place / f"{name}.json").as_posix(), rows, left_out)


def _build_scored_conditions_of_model(runs: Runs, study: str, model: str) -> dict[str, ScoredCondition]:
    """Find the conditions of a model, each with its metric and the responses that only failed."""
    golden = runs.execute("SELECT bool_or(gold IS NOT NULL) FROM stimuli WHERE study = ?", [study]).fetchall()[0][0]
    canonical = runs.info["studies"][study]["canonical"]
    failed = dict(
        runs.execute(
            "SELECT condition, count(*) FROM errors WHERE study = ? AND model = ? GROUP BY ALL", [study, model]
        ).fetchall()
    )
    query = "SELECT DISTINCT condition FROM responses WHERE study = ? AND model = ?"
    names = {name for (name,) in runs.execute(query, [study, model]).fetchall()} | set(failed)
    conditions = {}
    for name, fields in runs.info["conditions"][study].items():
        if name in names:
            conditions[name] = ScoredCondition(
                choose_metric_of_condition(canonical, fields, has_right_answers=bool(golden))
            )
            conditions[name].left_out += Counter({"without a response": failed.get(name, 0)})
    return conditions


def _read_responses_with_wordings(runs: Runs, study: str, model: str) -> Iterator[dict[str, Any]]:
    """Go through the responses of a model, some at a time, each with its wording."""
    wording, answer = (
        ", ".join(f'{table}."{name}"' for name in names) for table, names in (("s", WORDING), ("r", ANSWER))
    )
    cursor = runs.execute(
        f"SELECT r.condition, r.item, r.variant, s.text, r.output, {wording}, {answer} "
        "FROM responses AS r JOIN stimuli AS s USING (study, item, variant) WHERE r.study = ? AND r.model = ?",
        [study, model],
    )
    names = [column[0] for column in cursor.description or ()]
    while batch := cursor.fetchmany(BATCH):
        yield from (dict(zip(names, row, strict=True)) for row in batch)


def _build_response_record(
    row: Mapping[str, Any], study: str, model: str, evaluation_id: str, metric: Metric, score: float
) -> dict[str, Any]:
    """Make the record of one response."""
    reference = metric.list_reference_answers(row)
    hash_input = json.dumps({"raw": row["text"], "reference": reference}, sort_keys=True, separators=(",", ":"))
    metadata = {name: row[name] for name in ("item", "variant", "condition", *WORDING, *ANSWER)}
    return {
        "schema_version": VERSION,
        "evaluation_id": evaluation_id,
        "model_id": model,
        # As in the aggregate.
        "evaluation_name": f"{study}/{row['condition']}",
        "evaluation_result_id": f"{evaluation_id}#{row['condition']}",
        "sample_id": f"{row['item']}/{row['variant']}",
        "sample_hash": hashlib.sha256(hash_input.encode()).hexdigest(),
        "interaction_type": "single_turn",
        "input": {"raw": row["text"], "reference": reference, "choices": list(row["options"]) or None},
        "output": {"raw": list(row["output"] or ())},
        "messages": None,
        "answer_attribution": _build_answer_attribution(row),
        "evaluation": {"score": score, "is_correct": metric.is_right(score)},
        "error": None,
        "metadata": {
            f"waver_{name}": convert_to_metadata_text(value) for name, value in metadata.items() if value is not None
        },
    }


def _build_answer_attribution(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Say where the answer comes from: the probabilities in the metadata, or the texts; nothing where there is none."""
    labels = list_likeliest_labels(row)
    answer = labels[0] if labels else row["answer"]
    if answer is None or len(labels) > 1:
        return []
    return [
        {
            "turn_idx": 0,
            "source": "metadata.waver_probability" if labels else "output.raw",
            "extracted_value": answer,
            "extraction_method": "argmax" if labels else "regex",
            "is_terminal": True,
        }
    ]


def convert_to_metadata_text(value: Any) -> str:
    """Write a value as the text that stands in `metadata`: a text as it is, anything else as JSON.

    JSON has no infinite numbers; they are written as the schema writes them, in quotes.

    >>> (convert_to_metadata_text("tea"), convert_to_metadata_text([0.0, -math.inf]),
    ...  convert_to_metadata_text({"b": "2", "a": "1"}))
    ('tea', '[0.0, "-Infinity"]', '{"a": "1", "b": "2"}')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, float) and not math.isfinite(value):
        return json.dumps(_convert_nonfinite_number_to_text(value))
    if isinstance(value, list | tuple):
        value = [_convert_nonfinite_number_to_text(entry) for entry in value]
    return json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False)


def _convert_nonfinite_number_to_text(value: Any) -> Any:
    """Write an infinite number or NaN as the schema writes it; leave any other value as it is."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value
