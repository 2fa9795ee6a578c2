"""Make the parts of the page on reliability for its notebook."""

from __future__ import annotations

from typing import Any

from analysis.pages.reliability import accuracies, narrative, told
from analysis.pages.reliability.catalogue import CATALOGUE, FIGURES, TABLES
from analysis.reporting import tables, verdicts, words
from analysis.reporting.html import Html, fragment, note
from analysis.reporting.page import Page

# What accuracies without answers have in the place of a figure or table about answers.
INSTEAD = {
    "wordings_needed": "template_reliability", "template_accuracies": "template_ranges",
    "ranking_reliability": "template_reliability", "beyond_rewording": "template_pairs",
}  # fmt: skip
BOTH = {"wording_ranking", "templates", "template_scores"}  # of answers, and of accuracies without


class ReliabilityPage(Page):
    """Show the page on reliability; options: k, threshold, margin, resamples, seed."""

    protocols, studies = CATALOGUE.protocols, CATALOGUE.studies

    def answer(self) -> Html:
        """Show the answer in words, and what weakens it; that of accuracies where there are no answers."""
        when, drawn = words.when(self.runs.info), words.drawn(self.runs.info)
        if accuracies.only(self.runs):
            return self.told(told.answer({name: self.frame(name) for name in told.TABLES}, when))
        found = narrative.answer({name: self.frame(name) for name in narrative.TABLES}, when, drawn)
        if accuracies.studies(self.runs):
            found = told.added(found, {name: self.frame(name) for name in told.TABLES})
        return self.told(found)

    def figure(self, name: str) -> Html:
        """Show a figure, or what accuracies without answers have in its place, or both."""
        return self._either(super().figure, name, FIGURES[name].title)

    def table(self, name: str, *given: Any, **options: Any) -> Html:
        """Show a table in the same way."""
        return self._either(lambda each: super(ReliabilityPage, self).table(each, *given, **options), name,
                            TABLES[name].title)  # fmt: skip

    def _either(self, show: Any, name: str, title: str) -> Html:
        if not accuracies.studies(self.runs) or name in BOTH:
            return Html(show(name).text)
        shown = [] if accuracies.only(self.runs) else [show(name).text]
        if name in INSTEAD:
            shown.append(show(INSTEAD[name]).text)
        return Html("".join(shown) or note(f"{title}: not from accuracies, as it needs the answers to single items.").text)

    def method(self) -> Html:
        """Say in a few lines how the numbers were computed."""
        given = {key: option.default for name in narrative.TABLES for key, option in tables.options(name).items()}
        return fragment(
            "reliability/method", meant=" ".join(narrative.MEANT), accuracies=bool(accuracies.studies(self.runs)),
            rules=verdicts.told("validity", "interval", "beyond"), **(given | self.options),
        )  # fmt: skip
