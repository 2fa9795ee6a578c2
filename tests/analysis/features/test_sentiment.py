"""Which sentiment engine is taken, what is said about it, and that the choice is kept."""

from __future__ import annotations

import importlib.metadata
import json
import sys
import types

import pytest

from analysis import features
from analysis.features import store
from ground.errors import InputError
from helpers.text_features import OPTIONAL, hide, kept, write


class FakePysentimiento(types.ModuleType):
    """Stands in for the library: its models cannot be fetched in a test."""

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__("pysentimiento")
        self.error = error

    def create_analyzer(self, task, lang):
        if self.error:
            raise self.error
        assert (task, lang) == ("sentiment", "en")
        output = types.SimpleNamespace(probas={"POS": 0.7, "NEU": 0.2, "NEG": 0.1})
        return types.SimpleNamespace(predict=lambda texts: [output] * len(texts))


@pytest.fixture
def pysentimiento(monkeypatch):
    """Installs the stand-in."""

    def version(name: str) -> str:
        return "0.7.3" if name == "pysentimiento" else importlib.metadata.distribution(name).version

    def install(error: Exception | None = None) -> None:
        monkeypatch.setattr("ground.version.metadata.version", version)
        monkeypatch.setitem(sys.modules, "pysentimiento", FakePysentimiento(error))

    return install


def engine(path) -> dict:
    return next(
        r
        for r in json.loads((path / store.RECORDS_FILE).read_text())["components"]
        if "sentiment_positive" in r["columns"]
    )


def test_pysentimiento_is_taken_where_it_can_be_loaded(tmp_path, pysentimiento):
    pysentimiento()
    path = write(tmp_path / "run")
    features.compute_features(path)
    assert engine(path)["identity"] == {"name": "pysentimiento", "version": "0.7.3"}
    assert set(kept(path)["sentiment_positive"]) == {0.7}
    assert set(kept(path)["sentiment_negative"]) == {0.1}


@pytest.mark.slow
def test_vader_stands_in_when_pysentimiento_cannot_be_loaded_and_says_why(tmp_path, pysentimiento):
    pytest.importorskip("vaderSentiment")
    pysentimiento(OSError("no connection\nand more"))
    path = write(tmp_path / "run")
    features.compute_features(path)
    assert engine(path)["identity"]["name"] == "vader"
    assert engine(path)["note"].endswith("pysentimiento cannot load its model for 'en': no connection")
    pysentimiento()
    assert features.compute_features(path).n_computed == 0  # the choice is kept until the user names another
    (change,) = features.compute_features(path, sentiment="pysentimiento").changes
    assert "computed again with pysentimiento 0.7.3; before with vader" in change


@pytest.mark.slow
def test_a_language_that_no_engine_knows_has_no_sentiment(tmp_path, pysentimiento):
    pysentimiento()
    path = write(tmp_path / "run", language="fi")
    features.compute_features(path)
    assert engine(path)["identity"] is None
    assert "no sentiment engine knows 'fi'" in engine(path)["note"]


@pytest.mark.slow
def test_what_the_user_names_must_be_there(tmp_path, monkeypatch, pysentimiento):
    path = write(tmp_path / "run")
    hide(monkeypatch, *OPTIONAL)
    with pytest.raises(InputError, match=r"--sentiment vader: it is not installed: pip install .*features"):
        features.compute_features(path, sentiment="vader")
    with pytest.raises(InputError, match="unknown sentiment engine 'vadre'"):
        features.compute_features(path, sentiment="vadre")
    with pytest.raises(InputError, match="spaCy is not installed"):
        features.compute_features(path, spacy=["en_core_web_sm"])
    pysentimiento(OSError("no connection"))
    with pytest.raises(InputError, match="pysentimiento cannot load its model"):
        features.compute_features(path, sentiment="pysentimiento")
