"""Say in which language texts are: as the user names it, and whether they look as if they were in that language."""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from ground.errors import InputError, format_nearest_name_hint, shorten_text
from ground.languages import NAME_BY_LANGUAGE, detect_language_of_texts
from inference.stimuli.study import Item

ENGLISH = "en"
"""What texts that name no language are taken for: the prompts about them, and their features, are in it."""
MOST_ITEMS = 2_000  # items that are read to tell a language
_OTHER_NAMES = {
    "deutsch": "de", "deu": "de", "ger": "de", "eng": "en", "français": "fr", "fra": "fr", "fre": "fr",
    "español": "es", "spa": "es", "italiano": "it", "ita": "it", "nederlands": "nl", "nld": "nl", "dut": "nl",
    "日本語": "ja", "jpn": "ja", "jp": "ja", "中文": "zh", "zho": "zh", "chi": "zh", "cn": "zh",
}  # fmt: skip
_CODES = frozenset(
    re.findall(
        r"\w+",
        """aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee
    el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io
    is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn
    mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se
    sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo
    wa wo xh yi yo za zh zu""",
    )
)
"""All of ISO 639-1."""


def explain_invalid_language_code(code: str) -> str:
    """Say why a text is no code of a language.

    Parameters
    ----------
    code
        A code of ISO 639-1, such as "de", or one with a region, such as "de-AT".

    Returns
    -------
    The reason, with the nearest code; empty: it is one.

    Examples
    --------
    >>> explain_invalid_language_code("de-AT"), explain_invalid_language_code("German")
    ('', "'German' is no code of ISO 639-1, such as en, ja or de (the nearest is 'de')")
    """
    if get_main_language(code) in _CODES:
        return ""
    codes = {name.casefold(): language for language, name in NAME_BY_LANGUAGE.items()} | _OTHER_NAMES
    codes |= {known_code: known_code for known_code in _CODES}
    near = codes.get(re.split("[-_]", code.casefold())[0])  # DE, de_DE, German
    hint = f" (the nearest is '{near}')" if near else format_nearest_name_hint(code, sorted(_CODES))
    return f"'{shorten_text(code, 40)}' is no code of ISO 639-1, such as en, ja or de{hint}"


def lowercase_language_part_of_code(code: str) -> str:
    """Write the language of a code in small letters, as all others are written.

    >>> lowercase_language_part_of_code("DE"), lowercase_language_part_of_code(" de-AT ")
    ('de', 'de-AT')
    >>> lowercase_language_part_of_code("German")
    'German'
    """
    language, hyphen, region = code.strip().partition("-")
    return f"{language.lower()}{hyphen}{region}" if language.lower() in _CODES else code


def get_main_language(code: str) -> str:
    """Return the first part of a code: of "en-GB", it is "en"."""
    return code.partition("-")[0]


def assign_language_to_texts(
    items: Sequence[Item], language: str | None, source: str, *, in_english: bool
) -> tuple[Item, ...]:
    """Give a language to the texts that name none; say on standard error where texts look as if in another one.

    Parameters
    ----------
    items
        The items of a study.
    language
        What the user gave with --language; None: nothing, and the texts stay as they are.
    source
        Where the items come from, for the line.
    in_english
        Whether the prompts are Waver's own and there are English ones only: that is said of texts in another language.

    Returns
    -------
    The items.
    """
    if language is not None:
        items = [
            replace(item, variants=tuple(v if v.language else replace(v, language=language) for v in item.variants))
            for item in items
        ]
    texts_by_language: dict[str | None, dict[str, list[str]]] = defaultdict(dict)
    for item in items[:MOST_ITEMS]:
        for variant in item.variants:
            texts_by_language[variant.language].setdefault(item.item, []).append(variant.text)
    for text_language, texts_by_item in texts_by_language.items():
        warn_of_texts_in_other_language(source, texts_by_item, text_language)
    if in_english:
        warn_of_prompts_in_other_language(source, find_shared_language(items))
    return tuple(items)


def warn_of_texts_in_other_language(source: str, texts_by_item: dict[str, list[str]], language: str | None) -> None:
    """Say on standard error, in one line, that texts look as if they were in another language; nothing is changed.

    Parameters
    ----------
    source
        Where the texts come from.
    texts_by_item
        Item -> its texts.
    language
        The language that they are taken for; None: none was given, and they are taken for English.
    """
    taken = get_main_language(language or ENGLISH)
    seeming = detect_language_of_texts(text for texts in texts_by_item.values() for text in dict.fromkeys(texts))
    if seeming not in (None, taken):
        subject, verb = "the texts", "look"
    else:
        languages = {item: detect_language_of_texts(dict.fromkeys(texts)) for item, texts in texts_by_item.items()}
        items_in_others = [item for item, found_language in languages.items() if found_language not in (None, taken)]
        if not items_in_others:
            return
        seeming = languages[items_in_others[0]]
        verb = "looks" if len(items_in_others) == 1 else "look"
        subject = (
            f"{len(items_in_others):,} of {len(languages):,} items (such as {shorten_text(items_in_others[0], 40)})"
        )
    assert seeming is not None
    print(
        f"{source}: {subject} {verb} {NAME_BY_LANGUAGE[seeming]}, but "
        + (
            f"no language is named: they are taken for {_get_english_name_of_language(taken)}; give "
            f"--language {seeming}"
            if language is None
            else f"the language named is '{language}': if that is wrong, correct --language or the column language"
        ),
        file=sys.stderr,
    )


def find_shared_language(items: Iterable[Item]) -> str | None:
    """Return the language that all texts name, without its region; None: several, or a text that names none."""
    languages = {variant.language for item in items for variant in item.variants}
    main_languages = {None if language is None else get_main_language(language) for language in languages}
    return main_languages.pop() if len(main_languages) == 1 else None


def warn_of_prompts_in_other_language(source: str, language: str | None) -> None:
    """Say on standard error where texts are not in English, as Waver's own prompts about them are.

    Parameters
    ----------
    source
        Where the texts come from.
    language
        The language of all texts, as `find_shared_language` finds it.
    """
    if language is not None and language != ENGLISH:
        print(
            f"{source}: the texts are in {_get_english_name_of_language(language)}, the prompts in English; "
            f"--prompt FILE takes your "
            "own",
            file=sys.stderr,
        )


def map_languages_to_prompt_files(folder: Path) -> dict[str, Path]:
    """List language -> file of Waver's own prompts in a folder."""
    return {path.stem.partition("-")[2]: path for path in sorted(folder.glob("prompts-*.yaml"))}


def find_prompt_file(folder: Path, language: str) -> Path:
    """Find Waver's own prompts in a language.

    Parameters
    ----------
    folder
        The folder with a file `prompts-CODE.yaml` per language.
    language
        The language, as the user named it.

    Returns
    -------
    The file.

    Raises
    ------
    InputError
        There are none in this language.
    """
    files = map_languages_to_prompt_files(folder)
    if get_main_language(language) not in files:
        raise InputError(
            f"--language {language}: there are no prompts in this language, only in {', '.join(files)}; give your own "
            "with --prompt FILE"
        )
    return files[get_main_language(language)]


def _get_english_name_of_language(code: str) -> str:
    """Write a language by its English name, where it has one here, else by its code."""
    return NAME_BY_LANGUAGE.get(get_main_language(code), f"'{code}'")
