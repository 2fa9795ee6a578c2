"""What people answered, read from a file: both forms give the same people, and every fault is one line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.measures.people_file import Item, read_answers_of_people_by_study
from ground.errors import InputError

LABELS = ("Disagree", "Neither", "Agree")
ITEMS = {"study": (Item("tea", LABELS), Item("rain", LABELS), Item("sun", LABELS))}
TABLE = "item,option,share,n\ntea,Disagree,0.2,50\ntea,Neither,0.3,50\ntea,Agree,0.5,50\n"


def write(folder: Path, content: str) -> str:
    (folder / "people.csv").write_text(content, encoding="utf-8")
    return str(folder / "people.csv")


def test_shares(tmp_path):
    people = read_answers_of_people_by_study(write(tmp_path, TABLE), ITEMS)["study"]
    assert people.shares[0].tolist() == [0.2, 0.3, 0.5] and people.n[0] == 50
    assert people.items == ("tea", "rain", "sun") and people.ranks is None
    assert np.isnan(people.shares[1:]).all()


def test_both_forms_give_the_same_people(tmp_path):
    answers = pd.DataFrame({
        "respondent": range(7), "age": 30, "tea": ["Agree", "Agree", "Neither", "", "Disagree", "Agree", "Neither"],
        "sun": ["1", "3.0", "2", "2", "", "", "3"],
    })  # fmt: skip
    answers.to_csv(tmp_path / "wide.csv", index=False)
    wide = read_answers_of_people_by_study(str(tmp_path / "wide.csv"), ITEMS)
    counts = "item,option,count\ntea,Agree,3\ntea,Neither,2\ntea,Disagree,1\nsun,1,1\nsun,2,2\nsun,Agree,2\n"
    long = read_answers_of_people_by_study(write(tmp_path, counts), ITEMS)
    for place in (0, 2):
        np.testing.assert_array_equal(wide["study"].shares[place], long["study"].shares[place])
    np.testing.assert_array_equal(wide["study"].n, [6, 0, 5])
    np.testing.assert_array_equal(long["study"].n, [6, 0, 5])
    assert wide["study"].ranks is not None


def test_rounded_shares_are_made_to_sum_to_1(tmp_path):
    people = read_answers_of_people_by_study(write(tmp_path, TABLE.replace("0.2", "0.21")), ITEMS)["study"]
    np.testing.assert_allclose(people.shares[0], np.array([0.21, 0.3, 0.5]) / 1.01, atol=1e-15)


def test_an_option_without_a_row_has_no_answers_and_n_may_be_unknown(tmp_path):
    people = read_answers_of_people_by_study(write(tmp_path, "item,option,share\ntea,Agree,1\n"), ITEMS)["study"]
    assert people.shares[0].tolist() == [0, 0, 1] and np.isnan(people.n[0])


def test_labels_that_are_numbers_are_never_ranks():
    """Of 0 to 10, "1" is the second option and "11" none."""
    item = Item("tea", tuple(map(str, range(11))))
    assert [item.find_place_of_option_or_none(text) for text in ("0", "1", "10", "11", "1.0")] == [0, 1, 10, None, 1]
    texts = ("1", "3.0", "0", "4", "Agree", "agree", "2.5", "-1", "9" * 400)
    places = [Item("tea", LABELS).find_place_of_option_or_none(text) for text in texts]
    assert places == [0, 2, None, None, 2, None, None, None, None]


def test_items_of_several_studies(tmp_path):
    other = {"other": (Item("wind", LABELS[:2]),)}
    file = write(tmp_path, TABLE + "wind,Neither,1,9\n")
    by_study = read_answers_of_people_by_study(file, {**ITEMS, **other})
    assert by_study["study"].n[0] == 50 and by_study["other"].shares.tolist() == [[0, 1]]
    assert list(read_answers_of_people_by_study(write(tmp_path, TABLE), {**ITEMS, **other})) == ["study"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("item,option,share,n\n", "no row in it"),
        ("a,b\n1,2\n", "none of its columns is an item"),
        ("item,option\ntea,Agree\n", "has neither"),
        ("item,option,share,count\ntea,Agree,1,1\n", "has both"),
        (TABLE.replace("0.5", "0.4"), "item 'tea' (line 2): its shares sum to 0.9, not 1"),
        (TABLE.replace("0.2", "20").replace("0.3", "30").replace("0.5", "50"), "divide percentages by 100"),
        (TABLE.replace("0.3", "-0.3"), "line 3: share '-0.3' is no number from 0 to 1"),
        (TABLE.replace("0.3", "some"), "line 3: share 'some'"),
        (TABLE.replace("0.3", "inf"), "line 3: share 'inf'"),
        (TABLE.replace("0.3", "nan"), "line 3: share 'nan'"),
        (TABLE.replace("tea,Neither", "tee,Neither"), "line 3: item 'tee' is no item of these runs (the nearest is"),
        (TABLE.replace("Neither", "Neithr"), "item 'tea': option 'Neithr' is none of Disagree, Neither, Agree (the"),
        (TABLE.replace("Neither", "1"), "line 3: option '1' of item 'tea' is in line 2, too"),
        (TABLE.replace("0.3,50", "0.3,51"), "n is '50' and '51'; it must be the same"),
        (TABLE.replace(",50", ",0"), "n '0' is no whole number from 1 on"),
        (TABLE.replace(",50", ",many"), "n 'many'"),
        ("item,option,count\ntea,Agree,-1\n", "line 2: count '-1' is no whole number from 0 on"),
        ("item,option,count\ntea,Agree,1.5\n", "of weighted people, give share and n"),
        ("item,option,count\ntea,Agree,0\n", "its counts sum to 0"),
        ("item,option,count,n\ntea,Agree,3,4\n", "its counts sum to 3, but n is 4"),
        ("respondent,tea\nx,Agree\nx,Agree\n", "line 3: respondent 'x' has a row in line 2, too"),
        ("respondent,tea\nx,Agree\ny,Yes\n", "line 3: column 'tea': option 'Yes' is none of Disagree"),
        ("respondent,tea\nx,4\n", "line 2: column 'tea': option '4' is none of"),
    ],
)  # fmt: skip
def test_bad_files_are_one_line(tmp_path, content, words):
    with pytest.raises(InputError) as error:
        read_answers_of_people_by_study(write(tmp_path, content), ITEMS)
    assert words in str(error.value) and "people.csv" in str(error.value) and "\n" not in str(error.value)


def test_cells_that_begin_like_a_formula_are_text(tmp_path):
    items = {"study": (Item("tea", ("-", "+")),)}
    people = read_answers_of_people_by_study(write(tmp_path, "item,option,count\ntea,'+,2\ntea,-,1\n"), items)["study"]
    assert people.shares[0] == pytest.approx([1 / 3, 2 / 3])
