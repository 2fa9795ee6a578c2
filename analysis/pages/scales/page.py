"""Make the parts of the page on rating scales for its notebook."""

from __future__ import annotations

from analysis.pages.scales import narrative
from analysis.pages.scales.catalogue import CATALOGUE
from analysis.reporting import words
from analysis.reporting.output.html import Html, render_template_for_notebook
from analysis.reporting.output.page import Page
from analysis.reporting.words import chance, meaning, verdicts


class ScalesPage(Page):
    """Show the page on rating scales.

    Parameters
    ----------
    run, out
        As for `Page`.
    **options
        Options of the tables: people, examples, resamples, seed.
    """

    protocols, studies = CATALOGUE.protocols, CATALOGUE.studies

    def answer(self) -> Html:
        """Show the answer in words, and what weakens it."""
        frames = {name: self.frame(name) for name in narrative.TABLES}
        by_chance = chance.tabulate_units_with_chance_changes(self.runs)
        return self.render_answer_with_added_cautions(
            narrative.answer_page_question(frames, words.phrase_run_dates(self.runs.info), by_chance),
            meaning.describe_same_meaning_support_for_wordings(self.runs),
        )  # fmt: skip

    def method(self) -> Html:
        """Say in five lines how the numbers were computed."""
        options = self.collect_table_options("scales_moves")
        return render_template_for_notebook(
            "scales/method", resamples=options["resamples"], seed=options["seed"],
            word_meanings=" ".join(narrative.WORD_MEANINGS),
            rules=verdicts.format_verdict_rules_by_name(
                "validity", "interval", "holm", *(["beside people"] if self.options.get("people") else [])
            ),
        )  # fmt: skip
