"""Say what weakens the answer of the page on benchmarks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from analysis.pages.benchmarks.measures import ALL
from analysis.pages.benchmarks.model_facts import ACCURACY, SIZE
from analysis.pages.benchmarks.repeated import describe_counts_of_rows_per_model
from analysis.reporting.words import format_quantity, join_names, list_few_items_cautions
from analysis.reporting.words.doubts import LEFT_OUT, READING, WIDE, WRONG, Caution
from analysis.reporting.words.validity import FEW_ANSWERS
from analysis.statistics.correlation import FEW, LEAST
from ground.capitals import capitalise_sentence, uncapitalise_sentence

NAMED = 5  # models that a sentence names
MOST_SOURCES = 8  # pages and studies that a sentence names
RANK = "spearman"


def select_values_of_compared_conditions(frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the values of the conditions that are compared, of models that answer or not."""
    values = frames["measures_by_model"]
    return values[values["compared"].astype(bool)]


def mark_rank_tests_of_headline_measures(table: pd.DataFrame) -> pd.Series:
    """Tell which rows of table `benchmarks` are the family of tests of the page: ranks of headline measures."""
    return (table["method"] == RANK) & table["headline"].astype(bool)


def list_cautions(frames: Mapping[str, pd.DataFrame], item_counts: pd.Series | None = None) -> Iterator[str]:
    """Yield the doubts, the gravest first.

    Parameters
    ----------
    frames
        The tables that `narrative.TABLES` names.
    item_counts
        Items of every study, by its name; None where they are not known.
    """
    table, values = frames["benchmarks"], select_values_of_compared_conditions(frames)
    reasons = table.loc[mark_rank_tests_of_headline_measures(table), "caution"].astype(str)
    n_refused, n_few = (int(reasons.str.startswith(word).sum()) for word in ("refused", "few"))
    if n_refused:
        yield Caution(
            f"{format_quantity(n_refused, 'rank correlation')} refused: fewer than {LEAST} models have both values.",
            LEFT_OUT,
        )
    if n_few:
        yield Caution(
            f"{format_quantity(n_few, 'rank correlation')} {'rests' if n_few == 1 else 'rest'} on fewer than {FEW} "
            "models, where chance alone makes large ones.",
            WIDE,
        )
    if item_counts is not None:  # tests over models take the measures as they are: they know nothing of items
        sources = frames["measure_sources"]
        compared_studies = sources.loc[sources["left_out"] == "", "study"].unique()
        yield from list_few_items_cautions(
            item_counts[item_counts.index.isin(compared_studies)],
            consequence="these tests do not allow for other items, which may order the models otherwise",
        )
    yield from _list_uncompared_condition_and_measure_cautions(frames["measure_sources"])
    yield from _list_prompt_form_cautions(values)
    if len(table) and (joined_rows_sentence := describe_counts_of_rows_per_model(table)):
        yield Caution(joined_rows_sentence.strip(), READING)
    yield from _list_unscored_model_cautions(frames)
    sizes = values.groupby("model")["parameters"].first()
    if sizes.isna().any():
        yield Caution(f"run.json has no size of {join_names(list(sizes.index[sizes.isna()]), NAMED)}.", LEFT_OUT)
        if not table.empty and not table["benchmark"].isin([SIZE, ACCURACY]).all():  # there is a file of scores
            yield Caution(
                "Where the file of scores alone has the size of a model, that counts in the tables; the figure of "
                "sizes leaves the model out.",
                READING,
            )
    silent_by_model = values.groupby("model")["silent"].any()
    if silent_by_model.any() and not values["silent"].all():  # where no model is judged, the verdict names all
        yield Caution(
            f"{join_names(list(silent_by_model.index[silent_by_model]), NAMED)}: left out where "
            f"{uncapitalise_sentence(FEW_ANSWERS)}. Points of such models are hollow in the figures.",
            LEFT_OUT,
        )
    yield Caution(
        "Correlations over models tell what varies together, not what causes what. Models of one series are not "
        "independent of each other.",
        WIDE,
    )


def _list_uncompared_condition_and_measure_cautions(sources: pd.DataFrame) -> Iterator[str]:
    """Name the conditions that are not compared, and the measures that are left out."""
    compared_sources = sources[(sources["left_out"] == "") & (sources["study"] != ALL)]
    several = compared_sources[compared_sources["n_conditions"] > 1].drop_duplicates("study")
    if len(several):
        condition_names = [f"{row.condition} of {row.study}" for row in several.itertuples()]
        yield Caution(
            f"Of several conditions of a study, one is compared: {join_names(condition_names, NAMED)}.", LEFT_OUT
        )
    for reason, rows in sources[sources["left_out"] != ""].groupby("left_out", sort=False):
        names = [
            f"{page.replace('_', ' ')}{f' ({studies})' if (studies := join_names(list(filter(None, part)))) else ''}"
            for page, part in rows.groupby("page", sort=False)["study"]
        ]
        yield Caution(f"No measure of {join_names(names, MOST_SOURCES)}. {capitalise_sentence(str(reason))}.", LEFT_OUT)


def _list_prompt_form_cautions(values: pd.DataFrame) -> Iterator[str]:
    """Say that models asked in different forms are compared, and which form counts where one was asked in several."""
    models = values[values["form"] != ""].groupby("model", sort=False)["form"].first()
    counts = models.value_counts(sort=False)
    if len(counts) > 1:
        forms = join_names([f"{number} in {form}" for form, number in counts.items()], 4)
        yield Caution(
            f"Models are compared in their own forms ({forms}). Form goes with how they were trained, so a correlation "
            "may rest on that.",
            WRONG,
        )
    values_in_several_forms = values[values["n_forms"] > 1]
    if len(values_in_several_forms):
        forms = values_in_several_forms.groupby("model", sort=False)["form"].first()
        chosen = join_names([f"{model} in {form}" for model, form in forms.items()], 4)
        models_text = (
            f"{format_quantity(len(forms), 'model')} {'was' if len(forms) == 1 else 'were'} asked in several forms"
        )
        yield Caution(f"{models_text}; compared: {chosen}.", LEFT_OUT)


def _list_unscored_model_cautions(frames: Mapping[str, pd.DataFrame]) -> Iterator[str]:
    """Say which models have no scores, or that none were given."""
    names = frames["benchmark_names"]
    run_models = names[names["side"] == "runs"]
    unmatched = run_models[run_models["matched"] == ""]
    if len(unmatched) == len(run_models) and not (names["side"] == "scores").any():
        yield Caution("No scores of benchmarks were given (-p scores=FILE).", LEFT_OUT)
    elif len(unmatched):
        nearest_names = [
            f"{row.model} (nearest: {row.nearest})" if row.nearest else row.model for row in unmatched.itertuples()
        ]
        if len(unmatched) == len(run_models):
            yield Caution(
                f"No model of these runs is among the {(names['side'] == 'scores').sum():,} of the scores.", LEFT_OUT
            )
        yield Caution(
            f"{format_quantity(len(unmatched), 'model')} without scores: {join_names(nearest_names, NAMED)}. A file "
            "(-p aliases=FILE) can match a model with its name there.",
            LEFT_OUT,
        )
