"""Fit one mixed model of agreement on text features for every model and condition of some runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis import features
from analysis.features import attributes
from analysis.features.languages import build_language_sql
from analysis.features.negation_cues import list_negation_languages
from analysis.features.words import UNSPACED
from analysis.measures import agreement
from analysis.pages.text_features.templates import map_template_study_to_reason_not_fitted
from analysis.runs.folder import quote_sql_literal
from analysis.statistics import mixed
from analysis.statistics.mixed.design import FAMILY
from ground.errors import InputError, format_quantity, shorten_to_one_line

if TYPE_CHECKING:
    import pandas as pd

    from analysis.features.answer_rows import AnswerRows
    from analysis.runs import Runs
    from analysis.statistics.mixed.design import FitInput
    from analysis.statistics.mixed.fits import Fit
    from analysis.statistics.mixed.result import Result

PREDICTORS = (*features.FEATURES, "text_logprob")
CHOICES = ("all", "published")
MOST_PANELS = 12
"""Models that a figure of diagnostics has room for at both widths; so many fits of a family keep their rows."""
_RESPONSE = {"identity": "agreement", "logit": "logit"}
_TOO_FEW_VALUES = "too few answers have a value of it for any fit"


@dataclass(frozen=True)
class Family:
    """Hold the fits of some runs, one per study, model and condition.

    Attributes
    ----------
    result
        The fits and their tables (`analysis.statistics.mixed.Result`).
    formula
        The formula of every fit, before constant and collinear predictors are dropped.
    response
        In words, how the response was computed.
    dropped
        Predictor -> why no fit has it.
    left_out
        (study, model, condition) -> why it has no fit.
    """

    result: Result
    formula: str
    response: str
    dropped: dict[str, str]
    left_out: dict[tuple[Any, ...], str]


def explain_unfittable_runs(runs: Runs, predictors: str = "all") -> str:
    """Say in one line why no unit has data for a mixed model; empty where one has.

    It needs two items, more rows than coefficients, answers that vary, wordings that are no templates shared by all
    items, and a language that can be cut into words or has negation cues. The line names what is missing in the unit in
    which the fewest of these are missing. The page on stability says why runs have no defined agreement.

    Parameters
    ----------
    runs, predictors
        As in `fit_mixed_model_per_unit`.

    Raises
    ------
    InputError
        For an unknown predictor, and an attribute that is none.
    """
    n_coefficients = _count_coefficients_with_all_features(parse_predictor_names(predictors, runs), runs)
    try:
        agreement.create_agreement_tables(runs)
    except InputError as error:
        return str(error)
    unspaced_codes = ", ".join(map(quote_sql_literal, sorted(UNSPACED.difference(list_negation_languages()))))
    units = runs.execute(
        f"""
        SELECT study, code, code NOT IN ({unspaced_codes}) AS has_words, count(*) AS n_items, sum(n_valid)::BIGINT AS n,
               max(agreement_max) > min(agreement_min) AS varies
        FROM item_patterns
        JOIN (SELECT study, {build_language_sql("en")} AS code FROM stimuli GROUP BY ALL) USING (study)
        WHERE NOT original AND n_valid > 0
        GROUP BY study, model, condition, code"""
    ).fetchall()
    if not units:
        return "no paraphrase has a valid answer"
    lacks = [(unit[0], list_unmet_mixed_model_requirements(n_coefficients, *unit[1:])) for unit in units]
    _, fewest = min(lacks, key=lambda unit: len(unit[1]))
    if fewest:
        return ", and ".join(fewest)
    templates = map_template_study_to_reason_not_fitted(runs)
    fittable_studies = [study for study, unmet in lacks if not unmet]
    return "" if any(study not in templates for study in fittable_studies) else next(iter(templates.values()))


def list_unmet_mixed_model_requirements(
    n_coefficients: int, language: str, has_words: bool, n_items: int, n_answers: int, varies: bool
) -> list[str]:
    """List what answers lack for a mixed model, each with its numbers.

    Parameters
    ----------
    n_coefficients
        Those of the fit, without the intercept.
    language
        Code of the language of the wordings.
    has_words
        Whether texts in it can be cut into words, or have negation cues.
    n_items, n_answers
        Items with a valid answer to a paraphrase, and these answers.
    varies
        Whether not all answers are the same.

    Returns
    -------
    list of str
        What is missing; empty where a model can be fitted.

    Examples
    --------
    >>> list_unmet_mixed_model_requirements(12, "de", True, 3, 9, True)
    ['12 features of 3 items need at least 16 valid answers to paraphrases; there are 9']
    >>> list_unmet_mixed_model_requirements(12, "de", True, 1, 90, False)
    ['a mixed model needs 2 items; there is 1', 'all valid answers are the same']
    """
    unmet = []
    if not has_words:
        unmet.append(f"words cannot be counted in this language ({language})")
    if n_items < 2:
        unmet.append(f"a mixed model needs 2 items; there is {n_items}")
    elif n_answers <= n_items + n_coefficients:
        unmet.append(
            f"{format_quantity(n_coefficients, 'feature')} of {n_items} items "
            f"{'needs' if n_coefficients == 1 else 'need'} at least {n_items + n_coefficients + 1} valid answers "
            f"to paraphrases; there are {n_answers}"
        )
    if not varies:
        unmet.append("all valid answers are the same")
    return unmet


def _count_coefficients_with_all_features(names: Sequence[str], runs: Runs) -> int:
    """Count the coefficients of predictors, without the intercept, if all features are present."""
    features_and_words = {"all": PREDICTORS, "published": features.PUBLISHED}
    columns = {column for name in names for column in features_and_words.get(name, (name,))}
    levels = (
        getattr(attributes.read_attribute_column(runs, column).dtype, "categories", ())
        for column in filter(attributes.is_attribute_column, columns)
    )
    return len(columns) + sum(max(len(categories) - 2, 0) for categories in levels)


def fit_mixed_model_per_unit(
    runs: Runs, *, engine: str = "auto", scale: str = "identity", predictors: str = "all", invalid: str = "dropped"
) -> Family:
    """Fit `agreement ~ predictors + (1 | item)` to the paraphrases of every model and condition separately.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`. Features that a run folder does not hold yet are computed first.
    engine
        As in `analysis.statistics.mixed.fit_mixed_models`.
    scale
        As in `analysis.statistics.mixed.response.compute_response_on_scale`.
    predictors
        "all": all features that are present, and the wording's own log-probability if the responses have it;
        "published": those of the paper's eight that are present; else names separated by commas, all of which must be
        present: features, attributes of the wordings (`analysis.features.attributes`), and these two words.
    invalid
        As in `analysis.features.join_answers_with_features`: responses without a valid answer are left out of the fit,
        or do not agree.

    Returns
    -------
    Family
        A model that cannot be fitted (for example, its answer never varies) is left out and named; rows without a value
        are left out and counted in the diagnostics. Where none can be fitted for missing values, the predictors behind
        "all" and "published" that lack most are left out, one by one.

    Raises
    ------
    InputError
        For an unknown or missing predictor, an unknown engine, scale or convention, and if no model can be fitted.
    """
    agreement.refuse_unknown_invalid_answer_convention(invalid)
    key = ("mixed models", engine, scale, predictors)
    dropped = runs.compute_once(key, lambda: _fit_mixed_models_of_all_units(runs, engine, scale, predictors))
    if invalid == "dropped" or not find_units_with_invalid_answers(runs):
        return dropped
    return runs.compute_once(
        (*key, invalid), lambda: _fit_mixed_models_of_all_units(runs, engine, scale, predictors, invalid, dropped)
    )


def explain_dropped_predictors(family: Family, names: Sequence[str]) -> list[str]:
    """Say of every predictor that was asked for by name and is not in every fit why not, a line each.

    Parameters
    ----------
    family
        From `fit_mixed_model_per_unit`.
    names
        From `parse_predictor_names`.

    Returns
    -------
    list of str
        "left out of 4 of 4 fits: attributes.seed: constant"; nothing of features that the word `all` stands for.
    """
    counts = Counter(
        f"{term}: {reason}"
        for part, fit in family.result.fits
        for term, reason in (part.dropped | fit.dropped).items()
        if attributes.split_term_into_column_and_level(term)[0] in names
    )
    return [f"left out of {count:,} of {len(family.result.fits):,} fits: {line}" for line, count in counts.items()]


def find_units_with_invalid_answers(runs: Runs) -> set[tuple[str, str, str]]:
    """Return the units (study, model, condition) with an invalid answer to a paraphrase, or among its samples."""

    def read_units_with_invalid_answers() -> set[tuple[str, str, str]]:
        """Read from the answers which units have an invalid one."""
        agreement.create_agreement_tables(runs)
        rows = runs.execute(
            "SELECT DISTINCT study, model, condition FROM answers "
            "WHERE NOT original AND (agreement IS NULL OR (written AND validity < 1))"
        ).fetchall()
        return {(study, model, condition) for study, model, condition in rows}

    return runs.compute_once("units with invalid answers", read_units_with_invalid_answers)


def _fit_mixed_models_of_all_units(
    runs: Runs, engine: str, scale: str, predictors: str, invalid: str = "dropped",
    earlier_family: Family | None = None, sparse: tuple[str, ...] = (),
) -> Family:  # fmt: skip
    """Fit all units without the predictors `sparse`; an unchanged fit is that of `earlier_family`."""
    names = parse_predictor_names(predictors, runs)
    columns = tuple(filter(attributes.is_attribute_column, names))
    answers = runs.compute_once(
        ("answers with features", invalid, *columns),
        lambda: features.read_answers_with_wording_features(runs, invalid=invalid, attributes=columns),
    )
    response = mixed.compute_response_on_scale(answers.measures["agreement"], answers.measures["logit"], scale=scale)
    name = _RESPONSE[scale]
    sparse_reasons = dict.fromkeys(sparse, _TOO_FEW_VALUES)
    formula, dropped = _build_formula_and_explain_left_out(
        answers.tabulate_answered_wordings().drop(columns=list(sparse)), name, names, runs
    )
    parsed_formula = mixed.parse_formula(formula)
    mixed.choose_engine_that_fits_formula(parsed_formula, engine)  # refuse an unknown engine once, not once per model
    optional = {name for name in PREDICTORS if name not in names} if set(names) & set(CHOICES) else ()
    templates = map_template_study_to_reason_not_fitted(runs)
    reusable_fits: dict[tuple[Any, ...], tuple[FitInput, Fit]] = {}
    if earlier_family is not None and earlier_family.formula == formula:
        with_invalid_answers = find_units_with_invalid_answers(runs)
        reusable_fits = {
            fit[0].key: fit for fit in earlier_family.result.fits if fit[0].key not in with_invalid_answers
        }
    left_out: dict[tuple[Any, ...], str] = {}

    def fit_unit(unit: tuple[str, str, str], part: pd.DataFrame) -> Sequence[tuple[FitInput, Fit]]:
        """Fit one unit to the frame of its answers; nothing where it cannot be fitted."""
        try:
            if unit[0] in templates:
                raise InputError(templates[unit[0]])
            part = part.assign(**{name: response.values[part.index[0] : part.index[-1] + 1]})
            part = attributes.add_reference_to_level_names_in_rows(part, parsed_formula.formula_columns)
            fits = mixed.fit_mixed_models(
                part, formula, engine=engine, by=FAMILY, missing="drop", optional=optional
            ).fits
            return [(replace(part, dropped=sparse_reasons | part.dropped), fit) for part, fit in fits]
        except InputError as error:
            left_out[unit] = str(error)
            return ()

    def iterate_fits() -> Iterator[tuple[FitInput, Fit]]:
        """Yield the fits of all units that can be fitted."""
        for unit, part in answers.iterate_units():
            yield from (reusable_fits[unit],) if unit in reusable_fits else fit_unit(unit, part)

    fits = mixed.collect_fits_keeping_rows_of_worst_ones(iterate_fits(), MOST_PANELS)
    if not fits:
        if sparsest := _find_sparsest_predictor(answers, [term for term in parsed_formula.fixed if term in optional]):
            return _fit_mixed_models_of_all_units(
                runs, engine, scale, predictors, invalid, earlier_family, (*sparse, sparsest)
            )
        raise InputError(next(iter(left_out.values()), "no paraphrase has an answer"))
    for place in mixed.list_indices_of_largest_residual_fits(fits, MOST_PANELS):
        unit = fits[place][0].key
        if not len(fits[place][1].rows.y):  # dropped in the earlier family, whose largest residuals are others
            (fits[place],) = fit_unit(unit, answers.build_frame_of_unit(unit))
    return Family(mixed.Result(FAMILY, fits), formula, response.note, dropped | sparse_reasons, left_out)


def _find_sparsest_predictor(answers: AnswerRows, names: Sequence[str]) -> str:
    """Find the predictor that most answers have no value of; empty where they all have one, and of a single one."""
    missing_shares = [
        np.isnan(
            answers.measures[name] if name in answers.measures else answers.wordings[name].to_numpy()[answers.place]
        ).mean()
        for name in names
    ]
    return names[int(np.argmax(missing_shares))] if len(names) > 1 and any(missing_shares) else ""


def parse_predictor_names(predictors: str, runs: Runs) -> list[str]:
    """List the predictors that were named, attributes with their prefix; refuse unknown ones.

    Parameters
    ----------
    predictors, runs
        As in `fit_mixed_model_per_unit`.

    Raises
    ------
    InputError
        For a name that is no feature and no attribute.
    """
    names = []
    for name in (text.strip() for text in predictors.split(",")):
        column = attributes.find_predictor_column_or_none(name, (*CHOICES, *PREDICTORS), runs)
        if column is None:
            hint = attributes.suggest_nearest_column(name, (*CHOICES, *PREDICTORS), runs)
            listed = ", ".join((*CHOICES, *PREDICTORS, *attributes.list_attribute_columns(runs)))
            raise InputError(f"no predictor {shorten_to_one_line(repr(name))}{hint}; there are {listed}")
        names.append(column)
    return list(dict.fromkeys(names))


def _build_formula_and_explain_left_out(
    wordings: pd.DataFrame, response: str, names: Sequence[str], runs: Runs
) -> tuple[str, dict[str, str]]:
    """Write the formula; return it with the reason for every predictor that is not in it."""
    terms: dict[str, None] = {}
    dropped: dict[str, str] = {}
    for name in names:
        if name in CHOICES:
            candidates = list(features.PUBLISHED) if name == "published" else PREDICTORS
            default = mixed.build_default_formula(wordings, candidates, response=response)
            terms |= dict.fromkeys(default.features)
            dropped |= {absent: _explain_missing_predictor(absent, runs) for absent in default.dropped}
        elif wordings[name].isna().all():
            raise InputError(f"predictor {name!r} has no values: {_explain_missing_predictor(name, runs)}")
        else:
            terms[name] = None
    return f"{response} ~ {' + '.join(terms)} + (1 | item)", dropped


def _explain_missing_predictor(name: str, runs: Runs) -> str:
    """Say why a predictor has no values, in the words of the component that should have computed it."""
    if name == "text_logprob":
        return "the responses do not record it"
    if attributes.is_attribute_column(name):
        return "no paraphrase has one"
    if name == "edit_similarity":
        return "no item has an original wording"
    components = features.tabulate_components_of_study_features(runs)
    reasons = components.loc[
        components["columns"].str.split(", ").map(lambda columns: name in columns), "missing"
    ].dropna()
    return "; ".join(dict.fromkeys(reasons)) or "undefined for every wording"
