"""What the notebook on benchmarks calls; everything else of its page comes from `analysis.reporting.page`."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.pages.benchmarks import narrative
from analysis.pages.benchmarks.leaderboards import load
from analysis.pages.wording import printed as published
from analysis.pages.wording.tables import ALL
from analysis.reporting import provenance
from analysis.reporting.page import Html, Page, render

PRINTED = "Takayama et al., Figure 8"


class BenchmarksPage(Page):
    """One report page on what goes with consistency; options: scores, aliases, invalid."""

    def answer(self) -> Html:
        """The answer in words, with everything that weakens it."""
        return Html(render("answer", answer=narrative.answer({name: self.frame(name) for name in narrative.TABLES})))

    def sizes(self) -> pd.DataFrame:
        """Overall over patterns and tasks of every model whose size is known."""
        frame = self.frame("measures_by_model")
        frame = frame[(frame["measure"] == "overall") & (frame["task"] == ALL)]
        return frame.dropna(subset=["value", "parameters"])

    def accuracies(self) -> pd.DataFrame:
        """Accuracy and Consistency of every model that has both."""
        frame = self.frame("measures_by_model").dropna(subset=["value"])
        return frame if {"accuracy", "consistency"} <= set(frame["measure"]) else frame.iloc[:0]

    def matrices(self) -> Iterator[pd.DataFrame]:
        """Table `benchmark_matrix`, Pearson, a part per matrix that has a coefficient of Consistency."""
        frame = self.frame("benchmark_matrix")
        for _, part in frame[frame["method"] == "pearson"].groupby(
            ["study", "language", "task", "condition"], sort=False
        ):
            if part.loc[part["measure_b"].str.startswith("consistency"), "r"].notna().any():
                yield part

    def scores(self) -> pd.DataFrame:
        """Table `score_matrix`, Spearman."""
        frame = self.frame("score_matrix")
        return frame[frame["method"] == "spearman"]

    def printed(self) -> pd.DataFrame:
        """The printed matrix."""
        return published.matrix().assign(source=PRINTED)

    def method(self) -> Html:
        """How the numbers were made, in five lines."""
        return Html(render("benchmarks/method"))

    def provenance(self) -> Html:
        """Where the page comes from, with the file of scores."""
        entries = provenance.entries(self.runs, self.folders, self.options)
        if self.options.get("scores"):
            scores = load(self.options["scores"])
            ignored = f"; not numbers, left aside: {', '.join(scores.ignored)}" if scores.ignored else ""
            entries.insert(1, ("Scores", [f"{scores.source}, {len(scores.frame):,} rows{ignored}"]))
        return Html(
            render(
                "provenance", entries=entries, command=provenance.command(self.folders, self.out, self.options)
            )
        )  # fmt: skip
