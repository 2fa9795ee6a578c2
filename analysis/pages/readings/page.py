"""Make the parts of the page on readings for its notebook."""

from __future__ import annotations

from analysis.measures.readings import read_reading_groups
from analysis.pages.readings import narrative
from analysis.reporting import words
from analysis.reporting.catalogue import map_page_names_to_catalogues
from analysis.reporting.output.html import Html, render_template_for_notebook
from analysis.reporting.output.page import Page
from analysis.reporting.words import verdicts
from analysis.statistics.readings.sharing import LEAST_OWN

LONGEST = 1_200  # characters of a text on the page


class ReadingsPage(Page):
    """Show the page on readings; options: sheet, reading, resamples, seed."""

    protocols = map_page_names_to_catalogues()["readings"].protocols

    def answer(self) -> Html:
        """Show the answer in words, and what weakens it."""
        frames = {name: self.frame(name) for name in narrative.TABLES}
        return self.render_answer_with_added_cautions(
            narrative.answer_page_question(frames, words.phrase_run_dates(self.runs.info))
        )

    def examples(self) -> Html:
        """Show the texts that readings take most differently."""
        rows = self.frame("reading_examples").sort_values("distance", ascending=False, kind="stable")
        rows = rows.drop_duplicates(["study", "model", "item", "variant", "output"]).head(6)  # in two orders of options
        readings = self.frame("readings")
        cards = [
            {**row, "setting": narrative.name_setting_with_study(readings, row), "output": str(row["output"])[:LONGEST],
             "readings": row["readings_of_text"].split("; ")}
            for row in rows.to_dict("records")
        ]  # fmt: skip
        return render_template_for_notebook("readings/examples", cards=cards)

    def method(self) -> Html:
        """Say in a few lines how the numbers were computed."""
        options = self.collect_table_options("readings")
        groups = read_reading_groups(self.runs)
        left_out = sum(
            group.count_common_and_partial_wordings(places)[1]
            for group in groups
            if (places := group.list_mostly_valid_readings())
        )
        return render_template_for_notebook(
            "readings/method", word_meanings=" ".join(narrative.WORD_MEANINGS), left_out=left_out,
            least=round(100 * LEAST_OWN), resamples=options["resamples"], seed=options["seed"],
            rules=verdicts.format_verdict_rules_by_name("validity", "kept", "artefact"),
        )  # fmt: skip
