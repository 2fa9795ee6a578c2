"""Define and run the commands of `waver tune`."""

from __future__ import annotations

import argparse
from argparse import ArgumentTypeError
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from shlex import quote
from statistics import mean
from typing import TYPE_CHECKING

from ground.errors import InputError
from inference.numerals import decimal, whole
from inference.stimuli.files import located

if TYPE_CHECKING:
    from inference.tune.choice import Lesson

MOST = 100  # values of one option


def _nli_arguments(parser: argparse.ArgumentParser) -> None:
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
        "--out", required=True, metavar="FOLDER", help="a new folder, or one of the same tuning to continue"
    )
    parser.add_argument(
        "--rates",
        type=_several(decimal(1e-9, 1)),
        default=(5e-5, 3e-5, 2e-5),
        metavar="5e-5,3e-5",
        help="learning rates to choose from (default: 5e-5,3e-5,2e-5)",
    )
    parser.add_argument(
        "--epochs",
        type=_several(whole(1, 1_000)),
        default=(3, 4, 5),
        metavar="3,4",
        help="numbers of passes over the training rows to choose from (default: 3,4,5)",
    )
    parser.add_argument(
        "--seeds", type=whole(1, MOST), default=5, metavar="N", help="splits of the rows, a model each (default: 5)"
    )
    parser.add_argument("--device", choices=("auto", "cpu"), default="auto", help="default: the best there is")


def _nli(options: argparse.Namespace) -> None:
    from inference.asking.models import resolve
    from inference.tune import nli

    models = resolve([options.model], ("masked",))
    if len(models) != 1:
        raise InputError(f"--model {options.model}: these are {len(models)} models; name one")
    (model,) = models
    files, out = [located(path) for path in options.data], located(options.out)
    rows = nli.read(files)
    from inference.tune.training import LONGEST, Encoder  # of an extra: what is wrong with the data is said before

    counts = Counter(row.label for row in rows)
    print(f"{len(rows):,} rows: {', '.join(f'{counts[label]:,} {label}' for label in nli.LABELS)}")
    encoder = Encoder(model.source, model.id, rows, options.device)
    if encoder.cut:
        print(f"  {encoder.cut:,} of them have more than {LONGEST} tokens: their longer sentence is cut")
    chosen = []
    for each in nli.tune(encoder, rows, files, nli.Grid(options.rates, options.epochs), options.seeds, out):
        if isinstance(each, nli.Chosen):
            chosen.append(each)
            print(f"  chosen: rate {each.cell.rate:g}, {each.cell.epochs} epochs: {each.folder}", flush=True)
        else:
            print(each, flush=True)
    held_out = mean(each.result.accuracy for each in chosen)
    print(f"{options.out}: {len(chosen)} models; mean accuracy on the rows that chose them {held_out:.4f}, so too high")
    print(f"next: waver run negation --items PAIRS --model {out / out.resolve().name}-* --out RUN")


def _choice_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "example: waver tune choice --run runs/arc --model my-llama --out tuned/my-llama-choice"
    parser.add_argument(
        "--run",
        required=True,
        metavar="RUN",
        help="run folder of `run choice --answer text`, with questions of the splits train and validation",
    )
    parser.add_argument(
        "--model", required=True, metavar="MODEL", help="the model that answered there: hub id or folder, as then"
    )
    parser.add_argument(
        "--out", required=True, metavar="FOLDER", help="the adapter: a new folder, or one of this tuning to continue"
    )
    parser.add_argument(
        "--config",
        metavar="FILE",
        help="TOML: settings to change (default: those of Choi, in inference/tune/choice/settings.toml)",
    )
    parser.add_argument("--subset", metavar="NAME", help="learn from the questions of one subset only (default: all)")
    parser.add_argument("--condition", metavar="NAME", help="whose texts to learn from, where the run has several")
    parser.add_argument("--prompt", metavar="FILE", help="the prompts, where the run was asked with its own")
    parser.add_argument("--revision", help="branch, tag or commit of a hub model")
    parser.add_argument("--device", choices=("auto", "cpu"), default="auto", help="default: the best there is")


def _choice(options: argparse.Namespace) -> None:
    from inference.asking.models import resolve
    from inference.tune import choice
    from inference.tune.choice import settings

    chosen = settings.read(located(options.config) if options.config else None)
    models = resolve([options.model], ("causal",))
    if len(models) != 1:
        raise InputError(f"--model {options.model}: these are {len(models)} models; name one")
    model = replace(models[0], fields={"revision": options.revision} if options.revision else {})
    run, out = located(options.run), located(options.out)
    lesson = choice.Lesson(
        run, model, choice.answers.read(run, model, options.condition), chosen, options.prompt, options.subset
    )
    from inference.tune.choice.checkpoints import AdapterFolder
    from inference.tune.choice.training import Learner  # of an extra: what is wrong with the run is said before

    learner = Learner(model, chosen, options.device)
    examples = lesson.examples(learner.whole)
    rows = {"train": learner.read(examples.train), "validation": learner.read(examples.validation)}
    for line in choice.counted(examples, learner.too_long):
        print(line, flush=True)
    with AdapterFolder(out, choice.asked(lesson, learner, examples)) as folder:
        if folder.finished:
            print(f"{options.out}: finished before")
        else:
            learner.train(rows, folder, partial(print, flush=True))
    asking = f"--model {quote(options.model)} --lora {quote(options.out)} --prompt-kind base aware --answer text"
    print(f"next: waver run choice --items QUESTIONS --split test {asking} {_as_before(lesson)} --out RUN")


def _as_before(lesson: Lesson) -> str:
    """Repeat how the texts were asked for that were learnt from: so the adapter is asked in the way that it learnt."""
    fields = lesson.given.fields
    format_ = str(fields["format"]).replace(" ", "-")
    prompt = f" --prompt {quote(lesson.prompt)}" if lesson.prompt else ""
    return f"--form {fields['form']} --format {format_}{prompt}"


def _several(read: Callable[[str], float]) -> Callable[[str], tuple[float, ...]]:
    """Convert an argument `A,B,C` to different values."""

    def several(text: str) -> tuple[float, ...]:
        values = tuple(read(part.strip()) for part in text.split(","))
        if len(set(values)) < len(values) or len(values) > MOST:
            raise ArgumentTypeError(f"{text[:40]!r}: give at most {MOST} values, each once")
        return values

    return several


COMMANDS: dict[str, tuple[Callable[[argparse.Namespace], None], Callable[[argparse.ArgumentParser], None]]] = {
    "choice": (_choice, _choice_arguments),
    "nli": (_nli, _nli_arguments),
}
