"""Files of scores and aliases, options of tables and reports, and features that were damaged."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from helpers.refusals import Case, write_once
from helpers.synthetic import random_frame, write_run
from helpers.wording_runs import random_rows, write_wording

TABLE = "analysis table run benchmarks -p scores=s.{} -p score_columns=all"
ALIASES = "analysis table run benchmarks -p scores=s.csv -p score_columns=MT -p aliases=a.{}"
PLAIN = "model,MT\na,1\nb,2\nc,3\nd,4\n"
SWALLOW = {"id": "a", "params": 7, "results": {"ja": {"MT": 0.5}}}
OPEN_LLM = (
    "model_name,model_average_score,evaluations_ifeval_name,evaluations_ifeval_value,metadata_params_billions,"
    "metadata_submission_date\n"
)


@write_once
def asked(folder: Path) -> None:
    """A small run of the protocol `wording`, of four models."""
    write_wording(folder / "run", random_rows(list("abcd"), items=3))


def scored(name: str, content: str | bytes, words: tuple[str, ...], ending: str = "csv", options: str = "") -> Case:
    """A file of scores that is refused."""
    return Case(name, f"{TABLE.format(ending)} {options}", (f"s.{ending}", *words), _files({f"s.{ending}": content}))


def aliased(name: str, content: str | bytes, words: tuple[str, ...], ending: str = "csv") -> Case:
    """A file of aliases that is refused."""
    files = {"s.csv": PLAIN, f"a.{ending}": content}
    return Case(name, ALIASES.format(ending), (f"a.{ending}", *words), _files(files))


def _files(files):
    def write(folder: Path) -> None:
        asked(folder)
        for name, content in files.items():
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))

    return write


def _made(how):
    """The run, and a file made by a function."""

    def write(folder: Path) -> None:
        asked(folder)
        how(folder)

    return write


def swallow(**fields) -> str:
    return json.dumps([{**SWALLOW, **fields}])


def featured(metadata: object, columns: tuple[str, ...] = ("language", "text")):
    """A run with a features file of this metadata."""

    def write(folder: Path) -> None:
        write_run(folder / "run", random_frame(items=2, paraphrases=2))
        table = pa.table({name: pa.array(["en"], pa.string()) for name in columns})
        content = metadata if isinstance(metadata, bytes) else json.dumps(metadata).encode()
        pq.write_table(table.replace_schema_metadata({b"waver": content}), folder / "run" / "features.parquet")

    return write


def features(name: str, metadata: object, full: bool = True) -> Case:
    from analysis.features.store import TEXT_COLUMNS

    def write(folder: Path) -> None:
        featured(metadata)(folder)
        if full:
            file = folder / "run" / "features.parquet"
            table = pq.read_table(file)
            numbers = {column: pa.array(np.zeros(1)) for column in TEXT_COLUMNS}
            rows = pa.table({**{c: table[c] for c in table.column_names}, **numbers})
            pq.write_table(rows.replace_schema_metadata(table.schema.metadata), file)

    return Case(name, "analysis features run", ("run/features.parquet", "delete it and compute the features"), write)


RECORD = {"language": "en", "columns": ["word_length"], "identity": None, "note": "", "n_texts": 1}
HEAD = {"format": 1, "default_language": "en", "components": [RECORD]}
NESTED = "a: " + "[" * 5000 + "]" * 5000 + "\n"
BOMB = "a: &a {x: 1}\n" + "".join(f"{b}: &{b} [*{a}, *{a}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True))

CASES = [
    # what is no file of text
    Case("scores that are not there", TABLE.format("csv"), ("s.csv", "cannot be read", "no such file"), asked),
    Case("scores that are a folder", TABLE.format("csv"), ("s.csv", "not a file"),
         _made(lambda folder: (folder / "s.csv").mkdir())),
    Case("scores that are a pipe", TABLE.format("csv"), ("s.csv", "not a file"),
         _made(lambda folder: os.mkfifo(folder / "s.csv"))),
    Case("scores without an end", TABLE.format("yaml"), ("s.yaml", "not a file"),
         _made(lambda folder: (folder / "s.yaml").symlink_to("/dev/zero"))),
    scored("scores of more bytes than are read", b"model,MT\n" + b"a,1\n" * 6_000_000, ("24,000,009 bytes",)),
    scored("scores that are empty", "", ("empty",)),
    scored("scores that are a byte order mark", "\ufeff \n", ("empty",)),
    scored("scores that are not UTF-8", "model,MT\nä,1\n".encode("latin-1"), ("line 2", "not UTF-8")),
    scored("scores with a NUL character", "model,MT\na\0,1\n", ("line 2", "NUL")),
    scored("scores that are JSON", "{}", ("csv, .yaml or .yml",), "json"),
    # CSV
    scored("a header and nothing else", "model,MT\n", ("model",)),
    scored("a column twice", "model,MT,MT\na,1,2\n", ("line 1", "'MT' appears twice")),
    scored("a column without a name", "model,,MT\na,1,2\n", ("line 1", "column 2 has no name")),
    scored("a row that is too long", PLAIN + "e,5,6\n", ("line 6", "3 cells", "2 columns")),
    scored("a row that is too short", "model,MT,x\na,1,2\nb,1\n", ("line 3", "2 cells", "3 columns")),
    scored("a quote that is never closed", 'model,MT\n"a,1\n', ("line 2", "not valid CSV")),
    scored("a model without a name", "model,MT\na,1\n ,2\n", ("line 3", "'model' is empty")),
    scored("no model", "who,MT\na,1\n", ("no column with the model's name",)),
    # numbers
    scored("an infinite score", "model,MT\na,1\nb,inf\n", ("line 3", "MT", "'inf' is not a finite number")),
    scored("a score beyond a float", "model,MT\na,1e999\n", ("line 2", "MT", "'1e999' is not a finite")),
    scored("a score of 5,000 digits", f"model,MT\na,{'9' * 5000}\n", ("line 2", "MT", "not a finite number")),
    scored("no number in any column", "model,MT\na,high\n", ("no column of scores",)),
    scored("no score in a column", "model,MT\na,NaN\nb,\n", ("no column of scores",)),
]  # fmt: skip


def named(name: str, content: str, words: tuple[str, ...], columns: str = "MT", options: str = "") -> Case:
    """A CSV file of scores whose benchmarks are named, and that is refused."""
    call = f"analysis table run score_matrix -p scores=s.csv -p score_columns={columns} {options}"
    return Case(name, call, words, _files({"s.csv": content}))


CASES += [
    named("a word among scores", PLAIN + "e,high\n", ("s.csv", "line 6", "MT", "'high'")),
    named("an underscore in a number", PLAIN + "e,1_000\n", ("s.csv", "line 6", "'1_000'")),
    named("full-width digits", PLAIN + "e,１２\n", ("s.csv", "line 6", "'１２'")),
    named("a comma for a point", PLAIN + 'e,"1,5"\n', ("s.csv", "line 6", "'1,5'")),
    named("a size that is none", "model,params,MT\na,big,1\n", ("s.csv", "line 2", "params", "'big'")),
    named("a benchmark that is not there", PLAIN, ("s.csv", "'GPQA' is not there", "MT"), "GPQA"),
    named("a benchmark named twice", PLAIN, ("s.csv", "'MT' is named twice"), "MT,MT"),
    named("a benchmark without a score", "model,MT,x\na,1,\n", ("s.csv", "'x' has no score"), "MT,x"),
    Case("numbers that nobody named", "analysis table run score_matrix -p scores=s.csv",
         ("s.csv", "say which columns are benchmarks", "score_columns=seed,MT"),
         _files({"s.csv": "model,seed,MT\na,1,2\n"})),
    named("several rows of a model", PLAIN + "a,5\n",
          ("s.csv", "'a' has 2 rows", "score_rows=best, mean or newest")),
    named("an unknown rule", PLAIN, ("score_rows is 'median'", "best, mean or newest"), options="-p score_rows=median"),
    named("the newest without a date", PLAIN + "a,5\n", ("s.csv", "line 2", "no date", "best or mean"),
          options="-p score_rows=newest"),
    named("the newest of what is no date", "model,date,MT\na,soon,1\na,2024-13-45,2\n",
          ("s.csv", "line 2", "'soon' is no date"), options="-p score_rows=newest"),
    Case("aliases without scores", "analysis table run benchmarks -p aliases=a.csv", ("aliases", "-p scores=FILE"),
         _files({"a.csv": "model,alias\na,b\n"})),
    # YAML
    scored("YAML that is none", "a: [", ("not valid YAML",), "yaml"),
    scored("YAML nested without end", NESTED, ("not valid YAML", "nesting"), "yaml"),
    scored("YAML of aliases", BOMB, ("'b'", "a list where its scores belong"), "yaml"),
    scored("an alias of itself", "a: &a [*a]\n", ("not valid YAML", "recursive"), "yaml"),
    scored("a model twice", "a: {MT: 1}\nb: {MT: 2}\na: {MT: 3}\n", ("line 3", "'a' appears twice"), "yaml"),
    scored("a benchmark twice", "a: {MT: 1, MT: 2}\n", ("line 1", "'MT' appears twice"), "yaml"),
    scored("two documents", "a: {MT: 1}\n---\nb: {MT: 1}\n", ("line 2", "another document"), "yaml"),
    scored("a list for scores", "a: [1, 2]\n", ("'a'", "a list where its scores belong"), "yaml"),
    scored("a text for scores", "a: good\n", ("'a'", "the text 'good' where its scores belong"), "yaml"),
    scored("a mapping for a score", "a: {MT: {x: 1}}\n", ("'a'", "MT", "a mapping where one score"), "yaml"),
    scored("infinity in YAML", "a: {MT: 1}\nb: {MT: .inf}\n", ("'b'", "MT", "'.inf' is not a finite"), "yaml"),
    scored("a date out of range for a score", "a: {MT: 2024-13-45}\n", ("no column of scores",), "yaml"),
    scored("a list as a key", "? [a, b]\n: {MT: 1}\n", ("line 1", "is no text"), "yaml"),
    scored("YAML that is one word", "scores\n", ("maps model names to benchmarks",), "yaml"),
    scored("an empty list", "[]\n", ("maps model names to benchmarks",), "yaml"),
    # the leaderboards
    scored("a leaderboard entry without results", '[{"id": "a"}]', ("entry a", "'results' is missing"), "yaml"),
    scored("a leaderboard entry without an id", '[{"results": {"g": {"MT": 1}}}]', ("maps model names",), "yaml"),
    scored("a leaderboard entry with a list for an id", swallow(id=["a"]), ("entry 1", "a list", "id"), "yaml"),
    scored("a list for results", swallow(results=[1]), ("entry a", "results", "a list where a mapping"), "yaml"),
    scored("a text for a group of results", swallow(results={"ja": "high"}), ("entry a", "ja", "'high'"), "yaml"),
    scored("a list for a score of a leaderboard", swallow(results={"ja": {"MT": [1]}}),
           ("entry a", "ja", "MT", "a list where one score"), "yaml"),
    Case("an infinite score of a leaderboard", "analysis table run score_matrix -p scores=s.yaml",
         ("s.yaml", "entry a", "ja/MT", "finite"), _files({"s.yaml": swallow(results={"ja": {"MT": 1e400}})})),
    Case("a size of a leaderboard that is none", "analysis table run score_matrix -p scores=s.yaml",
         ("s.yaml", "entry a", "params", "'many'"), _files({"s.yaml": swallow(params="many")})),
    scored("a leaderboard without a column", "model_name,evaluations_ifeval_value\na,1\n",
           ("line 1", "'model_average_score'", "missing")),
    Case("a leaderboard with a word for a score", "analysis table run score_matrix -p scores=s.csv",
         ("s.csv", "line 2", "IFEval", "'high'"), _files({"s.csv": OPEN_LLM + "a,1,IFEval,high,7,2024-01-01\n"})),
    # aliases
    Case("aliases that are not there", ALIASES.format("csv"), ("a.csv", "cannot be read"), _files({"s.csv": PLAIN})),
    aliased("aliases that are empty", "", ("empty",)),
    aliased("aliases of another kind", "{}", ("csv, .yaml or .yml",), "json"),
    aliased("aliases without their columns", "name,alias\na,b\n", ("columns model and alias",)),
    aliased("ragged aliases", "model,alias\na,b\nb\n", ("line 3", "1 cell,", "2 columns")),
    aliased("a model with two aliases", "model,alias\na,b\na,c\n", ("line 3", "'a' has two aliases")),
    aliased("a model without an alias", "model,alias\na,\n", ("line 2", "no alias")),
    aliased("an alias without a model", "model,alias\n,a\n", ("line 2", "no model")),
    aliased("an alias that is not among the scores", "model,alias\na,modle\n", ("'modle' of 'a'", "not among")),
    aliased("a list of aliases", "- a\n- b\n", ("maps a run's model names",), "yaml"),
    aliased("a list for an alias", "a: [b, c]\n", ("'a'", "a list or a mapping where one name"), "yaml"),
    aliased("aliases nested without end", NESTED, ("nesting",), "yaml"),
    aliased("a model twice in YAML", "a: b\na: c\n", ("line 2", "'a' appears twice"), "yaml"),
    # options of tables and reports
    Case("an unknown option", "analysis table run benchmarks -p score=s.csv",
         ("no option 'score'", "nearest is 'scores'", "score_columns"), asked),
    Case("an unknown parameter of a report", "analysis report run --out out -p resample=3",
         ("unknown parameter 'resample'", "nearest is 'resamples'"), asked),
    Case("an option given twice", "analysis table run benchmarks -p invalid=dropped -p invalid=inconsistent",
         ("-p invalid", "given twice"), asked),
    Case("more resamples than fit", "analysis table run consistency -p resamples=1000000000",
         ("resamples = 1000000000", "at most 100,000"), asked),
    Case("a seed below zero", "analysis table run consistency -p seed=-1", ("seed = -1",), asked),
    Case("a seed of 5,000 digits", f"analysis table run consistency -p seed={'9' * 5000}", ("not a whole number that",),
         asked),
    Case("an unknown table", "analysis table run consistncy", ("'consistncy'", "nearest is 'consistency'", "--list"),
         asked),
    Case("a figure where a table belongs", "analysis table run size_measures", ("'size_measures' is a figure",), asked),
    Case("no table", "analysis table run", ("name of a table", "table --list"), asked),
    Case("no run folder at all", ("analysis", "table", "", "consistency"), ("run folder is empty",), asked),
    Case("a report about nothing", ("analysis", "report", "", "--out", "out"), ("run folder is empty",), asked),
    Case("a report inside a file", "analysis report run --out notes.txt/report", ("notes.txt is a file", "--out"),
         _files({"notes.txt": "notes"})),
    # features
    features("features without metadata", {}),
    features("features with metadata that are no JSON", b"{"),
    features("features with metadata that are not UTF-8", b"\xff"),
    features("features with a list for metadata", []),
    features("features of another format", HEAD | {"format": 2}),
    features("features without components", {"format": 1, "default_language": "en"}),
    features("features with a text for components", HEAD | {"components": "none"}),
    features("features with a record that lacks a field", HEAD | {"components": [{"language": "en"}]}),
    features("features with a record of another field", HEAD | {"components": [{**RECORD, "more": 1}]}),
    features("features with a number for a column", HEAD | {"components": [{**RECORD, "columns": [1]}]}),
    features("features with a list for an identity", HEAD | {"components": [{**RECORD, "identity": [1]}]}),
    features("features with a number for a language", HEAD | {"default_language": 3}),
    features("features with metadata nested without end", b"[" * 100_000 + b"]" * 100_000),
    features("features without their columns", HEAD, full=False),
    features("features that name a language by a number", HEAD | {"is_default_named": 3}),
    features("features that look like a number", HEAD | {"components": [{**RECORD, "looks_like": 3}]}),
    Case("features in a language by its name", "analysis features run --language German",
         ("language 'German'", "ISO 639 code"), asked),
]  # fmt: skip
