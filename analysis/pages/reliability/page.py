"""Make the parts of the page on reliability for its notebook."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from analysis.pages.reliability import accuracies, accuracy_sentences, narrative
from analysis.pages.reliability.catalogue import CATALOGUE, FIGURES, TABLES
from analysis.reporting import catalogue, words
from analysis.reporting.catalogue import rewordings
from analysis.reporting.output.html import Html, render_missing_content_note, render_template_for_notebook
from analysis.reporting.output.page import Page
from analysis.reporting.words import chance, verdicts


class ReliabilityPage(Page):
    """Show the page on reliability; options: k, threshold, margin, task, resamples, seed."""

    protocols, studies = catalogue.map_page_names_to_catalogues()["reliability"].protocols, CATALOGUE.studies

    def answer(self) -> Html:
        """Show the answer in words, and what weakens it; that of accuracies where there are no answers."""
        when, drawn = words.phrase_run_dates(self.runs.info), words.list_wording_subsample_notes(self.runs.info)
        if accuracies.has_only_accuracies(self.runs):
            return self.render_answer_with_added_cautions(
                accuracy_sentences.answer_page_question_from_accuracies(
                    {name: self.frame(name) for name in accuracy_sentences.TABLES}, when
                )
            )
        frames = {name: self.frame(name) for name in narrative.TABLES}
        by_chance = chance.tabulate_units_with_chance_changes(self.runs)
        page_answer = narrative.answer_page_question(frames, when, drawn, by_chance)
        if accuracies.list_studies_with_only_accuracies(self.runs):
            page_answer = accuracy_sentences.add_cautions_and_details_on_accuracies(
                page_answer, {name: self.frame(name) for name in accuracy_sentences.TABLES}
            )
        return self.render_answer_with_added_cautions(page_answer)

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
        return self._render_entries_of_answers_and_accuracies(super().figure, name, instead, FIGURES[name].title)

    def table(self, name: str, *arguments: Any, instead: str = "", **options: Any) -> Html:
        """Show a table about answers, or what accuracies without answers have in its place.

        Parameters
        ----------
        name, instead
            As in `figure`.
        *arguments, **options
            What else `Page.table` takes.

        Returns
        -------
        Html
            One or both, by what the runs hold; a note where that is neither.
        """
        show = super().table
        return self._render_entries_of_answers_and_accuracies(
            lambda entry: show(entry, *arguments, **options), name, instead, TABLES[name].title
        )

    def _render_entries_of_answers_and_accuracies(
        self, show_entry: Callable[[str], Html], name: str, accuracies_name: str, title: str
    ) -> Html:
        """Show the entry about answers, the one about accuracies, or both, by what the runs hold; else a note."""
        names = [] if accuracies.has_only_accuracies(self.runs) else [name]
        if accuracies_name and accuracies.list_studies_with_only_accuracies(self.runs):
            names.append(accuracies_name)
        if not names:
            return render_missing_content_note(
                f"{title}: not from accuracies, as it needs the answers to single items."
            )
        return Html("".join(show_entry(name).text for name in dict.fromkeys(names)))

    def method(self) -> Html:
        """Say in a few lines how the numbers were computed."""
        return render_template_for_notebook(
            "reliability/method", word_meanings=" ".join(narrative.WORD_MEANINGS),
            accuracies=bool(accuracies.list_studies_with_only_accuracies(self.runs)),
            unread=rewordings.list_reasons_protocols_are_not_compared(self.list_ignored_protocols()),
            rules=verdicts.format_verdict_rules_by_name("validity", "interval", "chance", "beyond"),
            **self.collect_table_options(*narrative.TABLES),
        )  # fmt: skip
