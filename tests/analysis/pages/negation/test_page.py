"""What the page on negation says: its verdicts follow from intervals, its cautions from its tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis import runs
from analysis.pages.negation import captions, figures, narrative, plots
from analysis.pages.negation.catalogue import FIGURES
from analysis.pages.negation.page import NegationPage
from analysis.reporting.catalogue import tables
from analysis.reporting.drawing import plotting
from helpers.figures import check_caption, check_figure
from helpers.negation_runs import LABELS, answers, stimuli, write_negation
from helpers.sentences import too_long

pytestmark = pytest.mark.slow

ASKED = stimuli(120)


def frames(tmp_path, rows):
    run = runs.open_runs(write_negation(tmp_path / f"run-{len(list(tmp_path.iterdir()))}", rows))
    return {name: tables.build_table(name, run, resamples=20) for name in narrative.TABLES}


def told(answer):
    return " ".join(line for lines in answer.details.values() for line in lines)


def saying(said, model="m"):
    return ASKED.assign(model=model, condition="plain/0-shot", answer=said)


@pytest.fixture(scope="module")
def losing():
    """A model that says the original's label to everything: it passes over the negation."""
    first = ASKED[ASKED["variant"] == "original"].set_index("item")["gold"]
    return saying(ASKED["item"].map(first), "deaf")


@pytest.fixture(scope="module")
def alone(losing, tmp_path_factory):
    """What is said of it."""
    return narrative.answer_page_question(frames(tmp_path_factory.mktemp("alone"), losing))


@pytest.fixture(scope="module")
def beside(losing, tmp_path_factory):
    """What is said of it beside a model that guesses."""
    rows = pd.concat([losing, saying("neutral", "parrot")])
    return narrative.answer_page_question(frames(tmp_path_factory.mktemp("beside"), rows))


def test_a_model_that_passes_over_negations_loses_its_right_answers(alone):
    assert alone.verdict.startswith("Yes: ") and "% of the labels are right without the negation" in alone.verdict
    assert alone.setup.startswith("1 model was asked whether one sentence follows from another, in ")
    assert "−" in told(alone)
    assert any("Only 1 model" in caution for caution in alone.cautions)


def test_a_model_that_is_always_right_hardly_loses(tmp_path):
    found = narrative.answer_page_question(frames(tmp_path, saying(ASKED["gold"])))
    assert found.verdict == ("Hardly: 100 % of the labels are right without the negation, and 100 % with it.")


def test_several_models_are_counted(tmp_path, losing):
    rows = pd.concat([losing, saying(ASKED["gold"], "keen"), answers(ASKED, ["mute"], invalid=1)])
    found = narrative.answer_page_question(frames(tmp_path, rows))
    assert found.verdict == (
        "Hardly with 1 of 2 models that do better than always giving the commonest label, yes with 1."
    )
    assert any("answers of mute are one of the labels. The lowest share is 0.0 %" in line for line in found.cautions)


def test_the_one_model_of_several_that_is_judged_is_named(tmp_path, losing, beside):
    """The verdict gave its shares as if they were those of all; its study was not named below the figure."""
    assert beside.verdict.startswith("Yes: with deaf, ")
    studies = ("kept", "guessed")
    for study, rows in zip(studies, (losing, saying("neutral", "deaf")), strict=True):
        write_negation(tmp_path / study, rows, study=study)
    opened = runs.open_runs(*(tmp_path / study for study in studies))
    found = narrative.answer_page_question({
        name: tables.build_table(name, opened, resamples=20) for name in narrative.TABLES
    })  # fmt: skip
    assert found.verdict.startswith("Yes: with deaf · kept, ") and ", deaf · kept is right in " in told(found)


def test_means_over_models_are_those_of_each_study(tmp_path):
    """Pairs of two studies were pooled: the mean was of none of them."""
    studies = {"first": answers(ASKED, ["m", "n"], seed=1), "second": answers(stimuli(150, 3), ["m"], loss=0, seed=2)}
    for study, rows in studies.items():
        write_negation(tmp_path / study, rows, study=study)
    opened = runs.open_runs(*(tmp_path / study for study in studies))
    page_frames = {name: tables.build_table(name, opened, resamples=20) for name in narrative.TABLES}
    details = narrative.answer_page_question(page_frames).details
    starts = [text.split(" points")[0] for text in details["negation_changes"]]
    pairs = page_frames["minimal_pairs"]
    means = pairs[pairs["pairs"] == "important"].groupby("study", sort=False)["acc_change"].mean()
    assert starts == [
        f"Study “{study}”: on average over the models that are judged, the change is "
        f"{narrative.format_percentage_points(mean)}" for study, mean in means.items()
    ]  # fmt: skip
    for name, lines in (("negation_places", 2), ("negation_bias", 3)):
        assert [text.partition(":")[0] for text in details[name]] == ["Study “first”"] * lines + [
            "Study “second”"
        ] * lines
    assert not too_long(*(text for texts in details.values() for text in texts))


def test_a_caution_about_one_of_two_studies_names_it(tmp_path):
    for study, rows in (("first", saying("neutral")), ("second", answers(ASKED, invalid=1))):
        write_negation(tmp_path / study, rows, study=study)
    opened = runs.open_runs(tmp_path / "first", tmp_path / "second")
    said = " ".join(narrative.answer_page_question({
        name: tables.build_table(name, opened, resamples=20) for name in narrative.TABLES
    }).cautions)  # fmt: skip
    assert "of the answers of m · second are" in said
    assert "m · first: not clearly" in said and "m · first says “neutral” to nearly" in said


def test_an_example_names_the_study_where_all_examples_are_of_one(tmp_path):
    studies = {"first": answers(ASKED, skill=0.9), "second": answers(ASKED, invalid=1)}
    folders = [str(write_negation(tmp_path / study, rows, study=study)) for study, rows in studies.items()]
    assert "m · first, important" in NegationPage(folders, resamples=0).examples().text


def test_of_models_that_never_answer_one_sentence_says_why(tmp_path):
    found = narrative.answer_page_question(frames(tmp_path, answers(ASKED, ["mute"], invalid=1)))
    assert found.verdict == "This model does not answer."
    reasons = [line for line in found.cautions if "ess than half" in line]
    assert reasons == [
        "Less than half of the answers of mute are one of the labels. The lowest share is 0.0 %. These models are not "
        "compared."
    ]


def test_a_model_that_guesses_is_not_judged(tmp_path):
    found = narrative.answer_page_question(frames(tmp_path, saying("neutral", "parrot")))
    assert found.verdict == (
        "These runs cannot tell: no model is clearly better than the majority baseline on the originals."
    )
    cautions = " ".join(found.cautions)
    assert "parrot: not clearly above the majority baseline on the originals." in cautions
    assert "parrot says “neutral” to nearly everything." in cautions
    assert "parrot is right" not in told(found) and "On average" not in told(found)


def test_what_is_said_of_changes_leaves_out_models_that_guess(alone, beside):
    for name in ("negation_slopes", "negation_changes", "negation_places"):
        assert beside.details[name] == alone.details[name] and "deaf" in "".join(alone.details["negation_slopes"])


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [(-0.3, -0.1, "yes"), (-0.04, -0.01, "hardly"), (-0.04, 0.2, "hardly"), (-0.06, 0.01, ""), (-0.2, 0.0, ""),
     (-0.2, -0.05, "yes"), (-0.05, 0.0, "hardly"), (0.0, 0.0, "hardly"), (-1.01, -0.8, "yes"), (np.nan, np.nan, "")],
)  # fmt: skip
def test_a_word_needs_its_whole_interval(low, high, word):
    """Widened for several models, an interval that ended below −1 had no word: of models that lost nearly all."""
    assert narrative.verdicts.choose_word_for_interval(low, high, narrative.BANDS) == word


def test_models_that_lose_nearly_all_lose_however_many_they_are():
    changes = pd.DataFrame({"acc_change": [-0.92] * 7, "lower": -0.985, "upper": -0.6})
    assert narrative.verdicts.choose_words_for_differences(changes, "acc_change", narrative.BANDS) == ["yes"] * 7


@pytest.mark.parametrize(("items", "verdict"), [
    (1, "These runs cannot tell: no model is clearly better than the majority baseline on the originals."),
    (12, "These runs cannot tell: 100 % of the labels are right without the negation, and 100 % with it."),
])  # fmt: skip
def test_a_model_that_is_right_in_all_of_few_pairs_has_no_word(tmp_path, items, verdict):
    asked = stimuli(items)
    rows = asked.assign(model="m", condition="plain/0-shot", answer=asked["gold"])
    assert narrative.answer_page_question(frames(tmp_path, rows)).verdict == verdict


def test_a_judged_model_without_answers_to_important_pairs_is_told_apart_from_guesses(tmp_path):
    """It was said to be no better than the majority baseline, where only its answers with a negation are missing."""
    rows = pd.concat([saying(ASKED["gold"], "keen"), saying("neutral", "parrot")], ignore_index=True)
    is_left_out = (rows["model"] == "keen") & (rows["pattern"] != "original")
    rows.loc[is_left_out, "answer"], rows["error"] = None, np.where(is_left_out, "timeout", None)
    assert narrative.answer_page_question(frames(tmp_path, rows)).verdict == (
        "These runs cannot tell: no model that is judged has answers to both sides of a negation that changes the "
        "right label."
    )


def test_a_negation_that_no_model_answered_is_told_apart_from_one_that_changes_no_label(tmp_path):
    """It was said that no negation changes the right label, where all answers with a negation are missing."""
    rows = saying(ASKED["gold"], "keen")
    is_left_out = rows["pattern"] != "original"
    rows.loc[is_left_out, "answer"], rows["error"] = None, np.where(is_left_out, "timeout", None)
    assert narrative.answer_page_question(frames(tmp_path, rows)).verdict == (
        "These runs cannot tell: no model has answers to both sides of a negation."
    )


def test_places_are_compared_where_they_are_no_rarity(tmp_path):
    made = frames(tmp_path, answers(ASKED, invalid=0))
    assert "Mean change over important pairs by position, of the models that are judged, in points: " in told(
        narrative.answer_page_question(made)
    )
    rare = made["negation_places"]["value"] == "mid"
    made["negation_places"].loc[rare, "n_items"] = 2
    assert "by position" not in told(narrative.answer_page_question(made))


def test_without_answers_to_originals_no_share_of_a_label_is_said(tmp_path):
    rows = answers(ASKED)
    rows["error"] = rows["pattern"].map({"original": "no answer came"})
    rows.loc[rows["pattern"] == "original", "answer"] = None
    found = narrative.answer_page_question(frames(tmp_path, rows))
    assert "nan" not in told(found) and "negation_bias" not in found.details


def test_without_an_important_negation_nothing_is_said(tmp_path):
    rows = answers(ASKED.assign(gold="neutral"))
    found = narrative.answer_page_question(frames(tmp_path, rows))
    assert found.verdict == "These runs cannot tell: no negation here changes the right label."


def test_without_any_response_nothing_is_said(tmp_path):
    silent = ASKED.assign(model="m", condition="plain/0-shot", error="timeout")
    found = narrative.answer_page_question(frames(tmp_path, silent))
    assert found.setup == "No pair of sentences has a response."
    assert found.verdict == "These runs cannot tell: there is no answer to judge."


def test_sentences_of_items_are_escaped(tmp_path):
    asked = stimuli(6, variants=("original", "p_neg-1")).assign(gold=list(LABELS[:2]) * 6)
    asked["attributes"] = [
        {"premise": "<script>alert(1)</script> & co", "hypothesis": f"“{name}” <b>"} for name in asked["variant"]
    ]
    rows = asked.assign(model="m", condition="plain/0-shot", answer=LABELS[0])
    shown = NegationPage([str(write_negation(tmp_path / "run", rows))], resamples=20).examples().text
    assert "&lt;script&gt;" in shown and "<script>" not in shown and "<b>&" not in shown
    assert "right: contradiction" in shown


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Ten models with long names under two conditions; the first gives no valid answer."""
    names = [f"organisation/a-rather-long-model-name-{number}b" for number in range(10)]
    asked = stimuli(12)
    rows = pd.concat([
        answers(asked, [name], conditions=["chat/0-shot", "chat/3-shot"], invalid=0.05 if number else 1.0, seed=number)
        for number, name in enumerate(names)
    ])  # fmt: skip
    run = runs.open_runs(write_negation(tmp_path_factory.mktemp("many") / "run", rows))
    made = {name: tables.build_table(name, run, resamples=10) for name in ("minimal_pairs", "negation_accuracy")}
    ((frame,),) = figures.build_minimal_pairs_frames(made)
    return frame


@pytest.mark.parametrize("width", [plotting.PAGE, plotting.COLUMN])
@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("models", [1, 10])
def test_no_text_is_cut_or_overlaps_another(many, name, width, models):
    frame = many[many["model"].isin(many["model"].unique()[:models])]
    check_figure(getattr(plots, f"draw_{name}")(frame, width=width))
    caption = getattr(captions, f"caption_{name}")(frame)
    check_caption(caption)
    assert too_long(caption) == []


def test_slopes_leave_out_a_model_that_guesses_before_one_that_is_judged(tmp_path):
    """Of eight models, the judged one that changes least was left out, and a guess that changes more was drawn."""
    first = ASKED[ASKED["variant"] == "original"].set_index("item")["gold"]
    rows = [saying(ASKED["item"].map(first), f"deaf{i}") for i in range(6)]
    rows += [saying(ASKED["gold"], "keen"), saying("neutral", "parrot")]
    (frame,) = next(figures.build_minimal_pairs_frames(frames(tmp_path, pd.concat(rows))))
    drawn = plots.choose_slope_rows(frame.assign(acc_change=frame["acc_change"].where(frame["able"], 0.9)))
    assert "keen" in set(drawn["model"]) and "parrot" not in set(drawn["model"])
    assert " most over important negations, judged ones first, of 8 models" in captions.caption_negation_slopes(frame)


def test_slopes_join_the_two_shares_of_each_model(many):
    drawn = plots.draw_negation_slopes(many)
    rows = plots.choose_slope_rows(many)
    assert rows["model"].nunique() == plots.LINES < many["model"].nunique()
    axes = drawn.axes[0]
    joined = sorted(tuple(np.round(line.get_ydata(), 9)) for line in axes.lines if line.get_marker() == "None")
    part = rows[rows["pairs"] == "important"]
    assert joined == sorted(zip(part["acc"].round(9), part["acc_negated"].round(9), strict=True))
