"""What a notebook reads for its own way from the rows to the numbers, and that a wrong number is told.

That every notebook's way gives the numbers of its tables is in test_pages.py, which has these.
"""

from __future__ import annotations

import json

import pytest

import waver
from analysis.pages.stability.page import StabilityPage
from analysis.reporting.output import report, steps
from analysis.reporting.output.notebooks import FOLDER
from helpers.html_pages import Page
from helpers.page_runs import FULL
from helpers.synthetic import random_frame, write_run

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def opinions(tmp_path_factory):
    """The full run of `stability`, and options of its tables."""
    return FULL["stability"](tmp_path_factory.mktemp("opinions") / "run")


def test_a_page_takes_a_run_as_well_as_folders(opinions):
    folder, options = opinions
    run = waver.open([str(folder)])
    of_run, of_folder = StabilityPage(run, **options), StabilityPage(str(folder), **options)
    assert of_run.frame("stability").equals(of_folder.frame("stability"))
    assert of_run.list_footer_entries()[0] == of_folder.list_footer_entries()[0] == ("Run", [str(folder)])


def test_the_part_that_is_read_is_the_whole_run_or_its_first_models(opinions, monkeypatch):
    folder, _ = opinions
    page = StabilityPage(str(folder))
    units = page.runs.sql("SELECT model, condition FROM units ORDER BY position")
    assert set(page.select_runs_that_fit_memory().responses()["model"]) == set(units["model"])
    monkeypatch.setattr("analysis.reporting.output.steps.MOST_RESPONSES", 1)
    part = page.select_runs_that_fit_memory().responses()[["model", "condition"]].drop_duplicates()
    assert part.to_numpy().tolist() == units.head(1).to_numpy().tolist()


def test_the_items_that_are_read_are_the_first_that_fit_and_at_least_one(opinions, monkeypatch):
    folder, _ = opinions
    page = StabilityPage(str(folder))
    items = page.runs.sql("SELECT DISTINCT study, item FROM stimuli ORDER BY item").assign(rank=1)
    assert f"more than {steps.MOST_RESPONSES:,} rows" in (FOLDER / "transcripts.ipynb").read_text(encoding="utf-8")
    (n_responses,) = page.runs.execute(
        "SELECT count(*) FROM responses JOIN units USING (study, model, condition) WHERE item = ?", [items["item"][0]]
    ).fetchone()
    for most, n_items in ((10**9, len(items)), (2 * n_responses, 2), (2 * n_responses - 1, 1), (1, 1)):
        monkeypatch.setattr(steps, "MOST_RESPONSES", most)
        assert steps.select_items_that_fit_memory(items, page.runs).equals(items.head(n_items))


@pytest.mark.parametrize("n_units", [0, 1])
def test_a_model_that_the_other_computation_lost_is_a_difference(n_units, opinions):
    folder, options = opinions
    page, key = StabilityPage(str(folder), **options), ["study", "model", "condition"]
    theirs = page.frame("stability")[[*key, "range_mean"]]
    assert 'class="difference"' not in page.check_against_package("stability", theirs, on=key).text
    assert 'class="difference"' in page.check_against_package("stability", theirs[:n_units], on=key).text


@pytest.mark.usefixtures("forked_kernels")
def test_a_report_tells_of_a_wrong_number_on_the_first_screen_and_on_the_index(tmp_path, capsys):
    folder = write_run(tmp_path / "run", random_frame(["a", "b"], items=2, paraphrases=3))
    notebook = json.loads((FOLDER / "stability.ipynb").read_text(encoding="utf-8"))
    (cell,) = [
        cell for cell in notebook["cells"] if 'page.check_against_package("stability"' in "".join(cell["source"])
    ]
    cell["source"] = [
        'page.check_against_package("stability", flips.assign(flip_10=0.123), on=["study", "model", "condition"])'
    ]
    path = tmp_path / "stability.ipynb"
    path.write_text(json.dumps(notebook), encoding="utf-8")
    (page,) = [entry.page for entry in report.list_notebooks_of_all_pages() if entry.name == "stability"]
    (result,) = report.write_report(
        [str(folder)], tmp_path / "out", {"resamples": 20}, registry=[report.Notebook(path, page)]
    ).results
    assert result.error is None
    assert "differences" in result.chapter.card_html
    for name in ("stability", "index"):
        assert "Another package computes other numbers." in Page(tmp_path / "out" / f"{name}.html").words
    capsys.readouterr()
