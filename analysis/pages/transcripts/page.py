"""Make the parts of the page of examples for its notebook."""

from __future__ import annotations

from typing import Any

import pandas as pd

from analysis.pages.transcripts import narrative
from analysis.pages.transcripts.catalogue import RULE
from analysis.reporting.catalogue import list_pages
from analysis.reporting.output.html import Html, render_fragment
from analysis.reporting.output.page import Page
from analysis.reporting.words import format_quantity, join_names

PROMPTS, MODELS, TEXTS = 4, 8, 2  # on the page: per wording, per prompt, per model
LONGEST = 4_000  # characters of a prompt or text on the page


class TranscriptsPage(Page):
    """Show single wordings with their prompts and answers; it has no options."""

    protocols = list_pages()["transcripts"].protocols

    def answer(self) -> Html:
        """Say what is shown, and what is not known."""
        names = ("transcript_items", "transcript_prompts", "transcript_answers")
        return self.show_answer(narrative.answer_question(*(self.frame(name) for name in names)))

    def examples(self) -> Html:
        """Show the examples: every wording with its prompts, and every prompt with what came back."""
        prompts, answers = self.frame("transcript_prompts"), self.frame("transcript_answers")
        by_prompt = dict(list(answers.groupby("prompt_number", sort=False)))
        several = prompts["study"].nunique() > 1
        cards = [
            {"study": study if several else "", "item": item, "wordings": _build_wording_cards(rows, by_prompt)}
            for (study, item), rows in prompts.groupby(["study", "item"], sort=False)
        ]
        examples = render_fragment("transcripts/examples", cards=cards)
        if self.frame("thought_lengths").empty:
            return examples
        return Html(examples.text + self.table("thought_lengths").text)

    def method(self) -> Html:
        """Say how the examples were chosen and what is exact about them."""
        return render_fragment("transcripts/method", rule=RULE)


def _build_wording_cards(rows: pd.DataFrame, answers_by_prompt: dict[Any, pd.DataFrame]) -> list[dict[str, Any]]:
    """Build what the template shows of an item's wordings, each with its first prompts."""
    return [
        {
            "variant": variant,
            "pattern": part["pattern"].iloc[0],
            "text": part["text"].iloc[0],
            "prompts": [_build_prompt_card(row, answers_by_prompt) for row in part.head(PROMPTS).to_dict("records")],
            "left": max(0, len(part) - PROMPTS),
        }
        for variant, part in rows.groupby("variant", sort=False)
    ]


def _build_prompt_card(row: dict[str, Any], answers_by_prompt: dict[Any, pd.DataFrame]) -> dict[str, Any]:
    """Build what the template shows of a prompt, with the answers of the first models."""
    rows = answers_by_prompt[row["prompt_number"]]
    return {
        **row,
        "models": join_names([str(name) for name in rows["model"]]),
        "prompt": row["prompt"][:LONGEST],
        "cut": max(0, len(row["prompt"]) - LONGEST),
        "left": max(0, len(rows) - MODELS),
        "answers": [
            {
                "model": answer["model"],
                "said": answer["said"],
                "texts": _build_text_cards(answer),
                "left": max(0, len(answer["output"] or ()) - TEXTS),
                "of": "thought" if answer["thought"] else "text",
            }
            for answer in rows.head(MODELS).to_dict("records")
        ],
    }


def _build_text_cards(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """Build what the template shows of the first texts that a model wrote, each with its thought if there is one."""
    texts, thoughts, tokens = answer["output"] or (), answer["thought"] or (), answer["thought_tokens"] or ()
    return [
        {
            "text": text[:LONGEST],
            "thought": thoughts[place][:LONGEST] if thoughts else "",
            "cut": max(0, len(thoughts[place]) - LONGEST) if thoughts else 0,
            "about": f"Thought {place + 1} of {len(thoughts):,}"
            + (f" ({format_quantity(tokens[place], 'token')})" if tokens else "")
            if thoughts
            else "",
        }
        for place, text in enumerate(texts[:TEXTS])
    ]
