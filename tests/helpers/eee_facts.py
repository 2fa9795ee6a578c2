"""What schema 0.3.0 of Every Eval Ever asks of a record, as far as records of Waver come near it: facts, stated anew.

The schema's own text is not here. Three kinds of facts: the types and required fields of both files, as rules for
`jsonschema`; and in `problems` what the project's validator checks beyond them.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from pathlib import Path
from typing import Any

import jsonschema

TEXT, NUMBER, TRUTH = {"type": "string"}, {"type": "number"}, {"type": "boolean"}
WHOLE = {"type": "integer"}
TEXTS = {"type": "object", "additionalProperties": TEXT}  # "all values must be strings"
BOUND = {"anyOf": [NUMBER, {"enum": ["Infinity", "-Infinity"]}]}


def record(required: str, closed: bool = False, **fields: Any) -> dict[str, Any]:
    """The rule of an object: the names of its required fields, and the rules of those named."""
    return {"type": "object", "required": required.split(), "properties": fields, "additionalProperties": not closed}


def listed(rule: Any, least: int = 0) -> dict[str, Any]:
    return {"type": "array", "items": rule, "minItems": least}


MODEL = record(
    "name id additional_details", name=TEXT, id=TEXT, developer=TEXT, inference_platform=TEXT,
    inference_engine={"type": "object", "additionalProperties": TEXT},
    additional_details={
        **record(
            "deployment_type model_availability",
            deployment_type={"enum": ["self_deployed", "externally_managed", "unknown"]},
            model_availability={"enum": ["open_weights", "closed_weights", "unknown"]},
        ),
        "additionalProperties": TEXT,
    },
)  # fmt: skip
METRIC = record(
    # a continuous score needs both bounds; Waver has no other kind
    "lower_is_better score_type min_score max_score", lower_is_better=TRUTH, score_type={"const": "continuous"},
    min_score=BOUND, max_score=BOUND, evaluation_description=TEXT, metric_id=TEXT, metric_name=TEXT, metric_kind=TEXT,
    metric_unit=TEXT, additional_details=TEXTS,
)  # fmt: skip
RESULT = record(
    "evaluation_name source_data metric_config score_details", evaluation_result_id=TEXT, evaluation_name=TEXT,
    source_data=record("dataset_name source_type", dataset_name=TEXT, source_type={"const": "other"},
                       additional_details=TEXTS),
    metric_config=METRIC,
    score_details=record(
        "score", score=NUMBER, details=TEXTS,
        uncertainty=record("", standard_deviation=NUMBER, num_samples=WHOLE),
    ),
    generation_config=record(
        "",
        generation_args=record("", closed=True, temperature={"type": ["number", "null"]},
                               max_tokens={"type": "integer", "minimum": 1}),
        additional_details=TEXTS,
    ),
)  # fmt: skip
UUID4 = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
AGGREGATE = record(
    "schema_version evaluation_id retrieved_timestamp source_metadata model_info eval_library evaluation_results",
    closed=True, schema_version=TEXT, evaluation_id=TEXT, evaluation_timestamp=TEXT,
    retrieved_timestamp={"type": "string", "pattern": r"^\d+(\.\d+)?$"},  # seconds since 1970
    source_metadata=record(
        "source_type source_organization_name evaluator_relationship", source_name=TEXT,
        source_type={"enum": ["documentation", "evaluation_run"]}, source_organization_name=TEXT,
        evaluator_relationship={"enum": ["first_party", "third_party", "collaborative", "other"]},
    ),
    eval_library=record("name version", name=TEXT, version=TEXT, additional_details=TEXTS),
    model_info=MODEL, evaluation_results=listed(RESULT),
    detailed_evaluation_results=record(
        "format file_path", format={"const": "jsonl"}, hash_algorithm={"const": "sha256"}, checksum=TEXT,
        total_rows=WHOLE,
        file_path={"type": "string", "pattern": rf"^data/[^/]+/[^/]+/[^/]+/{UUID4}_samples\.jsonl$"},
    ),
)  # fmt: skip
INSTANCE = record(
    "schema_version evaluation_id model_id evaluation_name sample_id interaction_type input output answer_attribution "
    "evaluation",
    closed=True, schema_version=TEXT, evaluation_id=TEXT, model_id=TEXT, evaluation_name=TEXT,
    evaluation_result_id=TEXT, sample_id=TEXT, sample_hash=TEXT, interaction_type={"const": "single_turn"},
    input=record("raw reference", raw=TEXT, reference=listed(TEXT), choices={"type": ["array", "null"], "items": TEXT}),
    output=record("raw", raw=listed(TEXT)),  # of a single turn an object, never null
    messages={"type": "null"},
    answer_attribution=listed(record(
        "turn_idx source extracted_value extraction_method is_terminal", turn_idx={"type": "integer", "minimum": 0},
        source=TEXT, extracted_value=TEXT, extraction_method=TEXT, is_terminal=TRUTH,
    )),
    evaluation=record("score is_correct", score=NUMBER, is_correct=TRUTH),
    error={"type": ["string", "null"]}, metadata=TEXTS,
)  # fmt: skip


def strict(text: str) -> Any:
    """Read JSON without the numbers that it does not have."""

    def refuse(name: str) -> Any:
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


def checked(folder: Path) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Check all records in a folder; return each aggregate with its rows."""
    found = []
    for file in sorted((folder / "data").rglob("*")):
        if file.is_dir():
            continue
        place = file.relative_to(folder).as_posix()
        assert re.fullmatch(rf"data/[^/]+/[^/]+/[^/]+/{UUID4}(_samples\.jsonl|\.json)", place), place
        assert not re.search(r'[<>:"\\|?*\x00-\x1f]|[. ]/', place), place
        if file.suffix == ".json":
            found.append(_checked(folder, file))
    return found


def _checked(folder: Path, file: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    whole = strict(file.read_text(encoding="utf-8"))
    jsonschema.validate(whole, AGGREGATE)
    assert whole["schema_version"] == "0.3.0"
    detail = whole["detailed_evaluation_results"]
    assert detail["file_path"] == f"{file.relative_to(folder).as_posix().removesuffix('.json')}_samples.jsonl"
    content = (folder / detail["file_path"]).read_bytes()
    assert hashlib.sha256(content).hexdigest() == detail["checksum"]
    rows = [strict(line) for line in content.decode("utf-8").splitlines()]  # as their validator cuts lines
    assert len(rows) == detail["total_rows"] > 0
    results = {result["evaluation_result_id"]: result for result in whole["evaluation_results"]}
    assert len(results) == len(whole["evaluation_results"])
    for row in rows:
        jsonschema.validate(row, INSTANCE)
        assert (row["schema_version"], row["evaluation_id"]) == ("0.3.0", whole["evaluation_id"])
        assert row["model_id"] == whole["model_info"]["id"]
        assert row["evaluation_name"] == results[row["evaluation_result_id"]]["evaluation_name"]
        hashed = json.dumps(
            {"raw": row["input"]["raw"], "reference": row["input"]["reference"]}, sort_keys=True, separators=(",", ":")
        )
        assert row["sample_hash"] == hashlib.sha256(hashed.encode()).hexdigest()
    for result in results.values():
        score, bounds = result["score_details"]["score"], result["metric_config"]
        assert math.isfinite(score) and float(bounds["min_score"]) <= score <= float(bounds["max_score"])
    return whole, rows
