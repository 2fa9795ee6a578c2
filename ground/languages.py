"""Tell which language texts are in, or that it cannot be told.

European languages are told apart by their commonest words: of spaCy's stop words (spaCy 3.8, MIT licence), the 60 that
wordfreq 3.1 counts most often (of Afrikaans, 49). Japanese and Chinese are told by their script. Languages that are
like one of ours have their words here, too, so that they are not taken for it: a text in Portuguese is none in Spanish.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

# The languages that can be told, by their ISO 639-1 code.
NAME_BY_LANGUAGE = {
    "en": "English", "ja": "Japanese", "de": "German", "fr": "French", "es": "Spanish", "it": "Italian", "nl": "Dutch",
    "zh": "Chinese",
}  # fmt: skip
# Languages that spaCy 3.8 has pipelines for, trained on written news or, of English and Chinese, on texts of the web.
_PIPELINES_FROM_NEWS = frozenset({
    "ca", "da", "de", "el", "es", "fi", "fr", "hr", "it", "ja", "ko", "lt", "mk", "nb", "nl", "pl", "pt", "ro", "ru",
    "sl", "sv", "uk",
})  # fmt: skip
_PIPELINES_FROM_WEB = frozenset({"en", "zh"})
_COMMON_WORDS = {
    "en": (
        "the to and of a in i is that for you it on with this was be as are have at not he by but from my or we "
        "your an so all his they me one if can will just about up what out has when more do no who were had their "
        "there which her get been would"
    ),
    "de": (
        "die der und in das ist ich nicht zu den von mit es ein auf für im sie eine sich auch dem des er als so "
        "dass daß an bei wie aber aus hat sind nach noch wir war du nur wenn oder wird werden was einen um am man "
        "haben einer zum kann über da einem dann schon ja"
    ),
    "fr": (
        "de la le et à les est en des un que une pas a du pour il dans qui je ce au sur par on ne plus avec mais "
        "vous se ça tu elle y son ou si ai sont tout fait nous comme être ils cette sa aux même me ont était ses "
        "mon lui peut aussi deux moi"
    ),
    "es": (
        "de la que en el y a los no un se por es del las con una para lo su al como me más si pero te o mi le sus "
        "este esta todo ya ha cuando yo ser son sin hay fue tu está muy todos sobre también eso tiene porque nos "
        "qué dos así puede bien entre desde"
    ),
    "it": (
        "di e che il la in a non un per è del una le si con della da sono ma al ha come più dei se nel mi alla "
        "anche lo gli delle questo ho ci su ad solo dal essere io nella ti cui stato era quando tutti ed questa "
        "tutto cosa hanno tra suo fatto prima perché loro"
    ),
    "nl": (
        "de van het een en in is op ik dat voor je te met niet zijn die als er om maar aan hij ook ze door naar "
        "uit bij dan dit was we wat heeft over of nog deze hebben kan meer zo al geen mijn wel wordt u tot worden "
        "heb nu haar ben veel kunnen moet me hoe"
    ),
    "pt": (
        "de a o que e do em da é para um não uma no com se na por os eu como as mais mas dos foi ao me você seu "
        "ser sua tem são ou à das ele muito isso já nos também quando está meu pelo vai ela só sobre pela bem até "
        "mesmo pode tudo ter te aqui"
    ),
    "ca": (
        "de la a i que el en per del un les els una no amb va és al es ha com més dels hi o ser si aquest però "
        "tot fer seu aquesta molt ja als van ho seva també ens han són això estat sobre quan on entre fa fins què "
        "pel tots perquè era des després està altres"
    ),
    "ro": (
        "de în şi și a la să din o pe cu nu mai un este că care pentru se au ce fost ca am al sunt fi si va s lui "
        "dar sau e sa i după dacă ne ar le poate prin cum când ale in despre era mult iar are l cel ai mare "
        "foarte cele doar noi"
    ),
    "sv": (
        "det och att i jag på en inte som för med har av om till så du den de vi ett kan men man var ska när vad "
        "nu från här mig bara eller han då hur kommer alla vill sig vara där får bra finns skulle ha ut min dig "
        "upp hade lite mycket in gör få blir mer"
    ),
    "da": (
        "i og er af det at en til på jeg har ikke med for den der de du kan som så et var vi om han men fra skal "
        "ved vil også være hvor nu man hvis sig mig efter eller her ud hvad alle noget meget dig da kunne lige op "
        "min mere bliver havde blev over hun få"
    ),
    "nb": (
        "i og er det å på som til en av for ikke med har jeg at de du om den så vi var fra kan et men han seg "
        "dette noe skal noen ble vil også bare ut da nå etter meg eller være blir hadde når alle her må ha mer få "
        "opp man andre gjør over litt ved"
    ),
    "af": (
        "van het een en in is op dat te met die maar om aan uit dit was wat kan al haar ons na gaan daar dag af "
        "toe jou kom by my as ma se ek so nie hy sal sy sien vir hom baie hulle jy saam gesê"
    ),
    "lb": (
        "der zu den sie dem als an bei aus hat nach war du oder was am um zum kann da dann mir hier bis muss "
        "alles also dir waren beim a ins allem de e zwar u hin sollten all wann falls sinn entweder no en et un "
        "wollt ma di eis dach eng do op se em jo nee"
    ),
}
_LANGUAGES_BY_WORD: dict[str, list[str]] = {}
for _language, _line in _COMMON_WORDS.items():
    for _word in _line.split():
        _LANGUAGES_BY_WORD.setdefault(_word, []).append(_language)

_WORD = re.compile(r"[^\W\d_]+")
_KANA = re.compile(r"[\u3041-\u3096\u30a1-\u30fa]")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
# Characters of nearly every Chinese sentence that a Japanese text without kana has seldom.
_CHINESE = re.compile(r"[的是了这這们們个個我你他她它吗嗎吧呢没沒很哪么麼什还還在和就都不有]")
_LETTERS_NEEDED = 8  # of a text in Japanese or Chinese characters
_SHARE_OF_SCRIPT = 0.5  # of the letters; names in Latin letters stand in Japanese texts, too
_WORDS_NEEDED = 4  # different common words of the language; "van der" in a list of names are two
_SHARE_OF_WORDS = 0.2  # of all words, that are common ones of the language; in sentences, it is 0.3 to 0.6
_LEAD = 1.75  # times as many as of the next language


def detect_language_of_texts(texts: Iterable[str]) -> str | None:
    """Tell the language of texts from all of them together; names, numbers and a few words tell none.

    The texts are in one language, such as the wordings of a study. Returns its ISO 639-1 code, one of
    `NAME_BY_LANGUAGE`; None: another language, several, or too little text.

    >>> detect_language_of_texts(["Der Tee ist nicht heiß, und ich trinke ihn auch nicht."])
    'de'
    >>> detect_language_of_texts(["Anna Schmidt", "42"]) is None
    True
    """
    count_by_word: Counter[str] = Counter()
    han = kana = chinese = 0
    for text in texts:  # one by one: all words of a large study at once would take the most memory of a run
        count_by_word.update(_WORD.findall(text.casefold()))
        han, kana = han + len(_HAN.findall(text)), kana + len(_KANA.findall(text))
        chinese += len(_CHINESE.findall(text))
    letters = sum(len(word) * count for word, count in count_by_word.items())
    if han + kana >= max(_LETTERS_NEEDED, _SHARE_OF_SCRIPT * letters):
        return _tell_japanese_from_chinese(han, kana, chinese)
    return _find_language_of_words(count_by_word)


def name_small_spacy_pipeline(language: str) -> str | None:
    """Name the small pipeline that spaCy offers for texts in a language, which `python -m spacy download` installs.

    `language`: its ISO 639-1 code. Returns None where spaCy offers none for it.

    >>> [name_small_spacy_pipeline(code) for code in ("en", "de", "af")]
    ['en_core_web_sm', 'de_core_news_sm', None]
    """
    if language in _PIPELINES_FROM_NEWS:
        return f"{language}_core_news_sm"
    return f"{language}_core_web_sm" if language in _PIPELINES_FROM_WEB else None


def _tell_japanese_from_chinese(han: int, kana: int, chinese: int) -> str | None:
    """Tell Japanese by kana, Chinese by its commonest characters; a few words without either may be both."""
    if kana >= 0.1 * (han + kana):
        return "ja"
    return "zh" if kana == 0 and chinese >= 0.05 * han else None


def _find_language_of_words(count_by_word: Counter[str]) -> str | None:
    """Tell the language whose common words are most; a word that several languages have counts a part for each."""
    counts: Counter[str] = Counter()
    weights: dict[str, float] = {}
    kinds: Counter[str] = Counter()
    for word, count in count_by_word.items():
        languages = _LANGUAGES_BY_WORD.get(word, [])
        for language in languages:
            counts[language] += count
            kinds[language] += 1
            weights[language] = weights.get(language, 0.0) + count / len(languages)
    if not weights:
        return None
    language = max(weights, key=weights.__getitem__)
    weight, next_weight = (*sorted(weights.values(), reverse=True), 0.0)[:2]
    is_clear = (
        kinds[language] >= _WORDS_NEEDED
        and counts[language] >= _SHARE_OF_WORDS * count_by_word.total()
        and weight >= _LEAD * next_weight
    )
    return language if is_clear and language in NAME_BY_LANGUAGE else None
