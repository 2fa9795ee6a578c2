"""Make the parts of the page on reliability for its notebook."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from analysis.pages.reliability import accuracies, narrative, told
from analysis.pages.reliability.catalogue import CATALOGUE, FIGURES, TABLES
from analysis.reporting import catalogue, chance, rewordings, tables, verdicts, words
from analysis.reporting.html import Html, fragment, note
from analysis.reporting.page import Page


class ReliabilityPage(Page):
    """Show the page on reliability; options: k, threshold, margin, resamples, seed."""

    protocols, studies = catalogue.pages()["reliability"].protocols, CATALOGUE.studies

    def answer(self) -> Html:
        """Show the answer in words, and what weakens it; that of accuracies where there are no answers."""
        when, drawn = words.when(self.runs.info), words.drawn(self.runs.info)
        if accuracies.only(self.runs):
            return self.told(told.answer({name: self.frame(name) for name in told.TABLES}, when))
        frames, by_chance = {name: self.frame(name) for name in narrative.TABLES}, chance.find_chance(self.runs)
        found = narrative.answer(frames, when, drawn, by_chance)
        if accuracies.studies(self.runs):
            found = told.added(found, {name: self.frame(name) for name in told.TABLES})
        return self.told(found)

    def figure(self, name: str, *, instead: str = "") -> Html:
        """Show a figure about answers, or what accuracies without answers have in its place.

        Parameters
        ----------
        name
            The figure about answers.
        instead
            The figure about accuracies without answers; empty: none.

        Returns
        -------
        Html
            One or both, by what the runs hold; a note where that is neither.
        """
        return self._either(super().figure, name, instead, FIGURES[name].title)

    def table(self, name: str, *given: Any, instead: str = "", **options: Any) -> Html:
        """Show a table in the same way.

        Parameters
        ----------
        name, instead
            As in `figure`.
        *given, **options
            As in `Page.table`.

        Returns
        -------
        Html
            One or both, by what the runs hold; a note where that is neither.
        """
        show = super().table
        return self._either(lambda each: show(each, *given, **options), name, instead, TABLES[name].title)

    def _either(self, show: Callable[[str], Html], name: str, instead: str, title: str) -> Html:
        answers, others = not accuracies.only(self.runs), bool(accuracies.studies(self.runs))
        names = dict.fromkeys(([name] if answers else []) + ([instead] if others and instead else []))
        if not names:
            return note(f"{title}: not from accuracies, as it needs the answers to single items.")
        return Html("".join(show(each).text for each in names))

    def method(self) -> Html:
        """Say in a few lines how the numbers were computed."""
        given = {key: option.default for name in narrative.TABLES for key, option in tables.options(name).items()}
        return fragment(
            "reliability/method", meant=" ".join(narrative.MEANT), accuracies=bool(accuracies.studies(self.runs)),
            unread=rewordings.explain_unread(self.list_other_protocols()),
            rules=verdicts.told("validity", "interval", "chance", "beyond"), **(given | self.options),
        )  # fmt: skip
