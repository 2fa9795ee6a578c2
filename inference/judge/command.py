"""Define and run `waver judge`: a model reads the texts of a run, or people get some of them as a table."""

from __future__ import annotations

import argparse
from pathlib import Path

from ground.errors import InputError, RunFailed, format_quantity
from ground.parser import parse_path, require_file_name
from ground.progress import print_progress
from inference.arguments import add_allow_failed_option, add_engine_options, parse_engine_settings, parse_positive

COMMAND = "judge"
HELP = "let a model read the texts of a run, or draw some into a table for people"
EXAMPLE = "example: waver judge runs/texts --model my-judge; waver judge runs/texts --sheet 200 people.csv"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options of `waver judge`."""
    parser.epilog = EXAMPLE
    parser.add_argument(
        "run", type=parse_path, metavar="RUN", help="a run folder with texts (--answer text, or imported)"
    )
    parser.add_argument("--model", metavar="MODEL", help="the model that reads them (NAME=... chooses its name)")
    parser.add_argument(
        "--sheet",
        nargs=2,
        metavar=("N", "FILE"),
        help="write N of the texts into a new .csv file, in which people say which option each means",
    )
    parser.add_argument(
        "--condition", nargs="+", default=[], metavar="NAME", help="whose texts are read (default: all with texts)"
    )
    parser.add_argument(
        "--prompt",
        type=require_file_name,
        metavar="FILE",
        help="prompts of your own (YAML, like inference/judge/prompt.yaml)",
    )
    add_engine_options(parser)
    add_allow_failed_option(parser)


def main(options: argparse.Namespace) -> None:
    """Let a model read the texts of a run, or write a sheet for people; print what was written.

    Raises
    ------
    InputError
        The run has no texts to read, or the model cannot judge.
    RunFailed
        Stopped, or questions failed; what was read is kept, and the same command asks the rest.
    """
    if (options.model is None) == (options.sheet is None):
        raise InputError("give either --model, who reads the texts, or --sheet N FILE, for people")
    if options.sheet is not None:
        _write_sheet_of_sampled_texts(options)
    else:
        _ask_judge(options)


def _write_sheet_of_sampled_texts(options: argparse.Namespace) -> None:
    """Draw texts into a sheet for people."""
    from inference.judge.sheet import draw_texts_and_write_annotation_sheet
    from inference.judge.texts import RunTexts

    number, file = options.sheet
    try:
        n_texts = parse_positive(number)
    except argparse.ArgumentTypeError as error:
        raise InputError(f"--sheet {error}") from None
    rows = draw_texts_and_write_annotation_sheet(
        Path(file), RunTexts(Path(options.run), options.condition), n_texts, options.seed or 0
    )
    texts = format_quantity(rows, "text")
    print(f"{file}: {texts}; write the option of each into the column option, nothing where it takes none")


def _ask_judge(options: argparse.Namespace) -> None:
    """Ask the judge about all texts that it has not read, and write what it says into the run."""
    from inference.asking.failures import NO_FAILURES
    from inference.asking.models import find_requested_models
    from inference.judge.questions import Questions, build_judge_study, read_option_judge_prompts
    from inference.judge.reading import Judge
    from inference.judge.texts import NOTHING_SHOWS, RunTexts
    from inference.judge.writing import add_judged_rows_to_run_of_texts

    models = find_requested_models([options.model], engine=options.engine)
    if len(models) != 1:
        raise InputError(f"--model {options.model}: these are {len(models)} models; name one judge")
    book = read_option_judge_prompts(options.prompt)
    texts = RunTexts(Path(options.run), options.condition)
    judge = Judge(texts.folder, models[0], parse_engine_settings(options), Questions(book))
    replies = texts.list_distinct_replies_by_key()
    if not replies:
        raise InputError(f"{texts.folder}: {NOTHING_SHOWS}")
    failure = judge.ask_about_units_and_return_failure(
        replies, build_judge_study, options.call, options.allow_failed or NO_FAILURES
    )
    readings = judge.collect_readings_of_judge()
    if readings.judgement_by_key:
        written = add_judged_rows_to_run_of_texts(texts, models[0].id, readings, book, options.call)
        for condition, rows in written.items():
            print(f"{condition}: {format_quantity(rows, 'row')} written")
        if not written:
            print_progress(f"{texts.folder}: nothing new to write")
    if isinstance(failure, RunFailed):
        raise failure
