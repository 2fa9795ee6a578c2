"""Write captions that can be read alone: what is plotted, how many, and what every mark means.

Each function takes the frames that the function of the same name in `plots` takes.
"""

from __future__ import annotations

import pandas as pd

from analysis.measures.thresholds import is_validity_below_half
from analysis.pages.stability.columns import parse_flip_threshold_percent
from analysis.pages.stability.measures import choose_headline_flip_column
from analysis.pages.stability.model_plots import FOREST, choose_listed_pairs
from analysis.pages.stability.plots import (
    MOST_COLUMNS,
    MOST_ITEMS,
    MOST_LOW_ITEMS,
    select_agreement_cells,
    select_cells_of_lowest_validity,
    tabulate_items_least_stable_first,
)
from analysis.pages.stability.tables import MOST_PAIRS
from analysis.reporting.catalogue import look_up_column, selection
from analysis.reporting.catalogue.columns import OVER_ITEMS
from analysis.reporting.drawing.panels import ROWS
from analysis.reporting.words import (
    explain_missing_interval_lines,
    format_count_range,
    format_quantity,
    join_names,
    labels,
)
from analysis.reporting.words.counts import phrase_models_in_conditions
from analysis.reporting.words.labels import UNIT
from analysis.statistics.multiplicity import ALPHA

AGREEMENT = "Agreement is p(agree) / (p(agree) + p(disagree))"


def caption_overview(stability: pd.DataFrame) -> str:
    """Write the caption of the overview of all models."""
    flip = parse_flip_threshold_percent(choose_headline_flip_column(stability))
    items = format_count_range(stability["n_items"], "item")
    interval_text = explain_missing_interval_lines(
        stability, "validity", "range_mean", "sd_mean", choose_headline_flip_column(stability)
    )
    marked_rows = stability.assign(silent=is_validity_below_half(stability["validity"]))
    hollow_text = (
        f"{labels.explain_mark_of_unjudged_models(marked_rows)} It is hollow, at the foot."
        if marked_rows["silent"].any()
        else ""
    )
    marks = " (+) agrees, (-) disagrees with every item on average." if stability["mark"].fillna("").any() else ""
    order = ", the most stable on top" if len(stability) > 1 else ""
    return selection.read_answer_pair_attached_to_frame(stability).rewrite_agreement_text_for_answers(
        f"Stability over {items} per row: {phrase_models_in_conditions(stability)}{order}. Validity: "
        "the probability of all options together, or the share of texts that can be read as one. Range and SD: highest "
        "minus lowest agreement, and standard deviation of agreement, over an item's paraphrases, then the mean over "
        f"items. Flips: share of items with more than {flip:g} % of their paraphrases "
        f"on the other side of 0.5 than most of them; the original is not counted. {AGREEMENT}. Lines: "
        f"{OVER_ITEMS}.{interval_text}{hollow_text}{marks}"
        f"{labels.describe_shown_rows(ROWS, len(stability), 'rows', 'first and last')}"
    )


def _name_models_left_out_of_agreement_map(boxes: pd.DataFrame) -> str:
    """Name the models that the map leaves out, as they are not judged; empty where there is none."""
    if "silent" not in boxes or not boxes["silent"].any():
        return ""
    names = labels.build_row_labels(boxes.drop(columns="silent"))[boxes["silent"]].unique()
    return f" Left out: {join_names(list(names))}. Less than half of their probability is surely {labels.ON_OPTIONS}."


def caption_agreement(distribution: pd.DataFrame, items: pd.DataFrame) -> str:
    """Write the caption of the map of agreement by item and model.

    Parameters
    ----------
    distribution, items
        As in `plots.draw_agreement`.

    Returns
    -------
    str
        The caption.
    """
    cells = select_agreement_cells(distribution, items)
    valid_boxes = distribution.dropna(subset=["median"])
    unjudged_text = _name_models_left_out_of_agreement_map(valid_boxes)
    if "silent" in valid_boxes:
        valid_boxes = valid_boxes[~valid_boxes["silent"]]
    n_items, n_units = len(valid_boxes[["study", "item"]].drop_duplicates()), len(valid_boxes[UNIT].drop_duplicates())
    share_text = (
        " In columns where a wording has one answer: the share of wordings that agree."
        if cells["answers"].any()
        else ""
    )
    empty_text = " Hatched: no valid answer." if len(cells) < cells["row"].nunique() * cells["label"].nunique() else ""
    return selection.read_answer_pair_attached_to_frame(distribution).rewrite_agreement_text_for_answers(
        f"Median agreement over the paraphrases of {format_quantity(cells['row'].nunique(), 'item')} "
        f"({format_count_range(valid_boxes['n'], 'paraphrase')} each){', a column each' if n_units > 1 else ''}: "
        f"{phrase_models_in_conditions(valid_boxes)}. Items are sorted by their median"
        f"{' over the columns' if n_units > 1 else ''}. "
        "Orange: disagrees; purple: agrees; white: 0.5, where an answer flips. Dot: the middle half of "
        "the paraphrases lies on both sides of 0.5, so both answers are "
        f"common.{share_text}{empty_text}{labels.describe_shown_rows(MOST_ITEMS, n_items, 'items', 'nearest to 0.5')}"
        f"{labels.describe_shown_rows(MOST_COLUMNS, n_units, 'columns', 'with the largest mean range')}"
        f"{unjudged_text}"
    )


def caption_item_stability(frame: pd.DataFrame) -> str:
    """Write the caption of the normalised SD of every item."""
    ranked = tabulate_items_least_stable_first(frame.dropna(subset=["normalised_sd_mean"]))
    items_text = (
        f"The {MOST_ITEMS} least stable of {len(ranked):,} items"
        if len(ranked) > MOST_ITEMS
        else f"All {len(ranked):,} items"
    )
    items_text = f"{items_text}, the least stable on top" if len(ranked) > 1 else "The one item"
    models = frame.groupby("family")["n_models"].max()
    total = int(models.sum())
    # Which kind of models they are tells something only where there are several kinds.
    families = " and ".join(f"{n} {family}" for family, n in models.items()) if len(models) > 1 else str(total)
    of_models = f", mean over {families} models" if total > 1 else ""
    error_text = (
        f"Lines: standard error over models{' (none where a family has one model)' if (models == 1).any() else ''}"
        if (models > 1).any()
        else f"No standard error: one model{' of each kind' if total > 1 else ''}"
    )
    return selection.read_answer_pair_attached_to_frame(frame).rewrite_agreement_text_for_answers(
        f"{items_text}. Shown is the SD of agreement over an item's paraphrases divided by the model's "
        f"largest such SD{of_models}. {error_text}. 1 would be the least stable item of "
        f"{'every' if total > 1 else 'the'} model, 0 an item whose answer never moves. Left out: models of which less "
        f"than half of the probability is surely {labels.ON_OPTIONS}."
    )


def caption_validity(items: pd.DataFrame) -> str:
    """Write the caption of the heat map of validity."""
    cells, valid_items = select_cells_of_lowest_validity(items), items.dropna(subset=["validity_mean"])
    low, high = cells["validity_mean"].min(), cells["validity_mean"].max()
    n_items, n_units = len(valid_items[["study", "item"]].drop_duplicates()), len(valid_items[UNIT].drop_duplicates())
    empty_text = " Hatched: no response." if len(cells) < cells["row"].nunique() * cells["label"].nunique() else ""
    return (
        f"Mean validity over the paraphrases of each of {format_quantity(cells['row'].nunique(), 'item')}: the "
        "probability of all options together, or the share of texts that can be read as one. Items are sorted, "
        f"the lowest mean first; lowest cell {low:.2f}, highest {high:.2f}.{empty_text}"
        f"{labels.describe_shown_rows(MOST_LOW_ITEMS, n_items, 'items', 'lowest')}"
        f"{labels.describe_shown_rows(MOST_COLUMNS, n_units, 'columns', 'lowest')}"
        f"{labels.explain_mark_of_unjudged_models(items)}"
    )


def caption_differences(frame: pd.DataFrame) -> str:
    """Write the caption of the paired differences."""
    measure = str(frame["measure"].iloc[0])
    pairs = frame[frame["measure"] == measure].dropna(subset=["difference"])
    measure_meaning = selection.read_answer_pair_attached_to_frame(frame).rewrite_agreement_text_for_answers(
        look_up_column("stability", measure).meaning
    )
    sides = pd.DataFrame({"silent": pairs.filter(like="_silent").any(axis=1)})
    pairs = pairs.assign(**labels.build_labels_of_both_sides_of_pairs(pairs))
    listed_pairs = choose_listed_pairs(pairs)
    if listed_pairs is not None:
        marks, lines = "Positive: the first is higher. Filled", ". Lines: 95 % intervals, not corrected"
    else:
        models = len(pd.concat([pairs["a"], pairs["b"]]).unique())
        marks = "Each name stands at the end of its row and on top of its column; a numbered legend has long ones."
        marks += " Positive: the row is higher."
        marks += " Hatched: not compared." if len(pairs) < models * (models - 1) / 2 else ""
        marks, lines = f"{marks} Bold or dotted", ""
    return (
        f"Paired differences of {format_quantity(len(pairs), 'pair')} over "
        f"{format_count_range(pairs['n_items'], 'common item')}. Measure: {measure_meaning}. "
        f"{marks}: p below {ALPHA:g} after Holm over all pairs{lines}."
        f"{_explain_list_of_largest_pairs(pairs, listed_pairs)}{_explain_choice_of_compared_pairs(pairs)}"
        f"{explain_missing_interval_lines(pairs)}{labels.explain_mark_of_unjudged_models(sides)}"
    )


def _explain_list_of_largest_pairs(pairs: pd.DataFrame, listed_pairs: pd.DataFrame | None) -> str:
    """Say that a list holds the largest differences only, and what that does to them."""
    if listed_pairs is None or len(listed_pairs) == len(pairs):
        return ""
    choice_text = "largest differences, of either sign,"
    return (
        f"{labels.describe_shown_rows(len(listed_pairs), len(pairs), 'pairs', choice_text)} Differences that are "
        "chosen for their size are larger than they would be in new data, on average."
    )


def _explain_choice_of_compared_pairs(pairs: pd.DataFrame) -> str:
    """Say how pairs are chosen, where every model is compared with one other only (`tables.MOST_PAIRS`)."""
    if len(pairs) <= FOREST or pairs.duplicated(["study", "b_model", "b_condition"]).any():
        return ""
    return (
        f" Where a study has more than {MOST_PAIRS:,} pairs, each model is compared only with the first of the run "
        "that it can be compared with."
    )
