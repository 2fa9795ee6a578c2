"""Make the parts of the page on multiple choice for its notebook."""

from __future__ import annotations

from typing import Any

import pandas as pd

from analysis.pages.choice import narrative
from analysis.pages.choice.catalogue import CATALOGUE
from analysis.pages.choice.cautions import tell_readings
from analysis.reporting import beyond, catalogue, chance, labels, tables, verdicts, words
from analysis.reporting.differences import marked
from analysis.reporting.html import Html, fragment, note
from analysis.reporting.page import Page
from analysis.runs.choices import named, studies

MOST_EXAMPLES = 6
"""Pairs shown on the page; the table has those of every model."""


class ChoicePage(Page):
    """Show the page on multiple choice; options: resamples, seed."""

    protocols, studies = CATALOGUE.protocols, CATALOGUE.studies

    def answer(self) -> Html:
        """Show the answer in words, and what weakens it."""
        frames = {name: self.frame(name) for name in narrative.TABLES}
        shapes = [study.asked.shape for study in studies(self.runs)]
        size = self._questions(), max(shape[1] for shape in shapes), max(shape[2] for shape in shapes)
        return self.told(narrative.answer(
            frames, size, words.when(self.runs.info), beyond.sentence(self.runs), chance.find_chance(self.runs),
            beyond.shares_wordings(self.runs),
        ))  # fmt: skip

    def _questions(self) -> int:
        """Count the questions; one that two studies ask, such as before and after a tuning, counts once."""
        sql = """
            SELECT count(DISTINCT (item, text)) FROM (
                SELECT item, arg_min(text, position) AS text FROM stimuli SEMI JOIN responses USING (study, item)
                WHERE study IN (SELECT unnest(?)) GROUP BY study, item)"""
        return int(self.runs.execute(sql, [named(self.runs)]).fetchall()[0][0])

    def examples(self) -> Html:
        """Show questions that are answered rightly, and wrongly in other words or another order."""
        frame = self.frame("choice_examples")
        if frame.empty:
            return note("No model is right in one wording or order and chooses wrongly in another.")
        shown = frame.assign(label=labels.series(frame)).head(MOST_EXAMPLES)
        left = len(frame) - len(shown)
        left_out = f"{words.count(left, 'more pair')} in the table." if left else ""
        pairs = [_pair(row) for _, row in shown.iterrows()]
        caption = catalogue.table("choice_examples").caption
        return fragment("examples", pairs=pairs, caption=caption, left_out=left_out)

    def method(self) -> Html:
        """Say in five lines how the numbers were computed."""
        options = {key: p.default for key, p in tables.options("choice").items()} | self.options
        table = self.frame("choice")
        whole = narrative.whole(table)
        return fragment(
            "choice/method", resamples=options["resamples"], no_choice=int(whole["no_choice"].sum()),
            answers=int(whole["n"].sum()), readings=" ".join(tell_readings(whole)), meant=" ".join(narrative.MEANT),
            rules=verdicts.told("validity", "interval", "chance", "several", "change", "holm", "beyond"),
        )  # fmt: skip


def _pair(row: pd.Series) -> dict[str, Any]:
    wordings = []
    for pieces, side in zip(marked(row["text_before"], row["text_after"]), ("before", "after"), strict=True):
        known = isinstance(row[f"order_{side}"], str)
        order = f"choices of the file shown in the order {', '.join(row[f'order_{side}'])}" if known else ""
        right = "right" if row[f"said_{side}"] == row["right"] else f"right: {row['right']}"
        wordings.append({"pieces": pieces, "answer": row[f"said_{side}"],
                         "agreement": "; ".join(filter(None, (right, order))),
                         "percent": f"{100.0 * (side == 'before'):.1f}"})  # fmt: skip
    return {"label": f"{row['label']}, {row['change']}", "item": row["item"], "wordings": wordings}
