"""Make the parts of the page on text features for its notebook."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from analysis import features
from analysis.features.attributes import describe_attribute_as_predictor, is_attribute_column
from analysis.pages.text_features import narrative
from analysis.pages.text_features.catalogue import CATALOGUE
from analysis.pages.text_features.figures import fit_mixed_models_of_page, join_effects_over_option_orders
from analysis.pages.text_features.terms import name_predictor
from analysis.reporting import words
from analysis.reporting.output.html import Html, render_template_for_notebook
from analysis.reporting.output.page import Page
from analysis.reporting.words import join_names, shots, verdicts
from analysis.statistics import mixed

ENGINES = ("statsmodels", "scipy", "pymer4", "rpy2")
TABLES = ("mixed", "mixed_diagnostics", "mixed_conventions", "vif", "scales", "correlations", "features")


class TextFeaturesPage(Page):
    """Show the page on text features.

    Parameters
    ----------
    folders, out
        As for `Page`. Features that a run folder does not hold yet are computed and kept there.
    spacy, sentiment, language
        As in `analysis.features.compute_features`; empty: what was used before, or else the defaults.
    **options
        Options of the tables: engine, scale, predictors, invalid.
    """

    protocols, studies, of_agreement = CATALOGUE.protocols, CATALOGUE.studies, CATALOGUE.of_agreement

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
        for folder in features.choose_feature_folder_of_each_study(self.runs).values():
            features.compute_features(folder, spacy=spacy, sentiment=sentiment, language=language or None)
        # The provenance repeats the call: an option that was not given is not in it.
        feature_options = {
            "spacy": list(spacy),
            "sentiment": sentiment if sentiment != "auto" else "",
            "language": language,
        }
        self.options |= {name: value for name, value in feature_options.items() if value}

    def answer(self) -> Html:
        """Show the answer in words, and what weakens it."""
        frames = {name: self.frame(name) for name in TABLES}
        return self.render_answer_with_added_cautions(
            narrative.answer_page_question(
                frames,
                self.choice,
                words.phrase_run_dates(self.runs.info),
                join_effects_over_option_orders(self.frames),
                shots.find_studies_whose_wordings_are_example_counts(self.runs),
            )
        )

    @property
    def formula(self) -> str:
        """Return the formula of the fits, in the notation of lme4."""
        return fit_mixed_models_of_page(self.frames).formula

    def method(self) -> Html:
        """Say how the numbers were computed."""
        fitted_family = fit_mixed_models_of_page(self.frames)
        fits = self.frame("mixed_diagnostics")
        return render_template_for_notebook(
            "text_features/method", formula=fitted_family.formula, response=fitted_family.response,
            dropped=join_names(list(map(name_predictor, sorted(fitted_family.dropped)))),
                invalid=self.options.get("invalid", "dropped"), word_meanings=narrative.WORD_MEANINGS,
                rules=verdicts.format_verdict_rules_by_name("validity", "fit"),
                tests=int(self.frame("mixed")["n_tests"].max()), not_fitted=len(fitted_family.left_out),
                missing=int(fits["n_missing"].sum()), engine=", ".join(fits["engine"].dropna().unique()),
            )  # fmt: skip

    def list_footer_entries(self) -> list[tuple[str, list[str]]]:
        """Return the entries at the foot of the page, with what computed the features and fitted the models."""
        entries = super().list_footer_entries()
        engines = ", ".join(self.frame("mixed_diagnostics")["engine"].dropna().unique())
        engine_versions = ", ".join(
            f"{name} {metadata.version(name)}" for name in ENGINES if importlib.util.find_spec(name)
        )
        columns = mixed.parse_formula(fit_mixed_models_of_page(self.frames).formula).formula_columns
        attribute_lines = [
            describe_attribute_as_predictor(self.runs, name) for name in columns if is_attribute_column(name)
        ]
        place = [name for name, _ in entries].index("Analysed with")
        entries[place:place] = [
            ("Features", self._describe_feature_components()),
            *([("Attributes", attribute_lines)] if attribute_lines else []),
            ("Mixed models", [f"engine {engines}; {engine_versions}"]),
        ]
        return entries

    def _describe_feature_components(self) -> list[str]:
        """Say for every group of features what computed it, or why it is missing."""
        rows = self.frame("features").to_dict("records")
        return [
            f"{row['columns']} ({row['language']}): {row['component'] or 'missing: ' + row['missing']}" for row in rows
        ]
