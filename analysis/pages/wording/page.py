"""Make the parts of the page on wording for its notebook."""

from __future__ import annotations

from typing import Any

import pandas as pd

from analysis.pages.wording import narrative
from analysis.pages.wording.catalogue import CATALOGUE
from analysis.pages.wording.columns import WORDS
from analysis.reporting import catalogue, words
from analysis.reporting.catalogue import look_up_column
from analysis.reporting.catalogue.columns import format_value_by_column
from analysis.reporting.catalogue.selection import build_answer_pair_of_studies
from analysis.reporting.output.html import Html, render_missing_content_note, render_template_for_notebook
from analysis.reporting.output.page import Page
from analysis.reporting.words import beyond, chance, labels, meaning, verdicts
from analysis.reporting.words.differences import split_texts_at_differences


class WordingPage(Page):
    """Show the page on the wording of yes/no questions; options: invalid, resamples, seed."""

    protocols, studies = CATALOGUE.protocols, CATALOGUE.studies

    def answer(self) -> Html:
        """Show the answer in words, and what weakens it."""
        frames = {name: self.frame(name) for name in narrative.TABLES}
        return self.render_answer_with_added_cautions(narrative.answer_page_question(
            frames, words.phrase_run_dates(self.runs.info), build_answer_pair_of_studies(self.runs.info),
            beyond.describe_differences_beyond_rewording(self.runs),
            chance.tabulate_units_with_chance_changes(self.runs),
        ), meaning.describe_same_meaning_support_for_wordings(self.runs))  # fmt: skip

    def examples(self) -> Html:
        """Show for every model the two wordings with the strongest contradiction between its answers."""
        frame = self.frame("turned")
        if frame.empty:
            return render_missing_content_note("No model contradicts itself between two valid answers.")
        units = self.frame("consistency")[labels.UNIT].drop_duplicates()  # of some rows, a label may lack the study
        frame = frame.merge(units.assign(label=labels.build_row_labels(units)))
        pairs = [_build_contradictory_answers_example(row) for _, row in frame.iterrows()]
        return render_template_for_notebook(
            "examples", pairs=pairs, caption=catalogue.look_up_table("turned").caption, left_out=""
        )

    def method(self) -> Html:
        """Say how the numbers were computed."""
        options = self.collect_table_options("consistency")
        failed = int(self.runs.execute("SELECT count(*) FROM errors").fetchall()[0][0])
        rules = verdicts.format_verdict_rules_by_name(
            "validity", "interval", "chance", "several", "spread", "change", "holm", "beyond"
        )
        return render_template_for_notebook(
            "wording/method", invalid=options["invalid"], resamples=options["resamples"], seed=options["seed"],
            failed=failed, word_meanings=" ".join(narrative.WORD_MEANINGS), rules=rules,
        )  # fmt: skip


def _build_contradictory_answers_example(row: pd.Series) -> dict[str, Any]:
    """Build what the template `examples` shows of two wordings with contradictory answers."""
    wordings = []
    original, reworded = split_texts_at_differences(row["text_original"], row["text_reworded"])
    for pieces, answer, share in (
        (original, row["answer_original"], row["p_original"]),
        (reworded, row["answer_reworded"], row["p_yes"]),
    ):
        has_probability = pd.notna(share)
        length = 100 * share if has_probability else 100.0 * (answer == "Yes")
        number = f"p(Yes) {format_value_by_column(share, look_up_column('turned', 'p_yes'))}" if has_probability else ""
        wordings.append({"pieces": pieces, "answer": answer, "agreement": number, "percent": f"{length:.1f}"})
    return {"label": f"{row['label']}, {WORDS[row['pattern']]}", "item": row["item"], "wordings": wordings}
