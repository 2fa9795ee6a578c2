"""Rules on changes, from run folders to outcomes: an unchanged model breaks none, a changed one the right ones."""

from __future__ import annotations

import functools
import itertools
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis import runs
from analysis.check import changes
from analysis.check.baseline import open_baseline, save_baseline
from analysis.check.outcomes import (
    BROKEN,
    CANNOT_TELL,
    HOLDS,
    Outcome,
    choose_decision_of_each_outcome,
    decide_rule_from_outcomes,
)
from analysis.check.rules import KURTOSIS, LIKE_THESE, NOT_WORSE, RANKING, SAME_ANSWERS, Rule
from analysis.compare.pairing import PairedRuns, pair_studies_of_two_run_sets
from analysis.runs import Runs
from ground.errors import InputError
from helpers.choice_runs import LETTERS, questions, write_choice
from helpers.scored_runs import draw_scores, write_scored
from helpers.synthetic import write_run

pytestmark = pytest.mark.slow


def make_rule(kind: str, target: str = "", **fields: object) -> Rule:
    limits = {SAME_ANSWERS: {"at_least": 0.95}}.get(kind, {})
    return Rule(f"{kind} {target}", f"{kind} {target}", kind, target, **{**limits, **fields})


@functools.lru_cache(maxsize=1)
def open_as_baseline(before: Path) -> Runs:
    """A run, saved as a baseline and read from there."""
    return open_baseline(save_baseline(runs.open_runs(before), "b", before.parent / f"baseline of {before.name}"))


@functools.lru_cache(maxsize=1)
def pair_with_baseline(run: Path, before: Path) -> PairedRuns:
    """A run beside its baseline: as one command does for all its rules."""
    return pair_studies_of_two_run_sets(
        runs.open_runs(run), open_as_baseline(before), side_names=("the run", "the baseline")
    )


def check(rule: Rule, run: Path, before: Path) -> tuple[str, list[Outcome], list[str]]:
    """What is decided about a rule, its outcomes, and the notes."""
    paired = pair_with_baseline(run, before)
    outcomes = changes.compute_outcomes_of_change_rule(rule, paired)
    return decide_rule_from_outcomes(choose_decision_of_each_outcome(outcomes)), outcomes, paired.notes


def draw_opinions(models: dict[str, float], items: int = 200, wordings: int = 4, seed: int = 0) -> pd.DataFrame:
    """Answers to statements that are true: each model is right with its probability, all wordings of an item alike."""
    draw = np.random.default_rng(seed)
    rows = []
    for model, ability in models.items():
        for item, chance in enumerate(draw.random(items)):
            for wording in range(wordings):
                share = draw.uniform(0.6, 0.9) if chance < ability else draw.uniform(0.1, 0.4)
                rows.append((model, f"i{item:03d}", f"p{wording}", share))
    frame = pd.DataFrame(rows, columns=["model", "item", "variant", "agreement"])
    places = zip(frame["item"].str[1:].astype(int), frame["variant"].str[1:].astype(int), strict=True)
    # No text is a template that items share.
    return frame.assign(gold="agree", text=[f"Thing {(i + 3) * (k + 2) * 7919 % 10007} of {i}" for i, k in places])


def write_fresh(path: Path, frame: pd.DataFrame, word: str) -> Path:
    """A run in wordings of its own, beside originals that all runs share."""
    fresh = frame.assign(text=[f"{word} {n % 797} {text}" for n, text in enumerate(frame["text"])])
    originals = frame.drop_duplicates(["model", "item"]).assign(variant="original", text="Original.")
    return write_run(path, pd.concat([fresh, originals.assign(text=originals["item"])]))


KINDS = [make_rule(NOT_WORSE, "accuracy"), make_rule(NOT_WORSE, "agreement"), make_rule(NOT_WORSE, "flips"),
         make_rule(SAME_ANSWERS), make_rule(RANKING)]  # fmt: skip


def test_the_same_run_holds_all_rules_of_200_items(tmp_path):
    run = write_run(tmp_path / "run", draw_opinions({"m": 0.9, "n": 0.5}))
    for rule, wordings in itertools.product(KINDS, ("these", LIKE_THESE)):
        like = Rule(**{name: getattr(rule, name) for name in Rule.__slots__} | {"wordings": wordings})
        decision, outcomes, _ = check(like, run, run)
        assert decision == HOLDS, (rule.kind, outcomes)
        assert len(outcomes) == (1 if rule.kind == RANKING else 2)


def test_each_change_breaks_its_rule_and_the_worse_model_is_named(tmp_path):
    before = write_run(tmp_path / "before", draw_opinions({"m": 0.9, "n": 0.5}))
    now = write_run(tmp_path / "now", draw_opinions({"m": 0.4, "n": 0.5}))
    decision, outcomes, _ = check(make_rule(NOT_WORSE, "accuracy"), now, before)
    assert decision == BROKEN
    m, n = outcomes
    assert (m.model, m.condition, m.limit) == ("m", "plain/yes-no", -0.02) and m.number < -0.3 and m.before > 0.8
    assert n.model == "n" and n.number == 0
    assert check(make_rule(NOT_WORSE, "accuracy", models=("n",)), now, before)[0] == HOLDS
    assert check(make_rule(SAME_ANSWERS), now, before)[0] == BROKEN
    decision, (order,), _ = check(make_rule(RANKING), now, before)
    assert decision == BROKEN or order.number < 0
    assert order.model == "m > n" and order.before > 0.3


def test_models_that_hardly_answer_are_not_ranked(tmp_path):
    """Their order "held" on what few answers are left, which no page ranks."""
    frame = draw_opinions({"m": 0.9, "n": 0.5})
    silent, whole = (write_run(tmp_path / str(mass), frame.assign(mass=mass)) for mass in (0.1, 0.9))
    decision, outcomes, notes = check(make_rule(RANKING), silent, silent)
    assert (decision, outcomes) == (CANNOT_TELL, [])
    assert any("less than half is surely an answer: m and n" in note for note in notes), notes
    decision, (order,), _ = check(make_rule(RANKING), silent, whole)
    assert decision == CANNOT_TELL and order.test == "no test: of one model, less than half is surely an answer now"
    assert check(make_rule(RANKING), whole, whole)[0] == HOLDS


def test_a_baseline_that_finds_no_order_of_models_says_none(tmp_path):
    run = write_run(tmp_path / "run", draw_opinions({"a": 0.5, "b": 0.5}, items=8))
    notes = check(make_rule(RANKING), run, run)[2]
    assert any("finds the order of none of 1 pair of models; nothing is tested" in note for note in notes)


def test_fresh_wordings_of_an_unchanged_model_break_nothing_and_are_said_to_be_fresh(tmp_path):
    frames = [draw_opinions({"m": 0.9, "n": 0.5}, seed=seed) for seed in (1, 1)]
    draw = np.random.default_rng(4)
    for frame in frames:  # each wording is answered anew around its item
        frame["agreement"] = np.clip(frame["agreement"] + draw.normal(0, 0.12, len(frame)), 0.01, 0.99)
    now, before = (write_fresh(tmp_path / word, frame, word) for word, frame in zip(("a", "b"), frames, strict=True))
    for rule in KINDS:
        decision, outcomes, notes = check(rule, now, before)
        assert decision in (HOLDS, CANNOT_TELL)
        assert all("wordings like these" in outcome.note for outcome in outcomes)
        assert any("share few rewordings or none" in note for note in notes)


def test_another_favourite_option_is_another_answer_though_as_wrong(tmp_path):
    asked = questions(40, 2, choices=(4,))
    is_wrong = asked["item"].str[-1] == "7"

    def answer(letter: int) -> pd.DataFrame:
        """All right, but of the items that end in 7 the first or second wrong letter of the question's own order."""
        taken = []
        for row, wrong in zip(asked.to_dict("records"), is_wrong, strict=True):
            others = [name for name in LETTERS[:4] if name != row["gold"]]
            own = others[letter] if wrong else row["gold"]
            taken.append(row["options"][row["canonical"].index(own)])
        return asked.assign(model="m", condition="plain/base/letters", answer=taken)

    before, now = (write_choice(tmp_path / str(letter), answer(letter)) for letter in (0, 1))
    (worse,) = check(make_rule(NOT_WORSE, "accuracy"), now, before)[1]
    (same,) = check(make_rule(SAME_ANSWERS), now, before)[1]
    assert worse.number == 0 and same.number == pytest.approx(1 - 4 / 40)


def test_for_wordings_like_these_it_says_that_it_is_no_share_of_items(tmp_path):
    """Of an item of which a quarter of the answers are other ones now, 1/16 is lost, by its definition."""
    frame = draw_opinions({"m": 0.9}, wordings=40)
    is_turned = frame.groupby("item").cumcount() % 4 == 1
    before = write_fresh(tmp_path / "before", frame, "a")
    now = write_fresh(tmp_path / "now", frame.assign(agreement=abs(is_turned - frame["agreement"])), "a")
    (these,) = check(make_rule(SAME_ANSWERS), now, before)[1]
    (like,) = check(make_rule(SAME_ANSWERS, wordings="like these"), now, before)[1]
    assert these.measure == "same answers" and these.note == ""
    assert like.number == pytest.approx(1 - (1 - these.number) ** 2, abs=0.01)
    assert like.measure == "1 less half the squared change of shares of answers"
    assert like.note == f"of answers to the same wordings, {these.number:.3g} are as before"


def test_scores_are_as_before_at_the_nearest_whole_number_and_lower_may_be_better(tmp_path):
    frame = draw_scores(["m"], items=80, wordings=3, measures=("likert", "ms"))
    before = write_scored(tmp_path / "before", frame)
    is_ms = frame["condition"] == "ms"
    now = write_scored(tmp_path / "now", frame.assign(score=frame["score"] + np.where(is_ms, 50.0, 0.0)))
    (same,) = check(make_rule(SAME_ANSWERS), now, before)[1]
    assert (same.number, same.measure) == (1.0, "same answers")
    decision, (slower,), _ = check(make_rule(NOT_WORSE, "ms", margin=20.0), now, before)
    assert decision == BROKEN and slower.number == pytest.approx(-50) and slower.limit == -20
    is_piled = frame["item"].isin(sorted(frame["item"].unique())[::2])
    piled = write_scored(tmp_path / "piled", frame.assign(score=frame["score"].mask(~is_ms & is_piled, 3.0)))
    for run, expected in ((before, CANNOT_TELL), (now, CANNOT_TELL), (piled, BROKEN)):
        decision, (peak,), _ = check(make_rule(KURTOSIS, "likert"), run, before)
        assert decision == expected and peak.lower != peak.lower, (run, peak)
    with pytest.raises(InputError, match="no range, so say how much worse"):
        check(make_rule(NOT_WORSE, "ms"), now, before)
    with pytest.raises(InputError, match="likert counts as a share of its range, 0 to 1: by 1 is no margin"):
        check(make_rule(NOT_WORSE, "likert", margin=1.0), now, before)  # a point of 1-5 held whatever was answered


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (make_rule(NOT_WORSE, "acuracy"), "nearest is 'accuracy'"),
        (make_rule(NOT_WORSE, "accuracy", conditions=("plain/yes",)), "nothing in common"),
        (make_rule(RANKING, models=("m",)), "needs two models"),
    ],
)
def test_what_is_not_in_both_is_told(tmp_path, rule, words):
    run = write_run(tmp_path / "run", draw_opinions({"m": 0.9, "n": 0.5}, items=10))
    with pytest.raises(InputError, match=words):
        check(rule, run, run)


def test_other_settings_and_another_name_are_noted(tmp_path):
    frame = draw_opinions({"m": 0.9}, items=10)
    before, now = (write_run(tmp_path / name, frame) for name in ("before", "now"))
    info = json.loads((now / "run.json").read_text("utf-8"))
    info["models"]["m"]["dtype"] = "bfloat16"
    for fields in info["conditions"].values():
        fields["temperature"], fields["prompt_hash"] = 0.7, "f" * 64
    (now / "run.json").write_text(json.dumps(info), "utf-8")
    (note,) = check(make_rule(NOT_WORSE, "agreement"), now, before)[2]
    assert note.startswith("m (plain/yes-no) in synthetic: dtype is bfloat16 in the run and ")
    assert "temperature is 0.7 in the run and not recorded in the baseline" in note and "prompt_hash is ffff" in note
    other = write_run(tmp_path / "other", draw_opinions({"n": 0.9}, items=10))
    notes = check(make_rule(NOT_WORSE, "agreement"), other, before)[2]
    assert "n (plain/yes-no) is compared with m (plain/yes-no) in the baseline" in notes
