"""Run `waver status ROOT`: count the rows done and left in run folders."""

from __future__ import annotations

import argparse
import json

from ground.parser import parse_path

COMMAND = "status"
HELP = "count the rows done and left in a run folder, or in all of a run file"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options of `waver status`."""
    parser.set_defaults(prints=True)
    parser.add_argument("root", type=parse_path, metavar="ROOT", help="a run folder, a run file, or its `out`")
    parser.add_argument(
        "--json",
        action="store_true",
        help="print JSON, as inference/runfolder/schema.json explains it",
    )


def main(options: argparse.Namespace) -> None:
    """Print what is done and left in the run folders below a root, which may be named by a run file.

    Raises
    ------
    InputError
        As `inference.runfolder.status.read_statuses_of_runs`.
    """
    from inference.runfolder.status import describe_statuses_of_runs, list_status_records, read_statuses_of_runs

    statuses = read_statuses_of_runs(options.root)
    if options.json:
        print(json.dumps({"format": 1, "runs": list_status_records(statuses)}, indent=1, ensure_ascii=False))
        return
    for line in describe_statuses_of_runs(statuses):
        print(line)
