"""Write the cautions of the page on wording: what weakens the answer, from its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from analysis.measures.thresholds import is_validity_below_half
from analysis.pages.wording.cells import average_validity_over_patterns_per_row, get_name_of_language
from analysis.pages.wording.columns import WORDS
from analysis.reporting.words import (
    format_percent,
    format_quantity,
    join_names,
    labels,
    list_few_items_cautions,
    list_few_models_cautions,
)
from analysis.reporting.words.doubts import LEFT_OUT, WRONG, Caution
from analysis.runs.folder import ORIGINAL

SAME = 0.95  # share of one answer from which on a model says nearly always the same


def list_cautions(frames: Mapping[str, pd.DataFrame]) -> tuple[str, ...]:
    """Say, in sentences, what a reader must know before believing the answer; from tables of the page by name."""
    return tuple(_yield_wording_cautions(frames["consistency"], frames["conventions"]))


def _yield_wording_cautions(consistency_rows: pd.DataFrame, conventions: pd.DataFrame) -> Iterator[str]:
    """Yield the cautions from the tables `consistency` and `conventions`, the gravest first."""
    consistency_rows = consistency_rows.assign(label=labels.build_row_labels(consistency_rows))
    reworded = consistency_rows[consistency_rows["pattern"] != ORIGINAL]
    yield from _describe_models_with_few_valid_answers(consistency_rows)
    if kinds := list_wording_kinds_without_valid_pair(consistency_rows):
        yield Caution(f"With {join_names(kinds)}, there are no valid answers to compare.", LEFT_OUT)
    yield from _describe_bounds_by_invalid_answers(conventions)
    yield from _describe_constant_answers(
        consistency_rows[~is_validity_below_half(average_validity_over_patterns_per_row(consistency_rows))]
    )
    if reworded["accuracy"].isna().all() and reworded["consistency"].notna().any():
        yield Caution("No right answers are known: accuracy and Overall are undefined.", LEFT_OUT)
    pair_counts = reworded[["n", "n_items"]].min(axis=1).set_axis(reworded["label"])
    about_overall = ". That of Overall tends to be too narrow" if reworded["overall"].notna().any() else ""
    yield from list_few_items_cautions(pair_counts, " in a cell", f"intervals are wide{about_overall}")
    yield from list_few_models_cautions(consistency_rows["model"].nunique())


def _describe_models_with_few_valid_answers(consistency_rows: pd.DataFrame) -> Iterator[str]:
    """Name the models with no or few valid answers, by study and task."""
    shared_tasks = consistency_rows.groupby(["language", "task"])["study"].nunique() > 1
    for (study, language, task), part in consistency_rows.groupby(["study", "language", "task"], sort=False):
        none = part.groupby(["model", "condition"], sort=False)["n"].sum() == 0
        valid = (
            average_validity_over_patterns_per_row(part).groupby([part["model"], part["condition"]], sort=False).first()
        )
        empty = none & (valid == 0)
        of_study = f" of study “{study}”" if shared_tasks[language, task] else ""
        task_name = f"“{task}”{f' in {get_name_of_language(language)}' if language else ''}{of_study}"
        if empty.all():
            yield Caution(f"No model gives a valid answer to {task_name}: nothing is measured there.", LEFT_OUT)
        elif none.all():
            yield Caution(
                f"No model gives a valid answer to an original question of {task_name}: nothing is measured there.",
                LEFT_OUT,
            )
        elif empty.any():
            yield Caution(
                f"There are no valid answers to {task_name} from "
                f"{_join_unit_labels_for_sentence(none.index[empty], part)}.",
                LEFT_OUT,
            )
        low = is_validity_below_half(valid) & ~empty
        if low.any():
            yield Caution(
                f"Less than half of the answers to {task_name} are valid for "
                f"{_join_unit_labels_for_sentence(low.index[low], part)}. The lowest share is "
                f"{format_percent(valid[low].min(), 1)}. What the other answers would have been is not known, so "
                "these are not compared.",
                WRONG,
            )


def _join_unit_labels_for_sentence(units: pd.MultiIndex | Sequence[tuple[str, str]], rows: pd.DataFrame) -> str:
    """Join the labels of some units (model, condition) to a list for a sentence."""
    names = rows[["model", "condition"]].drop_duplicates()
    named = dict(zip(names.itertuples(index=False, name=None), labels.build_row_labels(names), strict=True))
    return join_names([named[model_and_condition] for model_and_condition in units])


def list_wording_kinds_without_valid_pair(consistency_rows: pd.DataFrame) -> list[str]:
    """List the kinds of wording of a language that no model gives two valid answers for, if it has others that do."""
    pairs = consistency_rows[consistency_rows["pattern"] != ORIGINAL].groupby(["language", "pattern"], sort=False)["n"]
    most = pairs.max()
    has_others = most.groupby("language").transform("max") > 0
    several = most.index.get_level_values("language").nunique() > 1
    return [
        f"{WORDS[pattern]}{f' in {get_name_of_language(language)}' if several and language else ''}"
        for language, pattern in most.index[has_others & (most == 0)]
    ]


def _describe_bounds_by_invalid_answers(conventions: pd.DataFrame) -> Iterator[str]:
    """Say what both ways to treat invalid answers give, and between which bounds the numbers lie."""
    reworded = conventions[conventions["pattern"] != ORIGINAL]
    rows_with_pairs = reworded[reworded["n_pairs"] > 0]
    if rows_with_pairs.empty:
        return
    invalid_pairs = int((reworded["n"] - reworded["n_pairs"]).sum())
    mean = {
        name: format_percent(rows_with_pairs[name].mean(), 1)
        for name in rows_with_pairs
        if name.startswith(("consistency_", "yes_"))
    }
    yield Caution(
        f"{format_quantity(invalid_pairs, 'pair')} {'has' if invalid_pairs == 1 else 'have'} an invalid answer. In the "
        f"rows of such pairs and some valid ones, mean Consistency is {mean['consistency_dropped']} without these "
        f"pairs. It is {mean['consistency_inconsistent']} where they count as inconsistent (-p invalid=inconsistent), "
        f"and would be {mean['consistency_most']} if all were consistent. The share of “Yes” lies between "
        f"{mean['yes_inconsistent']} and {mean['yes_most']}, whatever the invalid answers say.",
        WRONG,
    )


def _describe_constant_answers(consistency_rows: pd.DataFrame) -> Iterator[str]:
    """Name the models that always say the same, to antonyms, too: their consistency elsewhere says nothing."""
    is_antonym = consistency_rows["pattern"] == "antonym"
    spans = (
        consistency_rows.assign(asked=is_antonym, answered=is_antonym & (consistency_rows["n"] > 0))
        .groupby(["study", "model", "condition"], sort=False)
        .agg(label=("label", "first"), min=("yes", "min"), max=("yes", "max"), asked=("asked", "any"),
             answered=("answered", "any"))
    )  # fmt: skip
    for word, rows in (("Yes", spans[spans["min"] > SAME]), ("No", spans[spans["max"] < 1 - SAME])):
        if len(rows):
            included = ", antonyms included" if rows["answered"].all() else ""
            scope = "the other kinds of wording" if included else "every wording"
            scope += " but antonyms" if rows["asked"].any() and not included else ""
            yield Caution(
                f"{join_names(list(rows['label']))} {'says' if len(rows) == 1 else 'say'} “{word}” to nearly "
                f"everything{included}. This is consistent under {scope} without any understanding.",
                WRONG,
            )
