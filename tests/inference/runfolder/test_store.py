"""The run folder: rows come back as they were given, nothing is half there, nothing changes under a known name."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ground import run_json
from ground.errors import InputError
from helpers.trivial_engine import small_study
from inference.runfolder import parquet, responses
from inference.runfolder.parquet import KEY, read_arrow_schema_of_table
from inference.runfolder.store import Run, look_up_python_and_library_versions
from inference.runfolder.stored_study import read_stored_study
from inference.stimuli.study import Item, Variant

STUDY = small_study()
INFO = {"engine": "causal", "revision": "1", "dtype": "float32", "device": "cpu", "series": "s"}
FIELDS = {"form": "plain", "option_order": "yes-no", "prompt": None, "prompt_hash": "h"}


def row(item: str = "0", variant: str = "original", **fields) -> dict:
    return {"model": "m", "condition": "c", "item": item, "variant": variant, **fields}


def rows_of(path) -> list[dict]:
    found = [
        r
        for part in sorted((path / "responses").glob("part-*.parquet"))
        for r in pq.read_table(part, partitioning=None).to_pylist()
    ]
    return sorted(found, key=lambda r: [r[name] for name in KEY])


def content(path) -> dict:
    return json.loads((path / "run.json").read_text(encoding="utf-8"))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a=b" / "run"  # a name that Parquet readers like to take for a partition


def test_a_new_folder_holds_the_study(path):
    with Run.create_or_open(path, STUDY, seed=3, command=["x"]) as run:
        run.finish()
    stimuli = pq.read_table(path / "stimuli.parquet", partitioning=None)
    assert stimuli.schema.equals(read_arrow_schema_of_table("stimuli"))
    assert [r["text"] for r in stimuli.to_pylist()] == [v.text for v in STUDY.variants]
    about = content(path)
    rule = run_json.SCHEMA["run"]["content"]
    assert list(run_json.iterate_schema_problems(about, rule, "run.json")) == []
    assert set(about) <= set(rule["properties"])
    assert about["study"]["hash"] == STUDY.hash
    assert (about["seed"], about["decision_rule"], about["format"]) == (3, STUDY.decision_rule, 1)
    (session,) = about["sessions"]
    assert session["command"] == ["x"]
    assert session["started"] <= session["finished"]
    assert set(session["versions"]) >= {"python", "waver", "torch", "transformers", "pyarrow", "platform"}


@pytest.mark.slow
def test_versions_import_nothing():
    code = "import sys; from inference.runfolder.store import look_up_python_and_library_versions; "
    code += "look_up_python_and_library_versions(); "
    code += "print({'torch', 'transformers'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
    assert look_up_python_and_library_versions()["pyarrow"] == pa.__version__


def test_versions_are_read_once(monkeypatch):
    before = look_up_python_and_library_versions()
    monkeypatch.delattr("importlib.metadata.version")
    assert look_up_python_and_library_versions() == before


GIVEN = [
    row(probability=[0.1, 0.2], logprob=[-2.3, -1.6], mass=0.3, answer="agree"),
    row("1", count=[1, 2], invalid=0, clipped=1, output=["Yes.", ""]),
    row("2", error="too long"),
]


@pytest.mark.parametrize("shape", ["rows", "columns", "table"])
def test_rows_come_back_whatever_shape_they_came_in(path, shape):
    names = list(dict.fromkeys(name for r in GIVEN for name in r))
    columns = {name: [r.get(name) for r in GIVEN] for name in names}
    with Run.create_or_open(path, STUDY) as run:
        run.responses.append_rows_as_part({"rows": GIVEN, "columns": columns, "table": pa.table(columns)}[shape])
    expected = dict.fromkeys(read_arrow_schema_of_table("responses").names) | {"study": "small"}
    assert rows_of(path) == [{**expected, **r} for r in GIVEN]
    (part,) = (path / "responses").iterdir()
    assert pq.read_schema(part).equals(read_arrow_schema_of_table("responses"))


@pytest.mark.parametrize("wrong", [row(probabilty=[1.0]), {"model": "m"}, row(mass="much")])
def test_rows_that_do_not_fit_are_a_programming_error(path, wrong):
    with Run.create_or_open(path, STUDY) as run, pytest.raises((ValueError, pa.ArrowInvalid)):
        run.responses.append_rows_as_part([wrong])


def test_nothing_to_append_makes_no_part(path):
    with Run.create_or_open(path, STUDY) as run:
        run.responses.append_rows_as_part([])
        assert run.responses.parts == []


def test_texts_that_a_model_wrote_are_stored_without_nul(path):
    """CSV exports had it, and `import eee` refused the record of such an export."""
    texts = {"output": ["a\0b", ""], "thought": [None, "\0"]}
    with Run.create_or_open(path, STUDY) as run:
        run.responses.append_rows_as_part([row(**texts), row("1", output=["c"])])
    assert [(r["output"], r["thought"]) for r in rows_of(path)] == [(["a\ufffdb", ""], [None, "\ufffd"]), (["c"], None)]


numbers = st.floats(allow_nan=False)


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.text(st.characters(exclude_categories=("Cs",))),
            numbers,
            st.none() | st.text(st.characters(exclude_categories=("Cs",))),
        ),
        max_size=5,
    )
)
def test_any_text_and_number_comes_back_bit_by_bit(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("run") / "run"
    given_rows = [
        row(f"i{n}", text, probability=[number], mass=number, answer=answer)
        for n, (text, number, answer) in enumerate(values)
    ]
    with Run.create_or_open(path, STUDY) as run:
        run.responses.append_rows_as_part(given_rows)
    assert [(r["variant"], r["probability"], r["mass"], r["answer"]) for r in rows_of(path)] == [
        (r["variant"], r["probability"], r["mass"], r["answer"]) for r in given_rows
    ]


def test_done_is_what_has_a_response_under_this_model_and_condition(path):
    with Run.create_or_open(path, STUDY) as run:
        run.responses.append_rows_as_part(
            [row("0", mass=1.0), row("1", error="e"), row("2", mass=1.0) | {"model": "other"}]
        )
        run.responses.append_rows_as_part([row("0", "p", mass=1.0), row("0", "q", mass=1.0) | {"condition": "other"}])
        assert run.responses.list_answered_keys("m", "c") == {("0", "original"), ("0", "p")}
        assert run.responses.list_answered_keys("m", "nothing") == set()


def test_parts_are_numbered_on_in_a_second_session(path):
    for _ in range(2):
        with Run.create_or_open(path, STUDY) as run:
            run.responses.append_rows_as_part([row()])
    assert [part.name[:11] for part in run.responses.parts] == ["part-000001", "part-000002"]
    assert len(content(path)["sessions"]) == 2


def test_an_error_row_gives_way_to_a_later_response(path):
    with Run.create_or_open(path, STUDY) as run:
        run.responses.append_rows_as_part([row("0", error="e"), row("1", error="first"), row("2", mass=0.5)])
        run.responses.append_rows_as_part([row("1", error="second")])
        run.responses.append_rows_as_part([row("0", mass=1.0)])
        run.finish()
    assert [(r["item"], r["error"], r["mass"]) for r in rows_of(path)] == [
        ("0", None, 1.0),
        ("1", "second", None),
        ("2", None, 0.5),
    ]


def test_superseded_rows_also_go_when_the_folder_is_opened(path):
    with Run.create_or_open(path, STUDY) as run:
        run.responses.append_rows_as_part([row("0", error="e")])
        run.responses.append_rows_as_part([row("0", mass=1.0)])
    assert len(rows_of(path)) == 2
    with Run.create_or_open(path, STUDY) as run:
        assert len(run.responses.parts) == 1
    assert len(rows_of(path)) == 1


def test_parts_without_errors_are_not_touched_by_compaction(path):
    with Run.create_or_open(path, STUDY) as run:
        run.responses.append_rows_as_part([row("0", mass=1.0)])
        before = run.responses.parts[0].stat()  # a replaced file is another inode
        run.responses.append_rows_as_part([row("1", error="e")])
        run.responses.append_rows_as_part([row("1", mass=1.0)])
        run.finish()
    after = run.responses.parts[0].stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert [part.name[:11] for part in run.responses.parts] == ["part-000001", "part-000003"]


def test_leftovers_of_a_killed_process_are_removed(path):
    with Run.create_or_open(path, STUDY) as run:
        run.responses.append_rows_as_part([row()])
    whole = set(path.rglob("*"))
    for name in (".run.json.7", ".stimuli.parquet.7", "responses/.part-000002-x.parquet.7", "run.json.tmp"):
        (path / name).write_bytes(b"half")
    (path / ".report.7").mkdir()  # another command writes it
    with Run.create_or_open(path, STUDY):
        assert set(path.rglob("*")) == {*whole, path / ".report.7"}
    assert len(rows_of(path)) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "left",
    [
        [],
        [".lock"],
        [".DS_Store"],
        ["stimuli.parquet"],
        [".stimuli.parquet.7"],
        [".run.json.7", "stimuli.parquet"],
        ["run.json.tmp"],
    ],
)
def test_a_folder_whose_making_was_cut_short_is_made_again(path, left):
    (path / "responses").mkdir(parents=True)
    for name in left:
        (path / name).write_bytes(b"half")
    with Run.create_or_open(path, STUDY) as run:
        run.responses.append_rows_as_part([row()])
    assert pq.read_table(path / "stimuli.parquet", partitioning=None).num_rows == 15


def test_responses_without_run_json_are_no_answers_to_another_study(path):
    with Run.create_or_open(path, STUDY) as run:
        run.responses.append_rows_as_part([row()])
    (path / "run.json").unlink()
    before = {file: file.read_bytes() for file in path.rglob("*.parquet")}
    for study in (STUDY, small_study(items=7)):
        with pytest.raises(InputError, match=r"holds responses, but no run.json; restore that file"):
            Run.create_or_open(path, study)
    assert {file: file.read_bytes() for file in path.rglob("*.parquet")} == before


@pytest.mark.parametrize("content", [b"", b"half a file", b"PAR1 half a file"])
def test_a_part_damaged_in_copying_is_named(path, content):
    with Run.create_or_open(path, STUDY) as run:
        run.responses.append_rows_as_part([row()])
    run.responses.parts[0].write_bytes(content)
    with pytest.raises(InputError, match=r"part-000001-.*parquet: damaged .*; remove it, then repeat the command"):
        Run.create_or_open(path, STUDY)


def test_a_file_that_is_gone_is_not_to_be_removed(path):
    with Run.create_or_open(path, STUDY) as run:
        run.responses.append_rows_as_part([row()])
    (path / "stimuli.parquet").unlink()
    with pytest.raises(InputError, match=r"stimuli.parquet: cannot be read: it is not there; bring it back"):
        read_stored_study(path)
    (path / "stimuli.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"stimuli.parquet: damaged .*; bring a whole copy of it back"):
        read_stored_study(path)


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (OSError(errno.EIO, "[Errno 5] Error reading bytes from file"), f"{os.strerror(errno.EIO)}; see to it"),
        (PermissionError(errno.EACCES, "[Errno 13] Failed to open local file"), "permission denied; make it readable"),
        (pa.ArrowMemoryError("malloc of size 4096 failed"), "memory has run out; end other programs"),
    ],
)
def test_a_whole_part_that_cannot_be_read_is_not_to_be_removed(path, monkeypatch, error, says):
    def fail(*_: object, **__: object) -> None:
        raise error

    with Run.create_or_open(path, STUDY) as run:
        run.responses.append_rows_as_part([row()])
    monkeypatch.setattr(pq, "read_metadata", fail)
    with pytest.raises(InputError, match=rf"part-000001-.*parquet: cannot be read: {says}"):
        Run.create_or_open(path, STUDY)


def refuse(run: Run, rows: list[dict]) -> None:
    run.responses.append_rows_as_part(rows)
    raise InputError("no model")


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize("rows", [0, 1])
def test_a_refused_call_leaves_no_new_folder_but_every_row(tmp_path, there, rows):
    folder = tmp_path / "new" / "run"
    if there:
        folder.mkdir(parents=True)
    with pytest.raises(InputError, match="no model"), Run.create_or_open(folder, STUDY) as run:
        refuse(run, [row()] * rows)
    if rows:
        assert len(run.responses.parts) == 1
        assert (folder / "run.json").exists()
    elif there:
        assert list(folder.iterdir()) == []
    else:
        assert list(tmp_path.iterdir()) == []


def test_a_refused_call_leaves_a_run_that_was_there(path):
    with Run.create_or_open(path, STUDY) as run:
        run.finish()
    with pytest.raises(InputError, match="no model"), Run.create_or_open(path, STUDY) as run:
        refuse(run, [])
    assert {"run.json", "stimuli.parquet"} <= {file.name for file in path.iterdir()}


def test_a_failing_write_leaves_the_old_file(path, monkeypatch):
    with Run.create_or_open(path, STUDY) as run:
        before = content(path)

        def fail(where, columns, **settings):
            where.write_bytes(b"half")
            raise OSError("disk full")

        monkeypatch.setattr(parquet.pq, "ParquetWriter", fail)
        with pytest.raises(OSError, match="disk full"):
            run.responses.append_rows_as_part([row()])
        assert run.responses.parts == []
    assert content(path) == before


class TestRefused:
    """What may not change under a known name, and folders that are not ours."""

    def open(self, path, study=STUDY, **options) -> Run:
        return Run.create_or_open(path, study, **options)

    @pytest.fixture(autouse=True)
    def begun(self, path):
        with self.open(path, seed=1) as run:
            run.add_model("m", INFO)
            run.add_condition("c", FIELDS)

    @pytest.mark.parametrize(
        ("field", "value"), [("engine", "masked"), ("revision", None), ("dtype", "bfloat16"), ("device", "cuda")]
    )
    def test_a_changed_model(self, path, field, value):
        with (
            self.open(path) as run,
            pytest.raises(
                InputError,
                match=f"model 'm' is already here with other settings \\({field} was {INFO[field]}, now {value}\\)",
            ),
        ):
            run.add_model("m", {**INFO, field: value})

    @pytest.mark.parametrize("field", FIELDS)
    def test_a_changed_condition(self, path, field):
        with self.open(path) as run, pytest.raises(InputError, match=f"condition 'c' is already here .*{field} was"):
            run.add_condition("c", {**FIELDS, field: "new"})

    def test_descriptions_may_be_completed_and_names_added(self, path):
        with self.open(path) as run:
            run.add_model("m", {**INFO, "series": "t", "stage": "base"})
            run.add_model("n", {**INFO, "dtype": "float16"})
            run.add_condition("c", FIELDS)
            run.add_condition("d", {**FIELDS, "option_order": "no-yes"})
        assert content(path)["models"] == {
            "m": {**INFO, "series": "t", "stage": "base"},
            "n": {**INFO, "dtype": "float16"},
        }
        assert list(content(path)["conditions"]) == ["c", "d"]

    def test_a_changed_study_says_what_changed(self, path):
        first, second, third = STUDY.items
        reworded = Item(second.item, (replace(second.variants[0], text="New."), *second.variants[1:]))
        changed = replace(STUDY, items=(first, reworded))
        with pytest.raises(
            InputError, match=r"5 removed \(such as 2/original\), 1 changed \(such as 1/original\); go back"
        ):
            self.open(path, changed)
        with pytest.raises(InputError, match="in another order"):
            self.open(path, replace(STUDY, items=(second, first, third)))

    def test_another_name_protocol_or_seed(self, path):
        with pytest.raises(InputError, match="the name of the study there is 'small', not 'other'"):
            self.open(path, replace(STUDY, name="other"))
        with pytest.raises(InputError, match="the protocol of the study there is 'agreement', not 'wording'"):
            self.open(path, replace(STUDY, protocol="wording"))
        with pytest.raises(InputError, match="was begun with --seed 1, not 2"):
            self.open(path, seed=2)
        with self.open(path) as run:
            assert run.seed == 1

    def test_another_format_and_damage(self, path):
        (path / "run.json").write_text(json.dumps(content(path) | {"format": 2}), encoding="utf-8")
        with pytest.raises(InputError, match=r"run.json: format 2 is not known here \(this version reads 1\)"):
            self.open(path)
        for damage, said in (
            ("{", "is not valid JSON"), ("[]", "must be an object, not"), ("{}", ": field 'format' is missing"),
        ):  # fmt: skip
            (path / "run.json").write_text(damage, encoding="utf-8")
            with pytest.raises(InputError, match=f"run.json {said}".replace(" :", ":")):
                self.open(path)

    def test_a_second_writer(self, path):
        with self.open(path), pytest.raises(InputError, match="another process is writing to this run"):
            self.open(path)
        self.open(path).close()

    def test_a_refused_call_leaves_everything_as_it_was(self, path):
        before = content(path)
        with pytest.raises(InputError):
            self.open(path, replace(STUDY, name="other"))
        assert content(path) == before
        self.open(path).close()  # and gave the lock back

    def test_a_folder_of_something_else(self, tmp_path):
        mine = tmp_path / "mine"
        mine.mkdir()
        (mine / "thesis.tex").touch()
        with pytest.raises(InputError, match=r"not a run folder \(it holds thesis.tex, no run.json\)"):
            self.open(mine)
        assert [p.name for p in mine.iterdir()] == ["thesis.tex"]
        with pytest.raises(InputError, match=r"thesis\.tex: this is a file; choose another --out"):
            self.open(mine / "thesis.tex")


def test_missing_are_those_that_are_not_done(path, monkeypatch):
    """The reference is `done`; keys that read the same one after the other (1|2a and 12|a) are two keys."""
    monkeypatch.setattr(responses, "LOOKUP_ROWS", 2)
    names = [("1", "2a"), ("12", "a"), ("1", "\0"), ("1\0", ""), ("é", "日本"), ("x", "y")]
    variants = [Variant(item, variant, "original", "Text.", ()) for item, variant in names]
    row = {"model": "m", "condition": "c", "mass": 1.0}
    with Run.create_or_open(path, STUDY) as run:
        assert run.responses.flag_variants_without_response("m", "c", variants) == bytearray([1] * 6)
        run.responses.append_rows_as_part([{**row, "item": item, "variant": variant} for item, variant in names[:1]])
        run.responses.append_rows_as_part([{**row, "item": item, "variant": variant} for item, variant in names[3:5]])
        run.responses.append_rows_as_part([{**row, "item": "x", "variant": "y", "mass": None, "error": "too long"}])
        done = run.responses.list_answered_keys("m", "c")
        assert run.responses.flag_variants_without_response("m", "c", variants) == bytearray(
            key not in done for key in names
        )
        assert list(run.responses.flag_variants_without_response("m", "c", variants)) == [0, 1, 1, 0, 0, 1]
        assert list(run.responses.flag_variants_without_response("m", "other", variants)) == [1] * 6
