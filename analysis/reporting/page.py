"""Make the parts of one page of the report for its notebook: figures with captions, tables, provenance.

::

    page = StabilityPage(["results/demo/agreement"])
    page.answer()
    page.figure("overview")
    page.table("stability")

Everything shown is HTML from templates, which escape all texts of items and models. Where a folder is given, every
table that is shown is written there as CSV and LaTeX, and every figure as SVG and PDF.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from analysis import runs
from analysis.reporting import catalogue, choice, files, grid, orders, plotting, prompts, provenance, tables, words
from analysis.reporting.choice import Choice
from analysis.reporting.columns import Column
from analysis.reporting.frames import Frames
from analysis.reporting.html import Html, address, fragment, note
from analysis.reporting.notebooks import locate, named
from analysis.reporting.pictures import Picture, pictures
from analysis.reporting.printed import OURS
from analysis.reporting.words import Answer
from analysis.runs.folder import expand, protocol
from analysis.runs.unanswered import unanswered

MOST_ROWS = 200  # of a table on the page; its CSV file has all rows, and the one file to mail stays small
FEW_ROWS = 8  # a table with no more stands open; others are folded
KEYS = ("study", "model", "condition", "group", "item", "measure", "feature", "term", "benchmark", "pattern", "source")


class Page:
    """Show the parts of a page about some runs; each page adds its answer, its method and what else it shows.

    Attributes
    ----------
    protocols
        The page looks at the run folders of these protocols; set by each page from its catalogue.
    studies
        The published studies that it repeats (`citations.studies`); set by each page from its catalogue.
    of_agreement
        Whether its tables speak of agreement; other answers than “agree” and “disagree” are then called by their names.

    Parameters
    ----------
    folders
        Run folders, or folders that hold run folders; a text is one of them. A relative path is looked up from the
        working directory, then from the notebooks' own folder.
    out
        Folder for `tables/` and `figures/`; nothing is written without one.
    **options
        Options of the tables (`resamples`, `seed`, `thresholds`), recorded in the provenance.
    """

    protocols: ClassVar[frozenset[str]]
    studies: ClassVar[tuple[str, ...]] = ()
    of_agreement: ClassVar[bool] = False

    def __init__(self, folders: Sequence[str], out: str | Path | None = None, **options: Any) -> None:
        self.folders = named(folders)
        self.out = Path(out) if out else None
        self.options = options
        self.runs = runs.open(*(locate(folder) for folder in self.folders), protocols=self.protocols)
        self.frames = Frames(self.runs, self.options, self._write)
        self.choice = choice.of_runs(self.runs.info) if self.of_agreement else Choice()
        self._answer: Answer | None = None
        self._details: dict[str, tuple[str, ...]] = {}
        self._figures = 0
        self._orders_told = False

    def frame(self, name: str) -> pd.DataFrame:
        """Return a table of the catalogue: computed once, and written to the folder of the page."""
        return self.frames[name]

    def list_other_protocols(self) -> frozenset[str]:
        """List the protocols of the given run folders that the page does not look at."""
        inside = [folder for name in self.folders for folder in expand(Path(locate(name)))]
        return frozenset(map(protocol, inside)) - self.protocols

    def _write(self, name: str, frame: pd.DataFrame) -> None:
        if self.out:
            files.write_table(name, frame, self.out)

    def told(self, answer: Answer) -> Html:
        """Show the answer in words, and keep what the cells below show of it: its cautions and details.

        The caution about prompts without a response comes first, on every page.
        """
        for name in answer.details:
            assert name in catalogue.figures() or name in catalogue.tables(), f"details of {name!r}, which there is not"
        self._details = dict(answer.details)
        self._answer = replace(answer, cautions=(*words.unanswered(unanswered(self.runs)), *answer.cautions))
        return fragment("answer", answer=self._answer)

    def cautions(self) -> Html:
        """Show what weakens the answer; the answer, which is shown before, links to it."""
        if self._answer is None:
            raise RuntimeError("the cautions belong to the answer: show page.answer() first")
        return fragment("cautions", cautions=self._answer.cautions)

    def said(self, name: str) -> str:
        """Return the sentences of the answer about a figure or table, for the first cell that shows it."""
        return fragment("said", sentences=self._details.pop(name, ())).text

    def figure(self, name: str) -> Html:
        """Show a figure of the catalogue with its caption, for a wide screen and for a phone, and save it.

        What the answer says about it stands above; below the page's first figure, which follows the answer at once.
        """
        self._figures += 1
        entry = catalogue.figure(name)
        drawn = "".join(self._shown(entry.title, picture) for picture in pictures(name, self.frames))
        shown = drawn or note(f"{entry.title}: {entry.nothing}").text
        return Html(shown + self.said(name) if self._figures == 1 else self.said(name) + shown)

    def _shown(self, title: str, picture: Picture) -> str:
        wide, narrow = (
            self._saved(picture.draw(width=width), f"{picture.name}{ending}")
            for ending, width in plotting.WIDTHS.items()
        )
        alt = f"{title}: {picture.caption.split('. ')[0].rstrip('.')}."
        caption = self._once(picture.caption)
        return fragment("figure", wide=_picture(wide), narrow=_picture(narrow), alt=alt, caption=caption).text

    def _once(self, caption: str) -> str:
        """Say what a row for both orders is in the first caption of the page; the others refer to it."""
        if orders.JOINED not in caption:
            return caption
        told, self._orders_told = self._orders_told, True
        return caption.replace(orders.JOINED, orders.AGAIN) if told else caption

    def _saved(self, figure: plotting.Drawing, name: str) -> str:
        """Return the figure as SVG, and save it where there is a folder."""
        if self.out is None:
            return plotting.svg(figure)
        vector, _ = plotting.save(figure, self.out / "figures" / name)
        return vector.read_text(encoding="utf-8")

    def table(
        self, name: str, rows: pd.DataFrame | None = None, *, sort: str | None = None, most: int = MOST_ROWS
    ) -> Html:
        """Show a table with few digits, folded unless it is short, below what the answer says about it.

        Columns that are the same in all rows are named below it instead; the CSV file has them.

        Parameters
        ----------
        name
            A table of the page.
        rows
            Those that are shown; None shows the whole table.
        sort
            Column to sort by, the largest value first; None keeps the order.
        most
            Most rows.

        Returns
        -------
        The table; a note where it has no rows.
        """
        frame, entry = self.frame(name), catalogue.table(name)
        title, caption = self.choice.named(entry.title), self.choice.named(entry.caption)
        if frame.empty:
            return Html(self.said(name) + note(f"{title}: none.").text)
        chosen = frame if rows is None else rows
        chosen = chosen.sort_values(sort, ascending=False, kind="stable", na_position="last") if sort else chosen
        whole = self.frames.joined(name, chosen)
        shown, caption = whole.head(most), self._once(caption + orders.caption(whole))
        cells = grid.grid(name, shown, tables.shown(name, shown), tables.best(name, shown))
        cells, same = grid.varying(self.choice.renamed(cells))
        same_text = "; ".join(_same(*pair) for pair in same)
        if same and _keys(cells.names) == len(cells.names):  # only names of rows are left
            said = f"{title}: the same in all {len(shown):,} rows. {same_text}."
            return Html(self.said(name) + fragment("uniform", said=said, caption=caption).text)
        box = fragment(
            "table", name=name, title=title, caption=caption, grid=cells,
            left_out=len(frame) - len(chosen) + len(whole) - len(shown),
            same=same_text, keys=_keys(cells.names), ours=_ours(shown),
            open=len(shown) <= FEW_ROWS, saved=self.out is not None,
        )  # fmt: skip
        return Html(self.said(name) + box.text)

    def section(self, name: str, title: str = "", said: str = "") -> Html:
        """Show a table under its own heading; without rows, only say so.

        Parameters
        ----------
        name
            A table of the page.
        title
            The heading; empty for none.
        said
            Words before the table.

        Returns
        -------
        Heading and table.
        """
        if self.frame(name).empty and name not in self._details:
            return note(f"{title or self.choice.named(catalogue.table(name).title)}: none.")
        heading = fragment("section", name=name, title=title, said=said, note=catalogue.table(name).title)
        return Html(heading.text + self.table(name).text)

    def asked(self) -> Html:
        """Show in a folded box what the models were asked: prompts, the templates behind them, and answer words."""
        return fragment("asked", **prompts.shown(self.runs))

    def provenance(self) -> Html:
        """Show how to cite the page, and where it comes from.

        This is the last cell: what the answer says about a figure or table that no cell has shown is named here.
        """
        return Html(provenance.foot(self.studies, self.entries(), self._details))

    def entries(self) -> list[tuple[str, list[str]]]:
        """Return name and lines of every entry of the page's foot."""
        own = [folder.path for folder in self.runs.folders]
        named = [name for name in self.folders if any(locate(name) in (path, *path.parents) for path in own)]
        return provenance.entries(self.runs, named, self.options)


def _ours(frame: pd.DataFrame) -> set[int]:
    """Return the positions of our rows in a table that has printed rows, too; empty in other tables."""
    if "source" not in frame or (frame["source"] == OURS).all():
        return set()
    return set(np.flatnonzero(frame["source"] == OURS))


def _keys(shown: Sequence[str]) -> int:
    """Count the first columns that name the rows; they stay in view when the others are scrolled."""
    return next((place for place, name in enumerate(shown) if name not in KEYS), len(shown))


def _same(column: Column, cell: grid.Cell) -> str:
    """Write what a column has in all rows: "Items 62"."""
    return " ".join(filter(None, (column.header, cell.text, cell.interval)))


def _picture(svg: str) -> str:
    """Return an SVG as an image's address: part of the file, but its ids and styles do not mix with the page's."""
    return address("image/svg+xml", " ".join(svg.split()))
