"""Measure positive and negative sentiment: with pysentimiento, as in the paper, or with VADER for English."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from analysis.features.component import Component, Measure, Missing, version
from ground.errors import InputError
from ground.extras import install

COLUMNS = ("sentiment_positive", "sentiment_negative")
ENGINES = ("auto", "pysentimiento", "vader")
PYSENTIMIENTO_LANGUAGES = ("en", "es", "it", "pt")
_INSTALL = {"pysentimiento": "pip install pysentimiento", "vader": "pip install vaderSentiment"}
_DISTRIBUTION = {"pysentimiento": "pysentimiento", "vader": "vaderSentiment"}


def scored(language: str, engine: str = "auto", known: Mapping[str, str] | None = None) -> Component | Missing:
    """Return the component of sentiment_positive and sentiment_negative.

    Parameters
    ----------
    language
        Language of the texts.
    engine
        "pysentimiento" (probabilities of a classifier of tweets; en, es, it, pt), "vader" (shares of a text's words and
        marks, weighted by a lexicon; en), or "auto": the engine of `known`, else pysentimiento, else VADER.
    known
        Identity of the engine that computed earlier numbers.

    Returns
    -------
    Component or Missing
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
        return _named(language, engine)
    if known:
        again = known["name"]
        if _speaks(again, language) and version(_DISTRIBUTION[again]):
            return _component(again, language)
        return Missing(COLUMNS, f"{again} is not installed: {_INSTALL[again]}")
    return _first_that_works(language)


def _named(language: str, engine: str) -> Component | Missing:
    if not version(_DISTRIBUTION[engine]):
        how = install("features") if engine == "vader" else _INSTALL[engine]  # no extra holds pysentimiento
        raise InputError(f"--sentiment {engine}: it is not installed: {how}")
    if not _speaks(engine, language):
        return Missing(COLUMNS, f"{engine} does not know {language!r}")
    return _component(engine, language, named=True)


def _first_that_works(language: str) -> Component | Missing:
    if not _speaks("pysentimiento", language):
        known = ", ".join(PYSENTIMIENTO_LANGUAGES)
        return Missing(COLUMNS, f"no sentiment engine knows {language!r}: pysentimiento knows {known}, VADER en")
    if not version("pysentimiento"):
        why = f"pysentimiento is not installed: {_INSTALL['pysentimiento']}"
    else:
        try:
            measure = _load_pysentimiento(language)
        except InputError as error:
            why = str(error)
        else:
            return Component(COLUMNS, _identity("pysentimiento"), lambda: measure)
    if language == "en" and version("vaderSentiment"):
        return Component(COLUMNS, _identity("vader"), _load_vader, note=f"VADER, because {why}")
    return Missing(COLUMNS, f"{why}, or {_INSTALL['vader']}" if language == "en" else why)


def _component(engine: str, language: str, named: bool = False) -> Component:
    load = _load_vader if engine == "vader" else lambda: _load_pysentimiento(language)
    return Component(COLUMNS, _identity(engine), load, named)


def _speaks(engine: str, language: str) -> bool:
    return language in PYSENTIMIENTO_LANGUAGES if engine == "pysentimiento" else language == "en"


def _identity(engine: str) -> dict[str, str]:
    return {"name": engine, "version": str(version(_DISTRIBUTION[engine]))}


def _load_vader() -> Measure:
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    analyzer = SentimentIntensityAnalyzer()

    def measure(texts: Sequence[str]) -> dict[str, list[float]]:
        scores = [analyzer.polarity_scores(text) for text in texts]
        return {"sentiment_positive": [s["pos"] for s in scores], "sentiment_negative": [s["neg"] for s in scores]}

    return measure


def _load_pysentimiento(language: str) -> Measure:
    """Load the classifier of a language; the first time this fetches its weights.

    Raises
    ------
    InputError
        With the reason in one line, for any error of the libraries.
    """
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

    def measure(texts: Sequence[str]) -> dict[str, list[float]]:
        scores = [output.probas for output in analyzer.predict(list(texts))]
        return {"sentiment_positive": [s["POS"] for s in scores], "sentiment_negative": [s["NEG"] for s in scores]}

    return measure
