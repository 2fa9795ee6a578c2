"""Count per item, in SQL, what every model answered to every wording of a question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.measures.agreement import build_nonanswer_wins_among_samples_sql, refuse_unknown_invalid_answer_convention
from analysis.measures.part_names import name_tasks_of_study
from analysis.measures.thoughts import build_sql_of_answered_option
from analysis.runs import Runs
from analysis.runs.conditions import MAY_DIFFER_BETWEEN_MODELS
from analysis.runs.folder import ORIGINAL, quote_sql_literal
from analysis.statistics.resampling import Array
from ground.errors import InputError

PROTOCOL = "wording"
# What may be done to a question, with the heading that figures give it.
PATTERNS = {
    "synonym": "Synonym",
    "antonym": "Antonym",
    "agreement": "Agreement",
    "strong_agreement": "Strong agreement",
}
STAGES = {"base": "base", "instruct": "instruct", "tuned": "instruct"}  # the paper has these two columns
UNIT = ["study", "model", "language", "task", "condition", "pattern"]  # what a measure is computed for
RUN_FIELDS = ("stage", "series", "parameters", "form", "shots", "seeds", "setting")  # of its model and condition
# Sums over the wordings of one item, as a rule one wording; `_query_pair_counts_by_unit_and_item` explains each.
SUMS = ("asked", "valid", "read", "pairs", "consistent", "yes", "yes_original", "yes_expected", "gold", "right",
        "right_original")  # fmt: skip


@dataclass(frozen=True)
class WordingItemSums:
    """Hold the item-level sums that every measure is computed from.

    Attributes
    ----------
    units
        One row per unit, with the columns of `UNIT` and stage ("base", "instruct" or None), series, parameters, form,
        shots, seeds, setting (all other fields of the condition). A unit's number is its row here, counted from 0.
    sums
        Name (`SUMS`) -> array (items, units), 0 where the unit was not asked the item.
    has
        Array (items, units): True where the unit was asked the item.
    """

    units: pd.DataFrame
    sums: Mapping[str, Array]
    has: npt.NDArray[np.bool_]


def create_wording_answers_view(runs: Runs) -> None:
    """Create, once per `Runs`, the view `wording_answers`: one row per response of the protocol `wording`.

    Columns: study, model, condition, item, variant, place (of the variant in the study), pattern, language, task
    (the attribute `task`, else the study's name), gold, yes (whether the answer is "Yes"; null: no valid answer),
    meant (the answer to the original question that this one amounts to), inverted (whether "Yes" here means what "No"
    means there), p_yes = p(Yes) / (p(Yes) + p(No)) (Takayama et al., footnote 5), from probabilities, else from sampled
    counts; null without either. The answer of sampled rows is that of most samples; a tie is not a valid answer.
    outvoted: at least as many samples hold no answer as give the more frequent one
    (`agreement.build_nonanswer_wins_among_samples_sql`).

    Raises
    ------
    InputError
        For runs without the protocol; canonical labels that are not two; stimuli that are not about these, an unknown
        pattern, and an item without exactly one original question.
    """
    runs.compute_once("view wording_answers", lambda: _create_wording_answers_view(runs))


def _create_wording_answers_view(runs: Runs) -> None:
    names = runs.list_studies_of_protocols(PROTOCOL)
    if not names:
        raise InputError(f"{runs.join_folder_paths()}: no run of the protocol '{PROTOCOL}'; consistency needs one")
    labels = {name: _read_yes_no_labels(runs, name) for name in names}
    for name in names:
        _refuse_malformed_wording_stimuli(runs, name, labels[name])
    views = " UNION ALL ".join(_build_wording_view_sql_of_study(runs, name, labels[name][0]) for name in names)
    runs.execute(f"CREATE TEMP VIEW wording_answers AS {views}")


def compute_wording_item_sums_of_all_studies(runs: Runs, invalid: str = "dropped") -> WordingItemSums:
    """Compute the item-level sums of all wording studies of the runs.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    invalid
        How to count a pair (original, reworded) with an answer that is not valid: "dropped", or "inconsistent" (and
        wrong, and not "Yes"). If samples were drawn, the invalid ones are dropped, or counted, too: then an answer that
        they outvote is not valid.

    Returns
    -------
    WordingItemSums
        Units in the order of run.json.

    Raises
    ------
    InputError
        As `create_wording_answers_view`; for an unknown convention, and a number of exemplars that is none.
    """
    refuse_unknown_invalid_answer_convention(invalid)
    create_wording_answers_view(runs)
    return runs.compute_once(
        ("wording cells", invalid),
        lambda: _pivot_item_sums_into_arrays(runs, _query_pair_counts_by_unit_and_item(runs, invalid)),
    )


def _read_yes_no_labels(runs: Runs, study: str) -> list[str]:
    """Return the study's two labels, yes and no, from run.json; refuse any other canonical options."""
    labels = runs.info["studies"][study]["canonical"]
    if not isinstance(labels, list) or len(labels) != 2 or labels[0] == labels[1]:
        raise InputError(
            f"{runs.find_path_of_study(study)}: run.json: study.canonical is {labels!r}; consistency needs yes and no"
        )
    return [str(label) for label in labels]


def _refuse_malformed_wording_stimuli(runs: Runs, study: str, yes_no_labels: list[str]) -> None:
    """Refuse unknown patterns, options other than the two labels, and items without exactly one original question."""
    patterns = ", ".join(map(quote_sql_literal, (ORIGINAL, *PATTERNS)))
    pair = "[" + ", ".join(map(quote_sql_literal, sorted(yes_no_labels))) + "]"
    wrong_labels = quote_sql_literal(f"has options and canonical labels other than {' and '.join(yes_no_labels)}")
    wrong = runs.execute(
        f"""
        SELECT item, variant, CASE WHEN pattern NOT IN ({patterns}) THEN 'has the unknown pattern ' || pattern
            ELSE {wrong_labels} END
        FROM stimuli WHERE study = ? AND (pattern NOT IN ({patterns}) OR list_sort(options) <> {pair}
                                          OR list_sort(canonical) <> {pair})
        ORDER BY position LIMIT 1""",
        [study],
    ).fetchone()
    if wrong:
        item, variant, problem = wrong
        raise InputError(
            f"{runs.find_path_of_study(study)}: stimuli.parquet: item {item!r}, variant {variant!r} {problem}"
        )
    item_without_one_original = runs.execute(
        f"SELECT item, count(*) FILTER (WHERE pattern = '{ORIGINAL}') AS n FROM stimuli WHERE study = ? "
        "GROUP BY item HAVING n <> 1 ORDER BY min(position) LIMIT 1",
        [study],
    ).fetchone()
    if item_without_one_original:
        raise InputError(
            f"{runs.find_path_of_study(study)}: stimuli.parquet: item {item_without_one_original[0]!r} has "
            f"{item_without_one_original[1]} original questions{' in this part' if runs.part else ''}; it needs one"
        )


def _build_wording_view_sql_of_study(runs: Runs, study: str, yes_label: str) -> str:
    """Return the SQL of one study's rows of the view."""
    task = "map_extract(s.attributes, 'task')[1]"
    tasks = runs.sql(f"SELECT DISTINCT {task} AS task FROM stimuli AS s WHERE study = ?", [study])["task"]
    new_names = dict(zip(tasks.dropna(), name_tasks_of_study(tasks, study)[tasks.notna()], strict=True))
    renamed = "".join(
        f" WHEN {task} = {quote_sql_literal(name)} THEN {quote_sql_literal(new_name)}"
        for name, new_name in new_names.items() if name != new_name
    )  # fmt: skip
    name, yes_sql = quote_sql_literal(study), quote_sql_literal(yes_label)
    place = f"list_position(s.options, {yes_sql})"
    counted = 'r."count"[1] + r."count"[2]'
    said = build_sql_of_answered_option()
    most = """CASE WHEN r."count"[1] > r."count"[2] THEN s.options[1] WHEN r."count"[2] > r."count"[1]
               THEN s.options[2] END"""
    return f"""
        SELECT {name} AS study, model, condition, item, variant, place, pattern, language, task, gold,
               said = {yes_sql} AS yes, canonical[list_position(options, said)] AS meant,
               canonical[list_position(options, {yes_sql})] <> {yes_sql} AS inverted,
               p_yes, outvoted
        FROM (SELECT r.model, r.condition, r.item, r.variant, s.position AS place, s.pattern,
                     coalesce(s.language, '') AS language,
                     CASE WHEN {task} IS NULL THEN {name}{renamed} ELSE {task} END AS task,
                     s.gold, s.options, s.canonical, coalesce({said}, {most}) AS said,
                     r.probability IS NULL AND coalesce({build_nonanswer_wins_among_samples_sql()}, false) AS outvoted,
                     CASE WHEN r.probability IS NOT NULL
                          THEN r.probability[{place}] / nullif(r.probability[1] + r.probability[2], 0)
                          ELSE r."count"[{place}] / nullif({counted}, 0) END AS p_yes
              FROM (SELECT * FROM responses WHERE study = {name}) AS r
              JOIN (SELECT * FROM stimuli WHERE study = {name}) AS s ON s.item = r.item AND s.variant = r.variant)"""


def _query_pair_counts_by_unit_and_item(runs: Runs, invalid: str) -> pd.DataFrame:
    """Count per unit and item, over the pairs of the original question and a rewording that both have a response.

    asked, valid: rewordings, and those with a valid answer; read: pairs of two valid answers. pairs: pairs that count
    under the convention `invalid`. Of these, consistent: both answers mean the same; yes, yes_original: the answer to
    the rewording, or to the original question, is "Yes"; yes_expected: the answer to the rewording would be "Yes" if it
    meant the same as the answer to the original; gold: the right answer is known; right, right_original: it was given.
    """
    read = "p.meant IS NOT NULL AND o.meant IS NOT NULL"
    used_condition, kept_condition = (read, "true") if invalid == "dropped" else ("true", "NOT outvoted")
    return runs.sql(
        f"""
        WITH counted AS (SELECT * REPLACE (CASE WHEN {kept_condition} THEN yes END AS yes,
                                           CASE WHEN {kept_condition} THEN meant END
                                           AS meant)
                         FROM wording_answers)
        SELECT u.position AS unit, p.study, p.language, p.task, p.model, p.condition, p.pattern, p.item,
               min(p.place) AS place,
               count(*) AS asked, count(p.meant) AS valid, count(*) FILTER (WHERE {read}) AS read,
               count(*) FILTER (WHERE {used_condition}) AS pairs,
               count(*) FILTER (WHERE ({used_condition}) AND p.meant = o.meant) AS consistent,
               count(*) FILTER (WHERE ({used_condition}) AND p.yes) AS yes,
               count(*) FILTER (WHERE ({used_condition}) AND o.yes) AS yes_original,
               count(*) FILTER (WHERE ({used_condition}) AND o.yes <> p.inverted) AS yes_expected,
               count(*) FILTER (WHERE ({used_condition}) AND p.gold IS NOT NULL) AS gold,
               count(*) FILTER (WHERE ({used_condition}) AND p.meant = p.gold) AS right,
               count(*) FILTER (WHERE ({used_condition}) AND o.meant = p.gold) AS right_original
        FROM counted AS p
        JOIN (SELECT * FROM counted WHERE pattern = '{ORIGINAL}') AS o USING (study, model, condition, item)
        JOIN units AS u USING (study, model, condition)
        GROUP BY ALL ORDER BY place"""
    )


def _pivot_item_sums_into_arrays(runs: Runs, rows: pd.DataFrame) -> WordingItemSums:
    """Turn the sums, one row per unit and item, into arrays (items, units)."""
    units = _sort_units_and_add_run_fields(runs, rows[["unit", *UNIT]].drop_duplicates())
    column = pd.MultiIndex.from_frame(units[UNIT]).get_indexer(pd.MultiIndex.from_frame(rows[UNIT]))
    items = rows.drop_duplicates(["study", "item"]).sort_values(["study", "place"])[["study", "item"]]
    row = pd.MultiIndex.from_frame(items).get_indexer(pd.MultiIndex.from_frame(rows[["study", "item"]]))
    shape = (len(items), len(units))
    has = np.zeros(shape, bool)
    has[row, column] = True
    sums = {name: np.zeros(shape) for name in SUMS}
    for name in SUMS:
        sums[name][row, column] = rows[name]
    return WordingItemSums(units, sums, has)


def _sort_units_and_add_run_fields(runs: Runs, units: pd.DataFrame) -> pd.DataFrame:
    """Sort the units as in run.json, languages and tasks by name, patterns as in the paper; add what run.json says."""
    patterns = {name: place for place, name in enumerate((ORIGINAL, *PATTERNS))}
    frame = units.assign(place=units["pattern"].map(patterns)).sort_values(["unit", "language", "task", "place"])[UNIT]
    unit_fields = [
        _read_run_json_fields_of_unit(runs, *unit)
        for unit in frame[["study", "model", "condition"]].itertuples(index=False, name=None)
    ]
    fields = pd.DataFrame(unit_fields, columns=RUN_FIELDS, dtype=object)
    return pd.concat([frame.reset_index(drop=True), fields], axis=1)


def _read_run_json_fields_of_unit(runs: Runs, study: str, model: str, condition: str) -> dict[str, Any]:
    """Return the fields of run.json about a unit's model and condition."""
    fields, settings = runs.info["models"][model], runs.info["conditions"][study][condition]
    # Left out: form and shots have their own fields, and the prompt's hash and exemplars follow from them.
    other_settings = {key: value for key, value in settings.items()
             if key not in (*MAY_DIFFER_BETWEEN_MODELS, "shots", "prompt_hash") and "exemplar" not in key}  # fmt: skip
    return {
        "stage": STAGES.get(str(fields.get("stage"))),
        "series": fields.get("series"),
        "parameters": fields.get("parameters"),
        "form": settings.get("form"),
        "shots": _parse_shots(
            f"{runs.find_path_of_study(study)}: run.json: conditions: {condition}", settings.get("shots")
        ),
        "seeds": repr([settings.get(name) for name in MAY_DIFFER_BETWEEN_MODELS if name != "form"]),
        "setting": repr(sorted(other_settings.items())),
    }


def average_validity_over_patterns_per_row(frame: pd.DataFrame) -> pd.Series:
    """Return the validity of each row's model on its language and task: the mean over patterns of the share `valid`."""
    return frame.groupby([name for name in UNIT if name != "pattern"], sort=False)["valid"].transform("mean")


def _parse_shots(where: str, shots: Any) -> int:
    """Convert the number of exemplars, which is text where it was imported; none is 0."""
    try:
        return int(shots or 0)
    except ValueError:
        raise InputError(f"{where}: shots is {shots!r}, not a whole number") from None


def get_name_of_language(language: str) -> str:
    """Name a language, where it is one of the paper's two.

    >>> get_name_of_language("ja"), get_name_of_language("de")
    ('Japanese', 'de')
    """
    return {"en": "English", "ja": "Japanese"}.get(language, language)
