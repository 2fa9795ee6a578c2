"""What a command says while it works: less or more, bars and colour in a terminal, and in no file."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path

import pytest

from ground import progress
from ground.command import run_command
from ground.errors import InputError

ROOT = Path(__file__).resolve().parents[2]
RED = "\033[31m"
SAYS = """
import sys
from ground import progress
from ground.command import print_failure_and_return_status
progress.print_progress("how far")
progress.print_warning("careful")
with progress.import_progress_bar_class()(total=2, disable=not progress.can_show_progress_bars()) as bar:
    bar.update(2)
print(progress.colour_text("broken", "red", sys.stdout))
sys.exit(print_failure_and_return_status("waver", 2, "a.csv: no such file"))
"""


def call_in_terminal(**environment: str) -> str:
    """Run `SAYS` in a terminal; what it shows."""
    import pty
    import termios

    parent, child = pty.openpty()
    termios.tcsetwinsize(child, (24, 100))
    variables = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
    variables |= {"PYTHONPATH": str(ROOT), "TERM": "xterm", **environment}
    process = subprocess.Popen([sys.executable, "-c", SAYS], stdout=child, stderr=child, stdin=child, env=variables)
    os.close(child)
    shown = b""
    while True:
        try:
            part = os.read(parent, 4096)
        except OSError:  # Linux says so at the end
            break
        if not part:
            break
        shown += part
    os.close(parent)
    assert process.wait() == 2
    return shown.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="has no pty")
class TestInATerminal:
    def test_there_are_bars_and_colour(self):
        shown = call_in_terminal()
        assert f"{RED}waver:\033[0m a.csv: no such file" in shown and f"{RED}broken" in shown
        assert "\033[33mcareful\033[0m" in shown and "2/2" in shown and "how far" in shown

    def test_no_color_keeps_the_bars(self):
        shown = call_in_terminal(NO_COLOR="1")
        assert "\033[3" not in shown and "2/2" in shown and "waver: a.csv: no such file" in shown

    def test_an_empty_no_color_says_nothing(self):
        assert RED in call_in_terminal(NO_COLOR="")

    def test_a_terminal_that_cannot_move_its_cursor_gets_lines_only(self):
        shown = call_in_terminal(TERM="dumb")
        assert "\033" not in shown and "2/2" not in shown and "careful" in shown


def test_a_file_gets_neither_bars_nor_colour():
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm"}
    done = subprocess.run([sys.executable, "-c", SAYS], capture_output=True, text=True, env=variables)
    assert done.stdout == "broken\n"
    assert done.stderr == "how far\ncareful\nwaver: a.csv: no such file\n"


def build_parser() -> ArgumentParser:
    parser = ArgumentParser()
    parser.add_argument("command")
    progress.add_loudness_options(parser, "more")
    return parser


def say_all(options) -> None:
    print("result")
    progress.print_result_line_even_if_quiet("remark")
    progress.print_progress("progress")
    if progress.is_verbose():
        progress.print_progress("detail")
    progress.print_warning("warning")


@pytest.mark.parametrize(
    ("words", "out", "err"),
    [
        ([], "result remark", "progress warning"),
        (["--verbose"], "result remark", "progress detail warning"),
        (["--quiet"], "", "remark warning"),
    ],
)
def test_quiet_and_verbose(words, out, err, capsys):
    assert run_command(["ask", *words], "waver", build_parser, say_all, stopped_message="stopped") == 0
    printed = capsys.readouterr()
    assert (printed.out.split(), printed.err.split()) == (out.split(), err.split())
    assert not progress.is_quiet() and not progress.is_verbose()  # of the next command


def test_a_quiet_command_tells_failures(capsys):
    def fail(options) -> None:
        raise InputError("a.csv: no such file")

    assert run_command(["ask", "--quiet"], "waver", build_parser, fail, stopped_message="stopped") == 2
    assert capsys.readouterr().err == "waver: a.csv: no such file\n"


def test_libraries_draw_no_bars_in_a_file(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    monkeypatch.setenv("HF_HUB_DISABLE_PROGRESS_BARS", "0")
    progress.hide_library_bars_where_none_can_show()
    assert os.environ["TQDM_DISABLE"] == "1" and os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] == "0"
