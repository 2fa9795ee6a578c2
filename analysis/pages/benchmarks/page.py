"""Make the parts of the page on benchmarks for its notebook."""

from __future__ import annotations

import pandas as pd

from analysis.pages.benchmarks import narrative
from analysis.pages.benchmarks.catalogue import CATALOGUE
from analysis.pages.benchmarks.measures import name_study_beside_all
from analysis.pages.benchmarks.model_facts import SIZE, build_model_facts, read_score_file_once
from analysis.reporting import words
from analysis.reporting.catalogue import map_page_names_to_catalogues
from analysis.reporting.output.html import Html, render_template_for_notebook
from analysis.reporting.output.page import Page
from analysis.reporting.words import verdicts


class BenchmarksPage(Page):
    """Show the page on what correlates over models; options: scores and what is used of them, aliases, invalid."""

    protocols, studies = map_page_names_to_catalogues()["benchmarks"].protocols, CATALOGUE.studies

    def answer(self) -> Html:
        """Show the answer in words, and what weakens it."""
        frames = {name: self.frame(name) for name in narrative.TABLES}
        rows = self.runs.execute("SELECT study, count(DISTINCT item) FROM stimuli GROUP BY study ORDER BY study")
        item_counts = pd.Series(dict(rows.fetchall())).rename(name_study_beside_all)  # as the tables do
        when = words.phrase_run_dates(self.runs.info)
        return self.render_answer_with_added_cautions(narrative.answer_page_question(frames, when, item_counts))

    def method(self) -> Html:
        """Say in a few lines how the numbers were computed."""
        return render_template_for_notebook(
            "benchmarks/method", rules=verdicts.format_verdict_rules_by_name("validity", "holm")
        )

    def list_model_facts(self) -> pd.DataFrame:
        """Return what the measures are correlated with: a row per model, its parameters (log10) and its benchmarks."""
        options = {name: self.options.get(name, "") for name in ("scores", "score_columns", "score_rows", "aliases")}
        facts = build_model_facts(self.runs, read_score_file_once(self.runs, *options.values()), options["aliases"])
        return pd.DataFrame({SIZE: facts.size, **dict(facts.benchmarks.items())})

    def list_footer_entries(self) -> list[tuple[str, list[str]]]:
        """Return the entries at the foot of the page, with the file of scores."""
        entries = super().list_footer_entries()
        scores = read_score_file_once(
            self.runs, *(self.options.get(name, "") for name in ("scores", "score_columns", "score_rows"))
        )
        if scores is not None:
            used = f"benchmarks: {', '.join(scores.frame)}"
            ignored = f"; not used: {', '.join(scores.ignored)}" if scores.ignored else ""
            entries.insert(1, ("Scores", [scores.source, scores.joined_row_count_sentence, used + ignored]))
        return entries
