"""Show the parts of a page that has no class of its own, in the notebook that `made_notebook` makes for it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from analysis.reporting.catalogue import import_page_function, map_page_names_to_catalogues
from analysis.reporting.output.exploring import Run
from analysis.reporting.output.html import Html
from analysis.reporting.output.page import Page


class PlainPage(Page):
    """Show the parts of a page that has no class of its own.

    Parameters
    ----------
    name
        Name of the page.
    run, out
        As for `Page`.
    """

    def __init__(self, name: str, run: Run | Sequence[str], out: str | Path | None = None) -> None:
        page = map_page_names_to_catalogues()[name]
        self.name, self.protocols, self.studies = name, page.protocols, page.studies
        super().__init__(run, out)

    def answer(self) -> Html:
        """Show the answer in words; `cautions` shows what weakens it."""
        answer_function = import_page_function(self.name, map_page_names_to_catalogues()[self.name].answer)
        return self.render_answer_with_added_cautions(answer_function(self.frames))

    def list_name_if_outside_page(self) -> list[str]:
        """Return the name of the page."""
        return [self.name]
