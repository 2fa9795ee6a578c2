"""Compute agreement and validity of every answer and sum them up per item, in SQL.

The rows are never held in memory: DuckDB streams over the Parquet files and returns one line per model x condition x
item (55.8 million rows: 6 CPU seconds, 200 MB).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.runs.conditions import find_units_that_subsample_another_condition
from analysis.runs.folder import ORIGINAL, quote_sql_literal
from ground.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from analysis.runs import Runs

# Sums over some rows of an item, as SQL. An answer of exactly 0.5, a tie, agrees (Haller et al., section 4.2).
SUMS_SQL = """count(*) AS n_rows, count(agreement) AS n_valid,
    avg(validity) AS validity_mean, stddev_samp(validity) AS validity_sd,
    avg(agreement) AS agreement_mean, stddev_samp(agreement) AS agreement_sd,
    min(agreement) AS agreement_min, max(agreement) AS agreement_max,
    count(*) FILTER (WHERE agreement >= 0.5) AS n_agree, count(*) FILTER (WHERE agreement = 0.5) AS n_ties,
    count(*) FILTER (WHERE outvoted) AS n_outvoted,
    count(*) FILTER (WHERE outvoted AND agreement >= 0.5) AS n_outvoted_agree"""
PROTOCOL = "agreement"
"""The protocol whose wordings are paraphrases of an original that is not one of them."""
CONVENTIONS = ("dropped", "inconsistent")  # how answers that are not valid are treated, on every page


def refuse_unknown_invalid_answer_convention(convention: str) -> None:
    """Refuse a convention for invalid answers that is none of `CONVENTIONS`."""
    if convention not in CONVENTIONS:
        raise InputError(f"invalid = {convention!r} is not known; invalid answers are {' or '.join(CONVENTIONS)}")


def build_agreement_range_and_minority_sql(convention: str) -> str:
    """Return the SQL of agreement_range and minority_share, made from n_variants and `SUMS_SQL`.

    The range needs two valid answers, and is of these only. minority_share is the share of answers that are not with
    the majority of the valid ones: "dropped", of the valid answers, null below two; "inconsistent", of all answers, an
    invalid or outvoted one (`create_agreement_tables`) being with no majority, null below two.
    """
    refuse_unknown_invalid_answer_convention(convention)
    n_counted, n_agree, n_valid = "n_valid", "n_agree", "n_valid"
    if convention == "inconsistent":
        n_counted, n_agree, n_valid = "n_variants", "(n_agree - n_outvoted_agree)", "(n_valid - n_outvoted)"
    return f"""CASE WHEN n_valid > 1 THEN agreement_max - agreement_min END AS agreement_range,
    CASE WHEN {n_counted} > 1
         THEN ({n_counted} - greatest({n_agree}, {n_valid} - {n_agree})) / {n_counted} END AS minority_share"""


def build_nonanswer_wins_among_samples_sql() -> str:
    """Return the SQL that tells whether "no answer" wins or ties among the samples of a response `r`.

    It does where at least as many samples hold no answer as give the more frequent option. Such a row counts as invalid
    where invalid answers count, and as valid where they are dropped.
    """
    return """(r."count" IS NOT NULL AND coalesce(r.invalid, 0) >= greatest(r."count"[1], r."count"[2]))"""


def create_agreement_tables(runs: Runs, studies: Collection[str] = ()) -> None:
    """Create the views and tables that the stability tables are made from; a second call does nothing.

    - view `answers`: study, model, condition, item, variant, original (bool), agreement, validity, output, written
      (bool: a text or a given answer, not probabilities or thoughts), hidden (how much more of the probability may be
      on the options, where a server showed the most probable tokens only; else 0), outvoted (bool: has an agreement,
      of samples of which as many hold no answer as give the more frequent one), samples (valid ones that agreement is
      the share of, else null), logprob, text_logprob (as in responses); one row per answer, without those of
      `conditions.find_units_that_subsample_another_condition`.
      Agreement is R^+ = p(agree) / (p(agree) + p(disagree)) (Haller et al., section 4.2), from probabilities where the
      row has them, else from sampled counts, else 1 or 0 from the answer; null where undefined (no mass, no valid
      answer). Validity (section 4.1) is the mass, the valid share of the samples, or 1 or 0.
    - table `study_items`: study, item, position, text (the original's, else the first variant's), n_originals,
      n_paraphrases.
    - table `item_patterns`: study, model, condition, item, original (bool) and, over those rows, n_rows, n_valid,
      validity_mean, validity_sd, agreement_mean, agreement_sd, agreement_min, agreement_max, n_agree, n_ties,
      n_outvoted, n_outvoted_agree.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    studies
        Names of those that are about agreement; all, where none is named.

    Raises
    ------
    InputError
        For a study or a wording that is not about two canonical labels, and an item with more answers than wordings.
    """
    runs.compute_once("agreement tables", lambda: _create_agreement_tables(runs, studies))


def _create_agreement_tables(runs: Runs, studies: Collection[str]) -> None:
    """Create what `create_agreement_tables` says."""
    kinds_by_study = {study: _list_stimulus_kinds(runs, study) for study in studies or runs.info["studies"]}
    _create_deviating_stimuli_table(runs, kinds_by_study)
    views = " UNION ALL ".join(
        _build_answers_sql(runs, study, study_kinds[0], study_kinds[1:])
        for study, study_kinds in kinds_by_study.items()
    )
    runs.execute(f"CREATE OR REPLACE VIEW answers AS {views}")
    runs.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE study_items AS
        SELECT study, item, min(position) AS position,
               coalesce(min(text) FILTER (WHERE pattern = '{ORIGINAL}'), arg_min(text, position)) AS text,
               count(*) FILTER (WHERE pattern = '{ORIGINAL}') AS n_originals,
               count(*) FILTER (WHERE pattern <> '{ORIGINAL}') AS n_paraphrases
        FROM stimuli GROUP BY study, item"""
    )
    runs.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE item_patterns AS
        SELECT study, model, condition, item, original, {SUMS_SQL}
        FROM answers GROUP BY study, model, condition, item, original"""
    )
    _refuse_duplicate_rows(runs)


def has_responses_with_top_tokens_only(runs: Runs, study: str) -> bool:
    """Tell whether a study has responses of which a server showed the most probable tokens only."""
    return any("mass_upper" not in folder.empty for folder in runs.folders if folder.study == study)


def average_validity_of_paraphrases(runs: Runs) -> pd.DataFrame:
    """Average the validity of every unit over its responses to paraphrases, with its upper bound.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.

    Returns
    -------
    DataFrame
        study, model, condition; validity: 0 to 1; validity_at_most: the upper bound, where a server showed the most
        probable tokens only, so that the validity is the lower one; else NaN.
    """
    create_agreement_tables(runs)
    studies = [name for name in runs.info["studies"] if has_responses_with_top_tokens_only(runs, name)]
    bounds = "SELECT NULL::VARCHAR AS study, NULL::VARCHAR AS model, NULL::VARCHAR AS condition, NULL::DOUBLE AS hidden"
    if studies:
        bounds = (
            "SELECT study, model, condition, avg(hidden) AS hidden FROM answers WHERE NOT original AND study IN "
            f"({', '.join(map(quote_sql_literal, studies))}) GROUP BY ALL HAVING max(hidden) > 0"
        )
    return runs.sql(
        f"""
        SELECT study, model, condition, validity,
               CASE WHEN hidden > 0 THEN least(1, validity + hidden) END AS validity_at_most
        FROM (SELECT study, model, condition, sum(n_rows * validity_mean) / sum(n_rows) AS validity
              FROM item_patterns WHERE NOT original GROUP BY ALL)
        LEFT JOIN ({bounds}) USING (study, model, condition)"""
    )


@dataclass(frozen=True, slots=True)
class _StimulusKind:
    """Describe stimuli whose answers are turned into agreement in the same way."""

    original: bool  # whether they are original wordings
    agree: int  # place of the option that means agreement, 1 or 2
    labels: tuple[str, str]  # the option that means agreement, then the other one
    where: str  # SQL condition that selects them


def _list_stimulus_kinds(runs: Runs, study: str) -> list[_StimulusKind]:
    """List the study's kinds of stimuli, the most frequent first."""
    folder = next(folder for folder in runs.folders if folder.study == study)
    frame = runs.info["studies"][study]["canonical"]
    if not isinstance(frame, list) or len(frame) != 2 or len({str(label) for label in frame}) != 2:
        raise InputError(f"{folder.path}: run.json: study.canonical is {frame!r}; agreement needs two labels")
    rows = runs.execute(
        f"""
        SELECT pattern = '{ORIGINAL}', options, canonical, any_value(item), any_value(variant)
        FROM stimuli WHERE study = ? GROUP BY ALL ORDER BY count(*) DESC, min(position)""",
        [study],
    ).fetchall()
    kinds = []
    for original, options, canonical, item, variant in rows:
        if len(set(options or ())) != 2 or len(options) != 2 or sorted(canonical or ()) != sorted(frame):
            raise InputError(
                f"{folder.path}: stimuli.parquet: item {item!r}, variant {variant!r}: options {options} with canonical "
                f"{canonical}; agreement needs two options that mean {' and '.join(frame)}"
            )
        agree = canonical.index(frame[0])
        where = (
            f"study = {quote_sql_literal(study)} AND (pattern = '{ORIGINAL}') = {original} "
            f"AND options = {_build_label_list_sql(options)} AND canonical = {_build_label_list_sql(canonical)}"
        )
        kinds.append(_StimulusKind(original, agree + 1, (options[agree], options[1 - agree]), where))
    return kinds


def _create_deviating_stimuli_table(runs: Runs, kinds_by_study: dict[str, list[_StimulusKind]]) -> None:
    """Create a table of the few stimuli, mostly the originals, that are not of their study's most frequent kind.

    The answers are joined with this table only. A join with all stimuli by two strings would double the time.
    """
    runs.execute(
        "CREATE OR REPLACE TEMP TABLE deviating (study VARCHAR, item VARCHAR, variant VARCHAR, original BOOLEAN, "
        "agree TINYINT, agree_label VARCHAR)"
    )
    for kind in (kind for study_kinds in kinds_by_study.values() for kind in study_kinds[1:]):
        runs.execute(
            f"INSERT INTO deviating SELECT study, item, variant, {kind.original}, {kind.agree}, "
            f"{quote_sql_literal(kind.labels[0])} FROM stimuli WHERE {kind.where}"
        )


def _build_answers_sql(runs: Runs, study: str, common_kind: _StimulusKind, other_kinds: Sequence[_StimulusKind]) -> str:
    """Return the SQL of the study's rows of the view `answers`, the fastest one that its files allow."""
    agree = str(common_kind.agree)
    if any(kind.agree != common_kind.agree for kind in other_kinds):
        agree = f"coalesce(d.agree, {common_kind.agree})"
    if all(folder.two_probabilities for folder in runs.folders if folder.study == study):
        agreement = _build_agreeing_share_sql("r.probability", agree)
        validity, written, outvoted_sql, samples = "r.mass", "false", "false", "NULL::BIGINT"
    else:
        agreement, validity = _build_agreement_and_validity_sql(common_kind, agree)
        written = "r.probability IS NULL AND r.thought_tokens IS NULL"
        samples = 'CASE WHEN r.probability IS NULL THEN r."count"[1] + r."count"[2] END'
        outvoted_sql = (
            f'r.probability IS NULL AND r."count"[1] + r."count"[2] > 0 AND {build_nonanswer_wins_among_samples_sql()}'
        )
    name = quote_sql_literal(study)
    hidden = "coalesce(r.mass_upper - r.mass, 0)" if has_responses_with_top_tokens_only(runs, study) else "0.0"
    units = {unit for folder in runs.folders if folder.study == study for unit in folder.units}
    left_out = [
        f"({quote_sql_literal(m)}, {quote_sql_literal(c)})"
        for m, c in sorted(find_units_that_subsample_another_condition(runs.info["conditions"][study], units))
    ]
    condition_filter = f" AND (model, condition) NOT IN ({', '.join(left_out)})" if left_out else ""
    return f"""
        SELECT {name} AS study, r.model, r.condition, r.item, r.variant,
               coalesce(d.original, {common_kind.original}) AS original,
               {agreement} AS agreement, {validity} AS validity, {hidden} AS hidden, r.output,
               {written} AS written,
               coalesce({outvoted_sql}, false) AS outvoted, {samples} AS samples, r.logprob, r.text_logprob
        FROM (SELECT * FROM responses WHERE study = {name}{condition_filter}) AS r
        LEFT JOIN (SELECT * FROM deviating WHERE study = {name}) AS d ON d.item = r.item AND d.variant = r.variant"""


def _build_agreeing_share_sql(two_option_column: str, agreeing_position_sql: str) -> str:
    """Return the SQL of the agreeing option's share of a pair of numbers; null if both are 0."""
    return f"{two_option_column}[{agreeing_position_sql}] / nullif({two_option_column}[1] + {two_option_column}[2], 0)"


def _build_agreement_and_validity_sql(common_kind: _StimulusKind, agree_place: str) -> tuple[str, str]:
    """Return the SQL of agreement and validity for rows with probabilities, sampled counts or only an answer."""
    yes = f"coalesce(d.agree_label, {quote_sql_literal(common_kind.labels[0])})"
    samples = '(r."count"[1] + r."count"[2] + coalesce(r.invalid, 0))'
    agreement = f"""CASE
        WHEN r.probability IS NOT NULL THEN {_build_agreeing_share_sql("r.probability", agree_place)}
        WHEN r."count" IS NOT NULL THEN {_build_agreeing_share_sql('r."count"', agree_place)}
        WHEN r.answer = {yes} THEN 1.0
        WHEN r.answer IS NOT NULL THEN 0.0 END"""
    validity = f"""CASE
        WHEN r.probability IS NOT NULL THEN coalesce(r.mass, r.probability[1] + r.probability[2])
        WHEN r."count" IS NOT NULL THEN (r."count"[1] + r."count"[2]) / {samples}
        WHEN r.answer IS NOT NULL THEN 1.0 ELSE 0.0 END"""
    return agreement, validity


def _refuse_duplicate_rows(runs: Runs) -> None:
    """Refuse duplicate rows, which the sums show: a search for the same key in all rows is too slow."""
    duplicate = runs.execute(
        """
        WITH item AS (
            SELECT study, model, condition, item,
                   coalesce(sum(n_rows) FILTER (WHERE original), 0) AS originals,
                   coalesce(sum(n_rows) FILTER (WHERE NOT original), 0) AS paraphrases
            FROM item_patterns GROUP BY study, model, condition, item)
        SELECT study, model, condition, item FROM item JOIN study_items USING (study, item)
        WHERE originals > n_originals OR paraphrases > n_paraphrases
        ORDER BY ALL LIMIT 1"""
    ).fetchone()
    if duplicate:
        study, model, condition, item = duplicate
        raise InputError(
            f"{runs.join_folder_paths(study)}: responses: model {model!r}, condition {condition!r}: item {item!r} has "
            "more answers than variants in stimuli.parquet (duplicate rows?)"
        )


def _build_label_list_sql(labels: Sequence[str]) -> str:
    """Return the SQL of a list of labels."""
    return "[" + ", ".join(map(quote_sql_literal, labels)) + "]"
