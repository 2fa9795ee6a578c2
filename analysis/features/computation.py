"""Compute the features of a run's wordings, but only those that the run folder does not hold yet."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis import runs
from analysis.features import dependencies, negation_cues, similarity, store, words
from analysis.features import sentiment as sentiments
from analysis.features.component import Component, Missing, describe
from analysis.features.store import Record, Stored
from analysis.runs.folder import ORIGINAL, literal
from ground.errors import InputError
from ground.locking import held as locked

if TYPE_CHECKING:
    import pyarrow as pa

    from analysis.runs import Runs

CHUNK = 2000
DEFAULT_LANGUAGE = "en"
_KANA = "[\u3041-\u3096\u30a1-\u30fa]"


@dataclass(frozen=True)
class Summary:
    """Report what a folder holds after a computation.

    Attributes
    ----------
    records
        Which component computed which columns for which language, and why others are missing.
    changes
        One line for every group of columns that was computed again, with the reason.
    computed
        Number of values computed in this call (texts x groups of columns).
    default_language
        The assumed language of wordings that name none.
    features, similarities
        The values, as features.parquet and similarity.parquet hold them.
    unkept
        Why the folder does not hold them; None: it does.
    """

    path: Path
    records: tuple[Record, ...]
    changes: tuple[str, ...]
    computed: int
    default_language: str
    features: pa.Table
    similarities: pa.Table
    unkept: OSError | None


def compute(
    path: str | Path,
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
        The run folder.
    spacy
        spaCy pipelines by package name or path, at most one per language. The default is the one used before, else
        `en_core_web_sm` for English.
    sentiment
        "auto", "pysentimiento" or "vader"; see `analysis.features.sentiment.scored`.
    language
        Language of wordings that name none. None means the one used before, else English.
    progress
        Show a bar on stderr for every group of columns.
    chunk
        Number of texts after which finished values are written to disk.
    must_keep
        False: where the folder takes no file, go on without it; `Summary.unkept` says why.

    Returns
    -------
    Summary
        All values, also those that the folder held already.

    Raises
    ------
    InputError
        For a folder that is no run folder, and for a pipeline or engine that the user named but that is not installed.
    OSError
        For a folder that takes no file, where the values must be kept.
    """
    folder = Path(path)
    run = runs.open(path)
    if run.folders[0].path != folder:
        inside = ", ".join(str(each.path) for each in run.folders)
        raise InputError(
            f"{folder}: features are kept in a run folder, and this one only holds such: give one of {inside}"
        )
    pipelines = [dependencies.find(source) for source in spacy]
    with locked(folder):  # a second computation waits, and then finds the work done
        stored = store.read(folder)
        default = language or stored.default_language or DEFAULT_LANGUAGE
        if language is None and stored.default_language is None:
            _refuse_japanese(run, folder)
        texts = _texts(run, default)
        _refuse_idle(pipelines, texts)
        books = _Books(folder, stored, progress, chunk, must_keep)
        for code, wordings in texts.items():
            for part in _components(code, pipelines, sentiment, stored):
                books.settle(code, wordings, part)
        features = books.close(default, texts)
        similarities = _similarity(run, books, progress)
    return Summary(
        folder, tuple(books.records), tuple(books.changes), books.computed, default, features, similarities,
        books.unkept,
    )  # fmt: skip


def language_sql(default: str) -> str:
    """Return the SQL of a stimulus's language: the first part of its code ("en-GB" is "en"), or the default."""
    return f"coalesce(nullif(lower(regexp_extract(language, '^[A-Za-z]+')), ''), {literal(default)})"


def _components(code: str, pipelines: Sequence[Any], engine: str, stored: Stored) -> Iterator[Component | Missing]:
    """Yield the components for texts of a language, the slow ones last."""

    def known(columns: Sequence[str]) -> Mapping[str, str] | None:
        record = stored.record(code, columns)
        return record.identity if record else None

    yield words.lengths(code)
    yield words.frequency(code, known(words.FREQUENCY))
    yield negation_cues.cues(code)
    yield sentiments.scored(code, engine, known(sentiments.COLUMNS))
    yield dependencies.parsed(code, pipelines, known(dependencies.COLUMNS))


class _Books:
    """Find the values of one group of columns after the other: reuse valid ones, compute the rest in chunks."""

    def __init__(self, folder: Path, stored: Stored, progress: bool, chunk: int, must_keep: bool) -> None:
        self.folder = folder
        self.records: list[Record] = []
        self.changes: list[str] = []
        self.computed = 0
        self.unkept: OSError | None = None
        self._stored, self._progress, self._chunk, self._must_keep = stored, progress, chunk, must_keep
        self._columns: dict[str, dict[str, Any]] = {}

    def keep(self, write: Callable[..., None], *what: Any) -> None:
        """Write something into the folder; once it takes no file, nothing more, unless it must."""
        if self.unkept is not None:
            return
        try:
            write(*what)
        except OSError as error:
            if self._must_keep:
                raise
            self.unkept = error

    def settle(self, code: str, texts: Sequence[str], part: Component | Missing) -> None:
        """Reuse or compute the values of one group of columns for all texts of a language."""
        columns = self._columns.setdefault(code, {})
        before, held = self._stored.record(code, part.columns), self._held(code, texts)
        old = before.identity if before and held else None
        # Values stay valid if the component that computed them is no longer installed.
        if before and held and old and (isinstance(part, Missing) or _same(old, part.identity)):
            columns.update((name, held[name].combine_chunks()) for name in part.columns)
            self.records.append(before)
        elif isinstance(part, Missing):
            self.records.append(Record(code, part.columns, None, part.reason, len(texts)))
        else:
            try:
                columns.update(self._measured(code, texts, part))
            except InputError as error:
                if part.named:
                    raise
                self.settle(code, texts, Missing(part.columns, str(error)))
                return
            self.records.append(Record(code, part.columns, dict(part.identity), part.note, len(texts)))
            if old:
                what, now, was = f"{', '.join(part.columns)} ({code})", describe(part.identity), describe(old)
                self.changes.append(f"{what}: computed again with {now}; before with {was}")

    def close(self, default: str, texts: Mapping[str, Sequence[str]]) -> pa.Table:
        """Return all values, and write them unless the folder already holds exactly these."""
        import pyarrow as pa

        rows = pa.concat_tables(store.table(code, some, self._columns[code]) for code, some in texts.items())
        if self.computed or tuple(self.records) != self._stored.records or default != self._stored.default_language:
            self.keep(store.write, self.folder, default, self.records, rows)
        if self.unkept is None:
            store.clear_parts(self.folder)
        return rows

    def _held(self, code: str, texts: Sequence[str]) -> pa.Table | None:
        """Return the folder's rows if they are for exactly these texts, else None."""
        table = self._stored.tables.get(code)
        return table if table is not None and table["text"].to_pylist() == texts else None

    def _measured(self, code: str, texts: Sequence[str], part: Component) -> dict[str, Sequence[float]]:
        """Return the values of all texts: read those of finished chunks, measure the rest."""
        chunks = store.Chunks(self.folder, code, part.columns, part.identity)
        done = chunks.read()
        left = [text for text in texts if text not in done]
        if not left:
            return self._aligned(part, texts, done)
        measure = part.load()
        label = f"{part.columns[0]}{' ...' if len(part.columns) > 1 else ''} ({code})"
        with _bar(label, len(texts), len(done), self._progress) as bar:
            for start in range(0, len(left), self._chunk):
                some = left[start : start + self._chunk]
                values = measure(some)
                self.keep(chunks.append, some, values)
                done.update(zip(some, zip(*(values[name] for name in part.columns), strict=True), strict=True))
                bar.update(len(some))
        self.computed += len(left)
        return self._aligned(part, texts, done)

    @staticmethod
    def _aligned(part: Component, texts: Sequence[str], rows: Mapping[str, Sequence[float]]) -> dict[str, Any]:
        return dict(zip(part.columns, zip(*(rows[text] for text in texts), strict=True), strict=True))


def _similarity(run: Runs, books: _Books, progress: bool) -> pa.Table:
    """Return the edit similarity of every stimulus: as the folder holds it, else computed and written there."""
    import pyarrow as pa

    path = books.folder / store.SIMILARITY
    keys = run.execute("SELECT item, variant FROM stimuli ORDER BY item, position").fetchall()
    if path.exists():
        held = store.read_parquet(path, *store.SIMILARITY_COLUMNS)
        if list(zip(held["item"].to_pylist(), held["variant"].to_pylist(), strict=True)) == keys:
            return held
    pairs = run.execute(
        f"""
        SELECT original, text FROM stimuli LEFT JOIN (
            SELECT item, arg_min(text, position) AS original FROM stimuli WHERE pattern = '{ORIGINAL}' GROUP BY item)
        USING (item) ORDER BY item, position"""
    ).fetchall()
    values = []
    with _bar("similarity", len(pairs), 0, progress) as bar:
        for value in similarity.similarities(pairs):
            values.append(value)
            bar.update()
    names = ("item", "variant")
    arrays = [pa.array(column, pa.string()) for column in zip(*keys, strict=True)]
    arrays.append(pa.array(values, pa.float64(), from_pandas=True))
    table = pa.table(arrays, names=[*names, "edit_similarity"])
    books.keep(store.write_parquet, path, table)
    books.computed += len(values)
    return table


def _texts(run: Runs, default: str) -> dict[str, list[str]]:
    """List the distinct texts of every language, in the order of the study."""
    rows = run.execute(
        f"SELECT {language_sql(default)} AS code, text FROM stimuli GROUP BY ALL ORDER BY code, min(position)"
    ).fetchall()
    texts: dict[str, list[str]] = {}
    for code, text in rows:
        texts.setdefault(code, []).append(text)
    return texts


def _refuse_japanese(run: Runs, folder: Path) -> None:
    """Refuse Japanese wordings without a language code: they would be treated as English."""
    found = run.execute(
        "SELECT item, variant FROM stimuli "
        f"WHERE coalesce(language, '') = '' AND regexp_matches(text, '{_KANA}') ORDER BY position LIMIT 1"
    ).fetchone()
    if found:
        raise InputError(
            f"{folder}: stimuli.parquet: item {found[0]!r}, variant {found[1]!r} looks Japanese but names no language; "
            "say what language such wordings are in, for example --language ja"
        )


def _refuse_idle(pipelines: Sequence[dependencies.Pipeline], texts: Mapping[str, Any]) -> None:
    """Refuse a named pipeline for a language that no wording has: it was probably named by mistake."""
    for pipeline in pipelines:
        if pipeline.language != "xx" and pipeline.language not in texts:
            raise InputError(
                f"spaCy pipeline {pipeline.source!r} is for {pipeline.language!r}, but the wordings are in "
                f"{', '.join(texts)}; name one for these"
            )


def _same(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Tell whether two identities are equal apart from the path where a pipeline was found."""
    return {**one, "source": ""} == {**other, "source": ""}


def _bar(label: str, total: int, initial: int, shown: bool) -> Any:
    from tqdm import tqdm

    return tqdm(total=total, initial=initial, desc=label, unit=" texts", file=sys.stderr, disable=not shown)
