"""Read every item's score by every model under every condition, with its human score on the same range."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from analysis.measures.agreement import refuse_unknown_invalid_answer_convention
from analysis.measures.part_names import name_parts_beside_rest
from analysis.measures.thoughts import THOUGHT, build_sample_moments_sql, has_probabilities_after_single_thoughts
from analysis.runs import Runs
from analysis.runs.folder import UNIT
from ground.errors import InputError
from ground.numerals import parse_first_number

PROTOCOL = "scoring"
MAKER = "maker"  # in place of a temperature: thoughts are sampled as the maker of the model says
GOLD = "gold"  # in place of a model's id, in rows about human scores
METHODS = ("sampled", "exact")  # and, by field `answer` of a condition, exact after thoughts
UNGROUPED = "all"  # group of items that name no group
TOLERANCE = 1e-6  # largest difference between a row's score and the expectation of its probabilities
_RANGE = re.compile(r"(-?\d+(?:\.\d+)?)-(-?\d+(?:\.\d+)?)")


def read_scores(runs: Runs, invalid: str = "dropped") -> pd.DataFrame:
    """Read one row per study, item, model and condition of the protocol `scoring`.

    What was asked counts, not what was answered: an item has a row where its prompt failed or was not reached, too, so
    that figures of the items and of their human scores are over all items of a study.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    invalid
        Samples without a number are "dropped" from their item's score, as in the paper, or "inconsistent": they count,
        and an item of whose samples at least half hold no number has no score. Of exact scores nothing was drawn:
        nothing is dropped, nothing counts, and both conventions give the same.

    Returns
    -------
    DataFrame
        study, group (attribute `group` of the item, "all" without one, "group all" where it is called so), item, text
        (judged), source (the sentence that was translated);
        model, series, stage, condition, form (of the prompt); range ("0-9"), low, high, temperature (NaN for thoughts
        that are sampled as the maker of the model says), samples (NaN if exact), method (sampled or exact; of thoughts
        thought, with its sampling, effort and budget, as thought-p0.9-low), setting ("0-9/0.7/sampled",
        "0-9/maker/thought");
        score: mean of the valid samples, or expected score, NaN if there is none; gold: the human score, converted from
        its own range to the asked one (Sato et al., footnote 3), NaN if there is none;
        dropped, clipped: samples without a number, and samples moved into the range; validity: share of the samples
        with a number, or the probability of all numbers together; validity_at_most: its upper bound, the same where it
        is exact; answered: whether the prompt has a response. In the order of run.json and of the study.

    Raises
    ------
    InputError
        For an unknown convention, runs without scores, a condition or a row that contradicts results/schema.json, or a
        human score without a known range.
    """
    refuse_unknown_invalid_answer_convention(invalid)
    rows = runs.compute_once("scored rows", lambda: _read_and_check_score_rows(runs))
    if invalid == "dropped":
        return rows
    is_outvoted = (rows["method"] == "sampled") & (rows["validity"] <= 0.5)
    return rows.assign(score=rows["score"].mask(is_outvoted))


def _read_and_check_score_rows(runs: Runs) -> pd.DataFrame:
    """Read and check the rows of `read_scores`, with scores over the samples that hold a number."""
    if not runs.list_studies_of_protocols(PROTOCOL):
        raise InputError(
            f"{runs.join_folder_paths()}: no study of protocol {PROTOCOL!r}; ask for one with `waver run scoring`"
        )
    if GOLD in runs.info["models"]:
        raise InputError(
            f"{runs.join_folder_paths()}: a model is called {GOLD!r}, the name of the human scores; rename it"
        )
    _create_score_conditions_table(runs)
    rows = runs.sql(
        """
        WITH numbers AS (
            SELECT study, model, condition, item, variant, unnest(probability) AS probability,
                   low + generate_subscripts(probability, 1) - 1 AS number
            FROM responses JOIN score_conditions USING (study, condition) WHERE probability IS NOT NULL),
        expectations AS (
            SELECT study, model, condition, item, variant, count(*) AS n_numbers,
                   sum(number * probability) / nullif(sum(probability), 0) AS expected
            FROM numbers GROUP BY ALL)
        SELECT u.study, map_extract(s.attributes, 'group')[1] AS "group", s.item, s.text,
               map_extract(s.attributes, 'source')[1] AS source, r.item IS NOT NULL AS answered,
               u.model, u.condition, c.form, c."range", c.low, c.high, c.temperature, c.samples, c.method,
               r.score, s.gold_score, map_extract(s.attributes, 'gold_range')[1] AS gold_range,
               coalesce(r.invalid, 0) AS dropped, coalesce(r.clipped, 0) AS clipped, e.n_numbers, e.expected,
               CASE c.method WHEN 'sampled' THEN 1 - coalesce(r.invalid, 0) / len(r.output)
                             WHEN 'exact' THEN r.mass
                             ELSE CASE WHEN r.item IS NOT NULL THEN coalesce(r.mass, 0) END END AS validity,
               CASE WHEN c.method <> 'sampled' THEN r.mass_upper END AS mass_upper
        FROM units AS u JOIN score_conditions AS c USING (study, condition) JOIN stimuli AS s USING (study)
        LEFT JOIN responses AS r USING (study, model, condition, item, variant)
        LEFT JOIN expectations AS e USING (study, model, condition, item, variant)
        ORDER BY u.position, s.position"""
    )
    rows["group"] = name_parts_beside_rest(rows["group"], UNGROUPED, "group")
    _check_score_rows(runs, rows)
    rows["validity_at_most"] = rows.pop("mass_upper").fillna(rows["validity"])
    rows["gold"] = _rescale_human_scores(runs, rows)
    rows["setting"] = name_scoring_settings(rows)
    for field in ("series", "stage"):
        rows[field] = rows["model"].map({name: fields.get(field) for name, fields in runs.info["models"].items()})
    return rows.drop(columns=["gold_score", "gold_range", "n_numbers", "expected"])


def name_scoring_settings(rows: pd.DataFrame) -> pd.Series:
    """Join range, temperature and method of every row to one name, such as "0-9/0.7/sampled"."""
    temperatures = rows["temperature"].map("{:g}".format).replace("nan", MAKER)
    return rows["range"] + "/" + temperatures + "/" + rows["method"]


def _create_score_conditions_table(runs: Runs) -> None:
    """Create table `score_conditions`: the conditions of the scoring studies with their checked fields."""
    runs.execute(
        "CREATE OR REPLACE TEMP TABLE score_conditions (study VARCHAR, condition VARCHAR, form VARCHAR, "
        '"range" VARCHAR, low BIGINT, high BIGINT, temperature DOUBLE, samples DOUBLE, method VARCHAR)'
    )
    for study, study_fields in runs.info["studies"].items():
        if study_fields["protocol"] != PROTOCOL:
            continue
        for name, fields in runs.info["conditions"][study].items():
            low, high, temperature, method = _parse_range_temperature_and_method(
                f"{runs.join_folder_paths(study)}: run.json: condition {name!r}", fields
            )
            form, samples = fields.get("form"), fields.get("samples")
            row = [study, name, form, f"{low}-{high}", low, high, temperature, samples, method]
            runs.execute("INSERT INTO score_conditions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)


def _parse_range_temperature_and_method(where: str, condition_fields: Mapping[str, Any]) -> tuple[int, int, float, str]:
    """Check and return a scoring condition's low and high end of the range, temperature and method."""
    ends, temperature, method = (condition_fields.get(name) for name in ("range", "temperature", "method"))
    is_thought = condition_fields.get("answer") == THOUGHT
    if is_thought:  # the field `method` is about scores right after the prompt
        method = _name_thought_method(condition_fields)
        temperature = math.nan if temperature is None else temperature
    if not isinstance(ends, list) or len(ends) != 2 or not all(type(end) is int for end in ends) or ends[0] >= ends[1]:
        raise InputError(f"{where}: range is {ends!r}; scores need two whole numbers, the lower one first")
    if (
        isinstance(temperature, bool)
        or not isinstance(temperature, int | float)
        or not (math.isfinite(temperature) or is_thought)
    ):
        raise InputError(f"{where}: temperature is {temperature!r}; scores need a number")
    if not is_thought and method not in METHODS:
        raise InputError(f"{where}: method is {method!r}; it must be {' or '.join(METHODS)}")
    return ends[0], ends[1], float(temperature), str(method)


def _name_thought_method(condition_fields: Mapping[str, Any]) -> str:
    """Name how scores after thoughts were asked for, but for the temperature, as the name of the condition does.

    >>> _name_thought_method({"top_p": 1, "top_k": 0}), _name_thought_method({"effort": "low", "budget": 512})
    ('thought', 'thought-low-b512')
    >>> _name_thought_method({"top_p": 0.9, "top_k": 40, "effort": "low"})
    'thought-p0.9-k40-low'
    """
    letters = {"top_p": "p", "top_k": "k", "min_p": "m", "effort": "", "budget": "b"}
    values = [(name, condition_fields.get(name)) for name in letters]
    parts = [f"{letters[name]}{value}" for name, value in values if value and (name, value) != ("top_p", 1)]
    return "-".join([THOUGHT, *parts])


def _check_score_rows(runs: Runs, rows: pd.DataFrame) -> None:
    """Refuse rows without an item or with two, scores outside the range, exact scores that contradict probabilities."""
    unknown = runs.sql(
        "SELECT study, model, condition, item FROM responses JOIN score_conditions USING (study, condition) "
        "ANTI JOIN stimuli USING (study, item, variant) LIMIT 1"
    )
    _refuse_wrong_rows(runs, unknown, "is not in stimuli.parquet")
    score, exact = rows["score"], (rows["method"] != "sampled") & rows["answered"]
    is_thought = ~rows["method"].isin(METHODS)
    exact &= ~is_thought | rows["n_numbers"].notna() | score.notna()  # without an end, no thought has probabilities
    wrong_by_problem = {
        "has two answers or two variants; a scoring item has one of each": rows.duplicated([*UNIT, "item"]),
        "has a score outside the range that was asked for": (score < rows["low"]) | (score > rows["high"]),
        "needs one probability for every number of the range": exact
        & (rows["n_numbers"].fillna(0) != rows["high"] - rows["low"] + 1),
        "has a score that is not the expectation of its probabilities": exact
        & ~np.isclose(score, rows["expected"], rtol=0, atol=TOLERANCE, equal_nan=True),
    }
    for problem, is_wrong in wrong_by_problem.items():
        _refuse_wrong_rows(runs, rows[is_wrong], problem)


def _refuse_wrong_rows(runs: Runs, wrong_rows: pd.DataFrame, problem: str) -> None:
    """Name the first of some wrong rows, if there are any."""
    for row in wrong_rows.head(1).to_dict("records"):
        raise InputError(
            f"{runs.join_folder_paths(row['study'])}: responses: model {row['model']!r}, "
            f"condition {row['condition']!r}: item {row['item']!r} {problem}"
        )


def _rescale_human_scores(runs: Runs, rows: pd.DataFrame) -> pd.Series:
    """Convert human scores to the range that was asked for: 75 on 0-100 is 6.75 on 0-9."""
    range_matches = {text: _RANGE.fullmatch(text) for text in rows["gold_range"].dropna().unique()}
    ends_by_range = {text: (float(match[1]), float(match[2])) for text, match in range_matches.items() if match}
    least, most = (rows["gold_range"].map({text: pair[i] for text, pair in ends_by_range.items()}) for i in (0, 1))
    has_score = rows["gold_score"].notna()
    is_wrong = has_score & ~((least < most) & rows["gold_score"].between(least, most))
    if is_wrong.any():
        row = rows[is_wrong].iloc[0]
        raise InputError(
            f"{runs.join_folder_paths(row['study'])}: stimuli.parquet: item {row['item']!r}: "
            f"human score {row['gold_score']:g} with attribute gold_range {row['gold_range']!r}; "
            "it needs a range such as 0-100 that holds the score"
        )
    share = (rows["gold_score"] - least) / (most - least)
    return (rows["low"] + share * (rows["high"] - rows["low"])).astype(float)


def read_sample_counts_and_variances(runs: Runs) -> pd.DataFrame:
    """Read the sampled numbers again from the texts, as they were read for the score, and the scores after thoughts.

    Returns
    -------
    DataFrame
        study, model, condition, item; drawn: texts with a number, or thoughts with an answer; spread: variance (n - 1)
        of their numbers, moved into the range; NaN below two, and where the numbers do not have the row's score as
        their mean: then it was read by another rule; counting: of thoughts, what drawing a number after each would add
        to their variance (`analysis.measures.thoughts`), else NaN.
    """
    rows = runs.sql(
        """
        SELECT study, model, condition, item, output, score, low, high
        FROM responses JOIN score_conditions USING (study, condition)
        WHERE method = 'sampled' AND sample_probability IS NULL AND output IS NOT NULL AND score IS NOT NULL"""
    )
    counts_and_variances = [
        _compute_count_and_variance_of_numbers(texts, score, low, high)
        for texts, score, low, high in zip(rows["output"], rows["score"], rows["low"], rows["high"], strict=True)
    ]
    drawn, spread = zip(*counts_and_variances, strict=True) if counts_and_variances else ((), ())
    of_texts = rows[[*UNIT, "item"]].assign(
        drawn=np.array(drawn, float), spread=np.array(spread, float), counting=np.nan
    )
    if not any(
        has_probabilities_after_single_thoughts(runs, study) for study in runs.list_studies_of_protocols(PROTOCOL)
    ):
        return of_texts
    numbered_sql = (
        "SELECT r.*, range(low, high + 1) AS option_numbers FROM responses AS r "
        "JOIN score_conditions USING (study, condition)"
    )
    of_thoughts = runs.sql(
        "SELECT study, model, condition, item, samples::DOUBLE AS drawn, spread, counting "
        f"FROM ({build_sample_moments_sql(numbered_sql)})"
    )
    return pd.concat([of_texts, of_thoughts], ignore_index=True) if len(of_texts) else of_thoughts


def _compute_count_and_variance_of_numbers(
    texts: Sequence[str | None], score: float, low: int, high: int
) -> tuple[int, float]:
    """Count the texts with a number, and compute the variance of the numbers, moved into the range."""
    numbers = [
        min(max(number, low), high) for text in texts if text and (number := parse_first_number(text)) is not None
    ]
    if len(numbers) < 2 or abs(float(np.mean(numbers)) - score) > TOLERANCE:
        return len(numbers), np.nan
    return len(numbers), float(np.var(numbers, ddof=1))
