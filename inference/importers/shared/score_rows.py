"""Save scores that an importer reads row by row as a study: the short way, for tables that fit into memory.

`waver import table --score-column` takes more columns and millions of rows (`inference.importers.tables.scores`). This
is for importers of other packages, whose rows may come from anything.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ground.errors import InputError
from inference.importers.shared import saving
from inference.importers.shared.scored import DECISION_RULE, ENDS, ScoreMeasure
from inference.stimuli.numbers import parse_number_or_nan
from inference.stimuli.reading.files import shorten_value
from inference.stimuli.study import PARAPHRASE, Item, Option, Study, Variant


def save_score_rows(
    options: argparse.Namespace,
    file: str,
    rows: Iterable[tuple[str, Mapping[str, Any]]],
    measure: ScoreMeasure,
    protocol: str,
) -> None:
    """Save one score per row as a run folder, and print what was written.

    Parameters
    ----------
    options
        Those of the call, with what `saving.add_arguments` defines.
    file
        Where the rows are from, for messages and for the record.
    rows
        Place and fields, as `inference.stimuli.reading.records.Records` yields them: `model`, `item`, `text`, and the
        score under the name of the measure. An empty score is none. The distinct texts of an item are its wordings.
    measure
        What the scores are.
    protocol
        Of the study; the pages about it show the scores.

    Raises
    ------
    InputError
        In one line with file and row: a field is empty, a score is no number or outside its range, or a text of an item
        has two scores of a model.
    """
    from inference.runfolder.parquet import build_responses_table

    name_by_text: dict[str, dict[str, str]] = {}  # item -> text -> name of the wording
    place_by_key: dict[tuple[str, str, str], str] = {}
    responses = []
    for place, row in rows:
        where = f"{file}, {place}"
        model, item, text = (_read_name_or_text_cell(where, name, row.get(name)) for name in ("model", "item", "text"))
        first = place_by_key.setdefault((model, item, text), place)
        if first != place:
            raise InputError(f"{where}: the same model, item and text as in {first}; leave one of the two out")
        wordings = name_by_text.setdefault(item, {})
        variant = wordings.setdefault(text, f"p{len(wordings) + 1}")
        score = _read_score_cell(where, measure, row.get(measure.name))
        error = None if score is not None else f"no score in column {measure.name}"
        key = {"model": model, "item": item, "variant": variant, "condition": measure.name}
        responses.append({**key, "score": score, "error": error})
    ends = tuple(Option(end, end) for end in ENDS)
    items = tuple(
        Item(
            item,
            tuple(
                Variant(item, name, PARAPHRASE, text, ends, language=options.language)
                for text, name in wordings.items()
            ),
        )
        for item, wordings in name_by_text.items()
    )
    study = Study(protocol, options.name or Path(options.out).resolve().name, items, ENDS, DECISION_RULE, file)
    lines = saving.save_imported_study_and_responses(
        options.out,
        study,
        lambda: [build_responses_table(responses, study.name)],
        {measure.name: {"form": saving.IMPORT_FORM, **measure.fields}},
        descriptions=options.models,
        imported=saving.compute_fingerprint_of_files([Path(file)], {"importer": protocol}),
        command=options.call,
    )
    saving.print_import_summary(lines, options.out)


def _read_name_or_text_cell(where: str, name: str, value: Any) -> str:
    """Read the name of a model or an item, or a text."""
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{where}: {name} is {shorten_value(value)}, where a text is needed; correct the row")
    return value


def _read_score_cell(where: str, measure: ScoreMeasure, value: Any) -> float | None:
    """Read a score; None where the cell is empty."""
    if value is None or value == "":
        return None
    score = parse_number_or_nan(value)
    if not math.isfinite(score):
        raise InputError(
            f"{where}: {measure.name} is {shorten_value(value)}, where a number is needed; correct the row"
        )
    if measure.range is not None and not measure.range[0] <= score <= measure.range[1]:
        low, high = measure.range
        raise InputError(f"{where}: {measure.name} is {score:g}, outside {low:g}-{high:g}; correct the row")
    return score
