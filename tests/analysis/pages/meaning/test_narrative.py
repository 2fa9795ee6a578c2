"""The sentences of the page, from hand-made tables: what stands, what is said of checks and people, what weakens it."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from analysis.pages.meaning import narrative
from analysis.reporting.words import labels
from analysis.reporting.words.meaning import NO_CHECK

UNIT = {"study": "s", "condition": "c"}


def flips(*models, validity=0.9, left_out_items=0, left_out_flips=0.0):
    """Two rows of table `meaning_flips` for every (flip of all, flip of the same, half a width of the difference)."""
    rows = []
    for number, (of_all, of_same, half) in enumerate(models):
        change = of_same - of_all
        both = {**UNIT, "model": f"m{number}", "n_items": 40, "n_items_changed": 30, "validity": validity,
                "validity_at_most": float("nan"),
                "left_out_items": left_out_items, "left_out_flips": left_out_flips}  # fmt: skip
        rows += [
            {**both, "wordings": "all", "n_wordings": 400, "flip": of_all, "flip_lower": of_all - 0.03,
             "flip_upper": of_all + 0.03},
            {**both, "wordings": "same", "n_wordings": 300, "flip": of_same, "flip_lower": of_same - 0.03,
             "flip_upper": of_same + 0.03, "flip_difference": change, "flip_difference_lower": change - half,
             "flip_difference_upper": change + half},
        ]  # fmt: skip
    return pd.DataFrame(rows)


def checks(used=True, passed_by="people"):
    rows = [
        {"check": "entailment:org/nli", "used": used, "best": used, "auc": 0.95, "auc_lower": 0.92, "auc_upper": 0.97,
         "why_not": "" if used else "its AUC is not surely above 0.7"},
        {"check": "words", "used": False, "best": False, "auc": 0.6, "auc_lower": 0.5, "auc_upper": 0.69,
         "why_not": "its AUC is not surely above 0.7"},
    ]  # fmt: skip
    return pd.DataFrame(rows).assign(study="s", passed_by=passed_by, threshold=0.83, passed_share=0.88,
                                     decoy_share=0.05, decoy_share_lower=0.02, decoy_share_upper=0.11, n_passed=200,
                                     n_decoys=100)  # fmt: skip


def meanings(same=300, another=60, unclear=40, none=0):
    verdicts = ["same"] * same + ["another"] * another + ["unclear"] * unclear + [None] * none
    return pd.DataFrame({"meaning": verdicts, "study": "s", "item": [f"i{n % 40}" for n in range(len(verdicts))]})


def people(alpha=0.85, error=0.02, names=("ann", "ben")):
    rows = [{"annotator": name, "n_wordings": 200, "n_decoys": 50, "decoy_error_share": error} for name in names]
    rows.append({"annotator": "all", "n_wordings": 200, "kappa": alpha, "alpha": alpha, "alpha_lower": alpha - 0.1,
                 "alpha_upper": alpha + 0.1})  # fmt: skip
    return pd.DataFrame(rows).assign(study="s")


def corrected(reason=""):
    shown = not reason
    return pd.DataFrame([{**UNIT, "model": "m0", "uncorrected": 0.3, "corrected": 0.26 if shown else np.nan,
                          "lower": 0.2 if shown else np.nan, "upper": 0.32 if shown else np.nan,
                          "not_shown": reason}])  # fmt: skip


def effect(*rows):
    names = ["model", "estimate", "p_holm"]
    return pd.DataFrame(list(rows), columns=names).assign(study="s", condition="c", p_robust_holm=0.002)


def build(**changes):
    """All tables of a run with a used check, two people and a model whose flips stay."""
    frames = {
        "meaning_checks": checks(), "meaning_decoys": pd.DataFrame(), "meaning_annotators": people(),
        "meanings": meanings(), "meaning_flips": flips((0.30, 0.29, 0.02)), "meaning_corrected": corrected(),
        "meaning_effect": effect(("m0", -0.2, 0.001)),
    }  # fmt: skip
    return {**frames, **{f"meaning_{key}" if key != "meanings" else key: value for key, value in changes.items()}}


NOBODY = people(names=())[:0]


def test_the_first_screen_says_what_stands_and_what_was_compared():
    said = narrative.answer_page_question(build(), ", on 22 November 2026")
    assert said.setup == (
        "1 model answered 400 wordings of 40 items, on 22 November 2026; 2 people and 2 checks compared their meanings."
    )
    assert said.verdict == (
        "The result stands on wordings judged to mean the same: at least four fifths as many answers to these change. "
        "29 % change, of all wordings 30 %."
    )


@pytest.mark.parametrize(
    ("models", "verdict"),
    [
        ([(0.3, 0.2, 0.03)], "The result stands in part on wordings judged to mean the same: fewer answers to these "
                             "change. 20 % change, of all wordings 30 %."),
        ([(0.3, 0.05, 0.03)], "The result mostly does not stand on wordings judged to mean the same: less than half as "
                              "many answers to these change. 5 % change, of all wordings 30 %."),
        ([(0.3, 0.25, 0.10)], "These runs cannot tell whether the result stands on wordings judged to mean the same. "
                              "25 % change, of all wordings 30 %."),
        ([(0.3, 0.29, 0.01), (0.5, 0.1, 0.02)], "The result stands on wordings judged to mean the same with 1 of 2 "
                                                "models, mostly not with 1."),
        ([(0.3, 0.29, 0.01), (0.5, 0.49, 0.02)], "The result stands on wordings judged to mean the same: at least four "
                                                 "fifths as many answers to these change, with each model. On average, "
                                                 "39 % change, of all wordings 40 %."),
    ],
)  # fmt: skip
def test_the_verdict_follows_the_rule(models, verdict):
    said = narrative.answer_page_question(build(flips=flips(*models)))
    assert said.verdict.replace("\u00a0", " ") == verdict


def test_nothing_is_said_where_no_check_is_used_and_nobody_read_the_wordings():
    frames = build(checks=checks(False, "all wordings"), annotators=NOBODY, meanings=meanings(0, 0, 0, 400))
    said = narrative.answer_page_question(frames)
    assert said.verdict == NO_CHECK == "No check parts decoys from paraphrases; nothing is said."
    assert "meaning_flips_by_model" not in said.details


def test_a_run_whose_wordings_nobody_checked_is_told_how():
    said = narrative.answer_page_question(build(meanings=meanings(0, 0, 0, 0)))
    assert said.setup.startswith("No wording of these runs was checked") and said.verdict == NO_CHECK


def test_without_a_sheet_all_wordings_stood_for_passed_ones():
    said = narrative.answer_page_question(build(checks=checks(True, "all wordings"), annotators=NOBODY))
    assert said.setup.endswith("; 2 checks compared their meanings.")
    assert any("all wordings stood for passed ones" in caution for caution in said.cautions)
    assert "88 % of the wordings pass," in " ".join(said.details["meaning_roc"])


def test_a_study_whose_wordings_nobody_judged_is_named_beside_one_that_people_judged():
    both = pd.concat([checks(), checks(passed_by="all wordings").assign(study="t")])
    said = narrative.answer_page_question(build(checks=both)).cautions
    assert any(line.startswith("No person judged a wording of t: all wordings stood for passed ones.") for line in said)


def test_checks_and_people_of_several_studies_are_told_with_their_study():
    both = {
        "checks": pd.concat([checks(), checks().assign(study="t")]),
        "annotators": pd.concat([people(alpha=0.5, error=0.2), people(alpha=0.5, error=0.2).assign(study="t")]),
    }
    said = narrative.answer_page_question(build(**both))
    for sentences in (said.cautions, *(said.details[name] for name in ("meaning_roc", "meaning_annotators"))):
        assert len(set(sentences)) == len(sentences)
    assert any(line.startswith("“entailment:org/nli” in t parts them:") for line in said.details["meaning_roc"])
    assert any(line.startswith("That people agree enough in t is not sure:") for line in said.cautions)
    assert "“ann” called 20 % of 50 decoys the same in t." in said.details["meaning_annotators"]


def test_people_alone_are_named_where_no_check_is_used():
    said = narrative.answer_page_question(build(checks=checks(False), meanings=meanings(150, 40, 10, 200)))
    caution = "No check parts decoys from paraphrases: only {} a verdict, which people gave."
    assert caution.format("200 of 400 wordings have") in said.cautions
    one = narrative.answer_page_question(build(checks=checks(False), meanings=meanings(1, 0, 0, 3)))
    assert caution.format("1 of 4 wordings has") in one.cautions
    assert "200 have no verdict" in " ".join(said.details["meanings"])
    one_of_each = narrative.answer_page_question(build(meanings=meanings(1, 1, 1, 1))).details["meanings"]
    assert one_of_each[0].endswith(
        "1 means the same as the original, 1 means something else, 1 is unclear; 1 has no verdict."
    )


def test_people_alone_who_read_all_wordings_give_the_verdicts():
    said = narrative.answer_page_question(build(checks=checks(False), meanings=meanings(300, 90, 10)))
    assert "No check parts decoys from paraphrases: the verdicts are those of people alone." in said.cautions
    texts = " ".join(said.details["meaning_flips_by_model"])
    assert "The share of changed answers to wordings that people would call the same is 26 %" in texts
    assert "errors of the check" not in texts


def test_a_part_without_wordings_of_another_meaning_is_not_compared_with_itself():
    said = narrative.answer_page_question(build(flips=flips((0.26, 0.26, 0.0)).assign(n_wordings=300)))
    assert said.verdict.replace("\u00a0", " ") == (
        "The result stands on wordings judged to mean the same: there are no others here. 26 % of the answers change."
    )


def test_items_without_a_wording_of_the_same_meaning_take_the_word_where_they_hold_the_changes():
    few = narrative.answer_page_question(build(flips=flips((0.3, 0.29, 0.02), left_out_items=2, left_out_flips=0.08)))
    assert few.verdict.startswith("The result stands")
    assert "In neither share: 2 of 42 items without a wording of the same meaning." in " ".join(few.cautions)
    assert "too many for a word" not in " ".join(few.cautions)
    many = narrative.answer_page_question(build(flips=flips((0.3, 0.29, 0.02), left_out_items=9, left_out_flips=0.6)))
    assert many.verdict.startswith("These runs cannot tell whether the result stands")
    assert "Up to 60 % of a model's changed answers are there: too many for a word." in " ".join(many.cautions)


def test_models_are_named_where_their_words_differ():
    said = narrative.answer_page_question(build(flips=flips((0.3, 0.29, 0.01), (0.5, 0.1, 0.02), (0.3, 0.27, 0.2))))
    named = [text for text in said.details["meaning_flips_by_model"] if text.endswith(("m0.", "m1.", "m2."))]
    assert named[:3] == ["“Stands”: m0.", "“Mostly not”: m1.", "Unclear: m2."]


def test_silent_models_get_no_verdict():
    said = narrative.answer_page_question(build(flips=flips((0.3, 0.29, 0.02), validity=0.1)))
    assert said.verdict == "This model does not answer."
    mixed = pd.concat([flips((0.3, 0.29, 0.02), (0.3, 0.1, 0.02))], ignore_index=True)
    mixed.loc[mixed["model"] == "m1", "validity"] = 0.1
    said = narrative.answer_page_question(build(flips=mixed))
    assert said.verdict.startswith("The result stands") and "Not judged: m1. Less than half" in " ".join(said.cautions)


@pytest.mark.parametrize(
    ("changes", "caution"),
    [
        ({"annotators": people(alpha=0.5)}, "alpha is 0.50 (0.40 to 0.60), and 0.667 is the least"),
        ({"annotators": people(error=0.2)}, "more than 5 % of the decoys the same: ann (20.0 %) and ben (20.0 %)."),
        ({"annotators": people(error=0.051)}, "more than 5 % of the decoys the same: ann (5.1 %) and ben (5.1 %)."),
        ({"annotators": people(names=("ann",)).assign(alpha=np.nan)}, "One person judged the wordings"),
        ({"corrected": corrected("the sheet is too small")}, "is not shown: the sheet is too small."),
        ({"flips": flips((0.3, 0.29, 0.02)).assign(n_items=10)}, "Only 10 items"),
        ({}, "10 % of the wordings are unclear"),
    ],
)  # fmt: skip
def test_cautions_name_what_weakens_the_answer(changes, caution):
    assert caution in " ".join(narrative.answer_page_question(build(**changes)).cautions)


def test_numbers_stand_with_what_they_are_about():
    details = narrative.answer_page_question(build()).details
    assert "−1.0 points against all wordings (95 % interval −3.0 to +1.0)" in " ".join(
        details["meaning_flips_by_model"]
    )
    assert "of changed answers is 26 % (20 % to 32 %) with m0" in " ".join(details["meaning_flips_by_model"])
    two_models = pd.concat([corrected(), corrected().assign(model="m1")], ignore_index=True)
    of_both = flips((0.30, 0.29, 0.02), (0.30, 0.29, 0.02))
    answer = narrative.answer_page_question(build(corrected=two_models, flips=of_both))
    said = " ".join(answer.details["meaning_flips_by_model"])
    assert said.count("Corrected for the errors of the check") == 1
    assert said.endswith("with m0. With m1, it is 26 % (20 % to 32 %).")
    assert "“entailment:org/nli” parts them: AUC 0.95 (0.92 to 0.97)." in " ".join(details["meaning_roc"])
    said = " ".join(details["meaning_roc"])
    assert "“words” is not used: its AUC is not surely above 0.7. Its AUC is 0.60 (0.50 to 0.69)." in said
    assert "in 1 of 1 model, by two errors" in " ".join(details["meaning_effect"])
    said = " ".join(details["meaning_roc"]).replace("\u00a0", " ")
    assert (
        "88 % of the wordings that people call the same pass, and 5 % of the decoys; of other decoys, 2 % to 11 %."
        in said
    )
    hidden = narrative.answer_page_question(build(corrected=corrected("the check is too weak"))).details
    assert "No corrected share is shown: the check is too weak." in hidden["meaning_flips_by_model"]
    one_hidden = pd.concat([corrected(), corrected("few read").assign(model="m1")], ignore_index=True)
    said = narrative.answer_page_question(build(corrected=one_hidden, flips=of_both))
    assert said.details["meaning_flips_by_model"][-1] == "No corrected share is shown with m1: few read."
    assert "The share corrected for errors of the check is not shown with m1: few read." in said.cautions


def test_what_sentences_do_not_name_is_counted():
    """A fifth check, person and corrected share were left out without a word."""
    five = [f"m{number}" for number in range(5)]
    frames = build(
        checks=pd.concat([checks().assign(check=name) for name in five[:3]]),
        annotators=people(names=five),
        flips=flips(*[(0.3, 0.29, 0.02)] * 5),
        corrected=pd.concat([corrected().assign(model=name) for name in five], ignore_index=True),
    )
    details = narrative.answer_page_question(frames).details
    assert details["meaning_roc"][-1] == "The table has 2 more checks."
    assert details["meaning_annotators"][-1] == "The table has 1 more person."
    assert details["meaning_flips_by_model"][-1] == "The table has 1 more corrected share."
    of_two_studies = {
        name: pd.concat([frames[name][:3], frames[name][:3].assign(study="t")], ignore_index=True)
        for name in ("meaning_checks", "meaning_annotators")
    }
    details = narrative.answer_page_question({**frames, **of_two_studies}).details
    for name in ("meaning_roc", "meaning_annotators"):  # the same checks and people, twice
        assert details[name][-1].startswith("The table has ") and details[name][-1].endswith(" more such rows.")
    hidden = pd.concat([corrected(reason).assign(model=f"m{n}") for n, reason in enumerate("xyz")], ignore_index=True)
    sentences = narrative.answer_page_question({**frames, "meaning_corrected": hidden}).details[
        "meaning_flips_by_model"
    ]
    assert [f"with m{n}: {reason}." in " ".join(sentences) for n, reason in enumerate("xyz")] == [True] * 3


@pytest.mark.parametrize("changes", [
    {}, {"flips": flips(*[(0.3, 0.29, 0.02)] * 5)},
    {"flips": flips((0.3, 0.25, 0.1), (0.4, 0.1, 0.02), (0.3, 0.3, 0.0))},
    {"annotators": people(alpha=0.1, error=0.9)}, {"corrected": corrected("x")},
    {"flips": flips((0.3, 0.29, 0.02), left_out_items=9, left_out_flips=0.6)}, {"checks": checks(False)},
])  # fmt: skip
def test_sentences_are_short(changes):
    said = narrative.answer_page_question(build(**changes), ", on 22 November 2026")
    assert len(f"How much of it is meaning? {said.setup} {said.verdict}".split()) <= 60
    texts = [said.setup, said.verdict, *said.cautions, *(text for group in said.details.values() for text in group)]
    parts = [part for text in texts for part in re.split(r"(?<=[.?!])\s+(?=[A-Z“\d])", text)]
    assert [part for part in parts if len(part.split()) > 30] == []


def test_a_model_is_named_with_its_study_where_it_answers_in_one_of_two():
    silent = flips((0.1, 0.1, 0.02), (0.1, 0.1, 0.02), validity=0.2).assign(study="t")
    both = pd.concat([flips((0.3, 0.29, 0.02), (0.3, 0.2, 0.03)), silent], ignore_index=True)
    once = both[labels.UNIT].drop_duplicates().assign(answers="drawn once")
    said = narrative.answer_page_question(build(flips=both), by_chance=once)
    sentences = said.details["meaning_flips_by_model"]
    assert sum(" with m0 · s." in line for line in sentences) == 1  # the corrected share
    assert any(line.startswith("With m1 · s, 20 %") for line in sentences)
    assert any(
        line.startswith("Chance and wording are not told apart for m0 · s and m1 · s.") for line in said.cautions
    )


def test_nothing_is_said_of_the_corrected_share_and_the_effect_of_a_model_that_is_not_judged():
    both = pd.concat([flips((0.3, 0.29, 0.02)), flips((0.3, 0.29, 0.02), validity=0.2).assign(model="m1")])
    two = pd.concat([corrected(), corrected().assign(model="m1")])
    effects = effect(("m0", -0.2, 0.001), ("m1", -0.2, 0.001))
    said = narrative.answer_page_question(build(flips=both, corrected=two, effect=effects))
    assert not any("m1" in line for line in said.details["meaning_flips_by_model"])
    assert "in 1 of 1 model, by two errors" in said.details["meaning_effect"][0]
