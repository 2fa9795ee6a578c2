"""Write the sentences of the page: which examples stand on it, and what is not known about them."""

from __future__ import annotations

import pandas as pd

from analysis.reporting.words import Answer, format_quantity, join_names
from analysis.reporting.words.counts import phrase_asked_models

AXES = {"spread": "Distance of wordings", "score": "Mean score"}
ORDER_MEANINGS = {
    "spread": "how far the two most different wordings of the item are apart in the share of the first answer",
    "score": "its score as a share of the way from the lower to the upper end of the scale",
}
KINDS = {
    "spread": "the item whose wordings are answered most differently, a middle one, and the one answered most alike",
    "score": "the items with the highest, a middle and the lowest mean score",
    "": "the first items, because nothing orders them",
}


def answer_question(items: pd.DataFrame, prompts: pd.DataFrame, answers: pd.DataFrame) -> Answer:
    """Say what was asked, and what is shown of it.

    Parameters
    ----------
    items, prompts, answers
        Tables `transcript_items`, `transcript_prompts` and `transcript_answers`.

    Returns
    -------
    Answer
        What the page says in words.
    """
    setup_sentence = f"{phrase_asked_models(answers)} asked about {format_quantity(len(items), 'item')}."
    examples = items[items["shown"] != ""]
    is_known = prompts["unknown"] == ""
    parts_text = "prompts and answers" if is_known.any() else "answers"
    verdict = f"The page shows {format_quantity(len(examples), 'item')} with {parts_text}, word for word."
    details = {"transcript_items": tuple(_describe_example_rules(examples))}
    return Answer(
        setup_sentence, verdict, cautions=tuple(_describe_unknown_prompts(prompts[~is_known])), details=details
    )


def _describe_example_rules(examples: pd.DataFrame) -> list[str]:
    """Say by which rule the examples were chosen."""
    by_study = examples.drop_duplicates("study")
    several = len(by_study) > 1
    return [f"{f'Of “{row.study}”: ' if several else 'Shown: '}{KINDS[row.measure]}." for row in by_study.itertuples()]


def _describe_unknown_prompts(prompts: pd.DataFrame) -> list[str]:
    """Say which prompts are not known, and why."""
    sentences = []
    for reason, rows in prompts.groupby("unknown", sort=False):
        conditions = join_names(list(rows["condition"].unique()))
        sentences.append(f"The prompts of {conditions} are not shown, because {reason}.")
    return sentences
