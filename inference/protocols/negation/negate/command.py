"""Define and run the command `waver negate`."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from ground.errors import InputError, format_quantity
from ground.parser import require_file_name
from inference.arguments import add_engine_options, parse_engine_settings
from inference.protocols.negation.negate import LANGUAGES
from inference.protocols.negation.negate.sentences import NegatedSentence
from inference.stimuli.languages import get_main_language
from inference.stimuli.reading.files import expand_user_path

COMMAND = "negate"
HELP = "put a negation into sentences, wherever one can stand"
ANSWERS = ("probability", "text")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define what `waver negate` takes."""
    parser.epilog = "example: waver negate sentences.txt --language ja --out negations.jsonl"
    parser.add_argument(
        "file",
        type=require_file_name,
        metavar="FILE",
        help="one sentence a line, or a table (.jsonl, .csv ...) with `text`",
    )
    parser.add_argument("--language", required=True, type=get_main_language, choices=LANGUAGES, help="of the sentences")
    parser.add_argument(
        "--pipeline", metavar="NAME|PATH", help="spaCy pipeline with tagger and parser, for --language en"
    )
    parser.add_argument("--out", required=True, metavar="NEGATIONS", help="a .jsonl file")
    filter_group = parser.add_argument_group("filter")
    filter_group.add_argument(
        "--filter-model",
        metavar="MODEL",
        help="leave out what this model calls unacceptable (default: no filter); its answers are kept beside --out",
    )
    filter_group.add_argument(
        "--filter-answer",
        choices=ANSWERS,
        help="whether its option probabilities decide, or the text that it writes (default: probability)",
    )
    filter_group.add_argument(
        "--filter-prompt",
        type=require_file_name,
        metavar="FILE",
        help="prompts of your own (YAML, like inference/protocols/negation/negate/prompt-ja.yaml)",
    )
    filter_group.add_argument(
        "--judgements",
        type=require_file_name,
        metavar="TABLE",
        help="rows of --out that people judged, with a column acceptable (yes or no): prints precision, recall and F1 "
        "of the filter",
    )
    add_engine_options(parser)


def main(options: argparse.Namespace) -> None:
    """Negate the sentences of a file; print what was made and what was left out."""
    from inference.protocols.negation.negate import sentences
    from inference.runfolder import json_lines

    _refuse_options_without_their_companions(options)
    out = json_lines.require_usable_json_lines_path(options.out)
    aside = out.with_name(f"{out.stem}-skipped.jsonl")
    for written in (out, aside):
        json_lines.refuse_output_over_input(written, options.file, options.judgements, options.filter_prompt)
    ask = _build_acceptability_filter(options, out) if options.filter_model else None
    rows = sentences.read_sentences_to_negate(options.file)
    results = sentences.iterate_negations_or_reasons(
        [sentence for _, sentence in rows], options.language, options.pipeline
    )
    negated, skipped = sentences.separate_skipped_sentences(rows, results)
    report_lines = ["no --filter-model, so no filter: some of the negations may be unacceptable sentences"]
    filtered = negated
    if ask and negated:
        filtered, report_lines = ask(negated)
        skipped += [
            sentences.SkippedSentence(sentence.place, sentence.source, sentences.FILTERED)
            for sentence in filtered
            if not sentence.negations
        ]
    json_lines.write_json_lines(aside, map(asdict, skipped))
    json_lines.write_json_lines(out, sentences.build_output_rows_of_negations(filtered))
    n_negations = sum(len(sentence.negations) for sentence in negated)
    print(f"{format_quantity(n_negations, 'negation')} of {len(negated):,} of {format_quantity(len(rows), 'sentence')}")
    for reason, number in Counter(sentence.reason for sentence in skipped).most_common():
        print(f"  {number:,} skipped: {reason}")
    print("\n".join([*report_lines, f"{out}; the sentences skipped: {aside}"]))


def _refuse_options_without_their_companions(options: argparse.Namespace) -> None:
    """Refuse options that go with others."""
    if (options.language == "en") != (options.pipeline is not None):
        raise InputError(
            "--language en needs --pipeline: name a spaCy pipeline, such as en_core_web_sm"
            if options.language == "en"
            else "--pipeline is for --language en: leave it out"
        )
    lone_options = [
        name for name in ("filter_answer", "filter_prompt", "judgements") if getattr(options, name) is not None
    ]
    if lone_options and not options.filter_model:
        raise InputError(f"--{lone_options[0].replace('_', '-')} goes with --filter-model: name the model that judges")


def _build_acceptability_filter(
    options: argparse.Namespace, out: Path
) -> Callable[[Sequence[NegatedSentence]], tuple[list[NegatedSentence], list[str]]]:
    """Check what the filter needs; return what asks the model, keeps what it calls acceptable, and says what it did."""
    from inference.asking.models import find_requested_models
    from inference.protocols.negation.negate import judging, people

    try:
        models = find_requested_models([options.filter_model], engine=options.engine)
    except InputError as error:  # it speaks of --model, as the option is called elsewhere
        raise InputError(str(error).replace("--model", "--filter-model", 1)) from None
    if len(models) != 1:
        raise InputError(f"--filter-model {options.filter_model}: these are {len(models)} models; name one")
    book = judging.read_judging_prompts(options.language, options.filter_prompt)
    questions = judging.Questions(book, options.filter_answer or ANSWERS[0])
    settings = parse_engine_settings(options)

    def filter_negations_by_model(
        negated_sentences: Sequence[NegatedSentence],
    ) -> tuple[list[NegatedSentence], list[str]]:
        pairs = {(sentence.source, negation.text) for sentence in negated_sentences for negation in sentence.negations}
        people_verdicts = (
            people.read_people_verdicts(expand_user_path(options.judgements), pairs) if options.judgements else {}
        )
        study = judging.build_judging_study(negated_sentences, out.stem, options.language, options.file)
        folder = out.with_name(f"{out.stem}-judged")
        verdicts = judging.ask_acceptability_verdicts(
            study, models[0], questions, settings, folder, command=options.call
        )
        counts = Counter(verdicts.values())
        silent_words = f", {counts[None]:,} without a verdict" if counts[None] else ""
        lines = [
            f"left out by {models[0].id}: {counts[judging.UNACCEPTABLE]:,} unacceptable{silent_words}; answers: "
            f"{folder}"
        ]
        accepted = {pair for pair, verdict in verdicts.items() if verdict == judging.ACCEPTABLE}
        if people_verdicts:
            lines.append(str(people.score_filter_against_people(accepted, people_verdicts)))
        return [sentence.keep_accepted_negations(accepted) for sentence in negated_sentences], lines

    return filter_negations_by_model
