"""Save imported responses as a run folder: the part that all importers share."""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from ground.errors import InputError, escape_control_characters, format_quantity
from ground.progress import print_result_line_even_if_quiet
from inference.arguments import add_models_file_option, parse_folder_path, parse_language
from inference.stimuli.reading.workbooks import split_file_and_sheet_name

if TYPE_CHECKING:
    import pyarrow as pa

    from inference.runfolder.store import Run
    from inference.stimuli.study import Study

Responses: TypeAlias = "Callable[[], Iterable[pa.Table]]"
Key = TypeVar("Key", bound=Hashable)
IMPORT_CONDITION = "import"
IMPORT_FORM = "import"
MOST_LINES = 30  # about models and conditions; `waver status` has them all


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options that all importers share."""
    parser.add_argument(
        "--out", type=parse_folder_path, required=True, metavar="RUN",
        help="run folder: new, or one of the same study to add to",
    )  # fmt: skip
    parser.add_argument("--name", metavar="STUDY", help="name of the study (default: the name of the run folder)")
    parser.add_argument("--language", type=parse_language, metavar="CODE", help="language of the texts, for example en")
    add_models_file_option(parser)


def split_named_paths(path_arguments: Sequence[str]) -> list[tuple[str | None, Path]]:
    """Split arguments PATH or NAME=PATH into (model name or None, path); an existing path is never split.

    Raises
    ------
    InputError
        A path is empty.
    """
    pairs: list[tuple[str | None, Path]] = []
    for file in path_arguments:
        name, equals, path = file.partition("=")
        has_name = equals and not Path(file).exists()
        if not (path if has_name else file).strip():
            raise InputError(f"{file!r}: give PATH or NAME=PATH; the path is empty")
        pairs.append((name, Path(path)) if has_name else (None, Path(file)))
    return pairs


def name_imported_study_by_option_or_folder(args: argparse.Namespace) -> str:
    """Name the study as the call does, else as the run folder is called."""
    return Path(args.out).resolve().name if args.name is None else str(args.name)


def describe_source_by_first_file_and_count(files: Sequence[str]) -> str:
    """Describe where a study comes from: one file as it was given, or the first of several."""
    return files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"


def compute_fingerprint_of_files(paths: Sequence[Path], settings: Mapping[str, Any]) -> str:
    """Compute the sha256 of the files' content and of the settings they are read with.

    Parameters
    ----------
    paths
        The files, in an order that counts.
    settings
        What JSON can hold.

    Returns
    -------
    The sha256 in hexadecimal digits.

    Raises
    ------
    InputError
        A file cannot be read.
    """
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True, ensure_ascii=True).encode())
    for path in paths:
        try:
            with split_file_and_sheet_name(path)[0].open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    return digest.hexdigest()


def compute_fingerprints_by_key(
    keys_and_paths: Iterable[tuple[Key, Path]], settings: Mapping[str, Any]
) -> dict[Key, str]:
    """Compute the fingerprint of the files of every model, or of every model and condition.

    Parameters
    ----------
    keys_and_paths
        Model, or (model, condition), and a file of it, in an order that counts.
    settings
        What they are read with, which JSON can hold.

    Returns
    -------
    Model, or (model, condition) -> the sha256 of its files, as `compute_fingerprint_of_files` computes it.

    Raises
    ------
    InputError
        A file cannot be read.
    """
    paths_by_key: dict[Key, list[Path]] = {}
    for key, path in keys_and_paths:
        paths_by_key.setdefault(key, []).append(path)
    return {key: compute_fingerprint_of_files(paths, settings) for key, paths in paths_by_key.items()}


def save_imported_study_and_responses(
    out: str,
    study: Study,
    responses: Responses,
    conditions: Mapping[str, Mapping[str, Any]],
    *,
    descriptions: str | None,
    imported: str | Mapping[Any, str],
    command: Sequence[str],
    models: Mapping[str, Mapping[str, Any]] | None = None,
    is_complete: bool = False,
) -> list[str]:
    """Write a study and its responses as one part; what an earlier import of the same files wrote stays.

    Parameters
    ----------
    out
        The run folder.
    study
        The study.
    responses
        Makes the tables of all responses, one in memory at a time; it is called twice. Columns of `results/schema.json`
        without `study`; at least model, condition, item and variant.
    conditions
        condition name -> fields, for every condition in `responses`.
    descriptions
        A ``--models`` file, or None.
    imported
        Fingerprint of the files, recorded per model and condition; or model, or (model, condition) -> that of its
        files.
    command
        The call, which `run.json` records.
    models
        model -> what the files say about it; what `descriptions` says holds.
    is_complete
        Whether the rows are all that there was to ask of each model, though others have more; `run.json` records it.
        Such tables may have hundreds of models: one line is about them all.

    Returns
    -------
    list of str
        What was written, for the user: of the study, then one line per model and condition (of the first `MOST_LINES`),
        or of all together.

    Raises
    ------
    InputError
        The folder belongs to another study, or has other responses of the same model and condition; a name or field
        cannot be recorded; or `descriptions` names a model that is not there.
    """
    from inference.asking.models import read_model_fields_from_yaml
    from inference.importers.shared.recordable import refuse_unrecordable_name_or_fields
    from inference.runfolder.store import Run

    described_fields = read_model_fields_from_yaml(descriptions) if descriptions else {}
    tallies = _tally_responses_by_model_and_condition(responses)
    for model, condition in tallies:
        refuse_unrecordable_name_or_fields(study.source, "models", model, (models or {}).get(model, {}))
        refuse_unrecordable_name_or_fields(study.source, "conditions", condition, conditions[condition])
    for model in described_fields.keys() - {model for model, _ in tallies}:
        raise InputError(f"{descriptions}: there is no model '{model}' in these files; correct its id or take it out")
    variants = sum(1 for _ in study.variants)
    lines = [f"{study.name}: {format_quantity(len(study.items), 'item')}, {format_quantity(variants, 'variant')}"]
    with Run.create_or_open(out, study, command=command) as run:
        # Everything is checked before the first change.
        fingerprint_by_pair = {
            pair: imported if isinstance(imported, str) else imported.get(pair) or imported[pair[0]] for pair in tallies
        }
        for _, condition in tallies:
            run.refuse_changed_condition(condition, conditions[condition])
        present_pairs = [
            pair
            for pair, fingerprint in fingerprint_by_pair.items()
            if _has_same_import_or_refuse_other(run, *pair, fingerprint)
        ]
        with run.write_run_json_after_block():
            for (model, condition), tally in tallies.items():
                if (model, condition) in present_pairs:
                    lines.append(f"{model} {condition}: is here already, nothing to do")
                    continue
                model_fields = run.models.get(model, {})
                import_fields = {
                    "engine": "import",
                    "revision": model_fields.get("revision"),
                    **(models or {}).get(model, {}),
                }
                run.add_condition(condition, conditions[condition])
                fingerprint = fingerprint_by_pair[model, condition]
                import_record = {"imported": {**model_fields.get("imported", {}), condition: fingerprint}}
                run.add_model(model, {**import_fields, **described_fields.get(model, {}), **import_record})
                if is_complete:
                    run.record_row_and_drawn_wording_counts(model, {condition: tally.rows})
                lines.append(f"{model} {condition}: {tally.describe_response_count_and_means(variants)}")
        if len(present_pairs) < len(tallies):
            run.responses.append_tables_as_one_part(
                _drop_table_rows_of_model_conditions(table, present_pairs) for table in responses()
            )
        run.finish()
    if is_complete:
        return [lines[0], _describe_import_in_one_line(tallies, present_pairs)]
    left = len(lines) - 1 - MOST_LINES
    left_line = f"and {format_quantity(left, 'more pair')} of model and condition"
    return lines if left <= 0 else [*lines[: 1 + MOST_LINES], left_line]


def _describe_import_in_one_line(
    tallies: Mapping[tuple[str, str], _Tally], present_pairs: Sequence[tuple[str, str]]
) -> str:
    """Say in one line what was written of all models and conditions."""
    models, conditions = ({pair[place] for pair in tallies} for place in (0, 1))
    about = f"{format_quantity(len(models), 'model')} under {format_quantity(len(conditions), 'condition')}"
    if len(present_pairs) == len(tallies):
        return f"{about}: all is here already, nothing to do"
    new = [tally for pair, tally in tallies.items() if pair not in present_pairs]
    scores = sum(tally.scores for tally in new)
    present_note = (
        f"; here already: {len(present_pairs):,} of {len(tallies):,} pairs of model and condition"
        if present_pairs
        else ""
    )
    return (
        f"{about}: {format_quantity(scores, 'score')}, mean "
        f"{sum(tally.score for tally in new) / scores:.3f}{present_note}"
    )


def print_import_summary(lines: Iterable[str], out: str) -> None:
    """Print what an import did, and what can be done next.

    Parameters
    ----------
    lines
        What `save_imported_study_and_responses` returns, and what else is to be known, such as what was left out.
    out
        The run folder.
    """
    from inference.runfolder import describe_where_rows_are_and_next

    for line in map(escape_control_characters, [*lines, describe_where_rows_are_and_next(out)]):
        (print_result_line_even_if_quiet if line.startswith("left out") else print)(line)


def _drop_table_rows_of_model_conditions(table: pa.Table, pairs: Sequence[tuple[str, str]]) -> pa.Table:
    """Leave out the rows of some models and conditions."""
    import pyarrow.compute as pc

    for model, condition in pairs:
        chosen = pc.and_(pc.equal(table["model"], model), pc.equal(table["condition"], condition))
        table = table.filter(pc.invert(chosen))
    return table


def _has_same_import_or_refuse_other(run: Run, model: str, condition: str, imported: str) -> bool:
    """Tell whether the run has these very responses; refuse other ones of the same model and condition."""
    if not run.responses.list_answered_keys(model, condition):
        return False
    if run.models[model].get("imported", {}).get(condition) == imported:
        return True
    raise InputError(
        f"{run.path}: model '{model}' already has responses under condition '{condition}' from elsewhere; "
        "rename one of them or choose another --out"
    )


@dataclass(slots=True)
class _Tally:
    """Count the responses of one model under one condition, and what is missing."""

    rows: int = 0
    errors: int = 0
    masses: int = 0
    mass: float = 0.0
    scores: int = 0
    score: float = 0.0
    bounds: int = 0
    valid: int = 0
    invalid: int = 0

    def add_rows(self, rows: pa.Table) -> None:
        """Add the rows of a responses table to the counts."""
        import pyarrow.compute as pc

        def count_values(column: str) -> int:
            return len(rows) - rows[column].null_count if column in rows.column_names else 0

        def sum_values(column: str) -> Any:
            return (pc.sum(rows[column]).as_py() or 0) if count_values(column) else 0

        errors, masses, counts = map(count_values, ("error", "mass", "count"))
        self.rows += len(rows)
        self.errors += errors
        self.masses += masses
        self.mass += sum_values("mass")
        self.bounds += count_values("mass_upper") if masses else 0
        self.scores += count_values("score")
        self.score += sum_values("score")
        single = len(rows) - errors - counts - masses
        answered = count_values("answer") if single else 0
        self.valid += answered + ((pc.sum(pc.list_flatten(rows["count"])).as_py() or 0) if counts else 0)
        self.invalid += sum_values("invalid") + single - answered

    def describe_response_count_and_means(self, n_variants: int) -> str:
        """Say in one line how many variants have a response, and the mean mass and score or the invalid answers."""
        parts = [f"{self.rows:,} of {format_quantity(n_variants, 'variant')}"]
        if self.errors:
            parts.append(f"{self.errors:,} without a response")
        if self.masses:
            bound = ", a lower bound: of one way to write each option" if self.bounds else ""
            parts.append(f"mean mass {self.mass / self.masses:.3f}{bound}")
        if self.scores:
            parts.append(f"{format_quantity(self.scores, 'score')}, mean {self.score / self.scores:.3f}")
        elif self.valid + self.invalid and not self.masses:
            parts.append(f"{self.invalid:,} of {format_quantity(self.valid + self.invalid, 'answer')} invalid")
        return ", ".join(parts)


def _tally_responses_by_model_and_condition(responses: Responses) -> dict[tuple[str, str], _Tally]:
    """Count the rows of every model and condition, in order of appearance."""
    import pyarrow as pa
    import pyarrow.compute as pc

    tallies: dict[tuple[str, str], _Tally] = {}
    for table in responses():
        numbered = table.select(["model", "condition"]).append_column("row", pa.array(range(len(table))))
        pairs = numbered.group_by(["model", "condition"]).aggregate([("row", "min")]).sort_by("row_min")
        for pair in pairs.select(["model", "condition"]).to_pylist():
            model, condition = pair.values()
            chosen = pc.and_(pc.equal(table["model"], model), pc.equal(table["condition"], condition))
            tallies.setdefault((model, condition), _Tally()).add_rows(table.filter(chosen))
    return tallies
