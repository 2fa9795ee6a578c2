"""Run the command `waver features RUN`."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from ground.errors import format_quantity

if TYPE_CHECKING:
    from analysis.features.computation import Summary

COMMAND = "features"
HELP = "compute the features of a run's wordings: lengths, frequency, dependencies, sentiment"
DESCRIPTION = (
    "Compute features of every distinct wording of a run and save them in the run folder (features.parquet). A second "
    "call computes only what a changed or newly installed component makes necessary; a call that was stopped continues "
    "where it was. If a component is not installed, its columns stay empty and a line says how to install it."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument("runs", nargs="+", metavar="RUN", help="run folder")
    parser.add_argument(
        "--spacy", action="append", default=[], metavar="NAME|PATH",
        help="spaCy pipeline for dependencies, one per language (default: the one used before, else the one "
        "installed for the language, of several English ones en_core_web_sm)",
    )  # fmt: skip
    parser.add_argument(
        "--sentiment", default="auto", choices=("auto", "pysentimiento", "vader"),
        help="auto: the one used before, else pysentimiento if it can be loaded, else VADER for English",
    )  # fmt: skip
    parser.add_argument(
        "--language", metavar="CODE",
        help="language of wordings that name none, such as de (default: the one used before, else en)",
    )  # fmt: skip


def main(args: argparse.Namespace) -> int:
    """Compute the features of every given run, and print what computed them."""
    from analysis.features.computation import compute_features

    for run in args.runs:
        summary = compute_features(
            run, spacy=args.spacy, sentiment=args.sentiment, language=args.language, progress=True
        )
        for line in summary.changes:
            print(line, file=sys.stderr)
        print(_describe_computed_and_missing_features(summary))
    return 0


def _describe_computed_and_missing_features(summary: Summary) -> str:
    """Describe in lines which component computed which columns in a run folder, and which are missing."""
    from analysis.features.component import describe_component_name_and_version
    from analysis.features.languages import describe_language_mismatch

    outcome = "nothing to compute" if not summary.n_computed else "computed"
    lines = [f"{summary.path}: {outcome}"]
    for record in summary.records:
        component_text = describe_component_name_and_version(record.identity) if record.identity else "missing"
        note = f": {record.note}" if record.note else ""
        texts = format_quantity(record.n_texts, "text")
        lines.append(f"  {', '.join(record.columns)} ({record.language}, {texts}): {component_text}{note}")
    unlike_languages = dict.fromkeys((r.language, r.looks_like) for r in summary.records if r.looks_like)
    lines += [f"  {describe_language_mismatch(*pair)}" for pair in unlike_languages]
    return "\n".join([*lines, "  edit_similarity: to the item's original"])
