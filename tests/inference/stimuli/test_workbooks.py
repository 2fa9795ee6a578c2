"""Excel workbooks read as CSV files are: sheets, formats, empty cells; and what is said about other CSV files."""

from __future__ import annotations

import datetime

import pytest

from ground.errors import InputError
from helpers.workbooks import workbook
from inference.__main__ import main
from inference.stimuli import items
from inference.stimuli.reading import recognition_notes, records, workbooks
from inference.stimuli.reading.records import Records

ROWS = [["item", "text", "when", "share", "id"],
        ["tea", "Tea is good.", datetime.datetime(2026, 3, 4), 0.545, 7],
        ["tea", "I like tea.", None, 1, 12], [], [None, " "],
        [3, True, datetime.datetime(2026, 11, 23, 9, 5), 0.005, 1234]]  # fmt: skip


def formats(book):
    sheet = book.worksheets[0]
    for row in range(2, 7):
        sheet.cell(row, 3).number_format = "d.m.yyyy"
        sheet.cell(row, 4).number_format = "0.0%"
        sheet.cell(row, 5).number_format = "000"


@pytest.fixture(autouse=True)
def nothing_noted():
    recognition_notes.drop_notes_on_recognised_inputs()


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "items.xlsx"
    path.write_bytes(workbook({"Sheet one": ROWS, "two": [["item", "text"], ["a", "One."]]}, formats))
    return path


def test_cells_are_the_values_that_they_hold(file, capsys):
    read = records.read_records(file, ROWS[0])
    assert [place for place, _ in read] == ["row 2", "row 3", "row 6"]
    assert [list(record.values()) for _, record in read] == [
        ["tea", "Tea is good.", "2026-03-04", "0.545", "7"],
        ["tea", "I like tea.", "", "1", "12"],
        ["3", "TRUE", "2026-11-23 09:05:00", "0.005", "1234"],
    ]
    assert records.read_records(file)[1][1] == {"item": "tea", "text": "I like tea.", "share": "1", "id": "12"}
    assert Records(file).list_column_names() == ROWS[0]
    recognition_notes.print_notes_on_recognised_inputs()
    said = capsys.readouterr().err.splitlines()
    assert said == [
        f"{file}: read is sheet 'Sheet one', the first of 2; name another as items.xlsx#NAME",
        f"{file}, cell E2 shows 007 and holds the number 7, which is read; give codes with zeros the format Text, and "
        "write them anew",
    ]  # once


def test_a_sheet_is_chosen_by_its_name(file, capsys):
    assert records.read_records(file.with_name("items.xlsx#two"))[0][1] == {"item": "a", "text": "One."}
    recognition_notes.print_notes_on_recognised_inputs()
    assert capsys.readouterr().err == ""
    with pytest.raises(InputError, match=r"items.xlsx#tow: there is no sheet 'tow' \(the nearest is 'two'\)"):
        records.read_records(file.with_name("items.xlsx#tow"))


def test_a_hidden_sheet_is_read_only_by_its_name(tmp_path, capsys):
    def hide(book):
        book["a"].sheet_state = "hidden"
        book.active = 1

    path = tmp_path / "x.xlsx"
    path.write_bytes(workbook({"a": [["item"], ["hidden"]], "b": [["item"], ["seen"]]}, hide))
    assert records.read_records(path)[0][1] == {"item": "seen"}
    recognition_notes.print_notes_on_recognised_inputs()
    assert "read is sheet 'b', the first of 2" in capsys.readouterr().err
    assert records.read_records(tmp_path / "x.xlsx#a")[0][1] == {"item": "hidden"}


def test_rows_and_columns_without_entries_are_left_out_and_stated_sizes_not_believed(tmp_path):
    def far(book):
        book.worksheets[0].cell(60_000, 1, "b")
        book.worksheets[0].cell(2, 300, "  ")

    path = tmp_path / "x.xlsx"
    path.write_bytes(workbook({"a": [["item", "text"], ["a", "One."]]}, far))
    assert records.read_records(path) == [("row 2", {"item": "a", "text": "One."}), ("row 60000", {"item": "b"})]


def test_items_and_imports_read_workbooks(tmp_path, capsys):
    path = tmp_path / "mine.xlsx"
    path.write_bytes(workbook({"Fragen": [["item", "text"], ["tea", "Tea is good."], ["tea", "I like tea."]]}))
    (item,) = items.read_and_check_items(f"{path}#Fragen", ())
    assert [variant.text for variant in item.variants] == ["Tea is good.", "I like tea."]
    assert items.name_study_after_source(f"{path}#Fragen") == "mine"
    scores = tmp_path / "acc.xlsx"
    scores.write_bytes(workbook(
        {"x": [["no"]], "acc": [["model", "task", "template", "accuracy", "n"],
                                ["m", "t", 1, 0.5, 10], ["m", "t", 2, 0.75, 8]]}
    ))  # fmt: skip
    assert main(["import", "accuracies", f"{scores}#acc", "--out", str(tmp_path / "run")]) == 0
    assert "2 scores, mean 0.625" in capsys.readouterr().out


def test_a_workbook_has_the_places_of_the_same_table_as_csv(tmp_path):
    table = [["item", "text"], ["a", "One."], ["", ""], ["b", "Two, or 2."]]
    (tmp_path / "t.csv").write_text('item,text\na,One.\n,\nb,"Two, or 2."\n', encoding="utf-8")
    (tmp_path / "t.xlsx").write_bytes(workbook({"s": table}))
    assert records.read_records(tmp_path / "t.xlsx") == records.read_records(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", b"item,text\na,One.\n", ""),
        ("a.tsv", b"item\ttext\na\tOne.\n", ""),
        ("a.csv", b"item;text\na;One.\n", "semicolons between cells"),
        ("a.csv", b"item\ttext\na\tOne.\n", "tabs between cells"),
        ("a.csv", b"\xef\xbb\xbfitem,text\r\na,One.\r\n", "UTF-8 with a byte order mark, Windows line ends"),
        ("a.csv", b"item,text\ra,One.\r", "line ends of an old Mac"),
        ("a.csv", "item\ttext\r\na\tOne.\r\n".encode("utf-16"), "tabs between cells, UTF-16, Windows line ends"),
        ("a.csv", "\ufeffitem;text\na;One.\n".encode("utf-16-be"), "semicolons between cells, UTF-16"),
        ("a.csv", b"sep=|\nitem|text\na|One.\n", "'|' between cells"),
        ("a.csv", b'item,"text;text"\na,One.\n', ""),
    ],
)  # fmt: skip
def test_what_is_recognised_of_a_csv_file_is_said_once(tmp_path, capsys, name, content, said):
    (tmp_path / name).write_bytes(content)
    for _ in range(2):
        ((_place, record),) = records.read_records(tmp_path / name)
    assert list(record.values()) == ["a", "One."]
    expected = f"{tmp_path / name}: recognised: {said}\n" if said else ""
    recognition_notes.print_notes_on_recognised_inputs()
    recognition_notes.print_notes_on_recognised_inputs()
    assert capsys.readouterr().err == expected


def test_it_is_said_when_a_command_has_ended_well(tmp_path, capsys):
    (tmp_path / "a.csv").write_bytes(b"model;task;template;accuracy;n\nm;t;a;0.5;10\n")
    assert main(["import", "accuracies", str(tmp_path / "a.csv"), "--out", str(tmp_path / "run")]) == 0
    assert capsys.readouterr().err == f"{tmp_path / 'a.csv'}: recognised: semicolons between cells\n"
    (tmp_path / "a.csv").write_bytes(b"model;task;template;accuracy;n\nm;t;a;0.5;0\n")
    assert main(["import", "accuracies", str(tmp_path / "a.csv"), "--out", str(tmp_path / "other")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_workbook_that_unpacks_to_too_much_is_not_opened(file, monkeypatch):
    monkeypatch.setattr(workbooks, "UNPACKED", 1_000)
    monkeypatch.setattr("openpyxl.load_workbook", lambda *given, **options: pytest.fail("opened"))
    with pytest.raises(InputError, match=r"unpacks to .* MB, more than"):
        records.read_records(file)


def test_a_number_as_long_as_its_format_shows_no_zeros(tmp_path, capsys):
    """The note named 10115, which loses nothing, and then never 01067."""
    file = tmp_path / "items.xlsx"

    def show_five_digits(book):
        for row in (2, 3):
            book.worksheets[0].cell(row, 2).number_format = "00000"

    file.write_bytes(
        workbook({"one": [["text", "code"], ["Tea is good.", 10115], ["I like tea.", 1067]]}, show_five_digits)
    )
    records.read_records(file)
    recognition_notes.print_notes_on_recognised_inputs()
    assert "cell B3 shows 01067 and holds the number 1067" in capsys.readouterr().err
