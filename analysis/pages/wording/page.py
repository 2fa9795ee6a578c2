"""What the notebook on wording calls; everything else of its page comes from `analysis.reporting.page`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from analysis.pages.wording import narrative
from analysis.reporting import all_plots, labels, tables
from analysis.reporting.columns import column, value
from analysis.reporting.page import Html, Page, render

ROWS = 24  # models x conditions that one figure has room for


class ConsistencyPage(Page):
    """One report page on the wording of yes/no questions; options: invalid, resamples, seed."""

    def answer(self) -> Html:
        """The answer in words, with everything that weakens it."""
        frames = {name: self.frame(name) for name in narrative.TABLES}
        return Html(render("answer", answer=narrative.answer(frames)))

    def tasks(self, name: str, *by: str, measure: str = "") -> Iterator[pd.DataFrame]:
        """A table in parts that a figure has room for, of one language and task (and value of further columns)."""
        frame = self.frame(name)
        if measure:
            frame = frame[frame["measure"] == measure]
        for _, part in frame.groupby(["language", "task", *by], sort=False):
            if "n" in part and not part["n"].any():
                continue  # no valid answers: the answer on top says so
            if "model" in part:
                yield from all_plots.pages(part, ROWS)
            else:
                yield part

    def examples(self) -> Html:
        """For every model the pair of wordings between which it contradicts itself most."""
        frame = self.frame("turned")
        if frame.empty:
            return Html(render("note", text="No model contradicts itself between two valid answers."))
        frame = frame.assign(label=labels.series(frame))
        pairs = [_pair(row) for _, row in frame.iterrows()]
        return Html(render("examples", pairs=pairs, caption=tables.table("turned").caption))

    def method(self) -> Html:
        """How the numbers were made, in five lines."""
        options = {key: p.default for key, p in tables.options("consistency").items()} | self.options
        failed = int(self.runs.execute("SELECT count(*) FROM errors").fetchall()[0][0])
        return Html(
            render(
                "wording/method", invalid=options["invalid"], resamples=options["resamples"], seed=options["seed"],
                failed=failed,
            )
        )  # fmt: skip


def _pair(row: pd.Series) -> dict[str, Any]:
    wordings = []
    for text, said, share in (
        (row["text_original"], row["answer_original"], row["p_original"]),
        (row["text_reworded"], row["answer_reworded"], row["p_yes"]),
    ):
        known = pd.notna(share)
        length = 100 * share if known else 100.0 * (said == "Yes")
        number = f"p(Yes) {value(share, column('turned', 'p_yes'))}" if known else ""
        wordings.append({"text": text, "answer": said, "agreement": number, "percent": f"{length:.1f}"})
    return {"label": f"{row['label']}, {narrative.WORDS[row['pattern']]}", "item": row["item"], "wordings": wordings}
