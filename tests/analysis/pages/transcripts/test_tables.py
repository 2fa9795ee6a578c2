"""Which items and wordings are the examples, by hand; and that prompts and answers belong together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from analysis import runs
from analysis.pages.transcripts import tables
from analysis.pages.transcripts.page import TranscriptsPage
from helpers.choice_runs import answers, questions, write_choice
from helpers.scored_runs import draw_scores, write_scored
from helpers.scoring_runs import one_judge
from helpers.synthetic import edit_run_json, paraphrases, random_frame, write_run

VALUES = {"calm": [0.5, 0.5, 0.5], "wild": [0.0, 1.0, 0.5], "tame": [0.4, 0.5, 0.6], "odd": [0.3, 0.6, 0.4]}


def asked(entries, prompt="<s>Agree?") -> dict:
    form = [{"role": None, "content": ["Agree? ", {"column": "text"}]}]
    return {"models": entries, "item": "calm", "variant": "p1", "prompt": prompt, "characters": len(prompt),
            "wordings": form}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    rows = paraphrases(VALUES, original=0.5)
    rows["text"] = rows["item"] + ", " + rows["variant"] + " <b>"
    both = pd.concat([rows.assign(model=name) for name in ("a", "b")], ignore_index=True)
    path = write_run(tmp_path / "run", both)
    edit_run_json(path, asked={"plain/yes-no": [asked(["a"]), {**asked(["b"]), "wordings": None, "inexact": "so"}]})
    return path


def test_items_are_ordered_by_how_far_their_wordings_are_apart(folder):
    frame = tables.order_items_and_mark_examples(runs.open_runs(folder))
    assert frame["item"].tolist() == ["wild", "odd", "tame", "calm"]
    assert frame["transcript_value"].tolist() == pytest.approx([1.0, 0.3, 0.2, 0.0])
    assert frame["shown"].tolist() == ["first", "middle", "", "last"]
    assert frame["n_units"].tolist() == [2] * 4
    assert set(frame["measure"]) == {"spread"}


def test_the_original_and_the_ends_of_every_example_are_shown(folder):
    frame = tables.tabulate_transcript_prompts(runs.open_runs(folder))
    assert frame["item"].drop_duplicates().tolist() == ["wild", "odd", "calm"]
    wild = frame[frame["item"] == "wild"]
    assert set(wild["variant"]) == {"original", "p1", "p2"}  # p3 lies between them
    assert len(set(frame["prompt_number"])) == len(frame)


def test_a_prompt_is_exact_or_unknown_and_its_answers_are_those_of_its_models(folder):
    opened = runs.open_runs(folder)
    prompts, answers = tables.tabulate_transcript_prompts(opened), tables.tabulate_transcript_answers(opened)
    for row in prompts.to_dict("records"):
        own = answers[answers["prompt_number"] == row["prompt_number"]]
        assert set(own["variant"]) == {row["variant"]}
        assert len(own) == row["n_models"] == 1
        known = own["model"].iloc[0] == "a"
        recorded = (row["item"], row["variant"]) == ("calm", "p1")
        wanted = f"Agree? {row['text']}" if known else "<s>Agree?" if recorded else ""
        assert row["prompt"] == wanted
        assert bool(row["unknown"]) == (not wanted)


def test_scores_order_items_with_one_wording(tmp_path):
    folder, _ = one_judge(tmp_path / "run", [3, 9, 1], [30, 90, 10]), None
    frame = tables.order_items_and_mark_examples(runs.open_runs(folder))
    assert set(frame["measure"]) == {"score"}
    assert frame["transcript_value"].is_monotonic_decreasing
    assert frame["shown"].tolist() == ["first", "middle", "last"]
    assert frame["transcript_value"].between(0, 1).all()


def test_of_items_with_scores_the_wordings_at_the_ends_are_shown(tmp_path):
    """The first wording stands for the original; two models, five wordings."""
    scores = draw_scores(["a", "b"], items=4, wordings=5)
    opened_runs = runs.open_runs(write_scored(tmp_path / "run", scores))
    prompts = tables.tabulate_transcript_prompts(opened_runs)
    means = scores.groupby(["item", "variant"])["score"].mean()
    for item, variants in prompts.groupby("item")["variant"]:
        assert set(variants) == {"w0", means[item].idxmin(), means[item].idxmax()}


@pytest.mark.slow
def test_of_one_and_of_two_items_no_middle_one_is_told(tmp_path):
    for number, (shown, sentence) in enumerate([
        (["first"], "the one item whose wordings can be compared"),
        (["first", "last"], "the item whose wordings are answered most differently, and the one answered most alike"),
    ]):  # fmt: skip
        rows = paraphrases({f"i{place}": [0.1, 0.9 - place / 2] for place in range(number + 1)})
        page = TranscriptsPage([str(write_run(tmp_path / str(number), rows))])
        assert tables.order_items_and_mark_examples(page.runs)["shown"].tolist() == shown
        page.answer()
        assert f"Shown: {sentence}." in page.table("transcript_items").text


def test_of_items_that_are_all_alike_none_is_called_the_most_different(tmp_path):
    rows = random_frame(items=3, paraphrases=2).assign(agreement=0.7)
    page = TranscriptsPage(str(write_run(tmp_path / "run", rows)))
    page.answer()
    assert page._details["transcript_items"] == (
        "Shown: items from all over the study, because no item's wordings are answered more differently than "
        "another's.",
    )


def test_where_nothing_can_be_compared_items_from_all_over_are_shown(opened):
    rows = paraphrases({"x": [np.nan, np.nan], "y": [np.nan, np.nan], "z": [np.nan, np.nan]}).assign(mass=0.0)
    frame = tables.order_items_and_mark_examples(opened(rows.assign(probability=[[0.0, 0.0]] * 6)))
    assert frame["transcript_value"].isna().all()
    assert frame["shown"].tolist() == ["first", "middle", "last"]
    assert set(frame["measure"]) == {""}


def test_items_that_no_model_was_asked_about_yet_are_no_examples(tmp_path):
    rows = answers(questions(9, 3), ["m"], conditions=["plain/base/letters"])
    folder = write_choice(tmp_path / "run", rows)
    (part,) = (folder / "responses").glob("*.parquet")
    table = pq.read_table(part)
    pq.write_table(table.filter(pc.is_in(table["item"], pa.array(["q001", "q002", "q004"]))), part)
    page = TranscriptsPage([str(folder)])
    items = page.frame("transcript_items").set_index("item")["shown"]
    assert items[items != ""].to_dict() == {"q001": "first", "q002": "middle", "q004": "last"}
    assert page.answer().text and page.first_transcript().text and page.examples().text


@pytest.mark.slow
def test_no_order_is_told_where_there_is_none(folder, tmp_path):
    """Items of right and wrong answers to one wording were called ordered by how far their wordings are apart."""
    bare = write_run(tmp_path / "bare", paraphrases({"x": [np.nan], "y": [np.nan]}).assign(mass=0.0))
    page = TranscriptsPage([str(bare)])
    page.answer()
    table = page.table("transcript_items").text
    assert "items from all over the study, because no answers order them" in table
    for said in (table, page.method().text):
        assert "ordered by" not in said.lower() and "the middle one" not in said
    assert "conditions" not in table.lower()  # the number of models and conditions is 0 in all rows
    ordered = TranscriptsPage([str(folder)]).method().text
    assert "Items are ordered by how far" in ordered and "from all over the study" not in ordered


@pytest.mark.slow
def test_the_page_escapes_what_models_and_items_say_and_opens_one_prompt_a_wording(folder):
    page = TranscriptsPage([str(folder)])
    answer, html = page.answer().text, page.examples().text
    assert "The page shows 3 items with prompts and answers, word for word." in answer
    assert "2 models were asked about 4 items" in answer
    assert "Agree? wild, p1 &lt;b&gt;" in html
    assert "<b>wild" not in html and "p1 <b>" not in html
    assert html.count("<details open>") == html.count("<h4>")
    assert "The rest of the prompt, if any, is not known. It is recorded for item calm, variant p1, only (so)." in html
    assert ", if any, is not known. It is recorded for item calm" in page.cautions().text


@pytest.mark.slow
def test_all_models_that_were_asked_are_counted_and_not_those_of_the_examples_alone(tmp_path):
    """An import may hold models that answered other items: the index counted two of them, and this page one."""
    rows = paraphrases(VALUES, original=0.5, model="a")
    other = paraphrases({"far": [0.3, 0.7]}, original=0.5, model="b")
    page = TranscriptsPage([str(write_run(tmp_path / "run", pd.concat([rows, other], ignore_index=True)))])
    text = page.answer().text
    assert "2 models were asked about 5 items." in text and set(page.frame("transcript_answers")["model"]) == {"a"}


def test_the_page_begins_with_a_transcript(folder):
    page = TranscriptsPage([str(folder)])
    first = page.first_transcript().text
    assert first.count("<h2>") == first.count("<h3>") == first.count("<details open>") == first.count("<li>") == 1
    assert "<h2>wild <small>synthetic</small></h2>" in first and "<li><b>a</b>: " in first
    assert "<pre tabindex" in first and "Agree? wild, original &lt;b&gt;" in first


@pytest.mark.slow
def test_the_first_transcript_stands_once(folder):
    page = TranscriptsPage([str(folder)])
    first, examples = page.first_transcript().text, page.examples().text
    assert "Its prompt under plain/yes-no stands at the top of this page." in examples
    assert "Agree? wild, original &lt;b&gt;" in first and "Agree? wild, original &lt;b&gt;" not in examples
    assert "Agree? wild, p1 &lt;b&gt;" in examples


def test_a_first_transcript_is_cut_and_shows_four_models(tmp_path):
    rows = paraphrases({"x": [0.2, 0.8]}, original=0.5)
    rows["text"] = "y" * 2_000 + rows["variant"]
    several = pd.concat([rows.assign(model=name) for name in "abcde"], ignore_index=True)
    path = write_run(tmp_path / "run", several)
    entry = asked(list("abcde")) | {"item": "x", "prompt": f"Agree? {'y' * 2_000}p1"}
    edit_run_json(path, asked={"plain/yes-no": [entry | {"characters": len(entry["prompt"])}]})
    page = TranscriptsPage([str(path)])
    first = page.first_transcript().text
    assert first.count("<li>") == 4 and "And 1 more model:" in first
    assert "at the top of this page" not in page.examples().text  # where all of it stands
    assert "more characters." in first and "y" * 1_201 not in first.split("<pre")[1].split("</pre>")[0]


@pytest.mark.slow
def test_without_prompts_the_page_says_so(opened, tmp_path):
    folder = write_run(tmp_path / "bare", paraphrases(VALUES))
    page = TranscriptsPage([str(folder)])
    assert "with answers, word for word" in page.answer().text
    assert "The run does not hold its prompts" in page.cautions().text
    first = page.first_transcript().text
    assert "The prompt is not known" not in first  # the wording may be all of it, as in many logs
    assert "The rest of the prompt, if any, is not known. The run does not hold its prompts: it was imported" in first
