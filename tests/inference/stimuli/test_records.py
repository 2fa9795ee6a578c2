"""Tables of every format: as records with their fields, or chosen columns as text."""

from __future__ import annotations

import json
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ground.errors import InputError
from inference.stimuli.reading.files import read_yaml
from inference.stimuli.reading.records import Records, read_records

ROWS = [{"a": 1.0, "b": "x", "c": 0.5}, {"a": None, "b": "", "c": 2}]


def written(folder, kind):
    path = folder / f"table.{kind}"
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(ROWS), path)
    elif kind == "csv":
        path.write_text("a,b,c\n1,x,0.5\n,,2\n", encoding="utf-8")
    elif kind == "jsonl":
        path.write_text("\n".join(map(json.dumps, ROWS)), encoding="utf-8")
    else:
        path.write_text(json.dumps(ROWS), encoding="utf-8")  # JSON is YAML, too
    return path


@pytest.mark.parametrize("kind", ["csv", "json", "jsonl", "yaml", "parquet"])
def test_chosen_columns_are_text_in_every_format(tmp_path, kind):
    cells = [record for _, record in read_records(written(tmp_path, kind), ["c", "a", "b"])]
    missing = "" if kind == "csv" else None
    assert cells == [{"c": "0.5", "a": "1", "b": "x"}, {"c": "2", "a": missing, "b": ""}]


@pytest.mark.parametrize("kind", ["json", "jsonl", "yaml", "parquet"])
def test_without_a_choice_fields_are_as_the_format_has_them(tmp_path, kind):
    assert [record for _, record in read_records(written(tmp_path, kind))] == ROWS


def test_an_empty_csv_cell_is_an_absent_field_unless_its_column_is_chosen(tmp_path):
    path = written(tmp_path, "csv")
    assert read_records(path) == [("row 2", {"a": "1", "b": "x", "c": "0.5"}), ("row 3", {"c": "2"})]
    assert read_records(path, ["b"]) == [("row 2", {"b": "x"}), ("row 3", {"b": ""})]


def test_columns_that_are_not_chosen_may_be_there_twice_or_have_no_name(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,x,x,\n1,2,3,4\n", encoding="utf-8")
    assert read_records(path, ["a"]) == [("row 2", {"a": "1"})]
    with pytest.raises(InputError, match="row 1: column 'x' is there twice"):
        read_records(path)
    with pytest.raises(InputError, match="column 'x' is there twice; the columns are a, x, x, "):
        read_records(path, ["x"])


@pytest.mark.parametrize("kind", ["csv", "json", "jsonl", "yaml", "parquet"])
def test_a_missing_column_is_named_with_those_that_are_there(tmp_path, kind):
    path = written(tmp_path, kind)
    with pytest.raises(InputError, match=f"{re.escape(str(path))}: column 'd' is not there; the columns are a, b, c"):
        read_records(path, ["a", "d"])


def test_a_field_that_only_a_late_line_has_is_found_and_lines_are_not_all_held(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": 1}\n{"a": 2, "b": "x"}\n{"a": 3}\n{"a": \n')
    found = iter(Records(path, ["a", "b"]))
    assert [next(found) for _ in range(3)] == [
        ("line 1", {"a": "1", "b": None}),
        ("line 2", {"a": "2", "b": "x"}),
        ("line 3", {"a": "3", "b": None}),
    ]
    with pytest.raises(InputError, match="line 4: malformed JSON"):
        next(found)


def test_records_can_be_gone_through_again(tmp_path):
    records = Records(written(tmp_path, "parquet"), ["b"])
    assert list(records) == list(records) == [("row 1", {"b": "x"}), ("row 2", {"b": ""})]


def test_a_long_cell_is_read(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(f"a\n{'x' * 200_000}\n", encoding="utf-8")
    assert len(read_records(path)[0][1]["a"]) == 200_000


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"a: [", "line 1: malformed YAML"), (b"a: \xff", "line 1: not UTF-8"), (b"a: 2020-13-45", "malformed YAML"),
     (b"a: !!python/name:os.system x", "line 1: malformed YAML")],
)  # fmt: skip
def test_a_yaml_file_that_cannot_be_used_is_one_line(tmp_path, content, message):
    (tmp_path / "x.yaml").write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_yaml(tmp_path / "x.yaml")
    with pytest.raises(InputError, match=r"missing\.yaml: cannot be read"):
        read_yaml(tmp_path / "missing.yaml")
