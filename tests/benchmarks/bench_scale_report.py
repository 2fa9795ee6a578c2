"""How long does a report of a large battery take? 50 models, 100 personas, 60 items, 5 wordings: 1.5 million rows.

    .venv/bin/python tests/benchmarks/bench_scale_report.py /tmp/battery
    .venv/bin/python tests/benchmarks/bench_scale_report.py /tmp/battery --models 5

Prints CPU seconds and the most memory of `waver report`. The bar of issue 31: 120 s and 1.5 GB.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from helpers.scale_runs import draw_answers, name_condition, parse_condition, spread_over_options, write_scale  # noqa: E402
from helpers.synthetic import arrow_schema  # noqa: E402

SCALES = ("care", "order", "trust")


def write_battery(folder: Path, n_models: int, n_personas: int, n_items: int, n_wordings: int) -> None:
    """Write the run: the stimuli by the tests' own writer, the responses model by model."""
    personas = [f"person {number:03d}" for number in range(n_personas)]
    small = draw_answers(
        ["model-00"], scales=SCALES, items=n_items // len(SCALES), wordings=n_wordings, orders=("up",),
        personas=personas[:1], without_original=True,
    )  # fmt: skip
    write_scale(folder, small)
    for part in (folder / "responses").iterdir():
        part.unlink()
    info = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    conditions = [name_condition(persona=persona) for persona in personas]
    models = [f"model-{number:02d}" for number in range(n_models)]
    fields = next(iter(info["models"].values()))
    info |= {
        "models": dict.fromkeys(models, fields),
        "conditions": {name: parse_condition(name) for name in conditions},
    }
    (folder / "run.json").write_text(json.dumps(info), encoding="utf-8")
    draw = np.random.default_rng(0)
    key, size = small["key"].to_numpy(), len(small)
    item_effects = np.repeat(draw.normal(0, 0.1, n_items), n_wordings)
    schema = arrow_schema("responses")
    for place, model in enumerate(models):
        traits = draw.normal(0, 0.1, (n_personas, 1))
        s = 0.5 + item_effects + key * traits + draw.normal(0, 0.05, (n_personas, size)) + 0.1 * (place % 5 == 0)
        shares = 0.9 * spread_over_options(np.clip(s, 0.01, 0.99), 5).reshape(-1, 5)
        offsets = pa.array(np.arange(0, shares.size + 1, 5, dtype=np.int32))
        lists = {
            "probability": pa.ListArray.from_arrays(offsets, shares.ravel()),
            "logprob": pa.ListArray.from_arrays(offsets, np.log(shares).ravel()),
        }
        columns = {
            "study": ["synthetic"] * len(shares), "model": [model] * len(shares),
            "condition": np.repeat(conditions, size), "item": list(small["item"]) * n_personas,
            "variant": list(small["variant"]) * n_personas, "mass": shares.sum(axis=1), **lists,
        }  # fmt: skip
        arrays = [
            pa.array(columns[field.name], field.type) if field.name in columns and field.name not in lists
            else lists.get(field.name, pa.nulls(len(shares), field.type))
            for field in schema
        ]  # fmt: skip
        table = pa.Table.from_arrays(arrays, schema=schema)
        pq.write_table(table, folder / "responses" / f"part-{place + 1:06d}.parquet")


def main() -> None:
    """Write the run unless it is there, report it, and print what that took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--models", type=int, default=50)
    parser.add_argument("--personas", type=int, default=100)
    parser.add_argument("--items", type=int, default=60)
    parser.add_argument("--wordings", type=int, default=5)
    args = parser.parse_args()
    if not args.folder.exists():
        write_battery(args.folder, args.models, args.personas, args.items, args.wordings)
    out = args.folder.with_name(f"{args.folder.name}-report")
    call = [sys.executable, "waver.py", "report", str(args.folder), "--out", str(out)]
    subprocess.run(call, check=True, cwd=ROOT)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{used.ru_utime + used.ru_stime:.0f} s CPU, {used.ru_maxrss / 1e6:.2f} GB")


if __name__ == "__main__":
    main()
