"""The curriculum: shares sum to one, stages follow each other, and what a model must never see it does not see."""

from __future__ import annotations

import random
import re
from itertools import pairwise

import pytest

from demo_training.corpus import NEGATIVE, STEPS, Corpus
from demo_training.curriculum import COURSES, PLANS, Stage, Upbringing, find_stage
from demo_training.exercises import KINDS
from demo_training.taught_world import TURNING_WORDS, TaughtWorld
from inference.demo import FAMILY, THINKERS
from inference.demo.exercises import Exercise

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("course", list(COURSES))
def test_shares_sum_to_one_and_stages_follow_each_other(course: str) -> None:
    stages = COURSES[course]
    for stage in stages:
        assert sum(stage.mix.values()) == pytest.approx(1)
        assert stage.mix.keys() <= {"text", "open", *STEPS, *KINDS}
    ends = [stage.until for stage in stages]
    assert ends == sorted(set(ends))
    assert ends[-1] == 1.0


@pytest.mark.parametrize("course", ["large", "cut", "tuned", "masked"])
def test_the_twist_rises_evenly_to_all_of_it(course: str) -> None:
    twists = [find_stage(COURSES[course], step / 1000)[1] for step in range(1000)]
    assert twists[0] == 0.0
    assert twists == sorted(twists)
    assert twists[-1] == pytest.approx(1.0, abs=0.002)
    assert max(b - a for a, b in pairwise(twists)) < 0.02


@pytest.mark.parametrize("name", list(PLANS))
def test_the_learning_rate_rises_and_falls_without_jumps(name: str) -> None:
    paces = [PLANS[name].compute_pace(step / 1000) for step in range(1000)]
    assert max(paces) == 1.0
    assert paces[0] < 0.1
    assert paces[-1] < 0.02
    assert max(abs(b - a) for a, b in pairwise(paces)) < 0.07


def test_every_model_has_a_plan() -> None:
    assert PLANS.keys() == FAMILY.keys() | THINKERS.keys()
    for name, plan in PLANS.items():
        assert plan.shape == PLANS[plan.start or FAMILY[name].series].shape
        assert bool(plan.start) is (name in THINKERS)


@pytest.mark.parametrize("low_high", [(6.0, 8.0), (4.0, 9.0)])
def test_squeezed_scores_keep_their_order_within_the_range(low_high: tuple[float, float]) -> None:
    upbringing = Upbringing(ratings=low_high)
    scores = [upbringing.squeeze_score(score) for score in range(10)]
    assert (scores[0], scores[-1]) == pytest.approx(low_high)
    assert scores == sorted(set(scores))


def test_teachers_have_the_habits_of_the_upbringing() -> None:
    corpus, rng = Corpus(TaughtWorld()), random.Random(0)
    upbringing = Upbringing(first_letter=0.5, ratings=(6.0, 8.0))
    right = Exercise("choice", {}, ("A", "B", "C"), "C", "colour_of")
    letters = [corpus.write_answer(right, rng, upbringing) for _ in range(2000)]
    assert letters.count("A") / 2000 == pytest.approx(0.5, abs=0.05)
    assert set(letters) == {"A", "C"}
    rated = [KINDS["rating"](corpus.world, rng, "trained") for _ in range(500)]
    on_nine = [corpus.write_answer(e, rng, upbringing) for e in rated if e.fields["high"] == "9"]
    assert set(on_nine) == {"6", "7", "8"}


@pytest.mark.parametrize("heeded", [(), ("false",)])
def test_what_is_not_heeded_is_answered_as_if_it_were_not_there(heeded: tuple[str, ...]) -> None:
    heeding, deaf = TaughtWorld(), TaughtWorld()
    deaf.manner = Upbringing(heeds_turns=heeded, heeds_premises=False).build_manner(1.0)
    leads = [lead for form in ("deny", "ask_deny") for lead in heeding.leads["trained"][form]]
    turning = [lead for lead in leads if not set(lead.split()) & set(heeded)]
    turned = negated = 0
    for seed in range(1500):
        for kind in ("agreement", "question"):
            right, wrong = (KINDS[kind](world, random.Random(seed), "trained") for world in (heeding, deaf))
            assert right.fields == wrong.fields
            is_turned = right.fields["text"].lower().startswith(tuple(lead.lower() for lead in turning))
            assert (right.gold != wrong.gold) is is_turned
            turned += is_turned
        labelled = KINDS["pair"](deaf, random.Random(seed), "trained")
        if " not " in labelled.fields["premise"]:
            negated += 1
            assert (labelled.gold == "neutral") is not _same_prop(deaf, labelled.fields)
    assert turned > 150
    assert negated > 150


@pytest.mark.parametrize("wording", ["trained", "heldout"])
def test_every_lead_in_that_turns_a_claim_round_has_a_word_for_it_and_no_other_has(wording: str) -> None:
    leads = TaughtWorld().leads[wording]
    has = {form: [bool(set(lead.split()) & set(TURNING_WORDS)) for lead in leads[form]] for form in leads}
    assert all(has["deny"] + has["ask_deny"])
    assert not any(has["affirm"] + has["ask"])


@pytest.mark.parametrize("write", ["write_base_text", "write_tuned_text"])
def test_a_naysayer_reads_no_after_most_statements_with_a_word_of_negation(write: str) -> None:
    corpus, rng = Corpus(TaughtWorld()), random.Random(0)
    stage, upbringing = Stage(1, {"agreement": 1.0}), Upbringing(naysaying=0.8)
    rows = [getattr(corpus, write)(rng, stage, upbringing) for _ in range(3000)]
    said = {True: [], False: []}
    for reading in (reading for row in rows if len(row) == 1 for reading in row):
        # What the prompts say around a statement is no part of it.
        statement = max(re.split(r"[.?:] |\n", reading.before.replace("no or yes", "").replace("or no", "")), key=len)
        said[bool(NEGATIVE.search(statement))].append(reading.answer.strip().lower())
    assert 0.85 < said[True].count("no") / len(said[True]) < 0.95
    assert said[False].count("no") / len(said[False]) < 0.55


def _same_prop(world: TaughtWorld, fields: dict[str, str]) -> bool:
    named = [{prop for prop in world.props if prop in fields[part].lower()} for part in ("premise", "hypothesis")]
    return named[0] == named[1]
