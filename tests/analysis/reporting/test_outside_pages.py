"""Pages of other packages are listed behind ours; one that is not whole, or takes a name of ours, is left out."""

from __future__ import annotations

import shutil
import sys

import nbformat
import pytest

from analysis import runs
from analysis.reporting import catalogue
from analysis.reporting.catalogue import outside, rewordings
from analysis.reporting.output import html, made_notebook, notebooks, provenance, report
from ground import outside_rooms
from helpers.commands import ROOT
from helpers.outside_packages import write_package
from helpers.synthetic import random_frame, write_run

TOY = ROOT / "tests" / "fixtures" / "toy_page"
CACHES = (outside_rooms.read_rooms_from_entry_points, outside.find_outside_rooms_by_page,
          catalogue.map_page_names_to_catalogues,
html._build_jinja_environment,
          made_notebook.make_notebook_of_page)  # fmt: skip


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install the toy page as a package, with a change of a file: old words, new words."""

    def install_toy(file: str = "catalogue.py", old: str = "", new: str = "") -> None:
        write_package(tmp_path, "waver-toy", "page toy = waver_toy", {})
        shutil.copytree(TOY / "analysis" / "pages" / "toy", tmp_path / "waver_toy")
        shutil.copy(TOY / "notebooks" / "toy.ipynb", tmp_path / "waver_toy")
        for path in (tmp_path / "waver_toy").glob("*.*"):
            path.write_text(
                path.read_text(encoding="utf-8").replace("analysis.pages.toy", "waver_toy"), encoding="utf-8"
            )
        path = tmp_path / "waver_toy" / file
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new) if old else text, encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setattr(outside_rooms, "_PRINTED_LINES", set())
        for cache in CACHES:
            cache.cache_clear()

    yield install_toy
    for cache in CACHES:
        cache.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "waver_toy"]:
        del sys.modules[name]


def test_a_page_of_ours_becomes_one_of_a_package_without_another_change(install, capsys):
    install()
    assert list(catalogue.map_page_names_to_catalogues())[-1] == "toy" and capsys.readouterr().err == ""
    assert catalogue.look_up_column("toy_items", "toy_mean").header == "Agreement"
    assert callable(catalogue.import_page_function("toy", "tables.tabulate_toy_items"))
    assert "each of the 3 items" in html.render_template("toy/method", items=3)
    assert provenance.list_outside_page_entries(["toy", "stability"]) == [
        ("From other packages", ["page toy of waver-toy 1.0"])
    ]
    assert provenance.list_outside_page_entries(["stability"]) == []


def test_a_page_without_a_notebook_gets_one_of_its_parts(install, tmp_path, capsys):
    install("catalogue.py", "place=900,", 'place=900, question="Do they agree?", answer="narrative.answer_frames",')
    assert report.list_notebooks_of_all_pages()[-1].path == tmp_path / "waver_toy" / "toy.ipynb"  # its own comes first
    (tmp_path / "waver_toy" / "toy.ipynb").unlink()
    for cache in CACHES:
        cache.cache_clear()
    path = report.list_notebooks_of_all_pages()[-1].path
    node = nbformat.read(path, 4)
    nbformat.validate(node)
    assert path.name == "toy.ipynb" and tmp_path not in path.parents and capsys.readouterr().err == ""
    assert notebooks.read_notebook_question(path) == "Do they agree?"
    assert list(notebooks.read_notebook_parameters(path)) == ["runs", "out", "where"]
    tagged = {tag: cell.source for cell in node.cells for tag in cell.metadata.get("tags", [])}
    assert (tagged["answer"], tagged["figure"]) == ("page.answer()", "page.figure('toy_means')")
    assert "page.table('toy_items')" in [cell.source for cell in node.cells]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("", "and its CATALOGUE names no answer"),
        (' answer="narrative.answer_frames",', "has an answer, but no question"),
    ],
)
def test_a_page_without_a_notebook_needs_a_question_and_an_answer(install, tmp_path, capsys, change, words):
    install("catalogue.py", "place=900,", f"place=900,{change}")
    (tmp_path / "waver_toy" / "toy.ipynb").unlink()
    assert "toy" not in catalogue.map_page_names_to_catalogues()
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("waver: page toy of waver-toy 1.0 is left out: ") and words in line


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("catalogue.py", '"toy_items": Table', '"stability": Table', "page stability has one of its tables, stability"),
        (
            "catalogue.py",
            '"toy_means": Figure',
            '"overview": Figure',
            "page stability has one of its figures, overview",
        ),
        ("catalogue.py", 'frozenset({"toy"})', 'frozenset({"agreement"})', "has the reader of wordings of protocol"),
        ("catalogue.py", 'frozenset({"toy"})', "frozenset()", "names no protocols"),
        ("catalogue.py", "tables=TABLES", "tables=7", "its CATALOGUE is malformed (TypeError"),
        ("catalogue.py", "place=900", "places=900", "cannot be imported: TypeError"),
        ("toy.ipynb", '"# Do the models', '"Do the models', "no heading with the question"),
        ("toy.ipynb", '"parameters"\n', '"numbers"\n', "has the tag parameters"),
        ("toy.ipynb", '"nbformat": 4', '"nbformat": 3', "is no notebook (nbformat 4)"),
    ],
)
def test_a_page_that_is_not_whole_is_told_and_ours_stay(install, capsys, file, old, new, words):
    install(file, old, new)
    assert (
        "toy" not in catalogue.map_page_names_to_catalogues()
        and "stability" in catalogue.map_page_names_to_catalogues()
    )
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("waver: page toy of waver-toy 1.0 is left out: ") and words in line
    assert line.endswith("to remove the package: pip uninstall waver-toy")


@pytest.mark.slow
def test_a_reader_of_wordings_that_fails_takes_no_other_study_with_it(install, tmp_path, capsys):
    readers = '"analysis.measures.reworded.agreements:'
    install("catalogue.py", readers, '"waver_toy.readers:')
    (tmp_path / "waver_toy" / "readers.py").write_text(
        "def has_rewordings(runs, names):\n    return 1 / 0\n\n\ndef read_agreement_studies(runs, names):\n"
        "    yield {}['x']\n",
        encoding="utf-8",
    )
    frame = random_frame(["a", "b"], items=8, paraphrases=5)
    write_run(tmp_path / "toy", frame, protocol="toy", study="toy")
    write_run(tmp_path / "ours", frame, study="ours")
    opened = runs.open_runs(str(tmp_path / "toy"), str(tmp_path / "ours"))
    assert rewordings.has_rewordings(opened)
    assert {study.name for study in rewordings.read_reworded_studies(opened)} == {"ours"}
    lines = capsys.readouterr().err.splitlines()
    assert any("page toy of waver-toy 1.0" in line and "KeyError" in line for line in lines)


def test_a_page_whose_code_fails_before_the_report_is_left_out_with_the_reason(install):
    install("catalogue.py", "place=900,", "place=900, explain_no_data=lambda runs, parameters: 1 / 0,")
    reason = catalogue.map_page_names_to_catalogues()["toy"].explain_no_data(None, {})
    assert "page toy of waver-toy 1.0 failed: ZeroDivisionError" in reason
