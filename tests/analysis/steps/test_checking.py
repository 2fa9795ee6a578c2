"""Two tables are the same only where every value and every row is."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from analysis.steps.checking import compare_tables, print_line_if_input_is_refused, print_line_if_package_is_missing
from ground.errors import InputError

OURS = pd.DataFrame({"model": ["a", "b", "c"], "flips": [0.5, math.nan, math.inf], "n": [4, 5, 6]})


def test_equal_tables_agree_in_any_order_and_the_sentence_says_how_far_they_are_apart():
    theirs = OURS.iloc[::-1].assign(flips=[math.inf, math.nan, 0.5 + 1e-12])
    comparison = compare_tables(OURS, theirs, ["model"])
    assert not comparison.differs
    assert comparison.columns["values"].tolist() == [3, 3]
    assert comparison.describe() == (
        "All 5 numbers agree: the largest difference is 1.0e-12; up to 1e-09 counts as none. "
        "1 more is undefined in both tables."
    )


@pytest.mark.parametrize(
    ("theirs", "words"),
    [
        (
            OURS.assign(flips=[0.6, math.nan, math.inf]),
            "Numbers differ by more than 1e-09: flips (1 of 3, by up to 0.1).",
        ),
        (OURS.assign(flips=[math.nan, math.nan, math.inf]), "Numbers are undefined in one table only: flips (1 of 3)."),
        (OURS.assign(flips=[0.5, 0.5, math.inf]), "Numbers are undefined in one table only: flips (1 of 3)."),
        (
            OURS.assign(flips=[0.5, math.nan, -math.inf]),
            "Numbers differ by more than 1e-09: flips (1 of 3, by up to inf).",
        ),
        (
            OURS.assign(flips=[0.6, 0.5, math.inf], n=[4, 5, math.nan]),
            "Numbers differ by more than 1e-09: flips (1 of 3, by up to 0.1). "
            "Numbers are undefined in one table only: flips (1 of 3); n (1 of 3).",
        ),
        (OURS.head(2), "1 row is in one table only."),
        (OURS.assign(model=["a", "b", "d"]), "2 rows are in one table only."),
    ],
)
def test_a_wrong_value_one_that_is_undefined_on_one_side_and_a_missing_row_are_differences(theirs, words):
    comparison = compare_tables(OURS, theirs, ["model"])
    assert comparison.differs
    assert comparison.describe() == words


def test_one_number_agrees():
    one = OURS.head(1)[["model", "n"]]
    assert compare_tables(one, one, ["model"]).describe() == (
        "The one number agrees: the difference is 0.0e+00; up to 1e-09 counts as none."
    )


def test_only_the_columns_of_the_other_table_are_compared_within_the_tolerance():
    theirs = OURS[["model", "n"]].assign(n=[4, 5, 6.5])
    assert compare_tables(OURS, theirs, ["model"], 0.5).columns["column"].tolist() == ["n"]
    assert not compare_tables(OURS, theirs, ["model"], 0.5).differs
    assert compare_tables(OURS, theirs, ["model"], 0.4).differs


def test_no_rows_are_nothing_to_compare():
    assert compare_tables(OURS.head(0), OURS.head(0), ["model"]).describe() == "There was nothing to compare."
    undefined = OURS[["model", "flips"]].assign(flips=math.nan)
    assert compare_tables(undefined, undefined, ["model"]).describe() == (
        "There was nothing to compare: 3 numbers are undefined in both tables."
    )


@pytest.mark.parametrize(
    ("theirs", "words"),
    [
        (OURS.assign(kappa=1.0), "no column 'kappa' in the table that is checked"),
        (OURS[["n"]], "no column 'model' in the other table"),
        (OURS[["model"]], "no column to compare"),
        (pd.concat([OURS, OURS]), "rows are not told apart by model"),
    ],
)
def test_what_cannot_be_compared_is_told_in_one_line(theirs, words):
    with pytest.raises(InputError) as told:
        compare_tables(OURS, theirs, ["model"])
    assert words in str(told.value) and "\n" not in str(told.value)


def test_a_package_that_is_not_installed_is_one_line_and_no_error(capsys):
    with print_line_if_package_is_missing("nosuchpackage"):
        import nosuchpackage

        print(nosuchpackage)
    line = capsys.readouterr().out
    assert line.count("\n") == 1
    assert line.startswith("Not checked: nosuchpackage is not installed here") and "pip install nosuchpackage" in line


def test_any_other_error_below_it_stays_an_error():
    with pytest.raises(ZeroDivisionError), print_line_if_package_is_missing("pandas"):
        print(1 / 0)


def test_what_the_data_do_not_allow_is_one_line(capsys):
    with print_line_if_input_is_refused():
        raise InputError("scores: no column of numbers")
    assert capsys.readouterr().out == "Not computed: scores: no column of numbers\n"
