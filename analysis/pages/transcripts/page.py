"""Make the parts of the page of examples for its notebook."""

from __future__ import annotations

from typing import Any

import pandas as pd

from analysis.pages.transcripts import narrative
from analysis.reporting.catalogue import map_page_names_to_catalogues
from analysis.reporting.output import steps
from analysis.reporting.output.html import Html, render_template_for_notebook
from analysis.reporting.output.page import Page
from analysis.reporting.words import format_quantity, join_names, labels
from analysis.runs.folder import ORIGINAL

PROMPTS, MODELS, TEXTS = 4, 8, 2  # on the page: per wording, per prompt, per model
LONGEST = 4_000  # characters of a prompt or text on the page
FIRST_MODELS, FIRST_LONGEST = 4, 1_200  # of the transcript that the page, and its card on the index, begin with


class TranscriptsPage(Page):
    """Show single wordings with their prompts and answers; it has no options."""

    protocols = map_page_names_to_catalogues()["transcripts"].protocols

    def answer(self) -> Html:
        """Say what is shown, and what is not known."""
        items = self.frame("transcript_items")
        units = self.runs.sql("SELECT study, model, condition FROM units ORDER BY position")
        return self.render_answer_with_added_cautions(
            narrative.answer_page_question(items, self._rename_conditions_of_prompts_for_readers(), units)
        )

    def first_transcript(self) -> Html:
        """Show one prompt with what came back, before all else: known to the letter, and the original, if possible."""
        row = self._choose_first_prompt()
        wordings = _build_template_fields_of_wordings(row, self._split_answers_by_prompt(), FIRST_MODELS, FIRST_LONGEST)
        card = {"study": row["study"].iloc[0], "item": row["item"].iloc[0], "wordings": wordings}
        return render_template_for_notebook("transcripts/examples", cards=[card], level=2)

    def select_items_that_fit_memory(self, items: pd.DataFrame) -> pd.DataFrame:
        """Return the items whose rows the notebook reads into memory: of too many the first ones, and at least one."""
        return steps.select_items_that_fit_memory(items, self.runs)

    def _rename_conditions_of_prompts_for_readers(self) -> pd.DataFrame:
        """Return the prompts with their conditions as readers are told them."""
        return labels.rename_conditions_for_readers(self.frame("transcript_prompts"), self.runs.info["conditions"])

    def _choose_first_prompt(self) -> pd.DataFrame:
        """Return the row of the prompt that the page begins with."""
        prompts = self._rename_conditions_of_prompts_for_readers()
        known = prompts[prompts["unknown"] == ""] if prompts["unknown"].eq("").any() else prompts
        of_item = known[known[["study", "item"]].eq(known[["study", "item"]].iloc[0]).all(axis=1)]
        return of_item.sort_values("pattern", key=lambda pattern: pattern != ORIGINAL, kind="stable").head(1)

    def _get_first_prompt_number_unless_cut(self) -> Any:
        """Return the number of the prompt that the page begins with, if nothing of it is cut there; else None."""
        row = self._choose_first_prompt().to_dict("records")[0]
        rows = self._split_answers_by_prompt()[row["prompt_number"]]
        short, long = (
            _build_prompt_card(row, rows, *most) for most in ((FIRST_MODELS, FIRST_LONGEST), (MODELS, LONGEST))
        )
        return row["prompt_number"] if short == long else None

    def _split_answers_by_prompt(self) -> dict[Any, pd.DataFrame]:
        """Return the answers to every prompt by its number."""
        return dict(list(self.frame("transcript_answers").groupby("prompt_number", sort=False)))

    def examples(self) -> Html:
        """Show the examples: every wording with its prompts, and every prompt with what came back.

        The prompt that the page begins with is not shown again, unless something of it is cut there.
        """
        above = self._get_first_prompt_number_unless_cut()
        prompts, by_prompt = self._rename_conditions_of_prompts_for_readers(), self._split_answers_by_prompt()
        several = prompts["study"].nunique() > 1
        cards = [
            {"study": study if several else "", "item": item,
             "wordings": _build_template_fields_of_wordings(rows, by_prompt, above=above)}
            for (study, item), rows in prompts.groupby(["study", "item"], sort=False)
        ]  # fmt: skip
        examples = render_template_for_notebook("transcripts/examples", cards=cards, level=3)
        if self.frame("thought_lengths").empty:
            return examples
        return Html(examples.text + self.table("thought_lengths").text)

    def method(self) -> Html:
        """Say how the examples were chosen and what is exact about them."""
        return render_template_for_notebook(
            "transcripts/method", rule=narrative.describe_item_order_rules(self.frame("transcript_items"))
        )


def _build_template_fields_of_wordings(
    rows: pd.DataFrame,
    answers_by_prompt: dict[Any, pd.DataFrame],
    most_models: int = MODELS,
    longest: int = LONGEST,
    above: Any = None,
) -> list[dict[str, Any]]:
    """Build what the template shows of an item's wordings, each with its first prompts without the one above."""
    return [
        {
            **part.iloc[0][["variant", "pattern", "text"]].to_dict(),
            "above": part.loc[part["prompt_number"] == above, "condition"].tolist(),
            "prompts": [
                _build_prompt_card(row, answers_by_prompt[row["prompt_number"]], most_models, longest)
                for row in part[part["prompt_number"] != above].head(PROMPTS).to_dict("records")
            ],
            "left": max(0, int((part["prompt_number"] != above).sum()) - PROMPTS),
        }
        for _, part in rows.groupby("variant", sort=False)
    ]


def _build_prompt_card(row: dict[str, Any], rows: pd.DataFrame, most_models: int, longest: int) -> dict[str, Any]:
    """Build what the template shows of a prompt, with the answers of the first models."""
    return {
        **row,
        "models": join_names([str(name) for name in rows["model"]]),
        "prompt": row["prompt"][:longest],
        "cut": max(0, len(row["prompt"]) - longest),
        "left": max(0, len(rows) - most_models),
        "answers": [
            {"model": answer["model"], "said": answer["said"], "texts": _build_text_cards(answer, longest),
             "left": max(0, len(answer["output"] or ()) - TEXTS), "of": "thought" if answer["thought"] else "text"}
            for answer in rows.head(most_models).to_dict("records")
        ],
    }  # fmt: skip


def _build_text_cards(answer: dict[str, Any], longest: int) -> list[dict[str, Any]]:
    """Build what the template shows of the first texts that a model wrote, each with its thought if there is one."""
    texts, thoughts, tokens = answer["output"] or (), answer["thought"] or (), answer["thought_tokens"] or ()
    return [
        {
            "text": text[:longest],
            "cut_text": max(0, len(text) - longest),
            "thought": thoughts[place][:longest] if thoughts else "",
            "cut": max(0, len(thoughts[place]) - longest) if thoughts else 0,
            "about": f"Thought {place + 1} of {len(thoughts):,}"
            + (f" ({format_quantity(tokens[place], 'token')})" if tokens else "")
            if thoughts
            else "",
        }
        for place, text in enumerate(texts[:TEXTS])
    ]
