"""Read the sheets that people filled: what each says of every wording, and of every decoy mixed in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ground.errors import InputError, format_nearest_name_hint, format_part_with_verb, format_quantity, shorten_text
from ground.spreadsheet import unescape_formula
from inference.importers.shared.saving import split_named_paths
from inference.paraphrase.decoys import Decoy
from inference.paraphrase.parsing import normalise_wording
from inference.stimuli.reading import records
from inference.stimuli.reading.files import require_portable_file_name
from inference.stimuli.study import ORIGINAL, Item

REQUIRED = ("item", "paraphrase", "match")
EVERYBODY = "all"  # what tables call all annotators together
_VERDICTS = {"yes": True, "y": True, "1": True, "true": True, "no": False, "n": False, "0": False, "false": False}
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Votes:
    """What annotators say; a vote is whether the sentence means what the original means.

    Attributes
    ----------
    wordings
        Annotator -> (item, variant) -> vote. A wording that an item has twice has the vote under both names.
    decoys
        Annotator -> (item, variant) of the decoy -> vote.
    notes
        Lines for the user: what these sheets cannot tell.
    """

    wordings: Mapping[str, Mapping[Key, bool]]
    decoys: Mapping[str, Mapping[Key, bool]]
    notes: tuple[str, ...]

    def count_votes(self) -> dict[Key, tuple[int, int]]:
        """Count the votes of every wording that somebody voted on: (item, variant) -> (yes, no)."""
        keys = dict.fromkeys(key for votes in self.wordings.values() for key in votes)
        votes_by_key = {key: [votes[key] for votes in self.wordings.values() if key in votes] for key in keys}
        return {key: (sum(votes), len(votes) - sum(votes)) for key, votes in votes_by_key.items()}


def parse_sheet_path_of_each_annotator(arguments: Sequence[str]) -> dict[str, Path]:
    """Name the annotator of every sheet: NAME=FILE, or FILE, whose name without "sheet-" and suffix is the name.

    Raises
    ------
    InputError
        Two sheets of one annotator, one sheet of two, or a name that tables or file systems do not take.
    """
    sheets: dict[str, Path] = {}
    for given_name, path in split_named_paths(arguments):
        name = require_portable_file_name(
            f"{path}: annotator", (given_name or path.stem.removeprefix("sheet-")).strip()
        )
        if name.casefold() in {other.casefold() for other in sheets}:
            raise InputError(f"{path}: there is a sheet of annotator '{name}' already; name another: NAME={path}")
        if path.resolve() in {other.resolve() for other in sheets.values()}:
            raise InputError(f"{path}: this sheet is given twice; an annotator votes once")
        refuse_reserved_annotator_name(f"{path}: annotator", name)
        sheets[name] = path
    return sheets


def refuse_reserved_annotator_name(where: str, name: str) -> None:
    """Refuse an annotator who is called as tables call all of them together.

    Parameters
    ----------
    where
        What the message begins with, before the name.
    name
        The annotator's name.

    Raises
    ------
    InputError
        It is `EVERYBODY`, whatever its case.
    """
    if name.casefold() == EVERYBODY:
        raise InputError(f"{where} '{name}': tables call all annotators together so; give another name")


def read_votes_of_sheets(sheets: Mapping[str, Path], items: Sequence[Item], decoys: Sequence[Decoy] = ()) -> Votes:
    """Read the filled sheets of one annotator or several.

    Parameters
    ----------
    sheets
        Annotator -> filled sheet (`sheet.write_match_sheets`); old ones, which have the column `variant`, are read,
        too.
    items
        The items that the sheets were made for.
    decoys
        The decoys that may be among the rows.

    Returns
    -------
    The votes.

    Raises
    ------
    InputError
        A row that is not filled in, that is there twice, or that is no wording and no decoy of these items.
    """
    index = _index_wordings_and_decoys_by_text(items, decoys)
    decoy_keys = {decoy.key for decoy in decoys}
    votes = {annotator: _read_votes_of_sheet(path, index) for annotator, path in sheets.items()}
    notes = []
    if len(sheets) == 1:
        notes.append(f"one annotator ({', '.join(sheets)}): agreement between people is not known")
    if decoys and not any(decoy_keys & of_annotator.keys() for of_annotator in votes.values()):
        notes.append("no decoy is on the sheets: how often annotators err is not known")
    return Votes(
        {name: {key: vote for key, vote in row.items() if key not in decoy_keys} for name, row in votes.items()},
        {name: {key: vote for key, vote in row.items() if key in decoy_keys} for name, row in votes.items()},
        tuple(notes),
    )


def describe_accepted_decoys_by_annotator(votes: Votes) -> list[str]:
    """Say of every annotator how many decoys were taken for wordings, one line each."""
    return [
        f"{annotator}: {format_part_with_verb(sum(of_annotator.values()), len(of_annotator), 'decoy', 'is', 'are')} "
        "marked with yes"
        for annotator, of_annotator in votes.decoys.items()
        if of_annotator
    ]


def _index_wordings_and_decoys_by_text(
    items: Sequence[Item], decoys: Sequence[Decoy]
) -> dict[str, dict[str, list[Key]]]:
    """List by item and folded text which wordings and decoys have it."""
    index: dict[str, dict[str, list[Key]]] = {item.item: {} for item in items}
    wordings = [(v.key, v.text) for item in items for v in item.variants if v.pattern != ORIGINAL]
    for key, text in [*wordings, *((decoy.key, decoy.text) for decoy in decoys)]:
        index[key[0]].setdefault(normalise_wording(text), []).append(key)
    return index


def read_rows_of_filled_sheet(path: Path) -> list[tuple[str, Mapping[str, str], bool]]:
    """Read the rows of one sheet, whatever items and decoys it was made for.

    Parameters
    ----------
    path
        The filled sheet.

    Returns
    -------
    The place of every row, its record and the vote.

    Raises
    ------
    InputError
        It is no sheet, or a row is not filled in.
    """
    if path.suffix.lower() not in (".csv", ".tsv"):
        raise InputError(f"{path}: a sheet is a .csv file with the columns {', '.join(REQUIRED)}")
    table = records.Records(path)
    records.refuse_missing_or_repeated_columns(path, table.list_column_names(), REQUIRED)
    sheet_rows = list(table)
    n_empty = sum(not str(record.get("match", "")).strip() for _, record in sheet_rows)
    rows: list[tuple[str, Mapping[str, str], bool]] = []
    for place, record in sheet_rows:
        verdict_text = record.get("match", "").strip()
        if not verdict_text:
            raise InputError(
                f"{path}, {place}: match is empty ({format_quantity(n_empty, 'row is', 'rows are')}); write yes or no, "
                "or take the row out"
            )
        vote = _VERDICTS.get(verdict_text.lower())
        if vote is None:
            raise InputError(f"{path}, {place}: match is '{verdict_text[:20]}'; write yes or no")
        rows.append((place, record, vote))
    return rows


def _read_votes_of_sheet(path: Path, index: Mapping[str, Mapping[str, Sequence[Key]]]) -> dict[Key, bool]:
    """Read one sheet as (item, variant) -> vote."""
    votes: dict[Key, bool] = {}
    for place, record, vote in read_rows_of_filled_sheet(path):
        keys = _find_wording_or_decoy_of_row(f"{path}, {place}", record, index)
        if votes.keys() & set(keys):
            raise InputError(f"{path}, {place}: this paraphrase of item '{keys[0][0]}' is there twice; leave one row")
        votes.update(dict.fromkeys(keys, vote))
    return votes


def _find_wording_or_decoy_of_row(
    where: str, record: Mapping[str, str], index: Mapping[str, Mapping[str, Sequence[Key]]]
) -> Sequence[Key]:
    """Find the wordings or the decoy that a row is about: by item and text, in an old sheet by item and variant."""
    item = unescape_formula(record.get("item", "")).strip()
    if item not in index:
        hint = format_nearest_name_hint(item, index)
        raise InputError(f"{where}: there is no item '{shorten_text(item)}' in the items{hint}; is it another set's?")
    keys = index[item].get(normalise_wording(unescape_formula(record.get("paraphrase", ""))), ())
    variant = unescape_formula(record.get("variant", "")).strip()
    if variant and (item, variant) not in {key for of_text in index[item].values() for key in of_text}:
        raise InputError(f"{where}: item '{item}' has no variant '{variant}' in the items; give its own")
    if not keys or (variant and (item, variant) not in keys):
        raise InputError(
            f"{where}: the paraphrase is not that of the items, and no decoy; is the sheet another set's, or was it "
            "made with another table of decoys?"
        )
    return [(item, variant)] if variant else keys
