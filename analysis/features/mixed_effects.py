"""Fit a formula of one's own to the rows of some runs: responses with the features and attributes of their wordings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from analysis.features import attributes
from analysis.features.frames import join_answers_with_features, join_ratings_with_features
from analysis.features.names import FEATURES
from analysis.measures import agreement, ratings
from analysis.measures.meaning_file import list_meaning_folders
from analysis.measures.templates import count_templates_by_study
from analysis.statistics import mixed
from analysis.statistics.mixed.design import FAMILY
from analysis.statistics.multiplicity import floor_p_values
from ground.errors import InputError, shorten_line

if TYPE_CHECKING:
    import pandas as pd

    from analysis.runs import Runs
    from analysis.statistics.mixed.design import FitInput
    from analysis.statistics.mixed.fits import Fit

RESPONSES = ("agreement", "logit", "text_logprob")
NAMES = (*FAMILY, "item", "variant")
RANKS = ("rank", "keyed_rank")
RATING_RESPONSES = ("score", *RANKS)  # of rating scales
DISTANCE, MEANING_SCORE = "distance", "meaning_score"  # of an answer from that to the original; of the best check
BESIDE_ORIGINAL = (DISTANCE, MEANING_SCORE)


def fit_formula_by_group(runs: Runs, formula: str, by: Sequence[str], engine: str = "auto") -> pd.DataFrame:
    """Fit a linear mixed model by REML to the paraphrases of every group.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`; studies of agreement, or of rating scales.
    formula
        In the notation of lme4: "agreement ~ negation_cues + attributes.hedged + (1 | item)". Columns: agreement (0 to
        1), logit (as in table `mixed` with scale=logit), text_logprob, the features, attributes of the wordings, study,
        model, condition, item, variant. Of rating scales, three others stand in place of the first three: score, the
        mean answer, 0 to 1, before reversing; rank, 1 for the lowest option, before reversing, and keyed_rank, after
        it, for ordered logits: every option with the weight of its share (`measures.ratings_ranks`). Of both: distance
        of the answer from that to the original (`measures.beside_original`), and meaning_score of the wording, by the
        best check of `waver meaning` (`measures.meaning`).
    by
        Columns that cut the rows, one fit each, such as model and condition; studies are always apart, unless the
        formula uses them.
    engine
        One of `mixed.ENGINES`.

    Returns
    -------
    DataFrame
        study, the columns of `by`; the columns of `mixed.Result.table`; n_missing: rows left out because a value is
        missing; warnings: what weakens the fit, or why there is none (a row without a term); empty: nothing.

    Raises
    ------
    InputError
        For an unknown column, response or engine, a formula that the engine cannot fit, ranks without an engine for
        them, and where no group can be fitted.
    """
    import pandas as pd

    responses = _choose_responses(runs)
    text, parsed_formula = _resolve_formula(formula, runs, responses)
    mixed.choose_engine(parsed_formula, engine)
    columns = parsed_formula.formula_columns
    weights = "weight" if columns[0] in RANKS else ""
    if weights and engine not in mixed.OF_RANKS:
        raise InputError(f"formula: {columns[0]} is an ordered answer: give engine {' or '.join(mixed.OF_RANKS)}")
    groups = _choose_groups(by, columns, runs, responses)
    of_wordings = [name for name in dict.fromkeys((*columns, *groups)) if attributes.is_attribute(name)]
    if responses == RESPONSES:
        rows = join_answers_with_features(runs, attributes=of_wordings)
    else:
        rows = join_ratings_with_features(runs, attributes=of_wordings, as_ranks=bool(weights))
    if {*BESIDE_ORIGINAL} & {*columns, *groups}:
        rows = _add_columns_beside_original(rows, runs, columns)
    if "logit" in columns:
        rows["logit"] = mixed.compute_response(rows["agreement"], rows["logit"], scale="logit").values
    result, reasons = _fit_groups(rows, text, columns, groups, engine, weights)
    keys = [name for name in dict.fromkeys((*groups, "model")) if name in result.diagnostics]
    doubts = result.diagnostics[[*keys, "n_missing"]].assign(
        warnings=_describe_fit_doubts(result.diagnostics, count_templates_by_study(runs))
    )
    table = floor_p_values(result.table).merge(doubts, on=keys, how="left")
    if not reasons:
        return table
    unfitted = pd.DataFrame(list(reasons), columns=list(groups))
    unfitted["warnings"] = [f"not fitted: {why}" for why in reasons.values()]
    return pd.concat([table, unfitted], ignore_index=True)


def _add_columns_beside_original(rows: pd.DataFrame, runs: Runs, columns: Sequence[str]) -> pd.DataFrame:
    """Add the distance of every answer from that to the original, and the meaning score of its wording."""
    from analysis.measures.beside_original import read_answers_beside_original
    from analysis.measures.meaning import WORDING, read_meanings

    key = [*FAMILY, "item", "variant"]
    distances = read_answers_beside_original(runs)[[*key, DISTANCE]]
    scores = read_meanings(runs)[[*WORDING, MEANING_SCORE]].astype({MEANING_SCORE: "float64"})
    if MEANING_SCORE in columns and scores[MEANING_SCORE].isna().all():
        raise InputError(f"{MEANING_SCORE}: no check parts decoys from wordings well enough; see table meaning_checks")
    joined = rows.astype(dict.fromkeys(key, "object"))
    joined = joined.merge(distances.astype(dict.fromkeys(key, "object")), on=key, how="left")
    joined = joined.merge(scores, on=WORDING, how="left")
    return joined.astype(dict.fromkeys(key, "category"))


def _choose_responses(runs: Runs) -> tuple[str, ...]:
    """Return the responses that there are, by the protocol; refuse several protocols, and others than two."""
    protocols = {name: fields["protocol"] for name, fields in runs.info["studies"].items()}
    if set(protocols.values()) == {ratings.PROTOCOL}:
        return RATING_RESPONSES
    if wrong := [name for name, protocol in protocols.items() if protocol != agreement.PROTOCOL]:
        raise InputError(
            f"study {shorten_line(repr(wrong[0]))} is of protocol {protocols[wrong[0]]}; mixed models are fitted to "
            f"runs of protocol {agreement.PROTOCOL}, or to those of {ratings.PROTOCOL} alone"
        )
    return RESPONSES


def _resolve_formula(formula: str, runs: Runs, responses: Sequence[str]) -> tuple[str, mixed.Formula]:
    """Write attributes with their prefix; refuse columns that there are not, and a response that is no number."""
    text, all_columns = formula, (*responses, *BESIDE_ORIGINAL, *FEATURES, *NAMES)
    for name in mixed.parse_formula(formula).formula_columns:
        if name == MEANING_SCORE and not list_meaning_folders(runs):
            raise InputError(f"formula: {name} says what checks found, and no wording was checked; waver meaning RUN")
        column = attributes.find_predictor_column(name, all_columns, runs)
        if column is None:
            hint = attributes.suggest_nearest_column(name, all_columns, runs)
            listed = ", ".join([*all_columns, *attributes.list_attribute_columns(runs)])
            raise InputError(f"formula: no column {shorten_line(repr(name))}{hint}; there are {listed}")
        if column != name:
            text = re.sub(rf"(?<![\w.]){re.escape(name)}(?![\w.])", column, text)
    parsed_formula = mixed.parse_formula(text)
    if parsed_formula.formula_columns[0] in NAMES:
        raise InputError(
            f"formula: the response {parsed_formula.response!r} is no number; explain "
            f"{', '.join((*responses, DISTANCE))} or a feature"
        )
    return text, parsed_formula


def _choose_groups(
    by: Sequence[str], formula_columns: Sequence[str], runs: Runs, responses: Sequence[str]
) -> tuple[str, ...]:
    """Return the columns that cut the rows into fits: the study, and those that were named."""
    all_columns = (*responses, *BESIDE_ORIGINAL, *FEATURES, *NAMES)
    if not isinstance(by, Iterable):
        raise InputError(f"by: expected names of columns, not {shorten_line(repr(by))}")
    names = [by] if isinstance(by, str) else list(by)
    groups = ["study"] if "study" not in formula_columns else []
    for name in names:
        column = attributes.find_predictor_column(str(name), all_columns, runs)
        if column is None:
            hint = attributes.suggest_nearest_column(str(name), all_columns, runs)
            raise InputError(f"by: no column {shorten_line(repr(name))}{hint}")
        if column in formula_columns:
            raise InputError(f"by: {column!r} stands in the formula, too; leave it out of one of the two")
        groups.append(column)
    return tuple(dict.fromkeys(groups))


def _fit_groups(
    rows: pd.DataFrame, formula: str, columns: Sequence[str], groups: tuple[str, ...], engine: str, weights: str
) -> tuple[mixed.Result, dict[tuple[Any, ...], str]]:
    """Fit every group; return the fits, and for every group without one the reason."""
    fits: list[tuple[FitInput, Fit]] = []
    reasons: dict[tuple[Any, ...], str] = {}
    parts = rows.groupby(list(groups), sort=False, observed=True) if groups else [((), rows)]
    for key, part in parts:
        try:
            named_part = attributes.name_levels(part, columns)
            result = mixed.fit_mixed_models(
                named_part, formula, engine=engine, by=groups, missing="drop", weights=weights
            )
            fits += result.fits
        except InputError as error:
            reasons[key] = str(error)
    if not fits:
        raise InputError(next(iter(reasons.values()), "no paraphrase has an answer"))
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
