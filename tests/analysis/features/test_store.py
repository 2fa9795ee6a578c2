"""Features are computed once and kept: what is missing, what changed, what a killed computation leaves."""

from __future__ import annotations

import argparse
import errno
import functools
import json
import os

import pandas as pd
import pyarrow.parquet as pq
import pytest

from analysis import features, runs
from analysis.features import command, computation, sentiment, store
from ground import locking, writing
from ground.errors import InputError
from helpers.text_features import OPTIONAL, TEXTS, hide, kept, make_pipeline, write

pytestmark = pytest.mark.slow


@pytest.fixture
def uninstalled(monkeypatch):
    """Makes distributions look as if they were not installed."""
    return functools.partial(hide, monkeypatch)


def test_one_row_per_distinct_text_and_nothing_else_in_the_folder(tmp_path, uninstalled):
    uninstalled(*OPTIONAL)
    path = write(tmp_path / "run")
    before = {file.name for file in path.iterdir()}
    features.compute_features(path)
    assert kept(path)["text"].tolist() == list(dict.fromkeys(TEXTS))
    assert {file.name for file in path.iterdir()} - before == {
        store.FEATURES_FILE,
        store.RECORDS_FILE,
        store.SIMILARITY_FILE,
    }


def test_a_folder_that_only_holds_run_folders_is_refused(tmp_path):
    write(tmp_path / "runs" / "one")
    with pytest.raises(InputError, match=r"this one only holds such: give one of .*one"):
        features.compute_features(tmp_path / "runs")
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["one"]


def test_what_is_not_installed_is_missing_and_said_once_and_the_rest_is_there(tmp_path, uninstalled):
    uninstalled(*OPTIONAL)
    path = write(tmp_path / "run")
    summary = features.compute_features(path)
    missing = {name: record.note for record in summary.records if record.identity is None for name in record.columns}
    assert set(missing) == set(features.FEATURES) - {
        "word_length",
        "statement_length",
        "negation_cues",
        "edit_similarity",
    }
    for name, installer in {
        "word_frequency": "wordfreq",
        "left_dependents": "spacy",
        "sentiment_positive": "pysentimiento",
    }.items():
        assert f"pip install {installer}" in missing[name].replace("'", "")
    assert not any("\n" in note for note in missing.values())
    table = kept(path)
    assert table[list(missing)].isna().all(axis=None)
    assert table["negation_cues"].tolist() == [0, 1, 0, 0]
    assert table["statement_length"].tolist() == [2, 3, 5, 3]


def test_a_component_installed_later_fills_its_columns_and_leaves_the_others(tmp_path, uninstalled):
    pytest.importorskip("vaderSentiment")
    uninstalled(*OPTIONAL)
    path = write(tmp_path / "run")
    features.compute_features(path)
    before = kept(path)
    uninstalled("spacy", "wordfreq", "pysentimiento")
    summary = features.compute_features(path)
    assert summary.n_computed == len(before)
    assert summary.changes == ()
    after = kept(path)
    assert after["sentiment_positive"].tolist()[2] > 0 == after["sentiment_negative"].tolist()[2]
    assert after["sentiment_negative"].tolist()[3] > 0 == after["sentiment_positive"].tolist()[3]
    pd.testing.assert_frame_equal(
        after.drop(columns=list(sentiment.COLUMNS)), before.drop(columns=list(sentiment.COLUMNS))
    )


def test_a_second_call_computes_nothing_and_touches_no_file(tmp_path, uninstalled):
    uninstalled("spacy", "pysentimiento")
    path = write(tmp_path / "run")
    assert features.compute_features(path).n_computed > 0
    before = {file.name: file.stat().st_mtime_ns for file in path.iterdir()}
    assert features.compute_features(path).n_computed == 0
    assert {file.name: file.stat().st_mtime_ns for file in path.iterdir()} == before


def test_what_a_component_computed_stays_when_the_component_is_gone(tmp_path, uninstalled):
    pytest.importorskip("vaderSentiment")
    uninstalled("spacy", "pysentimiento")
    path = write(tmp_path / "run")
    features.compute_features(path)
    before = kept(path)
    uninstalled(*OPTIONAL)
    assert features.compute_features(path).n_computed == 0
    pd.testing.assert_frame_equal(kept(path), before)


def test_another_pipeline_recomputes_its_columns_alone_and_says_so(tmp_path, uninstalled):
    pytest.importorskip("spacy")
    uninstalled("pysentimiento")
    path = write(tmp_path / "run")
    first, second = (str(make_pipeline(tmp_path / f"pipeline-{seed}", seed)) for seed in (1, 2))
    features.compute_features(path, spacy=[first])
    before = kept(path)
    assert features.compute_features(path).n_computed == 0  # without a name the one used before
    assert features.compute_features(path, spacy=[first]).n_computed == 0
    summary = features.compute_features(path, spacy=[second])
    assert summary.n_computed == len(before)
    (change,) = summary.changes
    assert change.startswith("left_dependents, right_dependents, dependency_length (en): computed again")
    assert first in change
    assert second in change
    others = [name for name in before if name not in ("left_dependents", "right_dependents", "dependency_length")]
    pd.testing.assert_frame_equal(kept(path)[others], before[others])
    record = next(
        r
        for r in json.loads((path / store.RECORDS_FILE).read_text())["components"]
        if "left_dependents" in r["columns"]
    )
    assert record["identity"]["source"] == second
    assert len(record["identity"]["hash"]) == 64


def test_a_killed_computation_goes_on_where_it_was(tmp_path, uninstalled, monkeypatch):
    pytest.importorskip("vaderSentiment")
    uninstalled("spacy", "wordfreq", "pysentimiento")
    texts = [f"{word} dogs." for word in ("good", "bad", "no", "happy", "sad", "kind", "evil")]
    path, whole = write(tmp_path / "run", texts), write(tmp_path / "whole", texts)
    features.compute_features(whole)
    real, calls = sentiment._load_vader(), []

    def dying(some):
        calls.append(list(some))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(some)

    monkeypatch.setattr(sentiment, "_load_vader", lambda: dying)
    with pytest.raises(KeyboardInterrupt):
        features.compute_features(path, chunk=2)
    assert not (path / store.FEATURES_FILE).exists()
    calls[:] = [[]] * 3
    summary = features.compute_features(path, chunk=2)
    assert calls[3:] == [texts[4:6], texts[6:]]  # the first two chunks and the columns before are done
    assert summary.n_computed == 3 + len(texts)  # and the similarities
    pd.testing.assert_frame_equal(kept(path), kept(whole))
    assert not (path / store.PARTS_FOLDER).exists()


@pytest.mark.parametrize("file", [store.RECORDS_FILE, store.FEATURES_FILE, store.SIMILARITY_FILE])
def test_a_computation_killed_at_any_of_its_files_ends_with_all_of_them(tmp_path, uninstalled, monkeypatch, file):
    uninstalled("spacy", "wordfreq", "pysentimiento", "vaderSentiment")
    path, whole = write(tmp_path / "run", TEXTS), write(tmp_path / "whole", TEXTS)
    features.compute_features(whole)

    def dying(target, write):
        if target.name == file:
            raise KeyboardInterrupt
        writing.write_atomically(target, write)

    with monkeypatch.context() as patched:
        patched.setattr(store, "write_atomically", dying)
        with pytest.raises(KeyboardInterrupt):
            features.compute_features(path)
    features.compute_features(path)
    assert [each.name for each in sorted(path.iterdir())] == [each.name for each in sorted(whole.iterdir())]
    for name in (store.RECORDS_FILE, store.FEATURES_FILE, store.SIMILARITY_FILE):
        assert (path / name).read_bytes() == (whole / name).read_bytes()


def test_a_language_is_a_matter_of_the_wording(tmp_path, uninstalled):
    uninstalled("spacy", "wordfreq", "pysentimiento", "fugashi")
    path = write(tmp_path / "run", ["no", "No", "no", "nie", "no"], ["en", "EN-gb", "es", "pl_PL", "en-US"])
    summary = features.compute_features(path)
    rows = kept(path)[["language", "text", "negation_cues"]].to_numpy().tolist()
    assert [row[:2] for row in rows] == [["en", "no"], ["en", "No"], ["es", "no"], ["pl", "nie"]]
    assert [row[2] for row in rows] == pytest.approx([1, 1, 1, float("nan")], nan_ok=True)
    assert {record.language for record in summary.records} == {"en", "es", "pl"}


def test_japanese_without_a_language_is_not_taken_for_english(tmp_path, uninstalled):
    uninstalled("spacy", "pysentimiento", "fugashi")
    path = write(tmp_path / "run", ["Dogs bark.", "犬はほえる。"])
    with pytest.raises(InputError, match=r"item 'i1', variant 'original' looks Japanese.*--language ja"):
        features.compute_features(path)
    summary = features.compute_features(path, language="ja")
    assert {record.language for record in summary.records} == {"ja"}
    assert features.compute_features(path).n_computed == 0  # the language given is remembered


GERMAN = ["Der Hund bellt und die Katze schläft.", "Das ist nicht wahr, und er weiß es auch.", "Kein Hund bellt."]


def test_german_without_a_language_is_not_measured_with_english_words(tmp_path, uninstalled):
    uninstalled("spacy", "pysentimiento")
    path = write(tmp_path / "run", GERMAN)
    summary = features.compute_features(path)
    missing = {name: record.note for record in summary.records if record.identity is None for name in record.columns}
    assert set(missing) == set(features.FEATURES) - {"word_length", "statement_length", "edit_similarity"}
    assert set(missing.values()) == {
        "the wordings look German, but name no language and count as English: waver features RUN --language de"
    }
    assert kept(path)["negation_cues"].isna().all()
    assert kept(path)["statement_length"].tolist() == [7, 9, 3]
    features.compute_features(path, language="de-CH")
    assert kept(path)[["language", "negation_cues"]].to_numpy().tolist() == [["de", 0], ["de", 1], ["de", 1]]
    assert features.compute_features(path).n_computed == 0  # the language given is remembered


def test_a_language_that_somebody_named_is_kept_and_a_doubt_is_said(tmp_path, uninstalled, capsys):
    uninstalled(*OPTIONAL)
    path = write(tmp_path / "run", GERMAN, "en")
    summary = features.compute_features(path)
    assert {record.looks_like for record in summary.records} == {"de"}
    assert kept(path)["negation_cues"].tolist() == [0, 0, 0]
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    assert command.main(parser.parse_args([str(path)])) == 0
    said = "  the wordings that name English look German: their features are those of English texts\n"
    assert capsys.readouterr().out.count(said) == 1
    path = write(tmp_path / "other", GERMAN)
    features.compute_features(path, language="en")
    assert kept(path)["negation_cues"].tolist() == [0, 0, 0]
    assert features.compute_features(path).n_computed == 0  # the page, which names none, keeps what was named


def test_what_was_measured_in_a_language_that_nobody_named_goes_where_it_is_doubtful(tmp_path, uninstalled):
    uninstalled(*OPTIONAL)
    path = write(tmp_path / "run", GERMAN)
    features.compute_features(path, language="en")
    stored = store.read_stored_features(path)
    rows = stored.tables["en"]
    store.write_features(path, "en", False, stored.records, rows)  # as a folder of before languages were noticed
    features.compute_features(path)
    assert kept(path)["negation_cues"].isna().all()


def test_a_language_that_is_no_code_is_refused(tmp_path):
    with pytest.raises(InputError, match="language 'German': give an ISO 639 code, such as de for German"):
        features.compute_features(write(tmp_path / "run"), language="German")


def test_a_pipeline_for_another_language_is_refused(tmp_path):
    pytest.importorskip("spacy")
    path = write(tmp_path / "run")
    german = make_pipeline(tmp_path / "german", language="de")
    with pytest.raises(InputError, match=r"is for 'de', but the wordings are in en; name one for these"):
        features.compute_features(path, spacy=[str(german)])


def refuse_to_open(path):
    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def test_folders_that_are_no_runs_and_damaged_files_are_refused(tmp_path, uninstalled, monkeypatch):
    uninstalled(*OPTIONAL)
    with pytest.raises(InputError, match="no such run folder"):
        features.compute_features(tmp_path / "none")
    path = write(tmp_path / "run")
    (path / store.FEATURES_FILE).write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"features\.parquet: damaged or cut short"):
        features.compute_features(path)
    with monkeypatch.context() as patched:
        patched.setattr(pq, "ParquetFile", refuse_to_open)
        with pytest.raises(InputError, match=r"features\.parquet: cannot be read: permission denied; make"):
            features.compute_features(path)
    pq.write_table(pq.read_table(path / "stimuli.parquet"), path / store.FEATURES_FILE)
    with pytest.raises(InputError, match=r"features\.parquet: column 'word_length' is missing; delete it and"):
        features.compute_features(path)
    (path / "stimuli.parquet").unlink()
    with pytest.raises(InputError, match=r"stimuli\.parquet is missing"):
        features.compute_features(path)


def test_a_second_process_waits_for_the_first(tmp_path):
    import threading

    path = write(tmp_path / "run")
    entered = threading.Event()

    def second() -> None:
        with locking.hold_lock_during_block(path):
            entered.set()

    with locking.hold_lock_during_block(path):
        thread = threading.Thread(target=second)
        thread.start()
        assert not entered.wait(0.2)
    thread.join(timeout=10)
    assert entered.is_set()


def test_the_command(tmp_path, uninstalled, capsys):
    uninstalled(*OPTIONAL)
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    path = write(tmp_path / "run")
    assert command.main(parser.parse_args([str(path)])) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith(f"{path}: computed\n")
    assert shown.out.count("missing: ") == 3
    assert shown.err == ""  # no bar where there is no terminal
    assert command.main(parser.parse_args([str(path), "--sentiment", "auto"])) == 0
    assert capsys.readouterr().out.startswith(f"{path}: nothing to compute\n")


def test_real_paraphrases_with_a_trained_pipeline(tmp_path, shared):
    pytest.importorskip("spacy")
    pipeline = shared / "en-ewt-spacy"
    source = next((shared / "political-compass-paraphrases").glob("*gpt3.5*"))
    texts = [text for item in json.loads(source.read_text())[:5] for text in item["alternative_statements"][:40]]
    path = write(tmp_path / "run", texts)
    features.compute_features(path, spacy=[str(pipeline)], sentiment="vader")
    frame = features.read_or_compute_features(runs.open_runs(path))
    assert len(frame) == len(texts)
    assert not frame[list(features.FEATURES)].isna().any(axis=None)
    roots = (1 - frame["left_dependents"] - frame["right_dependents"]) * frame["statement_length"]
    assert roots.round(6).isin([1, 2, 3]).all()
    assert (roots.round(6) == 1).mean() > 0.9  # a parser that knows English: one root per sentence
    assert frame["dependency_length"].between(0, 8).all()
    assert frame["word_frequency"].between(3, 7.5).all()
    assert computation.compute_features(path).n_computed == 0
