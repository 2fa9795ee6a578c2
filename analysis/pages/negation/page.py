"""Make the parts of the page on negation for its notebook."""

from __future__ import annotations

from typing import Any

import pandas as pd

from analysis.pages.negation import narrative
from analysis.pages.negation.catalogue import CATALOGUE
from analysis.pages.negation.figures import compute_valid_shares
from analysis.reporting import catalogue, words
from analysis.reporting.catalogue import look_up_column
from analysis.reporting.catalogue.columns import format_value_by_column
from analysis.reporting.output.html import Html, render_missing_content_note, render_template_for_notebook
from analysis.reporting.output.page import Page
from analysis.reporting.words import verdicts
from analysis.reporting.words.differences import split_texts_at_differences

MOST_EXAMPLES = 12
"""Pairs shown on the page; the table has one of each kind for every model."""


class NegationPage(Page):
    """Show the page on negation; options: resamples, seed."""

    protocols, studies = CATALOGUE.protocols, CATALOGUE.studies

    def answer(self) -> Html:
        """Show the answer in words, and what weakens it."""
        frames = {name: self.frame(name) for name in narrative.TABLES}
        return self.render_answer_with_added_cautions(
            narrative.answer_page_question(frames, words.phrase_run_dates(self.runs.info))
        )

    def examples(self) -> Html:
        """Show the pairs where a negation costs most: right without it, wrong with it."""
        frame = self.frame("negation_worst")
        if frame.empty:
            return render_missing_content_note("No model is right without a negation and wrong with it.")
        frame = frame.merge(compute_valid_shares(self.frame("negation_accuracy"))).head(MOST_EXAMPLES)
        n_left = len(self.frame("negation_worst")) - len(frame)
        left_out = f"{words.format_quantity(n_left, 'more pair')} in the table." if n_left else ""
        pairs = [_build_negation_example(row) for _, row in frame.iterrows()]
        caption = catalogue.look_up_table("negation_worst").caption
        return render_template_for_notebook("examples", pairs=pairs, caption=caption, left_out=left_out)

    def method(self) -> Html:
        """Say in a few lines how the numbers were computed."""
        options = self.collect_table_options("minimal_pairs")
        failed = int(self.runs.execute("SELECT count(*) FROM errors").fetchall()[0][0])
        return render_template_for_notebook(
            "negation/method", resamples=options["resamples"], failed=failed,
            word_meanings=" ".join(narrative.WORD_MEANINGS),
            rules=verdicts.format_verdict_rules_by_name("validity", "interval"),
        )  # fmt: skip


def _build_negation_example(row: pd.Series) -> dict[str, Any]:
    """Build what the template `examples` shows of a pair without and with its negation."""
    before, after = (f"{row[f'premise_{side}']} → {row[f'hypothesis_{side}']}" for side in ("before", "after"))
    wordings = []
    for pieces, side in zip(split_texts_at_differences(before, after), ("before", "after"), strict=True):
        said_label, right, share = row[f"said_{side}"], row[f"label_{side}"], row[f"p_{side}"]
        has_share = pd.notna(share)
        number = (
            f", p(right) {format_value_by_column(share, look_up_column('negation_worst', 'p_before'))}"
            if has_share
            else ""
        )
        length = 100 * share if has_share else 100.0 * (said_label == right)
        answer = "no valid answer" if pd.isna(said_label) else said_label
        wordings.append({"pieces": pieces, "answer": answer, "agreement": f"right: {right}{number}",
                         "percent": f"{length:.1f}"})  # fmt: skip
    return {"label": f"{row['name']}, {row['pairs']}", "item": row["item"], "wordings": wordings}
