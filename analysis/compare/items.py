"""Find the items in which two sides differ most, with their texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np
import pandas as pd

from analysis.compare.catalogue import ITEMS, PAIR
from analysis.compare.pairing import PairedRuns
from analysis.compare.pairs import VALIDITY, Pair
from analysis.measures.thresholds import refuse_too_few_examples
from analysis.runs import Runs
from analysis.runs.folder import ORIGINAL
from analysis.statistics.significance import ROUNDING


def average_answers_per_item(pairs: Iterable[Pair]) -> pd.DataFrame:
    """Average the answers of both sides to every item.

    `pairs`: from `pairs.iterate_unit_pairs_to_compare`.

    Returns
    -------
    DataFrame
        study, a_model, a_condition, b_model, b_condition, measure, headline, item; n_wordings: with a valid answer of
        both; a, b: means over these; difference: a less b. Without items that have none.
    """
    parts = []
    for pair in pairs:
        study = pair.studies[0]
        numbers = (~np.isnan(pair.answers[0])).sum(axis=1)
        a, b = (np.nansum(answers, axis=1) / np.where(numbers > 0, numbers, np.nan) for answers in pair.answers)
        part = pd.DataFrame({"item": study.items, "n_wordings": numbers, "a": a, "b": b, "difference": a - b})
        keys = zip((*PAIR, "measure", "headline"), (study.name, *chain(*pair.unit_names), pair.measure,
                   study.headline and pair.measure == study.measure), strict=True)  # fmt: skip
        parts.append(part[numbers > 0].assign(**dict(keys)))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=[*PAIR, "headline"])


def tabulate_differing_items(paired: PairedRuns, pairs: Sequence[Pair], examples: int = 5) -> pd.DataFrame:
    """List the items whose means differ most by the headline measure of their study, those with a difference.

    Parameters
    ----------
    paired
        From `pairing.pair_studies_of_two_run_sets`.
    pairs
        From `pairs.iterate_unit_pairs_to_compare` of these. Of a study without a headline among them, all but validity
        count.
    examples
        Items of every two models and their conditions.

    Returns
    -------
    DataFrame
        The columns of `catalogue.ITEMS`, the largest difference of every two first.

    Raises
    ------
    InputError
        For a number of examples below 1.
    """
    refuse_too_few_examples(examples)
    rows = average_answers_per_item(pairs)
    has_headline = rows.groupby("study")["headline"].transform("any").astype(bool)
    is_told = rows["headline"].astype(bool) | (~has_headline & (rows["measure"] != VALIDITY))
    rows = rows[is_told & (rows["difference"].abs() > ROUNDING)]
    rows = rows.iloc[(-rows["difference"].abs()).argsort(kind="stable")]
    rows = rows.groupby([*PAIR, "measure"], sort=False).head(examples)
    if rows.empty:
        return pd.DataFrame(columns=list(ITEMS.columns))
    order = rows.groupby([*PAIR, "measure"], sort=False).ngroup().argsort(kind="stable")
    texts = pd.concat([_read_texts_of_items(runs_a, rows["item"].unique().tolist()) for runs_a, _ in paired.pairs])
    return rows.iloc[order].merge(texts, how="left", on=["study", "item"])[list(ITEMS.columns)]


def _read_texts_of_items(runs: Runs, items: list[str]) -> pd.DataFrame:
    """Read the text of some items: that of the original, else of the first wording."""
    return runs.sql(
        f"SELECT study, item, coalesce(min(text) FILTER (WHERE pattern = '{ORIGINAL}'), arg_min(text, position)) "
        "AS text FROM stimuli WHERE item IN (SELECT unnest(?)) GROUP BY study, item",
        [items],
    )
