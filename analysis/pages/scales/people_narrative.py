"""Write the sentences about people beside models, and about how consistent scales are, from the tables."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.measures.ratings_people import ALL_ITEMS, ALL_PERSONAS
from analysis.measures.thresholds import is_validity_below_half
from analysis.reporting.words import format_quantity, join_names, labels
from analysis.reporting.words.verdicts import widen_difference_interval_for_multiplicity
from analysis.statistics.ratings.comparison import LARGER, NO_LARGER, OPEN, judge_distance_from_people


def describe_models_as_close_as_people(people: pd.DataFrame) -> Iterator[str]:
    """Say which models lie no further from people than people from each other, by the rule "beside people".

    Parameters
    ----------
    people
        Table `scales_people`. Only rows of all items count, and of several personas all of them.

    Yields
    ------
    str
        Sentences; none without people. Nothing is said of models that are not judged.
    """
    if people.empty:
        return
    people = people.assign(
        label=labels.build_row_labels(people.drop(columns="study"))
    )  # one study is named, or the only
    rows = _select_judged_rows_of_first_study(people)
    if rows.empty:
        return
    if people["study"].nunique() > 1:
        yield f"People are put beside the models of {rows['study'].iloc[0]} alone; the table has all."
    if rows["n_people"].isna().all():
        yield "How many people answered is not known: how far they lie from each other by chance is not, either."
    elif rows["w1_between"].isna().all():
        yield "Too few people answered some items: how far they lie from each other by chance is not known."
    else:
        names = {
            verdict: join_names(list(rows["label"][judge_excess_distance_from_people(rows) == verdict]))
            for verdict in (NO_LARGER, LARGER, OPEN)
        }
        if names[NO_LARGER]:
            yield f"No further from people than two groups of people from each other: {names[NO_LARGER]}."
        if names[LARGER]:
            yield f"Further from people than two groups of people from each other: {names[LARGER]}."
        if names[OPEN]:
            yield f"With these people, it is open which of the two holds for {names[OPEN]}."
        ends = f"{rows['w1_between'].min():.3f}", f"{rows['w1_between'].max():.3f}"  # models may have other items
        yield f"Two groups of as many people are {' to '.join(dict.fromkeys(ends))} of the scale apart, on average."
    near, far = rows.loc[rows["w1"].idxmin()], rows.loc[rows["w1"].idxmax()]
    if len(rows) == 1:
        of_model = f" of {near['label']}" if people["label"].nunique() > 1 else ""
        yield f"The distance{of_model} to people is {near['w1']:.3f} of the scale, on average over items."
    else:
        yield f"Distances to people go from {near['w1']:.3f} ({near['label']}) to {far['w1']:.3f} ({far['label']})."


def _select_judged_rows_of_first_study(people: pd.DataFrame) -> pd.DataFrame:
    """Select what is judged: all items of the first study that has such rows; of several personas, all of them."""
    rows = people[(people["scale"] == ALL_ITEMS) & people["w1"].notna() & ~is_validity_below_half(people["validity"])]
    rows = rows[rows["study"].isin(rows["study"].head(1))]
    has_mixture = rows.groupby(["model", "condition"])["persona"].transform(lambda names: (names == ALL_PERSONAS).any())
    return rows[~has_mixture | (rows["persona"] == ALL_PERSONAS)]


def judge_excess_distance_from_people(rows: pd.DataFrame) -> pd.Series:
    """Judge the excess of some rows, its intervals widened for their number.

    Parameters
    ----------
    rows
        Of table `scales_people`.

    Returns
    -------
    Series
        As `judge_distance_from_people`; empty where an interval is missing.
    """
    n = int(rows["excess"].notna().sum())
    verdicts = [
        judge_distance_from_people(
            widen_difference_interval_for_multiplicity(row.excess, row.excess_lower, row.excess_upper, n),
            widen_difference_interval_for_multiplicity(row.excess, row.excess_people_lower, row.excess_people_upper, n),
        )
        for row in rows.itertuples()
    ]
    return pd.Series(verdicts, index=rows.index, dtype=object)


def describe_consistency_of_scales(respondents: pd.DataFrame) -> Iterator[str]:
    """Say how consistent scales are over each kind of respondents, or why that is not said.

    Parameters
    ----------
    respondents
        Table `scales_respondents`.

    Yields
    ------
    str
        A sentence per kind of respondents.
    """
    for kind, rows in respondents.groupby("respondents", sort=False) if len(respondents) else ():
        alphas = rows["alpha"].dropna()
        if alphas.empty:
            reasons = list(dict.fromkeys(rows["why_not"].str.removeprefix("no omega: ")))
            yield f"No alpha over {kind}: {join_names(reasons, 2)}."
            continue
        rows_text = format_quantity(len(rows), "row" if rows.duplicated(["study", "scale"]).any() else "scale")
        where = f"{len(alphas):,} of {rows_text}" if len(alphas) < len(rows) else rows_text
        ends = dict.fromkeys(f"{alpha:.2f}" for alpha in (alphas.min(), alphas.max()))
        yield f"Over {kind}, Cronbach's alpha is {' to '.join(ends)}{f' in {where}' if len(rows) > 1 else ''}."
