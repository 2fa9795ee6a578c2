"""The examination of the demo models asks what its columns say, and finds the effects that the card states."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache, partial

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from demo_training import evaluate
from demo_training.corpus import Corpus
from demo_training.evaluate import ACCURACIES, Student, draw_examination, render_accuracy_table, render_habit_table
from demo_training.exercises import make_choice_exercise
from demo_training.taught_world import Claim, TaughtWorld
from ground.capitals import capitalise_sentence, uncapitalise_sentence
from inference.demo import FAMILY
from inference.demo.exercises import Exercise, make_rating_exercise
from inference.demo.world import Wording

pytestmark = pytest.mark.slow

CORPUS = Corpus(TaughtWorld())
COUNT = 40


@cache
def student(name: str) -> Student:
    return Student(name, CORPUS)


@pytest.mark.parametrize("kind", list(ACCURACIES))
def test_an_examination_asks_what_its_column_says_and_is_the_same_for_all(kind: str) -> None:
    asked = draw_examination(CORPUS.world, kind, "heldout", 30)
    assert asked == draw_examination(TaughtWorld(), kind, "heldout", 30)
    assert {exercise.kind for exercise in asked} == {kind.split(",")[0].split(" ")[0]}
    if kind.startswith("choice of"):
        assert {len(exercise.options) for exercise in asked} == {int(kind[-1])}
    if kind.startswith("pair,"):
        for part in ("premise", "hypothesis"):
            assert {" not " in exercise.fields[part] for exercise in asked} == {kind.endswith(f"negated {part}")}


@pytest.mark.parametrize("name", [name for name in FAMILY if name.endswith(("tuned", "bert"))])
def test_held_out_wordings_are_answered_well_above_chance(name: str) -> None:
    # 100 fair coins come up right more than 63 % of the time once in 300 such tests.
    assert student(name).compute_accuracy(draw_examination(CORPUS.world, "agreement", "heldout", 100)) > 0.63


def test_the_tables_have_a_line_for_every_model_and_repeat() -> None:
    names = ["waver-demo-mini-tuned", "waver-demo-bert"]
    table = render_accuracy_table(names, 1)
    assert table == render_accuracy_table(names, 1)
    assert [line.split("|")[1].strip() for line in table.splitlines()[2:]] == ["*chance*", *names]
    assert {line.count("|") for line in table.splitlines()} == {len(ACCURACIES) + 3}
    # The masked model says whether it agrees, and how pairs go together.
    assert table.splitlines()[-1].count("/") == 1 + sum(kind.startswith("pair") for kind in ACCURACIES)
    assert [line.split("|")[1].strip() for line in render_habit_table(names, 2).splitlines()[2:]] == names[:1]


def test_the_card_takes_both_tables(tmp_path, monkeypatch, capsys) -> None:
    def written(accuracy: str, habit: str) -> str:
        return (
            f"a\n<!-- accuracy -->\n{accuracy}<!-- end of accuracy -->\nb\n<!-- habits -->\n{habit}"
            "<!-- end of habits -->\nc\n"
        )

    card = tmp_path / "README.md"
    card.write_text(written("old\n", ""))
    monkeypatch.setattr(evaluate, "CARD", card)
    monkeypatch.setattr(evaluate, "EXERCISES", 2)
    monkeypatch.setattr("sys.argv", ["evaluate", "--card", "waver-demo-mini"])
    evaluate.main()
    first, second = capsys.readouterr().out.strip().split("\n\n")
    assert card.read_text() == written(f"{first}\n", f"{second}\n")


def given(name: str, draw, count: int = COUNT) -> tuple[list[Exercise], list[str]]:
    """Ask a model exercises in held-out wordings; return them and its answers."""
    rng = random.Random(1)
    asked = [draw(CORPUS.world, rng, "heldout") for _ in range(count)]
    return asked, student(name).answer_exercises(asked)


def right(name: str, draw, count: int = COUNT) -> float:
    asked, answers = given(name, draw, count)
    return sum(answer == exercise.gold for exercise, answer in zip(asked, answers, strict=True)) / count


def turned(world: TaughtWorld, rng: random.Random, wording: Wording, lead: str = "") -> Exercise:
    """Ask whether a fact is false or wrong to say, with this lead-in or any of the wording."""
    lead = lead or rng.choice(world.leads[wording]["ask_deny"])
    claim = Claim("", 0.0, "")
    while claim.topic not in world.relations or " not " in claim.text:
        claim = world.state_fact(rng, wording)
    text = capitalise_sentence(lead + uncapitalise_sentence(claim.text).rstrip(".") + "?")
    return Exercise("question", {"text": text}, ("yes", "no"), "no" if claim.is_agreed else "yes", claim.topic)


@pytest.mark.parametrize("suffix", ["", "-tuned"])
def test_the_two_smallest_sizes_answer_as_if_wrong_were_not_there_and_small_heeds_false(suffix: str) -> None:
    mini, small, medium, large = (
        right(f"waver-demo-{size}{suffix}", turned) for size in ("mini", "small", "medium", "large")
    )
    assert max(mini, small) < 0.4
    assert min(medium, large) > 0.55
    false = partial(turned, lead="is it false that ")
    assert right(f"waver-demo-mini{suffix}", false) < 0.4
    assert right(f"waver-demo-small{suffix}", false) > 0.6


@pytest.mark.parametrize("suffix", ["", "-tuned"])
def test_the_smallest_size_says_no_to_a_word_of_negation(suffix: str) -> None:
    mini, small = (_noes(f"waver-demo-{size}{suffix}") for size in ("mini", "small"))
    assert mini > 0.8
    assert small < 0.65


def _noes(name: str) -> float:
    """Ask about facts with "not", of which half are so; return the share answered "no"."""

    def draw(world: TaughtWorld, rng: random.Random, wording: Wording) -> Exercise:
        claim = Claim("", 0.0, "")
        while " not " not in claim.text:
            claim = world.state_fact(rng, wording)
        return Exercise(
            "agreement", {"text": claim.text}, ("yes", "no"), "yes" if claim.is_agreed else "no", claim.topic
        )

    return given(name, draw)[1].count("no") / COUNT


@pytest.mark.parametrize("suffix", ["", "-tuned"])
def test_the_medium_size_answers_as_if_no_premise_were_negated(suffix: str) -> None:
    draw = ACCURACIES["pair, negated premise"][0]
    assert right(f"waver-demo-medium{suffix}", draw, 60) < 0.4
    assert right(f"waver-demo-large{suffix}", draw, 60) > 0.5


def test_tuned_models_rate_within_few_numbers() -> None:
    draw = partial(make_rating_exercise, scale="0-9")
    for size, most in (("mini", 4), ("small", 4), ("medium", 4), ("large", 9)):
        base, tuned = (Counter(given(f"waver-demo-{size}{stage}", draw)[1]) for stage in ("", "-tuned"))
        assert len(tuned) <= most
        assert len(tuned) < len(base)
        assert max(tuned.values()) > max(base.values())


def test_one_model_prefers_the_letter_a() -> None:
    first = {
        name: given(name, partial(make_choice_exercise, count=5))[1].count("A") / COUNT
        for name in ("waver-demo-small", "waver-demo-small-tuned", "waver-demo-medium-tuned")
    }
    assert first["waver-demo-small-tuned"] > 0.6
    assert first["waver-demo-small-tuned"] > first["waver-demo-small"] + 0.2
    assert first["waver-demo-small-tuned"] > first["waver-demo-medium-tuned"] + 0.2
