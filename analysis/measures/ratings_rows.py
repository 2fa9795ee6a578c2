"""Read items, conditions and answers of protocol `scale` from runs, for `analysis.measures.ratings`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pandas as pd

from analysis.measures.thoughts import build_sample_moments_sql, has_probabilities_after_single_thoughts
from analysis.runs import Runs
from analysis.runs.conditions import build_options_without_middle_sql, list_conditions_that_omitted_middle_option
from analysis.runs.folder import ORIGINAL
from ground.errors import InputError

SHOWN = ("labels", "option_order", "without_middle")  # fields of a condition: how the options are shown
PERSONA = "persona"
# What no setting is told apart by: the persona, and what goes with it or with the labels.
_OF_SHOWN = frozenset({PERSONA, "persona_text", "prompt_hash", "label_rule", "text_rule"})
KEYS = ("1", "-1")


def read_scale_key_and_options_of_items(runs: Runs, study: str) -> pd.DataFrame:
    """Read the items of a study with scale, key and options; refuse what contradicts itself."""
    rows = runs.sql(
        f"""
        SELECT item, coalesce(min(text) FILTER (WHERE pattern = '{ORIGINAL}'), arg_min(text, position)) AS text,
               any_value(map_extract(attributes, 'scale')[1]) AS scale,
               coalesce(any_value(map_extract(attributes, 'key')[1]), '1') AS key, any_value(options) AS options,
               count(DISTINCT coalesce(map_extract(attributes, 'scale')[1], '')) AS n_scales,
               count(DISTINCT coalesce(map_extract(attributes, 'key')[1], '1')) AS n_keys,
               count(DISTINCT options) AS n_orders, count(*) FILTER (WHERE pattern <> '{ORIGINAL}') AS n_others
        FROM stimuli WHERE study = ? GROUP BY item ORDER BY min(position)""",
        [study],
    )
    for row in rows.itertuples():
        where = f"{runs.join_folder_paths(study)}: stimuli.parquet: item {row.item!r}"
        if row.key not in KEYS:
            raise InputError(f"{where}: key is {row.key!r}; it must be 1, or -1 for a reversed item")
        if max(row.n_scales, row.n_keys, row.n_orders) > 1:
            raise InputError(f"{where}: its wordings differ in scale, key or options; give them one")
    return rows.assign(key=rows["key"].astype(int), scale=rows["scale"].astype(object).where(rows["scale"].notna()))


def tabulate_models_and_conditions_of_ratings(runs: Runs, study: str) -> pd.DataFrame:
    """Describe the models and conditions of a study: setting, and how the options were shown."""
    conditions = runs.info["conditions"][study]
    cut = list_conditions_that_omitted_middle_option(conditions)
    settings = name_settings_without_personas(conditions)
    without_personas = name_settings_without_personas(conditions, ())
    return pd.DataFrame([
        {"model": model, "condition": condition, "setting": settings[condition],
         "presentation": without_personas[condition],
         "labels": conditions[condition].get("labels"), "option_order": conditions[condition].get("option_order"),
         "without_middle": condition in cut,
         PERSONA: conditions[condition].get(PERSONA)}
        for model, condition in runs.list_units_of_study(study)
    ])  # fmt: skip


def name_settings_without_personas(
    conditions: Mapping[str, Mapping[str, Any]], ignored: Collection[str] = SHOWN
) -> dict[str, str]:
    """Name what conditions have in common that differ in the persona, or in some other fields, alone.

    Parameters
    ----------
    conditions
        Name -> fields, as run.json has them.
    ignored
        Fields that may differ, too: how the options are shown; none, to put only personas together.

    Returns
    -------
    dict
        Condition -> setting. With and without a persona are two.

    >>> fields = {"form": "plain", "labels": "numbers", "option_order": "up"}
    >>> both = {"plain/numbers-up/persona-ann/text": {**fields, "persona": "ann"}, "plain/numbers-up": fields}
    >>> list(name_settings_without_personas(both).values()), list(name_settings_without_personas(both, ()).values())
    (['plain/personas/text', 'plain'], ['plain/numbers-up/personas/text', 'plain/numbers-up'])
    """
    by_fields: dict[frozenset[tuple[str, str]], list[str]] = {}
    for name, fields in conditions.items():
        about = {key: repr(value) for key, value in fields.items() if key not in {*ignored, *_OF_SHOWN}}
        about[PERSONA] = str(bool(fields.get(PERSONA)))
        by_fields.setdefault(frozenset(about.items()), []).append(name)
    short = {
        names[0]: _omit_persona_and_display_from_name(names[0], conditions[names[0]], ignored)
        for names in by_fields.values()
    }
    return {
        name: short[names[0]] if list(short.values()).count(short[names[0]]) == 1 else names[0]
        for names in by_fields.values()
        for name in names
    }


def _omit_persona_and_display_from_name(name: str, fields: Mapping[str, Any], ignored: Collection[str]) -> str:
    """Write "personas" for the persona, and leave out how the options are shown where that is ignored."""
    if fields.get(PERSONA):
        name = name.replace(f"/persona-{fields[PERSONA]}", "/personas", 1)
    dropped = {f"{fields.get('labels')}-{fields.get('option_order')}", "no-middle"} if ignored else set()
    return "/".join(part for part in name.split("/") if part not in dropped) or name


def read_rating_answers_of_study(runs: Runs, study: str, codes: pd.DataFrame, n_ranks: int) -> pd.DataFrame:
    """Read the answers of a study.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    study
        Its name.
    codes
        item, variant, item_code, wording_code: the wordings that count.
    n_ranks
        Most options of an item.

    Returns
    -------
    DataFrame
        unit, item, wording: places; p1 ... pK: shares of the options, 0 for those that the item has not; validity,
        validity_at_most: the same where exact;
        samples: valid ones behind a count, or thoughts; spread, counting: of thoughts, as in `measures.thoughts`.
    """
    _create_rating_units_table(runs, study)
    has_thoughts = has_probabilities_after_single_thoughts(runs, study)
    columns, moments = "a.samples, NULL::DOUBLE AS spread, NULL::DOUBLE AS counting", ""
    if has_thoughts:
        numbers = "[(rank - 1) / (len(options) - 1) FOR rank IN range(1, len(options) + 1)] AS option_numbers"
        of_samples = build_sample_moments_sql(f"SELECT *, {numbers} FROM ({_RESPONSES_WITH_OPTIONS})")
        columns = "coalesce(m.samples, a.samples) AS samples, m.spread, m.counting"
        moments = f"LEFT JOIN ({of_samples}) AS m USING (model, condition, item, variant)"
    folders = [folder for folder in runs.folders if folder.study == study]
    is_exact = all("probability" in folder.complete and "mass" in folder.complete for folder in folders)
    shares = ", ".join(f"coalesce(p[{rank}], 0) / nullif(total, 0) AS p{rank}" for rank in range(1, n_ranks + 1))
    runs.con.register("rating_codes", codes[["item", "variant", "item_code", "wording_code"]])
    try:
        return runs.sql(
            f"""
            SELECT a.unit, c.item_code AS item, c.wording_code AS wording, {shares}, a.validity,
                   a.validity_at_most, {columns}
            FROM (SELECT *, list_sum(p) AS total FROM ({_EXACT if is_exact else _ANY})) AS a
            JOIN rating_codes AS c USING (item, variant) {moments}""",
            {"study": study},
        )
    finally:
        runs.con.unregister("rating_codes")


def _create_rating_units_table(runs: Runs, study: str) -> None:
    """Create table `rating_units`: model, condition, unit (its place), cut (whether the middle is left out)."""
    runs.execute(
        "CREATE OR REPLACE TEMP TABLE rating_units (model VARCHAR, condition VARCHAR, unit BIGINT, cut BOOLEAN)"
    )
    cut = list_conditions_that_omitted_middle_option(runs.info["conditions"][study])
    units = runs.list_units_of_study(study)
    frame = pd.DataFrame(units, columns=["model", "condition"]).assign(
        unit=range(len(units)), cut=[condition in cut for _, condition in units]
    )
    runs.con.register("rating_unit_rows", frame)
    runs.execute("INSERT INTO rating_units SELECT model, condition, unit, cut FROM rating_unit_rows")
    runs.con.unregister("rating_unit_rows")


# Where the middle option was left out, an answer's lists are about the others.
_RESPONSES_WITH_OPTIONS = f"""
    SELECT r.*, u.unit,
           CASE WHEN u.cut THEN {build_options_without_middle_sql("s.options")} ELSE s.options END AS options
    FROM (SELECT * FROM responses WHERE study = $study) AS r
    JOIN rating_units AS u USING (model, condition)
    JOIN (SELECT item, variant, options FROM stimuli WHERE study = $study) AS s USING (item, variant)"""
_EXACT = """
    SELECT model, condition, item, variant, u.unit, probability AS p, mass AS validity,
           coalesce(mass_upper, mass) AS validity_at_most, NULL::DOUBLE AS samples
    FROM (SELECT * FROM responses WHERE study = $study) JOIN rating_units AS u USING (model, condition)"""
_ANY = f"""
    SELECT *, CASE WHEN probability IS NULL THEN validity ELSE coalesce(mass_upper, validity) END AS validity_at_most
    FROM (SELECT model, condition, item, variant, unit, probability, mass_upper,
           CASE WHEN probability IS NOT NULL THEN probability
                WHEN "count" IS NOT NULL THEN "count"::DOUBLE[]
                WHEN answer IS NOT NULL THEN [(option = answer)::DOUBLE FOR option IN options] END AS p,
           CASE WHEN probability IS NOT NULL THEN coalesce(mass, list_sum(probability))
                WHEN "count" IS NOT NULL THEN list_sum("count") / (list_sum("count") + coalesce(invalid, 0))
                WHEN answer IS NOT NULL THEN 1.0 ELSE 0.0 END AS validity,
           CASE WHEN probability IS NULL THEN list_sum("count") END::DOUBLE AS samples
    FROM ({_RESPONSES_WITH_OPTIONS}))"""
