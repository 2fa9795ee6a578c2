"""Write the sentences of the page on benchmarks, from its tables: what correlates with the measures, and doubts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from analysis.pages.benchmarks.cautions import ALL, list_cautions, list_external_benchmarks, select_compared_values
from analysis.reporting import words
from analysis.reporting.words import Answer, format_quantity, format_signed, join_names, verdicts
from analysis.statistics.correlation import LEAST

SIZE, ACCURACY, GIVEN_SIZE = "parameters", "accuracy", " given size"  # as in the tables
TABLES = ("benchmarks", "benchmark_matrix", "benchmark_names", "measures_by_model", "measure_sources")
CORRECTED = "after correction within each method"
OVER_ALL = "after correction over all methods"


def answer_question(frames: Mapping[str, pd.DataFrame], when: str = "") -> Answer:
    """Say what the measures of the models correlate with, by the rules of `verdicts`.

    Parameters
    ----------
    frames
        The tables named in `TABLES`.
    when
        From `words.phrase_run_dates`.

    Returns
    -------
    Answer
        What the page says in words.
    """
    table, doubts = frames["benchmarks"], tuple(list_cautions(frames))
    asked_sentence = _describe_compared_measures(frames, when)
    silent_by_model = select_compared_values(frames).groupby("model", sort=False)["silent"].all()
    if len(silent_by_model) and silent_by_model.all():
        verdict, why = words.describe_models_without_answers(list(silent_by_model.index))
        return Answer(asked_sentence, verdict, cautions=(*why, *doubts))
    coefficients = table.dropna(subset=["r"]) if len(table) else table.assign(clear=False)
    if coefficients.empty:
        return Answer(
            asked_sentence,
            _explain_unknown_coefficients(frames),
            cautions=doubts,
            details=_describe_matrix_coefficients(frames),
        )
    coefficients = coefficients.assign(clear=_test_coefficients_against_zero(coefficients))
    details = {
        "size_measures": tuple(_describe_size_coefficients(coefficients)),
        "accuracy_measures": tuple(_describe_accuracy_coefficients(coefficients)),
        "benchmarks": (*_describe_largest_coefficient(coefficients), *_describe_partial_coefficients(coefficients)),
    }
    verdict = _describe_correlation_verdict(
        mark_clear_after_method_correction(coefficients[coefficients["headline"].astype(bool)])
    )
    return Answer(asked_sentence, verdict, cautions=doubts, details=details | _describe_matrix_coefficients(frames))


def _describe_compared_measures(frames: Mapping[str, pd.DataFrame], when: str) -> str:
    """Say how many models were asked, and how many measures were compared with what."""
    values = select_compared_values(frames)
    sources = frames["measure_sources"]
    models, studies = values["model"].nunique(), sources[~sources["study"].isin(["", ALL])]
    n_measures = int(sources.loc[sources["left_out"] == "", "n_measures"].sum())
    benchmark_names = set(frames["benchmarks"]["benchmark"])
    counterparts = [_phrase_benchmark_name(name) for name in (SIZE, ACCURACY) if name in benchmark_names]
    counterparts += (
        [format_quantity(len(list_external_benchmarks(frames)), "benchmark")]
        if list_external_benchmarks(frames)
        else []
    )
    return (
        f"{format_quantity(models, 'model')} {'was' if models == 1 else 'were'} asked in "
        f"{format_quantity(studies['study'].nunique(), 'study', 'studies')}{when}; "
        f"{format_quantity(n_measures, 'measure')} of their answers {'was' if n_measures == 1 else 'were'} compared "
        f"with {join_names(counterparts) or 'each other'}."
    )


def mark_clear_after_method_correction(coefficients: pd.DataFrame) -> pd.DataFrame:
    """Mark the coefficients that may be named in a verdict: clear ones, corrected for the number of methods, too.

    `p_holm` is corrected within each method; a verdict that counts over four methods has four chances to be wrong.
    """
    return coefficients.assign(
        clear=_test_coefficients_against_zero(
            coefficients.assign(p_holm=coefficients["p_holm"] * coefficients["method"].nunique())
        )
    )


def _test_coefficients_against_zero(coefficients: pd.DataFrame) -> pd.Series:
    """Tell which coefficients differ from 0 after Holm, and have an interval that says the same."""
    sides = [
        verdicts.compare_interval_with_value(low, high, 0)
        for low, high in zip(coefficients["lower"], coefficients["upper"], strict=True)
    ]
    return verdicts.mark_clear_effects(coefficients["p_holm"]) & (pd.Series(sides, coefficients.index) != "")


def _explain_unknown_coefficients(frames: Mapping[str, pd.DataFrame]) -> str:
    """Say why no coefficient is known: too few models that answer, or nothing to compare their measures with."""
    numbers = frames["measure_sources"]["n_models"].dropna()
    if numbers.empty:
        return f"{verdicts.UNCLEAR}: no page has a measure of these models."
    most_models = int(numbers.max())
    if most_models < LEAST:
        models_text = f"{format_quantity(most_models, 'model')} asked in the same way answered"
        return f"{verdicts.UNCLEAR}: at most {models_text}, and a correlation needs {LEAST}."
    names = frames["benchmark_names"]
    scored = "no benchmark is known of" if (names["side"] == "scores").any() else "no scores were given for"
    return f"{verdicts.UNCLEAR}: neither size nor accuracy is known of {LEAST} models, and {scored} them."


def _describe_correlation_verdict(coefficients: pd.DataFrame) -> str:
    """Name what the headline measures correlate with, where a coefficient is clear."""
    if coefficients.empty:
        return f"{verdicts.UNCLEAR}: no headline measure is known of {LEAST} models asked in the same way."
    total_text = format_quantity(len(coefficients), "correlation")
    clear_rows = coefficients[coefficients["clear"]]
    if clear_rows.empty:
        which = f"none of {total_text}" if len(coefficients) > 1 else "the one correlation"
        verb = "differs from 0" if len(coefficients) > 1 else "does not differ from 0"
        return f"These runs show nothing: {which} of headline measures {verb} {OVER_ALL}."
    largest = clear_rows.loc[clear_rows["r"].abs().idxmax()]
    has_others = len(clear_rows.drop_duplicates(["page", "study", "measure", "benchmark"])) > 1
    pair_text = (
        f"{largest['measure']} with {_phrase_benchmark_name(largest['benchmark'])}{' and others' if has_others else ''}"
    )
    verb = "differs" if len(clear_rows) == 1 else "differ"
    plain = f"{len(clear_rows):,} of {total_text} of headline measures {verb} from 0 {OVER_ALL}"
    return f"{pair_text}: {plain}."


def _phrase_clear_coefficient_count(rows: pd.DataFrame) -> str:
    """Write how many coefficients are clear, with the verb: "1 differs", "3 differ"."""
    clear = int(rows["clear"].sum())
    return f"{clear:,} differs" if clear == 1 else f"{clear:,} differ"


def _phrase_benchmark_name(name: str) -> str:
    """Write what a measure is correlated with: size, accuracy, or a benchmark in quotation marks."""
    return {SIZE: "size", ACCURACY: ACCURACY}.get(name, f"“{name}”")


def _format_coefficient_with_interval(row: pd.Series) -> str:
    """Write a coefficient with its interval and its number of models."""
    ends = (
        ""
        if pd.isna(row["lower"])
        else f"95 % interval {format_signed(row['lower'], 2)} to {format_signed(row['upper'], 2)}, "
    )
    return f"{format_signed(row['r'], 2)} ({ends}{row['n']} models)"


def _describe_largest_coefficient(coefficients: pd.DataFrame) -> Iterator[str]:
    """Say how many coefficients are clear, and which rank correlation is the largest."""
    yield (
        f"Of {format_quantity(len(coefficients), 'coefficient')} in this table, "
        f"{_phrase_clear_coefficient_count(coefficients)} from 0 {CORRECTED} (Holm)."
    )
    rank_rows = coefficients[coefficients["method"] == "spearman"]
    if len(rank_rows):
        row = rank_rows.loc[rank_rows["r"].abs().idxmax()]
        pair_text = (
            f"{row['measure']} with {_phrase_benchmark_name(row['benchmark'])} ({row['study']}, {row['condition']})"
        )
        yield f"The largest rank correlation is that of {pair_text}: {_format_coefficient_with_interval(row)}."


def _describe_size_coefficients(coefficients: pd.DataFrame) -> Iterator[str]:
    """State the largest rank correlations of headline measures with size."""
    rows = coefficients[
        (coefficients["benchmark"] == SIZE)
        & (coefficients["method"] == "spearman")
        & coefficients["headline"].astype(bool)
    ]
    for _, row in rows.sort_values("r", key=abs, ascending=False, kind="stable").head(3).iterrows():
        yield (
            f"Rank correlation of {row['measure']} and size ({row['study']}): {_format_coefficient_with_interval(row)}."
        )
    if len(rows):
        yield (
            f"Of {format_quantity(len(rows), 'such coefficient')}, {_phrase_clear_coefficient_count(rows)} from 0 "
            f"{CORRECTED}."
        )


def _describe_accuracy_coefficients(coefficients: pd.DataFrame) -> Iterator[str]:
    """State Pearson correlations of headline measures with the accuracy on the same items."""
    rows = coefficients[
        (coefficients["benchmark"] == ACCURACY)
        & (coefficients["method"] == "pearson")
        & coefficients["headline"].astype(bool)
    ]
    for _, row in rows.head(4).iterrows():
        yield (
            f"Pearson correlation of {row['measure']} with the accuracy on the same items: "
            f"{_format_coefficient_with_interval(row)}."
        )
    if len(rows):
        yield (
            f"Of {format_quantity(len(rows), 'such coefficient')}, {_phrase_clear_coefficient_count(rows)} from 0 "
            f"{CORRECTED}."
        )


def _describe_partial_coefficients(coefficients: pd.DataFrame) -> Iterator[str]:
    """Say how many clear rank correlations remain clear given the size of the models."""
    key = ["page", "study", "measure", "benchmark"]
    clear_rows = coefficients[(coefficients["method"] == "spearman") & coefficients["clear"]]
    partial_rows = coefficients[coefficients["method"] == "spearman" + GIVEN_SIZE]
    pairs = clear_rows.merge(partial_rows, on=key, suffixes=("", "_given"))
    if len(pairs):
        n_clear = int(pairs["clear_given"].sum())
        yield f"Given size, {n_clear} of {len(pairs)} clear rank correlations with benchmarks or accuracy remain."


def _describe_matrix_coefficients(frames: Mapping[str, pd.DataFrame]) -> dict[str, tuple[str, ...]]:
    """Say how many pairs of headline measures, size and benchmarks go together, for the figure of all of them."""
    table = frames["benchmark_matrix"]
    coefficients = table[table["method"] == "spearman"].dropna(subset=["r"]) if len(table) else table
    if coefficients.empty:
        return {}
    perfect = verdicts.mark_clear_effects(coefficients["p_holm"]) & (
        coefficients["r"].abs() == 1
    )  # which has no interval
    coefficients = coefficients.assign(clear=_test_coefficients_against_zero(coefficients) | perfect)
    count_sentence = (
        f"Of {format_quantity(len(coefficients), 'rank correlation')} between these measures, "
        f"{_phrase_clear_coefficient_count(coefficients)} from 0 {CORRECTED}."
    )
    clear_rows = coefficients[coefficients["clear"]]
    if clear_rows.empty:
        return {"coefficients": (count_sentence,)}
    row = clear_rows.loc[clear_rows["r"].abs().idxmax()]
    names = " and ".join("size" if row[name] == SIZE else row[name] for name in ("measure_a", "measure_b"))
    return {
        "coefficients": (count_sentence, f"The largest is that of {names}: {_format_coefficient_with_interval(row)}.")
    }
