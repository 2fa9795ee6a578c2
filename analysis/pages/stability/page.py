"""Make the parts of the page on stability for its notebook."""

from __future__ import annotations

from typing import Any

import pandas as pd

from analysis.pages.stability import narrative, one_row
from analysis.pages.stability.catalogue import CATALOGUE
from analysis.pages.stability.tables import MOST_PAIRS
from analysis.reporting import catalogue, words
from analysis.reporting.catalogue import look_up_column, orders
from analysis.reporting.catalogue.columns import format_value_by_column
from analysis.reporting.catalogue.selection import AnswerPair
from analysis.reporting.output.html import Html, render_missing_content_note, render_template_for_notebook
from analysis.reporting.output.page import Page
from analysis.reporting.words import beyond, chance, labels, meaning, verdicts
from analysis.reporting.words.differences import split_texts_at_differences


class StabilityPage(Page):
    """Show the page on agreement with paraphrases; options: thresholds, invalid, k, examples, resamples, seed,
    measures."""

    protocols, studies, of_agreement = CATALOGUE.protocols, CATALOGUE.studies, CATALOGUE.of_agreement

    def answer(self) -> Html:
        """Show the answer in words, and what weakens it."""
        frames = {name: self.frame(name) for name in narrative.TABLES}
        frames |= {
            "stability": self.frames.build_table_with_joined_option_orders("stability"),
            "pairs": one_row.pool_differences_over_option_orders(self.frames),
        }
        by_chance = chance.tabulate_units_with_chance_changes(self.runs)
        return self.render_answer_with_added_cautions(narrative.answer_page_question(
            **frames, choice=self.choice, when=words.phrase_run_dates(self.runs.info),
            beyond=self.choice.rewrite_agreement_text_for_answers(beyond.describe_differences_beyond_rewording(self.runs)),
            shared=beyond.has_study_with_wordings_shared_by_items(self.runs),
            by_chance=orders.rename_conditions_like_joined_table(
                by_chance, frames["stability"], self.runs.info["conditions"]),
            convention=self.collect_table_options("stability")["invalid"],
        ), meaning.describe_same_meaning_support_for_wordings(self.runs))  # fmt: skip

    def describe_texts_against_probabilities(self) -> str:
        """Say whether the models write what their probabilities say; return "" where no text was asked for."""
        frame = self.frames.build_table_with_joined_option_orders("answers")
        return (
            ""
            if frame.empty
            else narrative.describe_text_probability_mismatches(self._label_rows_as_on_page(frame), self.choice)
        )

    def _label_rows_as_on_page(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Add column `label`: of some rows of a page alone, it may lack the study or the condition."""
        units = pd.concat([self.frames.build_table_with_joined_option_orders("stability"), rows])[labels.UNIT]
        units = units.drop_duplicates()
        return rows.merge(units.assign(label=labels.build_row_labels(units)))

    def examples(self) -> Html:
        """Show the two wordings of one item that each judged model answers most differently, with both answers."""
        if self.frame("divergent").empty:
            return render_missing_content_note(
                f"No item has two paraphrases with a defined {self.choice.measure_phrase}."
            )
        frame = one_row.select_divergent_wordings_of_judged_models(self.frames)
        if frame.empty:
            return render_missing_content_note("No model with such a pair is judged, so none is shown.")
        frame = self._label_rows_as_on_page(frame)
        has_two_answers = (frame["low_agreement"] >= 0.5) != (frame["high_agreement"] >= 0.5)
        left_out_text = narrative.describe_models_unmoved_by_two_wordings(frame[~has_two_answers])
        if not has_two_answers.any():
            return render_missing_content_note(left_out_text)
        pairs = [_build_template_data_of_wording_pair(row, self.choice) for _, row in frame[has_two_answers].iterrows()]
        caption = self.choice.rewrite_agreement_text_for_answers(catalogue.look_up_table("divergent").caption)
        if orders.explain_option_orders_shown_as_mean(self.runs.info["conditions"], frame):
            caption += (
                " Where no clear difference between both orders of the options was found, the one with the larger "
                "range is shown."
            )
        return render_template_for_notebook("examples", pairs=pairs, caption=caption, left_out=left_out_text)

    def method(self) -> Html:
        """Say in a few lines how the numbers were computed."""
        options = self.collect_table_options("stability")
        excluded = narrative.describe_counts_of_excluded_items_and_answers(
            self.frame("excluded"), self.frame("invalid"), self.choice, options["invalid"]
        )
        return render_template_for_notebook(
            "stability/method", choice=self.choice, resamples=options["resamples"], seed=options["seed"],
            excluded=excluded, invalid=options["invalid"], word_meanings=narrative.WORD_MEANINGS, most_pairs=MOST_PAIRS,
            rules=verdicts.format_verdict_rules_by_name("validity", "interval", "chance", "holm", "beyond"),
        )  # fmt: skip


def _build_template_data_of_wording_pair(row: pd.Series, choice: AnswerPair) -> dict[str, Any]:
    """Build what the template shows of an item's two wordings: text with marked differences, answer and agreement."""
    wordings = []
    for side, pieces in zip(
        ("low", "high"), split_texts_at_differences(row["low_text"], row["high_text"]), strict=True
    ):
        share = row[f"{side}_agreement"]
        answer = choice.first if share >= 0.5 else choice.second
        number = format_value_by_column(share, look_up_column("divergent", f"{side}_agreement"))
        wordings.append({"pieces": pieces, "answer": answer, "agreement": number, "percent": f"{100 * share:.1f}"})
    return {"label": row["label"], "item": row["item"], "wordings": wordings}
