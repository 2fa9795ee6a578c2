"""The parsing rule of `inference.asking.text_answers`, point by point, on wordings of our own."""

from __future__ import annotations

import time

import pytest

from inference.asking.text_answers import parse_answer

AGREE = {"agree": ["strongly agree", "agree"], "disagree": ["strongly disagree", "disagree"]}
YES = {"yes": ["yes"], "no": ["no"]}
JAPANESE = {"賛成": ["賛成", "はい", "ハイ"], "反対": ["反対", "いいえ"]}
NLI = {"entailment": ["entailment"], "contradiction": ["contradiction"], "neutral": ["neutral"]}
LIKELY = {"likely": ["likely", "very likely"], "unlikely": ["unlikely", "very unlikely"]}


@pytest.mark.parametrize(
    ("text", "label"),
    [
        # bare, numbered, quoted, marked up, in any case
        ("Agree", "agree"),
        ("DISAGREE!", "disagree"),
        ("3) Agree", "agree"),
        ("3)Agree", "agree"),
        ("(4) strongly agree", "agree"),
        ("c) disagree", "disagree"),
        ("Option 2: Disagree.", "disagree"),
        ("My choice is 'strongly disagree'.", "disagree"),
        ("My choice is “agree”.", "agree"),
        ("**Strongly disagree**", "disagree"),
        ("_agree_", "agree"),
        ("Dis**agree**", "disagree"),
        ("# Answer\n\n`agree`\n", "agree"),
        ("Answer:Agree", "agree"),
        ("ＡＧＲＥＥ", "agree"),
        ("strongly-agree", "agree"),
        ("STRONGLY_DISAGREE", "disagree"),
        ("strongly\ndisagree", "disagree"),
        # the longest label first, each stretch once, whole words only
        ("Strongly agree", "agree"),
        ("I disagree", "disagree"),
        ("There was no agreement between us.", None),
        ("We agreed on that years ago.", None),
        ("An agreeable idea, and a disagreeable tone.", None),
        ("I am in strong disagreement here.", None),
        ("", None),
        ("Tea is made with hot water.", None),
        # the same label twice, two different labels
        ("I agree. As I said: agree.", "agree"),
        ("2) Disagree. In short, I strongly disagree.", "disagree"),
        ("Agree, or rather: disagree.", None),
        ("Choose one of: strongly agree, agree, disagree, strongly disagree.", None),
        ("a) strongly agree\nb) agree\nc) disagree", None),
        ("Let us agree to disagree.", None),
        ("agree/disagree", None),
        ("agree-disagree", None),
        ("How far do you (dis)agree with cats?", None),
        ("neither-agree-nor-disagree", None),
    ],
)
def test_finds_the_label(text, label):
    assert parse_answer(text, AGREE) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        # a plain denial of agreement is disagreement, as an annotator would have it
        ("I do not agree.", "disagree"),
        ("I don't agree with this.", "disagree"),
        ("I don’t agree with this.", "disagree"),
        ("Sorry, but I would not agree.", "disagree"),
        ("3) Do not agree", "disagree"),
        ("We did not agree or strongly agree.", "disagree"),
        ("I do not agree. I disagree.", "disagree"),
        ("I do not agree and strongly disagree.", "disagree"),
        ("I do not agree, I strongly disagree.", "disagree"),
        # ... but nothing else is
        ("I do not disagree.", None),
        ("I do not fully agree.", None),
        ("I don't strongly agree.", None),
        ("I cannot agree.", None),
        ("I can't really agree with soup for breakfast.", None),
        ("I am unable to agree.", None),
        ("I am not sure I agree.", None),
        ("I'd never agree to that.", None),
        ("Many do not agree.", None),
        ("No one would agree.", None),
        ("There is nothing here that I disagree with.", None),
        ("I do not, however, agree.", None),
        ("I cannot, in good faith, disagree.", None),
        # refusals name both
        ("I cannot agree or disagree.", None),
        ("I can't agree, disagree or take a side.", None),
        ("I can neither agree nor disagree.", None),
        ("I neither strongly agree with it nor do I disagree.", None),
        ("As a program I don't have any way to weigh, agree or disagree.", None),
        ("I cannot give an opinion on tea, so I will not say whether I agree or disagree.", None),
        ("I can't say that I agree or that I disagree.", None),
        # ... and leave an answer standing that is given elsewhere
        ("I can neither agree nor disagree with such questions. If I must: agree.", "agree"),
        ("2) Disagree\nNote that a program has no right to agree or disagree.", "disagree"),
        ("I agree, though I don't strongly agree.", "agree"),
        # the same wording asserted and denied
        ("I agree. On reflection, I cannot agree.", None),
        # what looks like a negation and is none
        ("I couldn't agree more.", "agree"),
        ("I could not disagree with that more.", "disagree"),
        ("Not only do I agree, I strongly agree.", "agree"),
        ("I cannot help but agree.", "agree"),
        ("I do not own a cat, but I agree.", "agree"),
        ("I'm not a cook. Disagree.", "disagree"),
        ("My favourite is not soup\n\nAgree", "agree"),
        # open: questions, conditions, other people
        ("Do you agree? No.", "disagree"),
        ("Do you disagree? No.", None),
        ("If you agree, raise your hand.", None),
        ("Some may agree with that.", None),
        ("Many people strongly disagree.", None),
        ("Agree. Tell me whether you agree.", "agree"),
        ("Agree. Tell me whether you disagree.", "agree"),
        ("Agree. I wonder whether I disagree.", None),
    ],
)
def test_negated_open_and_reported_mentions(text, label):
    assert parse_answer(text, AGREE) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("賛成です。", "賛成"),
        ("私は反対です", "反対"),
        ("回答：「はい」", "賛成"),
        ("いいえ", "反対"),
        ("賛成できません。", None),
        ("賛成ではありません。", None),
        ("賛成しかねます。", None),
        ("「賛成」ではありません。", None),
        ("不賛成です。", None),
        ("賛成でも反対でもない。", None),
        ("賛成も反対もしません。", None),
        ("賛成、反対のどちらか", None),
        ("反対なので賛成できない。", "反対"),
        ("私は賛成です。雨は降りません。", "賛成"),
        ("答えはいいえです。", "反対"),
        ("私の答えははいです。", "賛成"),
        ("いいえ、してはいけません。", "反対"),
        ("はい、してはいけません。", "賛成"),
        ("はいそうです", "賛成"),
        ("Yes（はい）", "賛成"),
        ("ハイ！", "賛成"),
        ("とはいえ、分かりません。", None),
        ("世界にはいろいろな意見がある。", None),
        ("これはいい案だ。", None),
        ("ハイキングに行く。", None),
        ("アルコハイ", None),
    ],
)
def test_japanese_has_no_word_boundaries(text, label):
    assert parse_answer(text, JAPANESE) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("我同意。", "同意"), ("我不同意。", "不同意"), ("我并不同意", "不同意"), ("不过，我同意。", "同意"),
        ("我不太同意。", None), ("我不完全同意。", None), ("我无法同意。", None), ("不能同意", None),
        ("我很难同意", None), ("我没有同意", None), ("我無法同意", None),
        ("我无法表示同意", None), ("谈不上同意", None),
        ("我不敢说我同意", None), ("我不是不同意。", None), ("我毫不犹豫地同意。", "同意"),
    ],
)  # fmt: skip
def test_chinese_negations_stand_right_before_what_they_deny(text, label):
    assert parse_answer(text, {"同意": ["同意"], "不同意": ["不同意"]}) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("찬성합니다.", "찬성"), ("저는 이 말에 반대해요", "반대"), ("매우 찬성합니다", "매우 찬성"),
        ("답: 찬성", "찬성"), ("답은 예입니다.", "예"), ("찬성하지 않습니다.", None), ("찬성하지는 못합니다", None),
        ("찬성할 수 없습니다", None), ("찬성은 아닙니다", None), ("찬성 안 합니다", None),
        ("찬성하진 않습니다", None), ("찬성할 순 없습니다", None), ("찬성하긴 어렵습니다", None),
        ("찬성하는 것은 아닙니다", None), ("찬성하는 편은 아니에요", None), ("찬성하고 싶지 않다", None),
        ("찬성한다고 할 수 없습니다", None), ("찬성한다고 보기는 어렵다", None), ("찬성하는 것이 좋다", "찬성"),
        ("찬성치 않는다", None), ("그렇다고 할 수 없습니다", None), ("그렇다고 생각합니다", "그렇다"),
        ("찬성하지도 반대하지도 않습니다", None), ("찬성한다고도, 반대한다고도 할 수 없다", None),
        ("찬성도 반대도 하지 않습니다", None), ("찬성하거나 반대하기 어렵습니다", None),
        ("반대합니다. 찬성하지 않습니다.", "반대"), ("불찬성", None), ("매우찬성", None), ("예술은 길다", None),
        ("예, 그렇습니다", "예"), ("찬성이나 예", None), ("'찬성'하지 않습니다", None),
        ("찬성하긴 힘듭니다", None), ("찬성하기 어려워요", None), ("찬성치 않습니다", None),
        ("찬성하고 싶지 않습니다", None), ("찬성한다고 보기 어렵습니다", None),
        ("찬성하는 입장이 아닙니다", None), ("찬성할 수밖에 없습니다", "찬성"),
        ("찬성이 아니라 반대입니다", "반대"), ("찬성 아니면 반대", None), ("반대\n할 수 없는 일입니다", "반대"),
        ("예라고 봅니다", "예"), ("예이고, 까닭은", "예"), ("예이라 생각합니다", "예"), ("답은 예예요", "예"),
        ("예인 것 같습니다", "예"), ("예가 아닙니다", None), ("예인지 모릅니다", None),
        ("예가 많습니다", None),
    ],
)  # fmt: skip
def test_korean_labels_begin_a_word_and_are_denied_by_what_follows(text, label):
    assert parse_answer(text, {name: [name] for name in ("매우 찬성", "찬성", "반대", "예", "그렇다")}) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Ja.", "ja"), ("Ja das stimmt.", "ja"), ("Meine Antwort ist ja.", "ja"), ("Ich würde ja sagen.", "ja"),
        ("Das ist ja falsch.", None), ("Nein, das ist ja falsch.", "nein"), ("Ja und nein.", None), ("ja", "ja"),
        ("Oui, non seulement ici.", "ja"), ("Non, pas du tout.", "nein"), ("Non.", "nein"),
    ],
)  # fmt: skip
def test_ja_between_words_and_non_seulement_are_no_answers(text, label):
    assert parse_answer(text, {"ja": ["ja", "oui"], "nein": ["nein", "non"]}) == label


EUROPEAN = {
    "German": {"agree": ["ja", "zustimmen", "einverstanden", "richtig"], "disagree": ["nein", "ablehnen", "ablehnung"]},
    "French": {"agree": ["oui", "d'accord", "vrai"], "disagree": ["non", "pas d'accord", "faux"]},
    "Spanish": {"agree": ["sí", "de acuerdo"], "disagree": ["no", "en desacuerdo"]},
    "Italian": {"agree": ["sì", "d'accordo", "vero"], "disagree": ["no", "in disaccordo", "falso"]},
    "Dutch": {"agree": ["ja", "eens", "waar"], "disagree": ["nee", "oneens", "onwaar"]},
}
DENIALS = {
    "German": [
        "Ich würde nicht zustimmen.", "Ich bin damit überhaupt nicht einverstanden.", "Das ist nicht richtig.",
        "Ich glaube nicht, dass ich dem zustimmen würde.", "Weder ja noch nein.", "Zustimmen kann ich dem nicht.",
        "Ich habe keinen Grund, nein zu sagen.", "Es gibt keinen Grund zur Ablehnung.", "Niemand würde hier zustimmen.",
        "Als KI kann ich weder zustimmen noch ablehnen.", "Ja sagen würde ich dazu nicht.",
    ],
    "French": [
        "Je ne suis pas du tout d'accord.", "Je n’irais pas jusqu’à être d’accord.", "Je ne serais jamais d'accord.",
        "Je ne peux pas répondre par oui ou par non.", "Ni oui ni non.", "Ce n'est guère vrai.", "Ce n'est pas faux.",
        "Je n'ai aucune raison de dire non.", "Personne ne dirait oui.", "Il m'est difficile d'être d'accord.",
        "C'est loin d'être vrai.",
    ],
    "Spanish": [
        "No estoy para nada de acuerdo.", "Nunca estaría de acuerdo.", "Nadie diría que sí.",
        "Tampoco estoy de acuerdo.", "No puedo responder sí o no.", "No puedo decir ni sí ni no.",
        "No estoy ni de acuerdo ni en desacuerdo.",
        "Como IA, no puedo decir si estoy de acuerdo o en desacuerdo.", "Es imposible decir sí.",
        "En absoluto estoy de acuerdo.",
    ],
    "Italian": [
        "Non sono affatto d'accordo.", "Non direi di sì.", "Nessuno sarebbe d'accordo.", "Non è vero.", "Non è falso.",
        "Non posso dire né sì né no.", "Non ho motivo di dire no.", "Neanche io sono d'accordo.",
    ],
    "Dutch": [
        "Ik ben het er niet mee eens.", "Ik zou geen ja zeggen.", "Noch ja noch nee.", "Dat is niet waar.",
        "Ik heb geen reden om nee te zeggen.", "Ik kan niet met ja of nee antwoorden.", "Ik ben het nauwelijks eens.",
    ],
}  # fmt: skip
ANSWERS_BESIDE_DENIALS = {
    "German": [
        ("Ich bin nicht sicher, aber ich würde ja sagen.", "agree"), ("Eigentlich nicht, nein.", "disagree"),
        ("Ich trinke keinen Kaffee und würde zustimmen.", "agree"), ("Nicht nur ich würde zustimmen.", "agree"),
    ],
    "French": [
        ("Je ne suis pas d'accord.", "disagree"), ("Je ne peux qu'être d'accord.", "agree"),
        ("Je n'ai pas de voiture, mais je suis d'accord.", "agree"), ("Je dirais que non.", "disagree"),
    ],
    "Spanish": [
        ("No solo estoy de acuerdo.", "agree"), ("No fumo, pero estoy de acuerdo.", "agree"),
        ("Diría que no.", "disagree"),
        ("Sin duda estoy de acuerdo.", "agree"), ("No, no estoy de acuerdo.", "disagree"),
    ],
    "Italian": [
        ("Non solo sono d'accordo.", "agree"), ("Non sono sicuro, ma sì.", "agree"), ("Direi di no.", "disagree"),
    ],
    "Dutch": [
        ("Ik drink geen koffie en ben het eens.", "agree"), ("Nee, ik ben het er niet mee eens.", "disagree"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("language", "text", "label"),
    [(language, text, None) for language, texts in DENIALS.items() for text in texts]
    + [(language, *answer) for language, answers in ANSWERS_BESIDE_DENIALS.items() for answer in answers],
)
def test_european_negations_deny_what_follows_in_their_clause(language, text, label):
    assert parse_answer(text, EUROPEAN[language]) == label


@pytest.mark.parametrize(
    "text",
    [
        "没有理由反对。", "我没有任何理由反对。", "我找不到理由反对。", "我看不出有什么理由反对。", "毫无理由反对",
        "没有必要反对。", "我不认为我会同意。", "我没办法同意。", "我不能说同意还是不同意。", "我既不同意也不反对。",
        "我不得不同意。", "沒有理由同意", "我无意同意。", "我未必同意。", "我不见得同意。",
    ],
)  # fmt: skip
def test_chinese_negations_of_a_reason_or_a_saying_deny_what_follows(text):
    assert parse_answer(text, {"同意": ["同意"], "反对": ["反对", "不同意"]}) is None


def test_chinese_double_negations_deny_nothing():
    assert parse_answer("我不得不赞成", {"赞成": ["赞成"], "反对": ["反对"]}) == "赞成"


@pytest.mark.parametrize("text", ["반대할 이유가 없습니다.", "찬성할 이유를 찾을 수 없다.", "반대할 필요가 없습니다."])
def test_korean_without_a_reason_is_no_answer(text):
    assert parse_answer(text, {"찬성": ["찬성"], "반대": ["반대"]}) is None


@pytest.mark.parametrize("text", ["賛成しがたい。", "賛成は難しいです。", "賛成するのは無理です。"])
def test_japanese_difficulty_is_a_denial(text):
    assert parse_answer(text, JAPANESE) is None


AFFIRMATIONS = {
    "English": (AGREE, [
        "There is no doubt that I agree.", "Without hesitation I agree.", "I agree without reservation.",
        "While it is impossible for everyone to agree on this, I agree with the statement.",
    ]),
    "German": (EUROPEAN["German"], [
        "Es besteht kein Zweifel, dass das richtig ist.", "Ich habe kein Problem damit, ja zu sagen.",
        "Die Frage ist schwer, ich würde zustimmen.", "Ich kann nicht anders als zustimmen.",
    ]),
    "French": (EUROPEAN["French"], [
        "Je suis sans aucun doute d'accord.", "Nul doute que c'est vrai.", "Je suis de loin d'accord.",
        "À propos de la peine de mort je suis d'accord.", "Il est impossible de nier que c'est vrai.",
    ]),
    "Spanish": (EUROPEAN["Spanish"], [
        "Sin ninguna duda estoy de acuerdo.", "No hay duda de que estoy de acuerdo.", "No solamente estoy de acuerdo.",
        "No puedo estar más de acuerdo.",
    ]),
    "Italian": (EUROPEAN["Italian"], [
        "Non posso che essere d'accordo.", "Non c'è alcun dubbio che sia vero.", "Non posso non essere d'accordo.",
    ]),
    "Dutch": (EUROPEAN["Dutch"], ["Ik kan niet anders dan ja zeggen."]),
    "Japanese": (JAPANESE, [
        "賛成せざるを得ません。", "賛成するしかありません。", "賛成で間違いない。", "賛成で問題ありません。",
        "はいで構いません。",
        "賛成です（異論はありません）。", "賛成しないわけにはいきません。", "はいと言わざるを得ません。",
        "賛成に違いありません。",
        "反対ではなく賛成です。",
    ]),
    "Korean": ({"찬성": ["찬성"], "반대": ["반대"]}, ["찬성하지 않을 수 없습니다."]),
    "Chinese": ({"赞成": ["赞成"], "反对": ["反对"]}, ["未来我会赞成。"]),
}  # fmt: skip


@pytest.mark.parametrize(
    ("labels", "text"), [(labels, text) for labels, texts in AFFIRMATIONS.values() for text in texts]
)
def test_negations_that_affirm_deny_nothing(labels, text):
    assert parse_answer(text, labels) == next(iter(labels))


@pytest.mark.parametrize(
    "text",
    [
        "賛成とは言い難いです。", "賛成するのは困難です。", "賛成は不可能です。", "賛成できず残念です。",
        "賛成するのは控えます。",
        "賛成は避けたい。", "「賛成」とも「反対」とも言えません。", "賛成するか迷っています。",
        "賛成するのは間違いです。", "賛成で問題ないとは言えません。",
        "賛成は遠慮します。", "賛成ではなく、中立です。", "賛成しかねます。", "賛成しないことで問題ありません。",
    ],
)  # fmt: skip
def test_japanese_denials_in_other_words_are_no_answers(text):
    assert parse_answer(text, JAPANESE) is None


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("German", "Ich weigere mich, ja zu sagen."), ("German", "Ich bin weit davon entfernt, ja zu sagen."),
        ("German", "Das ist alles andere als richtig."), ("Spanish", "Me niego a decir que sí."),
        ("Italian", "Mi rifiuto di dire sì."), ("Dutch", "Ja zou ik niet zeggen."), ("French", "C'est à peine vrai."),
        ("French", "J'ai de la peine à dire oui."), ("French", "Rien n'indique que c'est vrai."),
        ("German", "Ich bin nicht bereit, das als richtig zu bezeichnen."),
        ("German", "Ich habe keine Lust, ja zu sagen."), ("German", "Ich lehne es ab, ja zu sagen."),
        ("German", "Ich kann nicht ja und nein sagen."), ("German", "Ich bin nicht willens, hier ja zu sagen."),
    ],
)  # fmt: skip
def test_refusals_to_say_a_label_are_no_answers(language, text):
    assert parse_answer(text, EUROPEAN[language]) is None


@pytest.mark.parametrize("text", ["No, honestly, I disagree.", "No I disagree."])
def test_a_no_that_replies_denies_nothing_behind_it(text):
    assert parse_answer(text, AGREE) == "disagree"


def test_latin_labels_have_boundaries_even_inside_japanese():
    assert parse_answer("私はagreeです", AGREE) == "agree"
    assert parse_answer("私はagreementです", AGREE) is None


@pytest.mark.parametrize(
    ("text", "labels", "label"),
    [
        ("Yes.", YES, "yes"),
        ("No, no.", YES, "no"),
        ("Ich lehne die Aussage ab (Nein).", {"yes": ["ja"], "no": ["nein"]}, "no"),
        ("Ich lehne das mit einem klaren Nein ab.", {"yes": ["ja"], "no": ["nein"]}, "no"),
        ("Yesterday I noticed it.", YES, None),
        ("I would not say yes.", YES, None),
        ("I cannot say yes and no.", YES, None),
        ("contradiction", NLI, "contradiction"),
        ("I don't see a contradiction.", NLI, None),
        ("It is not a contradiction but neutral.", NLI, "neutral"),
        ("Very unlikely", LIKELY, "unlikely"),
        ("I did not likely", LIKELY, "unlikely"),
        ("да, конечно", {"да": ["да"], "нет": ["нет"]}, "да"),
        ("дача", {"да": ["да"], "нет": ["нет"]}, None),
        ("C'est VRAI", {"vrai": ["vrai"], "faux": ["faux"]}, "vrai"),
        ("Straße", {"street": ["STRASSE"], "path": ["weg"]}, "street"),
    ],
)
def test_other_labels(text, labels, label):
    assert parse_answer(text, labels) == label


@pytest.mark.parametrize("text", ["I cannot say that I don't agree.", "It's not that I do not agree."])
def test_a_denial_of_a_denial_is_no_answer(text):
    assert parse_answer(text, AGREE) is None


def test_a_negated_wording_may_itself_be_a_label():
    labels = {"agree": ["agree"], "disagree": ["do not agree", "disagree"]}
    assert parse_answer("I do not agree", labels) == "disagree"
    assert parse_answer("I agree", labels) == "agree"


def test_wordings_are_taken_literally():
    assert parse_answer("I say a.b", {"one": ["a.b"], "two": ["c+"]}) == "one"
    assert parse_answer("I say axb", {"one": ["a.b"], "two": ["c+"]}) is None
    assert parse_answer("c+ it is", {"one": ["a.b"], "two": ["c+"]}) == "two"


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"agree": ["yes"], "disagree": ["Yes "]}, "two labels"),
        ({"agree": ["yes", " "], "disagree": ["no"]}, "empty wording"),
    ],
)
def test_labels_that_cannot_be_told_apart_are_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        parse_answer("yes", labels)


@pytest.mark.parametrize(
    "text",
    [
        "not " + "a'-" * 37 + "; agree",
        ("not a" + "---a" * 27 + ", agree ") * 50,
        "agree x or " * 8_000,
        "strongly " * 20_000,
        "agree" + " or" * 20_000 + " agree",
        "賛成" * 20_000,
        "\n" * 200_000,
        "i" + " " * 200_000 + "agree",
        "I, " * 60_000,
        "yes, no. " * 20_000,
        "the " * 50_000 + "agree",
        "do not have " * 16_000,
        "as an " * 32_000,
        "I would say that this is very " * 6_000,
        "a" * 200_000 + "ly agreed",
        "agree that " + "it " * 60_000,
        "nicht, dass " * 16_000 + "agree",
        "agree o " * 20_000,
    ],
    ids=[
        "dashes", "many dashes", "chain", "half a label", "connectives", "japanese", "lines", "blanks", "clauses",
        "replies", "articles", "refusal", "refusal begun", "opinion begun", "one word", "topic begun", "German commas",
        "European chain",
    ],
)  # fmt: skip
def test_no_text_takes_long(text):
    began = time.process_time()
    parse_answer(text, AGREE | {"sansei": ["賛成"]})
    assert time.process_time() - began < 2  # tenths of a second; minutes where patterns backtrack
