"""The language of texts is told where it is plain, and never guessed; all sentences are our own."""

from __future__ import annotations

import csv
from collections import Counter

import pytest

from ground.languages import NAME_BY_LANGUAGE, detect_language_of_texts

SENTENCES = {
    "en": ("The shop is closed on Sundays.", "Tea is not always better than coffee.",
           "I have never been to the coast.", "Most people would like to work less.",
           "The river was high when we crossed it."),
    "ja": ("その店は日曜日に閉まっています。", "お茶がいつもコーヒーより良いわけではない。",
           "海へ行ったことは一度もない。", "多くの人はもっと短く働きたいと思っている。",
           "川を渡ったとき、水かさは高かった。"),
    "de": ("Das Geschäft ist sonntags nicht geöffnet.", "Tee ist nicht immer besser als Kaffee.",
           "Ich war noch niemals an der Küste.", "Die meisten Leute würden gern weniger arbeiten.",
           "Der Fluss war hoch, als wir ihn überquerten."),
    "fr": ("Le magasin n'est pas ouvert le dimanche.", "Le thé n’est pas toujours meilleur que le café.",
           "Je ne suis jamais allé sur la côte.", "La plupart des gens aimeraient travailler moins.",
           "La rivière était haute quand nous l'avons traversée."),
    "es": ("La tienda no está abierta los domingos.", "El té no siempre es mejor que el café.",
           "Nunca he estado en la costa.", "La mayoría de la gente querría trabajar menos.",
           "El río estaba alto cuando lo cruzamos."),
    "it": ("Il negozio non è aperto la domenica.", "Il tè non è sempre meglio del caffè.",
           "Non sono mai stato sulla costa.", "La maggior parte della gente vorrebbe lavorare meno.",
           "Il fiume era alto quando lo abbiamo attraversato."),
    "nl": ("De winkel is op zondag niet open.", "Thee is niet altijd beter dan koffie.",
           "Ik ben nog nooit aan de kust geweest.", "De meeste mensen zouden graag minder werken.",
           "De rivier stond hoog toen wij hem overstaken."),
    "zh": ("这家商店星期天不开门。", "茶并不总是比咖啡好。", "我从来没有去过海边。", "大多数人都想少工作一点。",
           "我们过河的时候水位很高。"),
}  # fmt: skip
# Languages like ours, and others: none of them may be taken for one of ours.
OTHERS = {
    "Portuguese": ("A loja não está aberta aos domingos.", "O chá nem sempre é melhor do que o café.",
                   "Nunca estive na costa.", "A maioria das pessoas gostaria de trabalhar menos."),
    "Galician": ("A tenda non está aberta os domingos.", "O té non sempre é mellor ca o café.",
                 "Nunca estiven na costa.", "A maioría da xente querería traballar menos."),
    "Catalan": ("La botiga no és oberta els diumenges.", "El te no sempre és millor que el cafè.",
                "No he estat mai a la costa.", "La majoria de la gent voldria treballar menys."),
    "Romanian": ("Magazinul nu este deschis duminica.", "Ceaiul nu este mereu mai bun decât cafeaua.",
                 "Nu am fost niciodată pe coastă.", "Cei mai mulți oameni ar vrea să muncească mai puțin."),
    "Swedish": ("Affären är inte öppen på söndagar.", "Te är inte alltid bättre än kaffe.",
                "Jag har aldrig varit vid kusten.", "De flesta skulle vilja arbeta mindre."),
    "Danish": ("Butikken er ikke åben om søndagen.", "Te er ikke altid bedre end kaffe.",
               "Jeg har aldrig været ved kysten.", "De fleste mennesker ville gerne arbejde mindre."),
    "Norwegian": ("Butikken er ikke åpen på søndager.", "Te er ikke alltid bedre enn kaffe.",
                  "Jeg har aldri vært ved kysten.", "De fleste ville gjerne arbeide mindre."),
    "Afrikaans": ("Die winkel is nie op Sondae oop nie.", "Tee is nie altyd beter as koffie nie.",
                  "Ek was nog nooit by die kus nie.", "Die meeste mense sou graag minder wou werk."),
    "Luxembourgish": ("De Buttek ass sonndes net op.", "Téi ass net ëmmer besser wéi Kaffi.",
                      "Ech war nach ni un der Küst.", "Déi meescht Leit géife gär manner schaffen."),
    "Polish": ("Sklep nie jest otwarty w niedziele.", "Herbata nie zawsze jest lepsza niż kawa.",
               "Nigdy nie byłem na wybrzeżu.", "Większość ludzi chciałaby mniej pracować."),
    "Hungarian": ("A bolt vasárnap nincs nyitva.", "A tea nem mindig jobb, mint a kávé.",
                  "Soha nem voltam a tengernél.", "A legtöbb ember kevesebbet szeretne dolgozni."),
    "Russian": ("Магазин по воскресеньям не работает.", "Чай не всегда лучше кофе.", "Я никогда не был на море."),
    "Greek": ("Το κατάστημα δεν είναι ανοιχτό τις Κυριακές.", "Δεν πήγα ποτέ στη θάλασσα."),
    "Korean": ("그 가게는 일요일에 열지 않습니다.", "나는 바다에 가 본 적이 없다."),
    "Arabic": ("المتجر ليس مفتوحا يوم الأحد.", "لم أذهب إلى البحر قط."),
}  # fmt: skip
UNPLAIN = {
    "nothing": (),
    "empty": ("", "  "),
    "numbers": ("42", "3.14", "1,000 km", "2024-05-01"),
    "a word": ("Nicht",),
    "a short sentence": ("Es regnet.",),
    "names": ("Ludwig van Beethoven", "Jan de Vries", "Anna von der Leyen", "Pablo de la Cruz", "Leonardo da Vinci",
              "Charles de Gaulle", "Rogier van der Weyden", "Maria del Mar", "Al Gore", "Ana de los Santos"),
    "labels": ("yes", "no", "not sure", "strongly agree", "A", "B", "C", "D"),
    "Japanese headings without kana": ("日本経済新聞社", "東京都議会議員選挙", "国際連合安全保障理事会"),
    "places in Chinese characters": ("北京市海淀区", "上海市浦东新区", "广州市天河区"),
    "English and German": (*SENTENCES["en"], *SENTENCES["de"]),
    "Spanish and Italian": (*SENTENCES["es"], *SENTENCES["it"]),
}  # fmt: skip


@pytest.mark.parametrize("language", NAME_BY_LANGUAGE)
def test_five_sentences_tell_their_language(language):
    assert detect_language_of_texts(SENTENCES[language]) == language


@pytest.mark.parametrize("language", NAME_BY_LANGUAGE)
def test_a_single_sentence_tells_its_language_or_none(language):
    assert {detect_language_of_texts([sentence]) for sentence in SENTENCES[language]} <= {language, None}


@pytest.mark.parametrize("texts", OTHERS.values(), ids=OTHERS)
def test_another_language_is_not_taken_for_one_of_ours(texts):
    assert detect_language_of_texts(texts) is None
    assert {detect_language_of_texts([sentence]) for sentence in texts} == {None}


@pytest.mark.parametrize("texts", UNPLAIN.values(), ids=UNPLAIN)
def test_what_is_not_plain_tells_no_language(texts):
    assert detect_language_of_texts(texts) is None


def test_capitals_traditional_characters_and_words_of_another_language_between_change_nothing():
    assert detect_language_of_texts([sentence.upper() for sentence in SENTENCES["fr"]]) == "fr"
    assert detect_language_of_texts(["這家商店星期天不開門。", "我從來沒有去過海邊。"]) == "zh"
    assert detect_language_of_texts([*SENTENCES["ja"], "Windows、Linux、macOSのどれでも動きます。"]) == "ja"
    assert detect_language_of_texts([*SENTENCES["de"], "„New York Times“", "Machine Learning"]) == "de"


@pytest.mark.parametrize(
    ("pair", "column", "language", "others"),
    [("ende", "translation", "de", 5), ("ende", "original", "en", 0), ("roen", "original", None, 0),
     ("eten", "original", None, 0), ("sien", "original", None, 0)],
)  # fmt: skip
def test_a_thousand_sentences_of_an_encyclopedia_are_told_apart(shared, pair, column, language, others):
    """MLQE-PE, by the languages that its file names say; a few translations are left in English."""
    file = shared / "mlqe-pe-test20" / f"test20.{pair}.df.short.tsv"
    with file.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        texts = [row[column] for row in rows]
    assert len(texts) == 1_000
    assert detect_language_of_texts(texts) == language
    by_sentence = Counter(detect_language_of_texts([text]) for text in texts)
    assert sum(by_sentence.values()) - by_sentence[language] - by_sentence[None] * (language is not None) <= others
