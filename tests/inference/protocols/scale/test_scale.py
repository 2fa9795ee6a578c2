"""Protocol `scale`: items and their options, how they are shown, and how responses are read."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest

from helpers.commands import ROOT
from helpers.workbooks import workbook
from inference.__main__ import main
from inference.asking.answer_ways import AnswerWays
from inference.engines.contract import Generation, Sampling, Score, Thoughts
from inference.protocols.scale import COLUMNS, Questions, build_scale_study, read_scale_prompts
from inference.protocols.scale.reading import (
    VERSION,
    build_columns_of_scale_response,
    find_option_words_by_number_or_letter,
)
from inference.protocols.scale.shown import DOWN, LETTERS, NUMBERS, UP, WORDS, Showing, choose_shown_options
from inference.stimuli.items import read_and_check_items
from inference.stimuli.study import Option, Variant
from inference.stimuli.templates.prompts import Prompt

MINI = str(ROOT / "inference" / "demo" / "models" / "waver-demo-mini")
FIVE = ("Strongly disagree", "Disagree", "Neither", "Agree", "Strongly agree")
ELEVEN = tuple(map(str, range(11)))
PROMPT = Prompt("?", None, ())


def build_variant(options: tuple[str, ...]) -> Variant:
    ranked = tuple(Option(label, str(rank)) for rank, label in enumerate(options, start=1))
    return Variant("a", "original", "original", "I like trains.", ranked)


def read_table(folder, text, options=FIVE):
    file = folder / "i.csv"
    file.write_text(text, encoding="utf-8")
    return build_scale_study(read_and_check_items(str(file), (), protocol_columns=COLUMNS), "s", options)


def test_items_have_ranked_options_scales_and_keys(tmp_path, capsys):
    study = read_table(
        tmp_path,
        "item,text,Scale,KEY,options,question,age\n"
        "a,I like trains.,E,,,How true?,7\na,Trains are fine.,,,,,8\nb,I avoid trains.,E,-1.0,,,\n"
        "c,Bread is good.,,1,no;  yes ,,\n",
    )
    assert capsys.readouterr().err == f"{tmp_path / 'i.csv'}: columns kept as attributes: age\n"
    assert study.canonical == ("1", "2", "3", "4", "5")
    attributes = [dict(variant.attributes) for variant in study.variants]
    assert attributes == [
        {"age": "7", "key": "1", "scale": "E", "question": "How true?"},
        {"age": "8", "key": "1", "scale": "E", "question": "How true?"},
        {"key": "-1", "scale": "E"},
        {"key": "1"},
    ]
    assert [option.label for option in study.items[0].variants[1].options] == list(FIVE)
    assert [(o.label, o.canonical) for o in study.items[2].variants[0].options] == [("no", "1"), ("yes", "2")]
    assert study.paraphrased and not read_table(tmp_path, "item,text\na,One.\n").paraphrased


def test_wordings_in_two_languages_bring_their_own_options(tmp_path):
    study = read_table(tmp_path, "item,text,language,options\na,Yes?,en,no;yes\na,Ja?,de,nein;ja\n", None)
    labels = [[option.label for option in variant.options] for variant in study.variants]
    assert labels == [["no", "yes"], ["nein", "ja"]]


@pytest.mark.slow
def test_a_questionnaire_in_excel_is_asked(tmp_path):
    rows = [["Item", "Text", "Scale", "Key"], ["a", "I like trains.", "E", 1], ["b", "I avoid trains.", "E", -1]]
    (tmp_path / "battery.xlsx").write_bytes(workbook({"Sheet1": rows}))
    call = ["run", "scale", "--items", str(tmp_path / "battery.xlsx"), "--options", "; ".join(FIVE), "--model", MINI]
    assert main([*call, "--labels", "numbers", "letters", "--option-order", "down", "--without-middle",
                 "--out", str(tmp_path / "run")]) == 0  # fmt: skip
    rows = [row for part in (tmp_path / "run" / "responses").iterdir() for row in pq.read_table(part).to_pylist()]
    lengths = {row["condition"]: len(row["probability"]) for row in rows}
    assert lengths == {"plain/numbers-down": 5, "plain/letters-down": 5,
                       "plain/numbers-down/no-middle": 4, "plain/letters-down/no-middle": 4}  # fmt: skip
    assert {row["error"] for row in rows} == {None}
    stimuli = pq.read_table(tmp_path / "run" / "stimuli.parquet").to_pylist()
    assert [dict(row["attributes"])["key"] for row in stimuli] == ["1", "-1"]


@pytest.mark.parametrize(
    ("options", "showing", "answers", "numbers"),
    [
        (FIVE, Showing(NUMBERS, UP), "12345", None),
        (FIVE, Showing(NUMBERS, DOWN), "54321", None),
        (FIVE, Showing(LETTERS, DOWN, without_middle=True), "DCBA", None),
        (FIVE[1:], Showing(NUMBERS, UP, without_middle=True), "1234", None),
        (ELEVEN, Showing(NUMBERS, DOWN), ELEVEN, range(11)),
        (ELEVEN, Showing(WORDS, UP, without_middle=True), [*ELEVEN[:5], *ELEVEN[6:]], range(11)),
        (("-1", "0", "1"), Showing(NUMBERS, DOWN), ["-1", "0", "1"], range(-1, 2)),
        (("6", "5", "4"), Showing(NUMBERS, UP), "654", None),
        (("10", "5", "0"), Showing(NUMBERS, UP), ["10", "5", "0"], range(11)),
        ((*FIVE, *ELEVEN[:5]), Showing(NUMBERS, DOWN), list(map(str, range(10, 0, -1))), range(1, 11)),
    ],
)  # fmt: skip
def test_numbers_and_letters_belong_to_the_place_shown_and_whole_numbers_to_their_option(
    options, showing, answers, numbers
):
    shown = choose_shown_options(tuple(options), showing)
    assert (list(shown.answers), shown.numbers) == (list(answers), numbers)
    if numbers is not None:
        assert [str(numbers[place]) for place in shown.places] == list(shown.answers)


def test_prompts_show_the_options_in_order_and_what_to_reply_with():
    variant, book = build_variant(FIVE), read_scale_prompts()
    asked = Questions(book, (Showing(LETTERS, DOWN, without_middle=True), Showing(WORDS, UP)))
    letters, words = (round_.render(variant, None) for round_ in asked.rounds("plain"))
    assert letters.text == (
        "Which answer to the statement fits best?\nStatement: I like trains.\nA. Strongly agree\nB. Agree\n"
        "C. Disagree\nD. Strongly disagree\nReply with one letter.\nReply:"
    )
    assert letters.answers == (("D",), ("C",), ("B",), ("A",))
    assert "- Strongly disagree\n- Disagree\n- Neither\n" in words.text
    assert words.answers[0] == ("Strongly disagree", "strongly disagree", "STRONGLY DISAGREE")
    names = [condition.name for round_ in asked.rounds("chat") for condition in round_.conditions]
    assert names == ["chat/letters-down/no-middle", "chat/words-up"]
    (cloze, _) = asked.rounds("cloze")
    assert cloze.render(variant, "[MASK]").text.endswith("D: Strongly disagree. Reply: [MASK].")


@pytest.mark.parametrize("labels", [NUMBERS, LETTERS, WORDS])
def test_conditions_of_texts_record_the_rule_that_reads_numbers(labels):
    """Texts in words are read by it, too, where the options are whole numbers."""
    answers = AnswerWays(probability=False, texts=(Sampling(max_tokens=4),))
    (round_,) = Questions(read_scale_prompts(), (Showing(labels),), answers).rounds("plain")
    assert [condition.fields["label_rule"] for condition in round_.conditions] == [VERSION]


def test_probabilities_of_numbers_are_taken_out_of_their_range():
    showing = Showing(NUMBERS, DOWN, without_middle=True)
    probability = tuple(n / 100 for n in range(11))
    score = Score(probability, tuple(map(float, range(-11, 0))), 0.55, 5)
    row = build_columns_of_scale_response(showing, build_variant(ELEVEN), PROMPT, score)
    kept = [0, 1, 2, 3, 4, 6, 7, 8, 9, 10]
    assert row["probability"] == tuple(probability[n] for n in kept)
    assert row["logprob"] == tuple(float(n - 11) for n in kept)
    assert (row["answer"], row["mass"]) == ("10", pytest.approx(0.5))
    thoughts = Thoughts(("hm", "so"), ("", ""), (1, 1), (True, False), (score, None))
    row = build_columns_of_scale_response(showing, build_variant(ELEVEN), PROMPT, thoughts)
    assert row["probability"] == pytest.approx([probability[n] for n in kept])
    assert row["sample_answer"] == ["10", None]


@pytest.mark.parametrize(("upper", "answer"), [(None, "10"), (0.53, "10"), (0.62, None)])
def test_of_bounds_the_likeliest_number_is_the_answer_only_if_no_other_can_be(upper, answer):
    """Of a server that showed no number at all, the lowest one was the answer."""
    probability = (0.1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.2)
    score = Score(probability, () if upper else (-1.0,) * 11, 0.3 if upper is None else 0.5, None, mass_upper=upper)
    assert build_columns_of_scale_response(Showing(NUMBERS), build_variant(ELEVEN), PROMPT, score)["answer"] == answer
    hidden = Score((0.0,) * 11, (), 0.0, None, mass_upper=0.4)
    assert build_columns_of_scale_response(Showing(NUMBERS), build_variant(ELEVEN), PROMPT, hidden)["answer"] is None


@pytest.mark.parametrize(
    ("text", "number", "letter"),
    [
        ("4", "Agree", None), ("B", None, "Disagree"), (" **2.** Disagree", "Disagree", "Disagree"),
        ("Answer: 5", "Strongly agree", None), ("My answer is B.", None, "Disagree"), ("(E)", None, "Strongly agree"),
        ("4. Strongly disagree", None, "Strongly disagree"), ("B. Agree", "Agree", None),
        ("4 - Agree, because trains are fast", "Agree", "Agree"),
        ("I strongly agree.", "Strongly agree", "Strongly agree"),
        ("A good idea.", None, None), ("A", None, "Strongly disagree"), ("6", None, None), ("4.5", None, None),
        ("1 to 5", None, None), ("1~5", None, None), ("1 oder 2", None, None), ("1 ou 2", None, None),
        ("45", None, None), ("", None, None), ("a", None, None),
        ("I do not agree.", None, None), ("Yes.", None, None), ("４", "Agree", None), ("4%", None, None),
        ("The correct answer is 4.", "Agree", None), ("Option B", None, "Disagree"),
        ("Option 4: Agree", "Agree", "Agree"), ("My rating would be 4", "Agree", None), ("The answer is not 4.",
        None, None), ("Answer 4", "Agree", None),
        ("B/C", None, None), ("B, C", None, None), ("(B) or (C)", None, None), ("B. or C.", None, None),
        ("B. Disagree or C. Neither", None, None), ("2/3", None, None), ("2, 3", None, None),
        ("**2** & **3**", None, None),
        ("1: Strongly disagree, 2: Disagree", None, None), ("4/5", "Agree", None), ("4 / 5", "Agree", None),
        ("4, because 3 is too weak", "Agree", None), ("B (not C)", None, "Disagree"), ("B, B", None, "Disagree"),
        ("4 (maybe 5)", None, None), ("B (perhaps C)", None, None), ("4 vs 5", None, None), ("B vs. C", None, None),
        ("4 - maybe 5.", None, None), ("B, or C", None, None), ("4, or 5 of them", "Agree", None),
        ("4・5", None, None), ("B (or C)", None, None), ("4: Agree / 5: Strongly agree", None, None),
        ("4,\n1. It is so.\n2. It is.", "Agree", None),
        ("1. Strongly disagree\n2. Disagree\n3. Neither", None, None), ("B. Disagree\nC. Neither", None, None),
        ("4. Agree\n\nOf the scale:\n1. Strongly disagree\n2. Disagree", "Agree", None),
    ],
)  # fmt: skip
def test_texts_are_read_by_the_rule(text, number, letter):
    assert find_option_words_by_number_or_letter(text, choose_shown_options(FIVE, Showing(NUMBERS)), NUMBERS) == number
    assert find_option_words_by_number_or_letter(text, choose_shown_options(FIVE, Showing(LETTERS)), LETTERS) == letter


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("3. そう思うです", "そう思う"),
        ("3. そう思わないです", None),
        ("1. そう思わないです", "そう思わない"), ("1です。そう思わない", "そう思わない"),
        ("2", "どちらでもない"), ("2です。", "どちらでもない"), ("答え：2", "どちらでもない"),
        ("回答は「2」です", "どちらでもない"), ("2番です", "どちらでもない"), ("選択肢2", "どちらでもない"),
        ("2です。そう思うので", None),
        ("2人です", None), ("2つの理由", None), ("2ではない", None), ("2ですか", None), ("2だけ", None),
    ],
)  # fmt: skip
def test_words_without_blanks_contradict_a_number_as_others_do(text: str, option: str | None) -> None:
    shown = choose_shown_options(("そう思わない", "どちらでもない", "そう思う"), Showing(NUMBERS))
    assert find_option_words_by_number_or_letter(text, shown, NUMBERS) == option


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("2입니다.", "보통"), ("2번입니다", "보통"), ("2점입니다", "보통"), ("답: 2", "보통"),
        ("정답은 3입니다", "찬성"), ("2번", "보통"), ("2입니다. 찬성", None), ("2번째", None), ("2이상", None),
        ("2입니까?", None), ("2가 아닙니다", None), ("2예요", "보통"), ("제 답은 2입니다", "보통"),
        ("2번 또는 3번", None), ("2 또는 3", None),
    ],
)  # fmt: skip
def test_a_korean_sentence_may_end_behind_its_number(text: str, option: str | None) -> None:
    shown = choose_shown_options(("반대", "보통", "찬성"), Showing(NUMBERS))
    assert find_option_words_by_number_or_letter(text, shown, NUMBERS) == option


def test_counts_go_from_the_lowest_option_to_the_highest_whatever_was_shown():
    generation = Generation(("1", "1. Strongly agree", "4", "no idea"), ("1", "1. Strongly agree", "4", None))
    row = build_columns_of_scale_response(
        Showing(NUMBERS, DOWN, without_middle=True), build_variant(FIVE), PROMPT, generation
    )
    assert (row["count"], row["invalid"], row["answer"]) == ([1, 0, 0, 2], 1, "Strongly agree")
    assert row["sample_answer"] == ["Strongly agree", "Strongly agree", "Strongly disagree", None]
    assert row["sample_answer_otherwise"] == ["Strongly agree", None, "Strongly disagree", None]
    words = Prompt("?", None, tuple((option, option.lower()) for option in FIVE))
    generation = Generation(("I disagree.", "Neither"), ("I disagree.", "Neither"))
    row = build_columns_of_scale_response(Showing(WORDS), build_variant(FIVE), words, generation)
    assert (row["count"], row["answer"]) == ([0, 1, 1, 0, 0], None)
    whole = Generation(("10", "7 of 10"), ("10", "7 of 10"))
    assert build_columns_of_scale_response(Showing(), build_variant(ELEVEN), PROMPT, whole)["count"] == [0] * 7 + [
        1,
        0,
        0,
        1,
    ]
