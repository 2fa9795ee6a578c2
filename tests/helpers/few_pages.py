"""Reports of few pages: each page has tests of its own, and takes some seconds."""

from __future__ import annotations

import pytest

from analysis.reporting.output import report


def keep_pages(patch: pytest.MonkeyPatch, *names: str) -> None:
    """Let reports of this process have only the pages of these names, where there are data for them."""
    notebooks = [notebook for notebook in report.list_notebooks_of_all_pages() if notebook.name in names]
    assert [notebook.name for notebook in notebooks] == list(names)
    patch.setattr(report, "list_notebooks_of_all_pages", lambda: notebooks)
