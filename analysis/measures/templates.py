"""Find studies whose wordings are templates that all items share, such as "Do you think that ...?"

Such wordings are no independent paraphrases: a template's effect is the same in all items, so that more items say no
more about it.
"""

from __future__ import annotations

from collections import Counter
from itertools import takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from analysis.runs import Runs

NEARLY_ALL = (
    0.9  # share of the items that a wording must be in, and of the wordings that must hold their item's statement
)
_EDGES = " \t\r\n.,;:!?\"'“”„«»()。、「」"


def count_templates_and_items_by_study(runs: Runs) -> dict[str, tuple[int, int]]:
    """Find the studies whose wordings are templates: study -> number of templates and of the items that share them.

    Wordings of one name in (nearly) all items are compared: "Do you think that cats purr?" and "Do you think that dogs
    bark?" share their first and last letters, and what is left, "cats purr", is the item's *statement*. The wordings of
    a study are templates if the statement is the same in (nearly) all wordings of an item.
    """
    return runs.compute_once("shared templates", lambda: _count_templates_and_items_by_study_uncached(runs))


def _count_templates_and_items_by_study_uncached(runs: Runs) -> dict[str, tuple[int, int]]:
    """Count the templates, and the items that share them, of every study of templates, without a cache."""
    names = runs.sql(
        """
        SELECT study, variant, min(text) AS first, max(text) AS last, min(reverse(text)) AS first_end,
               max(reverse(text)) AS last_end, count(*) AS shared_by, n_items
        FROM stimuli JOIN (SELECT study, count(DISTINCT item) AS n_items FROM stimuli GROUP BY study) USING (study)
        WHERE pattern <> 'original' GROUP BY study, variant, n_items"""
    )
    shared = names[(names["shared_by"] >= NEARLY_ALL * names["n_items"]) & (names["n_items"] > 1)]
    if shared.empty:
        return {}
    texts = runs.sql("SELECT study, item, variant, text FROM stimuli WHERE pattern <> 'original'")
    rows = texts.merge(_count_shared_affix_letters_of_each_wording(shared), on=["study", "variant"])
    sizes_by_study = {str(study): _count_templates_and_items(part) for study, part in rows.groupby("study", sort=False)}
    return {study: sizes for study, sizes in sizes_by_study.items() if sizes}


def _count_shared_affix_letters_of_each_wording(names: pd.DataFrame) -> pd.DataFrame:
    """Count the letters that all wordings of one name begin and end with: study, variant, start, end.

    What the first and the last of the sorted texts share, all share.
    """
    start = map(_count_common_prefix_letters, names["first"], names["last"])
    end = map(_count_common_prefix_letters, names["first_end"], names["last_end"])
    return names[["study", "variant"]].assign(start=list(start), end=list(end))


def _count_templates_and_items(rows: pd.DataFrame) -> tuple[int, int] | None:
    """Count the templates and items of one study; None where its wordings are not templates."""
    counts: Counter[tuple[str, str]] = Counter()
    most_alike: Counter[str] = Counter()  # item -> wordings that hold its most frequent statement
    n_alike = len(rows)
    for item, *wording in zip(rows["item"], rows["text"], rows["start"], rows["end"], strict=True):
        key = item, _remove_shared_template_text_from_wording(*wording)
        counts[key] += 1
        if counts[key] > most_alike[item]:
            most_alike[item] += 1
            continue
        n_alike -= 1  # at most so many are alike in the end: a study without templates is known by its first items
        if n_alike / len(rows) < NEARLY_ALL:
            return None
    if rows.groupby("item")["text"].nunique().max() == 1:  # one text asked again is no template
        return None
    return int(rows["variant"].nunique()), len(most_alike)


def find_studies_of_reordered_words(runs: Runs) -> set[str]:
    """Find the studies whose wordings are orders that all items share: of (nearly) every item the same words, resorted.

    So are orders of the options that stand in the text. Like a template, an order may move all items at once.
    """
    studies = _list_candidate_studies_of_reordered_words(runs)
    if not studies:
        return set()
    texts = runs.sql(
        "SELECT study, item, variant, text FROM stimuli WHERE pattern <> 'original' AND study IN (SELECT unnest(?))",
        [studies],
    )
    texts["words"] = list(map(_sort_words_of_text, texts["text"]))
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


def _list_candidate_studies_of_reordered_words(runs: Runs) -> list[str]:
    """Find the studies of which (nearly) every item has two wordings of the same words; no others can have all."""
    texts = runs.sql(
        "SELECT study, min(text) AS first, max(text) AS last FROM stimuli WHERE pattern <> 'original' "
        "GROUP BY study, item"
    )
    is_alike = texts["first"].map(_sort_words_of_text) == texts["last"].map(_sort_words_of_text)
    return [str(study) for study, share in is_alike.groupby(texts["study"]).mean().items() if share >= NEARLY_ALL]


def _sort_words_of_text(text: str) -> str:
    """Return the words of a text in the order of the alphabet."""
    return " ".join(sorted(text.split()))


def _remove_shared_template_text_from_wording(text: str, start: int, end: int) -> str:
    """Take away from a wording so many letters at both ends, which all items share.

    >>> _remove_shared_template_text_from_wording("Is it so that cats purr?", 14, 1)
    'cats purr'
    """
    return text[start : max(start, len(text) - end)].strip(_EDGES).casefold()


def _count_common_prefix_letters(text_a: str, text_b: str) -> int:
    """Count the letters that two texts begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(text_a, text_b, strict=False)))
