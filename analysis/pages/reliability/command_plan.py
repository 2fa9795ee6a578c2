"""Run the command `waver plan RUN`: how many items and wordings a study needs, from a pilot."""

from __future__ import annotations

import argparse
import sys
from itertools import combinations

from analysis.errors import InputError, nearest

HELP = "say how many items and wordings a study needs, from a pilot as small as 20 items in 5 wordings"
DESCRIPTION = (
    "Print designs as CSV, the cheapest first: items, wordings of each, prompts of one model and condition, cost, and "
    "the standard error of the mean that the variance components of the pilot predict, with other items and wordings. "
    "With several models, a design is enough for each of them; with --difference, for each pair of them."
)
EXAMPLE = "example: waver plan results/demo/agreement --difference 0.05 --power 0.9"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.epilog = EXAMPLE
    parser.add_argument("run", metavar="RUN", help="run folder of the pilot, of protocol agreement or wording")
    parser.add_argument("--measure", default="", metavar="M", help="agreement, or accuracy (default where it is known)")
    goal = parser.add_mutually_exclusive_group(required=True)
    goal.add_argument("--se", type=float, metavar="X", help="standard error of a mean to reach")
    goal.add_argument("--difference", type=float, metavar="D", help="difference between two models to find")
    parser.add_argument("--power", type=float, default=0.8, metavar="P", help="probability to find it; default: 0.8")
    parser.add_argument("--cost-item", type=float, default=0.0, metavar="C", help="cost of an item")
    parser.add_argument("--cost-wording", type=float, default=0.0, metavar="C", help="cost of a wording")


def main(args: argparse.Namespace) -> int:
    """Print the designs; what they rest on goes to standard error."""
    from analysis import runs
    from analysis.pages.reliability.catalogue import CATALOGUE
    from analysis.reporting.reworded import studies
    from analysis.statistics.reliability.panel import panel
    from analysis.statistics.reliability.planning import designs, needed_error

    _check(args)
    found = studies(runs.open(args.run, protocols=CATALOGUE.protocols))
    if len({study.name for study in found}) > 1:
        raise InputError(f"{args.run} holds several studies; give the run folder of one")
    known = {study.measure: study for study in found}
    if args.measure and args.measure not in known:
        raise InputError(f"--measure {args.measure!r}{nearest(args.measure, known)}; known here: {', '.join(known)}")
    study = known[args.measure] if args.measure else next(study for study in found if study.headline)
    chosen = study.chosen()
    if args.se is not None:
        error, values = args.se, [study.values[unit] for unit in chosen]
    else:
        error = needed_error(args.difference, args.power)
        values = [study.values[a] - study.values[b] for a, b in combinations(chosen, 2)]
    panels = [each for each in (panel(answers, study.crossed) for answers in values) if each.item == each.item]
    if not panels:
        few = "two items with two wordings each that a model answers" + " (and two such models)" * (args.se is None)
        raise InputError(f"{args.run}: the pilot tells nothing about wordings: it needs {few}")
    listed = designs(panels, error, args.cost_item, args.cost_wording)
    if not listed:
        raise InputError(
            f"a standard error of {error:.3g} is out of reach: shared wordings differ too much, even with the most "
            "that are tried; allow a larger one"
        )
    items, wordings = min(each.n_items for each in panels), min(each.n_wordings for each in panels)
    compared = "models" if args.se is not None else "pairs of models"
    print(
        f"standard error of {study.measure} to reach: {error:.3g}; pilot: {items:,} items, {wordings:.0f} wordings "
        f"({study.design}), {len(panels)} {compared}", file=sys.stderr,
    )  # fmt: skip
    print("items,wordings,prompts,cost,standard_error")
    for design in listed:
        print(f"{design.items},{design.wordings},{design.prompts},{design.cost:g},{design.error:.6g}")
    return 0


def _check(args: argparse.Namespace) -> None:
    for option in ("se", "difference"):
        value = getattr(args, option)
        if value is not None and not 0 < value < 1:
            raise InputError(f"--{option} {value:g}: give a number between 0 and 1, such as 0.02")
    if not 0.5 <= args.power < 1:
        raise InputError(f"--power {args.power:g}: give a probability from 0.5 to below 1, such as 0.8")
    for option in ("cost_item", "cost_wording"):
        if not 0 <= getattr(args, option) < float("inf"):
            raise InputError(f"--{option.replace('_', '-')} {getattr(args, option):g}: give a cost from 0 on")
