"""The page on changes over time in a report: it has all looks, the other pages have the last one."""

from __future__ import annotations

import json

import pytest

from analysis.reporting.output import report
from helpers.drift_runs import write_changed_model
from helpers.html_pages import Page

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("forked_kernels")]


def test_a_report_over_time_has_all_looks_and_other_pages_the_last_one(tmp_path):
    path = write_changed_model(tmp_path / "runs", items=30)
    chosen = [entry for entry in report.list_notebooks_of_all_pages() if entry.name in ("drift", "transcripts")]
    made = report.write_report([str(path)], tmp_path / "report", {}, chosen, over_time=True)
    assert made.failed_results == []
    words = Page(tmp_path / "report" / "index.html").words
    assert "was asked 6 times, from 1 January 2026 to 8 February 2026." in words
    assert "Pages are about the last time; “Did the answers change over time?” is about all times." in words
    page = Page(tmp_path / "report" / "drift.html")
    assert (
        "2 models were asked about 30 items at 6 times, called looks, from 1 January 2026 to 8 February 2026."
        in page.words
    )
    assert "Changed with 1 of 2 models, no change found with 1." in page.words
    assert page.words.count("numbers agree: the largest difference is") == 2
    assert "--over-time" in page.words
    runs = {
        name: json.loads((tmp_path / "report" / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))["metadata"]
        ["papermill"]["parameters"]["runs"]
        for name in ("drift", "transcripts")
    }  # fmt: skip
    assert [len(folders) for folders in runs.values()] == [6, 1]
    assert runs["transcripts"][0].endswith("week-06")


def test_a_report_without_times_does_not_name_the_page(tmp_path):
    path = write_changed_model(tmp_path / "runs", 2, items=6)
    chosen = [entry for entry in report.list_notebooks_of_all_pages() if entry.name in ("drift", "transcripts")]
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "drift.html").write_text("of before")
    made = report.write_report([str(path / "week-01")], tmp_path / "report", {}, chosen).results
    assert [result.name for result in made] == ["transcripts"]
    assert not (tmp_path / "report" / "drift.html").exists()
    made = report.write_report([str(path / "week-01")], tmp_path / "again", {}, chosen, over_time=True).results
    assert [result.left_out for result in made] == ["no model and condition was asked at two times", ""]
