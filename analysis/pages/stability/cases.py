"""List rows behind the stability table: example pairs, quartiles, outliers, invalid answers, excluded items."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.measures.agreement import create_agreement_tables
from analysis.measures.thresholds import refuse_too_few_examples
from analysis.runs import Runs
from analysis.runs.folder import quote_sql_literal
from ground.errors import InputError

_PORTION = 5_000_000  # answers held in memory at a time, about 200 MB


def tabulate_two_most_different_wordings(runs: Runs, k: int | None = 1) -> pd.DataFrame:
    """Find the two wordings of an item that a model answers most differently: Table 2 of the paper.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    k
        How many items per model and condition, those with the largest range first; None for all.

    Returns
    -------
    DataFrame
        study, model, condition, item; low_text, low_agreement, high_text, high_agreement: the paraphrases with the
        lowest and highest agreement R^+, 0 to 1 (of several, the first by variant id); range: their difference. Items
        whose paraphrases all have the same agreement have no row.

    Raises
    ------
    InputError
        For a k below 1.
    """
    if k is not None and k < 1:
        raise InputError(f"k is {k}: give the number of items per model, 1 or more")
    create_agreement_tables(runs)
    runs.execute(
        """
        CREATE OR REPLACE TEMP TABLE widest AS
        SELECT * FROM (
            SELECT study, model, condition, item, agreement_min, agreement_max,
                   row_number() OVER (PARTITION BY study, model, condition
                                      ORDER BY agreement_max - agreement_min DESC, position) AS place
            FROM item_patterns JOIN study_items USING (study, item)
            WHERE NOT original AND agreement_max > agreement_min)
        WHERE place <= coalesce(?, place)""",
        [k],
    )
    return runs.sql(
        """
        WITH ends AS (
            SELECT study, model, condition, item,
                   min(variant) FILTER (WHERE agreement = agreement_min) AS low,
                   min(variant) FILTER (WHERE agreement = agreement_max) AS high
            FROM answers JOIN widest USING (study, model, condition, item)
            WHERE NOT original AND (agreement = agreement_min OR agreement = agreement_max)
            GROUP BY study, model, condition, item)
        SELECT study, model, condition, item, l.text AS low_text, agreement_min AS low_agreement,
               h.text AS high_text, agreement_max AS high_agreement, agreement_max - agreement_min AS range
        FROM widest JOIN ends USING (study, model, condition, item) JOIN units AS u USING (study, model, condition)
             JOIN stimuli AS l USING (study, item) JOIN stimuli AS h USING (study, item)
        WHERE l.variant = low AND h.variant = high
        ORDER BY u.position, place"""
    )


def tabulate_agreement_quartiles_of_items(runs: Runs) -> pd.DataFrame:
    """Compute quartiles of agreement over the paraphrases of every item: the boxes of the paper's Figures 2, 4 and 5.

    Returns
    -------
    DataFrame
        study, model, condition, item; q25, median, q75: quartiles of R^+ (linear interpolation); whisker_low,
        whisker_high: the lowest and highest agreement within 1.5 interquartile ranges of the box, never inside the box;
        n: paraphrases with a defined agreement. Items without any have no row. See `outliers` for the dots.
    """
    _create_box_plot_table_once(runs)
    return runs.sql(
        """
        SELECT study, model, condition, item, q25, median, q75, whisker_low, whisker_high, n
        FROM boxes JOIN units AS u USING (study, model, condition) JOIN study_items AS s USING (study, item)
        ORDER BY u.position, s.position"""
    )


def tabulate_agreement_outliers(runs: Runs) -> pd.DataFrame:
    """List paraphrases beyond the whiskers of `distribution`, those furthest from them first.

    Returns
    -------
    DataFrame
        study, model, condition, item, variant, agreement; outside: how far agreement lies from the nearer whisker.
    """
    _create_box_plot_table_once(runs)
    return runs.sql(
        """
        SELECT study, model, condition, item, variant, agreement,
               greatest(whisker_low - agreement, agreement - whisker_high) AS outside
        FROM answers JOIN boxes USING (study, model, condition, item) JOIN units AS u USING (study, model, condition)
             JOIN study_items AS s USING (study, item)
        WHERE NOT original AND (agreement < whisker_low OR agreement > whisker_high)
        ORDER BY outside DESC, u.position, s.position, variant"""
    )


def _create_box_plot_table_once(runs: Runs) -> None:
    runs.compute_once("table boxes", lambda: _create_box_plot_table(runs))


def _create_box_plot_table(runs: Runs) -> None:
    """Create table `boxes`, a few models at a time: quartiles need an item's answers in memory."""
    create_agreement_tables(runs)
    runs.execute(
        "CREATE OR REPLACE TEMP TABLE boxes (study VARCHAR, model VARCHAR, condition VARCHAR, item VARCHAR, "
        "q25 DOUBLE, median DOUBLE, q75 DOUBLE, whisker_low DOUBLE, whisker_high DOUBLE, n BIGINT)"
    )
    for study, models in _split_models_into_portions(runs):
        # Shares of ten samples often lie exactly on a fence; with 1e-9 they are inside, whatever the rounding.
        runs.execute(
            f"""
            WITH item AS (
                SELECT study, model, condition, item, list(agreement) AS answers,
                       quantile_cont(agreement, [0.25, 0.5, 0.75]) AS q
                FROM answers
                WHERE study = {quote_sql_literal(study)} AND model IN ({", ".join(map(quote_sql_literal, models))})
                      AND NOT original AND agreement IS NOT NULL
                GROUP BY study, model, condition, item),
            fenced AS (SELECT *, 1.5 * (q[3] - q[1]) + 1e-9 AS reach FROM item)
            INSERT INTO boxes
            SELECT study, model, condition, item, q[1], q[2], q[3],
                   least(list_min([x for x in answers if x >= q[1] - reach]), q[1]),
                   greatest(list_max([x for x in answers if x <= q[3] + reach]), q[3]),
                   len(answers)
            FROM fenced"""
        )


def _split_models_into_portions(runs: Runs) -> Iterator[tuple[str, list[str]]]:
    """Yield a study and models of it, as many at a time as have _PORTION answers together."""
    size = "SELECT study, model, sum(n_valid) FROM item_patterns WHERE NOT original GROUP BY ALL ORDER BY ALL"
    portion: list[str] = []
    answers, last = 0, ""
    for study, model, n in runs.execute(size).fetchall():
        if portion and (study != last or answers + n > _PORTION):
            yield last, portion
            portion, answers = [], 0
        portion, answers, last = [*portion, model], answers + n, study
    if portion:
        yield last, portion


def tabulate_counts_of_invalid_answers(runs: Runs, examples: int = 3) -> pd.DataFrame:
    """Count answers that are not valid, over originals and paraphrases together.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    examples
        How many different outputs to show, the most frequent first; 0 for none.

    Returns
    -------
    DataFrame
        study, model, condition; n_rows: responses; n_invalid: of these, without a defined agreement (no valid answer,
        or no mass on any option); n_error: prompts that only failed, not in n_rows; share: n_invalid / n_rows, 0 to 1;
        n_bounded: responses for which the server returned only the most probable tokens, so that probabilities and
        masses are lower bounds; mass_missing: mean over these of the mass that may be missing, 0 to 1, NaN without any;
        n_written: responses that are texts or given answers; read_agreement: mean agreement R^+ of those of them with a
        valid answer; least_agreement, most_agreement: mean of the share that agrees over all of them, if what holds no
        valid answer were disagreement, or agreement; NaN without any;
        examples: list of outputs without a valid answer, empty if no text was generated.

    Raises
    ------
    InputError
        For a number of examples below 0.
    """
    refuse_too_few_examples(examples, 0, "texts")
    create_agreement_tables(runs)
    return runs.sql(
        """
        WITH counted AS (
            SELECT study, model, condition, sum(n_rows) AS n_rows, sum(n_rows - n_valid) AS n_invalid
            FROM item_patterns GROUP BY ALL),
        failed AS (SELECT study, model, condition, count(*) AS n_error FROM errors GROUP BY ALL),
        bounded AS (
            SELECT study, model, condition, count(*) AS n_bounded, avg(mass_upper - mass) AS mass_missing
            FROM responses WHERE mass_upper IS NOT NULL GROUP BY ALL),
        written AS (
            SELECT study, model, condition, count(*) AS n_written, avg(agreement) AS read_agreement,
                   avg(coalesce(agreement * validity, 0)) AS least_agreement,
                   avg(coalesce(agreement * validity, 0) + 1 - validity) AS most_agreement
            FROM answers WHERE written GROUP BY ALL),
        output AS (
            SELECT study, model, condition, unnest(output) AS output FROM answers WHERE agreement IS NULL),
        often AS (SELECT study, model, condition, output, count(*) AS times FROM output GROUP BY ALL),
        shown AS (
            SELECT study, model, condition, list(output ORDER BY times DESC, output)[:?] AS examples
            FROM often GROUP BY ALL)
        SELECT study, model, condition, coalesce(n_rows, 0)::BIGINT AS n_rows,
               coalesce(n_invalid, 0)::BIGINT AS n_invalid, coalesce(n_error, 0) AS n_error,
               n_invalid / n_rows AS share, coalesce(n_bounded, 0) AS n_bounded, mass_missing,
               coalesce(n_written, 0) AS n_written, read_agreement, least_agreement, most_agreement,
               coalesce(examples, []) AS examples
        FROM units LEFT JOIN counted USING (study, model, condition) LEFT JOIN failed USING (study, model, condition)
             LEFT JOIN bounded USING (study, model, condition) LEFT JOIN written USING (study, model, condition)
             LEFT JOIN shown USING (study, model, condition)
        ORDER BY position""",
        [examples],
    ).assign(examples=lambda frame: frame["examples"].map(list))


def tabulate_variants_equal_up_to_whitespace(runs: Runs) -> pd.DataFrame:
    """List wordings of an item that differ in line ends or in blanks around them only.

    They are asked and counted as different wordings, but a difference between their answers says nothing about wording.

    Returns
    -------
    DataFrame
        study, item; text: what they share; n_variants: how many wordings have it. In the order of the study.
    """
    return runs.sql(
        r"""
        SELECT study, item, plain AS text, count(*) AS n_variants
        FROM (SELECT study, item, text, position,
                     trim(regexp_replace(text, '\r\n?', chr(10), 'g'), ' ' || chr(9) || chr(10) || chr(12288)) AS plain
              FROM stimuli)
        GROUP BY study, item, plain HAVING count(DISTINCT text) > 1
        ORDER BY study, min(position)"""
    )


def tabulate_excluded_items(runs: Runs) -> pd.DataFrame:
    """List items left out of range, SD and flips, because fewer than two paraphrases have a defined agreement.

    Returns
    -------
    DataFrame
        study, model, condition, item, text; n_variants: paraphrases with a response; n_valid: of these, with a defined
        agreement; reason: why the item is left out. One row for every item that `stability` counts in n_excluded_items.
    """
    create_agreement_tables(runs)
    return runs.sql(
        """
        WITH summary AS (SELECT * FROM item_patterns WHERE NOT original)
        SELECT study, model, condition, item, text, coalesce(n_rows, 0) AS n_variants, coalesce(n_valid, 0) AS n_valid,
               CASE WHEN n_paraphrases = 0 THEN 'no paraphrases in the study'
                    WHEN n_rows IS NULL THEN 'no paraphrase answered yet'
                    WHEN n_paraphrases = 1 THEN 'only one paraphrase in the study'
                    WHEN n_rows = 1 THEN 'only one paraphrase answered yet'
                    WHEN n_valid = 0 THEN 'no valid answer'
                    ELSE 'only one valid answer' END AS reason
        FROM units AS u JOIN study_items AS s USING (study) LEFT JOIN summary USING (study, model, condition, item)
        WHERE coalesce(n_valid, 0) < 2
        ORDER BY u.position, s.position"""
    )
