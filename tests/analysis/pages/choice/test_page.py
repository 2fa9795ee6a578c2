"""What the page on multiple choice says: its verdicts follow from intervals, its cautions from its tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis import runs
from analysis.measures.choices import PER_BYTE
from analysis.pages.choice import captions, cautions, figures, narrative, plots
from analysis.pages.choice.catalogue import FIGURES
from analysis.pages.choice.page import ChoicePage
from analysis.reporting.catalogue import tables
from analysis.reporting.catalogue.frames import Frames
from analysis.reporting.catalogue.published_numbers import OURS
from analysis.reporting.drawing import plotting
from analysis.reporting.words import chance
from analysis.steps.choice import compute_shares_of_unchanged_choices, derive_choices_of_responses
from helpers.choice_runs import AWARE, LETTER, TEXT, TEXTS, always, answers, meant, questions, right, write_choice
from helpers.figures import check_caption, check_figure
from helpers.sentences import too_long

pytestmark = pytest.mark.slow

ASKED = questions(100, 4, choices=(4,))
FIRST = dict(zip(ASKED["item"].unique(), range(100), strict=True))
ADAPTER = {"b": {"stage": "tuned", "adapter": {"name": "b", "base": "a", "revision": "r", "settings": {}}}}


def page(tmp_path, rows, resamples=50, **options):
    folder = write_choice(tmp_path / f"run-{len(list(tmp_path.iterdir()))}", rows, **options)
    return ChoicePage([str(folder)], resamples=resamples)


def said(tmp_path, rows, **options):
    made = page(tmp_path, rows, **options)
    made.answer()
    return made._answer


def some_changed(number, model="m", condition=TEXT):
    """A model that is right but in one order and wording of so many questions."""
    return always(
        ASKED, lambda row: "A" if FIRST[row["item"]] < number and row["variant"] == "original/1" else right(row), model,
        condition,
    )  # fmt: skip


def letters(model="letters", condition=TEXT):
    return always(ASKED, lambda row: "B", model, condition)


@pytest.fixture(scope="module")
def of_letters(tmp_path_factory):
    """What is said of a model that answers B, whatever is asked."""
    return said(tmp_path_factory.mktemp("letters"), letters())


@pytest.fixture(scope="module")
def page_of_right(tmp_path_factory):
    """The page on a model that is always right."""
    made = page(tmp_path_factory.mktemp("right"), always(ASKED, right))
    made.answer()
    return made


@pytest.fixture(scope="module")
def of_right(page_of_right):
    return page_of_right._answer


@pytest.fixture(scope="module")
def of_both(tmp_path_factory):
    """What is said of one that is always right and one that answers B."""
    return said(tmp_path_factory.mktemp("both"), pd.concat([always(ASKED, right, "firm"), letters()]))


def told(answer):
    return " ".join(line for lines in answer.details.values() for line in lines)


def test_a_measure_keeps_its_capitals_where_a_sentence_begins_with_it(tmp_path):
    rows = answers(questions(8, 2), ["a", "b", "c", "d"])
    assert "XParaCon: 6 pairs compared: no difference could be shown." in told(said(tmp_path, rows, resamples=20))


def test_one_model_that_keeps_its_choices_hardly_changes_them(of_right):
    found = of_right
    assert found.setup == "1 model was asked 100 questions, each in 3 wordings with its choices in 4 orders."
    assert found.verdict == "Hardly: 0 % of the questions do not get one choice in all wordings and orders."
    assert "None of 100 questions varies in accuracy over its wordings with m: XParaCon is infinite (at least " in told(
        found
    )
    assert any("Only 1 model" in caution for caution in found.cautions)


def fail(rows, failed):
    """Let these prompts have no response."""
    empty = {name: rows[name].astype(object).where(~failed, None) for name in ("answer", "probability", "mass")}
    return rows.assign(**empty, logprob=None, error=np.where(failed, "timeout", None))


def test_of_questions_without_a_response_nothing_is_said(tmp_path):
    rows = answers(questions(6, 2, subsets=("science", "history")), ["a", "b"])
    subset = rows["attributes"].map(lambda attributes: attributes["subset"])
    assert said(tmp_path, fail(rows, rows["model"] == "a")).setup.startswith("1 model was asked 6 questions")
    assert said(tmp_path, fail(rows, subset == "science")).setup.startswith("2 models were asked")
    silent = said(tmp_path, fail(rows, rows["model"] != ""))
    assert silent.setup == "No question has a response."
    assert silent.verdict == "These runs cannot tell: there is no choice to compare."


def test_of_models_with_one_xparacon_none_is_the_highest(tmp_path):
    rows = pd.concat([always(ASKED, right, "a"), always(ASKED, right, "b")])
    assert "est XParaCon" not in told(said(tmp_path, rows))


def test_xparacon_is_explained_before_its_figure_where_there_is_one(of_letters, tmp_path):
    assert of_letters.explanation == narrative.XPARACON_MEANING
    alone = ASKED[ASKED["pattern"] == "original"]
    assert said(tmp_path, always(alone, right)).explanation == ""


def test_with_one_order_perfectly_correct_is_called_accuracy(tmp_path):
    one_order = questions(30, 1, choices=(4,))
    rows = pd.concat([answers(one_order, ["a"], skill=1.0), answers(one_order, ["b"], skill=0.2, seed=1)])
    made = page(tmp_path, rows)
    made.answer()
    assert set(made.frame("choice_differences")["measure"]) == {"accuracy", "xparacon"}
    assert "perfectly correct" not in told(made._answer)
    by_wording = made.frame("choice_wordings")
    assert made.frame("choice")["perfectly_correct"].isna().all()
    assert by_wording.loc[by_wording["source"] == OURS, "perfectly_correct"].isna().all()
    assert ">Perfectly correct<" not in made.table("choice").text
    several = page(tmp_path, answers(questions(12, 2, choices=(4,)), ["a", "b"]))
    assert "perfectly_correct" in set(several.frame("choice_differences")["measure"])
    assert ">Perfectly correct" in several.table("choice").text


def test_the_numbers_of_orders_of_two_studies_are_both_told(tmp_path):
    """It said "each in 3 wordings with its choices in 4 orders", also of the study asked in 2."""
    few = ASKED[ASKED["variant"].str.endswith(("/1", "/2"))]
    folders = [
        str(write_choice(tmp_path / name, always(asked, right, name), study=name))
        for name, asked in (("four", ASKED), ("two", few))
    ]
    made = ChoicePage(folders, resamples=0)
    made.answer()
    assert "each in 3 wordings with its choices in 2 to 4 orders." in made._answer.setup


def test_a_question_that_two_studies_ask_counts_once(tmp_path):
    first = write_choice(tmp_path / "a", always(ASKED, right), study="whole")
    second = write_choice(tmp_path / "b", always(questions(20, 4, choices=(4,)), right), study="test")
    made = ChoicePage([str(first), str(second)], resamples=0)
    made.answer()
    assert made._answer.setup.startswith("1 model in 2 studies was asked 100 questions, ")


def test_several_models_are_counted_by_the_interval_of_what_changes(of_both, tmp_path):
    assert of_both.verdict == "Hardly with 1 of 2 models, yes with 1."
    found = said(tmp_path, pd.concat([letters(), some_changed(6, "between")]))
    assert found.verdict == "Yes with 1 of 2 models; with the other, these runs cannot tell."


def test_an_interval_that_is_clear_for_one_model_is_not_for_several(tmp_path):
    """11 of 100 questions: Wilson's lower end is .063 alone, the exact one for nine models is .041."""
    assert said(tmp_path, some_changed(13)).verdict.startswith("Yes: 11 % of the questions")
    many = said(tmp_path, pd.concat([some_changed(13, f"m{number}") for number in range(9)]))
    assert many.verdict == "These runs cannot tell."


def test_one_answer_at_temperature_0_is_a_yes(of_letters):
    assert of_letters.verdict.startswith("Yes: 97 % of the questions")


@pytest.mark.parametrize("temperature", [0.7, None])
def test_one_answer_that_may_have_been_drawn_is_no_yes(tmp_path, temperature):
    found = said(tmp_path, letters(), temperature=temperature)
    assert found.verdict == chance.ONCE
    assert found.cautions[0].startswith(
        "Chance and wording are not told apart for letters. There is one answer per wording"
    )
    assert said(tmp_path, always(ASKED, right), temperature=temperature).verdict.startswith("Hardly: 0 %")


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [(0.0, 0.04, "hardly"), (0.06, 0.2, "yes"), (0.04, 0.06, ""), (0.05, 0.5, "yes"), (np.nan, np.nan, "")],
)
def test_a_word_needs_its_whole_interval(low, high, word):
    assert narrative.verdicts.choose_word_for_interval(low, high, narrative.BANDS) == word


def test_few_questions_give_no_verdict(tmp_path):
    few = ASKED[ASKED["item"] < "q005"]
    found = said(tmp_path, always(few, right))
    assert found.verdict.startswith("These runs cannot tell: 0 % of the questions")
    assert any(caution.startswith("Only 5 items") for caution in found.cautions)


def test_without_intervals_there_is_no_verdict(tmp_path):
    assert said(tmp_path, letters(), resamples=0).verdict.startswith("These runs cannot tell: ")


def test_a_model_with_little_mass_is_in_no_verdict_and_no_comparison(tmp_path):
    rows = pd.concat([answers(ASKED, ["mute"], mass=0.1), always(ASKED, right, "firm", LETTER)])
    found = said(tmp_path, rows)
    assert found.verdict.startswith("Hardly: ")
    assert "mute" not in told(found)
    assert any(caution.startswith("Not judged: mute.") and caution.endswith("10 %.") for caution in found.cautions)


def test_guessing_is_said(of_letters, of_right):
    found = of_letters
    assert any(caution.startswith("letters: not clearly more accurate than guessing.") for caution in found.cautions)
    assert "1 of 1 model prefers a letter" in told(found)
    assert "“B” is 100 % of its answers, and right in " in told(found)
    assert "not clearly" not in " ".join(of_right.cautions)


def test_a_letter_is_not_preferred_by_chance(of_right):
    found = of_right
    assert "0 of 1 model prefer a letter" in told(found) and "largest preference" not in told(found)


def test_models_that_guess_prefer_no_letter(tmp_path):
    """Of 30 of them, each with its own guesses; before, several were said to prefer one that is seldom right."""
    rng = np.random.default_rng(1)
    asked = ASKED[ASKED["pattern"] == "original"]
    rows = pd.concat([
        asked.assign(model=f"m{number}", condition=TEXT, answer=rng.choice(list("ABCD"), len(asked)))
        for number in range(30)
    ])  # fmt: skip
    assert " 0 of 30 models prefer a letter" in f" {told(said(tmp_path, rows))}"  # not 10 or 30 of 30


def test_texts_that_are_no_choice_are_counted(tmp_path):
    found = said(tmp_path, answers(ASKED, conditions=[TEXT], unparsed=0.1))
    assert any("answers of m are no choice, and count as wrong." in caution for caution in found.cautions)


@pytest.mark.parametrize(
    ("reading", "words"),
    [
        ("letter", "m: texts were read by their letter; the strict rule reads {} of 1,200 texts "
                   "otherwise."),
        ("strict", "m: texts were read by the strict rule; the reading by the letter reads {} of 1,200 "
                   "texts otherwise."),
    ],
)  # fmt: skip
def test_the_reading_is_told_where_the_other_one_reads_many_texts_otherwise(tmp_path, reading, words):
    for share, number in ((20, 60), (24, 50)):  # 5.0 and 4.2 %
        rows = always(ASKED, right).assign(output=[["x"]] * len(ASKED))
        rows["read_otherwise"] = [int(place % share == 0) for place in range(len(rows))]
        found = said(tmp_path, rows, reading=reading)
        assert (words.format(number) in found.cautions) == (share == 20), found.cautions


def test_only_models_that_were_read_so_are_named_with_a_reading():
    units = pd.DataFrame({
        "study": "quiz", "model": ["m1", "m2", "m3"], "condition": TEXT, "subset": "all", "accuracy": 0.9,
        "accuracy_lower": 0.8, "chance": 0.25, "validity": 1.0, "validity_at_most": np.nan, "n": 100, "no_choice": 0,
        "n_questions": 100, "reading": ["letter", "strict", "strict"], "read_otherwise": 20, "n_texts": 100,
    })  # fmt: skip
    units = figures.add_model_and_condition_labels(units)
    said = cautions.list_cautions(units, pd.DataFrame())
    assert "m1: texts were read by their letter; the strict rule reads 20 of 100 texts otherwise." in said
    assert (
        "m2 and m3: texts were read by the strict rule; the reading by the letter reads 40 of 200 texts otherwise."
        in said
    )


def test_sentences_do_not_count_answers_twice_that_are_read_per_byte_too(tmp_path):
    rows = answers(ASKED, ["a", "b"], conditions=[TEXTS], wobble=2.0)
    made = page(tmp_path, rows)
    made.answer()
    assert made._answer.setup.startswith("2 models were asked 100 questions")
    assert "of 2,400 answers are no choice" in made.method().text
    choice = rows.assign(choice=rows.apply(meant, axis=1), order=rows["variant"].str.partition("/")[2])
    kept = choice.groupby(["model", "item", "order"])["choice"].nunique().eq(1).mean()
    sentence = made._answer.details["choice_consistency"][0]
    assert sentence.startswith(f"On average over 2 models, {100 * kept:.0f} % of the questions shown in one order get")
    assert set(made.frame("choice_consistency")["condition"]) == {TEXTS, TEXTS + PER_BYTE}


def test_tuning_and_prompt_are_told_apart(tmp_path):
    rows = pd.concat([letters("a"), letters("a", AWARE), letters("b"), always(ASKED, right, "b", AWARE)])
    found = said(tmp_path, rows, models=ADAPTER, resamples=200)
    first, *lines = found.details["choice_changes"]
    assert first == "Of the changes, 95 % intervals stand in brackets."
    by = {line.partition(":")[0]: line for line in lines}
    prompt = f"From the base to the paraphrase-aware prompt with {{}} ({AWARE})"
    unclear = [f"Tuning a into b ({TEXT})", prompt.format("a")]
    clear = [f"Tuning a into b ({AWARE})", prompt.format("b"), f"Tuning and prompt together, a ({TEXT}) to b ({AWARE})"]
    assert sorted(by) == sorted(unclear + clear)
    assert all(by[step].endswith("accuracy differs after Holm.") for step in clear)  # XParaCon is infinite
    assert all(": accuracy 0.0 points (" in by[step] and "; no clear difference" in by[step] for step in unclear)
    assert any("another prompt than the others" in caution for caution in found.cautions)


def test_changes_in_several_studies_are_told_with_their_study(tmp_path):
    for study in ("quiz", "exam"):
        rows = pd.concat([letters("a"), letters("b")])
        write_choice(tmp_path / study, rows, study=study, models=ADAPTER)
    page_of_both = ChoicePage([str(tmp_path / "quiz"), str(tmp_path / "exam")], resamples=20)
    page_of_both.answer()
    _, *lines = page_of_both._answer.details["choice_changes"]
    assert [line.partition(":")[0] for line in lines] == [
        f"In “{study}”, tuning a into b ({TEXT})" for study in ("quiz", "exam")
    ]


def test_no_change_is_told_beyond_its_interval(tmp_path):
    """Some questions change in one answer of twelve: the test finds that, and the interval holds 0."""
    rows = pd.concat([always(ASKED, right, "a", TEXT), some_changed(9, "b")])
    _, line = said(tmp_path, rows, models=ADAPTER).details["choice_changes"]
    assert line.startswith(f"Tuning a into b ({TEXT}): accuracy −0.7 points (−3.5 to +3.1)")
    assert line.endswith("; no clear difference after Holm (in accuracy the test finds one, the interval does not).")


def test_a_change_of_which_one_side_does_not_answer_is_named_and_not_judged(tmp_path):
    rows = pd.concat([letters("a"), always(ASKED, lambda row: None, "a", AWARE)])
    _, line = said(tmp_path, rows).details["choice_changes"]
    assert line == (
        f"From the base to the paraphrase-aware prompt with a ({AWARE}): not judged, since the validity is 100 % "
        "before and 0 % after."
    )


def test_what_turns_a_choice_more_often_is_counted(of_both):
    assert "another wording with 1 of 2 models, less often with 0." in told(of_both)


def test_differences_are_counted_after_holm(tmp_path):
    found = said(tmp_path, pd.concat([letters("a"), letters("b"), always(ASKED, right, "c")]), resamples=200)
    assert "In accuracy, 2 of 3 pairs of models differ in these wordings after Holm." in told(found)


def test_texts_of_questions_and_choices_are_escaped(tmp_path):
    asked = questions(40, 4, choices=(4,))
    asked["text"] = "<script>alert(1)</script> & co? " + asked["variant"]
    asked["attributes"] = [{**own, "choice_A": "<b>a</b>", "choice_B": "<i>b</i>"} for own in asked["attributes"]]
    shown = page(tmp_path, answers(asked, wobble=3.0), 20).examples().text
    assert "&lt;script&gt;" in shown and "<script>" not in shown and "<b>a" not in shown and "<i>b<" not in shown
    assert "choices of the file shown in the order" in shown


def test_without_a_question_that_turns_there_is_no_example(page_of_right):
    assert "No model is right in one wording" in page_of_right.examples().text


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Ten models with long names under two prompts, two of them tuned; one is silent, one always right."""
    asked = questions(16, 3, subsets=("general knowledge", "math reasoning"))
    names = [f"organisation/a-rather-long-model-name-{number}b" for number in range(9)]
    rows = [answers(asked, [name], conditions=[TEXT, AWARE], unparsed=0.7 * (not number), skill=number / 2, seed=number)
            for number, name in enumerate(names)]  # fmt: skip
    rows.append(always(asked, right, "organisation/a-rather-long-model-name-oracle"))
    history = [{"step": n, "epoch": n / 9, "loss": 9 / n, "validation_loss": 10 / n} for n in range(1, 10)]
    tuned = {
        name: {"adapter": {"name": name, "base": names[1], "revision": "r", "settings": {}, "history": history}}
        for name in names[2:4]
    }
    folder = write_choice(tmp_path_factory.mktemp("many") / "run", pd.concat(rows), models=tuned)
    return Frames(runs.open_runs(folder), {"resamples": 10})


@pytest.mark.parametrize("width", [plotting.PAGE, plotting.COLUMN])
@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("models", [1, 10])
def test_no_text_is_cut_or_overlaps_another(many, name, width, models):
    (frames,) = getattr(figures, f"build_{name}_frames")(many)
    chosen = many["choice"]["model"].unique()[:models]
    shown = [frame[frame["model"].isin(chosen)] if "model" in frame else frame for frame in frames]
    if shown[0].empty:
        pytest.skip("the first model has no adapter")
    check_figure(getattr(plots, f"draw_{name}")(*shown, width=width))
    caption = getattr(captions, f"caption_{name}")(*shown)
    check_caption(caption)
    assert too_long(caption) == []


def test_four_subsets_below_each_other_leave_room_for_a_caption_on_a_page_of_a_paper(many):
    ((rows, arrows),) = figures.build_choice_map_frames(many)
    one_model = rows[(rows["model"] == rows["model"].iloc[-1]) & (rows["subset"] == "general knowledge")]
    four = pd.concat([one_model.assign(subset=subset) for subset in ("algebra", "logic", "law", "anatomy")])
    drawn = plots.draw_choice_map(four, arrows.head(0), width=plotting.COLUMN)
    check_figure(drawn)
    assert 6 < drawn.get_size_inches()[1] < 7  # the text of `article` is 7.6 inches high


def test_an_infinite_xparacon_stands_above_the_line_and_is_told(many):
    ((rows, arrows),) = figures.build_choice_map_frames(many)
    drawn = plots.draw_choice_map(rows, arrows)
    axes = drawn.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()][-1] == "∞"
    line = next(line for line in axes.lines if len(set(line.get_ydata())) == 1 and line.get_linestyle() != "-")
    heights = np.concatenate([dots.get_offsets()[:, 1] for dots in axes.collections])
    part = rows[rows["subset"] == "general knowledge"]
    assert (heights > line.get_ydata()[0]).sum() == np.isinf(part["xparacon"]).sum() >= 1
    assert "it is infinite and stands above the dashed line" in captions.caption_choice_map(rows, arrows)


def test_arrows_join_tuned_models_to_their_base_under_the_same_prompt(many):
    ((rows, arrows),) = figures.build_choice_map_frames(many)
    shown, total = rows["label"].nunique(), many["choice"].drop_duplicates(["model", "condition"]).shape[0]
    assert shown <= figures.MOST < total
    assert f" Shown: {shown} of {total} models and conditions, " in captions.caption_choice_map(rows, arrows)
    for after, before in arrows.itertuples(index=False):
        assert "name-1b" in before and ("name-2b" in after or "name-3b" in after)
        assert after.partition(" · ")[2] == before.partition(" · ")[2]


def test_intervals_without_an_end_go_to_the_edge(many):
    ((frame,),) = figures.build_choice_xparacon_frames(many)
    drawn = plots.draw_choice_xparacon(frame)
    # The names of the models stand in an axes of their own, without a mark, where the rows bear numbers.
    ends_by_panel = [
        np.concatenate([line[:, 0] for lines in panel_lines for line in lines.get_segments()])
        for axes in drawn.axes
        if (panel_lines := [mark for mark in axes.collections if hasattr(mark, "get_segments")])
    ]
    assert len(ends_by_panel) == len(plots.list_panel_subsets(frame))
    assert all(np.isfinite(ends).all() for ends in ends_by_panel)


def test_tables_of_the_page_can_be_made_again(many):
    again = tables.build_table("choice", many.runs, resamples=10)
    pd.testing.assert_frame_equal(again, many["choice"])


def test_one_wording_has_accuracy_and_orders_and_no_xparacon(tmp_path):
    alone = ASKED[ASKED["pattern"] == "original"]
    made = page(tmp_path, always(alone, right))
    made.answer()
    row = made.frame("choice").iloc[0]
    assert (row["n_questions"], row["accuracy"], row["n_varying"]) == (100, 1.0, 0)
    assert np.isnan(row["xparacon"]) and not list(figures.build_choice_map_frames(made.frames))
    assert made._answer.setup == "1 model was asked 100 questions, each in 1 wording with its choices in 4 orders."
    assert made._answer.verdict.startswith("Hardly: 0 % ")
    assert "in all wordings." not in told(made._answer)


def test_one_wording_in_one_order_tells_nothing_about_others(tmp_path):
    made = page(tmp_path, always(ASKED[ASKED["variant"] == "original/1"], right))
    made.answer()
    assert made._answer.verdict == (
        "Each question was asked in one wording and one order: nothing is known about others. 100 % of the answers are "
        "right (interval 96 to 100 %)."
    )
    assert made.frame("choice").iloc[0]["accuracy"] == 1.0
    part = made.select_runs_that_fit_memory()
    choices = derive_choices_of_responses(part.responses(), part.wordings(), made.conditions_scoring_option_texts)
    keys = ["study", "model", "condition", "subset"]
    checked = made.check_against_package(
        "choice_consistency", compute_shares_of_unchanged_choices(choices), on=keys
    ).text
    assert "There was nothing to compare." in checked and "one table only" not in checked


def test_of_several_models_in_one_wording_the_accuracies_are_told(tmp_path):
    first = ASKED[ASKED["variant"] == "original/1"]
    found = said(tmp_path, pd.concat([always(first, right), always(first, lambda row: "A", "letters")]))
    share = 100 * (first.apply(right, axis=1) == "A").mean()
    assert found.verdict.endswith(f"Between {share:.0f} and 100 % of a model’s answers are right.")


def test_where_no_model_that_answers_was_asked_in_several_orders_nothing_is_told_about_others(tmp_path):
    first = ASKED[ASKED["variant"] == "original/1"]
    orders = ASKED[ASKED["variant"].isin(["original/1", "original/2"])]
    folders = [
        write_choice(tmp_path / "one", always(first, right), study="one"),
        write_choice(tmp_path / "two", always(orders, lambda row: None, "silent"), study="two"),
    ]
    made = ChoicePage([str(folder) for folder in folders], resamples=200)
    made.answer()
    assert made._answer.verdict == (
        "Where a model answers, each question was asked in one wording and one order: nothing is known about others. "
        "100 % of the answers of m · one are right (interval 96 to 100 %)."
    )
    assert any(caution.startswith("Not judged: silent") for caution in made._answer.cautions)


def test_models_asked_in_one_wording_do_not_count_among_those_compared_over_wordings(tmp_path):
    studies = {
        "orders": always(ASKED[ASKED["pattern"] == "original"], right),
        "both": some_changed(20, "a"),
        "wordings": always(ASKED[ASKED["variant"].str.endswith("/1")], right, "b"),
    }
    folders = [str(write_choice(tmp_path / name, rows, study=name)) for name, rows in studies.items()]
    made = ChoicePage(folders, resamples=200)
    made.answer()
    assert "On average over 2 models, " in told(made._answer)
    assert "with 0 of 1 model, " in told(made._answer) or "with 1 of 1 model, " in told(made._answer)


def name_by_examples(rows):
    """The first two wordings as the same question after 0 and 5 examples."""
    rows = rows[rows["pattern"] != "paraphrase_2"]
    names = {"original": "0-shot", "paraphrase_1": "5-shot"}
    attributes = [
        {**row["attributes"], "template": names[row["pattern"]]}
        for row in rows[["attributes", "pattern"]].to_dict("records")
    ]
    return rows.assign(attributes=attributes)


def test_a_verdict_about_numbers_of_examples_is_not_about_wordings(tmp_path):
    asked = name_by_examples(questions(100, 1, choices=(4,)))
    found = said(tmp_path, always(asked, right))
    assert found.verdict == (
        "Hardly, with other numbers of examples: 0 % of the questions do not get one choice with all of them."
    )
    several = said(tmp_path, pd.concat([always(asked, right, name) for name in "ab"]))
    assert several.verdict == (
        "Hardly, with each of 2 models. What changed is the number of examples, not the wording."
    )
    orders = said(tmp_path, always(name_by_examples(ASKED), right))
    assert orders.verdict.endswith("do not get one choice with all of them and in all orders.")


def test_questions_that_were_not_asked_do_not_count(tmp_path):
    rows = always(ASKED, right)
    rows.loc[rows["item"] == ASKED["item"].iloc[0], "model"] = None
    assert said(tmp_path, rows).setup.startswith("1 model was asked 99 questions, ")


def logged(mass, upper):
    """A log of two wordings, `0-shot` and `5-shot`, in one order; its probabilities may be lower bounds."""
    asked = questions(100, 1, choices=(4,))
    asked = asked[asked["pattern"] != "paraphrase_2"]
    names = {"original": "0-shot", "paraphrase_1": "5-shot"}
    rows = answers(asked, conditions=[LETTER], mass=mass).assign(mass_upper=upper)
    return rows.assign(pattern=rows["pattern"].map(names), variant=rows["pattern"].map(names) + "/1")


def test_any_wordings_are_compared_and_one_order_is_said(of_letters, tmp_path):
    """Wordings of other tools' logs have other names, and no original."""
    made = page(tmp_path, logged(0.9, 1.0))
    made.answer()
    assert too_long(*made._answer.cautions) == []
    assert made._answer.setup == "1 model was asked 100 questions, each in 2 wordings with its choices in 1 order."
    assert made._answer.verdict.endswith(" of the questions do not get one choice in all wordings.")
    assert made.frame("choice_wordings")["wording"].tolist()[:2] == ["0-shot", "5-shot"]
    alike = logged(0.9, 1.0).assign(answer="B", probability=None, logprob=None, mass=None, mass_upper=None)
    assert "Each choice stood at one letter only" in told(said(tmp_path, alike))
    assert "Each choice stood at one letter only" not in told(of_letters)


@pytest.mark.parametrize(
    ("mass", "upper", "verdict", "caution"),
    [
        (
            0.3,
            1.0,
            "Whether this model answers cannot be told: between 30 % and 100 % of",
            "m (between 30 % and 100 %)",
        ),
        (0.9, 1.0, "", "At least 90 %"),
        (0.3, 0.4, "This model does not answer.", "(or of the texts can be read as one): between 30 % and 40 %"),
        (0.3, None, "This model does not answer.", "(or of the texts can be read as one): 30 %."),
    ],
)
def test_a_verdict_on_validity_follows_both_bounds_of_the_mass(tmp_path, mass, upper, verdict, caution):
    """By hand: between 0.3 and 1 a model may answer or not, and is not judged; at most 0.4, it does not."""
    made = page(tmp_path, logged(mass, upper))
    made.answer()
    row = made.frame("choice").iloc[0]
    assert row["validity"] == pytest.approx(mass)
    assert row["validity_at_most"] == pytest.approx(np.nan if upper is None else upper, nan_ok=True)
    assert made._answer.verdict.startswith(verdict)
    assert ("do not get one choice" in made._answer.verdict) == (not verdict)
    assert caution in " ".join(made._answer.cautions)


def test_the_numbers_of_the_accuracy_axis_are_those_of_its_strokes():
    """Of four questions in two wordings, strokes at .475 and .525 were called .48 and .53."""
    row = {"model": "a", "label": "a", "condition": "c", "subset": "all", "accuracy": 0.625, "chance": 0.5,
           "xparacon": 3.0, "silent": False}  # fmt: skip
    axis = plots.draw_choice_map(pd.DataFrame([row]), pd.DataFrame(columns=["after", "before"])).axes[0].xaxis
    written = [float(label.get_text()) for label in axis.get_ticklabels()]
    np.testing.assert_allclose(written, axis.get_ticklocs(), atol=1e-9)


def test_a_model_that_answers_in_one_of_two_studies_is_named_with_its_study(tmp_path):
    rows = {"quiz": letters("a"), "exam": always(ASKED, lambda row: None, "a")}
    folders = [str(write_choice(tmp_path / study, rows[study], study=study, temperature=None)) for study in rows]
    page_of_both = ChoicePage(folders, resamples=20)
    page_of_both.answer()
    assert page_of_both._answer.verdict == chance.ONCE
    assert page_of_both._answer.cautions[0].startswith("Chance and wording are not told apart for a · quiz.")
    assert "The largest preference is that of a · quiz:" in told(page_of_both._answer)
    folders = [str(write_choice(tmp_path / f"sure {study}", rows[study], study=study)) for study in rows]
    page_of_both = ChoicePage(folders, resamples=20)
    page_of_both.answer()
    assert page_of_both._answer.verdict.startswith("Yes: with a · quiz, 97 % of the questions")


def test_pairs_of_two_studies_are_corrected_by_themselves():
    """25 pairs of each study can differ with 1,000 draws; 50 together could not."""
    pairs = pd.DataFrame({"study": ["s"] * 25 + ["t"] * 25, "subset": "all", "a_model": "a", "b_model": "b",
                          "a_condition": "c", "b_condition": "c", "measure": "accuracy", "p_holm": 1.0,
                          "p_least": 2 / 1001})  # fmt: skip
    answering = pd.DataFrame([
        {"study": study, "model": model, "condition": "c", "subset": "all", "label": model}
        for study in "st" for model in "ab"
    ])  # fmt: skip
    (line,) = narrative._describe_holm_significant_pair_counts(pairs, answering, questions_share_wordings=False)
    assert line == "In accuracy, 0 of 50 pairs of models differ after Holm."


def test_pairs_with_a_model_that_does_not_answer_are_in_the_family_of_holm():
    """40 pairs were corrected, 10 of models that answer: "0 of 10 differ" was said, though none of 40 could."""
    pairs = pd.DataFrame({"study": "s", "subset": "all", "a_model": "a", "b_model": ["b"] * 10 + ["silent"] * 30,
                          "a_condition": "c", "b_condition": "c", "measure": "accuracy", "p_holm": 1.0,
                          "p_least": 2 / 1001})  # fmt: skip
    answering = pd.DataFrame([
        {"study": "s", "model": model, "condition": "c", "subset": "all", "label": model} for model in "ab"
    ])  # fmt: skip
    (line,) = narrative._describe_holm_significant_pair_counts(pairs, answering, questions_share_wordings=False)
    assert line.startswith("Accuracy: 40 pairs compared: no difference could be shown.")
    assert line.endswith("the smallest p value after Holm is 0.08.")
