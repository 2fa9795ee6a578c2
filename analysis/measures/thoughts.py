"""Read what several thoughts of one prompt say: how far they differ, and how many did not end.

After each thought m a run holds the exact probability p_mk of every option k, with the sum, or mass, M_m. The answer is
a ratio of means over thoughts: with a number x_k for each option (1 for agreement and 0 for disagreement, or the number
of a scale itself), R = mean_m(sum_k p_mk x_k) / mean_m(M_m). Its error is that of the mean of the linearised values

    e_m = (sum_k p_mk x_k - R M_m) / mean(M),

which are R_m - R where all masses are equal. Their variance (n - 1) is that of a single thought. Whoever draws one
answer after each thought, and counts these, has a larger one: to it comes the variance of the answer given the thought,

    w_m = (sum_k p_mk (x_k - R)^2 - (sum_k p_mk (x_k - R))^2) / mean(M)^2.

References
----------
Cochran, W. G. (1977). Sampling Techniques, section 2.11 (variance of a ratio).
Casella, G. and Robert, C. P. (1996). Rao-Blackwellisation of sampling schemes. Biometrika 83, 81-94.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from analysis.runs.folder import KEY

if TYPE_CHECKING:
    import pandas as pd

    from analysis.runs import Runs

NO_EFFORT = "none"  # field `effort` of conditions with thinking off, whose answers are probabilities as of any model
THOUGHT = "thought"  # field `answer` of conditions in which a model thinks before it answers
_KEYS = ", ".join(KEY)


def list_thought_conditions(conditions: Mapping[str, Mapping[str, Any]]) -> frozenset[str]:
    """List the conditions of a study in which models think before they answer; not those with thinking off.

    >>> sorted(list_thought_conditions({"plain": {}, "plain/thought": {"answer": "thought", "thoughts": 8}}))
    ['plain/thought']
    """
    return frozenset(
        name
        for name, fields in conditions.items()
        if fields.get("answer") == THOUGHT and fields.get("effort") != NO_EFFORT
    )


def has_probabilities_after_single_thoughts(runs: Runs, study: str) -> bool:
    """Tell from file footers whether a study may have probabilities after single thoughts, or of judged texts.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    study
        Its name.
    """
    return any("sample_probability" not in folder.empty for folder in runs.folders if folder.study == study)


def build_sql_of_answered_option() -> str:
    """Write the SQL of the option that a row says: its answer; of several thoughts the likeliest option of their mean.

    The row's own `answer` is what most thoughts say, which is less exact, and often a tie. In the query, the response
    is `r`, and its wording with the options `s`. Null without a valid answer, and where two options are as likely.
    """
    ordered = "list_reverse_sort(r.probability)"
    return f"""CASE WHEN r.thought_tokens IS NULL THEN r.answer
        WHEN len(r.probability) = 1 OR {ordered}[1] > {ordered}[2]
        THEN s.options[list_position(r.probability, {ordered}[1])] END"""


def build_sample_moments_sql(rows_sql: str) -> str:
    """Write the SQL of how far the samples behind each answer differ; rows stream, and none is held.

    Parameters
    ----------
    rows_sql
        SQL of rows with the columns of a response's key, `sample_probability`, and `option_numbers`: a number per
        option.

    Returns
    -------
    str
        SQL of the key; ratio: R; samples: thoughts, or judged texts, that have an answer; spread: variance (n - 1) of
        the e_m, null below two; counting: mean of the w_m. In the unit of the numbers, and squared; no row where no
        option has any probability.
    """
    return f"""
        SELECT {_KEYS}, ratio, len(known) AS samples,
               CASE WHEN len(known) > 1 THEN
                    list_sum([(pair[1] - ratio * pair[2]) ^ 2 FOR pair IN list_zip(sums, masses)])
                    / (len(known) - 1) / mass ^ 2 END AS spread,
               list_avg([greatest(entry[3] - 2 * ratio * entry[1] + ratio ^ 2 * entry[2]
                                  - (entry[1] - ratio * entry[2]) ^ 2, 0)
                         FOR entry IN list_zip(sums, masses, squares)]) / mass ^ 2 AS counting
        FROM (SELECT *, list_sum(sums) / list_sum(masses) AS ratio, list_avg(masses) AS mass
              FROM (SELECT *, [list_sum(x) FOR x IN known] AS masses,
                           [list_inner_product(x, option_numbers) FOR x IN known] AS sums,
                           [list_inner_product(x, squared_numbers) FOR x IN known] AS squares
                    FROM (SELECT {_KEYS}, [x FOR x IN sample_probability IF x IS NOT NULL] AS known,
                                 option_numbers::DOUBLE[] AS option_numbers,
                                 [(number * number)::DOUBLE FOR number IN option_numbers] AS squared_numbers
                          FROM ({rows_sql}) WHERE sample_probability IS NOT NULL))
              WHERE list_sum(masses) > 0)"""


def count_unclosed_thoughts(runs: Runs) -> pd.DataFrame:
    """Count the thoughts that did not end by themselves, by study, model and condition; once per `Runs`.

    Returns
    -------
    DataFrame
        study, model, condition; thoughts: all of them; unclosed: those that did not end; budget: whether these were
        closed by force, and so have an answer; unanswered: prompts of which no thought has an answer. One row per unit
        that thinks, in the order of run.json.
    """
    return runs.compute_once("unclosed thoughts", lambda: _query_counts_of_unclosed_thoughts(runs))


def _query_counts_of_unclosed_thoughts(runs: Runs) -> pd.DataFrame:
    """Query what `count_unclosed_thoughts` returns."""
    names = {study: list_thought_conditions(conditions) for study, conditions in runs.info["conditions"].items()}
    thinking = [(study, condition) for study, conditions in names.items() for condition in sorted(conditions)]
    frame = runs.sql(
        """
        SELECT study, model, condition, sum(len(thought_tokens))::BIGINT AS thoughts,
               sum(coalesce(unclosed, 0))::BIGINT AS unclosed,
               count(*) FILTER (WHERE probability IS NULL) AS unanswered
        FROM responses JOIN units USING (study, model, condition)
        WHERE list_contains($thinking, study || chr(10) || condition) AND thought_tokens IS NOT NULL
        GROUP BY study, model, condition, units.position ORDER BY units.position""",
        {"thinking": [f"{study}\n{condition}" for study, condition in thinking] or [""]},
    )
    budgets = [
        runs.info["conditions"][study][condition].get("budget") is not None
        for study, condition in frame[["study", "condition"]].itertuples(index=False)
    ]
    frame["budget"] = budgets
    return frame[["study", "model", "condition", "thoughts", "unclosed", "budget", "unanswered"]]


def compute_longest_thought_and_least_answered(
    runs: Runs, study: str, conditions: frozenset[str]
) -> tuple[float, float]:
    """Measure how long thoughts are, and how many have an answer; of several models, the longest and the fewest.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    study
        Its name.
    conditions
        Those whose thoughts count.

    Returns
    -------
    tuple of float
        Mean tokens of a thought, those without an end included; share of thoughts with an answer. NaN without thoughts.
    """
    longest, fewest = runs.execute(
        """
        SELECT max(tokens), min(answered)
        FROM (SELECT sum(list_sum(thought_tokens)) / sum(len(thought_tokens)) AS tokens,
                     sum(len([x FOR x IN sample_probability IF x IS NOT NULL])) / sum(len(thought_tokens)) AS answered
              FROM responses WHERE study = ? AND list_contains(?, condition) AND thought_tokens IS NOT NULL
              GROUP BY model, condition)""",
        [study, sorted(conditions)],
    ).fetchall()[0]
    return (float("nan"), float("nan")) if longest is None else (float(longest), float(fewest))
