"""What all wordings do to answers, and those that mean the same: hand-made, and against slow versions."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

import waver
from analysis import runs
from analysis.measures import choices
from analysis.measures.beside_original import tabulate_answers_beside_original
from analysis.measures.meaning import read_verdicts_on_wordings
from analysis.measures.meaning_flips import (
    choose_wording_count_most_items_have,
    tabulate_all_and_same_meaning_flips,
)
from analysis.statistics.significance import compute_tail_share_matching_t_interval
from analysis.steps.meaning import summarize_flips_by_meaning_of_wordings
from ground.errors import InputError
from helpers import choice_runs, scale_runs
from helpers.meaning_runs import add_meaning, write_meaning, write_meaning_run
from helpers.synthetic import paraphrases, random_frame, write_run

TOLERANCE = 1e-12
FIGURES = ("flip", "sd", "range_k")


def test_a_hand_made_example(tmp_path):
    """Of item a, p3 means something else; of b, p2 and p3 do, so that it has one wording for flips and no range."""
    run = write_run(tmp_path / "run", paraphrases({"a": [0.6, 0.8, 0.1], "b": [0.4, 0.2, 0.6]}, original=0.9))
    same = {"a": [1, 1, 0], "b": [1, 0, 0]}
    rows = [(item, f"p{n}", "people:ann", vote) for item, votes in same.items() for n, vote in enumerate(votes, 1)]
    write_meaning(run, pd.DataFrame(rows, columns=["item", "variant", "check", "score"]))
    every, certified = tabulate_all_and_same_meaning_flips(runs.open_runs(run), resamples=0).to_dict("records")
    assert [every[name] for name in ("wordings", "n_items", "n_wordings", "k", "n_items_k")] == ["all", 2, 6, 2, 1]
    assert [certified[name] for name in ("wordings", "n_items", "n_wordings")] == ["same", 2, 3]
    assert every["flip"] == pytest.approx((1 / 3 + 2 / 3) / 2) and certified["flip"] == pytest.approx(1 / 2)
    assert every["sd"] == pytest.approx(np.std([0.6, 0.8, 0.1], ddof=1))
    assert certified["sd"] == pytest.approx(np.std([0.6, 0.8], ddof=1))
    assert every["range_k"] == pytest.approx((0.2 + 0.5 + 0.7) / 3) and certified["range_k"] == pytest.approx(0.2)
    assert certified["flip_difference"] == pytest.approx(0) and np.isnan(every["flip_difference"])


def test_items_without_a_wording_of_the_same_meaning_are_counted(tmp_path):
    """Of a, no wording means the same: its answers change in 1 of 2, those of b in 1 of 4, those of c in none."""
    answers = {"a": [0.6, 0.1], "b": [0.6, 0.7, 0.8, 0.2], "c": [0.9]}
    run = write_run(tmp_path / "run", paraphrases(answers, original=0.9))
    rows = [(item, f"p{n}", "people:ann", item != "a") for item, of_item in answers.items() for n in range(1, 5)
            if n <= len(of_item)]  # fmt: skip
    write_meaning(run, pd.DataFrame(rows, columns=["item", "variant", "check", "score"]))
    table = tabulate_all_and_same_meaning_flips(runs.open_runs(run), resamples=0)
    assert table["n_items"].tolist() == [2, 2] and table["left_out_items"].tolist() == [1, 1]
    assert table["left_out_flips"].tolist() == pytest.approx([0.5 / 0.75] * 2, abs=TOLERANCE)


@pytest.mark.slow
def test_an_item_whose_same_wordings_cannot_be_compared_is_in_the_flips_of_neither_row(tmp_path):
    """Of q000, the wording that means the same has no answer in the only order in which the original has one."""
    unread = {("q000", "original/2"), ("q000", "paraphrase-1/1")}
    rows = choice_runs.always(
        choice_runs.questions(3, 2),
        lambda row: (
            None
            if (row["item"], row["variant"]) in unread
            else next(letter for letter in row["options"] if letter != choice_runs.right(row))
            if (row["item"], row["pattern"]) == ("q000", "paraphrase_2")
            else choice_runs.right(row)
        ),
    )
    run = choice_runs.write_choice(tmp_path / "run", rows)
    judged = rows[rows["pattern"] != "original"][["item", "variant", "text", "pattern"]].assign(check="people:ann")
    write_meaning(run, judged.assign(score=(judged["item"] != "q000") | (judged["pattern"] == "paraphrase_1")))
    opened = runs.open_runs(run)
    every, same = tabulate_all_and_same_meaning_flips(opened, resamples=0).to_dict("records")
    assert every["flip"] == same["flip"] == same["flip_difference"] == 0
    assert every["left_out_items"] == 1 and every["left_out_flips"] == 1
    steps = summarize_flips_by_meaning_of_wordings(
        tabulate_answers_beside_original(opened), read_verdicts_on_wordings(opened)
    )
    assert steps["flip"].tolist() == [0, 0]


def slow_figures(folder) -> dict[tuple, dict[str, float]]:
    """The figures by loops over items and, for ranges, over all ways to draw k wordings."""
    opened = runs.open_runs(folder)
    rows = tabulate_answers_beside_original(opened).astype({"item": str, "variant": str, "wording": str})
    rows = rows.merge(read_verdicts_on_wordings(opened)[["item", "variant", "meaning"]], on=["item", "variant"])
    cells: dict[tuple, dict[tuple, tuple[float, float, bool]]] = {}
    for (model, condition, item, wording), part in rows.groupby(
        ["model", "condition", "item", "wording"], observed=True
    ):
        cell = part["flip"].mean(), part["value"].mean(), (part["meaning"] == "same").any()
        cells.setdefault((model, condition), {}).setdefault(item, {})[wording] = cell
    sizes = [
        sum(same and not np.isnan(value) for _, value, same in item.values())
        for of_unit in cells.values() for item in of_unit.values()
    ]  # fmt: skip
    comparable = sorted(size for size in sizes if size > 1)
    k = comparable[int(0.1 * (len(comparable) - 1))]
    slow = {}
    for unit, of_unit in cells.items():
        for name in ("all", "same"):
            flips, variances, ranges, number = [], [], [], 0
            for item in of_unit.values():
                n_same = sum(same and not np.isnan(value) for _, value, same in item.values())
                if not n_same:
                    continue
                chosen = [cell for cell in item.values() if name == "all" or cell[2]]
                values = [value for _, value, _ in chosen if not np.isnan(value)]
                number += len(values)
                answered = [flip for flip, _, _ in chosen if not np.isnan(flip)]
                flips += [np.mean(answered)] if any(same and not np.isnan(flip) for flip, _, same in chosen) else []
                if n_same >= k:
                    variances.append(np.var(values, ddof=1))
                    ranges.append(np.mean([max(draw) - min(draw) for draw in itertools.combinations(values, k)]))
            slow[*unit, name] = {
                "flip": np.mean(flips), "sd": np.sqrt(np.mean(variances)), "range_k": np.mean(ranges),
                "n_wordings": number, "n_items_k": len(ranges), "k": k,
            }  # fmt: skip
    return slow


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["agreement", "choice", "scale"])
def test_figures_are_those_of_slow_loops(tmp_path, protocol):
    folder = tmp_path / "run"
    if protocol == "agreement":
        write_meaning_run(folder, ["a", "b"], items=7, paraphrases=6, false_share=0.4)
    elif protocol == "choice":
        rows = choice_runs.answers(choice_runs.questions(12, 3), ["m"], conditions=[choice_runs.TEXT], unparsed=0.1)
        choice_runs.write_choice(folder, rows)
        add_meaning(folder)
    else:
        scale_runs.write_full(folder)
        add_meaning(folder)
    table = tabulate_all_and_same_meaning_flips(runs.open_runs(folder), resamples=0)
    slow = slow_figures(folder)
    assert len(table) == len(slow)
    for row in table.to_dict("records"):
        expected = slow[row["model"], row["condition"], row["wordings"]]
        assert {name: row[name] for name in expected} == pytest.approx(expected, abs=TOLERANCE)
        if row["wordings"] == "same":
            every = slow[row["model"], row["condition"], "all"]
            for name in FIGURES:
                assert row[f"{name}_difference"] == pytest.approx(expected[name] - every[name], abs=TOLERANCE)


@pytest.mark.slow
def test_choices_of_a_part_may_lack_wordings_of_some_questions(tmp_path):
    """Their page refuses such a part; what wordings of the same meaning do is what the whole run says of them."""
    rows = choice_runs.answers(choice_runs.questions(12, 3), ["m"])
    add_meaning(choice_runs.write_choice(tmp_path / "run", rows))
    run = waver.open(tmp_path / "run")
    whole, part = (opened.open_runs_of_protocols({"choice"}) for opened in (run, run.where("meaning = 'same'")))
    of_whole, of_part = (
        tabulate_all_and_same_meaning_flips(run, resamples=0).set_index("wordings") for run in (whole, part)
    )
    names = ["n_items", "n_wordings", "flip", "sd", "range_k"]
    assert list(of_part.loc["same", names]) == pytest.approx(list(of_whole.loc["same", names]))
    with pytest.raises(InputError, match="let where keep the same wordings of every question"):
        choices.read_choice_studies(part)


def test_intervals_are_wilsons_of_shares_and_those_of_a_plain_bootstrap_over_items(tmp_path):
    """Drawn item by item with the same counts; the ends are expanded percentiles. Wilson's n: effective number of
    items, with an item more that always flips, and one that never does."""
    folder = write_meaning_run(tmp_path / "run", items=9, paraphrases=6, false_share=0.4)
    opened = runs.open_runs(folder)
    table = tabulate_all_and_same_meaning_flips(opened, resamples=200, seed=5).set_index("wordings")
    rows = tabulate_answers_beside_original(opened).astype({"item": str, "variant": str})
    rows = rows.merge(read_verdicts_on_wordings(opened)[["item", "variant", "meaning"]], on=["item", "variant"])
    of_all = rows.groupby("item")["flip"].mean().to_numpy()
    of_same = rows[rows["meaning"] == "same"].groupby("item")["flip"].mean().to_numpy()
    n = len(of_all)
    drawn = np.random.default_rng(5).integers(0, n, (200, n))
    tail = compute_tail_share_matching_t_interval(0.95, n)
    ends = np.quantile((of_same - of_all)[drawn].mean(axis=1), [tail, 1 - tail])
    difference = table.loc["same", ["flip_difference_lower", "flip_difference_upper"]]
    assert difference.tolist() == pytest.approx(ends, abs=TOLERANCE)
    for values, row in ((of_all, "all"), (of_same, "same")):
        share = np.append(values, [0, 1])
        number = share.mean() * (1 - share.mean()) / (((share - share.mean()) / (n + 2)) ** 2).sum() - 2
        ends = proportion_confint(values.mean() * number, number, method="wilson")
        assert table.loc[row, ["flip_lower", "flip_upper"]].tolist() == pytest.approx(ends, abs=TOLERANCE)
        assert table.loc[row, "n_items_changed"] == (values > 0).sum()


def test_without_a_verdict_there_are_rows_of_all_wordings_only(tmp_path):
    options = {"sheet": 0, "shifts": {"words": 0.0}}
    folder = write_meaning_run(tmp_path / "run", ["a", "b"], items=5, paraphrases=4, checks=options)
    table = tabulate_all_and_same_meaning_flips(runs.open_runs(folder), resamples=20)
    assert table["wordings"].tolist() == ["all", "all"] and table["n_items"].tolist() == [5, 5]
    assert table["p_holm"].isna().all()


def test_one_paraphrase_has_flips_and_no_range(tmp_path):
    run = write_run(tmp_path / "run", paraphrases({"a": [0.6], "b": [0.4]}, original=0.9))
    rows = [(item, "p1", "people:ann", 1) for item in "ab"]
    write_meaning(run, pd.DataFrame(rows, columns=["item", "variant", "check", "score"]))
    table = tabulate_all_and_same_meaning_flips(runs.open_runs(run), resamples=20)
    assert table["flip"].tolist() == [0.5, 0.5] and table["range_k"].isna().all() and table["sd"].isna().all()
    assert table["n_items_k"].tolist() == [0, 0]


@pytest.mark.slow
def test_without_an_original_or_without_a_file_there_are_no_rows(tmp_path):
    bare = write_run(tmp_path / "bare", paraphrases({"a": [0.6, 0.4]}))
    rows = pd.DataFrame({"item": ["a"], "variant": ["p1"], "check": ["people:ann"], "score": [1]})
    write_meaning(bare, rows)
    assert tabulate_all_and_same_meaning_flips(runs.open_runs(bare)).empty
    assert tabulate_all_and_same_meaning_flips(runs.open_runs(write_run(tmp_path / "none", random_frame()))).empty


@pytest.mark.slow
def test_validity_is_that_of_the_paraphrases(tmp_path):
    frame = paraphrases({"a": [0.6, 0.4], "b": [0.2, 0.3]}, original=0.9)
    run = write_run(tmp_path / "run", frame.assign(mass=[0.2, 0.4, 0.6, 0.8, 1.0, 1.0]))
    write_meaning(run, pd.DataFrame({"item": ["a"], "variant": ["p1"], "check": ["people:ann"], "score": [1]}))
    assert tabulate_all_and_same_meaning_flips(runs.open_runs(run), resamples=0)["validity"].tolist() == pytest.approx(
        [0.5, 0.5]
    )


def test_k_is_the_number_that_nine_of_ten_items_have():
    sizes = np.array([[0, 1, *range(2, 12)], [30] * 12])
    k = choose_wording_count_most_items_have(sizes)
    comparable = sizes[sizes > 1]
    assert (comparable >= k).mean() >= 0.9 > (comparable > k).mean()
    assert choose_wording_count_most_items_have(np.array([[0, 1]])) == 2
