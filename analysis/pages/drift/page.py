"""Make the parts of the page on changes over time for its notebook."""

from __future__ import annotations

import pandas as pd

from analysis.pages.drift import narrative
from analysis.pages.drift.tables import list_answers_at_every_look
from analysis.reporting import words
from analysis.reporting.catalogue import map_page_names_to_catalogues
from analysis.reporting.output.html import Html, render_template_for_notebook
from analysis.reporting.output.page import Page
from analysis.reporting.words import verdicts
from analysis.statistics.drift import count_windows_of_planned_looks


class DriftPage(Page):
    """Show the page on changes over time.

    Parameters
    ----------
    run, out
        As for `Page`.
    **options
        Options of the tables: looks, examples.
    """

    protocols, over_time = map_page_names_to_catalogues()["drift"].protocols, True

    def answer(self) -> Html:
        """Show the answer in words, and what weakens it."""
        frames = {name: self.frame(name) for name in narrative.TABLES}
        folders = [*self.runs.earlier, *self.runs.folders]
        sessions = [session for folder in folders for session in folder.info["sessions"]]
        when = words.phrase_run_dates({"models": self.runs.info["models"], "sessions": sessions})
        return self.render_answer_with_added_cautions(narrative.answer_page_question(frames, when))

    def list_answers_at_every_look(self) -> pd.DataFrame:
        """List all answers over time: a row per model, condition, measure, look, item and wording with an answer."""
        return list_answers_at_every_look(self.runs)

    def method(self) -> Html:
        """Say in a few lines how the numbers were computed."""
        looks = int(self.collect_table_options("drift_changes")["looks"])
        return render_template_for_notebook(
            "drift/method", looks=looks, n_windows=count_windows_of_planned_looks(looks),
            word_meanings=" ".join(narrative.WORD_MEANINGS), rules=verdicts.format_verdict_rules_by_name("validity"),
        )  # fmt: skip
