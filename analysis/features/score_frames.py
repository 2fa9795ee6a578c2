"""Join scores with the features of their wordings, for the mixed models: answers to rating scales, and any scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from analysis.features.attributes import read_attribute_column
from analysis.features.frames import read_or_compute_features
from analysis.features.names import FEATURES
from analysis.runs.folder import UNIT

if TYPE_CHECKING:
    import pandas as pd

    from analysis.measures.ratings import Ratings
    from analysis.runs import Runs


def join_ratings_with_features(runs: Runs, *, attributes: Sequence[str] = (), as_ranks: bool = False) -> pd.DataFrame:
    """Join answers to rating scales with the features of their wordings.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`; studies of rating scales.
    attributes
        As in `answer_rows.join_answers_with_features`.
    as_ranks
        Whether the answers are ranks with weights, a row per option, instead of scores.

    Returns
    -------
    DataFrame
        One row per answer to a wording that counts (`analysis.measures.ratings`): study, model, condition, item,
        variant (categorical); score: the mean answer, 0 to 1, before reversing, or rank, keyed_rank and weight
        (`measures.ratings_ranks.tabulate_weighted_answer_ranks`); the columns of `analysis.features.FEATURES`, and the
        attributes.
    """
    import pandas as pd

    from analysis.measures.ratings import read_ratings
    from analysis.measures.ratings_ranks import tabulate_weighted_answer_ranks

    rows = (
        tabulate_weighted_answer_ranks(runs)[[*UNIT, "item", "variant", "rank", "keyed_rank", "weight"]]
        if as_ranks
        else pd.concat(_iterate_rating_score_frames_of_units(read_ratings(runs)), ignore_index=True).dropna(
            subset=["score"]
        )
    )
    return _join_with_features(rows, runs, attributes)


def join_scores_with_features(runs: Runs, *, attributes: Sequence[str] = ()) -> pd.DataFrame:
    """Join scores of protocol `scored` with the features of their wordings.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`; studies of protocol `scored`.
    attributes
        As in `answer_rows.join_answers_with_features`.

    Returns
    -------
    DataFrame
        One row per response, the original wordings too: study, model, condition, item, variant, measure (categorical);
        score in the unit of the measure, NaN where a response failed or has none; the columns of
        `analysis.features.FEATURES`, and the attributes.
    """
    return _join_with_features(_tabulate_scores_with_measure(runs), runs, attributes).astype({"measure": "category"})


def _join_with_features(rows: pd.DataFrame, runs: Runs, attributes: Sequence[str]) -> pd.DataFrame:
    """Add features and attributes of the wording to rows of answers; what names a row becomes categorical."""
    columns = read_or_compute_features(runs)[["study", "item", "variant", *FEATURES]]
    columns = columns.assign(**{name: read_attribute_column(runs, name).array for name in attributes})
    rows = rows.merge(columns, on=["study", "item", "variant"], how="left")
    return rows.astype(dict.fromkeys([*UNIT, "item", "variant"], "category"))


def _iterate_rating_score_frames_of_units(studies: Sequence[Ratings]) -> Iterator[pd.DataFrame]:
    """Yield the scores of every unit of some studies, a row per answer."""
    for ratings in studies:
        places = ratings.variants
        scores = ratings.scores[:, places["item_code"], places["wording_code"]]
        for (model, condition), row in zip(ratings.units[["model", "condition"]].to_numpy(), scores, strict=True):
            yield places[["item", "variant"]].assign(study=ratings.name, model=model, condition=condition, score=row)


def _tabulate_scores_with_measure(runs: Runs) -> pd.DataFrame:
    """List the scores as they are, in the order of run.json and of the wordings, with their measure."""
    import pandas as pd

    from analysis.measures.reworded.scored import list_scored_per_study_and_measure

    measures = pd.DataFrame(
        [
            (scored.study.name, *unit, scored.study.measure)
            for scored in list_scored_per_study_and_measure(runs)
            for unit in scored.study.units
        ],
        columns=["study", "model", "condition", "measure"],
    )
    rows = runs.sql(
        """
        SELECT study, model, condition, item, variant, CAST(score AS DOUBLE) AS score
        FROM (SELECT study, model, condition, item, variant, score FROM responses
              UNION ALL SELECT study, model, condition, item, variant, NULL FROM errors)
        JOIN units AS u USING (study, model, condition) JOIN stimuli AS s USING (study, item, variant)
        ORDER BY u.position, s.study, s.position"""
    )
    return rows.merge(measures, on=["study", "model", "condition"])
