"""`waver plan --check`: what each rule of a file needs to be decided, from a pilot."""

from __future__ import annotations

import contextlib
import csv
import functools
import io
import json
import math
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest

from analysis.__main__ import main
from analysis.check.outcomes import Outcome
from analysis.check.planning import designs
from analysis.check.planning.aims import Aim
from analysis.check.planning.numbers import list_aims_of_number_rule
from analysis.check.rules import NUMBER, Rule
from helpers.choice_runs import answers, questions, write_choice
from helpers.scale_runs import draw_answers, write_scale
from helpers.synthetic import paraphrases, random_frame, write_run

SCHEMA = json.loads((Path(designs.__file__).parent / "schema.json").read_text("utf-8"))
CHANGES = """
wordings = "{wordings}"
looks = {looks}
[[rule]]
require = "not worse by 0.1 in agreement"
[[rule]]
require = "same answers as before on 90 % of items"
"""


@pytest.fixture(scope="module")
def pilot(tmp_path_factory):
    """Two models, 40 items in 6 paraphrases."""
    frame = random_frame(["a", "b"], items=40, paraphrases=6, seed=1).assign(mass=0.9)
    frame["text"] = frame["item"] + " " + frame["variant"] + " " + frame.index.astype(str)
    return str(write_run(tmp_path_factory.mktemp("pilot") / "run", frame))


@pytest.fixture(scope="module")
def plan_check(pilot, tmp_path_factory):
    """Plan for a file of rules: the rows, and what is told beside; several tests ask for the same plan."""
    file = tmp_path_factory.mktemp("rules") / "rules.toml"

    @functools.cache
    def plan(rules: str, *options: str) -> tuple[list[dict[str, str]], str]:
        file.write_text(rules, encoding="utf-8")
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            assert main(["plan", pilot, "--check", str(file), *options]) == 0
        return list(csv.DictReader(io.StringIO(out.getvalue()))), err.getvalue()

    return plan


def list_items(rows, rule, decided):
    return [int(row["items"]) for row in rows if row["rule"] == rule and row["decided"] == decided]


@pytest.mark.slow
def test_the_same_answers_show_it_from_so_many_items_on_that_chance_would_not(plan_check):
    rows, told = plan_check(CHANGES.format(wordings="these", looks=1))
    for rule in ("not worse by 0.1 in agreement", "same answers as before on 90 % of items"):
        assert list_items(rows, rule, "holds, if nothing changed") == [math.ceil(math.log(0.025) / math.log(0.9))]
    assert "is decided with power 0.8; " in told
    assert {row["wordings"] for row in rows if row["decided"] == "holds, if nothing changed"} == {"1"}


@pytest.mark.slow
def test_fresh_wordings_more_looks_and_more_rules_take_more_items(plan_check):
    rule, broken = "not worse by 0.1 in agreement", "is broken, if agreement is worse by 0.2 here and there"
    alone = f'wordings = "like these"\n[[rule]]\nrequire = "{rule}"\n'
    calls = [alone, CHANGES.format(wordings="like these", looks=1), CHANGES.format(wordings="like these", looks=50)]
    plans = [plan_check(call)[0] for call in calls]
    needs = [list_items(rows, rule, broken)[0] for rows in plans]
    assert needs == sorted(set(needs))
    held = [list_items(rows, rule, "holds, if nothing changed")[0] for rows in plans]
    assert len(set(held)) == 1  # that a rule holds is not corrected


@pytest.mark.slow
def test_designs_begin_with_the_fewest_prompts_and_go_on_to_fewer_items(plan_check):
    rows, _ = plan_check(CHANGES.format(wordings="like these", looks=1))
    for goal in {(row["rule"], row["decided"]) for row in rows}:
        own = [row for row in rows if (row["rule"], row["decided"]) == goal]
        prompts, items = [int(row["prompts"]) for row in own], [int(row["items"]) for row in own]
        assert prompts == sorted(prompts) and items == sorted(items, reverse=True) and min(items) >= 30
        assert all(int(row["prompts"]) == int(row["items"]) * int(row["wordings"]) for row in own)


@pytest.mark.slow
def test_a_larger_change_and_less_power_take_fewer_items(plan_check):
    rule = CHANGES.format(wordings="these", looks=1)
    small, large = (
        plan_check(rule, "--change", change)[0] for change in ("0.15", "0.3")
    )  # fmt: skip
    name = "not worse by 0.1 in agreement"
    of_small = list_items(small, name, "is broken, if agreement is worse by 0.15 here and there")
    of_large = list_items(large, name, "is broken, if agreement is worse by 0.3 here and there")
    assert of_small[0] > of_large[0]
    weak, told = plan_check(rule, "--change", "0.15", "--power", "0.5")
    assert list_items(weak, name, "is broken, if agreement is worse by 0.15 here and there")[0] < of_small[0]
    assert "with power 0.5" in told


@pytest.mark.slow
def test_what_the_pilot_does_not_tell_is_said(plan_check):
    rows, told = plan_check(
        '[[rule]]\nrequire = "ranking as before"\n[[rule]]\nrequire = "not worse by 0.9 in agreement"\n'
    )
    assert "not worse by 0.9 in agreement: is broken, if agreement is worse by 1.8" in told
    assert "it cannot be worse by 1.8" in told
    assert "no two models whose order" in told or any(row["model"] in ("a > b", "b > a") for row in rows)


@pytest.mark.slow
def test_flips_in_fresh_wordings_are_planned_for_several(plan_check):
    rows, _ = plan_check('wordings = "like these"\n[[rule]]\nrequire = "not worse by 0.1 in flips"\n')
    assert {row["measure"] for row in rows} == {"flips"} and min(int(row["wordings"]) for row in rows) > 1
    assert {row["decided"] for row in rows} == {"holds, if nothing changed", "is broken, if 0.2 more of the items flip"}


@pytest.mark.slow
def test_a_number_is_planned_for_the_side_on_which_the_pilot_has_it(plan_check):
    rows, _ = plan_check(
        '[[rule]]\nrequire = "agreement >= 0.05"\n[[rule]]\nrequire = "agreement >= 0.95"\n'
        '[[rule]]\nrequire = "flips <= 0.01"\n[[rule]]\nrequire = "stability.sd_mean <= 0.9"\n'
    )
    decided = {row["rule"]: row["decided"] for row in rows}
    assert decided == {
        "agreement >= 0.05": "holds, if it is as in the pilot",
        "agreement >= 0.95": "is broken, if it is as in the pilot",
        "flips <= 0.01": "is broken, if it is as in the pilot",
        "stability.sd_mean <= 0.9": "holds, if it is as in the pilot",
    }
    # so far from the limit, the least that is tried is enough
    assert {int(row["items"]) for row in rows} == {30}


@pytest.mark.slow
def test_a_count_has_no_size(plan_check):
    rows, told = plan_check('[[rule]]\nrequire = "stability.n_items >= 10"\n')
    assert rows == [] and "a count without uncertainty: decided by any size (synthetic · a" in told


@pytest.mark.slow
def test_the_same_as_json_keeps_its_schema(plan_check, pilot, tmp_path, capsys):
    rules = CHANGES.format(wordings="these", looks=1)
    rows, told = plan_check(rules)
    (tmp_path / "rules.toml").write_text(rules, encoding="utf-8")
    assert main(["plan", pilot, "--check", str(tmp_path / "rules.toml"), "--json"]) == 0
    printed = capsys.readouterr()
    content = json.loads(printed.out)
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.Draft202012Validator(SCHEMA).validate(content)
    assert printed.err == "" and content["notes"] == told.splitlines()
    assert content["goal"] == {
        "standard_error": None, "difference": None, "check": str(tmp_path / "rules.toml"), "power": 0.8,
    }  # fmt: skip
    as_text = [{key: "" if value is None else str(value) for key, value in row.items()} for row in content["designs"]]
    assert as_text == rows


@pytest.mark.slow
@pytest.mark.parametrize(("goal", "fields"), [("--se", (0.02, None, None)), ("--difference", (None, 0.02, 0.8))])
def test_designs_for_a_goal_as_json(pilot, capsys, goal, fields):
    assert main(["plan", pilot, goal, "0.02"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert main(["plan", pilot, goal, "0.02", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator(SCHEMA).validate(content)
    assert tuple(content["goal"][name] for name in ("standard_error", "difference", "power")) == fields
    assert content["measure"] == "agreement"
    assert [(str(design["items"]), str(design["wordings"])) for design in content["designs"]] == [
        (row["items"], row["wordings"]) for row in rows
    ]
    assert [design["standard_error"] for design in content["designs"]] == pytest.approx(
        [float(row["standard_error"]) for row in rows], rel=1e-5
    )


@pytest.mark.slow
def test_a_ranking_is_planned_under_the_condition_that_its_rule_names(tmp_path, capsys):
    """Only the first condition of every model in run.json was ranked: no pair was found under another one."""
    draw, frames = np.random.default_rng(0), []
    for condition in ("chat/0-shot", "chat/4-shot"):
        for model, low in (("a", 0.5), ("b", 0.1)):
            agreements = {f"i{n:02}": row for n, row in enumerate(low + draw.random((40, 2)) / 2)}
            frames.append(paraphrases(agreements, model=model, condition=condition))
    run = write_run(tmp_path / "run", pd.concat(frames))
    (tmp_path / "rules.toml").write_text('[[rule]]\nrequire = "ranking as before"\nconditions = ["chat/4-shot"]\n')
    assert main(["plan", str(run), "--check", str(tmp_path / "rules.toml")]) == 0
    (row, *_) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert (row["model"], row["condition"]) == ("a > b", "chat/4-shot")


@pytest.mark.slow
def test_numbers_without_a_test_do_not_lower_the_level_of_the_others(plan_check):
    rule = '[[rule]]\nrequire = "agreement >= 0.55"\n'
    alone, beside = plan_check(rule)[0], plan_check(rule + '[[rule]]\nrequire = "stability.n_items >= 1"\n')[0]
    assert [row for row in beside if row["rule"] == "agreement >= 0.55"] == alone


def test_a_column_that_does_not_say_its_items_has_no_size():
    """`waver plan --check` ended by a division by zero."""
    rule = Rule("meaning_checks.auc >= 0.6", "auc", NUMBER, "meaning_checks.auc", at_least=0.6)
    outcome = Outcome(rule, "s", "m", "", "auc", 0.8, 0.7, 0.9, 0.6, 1.0, 0.001, 0, math.nan, "interval of the table")
    (aim,) = list_aims_of_number_rule([outcome], [], 0.025)
    assert aim.why_not == "the table does not say of how many items it is"


@pytest.mark.slow
def test_no_more_than_all_answers_change(plan_check):
    """Of a rule that allows .6, a change of 1.2 was "within what the rule allows", and nothing else was planned."""
    rule = '[[rule]]\nrequire = "same answers as before on 40 % of items"\n'
    rows, told = plan_check(rule)
    assert {row["decided"] for row in rows} >= {
        "holds, if nothing changed",
        "is broken, if 1 of the answers change here and there",
    }
    rows, told = plan_check(rule, "--change", "1.2")
    assert {row["decided"] for row in rows} == {"holds, if nothing changed"}
    assert "no more than all answers can change" in told


@pytest.mark.slow
def test_a_rule_that_allows_no_change_is_planned_for_the_change_of_the_call(plan_check):
    """It ended in a RecursionError: twice the change that it allows is none."""
    rule = '[[rule]]\nrequire = "same answers as before on 100 % of items"\n'
    rows, told = plan_check(rule)
    assert (
        rows == [] and "if 0 of the answers change here and there: the rule allows it; give a larger --change" in told
    )
    rows, told = plan_check(rule, "--change", "0.1")
    assert {row["decided"] for row in rows} == {
        f"is broken, if 0.1 of the answers change {spread}" for spread in ("here and there", "in whole items")
    }
    assert "holds, if nothing changed: out of reach" in told


@pytest.mark.slow
def test_one_wording_in_two_orders_is_planned_as_one_wording(tmp_path, capsys):
    """It was planned for up to 500 wordings, of which the pilot tells nothing."""
    asked = questions(40, 2)
    run = write_choice(tmp_path / "run", answers(asked[asked["pattern"] == asked["pattern"][0]]))
    (tmp_path / "rules.toml").write_text('[[rule]]\nrequire = "same answers as before on 90 % of items"\n')
    assert main(["plan", str(run), "--check", str(tmp_path / "rules.toml")]) == 0
    assert {row["wordings"] for row in csv.DictReader(io.StringIO(capsys.readouterr().out))} == {"1"}


@pytest.mark.slow
def test_a_change_of_validity_has_no_plan_and_does_not_stop_that_of_other_rules(plan_check):
    """`waver check` tests it; the plan ended: "the pilot has nothing that it is about"."""
    same = "same answers as before on 90 % of items"
    rows, told = plan_check(f'[[rule]]\nrequire = "not worse in validity"\n[[rule]]\nrequire = "{same}"\n')
    assert {row["rule"] for row in rows} == {same}
    assert "not worse in validity: holds, if nothing changed: how far validity moves is not foreseen" in told


def test_a_number_that_is_the_limit_but_for_rounding_is_the_limit():
    """Of .3 and .1 + .2, the plan was that the rule be broken."""
    rule = Rule("accuracy <= 0.3", "accuracy", NUMBER, "accuracy", at_most=0.3)
    outcome = Outcome(rule, "s", "m", "", "accuracy", 0.1 + 0.2, 0.1, 0.5, 0.3, 0.5, 0.5, 30, 1.0, "t over items")
    (aim,) = list_aims_of_number_rule([outcome], [], 0.025)
    assert aim.why_not == "the number is the limit" and aim.goal.startswith("holds")


@pytest.mark.slow
def test_a_kurtosis_has_no_plan_and_a_line_says_so(plan_check):
    """It ended in a traceback."""
    rows, told = plan_check('[[rule]]\nrequire = "kurtosis of agreement as before"\n')
    assert rows == [] and "how a kurtosis will change is not known" in told


def test_studies_of_other_numbers_of_wordings_have_designs_of_their_own(tmp_path, capsys):
    """The rule was said to be out of reach, though each study alone had a design."""
    for study, n_wordings in (("few", 3), ("many", 5)):
        write_scale(tmp_path / "run" / study, draw_answers(["a"], items=10, wordings=n_wordings), study=study)
    (tmp_path / "rules.toml").write_text('[[rule]]\nrequire = "scales_scores.score >= 0.1"\n')
    assert main(["plan", str(tmp_path / "run"), "--check", str(tmp_path / "rules.toml")]) == 0
    printed = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(printed.out)))
    assert [(row["study"], row["items"], row["wordings"]) for row in rows] == [("few", "30", "2"), ("many", "30", "4")]
    assert "each study, or number of wordings, has designs of its own (few · a · plain · score (scale care), few" in (
        printed.err
    )
    assert "out of reach" not in printed.err


@pytest.mark.parametrize(
    ("wordings", "n_reached", "groups"),
    [
        ([(1, 5), (5,), (5, 8)], 3, {"abc": True}),
        ([(5,), (5,), (8,)], 3, {"ab": True, "c": True}),
        ([(5,), (8,), (8,)], 3, {"a": True, "b": True, "c": True}),
        ([(5,), (5,), (5,)], 2, {"ab": True, "c": False}),
        ([(5,), (5,), (5,)], 1, {"a": True, "bc": False}),
        ([(5,), (8,), (8,)], 2, {"a": True, "b": True, "c": False}),
    ],
)
def test_numbers_out_of_reach_are_left_out_and_others_planned_apart_only_where_no_design_decides_all(
    wordings, n_reached, groups
):
    """Models a and b are of one study, c is of another."""
    rule = Rule("score >= 0.1", "score", NUMBER, "score", at_least=0.1)
    aims = [
        Aim(rule, "holds", study, model, "", "score", tried, lambda _, __, power=float(place < n_reached): power)
        for place, (study, model, tried) in enumerate(zip("sst", "abc", wordings, strict=True))
    ]
    plans = designs.plan_fewest_groups_of_aims(aims, 0.8)
    assert {"".join(aim.model for aim in group): bool(planned) for group, planned in plans} == groups


def test_a_number_out_of_reach_is_named_and_the_others_of_its_study_are_planned(tmp_path, capsys):
    """All numbers of the study were said to be out of reach, and the line named the first model."""
    frame = pd.concat([
        paraphrases({f"i{n:02}": [low + n % 2 * 0.2] * 3 for n in range(40)}, model=model)
        for model, low in (("a", 0.4000001), ("b", 0.7))
    ])  # fmt: skip
    run = write_run(tmp_path / "run", frame)
    (tmp_path / "rules.toml").write_text('[[rule]]\nrequire = "agreement >= 0.5"\n')
    assert main(["plan", str(run), "--check", str(tmp_path / "rules.toml")]) == 0
    printed = capsys.readouterr()
    assert {row["model"] for row in csv.DictReader(io.StringIO(printed.out))} == {"b"}
    assert "agreement >= 0.5: holds, if it is as in the pilot: out of reach with the wordings that are tried " in (
        printed.err
    )
    assert "(synthetic · a · plain/yes-no)" in printed.err
