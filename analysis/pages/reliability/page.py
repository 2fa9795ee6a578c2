"""Make the parts of the page on reliability for its notebook."""

from __future__ import annotations

from analysis.pages.reliability import narrative
from analysis.pages.reliability.catalogue import CATALOGUE
from analysis.reporting import tables, verdicts, words
from analysis.reporting.html import Html, fragment
from analysis.reporting.page import Page


class ReliabilityPage(Page):
    """Show the page on reliability; options: k, threshold, margin, resamples, seed."""

    protocols, studies = CATALOGUE.protocols, CATALOGUE.studies

    def answer(self) -> Html:
        """Show the answer in words, and what weakens it."""
        frames = {name: self.frame(name) for name in narrative.TABLES}
        return self.told(narrative.answer(frames, words.when(self.runs.info), words.drawn(self.runs.info)))

    def method(self) -> Html:
        """Say in a few lines how the numbers were computed."""
        given = {key: option.default for name in narrative.TABLES for key, option in tables.options(name).items()}
        return fragment(
            "reliability/method", meant=" ".join(narrative.MEANT),
            rules=verdicts.told("validity", "interval", "beyond"), **(given | self.options),
        )  # fmt: skip
