"""Import the responses that Haller et al. (2024) published: one JSON list per model.

A file ``responses_<model>_paraphrases_*.jsonl`` holds a list of ``{id, original_statement, alternative_statements}``,
each statement being ``{statement, response: {agree, disagree}, statement_log_prob}``. Items and variants get the ids
that `inference.stimuli.items` gives the same statements, so such a run and one of our own are the same study.
"""

from __future__ import annotations

import argparse
import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ground.errors import InputError
from inference.importers.shared import saving
from inference.stimuli.numbers import parse_number_or_nan
from inference.stimuli.reading.files import shorten_value

if TYPE_CHECKING:
    import pyarrow as pa

COMMAND = "import haller"
HELP = "import responses as Haller et al. (2024) published them (JSON)"

_FILE_NAME = re.compile(r"responses_(?P<model>.+?)_paraphrases?(?:_.*)?\.jsonl?")
_PROBABILITY_SLACK = 1e-6  # sums of float32 probabilities


@dataclass(frozen=True, slots=True)
class _Statement:
    """One wording and the model's response to it."""

    item: str
    variant: str
    text: str
    response: tuple[float, float] | None
    text_logprob: float | None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options of ``waver import haller``."""
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="PATH",
        help="response files, or folders of them; responses_MODEL_paraphrases_*.jsonl names the model, "
        "NAME=FILE another one",
    )
    parser.add_argument(
        "--condition", default=saving.IMPORT_CONDITION, metavar="NAME", help="what this way of asking is called"
    )
    saving.add_arguments(parser)


def main(args: argparse.Namespace) -> None:
    """Import published responses of one or several models into a run folder.

    Raises
    ------
    InputError
        A file is not in the published format, two files name one model, or two models answered different statements.
    """
    from inference.protocols import agreement
    from inference.stimuli.study import ORIGINAL, PARAPHRASE, Item, Variant

    files = _find_file_of_each_model(args.paths)
    statements_by_model = {model: _read_published_statements(path) for model, path in files.items()}
    statements = _require_common_statements_of_models(files, statements_by_model)
    items: dict[str, list[Variant]] = {}
    for statement in statements:
        pattern = ORIGINAL if statement.variant == ORIGINAL else PARAPHRASE
        variant = Variant(statement.item, statement.variant, pattern, statement.text, (), language=args.language)
        items.setdefault(statement.item, []).append(variant)
    study = agreement.build_agreement_study(
        tuple(Item(item, tuple(variants)) for item, variants in items.items()),
        saving.name_imported_study_by_option_or_folder(args),
        source=saving.describe_source_by_first_file_and_count(args.paths),
    )
    responses = _build_response_table_of_haller_models(statements_by_model, args.condition)
    lines = saving.save_imported_study_and_responses(
        args.out,
        study,
        lambda: [responses],
        {args.condition: {"form": saving.IMPORT_FORM}},
        descriptions=args.models,
        imported=saving.compute_fingerprint_of_files(list(files.values()), {"importer": "haller"}),
        command=args.call,
    )
    saving.print_import_summary(lines, args.out)


def _find_file_of_each_model(paths: Sequence[str]) -> dict[str, Path]:
    """Find the file of each model; folders are searched."""
    files: dict[str, Path] = {}
    for name, path in saving.split_named_paths(paths):
        inside = sorted(p for p in path.iterdir() if _FILE_NAME.fullmatch(p.name)) if path.is_dir() else [path]
        if not inside:
            raise InputError(f"{path}: the folder holds no file responses_MODEL_paraphrases_*.jsonl")
        if name is not None and path.is_dir():
            raise InputError(f"{name}={path}: a name goes with one file, not with a folder")
        for file in inside:
            match = _FILE_NAME.fullmatch(file.name)
            model = name or (match["model"] if match else None)
            if not model:
                raise InputError(f"{file}: the name does not tell the model; give it as NAME={file}")
            if model in files:
                raise InputError(f"{file}: model '{model}' is already in {files[model]}; give one of them as NAME=FILE")
            files[model] = file
    return files


def _read_published_statements(path: Path) -> list[_Statement]:
    """Read the statements of one file in its order, the original of every item first."""
    from inference.stimuli.reading import records
    from inference.stimuli.study import ORIGINAL, PARAPHRASE

    statements: list[_Statement] = []
    place_by_item: dict[str, str] = {}
    for place, entry in records.read_records(path):
        where = f"{path}, {place}"
        item = entry.get("id")
        if isinstance(item, bool) or not isinstance(item, int | str) or not str(item).strip():
            raise InputError(f"{where}: id must be text or a whole number; is this a file of published responses?")
        name = str(item).strip()
        if place_by_item.setdefault(name, place) != place:
            raise InputError(f"{where}: item '{name}' is already in {place_by_item[name]}")
        alternatives = entry.get("alternative_statements")
        if not isinstance(alternatives, list):
            raise InputError(f"{where}: alternative_statements must be a list (it may be empty)")
        statements.append(
            _parse_statement(f"{where}, original_statement", name, ORIGINAL, entry.get("original_statement"))
        )
        for n, alternative in enumerate(alternatives, start=1):
            variant = f"{PARAPHRASE}-{n:03d}"
            statements.append(_parse_statement(f"{where}, alternative statement {n}", name, variant, alternative))
    return statements


def _parse_statement(where: str, item: str, variant: str, entry: Any) -> _Statement:
    """Parse one statement with its response and its log-probability; refuse what is not in the published format."""
    if not isinstance(entry, dict):
        raise InputError(f"{where}: expected statement and response; items without responses are read by `run --items`")
    text = entry.get("statement")
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"{where}: the statement is empty")
    logprob = entry.get("statement_log_prob")
    if logprob is not None:
        logprob = _require_finite_number(f"{where}, statement_log_prob", logprob)
        if logprob > 0:
            raise InputError(f"{where}, statement_log_prob: {logprob} is above 0, so it is no log-probability")
    probabilities = _parse_agree_and_disagree_probabilities(f"{where}, response", entry.get("response"))
    return _Statement(item, variant, text, probabilities, logprob)


def _parse_agree_and_disagree_probabilities(where: str, response: Any) -> tuple[float, float] | None:
    """Read p(agree) and p(disagree); None where the model gave none (null, or both null)."""
    if response is None or response == {}:
        return None
    if not isinstance(response, dict) or not {"agree", "disagree"} <= response.keys():
        raise InputError(f"{where}: expected the probabilities agree and disagree, or null")
    if response["agree"] is None and response["disagree"] is None:
        return None
    agree, disagree = (_require_finite_number(f"{where}, {label}", response[label]) for label in ("agree", "disagree"))
    if min(agree, disagree) < 0 or agree + disagree > 1 + _PROBABILITY_SLACK:
        raise InputError(f"{where}: {agree} and {disagree} are not two probabilities of one distribution")
    return agree, disagree


def _require_finite_number(where: str, value: Any) -> float:
    """Return a value as a number; refuse texts, and numbers that are not finite."""
    if isinstance(value, str) or not math.isfinite(parse_number_or_nan(value)):
        raise InputError(f"{where}: expected a number, not {shorten_value(value)}")
    return parse_number_or_nan(value)


def _require_common_statements_of_models(
    files: dict[str, Path], statements_by_model: dict[str, list[_Statement]]
) -> list[_Statement]:
    """Check that all models answered the same statements in the same order, and return these."""
    first, *other_models = statements_by_model
    for model in other_models:
        for pair in itertools.zip_longest(statements_by_model[first], statements_by_model[model]):
            if len({statement and (statement.item, statement.variant, statement.text) for statement in pair}) > 1:
                differing_statement = pair[0] or pair[1]
                raise InputError(
                    f"{files[model]}: not the statements of {files[first]}, from item '{differing_statement.item}', "
                    f"{differing_statement.variant} on; import different sets of paraphrases into two run folders"
                )
    return statements_by_model[first]


def _build_response_table_of_haller_models(
    statements_by_model: dict[str, list[_Statement]], condition: str
) -> pa.Table:
    """Make the response rows of all models."""
    import numpy as np
    import pyarrow as pa

    from inference.importers.shared.measures import build_probability_columns

    rows = [(model, statement) for model, statements in statements_by_model.items() for statement in statements]
    responses = [statement.response for _, statement in rows]
    unknown = (math.nan, math.nan)
    return pa.table(
        {
            "model": [model for model, _ in rows],
            "condition": [condition] * len(rows),
            "item": [statement.item for _, statement in rows],
            "variant": [statement.variant for _, statement in rows],
            "text_logprob": pa.array([statement.text_logprob for _, statement in rows], pa.float64()),
            **build_probability_columns(
                np.array([response or unknown for response in responses]),
                [None if response else "the published file has no response here" for response in responses],
            ),
        }
    )
