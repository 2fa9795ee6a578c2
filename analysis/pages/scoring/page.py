"""Make the parts of the page on scores for its notebook."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.measures.reworded.scores import name_setting_and_prompt_per_condition
from analysis.measures.scores import GOLD, read_scores
from analysis.pages.scoring import narrative
from analysis.pages.scoring.catalogue import CATALOGUE
from analysis.pages.scoring.items import choose_headline_setting, select_setting_rows
from analysis.reporting import words
from analysis.reporting.output.exploring import Run
from analysis.reporting.output.html import Html, render_template_for_notebook
from analysis.reporting.output.page import Page
from analysis.reporting.words import beyond, verdicts

TABLES = (
    "scores", "score_differences", "score_ranges", "score_influence", "score_methods", "score_conventions",
    "score_items",
)  # fmt: skip


class ScoringPage(Page):
    """Show the page on scores.

    Parameters
    ----------
    run, out
        As of `Page`.
    setting
        Range, temperature and method that sentences and figures are about, such as "0-9/0.7/sampled". Empty: the range
        that was asked first, sampled scores where there are some, and the temperature nearest to 0.7.
    **options
        Options of the tables: biased, invalid, resamples, seed.
    """

    protocols, studies = CATALOGUE.protocols, CATALOGUE.studies

    def __init__(
        self, run: Run | Sequence[str], out: str | Path | None = None, *, setting: str = "", **options: Any
    ) -> None:
        super().__init__(run, out, **options)
        self.setting = choose_headline_setting(read_scores(self.runs), setting)
        self.options |= {"setting": self.setting}

    def answer(self) -> Html:
        """Show the answer in words, and what weakens it."""
        frames = {name: self.frame(name) for name in TABLES}
        return self.render_answer_with_added_cautions(
            narrative.answer_page_question(
                frames,
                self.setting,
                words.phrase_run_dates(self.runs.info),
                self._describe_model_differences_above_prompt_effect(),
            )
        )

    def _describe_model_differences_above_prompt_effect(self) -> str:
        """Say which differences in the page's setting are more than another prompt makes; empty for one prompt."""
        setting_conditions = select_setting_rows(read_scores(self.runs), self.setting)[
            ["study", "condition"]
        ].drop_duplicates()
        names_by_study = {
            study: name_setting_and_prompt_per_condition(self.runs.info["conditions"][study])[0]
            for study in setting_conditions["study"].unique()
        }
        return beyond.describe_differences_beyond_rewording(
            self.runs, {names_by_study[study][name] for study, name in setting_conditions.itertuples(index=False)}
        )

    def select_rows_in_page_setting(self, table_name: str) -> pd.DataFrame:
        """Return the rows of a table in the page's setting."""
        return select_setting_rows(self.frame(table_name), self.setting)

    def method(self) -> Html:
        """Say in a few lines how the numbers were computed."""
        options = self.collect_table_options("scores")
        models = self.frame("scores")
        models = models[models["model"] != GOLD]
        return render_template_for_notebook(
            "scoring/method", biased=options["biased"], resamples=options["resamples"], seed=options["seed"],
                invalid=options["invalid"], word_meanings=" ".join(narrative.WORD_MEANINGS),
                rules=verdicts.format_verdict_rules_by_name("validity", "interval", "several", "people", "holm",
                                    *(["beyond"] if self._describe_model_differences_above_prompt_effect() else [])),
                dropped=int(models["dropped"].sum()), clipped=int(models["clipped"].sum()),
                unscored=int(models["unscored"].sum()), failed=int(models["no_response"].sum()),
            )  # fmt: skip
