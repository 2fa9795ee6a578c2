"""Fit a formula of one's own to the rows of some runs: responses with the features and attributes of their wordings."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from analysis.features import attributes
from analysis.features.answer_rows import join_answers_with_features
from analysis.features.names import FEATURES
from analysis.features.score_frames import join_ratings_with_features, join_scores_with_features
from analysis.measures import agreement, ratings
from analysis.measures.meaning_file import list_meaning_folders
from analysis.measures.reworded import scored
from analysis.measures.templates import count_templates_and_items_by_study
from analysis.runs import Runs
from analysis.statistics import mixed
from analysis.statistics.mixed.design import FAMILY, FitInput
from analysis.statistics.mixed.fits import Fit
from analysis.statistics.multiplicity import replace_underflowed_p_values
from ground.errors import InputError, format_quantity, shorten_to_one_line

RANKS = ("rank", "keyed_rank")
ANSWERS = ("agreement", "logit", "text_logprob")
DISTANCE, MEANING_SCORE = "distance", "meaning_score"  # of an answer from that to the original; of the best check
BESIDE_ORIGINAL = (DISTANCE, MEANING_SCORE)
RESPONSES_BY_PROTOCOL: Mapping[str, tuple[str, ...]] = {  # what a formula can explain
    agreement.PROTOCOL: (*ANSWERS, DISTANCE),
    ratings.PROTOCOL: ("score", *RANKS, DISTANCE),
    scored.PROTOCOL: ("score",),
}
NAMES = (*FAMILY, "item", "variant")
MEASURE = "measure"  # of protocol `scored`: scores of two measures have two units


def fit_mixed_model_by_group(runs: Runs, formula: str, by: Sequence[str], engine: str = "auto") -> pd.DataFrame:
    """Fit a linear mixed model by REML to the answers of every group.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`; studies of one of the protocols in `RESPONSES_BY_PROTOCOL`.
    formula
        In the notation of lme4: "agreement ~ negation_cues + attributes.hedged + (1 | item)". Columns: agreement (0 to
        1), logit (as in table `mixed` with scale=logit), text_logprob, the features, attributes of the wordings, study,
        model, condition, item, variant. Of rating scales, three others stand in place of the first three: score, the
        mean answer, 0 to 1, before reversing; rank, 1 for the lowest option, before reversing, and keyed_rank, after
        it, for ordered logits: every option with the weight of its share (`measures.ratings_ranks`). Of both: distance
        of the answer from that to the original (`measures.beside_original`), and meaning_score of the wording, by the
        best check of `waver meaning` (`measures.meaning`). Of protocol `scored`, score in the unit of its measure, and
        the name measure; the original wordings count, too.
    by
        Columns that cut the rows, one fit each, such as model and condition; studies and measures are always apart,
        unless the formula uses them.
    engine
        One of `mixed.ENGINES`.

    Returns
    -------
    DataFrame
        study, measure (of protocol `scored`), the columns of `by`; the columns of `mixed.Result.table`; n_missing: rows
        left out because a value is missing, such as the score of a response that failed; warnings: what weakens the
        fit, or why there is none (a row without a term); empty: nothing.

    Raises
    ------
    InputError
        For an unknown column, response or engine, a formula that the engine cannot fit, ranks without an engine for
        them, and where no group can be fitted.
    """
    import pandas as pd

    protocol = _require_one_protocol_with_mixed_model(runs)
    text, parsed_formula = _resolve_formula_columns(formula, runs, protocol)
    mixed.choose_engine_that_fits_formula(parsed_formula, engine)
    columns = parsed_formula.formula_columns
    weights = "weight" if columns[0] in RANKS else ""
    if weights and engine not in mixed.OF_RANKS:
        raise InputError(f"formula: {columns[0]} is an ordered answer: give engine {' or '.join(mixed.OF_RANKS)}")
    groups = _choose_columns_that_separate_fits(by, columns, runs, protocol)
    of_wordings = [name for name in dict.fromkeys((*columns, *groups)) if attributes.is_attribute_column(name)]
    if protocol == agreement.PROTOCOL:
        rows = join_answers_with_features(runs, attributes=of_wordings)
    elif protocol == ratings.PROTOCOL:
        rows = join_ratings_with_features(runs, attributes=of_wordings, as_ranks=bool(weights))
    else:
        rows = join_scores_with_features(runs, attributes=of_wordings)
    if {*BESIDE_ORIGINAL} & {*columns, *groups}:
        rows = _add_answer_distance_and_meaning_columns(rows, runs, columns)
    if "logit" in columns:
        rows["logit"] = mixed.compute_response_on_scale(rows["agreement"], rows["logit"], scale="logit").values
    result, reasons = _fit_mixed_model_or_explain_per_group(rows, text, columns, groups, engine, weights)
    keys = [name for name in dict.fromkeys((*groups, "model")) if name in result.diagnostics]
    doubts = result.diagnostics[[*keys, "n_missing"]].assign(
        warnings=_describe_fit_doubts(result.diagnostics, count_templates_and_items_by_study(runs))
    )
    table = replace_underflowed_p_values(result.table).merge(doubts, on=keys, how="left")
    if not reasons:
        return table
    unfitted = pd.DataFrame(list(reasons), columns=list(groups))
    unfitted["warnings"] = [f"not fitted: {why}" for why in reasons.values()]
    return pd.concat([table, unfitted], ignore_index=True)


def _add_answer_distance_and_meaning_columns(rows: pd.DataFrame, runs: Runs, columns: Sequence[str]) -> pd.DataFrame:
    """Add the distance of every answer from that to the original, and the meaning score of its wording."""
    from analysis.measures.beside_original import tabulate_answers_beside_original
    from analysis.measures.meaning import WORDING, read_verdicts_on_wordings

    key = [*FAMILY, "item", "variant"]
    distances = tabulate_answers_beside_original(runs)[[*key, DISTANCE]]
    scores = read_verdicts_on_wordings(runs)[[*WORDING, MEANING_SCORE]].astype({MEANING_SCORE: "float64"})
    if MEANING_SCORE in columns and scores[MEANING_SCORE].isna().all():
        raise InputError(f"{MEANING_SCORE}: no check parts decoys from wordings well enough; see table meaning_checks")
    joined = rows.astype(dict.fromkeys(key, "object"))
    joined = joined.merge(distances.astype(dict.fromkeys(key, "object")), on=key, how="left")
    joined = joined.merge(scores, on=WORDING, how="left")
    return joined.astype(dict.fromkeys(key, "category"))


def choose_protocol_of_formula(formula: str, protocols: Collection[str]) -> str:
    """Choose the protocol whose runs a formula is about: the one that has its response.

    Parameters
    ----------
    formula
        As in `fit_mixed_model_by_group`.
    protocols
        Those of the run folders.

    Returns
    -------
    str
        Of several that the response does not tell apart, such as a feature, the first in `RESPONSES_BY_PROTOCOL`.

    Raises
    ------
    InputError
        For a response that runs of two of these protocols have: score (rating scales, and other scores) or distance.
    """
    response = str(formula).partition("~")[0].strip()
    present = [protocol for protocol in RESPONSES_BY_PROTOCOL if protocol in protocols]
    explaining = [protocol for protocol in present if response in RESPONSES_BY_PROTOCOL[protocol]]
    if len(explaining) > 1:
        raise InputError(
            f"formula: {response!r} is in runs of protocol {' and '.join(explaining)}; keep one of them, such as "
            "run.where(\"study = 'NAME'\")"
        )
    return (explaining or present or list(RESPONSES_BY_PROTOCOL))[0]


def _require_one_protocol_with_mixed_model(runs: Runs) -> str:
    """Return the protocol of all studies; refuse several, and those without a mixed model."""
    protocols = {name: str(fields["protocol"]) for name, fields in runs.info["studies"].items()}
    first = next(iter(protocols.values()))
    wrong = [name for name, protocol in protocols.items() if protocol not in RESPONSES_BY_PROTOCOL or protocol != first]
    if wrong:
        raise InputError(
            f"study {shorten_to_one_line(repr(wrong[0]))} is of protocol {protocols[wrong[0]]}; mixed models are "
            f"fitted to runs of protocol {', '.join(RESPONSES_BY_PROTOCOL)}, and of one of them at a time"
        )
    return first


def _list_columns_available_to_formula(protocol: str) -> tuple[str, ...]:
    """List the columns that a formula can name, those of attributes apart."""
    meaning = (MEANING_SCORE,) if DISTANCE in RESPONSES_BY_PROTOCOL[protocol] else ()
    return (
        *RESPONSES_BY_PROTOCOL[protocol],
        *meaning,
        *FEATURES,
        *NAMES,
        *_list_columns_of_this_protocol_only(protocol),
    )


def _list_columns_of_this_protocol_only(protocol: str) -> tuple[str, ...]:
    """List the names that only rows of this protocol have."""
    return (MEASURE,) if protocol == scored.PROTOCOL else ()


def _resolve_formula_columns(formula: str, runs: Runs, protocol: str) -> tuple[str, mixed.Formula]:
    """Write attributes with their prefix; refuse columns that there are not, and a response that is no number."""
    text, all_columns = formula, _list_columns_available_to_formula(protocol)
    for name in mixed.parse_formula(formula).formula_columns:
        if name == MEANING_SCORE and not list_meaning_folders(runs):
            raise InputError(f"formula: {name} says what checks found, and no wording was checked; waver meaning RUN")
        column = attributes.find_predictor_column_or_none(name, all_columns, runs)
        if column is None:
            hint = _explain_measure_is_in_score_column(name, runs) or attributes.suggest_nearest_column(
                name, all_columns, runs
            )
            listed = ", ".join([*all_columns, *attributes.list_attribute_columns(runs)])
            raise InputError(f"formula: no column {shorten_to_one_line(repr(name))}{hint}; there are {listed}")
        if column != name:
            text = re.sub(rf"(?<![\w.]){re.escape(name)}(?![\w.])", column, text)
    parsed_formula = mixed.parse_formula(text)
    if parsed_formula.formula_columns[0] in (*NAMES, *_list_columns_of_this_protocol_only(protocol)):
        raise InputError(
            f"formula: the response {parsed_formula.response!r} is no number; explain "
            f"{', '.join(RESPONSES_BY_PROTOCOL[protocol])} or a feature"
        )
    return text, parsed_formula


def _explain_measure_is_in_score_column(name: str, runs: Runs) -> str:
    """Say of an unknown column that is a measure, that its numbers are the column score; empty where it is none."""
    conditions = [fields for study in runs.info["conditions"].values() for fields in study.values()]
    if name not in {fields.get(MEASURE) for fields in conditions}:
        return ""
    return f" (a measure: its numbers are score; keep it with where, \"measure = '{name}'\")"


def _choose_columns_that_separate_fits(
    by: Sequence[str], formula_columns: Sequence[str], runs: Runs, protocol: str
) -> tuple[str, ...]:
    """Return the columns that cut the rows into fits: the study, the measure, and those that were named."""
    all_columns = _list_columns_available_to_formula(protocol)
    if not isinstance(by, Iterable):
        raise InputError(f"by: expected names of columns, not {shorten_to_one_line(repr(by))}")
    names = [by] if isinstance(by, str) else list(by)
    groups = [name for name in ("study", *_list_columns_of_this_protocol_only(protocol)) if name not in formula_columns]
    for name in names:
        column = attributes.find_predictor_column_or_none(str(name), all_columns, runs)
        if column is None:
            hint = attributes.suggest_nearest_column(str(name), all_columns, runs)
            raise InputError(f"by: no column {shorten_to_one_line(repr(name))}{hint}")
        if column in formula_columns:
            raise InputError(f"by: {column!r} stands in the formula, too; leave it out of one of the two")
        groups.append(column)
    return tuple(dict.fromkeys(groups))


def _fit_mixed_model_or_explain_per_group(
    rows: pd.DataFrame, formula: str, columns: Sequence[str], groups: tuple[str, ...], engine: str, weights: str
) -> tuple[mixed.Result, dict[tuple[Any, ...], str]]:
    """Fit every group; return the fits, and for every group without one the reason."""
    fits: list[tuple[FitInput, Fit]] = []
    reasons: dict[tuple[Any, ...], str] = {}
    parts = rows.groupby(list(groups), sort=False, dropna=False, observed=True) if groups else [((), rows)]
    for key, part in parts:
        if missing := [name for name in groups if part[name].isna().any()]:
            reasons[key] = f"{', '.join(missing)}: missing in {format_quantity(len(part), 'row')}"
            continue
        try:
            named_part = attributes.add_reference_to_level_names_in_rows(part, columns)
            result = mixed.fit_mixed_models(
                named_part, formula, engine=engine, by=groups, missing="drop", weights=weights
            )
            fits += result.fits
        except InputError as error:
            reasons[key] = str(error)
    if not fits:
        raise InputError(next(iter(reasons.values()), "no wording has an answer"))
    return mixed.Result(groups, fits), reasons


def _describe_fit_doubts(diagnostics: pd.DataFrame, templates: Mapping[str, tuple[int, int]]) -> list[str]:
    """Say of every fit what weakens it, in the words of its diagnostics; empty: nothing."""
    doubts = []
    for fit in diagnostics.to_dict("records"):
        lines = [
            "not converged" if not fit["converged"] else "",
            "singular: a random effect has variance 0" if fit["singular"] else "",
            f"left out: {fit['dropped']}" if fit["dropped"] else "",
            "its wordings are templates that items share" if fit.get("study") in templates else "",
            fit["message"],
        ]
        doubts.append("; ".join(filter(None, lines)))
    return doubts
