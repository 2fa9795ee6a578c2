"""Tell which answers chance had a part in: an answer that was drawn can change without another wording.

Answers are *determined* where a run holds probabilities, or texts of temperature 0. All others are drawn: texts of a
temperature above 0, or of one that is not recorded, and what follows thoughts, also where it is probabilities. With one
drawn answer per wording, effects of the wording cannot be told from chance. Two samples or more tell them apart: those
of one wording then agree more often than those of different wordings of the item.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from analysis.measures import agreement
from analysis.measures.thoughts import THOUGHT, has_probabilities_after_single_thoughts
from analysis.runs.folder import ORIGINAL, UNIT

if TYPE_CHECKING:
    import pandas as pd

    from analysis.runs import Runs

DETERMINED, DRAWN, SAMPLED = "determined", "drawn once", "sampled"
_ABOUT_CHANCE = ("probability", "logprob", "output", "thought_tokens", "sample_score", "count", "invalid")
RARE = 0.05  # share of a unit's answers up to which those drawn once do not count


def classify_answers_as_determined_or_sampled(runs: Runs) -> pd.DataFrame:
    """Tell of every model and condition whether its answers are determined, drawn once per wording, or sampled.

    Returns
    -------
    DataFrame
        study, model, condition; answers: `DETERMINED`, `DRAWN` or `SAMPLED`, by the rows of its responses and the
        fields of its condition in run.json.
    """
    return runs.compute_once("classified answers", lambda: _classify_units_as_determined_or_sampled(runs))


def _classify_units_as_determined_or_sampled(runs: Runs) -> pd.DataFrame:
    """Classify the answers of every model and condition as determined, drawn once or sampled, without a cache."""
    units = runs.sql("SELECT study, model, condition FROM units ORDER BY position").assign(answers=DETERMINED)
    conditions = runs.info["conditions"]
    open_conditions = {
        study: [name for name, fields in study_conditions.items() if not has_deterministic_answers(fields)]
        for study, study_conditions in conditions.items()
        if has_probabilities_after_single_thoughts(runs, study)
        or not all(folder.two_probabilities for folder in runs.folders if folder.study == study)
    }
    kinds: dict[tuple[str, str, str], str] = {}
    for study, names in open_conditions.items():
        # A log of lm-eval that holds no text has compared log-likelihoods, also where only right or wrong was kept.
        compared = [name for name in names if conditions[study][name].get("filter")]
        columns = runs.build_select_list_of_response_columns(study, _ABOUT_CHANCE)
        rows = runs.execute(
            f"""
            SELECT model, condition, avg(CAST(drawn AND samples < 2 AS DOUBLE)), avg(CAST(drawn AS DOUBLE))
            FROM (SELECT model, condition, probability IS NULL AND logprob IS NULL
                         AND NOT (output IS NULL AND list_contains($compared, condition))
                         OR thought_tokens IS NOT NULL AS drawn,
                         coalesce(len(sample_score), len(thought_tokens), list_sum("count") + coalesce(invalid, 0),
                                  len(output), 1)
                         AS samples
                  FROM (SELECT model, condition, {columns} FROM responses
                        WHERE study = $study AND list_contains($names, condition)))
            GROUP BY model, condition""",
            {"study": study, "names": names, "compared": compared},
        ).fetchall()
        for model, condition, once, drawn in rows:
            kinds[study, model, condition] = DRAWN if once > RARE else SAMPLED if drawn > RARE else DETERMINED
    keys = units[list(UNIT)].itertuples(index=False, name=None)
    units["answers"] = [kinds.get(key, DETERMINED) for key in keys]
    return units


def has_deterministic_answers(condition_fields: Mapping[str, Any]) -> bool:
    """Tell whether a condition of run.json determines its answers; one without a temperature need not.

    >>> (has_deterministic_answers({"temperature": 0.0}), has_deterministic_answers({"temperature": "0"}),
    ...  has_deterministic_answers({"method": "exact"}))
    (True, True, True)
    >>> (has_deterministic_answers({"temperature": 0.7}), has_deterministic_answers({}),
    ...  has_deterministic_answers({"temperature": "low"}))
    (False, False, False)
    """
    try:
        is_exact = condition_fields.get("method") == "exact" and condition_fields.get("answer") != THOUGHT
        return is_exact or float(condition_fields.get("temperature", "unknown")) == 0
    except (TypeError, ValueError):
        return False


def measure_same_vs_cross_wording_gap_per_item(runs: Runs, study: str) -> pd.DataFrame:
    """Measure how much more often two samples of one wording agree than two of different wordings of the item.

    Of scores, it is how much closer they are, as the mean squared difference of two: of scores 0 and 1, that is how
    often they disagree. An item counts with at least two wordings, one of them with two samples. Where the samples of
    an item differ by chance only, the expectation is 0: pairs of samples are then exchangeable, whatever wording they
    are from.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    study
        One of them. Of the protocol `agreement` without originals, as on its page.

    Returns
    -------
    DataFrame
        model, condition, item; gap: share of agreeing pairs within wordings minus that between them, -1 to 1; or of
        scores, mean squared difference between wordings minus that within.
    """
    (n_scored,) = runs.execute("SELECT count(sample_score) FROM responses WHERE study = ?", [study]).fetchone()
    if n_scored:
        return _measure_same_vs_cross_wording_score_gap(runs, study)
    # n samples, a of them "yes" and b of them "no", make n (n - 1) ordered pairs, of which a (a - 1) + b (b - 1) agree.
    # Two wordings, one with 2 "yes" and one with 2 "no": 4 of 4 pairs within wordings agree, 0 of 8 between: gap 1.
    of_agreement = runs.info["studies"][study]["protocol"] == agreement.PROTOCOL
    return runs.sql(
        f"""
        WITH said AS (
            SELECT r.model, r.condition, r.item, r.variant, unnest(s.canonical) AS label,
                   unnest(coalesce(r."count", [len([said FOR said IN r.sample_answer IF said = option])
                                               FOR option IN s.options])) AS n
            FROM (SELECT * FROM responses WHERE study = $study AND (probability IS NULL AND "count" IS NOT NULL
                         OR thought_tokens IS NOT NULL AND sample_answer IS NOT NULL)) AS r
            JOIN (SELECT * FROM stimuli WHERE study = $study AND (pattern <> '{ORIGINAL}' OR NOT $of_agreement)) AS s
                 USING (item, variant)),
        wordings AS (SELECT model, condition, item, sum(n) AS n, sum(n * (n - 1)) AS alike FROM said
                     GROUP BY model, condition, item, variant),
        within_ones AS (SELECT model, condition, item, sum(n) AS n, sum(alike) AS alike, sum(n * (n - 1)) AS pairs
                        FROM wordings GROUP BY model, condition, item),
        labels AS (SELECT model, condition, item, sum(n) AS n FROM said GROUP BY model, condition, item, label),
        every AS (SELECT model, condition, item, sum(n * (n - 1)) AS alike FROM labels
                  GROUP BY model, condition, item)
        SELECT model, condition, item,
               CAST(w.alike / w.pairs - (e.alike - w.alike) / (w.n * (w.n - 1) - w.pairs) AS DOUBLE) AS gap
        FROM within_ones AS w JOIN every AS e USING (model, condition, item)
        WHERE w.pairs > 0 AND w.n * (w.n - 1) > w.pairs ORDER BY ALL""",
        {"study": study, "of_agreement": of_agreement},
    )


def _measure_same_vs_cross_wording_score_gap(runs: Runs, study: str) -> pd.DataFrame:
    """Measure how much closer two scores of one wording are than two of different wordings of the item."""
    # The squared differences of all n (n - 1) ordered pairs of n numbers add up to 2 n^2 times their variance.
    return runs.sql(
        """
        WITH drawn AS (
            SELECT model, condition, item, variant, unnest(coalesce(sample_score, [score])) AS score
            FROM responses WHERE study = $study AND score IS NOT NULL),
        wordings AS (SELECT model, condition, item, count(*) AS n, 2 * count(*) ^ 2 * var_pop(score) AS apart
                     FROM drawn GROUP BY model, condition, item, variant),
        within_ones AS (SELECT model, condition, item, sum(apart) AS apart, sum(n * (n - 1)) AS pairs
                        FROM wordings GROUP BY model, condition, item),
        every AS (SELECT model, condition, item, count(*) AS n, 2 * count(*) ^ 2 * var_pop(score) AS apart
                  FROM drawn GROUP BY model, condition, item)
        SELECT model, condition, item,
               CAST((e.apart - w.apart) / (e.n * (e.n - 1) - w.pairs) - w.apart / w.pairs AS DOUBLE) AS gap
        FROM within_ones AS w JOIN every AS e USING (model, condition, item)
        WHERE w.pairs > 0 AND e.n * (e.n - 1) > w.pairs ORDER BY ALL""",
        {"study": study},
    )
