"""The answer of the page on benchmarks: each rule of its verdict, on tables made by hand."""

from __future__ import annotations

import math

import pandas as pd

from analysis.pages.benchmarks import narrative


def coefficient(benchmark="parameters", measure="consistency", r=0.9, ends=(0.5, 0.98), p_holm=0.01, **others):
    """One row of table `benchmarks`."""
    row = {
        "study": "s", "language": "en", "task": "morality", "condition": "chat/0-shot", "measure": measure,
        "pattern": "synonym", "benchmark": benchmark, "method": "pearson", "n": 12, "rows": 0, "joined_by": "", "r": r,
        "lower": ends[0], "upper": ends[1], "p_holm": p_holm, "caution": "",
    }  # fmt: skip
    return row | others


def answer(*rows, silent=(False, False)):
    models = [f"m{i}" for i in range(len(silent))]
    values = pd.DataFrame({"model": models, "silent": silent, "parameters": [1e6] * len(models)})
    names = pd.DataFrame({"side": "runs", "model": models, "matched": "", "nearest": ""})
    frames = {"benchmarks": pd.DataFrame(rows), "benchmark_names": names, "measures_by_model": values}
    return narrative.answer(frames, ", on 1 May 2026")


def test_what_was_asked_names_models_day_and_benchmarks():
    assert answer(coefficient()).asked == (
        "2 models were asked yes/no questions in other words, on 1 May 2026, and how consistent they are was compared "
        "with size and accuracy."
    )
    assert answer(coefficient("MT"), coefficient("GPQA")).asked.endswith("with size, accuracy and 2 benchmarks.")


def test_a_clear_coefficient_names_what_consistency_goes_with():
    said = answer(coefficient(), coefficient("accuracy", p_holm=0.2), coefficient("MT", p_holm=0.001))
    assert said.verdict == (
        "Size and MT: 2 of 3 correlations with Consistency differ from 0 after correction for their number."
    )


def test_holm_nothing_is_named_before_the_correction():
    said = answer(coefficient(p_holm=0.06, p=0.001), coefficient("MT", p_holm=math.nan))
    assert said.verdict == (
        "These runs show nothing: none of 2 correlations with Consistency differs from 0 after correction for their "
        "number."
    )


def test_interval_nothing_is_named_that_its_own_interval_contradicts():
    for ends in ((-0.01, 0.98), (math.nan, math.nan)):
        assert answer(coefficient(ends=ends)).verdict == (
            "These runs show nothing: the one correlation with Consistency does not differ from 0 after correction for "
            "their number."
        )
    assert answer(coefficient(r=-0.9, ends=(-0.98, -0.1))).verdict.startswith("Size: 1 of 1 correlation")


def test_the_verdict_is_about_consistency_not_about_the_other_measures():
    said = answer(coefficient(measure="overall"), coefficient("MT", r=0.1, ends=(-0.5, 0.6), p_holm=1.0))
    assert said.verdict.startswith("These runs show nothing: the one correlation with Consistency")
    assert said.details["benchmarks"][0].startswith("Of 2 coefficients in this table, 1 differs from 0")
    alone = answer(coefficient(measure="overall"))
    assert alone.verdict == "These runs cannot tell: Consistency is not known for 4 models asked in the same way."


def test_validity_models_that_do_not_answer_get_no_verdict():
    said = answer(coefficient(), silent=(True, True))
    assert said.verdict == "These models do not answer."
    assert said.details == {}
    assert "With m0 and m1, less than half" in said.cautions[0]
    assert answer(coefficient(), silent=(True, False)).verdict.startswith("Size: ")


def test_too_few_models_are_no_answer():
    said = answer(coefficient(r=math.nan, ends=(math.nan, math.nan), p_holm=math.nan, caution="refused: 3 models"))
    assert said.verdict == "These runs cannot tell: no measure is known for 4 models asked in the same way."
    assert said.cautions[0] == "1 coefficient refused: fewer than 4 models have both values."


def test_details_stand_with_their_figures_and_the_table():
    said = answer(
        coefficient(measure="overall", task="all", method="spearman"),
        coefficient("accuracy", r=0.4), coefficient("accuracy", r=0.2, pattern="antonym", p_holm=1.0),
    )  # fmt: skip
    assert said.details["size_overall"] == (
        "Rank correlation of Overall and size (English, chat/0-shot): +0.90 (95 % interval +0.50 to +0.98, 12 models).",
    )
    assert said.details["accuracy_consistency"] == (
        "Pearson correlation of Consistency and accuracy before rewording, mean over tasks and conditions: +0.40 "
        "(synonym), +0.20 (antonym).",
        "Of these 2 coefficients, 1 differs from 0 after correction for their number.",
    )
    assert said.details["benchmarks"][1] == (
        "The largest rank correlation is that of Overall (synonym) with size (all tasks, English, chat/0-shot): +0.90 "
        "(95 % interval +0.50 to +0.98, 12 models)."
    )
