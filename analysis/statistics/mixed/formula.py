"""Read and write mixed-model formulas such as `response ~ predictors + (1 | item)`.

Only the outer shape is read here: the response, the terms and the random effects. Expressions that only R understands
(`log(x)`, `poly(x, 2)`) are kept as text for R, which would run any call in them: only known functions go on.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from ground.errors import InputError, format_nearest_name_hint, shorten_to_one_line

if TYPE_CHECKING:
    import pandas as pd

NAME = re.compile(r"[^\W\d][\w.]*")
FUNCTIONS = {
    "C", "I", "abs", "as.numeric", "bs", "c", "cos", "cut", "exp", "factor", "ifelse", "is.na", "log", "log10", "log1p",
    "log2", "ns", "offset", "pmax", "pmin", "poly", "qlogis", "rank", "relevel", "round", "scale", "sin",
    "sqrt",
}  # fmt: skip
EXAMPLE = "write it like 'agreement ~ n_words + (1 | item)'"


@dataclass(frozen=True, slots=True)
class RandomTerm:
    """Hold one random term: `RandomTerm("1", "item")` for `(1 | item)`, `RandomTerm("x", "item", "||")` for
    `(x || item)`."""

    effects: str
    group: str
    bar: str = "|"

    def __str__(self) -> str:
        return f"({self.effects} {self.bar} {self.group})"


@dataclass(frozen=True, slots=True)
class Formula:
    """Hold the parts of a formula; `str` writes it again.

    `fixed` holds the fixed terms in R's order (main effects before products), each a column, a product of columns
    `a:b`, or text that only R can read.
    """

    response: str
    fixed: tuple[str, ...]
    random: tuple[RandomTerm, ...]
    intercept: bool = True

    def __str__(self) -> str:
        terms = [*([] if self.intercept else ["0"]), *(self.fixed or ["1"]), *map(str, self.random)]
        return f"{self.response} ~ {' + '.join(terms)}"

    @property
    def is_fittable_by_builtin_engine(self) -> bool:
        """Tell whether the built-in engine can fit it: one random intercept, fixed terms of columns and products."""
        texts = [self.response, *(name for term in self.fixed for name in term.split(":"))]
        has_one_intercept = (
            len(self.random) == 1 and self.random[0].effects == "1" and is_column_name(self.random[0].group)
        )
        return has_one_intercept and all(map(is_column_name, texts))

    @property
    def formula_columns(self) -> tuple[str, ...]:
        """List every column that the formula names, the response first; of text for R, its words without functions."""
        texts = [self.response, *self.fixed, *(f"{term.effects} {term.group}" for term in self.random)]
        return tuple(dict.fromkeys(name for text in texts for name in _list_variable_names(text)))

    @property
    def grouping_column(self) -> str:
        """Return the grouping column whose levels are counted: `item` if it is one, else the first one."""
        groups = [name for term in self.random for name in _list_variable_names(term.group)]
        return "item" if "item" in groups else groups[0]

    def drop_terms(self, names: Collection[str]) -> Formula:
        """Return the formula without the fixed terms that are one of `names` or a product with one."""
        return replace(self, fixed=tuple(term for term in self.fixed if not set(term.split(":")) & set(names)))


@dataclass(frozen=True, slots=True)
class DefaultFormula:
    """Hold the text of a formula of all features present; `dropped` maps the absent ones to the reason."""

    text: str
    features: tuple[str, ...]
    dropped: dict[str, str]


def build_default_formula(
    frame: pd.DataFrame, features: Sequence[str], *, response: str = "agreement"
) -> DefaultFormula:
    """Write the formula `response ~ all features that are present + (1 | item)`.

    `mixed.fit_mixed_models` later drops constant and collinear features, also with the reason.

    Parameters
    ----------
    frame
        One row per response.
    features
        Names of columns that the frame may have.
    response
        Name of the column of the response.

    Returns
    -------
    DefaultFormula
        Without features that are no column of the frame, or have no value in it (a component was missing when the
        features were computed).

    Raises
    ------
    InputError
        If none of the features is present.
    """
    dropped = {}
    for feature in features:
        if feature not in frame.columns:
            dropped[feature] = "not computed"
        elif not frame[feature].notna().any():
            dropped[feature] = "no value in any row"
    present = tuple(feature for feature in features if feature not in dropped)
    if not present:
        raise InputError(f"none of the features is in the table: {', '.join(features)}; compute them first")
    return DefaultFormula(f"{response} ~ {' + '.join(present)} + (1 | item)", present, dropped)


def parse_formula(text: str) -> Formula:
    """Read a formula in the notation of R's lme4.

    Raises
    ------
    InputError
        One line that says what is wrong with the text.
    """
    if not isinstance(text, str):
        raise InputError(f"formula: {shorten_to_one_line(repr(text))} is no text; {EXAMPLE}")
    sides = text.split("~")
    if len(sides) != 2 or not all(side.strip() for side in sides):
        raise InputError(f"formula '{text}': needs a response, one ~ and predictors; {EXAMPLE}")
    _refuse_unlisted_function_calls(text)
    response, intercept, random = sides[0].strip(), True, list[RandomTerm]()
    _split_signed_terms(response, text)  # only to refuse what cannot be read
    mains, products = list[str](), list[str]()
    for sign, term in _split_signed_terms(sides[1], text):
        if term in ("0", "1"):
            intercept = (term == "1") == (sign == "+")
        elif sign == "-":
            raise InputError(f"formula '{text}': only the intercept can be taken away (- 1), not '{term}'")
        elif term.startswith("(") and "|" in term:
            random.append(_parse_random_term(term, text))
        else:
            for piece in _expand_product_term(term):
                (products if ":" in piece else mains).append(piece)
    if not random:
        raise InputError(f"formula '{text}': names no random effect; add one like (1 | item)")
    # products of equally many columns keep the order in which they were written, as in R
    fixed = tuple(dict.fromkeys([*mains, *sorted(products, key=lambda piece: piece.count(":"))]))
    return Formula(response, fixed, tuple(random), intercept)


def is_column_name(text: str) -> bool:
    """Tell whether `text` is the plain name of a column."""
    return NAME.fullmatch(text) is not None


def _refuse_unlisted_function_calls(text: str) -> None:
    """Refuse a call of anything but `FUNCTIONS`: R would run it, whatever it does."""
    for word in re.findall(r"([\w.]+)\s*\(", text):
        if word not in FUNCTIONS:
            raise InputError(
                f"formula '{text}': {shorten_to_one_line(word)}() cannot stand in a formula"
                f"{format_nearest_name_hint(word, FUNCTIONS)}; there are {', '.join(sorted(FUNCTIONS))}"
            )


def _split_signed_terms(side: str, formula_text: str) -> list[tuple[str, str]]:
    """Split at the + and - outside parentheses; return each term with its sign."""
    terms, depth, start, sign = [], 0, 0, "+"
    for place, char in enumerate(f"{side}+"):
        depth += (char == "(") - (char == ")")
        if depth < 0:
            break
        if char in "+-" and depth == 0:
            term = " ".join(side[start:place].split())
            if term:
                terms.append((sign, term))
            elif terms or char == "+":
                raise InputError(
                    f"formula '{formula_text}': a term is missing before the '{char}' or at the end; {EXAMPLE}"
                )
            start, sign = place + 1, char
    if depth != 0:
        raise InputError(f"formula '{formula_text}': its parentheses do not match")
    for _, term in terms:
        # two columns without a sign between them, or a sign that no formula has: R's own message is hard to read
        if re.search(r"[\w.)]\s+[\w.(]", term) or re.search(r"[;&$@\"'`]", term):
            raise InputError(f"formula '{formula_text}': cannot read '{term}'; {EXAMPLE}")
    return terms


def _parse_random_term(term: str, formula_text: str) -> RandomTerm:
    """Read one random term such as `(1 + x | item)`."""
    match = re.fullmatch(r"\(([^|]+)(\|\|?)([^|]+)\)", term)
    if not match or not _list_variable_names(match[3]):
        raise InputError(f"formula '{formula_text}': cannot read the random effect '{term}'; write it like (1 | item)")
    return RandomTerm(match[1].strip(), match[3].strip(), match[2])


def _expand_product_term(term: str) -> list[str]:
    """Expand `a*b` to `a`, `b`, `a:b`; keep anything else, without the spaces around its colons."""
    factors = [factor.strip() for factor in term.split("*")]
    if len(factors) > 1 and all(map(is_column_name, factors)):
        sizes = range(1, len(factors) + 1)
        return [":".join(combination) for size in sizes for combination in combinations(factors, size)]
    pieces = [piece.strip() for piece in term.split(":")]
    return [":".join(pieces)] if all(map(is_column_name, pieces)) else [term]


def _list_variable_names(text: str) -> list[str]:
    """List the names in a text without functions (before a parenthesis), arguments (before =) and reserved words."""
    words = [match[0] for match in re.finditer(rf"(?<![\w.]){NAME.pattern}(?![\w.]|\s*(\(|=(?!=)))", text)]
    return [word for word in words if word not in ("TRUE", "FALSE", "NULL")]
