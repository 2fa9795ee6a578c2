"""`waver import table`: wrong calls and wrong tables end in one line that names the file and the row."""

from __future__ import annotations

import pytest

from helpers.answer_tables import ANSWERS, COUNTS, IDS, NUMBERS, PROBABILITIES, TEXTS, write
from inference.__main__ import main
from inference.importers.tables import long

pytestmark = pytest.mark.slow


def refused(capsys, tmp_path, *arguments):
    """Import, expecting exit status 2 and no run folder, and return the one line on standard error."""
    assert main(["import", "table", *map(str, arguments), "--out", str(tmp_path / "refused")]) == 2
    line = capsys.readouterr().err.strip()
    assert "\n" not in line
    assert not (tmp_path / "refused" / "run.json").exists()
    return line


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"yes": "often"}, "row 3: column 'yes' holds 'often', which is not a number"),
        ({"yes": "0,4"}, "row 3: column 'yes' holds '0,4', which is not a number; write it with a point, not a"),
        ({"yes": "nan"}, "row 3: column 'yes' holds 'nan', which is not a number"),
        ({"yes": "0_1"}, "row 3: column 'yes' holds '0_1', which is not a number"),
        ({"yes": ""}, "row 3: some of yes, no are empty, others are not"),
        ({"yes": "-0.1"}, "row 3: a probability in yes, no is negative"),
        ({"yes": "0.7", "no": "0.4"}, "row 3: the probabilities yes, no add up to 1.1, more than 1"),
        ({"variant": "a", "text": NUMBERS[0]["text"]}, "row 3: the same model, condition, item and variant as in"),
        ({"variant": "a"}, "row 3: the text of item '1', variant 'a' is not the one in"),
        ({"model": " "}, "row 3: column 'model' is empty; every response needs it"),
        ({"item": ""}, "row 3: column 'item' is empty; every response needs it"),
        ({"text": "  "}, "row 3: column 'text' is empty; every response needs it"),
    ],
)
def test_wrong_probabilities_are_named_with_file_and_row(tmp_path, capsys, change, message):
    file = write(tmp_path / "t.csv", [NUMBERS[0], {**NUMBERS[1], **change}])
    line = refused(capsys, tmp_path, file, *PROBABILITIES)
    assert f"{file}, {message}" in line


def test_a_wrong_number_far_down_is_named_and_nothing_is_written(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(long, "TOGETHER", 2)
    rows = [{**NUMBERS[0], "variant": str(number)} for number in range(7)]
    for change, message in (({"no": "x"}, "column 'no' holds 'x'"), ({"no": "0.8"}, ", more than 1")):
        file = write(tmp_path / "t.csv", [*rows[:5], {**rows[5], **change}, rows[6]])
        line = refused(capsys, tmp_path, file, *PROBABILITIES)
        assert f"{file}, row 7: " in line
        assert message in line


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"yes": "1.5"}, "row 2: a count in yes, no is negative or not a whole number"),
        ({"no": "-1"}, "row 2: a count in yes, no is negative or not a whole number"),
        ({"no": "x"}, "row 2: column 'no' holds 'x', which is not a number"),
    ],
)
def test_wrong_counts_are_named_with_file_and_row(tmp_path, capsys, change, message):
    file = write(tmp_path / "t.csv", [{**NUMBERS[0], "yes": "3", "no": "4", **change}])
    assert f"{file}, {message}" in refused(capsys, tmp_path, file, *COUNTS)


def test_contradictions_between_rows_are_refused(tmp_path, capsys):
    rows = [{**NUMBERS[0], "p": "original", "g": "agree"}, {**NUMBERS[1], "p": "original", "g": "agree"}]
    file = write(tmp_path / "t.csv", rows)
    columns = (*PROBABILITIES, "--pattern-column", "p", "--gold-column", "g")
    assert "row 3: item '1' has a second original, 'b'; the first is in" in refused(capsys, tmp_path, file, *columns)
    write(file, [{**rows[0], "g": "maybe"}])
    assert "row 2: the right answer 'maybe' is none of agree, disagree" in refused(capsys, tmp_path, file, *columns)
    write(file, [rows[0], {**rows[0], "model": "m2", "g": "disagree"}])
    assert "row 3: the right answer of item '1', variant 'a' is not the one in" in refused(
        capsys, tmp_path, file, *columns
    )
    write(file, [rows[0], {**rows[0], "model": "m2", "p": "antonym"}])
    assert "row 3: the pattern of item '1', variant 'a' is not" in refused(capsys, tmp_path, file, *columns)


def test_conditions_of_one_name_are_refused(tmp_path, capsys):
    rows = [{**NUMBERS[0], "a": "x/y", "b": "z"}, {**NUMBERS[1], "a": "x", "b": "y/z"}]
    columns = (*PROBABILITIES, "--condition-column", "a", "--condition-column", "b")
    line = refused(capsys, tmp_path, write(tmp_path / "t.csv", rows), *columns)
    assert "row 3: two different conditions would both be called 'x/y/z'" in line


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "there are no rows in it"),
        (b"model,item,variant,text,yes,no\n", "there are no rows in it"),
        (b"model,item,text,yes,no\nm,1,t,.5,.5\n", "'variant' is not there; the columns are model, item, text"),
        (b"model,item,variant,text,yes,yes,no\n", "column 'yes' is there twice"),
        (b"model,item,variant,text,yes,no\nm,1,a,Tea, hot,.5,.5\n", "row 2: 7 cells where the header has 6"),
        (b"model,item,variant,text,yes,no\nm,1,a,Tea\n", "row 2: 4 cells where the header has 6"),
        (b'model,item,variant,text,yes,no\nm,1,a,"Tea"x,.5,.5\n', "row 2 (line 2): malformed CSV"),
        (b"model,item,variant,text,yes,no\nm,1,a,Th\xe9,.5,.5\n", "line 2: not UTF-8"),
        ("model,item\nm,1\n".encode("utf-16"), "column 'variant' is not there"),
        ("model,item,variant,text,yes,no\n".encode("utf-16") + b"\x00\xd8", "damaged UTF-16 (unexpected end of data)"),
    ],
)  # fmt: skip
def test_broken_files_are_named(tmp_path, capsys, content, message):
    (tmp_path / "t.csv").write_bytes(content)
    line = refused(capsys, tmp_path, tmp_path / "t.csv", *PROBABILITIES)
    assert f"{tmp_path}/t.csv" in line
    assert message in line


def test_other_unreadable_files_are_named(tmp_path, capsys):
    for name, content, message in (
        ("t.xlsx", b"PK", "not a readable workbook"),
        ("t.ods", b"PK", "save it as .xlsx or its sheet as CSV UTF-8"),
            ("t.doc", b"PK", "unknown kind of file; give one of .csv, .tsv"),
        ("t.parquet", b"PAR", "not a readable Parquet file"),
        ("t.jsonl", b'{"model": "m"}\n{"model": \n', "line 2: malformed JSON"),
        ("t.json", b'[{"model": [], "item": 1, "variant": 1, "text": "t", "yes": 0, "no": 0}]', "'model' holds list"),
        ("u.jsonl", b'{"model": "m"}\n', "column 'item' is not there; the columns are model"),
    ):  # fmt: skip
        (tmp_path / name).write_bytes(content)
        assert message in refused(capsys, tmp_path, tmp_path / name, *PROBABILITIES)
    assert "cannot be read (No such file" in refused(capsys, tmp_path, tmp_path / "none.csv", *PROBABILITIES)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--completion-column", "reply"), "--options goes with --completion-column or --answer-column"),
        (("--probability-columns", "a=b,c=d", "--options", "a=b;c=d"), "--options goes with"),
        (("--probability-columns", "a=b"), "--probability-columns 'a=b': expected two as LABEL=...,LABEL=..."),
        (("--probability-columns", "a=b,a=c"), "expected two as LABEL=...,LABEL=..."),
        (("--probability-columns", "a=b,c=d", "--invalid-column", "e"), "--invalid-column goes with --count-columns"),
        (("--score-column", "F1", "--options", "a=b;c=d"), "--options goes with"),
        (("--score-column", "F1", "--invalid-column", "e"), "--invalid-column goes with --count-columns"),
        (("--completion-column", "reply", "--options", "a=x;b=y;c=z"), "expected two as LABEL=...;LABEL=..."),
        (("--completion-column", "reply", "--options", "a=x|y;b=Y"), "the wording 'Y' is given for two labels"),
        (("--completion-column", "reply", "--options", "a=x||y;b=z"), "an empty wording is given for the label 'a'"),
    ],
)  # fmt: skip
def test_wrong_calls_are_explained(tmp_path, capsys, arguments, message):
    file = write(tmp_path / "t.csv", ANSWERS)
    line = refused(capsys, tmp_path, file, *IDS, *arguments)
    assert message in line


def test_a_model_has_one_name_and_a_variant_some(tmp_path, capsys):
    file = write(tmp_path / "t.csv", NUMBERS)
    assert "NAME=FILE names the model, and so does" in refused(capsys, tmp_path, f"m={file}", *PROBABILITIES)
    columns = ("--item-column", "item", "--probability-columns", "agree=yes,disagree=no")
    assert "give --variant-column or --text-column" in refused(capsys, tmp_path, file, *columns)


def test_rows_of_two_files_are_never_one_response(tmp_path, capsys):
    first, second = write(tmp_path / "1.csv", ANSWERS), write(tmp_path / "2.csv", ANSWERS[2:])
    for samples in ((), ("--repeated", "samples")):
        line = refused(capsys, tmp_path, first, second, *TEXTS, *samples)
        assert f"{second}, row 2: the same model, condition, item and variant as in {first}, row 4" in line
        assert "('m1', 'import', '1', 'b')" in line
        assert "leave one file out" in line
        line = refused(capsys, tmp_path, first, tmp_path / "." / ".." / tmp_path.name / "1.csv", *TEXTS, *samples)
        assert "this file is given twice" in line


def test_repeated_answers_are_refused_unless_they_are_samples(tmp_path, capsys):
    file = write(tmp_path / "t.csv", [*ANSWERS, ANSWERS[1]])
    line = refused(capsys, tmp_path, file, *TEXTS)
    assert f"{file}, row 6: the same model, condition, item and variant as in {file}, row 3" in line
    assert "add --repeated samples" in line
    assert "--repeated samples goes with" in refused(capsys, tmp_path, file, *PROBABILITIES, "--repeated", "samples")


def test_a_model_is_named_once(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{name: cell for name, cell in row.items() if name != "model"} for row in NUMBERS]
    for name in ("a/x.csv", "b/x.csv", "a.csv", "b/x.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write(tmp_path / name, rows)
    columns = ("--item-column", "item", "--variant-column", "variant", *PROBABILITIES[-2:])
    assert "a.csv: model 'a' is already a/x.csv" in refused(capsys, tmp_path, "a/x.csv", "b/x.csv", "a.csv", *columns)
    assert "a.csv: model 'a' is already b/x.csv" in refused(capsys, tmp_path, "a=b/x.csv", "a.csv", *columns)
    assert "b/x.json: the same name and folder as b/x.csv" in refused(capsys, tmp_path, "b/x.csv", "b/x.json", *columns)
