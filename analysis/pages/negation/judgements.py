"""Join what every model said about premises and hypotheses with their minimal pairs, in SQL, and count per original."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.measures.thoughts import build_sql_of_answered_option
from analysis.runs import Runs
from analysis.runs.folder import ORIGINAL, UNIT, quote_sql_literal
from analysis.statistics.resampling import Array
from ground.errors import InputError

PROTOCOL = "negation"
PREMISE, HYPOTHESIS, BOTH = "p_neg", "h_neg", "p_neg_h_neg"
PATTERNS = (ORIGINAL, PREMISE, HYPOTHESIS, BOTH)
IMPORTANT, UNIMPORTANT = "important", "unimportant"
KINDS = (IMPORTANT, UNIMPORTANT)
TARGETS = {"動詞": "verb", "形容詞": "adjective", "形容動詞": "adjectival verb"}  # as JNLI-Neg calls them


@dataclass(frozen=True)
class Counts:
    """Hold counts per original, the clusters that all intervals are over.

    Attributes
    ----------
    rows
        One row per unit that a figure is computed for: study, model, condition and what else names it.
    sums
        Name -> array (originals, rows): NaN where the row has nothing of the original.
    """

    rows: pd.DataFrame
    sums: Mapping[str, Array]


def create_judgement_views(runs: Runs) -> None:
    """Create, once per `Runs`, the views `judgements` and `pairs`; check the stimuli.

    - `judgements`: one row per response: study, model, condition, item, variant, place (of the variant in the study),
      negated (whether either sentence is), gold, said (the label said; null: no valid answer), is_right (said is gold;
      false without a valid answer), p_gold (probability of the right label, divided by that of all; null without
      probabilities). Of sampled answers, `said` is that of most samples; a tie is no valid answer.
    - `pairs`: one row per minimal pair of a study: study, item, variant and parent, which has one negation less;
      pairs ("important" where the two have different right labels, else "unimportant": Yoshida et al., section 2.1),
      position (end or mid) and target (part of speech) of that negation.

    Raises
    ------
    InputError
        Without a study of the protocol; for an unknown pattern, a right label that is missing or none of the options,
        an item without exactly one original, and a parent that is not there.
    """
    runs.compute_once("view judgements", lambda: _create_judgement_views(runs))


def _create_judgement_views(runs: Runs) -> None:
    studies = runs.list_studies_of_protocols(PROTOCOL)
    if not studies:
        raise InputError(f"{runs.join_folder_paths()}: no run of the protocol '{PROTOCOL}'")
    quoted_names = ", ".join(map(quote_sql_literal, studies))
    runs.execute(f"CREATE OR REPLACE TEMP VIEW asked_pairs AS SELECT * FROM stimuli WHERE study IN ({quoted_names})")
    _refuse_malformed_negation_stimuli(runs)
    _create_pairs_view(runs)
    _create_model_judgements_view(runs)


def _create_pairs_view(runs: Runs) -> None:
    """Create the view `pairs`; which side has the negation follows from the two patterns."""
    runs.execute(
        f"""
        CREATE OR REPLACE TEMP VIEW pairs AS
        SELECT study, item, variant, parent, place, CASE WHEN gold = gold_before THEN '{UNIMPORTANT}'
               ELSE '{IMPORTANT}' END AS pairs,
               map_extract(attributes, side || '_position')[1] AS position,
               map_extract(attributes, side || '_target')[1] AS target
        FROM (SELECT s.study, s.item, s.variant, s.parent, s.position AS place, s.gold, p.gold AS gold_before,
                     s.attributes, CASE WHEN s.pattern = '{PREMISE}' OR p.pattern = '{HYPOTHESIS}' THEN 'premise'
                                        ELSE 'hypothesis' END AS side
              FROM (SELECT *, unnest(parents) AS parent FROM asked_pairs) AS s
              JOIN asked_pairs AS p ON p.study = s.study AND p.item = s.item AND p.variant = s.parent)"""
    )
    orphan = runs.execute(
        """SELECT s.study, s.item, s.variant, s.parent
           FROM (SELECT *, unnest(parents) AS parent FROM asked_pairs) AS s
           ANTI JOIN asked_pairs AS p ON p.study = s.study AND p.item = s.item AND p.variant = s.parent
           ORDER BY s.position LIMIT 1"""
    ).fetchone()
    if orphan:
        study, item, variant, parent = orphan
        raise InputError(
            f"{runs.find_path_of_study(study)}: stimuli.parquet: item {item!r}, variant {variant!r}: its parent "
            f"{parent!r} is not there"
        )


def _create_model_judgements_view(runs: Runs) -> None:
    """Create the view `judgements`."""
    runs.execute(
        f"""
        CREATE OR REPLACE TEMP VIEW judgements AS
        SELECT *, said IS NOT NULL AND said = gold AS is_right
        FROM (SELECT r.study, r.model, r.condition, r.item, r.variant, s.position AS place, s.pattern <> 'original'
                     AS negated, s.gold,
                     coalesce({build_sql_of_answered_option()},
                              CASE WHEN list_reverse_sort(r."count")[1] > list_reverse_sort(r."count")[2]
                                   THEN s.options[list_position(r."count", list_max(r."count"))] END) AS said,
                     r.probability[list_position(s.options, s.gold)] / nullif(list_sum(r.probability), 0) AS p_gold
              FROM responses AS r
              JOIN asked_pairs AS s ON s.study = r.study AND s.item = r.item AND s.variant = r.variant)"""
    )


def _refuse_malformed_negation_stimuli(runs: Runs) -> None:
    """Refuse unknown patterns, right labels that are missing or no option, and items without exactly one original."""
    patterns = ", ".join(map(quote_sql_literal, PATTERNS))
    wrong = runs.execute(
        f"""SELECT study, item, variant,
                   CASE WHEN pattern NOT IN ({patterns}) THEN 'has the unknown pattern ' || pattern
                   WHEN gold IS NULL THEN 'has no right label' ELSE 'has a right label that is none of its options' END
            FROM asked_pairs WHERE pattern NOT IN ({patterns}) OR gold IS NULL OR NOT list_contains(options, gold)
            ORDER BY position LIMIT 1"""
    ).fetchone()
    if wrong:
        study, item, variant, problem = wrong
        raise InputError(
            f"{runs.find_path_of_study(study)}: stimuli.parquet: item {item!r}, variant {variant!r} {problem}"
        )
    miscounted = runs.execute(
        f"""SELECT study, item, count(*) FILTER (WHERE pattern = '{ORIGINAL}') AS n FROM asked_pairs
            GROUP BY study, item HAVING n <> 1 ORDER BY min(position) LIMIT 1"""
    ).fetchone()
    if miscounted:
        study, item, n = miscounted
        raise InputError(
            f"{runs.find_path_of_study(study)}: stimuli.parquet: item {item!r} has {n} originals; it needs one"
        )


def count_minimal_pair_judgements(runs: Runs, split_by: str = "") -> Counts:
    """Count per original the minimal pairs of both kinds, and how often each side of them was judged rightly.

    A pair counts where both sides have a response.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    split_by
        "position" or "target": a row for each value of it; pairs without one are left out. Empty: over all pairs.

    Returns
    -------
    Counts
        Rows: study, model, condition, kind (of `KINDS`), and value: of `split_by`, empty without it. Sums: pairs,
        before and after (right without the negation, and with it), valid (answers on both sides).
    """
    return runs.compute_once(("negation pairs", split_by), lambda: _query_minimal_pair_judgement_counts(runs, split_by))


def count_pairs_and_labels_by_negation(runs: Runs) -> Counts:
    """Count per original the pairs of sentences with and without a negation, and the labels that were said of them.

    Returns
    -------
    Counts
        Rows: study, model, condition. Sums, for X of "original" and "negated": X, X_valid, X_right, and X_said_LABEL
        and X_gold_LABEL for every label.
    """
    return runs.compute_once("negation instances", lambda: _query_sentence_pair_judgement_counts(runs))


def list_entailment_labels(runs: Runs) -> list[str]:
    """List the labels of the studies, in the order of run.json."""
    studies = (fields for fields in runs.info["studies"].values() if fields["protocol"] == PROTOCOL)
    return list(dict.fromkeys(str(label) for fields in studies for label in fields["canonical"]))


def _query_minimal_pair_judgement_counts(runs: Runs, split_by: str) -> Counts:
    """Count in SQL what `count_minimal_pair_judgements` returns."""
    create_judgement_views(runs)
    value = f"p.{split_by}" if split_by else "''"
    frame = runs.sql(
        f"""
        SELECT u.position AS unit, a.study, a.model, a.condition, p.pairs AS kind, {value} AS value, a.item,
               min(p.place) AS place,
               count(*) AS pairs, count(*) FILTER (WHERE b.is_right) AS before,
               count(*) FILTER (WHERE a.is_right) AS after, count(a.said) + count(b.said) AS valid
        FROM pairs AS p
        JOIN judgements AS a ON a.study = p.study AND a.item = p.item AND a.variant = p.variant
        JOIN judgements AS b ON b.study = p.study AND b.item = p.item AND b.variant = p.parent
                             AND b.model = a.model AND b.condition = a.condition
        JOIN units AS u ON u.study = a.study AND u.model = a.model AND u.condition = a.condition
        WHERE {value} IS NOT NULL
        GROUP BY ALL"""
    )
    return _convert_count_rows_to_arrays(frame, ["kind", "value"], ("pairs", "before", "after", "valid"))


def _query_sentence_pair_judgement_counts(runs: Runs) -> Counts:
    """Count in SQL what `count_pairs_and_labels_by_negation` returns."""
    create_judgement_views(runs)
    parts = {"": "true", "_valid": "said IS NOT NULL", "_right": "is_right"}
    for label in list_entailment_labels(runs):
        parts |= {f"_{column}_{label}": f"{column} = {quote_sql_literal(label)}" for column in ("said", "gold")}
    tests = {
        f"{name}{part}": f"{where} AND {test}"
        for name, where in (("original", "NOT negated"), ("negated", "negated"))
        for part, test in parts.items()
    }
    counts = ", ".join(f"count(*) FILTER (WHERE {test})" for test in tests.values())
    frame = runs.sql(
        f"""SELECT units.position, study, model, condition, item, min(place), {counts}
            FROM judgements JOIN units USING (study, model, condition) GROUP BY ALL"""
    ).set_axis(["unit", *UNIT, "item", "place", *tests], axis="columns")
    return _convert_count_rows_to_arrays(frame, [], tuple(tests))


def _convert_count_rows_to_arrays(frame: pd.DataFrame, keys: Sequence[str], count_names: Sequence[str]) -> Counts:
    """Turn counts, one row per unit and original, into arrays; units as in run.json, then keys by their names."""
    rows = frame[["unit", *UNIT, *keys]].drop_duplicates().sort_values(["unit", *keys], kind="stable")
    rows = rows[[*UNIT, *keys]].reset_index(drop=True)
    items = frame.groupby(["study", "item"], sort=False)["place"].min().reset_index()
    items = items.sort_values(["study", "place"], kind="stable")
    row, column = (
        pd.MultiIndex.from_frame(axis[names]).get_indexer(pd.MultiIndex.from_frame(frame[names]))
        for axis, names in ((items, ["study", "item"]), (rows, list(rows)))
    )
    arrays = {name: np.full((len(items), len(rows)), np.nan) for name in count_names}
    for name, values in arrays.items():
        values[row, column] = frame[name]
    return Counts(rows, arrays)
