"""The report: a small real one, made once; then what must not happen when something is wrong."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import duckdb
import nbformat
import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from analysis.__main__ import main
from analysis.pages.stability.catalogue import TABLES
from analysis.reporting.catalogue import Catalogue
from analysis.reporting.output import notebooks, provenance, report
from analysis.reporting.words.citations import read_published_studies
from analysis.runs import database
from ground.errors import InputError
from helpers.commands import waver
from helpers.few_pages import keep_pages
from helpers.html_pages import Page
from helpers.kernels import fork_kernels
from helpers.synthetic import random_frame, write_run

pytestmark = pytest.mark.slow

ATTACK = "<script>alert('item')</script><img src=x onerror=alert(1)>"
CITED = {address for study in read_published_studies().values() for address in study.links.values()}
OUTPUT = '<script>alert("output")</script> as a model I cannot say'


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Causal and masked models, one with little mass, one with texts, two conditions, an item nobody paraphrased."""
    frame = random_frame(
        ["org/base", "org/tuned", "bert"], items=5, paraphrases=6, conditions=["plain/yes-no", "plain/no-yes"]
    )
    texts = random_frame(["texts"], items=5, paraphrases=6, conditions=["text"], seed=1)
    said = texts["agreement"].map(lambda share: "agree" if share > 0.6 else "disagree" if share < 0.5 else None)
    texts = texts.assign(
        answer=said, output=[[f"I {word}"] if word else [OUTPUT] for word in said], agreement=float("nan")
    )
    frame = pd.concat([frame, texts], ignore_index=True)
    frame["text"] = frame["item"] + " " + frame["variant"] + " " + ATTACK
    frame.loc[frame["model"] == "bert", "mass"] *= 0.1
    alone = frame[(frame["item"] == "item-01") & (frame["variant"] == "original")].assign(item="alone")
    path = tmp_path_factory.mktemp("report") / "run"
    return write_run(
        path, pd.concat([frame, alone]), models={"bert": {"engine": "masked"}, "texts": {"engine": "import"}}
    )


@pytest.fixture(scope="module")
def made(run, tmp_path_factory):
    """The report of `run`, made by the command from another working directory with relative paths."""
    cwd = tmp_path_factory.mktemp("elsewhere")
    (cwd / "run").symlink_to(run)
    with pytest.MonkeyPatch.context() as patch, fork_kernels():
        keep_pages(patch, "stability")
        done = waver(
            "analysis", "report", "run", "--out", "out", "-p", "resamples=20", "-p", "thresholds=0.1,0.25", cwd=cwd
        )
    return cwd / "out", done


@pytest.mark.parametrize("name", ["index.html", "stability.html"])
def test_pages_load_nothing_and_run_nothing(made, name):
    page = Page(made[0] / name)
    assert page.tags.count("script") == 1  # its hash is checked in the browser's tests
    assert not {"link", "iframe", "object", "embed", "base", "form"} & set(page.tags)
    for tag, address in page.addresses:
        if tag == "a":
            file, _, anchor = address.partition("#")
            assert address in CITED or (made[0] / (file or name)).is_file()
            assert not anchor or anchor in Page(made[0] / (file or name)).ids
        else:
            assert address.startswith("data:image/svg+xml,"), address[:80]
    assert "url(" not in page.style
    assert "@import" not in page.style
    assert "default-src 'none'" in (made[0] / name).read_text(encoding="utf-8")
    assert (made[0] / name).stat().st_size < 3_000_000


def test_texts_of_items_and_models_are_escaped(made):
    text = (made[0] / "stability.html").read_text(encoding="utf-8")
    assert text.count("<script") == 1
    assert "<img src=x" not in text
    page = Page(made[0] / "stability.html")
    assert ATTACK in page.words
    assert OUTPUT in page.words


def test_first_screen_asks_answers_and_warns(made):
    page = Page(made[0] / "stability.html")
    words = page.words
    asked = r"4 models, each in 1 to 2 conditions \(7 combinations\), were asked whether they agree with 5 items of "
    assert re.search(asked + "“synthetic”", words), words[:900]
    assert re.search(r"95 % interval \d+ to \d+ %", words)
    for warning in ("Not judged: ", "1 of 6 items is left out: no paraphrases in the study",
                    "no valid answer", "Only 5 items", "Only 6 wordings per item"):  # fmt: skip
        assert warning in words, warning
    assert page.tags.index("svg") < page.tags.index("h2")


def test_code_is_there_but_hidden_and_nothing_else_of_the_kernel_is(made):
    text = (made[0] / "stability.html").read_text(encoding="utf-8")
    assert 'page.figure("overview"' in text.replace("&quot;", '"').replace("&#34;", '"')
    assert "pre.code { display: none; }" in text
    for noise in ("Warning", "Traceback", "IPKernelApp", "object at 0x", "Executing:", "%|"):
        assert noise not in text, noise


def test_provenance_names_what_was_run(made, run):
    words = Page(made[0] / "stability.html").words
    info = json.loads((run / "run.json").read_text(encoding="utf-8"))
    assert info["study"]["hash"] in words
    for model in info["models"]:
        assert f"{model}: " in words
    assert "Make this report again waver report run --out out -p resamples=20 -p thresholds=0.1,0.25" in words
    assert f"Python {sys.version.split()[0]}" in words


def test_index_and_the_one_file_say_how_to_cite_them_and_make_them_again(report_folder, demo_run):
    info = json.loads((demo_run / "run.json").read_text(encoding="utf-8"))
    for file in (report_folder / "index.html", report.build_single_file_path(report_folder)):
        foot = file.read_text(encoding="utf-8").partition('<h2 id="cite">')[2]
        for said in (info["study"]["hash"], *(fields["revision"] for fields in info["models"].values())):
            assert said in foot
        assert f"waver report {demo_run} --out {report_folder}" in foot
        assert "@misc{waver2026," in foot and "@misc{haller2024," in foot
        assert "sato2026" not in foot  # no page of this report repeats that study


def test_the_command_repeats_the_whole_call():
    given = {"resamples": "50", "thresholds": [0.1, 0.25]}
    assert provenance.build_report_command(["a run", "b"], Path("out"), given, "Tea & cake", True) == (
        "waver report 'a run' b --out out --title 'Tea & cake' -p resamples=50 -p thresholds=0.1,0.25 --single-file"
    )


def test_a_stopped_report_leaves_no_index_that_leads_to_removed_pages(run, tmp_path, monkeypatch):
    for name in ("index.html", "stability.html", "scoring.html", "mine.html"):
        (tmp_path / name).write_text("old")

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(report.execution, "run_notebook_tasks_in_threads", stopped)
    with pytest.raises(KeyboardInterrupt):
        report.write_report([str(run)], tmp_path)
    assert [path.name for path in tmp_path.glob("*.html")] == ["mine.html"]


def test_kernels_start_when_the_connections_of_the_report_are_closed(run, tmp_path, monkeypatch):
    """They hold the tables that say which pages have data: the kernels need that memory for their own."""
    opened = []

    def look_at_connections(*_):
        for run_folder in opened:
            with pytest.raises(duckdb.ConnectionException, match="closed"):
                run_folder.con.execute("SELECT 1")
        raise KeyboardInterrupt

    create_views = database._create_views
    monkeypatch.setattr(database, "_create_views", lambda made: (opened.append(made), create_views(made)))
    monkeypatch.setattr(report.execution, "run_notebook_tasks_in_threads", look_at_connections)
    with pytest.raises(KeyboardInterrupt):
        report.write_report([str(run)], tmp_path / "out", {"where": "item <> 'item-01'"})
    assert len(opened) == 2  # the whole run, and the part of it


def test_every_table_and_figure_is_a_file_next_to_the_page(made):
    out = made[0]
    dictionary = pd.read_csv(out / "tables" / "dictionary.csv")
    shown = [name for name in TABLES if name not in ("sources", "source_agreement")]  # no rows; not on the page
    for name in shown:
        frame = pd.read_csv(out / "tables" / f"{name}.csv")
        assert set(frame.columns) == set(dictionary.loc[dictionary["table"] == name, "column"])
        latex = (out / "tables" / f"{name}.tex").read_text(encoding="utf-8")
        assert latex.startswith("% Needs" if len(frame) else "The table ``")
    assert list(pd.read_csv(out / "tables" / "stability.csv").filter(regex=r"^flip_\d+$").columns) == [
        "flip_10",
        "flip_25",
    ]
    figures = {path.name for path in (out / "figures").iterdir()}
    drawn = ["overview", "agreement", "item_stability", "validity", "differences"]
    assert {
        f"{name}{width}.{ending}" for name in drawn for width in ("", "-column") for ending in ("svg", "pdf")
    } <= figures


def test_numbers_on_the_page_are_those_of_the_table(made):
    words = Page(made[0] / "stability.html").words
    frame = pd.read_csv(made[0] / "tables" / "stability.csv")
    for share in (frame["flip_10"].min(), frame["flip_10"].max()):
        assert f"{100 * share:.0f} %" in words
    for moved in (frame["range_mean"].min(), frame["range_mean"].max()):
        assert f"{moved:.2f}" in words


def test_index_is_the_same_in_small(made):
    index, page = Page(made[0] / "index.html"), Page(made[0] / "stability.html")
    assert ("a", "stability.html") in index.addresses
    start = page.words.index("4 models, each in")
    assert page.words[start : start + 120] in index.words
    assert "svg" in index.tags


def test_progress_goes_to_standard_error_and_the_index_to_standard_output(made):
    _, done = made
    assert done.stdout.strip() == "out/index.html"
    assert re.match(r"stability: out/stability.html \(\d+ s\)\n", done.stderr)


def notebook(path: Path, question: str, *sources: str) -> Path:
    cells = [new_code_cell("runs: list[str] = []  # run folders\nout: str = ''  # folder\nspeed: int = 1  # how fast")]
    cells[0].metadata["tags"] = ["parameters"]
    cells += [new_code_cell(source) for source in sources]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made = new_notebook(cells=[new_markdown_cell(f"# {question}"), *cells], metadata={"kernelspec": kernel})
    nbformat.write(made, path)
    return path


@pytest.fixture
def fixtures(tmp_path):
    """Notebooks named for what they do, each the only page of the report's registry."""
    page = Catalogue(place=1, protocols=frozenset({"agreement"}), tables={}, columns={}, figures={})

    def entry(name: str, *sources: str) -> report.Notebook:
        return report.Notebook(notebook(tmp_path / f"{name}.ipynb", f"Question of {name}?", *sources), page)

    return entry


def test_a_failing_notebook_leaves_the_others_standing(run, tmp_path, fixtures, capsys, monkeypatch):
    out = tmp_path / "out"
    out.mkdir()
    (out / "failing.html").write_text("from an earlier, happier day")
    works = fixtures("works", "import sys\nprint('no' + 'ise', file=sys.stderr)\nsys.executable", "speed + 1")
    fails = fixtures("failing", "1 + 1", "raise ValueError('no <b>such</b> thing')", "print('never')")
    monkeypatch.setattr(report, "list_notebooks_of_all_pages", lambda: [fails, works])
    with fork_kernels():
        assert main(["report", str(run), "--out", str(out), "-p", "speed=41", "--json"]) == 1
    printed, said = capsys.readouterr()
    content = json.loads(printed)  # nothing else is printed there
    assert [(page["name"], page["state"], page["page"]) for page in content["pages"]] == [
        ("failing", "failed", None),
        ("works", "made", str(out / "works.html")),
    ]
    assert content["pages"][0]["reason"] == "ValueError: no <b>such</b> thing (cell 4)"
    assert content["exit_status"] == 1
    assert "failing: failed: ValueError: no <b>such</b> thing" in said
    assert said.endswith("failed: failing; the index says why\n")
    assert not (out / "failing.html").exists()
    page = Page(out / "works.html")
    assert "42" in page.words
    assert sys.executable in page.words
    assert "noise" not in page.words
    index = Page(out / "index.html").words
    assert "Question of works?" in index
    assert "The notebook failing failed: ValueError: no <b>such</b> thing (cell 4)" in index


def test_a_wrong_parameter_is_refused_before_anything_is_written(run, tmp_path, capsys):
    for given, told in [
        (
            "tresholds=0.1",
            "unknown parameter 'tresholds' (the nearest is 'thresholds'); known are where, thresholds, invalid",
        ),
        ("resamples=many", "default 10000: bootstrap samples of the items for 95 % intervals): 'many' is not a whole"),
        ("resamples=99999999999999999999", "'99999999999999999999' is not a whole number below 2^63"),
        ("thresholds=[]", "thresholds (list[float], default [0.05, 0.10, 0.25]"),
        ("runs=x", "the call itself says which runs"),
    ]:
        assert main(["report", str(run), "--out", str(tmp_path / "out"), "-p", given]) == 2
        error = capsys.readouterr().err
        assert told in error
        assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_parameter_for_pages_without_any_is_told():
    with pytest.raises(InputError, match="'resamples'; known are where"):
        notebooks.convert_parameters_by_notebook(
            {"resamples": "5"}, {"transcripts": notebooks.FOLDER / "transcripts.ipynb"}
        )
    with pytest.raises(InputError, match="'resamples'; the pages of these runs have none"):
        notebooks.convert_parameters_by_notebook({"resamples": "5"}, {})


def test_a_folder_where_the_single_file_belongs_is_refused_before_anything_is_made(run, tmp_path, capsys):
    (tmp_path / "out.html").mkdir()
    assert main(["report", str(run), "--out", str(tmp_path / "out"), "--single-file"]) == 2
    assert "out.html is a folder; --single-file writes a file of that name" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_value_that_the_analysis_refuses_is_a_wrong_call(run, tmp_path, fixtures, capsys, monkeypatch):
    refuses = fixtures("refuses", "from ground.errors import InputError\nraise InputError('threshold 7 is no share')")
    monkeypatch.setattr(report, "list_notebooks_of_all_pages", lambda: [refuses])
    with fork_kernels():
        assert main(["report", str(run), "--out", str(tmp_path / "out")]) == 2
    assert "InputError: threshold 7 is no share" in capsys.readouterr().err


def test_runs_without_paraphrases_have_nothing_to_compare(tmp_path):
    frame = random_frame(["m"], items=3, paraphrases=1)
    comparing = [notebook for notebook in report.list_notebooks_of_all_pages() if notebook.name != "transcripts"]
    with pytest.raises(InputError, match="nothing to report"):
        report.write_report([str(write_run(tmp_path / "run", frame))], tmp_path / "out", registry=comparing)


def test_files_of_an_earlier_report_do_not_linger(tmp_path):
    from analysis.reporting.output import files

    for name in (
        "figures/agreement-3.svg",
        "figures/agreement-column.svg",
        "figures/mine.svg",
        "tables/items.csv",
        "tables/mine.csv",
    ):
        files.write_text_file(tmp_path / name, "old")
    # What a report left that was killed while it wrote, under the names of `write_atomically`.
    for name in ("figures/.effects.pdf.4711", "tables/.mixed.tex.4711", "tables/.mine.csv.4711"):
        files.write_text_file(tmp_path / name, "half")
    files.remove_report_tables_and_figures(tmp_path)
    assert sorted(path.name for path in tmp_path.rglob("*.*")) == [".mine.csv.4711", "mine.csv", "mine.svg"]


@pytest.mark.parametrize(
    ("value", "declared", "wanted"),
    [("3", "int", 3), ("0.5", "float", 0.5), ("1", "float", 1.0), ("x", "str", "x"),
     ("false", "bool", False), (True, "bool", True), ("0.1, 0.2", "list[float]", [0.1, 0.2]),
     ("[1, 2]", "list[int]", [1, 2]), (["a"], "list[str]", ["a"]), ((0.1,), "list[float]", [0.1])],
)  # fmt: skip
def test_parameters_are_converted_to_their_declared_type(value, declared, wanted):
    converted = notebooks.convert_notebook_parameter(value, {"inferred_type_name": declared, "help": ""}, "name")
    assert converted == wanted
    assert type(converted) is type(wanted)


@pytest.mark.parametrize(
    ("value", "declared"),
    [("x", "int"), (1.5, "int"), (True, "int"), ("1_000", "int"), ("\uff15", "int"), ("", "float"), ("nan", "float"),
     (3, "str"), ("maybe", "bool"), ("a,b", "list[float]"), ("[1", "list[int]"), ("x", "dict")],
)  # fmt: skip
def test_values_of_another_type_are_refused(value, declared):
    with pytest.raises(InputError, match="parameter"):
        notebooks.convert_notebook_parameter(
            value, {"inferred_type_name": declared, "help": "", "default": "0"}, "name"
        )


def test_a_call_is_told_with_the_folder_that_its_paths_are_relative_to(opened):
    sessions = opened(random_frame()).info["sessions"]
    told = sessions[0] | {"command": ["python", "-m", "inference", "run", "agreement", "--out=../run"], "folder": "a b"}
    assert provenance._list_lines_about_sessions([told])[0].startswith(
        "cd 'a b' && python -m inference run agreement --out=../run"
    )


def test_versions_are_told_of_a_checkout_that_is_not_installed(monkeypatch):
    monkeypatch.setattr(provenance, "find_installed_version", lambda _package: "1.0")
    monkeypatch.setattr(provenance, "read_waver_version", lambda: None)
    assert "waver-lm not installed, duckdb 1.0" in provenance.format_package_versions()
