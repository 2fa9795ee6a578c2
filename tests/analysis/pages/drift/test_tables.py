"""The tables on changes over time: by hand, and what they leave out."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis import runs
from analysis.pages.drift.changes import _compare_before_and_after_change
from analysis.pages.drift.columns import CHANGED
from analysis.pages.drift.plots import draw_drift_series
from analysis.pages.drift.series import label_times
from analysis.reporting.catalogue import tables
from analysis.runs.folder import Folder
from analysis.statistics.drift import detect_change_over_looks
from benchmarks.bench_drift import draw_looks
from benchmarks.bench_drift_intervals import build_series
from helpers import scored_runs, wording_runs
from helpers.drift_runs import draw_look, name_wording, write_changed_model, write_looks
from helpers.synthetic import edit_run_json


def opened(path):
    return runs.open_runs(path, over_time=True)


@pytest.fixture(scope="module")
def changed(tmp_path_factory):
    return opened(write_changed_model(tmp_path_factory.mktemp("changed"), items=20, wordings=3))


@pytest.mark.parametrize(("shift", "word"), [(1e-6, "no change found"), (1e-3, CHANGED)])
def test_what_arithmetic_alone_does_to_all_answers_is_no_change(tmp_path, shift, word):
    """Answers that arithmetic moved by 1e-7, all the same way, had changed."""
    looks = [draw_look({"m": -shift * n}, items=20, seed=1, fresh=False) for n in range(3)]
    table = tables.build_table("drift_changes", opened(write_looks(tmp_path / "looks", looks)))
    assert table.set_index("measure")["found"]["agreement"] == word


@pytest.mark.slow
def test_a_model_that_changed_is_told_from_one_that_did_not(changed):
    table = tables.build_table("drift_changes", changed)
    of_model = table[table["measure"] == "agreement"].set_index("model")
    assert of_model["found"].to_dict() == {"org/steady": "no change found", "org/moving": "changed"}
    moving = of_model.loc["org/moving"]
    assert moving[["changed_time", "likely_first", "likely_last"]].tolist() == ["2026-02-01"] * 3
    assert moving["alarm_time"] == "2026-02-01"
    assert moving["difference"] == pytest.approx(moving["after"] - moving["before"])
    assert moving["wordings"] == "fresh each time"
    assert of_model.loc["org/steady", ["changed_time", "alarm_time"]].tolist() == ["", ""]


@pytest.mark.parametrize("n_looks", [2, 3, 6])
def test_looks_are_numbered_by_whole_numbers(n_looks):
    frame = pd.DataFrame({
        "model": "m", "label": "m", "look": range(1, n_looks + 1), "measure": "agreement", "found": "cannot tell",
        "value": 0.5, "value_lower": 0.4, "value_upper": 0.6, "like_lower": 0.3, "like_upper": 0.7,
    })  # fmt: skip
    ticks = draw_drift_series(frame).axes[0].get_xticks()
    assert len(ticks) > 1 and list(ticks) == [round(tick) for tick in ticks]


@pytest.mark.slow
def test_values_and_differences_are_those_of_pandas_and_scipy(tmp_path):
    looks = [draw_look({"m": -0.8 * (n > 1)}, items=20, wordings=3, seed=n) for n in range(4)]
    run = opened(write_looks(tmp_path, looks))
    values = tables.build_table("drift_measures", run).query("measure == 'agreement'")["value"]
    rows = pd.concat([look.query("pattern == 'paraphrase'").assign(look=n) for n, look in enumerate(looks)])
    items = rows.groupby(["look", "item"])["agreement"].mean()
    np.testing.assert_allclose(values, items.groupby("look").mean(), rtol=1e-12)
    row = tables.build_table("drift_changes", run).query("measure == 'agreement'").iloc[0]
    assert row["changed_time"] == "2026-01-15"
    rows["after"] = rows["look"] >= 2
    sides = rows.groupby(["after", "item"])["agreement"].mean()
    theirs = stats.ttest_rel(sides[True], sides[False]).confidence_interval(1 - 0.05 / 3)  # at once for three looks
    np.testing.assert_allclose(row[["lower", "upper"]].astype(float), [theirs.low, theirs.high], rtol=1e-9)
    np.testing.assert_allclose(row[["like_lower", "like_upper"]].astype(float), [theirs.low, theirs.high], rtol=1e-9)


@pytest.mark.slow
def test_an_interval_of_a_look_that_the_data_chose_covers_what_it_claims():
    """Of 20 looks without a change; as of a look that was known, it held 0 in .66 to .76 of simulated series."""
    draw, held = np.random.default_rng(1), []
    for _ in range(100):
        looks = list(draw_looks(draw, 40, 2, "share", looks=20))
        row = _compare_before_and_after_change(build_series(looks, "share"), detect_change_over_looks(looks), CHANGED)
        held.append(row["like_lower"] <= 0 <= row["like_upper"])
    assert np.mean(held) >= 0.93


@pytest.mark.slow
@pytest.mark.parametrize("items", [1, 4])
def test_without_an_interval_for_these_wordings_there_is_none_for_others(tmp_path, items):
    """All items change alike, or there is one: how far others would change is not known."""
    looks = [draw_look({"m": 0.0}, items=items, wordings=3, seed=n, shared=True, mass=1 - 0.4 * n) for n in range(2)]
    table = tables.build_table("drift_changes", opened(write_looks(tmp_path, looks)))
    ends = table.set_index("measure").loc["validity", ["lower", "upper", "like_lower", "like_upper"]]
    assert ends.isna().all()


@pytest.mark.slow
def test_items_that_changed_most_come_with_their_texts(changed):
    table = tables.build_table("drift_items", changed, examples=2).query("measure == 'agreement'")
    assert set(table["model"]) == {"org/moving"}
    assert len(table) == 2
    row = table.iloc[0]
    assert abs(row["difference"]) >= abs(table["difference"].iloc[1])
    item = int(row["item"][1:])
    assert row["text"] == f"Item {item}."
    assert row["before_text"] == name_wording(item, "p3-0")
    assert row["after_text"] == name_wording(item, "p4-0")


@pytest.mark.slow
def test_the_same_wordings_are_said_and_a_mixture_is_not_tested(tmp_path):
    same = [draw_look({"m": -0.1 * n}, items=20, seed=1, fresh=False) for n in range(3)]
    table = tables.build_table("drift_changes", opened(write_looks(tmp_path / "same", same)))
    assert set(table["wordings"]) == {"the same each time"}
    assert table["found"].iloc[0] == "changed"
    mixed = [draw_look({"m": 0.0}, items=20, seed=seed) for seed in (1, 1, 2)]
    table = tables.build_table("drift_changes", opened(write_looks(tmp_path / "mixed", mixed)))
    assert set(table["wordings"]) == {"some times the same, others fresh"}
    assert set(table["found"]) == {"cannot tell"} and table["p"].isna().all()


@pytest.mark.slow
def test_items_that_are_not_alike_are_left_out_and_settings_that_changed_are_named(tmp_path):
    looks = [draw_look({"m": 0.0}, items=5, wordings=2, seed=n) for n in range(2)]
    looks[0] = looks[0][looks[0]["item"] != "i00"]
    changed = looks[1]["item"].eq("i01") & looks[1]["pattern"].eq("original")
    looks[1].loc[changed, "text"] = "Another statement."
    path = write_looks(tmp_path, looks)
    models = json.loads((path / "week-02" / "run.json").read_text(encoding="utf-8"))["models"]
    edit_run_json(path / "week-02", models={"m": models["m"] | {"revision": "new"}})
    table = tables.build_table("drift_looks", opened(path))
    assert table["n_items"].tolist() == [3, 3]
    assert table["n_left_out"].tolist() == [2, 2]
    assert table["changed_settings"].tolist() == ["", "revision"]
    assert table["n_wordings"].tolist() == [2, 2]


@pytest.mark.slow
def test_shared_fresh_wordings_are_tested_by_wordings_and_widen_the_interval(tmp_path):
    looks = [draw_look({"m": -0.8 * (n > 1)}, items=20, wordings=3, seed=n, shared=True) for n in range(4)]
    row = tables.build_table("drift_changes", opened(write_looks(tmp_path, looks)), looks=4).iloc[0]
    assert row["like_lower"] < row["lower"] and row["upper"] < row["like_upper"]


@pytest.mark.slow
def test_flips_are_left_out_where_looks_have_more_wordings(tmp_path):
    looks = [draw_look({"m": 0.0}, items=8, wordings=2 + n, seed=n) for n in range(2)]
    assert set(tables.build_table("drift_changes", opened(write_looks(tmp_path, looks)))["measure"]) == {"agreement"}


@pytest.mark.slow
def test_looks_beyond_the_planned_ones_are_counted(tmp_path):
    looks = [draw_look({"m": -2.0 * (n > 2)}, items=20, seed=n) for n in range(4)]
    run = opened(write_looks(tmp_path, looks))
    few = tables.build_table("drift_changes", run, looks=3)
    assert set(few["n_untested"]) == {1} and set(few["found"]) == {"no change found"}
    assert tables.build_table("drift_changes", run, looks=4)["found"].iloc[0] == "changed"


@pytest.mark.slow
@pytest.mark.parametrize("n_items", [13, 30])  # asked; of the others, no answer is valid
def test_of_so_few_items_that_no_change_could_be_found_nothing_is_told(n_items, tmp_path):
    looks = [draw_look({"m": -3.0 * (n > 1)}, items=n_items, wordings=2, seed=n) for n in range(4)]
    looks = [look.assign(mass=look["item"].lt("i13").astype(float)) for look in looks]
    run = opened(write_looks(tmp_path, looks))
    table = tables.build_table("drift_changes", run).query("measure != 'validity'")
    assert set(table["found"]) == {"cannot tell"} and table["p"].notna().all()
    assert tables.build_table("drift_changes", run, looks=4)["found"].iloc[0] == "changed"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["scores", "questions"])
def test_other_protocols_are_followed_too(kind, tmp_path):
    for week in (1, 2):
        folder = tmp_path / "runs" / f"week-{week}"
        if kind == "scores":
            rows = scored_runs.draw_scores(["m"], 20, 3, measures=["F1", "ms"], seed=week)
            rows["text"] = rows["text"] + f" (week {week})"
            scored_runs.write_scored(folder, rows)
        else:
            wording_runs.write_wording(folder, wording_runs.random_rows(["m"], items=20, seed=week))
        session = {"command": [str(week)], "started": f"2026-01-0{week}", "finished": "", "versions": {}}
        edit_run_json(folder, sessions=[session])
    table = tables.build_table("drift_changes", opened(tmp_path / "runs"))
    measures = {"scores": {"F1", "ms"}, "questions": {"agreement", "accuracy", "flips", "validity"}}[kind]
    assert set(table["measure"]) == measures
    assert table["p"].notna().all()


@pytest.mark.slow
def test_where_a_look_lacks_the_headline_another_measure_is_it(tmp_path):
    """The page ended in a ValueError: no sentence was about any measure."""
    for week, measures in ((1, ["ms"]), (2, ["F1", "ms"])):
        rows = scored_runs.draw_scores(["m"], 20, 3, measures=measures, seed=week)
        folder = scored_runs.write_scored(tmp_path / "runs" / f"week-{week}", rows)
        edit_run_json(folder, sessions=[{"command": [str(week)], "started": f"2026-01-0{week}", "finished": ""}])
    table = tables.build_table("drift_changes", opened(tmp_path / "runs"))
    assert table[["measure", "headline"]].to_numpy().tolist() == [["ms", True]]


@pytest.mark.slow
def test_that_fewer_answers_are_valid_is_a_change_of_its_own(tmp_path):
    """Agreement stays; validity falls from .97 to about .7 at the third look. The other model stays as it is."""
    looks = [draw_look({"a": 0.0, "b": 0.0}, items=20, wordings=2, seed=n) for n in range(4)]
    draw = np.random.default_rng(1)
    for number, look in enumerate(looks):
        of_b = look["model"] == "b"
        look["mass"] = np.where(of_b, (0.7 if number >= 2 else 0.97) - 0.03 * draw.random(len(look)), 0.99)
    table = tables.build_table("drift_changes", opened(write_looks(tmp_path, looks))).set_index(["model", "measure"])
    row = table.loc["b", "validity"]
    assert (row["found"], row["changed_time"], row["headline"]) == ("changed", "2026-01-15", False)
    means = [look.query("model == 'b' and pattern == 'paraphrase'")["mass"].mean() for look in looks]
    assert row["difference"] == pytest.approx(np.mean(means[2:]) - np.mean(means[:2]), rel=1e-9)
    assert table["found"].drop(("b", "validity")).tolist() == ["no change found"] * 5
    full = [draw_look({"m": 0.0}, items=5, wordings=2, seed=n) for n in range(2)]
    table = tables.build_table("drift_changes", opened(write_looks(tmp_path / "full", full)))
    assert "validity" not in set(table["measure"])


@pytest.mark.slow
def test_the_lowest_validity_of_looks_has_both_bounds(tmp_path):
    """Known between .3 and .5 at one look, exact (.45) at the next: the lowest one lies between .3 and .45."""
    looks = [draw_look({"m": 0.0}, items=3, wordings=2, seed=n, mass=mass) for n, mass in enumerate((0.3, 0.45))]
    looks[0]["mass_upper"] = 0.5
    run = opened(write_looks(tmp_path, looks))
    row = tables.build_table("drift_changes", run).iloc[0]
    assert row[["validity_least", "validity_least_at_most"]].tolist() == pytest.approx([0.3, 0.45])
    at_most = tables.build_table("drift_looks", run)["validity_at_most"]
    assert at_most.tolist() == pytest.approx([0.5, np.nan], nan_ok=True)


@pytest.mark.parametrize(
    ("times", "names", "labels"),
    [
        (["2026-01-01T08:00:00", "2026-01-02T08:00:00"], "ab", ["2026-01-01", "2026-01-02"]),
        (["2026-01-01T08:00:00", "2026-01-01T09:30:00"], "ab", ["2026-01-01 08:00", "2026-01-01 09:30"]),
        (["2026-01-01T08:00:07", "2026-01-01T08:00:31"], "ab", ["2026-01-01 08:00:07", "2026-01-01 08:00:31"]),
        (["2026-01-01T08:00:07"] * 2, ["week-1", "week-2"], ["week-1", "week-2"]),
        (["2026-01-01T08:00:07"] * 2, ["x/run", "y/run"],
         ["2026-01-01 08:00:07, look 1", "2026-01-01 08:00:07, look 2"]),
    ],
)  # fmt: skip
def test_looks_are_named_by_the_first_name_that_tells_them_apart(times, names, labels, tmp_path):
    folders = [
        Folder(tmp_path / name, {"sessions": [{"started": f"{time}+00:00"}]}, ())
        for time, name in zip(times, names, strict=True)
    ]
    assert label_times(folders) == labels


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wordings", "models", "told"), [(4, "m", "cannot tell"), (8, "m", "no change found"), (8, "mn", "cannot tell")]
)
def test_of_few_shared_wordings_that_could_show_no_change_nothing_is_told(wordings, models, told, tmp_path):
    """Of 4 wordings at each of two looks, p is at least 237 * 2 / 70; of 8, 237 * 2 / 12870, after Holm twice that."""
    looks = [draw_look(dict.fromkeys(models, 0.0), items=20, wordings=wordings, seed=n, shared=True) for n in range(2)]
    table = tables.build_table("drift_changes", opened(write_looks(tmp_path, looks)))
    assert set(table.loc[table["measure"] == "agreement", "found"]) == {told}
