"""Count models, conditions and their combinations in words, the same way on every page."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.reporting.catalogue.orders import BOTH_ORDERS
from analysis.reporting.words import format_count_range, format_quantity
from analysis.reporting.words.labels import UNIT


def phrase_models_in_conditions(rows: pd.DataFrame) -> str:
    """Count models, the conditions that each was asked in, and the combinations that these are.

    `rows` have the column model, and those of condition and study that there are. Rows that name the same combination
    count once; both orders of the options are one condition where they are one row.

    Returns the models alone where each has one combination. A condition belongs to a study: one that two studies have
    counts twice; where the combinations of a model differ in the study alone, studies are counted. Where some models
    have one row for both orders, and others two, conditions are not counted: all were asked in both.

    >>> import pandas as pd
    >>> def phrase(*units): return phrase_models_in_conditions(pd.DataFrame(units, columns=["model", "condition"]))
    >>> phrase(("a", "x"), ("b", "y")), phrase(("a", "x"), ("a", "y"))
    ('2 models', '1 model in 2 conditions')
    >>> phrase(("a", "x"), ("a", "y"), ("b", "x"), ("b", "y"))
    '2 models, each in 2 conditions (4 combinations)'
    >>> phrase(("a", "x"), ("a", "y"), ("b", "x"))
    '2 models, each in 1 to 2 conditions (3 combinations)'
    >>> phrase(("a", "x/up"), ("a", "x/down"), ("b", "x/both orders"))
    '2 models (3 combinations of model and condition)'
    """
    units = rows[[name for name in UNIT if name in rows]].drop_duplicates()
    by_model = units.groupby("model", sort=False)
    n_combinations = by_model.size()
    models_text = format_quantity(len(n_combinations), "model")
    if n_combinations.max() == 1:
        return models_text
    if len(set(n_combinations)) > 1 and units["condition"].str.contains(BOTH_ORDERS).any():
        return f"{models_text} ({format_quantity(len(units), 'combination')} of model and condition)"
    is_by_study = "study" in units and by_model[["study", "condition"]].nunique().max()["condition"] == 1
    each_text = f"{format_count_range(n_combinations)} {'studies' if is_by_study else 'conditions'}"
    if len(n_combinations) == 1:
        return f"{models_text} in {each_text}"
    return f"{models_text}, each in {each_text} ({format_quantity(len(units), 'combination')})"


def phrase_models_with_verb(rows: pd.DataFrame) -> str:
    """Begin a sentence on models that were asked: `phrase_models_in_conditions` with its verb.

    >>> import pandas as pd
    >>> phrase_models_with_verb(pd.DataFrame({"model": ["a"]}))
    '1 model was'
    >>> phrase_models_with_verb(pd.DataFrame({"model": ["a", "b"]}))
    '2 models were'
    >>> phrase_models_with_verb(pd.DataFrame({"model": ["a", "a", "b"], "condition": ["x", "y", "x"]}))
    '2 models, each in 1 to 2 conditions (3 combinations), were'
    """
    text = phrase_models_in_conditions(rows)
    return f"{text}{',' if ',' in text.partition('(')[0] else ''} {'was' if rows['model'].nunique() == 1 else 'were'}"


def iterate_count_of_unnamed_rows(n_rows: int, n_named: int, noun: str, plural: str | None = None) -> Iterator[str]:
    """Yield how many more rows a table has than the sentences before name; nothing where they name all.

    >>> list(iterate_count_of_unnamed_rows(6, 4, "check")), list(iterate_count_of_unnamed_rows(4, 4, "check"))
    (['The table has 2 more checks.'], [])
    """
    if n_rows > n_named:
        plural_after_more = None if plural is None else f"more {plural}"
        yield f"The table has {format_quantity(n_rows - n_named, f'more {noun}', plural_after_more)}."
