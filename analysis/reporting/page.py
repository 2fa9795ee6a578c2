"""What a notebook calls to show the parts of its page: answer, figures with captions, tables, examples, provenance.

::

    page = Page(["results/demo"])
    page.answer()
    page.figure("overview", page.frame("stability"))
    page.table("stability")

Everything shown is HTML from the templates beside this module, which escape all texts of items and models. With a
folder given, every table asked for is written there as CSV and LaTeX, and every figure as SVG and PDF.
"""

from __future__ import annotations

import base64
import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import pandas as pd

from analysis import runs
from analysis.pages.stability import captions, narrative
from analysis.pages.stability.printed import OURS
from analysis.reporting import all_plots, files, grid, labels, provenance, tables
from analysis.reporting.columns import column, value

TEMPLATES = Path(__file__).resolve().parent / "templates"
PAGES = Path(__file__).resolve().parents[1] / "pages"
NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
MOST_ROWS = 300  # of a table on the page; the CSV beside it has all


@dataclass(frozen=True, slots=True)
class Html:
    """A piece of a page that a notebook shows as it is."""

    text: str

    def _repr_html_(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<{len(self.text):,} characters of HTML>"


class Page:
    """One report page on some runs.

    Parameters
    ----------
    folders
        Run folders. A relative path is looked up from the working directory, then from the notebooks' own folder.
    out
        Folder for `tables/` and `figures/`; nothing is written without one.
    **options
        Options of the tables (`resamples`, `seed`, `thresholds`), recorded in the provenance.
    """

    def __init__(self, folders: Sequence[str], out: str | Path | None = None, **options: Any) -> None:
        self.folders = list(folders)
        self.out = Path(out) if out else None
        self.options = options
        self.runs = runs.open(*(locate(folder) for folder in folders))
        self.looks = all_plots.looks(self.runs.info["models"])
        self._frames: dict[str, pd.DataFrame] = {}

    def frame(self, name: str) -> pd.DataFrame:
        """A table of the registry: computed once, and written beside the page."""
        if name not in self._frames:
            self._frames[name] = tables.build(name, self.runs, **self.options)
            if self.out:
                files.write_table(name, self._frames[name], self.out)
        return self._frames[name]

    def answer(self) -> Html:
        """The answer in words, with everything that weakens it."""
        frames = {name: self.frame(name) for name in ("stability", "items", "differences", "excluded", "invalid")}
        return _fragment("answer", answer=narrative.answer(**frames, canonical=self._canonical()))

    def figure(self, name: str, *frames: pd.DataFrame, file: str | None = None, **options: Any) -> Html:
        """A figure of `analysis.reporting.all_plots` with its caption: for a wide screen, for a phone, and saved as `file`."""
        if frames[0].empty:
            return _note("Nothing to show here: these runs have no data for it.")
        caption = getattr(captions, name)(*frames, **options)
        draw = functools.partial(getattr(all_plots, name), *frames, looks=self.looks, **options)
        narrow = all_plots.svg(draw(width=all_plots.COLUMN))
        wide = self._drawn(draw(), file or name)
        return _fragment("figure", wide=_address(wide), narrow=_address(narrow), caption=caption)

    def _drawn(self, figure: all_plots.Drawing, name: str) -> str:
        """The figure as SVG, saved on the way where there is a folder."""
        if self.out is None:
            return all_plots.svg(figure)
        vector, _ = all_plots.save(figure, self.out / "figures" / name)
        return vector.read_text(encoding="utf-8")

    def figures(self, name: str, pages: Iterable[pd.DataFrame], *frames: pd.DataFrame) -> Html:
        """One figure for each of the frames in `pages`, numbered where there are several."""
        parts = list(pages)
        names = [name if len(parts) == 1 else f"{name}-{i}" for i in range(1, len(parts) + 1)]
        shown = [self.figure(name, part, *frames, file=file).text for part, file in zip(parts, names, strict=True)]
        return Html("".join(shown)) if shown else _note("Nothing to show here: these runs have no data for it.")

    def table(
        self, name: str, rows: pd.DataFrame | None = None, *, sort: str | None = None, most: int = MOST_ROWS
    ) -> Html:
        """A table with few digits in its own scrolling box.

        All of it, or the `rows` given; at most `most`, those with the largest value of the column `sort` first.
        """
        frame, entry = self.frame(name), tables.table(name)
        if frame.empty:
            return _note(f"{entry.title}: none.")
        chosen = frame if rows is None else rows
        chosen = chosen.sort_values(sort, ascending=False, kind="stable", na_position="last") if sort else chosen
        shown = chosen.head(most)
        return _fragment(
            "table", name=name, caption=entry.caption, left_out=len(frame) - len(shown),
            grid=grid.grid(name, shown, tables.printed(name, shown), tables.best(name, shown)), ours=_ours(shown),
        )  # fmt: skip

    def section(self, name: str, title: str = "") -> Html:
        """A table under a heading of its own, with words where there are any; nothing where it has no rows."""
        frame = self.frame(name)
        if frame.empty:
            return _fragment("section", title="", said="", note=f"no rows in table {name}")
        say = getattr(narrative, name, None)
        said = say(frame.assign(label=labels.series(frame))) if say else ""
        heading = _fragment("section", title=title, said=said, note=tables.table(name).title)
        return Html(heading.text + self.table(name).text)

    def examples(self) -> Html:
        """The pair of wordings of one item that each model answers most differently, both answers beside them."""
        frame = self.frame("divergent")
        if frame.empty:
            return _note("No item has two paraphrases with a defined agreement.")
        frame = frame.assign(label=labels.series(frame))
        pairs = [_pair(row, self._canonical()) for _, row in frame.iterrows()]
        return _fragment("examples", pairs=pairs, caption=tables.table("divergent").caption)

    def method(self) -> Html:
        """How the figures were made, in five lines."""
        options = {key: p.default for key, p in tables.options("stability").items()} | self.options
        excluded = narrative.left_out(self.frame("excluded"), self.frame("invalid"))
        yes, no = self._canonical()[:2]
        return _fragment(
            "stability/method", yes=yes, no=no, resamples=options["resamples"], seed=options["seed"], excluded=excluded
        )  # fmt: skip

    def provenance(self) -> Html:
        """Where the page comes from, and the command that makes it again."""
        entries = provenance.entries(self.runs, self.folders, self.options)
        command = provenance.command(self.folders, self.out, self.options)
        return _fragment("provenance", entries=entries, command=command)

    def _canonical(self) -> list[str]:
        return list(next(iter(self.runs.info["studies"].values()))["canonical"])


def locate(folder: str) -> Path:
    """A run folder as given, or, for a notebook run from elsewhere, as seen from the folder of the notebooks."""
    path = Path(folder).expanduser()
    return path if path.exists() or not (NOTEBOOKS / path).exists() else NOTEBOOKS / path


def _ours(frame: pd.DataFrame) -> set[int]:
    """Positions of the rows that are ours, in a table that has printed ones beside them."""
    if "source" not in frame or (frame["source"] == OURS).all():
        return set()
    return set(np.flatnonzero(frame["source"] == OURS))


def _pair(row: pd.Series, canonical: Sequence[str]) -> dict[str, Any]:
    wordings = []
    for side in ("low", "high"):
        share = row[f"{side}_agreement"]
        said = canonical[0] if share > 0.5 else canonical[1] if share < 0.5 else "tie"
        number = value(share, column("divergent", f"{side}_agreement"))
        wordings.append(
            {"text": row[f"{side}_text"], "answer": said, "agreement": number, "percent": f"{100 * share:.1f}"}
        )
    return {"label": row["label"], "item": row["item"], "wordings": wordings}


def _address(svg: str) -> str:
    """An SVG as a data address: inside the page, yet apart from it."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


def _note(text: str) -> Html:
    return _fragment("note", text=text)


@functools.cache
def _templates() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([TEMPLATES, PAGES]), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    environment.filters["together"] = lambda text: text.replace(" %", "\N{NO-BREAK SPACE}%")
    return environment


def render(template: str, **values: Any) -> str:
    """A template of `analysis/templates`, everything put into it escaped."""
    return _templates().get_template(f"{template}.html.j2").render(**values)


def _fragment(template: str, **values: Any) -> Html:
    return Html(render(template, **values))
