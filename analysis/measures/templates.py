"""Find studies whose wordings are templates that all items share, such as "Do you think that ...?"

Such wordings are no independent paraphrases: a template's effect is the same in all items, so that more items say no
more about it.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from analysis.runs import Runs

NEARLY_ALL = (
    0.9  # share of the items that a wording must be in, and of the wordings that must hold their item's statement
)
_EDGES = " \t\r\n.,;:!?\"'“”„«»()。、「」"


def count_templates_by_study(runs: Runs) -> dict[str, tuple[int, int]]:
    """Find the studies whose wordings are templates: study -> number of templates and of the items that share them.

    Wordings of one name in (nearly) all items are compared: "Do you think that cats purr?" and "Do you think that dogs
    bark?" share their first and last letters, and what is left, "cats purr", is the item's *statement*. The wordings of
    a study are templates if the statement is the same in (nearly) all wordings of an item.
    """
    return runs.compute_once("shared templates", lambda: _count_templates_by_study_uncached(runs))


def _count_templates_by_study_uncached(runs: Runs) -> dict[str, tuple[int, int]]:
    """Count the templates, and the items that share them, of every study of templates, without a cache."""
    texts = runs.sql(
        """
        SELECT study, item, variant, text, min(text) OVER same AS first, max(text) OVER same AS last,
               min(reverse(text)) OVER same AS first_end, max(reverse(text)) OVER same AS last_end,
               count(*) OVER same AS shared_by, n_items
        FROM stimuli JOIN (SELECT study, count(DISTINCT item) AS n_items FROM stimuli GROUP BY study) USING (study)
        WHERE pattern <> 'original' WINDOW same AS (PARTITION BY study, variant)"""
    )
    shared = texts[(texts["shared_by"] >= NEARLY_ALL * texts["n_items"]) & (texts["n_items"] > 1)]
    sizes_by_study = {
        str(study): _count_templates_and_items(rows) for study, rows in shared.groupby("study", sort=False)
    }
    return {study: sizes for study, sizes in sizes_by_study.items() if sizes}


def _count_templates_and_items(rows: pd.DataFrame) -> tuple[int, int] | None:
    """Count the templates and items of one study; None where its wordings are not templates."""
    statements = rows.assign(statement=[_extract_statement(*row) for row in rows[_COLUMNS].itertuples(index=False)])
    counts = statements.groupby(["item", "statement"], sort=False).size().groupby("item").max()  # of the commonest one
    same_share = counts.sum() / len(rows)
    if (
        same_share < NEARLY_ALL or rows.groupby("item")["text"].nunique().max() == 1
    ):  # one text asked again is no template
        return None
    return int(rows["variant"].nunique()), len(counts)


def find_studies_of_reordered_words(runs: Runs) -> set[str]:
    """Find the studies whose wordings are orders that all items share: of (nearly) every item the same words, resorted.

    So are orders of the options that stand in the text. Like a template, an order may move all items at once.
    """
    texts = runs.sql("SELECT study, item, variant, text FROM stimuli WHERE pattern <> 'original'")
    texts["words"] = [" ".join(sorted(text.split())) for text in texts["text"]]
    counts = texts.groupby(["study", "item"], sort=False).agg(
        {"text": "nunique", "words": "nunique", "variant": "size"}
    )
    is_reordered = (counts["words"] == 1) & (counts["text"] > 1) & (counts["text"] == counts["variant"])
    is_shared = texts.groupby("study")["variant"].nunique() <= counts.groupby("study")["variant"].max()
    return {
        str(study)
        for study, share in is_reordered.groupby("study").mean().items()
        if share >= NEARLY_ALL and is_shared[study]
    }


_COLUMNS = ["text", "first", "last", "first_end", "last_end"]


def _extract_statement(
    text: str, first_text: str, last_text: str, first_reversed_text: str, last_reversed_text: str
) -> str:
    """Take away from a wording what all items share: what the first and the last of the sorted texts share, all share.

    >>> _extract_statement("Is it so that cats purr?", "Is it so that cats purr?", "Is it so that dogs bark?",
    ...            "?krab sgod taht os ti sI", "?rrup stac taht os ti sI")
    'cats purr'
    """
    start, end = (
        _count_common_prefix_letters(first_text, last_text),
        _count_common_prefix_letters(first_reversed_text, last_reversed_text),
    )
    return text[start : max(start, len(text) - end)].strip(_EDGES).casefold()


def _count_common_prefix_letters(text_a: str, text_b: str) -> int:
    """Count the letters that two texts begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(text_a, text_b, strict=False)))
