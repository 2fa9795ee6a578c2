"""The sentences of the page on scores follow its rules."""

from __future__ import annotations

import pandas as pd
import pytest

from analysis.pages.scored.captions import caption_scored_means, caption_scored_passes
from analysis.pages.scored.narrative import answer_page_question
from analysis.statistics.shares import wilson
from helpers.sentences import too_long


def frames(shares, *, n_items=400, validity=1.0, bounds="0-1", extra=()):
    """The tables of models that pass in some wordings with these shares."""
    rows = pd.DataFrame({
        "study": "s", "model": [f"m{n}" for n in range(len(shares))], "condition": "F1", "measure": "F1",
        "headline": True, "validity": validity, "n_items": n_items, "range": bounds, "direction": "higher",
        "mean": [0.2 + 0.1 * n for n in range(len(shares))], "mean_lower": 0.1, "wordings_least": 3, "wordings_most": 3,
        "sd": [0.1 + 0.1 * n for n in range(len(shares))], "passed_some": shares, "threshold": 0.5,
    })  # fmt: skip
    low, high = wilson(rows["passed_some"].to_numpy(float), rows["n_items"].to_numpy(float), 0.95)
    spread = rows.assign(passed_some_lower=low, passed_some_upper=high)
    means = pd.concat([rows, *(rows.assign(measure=name, headline=False) for name in extra)])
    return {"scored_means": means, "scored_spread": spread, "scored_wordings": pd.DataFrame()}


@pytest.mark.parametrize(
    ("shares", "verdict"),
    [
        ([0.3], "Yes. Of the items, 30 % pass the threshold in some wordings only."),
        ([0.3, 0.4],
         "Yes, with each of 2 models. Of the items, 30 % to 40 % pass the threshold in some wordings only."),
        ([0.02], "Hardly. Of the items, 2 % pass the threshold in some wordings only."),
        ([0.3, 0.02], "Hardly with 1 of 2 models, yes with 1."),
        ([0.1], "These runs cannot tell: no interval of the share of items that pass in some wordings only lies on one "
                "side of 10 %."),
        ([0.3, 0.11], "Yes with 1 of 2 models; with the other, these runs cannot tell."),
    ],
)  # fmt: skip
def test_a_verdict_is_what_whole_intervals_say(shares, verdict):
    assert answer_page_question(frames(shares)).verdict == verdict


def test_what_passes_is_said_before_the_figure():
    table = frames([0.3])
    assert answer_page_question(table).explanation == "A score passes the threshold where F1 is 0.5 or more."
    large = table | {"scored_spread": table["scored_spread"].assign(threshold=1500.0)}
    assert answer_page_question(large).explanation.endswith("where F1 is 1,500 or more.")
    lower = table | {"scored_means": table["scored_means"].assign(direction="lower")}
    assert answer_page_question(lower).explanation.endswith("is 0.5 or less.")
    two = frames([0.3, 0.4])
    two["scored_spread"]["threshold"] = [0.5, 7.0]
    assert (
        answer_page_question(two).explanation
        == "The threshold, from which on a score passes, stands below each figure."
    )
    both = {name: pd.concat([table[name], lower[name].assign(study="t")]) for name in ("scored_means", "scored_spread")}
    assert answer_page_question(table | both).explanation.startswith("The threshold, from which on a score passes")
    assert answer_page_question(frames([0.3], validity=0.4)).explanation == ""


def test_few_items_make_no_verdict():
    said = answer_page_question(frames([0.2], n_items=10))
    assert said.verdict.startswith("These runs cannot tell")
    assert said.cautions == ("Only 10 items: intervals may be too narrow where scores are skewed.",)


def test_nothing_is_said_of_models_with_few_scores():
    silent = answer_page_question(frames([0.3, 0.4], validity=0.4))
    assert silent.verdict == "These models do not answer."
    assert "Less than half of the responses have a score: 40 %" in silent.cautions[0]  # no options, no probability
    said = answer_page_question(frames([0.3, 0.02], validity=[1.0, 0.4]))
    assert said.verdict == "Yes. Of the items with m0, 30 % pass the threshold in some wordings only."
    assert "Less than half of the responses have a score: m1. Nothing is said of them." in said.cautions


def test_one_wording_of_each_item_says_nothing():
    table = frames([0.3])
    table["scored_spread"] = table["scored_spread"].assign(
        n_items=0, passed_some=float("nan"), wordings_most=1, wordings_least=0
    )
    said = answer_page_question(table)
    assert said.verdict == "These runs cannot tell: no item has a score in two wordings."
    assert any(caution.startswith("One wording of each item only") for caution in said.cautions)


def test_a_mean_without_an_interval_is_named_with_the_reason():
    table = frames([0.3, 0.4], bounds="")
    table["scored_means"]["mean_lower"] = [0.1, float("nan")]
    assert (
        "No interval of the mean where fewer than six items differ from the others: m1."
        in answer_page_question(table).cautions
    )


@pytest.mark.parametrize(("ends", "said"), [([0.1, 0.2], False), ([0.1, float("nan")], True)])
def test_the_caption_says_why_a_mean_has_no_line(ends, said):
    rows = frames([0.3, 0.4])["scored_means"].assign(mean_lower=ends, n=9, total=2, silent=False)
    rows = rows.assign(mean_upper=0.5, like_lower=rows["mean_lower"], like_upper=0.5)
    assert "Lines: 95 % intervals, which are the same for these wordings" in caption_scored_means(rows)
    reason = " No line: one item, or fewer than six that differ from the others."
    assert (reason in caption_scored_means(rows)) == said
    rows.loc[rows["mean_lower"].isna(), "mean"] = float("nan")  # without a mean there is no line to miss
    assert reason not in caption_scored_means(rows)


def test_the_caption_of_shares_has_short_sentences():
    rows = frames([0.3, 0.4])["scored_spread"].assign(
        n_items=[7, 15], at_most=True, no_interval="", total=2, silent=False
    )
    caption = caption_scored_passes(rows)
    assert "Over 7 to 15 items with two wordings or more." in caption
    assert too_long(caption) == []


def test_bounds_and_other_measures_are_told():
    said = answer_page_question(frames([0.3, 0.4], bounds="", extra=["exact_match"]), ", on Monday")
    assert said.setup == "2 models were scored by F1 and exact_match on 400 items, on Monday."
    assert "F1 has no bounds" in said.cautions[0] and "the first measure" in said.cautions[1]
    assert said.details["scored_passes"] == (
        "The SD of the F1 of an item over its wordings is between 0.100 (m0) and 0.200 (m1), on average.",
    )


def test_numbers_that_are_written_alike_are_not_said_to_differ():
    table = frames([0.3, 0.4])
    table["scored_means"]["mean"], table["scored_spread"]["sd"] = [0.50001, 0.5], [0.20001, 0.2]
    details = answer_page_question(table).details
    assert details["scored_passes"] == ("The F1 of an item has an SD of 0.200 over its wordings, on average.",)
    assert not any("goes from" in sentence for sentence in details["scored_means"])


def test_studies_have_first_measures_of_their_own():
    table = frames([0.3, 0.4], extra=["exact_match"])
    others = frames([0.3, 0.4])
    for name in ("scored_means", "scored_spread"):
        table[name] = pd.concat([table[name], others[name].assign(study="t", measure="judge")], ignore_index=True)
    assert (
        "The sentences are about F1 and judge, the first measures of their studies; figures and tables have all 3."
        in answer_page_question(table).cautions
    )


def test_a_measure_of_another_model_is_not_said_to_score_these():
    table = frames([0.3, 0.4], extra=["exact_match"])
    rows = table["scored_means"]
    table["scored_means"] = rows.assign(model=rows["model"].mask(rows["measure"] == "exact_match", "another"))
    assert answer_page_question(table).setup == "2 models were scored by F1 on 400 items."


def test_a_change_that_may_be_chance_is_no_change_with_the_wording():
    table = frames([0.3, 0.4])
    once = table["scored_spread"][["study", "model", "condition"]].assign(answers="drawn once")
    said = answer_page_question(table, by_chance=once)
    assert said.verdict.startswith("These runs cannot tell wording from chance")
    assert "at a temperature above 0 or not known" in said.cautions[0]
    assert answer_page_question(table, by_chance=once[:1]).verdict == (
        "Yes with 1 of 2 models; with the other, these runs cannot tell."
    )
    assert answer_page_question(frames([0.02]), by_chance=once).verdict.startswith("Hardly.")  # even with chance


def test_a_model_that_is_not_judged_is_named_in_no_sentence_on_wordings():
    tables = frames([0.3, 0.4], validity=[0.2, 0.9])
    rows = [("m0", "w1", 0.9), ("m0", "w2", 0.1), ("m1", "w1", 0.6), ("m1", "w2", 0.5)]
    wordings = pd.DataFrame(rows, columns=["model", "wording", "mean"])
    tables["scored_wordings"] = wordings.assign(study="s", condition="F1", measure="F1")
    (sentence,) = answer_page_question(tables).details["scored_wordings"]
    assert sentence.endswith("w1 has a mean of 0.600, w2 of 0.500 (m1).")


def test_what_is_alike_has_no_highest_and_no_lowest():
    tables = {name: table.assign(mean=1.0, sd=0.0) for name, table in frames([0.3, 0.3]).items()}
    wordings = tables["scored_means"].assign(wording="w0")
    tables["scored_wordings"] = pd.concat([wordings, wordings.assign(wording="w1")])
    details = answer_page_question(tables).details
    assert not any("goes from" in sentence for sentence in details["scored_means"])
    assert details["scored_passes"] == ("The F1 of an item has an SD of 0.000 over its wordings, on average.",)
    assert "scored_wordings" not in details
    two = tables | {name: pd.concat([tables[name], tables[name].assign(study="t")])
                    for name in ("scored_means", "scored_spread")}  # fmt: skip
    sentences = answer_page_question(two).details["scored_passes"]
    assert [sentence.split(" has")[0] for sentence in sentences] == [f"The F1 of an item of “{name}”" for name in "st"]
