"""Turn a frame into the arrays of a fit: check the input, build the model matrix, drop dependent columns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from ground.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from analysis.statistics.mixed.formula import Formula

INTERCEPT = "(Intercept)"
RANK_TOLERANCE = 1e-7  # as in lme4: a column is dependent if the columns before it leave less of its length


@dataclass(frozen=True, slots=True)
class FitInput:
    """Hold the rows of one fit of a family.

    `key` are its values of the family's columns, `frame` its complete rows, none once it is fitted, `formula` the
    formula to fit; `dropped` maps predictors already left out to the reason; `n_missing` counts rows left out on
    request; `weights` names the column of weights, empty: none.
    """

    key: tuple[Any, ...]
    frame: pd.DataFrame
    formula: Formula
    dropped: dict[str, str] = field(default_factory=dict)
    n_missing: int = 0
    weights: str = ""

    @property
    def label(self) -> str:
        """Name this fit in messages: " (study, model, condition)", or nothing if there is only one fit."""
        return f" ({', '.join(map(str, self.key))})" if self.key else ""


@dataclass(frozen=True, slots=True)
class Matrix:
    """Hold the model matrix of one fit, with dependent columns, as the formula asks for it.

    `x` (rows x terms, Fortran order), `y` (rows), and `codes` (rows): the number of each row's item, 0 to
    len(levels) - 1, an index into `levels`.
    """

    label: str
    terms: tuple[str, ...]
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    codes: NDArray[np.intp]
    levels: pd.Index

    def has_same_predictors_and_items(self, other: Matrix) -> bool:
        """Tell whether both have the same predictors and the same items, row by row."""
        return (
            self.terms == other.terms
            and self.levels.equals(other.levels)
            and np.array_equal(self.codes, other.codes)
            and np.array_equal(self.x, other.x)
        )


@dataclass(frozen=True, slots=True)
class Design:
    """Hold a model matrix with full column rank.

    `x` (rows x terms, Fortran order) and its thin QR factors `q`, `r`; `sd` (terms) of its columns, NaN for the
    intercept, which has no standardised effect; `dropped` maps the columns left out to the reason.
    """

    terms: tuple[str, ...]
    x: NDArray[np.float64]
    q: NDArray[np.float64]
    r: NDArray[np.float64]
    sd: NDArray[np.float64]
    dropped: dict[str, str]


FAMILY = ("study", "model", "condition")  # the columns of a run that cut its rows into fits


def iterate_checked_fit_inputs(
    frame: pd.DataFrame, formula: Formula, by: Sequence[str], *, missing: str = "error",
    optional: Collection[str] = (), weights: str = "",
) -> Iterator[FitInput]:  # fmt: skip
    """Cut a frame into the parts of a family, one per fit, and check each part.

    Parameters
    ----------
    frame, formula, by
        The rows, what is fitted to them, and the columns that cut them into fits; none: one fit of all rows.
    missing, optional, weights
        As in `mixed.fit_mixed_models`.

    Yields
    ------
    FitInput
        In the order in which their first rows come.

    Raises
    ------
    InputError
        An unknown `missing`, a column that is not there, no rows, missing or infinite values, a response that is not a
        number or does not vary, fewer than two items, one row of every item.
    """
    if missing not in ("error", "drop"):
        raise InputError(f"missing is 'error' or 'drop', not '{missing}'")
    columns = dict.fromkeys((*formula.formula_columns, *by, *([weights] if weights else [])))
    absent = [name for name in columns if name not in frame.columns]
    if absent:
        raise InputError(
            f"formula '{formula}': no column {', '.join(map(repr, absent))}; "
            f"there are {', '.join(map(str, frame.columns))}"
        )
    if frame.empty:
        raise InputError(f"formula '{formula}': the table has no rows")
    # these checks and the coding of items are done once for all fits: per fit they would double its time
    frame = _select_columns_with_categorical_item(frame, columns, formula)
    response = frame[formula.formula_columns[0]]
    if not _has_numeric_dtype(response):
        raise InputError(f"response '{response.name}' is not a number but {response.dtype}")
    _check_finite(frame, formula.formula_columns)
    gappy = [name for name in formula.formula_columns if frame[name].isna().any()]
    parts: Iterable[tuple[Any, pd.DataFrame]] = [(tuple(frame[name].iloc[0] for name in by), frame)]
    if by:
        groups = frame.groupby(list(by), sort=False, dropna=False, observed=True)
        parts = (
            groups if groups.ngroups > 1 else parts
        )  # no copy: those of the rows of 500 models would fill the memory
    for key, rows in parts:
        yield _drop_gaps_and_refuse_unfittable_input(
            FitInput(key, rows, formula, weights=weights), gappy, missing, optional
        )


def _select_columns_with_categorical_item(frame: pd.DataFrame, names: Iterable[str], formula: Formula) -> pd.DataFrame:
    """Select the named columns of `frame` without copying them; items become a category."""
    import pandas as pd

    category = formula.grouping_column if formula.grouping_column not in formula.fixed else None
    columns = {name: frame[name].astype("category") if name == category else frame[name] for name in names}
    return pd.DataFrame(columns, copy=False)


def _check_finite(frame: pd.DataFrame, names: Iterable[str]) -> None:
    """Refuse infinite values in the named columns of numbers."""
    for name in names:
        if _has_numeric_dtype(frame[name]) and (
            infinite := int(np.isinf(frame[name].to_numpy(np.float64, na_value=np.nan)).sum())
        ):
            raise InputError(f"column '{name}': infinite in {infinite:,} of {len(frame):,} rows; leave these rows out")


def _drop_gaps_and_refuse_unfittable_input(
    fit_input: FitInput, columns_with_gaps: Sequence[str], missing: str, optional: Collection[str]
) -> FitInput:
    """Complete rows of `fit_input` with gaps in `columns_with_gaps`; refuse what cannot be fitted."""
    if columns_with_gaps:
        fit_input = _drop_or_refuse_incomplete_rows_and_terms(fit_input, columns_with_gaps, missing, optional)
    rows, group = fit_input.frame, fit_input.formula.grouping_column
    response = rows[fit_input.formula.formula_columns[0]]
    if rows.empty:
        raise InputError(
            f"no complete row is left to fit{fit_input.label}: a value is missing in all {fit_input.n_missing:,}"
        )
    if np.ptp(_convert_to_numbers(response)) == 0:
        raise InputError(
            f"response '{response.name}'{fit_input.label} is {response.iloc[0]} in "
            f"{f'all {len(rows):,} rows' if len(rows) > 1 else 'the only row'}: nothing varies that could be explained"
        )
    if (n_levels := rows[group].nunique()) < 2:
        raise InputError(f"only one {group}{fit_input.label}: a random intercept needs at least 2")
    if n_levels == len(rows):
        raise InputError(f"every {group}{fit_input.label} has one row: item and residual variance cannot be told apart")
    return fit_input


def _drop_or_refuse_incomplete_rows_and_terms(
    fit_input: FitInput, columns_with_gaps: Sequence[str], missing: str, optional: Collection[str]
) -> FitInput:
    """Leave out optional predictors that are empty or constant and, with missing="drop", rows without a value."""
    rows, formula = fit_input.frame, fit_input.formula
    n_values = {name: rows[name].nunique() for name in columns_with_gaps if name in optional}
    dropped = {name: "constant" if n else "no value in any row" for name, n in n_values.items() if n < 2}
    formula = formula.drop_terms(dropped)
    gaps = {
        name: int(count) for name in columns_with_gaps if name not in dropped and (count := rows[name].isna().sum())
    }
    if gaps and missing == "error":
        counts = ", ".join(f"{name} in {count:,}" for name, count in gaps.items())
        raise InputError(
            f"values are missing in {len(rows):,} rows{fit_input.label}: {counts}; leave these rows or columns out, "
            "or ask for missing='drop'"
        )
    complete = rows.drop(columns=list(dropped)).dropna(subset=list(gaps))
    return FitInput(fit_input.key, complete, formula, dropped, len(rows) - len(complete), fit_input.weights)


def build_model_matrix(fit_input: FitInput) -> Matrix:
    """Build the arrays of one fit for a formula of columns and their products.

    A text column gets R's treatment contrasts: one 0-1 column per level but the first, named column + level.

    Raises
    ------
    InputError
        For text columns in a formula that needs R's full coding.
    """
    import pandas as pd

    terms, columns = _build_model_matrix_columns(fit_input)
    x = np.array(columns).T if columns else np.empty((len(fit_input.frame), 0))
    codes, levels = pd.factorize(fit_input.frame[fit_input.formula.grouping_column], sort=True)
    y = _convert_to_numbers(fit_input.frame[fit_input.formula.response])
    return Matrix(fit_input.label, tuple(terms), x, y, codes, pd.Index(levels))


_last: list[tuple[Matrix, Design]] = []


def build_full_rank_design(full_matrix: Matrix) -> Design:
    """Drop every column that is a linear combination of the columns before it.

    The rule and its tolerance are those of lme4 (R's `qr`, LINPACK dqrdc2). The last design is kept: the next fit of a
    family, and the checks of the same fit, mostly have the same wordings.

    Raises
    ------
    InputError
        As `refuse_too_few_rows_for_coefficients`, and where no column is left.
    """
    if not _last or not full_matrix.has_same_predictors_and_items(_last[0][0]):
        _last[:] = [(full_matrix, _build_design_without_dependent_columns(full_matrix))]
    return _last[0][1]


def _build_design_without_dependent_columns(full_matrix: Matrix) -> Design:
    """Drop, one by one, each column that depends on those before it; factorize the others by QR."""
    from scipy.linalg import qr

    x, terms, dropped = full_matrix.x, list(full_matrix.terms), dict[str, str]()
    while True:
        q, r = qr(x, mode="economic", check_finite=False)
        remaining_length, length = np.abs(np.diag(r)), np.linalg.norm(r, axis=0)
        dependent = np.flatnonzero(remaining_length <= RANK_TOLERANCE * length[: len(remaining_length)])
        if not dependent.size:
            break
        first = int(dependent[0])  # it distorts the factors after it: drop one column, then factor again
        dropped[terms[first]] = "constant" if np.ptp(x[:, first]) == 0 else "collinear with predictors before it"
        x, terms = np.asfortranarray(np.delete(x, first, axis=1)), terms[:first] + terms[first + 1 :]
    if not terms:
        be = "is" if len(dropped) == 1 else "are"
        raise InputError(
            f"no coefficient{full_matrix.label} is left to fit: {' and '.join(dropped)} {be} 0 in all rows"
        )
    refuse_too_few_rows_for_coefficients(len(x), len(terms), full_matrix.label)
    sd = np.array([np.nan if name == INTERCEPT else x[:, j].std(ddof=1) for j, name in enumerate(terms)])
    return Design(tuple(terms), x, q, r, sd, dropped)


def refuse_too_few_rows_for_coefficients(n_rows: int, n_terms: int, label: str) -> None:
    """Refuse a fit that leaves fewer than two rows for its two variances, that of the items and the residual one.

    Parameters
    ----------
    n_rows, n_terms
        Rows of the fit, and its coefficients, the intercept among them.
    label
        From `FitInput.label`.

    Raises
    ------
    InputError
        REML estimates the variances from rows - coefficients numbers: of one number it cannot estimate two.
    """
    if n_rows < n_terms + 2:
        raise InputError(
            f"{n_rows} rows cannot carry {n_terms} coefficients and 2 variances{label}: use fewer predictors"
        )


def _build_model_matrix_columns(fit_input: FitInput) -> tuple[list[str], list[NDArray[np.float64]]]:
    """Build the names and columns of the model matrix, with the dependent ones."""
    formula, rows = fit_input.formula, fit_input.frame
    names = dict.fromkeys(name for term in formula.fixed for name in term.split(":"))
    coded = {name: _encode_predictor_column(name, rows[name]) for name in names}
    terms = [INTERCEPT] if formula.intercept else []
    columns = [np.ones(len(rows))] if formula.intercept else []
    for term in formula.fixed:
        factors = term.split(":")
        text = [name for name in factors if not _has_numeric_dtype(rows[name])]
        if text and not (formula.intercept and set(factors) <= set(formula.fixed)):
            raise InputError(
                f"formula '{formula}': text column '{text[0]}' needs an intercept, and in a product its own main "
                "effects too (write a*b); engine 'pymer4' fits other codings"
            )
        # R varies the first factor fastest
        for combination in product(*(coded[name] for name in reversed(factors))):
            names_values = list(reversed(combination))
            terms.append(":".join(name for name, _ in names_values))
            columns.append(np.prod([values for _, values in names_values], axis=0))
    return terms, columns


def _encode_predictor_column(name: str, values: pd.Series[Any]) -> list[tuple[str, NDArray[np.float64]]]:
    """Code one column: a number as it is; text as one 0-1 column per level, without the first level."""
    if _has_numeric_dtype(values):
        return [(name, _convert_to_numbers(values))]
    return [(f"{name}{level}", (values == level).to_numpy(np.float64)) for level in list_levels_of_column(values)[1:]]


def list_levels_of_column(values: pd.Series[Any]) -> list[Any]:
    """List the levels of a text column: sorted, or in the order of its categories."""
    import pandas as pd

    if isinstance(values.dtype, pd.CategoricalDtype):
        return list(values.cat.remove_unused_categories().cat.categories)
    return sorted(values.unique())


def _has_numeric_dtype(values: pd.Series[Any]) -> bool:
    import pandas as pd

    return bool(pd.api.types.is_numeric_dtype(values))


def _convert_to_numbers(values: pd.Series[Any]) -> NDArray[np.float64]:
    return values.to_numpy(np.float64)
