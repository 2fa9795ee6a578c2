"""`analysis.runs.open_runs`: what it reads, what it puts together, and what it refuses in one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis import runs
from analysis.pages.stability import cases, tables
from helpers.synthetic import edit_run_json, random_frame, write_run

pytestmark = pytest.mark.slow

PART = "responses/part-000001.parquet"


@pytest.fixture
def folder(tmp_path):
    return write_run(tmp_path / "run", random_frame(["a", "b"], items=2, paraphrases=3), parts=3)


def rewrite(file: Path, change) -> None:
    pq.write_table(change(pq.read_table(file)), file)


# what it reads


def test_a_model_that_could_not_be_asked_is_recorded_but_does_not_answer(folder):
    models = dict(runs.open_runs(folder).info["models"])
    edit_run_json(folder, models={**models, "c": models["a"]})
    run = runs.open_runs(folder)
    assert (list(run.info["models"]), list(run.models_with_response_rows)) == (["a", "b", "c"], ["a", "b"])


def test_opens_a_folder(folder):
    run = runs.open_runs(folder)
    assert run.info["studies"]["synthetic"]["protocol"] == "agreement"
    assert list(run.info["models"]) == list(run.models_with_response_rows) == ["a", "b"]
    assert list(run.info["conditions"]["synthetic"]) == ["plain/yes-no"]
    assert run.sql("SELECT count(*) AS n FROM responses")["n"].tolist() == [2 * 2 * 4]
    assert run.sql("SELECT count(*) AS n FROM stimuli")["n"].tolist() == [2 * 4]
    assert run.sql("SELECT model FROM units ORDER BY position")["model"].tolist() == ["a", "b"]
    assert run.sql("FROM errors").empty


def test_a_path_may_be_a_string_and_hold_any_character(tmp_path):
    odd = tmp_path / "it's [1]*?" / "seed=1"
    odd.parent.mkdir()
    write_run(odd, random_frame(items=2))
    run = runs.open_runs(str(odd))
    assert "seed" not in run.sql("FROM responses LIMIT 1").columns
    assert len(tables.tabulate_item_answers_over_paraphrases(run)) == 2


def test_what_is_kept_is_made_once_for_every_key_and_for_these_runs_only(folder):
    run, again = runs.open_runs(folder), runs.open_runs(folder)
    made = []

    def make():
        made.append(len(made))
        return made[-1]

    found = [
        run.compute_once("a", make),
        run.compute_once("a", make),
        run.compute_once(("a", 1), make),
        again.compute_once("a", make),
    ]
    assert found == [0, 0, 1, 2]


def turn_columns_around_and_add_one(table: pa.Table) -> pa.Table:
    return table.select(table.column_names[::-1]).append_column("note", pa.array(["x"] * len(table)))


def encode_strings_and_lists_for_large_data(table: pa.Table) -> pa.Table:
    larger = {pa.string(): pa.large_string(), pa.list_(pa.float64()): pa.large_list(pa.float64())}
    return table.cast(pa.schema([pa.field(f.name, larger.get(f.type, f.type)) for f in table.schema]))


@pytest.mark.parametrize("change", [turn_columns_around_and_add_one, encode_strings_and_lists_for_large_data])
def test_other_orders_of_columns_and_other_encodings_are_read(folder, change):
    before = tables.tabulate_item_answers_over_paraphrases(runs.open_runs(folder))
    rewrite(folder / PART, change)
    pd.testing.assert_frame_equal(tables.tabulate_item_answers_over_paraphrases(runs.open_runs(folder)), before)


def test_nothing_depends_on_how_rows_are_spread_over_parts(tmp_path):
    frame = random_frame(["a", "b"], conditions=("plain/yes-no", "plain/no-yes"), items=3, paraphrases=4)
    one = write_run(tmp_path / "one", frame)
    shuffled = frame.sample(frac=1, random_state=1)
    # Every part of the second run mixes models and conditions, so footers do not tell what is in it.
    many = write_run(tmp_path / "many", shuffled, parts=5)
    first, second = tables.tabulate_stability(runs.open_runs(one)), tables.tabulate_stability(runs.open_runs(many))
    by = ["model", "condition"]
    pd.testing.assert_frame_equal(
        first.sort_values(by, ignore_index=True), second.sort_values(by, ignore_index=True), rtol=1e-12
    )


def test_error_rows_are_no_answers(tmp_path):
    frame = random_frame(items=2, paraphrases=3)
    frame["error"] = None
    failed = (frame["item"] == "item-01") & frame["variant"].isin(["paraphrase-001", "paraphrase-002"])
    frame.loc[failed, ["agreement", "error"]] = [None, "too long"]
    answered = frame[frame["variant"] == "paraphrase-001"].assign(agreement=0.5, error=None)
    again = pd.concat([frame, answered.head(1)])  # one of the two was asked again with success
    run = runs.open_runs(write_run(tmp_path / "run", again, parts=2))
    assert run.sql("SELECT item, variant, error FROM errors").values.tolist() == [
        ["item-01", "paraphrase-002", "too long"]
    ]
    assert tables.tabulate_item_answers_over_paraphrases(run)["n_variants"].tolist() == [2, 3]
    assert cases.tabulate_counts_of_invalid_answers(run)[["n_rows", "n_error"]].values.tolist() == [[7, 1]]


def test_views_of_errors_and_units_have_the_same_types_with_and_without_rows(tmp_path):
    frame = random_frame(items=2, paraphrases=2)
    failed = frame.assign(error=None)
    failed.loc[0, ["agreement", "error"]] = [None, "timeout"]
    whole, with_error = (
        runs.open_runs(write_run(tmp_path / name, rows)) for name, rows in (("whole", frame), ("error", failed))
    )
    columns = [("study", "VARCHAR"), ("model", "VARCHAR"), ("condition", "VARCHAR")]
    for run, n_errors in ((whole, 0), (with_error, 1)):
        assert [row[:2] for row in run.execute("DESCRIBE units").fetchall()] == [*columns, ("position", "BIGINT")]
        assert [row[:2] for row in run.execute("DESCRIBE errors").fetchall()] == [
            *columns, ("item", "VARCHAR"), ("variant", "VARCHAR"), ("error", "VARCHAR"),
        ]  # fmt: skip
        assert len(run.sql("FROM errors")) == n_errors


def test_a_key_that_failed_twice_is_one_error(tmp_path):
    frame = random_frame(items=2, paraphrases=2)
    frame["error"] = [*[None] * (len(frame) - 1), "out of memory"]
    frame.loc[frame["error"].notna(), "agreement"] = None
    run = runs.open_runs(write_run(tmp_path / "run", pd.concat([frame, frame.tail(1)])))
    assert cases.tabulate_counts_of_invalid_answers(run)["n_error"].tolist() == [1]


def test_a_model_that_only_failed_is_listed(tmp_path):
    frame = random_frame(["a", "b"], items=2, paraphrases=2)
    frame["error"] = frame["model"].map({"a": None, "b": "refused"})
    frame.loc[frame["model"] == "b", "agreement"] = None
    run = runs.open_runs(write_run(tmp_path / "run", frame))
    table = tables.tabulate_stability(run).set_index("model")
    assert table.loc["b", ["n_items", "n_variants", "n_excluded_items"]].tolist() == [0, 0, 2]
    assert table.loc["b", ["validity", "validity_se", "range_mean", "sd_sd", "flip_05"]].isna().all()
    assert table.loc["b", "mark"] == ""


# several folders


def test_folders_of_one_study_are_put_together(tmp_path):
    frame = random_frame(["a", "b", "c"], items=3, paraphrases=4)
    whole = write_run(tmp_path / "whole", frame)
    parts = [write_run(tmp_path / name, frame[frame["model"] == name]) for name in "abc"]
    pd.testing.assert_frame_equal(
        tables.tabulate_stability(runs.open_runs(*parts)), tables.tabulate_stability(runs.open_runs(whole))
    )


def test_one_model_may_be_split_over_folders(tmp_path):
    frame = random_frame(items=3, paraphrases=4)
    whole = write_run(tmp_path / "whole", frame)
    for name, chosen in (("one", frame["item"] == "item-01"), ("two", frame["item"] != "item-01")):
        write_run(tmp_path / name, frame.assign(model=frame["model"].where(chosen) if "model" in frame else None))
    pd.testing.assert_frame_equal(
        tables.tabulate_item_answers_over_paraphrases(runs.open_runs(tmp_path / "one", tmp_path / "two")),
        tables.tabulate_item_answers_over_paraphrases(runs.open_runs(whole)),
    )


def test_an_error_in_one_folder_is_made_good_by_another(tmp_path):
    frame = random_frame(items=2, paraphrases=2)
    failed = frame.assign(error=None)
    failed.loc[0, ["agreement", "error"]] = [None, "timeout"]
    first = write_run(tmp_path / "first", failed)
    second = write_run(tmp_path / "second", frame.assign(model=["m", *[None] * (len(frame) - 1)]))
    run = runs.open_runs(first, second)
    assert run.sql("FROM errors").empty
    assert cases.tabulate_counts_of_invalid_answers(run)["n_rows"].tolist() == [len(frame)]


def test_different_studies_stay_apart(tmp_path):
    one = write_run(tmp_path / "one", random_frame(["a", "b"], items=3, paraphrases=4, seed=1), study="first")
    two = write_run(tmp_path / "two", random_frame(["a"], items=2, paraphrases=6, seed=2), study="second")
    both = tables.tabulate_stability(runs.open_runs(one, two))
    apart = pd.concat(
        [tables.tabulate_stability(runs.open_runs(one)), tables.tabulate_stability(runs.open_runs(two))],
        ignore_index=True,
    )
    pd.testing.assert_frame_equal(both, apart)
    assert both["study"].tolist() == ["first", "first", "second"]
    assert both["n_items"].tolist() == [3, 3, 2]


def test_some_studies_of_runs_know_all_their_models(tmp_path):
    """A model has the same look in figures of both."""
    rows = random_frame(["a", "b"], items=2, paraphrases=2)
    both = write_run(tmp_path / "both", rows, study="first")
    one = write_run(tmp_path / "one", rows[rows["model"] == "b"], study="second")
    assert runs.open_runs(both, one).select_studies(["second"]).models == ("a", "b")


def test_fields_are_completed_from_other_folders(tmp_path):
    frame = random_frame(["a", "b"], items=2)
    one = write_run(tmp_path / "one", frame[frame["model"] == "a"], models={"a": {"series": None}})
    two = write_run(tmp_path / "two", frame[frame["model"] == "b"])
    edit_run_json(two, models={name: {"revision": "0", "series": "s"} for name in "ab"})
    assert runs.open_runs(one, two).info["models"]["a"]["series"] == "s"


# the house


def test_importing_is_light():
    code = "import sys, analysis.runs; print(sorted({'duckdb', 'pandas', 'pyarrow', 'numpy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path.cwd())
    assert done.stdout.strip() == "[]"


def test_columns_without_values_are_nulls_of_their_type(tmp_path):
    frame = pd.DataFrame({"item": ["a", "b"], "variant": "original", "agreement": [0.5, 0.7]})
    opened = runs.open_runs(write_run(tmp_path / "run", frame))
    columns = opened.build_select_list_of_response_columns(
        "synthetic", ["item", "count", "output", "probability", "invalid"]
    )
    assert columns.count("NULL") == 3
    written = opened.sql(f"SELECT {columns} FROM responses ORDER BY item")
    plain = opened.sql('SELECT item, "count", output, probability, invalid FROM responses ORDER BY item')
    pd.testing.assert_frame_equal(written, plain)


def test_closed_runs_are_said_to_be_closed_and_no_file_is_blamed(opened):
    closed = opened(random_frame(["a"], items=2, paraphrases=3))
    closed.close()
    with pytest.raises(duckdb.ConnectionException, match="closed"):
        closed.sql("SELECT * FROM responses")
    assert closed.info["studies"]


INTERRUPTED = """
import importlib.abc, signal, sys
class Interrupt(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "pandas._libs":
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
from analysis import runs
runs.open_runs(sys.argv[1]).sql("SELECT 1")
"""


def test_an_interrupt_while_pandas_is_imported_is_an_interrupt(folder):
    ended = subprocess.run([sys.executable, "-c", INTERRUPTED, str(folder)], capture_output=True, text=True)
    assert ended.stderr.rstrip().endswith("KeyboardInterrupt")
