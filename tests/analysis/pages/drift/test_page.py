"""The page on changes over time in a report: it has all looks, the other pages have the last one."""

from __future__ import annotations

import pytest

from analysis.reporting.output import report
from helpers.drift_runs import write_changed_model
from helpers.html_pages import Page
from helpers.shown_pages import leave_unexecuted, show_page

pytestmark = pytest.mark.slow


@pytest.fixture
def chosen():
    return [entry for entry in report.list_notebooks_of_all_pages() if entry.name in ("drift", "transcripts")]


def test_the_page_tells_models_that_changed_from_others(tmp_path):
    path = write_changed_model(tmp_path / "runs", items=20, wordings=3)
    words = Page(show_page("drift", [path], tmp_path / "out")).words
    assert (
        "2 models were asked about 20 items at 6 times, called looks, from 1 January 2026 to 8 February 2026." in words
    )
    assert "Changed with 1 of 2 models, no change found with 1." in words
    assert words.count("numbers agree: the largest difference is") == 2


def test_a_report_over_time_has_all_looks_and_other_pages_the_last_one(tmp_path, chosen, monkeypatch):
    given = leave_unexecuted(monkeypatch)
    path = write_changed_model(tmp_path / "runs", 6, items=2, wordings=1)
    made = report.write_report([str(path)], tmp_path / "report", {}, chosen, over_time=True)
    assert made.failed_results == []
    words = Page(tmp_path / "report" / "index.html").words
    assert "was asked 6 times, from 1 January 2026 to 8 February 2026." in words
    assert "Pages are about the last time; “Did the answers change over time?” is about all times." in words
    assert "--over-time" in Page(tmp_path / "report" / "drift.html").words
    assert [len(given[name]["runs"]) for name in ("drift", "transcripts")] == [6, 1]
    assert given["transcripts"]["runs"][0].endswith("week-06")


def test_a_report_without_times_does_not_name_the_page(tmp_path, chosen, monkeypatch):
    leave_unexecuted(monkeypatch)
    path = write_changed_model(tmp_path / "runs", 1, items=2, wordings=1)
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "drift.html").write_text("of before")
    made = report.write_report([str(path / "week-01")], tmp_path / "report", {}, chosen).results
    assert [result.name for result in made] == ["transcripts"]
    assert not (tmp_path / "report" / "drift.html").exists()
    made = report.write_report([str(path / "week-01")], tmp_path / "again", {}, chosen, over_time=True).results
    assert [result.left_out for result in made] == ["no model and condition was asked at two times", ""]
