"""Run the command `waver tune choice`: tune an adapter on a model's own right answers."""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import partial
from shlex import quote

from ground.errors import InputError
from ground.parser import require_file_name
from inference.arguments import parse_folder_path
from inference.protocols.choice.tune import Lesson
from inference.stimuli.reading.files import expand_user_path

COMMAND = "tune choice"
HELP = "tune a model on paraphrases of multiple-choice questions (LoRA); the same call continues a stopped one"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define what `waver tune choice` takes."""
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
        "--out", type=parse_folder_path, required=True, metavar="FOLDER",
        help="the adapter: a new folder, or one of this tuning to continue",
    )  # fmt: skip
    parser.add_argument(
        "--config",
        type=require_file_name,
        metavar="FILE",
        help="TOML: settings to change (default: those of Choi, in inference/protocols/choice/tune/settings.toml)",
    )
    parser.add_argument("--subset", metavar="NAME", help="learn from the questions of one subset only (default: all)")
    parser.add_argument("--condition", metavar="NAME", help="whose texts to learn from, where the run has several")
    parser.add_argument(
        "--prompt",
        type=require_file_name,
        metavar="FILE",
        help="the prompt file, where the run was asked with one of its own",
    )
    parser.add_argument("--revision", help="branch, tag or commit of a hub model")
    parser.add_argument(
        "--device", choices=("auto", "cpu"), default="auto", help="default: cuda if there is one, else cpu"
    )


def main(options: argparse.Namespace) -> None:
    """Tune the adapter; print what it learns from, and how to ask with it.

    Raises
    ------
    InputError
        The run, the model or an option is wrong, or the folder holds something else.
    RunFailed
        The training diverges, or device or disk is too small.
    """
    from inference.asking.models import find_requested_models
    from inference.protocols.choice import tune
    from inference.protocols.choice.tune import settings

    chosen = settings.read_tuning_settings(expand_user_path(options.config) if options.config else None)
    models = find_requested_models([options.model], ("causal",))
    if len(models) != 1:
        raise InputError(f"--model {options.model}: these are {len(models)} models; name one")
    model = replace(models[0], fields={"revision": options.revision} if options.revision else {})
    run, out = expand_user_path(options.run), expand_user_path(options.out)
    lesson = tune.Lesson(
        run,
        model,
        tune.answers.read_answers_by_wording_and_order(run, model, options.condition),
        chosen,
        options.prompt,
        options.subset,
    )
    from inference.protocols.choice.tune.checkpoints import AdapterFolder
    from inference.protocols.choice.tune.training import (
        Learner,  # of an extra: what is wrong with the run is said before
    )

    learner = Learner(model, chosen, options.device)
    examples = lesson.draw_examples_of_lesson(learner.has_text_ended_before_limit)
    rows = {
        "train": learner.encode_examples(examples.train),
        "validation": learner.encode_examples(examples.validation),
    }
    for line in tune.iterate_lines_on_used_and_left_out_examples(examples, learner.too_long):
        print(line, flush=True)
    with AdapterFolder(out, tune.build_choice_tuning_record(lesson, learner, examples)) as folder:
        if folder.is_adapter_finished:
            print(f"{options.out}: finished before")
        else:
            learner.train_adapter(rows, folder, partial(print, flush=True))
    asking = f"--model {quote(options.model)} --lora {quote(options.out)} --prompt-kind base aware --answer text"
    print(
        f"next: waver run choice --items QUESTIONS --split test {asking} {_format_options_for_asking_adapter(lesson)} "
        "--out RUN"
    )


def _format_options_for_asking_adapter(lesson: Lesson) -> str:
    """Repeat how the texts were asked for that were learnt from: so the adapter is asked in the way that it learnt."""
    fields = lesson.model_answers.fields
    format_ = str(fields["format"]).replace(" ", "-")
    prompt = f" --prompt {quote(lesson.prompt)}" if lesson.prompt else ""
    return f"--form {fields['form']} --format {format_}{prompt}"
