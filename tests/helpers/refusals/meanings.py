"""meaning.parquet beside a run: damaged, of another study, of other wordings, or with values that nobody writes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pandas as pd
import pyarrow as pa

from helpers.meaning_runs import draw_flips, draw_meaning, write_meaning, write_meaning_run
from helpers.refusals import Case
from helpers.synthetic import arrow_schema, random_frame, write_run

FILE = "meaning.parquet"
TABLE = "analysis table run meaning_checks"
Change = Callable[[pd.DataFrame], pd.DataFrame]


def _write(folder: Path) -> Path:
    """Write a small run with a whole file."""
    return write_meaning_run(folder / "run", items=3, paraphrases=4, checks={"decoys": 1, "sheet": 2})


def _change_rows(change: Change, folder: Path) -> None:
    """Write a run whose file has other rows than a whole one."""
    frame = draw_flips(items=3, paraphrases=4)
    run = write_run(folder / "run", frame.drop(columns="same"))
    wordings = frame.loc[frame["variant"] != "original", ["item", "variant", "text", "same"]]
    write_meaning(run, change(draw_meaning(wordings, decoys=1, sheet=2)))


def _set_cell(column: str, value: object) -> Change:
    """Give the first row another value."""

    def change(rows: pd.DataFrame) -> pd.DataFrame:
        rows = rows.assign(study="synthetic").astype({column: "object"})
        rows.loc[rows.index[0], column] = value
        return rows

    return change


def _set_vote(rows: pd.DataFrame) -> pd.DataFrame:
    """Let a person say a half."""
    return rows.assign(score=rows["score"].where(~rows["check"].str.startswith("people:"), 0.5))


def _cut_short(folder: Path) -> None:
    """Cut the file in half."""
    file = _write(folder) / FILE
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def _replace_by_folder(folder: Path) -> None:
    """Put a folder in the place of the file."""
    (_write(folder) / FILE).unlink()
    (folder / "run" / FILE).mkdir()


def _write_with(folder: Path, *, schema: pa.Schema | None = None, **facts: object) -> None:
    """Write a file whose metadata or schema are others."""
    run = _write(folder)
    rows = pd.DataFrame({"item": ["i00"], "variant": ["p01"], "check": ["words"], "score": [0.5]})
    write_meaning(run, rows, schema=schema, **facts)  # type: ignore[arg-type]


def _write_whole_scores(folder: Path) -> None:
    """Write a file whose scores are whole numbers."""
    fields = [field.with_type(pa.int64()) if field.name == "score" else field for field in arrow_schema("meaning")]
    rows = pd.DataFrame({"item": ["i00"], "variant": ["p01"], "check": ["words"], "score": [1]})
    write_meaning(_write(folder), rows, schema=pa.schema(fields))


def _write_two(folder: Path) -> None:
    """Write the same study twice, other models, with files that differ."""
    for name, seed in (("a", 0), ("b", 1)):
        write_meaning_run(folder / "runs" / name, [name], items=3, paraphrases=4, checks={"seed": seed})


def _write_unchecked(folder: Path) -> None:
    """Write a run whose wordings nobody checked."""
    write_run(folder / "run", random_frame())


CASES = [
    Case("a meaning file that is cut short", TABLE, (FILE, "damaged", "waver meaning"), _cut_short),
    Case("a meaning file that is a folder", TABLE, (FILE, "not an ordinary file"), _replace_by_folder),
    Case("a damaged file under a condition", ("analysis", "table", "run", "stability", "--where", "meaning = 'same'"),
         (FILE, "damaged"), _cut_short),
    Case("a damaged file in a report", "analysis report run --out report", (FILE, "damaged"), _cut_short),
    Case("a damaged file in an export", "analysis export run --as csv --out x", (FILE, "damaged"), _cut_short),
    Case("the meaning of another study's wordings", TABLE, (FILE, "hash", "another", "waver meaning"),
         partial(_write_with, study_hash="another")),
    Case("a meaning file of a later version", TABLE, (FILE, "version 1"), partial(_write_with, version=2)),
    Case("a meaning file with checks that are none", TABLE, (FILE, "metadata"), partial(_write_with, checks=[1])),
    Case("a meaning file without scores", TABLE, (FILE, "'score'", "missing"),
         partial(_write_with, schema=pa.schema(list(arrow_schema("meaning"))[:-1]))),
    Case("scores that are whole numbers", TABLE, (FILE, "'score'", "type int64, not double"),
         _write_whole_scores),
    Case("an item that the run has not", TABLE, (FILE, "'x'", "not in this run"),
         partial(_change_rows, _set_cell("item", "x"))),
    Case("a wording that the run has not", TABLE, (FILE, "variant 'x'", "no such wording"),
         partial(_change_rows, _set_cell("variant", "x"))),
    Case("a wording with another text", TABLE, (FILE, "'p01'", "text", "another"),
         partial(_change_rows, _set_cell("text", "Another text."))),
    Case("a meaning file with rows of another study", TABLE, (FILE, "study", "'synthetic'"),
         partial(_change_rows, _set_cell("study", "x"))),
    Case("a check that there is not", TABLE, (FILE, "'guess'", "none of", "entailment:NAME"),
         partial(_change_rows, _set_cell("check", "guess"))),
    Case("a check without its model", TABLE, (FILE, "'judge:'", "judge:NAME"),
         partial(_change_rows, _set_cell("check", "judge:"))),
    Case("a score that is infinite", TABLE, (FILE, "'i00'", "not a number"),
         partial(_change_rows, _set_cell("score", float("inf")))),
    Case("a vote that is a half", TABLE, (FILE, "people:ann", "neither 0 nor 1"), partial(_change_rows, _set_vote)),
    Case("a score that is there twice", TABLE, (FILE, "'p01'", "there twice"),
         partial(_change_rows, lambda rows: pd.concat([rows, rows.head(1)]))),
    Case("two folders that say different things", "analysis table runs meaning_checks",
         ("a/meaning.parquet", "b/meaning.parquet", "delete the older"), _write_two),
    Case("a condition on wordings that nobody checked", ("analysis", "table", "run", "stability", "--where",
         "meaning = 'same'"), ("where", "meaning", "no wording was checked", "waver meaning"), _write_unchecked),
]  # fmt: skip
