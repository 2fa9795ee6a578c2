"""Run the command `waver plan RUN`: how many items, wordings and sampled texts a study needs, from a pilot."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any

from ground.errors import InputError, format_nearest_name_hint
from ground.numerals import parse_finite_number
from ground.parser import parse_path

if TYPE_CHECKING:
    from analysis.measures.reworded import Study
    from analysis.statistics.reliability.forecast import Forecast
    from analysis.statistics.reliability.planning import Design
    from analysis.statistics.reliability.sampling import SampleSpread

COMMAND = "plan"
HELP = "say how many items and wordings a study needs, from a pilot as small as 20 items in 5 wordings"
DESCRIPTION = (
    "Print designs as CSV, the cheapest first: items, wordings of each, texts sampled with each (empty where answers "
    "are probabilities) or thoughts, prompts of one model and condition, tokens of thoughts and prompts, cost (of a "
    "pilot of thoughts: tokens), and the standard error that the pilot foresees, "
    "with other items and wordings; of a pilot in one wording, with other items and samples. With several models, a "
    "design is enough for each of them; with --difference, for each pair of them. SD and flips are those of as many "
    "wordings as a design has."
)
EXAMPLE = "example: waver plan results/demo/agreement --difference 0.05 --power 0.9"
PRINTS = True
SD, FLIPS = "sd", "flips"  # of agreement, over the wordings of an item
WITHOUT_CHECK = {  # options that say nothing about a check, and their defaults
    "measure": "", "condition": "", "threshold": None, "cost_item": 0.0, "cost_wording": 0.0, "cost_token": 0.0,
    "prompt_tokens": None,
}  # fmt: skip
TELLS = {
    SD: "two items with three wordings each that a model answers",
    FLIPS: "some items that flip, and some that do not",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.epilog = EXAMPLE
    parser.add_argument(
        "run", metavar="RUN",
        help="run folder of the pilot, of agreement, wording, choice, scale, scored or scoring; with --check, of any "
        "protocol",
    )  # fmt: skip
    parser.add_argument(
        "--measure", default="", metavar="M",
        help="mean agreement, logit, accuracy (default where it is known) or score; sd or flips: SD of agreement over "
        "the wordings of an item, and share of items that flip",
    )  # fmt: skip
    parser.add_argument(
        "--condition", default="", metavar="C", help="condition of the pilot; default: the first of each model"
    )
    goal = parser.add_mutually_exclusive_group(required=True)
    goal.add_argument("--se", type=parse_finite_number, metavar="X", help="standard error to reach")
    goal.add_argument(
        "--difference", type=parse_finite_number, metavar="D", help="difference between two models to find"
    )
    goal.add_argument(
        "--check", type=parse_path, metavar="FILE",
        help="rules of `waver check` to decide: for each, items and wordings that do so with the power",
    )  # fmt: skip
    parser.add_argument(
        "--change", type=parse_finite_number, metavar="D",
        help="with --check: true change to find; default: twice what each rule allows",
    )  # fmt: skip
    parser.add_argument(
        "--power",
        type=parse_finite_number,
        metavar="P",
        help="probability to find it, or to decide; default: 0.8",
    )
    parser.add_argument(
        "--threshold", type=parse_finite_number, metavar="T",
        help="of flips: share of the wordings that may be with the minority; default: 0.05",
    )  # fmt: skip
    for part, whose in (("item", "an item"), ("wording", "a wording"), ("token", "a token of thoughts")):
        parser.add_argument(
            f"--cost-{part}", type=parse_finite_number, default=0.0, metavar="C", help=f"cost of {whose}"
        )
    parser.add_argument(
        "--prompt-tokens", type=parse_finite_number, metavar="N",
        help="of thoughts: how many tokens of a thought reading a prompt counts like; default: a fourth of the "
        "prompts' characters",
    )  # fmt: skip
    parser.add_argument(
        "--json", action="store_true", help="print JSON, as analysis/check/planning/schema.json explains it"
    )


def main(args: argparse.Namespace) -> int:
    """Print the designs; what they rest on goes to standard error.

    Raises
    ------
    InputError
        An option, the run or the rules are wrong, the pilot tells too little, or the goal is out of reach.
    """
    from analysis import runs
    from analysis.check.planning.thought_tokens import (
        describe_tokens_per_thought_and_prompt,
        measure_prompt_and_thought_tokens,
    )
    from analysis.reporting.catalogue.rewordings import list_readers_by_protocol, read_reworded_studies
    from analysis.reporting.words import format_quantity
    from analysis.statistics.reliability.forecast import MeanForecast
    from analysis.statistics.reliability.planning import MOST_ITEMS, SAMPLES, THOUGHTS, Goal, list_sufficient_designs

    _refuse_wrong_plan_arguments(args)
    if args.check is not None:
        from analysis.check.planning.printing import plan_check_and_print_designs

        return plan_check_and_print_designs(args.run, args.check, args.change, args.power, as_json=args.json)
    pilot = runs.open_runs(args.run, protocols=frozenset(list_readers_by_protocol()))
    study = _choose_study_of_measure_to_plan(read_reworded_studies(pilot), args)
    _refuse_goal_beyond_range(study, args)
    goal = Goal(args.se) if args.se is not None else Goal(difference=args.difference, power=args.power)
    forecasts = _build_error_forecasts_of_models_or_pairs(study, args)
    if not forecasts:
        needs = TELLS.get(args.measure, "two items with two wordings, or two samples, each that a model answers")
        models = " (and two such models)" * (args.se is None)
        raise InputError(f"{args.run}: the pilot tells too little about its wordings: it needs {needs}{models}")
    is_sampled = all(isinstance(forecast, MeanForecast) and forecast.sample > 0 for forecast in forecasts)
    tokens = measure_prompt_and_thought_tokens(pilot, study, args, is_sampled=is_sampled)
    ranked_designs = list_sufficient_designs(
        forecasts, goal, crossed=study.crossed, samples=(THOUGHTS if tokens else SAMPLES) if is_sampled else (None,),
        cost_item=args.cost_item, cost_wording=args.cost_wording, cost_token=args.cost_token, tokens=tokens,
    )  # fmt: skip
    if not ranked_designs:
        raise InputError(
            f"{_describe_plan_goal(args)} is out of reach, even with {MOST_ITEMS:,} items in the most wordings that "
            f"are tried; allow a larger {'one' if args.se is not None else 'difference'}"
        )
    nouns = ("pair of models", "pairs of models") if args.se is None else ("model", "models")
    n_models = len(study.list_first_units_of_answering_models())
    n_all = n_models if args.se is not None else comb(n_models, 2)
    models_text = format_quantity(len(forecasts), *nouns)
    models_text += f" (of {n_all:,}: the pilot tells too little of the others)" * (len(forecasts) < n_all)
    measure_text = {SD: "the SD of agreement", FLIPS: "the share of flips"}.get(args.measure, study.measure)
    measure_text += study.rescaling_text
    notes = [
        f"{_describe_plan_goal(args)} in {measure_text}; pilot: {_describe_size_of_pilot(study)}, {models_text}",
        *_describe_flip_share_error_bounds(forecasts, ranked_designs[0]),
        *([describe_tokens_per_thought_and_prompt(tokens, args)] if tokens else []),
    ]
    if args.json:
        from analysis.check.planning.printing import format_plan_as_json

        goal_fields = {"standard_error": args.se, "difference": args.difference}
        power = None if args.difference is None else args.power
        records = [_build_design_record(design) for design in ranked_designs]
        measure = args.measure or study.measure
        print(format_plan_as_json(args.run, {**goal_fields, "power": power}, measure, notes, records), end="")
        return 0
    for note in notes:
        print(note, file=sys.stderr)
    print(
        f"items,wordings,{'thoughts' if tokens else 'samples'},prompts,{'tokens,' if tokens else ''}cost,standard_error"
    )
    for design in ranked_designs:
        samples = "" if design.samples is None else design.samples
        n_tokens = "" if design.tokens is None else f"{design.tokens:.0f},"
        cost = f"{design.cost:.0f}" if design.cost == design.tokens else f"{design.cost:g}"
        print(f"{design.items},{design.wordings},{samples},{design.prompts},{n_tokens}{cost},{design.error:.6g}")
    return 0


def _build_design_record(design: Design) -> dict[str, Any]:
    """Build the record of a design."""
    return {
        "items": design.items, "wordings": design.wordings, "samples": design.samples, "prompts": design.prompts,
        "tokens": design.tokens, "cost": design.cost, "standard_error": design.error,
    }  # fmt: skip


def _choose_study_of_measure_to_plan(pilot_studies: Sequence[Study], args: argparse.Namespace) -> Study:
    """Choose the study and the measure."""
    if len({study.name for study in pilot_studies}) > 1:
        raise InputError(f"{args.run} holds several studies; give the run folder of one")
    if not pilot_studies:
        raise InputError(f"{args.run}: no item was answered in several wordings; plan from a run that has some")
    if args.condition:
        pilot_studies = _select_studies_of_condition(pilot_studies, args.condition)
    studies_by_measure = {study.measure: study for study in pilot_studies}
    names = [*studies_by_measure, *((SD, FLIPS) if "agreement" in studies_by_measure else ())]
    if args.measure and args.measure not in names:
        raise InputError(
            f"--measure {args.measure!r}{format_nearest_name_hint(args.measure, names)}; known here: {', '.join(names)}"
        )
    if args.measure in (SD, FLIPS):
        study = studies_by_measure["agreement"]
        if args.measure == FLIPS and study.crossed:
            raise InputError(
                "--measure flips is for wordings of each item's own: a pilot does not tell how far flips rest on "
                "wordings that all items share; give --measure sd or agreement"
            )
        return study
    if args.measure:
        return studies_by_measure[args.measure]
    return next((study for study in pilot_studies if study.headline), pilot_studies[0])


def _select_studies_of_condition(studies: Sequence[Study], condition: str) -> list[Study]:
    """Keep the answers under one condition, of those measures that have any under it."""
    conditions = dict.fromkeys(name for study in studies for _, name in study.units)
    if condition not in conditions:
        raise InputError(
            f"--condition {condition!r}{format_nearest_name_hint(condition, conditions)}; known here: "
            f"{', '.join(conditions)}"
        )
    return [
        study.select_units_of_conditions([condition])
        for study in studies
        if condition in {name for _, name in study.units}
    ]


def _build_error_forecasts_of_models_or_pairs(study: Study, args: argparse.Namespace) -> list[Forecast]:
    """Foresee the error of every model that answers, or of the difference of every two."""
    from analysis.measures.reworded.flips import FLIP
    from analysis.statistics.reliability.deviations import compute_sd_pseudo_values, forecast_error_of_mean_wording_sd
    from analysis.statistics.reliability.flips import build_flip_share_error_forecast
    from analysis.statistics.reliability.forecast import build_mean_error_forecast

    chosen_units = study.list_first_units_of_answering_models()
    if args.measure == FLIPS:
        threshold = FLIP if args.threshold is None else args.threshold
        flip_forecasts = (build_flip_share_error_forecast(study.values[unit], threshold) for unit in chosen_units)
        return [forecast for forecast in flip_forecasts if forecast is not None]
    spread = args.measure == SD
    if spread and args.se is not None:
        sd_forecasts = (forecast_error_of_mean_wording_sd(study.values[unit], study.crossed) for unit in chosen_units)
        return [forecast for forecast in sd_forecasts if forecast is not None]
    values = {
        unit: compute_sd_pseudo_values(study.values[unit]) if spread else study.values[unit] for unit in chosen_units
    }
    samples_by_unit = {unit: None if spread else study.estimate_unit_sampling_spread(unit) for unit in chosen_units}
    if args.se is not None:
        compared_answers = [(values[unit], samples_by_unit[unit]) for unit in chosen_units]
    else:
        compared_answers = [
            (values[a] - values[b], _combine_sample_spreads_of_two_models(samples_by_unit[a], samples_by_unit[b]))
            for a, b in combinations(chosen_units, 2)
        ]
    mean_forecasts = [
        build_mean_error_forecast(answers, study.crossed, samples, least=2 if spread else 1) for answers,
        samples in compared_answers
    ]  # fmt: skip
    return [forecast for forecast in mean_forecasts if forecast.item == forecast.item]  # no number is unlike itself


def _combine_sample_spreads_of_two_models(
    first_spread: SampleSpread | None, second_spread: SampleSpread | None
) -> SampleSpread | None:
    """Combine how far the samples of two models spread; None where one of them has no samples."""
    return first_spread.combine_for_difference(second_spread) if first_spread and second_spread else None


def _describe_flip_share_error_bounds(forecasts: Sequence[Forecast], cheapest_design: Design) -> Iterator[str]:
    """Say between which bounds the standard error of the share of flips lies with the cheapest design."""
    from analysis.statistics.reliability.flips import Flips

    bounds = [
        forecast.compute_standard_error_bounds(cheapest_design.items, cheapest_design.wordings)
        for forecast in forecasts
        if isinstance(forecast, Flips)
    ]
    if bounds:
        low, high = max(bounds, key=lambda ends: ends[1] - ends[0])
        yield f"as few items as the pilot has leave the error of the first design between {low:.3g} and {high:.3g}"


def _describe_plan_goal(args: argparse.Namespace) -> str:
    """Say what a design is to reach: a standard error, or a power to find a difference."""
    if args.se is not None:
        return f"a standard error of {args.se:.3g}"
    return f"a power of {args.power:.3g} to find a difference of {args.difference:.3g}"


def _describe_size_of_pilot(study: Study) -> str:
    """Say how large the pilot is, in the model with the fewest answers of those that it tells enough of."""
    from analysis.reporting.words import format_quantity

    panels = [study.estimate_mean_and_components(unit) for unit in study.list_first_units_of_answering_models()]
    panels = [panel for panel in panels if panel.item == panel.item] or panels
    items, wordings = min(panel.n_items for panel in panels), min(panel.n_wordings for panel in panels)
    return f"{format_quantity(items, 'item')}, {format_quantity(round(wordings), 'wording')} ({study.design})"


def _refuse_goal_beyond_range(study: Study, args: argparse.Namespace) -> None:
    """Refuse a goal of 1 or more, unless the measure has no range: 1 is the whole range."""
    for option in ("se", "difference"):
        value = getattr(args, option)
        if study.has_range and value is not None and value >= 1:
            raise InputError(f"--{option} {value:g}: give a number between 0 and 1, such as 0.02")


def _refuse_wrong_plan_arguments(args: argparse.Namespace) -> None:
    """Refuse goals, thresholds and costs that are out of range or do not go together."""
    if args.change is not None and args.check is None:
        raise InputError("--change is about the rules of a check: add --check FILE, or leave it out")
    if args.change is not None and args.change <= 0:
        raise InputError(f"--change {args.change:g}: give a change above 0, such as 0.04")
    for option, default in WITHOUT_CHECK.items() if args.check is not None else ():
        if getattr(args, option) != default:
            raise InputError(f"--{option.replace('_', '-')} is not for --check: its file says what is decided")
    for option in ("se", "difference"):
        value = getattr(args, option)
        if value is not None and value <= 0:
            raise InputError(f"--{option} {value:g}: give a number above 0, such as 0.02")
    if args.power is not None and args.se is not None:
        raise InputError("--power is not for --se: give --difference or --check, or leave it out")
    args.power = 0.8 if args.power is None else args.power
    if not 0.5 <= args.power < 1:
        raise InputError(f"--power {args.power:g}: give a probability from 0.5 to below 1, such as 0.8")
    if args.measure == FLIPS and args.difference is not None:
        raise InputError("--difference is for means and SDs; for flips, give --se")
    if args.threshold is not None and args.measure != FLIPS:
        raise InputError("--threshold is about flips: add --measure flips, or leave it out")
    if args.threshold is not None and not 0 <= args.threshold < 0.5:
        raise InputError(f"--threshold {args.threshold:g}: give a share from 0 to below 0.5, such as 0.05")
    if args.prompt_tokens is not None and args.prompt_tokens < 0:
        raise InputError(f"--prompt-tokens {args.prompt_tokens:g}: give a number of tokens from 0 on")
    for option in ("cost_item", "cost_wording", "cost_token"):
        if getattr(args, option) < 0:
            raise InputError(f"--{option.replace('_', '-')} {getattr(args, option):g}: give a cost from 0 on")
