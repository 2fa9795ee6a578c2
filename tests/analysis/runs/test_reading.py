"""Files that a user names: what is read, and where a fault is."""

from __future__ import annotations

import pytest

from analysis.runs import reading
from ground.errors import InputError


def written(tmp_path, content):
    file = tmp_path / "f"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def test_yaml_is_read_as_its_text_says_it(tmp_path):
    """Nothing is guessed: YAML 1.1 makes 1000 of the first, True of the second, 90 of the third, and no date of any."""
    file = written(
        tmp_path, "\ufeffa: 1_000\nb: yes\nc: 1:30\nd: 2024-13-45\ne: !!int x\nf: ~\ng: '~'\nh: [1, {i: null}]\n"
    )
    assert reading.read_yaml_file(file) == {
        "a": "1_000", "b": "yes", "c": "1:30", "d": "2024-13-45", "e": "x", "f": None, "g": "~", "h": ["1", {"i": None}]
    }  # fmt: skip


@pytest.mark.slow
def test_yaml_is_what_pyyaml_reads(shared):
    import yaml

    file = shared / "swallow-leaderboard" / "model_v2_HEAD.yml"
    with file.open(encoding="utf-8") as text:
        assert reading.read_yaml_file(file) == yaml.load(text, Loader=yaml.CBaseLoader)


def test_a_tag_builds_no_object(tmp_path):
    file = written(tmp_path, "a: !!python/object/apply:os.getcwd []\nb: !!python/name:os.system x\n")
    assert reading.read_yaml_file(file) == {"a": [], "b": "x"}


def test_aliases_stand_for_what_they_name(tmp_path):
    file = written(tmp_path, "a: &a {MT: 1}\nb: *a\n")
    assert reading.read_yaml_file(file) == {"a": {"MT": "1"}, "b": {"MT": "1"}}


def test_rows_have_the_lines_of_the_file(tmp_path):
    file = written(tmp_path, 'a, b\n1,"two\nlines"\n\n 3 ,4\n')
    assert reading.read_csv_file(file) == [(3, {"a": "1", "b": "two\nlines"}), (5, {"a": "3", "b": "4"})]


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_the_header_tells_the_delimiter(tmp_path, mark):
    file = written(tmp_path, f'a{mark}b\r\n"x,y;z"{mark}2\r\n')
    assert reading.read_csv_file(file) == [(2, {"a": "x,y;z", "b": "2"})]


def test_the_size_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MOST_BYTES", 3)
    assert reading.read_text(written(tmp_path, "abc")) == "abc"
    with pytest.raises(InputError, match="4 bytes; more than 3 are not read"):
        reading.read_text(written(tmp_path, "abcd"))


def test_utf_16_is_read_and_what_leaves_the_delimiter_open_is_refused(tmp_path):
    file = tmp_path / "t.csv"
    file.write_bytes('a;"b,c"\n1;2\n'.encode("utf-16"))
    assert reading.read_csv_file(file) == [(2, {"a": "1", "b,c": "2"})]
    file.write_text("a;b,c\n1;2\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 1: as many ',' as ';'"):
        reading.read_csv_file(file)
    with pytest.raises(InputError, match="workbook is not read here; save its sheet as CSV UTF-8"):
        reading.read_csv_file(tmp_path / "t.xlsx")
