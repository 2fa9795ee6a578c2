"""The answer of the page on benchmarks: each rule of its verdict, on tables made by hand."""

from __future__ import annotations

import math

import pandas as pd

from analysis.pages.benchmarks import narrative

NAN = math.nan


def coefficient(benchmark="parameters", measure="Range", r=0.9, ends=(0.5, 0.98), p_holm=0.01, **others):
    """One row of table `benchmarks`."""
    row = {
        "page": "stability", "study": "s", "condition": "own form/0-shot", "measure": measure, "headline": True,
        "benchmark": benchmark, "method": "pearson", "n": 12, "rows": 0, "joined_by": "", "r": r, "lower": ends[0],
        "upper": ends[1], "p_holm": p_holm, "caution": "",
    }  # fmt: skip
    return row | others


def pair(a, b, r=0.9, ends=(0.5, 0.98), p_holm=0.01):
    """One row of table `benchmark_matrix`."""
    return {"measure_a": a, "measure_b": b, "method": "spearman", "n": 8, "r": r, "lower": ends[0], "upper": ends[1],
            "p_holm": p_holm}  # fmt: skip


def answer(*rows, silent=(False, False), pairs=(), forms=("plain", "plain"), n_forms=1, size=1e6, matched="",
           sources=({},), scored=()):  # fmt: skip
    models = [f"m{i}" for i in range(len(silent))]
    values = pd.DataFrame({"page": "stability", "study": "s", "measure": "Range", "model": models, "silent": silent,
                           "parameters": [size] * len(models), "form": forms[: len(models)], "n_forms": n_forms,
                           "compared": True})  # fmt: skip
    names = pd.DataFrame({"side": "runs", "model": models, "matched": matched, "nearest": ""})
    others = pd.DataFrame({"side": "scores", "model": list(scored), "matched": "", "nearest": ""})
    source = {"page": "stability", "study": "s", "condition": "own form/0-shot", "forms": "", "n_measures": 5,
              "n_models": 12, "n_silent": 0, "n_conditions": 1, "left_out": ""}  # fmt: skip
    frames = {
        "benchmarks": pd.DataFrame(rows, columns=list(coefficient())), "measures_by_model": values,
        "benchmark_names": pd.concat([names, others]), "benchmark_matrix": pd.DataFrame(pairs),
        "measure_sources": pd.DataFrame([source | other for other in sources]),
    }  # fmt: skip
    return narrative.answer_question(frames, ", on 1 May 2026")


def test_what_was_asked_names_models_day_and_what_was_compared():
    assert answer(coefficient()).setup == (
        "2 models were asked in 1 study, on 1 May 2026; 5 measures of their answers were compared with size."
    )
    several = answer(coefficient(), coefficient("accuracy"), coefficient("MT"), coefficient("GPQA"))
    assert several.setup.endswith("with size, accuracy and 2 benchmarks.")
    assert answer().setup.endswith("with each other.")
    two = answer(coefficient(), sources=({}, {"study": "t", "n_measures": 3}, {"study": "u", "left_out": "few"}))
    assert "asked in 3 studies" in two.setup and "8 measures" in two.setup


def test_a_clear_coefficient_is_named_the_largest_first():
    said = answer(coefficient(), coefficient("accuracy", p_holm=0.2), coefficient("MT", r=-0.95, ends=(-0.99, -0.7)))
    assert said.verdict == (
        "Range with “MT” and others: 2 of 3 correlations of headline measures differ from 0 after correction over "
        "all methods."
    )
    assert answer(coefficient()).verdict == (
        "Range with size: 1 of 1 correlation of headline measures differs from 0 after correction over all methods."
    )


def test_holm_nothing_is_named_before_the_correction():
    said = answer(coefficient(p_holm=0.06, p=0.001), coefficient("MT", p_holm=NAN))
    assert said.verdict == (
        "These runs show nothing: none of 2 correlations of headline measures differs from 0 after correction "
        "over all methods."
    )


def test_holm_a_verdict_over_several_methods_is_corrected_for_their_number():
    once, twice = coefficient(p_holm=0.03), coefficient(p_holm=0.03, method="pearson")
    assert answer(once).verdict.startswith("Range with size: 1 of 1")
    assert answer(once, twice | {"method": "spearman"}, twice).verdict.startswith("These runs show nothing: none of 3")


def test_interval_nothing_is_named_that_its_own_interval_contradicts():
    for ends in ((-0.01, 0.98), (NAN, NAN)):
        assert answer(coefficient(ends=ends)).verdict == (
            "These runs show nothing: the one correlation of headline measures does not differ from 0 after correction "
            "over all methods."
        )
    assert answer(coefficient(r=-0.9, ends=(-0.98, -0.1))).verdict.startswith("Range with size: 1 of 1 correlation")


def test_the_verdict_is_about_headline_measures_not_about_the_others():
    other = coefficient(measure="SD", headline=False)
    said = answer(other, coefficient("MT", r=0.1, ends=(-0.5, 0.6), p_holm=1.0))
    assert said.verdict.startswith("These runs show nothing: the one correlation of headline measures")
    assert said.details["benchmarks"][0].startswith("Of 2 coefficients in this table, 1 differs from 0")
    assert answer(other).verdict == (
        "These runs cannot tell: no headline measure is known of 4 models asked in the same way."
    )


def test_validity_models_that_do_not_answer_get_no_verdict():
    said = answer(coefficient(), silent=(True, True))
    assert said.verdict == "These models do not answer."
    assert said.details == {}
    assert "With m0 and m1, less than half" in said.cautions[0]
    one = answer(coefficient(), silent=(True, False))
    assert one.verdict.startswith("Range with size: ")
    assert any(line.startswith("m0: left out where less than half of the answers are valid.") for line in one.cautions)


def test_without_a_coefficient_the_reason_is_said():
    assert answer(sources=({"n_models": 3},)).verdict == (
        "These runs cannot tell: at most 3 models asked in the same way answered, and a correlation needs 4."
    )
    assert answer().verdict == (
        "These runs cannot tell: neither size nor accuracy is known of 4 models, and no scores were given for them."
    )
    none = answer(scored=["else", "other"], size=NAN)
    assert none.verdict.endswith("of 4 models, and no benchmark is known of them.")
    assert "No model of these runs is among the 2 of the scores." in none.cautions
    assert "run.json has no size of m0 and m1." in none.cautions
    refused = answer(coefficient(r=NAN, ends=(NAN, NAN), p_holm=NAN, caution="refused: fewer than 4 models"))
    assert refused.cautions[0] == "1 coefficient refused: fewer than 4 models have both values."


def test_models_in_their_own_forms_are_said_to_be_so():
    said = answer(coefficient(), forms=("plain", "chat"), n_forms=2).cautions
    assert any(line.startswith("Models are compared in their own forms (1 in plain and 1 in chat).") for line in said)
    assert "2 models were asked in several forms; compared: m0 in plain and m1 in chat." in said
    assert not any("own forms" in line or "several forms" in line for line in answer(coefficient()).cautions)


def test_what_is_not_compared_is_said():
    sources = ({"n_conditions": 4}, {"study": "t", "left_out": "fewer than 4 models answer"},
               {"page": "features", "study": "", "left_out": "no item has a word"})  # fmt: skip
    said = answer(coefficient(), sources=sources).cautions
    assert "Of several conditions of a study, one is compared: own form/0-shot of s." in said
    assert "No measure of stability (t). Fewer than 4 models answer." in said
    assert "No measure of features. No item has a word." in said


def test_details_stand_with_their_figures_and_the_table():
    said = answer(
        coefficient(measure="Overall", method="spearman"),
        coefficient("accuracy", measure="Consistency (synonyms)", r=0.4),
        coefficient("accuracy", measure="Consistency (antonyms)", r=0.2, p_holm=1.0),
        pairs=[pair("Overall", "Range"), pair("parameters", "XParaCon", r=-0.95, ends=(-0.99, -0.8)),
               pair("a", "b", p_holm=1.0)],
    )  # fmt: skip
    assert said.details["size_measures"] == (
        "Rank correlation of Overall and size (s): +0.90 (95 % interval +0.50 to +0.98, 12 models).",
        "Of 1 such coefficient, 1 differs from 0 after correction within each method.",
    )
    chance = answer(coefficient(measure="Overall", method="spearman", p_holm=0.07)).details["size_measures"]
    assert chance[-1] == "Of 1 such coefficient, 0 differ from 0 after correction within each method."
    assert said.details["accuracy_measures"] == (
        "Pearson correlation of Consistency (synonyms) with the accuracy on the same items: "
        "+0.40 (95 % interval +0.50 to +0.98, 12 models).",
        "Pearson correlation of Consistency (antonyms) with the accuracy on the same items: "
        "+0.20 (95 % interval +0.50 to +0.98, 12 models).",
        "Of 2 such coefficients, 1 differs from 0 after correction within each method.",
    )
    assert said.details["benchmarks"][1] == (
        "The largest rank correlation is that of Overall with size (s, own form/0-shot): +0.90 (95 % interval +0.50 to "
        "+0.98, 12 models)."
    )
    assert said.details["coefficients"] == (
        "Of 3 rank correlations between these measures, 2 differ from 0 after correction within each method.",
        "The largest is that of size and XParaCon: −0.95 (95 % interval −0.99 to −0.80, 8 models).",
    )
    perfect = answer(coefficient(), pairs=[pair("Range", "Flips", r=1.0, ends=(NAN, NAN))])
    assert perfect.details["coefficients"] == (
        "Of 1 rank correlation between these measures, 1 differs from 0 after correction within each method.",
        "The largest is that of Range and Flips: +1.00 (8 models).",
    )
