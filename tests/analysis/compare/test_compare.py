"""Comparing two sides: every number against SciPy and statsmodels, and what is paired, left out and told."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.power import TTestPower
from statsmodels.stats.weightstats import ttost_paired

from analysis import runs
from analysis.__main__ import main
from analysis.compare.measures import Chosen, compare_paired_runs
from analysis.compare.pairing import pair_studies_of_two_run_sets
from analysis.compare.power import find_least_difference, find_least_items_for_difference
from ground.errors import InputError
from helpers.scored_runs import draw_scores, write_scored
from helpers.synthetic import random_frame, write_run

SCHEMA = json.loads((Path(__file__).parents[3] / "analysis" / "compare" / "schema.json").read_text("utf-8"))


def compare(a: Path, b: Path, **chosen: object) -> pd.DataFrame:
    """The rows of two run folders; their notes are an attribute."""
    paired = pair_studies_of_two_run_sets(runs.open_runs(a), runs.open_runs(b))
    frame = compare_paired_runs(paired, Chosen(**chosen))
    frame.attrs["notes"] = paired.notes
    return frame


def write_judged(path: Path, values: np.ndarray, model: str = "m", study: str = "synthetic") -> Path:
    """A run of one score per item."""
    rows = pd.DataFrame({"model": model, "condition": "judged", "item": [f"i{n}" for n in range(len(values))],
                         "variant": "original", "text": [f"Text {n}." for n in range(len(values))],
                         "score": values})  # fmt: skip
    return write_scored(path, rows, study=study)


@pytest.mark.slow
def test_paired_t_and_its_interval_are_those_of_scipy_to_1e_12(tmp_path):
    frame = draw_scores(["m", "n"], items=40, wordings=1, measures=("F1",))
    a, b = (frame[frame["model"] == name]["score"].to_numpy() for name in "mn")
    (row,) = compare(*(write_judged(tmp_path / name, scores) for name, scores in (("a", a), ("b", b)))).to_dict(
        "records"
    )
    expected = stats.ttest_rel(a, b)
    assert row["test"] == "paired t"
    assert row["p"] == pytest.approx(expected.pvalue, rel=1e-12)
    assert (row["lower"], row["upper"]) == pytest.approx(tuple(expected.confidence_interval()), rel=1e-12)
    assert row["difference"] == pytest.approx(a.mean() - b.mean(), rel=1e-12)
    assert np.isnan(row["like_lower"]) and row["holds_for"] == "these wordings"


@pytest.mark.slow
def test_answers_of_0_and_1_have_the_exact_test_of_mcnemar(tmp_path):
    draw = np.random.default_rng(3)
    a, b = (draw.random(60) < 0.8).astype(float), (draw.random(60) < 0.6).astype(float)
    (row,) = compare(write_judged(tmp_path / "a", a), write_judged(tmp_path / "b", b)).to_dict("records")
    table = [[((a == x) & (b == y)).sum() for y in (1, 0)] for x in (1, 0)]
    assert row["test"] == "exact McNemar"
    assert row["p"] == pytest.approx(mcnemar(table, exact=True).pvalue, rel=1e-12)


@pytest.mark.slow
def test_equivalence_is_that_of_two_one_sided_tests(tmp_path):
    draw = np.random.default_rng(4)
    a = draw.random(50)
    b = np.clip(a + draw.normal(0, 0.05, 50), 0, 1)
    paths = write_judged(tmp_path / "a", a), write_judged(tmp_path / "b", b)
    (row,) = compare(*paths, margin=0.04).to_dict("records")
    assert row["p_equivalent"] == pytest.approx(ttost_paired(a, b, -0.04, 0.04)[0], rel=1e-9)
    assert row["verdict"] == "equivalent within 0.04"
    assert compare(*paths)["verdict"].tolist() == ["no difference found"]


@pytest.mark.parametrize(("n_items", "level"), [(3, 0.95), (20, 0.95), (300, 0.99), (20_000, 0.999)])
def test_power_is_that_of_statsmodels_to_1e_4(n_items, level):
    effect = TTestPower().solve_power(nobs=n_items, alpha=1 - level, power=0.8)
    assert find_least_difference(2.0, n_items, level) == pytest.approx(2 * effect, rel=1e-4)
    assert find_least_items_for_difference(2.0, 2 * effect, level) == pytest.approx(n_items, rel=3e-4, abs=1)
    assert np.isnan(find_least_difference(2.0, 2, 1 - 1e-9)) and np.isnan(
        find_least_items_for_difference(1.0, 1e-9, level)
    )


@pytest.mark.slow
def test_identical_pairs_never_differ(tmp_path):
    """2 models with the same answers on both sides: to statements in several wordings, and scores."""
    names = list("ab")
    frames = random_frame(names, items=12, paraphrases=4), draw_scores(names, 12, 2, measures=("F1", "ms"))
    for write, frame in zip((write_run, write_scored), frames, strict=True):
        a, b = (write(tmp_path / f"{write.__name__}{side}", frame) for side in "ab")
        table = compare(a, b)
        assert len(table) >= 4 and (table["difference"] == 0).all() and (table["p"] == 1).all()
        assert set(table["verdict"]) == {"no difference found"}
        # 12 same items are no proof that 1 % of others would not differ.
        assert set(compare(a, b, margin=0.01)["verdict"]) == {"no difference found"}


@pytest.mark.slow
def test_wordings_that_items_share_widen_the_interval_for_wordings_like_these(tmp_path):
    frame = draw_scores(["m", "n"], items=30, wordings=4, crossed=True, seed=1)
    a, b = (write_scored(tmp_path / name, frame[frame["model"] == name]) for name in "mn")
    (row,) = compare(a, b).to_dict("records")
    wide = frame.pivot_table(index=["item"], columns="model", values="score")
    assert row["p"] == pytest.approx(stats.ttest_rel(wide["m"], wide["n"]).pvalue, rel=1e-9)
    assert row["like_lower"] < row["lower"] < row["upper"] < row["like_upper"]
    assert row["p_like"] >= row["p"] and row["n_wordings"] == 4


@pytest.mark.slow
def test_flips_are_compared_by_the_exact_test(tmp_path):
    rows = [("A", 12), ("B", 3)]  # of 20 items, so many flip, the first ones
    for side, flips in rows:
        parts = [{"model": "m", "item": f"i{n:02}", "variant": f"p{k}", "pattern": "paraphrase",
                  "agreement": 0.2 if k == 0 and n < flips else 0.9} for n in range(20) for k in range(3)]  # fmt: skip
        write_run(tmp_path / side, pd.DataFrame(parts))
    table = compare(tmp_path / "A", tmp_path / "B").set_index("measure")
    assert table.loc["flips", ["a", "b", "test"]].tolist() == [0.6, 0.15, "exact McNemar"]
    assert table.loc["flips", "p"] == pytest.approx(2 * 0.5**9, rel=1e-12)
    assert table["p_holm"]["flips"] >= table["p"]["flips"]


@pytest.mark.slow
def test_a_difference_that_all_items_share_is_found_by_the_sign_test(tmp_path):
    a = np.linspace(0.1, 0.5, 12)
    (row,) = compare(write_judged(tmp_path / "a", a + 0.25), write_judged(tmp_path / "b", a)).to_dict("records")
    assert (row["test"], row["verdict"]) == ("sign test", "A is higher")
    assert row["p"] == pytest.approx(2 * 0.5**12, rel=1e-12)


@pytest.mark.slow
def test_items_with_another_text_are_left_out_and_counted(tmp_path):
    frame = draw_scores(["m", "n"], items=20, wordings=1, measures=("F1",))
    a, b = (frame[frame["model"] == name].reset_index(drop=True) for name in "mn")
    b.loc[3, "text"] = "Another text."
    b = b.drop(index=7)
    table = compare(write_scored(tmp_path / "a", a), write_scored(tmp_path / "b", b))
    assert table["n_items"].tolist() == [18]
    assert [("only A has 1 item" in note, "1 item left out" in note) for note in table.attrs["notes"]] == [
        (True, False), (False, True)]  # fmt: skip


@pytest.mark.slow
def test_fresh_wordings_are_compared_by_the_mean_of_every_item(tmp_path):
    a = random_frame(["a"], items=15, paraphrases=5, seed=1)
    b = random_frame(["a"], items=15, paraphrases=5, seed=2)
    for side, frame in (("A", a), ("B", b)):
        numbers = zip(frame["item"].str[-2:].astype(int), frame["variant"].str[-3:], strict=True)
        # No text is a template that items share.
        frame["text"] = [
            f"Thing {n}." if k == "nal" else f"In {side}, thing {n} is said in way {(n + 1) * int(k)}"
            for n, k in numbers
        ]
    table = compare(write_run(tmp_path / "a", a), write_run(tmp_path / "b", b))
    means = [frame[frame["variant"] != "original"].groupby("item")["agreement"].mean().to_numpy() for frame in (a, b)]
    row = table.set_index("measure").loc["agreement"]
    assert row["p"] == pytest.approx(stats.ttest_rel(*means).pvalue, rel=1e-9)
    assert row["like_lower"] == row["lower"]
    shares = [frame[frame["variant"] != "original"].groupby("item")["agreement"].agg(lambda x: (x >= 0.5).mean())
              for frame in (a, b)]  # fmt: skip
    flips = [((share > 0.05) & (share < 0.95)).mean() for share in shares]
    assert table.set_index("measure").loc["flips", ["a", "b"]].tolist() == pytest.approx(flips)
    assert any("share few rewordings or none" in note for note in table.attrs["notes"])


@pytest.mark.slow
def test_items_that_one_side_alone_reworded_anew_are_left_out_and_counted(tmp_path):
    frame = random_frame(["a"], items=12, paraphrases=3)
    number, is_original = frame["item"].str[-2:].astype(int), frame["variant"] == "original"
    number -= number.min()

    def write_side(name: str, first: int, last: int) -> Path:
        texts = frame["item"] + np.where(is_original, "", frame["variant"] * (number + 1) + name)
        return write_run(tmp_path / name, frame.assign(text=texts)[is_original | number.between(first, last)])

    table = compare(write_side("a", 0, 8), write_side("b", 3, 11))
    assert set(table["n_items"]) == {6}
    assert "6 items left out, such as " in table.attrs["notes"][-1]
    assert table.attrs["notes"][-1].endswith(": not reworded by both sides")
    with pytest.raises(InputError, match=r"no item in common.*12 items left out.*not reworded by both sides"):
        compare(write_side("c", 0, 5), write_side("d", 6, 11))


@pytest.mark.slow
@pytest.mark.parametrize(("first", "n_wordings"), [(4, 4), (5, 1)])  # half of eight, and fewer
def test_sides_that_share_fewer_than_half_of_their_rewordings_are_read_apart(tmp_path, first, n_wordings):
    frame = random_frame(["a"], items=15, paraphrases=13, seed=1)
    number = frame["variant"].str.extract(r"(\d+)$")[0].astype(float)
    frame["text"] = frame["item"] + " said " + frame["variant"] * (frame["item"].str[-2:].astype(int) + 1)
    is_original = frame["variant"] == "original"
    number = number - number.min()
    a, b = (frame[is_original | number.between(start, start + 7)].reset_index(drop=True) for start in (0, first))
    table = compare(write_run(tmp_path / "a", a), write_run(tmp_path / "b", b)).set_index("measure")
    assert table.loc["agreement", ["n_items", "n_wordings"]].tolist() == [15, n_wordings]


@pytest.mark.slow
def test_a_condition_with_other_settings_is_compared_by_its_name(tmp_path):
    frame = draw_scores(["m"], items=12, wordings=1, measures=("F1",))
    other = {"F1": {"range": [0, 1], "direction": "higher", "temperature": 0.7}}
    table = compare(write_scored(tmp_path / "a", frame), write_scored(tmp_path / "b", frame, other))
    assert table[["a_condition", "b_condition"]].to_numpy().tolist() == [["F1", "F1"]]


def test_answers_that_arithmetic_alone_parts_are_the_same(tmp_path):
    """Asked in other batches, a model was a little higher, by 1e-6, and 30,000 items were said to find that."""
    frame = random_frame(["m"], items=12, paraphrases=3, seed=4).assign(mass=0.9)
    noise = np.random.default_rng(1).uniform(0, 2e-6, len(frame))
    again = frame.assign(agreement=frame["agreement"] - noise)
    table = compare(write_run(tmp_path / "a", frame), write_run(tmp_path / "b", again))
    assert {"agreement", "logit", "validity"} <= set(table["measure"])
    assert (table["n_items_differing"] == 0).all() and table["n_items_to_decide"].isna().all()


@pytest.mark.parametrize(("measure", "n_differing"), [("F1", 0), ("likert", 11), ("ms", 11)])
def test_of_scores_that_are_not_from_0_to_1_every_difference_counts(tmp_path, measure, n_differing):
    """Of a range to 1,000,000, a difference of 10 was none: no arithmetic makes it."""
    frame = draw_scores(["m"], items=12, wordings=1, measures=(measure,))
    shifted = frame.assign(score=frame["score"] * (1 - np.arange(12) * 1e-7))
    table = compare(write_scored(tmp_path / "a", frame), write_scored(tmp_path / "b", shifted))
    assert table["n_items_differing"].tolist() == [n_differing]


@pytest.mark.parametrize(("measures", "n_notes"), [((), 1), (("ms",), 0)])
def test_a_note_says_that_a_score_counts_as_a_share_of_its_range(tmp_path, measures, n_notes):
    frame = draw_scores(["m", "n"], items=12, wordings=1, measures=("F1", "likert", "ms"))
    run = write_scored(tmp_path / "run", frame)
    table = compare(run, run, models=("m", "n"), measures=measures)
    notes = ["study synthetic: likert counts as a share of its range 1-5"]
    assert table.attrs["notes"] == notes[:n_notes]


@pytest.mark.slow
def test_models_are_paired_by_name_or_by_the_call(tmp_path):
    frame = draw_scores(["m", "n", "o"], items=12, wordings=1, measures=("F1",))
    a = write_scored(tmp_path / "a", frame[frame["model"] != "o"])
    b = write_scored(tmp_path / "b", frame[frame["model"] != "m"])
    table = compare(a, b)
    assert table[["a_model", "b_model"]].to_numpy().tolist() == [["n", "n"]]
    assert table.attrs["notes"] == ["only A has the model m", "only B has the model o"]
    chosen = compare(a, b, models=("m", "o"))
    assert chosen[["a_model", "b_model"]].to_numpy().tolist() == [["m", "o"]]
    with pytest.raises(InputError, match="--model-a 'mm'"):
        compare(a, b, models=("mm", ""))


@pytest.mark.slow
def test_a_condition_that_one_of_several_measures_has_can_be_compared(tmp_path):
    frame = draw_scores(["m"], items=12, wordings=1, measures=("F1", "judged"))
    frames = [frame.assign(condition=setting + "/" + frame["condition"]) for setting in "xy"]
    run = write_scored(tmp_path / "run", pd.concat(frames))
    table = compare(run, run, conditions=("x/F1", "y/F1"))
    assert table[["measure", "a_condition", "b_condition"]].to_numpy().tolist() == [["F1", "x/F1", "y/F1"]]
    with pytest.raises(InputError, match=r"--condition-b 'z/F1'.*known: x/F1, y/F1, x/judged, y/judged"):
        compare(run, run, conditions=("x/F1", "z/F1"))


@pytest.mark.slow
@pytest.mark.parametrize(("models", "is_fresh"), [(("", ""), False), (("m", "m"), True)])
def test_a_measure_that_one_side_lacks_is_noted(tmp_path, models, is_fresh):
    frame = draw_scores(["m"], items=12, wordings=4, measures=("F1", "judged"))
    frame.loc[frame["variant"] == "w0", ["variant", "pattern"]] = "original"
    a = write_scored(tmp_path / "a", frame)
    other = frame.assign(text=frame["text"] + np.where(is_fresh & (frame["variant"] != "original"), " Anew.", ""))
    b = write_scored(tmp_path / "b", other[other["condition"] == "F1"])
    for sides, label in (((a, b), "A"), ((b, a), "B")):
        table = compare(*sides, models=models)
        assert table["measure"].tolist() == ["F1"]
        assert table.attrs["notes"][is_fresh:] == [f"study synthetic: only {label} has the measure judged"]


@pytest.mark.slow
def test_runs_without_a_common_item_are_refused(tmp_path):
    values = np.linspace(0, 1, 8)
    frame = draw_scores(["m"], items=8, wordings=1, measures=("F1",))
    with pytest.raises(InputError, match=r"no item in common.*such as"):
        compare(write_judged(tmp_path / "a", values), write_scored(tmp_path / "b", frame))


@pytest.mark.slow
def test_sides_that_differ_in_their_examples_are_told_how_to_be_compared(tmp_path):
    frame = pd.DataFrame({"model": "m", "item": ["x", "y"], "agreement": [0.2, 0.8], "pattern": "paraphrase"})
    sides = [
        write_run(
            tmp_path / name,
            frame.assign(variant=name, text=f"After {name}: so?", attributes=[{"template": name}] * 2),
        )
        for name in ("0-shot", "5-shot", "p1")
    ]
    with pytest.raises(InputError, match=r"A was asked after 0 examples, B after 5; .*--variant-key task"):
        compare(sides[0], sides[1])
    with pytest.raises(InputError, match="text, options or right answer differ"):
        compare(sides[1], sides[2])


@pytest.mark.slow
def test_false_differences_stay_below_5_percent_over_all_measures():
    """200 studies of 40 items and three measures without a difference, judged after Holm as `compare` judges them."""
    from analysis.compare.measures import Pair, _compare_unit_pair
    from analysis.compare.verdicts import choose_verdicts_and_scopes_of_rows
    from analysis.measures.reworded import Study
    from analysis.statistics.multiplicity import correct_families_by_holm

    draw, rows = np.random.default_rng(11), []
    for call in range(200):
        items = draw.normal(0.5, 0.15, (40, 1))
        for kind in range(3):
            values = np.clip(items + draw.normal(0, 0.1, (2, 40, 3)), 0, 1)
            if kind == 2:
                values = (draw.random((2, 40, 1)) < items).astype(float)
            study = Study("s", str(kind), True, False, [("A: m", "c"), ("B: m", "c")], np.ones(2), values, [])
            pair = Pair((study,) * 2, (0, 1), str(kind), (values[0], values[1]), False, True)
            rows.append({**_compare_unit_pair(pair, None), "call": call})
    table = pd.DataFrame(rows)
    for name in ("p", "p_like", "p_equivalent"):
        table[f"{name}_holm"] = correct_families_by_holm(table, ["call"], name)
    table["verdict"], _ = choose_verdicts_and_scopes_of_rows(table)
    wrong = table["verdict"].isin(["A is higher", "B is higher"]).groupby(table["call"]).any().sum()
    covered = ((table["lower"] <= 0) & (table["upper"] >= 0)).sum()
    # The standard error of 5 % of 200 is 1.5 points, of 95 % of 600 it is 0.9 points.
    assert wrong / 200 <= 0.05 + 2 * 0.015
    assert 0.93 <= covered / 600 <= 0.985


@pytest.mark.slow
def test_lines_write_large_numbers_in_full_and_rounding_as_none(tmp_path, capsysbinary):
    """Milliseconds were "A 1.2e+04", and means that differ by rounding "A less B -1.39e-17"."""
    frame = draw_scores(["m", "n"], items=20, wordings=1, measures=("F1", "ms"))
    slow = frame["condition"] == "ms"
    frame.loc[slow, "score"] = frame.loc[slow, "score"] * 100 + 12_345
    ends = frame["item"].map(lambda name: (0.1, 0.7)[int(name[-1]) % 2])
    frame.loc[~slow, "score"] = ends.where(frame["model"] == "m", 0.8 - ends)
    paths = [str(write_scored(tmp_path / name, frame[frame["model"] == name])) for name in "mn"]
    assert main(["compare", *paths]) == 0
    text = capsysbinary.readouterr().out.decode()
    assert not re.search(r"\de[-+]\d", text), text
    assert re.search(r"ms: A \d\d,\d\d0, B \d\d,\d\d0; A less B \+\d\d,\d00 \[-\d,", text), text
    assert "F1: A 0.4, B 0.4; A less B +0 [" in text, text


@pytest.mark.slow
def test_lines_json_and_tables_say_the_same(tmp_path, capsysbinary):
    frame = draw_scores(["m", "n"], items=20, wordings=1, measures=("F1", "ms"))
    paths = [str(write_scored(tmp_path / name, frame[frame["model"] == name])) for name in "mn"]
    assert main(["compare", *paths]) == 0
    lines = capsysbinary.readouterr().out.decode().splitlines()
    assert lines[0] == "synthetic: A is m (F1), B is n (F1)"
    assert "after Holm (paired t, 20 items): B is higher (for these wordings)" in lines[1]
    assert main(["compare", *paths, "--json", "--measure", "F1"]) == 0
    content = json.loads(capsysbinary.readouterr().out)
    jsonschema.validate(content, SCHEMA)
    assert [row["measure"] for row in content["comparisons"]] == ["F1"]
    assert main(["compare", *paths, "--format", "csv", "--out", str(tmp_path / "table.csv")]) == 0
    table = pd.read_csv(tmp_path / "table.csv")
    columns = SCHEMA["properties"]["comparisons"]["items"]["properties"]
    assert set(table.columns) == set(columns)
    assert main(["compare", *paths, "--format", "markdown"]) == 0
    assert len(capsysbinary.readouterr().out.decode().splitlines()) == 4
