"""Draw texts of a run into a table in which people say which option each means; it does not show what a judge said.

Texts are drawn in turn from every model, condition and option that they were read as, each equally often as far as it
has texts, so that rare readings are checked, too. Among these, the seed and the text alone decide which are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path

from ground.errors import InputError
from ground.spreadsheet import write_spreadsheet_csv
from inference.judge.texts import NOTHING_SHOWS, Reply, ReplyRow, RunTexts
from inference.stimuli.random_order import compute_sort_key_for_random_order

COLUMNS = ("study", "model", "condition", "item", "variant", "sample", "asked", "options", "text", "option")


@dataclass(frozen=True, slots=True)
class SampledText:
    """A text of a run, and its place among the texts of its row, from 1."""

    row: ReplyRow
    sample: int
    reply: Reply


def draw_texts_and_write_annotation_sheet(path: Path, texts: RunTexts, n_texts: int, seed: int) -> int:
    """Write the sheet, with the column `option` left to fill in.

    Parameters
    ----------
    path
        A .csv file that does not exist yet: a filled sheet is never overwritten.
    texts
        The texts of a run.
    n_texts
        How many are drawn; all where there are fewer.
    seed
        Of the draw.

    Returns
    -------
    Number of rows.

    Raises
    ------
    InputError
        The file is there already or is no .csv file, or no text shows anything.
    """
    if path.suffix.lower() != ".csv":
        raise InputError(f"--sheet {path}: the sheet is a .csv file")
    if path.exists():
        raise InputError(f"--sheet {path}: is there already and may be filled in; choose another name")
    drawn = _sample_texts_for_sheet(texts, n_texts, seed)
    if not drawn:
        raise InputError(f"{texts.folder}: {NOTHING_SHOWS}")
    drawn.sort(
        key=lambda text: compute_sort_key_for_random_order(seed, "sheet", text.reply.key)
    )  # whose text it is shows no pattern
    write_spreadsheet_csv(path, COLUMNS, (_build_sheet_row(texts.study.name, text) for text in drawn))
    return len(drawn)


def _sample_texts_for_sheet(texts: RunTexts, n_texts: int, seed: int) -> list[SampledText]:
    """Draw different texts of a run, in turn from every model, condition and option."""
    strata: dict[tuple[str, str, str | None], dict[str, SampledText]] = {}
    for text, reading in _iterate_texts_with_read_options(texts):
        stratum = strata.setdefault((text.row.model, text.row.condition, reading), {})
        stratum.setdefault(text.reply.key, text)
    shuffled = [
        sorted(stratum.values(), key=lambda text: compute_sort_key_for_random_order(seed, "people", text.reply.key))
        for _, stratum in sorted(strata.items(), key=lambda pair: tuple(map(str, pair[0])))
    ]
    by_turns = chain.from_iterable(zip_longest(*shuffled))
    different = {text.reply.key: text for text in reversed([text for text in by_turns if text is not None])}
    return list(reversed(different.values()))[:n_texts]


def _iterate_texts_with_read_options(texts: RunTexts) -> Iterator[tuple[SampledText, str | None]]:
    """Go through all texts that show something, each with the option that it was read as."""
    for row in texts.iterate_rows_with_texts():
        for place, (text, reading) in enumerate(zip(row.texts, row.readings, strict=True), start=1):
            if text is not None:
                yield SampledText(row, place, texts.build_reply_from_text_and_context(row, text)), reading


def _build_sheet_row(study: str, text: SampledText) -> tuple[object, ...]:
    """Make the row of a text; the options, with their words, are what people may write, or leave empty for none."""
    row, reply = text.row, text.reply
    options = [label if not words else f"{label}: {words}" for label, words in reply.options]
    return (
        study, row.model, row.condition, row.variant.item, row.variant.variant, text.sample, reply.asked,
        "\n".join(options), reply.text.strip(), None,
    )  # fmt: skip
