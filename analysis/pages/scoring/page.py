"""Make the parts of the page on scores for its notebook."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.pages.scoring import narrative
from analysis.pages.scoring.catalogue import CATALOGUE
from analysis.pages.scoring.items import chosen, headline
from analysis.reporting import tables, verdicts, words
from analysis.reporting.html import Html, fragment
from analysis.reporting.page import Page
from analysis.runs.scores import GOLD, read

TABLES = (
    "scores", "score_differences", "score_ranges", "score_influence", "score_methods", "score_conventions",
    "score_items",
)  # fmt: skip


class ScoringPage(Page):
    """Show the page on scores.

    Parameters
    ----------
    folders, out
        As for `Page`.
    setting
        Range, temperature and method that sentences and figures are about, such as "0-9/0.7/sampled". Empty: the range
        that was asked first, sampled scores where there are some, and the temperature nearest to 0.7.
    **options
        Options of the tables: biased, invalid, resamples, seed.
    """

    protocols, studies = CATALOGUE.protocols, CATALOGUE.studies

    def __init__(
        self, folders: Sequence[str], out: str | Path | None = None, *, setting: str = "", **options: Any
    ) -> None:
        super().__init__(folders, out, **options)
        self.setting = headline(read(self.runs), setting)
        self.options |= {"setting": self.setting}

    def answer(self) -> Html:
        """Show the answer in words, and what weakens it."""
        frames = {name: self.frame(name) for name in TABLES}
        return self.told(narrative.answer(frames, self.setting, words.when(self.runs.info)))

    def here(self, name: str) -> pd.DataFrame:
        """Return the rows of a table in the page's setting."""
        return chosen(self.frame(name), self.setting)

    def method(self) -> Html:
        """Say in five lines how the numbers were computed."""
        known = {key: p.default for key, p in tables.options("scores").items()} | self.options
        models = self.frame("scores")
        models = models[models["model"] != GOLD]
        return fragment(
            "scoring/method", biased=known["biased"], resamples=known["resamples"], seed=known["seed"],
                invalid=known["invalid"], meant=" ".join(narrative.MEANT),
                rules=verdicts.told("validity", "interval", "several", "people", "holm"),
                dropped=int(models["dropped"].sum()), clipped=int(models["clipped"].sum()),
                unscored=int(models["unscored"].sum()), failed=int(models["no_response"].sum()),
            )  # fmt: skip
