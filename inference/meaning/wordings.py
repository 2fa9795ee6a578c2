"""Read the wordings whose meaning is checked: those of a run folder, or of a file of items."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from ground.errors import InputError, format_part_with_verb, join_first_names, shorten_text
from inference.paraphrase.decoys import Decoy
from inference.runfolder.stored_study import read_stored_study
from inference.stimuli import items as item_files
from inference.stimuli.nli import has_japanese_letters
from inference.stimuli.reading.files import expand_user_path
from inference.stimuli.reading.shapes import Columns
from inference.stimuli.study import ORIGINAL, Item, Study

FILE, FOLDER, ITEMS = "meaning.parquet", "meaning", "items.jsonl"
LANGUAGES = ("en", "ja")
CHOICE = "choice"  # the protocol


class Pair(NamedTuple):
    """An original and a text that may mean the same."""

    original: str
    text: str

    @property
    def key(self) -> str:
        """The name under which what a model says of both texts is kept."""
        return hashlib.sha256(f"{self.original}\0{self.text}".encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Wording:
    """A wording, or a decoy, beside the original of its item: rows of `meaning.parquet`.

    Attributes
    ----------
    item, variant
        Its key.
    pair
        The original, and its own text.
    decoy, source
        Of a decoy: its kind, and what it was made from. None for a wording of the study.
    """

    item: str
    variant: str
    pair: Pair
    decoy: str | None = None
    source: str | None = None

    @property
    def key(self) -> tuple[str, str]:
        """The pair (item, variant)."""
        return self.item, self.variant


@dataclass(frozen=True)
class Source:
    """What is checked, and where the results go.

    Attributes
    ----------
    study
        The items with their wordings.
    out
        The folder that takes `meaning.parquet` and `meaning/`.
    is_run
        Whether that is the run folder that the wordings are from.
    """

    study: Study
    out: Path
    is_run: bool

    @property
    def results_file(self) -> Path:
        """The table that is written."""
        return self.out / FILE

    @property
    def folder_of_model_answers(self) -> Path:
        """The folder in which what models say is kept."""
        return self.out / FOLDER

    @cached_property
    def originals(self) -> dict[str, str]:
        """Item -> text of its original, for the items that have one."""
        return {item.item: item.original.text for item in self.study.items if item.original is not None}

    @cached_property
    def wordings(self) -> list[Wording]:
        """The wordings that are checked: of items with an original, unlike it, and not made to mean something else."""
        return [
            Wording(item.item, variant.variant, Pair(self.originals[item.item], variant.text))
            for item in self.study.items
            if item.item in self.originals
            for variant in item.variants
            if variant.pattern != ORIGINAL
            and variant.text.strip() != self.originals[item.item].strip()
            and variant.key not in self.keys_of_meaning_changing_wordings
        ]

    @cached_property
    def keys_of_meaning_changing_wordings(self) -> set[tuple[str, str]]:
        """The wordings that are made to mean something else.

        Yes to an antonym is no to the original; and what has parents differs from them on purpose, such as by a
        negation. Of choices, the same letters stand for others in every order of the options: that turns nothing round.
        """
        differing = {variant.key for variant in self.study.variants if variant.parents}
        if self.study.protocol == CHOICE:
            return differing
        return differing | {
            variant.key
            for item in self.study.items
            if item.original is not None
            for variant in item.variants
            if [option.label for option in variant.options] == [option.label for option in item.original.options]
            and variant.options != item.original.options
        }

    @cached_property
    def checked_items(self) -> list[Item]:
        """The items that have an original and another wording."""
        names = {wording.item for wording in self.wordings}
        return [item for item in self.study.items if item.item in names]

    def build_decoy_wordings_beside_originals(self, decoys: Iterable[Decoy]) -> list[Wording]:
        """Put decoys beside the originals of their items; an item that is not checked needs none."""
        names = {wording.item for wording in self.wordings}
        return [
            Wording(
                decoy.item,
                decoy.variant,
                Pair(self.originals[decoy.item], decoy.text),
                decoy.decoy,
                decoy.source or None,
            )
            for decoy in decoys
            if decoy.item in names
        ]

    def describe_unchecked_items_and_wordings(self) -> list[str]:
        """Write a line for each reason why items, or wordings, are not checked."""
        names = {item.item for item in self.checked_items}
        lacking = [item.item for item in self.study.items if item.item not in self.originals]
        alone = [item.item for item in self.study.items if item.item in self.originals and item.item not in names]
        turned = [
            variant.variant for variant in self.study.variants if variant.key in self.keys_of_meaning_changing_wordings
        ]
        lines = []
        if turned:
            lines.append(f"wordings made to mean something else: {len(turned):,}, such as '{turned[0]}': not checked")
        return lines + [
            f"{format_part_with_verb(len(listed), len(self.study.items), 'item')} {reason}: not checked: "
            f"{join_first_names(listed)}"
            for listed, reason in ((lacking, "no original"), (alone, "no wording beside their original"))
            if listed
        ]


def read_wordings_source(name: str, out: str | None, columns: Columns) -> Source:
    """Read a run folder or a file of items.

    Parameters
    ----------
    name
        A run folder; or what `run --items` takes, and then `out` is needed.
    out
        The folder for the results of a file of items.
    columns
        What the columns of the file are called.

    Returns
    -------
    The source; at least one of its wordings can be checked.

    Raises
    ------
    InputError
        It is neither, the folder for the results is missing or something else, or there is nothing to check.
    """
    path = expand_user_path(name)
    is_run = (path / "run.json").exists()
    if path.is_dir() and not is_run and out is None:
        raise InputError(f"{name}: this folder is no run (it has no run.json); name a run folder, or a file of items")
    if is_run:
        if out is not None:
            raise InputError(f"--out {out}: what is said of a run is kept beside it, in {path / FILE}; leave --out out")
        source = Source(read_stored_study(path), path, is_run=True)
    else:
        source = Source(_read_items_study(name, columns), _require_usable_output_folder(name, out), is_run=False)
    if not source.wordings:
        reasons = (
            "; ".join(source.describe_unchecked_items_and_wordings()) or "there is no wording beside the originals"
        )
        raise InputError(f"{shorten_text(name, 200)}: nothing to check: {reasons}")
    return source


def _read_items_study(name: str, columns: Columns) -> Study:
    """Read a file of items as a study without questions."""
    return Study(
        "meaning",
        item_files.name_study_after_source(name),
        item_files.read_and_check_items(name, columns=columns),
        (),
        source=name,
    )


def _require_usable_output_folder(name: str, out: str | None) -> Path:
    """Check the folder for the results of a file of items."""
    if out is None:
        raise InputError(f"{name}: this is no run folder; give --out FOLDER for what is said of a file of items")
    folder = expand_user_path(out)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"--out {out}: this is a file; give a folder")
    if (folder / "run.json").exists():
        raise InputError(f"--out {out}: this is a run folder; give another one, or name the run in place of the items")
    if (
        folder.is_dir()
        and not (folder / FILE).exists()
        and any(not _is_leftover_of_killed_call(path) for path in folder.iterdir())
    ):
        raise InputError(f"--out {out}: this folder holds something else; give a new one")
    if (folder / ITEMS).exists() and (folder / ITEMS).resolve() == expand_user_path(name).resolve():
        raise InputError(f"--out {out}: the items would be written over the file that is read; give another folder")
    return folder


def _is_leftover_of_killed_call(path: Path) -> bool:
    """Tell whether a call that was killed before it wrote its table leaves such a file or folder."""
    return path.name == FOLDER or path.name.startswith(f".{FILE}.")


def choose_prompt_language_for_wordings(source: Source, stated: str | None) -> str:
    """Tell in which language a model is asked about the wordings.

    Parameters
    ----------
    source
        The wordings.
    stated
        What the call says; None: nothing.

    Returns
    -------
    "ja" where more items are in Japanese than in English, by the language that they name or else by their script; else
    "en".
    """
    if stated is not None:
        return stated
    languages = [_detect_item_language(item) for item in source.checked_items]
    return max(LANGUAGES, key=languages.count)


def _detect_item_language(item: Item) -> str:
    """Tell the language of one item, "" where it names another one than those of the prompts."""
    original = item.original
    assert original is not None
    if original.language is not None:
        return original.language.partition("-")[0].casefold()
    return "ja" if has_japanese_letters(original.text) else "en"


def index_text_pairs_by_key(wordings: Sequence[Wording]) -> dict[str, Pair]:
    """List the pairs of texts to compare by their keys; wordings of one text share theirs."""
    return {wording.pair.key: wording.pair for wording in wordings}
