"""Wrong calls of `waver export`, and records of Every Eval Ever that `waver import eee` cannot read."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from analysis import runs
from analysis.export import eee
from helpers.commands import ROOT
from helpers.refusals import Case, write_once

RUN = ROOT / "tests" / "fixtures" / "run-of-f7ec5ae" / "agreement"
IMPORT = "inference import eee records --out run"
Change = Callable[[Any], object]


def copied(folder: Path) -> None:
    """Copy a run folder as `asked`."""
    shutil.copytree(RUN, folder / "asked")


def beside(name: str, content: str | None = None) -> Callable[[Path], None]:
    """A run folder, and a file of another kind; without content, a folder."""

    def write(folder: Path) -> None:
        copied(folder)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).mkdir() if content is None else (folder / name).write_text(content, encoding="utf-8")

    return write


@write_once
def _write_records(folder: Path) -> None:
    """Write the records of a run."""
    eee.write_eee_records_of_models(runs.open_runs(RUN), folder / "records")


def records(folder: Path) -> list[Path]:
    """Write the records of a run, and return the aggregates."""
    _write_records(folder)
    return sorted((folder / "records").rglob("*.json"))


def aggregate(change: Change, folder: Path) -> None:
    """Records with one aggregate changed."""
    file = records(folder)[0]
    whole = json.loads(file.read_text(encoding="utf-8"))
    change(whole)
    file.write_text(json.dumps(whole), encoding="utf-8")


def aggregate_protocol(protocol: str, folder: Path) -> None:
    """Records all of which name another protocol."""
    for file in records(folder):
        whole = json.loads(file.read_text(encoding="utf-8"))
        for result in whole["evaluation_results"]:
            result["source_data"]["additional_details"]["waver_protocol"] = protocol
        file.write_text(json.dumps(whole), encoding="utf-8")


def row(change: Change, folder: Path) -> None:
    """Records with the second row of a file changed; the aggregate states the new checksum."""

    def rows(lines: list[str]) -> None:
        second = json.loads(lines[1])
        change(second)
        lines[1] = json.dumps(second)

    lines_of_it(rows, folder)


def lines_of_it(change: Callable[[list[str]], object], folder: Path) -> None:
    """Records with the lines of a file changed; the aggregate states the new checksum."""
    file = records(folder)[0]
    lines = file.with_name(f"{file.stem}_samples.jsonl").read_text(encoding="utf-8").splitlines()
    change(lines)
    _restate(file, ("\n".join(lines) + "\n").encode("utf-8"))


def bytes_of_it(change: Callable[[bytes], bytes], folder: Path) -> None:
    """Records with the bytes of all files of responses changed; the aggregates state the new checksums."""
    for file in records(folder):
        _restate(file, change(file.with_name(f"{file.stem}_samples.jsonl").read_bytes()))


def _restate(file: Path, content: bytes) -> None:
    samples = file.with_name(f"{file.stem}_samples.jsonl")
    samples.write_bytes(content)
    whole = json.loads(file.read_text(encoding="utf-8"))
    whole["detailed_evaluation_results"]["checksum"] = hashlib.sha256(samples.read_bytes()).hexdigest()
    file.write_text(json.dumps(whole), encoding="utf-8")


def another_text(lines: list[str]) -> None:
    """Change the text of a wording that another condition asked, too."""
    seen: set[str] = set()
    for place, line in enumerate(lines):
        one = json.loads(line)
        if one["sample_id"] in seen:
            one["input"]["raw"] = "Other."
            lines[place] = json.dumps(one)
            return
        seen.add(one["sample_id"])
    raise AssertionError("no wording was asked twice")


def samples(change: Callable[[Path], object], folder: Path) -> None:
    """Records with the file of the responses changed, and the aggregate as it was."""
    file = records(folder)[0]
    change(file.with_name(f"{file.stem}_samples.jsonl"))


def metadata(**values: Any) -> Callable[[Path], None]:
    """Records with values of one row's metadata changed; None: taken out."""

    def change(one: Any) -> None:
        for name, value in values.items():
            one["metadata"].pop(f"waver_{name}", None)
            if value is not None:
                one["metadata"][f"waver_{name}"] = value

    return partial(row, change)


def other_options(folder: Path) -> None:
    """The records of one model, in all of which the second option means something else."""

    def change(lines: list[str]) -> None:
        for place, line in enumerate(lines):
            one = json.loads(line)
            lines[place] = json.dumps({**one, "metadata": {**one["metadata"], "waver_canonical": '["agree", "x"]'}})

    lines_of_it(change, folder)
    changed = next(file for file in (folder / "records").rglob("*.jsonl") if '\\"x\\"' in file.read_text("utf-8"))
    for file in (folder / "records").rglob("*.json*"):
        if not changed.name.startswith(file.name.removesuffix(".json").removesuffix("l").removesuffix("_samples")):
            file.unlink()


def study_of_another_name(folder: Path) -> None:
    """Records of two studies."""
    shutil.copytree(RUN, folder / "other")
    info = json.loads((folder / "other" / "run.json").read_text(encoding="utf-8"))
    info["study"]["hash"] = "another"
    (folder / "other" / "run.json").write_text(json.dumps(info), encoding="utf-8")
    records(folder)
    eee.write_eee_records_of_models(runs.open_runs(folder / "other"), folder / "records" / "more")


def export(*words: str, run: str = "asked") -> tuple[str, ...]:
    """The call that exports a run."""
    return ("analysis", "export", run, *words)


CASES = [
    Case("no kind", export("--out", "out"), ("--as",), copied),
    Case("an unknown kind", export("--as", "parket", "--out", "out"), ("parket", "parquet"), copied),
    Case("no run there", export("--as", "csv", "--out", "out", run="nowhere"), ("nowhere", "no such run folder")),
    Case("out is a file", export("--as", "csv", "--out", "f"), ("f is a file", "needs a folder"), beside("f", "")),
    Case("out is below a file", export("--as", "csv", "--out", "f/out"), ("f is a file",), beside("f", "")),
    Case("out is a run", export("--as", "hf", "--out", "asked"), ("asked: holds other files and no export",), copied),
    Case("out holds other files", export("--as", "eee", "--out", "d"), ("d: holds other files",), beside("d/a", "")),
    Case("export.json is no export's", export("--as", "csv", "--out", "d"), ("export.json", "not one that an export"),
         beside("d/export.json", '{"files": 1}')),
    Case("export.json is no JSON", export("--as", "csv", "--out", "d"), ("export.json", "not one that an export"),
         beside("d/export.json", "{")),
    Case("export.json is nested without end", export("--as", "csv", "--out", "d"), ("export.json", "not one that"),
         beside("d/export.json", "[" * 100_000)),
    Case("a file beside an export", export("--as", "csv", "--out", "d"), ("d: holds other files",),
         beside("d/export.json/x", "")),
    Case("no such records", IMPORT, ("records", "no such file or folder")),
    Case("a folder without responses", IMPORT, ("records", "_samples.jsonl", "responses are imported"),
         {"records/data/a.json": "{}"}),
    Case("responses without an aggregate", IMPORT, ("a.json", "cannot be read"), {"records/a_samples.jsonl": "{}\n"}),
    Case("an aggregate without responses", "inference import eee a.json --out run", ("a.json", "schema_version"),
         {"a.json": "{}"}),
    Case("an aggregate that is no JSON", "inference import eee a.json --out run", ("a.json, line 2", "malformed"),
         {"a.json": '{"a": 1,\n'}),
    Case("an unknown version", IMPORT, ("schema_version '0.4.0' is not known", "reads 0.3.0"),
         partial(aggregate, lambda whole: whole.update(schema_version="0.4.0"))),
    Case("a version that is a number", IMPORT, ("schema_version is 3", "must be text"),
         partial(aggregate, lambda whole: whole.update(schema_version=3))),
    Case("records of another tool", IMPORT, ("waver_fields", "waver export --as eee"),
         partial(aggregate, lambda whole: whole["evaluation_results"][0]["generation_config"]["additional_details"]
                 .pop("waver_fields"))),
    Case("no study in an aggregate", IMPORT, ("waver_hash", "must be text"),
         partial(aggregate, lambda whole: [one["source_data"]["additional_details"].pop("waver_hash")
                                           for one in whole["evaluation_results"]])),
    Case("records of a protocol that is not there", IMPORT,
         (".json: source_data", "waver_protocol 'agreeement' is no protocol here", "the nearest is 'agreement'"),
         partial(aggregate_protocol, "agreeement")),
    Case("no results", IMPORT, ("evaluation_results is empty",),
         partial(aggregate, lambda whole: whole.update(evaluation_results=[]))),
    Case("a rule that is no text", IMPORT, ("decision_rule is ['x']", "must be text"),
         partial(aggregate, lambda whole: whole["eval_library"]["additional_details"].update(decision_rule=["x"]))),
    Case("a model whose name would steer a terminal", IMPORT, (".json: model 'a\\x1b[31m'", "control character"),
         partial(aggregate, lambda whole: whole["model_info"].update(id="a\x1b[31m"))),
    Case("responses that are not UTF-8", IMPORT, ("_samples.jsonl, line 1", "not UTF-8"),
         partial(bytes_of_it, lambda content: content.replace(b'"', b'"\xff', 1))),
    Case("responses without a line", IMPORT, ("_samples.jsonl", "no responses"), partial(bytes_of_it, lambda _: b"")),
    Case("a wording that is empty", IMPORT, ("line 2", "input.raw is empty"),
         partial(row, lambda one: one["input"].update(raw=" "))),
    Case("an answer that is no option", IMPORT,
         ("line 2", "waver_answer 'perhaps' is none of the options", "correct the row"), metadata(answer="perhaps")),
    Case("a count of more bits than a column has", IMPORT, ("line 2", "waver_count holds 1", "at most"),
         metadata(count=f"[{10**30}, 1]")),
    Case("a score of hundreds of digits", IMPORT, ("line 2", "waver_score holds 1", "at most"),
         metadata(score=str(10**400))),
    Case("more invalid samples than a column holds", IMPORT, ("line 2", "waver_invalid holds 9223372036854775808"),
         metadata(invalid=str(2**63))),
    Case("more probabilities than options", IMPORT,
         ("line 2", "waver_probability", "not as many entries as there are options"),
         metadata(probability="[0.1, 0.2, 0.3]", logprob=None)),
    Case("a probability of a thought that is no number", IMPORT, ("line 2", "waver_sample_probability", "[True, "),
         metadata(sample_probability="[[true, false]]")),
    Case("half a character in an aggregate", IMPORT, ("half of a surrogate pair",),
         partial(aggregate, lambda whole: whole["model_info"].update(name="\ud83d"))),
    Case("responses that were changed", IMPORT, ("_samples.jsonl", "sha256 differs", "restore it"),
         partial(samples, lambda file: file.write_bytes(file.read_bytes()[:-20]))),
    Case("responses that are gone", IMPORT, ("json", "cannot be read"),
         partial(samples, lambda file: file.replace(file.with_name("b_samples.jsonl")))),
    Case("a line that is cut", IMPORT, ("line 2", "malformed JSON"),
         partial(lines_of_it, lambda lines: lines.__setitem__(1, lines[1][:50]))),
    Case("a line of a list", IMPORT, ("line 2", "evaluation_id"),
         partial(lines_of_it, lambda lines: lines.__setitem__(1, "[]"))),
    Case("a row twice", IMPORT, ("a second response", "line 3"),
         partial(lines_of_it, lambda lines: lines.__setitem__(2, lines[1]))),
    Case("a row of another record", IMPORT, ("line 2: evaluation_id is 'other'",),
         partial(row, lambda one: one.update(evaluation_id="other"))),
    Case("a row of another model", IMPORT, ("line 2: model_id is 'other'",),
         partial(row, lambda one: one.update(model_id="other"))),
    Case("a row without metadata", IMPORT, ("line 2: metadata is nothing",),
         partial(row, lambda one: one.pop("metadata"))),
    Case("a row without an item", IMPORT, ("line 2: metadata.waver_item", "must be text"), metadata(item=None)),
    Case("a number in the metadata", IMPORT, ("line 2: metadata.waver_item is 3", "must be text"), metadata(item=3)),
    Case("an unknown condition", IMPORT, ("line 2: condition 'x'",), metadata(condition="x")),
    Case("a text for probabilities", IMPORT, ("line 2: waver_probability is no JSON",), metadata(probability="half")),
    Case("one number for probabilities", IMPORT, ("waver_probability is 0.5", "a list"), metadata(probability="0.5")),
    Case("texts for probabilities", IMPORT, ("waver_probability holds '0.5'",), metadata(probability='["0.5", 1]')),
    Case("a truth value for a probability", IMPORT, ("holds True",), metadata(probability="[true, 0.5]")),
    Case("NaN for a probability", IMPORT, ("line 2", "NaN is no number"), metadata(probability="[NaN, 0.5]")),
    Case("probabilities above 1", IMPORT, ("line 2", "waver_probability", "sum above 1"),
         metadata(probability="[0.9, 0.5]", mass=None)),
    Case("a negative probability", IMPORT, ("line 2", "waver_probability", "an entry below 0"),
         metadata(probability="[-0.1, 0.5]")),
    Case("a mass that is no sum", IMPORT, ("line 2", "waver_mass '0.125' is not the sum"), metadata(mass="0.125")),
    Case("a bound below the mass", IMPORT, ("line 2", "waver_mass_upper '-1.0'", "to 1"), metadata(mass_upper="-1")),
    Case("a logarithm too many", IMPORT, ("line 2", "waver_logprob", "not as many entries"),
         metadata(logprob="[-1, -2, -3]")),
    Case("a count too few", IMPORT, ("line 2", "waver_count", "not as many entries"), metadata(count="[1]")),
    Case("counts of no samples", IMPORT, ("line 2", "waver_count '[0, 0]' holds no samples", "correct the row"),
         metadata(count="[0, 0]")),
    Case("fewer invalid samples than none", IMPORT, ("line 2", "waver_invalid '-1' is below 0"),
         metadata(count="[1, 1]", invalid="-1")),
    Case("a share of no answers", IMPORT, ("line 2", "waver_n '0' is below 1"), metadata(n="0")),
    Case("fewer texts read otherwise than none", IMPORT, ("line 2", "waver_read_otherwise '-1' is below 0"),
         metadata(read_otherwise="-1")),
    Case("a logarithm above 0", IMPORT, ("line 2", "waver_logprob '[0.5, -1.0]' has an entry above 0"),
         metadata(logprob="[0.5, -1]")),
    Case("an option twice", IMPORT, ("line", "waver_options '[yes, yes]'", "there twice"),
         partial(lines_of_it, lambda lines: lines.__setitem__(
             slice(None), [line.replace(json.dumps('["agree", "disagree"]'), json.dumps('["yes", "yes"]'), 1)
                           for line in lines]))),
    Case("more thoughts without an end than thoughts", IMPORT, ("line 2", "waver_unclosed '2'", "number of thoughts"),
         metadata(thought='["a"]', unclosed="2", sample_probability=None)),
    Case("samples whose mean is another score", IMPORT, ("line 2", "waver_sample_score '[1.0]'", "as its mean"),
         metadata(sample_score="[1]")),
    Case("a broken count", IMPORT, ("waver_count holds 1.5", "int64"), metadata(count="[1.5, 0]")),
    Case("an option without a meaning", IMPORT, ("line 2", "1 of what they mean"), metadata(canonical='["agree"]')),
    Case("an option of another study", IMPORT, ("line 1", "waver_canonical '[agree, x]'", "none of the study's"),
         other_options),
    Case("no text", IMPORT, ("line 2: input.raw is nothing",), partial(row, lambda one: one["input"].pop("raw"))),
    Case("another text of a known wording", IMPORT, ("is another wording than before",),
         partial(lines_of_it, another_text)),
    Case("two studies", IMPORT, ("is of study", "give the records of one study"), study_of_another_name),
]  # fmt: skip
