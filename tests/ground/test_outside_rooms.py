"""What other packages add is listed from their metadata, and one that is wrong is told in one line."""

from __future__ import annotations

import sys

import pytest

from ground import outside_rooms
from ground.commands import Command, build_command_with_outside_verbs
from ground.errors import InputError, RoomFailed
from ground.outside_rooms import (
    OutsideRoom,
    find_module_file,
    import_module_of_room_or_warn,
    list_help_lines_of_packages_with_rooms,
    map_names_to_outside_rooms,
    wrap_room_function_with_clear_errors,
)
from helpers.outside_packages import write_package

ROOM = OutsideRoom("page", "toy", "waver_toy", "waver-toy", "1.0")
RAISING = {"waver_toy/__init__.py": "raise SystemExit('imported')\n"}


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder in which packages are installed; what was listed and said before is forgotten."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(outside_rooms, "_PRINTED_LINES", set())
    outside_rooms.read_rooms_from_entry_points.cache_clear()
    yield tmp_path
    outside_rooms.read_rooms_from_entry_points.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "waver_toy"]:
        del sys.modules[name]


def test_rooms_are_listed_with_package_and_version_and_nothing_is_imported(site, capsys):
    write_package(site, "waver-toy", "page toy = waver_toy\nimporter toy = waver_toy.toy", RAISING, "2.1")
    assert map_names_to_outside_rooms("page") == {"toy": OutsideRoom("page", "toy", "waver_toy", "waver-toy", "2.1")}
    assert map_names_to_outside_rooms("engine") == {}
    assert list_help_lines_of_packages_with_rooms() == ["waver-toy 2.1: importer toy, page toy"]
    assert capsys.readouterr().err == ""


def test_nothing_outside_takes_a_name_that_is_taken(site, capsys):
    write_package(site, "waver-b", "page toy = b\npage index = b\npage stability = b", {})
    write_package(site, "waver-a", "page toy = a", {})
    assert {name: room.package for name, room in map_names_to_outside_rooms("page", ["stability"]).items()} == {
        "toy": "waver-a"
    }
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(" is left out: ")[0] for line in lines] == [
        "waver: page index of waver-b 1.0", "waver: page stability of waver-b 1.0", "waver: page toy of waver-b 1.0",
    ]  # fmt: skip
    assert "waver-a 1.0 has one of this name, too" in lines[2]
    assert all(line.endswith("to remove the package: pip uninstall waver-b") for line in lines)
    map_names_to_outside_rooms("page", ["stability"])
    assert capsys.readouterr().err == ""  # said once


def test_names_and_modules_that_cannot_be_are_told_without_control_characters(site, capsys):
    write_package(site, "waver-toy", "page Toy\x1b[31m = a\npage path = /etc/toy.py\npage object = a:b", {})
    assert map_names_to_outside_rooms("page") == {}
    said = capsys.readouterr().err
    assert said.count("\n") == 3 and "\x1b" not in said


def test_broken_metadata_of_one_package_hides_no_other(site, capsys):
    write_package(site, "waver-toy", "page toy = waver_toy", {})
    for name, text in {"a": b"[waver.pages]\nno equals sign\n", "b": b"\xff\xfe", "c": b""}.items():
        (site / f"{name}-1.dist-info").mkdir()
        (site / f"{name}-1.dist-info" / "entry_points.txt").write_bytes(text)
    assert list(map_names_to_outside_rooms("page")) == ["toy"]
    assert "entry_points.txt cannot be read" in capsys.readouterr().err


def test_files_of_modules_are_found_without_importing_their_packages(site):
    write_package(site, "waver-toy", "", {**RAISING, "waver_toy/a/__init__.py": "", "waver_toy/b.py": ""})
    assert find_module_file("waver_toy.a") == site / "waver_toy" / "a" / "__init__.py"
    assert find_module_file("waver_toy.b") == site / "waver_toy" / "b.py"
    assert find_module_file("waver_toy.c") is find_module_file("nowhere_at_all.c") is None
    assert "waver_toy" not in sys.modules


def test_a_room_that_cannot_be_imported_is_told_with_the_line(site, capsys):
    write_package(site, "waver-toy", "page toy = waver_toy", RAISING)
    assert import_module_of_room_or_warn(ROOM) is None
    line = capsys.readouterr().err
    assert "page toy of waver-toy 1.0 is left out: it cannot be imported: SystemExit: imported" in line
    assert "waver_toy/__init__.py, line 1" in line


def test_errors_of_a_room_name_its_package_but_its_words_to_users_stay():
    def fail(error):
        raise error

    with pytest.raises(RoomFailed, match=r"page toy of waver-toy 1\.0 failed: KeyError: 'x' .*; tell its authors"):
        wrap_room_function_with_clear_errors(ROOM, fail)(KeyError("x"))
    for error in (InputError("row 2: correct it"), OSError(28, "no room"), KeyboardInterrupt()):
        with pytest.raises(type(error)) as caught:
            wrap_room_function_with_clear_errors(ROOM, fail)(error)
        assert caught.value is error


def test_verbs_of_a_command_come_from_files_that_say_them(site, capsys):
    right = 'COMMAND = "import toy"\nHELP = "import 5 % of toys"\nraise SystemExit("imported")\n'
    write_package(site, "waver-toy", "importer toy = waver_toy.toy", {**RAISING, "waver_toy/toy.py": right})
    command = build_command_with_outside_verbs(Command("m", verbs={"table": Command("t")}), "import", "importer")
    assert {name: verb.about for name, verb in command.verbs.items()} == {
        "table": "", "toy": "import 5 % of toys (waver-toy 1.0)",
    }  # fmt: skip
    assert capsys.readouterr().err == ""
