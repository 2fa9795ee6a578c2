"""Run the commands `waver baseline save | show`."""

from __future__ import annotations

import argparse

from ground.capitals import capitalise_sentence
from ground.parser import parse_path

COMMAND = "baseline"
HELP = "save a run as the baseline that later runs are checked against"
DESCRIPTION = (
    "Save what `waver check RUN --against NAME` needs of a run: answers, shares and hashes of texts, small enough for "
    "git. It is signed by its own hash."
)
ABOUT_SHOW = "tell what a baseline holds, and whether it is whole"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    verbs = parser.add_subparsers(title="what to do", metavar="VERB", required=True)
    save = verbs.add_parser("save", help="save a run as a baseline", description=DESCRIPTION)
    save.epilog = f"example: {save.prog} runs/first --as v1"
    save.add_argument("runs", nargs="+", metavar="RUN", help="run folder, or a folder of run folders")
    save.add_argument("--as", dest="name", required=True, metavar="NAME", help="its name")
    save.add_argument("--to", type=parse_path, metavar="FOLDER", help="folder to write (default: baselines/NAME)")
    save.add_argument("--replace", action="store_true", help="replace a baseline that is there already")
    save.set_defaults(act=_save_runs_as_baseline)
    show = verbs.add_parser("show", help=ABOUT_SHOW, description=f"{capitalise_sentence(ABOUT_SHOW)}.")
    show.epilog = f"example: {show.prog} v1"
    show.add_argument("name", metavar="NAME", help="name of a baseline in the folder baselines, or a folder")
    show.set_defaults(act=_print_baseline_content)


def main(args: argparse.Namespace) -> int:
    """Save a baseline, or show one.

    Raises
    ------
    InputError
        For a run or baseline that is none, or a place that is taken.
    """
    status: int = args.act(args)
    return status


def _save_runs_as_baseline(args: argparse.Namespace) -> int:
    """Save the baseline; print where, and how large it is."""
    from analysis import runs
    from analysis.check.baseline import save_baseline
    from analysis.reporting.output.notebooks import resolve_path_here_or_in_notebooks

    opened = runs.open_runs(*(resolve_path_here_or_in_notebooks(run) for run in args.runs))
    out = save_baseline(opened, args.name, args.to, replaces=args.replace)
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    print(f"{out}: {size / 1000:,.0f} kB")
    return 0


def _print_baseline_content(args: argparse.Namespace) -> int:
    """Print what a baseline holds."""
    from analysis.check.baseline import (
        find_folder_of_baseline_or_run,
        open_baseline,
        read_fields_of_unchanged_baseline,
    )
    from analysis.reporting.words import format_quantity
    from ground.errors import InputError, format_message_on_one_line

    path = find_folder_of_baseline_or_run(args.name)
    details = read_fields_of_unchanged_baseline(path)
    if not details:
        raise InputError(
            f"{path}: this is a run folder, no baseline; save it by `waver baseline save {path} --as NAME`"
        )
    opened = open_baseline(path)
    about = f"{details[0]['name']}: saved {details[0]['saved']} by Waver {details[0]['version']}; whole (hash)"
    print(format_message_on_one_line(about))
    for study, fields in opened.info["studies"].items():
        items, wordings = opened.execute(
            "SELECT count(DISTINCT item), count(*) FROM stimuli WHERE study = ?", [study]
        ).fetchall()[0]
        size = f"{format_quantity(items, 'item')}, {format_quantity(wordings, 'wording')}"
        print(format_message_on_one_line(f"study {study} ({fields['protocol']}, hash {fields['hash'][:12]}): {size}"))
        for model, condition, rows in opened.execute(
            "SELECT model, condition, count(*) FROM responses JOIN units USING (study, model, condition) "
            "WHERE study = ? GROUP BY model, condition, position ORDER BY position", [study],
        ).fetchall():  # fmt: skip
            print(f"  {model} ({condition}): {format_quantity(rows, 'answer')}")
    return 0
