"""Make the parts of the page on multiple choice for its notebook."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from analysis.measures.choices import (
    TEXTS,
    drop_repeated_per_byte_rows,
    read_choice_studies,
    require_choice_study_names,
)
from analysis.pages.choice import narrative
from analysis.pages.choice.catalogue import CATALOGUE
from analysis.pages.choice.cautions import describe_text_reading_rules
from analysis.reporting import catalogue, words
from analysis.reporting.output.html import Html, render_missing_content_note, render_template_for_notebook
from analysis.reporting.output.page import Page
from analysis.reporting.words import beyond, chance, labels, meaning, shots, verdicts
from analysis.reporting.words.differences import split_texts_at_differences

MOST_EXAMPLES = 6
"""Pairs shown on the page; the table has those of every model."""


class ChoicePage(Page):
    """Show the page on multiple choice; options: resamples, seed."""

    protocols, studies = CATALOGUE.protocols, CATALOGUE.studies

    @property
    def conditions_scoring_option_texts(self) -> list[str]:
        """List the conditions with the probabilities of the choices' texts, which are read per byte, too."""
        conditions = [fields for study in require_choice_study_names(self.runs) for fields in
                      self.runs.info["conditions"][study].items()]  # fmt: skip
        return [name for name, fields in conditions if fields.get("way") == TEXTS]

    def answer(self) -> Html:
        """Show the answer in words, and what weakens it."""
        frames = {name: self.frame(name) for name in narrative.TABLES}
        masks = [study.asked_mask for study in read_choice_studies(self.runs)]
        wordings, orders = (
            pd.Series(np.concatenate([mask.any(axis=axis_of_other).sum(axis=1) for mask in masks]))
            for axis_of_other in (2, 1)
        )
        size = self._count_distinct_questions(), wordings, orders
        return self.render_answer_with_added_cautions(narrative.answer_page_question(
            frames, size, words.phrase_run_dates(self.runs.info),
            beyond.describe_differences_beyond_rewording(self.runs),
            chance.tabulate_units_with_chance_changes(self.runs),
            beyond.has_study_with_wordings_shared_by_items(self.runs),
            shots.find_studies_whose_wordings_are_example_counts(self.runs),
        ), meaning.describe_same_meaning_support_for_wordings(self.runs))  # fmt: skip

    def _count_distinct_questions(self) -> int:
        """Count the questions; one that two studies ask, such as before and after a tuning, counts once."""
        sql = """
            SELECT count(DISTINCT (item, text)) FROM (
                SELECT item, arg_min(text, position) AS text FROM stimuli SEMI JOIN responses USING (study, item)
                WHERE study IN (SELECT unnest(?)) GROUP BY study, item)"""
        return int(self.runs.execute(sql, [require_choice_study_names(self.runs)]).fetchall()[0][0])

    def examples(self) -> Html:
        """Show questions that are answered rightly, and wrongly in other words or another order."""
        frame = self.frame("choice_examples")
        if frame.empty:
            return render_missing_content_note(
                "No model is right in one wording or order and chooses wrongly in another."
            )
        units = self.frame("choice")[labels.UNIT].drop_duplicates()  # of some rows, a label may lack the study
        first_examples = frame.merge(units.assign(label=labels.build_row_labels(units))).head(MOST_EXAMPLES)
        n_left = len(frame) - len(first_examples)
        left_out = f"{words.format_quantity(n_left, 'more pair')} in the table." if n_left else ""
        pairs = [_build_example_pair(row) for _, row in first_examples.iterrows()]
        caption = catalogue.look_up_table("choice_examples").caption
        return render_template_for_notebook("examples", pairs=pairs, caption=caption, left_out=left_out)

    def method(self) -> Html:
        """Say in five lines how the numbers were computed."""
        options = self.collect_table_options("choice")
        table = self.frame("choice")
        all_question_rows = drop_repeated_per_byte_rows(narrative.select_rows_over_all_questions(table))
        return render_template_for_notebook(
            "choice/method", resamples=options["resamples"], no_choice=int(all_question_rows["no_choice"].sum()),
            answers=int(all_question_rows["n"].sum()),
            readings=" ".join(describe_text_reading_rules(all_question_rows)),
            word_meanings=" ".join(narrative.WORD_MEANINGS),
            rules=verdicts.format_verdict_rules_by_name("validity", "interval", "chance", "several", "change", "holm",
                                                  "beyond"),
        )  # fmt: skip


def _build_example_pair(row: pd.Series) -> dict[str, Any]:
    """Build what the template shows of a question before and after: marked differences, choice, right one."""
    wordings = []
    for pieces, side in zip(
        split_texts_at_differences(row["text_before"], row["text_after"]), ("before", "after"), strict=True
    ):
        has_order = isinstance(row[f"order_{side}"], str)
        order = f"choices of the file shown in the order {', '.join(row[f'order_{side}'])}" if has_order else ""
        right = "right" if row[f"said_{side}"] == row["right"] else f"right: {row['right']}"
        wordings.append({"pieces": pieces, "answer": row[f"said_{side}"],
                         "agreement": "; ".join(filter(None, (right, order))),
                         "percent": f"{100.0 * (side == 'before'):.1f}"})  # fmt: skip
    return {"label": f"{row['label']}, {row['change']}", "item": row["item"], "wordings": wordings}
