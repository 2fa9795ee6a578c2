"""Damaged run folders: every field of run.json missing or of another type, and Parquet files that are not whole."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from helpers import damaged_rows
from helpers.commands import ROOT
from helpers.refusals import Case
from helpers.run_json import spoiled

RUN = ROOT / "tests" / "fixtures" / "run-of-f7ec5ae" / "agreement"
PART = "responses/part-000001-20261122T041125Z.parquet"
INFO = json.loads((RUN / "run.json").read_text(encoding="utf-8"))
ITEMS = RUN.parent / "items.csv"
COMMANDS = {
    "run": f"inference run agreement --items {ITEMS} --name items --model any --engine causal --out run",
    "status": "inference status run",
    "table": "analysis table run stability",
    "report": "analysis report run --out report",
    "features": "analysis features run",
    "show": "analysis show run",
    "export": "analysis export run --as csv --out tables",
}
IN_THE_RUN = (
    "probability",
    "logprob",
    "mass",
    "answer",
    "item",
    "variant",
    "model",
    "condition",
    "text",
    "pattern",
    "options",
    "canonical",
)  # columns of `RUN` that have values


def _run_json() -> list[Case]:
    """Give two of the ways to spoil run.json to each command; `tests/ground/test_run_json.py` has all of them."""
    cases = []
    for number, (what, place, content) in enumerate(list(spoiled(INFO))[::11]):
        command = list(COMMANDS)[number % len(COMMANDS)]
        field = next((step for step in reversed(place) if isinstance(step, str)), "run.json")
        text = json.dumps(content)
        cases.append(Case(f"{command}: {what}", COMMANDS[command], ("run.json", field), partial(_with_info, text)))
    return cases


def _copy(folder: Path) -> None:
    """Copy the run as the command leaves it, with the file that it locks."""
    shutil.copytree(RUN, folder / "run")
    (folder / "run" / ".lock").touch()


def _with_info(text: str, folder: Path) -> None:
    _copy(folder)
    (folder / "run" / "run.json").write_text(text, encoding="utf-8")


def _with(change: Callable[[Path], Any], name: str, folder: Path) -> None:
    """Copy the run and change one of its files."""
    _copy(folder)
    change(folder / "run" / name)


def _columns(change: Callable[[pa.Table], pa.Table]) -> Callable[[Path], None]:
    return lambda file: pq.write_table(change(pq.read_table(file, partitioning=None)), file)


def _named(column: str, names: Callable[[list[str]], list[str]]) -> Callable[[Path], None]:
    """Change the texts of a column."""

    def change(table: pa.Table) -> pa.Table:
        place = table.column_names.index(column)
        return table.set_column(place, table.schema.field(column), pa.array(names(table[column].to_pylist())))

    return _columns(change)


def _folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def _pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def _endless(file: Path) -> None:
    file.unlink()
    file.symlink_to("/dev/zero")


def _dangling(file: Path) -> None:
    file.unlink()
    file.symlink_to("nowhere")


def _not_utf8(file: Path) -> None:
    """Make the model's name, and only that, no text."""
    file.write_bytes(file.read_bytes().replace(b"waver-demo-small", b"waver-demo-\xff\xfe\xfdll"))


def _wrong_type(column: str) -> Callable[[Path], None]:
    def change(table: pa.Table) -> pa.Table:
        return table.set_column(table.column_names.index(column), column, pa.array([1.5] * len(table)))

    return _columns(change)


def _with_damaged_value(chosen: damaged_rows.Damage, folder: Path) -> None:
    _copy(folder)
    assert damaged_rows.damage(folder / "run", chosen, random.Random(0))


DAMAGE: dict[str, Callable[[Path], Any]] = {
    "empty": lambda file: file.write_bytes(b""),
    "cut short": lambda file: file.write_bytes(file.read_bytes()[:-100]),
    "of something else": lambda file: file.write_bytes(b"item,text\n"),
    "a folder": _folder,
    "without the column variant": _columns(lambda table: table.drop_columns(["variant"])),
    "with numbers as items": _wrong_type("item"),
}
BROKEN = [
    Case(
        f"{command}: {name.split('/')[0]} {what}",
        COMMANDS[command],
        (name, *(words.get(what, ()) if command != "features" else ())),
        partial(_with, change, name),
    )
    for name, commands in ((PART, ("run", "status", "table")), ("stimuli.parquet", ("run", "features")))
    for command in commands
    for words in ({"without the column variant": ("variant",), "with numbers as items": ("item",)},)
    for what, change in DAMAGE.items()
]
CONTRADICTIONS = [
    Case("a model that run.json does not name", COMMANDS["table"], ("responses", "model 'x'", "run.json"),
         partial(_with, _named("model", lambda names: ["x"] * len(names)), PART)),
    Case("a condition that run.json does not name", COMMANDS["table"], ("responses", "condition 'x'", "run.json"),
         partial(_with, _named("condition", lambda names: ["x"] * len(names)), PART)),
    Case("an item that is not in the stimuli", COMMANDS["table"], ("item 'x'", "stimuli.parquet"),
         partial(_with, _named("item", lambda names: ["x", *names[1:]]), PART)),
    Case("the rows of another study", COMMANDS["table"], ("study 'x'", "run.json"),
         partial(_with, _named("study", lambda names: ["x"] * len(names)), PART)),
    Case("a part that is there twice", COMMANDS["table"], ("responses", "duplicate"),
         partial(_with, lambda file: shutil.copy(file, file.with_name("part-000009.parquet")), PART)),
    Case("a variant that is there twice", COMMANDS["table"], ("stimuli.parquet", "twice"),
         partial(_with, _columns(lambda table: pa.concat_tables([table, table.slice(1, 1)])), "stimuli.parquet")),
    Case("text that is no text", COMMANDS["status"], (PART, "damaged"), partial(_with, _not_utf8, PART)),
    Case("features that are cut short", COMMANDS["features"], ("features.parquet", "damaged"),
         partial(_with, lambda file: file.write_bytes(b"PAR1"), "features.parquet")),
    Case("run.json is a folder", COMMANDS["status"], ("run.json",), partial(_with, _folder, "run.json")),
    Case("run.json is empty", COMMANDS["status"], ("run.json", "JSON"), partial(_with_info, "")),
    Case("run.json is no JSON", COMMANDS["table"], ("run.json", "JSON"), partial(_with_info, "{")),
    Case("run.json of another version", COMMANDS["run"], ("run.json", "format 7"),
         partial(_with_info, json.dumps({**INFO, "format": 7}))),
]  # fmt: skip
# One value of a column; `tests/whole/fuzz_runs.py` has them at random, in runs of all protocols.
VALUES = [
    Case(f"a value: {chosen.name}", COMMANDS[command], ("run", chosen.column if chosen.column != "variant" else "item"),
         lambda folder, chosen=chosen: _with_damaged_value(chosen, folder))
    for number, chosen in enumerate(damaged_rows.ALL) if chosen.column in IN_THE_RUN
    for command in [("table", "report", "features", "show", "export")[number % 5]]
]  # fmt: skip
SPECIAL = [
    *(Case(f"{command}: {name.split('/')[0]} a pipe", COMMANDS[command], (name,), partial(_with, _pipe, name))
      for name in (PART, "stimuli.parquet", "run.json") for command in ("run", "table", "features", "status")
      if (name, command) != ("stimuli.parquet", "status")),
    *(Case(f"{command}: run.json without an end", COMMANDS[command], ("run.json",),
           partial(_with, _endless, "run.json")) for command in ("run", "table")),
    *(Case(f"{command}: a part that leads nowhere", COMMANDS[command], (PART,), partial(_with, _dangling, PART))
      for command in ("run", "table", "status")),
]  # fmt: skip
DEMO = f"inference run agreement --items {ITEMS} --name items --model demo --out run"
EARLIER = [
    Case("the answers of demo models of before", DEMO, ("run:", "'waver-demo-small'", "another revision", "sha256:0,"),
         partial(_with_info, json.dumps(INFO).replace(INFO["models"]["waver-demo-small"]["revision"], "sha256:0"))),
    Case("the answers of a demo model that is gone", DEMO, ("run:", "'waver-demo-tiny'", "no longer", "--out"),
         partial(_with_info, json.dumps(INFO).replace("waver-demo-small", "waver-demo-tiny"))),
]  # fmt: skip
CASES = [*_run_json(), *BROKEN, *CONTRADICTIONS, *VALUES, *SPECIAL, *EARLIER]
