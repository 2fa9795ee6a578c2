"""Make the parts of the page on wording for its notebook."""

from __future__ import annotations

from typing import Any

import pandas as pd

from analysis.pages.wording import narrative
from analysis.pages.wording.catalogue import CATALOGUE
from analysis.pages.wording.columns import WORDS
from analysis.reporting import beyond, catalogue, chance, labels, tables, verdicts, words
from analysis.reporting.catalogue import column
from analysis.reporting.choice import of_runs
from analysis.reporting.columns import value
from analysis.reporting.differences import marked
from analysis.reporting.html import Html, fragment, note
from analysis.reporting.page import Page


class WordingPage(Page):
    """Show the page on the wording of yes/no questions; options: invalid, resamples, seed."""

    protocols, studies = CATALOGUE.protocols, CATALOGUE.studies

    def answer(self) -> Html:
        """Show the answer in words, and what weakens it."""
        frames = {name: self.frame(name) for name in narrative.TABLES}
        return self.told(narrative.answer(
            frames, words.when(self.runs.info), of_runs(self.runs.info), beyond.sentence(self.runs),
            chance.find_chance(self.runs),
        ))  # fmt: skip

    def examples(self) -> Html:
        """Show for every model the two wordings with the strongest contradiction between its answers."""
        frame = self.frame("turned")
        if frame.empty:
            return note("No model contradicts itself between two valid answers.")
        frame = frame.assign(label=labels.series(frame))
        pairs = [_pair(row) for _, row in frame.iterrows()]
        return fragment("examples", pairs=pairs, caption=catalogue.table("turned").caption, left_out="")

    def method(self) -> Html:
        """Say in five lines how the numbers were computed."""
        options = {key: p.default for key, p in tables.options("consistency").items()} | self.options
        failed = int(self.runs.execute("SELECT count(*) FROM errors").fetchall()[0][0])
        return fragment(
            "wording/method", invalid=options["invalid"], resamples=options["resamples"], seed=options["seed"],
                failed=failed, meant=" ".join(narrative.MEANT),
                rules=verdicts.told("validity", "interval", "chance", "several", "spread", "change", "holm", "beyond"),
            )  # fmt: skip


def _pair(row: pd.Series) -> dict[str, Any]:
    wordings = []
    original, reworded = marked(row["text_original"], row["text_reworded"])
    for pieces, said, share in (
        (original, row["answer_original"], row["p_original"]),
        (reworded, row["answer_reworded"], row["p_yes"]),
    ):
        known = pd.notna(share)
        length = 100 * share if known else 100.0 * (said == "Yes")
        number = f"p(Yes) {value(share, column('turned', 'p_yes'))}" if known else ""
        wordings.append({"pieces": pieces, "answer": said, "agreement": number, "percent": f"{length:.1f}"})
    return {"label": f"{row['label']}, {WORDS[row['pattern']]}", "item": row["item"], "wordings": wordings}
