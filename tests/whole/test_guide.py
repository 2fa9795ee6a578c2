"""What CONTRIBUTING says of a new study is enough: its steps, done word by word in a copy, make a study with a page."""

from __future__ import annotations

import dataclasses
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pandas as pd
import pytest

from analysis.reporting.catalogue import Catalogue
from helpers import apart
from helpers.commands import ROOT
from helpers.html_pages import Page

pytestmark = pytest.mark.slow

if sys.platform == "win32" or not shutil.which("perl"):
    pytest.skip("the steps are those of a shell with perl", allow_module_level=True)

COPIED = ("analysis", "ground", "inference", "notebooks", "results/published", "results/schema.json", "docs",
          "tests/helpers", "tests/fixtures", "tests/whole", "tests/test_house.py", "tests/conftest.py", "README.md",
          "CONTRIBUTING.md", "CITATION.cff", "pyproject.toml", "waver.py")  # fmt: skip
# Rooms of which another branch has one more, so that Python left a folder of it here.
LEFT = ("analysis/pages", "analysis/measures", "analysis/reporting", "inference/protocols", "inference/importers",
        "inference/engines", "inference/protocols/agreement", "ground", "tests/helpers/refusals")  # fmt: skip
STEP = re.compile(
    r"(?:In `(?P<file>[^`]+)`, below `(?P<line>[^`]+)`[^:\n]*|At the end of `(?P<whole>[^`]+)`[^\n]*|(?P<said>.+)):\n\n"
    r"(?P<block>(?: {4}.*\n)+)"
)


def steps() -> list[re.Match[str]]:
    """The blocks of the section, with the words that say what to do with them."""
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return list(STEP.finditer(guide.partition("\n## A new study\n")[2].partition("\n## ")[0]))


def calls() -> list[list[str]]:
    return [shlex.split(line) for step in steps() if step["said"] for line in step["block"].split("\n    ")
            if line.strip().startswith("waver ")]  # fmt: skip


def do_step(house: Path, step: re.Match[str]) -> None:
    """Run the commands of a block but for those of `waver`, or put its lines where the words say."""
    block = textwrap.dedent(step["block"]) if step["said"] else re.sub("^ {4}", "", step["block"], flags=re.MULTILINE)
    if step["said"]:
        shell = "".join(line for line in block.splitlines(True) if not line.startswith("waver "))
        subprocess.run(["sh", "-e", "-c", shell], cwd=house, check=True)
        return
    path = house / (step["file"] or step["whole"])
    text = path.read_text(encoding="utf-8")
    if step["whole"]:
        path.write_text(f"{text}\n{block}", encoding="utf-8")
        return
    lines = text.splitlines(True)
    (place,) = (number for number, line in enumerate(lines, 1) if step["line"] in line)
    path.write_text("".join([*lines[:place], block, *lines[place:]]), encoding="utf-8")


def call_waver(house: Path, *words: str) -> str:
    """A command in the copy, as after `pip install -e .` there, in a process that has the libraries; its output."""
    notes = house / "notes"
    ended = apart.call(["waver", *words], house, notes, 600, site=".", environment={"PYTHONPATH": str(house)})
    assert ended.status == 0, ended.out[-3000:] + ended.err[-3000:]
    return ended.out


def call(house: Path, *words: str) -> str:
    """Python in the copy, as after `pip install -e .` there; what it printed. It keeps what it compiles."""
    done = subprocess.run(
        [sys.executable, *words], cwd=house, capture_output=True, text=True, timeout=600,
        env={**os.environ, "PYTHONPATH": str(house), "PYTHONDONTWRITEBYTECODE": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def house(tmp_path_factory) -> Path:
    """A copy in which every step is done, with what another branch has left."""
    tree = tmp_path_factory.mktemp("house")
    for name in COPIED:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            # With what Python has compiled: times stay, so that it compiles only what the steps change. Files `x.pyc.7`
            # are just being written.
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns(".ipynb_checkpoints", "*.pyc.*"))
        else:
            shutil.copy(ROOT / name, tree / name)
    for room in LEFT:
        (tree / room / "gone" / "__pycache__").mkdir(parents=True)
        (tree / room / "gone" / "__pycache__" / "command.cpython-311.pyc").touch()
    for step in steps():
        do_step(tree, step)
    return tree


@pytest.fixture(scope="module")
def made(house) -> Path:
    """The report of the new study, made by the calls that the guide shows."""
    page_of_every_study = house / "analysis" / "pages" / "transcripts"  # it takes seconds, and says nothing of this one
    page_of_every_study.rename(house / "away")
    for words in calls():
        call_waver(house, *words[1:])
    (house / "away").rename(page_of_every_study)
    return house / "runs" / "moon" / "report"


def test_the_guide_is_read():
    assert sum(bool(step["said"]) for step in steps()) == 2
    assert [words[1] for words in calls()] == ["run", "report"]
    assert {step["file"] or step["whole"] for step in steps()} >= {"README.md", "tests/helpers/page_runs.py"}


def test_fields_of_a_catalogue_that_the_guide_names_are_fields():
    guide = (
        (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("\n## A new study\n")[2].partition("\n## ")[0]
    )
    named = set(re.findall(r"`(\w+)=[A-Z\"]|`CATALOGUE\.(\w+)`", guide))
    names = {name for pair in named for name in pair if name}
    assert len(names) == 4 and names <= {field.name for field in dataclasses.fields(Catalogue)}


def test_the_new_page_and_its_table_are_in_the_report(made):
    assert ("a", "moon.html") in Page(made / "index.html").addresses
    assert "1 model judged 6 items." in Page(made / "moon.html").words
    assert pd.read_csv(made / "tables" / "moon_items.csv")["moon_mean"].notna().all()


def test_reliability_compares_its_wordings(made):
    assert ("a", "reliability.html") in Page(made / "index.html").addresses
    assert set(pd.read_csv(made / "tables" / "wording_precision.csv")["study"]) == {"demo"}


def test_the_rules_of_the_house_hold_and_no_command_looks_at_what_another_branch_left(house):
    assert "moon" in call_waver(house, "run", "--help")
    listed = call_waver(house, "--help") + call_waver(house, "import", "--help")
    assert "eee" in listed and "gone" not in listed
    call(house, "-m", "pytest", "-p", "no:cacheprovider", "tests/test_house.py", "-k",
         "moon or not (heavy or notebook or nobody_else)")  # fmt: skip
