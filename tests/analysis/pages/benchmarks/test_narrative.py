"""The answer of the page on benchmarks: each rule of its verdict, on tables made by hand."""

from __future__ import annotations

import math

import pandas as pd

from analysis.pages.benchmarks import narrative
from analysis.statistics import correlation

NAN = math.nan
CORRECTED = "after correction for their number (Holm)."


def coefficient(benchmark="parameters", measure="Range", r=0.9, ends=(0.5, 0.98), p_holm=0.01, **others):
    """One row of table `benchmarks`."""
    row = {
        "page": "stability", "study": "s", "condition": "own form/0-shot", "measure": measure, "headline": True,
        "benchmark": benchmark, "method": "spearman", "n": 12, "rows": 0, "joined_by": "", "r": r, "lower": ends[0],
        "upper": ends[1], "p_holm": p_holm, "caution": "",
    }  # fmt: skip
    return row | others


def pair(a, b, r=0.9, ends=(0.5, 0.98), p_holm=0.01):
    """One row of table `benchmark_matrix`."""
    return {"measure_a": a, "measure_b": b, "method": "spearman", "n": 8, "r": r, "lower": ends[0], "upper": ends[1],
            "p_holm": p_holm}  # fmt: skip


def answer(*rows, silent=(False, False), pairs=(), forms=("plain", "plain"), n_forms=1, size=1e6, matched="",
           sources=({},), scored=(), compared=True, at_most=math.nan, item_counts=None,
           studies="s"):  # fmt: skip
    models = [f"m{i}" for i in range(len(silent))]
    values = pd.DataFrame({"page": "stability", "study": studies, "measure": "Range", "model": models, "silent": silent,
                           "condition": "plain", "validity": [0.3 if no else 0.9 for no in silent],
                           "validity_at_most": at_most,
                           "parameters": [size] * len(models), "form": forms[: len(models)], "n_forms": n_forms,
                           "compared": compared})  # fmt: skip
    names = pd.DataFrame({"side": "runs", "model": models, "matched": matched, "nearest": ""})
    others = pd.DataFrame({"side": "scores", "model": list(scored), "matched": "", "nearest": ""})
    source = {"page": "stability", "study": "s", "condition": "own form/0-shot", "forms": "", "n_measures": 5,
              "n_models": 12, "n_silent": 0, "n_conditions": 1, "left_out": ""}  # fmt: skip
    frames = {
        "benchmarks": pd.DataFrame(rows, columns=list(coefficient())), "measures_by_model": values,
        "benchmark_names": pd.concat([names, others]), "benchmark_matrix": pd.DataFrame(pairs),
        "measure_sources": pd.DataFrame([source | other for other in sources]),
    }  # fmt: skip
    return narrative.answer_page_question(frames, ", on 1 May 2026", item_counts)


def test_what_was_asked_names_models_day_and_what_was_compared():
    assert answer(coefficient()).setup == (
        "2 models were asked in 1 study, on 1 May 2026; 1 headline measure of their answers was compared with size."
    )
    several = answer(coefficient(), coefficient("accuracy"), coefficient("MT"), coefficient("GPQA", measure="Flips"))
    assert several.setup.endswith(
        "2 headline measures of their answers were compared with size, accuracy and 2 benchmarks."
    )
    assert answer().setup.endswith("5 measures of their answers were compared with each other.")
    assert answer(sources=({"left_out": "few"},)).setup.endswith("; no measure of their answers could be compared.")
    one_model = answer(silent=(False,), sources=({"left_out": "few"},))
    assert one_model.setup.endswith("; no measure of its answers could be compared.")
    two = answer(sources=({}, {"study": "t", "n_measures": 3}, {"study": "u", "left_out": "few"}))
    assert "asked in 3 studies" in two.setup and "8 measures" in two.setup


def test_models_that_are_compared_with_none_are_counted_as_asked():
    """The title of the page counts them: 17 models, of which the first sentence said that 16 were asked."""
    said = answer(coefficient(), silent=(False,) * 3, forms=("plain",) * 3, compared=[True, True, False])
    assert said.setup.startswith("3 models were asked in 1 study, on 1 May 2026; 1 headline measure of 2 of them was")


def test_a_clear_coefficient_is_named_the_largest_first_with_its_direction():
    said = answer(coefficient(), coefficient("accuracy", p_holm=0.2), coefficient("MT", r=-0.95, ends=(-0.99, -0.7)))
    assert said.verdict == (
        "Most strongly, Range, of page stability, falls with benchmark “MT”: 2 of 3 rank correlations differ from 0 "
        f"{CORRECTED}"
    )
    assert answer(coefficient()).verdict == (
        "Range, of page stability, rises with size: the one rank correlation differs from 0."
    )


def test_few_items_are_a_caution_beside_a_clear_coefficient():
    """The two items of the tutorial made the first screen say that a measure falls with size, and no word of them."""
    doubt = "these tests do not allow for other items, which may order the models otherwise."
    sources = ({}, {"study": "large"}, {"study": "tiny", "left_out": "few"})
    said = answer(coefficient(), sources=sources, item_counts=pd.Series({"s": 2, "large": 60, "tiny": 3}))
    assert f"Only 2 items for s: {doubt}" in said.cautions
    assert said.verdict.startswith("Range, of page stability, rises with size on 2 items alone: the one rank")
    said = answer(coefficient(study="large"), sources=sources, item_counts=pd.Series({"s": 2, "large": 60}))
    assert said.verdict.startswith("Range, of page stability, rises with size: the one rank")
    assert f"Only 2 items: {doubt}" in answer(coefficient(), item_counts=pd.Series({"s": 2})).cautions
    for counts in (pd.Series({"s": 30}), None):
        assert not any("items" in line for line in answer(coefficient(), item_counts=counts).cautions)


def test_one_name_of_two_studies_is_told_apart():
    said = answer(coefficient(study="one"), coefficient(study="two", r=0.1, ends=(-0.5, 0.6), p_holm=1.0))
    assert said.verdict.startswith("Range, one, of page stability, rises with size: 1 of 2 rank correlations")


def test_holm_nothing_is_named_before_the_correction():
    said = answer(coefficient(p_holm=0.06, p=0.001), coefficient("MT", p_holm=NAN, r=0.2))
    assert said.verdict == f"These runs cannot tell: none of 2 rank correlations is shown to differ from 0 {CORRECTED}"


def test_holm_the_family_is_of_rank_correlations_of_headline_measures():
    """What other methods and other measures show decides nothing: neither more tests nor a clear one."""
    unclear, pearson = coefficient(p_holm=0.4, r=0.5, ends=(-0.2, 0.8)), coefficient(method="pearson")
    other = coefficient(measure="SD", headline=False)
    said = answer(unclear, pearson, other, coefficient(method="spearman given size"))
    assert said.verdict == "These runs cannot tell: the one rank correlation is not shown to differ from 0."
    assert said.setup.endswith("; 1 headline measure of their answers was compared with size.")
    assert said.details["benchmarks"] == (
        "The answer rests on 1 row: headline measures, method spearman, with a number.",
        "The others are families of their own, corrected by themselves; they decide nothing here.",
    )
    assert answer(other).verdict == (
        "These runs cannot tell: no headline measure is known of 4 models asked in the same way."
    )


def test_interval_nothing_is_named_that_its_own_interval_contradicts():
    for ends in ((-0.01, 0.98), (NAN, NAN)):
        assert answer(coefficient(ends=ends)).verdict == (
            "These runs cannot tell: the one rank correlation is not shown to differ from 0."
        )
    assert answer(coefficient(r=-0.9, ends=(-0.98, -0.1))).verdict.startswith(
        "Range, of page stability, falls with size: the one rank"
    )
    perfect = answer(coefficient(r=1.0, ends=(NAN, NAN)))
    assert perfect.verdict.startswith("Range, of page stability, rises with size: the one rank")


def test_the_same_order_of_models_is_told_whatever_their_number():
    for number in (9, 10, 11):  # of 10, numpy rounds the coefficient to a little less than 1
        same = correlation.correlate_over_models(range(number), range(number), method="spearman")
        row = coefficient(r=same.r, ends=(same.lower, same.upper), p_holm=same.p)
        assert answer(row).verdict.startswith("Range, of page stability, rises with size: the one rank"), number


def test_validity_models_that_do_not_answer_get_no_verdict():
    said = answer(coefficient(), silent=(True, True))
    assert said.verdict == "These models do not answer."
    assert said.details == {}
    assert said.cautions[0].startswith("Not judged: m0 and m1. Less than half of the probability, of the texts or of ")
    assert not any("left out where" in line for line in said.cautions)
    of_studies = answer(coefficient(), silent=(True, True), studies=["s", "t"])
    assert of_studies.cautions[0].startswith("Not judged: m0 · s and m1 · t.")
    of_one = answer(coefficient(), silent=(True, False), compared=[True, False], studies=["s", "t"])
    assert of_one.cautions[0].startswith("Not judged: m0 · s.")
    over_all = answer(coefficient(), silent=(True, True), studies=["s", "all"])
    assert over_all.cautions[0].startswith("Not judged: m0.")
    bounded = answer(coefficient(), silent=(True, True), at_most=0.8)
    assert bounded.verdict == "Whether these models answer cannot be told."
    assert bounded.cautions[0].startswith("Not judged: m0 (between 30 % and 80 %) and m1")
    one = answer(coefficient(), silent=(True, False))
    assert one.verdict.startswith("Range, of page stability, rises with size: ")
    assert any(
        line.startswith("m0: left out where less than half of the probability, of the texts") for line in one.cautions
    )


def test_without_a_coefficient_the_reason_is_said():
    assert answer(sources=({"n_models": 3},)).verdict == (
        "These runs cannot tell: at most 3 models asked in the same way answered, and a correlation needs 4."
    )
    assert answer(sources=({"n_models": 0},)).verdict == (
        "These runs cannot tell: no model asked in the same way answered, and a correlation needs 4."
    )
    assert answer().verdict == (
        "These runs cannot tell: neither size nor accuracy is known of 4 models, and no scores were given for them."
    )
    none = answer(scored=["else", "other"], size=NAN)
    assert none.verdict.endswith("of 4 models, and no benchmark is known of them.")
    assert "No model of these runs is among the 2 of the scores." in none.cautions
    assert "run.json has no size of m0 and m1." in none.cautions
    assert (
        "Where the file of scores alone has the size of a model, that counts in the tables; the figure of sizes leaves "
        "the model out."
    ) in answer(coefficient("MT"), size=NAN).cautions
    refused = answer(coefficient(r=NAN, ends=(NAN, NAN), p_holm=NAN, caution="refused: fewer than 4 models"))
    assert refused.cautions[0] == "1 rank correlation refused: fewer than 4 models have both values."
    assert refused.setup.endswith("; 5 measures of their answers were compared with each other.")  # and not with size


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
    too_few = ({"study": name, "left_out": "fewer than 4 models answer"} for name in ("t", "u"))
    together = answer(coefficient(), sources=({}, *too_few)).cautions
    assert "No measure of stability (t and u). Fewer than 4 models answer." in together


FAMILY = "The tests are one family: the 3 rank correlations (Spearman) of headline measures with size, accuracy or a "
SCALE = "A coefficient of +1 means that the models stand in the same order by both, −1 in the opposite order."


def test_details_name_the_family_and_stand_with_their_figures_and_the_table():
    said = answer(
        coefficient(measure="Overall"),
        coefficient("accuracy", measure="Consistency (synonyms)", r=0.4),
        coefficient("accuracy", measure="Consistency (antonyms)", r=0.2, p_holm=1.0),
        pairs=[pair("Overall", "Range"), pair("parameters", "XParaCon", r=-0.95, ends=(-0.99, -0.8)),
               pair("a", "b", p_holm=1.0)],
    )  # fmt: skip
    assert said.details["size_measures"] == (
        f"{FAMILY}benchmark, each over 12 models with both.",
        SCALE,
        "Overall, of page stability, rises with size: +0.90 (95 % interval +0.50 to +0.98, 12 models).",
        "Consistency (synonyms), of page stability, rises with accuracy: +0.40 (95 % interval +0.50 to +0.98, 12 "
        "models).",
        "The one with size differs from 0 after correction for all tests of the family.",
    )
    assert said.details["accuracy_measures"] == (
        "Of the 2 with accuracy, 1 differs from 0 after correction for all tests of the family.",
    )
    assert said.details["benchmarks"] == (
        "The answer rests on 3 rows: headline measures, method spearman, with a number.",
    )
    assert said.details["coefficients"] == (
        f"A family of its own: of 3 rank correlations between these measures, 2 differ from 0 {CORRECTED}",
        "The largest is that of size and XParaCon: −0.95 (95 % interval −0.99 to −0.80, 8 models).",
    )
    perfect = answer(coefficient(), pairs=[pair("Range", "Flips", r=1.0, ends=(NAN, NAN))])
    assert perfect.details["coefficients"] == (
        "A family of its own: the one rank correlation between these measures differs from 0.",
        "The largest is that of Range and Flips: +1.00 (8 models).",
    )


def test_where_none_is_clear_no_interval_speaks_against_it():
    """An interval of one coefficient is not corrected: beside "none differs", +0.81 to +1.00 would say the opposite."""
    said = answer(coefficient(r=0.98, ends=(0.81, 1.0), p_holm=0.087), coefficient("MT", r=0.2, p_holm=1.0))
    assert said.details["size_measures"][2:] == (
        "The largest, of Range with size, is +0.98 over 12 models; among so many tests, p is 0.087.",
        "The one with size is not shown to differ from 0 after correction for all tests of the family.",
    )
    assert not any("interval" in text for texts in said.details.values() for text in texts)


def test_a_family_of_one_test_is_not_told_as_many():
    said = answer(coefficient(r=0.3, ends=(-0.3, 0.8), p_holm=0.5))
    assert said.details["size_measures"] == (
        "The one test is the rank correlation (Spearman) of Range with size, over 12 models with both.",
        SCALE,
        "It is +0.30 over 12 models; p is 0.5.",
    )


def test_given_size_the_clear_ones_are_counted_again():
    given = {"method": "spearman given size", "benchmark": "MT"}
    said = answer(coefficient("MT"), coefficient(**given, r=0.1, ends=(-0.5, 0.6), p_holm=1.0))
    assert said.details["benchmarks"][-1] == (
        "Given size, 0 of 1 clear rank correlation with benchmarks or accuracy remains."
    )


def test_models_without_a_measure_are_not_counted_as_none():
    """It said: “0 models were asked in 0 studies”, of models that were asked and never answered."""
    said = answer(silent=(), sources=({"study": "all", "n_models": math.nan, "left_out": "no response"},))
    assert said.setup == "No page has a measure of these models."
    assert said.verdict == "These runs cannot tell: there is nothing to correlate."
