"""Made-up logs of other tools: of Inspect as a zip archive or one object, of HELM as a folder."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from inference.__main__ import main

STORED, DEFLATED, ZSTANDARD = 0, 8, 93
COLOURS = ("red", "green", "blue")


def sample(name: Any = 1, value: Any = "C", answer: str = "A", **fields: Any) -> dict[str, Any]:
    """A sample of Inspect about a colour, whose right answer is the first choice."""
    made = {
        "id": name,
        "epoch": 1,
        "input": f"Which colour has fruit {name}?",
        "choices": list(COLOURS),
        "target": "A",
        "messages": [
            {"role": "system", "content": "Answer with a letter."},
            {"role": "user", "content": f"Which colour has fruit {name}?\n\nA) red\nB) green\nC) blue"},
            {"role": "assistant", "content": f"ANSWER: {answer}"},
        ],
        "output": {"choices": [{"message": {"role": "assistant", "content": f"ANSWER: {answer}"}}]},
        "scores": {"choice": {"value": value, "answer": answer}},
        "metadata": {},
        "attachments": {},
    }
    return {**made, **fields}


def text_sample(name: Any = 1, value: Any = "C", **fields: Any) -> dict[str, Any]:
    """A sample of Inspect without choices, scored as right or wrong."""
    return sample(name, **{"choices": None, "target": "red", "scores": {"match": {"value": value}}, **fields})


def header(model: str = "made/up", task: str = "colours", **fields: Any) -> dict[str, Any]:
    """The header of a log of Inspect; fields of `eval` are given as `eval_NAME`."""
    about = {name.removeprefix("eval_"): value for name, value in fields.items() if name.startswith("eval_")}
    rest = {name: value for name, value in fields.items() if not name.startswith("eval_")}
    plan = {"steps": [{"solver": "multiple_choice", "params": {}}], "config": {}}
    return {"version": 2, "status": "success", "eval": {"task": task, "model": model, **about}, "plan": plan, **rest}


def stating(scorer: str, accuracy: float) -> dict[str, Any]:
    """Results that state an accuracy."""
    return {"results": {"scores": [{"name": scorer, "metrics": {"accuracy": {"value": accuracy}}}]}}


def as_json(samples: Sequence[Mapping[str, Any]], head: Mapping[str, Any] | None = None) -> bytes:
    """A log as one object."""
    return json.dumps({**(head or header()), "samples": list(samples)}).encode()


def as_eval(
    samples: Sequence[Mapping[str, Any]], head: Mapping[str, Any] | None = None, method: int = DEFLATED, frames: int = 1
) -> bytes:
    """A log as a zip archive, whose members are compressed by a method, zstd in one or several frames."""
    members = {f"samples/{each['id']}_epoch_{each['epoch']}.json": each for each in samples}
    return zipped({**members, "header.json": head or header()}, method, frames)


def unfinished(samples: Sequence[Mapping[str, Any]]) -> bytes:
    """A log that was broken off: its header was not written yet."""
    members = {f"samples/{each['id']}_epoch_{each['epoch']}.json": each for each in samples}
    start = {name: value for name, value in header().items() if name != "status"}
    return zipped({"_journal/start.json": start, **members}, DEFLATED)


def zipped(members: Mapping[str, Any], method: int = DEFLATED, frames: int = 1) -> bytes:
    """A zip archive with JSON members, written by hand: Python's own module knows zstd from 3.14 on only."""
    file, central = io.BytesIO(), b""
    for name, content in members.items():
        plain = content if isinstance(content, bytes) else json.dumps(content).encode()
        packed = _packed(plain, method, frames)
        common = struct.pack(
            "<HHHHHLLLHH", 20, 0, method, 0, 33, zlib.crc32(plain), len(packed), len(plain), len(name), 0
        )
        central += b"PK\x01\x02" + struct.pack("<H", 20) + common + struct.pack("<HHHLL", 0, 0, 0, 0, file.tell())
        central += name.encode()
        file.write(b"PK\x03\x04" + common + name.encode() + packed)
    start = file.tell()
    file.write(
        central + b"PK\x05\x06" + struct.pack("<HHHHLLH", 0, 0, len(members), len(members), len(central), start, 0)
    )
    return file.getvalue()


def _packed(plain: bytes, method: int, frames: int) -> bytes:
    if method == DEFLATED:
        pressed = zlib.compressobj(wbits=-zlib.MAX_WBITS)
        return pressed.compress(plain) + pressed.flush()
    if method == ZSTANDARD:
        import zstandard

        size = -(-len(plain) // frames)
        parts = [plain[start : start + size] for start in range(0, len(plain), size)]
        return b"".join(zstandard.ZstdCompressor().compress(part) for part in parts)
    return plain


def bomb(size: int) -> bytes:
    """A log whose only sample is `size` zeros when it is unpacked."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(header()))
        with archive.open("samples/1_epoch_1.json", "w", force_zip64=True) as member:
            for _ in range(size // 1_000_000):
                member.write(bytes(1_000_000))
    return file.getvalue()


# HELM


def perturbed(name: str, **fields: Any) -> dict[str, Any]:
    """The description of a perturbation."""
    return {"name": name, "robustness": True, "fairness": False, "computed_on": "perturbed", **fields}


def request(
    instance: str = "id1", letter: str = " A", perturbation: Mapping[str, Any] | None = None, **fields: Any
) -> dict[str, Any]:
    """A request of HELM about a colour, whose right answer is the second choice."""
    references = [{"output": {"text": colour}, "tags": ["correct"] if colour == "green" else []} for colour in COLOURS]
    text = f"Which colour has {instance}?" if perturbation is None else f"WHICH colour haz {instance}?"
    about = {"input": {"text": text}, "references": references, "split": "test", "id": instance}
    if perturbation is not None:
        about["perturbation"] = dict(perturbation)
    made = {
        "instance": about,
        "train_trial_index": 0,
        "output_mapping": dict(zip("ABC", COLOURS, strict=True)),
        "request": {"prompt": f"Say a letter.\n\n{text}\nA. red\nB. green\nC. blue\nAnswer:"},
        "result": {"success": True, "completions": [{"text": letter, "logprob": 0.0}]},
    }
    return {**made, **fields}


def scored(of: Mapping[str, Any], **metrics: float) -> dict[str, Any]:
    """The scores of a request; exact_match is 1 where its letter is B."""
    right = float(of["result"]["completions"][0]["text"].strip() == "B") if of["result"]["completions"] else 0.0
    stats = [
        {"name": {"name": name, "split": "test"}, "count": 1, "mean": value}
        for name, value in {"exact_match": right, **metrics}.items()
    ]
    entry = {"instance_id": of["instance"]["id"], "train_trial_index": of["train_trial_index"], "stats": stats}
    if "perturbation" in of["instance"]:
        entry["perturbation"] = of["instance"]["perturbation"]
    return entry


def helm(
    folder: Path,
    requests: Sequence[Mapping[str, Any]],
    *,
    stats: Sequence[Mapping[str, Any]] | None = None,
    name: str = "colours:subject=fruit,model=made_up",
    **adapter: Any,
) -> Path:
    """Write the folder of a HELM run; the adapter's fields may be changed."""
    spec = {
        "name": name,
        "scenario_spec": {"class_name": "made.up.ColourScenario", "args": {"subject": "fruit"}},
        "adapter_spec": {"method": "multiple_choice_joint", "model": "made/up", "temperature": 0.0, **adapter},
    }
    folder.mkdir(parents=True, exist_ok=True)
    contents = {
        "run_spec.json": spec,
        "scenario_state.json": {"adapter_spec": spec["adapter_spec"], "request_states": list(requests)},
        "per_instance_stats.json": [scored(each) for each in requests] if stats is None else list(stats),
    }
    for file, content in contents.items():
        (folder / file).write_text(json.dumps(content), encoding="utf-8")
    return folder


# Every Eval Ever


def eee_result(name: str, score: float, **config: Any) -> dict[str, Any]:
    """A result of a record of another tool: the mean of an evaluation."""
    return {
        "evaluation_name": name,
        "source_data": {"dataset_name": "colours", "source_type": "other"},
        "metric_config": {"lower_is_better": False, "score_type": "continuous", **config},
        "score_details": {"score": score},
    }


def eee_row(sample: str, name: str, score: Any, **fields: Any) -> dict[str, Any]:
    """A row of such a record: one answer and its score by one evaluation."""
    made = {
        "evaluation_id": "colours/made/up/1",
        "model_id": "made/up",
        "evaluation_name": name,
        "sample_id": sample,
        "input": {"raw": f"Which colour has fruit {sample}?", "reference": ["red"]},
        "output": {"raw": ["green"]},
        "evaluation": {"score": score, "is_correct": False},
    }
    return {**made, **fields}


def eee_record(
    folder: Path, results: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]], **fields: Any
) -> Path:
    """Write a record, `record.json` with its rows beside it; return its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    whole = {
        "schema_version": "0.3.0",
        "evaluation_id": "colours/made/up/1",
        "model_info": {"id": "made/up"},
        "evaluation_results": list(results),
        **fields,
    }
    (folder / "record.json").write_text(json.dumps(whole), encoding="utf-8")
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "record_samples.jsonl").write_text(lines, encoding="utf-8")
    return folder


def imported(out: Path, *arguments: Any) -> tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]:
    """Import logs of Inspect, expecting success, and return (run.json, stimuli, responses)."""
    assert main(["import", "inspect", *map(str, arguments), "--out", str(out)]) == 0
    parts = sorted((out / "responses").glob("*.parquet"))
    responses = [row for part in parts for row in pq.read_table(part).to_pylist()]
    info = json.loads((out / "run.json").read_text(encoding="utf-8"))
    return info, pq.read_table(out / "stimuli.parquet").to_pylist(), responses


def write(path: Path, content: bytes) -> Path:
    """Write a file and return its path."""
    path.write_bytes(content)
    return path


def import_scores(
    tmp_path: Path, tool: str, *words: Any, out: str = "run"
) -> tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]:
    """Import logs of a tool, expecting success, and return run.json, the stimuli and the responses."""
    assert main(["import", tool, *map(str, words), "--out", str(tmp_path / out)]) == 0
    parts = sorted((tmp_path / out / "responses").glob("*.parquet"))
    rows = [row for part in parts for row in pq.read_table(part).to_pylist()]
    info = json.loads((tmp_path / out / "run.json").read_text(encoding="utf-8"))
    return info, pq.read_table(tmp_path / out / "stimuli.parquet").to_pylist(), rows


def scores_by_condition(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Condition -> the scores of its rows, in their order."""
    found: dict[str, list[Any]] = {}
    for row in rows:
        found.setdefault(row["condition"], []).append(row["score"])
    return found
