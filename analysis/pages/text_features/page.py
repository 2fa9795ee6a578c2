"""Make the parts of the page on text features for its notebook."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from analysis.pages.text_features import narrative
from analysis.pages.text_features.catalogue import CATALOGUE
from analysis.pages.text_features.family import measure
from analysis.pages.text_features.figures import family_of, one_row
from analysis.reporting import verdicts, words
from analysis.reporting.html import Html, fragment
from analysis.reporting.page import Page

ENGINES = ("statsmodels", "scipy", "pymer4", "rpy2")
TABLES = ("mixed", "mixed_diagnostics", "mixed_conventions", "vif", "scales", "correlations", "features")


class TextFeaturesPage(Page):
    """Show the page on text features.

    Parameters
    ----------
    folders, out
        As for `Page`. Features that a run folder does not hold yet are computed and kept there.
    spacy, sentiment, language
        As in `analysis.features.compute`; empty: what was used before, or else the defaults.
    **options
        Options of the tables: engine, scale, predictors, invalid.
    """

    protocols, studies, of_agreement = CATALOGUE.protocols, CATALOGUE.studies, True

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
        # The provenance repeats the call: an option that was not given is not in it.
        given = {"spacy": list(spacy), "sentiment": sentiment if sentiment != "auto" else "", "language": language}
        self.options |= {name: value for name, value in given.items() if value}

    def answer(self) -> Html:
        """Show the answer in words, and what weakens it."""
        frames = {name: self.frame(name) for name in TABLES}
        return self.told(narrative.answer(frames, self.choice, words.when(self.runs.info), one_row(self.frames)))

    def method(self) -> Html:
        """Say in six lines how the numbers were computed."""
        found = family_of(self.frames)
        fits = self.frame("mixed_diagnostics")
        return fragment(
            "text_features/method", formula=found.formula, response=found.response, dropped=sorted(found.dropped),
                invalid=self.options.get("invalid", "dropped"), meant=narrative.MEANT,
                rules=verdicts.told("validity", "fit"),
                tests=int(self.frame("mixed")["n_tests"].max()), not_fitted=len(found.left_out),
                missing=int(fits["n_missing"].sum()), engine=", ".join(fits["engine"].dropna().unique()),
            )  # fmt: skip

    def entries(self) -> list[tuple[str, list[str]]]:
        """Return the entries at the foot of the page, with what computed the features and fitted the models."""
        entries = super().entries()
        engines = ", ".join(self.frame("mixed_diagnostics")["engine"].dropna().unique())
        used = ", ".join(f"{name} {metadata.version(name)}" for name in ENGINES if importlib.util.find_spec(name))
        place = [name for name, _ in entries].index("Analysed with")
        entries[place:place] = [("Features", self._components()), ("Mixed models", [f"engine {engines}; {used}"])]
        return entries

    def _components(self) -> list[str]:
        rows = self.frame("features").to_dict("records")
        return [
            f"{row['columns']} ({row['language']}): {row['component'] or 'missing: ' + row['missing']}" for row in rows
        ]
