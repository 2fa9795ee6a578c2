"""Write the sentences of the page on benchmarks, from its tables: what correlates with the measures, and doubts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from analysis.measures.thresholds import FEW_ITEMS, is_validity_below_half
from analysis.pages.benchmarks.cautions import (
    RANK,
    list_cautions,
    mark_rank_tests_of_headline_measures,
    select_values_of_compared_conditions,
)
from analysis.pages.benchmarks.measures import ALL, name_measures_unambiguously
from analysis.pages.benchmarks.model_facts import ACCURACY, SIZE
from analysis.pages.benchmarks.tables import GIVEN_SIZE
from analysis.reporting.words import (
    Answer,
    format_count_range,
    format_quantity,
    format_signed_number,
    join_names,
    labels,
    verdicts,
)
from analysis.reporting.words.counts import iterate_count_of_unnamed_rows
from analysis.reporting.words.validity import FEW_ANSWERS, phrase_verdict_without_judged_model
from analysis.statistics.correlation import LEAST, PERFECT
from analysis.statistics.multiplicity import ALPHA
from ground.capitals import capitalise_sentence

TABLES = ("benchmarks", "benchmark_matrix", "benchmark_names", "measures_by_model", "measure_sources")
CORRECTED = "after correction for their number (Holm)"
NAMED = 3  # clear correlations that sentences name


def answer_page_question(
    frames: Mapping[str, pd.DataFrame], when: str = "", item_counts: pd.Series | None = None
) -> Answer:
    """Say what the measures of the models correlate with, by the rules of `verdicts`.

    Parameters
    ----------
    frames
        The tables named in `TABLES`.
    when
        From `words.phrase_run_dates`.
    item_counts
        Items of every study, by its name; None where they are not known.

    Returns
    -------
    Answer
        What the page says in words.
    """
    table, doubts = frames["benchmarks"], tuple(list_cautions(frames, item_counts))
    family = select_headline_rank_correlations(table)
    if item_counts is not None and len(family):
        family = family.assign(n_items=family["study"].map(item_counts))
    asked_sentence = _describe_counts_of_models_and_measures(frames, family, when)
    compared_values, all_values = select_values_of_compared_conditions(frames), frames["measures_by_model"]
    if len(compared_values) and compared_values["silent"].all():
        of_studies = all_values[(all_values["study"] != ALL) | (all_values["study"] == ALL).all()]
        rows = of_studies.assign(label=labels.build_row_labels(of_studies[["study", "model"]]))
        rows = rows[is_validity_below_half(rows["validity"])]
        verdict, why = phrase_verdict_without_judged_model(rows, FEW_ANSWERS)
        return Answer(asked_sentence, verdict, cautions=(*why, *doubts))
    if family.empty:
        return Answer(
            asked_sentence,
            _explain_unknown_coefficients(frames),
            cautions=doubts,
            details=_build_details_on_pairwise_correlations(frames),
        )
    details = {
        "size_measures": (
            *_describe_clear_tests_of_family(family),
            *_describe_clear_count_with_size_or_accuracy(family, SIZE),
        ),
        "accuracy_measures": tuple(_describe_clear_count_with_size_or_accuracy(family, ACCURACY)),
        "benchmarks": (
            *_describe_rows_that_decide_answer(table, family),
            *_describe_correlations_clear_given_size(table, family),
        ),
    }
    return Answer(
        asked_sentence,
        describe_clear_and_largest_correlations(family),
        cautions=doubts,
        details=details | _build_details_on_pairwise_correlations(frames),
    )


def select_headline_rank_correlations(table: pd.DataFrame) -> pd.DataFrame:
    """Select the one family of tests that the answer is about, with column `clear`.

    Parameters
    ----------
    table
        Table `benchmarks`, whose `p_holm` goes over the headline measures of a method, or over the others.

    Returns
    -------
    DataFrame
        The rank correlations (Spearman) that have a number, of headline measures with size, accuracy and benchmarks.
        clear: whether one differs from 0 after Holm, and its interval does not say otherwise. name: the measure, with
        its study where several have one of this name.
    """
    if table.empty:
        return table
    family = table[mark_rank_tests_of_headline_measures(table) & table["r"].notna()]
    return family.assign(clear=_mark_coefficients_clearly_nonzero(family), name=name_measures_unambiguously(family))


def _describe_counts_of_models_and_measures(frames: Mapping[str, pd.DataFrame], family: pd.DataFrame, when: str) -> str:
    """Say how many models were asked, and how many measures were compared with what: those of the family of tests."""
    if frames["measures_by_model"].empty:
        return "No page has a measure of these models."
    values = select_values_of_compared_conditions(frames)
    sources = frames["measure_sources"]
    models, studies = frames["measures_by_model"]["model"].nunique(), sources[~sources["study"].isin(["", ALL])]
    compared = values["model"].nunique()  # others have no condition that all are compared in
    whose = f"{'its' if models == 1 else 'their'} answers" if compared == models else f"{compared:,} of them"
    n_measures, noun = int(sources.loc[sources["left_out"] == "", "n_measures"].sum()), "measure"
    if len(family):
        n_measures, noun = family.groupby(["page", "study", "measure"]).ngroups, "headline measure"
    table = frames["benchmarks"]
    names = set(table.loc[table["r"].notna(), "benchmark"]) if len(table) else set()
    counterparts = [_phrase_name_of_correlate(name) for name in (SIZE, ACCURACY) if name in names]
    if scored_names := names - {SIZE, ACCURACY}:
        counterparts.append(format_quantity(len(scored_names), "benchmark"))
    comparison_text = (
        f"{format_quantity(n_measures, noun)} of {whose} {'was' if n_measures == 1 else 'were'} compared "
        f"with {join_names(counterparts) or 'each other'}"
        if n_measures
        else f"no measure of {whose} could be compared"
    )
    return (
        f"{format_quantity(models, 'model')} {'was' if models == 1 else 'were'} asked in "
        f"{format_quantity(studies['study'].nunique(), 'study', 'studies')}{when}; {comparison_text}."
    )


def _mark_coefficients_clearly_nonzero(coefficients: pd.DataFrame) -> pd.Series:
    """Tell which coefficients differ from 0 after Holm, and have an interval that says the same, or are 1 or −1."""
    sides = [
        verdicts.compare_interval_with_value(low, high, 0)
        for low, high in zip(coefficients["lower"], coefficients["upper"], strict=True)
    ]
    is_perfect = coefficients["r"].abs() > PERFECT
    has_side = pd.Series(sides, coefficients.index, dtype=object) != ""
    return verdicts.mark_clear_effects(coefficients["p_holm"]) & (has_side | is_perfect)


def _explain_unknown_coefficients(frames: Mapping[str, pd.DataFrame]) -> str:
    """Say why no coefficient is known: too few models that answer, or nothing to compare their measures with."""
    if len(frames["benchmarks"]) and frames["benchmarks"]["r"].notna().any():
        return f"{verdicts.UNCLEAR}: no headline measure is known of {LEAST} models asked in the same way."
    numbers = frames["measure_sources"]["n_models"].dropna()
    if numbers.empty:
        return f"{verdicts.UNCLEAR}: there is nothing to correlate."
    most_models = int(numbers.max())
    if most_models < LEAST:
        models_text = f"at most {format_quantity(most_models, 'model')}" if most_models else "no model"
        return f"{verdicts.UNCLEAR}: {models_text} asked in the same way answered, and a correlation needs {LEAST}."
    names = frames["benchmark_names"]
    scored = "no benchmark is known of" if (names["side"] == "scores").any() else "no scores were given for"
    return f"{verdicts.UNCLEAR}: neither size nor accuracy is known of {LEAST} models, and {scored} them."


def describe_clear_and_largest_correlations(family: pd.DataFrame) -> str:
    """Say how many correlations of the family are clear, and name the largest of them.

    Parameters
    ----------
    family
        From `select_headline_rank_correlations`; at least one row.

    Returns
    -------
    str
        One sentence.
    """
    total_text = format_quantity(len(family), "rank correlation")
    clear_rows = family[family["clear"]]
    if clear_rows.empty:
        if len(family) == 1:
            return f"{verdicts.UNCLEAR}: the one rank correlation is not shown to differ from 0."
        return f"{verdicts.UNCLEAR}: none of {total_text} is shown to differ from 0 {CORRECTED}."
    count = len(clear_rows)
    lead = "" if count == 1 else "most strongly, "
    how_many = (
        "the one rank correlation differs from 0"
        if len(family) == 1
        else f"{count:,} of {total_text} {'differs' if count == 1 else 'differ'} from 0 {CORRECTED}"
    )
    sentence = (
        f"{lead}{_phrase_measure_rising_or_falling_with_correlate(_find_largest_coefficient(clear_rows))}: {how_many}."
    )
    return capitalise_sentence(sentence)


def _find_largest_coefficient(rows: pd.DataFrame) -> pd.Series:
    """Return the row with the largest coefficient of either sign."""
    return rows.loc[rows["r"].abs().idxmax()]


def _phrase_measure_rising_or_falling_with_correlate(row: pd.Series) -> str:
    """Say how a measure goes with what it is correlated with: "Range, of page stability, falls with size".

    Tests over models know nothing of items, so that few of them (`n_items`) are named.
    """
    partner = _phrase_name_of_correlate(row["benchmark"])
    partner = partner if row["benchmark"] in (SIZE, ACCURACY) else f"benchmark {partner}"
    n_items = row.get("n_items", FEW_ITEMS)
    few = f" on {format_quantity(int(n_items), 'item')} alone" if n_items < FEW_ITEMS else ""
    return f"{row['name']}, of page {row['page']}, {'rises' if row['r'] > 0 else 'falls'} with {partner}{few}"


def _phrase_clear_coefficient_count(rows: pd.DataFrame) -> str:
    """Write how many coefficients are clear, with the verb: "1 differs", "3 differ"."""
    clear = int(rows["clear"].sum())
    return f"{clear:,} differs" if clear == 1 else f"{clear:,} differ" if clear else "none is shown to differ"


def _phrase_whether_single_coefficient_differs(rows: pd.DataFrame) -> str:
    """Write whether the only coefficient is clear: "differs from 0"."""
    return "differs from 0" if rows["clear"].all() else "is not shown to differ from 0"


def _phrase_name_of_correlate(name: str) -> str:
    """Write what a measure is correlated with: size, accuracy, or a benchmark in quotation marks."""
    return {SIZE: "size", ACCURACY: ACCURACY}.get(name, f"“{name}”")


def _format_coefficient_with_interval(row: pd.Series) -> str:
    """Write a coefficient with its interval and its number of models."""
    ends = (
        ""
        if pd.isna(row["lower"])
        else f"95 % interval {format_signed_number(row['lower'], 2)} to {format_signed_number(row['upper'], 2)}, "
    )
    return f"{format_signed_number(row['r'], 2)} ({ends}{row['n']} models)"


def _describe_clear_tests_of_family(family: pd.DataFrame) -> Iterator[str]:
    """Name the family of tests, say which are clear, or where none is, what chance makes of the largest."""
    row = _find_largest_coefficient(family)
    pair, is_one = f"{row['name']} with {_phrase_name_of_correlate(row['benchmark'])}", len(family) == 1
    models_text = f"over {format_count_range(family['n'], 'model')} with both"
    yield (
        f"The one test is the rank correlation (Spearman) of {pair}, {models_text}."
        if is_one
        else f"The tests are one family: the {format_quantity(len(family), 'rank correlation')} (Spearman) of headline "
        f"measures with size, accuracy or a benchmark, each {models_text}."
    )
    yield "A coefficient of +1 means that the models stand in the same order by both, −1 in the opposite order."
    clear_rows = family[family["clear"]].sort_values("r", key=abs, ascending=False, kind="stable")
    for _, row in clear_rows.head(NAMED).iterrows():
        yield f"{_phrase_measure_rising_or_falling_with_correlate(row)}: {_format_coefficient_with_interval(row)}."
    yield from iterate_count_of_unnamed_rows(len(clear_rows), NAMED, "clear rank correlation")
    if clear_rows.empty and row["p_holm"] >= ALPHA:
        subject, tests = ("It", "") if is_one else (f"The largest, of {pair},", "among so many tests, ")
        yield (
            f"{subject} is {format_signed_number(row['r'], 2)} over {row['n']} models; {tests}p is {row['p_holm']:.2g}."
        )


def _describe_clear_count_with_size_or_accuracy(family: pd.DataFrame, benchmark: str) -> Iterator[str]:
    """Say how many correlations of the family with size, or with accuracy, are clear."""
    rows = family[family["benchmark"] == benchmark]
    if len(rows) and len(family) > 1:
        partner = _phrase_name_of_correlate(benchmark)
        result_text = (
            f"The one with {partner} {_phrase_whether_single_coefficient_differs(rows)}"
            if len(rows) == 1
            else f"Of the {len(rows):,} with {partner}, {_phrase_clear_coefficient_count(rows)} from 0"
        )
        yield f"{result_text} after correction for all tests of the family."


def _describe_rows_that_decide_answer(table: pd.DataFrame, family: pd.DataFrame) -> Iterator[str]:
    """Say which rows of the table decide, and that those of other methods do not."""
    yield (
        f"The answer rests on {format_quantity(len(family), 'row')}: headline measures, method {RANK}, with a number."
    )
    if int(table["r"].notna().sum()) > len(family):
        yield "The others are families of their own, corrected by themselves; they decide nothing here."


def _describe_correlations_clear_given_size(table: pd.DataFrame, family: pd.DataFrame) -> Iterator[str]:
    """Say how many clear rank correlations remain clear given the size of the models."""
    partial_rows = table[(table["method"] == RANK + GIVEN_SIZE) & table["r"].notna()]
    partial_rows = partial_rows.assign(clear=_mark_coefficients_clearly_nonzero(partial_rows))
    key = ["page", "study", "measure", "benchmark"]
    pairs = family[family["clear"]].merge(partial_rows, on=key, suffixes=("", "_given"))
    if len(pairs):
        n_clear = int(pairs["clear_given"].sum())
        total_text = format_quantity(len(pairs), "clear rank correlation")
        remain = "remains" if 1 in (n_clear, len(pairs)) else "remain"
        yield f"Given size, {n_clear} of {total_text} with benchmarks or accuracy {remain}."


def _build_details_on_pairwise_correlations(frames: Mapping[str, pd.DataFrame]) -> dict[str, tuple[str, ...]]:
    """Say how many pairs of headline measures, size and benchmarks go together, for the figure of all of them."""
    table = frames["benchmark_matrix"]
    coefficients = table[table["method"] == "spearman"].dropna(subset=["r"]) if len(table) else table
    if coefficients.empty:
        return {}
    coefficients = coefficients.assign(clear=_mark_coefficients_clearly_nonzero(coefficients))
    count_sentence = (
        "A family of its own: the one rank correlation between these measures "
        f"{_phrase_whether_single_coefficient_differs(coefficients)}."
        if len(coefficients) == 1
        else f"A family of its own: of {len(coefficients):,} rank correlations between these measures, "
        f"{_phrase_clear_coefficient_count(coefficients)} from 0 {CORRECTED}."
    )
    clear_rows = coefficients[coefficients["clear"]]
    if clear_rows.empty:
        return {"coefficients": (count_sentence,)}
    row = _find_largest_coefficient(clear_rows)
    names = " and ".join("size" if row[name] == SIZE else row[name] for name in ("measure_a", "measure_b"))
    return {
        "coefficients": (count_sentence, f"The largest is that of {names}: {_format_coefficient_with_interval(row)}.")
    }
