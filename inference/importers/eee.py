"""Import records of Every Eval Ever (schema 0.3.0) that `waver export --as eee` wrote, with the same numbers.

Items and wordings come back in their old order, so a study of which all wordings were asked has its old hash.
"""

from __future__ import annotations

import argparse
import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from ground.errors import InputError
from inference.arguments import add_models_file
from inference.importers import saving
from inference.stimuli.files import shown

if TYPE_CHECKING:
    import pyarrow as pa

    from inference.importers.eee_records import Aggregate, Response
    from inference.stimuli.study import Study, Variant

COMMAND = "import eee"
HELP = "import records of Every Eval Ever that `waver export` wrote (JSON)"

BATCH = 20_000
SLACK = 1e-6  # probabilities of 32 bits may add up to more than 1 by this much
_KEY = ("model", "condition", "item", "variant")
_STIMULUS = ("parents", "language", "gold", "gold_score")
_RESPONSE = ("probability", "logprob", "count", "invalid", "clipped", "mass", "mass_upper", "score", "answer",
             "text_logprob")  # fmt: skip
_FACTS = ("revision", "dtype", "device", "series", "stage", "family")
_FAMILIES = {"causal": "causal", "vllm": "causal", "masked": "masked"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options of ``waver import eee``."""
    parser.epilog = "example: waver import eee exported/data/statements --out RUN"
    parser.add_argument("records", nargs="+", metavar="DIR", help="folder with records of one study, or an aggregate")
    parser.add_argument(
        "--out", required=True, metavar="RUN", help="run folder: new, or one of the same study to add to"
    )
    parser.add_argument("--name", metavar="STUDY", help="name of the study (default: that of the records)")
    add_models_file(parser)


def main(args: argparse.Namespace) -> None:
    """Import records into a run folder.

    Raises
    ------
    InputError
        In one line with file and line: malformed or changed records, of several studies, of other tools ...
    """
    from inference.importers import eee_records

    aggregates = [eee_records.read(path) for path in eee_records.found(args.records)]
    study = _study(aggregates, args.name)
    lines = saving.save(
        args.out,
        study,
        lambda: _tables(aggregates, study),
        _conditions(aggregates),
        descriptions=args.models,
        imported={each.model: saving.fingerprint([each.samples], {}) for each in aggregates},
        command=args.call,
        models={each.model: _facts(each) for each in aggregates},
    )
    saving.tell(lines)


def _study(aggregates: Sequence[Aggregate], name: str | None) -> Study:
    """Make the study of the wordings that were asked, in their old order."""
    from inference.importers.eee_records import rows
    from inference.stimuli.study import Item, Study

    about = aggregates[0].study
    for each in aggregates:
        if each.study["hash"] != about["hash"]:
            raise InputError(
                f"{each.path}: is of study {shown(each.study['name'])}, {aggregates[0].path.name} of "
                f"{shown(about['name'])}; give the records of one study"
            )
    known: dict[tuple[str, str], tuple[int, Variant]] = {}
    for each in aggregates:
        for row in rows(each):
            key, variant = (row.values["item"], row.values["variant"]), _variant(row)
            place = row.values["position"], variant
            if known.setdefault(key, place) != place:
                raise InputError(f"{row.where}: item '{key[0]}', variant '{key[1]}' is another wording than before")
    items: dict[str, list[Variant]] = {}
    for _, variant in sorted(known.values(), key=lambda pair: pair[0]):
        items.setdefault(variant.item, []).append(variant)
    return Study(
        protocol=about["protocol"],
        name=about["name"] if name is None else name,
        items=tuple(Item(item, tuple(variants)) for item, variants in items.items()),
        canonical=tuple(about["canonical"]),
        decision_rule=about["decision_rule"],
        source=str(about.get("source", "")),
    )


def _variant(row: Response) -> Variant:
    from inference.stimuli.study import Option, Variant

    options, canonical = row.values["options"], row.values["canonical"]
    if len(options) != len(canonical):
        raise InputError(f"{row.where}: {len(options)} options, but {len(canonical)} of what they mean")
    given = {name: row.values[name] for name in _STIMULUS if name in row.values}
    if "parents" in given:
        given["parents"] = tuple(given["parents"])
    return Variant(
        item=row.values["item"], variant=row.values["variant"], pattern=row.values["pattern"], text=row.text,
        options=tuple(map(Option, options, canonical)), attributes=row.values.get("attributes", {}), **given,
    )  # fmt: skip


def _conditions(aggregates: Sequence[Aggregate]) -> dict[str, Mapping[str, Any]]:
    """Join the conditions of all models; refuse one name for two settings."""
    joined: dict[str, Mapping[str, Any]] = {}
    for each in aggregates:
        for name, fields in each.conditions.items():
            if joined.setdefault(name, fields) != fields:
                raise InputError(f"{each.path}: condition {shown(name)} has other settings than in another record")
    return joined


def _tables(aggregates: Sequence[Aggregate], study: Study) -> Iterator[pa.Table]:
    """Make the response tables, some rows in memory at a time."""
    import pyarrow as pa

    from inference.importers.eee_records import rows
    from inference.runfolder.parquet import schema

    numbers = {variant.key: number for number, variant in enumerate(study.variants)}
    seen: dict[tuple[str, str], bytearray] = {}  # model, condition -> which wordings have a response
    columns = [schema("responses").field(name) for name in (*_KEY, *_RESPONSE, "output")]
    for each in aggregates:
        found = rows(each)
        while some := list(islice(found, BATCH)):
            for row in some:
                number = numbers[row.values["item"], row.values["variant"]]
                marks = seen.setdefault((each.model, row.values["condition"]), bytearray(len(numbers)))
                if marks[number]:
                    raise InputError(f"{row.where}: a second response of model '{each.model}' to this wording")
                marks[number] = 1
            records = [_record(each.model, row) for row in some]
            yield pa.table(
                {field.name: pa.array([one.get(field.name) for one in records], field.type) for field in columns}
            )


def _record(model: str, row: Response) -> dict[str, Any]:
    """Make the columns of a response; refuse impossible numbers."""
    record = {"model": model, **{name: row.values.get(name) for name in ("condition", "item", "variant", *_RESPONSE)}}
    shares = record["probability"]
    if shares is not None and not (min(shares, default=0) >= 0 and sum(shares) <= 1 + SLACK):
        raise InputError(f"{row.where}: metadata.waver_probability is negative or adds up to more than 1")
    if shares is not None and record["logprob"] is not None and len(shares) != len(record["logprob"]):
        raise InputError(f"{row.where}: {len(shares)} probabilities, but {len(record['logprob'])} logarithms of them")
    counts = record["count"]
    if counts is not None and (len(counts) != len(row.values["options"]) or min(counts, default=0) < 0):
        raise InputError(f"{row.where}: metadata.waver_count is not one count, from 0 on, for every option")
    labels = {None, *row.values["options"], *row.values["canonical"]}
    if record["answer"] not in labels and record["score"] is None:  # beside a score, the answer is a number
        raise InputError(f"{row.where}: metadata.waver_answer is {shown(record['answer'])}, which is no option")
    return {**record, "output": row.output}


def _facts(aggregate: Aggregate) -> dict[str, Any]:
    """Return what a record says about its model; numbers are written as text there."""
    about = aggregate.about
    facts: dict[str, Any] = {name: about[name] for name in _FACTS if isinstance(about.get(name), str)}
    if (family := _FAMILIES.get(str(about.get("engine")))) is not None:
        facts.setdefault("family", family)
    with contextlib.suppress(KeyError, TypeError, ValueError, OverflowError, RecursionError):
        facts["parameters"] = int(json.loads(about["parameters"]))
    return facts
