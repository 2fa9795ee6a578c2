"""Run the command `waver check RUN --rules FILE`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ground.command import discard_remaining_output
from ground.errors import InputError, format_message_on_one_line
from ground.parser import parse_path, require_file_name
from ground.progress import print_warning

if TYPE_CHECKING:
    from analysis.check.checking import Check
    from analysis.check.rules import Rules

COMMAND = "check"
HELP = "check rules on a run: each holds, is broken, or cannot be told"
DESCRIPTION = (
    "Check rules on the numbers of a run, and on its changes since a baseline. A rule holds or is broken where its "
    "test says so, and not by chance or by rewording alone. The exit status is 0 where none is broken, 3 where one is, "
    "and 4 where one cannot be told and its rule says that this fails."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.epilog = f"example: {parser.prog} runs/new --rules rules.toml --against baselines/released"
    parser.add_argument("run", nargs="?", metavar="RUN", help="run folder, or a folder of run folders")
    parser.add_argument(
        "--rules", required=True, type=parse_path, metavar="FILE", help="rules, as docs/check.md explains them"
    )
    parser.add_argument(
        "--against", type=require_file_name, metavar="BASELINE", help="the baseline that changes are told against"
    )
    output_form = parser.add_mutually_exclusive_group()
    output_form.add_argument(
        "--json", action="store_true", help="print JSON, as analysis/check/schema.json explains it"
    )
    output_form.add_argument("--explain", action="store_true", help="only say what each rule tests; no run is needed")
    parser.add_argument("--junit", type=parse_path, metavar="FILE", help="write JUnit XML, too, for a build server")
    parser.add_argument("--markdown", type=parse_path, metavar="FILE", help="write a summary for a pull request, too")


def main(args: argparse.Namespace) -> int:
    """Check the rules, print and write what came out, and return the exit status.

    Raises
    ------
    InputError
        A rule, the run, the baseline or a file to write is wrong; nothing is written.
    """
    from analysis.check.rules_file import read_rules_file

    if not args.explain and not args.run:
        raise InputError("check: give a run folder, or --explain to be told what the rules test")
    if args.explain and (args.junit or args.markdown):
        raise InputError("check: --explain checks nothing that --junit or --markdown could hold; give one or the other")
    rules = read_rules_file(args.rules)
    if args.explain:
        from analysis.check.forms.explain import explain_rules

        sys.stdout.buffer.write("".join(f"{line}\n" for line in explain_rules(rules)).encode())
        return 0
    _refuse_unusable_output_files(args)
    return write_and_print_check(
        _check_rules_on_run(rules, args.run, args.against or ""), args.json, args.junit, args.markdown
    )


def _check_rules_on_run(rules: Rules, run: str, against: str) -> Check:
    """Open the run and the baseline, and check the rules on them."""
    from analysis import runs
    from analysis.check.baseline import open_baseline, verify_baseline_is_unchanged
    from analysis.check.checking import (
        Check,
        build_rule_testing_function_and_notes,
        refuse_unknown_rule_models_and_studies,
        run_and_decide_rules_with_joint_holm,
    )
    from analysis.check.rules import NUMBER
    from analysis.reporting.output.notebooks import resolve_path_here_or_in_notebooks

    changes = [rule for rule in rules.rules if rule.kind != NUMBER]
    if changes and not against:
        raise InputError(f"{rules.path}: {changes[0].text!r} is about a change; give --against BASELINE")
    opened = runs.open_runs(resolve_path_here_or_in_notebooks(run))
    for rule in rules.rules:
        refuse_unknown_rule_models_and_studies(rule, opened)
    baseline = None
    if changes:
        baseline = open_baseline(Path(against))
    make_outcomes, notes = build_rule_testing_function_and_notes(opened, baseline)
    results = run_and_decide_rules_with_joint_holm(rules, make_outcomes)
    if baseline is not None:
        verify_baseline_is_unchanged(baseline)
    if against and not changes:
        notes.append(f"no rule is about a change: {against} is not read")
    return Check(rules, run, against, results, tuple(dict.fromkeys(notes)))


def write_and_print_check(check: Check, as_json: bool, junit: Path | None = None, markdown: Path | None = None) -> int:
    """Write a check to its files, print it, and return the exit status.

    A reader that has seen enough (`| head`) changes nothing about the exit status: a gate must not open by that.

    Parameters
    ----------
    check
        The check.
    as_json
        Print JSON in place of lines.
    junit, markdown
        Files to write, too.

    Returns
    -------
    0, 3 or 4.
    """
    from analysis.check.forms.json_form import format_check_as_json
    from analysis.check.forms.junit import format_check_as_junit
    from analysis.check.forms.lines import describe_check
    from analysis.check.forms.markdown import format_check_as_markdown
    from ground.writing import write_atomically

    files: tuple[tuple[Path | None, Callable[[Check], str]], ...] = (
        (junit, format_check_as_junit),
        (markdown, format_check_as_markdown),
    )
    for file, write in files:
        if file:
            write_atomically(file, partial(Path.write_text, data=write(check), encoding="utf-8", newline=""))
    for note in () if as_json else check.notes:
        print_warning(format_message_on_one_line(f"note: {note}"))
    text = format_check_as_json(check) if as_json else "".join(f"{line}\n" for line in describe_check(check))
    try:
        sys.stdout.buffer.write(text.encode())
        sys.stdout.flush()
    except BrokenPipeError:
        discard_remaining_output()
    return check.exit_status


def _refuse_unusable_output_files(args: argparse.Namespace) -> None:
    """Refuse a file to write without a folder, that is no ordinary file, or that is read or written already."""
    from analysis.check.baseline import FOLDER
    from analysis.reporting.output.notebooks import resolve_path_here_or_in_notebooks

    named_files = [(f"--{name}", getattr(args, name)) for name in ("junit", "markdown") if getattr(args, name)]
    if len({file.resolve() for _, file in named_files}) < len(named_files):
        raise InputError("--junit and --markdown name the same file; give two")
    inputs = [(str(args.rules), args.rules), (args.run, resolve_path_here_or_in_notebooks(args.run))]
    if args.against:  # a bare name is one of the folder of baselines
        inputs += [(args.against, path) for path in (Path(args.against).expanduser(), FOLDER / args.against)]
    for option, file in named_files:
        if not file.parent.is_dir():
            raise InputError(f"{option} {file}: there is no folder {file.parent}; make it first")
        if file.is_dir():
            raise InputError(f"{option} {file}: is a folder; give the name of a file")
        if file.exists() and not file.is_file():  # a pipe or a device, which a file would replace
            raise InputError(f"{option} {file}: is not an ordinary file; give the name of one")
        for name, path in inputs:
            if path.exists() and path.resolve() in (file.resolve(), *file.resolve().parents):
                raise InputError(f"{option} {file}: is a part of {name}, which is read; give another")
