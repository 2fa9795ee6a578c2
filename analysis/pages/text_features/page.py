"""What the notebook on text features calls; everything else of its page comes from `analysis.reporting.page`."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.pages.text_features import narrative
from analysis.pages.text_features.family import Family, family, measure
from analysis.pages.text_features.plots import PANELS, ROWS
from analysis.reporting import all_plots, provenance
from analysis.reporting.page import Html, Page, render
from analysis.statistics.mixed.design import INTERCEPT

if TYPE_CHECKING:
    import pandas as pd

ENGINES = ("statsmodels", "scipy", "pymer4", "rpy2")
TABLES = ("mixed", "mixed_diagnostics", "vif", "scales", "robust", "correlations", "features")


class WordingsPage(Page):
    """One report page on text features.

    Parameters
    ----------
    folders, out
        As for `Page`. Features that a run folder does not hold yet are computed, and kept there.
    spacy, sentiment, language
        As in `analysis.features.compute`; empty: what was used before, else the defaults.
    **options
        Options of the tables: engine, scale, predictors.
    """

    def __init__(
        self,
        folders: Sequence[str],
        out: str | Path | None = None,
        *,
        spacy: Sequence[str] = (),
        sentiment: str = "auto",
        language: str = "",
        **options: Any,
    ) -> None:
        super().__init__(folders, out, **options)
        measure(self.runs, spacy=spacy, sentiment=sentiment, language=language or None)
        # As typed: what was not given is not said.
        given = {"spacy": list(spacy), "sentiment": sentiment if sentiment != "auto" else "", "language": language}
        self.options |= {name: value for name, value in given.items() if value}

    def answer(self) -> Html:
        """The answer in words, with everything that weakens it."""
        return Html(render("answer", answer=narrative.answer(self._frames_of())))

    def reading(self) -> Html:
        """Feature by feature, what the tables say, beside what the paper found."""
        return Html(render("reading", lines=narrative.reading(self._frames_of())))

    def forests(self) -> Iterator[pd.DataFrame]:
        """Table `mixed` less its intercepts, in parts that one forest has room for; none where nothing is left."""
        table = self.frame("mixed")
        effects = table[table["term"] != INTERCEPT]
        if len(effects):
            yield from all_plots.pages(effects, ROWS)

    def matrices(self) -> list[pd.DataFrame]:
        """Table `correlations`, one part per study."""
        return [part for _, part in self.frame("correlations").groupby("study", sort=False)]

    def residuals(self) -> Iterator[pd.DataFrame]:
        """Residuals of the fits, in parts that one figure has room for."""
        return all_plots.pages(self._family().result.residuals, PANELS)

    def intercepts(self) -> Iterator[pd.DataFrame]:
        """Random intercepts of the fits, in parts that one figure has room for."""
        return all_plots.pages(self._family().result.random_effects, PANELS)

    def method(self) -> Html:
        """How the numbers were made, in five lines."""
        found = self._family()
        fits = self.frame("mixed_diagnostics")
        return Html(
            render(
                "text_features/method", formula=found.formula, response=found.response, dropped=sorted(found.dropped),
                tests=int(self.frame("mixed")["n_tests"].max()), not_fitted=len(found.left_out),
                missing=int(fits["n_missing"].sum()), engine=", ".join(fits["engine"].dropna().unique()),
            )
        )  # fmt: skip

    def provenance(self) -> Html:
        """Where the page comes from, with what computed the features and fitted the models."""
        entries = provenance.entries(self.runs, self.folders, self.options)
        engines = ", ".join(self.frame("mixed_diagnostics")["engine"].dropna().unique())
        used = ", ".join(f"{name} {metadata.version(name)}" for name in ENGINES if importlib.util.find_spec(name))
        place = [name for name, _ in entries].index("Analysed with")
        entries[place:place] = [("Features", self._components()), ("Mixed models", [f"engine {engines}; {used}"])]
        command = provenance.command(self.folders, self.out, self.options)
        return Html(render("provenance", entries=entries, command=command))

    def _components(self) -> list[str]:
        rows = self.frame("features").to_dict("records")
        return [
            f"{row['columns']} ({row['language']}): {row['component'] or 'missing: ' + row['missing']}" for row in rows
        ]

    def _frames_of(self) -> dict[str, pd.DataFrame]:
        return {name: self.frame(name) for name in TABLES}

    def _family(self) -> Family:
        options = {name: self.options[name] for name in ("engine", "scale", "predictors") if name in self.options}
        return family(self.runs, **options)
