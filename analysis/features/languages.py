"""Tell which language a run's wordings are in: what they name, what is assumed, and what they look like."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.features.component import Component, MissingComponent
from analysis.features.words import LENGTHS, UNSPACED
from analysis.runs import Runs
from analysis.runs.folder import quote_sql_literal
from ground.errors import InputError, shorten_to_one_line
from ground.languages import NAME_BY_LANGUAGE, detect_language_of_texts

DEFAULT_LANGUAGE = "en"
_CODE = re.compile(r"([A-Za-z]{2,3})(?:[-_][A-Za-z0-9]+)*", re.ASCII)
_KANA = "[\u3041-\u3096\u30a1-\u30fa]"
_FIRST_PART = "nullif(lower(regexp_extract(language, '^[A-Za-z]+')), '')"


@dataclass(frozen=True)
class LanguageDoubt:
    """Hold which language wordings look like, where they are measured in another one.

    Attributes
    ----------
    looks_like
        Code of the language that they look like.
    is_assumed
        Whether nobody said what language they are in: then what depends on it is left out.
    """

    looks_like: str
    is_assumed: bool


def build_language_sql(default_language: str) -> str:
    """Return the SQL of a stimulus's language: the first part of its code ("en-GB" is "en"), or the default."""
    return f"coalesce({_FIRST_PART}, {quote_sql_literal(default_language)})"


def extract_primary_language_subtag(code: str) -> str:
    """Return the first part of a language's code, in small letters.

    Raises
    ------
    InputError
        For what is no code, such as the name of a language.

    >>> extract_primary_language_subtag("de-CH")
    'de'
    """
    match = _CODE.fullmatch(code)
    if not match:
        raise InputError(f"language {shorten_to_one_line(repr(code))}: give an ISO 639 code, such as de for German")
    return match[1].lower()


def list_texts_by_language(run: Runs, default_language: str) -> dict[str, list[str]]:
    """List the distinct texts of every language, in the order of the study.

    Parameters
    ----------
    run
        A run folder, opened.
    default_language
        Code of the language of wordings that name none.

    Returns
    -------
    dict
        The first part of a language's code -> its texts.
    """
    rows = run.execute(
        f"SELECT {build_language_sql(default_language)} AS code, text FROM stimuli GROUP BY ALL ORDER BY code, "
        "min(position)"
    ).fetchall()
    texts: dict[str, list[str]] = {}
    for code, text in rows:
        texts.setdefault(code, []).append(text)
    return texts


def find_languages_looking_like_another(
    run: Runs, texts_by_language: Mapping[str, Sequence[str]], default_language: str, is_default_named: bool
) -> dict[str, LanguageDoubt]:
    """Find the languages whose texts look like another one.

    Parameters
    ----------
    run, default_language
        As in `list_texts_by_language`.
    texts_by_language
        From `list_texts_by_language`.
    is_default_named
        Whether a user said that wordings which name no language are in the default one.

    Returns
    -------
    dict
        Code -> the doubt. A code that `ground.languages` does not know has none: languages of one family look alike.
    """
    has_unnamed = bool(run.execute(f"SELECT 1 FROM stimuli WHERE {_FIRST_PART} IS NULL LIMIT 1").fetchall())
    is_default_assumed = has_unnamed and not is_default_named
    doubts = {}
    for code, texts in texts_by_language.items():
        looks_like = detect_language_of_texts(texts) if code in NAME_BY_LANGUAGE else None
        if looks_like is not None and looks_like != code:
            doubts[code] = LanguageDoubt(looks_like, is_default_assumed and code == default_language)
    return doubts


def withhold_doubtful_component(
    component: Component | MissingComponent, language: str, doubt: LanguageDoubt | None
) -> Component | MissingComponent:
    """Leave out what would be measured with the words of an assumed language that the texts do not look like.

    Parameters
    ----------
    component
        What measures the texts.
    language
        Code of the language that they are measured in.
    doubt
        From `find_languages_looking_like_another`; None: they look like it.

    Returns
    -------
    Component or MissingComponent
        The component itself where somebody named the language; lengths, too, where both languages have spaces.
    """
    if doubt is None or not doubt.is_assumed:
        return component
    if component.columns == LENGTHS and not UNSPACED & {language, doubt.looks_like}:
        return component
    reason = (
        f"the wordings look {NAME_BY_LANGUAGE[doubt.looks_like]}, but name no language and count as "
        f"{NAME_BY_LANGUAGE[language]}: waver features RUN --language {doubt.looks_like}"
    )
    return MissingComponent(component.columns, reason, drops_earlier=True)


def describe_language_mismatch(language: str, looks_like: str) -> str:
    """Say that wordings which name a language look like another one.

    Parameters
    ----------
    language, looks_like
        Codes of languages.
    """
    name, other_name = (NAME_BY_LANGUAGE.get(code, code) for code in (language, looks_like))
    return f"the wordings that name {name} look {other_name}: their features are those of {name} texts"


def refuse_japanese_without_language_code(run: Runs, folder: Path) -> None:
    """Refuse Japanese wordings without a language code: they would be treated as English.

    Parameters
    ----------
    run, folder
        A run folder, opened, and its path.

    Raises
    ------
    InputError
        For the first such wording.
    """
    unmarked = run.execute(
        "SELECT item, variant FROM stimuli "
        f"WHERE coalesce(language, '') = '' AND regexp_matches(text, '{_KANA}') ORDER BY position LIMIT 1"
    ).fetchone()
    if unmarked:
        raise InputError(
            f"{folder}: stimuli.parquet: item {unmarked[0]!r}, variant {unmarked[1]!r} looks Japanese but names no "
            "language; say what language such wordings are in, for example --language ja"
        )
