"""`waver.open`: what a notebook or a script gets from some run folders, and one clear line for what it cannot."""

from __future__ import annotations

import shutil
import subprocess
import sys
import warnings
from unittest.mock import Mock

import nbformat
import pandas as pd
import pytest
from matplotlib.figure import Figure

from analysis import runs
from analysis.reporting.catalogue import map_page_names_to_catalogues, tables
from analysis.runs.folder import KEY, UNIT
from analysis.runs.parts import WORDING
from analysis.runs.unanswered import count_unanswered_prompts
from ground.errors import InputError
from helpers.commands import ROOT, waver
from helpers.few_pages import keep_pages
from helpers.figures import shown_texts
from helpers.page_runs import BARE
from helpers.synthetic import edit_run_json, random_frame, write_run
from helpers.wording_runs import random_rows, write_wording
from waver import open as open_run

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("forked_kernels")]

MODELS = [f"model-{number}" for number in range(8)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder that holds two run folders of different protocols, and something else."""
    folder = tmp_path_factory.mktemp("runs")
    write_run(folder / "agreement", random_frame(models=MODELS))
    write_wording(folder / "wording", random_rows(cells=(("en", "morality"), ("en", "facts"))))
    (folder / "report").mkdir()
    return folder


@pytest.fixture(scope="module")
def run(folder):
    return open_run(folder)


def test_a_table_is_that_of_the_report(run, folder):
    expected = tables.build_table("stability", runs.open_runs(folder / "agreement"), resamples=20)
    pd.testing.assert_frame_equal(run.table("stability", resamples=20), expected)


def test_what_a_user_does_to_a_table_does_not_reach_the_next(run):
    frame = run.table("items")
    frame["item"] = "changed"
    assert "changed" not in set(run.table("items")["item"])


def test_options_make_another_table(run):
    assert {"flip_05", "flip_30"} <= set(run.table("stability", resamples=20, thresholds=(0.05, 0.3)).columns)
    assert "flip_30" not in run.table("stability", resamples=20)


def test_what_a_run_holds_is_said_in_a_line(folder, tmp_path):
    assert repr(open_run(folder / "agreement")).startswith("<Run: synthetic; 8 models. ")
    assert "; 1 model. " in repr(open_run(write_run(tmp_path / "run", random_frame(items=2))))


def test_what_there_is_is_listed_a_line_each(run, folder):
    about = ("stability", "text_features", "wording", "meaning", "reliability", "readings", "benchmarks", "transcripts")
    listed = [name for page in about for name in map_page_names_to_catalogues()[page].tables]
    assert list(run.tables()) == listed
    lines = repr(run.tables()).splitlines()
    assert len(lines) == len(listed)
    assert lines[0].split(maxsplit=1) == [
        "stability",
        map_page_names_to_catalogues()["stability"].tables["stability"].title,
    ]
    only = open_run(folder / "wording")
    about = ("wording", "meaning", "reliability", "readings", "benchmarks", "transcripts")
    assert list(only.figures()) == [name for page in about for name in map_page_names_to_catalogues()[page].figures]
    assert "<code>overall_scores</code>" in only.figures()._repr_html_()


def test_a_figure_is_of_matplotlib_and_shows_itself(run, folder):
    figure = run.figure("overview", resamples=20)
    assert isinstance(figure, Figure) and figure._repr_svg_().startswith("<svg")
    texts = [text.get_text() for text, _ in shown_texts(figure)]
    assert all(any(text.replace("\n", "").startswith(model) for text in texts) for model in MODELS)
    assert run.figure("overview", resamples=20, width=3.5).get_figwidth() == 3.5


def test_a_figure_of_several_parts_says_so_and_gives_each(run):
    with pytest.warns(UserWarning, match="consistency has 2 parts"):
        first = run.figure("consistency", resamples=20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parts = [run.figure("consistency", part=number, resamples=20) for number in (1, 2)]
    assert first._repr_svg_() == parts[0]._repr_svg_() != parts[1]._repr_svg_()


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda run: run.table(None), ["unknown table None", "table --list"]),
        (lambda run: run.table("stabilty"), ["unknown table 'stabilty'", "nearest is 'stability'", "table --list"]),
        (lambda run: run.table("overview"), ["'overview' is a figure, not a table"]),
        (lambda run: run.figure("stability"), ["'stability' is a table, not a figure"]),
        (lambda run: run.table("x" * 5000), ["unknown table 'xxx", "table --list"]),
        (lambda run: run.figure("overvew"), ["unknown figure 'overvew'", "nearest is 'overview'"]),
        (lambda run: run.table("stability", resample=9), ["table stability", "no option 'resample'", "resamples"]),
        (lambda run: run.figure("overview", resample=9), ["figure overview", "no option 'resample'", "resamples"]),
        (lambda run: run.table("stability", resamples="many"), ["option resamples", "'many' is not a whole number"]),
        (lambda run: run.table("stability", resamples="9" * 5000), ["option resamples", "is not a whole number"]),
        (lambda run: run.table("stability", resamples="1_000"), ["option resamples", "'1_000' is not a whole number"]),
        (lambda run: run.table("stability", resamples="５"), ["option resamples", "'５' is not a whole number"]),
        (lambda run: run.table("stability", resamples=2.5), ["option resamples", "2.5 is not a whole number"]),
        (lambda run: run.table("stability", resamples=True), ["option resamples", "True is not a whole number"]),
        (lambda run: run.table("stability", resamples=None), ["option resamples", "None is not a whole number"]),
        (lambda run: run.table("stability", resamples=10**9), ["resamples = 1000000000", "at most 100,000"]),
        (lambda run: run.table("stability", seed=-1), ["seed = -1"]),
        (lambda run: run.table("stability", seed=2**64), ["option seed", "not a whole number that can be used"]),
        (lambda run: run.table("stability", thresholds=["a"]), ["option thresholds", "'a' is not a number"]),
        (
            lambda run: run.table("stability", thresholds=[float("nan")]),
            ["option thresholds", "nan is not a number that can be used"],
        ),
        (lambda run: run.table("stability", thresholds=0.1), ["option thresholds", "give several values"]),
        (lambda run: run.figure("overview", seed=[1]), ["figure overview", "option seed", "give one value"]),
        (lambda run: run.figure("consistency", part=3, resamples=20), ["no part 3", "1 to 2"]),
        (lambda run: run.figure("consistency", part=0, resamples=20), ["no part 0", "1 to 2"]),
        (lambda run: run.table("scores"), ["no run of protocol scoring", "agreement, wording"]),
        (lambda run: run.figure("coefficients_scores"), ["coefficients_scores", "these runs have no data for it"]),
        (lambda run: open_run("nowhere"), ["nowhere: no such run folder"]),
        (lambda run: open_run(""), ["the name of a run folder is empty"]),
        (lambda run: open_run(), ["no run folder given"]),
        (lambda run: open_run(["nowhere"]), ["nowhere: no such run folder"]),
        (lambda run: open_run([2026]), ["2026 is no name of a folder"]),
        (lambda run: run.table("stability", resamples=-1), ["resamples = -1", "or 0 for no intervals"]),
    ],
)
def test_what_cannot_be_is_told_in_one_line(run, ask, words):
    with pytest.raises(InputError) as told:
        ask(run)
    assert "\n" not in str(told.value)
    assert len(str(told.value)) < 300
    assert [word for word in words if word not in str(told.value)] == []


def test_runs_that_no_page_is_about_are_refused(tmp_path):
    write_run(tmp_path / "other", random_frame(), protocol="other")
    with pytest.raises(
        InputError, match="other: no page is about protocol other; there are pages for accuracies, agre"
    ):
        open_run(tmp_path / "other")


def test_importing_waver_is_free():
    code = "import sys, waver; print({'pandas', 'numpy', 'matplotlib', 'duckdb'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_commands_take_a_folder_of_run_folders(folder):
    whole = waver("analysis", "table", folder, "items").stdout
    assert whole == waver("analysis", "table", folder / "agreement", "items").stdout
    refused = waver("analysis", "table", folder / "agreement", "consistency", check=False)
    assert refused.returncode == 2
    assert refused.stderr.splitlines() == [
        f"python -m analysis: {folder / 'agreement'}: no run of protocol wording there; found: agreement"
    ]


def test_the_tour_runs_from_any_folder_and_once_more(tour_folder, tmp_path):
    """In a few cells, it asks the demo models itself; the second time, the answers are there."""
    import papermill

    folder = shutil.copytree(tour_folder, tmp_path / "tour")
    papermill.execute_notebook(folder / "explored.ipynb", folder / "again.ipynb", cwd=folder, progress_bar=False)
    for name in ("explored", "again"):
        cells = [cell for cell in nbformat.read(folder / f"{name}.ipynb", 4).cells if cell.cell_type == "code"]
        assert 9 <= len(cells) <= 12
        shown = [output["data"] for cell in cells for output in cell.outputs if output.output_type == "execute_result"]
        assert sum("image/svg+xml" in data for data in shown) == 1
        assert sum("text/html" in data for data in shown) >= 6
        assert "Below is a statement" in "".join(output.get("text", "") for cell in cells for output in cell.outputs)
    assert {"model", "term", "estimate"} <= set(pd.read_csv(folder / "effects.csv"))
    assert len(pd.read_csv(folder / "stability.csv")) == 9
    assert (folder / "runs" / "explore" / "run.json").is_file()


def test_a_report_from_python_is_that_of_the_command(tmp_path, monkeypatch):
    keep_pages(monkeypatch, "negation")
    run = open_run(BARE["negation"](tmp_path / "run")[0])
    index = run.report(tmp_path / "report", title="Tea", resamples=20)
    assert index == tmp_path / "report" / "index.html"
    text = index.read_text(encoding="utf-8")
    assert "<title>Tea" in text and f"waver report {tmp_path / 'run'}" in text
    with pytest.raises(InputError, match=r"resamplse.*the nearest is 'resamples'"):
        run.report(tmp_path / "other", resamplse=20)
    assert not (tmp_path / "other").exists()


def test_a_report_takes_a_table_of_keys_as_its_part(folder, tmp_path, monkeypatch):
    write_report = Mock()
    write_report.return_value.failed_results = []
    monkeypatch.setattr("analysis.reporting.output.report.write_report", write_report)
    open_run(folder / "agreement").report(tmp_path / "report", where=pd.DataFrame({"model": [MODELS[0]]}))
    _, _, parameters = write_report.call_args.args
    assert set(pd.read_csv(parameters["where"])["model"]) == {MODELS[0]}


FAILED = ("b", "item-02", "original")
CONDITIONS = ("plain/yes-no", "chat/yes-no")
PARTS_BY_KEYS = {
    "wordings": (pd.DataFrame({"item": ["item-01", "item-02"]}), WORDING),
    "units": (pd.DataFrame({"model": ["b"]}), UNIT),
    "product": (pd.DataFrame({"model": ["b"], "item": ["item-02"]}), KEY),
    "pairs": (pd.DataFrame({"model": ["a", "b", "b"], "item": ["item-01", "item-01", "item-02"]}), KEY),
}  # fmt: skip


@pytest.fixture(scope="module")
def unfinished(tmp_path_factory):
    """A run with a response that failed, and a condition that was not begun with one of two models."""
    rows = random_frame(["a", "b"], items=3, paraphrases=2, conditions=CONDITIONS).assign(error=None)
    failed = (rows[["model", "item", "variant"]] == FAILED).all(axis=1) & (rows["condition"] == CONDITIONS[0])
    rows.loc[failed, ["error", "agreement"]] = "no room", None
    asked = rows[(rows["model"] == "a") | (rows["condition"] == CONDITIONS[0])]
    folder = write_run(tmp_path_factory.mktemp("unfinished") / "run", asked)
    edit_run_json(folder, expected={model: dict.fromkeys(CONDITIONS, 9) for model in "ab"})
    return open_run(folder)


@pytest.mark.parametrize(("keys", "columns"), PARTS_BY_KEYS.values(), ids=PARTS_BY_KEYS)
def test_the_keys_of_a_part_keep_what_failed_and_what_was_not_begun(keys, columns, unfinished, tmp_path):
    """They were those of the answers: pages said of the others that all prompts had a response."""
    part = unfinished.where(keys)
    file = part._write_part_keys_to_csv(tmp_path / "part.csv")
    again = unfinished.where(file)
    assert tuple(pd.read_csv(file)) == columns
    assert (again.part.pairs is None) == (part.part.pairs is None)
    counts, counts_again = (count_unanswered_prompts(run.open_runs_of_protocols()) for run in (part, again))
    assert counts["failed"].sum() == 1 and (counts["missing"] > 0).tolist() == [False, True]
    pd.testing.assert_frame_equal(counts_again, counts)
    pd.testing.assert_frame_equal(again.responses(), part.responses())


def test_a_path_is_taken_as_its_text(tmp_path):
    known_options = tables.list_table_options("scales_people")
    options = tables.convert_options_to_types_of_defaults("table", {"people": tmp_path}, known_options)
    assert options == {"people": str(tmp_path)}
