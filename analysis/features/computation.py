"""Compute the features of a run's wordings, but only those that the run folder does not hold yet."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis import runs
from analysis.features import dependencies, languages, negation_cues, similarity, store, words
from analysis.features import sentiment as sentiments
from analysis.features.component import Component, MissingComponent, describe_component_name_and_version
from analysis.features.store import FeatureRecord, StoredFeatures
from analysis.runs.database import connect_duckdb
from analysis.runs.folder import ORIGINAL, Folder
from ground.errors import InputError
from ground.locking import hold_lock_during_block
from ground.progress import can_show_progress_bars

if TYPE_CHECKING:
    import pyarrow as pa

    from analysis.runs import Runs

CHUNK = 2000


@dataclass(frozen=True)
class Summary:
    """Report what a folder holds after a computation.

    Attributes
    ----------
    records
        Which component computed which columns for which language, and why others are missing.
    changes
        One line for every group of columns that was computed again, with the reason.
    n_computed
        Number of values computed in this call: texts x groups of columns, and similarities of stimuli.
    default_language
        The assumed language of wordings that name none.
    features, similarities
        The values, as features.parquet and similarity.parquet hold them.
    keep_error
        Why the folder does not hold them; None: it does.
    """

    path: Path
    records: tuple[FeatureRecord, ...]
    changes: tuple[str, ...]
    n_computed: int
    default_language: str
    features: pa.Table
    similarities: pa.Table
    keep_error: OSError | None


def compute_features(
    path: str | Path | Folder,
    *,
    spacy: Sequence[str] = (),
    sentiment: str = "auto",
    language: str | None = None,
    progress: bool = False,
    chunk: int = CHUNK,
    must_keep: bool = True,
) -> Summary:
    """Compute the missing features of a run's wordings and save them in the run folder.

    Parameters
    ----------
    path
        The run folder; one that was opened already is not checked again.
    spacy
        spaCy pipelines by package name or path, at most one per language. The default is the one used before, else
        the one that is installed for the language; of several English ones, `en_core_web_sm`.
    sentiment
        "auto", "pysentimiento" or "vader"; see `analysis.features.sentiment.build_sentiment_component`.
    language
        Language of wordings that name none. None means the one used before, else English; where such wordings look like
        another language, what depends on it is left missing.
    progress
        Show a bar on stderr for every group of columns.
    chunk
        Number of texts after which finished values are written to disk.
    must_keep
        False: where the folder takes no file, go on without it; `Summary.keep_error` says why.

    Returns
    -------
    Summary
        All values, also those that the folder held already.

    Raises
    ------
    InputError
        For a folder that is no run folder, a language that is no code, Japanese wordings that name no language, a
        pipeline for a language that no wording has, and for a pipeline or engine that the user named but that is not
        installed.
    OSError
        For a folder that takes no file, where the values must be kept.
    """
    folder = path.path if isinstance(path, Folder) else Path(path)
    run = runs.Runs([path], connect_duckdb()) if isinstance(path, Folder) else runs.open_runs(path)
    if run.folders[0].path != folder:
        raise InputError(
            f"{folder}: features are kept in a run folder, and this one only holds such: give one of "
            f"{run.join_folder_paths()}"
        )
    pipelines = [dependencies.find_pipeline_by_name_or_path(source) for source in spacy]
    with hold_lock_during_block(folder):  # a second computation waits, and then finds the work done
        stored = store.read_stored_features(folder)
        named_language = languages.extract_primary_language_subtag(language) if language else None
        default = named_language or stored.default_language or languages.DEFAULT_LANGUAGE
        if named_language is None and stored.default_language is None:
            languages.refuse_japanese_without_language_code(run, folder)
        is_default_named = named_language is not None or stored.is_default_named
        texts = languages.list_texts_by_language(run, default)
        _refuse_unused_pipelines(pipelines, texts)
        doubts = languages.find_languages_looking_like_another(run, texts, default, is_default_named)
        collector = _ValueCollector(folder, stored, progress, chunk, must_keep)
        for code, wordings in texts.items():
            for part in _iterate_components_of_language(code, pipelines, sentiment, stored):
                part = languages.withhold_doubtful_component(part, code, doubts.get(code))
                collector.reuse_or_compute_component_values(code, wordings, part)
        collector.note_language_doubts(doubts)
        features = collector.write_and_return_values(default, is_default_named, texts)
        similarities = _read_or_compute_edit_similarity_table(run, collector, progress)
    return Summary(
        folder, tuple(collector.records), tuple(collector.changes), collector.n_computed, default, features,
        similarities,
        collector.keep_error,
    )  # fmt: skip


def _iterate_components_of_language(
    language: str, pipelines: Sequence[Any], engine: str, stored: StoredFeatures
) -> Iterator[Component | MissingComponent]:
    """Yield the components for texts of a language, the slow ones last."""

    def find_stored_component_identity(columns: Sequence[str]) -> Mapping[str, str] | None:
        """Find the identity of the component that computed the stored values of these columns; None if there is
        none."""
        record = stored.find_feature_record(language, columns)
        return record.identity if record else None

    yield words.build_length_component(language)
    yield words.build_frequency_component(language, find_stored_component_identity(words.FREQUENCY))
    yield negation_cues.build_negation_cue_component(language)
    yield sentiments.build_sentiment_component(language, engine, find_stored_component_identity(sentiments.COLUMNS))
    yield dependencies.build_dependency_component(
        language, pipelines, find_stored_component_identity(dependencies.COLUMNS)
    )


class _ValueCollector:
    """Find the values of one group of columns after the other: reuse valid ones, compute the rest in chunks."""

    def __init__(self, folder: Path, stored: StoredFeatures, progress: bool, chunk: int, must_keep: bool) -> None:
        self.folder = folder
        self.records: list[FeatureRecord] = []
        self.changes: list[str] = []
        self.n_computed = 0
        self.keep_error: OSError | None = None
        self._stored, self._progress, self._chunk, self._must_keep = stored, progress, chunk, must_keep
        self._columns: dict[str, dict[str, Any]] = {}

    def write_until_folder_refuses_files(self, write: Callable[..., None], *arguments: Any) -> None:
        """Write something into the folder; once it takes no file, nothing more, unless it must."""
        if self.keep_error is not None:
            return
        try:
            write(*arguments)
        except OSError as error:
            if self._must_keep:
                raise
            self.keep_error = error

    def reuse_or_compute_component_values(
        self, language: str, texts: Sequence[str], component: Component | MissingComponent
    ) -> None:
        """Reuse or compute the values of one group of columns for all texts of a language."""
        columns = self._columns.setdefault(language, {})
        old_record = self._stored.find_feature_record(language, component.columns)
        stored_rows = self._find_stored_rows_of_same_texts(language, texts)
        old_identity = old_record.identity if old_record and stored_rows else None
        # Values stay valid if the component that computed them is no longer installed.
        if (
            old_record
            and stored_rows
            and old_identity
            and (
                not component.drops_earlier
                if isinstance(component, MissingComponent)
                else _are_identities_equal_except_path(old_identity, component.identity)
            )
        ):
            columns.update((name, stored_rows[name].combine_chunks()) for name in component.columns)
            self.records.append(old_record)
        elif isinstance(component, MissingComponent):
            self.records.append(FeatureRecord(language, component.columns, None, component.reason, len(texts)))
        else:
            try:
                columns.update(self._read_or_measure_texts(language, texts, component))
            except InputError as error:
                if component.named:
                    raise
                self.reuse_or_compute_component_values(language, texts, MissingComponent(component.columns, str(error)))
                return
            self.records.append(
                FeatureRecord(language, component.columns, dict(component.identity), component.note, len(texts))
            )
            if old_identity:
                columns_text = f"{', '.join(component.columns)} ({language})"
                new_text = describe_component_name_and_version(component.identity)
                old_text = describe_component_name_and_version(old_identity)
                self.changes.append(f"{columns_text}: computed again with {new_text}; before with {old_text}")

    def note_language_doubts(self, doubts: Mapping[str, languages.LanguageDoubt]) -> None:
        """Record which language texts look like, where they name another one; of an assumed one, the notes say so."""
        looks = {code: doubt.looks_like for code, doubt in doubts.items() if not doubt.is_assumed}
        self.records = [replace(record, looks_like=looks.get(record.language, "")) for record in self.records]

    def write_and_return_values(
        self, default_language: str, is_default_named: bool, texts: Mapping[str, Sequence[str]]
    ) -> pa.Table:
        """Return all values, and write them unless the folder already holds exactly these."""
        import pyarrow as pa

        rows = pa.concat_tables(
            store.assemble_features_table(code, language_texts, self._columns[code])
            for code, language_texts in texts.items()
        )
        if (
            self.n_computed
            or tuple(self.records) != self._stored.records
            or (default_language, is_default_named) != (self._stored.default_language, self._stored.is_default_named)
        ):
            self.write_until_folder_refuses_files(
                store.write_features, self.folder, default_language, is_default_named, self.records, rows
            )
        if self.keep_error is None:
            store.delete_chunks(self.folder)
        return rows

    def _find_stored_rows_of_same_texts(self, language: str, texts: Sequence[str]) -> pa.Table | None:
        """Return the folder's rows if they are for exactly these texts, else None."""
        table = self._stored.tables.get(language)
        return table if table is not None and table["text"].to_pylist() == texts else None

    def _read_or_measure_texts(
        self, language: str, texts: Sequence[str], component: Component
    ) -> dict[str, Sequence[float]]:
        """Return the values of all texts: read those of finished chunks, measure the rest."""
        chunks = store.Chunks(self.folder, language, component.columns, component.identity)
        values_by_text = chunks.read_values_by_text()
        remaining_texts = [text for text in texts if text not in values_by_text]
        if not remaining_texts:
            return self._align_values(component, texts, values_by_text)
        measure = component.load()
        label = f"{component.columns[0]}{' ...' if len(component.columns) > 1 else ''} ({language})"
        with _open_progress_bar(label, len(texts), len(values_by_text), self._progress) as bar:
            for start in range(0, len(remaining_texts), self._chunk):
                batch = remaining_texts[start : start + self._chunk]
                values = measure(batch)
                self.write_until_folder_refuses_files(chunks.append_chunk, batch, values)
                values_by_text.update(
                    zip(batch, zip(*(values[name] for name in component.columns), strict=True), strict=True)
                )
                bar.update(len(batch))
        self.n_computed += len(remaining_texts)
        return self._align_values(component, texts, values_by_text)

    @staticmethod
    def _align_values(
        component: Component, texts: Sequence[str], values_by_text: Mapping[str, Sequence[float]]
    ) -> dict[str, Any]:
        """Return, for every column of the component, its values in the order of the texts."""
        return dict(zip(component.columns, zip(*(values_by_text[text] for text in texts), strict=True), strict=True))


def _read_or_compute_edit_similarity_table(run: Runs, collector: _ValueCollector, progress: bool) -> pa.Table:
    """Return the edit similarity of every stimulus: as the folder holds it, else computed and written there."""
    import pyarrow as pa

    path = collector.folder / store.SIMILARITY_FILE
    keys = run.execute("SELECT item, variant FROM stimuli ORDER BY item, position").fetchall()
    if path.exists():
        stored_table = store.read_features_parquet(path, *store.SIMILARITY_COLUMNS)
        if list(zip(stored_table["item"].to_pylist(), stored_table["variant"].to_pylist(), strict=True)) == keys:
            return stored_table
    pairs = run.execute(
        f"""
        SELECT original, text FROM stimuli LEFT JOIN (
            SELECT item, arg_min(text, position) AS original FROM stimuli WHERE pattern = '{ORIGINAL}' GROUP BY item)
        USING (item) ORDER BY item, position"""
    ).fetchall()
    values = []
    with _open_progress_bar("similarity", len(pairs), 0, progress) as bar:
        for value in similarity.iterate_edit_similarities(pairs):
            values.append(value)
            bar.update()
    names = ("item", "variant")
    arrays = [pa.array(column, pa.string()) for column in zip(*keys, strict=True)]
    arrays.append(pa.array(values, pa.float64(), from_pandas=True))
    table = pa.table(arrays, names=[*names, "edit_similarity"])
    collector.write_until_folder_refuses_files(store.write_features_parquet, path, table)
    collector.n_computed += len(values)
    return table


def _refuse_unused_pipelines(pipelines: Sequence[dependencies.Pipeline], texts: Mapping[str, Any]) -> None:
    """Refuse a named pipeline for a language that no wording has: it was probably named by mistake."""
    for pipeline in pipelines:
        if pipeline.language != "xx" and pipeline.language not in texts:
            raise InputError(
                f"spaCy pipeline {pipeline.source!r} is for {pipeline.language!r}, but the wordings are in "
                f"{', '.join(texts)}; name one for these"
            )


def _are_identities_equal_except_path(identity_a: Mapping[str, str], identity_b: Mapping[str, str]) -> bool:
    """Tell whether two identities are equal apart from the path where a pipeline was found."""
    return {**identity_a, "source": ""} == {**identity_b, "source": ""}


def _open_progress_bar(label: str, total: int, initial: int, is_shown: bool) -> Any:
    """Open a progress bar on stderr that counts texts; it is hidden unless `is_shown`, and where none can be drawn."""
    from tqdm import tqdm

    disable = not (is_shown and can_show_progress_bars())
    return tqdm(total=total, initial=initial, desc=label, unit=" texts", file=sys.stderr, disable=disable)
