"""The command `waver`: it lists the commands of both wings and reaches them from any folder."""

from __future__ import annotations

import argparse
import io
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import analysis.__main__
import inference.__main__
import waver

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


def commands(parser: argparse.ArgumentParser) -> set[str]:
    """The sub-commands that a parser knows."""
    (actions,) = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
    return set(actions.choices)


@pytest.fixture
def installed(tmp_path):
    """Call the command as pip installs it: a script in a folder of its own, which is where Python looks first."""
    script = tmp_path / "bin" / "waver"
    script.parent.mkdir()
    script.write_text("import sys\nfrom waver import main\nsys.exit(main())\n", encoding="utf-8")

    def call(*arguments: str, cwd: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, str(script), *arguments], cwd=cwd, capture_output=True, text=True, timeout=120,
            env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        )  # fmt: skip

    return call


def test_it_has_the_commands_of_both_wings():
    assert set(waver.list_commands_by_package()["inference"]) == commands(
        inference.__main__.build_parser_importing_only_called_command([])
    )
    assert set(waver.list_commands_by_package()["analysis"]) == commands(analysis.__main__.build_parser("waver"))


def test_it_is_installed_and_in_the_wheel():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["scripts"] == {"waver": "waver:main"}
    shipped = project["tool"]["hatch"]["build"]["targets"]["wheel"]["include"]
    assert "/waver.py" in shipped
    assert [path for path in shipped if not path.startswith("/")] == []  # would take tests/inference, too


def test_help_lists_every_command_and_imports_neither_wing():
    code = "import sys, waver\nwaver.main(['--help'])\nprint('LOADED', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    said, _, loaded = done.stdout.partition("LOADED")
    for about in waver.list_commands_by_package().values():
        for name, does in about.items():
            assert f"  {name:<12}{does}\n" in said
    assert not {"inference", "analysis", "argparse", "numpy"} & set(loaded.split())


def test_it_works_beside_files_of_the_user_that_are_called_as_the_wings(installed, tmp_path):
    (tmp_path / "analysis.py").write_text("raise SystemExit('the analysis of the user')")
    (tmp_path / "inference").mkdir()
    (tmp_path / "inference" / "__init__.py").write_text("raise SystemExit('the inference of the user')")
    (tmp_path / "waver.py").write_text("raise SystemExit('the waver of the user')")
    for call in (("table", "--list"), ("run", "--help"), ("--version",)):
        done = installed(*call)
        assert done.returncode == 0, done.stderr
        assert "of the user" not in done.stdout + done.stderr
    done = installed("status", "nowhere")
    assert (done.returncode, done.stderr[:22]) == (2, "waver: nowhere: no run")


@pytest.mark.parametrize(
    ("call", "line"),
    [
        ([], "waver: give a command: run, preview, "),
        (["rum"], "waver: there is no command 'rum'; did you mean run? (see waver --help)"),
        (["qqq"], "waver: there is no command 'qqq': run, preview, "),
        (["\udcff"], "waver: there is no command '\\udcff': run, "),
        (["run", "agreement"], "waver run agreement: the following arguments are required: "),
        (["table", "--format", "xml"], "waver table: argument --format: invalid choice: 'xml'"),
        (["table", "nowhere", "stability"], "waver: nowhere"),
        (["import", "table", "none.csv", "--out", "o"], "waver import table: "),
    ],
)
def test_a_wrong_call_is_one_line_in_the_words_that_were_typed(call, line, capsys):
    try:
        status = waver.main(call)
    except SystemExit as left:
        status = left.code
    said = capsys.readouterr().err
    assert status == 2
    assert said.startswith(line)
    assert said.count("\n") == 1
    assert "python -m" not in said


def test_a_run_records_the_command_that_was_typed(tmp_path, monkeypatch, capsys):
    import json

    (tmp_path / "answers.csv").write_text("item,text,answer,model\na,Tea.,yes,m\na,Tea!,no,m\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    call = ["import", "table", "answers.csv", "--out", "run", "--item-column", "item", "--text-column", "text",
            "--answer-column", "answer", "--options", "yes=yes;no=no", "--language", "en",
            "--model-column", "model"]  # fmt: skip
    assert waver.main(call) == 0
    (session,) = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))["sessions"]
    assert session["command"] == ["waver", *call]


def test_what_goes_to_a_file_is_utf_8_on_windows_too(monkeypatch):
    out = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(sys, "stdout", out)
    assert waver.main(["--version"]) == 0
    assert out.encoding == "utf-8"


@pytest.mark.parametrize(
    ("made", "is_in_the_way"),
    [
        ("analysis/mine.py", False),
        ("inference/data.csv", False),
        ("analysis/__init__.py", True),
        ("inference/__init__.py", True),
        ("ground/__init__.py", True),
        ("analysis.py", True),
    ],
)
def test_a_folder_of_the_users_own_does_no_harm_or_is_named(tmp_path, made, is_in_the_way):
    """As in a notebook, whose folder comes first in sys.path."""
    file = tmp_path / made
    file.parent.mkdir(exist_ok=True)
    file.write_text("", encoding="utf-8")
    code = (
        f"import sys; sys.path[:0] = ['']; sys.path.append({str(ROOT)!r})\n"
        "import waver\n"
        "try:\n    waver.open('nowhere')\nexcept Exception as error:\n    print(type(error).__name__, error)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    if is_in_the_way:
        line = done.stderr.splitlines()[-1]
        name = made.split("/")[0].removesuffix(".py")
        assert str(tmp_path / made.removesuffix("/__init__.py")) in line
        assert f"a part that is called {name}; rename yours" in line
    else:
        assert done.returncode == 0 and done.stdout.startswith("InputError nowhere: no such run folder")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("waver ru", ["run"]),
        ("waver run agr", ["agreement"]),
        ("waver run agreement --option-order ", ["no-yes", "yes-no"]),
        ("waver table runs/first --format j", ["json", "jsonl"]),
        ("waver import i", ["inspect"]),
    ],
)
def test_a_shell_completes_commands_options_and_values(line, words, tmp_path):
    pytest.importorskip("argcomplete")
    answer = tmp_path / "answer"
    variables = {
        "_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": "\n", "_ARGCOMPLETE_SHELL": "bash", "COMP_LINE": line,
        "COMP_POINT": str(len(line)), "COMP_TYPE": "9", "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, str(ROOT / "waver.py")], cwd=tmp_path, capture_output=True, text=True, timeout=120,
        env={**os.environ, **variables, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])},
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert sorted(word.strip() for word in answer.read_text().split("\n") if word.strip()) == words


def test_completion_is_imported_by_no_other_call():
    code = "import sys, waver\nwaver.main(['--help'])\nassert 'argcomplete' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
