"""Multiple-choice questions: what is refused, items, subsets, and the orders of the choices."""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import permutations

import pytest

from ground.errors import InputError
from inference.stimuli import questions
from inference.stimuli.questions import Question

TEA = {"question": "What do people pour into a cup?", "choices": ["sand", "tea", "wood", "stone"], "answer": "B"}


def written(tmp_path, *rows, name="tea.jsonl"):
    path = tmp_path / name
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def refused(tmp_path, *rows):
    with pytest.raises(InputError) as error:
        questions.read_questions(written(tmp_path, *rows))
    return str(error.value)


def test_a_question_without_id_is_called_after_file_and_line(tmp_path):
    found = questions.read_questions(written(tmp_path, TEA, TEA | {"item": "cup"}))
    assert found[0] == Question("tea-1", TEA["question"], ("sand", "tea", "wood", "stone"), 1)
    assert (found[1].item, found[1].letter_of_right_choice) == ("cup", "B")


def test_everything_that_a_study_file_holds_is_read(tmp_path):
    row = TEA | {"item": "cup", "paraphrases": ["What goes into a cup?", "A cup is filled with what?"],
                 "subset": "kitchen", "source": "mine", "split": "test", "orders": [[3, 1, 0, 2], [0, 1, 2, 3]],
                 "passage": "Mary has a cup."}  # fmt: skip
    (found,) = questions.read_questions(written(tmp_path, row))
    assert found == Question(
        "cup", TEA["question"], ("sand", "tea", "wood", "stone"), 1, tuple(row["paraphrases"]), "kitchen", "mine",
        "test", ((3, 1, 0, 2), (0, 1, 2, 3)), "Mary has a cup.",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "place"), [("A", 0), ("D", 3), (0, 0), (3, 3), ("3", 3), ("tea", 1), (" stone ", 3), (2.0, None)]
)
def test_the_answer_is_a_letter_an_index_from_0_or_the_choice_itself(tmp_path, answer, place):
    if place is None:
        assert "not among the choices" in refused(tmp_path, TEA | {"answer": answer})
    else:
        assert questions.read_questions(written(tmp_path, TEA | {"answer": answer}))[0].answer == place


def test_a_capital_letter_is_a_letter_even_where_choices_are_letters(tmp_path):
    row = {"question": "Which letter comes second?", "choices": ["B", "A", "D", "C"], "answer": "B"}
    assert questions.read_questions(written(tmp_path, row))[0].answer == 1


def test_a_number_that_may_be_an_index_or_another_choice_is_refused(tmp_path):
    row = {"question": "How many?", "choices": ["1", "2", "3", "4"], "answer": "2"}
    assert "may be an index or the text of another choice; write its letter, A to D" in refused(tmp_path, row)
    assert (
        questions.read_questions(written(tmp_path, row | {"answer": 2}))[0].answer == 2
    )  # a number in JSON is an index
    assert questions.read_questions(written(tmp_path, row | {"answer": "4"}))[0].answer == 3  # there is no index 4


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"answer": "E"}, "answer 'E' is not among the choices; write its letter, A to D"),
        ({"answer": "b"}, "answer 'b' is not among the choices"),
        ({"answer": 4}, "answer 4 is not among the choices; give an index from 0 to 3"),
        ({"answer": -1}, "answer -1 is not among the choices"),
        ({"answer": True}, "answer True is not among the choices"),
        ({"answer": None}, "answer nothing is not among the choices"),
        ({"choices": ["tea", "sand", " tea", "stone"]}, "choices A and C are equal ('tea')"),
        ({"choices": ["tea"], "answer": "A"}, "needs 2 to 26 choices (each has a capital letter), and this has 1"),
        ({"choices": list(map(str, range(30)))}, "needs 2 to 26 choices (each has a capital letter), and this has 30"),
        ({"choices": ["tea", ""]}, "choices must be texts, and one is ''"),
        ({"choices": "tea, sand"}, "choices must be a list"),
        ({"choices": None}, "there are no choices"),
        ({"question": " "}, "there is no question"),
        ({"question": 7}, "there is no question"),
        ({"item": ""}, "item must be the number or name"),
        ({"split": "dev"}, "split must be train, validation or test, not 'dev'"),
        ({"subset": 3}, "subset must be text"),
        ({"paraphrases": ["What?", None]}, "paraphrases must be texts, and one is nothing"),
        ({"orders": [[0, 1, 2]]}, "orders must be lists such as [0, 1, 2, 3]"),
        ({"orders": [[0, 1, 2, True]]}, "orders must be lists such as [0, 1, 2, 3]"),
        ({"orders": [[0, 1, 2, 3], [0, 1, 2, 3]]}, "an order of the choices is there twice"),
    ],
)
def test_what_cannot_be_asked_is_one_line_that_names_the_row(tmp_path, change, words):
    message = refused(tmp_path, TEA, TEA | change)
    assert "tea.jsonl, line 2: " in message
    assert words in message


def test_an_item_that_is_there_twice_and_a_cut_line(tmp_path):
    assert "line 2: item 'cup' is there twice, first in line 1" in refused(
        tmp_path, TEA | {"item": "cup"}, TEA | {"item": "cup"}
    )
    path = written(tmp_path, TEA)
    path.write_text(path.read_text() + "\n" + json.dumps(TEA)[:40])
    with pytest.raises(InputError, match=r"line 2: malformed JSON"):
        questions.read_questions(path)


def test_questions_with_equal_choices_can_be_passed_over(tmp_path):
    path, equal = written(tmp_path, TEA | {"choices": ["tea", "tea", "a", "b"]}, TEA), []
    assert [each.item for each in questions.read_questions(path, equal)] == ["tea-2"]
    assert "line 1: choices A and B are equal" in str(equal[0])
    assert equal[0].question.item == "tea-1"


def test_the_orders_are_distinct_and_a_larger_count_begins_with_the_smaller_one():
    eight = questions.draw_choice_orders("cup", 4, 8, seed=1)
    assert len(set(eight)) == 8
    assert all(sorted(order) == [0, 1, 2, 3] for order in eight)
    assert questions.draw_choice_orders("cup", 4, 3, seed=1) == eight[:3]
    assert set(questions.draw_choice_orders("cup", 4, 24, seed=1)) == set(permutations(range(4)))
    others = [questions.draw_choice_orders("cup", 4, 8, seed=2), questions.draw_choice_orders("jug", 4, 8, seed=1)]
    assert all(other != eight for other in others)


def test_more_orders_than_there_are_is_refused():
    assert len(questions.draw_choice_orders("cup", 3, 6, seed=1)) == 6
    with pytest.raises(InputError, match="3 choices have 6 orders, not 8"):
        questions.draw_choice_orders("cup", 3, 8, seed=1)


def test_every_choice_stands_at_every_place_equally_often():
    n = 3000
    places = Counter(
        (place, choice)
        for number in range(n)
        for place, choice in enumerate(questions.draw_choice_orders(f"item {number}", 5, 1, seed=7)[0])
    )
    assert len(places) == 25
    spread = math.sqrt(n * 0.2 * 0.8)
    assert all(abs(count - n / 5) < 5 * spread for count in places.values())


def test_published_files_are_read(shared):
    equal: list[questions.EqualChoices] = []
    arc = questions.read_questions(shared / "mcq" / "ARC-Challenge-Test.jsonl")
    common = questions.read_questions(shared / "mcq" / "dev_rand_split.jsonl", equal)
    assert (len(arc), len(common), len(equal)) == (1172, 1197, 24)
    assert {each.source for each in arc} == {"arc"}
    assert {each.source for each in common} == {"commonsense_qa"}
    assert Counter(len(each.choices) for each in arc) == {4: 1165, 3: 4, 5: 3}
