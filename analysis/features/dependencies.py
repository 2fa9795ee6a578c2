"""Measure dependents and dependency length with any spaCy pipeline that has a parser (Haller et al., section 4)."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.features.component import Component, Measure, MissingComponent
from analysis.features.words import UNSPACED
from ground.errors import InputError
from ground.extras import build_install_command
from ground.languages import name_small_spacy_pipeline
from ground.version import find_installed_version

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

COLUMNS = ("left_dependents", "right_dependents", "dependency_length")
DEFAULT_ENGLISH_PIPELINE = "en_core_web_sm"
PIPELINE_GROUP = "spacy_models"  # the group of entry points under which pipelines are installed
# After the apostrophe of "l'homme" and "dell'acqua", but not of "aujourd'hui".
_ELISION = re.compile(r"(?<=[^\W\d_]['’])(?<!\baujourd['’])(?=\w)", re.IGNORECASE)
_ELIDING_LANGUAGES = ("fr", "it")
# Components whose output the parser reads; all others of a pipeline do not change the heads.
_EMBEDDINGS = frozenset({"tok2vec", "transformer", "curated_transformer"})


@dataclass(frozen=True)
class Pipeline:
    """Describe a spaCy pipeline found on this machine, not loaded yet.

    Attributes
    ----------
    source
        The package name or path, as the user gave it.
    language
        Language code it was trained for; "xx" means any.
    identity
        name, version, hash (SHA-256 over its files), spacy (version), source.
    """

    source: str
    language: str
    identity: Mapping[str, str]


def compute_left_right_dependents_and_length(doc: Doc) -> tuple[float, float, float]:
    """Compute the mean number of left and of right dependents per word, and the mean dependency length.

    Every word except a root depends on exactly one head, so left + right is 1 - roots/words: the two are nearly
    collinear if every text has one root. A root is its own head: it is not a dependent, and counts in the mean
    dependency length with distance 0, as in the published code. The mean over dependents alone is
    dependency_length / (left + right).

    Returns
    -------
    tuple
        left_dependents, right_dependents (per word), dependency_length (in words); NaN for a text without words.
    """
    import numpy as np

    if not len(doc):
        return np.nan, np.nan, np.nan
    # Distances to the head, stored as unsigned numbers: in "cats purr loudly" 1, 0 (the root) and -1, so that one word
    # depends on the left of its head (> 0) and one on the right (< 0).
    to_head = doc.to_array("HEAD").astype(np.int64)
    return float((to_head > 0).mean()), float((to_head < 0).mean()), float(np.abs(to_head).mean())


def find_pipeline_by_name_or_path(source: str) -> Pipeline:
    """Find a pipeline by package name or path, without importing spaCy.

    Raises
    ------
    InputError
        If there is no such pipeline.
    """
    spacy_version = find_installed_version("spacy")
    if spacy_version is None:
        raise InputError(f"spaCy pipeline {source!r}: spaCy is not installed: {build_install_command('features')}")
    folder = _find_package_folder(source)
    if folder is None:
        folder = Path(source)
        if not folder.is_dir():
            hint = f"python -m spacy download {source}" if source.isidentifier() else "pip install its package"
            raise InputError(f"spaCy pipeline {source!r}: no such package or folder: {hint}, or --spacy NAME or PATH")
    meta = folder / "meta.json"
    try:
        content = json.loads(meta.read_text(encoding="utf-8"))
        language, name, number = str(content["lang"]), f"{content['lang']}_{content['name']}", str(content["version"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"spaCy pipeline {source!r}: {meta} is missing or no pipeline's; give another one") from error
    identity = {"name": name, "version": number, "hash": _hash_files(folder), "spacy": spacy_version, "source": source}
    return Pipeline(source, language, identity)


def build_dependency_component(
    language: str, named_pipelines: Sequence[Pipeline] = (), old_identity: Mapping[str, str] | None = None
) -> Component | MissingComponent:
    """Return the component of left_dependents, right_dependents and dependency_length.

    Parameters
    ----------
    language
        Language of the texts.
    named_pipelines
        Pipelines the user named; the first one for the language is taken.
    old_identity
        Identity of the pipeline that computed earlier numbers; it is used again if the user names none. Without it, the
        default is used, or else the one that is installed for the language.

    Returns
    -------
    Component or MissingComponent
        Missing where spaCy or a pipeline is missing, or where it is not clear which of several is meant; for languages
        without spaces, always.
    """
    if language in UNSPACED:
        reason = f"texts are parsed in words between spaces, and {language!r} writes none"
        return MissingComponent(COLUMNS, reason, drops_earlier=True)
    for pipeline in named_pipelines:
        if pipeline.language in (language, "xx"):
            return _build_pipeline_component(pipeline, language, named=True)
    if find_installed_version("spacy") is None:
        return MissingComponent(
            COLUMNS, f"spaCy is not installed: pip install spacy; {_explain_how_to_get_pipeline(language)}"
        )
    candidates = [old_identity["source"]] if old_identity else _list_installed_pipelines(language)
    if len(candidates) != 1:
        return MissingComponent(COLUMNS, _explain_missing_or_ambiguous_pipeline(language, candidates))
    try:
        return _build_pipeline_component(find_pipeline_by_name_or_path(candidates[0]), language)
    except InputError as error:
        return MissingComponent(COLUMNS, str(error))


def _list_installed_pipelines(language: str) -> list[str]:
    """Name the pipelines for a language that are installed as packages; only the default, where it is among them."""
    if language == "en" and _find_package_folder(DEFAULT_ENGLISH_PIPELINE):
        return [DEFAULT_ENGLISH_PIPELINE]
    names = {entry.name for entry in metadata.entry_points(group=PIPELINE_GROUP)}
    return sorted(name for name in names if name.startswith(f"{language}_"))


def _explain_missing_or_ambiguous_pipeline(language: str, candidates: Sequence[str]) -> str:
    """Say what brings a pipeline where none is installed, and that one must be named where several are."""
    if candidates:
        return f"{', '.join(candidates)} are installed: choose with --spacy NAME"
    return f"no spaCy pipeline is installed for {language!r}: {_explain_how_to_get_pipeline(language)}"


def _explain_how_to_get_pipeline(language: str) -> str:
    """Say how to get a pipeline for texts in a language; spaCy has none for many, and then only one's own is left."""
    name = name_small_spacy_pipeline(language)
    return f"python -m spacy download {name}" if name else "spaCy itself offers none; --spacy takes NAME or PATH of one"


def _build_pipeline_component(pipeline: Pipeline, language: str, named: bool = False) -> Component:
    """Build the component that measures dependencies with a pipeline, which is loaded only when needed."""
    words = {"words": "elided ones apart"} if language in _ELIDING_LANGUAGES else {}
    identity = {**pipeline.identity, **words}
    return Component(COLUMNS, identity, lambda: _load_dependency_measure(pipeline, language), named)


def _load_dependency_measure(pipeline: Pipeline, language: str) -> Measure:
    """Load a pipeline and return the function that measures the dependencies of texts with it."""
    nlp, pipes = _load_pipeline_and_list_its_parsers(pipeline)

    def measure_texts(texts: Sequence[str]) -> dict[str, list[float]]:
        """Measure left and right dependents and dependency length of every text."""
        with nlp.select_pipes(enable=pipes):
            docs = nlp.pipe(_split_texts_into_docs(nlp, texts, language))
            values = [compute_left_right_dependents_and_length(doc) for doc in docs]
        return dict(zip(COLUMNS, map(list, zip(*values, strict=True)), strict=True))

    return measure_texts


def split_words_for_parser(text: str, language: str) -> list[str]:
    """Cut a text at white space, as the paper does everywhere, instead of with the pipeline's own tokenizer.

    In French and Italian an elided word is one of its own, too, as their pipelines have learned it: they do not know
    "l'homme" as one word.

    Parameters
    ----------
    text, language
        A text, and the first part of its language's code.

    >>> split_words_for_parser("L'homme n'est pas là aujourd'hui.", "fr")
    ["L'", 'homme', "n'", 'est', 'pas', 'là', "aujourd'hui."]
    """
    return (_ELISION.sub(" ", text) if language in _ELIDING_LANGUAGES else text).split()


def _split_texts_into_docs(nlp: Language, texts: Sequence[str], language: str) -> Iterator[Doc]:
    """Cut texts into words, and make documents of them for the parser."""
    from spacy.tokens import Doc

    return (Doc(nlp.vocab, words=split_words_for_parser(text, language)) for text in texts)


def _load_pipeline_and_list_its_parsers(pipeline: Pipeline) -> tuple[Language, list[str]]:
    """Load a pipeline; return it with the names of the components that find heads."""
    import spacy

    try:
        nlp = spacy.load(pipeline.source)
    except (OSError, ValueError, ImportError) as error:  # damaged files, or a missing package
        raise InputError(
            f"spaCy pipeline {pipeline.source!r} cannot be loaded: {_get_first_line_of_message(error)}"
        ) from error
    parsers = [name for name in nlp.pipe_names if "token.dep" in nlp.get_pipe_meta(name).assigns]
    if not parsers:
        raise InputError(f"spaCy pipeline {pipeline.source!r} has no parser; name one that has")
    embeddings = [name for name in nlp.pipe_names if nlp.get_pipe_meta(name).factory in _EMBEDDINGS]
    return nlp, embeddings + parsers


def _find_package_folder(name: str) -> Path | None:
    """Return the folder of an installed package, or None."""
    if os.sep in name or not name.isidentifier():
        return None
    spec: Any = importlib.util.find_spec(name)
    return Path(spec.origin).parent if spec is not None and spec.origin and Path(spec.origin).is_file() else None


def _hash_files(folder: Path) -> str:
    """Compute SHA-256 over the names and contents of a pipeline's files."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(str(path.relative_to(folder)).encode() + b"\0")
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def _get_first_line_of_message(error: Exception) -> str:
    """Return the first line of an error's message, or the name of its class where it has none."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
