"""Make the parts of the page on stability for its notebook."""

from __future__ import annotations

from typing import Any

import pandas as pd

from analysis.pages.stability import narrative, one_row
from analysis.pages.stability.catalogue import CATALOGUE
from analysis.pages.stability.tables import MOST_PAIRS
from analysis.reporting import beyond, catalogue, chance, labels, orders, tables, verdicts, words
from analysis.reporting.catalogue import column
from analysis.reporting.choice import Choice
from analysis.reporting.columns import value
from analysis.reporting.differences import marked
from analysis.reporting.html import Html, fragment, note
from analysis.reporting.page import Page


class StabilityPage(Page):
    """Show the page on agreement with paraphrases; options: thresholds, invalid, resamples, seed."""

    protocols, studies, of_agreement = CATALOGUE.protocols, CATALOGUE.studies, True

    def answer(self) -> Html:
        """Show the answer in words, and what weakens it."""
        frames = {name: self.frame(name) for name in narrative.TABLES}
        frames |= {"stability": self.frames.joined("stability"), "pairs": one_row.pairs(self.frames)}
        by_chance = chance.find_chance(self.runs)
        return self.told(narrative.answer(
            **frames, choice=self.choice, when=words.when(self.runs.info),
            beyond=self.choice.named(beyond.sentence(self.runs)), shared=beyond.shares_wordings(self.runs),
            by_chance=orders.renamed(by_chance, frames["stability"], self.runs.info["conditions"]),
        ))  # fmt: skip

    def said_answers(self) -> str:
        """Say whether the models write what their probabilities say; return "" where no text was asked for."""
        frame = self.frames.joined("answers")
        return "" if frame.empty else narrative.answers(frame.assign(label=labels.series(frame)), self.choice)

    def examples(self) -> Html:
        """Show the two wordings of one item that each model answers most differently, with both answers."""
        if self.frame("divergent").empty:
            return note(f"No item has two paraphrases with a defined {self.choice.measure}.")
        frame = one_row.divergent(self.frames)
        frame = frame.assign(label=labels.series(frame))
        differ = (frame["low_agreement"] >= 0.5) != (frame["high_agreement"] >= 0.5)
        left_out = narrative.one_answer(frame[~differ])
        if not differ.any():
            return note(left_out)
        pairs = [_pair(row, self.choice) for _, row in frame[differ].iterrows()]
        caption = self.choice.named(catalogue.table("divergent").caption)
        if orders.caption(frame):
            caption += " Of both orders of the options, where they are one row, the one with the larger range is shown."
        return fragment("examples", pairs=pairs, caption=caption, left_out=left_out)

    def method(self) -> Html:
        """Say in five lines how the numbers were computed."""
        options = {key: p.default for key, p in tables.options("stability").items()} | self.options
        excluded = narrative.left_out(self.frame("excluded"), self.frame("invalid"), self.choice)
        return fragment(
            "stability/method", choice=self.choice, resamples=options["resamples"], seed=options["seed"],
            excluded=excluded, invalid=options["invalid"], meant=narrative.MEANT, most_pairs=MOST_PAIRS,
            rules=verdicts.told("validity", "interval", "chance", "holm", "beyond"),
        )  # fmt: skip


def _pair(row: pd.Series, choice: Choice) -> dict[str, Any]:
    wordings = []
    for side, pieces in zip(("low", "high"), marked(row["low_text"], row["high_text"]), strict=True):
        share = row[f"{side}_agreement"]
        said = choice.first if share >= 0.5 else choice.second
        number = value(share, column("divergent", f"{side}_agreement"))
        wordings.append({"pieces": pieces, "answer": said, "agreement": number, "percent": f"{100 * share:.1f}"})
    return {"label": row["label"], "item": row["item"], "wordings": wordings}
