"""Write the sentences of the page: which examples stand on it, and what is not known about them."""

from __future__ import annotations

import pandas as pd

from analysis.reporting.words import Answer, format_quantity, join_names
from analysis.reporting.words.counts import phrase_models_with_verb
from analysis.reporting.words.doubts import LEFT_OUT, Caution
from ground.capitals import capitalise_sentence

AXES = {"spread": "Distance of wordings", "score": "Mean score"}
ORDER_MEANINGS = {
    "spread": "how far the two most different wordings of the item are apart in the share of the first answer",
    "score": "its score as a share of the way from the lower to the upper end of the scale",
}
# By measure, what is shown of one, two and three items that it orders.
KINDS = {
    "spread": (
        "the one item whose wordings can be compared",
        "the item whose wordings are answered most differently, and the one answered most alike",
        "the item whose wordings are answered most differently, a middle one, and the one answered most alike",
    ),
    "score": (
        "the one item that has a score",
        "the items with the highest and the lowest mean score",
        "the items with the highest, a middle and the lowest mean score",
    ),
    "": ("items from all over the study, because no answers order them",) * 3,
}
# By measure, what is shown where no item is before another.
TIED_KINDS = {
    "spread": "items from all over the study, because no item's wordings are answered more differently than another's",
    "score": "items from all over the study, because all have the same mean score",
}
RULES = {
    "spread": "Items are ordered by how far their two most different wordings are apart, as a mean over models.",
    "score": "Items with scores are ordered by their mean score.",
}


def answer_page_question(items: pd.DataFrame, prompts: pd.DataFrame, units: pd.DataFrame) -> Answer:
    """Say what was asked, and what is shown of it.

    Parameters
    ----------
    items, prompts
        Tables `transcript_items` and `transcript_prompts`.
    units
        study, model, condition: all that was asked, as the index of a report counts it. Not all answered the examples.

    Returns
    -------
    Answer
        What the page says in words.
    """
    setup_sentence = f"{phrase_models_with_verb(units)} asked about {format_quantity(len(items), 'item')}."
    examples = items[items["shown"] != ""]
    is_known = prompts["unknown"] == ""
    parts_text = "prompts and answers" if is_known.any() else "answers"
    verdict = f"The page shows {format_quantity(len(examples), 'item')} with {parts_text}, word for word."
    details = {"transcript_items": tuple(_describe_example_rules(examples))}
    return Answer(setup_sentence, verdict, cautions=tuple(_describe_unknown_prompts(prompts)), details=details)


def _describe_example_rules(examples: pd.DataFrame) -> list[str]:
    """Say by which rule the examples were chosen."""
    counts = examples.groupby("study", sort=False).size()
    n_values = examples.groupby("study", sort=False)["transcript_value"].nunique()  # first and last are the ends
    return [
        (f"Of “{study}”: " if len(counts) > 1 else "Shown: ")
        + (TIED_KINDS[measure] if n_values[study] == 1 < counts[study] else KINDS[measure][counts[study] - 1])
        + "."
        for study, measure in examples.groupby("study", sort=False)["measure"].first().items()
    ]


def describe_item_order_rules(items: pd.DataFrame) -> str:
    """Say how the items were ordered, and which of them are shown.

    Parameters
    ----------
    items
        Table `transcript_items`.

    Returns
    -------
    str
        Sentences for the method: of an order only where there is one.
    """
    measures = set(items["measure"])
    rules = [rule for measure, rule in RULES.items() if measure in measures]
    if rules:
        rules.append("Shown are the first item, the middle one and the last one, where there are so many.")
    if "" in measures:
        rules.append("Where no answers order them, items from all over the study are shown.")
    return " ".join(rules)


def _describe_unknown_prompts(prompts: pd.DataFrame) -> list[str]:
    """Say of which prompts only the wording is known, and why; where that is not so of all studies, of which."""
    is_of_some = prompts["study"].nunique() > 1 and prompts["unknown"].nunique() > 1
    of_studies = " of “" + prompts["study"] + "”" if is_of_some else ""
    names, unknown_prompts = prompts["condition"] + of_studies, prompts[prompts["unknown"] != ""]
    sentences: list[str] = []
    for reason, rows in unknown_prompts.groupby("unknown", sort=False):
        conditions = join_names(list(names[rows.index].unique()))
        sentences.append(
            Caution(
                f"The rest of the prompts of {conditions}, if any, is not known. {capitalise_sentence(str(reason))}.",
                LEFT_OUT,
            )
        )
    return sentences
