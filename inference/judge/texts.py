"""Collect the texts of a run folder that a judge or people can read, with what was asked and the options."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq

from ground import run_json
from ground.errors import InputError, shorten_text
from inference.asking.recorded_prompts import fill_prompt_form_with_variant
from inference.engines.thinking_marks import THINKING
from inference.importers.shared.logged_stimuli import RIGHT, WRONG
from inference.runfolder.parquet import read_parquet
from inference.runfolder.stored_study import read_stored_study
from inference.stimuli.reading.files import is_invisible_text
from inference.stimuli.scales import drop_middle_option
from inference.stimuli.study import Study, Variant

COLUMNS = ("model", "condition", "item", "variant", "output", "answer", "sample_answer")
NOTHING_SHOWS = "all texts are empty, so there is nothing to read"
THOUGHT = "thought"  # `answer` of a condition in which the texts stand apart from the thoughts before them


@dataclass(frozen=True, slots=True)
class ReplyRow:
    """The texts of one response row.

    Attributes
    ----------
    texts
        Each without the thinking before it; None: nothing was written that shows.
    readings
        The option that each was read as when it was asked; None: none, or not known.
    """

    model: str
    condition: str
    variant: Variant
    texts: tuple[str | None, ...]
    readings: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """A text with all that its meaning depends on; equal ones are read once.

    Attributes
    ----------
    asked
        What was asked, as the model got it, or the wording where that is not known.
    options
        Label -> words that it stands for, empty where they are the label.
    text
        The text.
    """

    asked: str
    options: tuple[tuple[str, str], ...]
    text: str

    @property
    def key(self) -> str:
        """The name by which equal replies are recognised."""
        content = json.dumps([self.asked, self.options, self.text], ensure_ascii=False)
        return hashlib.sha256(content.encode()).hexdigest()[:32]


class RunTexts:
    """The texts of a run folder.

    Parameters
    ----------
    folder
        The run folder.
    conditions
        Names of the conditions to read; empty: all with texts.

    Attributes
    ----------
    info
        Its run.json.
    study
        Its study.

    Raises
    ------
    InputError
        It is no run folder, its answers are no options, it has no texts, or a condition is unknown or has none.
    """

    def __init__(self, folder: Path, conditions: Sequence[str] = ()) -> None:
        self.folder, self.info = folder, run_json.read_run_json(folder)
        self.study: Study = read_stored_study(folder)
        self._parts = sorted((folder / "responses").glob("part-*.parquet"))
        self.conditions = self._select_conditions_to_read(conditions)

    def _select_conditions_to_read(self, wanted: Sequence[str]) -> list[str]:
        """List the conditions to read, in the order of run.json."""
        recorded_conditions = self.info["conditions"]
        if self.study.canonical == (RIGHT, WRONG):
            raise InputError(f"{self.folder}: its log says right or wrong, not which options there were to choose from")
        for name in wanted:
            if name not in recorded_conditions:
                raise InputError(
                    f"--condition {shorten_text(name)}: {self.folder} has no such condition; it has "
                    f"{shorten_text(', '.join(recorded_conditions), 300)}"
                )
        has_text = pc.field("output").is_valid()
        tables = [read_parquet(part, ["condition"], filters=has_text) for part in self._parts]
        written = {name for table in tables for name in pc.unique(table["condition"]).to_pylist()}
        named = [name for name in recorded_conditions if name in written and "range" not in recorded_conditions[name]]
        if not named:
            why = "its texts are numbers, not options" if written else "it holds no texts (--answer text)"
            raise InputError(f"{self.folder}: {why}, so there is nothing for a judge to read")
        for name in wanted:
            if name not in named:
                raise InputError(
                    f"--condition {shorten_text(name)}: it has no texts that a judge can read; there are "
                    f"{shorten_text(', '.join(named), 300)}"
                )
        return [name for name in named if name in wanted or not wanted]

    @cached_property
    def _variant_by_key(self) -> Mapping[tuple[str, str], Variant]:
        """Return the variants by item and name."""
        return {variant.key: variant for variant in self.study.variants}

    def iterate_rows_with_texts(self) -> Iterator[ReplyRow]:
        """Go through the rows with texts, part by part."""
        chosen = pc.field("condition").isin(self.conditions) & pc.field("error").is_null()
        for part in self._parts:
            names = [name for name in COLUMNS if name in pq.read_schema(part).names]
            for row in read_parquet(part, names, filters=chosen).to_pylist():
                variant = self._variant_by_key.get((row["item"], row["variant"]))
                if row["output"] is not None and variant is not None:
                    yield self._build_reply_row(row, variant)

    def _build_reply_row(self, row: Mapping[str, Any], variant: Variant) -> ReplyRow:
        """Take the texts of a response row, and how each was read."""
        # Runs of version 0.1 to 0.2 have thoughts in `output`, too.
        texts = [drop_thinking_from_text(text) for text in map(str, row["output"])]
        if self.info["conditions"][row["condition"]].get("without_middle") is True:
            variant = replace(variant, options=drop_middle_option(variant.options))
        readings = row.get("sample_answer") or ([row["answer"]] if len(texts) == 1 else [None] * len(texts))
        return ReplyRow(
            row["model"],
            row["condition"],
            variant,
            tuple(None if is_invisible_text(text) else text for text in texts),
            tuple(readings),
        )

    def list_distinct_replies_by_key(self) -> dict[str, Reply]:
        """List the different texts with what their meaning depends on: key -> reply."""
        replies: dict[str, Reply] = {}
        for row in self.iterate_rows_with_texts():
            for text in row.texts:
                if text is not None:
                    reply = self.build_reply_from_text_and_context(row, text)
                    replies.setdefault(reply.key, reply)
        return replies

    def build_reply_from_text_and_context(self, row: ReplyRow, text: str) -> Reply:
        """Put a text together with what its meaning depends on.

        Parameters
        ----------
        row
            The row that it stands in.
        text
            The text.

        Returns
        -------
        The reply.
        """
        words_by_label = self._find_option_words_of_condition(row.condition)
        options = []
        for option in row.variant.options:
            words = row.variant.attributes.get(f"choice_{option.canonical}") or words_by_label.get(option.label, "")
            options.append((option.label, "" if words == option.label else words))
        return Reply(self._find_asked_text(row), tuple(options), text)

    def _find_option_words_of_condition(self, condition: str) -> Mapping[str, str]:
        """Find the word that stood for each option in the prompt of a condition, where run.json has it."""
        prompt_hash = self.info["conditions"][condition].get("prompt_hash")
        words = self.info.get("prompts", {}).get(prompt_hash, {}).get("answers", {})
        return {label: label_words[0] for label, label_words in words.items() if label_words}

    def _find_asked_text(self, row: ReplyRow) -> str:
        """Write out what a model was asked: the prompt where run.json gives it to the letter, else the wording."""
        for entry in self.info.get("asked", {}).get(row.condition, ()):
            if row.model in entry["models"] and entry["wordings"] is not None:
                messages = fill_prompt_form_with_variant(entry["wordings"], row.variant)
                if messages:
                    several = len(messages) > 1
                    return "\n".join(f"{role}: {content}" if several else content for role, content in messages)
        return row.variant.text


def drop_thinking_from_text(text: str) -> str:
    """Return what follows the last mark that ends thinking; the whole text where none begins, else nothing."""
    for marks in THINKING:
        if marks.end in text:
            text = text.rpartition(marks.end)[2]
        elif text.lstrip().startswith(marks.begin):
            return ""
    return text
