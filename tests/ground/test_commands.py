"""Commands are found by scanning the folders of a wing, and nothing is imported for that."""

from __future__ import annotations

from pathlib import Path

import pytest

from ground.commands import Command, find_commands
from helpers.commands import ROOT

ONE = 'COMMAND = "count"\nHELP = "count the " "rows"\nraise SystemExit("imported")\n'
WORD = 'COMMAND = "tune"\nHELP = "tune a model"\nLISTED = ("kinds", "KIND")\n'
ALL = """COMMAND = "pairs"
HELP = "make pairs"
VERBS = {"b": "second", "a": "first"}
COMMANDS = {"a": None, "b": None}
"""


def write(file: Path, text: str) -> None:
    for folder in (*reversed(file.parents[:2]), file.parent):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "__init__.py").touch()
    file.write_text(f'"""A module."""\n\n{text}', encoding="utf-8")


@pytest.fixture
def wing(tmp_path):
    write(tmp_path / "wing" / "__main__.py", 'ABOUT = {"run": "ask", "all": "do all"}\n')
    write(tmp_path / "wing" / "study" / "command_count.py", ONE)
    write(tmp_path / "wing" / "tune" / "__init__.py", WORD)
    return tmp_path / "wing"


def test_commands_of_the_wing_come_first_and_then_those_of_its_folders_by_name(wing):
    write(wing / "study" / "pairs" / "command.py", ALL)
    assert list(find_commands(wing)) == ["run", "all", "count", "pairs", "tune"]
    assert find_commands(wing)["run"] == Command("wing.__main__", "ask")
    assert find_commands(wing)["count"] == Command("wing.study.command_count", "count the rows")


def test_verbs_of_one_file_and_of_several_are_found(wing):
    write(wing / "study" / "pairs" / "command.py", ALL)
    for name in ("other", "study"):
        write(wing / name / "tune" / "command.py", f'COMMAND = "tune {name}"\nHELP = "tune for {name}"\n')
    commands = find_commands(wing)
    assert {verb: command.about for verb, command in commands["pairs"].verbs.items()} == {"a": "first", "b": "second"}
    assert commands["tune"].about == "tune a model" and commands["tune"].listed == ("kinds", "KIND")
    assert commands["tune"].verbs == {
        name: Command(f"wing.{name}.tune.command", f"tune for {name}") for name in ("other", "study")
    }


def test_a_folder_that_another_version_left_has_no_command(wing):
    left = wing / "left"
    (left / "__pycache__").mkdir(parents=True)
    (left / "command.py").write_text(f"\n{ONE}", encoding="utf-8")
    assert list(find_commands(wing)) == ["run", "all", "count", "tune"]


def test_no_word_is_a_command_of_both_wings_or_of_two_files():
    words = [word for wing in ("inference", "analysis") for word in find_commands(ROOT / wing)]
    assert len(words) == len(set(words)) > 15
    for command in find_commands(ROOT / "inference").values():
        assert command.about and all(verb.about for verb in command.verbs.values())
