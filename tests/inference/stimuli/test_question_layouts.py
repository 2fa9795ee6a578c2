"""The layouts in which multiple-choice questions are published: each gives the same question."""

from __future__ import annotations

import csv
import json

import pandas as pd
import pytest

from ground.errors import InputError
from inference.stimuli import questions

TEXT = "What do people pour into a cup?"
CHOICES = ("sand", "tea", "wood", "stone")
LABELLED = [{"label": label, "text": text} for label, text in zip("ABCD", CHOICES, strict=True)]
COLUMNS = {"label": list("ABCD"), "text": list(CHOICES)}
STEM = {"stem": TEXT, "choices": LABELLED}
NUMBERED = [{"label": str(number), "text": text} for number, text in enumerate(CHOICES, start=1)]


def read(tmp_path, row, name="one.jsonl"):
    (tmp_path / name).write_text(json.dumps(row), encoding="utf-8")
    (found,) = questions.read_questions(tmp_path / name)
    return found


def table(tmp_path, *rows, name="one.csv"):
    with (tmp_path / name).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return questions.read_questions(tmp_path / name)


def lines(error):
    return str(error.value)


@pytest.mark.parametrize(
    ("row", "item", "source", "subset"),
    [
        ({"id": "x1", "question": STEM, "answerKey": "B"}, "x1", "arc", "general knowledge"),
        ({"id": "x1", "question": STEM | {"choices": NUMBERED}, "answerKey": "2"}, "x1", "arc", "general knowledge"),
        ({"id": "x1", "question": TEXT, "choices": COLUMNS, "answerKey": "B"}, "x1", "arc", "general knowledge"),
        ({"id": "x1", "question": STEM | {"question_concept": "cup"}, "answerKey": "B"}, "x1", "commonsense_qa",
         "general knowledge"),
        ({"id": "x1", "question": TEXT, "question_concept": "cup", "choices": COLUMNS, "answerKey": "B"}, "x1",
         "commonsense_qa", "general knowledge"),
        ({"question": TEXT, "subject": "tea", "choices": CHOICES, "answer": 1}, "one-1", "mmlu", "general knowledge"),
        ({"Problem": TEXT, "Rationale": "r", "options": "a ) sand , b ) tea , c ) wood , d ) stone", "correct": "b",
          "category": "general"}, "one-1", "math_qa", "math reasoning"),
        ({"context": "", "question": TEXT, "choices": CHOICES, "label": 1, "source_dataset": "math_qa"}, "one-1",
         "math_qa", "math reasoning"),
        ({"context": "", "question": TEXT, "choices": CHOICES, "label": 1, "source_dataset": "arc_easy"}, "one-1",
         "arc_easy", "general knowledge"),
        ({"question": TEXT, "choices": CHOICES, "answer": "tea"}, "one-1", None, None),
    ],
)  # fmt: skip
def test_every_layout_gives_the_question(tmp_path, row, item, source, subset):
    found = read(tmp_path, row)
    assert (found.question, found.choices, found.answer) == (TEXT, CHOICES, 1)
    assert (found.item, found.source, found.subset, found.passage) == (item, source, subset, None)


def test_the_files_of_mmlu_have_no_header(tmp_path):
    rows = [("Is it, after all, tea?", "no", "yes", "1,000", "who knows", "B"), (TEXT, *CHOICES, "D")]
    first, second = table(tmp_path, *rows, name="tea_test.csv")
    assert (first.item, first.choices, first.answer) == ("tea_test-1", ("no", "yes", "1,000", "who knows"), 1)
    assert (second.item, second.answer, second.source) == ("tea_test-2", 3, "mmlu")
    with pytest.raises(InputError) as error:
        table(tmp_path, *rows, (TEXT, "a", "b", "A"))
    assert "one.csv, row 3: 4 cells where MMLU has 6" in lines(error)


def test_our_own_table_has_a_column_per_choice_or_a_list(tmp_path):
    (found,) = table(
        tmp_path,
        ("item", "question", "A", "B", "C", "D", "answer", "paraphrase_1", "paraphrase_2"),
        ("cup", TEXT, *CHOICES, "tea", "A cup holds what?", "What is in a cup?"),
    )
    assert (found.choices, found.answer, found.paraphrases) == (CHOICES, 1, ("A cup holds what?", "What is in a cup?"))
    (found,) = table(
        tmp_path,
        ("question", "choices", "answer", "paraphrases", "orders"),
        (TEXT, json.dumps(CHOICES), "1", '["A cup holds what?"]', "[[3, 2, 1, 0]]"),
    )
    assert (found.choices, found.answer, found.orders) == (CHOICES, 1, ((3, 2, 1, 0),))
    assert found.paraphrases == ("A cup holds what?",)


@pytest.mark.parametrize("kind", ["csv", "parquet", "json"])
def test_an_empty_cell_is_no_choice_and_no_paraphrase_in_any_kind_of_table(tmp_path, kind):
    rows = pd.DataFrame({
        "question": [TEXT, "Is it tea?"], "A": ["sand", "no"], "B": ["tea", "yes"], "C": ["wood", None],
        "answer": ["B", "B"], "paraphrase_1": ["A cup holds what?", "Tea, is it?"],
        "paraphrase_2": ["What is in a cup?", None],
    })  # fmt: skip
    path = tmp_path / f"one.{kind}"
    if kind == "parquet":
        rows.to_parquet(path)
    elif kind == "json":
        rows.to_json(path, orient="records")
    else:
        rows.to_csv(path, index=False)
    first, second = questions.read_questions(path)
    assert (first.choices, first.paraphrases) == (CHOICES[:3], ("A cup holds what?", "What is in a cup?"))
    assert (second.choices, second.paraphrases) == (("no", "yes"), ("Tea, is it?",))


def test_a_passage_is_told_apart_from_its_question(tmp_path):
    row = {"context": "Mary has a cup.", "question": TEXT, "choices": CHOICES, "label": 0, "source_dataset": "race"}
    found = read(tmp_path, row)
    assert (found.passage, found.source, found.subset) == ("Mary has a cup.", "race", None)


@pytest.mark.parametrize(
    ("options", "choices"),
    [
        ("a ) 38 , b ) 27.675 , c ) 30 , d ) data inadequate , e ) none of these",
         ("38", "27.675", "30", "data inadequate", "none of these")),
        ("a ) rs . 1,200 , b ) rs . 4,300", ("rs . 1,200", "rs . 4,300")),
        ("a)1/2, b)f ( b ) , c ) 3 , 4", ("1/2", "f ( b )", "3 , 4")),
        ("['a ) 1 / 8', 'b ) 2', 'c ) 3']", ("1 / 8", "2", "3")),
    ],
)  # fmt: skip
def test_the_options_of_mathqa_are_split_at_their_letters(tmp_path, options, choices):
    found = read(tmp_path, {"Problem": TEXT, "options": options, "correct": "b"})
    assert (found.choices, found.answer) == (choices, 1)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"id": "1", "question": STEM, "answerKey": "E"}, "answerKey 'E' is not among the choices; give one of A, B"),
        ({"id": "1", "question": STEM}, "answerKey nothing is not among the choices"),
        ({"id": "1", "question": {"stem": TEXT}, "answerKey": "A"}, "choices must each have a label and a text"),
        ({"id": "1", "question": STEM | {"choices": [*LABELLED, LABELLED[0]]}, "answerKey": "A"},
         "two choices have the same label"),
        ({"Problem": TEXT, "options": "38, 27", "correct": "a"}, "options must be as in 'a ) 38 , b ) 27.675"),
        ({"Problem": TEXT, "options": "a ) 1 , b ) 2", "correct": "c"}, "correct 'c' is not among the choices"),
        ({"question": TEXT, "choices": CHOICES, "label": 4}, "label 4 is not among the choices; give an index from 0"),
        ({"question": TEXT, "choices": CHOICES, "label": "B"}, "label 'B' is not among the choices"),
        ({"question": TEXT, "choices": CHOICES, "label": "\u00b2"}, "is not among the choices; give an index"),
        ({"Problem": TEXT, "options": "a ) 1 , b ) 2", "correct": ""}, "correct '' is not among the choices"),
        ({"Problem": TEXT, "options": "a ) 1 , b ) 2", "correct": "ab"}, "correct 'ab' is not among the choices"),
        ({"question": TEXT, "choices": "['sand' 'tea']", "answer": "A"}, "choices must be a list as in"),
        ({"question": TEXT, "A": "sand", "C": "tea", "answer": "A"}, "columns A, B, C ... without gap"),
    ],
)  # fmt: skip
def test_a_record_that_its_layout_does_not_know_is_refused(tmp_path, row, words):
    with pytest.raises(InputError) as error:
        read(tmp_path, row)
    assert words in lines(error)
    assert "one.jsonl, line 1: " in lines(error)
