"""The package that docs/extending.md shows adds an importer and a page: built, installed, used and removed."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import textwrap
import venv
from pathlib import Path

import pandas as pd
import pytest

from helpers import apart
from helpers.commands import ROOT
from helpers.html_pages import Page
from helpers.outside_packages import write_package as write_installed_package

pytest.importorskip("setuptools", "77")
pytestmark = pytest.mark.slow

GUIDE = ROOT / "docs" / "extending.md"
SHOWN = re.compile(
    r"^(?:A table to try it with, )?`(?P<name>[\w./]+)`:[^\n]*\n\n(?P<block>(?: {4}.*\n|\n(?= {4}))+)", re.M
)
SOURCE = "waver-stars 1.0"


MOST_LINES = 60  # of the package, all its files together, blank lines too


def files(title: str = "A package") -> dict[str, str]:
    """The files that the page shows of its first package; or those of its figure."""
    section = GUIDE.read_text(encoding="utf-8").partition(f"\n## {title}")[2].partition("\n## ")[0]
    return {shown["name"]: textwrap.dedent(shown["block"]) for shown in SHOWN.finditer(section)}


def calls() -> list[list[str]]:
    """The calls of `waver` that the page shows, without the command itself."""
    lines = GUIDE.read_text(encoding="utf-8").splitlines()
    return [shlex.split(line)[1:] for line in lines if line.startswith("    waver ")]


def write_files(folder: Path, contents: dict[str, str]) -> None:
    for name, text in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def make_environment(folder: Path) -> Path:
    """Make an environment that also has the packages of this one; its Python."""
    venv.create(folder, with_pip=False)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    packages = sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)})
    (Path(packages) / "packages-of-the-tests.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return python


def run_pip(python: Path, *words: str) -> None:
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--python", str(python)]
    done = subprocess.run([*pip, *words], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def call(folder: Path, site: Path | None, *words: str, python: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Call `waver` inside a folder, with the packages of a site folder beside those that are installed.

    Without a Python of its own, it runs in a process that has the libraries.
    """
    paths = os.pathsep.join(map(str, filter(None, [ROOT, site])))
    if python is None:
        environment = {"PYTHONPATH": paths, "COLUMNS": "120"}
        ended = apart.call(
            ["waver", *words], folder, folder / "notes", 600, site=str(site or ""), environment=environment
        )
        return subprocess.CompletedProcess(words, ended.status, ended.out, ended.err)
    templates = str(Path(sys.prefix, "share", "jupyter"))  # of nbconvert, which looks for them in its own environment
    return subprocess.run(
        [str(python), "-m", "waver", *words], cwd=folder, capture_output=True, text=True, timeout=600,
        env={**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1", "JUPYTER_PATH": templates,
             "COLUMNS": "120"},
    )  # fmt: skip


def good(folder: Path, site: Path | None, *words: str, python: Path | None = None) -> subprocess.CompletedProcess[str]:
    done = call(folder, site, *words, python=python)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder in which the calls of the page were made; then the package was removed. `site` is a copy of it."""
    folder = tmp_path_factory.mktemp("extending")
    write_files(folder / "package", files())
    (folder / "stars.csv").write_text(files()["stars.csv"], encoding="utf-8")
    python = make_environment(folder / "environment")
    offline = ["--no-deps", "--no-index", "--no-cache-dir", "--no-build-isolation"]
    run_pip(python, "install", *offline, str(folder / "package"))
    (found,) = (folder / "environment").rglob("waver_stars")
    for part in found.parent.glob("waver_stars*"):
        shutil.copytree(part, folder / "site" / part.name, ignore=shutil.ignore_patterns("__pycache__"))
    asking, reporting, reading = calls()
    good(folder, folder / "site", *asking)
    good(folder, None, *reporting, python=python)  # in the environment itself; its notebooks have kernels there
    good(folder, folder / "site", *reading)
    run_pip(python, "uninstall", "--yes", "waver-stars")
    return folder


def test_the_page_shows_a_whole_package_of_few_lines():
    assert files().keys() == {"pyproject.toml", "waver_stars/__init__.py", "waver_stars/importer.py",
                              "waver_stars/catalogue.py", "stars.csv"}  # fmt: skip
    lines = [line for name, text in files().items() if name != "stars.csv" for line in text.splitlines()]
    assert len(lines) <= MOST_LINES and f"has {MOST_LINES} lines at most" in GUIDE.read_text(encoding="utf-8")
    assert [words[0] for words in calls()] == ["import", "report", "table"]


def test_help_names_the_package_and_imports_nothing_of_it(place):
    assert f"\n  {SOURCE}: importer stars, page stars\n" in good(place, place / "site", "--help").stdout
    assert f"({SOURCE})" in " ".join(good(place, place / "site", "import", "--help").stdout.split())
    code = "import sys, waver; waver.main(['--help']); print('LOADED', *sys.modules)"
    paths = os.pathsep.join([str(ROOT), str(place / "site")])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=place,
                          env={**os.environ, "PYTHONPATH": paths})  # fmt: skip
    assert not {"waver_stars", "inference", "analysis"} & set(done.stdout.partition("LOADED")[2].split())


def test_the_import_is_recorded_with_the_package(place):
    record = json.loads((place / "runs" / "stars" / "run.json").read_text(encoding="utf-8"))
    assert record["study"]["protocol"] == "stars"
    assert [session["rooms"] for session in record["sessions"]] == [{"importer stars": SOURCE}]


def test_the_page_is_in_the_report_and_its_foot_names_the_package(place):
    report = place / "runs" / "stars" / "report"
    assert ("a", "stars.html") in Page(report / "index.html").addresses
    for name in ("index.html", "stars.html"):
        words = Page(report / name).words
        assert "The means go from 1.8 to 4.8 stars." in words
        assert f"page stars of {SOURCE}" in words and f"importer stars of {SOURCE}" in words
    assert "Stars of each item" in Page(report / "stars.html").words
    means = pd.read_csv(report / "tables" / "stars_items.csv").set_index(["model", "item"])["stars"]
    assert means.to_dict() == {("large", "milk"): 5, ("large", "tea"): 4.5, ("small", "milk"): 1, ("small", "tea"): 2.5}


def test_the_protocol_and_the_engine_that_are_sketched_are_listed(tmp_path):
    """Their modules are as far as the page shows them; what they leave out is not called."""
    guide = GUIDE.read_text(encoding="utf-8")
    for kind, package, file in (("protocol", "liking", "protocol.py"), ("engine", "echo", "entry.py")):
        code = textwrap.dedent(re.search(rf"`waver_{package}/{file}`:\n\n((?: {{4}}.*\n|\n)+)", guide)[1])
        (entry,) = re.findall(rf'"waver.{kind}s" = {{ (.+) }}', guide.partition("\n## A protocol")[2])
        room = f"{kind} {entry.replace(chr(34), '')}"
        package_files = {f"waver_{package}/__init__.py": "", f"waver_{package}/{file}": code}
        write_installed_package(tmp_path, f"waver-{package}", room, package_files)
    listed = good(tmp_path, tmp_path, "run", "--help")
    said = " ".join(listed.stdout.split())
    assert "liking ask whether a model likes a thing (Liking et al., 2026) (waver-liking 1.0)" in said
    assert not listed.stderr
    options = good(tmp_path, tmp_path, "preview", "liking", "--help")
    assert "openai,echo}" in "".join(options.stdout.split()) and not options.stderr


def test_a_wrong_row_is_one_line(place):
    (place / "wrong.csv").write_text("model,item,text,stars\nm,a,A?,6\n", encoding="utf-8")
    done = call(place, place / "site", "import", "stars", "wrong.csv", "--out", "runs/wrong")
    assert (done.returncode, done.stderr) == (
        2, "waver: wrong.csv, row 2: stars is 6, outside 1-5; correct the row\n",
    )  # fmt: skip


def change_file(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.fixture(scope="module")
def drawn(place, tmp_path_factory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A folder with a report of two packages, and how its call ended.

    To the package of the page, the files of its figure are added, and the lines that the page names changed. The page
    of the other fails; it is about the same runs.
    """
    folder = tmp_path_factory.mktemp("drawn")
    site = folder / "site"
    shutil.copytree(place / "site", site)
    catalogue = site / "waver_stars" / "catalogue.py"
    failing = catalogue.read_text(encoding="utf-8").replace("stars", "comets")
    write_installed_package(
        site, "waver-comets", "page comets = waver_comets",
        {"waver_comets/__init__.py": "", "waver_comets/catalogue.py": failing},
    )  # fmt: skip
    change_file(site / "waver_comets" / "catalogue.py", "    return runs.sql(", "    1 / 0\n    return runs.sql(")
    change_file(site / "waver_comets" / "catalogue.py", 'frozenset({"comets"})', 'frozenset({"stars"})')
    assert files("A figure").keys() == {"waver_stars/plots.py", "waver_stars/captions.py"}
    write_files(site, files("A figure"))
    (line,) = re.findall(r"below `columns=` stands\n\n    ( +figures=.+\n)", GUIDE.read_text(encoding="utf-8"))
    change_file(catalogue, "import Catalogue, Table", "import Catalogue, Figure, Table")
    change_file(catalogue, '"Stars", 2)},\n', f'"Stars", 2)}},\n{line}')
    return folder, call(folder, site, "report", str(place / "runs" / "stars"), "--out", "report")


def test_the_figure_that_is_shown_is_drawn(drawn):
    report = drawn[0] / "report"
    assert (report / "figures" / "stars_means.svg").is_file()
    said = "Mean stars of 2 items, over wordings: a dot per item, a row per model."
    assert said in Page(report / "stars.html").words
    assert said in (report / "index.html").read_text(encoding="utf-8")  # what the picture is called there


def test_an_error_in_a_page_names_the_package_and_leaves_the_others(place, drawn):
    folder, done = drawn
    failed = "page comets of waver-comets 1.0 failed: ZeroDivisionError: division by zero"
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert f"comets: failed: RoomFailed: {failed}" in done.stderr
    assert not (folder / "report" / "comets.html").exists()
    done = call(folder, folder / "site", "table", str(place / "runs" / "stars"), "comets_items")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert failed in done.stderr
    assert "pip uninstall waver-comets" in done.stderr


@pytest.mark.parametrize(
    ("file", "text", "line"),
    [
        ("catalogue.py", "raise SystemExit('bad')\n", "it cannot be imported: SystemExit: bad"),
        ("catalogue.py", "CATALOGUE = 1\n", "does not say CATALOGUE = Catalogue(...)"),
        ("stars.ipynb", "{}", "is no notebook (nbformat 4)"),
    ],
)
def test_a_page_that_is_not_whole_is_told_and_the_tables_of_the_others_are_listed(place, tmp_path, file, text, line):
    site = tmp_path / "site"
    shutil.copytree(place / "site", site)
    (site / "waver_stars" / file).write_text(text, encoding="utf-8")
    done = good(tmp_path, site, "table", "--list")
    assert "stars_items" not in done.stdout and "stability" in done.stdout
    (told,) = done.stderr.splitlines()
    assert told.startswith(f"waver: page stars of {SOURCE} is left out: ") and line in told
    assert told.endswith("to remove the package: pip uninstall waver-stars")


def test_when_the_package_is_removed_everything_else_works_and_old_reports_open(place, tmp_path):
    (python,) = (place / "environment").glob("*/python")
    done = call(tmp_path, None, "--help", python=python)
    assert done.returncode == 0 and "waver-stars" not in done.stdout
    run = str(place / "runs" / "stars")

    def removed(*words: str) -> subprocess.CompletedProcess[str]:
        return call(tmp_path, None, *words)  # where it never was

    done = removed("report", run, "--out", "report")
    (line,) = done.stderr.splitlines()
    assert done.returncode == 2 and f"{run}: no page is about protocol stars; there are pages for " in line
    assert line.endswith(f"; the runs were made with {SOURCE}, which may have one: install it")
    assert not (tmp_path / "report").exists()
    assert "How many stars?" in Page(place / "runs" / "stars" / "report" / "stars.html").words
    assert "Is tea good?" in removed("show", run).stdout
    assert "stability" in removed("table", "--list").stdout
    done = removed("import", "stars", "stars.csv", "--out", "again")
    assert done.returncode == 2 and "invalid choice: 'stars'; choose from accuracies, eee, " in done.stderr
