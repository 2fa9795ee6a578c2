"""Make the parts of the page on scores of any kind for its notebook."""

from __future__ import annotations

from analysis.pages.scored import narrative
from analysis.pages.scored.catalogue import CATALOGUE
from analysis.reporting import words
from analysis.reporting.output.html import Html, render_template_for_notebook
from analysis.reporting.output.page import Page
from analysis.reporting.words import beyond, chance, verdicts


class ScoredPage(Page):
    """Show the page on scores.

    Parameters
    ----------
    run, out
        As for `Page`.
    **options
        Options of the tables: passing, examples, resamples, seed.
    """

    protocols, studies = CATALOGUE.protocols, CATALOGUE.studies

    def answer(self) -> Html:
        """Show the answer in words, and what weakens it."""
        frames = {name: self.frame(name) for name in narrative.TABLES}
        sentence = beyond.describe_differences_beyond_rewording(self.runs)
        by_chance = chance.tabulate_units_with_chance_changes(self.runs)
        when = words.phrase_run_dates(self.runs.info)
        return self.render_answer_with_added_cautions(narrative.answer_page_question(frames, when, sentence, by_chance))

    def method(self) -> Html:
        """Say in five lines how the numbers were computed."""
        options = self.collect_table_options("scored_spread")
        means = self.frame("scored_means")
        return render_template_for_notebook(
            "scored/method", passing=options["passing"], resamples=options["resamples"], seed=options["seed"],
            lower=list(means.loc[means["direction"] == "lower", "measure"].unique()),
            word_meanings=" ".join(narrative.WORD_MEANINGS), rules=verdicts.format_verdict_rules_by_name(
                "validity", "interval", "chance", "beyond"),
        )  # fmt: skip
