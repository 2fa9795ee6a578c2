"""Calls that the shared parser refuses."""

from __future__ import annotations

import pytest

from ground.parser import CommandParser


@pytest.mark.parametrize("words", [["--name="], ["--name", " "], ["--names", "a", ""]])
def test_an_empty_text_is_not_read_as_if_its_option_were_not_given(words, capsys):
    parser = CommandParser(prog="waver")
    parser.add_argument("--name", default="")
    parser.add_argument("--names", nargs="+", type=str)
    assert parser.parse_args([]).name == ""
    with pytest.raises(SystemExit):
        parser.parse_args(words)
    assert "is empty; give a text, or leave the option out" in capsys.readouterr().err
