"""Rules on columns: which rows and which interval. Every numeric column of every table: reporting/test_pages.py."""

from __future__ import annotations

import functools
import math
from pathlib import Path

import pandas as pd
import pytest
from scipy import stats

from analysis import runs
from analysis.check import numbers
from analysis.check.grammar import parse_rule_sentence_into_fields
from analysis.check.limits import columns
from analysis.check.outcomes import COUNTED, Outcome, choose_decision_of_each_outcome
from analysis.check.rules import Rule
from analysis.reporting.catalogue import map_page_names_to_catalogues
from analysis.reporting.catalogue.tables import build_table
from ground.errors import InputError
from helpers.choice_runs import answers, questions, write_choice
from helpers.page_runs import FULL
from helpers.scored_runs import draw_scores, write_scored
from helpers.synthetic import paraphrases, random_frame, write_run
from helpers.wording_runs import write_family

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


def refuse(path: Path, sentence: str, **fields: object) -> str:
    with pytest.raises(InputError) as raised:
        check(path, sentence, **fields)
    return str(raised.value)


@pytest.fixture(scope="module")
def opinions(tmp_path_factory) -> Path:
    frame = random_frame(["gpt2", "opt"], items=24, conditions=["plain/yes-no", "plain/no-yes"])
    return write_run(tmp_path_factory.mktemp("check") / "run", frame.assign(text=name_own_wordings(frame)))


def name_own_wordings(frame: pd.DataFrame) -> list[str]:
    """Texts that no two items share, so that wordings belong to their items."""
    return [
        f"{item}, said in way {(int(item[-2:]) + 1) * len(variant) * (ord(variant[-1]) - 40)}."
        for item, variant in zip(frame["item"], frame["variant"], strict=True)
    ]


@pytest.mark.slow
def test_a_share_is_tested_by_the_exact_binomial_test_of_its_items(opinions):
    table = build_table("stability", runs.open_runs(opinions)).set_index(["model", "condition"])
    outcomes = check(opinions, "stability.flip_10 <= 0.20")
    assert [(o.model, o.condition) for o in outcomes] == list(table.index)
    for outcome in outcomes:
        row = table.loc[(outcome.model, outcome.condition)]
        flips, n = round(row["flip_10"] * row["n_items"]), int(row["n_items"])
        assert (outcome.number, outcome.limit, outcome.n_items) == (row["flip_10"], 0.2, n)
        assert outcome.p_broken == pytest.approx(stats.binomtest(flips, n, 0.2, "greater").pvalue, rel=1e-6)
        assert outcome.p_holds == pytest.approx(stats.binomtest(flips, n, 0.2, "less").pvalue, rel=1e-6)
        assert (outcome.test, outcome.measure, outcome.study) == ("exact binomial", "flip_10", "synthetic")


@pytest.mark.slow
def test_at_least_and_at_most_are_told_apart(opinions):
    most, least = (check(opinions, f"stability.flip_10 {sign} 0.4", models=("opt",))[0] for sign in ("<=", ">="))
    assert (most.p_broken, most.p_holds) == (least.p_holds, least.p_broken)
    assert (most.lower, most.upper) == (least.lower, least.upper)


@pytest.mark.slow
def test_a_column_without_intervals_is_counted_and_decided_as_it_is(opinions):
    kept, broken = check(opinions, "stability.n_items >= 24")[0], check(opinions, "stability.n_items >= 25")[0]
    assert kept.test == broken.test == COUNTED and math.isnan(kept.lower)
    assert choose_decision_of_each_outcome([kept, broken]) == ["holds", "broken"]
    assert (kept.p_broken, kept.p_holds, broken.p_broken, broken.p_holds) == (1, 0, 0, 1)


@pytest.mark.slow
def test_a_row_without_the_interval_of_its_column_cannot_be_told_and_says_why(tmp_path):
    (outcome,) = check(write_run(tmp_path / "run", paraphrases({"a": [0.4, 0.6]})), "stability.range_mean <= 0.5")
    assert choose_decision_of_each_outcome([outcome]) == ["cannot tell"]
    assert "one item only" in outcome.note


@pytest.mark.slow
def test_models_and_conditions_keep_rows_and_pairs_of_them(opinions):
    rule = {"models": ("opt",), "conditions": ("plain/no-yes",)}
    (row,) = check(opinions, "stability.flip_10 <= 0.2", **rule)
    assert (row.model, row.condition) == ("opt", "plain/no-yes")
    pairs = check(opinions, "differences.difference <= 0.9", models=("opt",))
    assert {pair.model for pair in pairs} == {"gpt2 - opt", "opt"}
    assert len({(pair.model, pair.condition, pair.measure) for pair in pairs}) == len(pairs)


@pytest.mark.slow
def test_options_of_the_table_are_those_of_waver_table(opinions):
    (row,) = check(opinions, "stability.flip_12 <= 0.2", models=("opt",), conditions=("plain/no-yes",),
                   parameters={"thresholds": "0.12"})  # fmt: skip
    assert row.measure == "flip_12"
    assert "no option 'threshold'" in refuse(opinions, "stability.flip_10 <= 0.2", parameters={"threshold": "0.1"})


@pytest.mark.slow
def test_an_interval_over_items_is_for_wordings_like_these_where_each_item_has_its_own(opinions):
    these, like = (check(opinions, "stability.flip_10 <= 0.2", wordings=words) for words in ("these", LIKE))
    assert [o.p_broken for o in these] == [o.p_broken for o in like]


@pytest.mark.slow
def test_where_items_share_their_wordings_the_line_names_what_allows_for_others(tmp_path):
    path = write_family(tmp_path / "run")
    opened = runs.open_runs(path)
    table, column = next(
        (table, name)
        for table in map_page_names_to_catalogues()["wording"].tables
        for frame in [build_table(table, opened)]
        for name in frame
        if f"{name}_lower" in frame
    )
    line = refuse(path, f"{table}.{column} >= 0.1", wordings=LIKE)
    assert "share their wordings" in line and "wording_precision.mean" in line and 'wordings = "these"' in line
    assert "has no interval" in refuse(path, "wording_precision.error <= 0.1", wordings=LIKE)
    assert check(path, "wording_precision.n_items >= 1", wordings=LIKE)[0].test == COUNTED


@pytest.mark.slow
def test_an_interval_for_wordings_like_these_is_taken_where_there_is_one(tmp_path):
    path = write_scored(tmp_path / "run", draw_scores(["m"], items=40, wordings=4, crossed=True))
    frame = build_table("scored_means", runs.open_runs(path))
    these, like = (check(path, "scored_means.mean >= 0.3", wordings=words)[0] for words in ("these", LIKE))
    assert like.lower < these.lower < these.upper < like.upper
    assert like.lower < frame["like_lower"][0] and frame["like_upper"][0] < like.upper  # it allows for an item more
    assert these.n_wordings == 4


@pytest.mark.slow
def test_scores_in_their_own_unit_have_its_ends(tmp_path):
    path = write_scored(tmp_path / "run", draw_scores(["m"], items=40, wordings=4, measures=("likert",)))
    (outcome,) = check(path, "scored_means.mean >= 2")
    assert outcome.test == "interval of the table and one item more"
    assert 1 <= outcome.lower < outcome.number < outcome.upper <= 5


@pytest.mark.slow
def test_rows_of_one_model_are_told_apart_by_their_keys(tmp_path):
    asked = answers(questions(12, orders=3, subsets=["a", "b"]), ["m"])
    outcomes = check(write_choice(tmp_path / "run", asked), "choice.accuracy >= 0.1")
    names = [outcome.measure for outcome in outcomes]
    assert len(set(names)) == len(names) > 1
    assert "accuracy (subset a)" in names


@pytest.mark.slow
def test_printed_numbers_are_no_numbers_of_a_run(tmp_path):
    path, options = FULL["stability"](tmp_path / "run")
    frame = build_table("published", runs.open_runs(path), **options)
    printed = frame[frame["source"] != "these runs"]
    if len(frame):
        assert len(printed) < len(frame)
        assert len(check(path, "published.flip_10 <= 0.2")) == len(frame) - len(printed)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sentence", "fields", "words"),
    [
        ("stability.flip_11 <= 0.2", {}, ("no column 'flip_11'", "flip_10", "--list stability")),
        ("choice.accuracy >= 0.2", {}, ("table choice", "about protocol choice", "of agreement")),
        ("stability.flip_10 <= 0.2", {"conditions": ("yes-no",)}, ("no row of 'yes-no'", "'plain/yes-no'")),
        ("ranking_reliability.tau >= 0.2", {"models": ("opt",)}, ("no column for models", "leave models out")),
        ("stability.flip_10 <= 0.2", {"study": "other"}, ("no row of 'other'", "synthetic")),
        ("published.flip_10 <= 0.2", {}, ("has no row for this run",)),
    ],
)  # fmt: skip
def test_what_a_run_does_not_have_is_one_line(opinions, sentence, fields, words):
    line = refuse(opinions, sentence, **fields)
    assert all(word in line for word in words), line
    assert "\n" not in line


def test_texts_are_read_only_as_far_as_rows_need_them_for_their_names(monkeypatch):
    frame = pd.DataFrame({"model": ["a", "b"], "kind": ["x", "y"], "mean": [0.5, 0.5]})
    monkeypatch.setattr(columns, "_is_cell_without_number", lambda value: pytest.fail(f"{value} was read"))
    assert columns._name_rows_by_texts_and_options(frame, "mean") == ["mean", "mean"]


@pytest.mark.slow
def test_two_outcomes_of_a_row_never_have_the_same_name(opinions):
    frame = pd.DataFrame([(o.study, o.model, o.condition, o.measure) for o in check(opinions, "differences.p >= 0")])
    assert not frame.duplicated().any()
