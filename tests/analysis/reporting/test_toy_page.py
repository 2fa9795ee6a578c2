"""A new page is a folder and a notebook, and nothing else: the toy page, put into a copy of the house, is found."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from helpers import apart
from helpers.commands import ROOT
from helpers.html_pages import Page
from helpers.synthetic import random_frame, write_run

pytestmark = pytest.mark.slow

TOY = ROOT / "tests" / "fixtures" / "toy_page"
# Pages about the other run, of which one is enough: each has a notebook to execute.
FORGONE = ("text_features", "benchmarks", "readings", "reliability", "transcripts")


def files(folder: Path) -> Iterator[Path]:
    """The files of a folder, relative to it, without what Python and notebooks leave there."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not {"__pycache__", ".ipynb_checkpoints"} & set(path.parts):
            yield path.relative_to(folder)


@pytest.fixture(scope="module")
def house(tmp_path_factory) -> Path:
    """What a user installs of `analysis`, with the files of the toy page added, and without some that are found alike.

    `import waver` looks where its other wing is, too.
    """
    tree = tmp_path_factory.mktemp("house")
    for part in ("analysis", "ground", "notebooks", "results/published"):
        # With what Python has compiled: times stay, so that it compiles only the toy page. Files `x.pyc.7` are just
        # being written.
        shutil.copytree(ROOT / part, tree / part, ignore=shutil.ignore_patterns(".ipynb_checkpoints", "*.pyc.*"))
    for name in ("inference/__init__.py", "results/schema.json", "waver.py"):
        copy(ROOT / name, tree / name)
    for page in FORGONE:
        shutil.rmtree(tree / "analysis" / "pages" / page)
        (tree / "notebooks" / f"{page}.ipynb").unlink()
    for name in files(TOY):
        assert not (tree / name).exists()
        copy(TOY / name, tree / name)
    write_run(tree / "runs" / "toy", random_frame(["org/one", "two"], items=4, paraphrases=3), protocol="toy")
    write_run(tree / "runs" / "opinions", random_frame(["two"], items=2, paraphrases=3, seed=1), study="opinions")
    return tree


def copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)


def call(house: Path, *arguments: str, status: int = 0) -> str:
    """`python -m analysis` of the copied house; its standard output, or what it complains of."""
    notes = house / "notes"
    ended = apart.call(["analysis", *arguments], house, notes, 600, site=".", environment={"PYTHONPATH": str(house)})
    assert ended.status == status, ended.err[-3000:]
    return ended.err if status else ended.out


def test_its_table_is_listed_explained_and_printed(house):
    assert "toy_items" in [line.split()[0] for line in call(house, "table", "--list").splitlines()]
    assert "mean agreement over the wordings of the item" in call(house, "table", "--list", "toy_items")
    rows = call(house, "table", "runs/toy", "toy_items", "--format", "markdown").splitlines()
    assert "Agreement" in rows[0]
    assert len(rows) == 2 + 2 * 4


@pytest.fixture(scope="module")
def made(house) -> Path:
    """The report of the toy run, beside one of statements."""
    call(house, "report", "runs", "--out", "report", "-p", "resamples=20")
    return house / "report"


def test_its_page_is_in_the_report(made):
    index = Page(made / "index.html")
    assert ("a", "toy.html") in index.addresses
    assert "Do the models agree?" in index.words
    page = Page(made / "toy.html")
    assert "2 models judged 4 items." in page.words
    assert "Only 4 items: bootstrap intervals tend to be too narrow." in page.words
    assert "of the 4 items." in page.words
    assert "one dot per item, one row per model" in page.words
    assert "svg" in page.tags


def test_its_table_and_its_figure_lie_next_to_the_page(made):
    table = pd.read_csv(made / "tables" / "toy_items.csv")
    assert list(table.columns) == ["study", "model", "condition", "item", "n", "toy_mean", "validity"]
    assert table["n"].tolist() == [4] * 8
    dictionary = pd.read_csv(made / "tables" / "dictionary.csv")
    dictionary = dictionary[dictionary["table"] == "toy_items"]
    assert len(dictionary) == 7
    assert dictionary.set_index("column").loc["toy_mean", "unit"] == "agreement, 0 to 1"
    assert (made / "tables" / "toy_items.tex").is_file()
    assert sorted(path.name for path in (made / "figures").glob("toy_*")) == [
        f"toy_means{width}.{ending}" for width in ("-column", "") for ending in ("pdf", "svg")
    ]


def test_the_other_pages_do_not_look_at_its_runs(made):
    assert (made / "stability.html").is_file()
    assert set(pd.read_csv(made / "tables" / "items.csv")["study"]) == {"opinions"}
    assert set(pd.read_csv(made / "tables" / "toy_items.csv")["study"]) == {"synthetic"}


def test_a_forgotten_meaning_is_one_line_that_names_the_file_to_edit(house):
    write_run(house / "single", random_frame(["two"], items=2, paraphrases=1), protocol="toy")  # nothing to compare
    columns = house / "analysis" / "pages" / "toy" / "columns.py"
    whole = columns.read_text(encoding="utf-8")
    columns.write_text("".join(row for row in whole.splitlines(True) if '"toy_mean"' not in row), encoding="utf-8")
    line = "analysis/pages/toy/columns.py: column 'toy_mean' of table 'toy_items' has no meaning; add it to COLUMNS"
    try:
        for words in (["table", "runs/toy", "toy_items"], ["table", "--list", "toy_items"]):
            assert call(house, *words, status=2) == f"python -m analysis: {line}\n"
        said = call(house, "report", "single", "--out", "forgotten", status=1)
    finally:
        columns.write_text(whole, encoding="utf-8")
    assert f"toy: failed: MalformedPage: {line} (cell " in said
    assert "Traceback" not in said
    assert line in Page(house / "forgotten" / "index.html").words
    assert sorted(path.name for path in (house / "forgotten").glob("*.html")) == ["index.html"]
