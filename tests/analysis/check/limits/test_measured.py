"""Rules on measures: exact tests of answers of one wording, panels of several, flips, validity, and refusals."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from analysis import runs
from analysis.check import numbers
from analysis.check.grammar import parse_rule_sentence_into_fields
from analysis.check.limits.number import Number
from analysis.check.limits.panels import compute_tails_of_panel
from analysis.check.outcomes import COUNTED, Outcome, choose_decision_of_each_outcome
from analysis.check.rules import Rule
from analysis.statistics.bounded_mean import compute_p_of_mean_at_most
from analysis.statistics.reliability.panel import estimate_panel_mean
from ground.errors import InputError
from helpers.mean_shapes import allow_errors
from helpers.scored_runs import draw_scores, write_scored
from helpers.synthetic import paraphrases, random_frame, write_run

LIKE = "like these"


@functools.lru_cache(maxsize=1)
def open_run(path: Path) -> runs.Runs:
    """Open a run once for all rules that a test has on it."""
    return runs.open_runs(path)


def check(path: Path, sentence: str, **fields: object) -> list[Outcome]:
    """The outcomes of one rule."""
    return numbers.compute_outcomes_of_number_rule(
        Rule(sentence, sentence, **parse_rule_sentence_into_fields(sentence), **fields), open_run(path)
    )


def write_own_wordings(path: Path, agreements: np.ndarray, **columns: object) -> Path:
    """A run in which every item has wordings of its own."""
    frame = paraphrases({f"i{n:03d}": row for n, row in enumerate(agreements)}, **columns)
    texts = [f"{item}, said in way {(int(item[1:]) + 1) * int(variant[1:])}." for item, variant in
             zip(frame["item"], frame["variant"], strict=True)]  # fmt: skip
    return write_run(path, frame.assign(text=texts))


@pytest.mark.slow
def test_accuracy_in_one_wording_has_the_exact_binomial_test_of_scipy(tmp_path):
    agreements = np.repeat([0.9, 0.2], [22, 8])[:, None]
    path = write_own_wordings(tmp_path / "run", agreements, gold="agree")
    (outcome,) = check(path, "accuracy >= 0.9")
    assert (outcome.number, outcome.n_items, outcome.n_wordings) == (pytest.approx(22 / 30), 30, 1)
    assert outcome.p_broken == pytest.approx(stats.binomtest(22, 30, 0.9, "less").pvalue, rel=1e-9)
    assert outcome.p_holds == pytest.approx(stats.binomtest(22, 30, 0.9, "greater").pvalue, rel=1e-6)
    assert outcome.test == "exact binomial over items"
    assert choose_decision_of_each_outcome([outcome]) == ["broken"]


@pytest.mark.slow
def test_flips_are_those_of_compare_and_for_wordings_like_these_where_items_have_their_own(tmp_path):
    agreements = np.array([[0.9, 0.8, 0.2]] * 9 + [[0.9, 0.8, 0.7]] * 21)
    path = write_own_wordings(tmp_path / "run", agreements)
    for wordings in ("these", LIKE):
        (outcome,) = check(path, "flips <= 0.2", wordings=wordings)
        assert (outcome.number, outcome.n_items, outcome.n_wordings) == (0.3, 30, 3)
        assert outcome.p_broken == pytest.approx(stats.binomtest(9, 30, 0.2, "greater").pvalue, rel=1e-9)


def test_agreement_is_tested_by_the_means_of_items(tmp_path):
    agreements = np.random.default_rng(1).random((40, 5))
    path = write_own_wordings(tmp_path / "run", agreements)
    (outcome,) = check(path, "agreement >= 0.4")
    assert outcome.p_holds == pytest.approx(compute_p_of_mean_at_most(agreements.mean(axis=1), 0.4), rel=1e-6)
    assert outcome.test == "Gaffke's test over items"


def test_validity_is_the_mean_of_what_answers_had_for_both_options(tmp_path):
    mass = np.linspace(0.8, 1, 60).repeat(2)
    frame = paraphrases({f"i{n:03d}": [0.6, 0.7] for n in range(60)})
    (outcome,) = check(write_run(tmp_path / "run", frame.assign(mass=mass)), "validity >= 0.8")
    assert (outcome.number, outcome.measure) == (pytest.approx(0.9), "validity")
    assert outcome.p_holds == pytest.approx(compute_p_of_mean_at_most(np.linspace(0.8, 1, 60), 0.8), rel=1e-6)


@pytest.fixture(scope="module")
def bounded(tmp_path_factory) -> Path:
    frame = paraphrases({f"i{n}": [0.6, 0.7] for n in range(4)}).assign(mass=0.4, mass_upper=0.9)
    return write_run(tmp_path_factory.mktemp("bounded") / "run", frame)


@pytest.fixture(scope="module")
def templates(tmp_path_factory) -> Path:
    """Its texts are templates."""
    return write_run(tmp_path_factory.mktemp("templates") / "run", random_frame(items=10))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "decision"),
    [("validity >= 0.3", "holds"), ("validity >= 0.6", "cannot tell"), ("validity >= 0.95", "broken"),
     ("validity <= 0.95", "holds"), ("validity <= 0.6", "cannot tell"), ("validity <= 0.3", "broken")],
)  # fmt: skip
def test_of_bounds_a_rule_on_validity_is_decided_only_where_both_agree(bounded, rule, decision):
    """The lower bound alone called `validity >= 0.6` broken, though 0.9 may be on the options."""
    (outcome,) = check(bounded, rule)
    assert choose_decision_of_each_outcome([outcome]) == [decision]
    assert "between 0.4 and 0.9" in outcome.note


def test_bounds_that_are_all_1_break_no_rule_by_their_rounding(tmp_path):
    """A mean of 0.05 + 0.95 and its like came out as 1 - 1e-16, and `validity >= 1` as broken."""
    frame = paraphrases({f"i{n:03}": [0.6, 0.7] for n in range(30)}).assign(mass_upper=1.0)
    mass = np.random.default_rng(3).uniform(0.9, 0.99, len(frame))  # of these, the sum is below 1
    assert choose_decision_of_each_outcome(
        check(write_run(tmp_path / "run", frame.assign(mass=mass)), "validity >= 1")
    ) == ["cannot tell"]


@pytest.mark.slow
def test_bounds_of_these_wordings_tell_nothing_of_wordings_like_these(tmp_path):
    """They were refused for having one wording, as no validity of a single answer is known."""
    frame = paraphrases({f"i{n}": [0.6, 0.7] for n in range(4)}).assign(mass=0.95, mass_upper=0.99)
    path = write_run(tmp_path / "run", frame)
    decisions = [
        choose_decision_of_each_outcome(check(path, "validity >= 0.9", wordings=wordings))
        for wordings in ("these", LIKE)
    ]
    assert decisions == [["holds"], ["cannot tell"]]


def test_failed_requests_count_as_not_valid_against_the_whole(tmp_path):
    """Of failed requests only their number counts against the whole: a score that is missing is not valid."""
    frame = draw_scores(["m"], items=40, wordings=1).assign(score=lambda rows: rows["score"].where(rows.index > 3))
    (outcome,) = check(write_scored(tmp_path / "run", frame), "validity >= 0.5")
    assert outcome.number == pytest.approx(0.9)
    assert outcome.test != COUNTED


def test_scores_without_a_range_have_the_t_test(tmp_path):
    frame = draw_scores(["m"], items=60, wordings=1, measures=("ms",))
    path = write_scored(tmp_path / "run", frame)
    (outcome,) = check(path, "ms <= 100")
    scores = frame["score"].to_numpy()
    p = stats.ttest_1samp(scores, 100, alternative="greater").pvalue
    # The test heeds skewness, which only makes it the more careful.
    assert outcome.number == pytest.approx(scores.mean())
    assert p * (1 - 1e-9) <= outcome.p_broken <= 10 * p
    assert outcome.test == "t over items"


def test_without_a_range_a_limit_at_the_true_mean_seldom_holds_where_few_items_differ():
    """Of 10, 11 and rarely 100, most draws of 40 items hold no 100: by t, .38 of them "held" below their true mean."""
    draw, chances, studies = np.random.default_rng(0), [0.93, 0.05, 0.02], 400
    values = np.array([10.0, 11.0, 100.0])
    decided = np.zeros(2)
    for _ in range(studies):
        panel = estimate_panel_mean(
            draw.choice(values, (40, 1), p=chances), False, is_share=False, corrects_skewness=True
        )
        tails = compute_tails_of_panel(panel, float(values @ chances), "items", is_bounded=False)
        decided += [tails.p_at_least < 0.025, tails.p_at_most < 0.025]
    assert (decided <= allow_errors(studies, 0.025)).all(), decided


@pytest.mark.slow
def test_without_a_range_few_items_that_differ_have_no_test(tmp_path):
    """39 items of 10 and one of 11 held `ms <= 10.5`, though one rare item of 100 would break it."""
    frame = draw_scores(["m"], items=40, wordings=1, measures=("ms",))
    frame["score"] = [11.0] + [10.0] * 39
    for sentence in ("ms <= 10.5", "ms >= 10.5"):
        (outcome,) = check(write_scored(tmp_path / sentence[3], frame), sentence)
        assert (
            choose_decision_of_each_outcome([outcome]) == ["cannot tell"]
            and outcome.test == "no test: few items differ"
        )


@pytest.mark.slow
def test_every_unit_has_an_outcome_and_models_and_conditions_keep_some(tmp_path):
    frame = random_frame(["gpt2", "opt"], items=10, conditions=["plain/yes-no", "plain/no-yes"])
    path = write_run(tmp_path / "run", frame)
    assert len(check(path, "agreement >= 0.1")) == len(check(path, "validity >= 0.1")) == 4
    (outcome,) = check(path, "agreement >= 0.1", models=("opt",), conditions=("plain/no-yes",))
    assert (outcome.model, outcome.condition) == ("opt", "plain/no-yes")


@pytest.mark.slow
def test_wordings_that_items_share_widen_what_is_known_of_wordings_like_these(tmp_path):
    path = write_scored(tmp_path / "run", draw_scores(["m"], items=60, wordings=4, crossed=True, wording_sd=1.0))
    these, like = (check(path, "F1 >= 0.3", wordings=words)[0] for words in ("these", LIKE))
    assert like.number == these.number
    assert like.lower < these.lower < these.upper < like.upper
    assert like.test == "Gaffke's test over items and wordings"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sentence", "fields", "words"),
    [
        ("acuracy >= 0.5", {}, ("no measure 'acuracy'", "agreement, flips, validity, logit")),
        ("agreemnt >= 0.5", {}, ("the nearest is 'agreement'",)),
        ("flips <= 0.2", {"wordings": LIKE}, ("flips of wordings like these", "share their wordings", '"these"')),
        ("agreement >= 0.5", {"conditions": ("plain",)}, ("no agreement under 'plain'", "plain/yes-no")),
        ("agreement >= 0.5", {"study": "other"}, ("no measure 'agreement'", "it has none")),
    ],
)
def test_what_a_run_does_not_have_is_one_line(templates, sentence, fields, words):
    with pytest.raises(InputError) as raised:
        check(templates, sentence, **fields)
    assert all(word in str(raised.value) for word in words), raised.value


@pytest.mark.slow
def test_a_limit_beyond_the_range_of_a_score_names_its_share(tmp_path):
    path = write_scored(tmp_path / "run", draw_scores(["m"], items=6, wordings=1, measures=("likert",)))
    with pytest.raises(InputError, match=r"share of its range, 0 to 1: 3\.5 is no limit"):
        check(path, "likert >= 3.5")
    with pytest.raises(InputError, match=r"share of its range, 0 to 1: >= 0 holds whatever it is"):
        check(path, "likert >= 0")
    with pytest.raises(InputError, match="no item has two wordings"):
        check(path, "likert >= 0.5", wordings=LIKE)


def test_scores_too_large_to_be_squared_are_one_line(tmp_path):
    frame = draw_scores(["m"], items=6, wordings=1, measures=("ms",))
    path = write_scored(tmp_path / "run", frame.assign(score=frame["score"] * 1e200))
    with pytest.raises(InputError, match="too large to be squared"):
        check(path, "ms <= 100")


def test_a_single_item_without_bounds_cannot_be_told(tmp_path):
    path = write_scored(tmp_path / "run", draw_scores(["m"], items=1, wordings=1, measures=("ms",)))
    assert choose_decision_of_each_outcome(check(path, "ms <= 100")) == ["cannot tell"]


def test_a_model_that_never_answers_cannot_be_told(tmp_path):
    path = write_run(tmp_path / "run", paraphrases({"a": [np.nan, np.nan], "b": [np.nan, np.nan]}, mass=0.0))
    outcomes = check(path, "agreement >= 0.1")
    assert choose_decision_of_each_outcome(outcomes) == ["cannot tell"] and outcomes[0].note == "no valid answer"


@pytest.mark.usefixtures("only_p")
@pytest.mark.slow
@pytest.mark.parametrize(("share", "effect"), [(0.5, 0.15), (0.9, 0.05)])
def test_at_the_limit_shares_in_shared_wordings_err_in_no_more_than_the_level(share, effect):
    """4 wordings that move all items: for wordings like these, each is drawn anew, and the limit is the mean of all."""
    draw, studies, n, wordings = np.random.default_rng(5), 250, 60, 4
    errors = np.zeros((2, 2))
    for _ in range(studies):
        chances = share + draw.uniform(-effect, effect, wordings)
        panel = estimate_panel_mean((draw.random((n, wordings)) < chances).astype(float), True, is_share=True)
        tails = compute_tails_of_panel(panel, share, "both", is_bounded=True)
        for side, p in enumerate((tails.p_at_most, tails.p_at_least)):
            errors[side] += [p < 0.025, p < 0.025 / 20]
    assert (errors <= [[allow_errors(studies, level) for level in (0.025, 0.025 / 20)]] * 2).all(), errors


@pytest.mark.usefixtures("only_p")
@pytest.mark.slow
@pytest.mark.parametrize("wordings", [3, 10])
def test_an_odd_wording_in_ten_makes_nothing_hold_that_does_not(wordings):
    """Answers to one wording in ten are right half as often: few wordings as a rule hold none of these."""
    draw, studies, n = np.random.default_rng(6), 150, 100
    limit, errors = 0.9 * 0.8 + 0.1 * 0.4, 0
    for _ in range(studies):
        chances = np.where(draw.random(wordings) < 0.1, 0.4, 0.8)
        panel = estimate_panel_mean((draw.random((n, wordings)) < chances).astype(float), True, is_share=True)
        errors += compute_tails_of_panel(panel, limit, "both", is_bounded=True).p_at_most < 0.025
    assert errors <= allow_errors(studies, 0.025)


def test_shared_wordings_that_never_differ_tell_of_so_many_wordings_only():
    """Of 100 valid items in three shared wordings, another wording may have none: p is .9 to the power of 3."""
    panel = estimate_panel_mean(np.ones((100, 3)), True, is_share=True)
    tails = compute_tails_of_panel(panel, 0.9, "both", is_bounded=True)
    assert tails.p_at_most == pytest.approx(0.9**3, rel=1e-9)
    assert tails.lower == pytest.approx(0.025 ** (1 / 3), abs=1e-6) and tails.upper == 1
    assert compute_tails_of_panel(panel, 0.9, "items", is_bounded=True).p_at_most == pytest.approx(0.9**100, rel=1e-6)


@pytest.mark.parametrize(("sentence", "value"), [("accuracy <= 0.3", 0.1 + 0.2), ("accuracy >= 0.8", sum([0.1] * 8))])
def test_a_counted_number_that_is_the_limit_but_for_rounding_keeps_it(monkeypatch, sentence, value):
    """.1 + .2 is 0.30000000000000004: it broke a limit of .3, and the check failed."""
    number = Number("study", "model", "condition", "accuracy", value, None, 10, 1.0)
    monkeypatch.setattr(numbers, "list_numbers_of_units_for_measure_rule", lambda rule, run: [number])
    outcomes = numbers.compute_outcomes_of_number_rule(
        Rule(sentence, sentence, **parse_rule_sentence_into_fields(sentence)), None
    )
    assert choose_decision_of_each_outcome(outcomes) == ["holds"]
