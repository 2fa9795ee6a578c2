"""What `analysis.runs.open_runs` refuses, each in one line that names the folder and the field."""

from __future__ import annotations

import errno
import json
import os
import shutil
import tracemalloc
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis import runs
from analysis.pages.stability import tables
from ground.errors import InputError
from helpers.synthetic import SCHEMA, arrow_schema, edit_run_json, random_frame, write_run

pytestmark = pytest.mark.slow

PART = "responses/part-000001.parquet"


@pytest.fixture
def folder(tmp_path):
    return write_run(tmp_path / "run", random_frame(["a", "b"], items=2, paraphrases=3), parts=3)


def refuses(*paths) -> str:
    """The one line that `open`, or the first table, refuses the folders with."""
    with pytest.raises(InputError) as caught:
        tables.tabulate_item_answers_over_paraphrases(runs.open_runs(*paths))
    message = str(caught.value)
    assert "\n" not in message
    assert str(paths[-1]) in message
    return message


def test_a_missing_folder_is_refused_before_a_database_is_made(tmp_path, monkeypatch):
    monkeypatch.delattr("analysis.runs.database.connect_duckdb")
    assert "no such run folder" in refuses(tmp_path / "missing")


def rewrite(file: Path, change) -> None:
    pq.write_table(change(pq.read_table(file)), file)


# several folders


def test_refuses_one_name_for_two_studies(tmp_path):
    one = write_run(tmp_path / "one", random_frame(items=2))
    two = write_run(tmp_path / "two", random_frame(items=3))
    message = refuses(one, two)
    assert "study 'synthetic' has hash" in message
    assert str(one) in message


def test_refuses_a_key_in_two_folders(tmp_path, folder):
    shutil.copytree(folder, tmp_path / "copy")
    message = refuses(folder, tmp_path / "copy")
    assert f"{folder} and {tmp_path / 'copy'} both answer model 'a', condition 'plain/yes-no', item" in message


def test_refuses_the_same_folder_twice(folder):
    assert "both answer" in refuses(folder, folder)


def test_refuses_two_revisions_of_a_model(tmp_path):
    frame = random_frame(items=2)
    one = write_run(tmp_path / "one", frame, study="first")
    two = write_run(tmp_path / "two", frame, study="second", models={"m": {"revision": "1"}})
    assert "model 'm' has revision '1', but '0' in" in refuses(one, two)


def test_refuses_two_meanings_of_a_condition(tmp_path):
    frame = random_frame(["a", "b"], items=2)
    one = write_run(tmp_path / "one", frame[frame["model"] == "a"])
    two = write_run(
        tmp_path / "two", frame[frame["model"] == "b"], conditions={"plain/yes-no": {"prompt_hash": "other"}}
    )
    assert "condition 'plain/yes-no' has prompt_hash 'other', but 'hash-waver-plain' in" in refuses(one, two)


# one folder


def test_refuses_no_folder():
    with pytest.raises(InputError, match="no run folder given"):
        runs.open_runs()


def test_refuses_what_is_not_a_run_folder(tmp_path):
    assert "no such run folder" in refuses(tmp_path / "missing")
    (tmp_path / "empty").mkdir()
    assert "run.json is missing" in refuses(tmp_path / "empty")
    (tmp_path / "file").write_text("x")
    assert "file is a file; give the run folder" in refuses(tmp_path / "file")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{", "run.json is not valid JSON"),
        ("\xff", "run.json is not valid JSON"),
        ("[]", "run.json must be an object"),
        ("{}", "run.json: field 'format' is missing"),
        ('{"format": 2}', "format 2 is not known here (this version reads 1)"),
        ('{"format": 1}', "run.json: field 'study' is missing"),
    ],
)
def test_refuses_a_bad_run_json(folder, text, expected):
    (folder / "run.json").write_bytes(text.encode("latin-1"))
    assert expected in refuses(folder)


@pytest.mark.parametrize("field", ["study", "models", "conditions", "decision_rule", "seed", "sessions"])
def test_refuses_a_run_json_without_a_field(folder, field):
    edit_run_json(folder, **{field: None})
    assert f"field {field!r} is missing" in refuses(folder)


@pytest.mark.parametrize("field", ["protocol", "name", "hash", "canonical"])
def test_refuses_a_study_without_a_field(folder, field):
    study = json.loads((folder / "run.json").read_text())["study"]
    study.pop(field)
    edit_run_json(folder, study=study)
    assert f"run.json: study: field {field!r} is missing" in refuses(folder)


def test_refuses_fields_of_another_shape(folder):
    edit_run_json(folder, models=["a", "b"])
    assert "run.json: models must be an object" in refuses(folder)
    edit_run_json(folder, models={"a": "x", "b": {}})
    assert "run.json: models: a must be an object" in refuses(folder)


@pytest.mark.parametrize("name", [c["name"] for c in SCHEMA["responses"]["columns"] if not c.get("optional")])
def test_refuses_a_missing_response_column(folder, name):
    rewrite(folder / PART, lambda table: table.drop_columns([name]))
    assert f"{PART}: column {name!r} is missing" in refuses(folder)


@pytest.mark.parametrize("name", arrow_schema("stimuli").names)
def test_refuses_a_missing_stimuli_column(folder, name):
    rewrite(folder / "stimuli.parquet", lambda table: table.drop_columns([name]))
    assert f"stimuli.parquet: column {name!r} is missing" in refuses(folder)


@pytest.mark.parametrize("part", [1, 2, 3])
def test_refuses_a_wrong_type_in_any_part(folder, part):
    file = folder / f"responses/part-00000{part}.parquet"

    def change(table):
        index = table.column_names.index("probability")
        wrong = pa.array([[0.1, 0.2]] * len(table), pa.list_(pa.float32()))
        return table.set_column(index, "probability", wrong)

    rewrite(file, change)
    message = refuses(folder)
    assert f"part-00000{part}.parquet: column 'probability' has type FLOAT[], not DOUBLE[] (list<double>)" in message


@pytest.mark.parametrize("keep", [0, 3, 0.5, 0.99])
def test_refuses_a_part_cut_short(folder, keep):
    file = folder / "responses/part-000002.parquet"
    data = file.read_bytes()
    file.write_bytes(data[: int(keep * len(data)) if keep < 1 else keep])
    message = refuses(folder)
    assert "responses/part-000002.parquet cannot be read: damaged or cut short; delete it, then repeat" in message


def test_damaged_stimuli_are_not_to_be_deleted(folder):
    (folder / "stimuli.parquet").write_bytes(b"PAR1")
    assert "stimuli.parquet cannot be read: damaged or cut short; bring a whole copy of it back" in refuses(folder)


def test_a_large_damaged_part_is_not_held_in_memory(folder):
    with (folder / "responses/part-000002.parquet").open("wb") as part:
        part.truncate(64 << 20)
    tracemalloc.start()
    assert "part-000002.parquet cannot be read: damaged or cut short" in refuses(folder)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 << 20


def test_a_part_that_may_not_be_read_is_not_to_be_deleted(folder, monkeypatch):
    def refuse(path: Path, mode: str = "r", *rest: object, **named: object) -> object:
        if path.suffix == ".parquet":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return open(path, mode, *rest, **named)

    (folder / "responses/part-000002.parquet").write_bytes(b"PAR1")  # no user of tests may be refused a whole one
    monkeypatch.setattr(Path, "open", refuse)
    message = refuses(folder)
    assert "parquet cannot be read: permission denied; make it readable" in message and "delete" not in message


@pytest.mark.parametrize(
    "table", [tables.tabulate_stability, lambda run: run.sql("SELECT sum(probability[1]) FROM responses")]
)
def test_refuses_a_part_damaged_inside(folder, table):
    file = folder / PART
    group = pq.read_metadata(file).row_group(0)
    column = next(c for c in map(group.column, range(group.num_columns)) if c.path_in_schema.startswith("probability"))
    start = column.dictionary_page_offset or column.data_page_offset
    data = bytearray(file.read_bytes())
    data[start : start + column.total_compressed_size] = bytes(column.total_compressed_size)
    run = runs.open_runs(folder)
    file.write_bytes(data)
    with pytest.raises(InputError, match="cannot be read"):  # by what was opened before
        table(run)
    assert "a file is damaged" in refuses(folder)


def test_a_wrong_query_is_not_blamed_on_the_files(folder):
    run = runs.open_runs(folder)
    for query in ("SELEC 1", "SELECT no_such_column FROM responses", "FROM no_such_view"):
        with pytest.raises(duckdb.Error):
            run.sql(query)


def test_refuses_when_a_part_disappears_after_opening(folder):
    run = runs.open_runs(folder)
    (folder / PART).unlink()
    with pytest.raises(InputError, match="part-000001"):
        tables.tabulate_item_answers_over_paraphrases(run)


def test_refuses_a_folder_without_responses(folder):
    shutil.rmtree(folder / "responses")
    assert "nothing was asked yet" in refuses(folder)


def test_refuses_empty_parts_only(tmp_path):
    assert "nothing was asked yet" in refuses(write_run(tmp_path / "run", random_frame().assign(model=None)))


def test_refuses_a_folder_without_stimuli(folder):
    (folder / "stimuli.parquet").unlink()
    assert "stimuli.parquet is missing" in refuses(folder)


def test_refuses_stimuli_that_stand_there_twice(folder):
    rewrite(folder / "stimuli.parquet", lambda table: pa.concat_tables([table, table.slice(3, 1)]))
    assert "item 'item-01', variant 'paraphrase-003' is empty or appears twice" in refuses(folder)


@pytest.mark.parametrize("table", ["stimuli", "responses"])
def test_refuses_rows_of_another_study(folder, table):
    file = folder / (PART if table == "responses" else "stimuli.parquet")
    rewrite(file, lambda t: t.set_column(0, t.schema.field(0), pa.array(["other"] * len(t))))
    assert "study 'other' is not" in refuses(folder)


@pytest.mark.parametrize("mixed", [True, False])
@pytest.mark.parametrize(("column", "field"), [("model", "models"), ("condition", "conditions")])
def test_refuses_a_name_that_run_json_does_not_know(folder, column, field, mixed):
    def change(table):
        names = ["unknown" if not mixed or row == 0 else "a" for row in range(len(table))]
        return table.set_column(table.column_names.index(column), table.schema.field(column), pa.array(names))

    edit_run_json(folder, conditions={"plain/yes-no": {}, "a": {}})
    rewrite(folder / PART, change)
    assert f"{column} 'unknown' is not in run.json: {field}" in refuses(folder)
