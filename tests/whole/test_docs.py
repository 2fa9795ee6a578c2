"""What README and docs/ show is true: every call, option, table, link, file and example."""

from __future__ import annotations

import json
import re
import shlex
import struct
import subprocess
import textwrap
import tomllib
from argparse import ArgumentParser
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from shutil import which

import numpy as np
import pandas as pd
import pytest

from analysis.__main__ import _parse_parameters
from analysis.__main__ import build_parser as reader
from analysis.reporting import catalogue
from analysis.reporting.catalogue import tables
from ground.commands import find_commands
from helpers.blocks import BLOCK
from helpers.text_feature_runs import make_run
from helpers.text_features import OPTIONAL, hide
from inference.__main__ import build_parser_importing_only_called_command
from inference.asking.models import read_model_fields_from_yaml
from inference.protocols import list_protocols
from inference.stimuli import items
from waver import list_commands_by_package

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PAGES = {str(path.relative_to(ROOT)): path for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))}
LINKING = {**PAGES, "CONTRIBUTING.md": ROOT / "CONTRIBUTING.md"}
PAPERS = {str(path.relative_to(ROOT)): path for path in sorted((ROOT / "docs" / "site" / "papers").glob("*.md"))}
"""Pages of the site alone, whose links test_site.py follows."""
COMMANDS = list_commands_by_package()
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]


def text_of(page: str) -> str:
    return (LINKING | PAPERS)[page].read_text(encoding="utf-8")


def block(page: str, name: str) -> str:
    """The content of the file that a page shows below "`NAME`:"."""
    found = re.search(rf"`{re.escape(name)}`[^\n]*\n[^\n]*?\n?\n((?:    .*\n|\n(?=    ))+)", text_of(page))
    assert found, f"{page} shows no {name}"
    return textwrap.dedent(found[1])


def calls(page: str) -> Iterator[list[str]]:
    """The words of every call of `waver` that a page shows: in blocks, and between backquotes with arguments."""
    text = text_of(page)
    for lines in BLOCK.findall(text):
        for line in re.sub(r"\\\n\s*", "", lines).splitlines():
            if line.strip().startswith("waver "):
                words = shlex.split(line, comments=True)
                yield words[: words.index(">")] if ">" in words else words
    for span in re.findall(r"`(waver [^`]+)`", BLOCK.sub("", text)):
        words = span.split()
        assert words[1] in {name for commands in COMMANDS.values() for name in commands}, span
        if len(words) > 2:
            yield shlex.split(span)


WITH_A_PACKAGE = "docs/extending.md"  # its calls need the package that it shows: test_extending.py makes them
CALLS = sorted(
    {
        (page, " ".join(map(shlex.quote, words)))
        for page in (*PAGES, *PAPERS)
        if page != WITH_A_PACKAGE
        for words in calls(page)
    }
)


@pytest.mark.parametrize(("page", "call"), CALLS)
def test_every_call_is_one_that_the_command_takes(page, call):
    words = shlex.split(call)[1:]
    if words in (["--help"], ["--version"]):
        return
    if words[0] in COMMANDS["inference"]:
        build_parser_importing_only_called_command(words, "waver").parse_args(words)
        return
    options = reader("waver").parse_args(words)
    given = _parse_parameters(getattr(options, "parameter", []))
    if words[0] == "table" and not options.list:
        name = options.names[-1]
        assert len(options.names) > 1
        assert name in catalogue.list_tables()
        tables.convert_options_to_types_of_defaults(name, given, tables.list_table_options(name))
        explained = tables.explain_tables([name])
        assert all(column in explained for column in (options.columns or "").split(","))
    elif words[0] == "table":
        tables.explain_tables(options.names)
    elif words[0] == "report":
        assert set(given) <= page_parameters()


def page_parameters() -> set[str]:
    """The parameters of all notebooks of the report."""
    cells = [
        cell
        for name in catalogue.map_page_names_to_catalogues()
        for cell in json.loads((ROOT / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    ]
    sources = ["".join(cell["source"]) for cell in cells if "parameters" in cell["metadata"].get("tags", ())]
    return {name for source in sources for name in re.findall(r"^(\w+): ", source, flags=re.MULTILINE)}


def test_enough_calls_were_found():
    """So that a change of layout does not leave the test above without anything to test."""
    commands = {call.split()[1] for _, call in CALLS}
    assert commands >= {name for parts in COMMANDS.values() for name in parts}
    assert len(CALLS) > 50


def options_of_all_commands() -> set[str]:
    """Every long option of every command."""

    def of(parser: ArgumentParser) -> Iterator[str]:
        for action in parser._actions:
            yield from action.option_strings
            for child in action.choices.values() if isinstance(action.choices, dict) else ():
                yield from of(child)

    ways = [[command, name] for command in ("run", "preview") for name in list_protocols()]
    ways += [
        [word, *verb]
        for word, command in find_commands(ROOT / "inference").items()
        for verb in ([[name] for name in command.verbs] or [[]])
    ]
    ways.append(["run", "plan.toml"])
    return {option for way in ways for option in of(build_parser_importing_only_called_command(way, "waver"))} | set(
        of(reader("waver"))
    )


def test_every_option_named_is_one_of_some_command():
    known = options_of_all_commands()
    for page in PAGES:
        for span in re.findall(r"`(--[^`]+)`", BLOCK.sub("", text_of(page))):
            option = re.split(r"[ =]", span.replace("\n", " "))[0]
            assert option in known, f"{page}: {span}"


def test_every_parameter_named_is_one_of_some_table_or_page():
    known = {name for table in catalogue.list_tables() for name in tables.list_table_options(table)}
    for page in PAGES:
        assert set(re.findall(r"`-p ([a-z]\w*)=", text_of(page))) <= known, page


@pytest.mark.parametrize("page", PAGES)
def test_tables_that_are_explained_are_tables_of_the_report(page):
    for rows in re.findall(r"\| table \| what it tells \|\n\|[-|]+\|\n((?:\|.*\n)+)", text_of(page)):
        named = {name for row in rows.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])}
        assert named
        assert named <= set(catalogue.list_tables())


def anchor(heading: str) -> str:
    """The anchor that a heading gets where Markdown is shown as a page."""
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")


@pytest.mark.parametrize("page", LINKING)
def test_every_link_leads_somewhere(page):
    path = LINKING[page]
    for target in re.findall(r"\]\(([^)\s]+)\)", BLOCK.sub("", text_of(page))):
        if target.startswith("https://"):
            continue
        file, _, place = target.partition("#")
        there = path.parent / file if file else path
        assert there.exists(), f"{page}: {target}"
        if place:
            headings = re.findall(r"^#+ (.*)$", there.read_text(encoding="utf-8"), flags=re.MULTILINE)
            assert place in map(anchor, headings), f"{page}: {target}"


MADE = ("moon", "/toy", "NAME", "WHAT", "AREA")  # in paths: what the reader makes, and placeholders
ROOMS = ("analysis", "ground", "inference", "notebooks", "tests", "results/published")


@pytest.mark.parametrize("page", LINKING)
def test_every_file_and_folder_of_ours_that_is_named_is_there(page):
    paths = re.findall(rf"(?<![\w./-])((?:{'|'.join(ROOMS)})/[\w./-]*\w/?)", text_of(page))
    named = {path for path in paths if "fixtures/" in path or not any(word in path for word in MADE)}
    assert {path for path in named if not (ROOT / path).exists()} == set()


@pytest.mark.parametrize("page", LINKING)
def test_every_module_and_function_of_ours_that_is_named_is_there(page):
    for name in set(re.findall(r"`((?:analysis|ground|inference)(?:\.\w+)+)", text_of(page))):
        module, rest = name, []
        while not (ROOT / module.replace(".", "/")).is_dir() and not (ROOT / f"{module.replace('.', '/')}.py").exists():
            module, _, last = module.rpartition(".")
            rest.insert(0, last)
        found = import_module(module)
        for part in rest:
            assert hasattr(found, part), f"{page}: {name}"
            found = getattr(found, part)
    for module, names in re.findall(
        r"^ {4}from ((?:analysis|ground|inference)[\w.]*) import (.+)$", text_of(page), re.M
    ):
        for name in re.split(r",\s*", names):
            assert hasattr(import_module(module), name) or find_spec(f"{module}.{name}"), f"{page}: {module}.{name}"


def test_every_page_is_reached_from_readme_and_from_the_index():
    pages = {path.name for path in PAGES.values() if path.parent != ROOT} - {"README.md"}
    assert pages >= {f"{protocol}.md" for protocol in list_protocols()}
    for start, prefix in (("README.md", "docs/"), ("docs/README.md", "")):
        assert {name for name in pages if f"]({prefix}{name}" in text_of(start)} == pages


def test_readme_is_short_and_shows_a_small_picture_of_a_page():
    readme = text_of("README.md")
    assert len(readme.splitlines()) <= 120
    alt, target = re.search(r"!\[([^]]+)\]\(([^)]+\.png)\)", readme).groups()
    assert len(alt) > 20
    picture = (ROOT / target).read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert struct.unpack(">I", picture[16:20])[0] >= 600
    assert len(picture) < 200_000


def test_extras_are_those_of_the_distribution():
    for page in LINKING:
        for listed in re.findall(r'"\.\[([\w,]+)\]"', text_of(page)):
            assert set(listed.split(",")) <= set(EXTRAS), page
    table = text_of("docs/README.md").partition("| extra |")[2]
    assert set(re.findall(r"^\| `(\w+)` \|", table, flags=re.MULTILINE)) == set(EXTRAS)


def test_both_tables_of_the_tutorial_are_read_as_the_same_items(tmp_path, capsys):
    assert block("README.md", "statements.csv") == block("docs/tutorial.md", "statements.csv")
    read = []
    for name in ("statements.csv", "wide.csv"):
        (tmp_path / name).write_text(block("docs/tutorial.md", name), encoding="utf-8")
        read.append(items.read_and_check_items(str(tmp_path / name)))
    assert capsys.readouterr().err == ""
    assert read[0] == read[1]
    assert [[v.pattern for v in item.variants] for item in read[0]] == [["original", "paraphrase", "paraphrase"]] * 2


def test_the_file_that_describes_models_is_read(tmp_path):
    (tmp_path / "models.yaml").write_text(block("docs/importing.md", "models.yaml"), encoding="utf-8")
    assert {about["stage"] for about in read_model_fields_from_yaml(str(tmp_path / "models.yaml")).values()} == {
        "base",
        "instruct",
    }


@pytest.mark.parametrize("page", PAGES)
def test_python_on_the_pages_is_python_and_names_what_there_is(page):
    for lines in BLOCK.findall(text_of(page)):
        if re.search(r"^ {4}(?:import|from) analysis", lines, flags=re.MULTILINE):
            code = textwrap.dedent(lines)
            compile(code, page, "exec")
            for kind, name in re.findall(r'run\.(table|figure)\("(\w+)"', code):
                assert name in getattr(catalogue, f"list_{kind}s")(), name


def test_the_mixed_model_of_the_page_on_r_is_that_of_waver(tmp_path, monkeypatch):
    """Estimates, errors and degrees of freedom agree to 1e-4 of their size."""
    from analysis.statistics import mixed

    installed = ["Rscript", "-e", "quit(status = !nzchar(system.file(package = 'lmerTest')))"]
    if not which("Rscript") or subprocess.run(installed).returncode:
        pytest.skip("no R with lmerTest on this machine (make references installs it)")
    monkeypatch.chdir(tmp_path)
    hide(monkeypatch, *OPTIONAL)  # loading them takes longer than all the rest, and the model needs none
    make_run(tmp_path / "runs" / "first")
    exec(block("docs/r.md", "rows.py"), {})
    subprocess.run(["Rscript", "-e", block("docs/r.md", "mixed.R")], check=True, timeout=300)
    found = pd.read_csv("effects.csv").set_index(["model", "condition", "term"])
    formula = re.search(r'mixed\.fit_mixed_models\(rows, "([^"]+)"', text_of("docs/r.md"))[1]
    ours = mixed.fit_mixed_models(pd.read_csv("rows.csv"), formula).table.set_index(["model", "condition", "term"])
    assert len(found) == len(ours) == 6
    for column in ("estimate", "se", "df", "p"):
        np.testing.assert_allclose(found[column].reindex(ours.index), ours[column], rtol=1e-4)
