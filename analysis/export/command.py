"""Run the command `waver export RUN... --as KIND --out DIR`."""

from __future__ import annotations

import argparse
import shlex
from collections import Counter
from pathlib import Path
from typing import Any

from analysis.runs import Runs
from ground.errors import format_quantity
from ground.parser import parse_path
from ground.progress import print_warning

COMMAND = "export"
HELP = "write runs as tidy tables, or in the forms that other projects read"
DESCRIPTION = (
    "Write what runs hold into a folder. parquet, csv: one tidy table per kind, with a dictionary of all columns. hf: "
    "the same as Parquet, with a card, for datasets.load_dataset. croissant: Parquet with Croissant metadata. eee: "
    "records of Every Eval Ever, schema 0.3.0. An earlier export in the folder is replaced."
)
KINDS = ("parquet", "csv", "eee", "croissant", "hf")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.epilog = f"example: {parser.prog} runs/first --as parquet --out exported"
    parser.add_argument("runs", nargs="+", metavar="RUN", help="run folder")
    parser.add_argument("--as", dest="kind", required=True, choices=KINDS, help="what to write")
    parser.add_argument(
        "--out", required=True, type=parse_path, metavar="DIR", help="folder to write: new, empty, or an export"
    )


def main(args: argparse.Namespace) -> int:
    """Write the folder; print its files and how many rows each has."""
    from analysis import runs
    from analysis.export import folder
    from analysis.reporting.output.notebooks import resolve_path_here_or_in_notebooks
    from ground import extras

    if args.kind == "croissant":
        extras.refuse_missing_packages("an export with Croissant metadata", "mlcroissant")
    folder.refuse_unreplaceable_export_folder(args.out)
    opened = runs.open_runs(*(resolve_path_here_or_in_notebooks(run) for run in args.runs))
    call = shlex.join([args.program, "export", *args.runs, "--as", args.kind, "--out", str(args.out)])
    fill = _write_export_records_and_count_rows if args.kind == "eee" else _write_export_tables_and_count_rows
    noted = folder.write_export_folder(
        args.out,
        lambda aside: {**_build_export_json_provenance(opened, args.kind, call), **fill(opened, aside, args.kind)},
    )
    for name, rows in noted["rows"].items():
        print(f"{args.out / name}: {format_quantity(rows, 'row')}")
    return 0


def _write_export_tables_and_count_rows(opened_runs: Runs, temporary_folder: Path, kind: str) -> dict[str, Any]:
    """Write the tables, and what belongs to them."""
    from analysis.export import card, croissant, plain

    written_tables = plain.write_tables_of_runs_and_dictionary(
        opened_runs, temporary_folder, "csv" if kind == "csv" else "parquet"
    )
    front = card.build_front_matter(opened_runs, written_tables) if kind == "hf" else ""
    (temporary_folder / card.CARD).write_text(
        front + card.build_tables_card(opened_runs, written_tables, kind), encoding="utf-8"
    )
    if kind == "croissant":
        croissant.write_croissant_metadata(opened_runs, temporary_folder, written_tables)
    return {"rows": {written_table.file: written_table.rows for written_table in written_tables.values()}}


def _write_export_records_and_count_rows(opened_runs: Runs, temporary_folder: Path, kind: str) -> dict[str, Any]:
    """Write records of Every Eval Ever; say on standard error what they cannot carry."""
    from analysis.export import card, eee

    records = eee.write_eee_records_of_models(opened_runs, temporary_folder)
    left_out: Counter[str] = sum((record.left_out for record in records), Counter())
    if left_out:
        print_warning(f"not in the records, which need a score: {eee.describe_left_out_responses(left_out)}")
    (temporary_folder / card.CARD).write_text(card.build_records_card(opened_runs, records), encoding="utf-8")
    return {"rows": {record.file: record.rows for record in records if record.rows}, "left_out": dict(left_out)}


def _build_export_json_provenance(opened_runs: Runs, kind: str, command: str) -> dict[str, Any]:
    """Return what export.json says of the runs: the command, and the hashes of what was asked of which models."""
    from analysis.reporting.output import provenance

    return {
        "as": kind,
        "command": command,
        "written": provenance.format_current_time(),
        "with": provenance.format_package_versions(),
        "studies": {name: about["hash"] for name, about in opened_runs.info["studies"].items()},
        "models": {name: about.get("revision") for name, about in opened_runs.info["models"].items()},
    }
