"""What the notebook on scores calls; everything else of its page comes from `analysis.reporting.page`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.pages.scoring import narrative
from analysis.pages.scoring.columns import chosen
from analysis.pages.scoring.influence import LEAST, points
from analysis.pages.scoring.items import GOLD, headline, read
from analysis.pages.scoring.plots import groups
from analysis.pages.scoring.printed import printed_differences
from analysis.pages.stability.printed import OURS
from analysis.reporting import tables
from analysis.reporting.page import Html, Page, render

TABLES = ("scores", "score_differences", "score_ranges", "score_influence", "score_methods", "score_items")


class ScoringPage(Page):
    """One report page on scores.

    Parameters
    ----------
    folders, out
        As for `Page`.
    setting
        Range, temperature and method that sentences and figures speak of, such as "0-9/0.7/sampled"; empty: the range
        that was asked first, sampled where it was, at the temperature nearest to 0.7.
    **options
        Options of the tables: biased, resamples, seed.
    """

    def __init__(
        self, folders: Sequence[str], out: str | Path | None = None, *, setting: str = "", **options: Any
    ) -> None:
        super().__init__(folders, out, **options)
        self.setting = headline(read(self.runs), setting)
        self.options |= {"setting": self.setting}

    def answer(self) -> Html:
        """The answer in words, with everything that weakens it."""
        return Html(render("answer", answer=narrative.answer(self._frames_of(), self.setting)))

    def reading(self) -> Html:
        """By range, by temperature, sampled beside exact, and beside the paper."""
        return Html(render("reading", lines=narrative.reading(self._frames_of())))

    def here(self, name: str) -> pd.DataFrame:
        """The rows of a table in the page's setting."""
        return chosen(self.frame(name), self.setting)

    def violins(self) -> Iterator[pd.DataFrame]:
        """Table `score_items`, in parts that one figure has room for."""
        yield from groups(self.frame("score_items"))

    def temperatures(self) -> Iterator[pd.DataFrame]:
        """Rows of table `scores` on the page's range by its method, where several temperatures were asked."""
        span, _, method = self.setting.rsplit("/", 2)
        scores = self.frame("scores")
        rows = scores[(scores["range"] == span) & (scores["method"] == method) & (scores["model"] != GOLD)]
        if rows["temperature"].nunique() > 1:
            yield from groups(rows)

    def influence(self, source: str = OURS) -> Html:
        """The points behind the correlation of kurtosis and tau: of these runs in the page's setting, or as printed."""
        ours = source == OURS
        table = self.frame("score_influence")
        table = table[table["source"] == source]
        frame = self.frame("score_differences") if ours else printed_differences()
        table, frame = (chosen(part, self.setting) if ours else part for part in (table, frame))
        known = table[table["omitted"] == "nothing"]
        if known.empty or known["n"].iloc[0] < LEAST:
            return Html(
                render("note", text="Fewer than three pairs of a base and a tuned model have both differences.")
            )
        file = "score_influence" if ours else "score_influence-2"
        return self.figure("score_influence", table, points(frame), file=file)

    def method(self) -> Html:
        """How the figures were made, in five lines."""
        known = {key: p.default for key, p in tables.options("scores").items()} | self.options
        models = self.frame("scores")
        models = models[models["model"] != GOLD]
        return Html(
            render(
                "scoring/method", biased=known["biased"], resamples=known["resamples"], seed=known["seed"],
                dropped=int(models["dropped"].sum()), clipped=int(models["clipped"].sum()),
                unscored=int(models["unscored"].sum()),
            )
        )  # fmt: skip

    def _frames_of(self) -> dict[str, pd.DataFrame]:
        return {name: self.frame(name) for name in TABLES}
