"""Choose the examples, and list their prompts and answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from analysis.runs import Runs, model_prompts
from analysis.runs.folder import ORIGINAL, quote_sql_literal

SPREAD, SCORE = "spread", "score"
PLACES = ("first", "middle", "last")


def order_items_and_mark_examples(runs: Runs) -> pd.DataFrame:
    """Order the items of every study, and mark the examples.

    Returns
    -------
    DataFrame
        study, item, text; n_wordings; measure: "spread" or "score", empty where nothing can be compared;
        transcript_value, 0 to 1, NaN where it is undefined; n_units: models times conditions behind it; shown. Of every
        study the items with the largest value come first, those without one last, in the order of the study.
    """

    def order_items_of_all_studies() -> pd.DataFrame:
        """Order the items of every study, and join the studies."""
        return pd.concat([_order_items_of_study(runs, study) for study in runs.info["studies"]], ignore_index=True)

    return runs.compute_once("transcript items", order_items_of_all_studies)


def _order_items_of_study(runs: Runs, study: str) -> pd.DataFrame:
    """Order one study's items by spread or score, largest first, and mark the first, middle and last as examples."""
    frame = runs.sql(
        f"""
        SELECT study, item, coalesce(min(text) FILTER (WHERE pattern = '{ORIGINAL}'), arg_min(text, position)) AS text,
               count(*) AS n_wordings
        FROM stimuli WHERE study = ? GROUP BY study, item ORDER BY min(position)""",
        [study],
    )
    measure = _choose_measure_for_item_order(runs, study, bool((frame["n_wordings"] > 1).any()))
    values = (
        runs.sql(_build_query_of_item_spread_or_score(runs, study, measure))
        if measure
        else pd.DataFrame({"item": [], "transcript_value": [], "n_units": []})
    )
    frame = frame.assign(measure=measure).merge(values, on="item", how="left")
    frame["n_units"] = frame["n_units"].fillna(0).astype(int)
    frame = frame.sort_values("transcript_value", ascending=False, kind="stable", na_position="last", ignore_index=True)
    places = np.flatnonzero(frame["transcript_value"].notna())
    if not len(places):
        frame, places = frame.assign(measure=""), np.flatnonzero(frame["item"].isin(_list_asked_items(runs, study)))
    shown = dict(zip(places[[-1, 0]], ("last", "first"), strict=True)) if len(places) else {}  # a single one is first
    if len(places) > 2:
        shown[places[(len(places) - 1) // 2]] = "middle"
    return frame.assign(shown=[shown.get(place, "") for place in range(len(frame))])


def _list_asked_items(runs: Runs, study: str) -> list[str]:
    """List the items of a study that some model was asked about; of an interrupted run, not all were."""
    rows = runs.execute(
        "SELECT DISTINCT item FROM (SELECT study, item FROM responses UNION ALL SELECT study, item FROM errors) "
        "WHERE study = ?",
        [study],
    ).fetchall()
    return [item for (item,) in rows]


def _choose_measure_for_item_order(runs: Runs, study: str, several_wordings: bool) -> str:
    """Choose what orders the items; empty where the run has neither scores nor two canonical answers."""
    query = "SELECT count(score) FROM responses WHERE study = ?"
    if runs.execute(query, [study]).fetchall()[0][0]:
        return SCORE
    return SPREAD if several_wordings and len(set(runs.info["studies"][study]["canonical"])) == 2 else ""


def build_query_of_first_answer_share_or_score(runs: Runs, study: str, measure: str) -> str:
    """Return the SQL of one number, 0 to 1, per response: columns model, condition, item, variant, number.

    It is the share of the first canonical answer (of probabilities, of sampled texts, else 1 or 0), or the score as a
    share of its condition's scale.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    study
        Its name.
    measure
        `SPREAD` or `SCORE`.

    Returns
    -------
    str
        The query; its number is null where neither is defined.
    """
    name = quote_sql_literal(study)
    responses_sql = (
        f"SELECT r.* FROM responses AS r SEMI JOIN units USING (study, model, condition) WHERE study = {name}"
    )
    if measure == SCORE:
        ranges = [
            (condition, *map(float, fields["range"]))
            for condition, fields in runs.info["conditions"][study].items()
            if isinstance(fields.get("range"), list) and len(fields["range"]) == 2
        ]
        rows = ", ".join(f"({quote_sql_literal(condition)}, {low}, {high})" for condition, low, high in ranges)
        scales = f"VALUES {rows}" if rows else "SELECT NULL, NULL, NULL"
        return f"""
            SELECT model, r.condition, item, variant, (score - low) / nullif(high - low, 0) AS number
            FROM ({responses_sql}) AS r
            JOIN ({scales}) AS scales(condition, low, high) ON r.condition = scales.condition"""
    first = quote_sql_literal(str(runs.info["studies"][study]["canonical"][0]))
    return f"""
        SELECT model, condition, item, variant,
               CASE WHEN len(probability) = 2 THEN probability[place] / nullif(probability[1] + probability[2], 0)
                    WHEN len("count") = 2 THEN "count"[place] / nullif("count"[1] + "count"[2], 0)
                    WHEN answer = options[place] THEN 1.0 WHEN answer IS NOT NULL THEN 0.0 END AS number
        FROM ({responses_sql}) AS r
        JOIN (SELECT item, variant, options, list_position(canonical, {first}) AS place
              FROM stimuli WHERE study = {name}) AS s USING (item, variant)"""


def _build_query_of_item_spread_or_score(runs: Runs, study: str, measure: str) -> str:
    """Return the SQL of every item's spread or mean score, as a mean over models and conditions, and their number."""
    of_unit = "max(number) - min(number)" if measure == SPREAD else "avg(number)"
    least = 2 if measure == SPREAD else 1
    return f"""
        SELECT item, avg(value) AS transcript_value, count(value) AS n_units
        FROM (SELECT item, CASE WHEN count(number) >= {least} THEN {of_unit} END AS value
              FROM ({build_query_of_first_answer_share_or_score(runs, study, measure)}) GROUP BY item, model, condition)
        GROUP BY item"""


def _list_example_wordings(runs: Runs) -> pd.DataFrame:
    """Choose the wordings of the examples: rows of the stimuli with `study` and `shown`."""
    rows: list[dict[str, Any]] = []
    for example in order_items_and_mark_examples(runs).query("shown != ''").to_dict("records"):
        wordings = model_prompts.list_wordings_of_item(runs, example["study"], example["item"])
        shown_variants = _choose_original_and_extreme_variant_ids(runs, example, wordings)
        rows += [
            {**wording, "study": example["study"], "shown": example["shown"]}
            for wording in wordings
            if wording["variant"] in shown_variants
        ]
    order = {place: position for position, place in enumerate(PLACES)}
    studies = {name: position for position, name in enumerate(runs.info["studies"])}
    return pd.DataFrame(sorted(rows, key=lambda row: (studies[row["study"]], order[row["shown"]])))


def _choose_original_and_extreme_variant_ids(
    runs: Runs, example: dict[str, Any], wordings: list[dict[str, Any]]
) -> set[str]:
    """Return the original (or first wording), and those with the highest and lowest mean number, or the first two."""
    original = next((wording for wording in wordings if wording["pattern"] == ORIGINAL), wordings[0])["variant"]
    if not example["measure"]:
        return {original, *(wording["variant"] for wording in wordings[:2])}
    means = runs.sql(
        "SELECT variant, avg(number) AS mean "
        f"FROM ({build_query_of_first_answer_share_or_score(runs, example['study'], example['measure'])}) "
        "WHERE item = ? GROUP BY variant HAVING count(number) > 0 ORDER BY mean, variant",
        [example["item"]],
    )["variant"]  # fmt: skip
    return {original, *means.iloc[:1], *means.iloc[-1:]}


def _list_example_prompts_and_answers(runs: Runs) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the prompts and the answers of the examples, linked by `prompt_number`."""
    return runs.compute_once("transcripts", lambda: _recover_example_prompts_and_index_answers(runs))


def _recover_example_prompts_and_index_answers(runs: Runs) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Recover the prompts of the examples, and give every answer the number of its prompt."""
    example_wordings = _list_example_wordings(runs)
    answers = model_prompts.read_answers_to_wordings(runs, example_wordings)
    by_wording = dict(list(answers.groupby(["study", "item", "variant"], sort=False)))
    prompts: list[dict[str, Any]] = []
    parts = []
    for wording in example_wordings.to_dict("records"):
        rows = by_wording.get((wording["study"], wording["item"], wording["variant"]))
        if rows is None:
            continue
        groups: dict[tuple[str, model_prompts.Prompt], int] = {}
        models: dict[int, int] = {}
        numbers = []
        for unit in rows[["model", "condition"]].itertuples(index=False):
            prompt = model_prompts.recover_prompt_of_wording(
                model_prompts.find_prompts_entry_of_condition(runs, wording["study"], unit.model, unit.condition),
                wording,
            )
            place = groups.setdefault((unit.condition, prompt), len(prompts) + len(groups) + 1)
            models[place] = models.get(place, 0) + 1
            numbers.append(place)
        parts.append(rows.assign(prompt_number=numbers))
        wording_fields = {name: wording[name] for name in ("study", "item", "shown", "variant", "pattern", "text")}
        prompts += [
            {**wording_fields, "condition": condition, "prompt_number": place, "n_models": models[place],
             "prompt": prompt.text, "unknown": prompt.why}
            for (condition, prompt), place in groups.items()
        ]  # fmt: skip
    linked_answers = pd.concat(parts, ignore_index=True) if parts else answers.assign(prompt_number=0)
    return pd.DataFrame(prompts), linked_answers


def tabulate_transcript_prompts(runs: Runs) -> pd.DataFrame:
    """List every prompt of the examples once for every condition.

    Returns
    -------
    DataFrame
        study, item, shown, variant, pattern, text, condition, prompt_number, n_models; prompt: to the letter, empty
        where it is not known; unknown: why it is not.
    """
    return _list_example_prompts_and_answers(runs)[0]


def tabulate_transcript_answers(runs: Runs) -> pd.DataFrame:
    """List what came back to these prompts.

    Returns
    -------
    DataFrame
        study, model, condition, item, variant, prompt_number, said, output; thought, thought_tokens: of models that
        think.
    """
    frame = _list_example_prompts_and_answers(runs)[1]
    return frame[["study", "model", "condition", "item", "variant", "prompt_number", "said", "output", "thought",
                  "thought_tokens"]]  # fmt: skip


def tabulate_thought_lengths(runs: Runs) -> pd.DataFrame:
    """Count thoughts, those without an end, and their tokens, by kind of wording.

    Returns
    -------
    DataFrame
        study, model, condition, pattern; n_prompts, n_thoughts; n_unclosed, unclosed: thoughts that did not end by
        themselves, and their share; n_unanswered: prompts without any answer; tokens, tokens_median, tokens_most: mean,
        median and largest number of tokens of a thought; most_allowed: `budget` or `max_tokens` of the condition. No
        rows where nothing was thought.
    """
    frame = runs.sql(
        """
        SELECT study, model, condition, pattern, count(*) AS n_prompts, sum(len(thought_tokens))::BIGINT AS n_thoughts,
               sum(coalesce(unclosed, 0))::BIGINT AS n_unclosed, n_unclosed / n_thoughts AS unclosed,
               count(*) FILTER (WHERE probability IS NULL) AS n_unanswered,
               sum(list_sum(thought_tokens)) / n_thoughts AS tokens,
               median_of.middle AS tokens_median, max(list_max(thought_tokens)) AS tokens_most
        FROM responses JOIN stimuli USING (study, item, variant) JOIN units USING (study, model, condition)
        JOIN (SELECT study, model, condition, pattern, median(number) AS middle
              FROM (SELECT study, model, condition, pattern, unnest(thought_tokens) AS number
                    FROM responses JOIN stimuli USING (study, item, variant))
              GROUP BY ALL) AS median_of USING (study, model, condition, pattern)
        WHERE thought_tokens IS NOT NULL
        GROUP BY ALL ORDER BY any_value(units.position), min(stimuli.position)"""
    )
    units = frame[["study", "condition"]].itertuples(index=False)
    conditions = [runs.info["conditions"][study][condition] for study, condition in units]
    limits = [fields.get("budget") or fields.get("max_tokens") for fields in conditions]
    return frame.assign(most_allowed=pd.to_numeric(pd.Series(limits, dtype=object), errors="coerce").astype(float))
