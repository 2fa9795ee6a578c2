"""The filter: what a model is asked, what it keeps, and how well that agrees with people."""

from __future__ import annotations

import math

import pytest

from ground.errors import InputError, RunFailed
from helpers.trivial_engine import TrivialEngine, loader, shown
from inference.asking.models import Model
from inference.asking.one_model import Settings
from inference.engines.contract import Generation, Score
from inference.negating.negation import InsertedNegation
from inference.protocols.negation.negate import judging, people
from inference.protocols.negation.negate.sentences import NegatedSentence
from inference.stimuli.templates.prompt_forms import CHAT

MODEL = Model("judge", "judge")
MADE = [
    NegatedSentence("line 1", "犬が走る。", (InsertedNegation("犬が走らない。", "end", "動詞", "ない"),)),
    NegatedSentence(
        "line 2",
        "窓を開けて眠る。",
        (
            InsertedNegation("窓を開けず眠る。", "mid", "動詞", "ず"),
            InsertedNegation("窓を開けて眠らない。", "end", "動詞", "ない"),
        ),
    ),
]
PAIRS = {(each.source, one.text) for each in MADE for one in each.negations}


class Judge(TrivialEngine):
    """Finds literary negations unacceptable, and says nothing about dogs."""

    def _score(self, text, batch):
        asked = text.rpartition("文：")[2]
        first = 0.1 if "ず" in asked else 0.2 if "犬" in asked else 0.3
        return Score((first, 0.2), (math.log(first), math.log(0.2)), first + 0.2, None)

    def _write(self, prompt, sampling):
        asked = shown(prompt).rpartition("文：")[2]
        word = "不自然。" if "ず" in asked else "はい。" if "犬" in asked else "自然です。"
        return Generation((word,), (word,))


def verdicts(folder, answer="probability", load=lambda model, seed: Judge()):
    questions = judging.Questions(judging.read_judging_prompts("ja"), answer)
    asked = judging.build_judging_study(MADE, "small", "ja", "small.txt")
    return judging.ask_acceptability_verdicts(asked, MODEL, questions, Settings(), folder, load=load)


@pytest.mark.slow
@pytest.mark.parametrize("answer", ["probability", "text"])
def test_the_more_probable_or_the_written_verdict_counts(answer, tmp_path):
    assert verdicts(tmp_path / "judged", answer) == {
        ("犬が走る。", "犬が走らない。"): None,
        ("窓を開けて眠る。", "窓を開けず眠る。"): judging.UNACCEPTABLE,
        ("窓を開けて眠る。", "窓を開けて眠らない。"): judging.ACCEPTABLE,
    }


@pytest.mark.slow
def test_both_ways_of_answering_share_a_folder_and_nothing_is_asked_twice(tmp_path):
    first = verdicts(tmp_path / "judged")
    verdicts(tmp_path / "judged", "text")
    engine = Judge()
    assert verdicts(tmp_path / "judged", load=lambda model, seed: engine) == first
    assert engine.batches_scored == 0


@pytest.mark.slow
def test_failed_answers_fail_the_call_and_are_asked_again(tmp_path):
    with pytest.raises(RunFailed):
        verdicts(tmp_path / "judged", load=loader(fails=lambda text: "ず" in text))
    assert set(verdicts(tmp_path / "judged")) == PAIRS


@pytest.mark.parametrize("language", ["ja", "en"])
@pytest.mark.parametrize("form", ["plain", "chat", "cloze"])
def test_the_source_is_shown_first_as_an_acceptable_sentence(language, form):
    book = judging.read_judging_prompts(language)
    (asked,) = judging.Questions(book).rounds(form)
    variant = judging.build_judging_study(MADE, "small", language, "").items[1].variants[0]
    prompt = asked.render(variant, "[MASK]")
    source, negation = "窓を開けて眠る。", "窓を開けず眠る。"
    accepted = book.get_answer_words_of_form(form)[judging.ACCEPTABLE][0]
    if form == CHAT:
        assert [(each["role"], each["content"]) for each in prompt.messages[1:]] == [
            ("user", source), ("assistant", accepted), ("user", negation)
        ]  # fmt: skip
    else:
        before, shown_source, after = prompt.text.partition(source)
        assert shown_source and accepted in after.partition(negation)[0]
        assert negation not in before and negation in after


def test_a_sentence_that_comes_twice_is_asked_about_once():
    assert len(judging.build_judging_study([*MADE, MADE[0]], "small", "ja", "").items) == 2


def test_precision_recall_and_f1_are_those_of_scikit_learn():
    judged = {("s", str(number)): number % 3 != 0 for number in range(40)}
    accepted = {("s", str(number)) for number in range(40) if number % 4}
    found = people.score_filter_against_people(accepted | {("s", "other")}, judged)
    metrics = pytest.importorskip("sklearn.metrics", reason="needs scikit-learn (make references)")
    expected = metrics.precision_recall_fscore_support(
        [not verdict for verdict in judged.values()], [pair not in accepted for pair in judged], average="binary"
    )
    assert (found.precision, found.recall, found.f1) == pytest.approx(expected[:3], abs=1e-12)
    assert str(found) == (
        "40 judgements of people, 14 of them unacceptable; the model leaves out 10 of the same, 4 rightly: "
        "precision 0.400, recall 0.286, F1 0.333"
    )


def test_measures_are_undefined_where_nothing_is_positive():
    found = people.score_filter_against_people({("s", "a")}, {("s", "a"): True})
    assert all(map(math.isnan, (found.precision, found.recall, found.f1)))
    assert str(found).endswith("nothing to measure (undefined: precision, recall, F1)")
    one_sided = people.score_filter_against_people({("s", "a")}, {("s", "a"): False})
    assert math.isnan(one_sided.precision) and (one_sided.recall, one_sided.f1) == (0, 0)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("犬が走る。,犬が走らない。,perhaps", "row 2: acceptable is 'perhaps'; write yes or no"),
        ("犬が走る。,犬が走らない。,", "row 2: acceptable is ''; write yes or no"),
        ("犬が走る。,犬は走らない。,yes", "row 2: '犬は走らない。' is no negation of this file"),
        ("犬が走る。,犬が走らない。,yes\n犬が走る。,犬が走らない。,yes", "row 3: '犬が走らない。' is judged twice"),
    ],
)
def test_wrong_judgements_are_refused(rows, words, tmp_path):
    (tmp_path / "judged.csv").write_text(f"source,text,acceptable\n{rows}\n", encoding="utf-8")
    with pytest.raises(InputError, match=words.replace("(", r"\(")):
        people.read_people_verdicts(tmp_path / "judged.csv", PAIRS)


def test_judgements_are_read(tmp_path):
    (tmp_path / "judged.csv").write_text(
        "source,text,acceptable,who\n犬が走る。,犬が走らない。,Yes,a\n窓を開けて眠る。,窓を開けず眠る。,no,a\n",
        encoding="utf-8",
    )
    assert list(people.read_people_verdicts(tmp_path / "judged.csv", PAIRS).values()) == [True, False]
