"""Write pairs of sentences into a table for annotators, and read the filled table back.

The table does not show the label of the original: annotators judge each pair on its own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ground import spreadsheet
from ground.errors import InputError
from inference.runfolder import json_lines
from inference.stimuli import nli
from inference.stimuli.nli import LABELS, POSITIONS, Instance, Negation
from inference.stimuli.reading import records
from inference.stimuli.reading.files import shorten_value
from inference.stimuli.study import ORIGINAL

SENTENCES = ("item", "pattern", "premise", "hypothesis")
PLACES = ("premise_position", "premise_target", "hypothesis_position", "hypothesis_target")
ANNOTATOR = "annotator_"
LEAST_VOTES = 2  # annotators who must give a label (Yoshida et al., section 3.1.2)


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """A row of a filled sheet: the pair with its original, the labels given, and the one of most annotators, or ""."""

    instance: Instance
    original: Instance
    labels: tuple[str, ...]
    label: str


def write_pairs_sheet(path: Path, pairs: Sequence[Instance], n_annotators: int) -> None:
    """Write the sheet, with an empty column for each annotator to fill in.

    Parameters
    ----------
    path
        A .csv file that is not there yet.
    pairs
        The pairs, a row each.
    n_annotators
        How many annotators: columns annotator_1, annotator_2 ...

    Raises
    ------
    InputError
        The file is no .csv file or is there already, as it may be filled in; or there is no pair.
    """
    if path.suffix.lower() != ".csv":
        raise InputError(f"--out {path}: the sheet is a .csv file")
    if path.exists():
        raise InputError(f"{path}: is there already and may be filled in; choose another --out")
    if not pairs:
        raise InputError("no original has negations of both of its sentences: there is nothing to label")
    names = [f"{ANNOTATOR}{number}" for number in range(1, n_annotators + 1)]
    rows = [
        (
            pair.item,
            pair.pattern,
            pair.premise,
            pair.hypothesis,
            *_list_negation_positions_and_targets(pair),
            *[""] * n_annotators,
        )
        for pair in pairs
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    spreadsheet.write_spreadsheet_csv(path, (*SENTENCES, *PLACES, *names), rows)


def read_labelled_sheet(path: Path, groups: Mapping[str, Sequence[Instance]]) -> list[LabelledPair]:
    """Read a filled sheet; a row may lack labels of some annotators.

    Parameters
    ----------
    path
        The sheet.
    groups
        The originals by item (`nli.group_pairs_by_original`).

    Returns
    -------
    The rows, each with its labels and the one of most annotators.

    Raises
    ------
    InputError
        Naming the file and the row: an unknown item or pattern, a sentence that does not fit the original, a label that
        is none of `LABELS`, no column of an annotator.
    """
    sheet_records = records.Records(path)
    names = [name for name in sheet_records.list_column_names() if name.startswith(ANNOTATOR)]
    if not names:
        raise InputError(f"{path}: there is no column {ANNOTATOR}1 with labels")
    records.refuse_missing_or_repeated_columns(path, sheet_records.list_column_names(), SENTENCES)
    rows = [_parse_sheet_row(f"{path}, {place}", record, names, groups) for place, record in sheet_records]
    used = {row.instance.item for row in rows}
    nli.group_pairs_by_original(
        [*(groups[item][0] for item in used), *(row.instance for row in rows)]
    )  # refuses what does not fit
    return rows


def choose_majority_label(labels: Sequence[str]) -> str:
    """Return the label of more than half of those given, by two annotators at least; "" where there is none.

    >>> (choose_majority_label(["neutral", "neutral", "entailment"]), choose_majority_label(["neutral"]),
    ...  choose_majority_label(["neutral", "entailment"]))
    ('neutral', '', '')
    """
    label, votes = Counter(labels).most_common(1)[0] if labels else ("", 0)
    return label if votes >= LEAST_VOTES and 2 * votes > len(labels) else ""


def write_labelled_items_and_count_pairs(path: Path, labelled_pairs: Sequence[LabelledPair]) -> int:
    """Write the originals and the pairs that have a label, in the layout of JNLI-Neg.

    Parameters
    ----------
    path
        The .jsonl file; one that is there is replaced.
    labelled_pairs
        The rows of the sheet.

    Returns
    -------
    How many pairs have a label; originals do not count.

    Raises
    ------
    InputError
        No pair has a label.
    """
    pairs_by_item: dict[str, list[LabelledPair]] = defaultdict(list)
    for row in labelled_pairs:
        if row.label:
            pairs_by_item[row.instance.item].append(row)
    if not pairs_by_item:
        raise InputError("no pair has one label of most annotators, and of two at least: there are no items to write")
    lines: list[dict[str, Any]] = []
    for group in pairs_by_item.values():
        for number, (instance, votes) in enumerate(
            [(group[0].original, None), *((replace(row.instance, label=row.label), row.labels) for row in group)]
        ):
            lines.append(_build_jnli_neg_row(len(lines), number, instance, votes))
    json_lines.write_json_lines(path, lines)
    return sum(map(len, pairs_by_item.values()))


def _parse_sheet_row(
    where: str, record: Mapping[str, Any], names: Sequence[str], groups: Mapping[str, Sequence[Instance]]
) -> LabelledPair:
    """Check a row of a filled sheet, and take the label of most annotators."""
    cells = {
        name: spreadsheet.unescape_formula(str(record.get(name) or "")).strip()
        for name in (*SENTENCES, *PLACES, *names)
    }
    if cells["item"] not in groups:
        raise InputError(
            f"{where}: item {shorten_value(cells['item'])} is not among the originals; give the file it was made from"
        )
    if cells["pattern"] not in nli.PATTERNS[1:]:
        raise InputError(
            f"{where}: pattern must be one of {', '.join(nli.PATTERNS[1:])}, not {shorten_value(cells['pattern'])}"
        )
    for name in SENTENCES[2:]:
        if not cells[name]:
            raise InputError(f"{where}: {name} is empty; write the sentence that `pairs sheet` wrote there")
    for name in PLACES[::2]:
        if cells[name] not in ("", *POSITIONS):
            raise InputError(f"{where}: {name} must be {' or '.join(POSITIONS)}, not {shorten_value(cells[name])}")
    for name in names:
        if cells[name].lower() not in ("", *LABELS):
            raise InputError(
                f"{where}: {name} is {shorten_value(cells[name])}; write one of {', '.join(LABELS)}, or leave it empty"
            )
    labels = tuple(cells[name].lower() for name in names if cells[name])
    sides = [Negation(cells[f"{side}_position"] or None, cells[f"{side}_target"] or None) for side in SENTENCES[2:]]
    premise, hypothesis = (
        side if cells["pattern"] in (pattern, nli.BOTH) else None
        for side, pattern in zip(sides, (nli.PREMISE, nli.HYPOTHESIS), strict=True)
    )
    label = choose_majority_label(labels)
    instance = Instance(
        cells["item"], cells["pattern"], cells["premise"], cells["hypothesis"], label, premise, hypothesis, where
    )
    return LabelledPair(instance, groups[cells["item"]][0], labels, label)


def _list_negation_positions_and_targets(instance: Instance) -> list[str | None]:
    """List position and target of both negations of a pair; None where a sentence has none."""
    negations = instance.premise_negation or Negation(), instance.hypothesis_negation or Negation()
    return [value for negation in negations for value in (negation.position, negation.target)]


def _build_jnli_neg_row(
    number: int, place_in_group: int, instance: Instance, votes: Sequence[str] | None
) -> dict[str, Any]:
    """Make a row as JNLI-Neg has it; `place_in_group` counts the rows of one original, which is 0."""
    sides = (instance.premise, instance.premise_negation), (instance.hypothesis, instance.hypothesis_negation)
    first, second = (
        {"sentence": text, "neg": negation and {"neg_position": negation.position, "target_pos": negation.target}}
        for text, negation in sides
    )
    return {
        "id": number,
        "jnli_sentence_pair_id": instance.item,
        "pair_id_in_group": place_in_group,
        "type": instance.pattern,
        "sentence1": first,
        "sentence2": second,
        "gold_label": instance.label,
        "annotator_labels": None
        if instance.pattern == ORIGINAL
        else {name: (votes or ()).count(name) for name in LABELS},
    }
