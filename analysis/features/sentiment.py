"""Measure positive and negative sentiment: with pysentimiento, as in the paper, or with VADER for English."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from analysis.features.component import Component, Measure, MissingComponent
from ground.errors import InputError
from ground.extras import build_install_command
from ground.version import find_installed_version

COLUMNS = ("sentiment_positive", "sentiment_negative")
ENGINES = ("auto", "pysentimiento", "vader")
PYSENTIMIENTO_LANGUAGES = ("en", "es", "it", "pt")
_INSTALL = {"pysentimiento": "pip install pysentimiento", "vader": "pip install vaderSentiment"}
_DISTRIBUTION = {"pysentimiento": "pysentimiento", "vader": "vaderSentiment"}


def build_sentiment_component(
    language: str, engine: str = "auto", old_identity: Mapping[str, str] | None = None
) -> Component | MissingComponent:
    """Return the component of sentiment_positive and sentiment_negative.

    Parameters
    ----------
    language
        Language of the texts.
    engine
        "pysentimiento" (probabilities of a classifier of tweets; en, es, it, pt), "vader" (shares of a text's words and
        marks, weighted by a lexicon; en), or "auto": the engine of `old_identity`, else pysentimiento, else VADER.
    old_identity
        Identity of the engine that computed earlier numbers.

    Returns
    -------
    Component or MissingComponent
        Missing where no engine that is installed knows the language.

    Raises
    ------
    InputError
        For an unknown engine, and one named by the user that is not installed. `Component.load` raises it, too, where a
        model cannot be loaded.
    """
    if engine not in ENGINES:
        raise InputError(f"unknown sentiment engine {engine!r}; the engines are: {', '.join(ENGINES)}")
    if engine != "auto":
        return _build_requested_engine_component(language, engine)
    if old_identity:
        old_engine = old_identity["name"]
        if _is_language_supported(old_engine, language) and find_installed_version(_DISTRIBUTION[old_engine]):
            return _build_engine_component(old_engine, language)
        return MissingComponent(COLUMNS, f"{old_engine} is not installed: {_INSTALL[old_engine]}")
    return _build_first_working_component(language)


def _build_requested_engine_component(language: str, engine: str) -> Component | MissingComponent:
    """Build the component of the engine that the user named; refuse one that is not installed."""
    if not find_installed_version(_DISTRIBUTION[engine]):
        install_line = (
            build_install_command("features") if engine == "vader" else _INSTALL[engine]
        )  # no extra holds pysentimiento
        raise InputError(f"--sentiment {engine}: it is not installed: {install_line}")
    if not _is_language_supported(engine, language):
        return MissingComponent(COLUMNS, f"{engine} does not know {language!r}")
    return _build_engine_component(engine, language, named=True)


def _build_first_working_component(language: str) -> Component | MissingComponent:
    """Build the component of pysentimiento, else of VADER for English, else say why there is none."""
    if not _is_language_supported("pysentimiento", language):
        languages = ", ".join(PYSENTIMIENTO_LANGUAGES)
        return MissingComponent(
            COLUMNS, f"no sentiment engine knows {language!r}: pysentimiento knows {languages}, VADER en"
        )
    if not find_installed_version("pysentimiento"):
        why = f"pysentimiento is not installed: {_INSTALL['pysentimiento']}"
    else:
        try:
            measure = _load_pysentimiento(language)
        except InputError as error:
            why = str(error)
        else:
            return Component(COLUMNS, _build_engine_identity("pysentimiento"), lambda: measure)
    if language == "en" and find_installed_version("vaderSentiment"):
        return Component(COLUMNS, _build_engine_identity("vader"), _load_vader, note=f"VADER, because {why}")
    return MissingComponent(COLUMNS, f"{why}, or {_INSTALL['vader']}" if language == "en" else why)


def _build_engine_component(engine: str, language: str, named: bool = False) -> Component:
    """Build the component of an engine without checking that it is installed."""
    load = _load_vader if engine == "vader" else lambda: _load_pysentimiento(language)
    return Component(COLUMNS, _build_engine_identity(engine), load, named)


def _is_language_supported(engine: str, language: str) -> bool:
    """Tell whether an engine can measure the sentiment of texts in a language."""
    return language in PYSENTIMIENTO_LANGUAGES if engine == "pysentimiento" else language == "en"


def _build_engine_identity(engine: str) -> dict[str, str]:
    """Return the name and the installed version of an engine."""
    return {"name": engine, "version": str(find_installed_version(_DISTRIBUTION[engine]))}


def _load_vader() -> Measure:
    """Load VADER and return the function that measures the sentiment of texts with it."""
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    analyzer = SentimentIntensityAnalyzer()

    def measure_texts(texts: Sequence[str]) -> dict[str, list[float]]:
        """Measure the positive and negative sentiment of every text with VADER."""
        scores = [analyzer.polarity_scores(text) for text in texts]
        return {"sentiment_positive": [s["pos"] for s in scores], "sentiment_negative": [s["neg"] for s in scores]}

    return measure_texts


def _load_pysentimiento(language: str) -> Measure:
    """Load the classifier of a language, whose weights are fetched once; InputError for any error of the libraries."""
    hub = logging.getLogger("huggingface_hub")
    level = hub.level
    hub.setLevel(logging.CRITICAL)  # without a network, its retries would fill the screen
    try:
        from pysentimiento import create_analyzer

        analyzer = create_analyzer(task="sentiment", lang=language)
    except Exception as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise InputError(f"pysentimiento cannot load its model for {language!r}: {reason}") from error
    finally:
        hub.setLevel(level)

    def measure_texts(texts: Sequence[str]) -> dict[str, list[float]]:
        """Measure the positive and negative sentiment of every text with pysentimiento."""
        scores = [output.probas for output in analyzer.predict(list(texts))]
        return {"sentiment_positive": [s["POS"] for s in scores], "sentiment_negative": [s["NEG"] for s in scores]}

    return measure_texts
