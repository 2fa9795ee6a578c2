"""A wrong input is one line in a notebook, too; any other error keeps its traceback."""

from __future__ import annotations

import pytest

from ground.errors import InputError, NoSuchModel

pytest.importorskip("IPython")


@pytest.fixture
def shell():
    from IPython.core.interactiveshell import InteractiveShell

    InteractiveShell.clear_instance()
    yield InteractiveShell.instance()
    InteractiveShell.clear_instance()


@pytest.mark.parametrize("kind", [InputError, NoSuchModel])
def test_a_wrong_input_is_one_line_in_a_cell(shell, capsys, kind):
    cell = (
        f"from ground.errors import {kind.__name__}\n"
        "def ask():\n    try:\n        1 / 0\n    except ZeroDivisionError as error:\n"
        f"        raise {kind.__name__}('runs/first: no such\\nrun folder \\x1b[31m') from error\n"
        "ask()"
    )
    result = shell.run_cell(cell)
    shown = capsys.readouterr().out.strip().splitlines()
    assert isinstance(result.error_in_exec, kind)
    assert shown == [f"{kind.__name__}: runs/first: no such run folder \\x1b[31m"]


def test_another_error_keeps_its_traceback(shell, capsys):
    shell.run_cell("1 / 0")
    shown = capsys.readouterr().out
    assert "ZeroDivisionError" in shown and len(shown.splitlines()) > 2
