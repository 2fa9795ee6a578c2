"""From a frame to the arrays of a fit: checks of the input, the model matrix, its rank."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from analysis.statistics.mixed.formula import Formula

INTERCEPT = "(Intercept)"
RANK_TOLERANCE = 1e-7  # lme4's: a column is dependent when this part of its length is left after the columns before it


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of one fit of a family.

    `key` are its values of the family's columns, `frame` its complete rows, `formula` what is fitted to them;
    `dropped` names predictors already left out, with the reason; `n_missing` rows left out on request.
    """

    key: tuple[Any, ...]
    frame: pd.DataFrame
    formula: Formula
    dropped: dict[str, str] = field(default_factory=dict)
    n_missing: int = 0

    @property
    def label(self) -> str:
        """How messages name this fit."""
        return f" ({', '.join(map(str, self.key))})" if self.key else ""


@dataclass(frozen=True, slots=True)
class Matrix:
    """The model matrix of one fit as it was asked for, dependent columns included.

    `x` (rows x terms, Fortran order), `y`, and `codes` of the items, 0..len(levels)-1 per row.
    """

    label: str
    terms: tuple[str, ...]
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    codes: NDArray[np.intp]
    levels: pd.Index

    def has_wordings_of(self, other: Matrix) -> bool:
        """Whether both ask for the same predictors of the same items, row by row."""
        return (
            self.terms == other.terms
            and self.levels.equals(other.levels)
            and np.array_equal(self.codes, other.codes)
            and np.array_equal(self.x, other.x)
        )


@dataclass(frozen=True, slots=True)
class Design:
    """A model matrix with full column rank.

    `x` (rows x terms, Fortran order) and its thin QR factors `q`, `r`; `sd` of its columns, NaN for the intercept,
    which has no standardised effect; `dropped` names the columns left out, with the reason.
    """

    terms: tuple[str, ...]
    x: NDArray[np.float64]
    q: NDArray[np.float64]
    r: NDArray[np.float64]
    sd: NDArray[np.float64]
    dropped: dict[str, str]


FAMILY = ("study", "model", "condition")  # what a run's rows are fitted apart by


def family(frame: pd.DataFrame, formula: Formula, by: Sequence[str] | None) -> tuple[str, ...]:
    """The columns that cut `frame` into fits: those asked for, else those of a run that the formula leaves free."""
    if by is None:
        return tuple(name for name in FAMILY if name in frame.columns and name not in formula.names)
    return (by,) if isinstance(by, str) else tuple(by)


def parts(
    frame: pd.DataFrame, formula: Formula, by: Sequence[str], *, missing: str = "error", optional: Collection[str] = ()
) -> Iterator[Part]:
    """Cut `frame` into the fits of a family and check what every fit needs.

    Raises
    ------
    InputError
        A column that is not there, no rows, missing or infinite values, a response that is not a number or does not
        vary, fewer than two items.
    """
    if missing not in ("error", "drop"):
        raise InputError(f"missing is 'error' or 'drop', not '{missing}'")
    absent = [name for name in (*formula.names, *by) if name not in frame.columns]
    if absent:
        raise InputError(
            f"formula '{formula}': no column {', '.join(map(repr, absent))}; "
            f"there are {', '.join(map(str, frame.columns))}"
        )
    if frame.empty:
        raise InputError(f"formula '{formula}': the table has no rows")
    # what would cost as much again in every fit is done once: these checks, and the coding of items
    frame = _columns(frame, dict.fromkeys((*formula.names, *by)), formula)
    _check_response(frame[formula.names[0]])
    _check_finite(frame, formula.names)
    lacking = [name for name in formula.names if frame[name].isna().any()]
    if not by:
        yield _checked(Part((), frame, formula), lacking, missing, optional)
        return
    for key, rows in frame.groupby(list(by), sort=False, dropna=False, observed=True):
        yield _checked(Part(key, rows, formula), lacking, missing, optional)


def _columns(frame: pd.DataFrame, names: Iterable[str], formula: Formula) -> pd.DataFrame:
    """The named columns of `frame`, not copied; items as a category."""
    import pandas as pd

    category = formula.group if formula.group not in formula.fixed else None
    columns = {name: frame[name].astype("category") if name == category else frame[name] for name in names}
    return pd.DataFrame(columns, copy=False)


def _check_response(response: pd.Series[Any]) -> None:
    if not _is_number(response):
        raise InputError(f"response '{response.name}' is not a number but {response.dtype}")


def _check_finite(frame: pd.DataFrame, names: Iterable[str]) -> None:
    for name in names:
        if _is_number(frame[name]) and (
            infinite := int(np.isinf(frame[name].to_numpy(np.float64, na_value=np.nan)).sum())
        ):
            raise InputError(f"column '{name}': infinite in {infinite:,} of {len(frame):,} rows; leave these rows out")


def _checked(part: Part, lacking: Sequence[str], missing: str, optional: Collection[str]) -> Part:
    """`part` with complete rows (columns in `lacking` have gaps) if a random intercept can be fitted to them."""
    if lacking:
        part = _completed(part, lacking, missing, optional)
    rows, response, group = part.frame, part.frame[part.formula.names[0]], part.formula.group
    if rows.empty:
        raise InputError(f"no complete row is left to fit{part.label}: all {part.n_missing:,} lack a value")
    if np.ptp(_numbers(response)) == 0:
        raise InputError(
            f"response '{response.name}'{part.label} is {response.iloc[0]} in all {len(rows):,} rows: "
            "nothing varies that could be explained"
        )
    if (n_levels := rows[group].nunique()) < 2:
        raise InputError(f"only one {group}{part.label}: a random intercept needs at least 2")
    if n_levels == len(rows):
        raise InputError(f"every {group}{part.label} has one row: item and residual variance cannot be told apart")
    return part


def _completed(part: Part, lacking: Sequence[str], missing: str, optional: Collection[str]) -> Part:
    """`part` without its empty optional predictors and, where asked for, without rows that lack a value."""
    rows, formula = part.frame, part.formula
    dropped = {name: "no value in any row" for name in lacking if name in optional and rows[name].isna().all()}
    formula = formula.without(dropped)
    gaps = {name: int(count) for name in lacking if name not in dropped and (count := rows[name].isna().sum())}
    if gaps and missing == "error":
        counts = ", ".join(f"{name} in {count:,}" for name, count in gaps.items())
        raise InputError(
            f"values are missing in {len(rows):,} rows{part.label}: {counts}; leave these rows or columns out, "
            "or ask for missing='drop'"
        )
    complete = rows.drop(columns=list(dropped)).dropna(subset=list(gaps))
    return Part(part.key, complete, formula, dropped, len(rows) - len(complete))


def matrix(part: Part) -> Matrix:
    """The arrays of one fit for a formula of columns and their products.

    A text column gets R's treatment contrasts: one 0-1 column per level but the first, named column + level.

    Raises
    ------
    InputError
        When text columns are asked for in a way that needs R's full coding.
    """
    import pandas as pd

    terms, columns = _columns_of(part)
    x = np.array(columns).T if columns else np.empty((len(part.frame), 0))
    codes, levels = pd.factorize(part.frame[part.formula.group], sort=True)
    return Matrix(part.label, tuple(terms), x, _numbers(part.frame[part.formula.response]), codes, pd.Index(levels))


def design(asked: Matrix) -> Design:
    """The part of a matrix with full column rank: every column that the columns before it explain is dropped.

    The rule and its tolerance are those of lme4 (R's `qr`, LINPACK dqrdc2).

    Raises
    ------
    InputError
        When rows do not outnumber coefficients.
    """
    from scipy.linalg import qr

    x, terms, dropped = asked.x, list(asked.terms), dict[str, str]()
    while True:
        q, r = qr(x, mode="economic", check_finite=False)
        left, length = np.abs(np.diag(r)), np.linalg.norm(r, axis=0)
        dependent = np.flatnonzero(left <= RANK_TOLERANCE * length[: len(left)])
        if not dependent.size:
            break
        first = int(dependent[0])  # the factors after it are polluted by it: drop one, look again
        dropped[terms[first]] = "constant" if np.ptp(x[:, first]) == 0 else "collinear with predictors before it"
        x, terms = np.asfortranarray(np.delete(x, first, axis=1)), terms[:first] + terms[first + 1 :]
    if len(x) <= len(terms):
        raise InputError(f"{len(x)} rows cannot carry {len(terms)} coefficients{asked.label}: use fewer predictors")
    sd = np.array([np.nan if name == INTERCEPT else x[:, j].std(ddof=1) for j, name in enumerate(terms)])
    return Design(tuple(terms), x, q, r, sd, dropped)


def _columns_of(part: Part) -> tuple[list[str], list[NDArray[np.float64]]]:
    """Names and columns of the model matrix, dependent ones included."""
    formula, rows = part.formula, part.frame
    names = dict.fromkeys(name for term in formula.fixed for name in term.split(":"))
    coded = {name: _coded(name, rows[name]) for name in names}
    terms = [INTERCEPT] if formula.intercept else []
    columns = [np.ones(len(rows))] if formula.intercept else []
    for term in formula.fixed:
        factors = term.split(":")
        text = [name for name in factors if not _is_number(rows[name])]
        if text and not (formula.intercept and set(factors) <= set(formula.fixed)):
            raise InputError(
                f"formula '{formula}': text column '{text[0]}' needs an intercept, and in a product its own main "
                "effects too (write a*b); engine 'pymer4' fits other codings"
            )
        # R varies the first factor fastest
        for chosen in product(*(coded[name] for name in reversed(factors))):
            names_values = list(reversed(chosen))
            terms.append(":".join(name for name, _ in names_values))
            columns.append(np.prod([values for _, values in names_values], axis=0))
    return terms, columns


def _coded(name: str, values: pd.Series[Any]) -> list[tuple[str, NDArray[np.float64]]]:
    """A number as it is; text as one 0-1 column per level but the first."""
    if _is_number(values):
        return [(name, _numbers(values))]
    return [(f"{name}{level}", (values == level).to_numpy(np.float64)) for level in levels_of(values)[1:]]


def levels_of(values: pd.Series[Any]) -> list[Any]:
    """Levels of a text column in their order: sorted, or as its categories stand."""
    import pandas as pd

    if isinstance(values.dtype, pd.CategoricalDtype):
        return list(values.cat.remove_unused_categories().cat.categories)
    return sorted(values.unique())


def _is_number(values: pd.Series[Any]) -> bool:
    import pandas as pd

    return bool(pd.api.types.is_numeric_dtype(values))


def _numbers(values: pd.Series[Any]) -> NDArray[np.float64]:
    return values.to_numpy(np.float64)
