"""Run the command `waver tune nli`: tune encoders to label premises and hypotheses."""

from __future__ import annotations

import argparse
from argparse import ArgumentTypeError
from collections import Counter
from collections.abc import Callable
from shlex import quote
from statistics import mean

from ground.errors import InputError, format_quantity
from ground.numerals import build_bounded_number_argument_type, build_bounded_whole_number_type
from inference.arguments import parse_folder_path
from inference.stimuli.reading.files import expand_user_path

COMMAND = "tune nli"
HELP = "tune an encoder to label premises and hypotheses; the same call continues a stopped one"
MOST_VALUES = 100  # values of one option


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define what `waver tune nli` takes."""
    parser.epilog = "example: waver tune nli --model my-bert --data jnli-train.json --out tuned/jnli"
    parser.add_argument("--model", required=True, metavar="ENCODER", help="a masked language model: hub id or folder")
    parser.add_argument(
        "--data",
        required=True,
        nargs="+",
        action="extend",
        metavar="PAIRS",
        help="labelled pairs, as for `run negation --items`; a row that two files have is read once",
    )
    parser.add_argument(
        "--out", type=parse_folder_path, required=True, metavar="FOLDER",
        help="a new folder, or one of the same tuning to continue",
    )  # fmt: skip
    parser.add_argument(
        "--rates",
        type=_build_value_list_type(build_bounded_number_argument_type(1e-9, 1)),
        default=(5e-5, 3e-5, 2e-5),
        metavar="5e-5,3e-5",
        help="learning rates to choose from (default: 5e-5,3e-5,2e-5)",
    )
    parser.add_argument(
        "--epochs",
        type=_build_value_list_type(build_bounded_whole_number_type(1, 1_000)),
        default=(3, 4, 5),
        metavar="3,4",
        help="numbers of passes over the training rows to choose from (default: 3,4,5)",
    )
    parser.add_argument(
        "--seeds",
        type=build_bounded_whole_number_type(1, MOST_VALUES),
        default=5,
        metavar="N",
        help="splits of the rows, a model each (default: 5)",
    )
    parser.add_argument("--device", choices=("auto", "cpu"), default="auto", help="default: the best there is")


def main(options: argparse.Namespace) -> None:
    """Tune a model per split of the rows; print what was chosen.

    Raises
    ------
    InputError
        The rows, the model or an option is wrong, or the folder holds something else.
    RunFailed
        The training diverged, or a checkpoint cannot be written.
    """
    from inference.asking.models import find_requested_models
    from inference.protocols.negation.tune import nli

    models = find_requested_models([options.model], ("masked",))
    if len(models) != 1:
        raise InputError(f"--model {options.model}: these are {len(models)} models; name one")
    (model,) = models
    files, out = [expand_user_path(path) for path in options.data], expand_user_path(options.out)
    rows = nli.read_tuning_pairs(files)
    from inference.protocols.negation.tune.training import (  # of an extra: what is wrong with the data is said before
        MOST_TOKENS,
        Encoder,
    )

    counts = Counter(row.label for row in rows)
    print(f"{len(rows):,} rows: {', '.join(f'{counts[label]:,} {label}' for label in nli.LABELS)}")
    encoder = Encoder(model.source, model.id, rows, options.device)
    if encoder.n_cut:
        pairs = format_quantity(encoder.n_cut, "of them has", "of them have")
        print(f"  {pairs} more than {MOST_TOKENS} tokens: the longer sentence is cut")
    chosen = []
    for step in nli.train_cells_and_yield_choices(
        encoder, rows, files, nli.TuningGrid(options.rates, options.epochs), options.seeds, out
    ):
        if isinstance(step, nli.ChosenModel):
            chosen.append(step)
            print(
                f"  chosen: rate {step.cell.rate:g}, {format_quantity(step.cell.epochs, 'epoch')}: {step.folder}",
                flush=True,
            )
        else:
            print(step, flush=True)
    held_out = mean(model.result.accuracy for model in chosen)
    print(
        f"{options.out}: {format_quantity(len(chosen), 'model')}; mean accuracy on the rows that chose them "
        f"{held_out:.4f}, so too high"
    )
    print(f"next: waver run negation --items PAIRS --model {quote(str(out / out.resolve().name))}-* --out RUN")


def _build_value_list_type(parse_value: Callable[[str], float]) -> Callable[[str], tuple[float, ...]]:
    """Build an argparse type that reads `A,B,C` as different values, each by `parse_value`."""

    def parse_values(text: str) -> tuple[float, ...]:
        values = tuple(parse_value(part.strip()) for part in text.split(","))
        if len(set(values)) < len(values) or len(values) > MOST_VALUES:
            raise ArgumentTypeError(f"{text[:40]!r}: give at most {MOST_VALUES} values, each once")
        return values

    return parse_values
