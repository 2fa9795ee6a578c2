"""Make the parts of the page on meaning for its notebook."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.measures.meaning import read_meaning_checks_of_studies
from analysis.pages.meaning import narrative
from analysis.pages.meaning.catalogue import CATALOGUE
from analysis.reporting import words
from analysis.reporting.catalogue.frames import Frames
from analysis.reporting.output.exploring import Run
from analysis.reporting.output.html import Html, render_missing_content_note, render_template_for_notebook
from analysis.reporting.output.page import Page
from analysis.reporting.words import chance, meaning, verdicts
from analysis.reporting.words.differences import split_texts_at_differences
from ground.meaning.separation import ALLOWED
from ground.meaning.verdicts import ANOTHER, LEAST_AUC, LEAST_SHARE, LOST

MOST_EXAMPLES = 6
"""Wordings shown on the page; the table has all."""


class MeaningPage(Page):
    """Show the page on the meaning of wordings.

    Parameters
    ----------
    run, out
        As for `Page`.
    **options
        Options of the tables: resamples, seed.
    """

    protocols, studies = CATALOGUE.protocols, CATALOGUE.studies

    def __init__(self, run: Run | Sequence[str], out: str | Path | None = None, **options: Any) -> None:
        super().__init__(run, out, **options)
        # What weakens the answers of other studies is nothing that this page says.
        self.runs = (
            self.runs.select_studies({checked.study for checked in read_meaning_checks_of_studies(self.runs)})
            or self.runs
        )
        self.frames = Frames(self.runs, self.options, self._write_table_files_unless_borrowed)

    def answer(self) -> Html:
        """Show the answer in words, and what weakens it."""
        frames = {name: self.frame(name) for name in narrative.TABLES}
        by_chance = chance.tabulate_units_with_chance_changes(self.runs)
        return self.render_answer_with_added_cautions(
            narrative.answer_page_question(frames, words.phrase_run_dates(self.runs.info), by_chance)
        )

    def examples(self) -> Html:
        """Show wordings that were judged to mean something else, with scores and votes."""
        meanings = self.frame("meanings")
        judged = meanings[meanings["meaning"] == ANOTHER]
        if judged.empty:
            return render_missing_content_note("No wording was judged to mean something else.")
        rows = judged.sort_values("meaning_score", kind="stable", na_position="last").groupby(
            ["study", "item"], sort=False
        ).head(1)  # fmt: skip
        shown = rows.head(MOST_EXAMPLES)
        originals = self.runs.sql(
            "SELECT study, item, arg_min(text, position) AS original FROM stimuli WHERE pattern = 'original' "
            "GROUP BY ALL"
        )
        pairs = [
            _build_example_pair(row)
            for row in shown.merge(originals, on=["study", "item"], how="left").to_dict("records")
        ]
        n_left = len(judged) - len(shown)
        left_out = f"{words.format_quantity(n_left, 'more such wording')} in the table." if n_left else ""
        caption = (
            "Wordings judged to mean something else than the original, of every item the one with the lowest score."
        )
        return render_template_for_notebook("examples", pairs=pairs, caption=caption, left_out=left_out)

    def method(self) -> Html:
        """Say in five lines how the numbers were computed."""
        options = self.collect_table_options("meaning_flips")
        return render_template_for_notebook(
            "meaning/method", resamples=options["resamples"], seed=options["seed"], allowed=ALLOWED,
            least_auc=LEAST_AUC, least_share=LEAST_SHARE, lost=LOST, word_meanings=" ".join(meaning.RULES),
            rules=verdicts.format_verdict_rules_by_name("validity", "interval", "chance", "fit"),
        )  # fmt: skip


def _build_example_pair(row: dict[str, Any]) -> dict[str, Any]:
    """Build what the template `examples` shows of a wording beside its original: marked differences, score, votes."""
    pieces_of_both = split_texts_at_differences(str(row["original"]), row["text"])
    n_votes = np.nan_to_num(row["votes_yes"] + row["votes_no"])  # missing where nobody has a sheet
    people = words.format_quantity(int(n_votes), "person", "people")
    votes = f"{int(row['votes_yes'])} of {people}: the same" if n_votes else ""
    has_score = pd.notna(row["meaning_score"])
    score = f"score {row['meaning_score']:.3f}" if has_score else ""
    wordings = [
        {"pieces": pieces_of_both[0], "answer": "original", "agreement": "", "percent": "100.0"},
        {"pieces": pieces_of_both[1], "answer": "judged another meaning",
         "agreement": "; ".join(filter(None, (score, votes))),
         "percent": f"{100 * min(1.0, max(0.0, row['meaning_score'])) if has_score else 0.0:.1f}"},
    ]  # fmt: skip
    return {"label": row["variant"], "item": row["item"], "wordings": wordings}
