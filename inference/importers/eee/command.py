"""Import records of Every Eval Ever (schema 0.3.0) that `waver export --as eee` wrote, with the same numbers; with
`--scores`, the scores of any tool's records (`scores`).

Items and wordings come back in their old order, so a study of which all wordings were asked has its old hash.
"""

from __future__ import annotations

import argparse
import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from ground.errors import InputError, format_quantity
from ground.parser import require_file_name
from inference.arguments import add_imported_score_arguments, add_models_file_option, parse_folder_path
from inference.asking.models import KINDS
from inference.engines import ENGINES
from inference.importers.shared import saving
from inference.stimuli.reading.files import shorten_value

if TYPE_CHECKING:
    import pyarrow as pa

    from inference.importers.eee.records import Aggregate, EeeResponse
    from inference.stimuli.study import Study, Variant

COMMAND = "import eee"
HELP = "import records of Every Eval Ever that `waver export` wrote (JSON), or the scores of others'"

_KEY = ("model", "condition", "item", "variant")
_STIMULUS = ("parents", "language", "gold", "gold_score")
_RESPONSE = ("probability", "logprob", "count", "invalid", "clipped", "mass", "mass_upper", "score", "answer",
             "sample_score", "text_logprob", "thought", "thought_tokens", "unclosed", "sample_probability",
             "sample_answer", "sample_answer_otherwise", "n", "read_otherwise")  # fmt: skip
_MODEL_FACTS = ("revision", "dtype", "device", "series", "stage", "family")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options of ``waver import eee``."""
    parser.epilog = "example: waver import eee exported/data/statements --out RUN"
    parser.add_argument(
        "records",
        type=require_file_name,
        nargs="+",
        metavar="DIR",
        help="folder with records of one study, or an aggregate",
    )
    parser.add_argument(
        "--out", type=parse_folder_path, required=True, metavar="RUN",
        help="run folder: new, or one of the same study to add to",
    )  # fmt: skip
    parser.add_argument("--name", metavar="STUDY", help="name of the study (default: that of the records)")
    add_models_file_option(parser)
    add_imported_score_arguments(parser, "the score of every response, whoever wrote the records,")


def main(args: argparse.Namespace) -> None:
    """Import records into a run folder.

    Raises
    ------
    InputError
        In one line with file and line: malformed or changed records, of several studies, of other tools ...
    """
    from inference.importers.eee import records
    from inference.importers.shared.logged_scores import refuse_measure_options_without_scores

    refuse_measure_options_without_scores(args, COMMAND)
    if args.scores:
        _import_scores_of_records(args)
        return
    aggregates = [records.read_aggregate_and_check_samples(path) for path in records.find_aggregate_files(args.records)]
    study = _build_eee_study(aggregates, args.name)
    lines = saving.save_imported_study_and_responses(
        args.out,
        study,
        lambda: _iterate_eee_response_tables_in_batches(aggregates, study),
        _merge_conditions_of_eee_aggregates(aggregates),
        descriptions=args.models,
        imported=saving.compute_fingerprints_by_key(
            [((aggregate.model, name), aggregate.samples) for aggregate in aggregates for name in aggregate.conditions],
            {},
        ),
        command=args.call,
        models=_merge_facts_of_eee_models(aggregates),
    )
    saving.print_import_summary(lines, args.out)


def _import_scores_of_records(args: argparse.Namespace) -> None:
    """Import the scores of records of any tool into a run folder."""
    from inference.importers.eee import records, scores
    from inference.importers.shared.logged_scores import LoggedMeasures, collect_options_for_fingerprint
    from inference.importers.shared.logged_study import save_study_and_logged_responses

    measures = LoggedMeasures(args, COMMAND)
    aggregates = [
        scores.read_scored_aggregate_and_verify_checksum(path) for path in records.find_aggregate_files(args.records)
    ]
    eee_scores = scores.EeeScores(aggregates, measures)
    imported = saving.compute_fingerprints_by_key(
        [(one.model, one.samples) for one in aggregates], {"importer": "eee", **collect_options_for_fingerprint(args)}
    )
    lines = save_study_and_logged_responses(
        args, args.records, eee_scores.read_eee_scores(), eee_scores.conditions, imported, measures=measures
    )
    saving.print_import_summary([*lines, *eee_scores.describe_agreement_with_stated_means()], args.out)


def _build_eee_study(aggregates: Sequence[Aggregate], name: str | None) -> Study:
    """Make the study of the wordings that were asked, in their old order."""
    from inference.importers.eee.impossible import refuse_impossible_wordings, refuse_unknown_protocol
    from inference.importers.eee.records import read_eee_responses
    from inference.stimuli.study import Item, Study

    about = aggregates[0].study
    for aggregate in aggregates:
        if aggregate.study["hash"] != about["hash"]:
            raise InputError(
                f"{aggregate.path}: is of study {shorten_value(aggregate.study['name'])}, {aggregates[0].path.name} of "
                f"{shorten_value(about['name'])}; give the records of one study"
            )
    place_by_key: dict[tuple[str, str], tuple[int, Variant]] = {}
    for aggregate in aggregates:
        for row in read_eee_responses(aggregate):
            key, variant = (row.values["item"], row.values["variant"]), _build_eee_variant(row)
            place = row.values["position"], variant
            if place_by_key.setdefault(key, place) != place:
                raise InputError(f"{row.where}: item '{key[0]}', variant '{key[1]}' is another wording than before")
    refuse_unknown_protocol(aggregates[0])
    refuse_impossible_wordings(aggregates, [variant for _, variant in place_by_key.values()])
    items: dict[str, list[Variant]] = {}
    for _, variant in sorted(place_by_key.values(), key=lambda pair: pair[0]):
        items.setdefault(variant.item, []).append(variant)
    return Study(
        protocol=about["protocol"],
        name=about["name"] if name is None else name,
        items=tuple(Item(item, tuple(variants)) for item, variants in items.items()),
        canonical=tuple(about["canonical"]),
        decision_rule=about["decision_rule"],
        source=str(about.get("source", "")),
    )


def _build_eee_variant(row: EeeResponse) -> Variant:
    """Make the wording that a response was given to."""
    from inference.stimuli.study import Option, Variant

    options, canonical = row.values["options"], row.values["canonical"]
    if len(options) != len(canonical):
        raise InputError(
            f"{row.where}: {format_quantity(len(options), 'option')}, but {len(canonical)} of what they mean"
        )
    stimulus_fields = {name: row.values[name] for name in _STIMULUS if name in row.values}
    if "parents" in stimulus_fields:
        stimulus_fields["parents"] = tuple(stimulus_fields["parents"])
    return Variant(
        item=row.values["item"], variant=row.values["variant"], pattern=row.values["pattern"], text=row.text,
        options=tuple(map(Option, options, canonical)), attributes=row.values.get("attributes", {}), **stimulus_fields,
    )  # fmt: skip


def _merge_conditions_of_eee_aggregates(aggregates: Sequence[Aggregate]) -> dict[str, Mapping[str, Any]]:
    """Join the conditions of all models; refuse one name for two settings."""
    conditions_by_name: dict[str, Mapping[str, Any]] = {}
    for aggregate in aggregates:
        for name, fields in aggregate.conditions.items():
            if conditions_by_name.setdefault(name, fields) != fields:
                raise InputError(
                    f"{aggregate.path}: condition {shorten_value(name)} has other settings than in another record"
                )
    return conditions_by_name


def _merge_facts_of_eee_models(aggregates: Sequence[Aggregate]) -> dict[str, dict[str, Any]]:
    """Join what all records say of a model; refuse records that contradict each other."""
    facts_by_model: dict[str, dict[str, Any]] = {}
    for aggregate in aggregates:
        facts = facts_by_model.setdefault(aggregate.model, {})
        for name, value in _collect_model_facts(aggregate).items():
            if facts.setdefault(name, value) != value:
                raise InputError(
                    f"{aggregate.path}: {name} of model '{aggregate.model}' is {shorten_value(value)}, in another "
                    f"record {shorten_value(facts[name])}; import the records into two run folders"
                )
    return facts_by_model


def _iterate_eee_response_tables_in_batches(aggregates: Sequence[Aggregate], study: Study) -> Iterator[pa.Table]:
    """Make the response tables, some rows in memory at a time."""
    import pyarrow as pa

    from inference.importers.eee.impossible import BATCH, refuse_impossible_responses
    from inference.importers.eee.records import read_eee_responses
    from inference.runfolder.parquet import read_arrow_schema_of_table

    numbers = {variant.key: number for number, variant in enumerate(study.variants)}
    marks_by_condition: dict[tuple[str, str], bytearray] = {}  # model, condition -> which wordings have a response
    columns = [read_arrow_schema_of_table("responses").field(name) for name in (*_KEY, *_RESPONSE, "output")]
    for aggregate in aggregates:
        responses = read_eee_responses(aggregate)
        while batch := list(islice(responses, BATCH)):
            for row in batch:
                number = numbers[row.values["item"], row.values["variant"]]
                marks = marks_by_condition.setdefault(
                    (aggregate.model, row.values["condition"]), bytearray(len(numbers))
                )
                if marks[number]:
                    raise InputError(f"{row.where}: a second response of model '{aggregate.model}' to this wording")
                marks[number] = 1
            records = [_build_eee_response_columns(aggregate, row) for row in batch]
            table = pa.table(
                {field.name: pa.array([record.get(field.name) for record in records], field.type) for field in columns}
            )
            refuse_impossible_responses(aggregate, batch, table)
            yield table


def _build_eee_response_columns(aggregate: Aggregate, row: EeeResponse) -> dict[str, Any]:
    """Make the columns of a response."""
    columns = ("condition", "item", "variant", *_RESPONSE)
    return {"model": aggregate.model, **{name: row.values.get(name) for name in columns}, "output": row.output}


def _collect_model_facts(aggregate: Aggregate) -> dict[str, Any]:
    """Return what a record says about its model; numbers are written as text there."""
    about = aggregate.about
    facts: dict[str, Any] = {name: about[name] for name in _MODEL_FACTS if isinstance(about.get(name), str)}
    entry = ENGINES.get(str(about.get("engine")))
    if entry is not None and not entry.hosted and entry.kind in KINDS:
        facts.setdefault("family", entry.kind)
    with contextlib.suppress(KeyError, TypeError, ValueError, OverflowError, RecursionError):
        facts["parameters"] = int(json.loads(about["parameters"]))
    return facts
